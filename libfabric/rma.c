/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading and writing the memory of peers. */
#include "provider.h"

/* ------------------------------------------------------------------------------------------------
 * The end that has the memory
 */

void spfi_remote_count(struct spfi_ep *ep, struct spfi_mr *mr, bool read)
{
	struct spfi_cntr *counter = read ? ep->cntr_remote_read : ep->cntr_remote_write;

	if (counter)
		spfi_cntr_count(counter, false);
	if (mr && mr->events[read])
		spfi_cntr_count(mr->events[read], false);
}

void spfi_write_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	struct spfi_ep *ep = peer->ep;
	uint64_t offset = wire->offset;
	uint32_t status;
	struct spfi_mr *mr = spfi_mr_find(ep->domain, wire->tag, &offset, wire->length,
					  FI_REMOTE_WRITE, &status);

	if (peer->bad_write == wire->id) {
		status = peer->bad_status; /* after a packet that was refused none is executed */
	} else if (!mr) {
		peer->bad_write = wire->id;
		peer->bad_status = status;
	} else if (wire->length) {
		memcpy(mr->base + offset, payload, wire->length);
	}
	if (!(wire->flags & WIRE_LAST))
		return;
	peer->bad_write = 0;
	spfi_consume(peer, WIRE_REQUEST);
	spfi_answer(peer, WIRE_ACK, wire->id, status);
	if (status)
		return;
	spfi_remote_count(ep, mr, false);
	if (wire->flags & WIRE_HAS_DATA && ep->rx_cq) {
		struct spfi_completion completion = {
			.entry = {
				.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA,
				.len = wire->total,
				.data = wire->data,
			},
			.source = spfi_source(peer),
		};

		spfi_cq_push(ep->rx_cq, &completion);
	}
}

void spfi_read_arrived(struct spfi_peer *peer, const struct wire *wire)
{
	struct spfi_ep *ep = peer->ep;
	uint64_t offset = wire->offset;
	uint32_t status;
	struct spfi_mr *mr = spfi_mr_find(ep->domain, wire->tag, &offset, wire->total,
					  FI_REMOTE_READ, &status);
	struct spfi_op *op;

	if (!mr || wire->total == 0) {
		spfi_consume(peer, WIRE_REQUEST);
		spfi_answer(peer, WIRE_ACK, wire->id, status);
		if (mr)
			spfi_remote_count(ep, mr, true);
		return;
	}
	op = spfi_op_get(ep, OP_ANSWER);
	if (!op) {
		spfi_peer_fail(peer, FI_ENOMEM, "no memory for an answer");
		return;
	}
	op->peer = peer;
	op->stream = true;
	op->context = mr;
	op->iov[0].iov_base = mr->base + offset;
	op->iov[0].iov_len = wire->total;
	op->iov_count = 1;
	op->length = wire->total;
	op->wire.kind = WIRE_DATA;
	op->wire.id = wire->id;
	list_append(&peer->answers, &op->link);
	spfi_peer_activate(peer);
	spfi_remote_count(ep, mr, true);
}

/* Reads of a region that is being closed end with an error. */
void spfi_region_closed(struct spfi_mr *mr)
{
	struct list *at, *answer;
	unsigned node;

	for (at = mr->domain->endpoints.next; at != &mr->domain->endpoints; at = at->next) {
		struct spfi_ep *ep = container_of(at, struct spfi_ep, link);

		for (node = 0; ep->enabled && node < ep->nodes; node++) {
			struct spfi_peer *peer = &ep->peers[node];

			for (answer = peer->answers.next; answer != &peer->answers;
			     answer = answer->next) {
				struct spfi_op *op = container_of(answer, struct spfi_op, link);

				if (op->kind != OP_ANSWER || !op->stream || op->context != mr)
					continue;
				op->stream = false;
				op->wire.kind = WIRE_ACK;
				op->wire.status = FI_EACCES;
				spfi_consume(peer, WIRE_REQUEST);
			}
		}
	}
}

/* ------------------------------------------------------------------------------------------------
 * The end that asks
 */

struct request {
	const struct iovec *iov;
	size_t count;
	fi_addr_t peer;
	uint64_t address, key, data, flags;
	bool read, quiet;
	void *context;
};

static ssize_t start(struct spfi_ep *ep, const struct request *request)
{
	uint64_t length = spfi_iov_length(request->iov, request->count);
	struct spfi_peer *peer;
	struct spfi_op *op;
	int result = spfi_op_allowed(ep, true, request->flags, length);

	if (!result)
		result = spfi_peer_of(ep, request->peer, &peer);
	if (result)
		return result;
	if (spfi_tx_full(ep)) {
		spfi_progress(ep);
		return -FI_EAGAIN;
	}
	op = spfi_op_get(ep, request->read ? OP_READ : OP_WRITE);
	if (!op)
		return -FI_EAGAIN;
	op->peer = peer;
	op->flags = FI_RMA | (request->read ? FI_READ : FI_WRITE);
	op->context = request->context;
	op->quiet = request->quiet;
	op->length = length;
	op->stream = !request->read;
	op->wire.kind = request->read ? WIRE_READ : WIRE_WRITE;
	op->wire.flags = request->flags & FI_REMOTE_CQ_DATA ? WIRE_HAS_DATA : 0;
	op->wire.tag = request->key;
	op->wire.offset = request->address;
	op->wire.data = request->data;
	op->wire.total = length;
	op->wire.id = op->id;
	result = spfi_op_buffers(op, request->iov, request->count, request->flags & FI_INJECT);
	if (result) {
		spfi_op_put(ep, op);
		return result;
	}
	return spfi_op_start(ep, op);
}

static ssize_t submit(struct fid_ep *fid, struct request *request, bool inject, bool defaults)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);
	ssize_t result;

	if (request->count > SPFI_IOV)
		return -FI_EINVAL;
	if (defaults)
		request->flags |= ep->tx_flags & ~(uint64_t)(request->read ? FI_INJECT : 0);
	if (request->read && request->flags & FI_INJECT)
		return -FI_EINVAL;
	request->quiet = inject || (ep->tx_selective && !(request->flags & FI_COMPLETION));
	request->flags |= inject ? FI_INJECT : 0;
	pthread_mutex_lock(&ep->domain->lock);
	result = start(ep, request);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static ssize_t readv_memory(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			    fi_addr_t peer, uint64_t address, uint64_t key, void *context)
{
	struct request request = {.iov = iov, .count = count, .peer = peer, .address = address,
				  .key = key, .read = true, .context = context};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t read_memory(struct fid_ep *ep, void *buf, size_t length, void *desc, fi_addr_t peer,
			   uint64_t address, uint64_t key, void *context)
{
	struct iovec iov = {buf, length};

	(void)desc;
	return readv_memory(ep, &iov, NULL, 1, peer, address, key, context);
}

static ssize_t message(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags, bool read)
{
	struct request request = {
		.iov = msg->msg_iov,
		.count = msg->iov_count,
		.peer = msg->addr,
		.data = msg->data,
		.flags = flags,
		.read = read,
		.context = msg->context,
	};

	if (msg->rma_iov_count != 1 ||
	    msg->rma_iov[0].len != spfi_iov_length(msg->msg_iov, msg->iov_count))
		return -FI_EINVAL;
	request.address = msg->rma_iov[0].addr;
	request.key = msg->rma_iov[0].key;
	return submit(ep, &request, false, false);
}

static ssize_t readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return message(ep, msg, flags, true);
}

static ssize_t writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return message(ep, msg, flags, false);
}

static ssize_t writev_memory(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			     fi_addr_t peer, uint64_t address, uint64_t key, void *context)
{
	struct request request = {.iov = iov, .count = count, .peer = peer, .address = address,
				  .key = key, .context = context};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t write_memory(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			    fi_addr_t peer, uint64_t address, uint64_t key, void *context)
{
	struct iovec iov = {(void *)buf, length};

	(void)desc;
	return writev_memory(ep, &iov, NULL, 1, peer, address, key, context);
}

static ssize_t inject_write(struct fid_ep *ep, const void *buf, size_t length, fi_addr_t peer,
			    uint64_t address, uint64_t key)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {
		.iov = &iov, .count = 1, .peer = peer, .address = address, .key = key};

	return submit(ep, &request, true, true);
}

static ssize_t writedata(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			 uint64_t data, fi_addr_t peer, uint64_t address, uint64_t key,
			 void *context)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {
		.iov = &iov,
		.count = 1,
		.peer = peer,
		.address = address,
		.key = key,
		.data = data,
		.flags = FI_REMOTE_CQ_DATA,
		.context = context,
	};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t inject_writedata(struct fid_ep *ep, const void *buf, size_t length, uint64_t data,
				fi_addr_t peer, uint64_t address, uint64_t key)
{
	struct iovec iov = {(void *)buf, length};
	struct request request = {.iov = &iov, .count = 1, .peer = peer, .address = address,
				  .key = key, .data = data, .flags = FI_REMOTE_CQ_DATA};

	return submit(ep, &request, true, true);
}

struct fi_ops_rma spfi_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = read_memory,
	.readv = readv_memory,
	.readmsg = readmsg,
	.write = write_memory,
	.writev = writev_memory,
	.writemsg = writemsg,
	.inject = inject_write,
	.writedata = writedata,
	.injectdata = inject_writedata,
};
