// SPDX-License-Identifier: GPL-2.0-only
/* spfe: the rings of a queue that the kernel itself uses, such as that of the network interface. */
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

/* Allocates and enables a region for the kernel. Closing the client frees it. */
static struct spfe_region *spfe_ring_region(struct spfe_client *client, size_t bytes, u32 access)
{
	struct spfe_region *region = spfe_region_alloc(client, bytes, access);
	u64 offset;
	u32 key;
	int err;

	if (IS_ERR(region))
		return region;
	err = spfe_region_enter(client, region, &key, &offset);
	return err ? ERR_PTR(err) : region;
}

/* Computes the address of every buffer. No buffer may cross the border of two chunks. */
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
	/* Devices check this address even if the queue has no time stamps. */
	setup->stamps = setup->cq + cq;
	region = spfe_ring_region(client, (size_t)ring->slot_bytes << ring->log2, access);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ring->pool = FIELD_PREP(SPFE_SUBMISSION_REGION_MASK, (u64)region->key);
	ring->slots = kcalloc(BIT(ring->log2), sizeof(*ring->slots), GFP_KERNEL);
	return ring->slots ? spfe_ring_slots(ring, region) : -ENOMEM;
}

/*
 * Allocates memory and creates a queue. The caller has set log2 and slot_bytes. Regions and queue
 * belong to the client, even after an error: close the client, then call spfe_ring_free().
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

/* The address of the buffer of an entry, as in ring entries. */
u64 spfe_ring_address(const struct spfe_ring *ring, u32 position)
{
	return ring->pool + (u64)spfe_ring_index(ring, position) * ring->slot_bytes;
}

/*
 * Writes an entry that is not posted yet. The first entry of a packet is written last, because it
 * makes the others visible, too.
 */
void spfe_ring_put(struct spfe_ring *ring, u32 position, u64 address, u32 flags, u32 bytes)
{
	struct spfe_submission *entry = &ring->sq[spfe_ring_index(ring, position)];
	u64 word1 = spfe_ring_phase(ring, position) | bytes |
		    FIELD_PREP(SPFE_SUBMISSION_FLAGS_MASK, (u64)flags);

	spfe_entry_store(&entry->word0, address);
	/* Pairs with the device's load of word 1: a new phase implies the payload and word 0. */
	dma_wmb();
	spfe_entry_store(&entry->word1, word1);
}

/* Posts the next entry with its buffer. The caller has checked that there is room. */
void spfe_ring_post(struct spfe_ring *ring, u32 flags, u32 bytes)
{
	spfe_ring_put(ring, ring->posted, spfe_ring_address(ring, ring->posted), flags, bytes);
	ring->posted++;
}

/* Rings the doorbell if the device sleeps. */
void spfe_ring_notify(struct spfe_ring *ring)
{
	/* Pairs with the device's fence between the store of its flag and its last poll. */
	mb();
	if (le32_to_cpu(READ_ONCE(ring->device->need_doorbell)))
		spfe_ring(ring->spfe, 0, FIELD_PREP(SPFE_DOORBELL_QUEUE_MASK, (u64)ring->queue) |
			  FIELD_PREP(SPFE_DOORBELL_INDEX_MASK, (u64)ring->posted));
}

/* Takes and checks the next completion. False if there is none or the ring is broken. */
bool spfe_ring_take(struct spfe_ring *ring, struct spfe_done *done)
{
	const struct spfe_completion *entry = &ring->cq[spfe_ring_index(ring, ring->seen)];
	u64 word1 = spfe_entry_load(&entry->word1);
	u64 word0;

	if (ring->broken ||
	    (word1 & SPFE_COMPLETION_PHASE_MASK) != spfe_ring_phase(ring, ring->seen))
		return false;
	/* Pairs with the device's store of the phase, which follows payload and word 0. */
	dma_rmb();
	word0 = spfe_entry_load(&entry->word0);
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

/* Whether a completion waits. */
bool spfe_ring_has_news(const struct spfe_ring *ring)
{
	const struct spfe_completion *entry = &ring->cq[spfe_ring_index(ring, ring->seen)];
	u64 word1 = spfe_entry_load(&entry->word1);

	return !ring->broken &&
	       (word1 & SPFE_COMPLETION_PHASE_MASK) == spfe_ring_phase(ring, ring->seen);
}

/*
 * Asks for an interrupt at the next completions: at one, or at as many as wake_count and wake_us
 * say. Returns false if a completion is there already; no interrupt comes then.
 */
bool spfe_ring_arm(struct spfe_ring *ring)
{
	u32 flags = SPFE_ARM_FLAGS_COUNT | SPFE_ARM_FLAGS_EVENT;

	if (ring->wake_us)
		flags |= SPFE_ARM_FLAGS_TIME;
	WRITE_ONCE(ring->host->flags, cpu_to_le32(flags));
	WRITE_ONCE(ring->host->want_count, cpu_to_le32(ring->seen + max(ring->wake_count, 1U)));
	spfe_entry_store(&ring->host->after_first_ns, (u64)ring->wake_us * NSEC_PER_USEC);
	WRITE_ONCE(ring->host->first_position, cpu_to_le32(ring->seen));
	/* Pairs with the device's load of `arm`: a new value implies the threshold. */
	dma_wmb();
	ring->arm = (ring->arm + 2) | 1;
	WRITE_ONCE(ring->host->arm, cpu_to_le32(ring->arm));
	/* Pairs with the device's fence between a completion and its load of `arm`. */
	mb();
	if (!spfe_ring_has_news(ring))
		return true;
	WRITE_ONCE(ring->host->arm, 0);
	return false;
}
