/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The inline functions of <spfe/fast.h> for posted and packed queues. Prints TAP.
 *
 *   fast_posted        the tests, with the device virtual:
 *   fast_posted A B    packets from port 0 of device A to port 0 of device B, in two threads
 */
#include <spfe/fast.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 16
#define PIECE 256
#define LONGEST 250
#define PACKETS 20000

static int number, failures, bad;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# line %d: %s (%s)\n", __LINE__, #condition, spfe_error());        \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)

static spfe_endpoint *ends[2];
static spfe_queue *tx_queue, *rx_queue;
static spfe_region *regions[2];
static struct spfe_fast_region out, in;
static struct spfe_fast_tx *tx;
static struct spfe_fast_posted *rx;
static struct spfe_fast_packed *packed;
static uint32_t far_port;

static void test(const char *name, void (*run)(void))
{
	bad = 0;
	run();
	printf("%sok %d - %s\n", bad ? "not " : "", ++number, name);
	fflush(stdout);
	failures += bad > 0;
}

static struct spfe_queue_options options(void)
{
	struct spfe_queue_options of = SPFE_QUEUE_OPTIONS_INIT;

	of.depth = DEPTH;
	of.area_bytes = 4096;
	return of;
}

static void open_tx(void)
{
	struct spfe_queue_options of = options();

	CHECK(spfe_tx_open(ends[0], 0, 0, &of, &tx_queue) == 0);
	CHECK(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, &tx) == 0);
	CHECK(spfe_region_alloc(ends[0], DEPTH * PIECE, &regions[0]) == 0);
	CHECK(spfe_fast_region(tx_queue, regions[0], &out) == 0);
	/* The queue keeps it. */
	CHECK(spfe_region_free(regions[0]) == 0);
	if (bad)
		exit(1);
}

static void open_posted(void)
{
	struct spfe_queue_options of = options();

	CHECK(spfe_rx_open(ends[1], far_port, 0, &of, &rx_queue) == 0);
	CHECK(spfe_fast_posted(rx_queue, SPFE_FAST_VERSION, &rx) == 0);
	CHECK(spfe_region_alloc(ends[1], DEPTH * PIECE, &regions[1]) == 0);
	CHECK(spfe_fast_region(rx_queue, regions[1], &in) == 0);
	CHECK(in.bytes >= DEPTH * PIECE);
	CHECK(spfe_region_free(regions[1]) == 0);
	for (uint64_t at = 0; at < DEPTH * PIECE; at += PIECE)
		CHECK(spfe_fast_post(rx, in.address + at, PIECE, at) == 0);
	if (bad)
		exit(1);
	open_tx();
}

static void close_queues(void)
{
	CHECK(spfe_queue_close(tx_queue) == 0);
	CHECK(spfe_queue_close(rx_queue) == 0);
}

static uint32_t length_of(uint32_t seed)
{
	return 1 + seed % LONGEST;
}

/* Fills the piece of memory of a packet. Returns its address. */
static uint64_t fill(uint32_t seed)
{
	size_t at = seed % DEPTH * PIECE;

	memset(out.data + at, (int)(seed & 0xff), length_of(seed));
	return out.address + at;
}

/* Takes the next packet, which is that of a seed, and posts its buffer again. */
static int take(uint32_t seed)
{
	struct spfe_fast_packet packet;
	uint32_t length = length_of(seed);

	if (spfe_fast_receive(rx, &packet) != 1)
		return 0;
	CHECK(packet.length == length && packet.end == SPFE_EOP && packet.status == 0);
	CHECK(packet.id == (uint64_t)(seed % DEPTH) * PIECE);
	CHECK(in.data[packet.id] == (uint8_t)seed);
	CHECK(in.data[packet.id + length - 1] == (uint8_t)seed);
	CHECK(spfe_fast_post(rx, in.address + packet.id, PIECE, packet.id) == 0);
	return 1;
}

static void collect(uint32_t seed)
{
	while (!take(seed) && !bad)
		CHECK(spfe_queue_wait(rx_queue, NULL, SPFE_NEVER) >= 0);
}

static void finish(uint32_t packets)
{
	struct spfe_sent sent;

	while (packets && !bad) {
		if (spfe_fast_sent(tx, &sent) != 1) {
			CHECK(spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) >= 0);
			continue;
		}
		CHECK(sent.status == 0 && sent.packets <= packets);
		packets -= sent.packets;
	}
}

static void posted(void)
{
	open_posted();
	for (uint32_t seed = 0; seed < 500 && !bad; seed++) {
		CHECK(spfe_fast_send_from(tx, fill(seed), length_of(seed)) == 0);
		collect(seed);
		finish(1);
	}
	for (uint32_t count = 1, seed = 500; seed < 2500 && !bad; count = count % DEPTH + 1) {
		for (uint32_t index = 0; index < count; index++)
			CHECK(spfe_fast_stage_from(tx, fill(seed + index),
						   length_of(seed + index)) == 0);
		CHECK(!take(seed));
		CHECK(spfe_fast_submit(tx) == 0);
		for (uint32_t index = 0; index < count; index++)
			collect(seed++);
		finish(count);
	}
	close_queues();
}

/* Buffers by calls and memory by inline functions, on one transmit queue. */
static void mixed(void)
{
	spfe_region *region;
	struct spfe_buf *buf, *back = NULL;
	struct spfe_sent sent;

	open_posted();
	CHECK(spfe_region_alloc(ends[0], 4096, &region) == 0);
	CHECK(spfe_buf_get(region, 0, PIECE, &buf) == 0);
	for (uint32_t seed = 0; seed < 3000 && !bad; seed++) {
		/* A call submits what was staged before it. */
		if (seed % 3 == 0) {
			CHECK(spfe_fast_stage_from(tx, fill(seed), length_of(seed)) == 0);
			seed++;
		}
		memset(buf->data, (int)(seed & 0xff), length_of(seed));
		buf->length = length_of(seed);
		CHECK(spfe_send(tx_queue, buf, SPFE_EOP) == 0);
		if (seed % 3 == 1)
			collect(seed - 1);
		collect(seed);
		/* Inline functions may take the completion of a call; the buffer comes later. */
		for (uint32_t left = seed % 3 == 1 ? 2 : 1; left && !bad;) {
			int result = seed & 4 ? spfe_fast_sent(tx, &sent)
					      : spfe_sent_poll(tx_queue, &sent);
			CHECK(result == 1 || spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) >= 0);
			left -= result == 1 ? sent.packets : 0;
		}
		for (back = NULL; !back && !bad; spfe_sent_poll(tx_queue, &sent))
			CHECK(spfe_buf_take(tx_queue, &back) >= 0);
		CHECK(back == buf);
	}
	close_queues();
	CHECK(spfe_buf_put(buf) == 0 && spfe_region_free(region) == 0);
}

static void refused(void)
{
	struct spfe_received received;
	struct spfe_fast_packed *area;
	struct spfe_fast_region other;
	struct spfe_fast_rx *slots;
	struct spfe_packet packet;
	struct spfe_sent sent;

	open_posted();
	CHECK(spfe_fast_post(rx, in.address, PIECE, 0) == -SPFE_STATUS_BUSY);
	CHECK(spfe_fast_slot(tx) == NULL);
	CHECK(spfe_fast_stage(tx, 1) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_send(tx, 1) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_send_from(tx, out.address, 0) == -SPFE_STATUS_EMPTY);
	CHECK(spfe_fast_stage_from(tx, out.address, UINT32_MAX) == -SPFE_STATUS_TOO_LONG);
	CHECK(spfe_rx_poll(rx_queue, &received) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_rx(rx_queue, SPFE_FAST_VERSION, &slots) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_packed(rx_queue, SPFE_FAST_VERSION, &area) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_posted(rx_queue, SPFE_FAST_VERSION + 1, &rx) == -SPFE_STATUS_BAD_VERSION);
	CHECK(spfe_fast_region(tx_queue, NULL, &other) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_slot_peek(rx_queue, &packet) == -SPFE_STATUS_BAD_OPCODE);
	/* Memory that is in no region, and a piece that ends behind one: the device says so. */
	CHECK(spfe_fast_send_from(tx, out.address + out.bytes - 1, 2) == 0);
	while (spfe_fast_sent(tx, &sent) == 0)
		CHECK(spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) >= 0);
	CHECK(sent.status == -SPFE_STATUS_OUT_OF_BOUNDS);
	close_queues();
}

/* A full ring, and then all of it again. */
static void full(void)
{
	struct spfe_queue_options of = options();
	uint32_t sent = 0;

	open_tx();
	CHECK(spfe_rx_open(ends[1], far_port, 0, &of, &rx_queue) == 0);
	CHECK(spfe_fast_posted(rx_queue, SPFE_FAST_VERSION, &rx) == 0);
	CHECK(spfe_fast_free(tx) == DEPTH);
	for (; sent < DEPTH; sent++)
		CHECK(spfe_fast_send_from(tx, fill(sent), length_of(sent)) == 0);
	CHECK(spfe_fast_send_from(tx, out.address, 1) == -SPFE_STATUS_BUSY);
	CHECK(spfe_region_alloc(ends[1], DEPTH * PIECE, &regions[1]) == 0);
	CHECK(spfe_fast_region(rx_queue, regions[1], &in) == 0);
	CHECK(spfe_region_free(regions[1]) == 0);
	for (uint64_t at = 0; at < DEPTH * PIECE; at += PIECE)
		CHECK(spfe_fast_post(rx, in.address + at, PIECE, at) == 0);
	for (uint32_t seed = 0; seed < sent; seed++)
		collect(seed);
	finish(sent);
	close_queues();
}

/* A packet that fills several buffers, an error end, and buffers that the program takes back. */
static void pieces(void)
{
	struct spfe_fast_packet packet;
	spfe_region *region;
	struct spfe_buf *buf;
	uint32_t bytes = 0, end = SPFE_MORE;

	open_posted();
	CHECK(spfe_region_alloc(ends[0], 4096, &region) == 0);
	CHECK(spfe_buf_get(region, 0, 3 * PIECE + 10, &buf) == 0);
	CHECK(spfe_send(tx_queue, buf, SPFE_EEP) == 0);
	while (end == SPFE_MORE && !bad) {
		int result = spfe_fast_receive(rx, &packet);

		if (result == 0)
			CHECK(spfe_queue_wait(rx_queue, NULL, SPFE_NEVER) >= 0);
		if (result != 1)
			continue;
		bytes += packet.length;
		end = packet.end;
	}
	CHECK(bytes == 3 * PIECE + 10 && end == SPFE_EEP && packet.id == 3 * PIECE);
	CHECK(packet.status == -SPFE_STATUS_PACKET_CUT);
	CHECK(spfe_queue_take_back(rx_queue) == 0);
	for (uint64_t at = 0; at < DEPTH * PIECE; at += PIECE)
		CHECK(spfe_fast_post(rx, in.address + at, PIECE, at) == 0);
	finish(1);
	CHECK(spfe_fast_send_from(tx, fill(0), 1) == 0);
	collect(0);
	close_queues();
	CHECK(spfe_buf_put(buf) == 0 && spfe_region_free(region) == 0);
}

/* Everything that a closed queue, or one of the parent, refuses without touching memory. */
static void nothing_left(void)
{
	struct spfe_fast_packet packet;
	struct spfe_sent sent;
	struct spfe_run run;

	CHECK(spfe_fast_send_from(tx, out.address, 1) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_stage_from(tx, out.address, 1) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_submit(tx) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_sent(tx, &sent) == -SPFE_STATUS_BAD_FIELD);
	if (rx) {
		CHECK(spfe_fast_post(rx, in.address, 1, 0) == -SPFE_STATUS_BAD_FIELD);
		CHECK(spfe_fast_receive(rx, &packet) == -SPFE_STATUS_BAD_FIELD);
	} else {
		CHECK(spfe_fast_run(packed, &run) == -SPFE_STATUS_BAD_FIELD);
		CHECK(spfe_fast_run_done(packed) == -SPFE_STATUS_BAD_FIELD);
	}
}

static void open_packed(void)
{
	struct spfe_queue_options of = options();

	rx = NULL;
	CHECK(spfe_packed_rx_open(ends[1], far_port, 0, &of, &rx_queue) == 0);
	CHECK(spfe_fast_packed(rx_queue, SPFE_FAST_VERSION, &packed) == 0);
	if (bad)
		exit(1);
	open_tx();
}

static void closed(void)
{
	open_posted();
	CHECK(spfe_fast_stage_from(tx, fill(1), 2) == 0);
	close_queues();
	nothing_left();
	open_packed();
	close_queues();
	nothing_left();
}

static void forked(void)
{
	pid_t child;
	int status = -1;

	open_posted();
	CHECK(spfe_fast_stage_from(tx, fill(0), length_of(0)) == 0);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		bad = 0;
		nothing_left();
		fflush(stdout);
		_exit(bad);
	}
	waitpid(child, &status, 0);
	CHECK(status == 0);
	CHECK(spfe_fast_submit(tx) == 0);
	collect(0);
	finish(1);
	close_queues();
}

/* Takes runs until so many packets have come, from a seed on. */
static void unpack(uint32_t seed, uint32_t count)
{
	struct spfe_packet record;
	struct spfe_run run;

	while (count && !bad) {
		int result = spfe_fast_run(packed, &run);

		CHECK(result >= 0);
		if (result != 1) {
			CHECK(spfe_queue_wait(rx_queue, NULL, SPFE_NEVER) >= 0);
			continue;
		}
		for (uint32_t left = run.packets; left; left--, seed++, count--) {
			CHECK(count && spfe_run_next(&run, &record) == 1);
			CHECK(record.length == length_of(seed) && record.end == SPFE_EOP);
			CHECK(record.data[0] == (uint8_t)seed);
			CHECK(record.data[record.length - 1] == (uint8_t)seed);
			if (bad)
				return;
		}
		CHECK(spfe_run_next(&run, &record) == 0);
		CHECK(spfe_fast_run_done(packed) == 0);
	}
}

static void runs(void)
{
	struct spfe_run run;

	open_packed();
	CHECK(spfe_run_poll(rx_queue, &run) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_run(packed, &run) == 0);
	for (uint32_t count = 1, seed = 0; seed < 5000 && !bad; count = count % DEPTH + 1) {
		for (uint32_t index = 0; index < count; index++)
			CHECK(spfe_fast_stage_from(tx, fill(seed + index),
						   length_of(seed + index)) == 0);
		CHECK(spfe_fast_submit(tx) == 0);
		unpack(seed, count);
		finish(count);
		seed += count;
	}
	close_queues();
}

static void *sender(void *unused)
{
	uint32_t seed = 0, outstanding = 0;
	struct spfe_sent sent;

	while (seed < PACKETS || outstanding) {
		for (; seed < PACKETS && outstanding < DEPTH; seed++, outstanding++)
			if (spfe_fast_stage_from(tx, fill(seed), length_of(seed)) < 0)
				return "stage";
		if (spfe_fast_submit(tx) < 0)
			return "submit";
		if (spfe_fast_sent(tx, &sent) == 1)
			outstanding -= sent.packets;
		else if (spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) < 0)
			return "wait";
	}
	return unused;
}

static void threads(void)
{
	void *result = NULL;
	pthread_t other;

	for (int area = 0; area < 2; area++) {
		if (area)
			open_packed();
		else
			open_posted();
		CHECK(pthread_create(&other, NULL, sender, NULL) == 0);
		if (area)
			unpack(0, PACKETS);
		else
			for (uint32_t seed = 0; seed < PACKETS && !bad; seed++)
				collect(seed);
		if (bad)
			spfe_queue_cancel(tx_queue);
		pthread_join(other, &result);
		CHECK(result == NULL);
		close_queues();
	}
}

int main(int argc, char **argv)
{
	const char *a = argc == 3 ? argv[1] : "virtual:";

	if (spfe_open(a, &ends[0]) || (argc == 3 && spfe_open(argv[2], &ends[1])))
		return fprintf(stderr, "%s\n", spfe_error()), 2;
	if (argc != 3) {
		ends[1] = ends[0];
		far_port = 1;
	}
	test("posted buffers, one by one and in groups", posted);
	test("buffers and memory mixed", mixed);
	test("what is refused", refused);
	test("a full ring", full);
	test("pieces, an error end, and buffers taken back", pieces);
	test("closed queues", closed);
	test("a child after a fork", forked);
	test("packed runs", runs);
	test("two threads", threads);
	printf("1..%d\n", number);
	return failures != 0;
}
