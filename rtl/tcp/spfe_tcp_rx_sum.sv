// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checksums of the IP header and of the TCP segment (RFC 1071). Each 16-bit lane of the bus has an
/// adder with the carry of the step before. When the frame has ended nothing is added: the lanes and
/// their carries are compressed to two numbers, whose sum is zero if one is the complement of the other.
module spfe_tcp_rx_sum #(
    /// Width of the MAC stream in bits: 32 or 64.
    parameter int unsigned Width = 32,
    /// Words in a beat; follows from Width.
    localparam int unsigned Lanes = Width / 32,
    /// Bytes in a beat; follows from Width.
    localparam int unsigned Bytes = Width / 8,
    /// Bits of a number of them; follows from Width.
    localparam int unsigned CountBits = $clog2(Bytes) + 1
) (
    /// Clock.
    input logic clk_i,
    /// First beat of a frame.
    input logic start_i,
    /// Lane has a word, which may be the tag.
    input logic [Lanes-1:0] word_there_i,
    /// Lane has a word that is not the tag.
    input logic [Lanes-1:0] word_valid_i,
    /// Its number.
    input logic [Lanes-1:0][8:0] word_index_i,
    /// Its bytes, the first one in bits 31:24.
    input logic [Lanes-1:0][31:0] word_data_i,
    /// Bytes of the beat that are part of the IP packet.
    input logic [CountBits-1:0] bytes_i,
    /// The IP header is right; one cycle after the last beat and until the next frame.
    output logic ip_ok_o,
    /// The TCP segment is right; one cycle after the last beat and until the next frame.
    output logic tcp_ok_o
);
  localparam int unsigned Halves = 2 * Lanes;
  // The pseudo-header has the length of the segment: total length - 20; and the protocol, 6.
  localparam logic [15:0] Constant = 16'hffff - 16'd20 + 16'd6;

  // Sum and, in bit 16, its carry.
  logic [Halves-1:0][16:0] ip_q, tcp_q;
  logic [Halves-1:0][15:0] value;
  logic [Halves-1:0] in_ip, in_tcp;

  // Whether lanes and carries add up to a multiple of 65535, but not to 0: lanes are never all zero.
  function automatic logic is_zero(logic [Halves-1:0][16:0] lanes);
    logic [Halves-1:0][15:0] rest;
    logic [15:0] sum, carry, next;
    logic [Halves-1:0] over;
    for (int unsigned i = 1; i < Halves; i++) rest[i-1] = lanes[i][15:0];
    // The carries as a number.
    for (int unsigned i = 0; i < Halves; i++) over[i] = lanes[i][16];
    rest[Halves-1] = '0;
    for (int unsigned n = 0; n < 2 ** Halves; n++) begin
      if (over == Halves'(n)) rest[Halves-1][2:0] = 3'($countones(Halves'(n)));
    end
    sum = lanes[0][15:0];
    carry = rest[0];
    // Three numbers to two; a carry out of bit 15 counts in bit 0.
    for (int unsigned i = 1; i < Halves; i++) begin
      next = (sum & carry) | (sum & rest[i]) | (carry & rest[i]);
      sum = sum ^ carry ^ rest[i];
      carry = {next[14:0], next[15]};
    end
    return sum == ~carry || (&sum && &carry);
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
      // The tag has the number 3, as the word behind it.
      in_ip[half] = word_there_i[half/2] && index <= 9'd8 && index >= 9'd4 &&
          !(index == 9'd8 && half % 2 == 1);
      if (half % 2 == 1 && word_valid_i[half/2] && index == 9'd3) in_ip[half] = 1'b1;
      in_tcp[half] = word_there_i[half/2] &&
          (index >= 9'd7 || index == (half % 2 == 0 ? 9'd4 : 9'd6));
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Halves; i++) begin
      if (in_ip[i]) ip_q[i] <= {1'b0, ip_q[i][15:0]} + {1'b0, value[i]} + 17'(ip_q[i][16]);
      if (in_tcp[i]) tcp_q[i] <= {1'b0, tcp_q[i][15:0]} + {1'b0, value[i]} + 17'(tcp_q[i][16]);
    end
    if (start_i) begin
      ip_q <= '0;
      tcp_q <= '0;
      tcp_q[0] <= {1'b0, Constant};
    end
  end

  assign tcp_ok_o = is_zero(tcp_q);

  // The IP header is over long before the frame is.
  always_ff @(posedge clk_i) ip_ok_o <= is_zero(ip_q);
endmodule
