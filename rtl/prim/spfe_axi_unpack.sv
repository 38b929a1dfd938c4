// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Moves the bytes of a transfer up, so that its first byte gets the place of its address: from
/// packed words to the beats of a bus, with byte enables. The reverse of spfe_axi_pack.
module spfe_axi_unpack #(
  /// Bytes in a beat and in a word, a power of two.
  parameter int unsigned Bytes = 16,
  /// Bits of a place in a beat; follows from Bytes.
  localparam int unsigned PlaceWidth = $clog2(Bytes)
) (
  input logic clk_i,
  input logic rst_i,
  /// Packed word of the transfer; all bytes count except behind end_i of the last word.
  input logic [Bytes-1:0][7:0] data_i,
  /// Place of the first byte on the bus; with each word.
  input logic [PlaceWidth-1:0] first_i,
  /// Place of the transfer's last byte in its last word; with that word.
  input logic [PlaceWidth-1:0] end_i,
  /// The word begins a transfer.
  input logic start_i,
  /// The word ends a transfer.
  input logic last_i,
  input logic valid_i,
  output logic ready_o,
  /// Beat.
  output logic [Bytes-1:0][7:0] data_o,
  /// Byte enables; with data_o.
  output logic [Bytes-1:0] strobe_o,
  /// The beat ends a transfer.
  output logic last_o,
  output logic valid_o,
  input logic ready_i
);
  // Bytes of the word before that belong to the next beat.
  logic [Bytes-1:0][7:0] held_q;
  logic flush_q;
  logic [PlaceWidth-1:0] flush_end_q;

  logic [Bytes-1:0][7:0] data_q;
  logic [Bytes-1:0] strobe_q;
  logic last_q;
  logic valid_q;

  logic room;
  logic take;
  // Place of the last byte on the bus: in this beat or, with the carry, in the next.
  logic [PlaceWidth:0] end_place;
  logic [Bytes-1:0][7:0] turned;
  logic [Bytes-1:0] strobe;

  assign room = !valid_q || ready_i;
  assign ready_o = room && !flush_q;
  assign take = valid_i && ready_o;
  assign end_place = {1'b0, end_i} + {1'b0, first_i};

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      turned[i] = data_i[PlaceWidth'(i)-first_i];
      strobe[i] = (!start_i || i >= 32'(first_i)) && (!last_i || i <= 32'(end_place));
    end
  end

  assign data_o = data_q;
  assign strobe_o = strobe_q;
  assign last_o = last_q;
  assign valid_o = valid_q;

  always_ff @(posedge clk_i) begin
    if (take) held_q <= turned;
    if (room) begin
      valid_q <= flush_q || take;
      last_q <= flush_q || (last_i && !end_place[PlaceWidth]);
      for (int unsigned i = 0; i < Bytes; i++) begin
        data_q[i] <= flush_q || (i < 32'(first_i) && !start_i) ? held_q[i] : turned[i];
        strobe_q[i] <= flush_q ? i <= 32'(flush_end_q) : strobe[i];
      end
    end
    if (take) begin
      flush_q <= last_i && end_place[PlaceWidth];
      flush_end_q <= end_place[PlaceWidth-1:0];
    end else if (room) begin
      flush_q <= 1'b0;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      flush_q <= 1'b0;
    end
  end
endmodule
