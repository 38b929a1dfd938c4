// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Is the acknowledgement of a segment one that can be (RFC 5961, 5.2)?
module spfe_tcp_rx_ack
  import spfe_tcp_pkg::*;
#(
  /// Steps: 2 for a 32-bit MAC, 1 for a 64-bit one, whose header comes in half the cycles.
  parameter int unsigned Steps = 2
) (
  /// Clock.
  input logic clk_i,
  /// The bounds of the session are read now.
  input logic read_i,
  /// SND.UNA - MAX.SND.WND; with read_i.
  input seq_t lo_i,
  /// SND.NXT; with read_i.
  input seq_t hi_i,
  /// ACK of the segment.
  input seq_t ack_i,
  /// It is between the bounds; Steps + 1 cycles after the later of read_i and word 11.
  output logic ok_o
);
  seq_t lo_q, hi_q, offset, range;

  always_ff @(posedge clk_i) begin
    if (read_i) begin
      lo_q <= lo_i;
      hi_q <= hi_i;
    end
    ok_o <= offset <= range;
  end

  if (Steps == 1) begin : gen_one
    assign offset = ack_i - lo_q;
    assign range = hi_q - lo_q;
  end else begin : gen_two
    always_ff @(posedge clk_i) begin
      offset <= ack_i - lo_q;
      range <= hi_q - lo_q;
    end
  end
endmodule
