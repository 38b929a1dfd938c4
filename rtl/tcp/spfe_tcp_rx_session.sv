// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The session of a segment, what is known of it, and whether the segment is what it waits for.
module spfe_tcp_rx_session
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the MAC stream in bits: 32 or 64. With 64 the header comes in half the cycles.
  parameter int unsigned MacWidth = 32,
  /// Virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: segments ahead of what is expected are accepted too.
  parameter bit Ahead = 1'b0,
  /// The window is not larger than this many bytes; 0: no such limit.
  parameter int unsigned Limit = 0
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: no session matches, nothing is delivered.
  input logic rst_i,
  /// Word 6 to 9 is on the bus.
  input logic [9:6] at_i,
  /// Last two bytes of word 6 or 8, if it is.
  input logic [15:0] even_i,
  /// First two bytes of word 7 or 9, if it is.
  input logic [15:0] odd_i,
  /// Fields of the segment.
  input fields_t fields_i,
  /// Interfaces the frame is for; valid one cycle after word 8.
  input logic [VifCount-1:0] vif_match_i,
  /// What is wrong in the headers.
  input fault_t fault_i,
  /// Bytes of payload.
  input logic [15:0] len_i,
  /// Announced window in bytes; from the registers.
  input logic [31:0] wnd_i,
  /// Four-tuple of a session; from the engine, taken at once.
  input key_cmd_t key_i,
  /// key_i is valid.
  input logic key_valid_i,
  /// What a session receives; from the engine.
  input rcv_cmd_t cmd_i,
  /// cmd_i is valid.
  input logic cmd_valid_i,
  /// It is taken.
  output logic cmd_ready_o,
  /// The segment ends in this cycle.
  input logic end_i,
  /// One cycle after it: RCV.NXT becomes move_nxt_i.
  input logic move_i,
  /// Its new RCV.NXT.
  input seq_t move_nxt_i,
  /// Delivery ends: a FIN was taken.
  input logic move_close_i,
  /// Session whose RCV.NXT the transmitter wants.
  input sid_t tx_sid_i,
  /// It, in the same cycle.
  output seq_t tx_nxt_o,
  /// Session whose RCV.NXT the engine wants.
  input sid_t eng_sid_i,
  /// It, in the same cycle.
  output seq_t eng_nxt_o,
  /// Session whose SND.UNA - MAX.SND.WND is wanted; to the engine.
  output sid_t ack_sid_o,
  /// It, in the same cycle.
  input seq_t ack_lo_i,
  /// Session whose SND.NXT is wanted; to the transmitter.
  output sid_t snd_sid_o,
  /// It, in the same cycle.
  input seq_t snd_nxt_i,
  /// A session has this four-tuple.
  output logic hit_o,
  /// Its number.
  output sid_t sid_o,
  /// The interface.
  output vif_t vif_o,
  /// Its RCV.NXT before this segment.
  output seq_t nxt_o,
  /// Its payload is delivered.
  output logic open_o,
  /// The engine has changed the session since.
  output logic stale_o,
  /// The ACK is acceptable; from the end of the frame on.
  output logic ack_ok_o,
  /// Payload of the segment goes on: its headers are good, and it is what is expected.
  output logic accept_o,
  /// With accept_o: it is ahead of what is expected.
  output logic oos_o,
  /// SEQ - RCV.NXT; with accept_o.
  output seq_t rel_o,
  /// SEQ - RCV.NXT, from the end of the frame on.
  output seq_t ahead_o,
  /// The segment ends within the window; from the end of the frame on.
  output logic fits_o,
  /// The state of session ack_sid_o is read for the segment that comes.
  output logic read_o
);
  localparam bit Narrow = MacWidth == 32;

  // Cycle 10: the session. Cycle 11: its state. On a 64-bit MAC both in one.
  logic found, read;
  sid_t found_sid, read_sid;

  spfe_tcp_rx_cam #(
    .SessionCount(SessionCount),
    .VifCount(VifCount)
  ) i_cam (
    .clk_i,
    .rst_i,
    .key_i,
    .key_valid_i,
    .at_i,
    .even_i,
    .odd_i,
    .vif_match_i,
    .found_o(found),
    .sid_d_o(found_sid),
    .hit_o,
    .sid_o,
    .vif_o
  );

  if (Narrow) begin : gen_read_late
    always_ff @(posedge clk_i) read <= found && !rst_i;
    assign read_sid = sid_o;
    logic unused_bits;
    assign unused_bits = ^found_sid;
  end else begin : gen_read
    assign read = found;
    assign read_sid = found_sid;
  end

  spfe_tcp_rx_rcv #(
    .SessionCount(SessionCount)
  ) i_rcv (
    .clk_i,
    .rst_i,
    .cmd_i,
    .cmd_valid_i,
    .cmd_ready_o,
    .read_i(read),
    .read_sid_i(read_sid),
    .nxt_o,
    .open_o,
    .stale_o,
    .end_i,
    .move_i,
    .move_sid_i(sid_o),
    .move_nxt_i,
    .move_close_i,
    .tx_sid_i,
    .tx_nxt_o,
    .eng_sid_i,
    .eng_nxt_o
  );

  assign read_o = read;
  assign ack_sid_o = read_sid;
  assign snd_sid_o = read_sid;

  spfe_tcp_rx_ack #(
    .Steps(Narrow ? 2 : 1)
  ) i_ack (
    .clk_i,
    .read_i(read),
    .lo_i(ack_lo_i),
    .hi_i(snd_nxt_i),
    .ack_i(fields_i.ack),
    .ok_o(ack_ok_o)
  );

  // Cycle 12: is it what is expected? On a 64-bit MAC in the cycle of the first payload.
  logic fit_q, flags_ok, accept, in_order, oos;
  seq_t ahead;
  logic unused_bits;

  spfe_tcp_rx_window #(
    .Ahead(Ahead),
    .Limit(Limit),
    .Registered(Narrow)
  ) i_window (
    .clk_i,
    .wnd_i,
    .seq_i(fields_i.seq),
    .nxt_i(nxt_o),
    .len_i,
    .fin_i(fields_i.flags.fin),
    .oos_o(oos),
    .ahead_o(ahead),
    .ahead_q_o(ahead_o),
    .fits_o
  );

  assign flags_ok = fields_i.flags.ack && !fields_i.flags.syn && !fields_i.flags.rst &&
      fields_i.doff >= 4'd5;
  always_ff @(posedge clk_i) fit_q <= fault_i == '0;
  assign in_order = fields_i.seq == nxt_o;
  assign accept = fit_q && hit_o && open_o && (in_order || oos) && flags_ok;
  assign unused_bits = ^fields_i;

  if (Narrow) begin : gen_accept_late
    always_ff @(posedge clk_i) begin
      accept_o <= accept && !rst_i;
      oos_o <= oos;
    end
    assign rel_o = ahead_o;
    logic unused_ahead;
    assign unused_ahead = ^ahead;
  end else begin : gen_accept
    assign accept_o = accept;
    assign oos_o = oos;
    assign rel_o = ahead;
  end
endmodule
