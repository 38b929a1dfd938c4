// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Headers of a frame: Ethernet, IEEE 802.1Q, IPv4, TCP. Word by word as the sender asks for them;
/// each field and sum is ready before the word it stands in, counted from load_i.
module spfe_tcp_tx_head
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
    /// 32-bit words in a beat of the MAC: 1 or 2.
    parameter int unsigned Lanes = 1,
    /// Virtual interfaces, 1 to 8.
    parameter int unsigned VifCount = 1,
    /// 1: PSH in all segments with payload that are sent live.
    parameter bit Push = 1'b0
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Configuration.
    input tcp_cfg_t cfg_i,

    /// A frame begins in this cycle: its first beat is start_words_o.
    input logic load_i,
    /// With it: a live message; 0: a command.
    input logic live_i,
    /// With it: entry of the table.
    input hdr_t hdr_i,
    /// First words of the frame of hdr_i.
    output logic [Lanes-1:0][31:0] start_words_o,

    /// In the cycle after load_i: the message.
    input desc_t desc_i,
    /// In that cycle: the command.
    input tx_cmd_t cmd_i,
    /// In that cycle: bytes behind the TCP header of the command.
    input logic [15:0] cmd_bytes_i,
    /// In that cycle: 32-bit words of options of the command.
    input logic [3:0] cmd_options_i,
    /// In that cycle: SND.NXT of the session.
    input seq_t snd_nxt_i,
    /// In that cycle: RCV.NXT of the session.
    input seq_t rcv_nxt_i,
    /// Sum of the payload; when the word with the checksum is asked for.
    input sum_t payload_sum_i,

    /// Number of the first word that is asked for in the next cycle.
    input logic [4:0] index_i,
    /// The words; first byte in bits 31:24. What is behind the header is 0.
    output logic [Lanes-1:0][31:0] words_o,
    /// The frame has a tag.
    output logic tagged_o,
    /// SEQ; from the second cycle after load_i on.
    output seq_t seq_o,
    /// ACK; from then on.
    output seq_t ack_o,
    /// Bytes behind the TCP header of 20 bytes; from then on.
    output logic [15:0] bytes_o
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
  assign unused_parts = ^{cfg_i, desc_i, cmd_i, hdr_q.vif, vif_q.enable, vif_q.mask, vif_q.gateway};

  // ---- one cycle later
  seq_t seq_q, ack_q;
  logic [15:0] len_q, wnd_q, bits_q;
  sum_t id_sum_q, wnd_sum_q;
  logic [15:0] wnd_plain_q, wnd_scaled_q, wnd_now;
  flags_t live_flags, flags;
  logic [3:0] words;

  always_comb begin
    live_flags = '0;
    live_flags.ack = 1'b1;
    live_flags.psh = Push || desc_i.push;
    flags = live_q ? live_flags : cmd_i.flags;
    words = live_q ? 4'd5 : 4'd5 + cmd_options_i;
    // The window of a SYN is never scaled (RFC 7323, 2.2).
    wnd_now = hdr_q.scaled && !flags.syn ? wnd_scaled_q : wnd_plain_q;
  end

  always_ff @(posedge clk_i) begin
    wnd_plain_q <= cfg_i.rcv_wnd > 32'd65535 ? 16'hffff : cfg_i.rcv_wnd[15:0];
    wnd_scaled_q <= (cfg_i.rcv_wnd >> cfg_i.wscale) > 32'd65535 ? 16'hffff :
        16'(cfg_i.rcv_wnd >> cfg_i.wscale);
    first_q <= load_i;
    if (load_i) begin
      hdr_q <= hdr_i;
      vif_q <= vif_start;
      live_q <= live_i;
      id_q <= next_id_q;
      next_id_q <= next_id_q + 16'd1;
    end
    if (first_q) begin
      seq_q <= live_q ? desc_i.seq : cmd_i.seq_nxt ? snd_nxt_i : cmd_i.seq;
      ack_q <= live_q || cmd_i.ack_rcv ? rcv_nxt_i : cmd_i.ack;
      len_q <= live_q ? desc_i.len : cmd_bytes_i;
      bits_q <= {words, 6'd0, flags};
      wnd_q <= wnd_now;
      id_sum_q <= sum2(hdr_q.ip_sum, id_q);
      wnd_sum_q <= sum2(hdr_q.tcp_sum, wnd_now);
    end
    if (rst_i) begin
      first_q <= 1'b0;
      next_id_q <= '0;
    end
  end

  // ---- sums: all but the payload is in tcp_sum_q four cycles after load_i
  logic [15:0] ip_sum_q;
  sum_t seq_sum_q, ack_sum_q, len_sum_q, nums_q, rest_q, tcp_sum_q;
  always_ff @(posedge clk_i) begin
    ip_sum_q <= ~sum2(id_sum_q, len_q);
    seq_sum_q <= sum2(seq_q[31:16], seq_q[15:0]);
    ack_sum_q <= sum2(ack_q[31:16], ack_q[15:0]);
    len_sum_q <= sum2(len_q, bits_q);
    nums_q <= sum2(seq_sum_q, ack_sum_q);
    rest_q <= sum2(wnd_sum_q, len_sum_q);
    tcp_sum_q <= sum2(nums_q, rest_q);
  end

  // ---- words
  logic [15:0] checksum, total;
  assign checksum = ~sum2(tcp_sum_q, payload_sum_i);
  assign total = len_q + 16'd40;

  logic [Lanes-1:0][4:0] at_q;
  logic tag_next;
  assign tag_next = load_i ? vif_start.vlan : vif_q.vlan;
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      at_q[i] <= index_i + 5'(i);
      if (tag_next && index_i + 5'(i) > 5'd3) at_q[i] <= index_i + 5'(i) - 5'd1;
      if (tag_next && index_i + 5'(i) == 5'd3) at_q[i] <= 5'd31;
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      start_words_o[i] = i == 0 ? hdr_i.dmac[47:16] : {hdr_i.dmac[15:0], vif_start.mac[47:32]};
      case (at_q[i])
        5'd1: words_o[i] = {hdr_q.dmac[15:0], vif_q.mac[47:32]};
        5'd2: words_o[i] = vif_q.mac[31:0];
        5'd3: words_o[i] = 32'h0800_4500;
        5'd4: words_o[i] = {total, id_q};
        5'd5: words_o[i] = 32'h4000_4006;
        5'd6: words_o[i] = {ip_sum_q, vif_q.ip[31:16]};
        5'd7: words_o[i] = {vif_q.ip[15:0], hdr_q.dip[31:16]};
        5'd8: words_o[i] = {hdr_q.dip[15:0], hdr_q.sport};
        5'd9: words_o[i] = {hdr_q.dport, seq_q[31:16]};
        5'd10: words_o[i] = {seq_q[15:0], ack_q[31:16]};
        5'd11: words_o[i] = {ack_q[15:0], bits_q};
        5'd12: words_o[i] = {wnd_q, checksum};
        5'd31: words_o[i] = {16'h8100, vif_q.tag};
        default: words_o[i] = '0;
      endcase
    end
  end

  assign tagged_o = vif_q.vlan;
  assign seq_o = seq_q;
  assign ack_o = ack_q;
  assign bytes_o = len_q;
endmodule
