/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lets each allocation of the kernel fail in turn, while a program uses the driver or a device is
 * bound to it. Needs a kernel with CONFIG_FAULT_INJECTION.
 *
 *	fail_nth client DEVICE		an open file that uses every call that takes memory
 *	fail_nth bind DRIVER ADDRESS STEP
 *					binds and unbinds a device; DRIVER is a directory in sysfs.
 *					Only each STEP-th allocation fails, because the debug kernel
 *					takes seconds to unbind
 *
 * Fails if anything fails without a failed allocation. Nothing may be left of a failed attempt: one
 * without a failure must work afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/spfe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <spfe/spfe_hw.h>

#define BOTH (SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE)
#define BYTES 65536UL
/* More than any of these paths can need: a kernel that never gets there does not count down. */
#define NTH_MAX 20000

static int nth_file;
static unsigned char *memory;

/* The nth allocation of this thread from now on fails; 0: none. */
static bool nth_set(unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	return pwrite(nth_file, text, length, 0) == length;
}

/* How many allocations are left until one fails; 0 if one has failed. */
static unsigned int nth_left(void)
{
	char text[16] = "";

	return pread(nth_file, text, sizeof(text) - 1, 0) > 0 ? strtoul(text, NULL, 10) : 0;
}

static bool touch(int file, size_t bytes, int protection, uint64_t offset)
{
	volatile unsigned char *at =
		mmap(NULL, bytes, protection, MAP_SHARED, file, (off_t)offset);

	if (at == MAP_FAILED)
		return false;
	(void)at[bytes - 1];
	/* Even this takes memory. The mapping would keep the file open; only one allocation fails. */
	return munmap((void *)at, bytes) == 0 || munmap((void *)at, bytes) == 0;
}

static bool uses(int file, int event_file)
{
	struct spfe_info info;
	struct spfe_register wish = {
		.addr = (uintptr_t)memory, .size = BYTES, .access = BOTH };
	struct spfe_alloc alloc = { .size = BYTES, .access = BOTH };
	struct spfe_event event = { .eventfd = event_file };
	struct spfe_queue queue = { .kind = SPFE_QUEUE_KIND_TX, .sq_log2 = 6, .cq_log2 = 6 };
	struct spfe_index index = { 0 };
	struct spfe_key key = { 0 };
	uint64_t at;

	if (ioctl(file, SPFE_IOC_INFO, &info) || ioctl(file, SPFE_IOC_REGISTER, &wish) ||
	    ioctl(file, SPFE_IOC_ALLOC, &alloc) || ioctl(file, SPFE_IOC_EVENT_CREATE, &event))
		return false;
	at = (uint64_t)alloc.key << 48;
	queue.event = event.event;
	queue.lines = at;
	queue.sq = at + 128;
	queue.cq = queue.sq + 16 * 64;
	queue.stamps = queue.cq + 16 * 64;
	if (ioctl(file, SPFE_IOC_QUEUE_CREATE, &queue))
		return false;
	if (!touch(file, BYTES, PROT_READ | PROT_WRITE, alloc.offset) ||
	    !touch(file, info.counts_bytes, PROT_READ, info.counts_offset))
		return false;
	index.index = event.event;
	key.key = wish.key;
	return !ioctl(file, SPFE_IOC_WAKE, &index) && !ioctl(file, SPFE_IOC_UNREGISTER, &key);
}

static bool client(const char *device)
{
	int event_file = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	int file = open(device, O_RDWR | O_CLOEXEC);
	bool good = event_file >= 0 && file >= 0 && uses(file, event_file);
	int error = errno;

	if (file >= 0)
		close(file);
	if (event_file >= 0)
		close(event_file);
	errno = error;
	return good;
}

static bool write_to(const char *directory, const char *name, const char *text)
{
	char path[512];
	bool good;
	int file, error;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	good = write(file, text, strlen(text)) == (ssize_t)strlen(text);
	error = errno;
	close(file);
	errno = error;
	return good;
}

static bool bound(const char *driver, const char *address)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", driver, address);
	return access(path, F_OK) == 0;
}

static bool attempt(char **words)
{
	if (strcmp(words[0], "client") == 0)
		return client(words[1]);
	return write_to(words[1], "bind", words[2]);
}

/* Undoes an attempt. Not a part of it, so that no allocation fails in it. */
static bool undo(char **words)
{
	if (strcmp(words[0], "client") == 0 || !bound(words[1], words[2]))
		return true;
	return write_to(words[1], "unbind", words[2]);
}

static bool must(bool good, const char *what, unsigned int nth)
{
	if (!good)
		printf("allocation %u: %s: %s\n", nth, what, strerror(errno));
	return good;
}

int main(int argc, char **argv)
{
	unsigned int nth, left, step = 1, tries = 0, refused = 0;
	bool good;

	if (argc < 3 || argc != (strcmp(argv[1], "bind") ? 3 : 5)) {
		fprintf(stderr, "usage: fail_nth client DEVICE | bind DRIVER ADDRESS STEP\n");
		return 2;
	}
	nth_file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (nth_file < 0 || memory == MAP_FAILED) {
		perror("fail_nth: this kernel injects no faults, or memory");
		return 2;
	}
	if (argc == 5)
		step = strtoul(argv[4], NULL, 10);
	for (nth = 1; step && nth < NTH_MAX; nth += step) {
		if (!nth_set(nth))
			return !must(false, "cannot be chosen", nth);
		good = attempt(argv + 1);
		left = nth_left();
		nth_set(0);
		if (!must(undo(argv + 1), "what succeeded cannot be undone", nth))
			return 1;
		if (left) {
			printf("%u allocations failed, %u of them refused the attempt\n", tries,
			       refused);
			return !must(good && refused, "nothing failed, but it does not work", nth);
		}
		tries++;
		refused += !good;
		if (argc == 3 && !must(attempt(argv + 1), "does not work afterwards", nth))
			return 1;
	}
	printf("more than %u allocations\n", nth);
	return 1;
}
