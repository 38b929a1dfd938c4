// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Statistics of several engines. A FIFO for each engine keeps what comes faster than it is
/// counted: a report takes up to 13 cycles.
module spfe_ep_reports
  import spfe_host_pkg::*;
#(
  /// Queue contexts.
  parameter int unsigned Queues = 12,
  /// Engines, 2 or more.
  parameter int unsigned Reporters = 2,
  /// Check bits of the memory, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Reports that wait for each engine, a power of two.
  parameter int unsigned Depth = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// Report of each engine, with the number of the queue context.
  input statistics_t [Reporters-1:0] statistics_i,
  /// Always taken; a report that finds its FIFO full is lost.
  input logic [Reporters-1:0] statistics_valid_i,
  /// Counter to read, as of spfe_ep_statistics.
  input logic [9:0] read_queue_i,
  /// As above.
  input logic [3:0] read_word_i,
  input logic read_valid_i,
  /// The word.
  output logic [31:0] read_o,
  /// For one cycle; with read_o.
  output logic read_done_o,
  /// The memory reported an error.
  output logic failed_o
);
  statistics_t [Reporters-1:0] waiting;
  logic [Reporters-1:0] waiting_valid, waiting_ready, grant, room;
  logic [$clog2(Reporters)-1:0] choice;
  logic [Reporters-1:0][$clog2(Depth+1)-1:0] unused_count;
  logic [Reporters-1:0] unused_full;
  logic any, ready;

  for (genvar i = 0; i < Reporters; i++) begin : gen_fifo
    spfe_fifo #(
      .Width($bits(statistics_t)),
      .Depth(Depth)
    ) i_fifo (
      .clk_i,
      .rst_i,
      .data_i(statistics_i[i]),
      .valid_i(statistics_valid_i[i]),
      .ready_o(room[i]),
      .data_o(waiting[i]),
      .valid_o(waiting_valid[i]),
      .ready_i(waiting_ready[i]),
      .count_o(unused_count[i]),
      .almost_full_o(unused_full[i])
    );
  end

  spfe_arb_rr #(
    .Ports(Reporters)
  ) i_arbiter (
    .clk_i,
    .rst_i,
    .request_i(waiting_valid),
    .used_i(ready),
    .grant_o(grant),
    .index_o(choice),
    .valid_o(any)
  );
  assign waiting_ready = ready ? grant : '0;

  spfe_ep_statistics #(
    .Queues(Queues),
    .Protect(Protect)
  ) i_statistics (
    .clk_i,
    .rst_i,
    .count_i(waiting[choice]),
    .count_valid_i(any),
    .count_ready_o(ready),
    .read_queue_i,
    .read_word_i,
    .read_valid_i,
    .read_o,
    .read_done_o,
    .failed_o
  );

  logic unused;
  assign unused = ^room;
endmodule
