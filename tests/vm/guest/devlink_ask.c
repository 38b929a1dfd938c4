/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A minimal devlink client over generic netlink.
 *
 *	devlink_ask BUS/DEVICE info|health|diagnose|dump|clear|recover|reload
 *
 * Prints "NAME: VALUE" lines. If the kernel refuses the request, the reason goes to standard error
 * and the exit code is 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The health reporter of the driver. */
#define REPORTER "device"
/* Types of non-numeric values in formatted messages: the kernel-internal NLA_* constants. */
#define FMSG_FLAG 6
#define FMSG_STRING 10
/* State of a reporter without failure (enum devlink_health_reporter_state of the kernel). */
#define HEALTHY 0
/* Bound on the messages of one answer. */
#define MESSAGES_MAX 1000

struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	char attributes[512];
};

struct ask {
	int socket;
	uint32_t sequence;
	uint16_t family;
};

typedef void (*take_fn)(struct ask *ask, const struct nlattr *attributes, size_t length);

struct command {
	const char *name;
	uint8_t command;
	uint16_t flags;
	bool reporter;
	take_fn take;
};

static void die(const char *what, int error)
{
	fprintf(stderr, "devlink_ask: %s: %s\n", what, strerror(error));
	exit(1);
}

static void put(struct request *request, uint16_t type, const void *data, size_t length)
{
	size_t at = NLMSG_ALIGN(request->header.nlmsg_len);
	struct nlattr *attribute = (struct nlattr *)((char *)request + at);

	if (at + NLA_HDRLEN + NLA_ALIGN(length) > sizeof(*request))
		die("request", E2BIG);
	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	memcpy((char *)attribute + NLA_HDRLEN, data, length);
	request->header.nlmsg_len = at + NLA_HDRLEN + NLA_ALIGN(length);
}

static void put_text(struct request *request, uint16_t type, const char *text)
{
	put(request, type, text, strlen(text) + 1);
}

static struct request request(uint16_t family, uint8_t command, uint16_t flags)
{
	struct request request = {
		.header = {
			.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN,
			.nlmsg_type = family,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags,
		},
		.generic = { .cmd = command, .version = 1 },
	};

	return request;
}

/* Iteration over attributes: whether a whole attribute lies within `length` bytes; the next one. */
static bool whole(const struct nlattr *attribute, size_t length)
{
	return length >= NLA_HDRLEN && attribute->nla_len >= NLA_HDRLEN &&
	       attribute->nla_len <= length;
}

static const struct nlattr *next(const struct nlattr *attribute, size_t *length)
{
	size_t step = NLA_ALIGN(attribute->nla_len);

	*length = step < *length ? *length - step : 0;
	return (const struct nlattr *)((const char *)attribute + step);
}

static const void *data_of(const struct nlattr *attribute)
{
	return (const char *)attribute + NLA_HDRLEN;
}

static size_t length_of(const struct nlattr *attribute)
{
	return attribute->nla_len - NLA_HDRLEN;
}

static const struct nlattr *find(const struct nlattr *attributes, size_t length, uint16_t type)
{
	for (; whole(attributes, length); attributes = next(attributes, &length))
		if ((attributes->nla_type & NLA_TYPE_MASK) == type)
			return attributes;
	return NULL;
}

static uint64_t number(const struct nlattr *attribute)
{
	uint64_t value = 0;

	if (attribute && length_of(attribute) <= sizeof(value))
		memcpy(&value, data_of(attribute), length_of(attribute));
	return value;
}

static void print_text(const char *name, const struct nlattr *attribute)
{
	if (attribute)
		printf("%s: %.*s\n", name, (int)length_of(attribute),
		       (const char *)data_of(attribute));
}

/* Sends a request and passes each answer to `take`, unless that is NULL. */
static void transact(struct ask *ask, struct request *request, take_fn take)
{
	static char buffer[65536] __attribute__((aligned(8)));
	unsigned int messages;

	request->header.nlmsg_seq = ++ask->sequence;
	if (send(ask->socket, request, request->header.nlmsg_len, 0) < 0)
		die("send", errno);
	for (messages = 0; messages < MESSAGES_MAX; messages++) {
		ssize_t got = recv(ask->socket, buffer, sizeof(buffer), 0);
		struct nlmsghdr *header = (struct nlmsghdr *)buffer;
		unsigned int left = got < 0 ? 0 : got;

		if (got < 0)
			die("receive", errno);
		for (; NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
			size_t length = NLMSG_PAYLOAD(header, GENL_HDRLEN);
			int error = 0;

			if (header->nlmsg_seq != ask->sequence)
				continue;
			if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE) {
				if (NLMSG_PAYLOAD(header, 0) >= (int)sizeof(error))
					memcpy(&error, NLMSG_DATA(header), sizeof(error));
				if (error)
					die("refused", -error);
				return;
			}
			if (take)
				take(ask,
				     (struct nlattr *)((char *)NLMSG_DATA(header) + GENL_HDRLEN),
				     length);
		}
	}
	die("answers without end", EOVERFLOW);
}

static void take_family(struct ask *ask, const struct nlattr *attributes, size_t length)
{
	ask->family = number(find(attributes, length, CTRL_ATTR_FAMILY_ID));
}

static void take_info(struct ask *ask, const struct nlattr *attributes, size_t length)
{
	(void)ask;
	print_text("driver", find(attributes, length, DEVLINK_ATTR_INFO_DRIVER_NAME));
	for (; whole(attributes, length); attributes = next(attributes, &length)) {
		const struct nlattr *inner = data_of(attributes), *name, *value;

		if ((attributes->nla_type & NLA_TYPE_MASK) != DEVLINK_ATTR_INFO_VERSION_FIXED)
			continue;
		name = find(inner, length_of(attributes), DEVLINK_ATTR_INFO_VERSION_NAME);
		value = find(inner, length_of(attributes), DEVLINK_ATTR_INFO_VERSION_VALUE);
		if (name)
			print_text(data_of(name), value);
	}
}

static void take_health(struct ask *ask, const struct nlattr *attributes, size_t length)
{
	const struct nlattr *reporter = find(attributes, length, DEVLINK_ATTR_HEALTH_REPORTER),
			    *inner;
	uint64_t state;

	(void)ask;
	if (!reporter)
		return;
	inner = data_of(reporter);
	length = length_of(reporter);
	print_text("reporter", find(inner, length, DEVLINK_ATTR_HEALTH_REPORTER_NAME));
	state = number(find(inner, length, DEVLINK_ATTR_HEALTH_REPORTER_STATE));
	printf("state: %s\n", state == HEALTHY ? "healthy" : "error");
	printf("errors: %" PRIu64 "\n",
	       number(find(inner, length, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT)));
	printf("recoveries: %" PRIu64 "\n",
	       number(find(inner, length, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT)));
}

static void print_value(uint64_t type, const struct nlattr *value)
{
	if (type == FMSG_STRING)
		printf("%.*s\n", (int)length_of(value), (const char *)data_of(value));
	else if (type == FMSG_FLAG)
		printf("%s\n", number(value) ? "true" : "false");
	else
		printf("%" PRIu64 "\n", number(value));
}

/* Prints the names and values of a formatted message without its nesting. */
static void take_message(struct ask *ask, const struct nlattr *attributes, size_t length)
{
	const struct nlattr *message = find(attributes, length, DEVLINK_ATTR_FMSG), *at;
	uint64_t type = 0;

	(void)ask;
	if (!message)
		return;
	length = length_of(message);
	for (at = data_of(message); whole(at, length); at = next(at, &length)) {
		switch (at->nla_type & NLA_TYPE_MASK) {
		case DEVLINK_ATTR_FMSG_OBJ_NAME:
			printf("%.*s: ", (int)length_of(at), (const char *)data_of(at));
			break;
		case DEVLINK_ATTR_FMSG_OBJ_VALUE_TYPE:
			type = number(at);
			break;
		case DEVLINK_ATTR_FMSG_OBJ_VALUE_DATA:
			print_value(type, at);
			break;
		case DEVLINK_ATTR_FMSG_ARR_NEST_START:
			printf("\n");
			break;
		}
	}
}

static const struct command commands[] = {
	{ "info", DEVLINK_CMD_INFO_GET, 0, false, take_info },
	{ "health", DEVLINK_CMD_HEALTH_REPORTER_GET, 0, true, take_health },
	{ "diagnose", DEVLINK_CMD_HEALTH_REPORTER_DIAGNOSE, 0, true, take_message },
	{ "dump", DEVLINK_CMD_HEALTH_REPORTER_DUMP_GET, NLM_F_DUMP, true, take_message },
	{ "clear", DEVLINK_CMD_HEALTH_REPORTER_DUMP_CLEAR, 0, true, NULL },
	{ "recover", DEVLINK_CMD_HEALTH_REPORTER_RECOVER, 0, true, NULL },
	{ "reload", DEVLINK_CMD_RELOAD, 0, false, NULL },
};

static const struct command *command_of(const char *name)
{
	size_t index;

	for (index = 0; index < sizeof(commands) / sizeof(commands[0]); index++)
		if (strcmp(commands[index].name, name) == 0)
			return &commands[index];
	return NULL;
}

int main(int count, char **words)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct ask ask = { .socket = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC) };
	const struct command *command = count == 3 ? command_of(words[2]) : NULL;
	char *device = count == 3 ? strchr(words[1], '/') : NULL;
	struct request wish;

	if (!command || !device) {
		fprintf(stderr,
			"devlink_ask BUS/DEVICE info|health|diagnose|dump|clear|recover|reload\n");
		return 2;
	}
	*device++ = '\0';
	if (ask.socket < 0 || connect(ask.socket, (struct sockaddr *)&kernel, sizeof(kernel)) != 0)
		die("netlink", errno);
	wish = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put_text(&wish, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
	transact(&ask, &wish, take_family);
	wish = request(ask.family, command->command, command->flags);
	put_text(&wish, DEVLINK_ATTR_BUS_NAME, words[1]);
	put_text(&wish, DEVLINK_ATTR_DEV_NAME, device);
	if (command->reporter)
		put_text(&wish, DEVLINK_ATTR_HEALTH_REPORTER_NAME, REPORTER);
	transact(&ask, &wish, command->take);
	close(ask.socket);
	return 0;
}
