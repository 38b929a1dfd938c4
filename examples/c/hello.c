/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Sends one packet from user memory to user memory.
 *
 * "virtual:" is an endpoint in this process. A cable joins its SpaceFibre ports 0 and 1. With another
 * device name the same code runs on a daemon's network or on hardware.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/spfe.h>

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "hello: %s\n", spfe_error());
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct spfe_received received;
	struct spfe_buf *packet, *buffer;
	spfe_endpoint *endpoint;
	spfe_region *region;
	spfe_queue *tx, *rx;

	check(spfe_open(argc > 1 ? argv[1] : "virtual:", &endpoint));
	check(spfe_tx_open(endpoint, 0, 0, NULL, &tx));
	check(spfe_rx_open(endpoint, 1, 0, NULL, &rx));

	/* Memory that the device may read and write. Buffers are parts of it and never overlap. */
	check(spfe_region_alloc(endpoint, 8192, &region));
	check(spfe_buf_get(region, 0, 4096, &buffer));
	check(spfe_buf_get(region, 4096, 4096, &packet));

	/* Without a buffer the packet would wait at the sender: packets are never dropped. */
	check(spfe_rx_post(rx, buffer));
	memcpy(packet->data, "from here to there", 18);
	packet->length = 18;
	check(spfe_send(tx, packet, SPFE_EOP));

	check(spfe_queue_wait(rx, NULL, spfe_now_ns(endpoint) + 1000000000));
	check(spfe_rx_poll(rx, &received));
	printf("received: %.*s\n", (int)received.buf->length, (const char *)received.buf->data);

	check(spfe_queue_close(rx));
	check(spfe_queue_close(tx));
	check(spfe_close(endpoint));
	return 0;
}
