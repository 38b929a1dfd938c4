/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* RDMA: requests, servers and queue pairs. */
#define _GNU_SOURCE
#include "suite.h"

/* A completion that must be there. */
static struct spfe_rdma_completion ended(spfe_rdma *queue)
{
	struct spfe_rdma_completion end = {0};

	OK(spfe_rdma_ring(queue));
	OK(spfe_rdma_wait(queue, 1, SOON));
	CHECK(spfe_rdma_poll(queue, &end) == 1);
	return end;
}

/* The same requests, executed by the device or by the program. */
static void rdma_path(uint16_t flags)
{
	spfe_endpoint *endpoint = device("virtual:?peer=target:1M");
	struct spfe_rdma_options of = {.size = sizeof(of), .flags = flags, .reserved = 1};
	struct spfe_rdma_request request = {.size = sizeof(request), .id = 7, .local_count = 2,
					    .flags = SPFE_RDMA_SIGNALED};
	struct spfe_rdma_region regions[2];
	struct spfe_rdma_completion end;
	struct spfe_rdma_local local[2] = {{10, 0, 20}, {50, 0, 30}};
	struct spfe_threshold two = {.count = 2};
	spfe_rdma *queue = NULL;
	uint8_t bytes[100], *data = NULL;
	uint32_t memory = 0, key;
	size_t size = 0;
	char text[8];

	FAILS(BAD_FIELD, spfe_rdma_open(endpoint, 0, 0, &of, &queue));
	of.reserved = 0;
	OK(spfe_rdma_open(endpoint, 0, 0, &of, &queue));
	CHECK(spfe_rdma_state(queue) == SPFE_RDMA_RESET);
	CHECK(spfe_rdma_regions(queue, regions, 2, SOON) == 1);
	CHECK(regions[0].bytes == 1 << 20 && regions[0].flags & SPFE_REGION_ATOMIC);
	key = regions[0].key;
	OK(spfe_rdma_connect(queue, SOON));
	CHECK(spfe_rdma_state(queue) == SPFE_RDMA_READY);

	OK(spfe_rdma_write(queue, key, 0x100, (const uint8_t *)"from here to there", 18, SOON));
	OK(spfe_rdma_read(queue, key, 0x100, bytes, 18, SOON));
	CHECK(memcmp(bytes, "from here to there", 18) == 0);

	OK(spfe_rdma_alloc(queue, 100, 0, &memory));
	OK(spfe_rdma_data(queue, memory, &data, &size));
	CHECK(size == 100 && data[99] == 0);
	memset(data, 0x55, 100);
	local[0].memory = local[1].memory = memory;
	request.local = local;
	request.key = key;
	request.address = 0x200;
	request.opcode = SPFE_RDMA_WRITE;
	OK(spfe_rdma_post(queue, &request));
	end = ended(queue);
	CHECK(end.id == 7 && end.status == 0 && end.bytes == 50);
	OK(spfe_rdma_read(queue, key, 0x200, bytes, 51, SOON));
	CHECK(bytes[0] == 0x55 && bytes[49] == 0x55 && bytes[50] == 0);

	/* 8 bytes of 0x55 there: add 1, then exchange. */
	request.local_count = 0;
	request.opcode = SPFE_RDMA_FETCH_ADD;
	request.operand = 1;
	OK(spfe_rdma_post(queue, &request));
	CHECK(ended(queue).old == 0x5555555555555555);
	request.opcode = SPFE_RDMA_CMP_SWAP;
	request.compare = 0x5555555555555556;
	request.operand = 0;
	OK(spfe_rdma_post(queue, &request));
	CHECK(ended(queue).old == 0x5555555555555556);
	OK(spfe_rdma_read(queue, key, 0x200, bytes, 9, SOON));
	CHECK(bytes[0] == 0 && bytes[7] == 0 && bytes[8] == 0x55);
	request.opcode = SPFE_RDMA_FLUSH;
	OK(spfe_rdma_post(queue, &request));
	CHECK(ended(queue).status == 0);

	/* Two completions, and then no more. */
	for (int i = 0; i < 2; i++)
		OK(spfe_rdma_post(queue, &request));
	OK(spfe_rdma_ring(queue));
	CHECK(spfe_rdma_wait_for(queue, &two, SOON) == SPFE_READY_THRESHOLD);
	CHECK(spfe_rdma_poll(queue, &end) == 1 && spfe_rdma_poll(queue, &end) == 1);
	CHECK(spfe_rdma_wait_for(queue, NULL, SOON) == SPFE_READY_ATTENTION);

	/* Inline data, and what cannot be posted. */
	request.opcode = SPFE_RDMA_WRITE;
	request.inline_data = (const uint8_t *)"inline";
	request.inline_bytes = 6;
	OK(spfe_rdma_post(queue, &request));
	CHECK(ended(queue).status == 0);
	OK(spfe_rdma_read(queue, key, 0x200, bytes, 6, SOON));
	CHECK(memcmp(bytes, "inline", 6) == 0);
	request.local_count = 1;
	FAILS(BAD_FIELD, spfe_rdma_post(queue, &request));
	request.inline_bytes = 0;
	request.local_count = 5;
	FAILS(CHAIN_TOO_LONG, spfe_rdma_post(queue, &request));
	request.local_count = 1;
	local[0].offset = 90;
	FAILS(OUT_OF_BOUNDS, spfe_rdma_post(queue, &request));
	local[0].offset = 0;
	request.opcode = 7;
	FAILS(BAD_FIELD, spfe_rdma_post(queue, &request));
	request.opcode = SPFE_RDMA_WRITE;
	request.flags = 16;
	FAILS(BAD_FIELD, spfe_rdma_post(queue, &request));
	request.flags = 0;
	FAILS(BAD_FIELD, spfe_rdma_post(queue, NULL));

	/* Beyond the region: an error ends the queue pair until it connects again. */
	request.address = 1 << 20;
	OK(spfe_rdma_post(queue, &request));
	end = ended(queue);
	CHECK(end.status < SPFE_RDMA_REFUSED && end.not_executed == 1);
	CHECK(strcmp(spfe_status_name(end.status), "RDMA_REFUSED") == 0);
	CHECK(spfe_rdma_state(queue) == SPFE_RDMA_ERROR);
	CHECK(spfe_rdma_why(queue, text, sizeof(text)) > 7 && strlen(text) == 7);
	OK(spfe_rdma_connect(queue, SOON));
	OK(spfe_rdma_read(queue, key, 0x100, bytes, 18, SOON));
	CHECK(spfe_rdma_read(queue, key, 1 << 20, bytes, 18, SOON) < SPFE_RDMA_REFUSED);

	OK(spfe_rdma_free(queue, memory));
	FAILS(BUSY, spfe_rdma_data(queue, memory, &data, &size));
	OK(spfe_rdma_close(queue));
	FAILS(BAD_FIELD, spfe_rdma_close(queue));
	OK(spfe_close(endpoint));
}

void rdma(void)
{
	rdma_path(0);
	rdma_path(SPFE_RDMA_IN_PROGRAM);
}

static void *rdma_serve(void *server)
{
	int found;

	do
		found = spfe_rdma_server_serve(server, SPFE_NEVER);
	while (found >= 0);
	return (void *)(intptr_t)found;
}

/* A server in a thread of this program. */
void rdma_server(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_rdma_options of = {.size = sizeof(of), .flags = SPFE_RDMA_IN_PROGRAM};
	struct spfe_rdma_region region = {0};
	spfe_rdma_server *server = NULL;
	spfe_rdma *queue = NULL;
	uint8_t bytes[3] = {0};
	pthread_t thread;
	void *found;

	FAILS(BAD_FIELD, spfe_rdma_server_open(endpoint, 1, 0, "/nowhere", &server));
	OK(spfe_rdma_server_open(endpoint, 1, 0, "64K", &server));
	CHECK(pthread_create(&thread, NULL, rdma_serve, server) == 0);
	OK(spfe_rdma_open(endpoint, 0, 0, &of, &queue));
	CHECK(spfe_rdma_regions(queue, &region, 1, SOON) == 1 && region.bytes == 64 << 10);
	OK(spfe_rdma_connect(queue, SOON));
	OK(spfe_rdma_write(queue, region.key, 5, (const uint8_t *)"abc", 3, SOON));
	OK(spfe_rdma_read(queue, region.key, 5, bytes, 3, SOON));
	CHECK(memcmp(bytes, "abc", 3) == 0);
	FAILS(BAD_OPCODE, spfe_rdma_receive_open(queue, 0));
	FAILS(BAD_OPCODE, spfe_rdma_alloc(queue, 64, 1, &(uint32_t){0}));
	OK(spfe_rdma_close(queue));
	OK(spfe_rdma_server_cancel(server));
	CHECK(pthread_join(thread, &found) == 0 && (intptr_t)found == -SPFE_STATUS_CANCELLED);
	OK(spfe_rdma_server_close(server));
	OK(spfe_close(endpoint));
}

/* Waits for a message. In a virtual network in one process, this moves the packets, too. */
static void *rdma_wait(void *queue)
{
	return (void *)(intptr_t)spfe_rdma_message_wait(queue, SPFE_NEVER);
}

/* Two queue pairs: messages, and memory that one of them shares. */
void rdma_pairs(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_rdma_options of = {.size = sizeof(of), .target_queue = 7, .queue = 5};
	struct spfe_rdma_request request = {.size = sizeof(request), .opcode = SPFE_RDMA_SEND,
					    .flags = SPFE_RDMA_SIGNALED | SPFE_RDMA_IMMEDIATE,
					    .immediate = 99, .local_count = 1};
	struct spfe_rdma_local local = {0, 0, 8}, far_local = {0, 0, 64};
	struct spfe_rdma_message message = {0};
	spfe_rdma *near = NULL, *far = NULL;
	uint8_t *data = NULL, bytes[4] = {0};
	uint32_t key = 0;
	pthread_t thread;
	void *found;

	OK(spfe_rdma_open(endpoint, 0, 0, &of, &near));
	of.target_queue = 5;
	of.queue = 7;
	OK(spfe_rdma_open(endpoint, 1, 0, &of, &far));
	OK(spfe_rdma_receive_open(far, 4));
	OK(spfe_rdma_alloc(far, 64, 0, &far_local.memory));
	OK(spfe_rdma_receive_post(far, 3, &far_local));
	FAILS(BAD_FIELD, spfe_rdma_receive_post(far, 3, NULL));
	CHECK(spfe_rdma_message_wait(far, SPFE_NOW) == SPFE_TIMED_OUT);

	CHECK(pthread_create(&thread, NULL, rdma_wait, far) == 0);
	OK(spfe_rdma_alloc(near, 8, 0, &local.memory));
	OK(spfe_rdma_data(near, local.memory, &data, NULL));
	memcpy(data, "a letter", 8);
	request.local = &local;
	OK(spfe_rdma_connect(near, SOON));
	OK(spfe_rdma_post(near, &request));
	CHECK(ended(near).status == 0);
	CHECK(pthread_join(thread, &found) == 0 && found == NULL);
	CHECK(spfe_rdma_message_poll(far, &message) == 1);
	CHECK(message.id == 3 && message.bytes == 8 && message.status == 0);
	CHECK(message.has_immediate && message.immediate == 99 && !message.is_write);
	OK(spfe_rdma_load(far, far_local.memory, 0, bytes, 4));
	CHECK(memcmp(bytes, "a le", 4) == 0);
	CHECK(spfe_rdma_message_poll(far, &message) == 0);

	local = (struct spfe_rdma_local){0, 0, 4096};
	OK(spfe_rdma_alloc(far, 4096, 1, &local.memory));
	FAILS(BAD_FIELD, spfe_rdma_share(far, &local, 0, 64, SOON, &key));
	OK(spfe_rdma_share(far, &local, 0x1000, SPFE_REGION_READ | SPFE_REGION_WRITE, SOON, &key));
	OK(spfe_rdma_store(far, local.memory, 4, (const uint8_t *)"here", 4));
	CHECK(pthread_create(&thread, NULL, rdma_wait, far) == 0);
	OK(spfe_rdma_read(near, key, 0x1004, bytes, 4, SOON));
	CHECK(memcmp(bytes, "here", 4) == 0);
	OK(spfe_rdma_write(near, key, 0x1000, (const uint8_t *)"new", 3, SOON));
	OK(spfe_rdma_cancel(far));
	CHECK(pthread_join(thread, &found) == 0 && (intptr_t)found == -SPFE_STATUS_CANCELLED);
	OK(spfe_rdma_load(far, local.memory, 0, bytes, 3));
	CHECK(memcmp(bytes, "new", 3) == 0);
	OK(spfe_rdma_unshare(far, key, SOON));
	FAILS(NOT_FOUND, spfe_rdma_unshare(far, key, SOON));
	OK(spfe_rdma_close(near));
	OK(spfe_rdma_close(far));
	OK(spfe_close(endpoint));
}

/* Posts a group of a pooled queue and takes its end. */
static struct spfe_rdma_group repeat(spfe_rdma *queue, uint32_t count)
{
	struct spfe_rdma_group group = {0};

	CHECK(spfe_rdma_stage(queue, count) == (int)count);
	OK(spfe_rdma_submit(queue));
	OK(spfe_rdma_wait(queue, 1, SOON));
	CHECK(spfe_rdma_group_poll(queue, &group) == 1);
	return group;
}

/* The pooled form of a queue: groups that go round its ring, an error, and the way back. */
void rdma_pooled(void)
{
	enum { REQUESTS = 16, BYTES = 40, STRIDE = 64, WIDE = 0x20000 };
	spfe_endpoint *endpoint = device("virtual:?peer=target:1M");
	struct spfe_rdma_options of = {.size = sizeof(of), .depth = REQUESTS / 2};
	struct spfe_rdma_local local = {0, 0, BYTES};
	struct spfe_rdma_request request = {.size = sizeof(request), .opcode = SPFE_RDMA_WRITE,
					    .address = 0x100, .local = &local, .local_count = 1};
	struct spfe_rdma_region region;
	struct spfe_rdma_group group;
	spfe_rdma *queue = NULL;
	uint8_t *data = NULL, expected[REQUESTS * BYTES] = {0}, bytes[REQUESTS * BYTES];
	uint32_t next = 0, round, number;

	OK(spfe_rdma_open(endpoint, 0, 0, &of, &queue));
	CHECK(spfe_rdma_regions(queue, &region, 1, SOON) == 1);
	OK(spfe_rdma_alloc(queue, REQUESTS * STRIDE, 0, &local.memory));
	request.key = region.key;

	/* What cannot be pooled leaves the queue as it was. */
	CHECK(spfe_rdma_pool_requests(queue) == REQUESTS);
	FAILS(BAD_FIELD, spfe_rdma_pool(queue, NULL, STRIDE, BYTES));
	FAILS(BAD_FIELD, spfe_rdma_pool(queue, &request, BYTES - 1, BYTES));
	FAILS(OUT_OF_BOUNDS, spfe_rdma_pool(queue, &request, STRIDE + 4, BYTES));
	request.opcode = SPFE_RDMA_FLUSH;
	FAILS(BAD_FIELD, spfe_rdma_pool(queue, &request, STRIDE, BYTES));
	request.opcode = SPFE_RDMA_WRITE;
	FAILS(BAD_FIELD, spfe_rdma_stage(queue, 1));
	FAILS(BAD_FIELD, spfe_rdma_unpool(queue));

	CHECK(spfe_rdma_pool(queue, &request, STRIDE, BYTES) == REQUESTS);
	FAILS(BUSY, spfe_rdma_pool(queue, &request, STRIDE, BYTES));
	FAILS(BUSY, spfe_rdma_ring(queue));
	FAILS(BAD_FIELD, spfe_rdma_pooled_data(queue, REQUESTS, &data));
	FAILS(BAD_FIELD, spfe_rdma_group_poll(queue, NULL));
	CHECK(spfe_rdma_group_poll(queue, &group) == 0);
	for (round = 1; round <= 2 * REQUESTS; round++) {
		uint32_t count = round % REQUESTS + 1, i;

		for (i = 0; i < count; i++) {
			number = (next + i) % REQUESTS;
			OK(spfe_rdma_pooled_data(queue, number, &data));
			memset(data, (int)(round + 7 * i), BYTES);
			memcpy(expected + number * BYTES, data, BYTES);
		}
		group = repeat(queue, count);
		CHECK(group.first == next && group.requests == count);
		CHECK(group.bytes == count * BYTES && group.status == 0);
		next = (next + count) % REQUESTS;
	}
	CHECK(spfe_rdma_state(queue) == SPFE_RDMA_READY);

	/* Outstanding requests keep their bytes, and there are no more than the ring has. */
	CHECK(spfe_rdma_stage(queue, 2 * REQUESTS) == REQUESTS);
	FAILS(BUSY, spfe_rdma_pooled_data(queue, next, &data));
	CHECK(spfe_rdma_wait(queue, 1, SPFE_NOW) == SPFE_TIMED_OUT);
	OK(spfe_rdma_submit(queue));
	OK(spfe_rdma_wait(queue, 1, SOON));
	CHECK(spfe_rdma_group_poll(queue, &group) == 1 && group.requests == REQUESTS);

	/* An ordinary queue again reads what was written. */
	OK(spfe_rdma_unpool(queue));
	OK(spfe_rdma_connect(queue, SOON));
	OK(spfe_rdma_read(queue, region.key, 0x100, bytes, sizeof(bytes), SOON));
	CHECK(memcmp(bytes, expected, sizeof(bytes)) == 0);

	/* Reads, of which the ninth lies behind the region. */
	request.opcode = SPFE_RDMA_READ;
	request.address = 0;
	CHECK(spfe_rdma_pool(queue, &request, STRIDE, WIDE) == REQUESTS);
	CHECK(repeat(queue, 8).status == 0);
	CHECK(spfe_rdma_stage(queue, 3) == 3);
	OK(spfe_rdma_submit(queue));
	for (next = 8; next < 11; next += group.requests) {
		OK(spfe_rdma_wait(queue, 1, SOON));
		CHECK(spfe_rdma_group_poll(queue, &group) == 1 && group.first == next);
		CHECK(group.status < 0 && group.bytes == 0);
		CHECK(next > 8 || group.status < SPFE_RDMA_REFUSED);
	}
	CHECK(spfe_rdma_state(queue) == SPFE_RDMA_ERROR);
	OK(spfe_rdma_unpool(queue));
	OK(spfe_rdma_connect(queue, SOON));
	OK(spfe_rdma_free(queue, local.memory));
	OK(spfe_rdma_close(queue));

	/* Without queue pairs in the device. */
	of.flags = SPFE_RDMA_IN_PROGRAM;
	OK(spfe_rdma_open(endpoint, 0, 0, &of, &queue));
	CHECK(spfe_rdma_pool_requests(queue) == 0);
	OK(spfe_rdma_alloc(queue, REQUESTS * STRIDE, 0, &local.memory));
	FAILS(BAD_OPCODE, spfe_rdma_pool(queue, &request, STRIDE, BYTES));
	OK(spfe_rdma_close(queue));
	OK(spfe_close(endpoint));
}
