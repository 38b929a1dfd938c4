// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// How long the timer of a decision runs. Combinational.
module spfe_tcp_eng_arm
  import spfe_tcp_eng_pkg::*;
(
    /// The timer.
    input arm_e arm_i,
    /// RTO in ticks, not below the minimum, before backoff.
    input logic [18:0] rto_i,
    /// Doublings of it.
    input logic [3:0] backoff_i,
    /// Longest RTO in ticks (tcp_cfg_t).
    input logic [15:0] rto_max_i,
    /// Longest distance of window probes in ticks (tcp_cfg_t).
    input logic [15:0] persist_max_i,
    /// Ticks in TIME-WAIT (tcp_cfg_t).
    input logic [15:0] time_wait_i,
    /// RTO with backoff and limit, in ticks.
    output logic [15:0] rto_o,
    /// Ticks until the timer runs out.
    output logic [15:0] value_o
);
  logic [33:0] shifted;
  logic [15:0] limit;

  assign shifted = 34'(rto_i) << backoff_i;
  assign limit = arm_i == ArmPersist ? persist_max_i : rto_max_i;

  always_comb begin
    rto_o = shifted > 34'(limit) ? limit : shifted[15:0];
    unique case (arm_i)
      ArmTimeWait: value_o = time_wait_i;
      ArmResolve: value_o = 16'd1;
      default: value_o = rto_o;
    endcase
  end

endmodule
