// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Block RAM: one writer with byte enables, one reader, both on the same clock; all words zero at
/// power-up. Reading a word in the cycle in which it is written needs ReadOld.
module spfe_bram #(
  /// Bits of a word; a multiple of ByteWidth.
  parameter int unsigned Width = 64,
  /// Words; 2 or more.
  parameter int unsigned Depth = 512,
  /// Bits that one bit of we_i writes.
  parameter int unsigned ByteWidth = Width,
  /// Cycles from re_i to data_o: 1, or 2 with a register behind the memory.
  parameter int unsigned Latency = 1,
  /// 1: reading the word that is being written gives the old one; costs a register and a comparator
  /// where the memory itself does not do that (ECP5). 0: it must not happen.
  parameter bit ReadOld = 1'b0,
  /// Bits of an address; follows from Depth.
  localparam int unsigned AddrWidth = $clog2(Depth),
  /// Bytes of a word; follows from Width.
  localparam int unsigned Bytes = Width / ByteWidth
) (
  /// Clock of both sides.
  input logic clk_i,
  /// Writes these bytes of data_i to addr_i at the clock edge.
  input logic [Bytes-1:0] we_i,
  /// Where to write; below Depth.
  input logic [AddrWidth-1:0] addr_i,
  /// What to write.
  input logic [Width-1:0] data_i,
  /// Starts a read; data_o keeps its word in cycles without one.
  input logic re_i,
  /// Where to read; below Depth.
  input logic [AddrWidth-1:0] raddr_i,
  /// What was read, Latency cycles later.
  output logic [Width-1:0] data_o
);
  if (Depth < 2) begin : gen_bad_depth
    $error("spfe_bram: Depth is %0d; 2 or more is possible", Depth);
  end
  if (Width < 1 || Bytes * ByteWidth != Width) begin : gen_bad_width
    $error("spfe_bram: Width %0d is not a multiple of ByteWidth %0d", Width, ByteWidth);
  end
  if (Latency < 1 || Latency > 2) begin : gen_bad_latency
    $error("spfe_bram: Latency is %0d; 1 and 2 are possible", Latency);
  end

  /* verilator lint_off PROCASSINIT */  // A memory has no reset; this is its content at power-up.
  (* ram_style = "block", no_rw_check = !ReadOld *)
  logic [Width-1:0] mem_q[Depth] = '{default: '0};
  /* verilator lint_on PROCASSINIT */
  logic [Width-1:0] read_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (we_i[i]) mem_q[addr_i][i*ByteWidth+:ByteWidth] <= data_i[i*ByteWidth+:ByteWidth];
    end
  end

  always_ff @(posedge clk_i) begin
    if (re_i) read_q <= mem_q[raddr_i];
  end

  if (Latency == 1) begin : gen_direct
    assign data_o = read_q;
  end else begin : gen_register
    logic read_valid_q;
    always_ff @(posedge clk_i) begin
      read_valid_q <= re_i;
      if (read_valid_q) data_o <= read_q;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_write :
    assert (we_i == '0 || 32'(addr_i) < Depth)
    else $error("write to word %0d of %0d", addr_i, Depth);
    a_read :
    assert (!re_i || 32'(raddr_i) < Depth)
    else $error("read of word %0d of %0d", raddr_i, Depth);
    a_collision :
    assert (ReadOld || we_i == '0 || !re_i || addr_i != raddr_i)
    else $error("word %0d is read and written", addr_i);
  end
`endif
endmodule
