// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: discovery. Walks the list of register blocks. Every offset and count that the device states
 * is checked against the size of its registers before use.
 */
#include <linux/overflow.h>
#include <linux/slab.h>

#include "spfe_core.h"

/* Most blocks in the list; a device with a longer list is broken. */
#define SPFE_BLOCKS_MAX 1024
#define SPFE_PORTS_MAX 256
/* The contract aligns blocks to cache lines. */
#define SPFE_BLOCK_ALIGN 64
#define SPFE_HEADER_BYTES 16
/* The header has two halves of a word and then three words. */
#define SPFE_HEADER_TYPE(word) ((word) & 0xffff)
#define SPFE_HEADER_SIZE 4
#define SPFE_HEADER_NEXT 8
#define SPFE_HEADER_INSTANCE 12

/* Returns the offset of an array behind a block header, or 0 if the array does not fit. */
static u32 spfe_array(struct spfe_device *spfe, u32 at, u32 size, u32 stride, u32 count)
{
	u64 end = (u64)at + size + (u64)stride * count;

	if (size < SPFE_HEADER_BYTES || end > spfe->size)
		return 0;
	return at + size;
}

static int spfe_take_global(struct spfe_device *spfe, u32 size)
{
	u32 version = spfe_read(spfe, SPFE_GLOBAL_BLOCK_CONTRACT_VERSION);
	u64 doorbells;

	if (size < SPFE_GLOBAL_BLOCK_SIZE)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "global block has %u bytes, expected %u\n", size,
				     SPFE_GLOBAL_BLOCK_SIZE);
	if (version >> 16 != SPFE_CONTRACT_VERSION_MAJOR)
		return dev_err_probe(spfe->parent, -EPROTONOSUPPORT,
				     "device has contract version %u.%u, this driver supports %u.%u\n",
				     version >> 16, version & 0xffff, SPFE_CONTRACT_VERSION_MAJOR,
				     SPFE_CONTRACT_VERSION_MINOR);
	spfe->contract_version = version;
	spfe->capability = spfe_read(spfe, SPFE_GLOBAL_BLOCK_CAPABILITY);
	spfe->nports = spfe_read(spfe, SPFE_GLOBAL_BLOCK_PORTS);
	spfe->nqueues = spfe_read(spfe, SPFE_GLOBAL_BLOCK_QUEUES);
	spfe->nregions = spfe_read(spfe, SPFE_GLOBAL_BLOCK_REGIONS);
	spfe->nevents = spfe_read(spfe, SPFE_GLOBAL_BLOCK_EVENTS);
	spfe->ndomains = spfe_read(spfe, SPFE_GLOBAL_BLOCK_DOMAINS);
	spfe->packet_max = spfe_read(spfe, SPFE_GLOBAL_BLOCK_PACKET_MAX);
	/* 0 on devices of version 1.1. */
	spfe->chain_max = max(spfe_read(spfe, SPFE_GLOBAL_BLOCK_CHAIN_MAX), SPFE_CHAIN_MAX);
	spfe->doorbell_at = spfe_read(spfe, SPFE_GLOBAL_BLOCK_DOORBELL_OFFSET);
	spfe->doorbell_pages = spfe_read(spfe, SPFE_GLOBAL_BLOCK_DOORBELL_PAGES);
	spfe->doorbell_stride = spfe_can(spfe, SPFE_CAPABILITY_DOORBELL_64K) ?
					SZ_64K : SPFE_DOORBELL_STRIDE;
	if (!spfe_can(spfe, SPFE_CAPABILITY_IOVA))
		return dev_err_probe(spfe->parent, -EOPNOTSUPP,
				     "device cannot use bus addresses: it lacks the capability IOVA\n");
	doorbells = spfe->doorbell_at + (u64)spfe->doorbell_pages * spfe->doorbell_stride;
	if (!spfe->doorbell_pages || spfe->doorbell_at % 8 || doorbells > spfe->size)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "%u doorbell pages at %#x do not fit into %#x bytes\n",
				     spfe->doorbell_pages, spfe->doorbell_at, spfe->size);
	if (!spfe->nports || spfe->nports > SPFE_PORTS_MAX || !spfe->nqueues ||
	    spfe->nqueues > FIELD_MAX(SPFE_DOORBELL_QUEUE_MASK) + 1 || !spfe->nregions ||
	    spfe->nregions > BIT(SPFE_REGION_INDEX_BITS) || !spfe->nevents || !spfe->ndomains)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "out of range: %u ports, %u queues, %u regions, %u events, %u domains\n",
				     spfe->nports, spfe->nqueues, spfe->nregions, spfe->nevents,
				     spfe->ndomains);
	spfe->ports = kcalloc(spfe->nports, sizeof(*spfe->ports), GFP_KERNEL);
	return spfe->ports ? 0 : -ENOMEM;
}

static int spfe_take_port(struct spfe_device *spfe, u32 at, u32 size, u32 instance)
{
	struct spfe_port_info *port;
	u32 end, most;
	unsigned int i;

	if (instance >= spfe->nports || size < SPFE_PORT_BLOCK_SIZE)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "port block %u has %u bytes, the device has %u ports\n",
				     instance, size, spfe->nports);
	port = &spfe->ports[instance];
	if (port->at)
		return dev_err_probe(spfe->parent, -EPROTO, "port %u has two blocks\n", instance);
	port->spfe = spfe;
	port->index = instance;
	port->at = at;
	port->kind = spfe_read(spfe, at + SPFE_PORT_BLOCK_KIND);
	port->vcs = spfe_read(spfe, at + SPFE_PORT_BLOCK_VCS);
	port->first_queue = spfe_read(spfe, at + SPFE_PORT_BLOCK_FIRST_QUEUE);
	port->queue_count = spfe_read(spfe, at + SPFE_PORT_BLOCK_QUEUE_COUNT);
	port->mib_elements = max(port->vcs, spfe_read(spfe, at + SPFE_PORT_BLOCK_LANES));
	port->settings.link_start = 1;
	for (i = 0; i < ARRAY_SIZE(port->settings.priority); i++)
		port->settings.priority[i] =
			spfe_read(spfe, at + SPFE_PORT_BLOCK_VC_PRIORITY_0 + 4 * i);
	most = port->kind == SPFE_PORT_KIND_FABRIC ? SPFE_FABRIC_VC_MAX : SPFE_VC_MAX;
	if (port->vcs > most || port->queue_count < 2 * port->vcs ||
	    check_add_overflow(port->first_queue, port->queue_count, &end) || end > spfe->nqueues)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "port %u: %u virtual channels, %u queues from %u of %u\n",
				     instance, port->vcs, port->queue_count, port->first_queue,
				     spfe->nqueues);
	return 0;
}

static int spfe_take_extra(struct spfe_device *spfe, u32 at, u32 type, u32 instance)
{
	if (instance >= spfe->nports)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "block of type %u names port %u of %u\n", type, instance,
				     spfe->nports);
	spfe->ports[instance].extra_at = at;
	if (type == SPFE_BLOCK_TYPE_BROADCAST)
		spfe->ports[instance].settings.channel =
			spfe_read(spfe, at + SPFE_BROADCAST_BLOCK_CHANNEL);
	return 0;
}

/* A fabric port: the block of its own node, and what it sees of all. */
static int spfe_take_fabric(struct spfe_device *spfe, u32 at, u32 size, u32 instance)
{
	struct spfe_port_info *port;

	if (instance >= spfe->nports || size < SPFE_FABRIC_BLOCK_SIZE)
		return -EPROTO;
	port = &spfe->ports[instance];
	/* The number of its peers stays as it was checked. */
	if (port->node)
		return -EPROTO;
	port->node = spfe_read(spfe, at + SPFE_FABRIC_BLOCK_NODE);
	port->nodes = spfe_read(spfe, at + SPFE_FABRIC_BLOCK_NODES);
	port->channels = spfe_read(spfe, at + SPFE_FABRIC_BLOCK_CHANNELS);
	if (!port->node || port->node > port->nodes || port->nodes > SPFE_FABRIC_NODES_MAX ||
	    !port->channels || port->channels > SPFE_VC_MAX ||
	    port->nodes * port->channels > port->vcs)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "port %u: node %u of %u, %u channels to each, %u in all\n",
				     instance, port->node, port->nodes, port->channels, port->vcs);
	return 0;
}

static int spfe_take_peers(struct spfe_device *spfe, u32 at, u32 size, u32 instance)
{
	struct spfe_port_info *port;

	if (instance >= spfe->nports)
		return -EPROTO;
	port = &spfe->ports[instance];
	if (!port->node)
		return -EPROTO;
	port->peer_at = spfe_array(spfe, at, size, SPFE_PEER_BLOCK_STRIDE, port->nodes);
	return port->peer_at ? 0 : -EPROTO;
}

static int spfe_take_block(struct spfe_device *spfe, u32 at, u32 type, u32 size, u32 instance)
{
	bool first = type == SPFE_BLOCK_TYPE_GLOBAL;

	if (first != !at)
		return dev_err_probe(spfe->parent, -EPROTO, "block of type %u is at %#x\n", type,
				     at);
	/* Registers are aligned: not every processor can read others. */
	if (size % sizeof(u32))
		return dev_err_probe(spfe->parent, -EPROTO,
				     "block of type %u at %#x has %u bytes\n", type, at, size);
	if ((u64)at + max_t(u32, size, SPFE_HEADER_BYTES) > spfe->size)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "block of type %u at %#x ends behind the registers\n", type,
				     at);
	switch (type) {
	case SPFE_BLOCK_TYPE_GLOBAL:
		return spfe_take_global(spfe, size);
	case SPFE_BLOCK_TYPE_PORT:
		return spfe_take_port(spfe, at, size, instance);
	case SPFE_BLOCK_TYPE_BROADCAST:
		if (size < SPFE_BROADCAST_BLOCK_SIZE)
			return -EPROTO;
		return spfe_take_extra(spfe, at, type, instance);
	case SPFE_BLOCK_TYPE_TIME_CODE:
		if (size < SPFE_TIME_CODE_BLOCK_SIZE)
			return -EPROTO;
		return spfe_take_extra(spfe, at, type, instance);
	case SPFE_BLOCK_TYPE_MIB:
		if (instance >= spfe->nports || size < SPFE_HEADER_BYTES)
			return -EPROTO;
		spfe->ports[instance].mib_at = at + size;
		return 0;
	case SPFE_BLOCK_TYPE_PAIR:
		if (instance >= spfe->nports || size < SPFE_HEADER_BYTES)
			return -EPROTO;
		spfe->ports[instance].pair_at = at + size;
		return 0;
	case SPFE_BLOCK_TYPE_FABRIC:
		return spfe_take_fabric(spfe, at, size, instance);
	case SPFE_BLOCK_TYPE_PEER:
		return spfe_take_peers(spfe, at, size, instance);
	case SPFE_BLOCK_TYPE_QUEUE:
		spfe->queue_at = spfe_array(spfe, at, size, SPFE_QUEUE_BLOCK_STRIDE, spfe->nqueues);
		return spfe->queue_at ? 0 : -EPROTO;
	case SPFE_BLOCK_TYPE_REGION:
		spfe->region_at = spfe_array(spfe, at, size, SPFE_REGION_BLOCK_STRIDE,
					     spfe->nregions);
		return spfe->region_at ? 0 : -EPROTO;
	case SPFE_BLOCK_TYPE_EVENT:
		spfe->event_at = spfe_array(spfe, at, size, SPFE_EVENT_BLOCK_STRIDE, spfe->nevents);
		return spfe->event_at ? 0 : -EPROTO;
	case SPFE_BLOCK_TYPE_STATISTICS:
		spfe->statistics_at = spfe_array(spfe, at, size, SPFE_STATISTICS_BLOCK_STRIDE,
						 spfe->nqueues);
		return spfe->statistics_at ? 0 : -EPROTO;
	case SPFE_BLOCK_TYPE_TARGET:
		return spfe_target_take_block(spfe, at, size);
	default:
		return 0;	/* unknown block of a newer contract */
	}
}

/* Reads all properties that stay constant while the driver is bound. */
int spfe_discover(struct spfe_device *spfe)
{
	u32 magic = spfe_read(spfe, SPFE_GLOBAL_BLOCK_MAGIC);
	u32 at = 0, next = 0;
	unsigned int i;
	int err;

	if (magic != SPFE_CONTRACT_MAGIC)
		return dev_err_probe(spfe->parent, -ENODEV, "magic is %#x, expected %#x\n", magic,
				     SPFE_CONTRACT_MAGIC);
	for (i = 0; i < SPFE_BLOCKS_MAX && (next || !i); i++) {
		at = next;
		next = spfe_read(spfe, at + SPFE_HEADER_NEXT);
		err = spfe_take_block(spfe, at, SPFE_HEADER_TYPE(spfe_read(spfe, at)),
				      spfe_read(spfe, at + SPFE_HEADER_SIZE),
				      spfe_read(spfe, at + SPFE_HEADER_INSTANCE));
		if (err)
			return dev_err_probe(spfe->parent, err,
					     "register block at %#x is invalid\n", at);
		/* The list must lead forward, so that the walk ends. */
		if (next && (next <= at || next % SPFE_BLOCK_ALIGN ||
			     next > spfe->size - SPFE_HEADER_BYTES))
			return dev_err_probe(spfe->parent, -EPROTO,
					     "register block at %#x names %#x as the next block\n",
					     at, next);
	}
	if (next || !spfe->queue_at || !spfe->region_at || !spfe->event_at)
		return dev_err_probe(spfe->parent, -EPROTO,
				     "list of register blocks is incomplete or too long\n");
	for (i = 0; i < spfe->nports; i++) {
		if (!spfe->ports[i].at)
			return dev_err_probe(spfe->parent, -EPROTO, "port %u has no block\n", i);
		spfe->nchannels += spfe->ports[i].vcs;
		if (spfe->ports[i].mib_at && !spfe_mib_fits(&spfe->ports[i]))
			return dev_err_probe(spfe->parent, -EPROTO,
					     "MIB block of port %u ends behind the registers\n", i);
		if (spfe->ports[i].pair_at && !spfe_pair_counters_fit(&spfe->ports[i]))
			return dev_err_probe(spfe->parent, -EPROTO,
					     "pair block of port %u ends behind the registers\n",
					     i);
	}
	return 0;
}
