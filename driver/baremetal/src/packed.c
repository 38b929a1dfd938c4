// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Packed receive: the device stores records one after another and reports runs of them. */

#include "internal.h"

/* Starts reading the run of the next completion. False if there is no completion. */
static bool next_run(struct spfe_queue *queue)
{
	uint32_t entry[4], offset, skipped = 0;

	if (!spfe_peek(queue, entry))
		return false;
	offset = queue->tail;
	if (entry[3] & SPFE_COMPLETION_FLAGS_WRAP) {
		skipped = queue->area_bytes - offset;
		offset = 0;
	}
	if (entry[0] > queue->area_bytes - offset) {
		spfe_broken(queue);
		return false;
	}
	queue->done++;
	queue->run = entry[0];
	queue->record = offset;
	queue->tail = offset + entry[0];
	queue->owed_bytes += skipped + entry[0];
	queue->owed++;
	return true;
}

static uint32_t read_le32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

bool spfe_packed_next(struct spfe_queue *queue, struct spfe_record *record)
{
	const uint8_t *header;
	uint32_t length, total;

	while (queue->run == 0)
		if (!next_run(queue))
			return false;
	header = queue->area + queue->record;
	length = queue->run < SPFE_PACKED_HEADER_BYTES ? UINT32_MAX : read_le32(header);
	if (length > SPFE_PACKET_MAX_BYTES)
		goto broken;
	total = (SPFE_PACKED_HEADER_BYTES + length + SPFE_PACKED_ALIGN - 1) &
		~(SPFE_PACKED_ALIGN - 1);
	if (total > queue->run)
		goto broken;
	*record = (struct spfe_record){
		.bytes = header + SPFE_PACKED_HEADER_BYTES,
		.length = length,
		.end = (enum spfe_end_marker)header[offsetof(struct spfe_record_header, end)],
	};
	queue->record += total;
	queue->run -= total;
	return true;
broken:
	spfe_broken(queue);
	queue->run = 0;
	return false;
}

void spfe_packed_release(struct spfe_queue *queue)
{
	/* A run that is still being read is released later, together with the next one. */
	if (queue->owed == 0 || queue->run != 0 || queue->kind != SPFE_QUEUE_KIND_RX_PACKED)
		return;
	spfe_stage(queue,
		   (uint64_t)queue->owed << SPFE_RELEASE_COMPLETIONS_SHIFT | queue->owed_bytes, 0,
		   SPFE_ENTRY_TYPE_RELEASE);
	/* A release has no completion. Credit guarantees room in the ring (contract, "Credit"). */
	queue->freed++;
	queue->owed = 0;
	queue->owed_bytes = 0;
	spfe_commit(queue);
}
