// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Issues the commands of a decision: first those that set up headers and state, then the segment
/// to send, which waits in a FIFO for the transmitter.
module spfe_tcp_eng_out
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_flow_pkg::*;
#(
  /// 1: the congestion window limits sending.
  parameter bit CongestionControl = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// A decision is committed.
  input logic valid_i,
  /// All commands of the previous decision have been issued.
  output logic ready_o,
  /// The event in the write stage.
  input eng_commit_t commit_i,
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
  sid_t sid;
  eng_dec_t dec;
  logic unused_bits;

  // The decision is used in part.
  assign unused_bits = ^{commit_i, dec};

  assign sid = commit_i.sid;
  assign dec = commit_i.dec;
  assign rcv_left = rcv_q && !rcv_cmd_ready_i;
  assign hdr_left = hdr_q && !hdr_cmd_ready_i;
  assign snd_left = snd_q || (snd_sum_q) || (snd_ready_q && !snd_cmd_ready_i);
  assign push = tx_q && !rcv_q && !hdr_q && !snd_q && !snd_sum_q && !snd_ready_q;
  assign ready_o = ready_q;
  assign room_o = room_q;

  // Ready for the next decision.
  always_ff @(posedge clk_i) begin
    // The segment follows one cycle after the other commands.
    ready_q <= !rst_i && !valid_i && !rcv_left && !hdr_left && !snd_left;
    // Reserve: one command in the pipeline, one in write, one in the registers here, one being
    // counted.
    room_q <= !rst_i && count < 4'd5;
  end

  // Commands that set up headers and the receiver.
  always_ff @(posedge clk_i) begin
    rcv_q <= rcv_left;
    key_q <= 1'b0;
    hdr_q <= hdr_left;
    if (valid_i) begin
      rcv_q <= dec.rcv;
      rcv_cmd_q <= '{
        sid: sid,
        open: dec.rcv_open && receive_i,
        set: dec.rcv_set,
        nxt: dec.rcv_nxt
      };
      key_q <= dec.key;
      key_cmd_q <= '{
        sid: sid,
        valid: is_keyed(dec.tcb.state),
        vif: dec.tup.vif,
        sip: dec.tup.ip,
        sport: dec.tup.port,
        dport: dec.tup.lport
      };
      hdr_q <= dec.hdr;
      hdr_cmd_q <= '{
        sid: sid,
        dmac: dec.tcb.dmac,
        dip: dec.tup.ip,
        dport: dec.tup.port,
        sport: dec.tup.lport,
        vif: dec.tup.vif,
        scaled: dec.tcb.scaled
      };
    end
    if (rst_i) begin
      rcv_q <= 1'b0;
      key_q <= 1'b0;
      hdr_q <= 1'b0;
    end
  end

  // Send state of the session.
  always_ff @(posedge clk_i) begin
    // SND.UNA + min(SND.WND, cwnd), in two steps.
    snd_q <= 1'b0;
    snd_sum_q <= snd_q;
    snd_ready_q <= snd_sum_q || (snd_ready_q && !snd_cmd_ready_i);
    if (snd_q && CongestionControl && cwnd_q < wnd_q) wnd_q <= cwnd_q;
    if (snd_sum_q) snd_cmd_q.lim <= una_q + 32'(wnd_q);
    if (valid_i) begin
      snd_q <= dec.snd;
      snd_cmd_q.sid <= sid;
      snd_cmd_q.init <= dec.snd_init;
      snd_cmd_q.iss <= dec.tcb.una;
      snd_cmd_q.open <= is_open(dec.tcb);
      snd_cmd_q.live <= is_open(dec.tcb) && dec.tcb.rec == RecNone && !dec.tcb.rexmit;
      snd_cmd_q.mss <= dec.tcb.mss;
      snd_cmd_q.una <= dec.tcb.una;
      una_q <= dec.tcb.una;
      wnd_q <= dec.tcb.wnd;
      cwnd_q <= commit_i.tcb.cwnd;
    end
    if (rst_i) begin
      snd_q <= 1'b0;
      snd_sum_q <= 1'b0;
      snd_ready_q <= 1'b0;
    end
  end

  // Segment to send.
  always_ff @(posedge clk_i) begin
    if (push) tx_q <= 1'b0;
    if (valid_i) begin
      tx_q <= dec.tx;
      tx_cmd_q <= '{
        sid: sid,
        seq_nxt: dec.tx_seq_nxt,
        seq: dec.tx_seq,
        ack_rcv: dec.tx_ack_rcv,
        ack: dec.tx_ack,
        flags: dec.tx_flags,
        len: dec.tx_len,
        opt_ws: dec.tx_ws
      };
    end
    if (rst_i) tx_q <= 1'b0;
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
