// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Regions: memory that the device may access. */

#include "internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum spfe_status spfe_region_add(struct spfe_device *device, void *base, uint64_t bus, size_t bytes,
				 uint32_t access, struct spfe_region **region)
{
	void *registers = device->registers;
	struct spfe_region *free = NULL;
	enum spfe_status status;
	uint32_t index, at;

	if (!base || bytes == 0)
		return SPFE_STATUS_EMPTY;
	for (index = 0; index < COUNT(device->region) && index < device->regions; index++)
		if (!device->region[index].base) {
			free = &device->region[index];
			break;
		}
	if (!free)
		return SPFE_STATUS_NO_RESOURCES;
	at = spfe_region_register(device, index, 0);
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_BASE_LO, spfe_low(bus));
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_BASE_HI, spfe_high(bus));
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_SIZE_LO, spfe_low(bytes));
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_SIZE_HI, spfe_high(bytes));
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_ACCESS, access);
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_DOMAIN, 0);
	spfe_platform_write(registers, at + SPFE_REGION_BLOCK_PAGE_LIST, 0);
	status = spfe_command(device, SPFE_COMMAND_REGION_ENABLE, index);
	if (status != SPFE_STATUS_OK)
		return status;
	*free = (struct spfe_region){
		.base = base,
		.bytes = bytes,
		.key = (uint16_t)spfe_platform_read(registers, at + SPFE_REGION_BLOCK_KEY),
		.index = (uint16_t)index,
	};
	*region = free;
	return SPFE_STATUS_OK;
}

enum spfe_status spfe_region_remove(struct spfe_device *device, struct spfe_region *region)
{
	enum spfe_status status;

	if (!region->base)
		return SPFE_STATUS_BAD_REGION;
	status = spfe_command(device, SPFE_COMMAND_REGION_DISABLE, region->index);
	if (status == SPFE_STATUS_OK)
		region->base = NULL;
	return status;
}

enum spfe_status spfe_address(const struct spfe_region *region, const void *bytes, size_t length,
			      uint64_t *address)
{
	uintptr_t base, at = (uintptr_t)bytes;

	if (!region || !region->base)
		return SPFE_STATUS_BAD_REGION;
	base = (uintptr_t)region->base;
	if (at < base || at - base > region->bytes || length > region->bytes - (at - base))
		return SPFE_STATUS_OUT_OF_BOUNDS;
	*address = (uint64_t)region->key << SPFE_OFFSET_BITS | (at - base);
	return SPFE_STATUS_OK;
}
