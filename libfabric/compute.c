/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arithmetic of atomic operations. Signed sums wrap, as those of processors do. */
#include <complex.h>
#include <string.h>

#include "compute.h"

static const size_t sizes[] = {
	[FI_INT8] = 1,
	[FI_UINT8] = 1,
	[FI_INT16] = 2,
	[FI_UINT16] = 2,
	[FI_INT32] = 4,
	[FI_UINT32] = 4,
	[FI_INT64] = 8,
	[FI_UINT64] = 8,
	[FI_FLOAT] = sizeof(float),
	[FI_DOUBLE] = sizeof(double),
	[FI_FLOAT_COMPLEX] = sizeof(float complex),
	[FI_DOUBLE_COMPLEX] = sizeof(double complex),
	[FI_LONG_DOUBLE] = sizeof(long double),
	[FI_LONG_DOUBLE_COMPLEX] = sizeof(long double complex),
};

size_t spfi_type_bytes(uint32_t datatype)
{
	return datatype < FI_DATATYPE_LAST ? sizes[datatype] : 0;
}

bool spfi_type_has(uint32_t datatype, uint32_t op)
{
	bool is_integer = datatype <= FI_UINT64;
	bool is_complex = datatype == FI_FLOAT_COMPLEX || datatype == FI_DOUBLE_COMPLEX ||
			  datatype == FI_LONG_DOUBLE_COMPLEX;

	if (!spfi_type_bytes(datatype))
		return false;
	switch (op) {
	case FI_BOR:
	case FI_BAND:
	case FI_BXOR:
	case FI_MSWAP:
		return is_integer;
	case FI_MIN:
	case FI_MAX:
	case FI_CSWAP_LE:
	case FI_CSWAP_LT:
	case FI_CSWAP_GE:
	case FI_CSWAP_GT:
		return !is_complex;
	default:
		return op < FI_ATOMIC_OP_LAST;
	}
}

/* One element: m is what is there, a the operand, c the value to compare with. */
#define COMMON(type)                                                                               \
	case FI_SUM:                                                                               \
		m = (type)(m + a);                                                                 \
		break;                                                                             \
	case FI_PROD:                                                                              \
		m = (type)(m * a);                                                                 \
		break;                                                                             \
	case FI_LOR:                                                                               \
		m = m != 0 || a != 0;                                                              \
		break;                                                                             \
	case FI_LAND:                                                                              \
		m = m != 0 && a != 0;                                                              \
		break;                                                                             \
	case FI_LXOR:                                                                              \
		m = (m != 0) != (a != 0);                                                          \
		break;                                                                             \
	case FI_ATOMIC_WRITE:                                                                      \
		m = a;                                                                             \
		break;                                                                             \
	case FI_CSWAP:                                                                             \
		m = c == m ? a : m;                                                                \
		break;                                                                             \
	case FI_CSWAP_NE:                                                                          \
		m = c != m ? a : m;                                                                \
		break

#define ORDERED                                                                                    \
	case FI_MIN:                                                                               \
		m = a < m ? a : m;                                                                 \
		break;                                                                             \
	case FI_MAX:                                                                               \
		m = a > m ? a : m;                                                                 \
		break;                                                                             \
	case FI_CSWAP_LE:                                                                          \
		m = c <= m ? a : m;                                                                \
		break;                                                                             \
	case FI_CSWAP_LT:                                                                          \
		m = c < m ? a : m;                                                                 \
		break;                                                                             \
	case FI_CSWAP_GE:                                                                          \
		m = c >= m ? a : m;                                                                \
		break;                                                                             \
	case FI_CSWAP_GT:                                                                          \
		m = c > m ? a : m;                                                                 \
		break

#define BITS(type)                                                                                 \
	case FI_BOR:                                                                               \
		m = (type)(m | a);                                                                 \
		break;                                                                             \
	case FI_BAND:                                                                              \
		m = (type)(m & a);                                                                 \
		break;                                                                             \
	case FI_BXOR:                                                                              \
		m = (type)(m ^ a);                                                                 \
		break;                                                                             \
	case FI_MSWAP:                                                                             \
		m = (type)((a & c) | (m & ~c));                                                    \
		break

#define ELEMENT(name, type, ...)                                                                   \
	static void name(uint32_t op, uint8_t *memory, const uint8_t *operand,                     \
			 const uint8_t *compare)                                                   \
	{                                                                                          \
		type m, a = 0, c = 0;                                                              \
                                                                                                   \
		memcpy(&m, memory, sizeof(m));                                                     \
		if (operand)                                                                       \
			memcpy(&a, operand, sizeof(a));                                            \
		if (compare)                                                                       \
			memcpy(&c, compare, sizeof(c));                                            \
		switch (op) {                                                                      \
			__VA_ARGS__;                                                               \
		default: /* ATOMIC_READ */                                                         \
			return;                                                                    \
		}                                                                                  \
		memcpy(memory, &m, sizeof(m));                                                     \
	}

#define INTEGER(name, type) ELEMENT(name, type, COMMON(type); ORDERED; BITS(type))
#define REAL(name, type) ELEMENT(name, type, COMMON(type); ORDERED)
#define COMPLEX(name, type) ELEMENT(name, type, COMMON(type))

INTEGER(element_i8, int8_t)
INTEGER(element_u8, uint8_t)
INTEGER(element_i16, int16_t)
INTEGER(element_u16, uint16_t)
INTEGER(element_i32, int32_t)
INTEGER(element_u32, uint32_t)
INTEGER(element_i64, int64_t)
INTEGER(element_u64, uint64_t)
REAL(element_f32, float)
REAL(element_f64, double)
REAL(element_f80, long double)
COMPLEX(element_c32, float complex)
COMPLEX(element_c64, double complex)
COMPLEX(element_c80, long double complex)

typedef void element(uint32_t op, uint8_t *memory, const uint8_t *operand, const uint8_t *compare);

static element *const elements[] = {
	[FI_INT8] = element_i8,
	[FI_UINT8] = element_u8,
	[FI_INT16] = element_i16,
	[FI_UINT16] = element_u16,
	[FI_INT32] = element_i32,
	[FI_UINT32] = element_u32,
	[FI_INT64] = element_i64,
	[FI_UINT64] = element_u64,
	[FI_FLOAT] = element_f32,
	[FI_DOUBLE] = element_f64,
	[FI_FLOAT_COMPLEX] = element_c32,
	[FI_DOUBLE_COMPLEX] = element_c64,
	[FI_LONG_DOUBLE] = element_f80,
	[FI_LONG_DOUBLE_COMPLEX] = element_c80,
};

void spfi_compute(uint32_t datatype, uint32_t op, size_t count, void *memory, const void *operand,
		  const void *compare, void *old)
{
	size_t bytes = spfi_type_bytes(datatype), i;

	for (i = 0; i < count; i++) {
		uint8_t *at = (uint8_t *)memory + i * bytes;

		if (old)
			memcpy((uint8_t *)old + i * bytes, at, bytes);
		elements[datatype](op, at, operand ? (const uint8_t *)operand + i * bytes : NULL,
				   compare ? (const uint8_t *)compare + i * bytes : NULL);
	}
}
