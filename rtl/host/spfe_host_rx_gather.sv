// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Gathers bytes of packets from the words of virtual channels: looks at the words of one channel,
/// takes bytes up to a limit, and packs them into 16 bytes. A piece begins with an empty beat. Of
/// the words of each channel that are at hand, it knows how many symbols are used.
module spfe_host_rx_gather
  import spfe_sf_pkg::*;
  import spfe_host_rx_pkg::*;
#(
  /// Channels, 2 or more.
  parameter int unsigned Queues = 4,
  /// Words in a beat: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues),
  /// Bits of a number of words; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Words of each channel.
  input word_t [Queues-1:0][Words-1:0] word_i,
  /// Their number.
  input logic [Queues-1:0][CountWidth-1:0] word_count_i,
  input logic [Queues-1:0] word_valid_i,
  output logic [Queues-1:0] word_ready_o,
  /// Channel to look at.
  input logic [QueueWidth-1:0] queue_i,
  /// What is to be done with its words.
  input gather_t gather_i,
  /// What was found.
  output found_t found_o,
  /// 16 bytes, or the last of a piece.
  output logic [15:0][7:0] beat_o,
  output logic beat_valid_o
);
  localparam int unsigned Symbols = 4 * Words;
  localparam int unsigned PlaceWidth = $clog2(Symbols);

  // Symbols that are used of the words at hand.
  logic [Queues-1:0][PlaceWidth-1:0] used_q;
  word_t [Words-1:0] words;
  logic [PlaceWidth:0] used, there, next, stop, after;
  logic [Symbols-1:0][7:0] bytes;
  logic [Symbols-1:0] k;
  logic valid, found, is_end, take, more;
  assign found_o.more = more;
  logic [4:0] most, taken;
  logic [7:0] mark;

  assign words = word_i[queue_i];
  assign valid = word_valid_i[queue_i];
  assign used = {1'b0, used_q[queue_i]};
  assign there = (PlaceWidth + 1)'({word_count_i[queue_i], 2'b00});
  for (genvar i = 0; i < Words; i++) begin : gen_word
    assign bytes[4*i+:4] = words[i].bits;
    assign k[4*i+:4] = words[i].k;
  end

  // The next symbol that is no byte, or the end of the words.
  always_comb begin
    stop = there;
    found = 1'b0;
    for (int unsigned i = 0; i < Symbols; i++) begin
      if (!found && (PlaceWidth + 1)'(i) >= used && (PlaceWidth + 1)'(i) < there && k[i]) begin
        stop = (PlaceWidth + 1)'(i);
        found = 1'b1;
      end
    end
    most = 5'(stop - used);
    taken = 13'(most) > gather_i.room ? gather_i.room[4:0] : most;
    after = used + (PlaceWidth + 1)'(taken);
    more = valid && taken != most;
    mark = bytes[stop[PlaceWidth-1:0]];
    is_end = found && !more && (mark == Eop || mark == Eep);
    next = after;
    if (found && !more) begin
      next = after + 1'b1;
      // Nothing but FILL follows an end marker in its word.
      if (is_end) next = {after[PlaceWidth:2], 2'b00} + (PlaceWidth + 1)'(4);
    end
  end
  assign take = gather_i.take && valid;
  assign found_o.bytes = take ? taken : '0;
  assign found_o.ends = take && is_end && (gather_i.inside_packet || taken != '0);
  assign found_o.eep = mark == Eep;
  assign found_o.empty = !valid;
  always_comb begin
    word_ready_o = '0;
    word_ready_o[queue_i] = gather_i.take && next >= there;
  end

  // The beat: bytes go to their places by one rotation, also those for the next beat.
  logic [15:0][7:0] beat_q, turned;
  logic [3:0] count_q;
  logic [4:0] sum;
  assign sum = 5'(count_q) + found_o.bytes;
  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      turned[i] = bytes[PlaceWidth'(i)-PlaceWidth'(count_q)+used[PlaceWidth-1:0]];
      beat_o[i] = 4'(i) >= count_q ? turned[i] : beat_q[i];
    end
  end
  assign beat_valid_o = sum[4] || (gather_i.flush && count_q != '0);

  always_ff @(posedge clk_i) begin
    if (take) used_q[queue_i] <= next >= there ? '0 : next[PlaceWidth-1:0];
    for (int unsigned i = 0; i < 16; i++) begin
      if (4'(i) >= count_q || sum[4]) beat_q[i] <= turned[i];
    end
    count_q <= gather_i.flush ? '0 : sum[3:0];
    if (rst_i) begin
      used_q <= '0;
      count_q <= '0;
    end
  end
endmodule
