/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device model for tests: a register file and a minimal loopback device. Port 0 is SpaceFibre,
 * port 1 SpaceWire. Packets and messages sent on a port are received on the same virtual channel of
 * the same port. The model runs on each register read and each doorbell. It is written from the
 * contract, independently of the driver.
 */
#ifndef SPFE_TEST_MODEL_H
#define SPFE_TEST_MODEL_H

#include <spfe/spfe.h>

#define MODEL_VCS 2U
#define MODEL_SLOTS 2U
#define MODEL_QUEUES (2U * (2U * MODEL_VCS + 2U * MODEL_SLOTS))
#define MODEL_REGIONS 4U
#define MODEL_EVENTS 3U
#define MODEL_WORDS (0x4000U / 4U)
#define MODEL_DOORBELL 0x3000U

struct model_queue {
	bool enabled;
	uint32_t kind;
	uint32_t log2;
	uint32_t vector;
	uint32_t taken; /* number of submissions consumed */
	uint32_t written; /* number of completions written */
	uint8_t *sq, *cq, *stamps, *lines, *area;
	uint32_t area_bytes, head, used;
	uint32_t credit;
	bool stamped;
	/* The receive buffer that is being filled. */
	uint8_t *buffer;
	uint32_t room, position;
};

struct model {
	uint32_t word[MODEL_WORDS];
	struct model_queue queue[MODEL_QUEUES];
	struct {
		uint8_t *base;
		uint64_t bytes;
		uint32_t access;
		uint16_t key;
	} region[MODEL_REGIONS];
	uint32_t generation;
	uint32_t interrupts[MODEL_EVENTS];
	bool enabled[MODEL_EVENTS];
	uint32_t doorbells;
	uint64_t now;
	/* Injected faults. */
	bool gone; /* all registers read ones */
	bool deaf; /* commands are not answered */
	bool asleep; /* the device waits for a doorbell */
	uint32_t wrong_position; /* added to the position of completions */
	uint32_t wrong_length; /* added to the length in record headers */
};

/* Puts the device into its state after power-up. */
void model_init(struct model *model);
/* Lets the device move all packets and messages that it can. */
void model_run(struct model *model);
/* Register offset of the block with this type and instance. */
uint32_t model_block(uint32_t type, uint32_t instance);

#endif
