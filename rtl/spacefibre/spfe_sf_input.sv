// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Input buffer of a virtual channel (ECSS-E-ST-50-11C, 5.7.2, 5.7.3). The words of a data frame
/// become readable when the frame is accepted. Room that was not granted to the far end yet asks
/// for an FCT.
module spfe_sf_input
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row and in a beat to the user.
  parameter int unsigned Lanes = 1,
  /// Words that an FCT grants.
  parameter int unsigned Quantum = SegmentWords,
  /// Words in the buffer, a power of two, at least Quantum and a segment.
  parameter int unsigned Words = 256,
  /// Check bits of the memory; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a number of words in a beat; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Banks of the ring; follows from Lanes.
  localparam int unsigned Banks = 1 << $clog2(Lanes),
  /// Bits of the number of a bank; follows from Lanes.
  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: empties the buffer; an EEP ends the packet that the user is reading.
  input logic clear_i,

  /// Starts a data frame, and drops the words of an unfinished one.
  input logic begin_i,
  /// Number of words of the frame in this cycle; 0: none.
  input logic [CountWidth-1:0] count_i,
  /// Bank of the first of them.
  output logic [BankWidth-1:0] bank_o,
  /// The words, in the order of the banks.
  input word_t [Banks-1:0] words_i,
  /// Banks that have a word.
  input logic [Banks-1:0] banks_i,
  /// Accepts the frame.
  input logic accept_i,
  /// The words of the frame did not fit.
  output logic overflow_o,

  /// An FCT is due.
  output logic due_o,
  /// The FCT is taken.
  input logic grant_i,

  /// Words to the user, the first in word 0.
  output word_t [Lanes-1:0] user_o,
  /// Number of words, 1 to Lanes.
  output logic [CountWidth-1:0] user_count_o,
  output logic user_valid_o,
  input logic user_ready_i,
  /// A wrong bit of the memory was corrected.
  output logic ram_corrected_o,
  /// A word of the memory is wrong.
  output logic ram_failed_o
);
  localparam int unsigned PosWidth = $clog2(Words);
  localparam int unsigned UsedWidth = PosWidth + 1;

  if (Words < Quantum || (Words & (Words - 1)) != 0) begin : gen_bad_words
    $error("spfe_sf_input: Words is %0d; a power of two from %0d is possible", Words, Quantum);
  end

  // Position behind the accepted words, of the next word to fetch; words of the frame in progress.
  logic [PosWidth-1:0] tail_q, fetch_q;
  logic [UsedWidth-1:0] staged_q;
  // Free words, words to fetch, and words to grant.
  logic [UsedWidth-1:0] space_q, waiting_q, room_q;
  logic overflow_q;

  // Beat at the user's port. An EEP of a link reset is not from the memory; a beat from before it
  // gives no room.
  logic valid_q;
  logic [CountWidth-1:0] count_q;
  logic eep_q;
  logic old_q;
  // After a link reset, when the user has no beat: its last word goes to word 0, from there to
  // last_q, and decides whether an EEP comes next.
  logic cuts_q, open;
  logic [1:0] looked_q;
  word_t last_q;
  // There is no last word, or it is an EEP of a link reset.
  logic none_q;

  logic fits;
  logic pop;
  logic fetch;
  logic [CountWidth-1:0] next;
  word_t [Banks-1:0] stored;
  word_t [Lanes-1:0] read;

  assign fits = space_q >= UsedWidth'(count_i);
  assign overflow_o = overflow_q;
  assign due_o = room_q >= UsedWidth'(Quantum);

  assign pop = valid_q && user_ready_i;
  assign next = 32'(waiting_q) >= Lanes ? CountWidth'(Lanes) : CountWidth'(waiting_q);
  // Words that the user takes out of the buffer.
  logic [CountWidth-1:0] leaves;
  logic [UsedWidth-1:0] room;
  assign leaves = pop && !eep_q && !old_q ? count_q : '0;
  assign room = room_q + UsedWidth'(leaves);
  // After a link reset an open packet ends first.
  assign fetch = (!valid_q || pop) && waiting_q != '0 && !cuts_q && !clear_i;

  logic [PosWidth-1:0] pos;
  logic [BankWidth-1:0] first, last_bank_q;
  assign pos = tail_q + PosWidth'(staged_q);
  assign bank_o = Banks > 1 ? pos[BankWidth-1:0] : '0;

  spfe_sf_ring #(
    .Banks(Banks),
    .Words(Words),
    .Protect(Protect)
  ) i_ring (
    .clk_i,
    .pos_i(pos),
    .words_i,
    .we_i(fits && count_i != '0 ? banks_i : '0),
    .re_i(fetch),
    .rpos_i(fetch_q),
    .words_o(stored),
    .corrected_o(ram_corrected_o),
    .failed_o(ram_failed_o)
  );
  assign first = Banks > 1 ? fetch_q[BankWidth-1:0] : '0;
  always_ff @(posedge clk_i) if (fetch) last_bank_q <= first + BankWidth'(next - 1'b1);
  spfe_sf_turn #(
    .Banks(Banks),
    .Lanes(Lanes)
  ) i_turn (
    .clk_i,
    .load_i(fetch || (cuts_q && !valid_q)),
    .first_i(cuts_q ? last_bank_q : first),
    .words_i(stored),
    .words_o(read)
  );

  assign open = !none_q && content(last_q) != WordEnd;
  always_comb begin
    user_o = read;
    if (eep_q) user_o[0] = EepWord;
  end
  assign user_count_o = count_q;
  assign user_valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (count_i != '0) begin
      if (fits) staged_q <= staged_q + UsedWidth'(count_i);
      else overflow_q <= 1'b1;
    end
    if (begin_i || accept_i) begin
      staged_q <= '0;
      overflow_q <= 1'b0;
    end
    if (accept_i && !overflow_q) begin
      tail_q <= tail_q + PosWidth'(staged_q);
    end
    // The words of a frame that is dropped leave, too.
    if (begin_i || (accept_i && overflow_q)) space_q <= space_q + UsedWidth'(leaves) + staged_q;
    else space_q <= space_q + UsedWidth'(leaves) - (fits ? UsedWidth'(count_i) : '0);
    waiting_q <= waiting_q + (accept_i && !overflow_q ? staged_q : '0)
        - (fetch ? UsedWidth'(next) : '0);
    // grant_i comes late.
    room_q <= grant_i ? room - UsedWidth'(Quantum) : room;
    if (fetch) fetch_q <= fetch_q + PosWidth'(next);

    last_q <= read[0];
    looked_q <= {looked_q[0], cuts_q && !valid_q};
    if (fetch) none_q <= 1'b0;
    if (!valid_q || pop) begin
      valid_q <= fetch;
      eep_q <= 1'b0;
      old_q <= 1'b0;
      count_q <= next;
      if (cuts_q && looked_q[1]) begin
        cuts_q <= 1'b0;
        looked_q <= '0;
        valid_q <= open;
        eep_q <= open;
        none_q <= none_q || open;
        if (open) count_q <= CountWidth'(1);
      end
    end
    if (clear_i) begin
      tail_q <= '0;
      fetch_q <= '0;
      staged_q <= '0;
      overflow_q <= 1'b0;
      space_q <= UsedWidth'(Words);
      waiting_q <= '0;
      room_q <= UsedWidth'(Words);
      old_q <= 1'b1;
      cuts_q <= 1'b1;
      looked_q <= '0;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      eep_q <= 1'b0;
      old_q <= 1'b0;
      none_q <= 1'b1;
      cuts_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !clear_i) begin
      a_room :
      assert (32'(room_q) <= 32'(space_q) + 32'(staged_q) && (!grant_i || due_o))
      else $error("%0d words to grant with %0d free", room_q, space_q);
    end
  end
`endif
endmodule
