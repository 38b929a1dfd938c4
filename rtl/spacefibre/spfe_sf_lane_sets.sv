// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sets of lanes: active, receiving, data-sending, in reserve; and what they mean for each lane:
/// RxOnly, FarEndActive, LaneReset (ECSS-E-ST-50-11C, 5.6.3, 5.6.5). Outputs whose names end in
/// next belong to the cycle of go_i, all others to the cycle after it.
module spfe_sf_lane_sets
  import spfe_sf_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes, 2 to 16.
  parameter int unsigned Lanes = 4,
  /// Bits of a number of lanes; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// A word period ends: the inputs are those of its end.
  input logic go_i,
  /// Link reset.
  input logic clear_i,
  /// Parameters of management.
  input multilane_param_t param_i,
  /// The lane has a transmitter.
  input logic [Lanes-1:0] tx_en_i,
  /// And a receiver.
  input logic [Lanes-1:0] rx_en_i,
  /// State of each lane.
  input lane_state_e [Lanes-1:0] state_i,
  /// The lane received three equal INIT3 in this word period.
  input logic [Lanes-1:0] far_valid_i,
  /// Capability field in them.
  input logic [Lanes-1:0][7:0] far_i,
  /// Active lanes of the far end.
  input logic [Lanes-1:0] far_end_active_i,

  /// Active lanes that receive.
  output logic [Lanes-1:0] receiving_next_o,
  /// Lanes that have just become active.
  output logic [Lanes-1:0] fresh_next_o,

  /// Active lanes.
  output logic [Lanes-1:0] active_o,
  /// They changed.
  output logic changed_o,
  /// Lanes that became active.
  output logic [Lanes-1:0] fresh_o,
  /// Lanes in ClearLine: FarEndActive ends.
  output logic [Lanes-1:0] down_o,
  /// Active lanes that receive.
  output logic [Lanes-1:0] receiving_o,
  /// Active lanes that send.
  output logic [Lanes-1:0] transmitting_o,
  /// Those of them that carry rows: the lowest ones, up to the limit.
  output logic [Lanes-1:0] sending_o,
  /// Number of data-sending lanes.
  output logic [CountWidth-1:0] width_o,
  /// Only lane 0 is used, as a single lane.
  output logic bypass_o,
  /// The far end scrambles the data frames on this lane.
  output logic [Lanes-1:0] far_scrambled_o,

  /// RxOnly of each lane.
  output logic [Lanes-1:0] rx_only_o,
  /// FarEndActive of each lane.
  output logic [Lanes-1:0] far_end_active_o,
  /// LaneReset of each lane.
  output logic [Lanes-1:0] reset_o
);
  logic [Lanes-1:0] active, before_q, transmitting, sending, tx_only, heard_q, scrambles_q;
  logic [CountWidth-1:0] width, max_q, max, limit;
  logic bypass, any_scrambles_q, both_ways;
  logic [Lanes-1:0] rx_only, deaf;
  logic [Lanes-1:0] active_q, fresh_q, down_q, receiving_q, transmitting_q, sending_q;
  logic [Lanes-1:0] rx_only_q, far_end_active_q, reset_q;
  logic [CountWidth-1:0] width_q;
  logic changed_q, bypass_q;

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      active[l] = state_i[l] == StActive;
      // A lane with a receiver uses what it receives itself.
      tx_only[l] = tx_en_i[l] && !rx_en_i[l] && state_i[l] != StClearLine;
    end
    bypass = bypass_q;
    if (far_valid_i[0] && !param_i.bypass) bypass = !far_i[0][CapMultiLane];
  end
  assign receiving_next_o = active & rx_en_i;
  assign fresh_next_o = active & ~before_q;
  assign transmitting = active & tx_en_i;
  assign both_ways = (transmitting & rx_en_i) != '0;

  // The number of data-sending lanes that is set.
  always_comb begin
    limit = CountWidth'(param_i.max_data_sending);
    if (param_i.max_data_sending == '0) limit = CountWidth'(1);
    if (32'(param_i.max_data_sending) > Lanes) limit = CountWidth'(Lanes);
    max = active == '0 ? limit : max_q;
    width = '0;
    sending = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      if (transmitting[l] && width < max) begin
        sending[l] = 1'b1;
        width = width + 1'b1;
      end
    end
  end

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      rx_only[l] = rx_only_q[l];
      if (tx_en_i[l] || !rx_en_i[l]) rx_only[l] = 1'b0;
      else if (both_ways) rx_only[l] = 1'b1;
      deaf[l] = active[l] && tx_only[l]
          && !(far_end_active_i[l] && state_i[l] != StClearLine && both_ways);
    end
  end

  always_ff @(posedge clk_i) begin
    if (go_i) begin
      before_q <= active;
      active_q <= active;
      changed_q <= active != active_q;
      fresh_q <= fresh_next_o;
      receiving_q <= receiving_next_o;
      transmitting_q <= transmitting;
      sending_q <= sending;
      width_q <= width;
      bypass_q <= bypass;
      max_q <= max;
      for (int unsigned l = 0; l < Lanes; l++) begin
        down_q[l] <= state_i[l] == StClearLine;
        if (far_valid_i[l]) begin
          heard_q[l] <= 1'b1;
          scrambles_q[l] <= far_i[l][CapDataScrambled];
          any_scrambles_q <= far_i[l][CapDataScrambled];
        end
      end
      if (bypass) begin
        reset_q <= {Lanes{1'b1}} << 1;
      end else begin
        rx_only_q <= rx_only;
        reset_q <= deaf | ~(tx_en_i | rx_en_i);
        for (int unsigned l = 0; l < Lanes; l++) begin
          far_end_active_q[l] <= far_end_active_i[l] && tx_only[l];
        end
      end
    end
    if (clear_i) max_q <= limit;
    if (rst_i) begin
      before_q <= '0;
      active_q <= '0;
      changed_q <= 1'b0;
      fresh_q <= '0;
      down_q <= '1;
      receiving_q <= '0;
      transmitting_q <= '0;
      sending_q <= '0;
      width_q <= '0;
      bypass_q <= param_i.bypass;
      max_q <= limit;
      heard_q <= '0;
      any_scrambles_q <= 1'b0;
      rx_only_q <= '0;
      far_end_active_q <= '0;
      reset_q <= '0;
    end
  end

  // A lane that only receives has no INIT3: what was heard last on any lane applies to it.
  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) begin
      far_scrambled_o[l] = heard_q[l] ? scrambles_q[l] : any_scrambles_q;
    end
  end

  logic unused_far;
  always_comb begin
    unused_far = 1'b0;
    for (int unsigned l = 0; l < Lanes; l++) unused_far ^= ^far_i[l];
  end
  assign active_o = active_q;
  assign changed_o = changed_q;
  assign fresh_o = fresh_q;
  assign down_o = down_q;
  assign receiving_o = receiving_q;
  assign transmitting_o = transmitting_q;
  assign sending_o = sending_q;
  assign width_o = width_q;
  assign bypass_o = bypass_q;
  assign rx_only_o = rx_only_q;
  assign far_end_active_o = far_end_active_q;
  assign reset_o = reset_q;
endmodule
