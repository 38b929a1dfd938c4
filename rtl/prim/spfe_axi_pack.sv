// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Moves the bytes of a transfer down, so that its first byte becomes byte 0 of the first word:
/// from the beats of a bus to packed words. One rotation serves both halves of a word.
module spfe_axi_pack #(
  /// Bytes in a beat and in a word, a power of two.
  parameter int unsigned Bytes = 16,
  /// Bits of a place in a beat; follows from Bytes.
  localparam int unsigned PlaceWidth = $clog2(Bytes)
) (
  input logic clk_i,
  input logic rst_i,
  /// Beat of the transfer.
  input logic [Bytes-1:0][7:0] data_i,
  /// Place of the transfer's first byte in its first beat; with each beat.
  input logic [PlaceWidth-1:0] first_i,
  /// Place of the transfer's last byte; with its last beat.
  input logic [PlaceWidth-1:0] end_i,
  /// The beat begins a transfer.
  input logic start_i,
  /// The beat ends a transfer.
  input logic last_i,
  /// The transfer failed; with its last beat.
  input logic error_i,
  input logic valid_i,
  output logic ready_o,
  /// Packed word; all bytes count except behind end_o of the last word.
  output logic [Bytes-1:0][7:0] data_o,
  /// Place of the last byte; with the last word.
  output logic [PlaceWidth-1:0] end_o,
  /// The word ends a transfer.
  output logic last_o,
  /// The transfer failed; with its last word.
  output logic error_o,
  output logic valid_o,
  input logic ready_i
);
  // Bytes of the transfer that wait for the next beat, already at their place.
  logic [Bytes-1:0][7:0] held_q;
  // The last beat left bytes for one more word.
  logic flush_q;
  logic [PlaceWidth-1:0] flush_end_q;
  logic flush_error_q;

  // Output register.
  logic [Bytes-1:0][7:0] data_q;
  logic [PlaceWidth-1:0] end_q;
  logic last_q;
  logic error_q;
  logic valid_q;

  logic room;
  logic take;
  // The beat completes a word. A first beat does only from place 0, or as the only one.
  logic emits;
  // Place of the last byte in the word that the last beat completes, and whether it lies in it.
  logic [PlaceWidth:0] end_place;
  logic fits;
  logic [Bytes-1:0][7:0] turned;
  logic [Bytes-1:0][7:0] word;

  assign room = !valid_q || ready_i;
  assign ready_o = room && !flush_q;
  assign take = valid_i && ready_o;

  assign end_place = {1'b0, end_i} - {1'b0, first_i};
  // Beyond the first beat, the word holds Bytes - first_i bytes of the beat before.
  assign fits = start_i || first_i == '0 || end_i < first_i;
  assign emits = last_i || !start_i || first_i == '0;

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) turned[i] = data_i[PlaceWidth'(i)+first_i];
    for (int unsigned i = 0; i < Bytes; i++) begin
      // The last first_i places of a word come from the later beat.
      word[i] = start_i || i + 32'(first_i) >= Bytes ? turned[i] : held_q[i];
      if (first_i == '0) word[i] = turned[i];
    end
  end

  assign data_o = data_q;
  assign end_o = end_q;
  assign last_o = last_q;
  assign error_o = error_q;
  assign valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (take) held_q <= turned;
    if (room) begin
      valid_q <= flush_q || (take && emits);
      data_q <= flush_q ? held_q : word;
      end_q <= flush_q ? flush_end_q : end_place[PlaceWidth-1:0];
      last_q <= flush_q || (last_i && fits);
      error_q <= flush_q ? flush_error_q : error_i;
    end
    if (take) begin
      flush_q <= last_i && !fits;
      flush_end_q <= end_place[PlaceWidth-1:0];
      flush_error_q <= error_i;
    end else if (room) begin
      flush_q <= 1'b0;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      flush_q <= 1'b0;
    end
  end

  logic unused_borrow;
  assign unused_borrow = end_place[PlaceWidth];
endmodule
