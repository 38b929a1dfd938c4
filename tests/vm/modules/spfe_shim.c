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

#include <spfe/spfe_hw.h>

#define VECTORS 4

static int shim_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "spfe,endpoint");
	struct resource resources[1 + VECTORS] = { };
	struct platform_device_info info = {
		.parent = &pci->dev,
		.fwnode = of_fwnode_handle(node),
		.name = "spfe",
		.id = PLATFORM_DEVID_AUTO,
		.res = resources,
		.dma_mask = DMA_BIT_MASK(64),
	};
	struct platform_device *platform;
	int err, count, i;

	err = pcim_enable_device(pci);
	if (err)
		return err;
	count = pci_alloc_irq_vectors(pci, 1, VECTORS, PCI_IRQ_MSIX);
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
	platform = platform_device_register_full(&info);
	of_node_put(node);
	if (IS_ERR(platform)) {
		pci_free_irq_vectors(pci);
		return PTR_ERR(platform);
	}
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
