/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Sends packets through /dev/spfeN without the library. It implements rings and lines from the
 * contract and uses only calls of the driver, so it also runs on processors that the library does
 * not support.
 *
 *	packets FROM TO [OPTION=VALUE]...
 *
 * FROM and TO are DEVICE:PORT:VC, for instance /dev/spfe0:0:1, or - if another machine runs that
 * side with the same options. Options:
 *	count=N     packets, default 1000; 0: until killed
 *	bytes=N     longest packet, default 4096; the seed determines the lengths
 *	memory=M    user (registered, default), driver (allocated), or readonly: as user, but the
 *		    buffers of the sender are registered for reading only, before their first use
 *	how=H       poll (default) or wait (sleeps in the driver until the device interrupts)
 *	seed=N      default 1
 *	huge=1      buffers in huge pages
 *	far=N       bytes of registered memory in front of the buffers of the sender, in small pages
 *
 * Compares every byte. Prints its counters as lines "NAME: NUMBER". The exit code is 0 if all
 * packets arrived and 3 if the device was lost or reset.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/spfe.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <spfe/spfe_hw.h>

#define LOG2 6
#define ENTRIES (1U << LOG2)
#define GROUP 8
/* Bytes of a page of this machine. */
#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE))

/* Offsets in the memory of a queue. One page holds everything except the buffers. */
#define DEVICE_LINE 64
#define SQ 128
#define CQ (SQ + 16 * ENTRIES)
#define STAMPS (CQ + 16 * ENTRIES)
#define BUFFERS PAGE

struct queue {
	int file;
	struct spfe_info info;
	unsigned char *memory;
	volatile uint32_t *doorbell;
	const volatile uint32_t *counts;
	uint64_t address; /* {key, 0} */
	unsigned char *buffers;
	uint64_t buffers_address; /* {key, offset} */
	bool used;
	uint32_t event, context, posted, freed, done, arm;
	uint32_t doorbells, waits, lost; /* lost: count of event 0 at open */
};

static struct {
	uint64_t count, bytes, seed, far;
	bool driver_memory, read_only, sleeps, huge;
} options = { 1000, 4096, 1, 0, false, false, false, false };

static size_t stride; /* distance between buffers, bytes */

static void die(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	exit(1);
}

static void control(const struct queue *q, unsigned long request, void *argument, const char *what)
{
	if (ioctl(q->file, request, argument) != 0)
		die(what);
}

/* Whether the devices are cores (run.sh --rtl). Their link stores words, the model's does not. */
static bool are_cores(void)
{
	return getenv("SPFE_DEVICE");
}

/* Both sides compute the length of a packet and each of its bytes from these functions. */
static uint32_t hash(uint64_t value)
{
	value = (value ^ options.seed * 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 31) * 0x94d049bb133111ebULL;
	return (uint32_t)(value >> 32);
}

static uint32_t length_of(uint64_t packet)
{
	return 1 + hash(packet) % (uint32_t)options.bytes;
}

static unsigned char *buffer(const struct queue *q, uint32_t position)
{
	return q->buffers + stride * (position % ENTRIES);
}

static void fill(unsigned char *at, uint64_t packet)
{
	uint32_t first = hash(packet << 8 | 1), length = length_of(packet);

	for (uint32_t i = 0; i < length; i++)
		at[i] = (unsigned char)(first + i * 7 + (i >> 8));
}

static bool right(const unsigned char *at, uint64_t packet)
{
	uint32_t first = hash(packet << 8 | 1), length = length_of(packet);

	for (uint32_t i = 0; i < length; i++)
		if (at[i] != (unsigned char)(first + i * 7 + (i >> 8)))
			return false;
	return true;
}

static void *map(const struct queue *q, size_t bytes, int protection, uint64_t offset)
{
	void *at = mmap(NULL, bytes, protection, MAP_SHARED, q->file, (off_t)offset);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

static void get_memory(struct queue *q, size_t far)
{
	size_t bytes = BUFFERS + far + stride * ENTRIES, unit = options.huge ? 2U << 20 : PAGE;

	bytes = (bytes + unit - 1) / unit * unit;
	if (options.driver_memory || q->info.flags & SPFE_INFO_BOUNCE) {
		struct spfe_alloc a = {.size = bytes,
				       .access = SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE};

		control(q, SPFE_IOC_ALLOC, &a, "ALLOC");
		q->memory = map(q, bytes, PROT_READ | PROT_WRITE, a.offset);
		q->address = (uint64_t)a.key << 48;
	} else {
		struct spfe_register r = {
			.size = bytes, .access = SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE};

		q->memory =
			mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | (options.huge ? MAP_HUGETLB : 0), -1, 0);
		if (q->memory == MAP_FAILED)
			die("memory");
		if (far)
			madvise(q->memory, bytes, MADV_NOHUGEPAGE);
		memset(q->memory, 0, bytes);
		r.addr = (uintptr_t)q->memory;
		control(q, SPFE_IOC_REGISTER, &r, "REGISTER");
		q->address = (uint64_t)r.key << 48;
	}
	q->buffers = q->memory + BUFFERS + far;
	q->buffers_address = q->address + BUFFERS + far;
}

/*
 * Gives the queue other buffers, which the device may only read. No page of them exists yet: a pin
 * that does not ask for write access could get the shared zero page, and the device would send zeros
 * after the program has written its data to a page of its own.
 */
static void get_read_only_buffers(struct queue *q)
{
	size_t bytes = (stride * ENTRIES + PAGE - 1) / PAGE * PAGE;
	struct spfe_register r = { .size = bytes, .access = SPFE_ACCESS_LOCAL_READ };

	q->buffers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (q->buffers == MAP_FAILED)
		die("buffers");
	r.addr = (uintptr_t)q->buffers;
	control(q, SPFE_IOC_REGISTER, &r, "REGISTER");
	q->buffers_address = (uint64_t)r.key << 48;
}

/* Opens "DEVICE:PORT:VC". */
static void open_queue(struct queue *q, char *where, uint32_t kind)
{
	struct spfe_event event = { .eventfd = -1 };
	struct spfe_queue create = { .kind = kind, .sq_log2 = LOG2, .cq_log2 = LOG2 };
	char *path = strtok(where, ":"), *port = strtok(NULL, ":"), *vc = strtok(NULL, ":");

	if (!path || !port || !vc) {
		fprintf(stderr, "packets DEVICE:PORT:VC DEVICE:PORT:VC [OPTION=VALUE]...\n");
		exit(2);
	}
	q->file = open(path, O_RDWR | O_CLOEXEC);
	if (q->file < 0)
		die(path);
	q->used = true;
	control(q, SPFE_IOC_INFO, &q->info, "INFO");
	q->doorbell =
		map(q, q->info.doorbell_bytes, PROT_READ | PROT_WRITE, q->info.doorbell_offset);
	q->counts = map(q, q->info.counts_bytes, PROT_READ, q->info.counts_offset);
	q->lost = q->counts[0];
	get_memory(q, kind == SPFE_QUEUE_KIND_TX ? options.far : 0);
	if (options.read_only && kind == SPFE_QUEUE_KIND_TX && !(q->info.flags & SPFE_INFO_BOUNCE))
		get_read_only_buffers(q);
	control(q, SPFE_IOC_EVENT_CREATE, &event, "EVENT_CREATE");
	q->event = event.event;
	create.port = (uint32_t)atoi(port);
	create.vc = (uint32_t)atoi(vc);
	create.event = event.event;
	create.lines = q->address;
	create.sq = q->address + SQ;
	create.cq = q->address + CQ;
	create.stamps = q->address + STAMPS;
	if (ioctl(q->file, SPFE_IOC_QUEUE_CREATE, &create) != 0) {
		printf("# QUEUE_CREATE, status %u: %s\n", create.status, strerror(errno));
		exit(1);
	}
	q->context = create.queue;
}

static uint64_t phase(uint32_t position)
{
	return (uint64_t)(((position >> LOG2) + 1) & 0xffff) << 48;
}

static volatile uint32_t *host_word(const struct queue *q, size_t offset)
{
	return (volatile uint32_t *)(q->memory + offset);
}

/* Publishes entries [posted, upto) for packets of `bytes` bytes. The first is stored last. */
static void publish(struct queue *q, uint32_t upto, uint32_t type, const uint32_t *bytes)
{
	for (uint32_t position = upto; position-- != q->posted;) {
		volatile uint64_t *slot =
			(volatile uint64_t *)(q->memory + SQ) + 2 * (position % ENTRIES);
		uint64_t flags = type | (type == SPFE_ENTRY_TYPE_DATA ? SPFE_SUBMIT_FLAGS_SIGNAL |
									SPFE_SUBMIT_FLAGS_LAST : 0);

		slot[0] = q->buffers_address + (uint64_t)(buffer(q, position) - q->buffers);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(&slot[1],
				 bytes[position - q->posted] | flags << 32 | phase(position),
				 __ATOMIC_RELEASE);
	}
	q->posted = upto;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (*host_word(q, DEVICE_LINE + offsetof(struct spfe_device_line, need_doorbell))) {
		uint64_t value = q->context | (uint64_t)q->posted << 32;

		__atomic_store_n((volatile uint64_t *)q->doorbell, value, __ATOMIC_RELEASE);
		q->doorbells++;
	}
}

/* Reads the next completion without consuming it. False if there is none. */
static bool peek(const struct queue *q, uint64_t entry[2])
{
	volatile uint64_t *slot = (volatile uint64_t *)(q->memory + CQ) + 2 * (q->done % ENTRIES);

	entry[1] = __atomic_load_n(&slot[1], __ATOMIC_ACQUIRE);
	if (((entry[1] ^ phase(q->done)) & 0xffffULL << 48) != 0)
		return false;
	entry[0] = slot[0];
	return true;
}

static void check_state(const struct queue *q)
{
	if (!q->used)
		return;
	if (q->counts[0] != q->lost) {
		printf("# the device was lost or reset\n");
		exit(3);
	}
	if (*host_word(q, DEVICE_LINE + offsetof(struct spfe_device_line, state)) ==
	    SPFE_QUEUE_STATE_ERROR) {
		printf("# queue stopped with status %u\n",
		       *host_word(q, DEVICE_LINE + offsetof(struct spfe_device_line, error)));
		exit(1);
	}
}

/* Sleeps until a completion arrives, at most a second at a time to notice a dead device. */
static void sleep_for(struct queue *q)
{
	struct spfe_wait wait = { .event = q->event, .seen = q->counts[q->event] };
	struct timespec now;
	uint64_t entry[2];

	*host_word(q, offsetof(struct spfe_host_line, want_count)) = q->done + 1;
	*host_word(q, offsetof(struct spfe_host_line, first_position)) = q->done;
	*host_word(q, offsetof(struct spfe_host_line, flags)) =
		SPFE_ARM_FLAGS_EVENT | SPFE_ARM_FLAGS_COUNT;
	q->arm = (q->arm + 2) | 1;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*host_word(q, offsetof(struct spfe_host_line, arm)) = q->arm;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!peek(q, entry)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		wait.deadline_ns = (now.tv_sec + 1) * 1000000000LL + now.tv_nsec;
		q->waits++;
		if (ioctl(q->file, SPFE_IOC_WAIT, &wait) != 0 && errno != ETIMEDOUT &&
		    errno != EINTR)
			die("WAIT");
	}
	*host_word(q, offsetof(struct spfe_host_line, arm)) = 0;
}

/* Takes one completion and the length that it reports. False if there is none. */
static bool take(struct queue *q, uint32_t *bytes)
{
	uint64_t entry[2];
	uint32_t freed;

	if (!peek(q, entry))
		return false;
	freed = (((uint32_t)entry[1] - q->freed) & 0xffff) + 1;
	if (entry[0] >> 56 == SPFE_STATUS_DEVICE_RESET) {
		printf("# completion %u: the device was reset\n", q->done);
		exit(3);
	}
	/* Part of a packet is there already when its sender goes. */
	if (entry[0] >> 56 == SPFE_STATUS_PACKET_CUT && are_cores()) {
		printf("# completion %u: the device that sends was lost or reset\n", q->done);
		exit(3);
	}
	if (entry[0] >> 56 != SPFE_STATUS_OK || freed > q->posted - q->freed) {
		printf("# completion %u: status %u, frees %u\n", q->done,
		       (uint32_t)(entry[0] >> 56), freed);
		exit(1);
	}
	*bytes = (uint32_t)entry[0];
	q->freed += freed;
	q->done++;
	return true;
}

static void give_buffers(struct queue *rx)
{
	uint32_t bytes[ENTRIES], room = ENTRIES - (rx->posted - rx->freed);

	for (uint32_t i = 0; i < room; i++)
		bytes[i] = (uint32_t)stride;
	if (room)
		publish(rx, rx->posted + room, SPFE_ENTRY_TYPE_BUFFER, bytes);
}

static uint64_t device_time(const struct queue *q)
{
	struct spfe_time time = { 0 };

	control(q, SPFE_IOC_TIME, &time, "TIME");
	return time.device_ns;
}

/*
 * A packet is never dropped for lack of a buffer. So what an earlier program sent, and nobody
 * received before that program ended, waits in the link of a core for the next receiver. Takes it
 * before there is a sender; its last packet may be cut. There can be no more than a channel holds:
 * 1024 words in buffers of both ends, and some on their way.
 */
#define LINK_BYTES 4608
#define QUIET_NS 64000

static void take_old(struct queue *rx)
{
	uint64_t entry[2], bytes = 0, last = device_time(rx);
	uint32_t packets = 0;

	give_buffers(rx);
	while (device_time(rx) - last < QUIET_NS) {
		check_state(rx);
		for (; peek(rx, entry); packets++) {
			uint64_t status = entry[0] >> 56;

			if (status != SPFE_STATUS_OK && status != SPFE_STATUS_PACKET_CUT) {
				printf("# old packet %u: status %u\n", packets, (uint32_t)status);
				exit(status == SPFE_STATUS_DEVICE_RESET ? 3 : 1);
			}
			bytes += (uint32_t)entry[0];
			rx->freed += (((uint32_t)entry[1] - rx->freed) & 0xffff) + 1;
			rx->done++;
			last = device_time(rx);
		}
	}
	if (packets)
		printf("# %u old packets of %llu bytes\n", packets, (unsigned long long)bytes);
	if (bytes > LINK_BYTES)
		exit(1);
}

static uint64_t send_some(struct queue *tx, uint64_t sent)
{
	uint32_t bytes[GROUP], n = 0;

	while (n < GROUP && tx->posted + n - tx->freed < ENTRIES &&
	       (!options.count || sent + n < options.count)) {
		bytes[n] = length_of(sent + n);
		fill(buffer(tx, tx->posted + n), sent + n);
		n++;
	}
	if (n)
		publish(tx, tx->posted + n, SPFE_ENTRY_TYPE_DATA, bytes);
	return sent + n;
}

/* Sends and receives until all packets have arrived and all submissions have completed. */
static uint64_t traffic(struct queue *tx, struct queue *rx)
{
	uint64_t sent = 0, received = 0, wrong = 0, idle = 0;
	uint32_t bytes, at;

	if (rx->used)
		give_buffers(rx);
	while (!options.count || (rx->used && received < options.count) ||
	       (tx->used && sent < options.count) || tx->freed != tx->posted) {
		bool moved = false;
		uint64_t before = sent;

		if (tx->used)
			sent = send_some(tx, sent);
		while (tx->used && take(tx, &bytes))
			moved = true;
		for (at = rx->done; rx->used && take(rx, &bytes); at = rx->done) {
			wrong += bytes != length_of(received) || !right(buffer(rx, at), received);
			if (++received == 1) {
				printf("# sending\n");
				fflush(stdout);
			}
			moved = true;
		}
		if (moved || sent != before) {
			idle = 0;
			if (rx->used)
				give_buffers(rx);
			continue;
		}
		check_state(tx);
		check_state(rx);
		if (options.sleeps)
			sleep_for(rx->used && (received < sent || !tx->used) ? rx : tx);
		if (++idle > (options.sleeps ? 60 : 2000000000ULL)) {
			printf("# nothing moves: sent %llu, received %llu\n",
			       (unsigned long long)sent, (unsigned long long)received);
			exit(1);
		}
	}
	printf("packets: %llu\nwrong: %llu\n", (unsigned long long)received,
	       (unsigned long long)wrong);
	return wrong;
}

static void option(char *word)
{
	char *value = strchr(word, '=');

	if (!value) {
		fprintf(stderr, "packets: '%s' is not OPTION=VALUE\n", word);
		exit(2);
	}
	*value++ = '\0';
	if (!strcmp(word, "count"))
		options.count = strtoull(value, NULL, 0);
	else if (!strcmp(word, "bytes"))
		options.bytes = strtoull(value, NULL, 0);
	else if (!strcmp(word, "far"))
		options.far = strtoull(value, NULL, 0);
	else if (!strcmp(word, "seed"))
		options.seed = strtoull(value, NULL, 0);
	else if (!strcmp(word, "memory")) {
		options.driver_memory = !strcmp(value, "driver");
		options.read_only = !strcmp(value, "readonly");
	}
	else if (!strcmp(word, "how"))
		options.sleeps = !strcmp(value, "wait");
	else if (!strcmp(word, "huge"))
		options.huge = !strcmp(value, "1");
	else {
		fprintf(stderr, "packets: no option '%s'\n", word);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct queue tx = { 0 }, rx = { 0 };
	uint64_t wrong;

	for (int i = 3; i < argc; i++)
		option(argv[i]);
	if (argc < 3 || options.bytes == 0 || options.bytes > 1U << 20) {
		fprintf(stderr, "packets DEVICE:PORT:VC DEVICE:PORT:VC [OPTION=VALUE]...\n");
		return 2;
	}
	stride = (options.bytes + 63) / 64 * 64;
	if (strcmp(argv[2], "-"))
		open_queue(&rx, argv[2], SPFE_QUEUE_KIND_RX);
	/* Where another program sends, it may do so already. */
	if (are_cores() && rx.used && strcmp(argv[1], "-"))
		take_old(&rx);
	if (strcmp(argv[1], "-"))
		open_queue(&tx, argv[1], SPFE_QUEUE_KIND_TX);
	if (!rx.used && !tx.used)
		return 2;
	wrong = traffic(&tx, &rx);
	printf("doorbells: %u\nwaits: %u\ninterrupts: %u\n", tx.doorbells + rx.doorbells,
	       tx.waits + rx.waits,
	       (tx.used ? tx.counts[tx.event] : 0) + (rx.used ? rx.counts[rx.event] : 0));
	return wrong != 0;
}
