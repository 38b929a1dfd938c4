// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The emulated machine: serial port, timer and PCI bus, and the three hooks of the driver. */

#include "virt.h"

#include <spfe/platform.h>

#define UART_DATA ((volatile uint32_t *)0x09000000)
#define UART_FLAGS ((volatile uint32_t *)0x09000018)
#define UART_FULL (1U << 5)
#define CONFIGURATION 0x3f000000UL /* PCI configuration space: one page per function */
#define WINDOW 0x10000000UL /* address space for BARs */
#define FUNCTION_BYTES 0x1000UL
#define SLOTS 32
#define SLOT_FUNCTIONS 8

#define PCI_COMMAND 0x04
#define PCI_BAR0 0x10
#define COMMAND_MEMORY 0x2U
#define COMMAND_MASTER 0x4U
#define BAR_64 0x4U

void print(const char *text)
{
	for (; *text; text++) {
		while (*UART_FLAGS & UART_FULL)
			;
		*UART_DATA = (uint8_t)*text;
	}
}

void print_number(uint64_t value)
{
	char digits[21], *at = &digits[20];

	*at = 0;
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	print(at);
}

/* Called by start.S. */
void report_fault(uint64_t syndrome, uint64_t address);
void report_fault(uint64_t syndrome, uint64_t address)
{
	print("fault: syndrome ");
	print_number(syndrome);
	print(" at ");
	print_number(address);
	print("\n");
}

/* The compiler emits calls to these functions. */
void *memset(void *to, int value, unsigned long bytes);
void *memset(void *to, int value, unsigned long bytes)
{
	volatile uint8_t *at = to;

	while (bytes--)
		*at++ = (uint8_t)value;
	return to;
}

void *memcpy(void *to, const void *from, unsigned long bytes);
void *memcpy(void *to, const void *from, unsigned long bytes)
{
	volatile uint8_t *at = to;
	const uint8_t *source = from;

	while (bytes--)
		*at++ = *source++;
	return to;
}

static volatile uint32_t *configuration(uint32_t slot, uint32_t offset)
{
	return (volatile uint32_t *)(CONFIGURATION + slot * SLOT_FUNCTIONS * FUNCTION_BYTES +
				     offset);
}

uint32_t find_devices(uint16_t vendor, uint16_t device, void *registers[], uint32_t most)
{
	uint64_t place = WINDOW;
	uint32_t slot, found = 0;

	for (slot = 0; slot < SLOTS && found < most; slot++) {
		volatile uint32_t *bar = configuration(slot, PCI_BAR0);
		uint64_t size;

		if (*configuration(slot, 0) != ((uint32_t)device << 16 | vendor))
			continue;
		*bar = UINT32_MAX;
		size = ~(*bar & ~0xfU) + 1U;
		place = (place + size - 1) / size * size;
		*bar = (uint32_t)place;
		if (*bar & BAR_64)
			bar[1] = 0;
		*configuration(slot, PCI_COMMAND) = COMMAND_MEMORY | COMMAND_MASTER;
		registers[found++] = (void *)place;
		place += size;
	}
	return found;
}

uint32_t spfe_platform_read(void *registers, uint32_t offset)
{
	return *(volatile uint32_t *)((uint8_t *)registers + offset);
}

void spfe_platform_write(void *registers, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)((uint8_t *)registers + offset) = value;
}

void spfe_platform_barrier(void)
{
	__asm__ volatile("dsb sy" ::: "memory");
}

uint64_t spfe_platform_time_ns(void)
{
	uint64_t ticks, frequency;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	return ticks / frequency * 1000000000UL + ticks % frequency * 1000000000UL / frequency;
}
