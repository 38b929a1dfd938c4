/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Event queues: only the program writes to them, because nothing here ends later. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "provider.h"

struct event {
	struct list link;
	uint32_t type;
	size_t length;
	uint8_t data[];
};

struct spfi_eq {
	struct fid_eq fid;
	pthread_mutex_t lock;
	struct list events;
	size_t count, size;
	bool writes;
	int fd; /* counts the events */
};

static ssize_t read_event(struct fid_eq *fid, uint32_t *type, void *buf, size_t length,
			  uint64_t flags)
{
	struct spfi_eq *eq = container_of(fid, struct spfi_eq, fid);
	struct event *event;
	ssize_t result = -FI_EAGAIN;

	pthread_mutex_lock(&eq->lock);
	if (!list_empty(&eq->events)) {
		event = container_of(eq->events.next, struct event, link);
		if (event->length > length) {
			result = -FI_ETOOSMALL;
		} else {
			*type = event->type;
			memcpy(buf, event->data, event->length);
			result = (ssize_t)event->length;
			if (!(flags & FI_PEEK)) {
				uint64_t one;

				(void)!read(eq->fd, &one, sizeof(one));
				list_remove(&event->link);
				free(event);
				eq->count--;
			}
		}
	}
	pthread_mutex_unlock(&eq->lock);
	return result;
}

static ssize_t read_error(struct fid_eq *eq, struct fi_eq_err_entry *buf, uint64_t flags)
{
	(void)eq, (void)buf, (void)flags;
	return -FI_EAGAIN;
}

static ssize_t write_event(struct fid_eq *fid, uint32_t type, const void *buf, size_t length,
			   uint64_t flags)
{
	struct spfi_eq *eq = container_of(fid, struct spfi_eq, fid);
	struct event *event;
	uint64_t one = 1;

	if (!eq->writes || flags)
		return -FI_EINVAL;
	event = malloc(sizeof(*event) + length);
	if (!event)
		return -FI_ENOMEM;
	event->type = type;
	event->length = length;
	memcpy(event->data, buf, length);
	pthread_mutex_lock(&eq->lock);
	if (eq->count == eq->size) {
		pthread_mutex_unlock(&eq->lock);
		free(event);
		return -FI_EAGAIN;
	}
	list_append(&eq->events, &event->link);
	eq->count++;
	(void)!write(eq->fd, &one, sizeof(one));
	pthread_mutex_unlock(&eq->lock);
	return (ssize_t)length;
}

static ssize_t wait_event(struct fid_eq *fid, uint32_t *type, void *buf, size_t length,
			  int timeout, uint64_t flags)
{
	struct spfi_eq *eq = container_of(fid, struct spfi_eq, fid);
	struct pollfd fd = {.fd = eq->fd, .events = POLLIN};

	if (poll(&fd, 1, timeout) < 0 && errno != EINTR)
		return -errno;
	return read_event(fid, type, buf, length, flags);
}

static const char *error_text(struct fid_eq *eq, int error, const void *data, char *buf,
			      size_t length)
{
	(void)eq, (void)data;
	if (buf && length)
		snprintf(buf, length, "%s", fi_strerror(error));
	return fi_strerror(error);
}

static int close_queue(struct fid *fid)
{
	struct spfi_eq *eq = container_of(fid, struct spfi_eq, fid.fid);

	while (!list_empty(&eq->events)) {
		struct event *event = container_of(eq->events.next, struct event, link);

		list_remove(&event->link);
		free(event);
	}
	close(eq->fd);
	pthread_mutex_destroy(&eq->lock);
	free(eq);
	return 0;
}

static int control(struct fid *fid, int command, void *arg)
{
	struct spfi_eq *eq = container_of(fid, struct spfi_eq, fid.fid);

	if (command != FI_GETWAIT)
		return -FI_ENOSYS;
	*(int *)arg = eq->fd;
	return 0;
}

int spfi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **out,
		 void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_queue,
		.bind = spfi_no_bind,
		.control = control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_eq ops = {
		.size = sizeof(struct fi_ops_eq),
		.read = read_event,
		.readerr = read_error,
		.write = write_event,
		.sread = wait_event,
		.strerror = error_text,
	};
	struct spfi_eq *eq;

	(void)fabric;
	if (attr->wait_obj == FI_WAIT_SET || attr->wait_obj == FI_WAIT_MUTEX_COND)
		return -FI_ENOSYS;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	eq->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (eq->fd < 0 || pthread_mutex_init(&eq->lock, NULL)) {
		int error = errno;

		if (eq->fd >= 0)
			close(eq->fd);
		free(eq);
		return -error;
	}
	list_init(&eq->events);
	eq->size = attr->size ? attr->size : 1024;
	eq->writes = attr->flags & FI_WRITE;
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &fid_ops;
	eq->fid.ops = &ops;
	*out = &eq->fid;
	return 0;
}
