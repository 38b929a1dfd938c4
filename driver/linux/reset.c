// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: a device that fails, is reset, or goes away; and the watch that notices.
 *
 * Whatever happens, every file that is open stays valid: its calls end with ENODEV (failed or gone)
 * or ESHUTDOWN (there was a reset since it was opened), its waiters wake, and its memory is freed
 * when it is closed.
 */
#include <linux/delay.h>
#include <linux/module.h>

#include "spfe_core.h"

static unsigned int heartbeat_ms = 3000;
module_param(heartbeat_ms, uint, 0644);
MODULE_PARM_DESC(heartbeat_ms,
		 "Time between two looks at a device's heartbeat, ms (default 3000); a device that stands still for two of them has failed; 0 does not look");

/* A period that is switched off is looked at again after this. */
#define SPFE_WATCH_IDLE_MS 3000
#define SPFE_MISSED_MAX 2
/* Times a RESET that could not stop a queue is tried again, and the pause in between. */
#define SPFE_RESET_TRIES 10
#define SPFE_RESET_PAUSE_MS 20

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

/* Under spfe_device.lock: no command is given any more, and the device is kept from memory. */
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

/* Under spfe_device.lock: something went wrong, and is reported. */
void spfe_fail(struct spfe_device *spfe, enum spfe_state state, const char *why)
{
	if (spfe->state >= state)
		return;
	spfe_halt(spfe, state, why);
	dev_err(&spfe->dev, "%s: %s\n", state == SPFE_GONE ? "gone" : "failed", why);
	schedule_work(&spfe->report);
}

/* Clients of before have nothing on the device any more. */
static void spfe_forget_clients(struct spfe_device *spfe)
{
	spfe->epoch++;
	spfe_queues_forget(spfe);
	spfe_clients_tell(spfe);
}

/* The bus is about to reset the device, and calls spfe_restart() then. */
void spfe_stop(struct spfe_device *spfe, const char *why)
{
	mutex_lock(&spfe->lock);
	dev_info(&spfe->dev, "stopped: %s\n", why);
	spfe_halt(spfe, SPFE_FAILED, why);
	spfe_forget_clients(spfe);
	mutex_unlock(&spfe->lock);
}

static int spfe_command_reset(struct spfe_device *spfe)
{
	u32 status = SPFE_STATUS_OK;
	unsigned int try;
	int err;

	for (try = 0; try < SPFE_RESET_TRIES; try++) {
		err = spfe_command(spfe, SPFE_COMMAND_RESET, 0, &status);
		if (err || status != SPFE_STATUS_BUSY)
			break;
		msleep(SPFE_RESET_PAUSE_MS);
	}
	if (!err && status != SPFE_STATUS_OK) {
		dev_err(&spfe->dev, "reset refused: %s\n", spfe_status_name(status));
		spfe_fail(spfe, SPFE_FAILED, "reset refused");
		err = spfe_status_errno(status);
	}
	return err;
}

/* The device is empty: brings back what is not a client's. */
static int spfe_settle(struct spfe_device *spfe)
{
	spfe_forget_clients(spfe);
	spfe->resets = spfe_read(spfe, SPFE_GLOBAL_BLOCK_RESETS);
	spfe->heartbeat = spfe_read(spfe, SPFE_GLOBAL_BLOCK_HEARTBEAT);
	spfe->missed = 0;
	spfe_irq_restore(spfe);
	return spfe_ports_apply(spfe);
}

/* Under spfe_device.lock: takes a device into use that was reset, or seems to be alive again. */
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
	/* Memory is opened to the device only when it has forgotten all addresses. */
	err = spfe_command_reset(spfe);
	if (err)
		return err;
	if (spfe->ops->dma_on)
		spfe->ops->dma_on(spfe);
	spfe->dma_is_off = false;
	spfe->stuck = false;
	return spfe_settle(spfe);
}

/* The bus has reset the device, or is about to use it for the first time. */
int spfe_restart(struct spfe_device *spfe)
{
	int err;

	mutex_lock(&spfe->lock);
	err = spfe_revive(spfe);
	mutex_unlock(&spfe->lock);
	if (!err && device_is_registered(&spfe->dev))
		dev_info(&spfe->dev, "works again\n");
	return err;
}

/* Empties the device: by its own command if it listens, else by the bus. */
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
	if (!err)
		return 0;
	if (spfe->ops->reset)
		return spfe->ops->reset(spfe);
	return spfe_restart(spfe);
}

/* The bus driver lets go. From here on the device is gone for everybody. */
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
			spfe_fail(spfe, SPFE_GONE, "registers are not there");
		} else if (spfe->missed >= SPFE_MISSED_MAX) {
			spfe_fail(spfe, SPFE_FAILED, "heartbeat stands still");
		} else if (spfe_read(spfe, SPFE_GLOBAL_BLOCK_RESETS) != spfe->resets) {
			dev_warn(&spfe->dev, "was reset by somebody else\n");
			spfe_command_start(spfe);
			spfe_settle(spfe);
		}
	}
	mutex_unlock(&spfe->lock);
	schedule_delayed_work(&spfe->watch, msecs_to_jiffies(period ?: SPFE_WATCH_IDLE_MS));
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
	schedule_delayed_work(&spfe->watch, 0);
}

void spfe_watch_stop(struct spfe_device *spfe)
{
	cancel_delayed_work_sync(&spfe->watch);
	cancel_work_sync(&spfe->report);
}
