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

void test_atomics(void)
{
	test("every atomic operation of every type", everything);
	test("atomic operations that are refused", refused);
}
