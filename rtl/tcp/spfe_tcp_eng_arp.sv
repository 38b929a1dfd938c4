// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Next hops: sends one query at a time for sessions that open. When the MAC address of a next hop
/// has changed, it walks over all sessions, five cycles per slot, in parallel with the pipeline.
module spfe_tcp_eng_arp
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// Width of a session number; derived.
  localparam int unsigned Bits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// Virtual interfaces (tcp_cfg_t).
  input vif_cfg_t [MaxVifs-1:0] vif_i,
  /// A session needs its next hop; only while free_o is high.
  input logic ask_i,
  /// Session that asks.
  input logic [Bits-1:0] ask_sid_i,
  /// Four-tuple of that session.
  input eng_tup_t ask_tup_i,
  /// No query is in progress.
  output logic free_o,
  /// Software has changed void_sid_i: discard an answer for it.
  input logic void_i,
  /// Session that software has changed.
  input logic [Bits-1:0] void_sid_i,
  /// Query to address resolution.
  output arp_query_t query_o,
  /// query_o is valid; held until the answer.
  output logic query_valid_o,
  /// Answer of address resolution.
  input arp_answer_t answer_i,
  /// answer_i is valid; one cycle.
  input logic answer_valid_i,
  /// An answer for a session is ready; to the pipeline.
  output logic arp_valid_o,
  /// Pipeline accepts the answer.
  input logic arp_take_i,
  /// The pipeline has committed the answer.
  input logic arp_ready_i,
  /// Session of the answer.
  output logic [Bits-1:0] arp_sid_o,
  /// The answer.
  output arp_answer_t arp_o,
  /// The MAC address of a next hop was resolved or has changed; from address resolution.
  input arp_update_t update_i,
  input logic update_valid_i,
  /// Accepts update_i after all sessions have been updated.
  output logic update_ready_o,
  /// Slot to compare; to the four-tuple memory.
  output logic [Bits-1:0] slot_o,
  /// Four-tuple of slot_o, in the same cycle.
  input eng_tup_t tup_i,
  /// A session uses the changed next hop; to the pipeline.
  output logic mac_valid_o,
  input logic mac_ready_i,
  /// Session that uses the next hop.
  output logic [Bits-1:0] mac_sid_o,
  /// New MAC address of the next hop.
  output mac_t mac_o
);
  typedef enum logic [2:0] {
    AskIdle,
    AskVif,
    AskHop,
    AskWait,
    AskGive
  } ask_e;
  typedef enum logic [2:0] {
    WalkIdle,
    WalkRead,
    WalkVif,
    WalkHop,
    WalkMatch,
    WalkGive
  } walk_e;

  ask_e ask_q;
  walk_e walk_q;
  logic [Bits-1:0] ask_sid_q, slot_q;
  vif_t ask_vif_q;
  ip_t ask_ip_q, ask_gateway_q, ask_hop_q, ask_net_q;
  arp_answer_t answer_q;
  logic void_q, taken_q, used_q, hits;
  ip_t tup_ip_q, gateway_q, net_q, hop_q;
  vif_t tup_vif_q, ask_index, walk_index;
  logic unused_bits;

  // The four-tuples are used in part.
  assign unused_bits = ^{ask_tup_i, tup_i};

  // A number beyond the implemented interfaces reads interface 0.
  assign ask_index = 32'(ask_vif_q) < VifCount ? ask_vif_q : '0;
  assign walk_index = 32'(tup_vif_q) < VifCount ? tup_vif_q : '0;

  assign free_o = ask_q == AskIdle;
  assign query_o = '{vif: ask_vif_q, ip: ask_hop_q};
  assign query_valid_o = ask_q == AskWait;
  assign arp_valid_o = ask_q == AskGive && !void_q && !taken_q;
  assign arp_sid_o = ask_sid_q;
  assign arp_o = answer_q;

  always_ff @(posedge clk_i) begin
    unique case (ask_q)
      AskIdle: begin
        ask_sid_q <= ask_sid_i;
        ask_vif_q <= ask_tup_i.vif;
        ask_ip_q <= ask_tup_i.ip;
        void_q <= 1'b0;
        taken_q <= 1'b0;
        if (ask_i) ask_q <= AskVif;
      end
      AskVif: begin
        ask_gateway_q <= vif_i[ask_index].gateway;
        ask_net_q <= (ask_ip_q ^ vif_i[ask_index].ip) & vif_i[ask_index].mask;
        ask_q <= AskHop;
      end
      AskHop: begin
        ask_hop_q <= ask_net_q == 32'd0 ? ask_ip_q : ask_gateway_q;
        ask_q <= AskWait;
      end
      AskWait: begin
        answer_q <= answer_i;
        if (answer_valid_i) ask_q <= AskGive;
      end
      AskGive: begin
        if (arp_take_i) taken_q <= 1'b1;
        if (arp_ready_i || (void_q && !taken_q)) ask_q <= AskIdle;
      end
      default: ask_q <= AskIdle;
    endcase
    if (void_i && void_sid_i == ask_sid_q && ask_q != AskIdle) void_q <= 1'b1;
    if (rst_i) ask_q <= AskIdle;
  end

  assign slot_o = slot_q;
  assign mac_valid_o = walk_q == WalkGive;
  assign mac_sid_o = slot_q;
  assign mac_o = update_i.mac;
  assign hits = used_q && update_i.ip == hop_q;
  assign update_ready_o = ((walk_q == WalkMatch && !hits) || (walk_q == WalkGive && mac_ready_i)) &&
      32'(slot_q) == SessionCount - 1;

  always_ff @(posedge clk_i) begin
    unique case (walk_q)
      WalkIdle: begin
        slot_q <= '0;
        if (update_valid_i) walk_q <= WalkRead;
      end
      WalkRead: begin
        used_q <= tup_i.used inside {UseActive, UsePassive};
        tup_ip_q <= tup_i.ip;
        tup_vif_q <= tup_i.vif;
        walk_q <= WalkVif;
      end
      WalkVif: begin
        gateway_q <= vif_i[walk_index].gateway;
        net_q <= (tup_ip_q ^ vif_i[walk_index].ip) & vif_i[walk_index].mask;
        walk_q <= WalkHop;
      end
      WalkHop: begin
        hop_q <= net_q == 32'd0 ? tup_ip_q : gateway_q;
        walk_q <= WalkMatch;
      end
      WalkMatch, WalkGive: begin
        if (walk_q == WalkMatch && hits) begin
          walk_q <= WalkGive;
        end else if (walk_q == WalkMatch || mac_ready_i) begin
          slot_q <= slot_q + Bits'(1);
          walk_q <= update_ready_o ? WalkIdle : WalkRead;
        end
      end
      default: walk_q <= WalkIdle;
    endcase
    if (rst_i) walk_q <= WalkIdle;
  end

endmodule
