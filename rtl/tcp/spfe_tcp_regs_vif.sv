// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Configuration of the virtual interfaces. Software selects one and reads and writes it word by
/// word.
module spfe_tcp_regs_vif
  import spfe_tcp_pkg::*;
  import spfe_tcp_regs_pkg::*;
#(
  /// Number of virtual interfaces, 1 to MaxVifs; the others stay disabled.
  parameter int unsigned VifCount = 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Write strobes of the registers.
  input regs_wr_t wr_i,
  /// Word to write.
  input logic [31:0] wr_data_i,
  /// Number of the selected interface; to the registers.
  output vif_t select_o,
  /// Configuration of the selected interface; to the registers.
  output vif_cfg_t shown_o,
  /// Configuration of all interfaces; to the core.
  output vif_cfg_t [MaxVifs-1:0] vif_o
);
  if (VifCount < 1 || VifCount > MaxVifs) begin : gen_bad_vifs
    $error("spfe_tcp_regs_vif: VifCount is %0d; 1 to %0d are possible", VifCount, MaxVifs);
  end

  vif_t select_q;
  vif_cfg_t [VifCount-1:0] vif_q;

  assign select_o = select_q;

  always_comb begin
    vif_o = '0;
    shown_o = '0;
    for (int unsigned i = 0; i < VifCount; i++) begin
      vif_o[i] = vif_q[i];
      if (select_q == vif_t'(i)) shown_o = vif_q[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (wr_i.vif_select) select_q <= wr_data_i[VifBits-1:0];
    for (int unsigned i = 0; i < VifCount; i++) begin
      if (select_q == vif_t'(i)) begin
        if (wr_i.vif_control) begin
          vif_q[i].enable <= wr_data_i[0];
          vif_q[i].vlan <= wr_data_i[1];
          vif_q[i].tag <= wr_data_i[31:16];
        end
        if (wr_i.vif_mac_high) vif_q[i].mac[47:32] <= wr_data_i[15:0];
        if (wr_i.vif_mac_low) vif_q[i].mac[31:0] <= wr_data_i;
        if (wr_i.vif_ip) vif_q[i].ip <= wr_data_i;
        if (wr_i.vif_mask) vif_q[i].mask <= wr_data_i;
        if (wr_i.vif_gateway) vif_q[i].gateway <= wr_data_i;
      end
    end
    if (rst_i) begin
      select_q <= '0;
      vif_q <= '0;
    end
  end

  // Most strobes belong to other blocks.
  logic unused_strobes;
  assign unused_strobes = ^wr_i;
endmodule
