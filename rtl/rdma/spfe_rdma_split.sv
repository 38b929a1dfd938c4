// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Gives each packet to the side of its protocol, RMAP or SFRP, and puts the packets of both sides
/// one after the other.
module spfe_rdma_split
  import spfe_rmap_pkg::*;
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,

  /// Second byte; with valid_i.
  input logic [7:0] protocol_i,
  /// Number of bytes; with valid_i.
  input logic [2:0] count_i,
  /// The packet ends here; with valid_i.
  input logic last_i,
  /// Bytes of a packet, as of spfe_rdma_bytes.
  input logic valid_i,
  /// They are taken.
  output logic ready_o,
  /// They are for this side.
  output logic sfrp_valid_o,
  input logic sfrp_ready_i,
  /// They are for this side. Packets without a protocol are not.
  output logic rmap_valid_o,
  input logic rmap_ready_i,

  /// Word of SFRP.
  input word_t sfrp_word_i,
  /// Virtual channel; with sfrp_word_i.
  input logic [4:0] sfrp_vc_i,
  input logic sfrp_word_valid_i,
  output logic sfrp_word_ready_o,
  /// Word of RMAP.
  input word_t rmap_word_i,
  /// Virtual channel; with rmap_word_i.
  input logic [4:0] rmap_vc_i,
  input logic rmap_word_valid_i,
  output logic rmap_word_ready_o,
  /// Word to send.
  output word_t word_o,
  /// Virtual channel; with word_o.
  output logic [4:0] vc_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  // A packet has begun, and it is of RMAP.
  logic open_q, rmap_q, rmap;

  assign rmap = open_q ? rmap_q : count_i >= 3'd2 && protocol_i == RmapProtocol;
  assign sfrp_valid_o = valid_i && !rmap;
  assign rmap_valid_o = valid_i && rmap;
  assign ready_o = rmap ? rmap_ready_i : sfrp_ready_i;

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) begin
      open_q <= !last_i;
      rmap_q <= rmap;
    end
    if (rst_i) open_q <= 1'b0;
  end

  spfe_rdma_merge i_merge (
    .clk_i,
    .rst_i,
    .side_i({rmap_word_i, sfrp_word_i}),
    .side_vc_i({rmap_vc_i, sfrp_vc_i}),
    .side_valid_i({rmap_word_valid_i, sfrp_word_valid_i}),
    .side_ready_o({rmap_word_ready_o, sfrp_word_ready_o}),
    .word_o,
    .vc_o,
    .word_valid_o,
    .word_ready_i
  );
endmodule
