// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The engines of the queues. Maps the numbers of queue contexts to those of the engines.
module spfe_ep_hub
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// There are engines; otherwise no queue can start, and messages that come are dropped.
  parameter bit Has = 1'b1,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
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
  /// Its queue pair, if it is of kind RDMA or RDMA_RX; with queue_i.
  input spfe_rdma_pair_pkg::pair_t pair_i,
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
  /// Register to read.
  input live_t live_i,
  /// Its value if it is one of a port, a cycle later.
  input logic [31:0] value_i,
  /// Its value, at the same time.
  output logic [31:0] value_o,
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

  /// AXI4 of each engine.
  output axi_master_t [Engines-1:0] axi_o,
  /// Ready, read data and write responses for each.
  input axi_slave_t [Engines-1:0] axi_i,
  /// A memory reported an error.
  output logic failed_o
);
  localparam int unsigned Messages = 2 * MessageContexts * Ports;
  logic [Engines-1:0] engine, start_ready, doorbell_valid, fence, fenced, fenced_q;
  logic [Engines-1:0] events_valid, events_ready, errors_valid;
  logic [15:0] number;
  doorbell_t doorbell;
  logic [Messages-1:0] message_stop, message_stopped;
  logic [Data-1:0] tx_stop, tx_stopped, rx_stop, rx_stopped;
  logic [1:0] pair_stop, pair_stopped;
  logic [1:0] failed;
  assign failed_o = failed != '0;
  logic [Engines-1:0][15:0] events;
  statistics_t [Engines-1:0] counts;
  queue_error_t [Engines-1:0] errors;

  spfe_ep_map #(
    .Shape(Shape)
  ) i_map (
    .queue_i,
    .pair_i(context_i.kind inside {QUEUE_KIND_RDMA, QUEUE_KIND_RDMA_RX}),
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
    .pair_stop_o(pair_stop),
    .message_stopped_i(message_stopped),
    .tx_stopped_i(tx_stopped),
    .rx_stopped_i(rx_stopped),
    .pair_stopped_i(pair_stopped),
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

  if (Has) begin : gen_engines
    spfe_ep_messages #(
      .Ports(Ports),
      .Wires(32'(Shape.wires)),
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
      .axi_o(axi_o[MessageEngine]),
      .axi_i(axi_i[MessageEngine]),
      .failed_o(failed[0])
    );

    word_t [Data-1:0][Words-1:0] queue_tx;
    logic [Data-1:0][CountWidth-1:0] queue_count;
    logic [Data-1:0] queue_valid, queue_ready, queue_rx_valid, queue_rx_ready;
    spfe_ep_data #(
      .Queues(Data),
      .Vcs(32'(Shape.vcs)),
      .Single(first_channel(Shape, 32'(Shape.ports - Shape.wires))),
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
      .tx_o(queue_tx),
      .tx_count_o(queue_count),
      .tx_valid_o(queue_valid),
      .tx_ready_i(queue_ready),
      .rx_i,
      .rx_count_i,
      .rx_valid_i(queue_rx_valid),
      .rx_ready_o(queue_rx_ready),
      .fence_valid_i(fence[RxEngine:TxEngine]),
      .fence_ready_o(fenced[RxEngine:TxEngine]),
      .translate_o(translate_o[RxEngine:TxEngine]),
      .translate_valid_o(translate_valid_o[RxEngine:TxEngine]),
      .translate_ready_i(translate_ready_i[RxEngine:TxEngine]),
      .translation_i,
      .translation_valid_i(translation_valid_i[RxEngine:TxEngine]),
      .axi_o(axi_o[RxEngine:TxEngine]),
      .axi_i(axi_i[RxEngine:TxEngine])
    );

    // Contexts of the queue pair are two neighbours; the number in a port tells them apart.
    doorbell_t pair_doorbell;
    assign pair_doorbell = '{
        index: 16'(32'(doorbell_i.index) != pair_queue(Shape)),
        kind: doorbell_i.kind
      };
    spfe_ep_pair #(
      .Shape(Shape),
      .Words(Words),
      .Protect(Protect)
    ) i_pair (
      .clk_i,
      .rst_i,
      .start_i(context_i),
      .start_queue_i(context_i.kind == QUEUE_KIND_RDMA_RX),
      .start_pair_i(pair_i),
      .start_valid_i(start_valid_i && engine[PairEngine]),
      .start_ready_o(start_ready[PairEngine]),
      .stop_i(pair_stop),
      .stopped_o(pair_stopped),
      .doorbell_i(pair_doorbell),
      .doorbell_valid_i(doorbell_valid[PairEngine]),
      .time_i,
      .error_o(errors[PairEngine]),
      .error_valid_o(errors_valid[PairEngine]),
      .statistics_o(counts[PairEngine]),
      .statistics_valid_o(statistics_valid_o[PairEngine]),
      .live_i,
      .value_i,
      .value_o,
      .event_o(events[PairEngine]),
      .event_valid_o(events_valid[PairEngine]),
      .event_ready_i(events_ready[PairEngine]),
      .failed_o(failed[1]),
      .rx_i,
      .rx_count_i,
      .rx_valid_i,
      .rx_ready_o,
      .queue_rx_valid_o(queue_rx_valid),
      .queue_rx_ready_i(queue_rx_ready),
      .queue_i(queue_tx),
      .queue_count_i(queue_count),
      .queue_valid_i(queue_valid),
      .queue_ready_o(queue_ready),
      .tx_o,
      .tx_count_o,
      .tx_valid_o,
      .tx_ready_i,
      .fence_valid_i(fence[PairEngine]),
      .fence_ready_o(fenced[PairEngine]),
      .translate_o(translate_o[PairEngine]),
      .translate_valid_o(translate_valid_o[PairEngine]),
      .translate_ready_i(translate_ready_i[PairEngine]),
      .translation_i,
      .translation_valid_i(translation_valid_i[PairEngine]),
      .axi_o(axi_o[PairEngine]),
      .axi_i(axi_i[PairEngine])
    );
  end else begin : gen_none
    logic unused;
    assign {start_ready, events, events_valid, counts, statistics_valid_o, errors} = '0;
    assign {errors_valid, translate_o, translate_valid_o, axi_o, tx_o, tx_count_o} = '0;
    assign {tx_valid_o, rx_ready_o, broadcast_o, broadcast_valid_o, counts_o, failed} = '0;
    assign {message_stopped, tx_stopped, rx_stopped, pair_stopped, fenced} = '1;
    assign broadcast_ready_o = '1;
    assign value_o = value_i;
    assign unused = ^{context_i, start_valid_i, number, doorbell, doorbell_valid, fence, time_i,
                      message_stop, tx_stop, rx_stop, pair_stop, pair_i, events_ready, tx_ready_i,
                      rx_i, rx_count_i, rx_valid_i, broadcast_i, broadcast_valid_i,
                      broadcast_ready_i, translate_ready_i, translation_i, translation_valid_i,
                      axi_i, live_i};
  end
endmodule
