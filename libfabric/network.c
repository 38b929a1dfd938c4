/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How processes reach each other. Cables join ports 0 and 1, 2 and 3, ... of one device, which all
 * processes open. With N nodes each of the N * N pairs of sender and receiver has a virtual channel
 * of its own in one direction of a cable. The channel of a node to itself says who is that node:
 * the device gives its sending end to one client only, and takes it back when the process dies.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "provider.h"

#define TX_DEPTH 32
#define RX_AREA (1024u * 1024)

static uint32_t min(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Opens the device that the environment names. */
int spfi_network_device(spfe_endpoint **device)
{
	char usual[200];
	char *name = NULL;

	fi_param_get_str(&spfi_provider, "device", &name);
	if (!name)
		name = getenv("SPFE_DEVICE");
	if (!name) {
		const char *directory = getenv("XDG_RUNTIME_DIR");

		snprintf(usual, sizeof(usual), "unix:%s/spfe.sock",
			 directory && *directory ? directory : "/run");
		name = usual;
	}
	if (spfe_open(name, device) < 0) {
		FI_INFO(&spfi_provider, FI_LOG_CORE, "%s\n", spfe_error());
		return -FI_ENODEV;
	}
	return 0;
}

/* Cables and the virtual channels of each; 0 if there are none. */
static uint32_t cables(spfe_endpoint *device, uint32_t *vcs)
{
	struct spfe_endpoint_info info = {.size = sizeof(info)};
	uint32_t port;

	*vcs = 0;
	if (spfe_endpoint_info(device, &info) < 0)
		return 0;
	for (port = 0; port < info.ports; port++) {
		struct spfe_port_info of = {.size = sizeof(of)};

		if (spfe_port_info(device, port, &of) < 0 ||
		    of.kind != SPFE_PORT_KIND_SPACEFIBRE)
			break;
		*vcs = port ? min(*vcs, of.vcs) : of.vcs;
	}
	return port / 2;
}

int spfi_network_nodes(spfe_endpoint *device)
{
	uint32_t vcs, channels = 2 * cables(device, &vcs), nodes = 0;

	channels *= vcs;
	while ((nodes + 1) * (nodes + 1) <= channels && nodes < SPFI_NODES)
		nodes++;
	if (nodes < 2) {
		WARN(FI_LOG_DOMAIN, "the device has %u virtual channels in cables between its "
		     "ports, and two nodes need 4: start spfed with --topology loop\n", channels);
		return -FI_ENODEV;
	}
	return (int)nodes;
}

/* Where the packets from one node to another enter and leave the cables. */
static void place(struct spfi_ep *ep, uint32_t vcs, unsigned from, unsigned to, uint32_t *tx_port,
		  uint32_t *vc)
{
	uint32_t channel = from * ep->nodes + to;

	*tx_port = channel / vcs;
	*vc = channel % vcs;
}

static int open_tx(struct spfi_peer *peer)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;

	options.depth = TX_DEPTH;
	options.slot_bytes = sizeof(struct wire) + WIRE_SEGMENT;
	return spfe_pooled_tx_open(peer->ep->device, peer->tx_port, peer->tx_vc, &options,
				   &peer->tx);
}

static int open_rx(struct spfi_peer *peer)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	int result;

	options.area_bytes = RX_AREA;
	options.flags = peer->ep->events ? SPFE_EVENT : 0;
	result = spfe_packed_rx_open(peer->ep->device, peer->rx_port, peer->rx_vc, &options,
				     &peer->rx);
	if (result < 0)
		WARN(FI_LOG_EP_CTRL, "%s\n", spfe_error());
	return result < 0 ? -spfe_errno(result) : 0;
}

/* Becomes the node of the name, or the first that is free. */
static int claim(struct spfi_ep *ep)
{
	unsigned first = 0, last = ep->nodes - 1, node;
	int result = 0;

	if (ep->name.node != SPFI_ANY_NODE) {
		if (ep->name.node >= ep->nodes)
			return -FI_EADDRNOTAVAIL;
		first = last = ep->name.node;
	}
	for (node = first; node <= last; node++) {
		struct spfi_peer *self = &ep->peers[node];
		struct timespec now;

		result = open_tx(self);
		if (result == -SPFE_STATUS_BUSY)
			continue;
		if (result < 0)
			break;
		clock_gettime(CLOCK_REALTIME, &now);
		ep->name = spfi_address_of((uint16_t)node, (uint64_t)now.tv_sec * 1000000000u +
								   (uint64_t)now.tv_nsec);
		return 0;
	}
	WARN(FI_LOG_EP_CTRL, "no node for the endpoint in nodes %u to %u: %s\n", first, last,
	     spfe_error());
	return result == -SPFE_STATUS_BUSY ? -FI_EADDRINUSE : -spfe_errno(result);
}

static void set_places(struct spfi_ep *ep, uint32_t vcs)
{
	unsigned node;

	for (node = 0; node < ep->nodes; node++) {
		struct spfi_peer *peer = &ep->peers[node];

		/* The claim uses the channel to itself, and the rest is known after it. */
		place(ep, vcs, node, node, &peer->tx_port, &peer->tx_vc);
	}
}

int spfi_network_join(struct spfi_ep *ep)
{
	struct spfe_vc_info info = {.size = sizeof(info)};
	struct spfi_peer *self;
	uint32_t vcs;
	unsigned node;
	int result = spfi_network_device(&ep->device);

	if (result) {
		WARN(FI_LOG_EP_CTRL, "%s\n", spfe_error());
		return result;
	}
	result = spfi_network_nodes(ep->device);
	if (result < 0)
		return result;
	ep->nodes = (unsigned)result;
	cables(ep->device, &vcs);
	for (node = 0; node < SPFI_NODES; node++) {
		struct spfi_peer *peer = &ep->peers[node];

		peer->ep = ep;
		peer->node = (uint16_t)node;
		peer->window = WIRE_WINDOW;
		list_init(&peer->link);
		list_init(&peer->answers);
		list_init(&peer->requests);
		list_init(&peer->waiting);
		list_init(&peer->moving);
	}
	set_places(ep, vcs);
	result = claim(ep);
	if (result)
		return result;
	self = &ep->peers[ep->name.node];
	for (node = 0; node < ep->nodes; node++) {
		struct spfi_peer *peer = &ep->peers[node];

		place(ep, vcs, ep->name.node, node, &peer->tx_port, &peer->tx_vc);
		place(ep, vcs, node, ep->name.node, &peer->rx_port, &peer->rx_vc);
		peer->rx_port ^= 1; /* the other end of the cable */
		result = open_rx(peer);
		if (result)
			return result;
	}
	if (spfe_vc_info(ep->device, self->rx_port, self->rx_vc, &info) < 0 || !info.far_sends) {
		WARN(FI_LOG_EP_CTRL, "ports %u and %u of the device are not joined by a cable: "
		     "start spfed with --topology loop\n", self->tx_port, self->rx_port);
		return -FI_ENODEV;
	}
	self->incarnation = ep->name.incarnation;
	return 0;
}

void spfi_network_leave(struct spfi_ep *ep)
{
	unsigned node;

	for (node = 0; node < SPFI_NODES; node++) {
		struct spfi_peer *peer = &ep->peers[node];

		if (peer->rx)
			spfe_queue_close(peer->rx);
		if (peer->tx)
			spfe_queue_close(peer->tx);
		free(peer->part);
		peer->rx = peer->tx = NULL;
		peer->part = NULL;
	}
	if (ep->device)
		spfe_close(ep->device);
	ep->device = NULL;
}

uint8_t *spfi_peer_slot(struct spfi_peer *peer)
{
	struct spfe_sent sent;
	uint8_t *slot;
	int result;

	if (peer->state == PEER_DEAD)
		return NULL;
	if (!peer->tx) {
		result = open_tx(peer);
		/* The previous process with our node is not gone completely. */
		if (result == -SPFE_STATUS_BUSY)
			return NULL;
		if (result < 0) {
			WARN(FI_LOG_EP_DATA, "%s\n", spfe_error());
			spfi_peer_fail(peer, (uint32_t)spfe_errno(result), spfe_error());
			return NULL;
		}
	}
	result = spfe_slot(peer->tx, &slot, NULL);
	if (result > 0)
		return slot;
	spfi_peer_flush(peer);
	while (result == 0 && (result = spfe_sent_poll(peer->tx, &sent)) > 0) {
		if (sent.status < 0) {
			spfi_peer_fail(peer, FI_EIO, spfe_status_name(sent.status));
			return NULL;
		}
		peer->in_ring -= sent.packets;
		result = 0;
	}
	if (result < 0) {
		spfi_peer_fail(peer, (uint32_t)spfe_errno(result), spfe_error());
		return NULL;
	}
	return spfe_slot(peer->tx, &slot, NULL) > 0 ? slot : NULL;
}

/* Adds the slot, with its first length bytes, to the packets that the next flush sends. */
void spfi_peer_stage(struct spfi_peer *peer, size_t length)
{
	int result = spfe_slot_stage(peer->tx, (uint32_t)length);

	if (result < 0) {
		spfi_peer_fail(peer, (uint32_t)spfe_errno(result), spfe_error());
		return;
	}
	peer->staged++;
	peer->in_ring++;
}

void spfi_peer_flush(struct spfi_peer *peer)
{
	if (!peer->staged)
		return;
	peer->staged = 0;
	if (spfe_slot_submit(peer->tx) < 0)
		spfi_peer_fail(peer, FI_EIO, spfe_error());
}

/* Whether the device still has packets for the peer that it may take. */
bool spfi_peer_sends(struct spfi_peer *peer)
{
	struct spfe_sent sent;

	if (!peer->tx || peer->state != PEER_UP)
		return false;
	while (spfe_sent_poll(peer->tx, &sent) > 0)
		peer->in_ring -= sent.packets;
	return peer->in_ring > 0 || !list_empty(&peer->requests) || !list_empty(&peer->answers);
}

void spfi_peer_fill(struct spfi_peer *peer, uint8_t *slot, struct wire *wire)
{
	wire->address = WIRE_ADDRESS;
	wire->protocol = WIRE_PROTOCOL;
	wire->version = WIRE_VERSION;
	wire->source = peer->ep->name.node;
	wire->from = peer->ep->name.incarnation;
	wire->to = peer->incarnation;
	memcpy(slot, wire, sizeof(*wire));
}

/* Something waits for the peer: is it there? */
void spfi_peer_check(struct spfi_peer *peer)
{
	struct spfe_vc_info info = {.size = sizeof(info)};
	int timeout = 30000; /* FI_SPFE_TIMEOUT */
	uint64_t now = spfi_clock_ms();

	if (peer->state == PEER_DEAD ||
	    spfe_vc_info(peer->ep->device, peer->tx_port, peer->tx_vc, &info) < 0)
		return;
	if (info.far_receives) {
		peer->state = PEER_UP;
		peer->since_ms = 0;
		return;
	}
	/* Who has an address with a time could receive when he got it. */
	if (peer->state == PEER_UP || peer->incarnation) {
		/* Nothing comes after what is here already, which must not be lost. */
		while (!peer->broken_rx && spfi_take_in(peer))
			;
		spfi_peer_fail(peer, FI_ECONNABORTED, "the process has gone");
		return;
	}
	fi_param_get_int(&spfi_provider, "timeout", &timeout);
	if (!peer->since_ms)
		peer->since_ms = now;
	else if (now - peer->since_ms > (uint64_t)timeout)
		spfi_peer_fail(peer, FI_ETIMEDOUT, "no process is this node");
}

static void fail_list(struct list *list, uint32_t error)
{
	while (!list_empty(list)) {
		struct spfi_op *op = container_of(list->next, struct spfi_op, link);

		if (op->kind == OP_RECV)
			spfi_rx_done(op, error);
		else
			spfi_tx_done(op, error);
	}
}

void spfi_peer_fail(struct spfi_peer *peer, uint32_t error, const char *why)
{
	if (peer->state != PEER_DEAD)
		FI_INFO(&spfi_provider, FI_LOG_EP_DATA, "node %u: %s\n", peer->node, why);
	peer->state = PEER_DEAD;
	fail_list(&peer->answers, error);
	fail_list(&peer->requests, error);
	fail_list(&peer->waiting, error);
	fail_list(&peer->moving, error);
	spfi_match_forget(peer, error, false);
}

/* Packets come from this process, or are meant for it. */
void spfi_peer_meet(struct spfi_peer *peer, uint64_t incarnation)
{
	if (peer->incarnation && peer->incarnation != incarnation) {
		spfi_peer_fail(peer, FI_ECONNABORTED, "another process is this node now");
		spfi_match_forget(peer, FI_ECONNABORTED, true);
		peer->state = PEER_NEW;
		peer->since_ms = 0;
		peer->window = WIRE_WINDOW;
		peer->consumed = 0;
		peer->bad_write = 0;
	}
	peer->incarnation = incarnation;
}
