// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Looks at the words that a lane hands up, for the alignment (ECSS-E-ST-50-11C, 5.6.4.4).
module spfe_sf_arrival
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Number of this lane.
  parameter int unsigned Lane = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// The words of a word period are here.
  input logic go_i,
  /// The lane has just become active.
  input logic fresh_i,
  /// The lane is active and receives.
  input logic receiving_i,
  /// Word of the lane.
  input word_t word_i,
  /// There is one.
  input logic valid_i,
  /// What it is.
  output arrival_t arrival_o
);
  arrival_t arrival;
  link_kind_e kind;
  logic is_active, is_align, character;
  logic [7:0] lanes, inverse;
  // Mask in the last ACTIVE.
  logic known_q;
  logic [15:0] mask_q;

  assign kind = link_kind(word_i);
  assign is_active = word_i.k == 4'h1 && word_i.bits[15:0] == {NameActive, Comma};
  assign is_align = word_i.k == 4'h1 && word_i.bits[15:0] == {NameAlign, Comma};
  assign character = word_i.bits[7:0] == Fill || word_i.bits[7:0] == Eop || word_i.bits[7:0] == Eep;
  assign lanes = word_i.bits[23:16];
  assign inverse = word_i.bits[31:24];

  always_comb begin
    arrival = '0;
    arrival.given = valid_i;
    arrival.valid = valid_i && receiving_i;
    arrival.kind = InRowControl;
    if (!word_i.k[0]) arrival.kind = InRowData;
    else if (word_i == PadWord) arrival.kind = InRowPad;
    else if (kind == LinkRxErr) arrival.kind = InRowError;
    else if (is_active) arrival.kind = InRowActive;
    else if (is_align) arrival.kind = InRowAlign;
    else if (character) arrival.kind = InRowData;
    arrival.same = is_active && known_q && mask_q == word_i.bits[31:16];
    arrival.correct = is_align && inverse == ~lanes;
    arrival.fits = arrival.correct && lanes[7:4] == 4'(Lane);
    arrival.reserve = is_align && {inverse, lanes} == '0;
    case (kind)
      LinkNothing, LinkData, LinkRxErr: arrival.data_link = word_i == PadWord;
      default: arrival.data_link = 1'b1;
    endcase
  end
  assign arrival_o = arrival;

  always_ff @(posedge clk_i) begin
    if (go_i && fresh_i) begin
      known_q <= 1'b0;
    end else if (go_i && arrival.valid && is_active) begin
      known_q <= 1'b1;
      mask_q <= word_i.bits[31:16];
    end
    if (rst_i) known_q <= 1'b0;
  end
endmodule
