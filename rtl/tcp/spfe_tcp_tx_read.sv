// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reads the payload of a segment from the ring memory, whole, and sums it; then it can be sent.
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

    /// Begin to read; only while not busy_o.
    input logic start_i,
    /// With it: session.
    input sid_t sid_i,
    /// With it: sequence number of the first byte.
    input seq_t seq_i,
    /// With it: bytes, 1 to Size.
    input logic [15:0] len_i,
    /// Reading, from start_i on.
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
  localparam int unsigned Depth = 2 ** $clog2((Size + MacBytes - 1) / MacBytes);
  localparam int unsigned Ahead = 16;
  typedef logic [WordBits-1:0] word_t;

  typedef enum logic [1:0] {
    Idle = 2'd0,
    Order = 2'd1,  // writes before us are on their way to the memory
    Read = 2'd2
  } state_e;
  state_e state_q;

  logic [7:0] mark_q;
  logic [IdxBits-1:0] idx_q;
  logic unused_bits;
  assign unused_bits = ^{sid_i, seq_i};
  word_t word_q;
  logic [15:0] words_q;  // not yet asked for
  logic [4:0] credit_q;  // answers there is room for
  logic [SubBits-1:0] sub_q;
  logic [TurnBits-1:0] turn_q;
  logic [15:0] pieces_q;  // not yet taken from the answers
  logic [15:0] left_q;  // bytes not yet given to the FIFO of chunks
  logic primed_q;
  logic [MacBytes*8-1:0] prev_q;

  // ---- requests
  logic ask, early;
  logic [7:0] ahead;
  assign ahead = mark_q - popped_i;
  assign early = ahead != '0 && !ahead[7];
  assign mem_valid_o = state_q == Read && words_q != '0 && credit_q != '0;
  assign mem_addr_o = {idx_q, word_q};
  assign ask = mem_valid_o && mem_ready_i;

  // ---- answers, in pieces of the size of a chunk
  logic rsp_valid, rsp_ready, unused_ready, unused_almost;
  logic [127:0] rsp;
  logic [$clog2(Ahead + 1)-1:0] unused_count;
  spfe_fifo #(.WIDTH(128), .DEPTH(Ahead)) i_answers (
    .clk_i, .rst_i,
    .valid_i(rsp_valid_i), .ready_o(unused_ready), .data_i(rsp_data_i),
    .valid_o(rsp_valid), .ready_i(rsp_ready), .data_o(rsp),
    .count_o(unused_count), .almost_full_o(unused_almost)
  );

  logic [MacBytes*8-1:0] piece, turned;
  logic [2*MacBytes*8-1:0] pair;
  logic emit, step, last_chunk;
  assign piece = rsp[32'(sub_q)*MacBytes*8+:MacBytes*8];
  assign step = state_q == Read && pieces_q != '0 && rsp_valid;
  assign emit = state_q == Read && left_q != '0 &&
      (pieces_q == '0 || (step && (primed_q || turn_q == '0)));
  assign pair = pieces_q == '0 ? {{MacBytes * 8{1'b0}}, prev_q} :
      primed_q ? {piece, prev_q} : {{MacBytes * 8{1'b0}}, piece};
  assign turned = (MacBytes * 8)'(pair >> {turn_q, 3'b000});
  assign last_chunk = left_q <= 16'(MacBytes);
  assign rsp_ready = step && (sub_q == SubBits'(Subs - 1) || pieces_q == 16'd1);

  // ---- chunks, and their sum
  logic emit_q, emit_first_q, emit_last_q, first_q, sum_valid;
  logic [MacBytes*8-1:0] chunk_q;
  always_ff @(posedge clk_i) begin
    emit_q <= emit && !rst_i;
    emit_last_q <= last_chunk;
    if (emit) emit_first_q <= 1'b0;
    if (state_q == Order) emit_first_q <= 1'b1;
    first_q <= emit_first_q;
    for (int unsigned i = 0; i < MacBytes; i++) begin
      chunk_q[i*8+:8] <= 16'(i) < left_q ? turned[i*8+:8] : 8'd0;
    end
  end

  spfe_tcp_tx_sum #(.Bytes(MacBytes)) i_sum (
    .clk_i, .rst_i,
    .valid_i(emit_q), .first_i(first_q), .last_i(emit_last_q), .data_i(chunk_q),
    .valid_o(sum_valid), .sum_o(sum_o)
  );
  logic fifo_ready, unused_almost_full;
  logic [$clog2(Depth + 1)-1:0] unused_chunks;
  spfe_fifo #(.WIDTH(MacBytes * 8), .DEPTH(Depth)) i_chunks (
    .clk_i, .rst_i,
    .valid_i(emit_q), .ready_o(fifo_ready), .data_i(chunk_q),
    .valid_o(chunk_valid_o), .ready_i(chunk_ready_i), .data_o(chunk_o),
    .count_o(unused_chunks), .almost_full_o(unused_almost_full)
  );

  always_ff @(posedge clk_i) begin
    case (state_q)
      Idle:
      if (start_i) begin
        state_q <= Order;
        mark_q <= pushed_i;
        idx_q <= IdxBits'(sid_i);
        word_q <= seq_i[WordBits+3:4];
        words_q <= 16'((17'(len_i) + 17'(seq_i[3:0]) + 17'd15) >> 4);
        sub_q <= SubBits'(seq_i[3:0] >> TurnBits);
        turn_q <= TurnBits'(seq_i);
        pieces_q <= 16'((17'(len_i) + 17'(seq_i[TurnBits-1:0]) + 17'(MacBytes - 1)) >> TurnBits);
        left_q <= len_i;
        primed_q <= 1'b0;
      end
      Order: if (!early) state_q <= Read;
      default: if (sum_valid) state_q <= Idle;
    endcase
    if (ask) begin
      word_q <= word_q + word_t'(1);
      words_q <= words_q - 16'd1;
    end
    credit_q <= credit_q - 5'(ask) + 5'(rsp_ready);
    if (step) begin
      prev_q <= piece;
      primed_q <= turn_q != '0;
      sub_q <= sub_q + SubBits'(1);
      pieces_q <= pieces_q - 16'd1;
    end
    if (emit) left_q <= last_chunk ? 16'd0 : left_q - 16'(MacBytes);
    if (rst_i) begin
      state_q <= Idle;
      credit_q <= 5'(Ahead);
    end
  end
  assign busy_o = state_q != Idle;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_idle : assert (!start_i || state_q == Idle) else $error("start while reading");
      a_len : assert (!start_i || (len_i != '0 && 32'(len_i) <= Size))
      else $error("segment of %0d bytes; 1 to %0d are possible", len_i, Size);
      a_room : assert (!emit_q || fifo_ready) else $error("no room for a chunk");
      a_answer : assert (!rsp_valid_i || unused_ready) else $error("an answer too many");
    end
  end
`endif
endmodule
