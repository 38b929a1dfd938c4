/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Queues, address vectors, and calls with wrong arguments. */
#include "ends.h"

static uint8_t out[64], in[64], large_out[100000], large_in[100000];

/* Two endpoints of one domain on the same queues and addresses. */
static void shared_queues(void)
{
	struct fi_cq_tagged_entry entry;
	struct end pair[2];
	struct fid_ep *second;
	uint8_t name[64];
	size_t bytes = sizeof(name);
	fi_addr_t other;
	int a, b, c;

	pair_open(pair, NULL);
	MUST(fi_endpoint(pair[1].domain, pair[1].info, &second, NULL));
	MUST(fi_ep_bind(second, &pair[1].av->fid, 0));
	MUST(fi_ep_bind(second, &pair[1].tx->fid, FI_TRANSMIT));
	MUST(fi_ep_bind(second, &pair[1].rx->fid, FI_RECV));
	MUST(fi_enable(second));
	MUST(fi_getname(&second->fid, name, &bytes));
	IS(1, fi_av_insert(pair[0].av, name, 1, &other, 0, NULL));
	OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &b));
	OK(fi_recv(second, in, 64, NULL, FI_ADDR_UNSPEC, &c));
	OK(fi_send(pair[0].ep, out, 3, NULL, other, &a));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &c);
	OK(fi_send(pair[0].ep, out, 3, NULL, pair[0].peer, &a));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b);
	OK(fi_send(second, out, 3, NULL, pair[1].peer, &c));
	done(pair[1].tx, &c);
	IS(-FI_EBUSY, fi_close(&pair[1].rx->fid));
	IS(-FI_EBUSY, fi_close(&pair[1].av->fid));
	IS(-FI_EBUSY, fi_close(&pair[1].domain->fid));
	OK(fi_close(&second->fid));
	pair_close(pair);
}

/* An endpoint of the domain of another end, for shared contexts, with its queues. */
static struct fid_ep *sharing(struct end *end, struct fid_stx *stx, struct fid_ep *srx,
			      uint8_t name[64])
{
	size_t bytes = 64;
	struct fid_ep *ep;

	end->info->ep_attr->tx_ctx_cnt = stx ? FI_SHARED_CONTEXT : 1;
	end->info->ep_attr->rx_ctx_cnt = srx ? FI_SHARED_CONTEXT : 1;
	MUST(fi_endpoint(end->domain, end->info, &ep, NULL));
	MUST(fi_ep_bind(ep, &end->av->fid, 0));
	MUST(fi_ep_bind(ep, &end->tx->fid, FI_TRANSMIT));
	MUST(fi_ep_bind(ep, &end->rx->fid, FI_RECV));
	MUST(fi_ep_bind(ep, &end->sent->fid, FI_SEND)); /* move_on() reads it */
	if (stx || srx)
		IS(-FI_EINVAL, fi_enable(ep)); /* without its contexts */
	if (stx)
		OK(fi_ep_bind(ep, &stx->fid, 0));
	if (srx)
		OK(fi_ep_bind(ep, &srx->fid, 0));
	MUST(fi_enable(ep));
	MUST(fi_getname(&ep->fid, name, &bytes));
	return ep;
}

/* Messages to two endpoints of one context take its receives in their order, with or without a tag,
 * also messages that came before the receive.
 */
static void shared_receives(void)
{
	struct fi_cq_tagged_entry entry;
	struct fid_ep *srx, *eps[2];
	struct end pair[2];
	uint8_t name[64];
	fi_addr_t to[2];
	int a, b[4], i;

	pair_open(pair, NULL);
	MUST(fi_srx_context(pair[1].domain, pair[1].info->rx_attr, &srx, NULL));
	for (i = 0; i < 2; i++) {
		eps[i] = sharing(&pair[1], NULL, srx, name);
		IS(1, fi_av_insert(pair[0].av, name, 1, &to[i], 0, NULL));
	}
	for (i = 0; i < 3; i++)
		OK(fi_recv(srx, in, 64, NULL, FI_ADDR_UNSPEC, &b[i]));
	OK(fi_trecv(srx, in, 64, NULL, FI_ADDR_UNSPEC, 5, 0, &b[3]));
	for (i = 0; i < 3; i++) {
		OK(fi_send(pair[0].ep, out, 3, NULL, to[i % 2], &a));
		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.op_context == &b[i] && entry.len == 3);
		done(pair[0].tx, &a);
	}
	OK(fi_tsend(pair[0].ep, out, 4, NULL, to[1], 6, &a));
	done(pair[0].tx, &a);
	CHECK(nothing(pair[1].rx)); /* its tag is another one */
	OK(fi_tsend(pair[0].ep, out, 5, NULL, to[0], 5, &a));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b[3] && entry.len == 5 && entry.tag == 5);
	done(pair[0].tx, &a);
	OK(fi_trecv(srx, in, 64, NULL, FI_ADDR_UNSPEC, 0, UINT64_MAX, &b[0]));
	IS(0, next(pair[1].rx, &entry, NULL, NULL));
	CHECK(entry.op_context == &b[0] && entry.len == 4 && entry.tag == 6);
	/* Long messages, too, and what comes before a receive. */
	for (i = 0; i < 2; i++)
		OK(fi_send(pair[0].ep, large_out, sizeof(large_out), NULL, to[i], &a));
	CHECK(nothing(pair[1].rx));
	for (i = 0; i < 2; i++) {
		fill(large_out, sizeof(large_out), 7);
		OK(fi_recv(srx, large_in, sizeof(large_in), NULL, FI_ADDR_UNSPEC, &b[i]));
		IS(0, next(pair[1].rx, &entry, NULL, NULL));
		CHECK(entry.op_context == &b[i] && entry.len == sizeof(large_out));
		CHECK(filled(large_in, sizeof(large_in), 7));
		done(pair[0].tx, &a);
	}
	IS(-FI_EOPBADSTATE, fi_recv(eps[0], in, 64, NULL, FI_ADDR_UNSPEC, NULL));
	IS(-FI_ENOSYS, fi_send(srx, out, 1, NULL, 0, NULL));
	IS(-FI_ENOSYS, fi_tinject(srx, out, 1, 0, 0));
	IS(-FI_ENOSYS, fi_cancel(&srx->fid, &b[0]));
	IS(-FI_EBUSY, fi_close(&srx->fid));
	for (i = 0; i < 2; i++)
		OK(fi_close(&eps[i]->fid));
	OK(fi_recv(srx, in, 64, NULL, FI_ADDR_UNSPEC, &b[0])); /* nobody takes it */
	OK(fi_close(&srx->fid));
	pair[1].info->ep_attr->rx_ctx_cnt = 1;
	pair_close(pair);
}

/* Endpoints of one context have one limit for what waits to be sent. */
static void shared_sends(void)
{
	struct fid_ep *eps[2];
	struct fid_stx *stx;
	struct end pair[2];
	uint8_t name[64];
	int a, i, sent = 0, others;

	pair_open(pair, NULL);
	MUST(fi_stx_context(pair[0].domain, pair[0].info->tx_attr, &stx, NULL));
	for (i = 0; i < 2; i++)
		eps[i] = sharing(&pair[0], stx, NULL, name);
	IS(-FI_EOPBADSTATE, fi_ep_bind(pair[0].ep, &stx->fid, 0));
	/* Long messages wait for a receive. */
	while (sent < 5000 && !fi_send(eps[sent % 2], large_out, sizeof(large_out), NULL,
				       pair[0].peer, &a))
		sent++;
	CHECK(sent > 0 && sent <= 1024);
	IS(-FI_EAGAIN, fi_send(eps[0], large_out, sizeof(large_out), NULL, pair[0].peer, &a));
	IS(-FI_EAGAIN, fi_send(eps[1], out, 1, NULL, pair[0].peer, &a));
	for (i = 0; i < sent; i++) {
		OK(fi_recv(pair[1].ep, large_in, sizeof(large_in), NULL, FI_ADDR_UNSPEC, &a));
		done(pair[1].rx, &a);
		done(pair[0].tx, &a);
	}
	for (i = 0; i < 2; i++) {
		OK(fi_recv(pair[1].ep, in, 64, NULL, FI_ADDR_UNSPEC, &a));
		OK(fi_send(eps[i], out, 1, NULL, pair[0].peer, &a));
		done(pair[0].tx, &a);
		done(pair[1].rx, &a);
	}
	/* What an endpoint has not sent when it closes does not count any more. */
	for (others = 0; others < 5000 && !fi_send(eps[0], large_out, sizeof(large_out), NULL,
						    pair[0].peer, &a);)
		others++;
	IS(-FI_EAGAIN, fi_send(eps[1], out, 1, NULL, pair[0].peer, &a));
	IS(-FI_EBUSY, fi_close(&stx->fid));
	OK(fi_close(&eps[0]->fid));
	for (i = 0; i < others; i++)
		if (fi_send(eps[1], large_out, sizeof(large_out), NULL, pair[0].peer, &a))
			break;
	IS(others, i);
	OK(fi_close(&eps[1]->fid));
	OK(fi_close(&stx->fid));
	pair[0].info->ep_attr->tx_ctx_cnt = 1;
	pair_close(pair);
}

static void formats(void)
{
	static const enum fi_cq_format all[] = {FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_MSG,
						FI_CQ_FORMAT_DATA};
	static const size_t sizes[] = {sizeof(struct fi_cq_entry), sizeof(struct fi_cq_msg_entry),
				       sizeof(struct fi_cq_data_entry)};
	struct end end;
	fi_addr_t peer;
	size_t i;

	end_open(&end, NULL);
	for (i = 0; i < 3; i++) {
		struct fi_cq_attr attr = {.format = all[i]};
		struct fi_cq_data_entry entries[3];
		struct fid_ep *ep;
		struct fid_cq *cq;
		uint8_t name[64], raw[sizeof(entries)];
		size_t bytes = sizeof(name);
		ssize_t got = 0;
		int a, b;

		MUST(fi_cq_open(end.domain, &attr, &cq, NULL));
		MUST(fi_endpoint(end.domain, end.info, &ep, NULL));
		MUST(fi_ep_bind(ep, &end.av->fid, 0));
		MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
		MUST(fi_enable(ep));
		MUST(fi_getname(&ep->fid, name, &bytes));
		IS(1, fi_av_insert(end.av, name, 1, &peer, 0, NULL));
		OK(fi_send(ep, out, 5, NULL, peer, &a));
		OK(fi_recv(ep, in, 64, NULL, FI_ADDR_UNSPEC, &b));
		memset(raw, 0xee, sizeof(raw));
		while (got >= 0 && got < 2) {
			ssize_t more = fi_cq_read(cq, raw + (size_t)got * sizes[i],
						  (size_t)(2 - got));

			got = more == -FI_EAGAIN ? got : more < 0 ? more : got + more;
		}
		IS(2, got);
		CHECK(raw[2 * sizes[i]] == 0xee); /* nothing behind the entries */
		memset(entries, 0, sizeof(entries));
		memcpy(&entries[0], raw, sizes[i]);
		memcpy(&entries[1], raw + sizes[i], sizes[i]);
		CHECK(entries[0].op_context == &a && entries[1].op_context == &b);
		if (i > 0)
			CHECK(entries[1].len == 5 && entries[1].flags == (FI_RECV | FI_MSG));
		if (i > 1)
			CHECK(entries[1].buf == in);
		OK(fi_close(&ep->fid));
		OK(fi_close(&cq->fid));
	}
	end_close(&end);
}

static void event_queue(void)
{
	struct fi_eq_attr attr = {.size = 4, .flags = FI_WRITE, .wait_obj = FI_WAIT_FD};
	struct fi_eq_entry entry = {0};
	struct end end;
	struct fid_eq *eq;
	uint32_t type;
	int i;

	end_open(&end, NULL);
	MUST(fi_eq_open(end.fabric, &attr, &eq, NULL));
	IS(-FI_EAGAIN, fi_eq_read(eq, &type, &entry, sizeof(entry), 0));
	IS(-FI_EAGAIN, fi_eq_sread(eq, &type, &entry, sizeof(entry), 1, 0));
	for (i = 0; i < 4; i++) {
		entry.data = (uint64_t)i;
		IS(sizeof(entry), fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0));
	}
	IS(-FI_EAGAIN, fi_eq_write(eq, FI_NOTIFY, &entry, sizeof(entry), 0));
	IS(-FI_ETOOSMALL, fi_eq_read(eq, &type, &entry, 4, 0));
	IS(sizeof(entry), fi_eq_read(eq, &type, &entry, sizeof(entry), FI_PEEK));
	for (i = 0; i < 4; i++) {
		IS(sizeof(entry), fi_eq_sread(eq, &type, &entry, sizeof(entry), SOON_MS, 0));
		CHECK(type == FI_NOTIFY && entry.data == (uint64_t)i);
	}
	OK(fi_close(&eq->fid));
	end_close(&end);
}

static void addresses(void)
{
	struct end pair[2];
	uint8_t address[64], twice[32];
	char text[64];
	size_t bytes = sizeof(text);
	fi_addr_t list[3], again;
	int errors[2];

	pair_open(pair, NULL);
	/* The text of an address stands for it. */
	CHECK(fi_av_straddr(pair[0].av, pair[1].name, text, &bytes) == text);
	CHECK(!strncmp(text, "fi_addr_spfe://", 15) && bytes == strlen(text) + 1);
	IS(1, fi_av_insertsvc(pair[0].av, text, "0", &again, 0, NULL));
	bytes = sizeof(address);
	OK(fi_av_lookup(pair[0].av, again, address, &bytes));
	CHECK(bytes == pair[1].name_bytes && !memcmp(address, pair[1].name, bytes));

	memcpy(twice, pair[1].name, 16);
	memset(twice + 16, 0x5a, 16);
	IS(1, fi_av_insert(pair[0].av, twice, 2, list, FI_SOURCE_ERR, errors));
	CHECK(list[1] == FI_ADDR_NOTAVAIL && errors[0] == 0 && errors[1] == FI_EINVAL);
	OK(fi_av_remove(pair[0].av, &again, 1, 0));
	IS(-FI_EINVAL, fi_send(pair[0].ep, out, 1, NULL, again, NULL));
	IS(-FI_EINVAL, fi_send(pair[0].ep, out, 1, NULL, 1000, NULL));
	IS(-FI_EINVAL, fi_send(pair[0].ep, out, 1, NULL, FI_ADDR_UNSPEC, NULL));
	IS(-FI_EINVAL, fi_recv(pair[0].ep, in, 1, NULL, 1000, NULL));
	OK(fi_inject(pair[0].ep, out, 1, list[0]));
	CHECK(fi_av_insertsvc(pair[0].av, "no.such.host", "0", &again, 0, NULL) < 0);
	CHECK(fi_av_insertsvc(pair[0].av, "localhost", "x", &again, 0, NULL) < 0);
	pair_close(pair);
}

static void wrong_calls(void)
{
	struct fi_cq_attr cq = {.wait_obj = FI_WAIT_SET};
	struct fi_av_attr av = {.type = FI_AV_MAP, .name = "shared"};
	struct fid_cq *queue;
	struct fid_av *vector;
	struct fid_ep *ep;
	uint8_t name[4];
	size_t bytes = sizeof(name);
	struct end end;

	end_open(&end, NULL);
	MUST(fi_endpoint(end.domain, end.info, &ep, NULL));
	IS(-FI_ENOAV, fi_enable(ep));
	IS(-FI_EOPBADSTATE, fi_send(ep, out, 1, NULL, 0, NULL));
	IS(-FI_EOPBADSTATE, fi_recv(ep, in, 1, NULL, FI_ADDR_UNSPEC, NULL));
	IS(-FI_EOPBADSTATE, fi_write(ep, out, 1, NULL, 0, 0, 0, NULL));
	IS(-FI_EINVAL, fi_ep_bind(ep, &end.domain->fid, 0));
	OK(fi_ep_bind(ep, &end.av->fid, 0));
	IS(-FI_EINVAL, fi_ep_bind(ep, &end.av->fid, 0));
	IS(-FI_ENOCQ, fi_enable(ep));
	IS(-FI_EINVAL, fi_ep_bind(ep, &end.tx->fid, 0));
	OK(fi_close(&ep->fid));
	IS(-FI_EOPBADSTATE, fi_enable(end.ep));
	IS(-FI_EOPBADSTATE, fi_ep_bind(end.ep, &end.av->fid, 0));
	IS(-FI_ETOOSMALL, fi_getname(&end.ep->fid, name, &bytes));
	IS(16, bytes);
	IS(-FI_ENOSYS, fi_cq_open(end.domain, &cq, &queue, NULL));
	IS(-FI_ENOSYS, fi_av_open(end.domain, &av, &vector, NULL));
	IS(-FI_EAGAIN, fi_cq_readerr(end.tx, &(struct fi_cq_err_entry){0}, 0));
	end_close(&end);
}

/* A node that somebody is cannot be taken, and there is an end of nodes. */
static void nodes(void)
{
	struct end ends[4];
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	struct fid_ep *ep;
	uint8_t name[64];
	size_t bytes = sizeof(name);
	int i;

	for (i = 0; i < 4; i++)
		end_open(&ends[i], NULL);
	MUST(fi_endpoint(ends[0].domain, ends[0].info, &ep, NULL));
	OK(fi_ep_bind(ep, &ends[0].av->fid, 0));
	OK(fi_ep_bind(ep, &ends[0].tx->fid, FI_TRANSMIT | FI_RECV));
	IS(-FI_EADDRINUSE, fi_enable(ep));
	OK(fi_close(&ep->fid));
	end_close(&ends[2]);
	end_close(&ends[3]);
	/* Service 6 is node 2 of 4. */
	hints->fabric_attr->prov_name = strdup("spfe");
	OK(fi_getinfo(FI_VERSION(1, 17), NULL, "6", FI_SOURCE, hints, &info));
	MUST(fi_endpoint(ends[0].domain, info, &ep, NULL));
	OK(fi_ep_bind(ep, &ends[0].av->fid, 0));
	OK(fi_ep_bind(ep, &ends[0].tx->fid, FI_TRANSMIT | FI_RECV));
	OK(fi_enable(ep));
	OK(fi_getname(&ep->fid, name, &bytes));
	IS(2, name[6]);
	OK(fi_close(&ep->fid));
	fi_freeinfo(info);
	fi_freeinfo(hints);
	end_close(&ends[1]);
	end_close(&ends[0]);
}

void test_objects(void)
{
	test("several endpoints on the same queues", shared_queues);
	test("receives that endpoints share", shared_receives);
	test("what endpoints of one context send", shared_sends);
	test("formats of completions", formats);
	test("event queues", event_queue);
	test("addresses and their text", addresses);
	test("wrong calls", wrong_calls);
	test("nodes that are in use", nodes);
}
