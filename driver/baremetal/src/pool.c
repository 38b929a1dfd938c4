// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A pool of equal buffers in static memory. Last in, first out, so buffers stay in the cache. */

#include "internal.h"

#define TAKEN 0xffffU

void spfe_pool_init(struct spfe_pool *pool, void *memory, uint32_t bytes, uint16_t *list,
		    uint16_t count)
{
	uint16_t i;

	*pool = (struct spfe_pool){.memory = memory, .bytes = bytes, .count = count, .list = list};
	/* list[i] names the free buffer after i. It is TAKEN for a buffer in use. */
	pool->free = 0;
	for (i = 0; i < count; i++)
		list[i] = (uint16_t)(i + 1 < count ? i + 1 : count);
}

void *spfe_pool_take(struct spfe_pool *pool)
{
	uint32_t taken = pool->free;

	if (taken >= pool->count)
		return NULL;
	pool->free = pool->list[taken];
	pool->list[taken] = TAKEN;
	return pool->memory + (size_t)taken * pool->bytes;
}

enum spfe_status spfe_pool_put(struct spfe_pool *pool, void *buffer)
{
	uintptr_t base = (uintptr_t)pool->memory, at = (uintptr_t)buffer;
	size_t index;

	if (at < base || (at - base) % pool->bytes != 0 || (at - base) / pool->bytes >= pool->count)
		return SPFE_STATUS_BAD_FIELD;
	index = (at - base) / pool->bytes;
	if (pool->list[index] != TAKEN)
		return SPFE_STATUS_BUSY;
	pool->list[index] = (uint16_t)pool->free;
	pool->free = (uint32_t)index;
	return SPFE_STATUS_OK;
}
