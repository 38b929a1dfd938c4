// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Keeps track of payload that arrived ahead of a hole, and finds the new RCV.NXT when the hole
/// closes.
///
/// Each session has up to Spans spans, which neither overlap nor touch. A segment that would need
/// another span is not recorded, so the peer sends it again. A FIN after a hole is recorded too.
/// The state changes in the three cycles after the end of a segment, long before the next segment
/// reads it.
module spfe_tcp_rx_holes
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Number of spans of a session.
  localparam int unsigned Spans = 4
) (
  input logic clk_i,
  input logic rst_i,
  /// Discards what is kept of a session; not with hold_o or move_o.
  input logic clear_i,
  /// With clear_i: the session.
  input sid_t clear_sid_i,
  /// Loads the state of a session for the segment that comes.
  input logic read_i,
  /// With read_i: the session.
  input sid_t read_sid_i,
  /// Session of the segment that ends.
  input sid_t sid_i,
  /// SEQ of the segment; stable until move_o.
  input seq_t seq_i,
  /// Payload of the segment in bytes; stable until move_o.
  input logic [15:0] len_i,
  /// FIN of the segment; stable until move_o.
  input logic fin_i,
  /// The segment ends, and it is accepted in order.
  input logic taken_i,
  /// The segment ends, and it is kept because it is ahead of RCV.NXT.
  input logic keep_i,
  /// One and two cycles after taken_i or keep_i: no command may change a session.
  output logic hold_o,
  /// Three cycles after taken_i: RCV.NXT becomes move_nxt_o.
  output logic move_o,
  /// New RCV.NXT, with move_o.
  output seq_t move_nxt_o,
  /// Something was kept of the session before this segment; valid from read_i until the next one.
  output logic gap_o,
  /// The FIN of the peer is in order and counted in move_nxt_o; until the next move_o.
  output logic fin_o,
  /// Kept payload to deliver after the segment, for one cycle together with move_o.
  output drain_t drain_o,
  output logic drain_valid_o
);
  localparam int unsigned IndexBits = $clog2(SessionCount);

  typedef struct packed {
    logic valid;
    seq_t first;  // first byte
    seq_t stop;  // byte after the last one
  } span_t;
  typedef struct packed {
    logic fin;
    seq_t fin_seq;
    span_t [Spans-1:0] span;
  } state_t;

  state_t state_q, state_d, write_q, read;
  logic taken_q, keep_q, taken2_q, keep2_q, write_valid_q;
  seq_t stop_q;  // byte after the segment
  // Relation of each span to the segment.
  logic [Spans-1:0] touch_q;  // the span overlaps or touches the segment
  logic [Spans-1:0] left_q;  // the span contains or touches the first byte of the segment
  logic [Spans-1:0] right_q;  // the span contains or touches the last byte of the segment
  logic [Spans-1:0] below_q;  // the span ends within the segment
  logic [Spans-1:0] fin_at_q;  // the FIN follows the span
  logic fin_here_q;  // the FIN follows the segment

  logic [Spans-1:0] from_left;  // the span begins at or before the end of the segment
  logic [Spans-1:0] from_right;  // the span ends at or after the first byte of the segment
  drain_t drain_q;
  logic drain_valid_q, fin_q, move_q;
  seq_t move_nxt_q;
  logic write, jump, fin, put;
  logic [IndexBits-1:0] write_index;
  state_t write_data;
  seq_t nxt;
  span_t merged;
  logic unused_bits;

  assign drain_o = drain_q;
  assign drain_valid_o = drain_valid_q;
  assign fin_o = fin_q;
  assign move_nxt_o = move_nxt_q;
  assign move_o = move_q;
  assign unused_bits = ^{clear_sid_i, read_sid_i};
  assign write = clear_i || write_valid_q;
  assign write_index = clear_i ? clear_sid_i[IndexBits-1:0] : sid_i[IndexBits-1:0];
  assign write_data = clear_i ? '0 : write_q;

  spfe_lutram #(
    .Width($bits(state_t)),
    .Depth(SessionCount)
  ) i_states (
    .clk_i,
    .we_i(write),
    .addr_i(write_index),
    .data_i(write_data),
    .raddr_i(read_sid_i[IndexBits-1:0]),
    .rdata_o(read)
  );

  always_comb begin
    for (int unsigned i = 0; i < Spans; i++) begin
      from_left[i] = state_q.span[i].valid && seq_le(state_q.span[i].first, stop_q);
      from_right[i] = state_q.span[i].valid && seq_le(seq_i, state_q.span[i].stop);
    end
  end

  always_comb begin
    state_d = state_q;
    jump = 1'b0;
    nxt = stop_q;
    fin = fin_here_q;
    merged = '{valid: 1'b1, first: seq_i, stop: stop_q};
    put = 1'b0;
    for (int unsigned i = 0; i < Spans; i++) begin
      if (left_q[i]) merged.first = state_q.span[i].first;
      if (right_q[i]) merged.stop = state_q.span[i].stop;
      if (right_q[i] && !below_q[i] && !fin_here_q) begin
        jump = 1'b1;
        nxt = state_q.span[i].stop;
        fin = fin_at_q[i];
      end
    end
    if (taken2_q) begin
      for (int unsigned i = 0; i < Spans; i++) begin
        if (below_q[i] || right_q[i]) state_d.span[i].valid = 1'b0;
      end
    end else if (len_i != '0) begin
      for (int unsigned i = 0; i < Spans; i++) begin
        if (touch_q[i]) state_d.span[i].valid = 1'b0;
      end
      for (int unsigned i = 0; i < Spans; i++) begin
        if (!state_d.span[i].valid && !put) begin
          state_d.span[i] = merged;
          put = 1'b1;
        end
      end
    end
    if (keep2_q && fin_i) begin
      state_d.fin = 1'b1;
      state_d.fin_seq = stop_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read_i) state_q <= read;
    stop_q <= seq_i + {16'd0, len_i};
    taken_q <= taken_i;
    keep_q <= keep_i;
    taken2_q <= taken_q;
    keep2_q <= keep_q;
    for (int unsigned i = 0; i < Spans; i++) begin
      touch_q[i] <= from_left[i] && from_right[i];
      left_q[i] <= from_right[i] && seq_le(state_q.span[i].first, seq_i);
      right_q[i] <= from_left[i] && seq_le(stop_q, state_q.span[i].stop);
      below_q[i] <= state_q.span[i].valid && seq_le(state_q.span[i].stop, stop_q);
      fin_at_q[i] <= state_q.fin && state_q.fin_seq == state_q.span[i].stop;
    end
    fin_here_q <= fin_i || (state_q.fin && state_q.fin_seq == stop_q);
    write_q <= state_d;
    write_valid_q <= taken2_q || keep2_q;
    move_q <= taken2_q;
    if (taken2_q) begin
      move_nxt_q <= nxt + 32'(fin);
      fin_q <= fin;
      drain_q <= '{sid: sid_i, seq: stop_q, len: nxt - stop_q};
    end
    drain_valid_q <= taken2_q && jump;
    if (rst_i) begin
      taken_q <= 1'b0;
      keep_q <= 1'b0;
      taken2_q <= 1'b0;
      keep2_q <= 1'b0;
      write_valid_q <= 1'b0;
      move_q <= 1'b0;
      drain_valid_q <= 1'b0;
    end
  end

  always_comb begin
    gap_o = state_q.fin;
    for (int unsigned i = 0; i < Spans; i++) gap_o = gap_o || state_q.span[i].valid;
  end

  assign hold_o = taken_q || keep_q || taken2_q || keep2_q || write_valid_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_writer :
      assert (!(clear_i && write_valid_q))
      else $error("two writers of the spans");
      a_read :
      assert (!(read_i && hold_o))
      else $error("the last segment has not written its spans yet");
    end
  end
`endif
endmodule
