/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Sends groups of packets that are built and read in place: the fastest way.
 *
 * Each queue has slots of its own. A group costs one doorbell and one completion, however many
 * packets it has. The receiver waits for a quarter of its slots at a time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/spfe.h>

enum { GROUPS = 1000, GROUP = 16, BYTES = 1024, SLOTS = 64 };

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "grouped_send: %s\n", spfe_error());
		exit(1);
	}
}

static void *receive(void *queue)
{
	const struct spfe_threshold quarter = {.count = SLOTS / 4, .after_first_ns = 100000};
	struct spfe_packet packet;
	uint32_t next = 0, number;

	while (next < GROUPS * GROUP) {
		check(spfe_queue_wait(queue, &quarter, SPFE_NEVER));
		while (spfe_slot_peek(queue, &packet) == 1) {
			memcpy(&number, packet.data, sizeof(number));
			if (packet.length != BYTES || number != next++) {
				fprintf(stderr, "grouped_send: packet %u is not what was sent\n", next);
				exit(1);
			}
			check(spfe_slot_release(queue));
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct spfe_sent sent;
	spfe_endpoint *endpoint;
	spfe_queue *tx, *rx;
	pthread_t receiver;
	uint32_t number = 0;
	uint64_t packets = 0;
	uint8_t *slot;
	int found;

	options.depth = SLOTS;
	options.slot_bytes = BYTES;
	check(spfe_open(argc > 1 ? argv[1] : "virtual:", &endpoint));
	check(spfe_pooled_tx_open(endpoint, 0, 0, &options, &tx));
	check(spfe_pooled_rx_open(endpoint, 1, 0, &options, &rx));
	if (pthread_create(&receiver, NULL, receive, rx) != 0)
		return 1;

	while (number < GROUPS * GROUP) {
		check(found = spfe_slot(tx, &slot, NULL));
		if (found) {
			memcpy(slot, &number, sizeof(number));
			check(spfe_slot_stage(tx, BYTES));
			if (++number % GROUP == 0)
				check(spfe_slot_submit(tx));
		} else {
			check(spfe_queue_wait(tx, NULL, SPFE_NEVER));
		}
		while (spfe_sent_poll(tx, &sent) == 1)
			packets += sent.packets;
	}
	while (packets < number) {
		check(spfe_queue_wait(tx, NULL, SPFE_NEVER));
		while (spfe_sent_poll(tx, &sent) == 1)
			packets += sent.packets;
	}
	pthread_join(receiver, NULL);
	printf("%lu packets in groups of %d\n", (unsigned long)packets, GROUP);
	check(spfe_queue_close(tx));
	check(spfe_queue_close(rx));
	check(spfe_close(endpoint));
	return 0;
}
