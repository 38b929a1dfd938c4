// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The message queues of all ports, with the ports of an engine of queues.
module spfe_ep_messages
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Ports.
  parameter int unsigned Ports = 1,
  /// SpaceWire ports among them, the last ones.
  parameter int unsigned Wires = 0,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Queues, as of spfe_ep_message.
  localparam int unsigned Queues = 2 * MessageContexts * Ports
) (
  input logic clk_i,
  input logic rst_i,

  /// Queue to start, as of spfe_ep_message.
  input logic [15:0] start_queue_i,
  /// As above.
  input queue_context_t start_i,
  input logic start_valid_i,
  output logic start_ready_o,
  /// Queues to stop.
  input logic [Queues-1:0] stop_i,
  /// Queues that have stopped.
  output logic [Queues-1:0] stopped_o,
  /// No new translation; ready when nothing is under way.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Doorbell of a queue of this engine.
  input doorbell_t doorbell_i,
  input logic doorbell_valid_i,
  /// Device time in ns.
  input logic [63:0] time_i,
  /// Vector to signal.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Counts of a queue.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
  /// For one cycle: a queue stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// Access to translate, as of spfe_ep_regions.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The answer.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// Message to each port.
  output broadcast_t [Ports-1:0] broadcast_o,
  output logic [Ports-1:0] broadcast_valid_o,
  input logic [Ports-1:0] broadcast_ready_i,
  /// Message from each port.
  input broadcast_t [Ports-1:0] broadcast_i,
  input logic [Ports-1:0] broadcast_valid_i,
  output logic [Ports-1:0] broadcast_ready_o,
  /// Messages of each port: sent, received, dropped.
  output logic [Ports-1:0][2:0][31:0] counts_o,

  /// AXI4.
  output axi_master_t axi_o,
  /// Its answers.
  input axi_slave_t axi_i,
  /// A memory reported an error.
  output logic failed_o
);
  address_t address;
  logic [5:0] bytes;
  logic [15:0] domain;
  logic write, memory_valid, memory_done;
  logic [127:0] write_data;
  status_e memory_status;
  logic [383:0] memory_data;
  logic [Queues-1:0] rung;
  assign rung = doorbell_valid_i ? Queues'(1) << doorbell_i.index : '0;

  spfe_ep_message #(
    .Ports(Ports),
    .Wires(Wires),
    .Protect(Protect)
  ) i_message (
    .clk_i,
    .rst_i,
    .start_queue_i,
    .start_i,
    .start_valid_i,
    .start_ready_o,
    .stop_i,
    .stopped_o,
    .fence_valid_i,
    .fence_ready_o,
    .ring_i(doorbell_i.kind == DOORBELL_KIND_SUBMIT ? rung : '0),
    .arm_i(doorbell_i.kind == DOORBELL_KIND_ARM ? rung : '0),
    .time_i,
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .statistics_o,
    .statistics_valid_o,
    .error_o,
    .error_valid_o,
    .counts_o,
    .broadcast_o,
    .broadcast_valid_o,
    .broadcast_ready_i,
    .broadcast_i,
    .broadcast_valid_i,
    .broadcast_ready_o,
    .address_o(address),
    .bytes_o(bytes),
    .domain_o(domain),
    .write_o(write),
    .data_o(write_data),
    .memory_valid_o(memory_valid),
    .memory_done_i(memory_done),
    .memory_status_i(memory_status),
    .memory_i(memory_data),
    .failed_o
  );

  spfe_ep_memory #(
    .Protect(Protect)
  ) i_memory (
    .clk_i,
    .rst_i,
    .address_i(address),
    .bytes_i(bytes),
    .domain_i(domain),
    .write_i(write),
    .data_i(write_data),
    .valid_i(memory_valid),
    .done_o(memory_done),
    .status_o(memory_status),
    .data_o(memory_data),
    .translate_o,
    .translate_valid_o,
    .translate_ready_i,
    .translation_i,
    .translation_valid_i,
    .axi_o,
    .axi_i
  );
endmodule
