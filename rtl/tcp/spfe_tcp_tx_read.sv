// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reads the payload of a segment from the ring memory, whole, and sums it; then it can be sent. While
/// it is sent the next one is read.
module spfe_tcp_tx_read
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
    /// Sessions, 2 to 256.
    parameter int unsigned SessionCount = 16,
    /// Bytes of a chunk: 4 or 8.
    parameter int unsigned MacBytes = 4,
    /// log2 of the 16-byte words of the memory.
    parameter int unsigned MemAddrBits = 16,
    /// Bytes of the longest segment.
    parameter int unsigned Size = 1460
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,

    /// Begin to read a segment; only while not busy_o, and when all but one of those read before
    /// have been taken.
    input logic start_i,
    /// With it: session.
    input sid_t sid_i,
    /// With it: sequence number of the first byte.
    input seq_t seq_i,
    /// With it: bytes, 1 to Size.
    input logic [15:0] len_i,
    /// Reading, from the cycle after start_i on.
    output logic busy_o,
    /// Ones-complement sum of what was read; when not busy_o any more.
    output sum_t sum_o,

    /// Words that were given to the FIFO before the memory; from the writer.
    input logic [7:0] pushed_i,
    /// Words that the memory has taken; from the writer.
    input logic [7:0] popped_i,

    /// A word to read.
    output logic mem_valid_o,
    /// The memory takes the request.
    input logic mem_ready_i,
    /// Where from.
    output logic [MemAddrBits-1:0] mem_addr_o,
    /// A word that was read; they come in order.
    input logic rsp_valid_i,
    /// The word.
    input logic [127:0] rsp_data_i,

    /// The chunks of a segment that was read are wanted; after those of the segment before.
    input logic give_i,
    /// With it: its sequence number modulo 16.
    input logic [3:0] give_seq_i,
    /// With it: its bytes.
    input logic [15:0] give_len_i,
    /// A chunk is there.
    output logic chunk_valid_o,
    /// It is taken.
    input logic chunk_ready_i,
    /// The chunk; 0 behind the last byte.
    output logic [MacBytes*8-1:0] chunk_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  localparam int unsigned WordBits = MemAddrBits - IdxBits;
  localparam int unsigned Subs = 16 / MacBytes;
  localparam int unsigned SubBits = $clog2(Subs);
  localparam int unsigned TurnBits = $clog2(MacBytes);
  // Two segments, each with a part of a word at both ends.
  localparam int unsigned Depth = 2 ** $clog2(2 * ((Size + 30) / 16));
  localparam int unsigned Ahead = 16;
  typedef logic [WordBits-1:0] word_t;

  logic unused_bits;
  assign unused_bits = ^{sid_i, seq_i};

  // ---- requests
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Order = 2'd1,  // writes before us are on their way to the memory
    Read = 2'd2
  } state_e;
  state_e state_q;

  logic [7:0] mark_q, missing;
  logic [IdxBits-1:0] idx_q;
  word_t word_q;
  logic [15:0] words_q, answers_q;  // not yet asked for, not yet answered
  logic [4:0] credit_q;  // requests that may be without an answer
  logic [3:0] from_q, to_q;  // first byte of the first word, last byte of the last one
  logic first_q, ask, early, sum_valid;
  sum_t sum;

  assign missing = mark_q - popped_i;
  assign early = missing != '0 && !missing[7];
  assign mem_valid_o = state_q == Read && words_q != '0 && credit_q != '0;
  assign mem_addr_o = {idx_q, word_q};
  assign ask = mem_valid_o && mem_ready_i;
  assign busy_o = state_q != Idle;

  always_ff @(posedge clk_i) begin
    case (state_q)
      // What is loaded counts if it starts.
      Idle: begin
        if (start_i) state_q <= Order;
        mark_q <= pushed_i;
        idx_q <= IdxBits'(sid_i);
        word_q <= seq_i[WordBits+3:4];
        words_q <= 16'((17'(len_i) + 17'(seq_i[3:0]) + 17'd15) >> 4);
        answers_q <= 16'((17'(len_i) + 17'(seq_i[3:0]) + 17'd15) >> 4);
        from_q <= seq_i[3:0];
        to_q <= seq_i[3:0] + len_i[3:0] - 4'd1;
        first_q <= 1'b1;
      end
      Order: if (!early) state_q <= Read;
      default: if (sum_valid) state_q <= Idle;
    endcase
    if (ask) begin
      word_q <= word_q + word_t'(1);
      words_q <= words_q - 16'd1;
    end
    if (rsp_valid_i) begin
      answers_q <= answers_q - 16'd1;
      first_q <= 1'b0;
    end
    credit_q <= credit_q - 5'(ask) + 5'(rsp_valid_i);
    // The bytes of the words are in other places than those of the segment: an odd distance turns
    // the sum (RFC 1071, 2).
    if (sum_valid) sum_o <= from_q[0] ? {sum[7:0], sum[15:8]} : sum;
    if (rst_i) begin
      state_q <= Idle;
      credit_q <= 5'(Ahead);
    end
  end

  // ---- answers: to the sum, without the bytes around the segment, and to the FIFO
  logic rsp_q, rsp_first_q, rsp_last_q, fifo_ready;
  logic [127:0] rsp_data_q, sum_data_q;
  always_ff @(posedge clk_i) begin
    rsp_q <= rsp_valid_i && !rst_i;
    rsp_first_q <= first_q;
    rsp_last_q <= answers_q == 16'd1;
    rsp_data_q <= rsp_data_i;
    for (int unsigned i = 0; i < 16; i++) begin
      sum_data_q[i*8+:8] <= (first_q && 4'(i) < from_q) || (answers_q == 16'd1 && 4'(i) > to_q) ?
          8'd0 : rsp_data_i[i*8+:8];
    end
  end

  spfe_tcp_tx_sum #(.Bytes(16)) i_sum (
    .clk_i, .rst_i,
    .valid_i(rsp_q), .first_i(rsp_first_q), .last_i(rsp_last_q), .data_i(sum_data_q),
    .valid_o(sum_valid), .sum_o(sum)
  );

  logic word_valid, word_ready, unused_almost;
  logic [127:0] word;
  logic [$clog2(Depth + 1)-1:0] unused_words;
  spfe_fifo #(.WIDTH(128), .DEPTH(Depth)) i_words (
    .clk_i, .rst_i,
    .valid_i(rsp_q), .ready_o(fifo_ready), .data_i(rsp_data_q),
    .valid_o(word_valid), .ready_i(word_ready), .data_o(word),
    .count_o(unused_words), .almost_full_o(unused_almost)
  );

  // ---- words to chunks: pieces of the size of a chunk, then turned
  logic [SubBits-1:0] sub_q;
  logic [TurnBits-1:0] turn_q;
  logic [15:0] pieces_q;  // not yet taken from the words
  logic [15:0] left_q;  // bytes not yet given
  logic primed_q, step, emit, last_chunk;
  logic some_pieces_q, one_piece_q, some_left_q;  // of the counters
  logic may_q;  // the FIFO of chunks had room
  logic [15:0] give_pieces;
  logic [MacBytes*8-1:0] piece, prev_q, turned;
  logic [2*MacBytes*8-1:0] pair;

  assign piece = word[32'(sub_q)*MacBytes*8+:MacBytes*8];
  assign step = some_pieces_q && word_valid && may_q;
  assign emit = some_left_q && may_q && (!some_pieces_q || (step && (primed_q || turn_q == '0)));
  assign pair = !some_pieces_q ? {{MacBytes * 8{1'b0}}, prev_q} :
      primed_q ? {piece, prev_q} : {{MacBytes * 8{1'b0}}, piece};
  assign turned = (MacBytes * 8)'(pair >> {turn_q, 3'b000});
  assign last_chunk = left_q <= 16'(MacBytes);
  assign word_ready = step && (sub_q == SubBits'(Subs - 1) || one_piece_q);
  assign give_pieces = 16'((17'(give_len_i) + 17'(give_seq_i[TurnBits-1:0]) +
      17'(MacBytes - 1)) >> TurnBits);

  always_ff @(posedge clk_i) begin
    if (step) begin
      prev_q <= piece;
      primed_q <= turn_q != '0;
      sub_q <= sub_q + SubBits'(1);
      pieces_q <= pieces_q - 16'd1;
      some_pieces_q <= !one_piece_q;
      one_piece_q <= pieces_q == 16'd2;
    end
    if (emit) some_left_q <= !last_chunk;
    if (emit) left_q <= last_chunk ? 16'd0 : left_q - 16'(MacBytes);
    if (give_i) begin
      sub_q <= SubBits'(give_seq_i >> TurnBits);
      turn_q <= TurnBits'(give_seq_i);
      pieces_q <= give_pieces;
      some_pieces_q <= 1'b1;
      one_piece_q <= give_pieces == 16'd1;
      left_q <= give_len_i;
      some_left_q <= 1'b1;
      primed_q <= 1'b0;
    end
    if (rst_i) begin
      some_pieces_q <= 1'b0;
      some_left_q <= 1'b0;
    end
  end

  logic emit_q, chunk_room, chunks_full;
  logic [MacBytes*8-1:0] chunk_q;
  logic [3:0] unused_chunks;
  always_ff @(posedge clk_i) begin
    emit_q <= emit && !rst_i;
    may_q <= !chunks_full && !rst_i;
    for (int unsigned i = 0; i < MacBytes; i++) begin
      chunk_q[i*8+:8] <= 16'(i) < left_q ? turned[i*8+:8] : 8'd0;
    end
  end
  spfe_fifo #(.WIDTH(MacBytes * 8), .DEPTH(8), .ALMOST_FULL(4)) i_chunks (
    .clk_i, .rst_i,
    .valid_i(emit_q), .ready_o(chunk_room), .data_i(chunk_q),
    .valid_o(chunk_valid_o), .ready_i(chunk_ready_i), .data_o(chunk_o),
    .count_o(unused_chunks), .almost_full_o(chunks_full)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_idle : assert (!start_i || state_q == Idle) else $error("start while reading");
      a_len : assert (!start_i || (len_i != '0 && 32'(len_i) <= Size))
      else $error("segment of %0d bytes; 1 to %0d are possible", len_i, Size);
      a_word : assert (!rsp_q || fifo_ready) else $error("no room for a word");
      a_chunk : assert (!emit_q || chunk_room) else $error("no room for a chunk");
      a_answer : assert (!rsp_valid_i || state_q == Read) else $error("an answer too many");
      a_give : assert (!give_i || !some_left_q) else $error("chunks of two segments at a time");
    end
  end
`endif
endmodule
