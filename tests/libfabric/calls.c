/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call that sends or receives messages: flags, limits, and orders. */
#include "ends.h"

#define LONG 100000

static uint8_t out[4 * LONG], in[4 * LONG];

/* The next completion of a receive has this data, and the flag for it if there is any. */
static void arrives(struct end *end, const void *context, uint64_t kind, uint64_t data,
		    size_t bytes)
{
	struct fi_cq_tagged_entry entry = {0};

	IS(0, next(end->rx, &entry, NULL, NULL));
	CHECK(entry.op_context == context && entry.len == bytes);
	CHECK(entry.flags == (FI_RECV | kind | (data ? FI_REMOTE_CQ_DATA : 0)));
	CHECK(!data || entry.data == data);
}

static void untagged(void)
{
	static const uint64_t flags[] = {0, FI_MORE, FI_COMPLETION, FI_INJECT_COMPLETE,
					 FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE,
					 FI_REMOTE_CQ_DATA | FI_MORE | FI_DELIVERY_COMPLETE};
	static const size_t sizes[] = {50, LONG};
	struct iovec iov = {out, 0};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .data = 7};
	struct end pair[2];
	size_t i, j;
	int a, b;

	pair_open(pair, NULL);
	msg.addr = pair[0].peer;
	msg.context = &a;
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		for (j = 0; j < 2; j++) {
			iov.iov_len = sizes[j];
			fill(out, sizes[j], (unsigned)(i + j));
			OK(fi_recv(pair[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &b));
			OK(fi_sendmsg(pair[0].ep, &msg, flags[i]));
			arrives(&pair[1], &b, FI_MSG, flags[i] & FI_REMOTE_CQ_DATA ? 7 : 0,
				sizes[j]);
			CHECK(filled(in, sizes[j], (unsigned)(i + j)));
			done(pair[0].tx, &a);
		}
	}
	OK(fi_recv(pair[1].ep, in, 50, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_injectdata(pair[0].ep, out, 50, UINT64_MAX, pair[0].peer));
	arrives(&pair[1], &b, FI_MSG, UINT64_MAX, 50);
	CHECK(nothing(pair[0].tx));
	/* No buffer at all is a message of no bytes. */
	msg.iov_count = 0;
	OK(fi_recv(pair[1].ep, NULL, 0, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_sendmsg(pair[0].ep, &msg, FI_REMOTE_CQ_DATA));
	arrives(&pair[1], &b, FI_MSG, 7, 0);
	done(pair[0].tx, &a);
	pair_close(pair);
}

static void tagged(void)
{
	static const uint64_t flags[] = {0, FI_MORE, FI_REMOTE_CQ_DATA,
					 FI_DELIVERY_COMPLETE | FI_REMOTE_CQ_DATA};
	static const size_t sizes[] = {50, LONG};
	struct iovec iov = {out, 0}, into = {in, sizeof(in)};
	struct fi_msg_tagged msg = {.msg_iov = &iov, .iov_count = 1, .tag = 3, .data = 8};
	struct fi_msg_tagged receive = {.msg_iov = &into, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
					.tag = 2, .ignore = 1};
	struct end pair[2];
	size_t i, j;
	int a, b;

	pair_open(pair, NULL);
	msg.addr = pair[0].peer;
	msg.context = &a;
	receive.context = &b;
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		for (j = 0; j < 2; j++) {
			iov.iov_len = sizes[j];
			fill(out, sizes[j], (unsigned)(i + j));
			OK(fi_trecvmsg(pair[1].ep, &receive, FI_COMPLETION));
			OK(fi_tsendmsg(pair[0].ep, &msg, flags[i]));
			arrives(&pair[1], &b, FI_TAGGED, flags[i] & FI_REMOTE_CQ_DATA ? 8 : 0,
				sizes[j]);
			CHECK(filled(in, sizes[j], (unsigned)(i + j)));
			done(pair[0].tx, &a);
		}
	}
	for (j = 0; j < 2; j++) {
		OK(fi_trecv(pair[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, 9, 0, &b));
		OK(fi_tsenddata(pair[0].ep, out, sizes[j], NULL, 11, pair[0].peer, 9, &a));
		arrives(&pair[1], &b, FI_TAGGED, 11, sizes[j]);
		done(pair[0].tx, &a);
	}
	IS(-FI_EINVAL, fi_trecvmsg(pair[1].ep, &receive, FI_MULTI_RECV));
	pair_close(pair);
}

/* Four parts each, cut at different places, of tagged messages. */
static void tagged_parts(void)
{
	static const size_t sizes[] = {400, LONG};
	struct end pair[2];
	size_t i;
	int a, b;

	pair_open(pair, NULL);
	for (i = 0; i < 2; i++) {
		size_t n = sizes[i];
		struct iovec from[5] = {{out, 1}, {out + 1, n / 2}, {out + 1 + n / 2, n / 2 - 2},
					{out + n - 1, 1}, {out, 1}};
		struct iovec to[5] = {{in, n / 4}, {in + n / 4, n / 4}, {in + n / 2, 0},
				      {in + n / 2, n / 2}, {in, 1}};
		struct fi_cq_tagged_entry entry = {0};

		fill(out, n, (unsigned)i);
		memset(in, 0xee, n + 1);
		OK(fi_trecvv(pair[1].ep, to, NULL, 4, FI_ADDR_UNSPEC, 5, 0, &b));
		OK(fi_tsendv(pair[0].ep, from, NULL, 4, pair[0].peer, 5, &a));
		arrives(&pair[1], &b, FI_TAGGED, 0, n);
		done(pair[0].tx, &a);
		CHECK(filled(in, n, (unsigned)i) && in[n] == 0xee);
		/* The last part has no room for everything. */
		to[3].iov_len--;
		memset(in, 0xee, n);
		OK(fi_tsendv(pair[0].ep, from, NULL, 4, pair[0].peer, 5, &a));
		OK(fi_trecvv(pair[1].ep, to, NULL, 4, FI_ADDR_UNSPEC, 5, 0, &b));
		IS(FI_ETRUNC, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.len == n - 1 && filled(in, n - 1, (unsigned)i) && in[n - 1] == 0xee);
		done(pair[0].tx, &a);
		IS(-FI_EINVAL, fi_tsendv(pair[0].ep, from, NULL, 5, pair[0].peer, 5, &a));
		IS(-FI_EINVAL, fi_trecvv(pair[1].ep, to, NULL, 5, FI_ADDR_UNSPEC, 5, 0, &b));
	}
	pair_close(pair);
}

/* Every call that copies: at its limit, which the information tells, and one byte above. */
static void inject_limits(void)
{
	struct iovec iov = {out, 4096};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};
	struct fi_msg_tagged tagged_msg = {.msg_iov = &iov, .iov_count = 1};
	struct end pair[2];
	size_t bytes;
	int a, b, i;

	pair_open(pair, NULL);
	IS(4096, pair[0].info->tx_attr->inject_size);
	msg.addr = tagged_msg.addr = pair[0].peer;
	msg.context = tagged_msg.context = &a;
	for (bytes = 4096; bytes <= 4097; bytes++) {
		ssize_t result = bytes == 4096 ? 0 : -FI_EMSGSIZE;

		iov.iov_len = bytes;
		fill(out, bytes, 2);
		IS(result, fi_inject(pair[0].ep, out, bytes, pair[0].peer));
		IS(result, fi_injectdata(pair[0].ep, out, bytes, 1, pair[0].peer));
		IS(result, fi_sendmsg(pair[0].ep, &msg, FI_INJECT));
		IS(result, fi_tinject(pair[0].ep, out, bytes, pair[0].peer, 0));
		IS(result, fi_tinjectdata(pair[0].ep, out, bytes, 1, pair[0].peer, 0));
		IS(result, fi_tsendmsg(pair[0].ep, &tagged_msg, FI_INJECT));
		memset(out, 0, bytes); /* the calls have copied it */
	}
	for (i = 0; i < 6; i++) {
		memset(in, 0, 4096);
		if (i < 3)
			OK(fi_recv(pair[1].ep, in, 4096, NULL, FI_ADDR_UNSPEC, &b));
		else
			OK(fi_trecv(pair[1].ep, in, 4096, NULL, FI_ADDR_UNSPEC, 0, 0, &b));
		done(pair[1].rx, &b);
		CHECK(filled(in, 4096, 2));
	}
	done(pair[0].tx, &a);
	done(pair[0].tx, &a);
	CHECK(nothing(pair[0].tx) && nothing(pair[1].rx));
	pair_close(pair);
}

/* Flags that ask for something that does not exist are refused, not ignored. */
static void unknown_flags(void)
{
	static const uint64_t flags[] = {FI_FENCE, FI_MULTICAST, FI_COMMIT_COMPLETE,
					 FI_MATCH_COMPLETE, FI_TRIGGER};
	struct iovec iov = {out, 8};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};
	struct fi_msg_tagged tagged_msg = {.msg_iov = &iov, .iov_count = 1};
	struct end end;
	fi_addr_t self;
	size_t i;

	end_open(&end, NULL);
	IS(1, fi_av_insert(end.av, end.name, 1, &self, 0, NULL));
	msg.addr = tagged_msg.addr = self;
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		IS(-FI_EBADFLAGS, fi_sendmsg(end.ep, &msg, flags[i]));
		IS(-FI_EBADFLAGS, fi_tsendmsg(end.ep, &tagged_msg, flags[i]));
		IS(-FI_EBADFLAGS, fi_recvmsg(end.ep, &msg, flags[i]));
		IS(-FI_EBADFLAGS, fi_trecvmsg(end.ep, &tagged_msg, flags[i]));
	}
	CHECK(nothing(end.tx) && nothing(end.rx));
	end_close(&end);
}

/* Thousands of messages that nobody asked for, taken in the reverse order of their tags. */
static void unexpected(void)
{
	enum { MESSAGES = 1900 }; /* of 8 bytes, which fit into the window */
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	uint64_t value, into;
	int b;

	pair_open(pair, NULL);
	for (value = 0; value < MESSAGES; value++) {
		OK(fi_tinject(pair[0].ep, &value, 8, pair[0].peer, value));
		move_on();
	}
	for (value = MESSAGES; value-- > 0;) {
		into = UINT64_MAX;
		OK(fi_trecv(pair[1].ep, &into, 8, NULL, FI_ADDR_UNSPEC, value, 0, &b));
		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.tag == value && into == value);
	}
	pair_close(pair);
}

/* Messages of one sender are matched in the order in which they were sent, whatever their lengths
 * and calls, and whether their receives are there or not. */
static void order(void)
{
	static const size_t sizes[] = {0, 1, 100, 4096, 16384, 16385, 40000, LONG};
	enum { MESSAGES = 64 };
	static uint8_t from[8][LONG], to[MESSAGES][LONG];
	struct end pair[2];
	int a[MESSAGES], b[MESSAGES], sent = 0, early, i;

	pair_open(pair, NULL);
	for (early = 0; early < 2; early++) {
		for (i = 0; i < 8; i++)
			fill(from[i], sizes[i], (unsigned)i);
		for (i = 0; early && i < MESSAGES; i++)
			OK(fi_trecv(pair[1].ep, to[i], LONG, NULL, FI_ADDR_UNSPEC, 1, 0, &b[i]));
		for (i = 0; i < MESSAGES; i++) {
			int which = (i * 5) % 8;

			if (i % 3 == 0 && which < 4) {
				OK(fi_tinject(pair[0].ep, from[which], sizes[which], pair[0].peer,
					      1));
				continue;
			}
			OK(fi_tsend(pair[0].ep, from[which], sizes[which], NULL, pair[0].peer, 1,
				    &a[i]));
			sent++;
		}
		for (i = 0; !early && i < MESSAGES; i++)
			OK(fi_trecv(pair[1].ep, to[i], LONG, NULL, FI_ADDR_UNSPEC, 1, 0, &b[i]));
		for (i = 0; i < MESSAGES; i++) {
			struct fi_cq_tagged_entry entry = {0};
			int *which = NULL;

			/* Completions may come in another order; receives matched in theirs. */
			IS(0, next(pair[1].rx, &entry, NULL, NULL));
			which = entry.op_context;
			CHECK(which >= b && which < b + MESSAGES);
			if (which >= b && which < b + MESSAGES) {
				int place = (int)(which - b), of = (place * 5) % 8;

				CHECK(entry.len == sizes[of]);
				CHECK(filled(to[place], sizes[of], (unsigned)of));
			}
		}
		for (; sent; sent--) {
			struct fi_cq_tagged_entry entry;

			IS(0, next(pair[0].tx, &entry, NULL, NULL));
		}
	}
	pair_close(pair);
}

void test_calls(void)
{
	test("messages by every call and flag", untagged);
	test("tagged messages by every call and flag", tagged);
	test("tagged messages from and to four buffers", tagged_parts);
	test("limits of what is copied at once", inject_limits);
	test("flags that ask for what does not exist", unknown_flags);
	test("unexpected messages, taken in reverse", unexpected);
	test("messages of many lengths keep their order", order);
}
