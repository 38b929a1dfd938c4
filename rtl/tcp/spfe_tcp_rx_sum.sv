// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checksums of the IP header and of the TCP segment (RFC 1071).
///
/// Each 32-bit lane of the bus has its own sum. A carry-save step compresses the sum and the two
/// halves of a word to two numbers, with the carry out of bit 15 counted in bit 0; these are added
/// with the carry of the step before. After the frame the sums and carries of all lanes are
/// compressed to two numbers, which are complements of each other if the checksum is right.
module spfe_tcp_rx_sum #(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned Width = 32,
  /// Number of words in a beat; follows from Width.
  localparam int unsigned Lanes = Width / 32,
  /// Number of bytes in a beat; follows from Width.
  localparam int unsigned Bytes = Width / 8,
  /// Bits in a number of bytes of a beat; follows from Width.
  localparam int unsigned CountBits = $clog2(Bytes) + 1
) (
  input logic clk_i,
  /// First beat of a frame.
  input logic start_i,
  /// The lane has a word, which may be the tag.
  input logic [Lanes-1:0] word_there_i,
  /// The lane has a word that is not the tag.
  input logic [Lanes-1:0] word_valid_i,
  /// Number of the word in the lane.
  input logic [Lanes-1:0][8:0] word_index_i,
  /// Word in the lane, its first byte in bits 31:24.
  input logic [Lanes-1:0][31:0] word_data_i,
  /// Bytes of the beat that belong to the IP packet.
  input logic [CountBits-1:0] bytes_i,
  /// The checksum of the IP header is right; from one cycle after the last beat to the next frame.
  output logic ip_ok_o,
  /// The checksum of the segment is right; from one cycle after the last beat to the next frame.
  output logic tcp_ok_o
);
  localparam int unsigned Halves = 2 * Lanes;
  // Of the pseudo-header: protocol 6, and -20, because the sum adds the total length of the packet
  // where the length of the segment belongs.
  localparam logic [15:0] Constant = 16'hffff - 16'd20 + 16'd6;

  // Bit 16 is the carry of the sum in bits 15:0.
  logic [Lanes-1:0][16:0] ip_q, tcp_q;
  logic [Halves-1:0][15:0] value;
  logic [Halves-1:0] in_ip, in_tcp;

  // True if the sums and their carries add up to zero in ones' complement, a multiple of 65535.
  // They cannot all be 0, because the constant and the headers are not.
  function automatic logic is_zero(logic [Lanes-1:0][16:0] sums);
    logic [15:0] sum, carry, rest, next;
    sum = sums[0][15:0];
    if (Lanes == 1) begin
      carry = {15'd0, sums[0][16]};
    end else begin
      carry = sums[Lanes-1][15:0];
      // Both carries as a binary number.
      rest = {14'd0, sums[0][16] && sums[Lanes-1][16], sums[0][16] ^ sums[Lanes-1][16]};
      next = (sum & carry) | (sum & rest) | (carry & rest);
      sum = sum ^ carry ^ rest;
      carry = {next[14:0], next[15]};
    end
    return sum == ~carry || (&sum && &carry);
  endfunction

  // Adds two numbers to a sum.
  function automatic logic [16:0] add(logic [16:0] sum, logic [15:0] one, logic [15:0] two);
    logic [15:0] three, carry;
    three = sum[15:0] ^ one ^ two;
    carry = (sum[15:0] & one) | (sum[15:0] & two) | (one & two);
    return {1'b0, three} + {1'b0, carry[14:0], carry[15]} + 17'(sum[16]);
  endfunction

  always_comb begin
    for (int unsigned half = 0; half < Halves; half++) begin
      logic [8:0] index;
      logic [15:0] low;
      index = word_index_i[half/2];
      low = half % 2 == 0 ? word_data_i[half/2][31:16] : word_data_i[half/2][15:0];
      if (bytes_i <= CountBits'(2 * half)) low = '0;
      else if (bytes_i == CountBits'(2 * half + 1)) low[7:0] = '0;
      value[half] = low;
      // The tag has number 3, like the word after it.
      in_ip[half] = word_there_i[half/2] && index <= 9'd8 && index >= 9'd4 &&
          !(index == 9'd8 && half % 2 == 1);
      if (half % 2 == 1 && word_valid_i[half/2] && index == 9'd3) in_ip[half] = 1'b1;
      in_tcp[half] = word_there_i[half/2] &&
          (index >= 9'd7 || index == (half % 2 == 0 ? 9'd4 : 9'd6));
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      ip_q[i] <= add(ip_q[i], in_ip[2*i] ? value[2*i] : '0, in_ip[2*i+1] ? value[2*i+1] : '0);
      tcp_q[i] <= add(tcp_q[i], in_tcp[2*i] ? value[2*i] : '0, in_tcp[2*i+1] ? value[2*i+1] : '0);
    end
    if (start_i) begin
      ip_q <= '0;
      tcp_q <= '0;
      tcp_q[0] <= {1'b0, Constant};
    end
  end

  assign tcp_ok_o = is_zero(tcp_q);

  // The IP header ends long before the frame, so its result can be registered.
  logic ip_ok_q;
  always_ff @(posedge clk_i) ip_ok_q <= is_zero(ip_q);
  assign ip_ok_o = ip_ok_q;
endmodule
