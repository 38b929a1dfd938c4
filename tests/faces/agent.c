/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The C interface as an agent of the conformance suite: reads commands and answers each with a line
 * (crates/spfe-conformance/src/faces.rs has the rules; every command is a function here).
 */
#include <spfe/spfe.h>

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUES 8
#define BUFFERS 64
#define KEPT 512
#define PACKET_MAX (1 << 20)
#define REGION (1 << 21)
#define MS UINT64_C(1000000)

enum kind { NONE, POSTED, POOLED, PACKED };

static struct queue {
	spfe_queue *queue;
	enum kind kind;
	spfe_region *region;
	size_t at; /* bytes of the region that are in use */
	struct spfe_buf *cut[KEPT]; /* buffers that were cut out last, for closing */
	size_t cuts;
	struct spfe_run run;
} queues[QUEUES];

static spfe_endpoint *endpoint;
static spfe_rmap *rmap;
static spfe_rmap_target *target;
static spfe_rdma *rdma;
static spfe_rdma_server *server;
static struct spfe_rdma_region remote;
static pthread_t serving;
static uint8_t bytes[PACKET_MAX];
static char *word[24]; /* the command and its arguments */
static int words;

static unsigned long long number(int index)
{
	return index < words ? strtoull(word[index], NULL, 0) : 0;
}

static struct queue *queue(void)
{
	return &queues[number(1) % QUEUES];
}

static uint64_t deadline(uint64_t ms)
{
	return ms ? spfe_now_ns(endpoint) + ms * MS : SPFE_NOW;
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

static size_t hex(const char *text, uint8_t *to, size_t room)
{
	unsigned value;
	size_t count = 0;

	for (; count < room && sscanf(text, "%2x", &value) == 1 && text[1]; text += 2)
		to[count++] = (uint8_t)value;
	return count;
}

static void print_hex(const uint8_t *from, size_t length)
{
	while (length--)
		printf("%02x", *from++);
}

/* Answers with the outcome of a call. */
static void answer(int result)
{
	if (result >= 0)
		printf("ok\n");
	else if (result == SPFE_TIMED_OUT)
		printf("error TIMED_OUT\n");
	else if (result <= SPFE_RDMA_REFUSED)
		printf("error REFUSED\n");
	else if (result <= SPFE_RMAP_REFUSED)
		printf("error RMAP_REFUSED:%d\n", SPFE_RMAP_REFUSED - result);
	else
		printf("error %s\n", spfe_status_name(result));
}

/* ---- queues ---- */

static void close_queue(struct queue *of)
{
	if (of->queue)
		spfe_queue_close(of->queue);
	/* What was put back before is recognised, and refused. */
	for (size_t index = 0; index < KEPT && of->cut[index]; index++)
		spfe_buf_put(of->cut[index]);
	if (of->region)
		spfe_region_free(of->region);
	memset(of, 0, sizeof(*of));
}

static int cut(struct queue *of, size_t offset, size_t length, struct spfe_buf **buf)
{
	int result = spfe_buf_get(of->region, offset, length, buf);

	if (result >= 0)
		of->cut[of->cuts++ % KEPT] = *buf;
	return result;
}

/* A buffer of the queue's region with this many bytes. The region is used from its start again once
 * all of its buffers are back. */
static int buffer(struct queue *of, size_t length, struct spfe_buf **buf)
{
	size_t room = length ? length : 1;
	int result;

	if (of->at + room > REGION)
		of->at = 0;
	result = cut(of, of->at, room, buf);
	if (result < 0)
		return result;
	of->at += (room + 63) & ~(size_t)63;
	(*buf)->length = (uint32_t)length;
	return 0;
}

static int open_region(struct queue *of)
{
	of->at = 0;
	return spfe_region_alloc(endpoint, REGION, &of->region);
}

static void open_tx(void)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct queue *of = queue();
	int result;

	options.depth = (uint32_t)number(3);
	result = spfe_tx_open(endpoint, 0, (uint32_t)number(2), &options, &of->queue);
	of->kind = POSTED;
	answer(result < 0 ? result : open_region(of));
}

static void open_rx(uint32_t flags)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct queue *of = queue();
	struct spfe_buf *buf;
	int result;

	options.flags = flags;
	result = spfe_rx_open(endpoint, 0, (uint32_t)number(2), &options, &of->queue);
	of->kind = POSTED;
	if (result >= 0)
		result = open_region(of);
	for (unsigned count = 0; result >= 0 && count < number(3); count++) {
		result = cut(of, count * number(4), number(4), &buf);
		if (result >= 0)
			result = spfe_rx_post(of->queue, buf);
	}
	answer(result);
}

static void open_pooled(int (*open)(spfe_endpoint *, uint32_t, uint32_t,
				    const struct spfe_queue_options *, spfe_queue **))
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct queue *of = queue();

	options.depth = (uint32_t)number(3);
	options.slot_bytes = (uint32_t)number(4);
	of->kind = POOLED;
	answer(open(endpoint, 0, (uint32_t)number(2), &options, &of->queue));
}

static void open_packed(void)
{
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;
	struct queue *of = queue();

	options.area_bytes = (uint32_t)number(3);
	of->kind = PACKED;
	answer(spfe_packed_rx_open(endpoint, 0, (uint32_t)number(2), &options, &of->queue));
}

/* Gives back what was sent. */
static int reap(struct queue *of)
{
	struct spfe_sent sent;
	struct spfe_buf *buf;
	int result, status = 0;

	while ((result = spfe_sent_poll(of->queue, &sent)) == 1)
		if (sent.status < 0)
			status = sent.status;
	while (of->kind == POSTED && spfe_buf_take(of->queue, &buf) == 1)
		spfe_buf_put(buf);
	return result < 0 ? result : status;
}

static int send_slot(struct queue *of, size_t length, unsigned seed, int staged)
{
	uint32_t capacity;
	uint8_t *slot;
	int result = spfe_slot(of->queue, &slot, &capacity);

	if (result < 1)
		return result < 0 ? result : -SPFE_STATUS_BUSY;
	if (length <= capacity)
		pattern(slot, seed, 0, length);
	return staged ? spfe_slot_stage(of->queue, (uint32_t)length)
		      : spfe_slot_send(of->queue, (uint32_t)length);
}

static void send_one(void)
{
	struct queue *of = queue();
	size_t length = number(3);
	struct spfe_buf *buf;
	int result = reap(of);

	if (of->kind == POOLED) {
		answer(send_slot(of, length, (unsigned)number(4), 0));
		return;
	}
	if (result >= 0)
		result = buffer(of, length, &buf);
	if (result < 0) {
		answer(result);
		return;
	}
	pattern(buf->data, (unsigned)number(4), 0, length);
	result = spfe_send(of->queue, buf,
			   !strcmp(word[2], "eep")    ? SPFE_EEP
			   : !strcmp(word[2], "more") ? SPFE_MORE
						      : SPFE_EOP);
	if (result < 0)
		spfe_buf_put(buf);
	answer(result);
}

static void send_group(void)
{
	struct spfe_buf *group[BUFFERS] = {0};
	struct queue *of = queue();
	uint32_t count = (uint32_t)number(2), index;
	int result = reap(of);

	for (index = 0; result >= 0 && index < count && index < BUFFERS; index++) {
		if (of->kind == POOLED) {
			result = send_slot(of, number(3), (unsigned)number(4) + index, 1);
			continue;
		}
		result = buffer(of, number(3), &group[index]);
		if (result >= 0)
			pattern(group[index]->data, (unsigned)number(4) + index, 0, number(3));
	}
	if (result >= 0 && of->kind == POOLED)
		result = spfe_slot_submit(of->queue);
	else if (result >= 0)
		result = spfe_send_group(of->queue, group, count) == (int)count
				 ? 0
				 : -SPFE_STATUS_BUSY;
	answer(result);
}

static void send_gather(void)
{
	struct spfe_buf *part[16] = {0};
	struct queue *of = queue();
	size_t at = 0;
	uint32_t count = 0;
	int result = reap(of);

	for (int index = 3; result >= 0 && index < words; index++, count++) {
		result = buffer(of, number(index), &part[count]);
		if (result >= 0)
			pattern(part[count]->data, (unsigned)number(2), at, number(index));
		at += number(index);
	}
	answer(result < 0 ? result : spfe_send_gather(of->queue, part, count));
}

static void send_path(void)
{
	struct queue *of = queue();
	uint8_t path[32];
	uint32_t length = (uint32_t)hex(word[2], path, sizeof(path));
	struct spfe_buf *buf;
	int result = reap(of);

	if (result >= 0)
		result = buffer(of, number(3), &buf);
	if (result >= 0) {
		pattern(buf->data, (unsigned)number(4), 0, number(3));
		result = spfe_send_with_path(of->queue, path, length, buf);
	}
	answer(result);
}

static void send_burst(void)
{
	struct queue *of = queue();
	uint32_t length = (uint32_t)number(2), stride = (uint32_t)number(3);
	uint32_t count = (uint32_t)number(4);
	struct spfe_buf *buf;
	int result = reap(of);

	if (result >= 0)
		result = buffer(of, (size_t)stride * (count - 1) + length, &buf);
	if (result >= 0) {
		pattern(buf->data, (unsigned)number(5), 0, buf->length);
		result = spfe_send_burst(of->queue, buf, length, stride, count);
	}
	answer(result);
}

static void drain(void)
{
	struct spfe_queue_stats stats = {.size = sizeof(stats)};
	struct queue *of = queue();
	int result;

	/* A completion may be there for each of several submissions; the last wait finds none. */
	result = spfe_queue_wait(of->queue, NULL, deadline(number(2)));
	while (result >= 0) {
		result = reap(of);
		if (result >= 0)
			result = spfe_queue_wait(of->queue, NULL, SPFE_NOW);
	}
	spfe_queue_stats(of->queue, &stats);
	answer(result == SPFE_TIMED_OUT ? 0 : result);
}

/* A part of a packet, copied to at. Returns as spfe_rx_poll() does. */
static int part(struct queue *of, size_t at, size_t *length, uint32_t *end, int *status)
{
	struct spfe_received received;
	struct spfe_packet packet;
	int result;

	if (of->kind == POSTED) {
		result = spfe_rx_poll(of->queue, &received);
		if (result < 1)
			return result;
		*length = received.buf->length;
		*end = received.end;
		*status = received.status;
		/* A buffer that comes back unused says why no packet will come. */
		if (*status < 0 && *status != -SPFE_STATUS_PACKET_CUT)
			return *status;
		memcpy(bytes + at, received.buf->data, *length);
		result = spfe_rx_post(of->queue, received.buf);
		return result < 0 ? result : 1;
	}
	if (of->kind == PACKED) {
		result = of->run.bytes ? 1 : spfe_run_poll(of->queue, &of->run);
		if (result < 1 || !spfe_run_next(&of->run, &packet))
			return result < 1 ? result : -SPFE_STATUS_BAD_RING;
	} else {
		result = spfe_slot_peek(of->queue, &packet);
		if (result < 1)
			return result;
	}
	*length = packet.length;
	*end = packet.end;
	*status = packet.status;
	memcpy(bytes + at, packet.data, packet.length);
	if (of->kind == POOLED)
		result = spfe_slot_release(of->queue);
	else if (of->run.bytes == 0)
		result = spfe_run_release(of->queue);
	return result < 0 ? result : 1;
}

static void receive(void)
{
	struct queue *of = queue();
	size_t total = 0, length;
	uint64_t until = deadline(number(2));
	uint32_t end = SPFE_MORE;
	int status = 0, result = 0;

	while (end == SPFE_MORE && result >= 0) {
		result = part(of, total, &length, &end, &status);
		if (result == 1)
			total += length;
		else if (result == 0)
			result = spfe_queue_wait(of->queue, NULL, until);
	}
	if (result < 0)
		answer(result);
	else
		printf("ok %zu %u %s %s\n", total, checksum(bytes, total),
		       end == SPFE_EEP ? "eep" : "eop", spfe_status_name(status));
}

static void wait_count(void)
{
	struct spfe_threshold threshold = {.count = (uint32_t)number(2)};

	answer(spfe_queue_wait(queue()->queue, &threshold, deadline(number(3))));
}

static void *cancel(void *of)
{
	usleep(20000);
	spfe_queue_cancel(of);
	return NULL;
}

static void cancelled_wait(void)
{
	pthread_t other;
	int result;

	pthread_create(&other, NULL, cancel, queue()->queue);
	result = spfe_queue_wait(queue()->queue, NULL, deadline(number(2)));
	pthread_join(other, NULL);
	answer(result);
}

static void await(void)
{
	struct pollfd fd = {.fd = spfe_queue_fd(queue()->queue), .events = POLLIN};
	int result = spfe_queue_request_event(queue()->queue, NULL);

	if (result == 0 && poll(&fd, 1, (int)number(2)) == 0)
		result = SPFE_TIMED_OUT;
	answer(result);
}

/* ---- messages ---- */

static void message(void)
{
	uint8_t data[8] = {0};

	hex(word[4], data, 8);
	answer(spfe_broadcast_send(queue()->queue, (uint8_t)number(2), (uint8_t)number(3), data));
}

static void next_message(void)
{
	struct spfe_broadcast got;
	int result = spfe_queue_wait(queue()->queue, NULL, deadline(number(2)));

	if (result >= 0)
		result = spfe_broadcast_poll(queue()->queue, &got);
	if (result < 1) {
		answer(result ? result : SPFE_TIMED_OUT);
		return;
	}
	printf("ok %u %u ", got.channel, got.type);
	print_hex(got.data, 8);
	printf("\n");
}

static void next_time_code(void)
{
	struct spfe_time_code got;
	int result = spfe_queue_wait(queue()->queue, NULL, deadline(number(2)));

	if (result >= 0)
		result = spfe_time_code_poll(queue()->queue, &got);
	if (result < 1)
		answer(result ? result : SPFE_TIMED_OUT);
	else
		printf("ok %u %u\n", got.time, got.flags);
}

static void next_interrupt(void)
{
	struct spfe_interrupt got;
	int result = spfe_queue_wait(queue()->queue, NULL, deadline(number(2)));

	if (result >= 0)
		result = spfe_interrupt_poll(queue()->queue, &got);
	if (result < 1)
		answer(result ? result : SPFE_TIMED_OUT);
	else
		printf("ok %u %u\n", got.number, got.acknowledge);
}

/* ---- remote memory ---- */

static void *serve_target(void *unused)
{
	(void)unused;
	while (spfe_rmap_target_serve(target, SPFE_NEVER) >= 0)
		;
	return NULL;
}

static void open_target(void)
{
	uint8_t *memory;
	int result = spfe_rmap_target_open(endpoint, 0, (uint32_t)number(1), NULL, &target);

	if (result >= 0)
		result = spfe_rmap_target_window(target, number(2), number(3),
						 SPFE_RMAP_READ | SPFE_RMAP_WRITE | SPFE_RMAP_MODIFY,
						 (int)number(4), &memory);
	if (result >= 0)
		pthread_create(&serving, NULL, serve_target, NULL);
	answer(result);
}

static void open_rmap(void)
{
	struct spfe_rmap_options options = {.size = sizeof(options), .key = (uint8_t)number(3)};

	answer(spfe_rmap_open(endpoint, 0, (uint32_t)number(2), &options, &rmap));
}

static void rmap_write(void)
{
	pattern(bytes, (unsigned)number(4), 0, number(3));
	answer(spfe_rmap_write(rmap, number(2), bytes, number(3), deadline(10000)));
}

static void read_answer(int result)
{
	if (result < 0)
		answer(result);
	else
		printf("ok %llu %u\n", number(3), checksum(bytes, number(3)));
}

static void rmap_read(void)
{
	read_answer(spfe_rmap_read(rmap, number(2), bytes, number(3), deadline(10000)));
}

static void rmap_modify(void)
{
	uint8_t data[4], mask[4], old[4];
	size_t length = hex(word[3], data, 4);
	int result;

	hex(word[4], mask, 4);
	result = spfe_rmap_modify(rmap, number(2), data, mask, old, length, deadline(10000));
	if (result < 0) {
		answer(result);
		return;
	}
	printf("ok ");
	print_hex(old, length);
	printf("\n");
}

static void *serve_rdma(void *unused)
{
	(void)unused;
	while (spfe_rdma_server_serve(server, SPFE_NEVER) >= 0)
		;
	return NULL;
}

static void open_server(void)
{
	int result = spfe_rdma_server_open(endpoint, 0, (uint32_t)number(1), word[2], &server);

	if (result >= 0)
		pthread_create(&serving, NULL, serve_rdma, NULL);
	answer(result);
}

static void open_rdma(void)
{
	int result = spfe_rdma_open(endpoint, 0, (uint32_t)number(2), NULL, &rdma);

	if (result >= 0)
		result = spfe_rdma_regions(rdma, &remote, 1, 10000 * MS);
	if (result >= 0)
		result = spfe_rdma_connect(rdma, 10000 * MS);
	answer(result);
}

static void rdma_write(void)
{
	pattern(bytes, (unsigned)number(4), 0, number(3));
	answer(spfe_rdma_write(rdma, remote.key, remote.base + number(2), bytes, number(3),
			       10000 * MS));
}

static void rdma_read(void)
{
	read_answer(spfe_rdma_read(rdma, remote.key, remote.base + number(2), bytes, number(3),
				   10000 * MS));
}

static void rdma_add(void)
{
	struct spfe_rdma_request request = {.size = sizeof(request),
					    .opcode = SPFE_RDMA_FETCH_ADD,
					    .flags = SPFE_RDMA_SIGNALED,
					    .address = remote.base + number(2),
					    .key = remote.key,
					    .operand = number(3)};
	struct spfe_rdma_completion done = {0};
	int result = spfe_rdma_post(rdma, &request);

	if (result >= 0)
		result = spfe_rdma_ring(rdma);
	if (result >= 0)
		result = spfe_rdma_wait(rdma, 1, 10000 * MS);
	if (result >= 0)
		result = spfe_rdma_poll(rdma, &done);
	if (result < 0 || done.status < 0)
		answer(result < 0 ? result : done.status);
	else
		printf("ok %llu\n", (unsigned long long)done.old);
}

/* ---- the rest ---- */

static void space_packet(void)
{
	struct spfe_space_packet packet = {.size = sizeof(packet),
					   .data = bytes,
					   .data_bytes = (uint32_t)number(3),
					   .apid = (uint16_t)number(1),
					   .sequence_count = (uint16_t)number(2),
					   .sequence_flags = SPFE_UNSEGMENTED,
					   .target = 254};
	static uint8_t out[70000];
	int result;

	pattern(bytes, (unsigned)number(4), 0, number(3));
	result = spfe_ccsds_write(&packet, NULL, 0, out, sizeof(out));
	if (result < 0) {
		answer(result);
		return;
	}
	printf("ok ");
	print_hex(out, (size_t)result);
	printf("\n");
}

static void read_space_packet(void)
{
	struct spfe_space_packet packet = {.size = sizeof(packet)};
	size_t length = hex(word[1], bytes, sizeof(bytes));
	int result = spfe_ccsds_read(bytes, length, &packet);

	if (result < 0)
		answer(result);
	else
		printf("ok %u %u %u %u\n", packet.apid, packet.sequence_count, packet.data_bytes,
		       checksum(packet.data, packet.data_bytes));
}

static void status(void)
{
	int result = -(int)number(1);

	printf("ok %s %s %d\n", spfe_status_name(result), spfe_status_class(result),
	       spfe_errno(result));
}

static void mib(void)
{
	uint64_t value;
	int result = spfe_mib_get(endpoint, 0, word[1], &value);

	if (result < 0)
		answer(result);
	else
		printf("ok %llu\n", (unsigned long long)value);
}

static void close_all(void)
{
	if (target)
		spfe_rmap_target_cancel(target);
	if (server)
		spfe_rdma_server_cancel(server);
	if (target || server)
		pthread_join(serving, NULL);
	spfe_rmap_target_close(target);
	spfe_rdma_server_close(server);
	spfe_rmap_close(rmap);
	spfe_rdma_close(rdma);
	target = NULL;
	server = NULL;
	rmap = NULL;
	rdma = NULL;
	for (int index = 0; index < QUEUES; index++)
		close_queue(&queues[index]);
	if (endpoint)
		spfe_close(endpoint);
	endpoint = NULL;
	printf("ok\n");
}

static void open_endpoint(void)
{
	spfe_endpoint *opened;
	int result = spfe_open(word[1], &opened);

	if (result >= 0)
		endpoint = opened;
	answer(result);
}

static void open_simple(int (*open)(spfe_endpoint *, uint32_t,
				    const struct spfe_queue_options *, spfe_queue **),
			uint32_t port)
{
	answer(open(endpoint, port, NULL, &queue()->queue));
}

static int open_broadcast(spfe_endpoint *of, uint32_t port,
			  const struct spfe_queue_options *options, spfe_queue **place)
{
	return spfe_broadcast_open(of, port, SPFE_ANY, SPFE_ANY, options, place);
}

static void carry_out(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} table[] = {
		{"open", open_endpoint}, {"close-all", close_all}, {"tx", open_tx},
		{"packed", open_packed}, {"send", send_one}, {"group", send_group},
		{"gather", send_gather}, {"path", send_path}, {"burst", send_burst},
		{"drain", drain}, {"recv", receive}, {"wait", wait_count},
		{"cancelled-wait", cancelled_wait}, {"await", await}, {"message", message},
		{"next-message", next_message}, {"next-time-code", next_time_code},
		{"next-interrupt", next_interrupt},
		{"target", open_target}, {"rmap", open_rmap}, {"rmap-write", rmap_write},
		{"rmap-read", rmap_read}, {"rmap-modify", rmap_modify}, {"server", open_server},
		{"rdma", open_rdma}, {"rdma-write", rdma_write}, {"rdma-read", rdma_read},
		{"rdma-add", rdma_add}, {"space-packet", space_packet},
		{"read-space-packet", read_space_packet}, {"status", status}, {"mib", mib},
	};
	const char *name = word[0];

	for (size_t index = 0; index < sizeof(table) / sizeof(*table); index++)
		if (!strcmp(name, table[index].name)) {
			table[index].run();
			return;
		}
	if (!strcmp(name, "peer"))
		printf("ok\n");
	else if (!strcmp(name, "rx"))
		open_rx(0);
	else if (!strcmp(name, "rx-event"))
		open_rx(SPFE_EVENT);
	else if (!strcmp(name, "pooled-tx"))
		open_pooled(spfe_pooled_tx_open);
	else if (!strcmp(name, "pooled-rx"))
		open_pooled(spfe_pooled_rx_open);
	else if (!strcmp(name, "messages"))
		open_simple(open_broadcast, 0);
	else if (!strcmp(name, "time-codes"))
		open_simple(spfe_time_code_open, 1);
	else if (!strcmp(name, "time-code"))
		answer(spfe_time_code_send(queue()->queue, (uint8_t)number(2), (uint8_t)number(3)));
	else if (!strcmp(name, "interrupts"))
		open_simple(spfe_interrupt_open, 1);
	else if (!strcmp(name, "interrupt"))
		answer(spfe_interrupt_send(queue()->queue, (uint8_t)number(2), (uint8_t)number(3)));
	else if (!strcmp(name, "reset"))
		answer(spfe_reset(endpoint));
	else if (!strcmp(name, "close")) {
		close_queue(queue());
		printf("ok\n");
	} else
		printf("error UNKNOWN_COMMAND\n");
}

int main(void)
{
	static char line[200000];

	while (fgets(line, sizeof(line), stdin)) {
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
