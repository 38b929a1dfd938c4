// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds the lowest or the highest bit that is set. Combinational.
module spfe_first_one #(
  /// Number of bits in data_i, 2 or more.
  parameter int unsigned Width = 8,
  /// 0: find the lowest bit that is set; 1: the highest.
  parameter bit FromTop = 1'b0,
  /// Bits in an index; follows from Width.
  localparam int unsigned IndexWidth = $clog2(Width)
) (
  /// Bits to search.
  input logic [Width-1:0] data_i,
  /// At least one bit is set.
  output logic found_o,
  /// The bit found, alone; zero if none is set.
  output logic [Width-1:0] onehot_o,
  /// Number of the bit found; zero if none is set.
  output logic [IndexWidth-1:0] index_o
);
  if (Width < 2) begin : gen_bad_width
    $error("spfe_first_one: Width is %0d; 2 or more is possible", Width);
  end

  logic [Width-1:0] ordered;
  logic [Width-1:0] lowest;

  // x & -x isolates the lowest one of x; reversing the bits costs no logic.
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
