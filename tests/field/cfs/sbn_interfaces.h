/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The part of the interface between the Software Bus Network of cFS and its protocol modules that
 * examples/cfs uses: the names, arguments and meanings of SBN, declared here for a test, because cFS is
 * in no package registry. A build in cFS takes the header of SBN instead.
 */
#ifndef SBN_INTERFACES_H
#define SBN_INTERFACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t SBN_Status_t;
typedef uint32_t SBN_MsgSz_t;
typedef enum { SBN_NO_MSG, SBN_SUB_MSG, SBN_UNSUB_MSG, SBN_APP_MSG, SBN_PROTO_MSG } SBN_MsgType_t;
typedef uint32_t SBN_ProcessorID_t;
typedef uint32_t SBN_SpacecraftID_t;
typedef uint16_t SBN_EventID_t;
typedef int SBN_PeerIdx_t;

#define CFE_MISSION_SB_MAX_SB_MSG_SIZE 32768
#define SBN_PACKED_HDR_SZ                                                                          \
	(sizeof(SBN_MsgSz_t) + sizeof(SBN_MsgType_t) + sizeof(SBN_ProcessorID_t) +                 \
	 sizeof(SBN_SpacecraftID_t))
#define SBN_MAX_PACKED_MSG_SZ (SBN_PACKED_HDR_SZ + CFE_MISSION_SB_MAX_SB_MSG_SIZE)

SBN_ProcessorID_t CFE_PSP_GetProcessorId(void);
SBN_SpacecraftID_t CFE_PSP_GetSpacecraftId(void);

typedef struct SBN_Net SBN_NetInterface_t;

/* Memory for the module. */
typedef union {
	uint8_t bytes[128];
	uint32_t align;
} SBN_Private_t;

typedef struct {
	SBN_ProcessorID_t ProcessorID;
	SBN_SpacecraftID_t SpacecraftID;
	SBN_NetInterface_t *Net;
	bool Connected;
	SBN_Private_t ModulePvt[1];
} SBN_PeerInterface_t;

struct SBN_Net {
	SBN_PeerIdx_t PeerCnt;
	SBN_PeerInterface_t Peers[2];
	SBN_Private_t ModulePvt[1];
};

/* What SBN offers a module. */
typedef struct {
	void (*PackMsg)(void *packed, SBN_MsgSz_t bytes, SBN_MsgType_t type,
			SBN_ProcessorID_t processor, SBN_SpacecraftID_t spacecraft, void *payload);
	bool (*UnpackMsg)(void *packed, SBN_MsgSz_t *bytes, SBN_MsgType_t *type,
			  SBN_ProcessorID_t *processor, SBN_SpacecraftID_t *spacecraft,
			  void *payload); /* true if it could */
	SBN_Status_t (*Connected)(SBN_PeerInterface_t *peer);
	SBN_Status_t (*Disconnected)(SBN_PeerInterface_t *peer);
} SBN_ProtocolOutlet_t;

/* What a module offers SBN. */
typedef struct {
	SBN_Status_t (*InitModule)(int version, SBN_EventID_t base, SBN_ProtocolOutlet_t *outlet);
	SBN_Status_t (*InitNet)(SBN_NetInterface_t *net);
	SBN_Status_t (*InitPeer)(SBN_PeerInterface_t *peer);
	SBN_Status_t (*LoadNet)(SBN_NetInterface_t *net, const char *address);
	SBN_Status_t (*LoadPeer)(SBN_PeerInterface_t *peer, const char *address);
	SBN_Status_t (*PollPeer)(SBN_PeerInterface_t *peer);
	SBN_Status_t (*Send)(SBN_PeerInterface_t *peer, SBN_MsgType_t type, SBN_MsgSz_t bytes,
			     void *payload);
	SBN_Status_t (*RecvFromPeer)(SBN_NetInterface_t *net, SBN_PeerInterface_t *peer,
				     SBN_MsgType_t *type, SBN_MsgSz_t *bytes,
				     SBN_ProcessorID_t *processor, SBN_SpacecraftID_t *spacecraft,
				     void *payload);
	SBN_Status_t (*UnloadNet)(SBN_NetInterface_t *net);
	SBN_Status_t (*UnloadPeer)(SBN_PeerInterface_t *peer);
} SBN_IfOps_t;

#endif
