// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
/// A TCP/IP endpoint between a 10G MAC and a user stream: receiver, transmitter, engine, address
/// resolution and echo, registers, events. docs/tcp-core.md has the theory and the ports.
///
/// Memory for retransmission is outside (spfe_tcp_system.sv puts one beside it).
module spfe_tcp
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Sessions, 2 to 256 (SESSION_COUNT).
  parameter int unsigned SessionCount = 16,
  /// Width of the stream from the MAC in bits, 32 or 64 (MAC2TCP_DATA_WIDTH).
  parameter int unsigned MacRxWidth = 32,
  /// Width of the stream to the MAC in bits, 32 or 64 (TCP2MAC_DATA_WIDTH).
  parameter int unsigned MacTxWidth = 32,
  /// Width of the user's stream to us in bits, 32, 64 or 128 (USER2TCP_DATA_WIDTH).
  parameter int unsigned UserTxWidth = 64,
  /// Width of our stream to the user in bits, 32, 64 or 128 (TCP2USER_DATA_WIDTH).
  parameter int unsigned UserRxWidth = 64,
  /// Largest IP packet in bytes, 576 to 9000 (MTU).
  parameter int unsigned Mtu = 1500,
  /// Different tags, at most VifCount (VLAN_COUNT).
  parameter int unsigned VlanCount = 1,
  /// Different addresses of the MAC, at most VifCount (MAC_ADDRESS_COUNT).
  parameter int unsigned MacAddressCount = 1,
  /// Virtual interfaces, 1 to 8 (VIRTUAL_INTERFACES_COUNT).
  parameter int unsigned VifCount = 1,
  /// 1: checksums are verified and frames are stored before anything is delivered
  /// (RX_CHECKSUM_VERIFICATION_EN); 0: cut-through.
  parameter bit RxChecksum = 1'b1,
  /// 1: full beats from the first one; 0: the first beat has the two bytes that come first.
  parameter bit RxPacked = 1'b1,
  /// Cut-through, 1: the last beat waits for the end of the frame; 0: an empty beat tells its fate.
  parameter bit RxEopMerge = 1'b0,
  /// Frames of MTU size that fit in the FIFO of store-and-forward (RX_FIFO_PACKET_COUNT).
  parameter int unsigned RxFifoPackets = 3,
  /// Segments out of order are kept and put in order (RX_REORDERING_EN); only with RxChecksum.
  parameter bit RxReordering = 1'b0,
  /// log2 of the words of the memory for it, over all sessions (RX_REORDERING_MEM_ADDR_WIDTH).
  parameter int unsigned RxMemAddrBits = 15,
  /// Segments out of order are delivered at once, marked with their distance (RX_OOS_SEQNUM_EN).
  parameter bit RxOutOfSequence = 1'b0,
  /// Messages to a session that is not established are discarded, not stalled
  /// (TX_DROP_IF_NOT_ESTABLISHED_EN).
  parameter bit TxDropIfNotEstablished = 1'b0,
  /// NewReno (TX_CONGESTION_CONTROL_EN).
  parameter bit TxCongestionControl = 1'b0,
  /// PSH of segments with data, beside what the user asks for (TX_PUSH_BIT_VALUE).
  parameter bit TxPush = 1'b0,
  /// log2 of the 16-byte words of the memory for retransmission, over all sessions
  /// (TX_RETRANSMIT_MEM_ADDR_WIDTH).
  parameter int unsigned TxMemAddrBits = 16,
  /// Events at each change of a session's state (EMI_STATUS_EN).
  parameter bit StatusEvents = 1'b0,
  /// Events when bytes of the ring become free (EMI_CREDIT_EN).
  parameter bit CreditEvents = 1'b0,
  /// Each segment with data is acknowledged at once (INSTANT_ACK_EN).
  parameter bit InstantAck = 1'b0,
  /// Requests for our addresses are answered (ARP_SERVER_EN).
  parameter bit ArpServer = 1'b1,
  /// Entries of the table (ARP_TABLE_ENTRY_COUNT).
  parameter int unsigned ArpEntries = 32,
  /// Our addresses are announced and used entries refreshed (ARP_GRATUITOUS_REFRESH_EN).
  parameter bit ArpGratuitous = 1'b1,
  /// Echo requests are answered (ICMP_SERVER_EN).
  parameter bit IcmpServer = 1'b1,
  /// Registers behind the user's receive side, each one cycle (RX_OUTPUT_PIPE_COUNT).
  parameter int unsigned RxOutputPipe = 0,
  /// Registers before the MAC, each one cycle (TX_OUTPUT_PIPE_COUNT).
  parameter int unsigned TxOutputPipe = 0,
  /// Frames are padded to 60 bytes here; 0: the MAC does it.
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
  localparam logic [14:0] Features = {
    RxChecksum,
    RxPacked,
    RxEopMerge,
    RxReordering,
    RxOutOfSequence,
    TxDropIfNotEstablished,
    TxCongestionControl,
    TxPush,
    StatusEvents,
    CreditEvents,
    InstantAck,
    ArpServer,
    ArpGratuitous,
    IcmpServer,
    MacTxPad
  };

  tcp_cfg_t cfg;
  logic core_rst;  // of all blocks but the registers: rst_i, or by software

  // Engine and receiver.
  seg_t seg;
  logic seg_valid;
  rcv_cmd_t rcv_cmd;
  logic rcv_cmd_valid, rcv_cmd_ready;
  key_cmd_t key_cmd;
  logic key_cmd_valid;
  sid_t ack_lo_sid;
  seq_t ack_lo;

  // Engine and transmitter.
  hdr_cmd_t hdr_cmd;
  logic hdr_cmd_valid, hdr_cmd_ready;
  snd_cmd_t snd_cmd;
  logic snd_cmd_valid, snd_cmd_ready;
  tx_cmd_t tx_cmd;
  logic tx_cmd_valid, tx_cmd_ready;
  tx_done_t tx_done;
  logic tx_done_valid, tx_done_ready;
  sid_t snd_rd_sid;
  snd_ptr_t snd_rd_ptr;

  // Receiver and transmitter: RCV.NXT for headers, SND.NXT for acknowledgements that come in.
  sid_t tx_rcv_sid;
  seq_t tx_rcv_nxt;
  sid_t eng_rcv_sid;
  seq_t eng_rcv_nxt;
  sid_t rx_snd_sid;
  seq_t rx_snd_nxt;

  // Address resolution.
  arp_query_t arp_query;
  logic arp_query_valid;
  arp_answer_t arp_answer;
  logic arp_answer_valid;
  arp_update_t arp_update;
  logic arp_update_valid, arp_update_ready;

  // Frames of ARP and ICMP to the MAC.
  mac_beat_t net;
  logic net_valid, net_ready;

  // Software.
  op_cmd_t op_cmd;
  logic op_valid, op_ready;
  sid_t view_sid;
  logic view_req, view_valid;
  view_t view;

  // Events and counters.
  event_t eng_event, tx_event, rx_event, arp_event;
  logic eng_event_valid, eng_event_ready;
  logic tx_event_valid, rx_event_valid, arp_event_valid;
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
    .VlanCount(VlanCount),
    .MacAddressCount(MacAddressCount),
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
