// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test module: presents each PCI device of the driver as a platform device, which has the same
 * registers and interrupts. Load it before the driver. If the machine has a device tree with a node
 * "spfe,endpoint", the platform devices belong to that node.
 */
#include <linux/module.h>
#include <linux/of.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/reset-controller.h>

#include <spfe/spfe_hw.h>

/* 6.8: its name. */
#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

#define VECTORS 4

static uint limit = 64;
module_param(limit, uint, 0444);
MODULE_PARM_DESC(limit, "Bits of the bus addresses that the device reaches");

static bool lines;
module_param(lines, bool, 0444);
MODULE_PARM_DESC(lines, "The one interrupt is the line of the PCI device, which is level-sensitive");

static int shim_number;

#if IS_ENABLED(CONFIG_RESET_CONTROLLER)
static bool resets;
module_param(resets, bool, 0444);
MODULE_PARM_DESC(resets, "Each device has a reset line, which takes the bus away from it");

static uint asserted;
module_param(asserted, uint, 0444);
MODULE_PARM_DESC(asserted, "Number of devices that are held in reset");

/* The reset line of one device. */
struct shim_reset {
	struct reset_controller_dev controller;
	struct reset_control_lookup lookup;
	struct pci_dev *pci;
	char name[32];
	bool asserted;
};

static int shim_reset_set(struct reset_controller_dev *controller, bool on)
{
	struct shim_reset *reset = container_of(controller, struct shim_reset, controller);

	if (on == reset->asserted)
		return 0;
	reset->asserted = on;
	asserted += on ? 1 : -1;
	if (on)
		pci_clear_master(reset->pci);
	else
		pci_set_master(reset->pci);
	return 0;
}

static int shim_reset_assert(struct reset_controller_dev *controller, unsigned long id)
{
	return shim_reset_set(controller, true);
}

static int shim_reset_deassert(struct reset_controller_dev *controller, unsigned long id)
{
	return shim_reset_set(controller, false);
}

static const struct reset_control_ops shim_reset_ops = {
	.assert = shim_reset_assert,
	.deassert = shim_reset_deassert,
};

static int shim_reset_add(struct pci_dev *pci, const struct platform_device_info *info)
{
	struct shim_reset *reset;

	if (!resets)
		return 0;
	reset = devm_kzalloc(&pci->dev, sizeof(*reset), GFP_KERNEL);
	if (!reset)
		return -ENOMEM;
	snprintf(reset->name, sizeof(reset->name), "%s.%d", info->name, info->id);
	reset->pci = pci;
	reset->controller.ops = &shim_reset_ops;
	reset->controller.owner = THIS_MODULE;
	reset->controller.dev = &pci->dev;
	reset->controller.nr_resets = 1;
	reset->lookup.provider = dev_name(&pci->dev);
	reset->lookup.dev_id = reset->name;
	reset_controller_add_lookup(&reset->lookup, 1);
	return devm_reset_controller_register(&pci->dev, &reset->controller);
}
#else
static int shim_reset_add(struct pci_dev *pci, const struct platform_device_info *info)
{
	return 0;
}
#endif

static int shim_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "spfe,endpoint");
	struct resource resources[1 + VECTORS] = { };
	struct platform_device_info info = {
		.parent = &pci->dev,
		.fwnode = of_fwnode_handle(node),
		.name = "spfe",
		.id = shim_number++,
		.res = resources,
		.dma_mask = DMA_BIT_MASK(64),
	};
	struct platform_device *platform;
	int err, count, i;

	err = pcim_enable_device(pci);
	if (err)
		return err;
	count = pci_alloc_irq_vectors(pci, 1, VECTORS, lines ? PCI_IRQ_INTX : PCI_IRQ_MSIX);
	if (count < 0)
		return count;
	resources[0].flags = IORESOURCE_MEM;
	resources[0].start = pci_resource_start(pci, 0);
	resources[0].end = pci_resource_end(pci, 0);
	for (i = 1; i <= count; i++) {
		resources[i].flags = IORESOURCE_IRQ;
		resources[i].start = pci_irq_vector(pci, i - 1);
		resources[i].end = resources[i].start;
	}
	info.num_res = 1 + count;
	pci_set_master(pci);
	err = shim_reset_add(pci, &info);
	if (err) {
		pci_free_irq_vectors(pci);
		return err;
	}
	platform = platform_device_register_full(&info);
	of_node_put(node);
	if (IS_ERR(platform)) {
		pci_free_irq_vectors(pci);
		return PTR_ERR(platform);
	}
	platform->dev.bus_dma_limit = DMA_BIT_MASK(limit);
	pci_set_drvdata(pci, platform);
	return 0;
}

static void shim_remove(struct pci_dev *pci)
{
	platform_device_unregister(pci_get_drvdata(pci));
	pci_free_irq_vectors(pci);
}

static const struct pci_device_id shim_ids[] = {
	{ PCI_DEVICE(SPFE_PCI_VENDOR, SPFE_PCI_DEVICE) },
	{ }
};

static struct pci_driver shim_driver = {
	.name = "spfe_shim",
	.id_table = shim_ids,
	.probe = shim_probe,
	.remove = shim_remove,
};
module_pci_driver(shim_driver);

MODULE_DESCRIPTION("SpaceFibre processor endpoint: a PCI device as a platform device, for tests");
MODULE_LICENSE("GPL");
