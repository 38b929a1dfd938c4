// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Computes how far a segment is ahead of RCV.NXT, and whether it ends within the announced window;
/// a segment that does not is dropped (RFC 9293, 3.10.7.4). The window is the configured one, or
/// with Shared the part of it that was offered to the session.
module spfe_tcp_rx_window
  import spfe_tcp_pkg::*;
#(
  /// 1: segments out of order count too; 0: fits_o is valid for segments in order only.
  parameter bit Ahead = 1'b0,
  /// Upper limit of the window in bytes; 0: none.
  parameter int unsigned Limit = 0,
  /// 1: room_i limits the window.
  parameter bit Shared = 1'b0,
  /// 1: fits_o comes from a register. With Ahead and a 64-bit MAC there is no cycle for it.
  parameter bit Registered = 1'b1
) (
  input logic clk_i,
  /// Announced window in bytes; from the registers.
  input logic [31:0] wnd_i,
  /// With Shared: bytes from RCV.NXT to the right edge of the session; from a register.
  input logic [31:0] room_i,
  /// SEQ of the segment.
  input seq_t seq_i,
  /// RCV.NXT of its session.
  input seq_t nxt_i,
  /// Payload in bytes.
  input logic [15:0] len_i,
  /// Control bit FIN.
  input logic fin_i,
  /// SEQ is within the window but not RCV.NXT; in the same cycle.
  output logic oos_o,
  /// SEQ - RCV.NXT, in the same cycle.
  output seq_t ahead_o,
  /// ahead_o one cycle later.
  output seq_t ahead_q_o,
  /// Payload and FIN end within the window.
  output logic fits_o
);
  seq_t ahead_q;
  logic [31:0] wnd_q;
  logic [31:0] room;
  logic fits;

  assign ahead_q_o = ahead_q;
  assign ahead_o = seq_i - nxt_i;

  always_ff @(posedge clk_i) begin
    wnd_q <= Limit != 0 && wnd_i > 32'(Limit) ? 32'(Limit) : wnd_i;
    ahead_q <= ahead_o;
  end

  assign room = Shared ? room_i : wnd_q;
  logic unused_bits;
  assign unused_bits = ^room_i;

  if (Ahead) begin : gen_ahead
    logic [32:0] stop;
    assign stop = {1'b0, ahead_q} + {17'd0, len_i} + 33'(fin_i);
    assign fits = stop <= {1'b0, room};
    assign oos_o = ahead_o != '0 && ahead_o < wnd_q;
  end else begin : gen_in_order
    logic [16:0] stop;
    assign stop = {1'b0, len_i} + 17'(fin_i);
    assign fits = room[31:17] != '0 || stop <= room[16:0];
    assign oos_o = 1'b0;
  end

  if (Registered || !Ahead) begin : gen_registered
    logic fits_q;
    always_ff @(posedge clk_i) fits_q <= fits;
    assign fits_o = fits_q;
  end else begin : gen_direct
    assign fits_o = fits;
  end
endmodule
