// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Broadcast messages, time-codes and distributed interrupts. */

#include "internal.h"

#define TIME_MAX 63
#define TIME_FLAGS_MAX 3
#define INTERRUPT_MAX 31
#define INTERRUPT_ACKNOWLEDGE 0x20

static enum spfe_status stage_message(struct spfe_queue *queue, uint64_t data, uint32_t channel,
				      uint32_t type, enum spfe_message_kind kind)
{
	if (spfe_room(queue) == 0)
		return SPFE_STATUS_NO_RESOURCES;
	spfe_stage(queue, data,
		   channel << SPFE_MESSAGE_CHANNEL_SHIFT | type << SPFE_MESSAGE_TYPE_SHIFT |
			   (uint32_t)kind << SPFE_MESSAGE_KIND_SHIFT,
		   SPFE_ENTRY_TYPE_MESSAGE | SPFE_SUBMIT_FLAGS_SIGNAL);
	return SPFE_STATUS_OK;
}

enum spfe_status spfe_broadcast_post(struct spfe_queue *queue, uint8_t channel, uint8_t type,
				     uint64_t data)
{
	return stage_message(queue, data, channel, type, SPFE_MESSAGE_KIND_BROADCAST);
}

enum spfe_status spfe_time_code_post(struct spfe_queue *queue, uint8_t time, uint8_t flags)
{
	if (time > TIME_MAX || flags > TIME_FLAGS_MAX)
		return SPFE_STATUS_BAD_FIELD;
	return stage_message(queue, (uint64_t)(flags << 6 | time), 0, 0,
			     SPFE_MESSAGE_KIND_TIME_CODE);
}

enum spfe_status spfe_interrupt_post(struct spfe_queue *queue, uint8_t number, bool acknowledge)
{
	if (number > INTERRUPT_MAX)
		return SPFE_STATUS_BAD_FIELD;
	return stage_message(queue, number | (acknowledge ? INTERRUPT_ACKNOWLEDGE : 0U), 0, 0,
			     SPFE_MESSAGE_KIND_INTERRUPT);
}

bool spfe_message_poll(struct spfe_queue *queue, struct spfe_received *message)
{
	uint32_t entry[4];

	if (!spfe_peek(queue, entry))
		return false;
	*message = (struct spfe_received){
		.data = (uint64_t)entry[1] << 32 | entry[0],
		.channel = (uint8_t)(entry[2] >> SPFE_MESSAGE_CHANNEL_SHIFT),
		.type = (uint8_t)(entry[2] >> SPFE_MESSAGE_TYPE_SHIFT),
		.kind = (enum spfe_message_kind)(entry[2] >> SPFE_MESSAGE_KIND_SHIFT & 0xff),
		.status = (uint8_t)(entry[2] >> SPFE_MESSAGE_STATUS_SHIFT),
		.lost = entry[3] & SPFE_COMPLETION_FLAGS_LOST,
		.time_ns = spfe_stamp(queue, entry[3]),
	};
	queue->done++;
	spfe_stage(queue, 1ULL << SPFE_RELEASE_COMPLETIONS_SHIFT, 0, SPFE_ENTRY_TYPE_RELEASE);
	queue->freed++;
	spfe_commit(queue);
	return true;
}
