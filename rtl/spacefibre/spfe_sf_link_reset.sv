// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Link reset state machine and the capability field of INIT3 (ECSS-E-ST-50-11C, 5.7.9, 5.7.10,
/// 5.3.3.8).
module spfe_sf_link_reset
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Lanes, 1 to 16.
  parameter int unsigned Lanes = 1,
  /// Cycles with active lanes after which an end that waits for the link reset of the far end
  /// resets the lanes again; 0: never. The standard has no such limit.
  parameter int unsigned RetryWords = 5000
) (
  input logic clk_i,
  input logic rst_i,
  /// Interface Reset, a command.
  input logic interface_i,
  /// Link reset: a command, a protocol error, or an input buffer overflow.
  input logic reset_i,
  /// Parameter DataScrambled; taken over at a link reset.
  input logic scrambled_i,
  /// This end is a routing switch.
  input logic routing_switch_i,

  /// Lanes that received three equal INIT3.
  input logic [Lanes-1:0] far_valid_i,
  /// Capability field in them.
  input logic [Lanes-1:0][7:0] far_i,
  /// A lane was active at that time.
  input logic any_active_i,
  /// Rows can be sent.
  input logic rows_pass_i,
  /// A row is sent.
  input logic row_i,

  /// State.
  output link_state_e state_o,
  /// Normal operation.
  output logic initialised_o,
  /// LaneReset to all lanes, for one cycle.
  output logic lane_reset_o,
  /// Resets this end of the link, for one cycle, before it listens to the far end.
  output logic clear_o,
  /// For one cycle: the far end asked for a link reset.
  output logic far_end_reset_o,
  /// Capability field; the layers below set LaneStart and Multi-LaneCapable.
  output logic [7:0] capability_o
);
  localparam int unsigned WaitWidth = $clog2(RetryWords + 2);

  link_state_e state_q, state_d;
  logic lane_reset_q, lane_reset;
  // Lanes that delivered a capability since the link came up, while no lane was active.
  logic [Lanes-1:0] heard_q, heard;
  logic [WaitWidth-1:0] waited_q, waited;
  logic scrambled_q;
  logic clear, clear_q;
  logic far_end_reset;
  logic known;

  always_comb begin
    known = 1'b0;
    state_d = state_q;
    lane_reset = 1'b0;
    heard = row_i ? '1 : heard_q;
    waited = '0;
    clear = 1'b0;
    far_end_reset = 1'b0;
    unique case (state_q)
      RstConfiguration: begin
        lane_reset = 1'b1;
        state_d = RstNearEnd;
      end
      RstNearEnd: begin
        // The lanes are reset before this end listens to the far end.
        if (!lane_reset_q) begin
          state_d = RstCheckFarEnd;
          clear = 1'b1;
        end
      end
      RstCheckFarEnd: begin
        waited = waited_q;
        if (rows_pass_i) begin
          waited = waited_q + 1'b1;
          if (RetryWords != 0 && waited == WaitWidth'(RetryWords)) begin
            waited = '0;
            lane_reset = 1'b1;
          end
        end
      end
      default: ;
    endcase
    // All lanes of one initialisation report one after the other: the first report of each lane is
    // no new reset, the second one is.
    for (int unsigned i = 0; i < Lanes; i++) begin
      if (far_valid_i[i]) begin
        known = heard[i];
        if (any_active_i) heard = '1;
        if (far_i[i][CapLinkReset]) begin
          if (state_d == RstCheckFarEnd && state_q == RstCheckFarEnd) begin
            heard = '0;
            heard[i] = 1'b1;
            state_d = RstInitialised;
          end else if (state_d == RstInitialised && !any_active_i) begin
            heard[i] = 1'b1;
            if (known) begin
              far_end_reset = 1'b1;
              state_d = RstNearEnd;
              lane_reset = 1'b1;
            end
          end
        end
      end
    end
    if (reset_i && state_q != RstConfiguration) begin
      state_d = RstNearEnd;
      lane_reset = 1'b1;
      clear = 1'b0;
    end
    if (interface_i) begin
      state_d = RstConfiguration;
      lane_reset = 1'b1;
      clear = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    lane_reset_q <= lane_reset;
    heard_q <= heard;
    waited_q <= waited;
    clear_q <= clear;
    if (clear) scrambled_q <= scrambled_i;
    if (rst_i) begin
      state_q <= RstConfiguration;
      lane_reset_q <= 1'b0;
      clear_q <= 1'b0;
      heard_q <= '0;
      scrambled_q <= scrambled_i;
    end
  end

  assign state_o = state_q;
  assign initialised_o = state_q == RstInitialised;
  assign lane_reset_o = lane_reset_q;
  assign clear_o = clear_q;
  assign far_end_reset_o = far_end_reset;
  assign capability_o =
      8'(state_q != RstInitialised) << CapLinkReset | 8'(scrambled_q) << CapDataScrambled
      | 8'(routing_switch_i) << CapRoutingSwitch;

  logic unused_far;
  always_comb begin
    unused_far = 1'b0;
    for (int unsigned i = 0; i < Lanes; i++) unused_far ^= ^far_i[i];
  end
endmodule
