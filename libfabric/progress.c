/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Moves everything on: takes packets in, sends what waits, and looks whether peers are alive.
 * Packets are always taken in, also when nothing can be sent, so two ends that both send never wait
 * for each other.
 */
#include <sched.h>

#include "provider.h"

#define CHECK_MS 50
#define IDLE_CALLS 64 /* looks that find nothing before others may have the processor */

void spfi_peer_activate(struct spfi_peer *peer)
{
	if (!peer->active) {
		peer->active = true;
		list_append(&peer->ep->active, &peer->link);
	}
}

void spfi_answer(struct spfi_peer *peer, enum wire_kind kind, uint64_t id, uint32_t status)
{
	struct spfi_op *op;

	if (peer->state == PEER_DEAD)
		return;
	op = spfi_op_get(peer->ep, OP_ANSWER);
	if (!op) {
		spfi_peer_fail(peer, FI_ENOMEM, "no memory for an answer");
		return;
	}
	op->peer = peer;
	op->wire.kind = (uint8_t)kind;
	op->wire.id = id;
	op->wire.status = status;
	list_append(&peer->answers, &op->link);
	spfi_peer_activate(peer);
}

/* ------------------------------------------------------------------------------------------------
 * Sending
 */

static bool push_credit(struct spfi_peer *peer)
{
	struct wire wire = {.kind = WIRE_CREDIT, .data = peer->consumed};
	uint8_t *slot = spfi_peer_slot(peer);

	if (!slot)
		return false;
	spfi_peer_fill(peer, slot, &wire);
	peer->consumed = 0;
	spfi_peer_stage(peer, sizeof(wire));
	return true;
}

/* Sends the next part of an operation. False if there was no slot. */
static bool push_part(struct spfi_peer *peer, struct spfi_op *op)
{
	uint64_t left = op->length - op->done;
	uint32_t bytes = left < WIRE_SEGMENT ? (uint32_t)left : WIRE_SEGMENT;
	uint8_t *slot = spfi_peer_slot(peer);
	struct wire wire;

	if (!slot)
		return false;
	wire = op->wire;
	wire.length = bytes;
	wire.offset += op->done;
	if (op->kind == OP_WRITE && op->done + bytes == op->length)
		wire.flags |= WIRE_LAST;
	spfi_peer_fill(peer, slot, &wire);
	spfi_iov_read(slot + sizeof(wire), op->iov, op->iov_count, op->done, bytes);
	op->done += bytes;
	spfi_peer_stage(peer, sizeof(wire) + bytes);
	return true;
}

/* Sends as much of an operation as there is room for. True if all was sent. */
static bool push_op(struct spfi_peer *peer, struct spfi_op *op)
{
	uint8_t *slot;

	if (op->stream) {
		do {
			if (!push_part(peer, op) || peer->state == PEER_DEAD)
				return false;
		} while (op->done < op->length);
		return true;
	}
	slot = spfi_peer_slot(peer);
	if (!slot)
		return false;
	spfi_peer_fill(peer, slot, &op->wire);
	if (op->wire.length)
		spfi_iov_read(slot + sizeof(op->wire), op->iov, op->iov_count, 0, op->wire.length);
	spfi_peer_stage(peer, sizeof(op->wire) + op->wire.length);
	return peer->state != PEER_DEAD;
}

/* An operation has been sent: it is over, or its answer is awaited. */
static void pushed(struct spfi_peer *peer, struct spfi_op *op)
{
	bool waits = op->wire.kind == WIRE_RTS || op->kind == OP_WRITE || op->kind == OP_READ ||
		     op->kind == OP_ATOMIC ||
		     (op->kind == OP_SEND && op->wire.flags & WIRE_WANT_ACK);

	if (!waits) {
		spfi_tx_done(op, 0);
		return;
	}
	list_remove(&op->link);
	op->stage = STAGE_WAITING;
	list_append(&peer->waiting, &op->link);
}

static bool push_answers(struct spfi_peer *peer)
{
	while (!list_empty(&peer->answers)) {
		struct spfi_op *op = container_of(peer->answers.next, struct spfi_op, link);

		if (!push_op(peer, op))
			return false;
		if (op->kind == OP_ANSWER) {
			if (op->stream) /* a read occupies the window until it is answered */
				spfi_consume(peer, WIRE_REQUEST);
			spfi_op_put(peer->ep, op);
		} else {
			pushed(peer, op);
		}
	}
	return true;
}

static bool push_requests(struct spfi_peer *peer)
{
	while (!list_empty(&peer->requests)) {
		struct spfi_op *op = container_of(peer->requests.next, struct spfi_op, link);
		uint32_t cost = op->kind == OP_WRITE ? WIRE_REQUEST : wire_cost(&op->wire);

		if (op->done == 0) {
			if (peer->window < cost)
				return true; /* a CREDIT will come, and activates the peer */
			if (!spfi_peer_slot(peer))
				return false;
			peer->window -= cost;
		}
		if (!push_op(peer, op))
			return false;
		pushed(peer, op);
	}
	return true;
}

void spfi_peer_push(struct spfi_peer *peer)
{
	bool all = true;

	if (peer->state == PEER_DEAD) {
		peer->active = false;
		list_remove(&peer->link);
		return;
	}
	if (peer->consumed >= WIRE_WINDOW / 4)
		all = push_credit(peer);
	all = all && push_answers(peer) && push_requests(peer);
	spfi_peer_flush(peer);
	if (all && peer->active) {
		peer->active = false;
		list_remove(&peer->link);
	}
}

/* ------------------------------------------------------------------------------------------------
 * Receiving
 */

static void cts_arrived(struct spfi_peer *peer, const struct wire *wire)
{
	struct spfi_op *op = spfi_op_find(peer->ep, wire->id, peer);

	if (!op || op->kind != OP_SEND || op->wire.kind != WIRE_RTS ||
	    op->stage != STAGE_WAITING || wire->data > op->length) {
		spfi_peer_fail(peer, EPROTO, "it cleared a message that was not announced");
		return;
	}
	if (wire->data == 0) {
		op->wire.kind = WIRE_DATA;
		if (!(op->wire.flags & WIRE_WANT_ACK))
			spfi_tx_done(op, 0);
		return;
	}
	list_remove(&op->link);
	op->stage = STAGE_QUEUED;
	op->stream = true;
	op->length = wire->data;
	op->wire.kind = WIRE_DATA;
	op->wire.id = wire->offset;
	op->wire.offset = 0;
	list_append(&peer->answers, &op->link);
	spfi_peer_activate(peer);
}

static void data_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	struct spfi_op *op = spfi_op_find(peer->ep, wire->id, peer);
	bool reads = op && op->kind == OP_READ && op->stage == STAGE_WAITING;
	bool receives = op && op->kind == OP_RECV && op->stage == STAGE_MOVING && !op->multi;

	if ((!reads && !receives) || wire->offset != op->done ||
	    wire->length > op->length - op->done) {
		spfi_peer_fail(peer, EPROTO, "data that nobody waits for");
		return;
	}
	spfi_iov_write(op->iov, op->iov_count, op->done, payload, wire->length);
	op->done += wire->length;
	if (op->done < op->length)
		return;
	if (reads) {
		spfi_tx_done(op, 0);
		return;
	}
	if (op->wire.flags & WIRE_WANT_ACK)
		spfi_answer(peer, WIRE_ACK, op->wire.id, 0);
	spfi_rx_done(op, op->wire.total > op->length ? FI_ETRUNC : 0);
}

static void ack_arrived(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	struct spfi_op *op = spfi_op_find(peer->ep, wire->id, peer);
	bool ours = op && (op->kind == OP_SEND || op->kind == OP_WRITE || op->kind == OP_READ ||
			   op->kind == OP_ATOMIC);

	/* A write that is refused early is still being sent: its last packet is answered too. */
	if (!ours || op->stage != STAGE_WAITING ||
	    (op->kind == OP_READ && !wire->status && op->length)) {
		spfi_peer_fail(peer, EPROTO, "an acknowledgement that nobody waits for");
		return;
	}
	if (op->kind == OP_ATOMIC && !wire->status) {
		uint64_t room = spfi_iov_length(op->result, op->result_count);

		if (wire->length != room) {
			spfi_peer_fail(peer, EPROTO, "a result of the wrong size");
			return;
		}
		spfi_iov_write(op->result, op->result_count, 0, payload, wire->length);
	}
	spfi_tx_done(op, wire->status > 4095 ? FI_EIO : wire->status);
}

static void credit_arrived(struct spfi_peer *peer, const struct wire *wire)
{
	if (wire->data > WIRE_WINDOW - peer->window) {
		spfi_peer_fail(peer, EPROTO, "more credit than was spent");
		return;
	}
	peer->window += (uint32_t)wire->data;
	if (!list_empty(&peer->requests))
		spfi_peer_activate(peer);
}

/* Whether a packet is one that we understand and that is meant for this incarnation. */
static bool acceptable(struct spfi_peer *peer, const uint8_t *data, size_t length,
		       struct wire *wire)
{
	if (length < sizeof(*wire))
		return false;
	memcpy(wire, data, sizeof(*wire));
	if (wire->protocol != WIRE_PROTOCOL || wire->version != WIRE_VERSION || !wire->kind ||
	    wire->kind >= WIRE_KINDS || wire->source != peer->node || !wire->from ||
	    wire->length != length - sizeof(*wire) || wire->length > WIRE_SEGMENT)
		return false;
	if ((wire->kind == WIRE_MSG && wire->total != wire->length) ||
	    (wire->kind == WIRE_RTS && (wire->length || wire->total > SPFI_MAX_MSG)))
		return false;
	return true;
}

static void dispatch(struct spfi_peer *peer, const struct wire *wire, const uint8_t *payload)
{
	switch (wire->kind) {
	case WIRE_MSG:
	case WIRE_RTS:
		spfi_message_arrived(peer, wire, payload);
		break;
	case WIRE_CTS:
		cts_arrived(peer, wire);
		break;
	case WIRE_DATA:
		data_arrived(peer, wire, payload);
		break;
	case WIRE_ACK:
		ack_arrived(peer, wire, payload);
		break;
	case WIRE_CREDIT:
		credit_arrived(peer, wire);
		break;
	case WIRE_WRITE:
		spfi_write_arrived(peer, wire, payload);
		break;
	case WIRE_READ:
		spfi_read_arrived(peer, wire);
		break;
	case WIRE_ATOMIC:
		spfi_atomic_arrived(peer, wire, payload);
		break;
	default: /* RESET: that the peer is another process is all it says */
		break;
	}
}

static void packet_arrived(struct spfi_peer *peer, const uint8_t *data, size_t length)
{
	struct wire wire;

	if (!acceptable(peer, data, length, &wire)) {
		FI_WARN_SPARSE(&spfi_provider, FI_LOG_EP_DATA,
			       "node %u sent a packet of %zu bytes that is none of ours\n",
			       peer->node, length);
		return;
	}
	if (wire.from != peer->incarnation) {
		if (wire.from < peer->incarnation)
			return; /* from a process that is gone */
		spfi_peer_meet(peer, wire.from);
	}
	if (wire.to && wire.to != peer->ep->name.incarnation) {
		/* Meant for who was here before. The sender waits, perhaps, and has to know. */
		if (wire.kind != WIRE_RESET)
			spfi_answer(peer, WIRE_RESET, 0, 0);
		return;
	}
	if (peer->state == PEER_DEAD)
		return;
	peer->state = PEER_UP;
	dispatch(peer, &wire, data + sizeof(wire));
}

static void record_arrived(struct spfi_peer *peer, const struct spfe_packet *record)
{
	if (record->end == SPFE_EOP && !peer->part_bytes) {
		packet_arrived(peer, record->data, record->length);
		return;
	}
	if (record->end == SPFE_EEP || record->length > sizeof(struct wire) + WIRE_SEGMENT -
							peer->part_bytes) {
		peer->part_bytes = 0;
		spfi_peer_fail(peer, FI_EIO, record->end == SPFE_EEP
						     ? "the network cut a packet (EEP)"
						     : "a packet is too long");
		return;
	}
	if (!peer->part)
		peer->part = malloc(sizeof(struct wire) + WIRE_SEGMENT);
	if (!peer->part) {
		spfi_peer_fail(peer, FI_ENOMEM, "no memory for a packet in parts");
		return;
	}
	memcpy(peer->part + peer->part_bytes, record->data, record->length);
	peer->part_bytes += record->length;
	if (record->end == SPFE_EOP) {
		uint32_t bytes = peer->part_bytes;

		peer->part_bytes = 0;
		packet_arrived(peer, peer->part, bytes);
	}
}

bool spfi_take_in(struct spfi_peer *peer)
{
	int runs, result = 0;

	for (runs = 0; runs < 8; runs++) {
		struct spfe_packet record;
		struct spfe_run run;

		result = spfe_run_poll(peer->rx, &run);
		if (result <= 0)
			break;
		while (spfe_run_next(&run, &record))
			record_arrived(peer, &record);
		spfe_run_release(peer->rx);
		peer->heard = true;
	}
	if (result < 0) {
		peer->broken_rx = true;
		spfi_peer_fail(peer, (uint32_t)spfe_errno(result), spfe_error());
	}
	return runs > 0;
}

/* Asks the device about peers that something depends on and that have sent nothing for a while. The
 * answer comes from a daemon, perhaps, which may not get a processor while we poll. */
static void check_peers(struct spfi_ep *ep)
{
	uint64_t now = spfi_clock_ms();
	unsigned node;

	if (now - ep->checked_ms < CHECK_MS)
		return;
	ep->checked_ms = now;
	for (node = 0; node < ep->nodes; node++) {
		struct spfi_peer *peer = &ep->peers[node];

		if (!peer->heard &&
		    (peer->directed || !list_empty(&peer->requests) ||
		     !list_empty(&peer->answers) || !list_empty(&peer->waiting) ||
		     !list_empty(&peer->moving)))
			spfi_peer_check(peer);
		peer->heard = false;
	}
}

void spfi_progress(struct spfi_ep *ep)
{
	struct list *at, *next;
	bool busy = false;
	unsigned node;

	if (!ep->enabled)
		return;
	ep->calls++;
	for (node = 0; node < ep->nodes; node++) {
		struct spfi_peer *peer = &ep->peers[node];

		/* Nodes that never sent anything are asked less often. */
		if (!peer->broken_rx && (peer->state == PEER_UP || ep->calls % 16 == 0))
			busy |= spfi_take_in(peer);
	}
	for (at = ep->active.next; at != &ep->active; at = next) {
		next = at->next;
		spfi_peer_push(container_of(at, struct spfi_peer, link));
	}
	if (ep->calls % 256 == 0 || !list_empty(&ep->active))
		check_peers(ep);
	/* A program that polls while its peer waits for the same processor would wait for its own
	 * time slice to end. */
	ep->idle = busy ? 0 : ep->idle + 1;
	if (ep->idle % IDLE_CALLS == IDLE_CALLS - 1)
		sched_yield();
}
