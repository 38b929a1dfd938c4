// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The registers of a queue pair: checks their ranges, and puts in what 0 stands for.
module spfe_ep_pair_check
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_rdma_pair_pkg::*;
(
  /// Context of the queue.
  input context_t context_i,
  /// The queue pair.
  output pair_t pair_o,
  /// All values are within their ranges.
  output logic good_o
);
  /// Register PAIR.
  typedef struct packed {
    logic [7:0] segment_log2;
    logic [7:0] protocol;
    logic [7:0] target;
    logic [7:0] address;
    logic [15:0] partner;
    logic [15:0] own;
  } ends_t;
  /// Register LIMITS.
  typedef struct packed {
    logic [31:0] timeout_us;
    logic [7:0] reply;
    logic [7:0] path;
    logic [7:0] not_ready;
    logic [7:0] retries;
  } limits_t;

  // Largest payload of a packet that an initiator sends, and the values that 0 stands for.
  localparam logic [7:0] SegmentLog2 = 8'd12;
  localparam logic [31:0] TimeoutUs = 32'd200_000;
  localparam logic [7:0] Protocol = 8'hf0;

  ends_t ends;
  limits_t limits;
  logic [7:0] segment_log2, protocol;
  logic [31:0] timeout_us;
  assign ends = ends_t'(context_i.pair);
  assign limits = limits_t'(context_i.limits);
  assign segment_log2 = ends.segment_log2 == '0 ? SegmentLog2 : ends.segment_log2;
  assign protocol = ends.protocol == '0 ? Protocol : ends.protocol;
  assign timeout_us = limits.timeout_us == '0 ? TimeoutUs : limits.timeout_us;
  assign good_o = ends.own != '0 && protocol >= 8'hf0 && protocol <= 8'hfe
      && segment_log2 >= 8'd8 && segment_log2 <= 8'd16 && limits.retries <= 8'd16
      && limits.path <= 8'd8 && limits.reply <= 8'd8;
  assign pair_o = '{
      domain: context_i.domain[15:0],
      own: ends.own,
      partner: ends.partner,
      address: ends.address,
      target: ends.target,
      protocol: protocol,
      segment_log2: segment_log2 > SegmentLog2 ? SegmentLog2[3:0] : segment_log2[3:0],
      retries: limits.retries[4:0],
      not_ready: limits.not_ready,
      timeout_ns: 64'(timeout_us) * 64'd1000,
      path_bytes: limits.path[3:0],
      path: context_i.path,
      reply_bytes: limits.reply[3:0],
      reply: context_i.reply
    };

  logic unused;
  assign unused = ^context_i;
endmodule
