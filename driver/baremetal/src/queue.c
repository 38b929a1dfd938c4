// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queues: rings and lines in memory, submissions in groups, completions, waiting.
 *
 * Entries are stored as 32-bit words, because some processors have no 64-bit store. The last word
 * holds the phase: it is stored last and loaded first, with a fence in between.
 */

#include "internal.h"

#define ENTRY_WORDS (SPFE_ENTRY_BYTES / 4U)
#define LINE_WORDS 16U
#define FLAGS_MASK 0xffffU
#define PHASE_SHIFT 16 /* position of the phase in the last word of an entry */

/* Offsets of fields in the lines, in 32-bit words. */
#define HOST(field) (offsetof(struct spfe_host_line, field) / 4)
#define DEVICE(field) (offsetof(struct spfe_device_line, field) / 4)

static uint32_t load(const volatile uint32_t *word)
{
	return spfe_le32_value(*word);
}

static void store(volatile uint32_t *word, uint32_t value)
{
	*word = spfe_le32_value(value);
}

static uint32_t size_of(const struct spfe_queue *queue)
{
	return 1U << queue->log2;
}

static uint32_t index_of(const struct spfe_queue *queue, uint32_t position)
{
	return position & (size_of(queue) - 1);
}

/* The phase (lap number) of a ring position. */
static uint32_t phase_of(const struct spfe_queue *queue, uint32_t position)
{
	return ((position >> queue->log2) + 1) & 0xffff;
}

/* ---- open and close ---- */

/* Finds the queue contexts for a kind: `count` of them, starting with `first`. */
static enum spfe_status find_contexts(struct spfe_device *device, uint32_t port, uint32_t vc,
				      enum spfe_queue_kind kind, uint32_t *first, uint32_t *count)
{
	const struct spfe_port *found;

	if (port >= device->ports)
		return SPFE_STATUS_NOT_FOUND;
	found = &device->port[port];
	*first = found->first_queue;
	switch (kind) {
	case SPFE_QUEUE_KIND_MESSAGE_TX:
	case SPFE_QUEUE_KIND_MESSAGE_RX:
		/* Any free message context will do; those that transmit come first. */
		*count = (found->queue_count - 2 * found->vcs) / 2;
		*first += 2 * found->vcs + (kind == SPFE_QUEUE_KIND_MESSAGE_RX ? *count : 0);
		return *count ? SPFE_STATUS_OK : SPFE_STATUS_BAD_OPCODE;
	default:
		if (vc >= found->vcs)
			return SPFE_STATUS_BAD_VC;
		*count = 1;
		*first += 2 * vc + (kind != SPFE_QUEUE_KIND_TX);
		return SPFE_STATUS_OK;
	}
}

/* Clears the memory of a queue and lays out rings and lines in it. */
static enum spfe_status lay_out(struct spfe_queue *queue, const struct spfe_queue_options *options,
				uint64_t *address)
{
	volatile uint32_t *memory = options->memory;
	uint32_t entries, i;

	if (options->log2 < SPFE_RING_LOG2_MIN || options->log2 > SPFE_RING_LOG2_MAX ||
	    (uintptr_t)options->memory % 64 != 0)
		return SPFE_STATUS_BAD_RING;
	if (spfe_address(options->region, options->memory, SPFE_QUEUE_BYTES(options->log2),
			 address) != SPFE_STATUS_OK)
		return SPFE_STATUS_OUT_OF_BOUNDS;
	for (i = 0; i < SPFE_QUEUE_BYTES(options->log2) / 4; i++)
		memory[i] = 0;
	entries = 1U << options->log2;
	queue->log2 = options->log2;
	queue->host_line = memory;
	queue->device_line = memory + LINE_WORDS;
	queue->sq = queue->device_line + LINE_WORDS;
	queue->cq = queue->sq + ENTRY_WORDS * entries;
	queue->stamps = queue->cq + ENTRY_WORDS * entries;
	return SPFE_STATUS_OK;
}

static void write_pair(const struct spfe_queue *queue, uint32_t low, uint64_t value)
{
	uint32_t at = spfe_queue_register(queue->device, queue->context, low);

	spfe_platform_write(queue->device->registers, at, spfe_low(value));
	spfe_platform_write(queue->device->registers, at + 4, spfe_high(value));
}

static void write_word(const struct spfe_queue *queue, uint32_t offset, uint32_t value)
{
	spfe_platform_write(queue->device->registers,
			    spfe_queue_register(queue->device, queue->context, offset), value);
}

static uint64_t part(const struct spfe_queue *queue, uint64_t lines, const volatile uint32_t *at)
{
	return lines + (uint64_t)(at - queue->host_line) * 4;
}

static enum spfe_status enable(struct spfe_queue *queue, const struct spfe_queue_options *options,
			       uint64_t lines, uint64_t area, uint32_t filter)
{
	write_word(queue, SPFE_QUEUE_BLOCK_KIND, queue->kind);
	write_word(queue, SPFE_QUEUE_BLOCK_OPTIONS, options->stamps ? SPFE_QUEUE_OPTIONS_STAMP : 0);
	write_word(queue, SPFE_QUEUE_BLOCK_DOMAIN, 0);
	write_word(queue, SPFE_QUEUE_BLOCK_VECTOR, options->vector);
	write_word(queue, SPFE_QUEUE_BLOCK_SQ_LOG2, queue->log2);
	write_word(queue, SPFE_QUEUE_BLOCK_CQ_LOG2, queue->log2);
	write_pair(queue, SPFE_QUEUE_BLOCK_SQ_LO, part(queue, lines, queue->sq));
	write_pair(queue, SPFE_QUEUE_BLOCK_CQ_LO, part(queue, lines, queue->cq));
	write_pair(queue, SPFE_QUEUE_BLOCK_STAMP_LO, part(queue, lines, queue->stamps));
	write_pair(queue, SPFE_QUEUE_BLOCK_LINES_LO, lines);
	write_pair(queue, SPFE_QUEUE_BLOCK_AREA_LO, area);
	write_word(queue, SPFE_QUEUE_BLOCK_AREA_BYTES, queue->area_bytes);
	write_word(queue, SPFE_QUEUE_BLOCK_FILTER, filter);
	return spfe_command(queue->device, SPFE_COMMAND_QUEUE_ENABLE, queue->context);
}

static enum spfe_status open_queue(struct spfe_device *device, struct spfe_queue *queue,
				   uint32_t port, uint32_t vc, uint32_t filter, uint64_t area,
				   const struct spfe_queue_options *options)
{
	uint32_t first, count, i;
	enum spfe_status status;
	uint64_t lines;

	queue->device = device;
	status = find_contexts(device, port, vc, queue->kind, &first, &count);
	if (status == SPFE_STATUS_OK)
		status = lay_out(queue, options, &lines);
	if (status != SPFE_STATUS_OK)
		return status;
	for (i = 0; i < count; i++) {
		queue->context = first + i;
		status = enable(queue, options, lines, area, filter);
		if (status != SPFE_STATUS_BUSY)
			break;
	}
	return status;
}

enum spfe_status spfe_tx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port,
			      uint32_t vc, const struct spfe_queue_options *options)
{
	*queue = (struct spfe_queue){ .kind = SPFE_QUEUE_KIND_TX };
	return open_queue(device, queue, port, vc, 0, 0, options);
}

enum spfe_status spfe_rx_open(struct spfe_device *device, struct spfe_queue *queue, uint32_t port,
			      uint32_t vc, const struct spfe_queue_options *options)
{
	*queue = (struct spfe_queue){ .kind = SPFE_QUEUE_KIND_RX };
	return open_queue(device, queue, port, vc, 0, 0, options);
}

enum spfe_status spfe_packed_open(struct spfe_device *device, struct spfe_queue *queue,
				  uint32_t port, uint32_t vc,
				  const struct spfe_queue_options *options,
				  struct spfe_region *region, void *area, uint32_t bytes)
{
	enum spfe_status status;
	uint64_t address;

	if (!(device->capability & SPFE_CAPABILITY_PACKED))
		return SPFE_STATUS_BAD_OPCODE;
	if (bytes < SPFE_PACKED_AREA_MIN_BYTES || bytes > SPFE_PACKET_MAX_BYTES ||
	    bytes % SPFE_PACKED_ALIGN != 0)
		return SPFE_STATUS_BAD_RING;
	status = spfe_address(region, area, bytes, &address);
	if (status != SPFE_STATUS_OK)
		return status;
	*queue = (struct spfe_queue){
		.kind = SPFE_QUEUE_KIND_RX_PACKED, .area = area, .area_bytes = bytes};
	return open_queue(device, queue, port, vc, 0, address, options);
}

enum spfe_status spfe_message_tx_open(struct spfe_device *device, struct spfe_queue *queue,
				      uint32_t port, const struct spfe_queue_options *options)
{
	*queue = (struct spfe_queue){ .kind = SPFE_QUEUE_KIND_MESSAGE_TX };
	return open_queue(device, queue, port, 0, 0, 0, options);
}

enum spfe_status spfe_message_rx_open(struct spfe_device *device, struct spfe_queue *queue,
				      uint32_t port, uint32_t filter,
				      const struct spfe_queue_options *options)
{
	*queue = (struct spfe_queue){ .kind = SPFE_QUEUE_KIND_MESSAGE_RX };
	return open_queue(device, queue, port, 0, filter, 0, options);
}

enum spfe_status spfe_close(struct spfe_queue *queue)
{
	return spfe_command(queue->device, SPFE_COMMAND_QUEUE_DISABLE, queue->context);
}

enum spfe_status spfe_queue_status(const struct spfe_queue *queue)
{
	if (queue->device->gone)
		return SPFE_STATUS_DEVICE_GONE;
	if (queue->kind == SPFE_QUEUE_KIND_NONE)
		return SPFE_STATUS_BAD_RING;
	if (load(&queue->device_line[DEVICE(state)]) == SPFE_QUEUE_STATE_ERROR)
		return (enum spfe_status)load(&queue->device_line[DEVICE(error)]);
	return SPFE_STATUS_OK;
}

void spfe_broken(struct spfe_queue *queue)
{
	queue->kind = SPFE_QUEUE_KIND_NONE;
}

/* ---- submissions ---- */

uint32_t spfe_room(const struct spfe_queue *queue)
{
	return size_of(queue) - (queue->staged - queue->freed);
}

/* Stores an entry. The phase is stored last and publishes the entry. */
static void write_entry(const struct spfe_queue *queue, uint32_t position, const uint32_t entry[4])
{
	volatile uint32_t *slot = queue->sq + ENTRY_WORDS * index_of(queue, position);

	store(&slot[0], entry[0]);
	store(&slot[1], entry[1]);
	store(&slot[2], entry[2]);
	spfe_platform_barrier();
	store(&slot[3], (entry[3] & FLAGS_MASK) | phase_of(queue, position) << PHASE_SHIFT);
}

void spfe_stage(struct spfe_queue *queue, uint64_t word0, uint32_t low, uint32_t flags)
{
	uint32_t entry[4] = { spfe_low(word0), spfe_high(word0), low, flags };
	uint32_t i;

	if (queue->staged == queue->posted)
		for (i = 0; i < ENTRY_WORDS; i++)
			queue->first[i] = entry[i];
	else
		write_entry(queue, queue->staged, entry);
	queue->staged++;
}

void spfe_commit(struct spfe_queue *queue)
{
	struct spfe_device *device = queue->device;

	if (queue->staged == queue->posted)
		return;
	/* The fence in write_entry also orders payload and all other entries before this one. */
	write_entry(queue, queue->posted, queue->first);
	queue->posted = queue->staged;
	spfe_platform_barrier();
	if (load(&queue->device_line[DEVICE(need_doorbell)]) == 0)
		return;
	spfe_platform_write(device->registers, device->doorbell + 4, queue->posted);
	spfe_platform_write(device->registers, device->doorbell,
			    queue->context << SPFE_DOORBELL_QUEUE_SHIFT);
}

/* ---- completions ---- */

bool spfe_peek(const struct spfe_queue *queue, uint32_t entry[4])
{
	const volatile uint32_t *slot = queue->cq + ENTRY_WORDS * index_of(queue, queue->done);

	if (queue->kind == SPFE_QUEUE_KIND_NONE)
		return false;
	entry[3] = load(&slot[3]);
	if (entry[3] >> PHASE_SHIFT != phase_of(queue, queue->done))
		return false;
	spfe_platform_barrier();
	entry[0] = load(&slot[0]);
	entry[1] = load(&slot[1]);
	entry[2] = load(&slot[2]);
	/* A device that paces links ahead of time states when the completion becomes valid. */
	return !(entry[3] & SPFE_COMPLETION_FLAGS_TIMED) ||
	       spfe_stamp(queue, entry[3]) <= spfe_device_time_ns(queue->device);
}

uint64_t spfe_stamp(const struct spfe_queue *queue, uint32_t flags)
{
	const volatile uint32_t *stamp = queue->stamps + 2 * index_of(queue, queue->done);

	if (!(flags & SPFE_COMPLETION_FLAGS_STAMPED))
		return 0;
	return (uint64_t)load(&stamp[1]) << 32 | load(&stamp[0]);
}

bool spfe_poll(struct spfe_queue *queue, struct spfe_done *done)
{
	uint32_t entry[4], freed;

	if (!spfe_peek(queue, entry))
		return false;
	/* Bits 15:0 of the position of the last submission it frees, which is outstanding. */
	freed = ((entry[2] - queue->freed) & 0xffff) + 1;
	if (freed > queue->posted - queue->freed) {
		spfe_broken(queue);
		return false;
	}
	*done = (struct spfe_done){
		.bytes = entry[0],
		.packets = entry[1] & 0xffff,
		.freed = freed,
		.status = (enum spfe_status)(entry[1] >> 24),
		.end = (enum spfe_end_marker)(entry[3] & SPFE_COMPLETION_FLAGS_END_MASK),
		.more = entry[3] & SPFE_COMPLETION_FLAGS_MORE,
		.time_ns = spfe_stamp(queue, entry[3]),
	};
	queue->freed += freed;
	queue->done++;
	return true;
}

/* ---- waiting ---- */

bool spfe_wait(struct spfe_queue *queue, uint64_t timeout_ns)
{
	uint64_t start = spfe_platform_time_ns();
	uint32_t entry[4];

	while (!spfe_peek(queue, entry)) {
		if (spfe_queue_status(queue) != SPFE_STATUS_OK ||
		    spfe_platform_time_ns() - start >= timeout_ns)
			return false;
	}
	return true;
}

bool spfe_arm(struct spfe_queue *queue, uint32_t count, uint64_t after_first_ns)
{
	volatile uint32_t *line = queue->host_line;
	uint32_t entry[4], flags = SPFE_ARM_FLAGS_EVENT | SPFE_ARM_FLAGS_COUNT;

	store(&line[HOST(want_count)], queue->done + (count ? count : 1));
	if (after_first_ns) {
		flags |= SPFE_ARM_FLAGS_TIME;
		store(&line[HOST(after_first_ns)], spfe_low(after_first_ns));
		store(&line[HOST(after_first_ns) + 1], spfe_high(after_first_ns));
	}
	store(&line[HOST(first_position)], queue->done);
	store(&line[HOST(flags)], flags);
	queue->arm = (queue->arm + 2) | 1;
	spfe_platform_barrier();
	store(&line[HOST(arm)], queue->arm);
	spfe_platform_barrier();
	if (!spfe_peek(queue, entry))
		return false;
	spfe_disarm(queue);
	return true;
}

void spfe_disarm(struct spfe_queue *queue)
{
	store(&queue->host_line[HOST(arm)], 0);
}
