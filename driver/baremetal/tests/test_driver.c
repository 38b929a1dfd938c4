// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tests of the driver on this machine, against the device model of model.c. Prints TAP. */

#include "model.h"

#include <spfe/platform.h>
#include <stdio.h>
#include <string.h>

static struct model model;
static struct spfe_device device;
static struct spfe_region *region;
static _Alignas(64) uint8_t memory[1 << 18];
static size_t used;
static bool passed;
static const char *why;
static int line;

#define EXPECT(condition)                          \
	do {                                       \
		if (!(condition)) {                \
			if (passed) {              \
				why = #condition;  \
				line = __LINE__;   \
			}                          \
			passed = false;            \
		}                                  \
	} while (0)

static void *cut(size_t bytes)
{
	void *at = memory + used;

	used += (bytes + 63) & ~(size_t)63;
	return used <= sizeof(memory) ? at : NULL;
}

static void start(void)
{
	model_init(&model);
	used = 0;
	memset(memory, 0xa5, sizeof(memory));
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_OK);
	EXPECT(spfe_region_add(&device, memory, (uintptr_t)memory + 0x1000, sizeof(memory),
			       SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE,
			       &region) == SPFE_STATUS_OK);
}

static struct spfe_queue_options options(uint32_t log2)
{
	return (struct spfe_queue_options){
		.region = region,
		.memory = cut(SPFE_QUEUE_BYTES(log2)),
		.log2 = log2,
		.vector = 1,
	};
}

static void fill(uint8_t *bytes, uint32_t length, uint32_t seed)
{
	for (uint32_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(seed * 31 + i * 7);
}

static bool matches(const uint8_t *bytes, uint32_t length, uint32_t seed)
{
	for (uint32_t i = 0; i < length; i++)
		if (bytes[i] != (uint8_t)(seed * 31 + i * 7))
			return false;
	return true;
}

#define LONG_ENOUGH 1000000000ULL

static void finds_out_what_the_device_is(void)
{
	enum spfe_port_state state;

	start();
	EXPECT(device.ports == 2 && device.queues == MODEL_QUEUES && device.events == MODEL_EVENTS);
	EXPECT(device.port[0].kind == SPFE_PORT_KIND_SPACEFIBRE &&
	       device.port[1].kind == SPFE_PORT_KIND_SPACEWIRE);
	EXPECT(device.port[1].first_queue == MODEL_QUEUES / 2);
	EXPECT(device.port[0].messages == model_block(SPFE_BLOCK_TYPE_BROADCAST, 0));
	EXPECT(device.port[1].messages == model_block(SPFE_BLOCK_TYPE_TIME_CODE, 1));
	EXPECT(spfe_port_state(&device, 0, &state) == SPFE_STATUS_OK &&
	       state == SPFE_PORT_STATE_UP);
	EXPECT(spfe_port_state(&device, 2, &state) == SPFE_STATUS_NOT_FOUND);
	EXPECT(spfe_is_alive(&device));
	/* The sequence continues where an earlier driver stopped, and skips 0. */
	EXPECT(device.sequence != 0 && device.sequence < 16);
}

static void refuses_what_is_no_device(void)
{
	uint32_t *list = &model.word[(model_block(SPFE_BLOCK_TYPE_PORT, 1) + 8) / 4];

	model_init(&model);
	model.gone = true;
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_DEVICE_GONE);
	model_init(&model);
	model.word[SPFE_GLOBAL_BLOCK_MAGIC / 4] = 0x12345678;
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_VERSION);
	model_init(&model);
	model.word[SPFE_GLOBAL_BLOCK_CONTRACT_VERSION / 4] = (SPFE_CONTRACT_VERSION_MAJOR + 1)
							     << 16;
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_VERSION);
	model_init(&model);
	*list = 0x100; /* back to an earlier block */
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_FIELD);
	model_init(&model);
	*list = 0x301;
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_FIELD);
	model_init(&model);
	*list = 0; /* no queues, no regions */
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_FIELD);
	model_init(&model);
	model.word[SPFE_GLOBAL_BLOCK_PORTS / 4] = SPFE_PORTS_MAX + 1;
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_NO_RESOURCES);
	model_init(&model);
	model.word[SPFE_GLOBAL_BLOCK_PORTS / 4] = 3; /* port 2 has no block */
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_FIELD);
	model_init(&model);
	model.word[(model_block(SPFE_BLOCK_TYPE_PORT, 0) + SPFE_PORT_BLOCK_QUEUE_COUNT) / 4] =
		MODEL_QUEUES + 1;
	EXPECT(spfe_open(&device, &model) == SPFE_STATUS_BAD_FIELD);
}

static void a_device_that_does_not_answer_is_gone(void)
{
	start();
	model.deaf = true;
	EXPECT(spfe_port_start(&device, 0, true) == SPFE_STATUS_DEVICE_GONE);
	EXPECT(device.gone);
	/* The device stays gone; later calls do not wait again. */
	model.deaf = false;
	uint64_t before = spfe_platform_time_ns();
	EXPECT(spfe_reset(&device) == SPFE_STATUS_DEVICE_GONE);
	EXPECT(spfe_platform_time_ns() - before < SPFE_COMMAND_TIMEOUT_NS / 10);
	start();
	model.gone = true;
	EXPECT(!spfe_is_alive(&device));
}

static void open_pair(struct spfe_queue *tx, struct spfe_queue *rx, uint32_t log2)
{
	struct spfe_queue_options for_tx = options(log2), for_rx = options(log2);

	EXPECT(spfe_tx_open(&device, tx, 0, 1, &for_tx) == SPFE_STATUS_OK);
	EXPECT(spfe_rx_open(&device, rx, 0, 1, &for_rx) == SPFE_STATUS_OK);
}

static void packets_of_many_sizes_arrive_whole(void)
{
	static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 63, 64, 65, 255, 256, 1000, 1024 };
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *from, *to;

	start();
	open_pair(&tx, &rx, 4);
	from = cut(1024);
	to = cut(1024);
	/* Many laps of the rings. */
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t size = sizes[i % 12];

		fill(from, size, i);
		EXPECT(spfe_rx_post(&rx, region, to, 1024) == SPFE_STATUS_OK);
		spfe_commit(&rx);
		EXPECT(spfe_tx_post(&tx, region, from, size, SPFE_SIGNAL) == SPFE_STATUS_OK);
		spfe_commit(&tx);
		EXPECT(spfe_wait(&rx, LONG_ENOUGH) && spfe_poll(&rx, &done));
		EXPECT(done.bytes == size && done.status == SPFE_STATUS_OK && !done.more);
		EXPECT(done.end == SPFE_END_MARKER_EOP && matches(to, size, i));
		EXPECT(spfe_wait(&tx, LONG_ENOUGH) && spfe_poll(&tx, &done) && done.freed == 1);
		EXPECT(!spfe_poll(&tx, &done) && !spfe_poll(&rx, &done));
	}
	EXPECT(spfe_room(&tx) == 16 && spfe_close(&tx) == SPFE_STATUS_OK &&
	       spfe_close(&rx) == SPFE_STATUS_OK);
}

static void a_group_is_one_completion(void)
{
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *from, *to;

	start();
	open_pair(&tx, &rx, 4);
	from = cut(16 * 64);
	to = cut(16 * 64);
	for (uint32_t lap = 0; lap < 40; lap++) {
		for (uint32_t i = 0; i < 13; i++) {
			fill(from + i * 64, 64, lap + i);
			EXPECT(spfe_rx_post(&rx, region, to + i * 64, 64) == SPFE_STATUS_OK);
			EXPECT(spfe_tx_post(&tx, region, from + i * 64, 64,
					    i == 12 ? SPFE_SIGNAL : 0) == SPFE_STATUS_OK);
		}
		/* The device sees staged entries only after the commit. */
		spfe_commit(&rx);
		model_run(&model);
		EXPECT(!spfe_poll(&rx, &done));
		spfe_commit(&tx);
		model_run(&model);
		EXPECT(spfe_poll(&tx, &done) && done.freed == 13 && !spfe_poll(&tx, &done));
		for (uint32_t i = 0; i < 13; i++) {
			EXPECT(spfe_poll(&rx, &done) && done.freed == 1);
			EXPECT(matches(to + i * 64, 64, lap + i));
		}
	}
}

static void a_full_ring_refuses(void)
{
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *from;
	uint32_t i;

	start();
	open_pair(&tx, &rx, 2);
	from = cut(64);
	for (i = 0; i < 4; i++)
		EXPECT(spfe_tx_post(&tx, region, from, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	EXPECT(spfe_room(&tx) == 0);
	EXPECT(spfe_tx_post(&tx, region, from, 64, SPFE_SIGNAL) == SPFE_STATUS_NO_RESOURCES);
	EXPECT(spfe_tx_inline(&tx, from, 3, SPFE_SIGNAL) == SPFE_STATUS_NO_RESOURCES);
	EXPECT(spfe_tx_burst(&tx, region, from, 8, 8, 2, SPFE_SIGNAL) == SPFE_STATUS_NO_RESOURCES);
	spfe_commit(&tx);
	model_run(&model);
	/* Without a receive buffer the sender waits and nothing is lost. */
	EXPECT(!spfe_poll(&tx, &done) && !spfe_wait(&tx, 50000));
	EXPECT(spfe_rx_post(&rx, region, from, 64) == SPFE_STATUS_OK);
	spfe_commit(&rx);
	EXPECT(spfe_wait(&tx, LONG_ENOUGH) && spfe_poll(&tx, &done) && done.freed == 1 &&
	       spfe_room(&tx) == 1);
}

static void paths_chains_pieces_and_ends(void)
{
	static const uint8_t path[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *from, *to;

	start();
	open_pair(&tx, &rx, 4);
	from = cut(256);
	to = cut(256);
	fill(from, 256, 9);
	for (uint32_t length = 1; length <= 11; length++) {
		EXPECT(spfe_rx_post(&rx, region, to, 256) == SPFE_STATUS_OK);
		spfe_commit(&rx);
		EXPECT(spfe_tx_inline(&tx, path, length, SPFE_CHAIN) == SPFE_STATUS_OK);
		EXPECT(spfe_tx_post(&tx, region, from, 100, SPFE_CHAIN) == SPFE_STATUS_OK);
		EXPECT(spfe_tx_post(&tx, region, from + 100, 50, SPFE_SIGNAL | SPFE_EEP) ==
		       SPFE_STATUS_OK);
		spfe_commit(&tx);
		EXPECT(spfe_wait(&rx, LONG_ENOUGH) && spfe_poll(&rx, &done));
		EXPECT(done.bytes == length + 150 && done.end == SPFE_END_MARKER_EEP);
		EXPECT(memcmp(to, path, length) == 0 && memcmp(to + length, from, 150) == 0);
		EXPECT(spfe_poll(&tx, &done) && done.freed == 3);
	}
	EXPECT(spfe_tx_inline(&tx, path, 0, 0) == SPFE_STATUS_EMPTY);
	EXPECT(spfe_tx_inline(&tx, path, 12, 0) == SPFE_STATUS_TOO_LONG);
	/* A packet longer than a buffer continues in the next one. */
	EXPECT(spfe_rx_post(&rx, region, to, 40) == SPFE_STATUS_OK);
	EXPECT(spfe_rx_post(&rx, region, to + 64, 100) == SPFE_STATUS_OK);
	spfe_commit(&rx);
	EXPECT(spfe_tx_post(&tx, region, from, 70, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	EXPECT(spfe_wait(&rx, LONG_ENOUGH) && spfe_poll(&rx, &done) && done.more &&
	       done.bytes == 40);
	EXPECT(spfe_poll(&rx, &done) && !done.more && done.bytes == 30 &&
	       memcmp(to + 64, from + 40, 30) == 0);
}

static void a_burst_is_many_packets(void)
{
	struct spfe_queue_options for_tx, for_rx;
	struct spfe_record record;
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *from, *area;

	start();
	for_tx = options(2);
	for_rx = options(6);
	from = cut(40 * 32);
	area = cut(8192);
	fill(from, 40 * 32, 3);
	EXPECT(spfe_tx_open(&device, &tx, 0, 0, &for_tx) == SPFE_STATUS_OK);
	EXPECT(spfe_packed_open(&device, &rx, 0, 0, &for_rx, region, area, 8192) == SPFE_STATUS_OK);
	EXPECT(spfe_tx_burst(&tx, region, from, 20, 32, 40, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	EXPECT(spfe_wait(&tx, LONG_ENOUGH) && spfe_poll(&tx, &done) && done.packets == 40 &&
	       done.freed == 2);
	for (uint32_t i = 0; i < 40; i++) {
		EXPECT(spfe_packed_next(&rx, &record) && record.length == 20);
		EXPECT(memcmp(record.bytes, from + i * 32, 20) == 0);
	}
	EXPECT(!spfe_packed_next(&rx, &record));
	EXPECT(spfe_tx_burst(&tx, region, from, 20, 32, 0, 0) == SPFE_STATUS_EMPTY);
	EXPECT(spfe_tx_burst(&tx, region, from, 20, 32, 65536, 0) == SPFE_STATUS_TOO_LONG);
	EXPECT(spfe_tx_burst(&tx, region, from, 20, 1U << 31, 3, 0) == SPFE_STATUS_TOO_LONG);
	EXPECT(spfe_tx_burst(&tx, region, from, 20, 8192, 64, 0) == SPFE_STATUS_OUT_OF_BOUNDS);
	device.capability &= ~SPFE_CAPABILITY_BURST;
	EXPECT(spfe_tx_burst(&tx, region, from, 20, 32, 2, 0) == SPFE_STATUS_BAD_OPCODE);
}

static void a_packed_area_wraps_many_times(void)
{
	struct spfe_queue_options for_tx, for_rx;
	uint32_t sent = 0, got = 0, round;
	struct spfe_record record;
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *from, *area;

	start();
	for_tx = options(4);
	for_rx = options(4);
	from = cut(16 * 1024);
	area = cut(4096);
	EXPECT(spfe_tx_open(&device, &tx, 0, 0, &for_tx) == SPFE_STATUS_OK);
	EXPECT(spfe_packed_open(&device, &rx, 0, 0, &for_rx, region, area, 4095) ==
	       SPFE_STATUS_BAD_RING);
	EXPECT(spfe_packed_open(&device, &rx, 0, 0, &for_rx, region, area, 4096) == SPFE_STATUS_OK);
	for (round = 0; round < 4000 && got < 2000; round++) {
		while (sent < 2000 && spfe_room(&tx)) {
			uint32_t size = 1 + sent * 37 % 900;

			fill(from + sent % 16 * 1024, size, sent);
			EXPECT(spfe_tx_post(&tx, region, from + sent % 16 * 1024, size,
					    SPFE_SIGNAL) == SPFE_STATUS_OK);
			spfe_commit(&tx);
			sent++;
		}
		model_run(&model);
		while (spfe_packed_next(&rx, &record)) {
			EXPECT(record.length == 1 + got * 37 % 900 &&
			       record.end == SPFE_END_MARKER_EOP);
			EXPECT(matches(record.bytes, record.length, got));
			got++;
		}
		spfe_packed_release(&rx);
		while (spfe_poll(&tx, &done))
			EXPECT(done.status == SPFE_STATUS_OK);
	}
	EXPECT(got == 2000 && sent == 2000);
}

static void messages_and_time_codes_go_round(void)
{
	struct spfe_queue_options for_tx, for_rx;
	struct spfe_received message;
	struct spfe_queue tx, rx;
	struct spfe_done done;

	start();
	for_tx = options(3);
	for_rx = options(3);
	for_rx.stamps = true;
	EXPECT(spfe_message_tx_open(&device, &tx, 0, &for_tx) == SPFE_STATUS_OK);
	EXPECT(spfe_message_rx_open(&device, &rx, 0, 0, &for_rx) == SPFE_STATUS_OK);
	for (uint32_t i = 0; i < 300; i++) {
		EXPECT(spfe_broadcast_post(&tx, (uint8_t)i, 0x20, 0x0123456789abcdefULL + i) ==
		       SPFE_STATUS_OK);
		spfe_commit(&tx);
		EXPECT(spfe_wait(&rx, LONG_ENOUGH) && spfe_message_poll(&rx, &message));
		EXPECT(message.data == 0x0123456789abcdefULL + i && message.channel == (uint8_t)i);
		EXPECT(message.type == 0x20 && message.kind == SPFE_MESSAGE_KIND_BROADCAST);
		EXPECT(message.status == SPFE_MESSAGE_FLAGS_LATE && message.time_ns != 0 &&
		       !message.lost);
		EXPECT(spfe_poll(&tx, &done) && done.freed == 1);
	}
	for_tx = options(3);
	for_rx = options(3);
	EXPECT(spfe_message_tx_open(&device, &tx, 1, &for_tx) == SPFE_STATUS_OK);
	EXPECT(spfe_message_rx_open(&device, &rx, 1, 0, &for_rx) == SPFE_STATUS_OK);
	EXPECT(spfe_time_code_post(&tx, 63, 2) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	EXPECT(spfe_wait(&rx, LONG_ENOUGH) && spfe_message_poll(&rx, &message));
	EXPECT(message.data == (2U << 6 | 63) && message.kind == SPFE_MESSAGE_KIND_TIME_CODE &&
	       message.time_ns == 0);
	EXPECT(spfe_time_code_post(&tx, 64, 0) == SPFE_STATUS_BAD_FIELD);
	EXPECT(spfe_time_code_post(&tx, 0, 4) == SPFE_STATUS_BAD_FIELD);
	EXPECT(spfe_interrupt_post(&tx, 31, true) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	EXPECT(spfe_wait(&rx, LONG_ENOUGH) && spfe_message_poll(&rx, &message));
	EXPECT(message.data == (0x20 | 31) && message.kind == SPFE_MESSAGE_KIND_INTERRUPT);
	EXPECT(spfe_interrupt_post(&tx, 32, false) == SPFE_STATUS_BAD_FIELD);
}

static void message_contexts_are_found_and_run_out(void)
{
	struct spfe_queue_options list[MODEL_SLOTS + 1];
	struct spfe_queue queue[MODEL_SLOTS + 1];

	start();
	for (uint32_t i = 0; i < MODEL_SLOTS; i++) {
		list[i] = options(2);
		EXPECT(spfe_message_rx_open(&device, &queue[i], 0, 0, &list[i]) == SPFE_STATUS_OK);
	}
	list[MODEL_SLOTS] = options(2);
	EXPECT(spfe_message_rx_open(&device, &queue[MODEL_SLOTS], 0, 0, &list[MODEL_SLOTS]) ==
	       SPFE_STATUS_BUSY);
	EXPECT(spfe_close(&queue[0]) == SPFE_STATUS_OK);
	EXPECT(spfe_message_rx_open(&device, &queue[MODEL_SLOTS], 0, 0, &list[MODEL_SLOTS]) ==
	       SPFE_STATUS_OK);
}

static void an_error_names_its_submission(void)
{
	struct spfe_queue tx, rx;
	struct spfe_done done;
	struct spfe_region *other;
	static uint8_t elsewhere[64];

	start();
	open_pair(&tx, &rx, 4);
	EXPECT(spfe_region_add(&device, elsewhere, (uintptr_t)elsewhere + 0x1000, 64,
			       SPFE_ACCESS_LOCAL_READ, &other) == SPFE_STATUS_OK);
	EXPECT(spfe_tx_post(&tx, other, elsewhere, 64, 0) == SPFE_STATUS_OK);
	EXPECT(spfe_region_remove(&device, other) == SPFE_STATUS_OK);
	EXPECT(spfe_tx_post(&tx, other, elsewhere, 64, 0) == SPFE_STATUS_BAD_REGION);
	spfe_commit(&tx);
	EXPECT(spfe_wait(&tx, LONG_ENOUGH) && spfe_poll(&tx, &done) &&
	       done.status == SPFE_STATUS_BAD_REGION);
	EXPECT(strcmp(spfe_status_text(SPFE_STATUS_OK), "Done.") == 0);
	EXPECT(strstr(spfe_status_text((enum spfe_status)0xee), "not know") != NULL);
}

static void what_is_wrong_is_refused(void)
{
	struct spfe_queue_options wrong;
	struct spfe_queue queue, rx;
	uint8_t *bytes;

	start();
	bytes = cut(64);
	wrong = options(4);
	EXPECT(spfe_tx_open(&device, &queue, 2, 0, &wrong) == SPFE_STATUS_NOT_FOUND);
	EXPECT(spfe_tx_open(&device, &queue, 0, MODEL_VCS, &wrong) == SPFE_STATUS_BAD_VC);
	wrong.log2 = 1;
	EXPECT(spfe_tx_open(&device, &queue, 0, 0, &wrong) == SPFE_STATUS_BAD_RING);
	wrong.log2 = 16;
	EXPECT(spfe_tx_open(&device, &queue, 0, 0, &wrong) == SPFE_STATUS_BAD_RING);
	wrong = options(4);
	wrong.memory = (uint8_t *)wrong.memory + 4;
	EXPECT(spfe_tx_open(&device, &queue, 0, 0, &wrong) == SPFE_STATUS_BAD_RING);
	wrong = options(4);
	wrong.memory = memory + sizeof(memory) - 64;
	EXPECT(spfe_tx_open(&device, &queue, 0, 0, &wrong) == SPFE_STATUS_OUT_OF_BOUNDS);
	wrong = options(4);
	wrong.vector = MODEL_EVENTS;
	EXPECT(spfe_tx_open(&device, &queue, 0, 0, &wrong) == SPFE_STATUS_BAD_FIELD);
	wrong = options(4);
	EXPECT(spfe_tx_open(&device, &queue, 0, 0, &wrong) == SPFE_STATUS_OK);
	EXPECT(spfe_tx_open(&device, &rx, 0, 0, &wrong) == SPFE_STATUS_BUSY);
	EXPECT(spfe_tx_post(&queue, region, bytes, 0, 0) == SPFE_STATUS_EMPTY);
	EXPECT(spfe_tx_post(&queue, region, memory + sizeof(memory) - 4, 5, 0) ==
	       SPFE_STATUS_OUT_OF_BOUNDS);
	EXPECT(spfe_tx_post(&queue, region, (void *)((uintptr_t)memory - 1), 5, 0) ==
	       SPFE_STATUS_OUT_OF_BOUNDS);
	EXPECT(spfe_tx_post(&queue, region, bytes, SPFE_PACKET_MAX_BYTES + 1, 0) ==
	       SPFE_STATUS_TOO_LONG);
	EXPECT(spfe_tx_post(&queue, NULL, bytes, 5, 0) == SPFE_STATUS_BAD_REGION);
	EXPECT(spfe_region_remove(&device, region) == SPFE_STATUS_BUSY);
	EXPECT(spfe_port_priority(&device, 0, MODEL_VCS, 1) == SPFE_STATUS_BAD_VC);
	EXPECT(spfe_port_priority(&device, 0, 1, 16) == SPFE_STATUS_BAD_FIELD);
	EXPECT(spfe_port_priority(&device, 0, 1, 9) == SPFE_STATUS_OK);
	EXPECT(model.word[(model_block(SPFE_BLOCK_TYPE_PORT, 0) + SPFE_PORT_BLOCK_VC_PRIORITY_0) /
			  4] == 9U << 4);
	EXPECT(spfe_event_enable(&device, MODEL_EVENTS, true) == SPFE_STATUS_NOT_FOUND);
	struct spfe_region *more;
	for (uint32_t i = 1; i < MODEL_REGIONS; i++)
		EXPECT(spfe_region_add(&device, bytes, 4096, 64, 0, &more) == SPFE_STATUS_OK);
	EXPECT(spfe_region_add(&device, bytes, 4096, 64, 0, &more) == SPFE_STATUS_NO_RESOURCES);
	EXPECT(spfe_region_add(&device, NULL, 4096, 64, 0, &more) == SPFE_STATUS_EMPTY);
}

static void a_sleeping_device_is_woken_by_one_doorbell_a_group(void)
{
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *bytes;
	uint32_t before;

	start();
	open_pair(&tx, &rx, 4);
	bytes = cut(64);
	model.asleep = true;
	model_run(&model);
	before = model.doorbells;
	EXPECT(spfe_rx_post(&rx, region, bytes, 64) == SPFE_STATUS_OK);
	spfe_commit(&rx);
	EXPECT(spfe_tx_post(&tx, region, bytes, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	EXPECT(model.doorbells == before + 2 && spfe_poll(&rx, &done));
	model.asleep = false;
	model_run(&model);
	before = model.doorbells;
	EXPECT(spfe_rx_post(&rx, region, bytes, 64) == SPFE_STATUS_OK);
	spfe_commit(&rx);
	EXPECT(model.doorbells == before);
	spfe_commit(&rx); /* a commit without staged entries has no effect */
	EXPECT(model.doorbells == before);
}

static void arming_interrupts_once_or_says_there_is_something(void)
{
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *bytes;

	start();
	open_pair(&tx, &rx, 4);
	bytes = cut(64);
	EXPECT(spfe_event_enable(&device, 1, true) == SPFE_STATUS_OK);
	for (uint32_t i = 0; i < 3; i++)
		EXPECT(spfe_rx_post(&rx, region, bytes, 64) == SPFE_STATUS_OK);
	spfe_commit(&rx);
	EXPECT(!spfe_arm(&rx, 2, 0));
	EXPECT(spfe_tx_post(&tx, region, bytes, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	model_run(&model);
	EXPECT(model.interrupts[1] == 0);
	EXPECT(spfe_tx_post(&tx, region, bytes, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	model_run(&model);
	EXPECT(model.interrupts[1] == 1);
	EXPECT(spfe_arm(&rx, 1, 5000));
	EXPECT(spfe_poll(&rx, &done) && spfe_poll(&rx, &done) && !spfe_poll(&rx, &done));
	EXPECT(!spfe_arm(&rx, 1, 5000));
	spfe_disarm(&rx);
	EXPECT(spfe_tx_post(&tx, region, bytes, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	model_run(&model);
	EXPECT(model.interrupts[1] == 1);
}

static void a_broken_device_is_found_out(void)
{
	struct spfe_queue_options for_tx, for_rx;
	struct spfe_record record;
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint8_t *bytes, *area;
	uint32_t state = SPFE_QUEUE_STATE_ERROR, error = SPFE_STATUS_BAD_RING;

	start();
	open_pair(&tx, &rx, 4);
	bytes = cut(64);
	EXPECT(spfe_rx_post(&rx, region, bytes, 64) == SPFE_STATUS_OK);
	spfe_commit(&rx);
	EXPECT(spfe_tx_post(&tx, region, bytes, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	model.wrong_position = 5; /* names a submission that was never posted */
	model_run(&model);
	EXPECT(!spfe_poll(&rx, &done) && spfe_queue_status(&rx) == SPFE_STATUS_BAD_RING);
	EXPECT(!spfe_poll(&rx, &done) && !spfe_wait(&rx, LONG_ENOUGH));

	start();
	for_tx = options(4);
	for_rx = options(4);
	bytes = cut(64);
	area = cut(4096);
	EXPECT(spfe_tx_open(&device, &tx, 0, 0, &for_tx) == SPFE_STATUS_OK);
	EXPECT(spfe_packed_open(&device, &rx, 0, 0, &for_rx, region, area, 4096) == SPFE_STATUS_OK);
	model.wrong_length = 4096; /* makes a record longer than its run */
	EXPECT(spfe_tx_post(&tx, region, bytes, 64, SPFE_SIGNAL) == SPFE_STATUS_OK);
	spfe_commit(&tx);
	model_run(&model);
	EXPECT(!spfe_packed_next(&rx, &record) && spfe_queue_status(&rx) == SPFE_STATUS_BAD_RING);

	start();
	open_pair(&tx, &rx, 4);
	EXPECT(spfe_queue_status(&tx) == SPFE_STATUS_OK);
	memcpy((uint8_t *)(uintptr_t)tx.device_line + offsetof(struct spfe_device_line, state),
	       &state, 4);
	memcpy((uint8_t *)(uintptr_t)tx.device_line + offsetof(struct spfe_device_line, error),
	       &error, 4);
	EXPECT(spfe_queue_status(&tx) == SPFE_STATUS_BAD_RING);
}

static void a_reset_closes_everything(void)
{
	struct spfe_queue_options again;
	struct spfe_queue tx, rx;

	start();
	open_pair(&tx, &rx, 4);
	EXPECT(spfe_reset(&device) == SPFE_STATUS_OK && !region->base);
	EXPECT(spfe_close(&tx) == SPFE_STATUS_NOT_FOUND);
	used = 0;
	EXPECT(spfe_region_add(&device, memory, (uintptr_t)memory + 0x1000, sizeof(memory),
			       SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE,
			       &region) == SPFE_STATUS_OK);
	again = options(4);
	EXPECT(spfe_tx_open(&device, &tx, 0, 1, &again) == SPFE_STATUS_OK);
}

static void a_pool_gives_each_buffer_once(void)
{
	static uint8_t buffers[8][32];
	static uint16_t list[8];
	struct spfe_pool pool;
	void *taken[8];

	spfe_pool_init(&pool, buffers, 32, list, 8);
	for (int i = 0; i < 8; i++) {
		taken[i] = spfe_pool_take(&pool);
		EXPECT(taken[i] != NULL);
		for (int j = 0; j < i; j++)
			EXPECT(taken[i] != taken[j]);
	}
	EXPECT(spfe_pool_take(&pool) == NULL);
	EXPECT(spfe_pool_put(&pool, (uint8_t *)taken[3] + 1) == SPFE_STATUS_BAD_FIELD);
	EXPECT(spfe_pool_put(&pool, buffers[8]) == SPFE_STATUS_BAD_FIELD);
	EXPECT(spfe_pool_put(&pool, taken[3]) == SPFE_STATUS_OK);
	EXPECT(spfe_pool_put(&pool, taken[3]) == SPFE_STATUS_BUSY);
	EXPECT(spfe_pool_take(&pool) == taken[3] && spfe_pool_take(&pool) == NULL);
}

#define TEST(name) { #name, name }
static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	TEST(finds_out_what_the_device_is),
	TEST(refuses_what_is_no_device),
	TEST(a_device_that_does_not_answer_is_gone),
	TEST(packets_of_many_sizes_arrive_whole),
	TEST(a_group_is_one_completion),
	TEST(a_full_ring_refuses),
	TEST(paths_chains_pieces_and_ends),
	TEST(a_burst_is_many_packets),
	TEST(a_packed_area_wraps_many_times),
	TEST(messages_and_time_codes_go_round),
	TEST(message_contexts_are_found_and_run_out),
	TEST(an_error_names_its_submission),
	TEST(what_is_wrong_is_refused),
	TEST(a_sleeping_device_is_woken_by_one_doorbell_a_group),
	TEST(arming_interrupts_once_or_says_there_is_something),
	TEST(a_broken_device_is_found_out),
	TEST(a_reset_closes_everything),
	TEST(a_pool_gives_each_buffer_once),
};

int main(void)
{
	size_t count = sizeof(tests) / sizeof(tests[0]), failed = 0;

	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		passed = true;
		tests[i].run();
		printf("%s %zu - %s\n", passed ? "ok" : "not ok", i + 1, tests[i].name);
		if (!passed) {
			printf("# line %d: %s\n", line, why);
			failed++;
		}
	}
	return failed != 0;
}
