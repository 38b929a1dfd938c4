/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The data path of pooled queues as inline functions over the mapped rings: no call into the library
 * for a packet. For gcc and clang, C11 or C++11 on.
 *
 * spfe_fast_tx() and spfe_fast_rx() give the address of a structure that the inline functions work on.
 * It belongs to the queue. One thread at a time may use a queue, through its handle or its structure;
 * nobody checks that here. Calls and inline functions can be mixed. After spfe_queue_close(), and in a
 * child after a fork, the inline functions fall back to the calls, which refuse the handle.
 *
 * Do not use the fields: they may be different in another version of the library. A program that was
 * built with another layout is refused (BAD_VERSION), and goes on with the calls.
 */
#ifndef SPFE_FAST_H
#define SPFE_FAST_H

#include "spfe/spfe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Pooled queues by inline functions: no call into the library for a packet
 */

#define SPFE_FAST_VERSION 1u /* of both layouts */

/* A pooled transmit queue. All fields are the library's. */
struct spfe_fast_tx {
	uint32_t version;
	uint32_t slot_bytes;
	spfe_queue *queue;
	uint8_t *pool;
	size_t stride;
	uint8_t *sq;
	uint8_t *cq;
	const uint32_t *need_doorbell;
	const uint8_t *fence_mode;
	uint64_t next_word;
	uint64_t first_word;
	uint64_t taken_bytes;
	uint32_t last;
	uint32_t next;
	uint32_t done;
	uint32_t done_phase;
	uint32_t first;
	uint32_t free;
	uint32_t posted;
	uint32_t staged;
	uint32_t freed;
	uint32_t taken;
};

/* A pooled receive queue. All fields are the library's. */
struct spfe_fast_rx {
	uint32_t version;
	uint32_t slot_bytes;
	spfe_queue *queue;
	uint8_t *pool;
	size_t stride;
	uint8_t *sq;
	uint8_t *cq;
	const uint32_t *need_doorbell;
	uint64_t buffer;
	uint64_t taken_bytes;
	uint32_t mask;
	uint32_t next;
	uint32_t phase;
	uint32_t offered;
};

/*
 * The fast path of a pooled queue; the same address at every call. version is SPFE_FAST_VERSION.
 * BAD_VERSION if the library has another layout, BAD_OPCODE for another kind of queue.
 */
int spfe_fast_tx(spfe_queue *tx, uint32_t version, struct spfe_fast_tx **fast);
int spfe_fast_rx(spfe_queue *rx, uint32_t version, struct spfe_fast_rx **fast);

/* Makes packets move that inline functions have posted; they call it where they have to. */
int spfe_fast_start(spfe_queue *tx);

/* Offers slots to a stalled sender that inline functions have released; they call it now and then. */
int spfe_fast_pause(spfe_queue *rx);

/* For the inline functions: entries of a ring have 16 bytes, and a phase in the upper word. */
#define SPFE_FAST_SLOT 16u
#define SPFE_FAST_SIGNAL ((uint64_t)(SPFE_SUBMIT_FLAGS_SIGNAL | SPFE_SUBMIT_FLAGS_LAST) << 32)
#define SPFE_FAST_LAP (UINT32_C(1) << 16)

static inline uint64_t *spfe_fast_word_(uint8_t *ring, uint32_t offset, uint32_t number)
{
	return (uint64_t *)(void *)(ring + offset) + number;
}

/* Moves a position to the next entry. */
static inline void spfe_fast_advance_(uint32_t *offset, uint32_t *phase, uint32_t last)
{
	*offset += SPFE_FAST_SLOT;
	if (__builtin_expect(*offset > last, 0)) {
		*offset = 0;
		*phase += SPFE_FAST_LAP;
	}
}

/* As spfe_slot(): the next free slot, or NULL while all are busy. Its size is that of the options. */
static inline uint8_t *spfe_fast_slot(struct spfe_fast_tx *tx)
{
	if (__builtin_expect(tx->free == 0, 0))
		return NULL;
	return tx->pool + tx->stride * (tx->next / SPFE_FAST_SLOT);
}

/* Moves to the next slot. */
static inline void spfe_fast_filled_(struct spfe_fast_tx *tx, uint32_t next)
{
	next += SPFE_FAST_SLOT;
	if (__builtin_expect(next > tx->last, 0)) {
		next = 0;
		tx->next_word += (uint64_t)SPFE_FAST_LAP << 32;
	}
	tx->next = next;
}

/* As spfe_slot_stage(). */
static inline int spfe_fast_stage(struct spfe_fast_tx *tx, uint32_t length)
{
	uint32_t next = tx->next, staged = tx->staged, free = tx->free;
	uint64_t word = tx->next_word | length;

	if (__builtin_expect(length - 1 >= tx->slot_bytes || free == 0, 0))
		return spfe_slot_stage(tx->queue, length);
	tx->staged = staged + 1;
	tx->free = free - 1;
	if (staged == 0) {
		/* Stored last: its phase makes the whole group visible. */
		tx->first = next;
		tx->first_word = word;
	} else {
		/* Release: pairs with the acquire of the device that sees the phase. */
		__atomic_store_n(spfe_fast_word_(tx->sq, next, 1), word, __ATOMIC_RELEASE);
	}
	spfe_fast_filled_(tx, next);
	return 0;
}

/* Starts what was posted: with a call, unless the device is awake. */
static inline int spfe_fast_go_(struct spfe_fast_tx *tx)
{
	if (tx->need_doorbell) {
		/* Pairs with the heavy fence of the device before it sleeps. */
		if (__atomic_load_n(tx->fence_mode, __ATOMIC_RELAXED) == 1)
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		else
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__builtin_expect(!__atomic_load_n(tx->need_doorbell, __ATOMIC_ACQUIRE), 1))
			return 0;
	}
	return spfe_fast_start(tx->queue);
}

/* As spfe_slot_submit(). */
static inline int spfe_fast_submit(struct spfe_fast_tx *tx)
{
	uint64_t word = tx->first_word, *last;

	if (tx->staged == 0)
		return tx->free ? 0 : spfe_slot_submit(tx->queue);
	if (tx->staged == 1) {
		word |= SPFE_FAST_SIGNAL;
	} else {
		last = spfe_fast_word_(tx->sq, (tx->next - SPFE_FAST_SLOT) & tx->last, 1);
		__atomic_store_n(last, __atomic_load_n(last, __ATOMIC_RELAXED) | SPFE_FAST_SIGNAL,
				 __ATOMIC_RELEASE);
	}
	__atomic_store_n(spfe_fast_word_(tx->sq, tx->first, 1), word, __ATOMIC_RELEASE);
	tx->posted += tx->staged;
	tx->staged = 0;
	return spfe_fast_go_(tx);
}

/* As spfe_slot_send(). */
static inline int spfe_fast_send(struct spfe_fast_tx *tx, uint32_t length)
{
	uint32_t next = tx->next;
	uint64_t word = tx->next_word | length | SPFE_FAST_SIGNAL;

	if (__builtin_expect(length - 1 >= tx->slot_bytes || tx->free == 0 || tx->staged, 0))
		return spfe_slot_send(tx->queue, length);
	tx->posted++;
	tx->free--;
	__atomic_store_n(spfe_fast_word_(tx->sq, next, 1), word, __ATOMIC_RELEASE);
	spfe_fast_filled_(tx, next);
	return spfe_fast_go_(tx);
}

/* The calls, with a place of their own: so the compiler can keep the caller's in registers. */
static inline int spfe_fast_sent_(struct spfe_fast_tx *tx, struct spfe_sent *sent)
{
	struct spfe_sent other;
	int result = spfe_sent_poll(tx->queue, &other);

	if (result == 1)
		*sent = other;
	return result;
}

static inline int spfe_fast_peek_(struct spfe_fast_rx *rx, struct spfe_packet *packet)
{
	struct spfe_packet other;
	int result = spfe_slot_peek(rx->queue, &other);

	if (result == 1)
		*packet = other;
	return result;
}

/* As spfe_sent_poll(). */
static inline int spfe_fast_sent(struct spfe_fast_tx *tx, struct spfe_sent *sent)
{
	/* Acquire: pairs with the release of the device. The first word is loaded after it. */
	uint64_t word0, word1 = __atomic_load_n(spfe_fast_word_(tx->cq, tx->done, 1),
						__ATOMIC_ACQUIRE);
	uint32_t count, upper = (uint32_t)(word1 >> 32);

	if (__builtin_expect(upper != tx->done_phase, 0)) {
		if (tx->need_doorbell && (upper ^ tx->done_phase) >= SPFE_FAST_LAP)
			return 0;
		return spfe_fast_sent_(tx, sent);
	}
	word0 = __atomic_load_n(spfe_fast_word_(tx->cq, tx->done, 0), __ATOMIC_RELAXED);
	count = (uint16_t)(word1 - tx->freed + 1);
	/* Only a broken device frees what was not posted; the call says so. */
	if (__builtin_expect(count - 1 >= tx->posted, 0))
		return spfe_fast_sent_(tx, sent);
	spfe_fast_advance_(&tx->done, &tx->done_phase, tx->last);
	tx->freed = (uint16_t)(word1 + 1);
	tx->posted -= count;
	tx->free += count;
	tx->taken++;
	tx->taken_bytes += (uint32_t)word0;
	sent->status = -(int32_t)(word0 >> SPFE_COMPLETION_STATUS_SHIFT);
	sent->packets = (uint16_t)(word0 >> SPFE_COMPLETION_PACKETS_SHIFT);
	sent->bytes = (uint32_t)word0;
	sent->stamped = 0;
	sent->time_ns = 0;
	return 1;
}

/* As spfe_slot_peek(). */
static inline int spfe_fast_peek(struct spfe_fast_rx *rx, struct spfe_packet *packet)
{
	uint64_t word0, word1 = __atomic_load_n(spfe_fast_word_(rx->cq, rx->next, 1),
						__ATOMIC_ACQUIRE);
	uint32_t upper = (uint32_t)(word1 >> 32);

	if (__builtin_expect(upper != rx->phase, 0)) {
		/* Released slots are offered once. */
		if (rx->need_doorbell && (upper ^ rx->phase) >= SPFE_FAST_LAP &&
		    rx->offered == rx->next)
			return 0;
		rx->offered = rx->next;
		return spfe_fast_peek_(rx, packet);
	}
	word0 = __atomic_load_n(spfe_fast_word_(rx->cq, rx->next, 0), __ATOMIC_RELAXED);
	packet->data = rx->pool + rx->stride * (rx->next / SPFE_FAST_SLOT);
	/* Only a broken device writes a greater length. */
	packet->length = (uint32_t)word0 < rx->slot_bytes ? (uint32_t)word0 : rx->slot_bytes;
	packet->end = SPFE_EOP;
	packet->status = -(int32_t)(word0 >> SPFE_COMPLETION_STATUS_SHIFT);
	packet->reserved = 0;
	return 1;
}

/* As spfe_slot_release(), for a packet that spfe_fast_peek() has returned, and only once. */
static inline int spfe_fast_release(struct spfe_fast_rx *rx, const struct spfe_packet *packet)
{
	uint32_t at = rx->next, next = at + SPFE_FAST_SLOT;

	rx->taken_bytes += packet->length;
	rx->next = next;
	/* Release: the device writes the slot only after our reads. */
	__atomic_store_n(spfe_fast_word_(rx->sq, at, 1), rx->buffer, __ATOMIC_RELEASE);
	/* A lap ends with a pause. */
	return __builtin_expect((next & rx->mask) == 0, 0) ? spfe_fast_pause(rx->queue) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
