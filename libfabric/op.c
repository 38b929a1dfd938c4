/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of operations, lists of buffers, and what the program is told at the end. */
#include "provider.h"

struct spfi_op *spfi_op_get(struct spfi_ep *ep, enum op_kind kind)
{
	struct spfi_op *op;
	uint64_t id;

	if (list_empty(&ep->free_ops)) {
		struct spfi_op *chunk;
		unsigned i;

		if (ep->chunk_count == SPFI_CHUNKS)
			return NULL;
		chunk = calloc(SPFI_CHUNK, sizeof(*chunk));
		if (!chunk)
			return NULL;
		for (i = 0; i < SPFI_CHUNK; i++) {
			chunk[i].id = ep->chunk_count * SPFI_CHUNK + i;
			list_append(&ep->free_ops, &chunk[i].link);
		}
		ep->chunks[ep->chunk_count++] = chunk;
	}
	/* The one used last is in the cache. */
	op = container_of(ep->free_ops.prev, struct spfi_op, link);
	list_remove(&op->link);
	id = op->id + (UINT64_C(1) << 32);
	memset(op, 0, offsetof(struct spfi_op, iov));
	list_init(&op->link);
	op->id = id;
	op->ep = ep;
	op->kind = (uint8_t)kind;
	op->iov_count = op->result_count = 0;
	op->length = op->done = op->remote = 0;
	op->own = NULL;
	op->parent = NULL;
	op->parts = op->error = 0;
	return op;
}

void spfi_op_put(struct spfi_ep *ep, struct spfi_op *op)
{
	list_remove(&op->link);
	free(op->own);
	op->own = NULL;
	op->kind = OP_FREE;
	list_append(&ep->free_ops, &op->link);
}

/* The operation that an answer of the peer names, NULL if it is not one that the peer may name. */
struct spfi_op *spfi_op_find(struct spfi_ep *ep, uint64_t id, struct spfi_peer *peer)
{
	uint32_t place = (uint32_t)id;
	struct spfi_op *op;

	if (place / SPFI_CHUNK >= ep->chunk_count)
		return NULL;
	op = &ep->chunks[place / SPFI_CHUNK][place % SPFI_CHUNK];
	return op->kind != OP_FREE && op->id == id && op->peer == peer ? op : NULL;
}

uint64_t spfi_iov_length(const struct iovec *iov, size_t count)
{
	uint64_t length = 0;
	size_t i;

	for (i = 0; i < count; i++)
		length += iov[i].iov_len;
	return length;
}

void spfi_iov_read(void *to, const struct iovec *iov, size_t count, uint64_t offset, size_t bytes)
{
	uint8_t *at = to;
	size_t i;

	for (i = 0; i < count && bytes; i++) {
		size_t part;

		if (offset >= iov[i].iov_len) {
			offset -= iov[i].iov_len;
			continue;
		}
		part = iov[i].iov_len - offset < bytes ? iov[i].iov_len - offset : bytes;
		memcpy(at, (const uint8_t *)iov[i].iov_base + offset, part);
		at += part;
		bytes -= part;
		offset = 0;
	}
}

void spfi_iov_write(const struct iovec *iov, size_t count, uint64_t offset, const void *from,
		    size_t bytes)
{
	const uint8_t *at = from;
	size_t i;

	for (i = 0; i < count && bytes; i++) {
		size_t part;

		if (offset >= iov[i].iov_len) {
			offset -= iov[i].iov_len;
			continue;
		}
		part = iov[i].iov_len - offset < bytes ? iov[i].iov_len - offset : bytes;
		memcpy((uint8_t *)iov[i].iov_base + offset, at, part);
		at += part;
		bytes -= part;
		offset = 0;
	}
}

static struct spfi_cntr *counter_of(struct spfi_ep *ep, const struct spfi_op *op)
{
	if (op->kind == OP_SEND)
		return ep->cntr_send;
	return op->flags & FI_READ ? ep->cntr_read : ep->cntr_write;
}

void spfi_tx_done(struct spfi_op *op, uint32_t error)
{
	struct spfi_ep *ep = op->ep;
	struct spfi_cntr *counter;

	if (op->kind == OP_ANSWER) {
		spfi_op_put(ep, op);
		return;
	}
	spfi_tx_count(ep, -1);
	counter = counter_of(ep, op);
	if (counter)
		spfi_cntr_count(counter, error != 0);
	if (ep->tx_cq && (error || !op->quiet)) {
		struct spfi_completion completion = {
			.entry = {
				.op_context = op->context,
				.flags = op->flags,
				.len = error ? 0 : op->length,
				.tag = op->wire.tag,
				.err = (int)error,
				.prov_errno = (int)error,
			},
			.source = FI_ADDR_NOTAVAIL,
		};

		spfi_cq_push(ep->tx_cq, &completion);
	}
	spfi_op_put(ep, op);
}

/* The part of a buffer for several messages has ended: the last one of a full buffer says so. */
static uint64_t part_done(struct spfi_ep *ep, struct spfi_op *parent)
{
	if (--parent->parts || parent->stage == STAGE_POSTED)
		return 0;
	ep->receives--;
	spfi_op_put(ep, parent);
	return FI_MULTI_RECV;
}

void spfi_rx_done(struct spfi_op *op, uint32_t error)
{
	struct spfi_ep *ep = op->ep;
	uint64_t flags = op->flags;
	bool quiet = op->quiet;

	if (op->parent)
		flags |= part_done(ep, op->parent);
	else
		ep->receives--;
	if (op->multi)
		flags |= FI_MULTI_RECV;
	if (flags & FI_MULTI_RECV)
		quiet = false;
	if (ep->cntr_recv)
		spfi_cntr_count(ep->cntr_recv, error != 0);
	if (ep->rx_cq && (error || !quiet)) {
		struct spfi_completion completion = {
			.entry = {
				.op_context = op->context,
				.flags = flags,
				.len = op->done,
				.buf = op->iov_count ? op->iov[0].iov_base : NULL,
				.data = op->wire.data,
				.tag = op->wire.tag,
				.olen = error == FI_ETRUNC ? op->wire.total - op->done : 0,
				.err = (int)error,
				.prov_errno = (int)error,
			},
			.source = op->peer ? spfi_source(op->peer) : FI_ADDR_NOTAVAIL,
		};

		spfi_cq_push(ep->rx_cq, &completion);
	}
	spfi_op_put(ep, op);
}
