// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: frames from the device to the network interface. A packet fills one buffer or several. Its
 * bytes are copied once, into an skb with pages of its own, and the buffers go back to the device.
 */
#include "spfe_net.h"

/* Most bytes of a frame that are copied into the linear part of the skb. */
#define SPFE_NET_LINEAR 256

/* Reports that something of the far end has changed what is known about it. */
static void spfe_net_answer(struct spfe_netdev *priv, const u8 *hello, bool second)
{
	struct netdev_queue *queue = netdev_get_tx_queue(priv->net, 0);
	enum spfe_peer_state before;
	u32 flags;

	__netif_tx_lock(queue, smp_processor_id());
	before = priv->peer.state;
	flags = hello ? spfe_peer_hear_hello(&priv->peer, hello) :
			spfe_peer_hear_frame(&priv->peer, second);
	if (flags)
		priv->hello = flags;
	priv->counters.peer_changes += priv->peer.state != before;
	spfe_net_say_hello(priv);
	__netif_tx_unlock(queue);
}

/* Copies `bytes` of the frame behind a header of the packet into an skb. */
static struct sk_buff *spfe_net_build(struct spfe_netdev *priv, u32 header, u32 bytes)
{
	u32 linear = min_t(u32, bytes, SPFE_NET_LINEAR), done = 0, i, part;
	struct sk_buff *skb;
	int err;

	skb = alloc_skb_with_frags(NET_IP_ALIGN + linear, bytes - linear, PAGE_ALLOC_COSTLY_ORDER,
				   &err, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_IP_ALIGN);
	skb_put(skb, linear);
	skb->data_len = bytes - linear;
	skb->len += skb->data_len;
	for (i = 0; i < priv->nparts; i++) {
		part = priv->parts[i].bytes - header;
		if (skb_store_bits(skb, done, priv->parts[i].at + header, part)) {
			kfree_skb(skb);
			return NULL;
		}
		done += part;
		header = 0;
	}
	skb->dev = priv->net;
	return skb;
}

/*
 * The rules of the encapsulation for offload fields; virtio_net_hdr_to_skb() and the stack check
 * what they mean for this frame.
 */
static bool spfe_net_fits(const struct spfe_netdev *priv, const struct virtio_net_hdr *fields,
			  u32 bytes)
{
	u32 start = __virtio16_to_cpu(true, fields->csum_start);
	u32 end = start + __virtio16_to_cpu(true, fields->csum_offset) + sizeof(__sum16);
	u32 size = __virtio16_to_cpu(true, fields->gso_size);
	bool needs = fields->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;

	if (fields->flags & ~(VIRTIO_NET_HDR_F_NEEDS_CSUM | VIRTIO_NET_HDR_F_DATA_VALID))
		return false;
	if (needs && (start < ETH_HLEN || end > bytes))
		return false;
	if (fields->gso_type == VIRTIO_NET_HDR_GSO_NONE)
		return !size;
	return needs && size && size <= priv->net->mtu &&
	       (fields->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) != VIRTIO_NET_HDR_GSO_UDP;
}

/* Passes a frame with its offload fields, if it has some, to the stack. */
static void spfe_net_deliver(struct spfe_netdev *priv, u32 header, u32 bytes,
			     const struct virtio_net_hdr *fields)
{
	struct net_device *net = priv->net;
	struct sk_buff *skb = spfe_net_build(priv, header, bytes);

	if (!skb) {
		net->stats.rx_dropped++;
		return;
	}
	if (fields) {
		if (fields->flags & VIRTIO_NET_HDR_F_DATA_VALID && net->features & NETIF_F_RXCSUM)
			skb->ip_summed = CHECKSUM_UNNECESSARY;
		if (virtio_net_hdr_to_skb(skb, fields, true)) {
			net->stats.rx_frame_errors++;
			kfree_skb(skb);
			return;
		}
		priv->counters.rx_unchecked += fields->flags != 0;
		priv->counters.rx_large += fields->gso_type != VIRTIO_NET_HDR_GSO_NONE;
	}
	skb->protocol = eth_type_trans(skb, net);
	dev_sw_netstats_rx_add(net, bytes);
	napi_gro_receive(&priv->napi, skb);
}

static void spfe_net_first(struct spfe_netdev *priv, u32 total)
{
	struct net_device *net = priv->net;
	u32 bytes = total - sizeof(spfe_net_header);

	if (memcmp(priv->parts[0].at, spfe_net_header, sizeof(spfe_net_header))) {
		net->stats.rx_frame_errors++;
		return;
	}
	if (bytes > VLAN_ETH_HLEN + net->mtu) {
		net->stats.rx_length_errors++;
		return;
	}
	priv->counters.rx_first++;
	if (!priv->first_only && spfe_peer_is_news(&priv->peer, false))
		spfe_net_answer(priv, NULL, false);
	spfe_net_deliver(priv, sizeof(spfe_net_header), bytes, NULL);
}

static void spfe_net_second(struct spfe_netdev *priv, u32 total)
{
	const u8 *packet = priv->parts[0].at;
	struct net_device *net = priv->net;
	u8 wanted[sizeof(spfe_net_prefix)];
	struct virtio_net_hdr fields;
	u32 bytes;

	memcpy(wanted, spfe_net_prefix, sizeof(wanted));
	wanted[3] = packet[3] & 1;
	if (memcmp(packet, wanted, sizeof(wanted))) {
		net->stats.rx_frame_errors++;
		return;
	}
	if (wanted[3]) {
		priv->counters.hellos_received++;
		spfe_net_answer(priv, packet, false);
		return;
	}
	bytes = total - SPFE_NET_HEADER2;
	if (total < SPFE_NET_HEADER2 + ETH_HLEN) {
		net->stats.rx_frame_errors++;
		return;
	}
	memcpy(&fields, packet + sizeof(spfe_net_prefix), sizeof(fields));
	if (total > SPFE_NET_PACKET_MAX || (fields.gso_type == VIRTIO_NET_HDR_GSO_NONE &&
					    bytes > VLAN_ETH_HLEN + net->mtu)) {
		net->stats.rx_length_errors++;
		return;
	}
	if (!spfe_net_fits(priv, &fields, bytes)) {
		net->stats.rx_frame_errors++;
		return;
	}
	priv->counters.rx_second++;
	WRITE_ONCE(priv->peer.heard, true);
	if (spfe_peer_is_news(&priv->peer, true))
		spfe_net_answer(priv, NULL, true);
	spfe_net_deliver(priv, SPFE_NET_HEADER2, bytes, &fields);
}

/* Handles a packet whose parts have all arrived. */
static void spfe_net_packet(struct spfe_netdev *priv)
{
	u32 total = 0, i;

	for (i = 0; i < priv->nparts; i++)
		total += priv->parts[i].bytes;
	if (total < SPFE_NET_HELLO_BYTES)
		priv->net->stats.rx_frame_errors++;
	else if (!priv->first_only && priv->parts[0].at[2] == spfe_net_prefix[2])
		spfe_net_second(priv, total);
	else
		spfe_net_first(priv, total);
}

/* Takes a completion: a packet, a part of one, or an error. */
static void spfe_net_take(struct spfe_netdev *priv, const struct spfe_done *done)
{
	u32 end = FIELD_GET(SPFE_COMPLETION_FLAGS_END_MASK, done->flags);
	bool more = done->flags & SPFE_COMPLETION_FLAGS_MORE;
	struct spfe_net_part *part;

	if (done->status != SPFE_STATUS_OK || (!more && end != SPFE_END_MARKER_EOP)) {
		priv->net->stats.rx_errors++;
		priv->nparts = 0;
		priv->skip = false;
		return;
	}
	/* Only a part that fills its buffer continues, so that the header is in the first one. */
	if (!priv->skip && (priv->nparts == SPFE_NET_PARTS_MAX || done->entries != 1 ||
			    done->bytes > priv->rx.slot_bytes ||
			    (more && done->bytes != priv->rx.slot_bytes))) {
		priv->net->stats.rx_length_errors++;
		priv->nparts = 0;
		priv->skip = true;
	}
	if (!priv->skip) {
		part = &priv->parts[priv->nparts++];
		part->at = spfe_ring_slot(&priv->rx, done->first);
		part->bytes = done->bytes;
	}
	if (more)
		return;
	if (!priv->skip)
		spfe_net_packet(priv);
	priv->nparts = 0;
	priv->skip = false;
}

/* Posts all free buffers but those of a packet that is not complete. */
static void spfe_net_refill(struct spfe_netdev *priv)
{
	u32 room = spfe_ring_room(&priv->rx);

	if (room <= priv->nparts)
		return;
	for (room -= priv->nparts; room; room--)
		spfe_ring_post(&priv->rx, SPFE_ENTRY_TYPE_BUFFER, priv->rx.slot_bytes);
	spfe_ring_notify(&priv->rx);
}

int spfe_net_rx_poll(struct spfe_netdev *priv, int budget)
{
	struct spfe_done done;
	int work = 0;

	while (work < budget && spfe_ring_take(&priv->rx, &done)) {
		spfe_net_take(priv, &done);
		work++;
	}
	spfe_net_refill(priv);
	return work;
}
