/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: a queue that the kernel uses: rings and lines as the contract defines them, with a buffer
 * for each entry. Only one CPU uses a ring at a time. Both sides put a full fence between their
 * store and the load of the other side's flag.
 */
#ifndef SPFE_RING_H
#define SPFE_RING_H

#include "spfe_core.h"

struct spfe_ring {
	struct spfe_device *spfe;
	u32 queue;		/* number of the queue context */
	u32 log2;		/* log2 of the number of entries of each ring */
	u32 slot_bytes;		/* size of a buffer: a power of two */
	u32 posted;		/* free-running position of the next submission */
	u32 freed;
	u32 seen;		/* free-running position of the next completion */
	u32 arm;
	u32 wake_count;		/* completions that raise an interrupt; 0 is 1 */
	u32 wake_us;		/* or the time since the first of them; 0: no limit */
	bool broken;		/* the device has violated the contract */
	struct spfe_submission *sq;
	struct spfe_completion *cq;
	struct spfe_host_line *host;
	struct spfe_device_line *device;
	u64 pool;		/* {key, offset} of the first buffer, as in ring entries */
	void **slots;
};

/*
 * Stores and loads a word of a ring entry. A 32-bit CPU needs two accesses. The upper half of word
 * 1 holds the phase, so it is stored last and loaded first: whoever sees the phase sees the rest.
 */
static inline void spfe_entry_store(__le64 *word, u64 value)
{
#ifdef CONFIG_64BIT
	WRITE_ONCE(*word, cpu_to_le64(value));
#else
	__le32 *half = (__force __le32 *)word;

	WRITE_ONCE(half[0], cpu_to_le32(lower_32_bits(value)));
	dma_wmb();
	WRITE_ONCE(half[1], cpu_to_le32(upper_32_bits(value)));
#endif
}

static inline u64 spfe_entry_load(const __le64 *word)
{
#ifdef CONFIG_64BIT
	return le64_to_cpu(READ_ONCE(*word));
#else
	const __le32 *half = (const __force __le32 *)word;
	u64 upper = le32_to_cpu(READ_ONCE(half[1]));

	dma_rmb();
	return upper << 32 | le32_to_cpu(READ_ONCE(half[0]));
#endif
}

/* A completion that has been checked against the ring. */
struct spfe_done {
	u32 first;	/* position of the first entry it frees */
	u32 entries;	/* number of entries it frees */
	u32 bytes;
	u32 status;
	u32 flags;
};

/* Number of entries that can be posted now. */
static inline u32 spfe_ring_room(const struct spfe_ring *ring)
{
	return BIT(ring->log2) - (ring->posted - ring->freed);
}

/* The buffer of an entry. */
static inline void *spfe_ring_slot(const struct spfe_ring *ring, u32 position)
{
	return ring->slots[position & (BIT(ring->log2) - 1)];
}

int spfe_ring_create(struct spfe_client *client, struct spfe_ring *ring, u32 port, u32 vc, u32 kind,
		     struct spfe_signal *event);
void spfe_ring_free(struct spfe_ring *ring);
u64 spfe_ring_address(const struct spfe_ring *ring, u32 position);
void spfe_ring_put(struct spfe_ring *ring, u32 position, u64 address, u32 flags, u32 bytes);
void spfe_ring_post(struct spfe_ring *ring, u32 flags, u32 bytes);
bool spfe_ring_has_news(const struct spfe_ring *ring);
void spfe_ring_notify(struct spfe_ring *ring);
bool spfe_ring_take(struct spfe_ring *ring, struct spfe_done *done);
bool spfe_ring_arm(struct spfe_ring *ring);

#endif
