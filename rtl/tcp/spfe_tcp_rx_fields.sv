// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Stores the fields of a segment. A field stays until the next frame brings the same word. The
/// next frame may overwrite the source MAC address before the engine has the segment, so that
/// address is copied once more.
module spfe_tcp_rx_fields
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
(
  input logic clk_i,
  /// Bit n: word n is on the bus.
  input logic [12:1] at_i,
  /// Word 2, in its cycle.
  input logic [31:0] addr_i,
  /// Word 6, 8, 10 or 12, in its cycle.
  input logic [31:0] even_i,
  /// Word 1, 7, 9 or 11, in its cycle.
  input logic [31:0] odd_i,
  /// Fields of the segment; each is valid from one cycle after its last word on.
  output fields_t fields_o
);
  fields_t fields_q;
  mac_t smac_q;
  logic unused_bits;

  assign fields_o = fields_q;
  assign unused_bits = ^at_i[5:3];

  always_ff @(posedge clk_i) begin
    if (at_i[1]) smac_q[47:32] <= odd_i[15:0];
    if (at_i[2]) smac_q[31:0] <= addr_i;
    if (at_i[6]) fields_q.sip[31:16] <= even_i[15:0];
    if (at_i[7]) fields_q.sip[15:0] <= odd_i[31:16];
    if (at_i[8]) begin
      fields_q.smac <= smac_q;
      fields_q.sport <= even_i[15:0];
    end
    if (at_i[9]) begin
      fields_q.dport <= odd_i[31:16];
      fields_q.seq[31:16] <= odd_i[15:0];
    end
    if (at_i[10]) begin
      fields_q.seq[15:0] <= even_i[31:16];
      fields_q.ack[31:16] <= even_i[15:0];
    end
    if (at_i[11]) begin
      fields_q.ack[15:0] <= odd_i[31:16];
      fields_q.doff <= odd_i[15:12];
      fields_q.flags <= odd_i[5:0];
    end
    if (at_i[12]) fields_q.wnd <= even_i[31:16];
  end
endmodule
