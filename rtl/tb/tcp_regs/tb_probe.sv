// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks that the probe measures the delay that the bench puts between a packet in and a packet
/// out.
module tb_probe
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = ""
);
  localparam int unsigned Packets = 300;

  bit run = 1'b0;
  logic clk;
  // Tasks set `pins`; the probe sees them from the next falling edge on.
  typedef struct packed {
    logic rst, clear, in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  } pins_t;
  pins_t pins = '{rst: 1'b1, default: 1'b0};
  pins_t pins_q = '{rst: 1'b1, default: 1'b0};
  logic [15:0] last, least, most;

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));
  always @(negedge clk) pins_q <= pins;

  spfe_tcp_probe i_dut (
    .clk_i(clk), .rst_i(pins_q.rst), .clear_i(pins_q.clear),
    .in_i({pins_q.in_valid, pins_q.in_ready, pins_q.in_last}),
    .out_i({pins_q.out_valid, pins_q.out_ready, pins_q.out_last}),
    .last_o(last), .min_o(least), .max_o(most)
  );

  task automatic cycles(int unsigned n);
    repeat (n) @(posedge clk);
  endtask

  /// Sends a packet in and, `latency` cycles later, one out, both with pauses. The first beat of
  /// each may have to wait for ready.
  task automatic packet(int unsigned latency);
    int unsigned in_left, out_left, wait_in, now;
    in_left = $urandom_range(6, 1);
    out_left = $urandom_range(6, 1);
    wait_in = $urandom_range(4);
    repeat (wait_in) begin
      pins.in_valid = 1'b1;
      pins.in_ready = 1'b0;
      pins.in_last = in_left == 1;
      cycles(1);
    end
    now = 0;
    while (in_left > 0 || out_left > 0) begin
      pins.in_valid = in_left > 0 && (now == 0 || chance(60));
      pins.in_ready = pins.in_valid && (now == 0 || chance(60));
      pins.in_last = in_left == 1;
      if (pins.in_valid && pins.in_ready) in_left--;
      pins.out_valid = out_left > 0 && now >= latency && (now == latency || pins.out_valid || chance(60));
      pins.out_ready = chance(60);
      pins.out_last = out_left == 1;
      if (pins.out_valid && pins.out_ready) begin
        out_left--;
        cycles(1);
        pins.out_valid = 1'b0;
      end else cycles(1);
      now++;
    end
    pins.in_valid = 1'b0;
    cycles($urandom_range(5));
  endtask

  task automatic expect_values(int unsigned want_last, int unsigned want_least, int unsigned want_most);
    cycles(4);
    if (32'(last) != want_last || 32'(least) != want_least || 32'(most) != want_most) begin
      $fatal(1, "last %0d least %0d most %0d, not %0d %0d %0d", last, least, most, want_last, want_least,
             want_most);
    end
  endtask

  initial begin
    run = chosen(Name);
    if (run) begin
      int unsigned lo, hi;
      cycles(5);
      pins.rst = 1'b0;
      cycles(2);
      expect_values(0, 65535, 0);
      lo = 65535;
      hi = 0;
      for (int unsigned i = 0; i < Packets; i++) begin
        int unsigned latency;
        latency = $urandom_range(chance(20) ? 300 : 20, 1);
        packet(latency);
        if (latency < lo) lo = latency;
        if (latency > hi) hi = latency;
        expect_values(latency, lo, hi);
        if (chance(3)) begin
          pins.clear = 1'b1;
          cycles(1);
          pins.clear = 1'b0;
          expect_values(0, 65535, 0);
          lo = 65535;
          hi = 0;
        end
      end
      // Longer than the counter can hold.
      packet(70000);
      expect_values(65535, lo, 65535);
      passed(Name, Packets + 2);
    end
  end
endmodule
