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

void test_memory(void)
{
	test("RMA of all lengths, in every registration mode", modes);
	test("writes with remote data", remote_data);
	test("RMA outside regions and rights", bounds_and_rights);
	test("messages do not overtake writes", order);
}
