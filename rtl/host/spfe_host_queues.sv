// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What the queues of both engines have in common: start and stop, submission rings, completions,
/// and lines.
module spfe_host_queues
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Accesses of the mover that take turns.
  parameter int unsigned Users = 1,
  /// Virtual channels of a port.
  parameter int unsigned Vcs = Queues,
  /// See spfe_host_complete.
  parameter int unsigned FirstVc = 0,
  /// From this queue on, each is the only one of its port.
  parameter int unsigned Single = Queues,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,

  /// See spfe_host_tx_engine.
  input queue_context_t start_i,
  /// See spfe_host_tx_engine.
  input logic [QueueWidth-1:0] start_queue_i,
  input logic start_valid_i,
  output logic start_ready_o,
  /// See spfe_host_tx_engine.
  input logic [Queues-1:0] stop_i,
  /// See spfe_host_tx_engine.
  output logic [Queues-1:0] stopped_o,
  /// See spfe_host_tx_engine.
  input doorbell_t doorbell_i,
  input logic doorbell_valid_i,
  /// See spfe_host_tx_engine.
  input logic [63:0] time_i,
  /// See spfe_host_tx_engine.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// Counts of the mover.
  input statistics_t sent_i,
  input logic sent_valid_i,
  /// See spfe_host_tx_engine.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
  /// See spfe_host_tx_engine.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,

  /// For one cycle: the parts of the mover take over the settings of start_queue_i.
  output logic start_o,
  /// Queues that work.
  output logic [Queues-1:0] on_o,
  /// Queues that are to stop.
  output logic [Queues-1:0] halt_o,
  /// Queues that have stopped by themselves.
  output logic [Queues-1:0] failed_o,
  /// Queues whose rings or lines are being read or written.
  output logic [Queues-1:0] memory_busy_o,
  /// Queues of which the mover has something under way.
  input logic [Queues-1:0] busy_i,
  /// The state of a queue in the mover is lost.
  input logic fault_i,
  /// This queue.
  input logic [QueueWidth-1:0] fault_queue_i,

  /// Entries; see spfe_host_ring.
  output logic [Queues-1:0][5:0] level_o,
  /// See spfe_host_ring.
  output logic [Queues-1:0] dry_o,
  /// See spfe_host_ring.
  output logic [Queues-1:0] fetched_o,
  /// See spfe_host_ring.
  input logic [Queues-1:0] wants_i,
  /// See spfe_host_ring.
  input logic [QueueWidth-1:0] peek_queue_i,
  /// See spfe_host_ring.
  input logic [4:0] peek_ahead_i,
  /// See spfe_host_ring.
  input logic peek_i,
  /// See spfe_host_ring.
  output submission_t entry_o,
  /// See spfe_host_ring.
  input logic [QueueWidth-1:0] pop_queue_i,
  /// See spfe_host_ring.
  input logic [4:0] pop_count_i,

  /// Completion; see spfe_host_complete.
  input job_t job_i,
  input logic job_valid_i,
  output logic job_ready_o,
  /// See spfe_host_complete.
  input logic [15:0] bad_i,
  /// Those of them whose region has gone.
  input logic [15:0] lost_i,
  /// See spfe_host_complete.
  output logic [QueueWidth-1:0] bad_queue_o,
  /// See spfe_host_complete.
  output logic [3:0] bad_buffer_o,
  /// See spfe_host_complete.
  output logic take_bad_o,
  /// Queues with a completion that is not in memory.
  output logic [Queues-1:0] completing_o,
  /// See spfe_host_lines.
  input logic full_valid_i,
  output logic full_ready_o,
  /// See spfe_host_lines.
  input logic [QueueWidth-1:0] full_queue_i,
  /// See spfe_host_lines.
  input logic [31:0] full_used_i,

  /// Accesses of the mover; see spfe_host_access.
  input access_t [Users-1:0] request_i,
  input logic [Users-1:0] request_valid_i,
  output logic [Users-1:0] request_ready_o,
  /// With request_ready_o.
  output translation_t result_o,
  /// What it reads.
  output read_t read_o,
  output logic [Users-1:0] read_valid_o,
  input logic [Users-1:0] read_ready_i,
  /// What it writes.
  input logic [Users-1:0][127:0] data_i,
  input logic [Users-1:0] data_valid_i,
  output logic [Users-1:0] data_ready_o,
  /// It is in memory.
  output logic [Users-1:0] done_o,
  /// The bus reported an error; with done_o.
  output logic done_error_o,

  /// See spfe_host_access.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// See spfe_host_access.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// See spfe_host_access.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// AXI4 port.
  output axi_master_t axi_o,
  /// Its inputs.
  input axi_slave_t axi_i
);
  logic started, told_valid, woken;
  logic [Queues-1:0] rung, armed, ring_busy, lines_busy, completing, need, need_written, working;
  logic [3:0] fault;
  logic [3:0][QueueWidth-1:0] fault_queue;
  status_e [3:0] fault_status;
  status_e [Queues-1:0] reason;
  told_t told;
  logic [QueueWidth-1:0] line_queue;

  // Users of the memory: ring, lines, times, completions, and those of the mover.
  access_t [3:0] request;
  logic [3:0] request_valid, request_ready, read_valid;
  logic [2:0] data_valid, data_ready, done;
  logic [2:0][127:0] data;
  logic [15:0] begun, answered;
  logic [1:0] unused_ring;
  spfe_host_access #(
    .Users(4 + Users),
    .Protect(Protect)
  ) i_access (
    .clk_i,
    .rst_i,
    .request_i({request_i, request}),
    .request_valid_i({request_valid_i, request_valid}),
    .request_ready_o({request_ready_o, request_ready}),
    .result_o,
    .rd_o(read_o),
    .rd_valid_o({read_valid_o, read_valid}),
    .rd_ready_i({read_ready_i, 4'b0011}),
    .wr_data_i({data_i, data, 128'd0}),
    .wr_valid_i({data_valid_i, data_valid, 1'b0}),
    .wr_ready_o({data_ready_o, data_ready, unused_ring[0]}),
    .done_o({done_o, done, unused_ring[1]}),
    .done_error_o,
    .begun_o(begun),
    .answered_o(answered),
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
  for (genvar q = 0; q < Queues; q++) begin : gen_doorbell
    logic here;
    assign here = doorbell_valid_i && 32'(doorbell_i.index) == q;
    assign rung[q] = here && doorbell_i.kind == DOORBELL_KIND_SUBMIT;
    assign armed[q] = here && doorbell_i.kind == DOORBELL_KIND_ARM;
  end

  assign fault[3] = fault_i;
  assign fault_queue[3] = fault_queue_i;
  assign fault_status[3] = STATUS_ACCESS_DENIED;
  assign memory_busy_o = ring_busy | lines_busy;
  assign completing_o = completing;
  assign working = on_o & ~halt_o;
  spfe_host_control #(
    .Queues(Queues)
  ) i_control (
    .clk_i,
    .rst_i,
    .start_queue_i,
    .start_valid_i,
    .start_ready_o,
    .stop_i,
    .stopped_o,
    .hold_i(told_valid),
    .start_o,
    .started_i(started),
    .on_o,
    .halt_o,
    .failed_o,
    .reason_o(reason),
    .busy_i(busy_i | ring_busy | lines_busy | completing),
    .fault_i(fault),
    .fault_queue_i(fault_queue),
    .fault_status_i(fault_status),
    .error_o,
    .error_valid_o
  );

  spfe_host_ring #(
    .Queues(Queues),
    .Protect(Protect)
  ) i_ring (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i(start_o),
    .on_i(on_o),
    .halt_i(halt_o),
    .rung_i(rung),
    .busy_o(ring_busy),
    .need_o(need),
    .need_i(need_written),
    .request_o(request[0]),
    .request_valid_o(request_valid[0]),
    .request_ready_i(request_ready[0]),
    .result_i(result_o),
    .read_i(read_o),
    .read_valid_i(read_valid[0]),
    .fault_o(fault[0]),
    .fault_queue_o(fault_queue[0]),
    .fault_status_o(fault_status[0]),
    .fetched_o,
    .level_o,
    .dry_o,
    .wants_i,
    .peek_queue_i,
    .peek_ahead_i,
    .peek_i,
    .entry_o,
    .pop_queue_i,
    .pop_count_i
  );

  spfe_host_complete #(
    .Queues(Queues),
    .Vcs(Vcs),
    .FirstVc(FirstVc),
    .Single(Single),
    .Protect(Protect)
  ) i_complete (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i(start_o),
    .on_i(on_o),
    .time_i,
    .job_i,
    .job_valid_i,
    .job_ready_o,
    .bad_i,
    .lost_i,
    .bad_queue_o,
    .bad_buffer_o,
    .take_bad_o,
    .request_o(request[3:2]),
    .request_valid_o(request_valid[3:2]),
    .request_ready_i(request_ready[3:2]),
    .result_i(result_o),
    .data_o(data[2:1]),
    .data_valid_o(data_valid[2:1]),
    .data_ready_i(data_ready[2:1]),
    .done_i(done[2:1]),
    .error_i(done_error_o),
    .begun_i(begun),
    .answered_i(answered),
    .told_o(told),
    .told_valid_o(told_valid),
    .busy_o(completing),
    .fault_o(fault[1]),
    .fault_queue_o(fault_queue[1]),
    .fault_status_o(fault_status[1])
  );

  spfe_host_lines #(
    .Queues(Queues),
    .Protect(Protect)
  ) i_lines (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i,
    .start_valid_i(start_o),
    .started_o(started),
    .on_i(working),
    .failed_i(failed_o),
    .reason_i(reason),
    .busy_o(lines_busy),
    .time_i,
    .need_i(need),
    .need_o(need_written),
    .armed_i(armed),
    .told_i(told),
    .told_valid_i(told_valid),
    .full_valid_i,
    .full_ready_o,
    .full_queue_i,
    .full_used_i,
    .request_o(request[1]),
    .request_valid_o(request_valid[1]),
    .request_ready_i(request_ready[1]),
    .result_i(result_o),
    .read_i(read_o),
    .read_valid_i(read_valid[1]),
    .data_o(data[0]),
    .data_valid_o(data_valid[0]),
    .data_ready_i(data_ready[0]),
    .done_i(done[0]),
    .done_error_i(done_error_o),
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .woken_o(woken),
    .queue_o(line_queue),
    .fault_o(fault[2]),
    .fault_status_o(fault_status[2])
  );
  assign fault_queue[2] = line_queue;

  // A wake-up is counted in a cycle in which the mover counts nothing.
  logic woken_q;
  logic [QueueWidth-1:0] woken_queue_q;
  always_comb begin
    statistics_o = sent_i;
    statistics_valid_o = sent_valid_i;
    if (!sent_valid_i) begin
      statistics_o = '0;
      statistics_o.index = 16'(woken_queue_q);
      statistics_o.wake = 1'b1;
      statistics_valid_o = woken_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!sent_valid_i) woken_q <= 1'b0;
    if (woken) begin
      woken_q <= 1'b1;
      woken_queue_q <= line_queue;
    end
    if (rst_i) woken_q <= 1'b0;
  end

  logic unused;
  assign unused = ^{unused_ring, read_valid[3:2]};
endmodule
