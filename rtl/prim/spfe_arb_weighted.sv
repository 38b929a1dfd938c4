// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Weighted round robin: a port keeps the grant for at most weight_i + 1 used grants, then the next
/// port that requests has its turn. Ports that request all the time share in the ratio of
/// weight_i + 1.
module spfe_arb_weighted #(
  /// Number of requesters, 2 or more.
  parameter int unsigned Ports = 4,
  /// Bits of a weight, 1 or more.
  parameter int unsigned WeightWidth = 4,
  /// Bits in a port number; follows from Ports.
  localparam int unsigned IndexWidth = $clog2(Ports)
) (
  input logic clk_i,
  input logic rst_i,
  /// Weight of each port, less one; read when its turn begins.
  input logic [Ports-1:0][WeightWidth-1:0] weight_i,
  /// Requests.
  input logic [Ports-1:0] request_i,
  /// The grant of this cycle is used.
  input logic used_i,
  /// Grant, one-hot; zero without a request.
  output logic [Ports-1:0] grant_o,
  /// Number of the granted port; zero without a request.
  output logic [IndexWidth-1:0] index_o,
  /// A port is granted.
  output logic valid_o
);
  if (WeightWidth < 1) begin : gen_bad_weight
    $error("spfe_arb_weighted: WeightWidth is %0d; 1 or more is possible", WeightWidth);
  end

  // The port whose turn it is, and how many grants it still has.
  logic [Ports-1:0] turn_q;
  logic [WeightWidth-1:0] left_q;
  logic stays;
  logic [Ports-1:0] next_grant;
  logic [IndexWidth-1:0] unused_index;
  logic unused_valid;

  assign stays = (turn_q & request_i) != '0 && left_q != '0;
  assign grant_o = stays ? turn_q : next_grant;
  assign valid_o = request_i != '0;

  spfe_arb_rr #(
    .Ports(Ports)
  ) i_turns (
    .clk_i,
    .rst_i,
    .request_i,
    .used_i(used_i && !stays),
    .grant_o(next_grant),
    .index_o(unused_index),
    .valid_o(unused_valid)
  );

  spfe_onehot_index #(
    .Width(Ports)
  ) i_encode (
    .onehot_i(grant_o),
    .index_o
  );

  // Weight of the granted port.
  logic [WeightWidth-1:0] weight;
  always_comb begin
    weight = '0;
    for (int unsigned i = 0; i < Ports; i++) weight |= grant_o[i] ? weight_i[i] : '0;
  end

  always_ff @(posedge clk_i) begin
    if (used_i && valid_o) begin
      turn_q <= grant_o;
      left_q <= stays ? left_q - 1'b1 : weight;
    end
    if (rst_i) begin
      turn_q <= '0;
      left_q <= '0;
    end
  end
endmodule
