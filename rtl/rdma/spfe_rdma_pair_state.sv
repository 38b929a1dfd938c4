// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// State, numbers and credit of a queue pair.
module spfe_rdma_pair_state
  import spfe_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Numbers to start with: of the request, and of the message.
  input logic [47:0] seed_i,
  /// State of spfe_rdma_pair.
  input pair_at_e at_i,
  /// The one that follows.
  input pair_at_e next_i,
  /// Step that begins in state AtRest, at most one.
  input pair_may_t begins_i,
  /// Work request; with begins_i.
  input posted_t posted_i,
  /// Header of the packet that is taken.
  input header_t header_i,
  /// What it does.
  input take_e action_i,
  /// The end of a work request is taken.
  input logic ready_i,
  /// What becomes of the work requests.
  input works_do_t do_i,
  /// The oldest one sends next.
  input logic front_i,
  /// It is a question.
  input logic question_i,
  /// Bytes of the packet that is sent.
  input logic [31:0] length_i,
  /// It takes a receive buffer.
  input logic takes_i,
  /// State, numbers and credit; allowed says whether a message may be sent.
  output pair_now_t now_o
);
  pair_now_t now_q;
  logic [31:0] credit_q, sends_q, number;
  logic fresh, allowed, rises, fails;
  assign fresh = begins_i.post && now_q.state == QUEUE_PAIR_STATE_RESET;
  assign number = now_q.number + 32'(fresh);
  assign allowed = $signed(credit_q - sends_q) > 0;
  assign rises = $signed(header_i.immediate - credit_q) > 0;
  assign fails = (at_i == AtFailSeen && next_i == AtFront) || (begins_i.bad && ready_i) ||
      (at_i == AtAct && action_i == TakeRefused) || (begins_i.dial && begins_i.gives_up);
  always_comb begin
    now_o = now_q;
    now_o.allowed = allowed;
  end

  always_ff @(posedge clk_i) begin
    if (begins_i.post) begin
      now_q.number <= number + 32'd1;
      now_q.rings <= posted_i.last;
      if (fresh) begin
        now_q.state <= QUEUE_PAIR_STATE_CONNECTING;
        now_q.connect <= number;
        now_q.attempts <= '0;
      end
    end
    if (begins_i.ring) now_q.rings <= 1'b0;
    if (begins_i.dial && !begins_i.gives_up) now_q.attempts <= now_q.attempts + 5'd1;
    if (at_i == AtAct && action_i == TakeConnected) begin
      now_q.state <= QUEUE_PAIR_STATE_READY;
      credit_q <= header_i.immediate;
    end
    // Credit is an absolute count and never falls.
    if (at_i == AtAct && action_i inside {TakeDone, TakeCredit} && rises) begin
      credit_q <= header_i.immediate;
    end
    if (at_i == AtSent) begin
      now_q.offset <= do_i.sent_last ? '0 : now_q.offset + length_i;
      if (do_i.sent_last) now_q.unasked <= do_i.sent_asks ? '0 : now_q.unasked + 1'b1;
      if (takes_i) begin
        sends_q <= sends_q + 32'd1;
        if (!allowed) credit_q <= sends_q + 32'd1;
      end
    end
    if (do_i.back) now_q.unasked <= '0;
    if (do_i.back || do_i.skip || (do_i.pop && front_i)) now_q.offset <= '0;
    if (do_i.pop && !question_i) now_q.base <= now_q.base + 16'd1;
    if (fails) now_q.state <= QUEUE_PAIR_STATE_ERROR;
    if (begins_i.stop || rst_i) begin
      now_q <= '0;
      now_q.number <= seed_i[31:0];
      now_q.base <= seed_i[47:32];
      {sends_q, credit_q} <= '0;
    end
  end

  logic unused;
  assign unused = ^{begins_i, posted_i, header_i, do_i, now_q};
endmodule
