/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Writes and reads the memory of another node with RMAP (ECSS-E-ST-50-52C). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spfe/spfe.h>

static void check(int result)
{
	if (result < 0) {
		fprintf(stderr, "remote_memory: %s\n", spfe_error());
		exit(1);
	}
}

int main(void)
{
	struct spfe_rmap_options options = {.size = sizeof(options), .key = 0x20};
	char back[18];
	spfe_endpoint *endpoint;
	spfe_rmap *rmap;
	int refused;

	/* Port 0 is connected to an RMAP target with 1 MiB of memory. */
	check(spfe_open("virtual:?peer=rmap:1M:key=0x20", &endpoint));
	check(spfe_rmap_open(endpoint, 0, 0, &options, &rmap));
	check(spfe_rmap_write(rmap, 0x100, "from here to there", 18, SPFE_NEVER));
	check(spfe_rmap_read(rmap, 0x100, back, 18, SPFE_NEVER));
	printf("read back: %.18s\n", back);

	/* The target refuses what it does not have, and says why. */
	refused = spfe_rmap_read(rmap, UINT64_C(0xff00000000), back, 4, SPFE_NEVER);
	printf("%s: %s\n", spfe_status_name(refused), spfe_error());
	check(spfe_rmap_close(rmap));
	check(spfe_close(endpoint));
	return 0;
}
