/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A protocol module for the Software Bus Network (SBN) of cFS over SpaceFibre or SpaceWire.
 *
 * In the SBN table the address of the net is a device (docs/devices.md), such as unix:/run/spfe.sock/0
 * or /dev/spfe0, and the address of a peer is "PORT VC": both ends have a virtual channel for each
 * other. A message of SBN is one packet; none is merged or split.
 *
 * The interface is that of SBN's main branch in 2024 (version 6, which SBN's own modules check too).
 * cFS is in no package registry, so tests compile this file against the interface as tests/field/cfs
 * declares it, and run it against a program that plays SBN. It has not run inside cFS.
 *
 * Reconnection: a peer whose queues fail is reported as disconnected, its queues are closed, and every
 * poll tries to open them again. Back-pressure: when the slots are busy because the peer takes nothing,
 * Send waits up to SEND_MS, and then fails without sending anything, so SBN counts an error and the
 * software bus goes on. Receiving never waits, so leave SBN's task for it off (SBN_TASK_RECV): it would
 * not sleep.
 */
#include "sbn_error.h"
#include "sbn_interfaces.h"

#include <spfe/spfe.h>

#include <stdio.h>
#include <string.h>

#define INTERFACE_VERSION 6
#define SLOTS 32
#define SEND_MS 100
#define MS UINT64_C(1000000)

struct net {
	spfe_endpoint *endpoint;
	char address[96];
};

struct peer {
	spfe_queue *tx, *rx;
	uint32_t port, vc;
};

static SBN_ProtocolOutlet_t outlet;

/* SBN gives a module 128 bytes, which it aligns to four only. */
static void *aligned(void *memory)
{
	return (void *)(((uintptr_t)memory + 7) & ~(uintptr_t)7);
}

_Static_assert(sizeof(struct net) <= 120 && sizeof(struct peer) <= 120, "SBN gives 128 bytes");

static struct net *net_of(SBN_NetInterface_t *net)
{
	return aligned(net->ModulePvt);
}

static struct peer *peer_of(SBN_PeerInterface_t *peer)
{
	return aligned(peer->ModulePvt);
}

static SBN_Status_t init_module(int version, SBN_EventID_t base, SBN_ProtocolOutlet_t *from)
{
	(void)base;
	if (version != INTERFACE_VERSION || !from)
		return SBN_ERROR;
	outlet = *from;
	return SBN_SUCCESS;
}

static SBN_Status_t load_net(SBN_NetInterface_t *net, const char *address)
{
	struct net *of = net_of(net);

	memset(of, 0, sizeof(*of));
	if (strlen(address) >= sizeof(of->address))
		return SBN_ERROR;
	/* The address is in a table that SBN gives back. */
	strcpy(of->address, address);
	return SBN_SUCCESS;
}

static SBN_Status_t load_peer(SBN_PeerInterface_t *peer, const char *address)
{
	struct peer *of = peer_of(peer);

	memset(of, 0, sizeof(*of));
	return sscanf(address, "%u %u", &of->port, &of->vc) == 2 ? SBN_SUCCESS : SBN_ERROR;
}

static SBN_Status_t init_net(SBN_NetInterface_t *net)
{
	/* The device may come later: every poll tries again. */
	(void)spfe_open(net_of(net)->address, &net_of(net)->endpoint);
	return SBN_SUCCESS;
}

static void close_peer(struct peer *of)
{
	spfe_queue_close(of->tx);
	spfe_queue_close(of->rx);
	of->tx = of->rx = NULL;
}

/* Opens the queues of a peer, and the device if it is not there. */
static int open_peer(SBN_PeerInterface_t *peer)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct net *net = net_of(peer->Net);
	struct peer *of = peer_of(peer);
	int result = 0;

	if (of->tx)
		return 0;
	options.depth = SLOTS;
	options.slot_bytes = SBN_MAX_PACKED_MSG_SZ;
	if (!net->endpoint)
		result = spfe_open(net->address, &net->endpoint);
	if (result >= 0)
		result = spfe_pooled_rx_open(net->endpoint, of->port, of->vc, &options, &of->rx);
	if (result >= 0)
		result = spfe_pooled_tx_open(net->endpoint, of->port, of->vc, &options, &of->tx);
	if (result < 0) {
		close_peer(of);
		if (result == -SPFE_STATUS_DEVICE_GONE && net->endpoint) {
			spfe_close(net->endpoint);
			net->endpoint = NULL;
		}
	}
	return result;
}

/* A queue has failed: nothing goes on before the peer is opened again. */
static SBN_Status_t lose(SBN_PeerInterface_t *peer)
{
	close_peer(peer_of(peer));
	if (peer->Connected)
		outlet.Disconnected(peer);
	return SBN_ERROR;
}

static SBN_Status_t init_peer(SBN_PeerInterface_t *peer)
{
	(void)open_peer(peer);
	return SBN_SUCCESS;
}

static SBN_Status_t poll_peer(SBN_PeerInterface_t *peer)
{
	struct peer *of = peer_of(peer);
	struct spfe_vc_info info = {.size = sizeof(info)};
	struct spfe_sent sent;
	int result = open_peer(peer);

	if (result < 0)
		return peer->Connected ? lose(peer) : SBN_ERROR;
	while ((result = spfe_sent_poll(of->tx, &sent)) == 1)
		if (sent.status < 0)
			return lose(peer);
	if (result < 0 || spfe_vc_info(net_of(peer->Net)->endpoint, of->port, of->vc, &info) < 0)
		return lose(peer);
	/* The peer is there while its queues are open. */
	if (info.far_sends && info.far_receives && !peer->Connected)
		return outlet.Connected(peer);
	if (!(info.far_sends && info.far_receives) && peer->Connected)
		outlet.Disconnected(peer);
	return SBN_SUCCESS;
}

static SBN_Status_t send_message(SBN_PeerInterface_t *peer, SBN_MsgType_t type, SBN_MsgSz_t bytes,
				 void *payload)
{
	struct peer *of = peer_of(peer);
	uint64_t until = 0;
	struct spfe_sent sent;
	uint8_t *slot;
	int result;

	if (!of->tx || bytes > CFE_MISSION_SB_MAX_SB_MSG_SIZE)
		return SBN_ERROR;
	while ((result = spfe_slot(of->tx, &slot, NULL)) == 0) {
		result = spfe_sent_poll(of->tx, &sent);
		if (result == 1 && sent.status >= 0)
			continue;
		if (result != 0)
			return lose(peer);
		if (!until)
			until = spfe_now_ns(net_of(peer->Net)->endpoint) + SEND_MS * MS;
		result = spfe_queue_wait(of->tx, NULL, until);
		if (result == SPFE_TIMED_OUT)
			return SBN_ERROR; /* the peer takes nothing: nothing was sent */
		if (result < 0)
			return lose(peer);
	}
	if (result < 0)
		return lose(peer);
	outlet.PackMsg(slot, bytes, type, CFE_PSP_GetProcessorId(), CFE_PSP_GetSpacecraftId(),
		       payload);
	return spfe_slot_send(of->tx, (uint32_t)(SBN_PACKED_HDR_SZ + bytes)) < 0 ? lose(peer)
										: SBN_SUCCESS;
}

static SBN_Status_t receive(SBN_NetInterface_t *net, SBN_PeerInterface_t *peer,
			    SBN_MsgType_t *type, SBN_MsgSz_t *bytes, SBN_ProcessorID_t *processor,
			    SBN_SpacecraftID_t *spacecraft, void *payload)
{
	struct peer *of = peer_of(peer);
	struct spfe_packet packet;
	SBN_Status_t status = SBN_ERROR;
	int result;

	(void)net;
	if (!of->rx)
		return SBN_IF_EMPTY;
	result = spfe_slot_peek(of->rx, &packet);
	if (result == 0)
		return SBN_IF_EMPTY;
	if (result < 0 || (packet.status < 0 && packet.status != -SPFE_STATUS_PACKET_CUT))
		return lose(peer);
	/*
	 * A cut packet, or one whose header does not fit it, is dropped and counted. SBN reads no
	 * further than the longest message, which a slot has room for.
	 */
	if (packet.end == SPFE_EOP && packet.length >= SBN_PACKED_HDR_SZ &&
	    outlet.UnpackMsg((void *)packet.data, bytes, type, processor, spacecraft, payload) &&
	    *bytes == packet.length - SBN_PACKED_HDR_SZ)
		status = SBN_SUCCESS;
	spfe_slot_release(of->rx);
	return status;
}

static SBN_Status_t unload_peer(SBN_PeerInterface_t *peer)
{
	close_peer(peer_of(peer));
	return SBN_SUCCESS;
}

static SBN_Status_t unload_net(SBN_NetInterface_t *net)
{
	for (SBN_PeerIdx_t index = 0; index < net->PeerCnt; index++)
		unload_peer(&net->Peers[index]);
	spfe_close(net_of(net)->endpoint);
	net_of(net)->endpoint = NULL;
	return SBN_SUCCESS;
}

/* SBN finds the module by this name, SBN_SPFE_Ops in the table of protocols. */
SBN_IfOps_t SBN_SPFE_Ops = {
	.InitModule = init_module,
	.InitNet = init_net,
	.InitPeer = init_peer,
	.LoadNet = load_net,
	.LoadPeer = load_peer,
	.PollPeer = poll_peer,
	.Send = send_message,
	.RecvFromPeer = receive,
	.UnloadNet = unload_net,
	.UnloadPeer = unload_peer,
};
