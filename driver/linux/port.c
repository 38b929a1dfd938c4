// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: ports and counters. The driver stores the settings of each port and applies them again
 * after a reset.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "spfe_core.h"

static const char *const spfe_port_states[] = {
	[SPFE_PORT_STATE_DOWN] = "down",
	[SPFE_PORT_STATE_STARTING] = "starting",
	[SPFE_PORT_STATE_UP] = "up",
};

static const char *spfe_port_state_name(u32 state)
{
	return state < ARRAY_SIZE(spfe_port_states) ? spfe_port_states[state] : "unknown";
}

/* Writes the settings of a port to the device. Called with spfe_device.lock held. */
int spfe_port_apply(struct spfe_device *spfe, u32 index)
{
	const struct spfe_port_info *port = &spfe->ports[index];
	unsigned int i;
	u32 status;
	int err;

	spfe_write(spfe, port->at + SPFE_PORT_BLOCK_LINK_START, port->settings.link_start);
	for (i = 0; i < ARRAY_SIZE(port->settings.priority); i++)
		spfe_write(spfe, port->at + SPFE_PORT_BLOCK_VC_PRIORITY_0 + 4 * i,
			   port->settings.priority[i]);
	if (spfe_can(spfe, SPFE_CAPABILITY_LINK_EVENT))
		spfe_write(spfe, port->at + SPFE_PORT_BLOCK_LINK_VECTOR,
			   spfe->link_vector ? spfe->link_vector->index + 1 : 0);
	if (port->kind == SPFE_PORT_KIND_SPACEFIBRE && port->extra_at)
		spfe_write(spfe, port->extra_at + SPFE_BROADCAST_BLOCK_CHANNEL,
			   port->settings.channel);
	err = spfe_command(spfe, SPFE_COMMAND_PORT_CONFIGURE, index, &status);
	return err ?: spfe_status_errno(status);
}

int spfe_ports_apply(struct spfe_device *spfe)
{
	u32 index;
	int err;

	for (index = 0; index < spfe->nports; index++) {
		err = spfe_port_apply(spfe, index);
		if (err) {
			dev_err(&spfe->dev, "port %u cannot be configured: %d\n", index, err);
			return err;
		}
	}
	/* Changes before this command were not signalled. */
	spfe_links_check(spfe);
	return 0;
}

/* Called with spfe_device.lock held. */
u32 spfe_port_state(struct spfe_device *spfe, u32 port)
{
	if (spfe_state_errno(spfe))
		return SPFE_PORT_STATE_DOWN;
	return spfe_read(spfe, spfe->ports[port].at + SPFE_PORT_BLOCK_STATE);
}

/*
 * Whether a node of the fabric is there, and its epoch. Called with spfe_device.lock held.
 */
bool spfe_port_has_node(struct spfe_device *spfe, u32 port, u32 node, u32 *epoch)
{
	u32 at = spfe->ports[port].peer_at + (node - 1) * SPFE_PEER_BLOCK_STRIDE;

	if (spfe_state_errno(spfe))
		return false;
	*epoch = spfe_read(spfe, at + SPFE_PEER_BLOCK_EPOCH);
	return spfe_read(spfe, at + SPFE_PEER_BLOCK_STATE) == SPFE_NODE_STATE_READY;
}

static void spfe_port_messages(struct spfe_device *spfe, const struct spfe_port_info *port,
			       struct spfe_port *query)
{
	u32 at = port->extra_at;

	if (!at)
		return;
	if (port->kind == SPFE_PORT_KIND_SPACEFIBRE) {
		query->channel = port->settings.channel;
		query->sent = spfe_read(spfe, at + SPFE_BROADCAST_BLOCK_SENT);
		query->received = spfe_read(spfe, at + SPFE_BROADCAST_BLOCK_RECEIVED);
		query->dropped = spfe_read(spfe, at + SPFE_BROADCAST_BLOCK_DROPPED);
	} else {
		query->time_code = spfe_read(spfe, at + SPFE_TIME_CODE_BLOCK_LAST);
		query->received = spfe_read(spfe, at + SPFE_TIME_CODE_BLOCK_RECEIVED);
		query->invalid = spfe_read(spfe, at + SPFE_TIME_CODE_BLOCK_INVALID);
	}
}

/* What a fabric port sees of a node, 0 for its own. */
static void spfe_port_node(struct spfe_device *spfe, const struct spfe_port_info *port, u32 node,
			   struct spfe_port *query)
{
	query->node = node ? array_index_nospec(node - 1, port->nodes) + 1 : port->node;
	query->nodes = port->nodes;
	query->node_ready = spfe_port_has_node(spfe, port->index, query->node, &query->node_epoch);
}

/* Called with spfe_device.lock held. */
int spfe_port_query(struct spfe_device *spfe, struct spfe_port *query)
{
	const struct spfe_port_info *port;
	u32 index = query->port, node = query->node;

	if (index >= spfe->nports)
		return -ENOENT;
	index = array_index_nospec(index, spfe->nports);
	port = &spfe->ports[index];
	if (node && (!port->peer_at || node > port->nodes))
		return -ENOENT;
	memset(query, 0, sizeof(*query));
	query->port = index;
	query->kind = port->kind;
	query->vcs = port->vcs;
	query->first_queue = port->first_queue;
	query->queue_count = port->queue_count;
	query->link_start = port->settings.link_start;
	memcpy(query->priority, port->settings.priority, sizeof(query->priority));
	query->state = spfe_port_state(spfe, index);
	query->lanes = spfe_read(spfe, port->at + SPFE_PORT_BLOCK_LANES);
	query->lane_rate_mbps = spfe_read(spfe, port->at + SPFE_PORT_BLOCK_LANE_RATE_MBPS);
	query->user_rate_kbps = spfe_read(spfe, port->at + SPFE_PORT_BLOCK_USER_RATE_KBPS);
	spfe_port_messages(spfe, port, query);
	if (port->peer_at)
		spfe_port_node(spfe, port, node, query);
	return 0;
}

/* Notes the priority of a virtual channel, which the device may know already. */
void spfe_port_priority(struct spfe_port_settings *settings, u32 vc, u32 priority)
{
	u32 shift = vc % 8 * 4, word = vc / 8;

	if (word >= ARRAY_SIZE(settings->priority))
		return;
	settings->priority[word] &= ~(0xfU << shift);
	settings->priority[word] |= (priority & 0xf) << shift;
}

/* Stores new settings and applies them. Called with spfe_device.lock held. */
int spfe_port_set(struct spfe_device *spfe, const struct spfe_port_set *set)
{
	struct spfe_port_settings before;
	struct spfe_port_info *port;
	int err;

	if (set->reserved || !set->what ||
	    set->what & ~(SPFE_PORT_LINK_START | SPFE_PORT_PRIORITY | SPFE_PORT_CHANNEL))
		return -EINVAL;
	if (set->port >= spfe->nports)
		return -ENOENT;
	port = &spfe->ports[array_index_nospec(set->port, spfe->nports)];
	if (set->what & SPFE_PORT_LINK_START && set->link_start > 1)
		return -EINVAL;
	if (set->what & SPFE_PORT_PRIORITY && (set->vc >= port->vcs || set->priority > 15))
		return -EINVAL;
	if (set->what & SPFE_PORT_CHANNEL && set->channel > 255)
		return -EINVAL;
	if (set->what & SPFE_PORT_CHANNEL && port->kind != SPFE_PORT_KIND_SPACEFIBRE)
		return -EOPNOTSUPP;
	before = port->settings;
	if (set->what & SPFE_PORT_LINK_START)
		port->settings.link_start = set->link_start;
	if (set->what & SPFE_PORT_PRIORITY)
		spfe_port_priority(&port->settings, set->vc, set->priority);
	if (set->what & SPFE_PORT_CHANNEL)
		port->settings.channel = set->channel;
	err = spfe_port_apply(spfe, set->port);
	if (err)
		port->settings = before;
	return err;
}

/* Called with spfe_device.lock held. */
int spfe_statistics_query(struct spfe_device *spfe, struct spfe_statistics *query)
{
	u32 queue, at;

	if (query->reserved)
		return -EINVAL;
	queue = query->queue;
	if (queue >= spfe->nqueues)
		return -ENOENT;
	queue = array_index_nospec(queue, spfe->nqueues);
	if (!spfe->statistics_at)
		return -EOPNOTSUPP;
	at = spfe->statistics_at + queue * SPFE_STATISTICS_BLOCK_STRIDE;
	query->packets = spfe_read_pair(spfe, at + SPFE_STATISTICS_BLOCK_PACKETS_LO);
	query->bytes = spfe_read_pair(spfe, at + SPFE_STATISTICS_BLOCK_BYTES_LO);
	query->errors = spfe_read_pair(spfe, at + SPFE_STATISTICS_BLOCK_ERRORS_LO);
	query->stalls = spfe_read_pair(spfe, at + SPFE_STATISTICS_BLOCK_STALLS_LO);
	query->wakes = spfe_read_pair(spfe, at + SPFE_STATISTICS_BLOCK_WAKES_LO);
	query->dropped = spfe_read_pair(spfe, at + SPFE_STATISTICS_BLOCK_DROPPED_LO);
	return 0;
}

/* Number of counters: the words of an element in front of the bitmap of present counters. */
#define SPFE_PAIR_COUNTERS (SPFE_PAIR_BLOCK_PRESENT_LO / SPFE_PAIR_VALUE_BYTES)

/* Whether the counters of all queue pairs of a port lie inside the registers. */
bool spfe_pair_counters_fit(const struct spfe_port_info *port)
{
	u64 end = port->pair_at + (u64)port->vcs * SPFE_PAIR_BLOCK_STRIDE;

	return end <= port->spfe->size;
}

/* Called with spfe_device.lock held. */
int spfe_pair_counters_query(struct spfe_device *spfe, struct spfe_pair_counters *query)
{
	const struct spfe_port_info *port;
	u32 at, counter, i;

	if (query->reserved)
		return -EINVAL;
	if (!spfe_can(spfe, SPFE_CAPABILITY_PAIR_COUNTERS))
		return -EOPNOTSUPP;
	if (query->port >= spfe->nports)
		return -ENOENT;
	port = &spfe->ports[array_index_nospec(query->port, spfe->nports)];
	if (!port->pair_at || query->vc >= port->vcs || query->first >= SPFE_PAIR_COUNTERS)
		return -ENOENT;
	at = port->pair_at + array_index_nospec(query->vc, port->vcs) * SPFE_PAIR_BLOCK_STRIDE;
	counter = array_index_nospec(query->first, SPFE_PAIR_COUNTERS);
	query->present = spfe_read_pair(spfe, at + SPFE_PAIR_BLOCK_PRESENT_LO);
	for (i = 0; i < ARRAY_SIZE(query->values); i++, counter++) {
		bool has = counter < SPFE_PAIR_COUNTERS && query->present & BIT_ULL(counter);

		query->values[i] =
			has ? spfe_read_pair(spfe, at + counter * SPFE_PAIR_VALUE_BYTES) : 0;
	}
	return 0;
}

/* Tells user space of the new state of a link: poll() of the attribute, and an event for udev. */
static void spfe_link_tell(struct spfe_port_info *port, u32 state)
{
	struct device *dev = &port->spfe->dev;
	char name[sizeof("SPFE_PORT=255")], word[sizeof("SPFE_LINK=unknown")];
	char *words[3] = { name, word };

	snprintf(name, sizeof(name), "SPFE_PORT=%u", port->index);
	snprintf(word, sizeof(word), "SPFE_LINK=%s", spfe_port_state_name(state));
	sysfs_notify(&dev->kobj, port->name, "state");
	kobject_uevent_env(&dev->kobj, KOBJ_CHANGE, words);
}

static void spfe_links_work(struct work_struct *work)
{
	struct spfe_device *spfe = container_of(work, struct spfe_device, links);
	struct spfe_port_info *port;
	u32 index, state;
	bool news;

	if (!device_is_registered(&spfe->dev))
		return;
	for (index = 0; index < spfe->nports; index++) {
		port = &spfe->ports[index];
		mutex_lock(&spfe->lock);
		state = spfe_port_state(spfe, index);
		news = state != port->told;
		port->told = state;
		mutex_unlock(&spfe->lock);
		if (news)
			spfe_link_tell(port, state);
	}
	spfe_netdev_check(spfe);
}

void spfe_links_init(struct spfe_device *spfe)
{
	INIT_WORK(&spfe->links, spfe_links_work);
}

/* Looks at the links soon. Can be called in interrupts. */
void spfe_links_check(struct spfe_device *spfe)
{
	if (spfe->link_vector)
		queue_work(system_freezable_wq, &spfe->links);
}

/* Ends link events for good. */
void spfe_links_stop(struct spfe_device *spfe)
{
	spfe_irq_links_stop(spfe);
	cancel_work_sync(&spfe->links);
}

/* Attributes in /sys/class/spfe/spfeN/portM/ */

static struct spfe_port_info *spfe_port_of(struct device_attribute *attr)
{
	return container_of(attr, struct dev_ext_attribute, attr)->var;
}

static ssize_t spfe_port_state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct spfe_port_info *port = spfe_port_of(attr);
	u32 state;

	mutex_lock(&port->spfe->lock);
	state = spfe_port_state(port->spfe, port->index);
	mutex_unlock(&port->spfe->lock);
	return sysfs_emit(buf, "%s\n", spfe_port_state_name(state));
}

static ssize_t spfe_port_register_show(struct device_attribute *attr, u32 offset, char *buf)
{
	struct spfe_port_info *port = spfe_port_of(attr);
	struct spfe_device *spfe = port->spfe;
	u32 value = 0;
	int err;

	mutex_lock(&spfe->lock);
	err = spfe_state_errno(spfe);
	if (!err)
		value = spfe_read(spfe, port->at + offset);
	mutex_unlock(&spfe->lock);
	return err ?: sysfs_emit(buf, "%u\n", value);
}

static ssize_t spfe_port_rate_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return spfe_port_register_show(attr, SPFE_PORT_BLOCK_LANE_RATE_MBPS, buf);
}

static ssize_t spfe_port_lanes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return spfe_port_register_show(attr, SPFE_PORT_BLOCK_LANES, buf);
}

static void spfe_port_attr(struct spfe_port_info *port, unsigned int at, const char *name,
			   ssize_t (*show)(struct device *dev, struct device_attribute *attr,
					   char *buf))
{
	struct dev_ext_attribute *attr = &port->attrs[at];

	sysfs_attr_init(&attr->attr.attr);
	attr->attr.attr.name = name;
	attr->attr.attr.mode = 0444;
	attr->attr.show = show;
	attr->var = port;
	port->list[at] = &attr->attr.attr;
}

/* Allocates the attribute groups of the device: one for itself and one per port. */
int spfe_port_groups(struct spfe_device *spfe)
{
	const struct attribute_group **groups;
	struct spfe_port_info *port;
	u32 index;

	groups = kcalloc(spfe->nports + 2, sizeof(*groups), GFP_KERNEL);
	if (!groups)
		return -ENOMEM;
	groups[0] = &spfe_attribute_group;
	for (index = 0; index < spfe->nports; index++) {
		port = &spfe->ports[index];
		snprintf(port->name, sizeof(port->name), "port%u", index);
		spfe_port_attr(port, 0, "state", spfe_port_state_show);
		spfe_port_attr(port, 1, "rate", spfe_port_rate_show);
		spfe_port_attr(port, 2, "lanes", spfe_port_lanes_show);
		port->group.name = port->name;
		port->group.attrs = port->list;
		groups[index + 1] = &port->group;
	}
	spfe->groups = groups;
	spfe->dev.groups = groups;
	return 0;
}
