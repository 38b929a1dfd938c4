/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses and address vectors. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "provider.h"

struct spfi_address spfi_address_of(uint16_t node, uint64_t incarnation)
{
	struct spfi_address address = {{'s', 'p', 'f', 'e'}, 1, node, incarnation};

	return address;
}

bool spfi_address_valid(const struct spfi_address *address)
{
	return !memcmp(address->magic, "spfe", 4) && address->version == 1 &&
	       (address->node < SPFI_NODES || address->node == SPFI_ANY_NODE);
}

static bool this_host(const char *node)
{
	char name[256];

	if (!strcmp(node, "localhost") || !strncmp(node, "127.", 4) || !strcmp(node, "::1"))
		return true;
	return gethostname(name, sizeof(name)) == 0 && !strcmp(node, name);
}

int spfi_resolve(const char *node, const char *service, unsigned nodes,
		 struct spfi_address *address)
{
	unsigned long number;
	char *end;

	if (node && !strncmp(node, "fi_addr_spfe://", 15)) {
		unsigned value;
		uint64_t incarnation;

		if (sscanf(node + 15, "%u.%" SCNx64, &value, &incarnation) != 2 || value >= nodes)
			return -FI_EINVAL;
		*address = spfi_address_of((uint16_t)value, incarnation);
		return 0;
	}
	if (node && !this_host(node)) {
		WARN(FI_LOG_AV, "node '%s': the network is that of this host; use 127.0.0.1\n", node);
		return -FI_ENODATA;
	}
	/* As for IP without a port: an address, which is of use as a source only. */
	if (!service) {
		*address = spfi_address_of(SPFI_ANY_NODE, 0);
		return 0;
	}
	number = strtoul(service, &end, 10);
	if (end == service || *end) {
		WARN(FI_LOG_AV, "service '%s' is not a number\n", service);
		return -FI_EINVAL;
	}
	*address = spfi_address_of((uint16_t)(number % nodes), 0);
	return 0;
}

static int add(struct spfi_av *av, const struct spfi_address *address, fi_addr_t *out)
{
	if (!spfi_address_valid(address) || address->node == SPFI_ANY_NODE) {
		WARN(FI_LOG_AV, "what was inserted is no address of this provider\n");
		return -FI_EINVAL;
	}
	if (av->count == av->room) {
		size_t room = av->room ? 2 * av->room : 64;
		void *entries = realloc(av->entries, room * sizeof(*av->entries));

		if (!entries)
			return -FI_ENOMEM;
		av->entries = entries;
		av->room = room;
	}
	av->entries[av->count] = *address;
	av->by_node[address->node] = av->count;
	*out = av->count++;
	return 0;
}

static int insert(struct fid_av *fid, const void *addresses, size_t count, fi_addr_t *out,
		  uint64_t flags, void *context)
{
	struct spfi_av *av = container_of(fid, struct spfi_av, fid);
	const char *next = addresses;
	int *errors = flags & FI_SOURCE_ERR ? context : NULL;
	int inserted = 0;
	size_t i;

	pthread_mutex_lock(&av->domain->lock);
	for (i = 0; i < count; i++, next += sizeof(struct spfi_address)) {
		struct spfi_address address;
		fi_addr_t place = FI_ADDR_NOTAVAIL;
		int result;

		memcpy(&address, next, sizeof(address));
		result = add(av, &address, &place);
		inserted += !result;
		if (errors)
			errors[i] = -result;
		if (out)
			out[i] = place;
	}
	pthread_mutex_unlock(&av->domain->lock);
	return inserted;
}

static int insert_service(struct fid_av *fid, const char *node, const char *service,
			  fi_addr_t *out, uint64_t flags, void *context)
{
	struct spfi_address address;
	spfe_endpoint *device;
	int nodes, result = spfi_network_device(&device);

	if (result)
		return result;
	nodes = spfi_network_nodes(device);
	spfe_close(device);
	result = nodes < 0 ? nodes : spfi_resolve(node, service, (unsigned)nodes, &address);
	return result ? result : insert(fid, &address, 1, out, flags, context);
}

static int insert_symmetric(struct fid_av *fid, const char *node, size_t node_count,
			    const char *service, size_t service_count, fi_addr_t *out,
			    uint64_t flags, void *context)
{
	unsigned long first;
	char *end;
	size_t i;
	int inserted = 0;

	if (node_count != 1) {
		WARN(FI_LOG_AV, "%zu hosts: the network is that of one host\n", node_count);
		return -FI_ENOSYS;
	}
	first = service ? strtoul(service, &end, 10) : 0;
	if (!service || end == service || *end) {
		WARN(FI_LOG_AV, "service '%s' is not a number\n", service ? service : "");
		return -FI_EINVAL;
	}
	for (i = 0; i < service_count; i++) {
		char text[24];
		int result;

		snprintf(text, sizeof(text), "%lu", first + i);
		result = insert_service(fid, node, text, out ? out + i : NULL, flags, context);
		if (result < 0)
			return result;
		inserted += result;
	}
	return inserted;
}

static bool stands_for(const struct spfi_address *entry, const struct spfi_peer *peer)
{
	return entry->node == peer->node &&
	       (!entry->incarnation || entry->incarnation == peer->incarnation);
}

fi_addr_t spfi_source(const struct spfi_peer *peer)
{
	const struct spfi_av *av = peer->ep->av;
	fi_addr_t at = av->by_node[peer->node];

	if (at != FI_ADDR_NOTAVAIL && stands_for(&av->entries[at], peer))
		return at;
	for (at = av->count; at > 0; at--)
		if (stands_for(&av->entries[at - 1], peer))
			return at - 1;
	return FI_ADDR_NOTAVAIL;
}

static int remove_addresses(struct fid_av *fid, fi_addr_t *addresses, size_t count, uint64_t flags)
{
	struct spfi_av *av = container_of(fid, struct spfi_av, fid);
	int result = flags ? -FI_EINVAL : 0;
	size_t i;

	pthread_mutex_lock(&av->domain->lock);
	for (i = 0; i < count && !result; i++) {
		struct spfi_address *entry;

		if (addresses[i] >= av->count) {
			result = -FI_EINVAL;
			break;
		}
		entry = &av->entries[addresses[i]];
		entry->node = SPFI_ANY_NODE;
	}
	pthread_mutex_unlock(&av->domain->lock);
	return result;
}

static int lookup(struct fid_av *fid, fi_addr_t address, void *out, size_t *length)
{
	struct spfi_av *av = container_of(fid, struct spfi_av, fid);
	size_t room = *length;
	int result = 0;

	pthread_mutex_lock(&av->domain->lock);
	if (address >= av->count || av->entries[address].node == SPFI_ANY_NODE)
		result = -FI_EINVAL;
	else
		memcpy(out, &av->entries[address],
		       room < sizeof(struct spfi_address) ? room : sizeof(struct spfi_address));
	pthread_mutex_unlock(&av->domain->lock);
	*length = sizeof(struct spfi_address);
	return result;
}

static const char *to_string(struct fid_av *fid, const void *addr, char *buf, size_t *length)
{
	struct spfi_address address;
	int bytes;

	(void)fid;
	memcpy(&address, addr, sizeof(address));
	bytes = snprintf(buf, *length, "fi_addr_spfe://%u.%" PRIx64, address.node,
			 address.incarnation);
	*length = (size_t)bytes + 1;
	return buf;
}

static int close_av(struct fid *fid)
{
	struct spfi_av *av = container_of(fid, struct spfi_av, fid.fid);

	if (av->users)
		return -FI_EBUSY;
	pthread_mutex_lock(&av->domain->lock);
	av->domain->users--;
	pthread_mutex_unlock(&av->domain->lock);
	free(av->entries);
	free(av);
	return 0;
}

static int bind_av(struct fid *fid, struct fid *other, uint64_t flags)
{
	(void)fid, (void)flags;
	return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;
}

int spfi_av_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **out,
		 void *context)
{
	static struct fi_ops fid_ops = {
		.size = sizeof(struct fi_ops),
		.close = close_av,
		.bind = bind_av,
		.control = spfi_no_control,
		.ops_open = spfi_no_ops_open,
	};
	static struct fi_ops_av ops = {
		.size = sizeof(struct fi_ops_av),
		.insert = insert,
		.insertsvc = insert_service,
		.insertsym = insert_symmetric,
		.remove = remove_addresses,
		.lookup = lookup,
		.straddr = to_string,
	};
	struct spfi_domain *domain = container_of(fid, struct spfi_domain, fid);
	struct spfi_av *av;
	int i;

	if (attr->name || attr->rx_ctx_bits || attr->flags & ~(uint64_t)FI_EVENT) {
		WARN(FI_LOG_AV, "shared address vectors and several receive contexts do not exist\n");
		return -FI_ENOSYS;
	}
	if (attr->flags & FI_EVENT)
		return -FI_ENOSYS;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	for (i = 0; i < SPFI_NODES; i++)
		av->by_node[i] = FI_ADDR_NOTAVAIL;
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_TABLE;
	av->domain = domain;
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &fid_ops;
	av->fid.ops = &ops;
	pthread_mutex_lock(&domain->lock);
	domain->users++;
	pthread_mutex_unlock(&domain->lock);
	*out = &av->fid;
	return 0;
}
