// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The engines of the queues behind one AXI4 master, which page lists share. Maps the numbers of
/// queue contexts to those of the engines.
module spfe_ep_hub
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of an ID on the bus.
  parameter int unsigned IdWidth = 6,
  /// Engines: messages.
  localparam int unsigned Engines = 1,
  /// Reporters of statistics, 2 or more.
  localparam int unsigned Reporters = 2,
  /// Ports; follows from Shape.
  localparam int unsigned Ports = 32'(Shape.ports),
  /// Queue contexts; follows from Shape.
  localparam int unsigned Queues = queues(Shape)
) (
  input logic clk_i,
  input logic rst_i,

  /// Queue to start, and its context, as of spfe_ep_queues.
  input logic [15:0] queue_i,
  /// With queue_i.
  input queue_context_t context_i,
  /// With queue_i.
  input logic start_valid_i,
  /// The queue has started.
  output logic start_ready_o,
  /// Queues to stop.
  input logic [Queues-1:0] stop_i,
  /// Queues that have stopped.
  output logic [Queues-1:0] stopped_o,
  /// A queue stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  input logic error_ready_i,
  /// Let no access be under way that was translated before.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Doorbell of a queue.
  input doorbell_t doorbell_i,
  /// For one cycle.
  input logic doorbell_valid_i,
  /// Vector to signal.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Statistics of each engine.
  output statistics_t [Reporters-1:0] statistics_o,
  output logic [Reporters-1:0] statistics_valid_o,
  /// Device time in ns.
  input logic [63:0] time_i,

  /// Access of each engine to translate, as of spfe_ep_regions.
  output translate_t [Engines-1:0] translate_o,
  output logic [Engines-1:0] translate_valid_o,
  input logic [Engines-1:0] translate_ready_i,
  /// The answer.
  input translation_t translation_i,
  input logic [Engines-1:0] translation_valid_i,

  /// Page list to read, as of spfe_axi_read.
  input logic [63:0] list_addr_i,
  /// As above.
  input logic [31:0] list_len_i,
  input logic list_valid_i,
  output logic list_ready_o,
  /// As above.
  output logic [127:0] list_data_o,
  /// As above.
  output logic list_last_o,
  /// As above.
  output logic list_error_o,
  output logic list_data_valid_o,
  input logic list_data_ready_i,

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

  /// AXI4 master, as of spfe_endpoint.
  output logic [63:0] ar_addr_o,
  /// As above.
  output logic [IdWidth-1:0] ar_id_o,
  /// As above.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// Read data.
  input logic [127:0] r_data_i,
  /// As above.
  input logic [IdWidth-1:0] r_id_i,
  /// As above.
  input logic [1:0] r_resp_i,
  /// As above.
  input logic r_last_i,
  input logic r_valid_i,
  /// Write address.
  output logic [63:0] aw_addr_o,
  /// As above.
  output logic [IdWidth-1:0] aw_id_o,
  /// As above.
  output logic [7:0] aw_len_o,
  output logic aw_valid_o,
  input logic aw_ready_i,
  /// Write data.
  output logic [127:0] w_data_o,
  /// As above.
  output logic [15:0] w_strb_o,
  /// As above.
  output logic w_last_o,
  output logic w_valid_o,
  input logic w_ready_i,
  /// Write response.
  input logic [IdWidth-1:0] b_id_i,
  /// As above.
  input logic [1:0] b_resp_i,
  input logic b_valid_i,
  /// A memory reported an error.
  output logic failed_o
);
  // Contexts of a port: those of virtual channels, then those of messages.
  localparam int unsigned PortQueues = port_queues(Shape);
  localparam int unsigned DataQueues = 2 * 32'(Shape.vcs);
  localparam int unsigned PortMessages = 2 * MessageContexts;
  localparam int unsigned Messages = Ports * PortMessages;
  // Masters: messages and page lists read, messages write.
  localparam int unsigned Readers = 2;
  localparam int unsigned Writers = 2;

  logic [Readers-1:0][63:0] ar_addr;
  logic [Readers-1:0][2:0] ar_id;
  logic [Readers-1:0][7:0] ar_len;
  logic [Readers-1:0] ar_valid, ar_ready, r_valid;
  logic [Writers-1:0][63:0] aw_addr;
  logic [Writers-1:0][2:0] aw_id;
  logic [Writers-1:0][7:0] aw_len;
  logic [Writers-1:0] aw_valid, aw_ready, b_valid;
  logic [Writers-1:0][127:0] w_data;
  logic [Writers-1:0][15:0] w_strb;
  logic [Writers-1:0] w_last, w_valid, w_ready;

  // Context of each message queue.
  logic [Messages-1:0] message_stop, message_stopped, message_ring, message_arm;
  logic [15:0] message_queue;
  logic is_message, message_ready;
  always_comb begin
    stopped_o = '1;
    is_message = 1'b0;
    message_queue = '0;
    message_ring = '0;
    message_arm = '0;
    for (int unsigned p = 0; p < Ports; p++) begin
      for (int unsigned i = 0; i < PortMessages; i++) begin
        message_stop[p*PortMessages+i] = stop_i[p*PortQueues+DataQueues+i];
        stopped_o[p*PortQueues+DataQueues+i] = message_stopped[p*PortMessages+i];
        if (32'(queue_i) == p * PortQueues + DataQueues + i) begin
          is_message = 1'b1;
          message_queue = 16'(p * PortMessages + i);
        end
        if (32'(doorbell_i.index) == p * PortQueues + DataQueues + i && doorbell_valid_i) begin
          message_ring[p*PortMessages+i] = doorbell_i.kind == DOORBELL_KIND_SUBMIT;
          message_arm[p*PortMessages+i] = doorbell_i.kind == DOORBELL_KIND_ARM;
        end
      end
    end
  end
  // A queue without an engine does not pass the check of its kind.
  assign start_ready_o = is_message ? message_ready : 1'b1;

  address_t address;
  logic [5:0] bytes;
  logic [15:0] domain;
  logic write, memory_valid, memory_done;
  logic [127:0] write_data;
  status_e memory_status;
  logic [383:0] memory_data;
  statistics_t message_count;
  queue_error_t message_error;
  logic message_error_valid;

  spfe_ep_message #(
    .Ports(Ports),
    .Protect(Protect)
  ) i_message (
    .clk_i,
    .rst_i,
    .start_queue_i(message_queue),
    .start_i(context_i),
    .start_valid_i(start_valid_i && is_message),
    .start_ready_o(message_ready),
    .stop_i(message_stop),
    .stopped_o(message_stopped),
    .fence_valid_i,
    .fence_ready_o,
    .ring_i(message_ring),
    .arm_i(message_arm),
    .time_i,
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .statistics_o(message_count),
    .statistics_valid_o(statistics_valid_o[0]),
    .error_o(message_error),
    .error_valid_o(message_error_valid),
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

  // Numbers of contexts in reports.
  function automatic logic [15:0] context_of(input logic [15:0] message);
    return 16'(32'(message) / PortMessages * PortQueues + DataQueues + 32'(message) % PortMessages);
  endfunction
  always_comb begin
    statistics_o = '0;
    statistics_o[0] = message_count;
    statistics_o[0].index = context_of(message_count.index);
    statistics_valid_o[1] = 1'b0;
  end

  // A queue reports one error until it is started again, so this FIFO is never full.
  queue_error_t error_in;
  logic unused_error_ready, unused_error_full;
  logic [$clog2((1<<$clog2(Queues))+1)-1:0] unused_error_count;
  always_comb begin
    error_in = message_error;
    error_in.index = context_of(message_error.index);
  end
  spfe_fifo #(
    .Width($bits(queue_error_t)),
    .Depth(1 << $clog2(Queues))
  ) i_errors (
    .clk_i,
    .rst_i,
    .data_i(error_in),
    .valid_i(message_error_valid),
    .ready_o(unused_error_ready),
    .data_o(error_o),
    .valid_o(error_valid_o),
    .ready_i(error_ready_i),
    .count_o(unused_error_count),
    .almost_full_o(unused_error_full)
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
    .translate_o(translate_o[0]),
    .translate_valid_o(translate_valid_o[0]),
    .translate_ready_i(translate_ready_i[0]),
    .translation_i,
    .translation_valid_i(translation_valid_i[0]),
    .ar_addr_o(ar_addr[0]),
    .ar_id_o(ar_id[0]),
    .ar_len_o(ar_len[0]),
    .ar_valid_o(ar_valid[0]),
    .ar_ready_i(ar_ready[0]),
    .r_data_i,
    .r_id_i(r_id_i[2:0]),
    .r_resp_i,
    .r_last_i,
    .r_valid_i(r_valid[0]),
    .aw_addr_o(aw_addr[0]),
    .aw_id_o(aw_id[0]),
    .aw_len_o(aw_len[0]),
    .aw_valid_o(aw_valid[0]),
    .aw_ready_i(aw_ready[0]),
    .w_data_o(w_data[0]),
    .w_strb_o(w_strb[0]),
    .w_last_o(w_last[0]),
    .w_valid_o(w_valid[0]),
    .w_ready_i(w_ready[0]),
    .b_id_i(b_id_i[2:0]),
    .b_resp_i,
    .b_valid_i(b_valid[0])
  );

  logic [3:0] unused_end;
  logic unused_r_ready;
  spfe_axi_read #(
    .Bursts(8),
    .Protect(Protect)
  ) i_list (
    .clk_i,
    .rst_i,
    .cmd_addr_i(list_addr_i),
    .cmd_len_i(list_len_i),
    .cmd_valid_i(list_valid_i),
    .cmd_ready_o(list_ready_o),
    .data_o(list_data_o),
    .end_o(unused_end),
    .last_o(list_last_o),
    .error_o(list_error_o),
    .valid_o(list_data_valid_o),
    .ready_i(list_data_ready_i),
    .ar_addr_o(ar_addr[1]),
    .ar_id_o(ar_id[1]),
    .ar_len_o(ar_len[1]),
    .ar_valid_o(ar_valid[1]),
    .ar_ready_i(ar_ready[1]),
    .r_data_i,
    .r_id_i(r_id_i[2:0]),
    .r_resp_i,
    .r_last_i,
    .r_valid_i(r_valid[1]),
    .r_ready_o(unused_r_ready)
  );
  // The second writer is not there yet.
  assign {aw_addr[1], aw_id[1], aw_len[1], aw_valid[1]} = '0;
  assign {w_data[1], w_strb[1], w_last[1], w_valid[1]} = '0;

  spfe_ep_axi_mux #(
    .Readers(Readers),
    .Writers(Writers),
    .IdWidth(IdWidth)
  ) i_mux (
    .clk_i,
    .rst_i,
    .in_ar_addr_i(ar_addr),
    .in_ar_id_i(ar_id),
    .in_ar_len_i(ar_len),
    .in_ar_valid_i(ar_valid),
    .in_ar_ready_o(ar_ready),
    .in_r_valid_o(r_valid),
    .in_aw_addr_i(aw_addr),
    .in_aw_id_i(aw_id),
    .in_aw_len_i(aw_len),
    .in_aw_valid_i(aw_valid),
    .in_aw_ready_o(aw_ready),
    .in_w_data_i(w_data),
    .in_w_strb_i(w_strb),
    .in_w_last_i(w_last),
    .in_w_valid_i(w_valid),
    .in_w_ready_o(w_ready),
    .in_b_valid_o(b_valid),
    .ar_addr_o,
    .ar_id_o,
    .ar_len_o,
    .ar_valid_o,
    .ar_ready_i,
    .r_id_i,
    .r_valid_i,
    .aw_addr_o,
    .aw_id_o,
    .aw_len_o,
    .aw_valid_o,
    .aw_ready_i,
    .w_data_o,
    .w_strb_o,
    .w_last_o,
    .w_valid_o,
    .w_ready_i,
    .b_id_i,
    .b_valid_i
  );

  logic unused;
  assign unused = ^{stop_i, aw_ready, w_ready, b_valid};
endmodule
