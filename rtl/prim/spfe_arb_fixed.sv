// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Arbiter with fixed priorities: the lowest number wins. Combinational.
module spfe_arb_fixed #(
  /// Requesters; 2 or more.
  parameter int unsigned Ports = 4,
  /// Bits of a port number; follows from Ports.
  localparam int unsigned IndexWidth = $clog2(Ports)
) (
  /// Who wants the grant.
  input logic [Ports-1:0] request_i,
  /// Who has it: one bit, or none if nobody asks.
  output logic [Ports-1:0] grant_o,
  /// Number of who has it; zero if nobody asks.
  output logic [IndexWidth-1:0] index_o,
  /// Somebody has it.
  output logic valid_o
);
  spfe_first_one #(
    .Width(Ports)
  ) i_first (
    .data_i(request_i),
    .found_o(valid_o),
    .onehot_o(grant_o),
    .index_o
  );
endmodule
