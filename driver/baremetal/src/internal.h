/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SPFE_INTERNAL_H
#define SPFE_INTERNAL_H

#include <spfe/platform.h>
#include <spfe/spfe.h>

/* Value of every register once the device has left the bus. */
#define SPFE_GONE 0xffffffffU

/* Rings and lines are little-endian on every processor. */
static inline uint32_t spfe_le32_value(uint32_t value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap32(value);
#else
	return value;
#endif
}

static inline uint32_t spfe_low(uint64_t value)
{
	return (uint32_t)value;
}

static inline uint32_t spfe_high(uint64_t value)
{
	return (uint32_t)(value >> 32);
}

/* Issues a command through the latch and waits for the answer of the device. */
enum spfe_status spfe_command(struct spfe_device *device, enum spfe_command command,
			      uint32_t index);

/* Offset of a register in the block of a queue context. */
static inline uint32_t spfe_queue_register(const struct spfe_device *device, uint32_t context,
					   uint32_t offset)
{
	return device->queue_block + SPFE_QUEUE_BLOCK_SIZE + context * SPFE_QUEUE_BLOCK_STRIDE +
	       offset;
}

static inline uint32_t spfe_region_register(const struct spfe_device *device, uint32_t index,
					    uint32_t offset)
{
	return device->region_block + SPFE_REGION_BLOCK_SIZE + index * SPFE_REGION_BLOCK_STRIDE +
	       offset;
}

/* Computes the address {key, offset} of bytes. OUT_OF_BOUNDS: they are outside the region. */
enum spfe_status spfe_address(const struct spfe_region *region, const void *bytes, size_t length,
			      uint64_t *address);

/* Stages an entry with the flags in bits 15:0 of `flags`. The caller has checked for room. */
void spfe_stage(struct spfe_queue *queue, uint64_t word0, uint32_t low, uint32_t flags);

/* Reads the next completion without consuming it. False if there is none. */
bool spfe_peek(const struct spfe_queue *queue, uint32_t entry[4]);

/* Device time of that completion in ns, or 0 if the queue has no time stamps. */
uint64_t spfe_stamp(const struct spfe_queue *queue, uint32_t flags);

/* Disables the queue for the host after the device has violated the contract. */
void spfe_broken(struct spfe_queue *queue);

#endif
