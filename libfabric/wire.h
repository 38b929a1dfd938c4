/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Packets between endpoints of the provider: a header of 72 bytes, then the payload. Fields are
 * little-endian. Both ends run on machines of one kind, so the header is copied as it is.
 */
#ifndef SPFI_WIRE_H
#define SPFI_WIRE_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the provider's packets are little-endian; a big-endian machine would have to swap fields"
#endif

#define WIRE_ADDRESS 254   /* logical address of a node that has no other (ECSS-E-ST-50-51C) */
#define WIRE_PROTOCOL 0xf1 /* protocol identifiers 0xf0 to 0xfe belong to projects */
#define WIRE_VERSION 1

enum wire_kind {
	WIRE_MSG = 1,     /* a whole message */
	WIRE_RTS,         /* request to send: a long message waits at the sender */
	WIRE_CTS,         /* clear to send: a receive matched */
	WIRE_DATA,        /* a part of a long message, or of what a read returns */
	WIRE_ACK,         /* the operation is done; status tells how */
	WIRE_CREDIT,      /* the receiver took messages that had cost this many bytes */
	WIRE_RESET,       /* the receiver does not know this conversation */
	WIRE_WRITE,
	WIRE_READ,
	WIRE_ATOMIC,
	WIRE_KINDS
};

#define WIRE_TAGGED 1u    /* flags: the message has a tag */
#define WIRE_HAS_DATA 2u  /* there is remote CQ data */
#define WIRE_WANT_ACK 4u  /* the sender waits until the message has been placed */
#define WIRE_LAST 8u      /* last packet of a write */
#define WIRE_FETCH 16u    /* an atomic operation that returns what was there */
#define WIRE_COMPARE 32u  /* an atomic operation with a second operand */

struct wire {
	uint8_t address;
	uint8_t protocol;
	uint8_t version;
	uint8_t kind;
	uint16_t flags;
	uint16_t source;   /* node of the sender */
	uint64_t from;     /* incarnation of the sender */
	uint64_t to;       /* incarnation that is meant; 0: whoever is there */
	uint32_t length;   /* payload bytes in this packet */
	uint32_t status;   /* ACK: an error number; ATOMIC: operation << 8 | data type */
	uint64_t tag;      /* MSG, RTS: tag; WRITE, READ, ATOMIC: key */
	uint64_t data;     /* remote CQ data; CREDIT: bytes; CTS: bytes wanted */
	uint64_t id;       /* the operation of the sender, or of the receiver for answers */
	uint64_t offset;   /* WRITE, READ, ATOMIC: address; DATA: place; CTS: id of the receive */
	uint64_t total;    /* bytes of the whole message or read */
};

_Static_assert(sizeof(struct wire) == 72, "the header has no padding");

#define WIRE_SEGMENT 16384u /* largest payload of a packet */
#define WIRE_WINDOW (256u * 1024) /* cost of messages that a sender may have unconsumed */

#define WIRE_REQUEST 128u   /* cost of a message or request without its payload */

/* What a message takes from the window: its header counts, so that empty messages are bounded. */
static inline uint32_t wire_cost(const struct wire *wire)
{
	return WIRE_REQUEST + wire->length;
}

#endif
