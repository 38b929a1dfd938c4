/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Instructions per packet of the inline functions; tools/callgrind.sh counts them.
 *
 *   instructions SCENARIO ROUNDS
 *
 * The scenarios are those of the program in Rust (crates/spfe-bench/src/bin/instructions.rs), written
 * the same way: a round is 16 packets of 8 bytes, or 128 for c-packed, and a function that is never
 * inlined does all that the application does in a round. A thread of the process is the device;
 * measured_engine_settle, which waits for it, is not counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/fast.h>

#define SIZE 8
#define GROUP 16
#define BURST 128
#define APPLICATION __attribute__((noinline)) static size_t

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
__attribute__((noinline)) static void measured_engine_settle(uint32_t packets)
{
	struct spfe_threshold all = {.count = packets};

	check(spfe_queue_wait(rx_queue, &all, SPFE_NEVER));
	check(spfe_queue_wait(tx_queue, NULL, SPFE_NEVER));
}

APPLICATION measured_app_pooled_single(struct spfe_fast_tx *tx, struct spfe_fast_rx *rx)
{
	struct spfe_packet packet;
	struct spfe_sent sent;
	size_t bytes = 0;

	for (int number = 0; number < GROUP; number++) {
		spfe_fast_send(tx, SIZE);
		measured_engine_settle(1);
		spfe_fast_sent(tx, &sent);
		if (spfe_fast_peek(rx, &packet) == 1) {
			bytes += packet.length;
			spfe_fast_release(rx, &packet);
		}
	}
	return bytes;
}

APPLICATION measured_app_pooled_group(struct spfe_fast_tx *tx, struct spfe_fast_rx *rx)
{
	struct spfe_packet packet;
	struct spfe_sent sent;
	size_t bytes = 0;

	for (int number = 0; number < GROUP; number++)
		spfe_fast_stage(tx, SIZE);
	spfe_fast_submit(tx);
	measured_engine_settle(GROUP);
	spfe_fast_sent(tx, &sent);
	while (spfe_fast_peek(rx, &packet) == 1) {
		bytes += packet.length;
		spfe_fast_release(rx, &packet);
	}
	return bytes;
}

/* The receive buffers of the program, which go round. */
static struct spfe_fast_region out, in;

static size_t take_posted(struct spfe_fast_posted *rx)
{
	struct spfe_fast_packet packet;
	size_t bytes = 0;

	while (spfe_fast_receive(rx, &packet) == 1) {
		bytes += packet.length;
		spfe_fast_post(rx, in.address + packet.id, 64, packet.id);
	}
	return bytes;
}

APPLICATION measured_app_single(struct spfe_fast_tx *tx, struct spfe_fast_posted *rx)
{
	struct spfe_fast_packet packet;
	struct spfe_sent sent;
	size_t bytes = 0;

	for (int number = 0; number < GROUP; number++) {
		spfe_fast_send_from(tx, out.address, SIZE);
		measured_engine_settle(1);
		spfe_fast_sent(tx, &sent);
		if (spfe_fast_receive(rx, &packet) == 1) {
			bytes += packet.length;
			spfe_fast_post(rx, in.address + packet.id, 64, packet.id);
		}
	}
	return bytes;
}

APPLICATION measured_app_group(struct spfe_fast_tx *tx, struct spfe_fast_posted *rx)
{
	struct spfe_sent sent;

	for (uint64_t at = 0; at < GROUP * 64; at += 64)
		spfe_fast_stage_from(tx, out.address + at, SIZE);
	spfe_fast_submit(tx);
	measured_engine_settle(GROUP);
	spfe_fast_sent(tx, &sent);
	return take_posted(rx);
}

APPLICATION measured_app_packed(struct spfe_queue *tx, struct spfe_fast_packed *rx,
				struct spfe_buf *burst)
{
	struct spfe_packet record;
	struct spfe_sent sent;
	struct spfe_run run;
	size_t bytes = 0;

	spfe_send_burst(tx, burst, SIZE, SIZE, BURST);
	measured_engine_settle(BURST);
	spfe_sent_poll(tx, &sent);
	while (spfe_fast_run(rx, &run) == 1) {
		while (spfe_run_next(&run, &record))
			bytes += record.length;
		spfe_fast_run_done(rx);
	}
	return bytes;
}

static size_t pooled(int rounds, int grouped)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct spfe_fast_tx *tx;
	struct spfe_fast_rx *rx;
	size_t bytes = 0;

	options.depth = 256;
	options.slot_bytes = 64;
	check(spfe_pooled_rx_open(ends[1], 0, 0, &options, &rx_queue));
	check(spfe_pooled_tx_open(ends[0], 0, 0, &options, &tx_queue));
	check(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, &tx));
	check(spfe_fast_rx(rx_queue, SPFE_FAST_VERSION, &rx));
	for (int round = 0; round < rounds; round++)
		bytes += (grouped ? measured_app_pooled_group : measured_app_pooled_single)(tx, rx);
	return bytes;
}

static size_t posted(int rounds, int grouped)
{
	struct spfe_fast_posted *rx;
	spfe_region *regions[2];
	struct spfe_fast_tx *tx;
	size_t bytes = 0;

	check(spfe_rx_open(ends[1], 0, 0, NULL, &rx_queue));
	check(spfe_tx_open(ends[0], 0, 0, NULL, &tx_queue));
	check(spfe_fast_tx(tx_queue, SPFE_FAST_VERSION, &tx));
	check(spfe_fast_posted(rx_queue, SPFE_FAST_VERSION, &rx));
	for (int end = 0; end < 2; end++)
		check(spfe_region_alloc(ends[end], 1 << 16, &regions[end]));
	check(spfe_fast_region(tx_queue, regions[0], &out));
	check(spfe_fast_region(rx_queue, regions[1], &in));
	for (uint64_t at = 0; at < 256 * 64; at += 64)
		check(spfe_fast_post(rx, in.address + at, 64, at));
	for (int round = 0; round < rounds; round++)
		bytes += (grouped ? measured_app_group : measured_app_single)(tx, rx);
	return bytes;
}

static size_t packed(int rounds)
{
	struct spfe_fast_packed *rx;
	struct spfe_buf *burst;
	spfe_region *region;
	size_t bytes = 0;

	check(spfe_packed_rx_open(ends[1], 0, 0, NULL, &rx_queue));
	check(spfe_tx_open(ends[0], 0, 0, NULL, &tx_queue));
	check(spfe_fast_packed(rx_queue, SPFE_FAST_VERSION, &rx));
	check(spfe_region_alloc(ends[0], 1 << 16, &region));
	check(spfe_buf_get(region, 0, SIZE * BURST, &burst));
	for (int round = 0; round < rounds; round++)
		bytes += measured_app_packed(tx_queue, rx, burst);
	return bytes;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[2]) : 0, packets = rounds * GROUP;
	const char *name = argc == 3 ? argv[1] : "";
	size_t bytes;

	check(spfe_open("virtual:count/0?mode=thread", &ends[0]));
	check(spfe_open("virtual:count/1?mode=thread", &ends[1]));
	if (!strncmp(name, "c-pooled-", 9)) {
		bytes = pooled(rounds, !strcmp(name, "c-pooled-group"));
	} else if (!strcmp(name, "c-packed")) {
		packets = rounds * BURST;
		bytes = packed(rounds);
	} else if (!strcmp(name, "c-single") || !strcmp(name, "c-group")) {
		bytes = posted(rounds, !strcmp(name, "c-group"));
	} else {
		fprintf(stderr, "usage: instructions c-pooled-single|c-pooled-group|c-single|c-group|"
				"c-packed ROUNDS\n");
		return 2;
	}
	if (bytes != (size_t)packets * SIZE) {
		fprintf(stderr, "instructions: %zu bytes received\n", bytes);
		return 1;
	}
	printf("%d\n", packets);
	return 0;
}
