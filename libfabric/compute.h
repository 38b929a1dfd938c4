/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The arithmetic of atomic operations. */
#ifndef SPFI_COMPUTE_H
#define SPFI_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fi_domain.h>

/* Bytes of a data type, 0 for one that is not supported. */
size_t spfi_type_bytes(uint32_t datatype);

/* Whether an operation exists for a data type. */
bool spfi_type_has(uint32_t datatype, uint32_t op);

/* Whether an operation compares first, and so takes a second operand. */
static inline bool spfi_op_compares(uint32_t op)
{
	return op >= FI_CSWAP && op <= FI_MSWAP;
}

/*
 * Applies an operation to count elements at memory, which need not be aligned. The old values go to
 * old if it is not NULL. The operation must exist for the type.
 */
void spfi_compute(uint32_t datatype, uint32_t op, size_t count, void *memory, const void *operand,
		  const void *compare, void *old);

#endif
