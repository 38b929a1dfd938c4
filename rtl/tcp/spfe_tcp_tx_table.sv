// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Header table: the fields that all frames of a session share, with their partial checksums.
module spfe_tcp_tx_table
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Number of sessions. One more entry serves segments without a session.
  parameter int unsigned SessionCount = 16,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Virtual interfaces; from the configuration.
  input vif_cfg_t [MaxVifs-1:0] vif_i,
  /// Routers may fragment the segments of this entry (tcp_cfg_t).
  input logic fragment_i,
  /// New entry.
  input hdr_cmd_t cmd_i,
  input logic cmd_valid_i,
  /// Accepts cmd_i; the entry is readable from the next cycle.
  output logic cmd_ready_o,
  /// Sessions that the two readers look up. Reader 0 never asks for the entry without a session.
  input sid_t [1:0] sid_i,
  /// Entry of each reader, in the same cycle.
  output hdr_t [1:0] hdr_o
);
  localparam int unsigned Entries = SessionCount + 1;
  localparam int unsigned IdxBits = $clog2(Entries);
  localparam int unsigned LiveBits = $clog2(SessionCount);
  localparam int unsigned VifIdxBits = VifCount > 1 ? $clog2(VifCount) : 1;
  typedef logic [IdxBits-1:0] idx_t;

  logic [2:0] step_q;
  ip_t sip_q;
  sum_t sip_sum_q, dip_sum_q, port_sum_q, port26_q, ips_q, ip_sum_q, tcp_sum_q;
  logic [VifIdxBits-1:0] vif_idx;
  hdr_t entry;
  logic write;
  logic fragment_q;  // held while an entry is made, so that the header fits its sum

  assign vif_idx = VifCount > 1 ? VifIdxBits'(cmd_i.vif) : '0;
  assign write = step_q == 3'd4;
  assign cmd_ready_o = write;

  // cmd_i is held until accepted, so the sums take one addition per cycle.
  always_ff @(posedge clk_i) begin
    if (step_q != '0) step_q <= write ? 3'd0 : step_q + 3'd1;
    else if (cmd_valid_i) step_q <= 3'd1;
    if (step_q == '0) fragment_q <= fragment_i;
    sip_q <= vif_i[vif_idx].ip;
    sip_sum_q <= sum2(sip_q[31:16], sip_q[15:0]);
    dip_sum_q <= sum2(cmd_i.dip[31:16], cmd_i.dip[15:0]);
    port_sum_q <= sum2(cmd_i.sport, cmd_i.dport);
    ips_q <= sum2(sip_sum_q, dip_sum_q);
    // 4500 + 0028 + 4000 (DF) + 4006; the TCP part adds protocol 6 and 20 bytes of header.
    ip_sum_q <= sum2(ips_q, fragment_q ? 16'h852e : 16'hc52e);
    port26_q <= sum2(port_sum_q, 16'd26);
    tcp_sum_q <= sum2(ips_q, port26_q);
    if (rst_i) step_q <= '0;
  end

  always_comb begin
    entry.dmac = cmd_i.dmac;
    entry.vif = cmd_i.vif;
    entry.scaled = cmd_i.scaled;
    entry.fragment = fragment_q;
    entry.dip = cmd_i.dip;
    entry.dport = cmd_i.dport;
    entry.sport = cmd_i.sport;
    entry.ip_sum = ip_sum_q;
    entry.tcp_sum = tcp_sum_q;
  end

  spfe_lutram #(
    .Width($bits(hdr_t)),
    .Depth(Entries),
    .Ports(2)
  ) i_table (
    .clk_i,
    .we_i(write),
    .addr_i(idx_t'(cmd_i.sid)),
    .data_i(entry),
    .raddr_i({idx_t'(sid_i[1]), idx_t'(LiveBits'(sid_i[0]))}),
    .rdata_o(hdr_o)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_sid :
    assert (rst_i || !cmd_valid_i || 32'(cmd_i.sid) <= SessionCount)
    else $error("header of session %0d of %0d", cmd_i.sid, SessionCount);
  end
`endif
endmodule
