// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Random requests to spfe_arb_weighted and spfe_arb_max, and random credit through spfe_credit,
/// against models. While all ports request, their shares follow the weights exactly.
module tb_share
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Number of requesters.
  parameter int unsigned Ports = 5,
  /// Cycles to run.
  parameter int unsigned Cycles = 20000
);
  localparam int unsigned IndexWidth = $clog2(Ports);
  localparam int unsigned Most = 37;

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  int unsigned cycles = 0;

  initial begin
    run = chosen(Name);
    if (run) #100 rst = 1'b0;
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  logic [Ports-1:0][3:0] weight;
  logic [Ports-1:0] request = '0;
  logic used = 1'b0;
  logic [Ports-1:0] grant;
  logic [IndexWidth-1:0] index;
  logic valid;
  spfe_arb_weighted #(.Ports(Ports)) i_weighted (
    .clk_i(clk), .rst_i(rst), .weight_i(weight), .request_i(request), .used_i(used),
    .grant_o(grant), .index_o(index), .valid_o(valid)
  );

  logic [Ports-1:0][7:0] value;
  logic max_valid;
  logic [IndexWidth-1:0] max_index;
  logic [7:0] max_value;
  spfe_arb_max #(.Ports(Ports), .Width(8)) i_max (
    .clk_i(clk), .rst_i(rst),
    .request_i(request), .value_i(value), .valid_o(max_valid), .index_o(max_index),
    .value_o(max_value)
  );

  logic [$clog2(Most+1)-1:0] give = '0, take = '0, credit;
  logic overflow;
  int unsigned held = 5;
  bit over = 1'b0;
  spfe_credit #(.Max(Most), .Initial(5)) i_credit (
    .clk_i(clk), .rst_i(rst), .give_i(give), .take_i(take), .credit_o(credit), .overflow_o(overflow)
  );

  initial for (int i = 0; i < Ports; i++) weight[i] = 4'(i * 3);

  // In the first half all ports request all the time: a turn of port i has weight[i] + 1 grants.
  int unsigned turn = 0;
  int unsigned left = 0;

  always @(posedge clk) begin
    cycles <= cycles + 1;
    request <= cycles < Cycles / 2 ? '1 : Ports'($urandom);
    used <= chance(70);
    for (int i = 0; i < Ports; i++) value[i] <= 8'($urandom_range(9));

    if (!rst && request != '0) begin
      int best;
      best = -1;
      for (int i = 0; i < Ports; i++)
        if (request[i] && (best < 0 || value[i] > value[best])) best = i;
      if (!max_valid || 32'(max_index) != best || max_value != value[best])
        $fatal(1, "port %0d with %0d is greatest, not port %0d", best, value[best], max_index);
      if (!valid || !$onehot(grant) || (grant & ~request) != '0 || grant[index] != 1'b1)
        $fatal(1, "grant %b of requests %b", grant, request);
    end
    if (!rst && request == '0 && (valid || max_valid || grant != '0)) $fatal(1, "a grant of nothing");
    if (!rst && cycles < Cycles / 2 && request == '1 && used) begin
      if (left == 0) begin
        turn <= 32'(index);
        left <= 32'(weight[index]);
        if (cycles > 100 && 32'(index) != (turn + 1) % Ports)
          $fatal(1, "port %0d has its turn after port %0d", index, turn);
      end else begin
        if (32'(index) != turn) $fatal(1, "the turn of port %0d ends %0d grants early", turn, left);
        left <= left - 1;
      end
    end

    give <= chance(40) ? 6'($urandom_range(9)) : '0;
    take <= '0;
    if (!rst) begin
      int unsigned sum;
      if (32'(credit) != held) $fatal(1, "the credit is %0d instead of %0d", credit, held);
      if (overflow != over) $fatal(1, "overflow is %b", overflow);
      sum = held - 32'(take) + 32'(give);
      over <= sum > Most;
      held <= sum > Most ? Most : sum;
      // What is left after this cycle may be taken in the next.
      if (chance(50)) take <= 6'($urandom_range(held - 32'(take)));
    end
    if (cycles == Cycles) passed(Name, 3 * Cycles);
  end
endmodule
