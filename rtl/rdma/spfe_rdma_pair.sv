// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The sending side of a queue pair: does one step after the other, each at the time at which it
/// begins. A step takes a packet or a work request, runs a timer, or sends a packet. Afterwards
/// what is done at the front ends, and it is found out what may be sent next, and when. The rules
/// are those of the model `spfe_rdma::RdmaInitiator`.
module spfe_rdma_pair
  import spfe_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
#(
  /// Largest payload of a packet, bytes.
  parameter int unsigned Segment = 4096,
  /// Work requests that may be outstanding, as of spfe_rdma_works.
  parameter int unsigned Works = 32,
  /// Check bits of memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an index; follows from Works.
  localparam int unsigned Width = $clog2(Works)
) (
  input logic clk_i,
  input logic rst_i,
  /// The queue pair; does not change while on_i.
  input pair_t pair_i,
  /// The queue works. Otherwise everything is forgotten as soon as no step is under way.
  input logic on_i,
  /// Nothing is under way, and nothing is known.
  output logic idle_o,
  /// Numbers to start with, random: of the request, and of the message.
  input logic [47:0] seed_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Work request.
  input posted_t posted_i,
  input logic posted_valid_i,
  output logic posted_ready_o,
  /// Nothing follows what was posted.
  input logic nothing_i,
  /// There is room for another one, in this place of the table.
  output logic room_o,
  /// This place.
  output logic [Width-1:0] place_o,

  /// Packet that has arrived.
  input packet_t packet_i,
  /// Which store has its payload; with packet_i.
  input logic bank_i,
  input logic packet_valid_i,
  output logic packet_ready_o,

  /// Bytes to move.
  output move_t move_o,
  /// The work request that they belong to; with move_start_o.
  output logic [Width-1:0] move_place_o,
  /// Which store: of packets that have arrived, or of those that are sent.
  output logic move_bank_o,
  /// For one cycle.
  output logic move_start_o,
  /// For one cycle: they were moved.
  input logic move_done_i,
  /// The memory could not be used; with move_done_i.
  input logic move_failed_i,

  /// Header of a packet.
  output header_t header_o,
  /// Bytes of payload; with header_o.
  output logic [12:0] bytes_o,
  /// Which store has them; with header_o.
  output logic bank_o,
  output logic header_valid_o,
  input logic header_ready_i,

  /// End of a work request.
  output ended_t ended_o,
  output logic ended_valid_o,
  input logic ended_ready_i,

  /// State of the queue pair, as in its context.
  output queue_pair_state_e state_o,
  /// What it waits for.
  output queue_pair_wait_e wait_o,
  /// What was done.
  output step_e step_o,
  /// At this time, ns; with step_o.
  output logic [63:0] step_time_o,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o
);
  pair_at_e at_q, next;
  pair_may_t may, begins;
  queue_pair_wait_e waits;
  logic [63:0] now_q;
  pair_now_t now;
  logic [Width:0] count, rung, cursor;
  logic fair_q, pending_q, bank_q, rx_bank_q, question_q, asks_now;
  packet_t packet_q;
  verdict_t verdict, verdict_q;

  // Table of work requests.
  work_t post, work;
  progress_t progress, put;
  logic [Width-1:0] read_index, work_place, fail_q;
  works_do_t todo;
  works_view_t view;

  // What may be done now.
  logic full, wrong, ready, timer, connects, may_send, may_starve, dials;
  assign full = count == (Width + 1)'(Works);
  // INFO and REGIONS wait for all earlier requests, and later ones wait for them.
  assign asks_now = is_question(posted_i.work.code);
  assign wrong = now.state == QUEUE_PAIR_STATE_ERROR;
  assign ready = now.state == QUEUE_PAIR_STATE_READY;
  always_comb begin
    may = '0;
    may.stop = !on_i;
    may.post = posted_valid_i && !posted_i.wrong && !wrong && !now.rings && !full &&
        (count == '0 || !(asks_now || question_q));
    may.bad = posted_valid_i && (posted_i.wrong || wrong) && count == '0;
    may.ring = now.rings || (rung != count && (full || nothing_i ||
                                             (posted_valid_i && (posted_i.wrong || asks_now))));
    may.timer = ready && timer;
    may.dial = now.state == QUEUE_PAIR_STATE_CONNECTING && connects;
    may.gives_up = now.attempts > pair_i.retries;
    may.blocked = pending_q;
    may.send = ready && may_send && !pending_q;
    may.starve = ready && may_starve;
    // After a packet anything else is first.
    may.take = packet_valid_i && !(fair_q && (may.post || may.bad || may.ring || may.timer ||
                                              may.dial || may.send || may.starve));
  end
  assign dials = begins.dial && !may.gives_up;
  // The packet that is sent: a part of the work request at the cursor, or CONNECT.
  logic [31:0] length;
  logic [12:0] payload, bytes_q;
  logic is_last, half, asks, taker, connecting, fresh, fails, ends, over, unused;
  header_t header, header_q;
  assign connecting = at_q == AtRest;
  assign half = 32'(now.unasked) + 1 >= Works / 2;
  assign asks = view.asks || half || brings_data(work.code);
  assign taker = takes_buffer(work.code, work.has_immediate);
  spfe_rdma_segment i_segment (
    .pair_i,
    .connect_i(connecting),
    .request_i(now.connect),
    .work_i(work),
    .offset_i(now.offset),
    .asks_i(asks),
    .retry_i(connecting ? now.attempts != '0 : view.retry),
    .number_i(connecting ? now.base - 16'd1 : now.base + 16'(cursor)),
    .header_o(header),
    .payload_o(payload),
    .length_o(length),
    .last_o(is_last)
  );
  assign header_o = header_q;
  assign bytes_o = bytes_q;
  assign bank_o = !bank_q;
  assign header_valid_o = pending_q;

  spfe_rdma_judge #(
    .Segment(Segment),
    .Width(Width)
  ) i_judge (
    .packet_i(packet_q),
    .pair_i,
    .state_i(now.state),
    .connect_i(now.connect),
    .base_i(now.base),
    .count_i(count),
    .work_i(work),
    .sent_i(view.sent),
    .progress_i(progress),
    .verdict_o(verdict)
  );

  spfe_rdma_pair_end #(
    .Width(Width)
  ) i_end (
    .clk_i,
    .at_i(at_q),
    .fail_i(fail_q),
    .verdict_i(verdict_q),
    .posted_i,
    .wrong_i(wrong),
    .work_i(work),
    .view_i(view),
    .arrived_i(progress.arrived),
    .ended_o,
    .ready_i(ended_ready_i)
  );

  assign packet_ready_o = begins.take || begins.stop;
  assign posted_ready_o = begins.post || (begins.bad && ended_ready_i);
  assign room_o = !full;
  assign state_o = now.state;
  assign wait_o = ready ? waits :
      now.state == QUEUE_PAIR_STATE_CONNECTING ? QUEUE_PAIR_WAIT_CONNECT : QUEUE_PAIR_WAIT_NOTHING;
  assign idle_o = begins.stop && now.state == QUEUE_PAIR_STATE_RESET && !pending_q;

  assign ends = at_q == AtFrontSeen && count != '0 && view.front_done;
  assign ended_valid_o = begins.bad || at_q == AtFailSeen || ends;
  always_comb begin
    post = posted_i.work;
    post.number = now.number + 32'(now.state == QUEUE_PAIR_STATE_RESET);
  end
  spfe_rdma_pair_do #(
    .Width(Width)
  ) i_do (
    .at_i(at_q),
    .begins_i(begins),
    .verdict_i(verdict_q),
    .length_i(packet_q.header.length),
    .number_i(packet_q.header.number - now.base),
    .fail_i(fail_q),
    .moved_i(move_done_i && !move_failed_i),
    .ends_i((ends || at_q == AtFailSeen) && ended_ready_i),
    .skips_i(cursor < count && view.cursor_done),
    .cursor_i(cursor[Width-1:0]),
    .last_i(is_last),
    .asks_i(asks),
    .progress_i(progress),
    .pair_i,
    .do_o(todo),
    .read_o(read_index),
    .put_o(put),
    .over_o(over)
  );

  spfe_rdma_works #(
    .Works(Works),
    .Protect(Protect)
  ) i_works (
    .clk_i,
    .rst_i,
    .do_i(todo),
    .index_i(fail_q),
    .post_i(post),
    .place_o,
    .read_index_i(read_index),
    .work_o(work),
    .progress_o(progress),
    .work_place_o(work_place),
    .put_i(put),
    .failed_o,
    .count_o(count),
    .rung_o(rung),
    .cursor_o(cursor),
    .view_o(view)
  );

  // What is moved: bytes that have arrived, or those of the next packet.
  assign move_place_o = work_place;
  assign move_bank_o = at_q == AtGather ? bank_q : rx_bank_q;
  assign move_start_o = (at_q == AtAct && verdict_q.action inside {TakeData, TakeValue}) ||
      (at_q == AtSend && payload != '0);
  always_comb begin
    move_o = '{
      scatter: at_q == AtAct,
      value: verdict_q.action == TakeValue && at_q == AtAct,
      operands: at_q == AtSend && {4'd0, work.code} inside {OpFetchAdd, OpCompareSwap},
      elements: work.elements,
      operand_slots: work.operands,
      offset: now.offset,
      bytes: payload
    };
    if (at_q == AtAct) begin
      move_o.offset = verdict_q.action == TakeValue ? '0 : progress.arrived;
      move_o.bytes = verdict_q.action == TakeValue ? work.bytes[12:0] :
          packet_q.header.length[12:0];
    end
  end

  spfe_rdma_pair_next i_next (
    .at_i(at_q),
    .may_i(may),
    .action_i(verdict_q.action),
    .refuses_i(packet_q.header.status != '0),
    .done_i(at_q inside {AtMoved, AtGather} ? move_done_i : ended_ready_i),
    .failed_i(move_failed_i),
    .front_done_i(view.front_done),
    .empty_i(count == '0),
    .single_i(count == (Width + 1)'(1)),
    .payload_i(payload != '0),
    .over_i(over),
    .sent_i(view.index_sent),
    .skips_i(todo.skip),
    .more_i(cursor < count),
    .probes_i(!view.sent && taker && !now.allowed),
    .begins_o(begins),
    .next_o(next),
    .step_o
  );
  assign step_time_o = at_q == AtRest ? time_ns_i : now_q;

  times_t happens;
  assign fresh = begins.post && now.state == QUEUE_PAIR_STATE_RESET;
  assign fails = at_q inside {AtMoved, AtGather} && move_done_i && move_failed_i;
  always_comb begin
    happens = '0;
    happens.fresh = fresh;
    happens.dial = dials;
    happens.expired = begins.timer;
    happens.progress = at_q == AtSent || (at_q == AtMoved && move_done_i && !move_failed_i) ||
        (at_q == AtAct &&
         verdict_q.action inside {TakeConnected, TakeDone, TakeFlushed, TakePause});
    happens.pause = at_q == AtAct && verdict_q.action == TakePause;
    happens.starve = begins.starve;
    happens.fed = at_q == AtSent && !view.sent && taker;
    happens.front = at_q == AtFrontSeen;
    happens.front_waits = ready && count != '0 && view.front_sent;
    happens.aim = at_q == AtAim || at_q == AtAimSeen;
    happens.aims = at_q == AtAimSeen && ready && cursor < rung;
    happens.fence = now.offset == '0 && work.fence && view.fenced;
    happens.reads = now.offset == '0 && !view.sent && brings_data(work.code) && view.full;
    happens.starves = now.offset == '0 && !view.sent && taker && !now.allowed;
  end
  spfe_rdma_pair_time i_time (
    .clk_i,
    .rst_i,
    .timeout_ns_i(pair_i.timeout_ns),
    .time_ns_i,
    .now_i(now_q),
    .event_i(happens),
    .attempts_i(now.attempts),
    .pause_us_i(packet_q.header.immediate),
    .repeated_i(progress.attempts),
    .timer_o(timer),
    .connect_o(connects),
    .may_send_o(may_send),
    .may_starve_o(may_starve),
    .wait_o(waits)
  );

  spfe_rdma_pair_state i_state (
    .clk_i,
    .rst_i,
    .seed_i,
    .at_i(at_q),
    .next_i(next),
    .begins_i(begins),
    .posted_i,
    .header_i(packet_q.header),
    .action_i(verdict_q.action),
    .ready_i(ended_ready_i),
    .do_i(todo),
    .front_i(cursor == '0),
    .question_i(question_q),
    .length_i(length),
    .takes_i(!view.sent && taker),
    .now_o(now)
  );

  // Steps and their packets.
  always_ff @(posedge clk_i) begin
    at_q <= next;
    if (at_q == AtRest) begin
      now_q <= time_ns_i;
      packet_q <= packet_i;
      rx_bank_q <= bank_i;
      fail_q <= '0;
      verdict_q <= '0;
      verdict_q.action <= TakeAgain;
      verdict_q.status <= STATUS_NO_ANSWER;
      verdict_q.unknown <= 1'b1;
      verdict_q.followers <= !begins.dial;
      if (next != AtRest) fair_q <= begins.take;
    end
    if (at_q == AtJudge) begin
      verdict_q <= verdict;
      fail_q <= verdict.action == TakeMissing ? verdict.again[Width-1:0] :
          verdict.action == TakeRefused ? '0 : Width'(packet_q.header.number - now.base);
    end
    if (fails) begin
      verdict_q.status <= STATUS_BAD_REGION;
      verdict_q.detail <= '0;
      verdict_q.unknown <= at_q == AtMoved || view.sent;
      verdict_q.followers <= 1'b1;
      if (at_q == AtGather) fail_q <= cursor[Width-1:0];
    end
    if (begins.post) question_q <= asks_now;
    if (header_ready_i) pending_q <= 1'b0;
    if (at_q == AtSend || (dials && !pending_q)) begin
      header_q <= header;
      bytes_q <= at_q == AtSend ? payload : '0;
    end
    if (at_q == AtSent || (dials && !pending_q)) begin
      pending_q <= 1'b1;
      bank_q <= !bank_q;
    end
    if (rst_i) begin
      at_q <= AtRest;
      pending_q <= 1'b0;
      bank_q <= 1'b0;
      fair_q <= 1'b0;
    end
  end

  assign unused = ^{begins, posted_i.work.number, packet_q};
endmodule
