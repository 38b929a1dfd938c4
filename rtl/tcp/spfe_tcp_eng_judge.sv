// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The judge stage of the engine: which case an event is. What it says holds from the next cycle on.
module spfe_tcp_eng_judge
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
  import spfe_tcp_eng_act_pkg::*;
#(
    /// Each segment with data is acknowledged at once.
    parameter bit InstantAck = 1'b0,
    /// A congestion window limits what is sent.
    parameter bit CongestionControl = 1'b0
) (
    /// Clock.
    input logic clk_i,
    /// An event is in this stage.
    input logic judge_i,
    /// Segment, if the event is one; from the pipeline, as all of these.
    input seg_t seg_i,
    /// State of the session.
    input eng_tcb_t tcb_i,
    /// What the read stage has found.
    input eng_pre_t pre_i,
    /// What the calc stage has found.
    input eng_pred_t p_i,
    /// New address of a next hop, if the event is one.
    input mac_t mac_i,
    /// A command can be given.
    input logic room_i,
    /// SYN sent so often without an answer: give up (tcp_cfg_t).
    input logic [7:0] syn_tries_i,
    /// The same for data, FIN and probes (tcp_cfg_t).
    input logic [7:0] data_tries_i,
    /// What a segment is; to the decide stage, as all of these.
    output eng_act_t act_o,
    /// What the service does.
    output eng_send_t send_o,
    /// A timer has run out.
    output logic due_o,
    /// It has done so often enough.
    output logic give_up_o,
    /// The session has another address of its next hop.
    output logic mac_new_o
);
  eng_act_t act;
  eng_send_t send;
  logic [7:0] tries;

  spfe_tcp_eng_judge_seg #(
      .InstantAck(InstantAck),
      .CongestionControl(CongestionControl)
  ) i_seg (
      .seg_i,
      .tcb_i,
      .pre_i,
      .p_i,
      .room_i,
      .act_o(act)
  );
  spfe_tcp_eng_judge_send i_send (
      .tcb_i,
      .p_i,
      .room_i,
      .send_o(send)
  );

  assign tries = tcb_i.state inside {StSynSent, StSynRcvd} ? syn_tries_i : data_tries_i;

  always_ff @(posedge clk_i) begin
    if (judge_i) begin
      act_o <= act;
      send_o <= send;
      due_o <= p_i.tmr_due || p_i.dack_due;
      give_up_o <= tcb_i.tries >= tries - 8'd1;
      mac_new_o <= is_keyed(tcb_i.state) && tcb_i.dmac != mac_i;
    end
  end

endmodule
