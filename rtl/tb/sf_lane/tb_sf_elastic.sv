// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Words through spfe_sf_elastic with clocks that differ by 200 ppm, and a SKIP each 5000 words: no
/// other word is lost, repeated or changed. Without SKIP the loss is reported as RXERR.
module tb_sf_elastic
  import spfe_tb_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Words to send with SKIPs, and then without.
  parameter int unsigned Words = 60000
);
  bit run = 1'b0;
  logic clk;
  logic rclk;
  logic rst = 1'b1;
  word_t in = Skip;
  word_t out;
  logic on;
  int unsigned half;
  int unsigned rhalf;
  int unsigned sent = 0;
  int unsigned number = 0;
  logic [31:0] next = '0;
  bit first = 1'b1;
  bit lost = 1'b0;
  bit skips = 1'b1;
  int unsigned received = 0;

  initial begin
    run = chosen(Name);
    if (run) begin
      // 200 ppm, in either direction.
      half = 20000;
      rhalf = 20000;
      if (chance(50)) half = 20004;
      else rhalf = 20004;
      #1000000 rst = 1'b0;
    end
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(half), .clk_o(clk));
  spfe_tb_clock i_rclock (.run_i(run), .half_i(rhalf), .clk_o(rclk));

  always @(posedge clk) begin
    if (!rst) begin
      sent <= sent + 1;
      if (sent == Words) skips <= 1'b0;
      if (skips && sent % 5000 < 1) in <= Skip;
      else begin
        in <= '{k: 4'h0, bits: number};
        number <= number + 1;
      end
    end
  end

  always @(posedge rclk) begin
    if (!rst && on && out != Skip) begin
      received <= received + 1;
      if (out == RxErr) begin
        if (sent < Words) $fatal(1, "a word was lost after %0d words", received);
        lost <= 1'b1;
        first <= 1'b1;
      end else begin
        first <= 1'b0;
        next <= out.bits + 1;
        if (!first && out.bits != next) $fatal(1, "word %0d instead of %0d", out.bits, next);
      end
      // With 200 ppm a buffer of 16 words runs over or dry within 80,000 words.
      if (received == 3 * Words) begin
        if (!lost) $fatal(1, "the loss without SKIPs was not reported");
        passed(Name, received);
      end
    end
  end

  spfe_sf_elastic i_dut (
    .clk_i(clk), .rst_i(rst), .word_i(in), .on_i(1'b1),
    .rclk_i(rclk), .rrst_i(rst), .word_o(out), .on_o(on)
  );
endmodule
