// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: platform binding, for a device in a system on chip or an FPGA fabric. The first resource
 * holds the registers; interrupt n is event vector n, level-sensitive
 * if the device has the capability LEVEL and edge triggered otherwise. A
 * device with a reset line is held in reset after it failed. Nothing else can block its DMA, so
 * without a line the driver never frees memory that a failed device may still access.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/reset.h>

#include "spfe_core.h"
#include "spfe_compat.h"

/* Time that the device stays in reset, and that it has to leave it. */
#define SPFE_RESET_US 20

/* Holds the device in reset, if it has a line for that. */
static bool spfe_platform_dma_off(struct spfe_device *spfe)
{
	return spfe->reset_line && !reset_control_assert(spfe->reset_line);
}

/* Pulses a reset line. NULL is none. */
static int spfe_platform_pulse(struct reset_control *line)
{
	int err;

	if (!line)
		return 0;
	err = reset_control_assert(line);
	if (err)
		return err;
	usleep_range(SPFE_RESET_US, 2 * SPFE_RESET_US);
	err = reset_control_deassert(line);
	usleep_range(SPFE_RESET_US, 2 * SPFE_RESET_US);
	return err;
}

/* Without a reset line, only the device itself can help: by its command RESET. */
static int spfe_platform_reset(struct spfe_device *spfe)
{
	int err;

	if (spfe->reset_line)
		spfe_stop(spfe, "reset by its line");
	err = spfe_platform_pulse(spfe->reset_line);
	if (err)
		dev_err(&spfe->dev, "reset line does not work: %d\n", err);
	return err ?: spfe_restart(spfe);
}

static const struct spfe_bus_ops spfe_platform_ops = {
	.dma_off = spfe_platform_dma_off,
	.reset = spfe_platform_reset,
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
	resources.reset_line = devm_reset_control_get_optional_exclusive(dev, NULL);
	if (IS_ERR(resources.reset_line))
		return dev_err_probe(dev, PTR_ERR(resources.reset_line), "no reset line\n");
	err = spfe_platform_pulse(resources.reset_line);
	if (err)
		return dev_err_probe(dev, err, "reset line does not work\n");
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

static void spfe_platform_shutdown(struct platform_device *platform)
{
	spfe_power_off(platform_get_drvdata(platform));
}

static int __maybe_unused spfe_platform_suspend(struct device *dev)
{
	spfe_sleep(dev_get_drvdata(dev));
	return 0;
}

static int __maybe_unused spfe_platform_resume(struct device *dev)
{
	struct spfe_device *spfe = dev_get_drvdata(dev);

	/* A device that does not come back was reported. The system wakes up anyway. */
	if (spfe_platform_pulse(spfe->reset_line))
		dev_err(dev, "reset line does not work\n");
	else
		spfe_restart(spfe);
	return 0;
}

static SIMPLE_DEV_PM_OPS(spfe_platform_pm, spfe_platform_suspend, spfe_platform_resume);

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
		.pm = &spfe_platform_pm,
	},
	.id_table = spfe_platform_ids,
	.probe = spfe_platform_probe,
	.remove = spfe_platform_remove,
	.shutdown = spfe_platform_shutdown,
};

int spfe_platform_register(void)
{
	return platform_driver_register(&spfe_platform_driver);
}

void spfe_platform_unregister(void)
{
	platform_driver_unregister(&spfe_platform_driver);
}
