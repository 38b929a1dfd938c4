// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reads the whole payload of a segment from the ring memory and sums it before transmission. The
/// payload of the next segment is read while the previous one is sent.
module spfe_tcp_tx_read
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Bytes per chunk: 4 or 8.
  parameter int unsigned MacBytes = 4,
  /// log2 of the number of 16-byte words in the ring memory.
  parameter int unsigned MemAddrBits = 16,
  /// Longest segment in bytes.
  parameter int unsigned Size = 1460
) (
  input logic clk_i,
  input logic rst_i,

  /// Start reading a segment. Allowed only while busy_o is low and at most one earlier segment is
  /// still in the buffer.
  input logic start_i,
  /// Payload of the segment to read with start_i, and to output with give_i; 1 to Size bytes.
  input payload_t payload_i,
  /// High while reading, from the cycle after start_i.
  output logic busy_o,
  /// Ones-complement sum of the segment; valid once busy_o falls.
  output sum_t sum_o,

  /// Number of writes queued before the memory, modulo 256; from the ring writer.
  input logic [7:0] pushed_i,
  /// Number of writes accepted by the memory, modulo 256; from the ring writer.
  input logic [7:0] popped_i,

  /// Word address of a read of the ring memory.
  output logic [31:0] mem_rd_o,
  output logic mem_rd_valid_o,
  input logic mem_rd_ready_i,
  /// Read data; answers come in order, with any latency.
  input logic [127:0] mem_rsp_i,
  input logic mem_rsp_valid_i,

  /// Output the chunks of the next buffered segment; not before the previous one has been output.
  input logic give_i,
  output logic chunk_valid_o,
  input logic chunk_ready_i,
  /// Payload chunk; bytes after the end of the segment are 0.
  output logic [MacBytes*8-1:0] chunk_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  localparam int unsigned WordBits = MemAddrBits - IdxBits;
  localparam int unsigned Subs = 16 / MacBytes;
  localparam int unsigned SubBits = $clog2(Subs);
  localparam int unsigned TurnBits = $clog2(MacBytes);
  // Two segments, each with a partial word at both ends.
  localparam int unsigned Depth = 2 ** $clog2(2 * ((Size + 30) / 16));
  localparam int unsigned Ahead = 16;
  typedef logic [WordBits-1:0] word_t;

  sum_t sum_q;

  logic unused_bits;
  assign unused_bits = ^payload_i.seq;

  // ---- requests
  typedef enum logic [1:0] {
    Idle = 2'd0,
    Order = 2'd1,  // wait until earlier writes have reached the memory
    Read = 2'd2
  } state_e;
  state_e state_q;

  logic [7:0] mark_q, missing;
  logic [IdxBits-1:0] idx_q;
  word_t word_q;
  logic [15:0] words_q, answers_q;  // words not yet requested, not yet answered
  logic [4:0] credit_q;  // further requests that may be outstanding
  logic [3:0] from_q, to_q;  // first valid byte of the first word, last valid byte of the last word
  logic first_q, ask, early, sum_valid;
  sum_t sum;

  assign missing = mark_q - popped_i;
  assign early = missing != '0 && !missing[7];
  assign mem_rd_valid_o = state_q == Read && words_q != '0 && credit_q != '0;
  assign mem_rd_o = 32'({idx_q, word_q});
  assign ask = mem_rd_valid_o && mem_rd_ready_i;
  assign busy_o = state_q != Idle;

  assign sum_o = sum_q;

  always_ff @(posedge clk_i) begin
    case (state_q)
      // Load in every idle cycle; the values matter only on a start.
      Idle: begin
        if (start_i) state_q <= Order;
        mark_q <= pushed_i;
        idx_q <= IdxBits'(payload_i.sid);
        word_q <= payload_i.seq[WordBits+3:4];
        words_q <= 16'((17'(payload_i.len) + 17'(payload_i.seq[3:0]) + 17'd15) >> 4);
        answers_q <= 16'((17'(payload_i.len) + 17'(payload_i.seq[3:0]) + 17'd15) >> 4);
        from_q <= payload_i.seq[3:0];
        to_q <= payload_i.seq[3:0] + payload_i.len[3:0] - 4'd1;
        first_q <= 1'b1;
      end
      Order: if (!early) state_q <= Read;
      default: if (sum_valid) state_q <= Idle;
    endcase
    if (ask) begin
      word_q <= word_q + word_t'(1);
      words_q <= words_q - 16'd1;
    end
    if (mem_rsp_valid_i) begin
      answers_q <= answers_q - 16'd1;
      first_q <= 1'b0;
    end
    credit_q <= credit_q - 5'(ask) + 5'(mem_rsp_valid_i);
    // The sum is over words as aligned in memory. If the segment starts at an odd address, its
    // bytes are swapped (RFC 1071, 2).
    if (sum_valid) sum_q <= from_q[0] ? {sum[7:0], sum[15:8]} : sum;
    if (rst_i) begin
      state_q <= Idle;
      credit_q <= 5'(Ahead);
    end
  end

  // ---- answers: to the FIFO, and to the sum with the bytes outside the segment cleared
  logic rsp_q, rsp_first_q, rsp_last_q, fifo_ready;
  logic [127:0] rsp_data_q, sum_data_q;
  always_ff @(posedge clk_i) begin
    rsp_q <= mem_rsp_valid_i && !rst_i;
    rsp_first_q <= first_q;
    rsp_last_q <= answers_q == 16'd1;
    rsp_data_q <= mem_rsp_i;
    for (int unsigned i = 0; i < 16; i++) begin
      sum_data_q[i*8+:8] <= (first_q && 4'(i) < from_q) || (answers_q == 16'd1 && 4'(i) > to_q) ?
          8'd0 : mem_rsp_i[i*8+:8];
    end
  end

  spfe_tcp_tx_sum #(
    .Bytes(16)
  ) i_sum (
    .clk_i,
    .rst_i,
    .valid_i(rsp_q),
    .first_i(rsp_first_q),
    .last_i(rsp_last_q),
    .data_i(sum_data_q),
    .valid_o(sum_valid),
    .sum_o(sum)
  );

  logic there, held_valid_q, word_ready, unused_almost;
  logic [127:0] head, held_q;  // output register of the FIFO, whose memory is slow
  logic [$clog2(Depth + 1)-1:0] unused_words;
  spfe_fifo #(
    .Width(128),
    .Depth(Depth)
  ) i_words (
    .clk_i,
    .rst_i,
    .valid_i(rsp_q),
    .ready_o(fifo_ready),
    .data_i(rsp_data_q),
    .valid_o(there),
    .ready_i(!held_valid_q || word_ready),
    .data_o(head),
    .count_o(unused_words),
    .almost_full_o(unused_almost)
  );
  always_ff @(posedge clk_i) begin
    if (!held_valid_q || word_ready) begin
      held_valid_q <= there;
      held_q <= head;
    end
    if (rst_i) held_valid_q <= 1'b0;
  end

  // ---- words to chunks: select a chunk-sized piece, then shift to the segment's alignment
  logic [SubBits-1:0] sub_q;
  logic [TurnBits-1:0] turn_q;
  logic [15:0] pieces_q;  // pieces not yet taken from the words
  logic [15:0] left_q;  // bytes not yet output
  logic primed_q, step, emit, last_chunk;
  logic some_pieces_q, one_piece_q, some_left_q;  // zero and one comparisons of the counters
  logic may_q;  // the chunk FIFO had room
  logic [15:0] give_pieces;
  logic [MacBytes*8-1:0] piece, prev_q, turned;
  logic [2*MacBytes*8-1:0] pair;

  assign piece = held_q[32'(sub_q)*MacBytes*8+:MacBytes*8];
  assign step = some_pieces_q && held_valid_q && may_q;
  assign emit = some_left_q && may_q && (!some_pieces_q || (step && (primed_q || turn_q == '0)));
  assign pair = !some_pieces_q ? {{MacBytes * 8{1'b0}}, prev_q} :
      primed_q ? {piece, prev_q} : {{MacBytes * 8{1'b0}}, piece};
  assign turned = (MacBytes * 8)'(pair >> {turn_q, 3'b000});
  assign last_chunk = left_q <= 16'(MacBytes);
  assign word_ready = step && (sub_q == SubBits'(Subs - 1) || one_piece_q);
  assign give_pieces = 16'((17'(payload_i.len) + 17'(payload_i.seq[TurnBits-1:0]) +
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
      sub_q <= SubBits'(payload_i.seq >> TurnBits);
      turn_q <= TurnBits'(payload_i.seq);
      pieces_q <= give_pieces;
      some_pieces_q <= 1'b1;
      one_piece_q <= give_pieces == 16'd1;
      left_q <= payload_i.len;
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
  spfe_fifo #(
    .Width(MacBytes * 8),
    .Depth(8),
    .AlmostFull(4)
  ) i_chunks (
    .clk_i,
    .rst_i,
    .valid_i(emit_q),
    .ready_o(chunk_room),
    .data_i(chunk_q),
    .valid_o(chunk_valid_o),
    .ready_i(chunk_ready_i),
    .data_o(chunk_o),
    .count_o(unused_chunks),
    .almost_full_o(chunks_full)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_idle :
      assert (!start_i || state_q == Idle)
      else $error("start while reading");
      a_len :
      assert (!start_i || (payload_i.len != '0 && 32'(payload_i.len) <= Size))
      else $error("segment of %0d bytes; 1 to %0d are possible", payload_i.len, Size);
      a_word :
      assert (!rsp_q || fifo_ready)
      else $error("no room for a word");
      a_chunk :
      assert (!emit_q || chunk_room)
      else $error("no room for a chunk");
      a_answer :
      assert (!mem_rsp_valid_i || state_q == Read)
      else $error("an answer too many");
      a_give :
      assert (!give_i || !some_left_q)
      else $error("chunks of two segments at a time");
    end
  end
`endif
endmodule
