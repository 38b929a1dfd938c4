/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checks that the device gets the pages of the program itself. Registers memory whose pages are
 * scattered, looks up their physical addresses in /proc/self/pagemap and compares them with the
 * bus addresses that the driver gave the device (debugfs, pages). Without IOMMU and bounce buffers,
 * bus addresses are physical addresses.
 *
 *	zero_copy DEVICE PAGES_FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/spfe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <spfe/spfe_hw.h>

#define PAGES 64
#define PRESENT (1ULL << 63)
#define FRAME ((1ULL << 55) - 1)

static void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Looks up the physical addresses of pages. */
static void look_up(const unsigned char *memory, long page, uint64_t *physical)
{
	int file = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;

	for (int i = 0; i < PAGES; i++) {
		off_t at = (off_t)(((uintptr_t)memory / (size_t)page + (size_t)i) * sizeof(entry));

		if (file < 0 || pread(file, &entry, sizeof(entry), at) != sizeof(entry))
			die("pagemap");
		if (!(entry & PRESENT) || !(entry & FRAME)) {
			printf("page %d has no address: not root?\n", i);
			exit(1);
		}
		physical[i] = (entry & FRAME) * (uint64_t)page;
	}
	close(file);
}

int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE);
	uint64_t physical[PAGES], bus;
	unsigned int key, length;
	struct spfe_register region = {.access = SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE};
	unsigned char *memory;
	int device, found = 0, jumps = 0;
	FILE *list;

	if (argc != 3) {
		fprintf(stderr, "usage: zero_copy DEVICE PAGES_FILE\n");
		return 2;
	}
	device = open(argv[1], O_RDWR);
	if (device < 0)
		die(argv[1]);
	memory = mmap(NULL, (size_t)(PAGES * page), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	/* Touch the pages out of order, so that they are scattered in physical memory. */
	for (int i = 0; i < PAGES; i++)
		memory[(size_t)(i * 37 % PAGES) * (size_t)page] = 1;
	region.addr = (uintptr_t)memory;
	region.size = (uint64_t)(PAGES * page);
	if (ioctl(device, SPFE_IOC_REGISTER, &region) != 0)
		die("SPFE_IOC_REGISTER");
	look_up(memory, page, physical);
	for (int i = 1; i < PAGES; i++)
		jumps += physical[i] != physical[i - 1] + (uint64_t)page;
	list = fopen(argv[2], "r");
	if (!list)
		die(argv[2]);
	while (fscanf(list, "%x %llx %u", &key, (unsigned long long *)&bus, &length) == 3)
		for (; key == region.key && length;
		     length -= (unsigned int)page, bus += (uint64_t)page, found++)
			if (found >= PAGES || physical[found] != bus) {
				printf("page %d is at %#llx, the device was told %#llx\n", found,
				       found < PAGES ? (unsigned long long)physical[found] : 0ULL,
				       (unsigned long long)bus);
				return 1;
			}
	printf("%d pages, %d of them not behind the one before\n", found, jumps);
	return !(found == PAGES && jumps > 0);
}
