// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The initiators that a target knows. One that is not known takes a free place or that of the
/// initiator that was quiet longest.
module spfe_rdma_peers
  import spfe_rdma_pkg::*;
#(
  /// Number of initiators, 2 or more.
  parameter int unsigned Peers = 32,
  /// Check bits, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a place; follows from Peers.
  localparam int unsigned SlotWidth = $clog2(Peers)
) (
  input logic clk_i,
  input logic rst_i,

  /// Logical address of the initiator to look for.
  input logic [7:0] sender_i,
  /// Its queue pair.
  input logic [15:0] sender_queue_i,
  /// For one cycle: begin.
  input logic find_i,
  /// The initiator is known; with done_o.
  output logic hit_o,
  /// Its place, or the one to take for it; with done_o.
  output logic [SlotWidth-1:0] slot_o,
  /// What is known of it; with done_o, if hit_o.
  output peer_t peer_o,
  /// For one cycle: the search has ended.
  output logic done_o,

  /// What is to be kept.
  input peer_t put_i,
  /// Where; with put_i or remove_i.
  input logic [SlotWidth-1:0] slot_i,
  input logic put_valid_i,
  /// For one cycle: forget the initiator at slot_i.
  input logic remove_i,
  /// For one cycle: the memory has given a wrong word.
  output logic failed_o
);
  logic [Peers-1:0] valid_q;
  logic [SlotWidth-1:0] ask_q, at_q, free_q, oldest_q;
  logic asking_q, fresh_q, end_q, free_valid_q, old_valid_q;
  logic [31:0] least_q;
  peer_t read;
  logic hit, wrong, unused_corrected;

  spfe_ram_safe #(
    .Width($bits(peer_t)),
    .Depth(Peers),
    .Block(1'b0),
    .Protect(Protect)
  ) i_mem (
    .clk_i,
    .we_i(put_valid_i),
    .addr_i(slot_i),
    .data_i(put_i),
    .rclk_i(clk_i),
    .re_i(asking_q),
    .raddr_i(ask_q),
    .data_o(read),
    .corrected_o(unused_corrected),
    .failed_o(wrong)
  );

  // A place that was never written says nothing.
  assign failed_o = wrong && valid_q[at_q];
  assign hit = fresh_q && valid_q[at_q] && !wrong && read.sender == sender_i &&
      read.sender_queue == sender_queue_i;
  assign hit_o = hit;
  assign slot_o = hit ? at_q : free_valid_q ? free_q : oldest_q;
  assign peer_o = read;
  assign done_o = hit || end_q;

  always_ff @(posedge clk_i) begin
    fresh_q <= asking_q && !hit;
    at_q <= ask_q;
    end_q <= fresh_q && !hit && at_q == SlotWidth'(Peers - 1);
    if (find_i) begin
      asking_q <= 1'b1;
      ask_q <= '0;
      free_valid_q <= 1'b0;
      old_valid_q <= 1'b0;
    end else if (asking_q) begin
      ask_q <= ask_q + 1'b1;
      if (hit || ask_q == SlotWidth'(Peers - 1)) asking_q <= 1'b0;
    end
    if (fresh_q && !valid_q[at_q] && !free_valid_q) begin
      free_valid_q <= 1'b1;
      free_q <= at_q;
    end
    if (fresh_q && valid_q[at_q] && (!old_valid_q || read.used < least_q)) begin
      old_valid_q <= 1'b1;
      least_q <= read.used;
      oldest_q <= at_q;
    end
    if (put_valid_i) valid_q[slot_i] <= 1'b1;
    if (remove_i) valid_q[slot_i] <= 1'b0;
    if (rst_i) begin
      valid_q <= '0;
      asking_q <= 1'b0;
      fresh_q <= 1'b0;
      end_q <= 1'b0;
    end
  end

  if (Peers < 2) begin : gen_bad_peers
    $error("spfe_rdma_peers: Peers is %0d; 2 or more is possible", Peers);
  end
endmodule
