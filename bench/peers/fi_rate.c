/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Rate of tagged messages of libfabric between two processes that poll: a sender with WINDOW sends
 * under way, and a receiver with as many receives posted. It uses public calls only, the same for
 * every provider.
 *
 *   fi_rate PROVIDER BYTES SECONDS [CPU,CPU]     prints one JSON object
 *
 *   cc -O2 -o fi_rate fi_rate.c $(pkg-config --cflags --libs libfabric)
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

enum { WINDOW = 64, NAME = 256, TAG_DATA = 1, TAG_LAST = 2 };

static struct fid_ep *ep;
static struct fid_cq *tx, *rx;
static fi_addr_t peer;
static uint8_t *memory;
static struct fi_context2 contexts[WINDOW + 1];

static void must(const char *what, long result)
{
	if (result < 0) {
		fprintf(stderr, "fi_rate: %s: %s\n", what, fi_strerror((int)-result));
		exit(1);
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void open_endpoint(const char *provider)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .size = 4 * WINDOW};
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *addresses;

	hints->fabric_attr->prov_name = strdup(provider);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode = 0;
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	must("fi_av_open", fi_av_open(domain, &av, &addresses, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq, &tx, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq, &rx, NULL));
	must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	must("fi_ep_bind", fi_ep_bind(ep, &addresses->fid, 0));
	must("fi_ep_bind", fi_ep_bind(ep, &tx->fid, FI_TRANSMIT));
	must("fi_ep_bind", fi_ep_bind(ep, &rx->fid, FI_RECV));
	must("fi_enable", fi_enable(ep));
	peer = (fi_addr_t)(uintptr_t)addresses; /* until the names are exchanged */
}

static void exchange_names(int from, int to)
{
	struct fid_av *addresses = (struct fid_av *)(uintptr_t)peer;
	char mine[NAME] = "", theirs[NAME];
	size_t bytes = sizeof(mine);

	must("fi_getname", fi_getname(&ep->fid, mine, &bytes));
	if (write(to, mine, NAME) != NAME || read(from, theirs, NAME) != NAME)
		must("exchange of names", -FI_EIO);
	must("fi_av_insert", fi_av_insert(addresses, theirs, 1, &peer, 0, NULL) == 1 ? 0 : -FI_EIO);
}

static size_t take(struct fid_cq *cq, struct fi_cq_tagged_entry *entries)
{
	ssize_t count = fi_cq_read(cq, entries, WINDOW);

	if (count == -FI_EAGAIN)
		return 0;
	must("fi_cq_read", count);
	return (size_t)count;
}

/* Posts, and lets the provider move on while it has no room. */
static void send_message(size_t slot, size_t bytes, uint64_t tag)
{
	ssize_t result;

	while ((result = fi_tsend(ep, memory + slot * bytes, bytes, NULL, peer, tag,
				  &contexts[slot])) == -FI_EAGAIN)
		(void)fi_cq_read(rx, NULL, 0);
	must("fi_tsend", result);
}

static void receive_message(size_t slot, size_t bytes)
{
	ssize_t result;

	while ((result = fi_trecv(ep, memory + slot * bytes, bytes, NULL, peer, 0, 3,
				  &contexts[slot])) == -FI_EAGAIN)
		(void)fi_cq_read(rx, NULL, 0);
	must("fi_trecv", result);
}

static size_t slot_of(const struct fi_cq_tagged_entry *entry)
{
	return (size_t)((struct fi_context2 *)entry->op_context - contexts);
}

/* Sends for a time; the receiver answers the last message. Returns the number of messages. */
static uint64_t send_round(size_t bytes, double seconds, double *took)
{
	struct fi_cq_tagged_entry entries[WINDOW];
	uint64_t count = 0;
	size_t slot, under_way = 0, i, n;
	double start;

	receive_message(WINDOW, bytes);
	start = now();
	for (slot = 0; slot < WINDOW; slot++, under_way++)
		send_message(slot, bytes, TAG_DATA);
	while (under_way) {
		n = take(tx, entries);
		count += n;
		under_way -= n;
		if (now() - start < seconds)
			for (i = 0; i < n; i++, under_way++)
				send_message(slot_of(&entries[i]), bytes, TAG_DATA);
	}
	send_message(0, bytes, TAG_LAST);
	while (!take(rx, entries))
		;
	*took = now() - start;
	while (!take(tx, entries))
		;
	return count + 1;
}

/* The first round, of one window, opens what providers open with the first messages. */
static void sender(size_t bytes, double seconds)
{
	uint64_t count;
	double took;

	send_round(bytes, 0, &took);
	count = send_round(bytes, seconds, &took);
	printf("{\"bytes\": %zu, \"messages\": %llu, \"seconds\": %.6f, \"rate_gbps\": %.4f}\n",
	       bytes, (unsigned long long)count, took, 8e-9 * (double)bytes * (double)count / took);
}

static void receiver(size_t bytes)
{
	struct fi_cq_tagged_entry entries[WINDOW];
	size_t slot, i, n;
	int rounds = 0;

	for (slot = 0; slot < WINDOW; slot++)
		receive_message(slot, bytes);
	while (rounds < 2) {
		int last = 0;

		n = take(rx, entries);
		for (i = 0; i < n; i++) {
			last |= entries[i].tag == TAG_LAST;
			receive_message(slot_of(&entries[i]), bytes);
		}
		if (!last)
			continue;
		rounds++;
		send_message(WINDOW, bytes, TAG_DATA);
		while (!take(tx, entries))
			;
	}
	/* The answer may need our progress to leave. */
	for (double end = now() + 0.2; now() < end;)
		(void)fi_cq_read(tx, NULL, 0);
}

int main(int argc, char **argv)
{
	int there[2], back[2], cpus[2] = {-1, -1}, status = 0, child;
	size_t bytes;

	if (argc < 4 || (bytes = strtoul(argv[2], NULL, 10)) == 0) {
		fprintf(stderr, "usage: fi_rate PROVIDER BYTES SECONDS [CPU,CPU]\n");
		return 2;
	}
	if (argc > 4 && sscanf(argv[4], "%d,%d", &cpus[0], &cpus[1]) != 2)
		return 2;
	must("pipe", pipe(there) || pipe(back) ? -FI_EIO : 0);
	child = fork();
	must("fork", child);
	if (cpus[child == 0] >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((size_t)cpus[child == 0], &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	memory = malloc((WINDOW + 1) * bytes);
	must("malloc", memory ? 0 : -FI_ENOMEM);
	memset(memory, child != 0, (WINDOW + 1) * bytes);
	open_endpoint(argv[1]);
	if (child == 0) {
		exchange_names(there[0], back[1]);
		receiver(bytes);
		_exit(0);
	}
	exchange_names(back[0], there[1]);
	sender(bytes, atof(argv[3]));
	fflush(stdout);
	waitpid(child, &status, 0);
	return status != 0;
}
