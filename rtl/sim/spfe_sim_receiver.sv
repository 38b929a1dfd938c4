// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The receiving side of a queue pair on one virtual channel and its counters, with translations
/// and its memory behind AXI4.
module spfe_sim_receiver
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Buffers that are taken ahead.
  parameter int unsigned Buffers = 8,
  /// Responses that wait.
  parameter int unsigned Responses = 8,
  /// Check bits of memories.
  parameter int unsigned Protect = 0,
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    pair_t pair;
    logic on;
    logic open;
    address_t words;
    logic [3:0] cq_log2;
    logic [63:0] time_ns;
    logic [127:0] entry;
    logic entry_valid;
    logic job_ready;
    logic translate_ready;
    translation_t translation;
    logic translation_valid;
    word_t word;
    logic word_valid;
    logic word_ready;
    logic [6:0] read;
    logic read_valid;
    axi_slave_t axi;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    logic idle;
    logic silent;
    logic entry_ready;
    job_t job;
    logic job_valid;
    logic kept;
    logic kept_good;
    logic judged;
    handled_t handled;
    logic handled_valid;
    logic fault;
    logic failed;
    translate_t translate;
    logic translate_valid;
    logic word_ready;
    word_t word;
    logic word_valid;
    logic [31:0] read;
    axi_master_t axi;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  access_t [1:0] request;
  logic [1:0] request_valid, request_ready, read_valid, write_ready, done;
  translation_t result;
  read_t unused_read;
  logic write_valid, done_error, unused_fence;
  logic [1:0] failed;
  logic [127:0] data;
  logic [15:0] unused_begun, unused_answered;
  spfe_host_access #(
    .Users(2),
    .Protect(Protect)
  ) i_access (
    .clk_i,
    .rst_i(in_i.rst),
    .request_i(request),
    .request_valid_i(request_valid),
    .request_ready_o(request_ready),
    .result_o(result),
    .rd_o(unused_read),
    .rd_valid_o(read_valid),
    .rd_ready_i('1),
    .wr_data_i({data, 128'd0}),
    .wr_valid_i({write_valid, 1'b0}),
    .wr_ready_o(write_ready),
    .done_o(done),
    .done_error_o(done_error),
    .begun_o(unused_begun),
    .answered_o(unused_answered),
    .fence_valid_i(1'b0),
    .fence_ready_o(unused_fence),
    .translate_o(out_o.translate),
    .translate_valid_o(out_o.translate_valid),
    .translate_ready_i(in_i.translate_ready),
    .translation_i(in_i.translation),
    .translation_valid_i(in_i.translation_valid),
    .axi_o(out_o.axi),
    .axi_i(in_i.axi)
  );

  logic [3:0][7:0] bytes;
  logic [2:0] count;
  logic last, cut, valid, ready;
  spfe_rdma_bytes i_bytes (
    .clk_i,
    .rst_i(in_i.rst),
    .word_i(in_i.word),
    .word_valid_i(in_i.word_valid),
    .word_ready_o(out_o.word_ready),
    .data_o(bytes),
    .count_o(count),
    .last_o(last),
    .cut_o(cut),
    .valid_o(valid),
    .ready_i(ready)
  );
  spfe_rdma_receiver #(
    .Buffers(Buffers),
    .Responses(Responses),
    .Protect(Protect)
  ) i_receiver (
    .clk_i,
    .rst_i(in_i.rst),
    .pair_i(in_i.pair),
    .on_i(in_i.on),
    .open_i(in_i.open),
    .queue_i(16'd5),
    .words_i(in_i.words),
    .cq_log2_i(in_i.cq_log2),
    .idle_o(out_o.idle),
    .silent_o(out_o.silent),
    .time_ns_i(in_i.time_ns),
    .entry_i(in_i.entry),
    .entry_valid_i(in_i.entry_valid),
    .entry_ready_o(out_o.entry_ready),
    .job_o(out_o.job),
    .job_valid_o(out_o.job_valid),
    .job_ready_i(in_i.job_ready),
    .kept_o(out_o.kept),
    .kept_good_o(out_o.kept_good),
    .judged_o(out_o.judged),
    .handled_o(out_o.handled),
    .handled_valid_o(out_o.handled_valid),
    .fault_o(out_o.fault),
    .failed_o(failed[0]),
    .request_o(request),
    .request_valid_o(request_valid),
    .request_ready_i(request_ready),
    .result_i(result),
    .data_o(data),
    .data_valid_o(write_valid),
    .data_ready_i(write_ready[1]),
    .written_i(done[1]),
    .write_error_i(done_error),
    .data_i(bytes),
    .count_i(count),
    .last_i(last),
    .cut_i(cut),
    .valid_i(valid),
    .ready_o(ready),
    .word_o(out_o.word),
    .word_valid_o(out_o.word_valid),
    .word_ready_i(in_i.word_ready)
  );
  spfe_rdma_pair_counts #(
    .Protect(Protect)
  ) i_counts (
    .clk_i,
    .rst_i(in_i.rst),
    .on_i({in_i.open, in_i.on}),
    .step_i(StepNone),
    .again_i(1'b0),
    .bytes_i('0),
    .ended_i('0),
    .ended_valid_i(1'b0),
    .handled_i(out_o.handled),
    .handled_valid_i(out_o.handled_valid),
    .read_i(in_i.read),
    .read_valid_i(in_i.read_valid),
    .read_o(out_o.read),
    .failed_o(failed[1])
  );
  assign out_o.failed = failed != '0;
  logic unused;
  assign unused = ^{
    unused_fence, unused_begun, unused_answered, unused_read, read_valid, write_ready, done
  };
endmodule
