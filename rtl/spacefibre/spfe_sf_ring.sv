// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Ring of words that takes and returns up to Banks words in a cycle, from any position. The words
/// are spread over banks, that at position P in bank P mod Banks, and are in the order of the banks
/// at both ports; spfe_sf_turn brings them into that of their positions.
module spfe_sf_ring
  import spfe_sf_pkg::*;
#(
  /// Number of banks, a power of two, 1 to 16.
  parameter int unsigned Banks = 1,
  /// Number of words, a power of two, at least twice Banks.
  parameter int unsigned Words = 256,
  /// Check bits of the memory; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a position; follows from Words.
  localparam int unsigned PosWidth = $clog2(Words)
) (
  input logic clk_i,
  /// Position of the first word to write; the others follow it.
  input logic [PosWidth-1:0] pos_i,
  /// Word for each bank.
  input word_t [Banks-1:0] words_i,
  /// Banks that take it.
  input logic [Banks-1:0] we_i,
  /// Starts a read; otherwise words_o keeps its value.
  input logic re_i,
  /// Position of the first word to read.
  input logic [PosWidth-1:0] rpos_i,
  /// Word read from each bank, one cycle after re_i. One that was not written has any value.
  output word_t [Banks-1:0] words_o,
  /// A wrong bit was corrected.
  output logic corrected_o,
  /// A word is wrong.
  output logic failed_o
);
  if (Banks < 1 || Banks > 16 || (Banks & (Banks - 1)) != 0 || (Words & (Words - 1)) != 0
      || Words < 2 * Banks) begin : gen_bad
    $error(
      "spfe_sf_ring: Banks is %0d, a power of two, 1 to 16; Words %0d, one from %0d",
      Banks,
      Words,
      2 * Banks
    );
  end

  localparam int unsigned BankWidth = $clog2(Banks);
  localparam int unsigned AddrWidth = PosWidth - BankWidth;

  logic [Banks-1:0] corrected;
  logic [Banks-1:0] failed;
  // Place of the first word in its bank, and the place behind it, for the banks before the first.
  logic [AddrWidth-1:0] at, behind, rat, rbehind;
  assign at = pos_i[PosWidth-1:BankWidth];
  assign rat = rpos_i[PosWidth-1:BankWidth];
  assign behind = at + 1'b1;
  assign rbehind = rat + 1'b1;
  assign corrected_o = corrected != '0;
  assign failed_o = failed != '0;

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic wraps, rwraps;
    if (b == Banks - 1) begin : gen_last
      assign {wraps, rwraps} = '0;
    end else begin : gen_other
      assign wraps = pos_i[BankWidth-1:0] > BankWidth'(b);
      assign rwraps = rpos_i[BankWidth-1:0] > BankWidth'(b);
    end
    spfe_ram_safe #(
      .Width($bits(word_t)),
      .Depth(Words / Banks),
      .Protect(Protect)
    ) i_ram (
      .clk_i,
      .we_i(we_i[b]),
      .addr_i(wraps ? behind : at),
      .data_i(words_i[b]),
      .rclk_i(clk_i),
      .re_i,
      .raddr_i(rwraps ? rbehind : rat),
      .data_o(words_o[b]),
      .corrected_o(corrected[b]),
      .failed_o(failed[b])
    );
  end
endmodule
