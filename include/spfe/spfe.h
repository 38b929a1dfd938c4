/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The C interface of spfe: packets, broadcast messages, time-codes and remote memory access between
 * a program's memory and a SpaceFibre or SpaceWire network (docs/c.md).
 *
 * A function that can fail returns 0 or more on success, and a negative value on failure: the
 * negated status of the contract (enum spfe_status), or one of SPFE_TIMED_OUT, SPFE_SYSTEM and
 * SPFE_INTERNAL. spfe_error() then has a sentence with the object, the value, the limit and the
 * remedy. NULL, a closed handle and a handle from before a fork are BAD_FIELD; a handle that another
 * thread is using at this moment is BUSY.
 *
 * Different handles may be used by different threads at the same time; one handle by one thread at
 * a time. Only spfe_now_ns() and the functions that cancel a wait may be called while another thread
 * uses the handle. Deadlines are device times in ns (spfe_now_ns()); SPFE_NOW does not wait and
 * SPFE_NEVER waits without limit.
 */
#ifndef SPFE_H
#define SPFE_H

#include <stddef.h>
#include <stdint.h>

#include "spfe/spfe_hw.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Results
 */

#define SPFE_TIMED_OUT (-0x100) /* the deadline has passed; nothing was consumed */
#define SPFE_SYSTEM (-0x101)    /* the operating system refused; see spfe_errno() */
#define SPFE_INTERNAL (-0x102)  /* a defect of the library; please report it */
#define SPFE_BAD_REPLY (-0x103) /* an RMAP reply is cut, damaged or of a wrong length */
#define SPFE_RMAP_REFUSED (-0x200) /* minus the RMAP status: the target refused the command */
#define SPFE_RDMA_REFUSED (-0x300) /* minus the SFRP status: the target refused the request */

/* Version of the library, such as "0.1.0". */
const char *spfe_version(void);

/* Message of the last call that failed in this thread; "" if none did. Valid until the next one. */
const char *spfe_error(void);

/* Name of a result, such as "BUSY"; "OK" for 0 and more, "UNKNOWN" for what is not listed. */
const char *spfe_status_name(int result);

/*
 * Class of a result, "ok", "local", "remote", "link" or "usage": where the cause is
 * (docs/errors.md).
 */
const char *spfe_status_class(int result);

/* The errno for a result, positive; 0 for success. For SPFE_SYSTEM, that of this thread's last. */
int spfe_errno(int result);

/* ------------------------------------------------------------------------------------------------
 * Endpoints, ports and virtual channels
 */

typedef struct spfe_endpoint spfe_endpoint;

#define SPFE_NOW UINT64_C(0)
#define SPFE_NEVER UINT64_MAX

/* A device. Set size before the call; fields beyond it are not written. */
struct spfe_endpoint_info {
	size_t size;
	uint32_t endpoint;       /* number in its network */
	uint32_t client;         /* number of this client */
	uint32_t ports;
	uint16_t contract_major; /* version of the contract */
	uint16_t contract_minor;
};

struct spfe_port_info {
	size_t size;
	uint32_t kind;     /* enum spfe_port_kind */
	uint32_t state;    /* enum spfe_port_state */
	uint32_t vcs;      /* virtual channels; 1 for SpaceWire */
	uint32_t reserved;
	uint64_t messages_sent;
	uint64_t messages_received;
	uint64_t messages_dropped; /* a listener's ring was full */
};

struct spfe_counters {
	uint64_t packets;
	uint64_t bytes;
	uint64_t errors; /* submissions that completed with an error */
	uint64_t stalls; /* packets that waited for a receive buffer */
	uint64_t wakes;  /* times that the device woke the host */
};

struct spfe_vc_info {
	size_t size;
	uint32_t priority;    /* 0, the most urgent, to 15 */
	uint32_t far_sends;   /* 1 if the far end has a sender */
	uint32_t far_receives;
	uint32_t reserved;
	struct spfe_counters tx;
	struct spfe_counters rx;
};

/*
 * Opens a device: "virtual:", "unix:SOCKET/N", "/dev/spfe0" (docs/devices.md). BAD_FIELD for a name
 * with a syntax error, NOT_FOUND, DEVICE_GONE if no daemon answers, BAD_VERSION.
 */
int spfe_open(const char *name, spfe_endpoint **endpoint);

/* Closes a device. Regions and queues keep it open, so the order of closing does not matter. */
int spfe_close(spfe_endpoint *endpoint);

/* Describes a device. */
int spfe_endpoint_info(spfe_endpoint *endpoint, struct spfe_endpoint_info *info);

/* Describes a port. NOT_FOUND if there is none of this number. */
int spfe_port_info(spfe_endpoint *endpoint, uint32_t port, struct spfe_port_info *info);

/* Describes a virtual channel. BAD_VC if the port has none of this number. */
int spfe_vc_info(spfe_endpoint *endpoint, uint32_t port, uint32_t vc, struct spfe_vc_info *info);

/* Sets the transmit priority: 0, the most urgent, to 15 (ECSS-E-ST-50-11C 5.7.4). */
int spfe_vc_set_priority(spfe_endpoint *endpoint, uint32_t port, uint32_t vc, uint8_t priority);

/*
 * Reads or sets an item of the management information base by the name of the standard, such as
 * "Lane State[1]" or "lane-state.1" (ECSS-E-ST-50-11C 5.9). NOT_FOUND for an unknown name or number,
 * BAD_OPCODE if the link has no such item or it cannot be set, BAD_FIELD for a value out of range.
 */
int spfe_mib_get(spfe_endpoint *endpoint, uint32_t port, const char *name, uint64_t *value);
int spfe_mib_set(spfe_endpoint *endpoint, uint32_t port, const char *name, uint64_t value);

/* Stops this client's queues and revokes its regions; open them again afterwards. */
int spfe_reset(spfe_endpoint *endpoint);

/* Device time in ns, from any thread; 0 for a handle that cannot be used. */
uint64_t spfe_now_ns(spfe_endpoint *endpoint);

/* ------------------------------------------------------------------------------------------------
 * Memory
 */

typedef struct spfe_region spfe_region;

/*
 * A range of a region. The program owns it until it is posted, and again after it is taken back.
 * Set length to the number of bytes to send; after reception it is the number of bytes received.
 * data and capacity are read only, tag is the program's.
 */
struct spfe_buf {
	uint8_t *data;
	uint32_t length;
	uint32_t capacity;
	uint64_t tag;
};

/*
 * Registers new memory of zero bytes, rounded up to whole pages. NO_RESOURCES if there is no room.
 */
int spfe_region_alloc(spfe_endpoint *endpoint, size_t bytes, spfe_region **region);

/*
 * Frees a region. Its memory stays registered until the last buffer cut from it has been put back.
 */
int spfe_region_free(spfe_region *region);

/* Number of bytes; 0 for a handle that cannot be used. */
size_t spfe_region_size(spfe_region *region);

/*
 * Cuts a buffer out of a region. OUT_OF_BOUNDS past the end, EMPTY for no bytes, TOO_LONG for more
 * than 1 GiB, BUSY if a byte belongs to another buffer.
 */
int spfe_buf_get(spfe_region *region, size_t offset, size_t bytes, struct spfe_buf **buf);

/* Gives a buffer back to its region. BUSY while it is posted. */
int spfe_buf_put(struct spfe_buf *buf);

/* ------------------------------------------------------------------------------------------------
 * Queues: one end of a virtual channel, or the messages of a port
 */

typedef struct spfe_queue spfe_queue;

enum spfe_strategy {
	SPFE_ADAPTIVE = 0, /* spin for about as long as a sleep costs, then sleep */
	SPFE_POLL = 1,     /* never sleep */
	SPFE_BLOCK = 2,    /* sleep at once */
};

#define SPFE_STAMPS 1u /* flag: the device stamps every completion with its time */
#define SPFE_EVENT 2u  /* flag: the queue has a descriptor for poll or epoll */

/* Options. A NULL pointer and a 0 in any field but size mean the default. */
struct spfe_queue_options {
	size_t size;         /* sizeof(struct spfe_queue_options) */
	uint32_t depth;      /* entries: 4 to 32768, rounded up to a power of two; 1024, messages 64 */
	uint32_t strategy;   /* enum spfe_strategy */
	uint32_t flags;      /* SPFE_STAMPS, SPFE_EVENT */
	uint32_t slot_bytes; /* pooled queues: size of a slot, 1 to 1 GiB; 4096 */
	uint32_t area_bytes; /* packed receive: size of the area, 4096 to 1 GiB; 1 MiB */
	uint32_t reserved;   /* 0 */
};

#define SPFE_QUEUE_OPTIONS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct spfe_queue_options), 0, 0, 0, 0, 0, 0                                \
	}

/*
 * Opens an end of a virtual channel. BUSY if another client has it open; the message names the
 * client.
 */
int spfe_tx_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
		 const struct spfe_queue_options *options, spfe_queue **queue);
int spfe_rx_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
		 const struct spfe_queue_options *options, spfe_queue **queue);
int spfe_pooled_tx_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
			const struct spfe_queue_options *options, spfe_queue **queue);
int spfe_pooled_rx_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
			const struct spfe_queue_options *options, spfe_queue **queue);
int spfe_packed_rx_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
			const struct spfe_queue_options *options, spfe_queue **queue);

/*
 * Stops and closes a queue. Posted buffers belong to the program again. Packets that have not been
 * sent are discarded, so wait for their completions first. BUSY if it cannot be stopped now; then it
 * stays open.
 */
int spfe_queue_close(spfe_queue *queue);

/* What to wait for: whichever is met first. 0 means that the condition is not used. */
struct spfe_threshold {
	uint32_t count;          /* packets; on transmit queues, completions */
	uint32_t reserved;       /* 0 */
	uint64_t bytes;          /* packed receive: headers and padding included */
	uint64_t after_first_ns; /* time since the first packet arrived */
};

enum spfe_ready {
	SPFE_READY_THRESHOLD = 1,   /* the count or the number of bytes was reached */
	SPFE_READY_AFTER_FIRST = 2, /* the time since the first packet has passed */
	SPFE_READY_ATTENTION = 3,   /* an error or a cut packet: poll before going on */
};

/*
 * Waits for a threshold (NULL: one packet or completion) and leaves it to be polled. Returns enum
 * spfe_ready. SPFE_TIMED_OUT; CANCELLED; or why no more completions will arrive.
 */
int spfe_queue_wait(spfe_queue *queue, const struct spfe_threshold *threshold,
		    uint64_t deadline_ns);

/*
 * Ends the current wait of the queue, or the next one. From any thread; not from a signal handler.
 */
int spfe_queue_cancel(spfe_queue *queue);

/* The descriptor for poll or epoll, for queues opened with SPFE_EVENT. It belongs to the queue. */
int spfe_queue_fd(spfe_queue *queue);

/*
 * Makes the descriptor readable when the threshold is met. Returns 1 if it is met already; then the
 * descriptor may stay silent.
 */
int spfe_queue_request_event(spfe_queue *queue, const struct spfe_threshold *threshold);

/* Counters of the host side. They only go up. */
struct spfe_queue_stats {
	size_t size;
	uint64_t polls;
	uint64_t empty_polls;
	uint64_t doorbells;
	uint64_t sleeps; /* sleeps of a waiting thread that have ended */
	uint64_t full;   /* submissions refused because the ring was full */
	uint64_t yields; /* times that a waiting thread let others have its core */
};

/* Reads the counters of a queue. */
int spfe_queue_stats(spfe_queue *queue, struct spfe_queue_stats *stats);

/* ------------------------------------------------------------------------------------------------
 * Posted buffers: spfe_tx_open() and spfe_rx_open()
 */

enum spfe_end {
	SPFE_EOP = 0,  /* end of packet */
	SPFE_EEP = 1,  /* error end of packet */
	SPFE_MORE = 2, /* no end yet: the next buffer continues the packet */
};

/* Sends length bytes of a buffer, with a completion of its own. BUSY if the queue is full. */
int spfe_send(spfe_queue *tx, struct spfe_buf *buf, enum spfe_end end);

/*
 * Sends a group of packets: one doorbell, one completion. Returns the number of buffers taken from
 * the front, as many as fit.
 */
int spfe_send_group(spfe_queue *tx, struct spfe_buf *const *bufs, uint32_t count);

/* Sends a packet with up to 11 bytes in front of it, such as a path address. TOO_LONG for more. */
int spfe_send_with_path(spfe_queue *tx, const uint8_t *path, uint32_t bytes, struct spfe_buf *buf);

/* Sends one packet gathered from up to 16 buffers. EMPTY, CHAIN_TOO_LONG, TOO_LONG, BUSY. */
int spfe_send_gather(spfe_queue *tx, struct spfe_buf *const *parts, uint32_t count);

/*
 * Sends count packets (1 to 65535) of length bytes that lie stride bytes apart in one buffer, with
 * one submission. A stride of 0 repeats the same bytes.
 */
int spfe_send_burst(spfe_queue *tx, struct spfe_buf *buf, uint32_t length, uint32_t stride,
		    uint32_t count);

/* A completion of a transmit queue. */
struct spfe_sent {
	int32_t status;   /* 0, or negative: why the last of the submissions was not sent */
	uint32_t packets; /* packets sent since the previous completion */
	uint32_t bytes;   /* on an error: bytes of the failed packet that the receiver has */
	uint32_t stamped; /* 1 if time_ns is valid */
	uint64_t time_ns;
};

/*
 * Takes the next completion of a posted or pooled transmit queue. Returns 1, or 0 if there is none.
 * The buffers of a posted queue that it completes belong to the program again; spfe_buf_take()
 * returns them.
 */
int spfe_sent_poll(spfe_queue *tx, struct spfe_sent *sent);

/*
 * The next buffer that was sent or taken back, in the order of posting. Returns 1, or 0 if there is
 * none. A program that knows its buffers need not ask; the queue forgets the oldest.
 */
int spfe_buf_take(spfe_queue *queue, struct spfe_buf **buf);

/* Posts a buffer to receive into. The device may use all of its capacity. BUSY if it is full. */
int spfe_rx_post(spfe_queue *rx, struct spfe_buf *buf);

/* A received packet, or the part of one that filled a buffer. */
struct spfe_received {
	struct spfe_buf *buf;
	int32_t status;   /* 0; -SPFE_STATUS_PACKET_CUT with EEP; or why the buffer was not used */
	uint32_t end;     /* enum spfe_end */
	uint32_t stamped; /* 1 if time_ns is valid */
	uint32_t reserved;
	uint64_t time_ns;
};

/* Takes the next packet or part of one. Returns 1, or 0 if there is none. */
int spfe_rx_poll(spfe_queue *rx, struct spfe_received *received);

/*
 * Takes back all posted buffers: stops the queue and starts it again. Returns how many there were.
 * A packet that was partly sent ends with EEP; received bytes are in the buffers, which
 * spfe_buf_take() returns.
 */
int spfe_queue_take_back(spfe_queue *queue);

/* ------------------------------------------------------------------------------------------------
 * Pooled queues: each entry has a buffer of its own, which is filled and read in place
 */

/*
 * The next free slot and its size. Returns 1, or 0 while all are busy: poll completions. Returns
 * the same slot until it is staged or sent.
 */
int spfe_slot(spfe_queue *tx, uint8_t **data, uint32_t *capacity);

/* Adds the first length bytes of the slot to the group as a packet. EMPTY, TOO_LONG, BUSY. */
int spfe_slot_stage(spfe_queue *tx, uint32_t length);

/* Sends the staged packets as a group: one doorbell, one completion. */
int spfe_slot_submit(spfe_queue *tx);

/* Sends the slot as a packet with a completion of its own, together with staged ones. */
int spfe_slot_send(spfe_queue *tx, uint32_t length);

struct spfe_packet {
	const uint8_t *data;
	uint32_t length;
	uint32_t end;   /* enum spfe_end */
	int32_t status; /* 0, or -SPFE_STATUS_PACKET_CUT with EEP */
	uint32_t reserved;
};

/* The next packet or part of one, in its slot. Returns 1, or 0. The same until it is released. */
int spfe_slot_peek(spfe_queue *rx, struct spfe_packet *packet);

/* Returns the slot of that packet to the device. Does nothing if there is no packet. */
int spfe_slot_release(spfe_queue *rx);

/* ------------------------------------------------------------------------------------------------
 * Packed receive: packets lie back to back in one area; costs least for small packets
 */

/* Records that arrived together. */
struct spfe_run {
	const uint8_t *data;
	uint32_t bytes;   /* headers and padding included */
	uint32_t packets;
	uint32_t stamped; /* 1 if time_ns is valid */
	uint32_t reserved;
	uint64_t time_ns;
};

/* Takes the next run. Returns 1, or 0 if there is none. BUSY until the last one is released. */
int spfe_run_poll(spfe_queue *packed, struct spfe_run *run);

/* Returns the bytes of the run to the device. Does nothing if there is no run. */
int spfe_run_release(spfe_queue *packed);

/*
 * Takes the first record off a run. Returns 1, or 0 at the end, and at a header that does not fit
 * into the run, which only a broken device writes.
 */
static inline int spfe_run_next(struct spfe_run *run, struct spfe_packet *record)
{
	const uint8_t *at = run->data;
	uint32_t length, marker, total;

	if (run->bytes < 8)
		return 0;
	/* One load where bytes have this order. */
	length = at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	marker = at[4];
	if (length > run->bytes - 8)
		return 0;
	/* No overflow: the record is inside the run, which is inside an area of 1 GiB at most. */
	total = (length + 8 + SPFE_PACKED_ALIGN - 1) & ~(uint32_t)(SPFE_PACKED_ALIGN - 1);
	record->data = at + 8;
	record->length = length;
	record->end = marker == SPFE_END_MARKER_EOP    ? (uint32_t)SPFE_EOP
		      : marker == SPFE_END_MARKER_NONE ? (uint32_t)SPFE_MORE
						       : (uint32_t)SPFE_EEP;
	record->status = record->end == SPFE_EEP ? -SPFE_STATUS_PACKET_CUT : 0;
	record->reserved = 0;
	if (total > run->bytes)
		total = run->bytes;
	run->data = at + total;
	run->bytes -= total;
	return 1;
}

/* ------------------------------------------------------------------------------------------------
 * Messages: SpaceFibre broadcast messages (ECSS-E-ST-50-11C 5.7.5) and SpaceWire time-codes
 */

#define SPFE_ANY (-1) /* every broadcast channel or type */

struct spfe_broadcast {
	uint8_t channel;
	uint8_t type;
	uint8_t late;        /* 1: a retry of the link delayed it */
	uint8_t delayed;     /* 1: it waited for another broadcast message */
	uint8_t lost_before; /* 1: the ring was full and earlier messages were dropped */
	uint8_t reserved[3];
	uint8_t data[8];
	uint64_t time_ns;    /* device time of reception */
};

struct spfe_time_code {
	uint8_t time;  /* 0 to 63 */
	uint8_t flags; /* 0 to 3 */
	uint8_t reserved[6];
	uint64_t time_ns;
};

/*
 * Opens the broadcast messages of a SpaceFibre port and receives those of a channel and a type, or
 * SPFE_ANY. BAD_OPCODE for a SpaceWire port, NO_RESOURCES if the port has no free message queue.
 */
int spfe_broadcast_open(spfe_endpoint *endpoint, uint32_t port, int channel, int type,
			const struct spfe_queue_options *options, spfe_queue **queue);

/* Sends a message ahead of all data. BUSY if the queue is full. */
int spfe_broadcast_send(spfe_queue *queue, uint8_t channel, uint8_t type, const uint8_t data[8]);

/* Takes the next message. Returns 1, or 0 if there is none. */
int spfe_broadcast_poll(spfe_queue *queue, struct spfe_broadcast *message);

/* Opens the time-codes of a SpaceWire port. */
int spfe_time_code_open(spfe_endpoint *endpoint, uint32_t port,
			const struct spfe_queue_options *options, spfe_queue **queue);

/* Sends a time-code. BAD_FIELD for a time over 63 or flags over 3; BUSY if the queue is full. */
int spfe_time_code_send(spfe_queue *queue, uint8_t time, uint8_t flags);

/* Takes the next time-code. Returns 1, or 0 if there is none. */
int spfe_time_code_poll(spfe_queue *queue, struct spfe_time_code *time_code);

/* A distributed interrupt of SpaceWire (ECSS-E-ST-50-12C 5.6.4). */
struct spfe_interrupt {
	uint8_t number;      /* 0 to 31 */
	uint8_t acknowledge; /* 1: the code acknowledges it */
	uint8_t lost_before; /* interrupts before this one were dropped */
	uint8_t reserved[5];
	uint64_t time_ns; /* device time of reception */
};

/*
 * Opens the distributed interrupts of a SpaceWire port. BAD_FIELD if the device has none (capability
 * INTERRUPTS): they are time-codes with flags 2 there.
 */
int spfe_interrupt_open(spfe_endpoint *endpoint, uint32_t port,
			const struct spfe_queue_options *options, spfe_queue **queue);

/* Sends an interrupt, or its acknowledgement. BAD_FIELD for a number over 31; BUSY if the queue is
 * full. */
int spfe_interrupt_send(spfe_queue *queue, uint8_t number, uint8_t acknowledge);

/* Takes the next interrupt. Returns 1, or 0 if there is none. */
int spfe_interrupt_poll(spfe_queue *queue, struct spfe_interrupt *interrupt);

/* Waits until all messages of the queue have been sent, or gives the first error of one. */
int spfe_messages_drain(spfe_queue *queue, uint64_t deadline_ns);

/* ------------------------------------------------------------------------------------------------
 * RMAP initiator (ECSS-E-ST-50-52C)
 */

typedef struct spfe_rmap spfe_rmap;

/* Options. A 0 in any field but size and key means the default. */
struct spfe_rmap_options {
	size_t size;                /* sizeof(struct spfe_rmap_options) */
	const uint8_t *path;        /* path address in front of commands */
	uint32_t path_bytes;        /* at most 32 */
	const uint8_t *reply_path;  /* path address of replies */
	uint32_t reply_path_bytes;  /* at most 12 */
	uint8_t target;             /* logical address of the target; 254 */
	uint8_t initiator;          /* logical address of this end; 254 */
	uint8_t key;
	uint8_t reserved;           /* 0 */
	uint32_t max_data;          /* data bytes of a command, 1 to 16777215; 64 KiB */
	uint32_t outstanding;       /* transactions under way, 1 to 64; 16 */
};

/*
 * Opens an initiator. NULL options: the defaults. BUSY if another client has the virtual channel
 * open.
 */
int spfe_rmap_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
		   const struct spfe_rmap_options *options, spfe_rmap **rmap);
int spfe_rmap_close(spfe_rmap *rmap);

/*
 * Reads or writes consecutive addresses (40 bits). Writes are verified and answered. A long access
 * takes several commands. SPFE_RMAP_REFUSED - status, SPFE_BAD_REPLY, SPFE_TIMED_OUT.
 */
int spfe_rmap_read(spfe_rmap *rmap, uint64_t address, void *data, size_t bytes,
		   uint64_t deadline_ns);
int spfe_rmap_write(spfe_rmap *rmap, uint64_t address, const void *data, size_t bytes,
		    uint64_t deadline_ns);

/*
 * Writes the bits of data where mask is one, and returns the previous value in old. All three have
 * 1 to 4 bytes.
 */
int spfe_rmap_modify(spfe_rmap *rmap, uint64_t address, const void *data, const void *mask,
		     void *old, size_t bytes, uint64_t deadline_ns);

/* ------------------------------------------------------------------------------------------------
 * RMAP target: gives other nodes access to memory of this program
 */

typedef struct spfe_rmap_target spfe_rmap_target;

/* Options. A 0 in any field but size means the default. */
struct spfe_rmap_target_options {
	size_t size;               /* sizeof(struct spfe_rmap_target_options) */
	uint32_t max_data;         /* data bytes of a read, 1 to 16777215; 64 KiB */
	uint32_t verify_bytes;     /* data bytes of a verified write; 4096 */
	uint8_t logical_address;   /* 254 */
	uint8_t only_this_address; /* 1: refuse 254 as well */
	uint8_t reserved[6];       /* 0 */
};

/*
 * Opens a target. NULL options: the defaults. BUSY if another client has the virtual channel open.
 */
int spfe_rmap_target_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
			  const struct spfe_rmap_target_options *options,
			  spfe_rmap_target **target);

/* Closes a target. Its memory goes with it. */
int spfe_rmap_target_close(spfe_rmap_target *target);

#define SPFE_RMAP_READ 1u   /* flags of a window: commands that it allows */
#define SPFE_RMAP_WRITE 2u
#define SPFE_RMAP_MODIFY 4u

/*
 * Gives access to new memory of zero bytes at an address (40 bits) for commands with a key (SPFE_ANY:
 * any). data is the memory; it is valid until the target is closed, and changes while the target serves.
 * BAD_FIELD if it overlaps another window.
 */
int spfe_rmap_target_window(spfe_rmap_target *target, uint64_t address, size_t bytes,
			    uint32_t flags, int key, uint8_t **data);

/*
 * Executes commands in this thread until the deadline. Returns the number of packets; CANCELLED; or why
 * no more packets will arrive.
 */
int spfe_rmap_target_serve(spfe_rmap_target *target, uint64_t deadline_ns);

/* Ends the serving of another thread, or the next one. Not from a signal handler. */
int spfe_rmap_target_cancel(spfe_rmap_target *target);

/* ------------------------------------------------------------------------------------------------
 * CCSDS space packets (ECSS-E-ST-50-53C)
 */

enum spfe_sequence_flags {
	SPFE_CONTINUATION = 0, /* a middle part of the user data */
	SPFE_FIRST = 1,
	SPFE_LAST = 2,
	SPFE_UNSEGMENTED = 3,  /* all of it */
};

/* A space packet, and the logical address to which it is sent. */
struct spfe_space_packet {
	size_t size;              /* sizeof(struct spfe_space_packet) */
	const uint8_t *data;      /* the packet data field */
	uint32_t data_bytes;      /* 1 to 65536 */
	uint16_t apid;            /* application process identifier, 0 to 2047 */
	uint16_t sequence_count;  /* or packet name, 0 to 16383 */
	uint8_t telecommand;      /* 1: telecommand, 0: telemetry */
	uint8_t secondary_header; /* 1: the data starts with a secondary header */
	uint8_t sequence_flags;   /* enum spfe_sequence_flags */
	uint8_t target;           /* target logical address; 254 where the mission defines none */
	uint8_t user_application; /* defined by the mission; 0 */
	uint8_t reserved[7];      /* 0 */
};

/*
 * Writes a space packet, with path address bytes in front, as a packet to be sent. Returns its length:
 * 10 bytes more than path and data. TOO_LONG if there is no room, BAD_FIELD for a value out of range.
 */
int spfe_ccsds_write(const struct spfe_space_packet *packet, const uint8_t *path, size_t path_bytes,
		     uint8_t *out, size_t room);

/*
 * Reads a received packet that ended with EOP. data then points into it. BAD_FIELD for another protocol
 * and for what is no space packet.
 */
int spfe_ccsds_read(const uint8_t *data, size_t bytes, struct spfe_space_packet *packet);

/* ------------------------------------------------------------------------------------------------
 * RDMA: reads and writes the memory of another node, and sends it messages (docs/rdma.md)
 */

typedef struct spfe_rdma spfe_rdma;
typedef struct spfe_rdma_server spfe_rdma_server;

#define SPFE_RDMA_IN_PROGRAM 1u /* flag: execute requests here, also if the device could */

/* Options. A 0 in any field but size and target_queue means the default. */
struct spfe_rdma_options {
	size_t size;               /* sizeof(struct spfe_rdma_options) */
	const uint8_t *path;       /* path address in front of requests */
	const uint8_t *reply_path; /* path address of responses */
	uint32_t path_bytes;
	uint32_t reply_path_bytes; /* at most 24 */
	uint8_t target;            /* logical address of the target; 254 */
	uint8_t address;           /* logical address of this end; 254 */
	uint16_t target_queue;     /* queue pair of the target; 0: a target-only endpoint */
	uint16_t queue;            /* own queue pair; by default one that depends on the process */
	uint16_t flags;            /* SPFE_RDMA_IN_PROGRAM */
	uint32_t depth;            /* requests posted and not completed, at most 16384; 1024 */
	uint32_t retries;          /* repetitions of a message without an answer, at most 16; 5 */
	uint64_t timeout_ns;       /* time without progress before the first repetition; 200 ms */
	uint32_t strategy;         /* enum spfe_strategy */
	uint32_t reserved;         /* 0 */
};

/*
 * Opens a queue of requests. NULL options: the defaults. BUSY if another client has the channel
 * open.
 */
int spfe_rdma_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc,
		   const struct spfe_rdma_options *options, spfe_rdma **queue);

/* Ends all requests. The memory of the queue goes with it. */
int spfe_rdma_close(spfe_rdma *queue);

/* Ends the current wait of the queue, or the next one. From any thread. */
int spfe_rdma_cancel(spfe_rdma *queue);

/*
 * Connects to the target, also again after an error, within timeout_ns (SPFE_NEVER: no limit).
 * SPFE_RDMA_REFUSED - status, SPFE_TIMED_OUT.
 */
int spfe_rdma_connect(spfe_rdma *queue, uint64_t timeout_ns);

enum spfe_rdma_state {
	SPFE_RDMA_RESET = 0,      /* not connected */
	SPFE_RDMA_CONNECTING = 1,
	SPFE_RDMA_READY = 2,
	SPFE_RDMA_ERROR = 3,      /* a request has failed; later ones are flushed: connect again */
};

/* Returns enum spfe_rdma_state. */
int spfe_rdma_state(spfe_rdma *queue);

/*
 * Writes the credit, timer or partner that the queue waits for as text, cut to room bytes with the
 * final NUL. Returns the length of the whole text.
 */
int spfe_rdma_why(spfe_rdma *queue, char *text, size_t room);

/* A region of the target. */
struct spfe_rdma_region {
	uint64_t base;  /* address of the first byte */
	uint64_t bytes;
	uint32_t key;   /* 0 if the target does not tell it */
	uint16_t index;
	uint16_t flags; /* SPFE_REGION_ */
};

#define SPFE_REGION_READ 1u
#define SPFE_REGION_WRITE 2u
#define SPFE_REGION_ATOMIC 4u
#define SPFE_REGION_ZERO_BASED 8u /* the first byte has address 0 */
#define SPFE_REGION_NOTIFY 16u    /* operations raise a notification */
#define SPFE_REGION_HIDDEN 32u    /* spfe_rdma_share() only: the list does not tell the key */

/*
 * Asks the target for its regions. Returns their number, which may be more than there is room for.
 */
int spfe_rdma_regions(spfe_rdma *queue, struct spfe_rdma_region *list, uint32_t room,
		      uint64_t timeout_ns);

/*
 * Memory of the queue for local bytes: zero bytes, named by a number. With shared != 0 it can be
 * shared, which needs a device with remote keys (BAD_OPCODE).
 */
int spfe_rdma_alloc(spfe_rdma *queue, size_t bytes, int shared, uint32_t *memory);

/* Frees memory. Requests that still need it fail. */
int spfe_rdma_free(spfe_rdma *queue, uint32_t memory);

/*
 * Address of memory, valid until a request that names it is posted. BUSY while one is outstanding,
 * while the memory is shared, and for a number that is none.
 */
int spfe_rdma_data(spfe_rdma *queue, uint32_t memory, uint8_t **data, size_t *bytes);

/* Copies bytes out of memory or into it, also while it is shared. OUT_OF_BOUNDS. */
int spfe_rdma_load(spfe_rdma *queue, uint32_t memory, uint64_t offset, uint8_t *out, size_t bytes);
int spfe_rdma_store(spfe_rdma *queue, uint32_t memory, uint64_t offset, const uint8_t *data,
		    size_t bytes);

/* A piece of memory of the queue. */
struct spfe_rdma_local {
	uint64_t offset;
	uint32_t memory;
	uint32_t length;
};

/*
 * Shares a piece under a new remote key, with rights and NOTIFY or HIDDEN as flags (SPFE_REGION_).
 * address is that of its first byte, as others see it. spfe_rdma_unshare() takes the key back;
 * afterwards nobody uses the memory. NOT_FOUND for a key that the queue pair does not have.
 */
int spfe_rdma_share(spfe_rdma *queue, const struct spfe_rdma_local *local, uint64_t address,
		    uint32_t flags, uint64_t timeout_ns, uint32_t *key);
int spfe_rdma_unshare(spfe_rdma *queue, uint32_t key, uint64_t timeout_ns);

enum spfe_rdma_opcode {
	SPFE_RDMA_WRITE = 1,
	SPFE_RDMA_READ = 2,
	SPFE_RDMA_SEND = 3,
	SPFE_RDMA_FETCH_ADD = 4, /* adds operand to 8 bytes */
	SPFE_RDMA_CMP_SWAP = 5,  /* writes operand to 8 bytes that are equal to compare */
	SPFE_RDMA_FLUSH = 6,     /* completes when all earlier writes are in memory */
};

#define SPFE_RDMA_SIGNALED 1u  /* success makes a completion; an error always does */
#define SPFE_RDMA_FENCE 2u     /* starts when earlier reads and atomic operations are done */
#define SPFE_RDMA_SOLICITED 4u /* the receiver shall wake its software */
#define SPFE_RDMA_IMMEDIATE 8u /* a WRITE or SEND carries immediate data */

struct spfe_rdma_request {
	size_t size;                         /* sizeof(struct spfe_rdma_request) */
	uint64_t id;                         /* of the program, for the completion */
	uint64_t address;                    /* remote address */
	uint64_t operand;
	uint64_t compare;
	const struct spfe_rdma_local *local; /* local bytes, in this order */
	const uint8_t *inline_data;          /* instead of local: bytes that are copied now */
	uint32_t local_count;                /* at most 4 */
	uint32_t inline_bytes;
	uint32_t key;                        /* remote key */
	uint32_t opcode;                     /* enum spfe_rdma_opcode */
	uint32_t flags;                      /* SPFE_RDMA_SIGNALED and others */
	uint32_t immediate;
};

/*
 * Posts a request; nothing is sent before spfe_rdma_ring(), which releases all of them as a group.
 * BUSY if the queue is full, OUT_OF_BOUNDS for local bytes that do not exist, TOO_LONG, BAD_FIELD.
 */
int spfe_rdma_post(spfe_rdma *queue, const struct spfe_rdma_request *request);
int spfe_rdma_ring(spfe_rdma *queue);

struct spfe_rdma_completion {
	uint64_t id;
	uint64_t old;          /* value before an atomic operation */
	uint32_t bytes;
	int32_t status;        /* 0; SPFE_RDMA_REFUSED - status; or a negated status */
	uint32_t not_executed; /* 1: the failed request was not executed and will not be */
	uint32_t reserved;
};

/* Moves packets and takes the next completion. Returns 1, or 0 if there is none. */
int spfe_rdma_poll(spfe_rdma *queue, struct spfe_rdma_completion *completion);

/* Waits until so many completions can be taken. SPFE_TIMED_OUT says what the queue waits for. */
int spfe_rdma_wait(spfe_rdma *queue, uint32_t completions, uint64_t timeout_ns);

/*
 * Waits until the completions that can be taken meet a threshold: their number, their bytes, or a time
 * since this wait has seen the first. Returns enum spfe_ready; SPFE_READY_ATTENTION if one has failed,
 * or if no more can come.
 */
int spfe_rdma_wait_for(spfe_rdma *queue, const struct spfe_threshold *threshold,
		       uint64_t timeout_ns);

/*
 * Writes or reads bytes of any number and waits. The limit of time is for each MiB. No other request
 * may be outstanding: its completion would be dropped.
 */
int spfe_rdma_write(spfe_rdma *queue, uint32_t key, uint64_t address, const uint8_t *data,
		    size_t bytes, uint64_t timeout_ns);
int spfe_rdma_read(spfe_rdma *queue, uint32_t key, uint64_t address, uint8_t *data, size_t bytes,
		   uint64_t timeout_ns);

/*
 * Requests that repeat. The pooled form of a queue has a ring full of one request: a write, read or
 * message with one local piece, each time local_stride bytes further in its memory and remote_stride
 * bytes further at the target. Posting it again writes the two words that change. Requests have numbers
 * from 0 on, are posted in this order, and begin again with 0 behind the last one. Flags of the request
 * other than SPFE_RDMA_FENCE and SPFE_RDMA_SOLICITED do not count.
 *
 * spfe_rdma_pool() starts the queue anew; it connects with the first group. Returns the number of
 * requests, which spfe_rdma_pool_requests() tells before: twice the depth, as a power of two. BAD_OPCODE
 * if the device has no queue pairs; BAD_FIELD for another request, or if local pieces overlap;
 * OUT_OF_BOUNDS if the memory does not have them all; BUSY while requests are outstanding or keys are
 * shared. A queue that refuses stays as it was.
 *
 * A pooled queue has the functions that follow here, spfe_rdma_wait() for a group, and
 * spfe_rdma_wait_for(), _state(), _why(), _cancel() and _close(); others return BUSY. spfe_rdma_unpool() leads back
 * to an ordinary queue, also after an error: what was outstanding is forgotten; connect it again.
 */
int spfe_rdma_pool_requests(spfe_rdma *queue);
int spfe_rdma_pool(spfe_rdma *queue, const struct spfe_rdma_request *request, uint32_t local_stride,
		   uint64_t remote_stride);
int spfe_rdma_unpool(spfe_rdma *queue);

/*
 * The local bytes of a request, to fill or read them. BUSY while it is outstanding. The address stays
 * the same, so a program that knows which requests have completed can remember it.
 */
int spfe_rdma_pooled_data(spfe_rdma *queue, uint32_t request, uint8_t **data);

/* Adds the next count requests to the group. Returns how many: fewer if the others are outstanding. */
int spfe_rdma_stage(spfe_rdma *queue, uint32_t count);

/* Posts the group: one doorbell, one acknowledgement, one completion. */
int spfe_rdma_submit(spfe_rdma *queue);

/* The end of a group. After an error all groups that were posted end, maybe in several parts. */
struct spfe_rdma_group {
	uint32_t first;        /* number of its first request */
	uint32_t requests;     /* how many have ended; the last one has this status */
	uint32_t bytes;        /* of all of them; 0 if one failed */
	int32_t status;        /* as in struct spfe_rdma_completion */
	uint32_t not_executed; /* 1: the failed request was not executed and will not be */
	uint32_t reserved;
};

/* Takes the end of the oldest group. Returns 1, or 0 if there is none. */
int spfe_rdma_group_poll(spfe_rdma *queue, struct spfe_rdma_group *group);

/*
 * Receives messages of the partner. Needs a device with queue pairs (BAD_OPCODE). A buffer gives the
 * partner credit for a message.
 */
int spfe_rdma_receive_open(spfe_rdma *queue, uint32_t depth);
int spfe_rdma_receive_post(spfe_rdma *queue, uint64_t id, const struct spfe_rdma_local *buffer);

struct spfe_rdma_message {
	uint64_t id;                   /* of the buffer */
	struct spfe_rdma_local buffer;
	uint32_t bytes;
	int32_t status;                /* 0; -SPFE_STATUS_TOO_LONG if it did not fit */
	uint32_t key;                  /* remote key of a notification; 0 for a message */
	uint32_t immediate;
	uint32_t has_immediate;
	uint32_t is_write;             /* 1: a WRITE used the buffer and left it as it was */
};

/* Takes the next message. Returns 1, or 0 if there is none. */
int spfe_rdma_message_poll(spfe_rdma *queue, struct spfe_rdma_message *message);
int spfe_rdma_message_wait(spfe_rdma *queue, uint64_t timeout_ns);

/*
 * Opens a server for the regions of a target file (docs/rdma.md), or for one region of a size such as
 * "1M". It executes requests while spfe_rdma_server_serve() runs, which waits for packets until the
 * deadline and returns how many it executed: serve in a loop. CANCELLED after a cancel.
 */
int spfe_rdma_server_open(spfe_endpoint *endpoint, uint32_t port, uint32_t vc, const char *target,
			  spfe_rdma_server **server);
int spfe_rdma_server_close(spfe_rdma_server *server);
int spfe_rdma_server_serve(spfe_rdma_server *server, uint64_t deadline_ns);
int spfe_rdma_server_cancel(spfe_rdma_server *server);

/* ------------------------------------------------------------------------------------------------
 * Captures of a daemon's links (docs/capture.md)
 */

typedef struct spfe_capture spfe_capture;

#define SPFE_CAPTURE_WORDS 1u /* flag: also every word or character of exact links */

/*
 * Starts a capture of links of the daemon at device ("unix:SOCKET"): those with these names, such as
 * "0.0-1.0", or all for count 0. It ends after so many packets; 0: without limit. NOT_FOUND for the
 * name of no link, ACCESS_DENIED for another user than the daemon's, BAD_OPCODE if the daemon does not
 * see the packets (modes auto, inline and coop).
 */
int spfe_capture_open(const char *device, const char *const *links, uint32_t count, uint32_t flags,
		      uint64_t packets, spfe_capture **capture);

/*
 * The descriptor from which read() takes the capture as a pcapng file, until its end. It belongs to the
 * capture. The daemon never waits for the reader.
 */
int spfe_capture_fd(spfe_capture *capture);

/*
 * Ends the file properly; the rest can still be read. records and left_out, which may be NULL, are the
 * number of records in it, and of those that the reader was too slow for.
 */
int spfe_capture_end(spfe_capture *capture, uint64_t *records, uint64_t *left_out);

/* Closes a capture, and ends it if it still runs. */
int spfe_capture_close(spfe_capture *capture);

#ifdef __cplusplus
}
#endif

#include "spfe/fabric.h"

#endif
