// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Example and test for an emulated machine with two endpoints on one network. Sends groups of
 * packets from one to the other, broadcast messages on port 0, and time-codes on port 1 if there is
 * one. Prints TAP.
 */

#include "virt.h"

#include <spfe/spfe.h>

#define LOG2 6
#define GROUP 16U
#define GROUPS 200U
#define BYTES 1500U
#define MESSAGES 32U
#define SOON 20000000000ULL

static struct spfe_device a, b;
/* Memory that the devices may access: rings, buffers, the packed area. */
static _Alignas(4096) struct {
	_Alignas(64) uint8_t tx[SPFE_QUEUE_BYTES(LOG2)];
	_Alignas(64) uint8_t rx[SPFE_QUEUE_BYTES(LOG2)];
	_Alignas(64) uint8_t message_tx[SPFE_QUEUE_BYTES(LOG2)];
	_Alignas(64) uint8_t message_rx[SPFE_QUEUE_BYTES(LOG2)];
	_Alignas(64) uint8_t from[GROUP][BYTES];
	_Alignas(64) uint8_t to[GROUP][BYTES];
	_Alignas(64) uint8_t area[65536];
} memory;
static struct spfe_region *at_a, *at_b;
static uint32_t tests;
static bool failed;

static bool report(bool passed, const char *name)
{
	failed |= !passed;
	print(passed ? "ok " : "not ok ");
	print_number(++tests);
	print(" - ");
	print(name);
	print("\n");
	return passed;
}

static bool good(enum spfe_status status)
{
	if (status != SPFE_STATUS_OK) {
		print("# ");
		print(spfe_status_text(status));
		print("\n");
	}
	return status == SPFE_STATUS_OK;
}

static struct spfe_queue_options options(struct spfe_region *region, void *place)
{
	return (struct spfe_queue_options){ .region = region, .memory = place, .log2 = LOG2 };
}

static uint8_t expected(uint32_t packet, uint32_t byte)
{
	return (uint8_t)(packet * 37 + byte * 11 + (byte >> 8));
}

static void fill(uint8_t *bytes, uint32_t packet)
{
	for (uint32_t i = 0; i < BYTES; i++)
		bytes[i] = expected(packet, i);
}

static bool matches(const uint8_t *bytes, uint32_t packet)
{
	for (uint32_t i = 0; i < BYTES; i++)
		if (bytes[i] != expected(packet, i))
			return false;
	return true;
}

/* Sends one group. False if it does not arrive complete. */
static bool send_group(struct spfe_queue *tx, struct spfe_queue *rx, uint32_t first)
{
	struct spfe_done done;
	uint32_t i;

	for (i = 0; i < GROUP; i++) {
		fill(memory.from[i], first + i);
		if (!good(spfe_rx_post(rx, at_b, memory.to[i], BYTES)) ||
		    !good(spfe_tx_post(tx, at_a, memory.from[i], BYTES,
				       i + 1 == GROUP ? SPFE_SIGNAL : 0)))
			return false;
	}
	spfe_commit(rx);
	spfe_commit(tx);
	for (i = 0; i < GROUP; i++)
		if (!spfe_wait(rx, SOON) || !spfe_poll(rx, &done) || !good(done.status) ||
		    done.bytes != BYTES || !matches(memory.to[i], first + i))
			return false;
	/* The whole group has one completion. */
	return spfe_wait(tx, SOON) && spfe_poll(tx, &done) && good(done.status) &&
	       done.freed == GROUP;
}

static bool packets(void)
{
	struct spfe_queue_options for_tx = options(at_a, memory.tx),
				  for_rx = options(at_b, memory.rx);
	struct spfe_queue tx, rx;
	uint32_t group;

	if (!good(spfe_tx_open(&a, &tx, 0, 0, &for_tx)) ||
	    !good(spfe_rx_open(&b, &rx, 0, 0, &for_rx)))
		return false;
	for (group = 0; group < GROUPS; group++)
		if (!send_group(&tx, &rx, group * GROUP))
			return false;
	return good(spfe_close(&tx)) && good(spfe_close(&rx));
}

static bool packed(void)
{
	struct spfe_queue_options for_tx = options(at_a, memory.tx),
				  for_rx = options(at_b, memory.rx);
	uint32_t got = 0, group;
	struct spfe_record record;
	struct spfe_queue tx, rx;
	struct spfe_done done;

	if (!good(spfe_tx_open(&a, &tx, 0, 1, &for_tx)) ||
	    !good(spfe_packed_open(&b, &rx, 0, 1, &for_rx, at_b, memory.area, sizeof(memory.area))))
		return false;
	fill(memory.from[0], 5);
	for (group = 0; group < GROUPS; group++) {
		if (!good(spfe_tx_burst(&tx, at_a, memory.from, BYTES, 0, GROUP, SPFE_SIGNAL)))
			return false;
		spfe_commit(&tx);
		while (got < (group + 1) * GROUP) {
			if (!spfe_wait(&rx, SOON))
				return false;
			for (; spfe_packed_next(&rx, &record); got++)
				if (record.length != BYTES || !matches(record.bytes, 5))
					return false;
			spfe_packed_release(&rx);
		}
		if (!spfe_wait(&tx, SOON) || !spfe_poll(&tx, &done) || done.packets != GROUP)
			return false;
	}
	return good(spfe_close(&tx)) && good(spfe_close(&rx));
}

static bool messages(uint32_t port, bool time_codes)
{
	struct spfe_queue_options for_tx = options(at_a, memory.message_tx);
	struct spfe_queue_options for_rx = options(at_b, memory.message_rx);
	struct spfe_received message;
	struct spfe_queue tx, rx;
	struct spfe_done done;
	uint32_t i;

	if (!good(spfe_message_tx_open(&a, &tx, port, &for_tx)) ||
	    !good(spfe_message_rx_open(&b, &rx, port, 0, &for_rx)))
		return false;
	for (i = 0; i < MESSAGES; i++) {
		if (!good(time_codes
				  ? spfe_time_code_post(&tx, (uint8_t)i, 0)
				  : spfe_broadcast_post(&tx, 3, 0x20, 0x1122334455667700ULL + i)))
			return false;
		spfe_commit(&tx);
		if (!spfe_wait(&rx, SOON) || !spfe_message_poll(&rx, &message) ||
		    message.data != (time_codes ? i : 0x1122334455667700ULL + i) ||
		    !spfe_wait(&tx, SOON) || !spfe_poll(&tx, &done))
			return false;
	}
	return good(spfe_close(&tx)) && good(spfe_close(&rx));
}

int main(void)
{
	const uint32_t access = SPFE_ACCESS_LOCAL_READ | SPFE_ACCESS_LOCAL_WRITE;
	void *registers[2];

	if (!report(find_devices(SPFE_PCI_VENDOR, SPFE_PCI_DEVICE, registers, 2) == 2,
		    "two endpoints on the bus"))
		return 1;
	if (!report(good(spfe_open(&a, registers[0])) && good(spfe_open(&b, registers[1])),
		    "both are opened"))
		return 1;
	if (!report(good(spfe_region_add(&a, &memory, (uintptr_t)&memory, sizeof(memory), access,
					 &at_a)) &&
			    good(spfe_region_add(&b, &memory, (uintptr_t)&memory, sizeof(memory),
						 access, &at_b)),
		    "memory is registered"))
		return 1;
	report(packets(), "packets in groups");
	report(packed(), "bursts into a packed area");
	report(messages(0, false), "broadcast messages");
	if (a.ports > 1 && a.port[1].kind == SPFE_PORT_KIND_SPACEWIRE)
		report(messages(1, true), "time-codes");
	report(good(spfe_reset(&a)) && good(spfe_reset(&b)), "reset");
	print("1..");
	print_number(tests);
	print(failed ? "\nfailed\n" : "\npassed\n");
	return failed;
}
