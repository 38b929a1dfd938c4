// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reads the submission rings of all queues of an engine into a buffer of 32 entries for each. One
/// access reads up to 16 entries. Of what it reads, those up to the first without the phase of its
/// position count. An access that began when the host had to ring, and found nothing, ends the
/// search until the doorbell.
module spfe_host_ring
  import spfe_pkg::*;
  import spfe_host_pkg::*;
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
  /// Settings of a queue that starts with position 0.
  input queue_context_t start_i,
  /// This queue.
  input logic [QueueWidth-1:0] start_queue_i,
  /// For one cycle, while it is off.
  input logic start_valid_i,
  /// Queues that work; the others have no entries.
  input logic [Queues-1:0] on_i,
  /// Queues that are to stop: no access begins.
  input logic [Queues-1:0] halt_i,
  /// Queues to look at: their doorbell rang.
  input logic [Queues-1:0] rung_i,
  /// Queues whose ring is being read.
  output logic [Queues-1:0] busy_o,

  /// Queues whose host has to ring.
  output logic [Queues-1:0] need_o,
  /// Those for which this is in memory.
  input logic [Queues-1:0] need_i,

  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// Its bytes.
  input read_t read_i,
  input logic read_valid_i,

  /// For one cycle: the ring of a queue cannot be read.
  output logic fault_o,
  /// This one.
  output logic [QueueWidth-1:0] fault_queue_o,
  /// The reason.
  output status_e fault_status_o,

  /// For one cycle: level and dry of a queue are those of a new access.
  output logic [Queues-1:0] fetched_o,
  /// Entries of each queue in the buffer.
  output logic [Queues-1:0][5:0] level_o,
  /// The search behind them began after they were found, and found nothing.
  output logic [Queues-1:0] dry_o,
  /// Queues that need entries behind these, up to ChainMax in all.
  input logic [Queues-1:0] wants_i,
  /// Queue whose entry is read.
  input logic [QueueWidth-1:0] peek_queue_i,
  /// Place of the entry behind the oldest one, below the level.
  input logic [4:0] peek_ahead_i,
  /// Starts the read.
  input logic peek_i,
  /// The entry, a cycle after peek_i; all zero if the memory of the buffer failed.
  output submission_t entry_o,
  /// Queue that gives up its oldest entries.
  input logic [QueueWidth-1:0] pop_queue_i,
  /// Their number, at most the level; 0: none.
  input logic [4:0] pop_count_i
);
  typedef enum logic [2:0] {
    Rest,
    Load,
    Ask,
    Data,
    Store
  } state_e;

  typedef struct packed {
    logic [15:0] domain;
    logic [3:0] log2;
    address_t base;
  } settings_t;

  state_e state_q;
  logic [QueueWidth-1:0] queue_q, turn;
  logic [Queues-1:0] fetched_q, look_q, waits_q, hot_q, dry_q, need_q, candidates;
  logic [Queues-1:0][5:0] level_q;
  logic [Queues-1:0][4:0] head_q;
  logic any, asleep_q;

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    assign candidates[q] = on_i[q] && !halt_i[q]
        && (level_q[q] <= 6'd16 || (wants_i[q] && level_q[q] < 6'(ChainMax)))
        && (look_q[q] || (waits_q[q] && need_i[q]));
    assign fetched_o[q] = fetched_q[q];
    assign busy_o[q] = state_q != Rest && 32'(queue_q) == q;
  end
  assign level_o = level_q;
  assign dry_o = dry_q;
  assign need_o = need_q;

  logic [Queues-1:0] unused_grant;
  spfe_arb_rr #(
    .Ports(Queues)
  ) i_turn (
    .clk_i,
    .rst_i,
    .request_i(candidates),
    .used_i(state_q == Rest),
    .grant_o(unused_grant),
    .index_o(turn),
    .valid_o(any)
  );

  // Settings and position of the queue.
  settings_t settings_in, settings;
  logic [31:0] position;
  logic [3:0] failed;
  logic [3:0] unused_corrected;
  assign settings_in = '{domain: start_i.domain, log2: start_i.sq_log2, base: start_i.sq};
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
    .re_i(state_q == Rest && any),
    .raddr_i(turn),
    .data_o(settings),
    .corrected_o(unused_corrected[0]),
    .failed_o(failed[0])
  );
  logic store;
  logic [31:0] next_position;
  spfe_ram_safe #(
    .Width(32),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_position (
    .clk_i,
    .we_i((store || start_valid_i) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : queue_q),
    .data_i(start_valid_i ? '0 : next_position),
    .rclk_i(clk_i),
    .re_i(state_q == Rest && any),
    .raddr_i(turn),
    .data_o(position),
    .corrected_o(unused_corrected[1]),
    .failed_o(failed[1])
  );

  // The first access after a pause reads to the end of a cache line, later ones more.
  logic [4:0] room, most, asked_q, found_q, beats_q;
  logic [15:0] to_end;
  logic valid_entry, prefix_q, broken_q;
  submission_t entry;
  logic [127:0] read;
  assign to_end = (16'd1 << settings.log2) - (position[15:0] & ((16'd1 << settings.log2) - 16'd1));
  assign room = level_q[queue_q] <= 6'd16 ? 5'd16 : 5'd8;
  always_comb begin
    most = 5'd4 - 5'(position[1:0]);
    if (hot_q[queue_q]) most = to_end < 16'(room) ? to_end[4:0] : room;
  end
  assign request_o = '{
      address: '{
        region: settings.base.region,
        offset: settings.base.offset + ring_offset(position, settings.log2)
      },
      length: 48'({most, 4'd0}),
      domain: settings.domain,
      write: 1'b0,
      check: 1'b0
    };
  assign request_valid_o = state_q == Ask && !broken_q;

  assign entry = submission_t'(read_i.data);
  assign valid_entry = prefix_q && entry.phase == phase_of(position + 32'(beats_q), settings.log2);
  assign next_position = position + 32'(found_q);
  assign store = state_q == Store && !start_valid_i;

  spfe_ram_safe #(
    .Width(128),
    .Depth(32 * Queues),
    .Protect(Protect)
  ) i_entries (
    .clk_i,
    .we_i(state_q == Data && read_valid_i && valid_entry && !rst_i),
    .addr_i({queue_q, head_q[queue_q] + level_q[queue_q][4:0] + beats_q}),
    .data_i(read_i.data),
    .rclk_i(clk_i),
    .re_i(peek_i),
    .raddr_i({peek_queue_i, head_q[peek_queue_i] + peek_ahead_i}),
    .data_o(read),
    .corrected_o(unused_corrected[2]),
    .failed_o(failed[2])
  );
  assign entry_o = failed[2] ? '0 : submission_t'(read);
  assign failed[3] = 1'b0;
  assign unused_corrected[3] = 1'b0;

  assign fault_queue_o = queue_q;
  logic fault_q;
  status_e status_q;
  assign fault_o = fault_q;
  assign fault_status_o = status_q;

  always_ff @(posedge clk_i) begin
    fault_q <= 1'b0;
    unique case (state_q)
      Rest: begin
        queue_q <= turn;
        asleep_q <= need_i[turn] && need_q[turn];
        broken_q <= 1'b0;
        if (any) state_q <= Load;
      end
      Load: begin
        broken_q <= failed[0] || failed[1];
        state_q <= Ask;
      end
      Ask: begin
        found_q <= '0;
        beats_q <= '0;
        prefix_q <= 1'b1;
        asked_q <= result_i.bytes[8:4];
        status_q <= broken_q ? STATUS_ACCESS_DENIED : result_i.status;
        if (broken_q || request_ready_i) begin
          fault_q <= broken_q || result_i.status != STATUS_OK;
          state_q <= broken_q || result_i.status != STATUS_OK ? Rest : Data;
        end
      end
      Data:
      if (read_valid_i) begin
        beats_q <= beats_q + 5'd1;
        prefix_q <= valid_entry;
        if (valid_entry) found_q <= found_q + 5'd1;
        if (read_i.last) begin
          status_q <= STATUS_ACCESS_DENIED;
          fault_q <= read_i.error;
          state_q <= read_i.error ? Rest : Store;
        end
      end
      default: if (!start_valid_i) state_q <= Rest;
    endcase
    if (rst_i) begin
      state_q <= Rest;
      fault_q <= 1'b0;
    end
  end

  // What is known of each queue.
  for (genvar q = 0; q < Queues; q++) begin : gen_known
    logic mine, popped;
    assign mine = 32'(queue_q) == q;
    assign popped = 32'(pop_queue_i) == q;
    always_ff @(posedge clk_i) begin
      if (state_q == Rest && any && 32'(turn) == q) begin
        look_q[q] <= 1'b0;
        waits_q[q] <= 1'b0;
      end
      if (store && mine) begin
        dry_q[q] <= found_q == '0;
        hot_q[q] <= found_q == asked_q;
        need_q[q] <= found_q == '0;
        if (found_q != '0) look_q[q] <= 1'b1;
        else waits_q[q] <= !asleep_q;
      end
      fetched_q[q] <= store && mine;
      if (rung_i[q]) look_q[q] <= 1'b1;
      level_q[q] <= level_q[q] + (store && mine ? 6'(found_q) : '0)
          - (popped ? 6'(pop_count_i) : '0);
      if (popped) head_q[q] <= head_q[q] + pop_count_i;
      if (start_valid_i && 32'(start_queue_i) == q) begin
        look_q[q] <= 1'b1;
        need_q[q] <= 1'b1;
      end
      if (rst_i || !on_i[q]) begin
        waits_q[q] <= 1'b0;
        hot_q[q] <= 1'b0;
        dry_q[q] <= 1'b0;
        level_q[q] <= '0;
        head_q[q] <= '0;
      end
    end
  end

  logic unused;
  assign unused = ^{unused_grant, unused_corrected, failed[3], entry, result_i, start_i};
endmodule
