// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// RCV.NXT of a session changes only by commands of the engine, and by segments of this session
/// that were judged with its present value. A command between the read and the end of a segment
/// makes the segment stale.
module formal_rx_rcv
  import spfe_tcp_pkg::*;
(
  input logic clk_i,
  /// Free: the watched session; its value in the first cycle counts.
  input logic watched_i,
  /// Free: command of the engine.
  input rcv_cmd_t cmd_i,
  /// Free: cmd_i is valid.
  input logic cmd_valid_i,
  /// Free: the session of a segment is read.
  input logic read_i,
  /// Free: with the read: the session.
  input logic read_sid_i,
  /// Free: the segment ends.
  input logic end_i,
  /// Free: the segment is accepted, unless it is stale.
  input logic take_i,
  /// Free: commands have to wait.
  input logic busy_i,
  /// Free: the new RCV.NXT.
  input seq_t move_nxt_i,
  /// Free: the segment has FIN.
  input logic close_i
);
  logic rst_q = 1'b1;
  logic watched_q;
  logic cmd_ready, is_open, stale;
  seq_t nxt, tx_nxt, eng_nxt, read_nxt, credit_nxt;
  rcv_cmd_t cmd;

  // A segment reads its session once, ends, and moves RCV.NXT in the next cycle. Only then the next
  // segment reads.
  logic inside_q, move_q, sid_q, read, ends, move;

  assign read = read_i && !inside_q && !move_q && !rst_q;
  assign ends = end_i && inside_q && !rst_q;
  assign move = move_q && !rst_q;

  always_comb begin
    cmd = cmd_i;
    cmd.sid = sid_t'(cmd_i.sid[0]);
  end

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (rst_q) watched_q <= watched_i;
    inside_q <= !rst_q && (read || (inside_q && !ends));
    move_q <= ends && take_i && !stale;
    if (read) sid_q <= read_sid_i;
  end

  spfe_tcp_rx_rcv #(
    .SessionCount(2)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .cmd_i(cmd),
    .cmd_valid_i,
    .cmd_ready_o(cmd_ready),
    .busy_i,
    .read_i(read),
    .read_sid_i(sid_t'(read_sid_i)),
    .read_nxt_o(read_nxt),
    .nxt_o(nxt),
    .open_o(is_open),
    .stale_o(stale),
    .end_i(ends),
    .move_i(move),
    .move_sid_i(sid_t'(sid_q)),
    .move_nxt_i,
    .move_close_i(close_i),
    .tx_sid_i(sid_t'(watched_q)),
    .tx_nxt_o(tx_nxt),
    .eng_sid_i(sid_t'(watched_q)),
    .eng_nxt_o(eng_nxt),
    .credit_sid_i(sid_t'(watched_q)),
    .credit_nxt_o(credit_nxt)
  );

  // Model of the watched session.
  logic known_q, open_q, told, mine;
  seq_t nxt_q;

  assign told = cmd_valid_i && cmd_ready && cmd.sid[0] == watched_q;
  assign mine = move && sid_q == watched_q;

  always_ff @(posedge clk_i) begin
    if (told && cmd.set) begin
      known_q <= 1'b1;
      nxt_q <= cmd.nxt;
    end
    if (told) open_q <= cmd.open;
    if (mine) nxt_q <= move_nxt_i;
    if (mine && close_i) open_q <= 1'b0;
    if (rst_q) begin
      known_q <= 1'b0;
      open_q <= 1'b0;
    end
    if (!rst_q) begin
      a_one : assert (!(move && cmd_valid_i && cmd_ready));
      if (known_q) a_nxt : assert (tx_nxt == nxt_q && eng_nxt == nxt_q);
      // An accepted segment was judged with the present state of the session.
      if (mine && known_q) a_judged : assert (nxt == nxt_q);
      if (mine) a_open : assert (is_open == open_q);
      c_move : cover (mine && known_q && is_open);
      c_stale : cover (ends && take_i && stale && known_q);
    end
  end
endmodule
