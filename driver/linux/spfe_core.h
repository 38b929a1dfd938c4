/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spfe: declarations shared by all files of the driver.
 *
 * Lock order, outermost first:
 *
 *	rtnl, devlink instance lock
 *	spfe_device.alive	every call on an open file takes it for reading, removal for
 *				writing: once removal has it, no call is running
 *	mmap_lock of a process	taken by the kernel around mmap(), by the driver to pin and to
 *				account
 *	spfe_device.lock	protects the command latch, tables, lists and all registers except
 *				doorbells; held for as long as a command takes
 *	spfe_client.lock	protects what mmap() and WAIT need of a client; never held while the
 *				device works on a command
 *	spfe_vector.lock	protects the events of one interrupt; also taken in hard interrupts
 *
 * Code that touches user memory, pins or accounts must therefore not hold spfe_device.lock. Objects
 * leave the device under that lock (..._detach) and are freed without it (..._free).
 *
 * Memory is never freed while the device may access it. If the device does not release an object of
 * a closed file, the client stays on spfe_device.kept with its domain, queues and regions. Each
 * check of the heartbeat tries again, and a reset releases all.
 *
 * Lifetimes: the bus driver and each open file hold a reference to struct device, which contains
 * spfe_device. A client lives as long as its file; a mapping holds the file.
 */
#ifndef SPFE_CORE_H
#define SPFE_CORE_H

#include <linux/bitfield.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/dma-direction.h>
#include <linux/idr.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <linux/spfe.h>
#include <spfe/spfe_hw.h>

#define SPFE_NAME "spfe"

/* Most interrupts the driver requests from the bus. Further events share them. */
#define SPFE_VECTORS_MAX 64
/* Most events of one file: their counts must fit into the smallest page. */
#define SPFE_EVENTS_MAX (4096 / sizeof(u32))
/* The event that the driver itself signals when the device fails or is reset. */
#define SPFE_EVENT_OWN 0
/* Region table entries that only the kernel uses, so that its own clients find room. */
#define SPFE_KERNEL_REGIONS 8U
/* Most events of open files that share an interrupt, which signals all of them. */
#define SPFE_VECTOR_EVENTS_MAX 256
/* How often commands are repeated that the device refuses with BUSY, to release one client. */
#define SPFE_BUSY_TRIES 10

struct devlink;
struct devlink_health_reporter;
struct reset_control;
struct spfe_client;
struct spfe_device;
struct spfe_netdev;

enum spfe_state {
	SPFE_WORKING,
	SPFE_FAILED,	/* does not answer, or is being reset; a reset may recover it */
	SPFE_GONE,	/* removed from the bus */
};

/* Operations that depend on the bus. */
struct spfe_bus_ops {
	/* Blocks all DMA of the device, even of a faulty one. False if the bus cannot do that. */
	bool (*dma_off)(struct spfe_device *spfe);
	void (*dma_on)(struct spfe_device *spfe);
	/*
	 * Resets the device by means of the bus. Calls spfe_stop() and spfe_restart(). If dma_off
	 * holds the device in reset, this releases it.
	 */
	int (*reset)(struct spfe_device *spfe);
};

/* Resources of a device as the bus found them. */
struct spfe_resources {
	struct device *parent;
	void __iomem *regs;
	phys_addr_t phys;
	resource_size_t size;
	const struct spfe_bus_ops *ops;
	struct reset_control *reset_line;	/* of a platform device, or NULL */
	const int *irqs;
	unsigned int nirqs;
	bool lines;		/* level-sensitive interrupts, even if the kernel does not say so */
};

/* What is applied to a port after a reset. */
struct spfe_port_settings {
	u32 link_start;
	u32 priority[4];
	u32 channel;
};

/* A port: the places of its register blocks, and its settings. */
struct spfe_port_info {
	struct spfe_device *spfe;
	u32 index;
	u32 at;		/* byte offset of the port block */
	u32 extra_at;	/* byte offset of its broadcast or time-code block, or 0 */
	u32 mib_at;	/* byte offset of the first element of its MIB, or 0 */
	u32 mib_elements;
	u32 pair_at;	/* byte offset of the first element of its pair block, or 0 */
	u32 kind;
	u32 node;	/* own node of a fabric port, or 0 */
	u32 nodes;
	u32 channels;	/* virtual channels to each node */
	u32 peer_at;	/* byte offset of the first element of its peer block, or 0 */
	u32 vcs;
	u32 first_queue;
	u32 queue_count;
	struct spfe_port_settings settings;
	struct attribute_group group;
	struct dev_ext_attribute attrs[3];
	struct attribute *list[4];
	char name[16];
	u32 told;	/* link state that user space was last told of */
};

/* An interrupt and the events that share it. */
struct spfe_vector {
	struct spfe_device *spfe;
	u32 index;
	int irq;
	bool requested;
	bool level;	/* high until the device knows the count that was seen */
	u32 users;	/* number of events; protected by spfe_device.lock */
	spinlock_t lock;
	struct list_head events;
	bool fresh;	/* no interrupt seen since its first event came; protected by lock */
	u32 seen;	/* COUNT at the last look, where it matters; protected by lock */
	u64 fired;
	char name[32];
};

/* Callback of a client in the kernel, called in hard interrupt context. */
typedef void (*spfe_notify_fn)(void *context);

struct spfe_signal {
	struct kref ref;
	struct list_head node;	/* in spfe_vector.events; protected by the lock of the vector */
	struct spfe_vector *vector;
	u32 id;
	u32 *count;		/* word in the counts page of the client, which user space reads */
	bool dead;		/* destroyed: waiters return */
	struct eventfd_ctx *eventfd;
	wait_queue_head_t wait;
	spfe_notify_fn notify;
	void *context;
};

/* Contiguous memory that the driver allocated. */
struct spfe_chunk {
	struct list_head node;
	void *cpu;
	dma_addr_t dma;
	size_t size;
};

/* Memory the device may access: either pinned pages of a process, or chunks. */
struct spfe_region {
	struct list_head node;
	struct spfe_device *spfe;
	u32 index;
	u32 key;
	u32 domain;
	u32 access;
	u64 size;
	u64 base;		/* bus address of the memory or of the page list */
	u32 page_shift;		/* page size of the page list; 0 if the region is contiguous */
	u32 levels;		/* of the page list; 0 if it is one piece */
	u32 options;		/* region_options */
	struct list_head list;	/* chunks of the page list, until the device has read it */
	bool mapped;		/* the pages are mapped for DMA */
	bool indexed;		/* `index` is allocated */
	bool enabled;		/* the device knows the region */
	bool reserved;		/* its size is part of what the driver has allocated */
	u64 offset;		/* mmap offset of chunks */
	enum dma_data_direction direction;
	struct mm_struct *mm;	/* process whose RLIMIT_MEMLOCK it counts against, or NULL */
	unsigned long accounted;
	struct page **pages;
	unsigned long npages;
	struct sg_table table;
	struct list_head chunks;
};

struct spfe_queue_slot {
	struct spfe_client *client;	/* owner, or NULL if free; may be a kept one */
	struct spfe_signal *event;
	/* A queue pair's queue: the other direction of its virtual channel. Otherwise NULL. */
	struct spfe_queue_slot *other;
};

/* An entry of the target of RDMA. */
struct spfe_entry {
	struct spfe_client *client;	/* owner, or NULL if free; may be a kept one */
	const struct spfe_region *region;
	u32 key;
};

/* What the open files of one user have of a device; protected by spfe_device.lock. */
struct spfe_user {
	struct list_head node;
	kuid_t uid;
	u32 clients;
	u32 domains;
	u32 regions;
	u32 pairs;
	u32 entries;
};

/* One user of the device: an open file, or the network interface. */
struct spfe_client {
	struct list_head node;	/* in spfe_device.clients or .kept */
	struct spfe_device *spfe;
	struct spfe_user *user;	/* NULL for a client in the kernel */
	u32 domain;
	u32 epoch;		/* epoch of the device when the client was opened or reset */
	bool writes;		/* may use the device; other files may only ask */
	struct address_space *mapping;
	struct mutex lock;	/* protects mm; `regions` changes under both locks */
	struct mm_struct *mm;	/* the one process that maps and registers memory, or NULL yet */
	struct list_head regions;
	struct xarray events;	/* removal and lookup with a new reference hold `lock` */
	u32 *counts;		/* one page: a count for each event */
	struct page *blank;	/* zero page that mappings show once the device is gone */
	/* Called when the device has released all that the client had, or NULL. */
	void (*released)(void *context);
	void *released_context;
	u64 doorbell_offset;
	u64 counts_offset;
};

/* Numbers of live objects, for debugfs and for tests that look for leaks. */
struct spfe_usage {
	atomic_t clients;
	atomic_t regions;
	atomic_t queues;
	atomic_t events;
	atomic_t vectors;
	atomic_long_t pinned_pages;
	atomic_long_t coherent_bytes;
	atomic_t kept_clients;
};

struct spfe_device {
	struct device dev;
	struct cdev cdev;
	struct device *parent;
	const struct spfe_bus_ops *ops;
	struct reset_control *reset_line;	/* for platform.c */
	void __iomem *regs;
	phys_addr_t phys;
	u32 size;

	struct rw_semaphore alive;
	struct mutex lock;	/* see the lock order above */
	enum spfe_state state;
	bool removed;		/* unbound from the bus: the device never works again */
	bool stuck;		/* failed, and not reset since */
	bool dma_is_off;
	u32 epoch;		/* incremented by every reset */
	u32 sequence;		/* last value written to CFG_SEQ */
	u32 heartbeat;
	u32 resets;
	unsigned int missed;	/* consecutive checks that found HEARTBEAT unchanged */

	/* Read at probe, constant afterwards. */
	u32 contract_version;
	u32 capability;
	u32 packet_max;
	u32 chain_max;
	u32 nports;
	u32 nqueues;
	u32 nregions;
	u32 nevents;
	u32 ndomains;
	u32 nchannels;		/* virtual channels of all ports */
	u32 doorbell_at;
	u32 doorbell_pages;
	u32 doorbell_stride;
	u32 queue_at;
	u32 region_at;
	u32 event_at;
	u32 statistics_at;	/* 0 if the device has no such block */
	u32 target_at;		/* 0 if the device has no such block */
	u32 nentries;		/* of the target; the first `nfixed` are not for the driver */
	u32 nfixed;
	bool bounces;		/* DMA is bounced: user memory cannot be registered */

	struct spfe_port_info *ports;
	struct spfe_queue_slot *queues;
	struct spfe_entry *entries;
	struct spfe_client *listener;	/* reads the notifications of the target, or NULL */
	struct spfe_signal *note_event;	/* what they signal, of the listener */
	struct spfe_vector *vectors;
	u32 nvectors;
	u32 nshared;	/* of these the first are for events */
	bool lines;	/* interrupts are level-sensitive */
	struct spfe_vector *link_vector; /* for link events, or NULL */
	struct work_struct links;
	u32 next_vector; /* where the next search for a vector begins */
	struct ida domains;
	struct ida region_ids;
	struct list_head clients;
	struct list_head users;
	struct list_head kept;	/* closed clients whose objects the device has not released */
	u64 next_offset;	/* next mmap offset; offsets are never reused */
	u64 commands;

	struct delayed_work watch;
	struct work_struct report;
	char failure[96];
	struct devlink *devlink;
	struct devlink_health_reporter *reporter;
	struct dentry *debugfs;
	const struct attribute_group **groups;
	struct spfe_usage usage;
	struct spfe_netdev *netdev;
};

/* Parameters of a queue; the fields are those of struct spfe_queue and struct spfe_pair. */
struct spfe_queue_setup {
	u32 port;
	u32 vc;
	u32 kind;
	u32 options;
	struct spfe_signal *event;
	u32 sq_log2;
	u32 cq_log2;
	u64 sq;
	u64 cq;
	u64 stamps;
	u64 lines;
	u64 area;
	u32 area_bytes;
	u32 filter;
	u64 pair;
	u64 limits;
	u64 path;
	u64 reply;
};

static inline u32 spfe_read(struct spfe_device *spfe, u32 offset)
{
	return readl(spfe->regs + offset);
}

static inline void spfe_write(struct spfe_device *spfe, u32 offset, u32 value)
{
	writel(value, spfe->regs + offset);
}

static inline void spfe_write_pair(struct spfe_device *spfe, u32 offset, u64 value)
{
	spfe_write(spfe, offset, lower_32_bits(value));
	spfe_write(spfe, offset + 4, upper_32_bits(value));
}

/* Writes to a doorbell page; `value` is a doorbell as the contract defines it. */
static inline void spfe_ring(struct spfe_device *spfe, u32 page, u64 value)
{
	writeq(value, spfe->regs + spfe->doorbell_at + page * spfe->doorbell_stride);
}

/* Whether a device that no longer takes commands may still access memory. */
static inline bool spfe_is_loose(const struct spfe_device *spfe)
{
	return spfe->stuck && !spfe->dma_is_off;
}

/* Whether queues of this kind belong to queue pairs. */
static inline bool spfe_is_pair(u32 kind)
{
	return kind == SPFE_QUEUE_KIND_RDMA || kind == SPFE_QUEUE_KIND_RDMA_RX;
}

/* Whether the device has a capability. */
static inline bool spfe_can(const struct spfe_device *spfe, u32 capability)
{
	return spfe->capability & capability;
}

/* main.c */
struct spfe_device *spfe_probe(const struct spfe_resources *resources);
void spfe_remove(struct spfe_device *spfe);

/* discover.c */
int spfe_discover(struct spfe_device *spfe);

/* command.c; all callers hold spfe_device.lock. */
int spfe_state_errno(const struct spfe_device *spfe);
int spfe_status_errno(u32 status);
const char *spfe_status_name(u32 status);
int spfe_command(struct spfe_device *spfe, enum spfe_command command, u32 index, u32 *status);
int spfe_command_patient(struct spfe_device *spfe, enum spfe_command command, u32 index,
			 unsigned int *tries, u32 *status);
void spfe_command_start(struct spfe_device *spfe);
u64 spfe_read_pair(struct spfe_device *spfe, u32 low);
u64 spfe_time(struct spfe_device *spfe);

/* reset.c */
void spfe_fail(struct spfe_device *spfe, enum spfe_state state, const char *why);
const char *spfe_state_name(const struct spfe_device *spfe);
void spfe_stop(struct spfe_device *spfe, const char *why);
int spfe_restart(struct spfe_device *spfe);
int spfe_reset(struct spfe_device *spfe, const char *why);
void spfe_shutdown(struct spfe_device *spfe);
void spfe_sleep(struct spfe_device *spfe);
void spfe_power_off(struct spfe_device *spfe);
void spfe_watch_start(struct spfe_device *spfe);
void spfe_watch_stop(struct spfe_device *spfe);
void spfe_watch_init(struct spfe_device *spfe);

/* port.c */
int spfe_ports_apply(struct spfe_device *spfe);
int spfe_port_apply(struct spfe_device *spfe, u32 port);
u32 spfe_port_state(struct spfe_device *spfe, u32 port);
bool spfe_port_has_node(struct spfe_device *spfe, u32 port, u32 node, u32 *epoch);
void spfe_port_priority(struct spfe_port_settings *settings, u32 vc, u32 priority);
void spfe_links_init(struct spfe_device *spfe);
void spfe_links_check(struct spfe_device *spfe);
void spfe_links_stop(struct spfe_device *spfe);
int spfe_port_query(struct spfe_device *spfe, struct spfe_port *query);
int spfe_port_set(struct spfe_device *spfe, const struct spfe_port_set *set);
int spfe_port_groups(struct spfe_device *spfe);
int spfe_statistics_query(struct spfe_device *spfe, struct spfe_statistics *query);
bool spfe_pair_counters_fit(const struct spfe_port_info *port);
int spfe_pair_counters_query(struct spfe_device *spfe, struct spfe_pair_counters *query);

/* mib.c */
bool spfe_mib_fits(const struct spfe_port_info *port);
int spfe_mib_access(struct spfe_device *spfe, struct spfe_mib *wish, bool may_set);

/* irq.c */
int spfe_irq_setup(struct spfe_device *spfe, const struct spfe_resources *resources);
void spfe_irq_free(struct spfe_device *spfe);
void spfe_irq_restore(struct spfe_device *spfe);
void spfe_irq_links_stop(struct spfe_device *spfe);
void spfe_irq_wake_all(struct spfe_device *spfe);
struct spfe_signal *spfe_event_create(struct spfe_client *client, u32 *count,
				      struct eventfd_ctx *eventfd, spfe_notify_fn notify,
				      void *context);
void spfe_event_detach(struct spfe_signal *event);
void spfe_event_put(struct spfe_signal *event);
void spfe_event_signal(struct spfe_signal *event);
int spfe_event_wait(struct spfe_client *client, struct spfe_signal *event, struct spfe_wait *wait);

/* quota.c; all callers hold spfe_device.lock. */
int spfe_user_enter(struct spfe_client *client);
void spfe_user_leave(struct spfe_client *client);
int spfe_domain_take(struct spfe_client *client);
void spfe_domain_give(struct spfe_client *client);
int spfe_pair_take(struct spfe_client *client);
void spfe_pair_give(struct spfe_client *client);
int spfe_entry_take(struct spfe_client *client);
void spfe_entry_give(struct spfe_client *client);
int spfe_index_take(struct spfe_client *client);
void spfe_index_give(struct spfe_client *client, u32 index);

/* pagelist.c */
int spfe_region_describe(struct spfe_region *region);

/* mem.c; callers of disable and detach hold spfe_device.lock. */
struct spfe_chunk *spfe_chunk_alloc(struct spfe_region *region, size_t size);
int spfe_chunks_alloc(struct spfe_region *region, struct list_head *list, u64 size);
void spfe_chunks_free(struct spfe_device *spfe, struct list_head *list);
struct spfe_region *spfe_region_pin(struct spfe_client *client, u64 address, u64 size, u32 access);
struct spfe_region *spfe_region_alloc(struct spfe_client *client, u64 size, u32 access);
struct spfe_region *spfe_region_local(struct spfe_client *client, u32 access);
int spfe_region_enter(struct spfe_client *client, struct spfe_region *region, u32 *key,
		      u64 *offset);
int spfe_region_disable(struct spfe_client *client, struct spfe_region *region,
			unsigned int *tries);
int spfe_region_detach(struct spfe_client *client, struct spfe_region *region,
		       unsigned int *tries);
void spfe_region_free(struct spfe_region *region);
void spfe_regions_free(struct list_head *list);
int spfe_region_mmap(struct spfe_region *region, struct vm_area_struct *vma, u64 offset);
bool spfe_dma_bounces(struct spfe_device *spfe);

/* queue.c; all callers hold spfe_device.lock. */
int spfe_queue_create(struct spfe_client *client, const struct spfe_queue_setup *setup, u32 *queue,
		      u32 *status);
int spfe_queue_destroy(struct spfe_client *client, u32 queue, unsigned int *tries);
void spfe_queues_forget(struct spfe_device *spfe);

/* target.c; all callers but discovery hold spfe_device.lock. */
int spfe_target_take_block(struct spfe_device *spfe, u32 at, u32 size);
int spfe_target_query(struct spfe_device *spfe, struct spfe_target *query);
int spfe_target_set(struct spfe_client *client, const struct spfe_region *region,
		    struct spfe_target_entry *wish);
int spfe_target_clear(struct spfe_client *client, u32 key);
bool spfe_target_uses(const struct spfe_device *spfe, const struct spfe_region *region);
int spfe_target_listen(struct spfe_client *client, struct spfe_signal *event);
bool spfe_target_signals(const struct spfe_device *spfe, const struct spfe_signal *event);
int spfe_target_take(struct spfe_client *client, struct spfe_target_note *note);
int spfe_target_leave(struct spfe_client *client, unsigned int *tries);
void spfe_target_forget(struct spfe_device *spfe);

/* client.c */
struct spfe_client *spfe_client_open(struct spfe_device *spfe, struct address_space *mapping,
				     bool writes);
void spfe_client_close(struct spfe_client *client);
int spfe_client_check(const struct spfe_client *client);
int spfe_client_empty(struct spfe_client *client, struct list_head *regions, bool keep,
		      unsigned int tries);
void spfe_kept_free(struct spfe_device *spfe);
struct spfe_signal *spfe_event_get(struct spfe_client *client, u32 id);
int spfe_client_bind(struct spfe_client *client);
void spfe_clients_tell(struct spfe_device *spfe);
void spfe_clients_evict(struct spfe_device *spfe);
void spfe_client_settle(struct mm_struct *mm);

/* map.c */
int spfe_mmap(struct file *file, struct vm_area_struct *vma);
u64 spfe_map_offset(struct spfe_device *spfe, u64 size);
u64 spfe_doorbell_bytes(const struct spfe_device *spfe);
void spfe_region_unmap(struct spfe_client *client, const struct spfe_region *region);

/* cdev.c */
extern const struct file_operations spfe_file_operations;

/* devlink.c */
int spfe_devlink_register(struct spfe_device *spfe);
void spfe_devlink_unregister(struct spfe_device *spfe);
void spfe_devlink_report(struct spfe_device *spfe);

/* debugfs.c */
void spfe_debugfs_init(void);
void spfe_debugfs_exit(void);
void spfe_debugfs_add(struct spfe_device *spfe);
void spfe_debugfs_remove(struct spfe_device *spfe);

/* sysfs.c */
extern const struct attribute_group spfe_attribute_group;

/* netdev.c */
int spfe_netdev_add(struct spfe_device *spfe);
void spfe_netdev_remove(struct spfe_device *spfe);
void spfe_netdev_check(struct spfe_device *spfe);
void spfe_netdev_halt(struct spfe_device *spfe);

/* pci.c and platform.c */
int spfe_pci_register(void);
void spfe_pci_unregister(void);
int spfe_platform_register(void);
void spfe_platform_unregister(void);

#endif
