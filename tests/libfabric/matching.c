/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tags, sources, peeks, cancelled receives, and buffers for several messages. */
#include "ends.h"

static uint8_t out[200000], in[200000];

static ssize_t peek(struct end *end, uint64_t tag, uint64_t flags, void *context)
{
	struct iovec iov = {in, sizeof(in)};
	struct fi_msg_tagged msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
				    .tag = tag, .context = context};

	return fi_trecvmsg(end->ep, &msg, flags);
}

/* Returns when everything that the first end has sent is at the second. */
static void all_there(struct end pair[2])
{
	uint64_t end = now_ms() + SOON_MS;
	struct fi_cq_tagged_entry entry;
	int result;

	OK(fi_tinject(pair[0].ep, out, 0, pair[0].peer, UINT64_MAX));
	do {
		move_on();
		OK(peek(&pair[1], UINT64_MAX, FI_PEEK | FI_DISCARD, NULL));
		result = next(pair[1].rx, &entry, NULL, NULL);
	} while (result == FI_ENOMSG && now_ms() < end);
	OK(result);
}

static void tags(void)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	int i, b[4];

	pair_open(pair, NULL);
	/* The first receive that fits gets the message, whatever was posted in between. */
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 0x100, 0xff, &b[0]));
	OK(fi_trecv(pair[1].ep, in + 8, 8, NULL, FI_ADDR_UNSPEC, 0x123, 0, &b[1]));
	OK(fi_trecv(pair[1].ep, in + 16, 8, NULL, FI_ADDR_UNSPEC, 0x200, 0, &b[2]));
	OK(fi_recv(pair[1].ep, in + 24, 8, NULL, FI_ADDR_UNSPEC, &b[3]));
	OK(fi_tinject(pair[0].ep, out, 1, pair[0].peer, 0x200));
	OK(fi_tinject(pair[0].ep, out, 2, pair[0].peer, 0x123));
	OK(fi_inject(pair[0].ep, out, 3, pair[0].peer));
	OK(fi_tinject(pair[0].ep, out, 4, pair[0].peer, 0x123));
	for (i = 0; i < 4; i++) {
		static const int order[] = {2, 0, 3, 1};

		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.op_context == &b[order[i]] && entry.len == (size_t)i + 1);
	}
	/* The same among messages that came first: the oldest that fits. */
	for (i = 0; i < 3; i++)
		OK(fi_tinject(pair[0].ep, out, (size_t)i, pair[0].peer, (uint64_t)i % 2));
	all_there(pair);
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &b[0]));
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 0, UINT64_MAX, &b[1]));
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 0, UINT64_MAX, &b[2]));
	for (i = 0; i < 3; i++) {
		static const size_t lengths[] = {1, 0, 2};

		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.op_context == &b[i] && entry.len == lengths[i]);
	}
	pair_close(pair);
}

static void directed(void)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2], third;
	fi_addr_t to, from_third, source;
	int a, b;

	pair_open(pair, NULL);
	end_open(&third, NULL);
	IS(1, fi_av_insert(third.av, pair[1].name, 1, &to, 0, NULL));
	IS(1, fi_av_insert(pair[1].av, third.name, 1, &from_third, 0, NULL));
	OK(fi_recv(pair[1].ep, in, 8, NULL, from_third, &a));
	OK(fi_recv(pair[1].ep, in, 8, NULL, pair[1].peer, &b));
	OK(fi_inject(pair[0].ep, out, 1, pair[0].peer));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	CHECK(entry.op_context == &b && source == pair[1].peer);
	OK(fi_inject(third.ep, out, 2, to));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	CHECK(entry.op_context == &a && source == from_third);
	end_close(&third);
	pair_close(pair);
}

static void peeks(size_t bytes)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	int a, b, c;

	pair_open(pair, NULL);
	OK(peek(&pair[1], 5, FI_PEEK, &b));
	IS(FI_ENOMSG, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b);

	fill(out, bytes, 6);
	OK(fi_tsend(pair[0].ep, out, bytes, NULL, pair[0].peer, 5, &a));
	OK(fi_tsend(pair[0].ep, out, 7, NULL, pair[0].peer, 5, &a));
	all_there(pair);
	OK(peek(&pair[1], 5, FI_PEEK, &b));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b && entry.len == bytes && entry.tag == 5);

	/* What is claimed is not given to others. */
	OK(peek(&pair[1], 5, FI_PEEK | FI_CLAIM, &b));
	done(pair[1].rx, &b);
	OK(fi_trecv(pair[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, 5, 0, &c));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &c && entry.len == 7);
	IS(-FI_EINVAL, peek(&pair[1], 5, FI_CLAIM, &c));
	OK(peek(&pair[1], 5, FI_CLAIM, &b));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b && entry.len == bytes && filled(in, bytes, 6));
	done(pair[0].tx, &a);
	done(pair[0].tx, &a);

	/* Discarded: at once, and after a claim. */
	OK(fi_tsend(pair[0].ep, out, bytes, NULL, pair[0].peer, 6, &a));
	OK(fi_tsend(pair[0].ep, out, bytes, NULL, pair[0].peer, 6, &a));
	all_there(pair);
	OK(peek(&pair[1], 6, FI_PEEK | FI_DISCARD, &b));
	done(pair[1].rx, &b);
	OK(peek(&pair[1], 6, FI_PEEK | FI_CLAIM, &c));
	done(pair[1].rx, &c);
	OK(peek(&pair[1], 6, FI_CLAIM | FI_DISCARD, &c));
	done(pair[1].rx, &c);
	done(pair[0].tx, &a);
	done(pair[0].tx, &a);
	OK(peek(&pair[1], 6, FI_PEEK, &b));
	IS(FI_ENOMSG, next(pair[1].rx, &entry, NULL, NULL));
	pair_close(pair);
}

static void peek_short_and_long(void)
{
	peeks(100);
	peeks(150000);
}

static void cancel(void)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	int a, b;

	pair_open(pair, NULL);
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &a));
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &b));
	OK(fi_cancel(&pair[1].ep->fid, &a));
	IS(-FI_ENOENT, fi_cancel(&pair[1].ep->fid, &a));
	IS(FI_ECANCELED, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &a);
	OK(fi_tinject(pair[0].ep, out, 3, pair[0].peer, 1));
	done(pair[1].rx, &b);
	pair_close(pair);
}

static void several(size_t bytes, size_t room, size_t least)
{
	struct fi_cq_tagged_entry entry = {0};
	struct iovec iov = {in, room};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC};
	struct end pair[2];
	size_t used = 0;
	int a, b, i;

	pair_open(pair, NULL);
	OK(fi_setopt(&pair[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
		     sizeof(least)));
	msg.context = &b;
	/* The first is there before the buffer. */
	fill(out, bytes, 0);
	OK(fi_send(pair[0].ep, out, bytes, NULL, pair[0].peer, &a));
	all_there(pair);
	OK(fi_recvmsg(pair[1].ep, &msg, FI_MULTI_RECV));
	for (i = 0; room - used >= least; i++) {
		if (i > 0) {
			fill(out, bytes, (unsigned)i);
			OK(fi_send(pair[0].ep, out, bytes, NULL, pair[0].peer, &a));
		}
		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.op_context == &b && entry.len == bytes && entry.buf == in + used);
		CHECK(filled(in + used, bytes, (unsigned)i));
		used += bytes;
		CHECK(!(entry.flags & FI_MULTI_RECV) == (room - used >= least));
		done(pair[0].tx, &a);
	}
	CHECK(i > 2);
	/* The buffer is over: the next message waits for another. */
	OK(fi_inject(pair[0].ep, out, 1, pair[0].peer));
	CHECK(nothing(pair[1].rx));
	OK(fi_recvmsg(pair[1].ep, &msg, FI_MULTI_RECV));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	OK(fi_cancel(&pair[1].ep->fid, &b));
	IS(FI_ECANCELED, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.flags & FI_MULTI_RECV);
	pair_close(pair);
}

static void multi_receive(void)
{
	several(100, 1000, 100);
	several(40000, 150000, 40000);
}

/* As many receives as there may be, of which every second is cancelled. */
static void cancel_many(void)
{
	enum { RECEIVES = 4096 };
	static int contexts[RECEIVES];
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	int i;

	pair_open(pair, NULL);
	IS(RECEIVES, pair[1].info->rx_attr->size);
	for (i = 0; i < RECEIVES; i++)
		OK(fi_trecv(pair[1].ep, in + 8 * i, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &contexts[i]));
	IS(-FI_EAGAIN, fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &i));
	for (i = RECEIVES - 1; i > 0; i -= 2)
		OK(fi_cancel(&pair[1].ep->fid, &contexts[i]));
	for (i = RECEIVES - 1; i > 0; i -= 2) {
		IS(FI_ECANCELED, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.op_context == &contexts[i] && entry.flags == (FI_RECV | FI_TAGGED));
	}
	IS(RECEIVES / 2, fi_cntr_readerr(pair[1].received));
	for (i = 0; i < RECEIVES; i += 2) {
		fill(out, 8, (unsigned)i);
		OK(fi_tinject(pair[0].ep, out, 8, pair[0].peer, 1));
		done(pair[1].rx, &contexts[i]);
		CHECK(filled(in + 8 * i, 8, (unsigned)i));
	}
	OK(fi_trecv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, 1, 0, &i));
	pair_close(pair);
}

/* Lets the second end match a long message, of which the first sends nothing more meanwhile: a
 * message behind it arrives, while only the second end moves. */
static void announced(struct end pair[2])
{
	uint64_t before = fi_cntr_read(pair[1].received);
	static uint8_t byte;

	OK(fi_trecv(pair[1].ep, &byte, 1, NULL, FI_ADDR_UNSPEC, 77, 0, &byte));
	OK(fi_tinject(pair[0].ep, out, 1, pair[0].peer, 77));
	OK(fi_cntr_wait(pair[1].received, before + 1, SOON_MS));
	done(pair[1].rx, &byte);
}

/* What is over, is being received, or was never posted cannot be cancelled. */
static void cancel_too_late(void)
{
	struct end pair[2];
	struct fi_cq_tagged_entry entry;
	int a, b;

	pair_open(pair, NULL);
	IS(-FI_ENOENT, fi_cancel(&pair[1].ep->fid, &b));
	OK(fi_trecv(pair[1].ep, in, 8, NULL, pair[1].peer, 1, 0, &b));
	OK(fi_tinject(pair[0].ep, out, 3, pair[0].peer, 1));
	done(pair[1].rx, &b);
	IS(-FI_ENOENT, fi_cancel(&pair[1].ep->fid, &b));
	CHECK(nothing(pair[1].rx));
	/* A long message that has begun to arrive comes whole. */
	fill(out, sizeof(out), 4);
	OK(fi_trecv(pair[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, 1, 0, &b));
	OK(fi_tsend(pair[0].ep, out, sizeof(out), NULL, pair[0].peer, 1, &a));
	announced(pair);
	IS(-FI_ENOENT, fi_cancel(&pair[1].ep->fid, &b));
	/* What is sent cannot be cancelled. */
	IS(-FI_ENOENT, fi_cancel(&pair[0].ep->fid, &a));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(filled(in, sizeof(in), 4));
	done(pair[0].tx, &a);
	pair_close(pair);
}

/* A peek looks for a sender and a mask as a receive does. */
static void selective_peeks(void)
{
	struct iovec iov = {in, sizeof(in)};
	struct fi_msg_tagged msg = {.msg_iov = &iov, .iov_count = 1, .tag = 0x100, .ignore = 0xff};
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2], third;
	fi_addr_t to, source;
	int b;

	pair_open(pair, NULL);
	end_open(&third, NULL);
	IS(1, fi_av_insert(third.av, pair[1].name, 1, &to, 0, NULL));
	IS(1, fi_av_insert(pair[1].av, third.name, 1, &msg.addr, 0, NULL));
	msg.context = &b;
	OK(fi_tinject(pair[0].ep, out, 1, pair[0].peer, 0x123));
	OK(fi_tinject(third.ep, out, 2, to, 0x223));
	OK(fi_tinjectdata(third.ep, out, 3, 44, to, 0x124));
	OK(fi_tinject(third.ep, out, 0, to, UINT64_MAX));
	all_there(pair);
	OK(fi_trecv(pair[1].ep, in, 8, NULL, msg.addr, UINT64_MAX, 0, &b));
	done(pair[1].rx, &b);
	OK(fi_trecvmsg(pair[1].ep, &msg, FI_PEEK));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	CHECK(entry.len == 3 && entry.tag == 0x124 && entry.data == 44 && source == msg.addr);
	CHECK(entry.flags == (FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA));
	msg.ignore = 0;
	OK(fi_trecvmsg(pair[1].ep, &msg, FI_PEEK));
	IS(FI_ENOMSG, next(pair[1].rx, &entry, NULL, NULL));
	/* A claim needs a peek with the same context, and a discard one of the two. */
	IS(-FI_EINVAL, fi_trecvmsg(pair[1].ep, &msg, FI_CLAIM));
	IS(-FI_EINVAL, fi_trecvmsg(pair[1].ep, &msg, FI_CLAIM | FI_DISCARD));
	IS(-FI_EINVAL, fi_trecvmsg(pair[1].ep, &msg, FI_DISCARD));
	CHECK(nothing(pair[1].rx));
	end_close(&third);
	pair_close(pair);
}

static void untagged_peeks(void)
{
	struct iovec iov = {in, 8};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC};
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	int a, b;

	pair_open(pair, NULL);
	msg.context = &b;
	OK(fi_recvmsg(pair[1].ep, &msg, FI_PEEK));
	IS(FI_ENOMSG, next(pair[1].rx, &entry, NULL, NULL));
	OK(fi_send(pair[0].ep, out, 5, NULL, pair[0].peer, &a));
	all_there(pair);
	OK(fi_recvmsg(pair[1].ep, &msg, FI_PEEK | FI_CLAIM));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.flags == (FI_RECV | FI_MSG) && entry.len == 5);
	OK(fi_recvmsg(pair[1].ep, &msg, FI_CLAIM));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b && entry.len == 5 && entry.buf == in);
	pair_close(pair);
}

/* A buffer is released with its last message that arrives, which need not be the last that was
 * sent: the first is long, and is still moving when the second fills the buffer. */
static void release(void)
{
	enum { LONG_BYTES = 150000 };
	struct iovec iov = {in, sizeof(in)};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC};
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	size_t least = sizeof(in) - LONG_BYTES, got = 0, bytes = sizeof(got);
	int a, b;

	pair_open(pair, NULL);
	OK(fi_setopt(&pair[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
		     sizeof(least)));
	OK(fi_getopt(&pair[1].ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &got, &bytes));
	CHECK(got == least && bytes == sizeof(got));
	msg.context = &b;
	fill(out, LONG_BYTES, 1);
	OK(fi_recvmsg(pair[1].ep, &msg, FI_MULTI_RECV));
	OK(fi_send(pair[0].ep, out, LONG_BYTES, NULL, pair[0].peer, &a));
	OK(fi_inject(pair[0].ep, out, 9, pair[0].peer));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.len == 9 && entry.buf == in + LONG_BYTES && !(entry.flags & FI_MULTI_RECV));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.len == LONG_BYTES && entry.buf == in && entry.flags & FI_MULTI_RECV);
	CHECK(filled(in, LONG_BYTES, 1) && filled(in + LONG_BYTES, 9, 1));
	done(pair[0].tx, &a);
	/* Cancelled while a long message arrives: it comes, and releases the buffer. */
	OK(fi_recvmsg(pair[1].ep, &msg, FI_MULTI_RECV));
	OK(fi_send(pair[0].ep, out, LONG_BYTES, NULL, pair[0].peer, &a));
	announced(pair);
	OK(fi_cancel(&pair[1].ep->fid, &b));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.len == LONG_BYTES && entry.flags & FI_MULTI_RECV);
	done(pair[0].tx, &a);
	CHECK(nothing(pair[1].rx));
	pair_close(pair);
}

/* Two senders share a buffer for several messages. */
static void several_senders(void)
{
	struct iovec iov = {in, 64 * 100};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC};
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2], third;
	fi_addr_t to, address, source;
	int counts[2] = {0, 0}, b, i;

	pair_open(pair, NULL);
	end_open(&third, NULL);
	IS(1, fi_av_insert(third.av, pair[1].name, 1, &to, 0, NULL));
	IS(1, fi_av_insert(pair[1].av, third.name, 1, &address, 0, NULL));
	msg.context = &b;
	OK(fi_recvmsg(pair[1].ep, &msg, FI_MULTI_RECV));
	for (i = 0; i < 50; i++) {
		fill(out, 64, (unsigned)i);
		OK(fi_inject(pair[0].ep, out, 64, pair[0].peer));
		fill(out, 64, (unsigned)i + 100);
		OK(fi_inject(third.ep, out, 64, to));
	}
	for (i = 0; i < 100; i++) {
		int third_sent;

		IS(0, next(pair[1].rx, &entry, &source, NULL));
		third_sent = source == address;
		CHECK(third_sent || source == pair[1].peer);
		CHECK(entry.len == 64 && entry.buf == in + 64 * i);
		CHECK(filled(entry.buf, 64, (unsigned)(counts[third_sent]++ + 100 * third_sent)));
		CHECK(!(entry.flags & FI_MULTI_RECV) == (i < 99));
	}
	end_close(&third);
	pair_close(pair);
}

/* The source of a message is an address that stands for its sender, or none. */
static void sources(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2], third;
	fi_addr_t to, first, second, source;
	int b;

	pair_open(pair, NULL);
	end_open(&third, NULL);
	IS(1, fi_av_insert(third.av, pair[1].name, 1, &to, 0, NULL));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_inject(third.ep, out, 1, to));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	IS(FI_ADDR_NOTAVAIL, source);
	IS(1, fi_av_insert(pair[1].av, third.name, 1, &first, 0, NULL));
	IS(1, fi_av_insert(pair[1].av, third.name, 1, &second, 0, NULL));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_inject(third.ep, out, 1, to));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	IS(second, source);
	OK(fi_av_remove(pair[1].av, &second, 1, 0));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_inject(third.ep, out, 1, to));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	IS(first, source);
	/* Another endpoint at the same node is another sender. */
	end_close(&third);
	end_open(&third, NULL);
	IS(1, fi_av_insert(third.av, pair[1].name, 1, &to, 0, NULL));
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_inject(third.ep, out, 1, to));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	IS(FI_ADDR_NOTAVAIL, source);
	end_close(&third);
	pair_close(pair);
}

void test_matching(void)
{
	test("tags and masks decide in the order of posting", tags);
	test("directed receives", directed);
	test("peek, claim and discard", peek_short_and_long);
	test("peeks for a sender and a mask", selective_peeks);
	test("peek and claim of messages without a tag", untagged_peeks);
	test("sources of messages", sources);
	test("cancel", cancel);
	test("cancel among as many receives as there may be", cancel_many);
	test("cancel what is over or has begun", cancel_too_late);
	test("a buffer for several messages", multi_receive);
	test("the release of a buffer for several messages", release);
	test("several senders to one buffer", several_senders);
}
