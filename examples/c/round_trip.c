/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Measures round trips: by polling, for the lowest latency, or blocking, for the least processor time.
 *
 *   round_trip
 *   round_trip FROM TO poll|block ROUND_TRIPS
 *
 * FROM and TO are devices whose ports 0 are joined, such as virtual:lab/0 and virtual:lab/1, or
 * unix:/run/spfe.sock/0 and unix:/run/spfe.sock/1. Polling uses the inline functions of <spfe/fast.h>:
 * no call into the library while packets arrive, except where this thread runs the network.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/fast.h>

#define BYTES 64
#define SLOTS 16

struct side {
	spfe_endpoint *endpoint;
	spfe_queue *tx_queue, *rx_queue;
	struct spfe_fast_tx *tx;
	struct spfe_fast_rx *rx;
	uint64_t round_trips;
};

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "round_trip: %s\n", spfe_error());
		exit(1);
	}
}

static void open_side(struct side *side, const char *device, uint32_t strategy)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;

	options.depth = SLOTS;
	options.slot_bytes = BYTES;
	options.strategy = strategy;
	check(spfe_open(device, &side->endpoint));
	check(spfe_pooled_tx_open(side->endpoint, 0, 0, &options, &side->tx_queue));
	check(spfe_pooled_rx_open(side->endpoint, 0, 0, &options, &side->rx_queue));
	check(spfe_fast_tx(side->tx_queue, SPFE_FAST_VERSION, &side->tx));
	check(spfe_fast_rx(side->rx_queue, SPFE_FAST_VERSION, &side->rx));
}

static void close_side(struct side *side)
{
	check(spfe_queue_close(side->tx_queue));
	check(spfe_queue_close(side->rx_queue));
	check(spfe_close(side->endpoint));
}

static void send_number(struct side *side, uint64_t number)
{
	struct spfe_sent sent;
	uint8_t *slot;

	/* Completions of earlier packets free their slots. */
	while (spfe_fast_sent(side->tx, &sent) == 1)
		check(sent.status);
	slot = spfe_fast_slot(side->tx);
	if (!slot) {
		fprintf(stderr, "round_trip: no slot is free\n");
		exit(1);
	}
	memcpy(slot, &number, sizeof(number));
	check(spfe_fast_send(side->tx, BYTES));
}

/* Takes the next packet; polls, or sleeps until it is there. */
static uint64_t receive(struct side *side, int block)
{
	struct spfe_packet packet;
	uint64_t number;
	int result;

	while ((result = spfe_fast_peek(side->rx, &packet)) != 1) {
		check(result);
		if (block)
			check(spfe_queue_wait(side->rx_queue, NULL, SPFE_NEVER));
	}
	memcpy(&number, packet.data, sizeof(number));
	check(spfe_fast_release(side->rx, &packet));
	return number;
}

static void *echo(void *far)
{
	struct side *side = far;
	uint64_t number;

	for (number = 0; number < side->round_trips; number++)
		send_number(side, receive(side, 1));
	return NULL;
}

static void run(const char *from, const char *to, int block, uint64_t round_trips)
{
	uint32_t strategy = block ? SPFE_BLOCK : SPFE_POLL;
	struct side here, there;
	uint64_t number, start_ns;
	pthread_t other;

	open_side(&here, from, strategy);
	open_side(&there, to, strategy);
	there.round_trips = round_trips;
	start_ns = spfe_now_ns(here.endpoint);
	if (block && pthread_create(&other, NULL, echo, &there) != 0)
		exit(1);
	for (number = 0; number < round_trips; number++) {
		send_number(&here, number);
		if (!block)
			send_number(&there, receive(&there, 0));
		if (receive(&here, block) != number) {
			fprintf(stderr, "round_trip: packets arrived out of order\n");
			exit(1);
		}
	}
	if (block)
		pthread_join(other, NULL);
	printf("%s: %llu round trips of %d bytes, %llu ns each\n", block ? "block" : "poll",
	       (unsigned long long)round_trips, BYTES,
	       (unsigned long long)((spfe_now_ns(here.endpoint) - start_ns) / round_trips));
	close_side(&here);
	close_side(&there);
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		run("virtual:lab/0", "virtual:lab/1", 0, 10000);
		run("virtual:lab/0", "virtual:lab/1", 1, 10000);
		return 0;
	}
	if (argc != 5 || strtoull(argv[4], NULL, 10) == 0) {
		fprintf(stderr, "usage: round_trip [FROM TO poll|block ROUND_TRIPS]\n");
		return 2;
	}
	run(argv[1], argv[2], !strcmp(argv[3], "block"), strtoull(argv[4], NULL, 10));
	return 0;
}
