/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The target of RDMA of a device (capability TARGET): serves memory of this program to others, and
 * prints what they do.
 *
 *	target DEVICE query		properties and counters
 *	target DEVICE serve NOTES	shares a page, prints its key and NOTES notifications, and then
 *					the first bytes of the page
 *	target DEVICE calls		tests every call with valid and invalid arguments
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
#include <unistd.h>

#include <spfe/spfe_hw.h>

#define PAGE 4096UL
#define ALL (SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE | SPFE_ACCESS_REMOTE_READ | \
	     SPFE_ACCESS_REMOTE_WRITE)
#define OPTIONS (SPFE_KEY_OPTIONS_READ | SPFE_KEY_OPTIONS_WRITE | SPFE_KEY_OPTIONS_ATOMIC | \
		 SPFE_KEY_OPTIONS_NOTIFY)
/* The page as others see it. */
#define ADDRESS 0x10000ULL
/* Time that a notification may take, ns. */
#define PATIENCE 120000000000LL

static int failed;

static void die(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(const char *name, bool good)
{
	printf("%s %s\n", good ? "ok" : "not ok", name);
	failed |= !good;
}

/* Whether a call returns this errno, or 0 for success. */
static bool ends(int file, unsigned long call, void *argument, int error)
{
	int result = ioctl(file, call, argument) == 0 ? 0 : errno;

	if (result != error)
		printf("# call %lu: %s, not %s\n", call & 0xff, strerror(result), strerror(error));
	return result == error;
}

static struct spfe_target query(int file)
{
	struct spfe_target target;

	if (ioctl(file, SPFE_IOC_TARGET, &target))
		die("SPFE_IOC_TARGET");
	return target;
}

static struct spfe_target_entry entry(uint32_t region)
{
	return (struct spfe_target_entry){
		.address = ADDRESS,
		.size = PAGE,
		.region = region,
		.options = OPTIONS,
	};
}

/* Registers a page of this program. */
static unsigned char *share(int file, uint32_t access, uint32_t *region)
{
	struct spfe_register wish = { .size = PAGE, .access = access };
	unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		die("mmap");
	memset(page, 0x11, PAGE);
	wish.addr = (uintptr_t)page;
	if (ioctl(file, SPFE_IOC_REGISTER, &wish))
		die("SPFE_IOC_REGISTER");
	*region = wish.key;
	return page;
}

static uint32_t listen_for(int file)
{
	struct spfe_event event = { .eventfd = -1 };
	struct spfe_index index = { 0 };

	if (ioctl(file, SPFE_IOC_EVENT_CREATE, &event))
		die("SPFE_IOC_EVENT_CREATE");
	index.index = event.event;
	if (ioctl(file, SPFE_IOC_TARGET_LISTEN, &index))
		die("SPFE_IOC_TARGET_LISTEN");
	return event.event;
}

/* Sleeps until the event has been signalled since `seen`. */
static void await(int file, uint32_t event, uint32_t *seen)
{
	struct spfe_time time;
	struct spfe_wait wait = { .event = event, .seen = *seen };

	if (ioctl(file, SPFE_IOC_TIME, &time))
		die("SPFE_IOC_TIME");
	wait.deadline_ns = (int64_t)time.after_ns + PATIENCE;
	if (ioctl(file, SPFE_IOC_WAIT, &wait))
		die("SPFE_IOC_WAIT");
	*seen = wait.seen;
}

static int serve(int file, unsigned int notes)
{
	uint32_t region, event, seen = 0;
	unsigned char *page = share(file, ALL, &region);
	struct spfe_target_entry shared = entry(region);
	struct spfe_target_note note;
	unsigned int i;

	event = listen_for(file);
	if (ioctl(file, SPFE_IOC_TARGET_SET, &shared))
		die("SPFE_IOC_TARGET_SET");
	printf("key %#x\n", shared.key);
	fflush(stdout);
	while (notes) {
		if (ioctl(file, SPFE_IOC_TARGET_TAKE, &note)) {
			if (errno != ENOENT)
				die("SPFE_IOC_TARGET_TAKE");
			await(file, event, &seen);
			continue;
		}
		printf("note opcode %u from %#x, entry %u, address %#llx, %u bytes, data %.32s\n",
		       (note.sender & SPFE_TARGET_NOTE_SENDER_OPCODE_MASK) >>
			       SPFE_TARGET_NOTE_SENDER_OPCODE_SHIFT,
		       note.sender & SPFE_TARGET_NOTE_SENDER_INITIATOR_MASK,
		       note.request & SPFE_TARGET_NOTE_REQUEST_ENTRY_MASK,
		       (unsigned long long)note.address, note.length, (char *)note.data);
		fflush(stdout);
		notes--;
	}
	printf("page");
	for (i = 0; i < 16; i++)
		printf(" %02x", page[i]);
	printf("\n");
	return 0;
}

static int calls(int file, const char *device)
{
	int second = open(device, O_RDWR), reader = open(device, O_RDONLY);
	struct spfe_target_entry good, wrong, more;
	struct spfe_event event = { .eventfd = -1 }, own = { .eventfd = -1 };
	struct spfe_target target = query(file);
	struct spfe_target_note note;
	struct spfe_alloc alloc = { .size = 2 * PAGE, .access = ALL };
	struct spfe_index index = { 0 };
	uint32_t region, narrow, first, count;

	check("TARGET on a read-only file", ends(reader, SPFE_IOC_TARGET, &target, 0) &&
	      target.entries > target.fixed);
	share(file, ALL, &region);
	share(file, SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_REMOTE_READ, &narrow);
	good = entry(region);
	check("TARGET_SET on a read-only file", ends(reader, SPFE_IOC_TARGET_SET, &good, EACCES));
	wrong = entry(region + 1000);
	check("TARGET_SET of an unknown region", ends(file, SPFE_IOC_TARGET_SET, &wrong, ENOENT));
	check("TARGET_SET of a region of another file",
	      ends(second, SPFE_IOC_TARGET_SET, &good, ENOENT));
	wrong = entry(narrow);
	check("TARGET_SET of more than the region allows",
	      ends(file, SPFE_IOC_TARGET_SET, &wrong, EINVAL));
	wrong = entry(region);
	wrong.offset = 8;
	check("TARGET_SET beyond the region", ends(file, SPFE_IOC_TARGET_SET, &wrong, EINVAL));
	wrong.offset = UINT64_MAX - 7;
	check("TARGET_SET with an endless range", ends(file, SPFE_IOC_TARGET_SET, &wrong, EINVAL));
	wrong = entry(region);
	wrong.reserved = 1;
	check("TARGET_SET with a reserved field", ends(file, SPFE_IOC_TARGET_SET, &wrong, EINVAL));
	wrong = entry(region);
	wrong.size = 0;
	check("TARGET_SET of nothing", ends(file, SPFE_IOC_TARGET_SET, &wrong, EREMOTEIO) &&
	      wrong.status == SPFE_STATUS_BAD_FIELD && !wrong.key);
	wrong = entry(region);
	wrong.options |= 1U << 20;
	check("TARGET_SET with unknown options", ends(file, SPFE_IOC_TARGET_SET, &wrong, EREMOTEIO) &&
	      wrong.status == SPFE_STATUS_BAD_FIELD);
	wrong = entry(region);
	wrong.address = UINT64_MAX;
	check("TARGET_SET beyond the last address",
	      ends(file, SPFE_IOC_TARGET_SET, &wrong, EREMOTEIO) &&
		      wrong.status == SPFE_STATUS_BAD_FIELD);
	check("TARGET_SET", ends(file, SPFE_IOC_TARGET_SET, &good, 0) && good.key);
	first = good.key;
	check("UNREGISTER of memory with an entry",
	      ends(file, SPFE_IOC_UNREGISTER, &(struct spfe_key){ .key = region }, EBUSY));
	check("TARGET_CLEAR by another file", ends(second, SPFE_IOC_TARGET_CLEAR, &good, ENOENT));
	wrong = (struct spfe_target_entry){ .key = first ^ 1 };
	check("TARGET_CLEAR of another key", ends(file, SPFE_IOC_TARGET_CLEAR, &wrong, ENOENT));
	wrong.key = UINT32_MAX;
	check("TARGET_CLEAR beyond the table", ends(file, SPFE_IOC_TARGET_CLEAR, &wrong, ENOENT));
	check("TARGET_CLEAR", ends(file, SPFE_IOC_TARGET_CLEAR, &good, 0));
	check("TARGET_CLEAR again", ends(file, SPFE_IOC_TARGET_CLEAR, &good, ENOENT));
	check("driver memory can be an entry",
	      ends(file, SPFE_IOC_ALLOC, &alloc, 0) && (more = entry(alloc.key), more.offset = PAGE,
							ends(file, SPFE_IOC_TARGET_SET, &more, 0)) &&
		      ends(file, SPFE_IOC_TARGET_CLEAR, &more, 0));
	for (count = 0;; count++) {
		good = entry(region);
		if (ioctl(file, SPFE_IOC_TARGET_SET, &good))
			break;
	}
	check("as many entries as there are",
	      count == target.entries - target.fixed && errno == ENOSPC);

	check("TARGET_LISTEN with an unknown event",
	      ends(file, SPFE_IOC_TARGET_LISTEN, &(struct spfe_index){ .index = 900 }, ENOENT));
	check("TARGET_TAKE by who does not listen", ends(file, SPFE_IOC_TARGET_TAKE, &note, EBUSY));
	ioctl(file, SPFE_IOC_EVENT_CREATE, &event);
	ioctl(second, SPFE_IOC_EVENT_CREATE, &own);
	index.index = event.event;
	check("TARGET_LISTEN", ends(file, SPFE_IOC_TARGET_LISTEN, &index, 0));
	check("TARGET_TAKE without a notification",
	      ends(file, SPFE_IOC_TARGET_TAKE, &note, ENOENT));
	check("EVENT_DESTROY of an event of notifications",
	      ends(file, SPFE_IOC_EVENT_DESTROY, &event, EBUSY));
	index.index = own.event;
	check("TARGET_LISTEN of another file", ends(second, SPFE_IOC_TARGET_LISTEN, &index, EBUSY));
	check("RESET of the file", ends(file, SPFE_IOC_RESET, NULL, 0));
	check("TARGET_LISTEN of another file after that",
	      ends(second, SPFE_IOC_TARGET_LISTEN, &index, 0));
	share(file, ALL, &region);
	good = entry(region);
	check("TARGET_SET after RESET: the entries are free",
	      ends(file, SPFE_IOC_TARGET_SET, &good, 0));
	close(second);
	close(reader);
	return failed;
}

int main(int argc, char **argv)
{
	struct spfe_target target;
	int file;

	if (argc < 3) {
		fprintf(stderr, "usage: target DEVICE query|serve NOTES|calls\n");
		return 2;
	}
	file = open(argv[1], O_RDWR);
	if (file < 0)
		die(argv[1]);
	if (!strcmp(argv[2], "serve") && argc == 4)
		return serve(file, (unsigned int)atoi(argv[3]));
	if (!strcmp(argv[2], "calls"))
		return calls(file, argv[1]);
	target = query(file);
	printf("port %u VC %u entries %u fixed %u\n", target.port, target.vc, target.entries,
	       target.fixed);
	printf("executed %u\nrefused %u\ndiscarded %u\nlost %u\nnotes %u\n", target.executed,
	       target.refused, target.discarded, target.notes_lost, target.notes);
	return 0;
}
