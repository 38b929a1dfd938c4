// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Word synchronisation of a receiver (ECSS-E-ST-50-11C, 5.5.7, 5.5.8). Each word leaves one cycle
/// late, because a damaged word makes an RXERR of the word before it, too.
module spfe_sf_word_sync
  import spfe_sf_pkg::*;
#(
  /// Number of damaged words in a row that lose synchronisation, 1 to 15. The one that ends Ready
  /// counts as the first.
  parameter int unsigned ErrorWords = 5
) (
  input logic clk_i,
  input logic rst_i,
  /// Loses synchronisation, and the words before this cycle: the receiver is off.
  input logic lose_i,
  /// The word boundary moved: this word is lost, and the one before it stays (5.5.7). A comma in it
  /// starts the synchronisation again.
  input logic moved_i,
  /// Word from the line, in each cycle; a damaged symbol is K0.0.
  input word_t word_i,
  /// A symbol of it is damaged.
  input logic bad_i,
  /// The word before, or RXERR.
  output word_t word_o,
  /// Its kind for the lane layer.
  output lane_kind_e kind_o,
  /// It is RXERR instead, because the word of this cycle is damaged.
  output logic damaged_o,
  /// Words are being received.
  output logic synced_o
);
  if (ErrorWords < 1 || ErrorWords > 15) begin : gen_bad_words
    $error("spfe_sf_word_sync: ErrorWords is %0d; 1 to 15 are possible", ErrorWords);
  end

  typedef enum logic [1:0] {
    LostSync,
    CheckSync,
    Ready
  } sync_e;

  sync_e sync_q, sync_d, sync;
  logic [3:0] errors_q, errors_d;
  word_t held_q;
  lane_kind_e kind_q;
  logic comma;
  // The word of this cycle is damaged or belongs to no known boundary.
  logic rxerr;

  assign comma = word_i.k[0] && (word_i.bits[7:0] == Comma || word_i.bits[7:0] == InitComma);

  assign sync = moved_i ? LostSync : sync_q;
  always_comb begin
    sync_d = sync;
    errors_d = errors_q;
    unique case (sync)
      LostSync: begin
        errors_d = '0;
        if (!bad_i && comma) sync_d = CheckSync;
      end
      CheckSync: begin
        if (!bad_i) sync_d = Ready;
        else errors_d = errors_q + 1'b1;
      end
      default: begin
        errors_d = 4'(bad_i);
        if (bad_i) sync_d = CheckSync;
      end
    endcase
    if (sync != LostSync && bad_i && 32'(errors_d) >= ErrorWords) sync_d = LostSync;
  end

  assign rxerr = bad_i || sync == LostSync;
  // In LostSync the words before are RXERR already.
  assign word_o = held_q;
  assign kind_o = kind_q;
  assign damaged_o = bad_i && sync != LostSync;
  assign synced_o = sync_q != LostSync;

  always_ff @(posedge clk_i) begin
    sync_q <= sync_d;
    errors_q <= errors_d;
    held_q <= rxerr ? RxErr : word_i;
    kind_q <= rxerr ? LaneError : lane_kind(word_i);
    if (rst_i || lose_i) begin
      sync_q <= LostSync;
      errors_q <= '0;
      held_q <= RxErr;
      kind_q <= LaneError;
    end
  end
endmodule
