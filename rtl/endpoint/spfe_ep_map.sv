// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Queue contexts and the queues of the engines: which engine a context belongs to, and its number
/// there. Combinational.
module spfe_ep_map
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Queue contexts; follows from Shape.
  localparam int unsigned Queues = queues(Shape),
  /// Message queues; follows from Shape.
  localparam int unsigned Messages = 2 * MessageContexts * 32'(Shape.ports),
  /// Queues of each engine for data; follows from Shape.
  localparam int unsigned Data = data_queues(Shape)
) (
  /// A context.
  input logic [15:0] queue_i,
  /// It is of kind RDMA or RDMA_RX.
  input logic pair_i,
  /// Its engine, one-hot.
  output logic [Engines-1:0] engine_o,
  /// Its number there.
  output logic [15:0] number_o,
  /// Doorbell of a context.
  input doorbell_t doorbell_i,
  input logic doorbell_valid_i,
  /// The doorbell for the engine.
  output doorbell_t doorbell_o,
  /// It is for this engine.
  output logic [Engines-1:0] doorbell_valid_o,
  /// Contexts to stop.
  input logic [Queues-1:0] stop_i,
  /// Message queues to stop.
  output logic [Messages-1:0] message_stop_o,
  /// Transmit queues to stop, by channel.
  output logic [Data-1:0] tx_stop_o,
  /// Receive queues to stop, by channel.
  output logic [Data-1:0] rx_stop_o,
  /// Queues of the queue pair to stop: the one that sends, and the one that receives.
  output logic [1:0] pair_stop_o,
  /// Message queues that have stopped.
  input logic [Messages-1:0] message_stopped_i,
  /// Transmit queues that have stopped, by channel.
  input logic [Data-1:0] tx_stopped_i,
  /// Receive queues that have stopped, by channel.
  input logic [Data-1:0] rx_stopped_i,
  /// Queues of the queue pair that have stopped.
  input logic [1:0] pair_stopped_i,
  /// Contexts that have stopped.
  output logic [Queues-1:0] stopped_o
);
  /// Engine, one-hot, and number of a context; no engine if there is no such context.
  function automatic logic [Engines+15:0] place_of(input logic [15:0] queue);
    logic [Engines-1:0] engine;
    logic [15:0] rest, data, message, channel;
    rest = queue;
    data = 16'(2 * port_vcs(Shape, 0));
    channel = '0;
    message = '0;
    for (int unsigned p = 1; p < 32'(Shape.ports); p++) begin
      if (32'(queue) >= first_queue(Shape, p)) begin
        rest = queue - 16'(first_queue(Shape, p));
        data = 16'(2 * port_vcs(Shape, p));
        channel = 16'(first_channel(Shape, p));
        message = 16'(2 * MessageContexts * p);
      end
    end
    engine = '0;
    if (rest < data) begin
      engine[rest[0]?RxEngine : TxEngine] = 1'b1;
      return {engine, channel + (rest >> 1)};
    end
    engine[MessageEngine] = rest < data + 16'(2 * MessageContexts);
    return {engine, message + rest - data};
  endfunction

  localparam bit HasPair = Shape.pairs.count != '0;
  localparam int unsigned Pair = pair_queue(Shape);

  // The contexts of the queue pair are those of a transmit and a receive queue, too: only one of
  // both works, and doorbells and stops are for both.
  logic [Engines-1:0] engine, rung;
  logic at_pair;
  assign {engine, number_o} = place_of(queue_i);
  assign engine_o = HasPair && pair_i ? Engines'(1) << PairEngine : engine;
  assign doorbell_o.kind = doorbell_i.kind;
  assign {rung, doorbell_o.index} = place_of(doorbell_i.index);
  assign at_pair = HasPair && (32'(doorbell_i.index) == Pair || 32'(doorbell_i.index) == Pair + 1);
  always_comb begin
    doorbell_valid_o = doorbell_valid_i ? rung : '0;
    doorbell_valid_o[PairEngine] = doorbell_valid_i && at_pair;
  end
  assign pair_stop_o = HasPair ? stop_i[Pair+:2] : '0;

  // Every context has an engine, so all bits of stopped_o are driven.
  for (genvar i = 0; i < Messages; i++) begin : gen_message
    localparam int unsigned Context = 32'(context_of(Shape, MessageEngine, 16'(i)));
    assign message_stop_o[i] = stop_i[Context];
    assign stopped_o[Context] = message_stopped_i[i];
  end
  for (genvar i = 0; i < Data; i++) begin : gen_data
    if (i < first_channel(Shape, 32'(Shape.ports))) begin : gen_used
      localparam int unsigned Tx = 32'(context_of(Shape, TxEngine, 16'(i)));
      localparam int unsigned Rx = 32'(context_of(Shape, RxEngine, 16'(i)));
      assign tx_stop_o[i] = stop_i[Tx];
      assign rx_stop_o[i] = stop_i[Rx];
      assign stopped_o[Tx] = tx_stopped_i[i] && (!HasPair || Tx != Pair || pair_stopped_i[0]);
      assign stopped_o[Rx] = rx_stopped_i[i] && (!HasPair || Rx != Pair + 1 || pair_stopped_i[1]);
    end else begin : gen_none
      assign {tx_stop_o[i], rx_stop_o[i]} = '0;
    end
  end

  logic unused;
  assign unused = ^{tx_stopped_i, rx_stopped_i, pair_stopped_i, pair_i};
endmodule
