// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The piece that spfe_host_rx_move gathers. It ends with its packet, with its page, with the room
/// of its buffer, or after PartBytes. While a piece of a posted queue is gathered, this module
/// looks at the buffer behind the one in use, so that the next piece can follow at once.
module spfe_host_rx_part
  import spfe_host_rx_pkg::*;
#(
  /// Most bytes of a piece, 64 to 4096.
  parameter int unsigned PartBytes = 1024
) (
  input logic clk_i,
  /// State of spfe_host_rx_move.
  input move_e state_i,
  /// For one cycle: a piece follows at once.
  input logic chains_i,
  /// State of the queue.
  input move_t move_i,
  /// The queue is posted, and the buffer behind the one in use is at hand and good.
  input logic ahead_i,
  /// Starts the read of this buffer.
  output logic read_o,
  /// The buffer, a cycle later.
  input buffer_t buffer_i,
  /// What is found; see spfe_host_rx_gather.
  input found_t found_i,
  /// Bytes of the piece.
  output logic [12:0] count_o,
  /// Bytes that it may still have.
  output logic [12:0] room_o,
  /// Nothing has come for some cycles.
  output logic pauses_o,
  /// The packet ends with the piece.
  output logic ends_o,
  /// With EEP.
  output logic eep_o,
  /// The piece is the last of its buffer or record.
  output logic closes_o,
  /// It is known how many bytes a piece that follows at once may have.
  output logic follows_o,
  /// So many pieces have followed that other queues have to get a turn.
  output logic last_o
);
  logic [12:0] count_q, room_q, same_q, next_q;
  logic [31:0] rest_q;
  logic [11:0] place_q;
  logic [1:0] pause_q, pieces_q;
  // Cycles since the piece began, up to 2; those since the read of the next buffer began.
  logic [1:0] age_q, read_q;
  logic ends_q, eep_q, more_q;

  // Most bytes of a piece at a place of its page, with so many bytes of room.
  function automatic logic [12:0] limit(input logic [11:0] place, input logic [31:0] rest);
    logic [12:0] most;
    most = 13'd4096 - 13'(place);
    if (most > 13'(PartBytes)) most = 13'(PartBytes);
    return rest < 32'(most) ? rest[12:0] : most;
  endfunction

  logic [11:0] place;
  logic [31:0] rest;
  assign place = move_i.address.offset[11:0] + move_i.fill[11:0];
  assign rest = move_i.length - move_i.fill;
  assign read_o = state_i == MoveGather && ahead_i && read_q == 2'd0;
  assign count_o = count_q;
  assign room_o = room_q;
  assign pauses_o = pause_q == '1;
  assign ends_o = ends_q;
  assign eep_o = eep_q;
  assign closes_o = ends_q || (more_q && 32'(count_q) == rest);
  assign follows_o = closes_o ? read_q == 2'd2 : more_q && age_q == 2'd2;
  assign last_o = pieces_q == '1;

  always_ff @(posedge clk_i) begin
    if (age_q == 2'd0) begin
      place_q <= place + room_q[11:0];
      rest_q <= rest - 32'(room_q);
    end
    if (age_q == 2'd1) same_q <= limit(place_q, rest_q);
    if (age_q != 2'd2) age_q <= age_q + 2'd1;
    if (read_q == 2'd1) next_q <= limit(buffer_i.address.offset[11:0], buffer_i.length);
    if (read_o || read_q == 2'd1) read_q <= read_q + 2'd1;
    if (state_i == MoveGather) begin
      count_q <= count_q + 13'(found_i.bytes);
      room_q <= room_q - 13'(found_i.bytes);
      pause_q <= found_i.empty ? pause_q + 2'd1 : '0;
      ends_q <= found_i.ends;
      eep_q <= found_i.ends && found_i.eep;
      more_q <= found_i.more;
    end
    if (state_i == MoveLoad || state_i == MoveLimit || chains_i) begin
      count_q <= '0;
      room_q <= !chains_i ? limit(place, rest) : closes_o ? next_q : same_q;
      pause_q <= '0;
      {ends_q, eep_q, more_q} <= '0;
      {age_q, read_q} <= '0;
    end
    if (state_i == MoveLoad) pieces_q <= '0;
    else if (chains_i && !last_o) pieces_q <= pieces_q + 2'd1;
  end

  logic unused;
  assign unused = ^{move_i, buffer_i};
endmodule
