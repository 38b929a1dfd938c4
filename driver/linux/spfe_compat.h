/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: differences between the kernels that this driver supports, 6.1 to 6.12. Each entry names
 * the first version that no longer needs it; the rest of the driver uses the newer interface.
 */
#ifndef SPFE_COMPAT_H
#define SPFE_COMPAT_H

#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/eventfd.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/platform_device.h>
#include <linux/version.h>
#include <net/devlink.h>

/* 6.8: eventfd_signal() has no count. */
static inline void spfe_eventfd_signal(struct eventfd_ctx *context)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	eventfd_signal(context, 1);
#else
	eventfd_signal(context);
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

/* 6.4: devlink reload no longer has to be enabled. */
static inline void spfe_devlink_allow_reload(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
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
