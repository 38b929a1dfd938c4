/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: one queue of a client in the kernel: rings and lines by the rules of the contract, with a
 * buffer for each entry. A ring has one user at a time. Across a bus both sides use full barriers
 * between their store and the load of the other's flag.
 */
#ifndef SPFE_RING_H
#define SPFE_RING_H

#include "spfe_core.h"

struct spfe_ring {
	struct spfe_device *spfe;
	u32 queue;		/* context */
	u32 log2;		/* of the entries of both rings */
	u32 slot_bytes;		/* of a buffer: a power of two */
	u32 posted;		/* positions run freely */
	u32 freed;
	u32 seen;		/* completions */
	u32 arm;
	bool broken;		/* the device does not keep the contract */
	struct spfe_submission *sq;
	struct spfe_completion *cq;
	struct spfe_host_line *host;
	struct spfe_device_line *device;
	u64 pool;		/* address of the first buffer, as entries name it */
	void **slots;
};

/* A completion that was checked. */
struct spfe_done {
	u32 first;	/* position of the first entry it frees */
	u32 entries;	/* how many */
	u32 bytes;
	u32 status;
	u32 flags;
};

/* Entries that can be posted now. */
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
void spfe_ring_post(struct spfe_ring *ring, u32 flags, u32 bytes);
void spfe_ring_notify(struct spfe_ring *ring);
bool spfe_ring_take(struct spfe_ring *ring, struct spfe_done *done);
bool spfe_ring_arm(struct spfe_ring *ring);

#endif
