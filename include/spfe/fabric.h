/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The part of <spfe/spfe.h> for the PCIe fabric. Programs include that one. */
#ifndef SPFE_FABRIC_H
#define SPFE_FABRIC_H

#include "spfe/spfe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * PCIe fabric, raw mode: from memory of one node to memory of another with one copy (docs/fabric.md)
 */

typedef struct spfe_fabric spfe_fabric;
typedef struct spfe_fabric_buffer spfe_fabric_buffer;
typedef struct spfe_fabric_window spfe_fabric_window;
typedef struct spfe_fabric_mailbox spfe_fabric_mailbox;

#define SPFE_FABRIC_READ 1u  /* rights of a window */
#define SPFE_FABRIC_WRITE 2u

/*
 * Opens raw mode on a node (1 to 64) that is up; socket NULL: that of the environment, or the default.
 * NOT_FOUND without fabric or node, LINK_DOWN if no process runs the node, BUSY if the backplane does
 * not answer.
 */
int spfe_fabric_open(const char *socket, uint32_t node, spfe_fabric **fabric);

/* Closes raw mode. Buffers and windows keep it open, so the order of closing does not matter. */
int spfe_fabric_close(spfe_fabric *fabric);

/* The nodes that are READY for this one: bit n - 1 for node n. */
int spfe_fabric_ready(spfe_fabric *fabric, uint64_t *nodes);

/* A window. */
struct spfe_fabric_window_info {
	uint64_t key;
	uint64_t address; /* in the fabric */
	uint64_t bytes;
	uint64_t nodes;   /* bit n - 1: node n may map it */
	uint32_t owner;   /* number of its node */
	uint32_t rights;  /* SPFE_FABRIC_READ, SPFE_FABRIC_WRITE */
};

/*
 * Lists the windows that this node exposes or may map. Returns their number, which may be more than
 * there is room for.
 */
int spfe_fabric_windows(spfe_fabric *fabric, struct spfe_fabric_window_info *list, uint32_t room);

/*
 * A buffer of zero bytes that can be exposed; data is its first byte. NO_RESOURCES without memory.
 * Peers may write it at any time while it is exposed: read flags with acquire.
 */
int spfe_fabric_buffer_alloc(spfe_fabric *fabric, size_t bytes, spfe_fabric_buffer **buffer,
			     uint8_t **data);

/* Frees a buffer, and ends its exposure before. */
int spfe_fabric_buffer_free(spfe_fabric_buffer *buffer);

/*
 * Lets nodes (bit n - 1: node n) map the buffer. They need the key. BUSY if it is exposed already,
 * QUOTA_EXCEEDED beyond the memory window of the node, ACCESS_DENIED to let peers write what peers
 * could only read before.
 */
int spfe_fabric_expose(spfe_fabric_buffer *buffer, uint64_t nodes, uint32_t rights, uint64_t *key);

/*
 * Ends the exposure. When this returns, no peer can read or write the buffer; it keeps its address
 * and its bytes. Bytes that arrive during the call may be lost.
 */
int spfe_fabric_revoke(spfe_fabric_buffer *buffer);

/*
 * Maps a window of another node. data, which may be NULL, is set to its first byte, for plain loads
 * and stores, which nobody checks or counts: a store outside the window or without the right faults
 * this program, and after revocation it reaches memory that nobody else uses. BAD_REGION if there is
 * no such window, ACCESS_DENIED, LINK_DOWN.
 */
int spfe_fabric_map(spfe_fabric *fabric, uint64_t key, spfe_fabric_window **window,
		    uint8_t **data);
int spfe_fabric_unmap(spfe_fabric_window *window);

/* A part of this program's memory. */
struct spfe_fabric_part {
	void *data;
	size_t bytes;
};

/* A part of a window. */
struct spfe_fabric_segment {
	uint64_t offset;
	size_t bytes;
};

/*
 * Moves the bytes of the parts to the segments, or back, in order. Both lists have at most 256
 * entries and the same number of bytes. BAD_REGION after revocation, LINK_DOWN if the owner is not
 * READY, ACCESS_DENIED, OUT_OF_BOUNDS, CHAIN_TOO_LONG, BAD_FIELD; then nothing was moved.
 */
int spfe_fabric_put(spfe_fabric_window *window, const struct spfe_fabric_part *parts,
		    uint32_t part_count, const struct spfe_fabric_segment *segments,
		    uint32_t segment_count);
int spfe_fabric_get(spfe_fabric_window *window, const struct spfe_fabric_segment *segments,
		    uint32_t segment_count, const struct spfe_fabric_part *parts,
		    uint32_t part_count);

/*
 * Writes as spfe_fabric_put() does, and then the 64-bit word at offset flag, a multiple of 8. Who
 * reads the word with acquire sees the bytes.
 */
int spfe_fabric_put_flag(spfe_fabric_window *window, const struct spfe_fabric_part *parts,
			 uint32_t part_count, const struct spfe_fabric_segment *segments,
			 uint32_t segment_count, uint64_t flag, uint64_t value);

/* Orders all accesses of this thread before it before all after it. */
void spfe_fabric_fence(void);

/* Copies through the mapping, checked, and counted as access by the processor. */
int spfe_fabric_pio_write(spfe_fabric_window *window, uint64_t offset, const uint8_t *data,
			  size_t bytes);
int spfe_fabric_pio_read(spfe_fabric_window *window, uint64_t offset, uint8_t *data, size_t bytes);

/* The doorbells (0 to 63) and scratchpads (0 to 15) between this node and another. LINK_DOWN. */
int spfe_fabric_mailbox_open(spfe_fabric *fabric, uint32_t peer, spfe_fabric_mailbox **mailbox);
int spfe_fabric_mailbox_close(spfe_fabric_mailbox *mailbox);

/* Rings a doorbell of the other node. OUT_OF_BOUNDS. */
int spfe_fabric_ring(spfe_fabric_mailbox *mailbox, uint32_t doorbell);

/*
 * Waits until the other node has rung a doorbell of this node more often than seen, and sets rings to
 * how often. SPFE_TIMED_OUT after timeout_ns; SPFE_NOW does not wait.
 */
int spfe_fabric_ring_wait(spfe_fabric_mailbox *mailbox, uint32_t doorbell, uint64_t seen,
			  uint64_t timeout_ns, uint64_t *rings);

/* Writes a scratchpad that the other node reads, or reads one that it writes. OUT_OF_BOUNDS. */
int spfe_fabric_scratchpad_write(spfe_fabric_mailbox *mailbox, uint32_t number, uint64_t value);
int spfe_fabric_scratchpad_read(spfe_fabric_mailbox *mailbox, uint32_t number, uint64_t *value);

#ifdef __cplusplus
}
#endif

#endif
