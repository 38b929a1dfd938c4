// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: the target of RDMA that serves memory without queues (capability TARGET). Clients let
 * others use their memory through its entries, and one client reads its notifications. Callers
 * hold spfe_device.lock.
 */
#include <linux/nospec.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "spfe_core.h"

/* Lower bits of a remote key; the others are the index of its entry. */
#define SPFE_GENERATION_BITS 12

static u32 spfe_target_read(struct spfe_device *spfe, u32 offset)
{
	return spfe_read(spfe, spfe->target_at + offset);
}

/* Reads what stays constant, and makes the table. Called by discovery. */
int spfe_target_take_block(struct spfe_device *spfe, u32 at, u32 size)
{
	if (spfe->target_at || size < SPFE_TARGET_BLOCK_SIZE)
		return -EPROTO;
	spfe->nentries = spfe_read(spfe, at + SPFE_TARGET_BLOCK_ENTRIES);
	spfe->nfixed = spfe_read(spfe, at + SPFE_TARGET_BLOCK_FIXED);
	if (!spfe->nentries || spfe->nentries > SPFE_REMOTE_KEYS_MAX ||
	    spfe->nfixed > spfe->nentries)
		return dev_err_probe(spfe->parent, -EPROTO, "target: %u of %u entries fixed\n",
				     spfe->nfixed, spfe->nentries);
	spfe->entries = kcalloc(spfe->nentries, sizeof(*spfe->entries), GFP_KERNEL);
	if (!spfe->entries)
		return -ENOMEM;
	spfe->target_at = at;
	return 0;
}

static int spfe_target_check(const struct spfe_device *spfe)
{
	return spfe->target_at && spfe_can(spfe, SPFE_CAPABILITY_TARGET) ? 0 : -EOPNOTSUPP;
}

int spfe_target_query(struct spfe_device *spfe, struct spfe_target *query)
{
	int err = spfe_target_check(spfe);

	if (err)
		return err;
	memset(query, 0, sizeof(*query));
	query->port = spfe_target_read(spfe, SPFE_TARGET_BLOCK_PORT);
	query->vc = spfe_target_read(spfe, SPFE_TARGET_BLOCK_VC);
	query->entries = spfe->nentries;
	query->fixed = spfe->nfixed;
	query->protocol = spfe_target_read(spfe, SPFE_TARGET_BLOCK_PROTOCOL);
	query->logical_address = spfe_target_read(spfe, SPFE_TARGET_BLOCK_LOGICAL_ADDRESS);
	query->segment = spfe_target_read(spfe, SPFE_TARGET_BLOCK_SEGMENT);
	query->executed = spfe_target_read(spfe, SPFE_TARGET_BLOCK_EXECUTED);
	query->repeated = spfe_target_read(spfe, SPFE_TARGET_BLOCK_REPEATED);
	query->refused = spfe_target_read(spfe, SPFE_TARGET_BLOCK_REFUSED);
	query->discarded = spfe_target_read(spfe, SPFE_TARGET_BLOCK_DISCARDED);
	query->notes_lost = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTES_LOST);
	query->notes = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTES);
	return 0;
}

/* The access bits that a region needs for these key_options. */
static u32 spfe_target_needs(u32 options)
{
	u32 access = 0;

	if (options & (SPFE_KEY_OPTIONS_READ | SPFE_KEY_OPTIONS_ATOMIC))
		access |= SPFE_ACCESS_REMOTE_READ;
	if (options & (SPFE_KEY_OPTIONS_WRITE | SPFE_KEY_OPTIONS_ATOMIC))
		access |= SPFE_ACCESS_REMOTE_WRITE;
	return access;
}

/* The event vector that notifications signal. Every command on the target latches it. */
static void spfe_target_write_vector(struct spfe_device *spfe)
{
	u32 vector = spfe->listener ? spfe->note_event->vector->index + 1 : 0;

	spfe_write(spfe, spfe->target_at + SPFE_TARGET_BLOCK_NOTE_VECTOR, vector);
}

static void spfe_target_write(struct spfe_device *spfe, const struct spfe_target_entry *wish,
			      u64 memory)
{
	u32 at = spfe->target_at;

	spfe_write(spfe, at + SPFE_TARGET_BLOCK_KEY, wish->key);
	spfe_write(spfe, at + SPFE_TARGET_BLOCK_OPTIONS, wish->options);
	spfe_write_pair(spfe, at + SPFE_TARGET_BLOCK_ADDRESS_LO, wish->address);
	spfe_write_pair(spfe, at + SPFE_TARGET_BLOCK_SIZE_LO, wish->size);
	spfe_write_pair(spfe, at + SPFE_TARGET_BLOCK_MEMORY_LO, memory);
	spfe_write(spfe, at + SPFE_TARGET_BLOCK_INITIATORS, wish->initiators);
	spfe_target_write_vector(spfe);
}

static u32 spfe_target_key(u32 index)
{
	u32 generation;

	do {
		generation = get_random_u32() & (BIT(SPFE_GENERATION_BITS) - 1);
	} while (!generation);
	return index << SPFE_GENERATION_BITS | generation;
}

/*
 * Lets others use memory of a region, which must be contiguous on the bus. The device checks
 * address and options.
 */
int spfe_target_set(struct spfe_client *client, const struct spfe_region *region,
		    struct spfe_target_entry *wish)
{
	struct spfe_device *spfe = client->spfe;
	struct spfe_entry *entry = NULL;
	u32 index, status, needs;
	u64 end;
	int err;

	lockdep_assert_held(&spfe->lock);
	err = spfe_target_check(spfe);
	if (err)
		return err;
	needs = spfe_target_needs(wish->options);
	if (wish->reserved || wish->key || wish->status || region->page_shift ||
	    (region->access & needs) != needs)
		return -EINVAL;
	if (check_add_overflow(wish->offset, wish->size, &end) || end > region->size)
		return -EINVAL;
	for (index = spfe->nfixed; index < spfe->nentries && !entry; index++)
		if (!spfe->entries[index].client)
			entry = &spfe->entries[index];
	if (!entry)
		return -ENOSPC;
	err = spfe_entry_take(client);
	if (err)
		return err;
	index = entry - spfe->entries;
	wish->key = spfe_target_key(index);
	spfe_target_write(spfe, wish, region->base + wish->offset);
	err = spfe_command(spfe, SPFE_COMMAND_TARGET_SET, index, &status);
	wish->status = err ? 0 : status;
	if (!err && status != SPFE_STATUS_OK)
		err = -EREMOTEIO;
	if (err) {
		wish->key = 0;
		spfe_entry_give(client);
		return err;
	}
	entry->client = client;
	entry->region = region;
	entry->key = wish->key;
	return 0;
}

static void spfe_entry_drop(struct spfe_entry *entry)
{
	spfe_entry_give(entry->client);
	memset(entry, 0, sizeof(*entry));
}

/*
 * Takes an entry back. Returns -EBUSY if the device does not stop using its memory. So may a device
 * that failed; that is for the region to know.
 */
static int spfe_entry_clear(struct spfe_device *spfe, struct spfe_entry *entry,
			    unsigned int *tries)
{
	u32 status;
	int err;

	err = spfe_command_patient(spfe, SPFE_COMMAND_TARGET_CLEAR, entry - spfe->entries, tries,
				   &status);
	if (!err && status == SPFE_STATUS_BUSY)
		return -EBUSY;
	spfe_entry_drop(entry);
	return 0;
}

int spfe_target_clear(struct spfe_client *client, u32 key)
{
	struct spfe_device *spfe = client->spfe;
	unsigned int tries = SPFE_BUSY_TRIES;
	struct spfe_entry *entry;
	u32 index = key >> SPFE_GENERATION_BITS;

	if (!spfe->target_at || index >= spfe->nentries)
		return -ENOENT;
	entry = &spfe->entries[array_index_nospec(index, spfe->nentries)];
	if (entry->client != client || entry->key != key)
		return -ENOENT;
	return spfe_entry_clear(spfe, entry, &tries);
}

/* Whether an entry names a region, whose memory must stay then. */
bool spfe_target_uses(const struct spfe_device *spfe, const struct spfe_region *region)
{
	u32 index;

	for (index = 0; index < spfe->nentries; index++)
		if (spfe->entries[index].region == region)
			return true;
	return false;
}

/* Tells the device which event vector notifications signal. */
static int spfe_target_latch(struct spfe_device *spfe)
{
	u32 status;

	spfe_target_write_vector(spfe);
	/* There is no such entry, so nothing else happens. */
	return spfe_command(spfe, SPFE_COMMAND_TARGET_CLEAR, spfe->nentries, &status);
}

static void spfe_listener_drop(struct spfe_device *spfe)
{
	if (spfe->listener)
		spfe_event_put(spfe->note_event);
	spfe->listener = NULL;
	spfe->note_event = NULL;
}

/* Makes a client the one that reads notifications, and signals `event` if some wait already. */
int spfe_target_listen(struct spfe_client *client, struct spfe_signal *event)
{
	struct spfe_device *spfe = client->spfe;
	int err = spfe_target_check(spfe);

	if (err)
		return err;
	if (spfe->listener && spfe->listener != client)
		return -EBUSY;
	spfe_listener_drop(spfe);
	spfe->listener = client;
	spfe->note_event = event;
	kref_get(&event->ref);
	err = spfe_target_latch(spfe);
	if (!err && spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTES))
		spfe_event_signal(event);
	return err;
}

/* Whether notifications signal an event of a client. */
bool spfe_target_signals(const struct spfe_device *spfe, const struct spfe_signal *event)
{
	return spfe->note_event == event;
}

/* Takes the oldest notification; -ENOENT if none waits. */
int spfe_target_take(struct spfe_client *client, struct spfe_target_note *note)
{
	struct spfe_device *spfe = client->spfe;
	int err = spfe_target_check(spfe);
	u32 status, i;
	__le32 word;

	if (err)
		return err;
	if (spfe->listener != client)
		return -EBUSY;
	if (!spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTES))
		return -ENOENT;
	memset(note, 0, sizeof(*note));
	note->sender = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTE_SENDER);
	note->request = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTE_REQUEST);
	note->length = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTE_LENGTH);
	note->immediate = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTE_IMMEDIATE);
	note->flags = spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTE_FLAGS);
	note->address = spfe_read_pair(spfe, spfe->target_at + SPFE_TARGET_BLOCK_NOTE_ADDRESS_LO);
	note->time_ns = spfe_read_pair(spfe, spfe->target_at + SPFE_TARGET_BLOCK_NOTE_TIME_LO);
	for (i = 0; i < ARRAY_SIZE(note->data) / 4; i++) {
		word = cpu_to_le32(spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTE_DATA_0 + 4 * i));
		memcpy(note->data + 4 * i, &word, sizeof(word));
	}
	err = spfe_command(spfe, SPFE_COMMAND_TARGET_TAKE, 0, &status);
	if (!err && status != SPFE_STATUS_OK)
		err = -ENOENT;
	note->left = err ? 0 : spfe_target_read(spfe, SPFE_TARGET_BLOCK_NOTES);
	return err;
}

/* Takes back all that a client has of the target; -EBUSY like spfe_entry_clear(). */
int spfe_target_leave(struct spfe_client *client, unsigned int *tries)
{
	struct spfe_device *spfe = client->spfe;
	int err = 0;
	u32 index;

	if (spfe->listener == client) {
		spfe_listener_drop(spfe);
		/* A device that failed is told when it is reset. */
		spfe_target_latch(spfe);
	}
	for (index = 0; index < spfe->nentries; index++)
		if (spfe->entries[index].client == client)
			err = spfe_entry_clear(spfe, &spfe->entries[index], tries) ?: err;
	return err;
}

/* Forgets all of it after a reset of the device. */
void spfe_target_forget(struct spfe_device *spfe)
{
	u32 index;

	spfe_listener_drop(spfe);
	for (index = 0; index < spfe->nentries; index++)
		if (spfe->entries[index].client)
			spfe_entry_drop(&spfe->entries[index]);
}
