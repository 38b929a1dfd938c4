/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Instructions per packet of the inline functions; tools/callgrind.sh counts them.
 *
 *   instructions c-pooled-single|c-pooled-group ROUNDS
 *
 * As the program in Rust: a round is 16 packets of 8 bytes. A thread of the process is the device, and
 * callgrind counts the functions measured_app_*: what waits for the device is outside of them, and so
 * is the call that wakes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/fast.h>

#define SIZE 8
#define GROUP 16

static spfe_endpoint *ends[2];
static spfe_queue *tx_queue, *rx_queue;

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "instructions: %s\n", spfe_error());
		exit(1);
	}
}

/* Until the device has moved so many packets. */
static void settle(uint32_t packets)
{
	struct spfe_threshold all = {.count = packets};

	check(spfe_queue_wait(rx_queue, &all, SPFE_NEVER));
	check(spfe_queue_wait(tx_queue, NULL, SPFE_NEVER));
}

__attribute__((noinline)) static void measured_app_send_group(struct spfe_fast_tx *tx)
{
	for (int number = 0; number < GROUP; number++)
		spfe_fast_stage(tx, SIZE);
	spfe_fast_submit(tx);
}

__attribute__((noinline)) static size_t measured_app_receive(struct spfe_fast_tx *tx,
							 struct spfe_fast_rx *rx,
							 uint32_t packets)
{
	struct spfe_packet packet;
	struct spfe_sent sent;
	size_t bytes = 0;

	spfe_fast_sent(tx, &sent);
	for (; packets; packets--) {
		if (spfe_fast_peek(rx, &packet) != 1)
			break;
		bytes += packet.length;
		spfe_fast_release(rx, &packet);
	}
	return bytes;
}

__attribute__((noinline)) static void measured_app_send(struct spfe_fast_tx *tx)
{
	spfe_fast_send(tx, SIZE);
}

int main(int argc, char **argv)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct spfe_fast_tx *tx;
	struct spfe_fast_rx *rx;
	int grouped, rounds;
	size_t bytes = 0;

	if (argc != 3)
		return 2;
	grouped = !strcmp(argv[1], "c-pooled-group");
	rounds = atoi(argv[2]);
	options.depth = 256;
	options.slot_bytes = 64;
	check(spfe_open("virtual:count/0?mode=thread", &ends[0]));
	check(spfe_open("virtual:count/1?mode=thread", &ends[1]));
	check(spfe_pooled_rx_open(ends[1], 0, 0, &options, &rx_queue));
	check(spfe_pooled_tx_open(ends[0], 0, 0, &options, &tx_queue));
	check(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, &tx));
	check(spfe_fast_rx(rx_queue, SPFE_FAST_VERSION, &rx));
	for (int round = 0; round < rounds; round++) {
		if (grouped) {
			measured_app_send_group(tx);
			settle(GROUP);
			bytes += measured_app_receive(tx, rx, GROUP);
			continue;
		}
		for (int number = 0; number < GROUP; number++) {
			measured_app_send(tx);
			settle(1);
			bytes += measured_app_receive(tx, rx, 1);
		}
	}
	if (bytes != (size_t)rounds * GROUP * SIZE) {
		fprintf(stderr, "instructions: %zu bytes received\n", bytes);
		return 1;
	}
	printf("%d\n", rounds * GROUP);
	return 0;
}
