// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds the session of a segment, reads its state, and decides whether its payload is accepted.
module spfe_tcp_rx_session
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the MAC stream in bits: 32 or 64. With 64 the header takes half the cycles.
  parameter int unsigned MacWidth = 32,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: segments ahead of RCV.NXT are accepted too.
  parameter bit Ahead = 1'b0,
  /// Upper limit of the window in bytes; 0: none.
  parameter int unsigned Limit = 0,
  /// Bytes in the FIFO that the sessions share; 0: there is none.
  parameter int unsigned Capacity = 0,
  /// Bytes in a beat of the FIFO.
  parameter int unsigned BeatBytes = 8,
  /// Bits in a number of beats in the FIFO.
  parameter int unsigned UsedBits = 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Bit n: word n is on the bus.
  input logic [9:6] at_i,
  /// Last two bytes of word 6 or 8, in the cycle of that word.
  input logic [15:0] even_i,
  /// First two bytes of word 7 or 9, in the cycle of that word.
  input logic [15:0] odd_i,
  /// Fields of the segment.
  input fields_t fields_i,
  /// Interfaces that the frame addresses; valid one cycle after word 8.
  input logic [VifCount-1:0] vif_match_i,
  /// Faults in the headers.
  input fault_t fault_i,
  /// Payload in bytes.
  input logic [15:0] len_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Beats in the FIFO.
  input logic [UsedBits-1:0] used_i,
  /// Four-tuple of a session, for one cycle; from the engine.
  input key_cmd_t key_i,
  input logic key_valid_i,
  /// Receive state of a session; from the engine.
  input rcv_cmd_t cmd_i,
  input logic cmd_valid_i,
  output logic cmd_ready_o,
  /// The segment ends in this cycle.
  input logic end_i,
  /// One cycle after end_i: RCV.NXT becomes move_nxt_i.
  input logic move_i,
  /// With move_i: the new RCV.NXT.
  input seq_t move_nxt_i,
  /// With move_i: the session stops to deliver, because the peer has sent its FIN.
  input logic move_close_i,
  /// Session whose RCV.NXT the transmitter reads.
  input sid_t tx_sid_i,
  /// RCV.NXT of tx_sid_i, in the same cycle.
  output seq_t tx_nxt_o,
  /// The transmitter builds a header of tx_sid_i that announces a window.
  input wnd_req_t wnd_req_i,
  /// Window of that header in bytes, before scaling; from two cycles after wnd_req_i on.
  output logic [31:0] wnd_o,
  /// Session whose window has opened again and should be announced; to the engine.
  output wnd_open_t wnd_open_o,
  /// wnd_open_o is taken.
  input logic wnd_open_ready_i,
  /// Session whose RCV.NXT the engine reads.
  input sid_t eng_sid_i,
  /// RCV.NXT of eng_sid_i, in the same cycle.
  output seq_t eng_nxt_o,
  /// Session whose lowest acceptable ACK is read; to the engine.
  output sid_t ack_sid_o,
  /// SND.UNA - MAX.SND.WND of ack_sid_o, in the same cycle.
  input seq_t ack_lo_i,
  /// Session whose SND.NXT is read; to the transmitter.
  output sid_t snd_sid_o,
  /// SND.NXT of snd_sid_o, in the same cycle.
  input seq_t snd_nxt_i,
  /// The session, and how the segment fits into it.
  output match_t match_o,
  /// The state of session ack_sid_o is read for the segment that comes.
  output logic read_o
);
  localparam bit Narrow = MacWidth == 32;

  // The session is known in cycle 10 and its state in cycle 11; on a 64-bit MAC in the same cycle.
  logic found, read;
  sid_t found_sid, read_sid, credit_sid;
  seq_t read_nxt, credit_nxt;
  logic credit_busy, unused_cfg;
  assign unused_cfg = ^cfg_i;

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
    .hit_o(match_o.hit),
    .sid_o(match_o.sid),
    .vif_o(match_o.vif)
  );

  if (Narrow) begin : gen_read_late
    logic read_q;
    always_ff @(posedge clk_i) read_q <= found && !rst_i;
    assign read = read_q;
    assign read_sid = match_o.sid;
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
    .busy_i(credit_busy),
    .read_i(read),
    .read_sid_i(read_sid),
    .read_nxt_o(read_nxt),
    .nxt_o(match_o.nxt),
    .open_o(match_o.open),
    .stale_o(match_o.stale),
    .end_i,
    .move_i,
    .move_sid_i(match_o.sid),
    .move_nxt_i,
    .move_close_i,
    .tx_sid_i,
    .tx_nxt_o,
    .eng_sid_i,
    .eng_nxt_o,
    .credit_sid_i(credit_sid),
    .credit_nxt_o(credit_nxt)
  );

  // ---- windows
  logic [31:0] room_q;
  if (Capacity != 0) begin : gen_credit
    seq_t room;
    spfe_tcp_rx_credit #(
      .SessionCount(SessionCount),
      .Capacity(Capacity),
      .BeatBytes(BeatBytes),
      .Limit(Limit)
    ) i_credit (
      .clk_i,
      .rst_i,
      .wnd_i(cfg_i.rcv_wnd),
      .wscale_i(cfg_i.wscale),
      .mss_i(cfg_i.mss),
      .used_i,
      .key_i,
      .key_valid_i,
      .rcv_i(cmd_i),
      .rcv_fire_i(cmd_valid_i && cmd_ready_o),
      .busy_o(credit_busy),
      .sid_o(credit_sid),
      .nxt_i(credit_nxt),
      .head_i(wnd_req_i),
      .head_sid_i(tx_sid_i),
      .head_nxt_i(tx_nxt_o),
      .head_wnd_o(wnd_o),
      .read_sid_i(read_sid),
      .read_nxt_i(read_nxt),
      .room_o(room),
      .move_i,
      .move_sid_i(match_o.sid),
      .move_by_i(move_nxt_i - match_o.nxt),
      .open_o(wnd_open_o),
      .open_ready_i(wnd_open_ready_i)
    );
    always_ff @(posedge clk_i) if (read) room_q <= room;
  end else begin : gen_no_credit
    // The user cannot stall, so the window is always open.
    assign credit_busy = 1'b0;
    assign credit_sid = '0;
    assign room_q = '0;
    assign wnd_o = cfg_i.rcv_wnd;
    assign wnd_open_o = '0;
    logic unused_credit;
    assign unused_credit = ^{credit_nxt, read_nxt, used_i, wnd_req_i, wnd_open_ready_i};
  end

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
    .ok_o(match_o.ack_ok)
  );

  // The decision falls in cycle 12; on a 64-bit MAC in the cycle of the first payload.
  logic fit_q, flags_ok, accept, in_order, oos;
  seq_t ahead;
  logic unused_bits;

  spfe_tcp_rx_window #(
    .Ahead(Ahead),
    .Limit(Limit),
    .Shared(Capacity != 0),
    .Registered(Narrow)
  ) i_window (
    .clk_i,
    .wnd_i(cfg_i.rcv_wnd),
    .room_i(room_q),
    .seq_i(fields_i.seq),
    .nxt_i(match_o.nxt),
    .len_i,
    .fin_i(fields_i.flags.fin),
    .oos_o(oos),
    .ahead_o(ahead),
    .ahead_q_o(match_o.ahead),
    .fits_o(match_o.fits)
  );

  assign flags_ok = fields_i.flags.ack && !fields_i.flags.syn && !fields_i.flags.rst &&
      fields_i.doff >= 4'd5;
  always_ff @(posedge clk_i) fit_q <= fault_i == '0;
  assign in_order = fields_i.seq == match_o.nxt;
  assign accept = fit_q && match_o.hit && match_o.open && (in_order || oos) && flags_ok;
  assign unused_bits = ^fields_i;

  if (Narrow) begin : gen_accept_late
    logic accept_q, oos_q;
    always_ff @(posedge clk_i) begin
      accept_q <= accept && !rst_i;
      oos_q <= oos;
    end
    assign match_o.accept = accept_q;
    assign match_o.oos = oos_q;
    assign match_o.rel = match_o.ahead;
    logic unused_ahead;
    assign unused_ahead = ^ahead;
  end else begin : gen_accept
    assign match_o.accept = accept;
    assign match_o.oos = oos;
    assign match_o.rel = ahead;
  end
endmodule
