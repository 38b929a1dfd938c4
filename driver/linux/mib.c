// SPDX-License-Identifier: GPL-2.0-only
/* spfe: the management information base (MIB) of a port. Callers hold spfe_device.lock. */
#include <linux/nospec.h>

#include "spfe_core.h"

/* Number of items: the words of an element in front of the bitmap of present items. */
#define SPFE_MIB_ITEMS (SPFE_MIB_BLOCK_PRESENT_LO / SPFE_MIB_VALUE_BYTES)

/* Whether all MIB elements of a port lie inside the registers. */
bool spfe_mib_fits(const struct spfe_port_info *port)
{
	u64 end = port->mib_at + (u64)port->mib_elements * SPFE_MIB_BLOCK_STRIDE;

	return end <= port->spfe->size;
}

static int spfe_mib_get(struct spfe_device *spfe, const struct spfe_port_info *port,
			struct spfe_mib *wish)
{
	u32 at = port->mib_at + wish->element * SPFE_MIB_BLOCK_STRIDE;
	u64 present = spfe_read_pair(spfe, at + SPFE_MIB_BLOCK_PRESENT_LO);

	if (!(present & BIT_ULL(wish->item)))
		return -ENOENT;
	wish->value = spfe_read_pair(spfe, at + wish->item * SPFE_MIB_VALUE_BYTES);
	return 0;
}

static int spfe_mib_set(struct spfe_device *spfe, struct spfe_port_info *port,
			struct spfe_mib *wish)
{
	u32 status;
	int err;

	spfe_write(spfe, SPFE_GLOBAL_BLOCK_MIB_ITEM, wish->item);
	spfe_write(spfe, SPFE_GLOBAL_BLOCK_MIB_ELEMENT, wish->element);
	spfe_write_pair(spfe, SPFE_GLOBAL_BLOCK_MIB_VALUE_LO, wish->value);
	err = spfe_command(spfe, SPFE_COMMAND_MIB_SET, wish->port, &status);
	if (err)
		return err;
	wish->status = status;
	if (status != SPFE_STATUS_OK)
		return -EREMOTEIO;
	/* PORT_CONFIGURE, and so a reset, sets all priorities of a port. */
	if (wish->item == SPFE_MIB_ITEM_PRIORITY)
		spfe_port_priority(&port->settings, wish->element, wish->value);
	return 0;
}

/* Reads or sets an item. `may_set` states whether the caller may set items. */
int spfe_mib_access(struct spfe_device *spfe, struct spfe_mib *wish, bool may_set)
{
	struct spfe_port_info *port;

	if (wish->reserved || wish->status || wish->flags & ~SPFE_MIB_SET)
		return -EINVAL;
	if (!spfe_can(spfe, SPFE_CAPABILITY_MIB))
		return -EOPNOTSUPP;
	if (wish->port >= spfe->nports)
		return -ENOENT;
	port = &spfe->ports[array_index_nospec(wish->port, spfe->nports)];
	if (!port->mib_at || wish->item >= SPFE_MIB_ITEMS || wish->element >= port->mib_elements)
		return -ENOENT;
	if (!(wish->flags & SPFE_MIB_SET))
		return spfe_mib_get(spfe, port, wish);
	return may_set ? spfe_mib_set(spfe, port, wish) : -EPERM;
}
