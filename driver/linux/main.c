// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: life cycle of a device, from probe until the last file is closed, and of the module.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "spfe_compat.h"
#include "spfe_core.h"

#define SPFE_DEVICES_MAX 256

static dev_t spfe_first;
static DEFINE_IDA(spfe_minors);
/* Devices that have not been released. A reference can outlive the removal of its device. */
static atomic_t spfe_unreleased = ATOMIC_INIT(0);
/* Not static memory of the module: a reference to it can outlive the module. */
static struct class *spfe_class;

static void spfe_release_device(struct device *dev)
{
	struct spfe_device *spfe = container_of(dev, struct spfe_device, dev);

	ida_destroy(&spfe->domains);
	ida_destroy(&spfe->region_ids);
	kfree(spfe->groups);
	kfree(spfe->vectors);
	kfree(spfe->queues);
	kfree(spfe->ports);
	kfree(spfe->entries);
	kfree(spfe);
	if (atomic_dec_and_test(&spfe_unreleased))
		wake_up_var(&spfe_unreleased);
}

/*
 * Frees the number of a device that user space cannot open any more, so that a device that returns
 * has the number it had, although files of its former life may still be open.
 */
static void spfe_minor_free(struct spfe_device *spfe)
{
	ida_free(&spfe_minors, MINOR(spfe->dev.devt) - MINOR(spfe_first));
}

static struct spfe_device *spfe_device_new(const struct spfe_resources *resources)
{
	struct spfe_device *spfe;
	int minor, err;

	if (resources->size < SPFE_GLOBAL_BLOCK_SIZE || resources->size > SZ_2G)
		return ERR_PTR(dev_err_probe(resources->parent, -EINVAL,
					     "register window of %llu bytes is too small or too large\n",
					     (u64)resources->size));
	spfe = kzalloc(sizeof(*spfe), GFP_KERNEL);
	if (!spfe)
		return ERR_PTR(-ENOMEM);
	minor = ida_alloc_max(&spfe_minors, SPFE_DEVICES_MAX - 1, GFP_KERNEL);
	if (minor < 0) {
		kfree(spfe);
		return ERR_PTR(minor);
	}
	spfe->parent = resources->parent;
	spfe->ops = resources->ops;
	spfe->reset_line = resources->reset_line;
	spfe->regs = resources->regs;
	spfe->phys = resources->phys;
	spfe->size = resources->size;
	init_rwsem(&spfe->alive);
	mutex_init(&spfe->lock);
	ida_init(&spfe->domains);
	ida_init(&spfe->region_ids);
	INIT_LIST_HEAD(&spfe->clients);
	INIT_LIST_HEAD(&spfe->kept);
	INIT_LIST_HEAD(&spfe->users);
	spfe_watch_init(spfe);
	spfe_links_init(spfe);
	/* The device counts as failed until it has been discovered and reset. */
	spfe->state = SPFE_FAILED;
	/* DMA stays off until the reset: the device may hold addresses of an earlier driver. */
	spfe->dma_is_off = true;
	atomic_inc(&spfe_unreleased);
	device_initialize(&spfe->dev);
	spfe->dev.class = spfe_class;
	spfe->dev.parent = resources->parent;
	spfe->dev.devt = MKDEV(MAJOR(spfe_first), MINOR(spfe_first) + minor);
	spfe->dev.release = spfe_release_device;
	err = dev_set_name(&spfe->dev, SPFE_NAME "%d", minor);
	if (err) {
		spfe_minor_free(spfe);
		put_device(&spfe->dev);
		return ERR_PTR(err);
	}
	return spfe;
}

/* Prepares the device before user space can see it. */
static int spfe_device_start(struct spfe_device *spfe, const struct spfe_resources *resources)
{
	int err;

	err = spfe_discover(spfe);
	if (err)
		return err;
	spfe->queues = kcalloc(spfe->nqueues, sizeof(*spfe->queues), GFP_KERNEL);
	if (!spfe->queues)
		return -ENOMEM;
	err = spfe_port_groups(spfe);
	if (err)
		return err;
	err = spfe_irq_setup(spfe, resources);
	if (err)
		return err;
	err = spfe_restart(spfe);
	if (err)
		return dev_err_probe(spfe->parent, err, "device cannot be started\n");
	spfe->bounces = spfe_dma_bounces(spfe);
	return 0;
}

/* Called by the bus drivers for a new device. Returns an error pointer on failure. */
struct spfe_device *spfe_probe(const struct spfe_resources *resources)
{
	struct spfe_device *spfe;
	int err;

	spfe = spfe_device_new(resources);
	if (IS_ERR(spfe))
		return spfe;
	err = spfe_device_start(spfe, resources);
	if (err)
		goto err_stop;
	err = spfe_devlink_register(spfe);
	if (err)
		goto err_stop;
	cdev_init(&spfe->cdev, &spfe_file_operations);
	spfe->cdev.owner = THIS_MODULE;
	err = cdev_device_add(&spfe->cdev, &spfe->dev);
	if (err)
		goto err_devlink;
	spfe_debugfs_add(spfe);
	err = spfe_netdev_add(spfe);
	if (err)
		dev_warn(&spfe->dev, "no network interface: %d\n", err);
	spfe_watch_start(spfe);
	spfe_links_check(spfe);
	dev_info(&spfe->dev,
		 "contract %u.%u, %u ports, %u queues, %u regions, %u of %u events, %u domains%s\n",
		 spfe->contract_version >> 16, spfe->contract_version & 0xffff, spfe->nports,
		 spfe->nqueues, spfe->nregions, spfe->nvectors, spfe->nevents, spfe->ndomains,
		 spfe->bounces ? ", no user memory (DMA is bounced)" : "");
	return spfe;

err_devlink:
	spfe_shutdown(spfe);
	spfe_watch_stop(spfe);
	spfe_devlink_unregister(spfe);
err_stop:
	spfe_links_stop(spfe);
	spfe_shutdown(spfe);
	spfe_watch_stop(spfe);
	spfe_minor_free(spfe);
	put_device(&spfe->dev);
	return ERR_PTR(err);
}

/* On return the driver no longer accesses the device. Open files stay valid. */
void spfe_remove(struct spfe_device *spfe)
{
	spfe_links_stop(spfe);
	spfe_netdev_remove(spfe);
	cdev_device_del(&spfe->cdev, &spfe->dev);
	spfe_debugfs_remove(spfe);
	spfe_minor_free(spfe);
	spfe_shutdown(spfe);
	spfe_watch_stop(spfe);
	spfe_devlink_unregister(spfe);
	spfe_irq_free(spfe);
	spfe_clients_evict(spfe);
	if (atomic_read(&spfe->usage.kept_clients))
		dev_warn(&spfe->dev,
			 "leaked the memory of %d files: the device may still access it\n",
			 atomic_read(&spfe->usage.kept_clients));
	put_device(&spfe->dev);
}

/* Waits until nobody needs the code of spfe_release_device() any more. No device is left. */
static void spfe_wait_released(void)
{
	wait_var_event(&spfe_unreleased, !atomic_read(&spfe_unreleased));
}

static int __init spfe_init(void)
{
	int err;

	spfe_class = spfe_class_create(SPFE_NAME);
	if (IS_ERR(spfe_class))
		return PTR_ERR(spfe_class);
	err = alloc_chrdev_region(&spfe_first, 0, SPFE_DEVICES_MAX, SPFE_NAME);
	if (err)
		goto err_class;
	spfe_debugfs_init();
	err = spfe_pci_register();
	if (err)
		goto err_chrdev;
	err = spfe_platform_register();
	if (err)
		goto err_pci;
	return 0;

err_pci:
	spfe_pci_unregister();
	spfe_wait_released();
err_chrdev:
	spfe_debugfs_exit();
	unregister_chrdev_region(spfe_first, SPFE_DEVICES_MAX);
err_class:
	class_destroy(spfe_class);
	return err;
}
module_init(spfe_init);

static void __exit spfe_exit(void)
{
	spfe_platform_unregister();
	spfe_pci_unregister();
	spfe_wait_released();
	spfe_debugfs_exit();
	unregister_chrdev_region(spfe_first, SPFE_DEVICES_MAX);
	class_destroy(spfe_class);
	ida_destroy(&spfe_minors);
}
module_exit(spfe_exit);

MODULE_DESCRIPTION("SpaceFibre processor endpoint");
MODULE_LICENSE("GPL");
/* The name of the interface on a fabric port. */
MODULE_ALIAS("vxeth");
#ifdef SPFE_VERSION
MODULE_VERSION(SPFE_VERSION);
#endif
