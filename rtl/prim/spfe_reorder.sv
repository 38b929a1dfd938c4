// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reorder buffer: answers of several words arrive for slots in any order, interleaved or not, and
/// leave in the order in which the slots were given out. A slot has room for a whole answer before
/// it is given out, so an answer never waits. A word leaves once the next one or the end is there.
module spfe_reorder #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 128,
  /// Number of slots, a power of two, 2 or more.
  parameter int unsigned Slots = 4,
  /// Words in an answer at most, a power of two, 2 or more.
  parameter int unsigned Words = 16,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a slot's number; follows from Slots.
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input logic clk_i,
  input logic rst_i,
  /// Number of the slot that is given out next.
  output logic [SlotWidth-1:0] slot_o,
  /// A slot is free.
  output logic slot_valid_o,
  /// The slot is taken.
  input logic slot_ready_i,
  /// Word of an answer.
  input logic [Width-1:0] data_i,
  /// Slot of the answer, given out ahead; with data_i.
  input logic [SlotWidth-1:0] slot_i,
  /// The word ends its answer; with data_i.
  input logic last_i,
  /// There is always room.
  input logic valid_i,
  /// Oldest word.
  output logic [Width-1:0] data_o,
  /// The word ends its answer; with data_o.
  output logic last_o,
  output logic valid_o,
  input logic ready_i,
  /// For one cycle, with data_o: a bit was corrected.
  output logic corrected_o,
  /// For one cycle, with data_o: the word is wrong.
  output logic failed_o
);
  localparam int unsigned WordWidth = $clog2(Words);

  if (Slots < 2 || (Slots & (Slots - 1)) != 0) begin : gen_bad_slots
    $error("spfe_reorder: Slots is %0d; powers of two from 2 are possible", Slots);
  end
  if (Words < 2 || (Words & (Words - 1)) != 0) begin : gen_bad_words
    $error("spfe_reorder: Words is %0d; powers of two from 2 are possible", Words);
  end

  // Slots given out and slots read; the difference is what is in use.
  logic [SlotWidth:0] head_q;
  logic [SlotWidth:0] tail_q;
  // Words of each slot that have arrived, and whether its answer is complete.
  logic [Slots-1:0][WordWidth:0] count_q;
  logic [Slots-1:0] whole_q;
  // Word of the oldest slot that is read next.
  logic [WordWidth:0] next_q;
  logic valid_q;
  logic last_q;

  logic [SlotWidth-1:0] oldest;
  logic newest;
  logic go;
  logic give;

  assign slot_o = head_q[SlotWidth-1:0];
  assign slot_valid_o = head_q - tail_q != (SlotWidth + 1)'(Slots);
  assign give = slot_valid_o && slot_ready_i;
  assign oldest = tail_q[SlotWidth-1:0];
  assign valid_o = valid_q;
  assign last_o = last_q;

  // The newest word leaves when the answer is complete: only then is it known to be the last one.
  assign newest = next_q + 1'b1 == count_q[oldest];
  assign go = tail_q != head_q && next_q != count_q[oldest] && (whole_q[oldest] || !newest)
      && (!valid_q || ready_i);

  always_ff @(posedge clk_i) begin
    if (give) begin
      head_q <= head_q + 1'b1;
      count_q[slot_o] <= '0;
      whole_q[slot_o] <= 1'b0;
    end
    if (valid_i) begin
      count_q[slot_i] <= count_q[slot_i] + 1'b1;
      whole_q[slot_i] <= last_i;
    end
    if (go) begin
      next_q <= newest ? '0 : next_q + 1'b1;
      last_q <= newest;
      if (newest) tail_q <= tail_q + 1'b1;
    end
    valid_q <= go || (valid_q && !ready_i);
    if (rst_i) begin
      head_q <= '0;
      tail_q <= '0;
      next_q <= '0;
      valid_q <= 1'b0;
    end
  end

  spfe_ram_safe #(
    .Width(Width),
    .Depth(Slots * Words),
    .Block(Slots * Words > 64),
    .Protect(Protect)
  ) i_mem (
    .clk_i,
    .we_i(valid_i),
    .addr_i({slot_i, count_q[slot_i][WordWidth-1:0]}),
    .data_i,
    .rclk_i(clk_i),
    .re_i(go),
    .raddr_i({oldest, next_q[WordWidth-1:0]}),
    .data_o,
    .corrected_o,
    .failed_o
  );

`ifndef SYNTHESIS
  // Number of slots given out before this one that are still in use.
  logic [SlotWidth-1:0] ahead;
  assign ahead = slot_i - oldest;

  always_ff @(posedge clk_i) begin
    if (!rst_i && valid_i) begin
      a_known :
      assert ((SlotWidth + 1)'(ahead) < head_q - tail_q)
      else $error("an answer for slot %0d, which was not given out", slot_i);
      a_room :
      assert (!whole_q[slot_i] && count_q[slot_i] != (WordWidth + 1)'(Words))
      else $error("slot %0d gets more than %0d words", slot_i, Words);
    end
  end
`endif
endmodule
