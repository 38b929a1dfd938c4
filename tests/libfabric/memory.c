/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading and writing the memory of the other end. */
#include "ends.h"

#define BYTES (1 << 20)

static uint8_t region[BYTES], local[BYTES];

static struct fid_mr *expose(struct end *end, size_t bytes, uint64_t access, uint64_t key)
{
	struct fid_mr *mr = NULL;

	MUST(fi_mr_reg(end->domain, region, bytes, access, 0, key, 0, &mr, NULL));
	return mr;
}

static void move(struct end pair[2], uint64_t base, uint64_t key)
{
	static const size_t sizes[] = {0, 1, 100, 16384, 16385, 300001, BYTES};
	struct iovec iov[3] = {{local, 10}, {local + 10, 20000}, {local + 20010, 30}};
	size_t i;
	int a;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t offset = BYTES - sizes[i];

		memset(region, 0xee, BYTES);
		fill(local, sizes[i], (unsigned)i);
		OK(fi_write(pair[0].ep, local, sizes[i], NULL, pair[0].peer, base + offset, key,
			    &a));
		done(pair[0].tx, &a);
		CHECK(filled(region + offset, sizes[i], (unsigned)i));
		CHECK(offset == 0 || region[offset - 1] == 0xee);
		memset(local, 0, BYTES);
		OK(fi_read(pair[0].ep, local, sizes[i], NULL, pair[0].peer, base + offset, key,
			   &a));
		done(pair[0].tx, &a);
		CHECK(filled(local, sizes[i], (unsigned)i));
	}
	fill(local, 20040, 8);
	OK(fi_writev(pair[0].ep, iov, NULL, 3, pair[0].peer, base + 5, key, &a));
	done(pair[0].tx, &a);
	CHECK(filled(region + 5, 20040, 8));
	memset(local, 0, 20040);
	OK(fi_readv(pair[0].ep, iov, NULL, 3, pair[0].peer, base + 5, key, &a));
	done(pair[0].tx, &a);
	CHECK(filled(local, 20040, 8));
}

/* Every way of addressing a region. */
static void modes(void)
{
	static const int all[] = {0, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR,
				  FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED};
	const uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct end_options options = {.mr_mode = all[i]};
		struct end pair[2];
		struct fid_mr *mr;

		pair_open(pair, &options);
		IS(all[i], pair[0].info->domain_attr->mr_mode);
		mr = expose(&pair[1], BYTES, access, 77);
		CHECK((fi_mr_key(mr) == 77) == !(all[i] & FI_MR_PROV_KEY));
		move(pair, all[i] & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)region : 0,
		     fi_mr_key(mr));
		OK(fi_close(&mr->fid));
		pair_close(pair);
	}
}

static void remote_data(void)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	struct fid_mr *mr;
	fi_addr_t source;
	int a;

	pair_open(pair, NULL);
	mr = expose(&pair[1], BYTES, FI_REMOTE_WRITE, 1);
	fill(local, 40000, 2);
	OK(fi_writedata(pair[0].ep, local, 40000, NULL, 4242, pair[0].peer, 100, 1, &a));
	IS(0, next(pair[1].rx, &entry, &source, NULL));
	CHECK(entry.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
	CHECK(entry.data == 4242 && entry.len == 40000 && source == pair[1].peer);
	CHECK(filled(region + 100, 40000, 2));
	done(pair[0].tx, &a);
	OK(fi_inject_writedata(pair[0].ep, local, 100, 4243, pair[0].peer, 0, 1));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.data == 4243);
	OK(fi_inject_write(pair[0].ep, local, 50, pair[0].peer, 7, 1));
	OK(fi_cntr_wait(pair[1].was_written, 2, 0));
	while (fi_cntr_read(pair[1].was_written) < 3 && fi_cntr_read(pair[0].wrote) < 3)
		;
	move_on();
	CHECK(filled(region + 7, 50, 2));
	CHECK(nothing(pair[0].tx) && nothing(pair[1].rx));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

static void refuse(struct end *end, int error, bool read, uint64_t address, size_t bytes,
		   uint64_t key)
{
	struct fi_cq_tagged_entry entry = {0};
	int a;

	if (read)
		OK(fi_read(end->ep, local, bytes, NULL, end->peer, address, key, &a));
	else
		OK(fi_write(end->ep, local, bytes, NULL, end->peer, address, key, &a));
	IS(error, next(end->tx, &entry, NULL, NULL));
	CHECK(entry.op_context == &a);
}

static void bounds_and_rights(void)
{
	struct end pair[2];
	struct fid_mr *both, *readable, *writable;
	struct fi_cq_tagged_entry entry;
	int a;

	pair_open(pair, NULL);
	both = expose(&pair[1], 100000, FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
	readable = expose(&pair[1], 100000, FI_REMOTE_READ, 2);
	writable = expose(&pair[1], 100000, FI_REMOTE_WRITE, 3);
	memset(region, 0xee, BYTES);
	memset(local, 1, BYTES);
	refuse(&pair[0], FI_EINVAL, false, 100000, 1, 1);
	refuse(&pair[0], FI_EINVAL, true, 99999, 2, 1);
	refuse(&pair[0], FI_EINVAL, true, UINT64_MAX, 2, 1);
	refuse(&pair[0], FI_EINVAL, false, UINT64_MAX - 5, 100000, 1);
	refuse(&pair[0], FI_EACCES, false, 0, 1, 2);
	refuse(&pair[0], FI_EACCES, true, 0, 1, 3);
	refuse(&pair[0], FI_EACCES, true, 0, 1, 4);
	CHECK(region[0] == 0xee && region[100000] == 0xee);
	/* A long write that leaves the region changes only what is before the packet that does. */
	refuse(&pair[0], FI_EINVAL, false, 50000, 60000, 1);
	CHECK(region[100000] == 0xee && region[49999] == 0xee);
	/* The conversation goes on. */
	OK(fi_write(pair[0].ep, local, 100000, NULL, pair[0].peer, 0, 1, &a));
	done(pair[0].tx, &a);
	CHECK(region[0] == 1 && region[99999] == 1 && region[100000] == 0xee);
	/* A region that is closed in the middle of a read. */
	OK(fi_read(pair[0].ep, local, 100000, NULL, pair[0].peer, 0, 2, &a));
	move_on();
	OK(fi_close(&readable->fid));
	(void)next(pair[0].tx, &entry, NULL, NULL);
	refuse(&pair[0], FI_EACCES, true, 0, 1, 2);
	/* A key that is in use, and another after it was freed. */
	IS(-FI_ENOKEY, fi_mr_reg(pair[1].domain, region, 1, FI_REMOTE_READ, 0, 3, 0, &readable,
				 NULL));
	OK(fi_close(&writable->fid));
	OK(fi_mr_reg(pair[1].domain, region, 1, FI_REMOTE_READ, 0, 3, 0, &readable, NULL));
	OK(fi_close(&readable->fid));
	IS(-FI_EINVAL, fi_mr_reg(pair[1].domain, region, 1, UINT64_C(1) << 40, 0, 9, 0, &readable,
				 NULL));
	OK(fi_close(&both->fid));
	pair_close(pair);
}

/* What was written before a message has arrived when the message does. */
static void order(void)
{
	struct end pair[2];
	struct fid_mr *mr;
	int a, b, i;

	pair_open(pair, NULL);
	mr = expose(&pair[1], BYTES, FI_REMOTE_WRITE, 1);
	for (i = 0; i < 50; i++) {
		fill(local, 50000, (unsigned)i);
		OK(fi_write(pair[0].ep, local, 50000, NULL, pair[0].peer, 0, 1, &a));
		OK(fi_inject(pair[0].ep, local, 1, pair[0].peer));
		OK(fi_recv(pair[1].ep, local + 60000, 8, NULL, FI_ADDR_UNSPEC, &b));
		done(pair[1].rx, &b);
		CHECK(filled(region, 50000, (unsigned)i));
		done(pair[0].tx, &a);
	}
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* The calls with a message, and their flags. */
static void with_messages(void)
{
	struct iovec iov[5] = {{local, 10}, {local + 10, 90}, {0}, {0}, {0}};
	struct fi_rma_iov there = {.addr = 20, .len = 100, .key = 1};
	struct fi_msg_rma msg = {.msg_iov = iov, .iov_count = 2, .rma_iov = &there,
				 .rma_iov_count = 1, .data = 99};
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	struct fid_mr *mr;
	int a;

	pair_open(pair, NULL);
	mr = expose(&pair[1], BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
	msg.addr = pair[0].peer;
	msg.context = &a;
	fill(local, 100, 1);
	OK(fi_writemsg(pair[0].ep, &msg, FI_INJECT | FI_DELIVERY_COMPLETE));
	memset(local, 0, 100); /* the call has copied it */
	done(pair[0].tx, &a);
	CHECK(filled(region + 20, 100, 1) && nothing(pair[1].rx));
	OK(fi_readmsg(pair[0].ep, &msg, 0));
	IS(0, next(pair[0].tx, &entry, NULL, NULL));
	CHECK(entry.flags == (FI_RMA | FI_READ) && filled(local, 100, 1));
	OK(fi_writemsg(pair[0].ep, &msg, FI_REMOTE_CQ_DATA | FI_MORE));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.data == 99 && entry.len == 100);
	IS(0, next(pair[0].tx, &entry, NULL, NULL));
	CHECK(entry.flags == (FI_RMA | FI_WRITE));

	IS(-FI_EINVAL, fi_readmsg(pair[0].ep, &msg, FI_INJECT));
	IS(-FI_EBADFLAGS, fi_writemsg(pair[0].ep, &msg, FI_FENCE));
	IS(-FI_EBADFLAGS, fi_writemsg(pair[0].ep, &msg, FI_COMMIT_COMPLETE));
	there.len = 99;
	IS(-FI_EINVAL, fi_writemsg(pair[0].ep, &msg, 0));
	there.len = 100;
	msg.iov_count = 5;
	IS(-FI_EINVAL, fi_writemsg(pair[0].ep, &msg, 0));
	msg.iov_count = 2;
	msg.rma_iov_count = 2;
	IS(-FI_EINVAL, fi_readmsg(pair[0].ep, &msg, 0));
	IS(-FI_EMSGSIZE, fi_inject_write(pair[0].ep, local, 4097, pair[0].peer, 0, 1));
	OK(fi_inject_write(pair[0].ep, local, 4096, pair[0].peer, 0, 1));
	CHECK(nothing(pair[0].tx));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* Only what asks for a completion has one, and what fails. */
static void selective(void)
{
	struct iovec iov = {local, 8};
	struct fi_ioc ioc = {local, 1};
	struct fi_rma_iov there = {.len = 8, .key = 1};
	struct fi_rma_ioc there_ioc = {.count = 1, .key = 1};
	struct fi_msg_rma msg = {.msg_iov = &iov, .iov_count = 1, .rma_iov = &there,
				 .rma_iov_count = 1};
	struct fi_msg_atomic atomic = {.msg_iov = &ioc, .iov_count = 1, .rma_iov = &there_ioc,
				       .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM};
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	struct fid_mr *mr;
	int a;

	pair_open(pair, &(struct end_options){.bind = FI_SELECTIVE_COMPLETION});
	mr = expose(&pair[1], BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
	msg.addr = atomic.addr = pair[0].peer;
	msg.context = atomic.context = &a;
	OK(fi_write(pair[0].ep, local, 8, NULL, pair[0].peer, 0, 1, &a));
	OK(fi_read(pair[0].ep, local, 8, NULL, pair[0].peer, 0, 1, &a));
	OK(fi_atomic(pair[0].ep, local, 1, NULL, pair[0].peer, 0, 1, FI_UINT64, FI_SUM, &a));
	OK(fi_writemsg(pair[0].ep, &msg, 0));
	OK(fi_readmsg(pair[0].ep, &msg, 0));
	OK(fi_atomicmsg(pair[0].ep, &atomic, 0));
	CHECK(nothing(pair[0].tx));
	OK(fi_writemsg(pair[0].ep, &msg, FI_COMPLETION));
	done(pair[0].tx, &a);
	OK(fi_readmsg(pair[0].ep, &msg, FI_COMPLETION));
	done(pair[0].tx, &a);
	OK(fi_atomicmsg(pair[0].ep, &atomic, FI_COMPLETION));
	done(pair[0].tx, &a);
	IS(6, fi_cntr_read(pair[0].wrote));
	IS(3, fi_cntr_read(pair[0].did_read));
	OK(fi_write(pair[0].ep, local, 8, NULL, pair[0].peer, 0, 2, &a));
	IS(FI_EACCES, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_inject_write(pair[0].ep, local, 8, pair[0].peer, BYTES, 1));
	IS(FI_EINVAL, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* The three calls that register memory, and what they refuse. */
static void registration(void)
{
	struct iovec iov[2] = {{region, 100}, {region + 200, 100}};
	struct fi_mr_attr attr = {.mr_iov = iov, .iov_count = 1, .access = FI_REMOTE_WRITE,
				  .requested_key = 6};
	struct end pair[2];
	struct fid_mr *listed, *described, *none;
	int a;

	pair_open(pair, NULL);
	attr.context = &a;
	OK(fi_mr_regv(pair[1].domain, iov, 1, FI_REMOTE_READ, 0, 5, 0, &listed, &a));
	CHECK(fi_mr_key(listed) == 5 && listed->fid.context == &a && fi_mr_desc(listed));
	OK(fi_mr_regattr(pair[1].domain, &attr, 0, &described));
	CHECK(fi_mr_key(described) == 6 && described->fid.context == &a);
	IS(-FI_EINVAL, fi_mr_regv(pair[1].domain, iov, 2, FI_REMOTE_READ, 0, 7, 0, &none, NULL));
	attr.requested_key = 7;
	attr.iface = FI_HMEM_CUDA;
	IS(-FI_ENOSYS, fi_mr_regattr(pair[1].domain, &attr, 0, &none));
	attr.iface = FI_HMEM_SYSTEM;
	IS(-FI_EINVAL, fi_mr_regattr(pair[1].domain, &attr, FI_RMA_PMEM, &none));
	IS(-FI_EBUSY, fi_close(&pair[1].domain->fid));
	fill(local, 100, 5);
	OK(fi_write(pair[0].ep, local, 100, NULL, pair[0].peer, 0, 6, &a));
	done(pair[0].tx, &a);
	OK(fi_read(pair[0].ep, local + 500, 100, NULL, pair[0].peer, 0, 5, &a));
	done(pair[0].tx, &a);
	CHECK(filled(local + 500, 100, 5));
	OK(fi_close(&listed->fid));
	OK(fi_close(&described->fid));
	pair_close(pair);
}

/* Each right alone: peers may do what it says and nothing else. */
static void rights(void)
{
	static const uint64_t all[] = {FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ,
				       FI_REMOTE_WRITE};
	struct fi_cq_tagged_entry entry;
	uint64_t value = 1, old = 0;
	struct end pair[2];
	size_t i;
	int a;

	pair_open(pair, NULL);
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		int reads = all[i] == FI_REMOTE_READ ? 0 : FI_EACCES;
		int writes = all[i] == FI_REMOTE_WRITE ? 0 : FI_EACCES;
		struct fid_mr *mr = expose(&pair[1], 64, all[i], i);

		memset(region, 0, 64);
		OK(fi_write(pair[0].ep, &value, 8, NULL, pair[0].peer, 0, i, &a));
		IS(writes, next(pair[0].tx, &entry, NULL, NULL));
		CHECK(region[0] == !writes);
		OK(fi_atomic(pair[0].ep, &value, 1, NULL, pair[0].peer, 8, i, FI_UINT64, FI_SUM,
			     &a));
		IS(writes, next(pair[0].tx, &entry, NULL, NULL));
		CHECK(region[8] == !writes);
		OK(fi_read(pair[0].ep, local, 8, NULL, pair[0].peer, 0, i, &a));
		IS(reads, next(pair[0].tx, &entry, NULL, NULL));
		OK(fi_fetch_atomic(pair[0].ep, NULL, 1, NULL, &old, NULL, pair[0].peer, 0, i,
				   FI_UINT64, FI_ATOMIC_READ, &a));
		IS(reads, next(pair[0].tx, &entry, NULL, NULL));
		/* To read and to write takes both. */
		OK(fi_fetch_atomic(pair[0].ep, &value, 1, NULL, &old, NULL, pair[0].peer, 0, i,
				   FI_UINT64, FI_SUM, &a));
		IS(FI_EACCES, next(pair[0].tx, &entry, NULL, NULL));
		CHECK(region[0] == !writes);
		OK(fi_close(&mr->fid));
	}
	pair_close(pair);
}

/* Nothing is moved, but keys and bounds are looked at, and data for the queue arrives. */
static void no_bytes(void)
{
	struct fi_cq_tagged_entry entry = {0};
	struct end pair[2];
	struct fid_mr *mr;
	int a;

	pair_open(pair, NULL);
	mr = expose(&pair[1], 100, FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
	OK(fi_writedata(pair[0].ep, NULL, 0, NULL, 5, pair[0].peer, 100, 1, &a));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.data == 5 && entry.len == 0);
	done(pair[0].tx, &a);
	refuse(&pair[0], FI_EINVAL, false, 101, 0, 1);
	refuse(&pair[0], FI_EINVAL, true, 101, 0, 1);
	refuse(&pair[0], FI_EACCES, false, 0, 0, 2);
	refuse(&pair[0], FI_EACCES, true, 0, 0, 2);
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

void test_memory(void)
{
	test("RMA of all lengths, in every registration mode", modes);
	test("writes with remote data", remote_data);
	test("RMA outside regions and rights", bounds_and_rights);
	test("messages do not overtake writes", order);
	test("RMA by the calls with a message", with_messages);
	test("selective completion of RMA and atomic operations", selective);
	test("regions by every call", registration);
	test("every right of a region alone", rights);
	test("RMA of no bytes", no_bytes);
}
