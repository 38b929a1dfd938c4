// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Block RAM: one writer with byte enables, one reader, both on the same clock; all words zero at
/// power-up. Reading a word in the cycle in which it is written needs READ_OLD.
module spfe_bram #(
  /// Bits of a word; a multiple of BYTE_WIDTH.
  parameter int unsigned WIDTH      = 64,
  /// Words; 2 or more.
  parameter int unsigned DEPTH      = 512,
  /// Bits that one bit of we_i writes.
  parameter int unsigned BYTE_WIDTH = WIDTH,
  /// Cycles from re_i to data_o: 1, or 2 with a register behind the memory.
  parameter int unsigned LATENCY    = 1,
  /// 1: reading the word that is being written gives the old one; costs a register and a comparator
  /// where the memory itself does not do that (ECP5). 0: it must not happen.
  parameter bit          READ_OLD   = 1'b0,
  /// Bits of an address; follows from DEPTH.
  localparam int unsigned ADDR_WIDTH = $clog2(DEPTH),
  /// Bytes of a word; follows from WIDTH.
  localparam int unsigned BYTES      = WIDTH / BYTE_WIDTH
) (
  /// Clock of both sides.
  input  logic                  clk_i,
  /// Writes these bytes of data_i to addr_i at the clock edge.
  input  logic [BYTES-1:0]      we_i,
  /// Where to write; below DEPTH.
  input  logic [ADDR_WIDTH-1:0] addr_i,
  /// What to write.
  input  logic [WIDTH-1:0]      data_i,
  /// Starts a read; data_o keeps its word in cycles without one.
  input  logic                  re_i,
  /// Where to read; below DEPTH.
  input  logic [ADDR_WIDTH-1:0] raddr_i,
  /// What was read, LATENCY cycles later.
  output logic [WIDTH-1:0]      data_o
);
  if (DEPTH < 2) begin : gen_bad_depth
    $error("spfe_bram: DEPTH is %0d; 2 or more is possible", DEPTH);
  end
  if (WIDTH < 1 || BYTES * BYTE_WIDTH != WIDTH) begin : gen_bad_width
    $error("spfe_bram: WIDTH %0d is not a multiple of BYTE_WIDTH %0d", WIDTH, BYTE_WIDTH);
  end
  if (LATENCY < 1 || LATENCY > 2) begin : gen_bad_latency
    $error("spfe_bram: LATENCY is %0d; 1 and 2 are possible", LATENCY);
  end

  /* verilator lint_off PROCASSINIT */ // A memory has no reset; this is its content at power-up.
  (* ram_style = "block", no_rw_check = !READ_OLD *)
  logic [WIDTH-1:0] mem_q [DEPTH] = '{default: '0};
  /* verilator lint_on PROCASSINIT */
  logic [WIDTH-1:0] read_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < BYTES; i++) begin
      if (we_i[i]) mem_q[addr_i][i*BYTE_WIDTH+:BYTE_WIDTH] <= data_i[i*BYTE_WIDTH+:BYTE_WIDTH];
    end
  end

  always_ff @(posedge clk_i) begin
    if (re_i) read_q <= mem_q[raddr_i];
  end

  if (LATENCY == 1) begin : gen_direct
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
    a_write: assert (we_i == '0 || 32'(addr_i) < DEPTH)
      else $error("write to word %0d of %0d", addr_i, DEPTH);
    a_read: assert (!re_i || 32'(raddr_i) < DEPTH)
      else $error("read of word %0d of %0d", raddr_i, DEPTH);
    a_collision: assert (READ_OLD || we_i == '0 || !re_i || addr_i != raddr_i)
      else $error("word %0d is read and written", addr_i);
  end
`endif
endmodule
