// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: clients. A client owns a protection domain, regions, queues and events.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "spfe_core.h"

static int spfe_client_enter(struct spfe_client *client)
{
	struct spfe_device *spfe = client->spfe;
	int err;

	mutex_lock(&spfe->lock);
	err = spfe_state_errno(spfe) ?: spfe_user_enter(client);
	if (err)
		goto out;
	if (client->writes)
		err = spfe_domain_take(client);
	if (err) {
		spfe_user_leave(client);
		goto out;
	}
	client->epoch = spfe->epoch;
	client->doorbell_offset = spfe_map_offset(spfe, spfe_doorbell_bytes(spfe));
	client->counts_offset = spfe_map_offset(spfe, PAGE_SIZE);
	list_add_tail(&client->node, &spfe->clients);
	atomic_inc(&spfe->usage.clients);
out:
	mutex_unlock(&spfe->lock);
	return err;
}

/*
 * `mapping` is the address space of the file, or NULL for a client in the kernel. A client that
 * does not write only asks, and has no protection domain. The caller holds a reference to the
 * device, and `alive`.
 */
struct spfe_client *spfe_client_open(struct spfe_device *spfe, struct address_space *mapping,
				     bool writes)
{
	struct spfe_client *client;
	int err = -ENOMEM;

	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return ERR_PTR(-ENOMEM);
	client->spfe = spfe;
	client->mapping = mapping;
	client->writes = writes;
	mutex_init(&client->lock);
	INIT_LIST_HEAD(&client->regions);
	xa_init_flags(&client->events, XA_FLAGS_ALLOC);
	client->counts = (u32 *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!client->counts)
		goto err_client;
	client->blank = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!client->blank)
		goto err_counts;
	err = spfe_client_enter(client);
	if (err)
		goto err_blank;
	return client;

err_blank:
	__free_page(client->blank);
err_counts:
	free_page((unsigned long)client->counts);
err_client:
	kfree(client);
	return ERR_PTR(err);
}

static void spfe_client_drop_events(struct spfe_client *client)
{
	struct spfe_signal *event;
	unsigned long id;

	xa_for_each(&client->events, id, event) {
		mutex_lock(&client->lock);
		xa_erase(&client->events, id);
		mutex_unlock(&client->lock);
		spfe_event_detach(event);
		spfe_event_put(event);
	}
}

/*
 * Removes all queues, events and regions of a client from the device. Moves the regions to a list
 * that the caller must free. With `keep`, regions of driver memory stay allocated although the
 * device no longer knows them: the process may have them mapped and still read its rings. Returns
 * -EBUSY if the device has not released all queues and regions; those stay with the client. Called
 * with spfe_device.lock held.
 */
int spfe_client_empty(struct spfe_client *client, struct list_head *regions, bool keep,
		      unsigned int tries)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_region *region, *next;
	int err = 0;
	u32 queue;

	lockdep_assert_held(&spfe->lock);
	for (queue = 0; queue < spfe->nqueues; queue++)
		if (spfe_queue_destroy(client, queue, &tries) == -EBUSY)
			err = -EBUSY;
	if (spfe_target_leave(client, &tries))
		err = -EBUSY;
	list_for_each_entry_safe(region, next, &client->regions, node) {
		if (keep && !list_empty(&region->chunks))
			err = spfe_region_disable(client, region, &tries) ?: err;
		else if (spfe_region_detach(client, region, &tries))
			err = -EBUSY;
		else
			list_add_tail(&region->node, regions);
	}
	spfe_client_drop_events(client);
	return err;
}

/* Frees what only an open file needs. */
static void spfe_client_strip(struct spfe_client *client)
{
	if (client->mm)
		mmdrop(client->mm);
	xa_destroy(&client->events);
	__free_page(client->blank);
	free_page((unsigned long)client->counts);
}

/* Frees a client that has no objects. Called with spfe_device.lock held. */
static void spfe_client_free(struct spfe_client *client)
{
	list_del(&client->node);
	if (client->released)
		client->released(client->released_context);
	if (client->writes)
		spfe_domain_give(client);
	spfe_user_leave(client);
	kfree(client);
}

/* Called with `alive` held for reading. */
void spfe_client_close(struct spfe_client *client)
{
	struct spfe_device *spfe = client->spfe;
	LIST_HEAD(regions);
	int err;

	mutex_lock(&spfe->lock);
	err = spfe_client_empty(client, &regions, false, SPFE_BUSY_TRIES);
	spfe_client_strip(client);
	if (err) {
		list_move_tail(&client->node, &spfe->kept);
		atomic_inc(&spfe->usage.kept_clients);
		dev_warn(&spfe->dev,
			 "does not release the memory of a closed file, which stays allocated until a reset (devlink dev reload)\n");
	} else {
		spfe_client_free(client);
	}
	mutex_unlock(&spfe->lock);
	spfe_regions_free(&regions);
	atomic_dec(&spfe->usage.clients);
}

/*
 * Frees kept clients whose objects the device has released by now: all of them after a reset. The
 * caller holds no lock of the driver but `alive`.
 */
void spfe_kept_free(struct spfe_device *spfe)
{
	struct spfe_client *client, *next;
	LIST_HEAD(regions);

	mutex_lock(&spfe->lock);
	list_for_each_entry_safe(client, next, &spfe->kept, node) {
		if (spfe_client_empty(client, &regions, false, 0))
			continue;
		spfe_client_free(client);
		atomic_dec(&spfe->usage.kept_clients);
	}
	mutex_unlock(&spfe->lock);
	spfe_regions_free(&regions);
}

/*
 * Returns 0 if the client may use the device, -ESHUTDOWN after a reset, -ENODEV if the device
 * failed. Without spfe_device.lock the result is only a hint.
 */
int spfe_client_check(const struct spfe_client *client)
{
	const struct spfe_device *spfe = client->spfe;

	if (READ_ONCE(spfe->state) != SPFE_WORKING)
		return -ENODEV;
	return READ_ONCE(spfe->epoch) == READ_ONCE(client->epoch) ? 0 : -ESHUTDOWN;
}

/*
 * Binds a client to the calling process. The first process that maps or registers memory is the
 * only one that may do so: the driver accounts its memory, and removal must find its mappings.
 * Called with spfe_client.lock held.
 */
int spfe_client_bind(struct spfe_client *client)
{
	lockdep_assert_held(&client->lock);
	if (!client->mm) {
		client->mm = current->mm;
		mmgrab(client->mm);
	}
	return client->mm == current->mm ? 0 : -EPERM;
}

/*
 * Waits for every mmap() that the process has begun, so that unmap_mapping_range() finds the
 * mappings.
 */
void spfe_client_settle(struct mm_struct *mm)
{
	if (!mm)
		return;
	mmap_write_lock(mm);
	mmap_write_unlock(mm);
}

/*
 * Signals all clients that the device failed, is gone or was reset. Called with spfe_device.lock
 * held.
 */
void spfe_clients_tell(struct spfe_device *spfe)
{
	struct spfe_client *client;

	list_for_each_entry(client, &spfe->clients, node)
		WRITE_ONCE(client->counts[SPFE_EVENT_OWN], client->counts[SPFE_EVENT_OWN] + 1);
	spfe_irq_wake_all(spfe);
}

/* Returns the process to which a client is bound, or NULL. */
static struct mm_struct *spfe_client_process(struct spfe_client *client)
{
	struct mm_struct *mm;

	mutex_lock(&client->lock);
	mm = client->mm;
	mutex_unlock(&client->lock);
	return mm;
}

/*
 * Removal: frees all objects of all clients; only the open files remain. The state is SPFE_GONE
 * already, so no mapping is added, and existing mappings show a blank page from now on. A process
 * that binds to a client after this look has not mapped anything and cannot any more.
 */
void spfe_clients_evict(struct spfe_device *spfe)
{
	struct spfe_client *client;
	LIST_HEAD(regions);

	down_write(&spfe->alive);
	list_for_each_entry(client, &spfe->clients, node) {
		mutex_lock(&spfe->lock);
		spfe_client_empty(client, &regions, false, 0);
		mutex_unlock(&spfe->lock);
		if (!client->mapping)
			continue;
		spfe_client_settle(spfe_client_process(client));
		unmap_mapping_range(client->mapping, 0, 0, 1);
	}
	spfe_regions_free(&regions);
	spfe_kept_free(spfe);
	up_write(&spfe->alive);
}
