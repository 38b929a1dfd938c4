// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Keeps the fields of a segment until the same word of a later frame comes. Those of words 1 to 5
/// would be overwritten before the segment is handed over: the source address is copied again.
module spfe_tcp_rx_fields
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
(
  /// Clock.
  input logic clk_i,
  /// Word 1 to 12 is on the bus.
  input logic [12:1] at_i,
  /// Word 2, if it is.
  input logic [31:0] addr_i,
  /// Word with an even number from 4, if it is.
  input logic [31:0] even_i,
  /// Word with an odd number, if it is.
  input logic [31:0] odd_i,
  /// The fields; each is valid one cycle after its last word.
  output fields_t fields_o
);
  mac_t smac_q;
  logic unused_bits;

  assign unused_bits = ^at_i[5:3];

  always_ff @(posedge clk_i) begin
    if (at_i[1]) smac_q[47:32] <= odd_i[15:0];
    if (at_i[2]) smac_q[31:0] <= addr_i;
    if (at_i[6]) fields_o.sip[31:16] <= even_i[15:0];
    if (at_i[7]) fields_o.sip[15:0] <= odd_i[31:16];
    if (at_i[8]) begin
      fields_o.smac <= smac_q;
      fields_o.sport <= even_i[15:0];
    end
    if (at_i[9]) begin
      fields_o.dport <= odd_i[31:16];
      fields_o.seq[31:16] <= odd_i[15:0];
    end
    if (at_i[10]) begin
      fields_o.seq[15:0] <= even_i[31:16];
      fields_o.ack[31:16] <= even_i[15:0];
    end
    if (at_i[11]) begin
      fields_o.ack[15:0] <= odd_i[31:16];
      fields_o.doff <= odd_i[15:12];
      fields_o.flags <= odd_i[5:0];
    end
    if (at_i[12]) fields_o.wnd <= even_i[31:16];
  end
endmodule
