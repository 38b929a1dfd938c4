/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spfe: driver of the SpaceFibre processor endpoint without an operating system.
 *
 * Freestanding C11: no allocation, no global state, no library. Entries, registers and statuses are the contract's
 * (spfe_hw.h, generated); the platform has three hooks (platform.h). Functions return an spfe_status, SPFE_STATUS_OK
 * being 0; those that return a bool say whether there was something.
 *
 * One thread of control uses a queue at a time. Different queues need no lock between them; opening, closing and
 * configuring do (they share the device's command latch).
 *
 * The way of a packet: spfe_region_add once for the memory; spfe_tx_open and spfe_rx_open; spfe_rx_post and
 * spfe_commit give buffers; spfe_tx_post and spfe_commit send a group; spfe_poll says what is done.
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

/* Ports and regions a device object has room for. */
#ifndef SPFE_PORTS_MAX
#define SPFE_PORTS_MAX 8
#endif
#ifndef SPFE_REGIONS_MAX
#define SPFE_REGIONS_MAX 16
#endif

/* Longest time a command of the device may take, ns. */
#ifndef SPFE_COMMAND_TIMEOUT_NS
#define SPFE_COMMAND_TIMEOUT_NS 1000000000ULL
#endif

/* ---- device ---- */

/* What the device says of a port; offsets of its blocks in the register space. */
struct spfe_port {
	enum spfe_port_kind kind;
	uint32_t vcs; /* virtual channels */
	uint32_t first_queue;
	uint32_t queue_count;
	uint32_t block; /* 0: the port has no block */
	uint32_t messages; /* broadcast or time-code block; 0: none */
};

struct spfe_region {
	uint8_t *base; /* NULL: free */
	size_t bytes;
	uint16_t key;
	uint16_t index;
};

/* A device. Fields are the driver's; read them as you like. */
struct spfe_device {
	void *registers;
	uint32_t capability;
	uint32_t ports;
	uint32_t queues;
	uint32_t regions;
	uint32_t events;
	uint32_t doorbell;
	uint32_t sequence; /* of the command latch */
	uint32_t queue_block;
	uint32_t region_block;
	uint32_t event_block;
	uint32_t statistics_block; /* 0: none */
	bool gone;
	struct spfe_port port[SPFE_PORTS_MAX];
	struct spfe_region region[SPFE_REGIONS_MAX];
};

/*
 * Finds out what the device is and resets it.
 * BAD_VERSION: not a spfe device, or another major version. BAD_FIELD: its list of blocks makes no sense.
 * NO_RESOURCES: more ports than SPFE_PORTS_MAX. DEVICE_GONE: it reads all ones, or a command was not answered in time.
 */
enum spfe_status spfe_open(struct spfe_device *device, void *registers);

/* Stops every queue and revokes every region. Queue objects are then closed; what was pending is lost. */
enum spfe_status spfe_reset(struct spfe_device *device);

/* Whether the device is there: it did not vanish from the bus and answers commands. */
bool spfe_is_alive(struct spfe_device *device);

/* Device time, ns: the time base of completion stamps. */
uint64_t spfe_device_time_ns(struct spfe_device *device);

/* State of a port's link. NOT_FOUND: no such port. */
enum spfe_status spfe_port_state(struct spfe_device *device, uint32_t port, enum spfe_port_state *state);

/* Starts or stops a port's link. */
enum spfe_status spfe_port_start(struct spfe_device *device, uint32_t port, bool start);

/* Priority of a virtual channel, 0 (the most urgent) to 15 (ECSS-E-ST-50-11C 5.7.4). BAD_VC, BAD_FIELD. */
enum spfe_status spfe_port_priority(struct spfe_device *device, uint32_t port, uint32_t vc, uint32_t priority);

/* Lets an event vector interrupt, or not. NOT_FOUND: no such vector. */
enum spfe_status spfe_event_enable(struct spfe_device *device, uint32_t vector, bool enable);

/* ---- memory ---- */

/*
 * Makes `bytes` at `base` known to the device; `bus` is the address the device reaches them by. The memory is contiguous
 * on the bus. access: SPFE_ACCESS_LOCAL_READ to send from it, SPFE_ACCESS_LOCAL_WRITE to receive into it; rings need
 * both. NO_RESOURCES: SPFE_REGIONS_MAX are in use; else what the device says.
 */
enum spfe_status spfe_region_add(struct spfe_device *device, void *base, uint64_t bus, size_t bytes, uint32_t access,
				 struct spfe_region **region);

/* Revokes a region: the device touches it no more. BUSY: rings of an open queue are in it. */
enum spfe_status spfe_region_remove(struct spfe_device *device, struct spfe_region *region);

/* ---- queues ---- */

/* Bytes a queue of 2^log2 entries needs, at a multiple of 64. */
#define SPFE_QUEUE_BYTES(log2) (128U + 2U * (SPFE_ENTRY_BYTES << (log2)) + (8U << (log2)))

/* Static memory for a queue. Put it where the device may read and write. */
#define SPFE_QUEUE_MEMORY(name, log2) static _Alignas(64) uint8_t name[SPFE_QUEUE_BYTES(log2)]

struct spfe_queue {
	struct spfe_device *device;
	volatile uint32_t *sq; /* entries of four 32-bit words */
	volatile uint32_t *cq;
	volatile uint32_t *stamps;
	volatile uint32_t *host_line;
	volatile uint32_t *device_line;
	uint32_t log2;
	uint32_t posted; /* position behind the last published submission */
	uint32_t staged; /* position behind the last staged one */
	uint32_t freed; /* position behind the last submission that completed */
	uint32_t done; /* position of the next completion */
	uint32_t first[4]; /* the first staged entry, which is stored last */
	uint32_t arm;
	uint32_t context;
	enum spfe_queue_kind kind;
	/* Packed receive. */
	uint8_t *area;
	uint32_t area_bytes;
	uint32_t tail;
	uint32_t owed_bytes;
	uint32_t owed;
	uint32_t run; /* bytes of the run that are left to be read */
	uint32_t record; /* offset of the next record */
};

/* How a queue is opened. */
struct spfe_queue_options {
	struct spfe_region *region; /* where its memory lies */
	void *memory; /* SPFE_QUEUE_BYTES(log2) bytes, zeroed by the driver, at a multiple of 64 */
	uint32_t log2; /* 2^log2 entries: SPFE_RING_LOG2_MIN to SPFE_RING_LOG2_MAX */
	uint32_t vector; /* event vector of spfe_arm */
	bool stamps; /* a time for every completion */
};

/* Packets to, and from, a virtual channel. NOT_FOUND, BAD_VC, BAD_RING, OUT_OF_BOUNDS, BUSY; else what the device says. */
enum spfe_status spfe_tx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port, uint32_t vc,
			      const struct spfe_queue_options *options);
enum spfe_status spfe_rx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port, uint32_t vc,
			      const struct spfe_queue_options *options);

/* Packets from a virtual channel, back to back in an area: a multiple of 8 bytes, SPFE_PACKED_AREA_MIN_BYTES or more. */
enum spfe_status spfe_packed_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port, uint32_t vc,
				  const struct spfe_queue_options *options, struct spfe_region *region, void *area,
				  uint32_t bytes);

/* Broadcast messages of a SpaceFibre port, time-codes of a SpaceWire port. filter: register FILTER of the queue block. */
enum spfe_status spfe_message_tx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port,
				      const struct spfe_queue_options *options);
enum spfe_status spfe_message_rx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port,
				      uint32_t filter, const struct spfe_queue_options *options);

/* Stops the queue: when this returns OK the device touches its rings and buffers no more. */
enum spfe_status spfe_close(struct spfe_queue *queue);

/* Entries that may be staged now. */
uint32_t spfe_room(const struct spfe_queue *queue);

/* What the device says of the queue: OK, or the status that stopped it. */
enum spfe_status spfe_queue_status(const struct spfe_queue *queue);

/* ---- packets ---- */

/* Flags of spfe_tx_post, spfe_tx_inline and spfe_tx_burst. */
/* Report completion, of this entry and of all before it: on the last of a group. Errors are always reported. */
#define SPFE_SIGNAL (SPFE_SUBMIT_FLAGS_SIGNAL | SPFE_SUBMIT_FLAGS_LAST)
#define SPFE_CHAIN SPFE_SUBMIT_FLAGS_CHAIN /* the packet goes on in the next entry */
#define SPFE_EEP ((uint32_t)SPFE_END_MARKER_EEP << SPFE_SUBMIT_FLAGS_END_SHIFT) /* ends with an error end of packet */
#define SPFE_MORE ((uint32_t)SPFE_END_MARKER_NONE << SPFE_SUBMIT_FLAGS_END_SHIFT) /* a piece: the packet goes on */

/*
 * Stages one packet, or a part of one. The bytes belong to the device until a completion frees them.
 * NO_RESOURCES: no room (spfe_room). OUT_OF_BOUNDS, EMPTY, TOO_LONG: refused, nothing is staged.
 */
enum spfe_status spfe_tx_post(struct spfe_queue *queue, const struct spfe_region *region, const void *bytes,
			      uint32_t length, uint32_t flags);

/* Stages up to SPFE_INLINE_MAX_BYTES bytes, which are copied: a path address in front of a packet (with SPFE_CHAIN). */
enum spfe_status spfe_tx_inline(struct spfe_queue *queue, const void *bytes, uint32_t length, uint32_t flags);

/* Stages `count` packets of one length, `stride` bytes apart. Needs SPFE_CAPABILITY_BURST: BAD_OPCODE. */
enum spfe_status spfe_tx_burst(struct spfe_queue *queue, const struct spfe_region *region, const void *bytes,
			       uint32_t length, uint32_t stride, uint32_t count, uint32_t flags);

/* Stages a receive buffer. */
enum spfe_status spfe_rx_post(struct spfe_queue *queue, const struct spfe_region *region, void *bytes, uint32_t length);

/* Hands everything staged to the device as one group, and wakes it if it sleeps. */
void spfe_commit(struct spfe_queue *queue);

struct spfe_done {
	uint32_t bytes; /* of the packets or the buffer; detail of an error */
	uint32_t packets;
	uint32_t freed; /* submissions it frees, oldest first */
	enum spfe_status status;
	enum spfe_end_marker end; /* receive */
	bool more; /* receive: the packet goes on in the next buffer */
	uint64_t time_ns; /* with stamps, else 0 */
};

/* Takes the next completion of a transmit or receive queue; false if there is none. */
bool spfe_poll(struct spfe_queue *queue, struct spfe_done *done);

/* A record of a packed area, in place. */
struct spfe_record {
	const uint8_t *bytes;
	uint32_t length;
	enum spfe_end_marker end; /* NONE: the packet goes on in the next record */
};

/*
 * Takes the next record; false if there is none. Its bytes stay until spfe_packed_release. A header or run that does not
 * fit the area stops the queue with BAD_RING (spfe_queue_status): the device is broken.
 */
bool spfe_packed_next(struct spfe_queue *queue, struct spfe_record *record);

/* Gives back the bytes of every run that was read to its end. */
void spfe_packed_release(struct spfe_queue *queue);

/* ---- messages ---- */

struct spfe_received {
	uint64_t data; /* broadcast: byte 0 least significant; time-code: bits 5:0 time, 7:6 flags */
	uint8_t channel;
	uint8_t type;
	enum spfe_message_kind kind;
	uint8_t status; /* message_flags: LATE, DELAYED */
	bool lost; /* messages before this one found no room */
	uint64_t time_ns;
};

/* Stages a broadcast message or a time-code (0 to 63, flags 0 to 3: else BAD_FIELD). spfe_commit sends. */
enum spfe_status spfe_broadcast_post(struct spfe_queue *queue, uint8_t channel, uint8_t type, uint64_t data);
enum spfe_status spfe_time_code_post(struct spfe_queue *queue, uint8_t time, uint8_t flags);

/* Takes the next message; false if there is none. */
bool spfe_message_poll(struct spfe_queue *queue, struct spfe_received *message);

/* ---- waiting ---- */

/* Polls until a completion is there, `timeout_ns` at most; false if none came. Takes nothing. */
bool spfe_wait(struct spfe_queue *queue, uint64_t timeout_ns);

/*
 * Asks for the queue's event vector to interrupt when `count` completions are there or, if after_first_ns is not 0, that
 * long after the first. True if a completion is there already: then no interrupt has to come. Interrupts are hints.
 */
bool spfe_arm(struct spfe_queue *queue, uint32_t count, uint64_t after_first_ns);
void spfe_disarm(struct spfe_queue *queue);

/* ---- buffers ---- */

/* A pool of up to 65534 equal buffers in static memory. */
struct spfe_pool {
	uint8_t *memory;
	uint32_t bytes; /* of a buffer */
	uint32_t count;
	uint32_t free;
	uint16_t *list; /* `count` numbers */
};

void spfe_pool_init(struct spfe_pool *pool, void *memory, uint32_t bytes, uint16_t *list, uint16_t count);
void *spfe_pool_take(struct spfe_pool *pool); /* NULL: none is free */
/* BAD_FIELD: not the start of a buffer of this pool. BUSY: it was free already. */
enum spfe_status spfe_pool_put(struct spfe_pool *pool, void *buffer);

/* The contract's sentence about a status. */
const char *spfe_status_text(enum spfe_status status);

#ifdef __cplusplus
}
#endif

#endif
