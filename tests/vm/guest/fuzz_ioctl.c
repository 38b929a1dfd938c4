/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random calls to /dev/spfeN from several processes, which must not harm the kernel.
 *
 *	fuzz_ioctl DEVICE SEED ROUNDS [PROCESSES]
 *
 * Most calls are almost valid, so that they pass the first checks: their numbers come from the
 * results of earlier calls. Processes unmap, replace and fork registered memory, and write to
 * mappings and doorbell pages. Each process draws all its numbers from the seed. The exit code is 0
 * if every process ends, none is killed except by its own access to memory that is gone, and the
 * device still answers or reports that it is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/spfe.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BYTES (4U << 20)
#define POOL 64
#define MAPPINGS 16
#define FILES 3

static uint64_t state;
static unsigned long answered[32][2]; /* by call number: accepted and refused calls */

static unsigned char *arena;
static uint64_t pool[POOL]; /* keys, offsets and indexes from earlier calls */
static struct {
	void *at;
	size_t bytes;
} mappings[MAPPINGS];
static int files[FILES];
static sigjmp_buf back;
static volatile sig_atomic_t touching;

/* xorshift64* */
static uint64_t draw(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

static uint64_t below(uint64_t limit)
{
	return draw() % limit;
}

static bool one_in(unsigned int n)
{
	return below(n) == 0;
}

static void remember(uint64_t value)
{
	pool[below(POOL)] = value;
}

/* A number from an earlier call, a small one or any other. */
static uint64_t number(void)
{
	switch (below(8)) {
	case 0:
		return 0;
	case 1 ... 2:
		return below(16);
	case 3 ... 5:
		return pool[below(POOL)];
	case 6:
		return 1ULL << below(64);
	default:
		return draw();
	}
}

/* `likely` in most cases, otherwise any number. */
static uint64_t mostly(uint64_t likely)
{
	return one_in(12) ? number() : likely;
}

/* An address in a region: {key, offset}. */
static uint64_t place(void)
{
	return mostly((pool[below(POOL)] & 0xffff) << 48 | below(16) * 4096);
}

static void fault(int signal)
{
	if (touching)
		siglongjmp(back, signal);
	_exit(100);
}

static void nothing(int signal)
{
	(void)signal;
}

/* Reads and writes memory that may no longer be mapped. */
static void touch(volatile unsigned char *at, size_t bytes)
{
	if (sigsetjmp(back, 1) == 0) {
		touching = 1;
		for (int i = 0; i < 8; i++) {
			size_t where = below(bytes) & ~7ULL;

			if (one_in(2))
				*(volatile uint64_t *)(at + where) = number();
			else
				(void)*(volatile uint64_t *)(at + where);
		}
	}
	touching = 0;
}

static int call(int file, unsigned long request, void *argument)
{
	int result = ioctl(file, request, argument);

	answered[_IOC_NR(request) % 32][result != 0]++;
	return result;
}

static int64_t soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec + (int64_t)below(2000000);
}

static void register_memory(int file)
{
	uint64_t pages = 1 + below(64), first = below(ARENA_BYTES / 4096 - pages);
	struct spfe_register r = {
		.addr = mostly((uintptr_t)arena + first * 4096),
		.size = mostly(pages * 4096),
		.access = (uint32_t)mostly(0x100 | below(16)),
		.flags = (uint32_t)mostly(0),
		.reserved = (uint32_t)mostly(0),
	};

	if (call(file, SPFE_IOC_REGISTER, &r) == 0)
		remember(r.key);
}

static void allocate(int file)
{
	struct spfe_alloc a = {
		.size = mostly((1 + below(64)) * 4096),
		.access = (uint32_t)mostly(0x100 | below(16)),
		.flags = (uint32_t)mostly(0),
	};

	if (call(file, SPFE_IOC_ALLOC, &a) == 0) {
		remember(a.key);
		remember(a.offset);
	}
}

static void create_event(int file)
{
	int fd = one_in(2) ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
	struct spfe_event e = {
		.eventfd = (int32_t)mostly((uint32_t)fd),
		.flags = (uint32_t)mostly(0),
		.event = (uint32_t)mostly(0),
	};

	if (call(file, SPFE_IOC_EVENT_CREATE, &e) == 0)
		remember(e.event);
	if (fd >= 0)
		close(fd);
}

static struct spfe_queue any_queue(uint64_t kind)
{
	return (struct spfe_queue){
		.port = (uint32_t)mostly(0),
		.vc = (uint32_t)mostly(below(4)),
		.kind = (uint32_t)mostly(kind),
		.options = (uint32_t)mostly(below(8)),
		.event = (uint32_t)mostly(below(3)),
		.sq_log2 = (uint32_t)mostly(4 + below(6)),
		.cq_log2 = (uint32_t)mostly(4 + below(6)),
		.area_bytes = (uint32_t)mostly(65536),
		.sq = place(),
		.cq = place(),
		.stamps = one_in(2) ? 0 : place(),
		.lines = place(),
		.area = one_in(2) ? 0 : place(),
		.reserved = (uint32_t)mostly(0),
	};
}

static void create_queue(int file)
{
	struct spfe_queue q = any_queue(1 + below(5));

	if (call(file, SPFE_IOC_QUEUE_CREATE, &q) == 0)
		remember(q.queue);
}

static void create_pair(int file)
{
	struct spfe_pair p = {
		.queue = any_queue(6 + below(2)),
		.pair = mostly(0x4342000000ULL << 8 | 7 << 16 | (1 + below(3))),
		.limits = mostly(below(4)),
		.path = number(),
		.reply = number(),
		.reserved = mostly(0),
	};

	if (call(file, SPFE_IOC_PAIR_CREATE, &p) == 0)
		remember(p.queue.queue);
}

/* The target of RDMA, on devices that have one. */
static void use_target(int file)
{
	struct spfe_target_entry e = {
		.address = mostly(below(4) << 12),
		.size = mostly(8 << below(12)),
		.offset = mostly(below(16) * 4096),
		.region = (uint32_t)mostly(pool[below(POOL)] & 0xffff),
		.options = (uint32_t)mostly(below(32)),
		.initiators = (uint32_t)number(),
		.reserved = (uint32_t)mostly(0),
	};
	struct spfe_index index = { .index = (uint32_t)mostly(1 + below(3)) };
	struct spfe_target_note note;
	struct spfe_target target;

	switch (below(8)) {
	case 0 ... 2:
		if (call(file, SPFE_IOC_TARGET_SET, &e) == 0)
			remember(e.key);
		break;
	case 3 ... 4:
		e.key = (uint32_t)number();
		call(file, SPFE_IOC_TARGET_CLEAR, &e);
		break;
	case 5:
		call(file, SPFE_IOC_TARGET_LISTEN, &index);
		break;
	case 6:
		call(file, SPFE_IOC_TARGET_TAKE, &note);
		break;
	default:
		call(file, SPFE_IOC_TARGET, &target);
	}
}

static void map(int file)
{
	unsigned int slot = (unsigned int)below(MAPPINGS);
	size_t bytes = (1 + below(16)) * 4096;
	void *at;

	if (mappings[slot].at)
		munmap(mappings[slot].at, mappings[slot].bytes);
	at = mmap(NULL, bytes, one_in(4) ? PROT_READ : PROT_READ | PROT_WRITE,
		  one_in(8) ? MAP_PRIVATE : MAP_SHARED, file,
		  (off_t)(mostly(pool[below(POOL)]) & ~4095ULL));
	mappings[slot].at = at == MAP_FAILED ? NULL : at;
	mappings[slot].bytes = bytes;
	if (mappings[slot].at)
		touch(mappings[slot].at, bytes);
}

/* Replaces, discards or copies on write memory that may be registered. */
static void disturb(void)
{
	unsigned char *at = arena + below(ARENA_BYTES / 4096) * 4096;
	pid_t child;

	switch (below(4)) {
	case 0:
		mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0);
		break;
	case 1:
		madvise(at, 4096, MADV_DONTNEED);
		break;
	case 2:
		mprotect(at, 4096, one_in(2) ? PROT_READ : PROT_READ | PROT_WRITE);
		break;
	default:
		child = fork();
		if (child == 0) {
			touch(arena, ARENA_BYTES);
			_exit(0);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	touch(arena, ARENA_BYTES);
}

static void reopen(const char *path, int *file)
{
	struct spfe_info info = { 0 };

	if (*file >= 0)
		close(*file);
	*file = open(path, O_RDWR | O_CLOEXEC);
	if (*file >= 0 && call(*file, SPFE_IOC_INFO, &info) == 0) {
		remember(info.doorbell_offset);
		remember(info.counts_offset);
	}
}

static void other(int file)
{
	unsigned char any[256];
	union {
		struct spfe_key key;
		struct spfe_index index;
		struct spfe_event event;
		struct spfe_statistics statistics;
		struct spfe_port port;
		struct spfe_port_set set;
		struct spfe_time time;
		struct spfe_wait wait;
		struct spfe_mib mib;
	} u = { 0 };

	switch (below(13)) {
	case 0 ... 1:
		u.key.key = (uint32_t)number();
		call(file, SPFE_IOC_UNREGISTER, &u);
		break;
	case 2:
		u.event.event = (uint32_t)number();
		call(file, SPFE_IOC_EVENT_DESTROY, &u);
		break;
	case 3:
		u.index.index = (uint32_t)number();
		call(file, SPFE_IOC_QUEUE_DESTROY, &u);
		break;
	case 4:
		u.index.index = (uint32_t)number();
		call(file, SPFE_IOC_WAKE, &u);
		break;
	case 5:
		u.statistics.queue = (uint32_t)number();
		call(file, SPFE_IOC_STATISTICS, &u);
		break;
	case 6:
		u.port.port = (uint32_t)mostly(0);
		call(file, SPFE_IOC_PORT, &u);
		break;
	case 7:
		u.set = (struct spfe_port_set){.what = (uint32_t)below(8),
					       .vc = (uint32_t)mostly(below(4)),
					       .link_start = (uint32_t)mostly(2),
					       .priority = (uint32_t)below(20)};
		call(file, SPFE_IOC_PORT_SET, &u);
		break;
	case 8:
		call(file, SPFE_IOC_TIME, &u);
		break;
	case 9:
		u.wait = (struct spfe_wait){.event = (uint32_t)number(),
					    .seen = (uint32_t)below(2),
					    .deadline_ns = soon()};
		call(file, SPFE_IOC_WAIT, &u);
		break;
	case 10:
		u.mib = (struct spfe_mib){.port = (uint32_t)mostly(0),
					  .item = (uint32_t)mostly(below(64)),
					  .element = (uint32_t)mostly(below(4)),
					  .flags = (uint32_t)mostly(below(2)),
					  .value = number()};
		call(file, SPFE_IOC_MIB, &u);
		break;
	default:
		/* An unknown call, or an argument that is not mapped. */
		for (size_t i = 0; i < sizeof(any); i++)
			any[i] = (unsigned char)draw();
		if (one_in(2))
			call(file, _IOC(below(4), SPFE_IOC_MAGIC, below(32), below(256)), any);
		else
			call(file,
			     _IOC(_IOC_READ | _IOC_WRITE, SPFE_IOC_MAGIC,
				  below(15) == 9 ? 0 : below(9), 48),
			     (void *)(uintptr_t)number());
	}
}

static void step(const char *path)
{
	int *file = &files[below(FILES)];

	if (*file < 0 || one_in(100)) {
		reopen(path, file);
		return;
	}
	switch (below(18)) {
	case 16 ... 17:
		use_target(*file);
		break;
	case 0 ... 2:
		register_memory(*file);
		break;
	case 3 ... 4:
		allocate(*file);
		break;
	case 5:
		create_event(*file);
		break;
	case 6 ... 7:
		create_queue(*file);
		break;
	case 8:
		create_pair(*file);
		break;
	case 9 ... 10:
		map(*file);
		break;
	case 11:
		disturb();
		break;
	case 12:
		if (one_in(20))
			call(*file, SPFE_IOC_RESET, NULL);
		break;
	default:
		other(*file);
	}
}

/* Runs one process. It does not clean up, because the driver must. */
static int process(const char *path, uint64_t seed, unsigned long rounds)
{
	struct itimerval often = { { 0, 50000 }, { 0, 50000 } };
	struct sigaction interrupt = { .sa_handler = nothing };
	unsigned long accepted = 0;

	/* A timer signal interrupts every call, so that none blocks for ever. */
	sigaction(SIGALRM, &interrupt, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	state = seed * 0x9e3779b97f4a7c15ULL | 1;
	arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return 1;
	memset(arena, 0xa5, ARENA_BYTES);
	for (int i = 0; i < FILES; i++)
		files[i] = -1;
	for (unsigned long i = 0; i < rounds; i++)
		step(path);
	printf("# process of seed %llu, by call: accepted/refused", (unsigned long long)seed);
	for (int i = 0; i < 32; i++) {
		if (!answered[i][0] && !answered[i][1])
			continue;
		printf(" %d:%lu/%lu", i, answered[i][0], answered[i][1]);
		accepted += answered[i][0];
	}
	printf("\n");
	fflush(stdout);
	/* If the device refused every call, this was no test. */
	return accepted ? 0 : 2;
}

static int last_word(const char *path)
{
	struct spfe_info info = { 0 };
	int file = open(path, O_RDWR);

	if (file < 0)
		return errno == ENODEV || errno == ENXIO || errno == ENOENT ? 0 : 3;
	if (ioctl(file, SPFE_IOC_INFO, &info) != 0 && errno != ENODEV)
		return 4;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long processes = argc > 4 ? strtoul(argv[4], NULL, 0) : 2, rounds;
	int status, result = 0;
	uint64_t seed;

	if (argc < 4) {
		fprintf(stderr, "fuzz_ioctl DEVICE SEED ROUNDS [PROCESSES]\n");
		return 2;
	}
	seed = strtoull(argv[2], NULL, 0);
	rounds = strtoul(argv[3], NULL, 0);
	printf("# seed %llu, %lu rounds, %lu processes\n", (unsigned long long)seed, rounds,
	       processes);
	fflush(stdout);
	signal(SIGSEGV, fault);
	signal(SIGBUS, fault);
	for (unsigned long i = 0; i < processes; i++)
		if (fork() == 0)
			_exit(process(argv[1], seed + i, rounds));
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			printf("# a process ended with status 0x%x\n", status);
			result = 1;
		}
	return result ? result : last_word(argv[1]);
}
