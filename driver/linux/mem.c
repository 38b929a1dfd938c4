// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: memory that the device may access. There are two kinds: pinned pages of a process, and
 * chunks that the driver allocates. Chunks also work if DMA is bounced or not coherent. All bus
 * addresses come from the DMA API.
 *
 * The life of a region: it is pinned or allocated and mapped for DMA without a lock, enabled on the
 * device and listed under spfe_device.lock, detached from the device under that lock, and freed
 * without it.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "spfe_core.h"
#include "spfe_compat.h"
#include "spfe_trace.h"

#define SPFE_ACCESS_WRITES (SPFE_ACCESS_LOCAL_WRITE | SPFE_ACCESS_REMOTE_WRITE)
#define SPFE_ACCESS_READS (SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_REMOTE_READ)
/* Size of the largest chunk. If memory is fragmented, chunks shrink down to one page. */
#define SPFE_CHUNK_BYTES SZ_4M
/* Pages per call of pin_user_pages_fast(). */
#define SPFE_PIN_BATCH 1024UL

/* Bytes that the devices of this driver have allocated, or are about to, for regions. */
static atomic64_t spfe_allocated = ATOMIC64_INIT(0);

static struct device *spfe_dma(const struct spfe_region *region)
{
	return region->spfe->parent;
}

static struct spfe_region *spfe_region_blank(struct spfe_client *client, u32 access)
{
	struct spfe_region *region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);

	if (!region)
		return NULL;
	INIT_LIST_HEAD(&region->node);
	INIT_LIST_HEAD(&region->chunks);
	INIT_LIST_HEAD(&region->list);
	region->spfe = client->spfe;
	region->domain = client->domain;
	region->access = access;
	atomic_inc(&client->spfe->usage.regions);
	return region;
}

static struct spfe_region *spfe_region_new(struct spfe_client *client, u64 size, u32 access)
{
	struct spfe_region *region;

	if (!size || size >> SPFE_OFFSET_BITS || !access ||
	    access & ~(SPFE_ACCESS_WRITES | SPFE_ACCESS_READS))
		return ERR_PTR(-EINVAL);
	region = spfe_region_blank(client, access);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->size = size;
	if (!(access & SPFE_ACCESS_WRITES))
		region->direction = DMA_TO_DEVICE;
	else
		region->direction = DMA_BIDIRECTIONAL;
	return region;
}

/*
 * All memory, by its bus address (capability LOCAL_DMA). Only for a client in the kernel that has
 * domain 0 for itself, because every queue of that domain may use it.
 */
struct spfe_region *spfe_region_local(struct spfe_client *client, u32 access)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_region *region;

	if (!spfe_can(spfe, SPFE_CAPABILITY_LOCAL_DMA) || client->user || client->domain ||
	    spfe->ndomains < 2)
		return ERR_PTR(-EOPNOTSUPP);
	region = spfe_region_blank(client, access);
	if (!region)
		return ERR_PTR(-ENOMEM);
	region->options = SPFE_REGION_OPTIONS_LOCAL_DMA;
	return region;
}

/* Charges the pages to RLIMIT_MEMLOCK of the client's process. */
static int spfe_region_account(struct spfe_client *client, struct spfe_region *region)
{
	unsigned long pages = PFN_UP(region->size);
	int err;

	if (!client->mm)
		return 0;	/* a client in the kernel */
	err = account_locked_vm(client->mm, pages, true);
	if (err)
		return err;
	region->mm = client->mm;
	mmgrab(region->mm);
	region->accounted = pages;
	return 0;
}

static int spfe_pin_pages(struct spfe_region *region, u64 address, unsigned int flags)
{
	unsigned long count = region->size >> PAGE_SHIFT;
	int got;

	while (region->npages < count) {
		got = pin_user_pages_fast(address + ((u64)region->npages << PAGE_SHIFT),
					  min(count - region->npages, SPFE_PIN_BATCH), flags,
					  region->pages + region->npages);
		if (got <= 0)
			return got ?: -EFAULT;
		region->npages += got;
		atomic_long_add(got, &region->spfe->usage.pinned_pages);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int spfe_pin(struct spfe_region *region, u64 address)
{
	unsigned long count = region->size >> PAGE_SHIFT;
	bool writes = region->access & SPFE_ACCESS_WRITES;
	int err;

	/* Before the list of pages, which would take much memory, is allocated. */
	if (count > totalram_pages())
		return -ENOMEM;
	region->pages = kvmalloc_array(count, sizeof(*region->pages),
				       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!region->pages)
		return -ENOMEM;
	err = spfe_pin_pages(region, address, writes ? FOLL_WRITE | FOLL_LONGTERM :
						       SPFE_PIN_READ_FLAGS);
	/* The flags for reading do not fit read-only shared memory, which needs no copy anyway. */
	if (err == -EFAULT && !writes && SPFE_PIN_READ_FLAGS != FOLL_LONGTERM)
		err = spfe_pin_pages(region, address, FOLL_LONGTERM);
	return err;
}

/*
 * Regions may overlap, which the DMA API allows only to drivers that leave caches alone. They need
 * no care here: spfe_check_direct() refuses what would.
 */
#define SPFE_MAP_ATTRS DMA_ATTR_SKIP_CPU_SYNC

/* Fails if DMA to these pages would be bounced or needs cache maintenance. */
static int spfe_check_direct(struct spfe_region *region)
{
	struct scatterlist *entry;
	int i;

	for_each_sgtable_dma_sg(&region->table, entry, i)
		if (spfe_dma_needs_sync(spfe_dma(region), sg_dma_address(entry)))
			return -EOPNOTSUPP;
	return 0;
}

static int spfe_map(struct spfe_region *region)
{
	struct device *dev = spfe_dma(region);
	unsigned int segment = min_t(size_t, dma_get_max_seg_size(dev),
				     dma_max_mapping_size(dev));
	int err;

	segment = max_t(unsigned int, rounddown(segment, PAGE_SIZE), PAGE_SIZE);
	err = sg_alloc_table_from_pages_segment(&region->table, region->pages, region->npages, 0,
						region->size, segment, GFP_KERNEL);
	if (err)
		return err;
	err = dma_map_sgtable(dev, &region->table, region->direction, SPFE_MAP_ATTRS);
	if (err) {
		sg_free_table(&region->table);
		return err;
	}
	region->mapped = true;
	return 0;
}

/* Pins memory of the process to which the client is bound. */
struct spfe_region *spfe_region_pin(struct spfe_client *client, u64 address, u64 size, u32 access)
{
	struct spfe_region *region;
	int err;

	if (!PAGE_ALIGNED(address) || !PAGE_ALIGNED(size) || address + size < address ||
	    address + size > ULONG_MAX)
		return ERR_PTR(-EINVAL);
	if (client->spfe->bounces)
		return ERR_PTR(-EOPNOTSUPP);
	region = spfe_region_new(client, size, access);
	if (IS_ERR(region))
		return region;
	err = spfe_region_account(client, region);
	if (!err)
		err = spfe_pin(region, address);
	if (!err)
		err = spfe_map(region);
	if (!err)
		err = spfe_check_direct(region);
	if (!err)
		err = spfe_region_describe(region);
	if (err) {
		spfe_region_free(region);
		return ERR_PTR(err);
	}
	return region;
}

/* Allocates one chunk, or returns NULL. */
struct spfe_chunk *spfe_chunk_alloc(struct spfe_region *region, size_t size)
{
	struct spfe_chunk *chunk = kzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	/* A large request must fail rather than invoke the OOM killer. */
	gfp_t flags = GFP_KERNEL | __GFP_NOWARN |
		      (size > PAGE_SIZE ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL);

	if (!chunk)
		return NULL;
	chunk->cpu = dma_alloc_coherent(spfe_dma(region), size, &chunk->dma, flags);
	if (!chunk->cpu) {
		kfree(chunk);
		return NULL;
	}
	chunk->size = size;
	atomic_long_add(size, &region->spfe->usage.coherent_bytes);
	return chunk;
}

/* Allocates chunks, as large as there are, and adds them to a list, also before an error. */
int spfe_chunks_alloc(struct spfe_region *region, struct list_head *list, u64 size)
{
	size_t piece = SPFE_CHUNK_BYTES;
	struct spfe_chunk *chunk;

	while (size) {
		piece = min_t(u64, piece, size);
		chunk = spfe_chunk_alloc(region, piece);
		if (chunk) {
			list_add_tail(&chunk->node, list);
			size -= piece;
		} else {
			if (piece <= PAGE_SIZE)
				return -ENOMEM;
			piece = max_t(size_t, rounddown_pow_of_two(piece - 1), PAGE_SIZE);
		}
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

void spfe_chunks_free(struct spfe_device *spfe, struct list_head *list)
{
	struct spfe_chunk *chunk, *next;

	list_for_each_entry_safe(chunk, next, list, node) {
		list_del(&chunk->node);
		atomic_long_sub(chunk->size, &spfe->usage.coherent_bytes);
		dma_free_coherent(spfe->parent, chunk->size, chunk->cpu, chunk->dma);
		kfree(chunk);
	}
}

/*
 * An administrator may exceed RLIMIT_MEMLOCK, but not exhaust the memory: all regions of driver
 * memory together take at most half of it.
 */
static int spfe_region_reserve(struct spfe_region *region)
{
	u64 most = (u64)(totalram_pages() / 2) << PAGE_SHIFT;

	if (atomic64_add_return(region->size, &spfe_allocated) > most) {
		atomic64_sub(region->size, &spfe_allocated);
		return -ENOMEM;
	}
	region->reserved = true;
	return 0;
}

/* Allocates driver memory. */
struct spfe_region *spfe_region_alloc(struct spfe_client *client, u64 size, u32 access)
{
	struct spfe_region *region;
	int err;

	if (!size || size > SIZE_MAX - PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	region = spfe_region_new(client, PAGE_ALIGN(size), access);
	if (IS_ERR(region))
		return region;
	err = spfe_region_account(client, region);
	if (!err)
		err = spfe_region_reserve(region);
	if (!err)
		err = spfe_chunks_alloc(region, &region->chunks, region->size);
	if (!err)
		err = spfe_region_describe(region);
	if (err) {
		spfe_region_free(region);
		return ERR_PTR(err);
	}
	return region;
}

/*
 * Issues the command that enables a region. The device reads the page list before it acknowledges
 * the command.
 */
static int spfe_region_tell(struct spfe_region *region)
{
	struct spfe_device *spfe = region->spfe;
	u32 at = spfe->region_at + region->index * SPFE_REGION_BLOCK_STRIDE;
	u32 status;
	int err;

	err = spfe_state_errno(spfe);
	if (err)
		return err;
	spfe_write_pair(spfe, at + SPFE_REGION_BLOCK_BASE_LO, region->base);
	spfe_write_pair(spfe, at + SPFE_REGION_BLOCK_SIZE_LO, region->size);
	spfe_write(spfe, at + SPFE_REGION_BLOCK_ACCESS, region->access);
	spfe_write(spfe, at + SPFE_REGION_BLOCK_DOMAIN, region->domain);
	spfe_write(spfe, at + SPFE_REGION_BLOCK_PAGE_LIST, region->page_shift);
	spfe_write(spfe, at + SPFE_REGION_BLOCK_PAGE_LEVELS, region->levels);
	spfe_write(spfe, at + SPFE_REGION_BLOCK_OPTIONS, region->options);
	/* The page list and the memory must be visible before the device reads them. */
	mb();
	err = spfe_command(spfe, SPFE_COMMAND_REGION_ENABLE, region->index, &status);
	/* Without an answer the device may have enabled the region: assume so. */
	region->enabled = err || status == SPFE_STATUS_OK;
	if (!err)
		err = spfe_status_errno(status);
	if (!err)
		region->key = spfe_read(spfe, at + SPFE_REGION_BLOCK_KEY);
	trace_spfe_region(spfe, true, region->key, region->size, region->page_shift, err);
	return err;
}

static void spfe_region_list(struct spfe_client *client, struct spfe_region *region)
{
	mutex_lock(&client->lock);
	list_add_tail(&region->node, &client->regions);
	mutex_unlock(&client->lock);
}

/*
 * Enables a region on the device and adds it to the client. After an error it may still belong to
 * the client, because the device may have it. Called with spfe_device.lock held.
 */
static int spfe_region_enable(struct spfe_client *client, struct spfe_region *region)
{
	struct spfe_device *spfe = client->spfe;
	unsigned int tries = 0;
	int index, err;

	lockdep_assert_held(&spfe->lock);
	err = spfe_client_check(client);
	if (err)
		return err;
	index = spfe_index_take(client);
	if (index < 0)
		return index;
	region->index = index;
	region->indexed = true;
	err = spfe_region_tell(region);
	/* Without an answer the device may have the region: then it stays with the client. */
	if (!err || spfe_region_detach(client, region, &tries))
		spfe_region_list(client, region);
	return err;
}

/*
 * Enables a new region, whose memory can be mapped at its offset from then on. Takes the region
 * over also on error. Called without a lock of the driver but `alive`.
 */
int spfe_region_enter(struct spfe_client *client, struct spfe_region *region, u32 *key,
		      u64 *offset)
{
	struct spfe_device *spfe = client->spfe;
	LIST_HEAD(list);
	bool owned;
	int err;

	mutex_lock(&spfe->lock);
	if (!list_empty(&region->chunks))
		region->offset = spfe_map_offset(spfe, region->size);
	err = spfe_region_enable(client, region);
	*key = region->key;
	*offset = region->offset;
	owned = !list_empty(&region->node);
	/* A stuck device may still read the page list: then it lives as long as the region. */
	if (!spfe_is_loose(spfe))
		list_splice_init(&region->list, &list);
	mutex_unlock(&spfe->lock);
	spfe_chunks_free(spfe, &list);
	if (err && !owned)
		spfe_region_free(region);
	return err;
}

/*
 * Disables a region on the device; its memory and index stay allocated. Returns -EBUSY while the
 * device may access it: a queue has rings in it, accesses do not end, or the device failed and
 * nothing blocks its DMA.
 */
int spfe_region_disable(struct spfe_client *client, struct spfe_region *region,
			unsigned int *tries)
{
	struct spfe_device *spfe = region->spfe;
	u32 status;
	int err;

	lockdep_assert_held(&spfe->lock);
	/* A reset has already removed the region from the device. */
	if (client->epoch != spfe->epoch)
		region->enabled = false;
	if (!region->enabled)
		return 0;
	if (spfe_target_uses(spfe, region))
		return -EBUSY;
	err = spfe_command_patient(spfe, SPFE_COMMAND_REGION_DISABLE, region->index, tries,
				   &status);
	if (err ? spfe_is_loose(spfe) : status == SPFE_STATUS_BUSY)
		err = -EBUSY;
	trace_spfe_region(spfe, false, region->key, region->size, region->page_shift, err);
	if (err == -EBUSY)
		return err;
	region->enabled = false;
	return 0;
}

/*
 * Disables a region and removes it from the tables; the caller must free it then. -EBUSY is that of
 * spfe_region_disable().
 */
int spfe_region_detach(struct spfe_client *client, struct spfe_region *region,
		       unsigned int *tries)
{
	int err = spfe_region_disable(client, region, tries);

	if (err)
		return err;
	mutex_lock(&client->lock);
	list_del_init(&region->node);
	mutex_unlock(&client->lock);
	if (region->indexed)
		spfe_index_give(client, region->index);
	region->indexed = false;
	return 0;
}

static void spfe_pages_free(struct spfe_region *region)
{
	if (region->mapped) {
		dma_unmap_sgtable(spfe_dma(region), &region->table, region->direction,
				  SPFE_MAP_ATTRS);
		sg_free_table(&region->table);
	}
	if (region->npages) {
		unpin_user_pages_dirty_lock(region->pages, region->npages,
					    region->direction != DMA_TO_DEVICE);
		atomic_long_sub(region->npages, &region->spfe->usage.pinned_pages);
	}
	kvfree(region->pages);
}

/* Frees a detached region. The caller may hold `alive`, but no other driver lock. */
void spfe_region_free(struct spfe_region *region)
{
	struct spfe_device *spfe = region->spfe;

	spfe_chunks_free(spfe, &region->list);
	spfe_chunks_free(spfe, &region->chunks);
	spfe_pages_free(region);
	if (region->reserved)
		atomic64_sub(region->size, &spfe_allocated);
	if (region->mm) {
		account_locked_vm(region->mm, region->accounted, false);
		mmdrop(region->mm);
	}
	atomic_dec(&spfe->usage.regions);
	kfree(region);
}

void spfe_regions_free(struct list_head *list)
{
	struct spfe_region *region, *next;

	list_for_each_entry_safe(region, next, list, node) {
		list_del_init(&region->node);
		spfe_region_free(region);
	}
}

/* Maps chunks into a process from byte `offset` of the region. The caller checks the bounds. */
int spfe_region_mmap(struct spfe_region *region, struct vm_area_struct *vma, u64 offset)
{
	unsigned long start = vma->vm_start, end = vma->vm_end, pgoff = vma->vm_pgoff;
	struct spfe_chunk *chunk;
	int err = 0;

	/* dma_mmap_coherent() maps one chunk over the whole VMA: pass it one window at a time. */
	vma->vm_end = start;
	list_for_each_entry(chunk, &region->chunks, node) {
		if (offset >= chunk->size) {
			offset -= chunk->size;
			continue;
		}
		vma->vm_start = vma->vm_end;
		vma->vm_end = min_t(u64, end, vma->vm_start + (chunk->size - offset));
		vma->vm_pgoff = offset >> PAGE_SHIFT;
		offset = 0;
		err = dma_mmap_coherent(spfe_dma(region), vma, chunk->cpu, chunk->dma, chunk->size);
		if (err || vma->vm_end == end)
			break;
	}
	vma->vm_start = start;
	vma->vm_end = end;
	vma->vm_pgoff = pgoff;
	return err;
}

/* Whether the DMA API would bounce memory of a process. */
bool spfe_dma_bounces(struct spfe_device *spfe)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct device *dev = spfe->parent;
	bool bounces = true;
	dma_addr_t at;

	if (!page)
		return true;
	/* One page says nothing about others if the device does not reach all of the memory. */
	if (dma_addressing_limited(dev)) {
		__free_page(page);
		return true;
	}
	at = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (!dma_mapping_error(dev, at)) {
		bounces = spfe_dma_needs_sync(dev, at);
		dma_unmap_page(dev, at, PAGE_SIZE, DMA_BIDIRECTIONAL);
	}
	__free_page(page);
	return bounces;
}
