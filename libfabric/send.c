/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sending messages, and the calls to receive them. */
#include "provider.h"

/* The peer at an address, or an error. */
int spfi_peer_of(struct spfi_ep *ep, fi_addr_t address, struct spfi_peer **out)
{
	const struct spfi_address *entry;
	struct spfi_peer *peer;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (address >= ep->av->count)
		return -FI_EINVAL;
	entry = &ep->av->entries[address];
	if (entry->node >= ep->nodes)
		return -FI_EINVAL;
	peer = &ep->peers[entry->node];
	if (entry->incarnation != peer->incarnation && entry->incarnation) {
		if (entry->incarnation < peer->incarnation)
			return -FI_ECONNABORTED; /* that process has gone */
		spfi_peer_meet(peer, entry->incarnation);
	}
	if (peer->state == PEER_DEAD)
		return -FI_ECONNABORTED;
	*out = peer;
	return 0;
}

int spfi_flags_allowed(uint64_t flags, uint64_t offered)
{
	if (!(flags & ~offered))
		return 0;
	WARN(FI_LOG_EP_DATA, "flags %#llx: only %#llx are offered\n", (unsigned long long)flags,
	     (unsigned long long)offered);
	return -FI_EBADFLAGS;
}

int spfi_op_allowed(const struct spfi_ep *ep, bool rdm, uint64_t flags, uint64_t length)
{
	uint64_t limit = flags & FI_INJECT ? SPFI_INJECT : spfi_max_msg(ep->type);

	if (rdm && ep->type != FI_EP_RDM)
		return -FI_ENOSYS;
	if (spfi_flags_allowed(flags, SPFI_TX_FLAGS))
		return -FI_EBADFLAGS;
	if (length > limit) {
		WARN(FI_LOG_EP_DATA, "%llu bytes%s: the limit is %llu\n",
		     (unsigned long long)length, flags & FI_INJECT ? " to inject" : "",
		     (unsigned long long)limit);
		return -FI_EMSGSIZE;
	}
	return 0;
}

/* Sets the buffers of an operation, or copies what is in them. */
int spfi_op_buffers(struct spfi_op *op, const struct iovec *iov, size_t count, bool copy)
{
	if (!copy) {
		memcpy(op->iov, iov, count * sizeof(*iov));
		op->iov_count = (uint32_t)count;
		return 0;
	}
	op->own = malloc(op->length ? op->length : 1);
	if (!op->own)
		return -FI_ENOMEM;
	spfi_iov_read(op->own, iov, count, 0, op->length);
	op->iov[0].iov_base = op->own;
	op->iov[0].iov_len = op->length;
	op->iov_count = 1;
	return 0;
}

ssize_t spfi_op_start(struct spfi_ep *ep, struct spfi_op *op)
{
	spfi_tx_count(ep, 1);
	op->stage = STAGE_QUEUED;
	list_append(&op->peer->requests, &op->link);
	spfi_peer_activate(op->peer);
	spfi_peer_push(op->peer);
	return 0;
}

/* Sends a short message if nothing is before it and there is room. */
static bool send_now(struct spfi_peer *peer, struct wire *wire, const struct iovec *iov,
		     size_t count)
{
	uint8_t *slot;

	if (!list_empty(&peer->requests) || !list_empty(&peer->answers) ||
	    peer->window < wire_cost(wire))
		return false;
	slot = spfi_peer_slot(peer);
	if (!slot)
		return false;
	spfi_peer_fill(peer, slot, wire);
	spfi_iov_read(slot + sizeof(*wire), iov, count, 0, wire->length);
	peer->window -= wire_cost(wire);
	spfi_peer_stage(peer, sizeof(*wire) + wire->length);
	spfi_peer_flush(peer);
	return true;
}

struct request {
	const struct iovec *iov;
	size_t count;
	fi_addr_t to;
	uint64_t tag, data, flags;
	bool tagged, quiet;
	void *context;
};

static ssize_t send_locked(struct spfi_ep *ep, const struct request *request)
{
	uint64_t length = spfi_iov_length(request->iov, request->count);
	struct wire wire = {
		.kind = length <= WIRE_SEGMENT ? WIRE_MSG : WIRE_RTS,
		.flags = (uint16_t)((request->tagged ? WIRE_TAGGED : 0) |
				    (request->flags & FI_REMOTE_CQ_DATA ? WIRE_HAS_DATA : 0) |
				    (request->flags & FI_DELIVERY_COMPLETE ? WIRE_WANT_ACK : 0)),
		.length = length <= WIRE_SEGMENT ? (uint32_t)length : 0,
		.tag = request->tag,
		.data = request->data,
		.total = length,
	};
	struct spfi_peer *peer;
	struct spfi_op *op;
	int result = spfi_op_allowed(ep, request->tagged, request->flags, length);

	if (!result)
		result = spfi_peer_of(ep, request->to, &peer);
	if (result)
		return result;
	if (spfi_tx_full(ep)) {
		spfi_progress(ep);
		return -FI_EAGAIN;
	}
	op = spfi_op_get(ep, OP_SEND);
	if (!op)
		return -FI_EAGAIN;
	op->peer = peer;
	op->flags = FI_SEND | (request->tagged ? FI_TAGGED : FI_MSG);
	op->context = request->context;
	op->quiet = request->quiet;
	op->length = length;
	op->wire = wire;
	if (wire.kind == WIRE_MSG && !(wire.flags & WIRE_WANT_ACK) &&
	    send_now(peer, &wire, request->iov, request->count)) {
		spfi_tx_count(ep, 1);
		spfi_tx_done(op, 0);
		return 0;
	}
	if (peer->state == PEER_DEAD) {
		spfi_op_put(ep, op);
		return -FI_ECONNABORTED;
	}
	result = spfi_op_buffers(op, request->iov, request->count, request->flags & FI_INJECT);
	if (result) {
		spfi_op_put(ep, op);
		return result;
	}
	op->wire.id = op->id;
	return spfi_op_start(ep, op);
}

static ssize_t submit(struct fid_ep *fid, struct request *request, bool inject, bool defaults)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);
	ssize_t result;

	if (request->count > SPFI_IOV)
		return -FI_EINVAL;
	if (defaults)
		request->flags |= ep->tx_flags;
	request->quiet = inject || (ep->tx_selective && !(request->flags & FI_COMPLETION));
	if (inject)
		request->flags = (request->flags & ~(uint64_t)FI_DELIVERY_COMPLETE) | FI_INJECT;
	pthread_mutex_lock(&ep->domain->lock);
	result = send_locked(ep, request);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

/* ------------------------------------------------------------------------------------------------
 * Messages
 */

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			 fi_addr_t to, void *context)
{
	struct request request = {.iov = iov, .count = count, .to = to, .context = context};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			fi_addr_t to, void *context)
{
	struct iovec iov = {(void *)buf, length};

	(void)desc;
	return msg_sendv(ep, &iov, NULL, 1, to, context);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	struct request request = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.to = msg->addr,
		.context = msg->context,
		.data = msg->data,
		.flags = flags,
	};

	return submit(ep, &request, false, false);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t length, fi_addr_t to)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {.iov = &iov, .count = 1, .to = to};

	return submit(ep, &request, true, true);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			    uint64_t data, fi_addr_t to, void *context)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {
		.iov = &iov,
		.count = 1,
		.to = to,
		.context = context,
		.data = data,
		.flags = FI_REMOTE_CQ_DATA,
	};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t length, uint64_t data,
			      fi_addr_t to)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {
		.iov = &iov, .count = 1, .to = to, .data = data, .flags = FI_REMOTE_CQ_DATA};

	return submit(ep, &request, true, true);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
			 fi_addr_t from, void *context)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);

	(void)desc;
	return spfi_recv(ep, iov, count, from, false, 0, 0, context, ep->rx_flags);
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t length, void *desc, fi_addr_t from,
			void *context)
{
	struct iovec iov = {buf, length};

	(void)desc;
	return msg_recvv(ep, &iov, NULL, 1, from, context);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);

	return spfi_recv(ep, msg->msg_iov, msg->iov_count, msg->addr, false, 0, 0, msg->context,
			 flags);
}

struct fi_ops_msg spfi_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};

/* ------------------------------------------------------------------------------------------------
 * Tagged messages
 */

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			    fi_addr_t to, uint64_t tag, void *context)
{
	struct request request = {.iov = iov, .count = count, .to = to, .tag = tag,
				  .tagged = true, .context = context};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			   fi_addr_t to, uint64_t tag, void *context)
{
	struct iovec iov = {(void *)buf, length};

	(void)desc;
	return tagged_sendv(ep, &iov, NULL, 1, to, tag, context);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	struct request request = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.to = msg->addr,
		.tag = msg->tag,
		.tagged = true,
		.context = msg->context,
		.data = msg->data,
		.flags = flags,
	};

	return submit(ep, &request, false, false);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t length, fi_addr_t to,
			     uint64_t tag)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {.iov = &iov, .count = 1, .to = to, .tag = tag, .tagged = true};

	return submit(ep, &request, true, true);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			       uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {
		.iov = &iov,
		.count = 1,
		.to = to,
		.tag = tag,
		.tagged = true,
		.context = context,
		.data = data,
		.flags = FI_REMOTE_CQ_DATA,
	};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t length, uint64_t data,
				 fi_addr_t to, uint64_t tag)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {.iov = &iov, .count = 1, .to = to, .tag = tag, .tagged = true,
				  .data = data, .flags = FI_REMOTE_CQ_DATA};

	return submit(ep, &request, true, true);
}

static ssize_t tagged_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
			    fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);

	(void)desc;
	return spfi_recv(ep, iov, count, from, true, tag, ignore, context,
			 ep->rx_flags & ~(uint64_t)FI_MULTI_RECV);
}

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t length, void *desc, fi_addr_t from,
			   uint64_t tag, uint64_t ignore, void *context)
{
	struct iovec iov = {buf, length};

	(void)desc;
	return tagged_recvv(ep, &iov, NULL, 1, from, tag, ignore, context);
}

static ssize_t tagged_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg, uint64_t flags)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);

	if (flags & FI_MULTI_RECV)
		return -FI_EINVAL;
	return spfi_recv(ep, msg->msg_iov, msg->iov_count, msg->addr, true, msg->tag, msg->ignore,
			 msg->context, flags);
}

struct fi_ops_tagged spfi_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tagged_recv,
	.recvv = tagged_recvv,
	.recvmsg = tagged_recvmsg,
	.send = tagged_send,
	.sendv = tagged_sendv,
	.sendmsg = tagged_sendmsg,
	.inject = tagged_inject,
	.senddata = tagged_senddata,
	.injectdata = tagged_injectdata,
};
