// SPDX-License-Identifier: GPL-2.0-only
/* spfe: rings of a client in the kernel. */
#include <linux/slab.h>

#include "spfe_core.h"
#include "spfe_ring.h"

#define SPFE_LINES_BYTES (sizeof(struct spfe_host_line) + sizeof(struct spfe_device_line))

static u64 spfe_ring_phase(const struct spfe_ring *ring, u32 position)
{
	return FIELD_PREP(SPFE_SUBMISSION_PHASE_MASK, ((position >> ring->log2) + 1) & 0xffff);
}

static u32 spfe_ring_index(const struct spfe_ring *ring, u32 position)
{
	return position & (BIT(ring->log2) - 1);
}

/* Makes a region for the kernel and enables it; it goes with the client. */
static struct spfe_region *spfe_ring_region(struct spfe_client *client, size_t bytes, u32 access)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_region *region = spfe_region_alloc(client, bytes, access);
	int err;

	if (IS_ERR(region))
		return region;
	mutex_lock(&spfe->lock);
	err = spfe_region_enable(client, region);
	mutex_unlock(&spfe->lock);
	if (err) {
		spfe_region_free(region);
		return ERR_PTR(err);
	}
	return region;
}

/* Finds every buffer; none may lie across two chunks. */
static int spfe_ring_slots(struct spfe_ring *ring, const struct spfe_region *region)
{
	struct spfe_chunk *chunk;
	u32 slot = 0;
	size_t at;

	list_for_each_entry(chunk, &region->chunks, node) {
		if (chunk->size % ring->slot_bytes)
			return -ENOMEM;
		for (at = 0; at < chunk->size && slot < BIT(ring->log2); at += ring->slot_bytes)
			ring->slots[slot++] = chunk->cpu + at;
	}
	return slot == BIT(ring->log2) ? 0 : -ENOMEM;
}

static int spfe_ring_memory(struct spfe_client *client, struct spfe_ring *ring, u32 kind,
			    struct spfe_queue_setup *setup)
{
	size_t sq = sizeof(*ring->sq) << ring->log2, cq = sizeof(*ring->cq) << ring->log2;
	size_t stamps = sizeof(__le64) << ring->log2;
	u32 access = kind == SPFE_QUEUE_KIND_TX ? SPFE_ACCESS_LOCAL_READ : SPFE_ACCESS_LOCAL_WRITE;
	struct spfe_region *region;
	struct spfe_chunk *chunk;

	region = spfe_ring_region(client, SPFE_LINES_BYTES + sq + cq + stamps,
				  SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE);
	if (IS_ERR(region))
		return PTR_ERR(region);
	if (!list_is_singular(&region->chunks))
		return -ENOMEM;
	chunk = list_first_entry(&region->chunks, struct spfe_chunk, node);
	ring->host = chunk->cpu;
	ring->device = chunk->cpu + sizeof(*ring->host);
	ring->sq = chunk->cpu + SPFE_LINES_BYTES;
	ring->cq = chunk->cpu + SPFE_LINES_BYTES + sq;
	setup->lines = FIELD_PREP(SPFE_SUBMISSION_REGION_MASK, (u64)region->key);
	setup->sq = setup->lines + SPFE_LINES_BYTES;
	setup->cq = setup->sq + sq;
	/* Devices look where it is, also of a queue that has no times. */
	setup->stamps = setup->cq + cq;
	region = spfe_ring_region(client, (size_t)ring->slot_bytes << ring->log2, access);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ring->pool = FIELD_PREP(SPFE_SUBMISSION_REGION_MASK, (u64)region->key);
	ring->slots = kcalloc(BIT(ring->log2), sizeof(*ring->slots), GFP_KERNEL);
	return ring->slots ? spfe_ring_slots(ring, region) : -ENOMEM;
}

/*
 * Makes memory and queue; log2 and slot_bytes are given. What was made goes when the client is
 * closed, also after an error; then spfe_ring_free().
 */
int spfe_ring_create(struct spfe_client *client, struct spfe_ring *ring, u32 port, u32 vc, u32 kind,
		     struct spfe_signal *event)
{
	struct spfe_queue_setup setup = {
		.port = port,
		.vc = vc,
		.kind = kind,
		.event = event,
		.sq_log2 = ring->log2,
		.cq_log2 = ring->log2,
	};
	u32 status;
	int err;

	ring->spfe = client->spfe;
	err = spfe_ring_memory(client, ring, kind, &setup);
	if (err)
		return err;
	mutex_lock(&client->spfe->lock);
	err = spfe_queue_create(client, &setup, &ring->queue, &status);
	mutex_unlock(&client->spfe->lock);
	return err == -EREMOTEIO ? spfe_status_errno(status) : err;
}

void spfe_ring_free(struct spfe_ring *ring)
{
	kfree(ring->slots);
	ring->slots = NULL;
}

/* Posts the next entry with its buffer; there is room. */
void spfe_ring_post(struct spfe_ring *ring, u32 flags, u32 bytes)
{
	struct spfe_submission *entry = &ring->sq[spfe_ring_index(ring, ring->posted)];
	u64 offset = (u64)spfe_ring_index(ring, ring->posted) * ring->slot_bytes;
	u64 word1 = spfe_ring_phase(ring, ring->posted) | bytes |
		    FIELD_PREP(SPFE_SUBMISSION_FLAGS_MASK, (u64)flags);

	WRITE_ONCE(entry->word0, cpu_to_le64(ring->pool + offset));
	/* Pairs with the device's load of word 1: bytes and word 0 are there when the phase is. */
	dma_wmb();
	WRITE_ONCE(entry->word1, cpu_to_le64(word1));
	ring->posted++;
}

/* Rings if the device sleeps. */
void spfe_ring_notify(struct spfe_ring *ring)
{
	/* Pairs with the device's, between its flag and its last look at the ring. */
	mb();
	if (le32_to_cpu(READ_ONCE(ring->device->need_doorbell)))
		spfe_ring(ring->spfe, 0, FIELD_PREP(SPFE_DOORBELL_QUEUE_MASK, (u64)ring->queue) |
			  FIELD_PREP(SPFE_DOORBELL_INDEX_MASK, (u64)ring->posted));
}

/* Takes the next completion and checks it. */
bool spfe_ring_take(struct spfe_ring *ring, struct spfe_done *done)
{
	const struct spfe_completion *entry = &ring->cq[spfe_ring_index(ring, ring->seen)];
	u64 word1 = le64_to_cpu(READ_ONCE(entry->word1));
	u64 word0;

	if (ring->broken ||
	    (word1 & SPFE_COMPLETION_PHASE_MASK) != spfe_ring_phase(ring, ring->seen))
		return false;
	/* Pairs with the device's order: word 0 and the bytes were written before the phase. */
	dma_rmb();
	word0 = le64_to_cpu(READ_ONCE(entry->word0));
	done->first = ring->freed;
	done->entries = (u16)(FIELD_GET(SPFE_COMPLETION_POSITION_MASK, word1) + 1 - ring->freed);
	done->bytes = FIELD_GET(SPFE_COMPLETION_BYTES_MASK, word0);
	done->status = FIELD_GET(SPFE_COMPLETION_STATUS_MASK, word0);
	done->flags = FIELD_GET(SPFE_COMPLETION_FLAGS_MASK, word1);
	if (!done->entries || done->entries > ring->posted - ring->freed) {
		ring->broken = true;
		return false;
	}
	ring->freed += done->entries;
	ring->seen++;
	return true;
}

/*
 * Asks for an interrupt at the next completion; false if there is one already, and then there will
 * be none.
 */
bool spfe_ring_arm(struct spfe_ring *ring)
{
	const struct spfe_completion *entry = &ring->cq[spfe_ring_index(ring, ring->seen)];
	u64 word1;

	WRITE_ONCE(ring->host->flags, cpu_to_le32(SPFE_ARM_FLAGS_COUNT | SPFE_ARM_FLAGS_EVENT));
	WRITE_ONCE(ring->host->want_count, cpu_to_le32(ring->seen + 1));
	WRITE_ONCE(ring->host->first_position, cpu_to_le32(ring->seen));
	/* Pairs with the device's load of `arm`: the wishes are there before it. */
	dma_wmb();
	ring->arm = (ring->arm + 2) | 1;
	WRITE_ONCE(ring->host->arm, cpu_to_le32(ring->arm));
	/* Pairs with the device's, between a completion and its load of `arm`. */
	mb();
	word1 = le64_to_cpu(READ_ONCE(entry->word1));
	if (ring->broken ||
	    (word1 & SPFE_COMPLETION_PHASE_MASK) != spfe_ring_phase(ring, ring->seen))
		return true;
	WRITE_ONCE(ring->host->arm, 0);
	return false;
}
