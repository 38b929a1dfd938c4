// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The two lines of each queue of an engine: reads the arming in the host line after completions,
/// and is the only writer of the device line: wake-ups, whether the host has to ring, the state of
/// the queue, and the mark of a full queue. One line is served at a time. The first 16 bytes of a
/// host line are read before the others, so a condition is never older than its arming.
module spfe_host_lines
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_lines_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,
  /// Settings of a queue that starts.
  input queue_context_t start_i,
  /// This queue.
  input logic [QueueWidth-1:0] start_queue_i,
  /// For one cycle, while it is off and told_valid_i is low: its device line is to be written.
  input logic start_valid_i,
  /// For one cycle: it is written.
  output logic started_o,
  /// Queues that work. A queue that stops by itself is off when it is failed.
  input logic [Queues-1:0] on_i,
  /// Queues that have stopped by themselves.
  input logic [Queues-1:0] failed_i,
  /// The reasons.
  input status_e [Queues-1:0] reason_i,
  /// Queues whose line is being served or waits to be.
  output logic [Queues-1:0] busy_o,
  /// Device time, ns.
  input logic [63:0] time_i,

  /// Queues whose host has to ring.
  input logic [Queues-1:0] need_i,
  /// Those for which this is in memory.
  output logic [Queues-1:0] need_o,
  /// Queues to look at: their host rang after arming.
  input logic [Queues-1:0] armed_i,
  /// For one cycle: a completion is in memory; see spfe_host_complete.
  input told_t told_i,
  input logic told_valid_i,
  /// A queue has no room for a packet; see spfe_host_rx_move.
  input logic full_valid_i,
  output logic full_ready_o,
  /// This queue.
  input logic [QueueWidth-1:0] full_queue_i,
  /// Submissions that it has used.
  input logic [31:0] full_used_i,

  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// What is read.
  input read_t read_i,
  input logic read_valid_i,
  /// What is written.
  output logic [127:0] data_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// It is in memory.
  input logic done_i,
  /// The bus reported an error; with done_i.
  input logic done_error_i,

  /// Event vector to signal.
  output logic [15:0] event_o,
  output logic event_valid_o,
  input logic event_ready_i,
  /// For one cycle: the host of a queue was woken.
  output logic woken_o,
  /// This queue.
  output logic [QueueWidth-1:0] queue_o,
  /// For one cycle: the lines of queue_o cannot be used.
  output logic fault_o,
  /// The reason.
  output status_e fault_status_o
);

  line_e state_q;
  line_job_e job_q;
  logic [QueueWidth-1:0] queue_q, turn, scan_q, full_queue_q;
  logic [Queues-1:0] start_q, failed_q, dirty_q, urgent_q, timer_q, need_q, marked_q, pending;
  logic full_q, any, pick, scan, timer, woken, event_wanted_q, need_value_q, timer_next_q;
  logic [31:0] full_used_q;
  line_settings_t settings_in, settings;
  arming_t arming, arming_next;
  total_t total;
  logic save;

  for (genvar q = 0; q < Queues; q++) begin : gen_pending
    logic full;
    assign full = full_q && 32'(full_queue_q) == q;
    assign pending[q] = start_q[q] || (failed_i[q] && !failed_q[q])
        || (on_i[q] && (dirty_q[q] || need_i[q] != need_q[q] || full));
    assign busy_o[q] = (state_q != Rest && 32'(queue_q) == q) || start_q[q]
        || (failed_i[q] && !failed_q[q]) || (on_i[q] && full);
  end
  // While the word is written, neither value is known to be in memory.
  logic [Queues-1:0] unused_grant, need_writing;
  always_comb begin
    need_writing = '0;
    need_writing[queue_q] = state_q != Rest && job_q == JobNeed;
  end
  assign need_o = need_q & on_i & ~need_writing;
  assign full_ready_o = !full_q;
  assign queue_o = queue_q;

  spfe_arb_rr #(
    .Ports(Queues)
  ) i_turn (
    .clk_i,
    .rst_i,
    .request_i(pending),
    .used_i(state_q == Rest && !scan),
    .grant_o(unused_grant),
    .index_o(turn),
    .valid_o(any)
  );
  // Timers are looked at in turn, at least after each other job: there may always be one.
  assign timer = timer_q[scan_q] && on_i[scan_q];
  assign scan = timer && (!any || timer_next_q);
  assign pick = state_q == Rest && (any || scan);

  logic [QueueWidth-1:0] load_queue;
  logic [2:0] unused_corrected, unused_failed;
  assign load_queue = scan ? scan_q : turn;
  assign settings_in = '{domain: start_i.domain, vector: start_i.vector, lines: start_i.lines};
  spfe_ram_safe #(
    .Width($bits(line_settings_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_settings (
    .clk_i,
    .we_i(start_valid_i && !rst_i),
    .addr_i(start_queue_i),
    .data_i(settings_in),
    .rclk_i(clk_i),
    .re_i(pick),
    .raddr_i(load_queue),
    .data_o(settings),
    .corrected_o(unused_corrected[0]),
    .failed_o(unused_failed[0])
  );
  spfe_ram_safe #(
    .Width($bits(arming_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_arming (
    .clk_i,
    .we_i(save && !rst_i),
    .addr_i(queue_q),
    .data_i(job_q == JobStart ? '0 : arming_next),
    .rclk_i(clk_i),
    .re_i(pick),
    .raddr_i(load_queue),
    .data_o(arming),
    .corrected_o(unused_corrected[1]),
    .failed_o(unused_failed[1])
  );
  spfe_ram_safe #(
    .Width($bits(total_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_total (
    .clk_i,
    .we_i((start_valid_i || told_valid_i) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : told_i.index[QueueWidth-1:0]),
    .data_i(start_valid_i ? '0 : {told_i.position, told_i.bytes}),
    .rclk_i(clk_i),
    .re_i(state_q == Total && !told_valid_i),
    .raddr_i(queue_q),
    .data_o(total),
    .corrected_o(unused_corrected[2]),
    .failed_o(unused_failed[2])
  );

  // The condition of the host.
  logic [31:0] arm_q, flags_q, want_count_q, first_position_q;
  logic [63:0] want_bytes_q, after_q, waited;
  logic has_first, reached, enough, late, timed, met, looks;
  assign has_first = first_position_q != total.position && ahead(total.position, first_position_q);
  assign reached = (flags_q & ARM_FLAGS_COUNT) != '0 && ahead(total.position, want_count_q);
  assign enough = (flags_q & ARM_FLAGS_BYTES) != '0 && total.bytes >= want_bytes_q;
  assign timed = (flags_q & ARM_FLAGS_TIME) != '0 && has_first;
  assign waited = time_i - arming.first;
  assign late = timed && (arming.timed == arm_q ? waited >= after_q : after_q == '0);
  assign met = urgent_q[queue_q] || reached || enough || late || (marked_q[queue_q] && has_first);

  // The difference of two free-running positions is not negative.
  function automatic logic ahead(input logic [31:0] position, input logic [31:0] wanted);
    return $signed(position - wanted) >= 0;
  endfunction

  always_comb begin
    arming_next = arming;
    if (state_q == Judge) begin
      if (met) begin
        arming_next.answered = arm_q;
        arming_next.wakes = arming.wakes + 32'd1;
      end else if (timed && arming.timed != arm_q) begin
        arming_next.timed = arm_q;
        arming_next.first = time_i;
        arming_next.after = after_q[63:32] != '0 ? '1 : after_q[31:0];
      end
    end else begin
      arming_next.wakes = arming.wakes + 32'd1;
    end
  end
  assign save = state_q == Judge
      || (state_q == Choose && (job_q == JobFailed || job_q == JobStart));
  assign woken = state_q == Written && done_i && (job_q == JobWake || job_q == JobFailed);
  assign woken_o = woken;
  // Something has happened, or the time of the arming has come.
  assign looks = dirty_q[queue_q] || time_i - arming.first >= 64'(arming.after);

  // Reads and writes. Without an answer to its translation, a line cannot be used.
  logic lost;
  assign lost = request_ready_i && result_i.status != STATUS_OK;
  logic reads;
  logic [47:0] place;
  logic [31:0] wakes_q;
  assign reads = state_q == AskArm || state_q == AskWant;
  always_comb begin
    place = 48'd64;  // of the device line
    if (job_q == JobFull) place = 48'd64 + 48'(DEVICE_LINE_FULL_OFFSET);
    if (state_q == AskArm) place = 48'(HOST_LINE_ARM_OFFSET);
    if (state_q == AskWant) place = 48'(HOST_LINE_WANT_BYTES_OFFSET);
  end
  assign request_o = '{
      address: '{region: settings.lines.region, offset: settings.lines.offset + place},
      length: state_q == AskWant ? 48'd32 : !reads && job_q == JobFull ? 48'd8 : 48'd16,
      domain: settings.domain,
      write: !reads,
      check: 1'b0
    };
  assign request_valid_o = reads || state_q == AskWrite;
  logic failed;
  assign failed = failed_i[queue_q];
  always_comb begin
    data_o = {
      failed ? 32'(reason_i[queue_q]) : 32'd0,
      failed ? 32'(QUEUE_STATE_ERROR) : 32'(QUEUE_STATE_ENABLED),
      31'd0,
      job_q == JobNeed ? need_value_q : need_q[queue_q],
      wakes_q
    };
    if (job_q == JobStart) data_o = {32'd0, 32'(QUEUE_STATE_ENABLED), 32'd1, 32'd0};
    if (job_q == JobFull) data_o = {64'd0, full_used_q, total.position};
  end
  assign data_valid_o = state_q == Write;
  assign event_o = settings.vector;
  assign event_valid_o = state_q == Signal;
  // Without its lines a queue starts, and stops by itself.
  assign started_o = job_q == JobStart
      && ((state_q == Written && done_i) || (state_q == AskWrite && lost));

  logic fault_q;
  status_e fault_status_q;
  assign fault_o = fault_q && !failed;
  assign fault_status_o = fault_status_q;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        queue_q <= load_queue;
        if (scan || !timer) scan_q <= 32'(scan_q) == Queues - 1 ? '0 : scan_q + 1'b1;
        if (pick) timer_next_q <= !scan;
        job_q <= JobLook;
        if (any && !scan) begin
          need_value_q <= need_i[turn];
          if (start_q[turn]) job_q <= JobStart;
          else if (failed_i[turn] && !failed_q[turn]) job_q <= JobFailed;
          else if (need_i[turn] != need_q[turn]) job_q <= JobNeed;
          else if (full_q && full_queue_q == turn) job_q <= JobFull;
        end
        if (pick) state_q <= Choose;
      end
      Choose: begin
        wakes_q <= job_q == JobFailed ? arming.wakes + 32'd1 : arming.wakes;
        state_q <= job_q == JobFull ? Total : AskWrite;
        if (job_q == JobLook) state_q <= looks ? AskArm : Rest;
      end
      AskArm: if (request_ready_i) state_q <= lost ? Rest : Arm;
      Arm: begin
        arm_q <= read_i.data[31:0];
        flags_q <= read_i.data[63:32];
        want_count_q <= read_i.data[95:64];
        if (read_valid_i) begin
          state_q <= AskWant;
          if (read_i.data[31:0] == '0 || read_i.data[31:0] == arming.answered || read_i.error)
            state_q <= Rest;
        end
      end
      AskWant: if (request_ready_i) state_q <= lost ? Rest : Want;
      Want:
      if (read_valid_i) begin
        if (read_i.last) first_position_q <= read_i.data[31:0];
        else {after_q, want_bytes_q} <= read_i.data;
        if (read_i.last) state_q <= read_i.error ? Rest : Total;
      end
      Total: if (!told_valid_i) state_q <= job_q == JobFull ? AskWrite : Judge;
      Judge: begin
        wakes_q <= arming.wakes + 32'd1;
        event_wanted_q <= (flags_q & ARM_FLAGS_EVENT) != '0;
        job_q <= met ? JobWake : JobLook;
        state_q <= met ? AskWrite : Rest;
      end
      AskWrite: if (request_ready_i) state_q <= lost ? Rest : Write;
      Write: if (data_ready_i) state_q <= Written;
      Written:
      if (done_i) begin
        state_q <= woken && (event_wanted_q || job_q == JobFailed) ? Signal : Rest;
      end
      default: if (event_ready_i) state_q <= Rest;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      queue_q <= '0;
      scan_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    fault_q <= 1'b0;
    fault_status_q <= result_i.status;
    if (lost || (read_valid_i && read_i.last && read_i.error) || (done_i && done_error_i)) begin
      fault_q <= 1'b1;
      if (!lost) fault_status_q <= STATUS_ACCESS_DENIED;
    end
    if (full_valid_i && full_ready_o) begin
      full_q <= 1'b1;
      full_queue_q <= full_queue_i;
      full_used_q <= full_used_i;
    end else if ((state_q == Written && done_i && job_q == JobFull) || !on_i[full_queue_q]) begin
      full_q <= 1'b0;
    end
    if (rst_i) begin
      full_q <= 1'b0;
      fault_q <= 1'b0;
    end
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic mine, told;
    assign mine = 32'(queue_q) == q;
    assign told = told_valid_i && 32'(told_i.index) == q;
    always_ff @(posedge clk_i) begin
      if (mine && state_q == Choose && job_q == JobLook && looks) begin
        dirty_q[q] <= 1'b0;
        timer_q[q] <= 1'b0;
      end
      if (mine && state_q == Judge) begin
        urgent_q[q] <= urgent_q[q] && !met;
        marked_q[q] <= 1'b0;
        timer_q[q] <= timed && !met;
      end
      if (mine && state_q == Choose && job_q == JobNeed) need_q[q] <= need_value_q;
      if (mine && state_q == Choose && job_q == JobStart) need_q[q] <= 1'b1;
      if (mine && state_q == Written && done_i && job_q == JobFull) begin
        marked_q[q] <= 1'b1;
        dirty_q[q] <= 1'b1;
      end
      if (told) dirty_q[q] <= 1'b1;
      if (told && told_i.urgent) urgent_q[q] <= 1'b1;
      if (armed_i[q]) dirty_q[q] <= 1'b1;
      if (mine && state_q == Choose && job_q == JobStart) start_q[q] <= 1'b0;
      if (mine && state_q == Choose && job_q == JobFailed) failed_q[q] <= 1'b1;
      if (!failed_i[q]) failed_q[q] <= 1'b0;
      if (start_valid_i && 32'(start_queue_i) == q) begin
        start_q[q] <= 1'b1;
        dirty_q[q] <= 1'b0;
        urgent_q[q] <= 1'b0;
        timer_q[q] <= 1'b0;
        marked_q[q] <= 1'b0;
        need_q[q] <= 1'b1;
      end
      if (rst_i) begin
        start_q[q] <= 1'b0;
        failed_q[q] <= 1'b0;
        need_q[q] <= 1'b1;
      end
    end
  end

  logic unused;
  assign unused = ^{unused_corrected, unused_failed, unused_grant, result_i, start_i};
endmodule
