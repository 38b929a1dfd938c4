// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Submissions of packets and receive buffers. */

#include "internal.h"

static enum spfe_status stage_bytes(struct spfe_queue *queue, const struct spfe_region *region,
				    const void *bytes, uint32_t length, uint32_t flags)
{
	enum spfe_status status;
	uint64_t address;

	if (length == 0)
		return SPFE_STATUS_EMPTY;
	if (length > SPFE_PACKET_MAX_BYTES)
		return SPFE_STATUS_TOO_LONG;
	status = spfe_address(region, bytes, length, &address);
	if (status != SPFE_STATUS_OK)
		return status;
	if (spfe_room(queue) == 0)
		return SPFE_STATUS_NO_RESOURCES;
	spfe_stage(queue, address, length, flags);
	return SPFE_STATUS_OK;
}

enum spfe_status spfe_tx_post(struct spfe_queue *queue, const struct spfe_region *region,
			      const void *bytes, uint32_t length, uint32_t flags)
{
	return stage_bytes(queue, region, bytes, length, SPFE_ENTRY_TYPE_DATA | flags);
}

enum spfe_status spfe_rx_post(struct spfe_queue *queue, const struct spfe_region *region,
			      void *bytes, uint32_t length)
{
	return stage_bytes(queue, region, bytes, length, SPFE_ENTRY_TYPE_BUFFER);
}

enum spfe_status spfe_tx_inline(struct spfe_queue *queue, const void *bytes, uint32_t length,
				uint32_t flags)
{
	const uint8_t *from = bytes;
	uint64_t data = 0;
	uint32_t rest, i;

	if (length == 0)
		return SPFE_STATUS_EMPTY;
	if (length > SPFE_INLINE_MAX_BYTES)
		return SPFE_STATUS_TOO_LONG;
	if (spfe_room(queue) == 0)
		return SPFE_STATUS_NO_RESOURCES;
	rest = length;
	for (i = 0; i < length && i < 8; i++)
		data |= (uint64_t)from[i] << (8 * i);
	for (; i < length; i++)
		rest |= (uint32_t)from[i] << (8 * (i - 8) + SPFE_INLINE_SUBMISSION_DATA_HI_SHIFT);
	spfe_stage(queue, data, rest, SPFE_ENTRY_TYPE_INLINE | flags);
	return SPFE_STATUS_OK;
}

enum spfe_status spfe_tx_burst(struct spfe_queue *queue, const struct spfe_region *region,
			       const void *bytes, uint32_t length, uint32_t stride, uint32_t count,
			       uint32_t flags)
{
	enum spfe_status status;
	uint64_t address, span;

	if (!(queue->device->capability & SPFE_CAPABILITY_BURST))
		return SPFE_STATUS_BAD_OPCODE;
	if (length == 0 || count == 0)
		return SPFE_STATUS_EMPTY;
	span = (uint64_t)stride * (count - 1) + length;
	if (length > SPFE_PACKET_MAX_BYTES || count > SPFE_BURST_MAX || span >> 32 != 0 ||
	    (uint64_t)length * count >> 32 != 0)
		return SPFE_STATUS_TOO_LONG;
	status = spfe_address(region, bytes, (size_t)span, &address);
	if (status != SPFE_STATUS_OK)
		return status;
	if (spfe_room(queue) < 2)
		return SPFE_STATUS_NO_RESOURCES;
	spfe_stage(queue, address, length, SPFE_ENTRY_TYPE_BURST | flags);
	spfe_stage(queue, (uint64_t)count << SPFE_BURST_EXT_COUNT_SHIFT | stride, 0,
		   SPFE_ENTRY_TYPE_BURST_EXT);
	return SPFE_STATUS_OK;
}
