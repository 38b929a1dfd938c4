// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The queue pair between the ports and the queues, if the endpoint has one; otherwise wires. While
/// it works, the words of its channel are its own.
module spfe_ep_pair
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultPairShape,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Channels of all ports; follows from Shape.
  localparam int unsigned Data = data_queues(Shape),
  /// Bits of a number of words in a beat; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// See spfe_rdma_engine.
  input queue_context_t start_i,
  /// See spfe_rdma_engine.
  input logic start_queue_i,
  /// See spfe_rdma_engine.
  input pair_t start_pair_i,
  input logic start_valid_i,
  output logic start_ready_o,
  /// See spfe_rdma_engine.
  input logic [1:0] stop_i,
  /// See spfe_rdma_engine.
  output logic [1:0] stopped_o,
  /// See spfe_rdma_engine.
  input doorbell_t doorbell_i,
  input logic doorbell_valid_i,
  /// Device time in ns.
  input logic [63:0] time_i,
  /// For one cycle: a queue has stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// For one cycle: counts of a queue.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
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
  /// A memory reported an error.
  output logic failed_o,

  /// Words that came on each channel.
  input word_t [Data-1:0][Words-1:0] rx_i,
  /// Their number; with rx_i.
  input logic [Data-1:0][CountWidth-1:0] rx_count_i,
  input logic [Data-1:0] rx_valid_i,
  output logic [Data-1:0] rx_ready_o,
  /// They are for the queue of the channel.
  output logic [Data-1:0] queue_rx_valid_o,
  /// The queue takes them.
  input logic [Data-1:0] queue_rx_ready_i,
  /// Words of the transmit queue of each channel.
  input word_t [Data-1:0][Words-1:0] queue_i,
  /// Their number; with queue_i.
  input logic [Data-1:0][CountWidth-1:0] queue_count_i,
  input logic [Data-1:0] queue_valid_i,
  output logic [Data-1:0] queue_ready_o,
  /// Words for each channel.
  output word_t [Data-1:0][Words-1:0] tx_o,
  /// Their number; with tx_o.
  output logic [Data-1:0][CountWidth-1:0] tx_count_o,
  output logic [Data-1:0] tx_valid_o,
  input logic [Data-1:0] tx_ready_i,

  /// All accesses of earlier translations are to be answered.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Access to translate.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The answer.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// AXI4.
  output axi_master_t axi_o,
  /// Its answers.
  input axi_slave_t axi_i
);
  localparam bit Has = Shape.pairs.count != '0;
  localparam int unsigned Channel = pair_channel(Shape);

  for (genvar i = 0; i < Data; i++) begin : gen_wire
    if (!Has || i != Channel) begin : gen_other
      assign queue_rx_valid_o[i] = rx_valid_i[i];
      assign rx_ready_o[i] = queue_rx_ready_i[i];
      assign tx_o[i] = queue_i[i];
      assign tx_count_o[i] = queue_count_i[i];
      assign tx_valid_o[i] = queue_valid_i[i];
      assign queue_ready_o[i] = tx_ready_i[i];
    end
  end

  if (Has) begin : gen_pair
    logic [31:0] value;
    logic mine_q, unused;
    assign value_o = mine_q ? value : value_i;
    assign unused = ^live_i;
    always_ff @(posedge clk_i) mine_q <= live_i.source == LivePair;

    // A beat becomes words.
    logic [CountWidth-1:0] at_q;
    word_t rx_word, word;
    logic mine, takes, rx_word_ready, word_valid, word_ready;
    assign mine = stopped_o != '1;
    assign takes = mine && rx_valid_i[Channel] && rx_word_ready;
    assign rx_ready_o[Channel] = mine ? takes && at_q + 1'b1 == rx_count_i[Channel] :
        queue_rx_ready_i[Channel];
    assign queue_rx_valid_o[Channel] = rx_valid_i[Channel] && !mine;
    always_ff @(posedge clk_i) begin
      if (takes) at_q <= rx_ready_o[Channel] ? '0 : at_q + 1'b1;
      if (rst_i || !mine) at_q <= '0;
    end
    if (Words > 1) begin : gen_place
      assign rx_word = rx_i[Channel][at_q[$clog2(Words)-1:0]];
    end else begin : gen_word
      assign rx_word = rx_i[Channel][0];
    end

    spfe_rdma_engine #(
      .Vc(32'(Shape.pairs.vc)),
      .Protect(Protect)
    ) i_engine (
      .clk_i,
      .rst_i,
      .start_i,
      .start_queue_i,
      .start_pair_i,
      .start_valid_i,
      .start_ready_o,
      .stop_i,
      .stopped_o,
      .doorbell_i,
      .doorbell_valid_i,
      .time_i,
      .error_o,
      .error_valid_o,
      .statistics_o,
      .statistics_valid_o,
      .count_i(live_i.word),
      .count_valid_i(live_i.source == LivePair),
      .count_o(value),
      .event_o,
      .event_valid_o,
      .event_ready_i,
      .failed_o,
      .word_i(rx_word),
      .word_valid_i(rx_valid_i[Channel] && mine),
      .word_ready_o(rx_word_ready),
      .word_o(word),
      .word_valid_o(word_valid),
      .word_ready_i(word_ready),
      .fence_valid_i,
      .fence_ready_o,
      .translate_o,
      .translate_valid_o,
      .translate_ready_i,
      .translation_i,
      .translation_valid_i,
      .axi_o,
      .axi_i
    );

    spfe_ep_target_tx #(
      .Vcs(1),
      .Words(Words)
    ) i_tx (
      .clk_i,
      .rst_i,
      .word_i(word),
      .vc_i('0),
      .word_valid_i(word_valid),
      .word_ready_o(word_ready),
      .queue_i(queue_i[Channel]),
      .queue_count_i(queue_count_i[Channel]),
      .queue_valid_i(queue_valid_i[Channel]),
      .queue_ready_o(queue_ready_o[Channel]),
      .tx_o(tx_o[Channel]),
      .tx_count_o(tx_count_o[Channel]),
      .tx_valid_o(tx_valid_o[Channel]),
      .tx_ready_i(tx_ready_i[Channel])
    );
  end else begin : gen_none
    logic unused;
    assign {start_ready_o, error_o, error_valid_o, statistics_o, statistics_valid_o} = '0;
    assign {event_o, event_valid_o, failed_o, translate_o, translate_valid_o, axi_o} = '0;
    assign {stopped_o, fence_ready_o} = '1;
    assign value_o = value_i;
    assign unused = ^{clk_i, rst_i, start_i, start_queue_i, start_pair_i, start_valid_i, stop_i,
                      doorbell_i, doorbell_valid_i, time_i, event_ready_i, rx_count_i, rx_i, live_i,
                      fence_valid_i, translate_ready_i, translation_i, translation_valid_i, axi_i};
  end

  if (Shape.pairs.count > 8'd1 || (Has && (Shape.pairs.port >= Shape.ports
      || 32'(Shape.pairs.vc) >= port_vcs(
      Shape, 32'(Shape.pairs.port)
    ) || (Shape.target.entries != '0 && Shape.target.port == Shape.pairs.port &&
          Shape.target.vc == Shape.pairs.vc)))) begin : gen_bad_pair
    $error(
      "spfe_ep_pair: %0d queue pairs on port %0d, channel %0d; 1 is possible, not on the target's",
      Shape.pairs.count,
      Shape.pairs.port,
      Shape.pairs.vc
    );
  end
endmodule
