/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the programs that test the calls of /dev/spfeN have in common. Each prints "ok NAME" or
 * "not ok NAME" for each check; the exit code is 1 if one failed.
 */
#ifndef SPFE_TEST_CALLS_H
#define SPFE_TEST_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/spfe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spfe/spfe_hw.h>

/* Bytes of a page of this machine. */
#define PAGE ((unsigned long)sysconf(_SC_PAGESIZE))
#define BOTH (SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE)

static int failed;
static const char *device;

static inline void check(const char *name, bool good)
{
	printf("%s %s\n", good ? "ok" : "not ok", name);
	failed |= !good;
}

/* Whether a call returns this errno, or 0 for success. */
static inline bool ends(int file, unsigned long call, void *argument, int error)
{
	int result = ioctl(file, call, argument) == 0 ? 0 : errno;

	if (result != error)
		printf("# call %lu: %s, not %s\n", call & 0xff, strerror(result), strerror(error));
	return result == error;
}

static inline int open_device(void)
{
	return open(device, O_RDWR | O_CLOEXEC);
}

static inline void *map(int file, size_t bytes, int protection, uint64_t offset)
{
	return mmap(NULL, bytes, protection, MAP_SHARED, file, (off_t)offset);
}

/* Whether a function returns true in a child without privilege. */
static inline bool as_nobody(bool (*run)(int file), int file)
{
	int status = 1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(setuid(65534) != 0 || !run(file));
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Fills in a transmit queue of virtual channel 0 whose rings are at the start of this region. */
static inline struct spfe_queue transmit_queue(uint32_t key, uint32_t event)
{
	uint64_t at = (uint64_t)key << 48;

	return (struct spfe_queue){
		.kind = SPFE_QUEUE_KIND_TX,
		.event = event,
		.sq_log2 = 6,
		.cq_log2 = 6,
		.lines = at,
		.sq = at + 128,
		.cq = at + 128 + 16 * 64,
		.stamps = at + 128 + 2 * 16 * 64,
	};
}

#endif
