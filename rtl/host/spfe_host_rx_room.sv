// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The room for the next record of a packed area, and the check of a RELEASE.
module spfe_host_rx_room
  import spfe_pkg::*;
  import spfe_host_rx_pkg::*;
(
  /// State of the queue.
  input move_t move_i,
  /// RELEASE entry.
  input submission_t entry_i,
  /// Bytes from the head to the end of the area.
  output logic [31:0] to_end_o,
  /// They are too few: the next record begins at offset 0.
  output logic wraps_o,
  /// There is room for a record and a completion.
  output logic fits_o,
  /// Most bytes of the record.
  output logic [31:0] most_o,
  /// The RELEASE is valid, and gives back no more than is used.
  output logic release_o
);
  // Least straight bytes of a record, with its header.
  localparam logic [31:0] Least = 32'd64;
  logic [31:0] free, straight, behind, room, quarter;
  release_t entry;

  // What a host gives back may leave the end of a record in use, so free bytes are rounded down.
  assign to_end_o = move_i.size - move_i.head;
  assign free = move_i.used > move_i.size ? '0 : (move_i.size - move_i.used) & ~32'd7;
  assign straight = to_end_o < free ? to_end_o : free;
  assign behind = free < to_end_o ? '0 : free - to_end_o;
  assign wraps_o = to_end_o < Least;
  assign room = wraps_o ? behind : straight;
  assign fits_o = move_i.credits >= 17'd2 && room >= Least;
  assign quarter = (move_i.size >> 2) & ~32'd7;
  assign most_o = (room < quarter ? room : quarter) - PACKED_HEADER_BYTES;

  assign entry = release_t'(entry_i);
  assign release_o = entry.flags[3:0] == 4'(ENTRY_TYPE_RELEASE)
      && (entry.flags & SUBMIT_FLAGS_MBZ_MASK) == '0 && entry.reserved0 == '0
      && entry.completions != '0
      && entry.completions <= 32'(move_i.most_credits - move_i.credits)
      && entry.bytes <= move_i.used;

  logic unused;
  assign unused = ^{move_i, entry.phase, entry.flags};
endmodule
