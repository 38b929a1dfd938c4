// SPDX-License-Identifier: GPL-2.0-only
/* spfe: /sys/class/spfe/spfeN, one value a file; ports are in port.c. */
#include <linux/sysfs.h>

#include "spfe_core.h"

static ssize_t contract_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct spfe_device *spfe = container_of(dev, struct spfe_device, dev);

	return sysfs_emit(buf, "%u.%u\n", spfe->contract_version >> 16,
			  spfe->contract_version & 0xffff);
}
static DEVICE_ATTR_RO(contract_version);

static ssize_t capability_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct spfe_device *spfe = container_of(dev, struct spfe_device, dev);

	return sysfs_emit(buf, "%#x\n", spfe->capability);
}
static DEVICE_ATTR_RO(capability);

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct spfe_device *spfe = container_of(dev, struct spfe_device, dev);

	return sysfs_emit(buf, "%s\n", spfe_state_name(spfe));
}
static DEVICE_ATTR_RO(state);

static struct attribute *spfe_attributes[] = {
	&dev_attr_contract_version.attr,
	&dev_attr_capability.attr,
	&dev_attr_state.attr,
	NULL,
};

const struct attribute_group spfe_attribute_group = {
	.attrs = spfe_attributes,
};
