// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Completes messages in order: advances the send pointers of the session, reports to the engine
/// and raises events. Completed commands reach the engine through the same FIFO.
module spfe_tcp_tx_finish
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// 1: set PSH in every live segment.
  parameter bit Push = 1'b0
) (
  input logic clk_i,
  input logic rst_i,

  /// outcome_i is valid: the sender has completed a message.
  input logic outcome_valid_i,
  /// How the message ended.
  input outcome_t outcome_i,
  /// Room for another outcome and those the sender may issue before it sees this signal fall.
  output logic outcome_room_o,
  /// No message is being completed.
  output logic idle_o,
  /// A message that was not sent has been completed.
  output logic clear_o,

  /// The oldest message has ended and its sum is valid.
  input logic tail_valid_i,
  /// Sum, length and status of the oldest message.
  input tail_t tail_i,
  /// Frees the slot of the oldest message.
  output logic tail_pop_o,

  /// Request to advance the send pointers.
  output state_req_t req_o,
  output logic req_valid_o,
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,
  /// With res_valid_i: the pointer was as expected and has advanced.
  input logic res_match_i,

  /// Report of a command that has been sent.
  input tx_done_t cmd_done_i,
  input logic cmd_done_valid_i,
  output logic cmd_done_ready_o,
  /// Report to the engine.
  output tx_done_t done_o,
  output logic done_valid_o,
  input logic done_ready_i,

  /// A live frame was aborted; one cycle.
  input logic aborted_i,
  /// Session of the aborted frame.
  input sid_t aborted_sid_i,
  /// The user side has refused a message.
  input refusal_t refused_i,
  input logic refused_valid_i,
  output logic refused_ready_o,
  /// Event to the user.
  output event_t event_o,
  /// event_o is valid, for one cycle.
  output logic event_valid_o,
  /// A message was sent live; one cycle.
  output logic count_live_o,
  /// A message was left to the engine; one cycle.
  output logic count_deferred_o,
  /// The user's checksum was wrong; one cycle.
  output logic count_bad_sum_o
);
  logic outcome_room_q;
  logic idle_q;
  outcome_t head, outcome_q;
  logic outcome_valid_q, head_valid, load, fifo_ready, almost_full;
  logic [4:0] unused_count;
  spfe_fifo #(
    .Width($bits(outcome_t)),
    .Depth(16),
    .AlmostFull(4)
  ) i_outcomes (
    .clk_i,
    .rst_i,
    .valid_i(outcome_valid_q),
    .ready_o(fifo_ready),
    .data_i(outcome_q),
    .valid_o(head_valid),
    .ready_i(load),
    .data_o(head),
    .count_o(unused_count),
    .almost_full_o(almost_full)
  );

  // Three stages hold one message each: request the pointer update, wait for it, report it.
  typedef struct packed {
    outcome_t out;
    logic [15:0] len;
    logic ok;  // the message is in the ring
  } message_t;

  // ---- request
  logic ask_q, asks_q, pass;
  message_t a_q;
  sum_t sum_q;
  // ---- wait
  typedef enum logic [1:0] {
    Free = 2'd0,
    Answer = 2'd1,
    Done = 2'd2
  } wait_state_e;
  wait_state_e wait_q;
  message_t b_q;
  logic b_match_q, b_bad_q, answered, move;
  // ---- report
  logic unused_reserved, tell_q, told, match_q, bad_sum_q, ok, sent;
  message_t c_q;
  outcome_t out;
  logic [15:0] len;

  assign req_valid_o = ask_q && asks_q && wait_q == Free;
  assign pass = ask_q && wait_q == Free && (!asks_q || req_ready_i);
  assign load = head_valid && tail_valid_i && (!ask_q || pass);
  assign tail_pop_o = load;
  assign answered = wait_q == Answer && res_valid_i;
  assign move = (answered || wait_q == Done) && !tell_q;

  assign outcome_room_o = outcome_room_q;
  assign idle_o = idle_q;

  always_ff @(posedge clk_i) begin
    outcome_q <= outcome_i;
    outcome_valid_q <= outcome_valid_i && !rst_i;
    outcome_room_q <= !almost_full;
    idle_q <= !head_valid && !outcome_valid_i && !outcome_valid_q && !ask_q && wait_q == Free &&
        !tell_q;
    ask_q <= load || (ask_q && !pass);
    if (load) begin
      a_q <= '{out: head, len: tail_i.len, ok: tail_i.ok};
      sum_q <= tail_i.sum;
      // A message refused after StateStart returns its reserved sequence numbers.
      asks_q <= tail_i.ok || (head.how != EndSent && head.reserved);
    end
    if (pass) begin
      b_q <= a_q;
      b_match_q <= 1'b0;
      b_bad_q <= a_q.out.how == EndSent && a_q.out.desc.known && !sum_eq(sum_q, a_q.out.desc.sum);
      wait_q <= asks_q ? Answer : Done;
    end
    if (answered) begin
      b_match_q <= res_match_i;
      wait_q <= Done;
    end
    if (move) begin
      c_q <= b_q;
      match_q <= answered ? res_match_i : b_match_q;
      bad_sum_q <= b_bad_q;
      wait_q <= Free;
    end
    tell_q <= move || (tell_q && !told);
    if (rst_i) begin
      ask_q <= 1'b0;
      wait_q <= Free;
      tell_q <= 1'b0;
    end
  end

  always_comb begin
    req_o = '0;
    req_o.op = a_q.out.how == EndSent ? StateSent : StateDefer;
    req_o.sid = a_q.out.desc.sid;
    req_o.gen = a_q.out.desc.gen;
    req_o.expected = a_q.out.desc.seq;
    req_o.target = a_q.out.desc.seq + (a_q.ok ? 32'(a_q.len) : 32'd0);
  end

  // ---- report to the engine
  tx_done_t mine, done;
  logic done_room, done_valid, tells, event_there, event_ready;
  event_t event_d;
  assign out = c_q.out;
  assign unused_reserved = out.reserved;
  assign len = c_q.len;
  assign ok = c_q.ok;
  assign sent = out.how == EndSent;
  assign tells = tell_q && ok && match_q;
  always_comb begin
    mine = '0;
    mine.kind = sent ? TxLive : TxDeferred;
    mine.sid = out.desc.sid;
    mine.seq = out.desc.seq;
    mine.len = len;
    mine.ack = out.ack;
    mine.flags.ack = 1'b1;
    mine.flags.psh = Push || out.desc.push;
    mine.bad_sum = bad_sum_q;
    done = tells ? mine : cmd_done_i;
    done_valid = tells ? told : cmd_done_valid_i;
  end
  assign cmd_done_ready_o = done_room && !tells;
  logic unused_almost;
  logic [3:0] unused_fill;
  spfe_fifo #(
    .Width($bits(tx_done_t)),
    .Depth(8)
  ) i_done (
    .clk_i,
    .rst_i,
    .valid_i(done_valid),
    .ready_o(done_room),
    .data_i(done),
    .valid_o(done_valid_o),
    .ready_i(done_ready_i),
    .data_o(done_o),
    .count_o(unused_fill),
    .almost_full_o(unused_almost)
  );

  // ---- event of a message that was deferred, had a wrong checksum or became stale
  always_comb begin
    event_d.sid = 16'(out.desc.sid);
    event_d.data = {24'd0, len};
    event_d.kind = EvTxDeferred;
    event_there = tells && out.how == EndDeferred;
    if (tells && sent && bad_sum_q) begin
      event_d.kind = EvTxBadSum;
      event_there = 1'b1;
    end
    if (tell_q && ok && !match_q) begin
      event_d.kind = EvTxRefused;
      event_d.data = {32'd0, RefusedStale};
      event_there = 1'b1;
    end
  end
  assign told = tell_q && (!tells || done_room) && (!event_there || event_ready);

  spfe_tcp_tx_events i_events (
    .clk_i,
    .rst_i,
    .aborted_i,
    .aborted_sid_i,
    .finish_i(event_d),
    .finish_valid_i(event_there && (!tells || done_room)),
    .finish_ready_o(event_ready),
    .refused_i,
    .refused_valid_i,
    .refused_ready_o,
    .event_o,
    .event_valid_o
  );

  assign clear_o = told && !sent;
  assign count_live_o = told && tells && sent;
  assign count_deferred_o = told && tells && !sent;
  assign count_bad_sum_o = told && tells && bad_sum_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_room :
    assert (rst_i || !outcome_valid_q || fifo_ready)
    else $error("an outcome too many");
  end
`endif
endmodule
