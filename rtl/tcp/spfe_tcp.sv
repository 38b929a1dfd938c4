// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// TCP/IP endpoint between a 10G MAC and a user stream: see docs/tcp-core.md. The memory for
/// retransmission is outside; spfe_tcp_system has one.
module spfe_tcp
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the stream from the MAC in bits: 32 or 64.
  parameter int unsigned MacRxWidth = 32,
  /// Width of the stream to the MAC in bits: 32 or 64.
  parameter int unsigned MacTxWidth = 32,
  /// Width of the stream from the user in bits: 32, 64 or 128.
  parameter int unsigned UserTxWidth = 64,
  /// Width of the stream to the user in bits: 32, 64 or 128, not below MacRxWidth.
  parameter int unsigned UserRxWidth = 64,
  /// Largest IP packet in bytes, 576 to 9000.
  parameter int unsigned Mtu = 1500,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: store-and-forward, with checksums verified; 0: cut-through.
  parameter bit RxChecksum = 1'b1,
  /// 1: the first beat of a segment is full; 0: it holds the two bytes of the first payload word.
  parameter bit RxPacked = 1'b1,
  /// Cut-through. 1: the last beat waits for the verdict; 0: an empty beat carries it.
  parameter bit RxEopMerge = 1'b0,
  /// Number of frames of Mtu bytes in the FIFO of store-and-forward, 1 to 255; limits the windows.
  parameter int unsigned RxFifoPackets = 64,
  /// 1: segments out of order are kept and delivered in order; needs RxChecksum.
  parameter bit RxReordering = 1'b0,
  /// log2 of the number of 16-byte words in the reordering memory, over all sessions.
  parameter int unsigned RxMemAddrBits = 15,
  /// 1: segments out of order are delivered at once, with their distance from RCV.NXT.
  parameter bit RxOutOfSequence = 1'b0,
  /// 1: messages to a session that is not established are discarded; 0: they stall the user.
  parameter bit TxDropIfNotEstablished = 1'b0,
  /// 1: congestion control (NewReno, RFC 6582).
  parameter bit TxCongestionControl = 1'b0,
  /// 1: all segments with data carry PSH; 0: only those for which the user asks.
  parameter bit TxPush = 1'b0,
  /// log2 of the number of 16-byte words in the memory for retransmission, over all sessions.
  parameter int unsigned TxMemAddrBits = 16,
  /// 1: an event for each change of a session's state.
  parameter bit StatusEvents = 1'b0,
  /// 1: an event when bytes of a session's ring become free.
  parameter bit CreditEvents = 1'b0,
  /// 1: each segment with data is acknowledged at once; 0: acknowledgements may be delayed.
  parameter bit InstantAck = 1'b0,
  /// 1: ARP requests for our addresses are answered.
  parameter bit ArpServer = 1'b1,
  /// Number of entries in the ARP table, 2 to 256.
  parameter int unsigned ArpEntries = 32,
  /// 1: our addresses are announced, and used ARP entries refreshed.
  parameter bit ArpGratuitous = 1'b1,
  /// 1: ICMP echo requests are answered.
  parameter bit IcmpServer = 1'b1,
  /// Number of register stages before the user; each adds one cycle of latency.
  parameter int unsigned RxOutputPipe = 0,
  /// Number of register stages before the MAC; each adds one cycle of latency.
  parameter int unsigned TxOutputPipe = 0,
  /// 1: the core pads frames to 60 bytes; 0: the MAC does.
  parameter bit MacTxPad = 1'b1
) (
  input logic clk_i,
  input logic rst_i,
  /// High for one cycle in each unit of time; the registers give all times as counts of it.
  input logic tick_i,

  /// Frame from the MAC, which cannot be stalled.
  input mac_beat_t mac_rx_i,
  input logic mac_rx_valid_i,
  /// Frame to the MAC. Within a frame valid does not fall.
  output mac_beat_t mac_tx_o,
  output logic mac_tx_valid_o,
  input logic mac_tx_ready_i,

  /// Message of the user: the payload of one segment.
  input user_tx_beat_t user_tx_i,
  input logic user_tx_valid_i,
  output logic user_tx_ready_o,
  /// Payload to the user. Cut-through (RxChecksum = 0) ignores ready.
  output user_rx_beat_t user_rx_o,
  output logic user_rx_valid_o,
  input logic user_rx_ready_i,
  /// Event to the user: a session opened or closed, a message was refused, and so on.
  output event_t event_o,
  output logic event_valid_o,
  input logic event_ready_i,

  /// Write to the memory for retransmission. A read that is accepted later must find it.
  output mem_write_t mem_wr_o,
  output logic mem_wr_valid_o,
  input logic mem_wr_ready_i,
  /// Read of the memory: word address. Answers come in order, after any number of cycles.
  output logic [31:0] mem_rd_o,
  output logic mem_rd_valid_o,
  input logic mem_rd_ready_i,
  /// Answer to a read, the first byte in bits 7:0; cannot be stalled.
  input logic [127:0] mem_rsp_i,
  input logic mem_rsp_valid_i,
  /// AXI4-Lite slave, from the master: 4 KiB of 32-bit registers.
  input axil_req_t axil_req_i,
  /// AXI4-Lite slave, to the master.
  output axil_rsp_t axil_rsp_o
);
  // verilog_format: off
  localparam logic [14:0] Features = {
    RxChecksum, RxPacked, RxEopMerge, RxReordering, RxOutOfSequence, TxDropIfNotEstablished,
    TxCongestionControl, TxPush, StatusEvents, CreditEvents, InstantAck, ArpServer, ArpGratuitous,
    IcmpServer, MacTxPad
  };
  // verilog_format: on

  tcp_cfg_t cfg;
  logic core_rst;  // reset of all blocks but the registers: rst_i, or by software
  // Receiver and engine.
  seg_t seg;
  rcv_cmd_t rcv_cmd;
  key_cmd_t key_cmd;
  logic seg_valid, rcv_cmd_valid, rcv_cmd_ready, key_cmd_valid, wnd_open_ready;
  wnd_open_t wnd_open;
  // Transmitter and engine.
  hdr_cmd_t hdr_cmd;
  snd_cmd_t snd_cmd;
  tx_cmd_t tx_cmd;
  tx_done_t tx_done;
  logic hdr_cmd_valid, hdr_cmd_ready, snd_cmd_valid, snd_cmd_ready, tx_cmd_valid, tx_cmd_ready;
  logic tx_done_valid, tx_done_ready;
  // What blocks read of each other.
  wnd_req_t wnd_req;
  sid_t ack_lo_sid, eng_rcv_sid, snd_rd_sid, tx_rcv_sid, rx_snd_sid;
  seq_t ack_lo, eng_rcv_nxt, tx_rcv_nxt, rx_snd_nxt, tx_wnd;
  snd_ptr_t snd_rd_ptr;
  // ARP and ICMP with the engine and the transmitter.
  arp_query_t arp_query;
  arp_answer_t arp_answer;
  arp_update_t arp_update;
  mac_beat_t net;
  logic arp_query_valid, arp_answer_valid, arp_update_valid, arp_update_ready, net_valid, net_ready;
  // Registers and engine.
  op_cmd_t op_cmd;
  sid_t view_sid;
  view_t view;
  logic op_valid, op_ready, view_req, view_valid;
  // Events and counters of all blocks.
  event_t eng_event, tx_event, rx_event, arp_event;
  logic eng_event_valid, eng_event_ready, tx_event_valid, rx_event_valid, arp_event_valid;
  count_t count;

  spfe_tcp_rx #(
    .SessionCount(SessionCount),
    .MacWidth(MacRxWidth),
    .UserWidth(UserRxWidth),
    .Mtu(Mtu),
    .VifCount(VifCount),
    .Checksum(RxChecksum),
    .Packed(RxPacked),
    .EopMerge(RxEopMerge),
    .FifoPackets(RxFifoPackets),
    .Reordering(RxReordering),
    .MemAddrBits(RxMemAddrBits),
    .OutOfSequence(RxOutOfSequence),
    .OutputPipe(RxOutputPipe)
  ) i_rx (
    .clk_i,
    .rst_i(core_rst),
    .cfg_i(cfg),
    .mac_i(mac_rx_i),
    .mac_valid_i(mac_rx_valid_i),
    .user_o(user_rx_o),
    .user_valid_o(user_rx_valid_o),
    .user_ready_i(user_rx_ready_i),
    .seg_o(seg),
    .seg_valid_o(seg_valid),
    .rcv_cmd_i(rcv_cmd),
    .rcv_cmd_valid_i(rcv_cmd_valid),
    .rcv_cmd_ready_o(rcv_cmd_ready),
    .key_cmd_i(key_cmd),
    .key_cmd_valid_i(key_cmd_valid),
    .tx_sid_i(tx_rcv_sid),
    .tx_nxt_o(tx_rcv_nxt),
    .wnd_req_i(wnd_req),
    .wnd_o(tx_wnd),
    .wnd_open_o(wnd_open),
    .wnd_open_ready_i(wnd_open_ready),
    .eng_sid_i(eng_rcv_sid),
    .eng_nxt_o(eng_rcv_nxt),
    .ack_sid_o(ack_lo_sid),
    .ack_lo_i(ack_lo),
    .snd_sid_o(rx_snd_sid),
    .snd_nxt_i(rx_snd_nxt),
    .event_o(rx_event),
    .event_valid_o(rx_event_valid),
    .count_o(count.rx)
  );

  spfe_tcp_tx #(
    .SessionCount(SessionCount),
    .MacWidth(MacTxWidth),
    .UserWidth(UserTxWidth),
    .Mtu(Mtu),
    .VifCount(VifCount),
    .DropIfNotEstablished(TxDropIfNotEstablished),
    .Push(TxPush),
    .MemAddrBits(TxMemAddrBits),
    .OutputPipe(TxOutputPipe),
    .MacPad(MacTxPad)
  ) i_tx (
    .clk_i,
    .rst_i(core_rst),
    .cfg_i(cfg),
    .user_i(user_tx_i),
    .user_valid_i(user_tx_valid_i),
    .user_ready_o(user_tx_ready_o),
    .mac_o(mac_tx_o),
    .mac_valid_o(mac_tx_valid_o),
    .mac_ready_i(mac_tx_ready_i),
    .net_i(net),
    .net_valid_i(net_valid),
    .net_ready_o(net_ready),
    .hdr_cmd_i(hdr_cmd),
    .hdr_cmd_valid_i(hdr_cmd_valid),
    .hdr_cmd_ready_o(hdr_cmd_ready),
    .snd_cmd_i(snd_cmd),
    .snd_cmd_valid_i(snd_cmd_valid),
    .snd_cmd_ready_o(snd_cmd_ready),
    .tx_cmd_i(tx_cmd),
    .tx_cmd_valid_i(tx_cmd_valid),
    .tx_cmd_ready_o(tx_cmd_ready),
    .tx_done_o(tx_done),
    .tx_done_valid_o(tx_done_valid),
    .tx_done_ready_i(tx_done_ready),
    .eng_sid_i(snd_rd_sid),
    .eng_ptr_o(snd_rd_ptr),
    .rx_sid_i(rx_snd_sid),
    .rx_nxt_o(rx_snd_nxt),
    .rcv_sid_o(tx_rcv_sid),
    .rcv_nxt_i(tx_rcv_nxt),
    .wnd_req_o(wnd_req),
    .wnd_i(tx_wnd),
    .mem_wr_o,
    .mem_wr_valid_o,
    .mem_wr_ready_i,
    .mem_rd_o,
    .mem_rd_valid_o,
    .mem_rd_ready_i,
    .mem_rsp_i,
    .mem_rsp_valid_i,
    .event_o(tx_event),
    .event_valid_o(tx_event_valid),
    .count_o(count.tx)
  );

  spfe_tcp_engine #(
    .SessionCount(SessionCount),
    .VifCount(VifCount),
    .MemAddrBits(TxMemAddrBits),
    .CongestionControl(TxCongestionControl),
    .StatusEvents(StatusEvents),
    .CreditEvents(CreditEvents),
    .InstantAck(InstantAck)
  ) i_engine (
    .clk_i,
    .rst_i(core_rst),
    .tick_i,
    .cfg_i(cfg),
    .seg_i(seg),
    .seg_valid_i(seg_valid),
    .wnd_open_i(wnd_open),
    .wnd_open_ready_o(wnd_open_ready),
    .rcv_cmd_o(rcv_cmd),
    .rcv_cmd_valid_o(rcv_cmd_valid),
    .rcv_cmd_ready_i(rcv_cmd_ready),
    .rcv_sid_o(eng_rcv_sid),
    .rcv_nxt_i(eng_rcv_nxt),
    .key_cmd_o(key_cmd),
    .key_cmd_valid_o(key_cmd_valid),
    .ack_sid_i(ack_lo_sid),
    .ack_lo_o(ack_lo),
    .hdr_cmd_o(hdr_cmd),
    .hdr_cmd_valid_o(hdr_cmd_valid),
    .hdr_cmd_ready_i(hdr_cmd_ready),
    .snd_cmd_o(snd_cmd),
    .snd_cmd_valid_o(snd_cmd_valid),
    .snd_cmd_ready_i(snd_cmd_ready),
    .tx_cmd_o(tx_cmd),
    .tx_cmd_valid_o(tx_cmd_valid),
    .tx_cmd_ready_i(tx_cmd_ready),
    .tx_done_i(tx_done),
    .tx_done_valid_i(tx_done_valid),
    .tx_done_ready_o(tx_done_ready),
    .snd_sid_o(snd_rd_sid),
    .snd_ptr_i(snd_rd_ptr),
    .arp_query_o(arp_query),
    .arp_query_valid_o(arp_query_valid),
    .arp_answer_i(arp_answer),
    .arp_answer_valid_i(arp_answer_valid),
    .arp_update_i(arp_update),
    .arp_update_valid_i(arp_update_valid),
    .arp_update_ready_o(arp_update_ready),
    .op_i(op_cmd),
    .op_valid_i(op_valid),
    .op_ready_o(op_ready),
    .view_sid_i(view_sid),
    .view_req_i(view_req),
    .view_o(view),
    .view_valid_o(view_valid),
    .event_o(eng_event),
    .event_valid_o(eng_event_valid),
    .event_ready_i(eng_event_ready),
    .count_o(count.eng)
  );

  spfe_tcp_net #(
    .MacRxWidth(MacRxWidth),
    .MacTxWidth(MacTxWidth),
    .VifCount(VifCount),
    .ArpServer(ArpServer),
    .ArpEntries(ArpEntries),
    .ArpGratuitous(ArpGratuitous),
    .IcmpServer(IcmpServer),
    .Mtu(Mtu)
  ) i_net (
    .clk_i,
    .rst_i(core_rst),
    .tick_i,
    .cfg_i(cfg),
    .mac_i(mac_rx_i),
    .mac_valid_i(mac_rx_valid_i),
    .net_o(net),
    .net_valid_o(net_valid),
    .net_ready_i(net_ready),
    .query_i(arp_query),
    .query_valid_i(arp_query_valid),
    .answer_o(arp_answer),
    .answer_valid_o(arp_answer_valid),
    .update_o(arp_update),
    .update_valid_o(arp_update_valid),
    .update_ready_i(arp_update_ready),
    .event_o(arp_event),
    .event_valid_o(arp_event_valid),
    .count_o(count.net)
  );

  spfe_tcp_events i_events (
    .clk_i,
    .rst_i(core_rst),
    .eng_event_i(eng_event),
    .eng_valid_i(eng_event_valid),
    .eng_ready_o(eng_event_ready),
    .tx_event_i(tx_event),
    .tx_valid_i(tx_event_valid),
    .rx_event_i(rx_event),
    .rx_valid_i(rx_event_valid),
    .arp_event_i(arp_event),
    .arp_valid_i(arp_event_valid),
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .lost_o(count.event_lost)
  );

  spfe_tcp_regs #(
    .SessionCount(SessionCount),
    .MacRxWidth(MacRxWidth),
    .MacTxWidth(MacTxWidth),
    .UserTxWidth(UserTxWidth),
    .UserRxWidth(UserRxWidth),
    .Mtu(Mtu),
    .VifCount(VifCount),
    .Features(Features),
    .RxFifoPackets(RxFifoPackets),
    .RxMemAddrBits(RxMemAddrBits),
    .TxMemAddrBits(TxMemAddrBits),
    .ArpEntries(ArpEntries),
    .RxOutputPipe(RxOutputPipe),
    .TxOutputPipe(TxOutputPipe)
  ) i_regs (
    .clk_i,
    .rst_i,
    .core_rst_o(core_rst),
    .cfg_o(cfg),
    .op_o(op_cmd),
    .op_valid_o(op_valid),
    .op_ready_i(op_ready),
    .view_sid_o(view_sid),
    .view_req_o(view_req),
    .view_i(view),
    .view_valid_i(view_valid),
    .count_i(count),
    .mac_rx_i('{valid: mac_rx_valid_i, ready: 1'b1, last: mac_rx_i.last}),
    .mac_tx_i('{valid: mac_tx_valid_o, ready: mac_tx_ready_i, last: mac_tx_o.last}),
    .user_tx_i('{valid: user_tx_valid_i, ready: user_tx_ready_o, last: user_tx_i.last}),
    .user_rx_i('{valid: user_rx_valid_o, ready: user_rx_ready_i, last: user_rx_o.last}),
    .axil_req_i,
    .axil_rsp_o
  );
endmodule
