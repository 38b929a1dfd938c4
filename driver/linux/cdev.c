// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: file operations of /dev/spfeN. This file copies and checks the arguments; the other files
 * do the work.
 */
#include <linux/capability.h>
#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "spfe_core.h"

/* The structures have no padding, so 32-bit and 64-bit programs use the same layout. */
static_assert(sizeof(struct spfe_info) == 88);
static_assert(sizeof(struct spfe_time) == 32);
static_assert(sizeof(struct spfe_port) == 96);
static_assert(sizeof(struct spfe_port_set) == 32);
static_assert(sizeof(struct spfe_register) == 32);
static_assert(sizeof(struct spfe_alloc) == 32);
static_assert(sizeof(struct spfe_key) == 8);
static_assert(sizeof(struct spfe_event) == 16);
static_assert(sizeof(struct spfe_wait) == 16);
static_assert(sizeof(struct spfe_queue) == 88);
static_assert(sizeof(struct spfe_pair) == 128);
static_assert(sizeof(struct spfe_index) == 8);
static_assert(sizeof(struct spfe_statistics) == 56);
static_assert(sizeof(struct spfe_mib) == 32);
static_assert(sizeof(struct spfe_pair_counters) == 128);
static_assert(sizeof(struct spfe_target) == 64);
static_assert(sizeof(struct spfe_target_entry) == 48);
static_assert(sizeof(struct spfe_target_note) == 72);

static int spfe_ioc_info(struct spfe_client *client, void *argument)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_info *info = argument;

	memset(info, 0, sizeof(*info));
	info->uapi_version = SPFE_UAPI_VERSION;
	info->contract_version = spfe->contract_version;
	info->capability = spfe->capability;
	info->flags = spfe->bounces ? SPFE_INFO_BOUNCE : 0;
	info->ports = spfe->nports;
	info->queues = spfe->nqueues;
	info->regions = spfe->nregions;
	info->events = spfe->nshared + 1;
	info->domain = client->domain;
	info->doorbell_bytes = spfe_doorbell_bytes(spfe);
	info->counts_bytes = PAGE_SIZE;
	info->resets = spfe_read(spfe, SPFE_GLOBAL_BLOCK_RESETS);
	info->doorbell_offset = client->doorbell_offset;
	info->counts_offset = client->counts_offset;
	info->packet_max = spfe->packet_max;
	info->chain_max = spfe->chain_max;
	return 0;
}

static int spfe_ioc_time(struct spfe_client *client, void *argument)
{
	struct spfe_time *time = argument;

	time->before_ns = ktime_get_ns();
	time->device_ns = spfe_time(client->spfe);
	time->after_ns = ktime_get_ns();
	time->reserved = 0;
	return 0;
}

static int spfe_ioc_port(struct spfe_client *client, void *argument)
{
	return spfe_port_query(client->spfe, argument);
}

static int spfe_ioc_port_set(struct spfe_client *client, void *argument)
{
	return spfe_port_set(client->spfe, argument);
}

/* Checks that a client may register or allocate memory, and binds it to the calling process. */
static int spfe_client_ready(struct spfe_client *client)
{
	int err;

	mutex_lock(&client->lock);
	err = spfe_client_check(client);
	if (!err)
		err = spfe_client_bind(client);
	mutex_unlock(&client->lock);
	return err;
}

static int spfe_ioc_register(struct spfe_client *client, void *argument)
{
	struct spfe_register *wish = argument;
	struct spfe_region *region;
	u64 offset;
	int err;

	if (wish->flags || wish->reserved)
		return -EINVAL;
	err = spfe_client_ready(client);
	if (err)
		return err;
	region = spfe_region_pin(client, wish->addr, wish->size, wish->access);
	if (IS_ERR(region))
		return PTR_ERR(region);
	return spfe_region_enter(client, region, &wish->key, &offset);
}

static int spfe_ioc_alloc(struct spfe_client *client, void *argument)
{
	struct spfe_alloc *wish = argument;
	struct spfe_region *region;
	int err;

	if (wish->flags || wish->reserved)
		return -EINVAL;
	err = spfe_client_ready(client);
	if (err)
		return err;
	region = spfe_region_alloc(client, wish->size, wish->access);
	if (IS_ERR(region))
		return PTR_ERR(region);
	wish->size = region->size;
	return spfe_region_enter(client, region, &wish->key, &wish->offset);
}

static struct spfe_region *spfe_region_find(struct spfe_client *client, u32 key)
{
	struct spfe_region *region;

	list_for_each_entry(region, &client->regions, node)
		if (region->key == key)
			return region;
	return NULL;
}

static int spfe_ioc_unregister(struct spfe_client *client, void *argument)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_key *wish = argument;
	struct spfe_region *region;
	unsigned int tries = 0;
	int err = -ENOENT;

	if (wish->reserved)
		return -EINVAL;
	mutex_lock(&spfe->lock);
	region = spfe_region_find(client, wish->key);
	if (region)
		err = spfe_region_detach(client, region, &tries);
	mutex_unlock(&spfe->lock);
	if (err)
		return err;
	spfe_region_unmap(client, region);
	spfe_region_free(region);
	return 0;
}

/* Called with spfe_device.lock held. Takes over the reference to `eventfd`. */
static int spfe_event_enter(struct spfe_client *client, struct eventfd_ctx *eventfd, u32 *id)
{
	struct xa_limit limit = XA_LIMIT(SPFE_EVENT_OWN + 1, SPFE_EVENTS_MAX - 1);
	struct spfe_signal *event;
	int err;

	err = xa_alloc(&client->events, id, NULL, limit, GFP_KERNEL_ACCOUNT);
	if (err) {
		if (eventfd)
			eventfd_ctx_put(eventfd);
		return err == -EBUSY ? -ENOSPC : err;
	}
	event = spfe_event_create(client, client->counts + *id, eventfd, NULL, NULL);
	if (IS_ERR(event)) {
		xa_erase(&client->events, *id);
		return PTR_ERR(event);
	}
	event->id = *id;
	/* The slot is reserved, so this allocates nothing and cannot fail. */
	xa_store(&client->events, *id, event, GFP_KERNEL);
	return 0;
}

static int spfe_ioc_event_create(struct spfe_client *client, void *argument)
{
	struct spfe_event *wish = argument;
	struct eventfd_ctx *eventfd = NULL;
	int err;

	if (wish->flags || wish->reserved || wish->eventfd < -1)
		return -EINVAL;
	if (wish->eventfd >= 0) {
		eventfd = eventfd_ctx_fdget(wish->eventfd);
		if (IS_ERR(eventfd))
			return PTR_ERR(eventfd);
	}
	mutex_lock(&client->spfe->lock);
	err = spfe_client_check(client);
	if (!err)
		err = spfe_event_enter(client, eventfd, &wish->event);
	else if (eventfd)
		eventfd_ctx_put(eventfd);
	mutex_unlock(&client->spfe->lock);
	return err;
}

/* Called with spfe_device.lock held. */
static bool spfe_event_is_used(struct spfe_client *client, const struct spfe_signal *event)
{
	struct spfe_device *spfe = client->spfe;
	u32 queue;

	if (spfe_target_signals(spfe, event))
		return true;
	for (queue = 0; queue < spfe->nqueues; queue++)
		if (spfe->queues[queue].client == client && spfe->queues[queue].event == event)
			return true;
	return false;
}

static int spfe_ioc_event_destroy(struct spfe_client *client, void *argument)
{
	struct spfe_event *wish = argument;
	struct spfe_signal *event;
	int err = 0;

	if (wish->flags || wish->reserved)
		return -EINVAL;
	mutex_lock(&client->spfe->lock);
	event = xa_load(&client->events, wish->event);
	if (!event) {
		err = -ENOENT;
	} else if (spfe_event_is_used(client, event)) {
		err = -EBUSY;
	} else {
		mutex_lock(&client->lock);
		xa_erase(&client->events, wish->event);
		mutex_unlock(&client->lock);
		spfe_event_detach(event);
		spfe_event_put(event);
	}
	mutex_unlock(&client->spfe->lock);
	return err;
}

/* Runs without `alive` because it may block for long; removal wakes it. */
static int spfe_ioc_wait(struct spfe_client *client, void *argument)
{
	struct spfe_wait *wait = argument;
	struct spfe_signal *event;
	int err;

	event = spfe_event_get(client, wait->event);
	if (!event)
		return spfe_client_check(client) ?: -ENOENT;
	err = spfe_event_wait(client, event, wait);
	spfe_event_put(event);
	return err;
}

static int spfe_ioc_wake(struct spfe_client *client, void *argument)
{
	struct spfe_index *wish = argument;
	struct spfe_signal *event;
	int err;

	if (wish->reserved)
		return -EINVAL;
	err = spfe_client_check(client);
	if (err)
		return err;
	event = spfe_event_get(client, wish->index);
	if (!event)
		return -ENOENT;
	spfe_event_signal(event);
	spfe_event_put(event);
	return 0;
}

static int spfe_create(struct spfe_client *client, struct spfe_queue *wish,
		       struct spfe_queue_setup *setup)
{
	setup->port = wish->port;
	setup->vc = wish->vc;
	setup->kind = wish->kind;
	setup->options = wish->options;
	setup->event = xa_load(&client->events, wish->event);
	setup->sq_log2 = wish->sq_log2;
	setup->cq_log2 = wish->cq_log2;
	setup->sq = wish->sq;
	setup->cq = wish->cq;
	setup->stamps = wish->stamps;
	setup->lines = wish->lines;
	setup->area = wish->area;
	setup->area_bytes = wish->area_bytes;
	setup->filter = wish->filter;
	if (wish->reserved)
		return -EINVAL;
	if (!setup->event)
		return -ENOENT;
	return spfe_queue_create(client, setup, &wish->queue, &wish->status);
}

static int spfe_ioc_queue_create(struct spfe_client *client, void *argument)
{
	struct spfe_queue *wish = argument;
	struct spfe_queue_setup setup = { 0 };

	if (spfe_is_pair(wish->kind))
		return -EINVAL;
	return spfe_create(client, wish, &setup);
}

static int spfe_ioc_pair_create(struct spfe_client *client, void *argument)
{
	struct spfe_pair *wish = argument;
	struct spfe_queue_setup setup = {
		.pair = wish->pair,
		.limits = wish->limits,
		.path = wish->path,
		.reply = wish->reply,
	};

	if (wish->reserved || !spfe_is_pair(wish->queue.kind))
		return -EINVAL;
	if (!spfe_can(client->spfe, SPFE_CAPABILITY_RDMA))
		return -EOPNOTSUPP;
	return spfe_create(client, &wish->queue, &setup);
}

static int spfe_ioc_queue_destroy(struct spfe_client *client, void *argument)
{
	struct spfe_index *wish = argument;
	unsigned int tries = SPFE_BUSY_TRIES;

	if (wish->reserved)
		return -EINVAL;
	return spfe_queue_destroy(client, wish->index, &tries);
}

static int spfe_ioc_statistics(struct spfe_client *client, void *argument)
{
	return spfe_statistics_query(client->spfe, argument);
}

static int spfe_ioc_pair_counters(struct spfe_client *client, void *argument)
{
	return spfe_pair_counters_query(client->spfe, argument);
}

static int spfe_ioc_mib(struct spfe_client *client, void *argument)
{
	return spfe_mib_access(client->spfe, argument, capable(CAP_NET_ADMIN));
}

static int spfe_ioc_target(struct spfe_client *client, void *argument)
{
	return spfe_target_query(client->spfe, argument);
}

static int spfe_ioc_target_set(struct spfe_client *client, void *argument)
{
	struct spfe_target_entry *wish = argument;
	struct spfe_region *region = spfe_region_find(client, wish->region);

	return region ? spfe_target_set(client, region, wish) : -ENOENT;
}

static int spfe_ioc_target_clear(struct spfe_client *client, void *argument)
{
	struct spfe_target_entry *wish = argument;

	return wish->reserved ? -EINVAL : spfe_target_clear(client, wish->key);
}

static int spfe_ioc_target_listen(struct spfe_client *client, void *argument)
{
	struct spfe_index *wish = argument;
	struct spfe_signal *event;

	if (wish->reserved)
		return -EINVAL;
	event = xa_load(&client->events, wish->index);
	return event ? spfe_target_listen(client, event) : -ENOENT;
}

static int spfe_ioc_target_take(struct spfe_client *client, void *argument)
{
	return spfe_target_take(client, argument);
}

/* Also makes a file usable again that was open during a reset of the device. */
static int spfe_ioc_reset(struct spfe_client *client, void *argument)
{
	struct spfe_device *spfe = client->spfe;
	LIST_HEAD(regions);
	int err;

	mutex_lock(&spfe->lock);
	err = spfe_client_empty(client, &regions, true, SPFE_BUSY_TRIES);
	err = spfe_state_errno(spfe) ?: err;
	if (!err)
		client->epoch = spfe->epoch;
	mutex_unlock(&spfe->lock);
	spfe_regions_free(&regions);
	return err;
}

/* Runs under spfe_device.lock, after a check that the client may still use the device. */
#define SPFE_CALL_LOCKED BIT(0)
/* Runs with spfe_device.alive held for reading. */
#define SPFE_CALL_ALIVE BIT(1)
/* Uses the device: needs a file open for writing. */
#define SPFE_CALL_WRITES BIT(2)
/* Changes a port for all users of the device: needs CAP_NET_ADMIN. */
#define SPFE_CALL_ADMIN BIT(3)
#define SPFE_CALL_USUAL (SPFE_CALL_LOCKED | SPFE_CALL_ALIVE)

struct spfe_call {
	unsigned int command;
	unsigned int how;
	int (*call)(struct spfe_client *client, void *argument);
};

static const struct spfe_call spfe_calls[] = {
	{ SPFE_IOC_INFO, SPFE_CALL_USUAL, spfe_ioc_info },
	{ SPFE_IOC_TIME, SPFE_CALL_USUAL, spfe_ioc_time },
	{ SPFE_IOC_PORT, SPFE_CALL_USUAL, spfe_ioc_port },
	{ SPFE_IOC_PORT_SET, SPFE_CALL_USUAL | SPFE_CALL_ADMIN, spfe_ioc_port_set },
	{ SPFE_IOC_REGISTER, SPFE_CALL_ALIVE | SPFE_CALL_WRITES, spfe_ioc_register },
	{ SPFE_IOC_ALLOC, SPFE_CALL_ALIVE | SPFE_CALL_WRITES, spfe_ioc_alloc },
	{ SPFE_IOC_UNREGISTER, SPFE_CALL_ALIVE, spfe_ioc_unregister },
	{ SPFE_IOC_EVENT_CREATE, SPFE_CALL_ALIVE | SPFE_CALL_WRITES, spfe_ioc_event_create },
	{ SPFE_IOC_EVENT_DESTROY, SPFE_CALL_ALIVE, spfe_ioc_event_destroy },
	{ SPFE_IOC_WAIT, 0, spfe_ioc_wait },
	{ SPFE_IOC_WAKE, 0, spfe_ioc_wake },
	{ SPFE_IOC_QUEUE_CREATE, SPFE_CALL_USUAL | SPFE_CALL_WRITES, spfe_ioc_queue_create },
	{ SPFE_IOC_PAIR_CREATE, SPFE_CALL_USUAL | SPFE_CALL_WRITES, spfe_ioc_pair_create },
	{ SPFE_IOC_QUEUE_DESTROY, SPFE_CALL_USUAL, spfe_ioc_queue_destroy },
	{ SPFE_IOC_STATISTICS, SPFE_CALL_USUAL, spfe_ioc_statistics },
	{ SPFE_IOC_PAIR_COUNTERS, SPFE_CALL_USUAL, spfe_ioc_pair_counters },
	{ SPFE_IOC_MIB, SPFE_CALL_USUAL, spfe_ioc_mib },
	{ SPFE_IOC_TARGET, SPFE_CALL_USUAL, spfe_ioc_target },
	{ SPFE_IOC_TARGET_SET, SPFE_CALL_USUAL | SPFE_CALL_WRITES, spfe_ioc_target_set },
	{ SPFE_IOC_TARGET_CLEAR, SPFE_CALL_USUAL, spfe_ioc_target_clear },
	{ SPFE_IOC_TARGET_LISTEN, SPFE_CALL_USUAL | SPFE_CALL_WRITES, spfe_ioc_target_listen },
	{ SPFE_IOC_TARGET_TAKE, SPFE_CALL_USUAL | SPFE_CALL_WRITES, spfe_ioc_target_take },
	{ SPFE_IOC_RESET, SPFE_CALL_ALIVE, spfe_ioc_reset },
};

static int spfe_call_locked(struct spfe_client *client, const struct spfe_call *call,
			    void *argument)
{
	struct spfe_device *spfe = client->spfe;
	int err;

	if (!(call->how & SPFE_CALL_LOCKED))
		return call->call(client, argument);
	mutex_lock(&spfe->lock);
	err = spfe_client_check(client);
	if (!err)
		err = call->call(client, argument);
	mutex_unlock(&spfe->lock);
	return err;
}

static int spfe_call(struct spfe_client *client, const struct spfe_call *call, void *argument)
{
	struct spfe_device *spfe = client->spfe;
	int err;

	if (!(call->how & SPFE_CALL_ALIVE))
		return call->call(client, argument);
	down_read(&spfe->alive);
	err = spfe_call_locked(client, call, argument);
	up_read(&spfe->alive);
	return err;
}

static long spfe_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	struct spfe_client *client = file->private_data;
	void __user *user = (void __user *)address;
	const struct spfe_call *call = NULL;
	u64 argument[16];
	unsigned int i;
	int err;

	/* The union of 64-bit words is large enough for every argument and aligns it. */
	BUILD_BUG_ON(sizeof(argument) < sizeof(struct spfe_pair));
	BUILD_BUG_ON(sizeof(argument) < sizeof(struct spfe_pair_counters));
	for (i = 0; i < ARRAY_SIZE(spfe_calls); i++)
		if (spfe_calls[i].command == command)
			call = &spfe_calls[i];
	if (!call)
		return -ENOTTY;
	if (call->how & SPFE_CALL_WRITES && !client->writes)
		return -EACCES;
	if (call->how & SPFE_CALL_ADMIN && !capable(CAP_NET_ADMIN))
		return -EPERM;
	memset(argument, 0, sizeof(argument));
	if (_IOC_DIR(command) & _IOC_WRITE && copy_from_user(argument, user, _IOC_SIZE(command)))
		return -EFAULT;
	err = spfe_call(client, call, argument);
	/* After -EREMOTEIO the structure holds the status of the device. */
	if (_IOC_DIR(command) & _IOC_READ && (!err || err == -EREMOTEIO) &&
	    copy_to_user(user, argument, _IOC_SIZE(command)))
		return -EFAULT;
	return err;
}

static int spfe_open(struct inode *inode, struct file *file)
{
	struct spfe_device *spfe = container_of(inode->i_cdev, struct spfe_device, cdev);
	struct spfe_client *client;

	get_device(&spfe->dev);
	down_read(&spfe->alive);
	client = spfe_client_open(spfe, file->f_mapping, file->f_mode & FMODE_WRITE);
	up_read(&spfe->alive);
	if (IS_ERR(client)) {
		put_device(&spfe->dev);
		return PTR_ERR(client);
	}
	file->private_data = client;
	return nonseekable_open(inode, file);
}

static int spfe_release(struct inode *inode, struct file *file)
{
	struct spfe_client *client = file->private_data;
	struct spfe_device *spfe = client->spfe;

	down_read(&spfe->alive);
	spfe_client_close(client);
	up_read(&spfe->alive);
	put_device(&spfe->dev);
	return 0;
}

const struct file_operations spfe_file_operations = {
	.owner = THIS_MODULE,
	.open = spfe_open,
	.release = spfe_release,
	.mmap = spfe_mmap,
	.unlocked_ioctl = spfe_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};
