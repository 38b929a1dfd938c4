/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A node that does not speak the provider's protocol, or speaks it wrongly. */
#include <spfe/spfe.h>

#include "../../libfabric/wire.h"
#include "ends.h"

#define PACKETS 20000

struct raw {
	spfe_endpoint *device;
	spfe_region *region;
	struct spfe_buf *buf;
	spfe_queue *tx, *rx;
};

/* Node 3 of 4, as far as an endpoint sees it: it sends to the endpoint, and could receive. */
static void raw_open(struct raw *raw, const struct end *to)
{
	uint32_t channel = 3 * 4 + to->name[6], back = to->name[6] * 4 + 3;
	struct spfe_queue_options options = SPFE_QUEUE_OPTIONS_INIT;

	MUST(spfe_open(getenv("FI_SPFE_DEVICE"), &raw->device));
	MUST(spfe_tx_open(raw->device, channel / 8, channel % 8, NULL, &raw->tx));
	options.area_bytes = 65536;
	MUST(spfe_packed_rx_open(raw->device, (back / 8) ^ 1, back % 8, &options, &raw->rx));
	MUST(spfe_region_alloc(raw->device, 65536, &raw->region));
	MUST(spfe_buf_get(raw->region, 0, 65536, &raw->buf));
}

static void raw_close(struct raw *raw)
{
	OK(spfe_queue_close(raw->tx));
	OK(spfe_queue_close(raw->rx));
	OK(spfe_buf_put(raw->buf));
	OK(spfe_region_free(raw->region));
	OK(spfe_close(raw->device));
}

static void raw_send(struct raw *raw, const void *bytes, uint32_t length, enum spfe_end end)
{
	struct spfe_sent sent = {0};
	uint64_t limit = now_ms() + SOON_MS;

	memcpy(raw->buf->data, bytes, length);
	raw->buf->length = length;
	MUST(spfe_send(raw->tx, raw->buf, end));
	while (spfe_sent_poll(raw->tx, &sent) == 0 && now_ms() < limit)
		move_on();
	IS(0, sent.status);
	move_on();
}

static uint64_t state = 88172645463325252u;

static uint64_t random_word(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct wire header(const struct end *to, uint64_t from, uint8_t kind)
{
	struct wire wire = {
		.address = WIRE_ADDRESS,
		.protocol = WIRE_PROTOCOL,
		.version = WIRE_VERSION,
		.kind = kind,
		.source = 3,
		.from = from,
	};

	memcpy(&wire.to, to->name + 8, sizeof(wire.to));
	return wire;
}

/* Small numbers, and numbers near limits, reach more than random ones. */
static uint64_t odd_number(void)
{
	static const uint64_t list[] = {0, 1, 2, 63, 64, 255, 4096, 16384, 16385, 1 << 20};
	uint64_t word = random_word();

	switch (word % 4) {
	case 0:
		return list[(word >> 8) % 10];
	case 1:
		return UINT64_MAX - list[(word >> 8) % 10];
	case 2:
		return UINT64_C(1) << 32 | (word >> 8) % 600; /* numbers of operations */
	default:
		return word;
	}
}

static void mutated(struct raw *raw, const struct end *to, uint64_t from)
{
	static uint8_t packet[sizeof(struct wire) + 20000];
	struct wire wire = header(to, from, (uint8_t)(1 + random_word() % (WIRE_KINDS - 1)));
	uint32_t payload = (uint32_t)(random_word() % 4 ? random_word() % 64
							: random_word() % 20000);
	uint32_t bytes, flips;

	wire.flags = (uint16_t)(random_word() & 0x3f);
	wire.length = payload;
	wire.status = random_word() % 2 ? (uint32_t)(random_word() & 0x1f0f)
					: (uint32_t)odd_number();
	wire.tag = random_word() % 2 ? 1 : odd_number();
	wire.data = odd_number();
	wire.id = odd_number();
	wire.offset = odd_number();
	wire.total = random_word() % 2 ? payload : odd_number();
	memcpy(packet, &wire, sizeof(wire));
	bytes = (uint32_t)sizeof(wire) + payload;
	for (flips = (uint32_t)(random_word() % 3); flips; flips--)
		packet[random_word() % sizeof(wire)] ^= (uint8_t)(1u << (random_word() % 8));
	if (random_word() % 16 == 0)
		bytes = 1 + (uint32_t)(random_word() % bytes);
	raw_send(raw, packet, bytes, SPFE_EOP);
}

/* Two good ends talk while a bad one sends: memory stays whole, and so does their conversation. */
static void mutations(void)
{
	static uint8_t memory[4096], into[64], text[64], from[64];
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry error;
	struct end pair[2];
	struct fid_mr *mr;
	struct raw raw;
	uint64_t incarnation;
	int i, posted = 0, a, b;

	pair_open(pair, NULL);
	raw_open(&raw, &pair[1]);
	MUST(fi_mr_reg(pair[1].domain, memory, sizeof(memory), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
		       1, 0, &mr, NULL));
	incarnation = now_ms() << 20;
	for (i = 0; i < PACKETS && !bad; i++) {
		ssize_t got;

		if (posted < 4) {
			OK(fi_recv(pair[1].ep, into, 64, NULL, FI_ADDR_UNSPEC, &posted));
			OK(fi_trecv(pair[1].ep, into, 64, NULL, FI_ADDR_UNSPEC, 1, 0, &posted));
			posted += 2;
		}
		mutated(&raw, &pair[1], incarnation + (uint64_t)i / 3);
		while ((got = fi_cq_read(pair[1].rx, &entry, 1)) != -FI_EAGAIN) {
			if (got == -FI_EAVAIL)
				IS(1, fi_cq_readerr(pair[1].rx, &error, 0));
			if (got == -FI_EAVAIL ? error.op_context == &posted
					      : entry.op_context == &posted)
				posted--;
		}
		if (i % 100)
			continue;
		fill(text, 64, (unsigned)i);
		OK(fi_trecv(pair[0].ep, from, 64, NULL, FI_ADDR_UNSPEC, 9, 0, &b));
		OK(fi_tsend(pair[1].ep, text, 64, NULL, pair[1].peer, 9, &a));
		done(pair[0].rx, &b);
		done(pair[1].tx, &a);
		CHECK(filled(from, 64, (unsigned)i));
	}
	raw_close(&raw);
	OK(fi_close(&mr->fid));
	pair_close(pair);
}

/* A packet that the network cut ends what waits for this peer, and says so. */
static void cut(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	uint8_t in[64], name[16];
	struct raw raw;
	struct wire wire;
	fi_addr_t address;
	uint64_t from = now_ms() << 20;
	int a;

	pair_open(pair, NULL);
	raw_open(&raw, &pair[1]);
	memcpy(name, pair[0].name, 16);
	name[6] = 3;
	memcpy(name + 8, &from, 8);
	IS(1, fi_av_insert(pair[1].av, name, 1, &address, 0, NULL));
	OK(fi_recv(pair[1].ep, in, 64, NULL, address, &a));
	wire = header(&pair[1], from, WIRE_MSG);
	raw_send(&raw, &wire, sizeof(wire), SPFE_EEP);
	IS(FI_EIO, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &a);
	IS(-FI_ECONNABORTED, fi_send(pair[1].ep, in, 1, NULL, address, NULL));
	/* A long message of which the end never comes: its process is gone when it closes. */
	raw_close(&raw);
	pair_close(pair);
}

/* More messages than the window permits. */
static void too_many(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	static uint8_t packet[sizeof(struct wire) + 16384], in[64], name[16];
	struct raw raw;
	struct wire wire;
	fi_addr_t address;
	uint64_t from = now_ms() << 20;
	int a, i;

	pair_open(pair, NULL);
	raw_open(&raw, &pair[1]);
	memcpy(name, pair[0].name, 16);
	name[6] = 3;
	memcpy(name + 8, &from, 8);
	IS(1, fi_av_insert(pair[1].av, name, 1, &address, 0, NULL));
	OK(fi_trecv(pair[1].ep, in, 64, NULL, address, 1, 0, &a));
	wire = header(&pair[1], from, WIRE_MSG);
	wire.length = 16384;
	wire.total = 16384;
	memcpy(packet, &wire, sizeof(wire));
	for (i = 0; i < 15; i++)
		raw_send(&raw, packet, sizeof(packet), SPFE_EOP);
	CHECK(nothing(pair[1].rx));
	raw_send(&raw, packet, sizeof(packet), SPFE_EOP);
	IS(EPROTO, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &a);
	raw_close(&raw);
	pair_close(pair);
}

void test_hostile(void)
{
	test("20,000 mutated packets", mutations);
	test("a packet that ends with EEP", cut);
	test("more messages than the window", too_many);
}
