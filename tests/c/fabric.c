/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Raw mode of the fabric between two nodes, which this program opens both: fabric SOCKET OWNER USER.
 * Prints TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/spfe.h>

static int number, failures, bad;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# %s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,    \
			       spfe_error());                                                      \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)
#define OK(call) CHECK((call) == 0)
#define FAILS(status, call) CHECK((call) == -SPFE_STATUS_##status && spfe_error()[0])
#define NEED(call)                                                                                 \
	do {                                                                                       \
		OK(call);                                                                          \
		if (bad) {                                                                         \
			printf("Bail out!\n");                                                     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void done(const char *name)
{
	printf("%sok %d - %s\n", bad ? "not " : "", ++number, name);
	failures += bad > 0;
	bad = 0;
}

enum { BYTES = 100000 };

static spfe_fabric *owner, *user;
static uint32_t owner_node, user_node;
static spfe_fabric_buffer *buffer;
static uint8_t *memory;

static uint64_t bit(uint32_t node)
{
	return UINT64_C(1) << (node - 1);
}

static void exposes(uint64_t *key)
{
	struct spfe_fabric_window_info list[4];
	uint64_t nodes = 0, other;
	int found, index;

	NEED(spfe_fabric_ready(user, &nodes));
	CHECK(nodes & bit(owner_node));
	NEED(spfe_fabric_buffer_alloc(owner, BYTES, &buffer, &memory));
	CHECK(memory[0] == 0 && memory[BYTES - 1] == 0);
	FAILS(BAD_FIELD, spfe_fabric_expose(buffer, bit(user_node), 4, key));
	FAILS(BAD_FIELD, spfe_fabric_expose(buffer, bit(user_node), SPFE_FABRIC_READ, NULL));
	FAILS(BAD_REGION, spfe_fabric_revoke(buffer));
	NEED(spfe_fabric_expose(buffer, bit(user_node), SPFE_FABRIC_READ | SPFE_FABRIC_WRITE, key));
	FAILS(BUSY, spfe_fabric_expose(buffer, bit(user_node), SPFE_FABRIC_READ, &other));
	found = spfe_fabric_windows(user, list, 4);
	CHECK(found >= 1 && spfe_fabric_windows(user, NULL, 0) == found);
	for (index = 0; index < found && index < 4; index++)
		if (list[index].key == *key)
			break;
	CHECK(index < found && list[index].owner == owner_node && list[index].bytes == BYTES &&
	      list[index].nodes == bit(user_node) && list[index].rights == 3);
	done("a buffer is exposed and listed");
}

static void moves(uint64_t key)
{
	static uint8_t from[BYTES], to[BYTES];
	struct spfe_fabric_part parts[3] = {{from, 10}, {from + 10, 0}, {from + 10, 990}};
	struct spfe_fabric_segment segments[2] = {{5000, 400}, {64, 600}};
	struct spfe_fabric_part whole = {to, BYTES};
	struct spfe_fabric_segment all = {0, BYTES};
	spfe_fabric_window *window = NULL;
	uint8_t *mapped = NULL;
	uint32_t index;
	uint64_t flag;

	for (index = 0; index < BYTES; index++)
		from[index] = (uint8_t)(index * 7 + index / 256);
	NEED(spfe_fabric_map(user, key, &window, &mapped));
	OK(spfe_fabric_put(window, parts, 3, segments, 2));
	CHECK(memcmp(memory + 5000, from, 400) == 0 && memcmp(memory + 64, from + 400, 600) == 0);
	CHECK(memcmp(mapped + 5000, from, 400) == 0);
	OK(spfe_fabric_get(window, &all, 1, &whole, 1));
	CHECK(memcmp(to, memory, BYTES) == 0);
	OK(spfe_fabric_put_flag(window, parts, 1, (struct spfe_fabric_segment[]){{0, 10}}, 1, 32,
				0x1122334455667788));
	memcpy(&flag, memory + 32, 8);
	CHECK(flag == 0x1122334455667788 && memcmp(memory, from, 10) == 0);
	spfe_fabric_fence();
	OK(spfe_fabric_pio_write(window, BYTES - 3, (const uint8_t *)"abc", 3));
	OK(spfe_fabric_pio_read(window, BYTES - 3, to, 3));
	CHECK(memcmp(memory + BYTES - 3, "abc", 3) == 0 && memcmp(to, "abc", 3) == 0);
	OK(spfe_fabric_put(window, NULL, 0, NULL, 0));
	/* From the buffer that is the window: both sides are the same memory. */
	parts[0].data = memory;
	parts[0].bytes = 1000;
	OK(spfe_fabric_put(window, parts, 1, (struct spfe_fabric_segment[]){{2000, 1000}}, 1));
	CHECK(memcmp(memory, memory + 2000, 1000) == 0);
	done("put, get, flag and access by the processor");

	parts[0] = (struct spfe_fabric_part){from, 10};
	FAILS(OUT_OF_BOUNDS, spfe_fabric_put(window, parts, 1,
					     (struct spfe_fabric_segment[]){{BYTES - 9, 10}}, 1));
	FAILS(OUT_OF_BOUNDS,
	      spfe_fabric_put(window, parts, 1,
			      (struct spfe_fabric_segment[]){{UINT64_MAX - 4, 10}}, 1));
	FAILS(BAD_FIELD, spfe_fabric_put(window, parts, 1, segments, 2));
	FAILS(BAD_FIELD, spfe_fabric_put(window, NULL, 1, segments, 2));
	FAILS(BAD_FIELD, spfe_fabric_get(window, segments, 2,
					 (struct spfe_fabric_part[]){{NULL, 1000}}, 1));
	FAILS(CHAIN_TOO_LONG, spfe_fabric_put(window, parts, 257, segments, 2));
	FAILS(BAD_FIELD, spfe_fabric_put_flag(window, parts, 1,
					      (struct spfe_fabric_segment[]){{0, 10}}, 1, 4, 1));
	FAILS(BAD_FIELD, spfe_fabric_pio_write(window, 0, NULL, 3));
	FAILS(BAD_REGION, spfe_fabric_map(user, key + 1, &(spfe_fabric_window *){NULL}, NULL));
	done("transfers that cannot be are refused");

	OK(spfe_fabric_revoke(buffer));
	CHECK(memcmp(memory + 5000, from, 400) == 0);
	mapped[5000] ^= 0xff; /* orphaned memory */
	CHECK(memcmp(memory + 5000, from, 400) == 0);
	FAILS(BAD_REGION, spfe_fabric_put(window, parts, 1,
					  (struct spfe_fabric_segment[]){{0, 10}}, 1));
	OK(spfe_fabric_unmap(window));
	FAILS(BAD_FIELD, spfe_fabric_put(window, NULL, 0, NULL, 0));
	done("nobody reaches a buffer that is revoked");
}

static void rights(void)
{
	uint8_t byte = 1;
	struct spfe_fabric_part part = {&byte, 1};
	struct spfe_fabric_segment segment = {0, 1};
	spfe_fabric_window *window = NULL;
	spfe_fabric_buffer *other = NULL;
	uint8_t *data;
	uint64_t key = 0;

	NEED(spfe_fabric_buffer_alloc(owner, 1, &other, &data));
	FAILS(OUT_OF_BOUNDS, spfe_fabric_buffer_alloc(owner, 0, &(spfe_fabric_buffer *){NULL}, &data));
	OK(spfe_fabric_buffer_free(other));
	NEED(spfe_fabric_buffer_alloc(owner, 4096, &other, &data));
	NEED(spfe_fabric_expose(other, bit(user_node), SPFE_FABRIC_READ, &key));
	NEED(spfe_fabric_map(user, key, &window, NULL));
	OK(spfe_fabric_get(window, &segment, 1, &part, 1));
	CHECK(byte == 0);
	FAILS(ACCESS_DENIED, spfe_fabric_put(window, &part, 1, &segment, 1));
	/* Freeing ends the exposure. */
	OK(spfe_fabric_buffer_free(other));
	FAILS(BAD_REGION, spfe_fabric_get(window, &segment, 1, &part, 1));
	OK(spfe_fabric_unmap(window));
	done("rights hold, and freeing a buffer revokes it");
}

static void mailbox(void)
{
	spfe_fabric_mailbox *near = NULL, *far = NULL;
	uint64_t rings = 0, value = 0;

	NEED(spfe_fabric_mailbox_open(owner, user_node, &near));
	NEED(spfe_fabric_mailbox_open(user, owner_node, &far));
	OK(spfe_fabric_ring_wait(near, 5, 0, SPFE_NOW, &rings) == SPFE_TIMED_OUT ? 0 : 1);
	OK(spfe_fabric_ring(far, 5));
	OK(spfe_fabric_ring(far, 5));
	OK(spfe_fabric_ring_wait(near, 5, 1, SPFE_NEVER, &rings));
	CHECK(rings == 2);
	OK(spfe_fabric_scratchpad_write(far, 15, 0xdeadbeefcafe));
	OK(spfe_fabric_scratchpad_read(near, 15, &value));
	CHECK(value == 0xdeadbeefcafe);
	FAILS(OUT_OF_BOUNDS, spfe_fabric_ring(far, 64));
	FAILS(OUT_OF_BOUNDS, spfe_fabric_scratchpad_write(far, 16, 0));
	FAILS(NOT_FOUND, spfe_fabric_mailbox_open(user, 65, &near));
	OK(spfe_fabric_mailbox_close(near));
	OK(spfe_fabric_mailbox_close(far));
	done("doorbells and scratchpads");
}

int main(int argc, char **argv)
{
	uint64_t key = 0;

	if (argc != 4)
		return 2;
	owner_node = (uint32_t)atoi(argv[2]);
	user_node = (uint32_t)atoi(argv[3]);
	FAILS(NOT_FOUND, spfe_fabric_open("/nowhere", 1, &owner));
	FAILS(NOT_FOUND, spfe_fabric_open(argv[1], 65, &owner));
	NEED(spfe_fabric_open(argv[1], owner_node, &owner));
	NEED(spfe_fabric_open(argv[1], user_node, &user));
	exposes(&key);
	moves(key);
	rights();
	mailbox();
	/* A buffer outlives the handle that it came from. */
	OK(spfe_fabric_close(owner));
	FAILS(BAD_FIELD, spfe_fabric_close(owner));
	NEED(spfe_fabric_expose(buffer, bit(user_node), 3, &key));
	OK(spfe_fabric_buffer_free(buffer));
	OK(spfe_fabric_close(user));
	done("closing in any order");
	printf("1..%d\n", number);
	return failures != 0;
}
