// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_credit holds what was given less what was taken, up to its limit, and reports each overflow.
module formal_credit #(
  /// Largest credit.
  parameter int unsigned Max = 11
) (
  input logic clk_i,
  /// Free: credit from the receiver.
  input logic [3:0] give_i,
  /// Free: credit that the sender takes.
  input logic [3:0] take_i
);
  logic rst_q = 1'b1;
  logic [3:0] credit;
  logic overflow;
  // The model counts without a limit of its width.
  logic [7:0] model_q = '0;
  logic over_q = 1'b0;
  logic [7:0] sum;

  spfe_credit #(
    .Max(Max)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .give_i,
    .take_i,
    .credit_o(credit),
    .overflow_o(overflow)
  );

  assign sum = model_q - 8'(take_i) + 8'(give_i);

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    model_q <= rst_q ? '0 : sum > 8'(Max) ? 8'(Max) : sum;
    over_q <= !rst_q && sum > 8'(Max);
  end

  always_ff @(posedge clk_i) begin
    m_take : assume (take_i <= credit);
    if (!rst_q) begin
      a_credit : assert (8'(credit) == model_q);
      a_limit : assert (32'(credit) <= Max);
      a_overflow : assert (overflow == over_q);
      c_overflow : cover (overflow);
      c_empty : cover (credit == '0 && model_q == '0 && take_i == '0 && give_i != '0);
    end
  end
endmodule
