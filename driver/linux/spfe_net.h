/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: the network interface: Ethernet frames over one virtual channel, or over one to each node
 * of a fabric (docs/netdev.md).
 *
 * netdev.c has its life, netdev_tx.c and netdev_rx.c move frames, netdev_peer.c finds out which
 * version of the encapsulation the far end understands.
 */
#ifndef SPFE_NET_H
#define SPFE_NET_H

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/virtio_net.h>

#include "spfe_compat.h"
#include "spfe_core.h"
#include "spfe_ring.h"

#define SPFE_NET_MTU_MIN 68
#define SPFE_NET_MTU_MAX 65500
#define SPFE_NET_MTU 9000

/* Start of every packet of version 1. */
extern const u8 spfe_net_header[6];
/* Start of the Ethernet addresses of a fabric; slot and number of the node follow. */
extern const u8 spfe_net_mac[4];
/* Bytes at the start of every packet of version 2. */
#define SPFE_NET_PREFIX 8
/* Header of version 2: prefix and offload fields, which are those of virtio in little-endian. */
#define SPFE_NET_HEADER2 (SPFE_NET_PREFIX + sizeof(struct virtio_net_hdr))
/* Frames for several nodes that wait to be copied. */
#define SPFE_NET_GROUP_MAX 64
/* Longest packet: a header and a frame with an IP packet of 65535 bytes. */
#define SPFE_NET_PACKET_MAX 65571
#define SPFE_NET_HELLO_BYTES 20

/* Hellos without an answer after which the far end counts as version 1, and their interval. */
#define SPFE_NET_ASK_TRIES 8
#define SPFE_NET_ASK_MS 250
/* Flags of a hello. */
#define SPFE_NET_ASK 1
#define SPFE_NET_SEEN 2
/* What an end can receive. */
#define SPFE_NET_CAN_CHECKSUM 1
#define SPFE_NET_CAN_TCP4 2
#define SPFE_NET_CAN_TCP6 4
#define SPFE_NET_CAN_ECN 8
#define SPFE_NET_CAN_UDP 16
/* What this kernel can do with segments of UDP. */
#ifdef VIRTIO_NET_HDR_GSO_UDP_L4
#define SPFE_NET_CAN_USO SPFE_NET_CAN_UDP
#define SPFE_NET_F_USO NETIF_F_GSO_UDP_L4
#else
#define SPFE_NET_CAN_USO 0
#define SPFE_NET_F_USO 0
#endif

/* Sizes of the rings as powers of two: limits and defaults. */
#define SPFE_NET_LOG2_MIN 6
#define SPFE_NET_LOG2_MAX 11
#define SPFE_NET_TX_LOG2 9
#define SPFE_NET_RX_LOG2 8
/* Defaults for each node of a fabric. */
#define SPFE_NET_NODE_TX_LOG2 8
#define SPFE_NET_NODE_RX_LOG2 6
/* Buffers of a receive ring; a packet may fill several. */
#define SPFE_NET_RX_SLOT SZ_16K
#define SPFE_NET_PARTS_MAX (SPFE_NET_PACKET_MAX / SPFE_NET_RX_SLOT + 1)
/* Buffers of a transmit ring: where memory of frames is mapped, and where all is copied. */
#define SPFE_NET_TX_SLOT SZ_2K
#define SPFE_NET_TX_COPY_SLOT SZ_8K
/* Completions of transmitted frames that raise an interrupt, and the time after the first one. */
#define SPFE_NET_TX_WAKE_COUNT 16
#define SPFE_NET_TX_WAKE_US 100
/* Most entries of a packet: a header, the head and the fragments of a frame. */
#define SPFE_NET_ENTRIES_MAX (MAX_SKB_FRAGS + 2)
/* Where all is copied, the largest packet takes this many. */
#define SPFE_NET_COPIES_MAX (SPFE_NET_PACKET_MAX / SPFE_NET_TX_COPY_SLOT + 1)

enum spfe_peer_state {
	SPFE_PEER_ASKING,	/* nothing is known yet: frames are sent as version 1 */
	SPFE_PEER_FIRST,	/* it does not answer: version 1 */
	SPFE_PEER_SECOND,	/* it has said hello: version 2 */
};

/* The far end. Changes under the lock of the transmit queue. */
struct spfe_peer {
	enum spfe_peer_state state;
	u32 tries;		/* hellos since the last answer */
	u32 silent;		/* looks with frames sent and nothing heard */
	bool confirmed;		/* it has announced that it sends version 2 */
	bool heard;		/* something of version 2 has arrived since the last look */
	u32 features;
	u32 packet_max;
};

/* An entry of the transmit ring that the device has. */
struct spfe_net_piece {
	struct sk_buff *skb;	/* in the last entry of a frame */
	dma_addr_t dma;
	u32 bytes;		/* mapped bytes, or 0 */
	bool page;		/* mapped with dma_map_page() */
};

/*
 * What the device may read. It outlives the rings if the device does not release them, so that it
 * never reads memory that is somebody else's by then.
 */
struct spfe_net_hold {
	struct device *dev;
	u32 entries;
	struct spfe_net_piece pieces[];
};

struct spfe_net_counters {
	unsigned long tx_mapped, tx_copied, tx_large, tx_refused, tx_restarts;
	unsigned long rx_first, rx_second, rx_large, rx_unchecked;
	unsigned long hellos_sent, hellos_received, peer_changes;
	unsigned long tx_timeouts, ring_errors;
};

/* A part of a packet that has arrived. */
struct spfe_net_part {
	const u8 *at;
	u32 bytes;
};

/* The way to one far end: a virtual channel in both directions and its transmit queue. */
struct spfe_net_path {
	struct spfe_netdev *owner;
	struct spfe_device *spfe;
	struct net_device *net;
	u32 port;
	u32 vc;
	u32 index;		/* of its transmit queue */
	u32 node;		/* of a fabric; 0 on a link */
	u32 epoch;		/* of that node at the last look */
	bool ready;		/* link or node is there */
	bool restart;		/* create the rings again */
	u8 outward[SPFE_NET_PREFIX];
	u8 inward[SPFE_NET_PREFIX];
	struct spfe_net_counters counters;
	struct spfe_peer peer;
	u32 hello;		/* SPFE_NET_ASK, SPFE_NET_SEEN: not sent yet; lock as peer */
	unsigned long sent;	/* frames sent at the last look */
	bool open;		/* the rings exist; lock as peer */
	/* Valid while the interface is up. */
	struct spfe_client *client;
	struct napi_struct napi;
	struct spfe_ring tx;	/* protected by the lock of the transmit queue */
	struct spfe_net_hold *hold;
	u64 local;		/* key of the region with all memory; 0: frames are copied */
	unsigned long frames;	/* posted */
	struct spfe_ring rx;	/* used by NAPI only */
	struct spfe_net_part parts[SPFE_NET_PARTS_MAX];
	u32 nparts;
	bool skip;		/* discard the rest of a packet that is too long */
};

struct spfe_netdev {
	struct spfe_device *spfe;
	struct net_device *net;
	u32 own;		/* own node of a fabric; 0 on a link */
	u32 tx_log2;
	u32 rx_log2;
	bool first_only;	/* send and understand version 1 only */
	struct delayed_work link;
	struct sk_buff_head group;	/* frames for several nodes */
	struct work_struct group_work;
	u32 npaths;
	struct spfe_net_path paths[];
};

/* The path that has a transmit queue; NULL for that of frames to several nodes. */
static inline struct spfe_net_path *spfe_net_path_of(struct spfe_netdev *priv, u32 queue)
{
	if (!priv->own)
		return &priv->paths[0];
	return queue && queue <= priv->npaths ? &priv->paths[queue - 1] : NULL;
}

static inline struct netdev_queue *spfe_net_queue(const struct spfe_net_path *path)
{
	return netdev_get_tx_queue(path->net, path->index);
}

static inline void spfe_net_lock(const struct spfe_net_path *path)
{
	local_bh_disable();
	__netif_tx_lock(spfe_net_queue(path), smp_processor_id());
}

static inline void spfe_net_unlock(const struct spfe_net_path *path)
{
	__netif_tx_unlock(spfe_net_queue(path));
	local_bh_enable();
}

/* netdev.c */
int spfe_net_resume(struct spfe_netdev *priv);
void spfe_net_quiesce(struct spfe_netdev *priv);

/* netdev_tx.c */
netdev_tx_t spfe_net_xmit(struct sk_buff *skb, struct net_device *net);
netdev_features_t spfe_net_features_check(struct sk_buff *skb, struct net_device *net,
					  netdev_features_t features);
u16 spfe_net_select_queue(struct net_device *net, struct sk_buff *skb, struct net_device *below);
void spfe_net_group_work(struct work_struct *work);
void spfe_net_reap(struct spfe_net_path *path);
void spfe_net_tx_poll(struct spfe_net_path *path);
int spfe_net_tx_prepare(struct spfe_net_path *path);
void spfe_net_say_hello(struct spfe_net_path *path);

/* netdev_rx.c */
int spfe_net_rx_poll(struct spfe_net_path *path, int budget);

/* netdev_peer.c */
void spfe_peer_forget(struct spfe_peer *peer);
u32 spfe_peer_tick(struct spfe_peer *peer, bool sent);
u32 spfe_peer_hear_hello(struct spfe_peer *peer, const u8 *packet);
u32 spfe_peer_hear_frame(struct spfe_peer *peer, bool second);
bool spfe_peer_is_news(const struct spfe_peer *peer, bool second);
void spfe_net_address(u8 *prefix, u32 to, u32 from);
void spfe_peer_hello(u8 *packet, const u8 *prefix, u32 flags);
u32 spfe_peer_version(const struct spfe_peer *peer);

/* netdev_ethtool.c */
extern const struct ethtool_ops spfe_net_ethtool;

#endif
