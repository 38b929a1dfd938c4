// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Block RAM with one write port, one read port and one clock. All words are zero at power-up.
module spfe_bram #(
  /// Bits in a word, a multiple of ByteWidth.
  parameter int unsigned Width = 64,
  /// Number of words, 2 or more.
  parameter int unsigned Depth = 512,
  /// Bits that each bit of we_i enables.
  parameter int unsigned ByteWidth = Width,
  /// Cycles from re_i to data_o: 1, or 2 with a register behind the memory.
  parameter int unsigned Latency = 1,
  /// 1: a read of the word that is written in the same cycle returns the old value, which costs a
  /// register and a comparator where the memory cannot do it (ECP5). 0: such a read is an error.
  parameter bit ReadOld = 1'b0,
  /// Bits in an address; follows from Depth.
  localparam int unsigned AddrWidth = $clog2(Depth),
  /// Number of bytes in a word; follows from Width.
  localparam int unsigned Bytes = Width / ByteWidth
) (
  input logic clk_i,
  /// Byte enables of a write.
  input logic [Bytes-1:0] we_i,
  /// Address of a write, below Depth.
  input logic [AddrWidth-1:0] addr_i,
  /// Word to write.
  input logic [Width-1:0] data_i,
  /// Starts a read. Without one, data_o keeps its value.
  input logic re_i,
  /// Address of a read, below Depth.
  input logic [AddrWidth-1:0] raddr_i,
  /// Word read, Latency cycles after re_i.
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
    logic [Width-1:0] data_q;

    assign data_o = data_q;
    always_ff @(posedge clk_i) begin
      read_valid_q <= re_i;
      if (read_valid_q) data_q <= read_q;
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
