/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Regions, queues and waits. */
#define _GNU_SOURCE
#include "suite.h"

void memory(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	spfe_region *region = NULL;
	struct spfe_buf *buf = NULL, *other = NULL;
	size_t size;

	FAILS(EMPTY, spfe_region_alloc(endpoint, 0, &region));
	OK(spfe_region_alloc(endpoint, 5000, &region));
	size = spfe_region_size(region);
	CHECK(size >= 5000 && size % 4096 == 0);
	FAILS(OUT_OF_BOUNDS, spfe_buf_get(region, size - 1, 2, &buf));
	FAILS(OUT_OF_BOUNDS, spfe_buf_get(region, SIZE_MAX, 2, &buf));
	FAILS(EMPTY, spfe_buf_get(region, 0, 0, &buf));
	OK(spfe_buf_get(region, 100, 50, &buf));
	CHECK(buf->length == 50 && buf->capacity == 50);
	memset(buf->data, 0xa5, 50);
	FAILS(BUSY, spfe_buf_get(region, 149, 1, &other));
	OK(spfe_buf_get(region, 150, 1, &other));
	/* The memory outlives the handle of the region while buffers have it. */
	OK(spfe_region_free(region));
	memset(buf->data, 0x5a, 50);
	OK(spfe_buf_put(buf));
	OK(spfe_buf_put(other));
	OK(spfe_close(endpoint));
}

void posted(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_queue_options few = options(4, SPFE_STAMPS);
	struct spfe_buf *into = buffer(endpoint, 4096), *from = buffer(endpoint, 4096), *back;
	struct spfe_received received;
	struct spfe_sent sent;
	struct spfe_queue_stats stats = {.size = sizeof(stats)};
	spfe_queue *tx = NULL, *rx = NULL;
	int i;

	OK(spfe_tx_open(endpoint, 0, 0, &few, &tx));
	OK(spfe_rx_open(endpoint, 1, 0, &few, &rx));
	into->tag = 77;
	OK(spfe_rx_post(rx, into));
	FAILS(BUSY, spfe_rx_post(rx, into));
	FAILS(BUSY, spfe_buf_put(into));
	CHECK(spfe_rx_poll(rx, &received) == 0);
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NOW) == SPFE_TIMED_OUT);
	memcpy(from->data, "from here to there", 18);
	from->length = 5000;
	FAILS(OUT_OF_BOUNDS, spfe_send(tx, from, SPFE_EOP));
	from->length = 0;
	FAILS(EMPTY, spfe_send(tx, from, SPFE_EOP));
	from->length = 18;
	OK(spfe_send(tx, from, SPFE_EOP));
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) == SPFE_READY_THRESHOLD);
	CHECK(spfe_rx_poll(rx, &received) == 1);
	CHECK(received.buf == into && received.status == 0 && received.end == SPFE_EOP);
	CHECK(into->length == 18 && into->tag == 77 && received.stamped);
	CHECK(memcmp(into->data, "from here to there", 18) == 0);
	CHECK(spfe_queue_wait(tx, NULL, SPFE_NEVER) == SPFE_READY_THRESHOLD);
	CHECK(spfe_sent_poll(tx, &sent) == 1);
	CHECK(sent.status == 0 && sent.packets == 1 && sent.bytes == 18 && sent.stamped);
	CHECK(spfe_buf_take(tx, &back) == 1 && back == from);
	CHECK(spfe_buf_take(tx, &back) == 0 && spfe_sent_poll(tx, &sent) == 0);
	/* A cut packet says so. */
	OK(spfe_rx_post(rx, into));
	OK(spfe_send(tx, from, SPFE_EEP));
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) > 0 && spfe_rx_poll(rx, &received) == 1);
	CHECK(received.status == -SPFE_STATUS_PACKET_CUT && received.end == SPFE_EEP);
	/* Many laps of a small ring. */
	for (i = 0; i < 100; i++) {
		OK(spfe_rx_post(rx, into));
		while (spfe_sent_poll(tx, &sent) == 1)
			;
		*from->data = (uint8_t)i;
		OK(spfe_send(tx, from, SPFE_EOP));
		CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) > 0);
		CHECK(spfe_rx_poll(rx, &received) == 1 && *received.buf->data == (uint8_t)i);
		CHECK(spfe_queue_wait(tx, NULL, SPFE_NEVER) > 0);
	}
	OK(spfe_queue_stats(tx, &stats));
	CHECK(stats.polls > 100);
	while (spfe_sent_poll(tx, &sent) == 1)
		;
	OK(spfe_queue_close(tx));
	OK(spfe_queue_close(rx));
	OK(spfe_buf_put(into));
	OK(spfe_buf_put(from));
	OK(spfe_close(endpoint));
}

void groups(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_queue_options few = options(8, 0);
	struct spfe_buf *from[10], *into[8], *back;
	struct spfe_threshold five = {.count = 5};
	struct spfe_received received;
	struct spfe_sent sent;
	spfe_queue *tx = NULL, *rx = NULL;
	int i;

	OK(spfe_tx_open(endpoint, 0, 1, &few, &tx));
	OK(spfe_rx_open(endpoint, 1, 1, &few, &rx));
	for (i = 0; i < 10; i++) {
		from[i] = buffer(endpoint, 64);
		from[i]->length = (uint32_t)i + 1;
	}
	for (i = 0; i < 8; i++) {
		into[i] = buffer(endpoint, 256);
		OK(spfe_rx_post(rx, into[i]));
	}
	CHECK(spfe_send_group(tx, from, 5) == 5);
	CHECK(spfe_queue_wait(rx, &five, SPFE_NEVER) == SPFE_READY_THRESHOLD);
	for (i = 0; i < 5; i++)
		CHECK(spfe_rx_poll(rx, &received) == 1 && received.buf->length == (uint32_t)i + 1);
	CHECK(spfe_sent_poll(tx, &sent) == 1 && sent.packets == 5 && sent.bytes == 15);
	for (i = 0; i < 5; i++)
		CHECK(spfe_buf_take(tx, &back) == 1 && back == from[i]);
	/* One bad buffer, and the group is not sent. */
	from[1]->length = 0;
	FAILS(EMPTY, spfe_send_group(tx, from, 3));
	from[1]->length = 2;
	/* A path address, and a packet of three parts. */
	OK(spfe_send_with_path(tx, (const uint8_t *)"\1\2\3", 3, from[1]));
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) > 0 && spfe_rx_poll(rx, &received) == 1);
	CHECK(received.buf->length == 5 && memcmp(received.buf->data, "\1\2\3", 3) == 0);
	FAILS(TOO_LONG, spfe_send_with_path(tx, (const uint8_t *)"123456789012", 12, from[0]));
	OK(spfe_send_gather(tx, from + 2, 3));
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) > 0 && spfe_rx_poll(rx, &received) == 1);
	CHECK(received.buf->length == 3 + 4 + 5);
	FAILS(EMPTY, spfe_send_gather(tx, from, 0));
	FAILS(BUSY, spfe_buf_put(from[2]));
	while (spfe_sent_poll(tx, &sent) == 1)
		;
	/* A group longer than the ring is sent in part; the rest stays the program's. */
	CHECK(spfe_send_group(tx, from, 10) == 8);
	OK(spfe_buf_put(from[8]));
	OK(spfe_buf_put(from[9]));
	FAILS(BUSY, spfe_send_group(tx, from, 10) == 0 ? spfe_send(tx, from[0], SPFE_EOP) : 1);
	/* Only one buffer is left to receive into: the others come back unsent. */
	CHECK(spfe_queue_take_back(tx) >= 7);
	for (i = 0; spfe_buf_take(tx, &back) == 1; i++)
		;
	CHECK(i >= 7);
	OK(spfe_queue_close(tx));
	OK(spfe_queue_close(rx));
	for (i = 0; i < 8; i++) {
		OK(spfe_buf_put(from[i]));
		OK(spfe_buf_put(into[i]));
	}
	OK(spfe_close(endpoint));
}

void bursts(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_buf *buf = buffer(endpoint, 4096);
	struct spfe_threshold all = {.count = 64};
	struct spfe_packet record;
	struct spfe_run run;
	struct spfe_sent sent;
	spfe_queue *tx = NULL, *rx = NULL;
	uint32_t seen = 0, i;

	for (i = 0; i < 4096; i++)
		buf->data[i] = (uint8_t)(i / 64);
	OK(spfe_tx_open(endpoint, 0, 2, NULL, &tx));
	OK(spfe_packed_rx_open(endpoint, 1, 2, NULL, &rx));
	CHECK(spfe_run_poll(rx, &run) == 0);
	FAILS(OUT_OF_BOUNDS, spfe_send_burst(tx, buf, 64, 64, 65));
	FAILS(EMPTY, spfe_send_burst(tx, buf, 0, 64, 64));
	OK(spfe_send_burst(tx, buf, 63, 64, 64));
	CHECK(spfe_queue_wait(rx, &all, SPFE_NEVER) == SPFE_READY_THRESHOLD);
	while (spfe_run_poll(rx, &run) == 1) {
		FAILS(BUSY, spfe_run_poll(rx, &run));
		FAILS(BUSY, spfe_queue_wait(rx, NULL, SPFE_NOW));
		while (spfe_run_next(&run, &record)) {
			CHECK(record.length == 63 && record.end == SPFE_EOP && record.status == 0);
			CHECK(record.data[0] == seen && record.data[62] == seen);
			seen++;
		}
		OK(spfe_run_release(rx));
		OK(spfe_run_release(rx));
	}
	CHECK(seen == 64);
	CHECK(spfe_sent_poll(tx, &sent) == 1 && sent.packets == 64 && sent.bytes == 63 * 64);
	/* A run that the program still holds when it closes the queue. */
	OK(spfe_send_burst(tx, buf, 64, 64, 2));
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) > 0 && spfe_run_poll(rx, &run) == 1);
	OK(spfe_queue_close(rx));
	OK(spfe_queue_close(tx));
	/* A header that does not fit is the end of a run, whatever it says. */
	memset(buf->data, 0xff, 64);
	run.data = buf->data;
	run.bytes = 64;
	CHECK(spfe_run_next(&run, &record) == 0);
	run.bytes = 7;
	CHECK(spfe_run_next(&run, &record) == 0);
	OK(spfe_buf_put(buf));
	OK(spfe_close(endpoint));
}

void slots(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_queue_options few = options(8, 0);
	struct spfe_packet packet;
	struct spfe_threshold three = {.count = 3};
	struct spfe_sent sent;
	spfe_queue *tx = NULL, *rx = NULL;
	uint8_t *data = NULL, *again = NULL;
	uint32_t capacity = 0;
	int i;

	few.slot_bytes = 100;
	OK(spfe_pooled_tx_open(endpoint, 0, 3, &few, &tx));
	OK(spfe_pooled_rx_open(endpoint, 1, 3, &few, &rx));
	CHECK(spfe_slot(tx, &data, &capacity) == 1 && capacity == 100);
	CHECK(spfe_slot(tx, &again, NULL) == 1 && again == data);
	FAILS(TOO_LONG, spfe_slot_send(tx, 101));
	FAILS(EMPTY, spfe_slot_stage(tx, 0));
	for (i = 0; i < 3; i++) {
		CHECK(spfe_slot(tx, &data, NULL) == 1);
		memset(data, 'a' + i, 100);
		OK(spfe_slot_stage(tx, 10 + (uint32_t)i));
	}
	CHECK(spfe_slot_peek(rx, &packet) == 0);
	OK(spfe_slot_submit(tx));
	CHECK(spfe_queue_wait(rx, &three, SPFE_NEVER) == SPFE_READY_THRESHOLD);
	for (i = 0; i < 3; i++) {
		CHECK(spfe_slot_peek(rx, &packet) == 1 && packet.length == 10 + (uint32_t)i);
		CHECK(packet.data[0] == 'a' + i && packet.end == SPFE_EOP && packet.status == 0);
		OK(spfe_slot_release(rx));
	}
	OK(spfe_slot_release(rx));
	CHECK(spfe_sent_poll(tx, &sent) == 1 && sent.packets == 3 && sent.bytes == 33);
	for (i = 0; i < 8; i++)
		OK(spfe_slot_send(tx, 1));
	CHECK(spfe_slot(tx, &data, NULL) == 0 || spfe_sent_poll(tx, &sent) == 1);
	OK(spfe_queue_close(tx));
	OK(spfe_queue_close(rx));
	OK(spfe_close(endpoint));
}

static void *wait_for_ever(void *queue)
{
	int result;

	/* The other thread may be inside at this moment. */
	do
		result = spfe_queue_wait(queue, NULL, SPFE_NEVER);
	while (result == -SPFE_STATUS_BUSY);
	return (void *)(intptr_t)result;
}

void waits(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_queue_options with_fd = options(0, SPFE_EVENT);
	struct spfe_threshold odd = {.count = 1, .reserved = 1};
	struct spfe_buf *into = buffer(endpoint, 64), *from = buffer(endpoint, 64);
	struct spfe_received received;
	struct pollfd fd = {.events = POLLIN};
	spfe_queue *tx = NULL, *rx = NULL;
	pthread_t thread;
	void *result;
	uint64_t start;
	int busy;

	OK(spfe_tx_open(endpoint, 0, 0, NULL, &tx));
	OK(spfe_rx_open(endpoint, 1, 0, &with_fd, &rx));
	OK(spfe_rx_post(rx, into));
	start = spfe_now_ns(endpoint);
	CHECK(spfe_queue_wait(rx, NULL, start + 2000000) == SPFE_TIMED_OUT);
	CHECK(spfe_now_ns(endpoint) >= start + 2000000);
	FAILS(BAD_FIELD, spfe_queue_wait(rx, &odd, SPFE_NOW));
	/* Another thread ends a wait; meanwhile the queue refuses a second user. */
	CHECK(pthread_create(&thread, NULL, wait_for_ever, rx) == 0);
	do {
		busy = spfe_rx_poll(rx, &received);
		CHECK(busy == 0 || busy == -SPFE_STATUS_BUSY);
	} while (busy == 0);
	FAILS(BUSY, spfe_queue_close(rx));
	OK(spfe_queue_cancel(rx));
	pthread_join(thread, &result);
	CHECK((intptr_t)result == -SPFE_STATUS_CANCELLED);
	/* A descriptor. */
	fd.fd = spfe_queue_fd(rx);
	CHECK(fd.fd >= 0);
	CHECK(spfe_queue_request_event(rx, NULL) == 0);
	CHECK(poll(&fd, 1, 0) == 0);
	OK(spfe_send(tx, from, SPFE_EOP));
	CHECK(poll(&fd, 1, 10000) == 1);
	CHECK(spfe_queue_request_event(rx, NULL) == 1);
	CHECK(spfe_rx_poll(rx, &received) == 1);
	OK(spfe_queue_close(tx));
	OK(spfe_queue_close(rx));
	OK(spfe_buf_put(into));
	OK(spfe_buf_put(from));
	OK(spfe_close(endpoint));
}
