// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device: discovery of its register blocks, the command latch, ports. */

#include "internal.h"

/* Most register blocks of a device. A longer list must be circular. */
#define BLOCKS_MAX 256

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t read_global(struct spfe_device *device, uint32_t offset)
{
	return spfe_platform_read(device->registers, offset);
}

/* Records one block. False if the device has more ports than SPFE_PORTS_MAX. */
static void note_block(struct spfe_device *device, uint32_t type, uint32_t at, uint32_t instance)
{
	switch (type) {
	case SPFE_BLOCK_TYPE_PORT:
		if (instance < COUNT(device->port))
			device->port[instance].block = at;
		break;
	case SPFE_BLOCK_TYPE_BROADCAST:
	case SPFE_BLOCK_TYPE_TIME_CODE:
		if (instance < COUNT(device->port))
			device->port[instance].messages = at;
		break;
	case SPFE_BLOCK_TYPE_QUEUE:
		device->queue_block = at;
		break;
	case SPFE_BLOCK_TYPE_REGION:
		device->region_block = at;
		break;
	case SPFE_BLOCK_TYPE_EVENT:
		device->event_block = at;
		break;
	case SPFE_BLOCK_TYPE_STATISTICS:
		device->statistics_block = at;
		break;
	default: /* block type of a newer contract */
		break;
	}
}

/* Walks the list of blocks. Each block must follow the previous one in the address space. */
static enum spfe_status walk_blocks(struct spfe_device *device)
{
	uint32_t at = 0, next, type, blocks;

	for (blocks = 0; blocks < BLOCKS_MAX; blocks++) {
		type = spfe_platform_read(device->registers, at) & 0xffff;
		next = spfe_platform_read(device->registers, at + 8);
		note_block(device, type, at, spfe_platform_read(device->registers, at + 12));
		if (next == 0)
			return SPFE_STATUS_OK;
		if (next <= at || next % 4 != 0)
			return SPFE_STATUS_BAD_FIELD;
		at = next;
	}
	return SPFE_STATUS_BAD_FIELD;
}

static enum spfe_status read_port(struct spfe_device *device, struct spfe_port *port)
{
	void *registers = device->registers;
	uint32_t most;

	if (port->block == 0)
		return SPFE_STATUS_BAD_FIELD;
	port->kind = (enum spfe_port_kind)spfe_platform_read(registers,
							     port->block + SPFE_PORT_BLOCK_KIND);
	port->vcs = spfe_platform_read(registers, port->block + SPFE_PORT_BLOCK_VCS);
	port->first_queue =
		spfe_platform_read(registers, port->block + SPFE_PORT_BLOCK_FIRST_QUEUE);
	port->queue_count =
		spfe_platform_read(registers, port->block + SPFE_PORT_BLOCK_QUEUE_COUNT);
	most = port->kind == SPFE_PORT_KIND_FABRIC ? SPFE_FABRIC_VC_MAX : SPFE_VC_MAX;
	if (port->vcs > most || port->queue_count < 2 * port->vcs ||
	    port->first_queue > device->queues ||
	    port->queue_count > device->queues - port->first_queue)
		return SPFE_STATUS_BAD_FIELD;
	return SPFE_STATUS_OK;
}

enum spfe_status spfe_open(struct spfe_device *device, void *registers)
{
	enum spfe_status status;
	uint32_t i;

	*device = (struct spfe_device){ .registers = registers };
	if (read_global(device, SPFE_GLOBAL_BLOCK_MAGIC) == SPFE_GONE)
		return SPFE_STATUS_DEVICE_GONE;
	if (read_global(device, SPFE_GLOBAL_BLOCK_MAGIC) != SPFE_CONTRACT_MAGIC ||
	    read_global(device, SPFE_GLOBAL_BLOCK_CONTRACT_VERSION) >> 16 !=
		    SPFE_CONTRACT_VERSION_MAJOR)
		return SPFE_STATUS_BAD_VERSION;
	device->capability = read_global(device, SPFE_GLOBAL_BLOCK_CAPABILITY);
	device->ports = read_global(device, SPFE_GLOBAL_BLOCK_PORTS);
	device->queues = read_global(device, SPFE_GLOBAL_BLOCK_QUEUES);
	device->regions = read_global(device, SPFE_GLOBAL_BLOCK_REGIONS);
	device->events = read_global(device, SPFE_GLOBAL_BLOCK_EVENTS);
	device->doorbell = read_global(device, SPFE_GLOBAL_BLOCK_DOORBELL_OFFSET);
	device->sequence = read_global(device, SPFE_GLOBAL_BLOCK_CFG_ACK);
	if (device->ports > SPFE_PORTS_MAX)
		return SPFE_STATUS_NO_RESOURCES;
	status = walk_blocks(device);
	if (status != SPFE_STATUS_OK)
		return status;
	if (device->queue_block == 0 || device->region_block == 0 || device->event_block == 0 ||
	    device->doorbell == 0)
		return SPFE_STATUS_BAD_FIELD;
	for (i = 0; i < device->ports; i++) {
		status = read_port(device, &device->port[i]);
		if (status != SPFE_STATUS_OK)
			return status;
	}
	return spfe_reset(device);
}

enum spfe_status spfe_command(struct spfe_device *device, enum spfe_command command, uint32_t index)
{
	void *registers = device->registers;
	uint64_t start;
	uint32_t answer;

	if (device->gone)
		return SPFE_STATUS_DEVICE_GONE;
	device->sequence++;
	if (device->sequence == 0)
		device->sequence = 1;
	/* Memory that the device reads because of the command must be visible first. */
	spfe_platform_barrier();
	spfe_platform_write(registers, SPFE_GLOBAL_BLOCK_CFG_COMMAND, command);
	spfe_platform_write(registers, SPFE_GLOBAL_BLOCK_CFG_INDEX, index);
	spfe_platform_write(registers, SPFE_GLOBAL_BLOCK_CFG_SEQ, device->sequence);
	spfe_platform_write(registers, device->doorbell + 4, 0);
	spfe_platform_write(registers, device->doorbell,
			    (uint32_t)SPFE_DOORBELL_KIND_LATCH << SPFE_DOORBELL_KIND_SHIFT);
	start = spfe_platform_time_ns();
	do {
		answer = spfe_platform_read(registers, SPFE_GLOBAL_BLOCK_CFG_ACK);
		if (answer == device->sequence) {
			spfe_platform_barrier();
			return (enum spfe_status)spfe_platform_read(registers,
								    SPFE_GLOBAL_BLOCK_CFG_STATUS);
		}
	} while (answer != SPFE_GONE && spfe_platform_time_ns() - start < SPFE_COMMAND_TIMEOUT_NS);
	device->gone = true;
	return SPFE_STATUS_DEVICE_GONE;
}

enum spfe_status spfe_reset(struct spfe_device *device)
{
	enum spfe_status status = spfe_command(device, SPFE_COMMAND_RESET, 0);
	uint32_t i;

	if (status == SPFE_STATUS_OK)
		for (i = 0; i < COUNT(device->region); i++)
			device->region[i].base = NULL;
	return status;
}

bool spfe_is_alive(struct spfe_device *device)
{
	if (!device->gone && read_global(device, SPFE_GLOBAL_BLOCK_MAGIC) != SPFE_CONTRACT_MAGIC)
		device->gone = true;
	return !device->gone;
}

uint64_t spfe_device_time_ns(struct spfe_device *device)
{
	uint32_t high, low, again = read_global(device, SPFE_GLOBAL_BLOCK_TIME_HI);
	int tries = 3; /* the upper word changes every 4.3 s only */

	do {
		high = again;
		low = read_global(device, SPFE_GLOBAL_BLOCK_TIME_LO);
		again = read_global(device, SPFE_GLOBAL_BLOCK_TIME_HI);
	} while (high != again && --tries > 0);
	return (uint64_t)high << 32 | low;
}

static struct spfe_port *find_port(struct spfe_device *device, uint32_t port)
{
	return port < device->ports ? &device->port[port] : NULL;
}

enum spfe_status spfe_port_state(struct spfe_device *device, uint32_t port,
				 enum spfe_port_state *state)
{
	struct spfe_port *found = find_port(device, port);
	uint32_t value;

	if (!found)
		return SPFE_STATUS_NOT_FOUND;
	value = spfe_platform_read(device->registers, found->block + SPFE_PORT_BLOCK_STATE);
	if (value == SPFE_GONE)
		return SPFE_STATUS_DEVICE_GONE;
	*state = (enum spfe_port_state)value;
	return SPFE_STATUS_OK;
}

enum spfe_status spfe_port_start(struct spfe_device *device, uint32_t port, bool start)
{
	struct spfe_port *found = find_port(device, port);

	if (!found)
		return SPFE_STATUS_NOT_FOUND;
	spfe_platform_write(device->registers, found->block + SPFE_PORT_BLOCK_LINK_START, start);
	return spfe_command(device, SPFE_COMMAND_PORT_CONFIGURE, port);
}

enum spfe_status spfe_port_priority(struct spfe_device *device, uint32_t port, uint32_t vc,
				    uint32_t priority)
{
	struct spfe_port *found = find_port(device, port);
	uint32_t at, value, shift = vc % 8 * 4;

	if (!found)
		return SPFE_STATUS_NOT_FOUND;
	if (vc >= found->vcs || vc >= SPFE_VC_MAX)
		return SPFE_STATUS_BAD_VC;
	if (priority > 15)
		return SPFE_STATUS_BAD_FIELD;
	at = found->block + SPFE_PORT_BLOCK_VC_PRIORITY_0 + vc / 8 * 4;
	value = spfe_platform_read(device->registers, at);
	spfe_platform_write(device->registers, at, (value & ~(0xfU << shift)) | priority << shift);
	return spfe_command(device, SPFE_COMMAND_PORT_CONFIGURE, port);
}

enum spfe_status spfe_event_enable(struct spfe_device *device, uint32_t vector, bool enable)
{
	uint32_t element = SPFE_EVENT_BLOCK_SIZE + vector * SPFE_EVENT_BLOCK_STRIDE;

	if (vector >= device->events)
		return SPFE_STATUS_NOT_FOUND;
	spfe_platform_write(device->registers,
			    device->event_block + element + SPFE_EVENT_BLOCK_ENABLE, enable);
	return spfe_command(device, SPFE_COMMAND_NOP, 0);
}

const char *spfe_status_text(enum spfe_status status)
{
#define CASE(name, number, class, error, text) \
	case SPFE_STATUS_##name:               \
		return text;
	switch (status) {
		SPFE_STATUS_TABLE(CASE)
	}
#undef CASE
	return "A status this driver does not know.";
}
