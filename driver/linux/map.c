// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: mmap() of driver memory, of the doorbell page and of the counts of events. Offsets are
 * never reused, so a stale offset maps nothing.
 */
#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/io.h>
#include <linux/mm.h>

#include "spfe_core.h"
#include "spfe_compat.h"

/* First mmap offset. 0 is never valid. */
#define SPFE_OFFSET_FIRST SZ_1M

/* Allocates mmap offsets. Called with spfe_device.lock held. */
u64 spfe_map_offset(struct spfe_device *spfe, u64 size)
{
	u64 offset = max_t(u64, spfe->next_offset, SPFE_OFFSET_FIRST);

	spfe->next_offset = offset + PAGE_ALIGN(size);
	return offset;
}

/* Returns the distance of doorbell pages that can be mapped separately on this CPU. */
static u32 spfe_doorbell_step(const struct spfe_device *spfe)
{
	return max_t(u32, spfe->doorbell_stride, PAGE_SIZE);
}

static u32 spfe_doorbell_steps(const struct spfe_device *spfe)
{
	return div_u64((u64)spfe->doorbell_pages * spfe->doorbell_stride,
		       spfe_doorbell_step(spfe));
}

/*
 * The first page is the driver's own: a device with level-sensitive interrupts takes the counts
 * that were seen there, and who can write them can silence others. A device may have just one
 * page, which all share then, if it has no such interrupts.
 */
static u32 spfe_doorbell_first(const struct spfe_device *spfe)
{
	return spfe_doorbell_steps(spfe) > 1 || spfe->lines;
}

/*
 * Returns the bytes that a process maps to ring doorbells, or 0 if a page of this CPU would expose
 * more than doorbells.
 */
u64 spfe_doorbell_bytes(const struct spfe_device *spfe)
{
	bool apart = PAGE_ALIGNED(spfe->phys + spfe->doorbell_at) &&
		     spfe_doorbell_steps(spfe) > spfe_doorbell_first(spfe);

	return apart ? PAGE_SIZE : 0;
}

static int spfe_map_doorbell(struct spfe_client *client, struct vm_area_struct *vma)
{
	struct spfe_device *spfe = client->spfe;
	u32 first = spfe_doorbell_first(spfe);
	u32 step = first + client->domain % (spfe_doorbell_steps(spfe) - first);
	phys_addr_t at = spfe->phys + spfe->doorbell_at + (u64)step * spfe_doorbell_step(spfe);

	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return io_remap_pfn_range(vma, vma->vm_start, PHYS_PFN(at), PAGE_SIZE, vma->vm_page_prot);
}

static int spfe_map_counts(struct spfe_client *client, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_pfn_range(vma, vma->vm_start, PHYS_PFN(virt_to_phys(client->counts)),
			       PAGE_SIZE, vma->vm_page_prot);
}

static int spfe_map_region(struct spfe_client *client, struct vm_area_struct *vma, u64 offset,
			   u64 size)
{
	struct spfe_region *region;

	list_for_each_entry(region, &client->regions, node)
		if (!list_empty(&region->chunks) && offset >= region->offset &&
		    offset - region->offset < region->size &&
		    size <= region->size - (offset - region->offset))
			return spfe_region_mmap(region, vma, offset - region->offset);
	return -EINVAL;
}

/* mmap() populates mappings completely, so a fault means that the memory was removed. */
static vm_fault_t spfe_fault(struct vm_fault *fault)
{
	struct vm_area_struct *vma = fault->vma;
	struct spfe_client *client = vma->vm_private_data;

	if (READ_ONCE(client->spfe->state) != SPFE_GONE)
		return VM_FAULT_SIGBUS;
	/* A zero page instead of SIGBUS: programs that poll a removed device keep running. */
	if (vma->vm_flags & VM_MIXEDMAP) {
		/* Behind an IOMMU chunks consist of single pages with reference counts. */
		get_page(client->blank);
		fault->page = client->blank;
		return 0;
	}
	return vmf_insert_pfn(vma, fault->address, page_to_pfn(client->blank));
}

static const struct vm_operations_struct spfe_vm_operations = {
	.fault = spfe_fault,
};

static int spfe_map(struct spfe_client *client, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 size = vma->vm_end - vma->vm_start;
	int err;

	lockdep_assert_held(&client->lock);
	err = spfe_client_check(client);
	if (err)
		return err;
	err = spfe_client_bind(client);
	if (err)
		return err;
	if (offset == client->doorbell_offset && size == spfe_doorbell_bytes(client->spfe))
		return spfe_map_doorbell(client, vma);
	if (offset == client->counts_offset && size == PAGE_SIZE)
		return spfe_map_counts(client, vma);
	return spfe_map_region(client, vma, offset, size);
}

int spfe_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct spfe_client *client = file->private_data;
	int err;

	/* Not VM_SHARED, which the kernel clears if the file is open for reading only. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (!client->writes)
		return -EACCES;
	/* After fork() a child must not use the rings of its parent. */
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &spfe_vm_operations;
	vma->vm_private_data = client;
	/* Not spfe_device.lock: page faults of the process wait until this function returns. */
	mutex_lock(&client->lock);
	err = spfe_map(client, vma);
	mutex_unlock(&client->lock);
	return err;
}

/* Unmaps a detached region from its process. The caller holds `alive` and no other driver lock. */
void spfe_region_unmap(struct spfe_client *client, const struct spfe_region *region)
{
	if (list_empty(&region->chunks) || !client->mapping)
		return;
	spfe_client_settle(client->mm);
	unmap_mapping_range(client->mapping, region->offset, region->size, 1);
}
