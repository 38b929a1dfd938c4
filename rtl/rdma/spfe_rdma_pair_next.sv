// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Order of the steps of a queue pair, without state: what follows a state of spfe_rdma_pair, and
/// which step that is.
module spfe_rdma_pair_next
  import spfe_rdma_pair_pkg::*;
(
  /// State of spfe_rdma_pair.
  input pair_at_e at_i,
  /// What may be done.
  input pair_may_t may_i,
  /// What the packet does.
  input take_e action_i,
  /// It tells an error.
  input logic refuses_i,
  /// What began has ended.
  input logic done_i,
  /// With an error; with done_i.
  input logic failed_i,
  /// The oldest work request is done.
  input logic front_done_i,
  /// There are no work requests.
  input logic empty_i,
  /// There is one.
  input logic single_i,
  /// The next packet has a payload.
  input logic payload_i,
  /// The message was tried often enough.
  input logic over_i,
  /// The message that is missing was sent.
  input logic sent_i,
  /// The work request at the cursor is done.
  input logic skips_i,
  /// There is one that sends next.
  input logic more_i,
  /// The packet that is sent is the first one of a message without credit.
  input logic probes_i,
  /// What begins in Rest.
  output pair_may_t begins_o,
  /// Next state.
  output pair_at_e next_o,
  /// The step.
  output step_e step_o
);
  // One thing at a time.
  always_comb begin
    begins_o = '0;
    if (at_i == AtRest) begin
      if (may_i.stop) begins_o.stop = 1'b1;
      else if (may_i.take) begins_o.take = 1'b1;
      else if (may_i.post) begins_o.post = 1'b1;
      else if (may_i.bad) begins_o.bad = 1'b1;
      else if (may_i.ring) begins_o.ring = 1'b1;
      else if (may_i.timer) begins_o.timer = 1'b1;
      else if (may_i.dial) begins_o.dial = 1'b1;
      else if (may_i.send) begins_o.send = 1'b1;
      else if (may_i.starve) begins_o.starve = 1'b1;
      begins_o.gives_up = may_i.gives_up;
      begins_o.blocked = may_i.blocked;
    end
  end

  always_comb begin
    next_o = at_i;
    unique case (at_i)
      AtRest: begin
        if (begins_o.take) next_o = AtTake;
        if (begins_o.timer) next_o = AtAgain;
        if (begins_o.send) next_o = AtSend;
        if (begins_o.post || begins_o.ring || begins_o.starve) next_o = AtFront;
        if (begins_o.bad) next_o = done_i ? AtFront : AtRest;
        if (begins_o.dial) next_o = may_i.gives_up && !empty_i ? AtFail : AtFront;
      end
      AtTake: next_o = AtJudge;
      AtJudge: next_o = AtAct;
      AtAct:
      unique case (action_i)
        TakeRefused: next_o = empty_i ? AtFront : AtFail;
        TakeData, TakeValue: next_o = AtMoved;
        TakeFail: next_o = AtFail;
        TakeMissing: next_o = sent_i ? AtAgain : AtFront;
        TakePause, TakeAgain: next_o = AtAgain;
        default: next_o = AtFront;
      endcase
      AtMoved: if (done_i) next_o = failed_i ? AtFail : AtFront;
      AtAgain: next_o = AtAgainSeen;
      AtAgainSeen: next_o = over_i ? AtFail : AtFront;
      AtSend: next_o = payload_i ? AtGather : AtSent;
      AtGather: if (done_i) next_o = failed_i ? AtFail : AtSent;
      AtSent: next_o = AtFront;
      AtFail: next_o = AtFailSeen;
      AtFailSeen: if (done_i) next_o = single_i ? AtFront : AtFail;
      AtFront: next_o = AtFrontSeen;
      AtFrontSeen: begin
        if (empty_i || !front_done_i) next_o = AtAim;
        else if (done_i) next_o = AtFront;
      end
      AtAim: if (!skips_i) next_o = more_i ? AtAimSeen : AtRest;
      default: next_o = AtRest;
    endcase
  end

  always_comb begin
    step_o = StepNone;
    if (begins_o.stop) step_o = StepStop;
    if (begins_o.post) step_o = StepPost;
    if (begins_o.bad && done_i) step_o = StepBad;
    if (begins_o.ring) step_o = StepRing;
    if (begins_o.timer) step_o = StepTimer;
    if (begins_o.dial)
      step_o = may_i.gives_up ? StepGivesUp : may_i.blocked ? StepTick : StepConnect;
    if (begins_o.starve) step_o = StepStarve;
    if (at_i == AtAct) begin
      step_o = StepTaken;
      if (refuses_i && action_i inside {TakeFail, TakeMissing, TakePause, TakeAgain, TakeNothing})
        step_o = StepRefused;
      if (action_i == TakeInvalid) step_o = StepInvalid;
      if (action_i == TakeStale) step_o = StepStale;
    end
    if (at_i == AtSent) step_o = probes_i ? StepProbe : StepSend;
    if (at_i == AtGather && next_o == AtFail) step_o = StepUnread;
  end
endmodule
