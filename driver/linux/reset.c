// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: failure, reset and removal of a device, and the watch that detects a failure.
 *
 * Open files always stay valid. Their calls return ENODEV (the device failed or is gone) or
 * ESHUTDOWN (the device was reset since the file was opened), their waiters wake up, and their
 * memory is freed on close.
 */
#include <linux/module.h>

#include "spfe_core.h"

static unsigned int heartbeat_ms = 3000;
module_param(heartbeat_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_ms,
		 "Period of the heartbeat check, ms (default 3000, 0 disables it); a device whose heartbeat stands still for two periods has failed");

/* While the watch is disabled, its period is read again after this time. */
#define SPFE_WATCH_IDLE_MS 3000
#define SPFE_MISSED_MAX 2

const char *spfe_state_name(const struct spfe_device *spfe)
{
	switch (READ_ONCE(spfe->state)) {
	case SPFE_WORKING:
		return "working";
	case SPFE_FAILED:
		return "failed";
	default:
		return "gone";
	}
}

/* Stops all commands and blocks DMA of the device. Called with spfe_device.lock held. */
static void spfe_halt(struct spfe_device *spfe, enum spfe_state state, const char *why)
{
	lockdep_assert_held(&spfe->lock);
	spfe->state = state;
	spfe->stuck = state == SPFE_FAILED;
	strscpy(spfe->failure, why, sizeof(spfe->failure));
	if (spfe->ops->dma_off && spfe->ops->dma_off(spfe))
		spfe->dma_is_off = true;
	spfe_clients_tell(spfe);
}

/* Marks the device as failed or gone and reports why. Called with spfe_device.lock held. */
void spfe_fail(struct spfe_device *spfe, enum spfe_state state, const char *why)
{
	if (spfe->state >= state)
		return;
	spfe_halt(spfe, state, why);
	dev_err(&spfe->dev, "%s: %s\n", state == SPFE_GONE ? "gone" : "failed", why);
	schedule_work(&spfe->report);
}

/* Starts a new epoch: the objects of all current clients are no longer on the device. */
static void spfe_forget_clients(struct spfe_device *spfe)
{
	spfe->epoch++;
	spfe_queues_forget(spfe);
	spfe_target_forget(spfe);
	spfe_clients_tell(spfe);
}

/* The bus calls this before it resets the device, and spfe_restart() afterwards. */
void spfe_stop(struct spfe_device *spfe, const char *why)
{
	mutex_lock(&spfe->lock);
	dev_info(&spfe->dev, "stopped: %s\n", why);
	spfe_halt(spfe, SPFE_FAILED, why);
	mutex_unlock(&spfe->lock);
}

static int spfe_command_reset(struct spfe_device *spfe)
{
	unsigned int tries = SPFE_BUSY_TRIES;
	u32 status;
	int err;

	err = spfe_command_patient(spfe, SPFE_COMMAND_RESET, 0, &tries, &status);
	if (!err && status != SPFE_STATUS_OK) {
		dev_err(&spfe->dev, "reset refused: %s\n", spfe_status_name(status));
		spfe_fail(spfe, SPFE_FAILED, "reset refused");
		err = spfe_status_errno(status);
	}
	return err;
}

/*
 * Restores vectors and port settings on a device that was reset. A device whose ports cannot be
 * configured has failed.
 */
static int spfe_settle(struct spfe_device *spfe)
{
	int err;

	spfe_forget_clients(spfe);
	spfe->resets = spfe_read(spfe, SPFE_GLOBAL_BLOCK_RESETS);
	spfe->heartbeat = spfe_read(spfe, SPFE_GLOBAL_BLOCK_HEARTBEAT);
	spfe->missed = 0;
	spfe_irq_restore(spfe);
	err = spfe_ports_apply(spfe);
	if (err)
		spfe_fail(spfe, SPFE_FAILED, "a port cannot be configured");
	return err;
}

/* Starts a device that was reset or answers again. Called with spfe_device.lock held. */
static int spfe_revive(struct spfe_device *spfe)
{
	int err;

	if (spfe->removed)
		return -ENODEV;
	if (spfe_read(spfe, SPFE_GLOBAL_BLOCK_MAGIC) != SPFE_CONTRACT_MAGIC) {
		spfe_fail(spfe, SPFE_GONE, "does not answer after a reset");
		return -ENODEV;
	}
	spfe->state = SPFE_WORKING;
	spfe_command_start(spfe);
	/* DMA is allowed only after the device has forgotten all addresses. */
	err = spfe_command_reset(spfe);
	if (err)
		return err;
	if (spfe->ops->dma_on)
		spfe->ops->dma_on(spfe);
	spfe->dma_is_off = false;
	spfe->stuck = false;
	return spfe_settle(spfe);
}

/* The bus calls this after a reset, and at probe before the first use. */
int spfe_restart(struct spfe_device *spfe)
{
	int err;

	mutex_lock(&spfe->lock);
	err = spfe_revive(spfe);
	mutex_unlock(&spfe->lock);
	spfe_kept_free(spfe);
	if (!err && device_is_registered(&spfe->dev))
		dev_info(&spfe->dev, "works again\n");
	return err;
}

/* Resets the device: by its own RESET command if it answers, otherwise by means of the bus. */
int spfe_reset(struct spfe_device *spfe, const char *why)
{
	int err = -ENODEV;

	mutex_lock(&spfe->lock);
	dev_info(&spfe->dev, "reset: %s\n", why);
	if (spfe->state == SPFE_WORKING) {
		err = spfe_command_reset(spfe);
		if (!err)
			err = spfe_settle(spfe);
	}
	mutex_unlock(&spfe->lock);
	spfe_kept_free(spfe);
	if (!err)
		return 0;
	if (spfe->ops->reset)
		return spfe->ops->reset(spfe);
	return spfe_restart(spfe);
}

/* The bus driver unbinds: from here on the device is gone for all clients. */
void spfe_shutdown(struct spfe_device *spfe)
{
	mutex_lock(&spfe->lock);
	if (spfe->state == SPFE_WORKING && !spfe_command_reset(spfe))
		spfe_forget_clients(spfe);
	spfe->removed = true;
	spfe->state = SPFE_GONE;
	if (spfe->ops->dma_off && spfe->ops->dma_off(spfe))
		spfe->dma_is_off = true;
	spfe_clients_tell(spfe);
	mutex_unlock(&spfe->lock);
}

/*
 * The system goes to sleep: the device may lose its power. It stops in good order. When the bus
 * calls spfe_restart() after the sleep, programs find that the device was reset.
 */
void spfe_sleep(struct spfe_device *spfe)
{
	bool stopped;

	spfe_netdev_halt(spfe);
	mutex_lock(&spfe->lock);
	if (spfe->state == SPFE_WORKING) {
		stopped = !spfe_command_reset(spfe);
		if (stopped)
			spfe_forget_clients(spfe);
		dev_info(&spfe->dev, "stopped: sleep\n");
		spfe_halt(spfe, SPFE_FAILED, "sleep");
		spfe->stuck = !stopped;
	}
	mutex_unlock(&spfe->lock);
}

/*
 * The machine goes down or starts another kernel, which must not find a device that writes to
 * memory. The driver is not unbound.
 */
void spfe_power_off(struct spfe_device *spfe)
{
	spfe_netdev_halt(spfe);
	spfe_shutdown(spfe);
	dev_info(&spfe->dev, "stopped: shutdown\n");
}

static void spfe_watch(struct work_struct *work)
{
	struct spfe_device *spfe = container_of(work, struct spfe_device, watch.work);
	unsigned int period = READ_ONCE(heartbeat_ms);
	u32 beat;

	mutex_lock(&spfe->lock);
	if (spfe->state == SPFE_WORKING && period) {
		beat = spfe_read(spfe, SPFE_GLOBAL_BLOCK_HEARTBEAT);
		spfe->missed = beat == spfe->heartbeat ? spfe->missed + 1 : 0;
		spfe->heartbeat = beat;
		if (spfe_read(spfe, SPFE_GLOBAL_BLOCK_MAGIC) != SPFE_CONTRACT_MAGIC) {
			spfe_fail(spfe, SPFE_GONE, "registers do not answer");
		} else if (spfe->missed >= SPFE_MISSED_MAX) {
			spfe_fail(spfe, SPFE_FAILED, "heartbeat stands still");
		} else if (spfe_read(spfe, SPFE_GLOBAL_BLOCK_RESETS) != spfe->resets) {
			dev_warn(&spfe->dev, "was reset by something other than this driver\n");
			spfe_command_start(spfe);
			spfe_settle(spfe);
		}
	}
	mutex_unlock(&spfe->lock);
	if (atomic_read(&spfe->usage.kept_clients))
		spfe_kept_free(spfe);
	queue_delayed_work(system_freezable_wq, &spfe->watch,
			   msecs_to_jiffies(period ?: SPFE_WATCH_IDLE_MS));
}

static void spfe_report(struct work_struct *work)
{
	spfe_devlink_report(container_of(work, struct spfe_device, report));
}

void spfe_watch_init(struct spfe_device *spfe)
{
	INIT_DELAYED_WORK(&spfe->watch, spfe_watch);
	INIT_WORK(&spfe->report, spfe_report);
}

void spfe_watch_start(struct spfe_device *spfe)
{
	/* Freezable: a device that sleeps has no registers. */
	queue_delayed_work(system_freezable_wq, &spfe->watch, 0);
}

void spfe_watch_stop(struct spfe_device *spfe)
{
	cancel_delayed_work_sync(&spfe->watch);
	cancel_work_sync(&spfe->report);
}
