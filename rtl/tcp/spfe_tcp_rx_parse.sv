// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Parses a frame as it arrives: fields, checks of the headers, lengths, options and checksums.
module spfe_tcp_rx_parse
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Largest IP packet in bytes, 576 to 9000.
  parameter int unsigned Mtu = 1500,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: verify the checksums.
  parameter bit Checksum = 1'b1,
  /// Bits in a number of bytes of a MAC beat; follows from MacWidth.
  localparam int unsigned CountBits = $clog2(MacWidth / 8) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Frame; from the MAC, which cannot be stalled.
  input mac_beat_t mac_i,
  input logic mac_valid_i,
  /// First beat of a frame.
  output logic start_o,
  /// Bit n: word n is on the bus.
  output logic [13:6] at_o,
  /// Last two bytes of word 6 or 8, in the cycle of that word.
  output logic [15:0] even_o,
  /// First two bytes of word 7 or 9, in the cycle of that word.
  output logic [15:0] odd_o,
  /// Fields of the segment; each is valid from one cycle after its last word on.
  output fields_t fields_o,
  /// Interfaces that the frame addresses; complete one cycle after word 8.
  output logic [VifCount-1:0] match_o,
  /// Faults in the words before this cycle.
  output fault_t fault_o,
  /// This beat, or the next one if none is on the bus, has the first word of payload (or would have
  /// it, if there is no payload); from a register.
  output logic first_o,
  /// With first_o: lane of the first word of payload.
  output logic first_lane_o,
  /// With first_o: bytes of payload in the beat.
  output logic [CountBits-1:0] first_bytes_o,
  /// In later beats: bytes of payload in the beat; from a register.
  output logic [CountBits-1:0] bytes_o,
  /// A beat with payload is on the bus.
  output logic payload_o,
  /// The payload, if any, ends with this beat.
  output logic end_o,
  /// All bytes of the IP packet have arrived, this beat included.
  output logic whole_o,
  /// Payload of the segment in bytes; valid from one cycle after word 11 on.
  output logic [15:0] len_o,
  /// The TCP header is shorter than 20 bytes or longer than the packet; valid with len_o.
  output logic bad_doff_o,
  /// Options of the segment; valid from three cycles after their last word on.
  output options_t options_o,
  /// The checksum of the IP header is right, one cycle after the last beat; 1 without Checksum.
  output logic ip_ok_o,
  /// The checksum of the segment is right, one cycle after the last beat; 1 without Checksum.
  output logic tcp_ok_o
);
  localparam int unsigned Lanes = MacWidth / 32;

  logic has_tag, begin_lane, header_end;
  logic [11:0] vlan;
  logic [Lanes-1:0] word_there, word_valid;
  logic [Lanes-1:0][8:0] word_index;
  logic [Lanes-1:0][31:0] word_data;
  logic [13:0] at;
  logic [31:0] addr, even, odd;

  // Narrow builds use the low bytes of a beat; spfe_tcp_rx checks err.
  logic unused_bytes;
  assign unused_bytes = ^mac_i;

  assign at_o = at[13:6];
  assign even_o = even[15:0];
  assign odd_o = odd[31:16];

  spfe_tcp_rx_taps #(
    .Width(MacWidth)
  ) i_taps (
    .clk_i,
    .rst_i,
    .data_i(mac_i.data[MacWidth-1:0]),
    .keep_i(mac_i.keep[MacWidth/8-1:0]),
    .valid_i(mac_valid_i),
    .last_i(mac_i.last),
    .start_o,
    .tagged_o(has_tag),
    .vlan_o(vlan),
    .word_there_o(word_there),
    .word_valid_o(word_valid),
    .word_index_o(word_index),
    .word_data_o(word_data),
    .at_o(at),
    .addr_o(addr),
    .even_o(even),
    .odd_o(odd)
  );

  spfe_tcp_rx_fields i_fields (
    .clk_i,
    .at_i(at[12:1]),
    .addr_i(addr),
    .even_i(even),
    .odd_i(odd),
    .fields_o
  );

  spfe_tcp_rx_checks #(
    .Mtu(Mtu),
    .VifCount(VifCount)
  ) i_checks (
    .clk_i,
    .cfg_i,
    .at_i(at[8:0]),
    .addr_i(addr),
    .even_i(even),
    .odd_i(odd),
    .tagged_i(has_tag),
    .vlan_i(vlan),
    .match_o,
    .fault_o
  );

  spfe_tcp_rx_length #(
    .Width(MacWidth)
  ) i_length (
    .clk_i,
    .rst_i,
    .keep_i(mac_i.keep[MacWidth/8-1:0]),
    .valid_i(mac_valid_i),
    .start_i(start_o),
    .last_i(mac_i.last),
    .word_there_i(word_there),
    .word_index_i(word_index[0]),
    .total_valid_i(at[4]),
    .total_i(even[31:16]),
    .doff_valid_i(at[11]),
    .doff_i(odd[15:12]),
    .bytes_o,
    .first_o,
    .first_lane_o,
    .first_bytes_o,
    .header_end_o(header_end),
    .payload_o,
    .end_o,
    .whole_o,
    .len_o,
    .bad_doff_o
  );

  if (Lanes == 1) begin : gen_begin_one
    assign begin_lane = 1'b0;
  end else begin : gen_begin_two
    assign begin_lane = !has_tag;
  end

  spfe_tcp_rx_options #(
    .Width(MacWidth)
  ) i_options (
    .clk_i,
    .rst_i,
    .data_i(mac_i.data[MacWidth-1:0]),
    .valid_i(mac_valid_i),
    .last_i(mac_i.last),
    .begin_i(at[13]),
    .begin_lane_i(begin_lane),
    .doff_i(fields_o.doff),
    .end_i(header_end),
    .options_o
  );

  if (Checksum) begin : gen_sum
    spfe_tcp_rx_sum #(
      .Width(MacWidth)
    ) i_sum (
      .clk_i,
      .start_i(start_o),
      .word_there_i(word_there),
      .word_valid_i(word_valid),
      .word_index_i(word_index),
      .word_data_i(word_data),
      .bytes_i(bytes_o),
      .ip_ok_o,
      .tcp_ok_o
    );
  end else begin : gen_no_sum
    logic unused_bits;
    assign unused_bits = ^{word_data, word_valid};
    assign ip_ok_o = 1'b1;
    assign tcp_ok_o = 1'b1;
  end
endmodule
