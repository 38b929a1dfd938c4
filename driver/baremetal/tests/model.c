// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "model.h"

#include <spfe/platform.h>
#include <string.h>

#define GLOBAL 0x000U
#define PORT0 0x100U
#define PORT1 0x200U
#define BROADCAST 0x300U
#define TIME_CODE 0x400U
#define UNKNOWN 0x500U
#define QUEUE 0x600U
#define REGION 0x1400U
#define EVENT 0x1800U

#define PORT_QUEUES (MODEL_QUEUES / 2U)

static const struct {
	uint32_t type, at, next, instance;
} blocks[] = {
	{ SPFE_BLOCK_TYPE_GLOBAL, GLOBAL, PORT0, 0 },
	{ SPFE_BLOCK_TYPE_PORT, PORT0, PORT1, 0 },
	{ SPFE_BLOCK_TYPE_PORT, PORT1, BROADCAST, 1 },
	{ SPFE_BLOCK_TYPE_BROADCAST, BROADCAST, TIME_CODE, 0 },
	{ SPFE_BLOCK_TYPE_TIME_CODE, TIME_CODE, UNKNOWN, 1 },
	{ 999, UNKNOWN, QUEUE, 0 },
	{ SPFE_BLOCK_TYPE_QUEUE, QUEUE, REGION, 0 },
	{ SPFE_BLOCK_TYPE_REGION, REGION, EVENT, 0 },
	{ SPFE_BLOCK_TYPE_EVENT, EVENT, 0, 0 },
};

uint32_t model_block(uint32_t type, uint32_t instance)
{
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (blocks[i].type == type && blocks[i].instance == instance)
			return blocks[i].at;
	return 0;
}

static uint32_t *reg(struct model *model, uint32_t offset)
{
	return &model->word[offset / 4];
}

static uint32_t *queue_reg(struct model *model, uint32_t queue, uint32_t offset)
{
	return reg(model, QUEUE + SPFE_QUEUE_BLOCK_SIZE + queue * SPFE_QUEUE_BLOCK_STRIDE + offset);
}

static uint32_t *region_reg(struct model *model, uint32_t region, uint32_t offset)
{
	return reg(model,
		   REGION + SPFE_REGION_BLOCK_SIZE + region * SPFE_REGION_BLOCK_STRIDE + offset);
}

static uint64_t pair(const uint32_t *low)
{
	return (uint64_t)low[1] << 32 | low[0];
}

void model_init(struct model *model)
{
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		*reg(model, blocks[i].at) = blocks[i].type | 1U << 16;
		*reg(model, blocks[i].at + 4) = 0x100;
		*reg(model, blocks[i].at + 8) = blocks[i].next;
		*reg(model, blocks[i].at + 12) = blocks[i].instance;
	}
	*reg(model, SPFE_GLOBAL_BLOCK_MAGIC) = SPFE_CONTRACT_MAGIC;
	*reg(model, SPFE_GLOBAL_BLOCK_CONTRACT_VERSION) = SPFE_CONTRACT_VERSION_MAJOR << 16 | 77;
	*reg(model, SPFE_GLOBAL_BLOCK_CAPABILITY) = SPFE_CAPABILITY_BURST | SPFE_CAPABILITY_PACKED |
						    SPFE_CAPABILITY_MESSAGE | SPFE_CAPABILITY_IOVA;
	*reg(model, SPFE_GLOBAL_BLOCK_PORTS) = 2;
	*reg(model, SPFE_GLOBAL_BLOCK_QUEUES) = MODEL_QUEUES;
	*reg(model, SPFE_GLOBAL_BLOCK_REGIONS) = MODEL_REGIONS;
	*reg(model, SPFE_GLOBAL_BLOCK_EVENTS) = MODEL_EVENTS;
	*reg(model, SPFE_GLOBAL_BLOCK_DOORBELL_OFFSET) = MODEL_DOORBELL;
	/* As an earlier driver left it. */
	*reg(model, SPFE_GLOBAL_BLOCK_CFG_ACK) = UINT32_MAX - 1;
	for (uint32_t port = 0; port < 2; port++) {
		uint32_t at = port ? PORT1 : PORT0;

		*reg(model, at + SPFE_PORT_BLOCK_KIND) =
			port ? SPFE_PORT_KIND_SPACEWIRE : SPFE_PORT_KIND_SPACEFIBRE;
		*reg(model, at + SPFE_PORT_BLOCK_STATE) = SPFE_PORT_STATE_UP;
		*reg(model, at + SPFE_PORT_BLOCK_VCS) = MODEL_VCS;
		*reg(model, at + SPFE_PORT_BLOCK_FIRST_QUEUE) = port * PORT_QUEUES;
		*reg(model, at + SPFE_PORT_BLOCK_QUEUE_COUNT) = PORT_QUEUES;
	}
}

/* ---- memory ---- */

static uint8_t *translate(struct model *model, uint64_t address, uint64_t length)
{
	uint64_t offset = address & ((1ULL << SPFE_OFFSET_BITS) - 1);

	for (uint32_t i = 0; i < MODEL_REGIONS; i++)
		if (model->region[i].base && model->region[i].key == address >> SPFE_OFFSET_BITS &&
		    offset <= model->region[i].bytes && length <= model->region[i].bytes - offset)
			return model->region[i].base + offset;
	return NULL;
}

static uint64_t word_at(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t phase(uint32_t position, uint32_t log2)
{
	return ((position >> log2) + 1) & 0xffff;
}

/* Reads a submission that the device has not consumed yet. False if there is none. */
static bool submission(const struct model_queue *queue, uint32_t ahead, uint64_t entry[2])
{
	uint32_t position = queue->taken + ahead;
	const uint8_t *slot = queue->sq + 16U * (position & ((1U << queue->log2) - 1));

	entry[0] = word_at(slot);
	entry[1] = word_at(slot + 8);
	return entry[1] >> 48 == phase(position, queue->log2);
}

static void complete(struct model *model, struct model_queue *queue, uint64_t word0, uint64_t word1)
{
	uint32_t index = queue->written & ((1U << queue->log2) - 1), arm[16];

	if (queue->stamped) {
		uint64_t now = model->now;

		memcpy(queue->stamps + 8U * index, &now, 8);
		word1 |= (uint64_t)SPFE_COMPLETION_FLAGS_STAMPED << 32;
	}
	word1 |= (uint64_t)phase(queue->written, queue->log2) << 48;
	memcpy(queue->cq + 16U * index, &word0, 8);
	memcpy(queue->cq + 16U * index + 8, &word1, 8);
	queue->written++;
	memcpy(arm, queue->lines, sizeof(arm));
	if (arm[0] & 1 && arm[1] & SPFE_ARM_FLAGS_EVENT &&
	    (int32_t)(queue->written - arm[2]) >= 0 && model->enabled[queue->vector])
		model->interrupts[queue->vector]++;
}

static void done(struct model *model, struct model_queue *queue, uint32_t bytes, uint32_t packets,
		 uint32_t status, uint32_t position, uint32_t flags)
{
	complete(model, queue, (uint64_t)status << 56 | (uint64_t)packets << 32 | bytes,
		 (uint64_t)flags << 32 | ((position + model->wrong_position) & 0xffff));
}

/* ---- packets ---- */

/* Whether the receiver has room for a packet of this length. */
static bool can_receive(struct model_queue *to, uint32_t length)
{
	uint32_t need = (length + 15) & ~7U, tail = to->area_bytes - to->head;
	uint64_t entry[2];
	uint32_t room = 0, ahead = 0;

	if (!to->enabled)
		return false;
	if (to->kind == SPFE_QUEUE_KIND_RX_PACKED)
		return to->credit > 0 &&
		       to->area_bytes - to->used >= need + (need > tail ? tail : 0);
	while (room < length && submission(to, ahead++, entry))
		room += (uint32_t)entry[1];
	return room >= length;
}

static void deliver_packed(struct model *model, struct model_queue *to, const uint8_t *bytes,
			   uint32_t length, uint32_t end)
{
	uint32_t need = (length + 15) & ~7U, tail = to->area_bytes - to->head, flags = 0;
	uint32_t said = length + model->wrong_length;

	if (need > tail) {
		to->used += tail;
		to->head = 0;
		flags = SPFE_COMPLETION_FLAGS_WRAP;
	}
	memcpy(to->area + to->head, &said, 4);
	memset(to->area + to->head + 4, 0, 4);
	to->area[to->head + 4] = (uint8_t)end;
	memcpy(to->area + to->head + 8, bytes, length);
	to->head += need;
	to->used += need;
	to->credit--;
	done(model, to, need, 1, SPFE_STATUS_OK, to->taken - 1, flags);
}

static void deliver(struct model *model, struct model_queue *to, const uint8_t *bytes,
		    uint32_t length, uint32_t end)
{
	uint64_t entry[2];

	if (to->kind == SPFE_QUEUE_KIND_RX_PACKED) {
		deliver_packed(model, to, bytes, length, end);
		return;
	}
	while (length && submission(to, 0, entry)) {
		uint32_t room = (uint32_t)entry[1], some = room < length ? room : length;
		uint8_t *at = translate(model, entry[0], room);

		memcpy(at, bytes, some);
		bytes += some;
		length -= some;
		done(model, to, some, 1, SPFE_STATUS_OK, to->taken,
		     length ? SPFE_COMPLETION_FLAGS_MORE | SPFE_END_MARKER_NONE : end);
		to->taken++;
	}
}

/* Frees the bytes of the area that RELEASE entries return. */
static void take_releases(struct model_queue *queue)
{
	uint64_t entry[2];

	while (submission(queue, 0, entry)) {
		queue->used -= (uint32_t)entry[0];
		queue->credit += (uint32_t)(entry[0] >> 32);
		queue->taken++;
	}
}

/* Moves one packet. False if none can be moved. */
static bool move_packet(struct model *model, struct model_queue *from, struct model_queue *to)
{
	uint8_t packet[4096];
	uint32_t length = 0, entries = 0, flags, type;
	uint64_t entry[2], ext[2];

	if (to->kind == SPFE_QUEUE_KIND_RX_PACKED && to->enabled)
		take_releases(to);
	do {
		if (!submission(from, entries++, entry))
			return false;
		flags = (uint32_t)(entry[1] >> 32) & 0xffff;
		type = flags & SPFE_SUBMIT_FLAGS_TYPE_MASK;
		if (type == SPFE_ENTRY_TYPE_INLINE) {
			uint32_t count = entry[1] & 0xff;
			uint8_t data[11];

			memcpy(data, &entry[0], 8);
			data[8] = (uint8_t)(entry[1] >> 8);
			data[9] = (uint8_t)(entry[1] >> 16);
			data[10] = (uint8_t)(entry[1] >> 24);
			memcpy(packet + length, data, count);
			length += count;
		} else if (type == SPFE_ENTRY_TYPE_DATA) {
			const uint8_t *bytes = translate(model, entry[0], (uint32_t)entry[1]);

			if (!bytes || length + (uint32_t)entry[1] > sizeof(packet)) {
				from->taken += entries;
				done(model, from, 0, 0, SPFE_STATUS_BAD_REGION, from->taken - 1, 0);
				return true;
			}
			memcpy(packet + length, bytes, (uint32_t)entry[1]);
			length += (uint32_t)entry[1];
		}
	} while (flags & SPFE_SUBMIT_FLAGS_CHAIN);
	if (type == SPFE_ENTRY_TYPE_BURST) {
		uint32_t count, stride;

		if (!submission(from, entries++, ext))
			return false;
		count = (uint32_t)(ext[0] >> 32) & 0xffff;
		stride = (uint32_t)ext[0];
		for (uint32_t i = 0; i < count; i++) {
			const uint8_t *bytes = translate(model, entry[0] + (uint64_t)i * stride,
							 (uint32_t)entry[1]);

			if (!can_receive(to, (uint32_t)entry[1]))
				return false; /* cannot happen: tests leave room for a whole burst */
			deliver(model, to, bytes, (uint32_t)entry[1], SPFE_END_MARKER_EOP);
		}
		from->taken += entries;
		done(model, from, count * (uint32_t)entry[1], count, SPFE_STATUS_OK,
		     from->taken - 1, 0);
		return true;
	}
	if (!can_receive(to, length))
		return false;
	deliver(model, to, packet, length,
		(flags & SPFE_SUBMIT_FLAGS_END_MASK) >> SPFE_SUBMIT_FLAGS_END_SHIFT);
	from->taken += entries;
	if (flags & SPFE_SUBMIT_FLAGS_SIGNAL)
		done(model, from, length, 1, SPFE_STATUS_OK, from->taken - 1, 0);
	return true;
}

static bool move_message(struct model *model, struct model_queue *from, uint32_t first)
{
	uint64_t entry[2];

	if (!submission(from, 0, entry))
		return false;
	for (uint32_t slot = 0; slot < MODEL_SLOTS; slot++) {
		struct model_queue *to = &model->queue[first + MODEL_SLOTS + slot];

		if (!to->enabled)
			continue;
		take_releases(to);
		if (to->credit == 0)
			continue;
		to->credit--;
		complete(
			model, to, entry[0],
			(entry[1] & 0x00ffffffU) | (uint64_t)SPFE_MESSAGE_FLAGS_LATE << 24 |
				(to->credit == 0 ? (uint64_t)SPFE_COMPLETION_FLAGS_LOST << 32 : 0));
	}
	from->taken++;
	done(model, from, 8, 1, SPFE_STATUS_OK, from->taken - 1, 0);
	return true;
}

void model_run(struct model *model)
{
	for (uint32_t port = 0; port < 2; port++) {
		struct model_queue *first = &model->queue[port * PORT_QUEUES];

		for (uint32_t vc = 0; vc < MODEL_VCS; vc++)
			if (first[2 * vc].enabled)
				while (move_packet(model, &first[2 * vc], &first[2 * vc + 1]))
					;
		for (uint32_t slot = 0; slot < MODEL_SLOTS; slot++) {
			struct model_queue *from = &first[2 * MODEL_VCS + slot];

			if (from->enabled)
				while (move_message(model, from,
						    port * PORT_QUEUES + 2 * MODEL_VCS))
					;
		}
	}
	for (uint32_t i = 0; i < MODEL_QUEUES; i++)
		if (model->queue[i].enabled) {
			uint32_t need = model->asleep;

			memcpy(model->queue[i].lines + 64 +
				       offsetof(struct spfe_device_line, need_doorbell),
			       &need, 4);
		}
}

/* ---- commands ---- */

/* Whether a queue context supports this kind. */
static bool can_be(uint32_t context, uint32_t kind)
{
	if (context >= 2 * MODEL_VCS)
		return kind == (context < 2 * MODEL_VCS + MODEL_SLOTS ? SPFE_QUEUE_KIND_MESSAGE_TX :
									SPFE_QUEUE_KIND_MESSAGE_RX);
	if (context % 2 == 0)
		return kind == SPFE_QUEUE_KIND_TX;
	return kind == SPFE_QUEUE_KIND_RX || kind == SPFE_QUEUE_KIND_RX_PACKED;
}

static uint32_t enable_queue(struct model *model, uint32_t index)
{
	struct model_queue *queue = &model->queue[index];
	uint32_t log2, entries;

	if (index >= MODEL_QUEUES)
		return SPFE_STATUS_NOT_FOUND;
	if (queue->enabled)
		return SPFE_STATUS_BUSY;
	log2 = *queue_reg(model, index, SPFE_QUEUE_BLOCK_SQ_LOG2);
	if (!can_be(index % PORT_QUEUES, *queue_reg(model, index, SPFE_QUEUE_BLOCK_KIND)))
		return SPFE_STATUS_BAD_FIELD;
	if (*queue_reg(model, index, SPFE_QUEUE_BLOCK_VECTOR) >= MODEL_EVENTS)
		return SPFE_STATUS_BAD_FIELD;
	entries = 1U << log2;
	*queue = (struct model_queue){
		.kind = *queue_reg(model, index, SPFE_QUEUE_BLOCK_KIND),
		.log2 = log2,
		.vector = *queue_reg(model, index, SPFE_QUEUE_BLOCK_VECTOR),
		.stamped = *queue_reg(model, index, SPFE_QUEUE_BLOCK_OPTIONS) &
			   SPFE_QUEUE_OPTIONS_STAMP,
		.sq = translate(model, pair(queue_reg(model, index, SPFE_QUEUE_BLOCK_SQ_LO)),
				16U * entries),
		.cq = translate(model, pair(queue_reg(model, index, SPFE_QUEUE_BLOCK_CQ_LO)),
				16U * entries),
		.stamps = translate(model, pair(queue_reg(model, index, SPFE_QUEUE_BLOCK_STAMP_LO)),
				    8U * entries),
		.lines = translate(model, pair(queue_reg(model, index, SPFE_QUEUE_BLOCK_LINES_LO)),
				   128),
		.credit = entries,
		.area_bytes = *queue_reg(model, index, SPFE_QUEUE_BLOCK_AREA_BYTES),
	};
	if (queue->kind == SPFE_QUEUE_KIND_RX_PACKED)
		queue->area =
			translate(model, pair(queue_reg(model, index, SPFE_QUEUE_BLOCK_AREA_LO)),
				  queue->area_bytes);
	if (!queue->sq || !queue->cq || !queue->stamps || !queue->lines)
		return SPFE_STATUS_BAD_REGION;
	queue->enabled = true;
	return SPFE_STATUS_OK;
}

static uint32_t enable_region(struct model *model, uint32_t index)
{
	if (index >= MODEL_REGIONS)
		return SPFE_STATUS_NOT_FOUND;
	if (model->region[index].base)
		return SPFE_STATUS_BUSY;
	if (*region_reg(model, index, SPFE_REGION_BLOCK_PAGE_LIST) != 0)
		return SPFE_STATUS_BAD_FIELD;
	model->generation = (model->generation + 1) & 0xf;
	/* Bus addresses are 0x1000 above processor addresses, so a mix-up is found. */
	model->region[index].base =
		(uint8_t *)(uintptr_t)(pair(region_reg(model, index, SPFE_REGION_BLOCK_BASE_LO)) -
				       0x1000);
	model->region[index].bytes = pair(region_reg(model, index, SPFE_REGION_BLOCK_SIZE_LO));
	model->region[index].key = (uint16_t)(model->generation << SPFE_REGION_INDEX_BITS | index);
	*region_reg(model, index, SPFE_REGION_BLOCK_KEY) = model->region[index].key;
	return SPFE_STATUS_OK;
}

static uint32_t carry_out(struct model *model, uint32_t command, uint32_t index)
{
	switch (command) {
	case SPFE_COMMAND_NOP:
		return SPFE_STATUS_OK;
	case SPFE_COMMAND_QUEUE_ENABLE:
		return enable_queue(model, index);
	case SPFE_COMMAND_QUEUE_DISABLE:
		if (index >= MODEL_QUEUES || !model->queue[index].enabled)
			return SPFE_STATUS_NOT_FOUND;
		model->queue[index].enabled = false;
		return SPFE_STATUS_OK;
	case SPFE_COMMAND_REGION_ENABLE:
		return enable_region(model, index);
	case SPFE_COMMAND_REGION_DISABLE:
		for (uint32_t i = 0; i < MODEL_QUEUES; i++)
			if (model->queue[i].enabled &&
			    model->queue[i].lines >= model->region[index].base &&
			    model->queue[i].lines <
				    model->region[index].base + model->region[index].bytes)
				return SPFE_STATUS_BUSY;
		model->region[index].base = NULL;
		return SPFE_STATUS_OK;
	case SPFE_COMMAND_PORT_CONFIGURE:
		return index < 2 ? SPFE_STATUS_OK : SPFE_STATUS_NOT_FOUND;
	case SPFE_COMMAND_RESET:
		for (uint32_t i = 0; i < MODEL_QUEUES; i++)
			model->queue[i].enabled = false;
		for (uint32_t i = 0; i < MODEL_REGIONS; i++)
			model->region[i].base = NULL;
		return SPFE_STATUS_OK;
	default:
		return SPFE_STATUS_BAD_OPCODE;
	}
}

static void latch(struct model *model)
{
	uint32_t sequence = *reg(model, SPFE_GLOBAL_BLOCK_CFG_SEQ);

	if (sequence == 0 || sequence == *reg(model, SPFE_GLOBAL_BLOCK_CFG_ACK) || model->deaf)
		return;
	for (uint32_t i = 0; i < MODEL_EVENTS; i++)
		model->enabled[i] =
			*reg(model, EVENT + SPFE_EVENT_BLOCK_SIZE + i * SPFE_EVENT_BLOCK_STRIDE +
					    SPFE_EVENT_BLOCK_ENABLE);
	*reg(model, SPFE_GLOBAL_BLOCK_CFG_STATUS) =
		carry_out(model, *reg(model, SPFE_GLOBAL_BLOCK_CFG_COMMAND),
			  *reg(model, SPFE_GLOBAL_BLOCK_CFG_INDEX));
	*reg(model, SPFE_GLOBAL_BLOCK_CFG_ACK) = sequence;
}

/* ---- the hooks of the driver ---- */

static struct model *current;

uint32_t spfe_platform_read(void *registers, uint32_t offset)
{
	struct model *model = registers;

	current = model;
	if (model->gone || offset / 4 >= MODEL_WORDS || offset % 4 != 0)
		return UINT32_MAX;
	if (offset == SPFE_GLOBAL_BLOCK_TIME_LO)
		return (uint32_t)model->now;
	if (offset == SPFE_GLOBAL_BLOCK_TIME_HI)
		return (uint32_t)(model->now >> 32);
	return *reg(model, offset);
}

void spfe_platform_write(void *registers, uint32_t offset, uint32_t value)
{
	struct model *model = registers;

	current = model;
	if (model->gone || offset / 4 >= MODEL_WORDS || offset % 4 != 0)
		return;
	*reg(model, offset) = value;
	if (offset != MODEL_DOORBELL)
		return;
	model->doorbells++;
	if ((value & SPFE_DOORBELL_KIND_MASK) >> SPFE_DOORBELL_KIND_SHIFT ==
	    SPFE_DOORBELL_KIND_LATCH)
		latch(model);
	else
		model_run(model);
}

void spfe_platform_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Each call advances time by one microsecond and lets the device run. */
uint64_t spfe_platform_time_ns(void)
{
	static uint64_t now;

	now += 1000;
	if (current) {
		current->now = now;
		if (!current->asleep)
			model_run(current);
	}
	return now;
}
