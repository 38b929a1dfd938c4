/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of the suite share: checks, and what most tests open. */
#ifndef SUITE_H
#define SUITE_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <spfe/spfe.h>

extern int bad; /* checks of the current test that failed */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("# %s:%d: %s; last error: %s\n", __FILE__, __LINE__, #condition,    \
			       spfe_error());                                                      \
			bad++;                                                                     \
		}                                                                                  \
	} while (0)
#define OK(call) CHECK((call) == 0)
#define SOON UINT64_C(20000000000) /* a limit of time that nothing reaches */
#define FAILS(status, call) CHECK((call) == -SPFE_STATUS_##status && spfe_error()[0])

spfe_endpoint *device(const char *name);
struct spfe_buf *buffer(spfe_endpoint *endpoint, size_t bytes);
struct spfe_queue_options options(uint32_t depth, uint32_t flags);

/* The tests. */
void results(void);
void names(void);
void description(void);
void sizes(void);
void handles(void);
void memory(void);
void posted(void);
void groups(void);
void bursts(void);
void slots(void);
void waits(void);
void messages(void);
void rmap(void);
void target(void);
void rdma(void);
void rdma_server(void);
void rdma_pairs(void);
void rdma_pooled(void);
void ccsds(void);
void closing(void);
void resets(void);
void forks(void);
void clocks(void);
void many(void);

#endif
