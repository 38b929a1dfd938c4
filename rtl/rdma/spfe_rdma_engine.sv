// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A queue pair: a queue of kind RDMA (0) and one of kind RDMA_RX (1) with their rings, completions
/// and lines, on a virtual channel of their own, with one AXI4 port. Each works without the other
/// one. contract/README.md has the rules.
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
  /// Buffers that are taken ahead, as of spfe_rdma_receiver.
  parameter int unsigned Buffers = 32,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0
) (
  input logic clk_i,
  input logic rst_i,

  /// Settings of the queue that is to start.
  input queue_context_t start_i,
  /// Its number; with start_i.
  input logic start_queue_i,
  /// The queue pair, the same for both queues; with start_i.
  input pair_t start_pair_i,
  input logic start_valid_i,
  /// It works.
  output logic start_ready_o,
  /// Queues that are to stop, until they have.
  input logic [1:0] stop_i,
  /// Queues that have not started, and of which nothing is under way.
  output logic [1:0] stopped_o,
  /// Doorbell of a queue.
  input doorbell_t doorbell_i,
  input logic doorbell_valid_i,
  /// Device time, ns.
  input logic [63:0] time_i,
  /// For one cycle: a queue has stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// For one cycle: counts of a queue.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
  /// Word of the counters to read, as of spfe_rdma_pair_counts.
  input logic [6:0] count_i,
  input logic count_valid_i,
  /// The word, a cycle later.
  output logic [31:0] count_o,
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
  localparam int unsigned Queues = 2;
  // Users of memory: checks and bytes of each queue, and the word `pair`.
  localparam int unsigned Users = 5;

  access_t [Users-1:0] request;
  logic [Users-1:0] request_valid, request_ready, read_valid, data_valid, data_ready, done;
  logic [Users-1:0][127:0] data;
  translation_t result;
  read_t read;
  logic read_ready, done_error;
  logic [Queues-1:0] on, halt, dry, works, idle, peek, peek_ready, pop, entry_valid, entry_ready;
  logic [Queues-1:0] entry_dry;
  logic [Queues-1:0][5:0] level;
  logic [Queues-1:0][127:0] entry;
  logic start, line_busy, job_valid, job_ready, fault, counts_valid;
  submission_t peeked;
  job_t job;
  statistics_t counts;
  logic [Queues-1:0] unused_failed, unused_busy, unused_fetched, unused_completing;
  logic unused_bad_queue, unused_bad, unused_full;
  logic [3:0] unused_buffer;
  assign works = on & ~halt;

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
    .start_queue_i,
    .start_valid_i,
    .start_ready_o,
    .stop_i,
    .stopped_o,
    .doorbell_i,
    .doorbell_valid_i,
    .time_i,
    .error_o,
    .error_valid_o,
    .sent_i(counts),
    .sent_valid_i(counts_valid),
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
    .busy_i(~idle | {1'b0, line_busy}),
    .fault_i(fault),
    .fault_queue_i(1'b1),
    .level_o(level),
    .dry_o(dry),
    .fetched_o(unused_fetched),
    .wants_i('0),
    .peek_queue_i(peek_ready[1]),
    .peek_ahead_i('0),
    .peek_i(peek != '0),
    .entry_o(peeked),
    .pop_queue_i(pop[1]),
    .pop_count_i(5'(pop != '0)),
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
    .read_ready_i({3'b111, read_ready, 1'b1}),
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

  // One entry is read in a cycle, and leaves the buffer in the next one.
  assign peek_ready = peek[0] ? 2'b01 : 2'b10;
  for (genvar i = 0; i < Queues; i++) begin : gen_feed
    spfe_rdma_feed i_feed (
      .clk_i,
      .rst_i,
      .on_i(works[i]),
      .level_i(level[i]),
      .dry_i(dry[i]),
      .peek_o(peek[i]),
      .peek_ready_i(peek_ready[i]),
      .peeked_i(peeked),
      .pop_o(pop[i]),
      .entry_o(entry[i]),
      .entry_valid_o(entry_valid[i]),
      .entry_ready_i(entry_ready[i]),
      .dry_o(entry_dry[i])
    );
  end

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
  address_t lines_q, words_q;
  logic [3:0] cq_log2_q;
  always_ff @(posedge clk_i) begin
    seed_q <= seed;
    // Paths and limits are those of the queue that sends.
    if (start && (!start_queue_i || stopped_o[0])) pair_q <= start_pair_i;
    if (start && !start_queue_i) lines_q <= start_i.lines;
    if (start && start_queue_i) begin
      words_q <= start_i.stamps;
      cq_log2_q <= start_i.cq_log2;
    end
    if (rst_i) seed_q <= '1;
  end

  queue_pair_state_e state;
  queue_pair_wait_e waits;
  spfe_rdma_ends #(
    .Segment(Segment),
    .Works(Works),
    .Buffers(Buffers),
    .Protect(Protect)
  ) i_ends (
    .clk_i,
    .rst_i,
    .pair_i(pair_q),
    .on_i(works),
    .idle_o(idle),
    .seed_i(seed_q),
    .words_i(words_q),
    .cq_log2_i(cq_log2_q),
    .time_ns_i(time_i),
    .entry_i(entry),
    .entry_valid_i(entry_valid),
    .entry_ready_o(entry_ready),
    .dry_i(entry_dry[0]),
    .job_o(job),
    .job_valid_o(job_valid),
    .job_ready_i(job_ready),
    .counts_o(counts),
    .counts_valid_o(counts_valid),
    .state_o(state),
    .wait_o(waits),
    .fault_o(fault),
    .started_i(~stopped_o),
    .count_i,
    .count_valid_i,
    .count_o,
    .failed_o,
    .request_o(request[3:0]),
    .request_valid_o(request_valid[3:0]),
    .request_ready_i(request_ready[3:0]),
    .result_i(result),
    .read_i(read),
    .read_valid_i(read_valid[1]),
    .read_ready_o(read_ready),
    .data_o({data[3], data[1]}),
    .data_valid_o({data_valid[3], data_valid[1]}),
    .data_ready_i({data_ready[3], data_ready[1]}),
    .written_i({done[3], done[1]}),
    .write_error_i(done_error),
    .word_i,
    .word_valid_i,
    .word_ready_o,
    .word_o,
    .word_valid_o,
    .word_ready_i
  );
  assign {data[2], data[0]} = '0;
  assign {data_valid[2], data_valid[0]} = '0;

  spfe_rdma_line i_line (
    .clk_i,
    .rst_i,
    .lines_i(lines_q),
    .domain_i(pair_q.domain),
    .start_i(start && !start_queue_i),
    .on_i(on[0]),
    .status_i({48'd0, 8'(waits), 8'(state)}),
    .busy_o(line_busy),
    .request_o(request[4]),
    .request_valid_o(request_valid[4]),
    .request_ready_i(request_ready[4]),
    .result_i(result),
    .data_o(data[4]),
    .data_valid_o(data_valid[4]),
    .data_ready_i(data_ready[4]),
    .done_i(done[4])
  );

  logic unused;
  assign unused = ^{
    unused_failed, unused_busy, unused_fetched, unused_completing, unused_bad_queue, unused_bad,
    unused_full, unused_buffer, unused_bit, read_valid, done, data_ready, entry_dry
  };
endmodule
