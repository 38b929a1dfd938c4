/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the driver needs of a platform: three hooks, which whoever integrates it writes.
 *
 * The memory the device reads and writes (rings, buffers) has to be coherent: either the interconnect snoops the caches,
 * or the memory is mapped uncached.
 */
#ifndef SPFE_PLATFORM_H
#define SPFE_PLATFORM_H

#include <stdint.h>

/* Register access: one 32-bit little-endian access at a byte offset; `registers` is what spfe_open was given. */
uint32_t spfe_platform_read(void *registers, uint32_t offset);
void spfe_platform_write(void *registers, uint32_t offset, uint32_t value);

/* Barrier: every load and store before it is seen by the device before any after it (dsb sy, fence iorw,iorw, mfence). */
void spfe_platform_barrier(void);

/* Time in nanoseconds since any moment; never goes back. Only bounded waits look at it. */
uint64_t spfe_platform_time_ns(void);

#endif
