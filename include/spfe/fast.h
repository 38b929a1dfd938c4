/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The data path of pooled, posted and packed queues as inline functions over the mapped rings: no
 * call into the library for a packet. For gcc and clang, C11 or C++11 on.
 *
 * spfe_fast_tx(), spfe_fast_rx(), spfe_fast_posted() and spfe_fast_packed() give the address of a
 * structure that the inline functions work on. It belongs to the queue. One thread at a time may
 * use a queue, through its handle or its structure; nobody checks that here. Other calls of the
 * queue, such as waits, can be mixed with inline functions; calls for packets can on pooled and
 * on transmit queues. After spfe_queue_close(), and in a child after a fork, the inline functions
 * fall back to calls, which refuse the handle.
 *
 * Do not use the fields: they may be different in another version of the library. A program that
 * was built with another layout is refused (BAD_VERSION), and goes on with the calls.
 */
#ifndef SPFE_FAST_H
#define SPFE_FAST_H

#include "spfe/spfe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Inline functions: no call into the library for a packet
 */

#define SPFE_FAST_VERSION 2u /* of all layouts */

/* A transmit queue, pooled or posted. All fields are the library's. */
struct spfe_fast_tx {
	uint32_t version;
	uint32_t slot_bytes; /* 0 for a posted queue */
	uint32_t entry_bytes; /* 0 for a pooled queue */
	uint32_t slots;
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
	uint32_t staged;
	uint32_t freed;
	uint32_t taken;
	uint32_t reserved;
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
	const uint8_t *fence_mode;
	uint64_t buffer;
	uint64_t taken_bytes;
	uint32_t last;
	uint32_t mask;
	uint32_t next;
	uint32_t phase;
	uint32_t laps;
	uint32_t offered;
};

/* A buffer that is posted. */
struct spfe_fast_buffer {
	uint64_t id;
	uint64_t capacity;
};

/* A posted receive queue. All fields are the library's. */
struct spfe_fast_posted {
	uint32_t version;
	uint32_t slots;
	spfe_queue *queue;
	struct spfe_fast_buffer *buffers;
	uint8_t *sq;
	uint8_t *cq;
	const uint32_t *need_doorbell;
	const uint8_t *fence_mode;
	uint64_t next_word;
	uint64_t taken_bytes;
	uint32_t last;
	uint32_t mask;
	uint32_t next;
	uint32_t done;
	uint32_t done_phase;
	uint32_t free;
	uint32_t freed;
	uint32_t taken;
	uint32_t offered;
	uint32_t reserved;
};

/* A packed receive queue. All fields are the library's. */
struct spfe_fast_packed {
	uint32_t version;
	uint32_t size;
	spfe_queue *queue;
	const uint8_t *area;
	uint8_t *cq;
	const uint32_t *need_doorbell;
	uint64_t taken_bytes;
	uint32_t last;
	uint32_t next;
	uint32_t phase;
	uint32_t tail;
	uint32_t owed_bytes;
	uint32_t owed_runs;
	uint32_t many_bytes;
	uint32_t many_runs;
	uint32_t taken;
	uint32_t reserved;
};

/* A region of which inline functions post pieces: the byte data[n] has the address address + n. */
struct spfe_fast_region {
	uint8_t *data;
	uint64_t address;
	size_t bytes;
};

/*
 * The fast path of a transmit queue; the same address at every call. version is SPFE_FAST_VERSION.
 * BAD_VERSION if the library has another layout, BAD_OPCODE for another kind of queue.
 */
int spfe_fast_tx(spfe_queue *tx, uint32_t version, struct spfe_fast_tx **fast);

/* The fast path of a pooled receive queue; arguments and errors are those of spfe_fast_tx(). */
int spfe_fast_rx(spfe_queue *rx, uint32_t version, struct spfe_fast_rx **fast);

/*
 * The same for a receive queue with posted buffers, of which none may be posted: BUSY. From then
 * on its packets come from spfe_fast_receive(), and spfe_rx_post() and spfe_rx_poll() refuse it.
 */
int spfe_fast_posted(spfe_queue *rx, uint32_t version, struct spfe_fast_posted **fast);

/*
 * The fast path of a packed receive queue. From then on its packets come from spfe_fast_run(), and
 * spfe_run_poll() refuses it. BUSY while the program holds a run.
 */
int spfe_fast_packed(spfe_queue *rx, uint32_t version, struct spfe_fast_packed **fast);

/*
 * Lets the inline functions of a posted queue use a region, which then stays until the queue is
 * closed. The queue does not know the pieces: do not touch what is posted before its completion,
 * and post no byte twice. The device checks that every piece lies in the region. BAD_REGION if
 * the region belongs to another device.
 */
int spfe_fast_region(spfe_queue *queue, spfe_region *region, struct spfe_fast_region *of);

/* Makes packets move that inline functions have posted; they call it where they have to. */
int spfe_fast_start(spfe_queue *tx);

/* Offers to a stalled sender what inline functions have released or posted; they call it. */
int spfe_fast_pause(spfe_queue *rx);

/* Why a posted queue takes no entry of so many bytes; inline functions call it. */
int spfe_fast_refused(spfe_queue *queue, uint32_t bytes);

/* A packet for spfe_fast_receive(). id and length are those of the posted buffer. */
struct spfe_fast_packet {
	uint64_t id;
	uint32_t length; /* bytes received */
	uint32_t end;    /* enum spfe_end */
	int32_t status;  /* 0; -SPFE_STATUS_PACKET_CUT with EEP; or why the buffer was not used */
	uint32_t reserved;
};

/*
 * What spfe_fast_receive() and spfe_fast_run() do for entries that are not plain; they call them.
 */
int spfe_fast_take(spfe_queue *rx, struct spfe_fast_packet *packet);
int spfe_fast_take_run(spfe_queue *rx, struct spfe_run *run);

/* For the inline functions: entries of a ring have 16 bytes, and a phase in the upper word. */
#define SPFE_FAST_SLOT 16u
#define SPFE_FAST_SIGNAL ((uint64_t)(SPFE_SUBMIT_FLAGS_SIGNAL | SPFE_SUBMIT_FLAGS_LAST) << 32)
#define SPFE_FAST_LAP (UINT32_C(1) << 16)

static inline uint64_t *spfe_fast_word_(uint8_t *ring, uint32_t offset, uint32_t number)
{
	return (uint64_t *)(void *)(ring + offset) + number;
}

/* The place of the buffer at an offset of the rings. */
static inline struct spfe_fast_buffer *spfe_fast_buffer_(const struct spfe_fast_posted *rx,
							 uint32_t offset)
{
	return (struct spfe_fast_buffer *)(void *)((uint8_t *)rx->buffers + offset);
}

/* Whether the device moves packets by itself and is awake: then it needs no call. */
static inline int spfe_fast_awake_(const uint32_t *need_doorbell, const uint8_t *fence_mode)
{
	if (!need_doorbell)
		return 0;
	/* Pairs with the heavy fence of the device before it sleeps. */
	if (__builtin_expect(__atomic_load_n(fence_mode, __ATOMIC_RELAXED) == 1, 1))
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __builtin_expect(!__atomic_load_n(need_doorbell, __ATOMIC_ACQUIRE), 1);
}

/* ------------------------------------------------------------------------------------------------
 * Transmit queues
 */

/*
 * As spfe_slot(): the next free slot, or NULL while all are busy. Its size is that of the
 * options.
 */
static inline uint8_t *spfe_fast_slot(struct spfe_fast_tx *tx)
{
	if (__builtin_expect(tx->free == 0, 0))
		return NULL;
	return tx->pool + tx->stride * (tx->next / SPFE_FAST_SLOT);
}

/* Number of packets that can be staged or sent now. */
static inline uint32_t spfe_fast_free(const struct spfe_fast_tx *tx)
{
	return tx->free;
}

/* Moves to the next entry. */
static inline void spfe_fast_filled_(struct spfe_fast_tx *tx, uint32_t next)
{
	next += SPFE_FAST_SLOT;
	if (__builtin_expect(next > tx->last, 0)) {
		next = 0;
		tx->next_word += (uint64_t)SPFE_FAST_LAP << 32;
	}
	tx->next = next;
}

/* Adds the next entry, whose first word is there, to the group. */
static inline int spfe_fast_add_(struct spfe_fast_tx *tx, uint32_t next, uint32_t length)
{
	uint32_t staged = tx->staged;
	uint64_t word = tx->next_word | length;

	tx->staged = staged + 1;
	tx->free--;
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

/* As spfe_slot_stage(). */
static inline int spfe_fast_stage(struct spfe_fast_tx *tx, uint32_t length)
{
	if (__builtin_expect(length - 1 >= tx->slot_bytes || tx->free == 0, 0))
		return spfe_slot_stage(tx->queue, length);
	return spfe_fast_add_(tx, tx->next, length);
}

/*
 * Adds length bytes at an address of a region (spfe_fast_region()) to the group as a packet. For
 * posted queues. EMPTY, TOO_LONG, BUSY. A call of the queue submits what is staged.
 */
static inline int spfe_fast_stage_from(struct spfe_fast_tx *tx, uint64_t address, uint32_t length)
{
	uint32_t next = tx->next;

	if (__builtin_expect(length - 1 >= tx->entry_bytes || tx->free == 0, 0))
		return spfe_fast_refused(tx->queue, length);
	__atomic_store_n(spfe_fast_word_(tx->sq, next, 0), address, __ATOMIC_RELAXED);
	return spfe_fast_add_(tx, next, length);
}

/* Starts what was posted: with a call, unless the device is awake. */
static inline int spfe_fast_go_(struct spfe_fast_tx *tx)
{
	if (spfe_fast_awake_(tx->need_doorbell, tx->fence_mode))
		return 0;
	return spfe_fast_start(tx->queue);
}

/* As spfe_slot_submit(): sends the group, with one completion. */
static inline int spfe_fast_submit(struct spfe_fast_tx *tx)
{
	uint64_t word = tx->first_word, *last;

	if (tx->staged == 0)
		return tx->free ? 0 : spfe_fast_start(tx->queue);
	if (tx->staged == 1) {
		word |= SPFE_FAST_SIGNAL;
	} else {
		last = spfe_fast_word_(tx->sq, (tx->next - SPFE_FAST_SLOT) & tx->last, 1);
		__atomic_store_n(last, __atomic_load_n(last, __ATOMIC_RELAXED) | SPFE_FAST_SIGNAL,
				 __ATOMIC_RELEASE);
	}
	__atomic_store_n(spfe_fast_word_(tx->sq, tx->first, 1), word, __ATOMIC_RELEASE);
	tx->staged = 0;
	return spfe_fast_go_(tx);
}

/* Sends the next entry, whose first word is there, alone. */
static inline int spfe_fast_post_one_(struct spfe_fast_tx *tx, uint32_t next, uint32_t length)
{
	uint64_t word = tx->next_word | length | SPFE_FAST_SIGNAL;

	tx->free--;
	__atomic_store_n(spfe_fast_word_(tx->sq, next, 1), word, __ATOMIC_RELEASE);
	spfe_fast_filled_(tx, next);
	return spfe_fast_go_(tx);
}

/* As spfe_slot_send(). */
static inline int spfe_fast_send(struct spfe_fast_tx *tx, uint32_t length)
{
	if (__builtin_expect(length - 1 >= tx->slot_bytes || tx->free == 0 || tx->staged, 0))
		return spfe_slot_send(tx->queue, length);
	return spfe_fast_post_one_(tx, tx->next, length);
}

/* Sends length bytes at an address of a region as a packet, together with staged ones. */
static inline int spfe_fast_send_from(struct spfe_fast_tx *tx, uint64_t address, uint32_t length)
{
	uint32_t next = tx->next;
	int result;

	if (__builtin_expect(length - 1 >= tx->entry_bytes || tx->free == 0 || tx->staged, 0)) {
		result = spfe_fast_stage_from(tx, address, length);
		return result < 0 ? result : spfe_fast_submit(tx);
	}
	__atomic_store_n(spfe_fast_word_(tx->sq, next, 0), address, __ATOMIC_RELAXED);
	return spfe_fast_post_one_(tx, next, length);
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

/* As spfe_sent_poll(). */
static inline int spfe_fast_sent(struct spfe_fast_tx *tx, struct spfe_sent *sent)
{
	/* Loaded before the acquire, after which the compiler would load them again. */
	uint32_t done = tx->done, phase = tx->done_phase, left = tx->slots - tx->free;
	uint64_t *entry = spfe_fast_word_(tx->cq, done, 0);
	uint32_t freed = tx->freed, count, upper;
	uint64_t word0, word1;

	/* Acquire: pairs with the release of the device. The first word is loaded after it. */
	word1 = __atomic_load_n(entry + 1, __ATOMIC_ACQUIRE);
	upper = (uint32_t)(word1 >> 32);
	if (__builtin_expect(upper != phase, 0)) {
		if (tx->need_doorbell && (upper ^ phase) >= SPFE_FAST_LAP)
			return 0;
		return spfe_fast_sent_(tx, sent);
	}
	word0 = __atomic_load_n(entry, __ATOMIC_RELAXED);
	count = (uint16_t)(word1 - freed + 1);
	/* Only a broken device frees what was not posted; the call says so. */
	if (__builtin_expect(count - 1 >= left - tx->staged, 0))
		return spfe_fast_sent_(tx, sent);
	done += SPFE_FAST_SLOT;
	if (__builtin_expect(done > tx->last, 0)) {
		done = 0;
		tx->done_phase = phase + SPFE_FAST_LAP;
	}
	tx->done = done;
	tx->freed = freed + count;
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

/* ------------------------------------------------------------------------------------------------
 * Pooled receive queues
 */

static inline int spfe_fast_peek_(struct spfe_fast_rx *rx, struct spfe_packet *packet)
{
	struct spfe_packet other;
	int result = spfe_slot_peek(rx->queue, &other);

	if (result == 1)
		*packet = other;
	return result;
}

/* For an entry that is not plain. Released slots are offered once. */
static inline int spfe_fast_peek_other_(struct spfe_fast_rx *rx, struct spfe_packet *packet,
					uint32_t other)
{
	if (rx->need_doorbell && other >= SPFE_FAST_LAP) {
		if (rx->offered == rx->next)
			return 0;
		rx->offered = rx->next;
		if (spfe_fast_awake_(rx->need_doorbell, rx->fence_mode))
			return 0;
	}
	return spfe_fast_peek_(rx, packet);
}

/* As spfe_slot_peek(). */
static inline int spfe_fast_peek(struct spfe_fast_rx *rx, struct spfe_packet *packet)
{
	/* Loaded before the acquire, after which the compiler would load them again. */
	uint32_t next = rx->next, phase = rx->phase, most = rx->slot_bytes;
	uint64_t *entry = spfe_fast_word_(rx->cq, next, 0);
	uint64_t word0, word1 = __atomic_load_n(entry + 1, __ATOMIC_ACQUIRE);
	uint32_t upper = (uint32_t)(word1 >> 32);

	if (__builtin_expect(upper != phase, 0))
		return spfe_fast_peek_other_(rx, packet, upper ^ phase);
	word0 = __atomic_load_n(entry, __ATOMIC_RELAXED);
	packet->data = rx->pool + rx->stride * (next / SPFE_FAST_SLOT);
	/* Only a broken device writes a greater length. */
	packet->length = (uint32_t)word0 < most ? (uint32_t)word0 : most;
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
	if (__builtin_expect(next & rx->mask, 1))
		return 0;
	/* A lap ends with a pause. */
	if (next > rx->last) {
		rx->next = 0;
		rx->phase += SPFE_FAST_LAP;
		rx->laps++;
		rx->buffer += (uint64_t)SPFE_FAST_LAP << 32;
	}
	if (spfe_fast_awake_(rx->need_doorbell, rx->fence_mode))
		return 0;
	return spfe_fast_pause(rx->queue);
}

/* ------------------------------------------------------------------------------------------------
 * Posted receive queues
 */

/*
 * Posts capacity bytes at an address of a region (spfe_fast_region()) to receive into. id comes
 * back with the packet. BUSY if the queue is full; EMPTY, TOO_LONG.
 */
static inline int spfe_fast_post(struct spfe_fast_posted *rx, uint64_t address, uint32_t capacity,
				 uint64_t id)
{
	uint32_t at = rx->next, next = at + SPFE_FAST_SLOT;
	uint64_t *entry = spfe_fast_word_(rx->sq, at, 0), word = rx->next_word | capacity;
	struct spfe_fast_buffer *buffer;

	if (__builtin_expect(rx->free == 0 || capacity - 1 >= SPFE_PACKET_MAX_BYTES, 0))
		return spfe_fast_refused(rx->queue, capacity);
	buffer = spfe_fast_buffer_(rx, at);
	buffer->id = id;
	buffer->capacity = capacity;
	rx->free--;
	rx->next = next;
	__atomic_store_n(entry, address, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire of the device that sees the phase. */
	__atomic_store_n(entry + 1, word, __ATOMIC_RELEASE);
	if (__builtin_expect(next & rx->mask, 1))
		return 0;
	if (next > rx->last) {
		rx->next = 0;
		rx->next_word += (uint64_t)SPFE_FAST_LAP << 32;
	}
	if (spfe_fast_awake_(rx->need_doorbell, rx->fence_mode))
		return 0;
	return spfe_fast_pause(rx->queue);
}

static inline int spfe_fast_take_(struct spfe_fast_posted *rx, struct spfe_fast_packet *packet)
{
	struct spfe_fast_packet other;
	int result = spfe_fast_take(rx->queue, &other);

	if (result == 1)
		*packet = other;
	return result;
}

/* For an entry that is not plain. Posted buffers are offered once. */
static inline int spfe_fast_take_other_(struct spfe_fast_posted *rx,
					struct spfe_fast_packet *packet, uint32_t other)
{
	if (rx->need_doorbell && other >= SPFE_FAST_LAP) {
		if (rx->offered == rx->next)
			return 0;
		rx->offered = rx->next;
		if (spfe_fast_awake_(rx->need_doorbell, rx->fence_mode))
			return 0;
	}
	return spfe_fast_take_(rx, packet);
}

/* Takes the next packet or part of one. Returns 1, or 0 if there is none. */
__attribute__((always_inline)) static inline int
spfe_fast_receive(struct spfe_fast_posted *rx, struct spfe_fast_packet *packet)
{
	/* Loaded before the acquire, after which the compiler would load them again. */
	uint32_t at = rx->done, phase = rx->done_phase, freed = rx->freed;
	uint64_t *entry = spfe_fast_word_(rx->cq, at, 0);
	struct spfe_fast_buffer *buffer;
	uint64_t word0, word1 = __atomic_load_n(entry + 1, __ATOMIC_ACQUIRE);
	uint32_t upper = (uint32_t)(word1 >> 32);

	if (__builtin_expect(upper != phase, 0))
		return spfe_fast_take_other_(rx, packet, upper ^ phase);
	/* Only a broken device completes another buffer than the oldest; the call says so. */
	if (__builtin_expect((uint16_t)(word1 - freed) != 0 || rx->free == rx->slots, 0))
		return spfe_fast_take_(rx, packet);
	word0 = __atomic_load_n(entry, __ATOMIC_RELAXED);
	buffer = spfe_fast_buffer_(rx, at);
	packet->id = buffer->id;
	/* Only a broken device writes a greater length. */
	packet->length = (uint32_t)word0 < (uint32_t)buffer->capacity ? (uint32_t)word0
								      : (uint32_t)buffer->capacity;
	packet->end = SPFE_EOP;
	packet->status = -(int32_t)(word0 >> SPFE_COMPLETION_STATUS_SHIFT);
	packet->reserved = 0;
	at += SPFE_FAST_SLOT;
	if (__builtin_expect(at > rx->last, 0)) {
		at = 0;
		rx->done_phase = phase + SPFE_FAST_LAP;
	}
	rx->done = at;
	rx->freed = freed + 1;
	rx->free++;
	rx->taken++;
	rx->taken_bytes += (uint32_t)word0;
	return 1;
}

/* ------------------------------------------------------------------------------------------------
 * Packed receive queues
 */

static inline int spfe_fast_run_(struct spfe_fast_packed *rx, struct spfe_run *run)
{
	struct spfe_run other;
	int result = spfe_fast_take_run(rx->queue, &other);

	if (result == 1)
		*run = other;
	return result;
}

/*
 * Takes the next run; spfe_run_next() reads its packets. Returns 1, or 0 if there is none. Its
 * bytes stay until spfe_fast_run_done(), or until the next call of this function or of the queue.
 */
static inline int spfe_fast_run(struct spfe_fast_packed *rx, struct spfe_run *run)
{
	uint32_t next = rx->next, phase = rx->phase, tail = rx->tail, bytes, upper;
	uint64_t *entry = spfe_fast_word_(rx->cq, next, 0);
	uint64_t word0, word1 = __atomic_load_n(entry + 1, __ATOMIC_ACQUIRE);

	upper = (uint32_t)(word1 >> 32);
	if (__builtin_expect(upper != phase, 0)) {
		if (rx->need_doorbell && (upper ^ phase) >= SPFE_FAST_LAP && rx->owed_runs == 0)
			return 0;
		return spfe_fast_run_(rx, run);
	}
	word0 = __atomic_load_n(entry, __ATOMIC_RELAXED);
	bytes = (uint32_t)word0;
	/* Only a broken device writes a run that is not in the area; the call says so. */
	if (__builtin_expect(bytes > rx->size - tail, 0))
		return spfe_fast_run_(rx, run);
	next += SPFE_FAST_SLOT;
	if (__builtin_expect(next > rx->last, 0)) {
		next = 0;
		rx->phase = phase + SPFE_FAST_LAP;
	}
	rx->next = next;
	rx->tail = tail + bytes;
	rx->owed_bytes += bytes;
	rx->owed_runs++;
	rx->taken++;
	rx->taken_bytes += bytes;
	run->data = rx->area + tail;
	run->bytes = bytes;
	run->packets = (uint16_t)(word0 >> SPFE_COMPLETION_PACKETS_SHIFT);
	run->stamped = 0;
	run->reserved = 0;
	run->time_ns = 0;
	return 1;
}

/* Returns the bytes of the run; the device gets those of many runs at once. */
static inline int spfe_fast_run_done(struct spfe_fast_packed *rx)
{
	if (__builtin_expect(rx->owed_runs < rx->many_runs && rx->owed_bytes < rx->many_bytes, 1))
		return 0;
	return spfe_fast_pause(rx->queue);
}

#ifdef __cplusplus
}
#endif

#endif
