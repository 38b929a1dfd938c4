/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the suite's tests share: checks, endpoints of the provider, and waiting for completions. */
#ifndef ENDS_H
#define ENDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

extern int bad; /* checks of the current test that failed */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)
#define IS(expected, call)                                                                         \
	do {                                                                                       \
		long long is_ = (long long)(call);                                                 \
		if (is_ != (long long)(expected)) {                                                \
			printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #call, is_,  \
			       (long long)(expected));                                             \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)
#define OK(call) IS(0, call)
#define MUST(call)                                                                                 \
	do {                                                                                       \
		long long must_ = (long long)(call);                                               \
		if (must_ < 0) {                                                                   \
			printf("# %s:%d: %s is %lld (%s)\n", __FILE__, __LINE__, #call, must_,     \
			       fi_strerror((int)-must_));                                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define SOON_MS 20000 /* a limit of time that nothing reaches */
#define ENDS 4

struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *tx, *rx;
	struct fid_cntr *sent, *received, *wrote, *was_written, *did_read, *was_read;
	struct fid_ep *ep;
	uint8_t name[64];
	size_t name_bytes;
	fi_addr_t peer; /* of the other end of a pair */
};

struct end_options {
	uint64_t bind;          /* additional flags of fi_ep_bind for queues */
	enum fi_wait_obj wait;
	int mr_mode;
	uint64_t tx_flags;      /* default flags of transmissions */
	bool datagrams;         /* an endpoint of type FI_EP_DGRAM */
};

static inline uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void end_open(struct end *end, const struct end_options *options);
void end_close(struct end *end);
/* Two ends that know each other. */
void pair_open(struct end pair[2], const struct end_options *options);
void pair_close(struct end pair[2]);
/* Lets all open ends move on. */
void move_on(void);

/*
 * Waits for the next completion. Returns 0, the error of the completion, or -1 if none comes. On
 * an error the fields of the error entry are in out as far as they exist there.
 */
int next(struct fid_cq *cq, struct fi_cq_tagged_entry *out, fi_addr_t *source, size_t *excess);
/* The next completion is a success with this context. */
void done(struct fid_cq *cq, const void *context);
/* No completion is there, also after moving on many times. */
bool nothing(struct fid_cq *cq);

/* Fills bytes with a pattern of the seed, or looks whether they have it. */
void fill(void *bytes, size_t count, unsigned seed);
bool filled(const void *bytes, size_t count, unsigned seed);

/* The groups of tests. */
void test_messages(void);
void test_calls(void);
void test_closing(void);
void test_information(void);
void test_matching(void);
void test_memory(void);
void test_atomics(void);
void test_counters(void);
void test_objects(void);
void test_processes(void);
void test_hostile(void);
int serve(int argc, char **argv); /* what the other process does */
void test(const char *name, void (*run)(void));

#endif
