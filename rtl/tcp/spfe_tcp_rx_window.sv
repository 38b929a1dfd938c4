// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// How far a segment is ahead of what is expected, and whether its end is within the window that
/// we announce (RFC 9293, 3.10.7.4): what goes beyond it is not taken.
module spfe_tcp_rx_window
  import spfe_tcp_pkg::*;
#(
  /// 1: segments out of order are looked at too; 0: fits_o is for those in order.
  parameter bit Ahead = 1'b0,
  /// The window is not larger than this many bytes; 0: no such limit.
  parameter int unsigned Limit = 0,
  /// 1: with Ahead, fits_o is a register, for a 32-bit MAC; a 64-bit one has no time for it.
  parameter bit Registered = 1'b1
) (
  /// Clock.
  input logic clk_i,
  /// Announced window in bytes; from the registers.
  input logic [31:0] wnd_i,
  /// SEQ of the segment.
  input seq_t seq_i,
  /// RCV.NXT of its session.
  input seq_t nxt_i,
  /// Bytes of payload.
  input logic [15:0] len_i,
  /// Control bit FIN.
  input logic fin_i,
  /// SEQ is within the window, but not its first byte; in the same cycle.
  output logic oos_o,
  /// SEQ - RCV.NXT; in the same cycle.
  output seq_t ahead_o,
  /// The same one cycle later.
  output seq_t ahead_q_o,
  /// Payload and FIN end within the window.
  output logic fits_o
);
  logic [31:0] wnd_q;
  logic fits;

  assign ahead_o = seq_i - nxt_i;

  always_ff @(posedge clk_i) begin
    wnd_q <= Limit != 0 && wnd_i > 32'(Limit) ? 32'(Limit) : wnd_i;
    ahead_q_o <= ahead_o;
  end

  if (Ahead) begin : gen_ahead
    logic [32:0] stop;
    assign stop = {1'b0, ahead_q_o} + {17'd0, len_i} + 33'(fin_i);
    assign fits = stop <= {1'b0, wnd_q};
    assign oos_o = ahead_o != '0 && ahead_o < wnd_q;
  end else begin : gen_in_order
    logic [16:0] stop;
    assign stop = {1'b0, len_i} + 17'(fin_i);
    assign fits = wnd_q[31:17] != '0 || stop <= wnd_q[16:0];
    assign oos_o = 1'b0;
  end

  if (Registered || !Ahead) begin : gen_registered
    always_ff @(posedge clk_i) fits_o <= fits;
  end else begin : gen_direct
    assign fits_o = fits;
  end
endmodule
