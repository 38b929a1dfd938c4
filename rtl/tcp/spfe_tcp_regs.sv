// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Registers of the core: configuration, operations on sessions, counters and latency probes.
/// docs/tcp-registers.md has the map.
module spfe_tcp_regs
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
  import spfe_tcp_regs_pkg::*;
#(
  /// Like the other parameters but Features: as in spfe_tcp. Software can read them.
  parameter int unsigned SessionCount = 16,
  /// As in spfe_tcp.
  parameter int unsigned MacRxWidth = 32,
  /// As in spfe_tcp.
  parameter int unsigned MacTxWidth = 32,
  /// As in spfe_tcp.
  parameter int unsigned UserTxWidth = 64,
  /// As in spfe_tcp.
  parameter int unsigned UserRxWidth = 64,
  /// As in spfe_tcp.
  parameter int unsigned Mtu = 1500,
  /// As in spfe_tcp.
  parameter int unsigned VifCount = 1,
  /// Options of the build, as in the register BUILD_FEATURES.
  parameter logic [14:0] Features = 15'h600F,
  /// As in spfe_tcp.
  parameter int unsigned RxFifoPackets = 64,
  /// As in spfe_tcp.
  parameter int unsigned RxMemAddrBits = 15,
  /// As in spfe_tcp.
  parameter int unsigned TxMemAddrBits = 16,
  /// As in spfe_tcp.
  parameter int unsigned ArpEntries = 32,
  /// As in spfe_tcp.
  parameter int unsigned RxOutputPipe = 0,
  /// As in spfe_tcp.
  parameter int unsigned TxOutputPipe = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Reset of all other blocks: rst_i, or for 16 cycles by software.
  output logic core_rst_o,

  /// Configuration; to all blocks.
  output tcp_cfg_t cfg_o,

  /// Operation on a session; to the engine.
  output op_cmd_t op_o,
  output logic op_valid_o,
  input logic op_ready_i,
  /// Session whose state software asks for; to the engine, stable while view_req_o is high.
  output sid_t view_sid_o,
  /// Request for the state of view_sid_o; high until the answer.
  output logic view_req_o,
  /// State of view_sid_o; from the engine.
  input view_t view_i,
  input logic view_valid_i,

  /// Events to count in this cycle; from all blocks.
  input count_t count_i,

  /// Stream from the MAC, for the latency probes.
  input probed_t mac_rx_i,
  /// Stream to the MAC, for the latency probes.
  input probed_t mac_tx_i,
  /// Stream from the user, for the latency probes.
  input probed_t user_tx_i,
  /// Stream to the user, for the latency probes.
  input probed_t user_rx_i,

  /// AXI4-Lite from the master.
  input axil_req_t axil_req_i,
  /// AXI4-Lite to the master.
  output axil_rsp_t axil_rsp_o
);
  localparam int unsigned ResetCycles = 16;
  localparam bit RxChecksum = Features[14];

  logic wr_valid, wr_error, rd_valid, rd_error;
  logic [9:0] wr_addr, rd_addr;
  logic [31:0] wr_data, file_data, count_data;
  regs_rw_t rw;
  regs_hw_t hw;
  regs_wr_t wr;
  vif_t vif_select;
  vif_cfg_t vif_shown;
  view_t view;
  logic op_busy, view_busy, key_set, core_rst, clear_probes;
  logic [$clog2(ResetCycles)-1:0] reset_left_q;
  logic soft_rst_q;
  logic started_q;  // there may be sessions: software has started an operation since the reset

  spfe_tcp_regs_axil i_axil (
    .clk_i,
    .rst_i,
    .axil_req_i,
    .axil_rsp_o,
    .wr_valid_o(wr_valid),
    .wr_addr_o(wr_addr),
    .wr_data_o(wr_data),
    .wr_error_i(wr_error),
    .rd_valid_o(rd_valid),
    .rd_addr_o(rd_addr),
    .rd_data_i(file_data | count_data),
    .rd_error_i(rd_error)
  );

  spfe_tcp_regs_file #(
    .SessionCount(SessionCount),
    .VifCount(VifCount),
    .Mtu(Mtu)
  ) i_file (
    .clk_i,
    .rst_i,
    .wr_valid_i(wr_valid),
    .wr_addr_i(wr_addr),
    .wr_data_i(wr_data),
    .wr_error_o(wr_error),
    .rd_addr_i(rd_addr),
    .rd_data_o(file_data),
    .rd_error_o(rd_error),
    .lock_busy_i(op_busy || view_busy || !key_set),
    .lock_started_i(started_q),
    .hw_i(hw),
    .rw_o(rw),
    .wr_o(wr)
  );

  spfe_tcp_regs_vif #(
    .VifCount(VifCount)
  ) i_vif (
    .clk_i,
    .rst_i,
    .wr_i(wr),
    .wr_data_i(wr_data),
    .select_o(vif_select),
    .shown_o(vif_shown),
    .vif_o(cfg_o.vif)
  );

  spfe_tcp_regs_key i_key (
    .clk_i,
    .rst_i,
    .wr_i(wr),
    .wr_data_i(wr_data),
    .key_o(cfg_o.iss_key),
    .set_o(key_set)
  );

  spfe_tcp_regs_session i_session (
    .clk_i,
    .rst_i(core_rst),
    .op_start_i(wr.session_operation),
    .op_i(op_e'(wr_data[2:0])),
    .view_start_i(wr.session_snapshot),
    .op_busy_o(op_busy),
    .view_busy_o(view_busy),
    .view_o(view),
    .op_o(op_o.op),
    .op_valid_o,
    .op_ready_i,
    .view_req_o,
    .view_i,
    .view_valid_i
  );

  spfe_tcp_regs_count i_count (
    .clk_i,
    .rst_i,
    .clear_i(wr.command && wr_data[1]),
    .event_i(counter_events(count_i.rx, count_i.tx, count_i.eng, count_i.net, count_i.event_lost)),
    .rd_valid_i(rd_valid),
    .rd_addr_i(rd_addr),
    .rd_data_o(count_data)
  );

  assign clear_probes = wr.command && wr_data[2];

  spfe_tcp_probe i_probe_rx (
    .clk_i,
    .rst_i(core_rst),
    .clear_i(clear_probes),
    .in_i(mac_rx_i),
    .out_i(
    '{valid: user_rx_i.valid, ready: user_rx_i.ready || !RxChecksum, last: user_rx_i.last}
    ),
    .last_o(hw.probe_rx_last),
    .min_o(hw.probe_rx_range_min),
    .max_o(hw.probe_rx_range_max)
  );

  spfe_tcp_probe i_probe_tx (
    .clk_i,
    .rst_i(core_rst),
    .clear_i(clear_probes),
    .in_i(user_tx_i),
    .out_i(mac_tx_i),
    .last_o(hw.probe_tx_last),
    .min_o(hw.probe_tx_range_min),
    .max_o(hw.probe_tx_range_max)
  );

  // ---- reset by software
  assign core_rst = rst_i || soft_rst_q;
  assign core_rst_o = core_rst;

  always_ff @(posedge clk_i) begin
    reset_left_q <= reset_left_q - 1'b1;
    if (reset_left_q == '0) soft_rst_q <= 1'b0;
    if (wr.command && wr_data[0]) begin
      soft_rst_q <= 1'b1;
      reset_left_q <= '1;
    end
    if (rst_i) begin
      soft_rst_q <= 1'b0;
      reset_left_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= (started_q || wr.session_operation) && !core_rst;
  end

  // ---- configuration, from the registers to the core
  assign cfg_o.enable = rw.control_enable;
  assign cfg_o.rst_silent = rw.control_rst_silent;
  assign cfg_o.ring_refuse = rw.control_ring_refuse;
  assign cfg_o.fragment = rw.control_fragment;
  assign cfg_o.wscale_en = rw.control_wscale_en;
  assign cfg_o.wscale = rw.control_wscale;
  assign cfg_o.rcv_wnd = 32'(rw.rcv_wnd);
  assign cfg_o.mss = rw.mss;
  assign cfg_o.rto_min = rw.rto_min;
  assign cfg_o.rto_max = rw.rto_max;
  assign cfg_o.rto_init = rw.rto_init;
  assign cfg_o.syn_tries = rw.tries_syn;
  assign cfg_o.data_tries = rw.tries_data;
  assign cfg_o.delack = rw.delack;
  assign cfg_o.time_wait = rw.time_wait;
  assign cfg_o.persist_max = rw.persist_max;
  assign cfg_o.arp_retry = rw.arp_retry;
  assign cfg_o.arp_tries = rw.arp_tries;
  assign cfg_o.arp_refresh = rw.arp_refresh;

  assign op_o.sid = rw.session_select;
  assign op_o.vif = rw.session_vif;
  assign op_o.ip = rw.session_peer_ip;
  assign op_o.port = rw.session_ports_peer;
  assign op_o.lport = rw.session_ports_local;
  assign view_sid_o = rw.session_select;

  // ---- values that software reads
  assign hw.build_sizes_sessions = 16'(SessionCount);
  assign hw.build_sizes_arp_entries = 16'(ArpEntries);
  assign hw.build_widths_mac_rx = 8'(MacRxWidth);
  assign hw.build_widths_mac_tx = 8'(MacTxWidth);
  assign hw.build_widths_user_tx = 8'(UserTxWidth);
  assign hw.build_widths_user_rx = 8'(UserRxWidth);
  assign hw.build_limits_mtu = 16'(Mtu);
  assign hw.build_limits_vifs = 4'(VifCount);
  assign {hw.build_features_rx_checksum, hw.build_features_rx_packed,
          hw.build_features_rx_eop_merge, hw.build_features_rx_reordering,
          hw.build_features_rx_out_of_sequence, hw.build_features_tx_drop_if_not_established,
          hw.build_features_tx_congestion_control, hw.build_features_tx_push,
          hw.build_features_status_events, hw.build_features_credit_events,
          hw.build_features_instant_ack, hw.build_features_arp_server,
          hw.build_features_arp_gratuitous, hw.build_features_icmp_server,
          hw.build_features_mac_tx_pad} = Features;
  assign hw.build_memories_tx_addr_bits = 8'(TxMemAddrBits);
  assign hw.build_memories_rx_addr_bits = 8'(RxMemAddrBits);
  assign hw.build_memories_rx_fifo_packets = 8'(RxFifoPackets);
  assign hw.build_memories_rx_pipe = 4'(RxOutputPipe);
  assign hw.build_memories_tx_pipe = 4'(TxOutputPipe);
  assign hw.vif_select = vif_select;
  assign hw.vif_control_enable = vif_shown.enable;
  assign hw.vif_control_vlan = vif_shown.vlan;
  assign hw.vif_control_tag = vif_shown.tag;
  assign {hw.vif_mac_high, hw.vif_mac_low} = vif_shown.mac;
  assign hw.vif_ip = vif_shown.ip;
  assign hw.vif_mask = vif_shown.mask;
  assign hw.vif_gateway = vif_shown.gateway;
  assign hw.session_status_operation_busy = op_busy;
  assign hw.session_status_snapshot_busy = view_busy;
  assign hw.session_status_key_missing = !key_set;
  assign hw.view_state_state = view.state;
  assign hw.view_state_vif = view.vif;
  assign hw.view_state_mss = view.mss;
  assign hw.view_peer_ip = view.ip;
  assign hw.view_ports_local = view.lport;
  assign hw.view_ports_peer = view.port;
  assign hw.view_snd_una = view.snd_una;
  assign hw.view_snd_nxt = view.snd_nxt;
  assign hw.view_rcv_nxt = view.rcv_nxt;
  assign hw.view_snd_wnd = view.snd_wnd;
  assign hw.view_cwnd = view.cwnd;
  assign hw.view_ssthresh = view.ssthresh;
  assign hw.view_times_rto = view.rto;
  assign hw.view_times_srtt = view.srtt;
  assign hw.view_credit = view.credit;
endmodule
