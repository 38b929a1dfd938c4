/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Captures a packet on a daemon's links: capture unix:SOCKET FILE. Prints "records: N". The exit code is
 * 1 with a line about what is wrong.
 */
#include <spfe/spfe.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("line %d: %s (%s)\n", __LINE__, #condition, spfe_error());          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void one_packet(const char *device)
{
	struct spfe_packet packet;
	char name[2][200];
	spfe_endpoint *a, *b;
	spfe_queue *tx, *rx;
	uint8_t *slot;

	snprintf(name[0], sizeof(name[0]), "%s/0", device);
	snprintf(name[1], sizeof(name[1]), "%s/1", device);
	MUST(spfe_open(name[0], &a) == 0 && spfe_open(name[1], &b) == 0);
	MUST(spfe_pooled_rx_open(b, 0, 0, NULL, &rx) == 0);
	MUST(spfe_pooled_tx_open(a, 0, 0, NULL, &tx) == 0);
	MUST(spfe_slot(tx, &slot, NULL) == 1);
	memcpy(slot, "from here to there", 18);
	MUST(spfe_slot_send(tx, 18) == 0);
	MUST(spfe_queue_wait(rx, NULL, SPFE_NEVER) >= 0);
	MUST(spfe_slot_peek(rx, &packet) == 1 && packet.length == 18);
	MUST(spfe_queue_close(tx) == 0 && spfe_queue_close(rx) == 0);
	MUST(spfe_close(a) == 0 && spfe_close(b) == 0);
}

int main(int argc, char **argv)
{
	const char *nobody[] = {"no-such-link"};
	uint64_t records = 0, left_out = 1;
	spfe_capture *capture = NULL, *other;
	char bytes[65536];
	size_t total = 0;
	ssize_t count;
	int found = 0;
	FILE *file;

	MUST(argc == 3);
	MUST(spfe_capture_open("virtual:", NULL, 0, 0, 0, &other) == -SPFE_STATUS_BAD_FIELD);
	MUST(spfe_capture_open(argv[1], nobody, 1, 0, 0, &other) == -SPFE_STATUS_NOT_FOUND);
	MUST(spfe_capture_open(argv[1], NULL, 1, 0, 0, &other) == -SPFE_STATUS_BAD_FIELD);
	MUST(spfe_capture_open(argv[1], NULL, 0, 8, 0, &other) == -SPFE_STATUS_BAD_FIELD);
	MUST(spfe_capture_open(argv[1], NULL, 0, 0, 0, NULL) == -SPFE_STATUS_BAD_FIELD);
	MUST(spfe_capture_open(argv[1], NULL, 0, 0, 0, &capture) == 0);
	one_packet(argv[1]);
	MUST(spfe_capture_end(capture, &records, &left_out) == 0);
	MUST(records > 0 && left_out == 0);
	file = fopen(argv[2], "wb");
	MUST(file);
	while ((count = read(spfe_capture_fd(capture), bytes, sizeof(bytes))) > 0) {
		for (ssize_t at = 0; at + 18 <= count; at++)
			found |= !memcmp(bytes + at, "from here to there", 18);
		total += fwrite(bytes, 1, (size_t)count, file);
	}
	fclose(file);
	MUST(count == 0 && total > 100 && found);
	MUST(spfe_capture_close(capture) == 0);
	MUST(spfe_capture_fd(capture) == -SPFE_STATUS_BAD_FIELD);
	MUST(spfe_capture_end(capture, NULL, NULL) == -SPFE_STATUS_BAD_FIELD);
	printf("records: %llu\n", (unsigned long long)records);
	return 0;
}
