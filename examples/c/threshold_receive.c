/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Wakes up rarely: when a quarter of the slots is full, or 100 us after the first packet.
 *
 * At the other end of a paced link (four lanes of 7.5 Gbit/s) a generator sends packets of 1 KiB
 * without end. Waiting for each packet costs one wake-up per packet. With a threshold the wait ends
 * when enough packets have arrived, or when the time since the first packet is over, so that the last
 * packets before a pause do not wait for ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/spfe.h>

#define RUN_NS UINT64_C(200000000)
#define AFTER_FIRST_NS 100000
#define BYTES 1024

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "threshold_receive: %s\n", spfe_error());
		exit(1);
	}
}

static void run(uint32_t slots)
{
	/* A quarter of the slots, or a time since the first packet. */
	struct spfe_threshold goal = {.count = slots / 4, .after_first_ns = AFTER_FIRST_NS};
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct spfe_queue_stats stats = {.size = sizeof(stats)};
	uint64_t packets = 0, full = 0, late = 0, number, start_ns, ns;
	struct spfe_packet packet;
	spfe_endpoint *endpoint;
	spfe_queue *rx;
	uint32_t taken;
	int ready;

	options.depth = slots;
	options.slot_bytes = BYTES;
	check(spfe_open("virtual:?peer=generator:1024&link=4x7.5G", &endpoint));
	check(spfe_pooled_rx_open(endpoint, 0, 0, &options, &rx));
	start_ns = spfe_now_ns(endpoint);
	while (spfe_now_ns(endpoint) < start_ns + RUN_NS) {
		/* Waiting takes no packet; spfe_slot_peek() does. */
		ready = spfe_queue_wait(rx, &goal, spfe_now_ns(endpoint) + UINT64_C(1000000000));
		check(ready);
		full += ready == SPFE_READY_THRESHOLD;
		late += ready == SPFE_READY_AFTER_FIRST;
		/* Take all packets, at most one per slot, so that the loop ends even when packets
		 * arrive as fast as it takes them. */
		for (taken = 0; taken < slots && spfe_slot_peek(rx, &packet) == 1; taken++) {
			/* The generator numbers its packets: the first 8 bytes, little-endian. */
			memcpy(&number, packet.data, sizeof(number));
			if (number != packets++ || packet.length != BYTES) {
				fprintf(stderr, "threshold_receive: a packet is missing\n");
				exit(1);
			}
			check(spfe_slot_release(rx));
		}
	}
	ns = spfe_now_ns(endpoint) - start_ns;
	check(spfe_queue_stats(rx, &stats));
	printf("%u slots: %llu packets, %.2f Gbit/s\n", slots, (unsigned long long)packets,
	       (double)(packets * BYTES * 8) / (double)ns);
	printf("  waits ended: %llu by the count, %llu by the time\n", (unsigned long long)full,
	       (unsigned long long)late);
	printf("  wake-ups: %llu\n", (unsigned long long)stats.sleeps);
	if (packets == 0)
		exit(1);
	check(spfe_queue_close(rx));
	check(spfe_close(endpoint));
}

int main(void)
{
	/* The link delivers about 280 packets of 1 KiB in 100 us. So a quarter of 1024 slots fills up
	 * first; a quarter of 4096 slots does not. */
	run(1024);
	run(4096);
	return 0;
}
