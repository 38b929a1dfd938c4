// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes the words of a virtual channel apart, and gives each packet to a side of the queue pair:
/// responses and credit to the one that sends requests, everything else to the one that receives
/// them. A packet that is not finished when the queue pair stops ends there.
module spfe_rdma_sides
  import spfe_rdma_pkg::*;
  import spfe_sf_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// The queue pair works.
  input logic on_i,

  /// Word of the virtual channel.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,

  /// Bytes, as of spfe_rdma_bytes.
  output logic [3:0][7:0] data_o,
  /// Number of bytes; with data_o.
  output logic [2:0] count_o,
  /// The packet ends here; with data_o.
  output logic last_o,
  /// It ends with EEP; with last_o.
  output logic cut_o,
  /// They are for the side that sends requests (0), or receives them (1).
  output logic [1:0] valid_o,
  input logic [1:0] ready_i
);
  // A packet has begun, and its side.
  logic open_q, receives_q, receives, valid, last, cut, taken, ends;
  logic [2:0] count;

  spfe_rdma_bytes i_bytes (
    .clk_i,
    .rst_i(rst_i || !on_i),
    .word_i,
    .word_valid_i,
    .word_ready_o,
    .data_o,
    .count_o(count),
    .last_o(last),
    .cut_o(cut),
    .valid_o(valid),
    .ready_i(taken)
  );

  assign ends = !on_i && open_q;
  assign count_o = ends ? '0 : count;
  assign last_o = ends || last;
  assign cut_o = ends || cut;
  assign receives = open_q ? receives_q : count != 3'd4 || !(data_o[3][7] || data_o[3] == OpCredit);
  assign valid_o = (ends || (valid && on_i)) ? {receives, !receives} : '0;
  assign taken = ready_i[receives];

  always_ff @(posedge clk_i) begin
    if (valid_o != '0 && taken) begin
      open_q <= !last_o;
      receives_q <= receives;
    end
    if (rst_i) open_q <= 1'b0;
  end
endmodule
