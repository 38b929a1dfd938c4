// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Counts what transmit queues have sent, and makes their completions: for a submission that asks
/// for one, for each that failed, behind the earlier successes, and before a count overflows.
module spfe_host_tx_tell
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_tx_pkg::*;
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
  /// Queue that starts.
  input logic [QueueWidth-1:0] start_queue_i,
  /// For one cycle.
  input logic start_valid_i,
  /// What became of a part.
  input note_t note_i,
  input logic note_valid_i,
  output logic note_ready_o,
  /// For one cycle: a note is done with.
  output logic done_o,
  /// It was of this queue.
  output logic [QueueWidth-1:0] done_queue_o,
  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i,
  /// Counts.
  output statistics_t statistics_o,
  output logic statistics_valid_o
);
  typedef enum logic [2:0] {
    Rest,
    Load,
    Earlier,
    Add,
    This,
    Store
  } state_e;
  typedef struct packed {
    logic [15:0] packets;  // that are not reported
    logic [31:0] bytes;  // of them
    logic [31:0] piece;  // of the piece that is under way
  } count_t;

  state_e state_q;
  note_t note;
  logic note_valid, wrong, earlier, full, tells;
  logic [2:0] unused_count;
  logic unused_full, unused_corrected, unused_failed;
  count_t count, count_q, sum;

  spfe_fifo #(
    .Width($bits(note_t)),
    .Depth(4)
  ) i_notes (
    .clk_i,
    .rst_i,
    .data_i(note_i),
    .valid_i(note_valid_i),
    .ready_o(note_ready_o),
    .data_o(note),
    .valid_o(note_valid),
    .ready_i(done_o),
    .count_o(unused_count),
    .almost_full_o(unused_full)
  );
  spfe_ram_safe #(
    .Width($bits(count_t)),
    .Depth(Queues),
    .Block(1'b0),
    .Protect(Protect)
  ) i_counts (
    .clk_i,
    .we_i((start_valid_i || state_q == Store) && !rst_i),
    .addr_i(start_valid_i ? start_queue_i : done_queue_o),
    .data_i(start_valid_i ? '0 : count_q),
    .rclk_i(clk_i),
    .re_i(state_q == Rest && note_valid),
    .raddr_i(done_queue_o),
    .data_o(count),
    .corrected_o(unused_corrected),
    .failed_o(unused_failed)
  );
  assign done_queue_o = note.index[QueueWidth-1:0];
  assign done_o = state_q == Store && !start_valid_i;
  assign wrong = note.status != STATUS_OK;

  // Counts with this part.
  always_comb begin
    sum = count_q;
    sum.piece = count_q.piece + 32'(note.bytes);
    if (note.ends || note.last) begin
      sum.packets = count_q.packets + 16'(note.ends);
      sum.bytes = count_q.bytes + sum.piece;
      sum.piece = '0;
    end
  end
  assign full = count_q.packets >= 16'hF000 || count_q.bytes > 32'h8000_0000;
  assign tells = wrong ? note.last && !note.cut : note.last && (note.signals || full);

  always_comb begin
    job_o = '{
      index: 16'(note.index),
      flags: '0,
      position: note.position,
      status: STATUS_OK,
      packets: count_q.packets,
      bytes: count_q.bytes,
      urgent: 1'b0,
      buffer: '0
    };
    if (state_q == Earlier) job_o.position = note.prior;
    if (state_q == This && wrong) begin
      job_o.status = note.status;
      job_o.urgent = 1'b1;
    end
  end
  // A failed part that is not the last of its submission tells nothing yet.
  assign job_valid_o = (state_q == Earlier && earlier) || (state_q == This && tells);
  assign earlier = (note.report || (wrong && note.last && !note.burst && !note.cut))
      && (count_q.packets != '0 || count_q.bytes != '0);

  assign statistics_o = '{
      index: 16'(note.index),
      packets: wrong ? '0 : 16'(note.ends),
      bytes: wrong ? '0 : 32'(note.bytes),
      error: wrong && note.last && !note.cut,
      stall: 1'b0,
      wake: 1'b0,
      dropped: 1'b0
    };
  assign statistics_valid_o = done_o;

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: if (note_valid) state_q <= Load;
      Load: begin
        count_q <= count;
        state_q <= Earlier;
      end
      Earlier:
      if (!earlier || job_ready_i) begin
        state_q <= Add;
        if (earlier) count_q <= '0;
      end
      Add: begin
        if (wrong) count_q.piece <= '0;
        else count_q <= sum;
        state_q <= This;
      end
      This:
      if (!tells || job_ready_i) begin
        state_q <= Store;
        if (tells) count_q <= '0;
      end
      default: if (!start_valid_i) state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end
endmodule
