// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: interrupts and events. Each event gets an interrupt of its own until all are in use;
 * further events share them. An interrupt is only a hint: it increments counts, wakes waiters and
 * signals eventfds. The completion rings hold the actual state.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "spfe_core.h"
#include "spfe_compat.h"
#include "spfe_trace.h"

/* Slack of the timeout of SPFE_IOC_WAIT, so that the kernel can combine timers. */
#define SPFE_WAIT_SLACK_NS 10000

/* Wakes the waiters of an event and signals its eventfd. Called with the vector's lock held. */
static void spfe_event_tell(struct spfe_signal *event)
{
	if (event->eventfd)
		spfe_eventfd_signal(event->eventfd);
	wake_up_all(&event->wait);
}

/* Increments the count of an event and tells its users. Called with the vector's lock held. */
static void spfe_event_fire(struct spfe_signal *event)
{
	if (event->notify) {
		event->notify(event->context);
		return;
	}
	/* User space reads this word without a lock. */
	WRITE_ONCE(*event->count, *event->count + 1);
	spfe_event_tell(event);
}

static u32 spfe_vector_count(struct spfe_vector *vector)
{
	struct spfe_device *spfe = vector->spfe;

	return spfe_read(spfe, spfe->event_at + vector->index * SPFE_EVENT_BLOCK_STRIDE +
			 SPFE_EVENT_BLOCK_COUNT);
}

/*
 * Whether an interrupt was raised before the current events came. A signal that arrives while the
 * vector is masked stays pending until the next event unmasks it, and must not count for that
 * event. Reads a register for the first interrupt only. Called with the vector's lock held.
 */
static bool spfe_vector_stale(struct spfe_vector *vector)
{
	if (vector->fresh)
		vector->fresh = spfe_vector_count(vector) == vector->before;
	return vector->fresh;
}

static irqreturn_t spfe_interrupt(int irq, void *context)
{
	struct spfe_vector *vector = context;
	struct spfe_signal *event;
	u32 events = 0;

	spin_lock(&vector->lock);
	if (spfe_vector_stale(vector)) {
		spin_unlock(&vector->lock);
		return IRQ_HANDLED;
	}
	vector->fired++;
	list_for_each_entry(event, &vector->events, node) {
		spfe_event_fire(event);
		events++;
	}
	spin_unlock(&vector->lock);
	trace_spfe_irq(vector->spfe, vector->index, events);
	return IRQ_HANDLED;
}

/* Signals an event as an interrupt would. */
void spfe_event_signal(struct spfe_signal *event)
{
	unsigned long flags;

	spin_lock_irqsave(&event->vector->lock, flags);
	spfe_event_fire(event);
	spin_unlock_irqrestore(&event->vector->lock, flags);
}

/* Wakes all waiters, because the device failed, is gone or was reset. */
void spfe_irq_wake_all(struct spfe_device *spfe)
{
	struct spfe_vector *vector;
	struct spfe_signal *event;
	unsigned long flags;
	u32 index;

	for (index = 0; index < spfe->nvectors; index++) {
		vector = &spfe->vectors[index];
		spin_lock_irqsave(&vector->lock, flags);
		list_for_each_entry(event, &vector->events, node)
			spfe_event_tell(event);
		spin_unlock_irqrestore(&vector->lock, flags);
	}
}

int spfe_irq_setup(struct spfe_device *spfe, const struct spfe_resources *resources)
{
	u32 count = min3(resources->nirqs, spfe->nevents, (u32)SPFE_VECTORS_MAX);
	struct spfe_vector *vector;
	u32 index;

	if (!count)
		return dev_err_probe(spfe->parent, -ENXIO, "no interrupt\n");
	spfe->vectors = kcalloc(count, sizeof(*spfe->vectors), GFP_KERNEL);
	if (!spfe->vectors)
		return -ENOMEM;
	spfe->nvectors = count;
	for (index = 0; index < count; index++) {
		vector = &spfe->vectors[index];
		vector->spfe = spfe;
		vector->index = index;
		vector->irq = resources->irqs[index];
		spin_lock_init(&vector->lock);
		INIT_LIST_HEAD(&vector->events);
		snprintf(vector->name, sizeof(vector->name), "%s-%u", dev_name(&spfe->dev), index);
	}
	return 0;
}

static void spfe_vector_release(struct spfe_vector *vector)
{
	if (!vector->requested)
		return;
	free_irq(vector->irq, vector);
	vector->requested = false;
	atomic_dec(&vector->spfe->usage.vectors);
}

/*
 * Removal: frees all interrupts. Events may stay on the lists, and files that are closed at the
 * same time release vectors too.
 */
void spfe_irq_free(struct spfe_device *spfe)
{
	u32 index;

	mutex_lock(&spfe->lock);
	for (index = 0; index < spfe->nvectors; index++)
		spfe_vector_release(&spfe->vectors[index]);
	mutex_unlock(&spfe->lock);
}

static void spfe_vector_switch(struct spfe_vector *vector, bool on)
{
	struct spfe_device *spfe = vector->spfe;
	u32 at = spfe->event_at + vector->index * SPFE_EVENT_BLOCK_STRIDE;

	spfe_write(spfe, at + SPFE_EVENT_BLOCK_ENABLE, on);
}

/* Unmasks the vectors in use after a reset. The next command latches the registers. */
void spfe_irq_restore(struct spfe_device *spfe)
{
	u32 index;

	for (index = 0; index < spfe->nvectors; index++) {
		/* The clients know of the reset. The device may count signals from 0 again. */
		spfe->vectors[index].fresh = false;
		spfe_vector_switch(&spfe->vectors[index], spfe->vectors[index].users);
	}
}

/* Requests and unmasks the interrupt for its first event. */
static int spfe_vector_acquire(struct spfe_vector *vector)
{
	struct spfe_device *spfe = vector->spfe;
	u32 status;
	int err;

	vector->fresh = true;
	vector->before = spfe_vector_count(vector);
	err = request_irq(vector->irq, spfe_interrupt, 0, vector->name, vector);
	if (err)
		return err;
	vector->requested = true;
	atomic_inc(&spfe->usage.vectors);
	spfe_vector_switch(vector, true);
	err = spfe_command(spfe, SPFE_COMMAND_NOP, 0, &status);
	if (err)
		spfe_vector_release(vector);
	return err;
}

/*
 * Picks the vector with the fewest events. An interrupt of a released vector may still arrive, so
 * the search is round robin and reuses vectors as late as possible.
 */
static struct spfe_vector *spfe_vector_choose(struct spfe_device *spfe)
{
	struct spfe_vector *best = &spfe->vectors[spfe->next_vector % spfe->nvectors];
	struct spfe_vector *other;
	u32 index;

	for (index = 1; index < spfe->nvectors && best->users; index++) {
		other = &spfe->vectors[(spfe->next_vector + index) % spfe->nvectors];
		if (other->users < best->users)
			best = other;
	}
	spfe->next_vector = best - spfe->vectors + 1;
	return best;
}

/*
 * Creates an event. Takes over the reference to `eventfd`, even on error. Called with
 * spfe_device.lock held.
 */
struct spfe_signal *spfe_event_create(struct spfe_client *client, u32 *count,
				      struct eventfd_ctx *eventfd, spfe_notify_fn notify,
				      void *context)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_signal *event;
	int err;

	lockdep_assert_held(&spfe->lock);
	event = kzalloc(sizeof(*event), GFP_KERNEL_ACCOUNT);
	if (!event) {
		err = -ENOMEM;
		goto err_eventfd;
	}
	kref_init(&event->ref);
	init_waitqueue_head(&event->wait);
	event->count = count;
	event->eventfd = eventfd;
	event->notify = notify;
	event->context = context;
	event->vector = spfe_vector_choose(spfe);
	if (client->user && event->vector->users >= SPFE_VECTOR_EVENTS_MAX) {
		err = -ENOSPC;
		goto err_event;
	}
	if (!event->vector->users) {
		err = spfe_vector_acquire(event->vector);
		if (err)
			goto err_event;
	}
	event->vector->users++;
	spin_lock_irq(&event->vector->lock);
	list_add_tail(&event->node, &event->vector->events);
	spin_unlock_irq(&event->vector->lock);
	atomic_inc(&spfe->usage.events);
	return event;

err_event:
	kfree(event);
err_eventfd:
	if (eventfd)
		eventfd_ctx_put(eventfd);
	return ERR_PTR(err);
}

/*
 * Stops an event: no interrupt signals it any more and its waiters return. The caller keeps its
 * reference. Called with spfe_device.lock held.
 */
void spfe_event_detach(struct spfe_signal *event)
{
	struct spfe_vector *vector = event->vector;
	struct spfe_device *spfe = vector->spfe;
	u32 status;

	lockdep_assert_held(&spfe->lock);
	spin_lock_irq(&vector->lock);
	list_del(&event->node);
	WRITE_ONCE(event->dead, true);
	wake_up_all(&event->wait);
	spin_unlock_irq(&vector->lock);
	atomic_dec(&spfe->usage.events);
	if (--vector->users)
		return;
	if (!spfe_state_errno(spfe)) {
		spfe_vector_switch(vector, false);
		spfe_command(spfe, SPFE_COMMAND_NOP, 0, &status);
	}
	spfe_vector_release(vector);
}

static void spfe_event_free(struct kref *ref)
{
	struct spfe_signal *event = container_of(ref, struct spfe_signal, ref);

	if (event->eventfd)
		eventfd_ctx_put(event->eventfd);
	kfree(event);
}

void spfe_event_put(struct spfe_signal *event)
{
	kref_put(&event->ref, spfe_event_free);
}

/* Looks up an event of a client. Returns a reference, or NULL. */
struct spfe_signal *spfe_event_get(struct spfe_client *client, u32 id)
{
	struct spfe_signal *event;

	mutex_lock(&client->lock);
	event = xa_load(&client->events, id);
	if (event)
		kref_get(&event->ref);
	mutex_unlock(&client->lock);
	return event;
}

/*
 * Sleeps until the count differs from the value that the caller has seen. The caller holds a
 * reference to the event, and no lock.
 */
int spfe_event_wait(struct spfe_client *client, struct spfe_signal *event, struct spfe_wait *wait)
{
	ktime_t deadline = ns_to_ktime(wait->deadline_ns);
	bool late = false;
	int err;

	DEFINE_WAIT(entry);

	for (;;) {
		prepare_to_wait(&event->wait, &entry, TASK_INTERRUPTIBLE);
		err = spfe_client_check(client);
		if (!err && READ_ONCE(event->dead))
			err = -ENOENT;
		if (err || READ_ONCE(*event->count) != wait->seen)
			break;
		err = late ? -ETIMEDOUT : signal_pending(current) ? -ERESTARTSYS : 0;
		if (err)
			break;
		if (wait->deadline_ns < 0)
			schedule();
		else
			late = !schedule_hrtimeout_range(&deadline, SPFE_WAIT_SLACK_NS,
							 HRTIMER_MODE_ABS);
	}
	finish_wait(&event->wait, &entry);
	wait->seen = READ_ONCE(*event->count);
	return err;
}
