// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sends rows over the lanes: one word on each data-sending lane, with scrambling and the CRC-16 of
/// each lane; SKIP, ACTIVE and ALIGN when they are due (ECSS-E-ST-50-11C, 5.6.4.2).
module spfe_sf_row_tx
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
#(
  /// Lanes, 2 to 16.
  parameter int unsigned Lanes = 4,
  /// Words from SKIP to SKIP; 0: none.
  parameter int unsigned SkipInterval = 5000,
  /// Word periods with IDLE only after a lane has become active.
  parameter int unsigned ActiveIdleWords = 0,
  /// 1: the CRC-16 covers the words as they are on the line; 0: before scrambling.
  parameter bit CrcCoversScrambled = 1'b1,
  /// The number in an ALIGN counts 0: transmitting lanes, 1: active lanes.
  parameter bit AlignCountsActive = 1'b0,
  /// In Near-End Ready, while the far end sends ACTIVE, put an ACTIVE before each ALIGN.
  parameter bit RepeatsActive = 1'b1,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Words of a word period are sent.
  input logic go_i,
  /// Link reset.
  input logic clear_i,

  /// Active lanes.
  input logic [Lanes-1:0] active_i,
  /// Active lanes that send.
  input logic [Lanes-1:0] transmitting_i,
  /// Lanes that carry rows.
  input logic [Lanes-1:0] sending_i,
  /// Number of them.
  input logic [CountWidth-1:0] sending_count_i,
  /// Only lane 0 is used, as a single lane.
  input logic bypass_i,
  /// A lane became active.
  input logic fresh_i,
  /// Lane 0 takes no word: it sends back what it receives.
  input logic loops_back_i,
  /// State of the alignment.
  input alignment_e alignment_i,
  /// The words sent since the last ALIGN count from here.
  input logic restart_i,
  /// A valid ACTIVE came.
  input logic asked_i,
  /// Data frames are scrambled on these lanes.
  input logic [Lanes-1:0] scrambled_i,

  /// Row of the data link layer.
  input row_kind_e row_i,
  /// Its words; a control word is in word 0.
  input word_t [Lanes-1:0] words_i,
  /// Number of data words, at most width_o.
  input logic [CountWidth-1:0] count_i,
  /// A row is taken.
  output logic ready_o,
  /// Number of data words in a row; 0 while the lanes are not aligned.
  output logic [CountWidth-1:0] width_o,

  /// Word for each lane; it stays until the next go_i.
  output word_t [Lanes-1:0] lane_o,
  output logic [Lanes-1:0] lane_valid_o
);
  localparam int unsigned SkipWidth = $clog2(SkipInterval + 2);
  localparam int unsigned HeldWidth = $clog2(ActiveIdleWords + 2);

  /// Contents of a word period.
  typedef enum logic [2:0] {
    SlotNothing,
    SlotSkip,
    SlotActive,
    SlotAlign,
    SlotRow
  } slot_e;

  /// Source of the word of a lane.
  typedef enum logic [1:0] {
    FromRow,
    FromCrc,  // an EDF
    FromRandom,
    FromOther
  } from_e;

  slot_e slot;
  logic [SkipWidth-1:0] skip_q;
  logic [HeldWidth-1:0] held_q;
  logic [2:0] position_q;
  logic asked_q, skip_due, held, counts;
  logic [Lanes-1:0] sending, reserve;
  logic [15:0] prbs_q, prbs_next;
  logic [31:0] random;
  logic [3:0] align_count;
  logic [Lanes-1:0][CountWidth-1:0] place;
  word_t [Lanes-1:0] word, lane_q;
  logic [Lanes-1:0] valid, lane_valid_q;

  assign held = held_q != '0;
  assign skip_due = SkipInterval != 0 && skip_q == '0;
  assign sending = bypass_i ? active_i & Lanes'(1) : sending_i;
  assign reserve = bypass_i ? '0 : transmitting_i & ~sending_i;
  always_comb begin
    width_o = alignment_i == AlNotReady ? '0 : sending_count_i;
    if (bypass_i) width_o = CountWidth'(active_i[0]);
  end

  always_comb begin
    slot = SlotRow;
    if (bypass_i) begin
      if (loops_back_i || !active_i[0] || held) slot = SlotNothing;
      else if (skip_due) slot = SlotSkip;
    end else if (transmitting_i == '0) begin
      slot = SlotNothing;
    end else if (skip_due) begin
      slot = SlotSkip;
    end else if (held) begin
      slot = SlotNothing;
    end else if (alignment_i == AlNotReady) begin
      slot = position_q < 3'(BetweenAligns) ? SlotActive : SlotAlign;
    end else if (alignment_i == AlNearEndReady) begin
      if (position_q >= 3'(BetweenAligns)) slot = SlotAlign;
      else if (asked_q && position_q == 3'(BetweenAligns - 1)) slot = SlotActive;
    end
  end
  assign ready_o = go_i && slot == SlotRow;
  // SKIP goes on while rows are held back, because the far end's elastic buffer needs it.
  assign counts = bypass_i ? !held && active_i[0] && !loops_back_i : !held || transmitting_i != '0;

  always_comb begin
    align_count = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      align_count = align_count + 4'(AlignCountsActive ? active_i[l] : transmitting_i[l]);
    end
  end

  spfe_lfsr i_idle (
    .state_i(prbs_q),
    .state_o(prbs_next),
    .bits_o(random)
  );

  // Place of each lane among the data-sending ones.
  always_comb begin
    logic [CountWidth-1:0] below;
    below = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      place[l] = below;
      below = below + CountWidth'(sending[l]);
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    word_t plain, sent, other;
    logic [15:0] crc;
    logic [7:0] align;
    logic pad;
    from_e from;

    // Only data is distributed. A lane has at most the place of its number.
    if (l == 0) begin : gen_first
      assign plain = words_i[0];
    end else begin : gen_other
      logic [$clog2(l+1)-1:0] chosen;
      word_t [(1<<$clog2(l+1))-1:0] words;
      assign chosen = row_i == RowData ? place[l][$clog2(l+1)-1:0] : '0;
      always_comb begin
        for (int unsigned i = 0; i < 1 << $clog2(l + 1); i++) words[i] = words_i[i>l?l : i];
      end
      assign plain = words[chosen];
    end
    spfe_sf_column_tx #(
      .CrcCoversScrambled(CrcCoversScrambled),
      .Chained(1'b1)
    ) i_column (
      .clk_i,
      .rst_i,
      .scrambled_i(scrambled_i[l]),
      .row_i,
      .word_i(plain),
      .pad_i(pad),
      .take_i(ready_o && row_i != RowNone && (sending[l] || row_i == RowSdf)),
      .word_o(sent),
      .crc_o(crc)
    );

    assign pad = place[l] >= count_i;
    assign align = {4'(l), align_count};
    // What is no word of a row.
    always_comb begin
      other = PadWord;
      if (slot == SlotSkip) other = Skip;
      if (slot == SlotActive) other = '{k: 4'h1, bits: {16'(active_i), NameActive, Comma}};
      if (slot == SlotAlign) other = '{k: 4'h1, bits: {~align, align, NameAlign, Comma}};
      if (slot == SlotAlign && reserve[l]) other.bits[31:16] = '0;
    end
    always_comb begin
      from = FromOther;
      if (slot == SlotRow) begin
        if (row_i == RowEdf) from = FromCrc;
        else if (row_i != RowData || !pad) from = FromRow;
        if (reserve[l]) from = FromRandom;
      end
    end
    always_comb begin
      case (from)
        FromRow: word[l] = sent;
        FromCrc: word[l] = '{k: sent.k, bits: {crc, sent.bits[15:0]}};
        FromRandom: word[l] = '{k: 4'h0, bits: random};
        default: word[l] = other;
      endcase
    end
    always_comb begin
      valid[l] = 1'b0;
      unique case (slot)
        SlotSkip: valid[l] = bypass_i ? l == 0 : transmitting_i[l];
        SlotActive, SlotAlign: valid[l] = transmitting_i[l];
        SlotRow: valid[l] = reserve[l] || (sending[l] && row_i != RowNone);
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (go_i) begin
      lane_q <= word;
      lane_valid_q <= valid;
      if (held) held_q <= held_q - 1'b1;
      if (counts) begin
        if (slot == SlotSkip) skip_q <= SkipWidth'(SkipInterval - 1);
        else if (skip_q != '0) skip_q <= skip_q - 1'b1;
      end
      if (!bypass_i && !held) begin
        if (slot == SlotAlign) begin
          position_q <= '0;
          asked_q <= 1'b0;
        end else if (slot != SlotSkip && position_q != '1) begin
          position_q <= position_q + 1'b1;
        end
      end
      if (slot == SlotRow && reserve != '0) prbs_q <= prbs_next;
    end
    if (asked_i && RepeatsActive) asked_q <= 1'b1;
    if (restart_i || clear_i) position_q <= '0;
    if (fresh_i) held_q <= HeldWidth'(ActiveIdleWords);
    if (clear_i) prbs_q <= '1;
    if (rst_i) begin
      skip_q <= SkipWidth'(SkipInterval);
      held_q <= '0;
      position_q <= '0;
      asked_q <= 1'b0;
      prbs_q <= '1;
      lane_valid_q <= '0;
    end
  end
  assign lane_o = lane_q;
  assign lane_valid_o = lane_valid_q;
endmodule
