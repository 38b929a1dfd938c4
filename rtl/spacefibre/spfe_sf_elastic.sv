// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Receive elastic buffer (ECSS-E-ST-50-11C, 5.5.5): words come with the clock of the far end and
/// leave with the near one. It deletes or repeats SKIP words to stay half full, and reports a loss
/// as RXERR.
module spfe_sf_elastic
  import spfe_sf_pkg::*;
#(
  /// Words of the buffer, a power of two, 8 or more.
  parameter int unsigned Depth = 16
) (
  /// Recovered clock of the receiver.
  input logic clk_i,
  /// Reset of the recovered clock's side.
  input logic rst_i,
  /// Word from the line, in each cycle of clk_i.
  input word_t word_i,
  /// There is a signal; with word_i.
  input logic on_i,
  /// Clock of the lane.
  input logic rclk_i,
  /// Reset of the lane's side; begins and ends together with rst_i.
  input logic rrst_i,
  /// Word for the lane, in each cycle of rclk_i; SKIP while nothing is there.
  output word_t word_o,
  /// There is a signal; with word_o.
  output logic on_o
);
  localparam int unsigned AddrWidth = $clog2(Depth);

  if (Depth < 8 || (Depth & (Depth - 1)) != 0) begin : gen_bad_depth
    $error("spfe_sf_elastic: Depth is %0d; powers of two from 8 are possible", Depth);
  end

  function automatic logic [AddrWidth:0] gray(input logic [AddrWidth:0] binary);
    return binary ^ (binary >> 1);
  endfunction

  function automatic logic [AddrWidth:0] binary(input logic [AddrWidth:0] coded);
    logic [AddrWidth:0] value;
    value = coded;
    for (int unsigned i = 1; i <= AddrWidth; i++) value ^= coded >> i;
    return value;
  endfunction

  // Writer: a SKIP is deleted while the buffer is more than half full; without room a word is lost.
  logic [AddrWidth:0] write_q;
  logic [AddrWidth:0] write_gray_q;
  logic [AddrWidth:0] read_gray_seen;
  logic [AddrWidth:0] fill_w;
  logic lost_q;
  logic room;
  logic write;

  assign fill_w = write_q - binary(read_gray_seen);
  assign room = 32'(fill_w) < Depth;
  assign write = room && !(word_i == Skip && on_i && 32'(fill_w) > Depth / 2);

  always_ff @(posedge clk_i) begin
    if (write) write_q <= write_q + 1'b1;
    write_gray_q <= gray(write_q + (AddrWidth + 1)'(write));
    lost_q <= !room || (lost_q && !write);
    if (rst_i) begin
      write_q <= '0;
      write_gray_q <= '0;
      lost_q <= 1'b0;
    end
  end

  // Reader: a SKIP is repeated while the buffer is less than half full.
  logic [AddrWidth:0] read_q;
  logic [AddrWidth:0] read_gray_q;
  logic [AddrWidth:0] write_gray_seen;
  logic [AddrWidth:0] fill_r;
  logic running_q;
  logic there;
  logic repeats;
  logic take;
  logic on;
  word_t word;
  word_t word_q;
  logic on_q;

  assign fill_r = binary(write_gray_seen) - read_q;
  assign there = fill_r != '0;
  assign repeats = word == Skip && on && 32'(fill_r) < Depth / 2;
  assign take = running_q && there && !repeats;
  assign word_o = word_q;
  assign on_o = on_q;

  always_ff @(posedge rclk_i) begin
    // The first words wait until the buffer is half full.
    running_q <= running_q || 32'(fill_r) >= Depth / 2;
    if (take) read_q <= read_q + 1'b1;
    read_gray_q <= gray(read_q + (AddrWidth + 1)'(take));
    word_q <= !running_q ? Skip : there ? word : RxErr;
    on_q <= running_q && there ? on : on_q;
    if (rrst_i) begin
      running_q <= 1'b0;
      read_q <= '0;
      read_gray_q <= '0;
      word_q <= Skip;
      on_q <= 1'b0;
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
    .Width($bits(word_t) + 1),
    .Depth(Depth)
  ) i_mem (
    .clk_i,
    .we_i(write),
    .addr_i(write_q[AddrWidth-1:0]),
    .data_i({on_i, lost_q ? RxErr : word_i}),
    .raddr_i(read_q[AddrWidth-1:0]),
    .rdata_o({on, word})
  );
endmodule
