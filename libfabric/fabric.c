/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The entry point of the provider: what it offers, and the fabric. */
#include <stdio.h>
#include <unistd.h>

#include "provider.h"

#define CAPS_TX (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE)
#define CAPS_RX                                                                                    \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE |    \
	 FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE | FI_RMA_EVENT)
#define CAPS_DOMAIN (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define CAPS (CAPS_TX | CAPS_RX | CAPS_DOMAIN)
#define CAPS_DGRAM                                                                                 \
	(FI_MSG | FI_SEND | FI_RECV | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE | CAPS_DOMAIN)

/* All traffic between two nodes takes one virtual channel, which keeps the order. */
#define ORDER                                                                                      \
	(FI_ORDER_SAS | FI_ORDER_WAW | FI_ORDER_WAS | FI_ORDER_SAW | FI_ORDER_RAW | FI_ORDER_RAS | \
	 FI_ORDER_RMA_WAW | FI_ORDER_RMA_RAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |         \
	 FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW)
#define TX_FLAGS                                                                                   \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)
#define RX_FLAGS (FI_COMPLETION | FI_MULTI_RECV)
#define MR_MODES (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

static int reject(const char *what)
{
	FI_INFO(&spfi_provider, FI_LOG_CORE, "not offered: %s\n", what);
	return -FI_ENODATA;
}

static int check_tx(const struct fi_tx_attr *tx)
{
	if (tx->caps & ~(uint64_t)(CAPS_TX | CAPS_DOMAIN))
		return reject("capabilities of tx_attr");
	if (tx->op_flags & ~(uint64_t)TX_FLAGS)
		return reject("op_flags of tx_attr");
	if (tx->msg_order & ~(uint64_t)ORDER)
		return reject("msg_order of tx_attr");
	if (tx->comp_order)
		return reject("comp_order of tx_attr");
	if (tx->inject_size > SPFI_INJECT || tx->size > SPFI_TX_SIZE || tx->iov_limit > SPFI_IOV ||
	    tx->rma_iov_limit > 1)
		return reject("a size of tx_attr");
	return 0;
}

static int check_rx(const struct fi_rx_attr *rx)
{
	if (rx->caps & ~(uint64_t)(CAPS_RX | CAPS_DOMAIN))
		return reject("capabilities of rx_attr");
	if (rx->op_flags & ~(uint64_t)RX_FLAGS)
		return reject("op_flags of rx_attr");
	if (rx->msg_order & ~(uint64_t)ORDER)
		return reject("msg_order of rx_attr");
	if (rx->comp_order)
		return reject("comp_order of rx_attr");
	if (rx->size > SPFI_RX_SIZE || rx->iov_limit > SPFI_IOV)
		return reject("a size of rx_attr");
	return 0;
}

static int check_ep(const struct fi_ep_attr *ep)
{
	if (ep->type != FI_EP_UNSPEC && ep->type != FI_EP_RDM && ep->type != FI_EP_DGRAM)
		return reject("endpoint type");
	if (ep->protocol != FI_PROTO_UNSPEC && ep->protocol != SPFI_FORMAT)
		return reject("protocol");
	if (ep->max_msg_size > SPFI_MAX_MSG)
		return reject("max_msg_size");
	if ((ep->tx_ctx_cnt > 1 && ep->tx_ctx_cnt != FI_SHARED_CONTEXT) ||
	    (ep->rx_ctx_cnt > 1 && ep->rx_ctx_cnt != FI_SHARED_CONTEXT))
		return reject("several contexts");
	if (ep->auth_key_size)
		return reject("authorization keys");
	return 0;
}

static int check_domain(const struct fi_domain_attr *domain)
{
	if (domain->name && strcmp(domain->name, "spfe"))
		return reject("domain name");
	if (domain->control_progress == FI_PROGRESS_AUTO ||
	    domain->data_progress == FI_PROGRESS_AUTO)
		return reject("automatic progress");
	if (domain->caps & ~(uint64_t)CAPS_DOMAIN)
		return reject("capabilities of domain_attr");
	if (domain->mr_key_size > sizeof(uint64_t) || domain->cq_data_size > sizeof(uint64_t))
		return reject("size of key or CQ data");
	if (domain->auth_key_size)
		return reject("authorization keys");
	return 0;
}

static int check(const struct fi_info *hints)
{
	int result = 0;

	if (hints->caps & ~(uint64_t)CAPS)
		return reject("capabilities");
	if (hints->addr_format != FI_FORMAT_UNSPEC && hints->addr_format != SPFI_FORMAT)
		return reject("address format");
	if (hints->fabric_attr && hints->fabric_attr->name &&
	    strcmp(hints->fabric_attr->name, "SpaceFibre"))
		return reject("fabric name");
	if (hints->tx_attr)
		result = check_tx(hints->tx_attr);
	if (!result && hints->rx_attr)
		result = check_rx(hints->rx_attr);
	if (!result && hints->ep_attr)
		result = check_ep(hints->ep_attr);
	if (!result && hints->domain_attr)
		result = check_domain(hints->domain_attr);
	return result;
}

/* A utility provider of libfabric asks. Only its source has the name, OFI_CORE_PROV_ONLY. */
#define FROM_UTILITY (UINT64_C(1) << 59)

/* Whether there are endpoints of this type with what the hints ask for, which check() has allowed.
 * Datagrams are messages of limited size, which are not lost either. ofi_rxd would make of them the
 * reliable endpoints that exist already, and libfabric would list those first.
 */
static bool offers(enum fi_ep_type type, const struct fi_info *hints, uint64_t flags)
{
	const struct fi_ep_attr *ep = hints ? hints->ep_attr : NULL;
	uint64_t caps = hints ? hints->caps : 0;

	if (ep && ep->type != FI_EP_UNSPEC && ep->type != type)
		return false;
	if (type == FI_EP_RDM)
		return true;
	if (flags & FROM_UTILITY)
		return false;
	if (hints && hints->tx_attr)
		caps |= hints->tx_attr->caps;
	if (hints && hints->rx_attr)
		caps |= hints->rx_attr->caps;
	return !(caps & ~(uint64_t)CAPS_DGRAM) && (!ep || ep->max_msg_size <= SPFI_MAX_DGRAM);
}

/* The registration mode: what the program permits of what we can do; 0 is always possible. */
static int mr_mode(uint32_t version, const struct fi_info *hints)
{
	int wanted = hints && hints->domain_attr ? hints->domain_attr->mr_mode : SPFI_MR_UNSPEC;

	if (wanted == SPFI_MR_BASIC)
		return SPFI_MR_BASIC;
	if (wanted == SPFI_MR_SCALABLE)
		return SPFI_MR_SCALABLE;
	if (wanted == SPFI_MR_UNSPEC)
		return FI_VERSION_LT(version, FI_VERSION(1, 5)) ? SPFI_MR_SCALABLE
			: hints ? 0 : MR_MODES;
	return wanted & MR_MODES;
}

static void describe(struct fi_info *info, enum fi_ep_type type, uint32_t version,
		     const struct fi_info *hints)
{
	const struct fi_ep_attr *ep = hints ? hints->ep_attr : NULL;
	uint64_t all = type == FI_EP_RDM ? CAPS : CAPS_DGRAM;
	bool rma;

	info->caps = hints && hints->caps ? hints->caps : all;
	rma = info->caps & (FI_RMA | FI_ATOMIC);
	/* Without modifiers a capability means both directions. */
	if (!(info->caps & (FI_SEND | FI_RECV)) && info->caps & (FI_MSG | FI_TAGGED))
		info->caps |= FI_SEND | FI_RECV;
	if (rma && !(info->caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
		info->caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	info->caps |= CAPS_DOMAIN;
	info->mode = 0;
	info->addr_format = SPFI_FORMAT;

	*info->tx_attr = (struct fi_tx_attr){
		.caps = info->caps & CAPS_TX,
		.op_flags = hints && hints->tx_attr ? hints->tx_attr->op_flags : 0,
		.msg_order = ORDER,
		.inject_size = SPFI_INJECT,
		.size = SPFI_TX_SIZE,
		.iov_limit = SPFI_IOV,
		.rma_iov_limit = rma,
	};
	*info->rx_attr = (struct fi_rx_attr){
		.caps = info->caps & CAPS_RX,
		.op_flags = hints && hints->rx_attr ? hints->rx_attr->op_flags : 0,
		.msg_order = ORDER,
		.total_buffered_recv = 0,
		.size = SPFI_RX_SIZE,
		.iov_limit = SPFI_IOV,
	};
	*info->ep_attr = (struct fi_ep_attr){
		.type = type,
		.protocol = SPFI_FORMAT,
		.protocol_version = WIRE_VERSION,
		.max_msg_size = spfi_max_msg(type),
		.max_order_raw_size = rma ? SPFI_MAX_MSG : 0,
		.max_order_war_size = 0,
		.max_order_waw_size = rma ? SPFI_MAX_MSG : 0,
		.mem_tag_format = UINT64_MAX,
		.tx_ctx_cnt = ep && ep->tx_ctx_cnt == FI_SHARED_CONTEXT ? FI_SHARED_CONTEXT : 1,
		.rx_ctx_cnt = ep && ep->rx_ctx_cnt == FI_SHARED_CONTEXT ? FI_SHARED_CONTEXT : 1,
	};
	*info->domain_attr = (struct fi_domain_attr){
		.name = strdup("spfe"),
		.threading = FI_THREAD_SAFE,
		.control_progress = FI_PROGRESS_MANUAL,
		.data_progress = FI_PROGRESS_MANUAL,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = hints && hints->domain_attr ? hints->domain_attr->av_type
						       : FI_AV_UNSPEC,
		.mr_mode = mr_mode(version, hints),
		.mr_key_size = sizeof(uint64_t),
		.cq_data_size = sizeof(uint64_t),
		.cq_cnt = 1024,
		.ep_cnt = SPFI_NODES,
		.tx_ctx_cnt = SPFI_NODES,
		.rx_ctx_cnt = SPFI_NODES,
		.max_ep_tx_ctx = 1,
		.max_ep_rx_ctx = 1,
		.max_ep_stx_ctx = SPFI_NODES,
		.max_ep_srx_ctx = SPFI_NODES,
		.cntr_cnt = 1024,
		.mr_iov_limit = 1,
		.caps = CAPS_DOMAIN,
		.mr_cnt = 65536,
	};
	*info->fabric_attr = (struct fi_fabric_attr){
		.name = strdup("SpaceFibre"),
		.prov_version = spfi_provider.version,
		.api_version = version,
	};
}

static void *copy_address(struct spfi_address address, size_t *length)
{
	struct spfi_address *copy = malloc(sizeof(*copy));

	if (copy) {
		*copy = address;
		*length = sizeof(*copy);
	}
	return copy;
}

/* Fills in the addresses from strings, or from the hints. */
static int addresses(struct fi_info *info, unsigned nodes, const char *node, const char *service,
		     uint64_t flags, const struct fi_info *hints)
{
	struct spfi_address source = spfi_address_of(SPFI_ANY_NODE, 0), dest;
	int result;

	if (flags & FI_SOURCE) {
		if (service && (result = spfi_resolve(NULL, service, nodes, &source)))
			return result;
	} else if (node || service) {
		result = spfi_resolve(node, service, nodes, &dest);
		if (result)
			return result;
		info->dest_addr = copy_address(dest, &info->dest_addrlen);
		if (!info->dest_addr)
			return -FI_ENOMEM;
	}
	if (hints && hints->dest_addr && !info->dest_addr) {
		if (hints->dest_addrlen != sizeof(dest) || !spfi_address_valid(hints->dest_addr))
			return reject("destination address");
		info->dest_addr = copy_address(*(struct spfi_address *)hints->dest_addr,
					       &info->dest_addrlen);
	}
	if (hints && hints->src_addr && !(flags & FI_SOURCE)) {
		if (hints->src_addrlen != sizeof(source) || !spfi_address_valid(hints->src_addr))
			return reject("source address");
		source.node = ((struct spfi_address *)hints->src_addr)->node;
	}
	info->src_addr = copy_address(source, &info->src_addrlen);
	return info->src_addr ? 0 : -FI_ENOMEM;
}

static int spfi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
			const struct fi_info *hints, struct fi_info **out)
{
	static const enum fi_ep_type types[] = {FI_EP_RDM, FI_EP_DGRAM};
	struct fi_info *first = NULL, **next = &first;
	spfe_endpoint *device;
	int nodes, result;
	size_t i;

	if (hints && (result = check(hints)))
		return result;
	result = spfi_network_device(&device);
	if (result)
		return -FI_ENODATA;
	nodes = spfi_network_nodes(device);
	spfe_close(device);
	if (nodes < 0)
		return -FI_ENODATA;

	for (i = 0; i < SPFI_COUNT(types); i++) {
		if (!offers(types[i], hints, flags))
			continue;
		*next = fi_allocinfo();
		result = -FI_ENOMEM;
		if (*next) {
			describe(*next, types[i], version, hints);
			result = addresses(*next, (unsigned)nodes, node, service, flags, hints);
		}
		if (result) {
			fi_freeinfo(first);
			return result;
		}
		next = &(*next)->next;
	}
	*out = first;
	return first ? 0 : reject("datagrams with these capabilities or of this size");
}

static int close_fabric(struct fid *fid)
{
	free(container_of(fid, struct spfi_fabric, fid.fid));
	return 0;
}

static int no_wait_set(struct fid_fabric *fabric, struct fi_wait_attr *attr, struct fid_wait **wait)
{
	(void)fabric, (void)attr, (void)wait;
	return -FI_ENOSYS;
}

static int no_passive(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		      void *context)
{
	(void)fabric, (void)info, (void)pep, (void)context;
	return -FI_ENOSYS;
}

int spfi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out, void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_fabric,
		.bind = spfi_no_bind,
		.control = spfi_no_control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_fabric ops = {
		.size = sizeof(struct fi_ops_fabric),
		.domain = spfi_domain_open,
		.passive_ep = no_passive,
		.eq_open = spfi_eq_open,
		.wait_open = no_wait_set,
		.trywait = spfi_trywait,
	};
	struct spfi_fabric *fabric = calloc(1, sizeof(*fabric));

	if (!fabric)
		return -FI_ENOMEM;
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.fid.ops = &fid_ops;
	fabric->fid.ops = &ops;
	fabric->fid.api_version = attr->api_version;
	*out = &fabric->fid;
	return 0;
}

static void cleanup(void) {}

struct fi_provider spfi_provider = {
	.version = FI_VERSION(0, 1),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "spfe",
	.getinfo = spfi_getinfo,
	.fabric = spfi_fabric_open,
	.cleanup = cleanup,
};

FI_EXT_INI
{
	fi_param_define(&spfi_provider, "device", FI_PARAM_STRING,
			"device whose ports are joined by cables (default: SPFE_DEVICE, or the "
			"socket of spfed)");
	fi_param_define(&spfi_provider, "timeout", FI_PARAM_INT,
			"ms until operations for a node that nobody is end with an error "
			"(default: 30000)");
	return &spfi_provider;
}
