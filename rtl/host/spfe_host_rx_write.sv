// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Writes the pieces of a receive engine and hands on their completions. Bytes that cannot be
/// written are dropped, and their buffer is noted.
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
  output logic [7:0] bad_o,
  /// Those of them whose region has gone.
  output logic [7:0] lost_o,
  /// Buffer that is forgotten; with take_bad_i.
  input logic [2:0] bad_buffer_i,
  /// For one cycle.
  input logic take_bad_i,
  /// Queues with pieces that are not in memory.
  output logic [Queues-1:0] busy_o
);
  typedef enum logic [1:0] {
    Rest,
    Data,
    Drop,
    Tell
  } state_e;
  typedef struct packed {
    logic [QueueWidth-1:0] index;
    logic [2:0] buffer;
  } open_t;

  state_e state_q;
  piece_t piece;
  logic piece_valid, piece_done, beat_valid, beat_take, refused, open_room, open_valid;
  logic [8:0] left_q, beats;
  logic [3:0] unused_full;
  logic [3:0] unused_pieces;
  logic [4:0] unused_open;
  open_t open_in, open;

  spfe_fifo #(
    .Width($bits(piece_t)),
    .Depth(8)
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
    .valid_i(state_q == Rest && request_valid_o && request_ready_i && !refused),
    .ready_o(open_room),
    .data_o(open),
    .valid_o(open_valid),
    .ready_i(done_i),
    .count_o(unused_open),
    .almost_full_o(unused_full[2])
  );
  assign unused_full[3] = 1'b0;

  assign request_o = '{
      address: piece.address,
      length: 48'(piece.bytes),
      domain: piece.domain,
      write: 1'b1,
      check: 1'b0
    };
  assign request_valid_o = state_q == Rest && piece_valid && piece.bytes != '0 && open_room;
  // A piece lies inside a page, so all of it is contiguous.
  assign refused = result_i.status != STATUS_OK;
  assign data_valid_o = state_q == Data && beat_valid;
  assign beat_take = (state_q == Data && data_ready_i) || state_q == Drop;
  assign beats = 9'((piece.bytes + 13'd15) >> 4);
  assign job_o = piece.job;
  assign job_valid_o = state_q == Tell && piece.completes;
  assign piece_done = state_q == Tell && (!piece.completes || job_ready_i);

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Rest: begin
        left_q <= beats;
        if (piece_valid && piece.bytes == '0) state_q <= Tell;
        if (request_valid_o && request_ready_i) state_q <= refused ? Drop : Data;
      end
      Data, Drop:
      if (beat_valid && beat_take) begin
        left_q <= left_q - 9'd1;
        if (left_q == 9'd1) state_q <= Tell;
      end
      default: if (piece_done) state_q <= Rest;
    endcase
    if (rst_i) state_q <= Rest;
  end

  // Buffers that did not get into memory, until their completion is written.
  logic [Queues-1:0][7:0] bad_q, lost_q;
  assign bad_o = bad_q[bad_queue_i];
  assign lost_o = lost_q[bad_queue_i];
  for (genvar q = 0; q < Queues; q++) begin : gen_queue
    logic [5:0] open_q;
    logic comes, goes, waits, begins;
    assign comes = piece_valid_i && piece_ready_o && 32'(piece_i.index) == q;
    assign waits = state_q == Rest && request_valid_o && request_ready_i && !refused
        && 32'(piece.index) == q;
    assign goes = done_i && 32'(open.index) == q;
    assign begins = piece_done && 32'(piece.index) == q;
    assign busy_o[q] = open_q != '0;
    always_ff @(posedge clk_i) begin
      // A piece counts until its job is handed on and its bytes are in memory.
      open_q <= open_q + 6'(comes) + 6'(waits) - 6'(goes) - 6'(begins);
      if (take_bad_i && 32'(bad_queue_i) == q) begin
        bad_q[q][bad_buffer_i] <= 1'b0;
        lost_q[q][bad_buffer_i] <= 1'b0;
      end
      if (goes && done_error_i) bad_q[q][open.buffer] <= 1'b1;
      if (state_q == Rest && request_valid_o && request_ready_i && refused
          && 32'(piece.index) == q) begin
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
  assign unused = ^{unused_full, unused_pieces, unused_open, unused_room, open_valid, result_i};
endmodule
