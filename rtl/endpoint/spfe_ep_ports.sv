// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The ports of an endpoint, and the choice of the one whose registers are read.
module spfe_ep_ports
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Ports, 1 to 8.
  parameter int unsigned Ports = 1,
  /// SpaceWire ports among them, the last ones.
  parameter int unsigned Wires = 0,
  /// Lanes of each SpaceFibre port.
  parameter int unsigned Lanes = 1,
  /// Virtual channels of each SpaceFibre port.
  parameter int unsigned Vcs = 4,
  /// Words in the output buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned OutputWords = 256 << $clog2(Lanes),
  /// Words in the input buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned InputWords = 256 << $clog2(Lanes),
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Picoseconds in a cycle.
  parameter int unsigned CyclePs = 6400,
  /// Cycles of a bit on a SpaceWire link.
  parameter int unsigned WireBitCycles = 2,
  /// SpaceFibre ports; follows from Ports and Wires.
  localparam int unsigned Fibres = Ports - Wires,
  /// Channels of all ports, at least 2.
  localparam int unsigned Channels = Fibres * Vcs + Wires < 2 ? 2 : Fibres * Vcs + Wires,
  /// Bits of a number of words; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameter to set.
  input mib_set_t set_i,
  input logic set_valid_i,
  /// Register LINK_VECTOR.
  input logic [15:0] vector_i,
  /// Sets it for the port that set_i names.
  input logic vector_valid_i,
  /// Register to read: word of a block of a port.
  input live_t live_i,
  /// Messages of each port: sent, received, dropped.
  input logic [Ports-1:0][2:0][31:0] counts_i,
  /// The word, a cycle later.
  output logic [31:0] live_o,
  /// Vector of a link event.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Packets can pass on the port.
  output logic [Ports-1:0] up_o,

  /// Words for each channel, those of the first port first.
  input word_t [Channels-1:0][Lanes-1:0] tx_i,
  /// Their number; with tx_i.
  input logic [Channels-1:0][CountWidth-1:0] tx_count_i,
  input logic [Channels-1:0] tx_valid_i,
  output logic [Channels-1:0] tx_ready_o,
  /// Words of each channel.
  output word_t [Channels-1:0][Lanes-1:0] rx_o,
  /// Their number; with rx_o.
  output logic [Channels-1:0][CountWidth-1:0] rx_count_o,
  output logic [Channels-1:0] rx_valid_o,
  input logic [Channels-1:0] rx_ready_i,
  /// Message to each port.
  input broadcast_t [Ports-1:0] broadcast_i,
  input logic [Ports-1:0] broadcast_valid_i,
  output logic [Ports-1:0] broadcast_ready_o,
  /// Message from each port.
  output broadcast_t [Ports-1:0] broadcast_o,
  output logic [Ports-1:0] broadcast_valid_o,
  input logic [Ports-1:0] broadcast_ready_i,

  /// Word to each lane of each port; see spfe_sf_lane.
  output word_t [Ports-1:0][Lanes-1:0] line_o,
  /// The line driver is on.
  output logic [Ports-1:0][Lanes-1:0] line_on_o,
  /// Word from each lane.
  input word_t [Ports-1:0][Lanes-1:0] line_i,
  /// There is a signal.
  input logic [Ports-1:0][Lanes-1:0] line_on_i,
  /// The word boundary moved.
  input logic [Ports-1:0][Lanes-1:0] realigned_i,
  /// The receiver and its clock recovery are on.
  output logic [Ports-1:0][Lanes-1:0] receive_o,
  /// The received bits are to be inverted.
  output logic [Ports-1:0][Lanes-1:0] invert_o,
  /// Data (1) and strobe (0) to the far end of each SpaceWire port.
  output logic [Ports-1:0][1:0] wire_o,
  /// Data and strobe from the far end.
  input logic [Ports-1:0][1:0] wire_i
);
  logic [Ports-1:0][31:0] port_value, item;
  logic [Ports-1:0][15:0] signals;
  logic [Ports-1:0] signals_valid, signals_ready, first;
  logic [31:0] live_value, live_q;
  localparam int unsigned PortWidth = Ports > 1 ? $clog2(Ports) : 1;

  for (genvar i = 0; i < Fibres; i++) begin : gen_port
    spfe_ep_port #(
      .Port(i),
      .Lanes(Lanes),
      .Vcs(Vcs),
      .OutputWords(OutputWords),
      .InputWords(InputWords),
      .Protect(Protect)
    ) i_port (
      .clk_i,
      .rst_i,
      .set_i,
      .set_valid_i,
      .vector_i,
      .vector_valid_i,
      .live_i,
      .value_o(port_value[i]),
      .item_o(item[i]),
      .event_o(signals[i]),
      .event_valid_o(signals_valid[i]),
      .event_ready_i(signals_ready[i]),
      .up_o(up_o[i]),
      .tx_i(tx_i[i*Vcs+:Vcs]),
      .tx_count_i(tx_count_i[i*Vcs+:Vcs]),
      .tx_valid_i(tx_valid_i[i*Vcs+:Vcs]),
      .tx_ready_o(tx_ready_o[i*Vcs+:Vcs]),
      .rx_o(rx_o[i*Vcs+:Vcs]),
      .rx_count_o(rx_count_o[i*Vcs+:Vcs]),
      .rx_valid_o(rx_valid_o[i*Vcs+:Vcs]),
      .rx_ready_i(rx_ready_i[i*Vcs+:Vcs]),
      .broadcast_i(broadcast_i[i]),
      .broadcast_valid_i(broadcast_valid_i[i]),
      .broadcast_ready_o(broadcast_ready_o[i]),
      .broadcast_o(broadcast_o[i]),
      .broadcast_valid_o(broadcast_valid_o[i]),
      .broadcast_ready_i(broadcast_ready_i[i]),
      .line_o(line_o[i]),
      .line_on_o(line_on_o[i]),
      .line_i(line_i[i]),
      .line_on_i(line_on_i[i]),
      .realigned_i(realigned_i[i]),
      .receive_o(receive_o[i]),
      .invert_o(invert_o[i])
    );
    assign wire_o[i] = '0;
  end
  for (genvar i = Fibres; i < Ports; i++) begin : gen_wire
    localparam int unsigned Channel = Fibres * Vcs + i - Fibres;
    spfe_ep_wire #(
      .Port(i),
      .Words(Lanes),
      .CyclePs(CyclePs),
      .BitCycles(WireBitCycles)
    ) i_wire (
      .clk_i,
      .rst_i,
      .set_i,
      .set_valid_i,
      .vector_i,
      .vector_valid_i,
      .live_i,
      .value_o(port_value[i]),
      .event_o(signals[i]),
      .event_valid_o(signals_valid[i]),
      .event_ready_i(signals_ready[i]),
      .up_o(up_o[i]),
      .tx_i(tx_i[Channel]),
      .tx_count_i(tx_count_i[Channel]),
      .tx_valid_i(tx_valid_i[Channel]),
      .tx_ready_o(tx_ready_o[Channel]),
      .rx_o(rx_o[Channel]),
      .rx_count_o(rx_count_o[Channel]),
      .rx_valid_o(rx_valid_o[Channel]),
      .rx_ready_i(rx_ready_i[Channel]),
      .code_i(broadcast_i[i]),
      .code_valid_i(broadcast_valid_i[i]),
      .code_ready_o(broadcast_ready_o[i]),
      .code_o(broadcast_o[i]),
      .code_valid_o(broadcast_valid_o[i]),
      .code_ready_i(broadcast_ready_i[i]),
      .wire_o(wire_o[i]),
      .wire_i(wire_i[i])
    );
    assign item[i] = '0;
    assign {line_o[i], line_on_o[i], receive_o[i], invert_o[i]} = '0;
  end

  logic [PortWidth-1:0] live_port;
  assign live_port = Ports > 1 ? PortWidth'(live_i.port) : '0;
  always_comb begin
    live_value = item[live_port];
    if (live_i.source == LivePort) live_value = port_value[live_port];
    if (live_i.source == LiveBroadcast && 32'(live_port) >= Fibres) begin
      live_value = port_value[live_port];
    end else if (live_i.source == LiveBroadcast) begin
      live_value = counts_i[live_port][2'(32'(live_i.word)-BROADCAST_BLOCK_SENT/4)];
      if (live_i.word == 7'(BROADCAST_BLOCK_DROPPED / 4))
        live_value = live_value + port_value[live_port];
    end
  end
  always_ff @(posedge clk_i) live_q <= live_value;
  assign live_o = live_q;

  // A link event stays until it is taken, so the order of the ports does not matter.
  always_comb begin
    first = '0;
    event_o = '0;
    for (int i = 0; i < Ports; i++) begin
      if (signals_valid[i] && first == '0) begin
        first[i] = 1'b1;
        event_o = signals[i];
      end
    end
  end
  assign event_valid_o = signals_valid != '0;
  assign signals_ready = event_ready_i ? first : '0;

  if (Channels != Fibres * Vcs + Wires) begin : gen_pad
    assign {tx_ready_o[1], rx_o[1], rx_count_o[1], rx_valid_o[1]} = '0;
  end

  logic unused;
  assign unused = ^{
    live_i, tx_i, tx_count_i, tx_valid_i, rx_ready_i, line_i, line_on_i, realigned_i, wire_i
  };

  if (Wires > Ports) begin : gen_bad_wires
    $error("spfe_ep_ports: %0d of %0d ports are SpaceWire ports", Wires, Ports);
  end
endmodule
