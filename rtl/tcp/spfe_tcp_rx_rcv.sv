// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Owns RCV.NXT of each session, and whether the session delivers payload.
///
/// Two things change this state: the end of a segment, which has priority, and commands of the
/// engine. A command between the read of a session for a segment and the end of that segment makes
/// the segment stale; it must then be dropped.
module spfe_tcp_rx_rcv
  import spfe_tcp_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// Receive state of a session; from the engine.
  input rcv_cmd_t cmd_i,
  input logic cmd_valid_i,
  output logic cmd_ready_o,
  /// No command is accepted.
  input logic busy_i,
  /// Loads the state of the session of the segment that comes.
  input logic read_i,
  /// With read_i: the session.
  input sid_t read_sid_i,
  /// RCV.NXT of read_sid_i, in the same cycle.
  output seq_t read_nxt_o,
  /// RCV.NXT of that session, from the next cycle on.
  output seq_t nxt_o,
  /// That session delivers payload; from the next cycle on.
  output logic open_o,
  /// The engine has changed that session since.
  output logic stale_o,
  /// The segment ends in this cycle: no command is accepted.
  input logic end_i,
  /// One cycle after end_i: RCV.NXT becomes move_nxt_i.
  input logic move_i,
  /// With move_i: the session that was read.
  input sid_t move_sid_i,
  /// With move_i: its new RCV.NXT.
  input seq_t move_nxt_i,
  /// With move_i: the session stops to deliver, because the peer has sent its FIN.
  input logic move_close_i,
  /// Session whose RCV.NXT the transmitter reads.
  input sid_t tx_sid_i,
  /// RCV.NXT of tx_sid_i, in the same cycle.
  output seq_t tx_nxt_o,
  /// Session whose RCV.NXT the engine reads.
  input sid_t eng_sid_i,
  /// RCV.NXT of eng_sid_i, in the same cycle.
  output seq_t eng_nxt_o,
  /// Session whose RCV.NXT the owner of the windows reads.
  input sid_t credit_sid_i,
  /// RCV.NXT of credit_sid_i, in the same cycle.
  output seq_t credit_nxt_o
);
  localparam int unsigned IndexBits = $clog2(SessionCount);

  logic [SessionCount-1:0] open_q;
  seq_t nxt_q;
  logic read_open_q;
  logic inflight_q;
  logic stale_q;
  sid_t inflight_sid_q;
  logic cmd_q;
  sid_t cmd_sid_q;

  logic cmd;
  logic write_nxt;
  sid_t write_sid;
  seq_t write_data;
  seq_t read_nxt;
  logic [3:0][IndexBits-1:0] read_index;
  logic [3:0][31:0] read_data;
  logic unused_bits;

  assign nxt_o = nxt_q;
  assign open_o = read_open_q;
  assign cmd_ready_o = !end_i && !move_i && !busy_i;
  assign cmd = cmd_valid_i && cmd_ready_o;
  assign write_nxt = move_i || (cmd && cmd_i.set);
  assign write_sid = move_i ? move_sid_i : cmd_i.sid;
  assign write_data = move_i ? move_nxt_i : cmd_i.nxt;

  // The transmitter also reads session SessionCount, the anonymous one, and ignores the answer.
  assign read_index[0] = read_sid_i[IndexBits-1:0];
  assign read_index[1] = tx_sid_i[IndexBits-1:0];
  assign read_index[2] = eng_sid_i[IndexBits-1:0];
  assign read_index[3] = credit_sid_i[IndexBits-1:0];
  assign read_nxt = read_data[0];
  assign read_nxt_o = read_nxt;
  assign tx_nxt_o = read_data[1];
  assign eng_nxt_o = read_data[2];
  assign credit_nxt_o = read_data[3];
  assign unused_bits = ^{read_sid_i, tx_sid_i, eng_sid_i, credit_sid_i, write_sid};

  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount),
    .Ports(4)
  ) i_nxt (
    .clk_i,
    .we_i(write_nxt),
    .addr_i(write_sid[IndexBits-1:0]),
    .data_i(write_data),
    .raddr_i(read_index),
    .rdata_o(read_data)
  );

  assign stale_o = stale_q || (cmd_q && inflight_q && cmd_sid_q == inflight_sid_q);

  always_ff @(posedge clk_i) begin
    cmd_q <= cmd;
    cmd_sid_q <= cmd_i.sid;
    stale_q <= stale_o;
    if (end_i) inflight_q <= 1'b0;
    if (read_i) begin
      nxt_q <= read_nxt;
      read_open_q <= open_q[read_index[0]];
      inflight_q <= 1'b1;
      inflight_sid_q <= read_sid_i;
      stale_q <= 1'b0;
    end
    if (cmd) open_q[cmd_i.sid[IndexBits-1:0]] <= cmd_i.open;
    if (move_i && move_close_i) open_q[move_sid_i[IndexBits-1:0]] <= 1'b0;
    if (rst_i) begin
      open_q <= '0;
      read_open_q <= 1'b0;
      inflight_q <= 1'b0;
      stale_q <= 1'b0;
      cmd_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_owner :
      assert (!(move_i && cmd))
      else $error("two writers of RCV.NXT");
      a_hazard :
      assert (!(move_i && read_i))
      else $error("RCV.NXT is read while the last segment moves it");
    end
  end
`endif
endmodule
