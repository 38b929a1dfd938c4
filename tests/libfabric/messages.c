/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages of all lengths, their completions, and what happens when nobody takes them. */
#include "ends.h"

#define LARGE (1 << 20)

static uint8_t out[2 * LARGE], in[2 * LARGE];

static void exchange(struct end pair[2], size_t bytes, bool early)
{
	struct fi_cq_tagged_entry entry = {0};
	fi_addr_t source = 99;
	int a, b;

	fill(out, bytes, (unsigned)bytes);
	memset(in, 0xee, bytes + 1);
	if (early) {
		OK(fi_tsend(pair[0].ep, out, bytes, NULL, pair[0].peer, 0x1234, &a));
		move_on();
		move_on();
	}
	OK(fi_trecv(pair[1].ep, in, bytes + 1, NULL, FI_ADDR_UNSPEC, 0x1234, 0, &b));
	if (!early)
		OK(fi_tsend(pair[0].ep, out, bytes, NULL, pair[0].peer, 0x1234, &a));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	CHECK(entry.op_context == &b && entry.len == bytes && entry.tag == 0x1234);
	CHECK(entry.flags == (FI_RECV | FI_TAGGED));
	CHECK(source == pair[1].peer);
	CHECK(filled(in, bytes, (unsigned)bytes) && in[bytes] == 0xee);
	done(pair[0].tx, &a);
}

static void lengths(void)
{
	static const size_t sizes[] = {0,     1,     64,    4096,      16383,    16384,
				       16385, 32768, 65537, LARGE / 2, LARGE + 3};
	struct end pair[2];
	size_t i;

	pair_open(pair, NULL);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		exchange(pair, sizes[i], false);
		exchange(pair, sizes[i], true);
	}
	pair_close(pair);
}

/* Endpoints for datagrams have messages up to their limit, and no other operation. */
static void datagrams(void)
{
	static const size_t sizes[] = {0, 1, 4096, 16385, 65536};
	const struct end_options options = {.datagrams = true};
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	uint64_t value = 0;
	fi_addr_t source;
	size_t i;
	int a, b;

	pair_open(pair, &options);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fill(out, sizes[i], (unsigned)i);
		OK(fi_recv(pair[1].ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, &b));
		OK(fi_send(pair[0].ep, out, sizes[i], NULL, pair[0].peer, &a));
		IS(0, next(pair[1].rx, &entry, &source, NULL));
		CHECK(entry.op_context == &b && entry.len == sizes[i] && source == pair[1].peer);
		CHECK(entry.flags == (FI_RECV | FI_MSG) && filled(in, sizes[i], (unsigned)i));
		done(pair[0].tx, &a);
	}
	IS(-FI_EMSGSIZE, fi_send(pair[0].ep, out, 65537, NULL, pair[0].peer, &a));
	IS(-FI_ENOSYS, fi_tsend(pair[0].ep, out, 1, NULL, pair[0].peer, 0, &a));
	IS(-FI_ENOSYS, fi_trecv(pair[0].ep, in, 1, NULL, FI_ADDR_UNSPEC, 0, 0, &a));
	IS(-FI_ENOSYS, fi_write(pair[0].ep, out, 1, NULL, pair[0].peer, 0, 0, &a));
	IS(-FI_ENOSYS, fi_read(pair[0].ep, in, 1, NULL, pair[0].peer, 0, 0, &a));
	IS(-FI_ENOSYS, fi_atomic(pair[0].ep, &value, 1, NULL, pair[0].peer, 0, 0, FI_UINT64,
				 FI_SUM, &a));
	pair_close(pair);
}

static void to_itself(void)
{
	struct end end;
	fi_addr_t self;
	int a, b;

	end_open(&end, NULL);
	IS(1, fi_av_insert(end.av, end.name, 1, &self, 0, NULL));
	fill(out, LARGE, 5);
	OK(fi_send(end.ep, out, LARGE, NULL, self, &a));
	OK(fi_recv(end.ep, in, LARGE, NULL, FI_ADDR_UNSPEC, &b));
	done(end.rx, &b);
	done(end.tx, &a);
	CHECK(filled(in, LARGE, 5));
	end_close(&end);
}

static void parts(void)
{
	struct iovec from[4] = {{out, 3}, {out + 100, 0}, {out + 3, 40000}, {out + 40003, 1}};
	struct iovec to[4] = {{in, 1}, {in + 1, 20000}, {in + 20001, 10003}, {in + 30004, 10000}};
	struct end pair[2];
	int a, b;

	pair_open(pair, NULL);
	fill(out, 40004, 9);
	memset(in, 0, 40004);
	OK(fi_recvv(pair[1].ep, to, NULL, 4, FI_ADDR_UNSPEC, &b));
	OK(fi_sendv(pair[0].ep, from, NULL, 4, pair[0].peer, &a));
	done(pair[1].rx, &b);
	done(pair[0].tx, &a);
	CHECK(filled(in, 40004, 9));
	IS(-FI_EINVAL, fi_sendv(pair[0].ep, from, NULL, 5, pair[0].peer, &a));
	IS(-FI_EINVAL, fi_recvv(pair[0].ep, to, NULL, 5, FI_ADDR_UNSPEC, &a));
	pair_close(pair);
}

static void inject_and_data(void)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	uint8_t small[64];
	int a, b;

	pair_open(pair, NULL);
	OK(fi_recv(pair[1].ep, in, 4096, NULL, FI_ADDR_UNSPEC, &b));
	fill(small, 64, 1);
	OK(fi_inject(pair[0].ep, small, 64, pair[0].peer));
	memset(small, 0, 64);
	done(pair[1].rx, &b);
	CHECK(filled(in, 64, 1));
	IS(-FI_EMSGSIZE, fi_inject(pair[0].ep, out, 4097, pair[0].peer));

	OK(fi_recv(pair[1].ep, in, 4096, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_senddata(pair[0].ep, out, 10, NULL, UINT64_C(0xfedcba9876543210), pair[0].peer, &a));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.flags == (FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA));
	CHECK(entry.data == UINT64_C(0xfedcba9876543210));
	done(pair[0].tx, &a);

	OK(fi_trecv(pair[1].ep, in, 4096, NULL, FI_ADDR_UNSPEC, 3, 0, &b));
	OK(fi_tinjectdata(pair[0].ep, out, 10, 77, pair[0].peer, 3));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.data == 77 && entry.len == 10);
	CHECK(nothing(pair[0].tx)); /* an injected message has no completion */
	IS(3, fi_cntr_read(pair[0].sent));
	IS(3, fi_cntr_read(pair[1].received));
	pair_close(pair);
}

static void truncated(size_t bytes, size_t room)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	size_t excess = 0;
	int a, b;

	pair_open(pair, NULL);
	fill(out, bytes, 3);
	memset(in, 0xee, bytes);
	OK(fi_trecv(pair[1].ep, in, room, NULL, FI_ADDR_UNSPEC, 1, 0, &b));
	OK(fi_tsend(pair[0].ep, out, bytes, NULL, pair[0].peer, 1, &a));
	IS(FI_ETRUNC, next(pair[1].rx, &entry, NULL, &excess));
	CHECK(entry.op_context == &b && entry.len == room && excess == bytes - room);
	CHECK(filled(in, room, 3) && in[room] == 0xee);
	done(pair[0].tx, &a);
	pair_close(pair);
}

static void too_long_for_the_buffer(void)
{
	truncated(1000, 999);
	truncated(1000, 0);
	truncated(100000, 99999);
	truncated(100000, 16384);
	truncated(100000, 0);
}

static void delivery_complete(void)
{
	const struct end_options options = {.tx_flags = FI_DELIVERY_COMPLETE};
	static const size_t sizes[] = {0, 100, 100000};
	struct end pair[2];
	size_t i;
	int a, b;

	pair_open(pair, &options);
	for (i = 0; i < 3; i++) {
		fill(out, sizes[i], 4);
		OK(fi_send(pair[0].ep, out, sizes[i], NULL, pair[0].peer, &a));
		CHECK(nothing(pair[0].tx));
		OK(fi_recv(pair[1].ep, in, sizes[i] / 2, NULL, FI_ADDR_UNSPEC, &b));
		done(pair[0].tx, &a);
		struct fi_cq_tagged_entry entry;
		IS(sizes[i] ? FI_ETRUNC : 0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(filled(in, sizes[i] / 2, 4));
	}
	pair_close(pair);
}

static void selective(void)
{
	const struct end_options options = {.bind = FI_SELECTIVE_COMPLETION};
	struct iovec iov = {out, 8}, into = {in, 8};
	struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1};
	struct end pair[2];
	int a, b;

	pair_open(pair, &options);
	OK(fi_recv(pair[1].ep, in, 8, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_send(pair[0].ep, out, 8, NULL, pair[0].peer, &a));
	CHECK(nothing(pair[0].tx) && nothing(pair[1].rx));
	IS(1, fi_cntr_read(pair[1].received));
	msg.addr = FI_ADDR_UNSPEC;
	msg.msg_iov = &into;
	msg.context = &b;
	OK(fi_recvmsg(pair[1].ep, &msg, FI_COMPLETION));
	msg.addr = pair[0].peer;
	msg.msg_iov = &iov;
	msg.context = &a;
	OK(fi_sendmsg(pair[0].ep, &msg, FI_COMPLETION));
	done(pair[0].tx, &a);
	done(pair[1].rx, &b);
	pair_close(pair);
}

/* Nobody receives: the sender stops at its window, then at the number of waiting operations. */
static void back_pressure(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	int contexts[2000], posted = 0, sent = 0, taken, i, b;

	pair_open(pair, NULL);
	for (i = 0; i < 2000; i++) {
		ssize_t result;

		fill(out, 16384, (unsigned)i);
		result = fi_tsend(pair[0].ep, out + 16384 * (i % 64), 16384, NULL, pair[0].peer,
				  (uint64_t)i, &contexts[i]);
		if (result == -FI_EAGAIN)
			break;
		IS(0, result);
		posted++;
		move_on();
	}
	while (fi_cq_read(pair[0].tx, &entry, 1) == 1)
		sent++;
	CHECK(sent > 4 && sent <= 16);   /* 256 KiB */
	IS(1024 + sent, posted);
	for (taken = 0; taken < posted; taken++) {
		OK(fi_trecv(pair[1].ep, in, 16384, NULL, FI_ADDR_UNSPEC, 0, UINT64_MAX, &b));
		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		IS(taken, entry.tag);
	}
	for (; sent < posted; sent++)
		done(pair[0].tx, &contexts[sent]);
	pair_close(pair);
}

/* Both ends send long and short messages before either receives. */
static void both_ways(void)
{
	static uint8_t data[2][8][100000];
	struct end pair[2];
	int i, j, k;

	pair_open(pair, NULL);
	for (k = 0; k < 40; k++) {
		for (j = 0; j < 2; j++)
			for (i = 0; i < 8; i++)
				OK(fi_tsend(pair[j].ep, out, i % 2 ? 100000 : 16384, NULL,
					    pair[j].peer, (uint64_t)i, &out[i]));
		for (j = 0; j < 2; j++)
			for (i = 7; i >= 0; i--)
				OK(fi_trecv(pair[j].ep, data[j][i], 100000, NULL, pair[j].peer,
					    (uint64_t)i, 0, &in[i]));
		for (j = 0; j < 2; j++) {
			for (i = 0; i < 8; i++) {
				struct fi_cq_tagged_entry entry;

				IS(0, next(pair[j].rx, &entry, NULL, NULL));
				IS(0, next(pair[j].tx, &entry, NULL, NULL));
			}
		}
	}
	pair_close(pair);
}

void test_messages(void)
{
	test("datagrams up to their limit", datagrams);
	test("messages of all lengths, before and after the receive", lengths);
	test("an endpoint sends to itself", to_itself);
	test("messages from and to several buffers", parts);
	test("inject and remote data", inject_and_data);
	test("a message longer than the buffer", too_long_for_the_buffer);
	test("delivery complete waits for the receive", delivery_complete);
	test("selective completion", selective);
	test("a sender stops at its window and goes on in order", back_pressure);
	test("both ends send before they receive", both_ways);
}
