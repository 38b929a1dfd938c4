// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Distributed RAM with one write port and any number of asynchronous read ports. All words are
/// zero at power-up. A read of the word that is written in the same cycle returns the old value.
module spfe_lutram #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8,
  /// Number of words, 2 or more.
  parameter int unsigned Depth = 32,
  /// Number of read ports, 1 or more. Each costs a copy of the memory.
  parameter int unsigned Ports = 1,
  /// Bits in an address; follows from Depth.
  localparam int unsigned AddrWidth = $clog2(Depth)
) (
  input logic clk_i,
  /// Write enable.
  input logic we_i,
  /// Address of a write, below Depth.
  input logic [AddrWidth-1:0] addr_i,
  /// Word to write.
  input logic [Width-1:0] data_i,
  /// Address of each read port, below Depth.
  input logic [Ports-1:0][AddrWidth-1:0] raddr_i,
  /// Word at each read port, in the same cycle.
  output logic [Ports-1:0][Width-1:0] rdata_o
);
  if (Width < 1) begin : gen_bad_width
    $error("spfe_lutram: Width is %0d; 1 or more is possible", Width);
  end
  if (Depth < 2) begin : gen_bad_depth
    $error("spfe_lutram: Depth is %0d; 2 or more is possible", Depth);
  end
  if (Ports < 1) begin : gen_bad_ports
    $error("spfe_lutram: Ports is %0d; 1 or more is possible", Ports);
  end

  /* verilator lint_off PROCASSINIT */  // A memory has no reset; this is its content at power-up.
  (* ram_style = "distributed" *)
  logic [Width-1:0] mem_q[Depth] = '{default: '0};
  /* verilator lint_on PROCASSINIT */

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[addr_i] <= data_i;
  end

  for (genvar i = 0; i < Ports; i++) begin : gen_reader
    assign rdata_o[i] = mem_q[raddr_i[i]];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_address :
    assert (!we_i || 32'(addr_i) < Depth)
    else $error("write to word %0d of %0d", addr_i, Depth);
  end
`endif
endmodule
