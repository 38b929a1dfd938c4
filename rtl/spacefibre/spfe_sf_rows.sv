// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Makes the words of the rows that spfe_sf_transmit chooses: data from the output buffers,
/// pseudo-random words of idle frames (ECSS-E-ST-50-11C, 5.7.6.2) and CRC-8 (5.7.6.5). Two
/// registers lie between the choice and the row.
module spfe_sf_rows
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Bits of a virtual channel; follows from Vcs.
  localparam int unsigned VcWidth = Vcs > 1 ? $clog2(Vcs) : 1,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Banks of an output buffer; follows from Lanes.
  localparam int unsigned Banks = 1 << $clog2(Lanes),
  /// Bits of the number of a bank; follows from Lanes.
  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: rows on their way are dropped, and the pseudo-random words start again.
  input logic clear_i,
  /// The registers move: a row may be decided.
  output logic move_o,

  /// A row is decided in this cycle.
  input logic go_i,
  /// Its kind.
  input row_kind_e row_i,
  /// For a control row: the word without CRC-8.
  input logic [31:0] word_i,
  /// The word is data: of a broadcast frame, or with idle_i.
  input logic data_word_i,
  /// The word is pseudo-random.
  input logic idle_i,
  /// The word gets a CRC-8 over its first three symbols.
  input logic seal_i,
  /// It is an SBF.
  input logic broadcast_first_i,
  /// It is an EBF.
  input logic broadcast_last_i,
  /// For data: output buffer of its words.
  input logic [VcWidth-1:0] data_vc_i,
  /// Bank of the first of them.
  input logic [BankWidth-1:0] data_pos_i,
  /// Their number.
  input logic [CountWidth-1:0] data_count_i,
  /// Row that each output buffer reads, a cycle after the decision; see spfe_sf_output.
  input word_t [Vcs-1:0][Banks-1:0] data_i,

  /// Row to the lanes.
  output row_kind_e row_o,
  /// Its words; a control word is in word 0.
  output word_t [Lanes-1:0] words_o,
  /// Number of data words, at most width_i.
  output logic [CountWidth-1:0] count_o,
  /// Data-sending lanes. If they are fewer than when the row was decided, it becomes several rows.
  input logic [CountWidth-1:0] width_i,
  /// The row is taken.
  input logic ready_i
);
  typedef struct packed {
    row_kind_e row;
    logic [31:0] word;
    logic data_word;
    logic idle;
    logic seal;
    logic broadcast_first;
    logic broadcast_last;
    logic [VcWidth-1:0] vc;
    logic [BankWidth-1:0] pos;
    logic [CountWidth-1:0] count;
  } choice_t;

  choice_t choice_q;
  row_kind_e row_q;
  // Words of a row in the order of the banks; a control word is in bank 0.
  word_t [Banks-1:0] words_q, words, read;
  // Bank of the first.
  logic [BankWidth-1:0] pos_q, pos;
  logic [CountWidth-1:0] count_q;
  logic [15:0] prbs_q, prbs_next;
  logic [31:0] random;
  logic [7:0] crc_q, crc_next, crc_last;
  logic move, wide;

  assign wide = row_q == RowData && count_q > width_i;
  assign move = row_q == RowNone || (ready_i && !wide);
  assign move_o = move;

  spfe_lfsr i_random (
    .state_i(prbs_q),
    .state_o(prbs_next),
    .bits_o(random)
  );
  spfe_crc #(
    .Width(8),
    .Poly(8'hE0),
    .Bytes(4)
  ) i_crc (
    .crc_i(choice_q.broadcast_first ? 8'd0 : crc_q),
    .data_i(choice_q.word),
    .crc_o(crc_next)
  );
  spfe_crc #(
    .Width(8),
    .Poly(8'hE0),
    .Bytes(3)
  ) i_crc_last (
    .crc_i(choice_q.broadcast_last ? crc_q : 8'd0),
    .data_i(choice_q.word[23:0]),
    .crc_o(crc_last)
  );

  assign read = data_i[choice_q.vc];
  always_comb begin
    words = read;
    pos = pos_q + BankWidth'(width_i);
    if (move) pos = choice_q.row == RowData ? choice_q.pos : '0;
    if (choice_q.row != RowData) begin
      words[0] = '{k: 4'(!choice_q.data_word), bits: choice_q.word};
      if (choice_q.idle) words[0].bits = random;
      if (choice_q.seal || choice_q.broadcast_last) words[0].bits[31:24] = crc_last;
    end
  end

  always_ff @(posedge clk_i) begin
    if (move) begin
      choice_q <= '{
        row: go_i ? row_i : RowNone,
        word: word_i,
        data_word: data_word_i,
        idle: idle_i,
        seal: seal_i,
        broadcast_first: broadcast_first_i,
        broadcast_last: broadcast_last_i,
        vc: data_vc_i,
        pos: Banks > 1 ? data_pos_i : '0,
        count: data_count_i
      };
      row_q <= choice_q.row;
      words_q <= words;
      for (int unsigned b = 0; b < Banks; b++) begin
        if (Banks > 1 && choice_q.row == RowData && is_eep_mark(read[b])) words_q[b] <= EepWord;
      end
      count_q <= choice_q.count;
      if (choice_q.row == RowControl && choice_q.idle) prbs_q <= prbs_next;
      // No other row is between those of a broadcast frame.
      if (choice_q.row == RowControl) crc_q <= crc_next;
    end
    if (ready_i && wide) count_q <= count_q - width_i;
    if (move || (ready_i && wide)) pos_q <= pos;
    if (rst_i || clear_i) begin
      choice_q.row <= RowNone;
      row_q <= RowNone;
      prbs_q <= '1;
    end
  end

  spfe_sf_turn #(
    .Banks(Banks),
    .Lanes(Lanes)
  ) i_turn (
    .clk_i,
    .load_i(move || (ready_i && wide)),
    .first_i(pos),
    .words_i(words_q),
    .words_o
  );
  assign row_o = row_q;
  assign count_o = wide ? width_i : count_q;
endmodule
