/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The behaviour of the C interface, on devices inside the process. Prints TAP.
 *
 * Each test opens what it needs and closes it, so AddressSanitizer finds what is left over.
 */
#define _GNU_SOURCE
#include "suite.h"

static int number, failures;
int bad;

spfe_endpoint *device(const char *name)
{
	spfe_endpoint *endpoint = NULL;

	OK(spfe_open(name, &endpoint));
	if (!endpoint)
		exit(1);
	return endpoint;
}

/* A buffer of a region of its own, which goes with it. */
struct spfe_buf *buffer(spfe_endpoint *endpoint, size_t bytes)
{
	spfe_region *region = NULL;
	struct spfe_buf *buf = NULL;

	OK(spfe_region_alloc(endpoint, bytes, &region));
	OK(spfe_buf_get(region, 0, bytes, &buf));
	OK(spfe_region_free(region));
	if (!buf)
		exit(1);
	return buf;
}

struct spfe_queue_options options(uint32_t depth, uint32_t flags)
{
	struct spfe_queue_options of = SPFE_QUEUE_OPTIONS_INIT;

	of.depth = depth;
	of.flags = flags;
	return of;
}

static void run(const char *name, void (*test)(void))
{
	bad = 0;
	test();
	printf("%sok %d %s\n", bad ? "not " : "", ++number, name);
	fflush(stdout);
	failures += bad != 0;
}

int main(void)
{
	printf("TAP version 13\n");
	run("results", results);
	run("names", names);
	run("description", description);
	run("sizes", sizes);
	run("handles", handles);
	run("memory", memory);
	run("posted buffers", posted);
	run("groups", groups);
	run("bursts", bursts);
	run("slots", slots);
	run("waits", waits);
	run("messages", messages);
	run("rmap", rmap);
	run("RMAP target", target);
	run("RDMA", rdma);
	run("RDMA server", rdma_server);
	run("RDMA queue pairs", rdma_pairs);
	run("RDMA requests that repeat", rdma_pooled);
	run("CCSDS packets", ccsds);
	run("closing", closing);
	run("resets", resets);
	run("forks", forks);
	run("clocks", clocks);
	run("many handles", many);
	printf("1..%d\n", number);
	return failures != 0;
}
