// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Turns the entries of transmit queues into parts. Queues take turns: a turn checks a submission,
/// or begins to read one part of it. A queue has no turn while its channel has no room for a part.
/// A chain or burst is checked as a whole before anything of it is sent; a submission that is wrong
/// is skipped, and told with the reason.
module spfe_host_tx_plan
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_tx_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Words in a beat of a channel: 1, 2 or 4.
  parameter int unsigned Words = 1,
  /// Bytes of a part, 64 to 4096.
  parameter int unsigned PartBytes = 256,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,
  /// Settings of a queue that starts with position 0.
  input queue_context_t start_i,
  /// This queue.
  input logic [QueueWidth-1:0] start_queue_i,
  /// For one cycle, while it is off.
  input logic start_valid_i,
  /// Queues that work.
  input logic [Queues-1:0] on_i,
  /// Queues that are to stop.
  input logic [Queues-1:0] halt_i,
  /// Queues with a packet that is still to be cut, or with a turn.
  output logic [Queues-1:0] busy_o,
  /// Queues whose channel has room for a part and a cut.
  input logic [Queues-1:0] room_i,
  /// Queues whose current submission has failed on its way.
  input logic [Queues-1:0] failed_i,
  /// For one cycle: the memory with the state of a queue has failed.
  output logic fault_o,
  /// This queue.
  output logic [QueueWidth-1:0] fault_queue_o,

  /// Entries of the queues; see spfe_host_ring.
  input logic [Queues-1:0][5:0] level_i,
  /// Nothing follows them.
  input logic [Queues-1:0] dry_i,
  /// The two are new.
  input logic [Queues-1:0] fetched_i,
  /// Queues whose submission has more entries than are there.
  output logic [Queues-1:0] wants_o,
  /// Entry to read.
  output logic [QueueWidth-1:0] peek_queue_o,
  /// Its place behind the oldest one.
  output logic [4:0] peek_ahead_o,
  /// Starts the read.
  output logic peek_o,
  /// The entry, a cycle later.
  input submission_t entry_i,
  /// Entries that are used.
  output logic [QueueWidth-1:0] pop_queue_o,
  /// Their number.
  output logic [4:0] pop_count_o,

  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,

  /// A part, after its read has begun.
  output part_t part_o,
  output logic part_valid_o,
  input logic part_ready_i
);

  plan_e state_q;
  logic [QueueWidth-1:0] queue_q, turn;
  logic [Queues-1:0] candidates, stuck_q, open_q, active_q, skips_q, cuts, unused_grant;
  plan_t start, plan, plan_q;
  logic any, cutting_q;
  logic unused_corrected, broken;

  for (genvar q = 0; q < Queues; q++) begin : gen_turn
    assign cuts[q] = (!on_i[q] || halt_i[q]) && open_q[q];
    assign candidates[q] = cuts[q] || (on_i[q] && !halt_i[q] && room_i[q]
        && (active_q[q] || ((level_i[q] != '0 || skips_q[q]) && !stuck_q[q])));
    assign busy_o[q] = open_q[q] || (state_q != PlanRest && 32'(queue_q) == q);
  end
  spfe_arb_rr #(
    .Ports(Queues)
  ) i_turn (
    .clk_i,
    .rst_i,
    .request_i(candidates),
    .used_i(state_q == PlanRest),
    .grant_o(unused_grant),
    .index_o(turn),
    .valid_o(any)
  );

  always_comb begin
    start = '0;
    start.domain = start_i.domain;
  end
  spfe_ram_safe #(
    .Width($bits(plan_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_plans (
    .clk_i,
    .we_i((state_q == PlanStore || start_valid_i) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : queue_q),
    .data_i(start_valid_i ? start : plan_q),
    .rclk_i(clk_i),
    .re_i(state_q == PlanRest && any),
    .raddr_i(turn),
    .data_o(plan),
    .corrected_o(unused_corrected),
    .failed_o(broken)
  );
  assign wants_o = stuck_q;
  assign fault_o = state_q == PlanLoad && broken && !cutting_q;
  assign fault_queue_o = queue_q;

  // The entry that is looked at, ahead_q behind the oldest one.
  logic [4:0] ahead_q;
  logic [31:0] total_q, total;
  logic there, chained, is_inline, fine;
  logic [1:0] mark;
  submission_t entry, first_q;
  inline_submission_t short_entry;
  assign entry = entry_i;
  assign short_entry = inline_submission_t'(entry_i);
  assign chained = (entry.flags & SUBMIT_FLAGS_CHAIN) != '0;
  assign mark = entry.flags[8:7];
  assign is_inline = entry.flags[3:0] == 4'(ENTRY_TYPE_INLINE);
  assign there = 6'(ahead_q) < level_i[queue_q];
  assign total = total_q + (is_inline ? 32'(short_entry.count) : entry.length);
  assign peek_queue_o = queue_q;
  assign peek_ahead_o = ahead_q;
  assign peek_o = (state_q == PlanPeek || state_q == PlanSkip) && there;

  // An entry alone that is read at once is checked by its read.
  assign fine = is_inline || entry.length == '0
      || (ahead_q == '0 && !chained && entry.length <= PartBytes);

  // What is wrong with the submission.
  burst_ext_t ext;
  status_e fault;
  logic [1:0] fixed;
  logic times_done;
  logic [47:0] span;
  assign ext = burst_ext_t'(entry_i);
  spfe_host_tx_check i_check (
    .clk_i,
    .state_i(state_q),
    .plan_i(plan_q),
    .entry_i,
    .first_i(first_q),
    .ahead_i(ahead_q),
    .total_i(total),
    .open_i(open_q[queue_q]),
    .missing_i(!there && dry_i[queue_q]),
    .result_valid_i(request_ready_i),
    .result_i,
    .fault_o(fault),
    .fixed_o(fixed),
    .done_o(times_done),
    .span_o(span)
  );

  // A part of the entry.
  logic [31:0] length, rest;
  logic [12:0] bytes_q;
  logic at_last, completes, wrong_q, put;
  assign length = is_inline ? 32'(short_entry.count) : entry.length;
  assign rest = length - plan_q.done;
  assign at_last = plan_q.burst ? plan_q.left == 16'd1 : plan_q.element + 5'd1 == plan_q.count;
  assign completes = 32'(bytes_q) == rest;

  always_comb begin
    request_o = '{
      address: '{region: entry.region, offset: entry.offset + 48'(plan_q.done)},
      length: 48'(bytes_q),
      domain: plan_q.domain,
      write: 1'b0,
      check: state_q != PlanRead
    };
    if (plan_q.burst) request_o.address.offset = plan_q.offset + 48'(plan_q.done);
    if (state_q == PlanCheck) request_o.length = 48'(entry.length);
    if (state_q == PlanCheckBurst) begin
      request_o.address = '{region: first_q.region, offset: first_q.offset};
      request_o.length = span;
    end
  end
  assign request_valid_o = state_q == PlanCheck || state_q == PlanCheckBurst || state_q == PlanRead;

  always_comb begin
    part_o = '0;
    part_o.index = 8'(queue_q);
    part_o.bytes_inline = {short_entry.data_hi, short_entry.data_lo};
    part_o.read = !wrong_q && bytes_q != '0 && !is_inline;
    part_o.bytes = wrong_q ? '0 : bytes_q;
    part_o.room = 11'(part_o.bytes / 13'(4 * Words)) + 11'd2;
    part_o.ends = !wrong_q && completes && mark != 2'(END_MARKER_NONE) && (plan_q.burst || at_last);
    part_o.eep = mark == 2'(END_MARKER_EEP);
    part_o.last = wrong_q || (completes && at_last);
    part_o.signals = (entry.flags & SUBMIT_FLAGS_SIGNAL) != '0;
    part_o.report = plan_q.burst && !plan_q.reported;
    part_o.burst = plan_q.burst;
    part_o.cut = cutting_q;
    part_o.status = wrong_q ? plan_q.status : STATUS_OK;
    part_o.prior = plan_q.skips ? plan_q.prior : plan_q.position[15:0] - 16'd1;
    part_o.position = plan_q.position[15:0] - 16'd1 + (plan_q.skips ? 16'd0 : 16'(plan_q.count));
  end
  assign part_valid_o = state_q == PlanPut;
  assign put = state_q == PlanPut && part_ready_i;

  assign pop_queue_o = queue_q;
  always_comb begin
    pop_count_o = '0;
    if (put && !cutting_q && !plan_q.skips && part_o.last) pop_count_o = plan_q.count;
    if (state_q == PlanSkipLook) pop_count_o = 5'd1;
  end

  // The state of a submission after this cycle.
  plan_t next;
  logic skip_ends;
  always_comb begin
    skip_ends = plan_q.fixed == 2'd1 || (plan_q.fixed == 2'd0 && !chained);

    next = plan_q;
    if (fault != STATUS_OK) begin
      next.skips = 1'b1;
      next.burst = 1'b0;
      next.fixed = fixed;
      next.status = fault;
      next.prior = plan_q.position[15:0] - 16'd1;
    end else begin
      unique case (state_q)
        PlanLoad: begin
          next = plan;
          if (!plan.active) next.burst = 1'b0;
          if (!plan.skips) next.status = STATUS_ACCESS_DENIED;
        end
        PlanLook: if (!plan_q.active && entry.flags[3:0] == 4'(ENTRY_TYPE_BURST)) next.burst = 1'b1;
        PlanWhole:
        if (!chained) begin
          next.active = 1'b1;
          next.element = '0;
          next.count = ahead_q + 5'd1;
          next.done = '0;
        end
        PlanCheckBurst:
        if (request_ready_i) begin
          next.active = 1'b1;
          next.reported = 1'b0;
          next.count = 5'd2;
          next.done = '0;
          next.left = ext.count;
          next.offset = first_q.offset;
          next.stride = ext.stride;
        end
        PlanSend:
        if (bytes_q == '0 && !at_last) begin
          next.element = plan_q.element + 5'd1;
        end
        PlanRead: if (request_ready_i) next.status = result_i.status;
        PlanPut:
        if (part_ready_i && !cutting_q) begin
          next.reported = 1'b1;
          next.done = completes ? '0 : plan_q.done + 32'(bytes_q);
          if (completes) begin
            next.element = plan_q.element + 5'd1;
            next.left = plan_q.left - 16'd1;
            next.offset = plan_q.offset + 48'(plan_q.stride);
          end
          if (part_o.last) begin
            next.active = 1'b0;
            next.skips = 1'b0;
            if (!plan_q.skips) next.position = plan_q.position + 32'(plan_q.count);
          end
        end
        PlanSkipLook: begin
          next.position = plan_q.position + 32'd1;
          if (plan_q.fixed == 2'd2) next.fixed = 2'd1;
        end
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    plan_q <= next;
    unique case (state_q)
      PlanRest: begin
        queue_q <= turn;
        cutting_q <= cuts[turn];
        if (any) state_q <= PlanLoad;
      end
      PlanLoad: begin
        ahead_q <= plan.active && !plan.burst ? plan.element : '0;
        state_q <= plan.skips ? PlanSkip : PlanPeek;
        if (cutting_q || (plan.active && failed_i[queue_q])) state_q <= PlanPut;
        else if (broken) state_q <= PlanRest;
      end
      PlanPeek: state_q <= there ? PlanLook : PlanStore;
      PlanLook: begin
        state_q <= fine ? PlanWhole : PlanCheck;
        if (plan_q.active) state_q <= PlanSend;
        else if (plan_q.burst) state_q <= PlanTimes;
        else if (next.burst) state_q <= PlanPeek;
        if (next.burst && !plan_q.burst) ahead_q <= 5'd1;
      end
      PlanCheck: if (request_ready_i) state_q <= PlanWhole;
      PlanWhole: begin
        ahead_q <= chained ? ahead_q + 5'd1 : '0;
        state_q <= PlanPeek;
      end
      PlanTimes: if (times_done) state_q <= PlanCheckBurst;
      PlanCheckBurst:
      if (request_ready_i) begin
        ahead_q <= '0;
        state_q <= PlanPeek;
      end
      PlanSend: begin
        state_q <= is_inline || bytes_q == '0 ? PlanPut : PlanRead;
        if (bytes_q == '0 && !at_last) begin
          ahead_q <= ahead_q + 5'd1;
          state_q <= PlanPeek;
        end
      end
      PlanRead: if (request_ready_i) state_q <= PlanPut;
      PlanPut: if (part_ready_i) state_q <= cutting_q ? PlanRest : PlanStore;
      PlanSkip: state_q <= there ? PlanSkipLook : dry_i[queue_q] ? PlanPut : PlanStore;
      PlanSkipLook: state_q <= skip_ends ? PlanPut : PlanSkip;
      default: if (!start_valid_i) state_q <= PlanRest;
    endcase
    if (fault != STATUS_OK) begin
      ahead_q <= '0;
      state_q <= PlanSkip;
    end
    if (rst_i) state_q <= PlanRest;
  end

  always_ff @(posedge clk_i) begin
    if (state_q == PlanLoad) begin
      total_q <= '0;
      bytes_q <= '0;
      wrong_q <= cutting_q || plan.skips || (plan.active && failed_i[queue_q]);
    end
    if (fault != STATUS_OK) wrong_q <= 1'b1;
    if (state_q == PlanLook && plan_q.active) begin
      bytes_q <= rest > PartBytes ? 13'(PartBytes) : 13'(rest);
    end
    if (state_q == PlanWhole && chained) total_q <= total;
    if (state_q == PlanRead && request_ready_i) begin
      bytes_q <= result_i.bytes[12:0];
      wrong_q <= result_i.status != STATUS_OK;
    end
    if (state_q == PlanLook && !plan_q.burst) first_q <= entry;
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic mine;
    assign mine = 32'(queue_q) == q;
    always_ff @(posedge clk_i) begin
      if (put && mine) begin
        if (wrong_q || part_o.ends) open_q[q] <= 1'b0;
        else if (bytes_q != '0) open_q[q] <= 1'b1;
      end
      if (state_q == PlanStore && mine) begin
        active_q[q] <= plan_q.active;
        skips_q[q] <= plan_q.skips;
      end
      if ((state_q == PlanPeek || state_q == PlanSkip) && mine && !there && !dry_i[q])
        stuck_q[q] <= 1'b1;
      if (fetched_i[q]) stuck_q[q] <= 1'b0;
      if (start_valid_i && 32'(start_queue_i) == q) begin
        active_q[q] <= 1'b0;
        skips_q[q] <= 1'b0;
        stuck_q[q] <= 1'b0;
      end
      if (rst_i) open_q[q] <= 1'b0;
    end
  end

  logic unused;
  assign unused = ^{
    unused_grant, unused_corrected, result_i, start_i, entry.phase, ext, short_entry, first_q
  };
endmodule
