/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The inline functions of <spfe/fast.h>. Prints TAP.
 *
 *   fast            the tests, with the device virtual:
 *   fast A B        packets from port 0 of device A to port 0 of device B, in two threads
 */
#include <spfe/fast.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOTS 16
#define BYTES 200
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
static struct spfe_fast_tx *tx;
static struct spfe_fast_rx *rx;
static uint32_t far_port;

static void test(const char *name, void (*run)(void))
{
	bad = 0;
	run();
	printf("%sok %d - %s\n", bad ? "not " : "", ++number, name);
	failures += bad > 0;
}

static void open_queues(void)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;

	options.depth = SLOTS;
	options.slot_bytes = BYTES;
	CHECK(spfe_pooled_rx_open(ends[1], far_port, 0, &options, &rx_queue) == 0);
	CHECK(spfe_pooled_tx_open(ends[0], 0, 0, &options, &tx_queue) == 0);
	CHECK(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, &tx) == 0);
	CHECK(spfe_fast_rx(rx_queue, SPFE_FAST_VERSION, &rx) == 0);
	if (bad)
		exit(1);
}

static void close_queues(void)
{
	CHECK(spfe_queue_close(tx_queue) == 0);
	CHECK(spfe_queue_close(rx_queue) == 0);
}

/* Fills the next slot with a packet; false while all are busy. */
static int fill(uint32_t seed)
{
	uint8_t *slot = spfe_fast_slot(tx);

	if (!slot)
		return 0;
	memset(slot, (int)(seed & 0xff), 1 + seed % BYTES);
	return 1;
}

/* Takes the next packet, which is that of a seed. Returns 1, or 0 if there is none. */
static int take(uint32_t seed)
{
	struct spfe_packet packet;

	if (spfe_fast_peek(rx, &packet) != 1)
		return 0;
	CHECK(packet.length == 1 + seed % BYTES && packet.end == SPFE_EOP && packet.status == 0);
	CHECK(packet.data[0] == (uint8_t)seed && packet.data[packet.length - 1] == (uint8_t)seed);
	CHECK(spfe_fast_release(rx, &packet) == 0);
	return 1;
}

static void collect(uint32_t seed)
{
	while (!take(seed) && !bad)
		CHECK(spfe_queue_wait(rx_queue, NULL, SPFE_NEVER) >= 0);
}

/* Completions, until so many packets are done. */
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

static void alone(void)
{
	open_queues();
	for (uint32_t seed = 0; seed < 500 && !bad; seed++) {
		CHECK(fill(seed));
		CHECK(spfe_fast_send(tx, 1 + seed % BYTES) == 0);
		collect(seed);
		finish(1);
	}
	close_queues();
}

static void groups(void)
{
	open_queues();
	for (uint32_t count = 1, seed = 0; seed < 2000 && !bad; count = count % SLOTS + 1) {
		for (uint32_t index = 0; index < count; index++) {
			CHECK(fill(seed + index));
			CHECK(spfe_fast_stage(tx, 1 + (seed + index) % BYTES) == 0);
		}
		CHECK(!take(seed));
		CHECK(spfe_fast_submit(tx) == 0);
		for (uint32_t index = 0; index < count; index++)
			collect(seed++);
		finish(count);
	}
	close_queues();
}

/* One packet by a call, the next by an inline function, in every combination. */
static void mixed(void)
{
	struct spfe_packet packet;
	struct spfe_sent sent;
	uint8_t *slot;

	open_queues();
	for (uint32_t seed = 0; seed < 4000 && !bad; seed++) {
		uint32_t length = 1 + seed % BYTES;

		if (seed & 1) {
			CHECK(fill(seed));
		} else {
			CHECK(spfe_slot(tx_queue, &slot, NULL) == 1 && slot == spfe_fast_slot(tx));
			memset(slot, (int)(seed & 0xff), length);
		}
		if (seed & 2)
			CHECK(spfe_fast_stage(tx, length) == 0 && spfe_slot_submit(tx_queue) == 0);
		else if (seed & 4)
			CHECK(spfe_slot_stage(tx_queue, length) == 0 && spfe_fast_submit(tx) == 0);
		else
			CHECK((seed & 16 ? spfe_fast_send(tx, length)
					 : spfe_slot_send(tx_queue, length)) == 0);
		CHECK(spfe_queue_wait(rx_queue, NULL, SPFE_NEVER) >= 0);
		if (seed & 8) {
			collect(seed);
		} else {
			CHECK(spfe_slot_peek(rx_queue, &packet) == 1);
			CHECK(packet.data[0] == (uint8_t)seed && packet.length == length);
			CHECK(spfe_slot_release(rx_queue) == 0);
		}
		CHECK(spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) >= 0);
		CHECK((seed & 32 ? spfe_fast_sent(tx, &sent) : spfe_sent_poll(tx_queue, &sent)) == 1);
		CHECK(sent.packets == 1 && sent.bytes == length);
	}
	close_queues();
}

static void full(void)
{
	uint32_t sent = 0;

	open_queues();
	/* The slots of both ends, and then no more. */
	while (fill(sent) && sent < 3 * SLOTS)
		CHECK(spfe_fast_send(tx, 1 + sent++ % BYTES) == 0);
	CHECK(sent >= SLOTS && sent <= 3 * SLOTS);
	CHECK(spfe_fast_send(tx, 1) == -SPFE_STATUS_BUSY);
	CHECK(spfe_fast_stage(tx, 1) == -SPFE_STATUS_BUSY);
	for (uint32_t seed = 0; seed < sent; seed++)
		collect(seed);
	finish(sent);
	CHECK(spfe_fast_send(tx, 0) == -SPFE_STATUS_EMPTY);
	CHECK(spfe_fast_stage(tx, BYTES + 1) == -SPFE_STATUS_TOO_LONG);
	CHECK(spfe_fast_stage(tx, UINT32_MAX) == -SPFE_STATUS_TOO_LONG);
	CHECK(spfe_fast_submit(tx) == 0);
	close_queues();
}

static void refused(void)
{
	struct spfe_fast_tx *other;

	open_queues();
	CHECK(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, &other) == 0 && other == tx);
	CHECK(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION + 1, &other) == -SPFE_STATUS_BAD_VERSION);
	CHECK(spfe_fast_tx(rx_queue, SPFE_FAST_VERSION, &other) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, NULL) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_rx(NULL, SPFE_FAST_VERSION, &rx) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_start(rx_queue) == -SPFE_STATUS_BAD_OPCODE);
	CHECK(spfe_fast_pause(tx_queue) == -SPFE_STATUS_BAD_OPCODE);
	close_queues();
}

/* Every inline function refuses, and touches nothing. */
static void nothing_left(void)
{
	struct spfe_packet packet;
	struct spfe_sent sent;

	CHECK(spfe_fast_slot(tx) == NULL);
	CHECK(spfe_fast_stage(tx, 1) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_send(tx, 1) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_submit(tx) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_sent(tx, &sent) == -SPFE_STATUS_BAD_FIELD);
	CHECK(spfe_fast_peek(rx, &packet) == -SPFE_STATUS_BAD_FIELD);
}

static void closed(void)
{
	open_queues();
	CHECK(fill(1) && spfe_fast_stage(tx, 2) == 0);
	close_queues();
	nothing_left();
}

static void forked(void)
{
	pid_t child;
	int status = -1;

	open_queues();
	CHECK(fill(1) && spfe_fast_stage(tx, 2) == 0);
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
	collect(1);
	finish(1);
	close_queues();
}

static void *sender(void *unused)
{
	uint32_t seed = 0, outstanding = 0;
	struct spfe_sent sent;

	while (seed < PACKETS) {
		while (seed < PACKETS && fill(seed)) {
			if (spfe_fast_stage(tx, 1 + seed % BYTES) < 0)
				return "stage";
			seed++;
			outstanding++;
			if (seed % 5 == 0 && spfe_fast_submit(tx) < 0)
				return "submit";
		}
		if (spfe_fast_submit(tx) < 0)
			return "submit";
		if (spfe_fast_sent(tx, &sent) == 1)
			outstanding -= sent.packets;
		else if (spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) < 0)
			return "wait";
	}
	while (outstanding)
		if (spfe_fast_sent(tx, &sent) == 1)
			outstanding -= sent.packets;
		else if (spfe_queue_wait(tx_queue, NULL, SPFE_NEVER) < 0)
			return "wait";
	return unused;
}

static void threads(void)
{
	pthread_t other;
	void *result = NULL;

	open_queues();
	CHECK(pthread_create(&other, NULL, sender, NULL) == 0);
	for (uint32_t seed = 0; seed < PACKETS && !bad; seed++)
		collect(seed);
	pthread_join(other, &result);
	CHECK(result == NULL);
	close_queues();
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		if (spfe_open(argv[1], &ends[0]) || spfe_open(argv[2], &ends[1]))
			return fprintf(stderr, "%s\n", spfe_error()), 2;
		far_port = 0;
	} else {
		if (spfe_open("virtual:", &ends[0]))
			return fprintf(stderr, "%s\n", spfe_error()), 2;
		ends[1] = ends[0];
		far_port = 1;
	}
	test("packets one by one", alone);
	test("packets in groups", groups);
	test("calls and inline functions mixed", mixed);
	test("a full queue and wrong lengths", full);
	test("another layout, and queues without a fast path", refused);
	test("a closed queue", closed);
	test("a child after a fork", forked);
	test("two threads", threads);
	printf("1..%d\n", number);
	return failures != 0;
}
