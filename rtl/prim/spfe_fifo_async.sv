// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// FIFO between two clocks, in distributed RAM. The pointers cross as Gray codes through two
/// registers, so a word is readable two to three reader cycles after it was written. Reset both
/// sides together: each reset has to last until both clocks have ticked three times.
module spfe_fifo_async #(
  /// Bits of a word; 1 or more.
  parameter int unsigned Width = 8,
  /// Words; a power of two, 4 or more.
  parameter int unsigned Depth = 16
) (
  /// Clock of the writer.
  input logic clk_i,
  /// Reset of the writer's side, synchronous to clk_i, active high.
  input logic rst_i,
  /// A word is offered; from the writer, which keeps it until ready_o.
  input logic valid_i,
  /// There is room for it; to the writer.
  output logic ready_o,
  /// The offered word; from the writer.
  input logic [Width-1:0] data_i,
  /// Clock of the reader.
  input logic rclk_i,
  /// Reset of the reader's side, synchronous to rclk_i, active high.
  input logic rrst_i,
  /// A word can be read; to the reader.
  output logic valid_o,
  /// The word is taken; from the reader.
  input logic ready_i,
  /// The oldest word; to the reader, stable until it is taken.
  output logic [Width-1:0] data_o
);
  localparam int unsigned AddrWidth = $clog2(Depth);
  // In Gray code, a pointer that is Depth ahead differs in the two highest bits.
  localparam logic [AddrWidth:0] Full = (AddrWidth + 1)'(3) << (AddrWidth - 1);

  if (Depth < 4 || (Depth & (Depth - 1)) != 0) begin : gen_bad_depth
    $error("spfe_fifo_async: Depth is %0d; powers of two from 4 are possible", Depth);
  end

  function automatic logic [AddrWidth:0] gray(input logic [AddrWidth:0] binary);
    return binary ^ (binary >> 1);
  endfunction

  // Writer.
  logic [AddrWidth:0] write_q, write_d;
  logic [AddrWidth:0] write_gray_q;
  logic [AddrWidth:0] read_gray_seen;
  // Reader.
  logic [AddrWidth:0] read_q, read_d;
  logic [AddrWidth:0] read_gray_q;
  logic [AddrWidth:0] write_gray_seen;

  assign ready_o = write_gray_q != (read_gray_seen ^ Full);
  assign write_d = write_q + (AddrWidth + 1)'(valid_i && ready_o);
  assign valid_o = read_gray_q != write_gray_seen;
  assign read_d = read_q + (AddrWidth + 1)'(valid_o && ready_i);

  always_ff @(posedge clk_i) begin
    write_q <= write_d;
    write_gray_q <= gray(write_d);
    if (rst_i) begin
      write_q <= '0;
      write_gray_q <= '0;
    end
  end

  always_ff @(posedge rclk_i) begin
    read_q <= read_d;
    read_gray_q <= gray(read_d);
    if (rrst_i) begin
      read_q <= '0;
      read_gray_q <= '0;
    end
  end

  spfe_sync #(
    .Width(AddrWidth + 1)
  ) i_sync_read (
    .clk_i,
    .data_i(read_gray_q),
    .data_o(read_gray_seen)
  );
  spfe_sync #(
    .Width(AddrWidth + 1)
  ) i_sync_write (
    .clk_i(rclk_i),
    .data_i(write_gray_q),
    .data_o(write_gray_seen)
  );

  spfe_lutram #(
    .Width(Width),
    .Depth(Depth)
  ) i_mem (
    .clk_i,
    .we_i(valid_i && ready_o),
    .addr_i(write_q[AddrWidth-1:0]),
    .data_i,
    .raddr_i(read_q[AddrWidth-1:0]),
    .rdata_o(data_o)
  );

`ifndef SYNTHESIS
  spfe_check_stream #(
    .Width(Width)
  ) i_check_writer (
    .clk_i,
    .rst_i,
    .valid_i,
    .ready_i(ready_o),
    .data_i
  );
  spfe_check_stream #(
    .Width(Width)
  ) i_check_reader (
    .clk_i(rclk_i),
    .rst_i(rrst_i),
    .valid_i(valid_o),
    .ready_i,
    .data_i(data_o)
  );
`endif
endmodule
