// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks the merger of events: all events of the engine arrive in order; those of other blocks
/// arrive in order or are counted as lost, and none is lost while there is room.
module tb_events
  import spfe_tb_pkg::*;
  import spfe_tcp_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = ""
);
  localparam int unsigned Cycles = 40000;
  localparam int unsigned Sources = 4;

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  event_t [Sources-1:0] said;  // engine, transmitter, receiver, ARP
  logic [Sources-1:0] valid = '0;
  logic eng_ready, event_valid, event_ready = 1'b0, lost;
  event_t out;
  int unsigned number[Sources], taken[Sources], seen[Sources];
  int unsigned losses = 0, drain = 50, now = 0, checks = 0, rate = 10, calm = 0;
  bit quiet = 1'b0, settled = 1'b0;

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  spfe_tcp_events i_dut (
    .clk_i(clk), .rst_i(rst),
    .eng_event_i(said[0]), .eng_valid_i(valid[0]), .eng_ready_o(eng_ready),
    .tx_event_i(said[1]), .tx_valid_i(valid[1]),
    .rx_event_i(said[2]), .rx_valid_i(valid[2]),
    .arp_event_i(said[3]), .arp_valid_i(valid[3]),
    .event_o(out), .event_valid_o(event_valid), .event_ready_i(event_ready), .lost_o(lost)
  );

  /* verilator lint_off BLKSEQ */  // variables of one process
  always @(posedge clk) begin
    now <= now + 1;
    rst <= now < 5;
    if (now % 2000 == 0) begin
      drain = activity();
      rate = $urandom_range(60);
      quiet = chance(30);
      if (quiet) drain = 100;
    end
    event_ready <= chance(drain) || now > Cycles;
    for (int unsigned i = 0; i < Sources; i++) begin
      if (valid[i] && (i != 0 || eng_ready) && !rst) taken[i]++;
      if (i != 0 || !valid[0] || eng_ready) begin
        // In quiet phases one block at a time sends an event, rarely.
        valid[i] <= now > 10 && now < Cycles && (quiet ? now % 64 == 16 * i : chance(rate));
        said[i] <= {8'($urandom), 16'(i), 8'd0, number[i]};
        if (now > 10 && now < Cycles) number[i]++;
      end
    end
    calm = quiet ? calm + 1 : 0;
    if (lost && !rst) losses++;
    settled = calm > 200 && (settled || !lost);
    if (lost && settled) $fatal(1, "an event is lost although there is room");
    if (event_valid && event_ready && !rst) begin
      int unsigned from;
      from = 32'(out.sid);
      if (from >= Sources) $fatal(1, "event of an unknown block: %h", out);
      if (out.data[31:0] < seen[from]) $fatal(1, "event %0d of %0d is late", out.data[31:0], from);
      seen[from] = out.data[31:0] + 1;
      taken[from]--;
      checks++;
    end
    if (now > Cycles + 1000 && !lost) begin
      int unsigned missing;
      if (taken[0] != 0) $fatal(1, "%0d events of the engine are missing", taken[0]);
      missing = taken[1] + taken[2] + taken[3];
      if (missing != losses) $fatal(1, "%0d events are missing, %0d counted", missing, losses);
      if (losses == 0) $fatal(1, "no event was lost; the bench must cause losses");
      passed(Name, checks);
    end
  end
  /* verilator lint_on BLKSEQ */

  initial run = chosen(Name);
endmodule
