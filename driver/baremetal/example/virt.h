/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine: qemu-system-aarch64 -M virt,highmem=off. */
#ifndef VIRT_H
#define VIRT_H

#include <stdint.h>

void print(const char *text);
void print_number(uint64_t value);

/*
 * Finds functions with this vendor and device number on PCI bus 0, assigns an address to BAR 0 of
 * each and enables bus mastering. Stores their registers in `registers`. Returns how many it found,
 * at most `most`.
 */
uint32_t find_devices(uint16_t vendor, uint16_t device, void *registers[], uint32_t most);

#endif
