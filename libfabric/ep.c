/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Endpoints. */
#include <time.h>

#include "provider.h"

#define CLOSE_MS 2000 /* how long closing waits until peers took what was sent */

static int bind_cq(struct spfi_ep *ep, struct spfi_cq *cq, uint64_t flags)
{
	if (flags & ~(uint64_t)(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) ||
	    !(flags & (FI_TRANSMIT | FI_RECV)) || cq->domain != ep->domain ||
	    (flags & FI_TRANSMIT && ep->tx_cq) || (flags & FI_RECV && ep->rx_cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
		cq->users++;
	}
	if (flags & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
		cq->users++;
	}
	ep->events |= cq->wait.epoll >= 0;
	return 0;
}

static int bind_counter(struct spfi_ep *ep, struct spfi_cntr *cntr, uint64_t flags)
{
	const struct {
		uint64_t flag;
		struct spfi_cntr **place;
	} places[] = {
		{FI_SEND, &ep->cntr_send},
		{FI_RECV, &ep->cntr_recv},
		{FI_READ, &ep->cntr_read},
		{FI_WRITE, &ep->cntr_write},
		{FI_REMOTE_READ, &ep->cntr_remote_read},
		{FI_REMOTE_WRITE, &ep->cntr_remote_write},
	};
	uint64_t free = 0;
	size_t i;

	for (i = 0; i < SPFI_COUNT(places); i++)
		free |= *places[i].place ? 0 : places[i].flag;
	if (cntr->domain != ep->domain || !flags || flags & ~free)
		return -FI_EINVAL;
	for (i = 0; i < SPFI_COUNT(places); i++) {
		if (flags & places[i].flag) {
			*places[i].place = cntr;
			cntr->users++;
		}
	}
	ep->events |= cntr->wait.epoll >= 0;
	return 0;
}

static int bind_sender(struct spfi_ep *ep, struct spfi_stx *stx)
{
	if (!ep->wants_stx || ep->stx || stx->domain != ep->domain)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->domain->lock);
	ep->stx = stx;
	stx->users++;
	pthread_mutex_unlock(&ep->domain->lock);
	return 0;
}

static int bind_receiver(struct spfi_ep *ep, struct spfi_srx *srx)
{
	if (!ep->wants_srx || ep->srx || srx->domain != ep->domain)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->domain->lock);
	ep->srx = srx;
	list_append(&srx->endpoints, &ep->shared);
	pthread_mutex_unlock(&ep->domain->lock);
	return 0;
}

static int bind_endpoint(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);
	struct spfi_av *av = container_of(other, struct spfi_av, fid.fid);

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	switch (other->fclass) {
	case FI_CLASS_AV:
		if (ep->av || av->domain != ep->domain)
			return -FI_EINVAL;
		ep->av = av;
		av->users++;
		return 0;
	case FI_CLASS_CQ:
		return bind_cq(ep, container_of(other, struct spfi_cq, fid.fid), flags);
	case FI_CLASS_CNTR:
		return bind_counter(ep, container_of(other, struct spfi_cntr, fid.fid), flags);
	case FI_CLASS_EQ:
		return 0;
	case FI_CLASS_STX_CTX:
		return bind_sender(ep, container_of(other, struct spfi_stx, fid.fid));
	case FI_CLASS_SRX_CTX:
		return bind_receiver(ep, container_of(other, struct spfi_srx, fid.fid));
	default:
		return -FI_EINVAL;
	}
}

/* Calls a function for each queue and counter of the endpoint. */
static int for_each_wait(struct spfi_ep *ep, bool add)
{
	struct spfi_wait *waits[] = {
		ep->tx_cq ? &ep->tx_cq->wait : NULL,
		ep->rx_cq ? &ep->rx_cq->wait : NULL,
		ep->cntr_send ? &ep->cntr_send->wait : NULL,
		ep->cntr_recv ? &ep->cntr_recv->wait : NULL,
		ep->cntr_read ? &ep->cntr_read->wait : NULL,
		ep->cntr_write ? &ep->cntr_write->wait : NULL,
		ep->cntr_remote_read ? &ep->cntr_remote_read->wait : NULL,
		ep->cntr_remote_write ? &ep->cntr_remote_write->wait : NULL,
	};
	size_t i;

	for (i = 0; i < SPFI_COUNT(waits); i++) {
		int result = 0;

		if (waits[i] && add)
			result = spfi_wait_add(waits[i], ep);
		else if (waits[i])
			spfi_wait_remove(waits[i], ep);
		if (result)
			return result;
	}
	return 0;
}

static int enable(struct spfi_ep *ep)
{
	int result;

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	if (!ep->av)
		return -FI_ENOAV;
	if ((ep->wants_stx && !ep->stx) || (ep->wants_srx && !ep->srx)) {
		WARN(FI_LOG_EP_CTRL, "the endpoint is for a shared context, and none is bound\n");
		return -FI_EINVAL;
	}
	if (!ep->tx_cq && !ep->rx_cq && !ep->cntr_send && !ep->cntr_recv)
		return -FI_ENOCQ;
	pthread_mutex_lock(&ep->domain->lock);
	result = spfi_network_join(ep);
	if (!result)
		result = for_each_wait(ep, true);
	if (result) {
		for_each_wait(ep, false);
		spfi_network_leave(ep);
	} else {
		ep->enabled = true;
	}
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static int control(struct fid *fid, int command, void *arg)
{
	(void)arg;
	return command == FI_ENABLE ? enable(container_of(fid, struct spfi_ep, fid.fid))
				    : -FI_ENOSYS;
}

/* Lets peers that are alive take what was sent, within a bound. */
static void drain(struct spfi_ep *ep)
{
	uint64_t end = spfi_clock_ms() + CLOSE_MS;
	bool busy = ep->enabled;

	while (busy && spfi_clock_ms() < end) {
		unsigned node;

		busy = false;
		spfi_progress(ep);
		for (node = 0; node < ep->nodes; node++) {
			struct spfi_peer *peer = &ep->peers[node];

			if (spfi_peer_sends(peer)) {
				spfi_peer_check(peer);
				busy |= peer->state == PEER_UP;
			}
		}
		if (busy) {
			struct timespec pause = {0, 100000};

			pthread_mutex_unlock(&ep->domain->lock);
			nanosleep(&pause, NULL);
			pthread_mutex_lock(&ep->domain->lock);
		}
	}
}

static void unbind(struct spfi_ep *ep)
{
	struct spfi_cntr *counters[] = {ep->cntr_send,  ep->cntr_recv,        ep->cntr_read,
					ep->cntr_write, ep->cntr_remote_read, ep->cntr_remote_write};
	size_t i;

	list_remove(&ep->shared);
	if (ep->stx) {
		ep->stx->users--;
		/* What was not sent never will be. */
		ep->stx->queued -= ep->queued;
	}
	if (ep->av)
		ep->av->users--;
	if (ep->tx_cq)
		ep->tx_cq->users--;
	if (ep->rx_cq)
		ep->rx_cq->users--;
	for (i = 0; i < SPFI_COUNT(counters); i++)
		if (counters[i])
			counters[i]->users--;
}

static int close_endpoint(struct fid *fid)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);
	struct spfi_domain *domain = ep->domain;
	unsigned chunk, i;

	pthread_mutex_lock(&domain->lock);
	drain(ep);
	if (ep->enabled)
		for_each_wait(ep, false);
	ep->enabled = false;
	spfi_network_leave(ep);
	unbind(ep);
	for (chunk = 0; chunk < ep->chunk_count; chunk++) {
		for (i = 0; i < SPFI_CHUNK; i++)
			free(ep->chunks[chunk][i].own);
		free(ep->chunks[chunk]);
	}
	list_remove(&ep->link);
	domain->users--;
	pthread_mutex_unlock(&domain->lock);
	free(ep);
	return 0;
}

static int getname(fid_t fid, void *address, size_t *length)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);
	size_t room = *length;

	*length = sizeof(ep->name);
	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (room < sizeof(ep->name))
		return -FI_ETOOSMALL;
	memcpy(address, &ep->name, sizeof(ep->name));
	return 0;
}

static int setname(fid_t fid, void *address, size_t length)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	if (length != sizeof(ep->name) || !spfi_address_valid(address))
		return -FI_EINVAL;
	memcpy(&ep->name, address, sizeof(ep->name));
	return 0;
}

static int getopt_endpoint(fid_t fid, int level, int option, void *value, size_t *length)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);

	if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (*length < sizeof(size_t))
		return -FI_ETOOSMALL;
	memcpy(value, &ep->min_multi, sizeof(size_t));
	*length = sizeof(size_t);
	return 0;
}

static int setopt_endpoint(fid_t fid, int level, int option, const void *value, size_t length)
{
	struct spfi_ep *ep = container_of(fid, struct spfi_ep, fid.fid);

	if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (length != sizeof(size_t))
		return -FI_EINVAL;
	memcpy(&ep->min_multi, value, sizeof(size_t));
	return 0;
}

static ssize_t no_size(struct fid_ep *ep)
{
	(void)ep;
	return -FI_ENOSYS;
}

static int no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr, struct fid_ep **ep,
		     void *context)
{
	(void)sep, (void)index, (void)attr, (void)ep, (void)context;
	return -FI_ENOSYS;
}

static int no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr, struct fid_ep **ep,
		     void *context)
{
	(void)sep, (void)index, (void)attr, (void)ep, (void)context;
	return -FI_ENOSYS;
}

static int no_peer(struct fid_ep *ep, void *address, size_t *length)
{
	(void)ep, (void)address, (void)length;
	return -FI_ENOSYS;
}

static int no_connect(struct fid_ep *ep, const void *address, const void *param, size_t length)
{
	(void)ep, (void)address, (void)param, (void)length;
	return -FI_ENOSYS;
}

static int no_listen(struct fid_pep *pep)
{
	(void)pep;
	return -FI_ENOSYS;
}

static int no_accept(struct fid_ep *ep, const void *param, size_t length)
{
	(void)ep, (void)param, (void)length;
	return -FI_ENOSYS;
}

static int no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t length)
{
	(void)pep, (void)handle, (void)param, (void)length;
	return -FI_ENOSYS;
}

static int no_shutdown(struct fid_ep *ep, uint64_t flags)
{
	(void)ep, (void)flags;
	return -FI_ENOSYS;
}

int spfi_ep_open(struct fid_domain *fid, struct fi_info *info, struct fid_ep **out, void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_endpoint,
		.bind = bind_endpoint,
		.control = control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_ep ops = {
		.size = sizeof(struct fi_ops_ep),
		.cancel = spfi_cancel,
		.getopt = getopt_endpoint,
		.setopt = setopt_endpoint,
		.tx_ctx = no_tx_ctx,
		.rx_ctx = no_rx_ctx,
		.rx_size_left = no_size,
		.tx_size_left = no_size,
	};
	static struct fi_ops_cm cm_ops = {
		.size = sizeof(struct fi_ops_cm),
		.setname = setname,
		.getname = getname,
		.getpeer = no_peer,
		.connect = no_connect,
		.listen = no_listen,
		.accept = no_accept,
		.reject = no_reject,
		.shutdown = no_shutdown,
	};
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid);
	struct spfi_ep *ep;

	if (!info || !info->ep_attr ||
	    (info->ep_attr->type != FI_EP_RDM && info->ep_attr->type != FI_EP_DGRAM))
		return -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->domain = domain;
	ep->name = spfi_address_of(SPFI_ANY_NODE, 0);
	if (info->src_addr && info->src_addrlen == sizeof(ep->name) &&
	    spfi_address_valid(info->src_addr))
		ep->name.node = ((struct spfi_address *)info->src_addr)->node;
	ep->caps = info->caps;
	ep->type = info->ep_attr->type;
	ep->tx_flags = info->tx_attr ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr ? info->rx_attr->op_flags : 0;
	ep->min_multi = 64;
	ep->wants_stx = info->ep_attr->tx_ctx_cnt == FI_SHARED_CONTEXT;
	ep->wants_srx = info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT;
	list_init(&ep->link);
	list_init(&ep->shared);
	list_init(&ep->active);
	list_init(&ep->free_ops);
	list_init(&ep->posted[0]);
	list_init(&ep->posted[1]);
	list_init(&ep->arrived[0]);
	list_init(&ep->arrived[1]);
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &fid_ops;
	ep->fid.ops = &ops;
	ep->fid.cm = &cm_ops;
	ep->fid.msg = &spfi_msg_ops;
	ep->fid.tagged = &spfi_tagged_ops;
	ep->fid.rma = &spfi_rma_ops;
	ep->fid.atomic = &spfi_atomic_ops;
	pthread_mutex_lock(&domain->lock);
	list_append(&domain->endpoints, &ep->link);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	*out = &ep->fid;
	return 0;
}
