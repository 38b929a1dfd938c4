// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The engines of the queues of virtual channels: index 0 transmits, index 1 receives.
module spfe_ep_data
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Queues of each engine, 2 or more: queue q belongs to channel q.
  parameter int unsigned Queues = 4,
  /// Virtual channels of a port.
  parameter int unsigned Vcs = Queues,
  /// From this queue on, each is the only one of its port.
  parameter int unsigned Single = Queues,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned Width = $clog2(Queues),
  /// Bits of a number of words in a beat; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Settings of a queue that is to start.
  input queue_context_t start_i,
  /// Its number; with start_i.
  input logic [15:0] start_queue_i,
  /// In this engine.
  input logic [1:0] start_valid_i,
  output logic [1:0] start_ready_o,
  /// Queues to stop.
  input logic [1:0][Queues-1:0] stop_i,
  /// Queues that have stopped.
  output logic [1:0][Queues-1:0] stopped_o,
  /// Doorbell of a queue.
  input doorbell_t doorbell_i,
  /// Of this engine.
  input logic [1:0] doorbell_valid_i,
  /// Device time in ns.
  input logic [63:0] time_i,
  /// For one cycle: a queue has stopped by itself.
  output queue_error_t [1:0] error_o,
  output logic [1:0] error_valid_o,
  /// For one cycle: counts of a queue.
  output statistics_t [1:0] statistics_o,
  output logic [1:0] statistics_valid_o,
  /// Vector to signal.
  output logic [1:0][15:0] event_o,
  output logic [1:0] event_valid_o,
  input logic [1:0] event_ready_i,

  /// Words for each channel.
  output word_t [Queues-1:0][Words-1:0] tx_o,
  /// Their number; with tx_o.
  output logic [Queues-1:0][CountWidth-1:0] tx_count_o,
  output logic [Queues-1:0] tx_valid_o,
  input logic [Queues-1:0] tx_ready_i,
  /// Words of each channel.
  input word_t [Queues-1:0][Words-1:0] rx_i,
  /// Their number; with rx_i.
  input logic [Queues-1:0][CountWidth-1:0] rx_count_i,
  input logic [Queues-1:0] rx_valid_i,
  output logic [Queues-1:0] rx_ready_o,

  /// All accesses of earlier translations are to be answered.
  input logic [1:0] fence_valid_i,
  output logic [1:0] fence_ready_o,
  /// Access to translate.
  output translate_t [1:0] translate_o,
  output logic [1:0] translate_valid_o,
  input logic [1:0] translate_ready_i,
  /// The answer.
  input translation_t translation_i,
  input logic [1:0] translation_valid_i,

  /// AXI4 of each engine.
  output axi_master_t [1:0] axi_o,
  /// Its answers.
  input axi_slave_t [1:0] axi_i
);
  wait_e [Queues-1:0] unused_tx_wait, unused_rx_wait;

  spfe_host_tx_engine #(
    .Queues(Queues),
    .Vcs(Vcs),
    .Single(Single),
    .Words(Words),
    .Protect(Protect)
  ) i_tx (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i(start_queue_i[Width-1:0]),
    .start_valid_i(start_valid_i[0]),
    .start_ready_o(start_ready_o[0]),
    .stop_i(stop_i[0]),
    .stopped_o(stopped_o[0]),
    .wait_o(unused_tx_wait),
    .word_o(tx_o),
    .word_count_o(tx_count_o),
    .word_valid_o(tx_valid_o),
    .word_ready_i(tx_ready_i),
    .fence_valid_i(fence_valid_i[0]),
    .fence_ready_o(fence_ready_o[0]),
    .doorbell_i,
    .doorbell_valid_i(doorbell_valid_i[0]),
    .time_i,
    .event_o(event_o[0]),
    .event_valid_o(event_valid_o[0]),
    .event_ready_i(event_ready_i[0]),
    .statistics_o(statistics_o[0]),
    .statistics_valid_o(statistics_valid_o[0]),
    .error_o(error_o[0]),
    .error_valid_o(error_valid_o[0]),
    .translate_o(translate_o[0]),
    .translate_valid_o(translate_valid_o[0]),
    .translate_ready_i(translate_ready_i[0]),
    .translation_i,
    .translation_valid_i(translation_valid_i[0]),
    .axi_o(axi_o[0]),
    .axi_i(axi_i[0])
  );

  spfe_host_rx_engine #(
    .Queues(Queues),
    .Vcs(Vcs),
    .Single(Single),
    .Words(Words),
    .Protect(Protect)
  ) i_rx (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i(start_queue_i[Width-1:0]),
    .start_valid_i(start_valid_i[1]),
    .start_ready_o(start_ready_o[1]),
    .stop_i(stop_i[1]),
    .stopped_o(stopped_o[1]),
    .wait_o(unused_rx_wait),
    .word_i(rx_i),
    .word_count_i(rx_count_i),
    .word_valid_i(rx_valid_i),
    .word_ready_o(rx_ready_o),
    .fence_valid_i(fence_valid_i[1]),
    .fence_ready_o(fence_ready_o[1]),
    .doorbell_i,
    .doorbell_valid_i(doorbell_valid_i[1]),
    .time_i,
    .event_o(event_o[1]),
    .event_valid_o(event_valid_o[1]),
    .event_ready_i(event_ready_i[1]),
    .statistics_o(statistics_o[1]),
    .statistics_valid_o(statistics_valid_o[1]),
    .error_o(error_o[1]),
    .error_valid_o(error_valid_o[1]),
    .translate_o(translate_o[1]),
    .translate_valid_o(translate_valid_o[1]),
    .translate_ready_i(translate_ready_i[1]),
    .translation_i,
    .translation_valid_i(translation_valid_i[1]),
    .axi_o(axi_o[1]),
    .axi_i(axi_i[1])
  );

  logic unused;
  assign unused = ^start_queue_i;
endmodule
