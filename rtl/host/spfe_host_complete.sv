// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Writes completions into the rings of all queues of an engine. A job that is taken here begins
/// after all writes that had begun before it are answered: the bytes that it reports, and its time.
/// Several completions are under way; they are told in order.
module spfe_host_complete
  import spfe_pkg::*;
  import spfe_host_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Virtual channels of a port: queue q belongs to channel FirstVc + q mod Vcs.
  parameter int unsigned Vcs = 4,
  /// As above.
  parameter int unsigned FirstVc = 0,
  /// From this queue on, each belongs to channel 0 of a port of its own.
  parameter int unsigned Single = 1 << 16,
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
  /// Queues that work; jobs of the others are dropped.
  input logic [Queues-1:0] on_i,
  /// Device time, ns.
  input logic [63:0] time_i,

  /// Completion to write.
  input job_t job_i,
  input logic job_valid_i,
  output logic job_ready_o,
  /// Buffers of the job's queue whose bytes did not get into memory.
  input logic [15:0] bad_i,
  /// Those of them whose region has gone.
  input logic [15:0] lost_i,
  /// Queue whose buffer was told as bad; with take_bad_o.
  output logic [QueueWidth-1:0] bad_queue_o,
  /// This buffer.
  output logic [3:0] bad_buffer_o,
  /// For one cycle.
  output logic take_bad_o,

  /// Accesses for times (0) and completions (1); see spfe_host_access.
  output access_t [1:0] request_o,
  output logic [1:0] request_valid_o,
  input logic [1:0] request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// What is written.
  output logic [1:0][127:0] data_o,
  output logic [1:0] data_valid_o,
  input logic [1:0] data_ready_i,
  /// The oldest of them is in memory.
  input logic [1:0] done_i,
  /// The bus reported an error; with done_i.
  input logic error_i,
  /// Writes that have begun.
  input logic [15:0] begun_i,
  /// Writes that are answered.
  input logic [15:0] answered_i,

  /// For one cycle: a completion is in memory.
  output told_t told_o,
  output logic told_valid_o,
  /// Queues with a completion that is not in memory yet.
  output logic [Queues-1:0] busy_o,
  /// For one cycle: the ring or the times of a queue cannot be written.
  output logic fault_o,
  /// This queue.
  output logic [QueueWidth-1:0] fault_queue_o,
  /// The reason.
  output status_e fault_status_o
);
  typedef struct packed {
    logic [15:0] domain;
    logic stamp;
    logic [3:0] log2;
    address_t stamps;
    address_t base;
  } settings_t;
  typedef struct packed {
    logic [31:0] position;
    logic [63:0] bytes;
  } total_t;
  typedef struct packed {
    job_t job;
    settings_t settings;
    total_t total;  // position of the completion, bytes up to it
    logic [15:0] after;
  } stamped_t;

  // Jobs. The first stage gives a job its position and its time.
  typedef enum logic [2:0] {
    Rest,
    Load,
    Stamp,
    StampData,
    Pass
  } first_e;
  first_e first_q;
  job_t job;
  logic job_valid, job_taken;
  logic [1:0] unused_count;
  logic [2:0] unused_full;
  spfe_fifo #(
    .Width($bits(job_t)),
    .Depth(2)
  ) i_jobs (
    .clk_i,
    .rst_i,
    .data_i(job_i),
    .valid_i(job_valid_i),
    .ready_o(job_ready_o),
    .data_o(job),
    .valid_o(job_valid),
    .ready_i(job_taken),
    .count_o(unused_count),
    .almost_full_o(unused_full[0])
  );

  settings_t settings_in, settings;
  total_t total, next_total;
  logic [1:0] unused_corrected, failed;
  logic [QueueWidth-1:0] owner;
  logic load, on;
  assign owner = job.index[QueueWidth-1:0];
  assign on = on_i[owner];
  assign load = first_q == Rest && job_valid;
  assign settings_in = '{
      domain: start_i.domain,
      stamp: start_i.stamp,
      log2: start_i.cq_log2,
      stamps: start_i.stamps,
      base: start_i.cq
    };
  spfe_ram_safe #(
    .Width($bits(settings_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_settings (
    .clk_i,
    .we_i(start_valid_i && !rst_i),
    .addr_i(start_queue_i),
    .data_i(settings_in),
    .rclk_i(clk_i),
    .re_i(load),
    .raddr_i(owner),
    .data_o(settings),
    .corrected_o(unused_corrected[0]),
    .failed_o(failed[0])
  );
  spfe_ram_safe #(
    .Width($bits(total_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_total (
    .clk_i,
    .we_i((start_valid_i || (job_taken && on)) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : owner),
    .data_i(start_valid_i ? '0 : next_total),
    .rclk_i(clk_i),
    .re_i(load),
    .raddr_i(owner),
    .data_o(total),
    .corrected_o(unused_corrected[1]),
    .failed_o(failed[1])
  );
  assign next_total = '{
      position: total.position + 32'd1,
      bytes:
      total.bytes
      + (
      job.status == STATUS_OK || job.status == STATUS_PACKET_CUT ? 64'(job.bytes) : '0
      )
    };

  stamped_t stamped_in, stamped;
  logic stamped_room, stamped_valid, stamped_taken;
  logic [2:0] unused_stamped;
  logic broken_q;
  logic [63:0] time_q;
  logic [15:0] after_q;
  status_e reason_q;
  assign stamped_in = '{
      job: job,
      settings: settings,
      total: '{position: total.position, bytes: next_total.bytes},
      after: after_q
    };
  assign job_taken = (first_q == Pass && (stamped_room || !on || broken_q)) && !start_valid_i;
  spfe_fifo #(
    .Width($bits(stamped_t)),
    .Depth(4)
  ) i_stamped (
    .clk_i,
    .rst_i,
    .data_i(stamped_in),
    .valid_i(first_q == Pass && on && !broken_q && !start_valid_i && stamped_room),
    .ready_o(stamped_room),
    .data_o(stamped),
    .valid_o(stamped_valid),
    .ready_i(stamped_taken),
    .count_o(unused_stamped),
    .almost_full_o(unused_full[1])
  );

  assign request_o[0] = '{
      address: '{
        region: settings.stamps.region,
        offset: settings.stamps.offset + (ring_offset(total.position, settings.log2) >> 1)
      },
      length: 48'd8,
      domain: settings.domain,
      write: 1'b1,
      check: 1'b0
    };
  assign request_valid_o[0] = first_q == Stamp;
  assign data_o[0] = 128'(time_q);
  assign data_valid_o[0] = first_q == StampData;
  always_ff @(posedge clk_i) begin
    if (first_q != Pass) after_q <= begun_i;
    unique case (first_q)
      Rest: begin
        broken_q <= 1'b0;
        if (job_valid) first_q <= Load;
      end
      Load: begin
        time_q <= time_i;
        broken_q <= failed != '0;
        reason_q <= STATUS_ACCESS_DENIED;
        first_q <= on && settings.stamp && failed == '0 ? Stamp : Pass;
      end
      Stamp:
      if (request_ready_i[0]) begin
        broken_q <= result_i.status != STATUS_OK;
        reason_q <= result_i.status;
        first_q <= result_i.status == STATUS_OK ? StampData : Pass;
      end
      StampData: if (data_ready_i[0]) first_q <= Pass;
      default: if (job_taken) first_q <= Rest;
    endcase
    if (rst_i) first_q <= Rest;
  end

  // The second stage writes it, once what it waits for is answered.
  typedef enum logic [1:0] {
    Wait,
    Ask,
    Data
  } second_e;
  second_e second_q;
  logic [QueueWidth-1:0] second_queue;
  logic [15:0] behind;
  logic second_on, bad, refused;
  logic [7:0] vc;
  completion_t completion;
  status_e why;
  told_t told_in, told;
  logic told_room, unused_told;
  logic [4:0] unused_told_count;
  assign behind = answered_i - stamped.after;
  assign second_queue = stamped.job.index[QueueWidth-1:0];
  assign second_on = on_i[second_queue];
  assign bad_queue_o = second_queue;
  assign bad_buffer_o = stamped.job.buffer;
  assign bad = bad_i[stamped.job.buffer];
  assign why = lost_i[stamped.job.buffer] ? STATUS_BAD_REGION : STATUS_ACCESS_DENIED;
  assign take_bad_o = stamped_taken && bad;
  assign refused = second_q == Ask && request_ready_i[1] && result_i.status != STATUS_OK;
  assign stamped_taken = (second_q == Wait && stamped_valid && !second_on) || refused
      || (second_q == Data && data_ready_i[1]);
  assign vc = 32'(stamped.job.index) + 1 <= Single ? 8'(stamped.job.index % 16'(Vcs)) : '0;
  assign completion = '{
      phase: phase_of(stamped.total.position, stamped.settings.log2),
      flags: stamped.job.flags | (stamped.settings.stamp ? COMPLETION_FLAGS_STAMPED : '0),
      reserved0: '0,
      position: stamped.job.position,
      status: bad && stamped.job.status == STATUS_OK ? why : stamped.job.status,
      vc: 8'(FirstVc) + vc,
      packets: stamped.job.packets,
      bytes: stamped.job.bytes
    };
  assign request_o[1] = '{
      address: '{
        region: stamped.settings.base.region,
        offset:
        stamped.settings.base.offset
        +
        ring_offset
        (
          stamped.total.position, stamped.settings.log2
        )
      },
      length: 48'd16,
      domain: stamped.settings.domain,
      write: 1'b1,
      check: 1'b0
    };
  assign request_valid_o[1] = second_q == Ask;
  assign data_o[1] = completion;
  assign data_valid_o[1] = second_q == Data;

  assign told_in = '{
      index: 16'(second_queue),
      position: stamped.total.position + 32'd1,
      bytes: stamped.total.bytes,
      urgent: stamped.job.urgent || bad
    };
  spfe_fifo #(
    .Width($bits(told_t)),
    .Depth(16)
  ) i_told (
    .clk_i,
    .rst_i,
    .data_i(told_in),
    .valid_i(second_q == Data && data_ready_i[1]),
    .ready_o(told_room),
    .data_o(told),
    .valid_o(unused_told),
    .ready_i(done_i[1]),
    .count_o(unused_told_count),
    .almost_full_o(unused_full[2])
  );
  always_ff @(posedge clk_i) begin
    unique case (second_q)
      Wait: if (stamped_valid && second_on && told_room && !behind[15]) second_q <= Ask;
      Ask: if (request_ready_i[1]) second_q <= result_i.status == STATUS_OK ? Data : Wait;
      default: if (data_ready_i[1]) second_q <= Wait;
    endcase
    if (rst_i) second_q <= Wait;
  end

  assign told_valid_o = done_i[1] && !error_i;
  assign told_o = told;

  // One fault in a cycle is enough: the queue stops, or has stopped.
  logic stamp_fault;
  assign stamp_fault = first_q == Pass && broken_q && job_taken;
  assign fault_o = stamp_fault || refused || (done_i[1] && error_i);
  always_comb begin
    fault_queue_o = told.index[QueueWidth-1:0];
    fault_status_o = STATUS_ACCESS_DENIED;
    if (refused) begin
      fault_queue_o = second_queue;
      fault_status_o = result_i.status;
    end
    if (stamp_fault) begin
      fault_queue_o = owner;
      fault_status_o = reason_q;
    end
  end

  // Completions of each queue on their way.
  for (genvar q = 0; q < Queues; q++) begin : gen_busy
    logic [5:0] count_q;
    logic comes, drops, passes, goes;
    assign comes = job_valid_i && job_ready_o && 32'(job_i.index) == q;
    assign drops = job_taken && (!on || broken_q) && 32'(owner) == q;
    assign passes = stamped_taken && second_q != Data && 32'(second_queue) == q;
    assign goes = done_i[1] && 32'(told.index) == q;
    assign busy_o[q] = count_q != '0;
    always_ff @(posedge clk_i) begin
      count_q <= count_q + 6'(comes) - 6'(drops) - 6'(passes) - 6'(goes);
      if (rst_i) count_q <= '0;
    end
  end

  logic unused;
  assign unused = ^{
    unused_count, unused_full, unused_stamped, unused_told_count, unused_told, unused_corrected,
    start_i, done_i[0], behind, bad_i, lost_i, stamped.settings.stamps, result_i
  };
endmodule
