// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// An initiator of RDMA on one virtual channel and its counters, with translations and its memory
/// behind AXI4.
module spfe_sim_initiator
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_rdma_pair_pkg::*;
  import spfe_sf_pkg::*;
#(
  /// Largest payload of a packet.
  parameter int unsigned Segment = 4096,
  /// Work requests that may be outstanding.
  parameter int unsigned Works = 32,
  /// Check bits of memories.
  parameter int unsigned Protect = 0,
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    pair_t pair;
    logic on;
    logic [47:0] seed;
    logic [63:0] time_ns;
    logic [127:0] entry;
    logic entry_valid;
    logic dry;
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
    logic entry_ready;
    job_t job;
    logic job_valid;
    queue_pair_state_e state;
    queue_pair_wait_e waits;
    step_e step;
    logic [63:0] step_time;
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
  read_t read;
  logic read_ready, write_valid, done_error, unused_fence, again, ends;
  logic [12:0] step_bytes;
  logic [1:0] failed;
  ended_t ended;
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
    .rd_o(read),
    .rd_valid_o(read_valid),
    .rd_ready_i({read_ready, 1'b1}),
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
  spfe_rdma_initiator #(
    .Segment(Segment),
    .Works(Works),
    .Protect(Protect)
  ) i_initiator (
    .clk_i,
    .rst_i(in_i.rst),
    .pair_i(in_i.pair),
    .queue_i(16'd5),
    .on_i(in_i.on),
    .idle_o(out_o.idle),
    .seed_i(in_i.seed),
    .time_ns_i(in_i.time_ns),
    .entry_i(in_i.entry),
    .entry_valid_i(in_i.entry_valid),
    .entry_ready_o(out_o.entry_ready),
    .dry_i(in_i.dry),
    .job_o(out_o.job),
    .job_valid_o(out_o.job_valid),
    .job_ready_i(in_i.job_ready),
    .ended_o(ended),
    .ended_valid_o(ends),
    .state_o(out_o.state),
    .wait_o(out_o.waits),
    .step_o(out_o.step),
    .step_time_o(out_o.step_time),
    .step_again_o(again),
    .step_bytes_o(step_bytes),
    .failed_o(failed[0]),
    .request_o(request),
    .request_valid_o(request_valid),
    .request_ready_i(request_ready),
    .result_i(result),
    .read_i(read),
    .read_valid_i(read_valid[1]),
    .read_ready_o(read_ready),
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
    .on_i({1'b1, in_i.on || !out_o.idle}),
    .step_i(out_o.step),
    .again_i(again),
    .bytes_i(step_bytes),
    .ended_i(ended),
    .ended_valid_i(ends),
    .handled_i('0),
    .handled_valid_i(1'b0),
    .read_i(in_i.read),
    .read_valid_i(in_i.read_valid),
    .read_o(out_o.read),
    .failed_o(failed[1])
  );
  assign out_o.failed = failed != '0;
  logic unused;
  assign unused = ^{unused_fence, unused_begun, unused_answered, read_valid, write_ready, done};
endmodule
