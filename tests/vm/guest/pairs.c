/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tests the calls of queue pairs of /dev/spfeN with valid and invalid arguments.
 *
 *	pairs DEVICE
 *
 * Virtual channel 0 of port 0 must be free.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>

#include "calls.h"

/* A queue of a queue pair of virtual channel `vc`; RDMA_RX uses the second page of the memory. */
static struct spfe_pair pair_queue(uint32_t kind, uint32_t key, uint32_t event, uint32_t vc)
{
	uint64_t second = kind == SPFE_QUEUE_KIND_RDMA_RX ? PAGE : 0;
	struct spfe_queue queue = transmit_queue(key, event);

	queue.kind = kind;
	queue.vc = vc;
	queue.lines += second;
	queue.sq += second;
	queue.cq += second;
	queue.stamps += second;
	return (struct spfe_pair){
		.queue = queue,
		.pair = 5ULL << SPFE_QUEUE_PAIR_OWN_SHIFT | 7ULL << SPFE_QUEUE_PAIR_PARTNER_SHIFT |
			0x42ULL << SPFE_QUEUE_PAIR_ADDRESS_SHIFT |
			0x43ULL << SPFE_QUEUE_PAIR_TARGET_SHIFT,
	};
}

/* How many queue pairs of ports 0 and 1 a user without privilege gets, and that the next is EDQUOT. */
static bool is_half_of_the_pairs(int unused)
{
	struct spfe_alloc alloc = { .size = 2 * PAGE, .access = BOTH };
	struct spfe_event event = { .eventfd = -1 };
	int file = open_device(), error = 0;
	struct spfe_port port = { 0 };
	uint32_t number, vc, all = 0, got = 0;
	struct spfe_info info;

	(void)unused;
	if (file < 0 || ioctl(file, SPFE_IOC_INFO, &info) || ioctl(file, SPFE_IOC_ALLOC, &alloc) ||
	    ioctl(file, SPFE_IOC_EVENT_CREATE, &event))
		return false;
	for (number = 0; number < info.ports; number++) {
		port = (struct spfe_port){ .port = number };
		if (ioctl(file, SPFE_IOC_PORT, &port))
			return false;
		all += port.vcs;
		for (vc = 0; vc < port.vcs && !error; vc++) {
			struct spfe_pair pair = pair_queue(SPFE_QUEUE_KIND_RDMA, alloc.key,
							   event.event, vc);

			pair.queue.port = number;
			if (ioctl(file, SPFE_IOC_PAIR_CREATE, &pair))
				error = errno;
			else
				got++;
		}
	}
	printf("# %u of %u queue pairs, then %s\n", got, all, strerror(error));
	fflush(stdout);
	return got == (all > 1 ? all / 2 : 1) && error == EDQUOT;
}

/* Queue pairs belong to one file, and take both directions of their virtual channel. */
static void pairs(int file)
{
	struct spfe_alloc alloc = { .size = 2 * PAGE, .access = BOTH }, far = alloc;
	struct spfe_event event = { .eventfd = -1 }, signal = event;
	int second = open_device();
	struct spfe_index index = { 0 }, buffers = { 0 };
	struct spfe_pair send, receive, other;
	struct spfe_queue plain;
	struct spfe_info info;

	ioctl(file, SPFE_IOC_INFO, &info);
	check("pairs: ALLOC and EVENT_CREATE", ends(file, SPFE_IOC_ALLOC, &alloc, 0) &&
	      ends(file, SPFE_IOC_EVENT_CREATE, &event, 0) &&
	      ends(second, SPFE_IOC_ALLOC, &far, 0) &&
	      ends(second, SPFE_IOC_EVENT_CREATE, &signal, 0));
	send = pair_queue(SPFE_QUEUE_KIND_RDMA, alloc.key, event.event, 0);
	receive = pair_queue(SPFE_QUEUE_KIND_RDMA_RX, alloc.key, event.event, 0);
	check("QUEUE_CREATE does not take a queue pair",
	      ends(file, SPFE_IOC_QUEUE_CREATE, &send.queue, EINVAL));
	if (!(info.capability & SPFE_CAPABILITY_RDMA)) {
		check("PAIR_CREATE without the capability",
		      ends(file, SPFE_IOC_PAIR_CREATE, &send, EOPNOTSUPP));
		close(second);
		return;
	}
	other = send;
	other.queue.kind = SPFE_QUEUE_KIND_TX;
	check("PAIR_CREATE takes queue pairs only",
	      ends(file, SPFE_IOC_PAIR_CREATE, &other, EINVAL));
	other = send;
	other.reserved = 1;
	check("PAIR_CREATE with a reserved field",
	      ends(file, SPFE_IOC_PAIR_CREATE, &other, EINVAL));
	other = send;
	other.pair = 0;
	check("PAIR_CREATE without an own number",
	      ends(file, SPFE_IOC_PAIR_CREATE, &other, EREMOTEIO) &&
		      other.queue.status == SPFE_STATUS_BAD_FIELD);
	check("PAIR_CREATE", ends(file, SPFE_IOC_PAIR_CREATE, &send, 0));
	index.index = send.queue.queue;
	check("PAIR_CREATE again", ends(file, SPFE_IOC_PAIR_CREATE, &send, EBUSY));
	other = pair_queue(SPFE_QUEUE_KIND_RDMA_RX, far.key, signal.event, 0);
	check("PAIR_CREATE of the other direction by another file",
	      ends(second, SPFE_IOC_PAIR_CREATE, &other, EBUSY));
	plain = other.queue;
	plain.kind = SPFE_QUEUE_KIND_RX;
	check("QUEUE_CREATE of the other direction by another file",
	      ends(second, SPFE_IOC_QUEUE_CREATE, &plain, EBUSY));
	plain = receive.queue;
	plain.kind = SPFE_QUEUE_KIND_RX;
	check("QUEUE_CREATE of the other direction",
	      ends(file, SPFE_IOC_QUEUE_CREATE, &plain, EBUSY));
	other = receive;
	other.pair ^= 1;
	check("PAIR_CREATE of the other direction with another number",
	      ends(file, SPFE_IOC_PAIR_CREATE, &other, EREMOTEIO) &&
		      other.queue.status == SPFE_STATUS_BUSY);
	check("PAIR_CREATE of the other direction",
	      ends(file, SPFE_IOC_PAIR_CREATE, &receive, 0));
	buffers.index = receive.queue.queue;
	check("QUEUE_DESTROY of a queue pair by another file",
	      ends(second, SPFE_IOC_QUEUE_DESTROY, &index, ENOENT));
	check("QUEUE_DESTROY of both", ends(file, SPFE_IOC_QUEUE_DESTROY, &index, 0) &&
	      ends(file, SPFE_IOC_QUEUE_DESTROY, &buffers, 0));
	plain = transmit_queue(far.key, signal.event);
	check("QUEUE_CREATE afterwards", ends(second, SPFE_IOC_QUEUE_CREATE, &plain, 0));
	check("PAIR_CREATE beside an ordinary queue",
	      ends(file, SPFE_IOC_PAIR_CREATE, &receive, EBUSY));
	close(second);
	chmod(device, 0666);
	check("quotas: queue pairs of a user", as_nobody(is_half_of_the_pairs, 0));
	chmod(device, 0600);
	check("PAIR_CREATE after that user", ends(file, SPFE_IOC_PAIR_CREATE, &send, 0));
	check("RESET with a queue pair", ends(file, SPFE_IOC_RESET, NULL, 0));
	check("UNREGISTER of its memory",
	      ends(file, SPFE_IOC_UNREGISTER, &(struct spfe_key){ .key = alloc.key }, 0));
}

/* Whether a reading of counters ends with this errno. */
static bool counters_are(int file, struct spfe_pair_counters wish, int error)
{
	return ends(file, SPFE_IOC_PAIR_COUNTERS, &wish, error);
}

/* Counters of queue pairs. The file may be one that only reads, and the queue pair of another. */
static void pair_counters(int file)
{
	const uint32_t last = SPFE_PAIR_COUNTER_TARGET_NOTIFICATIONS_DROPPED;
	const uint64_t zeros[SPFE_PAIR_COUNTERS_READ] = { 0 };
	struct spfe_alloc alloc = { .size = 2 * PAGE, .access = BOTH };
	struct spfe_pair_counters none = { .vc = 0 }, some = none, end = { .first = 62 };
	struct spfe_event event = { .eventfd = -1 };
	int reader = open(device, O_RDONLY | O_CLOEXEC);
	struct spfe_port port = { .port = 0 };
	struct spfe_pair send;
	struct spfe_info info;

	ioctl(file, SPFE_IOC_INFO, &info);
	ioctl(file, SPFE_IOC_PORT, &port);
	check("PAIR_COUNTERS with a reserved field",
	      counters_are(reader, (struct spfe_pair_counters){ .reserved = 1 }, EINVAL));
	if (!(info.capability & SPFE_CAPABILITY_PAIR_COUNTERS)) {
		check("PAIR_COUNTERS without the capability",
		      counters_are(reader, none, EOPNOTSUPP));
		close(reader);
		return;
	}
	check("PAIR_COUNTERS of a port out of range",
	      counters_are(reader, (struct spfe_pair_counters){.port = info.ports}, ENOENT) &&
		      counters_are(reader, (struct spfe_pair_counters){.port = ~0U}, ENOENT));
	check("PAIR_COUNTERS of a virtual channel out of range",
	      counters_are(reader, (struct spfe_pair_counters){.vc = port.vcs}, ENOENT) &&
		      counters_are(reader, (struct spfe_pair_counters){.vc = ~0U}, ENOENT));
	check("PAIR_COUNTERS of counters out of range",
	      counters_are(reader, (struct spfe_pair_counters){.first = 63}, ENOENT) &&
		      counters_are(reader, (struct spfe_pair_counters){.first = ~0U}, ENOENT));
	memset(none.values, 0xff, sizeof(none.values));
	check("PAIR_COUNTERS without a queue pair",
	      ends(reader, SPFE_IOC_PAIR_COUNTERS, &none, 0) && !none.present);
	check("its values are 0", !memcmp(none.values, zeros, sizeof(zeros)));
	check("counters: ALLOC and EVENT_CREATE", ends(file, SPFE_IOC_ALLOC, &alloc, 0) &&
	      ends(file, SPFE_IOC_EVENT_CREATE, &event, 0));
	send = pair_queue(SPFE_QUEUE_KIND_RDMA, alloc.key, event.event, 0);
	check("counters: PAIR_CREATE", ends(file, SPFE_IOC_PAIR_CREATE, &send, 0));
	check("PAIR_COUNTERS of another file",
	      ends(reader, SPFE_IOC_PAIR_COUNTERS, &some, 0) && some.present >> last == 1);
	check("PAIR_COUNTERS at the end of the list",
	      ends(reader, SPFE_IOC_PAIR_COUNTERS, &end, 0) && end.present == some.present &&
		      !end.values[0] && !end.values[1]);
	check("RESET ends the queue pair", ends(file, SPFE_IOC_RESET, NULL, 0));
	check("PAIR_COUNTERS without it again",
	      ends(reader, SPFE_IOC_PAIR_COUNTERS, &some, 0) && !some.present);
	check("counters: UNREGISTER of its memory",
	      ends(file, SPFE_IOC_UNREGISTER, &(struct spfe_key){ .key = alloc.key }, 0));
	close(reader);
}

int main(int count, char **words)
{
	int file;

	if (count != 2) {
		fprintf(stderr, "pairs DEVICE\n");
		return 2;
	}
	device = words[1];
	file = open_device();
	if (file < 0) {
		perror(device);
		return 1;
	}
	pairs(file);
	pair_counters(file);
	close(file);
	return failed;
}
