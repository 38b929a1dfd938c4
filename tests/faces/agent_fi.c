/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libfabric over the provider as an agent of the conformance suite: reads commands and answers each
 * with a line (crates/spfe-conformance/src/faces.rs has the rules).
 *
 * A virtual channel of a case is a tag here, and a packet a message. What libfabric does not have is
 * answered with `lacks` and the reason. Progress is manual, so an agent without a command polls.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <spfe/spfe.h>

#define QUEUES 8
#define BYTES (1 << 20)
#define KEY 77
#define PARTS 4
#define GROUP 64

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *tx, *rx;
static struct fid_ep *ep;
static struct fid_mr *mr;
static fi_addr_t peer;
static uint64_t tags[QUEUES];
static char kinds[QUEUES]; /* 't' or 'r' of what is open */
static unsigned sends; /* posted and not completed */
static bool posted;    /* a receive is */
static uint8_t out[BYTES], in[BYTES], memory[BYTES];
static size_t out_at;
static char *word[24];
static int words;

static unsigned long long number(int index)
{
	return index < words ? strtoull(word[index], NULL, 0) : 0;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pattern(uint8_t *to, unsigned seed, size_t from, size_t length)
{
	for (size_t at = from; at < from + length; at++)
		*to++ = (uint8_t)(seed * 31 + at * 7 + (at >> 8) * 13);
}

static uint32_t checksum(const uint8_t *from, size_t length)
{
	uint32_t sum = ~0u;

	while (length--) {
		sum ^= *from++;
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
	}
	return ~sum;
}

/* Answers with the outcome of a call: 0 or a negative FI error. */
static void answer(ssize_t result)
{
	if (result >= 0)
		printf("ok\n");
	else
		printf("error %s\n", fi_strerror((int)-result));
}

static void lacks(const char *reason)
{
	printf("lacks %s\n", reason);
}

/* Takes a completion of a transmit queue. Returns its FI error, or 0. */
static int reap(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry error = {0};
	ssize_t result = fi_cq_read(tx, &entry, 1);

	if (result == 1)
		sends--;
	if (result != -FI_EAVAIL)
		return 0;
	fi_cq_readerr(tx, &error, 0);
	sends--;
	return error.err;
}

/* Moves everything on until all is sent. Returns the first FI error of a request. */
static int finish(uint64_t ms)
{
	uint64_t end = now_ms() + ms;
	int error = 0;

	while (sends && now_ms() < end) {
		int this = reap();

		error = error ? error : this;
	}
	if (!sends)
		out_at = 0;
	return sends ? FI_ETIMEDOUT : error;
}

static void close_all(void)
{
	if (ep)
		fi_close(&ep->fid);
	if (mr)
		fi_close(&mr->fid);
	if (tx)
		fi_close(&tx->fid);
	if (rx)
		fi_close(&rx->fid);
	if (av)
		fi_close(&av->fid);
	if (domain)
		fi_close(&domain->fid);
	if (fabric)
		fi_close(&fabric->fid);
	if (info)
		fi_freeinfo(info);
	ep = NULL;
	mr = NULL;
	tx = rx = NULL;
	av = NULL;
	domain = NULL;
	fabric = NULL;
	info = NULL;
	sends = 0;
	posted = false;
	out_at = 0;
	memset(kinds, 0, sizeof(kinds));
	printf("ok\n");
}

static int open_objects(void)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD};
	struct fi_av_attr table = {.type = FI_AV_TABLE};
	int result;

	hints->fabric_attr->prov_name = strdup("spfe");
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_TAGGED | FI_RMA | FI_ATOMIC;
	result = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	if (result || (result = fi_fabric(info->fabric_attr, &fabric, NULL)) ||
	    (result = fi_domain(fabric, info, &domain, NULL)) ||
	    (result = fi_av_open(domain, &table, &av, NULL)) ||
	    (result = fi_cq_open(domain, &cq, &tx, NULL)) ||
	    (result = fi_cq_open(domain, &cq, &rx, NULL)) ||
	    (result = fi_endpoint(domain, info, &ep, NULL)) ||
	    (result = fi_ep_bind(ep, &av->fid, 0)) ||
	    (result = fi_ep_bind(ep, &tx->fid, FI_TRANSMIT)) ||
	    (result = fi_ep_bind(ep, &rx->fid, FI_RECV)))
		return result;
	return fi_enable(ep);
}

static void open_endpoint(void)
{
	uint8_t name[64];
	size_t bytes = sizeof(name);
	int result;

	if (ep) {
		lacks("fi_getinfo() has one answer for every device that it does not find");
		return;
	}
	setenv("FI_SPFE_DEVICE", word[1], 1);
	result = open_objects();
	if (!result)
		result = fi_getname(&ep->fid, name, &bytes);
	if (result) {
		answer(result);
		return;
	}
	printf("ok ");
	for (size_t at = 0; at < bytes; at++)
		printf("%02x", name[at]);
	printf("\n");
}

static void insert_peer(void)
{
	uint8_t name[64] = {0};
	unsigned value;

	for (size_t at = 0; at < sizeof(name) && sscanf(word[1] + 2 * at, "%2x", &value) == 1; at++)
		name[at] = (uint8_t)value;
	answer(fi_av_insert(av, name, 1, &peer, 0, NULL) == 1 ? 0 : -FI_EINVAL);
}

static void open_queue(void)
{
	unsigned index = number(1) % QUEUES, other;

	for (other = 0; other < QUEUES; other++)
		if (other != index && kinds[other] == word[0][0] && tags[other] == number(2))
			break;
	if (number(2) > 50) {
		lacks("every tag exists");
	} else if (other < QUEUES) {
		lacks("a tag has no owner: every endpoint may use it");
	} else {
		tags[index] = number(2);
		kinds[index] = word[0][0];
		printf("ok\n");
	}
}

/* Room for bytes that are sent. */
static uint8_t *room(size_t bytes)
{
	if (out_at + bytes > BYTES)
		finish(10000);
	out_at += bytes;
	return out + out_at - bytes;
}

static ssize_t send_message(uint64_t tag, size_t length, unsigned seed, uint64_t flags)
{
	uint8_t *at = room(length);
	struct iovec part = {at, length};
	struct fi_msg_tagged message = {
		.msg_iov = &part, .iov_count = 1, .addr = peer, .tag = tag};
	ssize_t result;

	pattern(at, seed, 0, length);
	while ((result = fi_tsendmsg(ep, &message, flags | FI_COMPLETION)) == -FI_EAGAIN)
		reap();
	sends += result == 0;
	return result;
}

static void send_one(void)
{
	if (!strcmp(word[2], "eep"))
		lacks("messages of libfabric have no error end");
	else if (!strcmp(word[2], "more"))
		lacks("messages of libfabric are sent whole");
	else if (number(3) == 0)
		lacks("libfabric has empty messages");
	else
		answer(send_message(tags[number(1)], number(3), (unsigned)number(4), 0));
}

static void send_group(void)
{
	ssize_t result = 0;

	for (unsigned index = 0; !result && index < number(2); index++)
		result = send_message(tags[number(1)], number(3), (unsigned)number(4) + index,
				      index + 1 < number(2) ? FI_MORE : 0);
	answer(result);
}

static void send_gather(void)
{
	struct iovec part[PARTS];
	size_t count = 0, total = 0;
	ssize_t result;

	for (int index = 3; index < words && count < PARTS; index++, count++) {
		part[count].iov_len = number(index);
		part[count].iov_base = room(number(index));
		pattern(part[count].iov_base, (unsigned)number(2), total, number(index));
		total += number(index);
	}
	result = fi_tsendv(ep, part, NULL, count, peer, tags[number(1)], NULL);
	sends += result == 0;
	answer(result);
}

static ssize_t post_receive(void)
{
	ssize_t result = 0;

	if (!posted)
		result = fi_trecv(ep, in, BYTES, NULL, FI_ADDR_UNSPEC, tags[number(1)], 0, in);
	posted = !result;
	return result;
}

/* Takes a completion of the receive queue. Returns 1, 0 after ms without one, or an FI error. */
static ssize_t received(struct fi_cq_tagged_entry *entry, uint64_t ms)
{
	uint64_t end = now_ms() + ms;
	ssize_t result;

	do {
		result = fi_cq_read(rx, entry, 1);
		reap();
	} while (result == -FI_EAGAIN && now_ms() < end);
	return result == -FI_EAGAIN ? 0 : result;
}

static void receive(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry error = {0};
	ssize_t result = post_receive();

	if (!result)
		result = received(&entry, number(2));
	if (result == 0) {
		/* Nothing is consumed: the receive is withdrawn. */
		fi_cancel(&ep->fid, in);
		while (fi_cq_readerr(rx, &error, 0) != 1)
			;
		posted = false;
		printf("error TIMED_OUT\n");
	} else if (result < 0)
		answer(result);
	else {
		posted = false;
		printf("ok %zu %u eop OK\n", entry.len, checksum(in, entry.len));
	}
}

static void *signal_queue(void *unused)
{
	usleep(20000);
	fi_cq_signal(rx);
	return unused;
}

static void cancelled_wait(void)
{
	struct fi_cq_tagged_entry entry;
	uint64_t start = now_ms();
	pthread_t other;
	ssize_t result;

	pthread_create(&other, NULL, signal_queue, NULL);
	result = fi_cq_sread(rx, &entry, 1, NULL, (int)number(2));
	pthread_join(other, NULL);
	if (result == -FI_EAGAIN && now_ms() - start < number(2))
		printf("error CANCELLED\n");
	else
		printf("error %zd\n", result);
}

/* Waits with the descriptor of the queue, as an event loop does. */
static void await(void)
{
	struct fid *all[1] = {&rx->fid};
	struct pollfd fd = {.events = POLLIN};
	uint64_t end = now_ms() + number(2);
	ssize_t result = post_receive();

	if (!result)
		result = fi_control(&rx->fid, FI_GETWAIT, &fd.fd);
	while (!result) {
		struct fi_cq_tagged_entry none;
		uint64_t now = now_ms();

		result = fi_trywait(fabric, all, 1);
		if (result == -FI_EAGAIN && fi_cq_read(rx, &none, 0) == 0)
			break;
		if (!result && poll(&fd, 1, now < end ? (int)(end - now) : 0) == 1 &&
		    fi_cq_read(rx, &none, 0) == 0)
			break;
		if (now >= end) {
			printf("error TIMED_OUT\n");
			return;
		}
		result = 0;
	}
	answer(result == -FI_EAGAIN ? 0 : result);
}

static void serve(void)
{
	answer(fi_mr_reg(domain, memory, BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY, 0, &mr,
			 NULL));
}

/* The outcome of a request for remote memory. */
static bool done(ssize_t result)
{
	int error;

	sends += result == 0;
	error = result ? (int)-result : finish(10000);
	if (error == FI_EINVAL || error == FI_EACCES)
		printf("error REFUSED\n");
	else if (error)
		answer(-error);
	return error == 0;
}

static void rdma_write(void)
{
	uint8_t *at = room(number(3));

	pattern(at, (unsigned)number(4), 0, number(3));
	if (done(fi_write(ep, at, number(3), NULL, peer, number(2), KEY, NULL)))
		printf("ok\n");
}

static void rdma_read(void)
{
	memset(in, 0, number(3));
	if (done(fi_read(ep, in, number(3), NULL, peer, number(2), KEY, NULL)))
		printf("ok %llu %u\n", number(3), checksum(in, number(3)));
}

static void rdma_add(void)
{
	uint64_t value = number(3), old = 0;

	if (done(fi_fetch_atomic(ep, &value, 1, NULL, &old, NULL, peer, number(2), KEY, FI_UINT64,
				 FI_SUM, NULL)))
		printf("ok %llu\n", (unsigned long long)old);
}

/* The provider makes its errors with spfe_errno(); libfabric must know each of them. */
static void status(void)
{
	int result = -(int)number(1), error = spfe_errno(result);
	bool known = error == 0 || !strstr(fi_strerror(error), "nknown");

	printf("ok %s %s %d%s\n", spfe_status_name(result), spfe_status_class(result), error,
	       known ? "" : " unknown");
}

static bool refuse(const char *name)
{
	static const char *const table[][2] = {
		{"burst", "libfabric has no bursts"},
		{"path", "the provider routes: a program gives the address of a process"},
		{"pooled-tx", "buffers belong to the program"},
		{"pooled-rx", "buffers belong to the program"},
		{"packed", "a receive has a buffer of its own; FI_MULTI_RECV shares one"},
		{"wait", "libfabric waits for completions of receives, not for packets"},
		{"reset", "an endpoint of libfabric is closed, not reset"},
		{"messages", "libfabric has no broadcast messages"},
		{"time-codes", "libfabric has no time-codes"},
		{"interrupts", "libfabric has no interrupts"},
		{"target", "libfabric has no RMAP"},
		{"space-packet", "libfabric has no CCSDS packets"},
		{"mib", "libfabric has no management information base"},
	};

	for (size_t index = 0; index < sizeof(table) / sizeof(*table); index++)
		if (!strcmp(name, table[index][0])) {
			lacks(table[index][1]);
			return true;
		}
	return false;
}

static void carry_out(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} table[] = {
		{"open", open_endpoint}, {"close-all", close_all}, {"peer", insert_peer},
		{"tx", open_queue}, {"rx", open_queue}, {"rx-event", open_queue},
		{"send", send_one}, {"group", send_group}, {"gather", send_gather},
		{"recv", receive}, {"cancelled-wait", cancelled_wait}, {"await", await},
		{"server", serve}, {"rdma-write", rdma_write}, {"rdma-read", rdma_read},
		{"rdma-add", rdma_add}, {"status", status},
	};

	for (size_t index = 0; index < sizeof(table) / sizeof(*table); index++)
		if (!strcmp(word[0], table[index].name)) {
			table[index].run();
			return;
		}
	if (refuse(word[0]))
		return;
	if (!strcmp(word[0], "drain"))
		answer(-finish(number(2)));
	else if (!strcmp(word[0], "rdma"))
		printf("ok\n");
	else if (!strcmp(word[0], "close")) {
		kinds[number(1) % QUEUES] = 0;
		printf("ok\n");
	} else
		printf("error UNKNOWN_COMMAND\n");
}

int main(void)
{
	static char line[4096];
	struct pollfd input = {.fd = 0, .events = POLLIN};

	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		/* Progress for what the other end wants, until there is a command. */
		while (poll(&input, 1, ep ? 1 : -1) == 0)
			reap();
		if (!fgets(line, sizeof(line), stdin))
			break;
		words = 0;
		for (char *at = strtok(line, " \n"); at && words < 24; at = strtok(NULL, " \n"))
			word[words++] = at;
		if (words == 0)
			continue;
		if (!strcmp(word[0], "quit"))
			break;
		carry_out();
		fflush(stdout);
	}
	return 0;
}
