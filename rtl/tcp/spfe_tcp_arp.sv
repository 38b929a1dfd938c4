// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Selects the ARP packets to send, in this order: replies to requests for our addresses (RFC 826,
/// and probes of RFC 5227), requests of the ARP table, announcements of our addresses. A conflict
/// over our address is answered with an immediate announcement, at most once within DefendTicks
/// (RFC 5227, 2.4 (c)).
module spfe_tcp_arp
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
  /// Number of virtual interfaces, 1 to MaxVifs.
  parameter int unsigned VifCount = 1,
  /// 1: answer requests.
  parameter bit Server = 1'b1,
  /// 1: announce our addresses.
  parameter bit Gratuitous = 1'b1,
  /// DEFEND_INTERVAL of RFC 5227 in ticks; the default is 10 s at one tick per millisecond.
  parameter int unsigned DefendTicks = 10_000
) (
  input logic clk_i,
  input logic rst_i,
  /// One-cycle pulse per tick.
  input logic tick_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Received ARP packet.
  input arp_rx_t rx_i,
  /// rx_i is valid; one cycle.
  input logic rx_valid_i,
  /// Request of the ARP table.
  input arp_tx_t request_i,
  input logic request_valid_i,
  output logic request_ready_o,
  /// Packet to send.
  output arp_tx_t tx_o,
  output logic tx_valid_o,
  input logic tx_ready_i,
  /// A reply is sent; one cycle.
  output logic count_reply_o,
  /// A request or an announcement is sent; one cycle.
  output logic count_request_o
);
  localparam int unsigned Replies = 16;
  localparam int unsigned ReplyBits = $clog2(Replies + 1);

  arp_tx_t reply, announce;
  logic reply_ready, reply_valid, reply_taken, announce_valid;

  if (Server) begin : gen_server
    typedef struct packed {
      vif_t vif;
      mac_t sha;
      ip_t spa;
    } ask_t;
    ask_t ask;
    logic unused_almost_full, asked;
    logic [ReplyBits-1:0] unused_count;

    // A packet whose sender uses our address is a conflict, not a request.
    assign asked = rx_valid_i && rx_i.request && rx_i.ours && rx_i.spa != cfg_i.vif[rx_i.vif].ip;

    // Requests are dropped when the FIFO is full; the sender repeats them.
    spfe_fifo #(
      .Width($bits(ask_t)),
      .Depth(Replies)
    ) i_replies (
      .clk_i,
      .rst_i(rst_i || !cfg_i.enable),
      .valid_i(asked && reply_ready),
      .ready_o(reply_ready),
      .data_i({rx_i.vif, rx_i.sha, rx_i.spa}),
      .valid_o(reply_valid),
      .ready_i(reply_taken),
      .data_o(ask),
      .count_o(unused_count),
      .almost_full_o(unused_almost_full)
    );
    assign reply = {1'b1, ask.vif, ask.sha, ask.sha, ask.spa};
  end else begin : gen_no_server
    assign reply = '0;
    assign reply_ready = 1'b0;
    assign reply_valid = 1'b0;
    logic unused_server;
    assign unused_server = ^{rx_i, rx_valid_i, reply_ready, reply_taken};
  end

  if (Gratuitous) begin : gen_announce
    logic [VifCount-1:0] on_q, on, due_q;
    logic [31:0] timer_q;
    logic refresh;
    vif_t vif;

    localparam int unsigned DefendBits = $clog2(DefendTicks + 1);
    typedef logic [DefendBits-1:0] defend_t;
    logic [VifCount-1:0] conflict, defended_q;
    defend_t defend_q;  // ticks until a conflict may be answered again

    always_comb begin
      for (int unsigned i = 0; i < VifCount; i++) begin
        on[i] = cfg_i.enable && cfg_i.vif[i].enable && cfg_i.vif[i].ip != '0;
        conflict[i] = rx_valid_i && rx_i.vifs[i] && rx_i.spa == cfg_i.vif[i].ip
            && rx_i.sha != cfg_i.vif[i].mac && on[i] && !defended_q[i];
      end
    end
    assign vif = first_vif(vif_set_t'(due_q));
    assign refresh = tick_i && cfg_i.arp_refresh != '0 && timer_q >= cfg_i.arp_refresh - 32'd1;

    always_ff @(posedge clk_i) begin
      on_q <= on;
      if (tick_i) timer_q <= refresh ? '0 : timer_q + 32'd1;
      for (int unsigned i = 0; i < VifCount; i++) begin
        if (announce_valid && tx_ready_i && !reply_valid && !request_valid_i
            && vif == vif_t'(i)) begin
          due_q[i] <= 1'b0;
        end
        if (on[i] && (refresh || !on_q[i] || conflict[i])) due_q[i] <= 1'b1;
        if (!on[i]) due_q[i] <= 1'b0;
      end
      if (conflict != '0) defend_q <= defend_t'(DefendTicks);
      else if (tick_i && defend_q != '0) defend_q <= defend_q - 1'b1;
      if (tick_i && defend_q == defend_t'(1)) defended_q <= '0;
      for (int unsigned i = 0; i < VifCount; i++) if (conflict[i]) defended_q[i] <= 1'b1;
      if (rst_i) begin
        on_q <= '0;
        due_q <= '0;
        defended_q <= '0;
        defend_q <= '0;
      end
      if (rst_i || !cfg_i.enable) timer_q <= '0;
    end

    assign announce_valid = due_q != '0;
    assign announce = {1'b0, vif, 48'hFFFF_FFFF_FFFF, 48'd0, cfg_i.vif[vif].ip};
  end else begin : gen_no_announce
    assign announce_valid = 1'b0;
    assign announce = '0;
    logic unused_announce;
    assign unused_announce = ^{tick_i, rx_valid_i};
  end

  always_comb begin
    if (reply_valid) tx_o = reply;
    else if (request_valid_i) tx_o = request_i;
    else tx_o = announce;
  end

  assign tx_valid_o = reply_valid || request_valid_i || announce_valid;
  assign reply_taken = tx_ready_i;
  assign request_ready_o = tx_ready_i && !reply_valid;
  assign count_reply_o = tx_ready_i && reply_valid;
  assign count_request_o = tx_ready_i && tx_valid_o && !reply_valid;

  // Configuration and packet are used in part; without both functions clock and reset are unused
  // too.
  logic unused;
  assign unused = ^{clk_i, rst_i, cfg_i, rx_i};
endmodule
