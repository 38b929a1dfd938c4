/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Contexts that endpoints of a domain share: one limit for what they send, and one queue of receives
 * from which a message to any of them takes the first that fits.
 */
#include "provider.h"

/* ------------------------------------------------------------------------------------------------
 * Sending
 */

static int close_sender(struct fid *fid)
{
	struct spfi_stx *stx = container_of(fid, struct spfi_stx, fid.fid);
	struct spfi_domain *domain = stx->domain;
	int users;

	pthread_mutex_lock(&domain->lock);
	users = stx->users;
	domain->users -= !users;
	pthread_mutex_unlock(&domain->lock);
	if (users)
		return -FI_EBUSY;
	free(stx);
	return 0;
}

int spfi_stx_open(struct fid_domain *fid, struct fi_tx_attr *attr, struct fid_stx **out,
		  void *context)
{
	static struct fi_ops ops = {
		.size = sizeof(struct fi_ops),
		.close = close_sender,
		.bind = spfi_no_bind,
		.control = spfi_no_control,
		.ops_open = spfi_no_ops_open,
	};
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid);
	struct spfi_stx *stx = calloc(1, sizeof(*stx));

	(void)attr;
	if (!stx)
		return -FI_ENOMEM;
	stx->domain = domain;
	stx->fid.fid.fclass = FI_CLASS_STX_CTX;
	stx->fid.fid.context = context;
	stx->fid.fid.ops = &ops;
	pthread_mutex_lock(&domain->lock);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	*out = &stx->fid;
	return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Receiving
 */

/* There is no address vector, so a receive is from anyone, and no queue, so nothing can be told that
 * is not about a message to an endpoint: peeks and cancelled receives.
 */
static ssize_t post(struct fid_ep *fid, const struct iovec *iov, size_t count, bool tagged,
		    uint64_t tag, uint64_t ignore, void *context, uint64_t flags)
{
	struct spfi_srx *srx = container_of(fid, struct spfi_srx, fid);
	ssize_t result = spfi_flags_allowed(flags, FI_COMPLETION | FI_MORE);
	struct spfi_shared *receive;

	if (result)
		return result;
	if (count > SPFI_IOV)
		return -FI_EINVAL;
	receive = calloc(1, sizeof(*receive));
	if (!receive)
		return -FI_EAGAIN;
	if (count)
		memcpy(receive->iov, iov, count * sizeof(*iov));
	receive->iov_count = (uint32_t)count;
	receive->tag = tag;
	receive->ignore = tagged ? ignore : UINT64_MAX;
	receive->context = context;
	receive->flags = flags;
	list_init(&receive->link);
	pthread_mutex_lock(&srx->domain->lock);
	srx->receives++;
	if (srx->receives > SPFI_RX_SIZE || !spfi_match_shared(srx, receive, tagged)) {
		srx->receives--;
		free(receive);
		result = -FI_EAGAIN;
	}
	pthread_mutex_unlock(&srx->domain->lock);
	return result;
}

static ssize_t recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
		     fi_addr_t from, void *context)
{
	(void)desc, (void)from;
	return post(ep, iov, count, false, 0, 0, context, FI_COMPLETION);
}

static ssize_t recv(struct fid_ep *ep, void *buf, size_t length, void *desc, fi_addr_t from,
		    void *context)
{
	struct iovec iov = {buf, length};

	(void)desc, (void)from;
	return post(ep, &iov, 1, false, 0, 0, context, FI_COMPLETION);
}

static ssize_t recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return post(ep, msg->msg_iov, msg->iov_count, false, 0, 0, msg->context, flags);
}

static ssize_t trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
		      fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
	(void)desc, (void)from;
	return post(ep, iov, count, true, tag, ignore, context, FI_COMPLETION);
}

static ssize_t trecv(struct fid_ep *ep, void *buf, size_t length, void *desc, fi_addr_t from,
		     uint64_t tag, uint64_t ignore, void *context)
{
	struct iovec iov = {buf, length};

	(void)desc, (void)from;
	return post(ep, &iov, 1, true, tag, ignore, context, FI_COMPLETION);
}

static ssize_t trecvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return post(ep, msg->msg_iov, msg->iov_count, true, msg->tag, msg->ignore, msg->context,
		    flags);
}

/* It sends nothing. */

static ssize_t no_send(struct fid_ep *ep, const void *buf, size_t length, void *desc, fi_addr_t to,
		       void *context)
{
	(void)ep, (void)buf, (void)length, (void)desc, (void)to, (void)context;
	return -FI_ENOSYS;
}

static ssize_t no_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			fi_addr_t to, void *context)
{
	(void)ep, (void)iov, (void)desc, (void)count, (void)to, (void)context;
	return -FI_ENOSYS;
}

static ssize_t no_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	(void)ep, (void)msg, (void)flags;
	return -FI_ENOSYS;
}

static ssize_t no_inject(struct fid_ep *ep, const void *buf, size_t length, fi_addr_t to)
{
	(void)ep, (void)buf, (void)length, (void)to;
	return -FI_ENOSYS;
}

static ssize_t no_senddata(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			   uint64_t data, fi_addr_t to, void *context)
{
	(void)ep, (void)buf, (void)length, (void)desc, (void)data, (void)to, (void)context;
	return -FI_ENOSYS;
}

static ssize_t no_injectdata(struct fid_ep *ep, const void *buf, size_t length, uint64_t data,
			     fi_addr_t to)
{
	(void)ep, (void)buf, (void)length, (void)data, (void)to;
	return -FI_ENOSYS;
}

static ssize_t no_tsend(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			fi_addr_t to, uint64_t tag, void *context)
{
	(void)ep, (void)buf, (void)length, (void)desc, (void)to, (void)tag, (void)context;
	return -FI_ENOSYS;
}

static ssize_t no_tsendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
			 fi_addr_t to, uint64_t tag, void *context)
{
	(void)ep, (void)iov, (void)desc, (void)count, (void)to, (void)tag, (void)context;
	return -FI_ENOSYS;
}

static ssize_t no_tsendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	(void)ep, (void)msg, (void)flags;
	return -FI_ENOSYS;
}

static ssize_t no_tinject(struct fid_ep *ep, const void *buf, size_t length, fi_addr_t to,
			  uint64_t tag)
{
	(void)ep, (void)buf, (void)length, (void)to, (void)tag;
	return -FI_ENOSYS;
}

static ssize_t no_tsenddata(struct fid_ep *ep, const void *buf, size_t length, void *desc,
			    uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
	(void)ep, (void)buf, (void)length, (void)desc, (void)data, (void)to, (void)tag;
	(void)context;
	return -FI_ENOSYS;
}

static ssize_t no_tinjectdata(struct fid_ep *ep, const void *buf, size_t length, uint64_t data,
			      fi_addr_t to, uint64_t tag)
{
	(void)ep, (void)buf, (void)length, (void)data, (void)to, (void)tag;
	return -FI_ENOSYS;
}

static ssize_t no_cancel(fid_t fid, void *context)
{
	(void)fid, (void)context;
	return -FI_ENOSYS;
}

static int no_getopt(fid_t fid, int level, int option, void *value, size_t *length)
{
	(void)fid, (void)level, (void)option, (void)value, (void)length;
	return -FI_ENOPROTOOPT;
}

static int no_setopt(fid_t fid, int level, int option, const void *value, size_t length)
{
	(void)fid, (void)level, (void)option, (void)value, (void)length;
	return -FI_ENOPROTOOPT;
}

static ssize_t no_size(struct fid_ep *ep)
{
	(void)ep;
	return -FI_ENOSYS;
}

static int close_receiver(struct fid *fid)
{
	struct spfi_srx *srx = container_of(fid, struct spfi_srx, fid.fid);
	struct spfi_domain *domain = srx->domain;
	unsigned tagged;

	pthread_mutex_lock(&domain->lock);
	if (!list_empty(&srx->endpoints)) {
		pthread_mutex_unlock(&domain->lock);
		return -FI_EBUSY;
	}
	domain->users--;
	pthread_mutex_unlock(&domain->lock);
	for (tagged = 0; tagged < 2; tagged++) {
		while (!list_empty(&srx->posted[tagged])) {
			struct list *first = srx->posted[tagged].next;

			list_remove(first);
			free(container_of(first, struct spfi_shared, link));
		}
	}
	free(srx);
	return 0;
}

static int control(struct fid *fid, int command, void *arg)
{
	(void)fid, (void)arg;
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

int spfi_srx_open(struct fid_domain *fid, struct fi_rx_attr *attr, struct fid_ep **out,
		  void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_receiver,
		.bind = spfi_no_bind,
		.control = control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_ep ops = {
		.size = sizeof(struct fi_ops_ep),
		.cancel = no_cancel,
		.getopt = no_getopt,
		.setopt = no_setopt,
		.rx_size_left = no_size,
		.tx_size_left = no_size,
	};
	static struct fi_ops_msg msg = {
		.size = sizeof(struct fi_ops_msg),
		.recv = recv,
		.recvv = recvv,
		.recvmsg = recvmsg,
		.send = no_send,
		.sendv = no_sendv,
		.sendmsg = no_sendmsg,
		.inject = no_inject,
		.senddata = no_senddata,
		.injectdata = no_injectdata,
	};
	static struct fi_ops_tagged tagged = {
		.size = sizeof(struct fi_ops_tagged),
		.recv = trecv,
		.recvv = trecvv,
		.recvmsg = trecvmsg,
		.send = no_tsend,
		.sendv = no_tsendv,
		.sendmsg = no_tsendmsg,
		.inject = no_tinject,
		.senddata = no_tsenddata,
		.injectdata = no_tinjectdata,
	};
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid);
	struct spfi_srx *srx = calloc(1, sizeof(*srx));

	(void)attr;
	if (!srx)
		return -FI_ENOMEM;
	srx->domain = domain;
	list_init(&srx->endpoints);
	list_init(&srx->posted[0]);
	list_init(&srx->posted[1]);
	srx->fid.fid.fclass = FI_CLASS_SRX_CTX;
	srx->fid.fid.context = context;
	srx->fid.fid.ops = &fid_ops;
	pthread_mutex_lock(&domain->lock);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	srx->fid.ops = &ops;
	srx->fid.msg = &msg;
	srx->fid.tagged = &tagged;
	*out = &srx->fid;
	return 0;
}
