// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds the session of a segment. The four-tuples of all sessions are compared with the frame as
/// it arrives, 16 bits at a time; a session matches if all comparisons do.
module spfe_tcp_rx_cam
  import spfe_tcp_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Four-tuple of a session, for one cycle; from the engine.
  input key_cmd_t key_i,
  input logic key_valid_i,
  /// Bit n: word n is on the bus.
  input logic [9:6] at_i,
  /// Last two bytes of word 6 or 8, in the cycle of that word.
  input logic [15:0] even_i,
  /// First two bytes of word 7 or 9, in the cycle of that word.
  input logic [15:0] odd_i,
  /// Interfaces that the frame addresses; valid one cycle after word 8.
  input logic [VifCount-1:0] vif_match_i,
  /// The search has ended, one cycle after word 9: sid_d_o is valid now, hit_o, sid_o and vif_o
  /// from the next cycle on.
  output logic found_o,
  /// With found_o: number of the matching session.
  output sid_t sid_d_o,
  /// A session has the four-tuple of the frame; until word 6 of the next frame.
  output logic hit_o,
  /// Number of the matching session, until the next found_o.
  output sid_t sid_o,
  /// Interface of the matching session, until the next found_o.
  output vif_t vif_o
);
  localparam int unsigned IndexBits = $clog2(SessionCount);

  key_cmd_t [SessionCount-1:0] key_q;
  logic [SessionCount-1:0] match_q, match_d, match;
  logic found_q;
  logic [IndexBits-1:0] index;
  vif_t vif;
  logic hit_q;
  sid_t sid_q;
  vif_t vif_q;
  // A new four-tuple of the session that matched cancels the match, one cycle later.
  sid_t late_sid_q;
  logic late_q;

  always_comb begin
    match_d = match_q;
    for (int unsigned s = 0; s < SessionCount; s++) begin
      if (at_i[6]) match_d[s] = key_q[s].valid && key_q[s].sip[31:16] == even_i;
      if (at_i[7] && key_q[s].sip[15:0] != odd_i) match_d[s] = 1'b0;
      if (at_i[8] && key_q[s].sport != even_i) match_d[s] = 1'b0;
      if (at_i[9] && key_q[s].dport != odd_i) match_d[s] = 1'b0;
      if (key_valid_i && key_i.sid == sid_t'(s)) match_d[s] = 1'b0;
    end
  end

  always_comb begin
    vif = '0;
    for (int i = int'(VifCount) - 1; i >= 0; i--) if (vif_match_i[i]) vif = vif_t'(i);
    for (int unsigned s = 0; s < SessionCount; s++) begin
      match[s] = match_q[s];
      if (VifCount > 1 && key_q[s].vif != vif) match[s] = 1'b0;
    end
    index = '0;
    for (int unsigned s = 0; s < SessionCount; s++) if (match[s]) index |= IndexBits'(s);
  end

  always_ff @(posedge clk_i) begin
    match_q <= match_d;
    found_q <= at_i[9] && !rst_i;
    late_q <= key_valid_i;
    late_sid_q <= key_i.sid;
    if (found_q) begin
      hit_q <= match != '0 && !rst_i;
      sid_q <= sid_t'(index);
      vif_q <= vif;
    end else if (rst_i || at_i[6] || (late_q && late_sid_q == sid_q)) begin
      hit_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned s = 0; s < SessionCount; s++) begin
      if (key_valid_i && key_i.sid == sid_t'(s)) key_q[s] <= key_i;
      if (rst_i) key_q[s].valid <= 1'b0;
    end
  end

  assign hit_o = hit_q;
  assign sid_o = sid_q;
  assign vif_o = vif_q;
  assign found_o = found_q;
  assign sid_d_o = sid_t'(index);

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && found_q) begin
      a_one :
      assert ($onehot0(match))
      else $error("sessions %b have the same four-tuple", match);
    end
    if (!rst_i && key_valid_i) begin
      a_sid :
      assert (32'(key_i.sid) < SessionCount)
      else $error("session %0d of %0d", key_i.sid, SessionCount);
    end
  end
`endif
endmodule
