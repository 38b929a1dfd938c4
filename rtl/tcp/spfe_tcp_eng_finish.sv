// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Completes the state to write: adds timers and congestion window to a decision.
module spfe_tcp_eng_finish
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// 1: the congestion window limits sending.
  parameter bit CongestionControl = 1'b0
) (
  input logic clk_i,
  /// An event is decided in this cycle.
  input logic decide_i,
  /// State before the event.
  input eng_tcb_t tcb_i,
  /// Results of the calc stage.
  input eng_pred_t p_i,
  /// Decision, in the cycle after decide_i.
  input eng_dec_t dec_i,
  /// Current time in ticks.
  input when_t now_i,
  /// Maximum RTO in ticks (tcp_cfg_t).
  input logic [15:0] rto_max_i,
  /// Maximum interval of window probes in ticks (tcp_cfg_t).
  input logic [15:0] persist_max_i,
  /// Duration of TIME-WAIT in ticks (tcp_cfg_t).
  input logic [15:0] time_wait_i,
  /// Maximum delay of an acknowledgement in ticks (tcp_cfg_t).
  input logic [15:0] delack_i,
  /// State to write, with dec_i.
  output eng_tcb_t tcb_o,
  /// Four-tuple to write, with dec_i.
  output eng_tup_t tup_o,
  /// RTO with backoff before the event, in ticks.
  output logic [15:0] rto_o
);
  logic [15:0] rto_q;
  logic [15:0] value, rto, persist, persist_q;
  eng_cc_t cc;
  logic unused_bits;

  assign unused_bits = ^{p_i, dec_i};

  spfe_tcp_eng_arm i_arm (
    .rto_i(p_i.rto),
    .backoff_i(tcb_i.backoff),
    .rto_max_i,
    .persist_max_i,
    .rto_o(rto),
    .persist_o(persist)
  );
  spfe_tcp_eng_cc #(
    .CongestionControl(CongestionControl)
  ) i_cc (
    .clk_i,
    .decide_i,
    .tcb_i,
    .acked_i(p_i.acked),
    .flight_i(p_i.flight),
    .op_i(dec_i.cc),
    .new_tcb_i(dec_i.tcb),
    .cc_o(cc)
  );

  assign rto_o = rto_q;

  always_ff @(posedge clk_i) begin
    if (decide_i) begin
      rto_q <= rto;
      persist_q <= persist;
    end
  end

  always_comb begin
    tcb_o = dec_i.tcb;
    unique case (dec_i.arm)
      ArmPersist: value = persist_q;
      ArmTimeWait: value = time_wait_i;
      ArmResolve: value = 16'd1;
      default: value = rto_q;
    endcase
    unique case (dec_i.arm)
      ArmKeep: ;
      ArmStop: tcb_o.tmr = TmNone;
      ArmRto: tcb_o.tmr = TmRto;
      ArmPersist: tcb_o.tmr = TmPersist;
      ArmTimeWait: tcb_o.tmr = TmTimeWait;
      default: tcb_o.tmr = TmResolve;
    endcase
    if (dec_i.arm != ArmKeep) tcb_o.deadline = now_i + TimeBits'(value);
    if (dec_i.arm_dack) begin
      tcb_o.dack = 1'b1;
      tcb_o.dack_at = now_i + TimeBits'(delack_i);
    end
    tcb_o.cwnd = cc.cwnd;
    tcb_o.ssthresh = cc.ssthresh;
    tcb_o.cacc = cc.cacc;
    tup_o = dec_i.tup;
    tup_o.used = use_of(tcb_o);
  end

endmodule
