// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Encodes a one-hot word as a number, by OR gates without priority. Combinational.
module spfe_onehot_index #(
  /// Number of bits in onehot_i, 2 or more.
  parameter int unsigned Width = 8,
  /// Bits in an index; follows from Width.
  localparam int unsigned IndexWidth = $clog2(Width)
) (
  /// Word with at most one bit set.
  input logic [Width-1:0] onehot_i,
  /// Number of the bit that is set; zero if none is.
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
