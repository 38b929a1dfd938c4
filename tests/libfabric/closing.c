/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Endpoints that close while something is under way, full queues, and several threads. */
#include <pthread.h>

#include "ends.h"

#define LONG 200000
#define MESSAGES 300

static uint8_t out[LONG], in[LONG];

/* Receives for an end that has closed, and sends to it, end with an error. */
static void gone(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	int a, b, c;

	pair_open(pair, NULL);
	OK(fi_recv(pair[0].ep, in, 8, NULL, pair[0].peer, &b));
	OK(fi_recv(pair[0].ep, in, 8, NULL, FI_ADDR_UNSPEC, &c));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &a));
	OK(fi_inject(pair[0].ep, out, 8, pair[0].peer));
	done(pair[1].rx, &a);
	end_close(&pair[1]);
	OK(fi_send(pair[0].ep, out, LONG, NULL, pair[0].peer, &a));
	IS(FI_ECONNABORTED, next(pair[0].tx, &entry, NULL, NULL));
	CHECK(entry.op_context == &a);
	IS(FI_ECONNABORTED, next(pair[0].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b);
	CHECK(nothing(pair[0].rx)); /* the receive from anyone goes on */
	IS(-FI_ECONNABORTED, fi_send(pair[0].ep, out, 8, NULL, pair[0].peer, &a));
	IS(-FI_ECONNABORTED, fi_inject(pair[0].ep, out, 8, pair[0].peer));
	IS(-FI_ECONNABORTED, fi_recv(pair[0].ep, in, 8, NULL, pair[0].peer, &b));
	IS(-FI_ECONNABORTED, fi_read(pair[0].ep, in, 8, NULL, pair[0].peer, 0, 1, &b));
	end_close(&pair[0]);
}

/* An end closes with operations of every kind under way; the other is told, and goes on. */
static void close_in_the_middle(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	struct fid_mr *mr;
	uint64_t one = 1;
	int a[4], b[2], i;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[0].domain, in, LONG, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	OK(fi_trecv(pair[0].ep, in, LONG, NULL, pair[0].peer, 1, 0, &b[0]));
	OK(fi_tsend(pair[0].ep, out, LONG, NULL, pair[0].peer, 9, &b[1]));
	/* Of the end that closes: a receive, a long message that nobody receives, and requests. */
	OK(fi_trecv(pair[1].ep, in, LONG, NULL, pair[1].peer, 2, 0, &a[0]));
	OK(fi_tsend(pair[1].ep, out, LONG, NULL, pair[1].peer, 3, &a[1]));
	OK(fi_read(pair[1].ep, out, LONG, NULL, pair[1].peer, 0, 1, &a[2]));
	OK(fi_fetch_atomic(pair[1].ep, &one, 1, NULL, &one, NULL, pair[1].peer, 0, 1, FI_UINT64,
			   FI_SUM, &a[3]));
	OK(fi_inject(pair[1].ep, out, 5, pair[1].peer));
	end_close(&pair[1]);
	IS(FI_ECONNABORTED, next(pair[0].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b[0]);
	IS(FI_ECONNABORTED, next(pair[0].tx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b[1]);
	/* The short message arrived before the end closed; the long one is gone with it. */
	OK(fi_recv(pair[0].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b[0]));
	IS(0, next(pair[0].rx, &entry, NULL, NULL));
	IS(5, entry.len);
	OK(fi_trecv(pair[0].ep, in, LONG, NULL, FI_ADDR_UNSPEC, 3, 0, &b[0]));
	CHECK(nothing(pair[0].rx));
	OK(fi_close(&mr->fid));
	/* The place is free for another, which works. */
	end_open(&pair[1], NULL);
	for (i = 0; i < 2; i++)
		IS(1, fi_av_insert(pair[i].av, pair[!i].name, 1, &pair[i].peer, 0, NULL));
	OK(fi_tinject(pair[1].ep, out, 7, pair[1].peer, 3));
	IS(0, next(pair[0].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b[0] && entry.len == 7);
	pair_close(pair);
}

/* A queue that is smaller than the number of completions loses none, and keeps errors in place. */
static void full_queue(void)
{
	enum { RECEIVES = 1000, CANCELLED = 500 };
	static int contexts[RECEIVES];
	struct fi_cq_attr attr = {.size = 4, .format = FI_CQ_FORMAT_TAGGED};
	struct fi_cq_tagged_entry entries[RECEIVES];
	struct fi_cntr_attr counts = {.events = FI_CNTR_EVENTS_COMP};
	struct fi_cq_err_entry error = {0};
	struct end end;
	struct fid_cntr *received;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t self;
	int a, i;

	end_open(&end, NULL);
	MUST(fi_cq_open(end.domain, &attr, &cq, NULL));
	MUST(fi_endpoint(end.domain, end.info, &ep, NULL));
	OK(fi_ep_bind(ep, &end.av->fid, 0));
	OK(fi_ep_bind(ep, &end.tx->fid, FI_TRANSMIT));
	OK(fi_ep_bind(ep, &cq->fid, FI_RECV));
	MUST(fi_cntr_open(end.domain, &counts, &received, NULL));
	OK(fi_ep_bind(ep, &received->fid, FI_RECV));
	OK(fi_enable(ep));
	OK(fi_getname(&ep->fid, end.name, &end.name_bytes));
	IS(1, fi_av_insert(end.av, end.name, 1, &self, 0, NULL));
	/* The queue does not begin at its first place. */
	OK(fi_recv(ep, in, 8, NULL, FI_ADDR_UNSPEC, &a));
	OK(fi_inject(ep, out, 1, self));
	done(cq, &a);
	for (i = 0; i < RECEIVES; i++) {
		OK(fi_recv(ep, in, 8, NULL, FI_ADDR_UNSPEC, &contexts[i]));
		if (i != CANCELLED) {
			OK(fi_inject(ep, out, 1, self));
			continue;
		}
		OK(fi_cntr_wait(received, 1 + CANCELLED, SOON_MS));
		OK(fi_cancel(&ep->fid, &contexts[i]));
	}
	OK(fi_cntr_wait(received, RECEIVES, SOON_MS));
	/* A read ends before an error, which has to be taken with another call. */
	IS(CANCELLED, fi_cq_read(cq, entries, RECEIVES));
	for (i = 0; i < CANCELLED; i++)
		CHECK(entries[i].op_context == &contexts[i]);
	IS(-FI_EAVAIL, fi_cq_read(cq, entries, RECEIVES));
	IS(-FI_EAVAIL, fi_cq_read(cq, entries, RECEIVES));
	IS(1, fi_cq_readerr(cq, &error, 0));
	CHECK(error.err == FI_ECANCELED && error.op_context == &contexts[CANCELLED]);
	CHECK(!strcmp(fi_cq_strerror(cq, error.prov_errno, NULL, NULL, 0),
		      fi_strerror(FI_ECANCELED)));
	IS(RECEIVES - CANCELLED - 1, fi_cq_read(cq, entries, RECEIVES));
	CHECK(entries[0].op_context == &contexts[CANCELLED + 1]);
	IS(-FI_EAGAIN, fi_cq_read(cq, entries, RECEIVES));
	OK(fi_close(&ep->fid));
	OK(fi_close(&cq->fid));
	OK(fi_close(&received->fid));
	end_close(&end);
}

/* What a thread sends and receives, tagged with its number, on an endpoint. */
struct worker {
	struct fid_ep *ep;
	struct fid_cntr *sent, *received;
	fi_addr_t peer;
	uint64_t number;
	uint64_t sum; /* of what was received */
};

static void *work(void *of)
{
	struct worker *worker = of;
	uint64_t value[MESSAGES], into[MESSAGES], i;

	for (i = 0; i < MESSAGES; i++) {
		value[i] = i;
		into[i] = 0;
		while (fi_trecv(worker->ep, &into[i], 8, NULL, FI_ADDR_UNSPEC, worker->number, 0,
				NULL) == -FI_EAGAIN)
			(void)fi_cntr_read(worker->received);
		while (fi_tsend(worker->ep, &value[i], 8, NULL, worker->peer, worker->number,
				NULL) == -FI_EAGAIN)
			(void)fi_cntr_read(worker->sent);
	}
	OK(fi_cntr_wait(worker->sent, MESSAGES, SOON_MS));
	OK(fi_cntr_wait(worker->received, MESSAGES, SOON_MS));
	for (i = 0; i < MESSAGES; i++)
		worker->sum += into[i] == i ? into[i] : 1000000; /* in order, too */
	return NULL;
}

/* Two threads, each with an endpoint of its own in a domain of its own. */
static void threads_apart(void)
{
	struct worker workers[2];
	struct end pair[2];
	pthread_t thread;
	int i;

	pair_open(pair, NULL);
	for (i = 0; i < 2; i++)
		workers[i] = (struct worker){.ep = pair[i].ep, .sent = pair[i].sent,
					     .received = pair[i].received, .peer = pair[i].peer};
	OK(pthread_create(&thread, NULL, work, &workers[0]));
	work(&workers[1]);
	OK(pthread_join(thread, NULL));
	for (i = 0; i < 2; i++)
		IS(MESSAGES * (MESSAGES - 1) / 2, workers[i].sum);
	pair_close(pair);
}

/* Two threads on two endpoints of one domain, with the same address vector. */
static void threads_in_a_domain(void)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
	struct worker workers[2] = {0};
	struct end end;
	pthread_t thread;
	int i;

	end_open(&end, NULL);
	for (i = 0; i < 2; i++) {
		MUST(fi_endpoint(end.domain, end.info, &workers[i].ep, NULL));
		MUST(fi_cntr_open(end.domain, &attr, &workers[i].sent, NULL));
		MUST(fi_cntr_open(end.domain, &attr, &workers[i].received, NULL));
		OK(fi_ep_bind(workers[i].ep, &end.av->fid, 0));
		OK(fi_ep_bind(workers[i].ep, &workers[i].sent->fid, FI_SEND));
		OK(fi_ep_bind(workers[i].ep, &workers[i].received->fid, FI_RECV));
		OK(fi_enable(workers[i].ep));
		OK(fi_getname(&workers[i].ep->fid, end.name, &end.name_bytes));
		IS(1, fi_av_insert(end.av, end.name, 1, &workers[!i].peer, 0, NULL));
	}
	OK(pthread_create(&thread, NULL, work, &workers[0]));
	work(&workers[1]);
	OK(pthread_join(thread, NULL));
	for (i = 0; i < 2; i++) {
		IS(MESSAGES * (MESSAGES - 1) / 2, workers[i].sum);
		OK(fi_close(&workers[i].ep->fid));
		OK(fi_close(&workers[i].sent->fid));
		OK(fi_close(&workers[i].received->fid));
	}
	end_close(&end);
}

static void *post(void *of)
{
	struct worker *worker = of;
	uint64_t i;

	for (i = 0; i < MESSAGES; i++)
		while (fi_tinject(worker->ep, &i, 8, worker->peer, worker->number) == -FI_EAGAIN)
			(void)fi_cntr_read(worker->sent);
	return NULL;
}

/* Three threads post to one endpoint: each one's messages keep their order. */
static void threads_on_an_endpoint(void)
{
	struct worker workers[3];
	struct end pair[2];
	pthread_t threads[3];
	uint64_t i, value;
	int j, b;

	pair_open(pair, NULL);
	for (j = 0; j < 3; j++) {
		workers[j] = (struct worker){.ep = pair[0].ep, .sent = pair[0].sent,
					     .peer = pair[0].peer, .number = (uint64_t)j};
		OK(pthread_create(&threads[j], NULL, post, &workers[j]));
	}
	for (i = 0; i < MESSAGES; i++) {
		for (j = 0; j < 3; j++) {
			OK(fi_trecv(pair[1].ep, &value, 8, NULL, FI_ADDR_UNSPEC, (uint64_t)j, 0,
				    &b));
			done(pair[1].rx, &b);
			CHECK(value == i);
		}
	}
	for (j = 0; j < 3; j++)
		OK(pthread_join(threads[j], NULL));
	IS(3 * MESSAGES, fi_cntr_read(pair[0].sent));
	pair_close(pair);
}

void test_closing(void)
{
	test("an end that has closed", gone);
	test("an end that closes in the middle", close_in_the_middle);
	test("more completions than a queue was opened for", full_queue);
	test("threads with endpoints of their own", threads_apart);
	test("threads with endpoints of one domain", threads_in_a_domain);
	test("threads on one endpoint", threads_on_an_endpoint);
}
