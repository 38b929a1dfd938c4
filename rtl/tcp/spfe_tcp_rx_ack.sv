// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks that the acknowledgement number of a segment is acceptable (RFC 5961, 5.2).
module spfe_tcp_rx_ack
  import spfe_tcp_pkg::*;
#(
  /// Cycles for the subtractions: 2 with a 32-bit MAC, 1 with a 64-bit MAC, where the header takes
  /// half the time.
  parameter int unsigned Steps = 2
) (
  input logic clk_i,
  /// Loads the bounds of a session.
  input logic read_i,
  /// With read_i: SND.UNA - MAX.SND.WND of the session.
  input seq_t lo_i,
  /// With read_i: SND.NXT of the session.
  input seq_t hi_i,
  /// ACK of the segment.
  input seq_t ack_i,
  /// The ACK is within the bounds. Valid Steps + 1 cycles after the later of read_i and word 11.
  output logic ok_o
);
  seq_t lo_q, hi_q, offset, range;
  logic ok_q;

  assign ok_o = ok_q;

  always_ff @(posedge clk_i) begin
    if (read_i) begin
      lo_q <= lo_i;
      hi_q <= hi_i;
    end
    ok_q <= offset <= range;
  end

  if (Steps == 1) begin : gen_one
    assign offset = ack_i - lo_q;
    assign range = hi_q - lo_q;
  end else begin : gen_two
    seq_t offset_q, range_q;
    always_ff @(posedge clk_i) begin
      offset_q <= ack_i - lo_q;
      range_q <= hi_q - lo_q;
    end
    assign offset = offset_q;
    assign range = range_q;
  end
endmodule
