// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The control plane: registers, commands, region table, event vectors and statistics.
module spfe_ep_control
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Units that translate addresses, besides the commands: 1 or more.
  parameter int unsigned Units = 1,
  /// Engines that report statistics, 2 or more.
  parameter int unsigned Reporters = 2,
  /// Sources of events, 2 or more.
  parameter int unsigned Signallers = 2,
  /// Page addresses, as of spfe_ep_regions.
  parameter int unsigned Pages = 1024,
  /// Register CAPABILITY.
  parameter logic [31:0] Capability = CAPABILITY_IOVA,
  /// Kinds of queues, as of spfe_ep_queue_check.
  parameter logic [7:0] Kinds = 8'h06,
  /// Register LANE_RATE_MBPS of all ports.
  parameter int unsigned LaneRateMbps = 6250,
  /// Register USER_RATE_KBPS of all ports.
  parameter int unsigned UserRateKbps = 4_750_000,
  /// Rate of the SpaceWire ports, as of spfe_ep_fill.
  parameter int unsigned WireRateMbps = 78,
  /// Picoseconds in a cycle, at most 1000000.
  parameter int unsigned CyclePs = 6400,
  /// Items that the ports do not have.
  parameter logic [63:0] MibAbsent = '0,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Queue contexts; follows from Shape.
  localparam int unsigned Queues = queues(Shape),
  /// Bits of a register's address; follows from Shape.
  localparam int unsigned AddrWidth = space_log2(Shape),
  /// Bits of a vector's number; follows from Shape.
  localparam int unsigned EventWidth = $clog2(32'(Shape.events))
) (
  input logic clk_i,
  input logic rst_i,

  /// AXI4-Lite, as of spfe_ep_regs.
  input logic [AddrWidth-1:0] lite_aw_addr_i,
  input logic lite_aw_valid_i,
  output logic lite_aw_ready_o,
  /// Bytes for the aligned address, of which the byte enables select 4 or all 8.
  input logic [63:0] lite_w_data_i,
  /// Byte enables; with lite_w_data_i.
  input logic [7:0] lite_w_strb_i,
  input logic lite_w_valid_i,
  output logic lite_w_ready_o,
  /// The write was carried out.
  output logic lite_b_valid_o,
  /// With lite_b_valid_o.
  input logic lite_b_ready_i,
  /// Address of a read, of which the low 3 bits do not matter.
  input logic [AddrWidth-1:0] lite_ar_addr_i,
  input logic lite_ar_valid_i,
  output logic lite_ar_ready_o,
  /// The 8 bytes at the aligned address.
  output logic [63:0] lite_r_data_o,
  output logic lite_r_valid_o,
  input logic lite_r_ready_i,

  /// Interrupt message, as of spfe_ep_events.
  output logic [EventWidth-1:0] message_o,
  output logic message_valid_o,
  input logic message_ready_i,
  /// Level-sensitive lines.
  output logic [32'(Shape.events)-1:0] lines_o,
  /// Device time in ns.
  output logic [63:0] time_o,

  /// Queue to start, as of spfe_ep_queues.
  output logic [15:0] queue_o,
  /// What every queue has of its context.
  output queue_context_t context_o,
  /// What a queue of kind RDMA has besides.
  output spfe_rdma_pair_pkg::pair_t pair_o,
  /// The three are valid; they stay until start_ready_i.
  output logic start_valid_o,
  /// The engine of the queue takes them.
  input logic start_ready_i,
  /// Queues to stop.
  output logic [Queues-1:0] stop_o,
  /// Nothing of the queue is under way.
  input logic [Queues-1:0] stopped_i,
  /// A queue stopped by itself.
  input queue_error_t error_i,
  input logic error_valid_i,
  output logic error_ready_o,
  /// Let no access be under way that was translated before.
  output logic fence_valid_o,
  input logic fence_ready_i,
  /// Doorbell of a queue.
  output doorbell_t doorbell_o,
  /// For one cycle.
  output logic doorbell_valid_o,
  /// Vector to signal, of each source; vectors that do not exist are ignored.
  input logic [Signallers-1:0][15:0] event_i,
  input logic [Signallers-1:0] event_valid_i,
  output logic [Signallers-1:0] event_ready_o,
  /// Statistics of each engine; with the number of the queue context.
  input statistics_t [Reporters-1:0] statistics_i,
  /// Always taken.
  input logic [Reporters-1:0] statistics_valid_i,

  /// Accesses of the units, as of spfe_ep_regions.
  input translate_t [Units-1:0] translate_i,
  input logic [Units-1:0] translate_valid_i,
  output logic [Units-1:0] translate_ready_o,
  /// The answer.
  output translation_t translation_o,
  /// Unit that gets it.
  output logic [Units-1:0] translation_valid_o,

  /// Page list to read.
  output list_ask_t list_o,
  /// Words of the page list.
  input list_answer_t list_i,

  /// Entry of the target to set, fence, or notification to take.
  output target_ask_t target_o,
  /// The fence is done; a notification waits.
  input target_answer_t target_i,

  /// Parameter for the ports.
  output mib_set_t set_o,
  output logic set_valid_o,
  /// Register LINK_VECTOR of the port that set_o names.
  output logic [15:0] vector_o,
  output logic vector_valid_o,
  /// Register of the ports or the target to read.
  output live_t live_o,
  /// Its value, from the block of a port or of the target; one cycle later.
  input logic [31:0] live_i,
  /// For one cycle: a memory reported an error.
  output logic failed_o
);
  localparam int unsigned RegionWidth = $clog2(32'(Shape.regions));
  localparam int unsigned PageWidth = $clog2(Pages);

  word_access_t access;
  logic access_valid, access_ready;
  logic [31:0] access_data;
  logic latch, live_valid, live_done;
  logic [31:0] live_data;
  logic [63:0] doorbell;
  logic doorbell_valid;
  logic [31:0] seen;
  logic [8:0] seen_vector;
  logic seen_valid, seen_ready;
  logic [3:0] failed;
  logic failed_q;

  spfe_ep_regs #(
    .Shape(Shape),
    .Capability(Capability),
    .Pages(Pages),
    .LaneRateMbps(LaneRateMbps),
    .UserRateKbps(UserRateKbps),
    .WireRateMbps(WireRateMbps),
    .MibAbsent(MibAbsent),
    .Protect(Protect)
  ) i_regs (
    .clk_i,
    .rst_i,
    .aw_addr_i(lite_aw_addr_i),
    .aw_valid_i(lite_aw_valid_i),
    .aw_ready_o(lite_aw_ready_o),
    .w_data_i(lite_w_data_i),
    .w_strb_i(lite_w_strb_i),
    .w_valid_i(lite_w_valid_i),
    .w_ready_o(lite_w_ready_o),
    .b_valid_o(lite_b_valid_o),
    .b_ready_i(lite_b_ready_i),
    .ar_addr_i(lite_ar_addr_i),
    .ar_valid_i(lite_ar_valid_i),
    .ar_ready_o(lite_ar_ready_o),
    .r_data_o(lite_r_data_o),
    .r_valid_o(lite_r_valid_o),
    .r_ready_i(lite_r_ready_i),
    .access_i(access),
    .access_valid_i(access_valid),
    .access_ready_o(access_ready),
    .access_data_o(access_data),
    .live_o,
    .live_valid_o(live_valid),
    .live_data_i(live_data),
    .live_done_i(live_done),
    .latch_o(latch),
    .doorbell_o(doorbell),
    .doorbell_valid_o(doorbell_valid),
    .seen_o(seen),
    .seen_vector_o(seen_vector),
    .seen_valid_o(seen_valid),
    .seen_ready_i(seen_ready),
    .failed_o(failed[0])
  );
  spfe_ep_doorbell #(
    .Queues(Queues)
  ) i_doorbell (
    .clk_i,
    .rst_i,
    .value_i(doorbell),
    .valid_i(doorbell_valid),
    .doorbell_o,
    .valid_o(doorbell_valid_o)
  );

  translate_t [Units:0] ask;
  logic whole;
  logic [Units:0] ask_valid, ask_ready, answer_valid;
  assign ask[Units:1] = translate_i;
  assign ask_valid[Units:1] = translate_valid_i;
  assign translate_ready_o = ask_ready[Units:1];
  assign translation_valid_o = answer_valid[Units:1];

  logic [EventWidth-1:0] enable;
  logic enable_on, enable_valid, enable_ready;
  region_t region;
  logic [RegionWidth-1:0] region_index;
  logic region_we, page_we;
  logic [63:12] page;
  logic [PageWidth-1:0] page_index;

  spfe_ep_commands #(
    .Shape(Shape),
    .Pages(Pages),
    .Kinds(Kinds),
    .MibAbsent(MibAbsent),
    .Protect(Protect)
  ) i_commands (
    .clk_i,
    .rst_i,
    .latch_i(latch),
    .access_o(access),
    .access_valid_o(access_valid),
    .access_ready_i(access_ready),
    .access_data_i(access_data),
    .enable_o(enable),
    .enable_on_o(enable_on),
    .enable_valid_o(enable_valid),
    .enable_ready_i(enable_ready),
    .translate_o(ask[0]),
    .translate_valid_o(ask_valid[0]),
    .translate_ready_i(ask_ready[0]),
    .translation_i(translation_o),
    .translation_whole_i(whole),
    .translation_valid_i(answer_valid[0]),
    .queue_o,
    .context_o,
    .pair_o,
    .start_valid_o,
    .start_ready_i,
    .stop_o,
    .stopped_i,
    .error_i,
    .error_valid_i,
    .error_ready_o,
    .region_o(region),
    .region_index_o(region_index),
    .region_we_o(region_we),
    .page_o(page),
    .page_index_o(page_index),
    .page_we_o(page_we),
    .fence_valid_o,
    .fence_ready_i,
    .list_o,
    .list_i,
    .target_o,
    .target_i,
    .set_o,
    .set_valid_o,
    .vector_o,
    .vector_valid_o,
    .failed_o(failed[1])
  );

  spfe_ep_regions #(
    .Units(Units + 1),
    .Regions(32'(Shape.regions)),
    .Pages(Pages),
    .Protect(Protect)
  ) i_regions (
    .clk_i,
    .rst_i,
    .request_i(ask),
    .request_valid_i(ask_valid),
    .request_ready_o(ask_ready),
    .respond_o(translation_o),
    .respond_whole_o(whole),
    .respond_valid_o(answer_valid),
    .region_i(region),
    .region_index_i(region_index),
    .region_we_i(region_we),
    .page_i(page),
    .page_index_i(page_index),
    .page_we_i(page_we),
    .failed_o(failed[2])
  );

  logic [Signallers-1:0] signal_grant;
  logic [$clog2(Signallers)-1:0] turn;
  logic signal_valid, signal_ready;
  spfe_arb_rr #(
    .Ports(Signallers)
  ) i_signals (
    .clk_i,
    .rst_i,
    .request_i(event_valid_i),
    .used_i(signal_ready),
    .grant_o(signal_grant),
    .index_o(turn),
    .valid_o(signal_valid)
  );
  assign event_ready_o = signal_ready ? signal_grant : '0;

  spfe_ep_status #(
    .Events(32'(Shape.events)),
    .Queues(Queues),
    .Reporters(Reporters),
    .CyclePs(CyclePs),
    .Protect(Protect)
  ) i_status (
    .clk_i,
    .rst_i,
    .event_i(event_i[turn]),
    .event_valid_i(signal_valid),
    .event_ready_o(signal_ready),
    .enable_i(enable),
    .enable_on_i(enable_on),
    .enable_valid_i(enable_valid),
    .enable_ready_o(enable_ready),
    .seen_i(seen),
    .seen_vector_i(seen_vector[EventWidth-1:0]),
    .seen_valid_i(seen_valid),
    .seen_ready_o(seen_ready),
    .statistics_i,
    .statistics_valid_i,
    .message_o,
    .message_valid_o,
    .message_ready_i,
    .lines_o,
    .time_o,
    .live_i(live_o),
    .live_valid_i(live_valid),
    .ports_i(live_i),
    .live_o(live_data),
    .live_done_o(live_done),
    .failed_o(failed[3])
  );
  always_ff @(posedge clk_i) failed_q <= failed != '0 && !rst_i;
  assign failed_o = failed_q;

  logic unused;
  assign unused = ^seen_vector;
endmodule
