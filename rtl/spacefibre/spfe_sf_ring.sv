// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Ring of words that takes and returns up to Lanes words in a cycle, from any position. The words
/// are spread over banks: that at position P is in bank P mod Banks.
module spfe_sf_ring
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a cycle, 1 to 16.
  parameter int unsigned Lanes = 1,
  /// Number of words, a power of two, at least twice Lanes rounded up to a power of two.
  parameter int unsigned Words = 256,
  /// Check bits of the memory; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a position; follows from Words.
  localparam int unsigned PosWidth = $clog2(Words),
  /// Number of banks; follows from Lanes.
  localparam int unsigned Banks = 1 << $clog2(Lanes),
  /// Bits of the number of a word; follows from Lanes.
  localparam int unsigned FromWidth = Lanes > 1 ? $clog2(Lanes) : 1
) (
  input logic clk_i,
  /// Position of the first word to write; the others follow it.
  input logic [PosWidth-1:0] pos_i,
  /// Words.
  input word_t [Lanes-1:0] words_i,
  /// Banks that take a word.
  input logic [Banks-1:0] we_i,
  /// Number of the word that each bank takes, below Lanes; with we_i.
  input logic [Banks-1:0][FromWidth-1:0] from_i,
  /// The bank takes an EEP instead; with we_i.
  input logic [Banks-1:0] eep_i,
  /// Starts a read; otherwise words_o keeps its value.
  input logic re_i,
  /// Position of the first word to read.
  input logic [PosWidth-1:0] rpos_i,
  /// Words read, one cycle after re_i. Positions that were not written have any value.
  output word_t [Lanes-1:0] words_o,
  /// A wrong bit was corrected.
  output logic corrected_o,
  /// A word is wrong.
  output logic failed_o
);
  if (Lanes < 1 || Lanes > 16 || (Words & (Words - 1)) != 0 || Words < 2 * Banks) begin : gen_bad
    $error(
      "spfe_sf_ring: Lanes is %0d, 1 to 16; Words %0d, a power of two from %0d",
      Lanes,
      Words,
      2 * Banks
    );
  end

  word_t [Banks-1:0] read;
  logic [Banks-1:0] corrected;
  logic [Banks-1:0] failed;
  assign corrected_o = corrected != '0;
  assign failed_o = failed != '0;

  if (Banks == 1) begin : gen_one
    spfe_ram_safe #(
      .Width($bits(word_t)),
      .Depth(Words),
      .Protect(Protect)
    ) i_ram (
      .clk_i,
      .we_i(we_i[0]),
      .addr_i(pos_i),
      .data_i(eep_i[0] ? EepWord : words_i[0]),
      .rclk_i(clk_i),
      .re_i,
      .raddr_i(rpos_i),
      .data_o(read[0]),
      .corrected_o(corrected[0]),
      .failed_o(failed[0])
    );
    assign words_o[0] = read[0];
    logic unused;
    assign unused = ^from_i;
  end else begin : gen_banks
    localparam int unsigned BankWidth = $clog2(Banks);
    logic [BankWidth-1:0] first_q;

    for (genvar b = 0; b < Banks; b++) begin : gen_bank
      // The place in the row that belongs to this bank.
      logic [BankWidth-1:0] place, rplace;
      logic [PosWidth-1:0] at, rat;
      assign place = BankWidth'(b) - pos_i[BankWidth-1:0];
      assign rplace = BankWidth'(b) - rpos_i[BankWidth-1:0];
      assign at = pos_i + PosWidth'(place);
      assign rat = rpos_i + PosWidth'(rplace);
      spfe_ram_safe #(
        .Width($bits(word_t)),
        .Depth(Words / Banks),
        .Protect(Protect)
      ) i_ram (
        .clk_i,
        .we_i(we_i[b]),
        .addr_i(at[PosWidth-1:BankWidth]),
        .data_i(eep_i[b] ? EepWord : words_i[from_i[b]]),
        .rclk_i(clk_i),
        .re_i,
        .raddr_i(rat[PosWidth-1:BankWidth]),
        .data_o(read[b]),
        .corrected_o(corrected[b]),
        .failed_o(failed[b])
      );
      logic unused_low;
      assign unused_low = ^{at[BankWidth-1:0], rat[BankWidth-1:0]};
    end
    for (genvar i = 0; i < Lanes; i++) begin : gen_word
      assign words_o[i] = read[first_q+BankWidth'(i)];
    end
    always_ff @(posedge clk_i) if (re_i) first_q <= rpos_i[BankWidth-1:0];
  end
endmodule
