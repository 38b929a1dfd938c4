// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds the first bit that is set, from either end.
module spfe_first_one #(
  /// Bits to look at; 2 or more.
  parameter int unsigned WIDTH    = 8,
  /// 0: the lowest bit that is set is the first one; 1: the highest.
  parameter bit          FROM_TOP = 1'b0,
  /// Bits of an index; follows from WIDTH.
  localparam int unsigned INDEX_WIDTH = $clog2(WIDTH)
) (
  /// Bits to look at.
  input  logic [WIDTH-1:0]       data_i,
  /// A bit is set.
  output logic                   found_o,
  /// The first one by itself; zero if none is set.
  output logic [WIDTH-1:0]       onehot_o,
  /// The number of the first one; zero if none is set.
  output logic [INDEX_WIDTH-1:0] index_o
);
  if (WIDTH < 2) begin : gen_bad_width
    $error("spfe_first_one: WIDTH is %0d; 2 or more is possible", WIDTH);
  end

  logic [WIDTH-1:0] ordered;
  logic [WIDTH-1:0] lowest;

  // Reversing is wiring; x & -x leaves the lowest one.
  if (FROM_TOP) begin : gen_top
    assign ordered  = {<<{data_i}};
    assign onehot_o = {<<{lowest}};
  end else begin : gen_bottom
    assign ordered  = data_i;
    assign onehot_o = lowest;
  end

  assign lowest  = ordered & (~ordered + WIDTH'(1));
  assign found_o = data_i != '0;

  spfe_onehot_index #(.WIDTH(WIDTH)) encode (.onehot_i(onehot_o), .index_o);
endmodule
