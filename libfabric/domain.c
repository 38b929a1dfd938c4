/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Domains and memory regions. */
#include "provider.h"

int spfi_no_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	(void)fid, (void)other, (void)flags;
	return -FI_ENOSYS;
}

int spfi_no_control(struct fid *fid, int command, void *arg)
{
	(void)fid, (void)command, (void)arg;
	return -FI_ENOSYS;
}

int spfi_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	(void)fid, (void)name, (void)flags, (void)ops, (void)context;
	return -FI_ENOSYS;
}

/* ------------------------------------------------------------------------------------------------
 * Memory regions
 */

static int close_region(struct fid *fid)
{
	struct spfi_mr *mr = container_of(fid, struct spfi_mr, fid.fid);
	struct spfi_domain *domain = mr->domain;
	size_t i;

	pthread_mutex_lock(&domain->lock);
	spfi_region_closed(mr);
	for (i = 0; i < SPFI_COUNT(mr->events); i++) {
		if (mr->events[i]) {
			mr->events[i]->users--;
			mr->events[i]->regions--;
		}
	}
	list_remove(&mr->link);
	domain->users--;
	pthread_mutex_unlock(&domain->lock);
	free(mr);
	return 0;
}

/* A counter of what others do with the region. An endpoint may be named; all of the domain reach it. */
static int bind_region(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct spfi_mr *mr = container_of(fid, struct spfi_mr, fid.fid);
	struct spfi_cntr *cntr = container_of(other, struct spfi_cntr, fid.fid);
	const uint64_t which[] = {FI_REMOTE_WRITE, FI_REMOTE_READ};
	int result = 0;
	size_t i;

	if (other->fclass == FI_CLASS_EP)
		return 0;
	if (other->fclass != FI_CLASS_CNTR || cntr->domain != mr->domain || !flags ||
	    flags & ~(which[0] | which[1]))
		return -FI_EINVAL;
	pthread_mutex_lock(&mr->domain->lock);
	for (i = 0; i < SPFI_COUNT(which); i++)
		if (flags & which[i] && mr->events[i])
			result = -FI_EINVAL;
	for (i = 0; !result && i < SPFI_COUNT(which); i++) {
		if (flags & which[i]) {
			mr->events[i] = cntr;
			cntr->users++;
			cntr->regions++;
		}
	}
	pthread_mutex_unlock(&mr->domain->lock);
	return result;
}

static int control_region(struct fid *fid, int command, void *arg)
{
	struct spfi_mr *mr = container_of(fid, struct spfi_mr, fid.fid);

	(void)arg;
	if (command != FI_ENABLE)
		return -FI_ENOSYS;
	mr->enabled = true;
	return 0;
}

static struct fi_ops region_ops = {
	.size = sizeof(struct fi_ops),
	.close = close_region,
	.bind = bind_region,
	.control = control_region,
	.ops_open = spfi_no_ops_open,
};

static struct spfi_mr *region_of(struct spfi_domain *domain, uint64_t key)
{
	struct list *at;

	for (at = domain->regions.next; at != &domain->regions; at = at->next) {
		struct spfi_mr *mr = container_of(at, struct spfi_mr, link);

		if (mr->fid.key == key)
			return mr;
	}
	return NULL;
}

static bool basic(const struct spfi_domain *domain, int bit)
{
	return domain->mr_mode == SPFI_MR_BASIC ||
	       (domain->mr_mode != SPFI_MR_SCALABLE && domain->mr_mode & bit);
}

/* On success the address becomes an offset in the region. */
struct spfi_mr *spfi_mr_find(struct spfi_domain *domain, uint64_t key, uint64_t *address,
			     uint64_t length, uint64_t access, uint32_t *status)
{
	struct spfi_mr *mr = region_of(domain, key);
	uint64_t offset = *address;

	*status = FI_EACCES;
	if (!mr || !mr->enabled || (mr->access & access) != access)
		return NULL;
	if (basic(domain, FI_MR_VIRT_ADDR))
		offset -= (uint64_t)(uintptr_t)mr->base; /* wraps below the base, and is too large */
	if (offset > mr->length || length > mr->length - offset) {
		*status = FI_EINVAL;
		return NULL;
	}
	*status = 0;
	*address = offset;
	return mr;
}

static int register_attr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
			 struct fid_mr **out)
{
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid.fid);
	const uint64_t all = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
			     FI_REMOTE_WRITE | FI_COLLECTIVE;
	struct spfi_mr *mr;

	if (fid->fclass != FI_CLASS_DOMAIN || flags & ~(uint64_t)FI_RMA_EVENT)
		return -FI_EINVAL;
	if (attr->iov_count != 1 || !attr->mr_iov || attr->access & ~all) {
		WARN(FI_LOG_MR, "a region of %zu parts with access %#llx: one part and the "
		     "rights %#llx are allowed\n", attr->iov_count,
		     (unsigned long long)attr->access, (unsigned long long)all);
		return -FI_EINVAL;
	}
	if (attr->iface != FI_HMEM_SYSTEM)
		return -FI_ENOSYS;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = attr->context;
	mr->fid.fid.ops = &region_ops;
	mr->fid.mem_desc = mr;
	mr->domain = domain;
	mr->base = attr->mr_iov[0].iov_base;
	mr->length = attr->mr_iov[0].iov_len;
	mr->access = attr->access;
	mr->enabled = true;

	pthread_mutex_lock(&domain->lock);
	if (basic(domain, FI_MR_PROV_KEY)) {
		mr->fid.key = domain->next_key++;
	} else if (region_of(domain, attr->requested_key)) {
		pthread_mutex_unlock(&domain->lock);
		free(mr);
		return -FI_ENOKEY;
	} else {
		mr->fid.key = attr->requested_key;
	}
	list_append(&domain->regions, &mr->link);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	*out = &mr->fid;
	return 0;
}

static int register_parts(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access,
			  uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr,
			  void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = count,
		.access = access,
		.offset = offset,
		.requested_key = key,
		.context = context,
	};

	return register_attr(fid, &attr, flags, mr);
}

static int register_one(struct fid *fid, const void *buf, size_t length, uint64_t access,
			uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr,
			void *context)
{
	struct iovec iov = {(void *)buf, length};

	return register_parts(fid, &iov, 1, access, offset, key, flags, mr, context);
}

/* ------------------------------------------------------------------------------------------------
 * Domains
 */

static int close_domain(struct fid *fid)
{
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid.fid);

	if (domain->users) {
		WARN(FI_LOG_DOMAIN, "the domain has %d open objects: close them first\n",
		     domain->users);
		return -FI_EBUSY;
	}
	pthread_mutex_destroy(&domain->lock);
	free(domain);
	return 0;
}

static int bind_domain(struct fid *fid, struct fid *other, uint64_t flags)
{
	(void)fid, (void)flags;
	return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;
}

static int no_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		       void *context)
{
	(void)domain, (void)info, (void)ep, (void)context;
	return -FI_ENOSYS;
}

static int no_poll(struct fid_domain *domain, struct fi_poll_attr *attr, struct fid_poll **poll)
{
	(void)domain, (void)attr, (void)poll;
	return -FI_ENOSYS;
}

int spfi_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **out,
		     void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_domain,
		.bind = bind_domain,
		.control = spfi_no_control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_domain ops = {
		.size = sizeof(struct fi_ops_domain),
		.av_open = spfi_av_open,
		.cq_open = spfi_cq_open,
		.endpoint = spfi_ep_open,
		.scalable_ep = no_endpoint,
		.cntr_open = spfi_cntr_open,
		.poll_open = no_poll,
		.stx_ctx = spfi_stx_open,
		.srx_ctx = spfi_srx_open,
		.query_atomic = spfi_query_atomic,
	};
	static struct fi_ops_mr mr_ops = {
		.size = sizeof(struct fi_ops_mr),
		.reg = register_one,
		.regv = register_parts,
		.regattr = register_attr,
	};
	struct spfi_domain *domain = calloc(1, sizeof(*domain));

	(void)fabric;
	if (!domain)
		return -FI_ENOMEM;
	if (pthread_mutex_init(&domain->lock, NULL)) {
		free(domain);
		return -FI_ENOMEM;
	}
	list_init(&domain->endpoints);
	list_init(&domain->regions);
	domain->next_key = 1;
	domain->mr_mode = info && info->domain_attr ? info->domain_attr->mr_mode : 0;
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &fid_ops;
	domain->fid.ops = &ops;
	domain->fid.mr = &mr_ops;
	*out = &domain->fid;
	return 0;
}
