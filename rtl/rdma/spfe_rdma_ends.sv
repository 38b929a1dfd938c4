// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Both sides of a queue pair on one virtual channel: the one that sends requests (queue 0), and
/// the one that takes messages into buffers and answers (queue 1).
module spfe_rdma_ends
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
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
  /// The queue pair; does not change while a queue works.
  input pair_t pair_i,
  /// Queues that work.
  input logic [1:0] on_i,
  /// Queues of which nothing is under way.
  output logic [1:0] idle_o,
  /// Numbers to start with, random.
  input logic [47:0] seed_i,
  /// Side array of queue 1.
  input address_t words_i,
  /// Logarithm of the number of its completions.
  input logic [3:0] cq_log2_i,
  /// Time, ns.
  input logic [63:0] time_ns_i,

  /// Oldest entry of each ring.
  input logic [1:0][127:0] entry_i,
  input logic [1:0] entry_valid_i,
  output logic [1:0] entry_ready_o,
  /// Nothing follows what was taken from ring 0.
  input logic dry_i,
  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i,
  /// What to count.
  output statistics_t counts_o,
  output logic counts_valid_o,
  /// State of the side that sends requests.
  output queue_pair_state_e state_o,
  /// What it waits for.
  output queue_pair_wait_e wait_o,
  /// For one cycle: the side array cannot be written.
  output logic fault_o,
  /// Queues that have started and not stopped.
  input logic [1:0] started_i,
  /// Word of the counters to read, as of spfe_rdma_pair_counts.
  input logic [6:0] count_i,
  input logic count_valid_i,
  /// The word, a cycle later.
  output logic [31:0] count_o,
  /// For one cycle: a memory has given a wrong word.
  output logic failed_o,

  /// Accesses to memory: checks and bytes of queue 0 (0, 1) and of queue 1 (2, 3); see
  /// spfe_host_access.
  output access_t [3:0] request_o,
  output logic [3:0] request_valid_o,
  input logic [3:0] request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// Bytes that queue 0 reads.
  input read_t read_i,
  input logic read_valid_i,
  output logic read_ready_o,
  /// Bytes that each queue writes.
  output logic [1:0][127:0] data_o,
  output logic [1:0] data_valid_o,
  input logic [1:0] data_ready_i,
  /// They are in memory.
  input logic [1:0] written_i,
  /// The bus reported an error; with written_i.
  input logic write_error_i,

  /// Word of the virtual channel.
  input word_t word_i,
  input logic word_valid_i,
  output logic word_ready_o,
  /// Word for the virtual channel.
  output word_t word_o,
  output logic word_valid_o,
  input logic word_ready_i
);
  logic any;
  assign any = on_i != '0;

  logic [3:0][7:0] bytes;
  logic [2:0] amount;
  logic last, cut;
  logic [1:0] valid, ready;
  spfe_rdma_sides i_sides (
    .clk_i,
    .rst_i,
    .on_i(any),
    .word_i,
    .word_valid_i,
    .word_ready_o,
    .data_o(bytes),
    .count_o(amount),
    .last_o(last),
    .cut_o(cut),
    .valid_o(valid),
    .ready_i(ready)
  );

  // Completions; one that is offered does not change.
  job_t [1:0] job;
  logic [1:0] job_valid, job_ready;
  logic offered_q, choice_q, choice;
  assign choice = offered_q ? choice_q : job_valid[1];
  assign job_o = job[choice];
  assign job_valid_o = job_valid[choice];
  always_comb begin
    job_ready = '0;
    job_ready[choice] = job_ready_i;
  end
  always_ff @(posedge clk_i) begin
    offered_q <= job_valid_o && !job_ready_i && !rst_i;
    choice_q <= choice;
  end

  word_t [1:0] sent, kept;
  logic [1:0] sent_valid, sent_ready, kept_valid, kept_ready;
  logic [2:0] failed;
  ended_t ended;
  step_e step;
  logic ended_valid, requests_idle;
  logic [63:0] unused_time;
  logic again;
  logic [12:0] step_bytes;
  spfe_rdma_initiator #(
    .Segment(Segment),
    .Works(Works),
    .Protect(Protect)
  ) i_initiator (
    .clk_i,
    .rst_i,
    .pair_i,
    .queue_i(16'd0),
    .on_i(on_i[0]),
    .idle_o(requests_idle),
    .seed_i,
    .time_ns_i,
    .entry_i(entry_i[0]),
    .entry_valid_i(entry_valid_i[0]),
    .entry_ready_o(entry_ready_o[0]),
    .dry_i,
    .job_o(job[0]),
    .job_valid_o(job_valid[0]),
    .job_ready_i(job_ready[0]),
    .ended_o(ended),
    .ended_valid_o(ended_valid),
    .state_o,
    .wait_o,
    .step_o(step),
    .step_time_o(unused_time),
    .step_again_o(again),
    .step_bytes_o(step_bytes),
    .failed_o(failed[0]),
    .request_o(request_o[1:0]),
    .request_valid_o(request_valid_o[1:0]),
    .request_ready_i(request_ready_i[1:0]),
    .result_i,
    .read_i,
    .read_valid_i,
    .read_ready_o,
    .data_o(data_o[0]),
    .data_valid_o(data_valid_o[0]),
    .data_ready_i(data_ready_i[0]),
    .written_i(written_i[0]),
    .write_error_i,
    .data_i(bytes),
    .count_i(amount),
    .last_i(last),
    .cut_i(cut),
    .valid_i(valid[0]),
    .ready_o(ready[0]),
    .word_o(sent[0]),
    .word_valid_o(sent_valid[0]),
    .word_ready_i(sent_ready[0])
  );

  handled_t handled;
  logic handled_valid, buffers_idle, silent, stalls, unused_kept, unused_good, unused_judged;
  spfe_rdma_receiver #(
    .Segment(Segment),
    .Buffers(Buffers),
    .Protect(Protect)
  ) i_receiver (
    .clk_i,
    .rst_i,
    .pair_i,
    .on_i(any),
    .open_i(on_i[1]),
    .queue_i(16'd1),
    .words_i,
    .cq_log2_i,
    .idle_o(buffers_idle),
    .silent_o(silent),
    .time_ns_i,
    .entry_i(entry_i[1]),
    .entry_valid_i(entry_valid_i[1]),
    .entry_ready_o(entry_ready_o[1]),
    .job_o(job[1]),
    .job_valid_o(job_valid[1]),
    .job_ready_i(job_ready[1]),
    .kept_o(unused_kept),
    .kept_good_o(unused_good),
    .judged_o(unused_judged),
    .handled_o(handled),
    .handled_valid_o(handled_valid),
    .fault_o,
    .failed_o(failed[1]),
    .request_o(request_o[3:2]),
    .request_valid_o(request_valid_o[3:2]),
    .request_ready_i(request_ready_i[3:2]),
    .result_i,
    .data_o(data_o[1]),
    .data_valid_o(data_valid_o[1]),
    .data_ready_i(data_ready_i[1]),
    .written_i(written_i[1]),
    .write_error_i,
    .data_i(bytes),
    .count_i(amount),
    .last_i(last),
    .cut_i(cut),
    .valid_i(valid[1]),
    .ready_o(ready[1]),
    .word_o(sent[1]),
    .word_valid_o(sent_valid[1]),
    .word_ready_i(sent_ready[1])
  );
  assign failed_o = failed != '0;
  assign stalls = handled_valid && (handled.drop != DropNone || handled.status != SfrpOk);

  // The last queue that stops waits until the responses are gone.
  assign idle_o = {buffers_idle && (any || silent), requests_idle && (any || silent)};

  // What has left one side when it stops ends there; the other side goes on.
  for (genvar i = 0; i < 2; i++) begin : gen_cut
    spfe_rdma_cut i_cut (
      .clk_i,
      .rst_i,
      .stop_i(i == 0 ? !on_i[0] : !any),
      .word_i(sent[i]),
      .word_valid_i(sent_valid[i]),
      .word_ready_o(sent_ready[i]),
      .word_o(kept[i]),
      .word_valid_o(kept_valid[i]),
      .word_ready_i(kept_ready[i])
    );
  end
  logic [4:0] unused_vc;
  spfe_rdma_merge i_merge (
    .clk_i,
    .rst_i,
    .side_i({kept[0], kept[1]}),
    .side_vc_i('0),
    .side_valid_i({kept_valid[0], kept_valid[1]}),
    .side_ready_o({kept_ready[0], kept_ready[1]}),
    .word_o,
    .vc_o(unused_vc),
    .word_valid_o,
    .word_ready_i
  );

  spfe_rdma_counts i_counts (
    .clk_i,
    .rst_i,
    .ended_i(ended),
    .ended_valid_i(ended_valid),
    .job_i(job[1]),
    .job_valid_i(job_valid[1] && job_ready[1]),
    .stall_i({stalls, step inside {StepStale, StepInvalid}}),
    .counts_o,
    .counts_valid_o
  );
  spfe_rdma_pair_counts #(
    .Protect(Protect)
  ) i_pair_counts (
    .clk_i,
    .rst_i,
    .on_i(started_i),
    .step_i(step),
    .again_i(again),
    .bytes_i(step_bytes),
    .ended_i(ended),
    .ended_valid_i(ended_valid),
    .handled_i(handled),
    .handled_valid_i(handled_valid),
    .read_i(count_i),
    .read_valid_i(count_valid_i),
    .read_o(count_o),
    .failed_o(failed[2])
  );

  logic unused;
  assign unused = ^{handled, unused_time, unused_kept, unused_good, unused_judged, unused_vc};
endmodule
