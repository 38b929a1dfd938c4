// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: shares of the users. The open files of one user get at most half of the device's regions,
 * protection domains, queue pairs and entries of its target, unless CAP_SYS_RESOURCE says
 * otherwise. Some regions and a domain are for clients in the kernel only. Callers hold
 * spfe_device.lock.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/slab.h>

#include "spfe_core.h"

/* Counts a client for the calling user, unless it is a client in the kernel. */
int spfe_user_enter(struct spfe_client *client)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_user *user;

	lockdep_assert_held(&spfe->lock);
	if (!client->mapping)
		return 0;
	list_for_each_entry(user, &spfe->users, node)
		if (uid_eq(user->uid, current_uid()))
			goto found;
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return -ENOMEM;
	user->uid = current_uid();
	list_add(&user->node, &spfe->users);
found:
	user->clients++;
	client->user = user;
	return 0;
}

/* The client must have given back all it took. */
void spfe_user_leave(struct spfe_client *client)
{
	struct spfe_user *user = client->user;

	client->user = NULL;
	if (!user || --user->clients)
		return;
	list_del(&user->node);
	kfree(user);
}

/* Whether a user who has `used` of `all` objects may not have one more. */
static bool spfe_share_is_full(u32 used, u32 all)
{
	return used >= max(all / 2, 1U) && !capable(CAP_SYS_RESOURCE);
}

/*
 * Takes the lowest free number from `ida`. `used` counts those of the user, of `all` that there
 * are; the first `reserved` ones are for the kernel.
 */
static int spfe_share_take(const struct spfe_client *client, struct ida *ida, u32 *used, u32 all,
			   u32 reserved)
{
	int number;

	lockdep_assert_held(&client->spfe->lock);
	if (!client->user)
		return ida_alloc_max(ida, all - 1, GFP_KERNEL);
	if (spfe_share_is_full(*used, all))
		return -EDQUOT;
	number = ida_alloc_range(ida, reserved, all - 1, GFP_KERNEL_ACCOUNT);
	if (number >= 0)
		++*used;
	return number;
}

/* Takes a protection domain. Domain 0 is for the kernel, if there is another one. */
int spfe_domain_take(struct spfe_client *client)
{
	struct spfe_device *spfe = client->spfe;
	int domain = spfe_share_take(client, &spfe->domains,
				     client->user ? &client->user->domains : NULL, spfe->ndomains,
				     spfe->ndomains > 1);

	if (domain < 0)
		return domain;
	client->domain = domain;
	return 0;
}

void spfe_domain_give(struct spfe_client *client)
{
	ida_free(&client->spfe->domains, client->domain);
	if (client->user)
		client->user->domains--;
}

/* Takes an entry of the region table and returns its index. */
int spfe_index_take(struct spfe_client *client)
{
	struct spfe_device *spfe = client->spfe;

	return spfe_share_take(client, &spfe->region_ids,
			       client->user ? &client->user->regions : NULL, spfe->nregions,
			       min(SPFE_KERNEL_REGIONS, spfe->nregions / 2));
}

void spfe_index_give(struct spfe_client *client, u32 index)
{
	ida_free(&client->spfe->region_ids, index);
	if (client->user)
		client->user->regions--;
}

/* Counts a queue pair, of which each virtual channel can have one. */
int spfe_pair_take(struct spfe_client *client)
{
	if (!client->user)
		return 0;
	if (spfe_share_is_full(client->user->pairs, client->spfe->nchannels))
		return -EDQUOT;
	client->user->pairs++;
	return 0;
}

void spfe_pair_give(struct spfe_client *client)
{
	if (client->user)
		client->user->pairs--;
}

/* Counts an entry of the target that a client sets. */
int spfe_entry_take(struct spfe_client *client)
{
	if (!client->user)
		return 0;
	if (spfe_share_is_full(client->user->entries, client->spfe->nentries))
		return -EDQUOT;
	client->user->entries++;
	return 0;
}

void spfe_entry_give(struct spfe_client *client)
{
	if (client->user)
		client->user->entries--;
}
