/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stops or starts the link of port 0 and waits until the driver tells of it, in both ways that it
 * has: poll() of the attribute "state", and an event for udev.
 *
 *	link_event NAME up|down SECONDS		NAME is spfe0, for instance
 *
 * The exit code is 0 if both came, and 1 if one did not come within this time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/spfe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <spfe/spfe_hw.h>

static int wait_ms;

static void die(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Reads the whole attribute; only then does poll() wait for the next change. */
static bool is_up(int state)
{
	char word[32] = "";

	if (lseek(state, 0, SEEK_SET) != 0 || read(state, word, sizeof(word) - 1) <= 0)
		die("state");
	return !strcmp(word, "up\n");
}

static void await(int file, short events, const char *what)
{
	struct pollfd wait = { .fd = file, .events = events };

	if (poll(&wait, 1, wait_ms) != 1) {
		printf("# no %s came\n", what);
		exit(1);
	}
}

/* Whether an event, words that end with 0, has a word. */
static bool has(const char *words, const char *end, const char *word)
{
	for (; words < end; words += strlen(words) + 1)
		if (!strcmp(words, word))
			return true;
	return false;
}

static void await_uevent(int events, bool up)
{
	char words[4096];

	for (;;) {
		ssize_t bytes;

		await(events, POLLIN, "event for udev");
		bytes = recv(events, words, sizeof(words) - 1, 0);
		if (bytes < 0)
			die("recv");
		words[bytes] = '\0';
		if (has(words, words + bytes, "ACTION=change") &&
		    has(words, words + bytes, "SPFE_PORT=0") &&
		    has(words, words + bytes, "SPFE_LINK=up") == up)
			return;
	}
}

static void set(int file, unsigned int item, bool on)
{
	struct spfe_mib wish = { .item = item, .flags = SPFE_MIB_SET, .value = on };

	if (ioctl(file, SPFE_IOC_MIB, &wish) != 0)
		die("MIB");
}

int main(int count, char **words)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	char path[128];
	int file, state, events;
	bool up;

	if (count != 4) {
		fprintf(stderr, "link_event NAME up|down SECONDS\n");
		return 2;
	}
	wait_ms = 1000 * atoi(words[3]);
	up = !strcmp(words[2], "up");
	snprintf(path, sizeof(path), "/dev/%s", words[1]);
	file = open(path, O_RDWR);
	snprintf(path, sizeof(path), "/sys/class/spfe/%s/port0/state", words[1]);
	state = open(path, O_RDONLY);
	events = socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
	if (file < 0 || state < 0 || events < 0 ||
	    bind(events, (struct sockaddr *)&address, sizeof(address)) != 0)
		die(words[1]);
	if (is_up(state) == up) {
		printf("# the link is %s already\n", words[2]);
		return 1;
	}
	set(file, SPFE_MIB_ITEM_LANE_START, up);
	set(file, SPFE_MIB_ITEM_AUTO_START, up);
	do
		await(state, POLLPRI, "change of the attribute");
	while (is_up(state) != up);
	await_uevent(events, up);
	return 0;
}
