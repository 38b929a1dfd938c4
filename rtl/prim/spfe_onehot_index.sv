// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Number of the one bit that is set: an OR of bits, without priority.
module spfe_onehot_index #(
  /// Bits to look at; 2 or more.
  parameter int unsigned Width = 8,
  /// Bits of an index; follows from Width.
  localparam int unsigned IndexWidth = $clog2(Width)
) (
  /// At most one bit is set.
  input logic [Width-1:0] onehot_i,
  /// Its number; zero if none is set.
  output logic [IndexWidth-1:0] index_o
);
  if (Width < 2) begin : gen_bad_width
    $error("spfe_onehot_index: Width is %0d; 2 or more is possible", Width);
  end

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < Width; i++) begin
      if (onehot_i[i]) index_o |= IndexWidth'(i);
    end
  end
endmodule
