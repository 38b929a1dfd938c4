// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Splits a transfer into AXI4 bursts. A burst ends where a block of BurstBytes ends, so none
/// crosses a 4 KiB boundary (AXI4, A3.4.1). The addresses of bursts are those of whole beats.
module spfe_axi_split #(
  /// Bits of an address, more than 12.
  parameter int unsigned AddrWidth = 64,
  /// Bits of a length.
  parameter int unsigned LenWidth = 32,
  /// Bytes in a beat, a power of two from 4 to 128.
  parameter int unsigned Bytes = 16,
  /// Largest burst in bytes, a power of two from 2 * Bytes to 4096, at most 256 beats.
  parameter int unsigned BurstBytes = 256,
  /// Bits of a place in a beat; follows from Bytes.
  localparam int unsigned PlaceWidth = $clog2(Bytes)
) (
  input logic clk_i,
  input logic rst_i,
  /// Address of the first byte of the transfer.
  input logic [AddrWidth-1:0] cmd_addr_i,
  /// Bytes of the transfer, 1 or more; it must not pass the end of the address space.
  input logic [LenWidth-1:0] cmd_len_i,
  /// The two belong together.
  input logic cmd_valid_i,
  /// The transfer was taken.
  output logic cmd_ready_o,
  /// Address of the first beat of the burst.
  output logic [AddrWidth-1:0] burst_addr_o,
  /// Beats of the burst, less one.
  output logic [7:0] burst_len_o,
  /// Place of the first byte of the burst in its first beat; 0 except in the first burst.
  output logic [PlaceWidth-1:0] burst_first_o,
  /// Place of the last byte of the burst in its last beat.
  output logic [PlaceWidth-1:0] burst_end_o,
  /// It is the last burst of the transfer.
  output logic burst_last_o,
  /// All fields of the burst are valid.
  output logic burst_valid_o,
  /// The burst was taken.
  input logic burst_ready_i
);
  localparam int unsigned BlockWidth = $clog2(BurstBytes);

  if (Bytes < 4 || Bytes > 128 || (Bytes & (Bytes - 1)) != 0) begin : gen_bad_bytes
    $error("spfe_axi_split: Bytes is %0d; powers of two from 4 to 128 are possible", Bytes);
  end
  if (BurstBytes < 2 * Bytes || BurstBytes > 4096 || BurstBytes > 256 * Bytes
      || (BurstBytes & (BurstBytes - 1)) != 0) begin : gen_bad_burst
    $error(
      "spfe_axi_split: BurstBytes is %0d; powers of two from 2 beats to 4096 are possible",
      BurstBytes
    );
  end
  if (AddrWidth <= 12 || LenWidth < 1) begin : gen_bad_width
    $error(
      "spfe_axi_split: AddrWidth is %0d and LenWidth %0d; from 13 and from 1 are possible",
      AddrWidth,
      LenWidth
    );
  end

  logic [AddrWidth-1:0] addr_q;
  // Bytes left, less one.
  logic [LenWidth-1:0] left_q;
  logic busy_q;

  // Bytes from addr_q to the end of its block, less one, and the last byte of the burst.
  logic [BlockWidth-1:0] room;
  logic [BlockWidth-1:0] burst_end;

  assign room = ~addr_q[BlockWidth-1:0];
  assign burst_last_o = left_q <= LenWidth'(room);
  if (LenWidth >= BlockWidth) begin : gen_long
    assign burst_end = addr_q[BlockWidth-1:0] + (burst_last_o ? left_q[BlockWidth-1:0] : room);
  end else begin : gen_short
    assign burst_end = addr_q[BlockWidth-1:0] + (burst_last_o ? BlockWidth'(left_q) : room);
  end

  assign burst_addr_o = {addr_q[AddrWidth-1:PlaceWidth], PlaceWidth'(0)};
  assign burst_first_o = addr_q[PlaceWidth-1:0];
  assign burst_end_o = burst_end[PlaceWidth-1:0];
  assign burst_len_o = 8'(burst_end[BlockWidth-1:PlaceWidth] - addr_q[BlockWidth-1:PlaceWidth]);
  assign burst_valid_o = busy_q;
  assign cmd_ready_o = !busy_q || (burst_ready_i && burst_last_o);

  always_ff @(posedge clk_i) begin
    if (cmd_valid_i && cmd_ready_o) begin
      addr_q <= cmd_addr_i;
      left_q <= cmd_len_i - 1'b1;
      busy_q <= 1'b1;
    end else if (busy_q && burst_ready_i) begin
      addr_q <= {addr_q[AddrWidth-1:BlockWidth] + 1'b1, BlockWidth'(0)};
      left_q <= left_q - LenWidth'(room) - 1'b1;
      busy_q <= !burst_last_o;
    end
    if (rst_i) busy_q <= 1'b0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_length :
    assert (rst_i || !cmd_valid_i || cmd_len_i != '0)
    else $error("a transfer of no bytes");
  end
`endif
endmodule
