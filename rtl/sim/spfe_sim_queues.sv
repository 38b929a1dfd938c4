// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The transmit and the receive engine, which work on memory through AXI4. Their channels lead
/// through a port of one lane, or straight from one engine to the other. Index 0 of the signals is
/// the transmit engine.
module spfe_sim_queues
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
  import spfe_sf_lanes_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Queues of each engine, and virtual channels.
  parameter int unsigned Queues = 4,
  /// Words in a beat of a channel; with a port 1.
  parameter int unsigned Words = 1,
  /// 1: through a port.
  parameter bit Port = 1'b0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues),
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    queue_context_t start;
    logic [QueueWidth-1:0] start_queue;
    logic [1:0] start_valid;
    logic [1:0][Queues-1:0] stop;
    doorbell_t doorbell;
    logic [1:0] doorbell_valid;
    logic [63:0] device_time;
    logic [1:0] event_ready;
    logic [1:0] fence;
    logic [1:0] translate_ready;
    translation_t [1:0] translation;
    logic [1:0] translation_valid;
    logic [Queues-1:0] hold;
    axi_slave_t [1:0] axi;
    word_t line;
    logic line_on;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    logic initialised;
    logic [1:0] start_ready;
    logic [1:0][Queues-1:0] stopped;
    wait_e [1:0][Queues-1:0] waits;
    queue_error_t [1:0] errors;
    logic [1:0] error_valid;
    statistics_t [1:0] statistics;
    logic [1:0] statistics_valid;
    logic [1:0][15:0] events;
    logic [1:0] event_valid;
    logic [1:0] fence_ready;
    translate_t [1:0] translate;
    logic [1:0] translate_valid;
    axi_master_t [1:0] axi;
    word_t line;
    logic line_on;
  },
  /// Bits of a number of words; follows from Words.
  localparam int unsigned CountWidth = $clog2(Words + 1)
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  word_t [Queues-1:0][Words-1:0] tx, rx;
  logic [Queues-1:0][CountWidth-1:0] tx_count, rx_count;
  logic [Queues-1:0] tx_valid, tx_ready, rx_valid, rx_ready;

  if (Port) begin : gen_port
    link_param_t param;
    vc_param_t [Queues-1:0] vc_param;
    lane_param_t lane_param;
    link_status_t status;
    lane_status_t unused_lane;
    multilane_status_t unused_lanes;
    vc_status_t [Queues-1:0] unused_vc;
    broadcast_t unused_message;
    logic [3:0] unused;
    logic unused_all;

    always_comb begin
      param = '0;
      param.data_scrambled = 1'b1;
      for (int unsigned vc = 0; vc < Queues; vc++) begin
        vc_param[vc] = '{
          priority_level: 4'd0,
          price: 25'd256,
          time_slots: '1,
          continuous : 1'b0
        };
      end
      lane_param = '0;
      lane_param.tx_en = 1'b1;
      lane_param.rx_en = 1'b1;
      lane_param.lane_start = 1'b1;
      out_o.initialised = status.state == RstInitialised;
    end
    assign rx_count = '1;
    spfe_sf_port #(
      .Vcs(Queues)
    ) i_port (
      .clk_i,
      .rst_i(in_i.rst),
      .param_i(param),
      .vc_param_i(vc_param),
      .multilane_param_i('0),
      .lane_param_i(lane_param),
      .status_o(status),
      .multilane_status_o(unused_lanes),
      .lane_status_o(unused_lane),
      .vc_status_o(unused_vc),
      .tx_i(tx),
      .tx_valid_i(tx_valid),
      .tx_ready_o(tx_ready),
      .rx_o(rx),
      .rx_valid_o(rx_valid),
      .rx_ready_i(rx_ready),
      .broadcast_i('0),
      .broadcast_valid_i(1'b0),
      .broadcast_ready_o(unused[0]),
      .broadcast_o(unused_message),
      .broadcast_valid_o(unused[1]),
      .broadcast_ready_i(1'b1),
      .line_o(out_o.line),
      .line_on_o(out_o.line_on),
      .line_i(in_i.line),
      .line_on_i(in_i.line_on),
      .realigned_i(1'b0),
      .receive_o(unused[2]),
      .invert_o(unused[3])
    );
    assign unused_all = ^{
      unused, unused_lane, unused_lanes, unused_vc, unused_message, status, tx_count, in_i.hold
    };
  end else begin : gen_loop
    logic unused_line;
    assign rx = tx;
    assign rx_count = tx_count;
    assign rx_valid = tx_valid & ~in_i.hold;
    assign tx_ready = rx_ready & ~in_i.hold;
    assign out_o.initialised = 1'b1;
    assign out_o.line = '0;
    assign out_o.line_on = 1'b0;
    assign unused_line = ^{in_i.line, in_i.line_on};
  end

  spfe_host_tx_engine #(
    .Queues(Queues),
    .Words(Words)
  ) i_tx (
    .clk_i,
    .rst_i(in_i.rst),
    .start_i(in_i.start),
    .start_queue_i(in_i.start_queue),
    .start_valid_i(in_i.start_valid[0]),
    .start_ready_o(out_o.start_ready[0]),
    .stop_i(in_i.stop[0]),
    .stopped_o(out_o.stopped[0]),
    .doorbell_i(in_i.doorbell),
    .doorbell_valid_i(in_i.doorbell_valid[0]),
    .time_i(in_i.device_time),
    .wait_o(out_o.waits[0]),
    .error_o(out_o.errors[0]),
    .error_valid_o(out_o.error_valid[0]),
    .statistics_o(out_o.statistics[0]),
    .statistics_valid_o(out_o.statistics_valid[0]),
    .event_o(out_o.events[0]),
    .event_valid_o(out_o.event_valid[0]),
    .event_ready_i(in_i.event_ready[0]),
    .word_o(tx),
    .word_count_o(tx_count),
    .word_valid_o(tx_valid),
    .word_ready_i(tx_ready),
    .fence_valid_i(in_i.fence[0]),
    .fence_ready_o(out_o.fence_ready[0]),
    .translate_o(out_o.translate[0]),
    .translate_valid_o(out_o.translate_valid[0]),
    .translate_ready_i(in_i.translate_ready[0]),
    .translation_i(in_i.translation[0]),
    .translation_valid_i(in_i.translation_valid[0]),
    .axi_o(out_o.axi[0]),
    .axi_i(in_i.axi[0])
  );

  spfe_host_rx_engine #(
    .Queues(Queues),
    .Words(Words)
  ) i_rx (
    .clk_i,
    .rst_i(in_i.rst),
    .start_i(in_i.start),
    .start_queue_i(in_i.start_queue),
    .start_valid_i(in_i.start_valid[1]),
    .start_ready_o(out_o.start_ready[1]),
    .stop_i(in_i.stop[1]),
    .stopped_o(out_o.stopped[1]),
    .doorbell_i(in_i.doorbell),
    .doorbell_valid_i(in_i.doorbell_valid[1]),
    .time_i(in_i.device_time),
    .wait_o(out_o.waits[1]),
    .error_o(out_o.errors[1]),
    .error_valid_o(out_o.error_valid[1]),
    .statistics_o(out_o.statistics[1]),
    .statistics_valid_o(out_o.statistics_valid[1]),
    .event_o(out_o.events[1]),
    .event_valid_o(out_o.event_valid[1]),
    .event_ready_i(in_i.event_ready[1]),
    .word_i(rx),
    .word_count_i(rx_count),
    .word_valid_i(rx_valid),
    .word_ready_o(rx_ready),
    .fence_valid_i(in_i.fence[1]),
    .fence_ready_o(out_o.fence_ready[1]),
    .translate_o(out_o.translate[1]),
    .translate_valid_o(out_o.translate_valid[1]),
    .translate_ready_i(in_i.translate_ready[1]),
    .translation_i(in_i.translation[1]),
    .translation_valid_i(in_i.translation_valid[1]),
    .axi_o(out_o.axi[1]),
    .axi_i(in_i.axi[1])
  );
endmodule
