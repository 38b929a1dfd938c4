/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Receives from several virtual channels in one epoll loop, which can also wait for other things.
 *
 * The descriptor of a queue becomes readable once for each request. The loop takes all packets,
 * requests an event, and takes again what the request found to be there already; then it sleeps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <spfe/spfe.h>

enum { VCS = 4, PACKETS = 500, BYTES = 256 };

struct channel {
	spfe_queue *tx, *rx;
	struct spfe_buf *packet;
	uint32_t sent, received;
};

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "epoll_loop: %s\n", spfe_error());
		exit(1);
	}
}

static void take_all(struct channel *channel)
{
	struct spfe_received received;

	while (spfe_rx_poll(channel->rx, &received) == 1) {
		uint32_t number;

		memcpy(&number, received.buf->data, sizeof(number));
		if (number != channel->received++)
			exit(1);
		check(spfe_rx_post(channel->rx, received.buf));
	}
}

static void send_next(struct channel *channel)
{
	struct spfe_sent sent;

	if (channel->sent == PACKETS)
		return;
	memcpy(channel->packet->data, &channel->sent, sizeof(channel->sent));
	check(spfe_send(channel->tx, channel->packet, SPFE_EOP));
	check(spfe_queue_wait(channel->tx, NULL, SPFE_NEVER));
	check(spfe_sent_poll(channel->tx, &sent));
	channel->sent++;
}

int main(int argc, char **argv)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct channel channels[VCS] = {{0}};
	struct epoll_event events[VCS];
	spfe_endpoint *endpoint;
	spfe_region *region;
	int set, i, j, left = VCS, waits = 0;

	options.flags = SPFE_EVENT;
	check(spfe_open(argc > 1 ? argv[1] : "virtual:", &endpoint));
	check(spfe_region_alloc(endpoint, VCS * 9 * BYTES, &region));
	set = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < VCS; i++) {
		struct channel *channel = &channels[i];
		struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};

		check(spfe_tx_open(endpoint, 0, (uint32_t)i, NULL, &channel->tx));
		check(spfe_rx_open(endpoint, 1, (uint32_t)i, &options, &channel->rx));
		for (j = 0; j < 9; j++) {
			struct spfe_buf *buf;

			check(spfe_buf_get(region, (size_t)(i * 9 + j) * BYTES, BYTES, &buf));
			if (j == 8)
				channel->packet = buf;
			else
				check(spfe_rx_post(channel->rx, buf));
		}
		if (epoll_ctl(set, EPOLL_CTL_ADD, spfe_queue_fd(channel->rx), &event) != 0)
			return 1;
	}
	while (left > 0) {
		int count, ready;

		for (i = 0; i < VCS; i++) {
			take_all(&channels[i]);
			while ((ready = spfe_queue_request_event(channels[i].rx, NULL)) == 1)
				take_all(&channels[i]);
			check(ready);
			send_next(&channels[i]);
		}
		count = epoll_wait(set, events, VCS, 5000);
		if (count <= 0)
			return 1;
		waits++;
		for (i = 0; i < count; i++) {
			struct channel *channel = &channels[events[i].data.u32];
			uint64_t clear;

			if (read(spfe_queue_fd(channel->rx), &clear, sizeof(clear)) < 0)
				return 1;
			take_all(channel);
			left -= channel->received == PACKETS;
		}
	}
	printf("%d packets on %d virtual channels, %d waits\n", VCS * PACKETS, VCS, waits);
	for (i = 0; i < VCS; i++) {
		check(spfe_queue_close(channels[i].rx));
		check(spfe_queue_close(channels[i].tx));
	}
	close(set);
	check(spfe_close(endpoint));
	return 0;
}
