/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The behaviour of the libfabric provider through libfabric's public calls. Prints TAP.
 *
 * FI_PROVIDER_PATH and FI_SPFE_DEVICE name the provider and the device. Most tests have two ends in
 * this process, so they decide when which end moves; test_processes() has the second in another one.
 */
#include "ends.h"

int bad;
static int number, failures;
static struct end *open_ends[ENDS];

void test(const char *name, void (*run)(void))
{
	bad = 0;
	run();
	printf("%sok %d - %s\n", bad ? "not " : "", ++number, name);
	fflush(stdout);
	failures += bad > 0;
}

static void open_counter(struct end *end, struct fid_cntr **cntr, uint64_t flag,
			 enum fi_wait_obj wait)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait};

	MUST(fi_cntr_open(end->domain, &attr, cntr, NULL));
	MUST(fi_ep_bind(end->ep, &(*cntr)->fid, flag));
}

void end_open(struct end *end, const struct end_options *given)
{
	static const struct end_options usual;
	const struct end_options *options = given ? given : &usual;
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = options->wait};
	struct fi_av_attr av = {.type = FI_AV_TABLE};
	int i;

	memset(end, 0, sizeof(*end));
	hints->fabric_attr->prov_name = strdup("spfe");
	hints->ep_attr->type = options->datagrams ? FI_EP_DGRAM : FI_EP_RDM;
	hints->caps = FI_MSG | FI_DIRECTED_RECV | FI_SOURCE | FI_MULTI_RECV;
	if (!options->datagrams)
		hints->caps |= FI_TAGGED | FI_RMA | FI_ATOMIC;
	hints->domain_attr->mr_mode = options->mr_mode;
	hints->tx_attr->op_flags = options->tx_flags;
	MUST(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &end->info));
	fi_freeinfo(hints);
	MUST(fi_fabric(end->info->fabric_attr, &end->fabric, NULL));
	MUST(fi_domain(end->fabric, end->info, &end->domain, NULL));
	MUST(fi_av_open(end->domain, &av, &end->av, NULL));
	MUST(fi_cq_open(end->domain, &cq, &end->tx, NULL));
	MUST(fi_cq_open(end->domain, &cq, &end->rx, NULL));
	MUST(fi_endpoint(end->domain, end->info, &end->ep, NULL));
	MUST(fi_ep_bind(end->ep, &end->av->fid, 0));
	MUST(fi_ep_bind(end->ep, &end->tx->fid, FI_TRANSMIT | options->bind));
	MUST(fi_ep_bind(end->ep, &end->rx->fid, FI_RECV | options->bind));
	open_counter(end, &end->sent, FI_SEND, options->wait);
	open_counter(end, &end->received, FI_RECV, options->wait);
	open_counter(end, &end->wrote, FI_WRITE, options->wait);
	open_counter(end, &end->was_written, FI_REMOTE_WRITE, options->wait);
	open_counter(end, &end->did_read, FI_READ, options->wait);
	open_counter(end, &end->was_read, FI_REMOTE_READ, options->wait);
	MUST(fi_enable(end->ep));
	end->name_bytes = sizeof(end->name);
	MUST(fi_getname(&end->ep->fid, end->name, &end->name_bytes));
	for (i = 0; i < ENDS && open_ends[i]; i++)
		;
	open_ends[i] = end;
}

void end_close(struct end *end)
{
	int i;

	OK(fi_close(&end->ep->fid));
	OK(fi_close(&end->sent->fid));
	OK(fi_close(&end->received->fid));
	OK(fi_close(&end->wrote->fid));
	OK(fi_close(&end->was_written->fid));
	OK(fi_close(&end->did_read->fid));
	OK(fi_close(&end->was_read->fid));
	OK(fi_close(&end->tx->fid));
	OK(fi_close(&end->rx->fid));
	OK(fi_close(&end->av->fid));
	OK(fi_close(&end->domain->fid));
	OK(fi_close(&end->fabric->fid));
	fi_freeinfo(end->info);
	for (i = 0; i < ENDS; i++)
		if (open_ends[i] == end)
			open_ends[i] = NULL;
}

void pair_open(struct end pair[2], const struct end_options *options)
{
	int i;

	for (i = 0; i < 2; i++)
		end_open(&pair[i], options);
	for (i = 0; i < 2; i++)
		IS(1, fi_av_insert(pair[i].av, pair[!i].name, 1, &pair[i].peer, 0, NULL));
}

void pair_close(struct end pair[2])
{
	/* The second one first: what it still has to say must not be lost. */
	end_close(&pair[1]);
	end_close(&pair[0]);
}

void move_on(void)
{
	int i;

	for (i = 0; i < ENDS; i++)
		if (open_ends[i])
			(void)fi_cntr_read(open_ends[i]->sent);
}

int next(struct fid_cq *cq, struct fi_cq_tagged_entry *out, fi_addr_t *source, size_t *excess)
{
	uint64_t end = now_ms() + SOON_MS;

	for (;;) {
		struct fi_cq_err_entry error = {0};
		fi_addr_t from = FI_ADDR_NOTAVAIL;
		ssize_t result = fi_cq_readfrom(cq, out, 1, &from);

		if (result == 1) {
			if (source)
				*source = from;
			return 0;
		}
		if (result == -FI_EAVAIL) {
			IS(1, fi_cq_readerr(cq, &error, 0));
			memcpy(out, &error, sizeof(*out));
			if (excess)
				*excess = error.olen;
			return error.err;
		}
		if (result != -FI_EAGAIN || now_ms() > end) {
			printf("# no completion came: %zd\n", result);
			bad++;
			return -1;
		}
		move_on();
	}
}

void done(struct fid_cq *cq, const void *context)
{
	struct fi_cq_tagged_entry entry = {0};

	IS(0, next(cq, &entry, NULL, NULL));
	CHECK(entry.op_context == context);
}

bool nothing(struct fid_cq *cq)
{
	struct fi_cq_tagged_entry entry;
	int i;

	for (i = 0; i < 100; i++)
		move_on();
	return fi_cq_read(cq, &entry, 1) == -FI_EAGAIN;
}

void fill(void *bytes, size_t count, unsigned seed)
{
	uint8_t *at = bytes;
	size_t i;

	for (i = 0; i < count; i++)
		at[i] = (uint8_t)(seed + i * 7 + (i >> 8) * 13);
}

bool filled(const void *bytes, size_t count, unsigned seed)
{
	const uint8_t *at = bytes;
	size_t i;

	for (i = 0; i < count; i++)
		if (at[i] != (uint8_t)(seed + i * 7 + (i >> 8) * 13))
			return false;
	return true;
}

/* docs/libfabric.md has a table of the groups, which tests/libfabric.bats compares with this. */
static void group(const char *name, void (*run)(void))
{
	printf("# group %s\n", name);
	run();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return serve(argc, argv);
	group("messages", test_messages);
	group("calls", test_calls);
	group("matching", test_matching);
	group("memory", test_memory);
	group("atomics", test_atomics);
	group("counters", test_counters);
	group("information", test_information);
	group("objects", test_objects);
	group("closing", test_closing);
	group("processes", test_processes);
	group("hostile", test_hostile);
	printf("1..%d\n", number);
	return failures != 0;
}
