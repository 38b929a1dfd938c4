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
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: empties the buffer; an EEP ends the packet that the user is reading.
  input logic clear_i,

  /// Starts a data frame, and drops the words of an unfinished one.
  input logic begin_i,
  /// Number of words of the frame in this cycle; 0: none.
  input logic [CountWidth-1:0] count_i,
  /// The words.
  input word_t [Lanes-1:0] words_i,
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
  // Words until the user has them, words to fetch, and words to grant.
  logic [UsedWidth-1:0] used_q, waiting_q, room_q;
  logic overflow_q;

  // Beat at the user's port. An EEP of a link reset is not from the memory; a beat from before it
  // gives no room.
  logic valid_q;
  logic [CountWidth-1:0] count_q;
  logic eep_q;
  logic old_q;
  // The last word that the user took, and whether it leaves a packet open, a cycle late.
  logic open_q, open, popped_q;
  word_t last_q;
  logic cuts_q;

  logic fits;
  logic pop;
  logic fetch;
  logic [CountWidth-1:0] next;
  word_t [Lanes-1:0] read;
  word_t last;

  assign fits = 32'(used_q) + 32'(staged_q) + 32'(count_i) <= Words;
  assign overflow_o = overflow_q;
  assign due_o = room_q >= UsedWidth'(Quantum);

  assign pop = valid_q && user_ready_i;
  assign next = 32'(waiting_q) >= Lanes ? CountWidth'(Lanes) : CountWidth'(waiting_q);
  logic [UsedWidth-1:0] room;
  assign room = room_q + (pop && !eep_q && !old_q ? UsedWidth'(count_q) : '0);
  // After a link reset an open packet ends first.
  assign fetch = (!valid_q || pop) && waiting_q != '0 && !cuts_q && !clear_i;

  // Bank of the ring for each word.
  localparam int unsigned Banks = 1 << $clog2(Lanes);
  localparam int unsigned FromWidth = Lanes > 1 ? $clog2(Lanes) : 1;
  logic [PosWidth-1:0] pos;
  logic [Banks-1:0] we;
  logic [Banks-1:0][FromWidth-1:0] from;
  assign pos = tail_q + PosWidth'(staged_q);
  always_comb begin
    for (int unsigned b = 0; b < Banks; b++) begin
      from[b] = Banks > 1 ? FromWidth'(b) - pos[FromWidth-1:0] : '0;
      we[b] = fits && 32'(from[b]) < 32'(count_i);
    end
  end

  spfe_sf_ring #(
    .Lanes(Lanes),
    .Words(Words),
    .Protect(Protect)
  ) i_ring (
    .clk_i,
    .pos_i(pos),
    .words_i,
    .we_i(we),
    .from_i(from),
    .eep_i('0),
    .re_i(fetch),
    .rpos_i(fetch_q),
    .words_o(read),
    .corrected_o(ram_corrected_o),
    .failed_o(ram_failed_o)
  );

  always_comb begin
    last = read[0];
    for (int unsigned i = 1; i < Lanes; i++) if (32'(count_q) == i + 1) last = read[i];
    if (eep_q) last = EepWord;
    open = popped_q ? content(last_q) != WordEnd : open_q;
  end

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
    used_q <= used_q + (accept_i && !overflow_q ? staged_q : '0)
        - (pop && !eep_q && !old_q ? UsedWidth'(count_q) : '0);
    waiting_q <= waiting_q + (accept_i && !overflow_q ? staged_q : '0)
        - (fetch ? UsedWidth'(next) : '0);
    // grant_i comes late.
    room_q <= grant_i ? room - UsedWidth'(Quantum) : room;
    if (fetch) fetch_q <= fetch_q + PosWidth'(next);

    open_q <= open;
    popped_q <= pop;
    last_q <= last;
    if (!valid_q || pop) begin
      valid_q <= fetch;
      eep_q <= 1'b0;
      old_q <= 1'b0;
      count_q <= next;
      // After a link reset the last word decides whether an EEP comes next.
      if (cuts_q && !pop) begin
        cuts_q <= 1'b0;
        valid_q <= open;
        eep_q <= open;
        if (open) count_q <= CountWidth'(1);
      end
    end
    if (clear_i) begin
      tail_q <= '0;
      fetch_q <= '0;
      staged_q <= '0;
      overflow_q <= 1'b0;
      used_q <= '0;
      waiting_q <= '0;
      room_q <= UsedWidth'(Words);
      old_q <= 1'b1;
      cuts_q <= 1'b1;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      eep_q <= 1'b0;
      old_q <= 1'b0;
      open_q <= 1'b0;
      popped_q <= 1'b0;
      cuts_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !clear_i) begin
      a_room :
      assert (32'(room_q) + 32'(used_q) <= Words && (!grant_i || due_o))
      else $error("%0d words to grant with %0d in use", room_q, used_q);
    end
  end
`endif
endmodule
