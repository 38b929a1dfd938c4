// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Arbiter with fixed priorities: the lowest number wins. Combinational.
module spfe_arb_fixed #(
  /// Requesters; 2 or more.
  parameter int unsigned PORTS = 4,
  /// Bits of a port number; follows from PORTS.
  localparam int unsigned INDEX_WIDTH = $clog2(PORTS)
) (
  /// Who wants the grant.
  input  logic [PORTS-1:0]       request_i,
  /// Who has it: one bit, or none if nobody asks.
  output logic [PORTS-1:0]       grant_o,
  /// Number of who has it; zero if nobody asks.
  output logic [INDEX_WIDTH-1:0] index_o,
  /// Somebody has it.
  output logic                   valid_o
);
  spfe_first_one #(.WIDTH(PORTS)) first (
    .data_i(request_i), .found_o(valid_o), .onehot_o(grant_o), .index_o
  );
endmodule
