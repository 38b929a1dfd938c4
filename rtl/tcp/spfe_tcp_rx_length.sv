// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds where the IP packet and its TCP payload begin and end in the beats of a frame. It uses the
/// total length and the data offset, because padding may follow the packet.
module spfe_tcp_rx_length
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned Width = 32,
  /// Number of words in a beat; follows from Width.
  localparam int unsigned Lanes = Width / 32,
  /// Number of bytes in a beat; follows from Width.
  localparam int unsigned Bytes = Width / 8,
  /// log2 of Bytes; follows from Width.
  localparam int unsigned Log = $clog2(Bytes)
) (
  input logic clk_i,
  input logic rst_i,
  /// Bytes of the beat that belong to the frame; from the MAC.
  input logic [Bytes-1:0] keep_i,
  /// A beat is on the bus.
  input logic valid_i,
  /// First beat of a frame.
  input logic start_i,
  /// Last beat of a frame.
  input logic last_i,
  /// The lane has a word, which may be the tag.
  input logic [Lanes-1:0] word_there_i,
  /// Number of the word in lane 0.
  input logic [8:0] word_index_i,
  /// Word 4 is on the bus.
  input logic total_valid_i,
  /// With total_valid_i: total length of the IP packet.
  input logic [15:0] total_i,
  /// Word 11 is on the bus.
  input logic doff_valid_i,
  /// With doff_valid_i: data offset.
  input logic [3:0] doff_i,
  /// Bytes of this beat that belong to the IP packet. Until the beat after the total length, all
  /// bytes of a beat count.
  output logic [Log:0] bytes_o,
  /// This beat, or the next one if none is on the bus, has the first word of payload (or would have
  /// it, if there is no payload); from a register.
  output logic first_o,
  /// With first_o: lane of the first word of payload.
  output logic first_lane_o,
  /// With first_o: bytes of payload in the beat. In later beats bytes_o counts them.
  output logic [Log:0] first_bytes_o,
  /// The beat of first_o is on the bus.
  output logic header_end_o,
  /// A beat with payload is on the bus.
  output logic payload_o,
  /// The payload, if any, ends with this beat.
  output logic end_o,
  /// All bytes of the IP packet have arrived, this beat included.
  output logic whole_o,
  /// Payload of the segment in bytes; valid from one cycle after word 11 on.
  output logic [15:0] len_o,
  /// The TCP header is shorter than 20 bytes or longer than the packet; valid with len_o.
  output logic bad_doff_o
);
  // Bytes of the packet up to the end of the beat that has word 4 in lane 0.
  localparam int unsigned Before = 4 * Lanes + 2;

  logic [16:0] tcp_q;  // bytes after the IP header
  logic [3:0] doff_q;
  // Distance of the first word of payload from the first lane of the next beat, one-hot. Zero while
  // it is not known, and after the word.
  logic [11:0] first_q, first_d;
  logic run_q;  // the total length was in an earlier beat
  logic [15-Log:0] full_q;  // number of full beats left, this one included
  logic [Log-1:0] rest_q;  // bytes in the beat after the full ones
  logic [Log:0] bytes_q, bytes_d;
  logic end_q;
  logic started_q, started_d;  // the first word of payload was in an earlier beat
  logic ended_q;
  logic [16:0] len_q;
  // Bytes of payload in the beat if the payload begins in this lane.
  logic [Lanes-1:0][Log:0] part_q, part_d;
  // The beat has payload; for payload_last_q only if its last lane has a word.
  logic payload_q, payload_last_q;
  logic [Lanes-1:0] begins;

  logic [15:0] remain;
  logic after_tag;

  always_comb begin
    // With a tag on a 64-bit bus word 4 is in the upper lane.
    remain = total_i - 16'd6;
    if (Lanes == 2 && word_index_i == 9'd4) remain = total_i - 16'(Before);
  end

  always_comb begin
    first_o = first_q[Lanes-1:0] != '0;
    first_lane_o = Lanes == 2 && first_q[Lanes-1];
    first_bytes_o = part_q[first_lane_o];
    for (int unsigned i = 0; i < Lanes; i++) begins[i] = first_q[i] && word_there_i[i];
    header_end_o = begins != '0;
    payload_o = valid_i && (payload_q || (payload_last_q && keep_i[Bytes-4]));
    end_o = end_q;
    bytes_o = bytes_q;
    whole_o = ended_q;
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (end_q && bytes_q == (Log + 1)'(i + 1) && keep_i[i]) whole_o = 1'b1;
    end
  end

  assign started_d = (started_q || header_end_o) && !last_i;
  // Without a tag word 11 is in the last lane of its beat; with a tag it is in lane 0.
  assign after_tag = Lanes == 2 && word_index_i[0];
  always_comb begin
    first_d = first_q >> Lanes;
    if (doff_valid_i) begin
      first_d = '0;
      for (int unsigned n = 5; n < 16; n++) begin
        if (doff_i == 4'(n)) first_d[after_tag?n-5 : n-4] = 1'b1;
      end
    end
    if (last_i) first_d = '0;
  end

  always_comb begin
    bytes_d = bytes_q;
    if (start_i) begin
      bytes_d = (Log + 1)'(Bytes);
    end else if (run_q) begin
      bytes_d = '0;
      if (full_q[15-Log:1] != '0) bytes_d = (Log + 1)'(Bytes);
      else if (full_q[0]) bytes_d = {1'b0, rest_q};
    end
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      // Payload begins in the third byte of a word.
      part_d[lane] = '0;
      if (bytes_d > (Log + 1)'(4 * lane + 2)) part_d[lane] = bytes_d - (Log + 1)'(4 * lane + 2);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      first_q <= first_d;
      started_q <= started_d;
      bytes_q <= bytes_d;
      part_q <= part_d;
      payload_q <= (started_d && bytes_d != '0) || (Lanes == 2 && first_d[0] && part_d[0] != '0);
      payload_last_q <= first_d[Lanes-1] && part_d[Lanes-1] != '0;
      if (start_i) begin
        run_q <= 1'b0;
        ended_q <= 1'b0;
        end_q <= 1'b0;
      end else if (run_q) begin
        if (full_q != '0) full_q <= full_q - 1'b1;
        end_q <= 1'b0;
        if (full_q == (16 - Log)'(2) && rest_q == '0) end_q <= 1'b1;
        if (full_q == (16 - Log)'(1) && rest_q != '0) end_q <= 1'b1;
        if (end_q) ended_q <= 1'b1;
      end
      if (total_valid_i) begin
        run_q <= 1'b1;
        tcp_q <= {1'b0, total_i} - 17'd20;
        {full_q, rest_q} <= remain;
      end
      if (doff_valid_i) begin
        doff_q <= doff_i;
        len_q <= tcp_q - {11'd0, doff_i, 2'd0};
      end
    end
    if (rst_i) begin
      first_q <= '0;
      started_q <= 1'b0;
      payload_q <= 1'b0;
      payload_last_q <= 1'b0;
    end
  end

  assign len_o = len_q[15:0];
  assign bad_doff_o = len_q[16] || doff_q < 4'd5;
endmodule
