// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// RAM with a write port and a registered read port of different clocks. It relies on no content at
/// power-up. A word that is read while it is written has no defined value: the user keeps the two
/// apart, as the pointers of a FIFO do.
module spfe_ram_2c #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 64,
  /// Number of words, 2 or more.
  parameter int unsigned Depth = 512,
  /// 1: block RAM. 0: distributed RAM.
  parameter bit Block = 1'b1,
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
  /// Address of a read, below Depth.
  input logic [AddrWidth-1:0] raddr_i,
  /// Word read, one cycle of rclk_i after re_i.
  output logic [Width-1:0] data_o
);
  if (Width < 1) begin : gen_bad_width
    $error("spfe_ram_2c: Width is %0d; 1 or more is possible", Width);
  end
  if (Depth < 2) begin : gen_bad_depth
    $error("spfe_ram_2c: Depth is %0d; 2 or more is possible", Depth);
  end

  logic [Width-1:0] read_q;

  if (Block) begin : gen_block
    (* ram_style = "block", no_rw_check *)
    logic [Width-1:0] mem_q[Depth];

    always_ff @(posedge clk_i) begin
      if (we_i) mem_q[addr_i] <= data_i;
    end
    always_ff @(posedge rclk_i) begin
      if (re_i) read_q <= mem_q[raddr_i];
    end
  end else begin : gen_distributed
    (* ram_style = "distributed" *)
    logic [Width-1:0] mem_q[Depth];

    always_ff @(posedge clk_i) begin
      if (we_i) mem_q[addr_i] <= data_i;
    end
    always_ff @(posedge rclk_i) begin
      if (re_i) read_q <= mem_q[raddr_i];
    end
  end

  assign data_o = read_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_write :
    assert (!we_i || 32'(addr_i) < Depth)
    else $error("write to word %0d of %0d", addr_i, Depth);
  end
`endif
endmodule
