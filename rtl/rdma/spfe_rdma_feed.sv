// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes the entries of a submission ring one after the other out of the buffer of spfe_host_ring.
module spfe_rdma_feed
  import spfe_host_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// The queue works; otherwise the entry that was taken is forgotten.
  input logic on_i,

  /// Entries in the buffer; see spfe_host_ring.
  input logic [5:0] level_i,
  /// The search behind them found nothing; see spfe_host_ring.
  input logic dry_i,
  /// Reads the oldest entry.
  output logic peek_o,
  /// It is read.
  input logic peek_ready_i,
  /// The entry, a cycle after peek_ready_i.
  input logic [127:0] peeked_i,
  /// For one cycle: the oldest entry leaves the buffer.
  output logic pop_o,

  /// Oldest entry.
  output logic [127:0] entry_o,
  output logic entry_valid_o,
  input logic entry_ready_i,
  /// Nothing follows what was taken.
  output logic dry_o
);
  logic [127:0] entry_q;
  logic seen_q, valid_q;

  assign peek_o = on_i && !seen_q && !valid_q && level_i != '0;
  assign pop_o = on_i && seen_q;
  assign entry_o = entry_q;
  assign entry_valid_o = valid_q;
  assign dry_o = dry_i && level_i == '0 && !seen_q && !valid_q;

  always_ff @(posedge clk_i) begin
    seen_q <= peek_o && peek_ready_i;
    if (entry_ready_i) valid_q <= 1'b0;
    if (seen_q) begin
      entry_q <= peeked_i;
      valid_q <= 1'b1;
    end
    if (rst_i || !on_i) begin
      seen_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end
endmodule
