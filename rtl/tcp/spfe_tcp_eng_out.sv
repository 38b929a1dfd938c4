// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Issues the commands of a decision: first those that set up headers and state, then the segment
/// to send, which waits in a FIFO for the transmitter.
module spfe_tcp_eng_out
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// 1: the congestion window limits sending.
  parameter bit CongestionControl = 1'b0
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// A decision is committed.
  input logic valid_i,
  /// All commands of the previous decision have been issued.
  output logic ready_o,
  /// Session of the decision.
  input sid_t sid_i,
  /// The decision.
  input eng_dec_t dec_i,
  /// Congestion window of the decision, in bytes.
  input wnd_t cwnd_i,
  /// Our MSS in bytes (tcp_cfg_t).
  input logic [15:0] mss_i,
  /// The receive window is not 0 (tcp_cfg_t), so payload may be delivered.
  input logic receive_i,
  /// The FIFO has room for the commands of all decisions that may be in the pipeline.
  output logic room_o,
  /// Delivery command to the receiver.
  output rcv_cmd_t rcv_cmd_o,
  output logic rcv_cmd_valid_o,
  input logic rcv_cmd_ready_i,
  /// Four-tuple of a session, to the receiver.
  output key_cmd_t key_cmd_o,
  /// key_cmd_o is valid; one cycle.
  output logic key_cmd_valid_o,
  /// Header table entry, to the transmitter.
  output hdr_cmd_t hdr_cmd_o,
  output logic hdr_cmd_valid_o,
  input logic hdr_cmd_ready_i,
  /// Send state of a session, to the transmitter.
  output snd_cmd_t snd_cmd_o,
  output logic snd_cmd_valid_o,
  input logic snd_cmd_ready_i,
  /// Segment to send, to the transmitter.
  output tx_cmd_t tx_cmd_o,
  output logic tx_cmd_valid_o,
  input logic tx_cmd_ready_i
);
  logic rcv_q, key_q, hdr_q, snd_q, snd_sum_q, snd_ready_q, tx_q, tx_ready, unused_almost;
  logic ready_q, room_q;
  logic rcv_left, hdr_left, snd_left, push;
  logic [3:0] count;
  rcv_cmd_t rcv_cmd_q;
  key_cmd_t key_cmd_q;
  hdr_cmd_t hdr_cmd_q;
  snd_cmd_t snd_cmd_q;
  tx_cmd_t tx_cmd_q;
  seq_t una_q;
  wnd_t wnd_q, cwnd_q;
  logic unused_bits;

  // The decision is used in part.
  assign unused_bits = ^{dec_i};

  assign rcv_left = rcv_q && !rcv_cmd_ready_i;
  assign hdr_left = hdr_q && !hdr_cmd_ready_i;
  assign snd_left = snd_q || (snd_sum_q) || (snd_ready_q && !snd_cmd_ready_i);
  assign push = tx_q && !rcv_q && !hdr_q && !snd_q && !snd_sum_q && !snd_ready_q;
  assign ready_o = ready_q;
  assign room_o = room_q;

  always_ff @(posedge clk_i) begin
    // The segment follows one cycle after the other commands.
    ready_q <= !valid_i && !rcv_left && !hdr_left && !snd_left;
    // Reserve: one command in the pipeline, one in write, one in the registers here, one being
    // counted.
    room_q <= count < 4'd5;
    rcv_q <= rcv_left;
    key_q <= 1'b0;
    hdr_q <= hdr_left;
    // SND.UNA + min(SND.WND, cwnd), in two steps.
    snd_q <= 1'b0;
    snd_sum_q <= snd_q;
    snd_ready_q <= snd_sum_q || (snd_ready_q && !snd_cmd_ready_i);
    if (snd_q && CongestionControl && cwnd_q < wnd_q) wnd_q <= cwnd_q;
    if (snd_sum_q) snd_cmd_q.lim <= una_q + 32'(wnd_q);
    if (push) tx_q <= 1'b0;
    if (valid_i) begin
      rcv_q <= dec_i.rcv;
      rcv_cmd_q <= '{
        sid: sid_i,
        open: dec_i.rcv_open && receive_i,
        set: dec_i.rcv_set,
        nxt: dec_i.rcv_nxt
      };
      key_q <= dec_i.key;
      key_cmd_q <= '{
        sid: sid_i,
        valid: is_keyed(dec_i.tcb.state),
        vif: dec_i.tup.vif,
        sip: dec_i.tup.ip,
        sport: dec_i.tup.port,
        dport: dec_i.tup.lport
      };
      hdr_q <= dec_i.hdr;
      hdr_cmd_q <= '{
        sid: sid_i,
        dmac: dec_i.tcb.dmac,
        dip: dec_i.tup.ip,
        dport: dec_i.tup.port,
        sport: dec_i.tup.lport,
        vif: dec_i.tup.vif,
        scaled: dec_i.tcb.scaled
      };
      snd_q <= dec_i.snd;
      snd_cmd_q.sid <= sid_i;
      snd_cmd_q.init <= dec_i.snd_init;
      snd_cmd_q.iss <= dec_i.tcb.una;
      snd_cmd_q.open <= is_open(dec_i.tcb);
      snd_cmd_q.live <= is_open(
        dec_i.tcb
      ) && dec_i.tcb.rec == RecNone && !dec_i.tcb.rexmit && dec_i.tcb.mss == mss_i;
      snd_cmd_q.una <= dec_i.tcb.una;
      una_q <= dec_i.tcb.una;
      wnd_q <= dec_i.tcb.wnd;
      cwnd_q <= cwnd_i;
      tx_q <= dec_i.tx;
      tx_cmd_q <= '{
        sid: sid_i,
        seq_nxt: dec_i.tx_seq_nxt,
        seq: dec_i.tx_seq,
        ack_rcv: dec_i.tx_ack_rcv,
        ack: dec_i.tx_ack,
        flags: dec_i.tx_flags,
        len: dec_i.tx_len,
        opt_ws: dec_i.tx_ws
      };
    end
    if (rst_i) begin
      ready_q <= 1'b0;
      room_q <= 1'b0;
      rcv_q <= 1'b0;
      key_q <= 1'b0;
      hdr_q <= 1'b0;
      snd_q <= 1'b0;
      snd_sum_q <= 1'b0;
      snd_ready_q <= 1'b0;
      tx_q <= 1'b0;
    end
  end

  spfe_fifo #(
    .Width($bits(tx_cmd_t)),
    .Depth(8)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(push),
    .ready_o(tx_ready),
    .data_i(tx_cmd_q),
    .valid_o(tx_cmd_valid_o),
    .ready_i(tx_cmd_ready_i),
    .data_o(tx_cmd_o),
    .count_o(count),
    .almost_full_o(unused_almost)
  );

  assign rcv_cmd_o = rcv_cmd_q;
  assign rcv_cmd_valid_o = rcv_q;
  assign key_cmd_o = key_cmd_q;
  assign key_cmd_valid_o = key_q;
  assign hdr_cmd_o = hdr_cmd_q;
  assign hdr_cmd_valid_o = hdr_q;
  assign snd_cmd_o = snd_cmd_q;
  assign snd_cmd_valid_o = snd_ready_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_room :
    assert (rst_i || !push || tx_ready)
    else $error("command for a full FIFO");
    a_order :
    assert (rst_i || !valid_i || ready_o)
    else $error("decision before the last is out");
  end
`endif
endmodule
