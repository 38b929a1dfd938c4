// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// SipHash (Aumasson and Bernstein, 2012), a keyed pseudo-random function with a result of 64 bits,
/// for messages of a fixed length. Takes half a round a cycle, so that only one addition lies
/// between two registers: 2 * (Blocks * Compress + Final) + Blocks + 1 cycles.
module spfe_siphash #(
  /// Blocks of 8 bytes in the padded message, 1 to 15.
  parameter int unsigned Blocks = 2,
  /// Rounds for each block: 2 in SipHash-2-4.
  parameter int unsigned Compress = 2,
  /// Rounds at the end: 4 in SipHash-2-4.
  parameter int unsigned Final = 4
) (
  input logic clk_i,
  input logic rst_i,
  /// Starts a computation, for one cycle. key_i and blocks_i are stable until done_o.
  input logic start_i,
  /// Key, byte 0 in bits 7:0.
  input logic [127:0] key_i,
  /// Padded message, byte 0 in bits 7:0. Its last byte is the length of the message modulo 256, and
  /// the bytes between are 0.
  input logic [Blocks-1:0][63:0] blocks_i,
  /// hash_o is valid, until the next start; low after a reset.
  output logic done_o,
  /// The result.
  output logic [63:0] hash_o
);
  typedef logic [63:0] word_t;
  // The last value of the block counter stands for the rounds at the end.
  localparam int unsigned CountBits = $clog2(Blocks + 1);
  localparam int unsigned StepBits = $clog2(2 * (Compress > Final ? Compress : Final) + 1);
  localparam logic [CountBits-1:0] AtEnd = CountBits'(Blocks);

  if (Blocks < 1 || Blocks > 15) begin : gen_bad_blocks
    $error("spfe_siphash: Blocks is %0d; 1 to 15 are possible", Blocks);
  end
  if (Compress < 1 || Compress > 15 || Final < 1 || Final > 15) begin : gen_bad_rounds
    $error("spfe_siphash: Compress is %0d and Final %0d; 1 to 15 are possible", Compress, Final);
  end

  word_t v0_q, v1_q, v2_q, v3_q;
  word_t a0, a2, b0, b2, block;
  logic [CountBits-1:0] block_q;
  logic [StepBits-1:0] left_q;  // half rounds of this block that are left
  logic second_q;  // the second half of a round is next
  logic busy_q, done_q;

  assign block = blocks_i[block_q<AtEnd?block_q : '0];

  // First and second half of a round.
  assign a0 = v0_q + v1_q;
  assign a2 = v2_q + v3_q;
  assign b0 = v0_q + v3_q;
  assign b2 = v2_q + v1_q;

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      v0_q <= key_i[63:0] ^ 64'h736f6d6570736575;
      v1_q <= key_i[127:64] ^ 64'h646f72616e646f6d;
      v2_q <= key_i[63:0] ^ 64'h6c7967656e657261;
      v3_q <= key_i[127:64] ^ 64'h7465646279746573 ^ blocks_i[0];
      block_q <= '0;
      left_q <= StepBits'(2 * Compress);
      second_q <= 1'b0;
      busy_q <= 1'b1;
      done_q <= 1'b0;
    end else if (busy_q && left_q != '0) begin
      left_q <= left_q - 1'b1;
      second_q <= !second_q;
      if (!second_q) begin
        v0_q <= {a0[31:0], a0[63:32]};
        v1_q <= {v1_q[50:0], v1_q[63:51]} ^ a0;
        v2_q <= a2;
        v3_q <= {v3_q[47:0], v3_q[63:48]} ^ a2;
      end else begin
        v0_q <= b0;
        v1_q <= {v1_q[46:0], v1_q[63:47]} ^ b2;
        v2_q <= {b2[31:0], b2[63:32]};
        v3_q <= {v3_q[42:0], v3_q[63:43]} ^ b0;
      end
    end else if (busy_q && block_q == AtEnd) begin
      busy_q <= 1'b0;
      done_q <= 1'b1;
    end else if (busy_q) begin
      // The block has been absorbed: go on with the next one, or with the end.
      v0_q <= v0_q ^ block;
      block_q <= block_q + 1'b1;
      if (32'(block_q) == Blocks - 1) begin
        v2_q <= v2_q ^ 64'hff;
        left_q <= StepBits'(2 * Final);
      end else begin
        v3_q <= v3_q ^ blocks_i[block_q+1'b1];
        left_q <= StepBits'(2 * Compress);
      end
    end
    if (rst_i) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
    end
  end

  assign done_o = done_q;
  assign hash_o = v0_q ^ v1_q ^ v2_q ^ v3_q;
endmodule
