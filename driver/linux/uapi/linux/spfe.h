/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * spfe: user interface of the SpaceFibre processor endpoint, /dev/spfeN.
 *
 * An open file is a client. It has a protection domain of its own, and closing it releases
 * everything that it has registered, created and allocated. The data path bypasses the kernel:
 * rings, doorbells and packets are shared memory whose rules are in the contract
 * (<spfe/spfe_hw.h>). Statuses, queue kinds, options and access bits are the contract's numbers.
 *
 * A file opened for reading only may ask (INFO, TIME, PORT, STATISTICS, MIB, PAIR_COUNTERS,
 * TARGET), nothing else. Ports are shared by all users of a device, so changing one needs
 * CAP_NET_ADMIN.
 *
 * A file belongs to the process that first maps or registers memory with it. A child made by fork()
 * must open a file of its own. To ring a doorbell, store 64 bits (a contract doorbell) to the first
 * word of the doorbell page. If doorbell_bytes is 0, the pages of this machine are too large for
 * the device. Memory mapped from a device that is removed reads as zero afterwards.
 *
 * Every structure has a fixed size and no padding. Reserved fields and unknown flags must be zero,
 * or the call fails with EINVAL. Every call returns 0, or -1 with errno:
 *	EINVAL		a field is out of range, or a reserved one is not zero
 *	EFAULT		the argument is not in memory of the caller
 *	ENOENT		no such port, node, queue, region or event of this file
 *	EBUSY		another file or the network interface uses the object, or the device does
 *			not stop using it: try again
 *	ENOMEM		out of memory, or more than RLIMIT_MEMLOCK
 *	ENOSPC		no free region, queue context, event or domain
 *	EDQUOT		the user has half of the device's regions, domains, queue pairs or entries
 *			of its target already and lacks CAP_SYS_RESOURCE
 *	EOPNOTSUPP	the device or the platform does not support the call
 *	EACCES		the file is not open for writing
 *	EPERM		the file belongs to another process, or the caller lacks CAP_NET_ADMIN,
 *			which changing a port needs
 *	ENODEV		the device failed or is gone
 *	ESHUTDOWN	the device was reset since the file was opened: call SPFE_IOC_RESET or
 *			open the device again
 *	ETIMEDOUT	the device did not answer a command
 *	EREMOTEIO	the device refused a command; the structure has the status if it has a
 *			field for it
 *	ENOTTY		no such call
 */
#ifndef _UAPI_LINUX_SPFE_H
#define _UAPI_LINUX_SPFE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Incremented by additions. Existing definitions keep their meaning. */
#define SPFE_UAPI_VERSION 6

#define SPFE_IOC_MAGIC 0xBB

/* spfe_info.flags */
/* User memory cannot be registered because the platform bounces DMA: use SPFE_IOC_ALLOC. */
#define SPFE_INFO_BOUNCE 0x1

struct spfe_info {
	__u32 uapi_version;	/* out: SPFE_UAPI_VERSION of the driver */
	__u32 contract_version; /* out: CONTRACT_VERSION of the device */
	__u32 capability;	/* out: CAPABILITY of the device */
	__u32 flags;		/* out: SPFE_INFO_* */
	__u32 ports;		/* out */
	__u32 queues;		/* out: queue contexts */
	__u32 regions;		/* out: entries of the region table */
	__u32 events;		/* out: event vectors, including the one of the driver */
	__u32 domain;		/* out: protection domain of this file; 0 if it may only ask */
	__u32 doorbell_bytes;	/* out: bytes to map at doorbell_offset, or 0 (see above) */
	__u32 counts_bytes;	/* out: bytes to map read-only at counts_offset */
	__u32 resets;		/* out: RESETS of the device */
	__u64 doorbell_offset;	/* out: mmap offset of this file's doorbell page */
	/*
	 * out: mmap offset of the event counts, a __u32 for each event. Every interrupt increments
	 * the counts of its events. Event 0 belongs to the driver: its count rises when the device
	 * fails, goes away or is reset. All objects of the file are then gone and every wait ends.
	 * A program that polls must check this count.
	 */
	__u64 counts_offset;
	__u64 packet_max;	/* out: PACKET_MAX of the device */
	__u32 chain_max;	/* out: most entries of a packet; since version 2 */
	__u32 reserved0;
	__u64 reserved;
};

struct spfe_time {
	__u64 before_ns; /* out: CLOCK_MONOTONIC before the device's time was read */
	__u64 device_ns; /* out: time of the device */
	__u64 after_ns;	 /* out: CLOCK_MONOTONIC afterwards */
	__u64 reserved;
};

struct spfe_port {
	__u32 port;	      /* in */
	__u32 kind;	      /* out: port_kind */
	__u32 state;	      /* out: port_state */
	__u32 vcs;	      /* out */
	__u32 lanes;	      /* out */
	__u32 lane_rate_mbps; /* out */
	__u32 user_rate_kbps; /* out */
	__u32 first_queue;    /* out */
	__u32 queue_count;    /* out */
	__u32 link_start;     /* out */
	__u32 priority[4];    /* out: VC_PRIORITY_0 to 3 */
	__u32 channel;	      /* out: broadcast channel of the device itself */
	__u32 sent;	      /* out: broadcast messages */
	__u32 received;	      /* out: broadcast messages or time-codes */
	__u32 dropped;	      /* out: broadcast messages */
	__u32 time_code;      /* out: last time-code */
	__u32 invalid;	      /* out: time-codes out of sequence */
	/*
	 * A node that a fabric port sees; since version 3. The number is also in: 0 asks about the
	 * own node, which is the answer then, and on other ports the answer is 0.
	 */
	__u32 node;
	__u32 nodes;	  /* out: nodes of the fabric, or 0 */
	__u32 node_ready; /* out: 1 if packets reach the node */
	__u32 node_epoch; /* out: how often the node has started */
};

/* spfe_port_set.what */
#define SPFE_PORT_LINK_START 0x1
#define SPFE_PORT_PRIORITY 0x2 /* of one virtual channel */
#define SPFE_PORT_CHANNEL 0x4

struct spfe_port_set {
	__u32 port; /* in */
	__u32 what; /* in: SPFE_PORT_*; needs CAP_NET_ADMIN */
	__u32 link_start;
	__u32 vc;
	__u32 priority; /* 0, the most urgent, to 15 */
	__u32 channel;
	__u64 reserved;
};

/*
 * Registers memory of the caller. It stays pinned until it is unregistered or the file is closed,
 * and counts against RLIMIT_MEMLOCK. addr and size are multiples of the page size. ENOMEM beyond
 * the limit, or for more than the memory of the machine.
 */
struct spfe_register {
	__u64 addr;   /* in */
	__u64 size;   /* in */
	__u32 access; /* in: access bits of the contract */
	__u32 flags;  /* in: zero */
	__u32 key;    /* out: names the region in ring entries */
	__u32 reserved;
};

/*
 * Allocates memory for rings, lines, time stamps and buffers that works on every platform. Map it
 * at offset. Counts against RLIMIT_MEMLOCK, and takes at most half of the machine's memory for all
 * files and devices together: ENOMEM.
 */
struct spfe_alloc {
	__u64 size;   /* in: bytes; out: rounded up to whole pages */
	__u32 access; /* in */
	__u32 flags;  /* in: zero */
	__u64 offset; /* out: for mmap */
	__u32 key;    /* out */
	__u32 reserved;
};

struct spfe_key {
	__u32 key; /* in */
	__u32 reserved;
};

/* An event that queues of this file may signal. Events may share an interrupt of the device. */
struct spfe_event {
	__s32 eventfd; /* in: eventfd to signal on every interrupt, or -1 */
	__u32 flags;   /* in: zero */
	__u32 event;   /* in for EVENT_DESTROY, out for EVENT_CREATE */
	__u32 reserved;
};

/* Waits until the count of an event differs from `seen`. Also returns EINTR and ETIMEDOUT. */
struct spfe_wait {
	__u32 event;	    /* in */
	__u32 seen;	    /* in: count that the caller has seen; out: current count */
	__s64 deadline_ns;  /* in: CLOCK_MONOTONIC; negative for never */
};

/* A queue context of the contract; addresses are {key, offset} of regions of this file. */
struct spfe_queue {
	__u32 port;	  /* in */
	__u32 vc;	  /* in: zero for messages */
	__u32 kind;	  /* in: queue_kind */
	__u32 options;	  /* in: queue_options */
	__u32 event;	  /* in */
	__u32 sq_log2;	  /* in */
	__u32 cq_log2;	  /* in */
	__u32 area_bytes; /* in */
	__u64 sq;	  /* in */
	__u64 cq;	  /* in */
	__u64 stamps;	  /* in */
	__u64 lines;	  /* in */
	__u64 area;	  /* in */
	__u32 filter;	  /* in */
	__u32 queue;	  /* out: queue context */
	__u32 status;	  /* out: CFG_STATUS where the device refused (EREMOTEIO) */
	__u32 reserved;
};

/*
 * A queue of a queue pair (kind RDMA or RDMA_RX); since version 4. A queue pair takes both
 * directions of its virtual channel, for one file. Destroy its queues like others: this takes back
 * all remote keys of the queue pair, and so does closing the file.
 *
 * The device must have the capability RDMA (EOPNOTSUPP). Remote keys need no call: a program binds
 * memory of its own to them with work requests, at most SPFE_REMOTE_KEYS_MAX for a queue pair. The
 * access bits of REGISTER or ALLOC must allow what others may do.
 */
struct spfe_pair {
	struct spfe_queue queue; /* kind RDMA or RDMA_RX */
	__u64 pair;		 /* in: queue_pair */
	__u64 limits;		 /* in: pair_limits of RDMA, otherwise 0 */
	__u64 path;		 /* in: path to the partner, for RDMA */
	__u64 reply;		 /* in: path back, for RDMA */
	__u64 reserved;
};

struct spfe_index {
	__u32 index;	/* in */
	__u32 reserved;
};

struct spfe_statistics {
	__u32 queue; /* in: of any file */
	__u32 reserved;
	__u64 packets;
	__u64 bytes;
	__u64 errors;
	__u64 stalls;
	__u64 wakes;
	__u64 dropped;
};

/* Counters of queue pairs that one call reads. */
#define SPFE_PAIR_COUNTERS_READ 13

/*
 * Counters of the queue pair of a virtual channel, of any file (contract block "pair"); since
 * version 6. Needs the capability PAIR_COUNTERS (EOPNOTSUPP). ENOENT: no such virtual channel, or
 * `first` is more than 62. Without a queue pair the answer is 0 everywhere.
 */
struct spfe_pair_counters {
	__u32 port;	/* in */
	__u32 vc;	/* in */
	__u32 first;	/* in: pair_counter of the first value */
	__u32 reserved;
	__u64 present;	/* out: PRESENT: bit N: the queue pair has counter N */
	__u64 values[SPFE_PAIR_COUNTERS_READ]; /* out: counters from `first` on, or 0 */
};

/* An item of the management information base of a port (contract block "mib", command MIB_SET). */
struct spfe_mib {
	__u32 port;    /* in */
	__u32 item;    /* in: mib_item */
	__u32 element; /* in: lane or virtual channel; 0 for an item of the link */
	__u32 flags;   /* in: SPFE_MIB_SET or 0 */
	__u64 value;   /* in to set, out to read; ENOENT if PRESENT lacks the item */
	__u32 status;  /* out: CFG_STATUS where the device refused (EREMOTEIO) */
	__u32 reserved;
};

/* spfe_mib.flags */
#define SPFE_MIB_SET 0x1 /* needs CAP_NET_ADMIN */

/*
 * The target of RDMA, which serves memory to others without a queue and without a program; since
 * version 5, as all calls of the target. They need the capability TARGET (EOPNOTSUPP). The virtual
 * channel of the target has no receive queue. All counters are mod 2^32.
 */
struct spfe_target {
	__u32 port;		/* out */
	__u32 vc;		/* out */
	__u32 entries;		/* out */
	__u32 fixed;		/* out: the first entries, which no call changes */
	__u32 protocol;		/* out */
	__u32 logical_address;	/* out */
	__u32 segment;		/* out: largest payload of a packet */
	__u32 executed;		/* out: requests executed */
	__u32 repeated;		/* out: requests that had been executed before */
	__u32 refused;		/* out: requests answered with an error */
	__u32 discarded;	/* out: packets discarded without an answer */
	__u32 notes_lost;	/* out: notifications lost because too many waited */
	__u32 notes;		/* out: notifications that wait */
	__u32 reserved[3];
};

/*
 * Lets others use memory of a region of this file, until TARGET_CLEAR, RESET or the end of the
 * file. The region must be contiguous on the bus (EINVAL): one page, or memory of ALLOC that the
 * driver found in one piece. Its access bits must allow what `options` allow. ENOSPC: no free
 * entry. A region with an entry cannot be unregistered (EBUSY).
 */
struct spfe_target_entry {
	__u64 address;	  /* in: of the first byte, as others see it */
	__u64 size;	  /* in: bytes */
	__u64 offset;	  /* in: of the first byte in the region */
	__u32 region;	  /* in: key of the region */
	__u32 options;	  /* in: key_options; with NOTIFY operations make notifications */
	__u32 initiators; /* in: up to 4 logical addresses that may use it, a byte each; 0: all */
	__u32 key;	  /* in for TARGET_CLEAR, out for TARGET_SET: the remote key */
	__u32 status;	  /* out: CFG_STATUS where the device refused (EREMOTEIO) */
	__u32 reserved;
};

/*
 * The oldest notification. One file reads them, that of the last TARGET_LISTEN (EBUSY for others).
 * ENOENT: none waits.
 */
struct spfe_target_note {
	__u32 sender;	 /* out: target_note_sender */
	__u32 request;	 /* out: target_note_request */
	__u32 length;	 /* out: bytes of the operation */
	__u32 immediate; /* out: immediate data, or 0 */
	__u64 address;	 /* out: address of the operation as its initiator gave it */
	__u64 time_ns;	 /* out: time of the device */
	__u32 flags;	 /* out: target_note_flags */
	__u32 left;	 /* out: notifications that still wait */
	__u8 data[32];	 /* out: bytes of a message */
};

#define SPFE_IOC_INFO _IOR(SPFE_IOC_MAGIC, 0x00, struct spfe_info)
#define SPFE_IOC_TIME _IOR(SPFE_IOC_MAGIC, 0x01, struct spfe_time)
#define SPFE_IOC_PORT _IOWR(SPFE_IOC_MAGIC, 0x02, struct spfe_port)
#define SPFE_IOC_PORT_SET _IOW(SPFE_IOC_MAGIC, 0x03, struct spfe_port_set)
#define SPFE_IOC_REGISTER _IOWR(SPFE_IOC_MAGIC, 0x04, struct spfe_register)
#define SPFE_IOC_ALLOC _IOWR(SPFE_IOC_MAGIC, 0x05, struct spfe_alloc)
/* For both kinds of memory. Returns EBUSY while a queue has rings in the region. */
#define SPFE_IOC_UNREGISTER _IOW(SPFE_IOC_MAGIC, 0x06, struct spfe_key)
#define SPFE_IOC_EVENT_CREATE _IOWR(SPFE_IOC_MAGIC, 0x07, struct spfe_event)
#define SPFE_IOC_EVENT_DESTROY _IOW(SPFE_IOC_MAGIC, 0x08, struct spfe_event)
#define SPFE_IOC_WAIT _IOWR(SPFE_IOC_MAGIC, 0x09, struct spfe_wait)
/* Signals an event as an interrupt would. */
#define SPFE_IOC_WAKE _IOW(SPFE_IOC_MAGIC, 0x0a, struct spfe_index)
#define SPFE_IOC_QUEUE_CREATE _IOWR(SPFE_IOC_MAGIC, 0x0b, struct spfe_queue)
#define SPFE_IOC_QUEUE_DESTROY _IOW(SPFE_IOC_MAGIC, 0x0c, struct spfe_index)
#define SPFE_IOC_STATISTICS _IOWR(SPFE_IOC_MAGIC, 0x0d, struct spfe_statistics)
#define SPFE_IOC_MIB _IOWR(SPFE_IOC_MAGIC, 0x0f, struct spfe_mib)
#define SPFE_IOC_PAIR_CREATE _IOWR(SPFE_IOC_MAGIC, 0x10, struct spfe_pair)
#define SPFE_IOC_TARGET _IOR(SPFE_IOC_MAGIC, 0x11, struct spfe_target)
#define SPFE_IOC_TARGET_SET _IOWR(SPFE_IOC_MAGIC, 0x12, struct spfe_target_entry)
#define SPFE_IOC_TARGET_CLEAR _IOW(SPFE_IOC_MAGIC, 0x13, struct spfe_target_entry)
/*
 * Makes this file the reader of notifications. Each signals the event with this index, also if some
 * wait already. EBUSY while another open file is the reader.
 */
#define SPFE_IOC_TARGET_LISTEN _IOW(SPFE_IOC_MAGIC, 0x14, struct spfe_index)
#define SPFE_IOC_TARGET_TAKE _IOR(SPFE_IOC_MAGIC, 0x15, struct spfe_target_note)
#define SPFE_IOC_PAIR_COUNTERS _IOWR(SPFE_IOC_MAGIC, 0x16, struct spfe_pair_counters)
/*
 * Releases all objects of this file and makes the file usable again after ESHUTDOWN. Pending
 * submissions get no completions: the program itself completes them with DEVICE_RESET, from the
 * state of its rings once the queues are destroyed. To allow this, memory of SPFE_IOC_ALLOC stays
 * allocated and mapped until it is unregistered, although the device no longer has access. If the
 * device does not stop a queue (EBUSY), that queue and its memory stay: call this again.
 */
#define SPFE_IOC_RESET _IO(SPFE_IOC_MAGIC, 0x0e)

#endif
