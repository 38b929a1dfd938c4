// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Starts and stops the queues of an engine. A queue is on when its device line says so. It stops
/// on a request or by a fault, and is off when none of the parts has anything of it under way.
module spfe_host_control
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,
  /// Queue that is to start.
  input logic [QueueWidth-1:0] start_queue_i,
  input logic start_valid_i,
  /// It has started.
  output logic start_ready_o,
  /// Queues that are to stop, until stopped_o.
  input logic [Queues-1:0] stop_i,
  /// Queues of which nothing is under way, and which have not started.
  output logic [Queues-1:0] stopped_o,

  /// Not now.
  input logic hold_i,
  /// For one cycle: all parts take over the settings of start_queue_i.
  output logic start_o,
  /// Its device line is written.
  input logic started_i,
  /// Queues that work.
  output logic [Queues-1:0] on_o,
  /// Queues that are to stop: nothing new begins.
  output logic [Queues-1:0] halt_o,
  /// Queues that have stopped by themselves.
  output logic [Queues-1:0] failed_o,
  /// The reasons.
  output status_e [Queues-1:0] reason_o,
  /// Queues with something under way.
  input logic [Queues-1:0] busy_i,

  /// Faults of ring, completions, lines and mover.
  input logic [3:0] fault_i,
  /// Their queues.
  input logic [3:0][QueueWidth-1:0] fault_queue_i,
  /// Their reasons.
  input status_e [3:0] fault_status_i,
  /// A queue has stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o
);
  logic [Queues-1:0] on_q, halt_q, failed_q;
  status_e [Queues-1:0] reason_q;
  logic starting_q;
  logic [3:0] shown;

  assign on_o = on_q;
  assign halt_o = halt_q;
  assign failed_o = failed_q;
  assign reason_o = reason_q;
  assign start_o = start_valid_i && !starting_q && !hold_i;
  assign start_ready_o = starting_q && started_i;

  // A fault that another one hides is seen when it comes again.
  for (genvar f = 0; f < 4; f++) begin : gen_fault
    assign shown[f] = fault_i[f] && (on_q[fault_queue_i[f]] || starting_q)
        && !failed_q[fault_queue_i[f]];
  end
  always_comb begin
    error_valid_o = shown != '0;
    error_o = '{index: 16'(fault_queue_i[3]), status: fault_status_i[3]};
    for (int unsigned f = 0; f < 3; f++) begin
      if (shown[f]) error_o = '{index: 16'(fault_queue_i[f]), status: fault_status_i[f]};
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_o) starting_q <= 1'b1;
    if (start_ready_o) starting_q <= 1'b0;
    if (rst_i) starting_q <= 1'b0;
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic starts, fails, ends;
    assign starts = start_ready_o && 32'(start_queue_i) == q;
    assign fails = error_valid_o && 32'(error_o.index) == q;
    assign ends = halt_q[q] && !busy_i[q];
    assign stopped_o[q] = !on_q[q] && !failed_q[q] && !(starting_q && 32'(start_queue_i) == q)
        && !busy_i[q];
    always_ff @(posedge clk_i) begin
      halt_q[q] <= stop_i[q] && !ends;
      if (starts) on_q[q] <= 1'b1;
      if (fails) begin
        on_q[q] <= 1'b0;
        failed_q[q] <= 1'b1;
        reason_q[q] <= error_o.status;
      end
      if (ends) begin
        on_q[q] <= 1'b0;
        failed_q[q] <= 1'b0;
      end
      if (rst_i) begin
        on_q[q] <= 1'b0;
        halt_q[q] <= 1'b0;
        failed_q[q] <= 1'b0;
      end
    end
  end
endmodule
