/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random calls to /dev/spfeN from several processes and threads, which must not harm the kernel.
 *
 *	fuzz_ioctl DEVICE SEED ROUNDS [PROCESSES [THREADS]]
 *
 * Each process makes ROUNDS calls. Its threads share them, its files, its memory and the results of
 * its earlier calls: one closes what another uses. Most calls are almost valid, so that they pass
 * the first checks: their numbers come from those results. Threads unmap, replace and fork
 * registered memory, and write to mappings and doorbell pages. Each thread draws all its numbers
 * from the seed. The exit code is 0 if every process ends, none is killed except by its own access
 * to memory that is gone, the device accepted some of each of the calls in `expected`, and it still
 * answers or reports that it is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/spfe.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <spfe/spfe_hw.h>

#define ARENA_BYTES (4U << 20)
#define POOL 64
#define MAPPINGS 16
#define FILES 3
#define QUEUE_PAGES 32
#define LOCAL (SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE)
#define MOST_THREADS 16
#define CALLS 32

static _Thread_local uint64_t state;
static _Thread_local sigjmp_buf back;
static _Thread_local volatile sig_atomic_t touching;

/* Of all processes, by call number: accepted and refused calls. */
static atomic_ulong (*answered)[2];

/* Of all threads of a process. */
static unsigned char *arena;
static _Atomic uint64_t pool[POOL]; /* keys, offsets and indexes from earlier calls */
static struct mapping {
	void *at;
	size_t bytes;
} mappings[MAPPINGS];
static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int files[FILES];
/* What each file has: its last event and queue, and two regions that can hold a queue. */
static struct {
	_Atomic uint32_t event, queue, regions[2];
} owned[FILES];
static _Thread_local unsigned int chosen; /* the file in use */
static atomic_uint running;

static const char *device;
static unsigned long rounds;

/* Calls that a test without an accepted one would not be a test of. */
static const struct {
	unsigned long request;
	const char *name;
} expected[] = {
	{ SPFE_IOC_INFO, "INFO" },
	{ SPFE_IOC_REGISTER, "REGISTER" },
	{ SPFE_IOC_UNREGISTER, "UNREGISTER" },
	{ SPFE_IOC_ALLOC, "ALLOC" },
	{ SPFE_IOC_EVENT_CREATE, "EVENT_CREATE" },
	{ SPFE_IOC_QUEUE_CREATE, "QUEUE_CREATE" },
	{ SPFE_IOC_QUEUE_DESTROY, "QUEUE_DESTROY" },
	{ SPFE_IOC_WAKE, "WAKE" },
	{ SPFE_IOC_STATISTICS, "STATISTICS" },
	{ SPFE_IOC_PORT, "PORT" },
	{ SPFE_IOC_TIME, "TIME" },
};

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

static void own(uint32_t key, uint64_t bytes, uint32_t access)
{
	if (bytes >= QUEUE_PAGES * 4096 && !(~access & LOCAL))
		owned[chosen].regions[below(2)] = key;
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

	answered[_IOC_NR(request) % CALLS][result != 0]++;
	return result;
}

static int64_t soon(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec + (int64_t)below(2000000);
}

/* Half of all regions can hold a queue. */
static uint64_t some_pages(void)
{
	return one_in(2) ? QUEUE_PAGES : 1 + below(64);
}

static uint32_t some_access(void)
{
	return (uint32_t)mostly(one_in(2) ? LOCAL : SPFE_ACCESS_LOCAL_READ | below(16));
}

static void register_memory(int file)
{
	uint64_t pages = some_pages(), first = below(ARENA_BYTES / 4096 - pages);
	struct spfe_register r = {
		.addr = mostly((uintptr_t)arena + first * 4096),
		.size = mostly(pages * 4096),
		.access = some_access(),
		.flags = (uint32_t)mostly(0),
		.reserved = (uint32_t)mostly(0),
	};

	if (call(file, SPFE_IOC_REGISTER, &r) == 0) {
		remember(r.key);
		own(r.key, r.size, r.access);
	}
}

static void allocate(int file)
{
	struct spfe_alloc a = {
		.size = mostly(some_pages() * 4096),
		.access = some_access(),
		.flags = (uint32_t)mostly(0),
	};

	if (call(file, SPFE_IOC_ALLOC, &a) == 0) {
		remember(a.key);
		remember(a.offset);
		own(a.key, a.size, a.access);
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
		remember(owned[chosen].event = e.event);
	if (fd >= 0)
		close(fd);
}

static uint64_t queue_part(uint64_t region, uint64_t page)
{
	return one_in(12) ? place() : region | page * 4096;
}

static struct spfe_queue any_queue(uint64_t kind)
{
	uint64_t region = (uint64_t)owned[chosen].regions[below(2)] << 48;

	bool message = kind == SPFE_QUEUE_KIND_MESSAGE_TX || kind == SPFE_QUEUE_KIND_MESSAGE_RX;
	bool packed = kind == SPFE_QUEUE_KIND_RX_PACKED;

	/* All parts fit one behind the other, with rings of the longest that are drawn here. */
	return (struct spfe_queue){
		.port = (uint32_t)mostly(0),
		.vc = (uint32_t)mostly(message ? 0 : below(4)),
		.kind = (uint32_t)mostly(kind),
		.options = (uint32_t)mostly(one_in(2) ? 0 : below(16)),
		.event = (uint32_t)mostly(owned[chosen].event),
		.sq_log2 = (uint32_t)mostly(4 + below(6)),
		.cq_log2 = (uint32_t)mostly(4 + below(6)),
		.area_bytes = (uint32_t)mostly(packed ? 65536 : 0),
		.sq = queue_part(region, 1),
		.cq = queue_part(region, 4),
		.stamps = one_in(2) ? 0 : queue_part(region, 12),
		.lines = queue_part(region, 0),
		.area = mostly(packed ? queue_part(region, 16) : 0),
		.reserved = (uint32_t)mostly(0),
	};
}

static uint32_t mine_or_any(const _Atomic uint32_t *mine)
{
	return one_in(2) ? *mine : (uint32_t)number();
}

/* Some queues end at once: few are accepted, and a reset or a close would end most of the others. */
static void created(int file, uint32_t queue)
{
	struct spfe_index index = { .index = queue };

	remember(owned[chosen].queue = queue);
	if (one_in(3))
		call(file, SPFE_IOC_QUEUE_DESTROY, &index);
}

static void create_queue(int file)
{
	struct spfe_queue q = any_queue(1 + below(5));

	if (call(file, SPFE_IOC_QUEUE_CREATE, &q) == 0)
		created(file, q.queue);
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
		created(file, p.queue.queue);
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
	struct mapping *slot = &mappings[below(MAPPINGS)], old;
	struct mapping new = { .bytes = (1 + below(16)) * 4096 };

	new.at = mmap(NULL, new.bytes, one_in(4) ? PROT_READ : PROT_READ | PROT_WRITE,
		      one_in(8) ? MAP_PRIVATE : MAP_SHARED, file,
		      (off_t)(mostly(pool[below(POOL)]) & ~4095ULL));
	if (new.at == MAP_FAILED)
		new.at = NULL;
	pthread_mutex_lock(&mappings_lock);
	old = *slot;
	*slot = new;
	pthread_mutex_unlock(&mappings_lock);
	if (old.at)
		munmap(old.at, old.bytes);
	/* Another thread may unmap it meanwhile. */
	if (new.at)
		touch(new.at, new.bytes);
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

static void reopen(void)
{
	int new = open(device, O_RDWR | O_CLOEXEC), old = atomic_exchange(&files[chosen], new);
	struct spfe_info info = { 0 };

	/* Another thread may be in a call with it. */
	if (old >= 0)
		close(old);
	if (new >= 0 && call(new, SPFE_IOC_INFO, &info) == 0) {
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
		struct spfe_pair_counters counters;
	} u = { 0 };

	switch (below(14)) {
	case 0 ... 1:
		u.key.key = mine_or_any(&owned[chosen].regions[below(2)]);
		call(file, SPFE_IOC_UNREGISTER, &u);
		break;
	case 2:
		u.event.event = mine_or_any(&owned[chosen].event);
		call(file, SPFE_IOC_EVENT_DESTROY, &u);
		break;
	case 3:
		u.index.index = mine_or_any(&owned[chosen].queue);
		call(file, SPFE_IOC_QUEUE_DESTROY, &u);
		break;
	case 4:
		u.index.index = mine_or_any(&owned[chosen].event);
		call(file, SPFE_IOC_WAKE, &u);
		break;
	case 5:
		u.statistics.queue = mine_or_any(&owned[chosen].queue);
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
		u.wait = (struct spfe_wait){.event = mine_or_any(&owned[chosen].event),
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
	case 11:
		u.counters = (struct spfe_pair_counters){.port = (uint32_t)mostly(0),
							 .vc = (uint32_t)mostly(below(4)),
							 .first = (uint32_t)mostly(below(64)),
							 .reserved = (uint32_t)mostly(0)};
		call(file, SPFE_IOC_PAIR_COUNTERS, &u);
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

static void step(void)
{
	int file;

	chosen = (unsigned int)below(FILES);
	file = files[chosen];
	if (file < 0 || one_in(100)) {
		reopen();
		return;
	}
	switch (below(18)) {
	case 16 ... 17:
		use_target(file);
		break;
	case 0 ... 2:
		register_memory(file);
		break;
	case 3 ... 4:
		allocate(file);
		break;
	case 5:
		create_event(file);
		break;
	case 6 ... 7:
		create_queue(file);
		break;
	case 8:
		create_pair(file);
		break;
	case 9 ... 10:
		map(file);
		break;
	case 11:
		disturb();
		break;
	case 12:
		if (one_in(20))
			call(file, SPFE_IOC_RESET, NULL);
		break;
	default:
		other(file);
	}
}

static void *thread(void *seed)
{
	state = (uintptr_t)seed * 0x9e3779b97f4a7c15ULL | 1;
	for (unsigned long i = 0; i < rounds; i++)
		step();
	running--;
	return NULL;
}

/* Runs one process. It does not clean up, because the driver must. */
static int process(uint64_t seed, unsigned int threads)
{
	struct sigaction interrupt = { .sa_handler = nothing };
	pthread_t ids[MOST_THREADS];

	sigaction(SIGALRM, &interrupt, NULL);
	arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return 1;
	memset(arena, 0xa5, ARENA_BYTES);
	for (int i = 0; i < FILES; i++)
		files[i] = -1;
	running = threads;
	for (uintptr_t i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, thread, (void *)(uintptr_t)(seed + i)))
			return 1;
	/* A signal interrupts every call, so that none blocks for ever. */
	while (running) {
		usleep(50000);
		for (unsigned int i = 0; i < threads; i++)
			pthread_kill(ids[i], SIGALRM);
	}
	return 0;
}

/* Reports the calls that were made, and fails if one that is expected was never accepted. */
static int summary(void)
{
	int result = 0;

	printf("# by call: accepted/refused");
	for (int i = 0; i < CALLS; i++)
		if (answered[i][0] || answered[i][1])
			printf(" %d:%lu/%lu", i, answered[i][0], answered[i][1]);
	printf("\n");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!answered[_IOC_NR(expected[i].request)][0]) {
			printf("# SPFE_IOC_%s was never accepted\n", expected[i].name);
			result = 5;
		}
	return result;
}

static int last_word(void)
{
	struct spfe_info info = { 0 };
	int file = open(device, O_RDWR);

	if (file < 0)
		return errno == ENODEV || errno == ENXIO || errno == ENOENT ? 0 : 3;
	if (ioctl(file, SPFE_IOC_INFO, &info) != 0 && errno != ENODEV)
		return 4;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long processes = argc > 4 ? strtoul(argv[4], NULL, 0) : 2;
	unsigned long threads = argc > 5 ? strtoul(argv[5], NULL, 0) : 2;
	int status, result = 0;
	uint64_t seed;

	if (argc < 4 || !threads || threads > MOST_THREADS) {
		fprintf(stderr,
			"fuzz_ioctl DEVICE SEED ROUNDS [PROCESSES [THREADS]], threads 1 to %d\n",
			MOST_THREADS);
		return 2;
	}
	device = argv[1];
	seed = strtoull(argv[2], NULL, 0);
	rounds = strtoul(argv[3], NULL, 0) / threads;
	answered = mmap(NULL, CALLS * sizeof(*answered), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (answered == MAP_FAILED)
		return 1;
	printf("# seed %llu, %lu processes with %lu threads of %lu rounds\n",
	       (unsigned long long)seed, processes, threads, rounds);
	fflush(stdout);
	signal(SIGSEGV, fault);
	signal(SIGBUS, fault);
	for (unsigned long i = 0; i < processes; i++)
		if (fork() == 0)
			_exit(process(seed + i * threads, (unsigned int)threads));
	while (wait(&status) > 0)
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			printf("# a process ended with status 0x%x\n", status);
			result = 1;
		}
	status = summary();
	if (!result)
		result = status;
	return result ? result : last_word();
}
