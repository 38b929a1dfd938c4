// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// First checks of an event, done while session state is read. Combinational.
module spfe_tcp_eng_pre
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// 1: the congestion window limits sending.
  parameter bit CongestionControl = 1'b0
) (
  /// Segment of the event.
  input seg_t seg_i,
  /// SEQ - RCV.NXT.
  input seq_t dist_i,
  /// Last byte of the segment - RCV.NXT.
  input seq_t last_i,
  /// State of the session, from the memory.
  input eng_tcb_t tcb_i,
  /// Receive window in bytes (tcp_cfg_t).
  input logic [31:0] rcv_wnd_i,
  /// RTO before the first round-trip sample, in ticks (tcp_cfg_t).
  input logic [15:0] rto_init_i,
  /// Results of the read stage.
  output eng_pre_t pre_o
);
  logic [31:0] rcv_wnd;
  logic no_len, first_in, last_in;
  logic unused_bits;

  // The structs are used in part.
  assign unused_bits = ^{seg_i, tcb_i};

  // Announced window: limited to 16 bits unless window scaling is in use.
  assign rcv_wnd = tcb_i.scaled || rcv_wnd_i[31:16] == 16'd0 ? rcv_wnd_i : 32'd65535;
  assign no_len = seg_i.len == 16'd0 && !seg_i.flags.syn && !seg_i.flags.fin;
  assign first_in = dist_i < rcv_wnd;
  assign last_in = last_i < rcv_wnd;

  always_comb begin
    pre_o.exact = dist_i == 32'd0;
    pre_o.old = dist_i[31];
    pre_o.prior = &dist_i;
    if (no_len) pre_o.accept = first_in || pre_o.exact;
    else pre_o.accept = first_in || last_in;
    pre_o.wnd = {14'd0, seg_i.wnd} << (seg_i.flags.syn ? 4'd0 : tcb_i.snd_ws);
    if (tcb_i.has_rtt) begin
      pre_o.rto = {3'd0, tcb_i.srtt[18:3]} + (tcb_i.rttvar == '0 ? 19'd1 : {1'b0, tcb_i.rttvar});
    end else begin
      pre_o.rto = {3'd0, rto_init_i};
    end
    pre_o.swnd = tcb_i.wnd;
    if (CongestionControl && tcb_i.cwnd < tcb_i.wnd) pre_o.swnd = tcb_i.cwnd;
  end

endmodule
