// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Fixed-priority arbiter: the lowest port number wins. Combinational.
module spfe_arb_fixed #(
  /// Number of requesters, 2 or more.
  parameter int unsigned Ports = 4,
  /// Bits in a port number; follows from Ports.
  localparam int unsigned IndexWidth = $clog2(Ports)
) (
  /// Requests.
  input logic [Ports-1:0] request_i,
  /// Grant, one-hot; zero without a request.
  output logic [Ports-1:0] grant_o,
  /// Number of the granted port; zero without a request.
  output logic [IndexWidth-1:0] index_o,
  /// A port is granted.
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
