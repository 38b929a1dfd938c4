// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// An endpoint of SpaceFibre and SpaceWire, a device of the contract (contract/README.md): ports,
/// queues, and the register space. A cycle of clk_i is a word period of all lanes.
module spfe_endpoint
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Ports, 1 to 8.
  parameter int unsigned Ports = 1,
  /// SpaceWire ports among them, the last ones; the others are SpaceFibre ports.
  parameter int unsigned Wires = 0,
  /// Lanes of each SpaceFibre port: 1, 2 or 4.
  parameter int unsigned Lanes = 1,
  /// Virtual channels of each SpaceFibre port, 1 to 32. A SpaceWire port has one.
  parameter int unsigned Vcs = 4,
  /// Memory regions, 2 to 4096.
  parameter int unsigned Regions = 64,
  /// Event vectors, 2 to 512.
  parameter int unsigned Events = 16,
  /// Page addresses of all regions together, 2 to 65536.
  parameter int unsigned Pages = 1024,
  /// Words in the output buffer of each channel; see spfe_sf_data_link. What it holds is sent while
  /// a host answers the completion of a group and the first words of the next one are read.
  parameter int unsigned OutputWords = 512 << $clog2(Lanes),
  /// Words in the input buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned InputWords = 256 << $clog2(Lanes),
  /// Picoseconds in a cycle: 6400 for lanes of 6.25 Gbit/s.
  parameter int unsigned CyclePs = 6400,
  /// Signalling rate of a lane in Mbit/s, for the register of this name.
  parameter int unsigned LaneRateMbps = 6250,
  /// Cycles of a bit on a SpaceWire link. The far end's bits must be longer than a cycle.
  parameter int unsigned WireBitCycles = 2,
  /// Check bits of the memories: 0 none, 1 parity, 2 SECDED; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// There are queues. Without them the contexts cannot be enabled; only the target moves data.
  parameter bit HasQueues = 1'b1,
  /// The target of RDMA; target_t says what NoTarget lacks.
  parameter target_t Target = NoTarget,
  /// Entries in TargetTable, 1 or more.
  parameter int unsigned TargetEntries = 1,
  /// The entries of the target from power-up on; Target says how many of them there are.
  parameter spfe_rdma_pkg::region_t [TargetEntries-1:0] TargetTable = '0,
  /// The queue pair of RDMA; pairs_t says what NoPairs lacks.
  parameter pairs_t Pairs = NoPairs,
  /// Vendor, device and serial number that the target tells.
  parameter logic [95:0] TargetIdentity = '0,
  /// What the endpoint has; follows from the parameters.
  localparam shape_t Shape = '{
    target: Target,
    pairs: Pairs,
    ports: 8'(Ports),
    wires: 8'(Wires),
    lanes: 8'(Lanes),
    vcs: 8'(Vcs),
    regions: 16'(Regions),
    events: 16'(Events)
  },
  /// Bits of a register's address; follows from the parameters.
  localparam int unsigned AddrWidth = space_log2(Shape),
  /// Bits of a vector's number; follows from Events.
  localparam int unsigned EventWidth = $clog2(Events)
) (
  input logic clk_i,
  input logic rst_i,

  /// AXI4-Lite of 64 bits: the register space, usable as BAR 0 of PCI Express. Aligned accesses of
  /// 4 and 8 bytes; an access of 4 bytes uses half of the bus.
  input logic [AddrWidth-1:0] lite_aw_addr_i,
  input logic lite_aw_valid_i,
  output logic lite_aw_ready_o,
  /// Bytes for the aligned address, of which the byte enables select 4 or all 8.
  input logic [63:0] lite_w_data_i,
  /// Byte enables; with lite_w_data_i.
  input logic [7:0] lite_w_strb_i,
  input logic lite_w_valid_i,
  output logic lite_w_ready_o,
  /// Write response, always OKAY.
  output logic [1:0] lite_b_resp_o,
  output logic lite_b_valid_o,
  input logic lite_b_ready_i,
  /// Address of a read, of which the low 3 bits do not matter.
  input logic [AddrWidth-1:0] lite_ar_addr_i,
  input logic lite_ar_valid_i,
  output logic lite_ar_ready_o,
  /// The 8 bytes at the aligned address.
  output logic [63:0] lite_r_data_o,
  /// Read response, always OKAY; with lite_r_data_o.
  output logic [1:0] lite_r_resp_o,
  output logic lite_r_valid_o,
  input logic lite_r_ready_i,

  /// AXI4 master.
  output bus_master_t bus_o,
  /// Ready, read data and write responses of the bus.
  input bus_slave_t bus_i,

  /// Vector of an interrupt message (MSI-X): COUNT of the vector has risen.
  output logic [EventWidth-1:0] message_o,
  output logic message_valid_o,
  input logic message_ready_i,
  /// Level-sensitive line of each vector. The one line of PCI is their OR.
  output logic [Events-1:0] lines_o,
  /// Packets can pass on the port.
  output logic [Ports-1:0] up_o,
  /// For one cycle: a memory of the control plane reported an error.
  output logic failed_o,

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
  /// Data (1) and strobe (0) to the far end of each SpaceWire port; 0 for other ports.
  output logic [Ports-1:0][1:0] wire_o,
  /// Data and strobe from the far end, of any clock.
  input logic [Ports-1:0][1:0] wire_i
);
  localparam int unsigned Queues = queues(Shape);
  localparam int unsigned Data = data_queues(Shape);

  logic [15:0] queue, vector;
  queue_context_t start;
  logic start_valid, start_ready, fence_valid, fence_ready, doorbell_valid;
  logic set_valid, vector_valid, error_valid, error_ready;
  logic [Queues-1:0] stop, stopped;
  queue_error_t error;
  doorbell_t doorbell;
  spfe_rdma_pair_pkg::pair_t pair;
  statistics_t [Engines-1:0] statistics;
  translate_t [Engines-1:0] translate;
  logic [Engines-1:0] statistics_valid, translate_valid, translate_ready, translation_valid;
  translation_t translation;
  logic [63:0] now;
  list_ask_t list_ask;
  list_answer_t list_answer;
  mib_set_t set;
  live_t live;
  logic [31:0] port_value, live_value, live_answer;
  logic [2:0] failed, signals_valid, signals_ready;
  logic [2:0][15:0] signals;  // event vectors: of the queues, the ports and the target
  target_ask_t target_ask;
  target_answer_t target_answer;
  assign {failed_o, lite_b_resp_o, lite_r_resp_o} = {failed != '0, 4'd0};

  spfe_ep_control #(
    .Shape(Shape),
    .Units(Engines),
    .Reporters(Engines),
    .Signallers(3),
    .Pages(Pages),
    .Capability(capability_of(HasQueues, Pairs.count != '0, Target.entries != '0)),
    .Kinds(kinds_of(HasQueues, Pairs.count != '0)),
    .LaneRateMbps(LaneRateMbps),
    .UserRateKbps(user_rate_kbps(Lanes, LaneRateMbps)),
    .WireRateMbps(1_000_000 / (CyclePs * WireBitCycles)),
    .CyclePs(CyclePs),
    .MibAbsent(mib_absent(Shape)),
    .Protect(Protect)
  ) i_control (
    .clk_i,
    .rst_i,
    .lite_aw_addr_i,
    .lite_aw_valid_i,
    .lite_aw_ready_o,
    .lite_w_data_i,
    .lite_w_strb_i,
    .lite_w_valid_i,
    .lite_w_ready_o,
    .lite_b_valid_o,
    .lite_b_ready_i,
    .lite_ar_addr_i,
    .lite_ar_valid_i,
    .lite_ar_ready_o,
    .lite_r_data_o,
    .lite_r_valid_o,
    .lite_r_ready_i,
    .message_o,
    .message_valid_o,
    .message_ready_i,
    .lines_o,
    .time_o(now),
    .queue_o(queue),
    .context_o(start),
    .pair_o(pair),
    .start_valid_o(start_valid),
    .start_ready_i(start_ready),
    .stop_o(stop),
    .stopped_i(stopped),
    .error_i(error),
    .error_valid_i(error_valid),
    .error_ready_o(error_ready),
    .fence_valid_o(fence_valid),
    .fence_ready_i(fence_ready),
    .doorbell_o(doorbell),
    .doorbell_valid_o(doorbell_valid),
    .event_i(signals),
    .event_valid_i(signals_valid),
    .event_ready_o(signals_ready),
    .statistics_i(statistics),
    .statistics_valid_i(statistics_valid),
    .translate_i(translate),
    .translate_valid_i(translate_valid),
    .translate_ready_o(translate_ready),
    .translation_o(translation),
    .translation_valid_o(translation_valid),
    .list_o(list_ask),
    .list_i(list_answer),
    .target_o(target_ask),
    .target_i(target_answer),
    .set_o(set),
    .set_valid_o(set_valid),
    .vector_o(vector),
    .vector_valid_o(vector_valid),
    .live_o(live),
    .live_i(live_answer),
    .failed_o(failed[0])
  );

  broadcast_t [Ports-1:0] to_port, from_port;
  logic [Ports-1:0] to_port_valid, to_port_ready, from_port_valid, from_port_ready;
  logic [Ports-1:0][2:0][31:0] counts;
  // Of the ports, and of the queues.
  word_t [Data-1:0][Lanes-1:0] tx, rx, queue_tx;
  logic [Data-1:0][$clog2(Lanes+1)-1:0] tx_count, rx_count, queue_count;
  logic [Data-1:0] tx_valid, tx_ready, rx_valid, rx_ready;
  logic [Data-1:0] queue_valid, queue_ready, queue_rx_valid, queue_rx_ready;
  axi_master_t [Engines:0] masters;
  axi_slave_t [Engines:0] answers;

  spfe_ep_ports #(
    .Ports(Ports),
    .Wires(Wires),
    .Lanes(Lanes),
    .Vcs(Vcs),
    .OutputWords(OutputWords),
    .InputWords(InputWords),
    .Protect(Protect),
    .CyclePs(CyclePs),
    .WireBitCycles(WireBitCycles)
  ) i_ports (
    .clk_i,
    .rst_i,
    .set_i(set),
    .set_valid_i(set_valid),
    .vector_i(vector),
    .vector_valid_i(vector_valid),
    .live_i(live),
    .counts_i(counts),
    .live_o(port_value),
    .event_o(signals[1]),
    .event_valid_o(signals_valid[1]),
    .event_ready_i(signals_ready[1]),
    .up_o,
    .tx_i(tx),
    .tx_count_i(tx_count),
    .tx_valid_i(tx_valid),
    .tx_ready_o(tx_ready),
    .rx_o(rx),
    .rx_count_o(rx_count),
    .rx_valid_o(rx_valid),
    .rx_ready_i(rx_ready),
    .broadcast_i(to_port),
    .broadcast_valid_i(to_port_valid),
    .broadcast_ready_o(to_port_ready),
    .broadcast_o(from_port),
    .broadcast_valid_o(from_port_valid),
    .broadcast_ready_i(from_port_ready),
    .line_o,
    .line_on_o,
    .line_i,
    .line_on_i,
    .realigned_i,
    .receive_o,
    .invert_o,
    .wire_o,
    .wire_i
  );

  spfe_ep_hub #(
    .Shape(Shape),
    .Has(HasQueues),
    .Protect(Protect),
    .Words(Lanes)
  ) i_hub (
    .clk_i,
    .rst_i,
    .queue_i(queue),
    .context_i(start),
    .pair_i(pair),
    .start_valid_i(start_valid),
    .start_ready_o(start_ready),
    .stop_i(stop),
    .stopped_o(stopped),
    .error_o(error),
    .error_valid_o(error_valid),
    .error_ready_i(error_ready),
    .fence_valid_i(fence_valid),
    .fence_ready_o(fence_ready),
    .doorbell_i(doorbell),
    .doorbell_valid_i(doorbell_valid),
    .live_i(live),
    .value_i(port_value),
    .value_o(live_value),
    .event_o(signals[0]),
    .event_valid_o(signals_valid[0]),
    .event_ready_i(signals_ready[0]),
    .statistics_o(statistics),
    .statistics_valid_o(statistics_valid),
    .time_i(now),
    .translate_o(translate),
    .translate_valid_o(translate_valid),
    .translate_ready_i(translate_ready),
    .translation_i(translation),
    .translation_valid_i(translation_valid),
    .tx_o(queue_tx),
    .tx_count_o(queue_count),
    .tx_valid_o(queue_valid),
    .tx_ready_i(queue_ready),
    .rx_i(rx),
    .rx_count_i(rx_count),
    .rx_valid_i(queue_rx_valid),
    .rx_ready_o(queue_rx_ready),
    .broadcast_o(to_port),
    .broadcast_valid_o(to_port_valid),
    .broadcast_ready_i(to_port_ready),
    .broadcast_i(from_port),
    .broadcast_valid_i(from_port_valid),
    .broadcast_ready_o(from_port_ready),
    .counts_o(counts),
    .axi_o(masters[Engines-1:0]),
    .axi_i(answers[Engines-1:0]),
    .failed_o(failed[1])
  );

  spfe_ep_side #(
    .Shape(Shape),
    .FixedEntries(TargetEntries),
    .Fixed(TargetTable),
    .Identity(TargetIdentity),
    .Words(Lanes),
    .Protect(Protect)
  ) i_side (
    .clk_i,
    .rst_i,
    .time_i(now),
    .ask_i(target_ask),
    .ask_o(target_answer),
    .event_o(signals[2]),
    .event_valid_o(signals_valid[2]),
    .event_ready_i(signals_ready[2]),
    .live_i(live),
    .value_i(live_value),
    .value_o(live_answer),
    .rx_i(rx),
    .rx_count_i(rx_count),
    .rx_valid_i(rx_valid),
    .rx_ready_o(rx_ready),
    .queue_rx_valid_o(queue_rx_valid),
    .queue_rx_ready_i(queue_rx_ready),
    .queue_i(queue_tx),
    .queue_count_i(queue_count),
    .queue_valid_i(queue_valid),
    .queue_ready_o(queue_ready),
    .tx_o(tx),
    .tx_count_o(tx_count),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .axi_o(masters[Engines]),
    .axi_i(answers[Engines]),
    .failed_o(failed[2])
  );

  spfe_ep_bus #(
    .Masters(Engines + 1),
    .Protect(Protect)
  ) i_bus (
    .clk_i,
    .rst_i,
    .in_i(masters),
    .in_o(answers),
    .list_i(list_ask),
    .list_o(list_answer),
    .bus_o,
    .bus_i
  );
endmodule
