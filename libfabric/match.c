/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which receive gets which message: posted receives, and messages that came before one. */
#include "provider.h"

/* The sender may send more. */
void spfi_consume(struct spfi_peer *peer, uint32_t cost)
{
	peer->consumed += cost;
	if (peer->consumed >= WIRE_WINDOW / 4)
		spfi_peer_activate(peer);
}

static void clear_to_send(struct spfi_peer *peer, uint64_t send, uint64_t receive, uint64_t wanted)
{
	struct spfi_op *op = spfi_op_get(peer->ep, OP_ANSWER);

	if (!op) {
		spfi_peer_fail(peer, FI_ENOMEM, "no memory for an answer");
		return;
	}
	op->peer = peer;
	op->wire.kind = WIRE_CTS;
	op->wire.id = send;
	op->wire.offset = receive;
	op->wire.data = wanted;
	list_append(&peer->answers, &op->link);
	spfi_peer_activate(peer);
}

/* A receive has its message. */
static void deliver(struct spfi_op *op, struct spfi_peer *peer, const struct wire *wire,
		    const uint8_t *payload)
{
	uint64_t room = spfi_iov_length(op->iov, op->iov_count);
	uint64_t wanted = wire->total < room ? wire->total : room;

	list_remove(&op->link);
	if (op->peer && !op->parent)
		op->peer->directed--;
	op->peer = peer;
	op->flags = FI_RECV | (wire->flags & WIRE_TAGGED ? FI_TAGGED : FI_MSG) |
		    (wire->flags & WIRE_HAS_DATA ? FI_REMOTE_CQ_DATA : 0);
	op->wire = *wire;
	op->length = wanted;
	spfi_consume(peer, wire_cost(wire));
	if (wire->kind == WIRE_MSG) {
		spfi_iov_write(op->iov, op->iov_count, 0, payload, wanted);
		op->done = wanted;
		if (wire->flags & WIRE_WANT_ACK)
			spfi_answer(peer, WIRE_ACK, wire->id, 0);
		spfi_rx_done(op, wire->total > room ? FI_ETRUNC : 0);
		return;
	}
	op->stage = STAGE_MOVING;
	list_append(&peer->moving, &op->link);
	clear_to_send(peer, wire->id, op->id, wanted);
	if (wanted == 0 && peer->state != PEER_DEAD) {
		if (wire->flags & WIRE_WANT_ACK)
			spfi_answer(peer, WIRE_ACK, wire->id, 0);
		spfi_rx_done(op, FI_ETRUNC);
	}
}

/* Gives a message to a buffer for several: the part that it takes is an operation of its own. */
static bool deliver_part(struct spfi_op *whole, struct spfi_peer *peer, const struct wire *wire,
			 const uint8_t *payload)
{
	struct spfi_ep *ep = peer->ep;
	struct spfi_op *part = spfi_op_get(ep, OP_RECV);
	uint64_t left = whole->iov[0].iov_len - whole->done;

	if (!part)
		return false;
	part->parent = whole;
	part->context = whole->context;
	part->quiet = whole->quiet;
	part->iov[0].iov_base = (uint8_t *)whole->iov[0].iov_base + whole->done;
	part->iov[0].iov_len = left;
	part->iov_count = 1;
	whole->parts++;
	whole->done += wire->total < left ? wire->total : left;
	if (whole->iov[0].iov_len - whole->done < ep->min_multi) {
		whole->stage = STAGE_MOVING; /* full: its last part reports it */
		list_remove(&whole->link);
		if (whole->peer)
			whole->peer->directed--;
	}
	deliver(part, peer, wire, payload);
	return true;
}

static bool fits(const struct spfi_op *receive, const struct spfi_peer *peer,
		 const struct wire *wire)
{
	return (!receive->peer || receive->peer == peer) &&
	       !((receive->wire.tag ^ wire->tag) & ~receive->ignore);
}

/* Makes a receive of a shared context one of the endpoint. NULL, and nothing has changed, if there
 * is no memory.
 */
static struct spfi_op *take_shared(struct spfi_ep *ep, struct spfi_shared *receive)
{
	struct spfi_op *op = spfi_op_get(ep, OP_RECV);

	if (!op)
		return NULL;
	memcpy(op->iov, receive->iov, sizeof(op->iov));
	op->iov_count = receive->iov_count;
	op->stage = STAGE_POSTED;
	op->context = receive->context;
	op->wire.tag = receive->tag;
	op->ignore = receive->ignore;
	op->quiet = ep->rx_selective && !(receive->flags & FI_COMPLETION);
	ep->receives++;
	ep->srx->receives--;
	list_remove(&receive->link);
	free(receive);
	return op;
}

/* The first receive of the shared context that fits a message. */
static struct spfi_op *shared_for(struct spfi_ep *ep, const struct wire *wire, bool tagged)
{
	struct list *posted = &ep->srx->posted[tagged], *at;

	for (at = posted->next; at != posted; at = at->next) {
		struct spfi_shared *receive = container_of(at, struct spfi_shared, link);

		if (!((receive->tag ^ wire->tag) & ~receive->ignore))
			return take_shared(ep, receive);
	}
	return NULL;
}

/* Keeps a message that nobody has asked for. */
static void keep(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	struct spfi_ep *ep = peer->ep;
	struct spfi_op *op;

	if (peer->held + wire_cost(wire) > WIRE_WINDOW) {
		spfi_peer_fail(peer, EPROTO, "it sent more than its window");
		return;
	}
	op = spfi_op_get(ep, OP_ARRIVED);
	if (op && wire->length)
		op->own = malloc(wire->length);
	if (!op || (wire->length && !op->own)) {
		if (op)
			spfi_op_put(ep, op);
		spfi_peer_fail(peer, FI_ENOMEM, "no memory for a message");
		return;
	}
	if (wire->length)
		memcpy(op->own, payload, wire->length);
	op->peer = peer;
	op->wire = *wire;
	peer->held += wire_cost(wire);
	list_append(&ep->arrived[wire->flags & WIRE_TAGGED ? 1 : 0], &op->link);
}

void spfi_message_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	bool tagged = wire->flags & WIRE_TAGGED;
	struct list *posted = &peer->ep->posted[tagged], *at;
	struct spfi_op *shared = peer->ep->srx ? shared_for(peer->ep, wire, tagged) : NULL;

	if (shared) {
		deliver(shared, peer, wire, payload);
		return;
	}
	for (at = posted->next; at != posted; at = at->next) {
		struct spfi_op *op = container_of(at, struct spfi_op, link);

		if (!fits(op, peer, wire))
			continue;
		if (!op->multi)
			deliver(op, peer, wire, payload);
		else if (!deliver_part(op, peer, wire, payload))
			break;
		return;
	}
	keep(peer, wire, payload);
}

/* Takes a kept message out of the store, which makes room for the sender. */
static void forget(struct spfi_op *message)
{
	message->peer->held -= wire_cost(&message->wire);
	spfi_op_put(message->ep, message);
}

static void discard(struct spfi_op *message)
{
	struct spfi_peer *peer = message->peer;

	spfi_consume(peer, wire_cost(&message->wire));
	if (message->wire.kind == WIRE_RTS)
		clear_to_send(peer, message->wire.id, 0, 0);
	if (message->wire.flags & WIRE_WANT_ACK)
		spfi_answer(peer, WIRE_ACK, message->wire.id, 0);
	forget(message);
}

static struct spfi_op *kept(struct spfi_ep *ep, const struct spfi_op *receive, bool tagged)
{
	struct list *list = &ep->arrived[tagged], *at;

	for (at = list->next; at != list; at = at->next) {
		struct spfi_op *message = container_of(at, struct spfi_op, link);

		if (!message->claimed && fits(receive, message->peer, &message->wire))
			return message;
	}
	return NULL;
}

static struct spfi_op *claimed(struct spfi_ep *ep, bool tagged, void *context)
{
	struct list *list = &ep->arrived[tagged], *at;

	for (at = list->next; at != list; at = at->next) {
		struct spfi_op *message = container_of(at, struct spfi_op, link);

		if (message->claimed && message->context == context)
			return message;
	}
	return NULL;
}

/* Ends a peek: tells what is there, and reserves or discards it. */
static void peek(struct spfi_ep *ep, struct spfi_op *op, bool tagged, uint64_t flags)
{
	struct spfi_op *message;

	ep->calls |= 15; /* look at every peer */
	spfi_progress(ep);
	message = kept(ep, op, tagged);
	op->flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
	op->quiet = false;
	if (!message) {
		spfi_rx_done(op, FI_ENOMSG);
		return;
	}
	op->flags |= message->wire.flags & WIRE_HAS_DATA ? FI_REMOTE_CQ_DATA : 0;
	op->wire = message->wire;
	op->peer = message->peer;
	op->done = message->wire.total;
	if (flags & FI_CLAIM) {
		message->claimed = true;
		message->context = op->context;
	} else if (flags & FI_DISCARD) {
		discard(message);
	}
	spfi_rx_done(op, 0);
}

/* Gives a receive what was kept for it. True if the receive is over. */
static bool take_kept(struct spfi_ep *ep, struct spfi_op *op, bool tagged)
{
	struct spfi_op *message;
	bool full = false;

	while (!full && (message = kept(ep, op, tagged))) {
		struct wire wire = message->wire;
		struct spfi_peer *peer = message->peer;
		uint8_t *own = message->own;

		if (op->multi) {
			full = op->iov[0].iov_len - op->done -
				       (wire.total < op->iov[0].iov_len - op->done
						? wire.total : op->iov[0].iov_len - op->done) <
			       ep->min_multi;
		}
		message->own = NULL;
		forget(message);
		if (!op->multi) {
			deliver(op, peer, &wire, own);
			full = true;
		} else if (!deliver_part(op, peer, &wire, own)) {
			spfi_peer_fail(peer, FI_ENOMEM, "no memory for a message");
		}
		free(own);
	}
	return full;
}

bool spfi_match_shared(struct spfi_srx *srx, struct spfi_shared *receive, bool tagged)
{
	const struct spfi_op any = {.wire.tag = receive->tag, .ignore = receive->ignore};
	struct list *at;

	for (at = srx->endpoints.next; at != &srx->endpoints; at = at->next) {
		struct spfi_ep *ep = container_of(at, struct spfi_ep, shared);
		struct spfi_op *op, *message = kept(ep, &any, tagged);

		if (!message)
			continue;
		op = take_shared(ep, receive);
		if (!op)
			return false;
		/* The others are first the next time. */
		list_remove(&ep->shared);
		list_append(&srx->endpoints, &ep->shared);
		take_kept(ep, op, tagged);
		return true;
	}
	list_append(&srx->posted[tagged], &receive->link);
	return true;
}

static ssize_t recv_locked(struct spfi_ep *ep, struct spfi_op *op, bool tagged, uint64_t flags)
{
	if (flags & FI_PEEK) {
		peek(ep, op, tagged, flags);
		return 0;
	}
	if (flags & FI_CLAIM) {
		struct spfi_op *message = claimed(ep, tagged, op->context);
		struct wire wire;
		struct spfi_peer *peer;
		uint8_t *own;

		if (!message)
			return -FI_EINVAL;
		if (flags & FI_DISCARD) {
			op->wire = message->wire;
			op->peer = message->peer;
			op->flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
			discard(message);
			spfi_rx_done(op, 0);
			return 0;
		}
		wire = message->wire;
		peer = message->peer;
		own = message->own;
		message->own = NULL;
		forget(message);
		op->peer = NULL;
		deliver(op, peer, &wire, own);
		free(own);
		return 0;
	}
	if (op->peer)
		op->peer->directed++;
	if (!take_kept(ep, op, tagged))
		list_append(&ep->posted[tagged], &op->link);
	return 0;
}

ssize_t spfi_recv(struct spfi_ep *ep, const struct iovec *iov, size_t count, fi_addr_t source,
		  bool tagged, uint64_t tag, uint64_t ignore, void *context, uint64_t flags)
{
	struct spfi_op *op;
	ssize_t result = spfi_flags_allowed(flags, SPFI_RX_FLAGS);

	if (result)
		return result;
	if (tagged && ep->type != FI_EP_RDM)
		return -FI_ENOSYS;
	if (count > SPFI_IOV || (flags & FI_MULTI_RECV && count != 1) ||
	    (flags & FI_DISCARD && !(flags & (FI_PEEK | FI_CLAIM))))
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->domain->lock);
	if (!ep->enabled || ep->srx)
		result = -FI_EOPBADSTATE;
	else if (ep->receives >= SPFI_RX_SIZE)
		result = -FI_EAGAIN;
	op = result ? NULL : spfi_op_get(ep, OP_RECV);
	if (!op) {
		pthread_mutex_unlock(&ep->domain->lock);
		return result ? result : -FI_EAGAIN;
	}
	if (source != FI_ADDR_UNSPEC && ep->caps & FI_DIRECTED_RECV)
		result = spfi_peer_of(ep, source, &op->peer);
	if (!result) {
		if (!(flags & FI_PEEK) && count)
			memcpy(op->iov, iov, count * sizeof(*iov));
		op->iov_count = flags & FI_PEEK ? 0 : (uint32_t)count;
		op->stage = STAGE_POSTED;
		op->context = context;
		op->wire.tag = tag;
		op->ignore = tagged ? ignore : UINT64_MAX;
		op->multi = flags & FI_MULTI_RECV;
		op->quiet = ep->rx_selective && !(flags & FI_COMPLETION);
		ep->receives++;
		result = recv_locked(ep, op, tagged, flags);
		if (result)
			ep->receives--;
	}
	if (result)
		spfi_op_put(ep, op);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static struct spfi_op *posted_with(struct spfi_ep *ep, void *context)
{
	unsigned tagged;

	for (tagged = 0; tagged < 2; tagged++) {
		struct list *at;

		for (at = ep->posted[tagged].next; at != &ep->posted[tagged]; at = at->next) {
			struct spfi_op *op = container_of(at, struct spfi_op, link);

			if (op->context == context) {
				op->flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
				return op;
			}
		}
	}
	return NULL;
}

/* Takes a receive out of the posted ones and reports it with an error. */
static void withdraw(struct spfi_op *op, uint32_t error)
{
	list_remove(&op->link);
	if (op->peer)
		op->peer->directed--;
	if (op->multi && op->parts) {
		op->stage = STAGE_MOVING; /* its parts go on; the last one releases the buffer */
		return;
	}
	op->done = 0;
	spfi_rx_done(op, error);
}

ssize_t spfi_cancel(fid_t fid, void *context)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);
	struct spfi_op *op;

	pthread_mutex_lock(&ep->domain->lock);
	op = posted_with(ep, context);
	if (op)
		withdraw(op, FI_ECANCELED);
	pthread_mutex_unlock(&ep->domain->lock);
	return op ? 0 : -FI_ENOENT;
}

/*
 * The peer has gone: long messages that wait there will not come, nor what only it could send. Short
 * messages are complete; they are dropped when another process takes the place of the peer.
 */
void spfi_match_forget(struct spfi_peer *peer, uint32_t error, bool messages)
{
	struct spfi_ep *ep = peer->ep;
	unsigned tagged;

	for (tagged = 0; tagged < 2; tagged++) {
		struct list *at, *next;

		for (at = ep->posted[tagged].next; at != &ep->posted[tagged]; at = next) {
			struct spfi_op *op = container_of(at, struct spfi_op, link);

			next = at->next;
			if (op->peer == peer) {
				op->flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
				withdraw(op, error);
			}
		}
		for (at = ep->arrived[tagged].next; at != &ep->arrived[tagged]; at = next) {
			struct spfi_op *op = container_of(at, struct spfi_op, link);

			next = at->next;
			if (op->peer == peer && (messages || op->wire.kind == WIRE_RTS))
				forget(op);
		}
	}
}
