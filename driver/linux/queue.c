// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: queue contexts. Callers hold spfe_device.lock.
 */
#include <linux/nospec.h>

#include "spfe_core.h"
#include "spfe_trace.h"

static bool spfe_is_message(u32 kind)
{
	return kind == SPFE_QUEUE_KIND_MESSAGE_TX || kind == SPFE_QUEUE_KIND_MESSAGE_RX;
}

/*
 * The context of the other direction of a virtual channel, or NULL for a message context. Contexts
 * of a port are in pairs: one that transmits and one that receives.
 */
static struct spfe_queue_slot *spfe_queue_other(struct spfe_device *spfe,
						const struct spfe_queue_setup *setup, u32 queue)
{
	u32 first = spfe->ports[array_index_nospec(setup->port, spfe->nports)].first_queue;

	if (spfe_is_message(setup->kind))
		return NULL;
	return &spfe->queues[first + ((queue - first) ^ 1)];
}

/*
 * Checks that a queue and that of the other direction may use one virtual channel. Queue pairs take
 * both directions: both queues are of the same client.
 */
static int spfe_queue_fits(const struct spfe_client *client, u32 kind,
			   const struct spfe_queue_slot *other)
{
	if (!other || !other->client)
		return 0;
	if (spfe_is_pair(kind) != !!other->other)
		return -EBUSY;
	return other->other && other->client != client ? -EBUSY : 0;
}

/*
 * Finds the context for a queue. The order is fixed: TX of VC 0, RX of VC 0, TX of VC 1 and so on,
 * then the contexts that send messages and those that receive them. A message queue may use any
 * free context of its kind.
 */
static int spfe_queue_find(struct spfe_device *spfe, const struct spfe_queue_setup *setup,
			   u32 *queue)
{
	const struct spfe_port_info *port;
	u32 at, last, messages;

	if (setup->port >= spfe->nports)
		return -ENOENT;
	port = &spfe->ports[array_index_nospec(setup->port, spfe->nports)];
	messages = port->queue_count - 2 * port->vcs;
	switch (setup->kind) {
	case SPFE_QUEUE_KIND_TX:
	case SPFE_QUEUE_KIND_RX:
	case SPFE_QUEUE_KIND_RX_PACKED:
	case SPFE_QUEUE_KIND_RDMA:
	case SPFE_QUEUE_KIND_RDMA_RX:
		if (setup->vc >= port->vcs)
			return -ENOENT;
		at = port->first_queue + 2 * setup->vc;
		if (setup->kind != SPFE_QUEUE_KIND_TX && setup->kind != SPFE_QUEUE_KIND_RDMA)
			at++;
		last = at;
		break;
	case SPFE_QUEUE_KIND_MESSAGE_TX:
	case SPFE_QUEUE_KIND_MESSAGE_RX:
		if (setup->vc)
			return -EINVAL;
		if (messages < 2)
			return -EOPNOTSUPP;
		at = port->first_queue + 2 * port->vcs;
		if (setup->kind == SPFE_QUEUE_KIND_MESSAGE_RX)
			at += messages / 2;
		last = at + messages / 2 - 1;
		break;
	default:
		return -EINVAL;
	}
	for (; at <= last; at++) {
		if (!spfe->queues[at].client) {
			*queue = at;
			return 0;
		}
	}
	/* -EBUSY: another client has the virtual channel. -ENOSPC: all message contexts in use. */
	return spfe_is_message(setup->kind) ? -ENOSPC : -EBUSY;
}

static void spfe_queue_write(struct spfe_device *spfe, u32 queue, u32 domain,
			     const struct spfe_queue_setup *setup)
{
	u32 at = spfe->queue_at + queue * SPFE_QUEUE_BLOCK_STRIDE;

	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_KIND, setup->kind);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_OPTIONS, setup->options);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_DOMAIN, domain);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_VECTOR, setup->event->vector->index);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_SQ_LOG2, setup->sq_log2);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_CQ_LOG2, setup->cq_log2);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_SQ_LO, setup->sq);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_CQ_LO, setup->cq);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_STAMP_LO, setup->stamps);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_LINES_LO, setup->lines);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_AREA_LO, setup->area);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_AREA_BYTES, setup->area_bytes);
	spfe_write(spfe, at + SPFE_QUEUE_BLOCK_FILTER, setup->filter);
	if (!spfe_is_pair(setup->kind))
		return;
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_PAIR_LO, setup->pair);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_LIMITS_LO, setup->limits);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_PATH_LO, setup->path);
	spfe_write_pair(spfe, at + SPFE_QUEUE_BLOCK_REPLY_LO, setup->reply);
}

/*
 * Creates a queue. The device checks ring sizes and addresses: if it refuses them, this returns
 * -EREMOTEIO and the reason in `status`.
 */
int spfe_queue_create(struct spfe_client *client, const struct spfe_queue_setup *setup, u32 *queue,
		      u32 *status)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_queue_slot *state, *other;
	bool pair = spfe_is_pair(setup->kind), first;
	int err;

	lockdep_assert_held(&spfe->lock);
	*status = SPFE_STATUS_OK;
	err = spfe_queue_find(spfe, setup, queue);
	if (err)
		return err;
	state = &spfe->queues[*queue];
	other = spfe_queue_other(spfe, setup, *queue);
	err = spfe_queue_fits(client, setup->kind, other);
	if (err)
		return err;
	/* A queue pair counts as one, with one queue or both. */
	first = pair && !other->client;
	err = first ? spfe_pair_take(client) : 0;
	if (err)
		return err;
	spfe_queue_write(spfe, *queue, client->domain, setup);
	err = spfe_command(spfe, SPFE_COMMAND_QUEUE_ENABLE, *queue, status);
	if (!err && *status != SPFE_STATUS_OK)
		err = -EREMOTEIO;
	trace_spfe_queue(spfe, true, *queue, setup->kind, err);
	if (err) {
		if (first)
			spfe_pair_give(client);
		return err;
	}
	state->client = client;
	state->other = pair ? other : NULL;
	state->event = setup->event;
	kref_get(&setup->event->ref);
	atomic_inc(&spfe->usage.queues);
	return 0;
}

static void spfe_queue_drop(struct spfe_device *spfe, u32 queue)
{
	struct spfe_queue_slot *state = &spfe->queues[queue];

	/* The last queue of a queue pair. */
	if (state->other && !state->other->client)
		spfe_pair_give(state->client);
	spfe_event_put(state->event);
	state->event = NULL;
	state->other = NULL;
	state->client = NULL;
	atomic_dec(&spfe->usage.queues);
}

/*
 * Destroys a queue. Returns -EBUSY if the device does not stop it: the queue then stays, because
 * the device still uses its memory. So may a device that failed; that is for its regions to know.
 */
int spfe_queue_destroy(struct spfe_client *client, u32 queue, unsigned int *tries)
{
	struct spfe_device *spfe = client->spfe;
	u32 status;
	int err;

	lockdep_assert_held(&spfe->lock);
	if (queue >= spfe->nqueues)
		return -ENOENT;
	queue = array_index_nospec(queue, spfe->nqueues);
	if (spfe->queues[queue].client != client)
		return -ENOENT;
	err = spfe_command_patient(spfe, SPFE_COMMAND_QUEUE_DISABLE, queue, tries, &status);
	if (!err && status == SPFE_STATUS_BUSY)
		err = -EBUSY;
	trace_spfe_queue(spfe, false, queue, 0, err);
	if (err == -EBUSY)
		return err;
	spfe_queue_drop(spfe, queue);
	return 0;
}

/* Forgets all queues after a reset of the device. */
void spfe_queues_forget(struct spfe_device *spfe)
{
	u32 queue;

	for (queue = 0; queue < spfe->nqueues; queue++)
		if (spfe->queues[queue].client)
			spfe_queue_drop(spfe, queue);
}
