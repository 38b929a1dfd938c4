// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Merges the events of all blocks into one stream. The engine waits for room. Receiver,
/// transmitter and ARP cannot wait: each has one buffer here, and an event that finds it full is
/// lost and counted.
module spfe_tcp_events
  import spfe_tcp_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Event of the engine, with the highest priority.
  input event_t eng_event_i,
  input logic eng_valid_i,
  output logic eng_ready_o,
  /// Event of the transmitter, for one cycle.
  input event_t tx_event_i,
  input logic tx_valid_i,
  /// Event of the receiver, for one cycle; after those of the transmitter.
  input event_t rx_event_i,
  input logic rx_valid_i,
  /// Event of ARP, for one cycle, with the lowest priority.
  input event_t arp_event_i,
  input logic arp_valid_i,
  /// Oldest event, to the user.
  output event_t event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// High for one cycle for each lost event; to the counters.
  output logic lost_o
);
  localparam int unsigned Pulses = 3;
  localparam int unsigned Depth = 64;
  localparam int unsigned CountBits = $clog2(Depth + 1);
  localparam int unsigned LostBits = 16;
  localparam logic [LostBits-1:0] LostMax = '1 - LostBits'(Pulses);

  event_t [Pulses-1:0] held_q, pulse;
  logic [Pulses-1:0] full_q, pulse_valid, grant, missed_q;
  logic [LostBits-1:0] lost_q, lost_d;  // number of lost events that are not counted yet
  event_t chosen;
  logic chosen_valid, ready;
  logic [CountBits-1:0] unused_count;
  logic unused_almost_full;

  assign pulse = {arp_event_i, rx_event_i, tx_event_i};
  assign pulse_valid = {arp_valid_i, rx_valid_i, tx_valid_i};
  assign eng_ready_o = ready;
  assign chosen_valid = eng_valid_i || full_q != '0;
  assign lost_o = lost_q != '0;

  always_comb begin
    chosen = eng_event_i;
    grant = '0;
    if (!eng_valid_i) begin
      for (int unsigned i = Pulses; i > 0; i--) begin
        if (full_q[i-1]) begin
          chosen = held_q[i-1];
          grant = Pulses'(1) << (i - 1);
        end
      end
    end
    if (!ready) grant = '0;
    lost_d = lost_q - LostBits'(lost_o);
    for (int unsigned i = 0; i < Pulses; i++) begin
      if (missed_q[i] && lost_q < LostMax) lost_d += LostBits'(1);
    end
  end

  spfe_fifo #(
    .Width($bits(event_t)),
    .Depth(Depth)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(chosen_valid && ready),
    .ready_o(ready),
    .data_i(chosen),
    .valid_o(event_valid_o),
    .ready_i(event_ready_i),
    .data_o(event_o),
    .count_o(unused_count),
    .almost_full_o(unused_almost_full)
  );

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Pulses; i++) begin
      if (pulse_valid[i] && (!full_q[i] || grant[i])) held_q[i] <= pulse[i];
    end
    full_q <= (full_q & ~grant) | pulse_valid;
    missed_q <= pulse_valid & full_q & ~grant;
    lost_q <= lost_d;
    if (rst_i) begin
      full_q <= '0;
      missed_q <= '0;
      lost_q <= '0;
    end
  end
endmodule
