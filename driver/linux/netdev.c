// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: an Ethernet-like interface over one virtual channel, which it owns while it is up: its life
 * from registration to removal, and its look at the link.
 */
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "spfe_net.h"

static bool netdev = true;
module_param(netdev, bool, 0444);
MODULE_PARM_DESC(netdev, "Create a network interface for each device (default: yes)");
static unsigned int netdev_port;
module_param(netdev_port, uint, 0444);
MODULE_PARM_DESC(netdev_port, "Port of the network interface (default: 0)");
static int netdev_vc = -1;
module_param(netdev_vc, int, 0444);
MODULE_PARM_DESC(netdev_vc, "Virtual channel of the network interface (default: the last one)");

/*
 * Period of the look at port, rings and far end. Where the device signals that its link changed and
 * the far end is known, it serves to find a ring that broke.
 */
#define SPFE_NET_CALM_MS 2000
/* Time without progress after which the stack asks for a reset of the queue. */
#define SPFE_NET_STUCK_S 10
/* Index of the only event of this client. */
#define SPFE_NET_EVENT (SPFE_EVENT_OWN + 1)

static void spfe_net_interrupt(void *context)
{
	struct spfe_netdev *priv = context;

	napi_schedule(&priv->napi);
}

static int spfe_net_poll(struct napi_struct *napi, int budget)
{
	struct spfe_netdev *priv = container_of(napi, struct spfe_netdev, napi);
	int work = spfe_net_rx_poll(priv, budget);
	bool armed;

	spfe_net_tx_poll(priv);
	if (work == budget || !napi_complete_done(napi, work))
		return work;
	armed = spfe_ring_arm(&priv->rx);
	if (!spfe_ring_arm(&priv->tx) || !armed)
		napi_schedule(napi);
	return work;
}

/* Open and stop */

static void spfe_net_forget(struct spfe_netdev *priv)
{
	spfe_client_close(priv->client);
	priv->client = NULL;
	priv->hold = NULL;
	spfe_ring_free(&priv->tx);
	spfe_ring_free(&priv->rx);
}

/* Clears a ring, but not what the user has set. */
static void spfe_net_clear(struct spfe_ring *ring, u32 log2)
{
	u32 wake_count = ring->wake_count, wake_us = ring->wake_us;

	memset(ring, 0, sizeof(*ring));
	ring->log2 = log2;
	ring->wake_count = wake_count;
	ring->wake_us = wake_us;
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
	spfe_net_clear(&priv->tx, priv->tx_log2);
	spfe_net_clear(&priv->rx, priv->rx_log2);
	priv->rx.slot_bytes = SPFE_NET_RX_SLOT;
	priv->nparts = 0;
	priv->skip = false;
	priv->restart = false;
	priv->hello = 0;
	spfe_peer_forget(&priv->peer);
	netdev_reset_queue(priv->net);
	event = spfe_net_event(priv);
	err = PTR_ERR_OR_ZERO(event);
	if (!err)
		err = spfe_net_tx_prepare(priv);
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
int spfe_net_resume(struct spfe_netdev *priv)
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
void spfe_net_quiesce(struct spfe_netdev *priv)
{
	netif_carrier_off(priv->net);
	/* First the poll, because spfe_net_tx_poll() would wake a queue that was disabled. */
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

/* Sets the carrier. When it returns, another far end may be there. */
static void spfe_net_show_carrier(struct spfe_netdev *priv, bool up)
{
	struct net_device *net = priv->net;

	if (up == netif_carrier_ok(net))
		return;
	if (!up) {
		netif_carrier_off(net);
		return;
	}
	netif_tx_lock_bh(net);
	spfe_peer_forget(&priv->peer);
	netif_tx_unlock_bh(net);
	netif_carrier_on(net);
}

/* Asks the far end what it understands, if that is due. Returns whether to look again soon. */
static bool spfe_net_ask(struct spfe_netdev *priv)
{
	struct netdev_queue *queue = netdev_get_tx_queue(priv->net, 0);
	struct spfe_peer *peer = &priv->peer;
	enum spfe_peer_state before;
	bool soon;

	netif_tx_lock_bh(priv->net);
	before = peer->state;
	spfe_net_reap(priv);
	if (!priv->hello && spfe_ring_room(&priv->tx))
		priv->hello = spfe_peer_tick(peer, priv->frames != priv->sent);
	priv->sent = priv->frames;
	spfe_net_say_hello(priv);
	priv->counters.peer_changes += peer->state != before;
	soon = peer->state == SPFE_PEER_ASKING || peer->silent || peer->tries;
	/*
	 * Frames wait because the far end does not read. That is no fault of the queue, which the
	 * stack would report. The device itself is watched elsewhere.
	 */
	if (netif_xmit_stopped(queue))
		netif_trans_update(priv->net);
	netif_tx_unlock_bh(priv->net);
	return soon;
}

/* Creates the queues again, because one broke, the stack asked for it, or the device was reset. */
static void spfe_net_renew(struct spfe_netdev *priv, bool reset)
{
	if (!reset) {
		priv->counters.ring_errors++;
		if (net_ratelimit())
			netdev_err(priv->net, "%s: its queues are created again\n",
				   priv->tx.broken ? "transmit ring broke" :
				   priv->rx.broken ? "receive ring broke" : "transmit timed out");
	}
	spfe_net_quiesce(priv);
	spfe_net_resume(priv);
}

/* Looks at port, rings and far end. After a reset of the device, creates the queues again. */
static void spfe_net_link(struct work_struct *work)
{
	struct spfe_netdev *priv = container_of(work, struct spfe_netdev, link.work);
	struct spfe_device *spfe = priv->spfe;
	unsigned int pause = SPFE_NET_ASK_MS;
	bool up = false, soon = false;
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
	if (err == -ESHUTDOWN || (!err && (priv->restart || priv->tx.broken || priv->rx.broken))) {
		spfe_net_renew(priv, err);
		soon = true;
	} else {
		spfe_net_show_carrier(priv, up && !err);
		if (up && !priv->first_only)
			soon = spfe_net_ask(priv);
	}
	if (spfe->link_vector && !err && !soon)
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

/* The buffers fit every MTU. */
static int spfe_net_change_mtu(struct net_device *net, int mtu)
{
	WRITE_ONCE(net->mtu, mtu);
	return 0;
}

static void spfe_net_tx_timeout(struct net_device *net, unsigned int queue)
{
	struct spfe_netdev *priv = netdev_priv(net);

	priv->counters.tx_timeouts++;
	priv->restart = true;
	mod_delayed_work(system_freezable_wq, &priv->link, 0);
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
	.ndo_features_check = spfe_net_features_check,
	.ndo_tx_timeout = spfe_net_tx_timeout,
	.ndo_change_mtu = spfe_net_change_mtu,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_stats64 = dev_get_tstats64,
};

static void spfe_net_setup(struct net_device *net)
{
	net->netdev_ops = &spfe_net_ops;
	net->ethtool_ops = &spfe_net_ethtool;
	net->mtu = SPFE_NET_MTU;
	net->min_mtu = SPFE_NET_MTU_MIN;
	net->max_mtu = SPFE_NET_MTU_MAX;
	net->watchdog_timeo = SPFE_NET_STUCK_S * HZ;
	net->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_ALL_TSO |
			   SPFE_NET_F_USO;
	net->features = net->hw_features | NETIF_F_HIGHDMA;
	net->vlan_features = net->features;
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
	priv->tx_log2 = SPFE_NET_TX_LOG2;
	priv->rx_log2 = SPFE_NET_RX_LOG2;
	priv->tx.wake_count = SPFE_NET_TX_WAKE_COUNT;
	priv->tx.wake_us = SPFE_NET_TX_WAKE_US;
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
