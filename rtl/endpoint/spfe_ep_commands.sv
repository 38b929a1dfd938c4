// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The configuration latch and all that carries out its commands.
module spfe_ep_commands
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Page addresses, as of spfe_ep_regions.
  parameter int unsigned Pages = 1024,
  /// Kinds of queues, as of spfe_ep_queue_check.
  parameter logic [7:0] Kinds = 8'h06,
  /// Items that the ports do not have.
  parameter logic [63:0] MibAbsent = '0,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Queue contexts; follows from Shape.
  localparam int unsigned Queues = queues(Shape),
  /// Bits of a vector's number; follows from Shape.
  localparam int unsigned EventWidth = $clog2(32'(Shape.events)),
  /// Bits of a region's index; follows from Shape.
  localparam int unsigned RegionWidth = $clog2(32'(Shape.regions)),
  /// Bits of the number of a page; follows from Pages.
  localparam int unsigned PageWidth = $clog2(Pages)
) (
  input logic clk_i,
  input logic rst_i,

  /// For one cycle: look at CFG_SEQ.
  input logic latch_i,

  /// Access to the register memory, as of spfe_ep_regs.
  output word_access_t access_o,
  output logic access_valid_o,
  input logic access_ready_i,
  /// Word read.
  input logic [31:0] access_data_i,
  /// Vector to enable or disable, as of spfe_ep_events.
  output logic [EventWidth-1:0] enable_o,
  /// Enable it; with enable_o.
  output logic enable_on_o,
  output logic enable_valid_o,
  input logic enable_ready_i,
  /// Access to translate, as of spfe_ep_regions.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The answer.
  input translation_t translation_i,
  /// See spfe_ep_regions.
  input logic translation_whole_i,
  input logic translation_valid_i,

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
  /// Entry of the region table, as of spfe_ep_regions.
  output region_t region_o,
  /// Its index.
  output logic [RegionWidth-1:0] region_index_o,
  /// Writes it.
  output logic region_we_o,
  /// Page address.
  output logic [63:12] page_o,
  /// Its number.
  output logic [PageWidth-1:0] page_index_o,
  /// Writes it.
  output logic page_we_o,
  /// Let no access be under way that was translated before.
  output logic fence_valid_o,
  input logic fence_ready_i,

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
  /// A memory reported an error.
  output logic failed_o
);
  localparam int unsigned Parts = 5;
  word_access_t [Parts-1:0] access;
  logic [Parts-1:0] access_valid, access_ready;
  logic [2:0] access_index;
  logic [1:0] failed;
  assign failed_o = failed != '0;

  // Commands take turns by themselves; only an error of a queue comes besides.
  logic [Parts-1:0] access_grant;
  logic any_access;
  spfe_arb_fixed #(
    .Ports(Parts)
  ) i_access (
    .request_i(access_valid),
    .grant_o(access_grant),
    .index_o(access_index),
    .valid_o(any_access)
  );
  assign access_o = access[access_index];
  assign access_valid_o = any_access;
  assign access_ready = access_ready_i ? access_grant : '0;

  op_e op;
  logic [31:0] index;
  logic [3:0] op_valid, op_done;
  status_e [3:0] op_status;

  spfe_ep_command #(
    .Shape(Shape)
  ) i_command (
    .clk_i,
    .rst_i,
    .latch_i,
    .access_o(access[0]),
    .access_valid_o(access_valid[0]),
    .access_ready_i(access_ready[0]),
    .access_data_i,
    .enable_o,
    .enable_on_o,
    .enable_valid_o,
    .enable_ready_i,
    .op_o(op),
    .index_o(index),
    .valid_o(op_valid),
    .done_i(op_done),
    .status_i(op_status)
  );

  logic scan_valid, scan_done, scan_used;
  logic [Queues-1:0] unused_enabled;

  logic unused_ready;
  spfe_ep_queues #(
    .Shape(Shape),
    .Kinds(Kinds),
    .Protect(Protect)
  ) i_queues (
    .clk_i,
    .rst_i,
    .op_i(op),
    .index_i(index),
    .valid_i(op_valid[0]),
    .done_o(op_done[0]),
    .status_o(op_status[0]),
    .scan_i(12'(region_index_o)),
    .scan_valid_i(scan_valid),
    .scan_done_o(scan_done),
    .scan_used_o(scan_used),
    .access_o(access[1]),
    .access_valid_o(access_valid[1]),
    .access_ready_i(access_ready[1]),
    .access_data_i,
    .translate_o,
    .translate_valid_o,
    .translate_ready_i,
    .translation_i,
    .translation_whole_i,
    .translation_valid_i,
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
    .enabled_o(unused_enabled),
    .failed_o(failed[0])
  );

  spfe_ep_region_cmd #(
    .Shape(Shape),
    .Pages(Pages),
    .Protect(Protect)
  ) i_region_cmd (
    .clk_i,
    .rst_i,
    .op_i(op),
    .index_i(index),
    .valid_i(op_valid[1]),
    .done_o(op_done[1]),
    .status_o(op_status[1]),
    .scan_valid_o(scan_valid),
    .scan_done_i(scan_done),
    .scan_used_i(scan_used),
    .access_o(access[2]),
    .access_valid_o(access_valid[2]),
    .access_ready_i(access_ready[2]),
    .access_data_i,
    .region_o,
    .region_index_o,
    .region_we_o,
    .page_o,
    .page_index_o,
    .page_we_o,
    .fence_valid_o,
    .fence_ready_i,
    .list_o,
    .list_i,
    .ready_o(unused_ready),
    .failed_o(failed[1])
  );

  spfe_ep_port_cmd #(
    .Shape(Shape),
    .MibAbsent(MibAbsent)
  ) i_port_cmd (
    .clk_i,
    .rst_i,
    .op_i(op),
    .index_i(index),
    .valid_i(op_valid[2]),
    .done_o(op_done[2]),
    .status_o(op_status[2]),
    .access_o(access[3]),
    .access_valid_o(access_valid[3]),
    .access_ready_i(access_ready[3]),
    .access_data_i,
    .set_o,
    .set_valid_o,
    .vector_o,
    .vector_valid_o
  );

  if (Shape.target.entries != '0) begin : gen_target
    spfe_ep_target_cmd #(
      .Shape(Shape)
    ) i_target_cmd (
      .clk_i,
      .rst_i,
      .op_i(op),
      .index_i(index),
      .valid_i(op_valid[3]),
      .done_o(op_done[3]),
      .status_o(op_status[3]),
      .access_o(access[4]),
      .access_valid_o(access_valid[4]),
      .access_ready_i(access_ready[4]),
      .access_data_i,
      .target_o,
      .target_i
    );
  end else begin : gen_no_target
    logic unused;
    assign {op_done[3], access[4], access_valid[4], target_o} = '0;
    assign op_status[3] = STATUS_OK;
    assign unused = ^{op_valid[3], access_ready[4], target_i};
  end
endmodule
