/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The three hooks that the driver needs from a platform. The integrator implements them.
 *
 * Memory that the device accesses (rings, buffers) must be coherent: either the interconnect snoops
 * the caches, or the memory is mapped uncached.
 */
#ifndef SPFE_PLATFORM_H
#define SPFE_PLATFORM_H

#include <stdint.h>

/*
 * Register access: one 32-bit little-endian access at a byte offset. `registers` is the pointer
 * passed to spfe_open.
 */
uint32_t spfe_platform_read(void *registers, uint32_t offset);
void spfe_platform_write(void *registers, uint32_t offset, uint32_t value);

/*
 * Full fence: the device observes every earlier load and store before any later one (dsb sy on ARM,
 * fence iorw,iorw on RISC-V, mfence on x86).
 */
void spfe_platform_barrier(void);

/* Monotonic time in ns from an arbitrary start. The driver uses it only to bound its waits. */
uint64_t spfe_platform_time_ns(void);

#endif
