// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The engines of the queues behind one AXI4 master, which page lists share. Maps the numbers of
/// queue contexts to those of the engines.
module spfe_ep_hub
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Bits of an ID on the bus.
  parameter int unsigned IdWidth = 6,
  /// Ports; follows from Shape.
  localparam int unsigned Ports = 32'(Shape.ports),
  /// Queue contexts; follows from Shape.
  localparam int unsigned Queues = queues(Shape),
  /// Queues of an engine for data; follows from Shape.
  localparam int unsigned Data = data_queues(Shape),
  /// Bits of a number of words in a beat; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
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
  output statistics_t [Engines-1:0] statistics_o,
  output logic [Engines-1:0] statistics_valid_o,
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

  /// Words for each channel, those of the first port first.
  output word_t [Data-1:0][Words-1:0] tx_o,
  /// Their number; with tx_o.
  output logic [Data-1:0][CountWidth-1:0] tx_count_o,
  output logic [Data-1:0] tx_valid_o,
  input logic [Data-1:0] tx_ready_i,
  /// Words of each channel.
  input word_t [Data-1:0][Words-1:0] rx_i,
  /// Their number; with rx_i.
  input logic [Data-1:0][CountWidth-1:0] rx_count_i,
  input logic [Data-1:0] rx_valid_i,
  output logic [Data-1:0] rx_ready_o,
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
  localparam int unsigned Messages = 2 * MessageContexts * Ports;
  axi_master_t [Engines-1:0] masters;
  axi_slave_t [Engines-1:0] answers;
  logic [Engines-1:0] engine, start_ready, doorbell_valid, fence, fenced, fenced_q;
  logic [Engines-1:0] events_valid, events_ready, errors_valid;
  logic [15:0] number;
  doorbell_t doorbell;
  logic [Messages-1:0] message_stop, message_stopped;
  logic [Data-1:0] tx_stop, tx_stopped, rx_stop, rx_stopped;
  logic [Engines-1:0][15:0] events;
  statistics_t [Engines-1:0] counts;
  queue_error_t [Engines-1:0] errors;

  spfe_ep_map #(
    .Shape(Shape)
  ) i_map (
    .queue_i,
    .engine_o(engine),
    .number_o(number),
    .doorbell_i,
    .doorbell_valid_i,
    .doorbell_o(doorbell),
    .doorbell_valid_o(doorbell_valid),
    .stop_i,
    .message_stop_o(message_stop),
    .tx_stop_o(tx_stop),
    .rx_stop_o(rx_stop),
    .message_stopped_i(message_stopped),
    .tx_stopped_i(tx_stopped),
    .rx_stopped_i(rx_stopped),
    .stopped_o
  );
  assign start_ready_o = (engine & start_ready) != '0;

  // Each engine answers a fence by itself; what it translates then is from the new table.
  assign fence = fence_valid_i ? ~fenced_q : '0;
  assign fence_ready_o = fence_valid_i && (fenced_q | fenced) == '1;
  always_ff @(posedge clk_i) begin
    fenced_q <= fence_valid_i && !fence_ready_o && !rst_i ? fenced_q | (fence & fenced) : '0;
  end

  spfe_ep_collect #(
    .Shape(Shape)
  ) i_collect (
    .clk_i,
    .rst_i,
    .error_i(errors),
    .error_valid_i(errors_valid),
    .error_o,
    .error_valid_o,
    .error_ready_i,
    .event_i(events),
    .event_valid_i(events_valid),
    .event_ready_o(events_ready),
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .statistics_i(counts),
    .statistics_o
  );

  spfe_ep_messages #(
    .Ports(Ports),
    .Protect(Protect)
  ) i_messages (
    .clk_i,
    .rst_i,
    .start_i(context_i),
    .start_queue_i(number),
    .start_valid_i(start_valid_i && engine[MessageEngine]),
    .start_ready_o(start_ready[MessageEngine]),
    .stop_i(message_stop),
    .stopped_o(message_stopped),
    .broadcast_o,
    .broadcast_valid_o,
    .broadcast_ready_i,
    .broadcast_i,
    .broadcast_valid_i,
    .broadcast_ready_o,
    .counts_o,
    .fence_valid_i(fence[MessageEngine]),
    .fence_ready_o(fenced[MessageEngine]),
    .doorbell_i(doorbell),
    .doorbell_valid_i(doorbell_valid[MessageEngine]),
    .time_i,
    .event_o(events[MessageEngine]),
    .event_valid_o(events_valid[MessageEngine]),
    .event_ready_i(events_ready[MessageEngine]),
    .statistics_o(counts[MessageEngine]),
    .statistics_valid_o(statistics_valid_o[MessageEngine]),
    .error_o(errors[MessageEngine]),
    .error_valid_o(errors_valid[MessageEngine]),
    .translate_o(translate_o[MessageEngine]),
    .translate_valid_o(translate_valid_o[MessageEngine]),
    .translate_ready_i(translate_ready_i[MessageEngine]),
    .translation_i,
    .translation_valid_i(translation_valid_i[MessageEngine]),
    .axi_o(masters[MessageEngine]),
    .axi_i(answers[MessageEngine]),
    .failed_o
  );

  spfe_ep_data #(
    .Queues(Data),
    .Vcs(32'(Shape.vcs)),
    .Words(Words),
    .Protect(Protect)
  ) i_data (
    .clk_i,
    .rst_i,
    .start_i(context_i),
    .start_queue_i(number),
    .start_valid_i(start_valid_i ? engine[RxEngine:TxEngine] : '0),
    .start_ready_o(start_ready[RxEngine:TxEngine]),
    .stop_i({rx_stop, tx_stop}),
    .stopped_o({rx_stopped, tx_stopped}),
    .doorbell_i(doorbell),
    .doorbell_valid_i(doorbell_valid[RxEngine:TxEngine]),
    .time_i,
    .error_o(errors[RxEngine:TxEngine]),
    .error_valid_o(errors_valid[RxEngine:TxEngine]),
    .statistics_o(counts[RxEngine:TxEngine]),
    .statistics_valid_o(statistics_valid_o[RxEngine:TxEngine]),
    .event_o(events[RxEngine:TxEngine]),
    .event_valid_o(events_valid[RxEngine:TxEngine]),
    .event_ready_i(events_ready[RxEngine:TxEngine]),
    .tx_o,
    .tx_count_o,
    .tx_valid_o,
    .tx_ready_i,
    .rx_i,
    .rx_count_i,
    .rx_valid_i,
    .rx_ready_o,
    .fence_valid_i(fence[RxEngine:TxEngine]),
    .fence_ready_o(fenced[RxEngine:TxEngine]),
    .translate_o(translate_o[RxEngine:TxEngine]),
    .translate_valid_o(translate_valid_o[RxEngine:TxEngine]),
    .translate_ready_i(translate_ready_i[RxEngine:TxEngine]),
    .translation_i,
    .translation_valid_i(translation_valid_i[RxEngine:TxEngine]),
    .axi_o(masters[RxEngine:TxEngine]),
    .axi_i(answers[RxEngine:TxEngine])
  );

  spfe_ep_bus #(
    .Masters(Engines),
    .IdWidth(IdWidth),
    .Protect(Protect)
  ) i_bus (
    .clk_i,
    .rst_i,
    .in_i(masters),
    .in_o(answers),
    .list_addr_i,
    .list_len_i,
    .list_valid_i,
    .list_ready_o,
    .list_data_o,
    .list_last_o,
    .list_error_o,
    .list_data_valid_o,
    .list_data_ready_i,
    .ar_addr_o,
    .ar_id_o,
    .ar_len_o,
    .ar_valid_o,
    .ar_ready_i,
    .r_data_i,
    .r_id_i,
    .r_resp_i,
    .r_last_i,
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
    .b_resp_i,
    .b_valid_i
  );
endmodule
