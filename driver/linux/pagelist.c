// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: page lists, which tell the device where the pages of a region are. A list that does not fit
 * into one page becomes a tree of tables of 4 KiB, if the device can read one. A list in one piece
 * would need as much contiguous memory: 4 MiB for a region of 2 GiB, which many kernels never have.
 *
 * A list is made before the device gets the region, and without a lock.
 */
#include <linux/slab.h>

#include "spfe_core.h"

#define SPFE_TABLE_BYTES (SPFE_PAGE_TABLE_ENTRIES * sizeof(__le64))

/* Receives a piece of a region that is contiguous on the bus. */
typedef void (*spfe_piece_fn)(void *context, dma_addr_t at, u64 bytes);

/* Calls `take` for every bus-contiguous piece of a region, in order. */
static void spfe_take_pieces(struct spfe_region *region, spfe_piece_fn take, void *context)
{
	struct scatterlist *entry;
	struct spfe_chunk *chunk;
	int i;

	if (region->mapped)
		for_each_sgtable_dma_sg(&region->table, entry, i)
			take(context, sg_dma_address(entry), sg_dma_len(entry));
	list_for_each_entry(chunk, &region->chunks, node)
		take(context, chunk->dma, chunk->size);
}

/* Layout of a region on the bus, summed up over its pieces. */
struct spfe_layout {
	u64 bits;	/* OR of the addresses and offsets of all pieces */
	u64 offset;
	u64 start;
	u64 end;	/* bus address after the last piece */
	bool one;	/* the whole region is contiguous */
};

static void spfe_layout_look(void *context, dma_addr_t at, u64 bytes)
{
	struct spfe_layout *layout = context;

	if (!layout->offset)
		layout->start = at;
	else if (at != layout->end)
		layout->one = false;
	layout->bits |= at | layout->offset;
	layout->offset += bytes;
	layout->end = at + bytes;
}

/* A walk over the tables of a list, which lie one after the other in chunks. */
struct spfe_walk {
	struct spfe_chunk *chunk;
	size_t at;
	size_t bytes;	/* of a table */
};

static void spfe_walk_start(struct spfe_walk *walk, struct spfe_region *region, size_t bytes)
{
	walk->chunk = list_first_entry(&region->list, struct spfe_chunk, node);
	walk->at = 0;
	walk->bytes = bytes;
}

/* Returns the next table and its bus address. The caller knows how many there are. */
static __le64 *spfe_walk_next(struct spfe_walk *walk, dma_addr_t *dma)
{
	struct spfe_chunk *chunk;
	size_t at;

	if (walk->at == walk->chunk->size) {
		walk->chunk = list_next_entry(walk->chunk, node);
		walk->at = 0;
	}
	chunk = walk->chunk;
	at = walk->at;
	walk->at += walk->bytes;
	*dma = chunk->dma + at;
	return chunk->cpu + at;
}

/* Fills tables with addresses, in order. */
struct spfe_filler {
	struct spfe_walk walk;
	u32 shift;
	u32 room;	/* entries left in `table` */
	__le64 *table;
};

static void spfe_fill(struct spfe_filler *filler, u64 address)
{
	dma_addr_t dma;

	if (!filler->room) {
		filler->table = spfe_walk_next(&filler->walk, &dma);
		filler->room = filler->walk.bytes / sizeof(*filler->table);
	}
	*filler->table++ = cpu_to_le64(address);
	filler->room--;
}

static void spfe_fill_piece(void *context, dma_addr_t at, u64 bytes)
{
	struct spfe_filler *filler = context;
	u64 done;

	for (done = 0; done < bytes; done += BIT_ULL(filler->shift))
		spfe_fill(filler, at + done);
}

/* Counts the tables of each level; `count` has room for one level more than there may be. */
static int spfe_count_tables(u64 entries, u32 levels, u64 *count)
{
	u64 tables = entries;
	u32 level;

	for (level = levels; level--;) {
		tables = DIV_ROUND_UP_ULL(tables, SPFE_PAGE_TABLE_ENTRIES);
		count[level] = tables;
	}
	return tables == 1 ? 0 : -ENOMEM;
}

/* The tables of all levels but the last hold the addresses of the tables of the next level. */
static int spfe_list_tree(struct spfe_region *region, u64 entries)
{
	u64 count[SPFE_PAGE_LEVELS_MAX], tables = 0, i;
	struct spfe_filler filler = { .shift = region->page_shift };
	struct spfe_walk below;
	dma_addr_t dma;
	u32 level;
	int err;

	region->levels = 1;
	do {
		if (region->levels == SPFE_PAGE_LEVELS_MAX)
			return -ENOMEM;
		err = spfe_count_tables(entries, ++region->levels, count);
	} while (err);
	for (level = 0; level < region->levels; level++)
		tables += count[level];
	err = spfe_chunks_alloc(region, &region->list, tables * SPFE_TABLE_BYTES);
	if (err)
		return err;
	spfe_walk_start(&filler.walk, region, SPFE_TABLE_BYTES);
	spfe_walk_start(&below, region, SPFE_TABLE_BYTES);
	spfe_walk_next(&below, &dma);
	region->base = dma;
	for (level = 1; level < region->levels; level++) {
		for (i = 0; i < count[level]; i++) {
			spfe_walk_next(&below, &dma);
			spfe_fill(&filler, dma);
		}
		/* The next level begins in a table of its own. */
		filler.room = 0;
	}
	spfe_take_pieces(region, spfe_fill_piece, &filler);
	return 0;
}

static int spfe_list_flat(struct spfe_region *region, u64 entries)
{
	struct spfe_filler filler = { .shift = region->page_shift };
	size_t bytes = entries * sizeof(__le64);
	struct spfe_chunk *chunk;

	if (entries > SZ_1G / sizeof(__le64))
		return -ENOMEM;
	chunk = spfe_chunk_alloc(region, bytes);
	if (!chunk)
		return -ENOMEM;
	list_add(&chunk->node, &region->list);
	region->base = chunk->dma;
	spfe_walk_start(&filler.walk, region, bytes);
	spfe_take_pieces(region, spfe_fill_piece, &filler);
	return 0;
}

/*
 * Makes what the device needs to find a region: the address of its memory, or a page list with the
 * largest page size that fits. Called without a lock.
 */
int spfe_region_describe(struct spfe_region *region)
{
	struct spfe_layout layout = { .one = true };
	u64 entries;

	spfe_take_pieces(region, spfe_layout_look, &layout);
	if (layout.one) {
		region->base = layout.start;
		return 0;
	}
	region->page_shift = min_t(u32, __ffs64(layout.bits), SPFE_PAGE_LOG2_MAX);
	entries = DIV_ROUND_UP_ULL(region->size, BIT_ULL(region->page_shift));
	if (entries <= SPFE_PAGE_TABLE_ENTRIES ||
	    !spfe_can(region->spfe, SPFE_CAPABILITY_PAGE_LEVELS))
		return spfe_list_flat(region, entries);
	return spfe_list_tree(region, entries);
}
