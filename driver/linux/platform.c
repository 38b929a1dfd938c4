// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: platform binding, for a device in a system on chip or an FPGA fabric. The first resource
 * holds the registers; interrupt n is event vector n, edge triggered. Nothing can block the DMA of
 * such a device, so the driver never frees memory that a failed device may still access.
 */
#include <linux/dma-mapping.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "spfe_core.h"
#include "spfe_compat.h"

static const struct spfe_bus_ops spfe_platform_ops = {
};

static int spfe_platform_irqs(struct platform_device *platform, int *irqs)
{
	int count, irq, i;

	count = platform_irq_count(platform);
	if (count < 0)
		return count;
	count = min(count, SPFE_VECTORS_MAX);
	for (i = 0; i < count; i++) {
		irq = platform_get_irq(platform, i);
		if (irq < 0)
			return irq;
		irqs[i] = irq;
	}
	return count;
}

static int spfe_platform_probe(struct platform_device *platform)
{
	struct device *dev = &platform->dev;
	struct spfe_resources resources = { .parent = dev, .ops = &spfe_platform_ops };
	int irqs[SPFE_VECTORS_MAX];
	struct spfe_device *spfe;
	struct resource *regs;
	int err;

	resources.regs = devm_platform_get_and_ioremap_resource(platform, 0, &regs);
	if (IS_ERR(resources.regs))
		return dev_err_probe(dev, PTR_ERR(resources.regs), "no registers\n");
	resources.phys = regs->start;
	resources.size = resource_size(regs);
	err = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (err)
		return dev_err_probe(dev, err, "no DMA\n");
	dma_set_max_seg_size(dev, UINT_MAX);
	err = spfe_platform_irqs(platform, irqs);
	if (err < 0)
		return dev_err_probe(dev, err, "no interrupts\n");
	resources.irqs = irqs;
	resources.nirqs = err;
	spfe = spfe_probe(&resources);
	if (IS_ERR(spfe))
		return PTR_ERR(spfe);
	platform_set_drvdata(platform, spfe);
	return 0;
}

static spfe_removed_t spfe_platform_remove(struct platform_device *platform)
{
	spfe_remove(platform_get_drvdata(platform));
	return SPFE_REMOVED;
}

static const struct of_device_id spfe_of_ids[] = {
	{ .compatible = "spfe,endpoint" },
	{ }
};
MODULE_DEVICE_TABLE(of, spfe_of_ids);

static const struct platform_device_id spfe_platform_ids[] = {
	{ .name = SPFE_NAME },
	{ }
};
MODULE_DEVICE_TABLE(platform, spfe_platform_ids);

static struct platform_driver spfe_platform_driver = {
	.driver = {
		.name = SPFE_NAME,
		.of_match_table = spfe_of_ids,
	},
	.id_table = spfe_platform_ids,
	.probe = spfe_platform_probe,
	.remove = spfe_platform_remove,
};

int spfe_platform_register(void)
{
	return platform_driver_register(&spfe_platform_driver);
}

void spfe_platform_unregister(void)
{
	platform_driver_unregister(&spfe_platform_driver);
}
