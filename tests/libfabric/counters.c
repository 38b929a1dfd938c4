/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counters, and waiting for counters and queues. */
#include <poll.h>
#include <pthread.h>

#include "ends.h"

#define LONG (8 << 20) /* more than a receiver has room for */

static uint8_t out[LONG], in[LONG];

static void counters(void)
{
	struct end pair[2];
	struct fid_mr *mr;
	int i;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[1].domain, in, 64, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	for (i = 0; i < 3; i++) {
		OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, NULL));
		OK(fi_send(pair[0].ep, out, 64, NULL, pair[0].peer, NULL));
	}
	OK(fi_cntr_wait(pair[0].sent, 3, SOON_MS));
	OK(fi_cntr_wait(pair[1].received, 3, SOON_MS));
	IS(-FI_ETIMEDOUT, fi_cntr_wait(pair[1].received, 4, 1));
	OK(fi_write(pair[0].ep, out, 8, NULL, pair[0].peer, 0, 1, NULL));
	OK(fi_read(pair[0].ep, out, 8, NULL, pair[0].peer, 0, 1, NULL));
	while (fi_cntr_read(pair[0].did_read) + fi_cntr_read(pair[0].wrote) < 2)
		move_on();
	IS(1, fi_cntr_read(pair[1].was_written));
	OK(fi_read(pair[0].ep, out, 8, NULL, pair[0].peer, 0, 99, NULL));
	while (fi_cntr_readerr(pair[0].did_read) < 1)
		move_on();
	OK(fi_cntr_set(pair[0].sent, 10));
	OK(fi_cntr_add(pair[0].sent, 5));
	IS(15, fi_cntr_read(pair[0].sent));
	OK(fi_cntr_seterr(pair[0].sent, 2));
	OK(fi_cntr_adderr(pair[0].sent, 1));
	IS(3, fi_cntr_readerr(pair[0].sent));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* Counters of two regions: each counts what others do with its region. */
static void of_regions(void)
{
	const struct end_options options = {.wait = FI_WAIT_FD};
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
	struct end pair[2];
	struct fid_cntr *writes[2], *reads;
	struct fid_mr *mr[2];
	struct fid *fids[1];
	uint64_t value = 1;
	int i;

	pair_open(pair, &options);
	MUST(fi_cntr_open(pair[1].domain, &attr, &reads, NULL));
	for (i = 0; i < 2; i++) {
		MUST(fi_cntr_open(pair[1].domain, &attr, &writes[i], NULL));
		MUST(fi_mr_reg(pair[1].domain, in + 64 * i, 64, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
			       (uint64_t)i, 0, &mr[i], NULL));
		OK(fi_mr_bind(mr[i], &writes[i]->fid, FI_REMOTE_WRITE));
		OK(fi_mr_bind(mr[i], &reads->fid, FI_REMOTE_READ));
		IS(-FI_EINVAL, fi_mr_bind(mr[i], &reads->fid, FI_REMOTE_READ));
		IS(-FI_EINVAL, fi_mr_bind(mr[i], &reads->fid, FI_WRITE));
	}
	for (i = 0; i < 3; i++)
		OK(fi_write(pair[0].ep, out, 8, NULL, pair[0].peer, 0, (uint64_t)(i & 1), NULL));
	OK(fi_cntr_wait(writes[0], 2, SOON_MS));
	OK(fi_cntr_wait(writes[1], 1, SOON_MS));
	OK(fi_atomic(pair[0].ep, &value, 1, NULL, pair[0].peer, 0, 1, FI_UINT64, FI_SUM, NULL));
	OK(fi_cntr_wait(writes[1], 2, SOON_MS));
	OK(fi_read(pair[0].ep, out, 8, NULL, pair[0].peer, 0, 0, NULL));
	OK(fi_read(pair[0].ep, out, 8, NULL, pair[0].peer, 0, 1, NULL));
	OK(fi_cntr_wait(reads, 2, SOON_MS));
	IS(-FI_ETIMEDOUT, fi_cntr_wait(reads, 3, 5));
	fids[0] = &reads->fid;
	IS(-FI_EAGAIN, fi_trywait(pair[1].fabric, fids, 1)); /* its descriptor would not tell */
	IS(2, fi_cntr_read(writes[0]));
	IS(2, fi_cntr_read(writes[1]));
	IS(-FI_EBUSY, fi_close(&reads->fid));
	for (i = 0; i < 2; i++) {
		OK(fi_close(&mr[i]->fid));
		OK(fi_close(&writes[i]->fid));
	}
	OK(fi_close(&reads->fid));
	pair_close(pair);
}

static void *send_later(void *of)
{
	struct end *end = of;
	struct timespec pause = {0, 20000000};

	nanosleep(&pause, NULL);
	OK(fi_inject(end->ep, out, 8, end->peer));
	return NULL;
}

static void *signal_later(void *of)
{
	struct timespec pause = {0, 20000000};

	nanosleep(&pause, NULL);
	OK(fi_cq_signal(of));
	return NULL;
}

static void sleeping(void)
{
	const struct end_options options = {.wait = FI_WAIT_FD};
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	struct pollfd fd = {.events = POLLIN};
	struct fid *fids[1];
	pthread_t thread;
	int b, i;

	pair_open(pair, &options);
	IS(-FI_EAGAIN, fi_cq_sread(pair[1].rx, &entry, 1, NULL, 5));
	for (i = 0; i < 3; i++) {
		OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &b));
		OK(pthread_create(&thread, NULL, send_later, &pair[0]));
		IS(1, fi_cq_sread(pair[1].rx, &entry, 1, NULL, SOON_MS));
		CHECK(entry.op_context == &b);
		OK(pthread_join(thread, NULL));
	}
	OK(pthread_create(&thread, NULL, signal_later, pair[1].rx));
	IS(-FI_EAGAIN, fi_cq_sread(pair[1].rx, &entry, 1, NULL, -1));
	OK(pthread_join(thread, NULL));

	OK(fi_control(&pair[1].rx->fid, FI_GETWAIT, &fd.fd));
	fids[0] = &pair[1].rx->fid;
	for (i = 0; i < 3; i++) {
		ssize_t result;

		OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &b));
		OK(pthread_create(&thread, NULL, send_later, &pair[0]));
		while ((result = fi_cq_read(pair[1].rx, &entry, 1)) == -FI_EAGAIN)
			if (fi_trywait(pair[1].fabric, fids, 1) == 0)
				IS(1, poll(&fd, 1, SOON_MS));
		IS(1, result);
		OK(pthread_join(thread, NULL));
	}
	OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &b));
	OK(pthread_create(&thread, NULL, send_later, &pair[0]));
	OK(fi_cntr_wait(pair[1].received, 7, -1));
	OK(pthread_join(thread, NULL));
	pair_close(pair);
}

/* What a peer does is counted at the end that has the memory, as it is described for FI_REMOTE_READ
 * and FI_REMOTE_WRITE: an operation that returns what was there is a read. */
static void at_the_target(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	struct fid_mr *mr;
	uint64_t one = 1, old;
	int a;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[1].domain, in, 64, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	OK(fi_read(pair[0].ep, out, 64, NULL, pair[0].peer, 0, 1, &a));
	done(pair[0].tx, &a);
	OK(fi_read(pair[0].ep, out, 0, NULL, pair[0].peer, 0, 1, &a));
	done(pair[0].tx, &a);
	IS(2, fi_cntr_read(pair[1].was_read));
	OK(fi_write(pair[0].ep, out, 0, NULL, pair[0].peer, 0, 1, &a));
	done(pair[0].tx, &a);
	OK(fi_atomic(pair[0].ep, &one, 1, NULL, pair[0].peer, 0, 1, FI_UINT64, FI_SUM, &a));
	done(pair[0].tx, &a);
	IS(2, fi_cntr_read(pair[1].was_written));
	OK(fi_fetch_atomic(pair[0].ep, &one, 1, NULL, &old, NULL, pair[0].peer, 0, 1, FI_UINT64,
			   FI_SUM, &a));
	done(pair[0].tx, &a);
	OK(fi_fetch_atomic(pair[0].ep, NULL, 1, NULL, &old, NULL, pair[0].peer, 0, 1, FI_UINT64,
			   FI_ATOMIC_READ, &a));
	done(pair[0].tx, &a);
	OK(fi_compare_atomic(pair[0].ep, &one, 1, NULL, &one, NULL, &old, NULL, pair[0].peer, 0, 1,
			     FI_UINT64, FI_CSWAP, &a));
	done(pair[0].tx, &a);
	IS(5, fi_cntr_read(pair[1].was_read));
	/* At the end that asks: three of them read, and one wrote. */
	IS(5, fi_cntr_read(pair[0].did_read));
	IS(2, fi_cntr_read(pair[0].wrote));
	/* What is refused is counted by the end that asked, as an error. */
	OK(fi_read(pair[0].ep, out, 1, NULL, pair[0].peer, 64, 1, &a));
	IS(FI_EINVAL, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_read(pair[0].ep, out, 0, NULL, pair[0].peer, 0, 9, &a));
	IS(FI_EACCES, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_atomic(pair[0].ep, &one, 1, NULL, pair[0].peer, 64, 1, FI_UINT64, FI_SUM, &a));
	IS(FI_EINVAL, next(pair[0].tx, &entry, NULL, NULL));
	IS(5, fi_cntr_read(pair[1].was_read));
	IS(2, fi_cntr_read(pair[1].was_written));
	IS(2, fi_cntr_readerr(pair[0].did_read));
	IS(1, fi_cntr_readerr(pair[0].wrote));
	IS(0, fi_cntr_readerr(pair[1].was_read));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* A counter on its own: thresholds, and values that the program sets. */
static void values(void)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_FD};
	struct fid_cntr *cntr;
	struct end end;

	end_open(&end, NULL);
	MUST(fi_cntr_open(end.domain, &attr, &cntr, NULL));
	IS(0, fi_cntr_read(cntr));
	OK(fi_cntr_wait(cntr, 0, 0));
	IS(-FI_ETIMEDOUT, fi_cntr_wait(cntr, 1, 0));
	OK(fi_cntr_add(cntr, 3));
	OK(fi_cntr_wait(cntr, 2, -1));
	OK(fi_cntr_wait(cntr, 3, -1));
	IS(-FI_ETIMEDOUT, fi_cntr_wait(cntr, 4, 1));
	OK(fi_cntr_set(cntr, UINT64_MAX));
	OK(fi_cntr_wait(cntr, UINT64_MAX, -1));
	OK(fi_cntr_set(cntr, 7));
	IS(7, fi_cntr_read(cntr));
	OK(fi_cntr_adderr(cntr, 2));
	OK(fi_cntr_adderr(cntr, 2));
	IS(4, fi_cntr_readerr(cntr));
	OK(fi_cntr_seterr(cntr, 1));
	IS(1, fi_cntr_readerr(cntr));
	IS(7, fi_cntr_read(cntr));
	/* A counter is bound before the endpoint is enabled, and for something that is counted. */
	IS(-FI_EOPBADSTATE, fi_ep_bind(end.ep, &cntr->fid, FI_SEND));
	OK(fi_close(&cntr->fid));
	attr.events = FI_CNTR_EVENTS_COMP + 1;
	IS(-FI_EINVAL, fi_cntr_open(end.domain, &attr, &cntr, NULL));
	end_close(&end);
}

static void binding(void)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	struct fid_cntr *cntr;
	struct fid_ep *ep;
	fi_addr_t self;
	struct end end;

	end_open(&end, NULL);
	MUST(fi_cntr_open(end.domain, &attr, &cntr, NULL));
	MUST(fi_endpoint(end.domain, end.info, &ep, NULL));
	OK(fi_ep_bind(ep, &end.av->fid, 0));
	IS(-FI_EINVAL, fi_ep_bind(ep, &cntr->fid, 0));
	IS(-FI_EINVAL, fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_MULTI_RECV));
	/* One counter for both directions, and no queue. */
	OK(fi_ep_bind(ep, &cntr->fid, FI_SEND | FI_RECV));
	IS(-FI_EINVAL, fi_ep_bind(ep, &end.sent->fid, FI_SEND | FI_READ));
	OK(fi_enable(ep));
	IS(-FI_EBUSY, fi_close(&cntr->fid));
	OK(fi_getname(&ep->fid, end.name, &end.name_bytes));
	IS(1, fi_av_insert(end.av, end.name, 1, &self, 0, NULL));
	OK(fi_recv(ep, in, 8, NULL, FI_ADDR_UNSPEC, NULL));
	OK(fi_send(ep, out, 8, NULL, self, NULL));
	OK(fi_cntr_wait(cntr, 2, SOON_MS));
	IS(2, fi_cntr_read(cntr));
	OK(fi_close(&ep->fid));
	OK(fi_close(&cntr->fid));
	end_close(&end);
}

static void *add_later(void *of)
{
	struct timespec pause = {0, 20000000};

	nanosleep(&pause, NULL);
	OK(fi_cntr_add(of, 5));
	return NULL;
}

static void *serve_others(void *of)
{
	struct end *end = of;

	OK(fi_cntr_wait(end->received, 1, SOON_MS));
	return NULL;
}

/* An error ends a wait; so does another thread that adds to the counter. */
static void waits_that_end(void)
{
	const struct end_options options = {.wait = FI_WAIT_FD};
	pthread_t thread;
	struct end pair[2];

	pair_open(pair, &options);
	OK(pthread_create(&thread, NULL, serve_others, &pair[1]));
	/* The key is that of no region. */
	OK(fi_read(pair[0].ep, out, 8, NULL, pair[0].peer, 0, 77, NULL));
	IS(-FI_EAVAIL, fi_cntr_wait(pair[0].did_read, 1, SOON_MS));
	IS(1, fi_cntr_readerr(pair[0].did_read));
	/* An error that was there before does not. */
	IS(-FI_ETIMEDOUT, fi_cntr_wait(pair[0].did_read, 1, 1));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, NULL));
	OK(fi_inject(pair[0].ep, out, 8, pair[0].peer));
	OK(pthread_join(thread, NULL));
	OK(pthread_create(&thread, NULL, add_later, pair[0].wrote));
	OK(fi_cntr_wait(pair[0].wrote, 5, -1));
	OK(pthread_join(thread, NULL));
	pair_close(pair);
}

/* Waits until we may not sleep. */
static int may_not_sleep(struct end *end, struct fid **fids, int count)
{
	uint64_t limit = now_ms() + SOON_MS;
	int result;

	do
		result = fi_trywait(end->fabric, fids, count);
	while (result == 0 && now_ms() < limit);
	return result;
}

/* Whoever finds nothing, and is told that he may sleep, is woken by what comes next. */
static void descriptors_of_counters(void)
{
	const struct end_options options = {.wait = FI_WAIT_FD};
	struct pollfd fd = {.events = POLLIN};
	enum fi_wait_obj object = FI_WAIT_NONE;
	struct end pair[2];
	struct fid *fids[1];
	pthread_t thread;
	uint64_t i;

	pair_open(pair, &options);
	fids[0] = &pair[1].received->fid;
	OK(fi_control(fids[0], FI_GETWAITOBJ, &object));
	IS(FI_WAIT_FD, object);
	OK(fi_control(fids[0], FI_GETWAIT, &fd.fd));
	IS(0, fi_cntr_read(pair[1].received));
	/* What is counted while we ask whether we may sleep has to be looked at first. */
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, NULL));
	OK(fi_inject(pair[0].ep, out, 8, pair[0].peer));
	IS(-FI_EAGAIN, may_not_sleep(&pair[1], fids, 1));
	IS(-FI_EAGAIN, fi_trywait(pair[1].fabric, fids, 1));
	IS(1, fi_cntr_read(pair[1].received));
	OK(fi_trywait(pair[1].fabric, fids, 1));
	for (i = 2; i < 5; i++) {
		OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, NULL));
		OK(pthread_create(&thread, NULL, send_later, &pair[0]));
		while (fi_cntr_read(pair[1].received) < i)
			if (fi_trywait(pair[1].fabric, fids, 1) == 0)
				IS(1, poll(&fd, 1, SOON_MS));
		OK(pthread_join(thread, NULL));
	}
	/* Errors, and what the program adds, wake too. */
	OK(fi_trywait(pair[1].fabric, fids, 1));
	OK(fi_cntr_adderr(pair[1].received, 1));
	IS(1, poll(&fd, 1, SOON_MS));
	IS(-FI_EAGAIN, fi_trywait(pair[1].fabric, fids, 1));
	IS(1, fi_cntr_readerr(pair[1].received));
	OK(fi_trywait(pair[1].fabric, fids, 1));
	pair_close(pair);
}

/* Several queues at once, and what cannot be waited for. */
static void descriptors_of_queues(void)
{
	const struct end_options options = {.wait = FI_WAIT_FD};
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD, .flags = FI_WRITE};
	struct fi_cq_tagged_entry entry;
	struct end pair[2], plain;
	struct fid *fids[3], *wrong;
	struct fid_eq *eq;
	int fd, a, b;

	pair_open(pair, &options);
	end_open(&plain, &(struct end_options){.wait = FI_WAIT_NONE});
	MUST(fi_eq_open(pair[0].fabric, &attr, &eq, NULL));
	fids[0] = &pair[0].tx->fid;
	fids[1] = &pair[0].rx->fid;
	fids[2] = &eq->fid;
	OK(fi_trywait(pair[0].fabric, fids, 3));
	OK(fi_recv(pair[0].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_inject(pair[1].ep, out, 8, pair[1].peer));
	IS(-FI_EAGAIN, may_not_sleep(&pair[0], fids, 3));
	IS(1, fi_cq_read(pair[0].rx, &entry, 1));
	OK(fi_trywait(pair[0].fabric, fids, 3));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_send(pair[0].ep, out, 8, NULL, pair[0].peer, &a));
	IS(-FI_EAGAIN, may_not_sleep(&pair[0], fids, 3));
	OK(fi_trywait(pair[0].fabric, fids + 1, 2));
	done(pair[0].tx, &a);
	wrong = &pair[0].ep->fid;
	IS(-FI_EINVAL, fi_trywait(pair[0].fabric, &wrong, 1));
	/* A queue without a descriptor says so, and can be waited for with a call. */
	IS(-FI_ENOSYS, fi_control(&plain.rx->fid, FI_GETWAIT, &fd));
	IS(-FI_ENOSYS, fi_control(&plain.received->fid, FI_GETWAIT, &fd));
	IS(-FI_EAGAIN, fi_cq_sread(plain.rx, &entry, 1, NULL, 2));
	OK(fi_close(&eq->fid));
	end_close(&plain);
	pair_close(pair);
}

/* No descriptor tells that there is room for the rest of a message. */
static void unfinished_sends(void)
{
	const struct end_options options = {.wait = FI_WAIT_FD};
	struct fid *queue, *counter;
	struct end pair[2];
	int a, b;

	pair_open(pair, &options);
	queue = &pair[0].tx->fid;
	counter = &pair[0].sent->fid;
	fill(out, LONG, 1);
	OK(fi_recv(pair[1].ep, in, LONG, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_send(pair[0].ep, out, LONG, NULL, pair[0].peer, &a));
	done(pair[1].rx, &b);
	done(pair[0].tx, &a);
	CHECK(filled(in, LONG, 1));
	OK(fi_trywait(pair[0].fabric, &queue, 1));

	OK(fi_recv(pair[1].ep, in, LONG, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_send(pair[0].ep, out, LONG, NULL, pair[0].peer, &a));
	/* The receiver takes the first part, and then nothing more. */
	in[0] = 0;
	while (in[0] == 0)
		move_on();
	IS(-FI_EAGAIN, may_not_sleep(&pair[0], &queue, 1));
	IS(-FI_EAGAIN, may_not_sleep(&pair[0], &counter, 1));
	IS(1, fi_cntr_read(pair[0].sent));
	done(pair[1].rx, &b);
	done(pair[0].tx, &a);
	pair_close(pair);
}

/* Limits of time, signals, errors and several entries of the calls that wait for a queue. */
static void waiting_reads(void)
{
	struct fi_cq_tagged_entry entries[4];
	struct end pair[2];
	fi_addr_t sources[4];
	int b[3], i;

	pair_open(pair, &(struct end_options){.wait = FI_WAIT_UNSPEC});
	IS(-FI_EAGAIN, fi_cq_sread(pair[1].rx, entries, 4, NULL, 0));
	IS(-FI_EAGAIN, fi_cq_sread(pair[1].rx, entries, 4, NULL, 3));
	OK(fi_cq_signal(pair[1].rx));
	IS(-FI_EAGAIN, fi_cq_sread(pair[1].rx, entries, 4, NULL, -1));
	for (i = 0; i < 3; i++) {
		OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &b[i]));
		OK(fi_inject(pair[0].ep, out, (size_t)i, pair[0].peer));
	}
	OK(fi_cntr_wait(pair[1].received, 3, SOON_MS));
	/* Completions that are there go before a signal. */
	OK(fi_cq_signal(pair[1].rx));
	IS(3, fi_cq_sreadfrom(pair[1].rx, entries, 4, sources, NULL, -1));
	for (i = 0; i < 3; i++)
		CHECK(entries[i].op_context == &b[i] && entries[i].len == (size_t)i &&
		      sources[i] == pair[1].peer);
	IS(-FI_EAGAIN, fi_cq_sread(pair[1].rx, entries, 4, NULL, -1));
	OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &b[0]));
	OK(fi_cancel(&pair[1].ep->fid, &b[0]));
	IS(-FI_EAVAIL, fi_cq_sread(pair[1].rx, entries, 4, NULL, -1));
	IS(FI_ECANCELED, next(pair[1].rx, entries, NULL, NULL));
	pair_close(pair);
}

void test_counters(void)
{
	test("counters", counters);
	test("counters of what peers read and write", at_the_target);
	test("counters of regions", of_regions);
	test("values and thresholds of counters", values);
	test("counters are bound to what they count", binding);
	test("errors and other threads end a wait for a counter", waits_that_end);
	test("descriptors of counters", descriptors_of_counters);
	test("descriptors of queues", descriptors_of_queues);
	test("nobody sleeps while something waits to be sent", unfinished_sends);
	test("limits and signals of reads that wait", waiting_reads);
	test("threads sleep until something comes", sleeping);
}
