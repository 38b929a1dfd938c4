// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: frames from the device to the network interface. A packet fills one buffer or several. Its
 * bytes are copied once, into an skb with pages of its own, and the buffers go back to the device.
 */
#include "spfe_net.h"

/* Most bytes of a frame that are copied into the linear part of the skb. */
#define SPFE_NET_LINEAR 256

/* Reports that something of the far end has changed what is known about it. */
static void spfe_net_answer(struct spfe_net_path *path, const u8 *hello, bool second)
{
	struct netdev_queue *queue = spfe_net_queue(path);
	enum spfe_peer_state before;
	u32 flags;

	__netif_tx_lock(queue, smp_processor_id());
	before = path->peer.state;
	flags = hello ? spfe_peer_hear_hello(&path->peer, hello) :
			spfe_peer_hear_frame(&path->peer, second);
	if (flags)
		path->hello = flags;
	path->counters.peer_changes += path->peer.state != before;
	spfe_net_say_hello(path);
	__netif_tx_unlock(queue);
}

/* Copies `bytes` of the frame behind a header of the packet into an skb. */
static struct sk_buff *spfe_net_build(struct spfe_net_path *path, u32 header, u32 bytes)
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
	for (i = 0; i < path->nparts; i++) {
		part = path->parts[i].bytes - header;
		if (skb_store_bits(skb, done, path->parts[i].at + header, part)) {
			kfree_skb(skb);
			return NULL;
		}
		done += part;
		header = 0;
	}
	skb->dev = path->net;
	return skb;
}

/*
 * The rules of the encapsulation for offload fields; virtio_net_hdr_to_skb() and the stack check
 * what they mean for this frame.
 */
static bool spfe_net_fits(const struct spfe_net_path *path, const struct virtio_net_hdr *fields,
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
	return needs && size && size <= path->net->mtu &&
	       (fields->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) != VIRTIO_NET_HDR_GSO_UDP;
}

/* Passes a frame with its offload fields, if it has some, to the stack. */
static void spfe_net_deliver(struct spfe_net_path *path, u32 header, u32 bytes,
			     const struct virtio_net_hdr *fields)
{
	struct net_device *net = path->net;
	struct sk_buff *skb = spfe_net_build(path, header, bytes);

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
		path->counters.rx_unchecked += fields->flags != 0;
		path->counters.rx_large += fields->gso_type != VIRTIO_NET_HDR_GSO_NONE;
	}
	skb->protocol = eth_type_trans(skb, net);
	dev_sw_netstats_rx_add(net, bytes);
	napi_gro_receive(&path->napi, skb);
}

static void spfe_net_first(struct spfe_net_path *path, u32 total)
{
	struct net_device *net = path->net;
	u32 bytes = total - sizeof(spfe_net_header);

	if (memcmp(path->parts[0].at, spfe_net_header, sizeof(spfe_net_header))) {
		net->stats.rx_frame_errors++;
		return;
	}
	if (bytes > VLAN_ETH_HLEN + net->mtu) {
		net->stats.rx_length_errors++;
		return;
	}
	path->counters.rx_first++;
	if (!path->owner->first_only && spfe_peer_is_news(&path->peer, false))
		spfe_net_answer(path, NULL, false);
	spfe_net_deliver(path, sizeof(spfe_net_header), bytes, NULL);
}

static void spfe_net_second(struct spfe_net_path *path, u32 total)
{
	const u8 *packet = path->parts[0].at;
	struct net_device *net = path->net;
	u8 wanted[sizeof(path->inward)];
	struct virtio_net_hdr fields;
	u32 bytes;

	memcpy(wanted, path->inward, sizeof(wanted));
	wanted[3] = packet[3] & 1;
	if (memcmp(packet, wanted, sizeof(wanted))) {
		net->stats.rx_frame_errors++;
		return;
	}
	if (wanted[3]) {
		path->counters.hellos_received++;
		spfe_net_answer(path, packet, false);
		return;
	}
	bytes = total - SPFE_NET_HEADER2;
	if (total < SPFE_NET_HEADER2 + ETH_HLEN) {
		net->stats.rx_frame_errors++;
		return;
	}
	memcpy(&fields, packet + sizeof(path->inward), sizeof(fields));
	if (total > SPFE_NET_PACKET_MAX || (fields.gso_type == VIRTIO_NET_HDR_GSO_NONE &&
					    bytes > VLAN_ETH_HLEN + net->mtu)) {
		net->stats.rx_length_errors++;
		return;
	}
	if (!spfe_net_fits(path, &fields, bytes)) {
		net->stats.rx_frame_errors++;
		return;
	}
	path->counters.rx_second++;
	WRITE_ONCE(path->peer.heard, true);
	if (spfe_peer_is_news(&path->peer, true))
		spfe_net_answer(path, NULL, true);
	spfe_net_deliver(path, SPFE_NET_HEADER2, bytes, &fields);
}

/* Handles a packet whose parts have all arrived. */
static void spfe_net_packet(struct spfe_net_path *path)
{
	u32 total = 0, i;

	for (i = 0; i < path->nparts; i++)
		total += path->parts[i].bytes;
	if (total < SPFE_NET_HELLO_BYTES)
		path->net->stats.rx_frame_errors++;
	else if (!path->owner->first_only && path->parts[0].at[2] == path->inward[2])
		spfe_net_second(path, total);
	else
		spfe_net_first(path, total);
}

/* Takes a completion: a packet, a part of one, or an error. */
static void spfe_net_take(struct spfe_net_path *path, const struct spfe_done *done)
{
	u32 end = FIELD_GET(SPFE_COMPLETION_FLAGS_END_MASK, done->flags);
	bool more = done->flags & SPFE_COMPLETION_FLAGS_MORE;
	struct spfe_net_part *part;

	if (done->status != SPFE_STATUS_OK || (!more && end != SPFE_END_MARKER_EOP)) {
		path->net->stats.rx_errors++;
		path->nparts = 0;
		path->skip = false;
		return;
	}
	/* Only a part that fills its buffer continues, so that the header is in the first one. */
	if (!path->skip && (path->nparts == SPFE_NET_PARTS_MAX || done->entries != 1 ||
			    done->bytes > path->rx.slot_bytes ||
			    (more && done->bytes != path->rx.slot_bytes))) {
		path->net->stats.rx_length_errors++;
		path->nparts = 0;
		path->skip = true;
	}
	if (!path->skip) {
		part = &path->parts[path->nparts++];
		part->at = spfe_ring_slot(&path->rx, done->first);
		part->bytes = done->bytes;
	}
	if (more)
		return;
	if (!path->skip)
		spfe_net_packet(path);
	path->nparts = 0;
	path->skip = false;
}

/* Posts all free buffers but those of a packet that is not complete. */
static void spfe_net_refill(struct spfe_net_path *path)
{
	u32 room = spfe_ring_room(&path->rx);

	if (room <= path->nparts)
		return;
	for (room -= path->nparts; room; room--)
		spfe_ring_post(&path->rx, SPFE_ENTRY_TYPE_BUFFER, path->rx.slot_bytes);
	spfe_ring_notify(&path->rx);
}

int spfe_net_rx_poll(struct spfe_net_path *path, int budget)
{
	struct spfe_done done;
	int work = 0;

	while (work < budget && spfe_ring_take(&path->rx, &done)) {
		spfe_net_take(path, &done);
		work++;
	}
	spfe_net_refill(path);
	return work;
}
