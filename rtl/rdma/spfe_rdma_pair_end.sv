// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The ends of work requests: those that have succeeded, and all of them when the queue pair fails.
module spfe_rdma_pair_end
  import spfe_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// Bits of an index of a work request.
  parameter int unsigned Width = 5
) (
  input logic clk_i,
  /// State of the queue pair.
  input pair_at_e at_i,
  /// Index of the request that has failed.
  input logic [Width-1:0] fail_i,
  /// Why.
  input verdict_t verdict_i,
  /// A request that is not executed.
  input posted_t posted_i,
  /// The queue pair has failed before.
  input logic wrong_i,
  /// The oldest request.
  input work_t work_i,
  /// How far it is.
  input works_view_t view_i,
  /// What has arrived of it.
  input logic [31:0] arrived_i,
  /// Its end.
  output ended_t ended_o,
  /// It is taken.
  input logic ready_i
);
  logic [Width-1:0] ending_q;
  logic flushing_q, good;
  // As in verbs, nothing ends well behind an error.
  assign good = view_i.done && !flushing_q && ending_q < fail_i;
  always_comb begin
    ended_o = '{
      position: work_i.position,
      bytes: is_question(work_i.code) ? arrived_i : work_i.bytes,
      status: STATUS_OK,
      signals: work_i.signals,
      unknown: 1'b0
    };
    if (at_i == AtRest) begin
      ended_o.position = posted_i.work.position;
      ended_o.bytes = '0;
      ended_o.status = wrong_i ? STATUS_FLUSHED : posted_i.status;
    end else if (at_i == AtFailSeen && ending_q == fail_i) begin
      ended_o.bytes = 32'(verdict_i.detail);
      ended_o.status = verdict_i.status;
      ended_o.unknown = verdict_i.unknown;
    end else if (at_i == AtFailSeen && !good) begin
      ended_o.bytes = '0;
      ended_o.status = STATUS_FLUSHED;
      ended_o.unknown = (view_i.sent || view_i.done) && (ending_q < fail_i || verdict_i.followers);
    end
  end

  always_ff @(posedge clk_i) begin
    if (at_i == AtRest) begin
      ending_q <= '0;
      flushing_q <= 1'b0;
    end else if (at_i == AtFailSeen && ready_i) begin
      ending_q <= ending_q + 1'b1;
      if (!good) flushing_q <= 1'b1;
    end
  end

  logic unused;
  assign unused = ^{verdict_i, posted_i, work_i, view_i};
endmodule
