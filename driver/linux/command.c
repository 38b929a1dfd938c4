// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: the command latch of the device. spfe_device.lock allows one command at a time.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include "spfe_core.h"
#include "spfe_trace.h"

static unsigned int command_timeout_ms = 5000;
module_param(command_timeout_ms, uint, 0644);
MODULE_PARM_DESC(command_timeout_ms,
		 "Time limit of a command, ms (default 5000); a device that does not answer has failed");

/* Value of every register once the device has left the bus. */
#define SPFE_ALL_ONES 0xffffffff
/* Polls of CFG_ACK before the driver starts to sleep between them. */
#define SPFE_QUICK_LOOKS 16
/* Pause before a command is repeated that the device refused with BUSY. */
#define SPFE_BUSY_PAUSE_MS 20
/* Attempts to read a pair of registers before its upper word changes. */
#define SPFE_PAIR_TRIES 8

int spfe_state_errno(const struct spfe_device *spfe)
{
	return spfe->state == SPFE_WORKING ? 0 : -ENODEV;
}

struct spfe_status_row {
	const char *name;
	int error;
};

#define SPFE_STATUS_ROW(name, number, class, error, text)	\
	[number] = { #name, error },

/* Names and errno of the statuses; numbers that the contract leaves out stay empty. */
static const struct spfe_status_row spfe_statuses[] = {
	SPFE_STATUS_TABLE(SPFE_STATUS_ROW)
};

const char *spfe_status_name(u32 status)
{
	const char *name = status < ARRAY_SIZE(spfe_statuses) ? spfe_statuses[status].name : NULL;

	return name ?: "UNKNOWN";
}

int spfe_status_errno(u32 status)
{
	if (status >= ARRAY_SIZE(spfe_statuses) || !spfe_statuses[status].name)
		return -EPROTO;
	return -spfe_statuses[status].error;
}

/* Continues the sequence numbers where an earlier driver left off. */
void spfe_command_start(struct spfe_device *spfe)
{
	spfe->sequence = spfe_read(spfe, SPFE_GLOBAL_BLOCK_CFG_ACK);
}

static u32 spfe_next_sequence(u32 sequence)
{
	do {
		sequence++;
	} while (!sequence || sequence == SPFE_ALL_ONES);
	return sequence;
}

static int spfe_wait_for_ack(struct spfe_device *spfe)
{
	ktime_t limit = ktime_add_ms(ktime_get(), command_timeout_ms);
	bool late = false;
	unsigned int look;
	u32 ack;

	for (look = 0;; look++) {
		ack = spfe_read(spfe, SPFE_GLOBAL_BLOCK_CFG_ACK);
		if (ack == spfe->sequence)
			return 0;
		if (ack == SPFE_ALL_ONES &&
		    spfe_read(spfe, SPFE_GLOBAL_BLOCK_MAGIC) != SPFE_CONTRACT_MAGIC)
			return -ENODEV;
		/* The last poll follows the deadline, even if this thread did not run for long. */
		if (late)
			return -ETIMEDOUT;
		late = ktime_after(ktime_get(), limit);
		if (look < SPFE_QUICK_LOOKS)
			cpu_relax();
		else
			usleep_range(50, 200);
	}
}

/*
 * Issues a command and waits until the device acknowledges it. Returns 0 and the status of the
 * contract, -ETIMEDOUT without an answer (the device then counts as failed), or -ENODEV if the
 * device is gone or had failed before.
 */
int spfe_command(struct spfe_device *spfe, enum spfe_command command, u32 index, u32 *status)
{
	ktime_t start = ktime_get();
	int err;

	lockdep_assert_held(&spfe->lock);
	err = spfe_state_errno(spfe);
	if (err)
		return err;
	spfe->sequence = spfe_next_sequence(spfe->sequence);
	spfe->commands++;
	spfe_write(spfe, SPFE_GLOBAL_BLOCK_CFG_COMMAND, command);
	spfe_write(spfe, SPFE_GLOBAL_BLOCK_CFG_INDEX, index);
	spfe_write(spfe, SPFE_GLOBAL_BLOCK_CFG_SEQ, spfe->sequence);
	spfe_ring(spfe, 0, FIELD_PREP(SPFE_DOORBELL_KIND_MASK, SPFE_DOORBELL_KIND_LATCH));
	err = spfe_wait_for_ack(spfe);
	*status = err ? SPFE_STATUS_DEVICE_GONE : spfe_read(spfe, SPFE_GLOBAL_BLOCK_CFG_STATUS);
	trace_spfe_command(spfe, command, index, *status, ktime_us_delta(ktime_get(), start));
	if (err == -ENODEV) {
		spfe_fail(spfe, SPFE_GONE, "registers read all ones");
	} else if (err) {
		dev_err(&spfe->dev, "no answer to command %u, index %u, within %u ms\n", command,
			index, command_timeout_ms);
		spfe_fail(spfe, SPFE_FAILED, "no answer to a command");
	}
	return err;
}

/*
 * Repeats a command as long as the device refuses it with BUSY. Each repetition uses up one of
 * `tries`, which several commands may share.
 */
int spfe_command_patient(struct spfe_device *spfe, enum spfe_command command, u32 index,
			 unsigned int *tries, u32 *status)
{
	int err = spfe_command(spfe, command, index, status);

	while (!err && *status == SPFE_STATUS_BUSY && *tries) {
		--*tries;
		msleep(SPFE_BUSY_PAUSE_MS);
		err = spfe_command(spfe, command, index, status);
	}
	return err;
}

/* Reads a 64-bit counter from two registers, of which the lower word comes first. */
u64 spfe_read_pair(struct spfe_device *spfe, u32 low)
{
	u32 high = spfe_read(spfe, low + 4);
	u32 word = 0, before;
	unsigned int i;

	for (i = 0; i < SPFE_PAIR_TRIES; i++) {
		before = high;
		word = spfe_read(spfe, low);
		high = spfe_read(spfe, low + 4);
		if (high == before)
			break;
	}
	return (u64)high << 32 | word;
}

/* Returns the time of the device in ns. */
u64 spfe_time(struct spfe_device *spfe)
{
	return spfe_read_pair(spfe, SPFE_GLOBAL_BLOCK_TIME_LO);
}
