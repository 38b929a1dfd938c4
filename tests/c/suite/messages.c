/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Messages, RMAP and CCSDS packets. */
#define _GNU_SOURCE
#include "suite.h"

void messages(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_broadcast message;
	struct spfe_interrupt interrupt;
	struct spfe_time_code code;
	spfe_queue *sender = NULL, *listener = NULL;

	FAILS(BAD_FIELD, spfe_broadcast_open(endpoint, 0, 256, SPFE_ANY, NULL, &sender));
	FAILS(BAD_OPCODE, spfe_broadcast_open(endpoint, 2, SPFE_ANY, SPFE_ANY, NULL, &sender));
	OK(spfe_broadcast_open(endpoint, 0, SPFE_ANY, SPFE_ANY, NULL, &sender));
	OK(spfe_broadcast_open(endpoint, 1, 5, SPFE_ANY, NULL, &listener));
	FAILS(BAD_FIELD, spfe_broadcast_send(sender, 5, 1, NULL));
	OK(spfe_broadcast_send(sender, 4, 0x20, (const uint8_t *)"filtered"));
	OK(spfe_broadcast_send(sender, 5, 0x21, (const uint8_t *)"8 bytes!"));
	OK(spfe_messages_drain(sender, SPFE_NEVER));
	CHECK(spfe_queue_wait(listener, NULL, SPFE_NEVER) > 0);
	CHECK(spfe_broadcast_poll(listener, &message) == 1);
	CHECK(message.channel == 5 && message.type == 0x21 && !message.late);
	CHECK(memcmp(message.data, "8 bytes!", 8) == 0);
	CHECK(spfe_broadcast_poll(listener, &message) == 0);
	FAILS(BAD_OPCODE, spfe_time_code_poll(listener, &code));
	OK(spfe_queue_close(sender));
	OK(spfe_queue_close(listener));
	FAILS(BAD_OPCODE, spfe_time_code_open(endpoint, 0, NULL, &sender));
	OK(spfe_time_code_open(endpoint, 2, NULL, &sender));
	OK(spfe_time_code_open(endpoint, 3, NULL, &listener));
	FAILS(BAD_FIELD, spfe_time_code_send(sender, 64, 0));
	OK(spfe_time_code_send(sender, 63, 2));
	OK(spfe_messages_drain(sender, SPFE_NEVER));
	CHECK(spfe_queue_wait(listener, NULL, SPFE_NEVER) > 0);
	CHECK(spfe_time_code_poll(listener, &code) == 1 && code.time == 63 && code.flags == 2);
	OK(spfe_queue_close(sender));
	OK(spfe_queue_close(listener));
	FAILS(BAD_OPCODE, spfe_interrupt_open(endpoint, 0, NULL, &sender));
	OK(spfe_interrupt_open(endpoint, 2, NULL, &sender));
	OK(spfe_interrupt_open(endpoint, 3, NULL, &listener));
	FAILS(BAD_FIELD, spfe_interrupt_send(sender, 32, 0));
	FAILS(BAD_OPCODE, spfe_time_code_poll(listener, &code));
	OK(spfe_interrupt_send(sender, 31, 0));
	OK(spfe_interrupt_send(sender, 7, 1));
	OK(spfe_messages_drain(sender, SPFE_NEVER));
	CHECK(spfe_queue_wait(listener, NULL, SPFE_NEVER) > 0);
	CHECK(spfe_interrupt_poll(listener, &interrupt) == 1 && interrupt.number == 31);
	CHECK(!interrupt.acknowledge && !interrupt.lost_before);
	CHECK(spfe_queue_wait(listener, NULL, SPFE_NEVER) > 0);
	CHECK(spfe_interrupt_poll(listener, &interrupt) == 1 && interrupt.number == 7);
	CHECK(interrupt.acknowledge == 1 && spfe_interrupt_poll(listener, &interrupt) == 0);
	OK(spfe_queue_close(sender));
	OK(spfe_queue_close(listener));
	OK(spfe_close(endpoint));
}

void rmap(void)
{
	spfe_endpoint *endpoint = device("virtual:?peer=rmap:64K:key=0x20");
	struct spfe_rmap_options of = {.size = sizeof(of), .key = 0x20};
	spfe_rmap *initiator = NULL;
	uint8_t data[300], back[300], old[4];
	uint8_t wrong_path[33] = {1};
	unsigned int i;
	int refused;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	of.path = wrong_path;
	of.path_bytes = sizeof(wrong_path);
	FAILS(BAD_FIELD, spfe_rmap_open(endpoint, 0, 0, &of, &initiator));
	of.path_bytes = 0;
	OK(spfe_rmap_open(endpoint, 0, 0, &of, &initiator));
	OK(spfe_rmap_write(initiator, 0x100, data, sizeof(data), SPFE_NEVER));
	OK(spfe_rmap_read(initiator, 0x100, back, sizeof(back), SPFE_NEVER));
	CHECK(memcmp(data, back, sizeof(data)) == 0);
	OK(spfe_rmap_modify(initiator, 0x100, "\xff\xff\xff\xff", "\x0f\0\0\0", old, 4, SPFE_NEVER));
	CHECK(memcmp(old, data, 4) == 0);
	OK(spfe_rmap_read(initiator, 0x100, back, 1, SPFE_NEVER));
	CHECK(back[0] == 0x0f);
	refused = spfe_rmap_read(initiator, UINT64_C(0x10000000), back, 4, SPFE_NEVER);
	CHECK(refused < SPFE_RMAP_REFUSED && strcmp(spfe_status_name(refused), "RMAP_REFUSED") == 0);
	CHECK(spfe_errno(refused) == EIO && strstr(spfe_error(), "RMAP read") != NULL);
	FAILS(BAD_FIELD, spfe_rmap_read(initiator, 0x100, NULL, 4, SPFE_NEVER));
	OK(spfe_rmap_close(initiator));
	OK(spfe_close(endpoint));
}

static void *serve(void *target)
{
	return (void *)(intptr_t)spfe_rmap_target_serve(target, SPFE_NEVER);
}

void target(void)
{
	struct spfe_rmap_target_options wrong = {.size = sizeof(wrong), .reserved = {1}};
	struct spfe_rmap_options by_key = {.size = sizeof(by_key), .key = 0x20};
	spfe_endpoint *endpoint = device("virtual:");
	spfe_rmap_target *served = NULL;
	spfe_rmap *rmap = NULL;
	uint8_t *memory = NULL;
	pthread_t server;
	char back[6];
	void *result;

	FAILS(BAD_FIELD, spfe_rmap_target_open(endpoint, 1, 0, &wrong, &served));
	OK(spfe_rmap_target_open(endpoint, 1, 0, NULL, &served));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 64, 0, SPFE_ANY, &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 0, SPFE_RMAP_READ, SPFE_ANY, &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 64, SPFE_RMAP_READ, 256, &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0, 64, SPFE_RMAP_READ, 1, NULL));
	OK(spfe_rmap_target_window(served, 0x1000, 4096, SPFE_RMAP_READ | SPFE_RMAP_WRITE, 0x20,
				   &memory));
	FAILS(BAD_FIELD, spfe_rmap_target_window(served, 0x1fff, 1, SPFE_RMAP_READ, 0x20, &memory));
	CHECK(spfe_rmap_target_serve(served, SPFE_NOW) == 0);
	if (pthread_create(&server, NULL, serve, served) != 0)
		exit(1);
	OK(spfe_rmap_open(endpoint, 0, 0, &by_key, &rmap));
	OK(spfe_rmap_write(rmap, 0x1010, "hello", 6, SPFE_NEVER));
	CHECK(memory && !memcmp(memory + 0x10, "hello", 6));
	OK(spfe_rmap_read(rmap, 0x1010, back, 6, SPFE_NEVER));
	CHECK(!strcmp(back, "hello"));
	CHECK(spfe_rmap_write(rmap, 0x2000, "x", 1, SPFE_NEVER) == SPFE_RMAP_REFUSED - 10);
	OK(spfe_rmap_target_cancel(served));
	CHECK(pthread_join(server, &result) == 0);
	CHECK((intptr_t)result == -SPFE_STATUS_CANCELLED);
	OK(spfe_rmap_close(rmap));
	OK(spfe_rmap_target_close(served));
	FAILS(BAD_FIELD, spfe_rmap_target_serve(served, SPFE_NOW));
	FAILS(BAD_FIELD, spfe_rmap_target_cancel(served));
	FAILS(BAD_FIELD, spfe_rmap_target_close(NULL));
	OK(spfe_close(endpoint));
}

void ccsds(void)
{
	struct spfe_space_packet packet = {.size = sizeof(packet)}, read = {.size = sizeof(read)};
	const uint8_t path[] = {1, 3}, data[] = "housekeeping";
	uint8_t out[64], wrong[64];
	int length;

	packet.data = data;
	packet.data_bytes = sizeof(data);
	packet.apid = 0x123;
	packet.sequence_count = 7;
	packet.telecommand = 1;
	packet.sequence_flags = SPFE_UNSEGMENTED;
	packet.target = 0xfe;
	packet.user_application = 9;
	FAILS(TOO_LONG, spfe_ccsds_write(&packet, path, sizeof(path), out, 24));
	length = spfe_ccsds_write(&packet, path, sizeof(path), out, sizeof(out));
	CHECK(length == 2 + 10 + (int)sizeof(data) && out[0] == 1 && out[1] == 3);
	/* Routers delete the path; protocol identifier 2 follows the target. */
	CHECK(out[2] == 0xfe && out[3] == 2 && out[6] == 0x11 && out[7] == 0x23);
	OK(spfe_ccsds_read(out + 2, (size_t)length - 2, &read));
	CHECK(read.apid == 0x123 && read.sequence_count == 7 && read.telecommand == 1);
	CHECK(read.sequence_flags == SPFE_UNSEGMENTED && read.secondary_header == 0);
	CHECK(read.target == 0xfe && read.user_application == 9);
	CHECK(read.data == out + 12 && read.data_bytes == sizeof(data));

	memcpy(wrong, out + 2, sizeof(wrong) - 2);
	wrong[1] = 1; /* RMAP */
	FAILS(BAD_FIELD, spfe_ccsds_read(wrong, (size_t)length - 2, &read));
	FAILS(BAD_FIELD, spfe_ccsds_read(out + 2, (size_t)length - 3, &read));
	FAILS(BAD_FIELD, spfe_ccsds_read(NULL, 20, &read));
	FAILS(BAD_FIELD, spfe_ccsds_read(out + 2, (size_t)length - 2, NULL));
	FAILS(BAD_FIELD, spfe_ccsds_write(NULL, NULL, 0, out, sizeof(out)));
	FAILS(TOO_LONG, spfe_ccsds_write(&packet, NULL, 0, NULL, 0));
	packet.data = out;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
	packet.data = data;
	packet.apid = 0x800;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
	packet.apid = 0;
	packet.sequence_flags = 4;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
	packet.sequence_flags = 0;
	packet.data_bytes = 0;
	FAILS(BAD_FIELD, spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out)));
}
