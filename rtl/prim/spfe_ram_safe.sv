// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// RAM for devices in radiation: each word is stored with check bits, and the read port says
/// what it found. It relies on no content at power-up; read only words that were written. The two
/// ports have clocks of their own, which may be one and the same.
module spfe_ram_safe
  import spfe_secded_pkg::*;
#(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 64,
  /// Number of words, 2 or more.
  parameter int unsigned Depth = 512,
  /// 1: block RAM. 0: distributed RAM.
  parameter bit Block = 1'b1,
  /// 0: no check bits. 1: a parity bit, which detects one wrong bit. 2: SECDED, which corrects one
  /// wrong bit and detects two.
  parameter int unsigned Protect = 0,
  /// Cycles from re_i to data_o: 1, or 2 with a register behind the memory, before the check.
  parameter int unsigned Latency = 1,
  /// Bits in an address; follows from Depth.
  localparam int unsigned AddrWidth = $clog2(Depth)
) (
  /// Clock of the write port.
  input logic clk_i,
  /// Write enable.
  input logic we_i,
  /// Address of a write, below Depth.
  input logic [AddrWidth-1:0] addr_i,
  /// Word to write.
  input logic [Width-1:0] data_i,
  /// Clock of the read port.
  input logic rclk_i,
  /// Starts a read. Without one, data_o keeps its value.
  input logic re_i,
  /// Address of a read, below Depth; not the word being written.
  input logic [AddrWidth-1:0] raddr_i,
  /// Word read, Latency cycles of rclk_i after re_i, with one wrong bit corrected.
  output logic [Width-1:0] data_o,
  /// For one cycle, with data_o: a bit was corrected.
  output logic corrected_o,
  /// For one cycle, with data_o: the word is wrong.
  output logic failed_o
);
  localparam int unsigned Checks = Protect == 2 ? check_bits(Width) : Protect;
  localparam int unsigned Stored = Width + Checks;

  if (Protect > 2) begin : gen_bad_protect
    $error("spfe_ram_safe: Protect is %0d; 0, 1 and 2 are possible", Protect);
  end
  if (Latency < 1 || Latency > 2) begin : gen_bad_latency
    $error("spfe_ram_safe: Latency is %0d; 1 and 2 are possible", Latency);
  end

  logic [Stored-1:0] in;
  logic [Stored-1:0] read;
  logic [Stored-1:0] out;
  logic [Latency-1:0] fresh_q;

  spfe_ram_2c #(
    .Width(Stored),
    .Depth(Depth),
    .Block(Block)
  ) i_mem (
    .clk_i,
    .we_i,
    .addr_i,
    .data_i(in),
    .rclk_i,
    .re_i,
    .raddr_i,
    .data_o(read)
  );

  if (Latency == 1) begin : gen_direct
    assign out = read;
    always_ff @(posedge rclk_i) fresh_q <= re_i;
  end else begin : gen_register
    logic [Stored-1:0] out_q;
    assign out = out_q;
    always_ff @(posedge rclk_i) begin
      fresh_q <= {fresh_q[0], re_i};
      if (fresh_q[0]) out_q <= read;
    end
  end

  if (Protect == 2) begin : gen_secded
    logic [Checks-1:0] check;
    logic corrected;
    logic failed;

    spfe_secded_encode #(
      .Width(Width)
    ) i_encode (
      .data_i,
      .check_o(check)
    );
    spfe_secded_decode #(
      .Width(Width)
    ) i_decode (
      .data_i(out[Width-1:0]),
      .check_i(out[Stored-1:Width]),
      .data_o,
      .corrected_o(corrected),
      .failed_o(failed)
    );
    assign in = {check, data_i};
    assign corrected_o = corrected && fresh_q[Latency-1];
    assign failed_o = failed && fresh_q[Latency-1];
  end else if (Protect == 1) begin : gen_parity
    assign in = {^data_i, data_i};
    assign data_o = out[Width-1:0];
    assign corrected_o = 1'b0;
    assign failed_o = ^out && fresh_q[Latency-1];
  end else begin : gen_none
    logic unused_fresh;
    assign unused_fresh = fresh_q[Latency-1];
    assign in = data_i;
    assign data_o = out;
    assign corrected_o = 1'b0;
    assign failed_o = 1'b0;
  end
endmodule
