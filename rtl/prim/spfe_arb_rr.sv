// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Round-robin arbiter: a port whose grant was used gets the lowest priority. A request that stays
/// waits for at most Ports - 1 used grants of other ports.
module spfe_arb_rr #(
  /// Number of requesters, 2 or more.
  parameter int unsigned Ports = 4,
  /// Bits in a port number; follows from Ports.
  localparam int unsigned IndexWidth = $clog2(Ports)
) (
  input logic clk_i,
  input logic rst_i,
  /// Requests.
  input logic [Ports-1:0] request_i,
  /// The grant of this cycle is used. To hold a grant for a frame, use it with the first word and
  /// store index_o until the last.
  input logic used_i,
  /// Grant, one-hot; zero without a request.
  output logic [Ports-1:0] grant_o,
  /// Number of the granted port; zero without a request.
  output logic [IndexWidth-1:0] index_o,
  /// A port is granted.
  output logic valid_o
);
  // Ports above the one whose grant was used last: they have priority over the others.
  logic [Ports-1:0] above_q;
  logic [Ports-1:0] above_grant;
  logic [Ports-1:0] any_grant;
  logic above_found;
  logic [IndexWidth-1:0] unused_above;
  logic [IndexWidth-1:0] unused_any;

  spfe_first_one #(
    .Width(Ports)
  ) i_first_above (
    .data_i(request_i & above_q),
    .found_o(above_found),
    .onehot_o(above_grant),
    .index_o(unused_above)
  );
  spfe_first_one #(
    .Width(Ports)
  ) i_first_any (
    .data_i(request_i),
    .found_o(valid_o),
    .onehot_o(any_grant),
    .index_o(unused_any)
  );
  assign grant_o = above_found ? above_grant : any_grant;

  spfe_onehot_index #(
    .Width(Ports)
  ) i_encode (
    .onehot_i(grant_o),
    .index_o
  );

  always_ff @(posedge clk_i) begin
    // For a one-hot x, ~(x | (x - 1)) has all bits above the one of x.
    if (used_i && valid_o) above_q <= ~(grant_o | (grant_o - Ports'(1)));
    if (rst_i) above_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_one :
      assert ($onehot0(grant_o))
      else $error("grants %b", grant_o);
      a_asked :
      assert ((grant_o & ~request_i) == '0)
      else $error("grant %b without a request", grant_o);
    end
  end
`endif
endmodule
