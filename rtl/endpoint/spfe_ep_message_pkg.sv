// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// State of a message queue, and its entries.
package spfe_ep_message_pkg;
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_link_pkg::*;
  /* verilator lint_off UNUSEDSIGNAL */  // Some bits of an entry are ignored.

  /// What changes while a message queue works.
  typedef struct packed {
    logic [31:0] sq;  // position in the submission ring
    logic [31:0] cq;  // position in the completion ring
    logic [15:0] credits;  // completions that a receive queue may write
    logic lost;  // a message was dropped since the last one
    logic [31:0] answered;  // arming that got its wake-up
    logic [31:0] wakes;  // wake-ups
  } message_state_t;

  /// State of the engine of message queues.
  typedef enum logic [3:0] {
    Rest,
    Load,
    Loaded,
    Fetch,
    Judge,
    Arrive,
    Stamp,
    Complete,
    HostLine,
    DeviceLine,
    Signal,
    Store,
    Trouble,
    TroubleLine,
    Begin
  } message_step_e;

  /// What it does with a queue.
  typedef enum logic [2:0] {
    JobStart,
    JobStop,
    JobEntry,
    JobArrive,
    JobArm
  } message_job_e;

  /// Checks an entry of a transmit queue, of a SpaceWire port or another one.
  function automatic status_e check_message(input message_t entry, input logic wired);
    if (entry.flags[3:0] != ENTRY_TYPE_MESSAGE[3:0]) return STATUS_BAD_OPCODE;
    if ((entry.flags & SUBMIT_FLAGS_MBZ_MASK) != '0) return STATUS_BAD_FIELD;
    if (entry.kind == MESSAGE_KIND_BROADCAST) return wired ? STATUS_BAD_OPCODE : STATUS_OK;
    if ((entry.kind == MESSAGE_KIND_TIME_CODE && entry.data <= 64'hFF)
        || (entry.kind == MESSAGE_KIND_INTERRUPT && entry.data <= 64'h3F))
      return wired ? STATUS_OK : STATUS_BAD_OPCODE;
    return STATUS_BAD_FIELD;
  endfunction

  /// A message entry as the link has it: a broadcast code has its type above bit 5.
  function automatic broadcast_t to_link(input message_t entry);
    logic [63:0] data;
    data = entry.data;
    if (entry.kind == MESSAGE_KIND_INTERRUPT) data[7] = 1'b1;
    return '{kind: entry.type_, channel: entry.channel, data: data, default: '0};
  endfunction

  /// A message as a receive queue shows it.
  function automatic message_t shown(input broadcast_t message, input logic wired,
                                     input queue_context_t setup, input logic lost,
                                     input logic [15:0] phase);
    logic interrupt;
    logic [15:0] flags;
    message_kind_e kind;
    interrupt = (setup.filter & InterruptFilter) != '0;
    flags = lost ? COMPLETION_FLAGS_LOST : '0;
    if (setup.stamp) flags |= COMPLETION_FLAGS_STAMPED;
    kind = interrupt ? MESSAGE_KIND_INTERRUPT : MESSAGE_KIND_TIME_CODE;
    if (!wired) kind = MESSAGE_KIND_BROADCAST;
    return
    '{
      phase: phase,
      flags: flags,
      status: {6'd0, message.delayed, message.late},
      kind: kind,
      type_: message.kind,
      channel: message.channel,
      data: interrupt ? 64'(message.data[5:0]) : message.data
    }
    ;
  endfunction

  /// The filter of a receive queue lets a message pass.
  function automatic logic passes(input logic [31:0] filter, input broadcast_t message);
    return (!filter[16] || filter[7:0] == message.channel)
        && (!filter[17] || filter[15:8] == message.kind)
        && ((filter & InterruptFilter) == '0 || is_interrupt(message.data[7:0]));
  endfunction

  /// A host line, as much of it as counts for messages, says that the host wants to be woken. Byte
  /// counts and times are met by the first completion, which wakes the host early.
  function automatic logic wants_wake(input logic [383:0] line, input logic [31:0] position,
                                      input logic [31:0] answered);
    logic [31:0] arm, flags, want, first, past, reached;
    arm = line[31:0];
    flags = line[63:32];
    want = line[95:64];
    first = line[287:256];
    past = position - first;
    reached = position - want;
    return arm != '0 && arm != answered
        && (((flags & ARM_FLAGS_COUNT) != '0 && !reached[31])
            || ((flags & (ARM_FLAGS_BYTES | ARM_FLAGS_TIME)) != '0 && !past[31] && past != '0));
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */
endpackage
