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

static struct spfe_net_piece *spfe_net_piece(struct spfe_net_path *path, u32 position)
{
	return &path->hold->pieces[position & (path->hold->entries - 1)];
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
static bool spfe_net_may_map(struct spfe_net_path *path)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(path->spfe->parent);

	return (!domain || !(domain->type & __IOMMU_DOMAIN_PAGING)) &&
	       path->spfe->chain_max >= SPFE_NET_ENTRIES_MAX;
}

/* Prepares the transmit ring of a new client; spfe_ring_create() follows. */
int spfe_net_tx_prepare(struct spfe_net_path *path)
{
	struct spfe_client *client = path->client;
	struct spfe_region *region = ERR_PTR(-EOPNOTSUPP);
	u32 entries = BIT(path->owner->tx_log2), key;
	u64 offset;

	path->local = 0;
	if (spfe_net_may_map(path))
		region = spfe_region_local(client, SPFE_ACCESS_LOCAL_READ);
	if (!IS_ERR(region) && !spfe_region_enter(client, region, &key, &offset))
		path->local = FIELD_PREP(SPFE_SUBMISSION_REGION_MASK, (u64)key);
	path->tx.slot_bytes = path->local ? SPFE_NET_TX_SLOT : SPFE_NET_TX_COPY_SLOT;
	path->hold = kvzalloc(struct_size(path->hold, pieces, entries), GFP_KERNEL);
	if (!path->hold)
		return -ENOMEM;
	path->hold->dev = path->spfe->parent;
	path->hold->entries = entries;
	client->released_context = path->hold;
	client->released = spfe_net_hold_free;
	return 0;
}

/* The most entries that a frame can need. */
static u32 spfe_net_need(const struct spfe_net_path *path)
{
	return path->local ? SPFE_NET_ENTRIES_MAX : SPFE_NET_COPIES_MAX;
}

/* Takes completions and releases what they free. Called with the lock of the queue. */
void spfe_net_reap(struct spfe_net_path *path)
{
	struct spfe_net_piece *piece;
	u32 frames = 0, bytes = 0, i;
	struct spfe_done done;

	while (spfe_ring_take(&path->tx, &done)) {
		if (done.status != SPFE_STATUS_OK)
			path->net->stats.tx_errors++;
		for (i = 0; i < done.entries; i++) {
			piece = spfe_net_piece(path, done.first + i);
			spfe_net_unmap(path->hold->dev, piece);
			if (!piece->skb)
				continue;
			frames++;
			bytes += piece->skb->len;
			dev_consume_skb_any(piece->skb);
			piece->skb = NULL;
		}
	}
	if (frames)
		netdev_tx_completed_queue(spfe_net_queue(path), frames, bytes);
}

/* Sends the hello that is due, if there is room. Called with the lock of the queue. */
void spfe_net_say_hello(struct spfe_net_path *path)
{
	if (!path->hello || path->tx.broken || !spfe_ring_room(&path->tx))
		return;
	spfe_peer_hello(spfe_ring_slot(&path->tx, path->tx.posted), path->outward, path->hello);
	path->hello = 0;
	path->counters.hellos_sent++;
	spfe_ring_post(&path->tx, SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_LAST |
		       SPFE_SUBMIT_FLAGS_SIGNAL, SPFE_NET_HELLO_BYTES);
	spfe_ring_notify(&path->tx);
}

/* Called by NAPI: releases frames, and restarts the queue if the ring has room again. */
void spfe_net_tx_poll(struct spfe_net_path *path)
{
	struct netdev_queue *queue = spfe_net_queue(path);

	__netif_tx_lock(queue, smp_processor_id());
	spfe_net_reap(path);
	spfe_net_say_hello(path);
	if (netif_tx_queue_stopped(queue) &&
	    spfe_ring_room(&path->tx) > 2 * spfe_net_need(path)) {
		path->counters.tx_restarts++;
		netif_tx_wake_queue(queue);
	}
	__netif_tx_unlock(queue);
}

/* What the stack may leave to the far end. The rest it does itself before it calls xmit. */
netdev_features_t spfe_net_features_check(struct sk_buff *skb, struct net_device *net,
					  netdev_features_t features)
{
	const struct spfe_net_path *path = spfe_net_path_of(netdev_priv(net),
							    skb_get_queue_mapping(skb));
	u32 can = 0, most = 0;

	/* A frame for several nodes goes to each as it is. */
	if (!path)
		return features & ~(NETIF_F_CSUM_MASK | NETIF_F_GSO_MASK);

	if (READ_ONCE(path->peer.state) == SPFE_PEER_SECOND) {
		can = READ_ONCE(path->peer.features);
		most = READ_ONCE(path->peer.packet_max);
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
static int spfe_net_begin(struct spfe_net_path *path, struct sk_buff *skb, u8 *header)
{
	struct virtio_net_hdr *fields;
	u32 can = path->peer.features;
	bool sums = path->peer.state == SPFE_PEER_SECOND && can & SPFE_NET_CAN_CHECKSUM;

	/* The far end may have changed since the stack asked for its features. */
	if (!sums && skb_is_gso(skb))
		return -EOPNOTSUPP;
	if (!sums && skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb))
		return -ENOMEM;
	if (path->peer.state != SPFE_PEER_SECOND) {
		memcpy(header, spfe_net_header, sizeof(spfe_net_header));
		return sizeof(spfe_net_header);
	}
	memcpy(header, path->outward, sizeof(path->outward));
	fields = (struct virtio_net_hdr *)(header + sizeof(path->outward));
	if (virtio_net_hdr_from_skb(skb, fields, true, true, 0))
		return -EOPNOTSUPP;
	return SPFE_NET_HEADER2;
}

/* Maps one stretch of a frame to the entry `position`. */
static int spfe_net_map(struct spfe_net_path *path, u32 position, dma_addr_t dma, u32 bytes,
			bool page)
{
	struct spfe_net_piece *piece = spfe_net_piece(path, position);

	if (dma_mapping_error(path->hold->dev, dma))
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
static int spfe_net_map_all(struct spfe_net_path *path, struct sk_buff *skb)
{
	u32 first = path->tx.posted, count = 1, bytes, i;
	struct device *dev = path->hold->dev;
	const skb_frag_t *frag;
	int err = 0;

	bytes = skb_headlen(skb);
	if (bytes)
		err = spfe_net_map(path, first + count++,
				   dma_map_single(dev, skb->data, bytes, DMA_TO_DEVICE),
				   bytes, false);
	for (i = 0; !err && i < skb_shinfo(skb)->nr_frags; i++) {
		frag = &skb_shinfo(skb)->frags[i];
		bytes = skb_frag_size(frag);
		err = spfe_net_map(path, first + count++,
				   skb_frag_dma_map(dev, frag, 0, bytes, DMA_TO_DEVICE),
				   bytes, true);
	}
	if (!err)
		return count;
	while (--count)
		spfe_net_unmap(dev, spfe_net_piece(path, first + count));
	return err;
}

/* Posts a header and what spfe_net_map_all() mapped. */
static void spfe_net_post_mapped(struct spfe_net_path *path, u32 header, u32 count, u32 flags)
{
	struct spfe_ring *ring = &path->tx;
	struct spfe_net_piece *piece;
	u32 index;

	for (index = count - 1; index; index--) {
		piece = spfe_net_piece(path, ring->posted + index);
		spfe_ring_put(ring, ring->posted + index, path->local | piece->dma,
			      index == count - 1 ? flags : SPFE_ENTRY_TYPE_DATA |
							   SPFE_SUBMIT_FLAGS_CHAIN,
			      piece->bytes);
	}
	spfe_ring_put(ring, ring->posted, spfe_ring_address(ring, ring->posted),
		      SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_CHAIN, header);
	path->counters.tx_mapped++;
}

/* Copies a frame behind its header, over as many buffers as it needs. Returns their number. */
static int spfe_net_copy_all(struct spfe_net_path *path, const struct sk_buff *skb, u32 header)
{
	struct spfe_ring *ring = &path->tx;
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

static void spfe_net_post_copied(struct spfe_net_path *path, u32 bytes, u32 count, u32 flags)
{
	struct spfe_ring *ring = &path->tx;
	u32 index = count, part;

	while (index--) {
		part = min_t(u32, bytes - index * ring->slot_bytes, ring->slot_bytes);
		spfe_ring_put(ring, ring->posted + index,
			      spfe_ring_address(ring, ring->posted + index),
			      index == count - 1 ? flags : SPFE_ENTRY_TYPE_DATA |
							   SPFE_SUBMIT_FLAGS_CHAIN, part);
	}
	path->counters.tx_copied++;
}

/* Posts a frame. Returns the number of its entries, or an error. */
static int spfe_net_post(struct spfe_net_path *path, struct sk_buff *skb, u32 flags)
{
	u8 *slot = spfe_ring_slot(&path->tx, path->tx.posted);
	int header = spfe_net_begin(path, skb, slot);
	bool copy;
	int count;

	if (header < 0)
		return header;
	copy = !path->local || header + skb->len <= path->tx.slot_bytes;
	count = copy ? spfe_net_copy_all(path, skb, header) : spfe_net_map_all(path, skb);
	if (count < 0)
		return count;
	if (copy)
		spfe_net_post_copied(path, header + skb->len, count, flags);
	else
		spfe_net_post_mapped(path, header, count, flags);
	return count;
}

/* Stops the queue if the ring has no room for another frame. */
static void spfe_net_check_room(struct spfe_net_path *path)
{
	if (spfe_ring_room(&path->tx) > spfe_net_need(path))
		return;
	spfe_net_reap(path);
	if (spfe_ring_room(&path->tx) > spfe_net_need(path))
		return;
	/* The last frame asks for a completion, so NAPI restarts the queue. */
	netif_tx_stop_queue(spfe_net_queue(path));
}

static netdev_tx_t spfe_net_drop(struct spfe_net_path *path, struct sk_buff *skb, bool more)
{
	path->net->stats.tx_dropped++;
	dev_kfree_skb_any(skb);
	/* Earlier frames of the same batch may wait for this. */
	if (!more && path->open && !path->tx.broken)
		spfe_ring_notify(&path->tx);
	return NETDEV_TX_OK;
}

/*
 * Sends a frame on a path; `more` of them follow at once. Called with the lock of its queue. Frames
 * for a node that is not there are dropped, so that none goes to a later life of the node.
 */
static netdev_tx_t spfe_net_send(struct spfe_net_path *path, struct sk_buff *skb, bool more)
{
	u32 flags = SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_LAST;
	int count;

	if (!path->open || path->tx.broken || (path->node && !READ_ONCE(path->ready)) ||
	    skb->len > SPFE_NET_PACKET_MAX - SPFE_NET_HEADER2)
		return spfe_net_drop(path, skb, more);
	if (spfe_ring_room(&path->tx) <= spfe_net_need(path)) {
		spfe_net_check_room(path);
		if (netif_tx_queue_stopped(spfe_net_queue(path)))
			return NETDEV_TX_BUSY;
	}
	spfe_net_say_hello(path);
	if (!more || path->frames % SPFE_NET_SIGNAL == SPFE_NET_SIGNAL - 1 ||
	    spfe_ring_room(&path->tx) <= 2 * spfe_net_need(path))
		flags |= SPFE_SUBMIT_FLAGS_SIGNAL;
	count = spfe_net_post(path, skb, flags);
	if (count < 0) {
		path->counters.tx_refused++;
		return spfe_net_drop(path, skb, more);
	}
	path->counters.tx_large += skb_is_gso(skb);
	path->frames++;
	spfe_net_piece(path, path->tx.posted + count - 1)->skb = skb;
	path->tx.posted += count;
	skb_tx_timestamp(skb);
	dev_sw_netstats_tx_add(path->net, 1, skb->len);
	netdev_tx_sent_queue(spfe_net_queue(path), skb->len);
	spfe_net_check_room(path);
	if (!more || netif_xmit_stopped(spfe_net_queue(path)))
		spfe_ring_notify(&path->tx);
	return NETDEV_TX_OK;
}

/* Sends copies of frames for several nodes. Not from xmit, which holds the lock of a queue. */
void spfe_net_group_work(struct work_struct *work)
{
	struct spfe_netdev *priv = container_of(work, struct spfe_netdev, group_work);
	struct spfe_net_path *path;
	struct sk_buff *skb, *copy;
	u32 index;

	while ((skb = skb_dequeue(&priv->group))) {
		for (index = 0; index < priv->npaths; index++) {
			path = &priv->paths[index];
			copy = READ_ONCE(path->ready) ? skb_clone(skb, GFP_KERNEL) : NULL;
			if (!copy)
				continue;
			spfe_net_lock(path);
			/* A node that does not read loses it, and delays nobody. */
			if (spfe_net_send(path, copy, false) == NETDEV_TX_BUSY)
				spfe_net_drop(path, copy, false);
			spfe_net_unlock(path);
		}
		consume_skb(skb);
	}
}

netdev_tx_t spfe_net_xmit(struct sk_buff *skb, struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);
	struct spfe_net_path *path = spfe_net_path_of(priv, skb_get_queue_mapping(skb));

	if (path)
		return spfe_net_send(path, skb, netdev_xmit_more());
	if (skb_queue_len(&priv->group) >= SPFE_NET_GROUP_MAX) {
		net->stats.tx_dropped++;
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	skb_orphan(skb);
	skb_queue_tail(&priv->group, skb);
	queue_work(system_highpri_wq, &priv->group_work);
	return NETDEV_TX_OK;
}

/* Each node of a fabric has a queue of its own; queue 0 is for frames to several. */
u16 spfe_net_select_queue(struct net_device *net, struct sk_buff *skb, struct net_device *below)
{
	const struct spfe_netdev *priv = netdev_priv(net);
	const u8 *to = skb->data;
	u32 node = to[ETH_ALEN - 1];

	if (!priv->own || memcmp(to, spfe_net_mac, sizeof(spfe_net_mac)) || !node ||
	    node > priv->npaths + 1 || node == priv->own)
		return 0;
	return node < priv->own ? node : node - 1;
}
