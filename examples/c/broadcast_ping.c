/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Sends a broadcast message, receives the answer, and measures how long that takes.
 *
 * SpaceFibre broadcast messages (ECSS-E-ST-50-11C 5.7.5) carry eight bytes, a channel and a type. They
 * never wait behind data. A receiver that does not keep up loses messages, and the next one that it
 * receives has lost_before set.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/spfe.h>

#define ROUNDS 1000
#define THERE 1 /* broadcast channels of the two directions */
#define BACK 2
#define PING 0x70

static spfe_endpoint *endpoint;

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "broadcast_ping: %s\n", spfe_error());
		exit(1);
	}
}

static void receive(spfe_queue *queue, struct spfe_broadcast *message)
{
	check(spfe_queue_wait(queue, NULL, spfe_now_ns(endpoint) + UINT64_C(5000000000)));
	check(spfe_broadcast_poll(queue, message));
}

/* The far end: sends each message back. */
static void *answer(void *far)
{
	struct spfe_broadcast message;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		receive(far, &message);
		check(spfe_broadcast_send(far, BACK, PING, message.data));
	}
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

int main(void)
{
	static uint64_t times_ns[ROUNDS];
	struct spfe_broadcast reply;
	spfe_queue *near, *far;
	uint8_t data[8] = {0};
	pthread_t echo;
	int round;

	/* With a filter the device does not even wake us for other channels and types. Both receivers
	 * open before the first message is sent: a message without a receiver is lost. */
	check(spfe_open("virtual:", &endpoint));
	check(spfe_broadcast_open(endpoint, 0, BACK, PING, NULL, &near));
	check(spfe_broadcast_open(endpoint, 1, THERE, PING, NULL, &far));
	if (pthread_create(&echo, NULL, answer, far) != 0)
		return 1;
	for (round = 0; round < ROUNDS; round++) {
		uint64_t start_ns = spfe_now_ns(endpoint);

		memcpy(data, &round, sizeof(round));
		check(spfe_broadcast_send(near, THERE, PING, data));
		receive(near, &reply);
		times_ns[round] = spfe_now_ns(endpoint) - start_ns;
		if (memcmp(reply.data, data, sizeof(data)) || reply.lost_before) {
			fprintf(stderr, "broadcast_ping: round %d: another message\n", round);
			return 1;
		}
	}
	pthread_join(echo, NULL);
	qsort(times_ns, ROUNDS, sizeof(*times_ns), by_size);
	printf("%d messages there and back: %llu ns at least, %llu ns median\n", ROUNDS,
	       (unsigned long long)times_ns[0], (unsigned long long)times_ns[ROUNDS / 2]);
	check(spfe_queue_close(near));
	check(spfe_queue_close(far));
	check(spfe_close(endpoint));
	return 0;
}
