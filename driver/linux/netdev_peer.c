// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: which version of the encapsulation the far end of a link understands. This is the state
 * machine EthernetPeer of crates/spfe-proto, which has the reasons and the tests.
 */
#include <linux/string.h>

#include "spfe_net.h"

const u8 spfe_net_header[] = { 0xfe, 0xf5, 1, 0, 0, 0 };
static const u8 spfe_net_prefix[] = { 0xfe, 0xf5, 2, 0, 0, 0, 0, 0 };
const u8 spfe_net_mac[] = { 0x02, 0x56, 0x58, 0 };

/* Writes the start of packets of version 2 from one node of a fabric to another; 0 on a link. */
void spfe_net_address(u8 *prefix, u32 to, u32 from)
{
	memcpy(prefix, spfe_net_prefix, SPFE_NET_PREFIX);
	put_unaligned_le16(to, prefix + 4);
	put_unaligned_le16(from, prefix + 6);
}

void spfe_peer_forget(struct spfe_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
}

/*
 * To be called every SPFE_NET_ASK_MS while a packet can be sent; `sent` says whether frames were
 * sent since the last call. Returns the flags of a hello that is to be sent, or 0.
 */
u32 spfe_peer_tick(struct spfe_peer *peer, bool sent)
{
	switch (peer->state) {
	case SPFE_PEER_FIRST:
		return 0;
	case SPFE_PEER_ASKING:
		break;
	case SPFE_PEER_SECOND:
		if (peer->heard) {
			peer->heard = false;
			peer->silent = 0;
			peer->tries = 0;
			return 0;
		}
		peer->silent = min_t(u32, peer->silent + sent, SPFE_NET_ASK_TRIES);
		if (peer->silent < SPFE_NET_ASK_TRIES)
			return 0;
		break;
	}
	if (peer->tries >= SPFE_NET_ASK_TRIES) {
		spfe_peer_forget(peer);
		WRITE_ONCE(peer->state, SPFE_PEER_FIRST);
		return 0;
	}
	peer->tries++;
	return SPFE_NET_ASK | (peer->state == SPFE_PEER_SECOND ? SPFE_NET_SEEN : 0);
}

/* A hello has arrived. Returns the flags of the one that is to be sent before any other frame. */
u32 spfe_peer_hear_hello(struct spfe_peer *peer, const u8 *packet)
{
	const u8 *body = packet + SPFE_NET_PREFIX;
	bool fresh = peer->state != SPFE_PEER_SECOND;

	peer->tries = 0;
	peer->silent = 0;
	peer->heard = true;
	peer->confirmed = body[0] & SPFE_NET_SEEN;
	WRITE_ONCE(peer->features, get_unaligned_le16(body + 2));
	WRITE_ONCE(peer->packet_max, get_unaligned_le32(body + 4));
	WRITE_ONCE(peer->state, SPFE_PEER_SECOND);
	return fresh || body[0] & SPFE_NET_ASK ? SPFE_NET_SEEN : 0;
}

/* Whether a frame of this version changes what is known, so that spfe_peer_hear_frame() is due. */
bool spfe_peer_is_news(const struct spfe_peer *peer, bool second)
{
	enum spfe_peer_state state = READ_ONCE(peer->state);

	if (second)
		return state == SPFE_PEER_FIRST;
	return state == SPFE_PEER_SECOND && READ_ONCE(peer->confirmed);
}

/* A frame has arrived. Returns the flags of a hello that is to be sent, or 0. */
u32 spfe_peer_hear_frame(struct spfe_peer *peer, bool second)
{
	if (!spfe_peer_is_news(peer, second)) {
		if (second)
			peer->heard = true;
		return 0;
	}
	spfe_peer_forget(peer);
	peer->tries = 1;
	return SPFE_NET_ASK;
}

/* Writes the hello of this end behind the start of its packets. */
void spfe_peer_hello(u8 *packet, const u8 *prefix, u32 flags)
{
	u8 *body = packet + SPFE_NET_PREFIX;
	u16 features = SPFE_NET_CAN_CHECKSUM | SPFE_NET_CAN_TCP4 | SPFE_NET_CAN_TCP6 |
		       SPFE_NET_CAN_ECN | SPFE_NET_CAN_USO;

	memset(packet, 0, SPFE_NET_HELLO_BYTES);
	memcpy(packet, prefix, SPFE_NET_PREFIX);
	packet[3] = 1;
	body[0] = flags;
	body[1] = 2;
	put_unaligned_le16(features, body + 2);
	put_unaligned_le32(SPFE_NET_PACKET_MAX, body + 4);
}

/* The version that the far end understands, or 0 while that is unknown. */
u32 spfe_peer_version(const struct spfe_peer *peer)
{
	switch (READ_ONCE(peer->state)) {
	case SPFE_PEER_FIRST:
		return 1;
	case SPFE_PEER_SECOND:
		return 2;
	default:
		return 0;
	}
}
