// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_rdma_split never gives the words of a packet to two sides, never mixes the words of two
/// packets that go out, and keeps what it offers.
module formal_rdma_split
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  /// Free: second byte.
  input logic [7:0] protocol_i,
  /// Free: number of bytes.
  input logic [2:0] count_i,
  /// Free: end of the packet.
  input logic last_i,
  /// Free: bytes come.
  input logic valid_i,
  /// Free: SFRP and RMAP take them.
  input logic [1:0] takes_i,
  /// Free: a word of SFRP and one of RMAP end their packets.
  input logic [1:0] ends_i,
  /// Free: SFRP and RMAP have a word.
  input logic [1:0] has_i,
  /// Free: ready of the sink.
  input logic ready_i
);
  logic rst_q = 1'b1;
  always_ff @(posedge clk_i) rst_q <= 1'b0;

  logic ready, sfrp_valid, rmap_valid, valid;
  logic [1:0] word_ready;
  logic [4:0] vc;
  word_t [1:0] words;
  word_t word;
  for (genvar i = 0; i < 2; i++) begin : gen_word
    assign words[i] = ends_i[i] ? '{k: 4'hf, bits: {Fill, Fill, Fill, Eop}} : '0;
  end

  spfe_rdma_split i_dut (
    .clk_i,
    .rst_i(rst_q),
    .protocol_i,
    .count_i,
    .last_i,
    .valid_i,
    .ready_o(ready),
    .sfrp_valid_o(sfrp_valid),
    .sfrp_ready_i(takes_i[0]),
    .rmap_valid_o(rmap_valid),
    .rmap_ready_i(takes_i[1]),
    .sfrp_word_i(words[0]),
    .sfrp_vc_i(5'd0),
    .sfrp_word_valid_i(has_i[0]),
    .sfrp_word_ready_o(word_ready[0]),
    .rmap_word_i(words[1]),
    .rmap_vc_i(5'd1),
    .rmap_word_valid_i(has_i[1]),
    .rmap_word_ready_o(word_ready[1]),
    .word_o(word),
    .vc_o(vc),
    .word_valid_o(valid),
    .word_ready_i(ready_i)
  );

  // The side of the packet that is coming in, and of the one that goes out.
  logic in_q, in_rmap_q, out_q, waits_q;
  logic [4:0] out_vc_q;
  logic [1:0] held_q, held_ends_q;
  always_ff @(posedge clk_i) begin
    if (valid_i && ready) begin
      in_q <= !last_i;
      in_rmap_q <= rmap_valid;
    end
    if (valid && ready_i) out_q <= word.k == '0;
    waits_q <= valid && !ready_i;
    if (valid) out_vc_q <= vc;
    held_q <= has_i & ~word_ready;
    held_ends_q <= ends_i;
    if (rst_q) {in_q, out_q, waits_q, held_q} <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      // A side keeps the word that it offers.
      m_held : assume ((held_q & ~has_i) == '0 && (held_q & (ends_i ^ held_ends_q)) == '0);
      a_one_side : assert (!(sfrp_valid && rmap_valid) && (sfrp_valid || rmap_valid) == valid_i);
      a_same_side_in : assert (!in_q || !valid_i || rmap_valid == in_rmap_q);
      a_protocol :
      assert (in_q || !valid_i || rmap_valid == (count_i >= 3'd2 && protocol_i == 8'h01));
      a_same_side_out : assert (!out_q || !valid || vc == out_vc_q);
      a_keeps : assert (!waits_q || (valid && vc == out_vc_q));
      a_no_loss : assert ((word_ready[0] && word_ready[1]) == 1'b0);
      c_mixed : cover (out_q && vc == 5'd0 && has_i == 2'b11 && valid && ready_i);
      c_rmap : cover (out_q && vc == 5'd1 && has_i == 2'b11);
    end
  end
endmodule
