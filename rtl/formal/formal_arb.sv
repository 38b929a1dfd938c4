// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// An arbiter grants one port, and one that requests, whenever any port requests. With fixed
/// priorities it is the lowest; with round robin no port waits for more used grants than there are
/// other ports.
module formal_arb #(
  /// Number of requesters.
  parameter int unsigned Ports = 5,
  /// 1: round robin; 0: fixed priorities.
  parameter bit Round = 1'b1
) (
  input logic clk_i,
  /// Free: requests.
  input logic [Ports-1:0] request_i,
  /// Free: the grant is used.
  input logic used_i
);
  localparam int unsigned IndexWidth = $clog2(Ports);

  logic rst_q = 1'b1;
  logic [Ports-1:0] grant;
  logic [IndexWidth-1:0] index;
  logic valid;

  if (Round) begin : gen_round
    spfe_arb_rr #(
      .Ports(Ports)
    ) i_dut (
      .clk_i,
      .rst_i(rst_q),
      .request_i,
      .used_i,
      .grant_o(grant),
      .index_o(index),
      .valid_o(valid)
    );
  end else begin : gen_fixed
    spfe_arb_fixed #(
      .Ports(Ports)
    ) i_dut (
      .request_i,
      .grant_o(grant),
      .index_o(index),
      .valid_o(valid)
    );
  end

  // Used grants of other ports since each port has begun to request.
  logic [Ports-1:0][IndexWidth:0] waited_q;
  logic too_long;

  always_comb begin
    too_long = 1'b0;
    for (int unsigned i = 0; i < Ports; i++) too_long |= 32'(waited_q[i]) >= Ports;
  end

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    for (int unsigned i = 0; i < Ports; i++) begin
      if (!request_i[i] || (used_i && grant[i])) waited_q[i] <= '0;
      else if (used_i) waited_q[i] <= waited_q[i] + 1'b1;
      if (rst_q) waited_q[i] <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      a_valid : assert (valid == (request_i != '0));
      a_one : assert ((grant & (grant - Ports'(1))) == '0);
      a_given : assert (valid == (grant != '0));
      a_asked : assert ((grant & ~request_i) == '0);
      a_index : assert (valid ? grant[index] : index == '0);
      a_lowest : assert (Round || grant == (request_i & ~(request_i - Ports'(1))));
      a_waits : assert (!Round || !too_long);
      c_waits : cover (!Round || 32'(waited_q[Ports-1]) == Ports - 1);
      c_high : cover (grant[Ports-1]);
    end
  end
endmodule
