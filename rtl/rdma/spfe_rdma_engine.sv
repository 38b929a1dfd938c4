// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A queue of kind RDMA: the sending side of a queue pair with its rings, completions and lines, on
/// a virtual channel of its own, with one AXI4 port. contract/README.md has the rules.
module spfe_rdma_engine
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Number of the virtual channel, for completions.
  parameter int unsigned Vc = 0,
  /// Largest payload of a packet, as of spfe_rdma_initiator.
  parameter int unsigned Segment = 4096,
  /// Work requests that may be outstanding, as of spfe_rdma_initiator.
  parameter int unsigned Works = 32,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,

  /// Settings of the queue that is to start.
  input queue_context_t start_i,
  /// The queue pair; with start_i.
  input pair_t start_pair_i,
  input logic start_valid_i,
  /// It works.
  output logic start_ready_o,
  /// It is to stop, until it has.
  input logic stop_i,
  /// It has not started, and nothing of it is under way.
  output logic stopped_o,
  /// Doorbell of the queue.
  input doorbell_kind_e doorbell_i,
  input logic doorbell_valid_i,
  /// Device time, ns.
  input logic [63:0] time_i,
  /// For one cycle: the queue has stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// For one cycle: counts of the queue.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
  /// Event vector to signal.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o,

  /// Word of the virtual channel.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,
  /// Word for the virtual channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i,

  /// See spfe_host_tx_engine.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Translation that is needed.
  output translate_t translate_o,
  output logic translate_valid_o,
  input logic translate_ready_i,
  /// The translation; one for each request.
  input translation_t translation_i,
  input logic translation_valid_i,

  /// AXI4 port.
  output axi_master_t axi_o,
  /// Its inputs.
  input axi_slave_t axi_i
);
  // The parts that all engines share have two queues at least; the second one never starts.
  localparam int unsigned Queues = 2;
  // Users of memory: checks of addresses, payload, the word `pair`.
  localparam int unsigned Users = 3;

  access_t [Users-1:0] request;
  logic [Users-1:0] request_valid, request_ready, read_valid, data_valid, data_ready, done;
  logic [Users-1:0][127:0] data;
  translation_t result;
  read_t read;
  logic read_ready, done_error;
  logic [Queues-1:0] stopped, on, halt, dry;
  logic [Queues-1:0][5:0] level;
  logic start, peek, pop, works, idle, line_busy, job_valid, job_ready, memory_failed;
  submission_t peeked;
  job_t job;
  statistics_t sent;
  ended_t ended;
  logic ended_valid;
  logic [Queues-1:0] unused_failed, unused_busy, unused_fetched, unused_completing;
  logic unused_bad_queue, unused_bad, unused_full;
  logic [3:0] unused_buffer;
  assign works = on[0] && !halt[0];
  assign stopped_o = stopped[0];

  // A request counts when it ends.
  always_comb begin
    sent = '0;
    sent.packets = 16'(ended.status == STATUS_OK);
    sent.bytes = ended.status == STATUS_OK ? ended.bytes : '0;
    sent.error = ended.status != STATUS_OK;
  end

  spfe_host_queues #(
    .Queues(Queues),
    .Users(Users),
    .Vcs(1),
    .FirstVc(Vc),
    .Protect(Protect)
  ) i_queues (
    .clk_i,
    .rst_i,
    .start_i,
    .start_queue_i(1'b0),
    .start_valid_i,
    .start_ready_o,
    .stop_i({1'b0, stop_i}),
    .stopped_o(stopped),
    .doorbell_i('{index: '0, kind: doorbell_i}),
    .doorbell_valid_i,
    .time_i,
    .error_o,
    .error_valid_o,
    .sent_i(sent),
    .sent_valid_i(ended_valid),
    .statistics_o,
    .statistics_valid_o,
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .start_o(start),
    .on_o(on),
    .halt_o(halt),
    .failed_o(unused_failed),
    .memory_busy_o(unused_busy),
    .busy_i({1'b0, !idle || line_busy}),
    .fault_i(1'b0),
    .fault_queue_i('0),
    .level_o(level),
    .dry_o(dry),
    .fetched_o(unused_fetched),
    .peek_queue_i(1'b0),
    .peek_ahead_i('0),
    .peek_i(peek),
    .entry_o(peeked),
    .pop_queue_i(1'b0),
    .pop_count_i(5'(pop)),
    .job_i(job),
    .job_valid_i(job_valid),
    .job_ready_o(job_ready),
    .bad_i('0),
    .lost_i('0),
    .bad_queue_o(unused_bad_queue),
    .bad_buffer_o(unused_buffer),
    .take_bad_o(unused_bad),
    .completing_o(unused_completing),
    .full_valid_i(1'b0),
    .full_ready_o(unused_full),
    .full_queue_i('0),
    .full_used_i('0),
    .request_i(request),
    .request_valid_i(request_valid),
    .request_ready_o(request_ready),
    .result_o(result),
    .read_o(read),
    .read_valid_o(read_valid),
    .read_ready_i({1'b1, read_ready, 1'b1}),
    .data_i(data),
    .data_valid_i(data_valid),
    .data_ready_o(data_ready),
    .done_o(done),
    .done_error_o(done_error),
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

  logic [127:0] entry;
  logic entry_valid, entry_ready, entry_dry;
  spfe_rdma_feed i_feed (
    .clk_i,
    .rst_i,
    .on_i(works),
    .level_i(level[0]),
    .dry_i(dry[0]),
    .peek_o(peek),
    .peeked_i(peeked),
    .pop_o(pop),
    .entry_o(entry),
    .entry_valid_o(entry_valid),
    .entry_ready_i(entry_ready),
    .dry_o(entry_dry)
  );

  // Numbers to start with follow from the moment at which the queue starts.
  logic [47:0] seed_q, seed;
  logic unused_bit;
  spfe_lfsr #(
    .Width(48),
    .Poly(48'h0000_1800_0003),
    .Bits(1)
  ) i_seed (
    .state_i(seed_q),
    .state_o(seed),
    .bits_o(unused_bit)
  );
  pair_t pair_q;
  address_t lines_q;
  always_ff @(posedge clk_i) begin
    seed_q <= seed;
    if (start) begin
      pair_q <= start_pair_i;
      lines_q <= start_i.lines;
    end
    if (rst_i) seed_q <= '1;
  end

  queue_pair_state_e state;
  queue_pair_wait_e waits;
  step_e unused_step;
  logic [63:0] unused_time;
  word_t word;
  logic word_valid, word_ready;
  spfe_rdma_initiator #(
    .Segment(Segment),
    .Works(Works),
    .Protect(Protect)
  ) i_initiator (
    .clk_i,
    .rst_i,
    .pair_i(pair_q),
    .queue_i('0),
    .on_i(works),
    .idle_o(idle),
    .seed_i(seed_q),
    .time_ns_i(time_i),
    .entry_i(entry),
    .entry_valid_i(entry_valid),
    .entry_ready_o(entry_ready),
    .dry_i(entry_dry),
    .job_o(job),
    .job_valid_o(job_valid),
    .job_ready_i(job_ready),
    .ended_o(ended),
    .ended_valid_o(ended_valid),
    .state_o(state),
    .wait_o(waits),
    .step_o(unused_step),
    .step_time_o(unused_time),
    .failed_o(memory_failed),
    .request_o(request[1:0]),
    .request_valid_o(request_valid[1:0]),
    .request_ready_i(request_ready[1:0]),
    .result_i(result),
    .read_i(read),
    .read_valid_i(read_valid[1]),
    .read_ready_o(read_ready),
    .data_o(data[1]),
    .data_valid_o(data_valid[1]),
    .data_ready_i(data_ready[1]),
    .written_i(done[1]),
    .write_error_i(done_error),
    .word_i,
    .word_valid_i,
    .word_ready_o,
    .word_o(word),
    .word_valid_o(word_valid),
    .word_ready_i(word_ready)
  );
  assign data[0] = '0;
  assign data_valid[0] = 1'b0;
  assign failed_o = memory_failed;

  spfe_rdma_cut i_cut (
    .clk_i,
    .rst_i,
    .stop_i(!works),
    .word_i(word),
    .word_valid_i(word_valid),
    .word_ready_o(word_ready),
    .word_o,
    .word_valid_o,
    .word_ready_i
  );

  spfe_rdma_line i_line (
    .clk_i,
    .rst_i,
    .lines_i(lines_q),
    .domain_i(pair_q.domain),
    .start_i(start),
    .on_i(on[0]),
    .status_i({48'd0, 8'(waits), 8'(state)}),
    .busy_o(line_busy),
    .request_o(request[2]),
    .request_valid_o(request_valid[2]),
    .request_ready_i(request_ready[2]),
    .result_i(result),
    .data_o(data[2]),
    .data_valid_o(data_valid[2]),
    .data_ready_i(data_ready[2]),
    .done_i(done[2])
  );

  logic unused;
  assign unused = ^{
    unused_failed, unused_busy, unused_fetched, unused_completing, unused_bad_queue, unused_bad,
    unused_full, unused_buffer, unused_bit, unused_step, unused_time, read_valid, done, data_ready,
    dry, level, stopped, on, halt, ended
  };
endmodule
