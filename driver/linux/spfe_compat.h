/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: differences between the kernels that this driver supports, 5.15 to 6.12, and those that
 * 5.10 needs to compile. Each entry names the first version that no longer needs it; the rest of
 * the driver uses the newer interface.
 */
#ifndef SPFE_COMPAT_H
#define SPFE_COMPAT_H

#include <linux/etherdevice.h>
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/ethtool.h>
#include <linux/eventfd.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/version.h>
#include <net/devlink.h>

/* 6.12: the header has this name. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <asm/unaligned.h>
#else
#include <linux/unaligned.h>
#endif

/* 5.15 and 5.17: these operations have more arguments, of which this driver needs none. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#define SPFE_COALESCE_OP(name, call)						\
static int name(struct net_device *net, struct ethtool_coalesce *values)	\
{										\
	return call(net, values);						\
}
#else
#define SPFE_COALESCE_OP(name, call)						\
static int name(struct net_device *net, struct ethtool_coalesce *values,	\
		struct kernel_ethtool_coalesce *more, struct netlink_ext_ack *ack) \
{										\
	return call(net, values);						\
}
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
#define SPFE_RING_OP(result, name, call)					\
static result name(struct net_device *net, struct ethtool_ringparam *values)	\
{										\
	return call(net, values);						\
}
#else
#define SPFE_RING_OP(result, name, call)					\
static result name(struct net_device *net, struct ethtool_ringparam *values,	\
		   struct kernel_ethtool_ringparam *more, struct netlink_ext_ack *ack) \
{										\
	return call(net, values);						\
}
#endif

/* 6.8: eventfd_signal() has no count. */
static inline void spfe_eventfd_signal(struct eventfd_ctx *context)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(context, 1);
#else
	eventfd_signal(context);
#endif
}

/* 5.17: a function marks a queue as alive for who does not hold its lock. */
static inline void spfe_txq_alive(struct netdev_queue *queue)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
	WRITE_ONCE(queue->trans_start, jiffies);
#else
	txq_trans_cond_update(queue);
#endif
}

/*
 * Flags to pin memory that the device only reads. 6.2: FOLL_LONGTERM alone replaces a page that is
 * still shared. Older kernels pin the shared page (often the zero page), and the next write of the
 * process goes to another page. On these kernels a write fault makes the page the process's own
 * before the pin; FOLL_FORCE allows this in private mappings that the process may only read.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define SPFE_PIN_READ_FLAGS (FOLL_LONGTERM | FOLL_WRITE | FOLL_FORCE)
#else
#define SPFE_PIN_READ_FLAGS FOLL_LONGTERM
#endif

/* 6.4: a class has no owner. */
static inline struct class *spfe_class_create(const char *name)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	return class_create(THIS_MODULE, name);
#else
	return class_create(name);
#endif
}

/* 6.3: functions change the flags of a mapping. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

/*
 * Whether the CPU and the device may see different bytes at a mapped address, because DMA is
 * bounced or caches are not coherent. 6.10: dma_need_sync() inspects the mapping; older kernels
 * return true for everything behind an IOMMU.
 */
static inline bool spfe_dma_needs_sync(struct device *dev, dma_addr_t address)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (domain && domain->type & __IOMMU_DOMAIN_PAGING)
		return !dev_is_dma_coherent(dev);
#endif
	return dma_need_sync(dev, address);
}

/* 5.15: has a function for this. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
static inline int sg_alloc_table_from_pages_segment(struct sg_table *table, struct page **pages,
						    unsigned int count, unsigned int offset,
						    unsigned long size, unsigned int segment,
						    gfp_t flags)
{
	return PTR_ERR_OR_ZERO(__sg_alloc_table_from_pages(table, pages, count, offset, size,
							   segment, NULL, 0, flags));
}
#endif

/* 5.11: has these functions. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
static inline void dev_sw_netstats_tx_add(struct net_device *net, unsigned int packets,
					  unsigned int bytes)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(net->tstats);

	u64_stats_update_begin(&stats->syncp);
	stats->tx_packets += packets;
	stats->tx_bytes += bytes;
	u64_stats_update_end(&stats->syncp);
}

static inline void dev_get_tstats64(struct net_device *net, struct rtnl_link_stats64 *stats)
{
	netdev_stats_to_stats64(stats, &net->stats);
	dev_fetch_sw_netstats(stats, net->tstats);
}
#endif

/* 5.15: addresses of interfaces are set by a function. */
static inline void spfe_net_address_set(struct net_device *net, const u8 *address)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	ether_addr_copy(net->dev_addr, address);
#else
	eth_hw_addr_set(net, address);
#endif
}

/* 6.1: netif_napi_add() has no weight. */
static inline void spfe_napi_add(struct net_device *net, struct napi_struct *napi,
				 int (*poll)(struct napi_struct *, int))
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
	netif_napi_add(net, napi, poll, NAPI_POLL_WEIGHT);
#else
	netif_napi_add(net, napi, poll);
#endif
}

/* 5.15: devlink_alloc() takes the device. */
static inline struct devlink *spfe_devlink_alloc(const struct devlink_ops *ops, size_t size,
						 struct device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	return devlink_alloc(ops, size);
#else
	return devlink_alloc(ops, size, dev);
#endif
}

/*
 * 5.16: devlink_register() makes a complete instance visible and cannot fail. On older kernels it
 * comes before anything is added to the instance.
 */
static inline int spfe_devlink_begin(struct devlink *devlink, struct device *dev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	return devlink_register(devlink, dev);
#elif LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
	return devlink_register(devlink);
#else
	return 0;
#endif
}

static inline void spfe_devlink_undo_begin(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
	devlink_unregister(devlink);
#endif
}

/*
 * 6.4: devlink reload no longer has to be enabled. Versions of 5.15 do this in different ways, so
 * there is no reload before 5.16.
 */
static inline void spfe_devlink_complete(struct devlink *devlink)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 16, 0)
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
	devlink_register(devlink);
#endif
}

/* 6.3: devlink fills in the name of the driver. */
static inline int spfe_devlink_driver_name(struct devlink_info_req *request)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	return devlink_info_driver_name_put(request, KBUILD_MODNAME);
#else
	return 0;
#endif
}

/* 6.8: the flag for the interrupt line of a device has this name. */
#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

/* 6.10: __assign_str() takes the source from the declaration of the string. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define SPFE_TRACE_DEVICE(spfe) __assign_str(device, dev_name(&(spfe)->dev))
#else
#define SPFE_TRACE_DEVICE(spfe) __assign_str(device)
#endif

/* 6.11: the remove function of a platform driver returns nothing. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define spfe_removed_t int
#define SPFE_REMOVED 0
#else
#define spfe_removed_t void
#define SPFE_REMOVED
#endif

#endif
