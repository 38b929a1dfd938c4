// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The target of RDMA between the ports and the queues, if the endpoint has one; otherwise wires.
module spfe_ep_side
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Entries in Fixed, 1 or more.
  parameter int unsigned FixedEntries = 1,
  /// The first entries of the table, from power-up on.
  parameter spfe_rdma_pkg::region_t [FixedEntries-1:0] Fixed = '0,
  /// Vendor, device and serial number, for INFO.
  parameter logic [95:0] Identity = '0,
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
  /// Device time in ns.
  input logic [63:0] time_i,

  /// Entry to set, fence, or notification to take.
  input target_ask_t ask_i,
  /// The fence is done; a notification waits.
  output target_answer_t ask_o,
  /// Event vector to signal: a notification was kept.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Register of the ports or of the target block to read.
  input live_t live_i,
  /// Its value if it is one of the ports, a cycle later.
  input logic [31:0] value_i,
  /// Its value, at the same time.
  output logic [31:0] value_o,

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

  /// AXI4 of the target.
  output axi_master_t axi_o,
  /// Ready, read data and write responses.
  input axi_slave_t axi_i,
  /// A memory reported an error.
  output logic failed_o
);
  localparam int unsigned Vcs = port_vcs(Shape, 32'(Shape.target.port));
  localparam int unsigned First = first_channel(Shape, 32'(Shape.target.port));
  localparam int unsigned Channel = First + 32'(Shape.target.vc);
  localparam bit Has = Shape.target.entries != '0;

  for (genvar i = 0; i < Data; i++) begin : gen_rx
    if (!Has || i != Channel) begin : gen_queue
      assign queue_rx_valid_o[i] = rx_valid_i[i];
      assign rx_ready_o[i] = queue_rx_ready_i[i];
    end
    if (!Has || i < First || i >= First + Vcs) begin : gen_wire
      assign tx_o[i] = queue_i[i];
      assign tx_count_o[i] = queue_count_i[i];
      assign tx_valid_o[i] = queue_valid_i[i];
      assign queue_ready_o[i] = tx_ready_i[i];
    end
  end

  if (Has) begin : gen_target
    logic [31:0] value;
    logic mine_q, unused;
    assign unused = queue_rx_ready_i[Channel];
    assign value_o = mine_q ? value : value_i;
    always_ff @(posedge clk_i) mine_q <= live_i.source == LiveTarget;
    assign queue_rx_valid_o[Channel] = 1'b0;
    spfe_ep_target #(
      .Shape(Shape),
      .FixedEntries(FixedEntries),
      .Fixed(Fixed),
      .Identity(Identity),
      .Words(Words),
      .Protect(Protect)
    ) i_target (
      .clk_i,
      .rst_i,
      .time_i,
      .ask_i,
      .ask_o,
      .event_o,
      .event_valid_o,
      .event_ready_i,
      .live_i,
      .value_o(value),
      .rx_i(rx_i[Channel]),
      .rx_count_i(rx_count_i[Channel]),
      .rx_valid_i(rx_valid_i[Channel]),
      .rx_ready_o(rx_ready_o[Channel]),
      .queue_i(queue_i[First+:Vcs]),
      .queue_count_i(queue_count_i[First+:Vcs]),
      .queue_valid_i(queue_valid_i[First+:Vcs]),
      .queue_ready_o(queue_ready_o[First+:Vcs]),
      .tx_o(tx_o[First+:Vcs]),
      .tx_count_o(tx_count_o[First+:Vcs]),
      .tx_valid_o(tx_valid_o[First+:Vcs]),
      .tx_ready_i(tx_ready_i[First+:Vcs]),
      .axi_o,
      .axi_i,
      .failed_o
    );
  end else begin : gen_none
    logic unused;
    assign {ask_o, event_o, event_valid_o, axi_o, failed_o} = '0;
    assign value_o = value_i;
    assign unused = ^{clk_i, rst_i, time_i, ask_i, event_ready_i, live_i, rx_i, rx_count_i, axi_i};
  end
endmodule
