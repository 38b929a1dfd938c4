// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test module: queues that do not stop. The driver's command QUEUE_DISABLE never reaches the device
 * for the queue contexts in the mask `queues`; the driver sees the status BUSY instead. The device
 * goes on using the queue and, as it should, does not give up the memory of its rings either. With
 * `resets`, the command RESET fails in the same way. With `masters`, no PCI device turns its bus
 * mastering off. Load the module after the driver.
 */
#include <linux/bits.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include <spfe/spfe_hw.h>

static ulong queues;
module_param(queues, ulong, 0644);
MODULE_PARM_DESC(queues, "Mask of queue contexts that do not stop");

static bool resets;
module_param(resets, bool, 0644);
MODULE_PARM_DESC(resets, "Resets fail");

static bool masters;
module_param(masters, bool, 0644);
MODULE_PARM_DESC(masters, "Bus mastering stays on");

static bool busy_is(u32 command, u32 index)
{
	if (command == SPFE_COMMAND_QUEUE_DISABLE)
		return index < BITS_PER_LONG && READ_ONCE(queues) & BIT(index);
	return command == SPFE_COMMAND_RESET && READ_ONCE(resets);
}

/* Takes the place of spfe_command(). */
static noinline int busy_command(void *device, u32 command, u32 index, u32 *status)
{
	*status = SPFE_STATUS_BUSY;
	return 0;
}

static int busy_enter(struct kprobe *probe, struct pt_regs *regs)
{
	u32 command = regs_get_kernel_argument(regs, 1), index = regs_get_kernel_argument(regs, 2);

	if (!busy_is(command, index))
		return 0;
	instruction_pointer_set(regs, (unsigned long)busy_command);
	return 1;
}

/* Only a probe with such a handler may change the instruction pointer. */
static void busy_leave(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

/* Takes the place of pci_clear_master(). */
static noinline void busy_master(void *device)
{
}

static int busy_enter_master(struct kprobe *probe, struct pt_regs *regs)
{
	if (!READ_ONCE(masters))
		return 0;
	instruction_pointer_set(regs, (unsigned long)busy_master);
	return 1;
}

static struct kprobe busy_master_probe = {
	.symbol_name = "pci_clear_master",
	.pre_handler = busy_enter_master,
	.post_handler = busy_leave,
};

static struct kprobe busy_probe = {
	.symbol_name = "spfe:spfe_command",
	.pre_handler = busy_enter,
	.post_handler = busy_leave,
};

static int __init busy_init(void)
{
	int err = register_kprobe(&busy_probe);

	if (err)
		return err;
	err = register_kprobe(&busy_master_probe);
	if (err)
		unregister_kprobe(&busy_probe);
	return err;
}
module_init(busy_init);

static void __exit busy_exit(void)
{
	unregister_kprobe(&busy_master_probe);
	unregister_kprobe(&busy_probe);
}
module_exit(busy_exit);

MODULE_DESCRIPTION("SpaceFibre processor endpoint: queues that do not stop, for tests");
MODULE_LICENSE("GPL");
