// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: an Ethernet-like interface over one virtual channel, or over one to each node of a fabric,
 * which it owns while it is up: its life from registration to removal, and its look at the link.
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
/* Index of the only event of a path's client. */
#define SPFE_NET_EVENT (SPFE_EVENT_OWN + 1)

static void spfe_net_interrupt(void *context)
{
	struct spfe_net_path *path = context;

	napi_schedule(&path->napi);
}

static int spfe_net_poll(struct napi_struct *napi, int budget)
{
	struct spfe_net_path *path = container_of(napi, struct spfe_net_path, napi);
	int work = spfe_net_rx_poll(path, budget);
	bool armed;

	spfe_net_tx_poll(path);
	if (work == budget || !napi_complete_done(napi, work))
		return work;
	armed = spfe_ring_arm(&path->rx);
	if (!spfe_ring_arm(&path->tx) || !armed)
		napi_schedule(napi);
	return work;
}

/* Open and stop */

static void spfe_net_forget(struct spfe_net_path *path)
{
	spfe_client_close(path->client);
	path->client = NULL;
	path->hold = NULL;
	spfe_ring_free(&path->tx);
	spfe_ring_free(&path->rx);
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

static struct spfe_signal *spfe_net_event(struct spfe_net_path *path)
{
	struct spfe_client *client = path->client;
	struct spfe_signal *event;
	int err;

	mutex_lock(&path->spfe->lock);
	event = spfe_event_create(client, NULL, NULL, spfe_net_interrupt, path);
	if (!IS_ERR(event)) {
		err = xa_err(xa_store(&client->events, SPFE_NET_EVENT, event, GFP_KERNEL));
		if (err) {
			spfe_event_detach(event);
			spfe_event_put(event);
			event = ERR_PTR(err);
		}
	}
	mutex_unlock(&path->spfe->lock);
	return event;
}

static int spfe_net_start(struct spfe_net_path *path)
{
	struct spfe_client *client;
	struct spfe_signal *event;
	int err;

	client = spfe_client_open(path->spfe, NULL, true);
	if (IS_ERR(client))
		return PTR_ERR(client);
	path->client = client;
	spfe_net_clear(&path->tx, path->owner->tx_log2);
	spfe_net_clear(&path->rx, path->owner->rx_log2);
	path->rx.slot_bytes = SPFE_NET_RX_SLOT;
	path->nparts = 0;
	path->skip = false;
	path->restart = false;
	path->hello = 0;
	spfe_peer_forget(&path->peer);
	netdev_tx_reset_queue(spfe_net_queue(path));
	event = spfe_net_event(path);
	err = PTR_ERR_OR_ZERO(event);
	if (!err)
		err = spfe_net_tx_prepare(path);
	if (!err)
		err = spfe_ring_create(path->client, &path->tx, path->port, path->vc,
				       SPFE_QUEUE_KIND_TX, event);
	if (!err)
		err = spfe_ring_create(path->client, &path->rx, path->port, path->vc,
				       SPFE_QUEUE_KIND_RX, event);
	if (err)
		spfe_net_forget(path);
	return err;
}

/*
 * Claims the virtual channel and starts moving frames. After an error the path has no client, and
 * spfe_net_link() tries again.
 */
static int spfe_net_open_path(struct spfe_net_path *path)
{
	int err;

	down_read(&path->spfe->alive);
	err = spfe_net_start(path);
	up_read(&path->spfe->alive);
	if (err)
		return err;
	napi_enable(&path->napi);
	/* The first poll posts the buffers and arms the interrupt. */
	local_bh_disable();
	napi_schedule(&path->napi);
	local_bh_enable();
	spfe_net_lock(path);
	path->open = true;
	spfe_net_unlock(path);
	netif_tx_wake_queue(spfe_net_queue(path));
	return 0;
}

/* Stops moving frames and releases the virtual channel. */
static void spfe_net_close_path(struct spfe_net_path *path)
{
	/* First the poll, because spfe_net_tx_poll() would wake a queue that was disabled. */
	if (path->client)
		napi_disable(&path->napi);
	spfe_net_lock(path);
	path->open = false;
	WRITE_ONCE(path->ready, false);
	netif_tx_stop_queue(spfe_net_queue(path));
	spfe_net_unlock(path);
	if (!path->client)
		return;
	down_read(&path->spfe->alive);
	spfe_net_forget(path);
	up_read(&path->spfe->alive);
}

/* Opens all paths. The caller holds rtnl. */
int spfe_net_resume(struct spfe_netdev *priv)
{
	u32 index;
	int err = 0;

	for (index = 0; !err && index < priv->npaths; index++)
		err = spfe_net_open_path(&priv->paths[index]);
	if (priv->own)
		netif_tx_wake_queue(netdev_get_tx_queue(priv->net, 0));
	return err;
}

/* Closes all paths. The caller holds rtnl. */
void spfe_net_quiesce(struct spfe_netdev *priv)
{
	u32 index;

	netif_carrier_off(priv->net);
	for (index = 0; index < priv->npaths; index++)
		spfe_net_close_path(&priv->paths[index]);
	netif_tx_disable(priv->net);
	cancel_work_sync(&priv->group_work);
	skb_queue_purge(&priv->group);
}

static int spfe_net_open(struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);
	int err;

	err = spfe_net_resume(priv);
	if (err) {
		netdev_err(net, "port %u, virtual channel %u cannot be opened: %d\n",
			   priv->paths[0].port, priv->paths[0].vc, err);
		spfe_net_quiesce(priv);
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

/* Notes whether link or node are there. When they return, another far end may be there. */
static void spfe_net_note(struct spfe_net_path *path, bool up, u32 epoch)
{
	if (up == path->ready && epoch == path->epoch)
		return;
	spfe_net_lock(path);
	if (up)
		spfe_peer_forget(&path->peer);
	path->epoch = epoch;
	WRITE_ONCE(path->ready, up);
	spfe_net_unlock(path);
}

/* Asks the far end what it understands, if that is due. Returns whether to look again soon. */
static bool spfe_net_ask(struct spfe_net_path *path)
{
	struct spfe_peer *peer = &path->peer;
	enum spfe_peer_state before;
	bool soon;

	spfe_net_lock(path);
	before = peer->state;
	spfe_net_reap(path);
	if (!path->hello && spfe_ring_room(&path->tx))
		path->hello = spfe_peer_tick(peer, path->frames != path->sent);
	path->sent = path->frames;
	spfe_net_say_hello(path);
	path->counters.peer_changes += peer->state != before;
	soon = peer->state == SPFE_PEER_ASKING || peer->silent || peer->tries;
	/*
	 * Frames wait because the far end does not read. That is no fault of the queue, which the
	 * stack would report. The device itself is watched elsewhere.
	 */
	if (netif_xmit_stopped(spfe_net_queue(path)))
		spfe_txq_alive(spfe_net_queue(path));
	spfe_net_unlock(path);
	return soon;
}

/* Creates the queues again, because one broke, the stack asked for it, or the device was reset. */
static void spfe_net_renew(struct spfe_net_path *path, bool reset)
{
	if (!reset) {
		path->counters.ring_errors++;
		if (net_ratelimit())
			netdev_err(path->net, "%s: its queues are created again\n",
				   path->tx.broken ? "transmit ring broke" :
				   path->rx.broken ? "receive ring broke" : "transmit timed out");
	}
	spfe_net_close_path(path);
	spfe_net_open_path(path);
}

/* Looks at a path. Returns whether to look again soon; `err` if the device does not answer. */
static bool spfe_net_look(struct spfe_net_path *path, int *err)
{
	struct spfe_device *spfe = path->spfe;
	u32 epoch = path->epoch;
	bool up = false;

	mutex_lock(&spfe->lock);
	*err = path->client ? spfe_client_check(path->client) : -ESHUTDOWN;
	if (!*err)
		up = path->node ? spfe_port_has_node(spfe, path->port, path->node, &epoch) :
			spfe_port_state(spfe, path->port) == SPFE_PORT_STATE_UP;
	mutex_unlock(&spfe->lock);
	if (*err == -ESHUTDOWN ||
	    (!*err && (path->restart || path->tx.broken || path->rx.broken))) {
		spfe_net_renew(path, *err);
		return true;
	}
	/* Nothing that waits for a node goes to a later life of it. */
	if (path->node && path->ready && (!up || epoch != path->epoch)) {
		spfe_net_close_path(path);
		spfe_net_open_path(path);
		return true;
	}
	spfe_net_note(path, up && !*err, epoch);
	return up && !path->owner->first_only && spfe_net_ask(path);
}

/* Looks at port, rings and far ends. After a reset of the device, creates the queues again. */
static void spfe_net_link(struct work_struct *work)
{
	struct spfe_netdev *priv = container_of(work, struct spfe_netdev, link.work);
	unsigned int pause = SPFE_NET_ASK_MS;
	bool up = false, soon = false;
	u32 index;
	int err = 0, one;

	/* ndo_stop holds rtnl while it waits for this work, so do not block on it. */
	if (!rtnl_trylock())
		goto again;
	if (!netif_running(priv->net)) {
		rtnl_unlock();
		return;
	}
	for (index = 0; index < priv->npaths; index++) {
		soon |= spfe_net_look(&priv->paths[index], &one);
		up |= priv->paths[index].ready;
		err = err ?: one;
	}
	if (up)
		netif_carrier_on(priv->net);
	else
		netif_carrier_off(priv->net);
	if (priv->spfe->link_vector && !err && !soon)
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
	struct spfe_net_path *path = spfe_net_path_of(priv, queue);

	if (!path)
		return;
	path->counters.tx_timeouts++;
	path->restart = true;
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

/* Nodes of a fabric find each other by their addresses. */
static int spfe_net_set_mac(struct net_device *net, void *address)
{
	const struct spfe_netdev *priv = netdev_priv(net);

	return priv->own ? -EOPNOTSUPP : eth_mac_addr(net, address);
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
	.ndo_select_queue = spfe_net_select_queue,
	.ndo_set_mac_address = spfe_net_set_mac,
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

/* What is different for a node of a fabric. */
static void spfe_net_setup_node(struct spfe_netdev *priv)
{
	u8 mac[ETH_ALEN] = { 0 };

	memcpy(mac, spfe_net_mac, sizeof(spfe_net_mac));
	mac[4] = (priv->own + 1) / 2;
	mac[5] = priv->own;
	spfe_net_address_set(priv->net, mac);
	strscpy(priv->net->name, "vxeth%d", sizeof(priv->net->name));
	priv->net->mtu = SPFE_NET_MTU_MAX;
	priv->tx_log2 = SPFE_NET_NODE_TX_LOG2;
	priv->rx_log2 = SPFE_NET_NODE_RX_LOG2;
}

static void spfe_net_setup_path(struct spfe_netdev *priv, u32 index, u32 vc)
{
	const struct spfe_port_info *port = &priv->spfe->ports[netdev_port];
	struct spfe_net_path *path = &priv->paths[index];

	path->owner = priv;
	path->spfe = priv->spfe;
	path->net = priv->net;
	path->port = netdev_port;
	path->vc = vc;
	if (priv->own) {
		path->index = index + 1;
		path->node = index + 1 < priv->own ? index + 1 : index + 2;
		path->vc = port->channels * (path->node - 1);
	}
	spfe_net_address(path->outward, path->node, priv->own);
	spfe_net_address(path->inward, priv->own, path->node);
	path->tx.wake_count = SPFE_NET_TX_WAKE_COUNT;
	path->tx.wake_us = SPFE_NET_TX_WAKE_US;
	spfe_napi_add(priv->net, &path->napi, spfe_net_poll);
}

/* A device that lacks the configured port or virtual channel gets no interface: not an error. */
int spfe_netdev_add(struct spfe_device *spfe)
{
	const struct spfe_port_info *port;
	struct spfe_netdev *priv;
	struct net_device *net;
	u32 paths = 1, index;
	int err;

	if (!netdev || netdev_port >= spfe->nports)
		return 0;
	port = &spfe->ports[netdev_port];
	if (port->kind == SPFE_PORT_KIND_FABRIC) {
		/* A fabric port without its blocks has no nodes to speak to. */
		if (!port->peer_at || port->nodes < 2)
			return 0;
		paths = port->nodes - 1;
	} else if (!port->vcs || (netdev_vc >= 0 && netdev_vc >= port->vcs)) {
		return 0;
	}
	net = alloc_etherdev_mqs(struct_size(priv, paths, paths), port->peer_at ? paths + 1 : 1, 1);
	if (!net)
		return -ENOMEM;
	SET_NETDEV_DEV(net, spfe->parent);
	strscpy(net->name, SPFE_NAME "%d", sizeof(net->name));
	spfe_net_setup(net);
	priv = netdev_priv(net);
	priv->spfe = spfe;
	priv->net = net;
	priv->own = port->node;
	priv->tx_log2 = SPFE_NET_TX_LOG2;
	priv->rx_log2 = SPFE_NET_RX_LOG2;
	priv->npaths = paths;
	skb_queue_head_init(&priv->group);
	INIT_WORK(&priv->group_work, spfe_net_group_work);
	INIT_DELAYED_WORK(&priv->link, spfe_net_link);
	if (priv->own)
		spfe_net_setup_node(priv);
	for (index = 0; index < paths; index++)
		spfe_net_setup_path(priv, index, netdev_vc < 0 ? port->vcs - 1 : netdev_vc);
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
