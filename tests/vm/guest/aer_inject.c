/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Makes the kernel believe that a PCI Express device has reported an error. Needs a kernel with
 * CONFIG_PCIEAER_INJECT.
 *
 *	aer_inject ADDRESS correctable|nonfatal|fatal
 *
 * ADDRESS is DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, as sysfs names the device.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What /dev/aer_inject takes (drivers/pci/pcie/aer_inject.c; it has no header). */
struct injection {
	uint8_t bus, device, function;
	uint32_t uncorrectable, correctable;
	uint32_t header[4];
	uint32_t domain;
};

static const struct {
	const char *name;
	uint32_t uncorrectable, correctable;
} errors[] = {
	{ "correctable", 0, 1 << 0 },	/* receiver error */
	{ "nonfatal", 1 << 14, 0 },	/* completion timeout */
	{ "fatal", 1 << 18, 0 },	/* malformed packet */
};

int main(int argc, char **argv)
{
	unsigned int domain, bus, device, function, i;
	struct injection injection = { 0 };
	int file;

	if (argc != 3 ||
	    sscanf(argv[1], "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) {
		fprintf(stderr, "usage: aer_inject ADDRESS correctable|nonfatal|fatal\n");
		return 2;
	}
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (strcmp(argv[2], errors[i].name) == 0) {
			injection.uncorrectable = errors[i].uncorrectable;
			injection.correctable = errors[i].correctable;
		}
	}
	if (!injection.uncorrectable && !injection.correctable) {
		fprintf(stderr, "aer_inject: no error '%s'\n", argv[2]);
		return 2;
	}
	injection.domain = domain;
	injection.bus = bus;
	injection.device = device;
	injection.function = function;
	file = open("/dev/aer_inject", O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, &injection, sizeof(injection)) != sizeof(injection)) {
		perror("aer_inject: /dev/aer_inject");
		return 1;
	}
	return 0;
}
