// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The oldest message at the sender: reserves its sequence numbers when its frame starts, discards
/// the payload that is not sent, and reports the outcome to the finisher.
module spfe_tcp_tx_message
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// Description of the message.
  input desc_t head_i,
  /// The frame of the message starts.
  input logic start_i,
  /// The message is left to the engine; its frame does not start.
  input logic defer_i,
  /// The frame of the message is aborted with the current beat.
  input logic abort_i,
  /// The current beat is the last one of the frame. Ignored with abort_i.
  input logic end_i,
  /// ACK of the frame.
  input seq_t ack_i,
  /// The frame takes a payload chunk.
  input logic take_i,
  input logic data_valid_i,
  /// Last chunk of the message.
  input logic data_last_i,
  /// Discards the payload chunk.
  output logic drain_o,
  /// The sequence numbers could not be reserved: the frame must be aborted.
  output logic stale_o,
  /// Another message may start.
  output logic quiet_o,
  /// The message has ended, but its outcome is not reported yet.
  output logic ended_o,

  /// Request to reserve the sequence numbers.
  output state_req_t req_o,
  output logic req_valid_o,
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,
  /// With res_valid_i: the numbers are reserved; 0: the message is stale.
  input logic res_match_i,

  /// How the message ended.
  output outcome_t outcome_o,
  /// outcome_o is valid; the queue removes the message.
  output logic outcome_valid_o,
  /// The finisher has room for another outcome and those in flight.
  input logic outcome_room_i,
  /// The finisher has completed a message that was not sent; live messages may start again.
  input logic clear_i
);
  logic ask_q, busy_q, reserved_q, stale_q;  // progress of StateStart
  logic drain_q, hold_q, ended_q;
  end_e how_q, how;
  logic drained, ends;

  assign drain_o = drain_q;
  assign stale_o = stale_q;
  assign ended_o = ended_q;
  assign quiet_o = !hold_q && !busy_q && !drain_q && !ended_q && outcome_room_i;

  // ---- reservation
  always_comb begin
    req_o = '0;
    req_o.op = StateStart;
    req_o.sid = head_i.sid;
    req_o.gen = head_i.gen;
    req_o.expected = head_i.seq;
    req_o.target = head_i.seq + 32'(head_i.len);
  end
  assign req_valid_o = ask_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      ask_q <= 1'b1;
      busy_q <= 1'b1;
      reserved_q <= 1'b0;
      stale_q <= 1'b0;
    end else if (defer_i) begin
      reserved_q <= 1'b0;
    end
    if (req_ready_i) ask_q <= 1'b0;
    if (res_valid_i) begin
      busy_q <= 1'b0;
      reserved_q <= res_match_i;
      stale_q <= !res_match_i;
    end
    if (rst_i) begin
      ask_q <= 1'b0;
      busy_q <= 1'b0;
    end
  end

  // ---- outcome
  assign drained = drain_q && data_valid_i && data_last_i;
  always_comb begin
    ends = 1'b0;
    how = how_q;
    if (abort_i) begin
      how = EndAborted;
      ends = take_i && data_last_i;
    end else if (end_i) begin
      how = EndSent;
      ends = 1'b1;
    end else if (drained || ended_q) begin
      ends = 1'b1;
    end
  end
  // While the reservation is in progress the outcome has to wait.
  assign outcome_valid_o = ends && !busy_q;
  always_comb begin
    outcome_o.how = how;
    outcome_o.reserved = reserved_q;
    outcome_o.ack = ack_i;
    outcome_o.desc = head_i;
  end

  always_ff @(posedge clk_i) begin
    if (defer_i) begin
      drain_q <= 1'b1;
      hold_q <= 1'b1;
      how_q <= EndDeferred;
    end
    if (abort_i) begin
      drain_q <= !(take_i && data_last_i);
      hold_q <= 1'b1;
      how_q <= EndAborted;
    end else if (end_i) begin
      how_q <= EndSent;
    end
    if (drained) drain_q <= 1'b0;
    ended_q <= ends && busy_q;
    if (clear_i) hold_q <= 1'b0;
    if (rst_i) begin
      drain_q <= 1'b0;
      hold_q <= 1'b0;
      ended_q <= 1'b0;
    end
  end
endmodule
