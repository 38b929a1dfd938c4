// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Builds the headers of a frame (Ethernet, IEEE 802.1Q, IPv4, TCP) word by word as the sender asks
/// for them. Each field and sum is ready before the word that contains it is due, counted from
/// load_i.
module spfe_tcp_tx_head
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// 32-bit words per beat of the MAC: 1 or 2.
  parameter int unsigned Lanes = 1,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: set PSH in every live segment.
  parameter bit Push = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// No frame is in progress: a new one may start.
  input logic idle_i,
  /// A frame starts in this cycle; its first beat is start_words_o.
  input logic load_i,
  /// With load_i: 1 live message, 0 command.
  input logic live_i,
  /// With load_i: header table entry of the frame.
  input hdr_t hdr_i,
  /// First words of the frame that hdr_i describes.
  output logic [Lanes-1:0][31:0] start_words_o,

  /// In the cycle after load_i: the message.
  input desc_t desc_i,
  /// In the cycle after load_i: the segment of the engine.
  input segment_t seg_i,
  /// In the cycle after load_i: SND.NXT of the session.
  input seq_t snd_nxt_i,
  /// In the cycle after load_i: RCV.NXT of the session.
  input seq_t rcv_nxt_i,
  /// In the cycle after load_i: the header announces a window, and rcv_nxt_i is read for it.
  output wnd_req_t wnd_req_o,
  /// Window in bytes, before scaling; two cycles after wnd_req_o.
  input logic [31:0] wnd_i,
  /// Payload sum; valid when the word with the TCP checksum is requested.
  input sum_t payload_sum_i,

  /// Number of the first header word needed in the next cycle.
  input logic [4:0] index_i,
  /// Header words without the TCP checksum; first byte in bits 31:24. Words after the header are
  /// 0.
  output logic [Lanes-1:0][31:0] words_o,
  /// TCP checksum in its position within its word; 0 in other words.
  output logic [Lanes-1:0][15:0] checks_o,
  /// Properties of the frame.
  output frame_t frame_o
);
  localparam int unsigned VifIdxBits = VifCount > 1 ? $clog2(VifCount) : 1;

  // ---- loaded with the first beat
  hdr_t hdr_q;
  vif_cfg_t vif_q;
  logic live_q, first_q;
  logic [15:0] id_q, next_id_q;
  vif_cfg_t vif_start;
  if (VifCount > 1) begin : gen_vifs
    assign vif_start = cfg_i.vif[VifIdxBits'(hdr_i.vif)];
  end else begin : gen_vif
    assign vif_start = cfg_i.vif[0];
  end

  logic unused_parts;
  assign unused_parts = ^{cfg_i, desc_i, seg_i, hdr_q.vif, vif_q.enable, vif_q.mask, vif_q.gateway};

  // ---- one cycle later
  seq_t seq_q, ack_q;
  logic [15:0] len_q, total_q, wnd_q, bits_q;
  logic scaled_q;
  logic [31:0] wnd_shifted;
  sum_t id_sum_q, wnd_sum_q;
  flags_t live_flags, flags;
  logic [3:0] words;

  always_comb begin
    live_flags = '0;
    live_flags.ack = 1'b1;
    live_flags.psh = Push || desc_i.push;
    flags = live_q ? live_flags : seg_i.cmd.flags;
    words = live_q ? 4'd5 : 4'd5 + seg_i.options;
  end
  // The window of a SYN is never scaled (RFC 7323, 2.2).
  assign wnd_req_o.scaled = hdr_q.scaled && !flags.syn;
  assign wnd_req_o.valid = first_q && !flags.rst;
  assign wnd_shifted = scaled_q ? wnd_i >> cfg_i.wscale : wnd_i;

  always_ff @(posedge clk_i) begin
    wnd_q <= wnd_shifted[31:16] != '0 ? 16'hffff : wnd_shifted[15:0];
    wnd_sum_q <= sum2(hdr_q.tcp_sum, wnd_q);
    first_q <= load_i;
    // Load in every idle cycle: whether a frame starts is known too late to gate these registers.
    if (idle_i) begin
      hdr_q <= hdr_i;
      vif_q <= vif_start;
      live_q <= live_i;
      id_q <= next_id_q;
    end
    if (load_i) next_id_q <= next_id_q + 16'd1;
    if (first_q) begin
      seq_q <= live_q ? desc_i.seq : seg_i.cmd.seq_nxt ? snd_nxt_i : seg_i.cmd.seq;
      ack_q <= live_q || seg_i.cmd.ack_rcv ? rcv_nxt_i : seg_i.cmd.ack;
      len_q <= live_q ? desc_i.len : seg_i.bytes;
      total_q <= (live_q ? desc_i.len : seg_i.bytes) + 16'd40;
      bits_q <= {words, 6'd0, flags};
      scaled_q <= wnd_req_o.scaled;
      id_sum_q <= sum2(hdr_q.ip_sum, id_q);
    end
    if (rst_i) begin
      first_q <= 1'b0;
      next_id_q <= '0;
    end
  end

  // ---- sums; tcp_sum_q covers everything but the payload six cycles after load_i. The window
  // comes last.
  logic [15:0] ip_sum_q;
  sum_t seq_sum_q, ack_sum_q, len_sum_q, nums_q, rest_q, tcp_sum_q;
  always_ff @(posedge clk_i) begin
    ip_sum_q <= ~sum2(id_sum_q, len_q);
    seq_sum_q <= sum2(seq_q[31:16], seq_q[15:0]);
    ack_sum_q <= sum2(ack_q[31:16], ack_q[15:0]);
    len_sum_q <= sum2(len_q, bits_q);
    nums_q <= sum2(seq_sum_q, ack_sum_q);
    rest_q <= sum2(nums_q, len_sum_q);
    tcp_sum_q <= sum2(wnd_sum_q, rest_q);
  end

  // ---- words
  logic [15:0] checksum;
  assign checksum = ~sum2(tcp_sum_q, payload_sum_i);

  // One-hot position of the requested word; bit TagBit selects the tag.
  localparam int unsigned Words = 13;
  localparam int unsigned TagBit = 0;  // word 0 comes only from start_words_o, so its bit is free
  logic [Lanes-1:0][Words-1:0] at_q;
  logic tag_next;
  assign tag_next = idle_i ? vif_start.vlan : vif_q.vlan;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      for (int unsigned w = 1; w < Words; w++) begin
        at_q[i][w] <= tag_next && w > 2 ? index_i + 5'(i) == 5'(w + 1) : index_i + 5'(i) == 5'(w);
      end
      at_q[i][TagBit] <= tag_next && index_i + 5'(i) == 5'd3;
    end
  end

  function automatic logic [31:0] when(logic on, logic [31:0] word);
    return on ? word : '0;
  endfunction

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      start_words_o[i] = i == 0 ? hdr_i.dmac[47:16] : {hdr_i.dmac[15:0], vif_start.mac[47:32]};
      // verilog_format: off
      words_o[i] = when(at_q[i][TagBit], {16'h8100, vif_q.tag})
          | when(at_q[i][1], {hdr_q.dmac[15:0], vif_q.mac[47:32]})
          | when(at_q[i][2], vif_q.mac[31:0])
          | when(at_q[i][3], 32'h0800_4500)
          | when(at_q[i][4], {total_q, id_q})
          | when(at_q[i][5], {1'b0, !hdr_q.fragment, 30'h0000_4006})
          | when(at_q[i][6], {ip_sum_q, vif_q.ip[31:16]})
          | when(at_q[i][7], {vif_q.ip[15:0], hdr_q.dip[31:16]})
          | when(at_q[i][8], {hdr_q.dip[15:0], hdr_q.sport})
          | when(at_q[i][9], {hdr_q.dport, seq_q[31:16]})
          | when(at_q[i][10], {seq_q[15:0], ack_q[31:16]})
          | when(at_q[i][11], {ack_q[15:0], bits_q})
          | when(at_q[i][12], {wnd_q, 16'd0});
      // verilog_format: on
      checks_o[i] = at_q[i][12] ? checksum : '0;
    end
  end

  assign frame_o = '{vlan: vif_q.vlan, seq: seq_q, ack: ack_q, bytes: len_q};
endmodule
