/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The behaviour of the C interface, on devices inside the process. Prints TAP.
 *
 * Each test opens what it needs and closes it, so AddressSanitizer finds what is left over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spfe/spfe.h>

static int number, failures;
static int bad; /* checks of the current test that failed */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# %s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,    \
			       spfe_error());                                                      \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)
#define OK(call) CHECK((call) == 0)
#define SOON UINT64_C(20000000000) /* a limit of time that nothing reaches */
#define FAILS(status, call) CHECK((call) == -SPFE_STATUS_##status && spfe_error()[0])

static spfe_endpoint *device(const char *name)
{
	spfe_endpoint *endpoint = NULL;

	OK(spfe_open(name, &endpoint));
	if (!endpoint)
		exit(1);
	return endpoint;
}

/* A buffer of a region of its own, which goes with it. */
static struct spfe_buf *buffer(spfe_endpoint *endpoint, size_t bytes)
{
	spfe_region *region = NULL;
	struct spfe_buf *buf = NULL;

	OK(spfe_region_alloc(endpoint, bytes, &region));
	OK(spfe_buf_get(region, 0, bytes, &buf));
	OK(spfe_region_free(region));
	if (!buf)
		exit(1);
	return buf;
}

static struct spfe_queue_options options(uint32_t depth, uint32_t flags)
{
	struct spfe_queue_options of = SPFE_QUEUE_OPTIONS_INIT;

	of.depth = depth;
	of.flags = flags;
	return of;
}

/* ---------------------------------------------------------------------------------------------- */

static void results(void)
{
	CHECK(strcmp(spfe_status_name(0), "OK") == 0);
	CHECK(strcmp(spfe_status_name(7), "OK") == 0);
	CHECK(strcmp(spfe_status_name(-SPFE_STATUS_BUSY), "BUSY") == 0);
	CHECK(strcmp(spfe_status_name(SPFE_TIMED_OUT), "TIMED_OUT") == 0);
	CHECK(strcmp(spfe_status_name(SPFE_RMAP_REFUSED - 3), "RMAP_REFUSED") == 0);
	CHECK(strcmp(spfe_status_name(-0x7f), "UNKNOWN") == 0);
	CHECK(strcmp(spfe_status_name(INT32_MIN), "UNKNOWN") == 0);
	CHECK(strcmp(spfe_status_class(-SPFE_STATUS_PACKET_CUT), "link") == 0);
	CHECK(strcmp(spfe_status_class(SPFE_RMAP_REFUSED - 3), "remote") == 0);
	CHECK(spfe_errno(0) == 0 && spfe_errno(SPFE_TIMED_OUT) == ETIMEDOUT);
	/* Every status of the contract has the errno and the name of the contract. */
#define STATUS(name, code, class, error, text)                                                     \
	CHECK(spfe_errno(-(code)) == (error));                                                     \
	CHECK(strcmp(spfe_status_name(-(code)), #name) == 0);
	SPFE_STATUS_TABLE(STATUS)
#undef STATUS
	CHECK(strlen(spfe_version()) >= 5);
}

static void names(void)
{
	spfe_endpoint *endpoint = NULL;

	FAILS(BAD_FIELD, spfe_open("nonsense", &endpoint));
	CHECK(strstr(spfe_error(), "nonsense") != NULL);
	FAILS(BAD_FIELD, spfe_open("\xff", &endpoint));
	FAILS(BAD_FIELD, spfe_open(NULL, &endpoint));
	FAILS(BAD_FIELD, spfe_open("virtual:", NULL));
	FAILS(DEVICE_GONE, spfe_open("unix:/nowhere/spfe.sock", &endpoint));
	CHECK(endpoint == NULL);
}

static void description(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_endpoint_info info = {.size = sizeof(info)};
	struct spfe_port_info port = {.size = sizeof(port)};
	struct spfe_vc_info vc = {.size = sizeof(vc)};
	uint64_t value = 99;

	OK(spfe_endpoint_info(endpoint, &info));
	CHECK(info.size == sizeof(info) && info.ports == 4);
	CHECK(info.contract_major == SPFE_CONTRACT_VERSION_MAJOR);
	OK(spfe_port_info(endpoint, 0, &port));
	CHECK(port.kind == SPFE_PORT_KIND_SPACEFIBRE && port.state == SPFE_PORT_STATE_UP);
	CHECK(port.vcs == 8);
	OK(spfe_port_info(endpoint, 2, &port));
	CHECK(port.kind == SPFE_PORT_KIND_SPACEWIRE && port.vcs == 1);
	FAILS(NOT_FOUND, spfe_port_info(endpoint, 4, &port));
	OK(spfe_vc_set_priority(endpoint, 0, 3, 15));
	OK(spfe_vc_info(endpoint, 0, 3, &vc));
	CHECK(vc.priority == 15 && vc.far_receives == 0);
	FAILS(BAD_VC, spfe_vc_set_priority(endpoint, 0, 3, 16));
	FAILS(BAD_VC, spfe_vc_info(endpoint, 0, 8, &vc));
	OK(spfe_mib_get(endpoint, 0, "Priority[3]", &value));
	CHECK(value == 15);
	OK(spfe_mib_set(endpoint, 0, "priority.3", 2));
	OK(spfe_mib_get(endpoint, 0, "Priority[3]", &value));
	CHECK(value == 2);
	FAILS(NOT_FOUND, spfe_mib_get(endpoint, 0, "Colour", &value));
	FAILS(BAD_FIELD, spfe_mib_get(endpoint, 0, "Priority[3]", NULL));
	FAILS(BAD_FIELD, spfe_mib_get(endpoint, 0, NULL, &value));
	OK(spfe_close(endpoint));
}

/* An older program knows less of a structure, a newer one more. */
static void sizes(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct {
		struct spfe_queue_options known;
		uint64_t later;
	} newer = {.known = {.size = sizeof(newer)}};
	struct {
		size_t size;
		uint32_t endpoint, client;
		uint32_t canary;
	} older = {.size = 16, .canary = 0xdead};
	struct spfe_endpoint_info info = {.size = 0};
	spfe_queue *queue = NULL;

	OK(spfe_endpoint_info(endpoint, (struct spfe_endpoint_info *)(void *)&older));
	CHECK(older.canary == 0xdead && older.size == 16);
	FAILS(BAD_FIELD, spfe_endpoint_info(endpoint, &info));
	info.size = (size_t)1 << 40;
	FAILS(BAD_FIELD, spfe_endpoint_info(endpoint, &info));
	OK(spfe_tx_open(endpoint, 0, 0, &newer.known, &queue));
	OK(spfe_queue_close(queue));
	newer.later = 1;
	FAILS(BAD_FIELD, spfe_tx_open(endpoint, 0, 0, &newer.known, &queue));
	newer.known.size = 3;
	FAILS(BAD_FIELD, spfe_tx_open(endpoint, 0, 0, &newer.known, &queue));
	OK(spfe_close(endpoint));
}

static void handles(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_buf *buf = buffer(endpoint, 64);
	struct spfe_sent sent;
	struct spfe_packet packet;
	spfe_queue *queue = NULL, *other;

	FAILS(BAD_FIELD, spfe_close(NULL));
	FAILS(BAD_FIELD, spfe_queue_close(NULL));
	FAILS(BAD_FIELD, spfe_queue_cancel(NULL));
	FAILS(BAD_FIELD, spfe_buf_put(NULL));
	FAILS(BAD_FIELD, spfe_region_free(NULL));
	FAILS(BAD_FIELD, spfe_rmap_close(NULL));
	CHECK(spfe_now_ns(NULL) == 0 && spfe_region_size(NULL) == 0);
	OK(spfe_tx_open(endpoint, 0, 0, NULL, &queue));
	FAILS(BAD_FIELD, spfe_send(queue, NULL, SPFE_EOP));
	FAILS(BAD_FIELD, spfe_send(queue, buf, (enum spfe_end)7));
	FAILS(BAD_FIELD, spfe_send_group(queue, NULL, 2));
	CHECK(spfe_send_group(queue, NULL, 0) == 0);
	FAILS(BAD_FIELD, spfe_sent_poll(queue, NULL));
	FAILS(BAD_OPCODE, spfe_rx_post(queue, buf));
	FAILS(BAD_OPCODE, spfe_slot_peek(queue, &packet));
	FAILS(BAD_OPCODE, spfe_time_code_send(queue, 1, 0));
	FAILS(BAD_FIELD, spfe_queue_fd(queue));
	/* A second opening names who has it. */
	FAILS(BUSY, spfe_tx_open(endpoint, 0, 0, NULL, &other));
	OK(spfe_queue_close(queue));
	FAILS(BAD_FIELD, spfe_queue_close(queue));
	FAILS(BAD_FIELD, spfe_sent_poll(queue, &sent));
	FAILS(BAD_FIELD, spfe_queue_cancel(queue));
	CHECK(strstr(spfe_error(), "closed") != NULL);
	OK(spfe_buf_put(buf));
	FAILS(BAD_FIELD, spfe_buf_put(buf));
	OK(spfe_close(endpoint));
	FAILS(BAD_FIELD, spfe_close(endpoint));
	FAILS(BAD_FIELD, spfe_reset(endpoint));
}

static void memory(void)
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

static void posted(void)
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

static void groups(void)
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

static void bursts(void)
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

static void slots(void)
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

static void waits(void)
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

static void messages(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_broadcast message;
	struct spfe_time_code code;
	spfe_queue *sender = NULL, *listener = NULL;

	FAILS(BAD_FIELD, spfe_broadcast_open(endpoint, 0, 256, SPFE_ANY, NULL, &sender));
	FAILS(BAD_OPCODE, spfe_broadcast_open(endpoint, 2, SPFE_ANY, SPFE_ANY, NULL, &sender));
	OK(spfe_broadcast_open(endpoint, 0, SPFE_ANY, SPFE_ANY, NULL, &sender));
	OK(spfe_broadcast_open(endpoint, 1, 5, SPFE_ANY, NULL, &listener));
	FAILS(BAD_FIELD, spfe_broadcast_send(sender, 5, 1, NULL));
	OK(spfe_broadcast_send(sender, 4, 0x20, (const uint8_t *)"filtered"));
	OK(spfe_broadcast_send(sender, 5, 0x21, (const uint8_t *)"8 bytes!"));
	OK(spfe_messages_drain(sender, SPFE_NEVER));
	CHECK(spfe_queue_wait(listener, NULL, SPFE_NEVER) > 0);
	CHECK(spfe_broadcast_poll(listener, &message) == 1);
	CHECK(message.channel == 5 && message.type == 0x21 && !message.late);
	CHECK(memcmp(message.data, "8 bytes!", 8) == 0);
	CHECK(spfe_broadcast_poll(listener, &message) == 0);
	FAILS(BAD_OPCODE, spfe_time_code_poll(listener, &code));
	OK(spfe_queue_close(sender));
	OK(spfe_queue_close(listener));
	FAILS(BAD_OPCODE, spfe_time_code_open(endpoint, 0, NULL, &sender));
	OK(spfe_time_code_open(endpoint, 2, NULL, &sender));
	OK(spfe_time_code_open(endpoint, 3, NULL, &listener));
	FAILS(BAD_FIELD, spfe_time_code_send(sender, 64, 0));
	OK(spfe_time_code_send(sender, 63, 2));
	OK(spfe_messages_drain(sender, SPFE_NEVER));
	CHECK(spfe_queue_wait(listener, NULL, SPFE_NEVER) > 0);
	CHECK(spfe_time_code_poll(listener, &code) == 1 && code.time == 63 && code.flags == 2);
	OK(spfe_queue_close(sender));
	OK(spfe_queue_close(listener));
	OK(spfe_close(endpoint));
}

static void rmap(void)
{
	spfe_endpoint *endpoint = device("virtual:?peer=rmap:64K:key=0x20");
	struct spfe_rmap_options of = {.size = sizeof(of), .key = 0x20};
	spfe_rmap *initiator = NULL;
	uint8_t data[300], back[300], old[4];
	uint8_t wrong_path[33] = {1};
	unsigned int i;
	int refused;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	of.path = wrong_path;
	of.path_bytes = sizeof(wrong_path);
	FAILS(BAD_FIELD, spfe_rmap_open(endpoint, 0, 0, &of, &initiator));
	of.path_bytes = 0;
	OK(spfe_rmap_open(endpoint, 0, 0, &of, &initiator));
	OK(spfe_rmap_write(initiator, 0x100, data, sizeof(data), SPFE_NEVER));
	OK(spfe_rmap_read(initiator, 0x100, back, sizeof(back), SPFE_NEVER));
	CHECK(memcmp(data, back, sizeof(data)) == 0);
	OK(spfe_rmap_modify(initiator, 0x100, "\xff\xff\xff\xff", "\x0f\0\0\0", old, 4, SPFE_NEVER));
	CHECK(memcmp(old, data, 4) == 0);
	OK(spfe_rmap_read(initiator, 0x100, back, 1, SPFE_NEVER));
	CHECK(back[0] == 0x0f);
	refused = spfe_rmap_read(initiator, UINT64_C(0x10000000), back, 4, SPFE_NEVER);
	CHECK(refused < SPFE_RMAP_REFUSED && strcmp(spfe_status_name(refused), "RMAP_REFUSED") == 0);
	CHECK(spfe_errno(refused) == EIO && strstr(spfe_error(), "RMAP read") != NULL);
	FAILS(BAD_FIELD, spfe_rmap_read(initiator, 0x100, NULL, 4, SPFE_NEVER));
	OK(spfe_rmap_close(initiator));
	OK(spfe_close(endpoint));
}

/* Closing a queue gives its buffers back. */
static void *serve(void *target)
{
	return (void *)(intptr_t)spfe_rmap_target_serve(target, SPFE_NEVER);
}

static void target(void)
{
	struct spfe_rmap_target_options wrong = {.size = sizeof(wrong), .reserved = {1}};
	struct spfe_rmap_options by_key = {.size = sizeof(by_key), .key = 0x20};
	spfe_endpoint *endpoint = device("virtual:");
	spfe_rmap_target *served = NULL;
	spfe_rmap *rmap = NULL;
	uint8_t *memory = NULL;
	pthread_t server;
	char back[6];
	void *result;

	FAILS(BAD_FIELD, spfe_rmap_target_open(endpoint, 1, 0, &wrong, &served));
	OK(spfe_rmap_target_open(endpoint, 1, 0, NULL, &served));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 64, 0, SPFE_ANY, &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 0, SPFE_RMAP_READ, SPFE_ANY, &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 64, SPFE_RMAP_READ, 256, &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 64, SPFE_RMAP_READ, 1, NULL));
	OK(spfe_rmap_target_window(served, 0x1000, 4096, SPFE_RMAP_READ | SPFE_RMAP_WRITE, 0x20,
				   &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0x1fff, 1, SPFE_RMAP_READ, 0x20, &memory));
	CHECK(spfe_rmap_target_serve(served, SPFE_NOW) == 0);
	if (pthread_create(&server, NULL, serve, served) != 0)
		exit(1);
	OK(spfe_rmap_open(endpoint, 0, 0, &by_key, &rmap));
	OK(spfe_rmap_write(rmap, 0x1010, "hello", 6, SPFE_NEVER));
	CHECK(memory && !memcmp(memory + 0x10, "hello", 6));
	OK(spfe_rmap_read(rmap, 0x1010, back, 6, SPFE_NEVER));
	CHECK(!strcmp(back, "hello"));
	CHECK(spfe_rmap_write(rmap, 0x2000, "x", 1, SPFE_NEVER) == SPFE_RMAP_REFUSED - 10);
	OK(spfe_rmap_target_cancel(served));
	CHECK(pthread_join(server, &result) == 0);
	CHECK((intptr_t)result == -SPFE_STATUS_CANCELLED);
	OK(spfe_rmap_close(rmap));
	OK(spfe_rmap_target_close(served));
	FAILS(BAD_FIELD, spfe_rmap_target_serve(served, SPFE_NOW));
	FAILS(BAD_FIELD, spfe_rmap_target_cancel(served));
	FAILS(BAD_FIELD, spfe_rmap_target_close(NULL));
	OK(spfe_close(endpoint));
}

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

static void rdma(void)
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
static void rdma_server(void)
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
static void rdma_pairs(void)
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

static void ccsds(void)
{
	struct spfe_space_packet packet = {.size = sizeof(packet)}, read = {.size = sizeof(read)};
	const uint8_t path[] = {1, 3}, data[] = "housekeeping";
	uint8_t out[64], wrong[64];
	int length;

	packet.data = data;
	packet.data_bytes = sizeof(data);
	packet.apid = 0x123;
	packet.sequence_count = 7;
	packet.telecommand = 1;
	packet.sequence_flags = SPFE_UNSEGMENTED;
	packet.target = 0xfe;
	packet.user_application = 9;
	FAILS(TOO_LONG, spfe_ccsds_write(&packet, path, sizeof(path), out, 24));
	length = spfe_ccsds_write(&packet, path, sizeof(path), out, sizeof(out));
	CHECK(length == 2 + 10 + (int)sizeof(data) && out[0] == 1 && out[1] == 3);
	/* Routers delete the path; protocol identifier 2 follows the target. */
	CHECK(out[2] == 0xfe && out[3] == 2 && out[6] == 0x11 && out[7] == 0x23);
	OK(spfe_ccsds_read(out + 2, (size_t)length - 2, &read));
	CHECK(read.apid == 0x123 && read.sequence_count == 7 && read.telecommand == 1);
	CHECK(read.sequence_flags == SPFE_UNSEGMENTED && read.secondary_header == 0);
	CHECK(read.target == 0xfe && read.user_application == 9);
	CHECK(read.data == out + 12 && read.data_bytes == sizeof(data));

	memcpy(wrong, out + 2, sizeof(wrong) - 2);
	wrong[1] = 1; /* RMAP */
	FAILS(BAD_FIELD, spfe_ccsds_read(wrong, (size_t)length - 2, &read));
	FAILS(BAD_FIELD, spfe_ccsds_read(out + 2, (size_t)length - 3, &read));
	FAILS(BAD_FIELD, spfe_ccsds_read(NULL, 20, &read));
	FAILS(BAD_FIELD, spfe_ccsds_read(out + 2, (size_t)length - 2, NULL));
	FAILS(BAD_FIELD, spfe_ccsds_write(NULL, NULL, 0, out, sizeof(out)));
	FAILS(TOO_LONG, spfe_ccsds_write(&packet, NULL, 0, NULL, 0));
	packet.data = out;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
	packet.data = data;
	packet.apid = 0x800;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
	packet.apid = 0;
	packet.sequence_flags = 4;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
	packet.sequence_flags = 0;
	packet.data_bytes = 0;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
}

static void closing(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_buf *into = buffer(endpoint, 64), *from = buffer(endpoint, 64);
	spfe_queue *tx = NULL, *rx = NULL;

	OK(spfe_rx_open(endpoint, 1, 0, NULL, &rx));
	OK(spfe_rx_post(rx, into));
	OK(spfe_queue_close(rx));
	OK(spfe_tx_open(endpoint, 0, 0, NULL, &tx));
	OK(spfe_send(tx, from, SPFE_EOP)); /* nobody receives */
	OK(spfe_close(endpoint));          /* queues keep the device */
	OK(spfe_queue_close(tx));
	OK(spfe_buf_put(into));
	OK(spfe_buf_put(from));
}

/* A reset takes the queues; buffers come back all the same. */
static void resets(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_buf *into = buffer(endpoint, 64), *after = NULL;
	struct spfe_received received;
	spfe_queue *rx = NULL;

	OK(spfe_rx_open(endpoint, 1, 0, NULL, &rx));
	OK(spfe_rx_post(rx, into));
	OK(spfe_reset(endpoint));
	CHECK(spfe_queue_wait(rx, NULL, SPFE_NEVER) == SPFE_READY_ATTENTION);
	CHECK(spfe_rx_poll(rx, &received) == 1 && received.buf == into);
	CHECK(received.status == -SPFE_STATUS_DEVICE_RESET);
	FAILS(DEVICE_RESET, spfe_queue_wait(rx, NULL, SPFE_NEVER));
	FAILS(DEVICE_RESET, spfe_queue_wait(rx, NULL, SPFE_NOW));
	OK(spfe_queue_close(rx));
	OK(spfe_buf_put(into));
	after = buffer(endpoint, 64);
	OK(spfe_rx_open(endpoint, 1, 0, NULL, &rx));
	OK(spfe_rx_post(rx, after));
	OK(spfe_queue_close(rx));
	OK(spfe_buf_put(after));
	OK(spfe_close(endpoint));
}

static void forks(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	spfe_queue *tx = NULL;
	struct spfe_sent sent;
	int status = -1;
	pid_t child;

	OK(spfe_tx_open(endpoint, 0, 0, NULL, &tx));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		int good = spfe_sent_poll(tx, &sent) == -SPFE_STATUS_BAD_FIELD &&
			   strstr(spfe_error(), "fork") &&
			   spfe_queue_close(tx) == -SPFE_STATUS_BAD_FIELD &&
			   spfe_now_ns(endpoint) == 0;

		_exit(good ? 0 : 1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(spfe_sent_poll(tx, &sent) == 0);
	OK(spfe_queue_close(tx));
	OK(spfe_close(endpoint));
}

/* More closes than closed handles are kept. */
static void many(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	spfe_region *region = NULL;
	struct spfe_buf *buf = NULL, *first = NULL;
	int i;

	OK(spfe_region_alloc(endpoint, 4096, &region));
	for (i = 0; i < 20000 && !bad; i++) {
		OK(spfe_buf_get(region, 0, 64, &buf));
		if (i == 0)
			first = buf;
		if (i == 1000)
			FAILS(BAD_FIELD, spfe_buf_put(first));
		OK(spfe_buf_put(buf));
	}
	OK(spfe_region_free(region));
	OK(spfe_close(endpoint));
}

static void run(const char *name, void (*test)(void))
{
	bad = 0;
	test();
	printf("%sok %d %s\n", bad ? "not " : "", ++number, name);
	fflush(stdout);
	failures += bad != 0;
}

int main(void)
{
	printf("TAP version 13\n");
	run("results", results);
	run("names", names);
	run("description", description);
	run("sizes", sizes);
	run("handles", handles);
	run("memory", memory);
	run("posted buffers", posted);
	run("groups", groups);
	run("bursts", bursts);
	run("slots", slots);
	run("waits", waits);
	run("messages", messages);
	run("rmap", rmap);
	run("RMAP target", target);
	run("RDMA", rdma);
	run("RDMA server", rdma_server);
	run("RDMA queue pairs", rdma_pairs);
	run("CCSDS packets", ccsds);
	run("closing", closing);
	run("resets", resets);
	run("forks", forks);
	run("many handles", many);
	printf("1..%d\n", number);
	return failures != 0;
}
