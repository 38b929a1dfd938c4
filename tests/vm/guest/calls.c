/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tests every call of /dev/spfeN with valid and invalid arguments.
 *
 *	calls DEVICE
 *	calls DEVICE busy	a queue that does not stop until `queues` of spfe_busy.ko is 0
 *
 * Virtual channel 0 of port 0 must be free. pairs.c tests the calls of queue pairs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "calls.h"

/* More than there can be of anything. */
#define MANY 10000

static void queries(int file)
{
	struct spfe_info info;
	struct spfe_time time;
	struct spfe_port port = { .port = 0 };
	struct spfe_statistics statistics = { .queue = 0 };

	check("INFO", ends(file, SPFE_IOC_INFO, &info, 0) &&
			      info.uapi_version == SPFE_UAPI_VERSION && info.ports && info.queues &&
			      info.events && info.counts_bytes == PAGE &&
			      info.chain_max >= SPFE_CHAIN_MAX);
	check("the longest chain of the device is known",
	      info.contract_version < 0x10002 ? info.chain_max == SPFE_CHAIN_MAX :
						info.chain_max > SPFE_CHAIN_MAX);
	check("TIME", ends(file, SPFE_IOC_TIME, &time, 0) && time.before_ns <= time.after_ns);
	check("PORT", ends(file, SPFE_IOC_PORT, &port, 0) && port.vcs);
	port = (struct spfe_port){ .port = info.ports };
	check("PORT with a number that does not exist", ends(file, SPFE_IOC_PORT, &port, ENOENT));
	port = (struct spfe_port){ .node = 1 };
	check("PORT with a node where there is none", ends(file, SPFE_IOC_PORT, &port, ENOENT));
	check("STATISTICS", ends(file, SPFE_IOC_STATISTICS, &statistics, 0));
	statistics = (struct spfe_statistics){ .queue = info.queues };
	check("STATISTICS of a queue that does not exist",
	      ends(file, SPFE_IOC_STATISTICS, &statistics, ENOENT));
	check("unknown call", ends(file, _IO(SPFE_IOC_MAGIC, 0x7f), NULL, ENOTTY));
	check("bad address", ends(file, SPFE_IOC_INFO, (void *)8, EFAULT));
}

/* Whether reading or setting a MIB item returns this errno. Stores the value read in `value`. */
static bool mib_is(int file, struct spfe_mib wish, int error, uint64_t *value)
{
	bool good = ends(file, SPFE_IOC_MIB, &wish, error);

	if (value)
		*value = wish.value;
	return good;
}

/* Whether the device refuses to set an item with this status. */
static bool mib_refused(int file, uint32_t item, uint32_t element, uint64_t value, uint32_t status)
{
	struct spfe_mib wish = {
		.item = item, .element = element, .value = value, .flags = SPFE_MIB_SET};
	bool good = ends(file, SPFE_IOC_MIB, &wish, EREMOTEIO);

	if (wish.status != status)
		printf("# status %u, not %u\n", wish.status, status);
	return good && wish.status == status;
}

/* Tests the MIB of port 0, with the priority of a virtual channel as the item. */
static void management(int file)
{
	const uint32_t item = SPFE_MIB_ITEM_PRIORITY;
	struct spfe_port_set start = { .what = SPFE_PORT_LINK_START, .link_start = 1 };
	struct spfe_info info;
	struct spfe_port port = { .port = 0 };
	uint64_t before = 0, first = 0, after = 0;
	uint32_t element;
	int reader = open(device, O_RDONLY | O_CLOEXEC);

	ioctl(file, SPFE_IOC_INFO, &info);
	ioctl(file, SPFE_IOC_PORT, &port);
	check("MIB with unknown flags",
	      mib_is(file, (struct spfe_mib){.flags = 0x80}, EINVAL, NULL));
	check("MIB with a reserved field set",
	      mib_is(file, (struct spfe_mib){.reserved = 1}, EINVAL, NULL));
	check("MIB with a status", mib_is(file, (struct spfe_mib){ .status = 1 }, EINVAL, NULL));
	if (!(info.capability & SPFE_CAPABILITY_MIB)) {
		check("MIB", mib_is(file, (struct spfe_mib){ .item = item }, EOPNOTSUPP, NULL));
		return;
	}
	element = port.vcs - 1;
	check("MIB",
	      mib_is(file, (struct spfe_mib){.item = item, .element = element}, 0, &before) &&
		      before < 16);
	check("MIB of another channel",
	      mib_is(file, (struct spfe_mib){.item = item}, 0, &first) && first < 16);
	check("MIB set", mib_is(file,
				(struct spfe_mib){.item = item,
						  .element = element,
						  .value = before ^ 5,
						  .flags = SPFE_MIB_SET},
				0, NULL) &&
				 mib_is(file, (struct spfe_mib){.item = item, .element = element},
					0, &after) &&
				 after == (before ^ 5));
	check("MIB of another channel is unchanged",
	      mib_is(file, (struct spfe_mib){ .item = item }, 0, &after) && after == first);
	check("MIB set above the limit",
	      mib_refused(file, item, element, 16, SPFE_STATUS_BAD_FIELD));
	check("MIB set of a read-only item",
	      mib_refused(file, SPFE_MIB_ITEM_HAS_CREDIT, 0, 1, SPFE_STATUS_BAD_OPCODE));
	check("a refused MIB set changes nothing",
	      mib_is(file, (struct spfe_mib){.item = item, .element = element}, 0, &after) &&
		      after == (before ^ 5));
	check("PORT_SET of something else", ends(file, SPFE_IOC_PORT_SET, &start, 0));
	check("PORT_SET keeps the priority that was set in the MIB",
	      mib_is(file, (struct spfe_mib){.item = item, .element = element}, 0, &after) &&
		      after == (before ^ 5));
	check("MIB set back", mib_is(file,
				     (struct spfe_mib){.item = item,
						       .element = element,
						       .value = before,
						       .flags = SPFE_MIB_SET},
				     0, NULL));
	check("MIB set by an administrator on a read-only file",
	      mib_is(reader, (struct spfe_mib){.item = item, .value = first, .flags = SPFE_MIB_SET},
		     0, NULL));
	check("MIB of an unused item", mib_is(file, (struct spfe_mib){ .item = 63 }, ENOENT, NULL));
	check("MIB of an item out of range",
	      mib_is(file, (struct spfe_mib){.item = UINT32_MAX}, ENOENT, NULL));
	check("MIB of an element out of range",
	      mib_is(file, (struct spfe_mib){.item = item, .element = 4096}, ENOENT, NULL));
	check("MIB of a port out of range",
	      mib_is(file, (struct spfe_mib){.item = item, .port = info.ports}, ENOENT, NULL));
	check("MIB set of a port out of range",
	      mib_is(file,
		     (struct spfe_mib){.item = item, .port = info.ports, .flags = SPFE_MIB_SET},
		     ENOENT, NULL));
	close(reader);
}

static bool reads_ports_only(int file)
{
	const uint32_t item = SPFE_MIB_ITEM_PRIORITY;
	struct spfe_port_set start = { .what = SPFE_PORT_LINK_START, .link_start = 1 };
	struct spfe_port port = { .port = 0 };

	return ends(file, SPFE_IOC_PORT, &port, 0) && ends(file, SPFE_IOC_PORT_SET, &start, EPERM) &&
	       mib_is(file, (struct spfe_mib){.item = item}, 0, NULL) &&
	       mib_is(file, (struct spfe_mib){.item = item, .flags = SPFE_MIB_SET}, EPERM, NULL);
}

/* A file opened for reading may ask; it may neither use the device nor map anything. */
static void reading(int file)
{
	int reader = open(device, O_RDONLY | O_CLOEXEC);
	void *own = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct spfe_register memory = {.addr = (uintptr_t)own, .size = PAGE, .access = BOTH};
	struct spfe_alloc alloc = { .size = PAGE, .access = BOTH };
	struct spfe_event event = { .eventfd = -1 };
	struct spfe_queue queue = { .kind = SPFE_QUEUE_KIND_TX };
	struct spfe_statistics statistics = { .queue = 0 };
	struct spfe_port port = { .port = 0 };
	struct spfe_info info;
	struct spfe_time time;

	check("reader: INFO", ends(reader, SPFE_IOC_INFO, &info, 0));
	check("reader: TIME", ends(reader, SPFE_IOC_TIME, &time, 0));
	check("reader: PORT", ends(reader, SPFE_IOC_PORT, &port, 0));
	check("reader: STATISTICS", ends(reader, SPFE_IOC_STATISTICS, &statistics, 0));
	check("reader: REGISTER", ends(reader, SPFE_IOC_REGISTER, &memory, EACCES));
	check("reader: ALLOC", ends(reader, SPFE_IOC_ALLOC, &alloc, EACCES));
	check("reader: EVENT_CREATE", ends(reader, SPFE_IOC_EVENT_CREATE, &event, EACCES));
	check("reader: QUEUE_CREATE", ends(reader, SPFE_IOC_QUEUE_CREATE, &queue, EACCES));
	check("reader: mmap of the counts",
	      map(reader, PAGE, PROT_READ, info.counts_offset) == MAP_FAILED && errno == EACCES);
	check("reader: mmap of the doorbell",
	      map(reader, PAGE, PROT_READ, info.doorbell_offset) == MAP_FAILED && errno == EACCES);
	check("reader: only an administrator changes ports", as_nobody(reads_ports_only, reader));
	check("writer: only an administrator changes ports", as_nobody(reads_ports_only, file));
	munmap(own, PAGE);
	close(reader);
}

static void port_settings(int file)
{
	struct spfe_port_set set = { .what = SPFE_PORT_PRIORITY, .vc = 0, .priority = 7 };
	struct spfe_port port = { .port = 0 };
	int reader = open(device, O_RDONLY | O_CLOEXEC);

	check("PORT_SET", ends(file, SPFE_IOC_PORT_SET, &set, 0) &&
	      ends(file, SPFE_IOC_PORT, &port, 0) && (port.priority[0] & 0xf) == 7);
	set.priority = 16;
	check("PORT_SET with priority 16", ends(file, SPFE_IOC_PORT_SET, &set, EINVAL));
	set.priority = 0;
	check("PORT_SET back", ends(file, SPFE_IOC_PORT_SET, &set, 0));
	set.vc = 32;
	check("PORT_SET of channel 32", ends(file, SPFE_IOC_PORT_SET, &set, EINVAL));
	set.what = 0x100;
	check("PORT_SET with unknown bits", ends(file, SPFE_IOC_PORT_SET, &set, EINVAL));
	set = (struct spfe_port_set){ .what = SPFE_PORT_PRIORITY };
	check("PORT_SET by an administrator on a read-only file",
	      ends(reader, SPFE_IOC_PORT_SET, &set, 0));
	close(reader);
}

/* A page of a file that the process can never write: a pin for writing would fail. */
static void *shared_read_only(void)
{
	int memory = open("/tmp/shared", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int reader = open("/tmp/shared", O_RDONLY | O_CLOEXEC);
	void *at = MAP_FAILED;

	if (memory >= 0 && reader >= 0 && ftruncate(memory, PAGE) == 0)
		at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reader, 0);
	close(reader);
	close(memory);
	return at;
}

/* Whether REGISTER with these arguments returns this errno. Unregisters the memory again. */
static bool registers(int file, uint64_t address, uint64_t size, uint32_t access, uint32_t flags,
		      int error)
{
	struct spfe_register wish = {
		.addr = address, .size = size, .access = access, .flags = flags};
	struct spfe_key key;

	if (!ends(file, SPFE_IOC_REGISTER, &wish, error))
		return false;
	key = (struct spfe_key){ .key = wish.key };
	return error || ends(file, SPFE_IOC_UNREGISTER, &key, 0);
}

/* Whether REGISTER takes memory that the device may write to already. */
static bool twice(int file, uint64_t address, uint64_t size)
{
	struct spfe_register wish = { .addr = address, .size = size, .access = BOTH };
	struct spfe_key key;
	bool works;

	if (!ends(file, SPFE_IOC_REGISTER, &wish, 0))
		return false;
	key = (struct spfe_key){ .key = wish.key };
	works = registers(file, address + PAGE, size - PAGE, BOTH, 0, 0);
	return ends(file, SPFE_IOC_UNREGISTER, &key, 0) && works;
}

static uint64_t memory_bytes(void)
{
	struct sysinfo machine;

	sysinfo(&machine);
	return (uint64_t)machine.totalram * machine.mem_unit;
}

static void memory(int file)
{
	struct spfe_alloc alloc = { .size = 5000, .access = BOTH };
	struct spfe_key key = { .key = 0xfff };
	unsigned char *own =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *only = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uintptr_t)own;
	unsigned char *mapped;

	check("REGISTER", registers(file, at, 4 * PAGE, BOTH, 0, 0));
	check("REGISTER of memory that is registered", twice(file, at, 4 * PAGE));
	check("REGISTER with read access of read-only memory",
	      registers(file, (uintptr_t)only, PAGE, SPFE_ACCESS_LOCAL_READ, 0, 0));
	check("REGISTER with read access of a read-only file",
	      registers(file, (uintptr_t)shared_read_only(), PAGE, SPFE_ACCESS_LOCAL_READ, 0, 0));
	check("REGISTER with write access of read-only memory",
	      registers(file, (uintptr_t)only, PAGE, BOTH, 0, EFAULT));
	check("REGISTER of 0 bytes", registers(file, at, 0, BOTH, 0, EINVAL));
	check("REGISTER of an unaligned address", registers(file, at + 8, PAGE, BOTH, 0, EINVAL));
	check("REGISTER of half a page", registers(file, at, PAGE / 2, BOTH, 0, EINVAL));
	check("REGISTER without access", registers(file, at, PAGE, 0, 0, EINVAL));
	check("REGISTER with unknown access", registers(file, at, PAGE, 0x10000, 0, EINVAL));
	check("REGISTER with flags", registers(file, at, PAGE, BOTH, 1, EINVAL));
	check("REGISTER of unmapped memory", registers(file, PAGE, PAGE, BOTH, 0, EFAULT));
	check("REGISTER beyond the address space",
	      registers(file, UINT64_MAX - PAGE + 1, 2 * PAGE, BOTH, 0, EINVAL));
	check("REGISTER of more than the memory of the machine",
	      registers(file, at, 2 * memory_bytes() / PAGE * PAGE, BOTH, 0, ENOMEM));
	check("UNREGISTER of an unknown key", ends(file, SPFE_IOC_UNREGISTER, &key, ENOENT));
	check("ALLOC", ends(file, SPFE_IOC_ALLOC, &alloc, 0) && alloc.size == 2 * PAGE);
	check("mmap beyond the allocation",
	      map(file, 3 * PAGE, PROT_READ, alloc.offset) == MAP_FAILED);
	check("mmap at offset 0", map(file, PAGE, PROT_READ, 0) == MAP_FAILED);
	check("mmap as a private mapping",
	      mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, file, (off_t)alloc.offset) == MAP_FAILED);
	mapped = map(file, PAGE, PROT_READ | PROT_WRITE, alloc.offset + PAGE);
	check("mmap of the second page", mapped != MAP_FAILED && mapped[17] == 0);
	munmap(mapped, PAGE);
	key.key = alloc.key;
	check("UNREGISTER", ends(file, SPFE_IOC_UNREGISTER, &key, 0));
	check("mmap after UNREGISTER", map(file, PAGE, PROT_READ, alloc.offset) == MAP_FAILED);
	alloc = (struct spfe_alloc){ .size = 0, .access = BOTH };
	check("ALLOC of 0 bytes", ends(file, SPFE_IOC_ALLOC, &alloc, EINVAL));
	alloc = (struct spfe_alloc){ .size = 1ULL << 46, .access = BOTH };
	check("ALLOC of too much memory", ends(file, SPFE_IOC_ALLOC, &alloc, ENOMEM));
	munmap(own, 4 * PAGE);
	munmap(only, PAGE);
}

/* RLIMIT_MEMLOCK applies without privilege. */
static bool is_limited(int file)
{
	struct rlimit small = { .rlim_cur = 2 * PAGE, .rlim_max = 2 * PAGE };
	struct spfe_alloc alloc = { .size = 8 * PAGE, .access = BOTH };

	setrlimit(RLIMIT_MEMLOCK, &small);
	return ends(file, SPFE_IOC_ALLOC, &alloc, ENOMEM);
}

static void limit(void)
{
	struct spfe_alloc alloc = { .size = PAGE, .access = BOTH };
	int file = open_device();

	check("RLIMIT_MEMLOCK", as_nobody(is_limited, file));
	check("a file serves one process only", ends(file, SPFE_IOC_ALLOC, &alloc, EPERM));
	close(file);
}

/* An administrator gets half of the memory as driver memory, in many regions. */
static void half_of_the_memory(void)
{
	struct spfe_alloc alloc = { .access = BOTH };
	unsigned long long most = memory_bytes() / 2, got = 0;
	int file = open_device(), error = 0;

	alloc.size = most / 16 / PAGE * PAGE;
	while (!error && got <= most) {
		if (ioctl(file, SPFE_IOC_ALLOC, &alloc))
			error = errno;
		else
			got += alloc.size;
	}
	printf("# %llu of %llu bytes, then %s\n", got, most, strerror(error));
	check("driver memory ends at half of the memory", error == ENOMEM && got <= most);
	close(file);
	file = open_device();
	check("closing the file gives it back", ends(file, SPFE_IOC_ALLOC, &alloc, 0));
	close(file);
}

/* How many objects a user got, and why not more. */
struct share {
	uint32_t files;
	uint32_t regions;
	int files_errno;
	int regions_errno;
};

/* Opens files, and registers pages with the first one, until it gets no more. */
static struct share take_all(void)
{
	/* A page for each region: kernels that look for errors of DMA allow few mappings of one. */
	void *pages = mmap(NULL, MANY * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	struct spfe_register memory = {.addr = (uintptr_t)pages, .size = PAGE, .access = BOTH};
	struct share share = { 0 };
	int file, first = -1;

	while ((file = open_device()) >= 0 && share.files < MANY) {
		if (share.files++ == 0)
			first = file;
	}
	share.files_errno = errno;
	while (ioctl(first, SPFE_IOC_REGISTER, &memory) == 0 && share.regions < MANY) {
		share.regions++;
		memory.addr += PAGE;
	}
	share.regions_errno = errno;
	return share;
}

/*
 * Nobody gets half of all domains and regions, root the rest. One domain and eight regions are left
 * for the network interface. The caller has one domain. The parent has the objects of its child
 * until the child ends.
 */
static void quotas(int file)
{
	struct share nobody = { 0 }, root = { 0 };
	struct spfe_info info;
	int done[2], end[2], status;
	pid_t child;

	ioctl(file, SPFE_IOC_INFO, &info);
	if (pipe(done) || pipe(end) || chmod(device, 0666)) {
		check("quotas: preparation", false);
		return;
	}
	fflush(stdout);
	child = fork();
	if (child == 0) {
		close(end[1]);
		if (setuid(65534) != 0)
			_exit(1);
		nobody = take_all();
		if (write(done[1], &nobody, sizeof(nobody)) != sizeof(nobody))
			_exit(1);
		_exit(read(end[0], &status, 1) != 0);
	}
	close(end[0]);
	close(done[1]);
	check("quotas: a user takes all", read(done[0], &nobody, sizeof(nobody)) == sizeof(nobody));
	check("quotas: regions of a user",
	      nobody.regions == info.regions / 2 && nobody.regions_errno == EDQUOT);
	fflush(stdout);
	if (fork() == 0) {
		root = take_all();
		check("quotas: domains of a user", nobody.files_errno == EDQUOT &&
		      nobody.files == (nobody.files + root.files + 2) / 2);
		check("quotas: domains in all", root.files && root.files_errno == ENOSPC);
		check("quotas: regions in all",
		      root.regions + nobody.regions == info.regions - 8 &&
			      root.regions_errno == ENOSPC);
		check("quotas: the kernel gets its share", !system("ip link set spfe0 up"));
		check("quotas: and gives it back", !system("ip link set spfe0 down"));
		fflush(stdout);
		_exit(failed);
	}
	failed |= wait(&status) < 0 || status;
	close(end[1]);
	failed |= waitpid(child, &status, 0) != child || status;
	close(done[0]);
	chmod(device, 0600);
}

/* Whether somebody maps exactly this page of registers, as far as the kernel tells. */
static bool is_mapped(unsigned long long page)
{
	FILE *list = fopen("/sys/kernel/debug/x86/pat_memtype_list", "r");
	unsigned long long first, end;
	bool found = false;
	char line[128];

	while (list && fgets(line, sizeof(line), list))
		found |= sscanf(line, "PAT: [mem %llx-%llx]", &first, &end) == 2 && first == page &&
			 end == page + PAGE;
	if (list)
		fclose(list);
	return found;
}

/* Returns where the doorbell pages are in the physical memory, or 0 if that cannot be known. */
static unsigned long long doorbell_pages(void)
{
	unsigned long long first = 0;
	unsigned int at, value, offset = 0;
	char path[128], line[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/spfe/%s/device/resource", device + 5);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llx", &first) != 1)
		return 0; /* a platform device */
	fclose(file);
	snprintf(path, sizeof(path), "/sys/kernel/debug/spfe/%s/registers", device + 5);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%x %x", &at, &value) == 2 &&
		    at == SPFE_GLOBAL_BLOCK_DOORBELL_OFFSET)
			offset = value;
	if (file)
		fclose(file);
	return first + offset;
}

/* No process gets the first doorbell page, on which the driver acknowledges interrupt lines. */
static void doorbells(void)
{
	unsigned long long first = doorbell_pages();
	int files[300], count = 0;
	void *pages[300];

	if (!first || access("/sys/kernel/debug/x86/pat_memtype_list", R_OK))
		return;
	while (count < 300 && (files[count] = open_device()) >= 0) {
		struct spfe_info info;

		ioctl(files[count], SPFE_IOC_INFO, &info);
		pages[count] = map(files[count], PAGE, PROT_READ, info.doorbell_offset);
		count++;
	}
	check("doorbell pages of many files", count > 100 && is_mapped(first + PAGE));
	check("none of them is that of the driver", !is_mapped(first));
	while (count--) {
		munmap(pages[count], PAGE);
		close(files[count]);
	}
}

static void events(int file)
{
	struct spfe_info info;
	int fd = eventfd(0, EFD_NONBLOCK);
	struct spfe_event event = { .eventfd = fd }, wrong = { .eventfd = file };
	struct spfe_index index = { 0 };
	struct spfe_wait wait = { 0 };
	struct timespec now;
	const volatile uint32_t *counts;
	uint64_t value = 0;

	ioctl(file, SPFE_IOC_INFO, &info);
	counts = map(file, PAGE, PROT_READ, info.counts_offset);
	check("mmap of the counts", counts != MAP_FAILED);
	check("mmap of the counts for writing",
	      map(file, PAGE, PROT_READ | PROT_WRITE, info.counts_offset) == MAP_FAILED);
	check("mprotect of the counts for writing",
	      mprotect((void *)counts, PAGE, PROT_READ | PROT_WRITE) != 0);
	check("EVENT_CREATE", ends(file, SPFE_IOC_EVENT_CREATE, &event, 0) && event.event != 0);
	check("EVENT_CREATE with a descriptor that is no eventfd",
	      ends(file, SPFE_IOC_EVENT_CREATE, &wrong, EINVAL));
	index.index = event.event;
	check("WAKE", ends(file, SPFE_IOC_WAKE, &index, 0) && counts[event.event] == 1 &&
	      read(fd, &value, sizeof(value)) == sizeof(value) && value == 1);
	wait = (struct spfe_wait){ .event = event.event, .seen = 0, .deadline_ns = -1 };
	check("WAIT for a count that has changed",
	      ends(file, SPFE_IOC_WAIT, &wait, 0) && wait.seen == 1);
	clock_gettime(CLOCK_MONOTONIC, &now);
	wait.deadline_ns = now.tv_sec * 1000000000LL + now.tv_nsec + 1000000;
	check("WAIT until the deadline", ends(file, SPFE_IOC_WAIT, &wait, ETIMEDOUT));
	wait.event = 999;
	check("WAIT for an unknown event", ends(file, SPFE_IOC_WAIT, &wait, ENOENT));
	index.index = 999;
	check("WAKE of an unknown event", ends(file, SPFE_IOC_WAKE, &index, ENOENT));
	event.eventfd = -1;
	check("EVENT_DESTROY", ends(file, SPFE_IOC_EVENT_DESTROY, &event, 0));
	check("EVENT_DESTROY again", ends(file, SPFE_IOC_EVENT_DESTROY, &event, ENOENT));
	munmap((void *)counts, PAGE);
	close(fd);
}

/*
 * Creates more events than there are interrupts: as many as the page of counts holds, and not more
 * than 256 for each interrupt.
 */
static void many_events(void)
{
	int files[2] = { open_device(), open_device() }, made[2] = { 0 };
	struct spfe_event event = { .eventfd = -1 };
	struct spfe_info info;
	int most;
	unsigned int i;

	ioctl(files[0], SPFE_IOC_INFO, &info);
	most = 256 * ((int)info.events - 1);
	for (i = 0; i < 2; i++) {
		while (made[i] < 100000 && ioctl(files[i], SPFE_IOC_EVENT_CREATE, &event) == 0)
			made[i]++;
		if (i == 0)
			check("1023 events", errno == ENOSPC &&
			      made[0] == (most < 1023 ? most : 1023));
		else if (info.events - 1 <= 4)
			check("256 events for an interrupt", errno == ENOSPC &&
			      made[0] + made[1] == most);
	}
	close(files[0]);
	close(files[1]);
}

static void queues(int file)
{
	struct spfe_alloc alloc = { .size = 2 * PAGE, .access = BOTH };
	struct spfe_event event = { .eventfd = -1 };
	struct spfe_queue queue, other;
	struct spfe_index index = { 0 };
	struct spfe_key key;
	volatile unsigned char *mapped;
	int second = open_device();

	check("ALLOC and EVENT_CREATE for a queue", ends(file, SPFE_IOC_ALLOC, &alloc, 0) &&
	      ends(file, SPFE_IOC_EVENT_CREATE, &event, 0));
	key = (struct spfe_key){ .key = alloc.key };
	queue = transmit_queue(alloc.key, event.event);
	check("QUEUE_CREATE", ends(file, SPFE_IOC_QUEUE_CREATE, &queue, 0));
	index.index = queue.queue;
	check("QUEUE_CREATE again", ends(file, SPFE_IOC_QUEUE_CREATE, &queue, EBUSY));
	check("EVENT_DESTROY while a queue uses the event",
	      ends(file, SPFE_IOC_EVENT_DESTROY, &event, EBUSY));
	check("UNREGISTER while a queue uses the memory",
	      ends(file, SPFE_IOC_UNREGISTER, &key, EBUSY));
	check("QUEUE_DESTROY by another file",
	      ends(second, SPFE_IOC_QUEUE_DESTROY, &index, ENOENT));
	check("QUEUE_DESTROY", ends(file, SPFE_IOC_QUEUE_DESTROY, &index, 0));
	other = queue;
	other.kind = 99;
	check("QUEUE_CREATE of an unknown kind", ends(file, SPFE_IOC_QUEUE_CREATE, &other, EINVAL));
	other = queue;
	other.vc = 31;
	check("QUEUE_CREATE of channel 31", ends(file, SPFE_IOC_QUEUE_CREATE, &other, ENOENT));
	other = queue;
	other.event = 0;
	check("QUEUE_CREATE with an unknown event",
	      ends(file, SPFE_IOC_QUEUE_CREATE, &other, ENOENT));
	other = queue;
	other.sq_log2 = 20;
	check("QUEUE_CREATE with too many entries",
	      ends(file, SPFE_IOC_QUEUE_CREATE, &other, EREMOTEIO) &&
		      other.status == SPFE_STATUS_BAD_RING);
	other = queue;
	other.sq ^= 1ULL << 60;
	check("QUEUE_CREATE in another region",
	      ends(file, SPFE_IOC_QUEUE_CREATE, &other, EREMOTEIO) &&
		      other.status == SPFE_STATUS_BAD_REGION);
	check("QUEUE_CREATE after QUEUE_DESTROY", ends(file, SPFE_IOC_QUEUE_CREATE, &queue, 0));
	mapped = map(file, PAGE, PROT_READ | PROT_WRITE, alloc.offset);
	check("mmap of the rings", mapped != MAP_FAILED);
	mapped[PAGE - 1] = 0x5a;
	check("RESET", ends(file, SPFE_IOC_RESET, NULL, 0));
	check("RESET releases the event", ends(file, SPFE_IOC_EVENT_DESTROY, &event, ENOENT));
	check("RESET releases the queue", ends(file, SPFE_IOC_QUEUE_DESTROY, &index, ENOENT));
	check("RESET keeps the memory mapped", mapped[PAGE - 1] == 0x5a);
	event = (struct spfe_event){ .eventfd = -1 };
	check("EVENT_CREATE after RESET", ends(file, SPFE_IOC_EVENT_CREATE, &event, 0));
	queue.event = event.event;
	check("RESET revokes the memory from the device",
	      ends(file, SPFE_IOC_QUEUE_CREATE, &queue, EREMOTEIO) &&
		      queue.status == SPFE_STATUS_BAD_REGION);
	check("UNREGISTER after RESET", ends(file, SPFE_IOC_UNREGISTER, &key, 0));
	check("UNREGISTER again", ends(file, SPFE_IOC_UNREGISTER, &key, ENOENT));
	munmap((void *)mapped, PAGE);
	close(second);
}

/* A thread that destroys a queue: the call lasts as long as the driver repeats the command. */
struct destroyer {
	int file;
	uint32_t queue;
	pid_t thread;
	bool good;
};

static void *destroy(void *context)
{
	struct destroyer *job = context;
	struct spfe_index index = { .index = job->queue };

	__atomic_store_n(&job->thread, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	job->good = ends(job->file, SPFE_IOC_QUEUE_DESTROY, &index, EBUSY);
	return NULL;
}

/* Whether a thread of this process waits for the device. */
static bool waits_for_device(pid_t thread)
{
	char path[64], stack[4096] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", thread);
	file = fopen(path, "r");
	if (!file)
		return false;
	stack[fread(stack, 1, sizeof(stack) - 1, file)] = 0;
	fclose(file);
	return strstr(stack, "spfe_command_patient");
}

/* Whether this process can map memory while another of its threads waits for the device. */
static bool maps_meanwhile(int file, uint32_t queue, uint64_t offset)
{
	struct destroyer job = { .file = file, .queue = queue };
	bool before = false, after = false;
	pthread_t thread;
	pid_t id = 0;
	void *at;

	if (pthread_create(&thread, NULL, destroy, &job))
		return false;
	while (!id)
		id = __atomic_load_n(&job.thread, __ATOMIC_ACQUIRE);
	while (!before && pthread_tryjoin_np(thread, NULL) == EBUSY)
		before = waits_for_device(id);
	if (!before)
		return false;
	at = map(file, PAGE, PROT_READ, offset);
	after = waits_for_device(id);
	pthread_join(thread, NULL);
	munmap(at, PAGE);
	return after && job.good && at != MAP_FAILED;
}

/* A queue that does not stop: calls fail with EBUSY, and nothing is lost. */
static void busy(int file)
{
	struct spfe_alloc alloc = { .size = 2 * PAGE, .access = BOTH };
	struct spfe_event event = { .eventfd = -1 };
	struct spfe_index index = { 0 };
	struct spfe_queue queue;
	struct spfe_info info;
	struct spfe_key key;
	bool mapped = false;
	unsigned int try;
	FILE *mask;

	ioctl(file, SPFE_IOC_INFO, &info);
	check("ALLOC and EVENT_CREATE", ends(file, SPFE_IOC_ALLOC, &alloc, 0) &&
	      ends(file, SPFE_IOC_EVENT_CREATE, &event, 0));
	queue = transmit_queue(alloc.key, event.event);
	key = (struct spfe_key){ .key = alloc.key };
	check("QUEUE_CREATE", ends(file, SPFE_IOC_QUEUE_CREATE, &queue, 0));
	index.index = queue.queue;
	check("QUEUE_DESTROY", ends(file, SPFE_IOC_QUEUE_DESTROY, &index, EBUSY));
	check("EVENT_DESTROY", ends(file, SPFE_IOC_EVENT_DESTROY, &event, EBUSY));
	check("UNREGISTER", ends(file, SPFE_IOC_UNREGISTER, &key, EBUSY));
	/* More than once, because the other thread may be done before this one gets the processor. */
	for (try = 0; try < 50 && !mapped; try++)
		mapped = maps_meanwhile(file, queue.queue, info.counts_offset);
	check("mmap while another call waits for the device", mapped);
	check("RESET", ends(file, SPFE_IOC_RESET, NULL, EBUSY));
	check("TIME", ends(file, SPFE_IOC_TIME, &(struct spfe_time){ 0 }, 0));
	mask = fopen("/sys/module/spfe_busy/parameters/queues", "w");
	check("the queue can stop", mask && fputs("0", mask) >= 0 && fclose(mask) == 0);
	check("QUEUE_DESTROY again", ends(file, SPFE_IOC_QUEUE_DESTROY, &index, 0));
	check("RESET again", ends(file, SPFE_IOC_RESET, NULL, 0));
	check("UNREGISTER again", ends(file, SPFE_IOC_UNREGISTER, &key, 0));
}

int main(int count, char **words)
{
	int file;

	if (count != 2 && (count != 3 || strcmp(words[2], "busy"))) {
		fprintf(stderr, "calls DEVICE [busy]\n");
		return 2;
	}
	device = words[1];
	file = open_device();
	if (file < 0) {
		perror(device);
		return 1;
	}
	if (count == 3) {
		busy(file);
		close(file);
		return failed;
	}
	queries(file);
	port_settings(file);
	management(file);
	reading(file);
	memory(file);
	limit();
	half_of_the_memory();
	events(file);
	many_events();
	quotas(file);
	doorbells();
	queues(file);
	close(file);
	return failed;
}
