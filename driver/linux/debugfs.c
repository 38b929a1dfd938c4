// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: /sys/kernel/debug/spfe/spfeN, for people and for tests that look for leaks. This is not a
 * stable interface.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "spfe_core.h"

/* Bytes of the global register block to show: the part that only the device writes. */
#define SPFE_SHOWN_BYTES 0x90

static struct dentry *spfe_root;

static int registers_show(struct seq_file *file, void *unused)
{
	struct spfe_device *spfe = file->private;
	u32 at;

	mutex_lock(&spfe->lock);
	seq_printf(file, "state %s\n", spfe_state_name(spfe));
	if (spfe->state == SPFE_WORKING)
		for (at = 0; at < SPFE_SHOWN_BYTES; at += sizeof(u32))
			seq_printf(file, "%#04x %#010x\n", at, spfe_read(spfe, at));
	mutex_unlock(&spfe->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(registers);

static void spfe_show_queue(struct seq_file *file, struct spfe_device *spfe, u32 queue)
{
	u32 at = spfe->queue_at + queue * SPFE_QUEUE_BLOCK_STRIDE;
	const struct spfe_queue_slot *slot = &spfe->queues[queue];

	seq_printf(file, "%u domain %u vector %u event %u", queue, slot->client->domain,
		   slot->event->vector->index, slot->event->id);
	if (spfe->state == SPFE_WORKING)
		seq_printf(file, " kind %u state %u error %s",
			   spfe_read(spfe, at + SPFE_QUEUE_BLOCK_KIND),
			   spfe_read(spfe, at + SPFE_QUEUE_BLOCK_STATE),
			   spfe_status_name(spfe_read(spfe, at + SPFE_QUEUE_BLOCK_ERROR)));
	seq_putc(file, '\n');
}

static int queues_show(struct seq_file *file, void *unused)
{
	struct spfe_device *spfe = file->private;
	u32 queue;

	mutex_lock(&spfe->lock);
	for (queue = 0; queue < spfe->nqueues; queue++)
		if (spfe->queues[queue].client)
			spfe_show_queue(file, spfe, queue);
	mutex_unlock(&spfe->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(queues);

static void spfe_show_regions(struct seq_file *file, const struct spfe_client *client,
			      const char *note)
{
	const struct spfe_region *region;

	list_for_each_entry(region, &client->regions, node)
		seq_printf(file, "%#06x domain %u %s bytes %llu access %#x page_shift %u%s\n",
			   region->key, client->domain, region->npages ? "pinned" : "driver",
			   region->size, region->access, region->page_shift, note);
}

static int regions_show(struct seq_file *file, void *unused)
{
	struct spfe_device *spfe = file->private;
	struct spfe_client *client;

	mutex_lock(&spfe->lock);
	list_for_each_entry(client, &spfe->clients, node)
		spfe_show_regions(file, client, "");
	list_for_each_entry(client, &spfe->kept, node)
		spfe_show_regions(file, client, " kept");
	mutex_unlock(&spfe->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(regions);

/* Lists the bus addresses of registered user memory as the device was told. */
static int pages_show(struct seq_file *file, void *unused)
{
	struct spfe_device *spfe = file->private;
	struct spfe_client *client;
	struct spfe_region *region;
	struct scatterlist *entry;
	int i;

	mutex_lock(&spfe->lock);
	list_for_each_entry(client, &spfe->clients, node)
		list_for_each_entry(region, &client->regions, node) {
			if (!region->mapped)
				continue;
			for_each_sgtable_dma_sg(&region->table, entry, i)
				seq_printf(file, "%#06x %#llx %u\n", region->key,
					   (unsigned long long)sg_dma_address(entry),
					   sg_dma_len(entry));
		}
	mutex_unlock(&spfe->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pages);

static int vectors_show(struct seq_file *file, void *unused)
{
	struct spfe_device *spfe = file->private;
	u32 index;

	mutex_lock(&spfe->lock);
	for (index = 0; index < spfe->nvectors; index++)
		if (spfe->vectors[index].users || spfe->vectors[index].fired)
			seq_printf(file, "%u irq %d events %u fired %llu\n", index,
				   spfe->vectors[index].irq, spfe->vectors[index].users,
				   spfe->vectors[index].fired);
	mutex_unlock(&spfe->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vectors);

static int usage_show(struct seq_file *file, void *unused)
{
	struct spfe_device *spfe = file->private;
	struct spfe_usage *usage = &spfe->usage;

	seq_printf(file, "clients %d\n", atomic_read(&usage->clients));
	seq_printf(file, "regions %d\n", atomic_read(&usage->regions));
	seq_printf(file, "queues %d\n", atomic_read(&usage->queues));
	seq_printf(file, "events %d\n", atomic_read(&usage->events));
	seq_printf(file, "vectors %d\n", atomic_read(&usage->vectors));
	seq_printf(file, "pinned_pages %ld\n", atomic_long_read(&usage->pinned_pages));
	seq_printf(file, "coherent_bytes %ld\n", atomic_long_read(&usage->coherent_bytes));
	seq_printf(file, "kept_clients %d\n", atomic_read(&usage->kept_clients));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(usage);

void spfe_debugfs_add(struct spfe_device *spfe)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&spfe->dev), spfe_root);

	spfe->debugfs = dir;
	debugfs_create_file("registers", 0400, dir, spfe, &registers_fops);
	debugfs_create_file("queues", 0400, dir, spfe, &queues_fops);
	debugfs_create_file("regions", 0400, dir, spfe, &regions_fops);
	debugfs_create_file("pages", 0400, dir, spfe, &pages_fops);
	debugfs_create_file("vectors", 0400, dir, spfe, &vectors_fops);
	debugfs_create_file("usage", 0400, dir, spfe, &usage_fops);
}

void spfe_debugfs_remove(struct spfe_device *spfe)
{
	debugfs_remove_recursive(spfe->debugfs);
}

void spfe_debugfs_init(void)
{
	spfe_root = debugfs_create_dir(SPFE_NAME, NULL);
}

void spfe_debugfs_exit(void)
{
	debugfs_remove_recursive(spfe_root);
}
