// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sends the responses of the receiving side of a queue pair, which has no regions. Responses wait
/// here while the channel takes no words.
module spfe_rdma_answer
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Responses that wait: a power of two from 2 to 64.
  parameter int unsigned Depth = 32
) (
  input logic clk_i,
  input logic rst_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,
  /// Logarithm of the largest payload of a packet.
  input logic [3:0] segment_log2_i,

  /// Response to make. It carries nothing, INFO, no regions, or credit.
  input response_t response_i,
  /// The queue pair takes messages, for INFO; with response_i.
  input logic receives_i,
  input logic response_valid_i,
  output logic response_ready_o,
  /// Nothing waits to be sent.
  output logic idle_o,

  /// Word for the virtual channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  localparam int unsigned InfoBytes = 32;

  // What waits: header, path, whether INFO follows, and what it says.
  typedef struct packed {
    header_t header;
    path_t path;
    logic [4:0] path_bytes;
    logic info;
    logic receives;
  } waiting_t;

  waiting_t next, first;
  logic first_valid, ready, re, raddr;
  logic [15:0][7:0] rdata_q;
  logic [1:0][127:0] info_q;
  logic [127:0] half;
  logic [$clog2(Depth+1)-1:0] unused_count;
  logic [4:0] unused_vc;
  logic unused_bank, unused_full;

  always_comb begin
    next.header = response_to(response_i.request);
    next.header.status = response_i.status;
    next.header.address = response_i.bytes;
    next.header.immediate = response_i.immediate;
    next.info = response_i.carry == CarryInfo;
    if (next.info) begin
      next.header.length = 32'(InfoBytes);
      next.header.flags.payload_crc = 1'b1;
    end
    if (response_i.carry == CarryCredit) begin
      next.header.code = OpCredit;
      next.header.flags = '0;
      next.header.status = VcOfArrival;
    end
    next.receives = receives_i;
    next.path = response_i.path;
    next.path_bytes = response_i.request.path_bytes[4:0];
  end

  spfe_fifo #(
    .Width($bits(waiting_t)),
    .Depth(Depth)
  ) i_waiting (
    .clk_i,
    .rst_i,
    .data_i(next),
    .valid_i(response_valid_i),
    .ready_o(response_ready_o),
    .data_o(first),
    .valid_o(first_valid),
    .ready_i(ready),
    .count_o(unused_count),
    .almost_full_o(unused_full)
  );
  assign idle_o = !first_valid && ready && !word_valid_o;

  // The content of INFO, byte 0 in the highest bits, is that of the moment in which it is sent.
  always_ff @(posedge clk_i) begin
    if (first_valid && ready) begin
      info_q[0] <= {
        4'd0,
        Version,
        4'd0,
        Version,
        5'd0,
        first.receives,
        1'b1,
        first.receives,
        4'd0,
        segment_log2_i,
        16'd0,
        16'(Results),
        first.receives ? 32'hffff_ffff : 32'(NoteBytes),
        32'd0
      };
      info_q[1] <= {64'd0, time_ns_i};
    end
  end
  assign half = info_q[raddr];
  always_ff @(posedge clk_i) begin
    if (re) rdata_q <= {reversed(half[63:0]), reversed(half[127:64])};
  end

  spfe_rdma_transmit #(
    .AddrWidth(1)
  ) i_transmit (
    .clk_i,
    .rst_i,
    .header_i(first.header),
    .reply_i('0),
    .path_i(first.path),
    .path_bytes_i(first.path_bytes),
    .bytes_i(first.info ? 17'(InfoBytes) : '0),
    .bank_i(1'b0),
    .vc_i('0),
    .valid_i(first_valid),
    .ready_o(ready),
    .re_o(re),
    .raddr_o({unused_bank, raddr}),
    .rdata_i(rdata_q),
    .failed_i(1'b0),
    .word_o,
    .vc_o(unused_vc),
    .word_valid_o,
    .word_ready_i
  );

  logic unused;
  assign unused = ^{response_i, unused_count, unused_vc, unused_bank, unused_full};
endmodule
