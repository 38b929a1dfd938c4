// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Address resolution (ARP) and ICMP echo.
module spfe_tcp_net
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Width of the receive MAC stream in bits: 32 or 64.
  parameter int unsigned MacRxWidth = 32,
  /// Width of the transmit MAC stream in bits: 32 or 64.
  parameter int unsigned MacTxWidth = 32,
  /// Number of virtual interfaces, 1 to MaxVifs.
  parameter int unsigned VifCount = 1,
  /// 1: answer ARP requests for our addresses.
  parameter bit ArpServer = 1'b1,
  /// Number of entries in the ARP table, 2 to 256.
  parameter int unsigned ArpEntries = 32,
  /// 1: announce our addresses and refresh known entries.
  parameter bit ArpGratuitous = 1'b1,
  /// Minimum ticks between two defences of our address against another host (RFC 5227, 2.4).
  parameter int unsigned ArpDefendTicks = 10_000,
  /// 1: answer ICMP echo requests.
  parameter bit IcmpServer = 1'b1,
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu = 1500
) (
  input logic clk_i,
  input logic rst_i,
  /// One-cycle pulse per tick.
  input logic tick_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// Received frames; from the MAC, which cannot be stalled.
  input mac_beat_t mac_i,
  input logic mac_valid_i,

  /// Frames of at least 60 bytes to the transmitter; valid stays high within a frame.
  output mac_beat_t net_o,
  output logic net_valid_o,
  input logic net_ready_i,

  /// Query for the MAC address of a next hop; from the engine.
  input arp_query_t query_i,
  /// query_i is valid; held until the answer.
  input logic query_valid_i,
  /// Answer to the engine. Neither found nor failed means that requests are in progress.
  output arp_answer_t answer_o,
  /// answer_o is valid; one cycle.
  output logic answer_valid_o,
  /// Next hop that was resolved or whose MAC address has changed; to the engine.
  output arp_update_t update_o,
  output logic update_valid_o,
  input logic update_ready_i,
  /// EvArpFailed without a session: an address could not be resolved.
  output event_t event_o,
  /// event_o is valid; one cycle.
  output logic event_valid_o,
  /// Pulses for the statistics counters.
  output net_count_t count_o
);
  localparam int unsigned Lanes = MacRxWidth / 32;
  localparam int unsigned AddrBits = $clog2(echo_depth(Mtu));

  if (VifCount < 1 || VifCount > MaxVifs) begin : gen_bad_vifs
    $error("spfe_tcp_net: VifCount is %0d; 1 to %0d are possible", VifCount, MaxVifs);
  end
  if (Mtu < 576 || Mtu > 9000) begin : gen_bad_mtu
    $error("spfe_tcp_net: Mtu is %0d; 576 to 9000 are possible", Mtu);
  end

  // Local copy: the configuration registers have a high fan-out across the core.
  tcp_cfg_t cfg_q;
  always_ff @(posedge clk_i) cfg_q <= cfg_i;

  logic start, end_valid;
  logic [Lanes-1:0] word_valid;
  pos_t [Lanes-1:0] word_pos;
  logic [Lanes-1:0][31:0] word_data;
  frame_end_t frame_end;
  arp_rx_t arp_rx;
  logic arp_rx_valid;
  arp_tx_t request, arp_tx;
  logic request_valid, request_ready, arp_tx_valid, arp_tx_ready;
  echo_t echo;
  logic echo_valid, echo_done, rd_en;
  logic [AddrBits-1:0] rd_even, rd_odd;
  logic [31:0] rd_even_word, rd_odd_word;
  arp_query_t failed;

  spfe_tcp_net_rx #(
    .MacRxWidth(MacRxWidth),
    .VifCount(VifCount)
  ) i_rx (
    .clk_i,
    .rst_i,
    .cfg_i(cfg_q),
    .mac_i,
    .mac_valid_i,
    .start_o(start),
    .word_valid_o(word_valid),
    .word_pos_o(word_pos),
    .word_data_o(word_data),
    .end_valid_o(end_valid),
    .end_o(frame_end)
  );

  spfe_tcp_arp_rx #(
    .VifCount(VifCount)
  ) i_arp_rx (
    .clk_i,
    .rst_i,
    .cfg_i(cfg_q),
    .end_valid_i(end_valid),
    .end_i(frame_end),
    .arp_valid_o(arp_rx_valid),
    .arp_o(arp_rx)
  );

  spfe_tcp_arp_table #(
    .ArpEntries(ArpEntries),
    .Refresh(ArpGratuitous)
  ) i_table (
    .clk_i,
    .rst_i,
    .tick_i,
    .cfg_i(cfg_q),
    .query_i,
    .query_valid_i,
    .answer_o,
    .answer_valid_o,
    .update_o,
    .update_valid_o,
    .update_ready_i,
    .rx_i(arp_rx),
    .rx_valid_i(arp_rx_valid),
    .request_o(request),
    .request_valid_o(request_valid),
    .request_ready_i(request_ready),
    .failed_o(event_valid_o),
    .failed_query_o(failed),
    .learnt_o(count_o.arp_learnt)
  );

  spfe_tcp_arp #(
    .VifCount(VifCount),
    .Server(ArpServer),
    .Gratuitous(ArpGratuitous),
    .DefendTicks(ArpDefendTicks)
  ) i_arp (
    .clk_i,
    .rst_i,
    .tick_i,
    .cfg_i(cfg_q),
    .rx_i(arp_rx),
    .rx_valid_i(arp_rx_valid),
    .request_i(request),
    .request_valid_i(request_valid),
    .request_ready_o(request_ready),
    .tx_o(arp_tx),
    .tx_valid_o(arp_tx_valid),
    .tx_ready_i(arp_tx_ready),
    .count_reply_o(count_o.arp_reply),
    .count_request_o(count_o.arp_request)
  );

  if (IcmpServer) begin : gen_icmp
    spfe_tcp_icmp #(
      .Lanes(Lanes),
      .VifCount(VifCount),
      .Mtu(Mtu)
    ) i_icmp (
      .clk_i,
      .rst_i,
      .cfg_i(cfg_q),
      .start_i(start),
      .word_valid_i(word_valid),
      .word_pos_i(word_pos),
      .word_data_i(word_data),
      .end_valid_i(end_valid),
      .end_i(frame_end),
      .echo_valid_o(echo_valid),
      .echo_o(echo),
      .done_i(echo_done),
      .rd_en_i(rd_en),
      .rd_even_i(rd_even),
      .rd_odd_i(rd_odd),
      .rd_even_o(rd_even_word),
      .rd_odd_o(rd_odd_word),
      .count_rx_o(count_o.icmp_rx),
      .count_drop_o(count_o.icmp_drop)
    );
  end else begin : gen_no_icmp
    assign echo_valid = 1'b0;
    assign echo = '0;
    assign rd_even_word = '0;
    assign rd_odd_word = '0;
    assign count_o.icmp_rx = 1'b0;
    assign count_o.icmp_drop = 1'b0;
    logic unused_icmp;
    assign unused_icmp =
        ^{start, word_valid, word_pos, word_data, echo_done, rd_en, rd_even, rd_odd};
  end

  spfe_tcp_net_tx #(
    .MacTxWidth(MacTxWidth),
    .AddrBits(AddrBits)
  ) i_tx (
    .clk_i,
    .rst_i,
    .cfg_i(cfg_q),
    .arp_i(arp_tx),
    .arp_valid_i(arp_tx_valid),
    .arp_ready_o(arp_tx_ready),
    .echo_i(echo),
    .echo_valid_i(echo_valid),
    .echo_done_o(echo_done),
    .count_reply_o(count_o.icmp_reply),
    .rd_en_o(rd_en),
    .rd_even_o(rd_even),
    .rd_odd_o(rd_odd),
    .rd_even_i(rd_even_word),
    .rd_odd_i(rd_odd_word),
    .net_o,
    .net_valid_o,
    .net_ready_i
  );

  assign count_o.arp_rx = arp_rx_valid;
  assign event_o.kind = EvArpFailed;
  assign event_o.sid = '1;  // no session; the engine raises the event of each session that waits
  assign event_o.data = {8'(failed.vif), failed.ip};
endmodule
