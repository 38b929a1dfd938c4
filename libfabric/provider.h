/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Objects of the provider (docs/libfabric.md). All state of a domain is behind one lock. */
#ifndef SPFI_PROVIDER_H
#define SPFI_PROVIDER_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <spfe/spfe.h>

#include "wire.h"

/* libfabric 2 has no longer all names of version 1, which programs may still ask for by number. */
#ifndef container_of
#define container_of(ptr, type, field) ((type *)((char *)(ptr)-offsetof(type, field)))
#endif
#ifndef FI_PROV_SPECIFIC
#define FI_PROV_SPECIFIC (1U << 31)
#endif
#define SPFI_MR_UNSPEC 0
#define SPFI_MR_BASIC 1
#define SPFI_MR_SCALABLE 2

#define SPFI_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SPFI_NODES 16         /* most nodes of a network */
#define SPFI_ANY_NODE 0xffff  /* an address that leaves the choice of the node to the endpoint */
#define SPFI_IOV 4            /* elements of a list of buffers */
#define SPFI_TX_SIZE 1024     /* operations that may wait in an endpoint before EAGAIN */
#define SPFI_RX_SIZE 4096
#define SPFI_INJECT 4096
#define SPFI_ATOMIC 4096      /* most bytes of an atomic operation */
#define SPFI_MAX_MSG (UINT64_C(1) << 40)
#define SPFI_MAX_DGRAM (UINT64_C(1) << 16)
#define SPFI_FORMAT (FI_PROV_SPECIFIC | 0x5350)
/* Flags of the calls that send or receive. Others, such as FI_FENCE, ask for what does not exist. */
#define SPFI_TX_FLAGS                                                                              \
	(FI_COMPLETION | FI_MORE | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE |         \
	 FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA)
#define SPFI_RX_FLAGS                                                                              \
	(FI_COMPLETION | FI_MORE | FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD)

static inline uint64_t spfi_max_msg(enum fi_ep_type type)
{
	return type == FI_EP_DGRAM ? SPFI_MAX_DGRAM : SPFI_MAX_MSG;
}

extern struct fi_provider spfi_provider;

#define WARN(subsystem, ...) FI_WARN(&spfi_provider, subsystem, __VA_ARGS__)

/* ------------------------------------------------------------------------------------------------
 * Lists: circular, with a head that is an element itself
 */

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *list) { list->next = list->prev = list; }
static inline bool list_empty(const struct list *list) { return list->next == list; }

static inline void list_append(struct list *list, struct list *element)
{
	element->prev = list->prev;
	element->next = list;
	list->prev->next = element;
	list->prev = element;
}

static inline void list_remove(struct list *element)
{
	element->prev->next = element->next;
	element->next->prev = element->prev;
	list_init(element);
}

/* ------------------------------------------------------------------------------------------------
 * Addresses
 */

/* An incarnation is the time at which the endpoint was enabled, so a newer one is larger. */
struct spfi_address {
	char magic[4]; /* "spfe" */
	uint16_t version;
	uint16_t node;
	uint64_t incarnation; /* 0: whoever is the node */
};

_Static_assert(sizeof(struct spfi_address) == 16, "an address has no padding");

bool spfi_address_valid(const struct spfi_address *address);
struct spfi_address spfi_address_of(uint16_t node, uint64_t incarnation);
/* The address that (node, service) strings stand for, or a negative error. */
int spfi_resolve(const char *node, const char *service, unsigned nodes,
		 struct spfi_address *address);

/* ------------------------------------------------------------------------------------------------
 * Fabric, domain, event queue
 */

struct spfi_fabric {
	struct fid_fabric fid;
};

struct spfi_domain {
	struct fid_domain fid;
	pthread_mutex_t lock;
	struct list endpoints;
	struct list regions;
	uint64_t next_key;
	int mr_mode;
	int users; /* objects that are open */
};

struct spfi_mr {
	struct fid_mr fid;
	struct list link;
	struct spfi_domain *domain;
	uint8_t *base;
	size_t length;
	uint64_t access;
	bool enabled;
	struct spfi_cntr *events[2]; /* what remote writes (0) and reads (1) count in; may be NULL */
};

struct spfi_av {
	struct fid_av fid;
	struct spfi_domain *domain;
	struct spfi_address *entries;
	size_t count, room;
	fi_addr_t by_node[SPFI_NODES]; /* the entry inserted last for each node */
	int users;
};

int spfi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int spfi_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
		     void *context);
int spfi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		 void *context);
int spfi_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
		 void *context);
int spfi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		 void *context);
int spfi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
		   void *context);
int spfi_ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);
int spfi_trywait(struct fid_fabric *fabric, struct fid **fids, int count);
/* What the provider offers; ops.c has the functions that libfabric expects and it does not have. */
int spfi_no_bind(struct fid *fid, struct fid *other, uint64_t flags);
int spfi_no_control(struct fid *fid, int command, void *arg);
int spfi_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);
/* The region that holds these bytes for all of the rights, or NULL and the error in status. */
struct spfi_mr *spfi_mr_find(struct spfi_domain *domain, uint64_t key, uint64_t *address,
			     uint64_t length, uint64_t access, uint32_t *status);

/* ------------------------------------------------------------------------------------------------
 * Completions
 */

struct spfi_completion {
	struct fi_cq_err_entry entry; /* err 0: success */
	fi_addr_t source;
};

/* What can wake a thread: a queue or counter and the endpoints that feed it. */
struct spfi_wait {
	int epoll;            /* -1: nobody can wait for it with a descriptor */
	int event;            /* made readable when something happens in another thread */
	bool armed;           /* somebody sleeps, or may */
	bool signalled;
	struct list sources;  /* struct spfi_source */
};

struct spfi_source {
	struct list link;
	struct spfi_ep *ep;
};

struct spfi_cq {
	struct fid_cq fid;
	struct spfi_domain *domain;
	enum fi_cq_format format;
	struct spfi_wait wait;
	struct spfi_completion *ring; /* grows: its length is bounded by the operations posted */
	size_t room, head, count;
	int users;
};

struct spfi_cntr {
	struct fid_cntr fid;
	struct spfi_domain *domain;
	struct spfi_wait wait;
	uint64_t value, errors;
	bool changed; /* since the program looked */
	int users;
	int regions; /* of which it counts events: any endpoint of the domain may bring them */
};

int spfi_wait_init(struct spfi_wait *wait, enum fi_wait_obj object);
void spfi_wait_close(struct spfi_wait *wait);
int spfi_wait_add(struct spfi_wait *wait, struct spfi_ep *ep);
void spfi_wait_remove(struct spfi_wait *wait, struct spfi_ep *ep);
void spfi_wait_wake(struct spfi_wait *wait);
void spfi_wait_progress(struct spfi_wait *wait);
/* Arms all queues. True if something has arrived already. */
bool spfi_wait_arm(struct spfi_wait *wait);
/* Whether an endpoint has something to send for which there is no room yet. */
bool spfi_wait_sends(struct spfi_wait *wait);
/* Sleeps for at most ms (negative: no limit) without the lock; returns with it. */
void spfi_wait_sleep(struct spfi_wait *wait, struct spfi_domain *domain, int ms);
int spfi_wait_control(struct spfi_wait *wait, int command, void *arg);
uint64_t spfi_clock_ms(void);

void spfi_cq_push(struct spfi_cq *cq, const struct spfi_completion *completion);
void spfi_cntr_count(struct spfi_cntr *cntr, bool error);
/* Moves everything on that the counter may count. */
void spfi_cntr_progress(struct spfi_cntr *cntr);

/* ------------------------------------------------------------------------------------------------
 * Endpoints and operations
 */

enum op_kind {
	OP_FREE,
	OP_SEND,      /* MSG or RTS; waits for window, slot, CTS or ACK */
	OP_RECV,      /* posted, or receiving a long message */
	OP_ARRIVED,   /* a message that nobody has asked for yet */
	OP_ANSWER,    /* a packet of ours that answers one of theirs */
	OP_WRITE,
	OP_READ,
	OP_ATOMIC,
};

enum op_stage {
	STAGE_QUEUED,  /* in a queue of the peer */
	STAGE_WAITING, /* sent; the peer has to answer */
	STAGE_POSTED,  /* in a queue of receives */
	STAGE_MOVING,  /* a long message is arriving */
};

/* An operation. Its number has the place in the table and a count of uses, so that an answer to an
 * operation that is over is recognised. */
struct spfi_op {
	struct list link;
	uint64_t id;
	uint8_t kind, stage;
	bool stream;    /* has WIRE_SEGMENT parts to send */
	bool quiet;     /* no entry in the completion queue if it succeeds */
	bool multi;     /* a buffer for several messages */
	bool claimed;   /* an arrived message that a peek has reserved */
	struct spfi_ep *ep;
	struct spfi_peer *peer; /* of a posted receive: NULL for any */
	struct wire wire;       /* header to send, or that arrived */
	uint64_t flags;         /* of the completion */
	uint64_t ignore;
	void *context;
	struct iovec iov[SPFI_IOV];
	uint32_t iov_count;
	struct iovec result[SPFI_IOV];
	uint32_t result_count;
	uint64_t length, done;  /* bytes to move, and moved */
	uint64_t remote;        /* number of the peer's operation */
	uint8_t *own;           /* bytes that belong to the operation */
	uint32_t error;
	struct spfi_op *parent; /* the buffer for several messages of which this is a part */
	uint32_t parts;
};

enum peer_state { PEER_NEW, PEER_UP, PEER_DEAD };

struct spfi_peer {
	struct spfi_ep *ep;
	uint16_t node;
	uint8_t state;
	bool active;              /* in the list of peers with something to send */
	bool broken_rx;           /* our receive queue has failed */
	bool heard;               /* packets have arrived since the last look */
	struct list link;
	uint64_t incarnation;     /* 0: not known yet */
	spfe_queue *tx, *rx;
	uint32_t tx_port, tx_vc, rx_port, rx_vc;
	uint32_t staged;          /* packets that wait for a flush */
	uint32_t in_ring;         /* packets that the device has not reported as sent */
	uint32_t window;          /* what we may send */
	uint32_t consumed;        /* what we took and have not told yet */
	uint64_t held;            /* cost of their messages that nobody asked for */
	struct list answers;      /* to send, without window */
	struct list requests;     /* to send in order, as the window permits */
	struct list waiting;      /* sent, not answered */
	struct list moving;       /* long messages that are arriving */
	uint32_t directed;        /* receives posted for this peer alone */
	uint64_t since_ms;        /* when something began to wait for a peer that is not up */
	uint8_t *part;            /* front of a packet that came in parts */
	uint32_t part_bytes;
	uint64_t bad_write;       /* write of theirs of which a packet was refused */
	uint32_t bad_status;
};

#define SPFI_CHUNK 256
#define SPFI_CHUNKS 1024

struct spfi_ep {
	struct fid_ep fid;
	struct list link;
	struct spfi_domain *domain;
	struct spfi_av *av;
	struct spfi_cq *tx_cq, *rx_cq;
	bool tx_selective, rx_selective;
	struct spfi_cntr *cntr_send, *cntr_recv, *cntr_read, *cntr_write, *cntr_remote_read,
		*cntr_remote_write;
	uint64_t tx_flags, rx_flags; /* default flags of operations */
	uint64_t caps;
	enum fi_ep_type type; /* FI_EP_RDM or FI_EP_DGRAM, which has messages only */
	size_t min_multi;
	bool enabled;
	struct spfi_address name; /* node may be SPFI_ANY_NODE until enabled */
	spfe_endpoint *device;
	unsigned nodes;
	struct spfi_peer peers[SPFI_NODES];
	struct list active;
	struct list posted[2], arrived[2]; /* 0: untagged, 1: tagged */
	struct spfi_op *chunks[SPFI_CHUNKS];
	unsigned chunk_count;
	struct list free_ops;
	uint32_t queued;  /* operations of the program that are not sent */
	bool wants_stx, wants_srx; /* it was opened for shared contexts */
	struct spfi_stx *stx;
	struct spfi_srx *srx;
	struct list shared; /* in the list of srx */
	uint32_t receives;
	uint32_t calls, idle;
	uint64_t checked_ms;
	bool events;
};

/* A context for what several endpoints send. */
struct spfi_stx {
	struct fid_stx fid;
	struct spfi_domain *domain;
	uint32_t queued;
	int users;
};

/* Whether no more operations may wait, in the endpoint or in all that share its context. */
static inline bool spfi_tx_full(const struct spfi_ep *ep)
{
	return (ep->stx ? ep->stx->queued : ep->queued) >= SPFI_TX_SIZE;
}

static inline void spfi_tx_count(struct spfi_ep *ep, int by)
{
	ep->queued += (uint32_t)by;
	if (ep->stx)
		ep->stx->queued += (uint32_t)by;
}

/* A context for what several endpoints receive, and a receive in it. */
struct spfi_srx {
	struct fid_ep fid;
	struct spfi_domain *domain;
	struct list endpoints;
	struct list posted[2]; /* 0: untagged, 1: tagged */
	uint32_t receives;
};

struct spfi_shared {
	struct list link;
	struct iovec iov[SPFI_IOV];
	uint32_t iov_count;
	uint64_t tag, ignore, flags;
	void *context;
};

/* shared.c */
int spfi_stx_open(struct fid_domain *domain, struct fi_tx_attr *attr, struct fid_stx **stx,
		  void *context);
int spfi_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **srx,
		  void *context);

/* op.c */
struct spfi_op *spfi_op_get(struct spfi_ep *ep, enum op_kind kind);
void spfi_op_put(struct spfi_ep *ep, struct spfi_op *op);
struct spfi_op *spfi_op_find(struct spfi_ep *ep, uint64_t id, struct spfi_peer *peer);
uint64_t spfi_iov_length(const struct iovec *iov, size_t count);
/* Copies between bytes and a list of buffers, from an offset of the list. */
void spfi_iov_read(void *to, const struct iovec *iov, size_t count, uint64_t offset, size_t bytes);
void spfi_iov_write(const struct iovec *iov, size_t count, uint64_t offset, const void *from,
		    size_t bytes);
/* Reports the end of an operation of the program and forgets it. */
void spfi_tx_done(struct spfi_op *op, uint32_t error);
void spfi_rx_done(struct spfi_op *op, uint32_t error);
/* The address of the peer in the vector, or FI_ADDR_NOTAVAIL. */
fi_addr_t spfi_source(const struct spfi_peer *peer);

/* network.c */
int spfi_network_nodes(spfe_endpoint *device);
int spfi_network_device(spfe_endpoint **device);
int spfi_network_join(struct spfi_ep *ep);
void spfi_network_leave(struct spfi_ep *ep);
/* A free slot for a packet to the peer, NULL if there is none now or the peer failed. */
uint8_t *spfi_peer_slot(struct spfi_peer *peer);
void spfi_peer_stage(struct spfi_peer *peer, size_t length);
void spfi_peer_flush(struct spfi_peer *peer);
bool spfi_peer_sends(struct spfi_peer *peer);
void spfi_peer_fill(struct spfi_peer *peer, uint8_t *slot, struct wire *wire);
void spfi_peer_check(struct spfi_peer *peer);
/* Ends everything that waits for the peer. */
void spfi_peer_fail(struct spfi_peer *peer, uint32_t error, const char *why);
void spfi_peer_meet(struct spfi_peer *peer, uint64_t incarnation);

/* progress.c */
void spfi_progress(struct spfi_ep *ep);
/* Takes in packets of the peer, a bounded number. True if there were any. */
bool spfi_take_in(struct spfi_peer *peer);
void spfi_peer_push(struct spfi_peer *peer);
void spfi_peer_activate(struct spfi_peer *peer);
void spfi_answer(struct spfi_peer *peer, enum wire_kind kind, uint64_t id, uint32_t status);

/* send.c */
extern struct fi_ops_msg spfi_msg_ops;
extern struct fi_ops_tagged spfi_tagged_ops;
int spfi_peer_of(struct spfi_ep *ep, fi_addr_t address, struct spfi_peer **peer);
/* Whether a message or request may have these flags and this length: 0 or a negative error. rdm: it
 * is none for datagrams.
 */
int spfi_op_allowed(const struct spfi_ep *ep, bool rdm, uint64_t flags, uint64_t length);
int spfi_flags_allowed(uint64_t flags, uint64_t offered);
/* Sends or queues an operation whose header and buffers are filled in. */
ssize_t spfi_op_start(struct spfi_ep *ep, struct spfi_op *op);
int spfi_op_buffers(struct spfi_op *op, const struct iovec *iov, size_t count, bool copy);

/* match.c */
void spfi_message_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload);
void spfi_consume(struct spfi_peer *peer, uint32_t cost);
ssize_t spfi_recv(struct spfi_ep *ep, const struct iovec *iov, size_t count, fi_addr_t source,
		  bool tagged, uint64_t tag, uint64_t ignore, void *context, uint64_t flags);
ssize_t spfi_cancel(fid_t fid, void *context);
/* Gives a receive of a shared context the first message that was kept for it, or queues it. False,
 * and nothing has changed, if there is no memory.
 */
bool spfi_match_shared(struct spfi_srx *srx, struct spfi_shared *receive, bool tagged);
void spfi_match_forget(struct spfi_peer *peer, uint32_t error, bool messages);

/* rma.c, atomic.c */
extern struct fi_ops_rma spfi_rma_ops;
extern struct fi_ops_atomic spfi_atomic_ops;
void spfi_write_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload);
/* A request of a peer has been executed. */
void spfi_remote_count(struct spfi_ep *ep, struct spfi_mr *mr, bool read);
void spfi_region_closed(struct spfi_mr *mr);
void spfi_read_arrived(struct spfi_peer *peer, const struct wire *wire);
void spfi_atomic_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload);
int spfi_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		      struct fi_atomic_attr *attr, uint64_t flags);

#endif
