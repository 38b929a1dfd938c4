/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spfe: driver for the SpaceFibre processor endpoint without an operating system.
 *
 * Freestanding C11: no allocation, no global state, no library. The generated spfe_hw.h defines
 * entries, registers and statuses; platform.h declares three hooks that the platform implements.
 * Functions return an spfe_status (SPFE_STATUS_OK is 0). Functions that return bool state whether
 * they found something.
 *
 * Only one thread may use a queue at a time. Different queues need no lock. Opening, closing and
 * configuring need one, because they share the command latch of the device.
 *
 * To move packets, call spfe_region_add once for the memory, then spfe_tx_open and spfe_rx_open.
 * spfe_rx_post and spfe_commit post buffers, spfe_tx_post and spfe_commit send a group, and
 * spfe_poll returns completions.
 */
#ifndef SPFE_H
#define SPFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spfe/spfe_hw.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most ports and regions of a device object. */
#ifndef SPFE_PORTS_MAX
#define SPFE_PORTS_MAX 8
#endif
#ifndef SPFE_REGIONS_MAX
#define SPFE_REGIONS_MAX 16
#endif

/* Time limit of a device command, ns. */
#ifndef SPFE_COMMAND_TIMEOUT_NS
#define SPFE_COMMAND_TIMEOUT_NS 1000000000ULL
#endif

/* ---- device ---- */

/* Properties of a port, and the offsets of its register blocks. */
struct spfe_port {
	enum spfe_port_kind kind;
	uint32_t vcs; /* virtual channels */
	uint32_t first_queue;
	uint32_t queue_count;
	uint32_t block; /* 0 if the port has no block */
	uint32_t messages; /* broadcast or time-code block, 0 if none */
};

struct spfe_region {
	uint8_t *base; /* NULL if this entry is free */
	size_t bytes;
	uint16_t key;
	uint16_t index;
};

/* A device. Programs may read the fields, but only the driver writes them. */
struct spfe_device {
	void *registers;
	uint32_t capability;
	uint32_t ports;
	uint32_t queues;
	uint32_t regions;
	uint32_t events;
	uint32_t doorbell;
	uint32_t sequence; /* last sequence number of the command latch */
	uint32_t queue_block;
	uint32_t region_block;
	uint32_t event_block;
	uint32_t statistics_block; /* 0 if none */
	bool gone;
	struct spfe_port port[SPFE_PORTS_MAX];
	struct spfe_region region[SPFE_REGIONS_MAX];
};

/*
 * Discovers and resets the device.
 * BAD_VERSION: not a spfe device, or another major version of the contract.
 * BAD_FIELD: the list of register blocks is invalid.
 * NO_RESOURCES: more ports than SPFE_PORTS_MAX.
 * DEVICE_GONE: registers read all ones, or a command got no answer in time.
 */
enum spfe_status spfe_open(struct spfe_device *device, void *registers);

/* Stops all queues and revokes all regions. Queues are closed and pending entries are lost. */
enum spfe_status spfe_reset(struct spfe_device *device);

/* Whether the device is still on the bus and has answered all commands so far. */
bool spfe_is_alive(struct spfe_device *device);

/* Device time in ns: the time base of the time stamps of completions. */
uint64_t spfe_device_time_ns(struct spfe_device *device);

/* State of a port's link. NOT_FOUND: no such port. */
enum spfe_status spfe_port_state(struct spfe_device *device, uint32_t port,
				 enum spfe_port_state *state);

/* Starts or stops a port's link. */
enum spfe_status spfe_port_start(struct spfe_device *device, uint32_t port, bool start);

/*
 * Sets the priority of a virtual channel, 0 (most urgent) to 15 (ECSS-E-ST-50-11C 5.7.4).
 * BAD_VC, BAD_FIELD: virtual channel or priority is out of range.
 */
enum spfe_status spfe_port_priority(struct spfe_device *device, uint32_t port, uint32_t vc,
				    uint32_t priority);

/* Enables or disables the interrupt of an event vector. NOT_FOUND: no such vector. */
enum spfe_status spfe_event_enable(struct spfe_device *device, uint32_t vector, bool enable);

/* ---- memory ---- */

/*
 * Registers `bytes` at `base`, which must be contiguous on the bus at address `bus`. `access` is
 * SPFE_ACCESS_LOCAL_READ to send from the memory and SPFE_ACCESS_LOCAL_WRITE to receive into it;
 * rings need both. NO_RESOURCES: SPFE_REGIONS_MAX regions are in use. Other statuses come from the
 * device.
 */
enum spfe_status spfe_region_add(struct spfe_device *device, void *base, uint64_t bus, size_t bytes,
				 uint32_t access, struct spfe_region **region);

/* Revokes a region: the device no longer accesses it. BUSY: an open queue has rings in it. */
enum spfe_status spfe_region_remove(struct spfe_device *device, struct spfe_region *region);

/* ---- queues ---- */

/* Bytes of memory for a queue of 2^log2 entries. The memory must be aligned to 64 bytes. */
#define SPFE_QUEUE_BYTES(log2) (128U + 2U * (SPFE_ENTRY_BYTES << (log2)) + (8U << (log2)))

/* Defines static memory for a queue. The device must be able to read and write it. */
#define SPFE_QUEUE_MEMORY(name, log2) static _Alignas(64) uint8_t name[SPFE_QUEUE_BYTES(log2)]

struct spfe_queue {
	struct spfe_device *device;
	volatile uint32_t *sq; /* entries of four 32-bit words */
	volatile uint32_t *cq;
	volatile uint32_t *stamps;
	volatile uint32_t *host_line;
	volatile uint32_t *device_line;
	uint32_t log2;
	uint32_t posted; /* position after the last published submission */
	uint32_t staged; /* position after the last staged submission */
	uint32_t freed; /* position after the last completed submission */
	uint32_t done; /* position of the next completion */
	uint32_t first
		[4]; /* the first staged entry: stored last, so that the group appears at once */
	uint32_t arm;
	uint32_t context;
	enum spfe_queue_kind kind;
	/* Packed receive. */
	uint8_t *area;
	uint32_t area_bytes;
	uint32_t tail;
	uint32_t owed_bytes;
	uint32_t owed;
	uint32_t run; /* bytes of the current run that are left to read */
	uint32_t record; /* offset of the next record */
};

/* Options for opening a queue. */
struct spfe_queue_options {
	struct spfe_region *region; /* region that contains the memory */
	void *memory; /* SPFE_QUEUE_BYTES(log2) bytes, aligned to 64; the driver clears them */
	uint32_t log2; /* 2^log2 entries: SPFE_RING_LOG2_MIN to SPFE_RING_LOG2_MAX */
	uint32_t vector; /* event vector that spfe_arm uses */
	bool stamps; /* request a time stamp for every completion */
};

/*
 * Open a queue that sends to, or receives from, a virtual channel. NOT_FOUND, BAD_VC, BAD_RING,
 * OUT_OF_BOUNDS: an argument is invalid. BUSY: the channel is in use. Other statuses come from the
 * device.
 */
enum spfe_status spfe_tx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port,
			      uint32_t vc, const struct spfe_queue_options *options);
enum spfe_status spfe_rx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port,
			      uint32_t vc, const struct spfe_queue_options *options);

/*
 * Opens a packed receive queue, which stores packets one after another in an area. The size of the
 * area is a multiple of 8 bytes, at least SPFE_PACKED_AREA_MIN_BYTES.
 */
enum spfe_status spfe_packed_open(struct spfe_device *device, struct spfe_queue *queue,
				  uint32_t port, uint32_t vc,
				  const struct spfe_queue_options *options,
				  struct spfe_region *region, void *area, uint32_t bytes);

/*
 * Open a queue of broadcast messages (SpaceFibre port) or time-codes (SpaceWire port). `filter` is
 * the value of register FILTER of the queue block.
 */
enum spfe_status spfe_message_tx_open(struct spfe_device *device, struct spfe_queue *queue,
				      uint32_t port, const struct spfe_queue_options *options);
enum spfe_status spfe_message_rx_open(struct spfe_device *device, struct spfe_queue *queue,
				      uint32_t port, uint32_t filter,
				      const struct spfe_queue_options *options);

/* Stops the queue. After OK the device no longer accesses its rings and buffers. */
enum spfe_status spfe_close(struct spfe_queue *queue);

/* Number of entries that can be staged now. */
uint32_t spfe_room(const struct spfe_queue *queue);

/* OK, or the status with which the device stopped the queue. */
enum spfe_status spfe_queue_status(const struct spfe_queue *queue);

/* ---- packets ---- */

/* Flags of spfe_tx_post, spfe_tx_inline and spfe_tx_burst. */
/*
 * Request a completion for this entry and all before it. Set it on the last entry of a group.
 * Errors always cause a completion.
 */
#define SPFE_SIGNAL (SPFE_SUBMIT_FLAGS_SIGNAL | SPFE_SUBMIT_FLAGS_LAST)
#define SPFE_CHAIN SPFE_SUBMIT_FLAGS_CHAIN /* the packet continues in the next entry */
#define SPFE_EEP                                                                                   \
	((uint32_t)SPFE_END_MARKER_EEP                                                             \
	 << SPFE_SUBMIT_FLAGS_END_SHIFT) /* the packet ends with an error end of packet */
#define SPFE_MORE                                                                                  \
	((uint32_t)SPFE_END_MARKER_NONE                                                            \
	 << SPFE_SUBMIT_FLAGS_END_SHIFT) /* a part of a packet without its end */

/*
 * Stages one packet, or a part of one. The device owns the bytes until a completion frees them.
 * NO_RESOURCES: no room (see spfe_room). OUT_OF_BOUNDS, EMPTY, TOO_LONG: the bytes are not in the
 * region, or their number is out of range. After an error nothing is staged.
 */
enum spfe_status spfe_tx_post(struct spfe_queue *queue, const struct spfe_region *region,
			      const void *bytes, uint32_t length, uint32_t flags);

/*
 * Stages a copy of up to SPFE_INLINE_MAX_BYTES bytes, for example a path address in front of a
 * packet (with SPFE_CHAIN).
 */
enum spfe_status spfe_tx_inline(struct spfe_queue *queue, const void *bytes, uint32_t length,
				uint32_t flags);

/*
 * Stages a burst: `count` packets of equal length, `stride` bytes apart. BAD_OPCODE: the device
 * lacks SPFE_CAPABILITY_BURST.
 */
enum spfe_status spfe_tx_burst(struct spfe_queue *queue, const struct spfe_region *region,
			       const void *bytes, uint32_t length, uint32_t stride, uint32_t count,
			       uint32_t flags);

/* Stages a receive buffer. */
enum spfe_status spfe_rx_post(struct spfe_queue *queue, const struct spfe_region *region,
			      void *bytes, uint32_t length);

/* Publishes all staged entries as one group and rings the doorbell if the device sleeps. */
void spfe_commit(struct spfe_queue *queue);

struct spfe_done {
	uint32_t bytes; /* length of the packets or in the buffer; after an error, its detail */
	uint32_t packets;
	uint32_t freed; /* submissions it frees, oldest first */
	enum spfe_status status;
	enum spfe_end_marker end; /* receive */
	bool more; /* receive: the packet continues in the next buffer */
	uint64_t time_ns; /* device time, or 0 if the queue has no time stamps */
};

/* Takes the next completion of a transmit or receive queue. False if there is none. */
bool spfe_poll(struct spfe_queue *queue, struct spfe_done *done);

/* A record in a packed area; the bytes are not copied. */
struct spfe_record {
	const uint8_t *bytes;
	uint32_t length;
	enum spfe_end_marker end; /* NONE: the packet continues in the next record */
};

/*
 * Takes the next record. False if there is none. Its bytes stay valid until spfe_packed_release. A
 * header or run that does not fit the area means a faulty device and stops the queue with BAD_RING
 * (see spfe_queue_status).
 */
bool spfe_packed_next(struct spfe_queue *queue, struct spfe_record *record);

/* Returns the bytes of all runs that have been read completely. */
void spfe_packed_release(struct spfe_queue *queue);

/* ---- messages ---- */

struct spfe_received {
	uint64_t
		data; /* broadcast: byte 0 least significant; time-code: bits 5:0 time, 7:6 flags */
	uint8_t channel;
	uint8_t type;
	enum spfe_message_kind kind;
	uint8_t status; /* message_flags: LATE, DELAYED */
	bool lost; /* earlier messages were lost because the ring was full */
	uint64_t time_ns;
};

/*
 * Stage a broadcast message, a time-code, or a distributed interrupt or its acknowledgement (capability
 * INTERRUPTS); spfe_commit sends it. BAD_FIELD: time is above 63, flags above 3, number above 31.
 */
enum spfe_status spfe_broadcast_post(struct spfe_queue *queue, uint8_t channel, uint8_t type,
				     uint64_t data);
enum spfe_status spfe_time_code_post(struct spfe_queue *queue, uint8_t time, uint8_t flags);
enum spfe_status spfe_interrupt_post(struct spfe_queue *queue, uint8_t number, bool acknowledge);

/* Takes the next message. False if there is none. */
bool spfe_message_poll(struct spfe_queue *queue, struct spfe_received *message);

/* ---- waiting ---- */

/* Polls for a completion for at most `timeout_ns` without consuming it. False if none came. */
bool spfe_wait(struct spfe_queue *queue, uint64_t timeout_ns);

/*
 * Arms the event vector of the queue: it interrupts after `count` completions or, if after_first_ns
 * is not 0, that long after the first. Returns true if a completion is there already; an interrupt
 * may then not come. Interrupts are only hints.
 */
bool spfe_arm(struct spfe_queue *queue, uint32_t count, uint64_t after_first_ns);
void spfe_disarm(struct spfe_queue *queue);

/* ---- buffers ---- */

/* A pool of up to 65534 equal buffers in static memory. */
struct spfe_pool {
	uint8_t *memory;
	uint32_t bytes; /* size of a buffer */
	uint32_t count;
	uint32_t free;
	uint16_t *list; /* memory for `count` numbers */
};

void spfe_pool_init(struct spfe_pool *pool, void *memory, uint32_t bytes, uint16_t *list,
		    uint16_t count);
void *spfe_pool_take(struct spfe_pool *pool); /* NULL if no buffer is free */
/* BAD_FIELD: not the start of a buffer of this pool. BUSY: the buffer is free already. */
enum spfe_status spfe_pool_put(struct spfe_pool *pool, void *buffer);

/* Description of a status from the contract. */
const char *spfe_status_text(enum spfe_status status);

#ifdef __cplusplus
}
#endif

#endif
