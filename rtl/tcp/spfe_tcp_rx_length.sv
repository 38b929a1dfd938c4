// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Where the IP packet and its TCP payload are in the beats of a frame: from the total length and
/// the data offset, never from the end of the frame.
module spfe_tcp_rx_length
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
    /// Width of the MAC stream in bits: 32 or 64.
    parameter int unsigned Width = 32,
    /// Words in a beat; follows from Width.
    localparam int unsigned Lanes = Width / 32,
    /// Bytes in a beat; follows from Width.
    localparam int unsigned Bytes = Width / 8,
    /// log2 of them; follows from Width.
    localparam int unsigned Log = $clog2(Bytes)
) (
    /// Clock.
    input logic clk_i,
    /// Bytes of the beat that are part of the frame; from the MAC.
    input logic [Bytes-1:0] keep_i,
    /// A beat is on the bus.
    input logic valid_i,
    /// First beat of a frame.
    input logic start_i,
    /// Lane has a word, which may be the tag.
    input logic [Lanes-1:0] word_there_i,
    /// Its number.
    input logic [Lanes-1:0][8:0] word_index_i,
    /// Word 4 is on the bus.
    input logic total_valid_i,
    /// With total_valid_i: total length of the IP packet.
    input logic [15:0] total_i,
    /// Word 11 is on the bus.
    input logic doff_valid_i,
    /// With doff_valid_i: data offset.
    input logic [3:0] doff_i,
    /// Bytes of this beat that are part of the IP packet; all in the beats before the one after
    /// the total length.
    output logic [Log:0] bytes_o,
    /// This beat is the one with the first byte of payload, or the one where it would be.
    output logic first_o,
    /// With first_o: lane of that word.
    output logic first_lane_o,
    /// Bytes of payload in this beat, 0 to Bytes.
    output logic [Log:0] count_o,
    /// The payload, if any, ends with this beat.
    output logic end_o,
    /// All bytes of the IP packet have come, this beat included.
    output logic whole_o,
    /// Payload of the segment; valid two cycles after word 11.
    output logic [15:0] len_o,
    /// The TCP header is shorter than 20 bytes or longer than the packet; valid with len_o.
    output logic bad_doff_o
);
  // Bytes of the packet that are in the beat of word 4 or before it.
  localparam int unsigned Before = 4 * Lanes + 2;

  logic [15:0] total_q;
  logic [3:0] doff_q;
  logic [8:0] first_index_q;
  logic run_q;  // the total length was in an earlier beat
  logic [15-Log:0] full_q;  // full beats to come, this one included
  logic [Log-1:0] rest_q;  // bytes in the beat after them
  logic [Log:0] bytes_q;
  logic end_q;
  logic started_q;
  logic ended_q;
  logic [16:0] len_q;

  logic [15:0] remain;
  logic [Log:0] offset;

  always_comb begin
    // With a tag on a 64-bit bus word 4 is in the upper lane.
    remain = total_i - 16'd6;
    if (Lanes == 2 && word_index_i[0] == 9'd4) remain = total_i - 16'(Before);
  end

  always_comb begin
    first_o = 1'b0;
    first_lane_o = 1'b0;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (word_there_i[lane] && word_index_i[lane] == first_index_q) begin
        first_o = 1'b1;
        first_lane_o = lane != 0;
      end
    end
    if (started_q) first_o = 1'b0;
    offset = (Log + 1)'({first_lane_o, 2'd2});
    count_o = '0;
    if (first_o && bytes_q > offset) count_o = bytes_q - offset;
    if (started_q && valid_i && !start_i) count_o = bytes_q;
    end_o = end_q;
    bytes_o = bytes_q;
    whole_o = ended_q;
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (end_q && bytes_q == (Log + 1)'(i + 1) && keep_i[i]) whole_o = 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      if (start_i) begin
        run_q <= 1'b0;
        started_q <= 1'b0;
        ended_q <= 1'b0;
        bytes_q <= (Log + 1)'(Bytes);
        end_q <= 1'b0;
        first_index_q <= '1;  // not known; no header is that long
      end else if (run_q) begin
        if (full_q != '0) full_q <= full_q - 1'b1;
        bytes_q <= '0;
        if (full_q[15-Log:1] != '0) bytes_q <= (Log + 1)'(Bytes);
        else if (full_q[0]) bytes_q <= {1'b0, rest_q};
        end_q <= 1'b0;
        if (full_q == (16 - Log)'(2) && rest_q == '0) end_q <= 1'b1;
        if (full_q == (16 - Log)'(1) && rest_q != '0) end_q <= 1'b1;
        if (end_q) ended_q <= 1'b1;
        if (first_o) started_q <= 1'b1;
      end
      if (total_valid_i) begin
        run_q <= 1'b1;
        total_q <= total_i;
        {full_q, rest_q} <= remain;
      end
      if (doff_valid_i) begin
        doff_q <= doff_i;
        if (doff_i >= 4'd5) first_index_q <= 9'd8 + {5'd0, doff_i};
      end
    end
    len_q <= {1'b0, total_q} - {10'd0, {1'b0, doff_q} + 5'd5, 2'd0};
  end

  assign len_o = len_q[15:0];
  assign bad_doff_o = len_q[16] || doff_q < 4'd5;
endmodule
