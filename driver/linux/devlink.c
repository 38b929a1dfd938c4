// SPDX-License-Identifier: GPL-2.0-only
/*
 * spfe: devlink: device information, a health reporter that dumps the queues, and reload, which
 * resets the device.
 */
#include <net/devlink.h>

#include "spfe_core.h"
#include "spfe_compat.h"

/* A new failure within this time after a recovery is not recovered automatically. */
#define SPFE_GRACE_MS 10000

struct spfe_devlink {
	struct spfe_device *spfe;
};

static struct spfe_device *spfe_of_devlink(struct devlink *devlink)
{
	struct spfe_devlink *priv = devlink_priv(devlink);

	return priv->spfe;
}

static int spfe_devlink_info_get(struct devlink *devlink, struct devlink_info_req *request,
				 struct netlink_ext_ack *extack)
{
	struct spfe_device *spfe = spfe_of_devlink(devlink);
	char version[24];
	int err;

	err = spfe_devlink_driver_name(request);
	if (err)
		return err;
	snprintf(version, sizeof(version), "%u.%u", spfe->contract_version >> 16,
		 spfe->contract_version & 0xffff);
	return devlink_info_version_fixed_put(request, "contract", version);
}

static int spfe_devlink_reload_down(struct devlink *devlink, bool netns_change,
				    enum devlink_reload_action action,
				    enum devlink_reload_limit limit,
				    struct netlink_ext_ack *extack)
{
	return 0;	/* reload_up does it all: a reset stops and starts the device */
}

static int spfe_devlink_reload_up(struct devlink *devlink, enum devlink_reload_action action,
				  enum devlink_reload_limit limit, u32 *actions,
				  struct netlink_ext_ack *extack)
{
	*actions = BIT(action);
	return spfe_reset(spfe_of_devlink(devlink), "devlink reload");
}

static const struct devlink_ops spfe_devlink_ops = {
	.info_get = spfe_devlink_info_get,
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = spfe_devlink_reload_down,
	.reload_up = spfe_devlink_reload_up,
};

static int spfe_health_recover(struct devlink_health_reporter *reporter, void *context,
			       struct netlink_ext_ack *extack)
{
	return spfe_reset(devlink_health_reporter_priv(reporter), "health");
}

static void spfe_health_queue(struct spfe_device *spfe, struct devlink_fmsg *message, u32 queue)
{
	u32 at = spfe->queue_at + queue * SPFE_QUEUE_BLOCK_STRIDE;
	bool answers = spfe->state == SPFE_WORKING;

	devlink_fmsg_obj_nest_start(message);
	devlink_fmsg_u32_pair_put(message, "queue", queue);
	devlink_fmsg_u32_pair_put(message, "domain", spfe->queues[queue].client->domain);
	devlink_fmsg_u32_pair_put(message, "vector", spfe->queues[queue].event->vector->index);
	if (answers) {
		devlink_fmsg_u32_pair_put(message, "state",
					  spfe_read(spfe, at + SPFE_QUEUE_BLOCK_STATE));
		devlink_fmsg_u32_pair_put(message, "error",
					  spfe_read(spfe, at + SPFE_QUEUE_BLOCK_ERROR));
	}
	devlink_fmsg_obj_nest_end(message);
}

static void spfe_health_state(struct spfe_device *spfe, struct devlink_fmsg *message)
{
	devlink_fmsg_string_pair_put(message, "state", spfe_state_name(spfe));
	devlink_fmsg_string_pair_put(message, "failure", spfe->failure);
	devlink_fmsg_u32_pair_put(message, "heartbeat", spfe->heartbeat);
	devlink_fmsg_u32_pair_put(message, "resets", spfe->resets);
	devlink_fmsg_u64_pair_put(message, "commands", spfe->commands);
}

static int spfe_health_diagnose(struct devlink_health_reporter *reporter,
				struct devlink_fmsg *message, struct netlink_ext_ack *extack)
{
	struct spfe_device *spfe = devlink_health_reporter_priv(reporter);

	mutex_lock(&spfe->lock);
	spfe_health_state(spfe, message);
	mutex_unlock(&spfe->lock);
	return 0;
}

static int spfe_health_dump(struct devlink_health_reporter *reporter, struct devlink_fmsg *message,
			    void *context, struct netlink_ext_ack *extack)
{
	struct spfe_device *spfe = devlink_health_reporter_priv(reporter);
	u32 queue;

	mutex_lock(&spfe->lock);
	spfe_health_state(spfe, message);
	devlink_fmsg_arr_pair_nest_start(message, "queues");
	for (queue = 0; queue < spfe->nqueues; queue++)
		if (spfe->queues[queue].client)
			spfe_health_queue(spfe, message, queue);
	devlink_fmsg_arr_pair_nest_end(message);
	mutex_unlock(&spfe->lock);
	return 0;
}

static const struct devlink_health_reporter_ops spfe_health_ops = {
	.name = "device",
	.recover = spfe_health_recover,
	.diagnose = spfe_health_diagnose,
	.dump = spfe_health_dump,
};

/* Called from a work item without any lock. */
void spfe_devlink_report(struct spfe_device *spfe)
{
	if (spfe->reporter)
		devlink_health_report(spfe->reporter, spfe->failure, spfe);
}

int spfe_devlink_register(struct spfe_device *spfe)
{
	struct devlink_health_reporter *reporter;
	struct spfe_devlink *priv;
	struct devlink *devlink;
	int err;

	devlink = spfe_devlink_alloc(&spfe_devlink_ops, sizeof(*priv), spfe->parent);
	if (!devlink)
		return -ENOMEM;
	priv = devlink_priv(devlink);
	priv->spfe = spfe;
	err = spfe_devlink_begin(devlink, spfe->parent);
	if (err)
		goto err_free;
	reporter = devlink_health_reporter_create(devlink, &spfe_health_ops, SPFE_GRACE_MS, spfe);
	if (IS_ERR(reporter)) {
		err = PTR_ERR(reporter);
		goto err_begin;
	}
	spfe_devlink_complete(devlink);
	spfe->devlink = devlink;
	spfe->reporter = reporter;
	return 0;

err_begin:
	spfe_devlink_undo_begin(devlink);
err_free:
	devlink_free(devlink);
	return err;
}

/* The caller has made sure that no report is running or will start. */
void spfe_devlink_unregister(struct spfe_device *spfe)
{
	devlink_unregister(spfe->devlink);
	devlink_health_reporter_destroy(spfe->reporter);
	devlink_free(spfe->devlink);
	spfe->reporter = NULL;
}
