/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One side of a word stream: the foreign end of an exact link (docs/foreign-ends.md).
 *
 * Needs POSIX sockets only. In exactly one C or C++ file of a program write
 *
 *     #define SPFE_FOREIGN_IMPLEMENTATION
 *     #include "spfe/foreign.h"
 *
 * A program that has the words of many periods at hand uses spfe_foreign_exchange(). A simulator
 * with one word period per clock uses spfe_foreign_rx(), spfe_foreign_tx() and spfe_foreign_step(),
 * which are also DPI-C imports (int is int, longint is int64_t, chandle is void *).
 */
#ifndef SPFE_FOREIGN_H
#define SPFE_FOREIGN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPFE_FOREIGN_ANY 0    /* of kind, lanes, words, rate: as the other side says */
#define SPFE_FOREIGN_WORDS 1  /* kind: four symbols with K and error flags */
#define SPFE_FOREIGN_GROUPS 2 /* kind: 40 bits as on the line */

#define SPFE_FOREIGN_SIGNAL (UINT64_C(1) << 63)

/* A cell of four symbols (symbol 0 in bits 7:0) with their K flags and error flags. */
#define SPFE_FOREIGN_CELL(symbols, k, errors)                                                      \
	(SPFE_FOREIGN_SIGNAL | (uint64_t)((errors) & 15u) << 36 | (uint64_t)((k) & 15u) << 32 |    \
	 (uint32_t)(symbols))

/*
 * Connects to "unix:PATH" or "tcp:HOST:PORT", waits for one connection at "unix-listen:PATH" or
 * "tcp-listen:HOST:PORT", or opens "pipes:IN:OUT" (reads from IN); then exchanges greetings. It
 * tries to connect for 60 s, so either side may start first. kind, lanes, words and rate (bit/s of
 * a lane) may be 0. Returns NULL after a message on standard error.
 */
void *spfe_foreign_open(const char *address, int32_t kind, int32_t lanes, int32_t words,
			int64_t rate, const char *name);

/* Ends the stream. NULL is allowed. */
void spfe_foreign_close(void *line);

/* What both sides agreed on. */
int32_t spfe_foreign_kind(void *line);
int32_t spfe_foreign_lanes(void *line);
int32_t spfe_foreign_words(void *line);
int64_t spfe_foreign_rate(void *line);

/*
 * Sends a message of words * lanes cells, and waits for the message to receive in the next words
 * periods. In the periods before the first exchange nothing is received: cells of 0. Returns 1, or
 * 0 when the stream has ended; `received` then has no signal.
 */
int32_t spfe_foreign_exchange(void *line, const uint64_t *sent, uint64_t *received);

/* The cell that arrives on a lane in this word period. */
int64_t spfe_foreign_rx(void *line, int32_t lane);

/* The cell that a lane sends in this word period; without a call, no signal. */
void spfe_foreign_tx(void *line, int32_t lane, int64_t cell);

/* Ends a word period. Returns 1, or 0 when the stream has ended. */
int32_t spfe_foreign_step(void *line);

#ifdef __cplusplus
}
#endif
#endif /* SPFE_FOREIGN_H */

#ifdef SPFE_FOREIGN_IMPLEMENTATION
#undef SPFE_FOREIGN_IMPLEMENTATION

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPFE_FOREIGN_GREETING_ 64u
#define SPFE_FOREIGN_HEAD_ 16u
#define SPFE_FOREIGN_TRIES_ 12000 /* of 5 ms */

struct spfe_foreign_ {
	int in, out; /* the same descriptor for sockets */
	int ended;
	uint32_t kind, lanes, words;
	uint64_t rate, sent, received;
	uint32_t place;		     /* word period in the message */
	uint64_t *inbox, *outbox;    /* a message each */
	unsigned char *bytes;	     /* a message as it is sent */
};

static void spfe_foreign_put_(unsigned char *to, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t spfe_foreign_get_(const unsigned char *from, unsigned int count)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < count; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

static void spfe_foreign_pause_(void)
{
	struct timespec time = { 0, 5000000 };

	nanosleep(&time, NULL);
}

static int spfe_foreign_write_(struct spfe_foreign_ *line, const unsigned char *bytes, size_t count)
{
	while (count != 0) {
		/* A socket that the other side has closed must not raise SIGPIPE. */
		ssize_t done = line->in == line->out ?
				       send(line->out, bytes, count, MSG_NOSIGNAL) :
				       write(line->out, bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return 0;
		bytes += done;
		count -= (size_t)done;
	}
	return 1;
}

static int spfe_foreign_read_(struct spfe_foreign_ *line, unsigned char *bytes, size_t count)
{
	while (count != 0) {
		ssize_t done = read(line->in, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return 0;
		bytes += done;
		count -= (size_t)done;
	}
	return 1;
}

static int spfe_foreign_unix_(const char *path, int listens)
{
	struct sockaddr_un name;
	int fd, peer = -1;

	memset(&name, 0, sizeof name);
	name.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof name.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return -1;
	if (!listens) {
		for (int i = 0; i < SPFE_FOREIGN_TRIES_; i++) {
			if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0)
				return fd;
			if (errno != ENOENT && errno != ECONNREFUSED && errno != EINTR)
				break;
			spfe_foreign_pause_();
		}
	} else if (bind(fd, (struct sockaddr *)&name, sizeof name) == 0) {
		if (listen(fd, 1) == 0)
			peer = accept(fd, NULL, NULL);
		unlink(path);
	}
	{
		int error = errno;

		close(fd);
		errno = error;
	}
	return peer;
}

static int spfe_foreign_tcp_(const char *place, int listens)
{
	char host[256];
	const char *colon = strrchr(place, ':');
	size_t length = colon ? (size_t)(colon - place) : 0;
	struct addrinfo hints, *list = NULL;
	int fd = -1, on = 1;

	if (length >= 2 && place[0] == '[' && place[length - 1] == ']') {
		place++; /* an IPv6 address */
		length -= 2;
	}
	if (!colon || length >= sizeof host) {
		errno = EINVAL;
		return -1;
	}
	memcpy(host, place, length);
	host[length] = 0;
	memset(&hints, 0, sizeof hints);
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = listens ? AI_PASSIVE : 0;
	if (getaddrinfo(length ? host : NULL, colon + 1, &hints, &list) != 0) {
		errno = EADDRNOTAVAIL;
		return -1;
	}
	for (int i = 0; fd < 0 && i < (listens ? 1 : SPFE_FOREIGN_TRIES_); i++) {
		for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
			int own = socket(at->ai_family, at->ai_socktype, at->ai_protocol);

			if (own < 0)
				continue;
			if (!listens) {
				if (connect(own, at->ai_addr, at->ai_addrlen) == 0)
					fd = own;
			} else {
				setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
				if (bind(own, at->ai_addr, at->ai_addrlen) == 0 &&
				    listen(own, 1) == 0)
					fd = accept(own, NULL, NULL);
			}
			if (fd != own)
				close(own);
		}
		if (fd < 0 && !listens)
			spfe_foreign_pause_();
	}
	freeaddrinfo(list);
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

/* Opens both pipes without waiting for the other side, whichever opens first. */
static int spfe_foreign_pipes_(const char *place, struct spfe_foreign_ *line)
{
	char path[4096];
	const char *colon = strchr(place, ':');
	size_t length = colon ? (size_t)(colon - place) : sizeof path;
	struct pollfd readable;

	if (length >= sizeof path) {
		errno = EINVAL;
		return 0;
	}
	memcpy(path, place, length);
	path[length] = 0;
	line->in = open(path, O_RDONLY | O_NONBLOCK);
	if (line->in < 0)
		return 0;
	for (int i = 0; i < SPFE_FOREIGN_TRIES_ && line->out < 0; i++) {
		line->out = open(colon + 1, O_WRONLY | O_NONBLOCK);
		if (line->out < 0 && errno != ENXIO)
			return 0;
		if (line->out < 0)
			spfe_foreign_pause_();
	}
	if (line->out < 0)
		return 0;
	/* Before the other side has opened the pipe, reading would find its end. */
	readable.fd = line->in;
	readable.events = POLLIN;
	poll(&readable, 1, 60000);
	fcntl(line->in, F_SETFL, 0);
	fcntl(line->out, F_SETFL, 0);
	return 1;
}

static int spfe_foreign_connect_(struct spfe_foreign_ *line, const char *address)
{
	static const struct {
		const char *prefix;
		int tcp, listens;
	} forms[] = { { "unix:", 0, 0 }, { "unix-listen:", 0, 1 }, { "tcp:", 1, 0 },
		      { "tcp-listen:", 1, 1 } };

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		size_t length = strlen(forms[i].prefix);

		if (strncmp(address, forms[i].prefix, length) != 0)
			continue;
		line->in = forms[i].tcp ? spfe_foreign_tcp_(address + length, forms[i].listens) :
					  spfe_foreign_unix_(address + length, forms[i].listens);
		line->out = line->in;
		return line->in >= 0;
	}
	errno = EINVAL;
	return 0;
}

/* Joins one value of both greetings. Returns 0 if they differ. */
static int spfe_foreign_same_(const char *what, uint64_t ours, uint64_t theirs, uint64_t *value)
{
	*value = ours ? ours : theirs;
	if (*value != 0 && (theirs == 0 || theirs == *value))
		return 1;
	fprintf(stderr, "spfe_foreign: %s: ours %llu, the other side's %llu\n", what,
		(unsigned long long)ours, (unsigned long long)theirs);
	return 0;
}

static int spfe_foreign_greet_(struct spfe_foreign_ *line, const char *name)
{
	unsigned char ours[SPFE_FOREIGN_GREETING_], theirs[SPFE_FOREIGN_GREETING_];
	uint64_t kind, lanes, words;

	memset(ours, 0, sizeof ours);
	memcpy(ours, "SPFEWORD\1", 9);
	spfe_foreign_put_(ours + 12, line->kind, 4);
	spfe_foreign_put_(ours + 16, line->lanes, 4);
	spfe_foreign_put_(ours + 20, line->words, 4);
	spfe_foreign_put_(ours + 24, line->rate, 8);
	if (name)
		strncpy((char *)ours + 40, name, 23);
	if (!spfe_foreign_write_(line, ours, sizeof ours) ||
	    !spfe_foreign_read_(line, theirs, sizeof theirs)) {
		fprintf(stderr, "spfe_foreign: the other side closed the connection\n");
		return 0;
	}
	if (memcmp(theirs, "SPFEWORD", 8) != 0 || spfe_foreign_get_(theirs + 8, 2) != 1) {
		fprintf(stderr, "spfe_foreign: the other side speaks no word stream version 1\n");
		return 0;
	}
	if (!spfe_foreign_same_("kind", line->kind, spfe_foreign_get_(theirs + 12, 4), &kind) ||
	    !spfe_foreign_same_("lanes", line->lanes, spfe_foreign_get_(theirs + 16, 4), &lanes) ||
	    !spfe_foreign_same_("words", line->words, spfe_foreign_get_(theirs + 20, 4), &words) ||
	    !spfe_foreign_same_("rate", line->rate, spfe_foreign_get_(theirs + 24, 8), &line->rate))
		return 0;
	if (kind > 2 || lanes > 16 || words > 1024 || words * lanes > 4096) {
		fprintf(stderr, "spfe_foreign: kind %llu, %llu lanes, %llu words: out of range\n",
			(unsigned long long)kind, (unsigned long long)lanes,
			(unsigned long long)words);
		return 0;
	}
	line->kind = (uint32_t)kind;
	line->lanes = (uint32_t)lanes;
	line->words = (uint32_t)words;
	return 1;
}

static void spfe_foreign_free_(struct spfe_foreign_ *line)
{
	if (line->in >= 0)
		close(line->in);
	if (line->out >= 0 && line->out != line->in)
		close(line->out);
	free(line->inbox);
	free(line->outbox);
	free(line->bytes);
	free(line);
}

void *spfe_foreign_open(const char *address, int32_t kind, int32_t lanes, int32_t words,
			int64_t rate, const char *name)
{
	struct spfe_foreign_ *line = (struct spfe_foreign_ *)calloc(1, sizeof *line);
	int connected;
	size_t cells;

	if (!line)
		return NULL;
	line->in = line->out = -1;
	line->kind = (uint32_t)kind;
	line->lanes = (uint32_t)lanes;
	line->words = (uint32_t)words;
	line->rate = (uint64_t)rate;
	if (strncmp(address, "pipes:", 6) == 0)
		connected = spfe_foreign_pipes_(address + 6, line);
	else
		connected = spfe_foreign_connect_(line, address);
	if (!connected) {
		fprintf(stderr, "spfe_foreign: %s: %s\n", address, strerror(errno));
		spfe_foreign_free_(line);
		return NULL;
	}
	if (!spfe_foreign_greet_(line, name)) {
		spfe_foreign_free_(line);
		return NULL;
	}
	cells = (size_t)line->words * line->lanes;
	line->inbox = (uint64_t *)calloc(cells, 8);
	line->outbox = (uint64_t *)calloc(cells, 8);
	line->bytes = (unsigned char *)malloc(SPFE_FOREIGN_HEAD_ + 8 * cells);
	if (!line->inbox || !line->outbox || !line->bytes) {
		spfe_foreign_free_(line);
		return NULL;
	}
	return line;
}

void spfe_foreign_close(void *of)
{
	struct spfe_foreign_ *line = (struct spfe_foreign_ *)of;
	unsigned char end[SPFE_FOREIGN_HEAD_] = { 2 };

	if (!line)
		return;
	if (!line->ended)
		spfe_foreign_write_(line, end, sizeof end);
	spfe_foreign_free_(line);
}

int32_t spfe_foreign_kind(void *of)
{
	return (int32_t)((struct spfe_foreign_ *)of)->kind;
}

int32_t spfe_foreign_lanes(void *of)
{
	return (int32_t)((struct spfe_foreign_ *)of)->lanes;
}

int32_t spfe_foreign_words(void *of)
{
	return (int32_t)((struct spfe_foreign_ *)of)->words;
}

int64_t spfe_foreign_rate(void *of)
{
	return (int64_t)((struct spfe_foreign_ *)of)->rate;
}

int32_t spfe_foreign_exchange(void *of, const uint64_t *sent, uint64_t *received)
{
	struct spfe_foreign_ *line = (struct spfe_foreign_ *)of;
	size_t cells = (size_t)line->words * line->lanes;
	unsigned char *bytes = line->bytes;

	if (!line->ended) {
		spfe_foreign_put_(bytes, 1, 4);
		spfe_foreign_put_(bytes + 4, line->words, 4);
		spfe_foreign_put_(bytes + 8, line->sent, 8);
		for (size_t i = 0; i < cells; i++)
			spfe_foreign_put_(bytes + SPFE_FOREIGN_HEAD_ + 8 * i, sent[i], 8);
		line->sent += line->words;
		line->ended = !spfe_foreign_write_(line, bytes, SPFE_FOREIGN_HEAD_ + 8 * cells) ||
			      !spfe_foreign_read_(line, bytes, SPFE_FOREIGN_HEAD_) ||
			      spfe_foreign_get_(bytes, 4) != 1 ||
			      spfe_foreign_get_(bytes + 4, 4) != line->words ||
			      spfe_foreign_get_(bytes + 8, 8) != line->received ||
			      !spfe_foreign_read_(line, bytes, 8 * cells);
		line->received += line->words;
	}
	for (size_t i = 0; i < cells; i++)
		received[i] = line->ended ? 0 : spfe_foreign_get_(bytes + 8 * i, 8);
	return !line->ended;
}

int64_t spfe_foreign_rx(void *of, int32_t lane)
{
	struct spfe_foreign_ *line = (struct spfe_foreign_ *)of;

	return (int64_t)line->inbox[line->place * line->lanes + (uint32_t)lane % line->lanes];
}

void spfe_foreign_tx(void *of, int32_t lane, int64_t cell)
{
	struct spfe_foreign_ *line = (struct spfe_foreign_ *)of;

	line->outbox[line->place * line->lanes + (uint32_t)lane % line->lanes] = (uint64_t)cell;
}

int32_t spfe_foreign_step(void *of)
{
	struct spfe_foreign_ *line = (struct spfe_foreign_ *)of;
	size_t cells = (size_t)line->words * line->lanes;

	if (++line->place == line->words) {
		line->place = 0;
		spfe_foreign_exchange(line, line->outbox, line->inbox);
		memset(line->outbox, 0, 8 * cells);
	}
	return !line->ended;
}

#ifdef __cplusplus
}
#endif
#endif /* SPFE_FOREIGN_IMPLEMENTATION */
