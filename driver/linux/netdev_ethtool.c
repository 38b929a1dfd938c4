// SPDX-License-Identifier: GPL-2.0-only
/* spfe: what ethtool shows and sets of the network interface. */
#include <linux/ethtool.h>
#include <linux/log2.h>
#include <linux/rtnetlink.h>

#include "spfe_net.h"

static int spfe_net_settings(struct net_device *net, struct ethtool_link_ksettings *settings)
{
	struct spfe_netdev *priv = netdev_priv(net);
	struct spfe_device *spfe = priv->spfe;
	u32 rate = 0;

	mutex_lock(&spfe->lock);
	if (!spfe_state_errno(spfe))
		rate = spfe_read(spfe, spfe->ports[priv->paths[0].port].at +
				 SPFE_PORT_BLOCK_USER_RATE_KBPS) / 1000;
	mutex_unlock(&spfe->lock);
	settings->base.speed = rate ?: SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	return 0;
}

#define SPFE_COUNTER(name) { #name, offsetof(struct spfe_net_counters, name) }

static const struct {
	char name[ETH_GSTRING_LEN];
	size_t at;
} spfe_net_counters[] = {
	SPFE_COUNTER(tx_mapped),
	SPFE_COUNTER(tx_copied),
	SPFE_COUNTER(tx_large),
	SPFE_COUNTER(tx_refused),
	SPFE_COUNTER(tx_restarts),
	SPFE_COUNTER(rx_first),
	SPFE_COUNTER(rx_second),
	SPFE_COUNTER(rx_large),
	SPFE_COUNTER(rx_unchecked),
	SPFE_COUNTER(hellos_sent),
	SPFE_COUNTER(hellos_received),
	SPFE_COUNTER(peer_changes),
	SPFE_COUNTER(tx_timeouts),
	SPFE_COUNTER(ring_errors),
};

/* States of the far end, behind the counters. */
static const char spfe_net_states[][ETH_GSTRING_LEN] = { "peer_version", "peer_features" };
static const char spfe_net_flags[][ETH_GSTRING_LEN] = { "version-1-only" };

static int spfe_net_string_count(struct net_device *net, int set)
{
	switch (set) {
	case ETH_SS_STATS:
		return ARRAY_SIZE(spfe_net_counters) + ARRAY_SIZE(spfe_net_states);
	case ETH_SS_PRIV_FLAGS:
		return ARRAY_SIZE(spfe_net_flags);
	default:
		return -EOPNOTSUPP;
	}
}

static void spfe_net_strings(struct net_device *net, u32 set, u8 *data)
{
	size_t i;

	if (set == ETH_SS_PRIV_FLAGS)
		memcpy(data, spfe_net_flags, sizeof(spfe_net_flags));
	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(spfe_net_counters); i++, data += ETH_GSTRING_LEN)
		memcpy(data, spfe_net_counters[i].name, ETH_GSTRING_LEN);
	memcpy(data, spfe_net_states, sizeof(spfe_net_states));
}

/* The path whose far end is shown: the first one that is there. */
static const struct spfe_net_path *spfe_net_shown(const struct spfe_netdev *priv)
{
	u32 index;

	for (index = 0; index < priv->npaths; index++)
		if (READ_ONCE(priv->paths[index].ready))
			return &priv->paths[index];
	return &priv->paths[0];
}

static void spfe_net_stats(struct net_device *net, struct ethtool_stats *stats, u64 *data)
{
	const struct spfe_netdev *priv = netdev_priv(net);
	const struct spfe_peer *peer = &spfe_net_shown(priv)->peer;
	const void *counters;
	size_t i;
	u32 path;

	for (i = 0; i < ARRAY_SIZE(spfe_net_counters); i++, data++) {
		*data = 0;
		for (path = 0; path < priv->npaths; path++) {
			counters = &priv->paths[path].counters;
			*data += READ_ONCE(*(const unsigned long *)(counters +
								    spfe_net_counters[i].at));
		}
	}
	*data++ = spfe_peer_version(peer);
	*data = READ_ONCE(peer->features);
}

static u32 spfe_net_get_flags(struct net_device *net)
{
	struct spfe_netdev *priv = netdev_priv(net);

	return priv->first_only;
}

/* Applies settings of the rings. The caller holds rtnl. */
static int spfe_net_apply(struct spfe_netdev *priv)
{
	if (!netif_running(priv->net))
		return 0;
	spfe_net_quiesce(priv);
	return spfe_net_resume(priv);
}

static int spfe_net_set_flags(struct net_device *net, u32 flags)
{
	struct spfe_netdev *priv = netdev_priv(net);

	if (flags > 1)
		return -EINVAL;
	if (priv->first_only == flags)
		return 0;
	priv->first_only = flags;
	return spfe_net_apply(priv);
}

static void spfe_net_show_rings(struct net_device *net, struct ethtool_ringparam *values)
{
	struct spfe_netdev *priv = netdev_priv(net);

	values->rx_max_pending = BIT(SPFE_NET_LOG2_MAX);
	values->tx_max_pending = BIT(SPFE_NET_LOG2_MAX);
	values->rx_pending = BIT(priv->rx_log2);
	values->tx_pending = BIT(priv->tx_log2);
}

SPFE_RING_OP(void, spfe_net_get_ringparam, spfe_net_show_rings)

static bool spfe_net_ring_fits(u32 entries)
{
	return is_power_of_2(entries) && entries >= BIT(SPFE_NET_LOG2_MIN) &&
	       entries <= BIT(SPFE_NET_LOG2_MAX);
}

static int spfe_net_size_rings(struct net_device *net, struct ethtool_ringparam *values)
{
	struct spfe_netdev *priv = netdev_priv(net);

	if (!spfe_net_ring_fits(values->rx_pending) || !spfe_net_ring_fits(values->tx_pending)) {
		netdev_info(net, "rings have a power of two of entries from %lu to %lu\n",
			    BIT(SPFE_NET_LOG2_MIN), BIT(SPFE_NET_LOG2_MAX));
		return -EINVAL;
	}
	priv->rx_log2 = ilog2(values->rx_pending);
	priv->tx_log2 = ilog2(values->tx_pending);
	return spfe_net_apply(priv);
}

SPFE_RING_OP(int, spfe_net_set_ringparam, spfe_net_size_rings)

static int spfe_net_show_coalesce(struct net_device *net, struct ethtool_coalesce *values)
{
	struct spfe_netdev *priv = netdev_priv(net);

	/* The same for all paths. */
	values->rx_coalesce_usecs = priv->paths[0].rx.wake_us;
	values->rx_max_coalesced_frames = max(priv->paths[0].rx.wake_count, 1U);
	values->tx_coalesce_usecs = priv->paths[0].tx.wake_us;
	values->tx_max_coalesced_frames = max(priv->paths[0].tx.wake_count, 1U);
	return 0;
}

SPFE_COALESCE_OP(spfe_net_get_coalesce, spfe_net_show_coalesce)

/*
 * Without a time only the first of several completions can raise the interrupt, because the others
 * may never come. At most a quarter of a ring waits.
 */
static bool spfe_net_coalesce_fits(u32 usecs, u32 frames, u32 log2)
{
	return usecs <= USEC_PER_SEC && frames >= 1 && frames <= BIT(log2) / 4 &&
	       (usecs || frames == 1);
}

static int spfe_net_coalesce(struct net_device *net, struct ethtool_coalesce *values)
{
	struct spfe_netdev *priv = netdev_priv(net);
	struct spfe_net_path *path;

	if (!spfe_net_coalesce_fits(values->rx_coalesce_usecs, values->rx_max_coalesced_frames,
				    SPFE_NET_LOG2_MIN) ||
	    !spfe_net_coalesce_fits(values->tx_coalesce_usecs, values->tx_max_coalesced_frames,
				    SPFE_NET_LOG2_MIN))
		return -EINVAL;
	/* They are used the next time that a ring is armed. */
	for (path = priv->paths; path < priv->paths + priv->npaths; path++) {
		WRITE_ONCE(path->rx.wake_us, values->rx_coalesce_usecs);
		WRITE_ONCE(path->rx.wake_count, values->rx_max_coalesced_frames);
		WRITE_ONCE(path->tx.wake_us, values->tx_coalesce_usecs);
		WRITE_ONCE(path->tx.wake_count, values->tx_max_coalesced_frames);
	}
	return 0;
}

SPFE_COALESCE_OP(spfe_net_set_coalesce, spfe_net_coalesce)

const struct ethtool_ops spfe_net_ethtool = {
	.supported_coalesce_params = ETHTOOL_COALESCE_USECS | ETHTOOL_COALESCE_MAX_FRAMES,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = spfe_net_settings,
	.get_sset_count = spfe_net_string_count,
	.get_strings = spfe_net_strings,
	.get_ethtool_stats = spfe_net_stats,
	.get_priv_flags = spfe_net_get_flags,
	.set_priv_flags = spfe_net_set_flags,
	.get_ringparam = spfe_net_get_ringparam,
	.set_ringparam = spfe_net_set_ringparam,
	.get_coalesce = spfe_net_get_coalesce,
	.set_coalesce = spfe_net_set_coalesce,
};
