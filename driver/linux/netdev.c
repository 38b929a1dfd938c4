// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: an Ethernet-like interface over one virtual channel. A packet is a header of six bytes
 * {logical address 0xfe, protocol identifier 0xf5, version 1, flags 0, 0, 0} followed by an
 * Ethernet frame without its check sequence (docs/netdev.md).
 *
 * The interface owns the virtual channel while it is up. Frames are copied into and out of buffers
 * that stay registered: the driver maps nothing per frame, and a slow far end holds no skb.
 */
#include <linux/ethtool.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/checksum.h>

#include "spfe_compat.h"
#include "spfe_core.h"
#include "spfe_ring.h"

static bool netdev = true;
module_param(netdev, bool, 0444);
MODULE_PARM_DESC(netdev, "Create a network interface for each device (default: yes)");
static unsigned int netdev_port;
module_param(netdev_port, uint, 0444);
MODULE_PARM_DESC(netdev_port, "Port of the network interface (default: 0)");
static int netdev_vc = -1;
module_param(netdev_vc, int, 0444);
MODULE_PARM_DESC(netdev_vc, "Virtual channel of the network interface (default: the last one)");

#define SPFE_NET_MTU_MIN 68
#define SPFE_NET_MTU_MAX 65500
#define SPFE_NET_MTU 9000
/* Bytes of buffers in each direction, and the limits of the ring sizes derived from them. */
#define SPFE_NET_POOL_BYTES SZ_4M
#define SPFE_NET_LOG2_MIN 6
#define SPFE_NET_LOG2_MAX 8
/* One in this many frames asks for a completion; only a full ring depends on it. */
#define SPFE_NET_SIGNAL 8
/* Most bytes of a received frame that are copied into the linear part of the skb. */
#define SPFE_NET_LINEAR 256
/*
 * Period of the look at port and rings. Where the device signals that its link changed, it serves
 * to find a ring that broke.
 */
#define SPFE_NET_LINK_MS 250
#define SPFE_NET_CALM_MS 2000
/* Index of the only event of this client. */
#define SPFE_NET_EVENT (SPFE_EVENT_OWN + 1)

static const u8 spfe_net_header[] = { 0xfe, 0xf5, 1, 0, 0, 0 };

struct spfe_netdev {
	struct spfe_device *spfe;
	struct net_device *net;
	u32 port;
	u32 vc;
	/* Valid while the interface is up. */
	struct spfe_client *client;
	struct napi_struct napi;
	struct delayed_work link;
	struct spfe_ring tx;	/* protected by the lock of the transmit queue */
	struct spfe_ring rx;	/* used by NAPI only */
	bool skip;		/* discard the rest of a packet longer than a buffer */
};

static void spfe_net_interrupt(void *context)
{
	struct spfe_netdev *priv = context;

	napi_schedule(&priv->napi);
}

/* Transmit */

static void spfe_net_reap(struct spfe_netdev *priv)
{
	struct spfe_done done;

	while (spfe_ring_take(&priv->tx, &done))
		if (done.status != SPFE_STATUS_OK)
			priv->net->stats.tx_errors++;
}

/*
 * Stops the queue if the ring is full. A full ring holds a frame that asked for a completion, whose
 * interrupt restarts the queue.
 */
static void spfe_net_check_room(struct spfe_netdev *priv)
{
	if (spfe_ring_room(&priv->tx))
		return;
	spfe_net_reap(priv);
	if (spfe_ring_room(&priv->tx))
		return;
	netif_stop_queue(priv->net);
	if (!spfe_ring_arm(&priv->tx))
		napi_schedule(&priv->napi);
}

/* Copies all fragments of a frame, and computes the checksum that the stack left to the device. */
static void spfe_net_copy(const struct sk_buff *skb, u8 *frame)
{
	__sum16 *sum;

	skb_copy_and_csum_dev(skb, frame);
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return;
	/* To UDP a sum of 0 means that there is none. The other 0 of this arithmetic is 0xffff. */
	sum = (__sum16 *)(frame + skb_checksum_start_offset(skb) + skb->csum_offset);
	if (!get_unaligned(sum))
		put_unaligned(CSUM_MANGLED_0, sum);
}

static netdev_tx_t spfe_net_xmit(struct sk_buff *skb, struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);
	u32 bytes = sizeof(spfe_net_header) + skb->len;
	u32 flags = SPFE_ENTRY_TYPE_DATA | SPFE_SUBMIT_FLAGS_LAST;
	u8 *slot;

	if (priv->tx.broken || bytes > priv->tx.slot_bytes) {
		net->stats.tx_dropped++;
		dev_kfree_skb_any(skb);
		/* Earlier frames of the same batch may wait for this. */
		if (!netdev_xmit_more())
			spfe_ring_notify(&priv->tx);
		return NETDEV_TX_OK;
	}
	if (!spfe_ring_room(&priv->tx)) {
		spfe_net_check_room(priv);
		return NETDEV_TX_BUSY;
	}
	slot = spfe_ring_slot(&priv->tx, priv->tx.posted);
	memcpy(slot, spfe_net_header, sizeof(spfe_net_header));
	spfe_net_copy(skb, slot + sizeof(spfe_net_header));
	if (priv->tx.posted % SPFE_NET_SIGNAL == SPFE_NET_SIGNAL - 1)
		flags |= SPFE_SUBMIT_FLAGS_SIGNAL;
	spfe_ring_post(&priv->tx, flags, bytes);
	dev_sw_netstats_tx_add(net, 1, skb->len);
	spfe_net_check_room(priv);
	if (!netdev_xmit_more() || netif_queue_stopped(net))
		spfe_ring_notify(&priv->tx);
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

/* Called by NAPI. Restarts the queue if the ring has room again. */
static void spfe_net_restart_queue(struct spfe_netdev *priv)
{
	struct netdev_queue *queue = netdev_get_tx_queue(priv->net, 0);

	if (!netif_tx_queue_stopped(queue))
		return;
	__netif_tx_lock(queue, smp_processor_id());
	spfe_net_reap(priv);
	if (spfe_ring_room(&priv->tx))
		netif_tx_wake_queue(queue);
	else if (!spfe_ring_arm(&priv->tx))
		napi_schedule(&priv->napi);
	__netif_tx_unlock(queue);
}

/* Receive */

static struct sk_buff *spfe_net_build(struct net_device *net, const u8 *frame, u32 bytes)
{
	u32 linear = min_t(u32, bytes, SPFE_NET_LINEAR);
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
	if (skb_store_bits(skb, 0, frame, bytes)) {
		kfree_skb(skb);
		return NULL;
	}
	skb->protocol = eth_type_trans(skb, net);
	return skb;
}

/* True if this completion is a whole packet. All parts of a longer one are discarded. */
static bool spfe_net_is_whole(struct spfe_netdev *priv, const struct spfe_done *done)
{
	bool more = done->flags & SPFE_COMPLETION_FLAGS_MORE;
	bool skip = priv->skip;

	priv->skip = more;
	if (more && !skip)
		priv->net->stats.rx_length_errors++;
	return !more && !skip;
}

static void spfe_net_receive(struct spfe_netdev *priv, const struct spfe_done *done)
{
	struct net_device *net = priv->net;
	const u8 *packet = spfe_ring_slot(&priv->rx, done->first);
	u32 end = FIELD_GET(SPFE_COMPLETION_FLAGS_END_MASK, done->flags);
	struct sk_buff *skb;
	u32 bytes;

	if (done->status != SPFE_STATUS_OK || end != SPFE_END_MARKER_EOP) {
		priv->skip = false;
		net->stats.rx_errors++;
		return;
	}
	if (!spfe_net_is_whole(priv, done))
		return;
	if (done->bytes < sizeof(spfe_net_header) + ETH_HLEN || done->bytes > priv->rx.slot_bytes ||
	    memcmp(packet, spfe_net_header, sizeof(spfe_net_header))) {
		net->stats.rx_frame_errors++;
		return;
	}
	bytes = done->bytes - sizeof(spfe_net_header);
	skb = spfe_net_build(net, packet + sizeof(spfe_net_header), bytes);
	if (!skb) {
		net->stats.rx_dropped++;
		return;
	}
	dev_sw_netstats_rx_add(net, bytes);
	napi_gro_receive(&priv->napi, skb);
}

/* Posts all free buffers to the device. */
static void spfe_net_refill(struct spfe_netdev *priv)
{
	u32 room = spfe_ring_room(&priv->rx);

	if (!room)
		return;
	while (room--)
		spfe_ring_post(&priv->rx, SPFE_ENTRY_TYPE_BUFFER, priv->rx.slot_bytes);
	spfe_ring_notify(&priv->rx);
}

static int spfe_net_poll(struct napi_struct *napi, int budget)
{
	struct spfe_netdev *priv = container_of(napi, struct spfe_netdev, napi);
	struct spfe_done done;
	int work = 0;

	while (work < budget && spfe_ring_take(&priv->rx, &done)) {
		spfe_net_receive(priv, &done);
		work++;
	}
	spfe_net_refill(priv);
	spfe_net_restart_queue(priv);
	if (work < budget && napi_complete_done(napi, work) && !spfe_ring_arm(&priv->rx))
		napi_schedule(napi);
	return work;
}

/* Open and stop */

static void spfe_net_forget(struct spfe_netdev *priv)
{
	spfe_client_close(priv->client);
	priv->client = NULL;
	spfe_ring_free(&priv->tx);
	spfe_ring_free(&priv->rx);
}

static void spfe_net_size(struct spfe_netdev *priv, struct spfe_ring *ring)
{
	u32 bytes = sizeof(spfe_net_header) + VLAN_ETH_HLEN + priv->net->mtu;

	memset(ring, 0, sizeof(*ring));
	ring->slot_bytes = max_t(u32, roundup_pow_of_two(bytes), SZ_2K);
	ring->log2 = clamp_t(u32, ilog2(SPFE_NET_POOL_BYTES / ring->slot_bytes), SPFE_NET_LOG2_MIN,
			     SPFE_NET_LOG2_MAX);
}

static struct spfe_signal *spfe_net_event(struct spfe_netdev *priv)
{
	struct spfe_client *client = priv->client;
	struct spfe_signal *event;
	int err;

	mutex_lock(&priv->spfe->lock);
	event = spfe_event_create(client, NULL, NULL, spfe_net_interrupt, priv);
	if (!IS_ERR(event)) {
		err = xa_err(xa_store(&client->events, SPFE_NET_EVENT, event, GFP_KERNEL));
		if (err) {
			spfe_event_detach(event);
			spfe_event_put(event);
			event = ERR_PTR(err);
		}
	}
	mutex_unlock(&priv->spfe->lock);
	return event;
}

static int spfe_net_start(struct spfe_netdev *priv)
{
	struct spfe_client *client;
	struct spfe_signal *event;
	int err;

	client = spfe_client_open(priv->spfe, NULL, true);
	if (IS_ERR(client))
		return PTR_ERR(client);
	priv->client = client;
	spfe_net_size(priv, &priv->tx);
	spfe_net_size(priv, &priv->rx);
	priv->skip = false;
	event = spfe_net_event(priv);
	err = PTR_ERR_OR_ZERO(event);
	if (!err)
		err = spfe_ring_create(priv->client, &priv->tx, priv->port, priv->vc,
				       SPFE_QUEUE_KIND_TX, event);
	if (!err)
		err = spfe_ring_create(priv->client, &priv->rx, priv->port, priv->vc,
				       SPFE_QUEUE_KIND_RX, event);
	if (err)
		spfe_net_forget(priv);
	return err;
}

/*
 * Claims the virtual channel and starts moving frames. The caller holds rtnl. After an error the
 * interface has no client, and spfe_net_link() tries again.
 */
static int spfe_net_resume(struct spfe_netdev *priv)
{
	int err;

	down_read(&priv->spfe->alive);
	err = spfe_net_start(priv);
	up_read(&priv->spfe->alive);
	if (err)
		return err;
	napi_enable(&priv->napi);
	/* The first poll posts the buffers and arms the interrupt. */
	local_bh_disable();
	napi_schedule(&priv->napi);
	local_bh_enable();
	netif_tx_wake_all_queues(priv->net);
	return 0;
}

/* Stops moving frames and releases the virtual channel. The caller holds rtnl. */
static void spfe_net_quiesce(struct spfe_netdev *priv)
{
	netif_carrier_off(priv->net);
	/* First the poll, because spfe_net_restart_queue() would wake a queue that was disabled. */
	if (priv->client)
		napi_disable(&priv->napi);
	netif_tx_disable(priv->net);
	if (!priv->client)
		return;
	down_read(&priv->spfe->alive);
	spfe_net_forget(priv);
	up_read(&priv->spfe->alive);
}

static int spfe_net_open(struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);
	int err;

	err = spfe_net_resume(priv);
	if (err) {
		netdev_err(net, "port %u, virtual channel %u cannot be opened: %d\n", priv->port,
			   priv->vc, err);
		return err;
	}
	queue_delayed_work(system_freezable_wq, &priv->link, 0);
	return 0;
}

static int spfe_net_stop(struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);

	cancel_delayed_work_sync(&priv->link);
	spfe_net_quiesce(priv);
	return 0;
}

/* Sets the carrier from the port state. After a reset of the device, creates the queues again. */
static void spfe_net_link(struct work_struct *work)
{
	struct spfe_netdev *priv = container_of(work, struct spfe_netdev, link.work);
	struct spfe_device *spfe = priv->spfe;
	unsigned int pause = SPFE_NET_LINK_MS;
	bool up = false;
	int err;

	/* ndo_stop holds rtnl while it waits for this work, so do not block on it. */
	if (!rtnl_trylock())
		goto again;
	if (!netif_running(priv->net)) {
		rtnl_unlock();
		return;
	}
	mutex_lock(&spfe->lock);
	err = priv->client ? spfe_client_check(priv->client) : -ESHUTDOWN;
	if (!err)
		up = spfe_port_state(spfe, priv->port) == SPFE_PORT_STATE_UP;
	mutex_unlock(&spfe->lock);
	if (err == -ESHUTDOWN) {
		spfe_net_quiesce(priv);
		spfe_net_resume(priv);
	} else if (up && !priv->tx.broken && !priv->rx.broken) {
		netif_carrier_on(priv->net);
	} else {
		netif_carrier_off(priv->net);
	}
	if (spfe->link_vector && !err)
		pause = SPFE_NET_CALM_MS;
	rtnl_unlock();
again:
	queue_delayed_work(system_freezable_wq, &priv->link, msecs_to_jiffies(pause));
}

/* Looks at the link now, because it may have changed. */
void spfe_netdev_check(struct spfe_device *spfe)
{
	struct spfe_netdev *priv;

	mutex_lock(&spfe->lock);
	priv = spfe->netdev;
	if (priv && netif_running(priv->net))
		mod_delayed_work(system_freezable_wq, &priv->link, 0);
	mutex_unlock(&spfe->lock);
}

/*
 * Stops the interface before the device sleeps or the machine goes down. spfe_net_link() starts it
 * again when the device works.
 */
void spfe_netdev_halt(struct spfe_device *spfe)
{
	struct spfe_netdev *priv = spfe->netdev;

	if (!priv)
		return;
	rtnl_lock();
	if (netif_running(priv->net))
		spfe_net_quiesce(priv);
	rtnl_unlock();
}

static int spfe_net_change_mtu(struct net_device *net, int mtu)
{
	struct spfe_netdev *priv = netdev_priv(net);

	if (!netif_running(net)) {
		WRITE_ONCE(net->mtu, mtu);
		return 0;
	}
	spfe_net_quiesce(priv);
	WRITE_ONCE(net->mtu, mtu);
	return spfe_net_resume(priv);
}

static int spfe_net_init(struct net_device *net)
{
	net->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	return net->tstats ? 0 : -ENOMEM;
}

static void spfe_net_uninit(struct net_device *net)
{
	free_percpu(net->tstats);
}

static const struct net_device_ops spfe_net_ops = {
	.ndo_init = spfe_net_init,
	.ndo_uninit = spfe_net_uninit,
	.ndo_open = spfe_net_open,
	.ndo_stop = spfe_net_stop,
	.ndo_start_xmit = spfe_net_xmit,
	.ndo_change_mtu = spfe_net_change_mtu,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_stats64 = dev_get_tstats64,
};

static int spfe_net_settings(struct net_device *net, struct ethtool_link_ksettings *settings)
{
	struct spfe_netdev *priv = netdev_priv(net);
	struct spfe_device *spfe = priv->spfe;
	u32 rate = 0;

	mutex_lock(&spfe->lock);
	if (!spfe_state_errno(spfe))
		rate = spfe_read(spfe, spfe->ports[priv->port].at +
				 SPFE_PORT_BLOCK_USER_RATE_KBPS) / 1000;
	mutex_unlock(&spfe->lock);
	settings->base.speed = rate ?: SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

static const struct ethtool_ops spfe_net_ethtool = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = spfe_net_settings,
};

static void spfe_net_setup(struct net_device *net)
{
	net->netdev_ops = &spfe_net_ops;
	net->ethtool_ops = &spfe_net_ethtool;
	net->mtu = SPFE_NET_MTU;
	net->min_mtu = SPFE_NET_MTU_MIN;
	net->max_mtu = SPFE_NET_MTU_MAX;
	net->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA | NETIF_F_FRAGLIST;
	net->features = net->hw_features;
	eth_hw_addr_random(net);
}

/* A device that lacks the configured port or virtual channel gets no interface: not an error. */
int spfe_netdev_add(struct spfe_device *spfe)
{
	struct spfe_netdev *priv;
	struct net_device *net;
	u32 vcs;
	int err;

	if (!netdev || netdev_port >= spfe->nports)
		return 0;
	vcs = spfe->ports[netdev_port].vcs;
	if (!vcs || (netdev_vc >= 0 && netdev_vc >= vcs))
		return 0;
	net = alloc_etherdev(sizeof(*priv));
	if (!net)
		return -ENOMEM;
	SET_NETDEV_DEV(net, spfe->parent);
	strscpy(net->name, SPFE_NAME "%d", sizeof(net->name));
	spfe_net_setup(net);
	priv = netdev_priv(net);
	priv->spfe = spfe;
	priv->net = net;
	priv->port = netdev_port;
	priv->vc = netdev_vc < 0 ? vcs - 1 : netdev_vc;
	INIT_DELAYED_WORK(&priv->link, spfe_net_link);
	spfe_napi_add(net, &priv->napi, spfe_net_poll);
	netif_carrier_off(net);
	err = register_netdev(net);
	if (err) {
		free_netdev(net);
		return err;
	}
	mutex_lock(&spfe->lock);
	spfe->netdev = priv;
	mutex_unlock(&spfe->lock);
	return 0;
}

void spfe_netdev_remove(struct spfe_device *spfe)
{
	struct spfe_netdev *priv = spfe->netdev;

	if (!priv)
		return;
	mutex_lock(&spfe->lock);
	spfe->netdev = NULL;
	mutex_unlock(&spfe->lock);
	unregister_netdev(priv->net);
	/* One that was queued while the interface went down. */
	cancel_delayed_work_sync(&priv->link);
	free_netdev(priv->net);
}
