// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// FIFO between two clocks, with a registered output. The pointers cross in Gray code through two
/// registers, so a word is offered three to four cycles of rclk_i after it was written. Reset both
/// sides together; each reset must last for at least three cycles of both clocks.
module spfe_fifo_async #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8,
  /// Number of words, a power of two, 4 or more; one more is in the register at the output.
  parameter int unsigned Depth = 16,
  /// 1: block RAM. 0: distributed RAM.
  parameter bit Block = Depth > 64,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  /// Clock of the writer.
  input logic clk_i,
  /// Reset of the writer's side, synchronous to clk_i.
  input logic rst_i,
  /// Word from the writer.
  input logic [Width-1:0] data_i,
  input logic valid_i,
  output logic ready_o,
  /// Clock of the reader.
  input logic rclk_i,
  /// Reset of the reader's side, synchronous to rclk_i.
  input logic rrst_i,
  /// Oldest word, to the reader; belongs to rclk_i.
  output logic [Width-1:0] data_o,
  output logic valid_o,
  input logic ready_i,
  /// For one cycle of rclk_i: a bit of data_o was corrected.
  output logic corrected_o,
  /// For one cycle of rclk_i: data_o is wrong.
  output logic failed_o
);
  localparam int unsigned AddrWidth = $clog2(Depth);
  // In Gray code a pointer that is Depth ahead differs in exactly the two highest bits.
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
  logic valid_q;
  logic fetch;

  assign ready_o = write_gray_q != (read_gray_seen ^ Full);
  assign write_d = write_q + (AddrWidth + 1)'(valid_i && ready_o);
  assign fetch = read_gray_q != write_gray_seen && (!valid_q || ready_i);
  assign read_d = read_q + (AddrWidth + 1)'(fetch);
  assign valid_o = valid_q;

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
    valid_q <= fetch || (valid_q && !ready_i);
    if (rrst_i) begin
      read_q <= '0;
      read_gray_q <= '0;
      valid_q <= 1'b0;
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

  spfe_ram_safe #(
    .Width(Width),
    .Depth(Depth),
    .Block(Block),
    .Protect(Protect)
  ) i_mem (
    .clk_i,
    .we_i(valid_i && ready_o),
    .addr_i(write_q[AddrWidth-1:0]),
    .data_i,
    .rclk_i,
    .re_i(fetch),
    .raddr_i(read_q[AddrWidth-1:0]),
    .data_o,
    .corrected_o,
    .failed_o
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
