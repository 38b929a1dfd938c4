// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: frames from the network interface to the device. Where the device takes bus addresses
 * (capability LOCAL_DMA), a frame is mapped and sent from where it is; small ones, and all frames
 * elsewhere, are copied into buffers of the ring. The skb stays with the interface until the device
 * has sent the frame, so that its sender knows how much is on the way.
 */
#include <linux/dma-mapping.h>
#include <linux/iommu.h>

#include "spfe_net.h"

/* One in this many frames asks for a completion, and each frame that no other one follows. */
#define SPFE_NET_SIGNAL 8

static struct spfe_net_piece *spfe_net_piece(struct spfe_netdev *priv, u32 position)
{
	return &priv->hold->pieces[position & (priv->hold->entries - 1)];
}

static void spfe_net_unmap(struct device *dev, struct spfe_net_piece *piece)
{
	if (!piece->bytes)
		return;
	if (piece->page)
		dma_unmap_page(dev, piece->dma, piece->bytes, DMA_TO_DEVICE);
	else
		dma_unmap_single(dev, piece->dma, piece->bytes, DMA_TO_DEVICE);
	piece->bytes = 0;
}

/* Frees all that the device had, once it has released it. */
static void spfe_net_hold_free(void *context)
{
	struct spfe_net_hold *hold = context;
	u32 index;

	for (index = 0; index < hold->entries; index++) {
		spfe_net_unmap(hold->dev, &hold->pieces[index]);
		dev_kfree_skb_any(hold->pieces[index].skb);
	}
	kvfree(hold);
}

/*
 * Whether frames can be mapped: the device takes bus addresses and long enough chains, and mapping
 * costs less than copying, which is not so behind an IOMMU.
 */
static bool spfe_net_may_map(struct spfe_netdev *priv)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(priv->spfe->parent);

	return (!domain || !(domain->type & __IOMMU_DOMAIN_PAGING)) &&
	       priv->spfe->chain_max >= SPFE_NET_ENTRIES_MAX;
}

/* Prepares the transmit ring of a new client; spfe_ring_create() follows. */
int spfe_net_tx_prepare(struct spfe_netdev *priv)
{
	struct spfe_client *client = priv->client;
	struct spfe_region *region = ERR_PTR(-EOPNOTSUPP);
	u32 entries = BIT(priv->tx_log2), key;
	u64 offset;

	priv->local = 0;
	if (spfe_net_may_map(priv))
		region = spfe_region_local(client, SPFE_ACCESS_LOCAL_READ);
	if (!IS_ERR(region) && !spfe_region_enter(client, region, &key, &offset))
		priv->local = FIELD_PREP(SPFE_SUBMISSION_REGION_MASK, (u64)key);
	priv->tx.slot_bytes = priv->local ? SPFE_NET_TX_SLOT : SPFE_NET_TX_COPY_SLOT;
	priv->hold = kvzalloc(struct_size(priv->hold, pieces, entries), GFP_KERNEL);
	if (!priv->hold)
		return -ENOMEM;
	priv->hold->dev = priv->spfe->parent;
	priv->hold->entries = entries;
	client->released_context = priv->hold;
	client->released = spfe_net_hold_free;
	return 0;
}

/* The most entries that a frame can need. */
static u32 spfe_net_need(const struct spfe_netdev *priv)
{
	return priv->local ? SPFE_NET_ENTRIES_MAX : SPFE_NET_COPIES_MAX;
}

/* Takes completions and releases what they free. Called with the lock of the queue. */
void spfe_net_reap(struct spfe_netdev *priv)
{
	struct spfe_net_piece *piece;
	u32 frames = 0, bytes = 0, i;
	struct spfe_done done;

	while (spfe_ring_take(&priv->tx, &done)) {
		if (done.status != SPFE_STATUS_OK)
			priv->net->stats.tx_errors++;
		for (i = 0; i < done.entries; i++) {
			piece = spfe_net_piece(priv, done.first + i);
			spfe_net_unmap(priv->hold->dev, piece);
			if (!piece->skb)
				continue;
			frames++;
			bytes += piece->skb->len;
			dev_consume_skb_any(piece->skb);
			piece->skb = NULL;
		}
	}
	if (frames)
		netdev_completed_queue(priv->net, frames, bytes);
}

/* Sends the hello that is due, if there is room. Called with the lock of the queue. */
void spfe_net_say_hello(struct spfe_netdev *priv)
{
	if (!priv->hello || priv->tx.broken || !spfe_ring_room(&priv->tx))
		return;
	spfe_peer_hello(spfe_ring_slot(&priv->tx, priv->tx.posted), priv->hello);
	priv->hello = 0;
	priv->counters.hellos_sent++;
	spfe_ring_post(&priv->tx, SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_LAST |
		       SPFE_SUBMIT_FLAGS_SIGNAL, SPFE_NET_HELLO_BYTES);
	spfe_ring_notify(&priv->tx);
}

/* Called by NAPI: releases frames, and restarts the queue if the ring has room again. */
void spfe_net_tx_poll(struct spfe_netdev *priv)
{
	struct netdev_queue *queue = netdev_get_tx_queue(priv->net, 0);

	__netif_tx_lock(queue, smp_processor_id());
	spfe_net_reap(priv);
	spfe_net_say_hello(priv);
	if (netif_tx_queue_stopped(queue) &&
	    spfe_ring_room(&priv->tx) > 2 * spfe_net_need(priv)) {
		priv->counters.tx_restarts++;
		netif_tx_wake_queue(queue);
	}
	__netif_tx_unlock(queue);
}

/* What the stack may leave to the far end. The rest it does itself before it calls xmit. */
netdev_features_t spfe_net_features_check(struct sk_buff *skb, struct net_device *net,
					  netdev_features_t features)
{
	const struct spfe_netdev *priv = netdev_priv(net);
	u32 can = 0, most = 0;

	if (READ_ONCE(priv->peer.state) == SPFE_PEER_SECOND) {
		can = READ_ONCE(priv->peer.features);
		most = READ_ONCE(priv->peer.packet_max);
	}
	if (!(can & SPFE_NET_CAN_CHECKSUM))
		return features & ~(NETIF_F_CSUM_MASK | NETIF_F_GSO_MASK);
	if (!(can & SPFE_NET_CAN_TCP4))
		features &= ~NETIF_F_TSO;
	if (!(can & SPFE_NET_CAN_TCP6))
		features &= ~NETIF_F_TSO6;
	if (!(can & SPFE_NET_CAN_ECN))
		features &= ~NETIF_F_TSO_ECN;
	if (!(can & SPFE_NET_CAN_UDP))
		features &= ~NETIF_F_GSO_UDP_L4;
	if (skb->len > SPFE_NET_PACKET_MAX - SPFE_NET_HEADER2 ||
	    skb->len + SPFE_NET_HEADER2 > most)
		features &= ~NETIF_F_GSO_MASK;
	return vlan_features_check(skb, features);
}

/* Writes the header for a frame. Returns its length, or an error: the far end does not take it. */
static int spfe_net_begin(struct spfe_netdev *priv, struct sk_buff *skb, u8 *header)
{
	struct virtio_net_hdr *fields;
	u32 can = priv->peer.features;
	bool sums = priv->peer.state == SPFE_PEER_SECOND && can & SPFE_NET_CAN_CHECKSUM;

	/* The far end may have changed since the stack asked for its features. */
	if (!sums && skb_is_gso(skb))
		return -EOPNOTSUPP;
	if (!sums && skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		return -ENOMEM;
	if (priv->peer.state != SPFE_PEER_SECOND) {
		memcpy(header, spfe_net_header, sizeof(spfe_net_header));
		return sizeof(spfe_net_header);
	}
	memcpy(header, spfe_net_prefix, sizeof(spfe_net_prefix));
	fields = (struct virtio_net_hdr *)(header + sizeof(spfe_net_prefix));
	if (virtio_net_hdr_from_skb(skb, fields, true, true, 0))
		return -EOPNOTSUPP;
	return SPFE_NET_HEADER2;
}

/* Maps one stretch of a frame to the entry `position`. */
static int spfe_net_map(struct spfe_netdev *priv, u32 position, dma_addr_t dma, u32 bytes,
			bool page)
{
	struct spfe_net_piece *piece = spfe_net_piece(priv, position);

	if (dma_mapping_error(priv->hold->dev, dma))
		return -ENOMEM;
	piece->dma = dma;
	piece->bytes = bytes;
	piece->page = page;
	/* Entries hold 48 bits of an address. */
	return (u64)dma + bytes - 1 > SPFE_SUBMISSION_OFFSET_MASK ? -ERANGE : 0;
}

/*
 * Maps head and fragments behind the entry of the header. Returns the number of entries, the header
 * included. After an error nothing is mapped.
 */
static int spfe_net_map_all(struct spfe_netdev *priv, struct sk_buff *skb)
{
	u32 first = priv->tx.posted, count = 1, bytes, i;
	struct device *dev = priv->hold->dev;
	const skb_frag_t *frag;
	int err = 0;

	bytes = skb_headlen(skb);
	if (bytes)
		err = spfe_net_map(priv, first + count++,
				   dma_map_single(dev, skb->data, bytes, DMA_TO_DEVICE),
				   bytes, false);
	for (i = 0; !err && i < skb_shinfo(skb)->nr_frags; i++) {
		frag = &skb_shinfo(skb)->frags[i];
		bytes = skb_frag_size(frag);
		err = spfe_net_map(priv, first + count++,
				   skb_frag_dma_map(dev, frag, 0, bytes, DMA_TO_DEVICE),
				   bytes, true);
	}
	if (!err)
		return count;
	while (--count)
		spfe_net_unmap(dev, spfe_net_piece(priv, first + count));
	return err;
}

/* Posts a header and what spfe_net_map_all() mapped. */
static void spfe_net_post_mapped(struct spfe_netdev *priv, u32 header, u32 count, u32 flags)
{
	struct spfe_ring *ring = &priv->tx;
	struct spfe_net_piece *piece;
	u32 index;

	for (index = count - 1; index; index--) {
		piece = spfe_net_piece(priv, ring->posted + index);
		spfe_ring_put(ring, ring->posted + index, priv->local | piece->dma,
			      index == count - 1 ? flags : SPFE_ENTRY_TYPE_DATA |
							   SPFE_SUBMIT_FLAGS_CHAIN,
			      piece->bytes);
	}
	spfe_ring_put(ring, ring->posted, spfe_ring_address(ring, ring->posted),
		      SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_CHAIN, header);
	priv->counters.tx_mapped++;
}

/* Copies a frame behind its header, over as many buffers as it needs. Returns their number. */
static int spfe_net_copy_all(struct spfe_netdev *priv, const struct sk_buff *skb, u32 header)
{
	struct spfe_ring *ring = &priv->tx;
	u32 done = 0, count = 0, room, bytes;

	do {
		room = ring->slot_bytes - (count ? 0 : header);
		bytes = min_t(u32, room, skb->len - done);
		if (skb_copy_bits(skb, done, spfe_ring_slot(ring, ring->posted + count) +
				  (count ? 0 : header), bytes))
			return -EFAULT;
		done += bytes;
		count++;
	} while (done < skb->len);
	return count;
}

static void spfe_net_post_copied(struct spfe_netdev *priv, u32 bytes, u32 count, u32 flags)
{
	struct spfe_ring *ring = &priv->tx;
	u32 index = count, part;

	while (index--) {
		part = min_t(u32, bytes - index * ring->slot_bytes, ring->slot_bytes);
		spfe_ring_put(ring, ring->posted + index,
			      spfe_ring_address(ring, ring->posted + index),
			      index == count - 1 ? flags : SPFE_ENTRY_TYPE_DATA |
							   SPFE_SUBMIT_FLAGS_CHAIN, part);
	}
	priv->counters.tx_copied++;
}

/* Posts a frame. Returns the number of its entries, or an error. */
static int spfe_net_post(struct spfe_netdev *priv, struct sk_buff *skb, u32 flags)
{
	u8 *slot = spfe_ring_slot(&priv->tx, priv->tx.posted);
	int header = spfe_net_begin(priv, skb, slot);
	bool copy;
	int count;

	if (header < 0)
		return header;
	copy = !priv->local || header + skb->len <= priv->tx.slot_bytes;
	count = copy ? spfe_net_copy_all(priv, skb, header) : spfe_net_map_all(priv, skb);
	if (count < 0)
		return count;
	if (copy)
		spfe_net_post_copied(priv, header + skb->len, count, flags);
	else
		spfe_net_post_mapped(priv, header, count, flags);
	return count;
}

/* Stops the queue if the ring has no room for another frame. */
static void spfe_net_check_room(struct spfe_netdev *priv)
{
	if (spfe_ring_room(&priv->tx) > spfe_net_need(priv))
		return;
	spfe_net_reap(priv);
	if (spfe_ring_room(&priv->tx) > spfe_net_need(priv))
		return;
	/* The last frame asks for a completion, so NAPI restarts the queue. */
	netif_stop_queue(priv->net);
}

static netdev_tx_t spfe_net_drop(struct spfe_netdev *priv, struct sk_buff *skb)
{
	priv->net->stats.tx_dropped++;
	dev_kfree_skb_any(skb);
	/* Earlier frames of the same batch may wait for this. */
	if (!netdev_xmit_more() && !priv->tx.broken)
		spfe_ring_notify(&priv->tx);
	return NETDEV_TX_OK;
}

netdev_tx_t spfe_net_xmit(struct sk_buff *skb, struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);
	u32 flags = SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_LAST;
	bool more = netdev_xmit_more();
	int count;

	if (priv->tx.broken || skb->len > SPFE_NET_PACKET_MAX - SPFE_NET_HEADER2)
		return spfe_net_drop(priv, skb);
	if (spfe_ring_room(&priv->tx) <= spfe_net_need(priv)) {
		spfe_net_check_room(priv);
		if (netif_queue_stopped(net))
			return NETDEV_TX_BUSY;
	}
	spfe_net_say_hello(priv);
	if (!more || priv->frames % SPFE_NET_SIGNAL == SPFE_NET_SIGNAL - 1 ||
	    spfe_ring_room(&priv->tx) <= 2 * spfe_net_need(priv))
		flags |= SPFE_SUBMIT_FLAGS_SIGNAL;
	count = spfe_net_post(priv, skb, flags);
	if (count < 0) {
		priv->counters.tx_refused++;
		return spfe_net_drop(priv, skb);
	}
	priv->counters.tx_large += skb_is_gso(skb);
	priv->frames++;
	spfe_net_piece(priv, priv->tx.posted + count - 1)->skb = skb;
	priv->tx.posted += count;
	skb_tx_timestamp(skb);
	dev_sw_netstats_tx_add(net, 1, skb->len);
	netdev_sent_queue(net, skb->len);
	spfe_net_check_room(priv);
	if (!more || netif_xmit_stopped(netdev_get_tx_queue(net, 0)))
		spfe_ring_notify(&priv->tx);
	return NETDEV_TX_OK;
}
