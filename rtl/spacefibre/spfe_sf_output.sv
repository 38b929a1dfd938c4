// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Output buffer of a virtual channel with its FCT credit (ECSS-E-ST-50-11C, 5.7.2, 5.7.3). Words
/// stay in it until the far end has acknowledged them, so it is also the channel's share of the
/// error recovery buffer.
module spfe_sf_output
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row and in a beat of the user.
  parameter int unsigned Lanes = 1,
  /// Words of a segment: 64 times the maximum number of data-sending lanes.
  parameter int unsigned Segment = SegmentWords,
  /// Words in the buffer, a power of two, at least two segments.
  parameter int unsigned Words = 256,
  /// FCT credit limit in words, at least four FCTs of the far end.
  parameter int unsigned CreditLimit = 65535,
  /// Check bits of the memory; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a position; follows from Words.
  localparam int unsigned PosWidth = $clog2(Words),
  /// Bits of a number of words in a beat; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1),
  /// Banks of the ring; follows from Lanes.
  localparam int unsigned Banks = 1 << $clog2(Lanes),
  /// Bits of the length of a segment; follows from Segment.
  localparam int unsigned LenWidth = $clog2(Segment + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: empties the buffer; the rest of an open packet is dropped.
  input logic clear_i,
  /// Continuous mode: words are never refused; the packet is cut with EEP instead.
  input logic continuous_i,
  /// No lane is active.
  input logic no_lane_i,

  /// Words of the user, the first in word 0.
  input word_t [Lanes-1:0] user_i,
  /// Number of words, 1 to Lanes.
  input logic [CountWidth-1:0] user_count_i,
  input logic user_valid_i,
  output logic user_ready_o,

  /// Words of an accepted FCT; 0: none.
  input logic [9:0] give_i,
  /// Credit is there.
  output logic has_credit_o,
  /// For one cycle: credit was lost because of CreditLimit.
  output logic overflow_o,

  /// A segment can be sent.
  output logic ready_o,
  /// Its words.
  output logic [LenWidth-1:0] length_o,
  /// Position of its first word.
  output logic [PosWidth-1:0] start_o,
  /// Takes the segment.
  input logic take_i,

  /// Reads a row of a segment that was taken.
  input logic re_i,
  /// Position of the row.
  input logic [PosWidth-1:0] rpos_i,
  /// Its words in the order of the banks, a cycle later. With several banks, an EEP of the buffer
  /// is any word with is_eep_mark.
  output word_t [Banks-1:0] row_o,
  /// Number of words of an acknowledged segment; 0: none.
  input logic [LenWidth-1:0] free_i,
  /// The buffer has room for nothing but an acknowledgement.
  output logic starved_o,
  /// A wrong bit of the memory was corrected.
  output logic ram_corrected_o,
  /// A word of the memory is wrong.
  output logic ram_failed_o
);
  localparam int unsigned UsedWidth = PosWidth + 1;
  localparam int unsigned CreditWidth = $clog2(CreditLimit + 1);

  if (Words < 2 * Segment || (Words & (Words - 1)) != 0) begin : gen_bad_words
    $error("spfe_sf_output: Words is %0d; a power of two from %0d is possible", Words, 2 * Segment);
  end

  logic [PosWidth-1:0] tail_q, sent_q;
  // Words in the buffer, words of them that were not taken, and of those up to the last end marker.
  logic [UsedWidth-1:0] used_q, unsent_q, to_end_q;
  logic [CreditWidth-1:0] credit_q;
  logic open_q, open;
  logic discarding_q, discarding;
  // Continuous mode: an EEP is still to be written, and is the only word that was not taken.
  logic owes_q, owes;
  logic alone_q, alone;
  logic overflow_q;
  // A segment that was taken and words that are cut leave the counts a cycle later, because take_i
  // comes late.
  logic take_q, cut_q;
  logic [UsedWidth-1:0] took_q, taken;
  assign taken = take_q ? took_q : '0;

  // Segment that can be sent, a cycle late. More words and more credit may be there already; what
  // takes any of them away ends ready_q.
  logic [UsedWidth-1:0] most, most_q;
  logic whole, ready_q;
  assign whole = unsent_q >= UsedWidth'(Segment);
  always_comb begin
    most = whole ? UsedWidth'(Segment) : unsent_q;
    if (32'(credit_q) < 32'(most)) most = UsedWidth'(credit_q);
  end
  assign length_o = LenWidth'(most_q);
  assign start_o = sent_q;
  assign has_credit_o = credit_q != '0;
  assign ready_o = ready_q;
  assign overflow_o = overflow_q;

  // Words of the user.
  // Room for another beat, by the words of a cycle before.
  logic room_q;
  logic accept;
  logic cut;
  // No lane is active, and there are words to cut.
  logic no_lane_q;
  logic drop;
  // Words that are written, and those of them that become an EEP.
  logic [Lanes-1:0] takes, ends;
  // Each word goes straight to its bank of the ring.
  localparam int unsigned FromWidth = Lanes > 1 ? $clog2(Lanes) : 1;
  logic [Banks-1:0] we, eep;
  logic [Banks-1:0][FromWidth-1:0] from;
  logic [CountWidth-1:0] count;
  logic [CountWidth-1:0] end_at;
  logic [Lanes-1:0] unused_kind;
  assign user_ready_o = room_q || discarding_q || continuous_i;
  assign accept = user_valid_i && user_ready_o;
  assign drop = owes_q || cut;

  assign cut = continuous_i && !owes_q && ((user_valid_i && !room_q && !discarding_q) || no_lane_q);

  always_comb begin
    content_e kind;
    {takes, ends} = '0;
    count = '0;
    end_at = '0;
    open = open_q;
    discarding = discarding_q;
    unused_kind = '0;
    if (cut && !accept) discarding = open_q;
    for (int unsigned i = 0; i < Lanes; i++) begin
      kind = content(user_i[i]);
      if (accept && 32'(user_count_i) > i && kind != WordFill) begin
        if (drop) begin
          discarding = kind == WordData || kind == WordIllegal;
        end else if (discarding) begin
          discarding = kind == WordData || kind == WordIllegal;
        end else begin
          takes[i] = 1'b1;
          ends[i] = kind != WordData && kind != WordEnd;
          count = count + 1'b1;
          open = kind == WordData;
          if (kind != WordData) end_at = count;
          discarding = kind == WordIllegal;
        end
      end
    end
    owes = owes_q || cut;
    alone = alone_q && count == '0 && !take_q;
    if (cut) open = 1'b0;
    // The user's words are dropped, so the memory is free for the EEP.
    if (owes_q && !cut_q && used_q < UsedWidth'(Words)) begin
      owes = 1'b0;
      takes[0] = 1'b1;
      ends[0] = 1'b1;
      count = CountWidth'(1);
      end_at = CountWidth'(1);
      alone = 1'b1;
    end
  end

  // A bank takes the word that has its place among those that are written.
  always_comb begin
    logic [FromWidth-1:0] place;
    logic [CountWidth-1:0] written;
    {we, eep, from} = '0;
    for (int unsigned b = 0; b < Banks; b++) begin
      place = Banks > 1 ? FromWidth'(b) - tail_q[FromWidth-1:0] : '0;
      written = '0;
      for (int unsigned i = 0; i < Lanes; i++) begin
        if (takes[i] && written == CountWidth'(place)) begin
          we[b] = 1'b1;
          from[b] = FromWidth'(i);
          eep[b] = ends[i];
        end
        written = written + CountWidth'(takes[i]);
      end
    end
  end

  word_t [Banks-1:0] words;
  always_comb begin
    for (int unsigned b = 0; b < Banks; b++) begin
      words[b] = user_i[from[b]];
      if (eep[b]) words[b] = Banks > 1 ? eep_mark(words[b]) : EepWord;
    end
  end

  spfe_sf_ring #(
    .Banks(Banks),
    .Words(Words),
    .Protect(Protect)
  ) i_ring (
    .clk_i,
    .pos_i(tail_q),
    .words_i(words),
    .we_i(we),
    .re_i,
    .rpos_i,
    .words_o(row_o),
    .corrected_o(ram_corrected_o),
    .failed_o(ram_failed_o)
  );

  logic [UsedWidth-1:0] rest, unsent, to_end, kept;
  logic [PosWidth-1:0] sent;
  assign sent = sent_q + PosWidth'(taken);
  assign rest = unsent_q - taken;
  assign kept = used_q - UsedWidth'(free_i) - rest;
  always_comb begin
    unsent = rest + UsedWidth'(count);
    to_end = to_end_q > taken ? to_end_q - taken : '0;
    if (end_at != '0) to_end = rest + UsedWidth'(end_at);
  end

  // FCT credit: what the far end gives beyond the limit is lost.
  logic [CreditWidth:0] credit;
  assign credit = {1'b0, credit_q} + (CreditWidth + 1)'(give_i) - (CreditWidth + 1)'(taken);

  assign starved_o = !room_q && unsent_q == '0 && !owes_q;

  always_ff @(posedge clk_i) begin
    most_q <= most;
    take_q <= take_i;
    took_q <= most_q;
    cut_q <= cut;
    room_q <= used_q <= UsedWidth'(Words - 2 * Lanes);
    no_lane_q <= no_lane_i && unsent_q != '0 && !alone_q && !take_q;
    ready_q <= has_credit_o && (whole || to_end_q != '0) && !take_i && !take_q && !cut && !cut_q;
    tail_q <= tail_q + PosWidth'(count);
    sent_q <= sent;
    used_q <= used_q + UsedWidth'(count) - UsedWidth'(free_i);
    unsent_q <= unsent;
    to_end_q <= to_end;
    open_q <= open;
    discarding_q <= discarding;
    owes_q <= owes;
    alone_q <= alone;
    credit_q <= credit > (CreditWidth + 1)'(CreditLimit) ?
        CreditWidth'(CreditLimit) : credit[CreditWidth-1:0];
    overflow_q <= credit > (CreditWidth + 1)'(CreditLimit);
    if (cut_q) begin
      tail_q <= sent;
      unsent_q <= '0;
      to_end_q <= '0;
      used_q <= kept;
      alone_q <= 1'b0;
    end
    if (clear_i) begin
      {take_q, cut_q} <= '0;
      ready_q <= 1'b0;
      room_q <= 1'b1;
      no_lane_q <= 1'b0;
      tail_q <= '0;
      sent_q <= '0;
      used_q <= '0;
      unsent_q <= '0;
      to_end_q <= '0;
      credit_q <= '0;
      overflow_q <= 1'b0;
      open_q <= 1'b0;
      discarding_q <= discarding || open;
      owes_q <= 1'b0;
      alone_q <= 1'b0;
    end
    if (rst_i) discarding_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && !clear_i) begin
      a_used :
      assert (32'(used_q) <= Words && unsent_q <= used_q && to_end_q <= unsent_q)
      else $error("%0d words, %0d unsent, %0d to the end", used_q, unsent_q, to_end_q);
      a_free :
      assert (32'(free_i) <= 32'(used_q - unsent_q))
      else $error("frees %0d words of %0d", free_i, used_q - unsent_q);
      a_take :
      assert (!take_i || (ready_o && most_q != '0))
      else $error("takes a segment that is not there");
      a_count :
      assert (!user_valid_i || user_count_i != '0)
      else $error("a beat without words");
    end
  end
`endif
endmodule
