// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What a state of spfe_rdma_pair does to the table of work requests. Without state.
module spfe_rdma_pair_do
  import spfe_rdma_pair_pkg::*;
#(
  /// Bits of an index of a work request.
  parameter int unsigned Width = 5
) (
  /// State of spfe_rdma_pair.
  input pair_at_e at_i,
  /// Step that begins in state AtRest, at most one.
  input pair_may_t begins_i,
  /// Verdict on the packet.
  input verdict_t verdict_i,
  /// Bytes of the packet.
  input logic [31:0] length_i,
  /// Index of its work request.
  input logic [15:0] number_i,
  /// Index of the one that is repeated or has failed.
  input logic [Width-1:0] fail_i,
  /// The bytes were moved.
  input logic moved_i,
  /// The end of the oldest one is taken.
  input logic ends_i,
  /// The one that sends next is done.
  input logic skips_i,
  /// Its index.
  input logic [Width-1:0] cursor_i,
  /// The packet is its last one.
  input logic last_i,
  /// It asks for an acknowledgement.
  input logic asks_i,
  /// Progress of the work request that was read last.
  input progress_t progress_i,
  /// Configuration, of which the numbers of repetitions are used.
  input pair_t pair_i,
  /// Changes of the table in this cycle.
  output works_do_t do_o,
  /// Index to read.
  output logic [Width-1:0] read_o,
  /// New progress.
  output progress_t put_o,
  /// The message was repeated often enough.
  output logic over_o
);
  logic pauses;
  logic [5:0] tries;
  logic [9:0] waits;
  assign pauses = verdict_i.action == TakePause;
  assign tries = 6'(progress_i.attempts) + 6'd1;
  assign waits = 10'(progress_i.not_ready) + 10'd1;
  assign over_o = pauses ? waits > 10'(pair_i.not_ready) : tries > 6'(pair_i.retries);

  always_comb begin
    put_o = progress_i;
    if (at_i == AtMoved) put_o.arrived = progress_i.arrived + length_i;
    else if (pauses) put_o.not_ready = waits[8:0];
    else put_o.attempts = tries[4:0];
    read_o = '0;
    if (at_i == AtTake) read_o = number_i[Width-1:0];
    if (at_i == AtAgain) read_o = fail_i;
    if (at_i == AtAim) read_o = cursor_i;
  end

  always_comb begin
    do_o = '0;
    do_o.clear = begins_i.stop;
    do_o.post = begins_i.post;
    do_o.ring = begins_i.ring;
    do_o.skip = at_i == AtAim && skips_i;
    do_o.read = at_i inside {AtTake, AtAgain, AtFail, AtFront} || (at_i == AtAim && !skips_i);
    do_o.pop = ends_i;
    do_o.ack = (at_i == AtAct && verdict_i.ack) ||
        (at_i == AtAgainSeen && verdict_i.action == TakeMissing);
    do_o.finish = (at_i == AtAct && verdict_i.action inside {TakeDone, TakeFlushed}) ||
        (at_i == AtMoved && moved_i && (verdict_i.action == TakeValue || verdict_i.ends));
    do_o.back = at_i == AtAgainSeen && !over_o;
    do_o.put = do_o.back || (at_i == AtMoved && moved_i && verdict_i.action == TakeData);
    do_o.sent = at_i == AtSent;
    do_o.sent_last = last_i;
    do_o.sent_asks = asks_i;
  end

  logic unused;
  assign unused = ^{begins_i, verdict_i, number_i, progress_i, pair_i};
endmodule
