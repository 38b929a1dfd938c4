// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sends random packets through spfe_widen and spfe_narrow: the words and ends that leave are those
/// that entered, and only the last joined word of a packet is not full.
module tb_ratio
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Bits in a narrow word.
  parameter int unsigned Width = 9,
  /// Narrow words in a joined word.
  parameter int unsigned Ratio = 4,
  /// Words to send.
  parameter int unsigned Words = 20000
);
  localparam int unsigned Hang = 1000;

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  logic [Width-1:0] data;
  logic last;
  logic valid = 1'b0;
  logic ready;
  logic [Ratio-1:0][Width-1:0] wide;
  logic [$clog2(Ratio+1)-1:0] count;
  logic wide_last;
  logic wide_valid;
  logic wide_ready;
  logic [Width-1:0] rdata;
  logic rlast;
  logic rvalid;
  logic rready = 1'b0;
  int unsigned fill = 50;
  int unsigned drain = 50;
  int unsigned offered = 0;
  int unsigned received = 0;
  int unsigned still = 0;
  logic [Width:0] expected[$];

  initial begin
    run = chosen(Name);
    if (run) #100 rst = 1'b0;
  end
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  always @(posedge clk) begin
    if (chance(1)) begin
      fill <= activity();
      drain <= activity();
    end
    if (!rst && (!valid || ready)) begin
      valid <= 1'b0;
      if (offered < Words && chance(fill)) begin
        logic [Width-1:0] word;
        logic ends;
        word = Width'($urandom);
        ends = chance(20) || offered + 1 == Words;
        expected.push_back({ends, word});
        valid <= 1'b1;
        data <= word;
        last <= ends;
        offered <= offered + 1;
      end
    end
    if (wide_valid && wide_ready && !wide_last && 32'(count) != Ratio)
      $fatal(1, "a joined word of %0d words inside a packet", count);
    rready <= chance(drain);
    still <= still + 1;
    if (rvalid && rready) begin
      logic [Width:0] word;
      if (expected.size() == 0) $fatal(1, "word %0d was never sent", received);
      word = expected.pop_front();
      if ({rlast, rdata} != word) $fatal(1, "word %0d: %h instead of %h", received, {rlast, rdata}, word);
      received <= received + 1;
      still <= 0;
      if (received + 1 == Words) passed(Name, Words);
    end
    if (still == Hang) $fatal(1, "nothing arrived for %0d cycles after word %0d", Hang, received);
  end

  spfe_widen #(.Width(Width), .Ratio(Ratio)) i_widen (
    .clk_i(clk), .rst_i(rst), .data_i(data), .last_i(last), .valid_i(valid), .ready_o(ready),
    .data_o(wide), .count_o(count), .last_o(wide_last), .valid_o(wide_valid), .ready_i(wide_ready)
  );
  spfe_narrow #(.Width(Width), .Ratio(Ratio)) i_narrow (
    .clk_i(clk), .rst_i(rst), .data_i(wide), .count_i(count), .last_i(wide_last),
    .valid_i(wide_valid), .ready_o(wide_ready),
    .data_o(rdata), .last_o(rlast), .valid_o(rvalid), .ready_i(rready)
  );
endmodule
