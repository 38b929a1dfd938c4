// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Extracts words and headers of received frames for ARP and ICMP, and determines the interfaces
/// they are addressed to.
module spfe_tcp_net_rx
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacRxWidth = 32,
  /// Number of virtual interfaces, 1 to MaxVifs.
  parameter int unsigned VifCount = 1,
  /// Words per beat; derived.
  localparam int unsigned Lanes = MacRxWidth / 32
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Received frames; from the MAC.
  input mac_beat_t mac_i,
  input logic mac_valid_i,
  /// A frame starts with the words of this cycle, which may be only a tag.
  output logic start_o,
  /// The lane carries a word.
  output logic [Lanes-1:0] word_valid_o,
  /// Word number without the tag; saturates in longer frames.
  output pos_t [Lanes-1:0] word_pos_o,
  /// Word data; first byte in bits 31:24.
  output logic [Lanes-1:0][31:0] word_data_o,
  /// end_o is valid: a frame ended in the previous cycle.
  output logic end_valid_o,
  /// The frame that ended. Each header word is valid from the cycle after it was received.
  output frame_end_t end_o
);
  logic [Lanes-1:0] valid;
  logic [Lanes-1:0][8:0] unused_index;
  logic [Lanes-1:0][31:0] data;
  logic [Lanes-1:0][2:0] bytes;
  logic start, has_tag;
  logic [15:0] tag;

  spfe_tcp_front #(
    .Width(MacRxWidth)
  ) i_front (
    .clk_i,
    .rst_i,
    .data_i(mac_i.data[MacRxWidth-1:0]),
    .keep_i(mac_i.keep[MacRxWidth/8-1:0]),
    .valid_i(mac_valid_i),
    .last_i(mac_i.last),
    .word_valid_o(valid),
    .word_index_o(unused_index),
    .word_data_o(data),
    .word_bytes_o(bytes),
    .start_o(start),
    .tagged_o(has_tag),
    .tag_o(tag)
  );

  // Words delayed by one cycle, with numbers that continue past 511.
  pos_t next_q, next_d;
  logic [Lanes-1:0] valid_q;
  pos_t [Lanes-1:0] pos_q, pos_d;
  logic [Lanes-1:0][31:0] data_q;
  logic [Lanes-1:0][2:0] bytes_q;
  logic start_q, last_q, err_q, tagged_q;
  logic [15:0] tag_q;

  // A tag always fills the last lane of its beat, so it changes no other word number of that beat.
  logic is_tag;
  assign is_tag = mac_valid_i && mac_i.keep[4*(Lanes-1)] && !valid[Lanes-1];

  always_comb begin
    pos_t pos;
    pos = start ? '0 : next_q;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      pos_d[lane] = pos;
      if (mac_i.keep[4*lane] && pos != '1) pos = pos + 1'b1;
    end
    next_d = is_tag ? pos_t'(3) : pos;
  end

  always_ff @(posedge clk_i) begin
    if (mac_valid_i) next_q <= next_d;
    valid_q <= valid;
    pos_q <= pos_d;
    data_q <= data;
    bytes_q <= bytes;
    start_q <= start;
    last_q <= mac_valid_i && mac_i.last;
    err_q <= mac_i.err;
    tagged_q <= has_tag;
    tag_q <= tag;
    if (rst_i) begin
      valid_q <= '0;
      start_q <= 1'b0;
      last_q <= 1'b0;
      next_q <= '0;
    end
  end

  assign start_o = start_q;
  assign word_valid_o = valid_q;
  assign word_pos_o = pos_q;
  assign word_data_o = data_q;

  // Header words and frame length.
  header_t header_q;
  logic [15:0] count_q, count_d;
  logic end_q, end_err_q, end_tagged_q;
  logic [11:0] vid_q;

  always_comb begin
    count_d = start_q ? '0 : count_q;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      if (valid_q[lane] && pos_q[lane] != '1) count_d = count_d + 16'(bytes_q[lane]);
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      for (int unsigned i = 0; i < HeaderWords; i++) begin
        if (valid_q[lane] && pos_q[lane] == pos_t'(i)) header_q[i] <= data_q[lane];
      end
    end
    count_q <= count_d;
    end_q <= last_q;
    end_err_q <= err_q;
    end_tagged_q <= tagged_q;
    vid_q <= tag_q[11:0];
    if (rst_i) begin
      count_q <= '0;
      end_q <= 1'b0;
    end
  end

  assign end_valid_o = end_q && cfg_i.enable;

  always_comb begin
    mac_t dmac;
    dmac = {header_q[0], header_q[1][31:16]};
    end_o.header = header_q;
    end_o.bytes = count_q;
    end_o.err = end_err_q;
    end_o.unicast = '0;
    end_o.broadcast = '0;
    for (int unsigned i = 0; i < VifCount; i++) begin
      logic fits;
      fits = cfg_i.vif[i].enable && cfg_i.vif[i].vlan == end_tagged_q
          && (!end_tagged_q || cfg_i.vif[i].tag[11:0] == vid_q);
      end_o.unicast[i] = fits && dmac == cfg_i.vif[i].mac;
      end_o.broadcast[i] = fits && dmac == '1;
    end
  end

  // Of the tag only the VLAN identifier is used.
  logic unused;
  assign unused = ^{cfg_i, tag_q[15:12]};
endmodule
