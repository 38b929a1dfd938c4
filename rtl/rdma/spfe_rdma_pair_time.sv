// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Times of a queue pair: when a message is repeated, until when a receiver or a missing credit
/// makes it wait, and whether the work request at the cursor may be sent.
module spfe_rdma_pair_time
  import spfe_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Time-out, ns.
  input logic [63:0] timeout_ns_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,
  /// Time at which the step began; for progress and pause.
  input logic [63:0] now_i,
  /// What happens.
  input times_t event_i,
  /// Earlier attempts to connect.
  input logic [4:0] attempts_i,
  /// How long the receiver asks to wait, us.
  input logic [31:0] pause_us_i,
  /// How often the oldest message was repeated.
  input logic [4:0] repeated_i,

  /// The timer of the oldest message has expired.
  output logic timer_o,
  /// It is time to connect.
  output logic connect_o,
  /// The work request may be sent.
  output logic may_send_o,
  /// The wait for credit is to begin.
  output logic may_starve_o,
  /// What the queue pair waits for when it is connected.
  output queue_pair_wait_e wait_o
);
  logic [63:0] progress_q, pause_q, starved_q, deadline_q, gate_q, latest, fed_ns, pause_ns;
  logic armed_q, aims_q, held_q, starves_q, fence_q;
  logic [41:0] pause;
  assign latest = progress_q > pause_q ? progress_q : pause_q;
  assign fed_ns = starved_q + timeout_ns_i;
  assign pause = 42'(pause_us_i) * 42'd1000;
  assign pause_ns = 64'(pause) > PauseMaxNs ? PauseMaxNs : 64'(pause);

  assign timer_o = armed_q && time_ns_i >= deadline_q;
  assign connect_o = time_ns_i >= deadline_q;
  assign may_send_o = aims_q && !held_q && time_ns_i >= gate_q && !(starves_q && starved_q == '0);
  assign may_starve_o = aims_q && !held_q && time_ns_i >= gate_q && starves_q && starved_q == '0;

  always_comb begin
    wait_o = QUEUE_PAIR_WAIT_TRANSMIT;
    if (!aims_q) wait_o = armed_q ? QUEUE_PAIR_WAIT_ANSWER : QUEUE_PAIR_WAIT_NOTHING;
    else if (pause_q > time_ns_i) wait_o = QUEUE_PAIR_WAIT_RECEIVER;
    else if (held_q) wait_o = fence_q ? QUEUE_PAIR_WAIT_FENCE : QUEUE_PAIR_WAIT_READS;
    else if (starves_q && !may_send_o) wait_o = QUEUE_PAIR_WAIT_CREDIT;
  end

  always_ff @(posedge clk_i) begin
    if (event_i.fresh) {pause_q, starved_q, deadline_q} <= '0;
    if (event_i.dial) deadline_q <= time_ns_i + (timeout_ns_i << attempts_i);
    if (event_i.progress || event_i.pause) progress_q <= now_i;
    if (event_i.expired) progress_q <= time_ns_i;
    if (event_i.pause) pause_q <= now_i + pause_ns;
    if (event_i.starve) starved_q <= time_ns_i == '0 ? 64'd1 : time_ns_i;
    if (event_i.fed) starved_q <= '0;
    if (event_i.front) begin
      armed_q <= event_i.front_waits;
      if (event_i.front_waits) deadline_q <= latest + (timeout_ns_i << repeated_i);
    end
    if (event_i.aim) begin
      aims_q <= event_i.aims;
      held_q <= event_i.fence || event_i.reads;
      fence_q <= event_i.fence;
      starves_q <= event_i.starves;
      gate_q <= event_i.starves && starved_q != '0 && fed_ns > pause_q ? fed_ns : pause_q;
    end
    if (rst_i) begin
      armed_q <= 1'b0;
      aims_q <= 1'b0;
    end
  end
endmodule
