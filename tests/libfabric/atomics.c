/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Atomic operations of every type. Values are small integers, so that all types hold them exactly. */
#include <complex.h>

#include "ends.h"

#define COUNT 3

static const int there[COUNT] = {6, 0, 5}, operand[COUNT] = {3, 4, 5}, compare[COUNT] = {6, 1, 4};
static _Alignas(64) uint8_t region[256];

/* A small integer as an element of a type. */
static void put(enum fi_datatype type, void *to, int value)
{
#define PUT(name, c_type)                                                                          \
	case name: {                                                                               \
		c_type v = (c_type)value;                                                          \
		memcpy(to, &v, sizeof(v));                                                         \
		break;                                                                             \
	}
	switch (type) {
		PUT(FI_INT8, int8_t)
		PUT(FI_UINT8, uint8_t)
		PUT(FI_INT16, int16_t)
		PUT(FI_UINT16, uint16_t)
		PUT(FI_INT32, int32_t)
		PUT(FI_UINT32, uint32_t)
		PUT(FI_INT64, int64_t)
		PUT(FI_UINT64, uint64_t)
		PUT(FI_FLOAT, float)
		PUT(FI_DOUBLE, double)
		PUT(FI_LONG_DOUBLE, long double)
		PUT(FI_FLOAT_COMPLEX, float complex)
		PUT(FI_DOUBLE_COMPLEX, double complex)
		PUT(FI_LONG_DOUBLE_COMPLEX, long double complex)
	default:
		abort();
	}
}

static bool is(enum fi_datatype type, const void *at, int value)
{
#define IS_VALUE(name, c_type)                                                                     \
	case name: {                                                                               \
		c_type v;                                                                          \
		memcpy(&v, at, sizeof(v));                                                         \
		return v == (c_type)value;                                                         \
	}
	switch (type) {
		IS_VALUE(FI_INT8, int8_t)
		IS_VALUE(FI_UINT8, uint8_t)
		IS_VALUE(FI_INT16, int16_t)
		IS_VALUE(FI_UINT16, uint16_t)
		IS_VALUE(FI_INT32, int32_t)
		IS_VALUE(FI_UINT32, uint32_t)
		IS_VALUE(FI_INT64, int64_t)
		IS_VALUE(FI_UINT64, uint64_t)
		IS_VALUE(FI_FLOAT, float)
		IS_VALUE(FI_DOUBLE, double)
		IS_VALUE(FI_LONG_DOUBLE, long double)
		IS_VALUE(FI_FLOAT_COMPLEX, float complex)
		IS_VALUE(FI_DOUBLE_COMPLEX, double complex)
		IS_VALUE(FI_LONG_DOUBLE_COMPLEX, long double complex)
	default:
		abort();
	}
}

static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 16, 32};

/* What each operation leaves, worked out by hand from the values above. */
static const struct {
	enum fi_op op;
	int after[COUNT];
	bool ordered, bits;
} expected[] = {
	{FI_MIN, {3, 0, 5}, true, false},
	{FI_MAX, {6, 4, 5}, true, false},
	{FI_SUM, {9, 4, 10}, false, false},
	{FI_PROD, {18, 0, 25}, false, false},
	{FI_LOR, {1, 1, 1}, false, false},
	{FI_LAND, {1, 0, 1}, false, false},
	{FI_LXOR, {0, 1, 0}, false, false},
	{FI_BOR, {7, 4, 5}, false, true},
	{FI_BAND, {2, 0, 5}, false, true},
	{FI_BXOR, {5, 4, 0}, false, true},
	{FI_ATOMIC_WRITE, {3, 4, 5}, false, false},
	{FI_ATOMIC_READ, {6, 0, 5}, false, false},
	{FI_CSWAP, {3, 0, 5}, false, false},    /* compare 6 1 4 with 6 0 5: equal, not, not */
	{FI_CSWAP_NE, {6, 4, 5}, false, false},
	{FI_CSWAP_LE, {3, 0, 5}, true, false},  /* 6<=6, 1<=0, 4<=5 */
	{FI_CSWAP_LT, {6, 0, 5}, true, false},
	{FI_CSWAP_GE, {3, 4, 5}, true, false},
	{FI_CSWAP_GT, {6, 4, 5}, true, false},
	{FI_MSWAP, {2, 0, 5}, false, true},     /* 3&6|6&~6, 4&1|0&~1, 5&4|5&~4 */
};

static void set(enum fi_datatype type, uint8_t *to, const int *values)
{
	int i;

	for (i = 0; i < COUNT; i++)
		put(type, to + (size_t)i * sizes[type], values[i]);
}

static bool all(enum fi_datatype type, const uint8_t *at, const int *values)
{
	int i;

	for (i = 0; i < COUNT; i++)
		if (!is(type, at + (size_t)i * sizes[type], values[i]))
			return false;
	return true;
}

static void one(struct end *end, enum fi_datatype type, size_t row)
{
	enum fi_op op = expected[row].op;
	bool compares = op >= FI_CSWAP && op <= FI_MSWAP, reads = op == FI_ATOMIC_READ;
	uint8_t with[128], to[128], old[128];
	size_t count = 0;
	int a;

	set(type, with, operand);
	set(type, to, compare);
	if (!compares && !reads) {
		OK(fi_atomicvalid(end->ep, type, op, &count));
		CHECK(count == 4096 / sizes[type]);
		set(type, region, there);
		OK(fi_atomic(end->ep, with, COUNT, NULL, end->peer, 0, 1, type, op, &a));
		done(end->tx, &a);
		CHECK(all(type, region, expected[row].after));
	}
	set(type, region, there);
	memset(old, 0, sizeof(old));
	if (compares) {
		OK(fi_compare_atomicvalid(end->ep, type, op, &count));
		OK(fi_compare_atomic(end->ep, with, COUNT, NULL, to, NULL, old, NULL, end->peer, 0,
				     1, type, op, &a));
	} else {
		OK(fi_fetch_atomicvalid(end->ep, type, op, &count));
		OK(fi_fetch_atomic(end->ep, reads ? NULL : with, COUNT, NULL, old, NULL, end->peer,
				   0, 1, type, op, &a));
	}
	done(end->tx, &a);
	CHECK(all(type, old, there) && all(type, region, expected[row].after));
	if (bad)
		printf("# type %d, operation %d\n", type, op);
}

static void everything(void)
{
	struct end pair[2];
	struct fid_mr *mr;
	size_t row, count;
	int type;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[1].domain, region, sizeof(region), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       1, 0, &mr, NULL));
	for (type = 0; type < FI_DATATYPE_LAST && !bad; type++) {
		bool is_complex = type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX ||
				  type == FI_LONG_DOUBLE_COMPLEX;

		for (row = 0; row < sizeof(expected) / sizeof(*expected); row++) {
			bool has = !(expected[row].ordered && is_complex) &&
				   !(expected[row].bits && type > FI_UINT64);

			if (has) {
				one(&pair[0], (enum fi_datatype)type, row);
				continue;
			}
			IS(-FI_EOPNOTSUPP, fi_atomicvalid(pair[0].ep, (enum fi_datatype)type,
							  expected[row].op, &count));
		}
	}
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

static void refused(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	struct fid_mr *written, *readable;
	uint64_t value = 1, old = 0;
	static uint64_t many[513];
	int a;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[1].domain, region, 16, FI_REMOTE_WRITE, 0, 1, 0, &written, NULL));
	MUST(fi_mr_reg(pair[1].domain, region, 16, FI_REMOTE_READ, 0, 2, 0, &readable, NULL));
	memset(region, 0, sizeof(region));
	OK(fi_atomic(pair[0].ep, &value, 1, NULL, pair[0].peer, 9, 1, FI_UINT64, FI_SUM, &a));
	IS(FI_EINVAL, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_atomic(pair[0].ep, &value, 1, NULL, pair[0].peer, 0, 2, FI_UINT64, FI_SUM, &a));
	IS(FI_EACCES, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_fetch_atomic(pair[0].ep, &value, 1, NULL, &old, NULL, pair[0].peer, 0, 1, FI_UINT64,
			   FI_SUM, &a));
	IS(FI_EACCES, next(pair[0].tx, &entry, NULL, NULL));
	OK(fi_fetch_atomic(pair[0].ep, NULL, 1, NULL, &old, NULL, pair[0].peer, 0, 2, FI_UINT64,
			   FI_ATOMIC_READ, &a));
	done(pair[0].tx, &a);
	IS(-FI_EOPNOTSUPP, fi_atomic(pair[0].ep, &value, 1, NULL, pair[0].peer, 0, 1, FI_UINT64,
				     FI_CSWAP, &a));
	IS(-FI_EMSGSIZE, fi_atomic(pair[0].ep, many, 513, NULL, pair[0].peer, 0, 1, FI_UINT64,
				   FI_SUM, &a));
	/* Elements need not be aligned; injected operations have no completion. */
	OK(fi_inject_atomic(pair[0].ep, &value, 1, pair[0].peer, 3, 1, FI_UINT64, FI_SUM));
	CHECK(nothing(pair[0].tx));
	CHECK(region[3] == 1 && region[2] == 0);
	OK(fi_close(&written->fid));
	OK(fi_close(&readable->fid));
	pair_close(pair);
}

/* Lists of buffers that are cut at different places, here and there. */
static void lists(void)
{
	uint32_t from[6] = {1, 2, 3, 4, 5, 6}, with[6] = {10, 0, 30, 0, 50, 0}, old[6];
	uint32_t *memory = (uint32_t *)region;
	struct fi_ioc operand[2] = {{from, 4}, {from + 4, 2}};
	struct fi_ioc compare[3] = {{with, 1}, {with + 1, 0}, {with + 1, 5}};
	struct fi_ioc result[4] = {{old, 1}, {old + 1, 1}, {old + 2, 1}, {old + 3, 3}};
	struct fi_ioc five[5] = {{from, 1}, {from, 1}, {from, 1}, {from, 1}, {from, 1}};
	struct fi_rma_ioc there_ioc = {.addr = 4, .count = 6, .key = 1};
	struct fi_msg_atomic msg = {.msg_iov = operand, .iov_count = 2, .rma_iov = &there_ioc,
				    .rma_iov_count = 1, .datatype = FI_UINT32, .op = FI_SUM};
	struct end pair[2];
	struct fid_mr *mr;
	int a, i;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[1].domain, region, sizeof(region), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       1, 0, &mr, NULL));
	memset(region, 0, sizeof(region));
	OK(fi_atomicv(pair[0].ep, operand, NULL, 2, pair[0].peer, 4, 1, FI_UINT32, FI_SUM, &a));
	done(pair[0].tx, &a);
	OK(fi_fetch_atomicv(pair[0].ep, operand, NULL, 2, result, NULL, 4, pair[0].peer, 4, 1,
			    FI_UINT32, FI_PROD, &a));
	done(pair[0].tx, &a);
	for (i = 0; i < 6; i++)
		CHECK(old[i] == from[i] && memory[i + 1] == from[i] * from[i]);
	for (i = 0; i < 6; i += 2)
		memory[i + 1] = with[i];
	OK(fi_compare_atomicv(pair[0].ep, operand, NULL, 2, compare, NULL, 3, result, NULL, 4,
			      pair[0].peer, 4, 1, FI_UINT32, FI_CSWAP, &a));
	done(pair[0].tx, &a);
	for (i = 0; i < 6; i++) {
		CHECK(old[i] == (i % 2 ? from[i] * from[i] : with[i]));
		CHECK(memory[i + 1] == (i % 2 ? from[i] * from[i] : from[i]));
	}
	CHECK(memory[0] == 0 && memory[7] == 0);

	/* The same by the calls with a message. */
	memset(region, 0, sizeof(region));
	msg.addr = pair[0].peer;
	msg.context = &a;
	OK(fi_atomicmsg(pair[0].ep, &msg, FI_MORE));
	OK(fi_fetch_atomicmsg(pair[0].ep, &msg, result, NULL, 4, FI_INJECT));
	msg.op = FI_CSWAP_NE;
	OK(fi_compare_atomicmsg(pair[0].ep, &msg, compare, NULL, 3, result, NULL, 4,
				FI_DELIVERY_COMPLETE));
	for (i = 0; i < 3; i++)
		done(pair[0].tx, &a);
	for (i = 0; i < 6; i++)
		CHECK(old[i] == 2 * from[i] && memory[i + 1] == from[i]);

	/* Lists of different lengths, and too many parts. */
	there_ioc.count = 5;
	IS(-FI_EINVAL, fi_compare_atomicmsg(pair[0].ep, &msg, compare, NULL, 3, result, NULL, 4,
					    0));
	there_ioc.count = 6;
	IS(-FI_EINVAL, fi_compare_atomicmsg(pair[0].ep, &msg, compare, NULL, 1, result, NULL, 4,
					    0));
	IS(-FI_EINVAL, fi_compare_atomicmsg(pair[0].ep, &msg, compare, NULL, 3, result, NULL, 3,
					    0));
	msg.rma_iov_count = 2;
	IS(-FI_EINVAL, fi_compare_atomicmsg(pair[0].ep, &msg, compare, NULL, 3, result, NULL, 4,
					    0));
	IS(-FI_EINVAL, fi_atomicv(pair[0].ep, five, NULL, 5, pair[0].peer, 4, 1, FI_UINT32, FI_SUM,
				  &a));
	CHECK(nothing(pair[0].tx));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* The four queries agree with each other, and say no to what no type or operation is. */
static void queries(void)
{
	struct fi_atomic_attr attr;
	struct end end;
	size_t plain, fetch, compares;
	int type, op;

	end_open(&end, NULL);
	for (type = 0; type < FI_DATATYPE_LAST; type++) {
		for (op = 0; op < FI_ATOMIC_OP_LAST; op++) {
			enum fi_datatype t = (enum fi_datatype)type;
			enum fi_op o = (enum fi_op)op;
			bool swaps = op >= FI_CSWAP && op <= FI_MSWAP;
			int p = fi_atomicvalid(end.ep, t, o, &plain);
			int f = fi_fetch_atomicvalid(end.ep, t, o, &fetch);
			int c = fi_compare_atomicvalid(end.ep, t, o, &compares);

			CHECK((p && p == -FI_EOPNOTSUPP) || (!p && plain * sizes[type] == 4096));
			CHECK((f && f == -FI_EOPNOTSUPP) || (!f && fetch * sizes[type] == 4096));
			CHECK((c && c == -FI_EOPNOTSUPP) || (!c && compares * sizes[type] == 4096));
			CHECK(swaps ? p && f : c);
			CHECK(op == FI_ATOMIC_READ ? p && !f : p == f);
			IS(p, fi_query_atomic(end.domain, t, o, &attr, 0));
			IS(f, fi_query_atomic(end.domain, t, o, &attr, FI_FETCH_ATOMIC));
			CHECK(f || (attr.count == fetch && attr.size == sizes[type]));
			IS(c, fi_query_atomic(end.domain, t, o, &attr, FI_COMPARE_ATOMIC));
		}
	}
	IS(-FI_EOPNOTSUPP, fi_atomicvalid(end.ep, FI_DATATYPE_LAST, FI_SUM, &plain));
	IS(-FI_EOPNOTSUPP, fi_atomicvalid(end.ep, FI_UINT8, FI_ATOMIC_OP_LAST, &plain));
	IS(-FI_EINVAL, fi_query_atomic(end.domain, FI_UINT8, FI_SUM, &attr, FI_MULTICAST));
	IS(-FI_ENOSYS, fi_query_atomic(end.domain, FI_UINT8, FI_SUM, &attr, FI_TAGGED));
	end_close(&end);
}

/* Two ends count with one number of a third, and each value is seen once. */
static void together(void)
{
	enum { ROUNDS = 200 };
	static uint64_t old[2][ROUNDS];
	struct end pair[2], third;
	bool seen[2 * ROUNDS] = {false};
	uint64_t one = 1;
	struct fid_mr *mr;
	fi_addr_t to[2];
	int i, j;

	pair_open(pair, NULL);
	end_open(&third, NULL);
	memset(region, 0, sizeof(region));
	MUST(fi_mr_reg(third.domain, region, 8, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0, &mr,
		       NULL));
	for (j = 0; j < 2; j++)
		IS(1, fi_av_insert(pair[j].av, third.name, 1, &to[j], 0, NULL));
	for (i = 0; i < ROUNDS; i++)
		for (j = 0; j < 2; j++)
			OK(fi_fetch_atomic(pair[j].ep, &one, 1, NULL, &old[j][i], NULL, to[j], 0, 1,
					   FI_UINT64, FI_SUM, &old[j][i]));
	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < 2; j++) {
			done(pair[j].tx, &old[j][i]);
			CHECK(old[j][i] < 2 * ROUNDS && !seen[old[j][i]]);
			seen[old[j][i] % (2 * ROUNDS)] = true;
			/* Those of one end are executed in order. */
			CHECK(i == 0 || old[j][i] > old[j][i - 1]);
		}
	}
	CHECK(*(uint64_t *)region == 2 * ROUNDS);
	OK(fi_close(&mr->fid));
	end_close(&third);
	pair_close(pair);
}

static void largest(void)
{
	static uint8_t memory[4096], from[4097], old[4096];
	struct end pair[2];
	struct fid_mr *mr;
	int a;

	pair_open(pair, NULL);
	MUST(fi_mr_reg(pair[1].domain, memory, sizeof(memory), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       1, 0, &mr, NULL));
	fill(from, sizeof(from), 3);
	memset(memory, 0, sizeof(memory));
	OK(fi_inject_atomic(pair[0].ep, from, 4096, pair[0].peer, 0, 1, FI_UINT8, FI_BOR));
	memset(from, 0, sizeof(from)); /* the call has copied it */
	OK(fi_compare_atomic(pair[0].ep, from, 512, NULL, from, NULL, old, NULL, pair[0].peer, 0, 1,
			     FI_UINT64, FI_CSWAP_GT, &a));
	done(pair[0].tx, &a);
	CHECK(filled(memory, 4096, 3) && filled(old, 4096, 3));
	IS(-FI_EMSGSIZE, fi_inject_atomic(pair[0].ep, from, 4097, pair[0].peer, 0, 1, FI_UINT8,
					  FI_BOR));
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

void test_atomics(void)
{
	test("every atomic operation of every type", everything);
	test("atomic operations that are refused", refused);
	test("atomic operations on lists of buffers", lists);
	test("queries of atomic operations", queries);
	test("atomic operations of two ends on one number", together);
	test("the largest atomic operations", largest);
}
