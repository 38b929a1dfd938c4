// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Chooses what the engine of message queues does next: queues to start and to stop come first,
/// then messages that came, then entries of the host in turn, then hosts that sleep.
module spfe_ep_message_pick
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_ep_message_pkg::*;
#(
  /// Ports.
  parameter int unsigned Ports = 1,
  /// Queues, as of spfe_ep_message.
  localparam int unsigned Queues = 2 * MessageContexts * Ports,
  /// Bits of a queue's number.
  localparam int unsigned Width = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,
  /// A queue is to be started.
  input logic start_i,
  /// This one.
  input logic [15:0] start_queue_i,
  /// Queues to stop.
  input logic [Queues-1:0] stop_i,
  /// Queues that may have entries.
  input logic [Queues-1:0] ring_i,
  /// Queues whose host may have armed the ring.
  input logic [Queues-1:0] arm_i,
  /// Ports that take no message to send.
  input logic [Ports-1:0] busy_i,
  /// Ports from which a message came.
  input logic [Ports-1:0] arrived_i,
  /// The entry of index_o is looked at.
  input logic used_i,
  /// What to do.
  output message_job_e job_o,
  /// With this queue.
  output logic [Width-1:0] index_o,
  /// There is something to do.
  output logic found_o
);
  logic [Queues-1:0] works;
  logic [2:0] found;
  logic [2:0][Width-1:0] choice;
  logic [2:0][Queues-1:0] unused_onehot;
  logic [7:0] from;

  always_comb begin
    works = ring_i;
    for (int unsigned i = 0; i < Queues; i++) begin
      if (i % (2 * MessageContexts) < MessageContexts && busy_i[i/(2*MessageContexts)])
        works[i] = 1'b0;
    end
    from = '0;
    for (int unsigned i = 0; i < Ports; i++) if (arrived_i[i]) from = 8'(i);
  end
  spfe_first_one #(
    .Width(Queues)
  ) i_stops (
    .data_i(stop_i),
    .found_o(found[0]),
    .onehot_o(unused_onehot[0]),
    .index_o(choice[0])
  );
  spfe_arb_rr #(
    .Ports(Queues)
  ) i_works (
    .clk_i,
    .rst_i,
    .request_i(works),
    .used_i,
    .grant_o(unused_onehot[1]),
    .index_o(choice[1]),
    .valid_o(found[1])
  );
  spfe_first_one #(
    .Width(Queues)
  ) i_arms (
    .data_i(arm_i),
    .found_o(found[2]),
    .onehot_o(unused_onehot[2]),
    .index_o(choice[2])
  );

  always_comb begin
    found_o = 1'b1;
    if (start_i) begin
      {job_o, index_o} = {JobStart, start_queue_i[Width-1:0]};
    end else if (found[0]) begin
      {job_o, index_o} = {JobStop, choice[0]};
    end else if (arrived_i != '0) begin
      // The first receive queue of the port.
      job_o = JobArrive;
      index_o = Width'(2 * MessageContexts * 32'(from) + MessageContexts);
    end else if (found[1]) begin
      {job_o, index_o} = {JobEntry, choice[1]};
    end else begin
      {job_o, index_o} = {JobArm, choice[2]};
      found_o = found[2];
    end
  end

  logic unused;
  assign unused = ^start_queue_i;
endmodule
