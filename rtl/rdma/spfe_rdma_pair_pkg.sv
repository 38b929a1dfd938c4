// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What an initiator of RDMA, the sending side of a queue pair, knows of its partner and of its
/// work requests.
package spfe_rdma_pair_pkg;
  import spfe_pkg::*;
  import spfe_rdma_pkg::*;

  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  /// Reads and atomic operations that may be outstanding.
  localparam int unsigned ReadsMax = 16;
  /// Longest time that a receiver can make an initiator wait, ns.
  localparam logic [63:0] PauseMaxNs = 64'd1_000_000_000;
  /// Virtual channel in a request: answer on that of arrival.
  localparam logic [7:0] VcOfArrival = 8'hff;

  // Statuses that only an initiator has to tell apart.
  localparam logic [7:0] SfrpBusy = 8'd14;
  localparam logic [7:0] SfrpGeneral = 8'd255;

  /// The two ends of a queue pair, and when messages are repeated. The queue context has it.
  typedef struct packed {
    logic [15:0] domain;
    logic [15:0] own;  // number of the queue pair
    logic [15:0] partner;  // its partner's; 0: a target without queue pairs
    logic [7:0] address;  // own logical address
    logic [7:0] target;  // the partner's
    logic [7:0] protocol;
    logic [3:0] segment_log2;  // of the largest payload of a packet, 8 to 12
    logic [4:0] retries;  // of a message that brings no progress, at most 16
    logic [7:0] not_ready;  // repetitions for a receiver that was not ready
    logic [63:0] timeout_ns;  // below 2^42
    logic [3:0] path_bytes;  // at most 8
    logic [7:0][7:0] path;  // to the partner; byte 0 is sent first
    logic [3:0] reply_bytes;  // at most 8
    logic [7:0][7:0] reply;  // from the partner back
  } pair_t;

  /// A work request, without its local elements.
  typedef struct packed {
    logic [3:0] code;  // opcode of its packets
    logic signals;  // success makes a completion
    logic fence;
    logic solicited;
    logic has_immediate;
    logic [31:0] immediate;
    logic [31:0] key;
    logic [63:0] address;
    logic [31:0] bytes;
    logic [31:0] number;  // of the request
    logic [2:0] elements;  // slots with local elements
    logic [1:0] operands;
    logic [15:0] position;  // of its last slot
  } work_t;

  /// How often a work request was repeated, and what has arrived of it.
  typedef struct packed {
    logic [4:0] attempts;
    logic [8:0] not_ready;
    logic [31:0] arrived;
  } progress_t;

  /// A work request that was read from the ring.
  typedef struct packed {
    work_t work;
    logic last;  // ends a group
    logic wrong;
    status_e status;  // why; with wrong
  } posted_t;

  /// Bytes to move between a store and the local elements of a work request.
  typedef struct packed {
    logic scatter;  // into the elements; otherwise out of them
    logic value;  // scatter: the first 8 bytes, which are a big-endian number
    logic operands;  // the operands, as big-endian numbers, in place of the elements
    logic [2:0] elements;
    logic [1:0] operand_slots;
    logic [31:0] offset;  // in the bytes of the elements
    logic [12:0] bytes;  // up to 4096
  } move_t;

  /// A receive buffer that was taken from the ring.
  typedef struct packed {
    logic [15:0] region;
    logic [47:0] offset;
    logic [31:0] bytes;
    logic [15:0] position;
    status_e status;  // STATUS_OK: it can be used
  } buffer_t;

  /// The end of a work request.
  typedef struct packed {
    logic [15:0] position;
    logic [31:0] bytes;  // of a request that has succeeded; otherwise a detail of the status
    status_e status;
    logic signals;
    logic unknown;  // it may have been executed
  } ended_t;

  /// What an initiator does in one go, for tests and counters.
  typedef enum logic [4:0] {
    StepNone,
    StepPost,  // takes a work request
    StepBad,  // a work request that cannot be executed ends the queue pair
    StepRing,  // releases what was taken
    StepTaken,  // takes a packet
    StepStale,  // a packet answers nothing that is outstanding
    StepInvalid,  // a packet is not intact, or not for this queue pair
    StepTimer,  // a time-out
    StepConnect,  // sends CONNECT
    StepTick,  // would send CONNECT, but the channel takes no words
    StepStarve,  // begins to wait for credit
    StepSend,  // sends a packet of a work request
    StepStop,  // forgets everything
    StepRefused,  // takes a packet that refuses a message
    StepProbe,  // sends a packet of a work request, without credit
    StepUnread,  // cannot read the bytes of a work request
    StepGivesUp  // does not send CONNECT again
  } step_e;

  /// What a packet does.
  typedef enum logic [3:0] {
    TakeInvalid,
    TakeStale,
    TakeCredit,
    TakeConnected,
    TakeRefused,  // CONNECT was refused
    TakeDone,  // executed; tells credit
    TakeFlushed,  // executed
    TakeData,
    TakeValue,
    TakeFail,  // ends the queue pair
    TakeMissing,  // repeat from another message on
    TakePause,  // the receiver is not ready
    TakeAgain,  // repeat this message
    TakeNothing  // a report of a gap that is closed
  } take_e;

  /// The verdict on a packet.
  typedef struct packed {
    take_e action;
    logic ack;  // what is before its message was executed
    status_e status;  // if the work request fails
    logic [7:0] detail;  // with status
    logic unknown;  // it may have been executed
    logic followers;  // so may those that follow it
    logic [15:0] again;  // TakeMissing: index of the message
    logic ends;  // TakeData: last packet
  } verdict_t;

  /// States of spfe_rdma_pair.
  typedef enum logic [3:0] {
    AtRest,
    AtTake,  // a packet: its work request is read,
    AtJudge,  // judged,
    AtAct,  // the verdict is carried out,
    AtMoved,  // and its bytes are written
    AtAgain,  // a message is repeated, if it was not repeated often enough
    AtAgainSeen,
    AtSend,  // a packet is made,
    AtGather,  // its bytes are read,
    AtSent,  // and it is handed over
    AtFail,  // all work requests end
    AtFailSeen,
    AtFront,  // those at the front that are done end
    AtFrontSeen,
    AtAim,  // what is sent next?
    AtAimSeen
  } pair_at_e;

  /// What spfe_rdma_pair may do, or does, when no step is under way.
  typedef struct packed {
    logic stop;
    logic take;  // a packet
    logic post;
    logic bad;  // ends a work request that is not executed
    logic ring;
    logic timer;
    logic dial;  // CONNECT
    logic gives_up;  // after the last attempt; with dial
    logic blocked;  // the packet before has not left; with dial
    logic send;
    logic starve;
  } pair_may_t;

  /// State, numbers and credit of a queue pair.
  typedef struct packed {
    queue_pair_state_e state;
    logic [31:0] number;  // of the next request
    logic [31:0] connect;  // of CONNECT
    logic [15:0] base;  // number of the oldest message
    logic [31:0] offset;  // bytes that were sent of the work request that sends next
    logic [6:0] unasked;  // messages since the last one that asked for an acknowledgement
    logic [4:0] attempts;  // to connect
    logic rings;  // the last work request ends a group that is not released yet
    logic allowed;  // there is credit
  } pair_now_t;

  /// What becomes of the table of work requests. Index: that of the command.
  typedef struct packed {
    logic clear;  // forget all of them
    logic post;  // add one
    logic ring;  // release what was added; the last one ends a group
    logic pop;  // forget the oldest one
    logic ack;  // what is before the index and brings no data back is done
    logic finish;  // the index is done
    logic back;  // send again from the index on, which asks for an acknowledgement
    logic sent;  // a packet of the one that sends next was sent
    logic sent_last;  // its last one; with sent
    logic sent_asks;  // it asks for an acknowledgement; with sent_last
    logic skip;  // the one that sends next is done already
    logic read;  // read one
    logic put;  // new progress of the one that was read last
  } works_do_t;

  /// What is known of the table.
  typedef struct packed {
    logic sent;  // the one that was read last was sent, and is not done
    logic done;  // it is done
    logic retry;  // it was sent before
    logic asks;  // it asks for an acknowledgement, or ends a group
    logic front_done;  // the oldest one is done
    logic front_sent;  // the oldest one was sent, and is not done
    logic cursor_done;  // the one that sends next is done
    logic fenced;  // reads or atomic operations before it are outstanding
    logic full;  // as many of them as are allowed
    logic index_sent;  // the index of the command was sent, and is not done
  } works_view_t;

  /// What happens to the times of a queue pair. The last ones are about the front (first) and about
  /// what is sent next (aim).
  typedef struct packed {
    logic fresh;  // CONNECT is sent at once, nothing waits
    logic dial;  // an attempt to connect begins now
    logic expired;  // the timer has expired; try again now
    logic progress;
    logic pause;  // the receiver asks to wait
    logic starve;  // the wait for credit begins now
    logic fed;  // credit was used
    logic front;
    logic front_waits;  // the oldest message waits for an answer; with front
    logic aim;
    logic aims;  // there is a work request, and it was released; with aim
    logic fence;  // it waits for a fence; with aim
    logic reads;  // it waits for reads; with aim
    logic starves;  // it waits for credit; with aim
  } times_t;

  /// Whether requests of an opcode have no number in the sequence of messages. Such a request is
  /// the only one in the table.
  function automatic logic is_question(input logic [3:0] code);
    return {4'd0, code} inside {OpInfo, OpRegions};
  endfunction

  /// Whether requests of an opcode bring data back, so that a fence waits for them.
  function automatic logic brings_data(input logic [3:0] code);
    return {4'd0, code} inside {OpRead, OpFetchAdd, OpCompareSwap} || is_question(code);
  endfunction

  /// Whether a work request takes a receive buffer of the partner.
  function automatic logic takes_buffer(input logic [3:0] code, input logic has_immediate);
    return code == OpSend[3:0] || (code == OpWrite[3:0] && has_immediate);
  endfunction

  /// Status of a work request that the target has refused.
  function automatic status_e refused(input logic [7:0] status);
    unique case (status)
      SfrpBadKey, SfrpBounds, SfrpAccess, SfrpRevoked: return STATUS_REMOTE_ACCESS;
      SfrpTooLong: return STATUS_TOO_LONG;
      SfrpMemory: return STATUS_REMOTE_MEMORY;
      SfrpPayloadCrc, SfrpShort, SfrpLong, SfrpEep: return STATUS_REMOTE_DATA;
      SfrpNotReady, SfrpBusy: return STATUS_NOT_READY;
      SfrpSequence: return STATUS_NO_ANSWER;
      default: return STATUS_REMOTE_REQUEST;
    endcase
  endfunction
  /* verilator lint_on UNUSEDPARAM */
endpackage
