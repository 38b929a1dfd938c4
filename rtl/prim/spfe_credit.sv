// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Credit counter: the receiver gives, the sender takes what is there. Giving beyond Max keeps Max
/// and reports an overflow (ECSS-E-ST-50-11C, 5.7.3, for SpaceFibre's credit).
module spfe_credit #(
  /// Largest credit, 1 or more.
  parameter int unsigned Max = 1024,
  /// Credit after reset, 0 to Max.
  parameter int unsigned Initial = 0,
  /// Bits of the credit; follows from Max.
  localparam int unsigned Width = $clog2(Max + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Credit from the receiver, in this cycle; 0 gives none.
  input logic [Width-1:0] give_i,
  /// Credit that the sender uses in this cycle, at most credit_o; 0 takes none.
  input logic [Width-1:0] take_i,
  /// Credit that the sender may take.
  output logic [Width-1:0] credit_o,
  /// For one cycle: what was given did not fit.
  output logic overflow_o
);
  if (Max < 1 || Initial > Max) begin : gen_bad_max
    $error("spfe_credit: Initial is %0d and Max %0d; 0 <= Initial <= Max, 1 <= Max", Initial, Max);
  end

  logic [Width-1:0] credit_q;
  logic overflow_q;
  logic [Width:0] sum;
  logic over;

  assign sum = {1'b0, credit_q - take_i} + {1'b0, give_i};
  assign over = sum > (Width + 1)'(Max);
  assign credit_o = credit_q;
  assign overflow_o = overflow_q;

  always_ff @(posedge clk_i) begin
    credit_q <= over ? Width'(Max) : sum[Width-1:0];
    overflow_q <= over;
    if (rst_i) begin
      credit_q <= Width'(Initial);
      overflow_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_take :
    assert (rst_i || take_i <= credit_q)
    else $error("takes %0d of %0d", take_i, credit_q);
  end
`endif
endmodule
