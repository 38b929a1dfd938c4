/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Results, names, descriptions, structures and handles. */
#define _GNU_SOURCE
#include "suite.h"

void results(void)
{
	CHECK(strcmp(spfe_status_name(0), "OK") == 0);
	CHECK(strcmp(spfe_status_name(7), "OK") == 0);
	CHECK(strcmp(spfe_status_name(-SPFE_STATUS_BUSY), "BUSY") == 0);
	CHECK(strcmp(spfe_status_name(SPFE_TIMED_OUT), "TIMED_OUT") == 0);
	CHECK(strcmp(spfe_status_name(SPFE_RMAP_REFUSED - 3), "RMAP_REFUSED") == 0);
	CHECK(strcmp(spfe_status_name(-0x7f), "UNKNOWN") == 0);
	CHECK(strcmp(spfe_status_name(INT32_MIN), "UNKNOWN") == 0);
	CHECK(strcmp(spfe_status_class(-SPFE_STATUS_PACKET_CUT), "link") == 0);
	CHECK(strcmp(spfe_status_class(SPFE_RMAP_REFUSED - 3), "remote") == 0);
	CHECK(spfe_errno(0) == 0 && spfe_errno(SPFE_TIMED_OUT) == ETIMEDOUT);
	/* Every status of the contract has the errno and the name of the contract. */
#define STATUS(name, code, class, error, text)                                                     \
	CHECK(spfe_errno(-(code)) == (error));                                                     \
	CHECK(strcmp(spfe_status_name(-(code)), #name) == 0);
	SPFE_STATUS_TABLE(STATUS)
#undef STATUS
	CHECK(strlen(spfe_version()) >= 5);
}

void names(void)
{
	spfe_endpoint *endpoint = NULL;

	FAILS(BAD_FIELD, spfe_open("nonsense", &endpoint));
	CHECK(strstr(spfe_error(), "nonsense") != NULL);
	FAILS(BAD_FIELD, spfe_open("\xff", &endpoint));
	FAILS(BAD_FIELD, spfe_open(NULL, &endpoint));
	FAILS(BAD_FIELD, spfe_open("virtual:", NULL));
	FAILS(DEVICE_GONE, spfe_open("unix:/nowhere/spfe.sock", &endpoint));
	CHECK(endpoint == NULL);
}

void description(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_endpoint_info info = {.size = sizeof(info)};
	struct spfe_port_info port = {.size = sizeof(port)};
	struct spfe_vc_info vc = {.size = sizeof(vc)};
	uint64_t value = 99;

	OK(spfe_endpoint_info(endpoint, &info));
	CHECK(info.size == sizeof(info) && info.ports == 4);
	CHECK(info.contract_major == SPFE_CONTRACT_VERSION_MAJOR);
	OK(spfe_port_info(endpoint, 0, &port));
	CHECK(port.kind == SPFE_PORT_KIND_SPACEFIBRE && port.state == SPFE_PORT_STATE_UP);
	CHECK(port.vcs == 8);
	OK(spfe_port_info(endpoint, 2, &port));
	CHECK(port.kind == SPFE_PORT_KIND_SPACEWIRE && port.vcs == 1);
	FAILS(NOT_FOUND, spfe_port_info(endpoint, 4, &port));
	OK(spfe_vc_set_priority(endpoint, 0, 3, 15));
	OK(spfe_vc_info(endpoint, 0, 3, &vc));
	CHECK(vc.priority == 15 && vc.far_receives == 0);
	FAILS(BAD_VC, spfe_vc_set_priority(endpoint, 0, 3, 16));
	FAILS(BAD_VC, spfe_vc_info(endpoint, 0, 8, &vc));
	OK(spfe_mib_get(endpoint, 0, "Priority[3]", &value));
	CHECK(value == 15);
	OK(spfe_mib_set(endpoint, 0, "priority.3", 2));
	OK(spfe_mib_get(endpoint, 0, "Priority[3]", &value));
	CHECK(value == 2);
	FAILS(NOT_FOUND, spfe_mib_get(endpoint, 0, "Colour", &value));
	FAILS(BAD_FIELD, spfe_mib_get(endpoint, 0, "Priority[3]", NULL));
	FAILS(BAD_FIELD, spfe_mib_get(endpoint, 0, NULL, &value));
	OK(spfe_close(endpoint));
}

/* An older program knows less of a structure, a newer one more. */
void sizes(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct {
		struct spfe_queue_options known;
		uint64_t later;
	} newer = {.known = {.size = sizeof(newer)}};
	struct {
		size_t size;
		uint32_t endpoint, client;
		uint32_t canary;
	} older = {.size = 16, .canary = 0xdead};
	struct spfe_endpoint_info info = {.size = 0};
	spfe_queue *queue = NULL;

	OK(spfe_endpoint_info(endpoint, (struct spfe_endpoint_info *)(void *)&older));
	CHECK(older.canary == 0xdead && older.size == 16);
	FAILS(BAD_FIELD, spfe_endpoint_info(endpoint, &info));
	info.size = (size_t)1 << 40;
	FAILS(BAD_FIELD, spfe_endpoint_info(endpoint, &info));
	OK(spfe_tx_open(endpoint, 0, 0, &newer.known, &queue));
	OK(spfe_queue_close(queue));
	newer.later = 1;
	FAILS(BAD_FIELD, spfe_tx_open(endpoint, 0, 0, &newer.known, &queue));
	newer.known.size = 3;
	FAILS(BAD_FIELD, spfe_tx_open(endpoint, 0, 0, &newer.known, &queue));
	OK(spfe_close(endpoint));
}

void handles(void)
{
	spfe_endpoint *endpoint = device("virtual:");
	struct spfe_buf *buf = buffer(endpoint, 64);
	struct spfe_sent sent;
	struct spfe_packet packet;
	spfe_queue *queue = NULL, *other;

	FAILS(BAD_FIELD, spfe_close(NULL));
	FAILS(BAD_FIELD, spfe_queue_close(NULL));
	FAILS(BAD_FIELD, spfe_queue_cancel(NULL));
	FAILS(BAD_FIELD, spfe_buf_put(NULL));
	FAILS(BAD_FIELD, spfe_region_free(NULL));
	FAILS(BAD_FIELD, spfe_rmap_close(NULL));
	CHECK(spfe_now_ns(NULL) == 0 && spfe_region_size(NULL) == 0);
	OK(spfe_tx_open(endpoint, 0, 0, NULL, &queue));
	FAILS(BAD_FIELD, spfe_send(queue, NULL, SPFE_EOP));
	FAILS(BAD_FIELD, spfe_send(queue, buf, (enum spfe_end)7));
	FAILS(BAD_FIELD, spfe_send_group(queue, NULL, 2));
	CHECK(spfe_send_group(queue, NULL, 0) == 0);
	FAILS(BAD_FIELD, spfe_sent_poll(queue, NULL));
	FAILS(BAD_OPCODE, spfe_rx_post(queue, buf));
	FAILS(BAD_OPCODE, spfe_slot_peek(queue, &packet));
	FAILS(BAD_OPCODE, spfe_time_code_send(queue, 1, 0));
	FAILS(BAD_FIELD, spfe_queue_fd(queue));
	/* A second opening names who has it. */
	FAILS(BUSY, spfe_tx_open(endpoint, 0, 0, NULL, &other));
	OK(spfe_queue_close(queue));
	FAILS(BAD_FIELD, spfe_queue_close(queue));
	FAILS(BAD_FIELD, spfe_sent_poll(queue, &sent));
	FAILS(BAD_FIELD, spfe_queue_cancel(queue));
	CHECK(strstr(spfe_error(), "closed") != NULL);
	OK(spfe_buf_put(buf));
	FAILS(BAD_FIELD, spfe_buf_put(buf));
	OK(spfe_close(endpoint));
	FAILS(BAD_FIELD, spfe_close(endpoint));
	FAILS(BAD_FIELD, spfe_reset(endpoint));
}
