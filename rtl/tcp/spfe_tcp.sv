// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
/// A TCP/IP endpoint between a 10G MAC and a user stream: receiver, transmitter, engine, address
/// resolution and echo, registers, events. docs/tcp-core.md has the theory and the ports.
///
/// Memory for retransmission is outside (spfe_tcp_system.sv puts one beside it).
module spfe_tcp
  import spfe_tcp_pkg::*;
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
  /// Clock of everything.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// One cycle high for each unit of time; all times in the registers are counts of it.
  input logic tick_i,

  /// From the MAC: frames without preamble and FCS; cannot be stalled.
  input logic [MacRxWidth-1:0] mac_rx_data_i,
  /// Bytes that count; all but in the last beat.
  input logic [MacRxWidth/8-1:0] mac_rx_keep_i,
  /// The beat is there.
  input logic mac_rx_valid_i,
  /// Last beat of the frame.
  input logic mac_rx_last_i,
  /// With last: the FCS was wrong.
  input logic mac_rx_err_i,

  /// To the MAC. Within a frame valid does not fall.
  output logic [MacTxWidth-1:0] mac_tx_data_o,
  /// Bytes that count.
  output logic [MacTxWidth/8-1:0] mac_tx_keep_o,
  /// The beat is there.
  output logic mac_tx_valid_o,
  /// The MAC takes it.
  input logic mac_tx_ready_i,
  /// Last beat of the frame.
  output logic mac_tx_last_o,
  /// With last: the frame must be spoilt (wrong FCS).
  output logic mac_tx_err_o,

  /// Messages of the user; the first byte in bits 7:0, all beats full but the last.
  input logic [UserTxWidth-1:0] user_tx_data_i,
  /// Bytes that count.
  input logic [UserTxWidth/8-1:0] user_tx_keep_i,
  /// The beat is there.
  input logic user_tx_valid_i,
  /// It is taken.
  output logic user_tx_ready_o,
  /// Last beat of the message.
  input logic user_tx_last_i,
  /// First beat: session.
  input sid_t user_tx_sid_i,
  /// First beat: 0 nothing known, 1 length known, 2 length and checksum known.
  input logic [1:0] user_tx_mode_i,
  /// First beat: bytes of the message (modes 1 and 2).
  input logic [15:0] user_tx_len_i,
  /// First beat: ones-complement sum of the message, not inverted (mode 2).
  input sum_t user_tx_sum_i,
  /// First beat: set PSH.
  input logic user_tx_push_i,

  /// Payload to the user.
  output logic [UserRxWidth-1:0] user_rx_data_o,
  /// Bytes that count; none in an empty beat.
  output logic [UserRxWidth/8-1:0] user_rx_keep_o,
  /// The beat is there.
  output logic user_rx_valid_o,
  /// Store-and-forward only; cut-through cannot be stalled.
  input logic user_rx_ready_i,
  /// Last beat of the segment.
  output logic user_rx_last_o,
  /// Session.
  output sid_t user_rx_sid_o,
  /// With last: forget this segment (cut-through only).
  output logic user_rx_err_o,
  /// Out of sequence: the first byte is user_rx_rel_o after the one that is expected next.
  output logic user_rx_oos_o,
  /// Distance in bytes, with user_rx_oos_o.
  output seq_t user_rx_rel_o,

  /// Events.
  output event_t event_data_o,
  /// An event is there.
  output logic event_valid_o,
  /// It is taken.
  input logic event_ready_i,

  /// Memory for retransmission: writes of 16 bytes under a mask.
  output logic mem_wr_valid_o,
  /// The write is taken.
  input logic mem_wr_ready_i,
  /// Number of the word.
  output logic [TxMemAddrBits-1:0] mem_wr_addr_o,
  /// First byte in bits 7:0.
  output logic [127:0] mem_wr_data_o,
  /// Bytes that are written.
  output logic [15:0] mem_wr_mask_o,
  /// Reads; answers come in order, after any time, and cannot be stalled.
  output logic mem_rd_valid_o,
  /// The read is taken.
  input logic mem_rd_ready_i,
  /// Number of the word.
  output logic [TxMemAddrBits-1:0] mem_rd_addr_o,
  /// An answer is there.
  input logic mem_rsp_valid_i,
  /// First byte in bits 7:0.
  input logic [127:0] mem_rsp_data_i,

  /// AXI4-Lite, 4 KiB of 32-bit registers.
  input logic [11:0] s_axil_awaddr_i,
  /// Write address: valid.
  input logic s_axil_awvalid_i,
  /// Write address: ready.
  output logic s_axil_awready_o,
  /// Write data: data.
  input logic [31:0] s_axil_wdata_i,
  /// Write data: strb.
  input logic [3:0] s_axil_wstrb_i,
  /// Write data: valid.
  input logic s_axil_wvalid_i,
  /// Write data: ready.
  output logic s_axil_wready_o,
  /// Write response: resp.
  output logic [1:0] s_axil_bresp_o,
  /// Write response: valid.
  output logic s_axil_bvalid_o,
  /// Write response: ready.
  input logic s_axil_bready_i,
  /// Read address: addr.
  input logic [11:0] s_axil_araddr_i,
  /// Read address: valid.
  input logic s_axil_arvalid_i,
  /// Read address: ready.
  output logic s_axil_arready_o,
  /// Read data: data.
  output logic [31:0] s_axil_rdata_o,
  /// Read data: resp.
  output logic [1:0] s_axil_rresp_o,
  /// Read data: valid.
  output logic s_axil_rvalid_o,
  /// Read data: ready.
  input logic s_axil_rready_i
);
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
  user_head_t user_tx_head;

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
  logic [MacTxWidth-1:0] net_data;
  logic [MacTxWidth/8-1:0] net_keep;
  logic net_valid, net_ready, net_last;

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
  rx_count_t rx_count;
  tx_count_t tx_count;
  eng_count_t eng_count;
  net_count_t net_count;
  logic event_lost;

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
    .mac_data_i(mac_rx_data_i),
    .mac_keep_i(mac_rx_keep_i),
    .mac_valid_i(mac_rx_valid_i),
    .mac_last_i(mac_rx_last_i),
    .mac_err_i(mac_rx_err_i),
    .user_data_o(user_rx_data_o),
    .user_keep_o(user_rx_keep_o),
    .user_valid_o(user_rx_valid_o),
    .user_ready_i(user_rx_ready_i),
    .user_last_o(user_rx_last_o),
    .user_sid_o(user_rx_sid_o),
    .user_err_o(user_rx_err_o),
    .user_oos_o(user_rx_oos_o),
    .user_rel_o(user_rx_rel_o),
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
    .count_o(rx_count)
  );

  assign user_tx_head = '{
      sid: user_tx_sid_i,
      mode: user_tx_mode_i,
      len: user_tx_len_i,
      sum: user_tx_sum_i,
      push: user_tx_push_i
    };

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
    .user_data_i(user_tx_data_i),
    .user_keep_i(user_tx_keep_i),
    .user_valid_i(user_tx_valid_i),
    .user_ready_o(user_tx_ready_o),
    .user_last_i(user_tx_last_i),
    .user_head_i(user_tx_head),
    .mac_data_o(mac_tx_data_o),
    .mac_keep_o(mac_tx_keep_o),
    .mac_valid_o(mac_tx_valid_o),
    .mac_ready_i(mac_tx_ready_i),
    .mac_last_o(mac_tx_last_o),
    .mac_err_o(mac_tx_err_o),
    .net_data_i(net_data),
    .net_keep_i(net_keep),
    .net_valid_i(net_valid),
    .net_ready_o(net_ready),
    .net_last_i(net_last),
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
    .mem_wr_valid_o,
    .mem_wr_ready_i,
    .mem_wr_addr_o,
    .mem_wr_data_o,
    .mem_wr_mask_o,
    .mem_rd_valid_o,
    .mem_rd_ready_i,
    .mem_rd_addr_o,
    .mem_rsp_valid_i,
    .mem_rsp_data_i,
    .event_o(tx_event),
    .event_valid_o(tx_event_valid),
    .count_o(tx_count)
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
    .count_o(eng_count)
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
    .mac_rx_data_i,
    .mac_rx_keep_i,
    .mac_rx_valid_i,
    .mac_rx_last_i,
    .mac_rx_err_i,
    .net_data_o(net_data),
    .net_keep_o(net_keep),
    .net_valid_o(net_valid),
    .net_ready_i(net_ready),
    .net_last_o(net_last),
    .query_i(arp_query),
    .query_valid_i(arp_query_valid),
    .answer_o(arp_answer),
    .answer_valid_o(arp_answer_valid),
    .update_o(arp_update),
    .update_valid_o(arp_update_valid),
    .update_ready_i(arp_update_ready),
    .event_o(arp_event),
    .event_valid_o(arp_event_valid),
    .count_o(net_count)
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
    .event_o(event_data_o),
    .event_valid_o,
    .event_ready_i,
    .lost_o(event_lost)
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
    .Features({
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
    }),
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
    .rx_count_i(rx_count),
    .tx_count_i(tx_count),
    .eng_count_i(eng_count),
    .net_count_i(net_count),
    .event_lost_i(event_lost),
    // Latency probes: first beats.
    .mac_rx_valid_i,
    .mac_rx_last_i,
    .mac_tx_valid_i(mac_tx_valid_o),
    .mac_tx_ready_i,
    .mac_tx_last_i(mac_tx_last_o),
    .user_tx_valid_i,
    .user_tx_ready_i(user_tx_ready_o),
    .user_tx_last_i,
    .user_rx_valid_i(user_rx_valid_o),
    .user_rx_ready_i,
    .user_rx_last_i(user_rx_last_o),
    .s_axil_awaddr_i,
    .s_axil_awvalid_i,
    .s_axil_awready_o,
    .s_axil_wdata_i,
    .s_axil_wstrb_i,
    .s_axil_wvalid_i,
    .s_axil_wready_o,
    .s_axil_bresp_o,
    .s_axil_bvalid_o,
    .s_axil_bready_i,
    .s_axil_araddr_i,
    .s_axil_arvalid_i,
    .s_axil_arready_o,
    .s_axil_rdata_o,
    .s_axil_rresp_o,
    .s_axil_rvalid_o,
    .s_axil_rready_i
  );

endmodule
