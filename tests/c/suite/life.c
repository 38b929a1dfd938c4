/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What closes, resets and forks leave behind. */
#define _GNU_SOURCE
#include "suite.h"

/* Closing a queue gives its buffers back. */
void closing(void)
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
void resets(void)
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

void forks(void)
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

static void *describe(void *endpoint)
{
	struct spfe_port_info info = {.size = sizeof(info)};
	int i;

	for (i = 0; i < 20000; i++)
		OK(spfe_port_info(endpoint, 0, &info));
	return NULL;
}

/* Deadlines of all threads come from the clock, also while one of them uses the endpoint. */
void clocks(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	uint64_t last = 0, now;
	pthread_t thread;
	int i;

	CHECK(pthread_create(&thread, NULL, describe, endpoint) == 0);
	for (i = 0; i < 200000 && !bad; i++) {
		now = spfe_now_ns(endpoint);
		CHECK(now >= last && now);
		last = now;
	}
	pthread_join(thread, NULL);
	OK(spfe_close(endpoint));
	CHECK(spfe_now_ns(endpoint) == 0);
}

/* More closes than closed handles are kept. */
void many(void)
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
