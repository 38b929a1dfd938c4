// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins what all engines report: errors, events and statistics, with the numbers of the queue
/// contexts. A queue reports one error until it is started again, so a place for each queue is
/// enough.
module spfe_ep_collect
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_host_pkg::*;
#(
  /// What the endpoint has.
  parameter shape_t Shape = DefaultShape,
  /// Places for each engine; follows from Shape.
  localparam int unsigned Depth = 1 << $clog2(queues(Shape))
) (
  input logic clk_i,
  input logic rst_i,
  /// Error of each engine, with its number of the queue.
  input queue_error_t [Engines-1:0] error_i,
  /// For one cycle.
  input logic [Engines-1:0] error_valid_i,
  /// Error, with the number of the queue context.
  output queue_error_t error_o,
  output logic error_valid_o,
  input logic error_ready_i,

  /// Vector of each engine.
  input logic [Engines-1:0][15:0] event_i,
  input logic [Engines-1:0] event_valid_i,
  output logic [Engines-1:0] event_ready_o,
  /// Vector to signal; the engines take turns.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,

  /// Counts of each engine, with its number of the queue.
  input statistics_t [Engines-1:0] statistics_i,
  /// The same with the number of the queue context.
  output statistics_t [Engines-1:0] statistics_o
);
  queue_error_t [Engines-1:0] waiting;
  logic [Engines-1:0] waiting_valid, grant, unused_ready, unused_full;
  logic [Engines-1:0][$clog2(Depth+1)-1:0] unused_count;
  logic [$clog2(Engines)-1:0] choice;

  for (genvar i = 0; i < Engines; i++) begin : gen_engine
    if (i != PairEngine || Shape.pairs.count != '0) begin : gen_fifo
      queue_error_t error;
      always_comb begin
        error = error_i[i];
        error.index = context_of(Shape, i, error_i[i].index);
      end
      spfe_fifo #(
        .Width($bits(queue_error_t)),
        .Depth(Depth)
      ) i_fifo (
        .clk_i,
        .rst_i,
        .data_i(error),
        .valid_i(error_valid_i[i]),
        .ready_o(unused_ready[i]),
        .data_o(waiting[i]),
        .valid_o(waiting_valid[i]),
        .ready_i(error_ready_i && grant[i]),
        .count_o(unused_count[i]),
        .almost_full_o(unused_full[i])
      );
    end else begin : gen_none
      logic unused;
      assign {unused_ready[i], unused_full[i], unused_count[i]} = '0;
      assign {waiting[i], waiting_valid[i]} = '0;
      assign unused = ^{error_i[i], error_valid_i[i], grant[i]};
    end
  end

  spfe_arb_fixed #(
    .Ports(Engines)
  ) i_arbiter (
    .request_i(waiting_valid),
    .grant_o(grant),
    .index_o(choice),
    .valid_o(error_valid_o)
  );
  assign error_o = waiting[choice];

  logic [Engines-1:0] event_grant;
  logic [$clog2(Engines)-1:0] event_choice;
  spfe_arb_rr #(
    .Ports(Engines)
  ) i_events (
    .clk_i,
    .rst_i,
    .request_i(event_valid_i),
    .used_i(event_ready_i),
    .grant_o(event_grant),
    .index_o(event_choice),
    .valid_o(event_valid_o)
  );
  assign event_o = event_i[event_choice];
  assign event_ready_o = event_ready_i ? event_grant : '0;

  for (genvar i = 0; i < Engines; i++) begin : gen_count
    always_comb begin
      statistics_o[i] = statistics_i[i];
      statistics_o[i].index = context_of(Shape, i, statistics_i[i].index);
    end
  end
endmodule
