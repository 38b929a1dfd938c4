// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test module: makes one error of each kind that the debug kernel must report. It shows that the
 * detectors work; without that, a run without a report would prove nothing.
 *
 *	echo NAME >/sys/module/spfe_faulty/parameters/fault
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#define BYTES 100

static struct platform_device *device;
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);
/* A parameter and a volatile, so that the compiler neither sees the errors nor removes them. */
static unsigned int beyond = BYTES;
module_param(beyond, uint, 0600);
MODULE_PARM_DESC(beyond, "offset of wrong accesses, and number of bits of the wrong shift");
static volatile u8 sink;

static void lock_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void sleep_in_atomic(void)
{
	spin_lock(&spin);
	usleep_range(1, 2);
	spin_unlock(&spin);
}

static void use_after_free(void)
{
	volatile u8 *memory = kmalloc(BYTES, GFP_KERNEL);

	if (!memory)
		return;
	kfree((void *)memory);
	sink = memory[beyond / 2];
}

static void out_of_bounds(void)
{
	volatile u8 *memory = kmalloc(BYTES, GFP_KERNEL);

	if (!memory)
		return;
	sink = memory[beyond];
	kfree((void *)memory);
}

static void vmalloc_out_of_bounds(void)
{
	volatile u8 *memory = vmalloc(BYTES);

	if (!memory)
		return;
	sink = memory[beyond];
	vfree((void *)memory);
}

static void dma_size(void)
{
	void *memory = kmalloc(BYTES, GFP_KERNEL);
	dma_addr_t address;

	if (!memory)
		return;
	address = dma_map_single(&device->dev, memory, BYTES, DMA_TO_DEVICE);
	if (!dma_mapping_error(&device->dev, address))
		dma_unmap_single(&device->dev, address, BYTES / 2, DMA_TO_DEVICE);
	kfree(memory);
}

static void nothing(struct work_struct *work)
{
}

static void free_active(void)
{
	struct delayed_work *work = kmalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, nothing);
	schedule_delayed_work(work, 60 * HZ);
	kfree(work);
}

static void shift(void)
{
	sink = 1U << beyond;
}

static void leak(void)
{
	void *memory = kmalloc(BYTES, GFP_KERNEL);

	/* The only pointer to it ends here. */
	OPTIMIZER_HIDE_VAR(memory);
}

static const struct {
	const char *name;
	void (*make)(void);
} faults[] = {
	{ "lock-order", lock_order },
	{ "sleep-in-atomic", sleep_in_atomic },
	{ "use-after-free", use_after_free },
	{ "out-of-bounds", out_of_bounds },
	{ "vmalloc-out-of-bounds", vmalloc_out_of_bounds },
	{ "dma-size", dma_size },
	{ "free-active", free_active },
	{ "shift", shift },
	{ "leak", leak },
};

static int fault_set(const char *value, const struct kernel_param *parameter)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (sysfs_streq(value, faults[i].name)) {
			faults[i].make();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops fault_ops = { .set = fault_set };
module_param_cb(fault, &fault_ops, NULL, 0200);
MODULE_PARM_DESC(fault, "error to make, by name");

static int __init faulty_init(void)
{
	device = platform_device_register_simple("spfe_faulty", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	return dma_coerce_mask_and_coherent(&device->dev, DMA_BIT_MASK(64));
}
module_init(faulty_init);

static void __exit faulty_exit(void)
{
	platform_device_unregister(device);
}
module_exit(faulty_exit);

MODULE_DESCRIPTION("SpaceFibre processor endpoint: errors that a debug kernel must report, for tests");
MODULE_LICENSE("GPL");
