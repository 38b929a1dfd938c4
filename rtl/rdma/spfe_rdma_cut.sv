// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The last register before a virtual channel. When a queue pair stops, nothing waits for the
/// channel: the rest of its packet is dropped, and EEP ends what was sent of it.
module spfe_rdma_cut
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// The queue pair stops, until no packet of it is under way.
  input logic stop_i,
  /// Word of a packet.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,
  /// Word for the channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  word_t word_q;
  logic valid_q, open_q, owes_q, free, ends;

  always_comb begin
    ends = 1'b0;
    for (int unsigned i = 0; i < 4; i++)
    ends |= word_i.k[i] && word_i.bits[8*i+:8] inside {Eop, Eep};
  end
  assign free = !valid_q || word_ready_i;
  assign word_ready_o = stop_i || (free && !owes_q);
  assign word_o = word_q;
  assign word_valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (word_ready_i) valid_q <= 1'b0;
    if (free && owes_q) begin
      word_q <= '{k: 4'hf, bits: {Fill, Fill, Fill, Eep}};
      valid_q <= 1'b1;
      owes_q <= 1'b0;
    end else if (word_valid_i && word_ready_o && !stop_i) begin
      word_q <= word_i;
      valid_q <= 1'b1;
      open_q <= !ends;
    end
    if (stop_i && open_q) begin
      open_q <= 1'b0;
      owes_q <= 1'b1;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      open_q <= 1'b0;
      owes_q <= 1'b0;
    end
  end
endmodule
