/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Plays SBN on two processors for the module in examples/cfs. Prints TAP.
 *
 *   peer DEVICE DEVICE SOCKET SPFED     two endpoints whose ports 0 are joined, of a daemon that runs;
 *                                       the path and the program of a daemon that the test starts itself
 */
#define _GNU_SOURCE
#include "sbn_error.h"
#include "sbn_interfaces.h"

#include <spfe/spfe.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern SBN_IfOps_t SBN_SPFE_Ops;

#define HEADER SBN_PACKED_HDR_SZ
#define VERSION 6 /* of the interface, which SBN tells a module */
#define MOST CFE_MISSION_SB_MAX_SB_MSG_SIZE
#define PATIENCE 400 /* polls, each with a pause of 50 ms */

static int number, failures, bad, connects, disconnects;
static SBN_NetInterface_t a, b;
static uint8_t payload[MOST + 1], received[MOST];

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# line %d: %s (%s)\n", __LINE__, #condition, spfe_error());        \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)

SBN_ProcessorID_t CFE_PSP_GetProcessorId(void)
{
	return 7;
}

SBN_SpacecraftID_t CFE_PSP_GetSpacecraftId(void)
{
	return 42;
}

static void put(uint8_t **at, uint64_t value, int bytes)
{
	while (bytes--)
		*(*at)++ = (uint8_t)(value >> (8 * bytes));
}

static uint32_t get(const uint8_t **at, int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *(*at)++;
	return value;
}

static void pack(void *packed, SBN_MsgSz_t bytes, SBN_MsgType_t type, SBN_ProcessorID_t processor,
		 SBN_SpacecraftID_t spacecraft, void *from)
{
	uint8_t *at = packed;

	put(&at, bytes, 4);
	put(&at, type, 1);
	put(&at, processor, 4);
	put(&at, spacecraft, 4);
	if (from)
		memcpy(at, from, bytes);
}

static bool unpack(void *packed, SBN_MsgSz_t *bytes, SBN_MsgType_t *type,
		   SBN_ProcessorID_t *processor, SBN_SpacecraftID_t *spacecraft, void *to)
{
	const uint8_t *at = packed;

	*bytes = get(&at, 4);
	*type = (SBN_MsgType_t)get(&at, 1);
	*processor = get(&at, 4);
	*spacecraft = get(&at, 4);
	if (*bytes > MOST)
		return false;
	memcpy(to, at, *bytes);
	return true;
}

static SBN_Status_t connected(SBN_PeerInterface_t *peer)
{
	connects++;
	peer->Connected = true;
	return SBN_SUCCESS;
}

static SBN_Status_t disconnected(SBN_PeerInterface_t *peer)
{
	disconnects++;
	peer->Connected = false;
	return SBN_SUCCESS;
}

static void load(SBN_NetInterface_t *net, const char *from)
{
	char device[256];

	/* As SBN does it: the address is gone after loading. */
	snprintf(device, sizeof(device), "%s", from);
	memset(net, 0, sizeof(*net));
	net->PeerCnt = 1;
	net->Peers[0].Net = net;
	CHECK(SBN_SPFE_Ops.LoadNet(net, device) == SBN_SUCCESS);
	CHECK(SBN_SPFE_Ops.LoadPeer(&net->Peers[0], "0 0") == SBN_SUCCESS);
	memset(device, 0, sizeof(device));
	CHECK(SBN_SPFE_Ops.InitNet(net) == SBN_SUCCESS);
	CHECK(SBN_SPFE_Ops.InitPeer(&net->Peers[0]) == SBN_SUCCESS);
}

static SBN_Status_t send(SBN_NetInterface_t *net, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at++)
		payload[at] = (uint8_t)(at + bytes);
	return SBN_SPFE_Ops.Send(&net->Peers[0], SBN_APP_MSG, bytes, payload);
}

static SBN_Status_t receive(SBN_NetInterface_t *net, uint32_t *bytes)
{
	SBN_SpacecraftID_t spacecraft = 0;
	SBN_ProcessorID_t processor = 0;
	SBN_MsgType_t type = 0;
	SBN_Status_t status = SBN_SPFE_Ops.RecvFromPeer(net, &net->Peers[0], &type, bytes,
							&processor, &spacecraft, received);

	if (status == SBN_SUCCESS) {
		CHECK(type == SBN_APP_MSG && processor == 7 && spacecraft == 42);
		for (uint32_t at = 0; at < *bytes && !bad; at++)
			CHECK(received[at] == (uint8_t)(at + *bytes));
	}
	return status;
}

/* Takes a message of so many bytes. In this process a message is there when Send returns, or soon. */
static void take(SBN_NetInterface_t *net, uint32_t expected)
{
	SBN_Status_t status = SBN_IF_EMPTY;
	uint32_t bytes = 0;

	for (int turn = 0; turn < PATIENCE && status == SBN_IF_EMPTY; turn++) {
		status = receive(net, &bytes);
		if (status == SBN_IF_EMPTY)
			usleep(1000);
	}
	CHECK(status == SBN_SUCCESS && bytes == expected);
}

/* Polls both sides until they are connected, or are not. */
static void poll_until(bool state)
{
	for (int turn = 0; turn < PATIENCE; turn++) {
		SBN_SPFE_Ops.PollPeer(&a.Peers[0]);
		SBN_SPFE_Ops.PollPeer(&b.Peers[0]);
		if (a.Peers[0].Connected == state && b.Peers[0].Connected == state)
			return;
		usleep(50000);
	}
	CHECK(!"in time");
}

static void messages(void)
{
	static const uint32_t sizes[] = {0, 1, 2, 12, 100, 4096, MOST};

	poll_until(true);
	CHECK(connects == 2 && disconnects == 0);
	for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
		CHECK(send(&a, sizes[at]) == SBN_SUCCESS);
		CHECK(send(&b, sizes[at]) == SBN_SUCCESS);
	}
	/* Neither merged nor split, in order. */
	for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
		take(&b, sizes[at]);
		take(&a, sizes[at]);
	}
	CHECK(receive(&a, &(uint32_t){0}) == SBN_IF_EMPTY);
	CHECK(send(&a, MOST + 1) == SBN_ERROR);
}

/* A peer that takes nothing: Send gives up in bounded time, and loses nothing that it took. */
static void back_pressure(void)
{
	uint32_t sent = 0;

	while (send(&a, 1 + sent % 50) == SBN_SUCCESS && sent < 1000)
		sent++;
	CHECK(sent >= 32 && sent < 1000);
	CHECK(send(&a, 1) == SBN_ERROR);
	CHECK(a.Peers[0].Connected);
	for (uint32_t at = 0; at < sent && !bad; at++)
		take(&b, 1 + at % 50);
	CHECK(receive(&b, &(uint32_t){0}) == SBN_IF_EMPTY);
	CHECK(send(&a, 3) == SBN_SUCCESS);
	take(&b, 3);
}

/* What is no message of SBN is dropped, and the next one arrives. */
static void nonsense(const char *device)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	spfe_endpoint *endpoint;
	spfe_region *region;
	struct spfe_buf *buf;
	spfe_queue *tx;
	uint32_t bytes;

	CHECK(SBN_SPFE_Ops.UnloadNet(&a) == SBN_SUCCESS);
	CHECK(spfe_open(device, &endpoint) == 0);
	CHECK(spfe_tx_open(endpoint, 0, 0, &options, &tx) == 0);
	CHECK(spfe_region_alloc(endpoint, 4096, &region) == 0);
	CHECK(spfe_buf_get(region, 0, 4096, &buf) == 0);
	for (int kind = 0; kind < 4 && !bad; kind++) {
		SBN_Status_t status = SBN_IF_EMPTY;
		struct spfe_sent sent;

		pack(buf->data, kind == 2 ? 0xffffffff : 20, SBN_APP_MSG, 7, 42, NULL);
		/* Too short for a header, longer than it says, a size of 4 GiB, cut. */
		buf->length = kind == 0 ? 5 : kind == 1 ? HEADER + 21 : HEADER + 20;
		CHECK(spfe_send(tx, buf, kind == 3 ? SPFE_EEP : SPFE_EOP) == 0);
		for (int turn = 0; turn < PATIENCE && status == SBN_IF_EMPTY; turn++) {
			status = receive(&b, &bytes);
			if (status == SBN_IF_EMPTY)
				usleep(1000);
		}
		CHECK(status == SBN_ERROR);
		CHECK(spfe_queue_wait(tx, NULL, SPFE_NEVER) >= 0 && spfe_sent_poll(tx, &sent) == 1);
	}
	CHECK(spfe_queue_close(tx) == 0 && spfe_buf_put(buf) == 0);
	CHECK(spfe_region_free(region) == 0 && spfe_close(endpoint) == 0);
	load(&a, device);
	poll_until(true);
	CHECK(send(&a, 9) == SBN_SUCCESS);
	take(&b, 9);
}

/* A peer that goes and comes. */
static void leaving(const char *device)
{
	CHECK(SBN_SPFE_Ops.UnloadNet(&b) == SBN_SUCCESS);
	disconnects = 0;
	for (int turn = 0; turn < PATIENCE && a.Peers[0].Connected; turn++) {
		SBN_SPFE_Ops.PollPeer(&a.Peers[0]);
		usleep(50000);
	}
	CHECK(!a.Peers[0].Connected && disconnects == 1);
	load(&b, device);
	poll_until(true);
	CHECK(send(&b, 5) == SBN_SUCCESS);
	take(&a, 5);
	CHECK(SBN_SPFE_Ops.UnloadNet(&a) == SBN_SUCCESS && SBN_SPFE_Ops.UnloadNet(&b) == SBN_SUCCESS);
}

static pid_t start(const char *program, const char *path)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(126);
		execl(program, program, "--listen", path, "--mode", "thread", (char *)NULL);
		_exit(127);
	}
	return child;
}

static void stop(pid_t daemon)
{
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
}

/* A device that is not there at first, dies, and comes again. */
static void restarts(const char *path, const char *program)
{
	char device[2][256];
	pid_t daemon;

	for (int end = 0; end < 2; end++)
		snprintf(device[end], sizeof(device[end]), "unix:%s/%d", path, end);
	load(&a, device[0]);
	load(&b, device[1]);
	CHECK(SBN_SPFE_Ops.PollPeer(&a.Peers[0]) == SBN_ERROR && !a.Peers[0].Connected);
	CHECK(send(&a, 1) == SBN_ERROR);
	CHECK(receive(&a, &(uint32_t){0}) == SBN_IF_EMPTY);
	for (int life = 0; life < 2; life++) {
		daemon = start(program, path);
		poll_until(true);
		CHECK(send(&a, 8) == SBN_SUCCESS);
		take(&b, 8);
		stop(daemon);
		unlink(path);
		poll_until(false);
	}
	CHECK(SBN_SPFE_Ops.UnloadNet(&a) == SBN_SUCCESS && SBN_SPFE_Ops.UnloadNet(&b) == SBN_SUCCESS);
}

static void report(const char *name)
{
	printf("%sok %d - %s\n", bad ? "not " : "", ++number, name);
	fflush(stdout);
	failures += bad > 0;
	bad = 0;
}

int main(int argc, char **argv)
{
	SBN_ProtocolOutlet_t outlet = {pack, unpack, connected, disconnected};
	char too_long[200] = "";

	if (argc != 5)
		return 2;
	CHECK(SBN_SPFE_Ops.InitModule(VERSION + 1, 0, &outlet) == SBN_ERROR);
	CHECK(SBN_SPFE_Ops.InitModule(VERSION, 0, NULL) == SBN_ERROR);
	CHECK(SBN_SPFE_Ops.InitModule(VERSION, 0, &outlet) == SBN_SUCCESS);
	memset(too_long, 'x', sizeof(too_long) - 1);
	CHECK(SBN_SPFE_Ops.LoadNet(&a, too_long) == SBN_ERROR);
	CHECK(SBN_SPFE_Ops.LoadPeer(&a.Peers[0], "nowhere") == SBN_ERROR);
	load(&a, argv[1]);
	load(&b, argv[2]);
	report("a module that is loaded");
	messages();
	report("one message is one packet");
	back_pressure();
	report("a peer that takes nothing");
	nonsense(argv[1]);
	report("packets that are no messages");
	leaving(argv[2]);
	report("a peer that goes and comes");
	restarts(argv[3], argv[4]);
	report("a device that dies and comes again");
	printf("1..%d\n", number);
	return failures != 0;
}
