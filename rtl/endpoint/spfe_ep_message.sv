// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Message queues of all ports: broadcast messages go from submission rings to the ports, and from
/// the ports into completion rings. It does one thing at a time, so nothing of a queue is under way
/// while it rests.
module spfe_ep_message
  import spfe_pkg::*;
  import spfe_ep_pkg::*;
  import spfe_ep_shape_pkg::*;
  import spfe_ep_message_pkg::*;
  import spfe_host_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Ports.
  parameter int unsigned Ports = 1,
  /// SpaceWire ports among them, the last ones: their messages are broadcast codes.
  parameter int unsigned Wires = 0,
  /// Check bits of the memories, as of spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Queues: for each port those that transmit, then those that receive.
  localparam int unsigned Queues = 2 * MessageContexts * Ports
) (
  input logic clk_i,
  input logic rst_i,

  /// Queue to start, and its context.
  input logic [15:0] start_queue_i,
  /// With start_queue_i.
  input queue_context_t start_i,
  input logic start_valid_i,
  output logic start_ready_o,
  /// Queues to stop.
  input logic [Queues-1:0] stop_i,
  /// Queues that have stopped.
  output logic [Queues-1:0] stopped_o,
  /// No new translation; ready when nothing is under way.
  input logic fence_valid_i,
  output logic fence_ready_o,
  /// Queues of which the host posted entries or armed the ring; each for one cycle.
  input logic [Queues-1:0] ring_i,
  /// As above.
  input logic [Queues-1:0] arm_i,
  /// Device time in ns.
  input logic [63:0] time_i,

  /// Vector to signal.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// Counts of a queue.
  output statistics_t statistics_o,
  output logic statistics_valid_o,
  /// For one cycle: a queue stopped by itself.
  output queue_error_t error_o,
  output logic error_valid_o,
  /// Messages of each port: sent, received, and dropped for lack of room.
  output logic [Ports-1:0][2:0][31:0] counts_o,

  /// Message to each port.
  output broadcast_t [Ports-1:0] broadcast_o,
  output logic [Ports-1:0] broadcast_valid_o,
  input logic [Ports-1:0] broadcast_ready_i,
  /// Message from each port.
  input broadcast_t [Ports-1:0] broadcast_i,
  input logic [Ports-1:0] broadcast_valid_i,
  output logic [Ports-1:0] broadcast_ready_o,

  /// Piece of memory, as of spfe_ep_memory.
  output address_t address_o,
  /// As above.
  output logic [5:0] bytes_o,
  /// As above.
  output logic [15:0] domain_o,
  /// As above.
  output logic write_o,
  /// As above.
  output logic [127:0] data_o,
  output logic memory_valid_o,
  /// As above.
  input logic memory_done_i,
  /// As above.
  input status_e memory_status_i,
  /// As above.
  input logic [383:0] memory_i,
  /// A memory reported an error.
  output logic failed_o
);
  localparam int unsigned Width = $clog2(Queues);
  localparam int unsigned PortWidth = Ports > 1 ? $clog2(Ports) : 1;
  localparam int unsigned ContextWidth = $clog2(MessageContexts);

  message_step_e state_q;
  message_job_e job_q;
  logic [Width-1:0] index_q;
  logic [Queues-1:0] started_q, rung_q, armed_q, dead_q;
  queue_context_t context_q, setup;
  message_state_t now_q, kept;
  status_e status_q;
  logic signals_q, looked_q;
  statistics_t count_q;
  logic [1:0] failed;
  logic [1:0] unused_corrected;
  assign failed_o = failed != '0;

  spfe_ram_safe #(
    .Width($bits(queue_context_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_contexts (
    .clk_i,
    .we_i(state_q == Begin && !rst_i),
    .addr_i(index_q),
    .data_i(start_i),
    .rclk_i(clk_i),
    .re_i(state_q == Load),
    .raddr_i(index_q),
    .data_o(setup),
    .corrected_o(unused_corrected[0]),
    .failed_o(failed[0])
  );
  spfe_ram_safe #(
    .Width($bits(message_state_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_states (
    .clk_i,
    .we_i(state_q == Store && !rst_i),
    .addr_i(index_q),
    .data_i(now_q),
    .rclk_i(clk_i),
    .re_i(state_q == Load),
    .raddr_i(index_q),
    .data_o(kept),
    .corrected_o(unused_corrected[1]),
    .failed_o(failed[1])
  );

  // Messages for the ports, and what to do next.
  broadcast_t [Ports-1:0] out_q;
  logic [Ports-1:0] out_valid_q;
  logic [Ports-1:0][2:0][31:0] counts_q;
  logic [Queues-1:0] live;
  message_job_e job;
  logic [Width-1:0] index;
  logic found, receives, wired;
  logic [PortWidth-1:0] port;
  assign live = started_q & ~dead_q;
  spfe_ep_message_pick #(
    .Ports(Ports)
  ) i_pick (
    .clk_i,
    .rst_i,
    .start_i(start_valid_i),
    .start_queue_i,
    .stop_i(stop_i & started_q),
    .ring_i(rung_q & live),
    .arm_i(armed_q & live),
    .busy_i(out_valid_q),
    .arrived_i(broadcast_valid_i),
    .used_i(state_q == Load && job_q == JobEntry),
    .job_o(job),
    .index_o(index),
    .found_o(found)
  );
  assign receives = index_q[ContextWidth];
  assign port = PortWidth'(32'(index_q) / (2 * MessageContexts));
  assign wired = 32'(port) + Wires >= Ports;

  // The entry that was fetched.
  message_t fetched;
  release_t back;
  status_e check;
  logic [32:0] credits;
  logic valid, gives;
  assign fetched = message_t'(memory_i[127:0]);
  assign back = release_t'(memory_i[127:0]);
  assign valid = fetched.phase == phase_of(now_q.sq, context_q.sq_log2);
  assign check = check_message(fetched, wired);
  assign credits = 33'(now_q.credits) + 33'(back.completions);
  assign gives = back.flags[3:0] == ENTRY_TYPE_RELEASE[3:0] && back.completions != '0
      && (back.flags & SUBMIT_FLAGS_MBZ_MASK) == '0 && back.reserved0 == '0
      && credits <= 33'd1 << context_q.cq_log2;

  // The message that came, and the completion.
  broadcast_t message;
  completion_t done;
  message_t came;
  logic last_context, wakes, wanted;
  assign message = broadcast_i[port];
  assign wanted = live[index_q] && passes(context_q.filter, message);
  assign last_context = 32'(index_q[ContextWidth-1:0]) == MessageContexts - 1;
  assign broadcast_ready_o = state_q == Store && job_q == JobArrive && last_context
      ? Ports'(1) << port : '0;
  assign came = shown(message, wired, context_q, now_q.lost, phase_of(now_q.cq, context_q.cq_log2));
  assign done = '{
      phase: phase_of(now_q.cq, context_q.cq_log2),
      flags: context_q.stamp ? COMPLETION_FLAGS_STAMPED : '0,
      reserved0: '0,
      position: now_q.sq[15:0] - 16'd1,
      status: status_q,
      vc: 8'd255,
      packets: 16'(status_q == STATUS_OK),
      bytes: '0
    };
  assign wakes = wants_wake(memory_i, now_q.cq, now_q.answered);

  spfe_ep_message_access i_access (
    .state_i(state_q),
    .job_i(job_q),
    .context_i(context_q),
    .now_i(now_q),
    .status_i(status_q),
    .time_i,
    .entry_i(job_q == JobArrive ? came : done),
    .done_i(memory_done_i),
    .address_o,
    .bytes_o,
    .write_o,
    .data_o,
    .valid_o(memory_valid_o)
  );
  assign domain_o = context_q.domain;
  assign start_ready_o = state_q == Store && job_q == JobStart;
  assign stopped_o = ~started_q;
  assign fence_ready_o = state_q == Rest && fence_valid_i;
  assign event_o = context_q.vector;
  assign event_valid_o = state_q == Signal;
  assign error_o = '{index: 16'(index_q), status: status_q};
  assign error_valid_o = state_q == Trouble;
  assign statistics_o = count_q;
  assign statistics_valid_o = state_q == Store;
  assign counts_o = counts_q;
  assign broadcast_o = out_q;
  assign broadcast_valid_o = out_valid_q;

  // States.
  message_step_e next, completes;
  assign completes = context_q.stamp ? Stamp : Complete;
  always_comb begin
    next = state_q;
    unique case (state_q)
      Rest: if (!fence_valid_i && found) next = Load;
      Load: next = job_q == JobStart ? Begin : Loaded;
      Begin: next = DeviceLine;
      Loaded: begin
        next = job_q == JobStop ? DeviceLine : job_q == JobArm ? HostLine : Fetch;
        if (job_q == JobArrive) next = Arrive;
      end
      Fetch: if (memory_done_i) next = Judge;
      Judge: begin
        next = !valid || receives || (check == STATUS_OK && !fetched.flags[4]) ? Store : completes;
        if (job_q == JobArrive) next = Arrive;
      end
      // Before a message is lost: the host may have given credits back without a doorbell.
      Arrive: begin
        next = completes;
        if (!wanted || now_q.credits == '0) next = wanted && !looked_q ? Fetch : Store;
      end
      Stamp: if (memory_done_i) next = Complete;
      Complete: if (memory_done_i) next = HostLine;
      HostLine: if (memory_done_i) next = wakes ? DeviceLine : Store;
      DeviceLine: if (memory_done_i) next = signals_q ? Signal : Store;
      Signal: if (event_ready_i) next = Store;
      Store: next = job_q == JobArrive && !last_context ? Load : Rest;
      Trouble: next = TroubleLine;
      default: if (memory_done_i) next = Store;
    endcase
    if (memory_done_i && memory_status_i != STATUS_OK && state_q != TroubleLine && job_q != JobStop)
      next = Trouble;
  end

  // Queues, and the job.
  always_ff @(posedge clk_i) begin
    state_q <= next;
    rung_q <= rung_q | ring_i;
    armed_q <= armed_q | arm_i;
    if (state_q == Rest) {job_q, index_q} <= {job, index};
    if (state_q == Load && job_q == JobEntry) rung_q[index_q] <= 1'b0;
    if (state_q == Load && job_q == JobArm) armed_q[index_q] <= 1'b0;
    // Another entry may be behind a valid one.
    if (state_q == Judge && valid) rung_q[index_q] <= 1'b1;
    if (state_q == Trouble) dead_q[index_q] <= 1'b1;
    if (state_q == Store) begin
      case (job_q)
        JobStart: begin
          started_q[index_q] <= 1'b1;
          {rung_q[index_q], armed_q[index_q]} <= 2'b11;
        end
        JobStop: begin
          started_q[index_q] <= 1'b0;
          dead_q[index_q] <= 1'b0;
        end
        JobArrive: index_q <= index_q + 1'b1;
        default: ;
      endcase
    end
    if (rst_i) begin
      state_q <= Rest;
      {started_q, rung_q, armed_q, dead_q} <= '0;
    end
  end

  // State of the queue in work.
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Load: begin
        status_q <= STATUS_OK;
        {signals_q, looked_q} <= '0;
        count_q <= '{index: 16'(index_q), default: '0};
      end
      Begin: begin
        context_q <= start_i;
        now_q <= '{credits: 16'd1 << start_i.cq_log2, default: '0};
      end
      Loaded: begin
        context_q <= setup;
        now_q <= kept;
        if (job_q == JobArrive && message.lost) now_q.lost <= 1'b1;
        if (job_q == JobStop) now_q.wakes <= kept.wakes + 32'd1;
      end
      Judge: begin
        looked_q <= 1'b1;
        if (valid) begin
          now_q.sq <= now_q.sq + 32'd1;
          status_q <= check;
          if (receives ? !gives : check != STATUS_OK) count_q.error <= 1'b1;
          else if (receives) now_q.credits <= credits[15:0];
          else {count_q.packets, count_q.bytes} <= {16'd1, 32'd8};
        end
      end
      Arrive:
      if (next == completes) begin
        {count_q.packets, count_q.bytes} <= {16'd1, 32'd8};
        now_q.credits <= now_q.credits - 16'd1;
      end else if (wanted && looked_q) begin
        count_q.dropped <= 1'b1;
        now_q.lost <= 1'b1;
      end
      Complete:
      if (memory_done_i) begin
        now_q.cq <= now_q.cq + 32'd1;
        if (job_q == JobArrive) now_q.lost <= 1'b0;
      end
      HostLine:
      if (memory_done_i && wakes) begin
        now_q.answered <= memory_i[31:0];
        now_q.wakes <= now_q.wakes + 32'd1;
        count_q.wake <= 1'b1;
        signals_q <= (memory_i[63:32] & ARM_FLAGS_EVENT) != '0;
      end
      default: ;
    endcase
    if (memory_done_i && memory_status_i != STATUS_OK && state_q != TroubleLine)
      status_q <= memory_status_i;
  end

  // Messages.
  always_ff @(posedge clk_i) begin
    out_valid_q <= out_valid_q & ~broadcast_ready_i;
    if (state_q == Judge && valid && !receives && check == STATUS_OK) begin
      out_valid_q[port] <= 1'b1;
      out_q[port] <= to_link(fetched);
      counts_q[port][0] <= counts_q[port][0] + 32'd1;
    end
    if (broadcast_ready_o != '0) counts_q[port][1] <= counts_q[port][1] + 32'd1;
    if (statistics_valid_o && count_q.dropped) counts_q[port][2] <= counts_q[port][2] + 32'd1;
    if (rst_i) begin
      out_valid_q <= '0;
      counts_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{start_queue_i, context_q, back};
endmodule
