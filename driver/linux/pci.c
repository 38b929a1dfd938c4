// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: PCI Express binding. BAR 0 holds the registers; MSI-X entry n is event vector n. A machine
 * without message-signalled interrupts has one line, and all events share vector 0.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "spfe_compat.h"
#include "spfe_core.h"

#define SPFE_PCI_BAR 0
/* What a read of 16 bits returns if no device answers. */
#define SPFE_PCI_NOTHING 0xffff

/* Memory is freed when this returns true, so it believes what it reads and not what it wrote. */
static bool spfe_pci_dma_off(struct spfe_device *spfe)
{
	struct pci_dev *pci = to_pci_dev(spfe->parent);
	u16 command;

	pci_clear_master(pci);
	/* Nothing can come from a device that was removed, or behind a link that was shut off. */
	if (pci_channel_offline(pci) || pci_read_config_word(pci, PCI_COMMAND, &command) ||
	    command == SPFE_PCI_NOTHING)
		return true;
	if (command & PCI_COMMAND_MASTER) {
		dev_err(&pci->dev, "does not turn bus mastering off\n");
		return false;
	}
	/* Reads on their way could still be answered into memory of another owner. */
	if (!pci_wait_for_pending_transaction(pci)) {
		dev_err(&pci->dev, "does not end its transactions\n");
		return false;
	}
	return true;
}

static void spfe_pci_dma_on(struct spfe_device *spfe)
{
	pci_set_master(to_pci_dev(spfe->parent));
}

static int spfe_pci_reset(struct spfe_device *spfe)
{
	struct pci_dev *pci = to_pci_dev(spfe->parent);
	int err;

	if (!pci_device_is_present(pci))
		return -ENODEV;
	/*
	 * Calls reset_prepare and reset_done. Must not wait for the device lock, because removal
	 * holds it while it waits for this function.
	 */
	err = pci_try_reset_function(pci);
	return err ?: spfe_state_errno(spfe);
}

static const struct spfe_bus_ops spfe_pci_ops = {
	.dma_off = spfe_pci_dma_off,
	.dma_on = spfe_pci_dma_on,
	.reset = spfe_pci_reset,
};

static int spfe_pci_prepare(struct pci_dev *pci)
{
	int err;

	err = pcim_enable_device(pci);
	if (err)
		return dev_err_probe(&pci->dev, err, "cannot be enabled\n");
	err = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(64));
	if (err)
		err = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(32));
	if (err)
		return dev_err_probe(&pci->dev, err,
				     "DMA addresses of 32 bits are not available\n");
	dma_set_max_seg_size(&pci->dev, UINT_MAX);
	err = pcim_iomap_regions(pci, BIT(SPFE_PCI_BAR), SPFE_NAME);
	return err ? dev_err_probe(&pci->dev, err, "BAR %u cannot be mapped\n", SPFE_PCI_BAR) : 0;
}

static int spfe_pci_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct spfe_resources resources = { .parent = &pci->dev, .ops = &spfe_pci_ops };
	int irqs[SPFE_VECTORS_MAX];
	struct spfe_device *spfe;
	int err, count, i;

	err = spfe_pci_prepare(pci);
	if (err)
		return err;
	count = pci_alloc_irq_vectors(pci, 1, SPFE_VECTORS_MAX,
				      PCI_IRQ_MSIX | PCI_IRQ_MSI | PCI_IRQ_INTX);
	if (count < 0)
		return dev_err_probe(&pci->dev, count, "no interrupt vectors available\n");
	for (i = 0; i < count; i++)
		irqs[i] = pci_irq_vector(pci, i);
	resources.regs = pcim_iomap_table(pci)[SPFE_PCI_BAR];
	resources.phys = pci_resource_start(pci, SPFE_PCI_BAR);
	resources.size = pci_resource_len(pci, SPFE_PCI_BAR);
	resources.irqs = irqs;
	resources.nirqs = count;
	resources.lines = !pci_dev_msi_enabled(pci);
	spfe = spfe_probe(&resources);
	if (IS_ERR(spfe)) {
		err = PTR_ERR(spfe);
		goto err_vectors;
	}
	pci_set_drvdata(pci, spfe);
	/* For slot_reset: a link that was reset loses the addresses of the registers. */
	pci_save_state(pci);
	return 0;

err_vectors:
	pci_clear_master(pci);
	pci_free_irq_vectors(pci);
	return err;
}

static void spfe_pci_remove(struct pci_dev *pci)
{
	spfe_remove(pci_get_drvdata(pci));
	pci_clear_master(pci);
	pci_free_irq_vectors(pci);
}

static void spfe_pci_shutdown(struct pci_dev *pci)
{
	spfe_power_off(pci_get_drvdata(pci));
}

static int __maybe_unused spfe_pci_suspend(struct device *dev)
{
	spfe_sleep(dev_get_drvdata(dev));
	return 0;
}

static int __maybe_unused spfe_pci_resume(struct device *dev)
{
	/* For slot_reset: waking up has used what was saved. Bus mastering is still off. */
	pci_save_state(to_pci_dev(dev));
	/* A device that does not come back was reported. The system wakes up anyway. */
	spfe_restart(dev_get_drvdata(dev));
	return 0;
}

static SIMPLE_DEV_PM_OPS(spfe_pci_pm, spfe_pci_suspend, spfe_pci_resume);

static pci_ers_result_t spfe_pci_error_detected(struct pci_dev *pci, pci_channel_state_t state)
{
	struct spfe_device *spfe = pci_get_drvdata(pci);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	spfe_stop(spfe, "PCI error");
	if (state == pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_DISCONNECT;
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t spfe_pci_slot_reset(struct pci_dev *pci)
{
	pci_restore_state(pci);
	/* The saved state has bus mastering on. The core turns it on after its reset command. */
	pci_clear_master(pci);
	pci_save_state(pci);
	if (spfe_restart(pci_get_drvdata(pci)))
		return PCI_ERS_RESULT_DISCONNECT;
	return PCI_ERS_RESULT_RECOVERED;
}

static void spfe_pci_reset_prepare(struct pci_dev *pci)
{
	struct spfe_device *spfe = pci_get_drvdata(pci);

	if (spfe)
		spfe_stop(spfe, "reset by the bus");
}

static void spfe_pci_reset_done(struct pci_dev *pci)
{
	struct spfe_device *spfe = pci_get_drvdata(pci);

	/* The reset has used up what was saved. */
	pci_save_state(pci);
	if (spfe)
		spfe_restart(spfe);
}

static const struct pci_error_handlers spfe_pci_errors = {
	.error_detected = spfe_pci_error_detected,
	.slot_reset = spfe_pci_slot_reset,
	.reset_prepare = spfe_pci_reset_prepare,
	.reset_done = spfe_pci_reset_done,
};

/* The virtual device. Hardware has IDs of its maker, to add here or in new_id (docs/porting.md). */
static const struct pci_device_id spfe_pci_ids[] = {
	{ PCI_DEVICE(SPFE_PCI_VENDOR, SPFE_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, spfe_pci_ids);

static struct pci_driver spfe_pci_driver = {
	.name = SPFE_NAME,
	.id_table = spfe_pci_ids,
	.probe = spfe_pci_probe,
	.remove = spfe_pci_remove,
	.shutdown = spfe_pci_shutdown,
	.err_handler = &spfe_pci_errors,
	.driver.pm = &spfe_pci_pm,
};

int spfe_pci_register(void)
{
	return pci_register_driver(&spfe_pci_driver);
}

void spfe_pci_unregister(void)
{
	pci_unregister_driver(&spfe_pci_driver);
}
