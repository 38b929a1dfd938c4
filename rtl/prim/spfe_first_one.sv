// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds the first bit that is set, from either end.
module spfe_first_one #(
  /// Bits to look at; 2 or more.
  parameter int unsigned Width = 8,
  /// 0: the lowest bit that is set is the first one; 1: the highest.
  parameter bit FromTop = 1'b0,
  /// Bits of an index; follows from Width.
  localparam int unsigned IndexWidth = $clog2(Width)
) (
  /// Bits to look at.
  input logic [Width-1:0] data_i,
  /// A bit is set.
  output logic found_o,
  /// The first one by itself; zero if none is set.
  output logic [Width-1:0] onehot_o,
  /// The number of the first one; zero if none is set.
  output logic [IndexWidth-1:0] index_o
);
  if (Width < 2) begin : gen_bad_width
    $error("spfe_first_one: Width is %0d; 2 or more is possible", Width);
  end

  logic [Width-1:0] ordered;
  logic [Width-1:0] lowest;

  // Reversing is wiring; x & -x leaves the lowest one.
  if (FromTop) begin : gen_top
    assign ordered = {<<{data_i}};
    assign onehot_o = {<<{lowest}};
  end else begin : gen_bottom
    assign ordered = data_i;
    assign onehot_o = lowest;
  end

  assign lowest = ordered & (~ordered + Width'(1));
  assign found_o = data_i != '0;

  spfe_onehot_index #(
    .Width(Width)
  ) i_encode (
    .onehot_i(onehot_o),
    .index_o
  );
endmodule
