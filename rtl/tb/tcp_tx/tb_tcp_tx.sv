// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Transmitter with plain ports, so that the C++ bench can access every field.
module tb_tcp_tx
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Passed to spfe_tcp_tx.
  parameter int unsigned SessionCount = 16,
  /// Passed to spfe_tcp_tx.
  parameter int unsigned MacWidth = 32,
  /// Passed to spfe_tcp_tx.
  parameter int unsigned UserWidth = 64,
  /// Passed to spfe_tcp_tx.
  parameter int unsigned Mtu = 1500,
  /// Passed to spfe_tcp_tx.
  parameter bit Drop = 1'b0,
  /// Passed to spfe_tcp_tx.
  parameter int unsigned MemAddrBits = 16,
  /// Passed to spfe_tcp_tx.
  parameter int unsigned OutputPipe = 0,
  /// Passed to spfe_tcp_tx.
  parameter bit MacPad = 1'b1
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// SessionCount of this build.
  output logic [31:0] p_sessions_o,
  /// MacWidth of this build.
  output logic [31:0] p_mac_o,
  /// UserWidth of this build.
  output logic [31:0] p_user_o,
  /// Mtu, MemAddrBits, Drop, MacPad and OutputPipe of this build.
  output logic [31:0] p_mtu_o, p_mem_o, p_drop_o, p_pad_o, p_pipe_o,

  /// Field of tcp_cfg_t.
  input logic [15:0] cfg_mss_i,
  /// Field of tcp_cfg_t.
  input logic cfg_fragment_i,
  /// Field of tcp_cfg_t.
  input logic [3:0] cfg_wscale_i,
  /// Field of tcp_cfg_t.
  input logic cfg_ring_refuse_i,
  /// MAC addresses of virtual interfaces 0 and 1.
  input logic [47:0] cfg_mac0_i, cfg_mac1_i,
  /// IP addresses of virtual interfaces 0 and 1.
  input logic [31:0] cfg_ip0_i, cfg_ip1_i,
  /// VLAN tag of virtual interface 1.
  input logic [15:0] cfg_tag1_i,

  /// User stream; see spfe_tcp_tx.
  input logic [UserWidth-1:0] user_data_i,
  /// User stream; see spfe_tcp_tx.
  input logic [UserWidth/8-1:0] user_keep_i,
  /// User stream; see spfe_tcp_tx.
  input logic user_valid_i,
  /// User stream; see spfe_tcp_tx.
  output logic user_ready_o,
  /// User stream; see spfe_tcp_tx.
  input logic user_last_i, user_push_i,
  /// User stream; see spfe_tcp_tx.
  input logic [8:0] user_sid_i,
  /// User stream; see spfe_tcp_tx.
  input logic [1:0] user_mode_i,
  /// User stream; see spfe_tcp_tx.
  input logic [15:0] user_len_i, user_sum_i,

  /// MAC stream; see spfe_tcp_tx.
  output logic [MacWidth-1:0] mac_data_o,
  /// MAC stream; see spfe_tcp_tx.
  output logic [MacWidth/8-1:0] mac_keep_o,
  /// MAC stream; see spfe_tcp_tx.
  output logic mac_valid_o, mac_last_o, mac_err_o,
  /// MAC stream; see spfe_tcp_tx.
  input logic mac_ready_i,
  /// ARP and ICMP stream; see spfe_tcp_tx.
  input logic [MacWidth-1:0] net_data_i,
  /// ARP and ICMP stream; see spfe_tcp_tx.
  input logic [MacWidth/8-1:0] net_keep_i,
  /// ARP and ICMP stream; see spfe_tcp_tx.
  input logic net_valid_i, net_last_i,
  /// ARP and ICMP stream; see spfe_tcp_tx.
  output logic net_ready_o,

  /// Fields of hdr_cmd_t.
  input logic hdr_valid_i,
  /// Fields of hdr_cmd_t.
  output logic hdr_ready_o,
  /// Fields of hdr_cmd_t.
  input logic [8:0] hdr_sid_i,
  /// Fields of hdr_cmd_t.
  input logic [47:0] hdr_dmac_i,
  /// Fields of hdr_cmd_t.
  input logic [31:0] hdr_dip_i,
  /// Fields of hdr_cmd_t.
  input logic [15:0] hdr_dport_i, hdr_sport_i,
  /// Fields of hdr_cmd_t.
  input logic [2:0] hdr_vif_i,
  /// Fields of snd_cmd_t.
  input logic hdr_scaled_i,

  /// Fields of snd_cmd_t.
  input logic snd_valid_i,
  /// Fields of snd_cmd_t.
  output logic snd_ready_o,
  /// Fields of snd_cmd_t.
  input logic [8:0] snd_sid_i,
  /// Fields of snd_cmd_t.
  input logic snd_init_i, snd_open_i, snd_live_i,
  /// Field of snd_cmd_t.
  input logic [15:0] snd_mss_i,
  /// Fields of snd_cmd_t.
  input logic [31:0] snd_iss_i, snd_una_i, snd_lim_i,

  /// Fields of tx_cmd_t.
  input logic cmd_valid_i,
  /// Fields of tx_cmd_t.
  output logic cmd_ready_o,
  /// Fields of tx_cmd_t.
  input logic [8:0] cmd_sid_i,
  /// Fields of tx_cmd_t.
  input logic cmd_seq_nxt_i, cmd_ack_rcv_i, cmd_opt_ws_i,
  /// Fields of tx_cmd_t.
  input logic [31:0] cmd_seq_i, cmd_ack_i,
  /// Fields of tx_cmd_t.
  input logic [5:0] cmd_flags_i,
  /// Fields of tx_cmd_t.
  input logic [15:0] cmd_len_i,

  /// Fields of tx_done_t.
  output logic done_valid_o,
  /// Fields of tx_done_t.
  input logic done_ready_i,
  /// Fields of tx_done_t.
  output logic [1:0] done_kind_o,
  /// Fields of tx_done_t.
  output logic [8:0] done_sid_o,
  /// Fields of tx_done_t.
  output logic [31:0] done_seq_o,
  /// Fields of tx_done_t.
  output logic [15:0] done_len_o,
  /// Fields of tx_done_t.
  output logic [5:0] done_flags_o,
  /// Fields of tx_done_t.
  output logic done_bad_sum_o,

  /// Send pointers of eng_sid_i; see spfe_tcp_tx.
  input logic [8:0] eng_sid_i,
  /// Send pointers of eng_sid_i; see spfe_tcp_tx.
  output logic [31:0] eng_nxt_o, eng_consumed_o, eng_written_o, rx_nxt_o,
  /// RCV.NXT of a session; see spfe_tcp_tx.
  output logic [8:0] rcv_sid_o,
  /// RCV.NXT of a session; see spfe_tcp_tx.
  input logic [31:0] rcv_nxt_i,
  /// Window of a header; see spfe_tcp_tx.
  output logic wnd_valid_o,
  /// Window of a header; see spfe_tcp_tx.
  input logic [31:0] wnd_i,

  /// Ring memory; see spfe_tcp_tx.
  output logic wr_valid_o,
  /// Ring memory; see spfe_tcp_tx.
  input logic wr_ready_i,
  /// Ring memory; see spfe_tcp_tx.
  output logic [MemAddrBits-1:0] wr_addr_o, rd_addr_o,
  /// Ring memory; see spfe_tcp_tx.
  output logic [127:0] wr_data_o,
  /// Ring memory; see spfe_tcp_tx.
  output logic [15:0] wr_mask_o,
  /// Ring memory; see spfe_tcp_tx.
  output logic rd_valid_o,
  /// Ring memory; see spfe_tcp_tx.
  input logic rd_ready_i, rsp_valid_i,
  /// Ring memory; see spfe_tcp_tx.
  input logic [127:0] rsp_data_i,

  /// Fields of event_t.
  output logic event_valid_o,
  /// Fields of event_t.
  output logic [7:0] event_kind_o,
  /// Fields of event_t.
  output logic [15:0] event_sid_o,
  /// Fields of event_t.
  output logic [39:0] event_data_o,
  /// Counter pulses, as the bits of tx_count_t.
  output logic [7:0] count_o
);
  assign p_sessions_o = SessionCount;
  assign p_mac_o = MacWidth;
  assign p_user_o = UserWidth;
  assign p_mtu_o = Mtu;
  assign p_mem_o = MemAddrBits;
  assign p_drop_o = 32'(Drop);
  assign p_pad_o = 32'(MacPad);
  assign p_pipe_o = OutputPipe;

  user_tx_beat_t user;
  mac_beat_t mac, net;
  mem_write_t mem_wr;
  logic [31:0] mem_rd;
  tcp_cfg_t cfg;
  hdr_cmd_t hdr;
  snd_cmd_t snd;
  wnd_req_t wnd_req;
  tx_cmd_t cmd;
  tx_done_t done;
  event_t ev;
  tx_count_t count;

  assign wnd_valid_o = wnd_req.valid;

  always_comb begin
    cfg = '0;
    cfg.enable = 1'b1;
    cfg.mss = cfg_mss_i;
    cfg.fragment = cfg_fragment_i;
    cfg.wscale = cfg_wscale_i;
    cfg.ring_refuse = cfg_ring_refuse_i;
    cfg.vif[0].enable = 1'b1;
    cfg.vif[0].mac = cfg_mac0_i;
    cfg.vif[0].ip = cfg_ip0_i;
    cfg.vif[1].enable = 1'b1;
    cfg.vif[1].mac = cfg_mac1_i;
    cfg.vif[1].ip = cfg_ip1_i;
    cfg.vif[1].vlan = 1'b1;
    cfg.vif[1].tag = cfg_tag1_i;
    hdr.sid = hdr_sid_i;
    hdr.dmac = hdr_dmac_i;
    hdr.dip = hdr_dip_i;
    hdr.dport = hdr_dport_i;
    hdr.sport = hdr_sport_i;
    hdr.vif = hdr_vif_i;
    hdr.scaled = hdr_scaled_i;
    snd.sid = snd_sid_i;
    snd.init = snd_init_i;
    snd.iss = snd_iss_i;
    snd.open = snd_open_i;
    snd.live = snd_live_i;
    snd.mss = snd_mss_i;
    snd.una = snd_una_i;
    snd.lim = snd_lim_i;
    cmd.sid = cmd_sid_i;
    cmd.seq_nxt = cmd_seq_nxt_i;
    cmd.seq = cmd_seq_i;
    cmd.ack_rcv = cmd_ack_rcv_i;
    cmd.ack = cmd_ack_i;
    cmd.flags = cmd_flags_i;
    cmd.len = cmd_len_i;
    cmd.opt_ws = cmd_opt_ws_i;
  end
  assign user = '{
    data: UserBits'(user_data_i),
    keep: (UserBits / 8)'(user_keep_i),
    last: user_last_i,
    head: '{
      sid: user_sid_i, mode: user_mode_i, len: user_len_i, sum: user_sum_i, push: user_push_i
    }
  };
  assign net = '{
    data: MacBits'(net_data_i), keep: (MacBits / 8)'(net_keep_i), last: net_last_i, err: 1'b0
  };
  assign mac_data_o = mac.data[MacWidth-1:0];
  assign mac_keep_o = mac.keep[MacWidth/8-1:0];
  assign mac_last_o = mac.last;
  assign mac_err_o = mac.err;
  assign wr_addr_o = MemAddrBits'(mem_wr.addr);
  assign wr_data_o = mem_wr.data;
  assign wr_mask_o = mem_wr.mask;
  assign rd_addr_o = MemAddrBits'(mem_rd);
  assign done_kind_o = done.kind;
  assign done_sid_o = done.sid;
  assign done_seq_o = done.seq;
  assign done_len_o = done.len;
  assign done_flags_o = done.flags;
  assign done_bad_sum_o = done.bad_sum;
  assign event_kind_o = ev.kind;
  assign event_sid_o = ev.sid;
  assign event_data_o = ev.data;
  assign count_o = count;

  spfe_tcp_tx #(
    .SessionCount(SessionCount),
    .MacWidth(MacWidth),
    .UserWidth(UserWidth),
    .Mtu(Mtu),
    .VifCount(2),
    .DropIfNotEstablished(Drop),
    .Push(1'b0),
    .MemAddrBits(MemAddrBits),
    .OutputPipe(OutputPipe),
    .MacPad(MacPad)
  ) i_tx (
    .clk_i,
    .rst_i,
    .cfg_i(cfg),
    .user_i(user),
    .user_valid_i,
    .user_ready_o,
    .mac_o(mac),
    .mac_valid_o,
    .mac_ready_i,
    .net_i(net),
    .net_valid_i,
    .net_ready_o,
    .hdr_cmd_i(hdr),
    .hdr_cmd_valid_i(hdr_valid_i),
    .hdr_cmd_ready_o(hdr_ready_o),
    .snd_cmd_i(snd),
    .snd_cmd_valid_i(snd_valid_i),
    .snd_cmd_ready_o(snd_ready_o),
    .tx_cmd_i(cmd),
    .tx_cmd_valid_i(cmd_valid_i),
    .tx_cmd_ready_o(cmd_ready_o),
    .tx_done_o(done),
    .tx_done_valid_o(done_valid_o),
    .tx_done_ready_i(done_ready_i),
    .eng_sid_i,
    .eng_ptr_o({eng_nxt_o, eng_consumed_o, eng_written_o}),
    .rx_sid_i(eng_sid_i),
    .rx_nxt_o,
    .rcv_sid_o,
    .rcv_nxt_i,
    .wnd_req_o(wnd_req),
    .wnd_i,
    .mem_wr_o(mem_wr),
    .mem_wr_valid_o(wr_valid_o),
    .mem_wr_ready_i(wr_ready_i),
    .mem_rd_o(mem_rd),
    .mem_rd_valid_o(rd_valid_o),
    .mem_rd_ready_i(rd_ready_i),
    .mem_rsp_i(rsp_data_i),
    .mem_rsp_valid_i(rsp_valid_i),
    .event_o(ev),
    .event_valid_o,
    .count_o(count)
  );
endmodule
