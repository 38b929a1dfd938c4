// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Merges the events of the transmitter into one stream, at most one per cycle.
module spfe_tcp_tx_events
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// A frame was aborted; one cycle, at least two cycles apart.
  input logic aborted_i,
  /// Session of the aborted frame.
  input sid_t aborted_sid_i,
  /// Event of the finisher.
  input event_t finish_i,
  input logic finish_valid_i,
  output logic finish_ready_o,
  input logic refused_valid_i,
  /// The user side has refused a message.
  input refusal_t refused_i,
  output logic refused_ready_o,
  /// Event to the user.
  output event_t event_o,
  /// event_o is valid; one cycle.
  output logic event_valid_o
);
  event_t event_q;
  logic event_valid_q;
  logic aborted_q;
  sid_t sid_q;
  event_t event_d;

  assign finish_ready_o = !aborted_q;
  assign refused_ready_o = !aborted_q && !finish_valid_i;

  always_comb begin
    event_d.kind = EvTxRefused;
    event_d.sid = 16'(refused_i.sid);
    event_d.data = {32'd0, refused_i.why};
    if (finish_valid_i) event_d = finish_i;
    if (aborted_q) begin
      event_d.kind = EvTxAborted;
      event_d.sid = 16'(sid_q);
      event_d.data = '0;
    end
  end

  assign event_o = event_q;
  assign event_valid_o = event_valid_q;

  always_ff @(posedge clk_i) begin
    aborted_q <= aborted_i;
    sid_q <= aborted_sid_i;
    event_q <= event_d;
    event_valid_q <= aborted_q || finish_valid_i || refused_valid_i;
    if (rst_i) begin
      aborted_q <= 1'b0;
      event_valid_q <= 1'b0;
    end
  end
endmodule
