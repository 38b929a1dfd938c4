/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the provider says that it offers, and that it refuses the rest. */
#include <rdma/fi_collective.h>

#include "ends.h"

static struct fi_info *hints_for_us(void)
{
	struct fi_info *hints = fi_allocinfo();

	hints->fabric_attr->prov_name = strdup("spfe");
	return hints;
}

static int ask(const struct fi_info *hints, struct fi_info **info)
{
	return fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, info);
}

/* Each capability alone: there or refused, and with what belongs to it. */
static void capabilities(void)
{
	static const struct {
		uint64_t asked, got;
	} offered[] = {
		{FI_MSG, FI_MSG | FI_SEND | FI_RECV},
		{FI_TAGGED, FI_TAGGED | FI_SEND | FI_RECV},
		{FI_RMA, FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE},
		{FI_ATOMIC, FI_ATOMIC | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE},
		{FI_MSG | FI_SEND, FI_MSG | FI_SEND},
		{FI_TAGGED | FI_RECV, FI_TAGGED | FI_RECV},
		{FI_RMA | FI_WRITE, FI_RMA | FI_WRITE},
		{FI_MSG | FI_MULTI_RECV, FI_MSG | FI_MULTI_RECV | FI_SEND | FI_RECV},
		{FI_MSG | FI_DIRECTED_RECV, FI_MSG | FI_DIRECTED_RECV | FI_SEND | FI_RECV},
		{FI_MSG | FI_SOURCE, FI_MSG | FI_SOURCE | FI_SEND | FI_RECV},
		{FI_RMA | FI_RMA_EVENT, FI_RMA | FI_RMA_EVENT | FI_READ | FI_REMOTE_WRITE},
		{FI_MSG | FI_LOCAL_COMM, FI_MSG | FI_LOCAL_COMM | FI_SEND | FI_RECV},
		{FI_MSG | FI_REMOTE_COMM, FI_MSG | FI_REMOTE_COMM | FI_SEND | FI_RECV},
	};
	static const uint64_t refused[] = {FI_MULTICAST,    FI_COLLECTIVE,  FI_TRIGGER,
					   FI_FENCE,        FI_NAMED_RX_CTX,
					   FI_SHARED_AV,    FI_HMEM,        FI_VARIABLE_MSG,
					   FI_RMA_PMEM,     FI_XPU_TRIGGER, FI_SOURCE_ERR};
	struct fi_info *hints = hints_for_us(), *info = NULL;
	size_t i;

	for (i = 0; i < sizeof(offered) / sizeof(*offered); i++) {
		hints->caps = offered[i].asked;
		MUST(ask(hints, &info));
		IS(offered[i].got, info->caps & offered[i].got);
		/* A direction that was not asked for is not there. */
		CHECK(offered[i].got & FI_RECV || !(info->caps & FI_RECV));
		CHECK(offered[i].got & FI_READ || !(info->caps & FI_READ));
		CHECK(!(info->tx_attr->caps & ~info->caps) && !(info->rx_attr->caps & ~info->caps));
		fi_freeinfo(info);
	}
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		hints->caps = FI_MSG | refused[i];
		IS(-FI_ENODATA, ask(hints, &info));
	}
	fi_freeinfo(hints);
}

/* Every hint that asks for more than there is, one at a time; what is there is granted. */
static void limits_of_hints(void)
{
#define HINT(field, good, too_much)                                                                \
	do {                                                                                       \
		struct fi_info *hints = hints_for_us(), *info = NULL;                              \
		hints->field = good;                                                               \
		OK(ask(hints, &info));                                                             \
		fi_freeinfo(info);                                                                 \
		hints->field = too_much;                                                           \
		IS(-FI_ENODATA, ask(hints, &info));                                                \
		fi_freeinfo(hints);                                                                \
	} while (0)
	HINT(ep_attr->type, FI_EP_RDM, FI_EP_MSG);
	HINT(ep_attr->type, FI_EP_DGRAM, FI_EP_SOCK_STREAM);
	HINT(ep_attr->max_msg_size, (size_t)1 << 40, ((size_t)1 << 40) + 1);
	HINT(ep_attr->tx_ctx_cnt, 1, 2);
	HINT(ep_attr->rx_ctx_cnt, FI_SHARED_CONTEXT, 2);
	HINT(ep_attr->tx_ctx_cnt, FI_SHARED_CONTEXT, 3);
	HINT(tx_attr->inject_size, 4096, 4097);
	HINT(tx_attr->size, 1024, 1025);
	HINT(tx_attr->iov_limit, 4, 5);
	HINT(tx_attr->rma_iov_limit, 1, 2);
	HINT(tx_attr->op_flags, FI_DELIVERY_COMPLETE, FI_COMMIT_COMPLETE);
	HINT(tx_attr->msg_order, FI_ORDER_SAS, FI_ORDER_SAR);
	HINT(rx_attr->size, 4096, 4097);
	HINT(rx_attr->iov_limit, 4, 5);
	HINT(rx_attr->op_flags, FI_MULTI_RECV, FI_INJECT);
	HINT(rx_attr->msg_order, FI_ORDER_SAS, FI_ORDER_WAR);
	HINT(rx_attr->comp_order, FI_ORDER_NONE, FI_ORDER_STRICT);
	HINT(domain_attr->cq_data_size, 8, 9);
	HINT(domain_attr->mr_key_size, 8, 9);
	HINT(domain_attr->data_progress, FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO);
	HINT(domain_attr->threading, FI_THREAD_SAFE, (hints->addr_format = FI_SOCKADDR_IN,
						      FI_THREAD_SAFE));
	HINT(domain_attr->name, strdup("spfe"), (free(hints->domain_attr->name), strdup("other")));
	HINT(fabric_attr->name, strdup("SpaceFibre"),
	     (free(hints->fabric_attr->name), strdup("other")));
#undef HINT
}

/* Datagrams: messages of limited size, and nothing else. */
static void datagrams(void)
{
	static const uint64_t refused[] = {FI_TAGGED, FI_RMA, FI_ATOMIC, FI_MSG | FI_TAGGED};
	struct fi_info *hints = hints_for_us(), *info = NULL;
	size_t i;

	MUST(ask(hints, &info));
	CHECK(info->ep_attr->type == FI_EP_RDM && info->next && !info->next->next);
	CHECK(info->next->ep_attr->type == FI_EP_DGRAM && !(info->next->caps & FI_TAGGED));
	fi_freeinfo(info);
	hints->caps = FI_MSG | FI_TAGGED;
	MUST(ask(hints, &info));
	CHECK(info->ep_attr->type == FI_EP_RDM && !info->next);
	fi_freeinfo(info);
	hints->ep_attr->type = FI_EP_DGRAM;
	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		hints->caps = refused[i];
		IS(-FI_ENODATA, ask(hints, &info));
	}
	hints->caps = FI_MSG | FI_SOURCE;
	hints->ep_attr->max_msg_size = 1 << 16;
	MUST(ask(hints, &info));
	IS(1 << 16, info->ep_attr->max_msg_size);
	IS(0, info->tx_attr->rma_iov_limit);
	fi_freeinfo(info);
	hints->ep_attr->max_msg_size++;
	IS(-FI_ENODATA, ask(hints, &info));
	fi_freeinfo(hints);
}

/* The text of what the provider returns, by the library's own function. */
static void text(void)
{
	struct fi_info *hints = hints_for_us(), *info = NULL;
	char *printed;

	MUST(ask(hints, &info));
	printed = fi_tostr(info, FI_TYPE_INFO);
	CHECK(strstr(printed, "prov_name: spfe") && strstr(printed, "FI_EP_RDM"));
	CHECK(strstr(printed, "FI_THREAD_SAFE") && strstr(printed, "FI_ORDER_SAS"));
	CHECK(strstr(printed, "inject_size: 4096"));
	CHECK(strstr(fi_tostr(&info->caps, FI_TYPE_CAPS), "FI_ATOMIC"));
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

/* Kinds of objects that do not exist, and calls for them, are refused. */
static void absent(void)
{
	struct fi_poll_attr poll = {0};
	struct fi_wait_attr wait = {.wait_obj = FI_WAIT_FD};
	struct fi_collective_attr collective = {0};
	struct fid_ep *ep;
	struct fid_pep *pep;
	struct fid_poll *set;
	struct fid_wait *wait_set;
	struct fid_mc *group;
	struct end end;
	size_t bytes = 0;
	fi_addr_t self;
	int value = 0;

	end_open(&end, NULL);
	IS(1, fi_av_insert(end.av, end.name, 1, &self, 0, NULL));
	IS(-FI_ENOSYS, fi_scalable_ep(end.domain, end.info, &ep, NULL));
	IS(-FI_ENOSYS, fi_passive_ep(end.fabric, end.info, &pep, NULL));
	IS(-FI_ENOSYS, fi_poll_open(end.domain, &poll, &set));
	IS(-FI_ENOSYS, fi_wait_open(end.fabric, &wait, &wait_set));
	IS(-FI_ENOSYS, fi_join(end.ep, end.name, 0, &group, NULL));
	IS(-FI_ENOSYS, fi_query_collective(end.domain, FI_BARRIER, &collective, 0));
	IS(-FI_ENOSYS, fi_tx_context(end.ep, 0, NULL, &ep, NULL));
	IS(-FI_ENOSYS, fi_rx_context(end.ep, 0, NULL, &ep, NULL));
	IS(-FI_ENOSYS, fi_connect(end.ep, end.name, NULL, 0));
	IS(-FI_ENOSYS, fi_accept(end.ep, NULL, 0));
	IS(-FI_ENOSYS, fi_shutdown(end.ep, 0));
	IS(-FI_ENOSYS, fi_getpeer(end.ep, NULL, &bytes));
	IS(-FI_ENOSYS, fi_ep_alias(end.ep, &ep, 0));
	IS(-FI_ENOSYS, fi_open_ops(&end.domain->fid, "none", 0, (void **)&ep, NULL));
	bytes = sizeof(value);
	IS(-FI_ENOPROTOOPT, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &value,
				      &bytes));
	IS(-FI_ENOPROTOOPT, fi_setopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_BUFFERED_LIMIT, &value,
				      bytes));
	IS(-FI_ETOOSMALL, fi_getopt(&end.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value,
				    &bytes));
	end.info->ep_attr->type = FI_EP_MSG;
	IS(-FI_EINVAL, fi_endpoint(end.domain, end.info, &ep, NULL));
	end.info->ep_attr->type = FI_EP_RDM;
	end_close(&end);
}

/* An address vector of either type, filled in by every call. */
static void vectors(void)
{
	static const enum fi_av_type types[] = {FI_AV_MAP, FI_AV_TABLE, FI_AV_UNSPEC};
	fi_addr_t place, list[3];
	uint8_t name[16];
	struct end end;
	size_t i, j, bytes;

	end_open(&end, NULL);
	for (i = 0; i < 3; i++) {
		struct fi_av_attr attr = {.type = types[i], .count = 4};
		struct fid_av *av;

		MUST(fi_av_open(end.domain, &attr, &av, NULL));
		CHECK(attr.type == (types[i] ? types[i] : FI_AV_TABLE));
		IS(1, fi_av_insert(av, end.name, 1, &place, 0, NULL));
		IS(1, fi_av_insertsvc(av, "localhost", "1", list, 0, NULL));
		IS(3, fi_av_insertsym(av, "localhost", 1, "1", 3, list, 0, NULL));
		for (j = 0; j < 3; j++) {
			bytes = sizeof(name);
			OK(fi_av_lookup(av, list[j], name, &bytes));
			CHECK(bytes == 16 && name[6] == j + 1);
		}
		bytes = 4; /* less than an address has: the length tells what it takes */
		memset(name, 0xee, sizeof(name));
		OK(fi_av_lookup(av, place, name, &bytes));
		CHECK(bytes == 16 && !memcmp(name, end.name, 4) && name[4] == 0xee);
		IS(-FI_ENOSYS, fi_av_insertsym(av, "localhost", 2, "1", 3, list, 0, NULL));
		IS(-FI_EINVAL, fi_av_insertsym(av, "localhost", 1, "one", 3, list, 0, NULL));
		IS(-FI_EINVAL, fi_av_insertsym(av, "localhost", 1, NULL, 3, list, 0, NULL));
		OK(fi_av_remove(av, list, 3, 0));
		IS(-FI_EINVAL, fi_av_lookup(av, list[0], name, &bytes));
		OK(fi_close(&av->fid));
	}
	end_close(&end);
}

/* A program may choose its node before it enables the endpoint. */
static void names(void)
{
	struct end end;
	struct fid_ep *ep;
	uint8_t name[64];
	size_t bytes = sizeof(name);

	end_open(&end, NULL);
	MUST(fi_endpoint(end.domain, end.info, &ep, NULL));
	OK(fi_ep_bind(ep, &end.av->fid, 0));
	OK(fi_ep_bind(ep, &end.tx->fid, FI_TRANSMIT | FI_RECV));
	IS(-FI_EOPBADSTATE, fi_getname(&ep->fid, name, &bytes));
	memcpy(name, end.name, 16);
	name[6] = 3;
	IS(-FI_EINVAL, fi_setname(&ep->fid, name, 15));
	name[0]++;
	IS(-FI_EINVAL, fi_setname(&ep->fid, name, 16));
	name[0]--;
	OK(fi_setname(&ep->fid, name, 16));
	OK(fi_enable(ep));
	IS(-FI_EOPBADSTATE, fi_setname(&ep->fid, name, 16));
	memset(name, 0, sizeof(name));
	bytes = sizeof(name);
	OK(fi_getname(&ep->fid, name, &bytes));
	IS(3, name[6]);
	OK(fi_close(&ep->fid));
	end_close(&end);
}

void test_information(void)
{
	test("each capability alone", capabilities);
	test("hints at their limits and above", limits_of_hints);
	test("datagrams", datagrams);
	test("the text of the information", text);
	test("objects and calls that do not exist", absent);
	test("address vectors of every type, by every call", vectors);
	test("an endpoint that asks for a node", names);
}
