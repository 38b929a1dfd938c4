// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from rtl/tcp/regs/registers.toml: do not edit; run `make gen`.

/// Registers of the TCP core. Stores the registers, decodes reads and writes, and checks the range
/// of what is written.
module spfe_tcp_regs_file
  import spfe_tcp_regs_pkg::*;
#(
  /// Number of sessions.
  parameter int unsigned SessionCount = 16,
  /// Number of virtual interfaces.
  parameter int unsigned VifCount = 1,
  /// Longest IP packet in bytes.
  parameter int unsigned Mtu = 1500
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: gives the stored registers their reset values.
  input logic rst_i,
  /// Write strobe of the bus. Address and data are stable since the cycle before.
  input logic wr_valid_i,
  /// Word number of the write.
  input logic [9:0] wr_addr_i,
  /// Data of the write.
  input logic [31:0] wr_data_i,
  /// In the cycle of the strobe: the write is refused, because the word is not writable, is locked,
  /// or has a field out of range.
  output logic wr_error_o,
  /// Word number of the read.
  input logic [9:0] rd_addr_i,
  /// Data of the read, one cycle after its address; 0 for counters.
  output logic [31:0] rd_data_o,
  /// No register has the address of the read; one cycle after the address.
  output logic rd_error_o,
  /// Refuses writes to the registers whose lock is `busy`.
  input logic lock_busy_i,
  /// Refuses writes to the registers whose lock is `started`.
  input logic lock_started_i,
  /// Values that the core drives.
  input regs_hw_t hw_i,
  /// Values of the stored registers.
  output regs_rw_t rw_o,
  /// Write strobes for the core.
  output regs_wr_t wr_o
);
  regs_rw_t rw_q, rw_d;
  logic refused_q, refused_d, take;

  always_comb begin
    unique case (wr_addr_i)
      10'h008: refused_d = 32'(wr_data_i[8+:4]) > 14;
      10'h009: refused_d = 1'b0;
      10'h00a: refused_d = 32'(wr_data_i[0+:30]) > 1073725440;
      10'h00b: refused_d = lock_started_i || 32'(wr_data_i[0+:16]) < 64 ||
          32'(wr_data_i[0+:16]) > Mtu - 40;
      10'h00d: refused_d = 32'(wr_data_i[0+:16]) < 1;
      10'h00e: refused_d = 32'(wr_data_i[0+:16]) < 1;
      10'h00f: refused_d = 32'(wr_data_i[0+:16]) < 1;
      10'h010: refused_d = 32'(wr_data_i[0+:8]) < 1 || 32'(wr_data_i[8+:8]) < 1;
      10'h011: refused_d = 32'(wr_data_i[0+:16]) > 500;
      10'h012: refused_d = 1'b0;
      10'h013: refused_d = 32'(wr_data_i[0+:16]) < 1;
      10'h014: refused_d = 32'(wr_data_i[0+:16]) < 1;
      10'h015: refused_d = 32'(wr_data_i[0+:8]) < 1;
      10'h016: refused_d = 1'b0;
      10'h018: refused_d = 1'b0;
      10'h019: refused_d = 1'b0;
      10'h01a: refused_d = 1'b0;
      10'h01b: refused_d = 1'b0;
      10'h020: refused_d = 32'(wr_data_i[0+:3]) > VifCount - 1;
      10'h021: refused_d = 1'b0;
      10'h022: refused_d = 1'b0;
      10'h023: refused_d = 1'b0;
      10'h024: refused_d = 1'b0;
      10'h025: refused_d = 1'b0;
      10'h026: refused_d = 1'b0;
      10'h040: refused_d = lock_busy_i || 32'(wr_data_i[0+:9]) > SessionCount - 1;
      10'h041: refused_d = lock_busy_i;
      10'h042: refused_d = lock_busy_i;
      10'h043: refused_d = lock_busy_i || 32'(wr_data_i[0+:3]) > VifCount - 1;
      10'h044: refused_d = lock_busy_i || 32'(wr_data_i[0+:3]) < 1 || 32'(wr_data_i[0+:3]) > 4;
      10'h045: refused_d = lock_busy_i;
      default: refused_d = 1'b1;
    endcase
  end

  assign take = wr_valid_i && !refused_q;

  always_comb begin
    rw_d = rw_q;
    wr_o = '0;
    unique case (wr_addr_i)
      10'h008: begin
        if (take) begin
          rw_d.control_enable = wr_data_i[0+:1];
          rw_d.control_rst_silent = wr_data_i[1+:1];
          rw_d.control_ring_refuse = wr_data_i[2+:1];
          rw_d.control_wscale_en = wr_data_i[3+:1];
          rw_d.control_fragment = wr_data_i[4+:1];
          rw_d.control_wscale = wr_data_i[8+:4];
        end
      end
      10'h009: begin
        wr_o.command = take;
      end
      10'h00a: begin
        if (take) begin
          rw_d.rcv_wnd = wr_data_i[0+:30];
        end
      end
      10'h00b: begin
        if (take) begin
          rw_d.mss = wr_data_i[0+:16];
        end
      end
      10'h00d: begin
        if (take) begin
          rw_d.rto_min = wr_data_i[0+:16];
        end
      end
      10'h00e: begin
        if (take) begin
          rw_d.rto_max = wr_data_i[0+:16];
        end
      end
      10'h00f: begin
        if (take) begin
          rw_d.rto_init = wr_data_i[0+:16];
        end
      end
      10'h010: begin
        if (take) begin
          rw_d.tries_syn = wr_data_i[0+:8];
          rw_d.tries_data = wr_data_i[8+:8];
        end
      end
      10'h011: begin
        if (take) begin
          rw_d.delack = wr_data_i[0+:16];
        end
      end
      10'h012: begin
        if (take) begin
          rw_d.time_wait = wr_data_i[0+:16];
        end
      end
      10'h013: begin
        if (take) begin
          rw_d.persist_max = wr_data_i[0+:16];
        end
      end
      10'h014: begin
        if (take) begin
          rw_d.arp_retry = wr_data_i[0+:16];
        end
      end
      10'h015: begin
        if (take) begin
          rw_d.arp_tries = wr_data_i[0+:8];
        end
      end
      10'h016: begin
        if (take) begin
          rw_d.arp_refresh = wr_data_i[0+:32];
        end
      end
      10'h018: begin
        wr_o.iss_key_0 = take;
      end
      10'h019: begin
        wr_o.iss_key_1 = take;
      end
      10'h01a: begin
        wr_o.iss_key_2 = take;
      end
      10'h01b: begin
        wr_o.iss_key_3 = take;
      end
      10'h020: begin
        wr_o.vif_select = take;
      end
      10'h021: begin
        wr_o.vif_control = take;
      end
      10'h022: begin
        wr_o.vif_mac_high = take;
      end
      10'h023: begin
        wr_o.vif_mac_low = take;
      end
      10'h024: begin
        wr_o.vif_ip = take;
      end
      10'h025: begin
        wr_o.vif_mask = take;
      end
      10'h026: begin
        wr_o.vif_gateway = take;
      end
      10'h040: begin
        if (take) begin
          rw_d.session_select = wr_data_i[0+:9];
        end
      end
      10'h041: begin
        if (take) begin
          rw_d.session_peer_ip = wr_data_i[0+:32];
        end
      end
      10'h042: begin
        if (take) begin
          rw_d.session_ports_local = wr_data_i[0+:16];
          rw_d.session_ports_peer = wr_data_i[16+:16];
        end
      end
      10'h043: begin
        if (take) begin
          rw_d.session_vif = wr_data_i[0+:3];
        end
      end
      10'h044: begin
        wr_o.session_operation = take;
      end
      10'h045: begin
        wr_o.session_snapshot = take;
      end
      default: ;
    endcase
  end

  assign wr_error_o = wr_valid_i && refused_q;
  assign rw_o = rw_q;

  always_ff @(posedge clk_i) begin
    refused_q <= refused_d;
    rw_q <= rw_d;
    if (rst_i) begin
      rw_q.control_enable <= 1'(0);
      rw_q.control_rst_silent <= 1'(0);
      rw_q.control_ring_refuse <= 1'(0);
      rw_q.control_wscale_en <= 1'(0);
      rw_q.control_fragment <= 1'(0);
      rw_q.control_wscale <= 4'(0);
      rw_q.rcv_wnd <= 30'(65535);
      rw_q.mss <= 16'(Mtu - 40);
      rw_q.rto_min <= 16'(200);
      rw_q.rto_max <= 16'(60000);
      rw_q.rto_init <= 16'(1000);
      rw_q.tries_syn <= 8'(6);
      rw_q.tries_data <= 8'(15);
      rw_q.delack <= 16'(40);
      rw_q.time_wait <= 16'(1000);
      rw_q.persist_max <= 16'(60000);
      rw_q.arp_retry <= 16'(1000);
      rw_q.arp_tries <= 8'(3);
      rw_q.arp_refresh <= 32'(60000);
      rw_q.session_select <= 9'(0);
      rw_q.session_peer_ip <= 32'(0);
      rw_q.session_ports_local <= 16'(0);
      rw_q.session_ports_peer <= 16'(0);
      rw_q.session_vif <= 3'(0);
    end
  end

  logic [8:0][31:0] group_q, group_d;
  logic [9:0] known_q, known_d;

  always_comb begin
    group_d = '0;
    known_d = '0;
    known_d[9] = rd_addr_i >= 10'h080 && rd_addr_i <= 10'h0d5;
    if (rd_addr_i[9:3] == 7'd0) begin
      known_d[0] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[0] = 32'h53544350;
        3'h1: group_d[0] = 32'h00020000;
        3'h2: group_d[0] = {hw_i.build_sizes_arp_entries, hw_i.build_sizes_sessions};
        3'h3: group_d[0] = {
          hw_i.build_widths_user_rx, hw_i.build_widths_user_tx, hw_i.build_widths_mac_tx,
          hw_i.build_widths_mac_rx
        };
        3'h4: group_d[0] = {12'd0, hw_i.build_limits_vifs, hw_i.build_limits_mtu};
        3'h5: group_d[0] = {
          17'd0, hw_i.build_features_rx_checksum, hw_i.build_features_rx_packed,
          hw_i.build_features_rx_eop_merge, hw_i.build_features_rx_reordering,
          hw_i.build_features_rx_out_of_sequence, hw_i.build_features_tx_drop_if_not_established,
          hw_i.build_features_tx_congestion_control, hw_i.build_features_tx_push,
          hw_i.build_features_status_events, hw_i.build_features_credit_events,
          hw_i.build_features_instant_ack, hw_i.build_features_arp_server,
          hw_i.build_features_arp_gratuitous, hw_i.build_features_icmp_server,
          hw_i.build_features_mac_tx_pad
        };
        3'h6: group_d[0] = {
          hw_i.build_memories_tx_pipe, hw_i.build_memories_rx_pipe,
          hw_i.build_memories_rx_fifo_packets, hw_i.build_memories_rx_addr_bits,
          hw_i.build_memories_tx_addr_bits
        };
        default: known_d[0] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd1) begin
      known_d[1] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[1] = {
          20'd0, rw_q.control_wscale, 3'd0, rw_q.control_fragment, rw_q.control_wscale_en,
          rw_q.control_ring_refuse, rw_q.control_rst_silent, rw_q.control_enable
        };
        3'h1: group_d[1] = 32'd0;
        3'h2: group_d[1] = {2'd0, rw_q.rcv_wnd};
        3'h3: group_d[1] = {16'd0, rw_q.mss};
        3'h5: group_d[1] = {16'd0, rw_q.rto_min};
        3'h6: group_d[1] = {16'd0, rw_q.rto_max};
        3'h7: group_d[1] = {16'd0, rw_q.rto_init};
        default: known_d[1] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd2) begin
      known_d[2] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[2] = {16'd0, rw_q.tries_data, rw_q.tries_syn};
        3'h1: group_d[2] = {16'd0, rw_q.delack};
        3'h2: group_d[2] = {16'd0, rw_q.time_wait};
        3'h3: group_d[2] = {16'd0, rw_q.persist_max};
        3'h4: group_d[2] = {16'd0, rw_q.arp_retry};
        3'h5: group_d[2] = {24'd0, rw_q.arp_tries};
        3'h6: group_d[2] = rw_q.arp_refresh;
        default: known_d[2] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd3) begin
      known_d[3] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[3] = 32'd0;
        3'h1: group_d[3] = 32'd0;
        3'h2: group_d[3] = 32'd0;
        3'h3: group_d[3] = 32'd0;
        default: known_d[3] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd4) begin
      known_d[4] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[4] = {29'd0, hw_i.vif_select};
        3'h1: group_d[4] = {
          hw_i.vif_control_tag, 14'd0, hw_i.vif_control_vlan, hw_i.vif_control_enable
        };
        3'h2: group_d[4] = {16'd0, hw_i.vif_mac_high};
        3'h3: group_d[4] = hw_i.vif_mac_low;
        3'h4: group_d[4] = hw_i.vif_ip;
        3'h5: group_d[4] = hw_i.vif_mask;
        3'h6: group_d[4] = hw_i.vif_gateway;
        default: known_d[4] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd8) begin
      known_d[5] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[5] = {23'd0, rw_q.session_select};
        3'h1: group_d[5] = rw_q.session_peer_ip;
        3'h2: group_d[5] = {rw_q.session_ports_peer, rw_q.session_ports_local};
        3'h3: group_d[5] = {29'd0, rw_q.session_vif};
        3'h4: group_d[5] = 32'd0;
        3'h5: group_d[5] = 32'd0;
        3'h6: group_d[5] = {
          29'd0, hw_i.session_status_key_missing, hw_i.session_status_snapshot_busy,
          hw_i.session_status_operation_busy
        };
        default: known_d[5] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd9) begin
      known_d[6] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[6] = {
          hw_i.view_state_mss, 5'd0, hw_i.view_state_vif, 4'd0, hw_i.view_state_state
        };
        3'h1: group_d[6] = hw_i.view_peer_ip;
        3'h2: group_d[6] = {hw_i.view_ports_peer, hw_i.view_ports_local};
        3'h3: group_d[6] = hw_i.view_snd_una;
        3'h4: group_d[6] = hw_i.view_snd_nxt;
        3'h5: group_d[6] = hw_i.view_rcv_nxt;
        3'h6: group_d[6] = hw_i.view_snd_wnd;
        3'h7: group_d[6] = hw_i.view_cwnd;
        default: known_d[6] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd10) begin
      known_d[7] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[7] = hw_i.view_ssthresh;
        3'h1: group_d[7] = {hw_i.view_times_srtt, hw_i.view_times_rto};
        3'h2: group_d[7] = hw_i.view_credit;
        default: known_d[7] = 1'b0;
      endcase
    end
    if (rd_addr_i[9:3] == 7'd32) begin
      known_d[8] = 1'b1;
      unique case (rd_addr_i[2:0])
        3'h0: group_d[8] = {16'd0, hw_i.probe_rx_last};
        3'h1: group_d[8] = {hw_i.probe_rx_range_max, hw_i.probe_rx_range_min};
        3'h2: group_d[8] = {16'd0, hw_i.probe_tx_last};
        3'h3: group_d[8] = {hw_i.probe_tx_range_max, hw_i.probe_tx_range_min};
        default: known_d[8] = 1'b0;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    group_q <= group_d;
    known_q <= known_d;
  end

  always_comb begin
    rd_data_o = '0;
    for (int unsigned i = 0; i < 9; i++) rd_data_o |= group_q[i];
  end

  assign rd_error_o = known_q == '0;
endmodule
