/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sleeping until an endpoint has something to do. */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "provider.h"

uint64_t spfi_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int spfi_wait_init(struct spfi_wait *wait, enum fi_wait_obj object)
{
	struct epoll_event event = {.events = EPOLLIN};

	list_init(&wait->sources);
	wait->epoll = wait->event = -1;
	switch (object) {
	case FI_WAIT_NONE:
		return 0;
	case FI_WAIT_UNSPEC:
	case FI_WAIT_FD:
	case FI_WAIT_YIELD:
		break;
	default:
		WARN(FI_LOG_CQ, "wait object %d: FI_WAIT_FD, FI_WAIT_UNSPEC and FI_WAIT_NONE exist\n",
		     object);
		return -FI_ENOSYS;
	}
	wait->epoll = epoll_create1(EPOLL_CLOEXEC);
	wait->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wait->epoll < 0 || wait->event < 0 ||
	    epoll_ctl(wait->epoll, EPOLL_CTL_ADD, wait->event, &event)) {
		int error = errno;

		spfi_wait_close(wait);
		return -error;
	}
	return 0;
}

void spfi_wait_close(struct spfi_wait *wait)
{
	if (wait->event >= 0)
		close(wait->event);
	if (wait->epoll >= 0)
		close(wait->epoll);
	wait->event = wait->epoll = -1;
	while (!list_empty(&wait->sources)) {
		struct spfi_source *source =
			container_of(wait->sources.next, struct spfi_source, link);

		list_remove(&source->link);
		free(source);
	}
}

static struct spfi_source *source_of(struct spfi_wait *wait, const struct spfi_ep *ep)
{
	struct list *at;

	for (at = wait->sources.next; at != &wait->sources; at = at->next) {
		struct spfi_source *source = container_of(at, struct spfi_source, link);

		if (source->ep == ep)
			return source;
	}
	return NULL;
}

/* Progress of the endpoint is progress of the queue. An endpoint is added once. */
int spfi_wait_add(struct spfi_wait *wait, struct spfi_ep *ep)
{
	struct spfi_source *source;
	unsigned node;

	if (source_of(wait, ep))
		return 0;
	source = malloc(sizeof(*source));
	if (!source)
		return -FI_ENOMEM;
	source->ep = ep;
	list_append(&wait->sources, &source->link);
	for (node = 0; wait->epoll >= 0 && node < ep->nodes; node++) {
		struct epoll_event event = {.events = EPOLLIN};
		int fd = spfe_queue_fd(ep->peers[node].rx);

		if (fd < 0 || epoll_ctl(wait->epoll, EPOLL_CTL_ADD, fd, &event))
			return fd < 0 ? -spfe_errno(fd) : -errno;
	}
	return 0;
}

void spfi_wait_remove(struct spfi_wait *wait, struct spfi_ep *ep)
{
	struct spfi_source *source = source_of(wait, ep);
	unsigned node;

	if (!source)
		return;
	for (node = 0; wait->epoll >= 0 && node < ep->nodes; node++) {
		int fd = ep->peers[node].rx ? spfe_queue_fd(ep->peers[node].rx) : -1;

		if (fd >= 0)
			epoll_ctl(wait->epoll, EPOLL_CTL_DEL, fd, NULL);
	}
	list_remove(&source->link);
	free(source);
}

void spfi_wait_wake(struct spfi_wait *wait)
{
	uint64_t one = 1;

	if (wait->event >= 0 && wait->armed && write(wait->event, &one, sizeof(one)) > 0)
		wait->armed = false;
}

void spfi_wait_progress(struct spfi_wait *wait)
{
	struct list *at;

	for (at = wait->sources.next; at != &wait->sources; at = at->next)
		spfi_progress(container_of(at, struct spfi_source, link)->ep);
}

bool spfi_wait_arm(struct spfi_wait *wait)
{
	uint64_t count;
	struct list *at;

	if (wait->event >= 0)
		(void)!read(wait->event, &count, sizeof(count));
	wait->armed = true;
	for (at = wait->sources.next; at != &wait->sources; at = at->next) {
		struct spfi_ep *ep = container_of(at, struct spfi_source, link)->ep;
		unsigned node;

		for (node = 0; node < ep->nodes; node++) {
			struct spfi_peer *peer = &ep->peers[node];

			if (!peer->broken_rx && spfe_queue_request_event(peer->rx, NULL) == 1) {
				/* Nodes that never sent anything are asked less often: not now. */
				if (peer->state != PEER_DEAD)
					peer->state = PEER_UP;
				return true;
			}
		}
	}
	return false;
}

/* No descriptor reports that there is room again. */
bool spfi_wait_sends(struct spfi_wait *wait)
{
	struct list *at;

	for (at = wait->sources.next; at != &wait->sources; at = at->next)
		if (!list_empty(&container_of(at, struct spfi_source, link)->ep->active))
			return true;
	return false;
}

void spfi_wait_sleep(struct spfi_wait *wait, struct spfi_domain *domain, int ms)
{
	struct pollfd poll_fd = {.fd = wait->epoll, .events = POLLIN};
	struct list *at;
	/* Peers may have died, which no descriptor tells either. */
	int most = spfi_wait_sends(wait) ? 1 : 100;

	/* The next progress looks whether peers are alive. */
	for (at = wait->sources.next; at != &wait->sources; at = at->next)
		container_of(at, struct spfi_source, link)->ep->calls |= 255;
	if (ms < 0 || ms > most)
		ms = most;
	pthread_mutex_unlock(&domain->lock);
	poll(&poll_fd, wait->epoll >= 0, ms);
	pthread_mutex_lock(&domain->lock);
}

int spfi_wait_control(struct spfi_wait *wait, int command, void *arg)
{
	if (command == FI_GETWAIT && wait->epoll >= 0) {
		*(int *)arg = wait->epoll;
		return 0;
	}
	if (command == FI_GETWAITOBJ) {
		*(enum fi_wait_obj *)arg = wait->epoll >= 0 ? FI_WAIT_FD : FI_WAIT_NONE;
		return 0;
	}
	return -FI_ENOSYS;
}
