// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Number of the one bit that is set: an OR of bits, without priority.
module spfe_onehot_index #(
  /// Bits to look at; 2 or more.
  parameter int unsigned WIDTH = 8,
  /// Bits of an index; follows from WIDTH.
  localparam int unsigned INDEX_WIDTH = $clog2(WIDTH)
) (
  /// At most one bit is set.
  input  logic [WIDTH-1:0]       onehot_i,
  /// Its number; zero if none is set.
  output logic [INDEX_WIDTH-1:0] index_o
);
  if (WIDTH < 2) begin : gen_bad_width
    $error("spfe_onehot_index: WIDTH is %0d; 2 or more is possible", WIDTH);
  end

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < WIDTH; i++) begin
      if (onehot_i[i]) index_o |= INDEX_WIDTH'(i);
    end
  end
endmodule
