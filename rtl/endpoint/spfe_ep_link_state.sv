// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// State of a port for software: counts its changes, and signals them.
module spfe_ep_link_state
  import spfe_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// State of the link.
  input port_state_e state_i,
  /// Register LINK_VECTOR.
  input logic [15:0] vector_i,
  /// Sets it.
  input logic vector_valid_i,
  /// Register STATE.
  output port_state_e state_o,
  /// Register CHANGES.
  output logic [31:0] changes_o,
  /// Vector of a link event.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i
);
  port_state_e state_q;
  logic [31:0] changes_q;
  logic [15:0] vector_q;
  logic due_q;
  assign state_o = state_q;
  assign changes_o = changes_q;
  assign event_o = vector_q - 16'd1;
  assign event_valid_o = due_q;

  always_ff @(posedge clk_i) begin
    state_q <= state_i;
    if (event_ready_i) due_q <= 1'b0;
    if (state_i != state_q) begin
      changes_q <= changes_q + 32'd1;
      due_q <= vector_q != '0;
    end
    if (vector_valid_i) begin
      vector_q <= vector_i;
      due_q <= 1'b0;
    end
    if (rst_i) begin
      state_q <= PORT_STATE_DOWN;
      changes_q <= '0;
      vector_q <= '0;
      due_q <= 1'b0;
    end
  end
endmodule
