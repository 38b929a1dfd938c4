// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: interrupts and events. Each event gets an interrupt of its own until all are in use;
 * further events share them. An interrupt is only a hint: it increments counts, wakes waiters and
 * signals eventfds. The completion rings hold the actual state.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
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
 * Whether an interrupt stands for an event that was not seen yet. Called with the vector's lock
 * held. Most interrupts need no look at the device, but two do:
 *
 * A signal that arrives while the vector is masked stays pending until the next event unmasks it,
 * and must not count for that event. So the first interrupt is compared with the count at that
 * time, if the device counts before it interrupts. On another device COUNT says nothing.
 *
 * A level-sensitive line stays high until the device knows the count that was seen. If an event
 * comes between the two accesses, the line stays high and the handler runs again. The line may be
 * shared with other devices, and a store that is still on its way makes the handler run once more.
 */
static bool spfe_vector_news(struct spfe_vector *vector)
{
	struct spfe_device *spfe = vector->spfe;
	u32 count;

	if (!vector->level && !vector->fresh)
		return true;
	count = spfe_vector_count(vector);
	if (vector->level)
		spfe_write(spfe, spfe->doorbell_at + SPFE_SEEN_OFFSET + 4 * vector->index, count);
	if (count == vector->seen)
		return false;
	vector->seen = count;
	vector->fresh = false;
	return true;
}

static irqreturn_t spfe_interrupt(int irq, void *context)
{
	struct spfe_vector *vector = context;
	struct spfe_signal *event;
	u32 events = 0;

	spin_lock(&vector->lock);
	if (!spfe_vector_news(vector)) {
		spin_unlock(&vector->lock);
		return vector->level ? IRQ_NONE : IRQ_HANDLED;
	}
	vector->fired++;
	list_for_each_entry(event, &vector->events, node) {
		spfe_event_fire(event);
		events++;
	}
	if (vector == vector->spfe->link_vector)
		spfe_links_check(vector->spfe);
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

static int spfe_vector_request(struct spfe_vector *vector)
{
	/* Other devices may use the same line, but not the same message. */
	int err = request_irq(vector->irq, spfe_interrupt, vector->level ? IRQF_SHARED : 0,
			      vector->name, vector);

	if (err)
		return err;
	vector->requested = true;
	if (vector != vector->spfe->link_vector)
		atomic_inc(&vector->spfe->usage.vectors);
	return 0;
}

static void spfe_vector_release(struct spfe_vector *vector)
{
	if (!vector->requested)
		return;
	free_irq(vector->irq, vector);
	vector->requested = false;
	if (vector != vector->spfe->link_vector)
		atomic_dec(&vector->spfe->usage.vectors);
}

/* Which of the two the kernel knows before the interrupt is requested depends on the machine. */
static bool spfe_irq_is_level(int irq)
{
	struct irq_data *data = irq_get_irq_data(irq);

	return data && (irqd_is_level_type(data) ||
			irqd_get_trigger_type(data) & IRQ_TYPE_LEVEL_MASK);
}

/*
 * Prepares the vectors. If the device has link events and more than one interrupt, the last one is
 * for them alone, so that no other event makes the driver look at the ports.
 */
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
		vector->level = resources->lines || spfe_irq_is_level(vector->irq);
		spin_lock_init(&vector->lock);
		INIT_LIST_HEAD(&vector->events);
		snprintf(vector->name, sizeof(vector->name), "%s-%u", dev_name(&spfe->dev), index);
		spfe->lines |= vector->level;
	}
	if (spfe->lines && !spfe_can(spfe, SPFE_CAPABILITY_LEVEL))
		return dev_err_probe(spfe->parent, -EOPNOTSUPP,
				     "interrupts are level-sensitive, but the device lacks the capability LEVEL\n");
	spfe->nshared = count;
	if (!spfe_can(spfe, SPFE_CAPABILITY_LINK_EVENT) || count == 1)
		return 0;
	spfe->nshared--;
	spfe->link_vector = &spfe->vectors[count - 1];
	/* Never released while the driver is bound. A reset unmasks it, also the one at probe. */
	spfe->link_vector->users = 1;
	return spfe_vector_request(spfe->link_vector);
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

/* Link events end first: user space must not be told of a device that goes away. */
void spfe_irq_links_stop(struct spfe_device *spfe)
{
	mutex_lock(&spfe->lock);
	if (spfe->link_vector)
		spfe_vector_release(spfe->link_vector);
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
	struct spfe_vector *vector;
	u32 index;

	for (index = 0; index < spfe->nvectors; index++) {
		vector = &spfe->vectors[index];
		/* The clients know of the reset. The device may count signals from 0 again. */
		spin_lock_irq(&vector->lock);
		vector->fresh = false;
		if (vector->level)
			vector->seen = spfe_vector_count(vector);
		spin_unlock_irq(&vector->lock);
		spfe_vector_switch(vector, vector->users);
	}
}

/* Requests and unmasks the interrupt for its first event. */
static int spfe_vector_acquire(struct spfe_vector *vector)
{
	struct spfe_device *spfe = vector->spfe;
	u32 status;
	int err;

	vector->fresh = spfe_can(spfe, SPFE_CAPABILITY_COUNT_FIRST);
	vector->seen = spfe_vector_count(vector);
	err = spfe_vector_request(vector);
	if (err)
		return err;
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
	struct spfe_vector *best = &spfe->vectors[spfe->next_vector % spfe->nshared];
	struct spfe_vector *other;
	u32 index;

	for (index = 1; index < spfe->nshared && best->users; index++) {
		other = &spfe->vectors[(spfe->next_vector + index) % spfe->nshared];
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
