/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Atomic operations on the memory of peers. The process that has the memory executes them, so they
 * are atomic with respect to each other, not to what that process does to the memory itself.
 */
#include "compute.h"
#include "provider.h"

/* ------------------------------------------------------------------------------------------------
 * The end that has the memory
 */

static void answer_result(struct spfi_peer *peer, const struct wire *wire, uint8_t *result,
			  uint32_t bytes)
{
	struct spfi_op *op = spfi_op_get(peer->ep, OP_ANSWER);

	if (!op) {
		free(result);
		spfi_peer_fail(peer, FI_ENOMEM, "no memory for an answer");
		return;
	}
	op->peer = peer;
	op->own = result;
	op->iov[0].iov_base = result;
	op->iov[0].iov_len = bytes;
	op->iov_count = 1;
	op->wire.kind = WIRE_ACK;
	op->wire.id = wire->id;
	op->wire.length = bytes;
	list_append(&peer->answers, &op->link);
	spfi_peer_activate(peer);
}

static uint32_t execute(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload,
			struct spfi_mr **region, uint8_t **result, uint32_t *result_bytes)
{
	uint32_t datatype = wire->status & 0xff, op = wire->status >> 8, status;
	bool fetch = wire->flags & WIRE_FETCH, compares = wire->flags & WIRE_COMPARE;
	uint64_t bytes, offset = wire->offset, access;
	struct spfi_mr *mr;

	if (!spfi_type_has(datatype, op) || compares != spfi_op_compares(op) ||
	    wire->total > SPFI_ATOMIC / spfi_type_bytes(datatype))
		return FI_EOPNOTSUPP;
	bytes = wire->total * spfi_type_bytes(datatype);
	if (wire->length != (op == FI_ATOMIC_READ ? 0 : compares ? 2 * bytes : bytes))
		return FI_EINVAL;
	access = (op == FI_ATOMIC_READ ? 0 : FI_REMOTE_WRITE) | (fetch ? FI_REMOTE_READ : 0);
	mr = spfi_mr_find(peer->ep->domain, wire->tag, &offset, bytes, access, &status);
	if (!mr)
		return status;
	*region = mr;
	if (fetch) {
		*result = malloc(bytes ? bytes : 1);
		if (!*result)
			return FI_ENOMEM;
		*result_bytes = (uint32_t)bytes;
	}
	spfi_compute(datatype, op, wire->total, mr->base + offset,
		     op == FI_ATOMIC_READ ? NULL : payload, compares ? payload + bytes : NULL,
		     *result);
	return 0;
}

void spfi_atomic_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	uint8_t *result = NULL;
	struct spfi_mr *mr = NULL;
	uint32_t bytes = 0, status = execute(peer, wire, payload, &mr, &result, &bytes);

	spfi_consume(peer, wire_cost(wire));
	if (result)
		answer_result(peer, wire, result, bytes);
	else
		spfi_answer(peer, WIRE_ACK, wire->id, status);
	if (!status)
		spfi_remote_count(peer->ep, mr, wire->flags & WIRE_FETCH);
}

/* ------------------------------------------------------------------------------------------------
 * The end that asks
 */

struct request {
	const struct fi_ioc *operand, *compare;
	struct fi_ioc *result;
	size_t operand_count, compare_count, result_count;
	fi_addr_t peer;
	uint64_t address, key, flags;
	enum fi_datatype datatype;
	enum fi_op op;
	bool fetch, compares, quiet;
	void *context;
};

/* Whether the call may be used for this operation and type. */
static int valid(enum fi_datatype datatype, enum fi_op op, bool fetch, bool compares, size_t *count)
{
	if (!spfi_type_has((uint32_t)datatype, (uint32_t)op) ||
	    compares != spfi_op_compares((uint32_t)op) || (op == FI_ATOMIC_READ && !fetch))
		return -FI_EOPNOTSUPP;
	if (count)
		*count = SPFI_ATOMIC / spfi_type_bytes((uint32_t)datatype);
	return 0;
}

/* Makes a list of buffers from a list of elements; bytes are added up. */
static int to_iov(struct iovec *iov, const struct fi_ioc *from, size_t count, size_t size,
		  uint64_t *bytes)
{
	size_t i;

	*bytes = 0;
	if (count > SPFI_IOV)
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		if (from[i].count > SPFI_ATOMIC / size)
			return -FI_EMSGSIZE;
		iov[i].iov_base = from[i].addr;
		iov[i].iov_len = from[i].count * size;
		*bytes += iov[i].iov_len;
	}
	return *bytes > SPFI_ATOMIC ? -FI_EMSGSIZE : 0;
}

static int fill(struct spfi_op *op, const struct request *request)
{
	size_t size = spfi_type_bytes((uint32_t)request->datatype);
	bool reads = request->op == FI_ATOMIC_READ;
	struct iovec operand[SPFI_IOV], compare[SPFI_IOV];
	uint64_t bytes, compare_bytes = 0, result_bytes = 0;
	int result = to_iov(operand, request->operand, reads ? 0 : request->operand_count, size,
			    &bytes);

	if (!result && request->compares)
		result = to_iov(compare, request->compare, request->compare_count, size,
				&compare_bytes);
	if (!result && request->fetch)
		result = to_iov(op->result, request->result, request->result_count, size,
				&result_bytes);
	if (result)
		return result;
	if (reads)
		bytes = result_bytes;
	if ((request->compares && compare_bytes != bytes) ||
	    (request->fetch && result_bytes != bytes))
		return -FI_EINVAL;
	op->result_count = request->fetch ? (uint32_t)request->result_count : 0;
	op->wire.total = bytes / size;
	if (reads)
		bytes = 0;
	op->own = malloc(bytes + compare_bytes + 1);
	if (!op->own)
		return -FI_ENOMEM;
	spfi_iov_read(op->own, operand, request->operand_count, 0, bytes);
	if (compare_bytes)
		spfi_iov_read(op->own + bytes, compare, request->compare_count, 0, compare_bytes);
	op->iov[0].iov_base = op->own;
	op->iov[0].iov_len = bytes + compare_bytes;
	op->iov_count = 1;
	op->wire.length = (uint32_t)(bytes + compare_bytes);
	op->length = op->wire.total * size;
	return 0;
}

static ssize_t start(struct spfi_ep *ep, const struct request *request)
{
	struct spfi_peer *peer;
	struct spfi_op *op;
	int result = spfi_op_allowed(ep, true, request->flags, 0);

	if (!result)
		result = spfi_peer_of(ep, request->peer, &peer);
	if (result)
		return result;
	if (spfi_tx_full(ep)) {
		spfi_progress(ep);
		return -FI_EAGAIN;
	}
	op = spfi_op_get(ep, OP_ATOMIC);
	if (!op)
		return -FI_EAGAIN;
	op->peer = peer;
	op->flags = FI_ATOMIC | (request->fetch ? FI_READ : FI_WRITE);
	op->context = request->context;
	op->quiet = request->quiet;
	op->wire.kind = WIRE_ATOMIC;
	op->wire.flags = (uint16_t)((request->fetch ? WIRE_FETCH : 0) |
				    (request->compares ? WIRE_COMPARE : 0));
	op->wire.status = (uint32_t)request->op << 8 | (uint32_t)request->datatype;
	op->wire.tag = request->key;
	op->wire.offset = request->address;
	op->wire.id = op->id;
	result = fill(op, request);
	if (result) {
		spfi_op_put(ep, op);
		return result;
	}
	return spfi_op_start(ep, op);
}

static ssize_t submit(struct fid_ep *fid, struct request *request, bool inject, bool defaults)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid);
	ssize_t result = valid(request->datatype, request->op, request->fetch, request->compares,
			       NULL);

	if (result)
		return result;
	if (defaults)
		request->flags |= ep->tx_flags;
	request->quiet = inject || (ep->tx_selective && !(request->flags & FI_COMPLETION));
	pthread_mutex_lock(&ep->domain->lock);
	result = start(ep, request);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc, size_t count,
			     fi_addr_t peer, uint64_t address, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct request request = {
		.operand = iov,
		.operand_count = count,
		.peer = peer,
		.address = address,
		.key = key,
		.datatype = datatype,
		.op = op,
		.context = context,
	};

	(void)desc;
	return submit(ep, &request, false, true);
}

static ssize_t atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			    fi_addr_t peer, uint64_t address, uint64_t key,
			    enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct fi_ioc ioc = {(void *)buf, count};

	(void)desc;
	return atomic_writev(ep, &ioc, NULL, 1, peer, address, key, datatype, op, context);
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count, fi_addr_t peer,
			     uint64_t address, uint64_t key, enum fi_datatype datatype,
			     enum fi_op op)
{
	struct fi_ioc ioc = {(void *)buf, count};
	struct request request = {.operand = &ioc, .operand_count = 1, .peer = peer,
				  .address = address, .key = key, .datatype = datatype, .op = op};

	return submit(ep, &request, true, true);
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				 size_t count, struct fi_ioc *result, void **result_desc,
				 size_t result_count, fi_addr_t peer, uint64_t address,
				 uint64_t key, enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	struct request request = {
		.operand = iov,
		.operand_count = count,
		.result = result,
		.result_count = result_count,
		.peer = peer,
		.address = address,
		.key = key,
		.datatype = datatype,
		.op = op,
		.fetch = true,
		.context = context,
	};

	(void)desc, (void)result_desc;
	return submit(ep, &request, false, true);
}

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				void *result, void *result_desc, fi_addr_t peer, uint64_t address,
				uint64_t key, enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	struct fi_ioc ioc = {(void *)buf, count}, result_ioc = {result, count};

	(void)desc, (void)result_desc;
	return atomic_readwritev(ep, &ioc, NULL, 1, &result_ioc, NULL, 1, peer, address, key,
				 datatype, op, context);
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				 size_t count, const struct fi_ioc *compare, void **compare_desc,
				 size_t compare_count, struct fi_ioc *result, void **result_desc,
				 size_t result_count, fi_addr_t peer, uint64_t address,
				 uint64_t key, enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	struct request request = {
		.operand = iov,
		.operand_count = count,
		.compare = compare,
		.compare_count = compare_count,
		.result = result,
		.result_count = result_count,
		.peer = peer,
		.address = address,
		.key = key,
		.datatype = datatype,
		.op = op,
		.fetch = true,
		.compares = true,
		.context = context,
	};

	(void)desc, (void)compare_desc, (void)result_desc;
	return submit(ep, &request, false, true);
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				const void *compare, void *compare_desc, void *result,
				void *result_desc, fi_addr_t peer, uint64_t address, uint64_t key,
				enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct fi_ioc ioc = {(void *)buf, count}, compare_ioc = {(void *)compare, count};
	struct fi_ioc result_ioc = {result, count};

	(void)desc, (void)compare_desc, (void)result_desc;
	return atomic_compwritev(ep, &ioc, NULL, 1, &compare_ioc, NULL, 1, &result_ioc, NULL, 1,
				 peer, address, key, datatype, op, context);
}

static size_t elements(const struct fi_ioc *list, size_t count)
{
	size_t all = 0, i;

	for (i = 0; i < count; i++)
		all += list[i].count;
	return all;
}

/* The three calls with a message: compare and result are NULL where there is none. */
static ssize_t message(struct fid_ep *ep, const struct fi_msg_atomic *msg,
		       const struct fi_ioc *compare, size_t compare_count, struct fi_ioc *result,
		       size_t result_count, bool fetch, bool compares, uint64_t flags)
{
	struct request request = {
		.operand = msg->msg_iov,
		.operand_count = msg->iov_count,
		.compare = compare,
		.compare_count = compare_count,
		.result = result,
		.result_count = result_count,
		.peer = msg->addr,
		.flags = flags,
		.datatype = msg->datatype,
		.op = msg->op,
		.fetch = fetch,
		.compares = compares,
		.context = msg->context,
	};

	if (msg->rma_iov_count != 1 ||
	    msg->rma_iov[0].count != (msg->op == FI_ATOMIC_READ
					      ? elements(result, result_count)
					      : elements(msg->msg_iov, msg->iov_count)))
		return -FI_EINVAL;
	request.address = msg->rma_iov[0].addr;
	request.key = msg->rma_iov[0].key;
	return submit(ep, &request, false, false);
}

static ssize_t atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg, uint64_t flags)
{
	return message(ep, msg, NULL, 0, NULL, 0, false, false, flags);
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   struct fi_ioc *result, void **desc, size_t count, uint64_t flags)
{
	(void)desc;
	return message(ep, msg, NULL, 0, result, count, true, false, flags);
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   const struct fi_ioc *compare, void **compare_desc,
				   size_t compare_count, struct fi_ioc *result, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	(void)compare_desc, (void)result_desc;
	return message(ep, msg, compare, compare_count, result, result_count, true, true, flags);
}

static int write_valid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op, size_t *count)
{
	(void)ep;
	return valid(datatype, op, false, false, count);
}

static int readwrite_valid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			   size_t *count)
{
	(void)ep;
	return valid(datatype, op, true, false, count);
}

static int compwrite_valid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			   size_t *count)
{
	(void)ep;
	return valid(datatype, op, true, true, count);
}

struct fi_ops_atomic spfi_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = atomic_write,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = write_valid,
	.readwritevalid = readwrite_valid,
	.compwritevalid = compwrite_valid,
};

int spfi_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		      struct fi_atomic_attr *attr, uint64_t flags)
{
	int result;

	(void)domain;
	if (flags & ~(uint64_t)(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC | FI_TAGGED))
		return -FI_EINVAL;
	if (flags & FI_TAGGED)
		return -FI_ENOSYS;
	result = valid(datatype, op, flags & (FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC),
		       flags & FI_COMPARE_ATOMIC, &attr->count);
	attr->size = result ? 0 : spfi_type_bytes((uint32_t)datatype);
	return result;
}
