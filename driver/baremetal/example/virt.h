/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine: qemu-system-aarch64 -M virt,highmem=off. */
#ifndef VIRT_H
#define VIRT_H

#include <stdint.h>

void print(const char *text);
void print_number(uint64_t value);

/*
 * Looks for functions with this vendor and device number on PCI bus 0, gives each a place for BAR 0 and lets it access
 * memory. Returns how many there are, `most` at most; their registers in `registers`.
 */
uint32_t find_devices(uint16_t vendor, uint16_t device, void *registers[], uint32_t most);

#endif
