/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Counters. */
#include "provider.h"

void spfi_cntr_count(struct spfi_cntr *cntr, bool error)
{
	if (error)
		cntr->errors++;
	else
		cntr->value++;
	cntr->changed = true;
	spfi_wait_wake(&cntr->wait);
}

void spfi_cntr_progress(struct spfi_cntr *cntr)
{
	struct list *at, *all = &cntr->domain->endpoints;

	spfi_wait_progress(&cntr->wait);
	for (at = all->next; cntr->regions && at != all; at = at->next) {
		struct spfi_ep *ep = container_of(at, struct spfi_ep, link);

		if (ep->enabled)
			spfi_progress(ep);
	}
}

static uint64_t get(struct fid_cntr *fid, bool errors)
{
	struct spfi_cntr *cntr = container_of(fid, struct spfi_cntr, fid);
	uint64_t value;

	pthread_mutex_lock(&cntr->domain->lock);
	spfi_cntr_progress(cntr);
	value = errors ? cntr->errors : cntr->value;
	cntr->changed = false;
	pthread_mutex_unlock(&cntr->domain->lock);
	return value;
}

static uint64_t read_value(struct fid_cntr *fid) { return get(fid, false); }
static uint64_t read_errors(struct fid_cntr *fid) { return get(fid, true); }

static int change(struct fid_cntr *fid, bool errors, bool add, uint64_t by)
{
	struct spfi_cntr *cntr = container_of(fid, struct spfi_cntr, fid);
	uint64_t *value = errors ? &cntr->errors : &cntr->value;

	pthread_mutex_lock(&cntr->domain->lock);
	*value = add ? *value + by : by;
	cntr->changed = true;
	spfi_wait_wake(&cntr->wait);
	pthread_mutex_unlock(&cntr->domain->lock);
	return 0;
}

static int add(struct fid_cntr *fid, uint64_t by) { return change(fid, false, true, by); }
static int set(struct fid_cntr *fid, uint64_t to) { return change(fid, false, false, to); }
static int add_errors(struct fid_cntr *fid, uint64_t by) { return change(fid, true, true, by); }
static int set_errors(struct fid_cntr *fid, uint64_t to) { return change(fid, true, false, to); }

static int wait_for(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct spfi_cntr *cntr = container_of(fid, struct spfi_cntr, fid);
	uint64_t end = spfi_clock_ms() + (timeout > 0 ? (uint64_t)timeout : 0);
	uint64_t errors;
	int result = 0;

	pthread_mutex_lock(&cntr->domain->lock);
	errors = cntr->errors;
	for (;;) {
		int left = -1;

		spfi_cntr_progress(cntr);
		if (cntr->value >= threshold)
			break;
		if (cntr->errors != errors) {
			result = -FI_EAVAIL;
			break;
		}
		if (timeout >= 0) {
			uint64_t now = spfi_clock_ms();

			if (now >= end) {
				result = -FI_ETIMEDOUT;
				break;
			}
			left = (int)(end - now);
		}
		/* No descriptor of the counter tells what happens to regions. */
		if (cntr->regions && (left < 0 || left > 1))
			left = 1;
		if (!spfi_wait_arm(&cntr->wait))
			spfi_wait_sleep(&cntr->wait, cntr->domain, left);
	}
	cntr->changed = false;
	pthread_mutex_unlock(&cntr->domain->lock);
	return result;
}

static int close_counter(struct fid *fid)
{
	struct spfi_cntr *cntr = container_of(fid, struct spfi_cntr, fid.fid);

	if (cntr->users)
		return -FI_EBUSY;
	spfi_wait_close(&cntr->wait);
	pthread_mutex_lock(&cntr->domain->lock);
	cntr->domain->users--;
	pthread_mutex_unlock(&cntr->domain->lock);
	free(cntr);
	return 0;
}

static int control(struct fid *fid, int command, void *arg)
{
	return spfi_wait_control(&container_of(fid, struct spfi_cntr, fid.fid)->wait, command,
				 arg);
}

int spfi_cntr_open(struct fid_domain *fid, struct fi_cntr_attr *attr, struct fid_cntr **out,
		   void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_counter,
		.bind = spfi_no_bind,
		.control = control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_cntr ops = {
		.size = sizeof(struct fi_ops_cntr),
		.read = read_value,
		.readerr = read_errors,
		.add = add,
		.set = set,
		.wait = wait_for,
		.adderr = add_errors,
		.seterr = set_errors,
	};
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid);
	struct spfi_cntr *cntr;
	int result;

	if (attr->events != FI_CNTR_EVENTS_COMP || attr->flags)
		return -FI_EINVAL;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	result = spfi_wait_init(&cntr->wait, attr->wait_obj);
	if (result) {
		free(cntr);
		return result;
	}
	cntr->domain = domain;
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &fid_ops;
	cntr->fid.ops = &ops;
	pthread_mutex_lock(&domain->lock);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	*out = &cntr->fid;
	return 0;
}
