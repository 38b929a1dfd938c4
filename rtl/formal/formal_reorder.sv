// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_reorder gives the words of all answers in the order of their slots, whatever the order in
/// which they arrive, and marks the end of each.
module formal_reorder #(
  /// Number of slots.
  parameter int unsigned Slots = 2
) (
  input logic clk_i,
  /// Free: a slot is taken.
  input logic take_i,
  /// Free: a word arrives.
  input logic valid_i,
  /// Free: for this slot.
  input logic slot_i,
  /// Free: the word.
  input logic data_i,
  /// Free: it ends its answer.
  input logic last_i,
  /// Free: watch the word of this cycle.
  input logic watch_i,
  /// Free: ready of the reader.
  input logic ready_i
);
  logic rst_q = 1'b1;
  logic slot;
  logic slot_valid;
  logic data;
  logic last;
  logic valid;
  logic unused_corrected;
  logic unused_failed;

  spfe_reorder #(
    .Width(1),
    .Slots(Slots),
    .Words(2)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .slot_o(slot),
    .slot_valid_o(slot_valid),
    .slot_ready_i(take_i),
    .data_i,
    .slot_i,
    .last_i,
    .valid_i,
    .data_o(data),
    .last_o(last),
    .valid_o(valid),
    .ready_i,
    .corrected_o(unused_corrected),
    .failed_o(unused_failed)
  );

  // Number of the answer that has each slot, its words so far, and whether more may come.
  logic [Slots-1:0][3:0] answer_q = '0;
  logic [Slots-1:0][1:0] words_q = '0;
  logic [Slots-1:0] open_q = '0;
  logic [3:0] given_q = '0;
  // Answer and word that leave next.
  logic [3:0] out_answer_q = '0;
  logic [1:0] out_word_q = '0;

  logic watching_q = 1'b0;
  logic [1:0] word_q = '0;
  logic [3:0] watch_answer_q = '0;
  logic [1:0] watch_word_q = '0;
  logic here;

  assign here = watching_q && out_answer_q == watch_answer_q && out_word_q == watch_word_q;

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (!rst_q) begin
      if (take_i && slot_valid) begin
        answer_q[slot] <= given_q;
        words_q[slot] <= '0;
        open_q[slot] <= 1'b1;
        given_q <= given_q + 1'b1;
      end
      if (valid_i) begin
        words_q[slot_i] <= words_q[slot_i] + 1'b1;
        open_q[slot_i] <= !last_i;
        if (watch_i && !watching_q) begin
          watching_q <= 1'b1;
          word_q <= {last_i, data_i};
          watch_answer_q <= answer_q[slot_i];
          watch_word_q <= words_q[slot_i];
        end
      end
      if (valid && ready_i) begin
        out_answer_q <= out_answer_q + 4'(last);
        out_word_q <= last ? '0 : out_word_q + 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    // Answers come for slots that are open, and end with their second word at the latest.
    m_open : assume (!valid_i || (!rst_q && open_q[slot_i]));
    m_ends : assume (words_q[slot_i] != 2'd1 || last_i);
    if (!rst_q) begin
      if (valid && here) a_word : assert ({last, data} == word_q);
      if (valid) a_given : assert (out_answer_q != given_q);
      c_mixed :
      cover (valid && here && watch_answer_q == 4'd0 && answer_q[1] == 4'd1 && !open_q[1]);
    end
  end
endmodule
