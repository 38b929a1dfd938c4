// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Takes the next entry of each posted receive queue and checks it, so that its buffer is at hand
/// when the one before is full.
module spfe_host_rx_take
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_rx_pkg::*;
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
  /// For one cycle, while it is off.
  input logic start_valid_i,
  /// Posted queues that work.
  input logic [Queues-1:0] on_i,
  /// Queues whose entry is being checked.
  output logic [Queues-1:0] busy_o,
  /// Queues with entries.
  input logic [Queues-1:0] level_i,
  /// The ring is free for a read by this module.
  input logic peek_ready_i,
  /// Queue whose oldest entry is read.
  output logic [QueueWidth-1:0] queue_o,
  /// Starts the read.
  output logic peek_o,
  /// The entry, a cycle later and until the next read.
  input submission_t entry_i,
  /// For one cycle: it is used.
  output logic pop_o,
  input logic pop_ready_i,
  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// Queues whose next buffer is at hand.
  output logic [Queues-1:0] ready_o,
  /// Those of them whose entry is wrong.
  output logic [Queues-1:0] wrong_o,
  /// Queue whose buffer is read.
  input logic [QueueWidth-1:0] read_queue_i,
  /// Starts the read.
  input logic read_i,
  /// The buffer, a cycle later.
  output buffer_t buffer_o,
  /// For one cycle: the buffer of read_queue_i is taken.
  input logic take_i
);
  typedef enum logic [2:0] {
    Rest,
    Peek,
    Look,
    Check,
    Store
  } state_e;
  state_e state_q;
  logic [QueueWidth-1:0] queue_q, turn;
  logic [Queues-1:0] candidates, ready_q, wrong_q, unused_grant;
  logic any, store;
  logic [15:0] domain, position;
  submission_t entry_q;
  status_e verdict, status_q;
  buffer_t buffer_in;
  logic [2:0] unused_corrected, unused_failed;

  assign candidates = on_i & ~ready_q & level_i;
  assign ready_o = ready_q;
  assign wrong_o = wrong_q;
  assign queue_o = queue_q;
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
  spfe_ram_safe #(
    .Width(16),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_domains (
    .clk_i,
    .we_i(start_valid_i && !rst_i),
    .addr_i(start_queue_i),
    .data_i(start_i.domain),
    .rclk_i(clk_i),
    .re_i(state_q == Rest && any),
    .raddr_i(turn),
    .data_o(domain),
    .corrected_o(unused_corrected[0]),
    .failed_o(unused_failed[0])
  );
  assign store = state_q == Store && !start_valid_i && pop_ready_i;
  spfe_ram_safe #(
    .Width(16),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_positions (
    .clk_i,
    .we_i((start_valid_i || store) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : queue_q),
    .data_i(start_valid_i ? '0 : position + 16'd1),
    .rclk_i(clk_i),
    .re_i(state_q == Rest && any),
    .raddr_i(turn),
    .data_o(position),
    .corrected_o(unused_corrected[1]),
    .failed_o(unused_failed[1])
  );
  assign buffer_in = '{
      address: '{region: entry_q.region, offset: entry_q.offset},
      length: entry_q.length,
      position: position,
      status: status_q
    };
  spfe_ram_safe #(
    .Width($bits(buffer_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_buffers (
    .clk_i,
    .we_i(store && !rst_i),
    .addr_i(queue_q),
    .data_i(buffer_in),
    .rclk_i(clk_i),
    .re_i(read_i),
    .raddr_i(read_queue_i),
    .data_o(buffer_o),
    .corrected_o(unused_corrected[2]),
    .failed_o(unused_failed[2])
  );

  always_comb begin
    verdict = STATUS_OK;
    if (entry_i.flags[3:0] != 4'(ENTRY_TYPE_BUFFER)) verdict = STATUS_BAD_OPCODE;
    else if ((entry_i.flags & SUBMIT_FLAGS_MBZ_MASK) != '0) verdict = STATUS_BAD_FIELD;
    else if (entry_i.length == '0) verdict = STATUS_EMPTY;
    else if (entry_i.length > PACKET_MAX_BYTES) verdict = STATUS_TOO_LONG;
  end
  assign request_o = '{
      address: '{region: entry_q.region, offset: entry_q.offset},
      length: 48'(entry_q.length),
      domain: domain,
      write: 1'b1,
      check: 1'b1
    };
  assign request_valid_o = state_q == Check;
  assign peek_o = state_q == Peek && peek_ready_i;
  assign pop_o = state_q == Store && !start_valid_i;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        queue_q <= turn;
        if (any) state_q <= Peek;
      end
      Peek: if (peek_ready_i) state_q <= Look;
      Look: begin
        entry_q <= entry_i;
        status_q <= verdict;
        state_q <= verdict == STATUS_OK ? Check : Store;
      end
      Check:
      if (request_ready_i) begin
        status_q <= result_i.status;
        state_q <= Store;
      end
      default: if (store) state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    assign busy_o[q] = state_q != Rest && 32'(queue_q) == q;
    always_ff @(posedge clk_i) begin
      if (take_i && 32'(read_queue_i) == q) ready_q[q] <= 1'b0;
      if (store && 32'(queue_q) == q) begin
        ready_q[q] <= 1'b1;
        wrong_q[q] <= status_q != STATUS_OK;
      end
      if (rst_i || (start_valid_i && 32'(start_queue_i) == q)) ready_q[q] <= 1'b0;
    end
  end

  logic unused;
  assign unused = ^{unused_grant, unused_corrected, unused_failed, result_i, start_i, entry_q,
      entry_i.phase};
endmodule
