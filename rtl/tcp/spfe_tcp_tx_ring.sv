// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Writes messages to the ring memory in 16-byte words with byte enables. The byte with sequence
/// number S goes to offset S modulo the ring size of its session.
module spfe_tcp_tx_ring
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Bytes per beat: 4, 8 or 16.
  parameter int unsigned UserBytes = 8,
  /// log2 of the number of 16-byte words in the ring memory.
  parameter int unsigned MemAddrBits = 16,
  /// Width of a byte count of one beat; derived.
  localparam int unsigned BeatBits = $clog2(UserBytes) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// A beat of a message is valid.
  input logic valid_i,
  /// First beat of the message.
  input logic first_i,
  /// Last beat of the message.
  input logic last_i,
  /// With first_i: session.
  input sid_t sid_i,
  /// With first_i: sequence number of the first byte.
  input seq_t seq_i,
  /// Beat data; first byte in bits 7:0.
  input logic [UserBytes*8-1:0] data_i,
  /// Bytes of the beat to write.
  input logic [BeatBits-1:0] bytes_i,
  /// The write FIFO has room for several more beats.
  output logic room_o,
  /// Number of writes queued before the memory, modulo 256.
  output logic [7:0] pushed_o,
  /// Number of writes accepted by the memory, modulo 256.
  output logic [7:0] popped_o,

  /// Write to the ring memory.
  output mem_write_t mem_wr_o,
  output logic mem_wr_valid_o,
  input logic mem_wr_ready_i
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  localparam int unsigned WordBits = MemAddrBits - IdxBits;
  localparam int unsigned Depth = 32;
  typedef logic [WordBits-1:0] word_t;
  logic room_q;
  logic [7:0] pushed_q;
  logic [7:0] popped_q;

  typedef struct packed {
    logic [MemAddrBits-1:0] addr;
    logic [15:0] mask;
    logic [127:0] data;
  } write_t;

  logic unused_bits;
  assign unused_bits = ^{sid_i, seq_i};

  // ---- stage 1: register the beat and its position in the ring
  logic v1_q, first1_q, last1_q;
  logic [IdxBits-1:0] idx1_q;
  logic [WordBits+3:0] pos1_q;
  logic [UserBytes*8-1:0] data1_q;
  logic [BeatBits-1:0] bytes1_q;

  assign room_o = room_q;
  assign pushed_o = pushed_q;
  assign popped_o = popped_q;

  always_ff @(posedge clk_i) begin
    // valid_i arrives late in the cycle, so it drives v1_q alone.
    v1_q <= valid_i;
    first1_q <= first_i;
    last1_q <= last_i;
    data1_q <= data_i;
    bytes1_q <= bytes_i;
    if (first_i) begin
      idx1_q <= IdxBits'(sid_i);
      pos1_q <= (WordBits + 4)'(seq_i);
    end else if (v1_q) begin
      pos1_q <= pos1_q + (WordBits + 4)'(UserBytes);
    end
    if (rst_i) v1_q <= 1'b0;
  end

  // ---- stage 2: rotate to the position in the word; bytes past its end belong to the next word
  logic [15:0][7:0] turned;
  logic [31:0] lanes;
  always_comb begin
    logic [15:0][7:0] src;
    src = '0;
    for (int unsigned i = 0; i < UserBytes; i++) src[i] = data1_q[i*8+:8];
    for (int unsigned i = 0; i < 16; i++) turned[i] = src[4'(i)-pos1_q[3:0]];
    lanes = '0;
    for (int unsigned i = 0; i < UserBytes; i++) lanes[i] = 32'(i) < 32'(bytes1_q);
    lanes = lanes << pos1_q[3:0];
  end

  logic v2_q, first2_q, last2_q;
  logic [MemAddrBits-1:0] addr2_q;
  logic [15:0][7:0] data2_q;
  logic [15:0] here2_q, next2_q;
  logic full2_q;

  always_ff @(posedge clk_i) begin
    v2_q <= v1_q;
    first2_q <= first1_q;
    last2_q <= last1_q;
    addr2_q <= {idx1_q, pos1_q[WordBits+3:4]};
    data2_q <= turned;
    here2_q <= lanes[15:0];
    next2_q <= lanes[31:16];
    full2_q <= lanes[15] || last1_q;
    if (rst_i) v2_q <= 1'b0;
  end

  // ---- stage 3: merge into the current word
  logic [15:0][7:0] part_q, merged;
  logic [15:0] part_mask_q, merged_mask;
  logic flush_q;
  logic [MemAddrBits-1:0] flush_addr_q;
  word_t next_word;
  write_t push;
  logic push_valid;

  assign next_word = addr2_q[WordBits-1:0] + word_t'(1);
  always_comb begin
    merged_mask = (first2_q ? 16'd0 : part_mask_q) | here2_q;
    for (int unsigned i = 0; i < 16; i++) merged[i] = here2_q[i] ? data2_q[i] : part_q[i];
    push.addr = addr2_q;
    push.mask = merged_mask;
    push.data = merged;
    push_valid = v2_q && full2_q && merged_mask != '0;
    if (flush_q) begin
      push.addr = flush_addr_q;
      push.mask = part_mask_q;
      push.data = part_q;
      push_valid = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (v2_q) begin
      part_q <= full2_q ? data2_q : merged;
      part_mask_q <= full2_q ? next2_q : merged_mask;
    end
    flush_q <= v2_q && last2_q && next2_q != '0;
    flush_addr_q <= {addr2_q[MemAddrBits-1:WordBits], next_word};
    if (rst_i) flush_q <= 1'b0;
  end

  // ---- write FIFO
  logic fifo_ready, almost_full;
  logic [$clog2(Depth + 1)-1:0] unused_count;
  write_t pop;
  spfe_fifo #(
    .Width($bits(write_t)),
    .Depth(Depth),
    .AlmostFull(12)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(push_valid),
    .ready_o(fifo_ready),
    .data_i(push),
    .valid_o(mem_wr_valid_o),
    .ready_i(mem_wr_ready_i),
    .data_o(pop),
    .count_o(unused_count),
    .almost_full_o(almost_full)
  );
  assign mem_wr_o = '{addr: 32'(pop.addr), data: pop.data, mask: pop.mask};

  always_ff @(posedge clk_i) begin
    room_q <= !almost_full && !rst_i;
    pushed_q <= pushed_q + 8'(push_valid);
    popped_q <= popped_q + 8'(mem_wr_valid_o && mem_wr_ready_i);
    if (rst_i) begin
      pushed_q <= '0;
      popped_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_flush :
      assert (!(flush_q && v2_q))
      else $error("a beat right behind a last one");
      a_room :
      assert (!push_valid || fifo_ready)
      else $error("no room for a word");
    end
  end
`endif
endmodule
