/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Completion queues. */
#include <stdio.h>

#include "provider.h"

#define SPINS 200 /* looks before a thread sleeps */

void spfi_cq_push(struct spfi_cq *cq, const struct spfi_completion *completion)
{
	if (cq->count == cq->room) {
		size_t room = 2 * cq->room, i;
		struct spfi_completion *ring = malloc(room * sizeof(*ring));

		if (!ring) {
			WARN(FI_LOG_CQ, "no memory for a queue of %zu completions: one is lost\n",
			     room);
			abort(); /* a lost completion would be a program that waits for ever */
		}
		for (i = 0; i < cq->count; i++)
			ring[i] = cq->ring[(cq->head + i) & (cq->room - 1)];
		free(cq->ring);
		cq->ring = ring;
		cq->room = room;
		cq->head = 0;
	}
	cq->ring[(cq->head + cq->count++) & (cq->room - 1)] = *completion;
	spfi_wait_wake(&cq->wait);
}

static void *put_entry(enum fi_cq_format format, void *buf, const struct fi_cq_err_entry *from)
{
	static const size_t sizes[] = {
		[FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
		[FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry),
		[FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
		[FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry),
	};

	/* The formats and the error entry have the same first fields. */
	memcpy(buf, from, sizes[format]);
	return (uint8_t *)buf + sizes[format];
}

static ssize_t take(struct spfi_cq *cq, void *buf, size_t count, fi_addr_t *sources)
{
	size_t taken = 0;

	while (taken < count && cq->count) {
		struct spfi_completion *completion = &cq->ring[cq->head & (cq->room - 1)];

		if (completion->entry.err)
			return taken ? (ssize_t)taken : -FI_EAVAIL;
		buf = put_entry(cq->format, buf, &completion->entry);
		if (sources)
			sources[taken] = completion->source;
		cq->head++;
		cq->count--;
		taken++;
	}
	return taken || (count == 0 && cq->count) ? (ssize_t)taken : -FI_EAGAIN;
}

static ssize_t read_locked(struct spfi_cq *cq, void *buf, size_t count, fi_addr_t *sources)
{
	if (!cq->count)
		spfi_wait_progress(&cq->wait);
	return take(cq, buf, count, sources);
}

static ssize_t read_from(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *sources)
{
	struct spfi_cq *cq = container_of(fid, struct spfi_cq, fid);
	ssize_t result;

	pthread_mutex_lock(&cq->domain->lock);
	result = read_locked(cq, buf, count, sources);
	pthread_mutex_unlock(&cq->domain->lock);
	return result;
}

static ssize_t read_plain(struct fid_cq *fid, void *buf, size_t count)
{
	return read_from(fid, buf, count, NULL);
}

static ssize_t read_error(struct fid_cq *fid, struct fi_cq_err_entry *buf, uint64_t flags)
{
	struct spfi_cq *cq = container_of(fid, struct spfi_cq, fid);
	struct spfi_completion *first;
	ssize_t result = -FI_EAGAIN;

	(void)flags;
	pthread_mutex_lock(&cq->domain->lock);
	first = &cq->ring[cq->head & (cq->room - 1)];
	if (cq->count && first->entry.err) {
		void *data = buf->err_data;
		size_t size = buf->err_data_size;

		*buf = first->entry;
		buf->err_data = size ? data : NULL;
		buf->err_data_size = 0;
		cq->head++;
		cq->count--;
		result = 1;
	}
	pthread_mutex_unlock(&cq->domain->lock);
	return result;
}

static ssize_t wait_from(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *sources,
			 const void *condition, int timeout)
{
	struct spfi_cq *cq = container_of(fid, struct spfi_cq, fid);
	uint64_t end = spfi_clock_ms() + (timeout > 0 ? (uint64_t)timeout : 0);
	unsigned spins = 0;
	ssize_t result;

	(void)condition;
	pthread_mutex_lock(&cq->domain->lock);
	for (;;) {
		uint64_t now;
		int left = -1;

		result = read_locked(cq, buf, count, sources);
		if (result != -FI_EAGAIN || timeout == 0)
			break;
		if (cq->wait.signalled) {
			cq->wait.signalled = false;
			break;
		}
		if (spins++ < SPINS)
			continue;
		if (timeout > 0) {
			now = spfi_clock_ms();
			if (now >= end)
				break;
			left = (int)(end - now);
		}
		if (!spfi_wait_arm(&cq->wait))
			spfi_wait_sleep(&cq->wait, cq->domain, left);
	}
	pthread_mutex_unlock(&cq->domain->lock);
	return result;
}

static ssize_t wait_plain(struct fid_cq *fid, void *buf, size_t count, const void *condition,
			  int timeout)
{
	return wait_from(fid, buf, count, NULL, condition, timeout);
}

/* Ends the wait of a thread, or the next one. */
static int signal_queue(struct fid_cq *fid)
{
	struct spfi_cq *cq = container_of(fid, struct spfi_cq, fid);

	pthread_mutex_lock(&cq->domain->lock);
	cq->wait.signalled = true;
	spfi_wait_wake(&cq->wait);
	pthread_mutex_unlock(&cq->domain->lock);
	return 0;
}

static const char *error_text(struct fid_cq *cq, int error, const void *data, char *buf,
			      size_t length)
{
	(void)cq, (void)data;
	if (buf && length)
		snprintf(buf, length, "%s", fi_strerror(error));
	return fi_strerror(error);
}

static int close_queue(struct fid *fid)
{
	struct spfi_cq *cq = container_of(fid, struct spfi_cq, fid.fid);

	if (cq->users)
		return -FI_EBUSY;
	spfi_wait_close(&cq->wait);
	pthread_mutex_lock(&cq->domain->lock);
	cq->domain->users--;
	pthread_mutex_unlock(&cq->domain->lock);
	free(cq->ring);
	free(cq);
	return 0;
}

static int control(struct fid *fid, int command, void *arg)
{
	return spfi_wait_control(&container_of(fid, struct spfi_cq, fid.fid)->wait, command, arg);
}

int spfi_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **out,
		 void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_queue,
		.bind = spfi_no_bind,
		.control = control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_cq ops = {
		.size = sizeof(struct fi_ops_cq),
		.read = read_plain,
		.readfrom = read_from,
		.readerr = read_error,
		.sread = wait_plain,
		.sreadfrom = wait_from,
		.signal = signal_queue,
		.strerror = error_text,
	};
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid);
	size_t wanted = attr->size ? attr->size : 1024;
	struct spfi_cq *cq;
	int result;

	if (attr->format > FI_CQ_FORMAT_TAGGED || attr->wait_cond > FI_CQ_COND_THRESHOLD)
		return -FI_ENOSYS;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	result = spfi_wait_init(&cq->wait, attr->wait_obj);
	cq->room = 64;
	while (cq->room < wanted && cq->room < 65536)
		cq->room *= 2;
	cq->ring = malloc(cq->room * sizeof(*cq->ring));
	if (result || !cq->ring) {
		if (!result)
			spfi_wait_close(&cq->wait);
		free(cq->ring);
		free(cq);
		return result ? result : -FI_ENOMEM;
	}
	cq->domain = domain;
	cq->format = attr->format == FI_CQ_FORMAT_UNSPEC ? FI_CQ_FORMAT_CONTEXT : attr->format;
	attr->format = cq->format;
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &fid_ops;
	cq->fid.ops = &ops;
	pthread_mutex_lock(&domain->lock);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	*out = &cq->fid;
	return 0;
}

/* Whether a thread may sleep until the descriptor is readable: everything is armed then. */
static bool may_sleep(struct spfi_wait *wait)
{
	return !spfi_wait_sends(wait) && !spfi_wait_arm(wait);
}

int spfi_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	int i, result = 0;

	(void)fabric;
	for (i = 0; i < count && !result; i++) {
		struct spfi_cq *cq = container_of(fids[i], struct spfi_cq, fid.fid);
		struct spfi_cntr *cntr = container_of(fids[i], struct spfi_cntr, fid.fid);

		switch (fids[i]->fclass) {
		case FI_CLASS_CQ:
			pthread_mutex_lock(&cq->domain->lock);
			spfi_wait_progress(&cq->wait);
			if (cq->count || !may_sleep(&cq->wait))
				result = -FI_EAGAIN;
			pthread_mutex_unlock(&cq->domain->lock);
			break;
		case FI_CLASS_CNTR:
			pthread_mutex_lock(&cntr->domain->lock);
			spfi_cntr_progress(cntr);
			/* Its descriptor does not tell what happens to regions. */
			if (cntr->changed || cntr->regions || !may_sleep(&cntr->wait))
				result = -FI_EAGAIN;
			pthread_mutex_unlock(&cntr->domain->lock);
			break;
		case FI_CLASS_EQ:
			break;
		default:
			result = -FI_EINVAL;
		}
	}
	return result;
}
