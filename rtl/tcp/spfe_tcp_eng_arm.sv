// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Timer intervals of a session: RTO and window probes, with backoff and limits. Combinational.
module spfe_tcp_eng_arm (
  /// RTO in ticks, at least the minimum, before backoff.
  input logic [18:0] rto_i,
  /// Number of doublings.
  input logic [3:0] backoff_i,
  /// Maximum RTO in ticks (tcp_cfg_t).
  input logic [15:0] rto_max_i,
  /// Maximum interval of window probes in ticks (tcp_cfg_t).
  input logic [15:0] persist_max_i,
  /// RTO in ticks.
  output logic [15:0] rto_o,
  /// Interval until the next window probe, in ticks.
  output logic [15:0] persist_o
);
  logic [33:0] shifted;

  assign shifted = 34'(rto_i) << backoff_i;
  assign rto_o = shifted > 34'(rto_max_i) ? rto_max_i : shifted[15:0];
  assign persist_o = shifted > 34'(persist_max_i) ? persist_max_i : shifted[15:0];

endmodule
