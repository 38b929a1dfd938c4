// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Writes the pieces of a receive engine and hands on their completions. The access of a piece
/// begins when the bytes of the one before are nearly written, so that times and completions come
/// in between. Bytes that cannot be written are dropped, and their buffer is noted.
module spfe_host_rx_write
  import spfe_pkg::*;
  import spfe_host_pkg::*;
  import spfe_host_rx_pkg::*;
#(
  /// Queues, 2 or more.
  parameter int unsigned Queues = 4,
  /// Beats of 16 bytes that wait, a power of two.
  parameter int unsigned Beats = 128,
  /// Bits of a queue's number; follows from Queues.
  localparam int unsigned QueueWidth = $clog2(Queues)
) (
  input logic clk_i,
  input logic rst_i,
  /// For one cycle: a queue starts.
  input logic [Queues-1:0] start_i,
  /// Bytes of the pieces, in beats.
  input logic [127:0] beat_i,
  input logic beat_valid_i,
  /// Beats that wait.
  output logic [$clog2(Beats+1)-1:0] beats_o,
  /// A piece, behind its bytes.
  input piece_t piece_i,
  input logic piece_valid_i,
  output logic piece_ready_o,
  /// Access to memory; see spfe_host_access.
  output access_t request_o,
  output logic request_valid_o,
  input logic request_ready_i,
  /// With request_ready_i.
  input translation_t result_i,
  /// What is written.
  output logic [127:0] data_o,
  output logic data_valid_o,
  input logic data_ready_i,
  /// The oldest piece is in memory.
  input logic done_i,
  /// The bus reported an error; with done_i.
  input logic done_error_i,
  /// Completion.
  output job_t job_o,
  output logic job_valid_o,
  input logic job_ready_i,
  /// Queue whose buffers are looked at.
  input logic [QueueWidth-1:0] bad_queue_i,
  /// Its buffers that did not get into memory.
  output logic [15:0] bad_o,
  /// Those of them whose region has gone.
  output logic [15:0] lost_o,
  /// Buffer that is forgotten; with take_bad_i.
  input logic [3:0] bad_buffer_i,
  /// For one cycle.
  input logic take_bad_i,
  /// Queues with pieces that are not in memory.
  output logic [Queues-1:0] busy_o
);
  typedef struct packed {
    logic [QueueWidth-1:0] index;
    logic [3:0] buffer;
  } open_t;
  typedef struct packed {
    logic refused;  // its bytes are dropped
    logic [8:0] beats;
    logic completes;
    job_t job;
  } begun_t;

  piece_t piece;
  begun_t begun_in, begun;
  logic piece_valid, piece_done, beat_valid, beat_take, refused, open_room, open_valid;
  logic begins, may_begin, begun_valid, begun_done, job_in;
  logic [8:0] left, count_q;
  logic [1:0] begun_count;
  logic [2:0] job_count;
  logic [4:0] unused_full;
  logic [2:0] unused_pieces;
  logic [1:0] unused_ready;
  logic [4:0] unused_open;
  open_t open_in, open;

  spfe_fifo #(
    .Width($bits(piece_t)),
    .Depth(4)
  ) i_pieces (
    .clk_i,
    .rst_i,
    .data_i(piece_i),
    .valid_i(piece_valid_i),
    .ready_o(piece_ready_o),
    .data_o(piece),
    .valid_o(piece_valid),
    .ready_i(piece_done),
    .count_o(unused_pieces),
    .almost_full_o(unused_full[0])
  );
  logic unused_room;
  spfe_fifo #(
    .Width(128),
    .Depth(Beats)
  ) i_beats (
    .clk_i,
    .rst_i,
    .data_i(beat_i),
    .valid_i(beat_valid_i),
    .ready_o(unused_room),
    .data_o(data_o),
    .valid_o(beat_valid),
    .ready_i(beat_take),
    .count_o(beats_o),
    .almost_full_o(unused_full[1])
  );
  assign open_in = '{index: piece.index[QueueWidth-1:0], buffer: piece.job.buffer};
  spfe_fifo #(
    .Width($bits(open_t)),
    .Depth(16)
  ) i_open (
    .clk_i,
    .rst_i,
    .data_i(open_in),
    .valid_i(begins && !refused),
    .ready_o(open_room),
    .data_o(open),
    .valid_o(open_valid),
    .ready_i(done_i),
    .count_o(unused_open),
    .almost_full_o(unused_full[2])
  );
  // Pieces whose access has begun. The bus takes bytes in the order of the accesses, so those of a
  // piece may not wait for the completion of another: each has room for its own.
  spfe_fifo #(
    .Width($bits(begun_t)),
    .Depth(2)
  ) i_begun (
    .clk_i,
    .rst_i,
    .data_i(begun_in),
    .valid_i(piece_done),
    .ready_o(unused_ready[0]),
    .data_o(begun),
    .valid_o(begun_valid),
    .ready_i(begun_done),
    .count_o(begun_count),
    .almost_full_o(unused_full[3])
  );
  spfe_fifo #(
    .Width($bits(job_t)),
    .Depth(4)
  ) i_jobs (
    .clk_i,
    .rst_i,
    .data_i(begun.job),
    .valid_i(job_in),
    .ready_o(unused_ready[1]),
    .data_o(job_o),
    .valid_o(job_valid_o),
    .ready_i(job_ready_i),
    .count_o(job_count),
    .almost_full_o(unused_full[4])
  );

  assign request_o = '{
      address: piece.address,
      length: 48'(piece.bytes),
      domain: piece.domain,
      write: 1'b1,
      check: 1'b0
    };
  // Cycles that an access takes to begin, behind another one.
  localparam logic [8:0] Near = 9'd16;
  assign may_begin = 3'(begun_count) + job_count < 3'd4
      && (!begun_valid || (begun_count == 2'd1 && left <= Near));
  assign request_valid_o = piece_valid && piece.bytes != '0 && open_room && may_begin;
  assign begins = request_valid_o && request_ready_i;
  // A piece lies inside a page, so all of it is contiguous.
  assign refused = result_i.status != STATUS_OK;
  assign piece_done = begins || (piece_valid && piece.bytes == '0 && may_begin);
  assign begun_in = '{
      refused: refused && piece.bytes != '0,
      beats: 9'((piece.bytes + 13'd15) >> 4),
      completes: piece.completes,
      job: piece.job
    };

  assign left = begun.beats - count_q;
  assign data_valid_o = begun_valid && left != '0 && !begun.refused && beat_valid;
  assign beat_take = begun_valid && left != '0 && (begun.refused || data_ready_i);
  assign begun_done = begun_valid && (left == '0 || (left == 9'd1 && beat_valid && beat_take));
  assign job_in = begun_done && begun.completes;

  always_ff @(posedge clk_i) begin
    if (beat_valid && beat_take) count_q <= count_q + 9'd1;
    if (begun_done || rst_i) count_q <= '0;
  end

  // Buffers that did not get into memory, until their completion is written.
  logic [Queues-1:0][15:0] bad_q, lost_q;
  assign bad_o = bad_q[bad_queue_i];
  assign lost_o = lost_q[bad_queue_i];
  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic [5:0] open_q;
    logic comes, goes, waits, ends, tells;
    assign comes = piece_valid_i && piece_ready_o && 32'(piece_i.index) == q;
    assign waits = begins && !refused && 32'(piece.index) == q;
    assign goes = done_i && 32'(open.index) == q;
    assign ends = begun_done && !begun.completes && 32'(begun.job.index) == q;
    assign tells = job_valid_o && job_ready_i && 32'(job_o.index) == q;
    assign busy_o[q] = open_q != '0;
    always_ff @(posedge clk_i) begin
      // A piece counts until its job is handed on and its bytes are in memory.
      open_q <= open_q + 6'(comes) + 6'(waits) - 6'(goes) - 6'(ends) - 6'(tells);
      if (take_bad_i && 32'(bad_queue_i) == q) begin
        bad_q[q][bad_buffer_i] <= 1'b0;
        lost_q[q][bad_buffer_i] <= 1'b0;
      end
      if (goes && done_error_i) bad_q[q][open.buffer] <= 1'b1;
      if (begins && refused && 32'(piece.index) == q) begin
        bad_q[q][piece.job.buffer] <= 1'b1;
        if (result_i.status == STATUS_BAD_REGION) lost_q[q][piece.job.buffer] <= 1'b1;
      end
      if (rst_i) open_q <= '0;
      if (rst_i || start_i[q]) begin
        bad_q[q] <= '0;
        lost_q[q] <= '0;
      end
    end
  end
  logic unused;
  assign unused = ^{
    unused_full, unused_pieces, unused_ready, unused_open, unused_room, open_valid, result_i
  };
endmodule
