// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceFibre endpoint that is a device of the contract (contract/README.md): ports, queues, and
/// the register space. A cycle of clk_i is a word period of all lanes.
module spfe_endpoint
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// SpaceFibre ports, 1 to 8.
  parameter int unsigned Ports = 1,
  /// Lanes of each port: 1, 2 or 4.
  parameter int unsigned Lanes = 1,
  /// Virtual channels of each port, 1 to 32.
  parameter int unsigned Vcs = 4,
  /// Memory regions, 2 to 4096.
  parameter int unsigned Regions = 64,
  /// Event vectors, 2 to 512.
  parameter int unsigned Events = 16,
  /// Page addresses of all regions together, 2 to 65536.
  parameter int unsigned Pages = 1024,
  /// Words in the output buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned OutputWords = 256 << $clog2(Lanes),
  /// Words in the input buffer of each channel; see spfe_sf_data_link.
  parameter int unsigned InputWords = 256 << $clog2(Lanes),
  /// Picoseconds in a cycle: 6400 for lanes of 6.25 Gbit/s.
  parameter int unsigned CyclePs = 6400,
  /// Signalling rate of a lane in Mbit/s, for the register of this name.
  parameter int unsigned LaneRateMbps = 6250,
  /// Check bits of the memories: 0 none, 1 parity, 2 SECDED; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// What the endpoint has; follows from the parameters.
  localparam shape_t Shape = '{
    ports: 8'(Ports),
    lanes: 8'(Lanes),
    vcs: 8'(Vcs),
    regions: 16'(Regions),
    events: 16'(Events)
  },
  /// Bits of a register's address; follows from the parameters.
  localparam int unsigned AddrWidth = space_log2(Shape),
  /// Bits of a vector's number; follows from Events.
  localparam int unsigned EventWidth = $clog2(Events),
  /// Bits of an ID on the bus.
  localparam int unsigned IdWidth = 6
) (
  input logic clk_i,
  input logic rst_i,

  /// AXI4-Lite of 64 bits: the register space, usable as BAR 0 of PCI Express. Aligned accesses of
  /// 4 and 8 bytes; an access of 4 bytes uses half of the bus.
  input logic [AddrWidth-1:0] lite_aw_addr_i,
  input logic lite_aw_valid_i,
  output logic lite_aw_ready_o,
  /// Write data.
  input logic [63:0] lite_w_data_i,
  /// Byte enables; with lite_w_data_i.
  input logic [7:0] lite_w_strb_i,
  input logic lite_w_valid_i,
  output logic lite_w_ready_o,
  /// Write response, always OKAY.
  output logic [1:0] lite_b_resp_o,
  output logic lite_b_valid_o,
  input logic lite_b_ready_i,
  /// Read address.
  input logic [AddrWidth-1:0] lite_ar_addr_i,
  input logic lite_ar_valid_i,
  output logic lite_ar_ready_o,
  /// The 8 bytes at the aligned address.
  output logic [63:0] lite_r_data_o,
  /// Read response, always OKAY; with lite_r_data_o.
  output logic [1:0] lite_r_resp_o,
  output logic lite_r_valid_o,
  input logic lite_r_ready_i,

  /// AXI4 read address: size 16 bytes, burst INCR.
  output logic [63:0] ar_addr_o,
  /// ID of the burst; with ar_addr_o.
  output logic [IdWidth-1:0] ar_id_o,
  /// Beats less one; with ar_addr_o.
  output logic [7:0] ar_len_o,
  output logic ar_valid_o,
  input logic ar_ready_i,
  /// AXI4 read data.
  input logic [127:0] r_data_i,
  /// ID of the burst; with r_data_i.
  input logic [IdWidth-1:0] r_id_i,
  /// OKAY, EXOKAY, SLVERR or DECERR; with r_data_i.
  input logic [1:0] r_resp_i,
  /// Last beat of the burst; with r_data_i.
  input logic r_last_i,
  input logic r_valid_i,
  /// Always 1.
  output logic r_ready_o,
  /// AXI4 write address: size 16 bytes, burst INCR.
  output logic [63:0] aw_addr_o,
  /// ID of the burst; with aw_addr_o.
  output logic [IdWidth-1:0] aw_id_o,
  /// Beats less one; with aw_addr_o.
  output logic [7:0] aw_len_o,
  output logic aw_valid_o,
  input logic aw_ready_i,
  /// AXI4 write data.
  output logic [127:0] w_data_o,
  /// Byte enables; with w_data_o.
  output logic [15:0] w_strb_o,
  /// Last beat of the burst; with w_data_o.
  output logic w_last_o,
  output logic w_valid_o,
  input logic w_ready_i,
  /// AXI4 write response: ID of the burst.
  input logic [IdWidth-1:0] b_id_i,
  /// OKAY, EXOKAY, SLVERR or DECERR; with b_id_i.
  input logic [1:0] b_resp_i,
  input logic b_valid_i,
  /// Always 1.
  output logic b_ready_o,

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
  output logic [Ports-1:0][Lanes-1:0] invert_o
);
  localparam int unsigned Queues = queues(Shape);
  localparam int unsigned Data = data_queues(Shape);

  logic [15:0] queue, vector, signal;
  queue_context_t start;
  logic start_valid, start_ready, fence_valid, fence_ready, doorbell_valid;
  logic signal_valid, signal_ready, set_valid, vector_valid, error_valid, error_ready;
  logic [Queues-1:0] stop, stopped;
  queue_error_t error;
  doorbell_t doorbell;
  statistics_t [Engines-1:0] statistics;
  logic [Engines-1:0] statistics_valid;
  translate_t [Engines-1:0] translate;
  logic [Engines-1:0] translate_valid, translate_ready, translation_valid;
  translation_t translation;
  logic [63:0] list_addr, now;
  logic [31:0] list_len;
  logic list_valid, list_ready, list_last, list_error, list_data_valid, list_data_ready;
  logic [127:0] list_data;
  mib_set_t set;
  live_t live;
  logic [31:0] live_value;
  logic [1:0] failed, signal_grant;
  logic turn;
  assign failed_o = failed != '0;
  assign {lite_b_resp_o, lite_r_resp_o} = '0;

  spfe_ep_control #(
    .Shape(Shape),
    .Units(Engines),
    .Reporters(Engines),
    .Pages(Pages),
    .Capability(DeviceCapability),
    .Kinds(DeviceKinds),
    .LaneRateMbps(LaneRateMbps),
    // 8 of 10 bits are data, and of 67 words 64.
    .UserRateKbps(Lanes * LaneRateMbps * 800 / 67 * 64),
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
    .event_i(signal),
    .event_valid_i(signal_valid),
    .event_ready_o(signal_ready),
    .statistics_i(statistics),
    .statistics_valid_i(statistics_valid),
    .translate_i(translate),
    .translate_valid_i(translate_valid),
    .translate_ready_o(translate_ready),
    .translation_o(translation),
    .translation_valid_o(translation_valid),
    .list_addr_o(list_addr),
    .list_len_o(list_len),
    .list_valid_o(list_valid),
    .list_ready_i(list_ready),
    .list_data_i(list_data),
    .list_last_i(list_last),
    .list_error_i(list_error),
    .list_data_valid_i(list_data_valid),
    .list_data_ready_o(list_data_ready),
    .set_o(set),
    .set_valid_o(set_valid),
    .vector_o(vector),
    .vector_valid_o(vector_valid),
    .live_o(live),
    .live_i(live_value),
    .failed_o(failed[0])
  );

  broadcast_t [Ports-1:0] to_port, from_port;
  logic [Ports-1:0] to_port_valid, to_port_ready, from_port_valid, from_port_ready;
  logic [Ports-1:0][2:0][31:0] counts;
  word_t [Data-1:0][Lanes-1:0] tx, rx;
  logic [Data-1:0][$clog2(Lanes+1)-1:0] tx_count, rx_count;
  logic [Data-1:0] tx_valid, tx_ready, rx_valid, rx_ready;
  logic [1:0][15:0] signals;
  logic [1:0] signals_valid, signals_ready;

  spfe_ep_ports #(
    .Ports(Ports),
    .Lanes(Lanes),
    .Vcs(Vcs),
    .OutputWords(OutputWords),
    .InputWords(InputWords),
    .Protect(Protect)
  ) i_ports (
    .clk_i,
    .rst_i,
    .set_i(set),
    .set_valid_i(set_valid),
    .vector_i(vector),
    .vector_valid_i(vector_valid),
    .live_i(live),
    .counts_i(counts),
    .live_o(live_value),
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
    .invert_o
  );

  assign {r_ready_o, b_ready_o} = '1;
  spfe_ep_hub #(
    .Shape(Shape),
    .Protect(Protect),
    .Words(Lanes),
    .IdWidth(IdWidth)
  ) i_hub (
    .clk_i,
    .rst_i,
    .queue_i(queue),
    .context_i(start),
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
    .list_addr_i(list_addr),
    .list_len_i(list_len),
    .list_valid_i(list_valid),
    .list_ready_o(list_ready),
    .list_data_o(list_data),
    .list_last_o(list_last),
    .list_error_o(list_error),
    .list_data_valid_o(list_data_valid),
    .list_data_ready_i(list_data_ready),
    .tx_o(tx),
    .tx_count_o(tx_count),
    .tx_valid_o(tx_valid),
    .tx_ready_i(tx_ready),
    .rx_i(rx),
    .rx_count_i(rx_count),
    .rx_valid_i(rx_valid),
    .rx_ready_o(rx_ready),
    .broadcast_o(to_port),
    .broadcast_valid_o(to_port_valid),
    .broadcast_ready_i(to_port_ready),
    .broadcast_i(from_port),
    .broadcast_valid_i(from_port_valid),
    .broadcast_ready_o(from_port_ready),
    .counts_o(counts),
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
    .b_valid_i,
    .failed_o(failed[1])
  );

  spfe_arb_rr #(
    .Ports(2)
  ) i_signals (
    .clk_i,
    .rst_i,
    .request_i(signals_valid),
    .used_i(signal_ready),
    .grant_o(signal_grant),
    .index_o(turn),
    .valid_o(signal_valid)
  );
  assign signal = signals[turn];
  assign signals_ready = signal_ready ? signal_grant : '0;
endmodule
