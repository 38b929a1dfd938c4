// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Round-robin arbiter: after a grant was used, its owner comes last. A requester that keeps asking
/// waits for at most Ports - 1 used grants of others.
module spfe_arb_rr #(
  /// Requesters; 2 or more.
  parameter int unsigned Ports = 4,
  /// Bits of a port number; follows from Ports.
  localparam int unsigned IndexWidth = $clog2(Ports)
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: port 0 comes first again.
  input logic rst_i,
  /// Who wants the grant.
  input logic [Ports-1:0] request_i,
  /// The grant of this cycle is used. For frames: at their first word, and the user keeps index_o
  /// until their last.
  input logic used_i,
  /// Who has it: one bit, or none if nobody asks.
  output logic [Ports-1:0] grant_o,
  /// Number of who has it; zero if nobody asks.
  output logic [IndexWidth-1:0] index_o,
  /// Somebody has it.
  output logic valid_o
);
  // Ports above the one that had the grant last; they come first.
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
    // ~(x | (x - 1)): all bits above the only one of x.
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
      else $error("a grant that nobody asked for");
    end
  end
`endif
endmodule
