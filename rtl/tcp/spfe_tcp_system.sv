// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_tcp with the memory for retransmission beside it, in block RAM.
module spfe_tcp_system
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
  parameter bit MacTxPad = 1'b1,
  /// Cycles of the memory's clock from a read to its answer
  /// (TX_RETRANSMIT_MEM_INTERNAL_LATENCY).
  parameter int unsigned TxMemLatency = 2,
  /// 1: the memory runs on mem_clk_i; 0: on clk_i (TX_RETRANSMIT_MEM_INTERNAL_DUAL_CLOCK).
  parameter bit TxMemDualClock = 1'b0
) (
  /// Clock of everything.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// Clock of the memory, with TxMemDualClock; otherwise not used.
  input logic mem_clk_i,
  /// Reset in the memory's clock, active high, together with rst_i: each lasts until both clocks
  /// have ticked three times.
  input logic mem_rst_i,
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
  logic wr_valid, wr_ready, rd_valid, rd_ready, rsp_valid;
  logic [TxMemAddrBits-1:0] wr_addr, rd_addr;
  logic [127:0] wr_data, rsp_data;
  logic [15:0] wr_mask;

  spfe_tcp #(
    .SessionCount(SessionCount),
    .MacRxWidth(MacRxWidth),
    .MacTxWidth(MacTxWidth),
    .UserTxWidth(UserTxWidth),
    .UserRxWidth(UserRxWidth),
    .Mtu(Mtu),
    .VlanCount(VlanCount),
    .MacAddressCount(MacAddressCount),
    .VifCount(VifCount),
    .RxChecksum(RxChecksum),
    .RxPacked(RxPacked),
    .RxEopMerge(RxEopMerge),
    .RxFifoPackets(RxFifoPackets),
    .RxReordering(RxReordering),
    .RxMemAddrBits(RxMemAddrBits),
    .RxOutOfSequence(RxOutOfSequence),
    .TxDropIfNotEstablished(TxDropIfNotEstablished),
    .TxCongestionControl(TxCongestionControl),
    .TxPush(TxPush),
    .TxMemAddrBits(TxMemAddrBits),
    .StatusEvents(StatusEvents),
    .CreditEvents(CreditEvents),
    .InstantAck(InstantAck),
    .ArpServer(ArpServer),
    .ArpEntries(ArpEntries),
    .ArpGratuitous(ArpGratuitous),
    .IcmpServer(IcmpServer),
    .RxOutputPipe(RxOutputPipe),
    .TxOutputPipe(TxOutputPipe),
    .MacTxPad(MacTxPad)
  ) i_core (
    .clk_i,
    .rst_i,
    .tick_i,
    .mac_rx_data_i,
    .mac_rx_keep_i,
    .mac_rx_valid_i,
    .mac_rx_last_i,
    .mac_rx_err_i,
    .mac_tx_data_o,
    .mac_tx_keep_o,
    .mac_tx_valid_o,
    .mac_tx_ready_i,
    .mac_tx_last_o,
    .mac_tx_err_o,
    .user_tx_data_i,
    .user_tx_keep_i,
    .user_tx_valid_i,
    .user_tx_ready_o,
    .user_tx_last_i,
    .user_tx_sid_i,
    .user_tx_mode_i,
    .user_tx_len_i,
    .user_tx_sum_i,
    .user_tx_push_i,
    .user_rx_data_o,
    .user_rx_keep_o,
    .user_rx_valid_o,
    .user_rx_ready_i,
    .user_rx_last_o,
    .user_rx_sid_o,
    .user_rx_err_o,
    .user_rx_oos_o,
    .user_rx_rel_o,
    .event_data_o,
    .event_valid_o,
    .event_ready_i,
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
    .s_axil_rready_i,
    .mem_wr_valid_o(wr_valid),
    .mem_wr_ready_i(wr_ready),
    .mem_wr_addr_o(wr_addr),
    .mem_wr_data_o(wr_data),
    .mem_wr_mask_o(wr_mask),
    .mem_rd_valid_o(rd_valid),
    .mem_rd_ready_i(rd_ready),
    .mem_rd_addr_o(rd_addr),
    .mem_rsp_valid_i(rsp_valid),
    .mem_rsp_data_i(rsp_data)
  );

  spfe_tcp_mem #(
    .AddrBits(TxMemAddrBits),
    .Latency(TxMemLatency),
    .DualClock(TxMemDualClock)
  ) i_mem (
    .clk_i,
    .rst_i,
    .mem_clk_i,
    .mem_rst_i,
    .wr_valid_i(wr_valid),
    .wr_ready_o(wr_ready),
    .wr_addr_i(wr_addr),
    .wr_data_i(wr_data),
    .wr_mask_i(wr_mask),
    .rd_valid_i(rd_valid),
    .rd_ready_o(rd_ready),
    .rd_addr_i(rd_addr),
    .rsp_valid_o(rsp_valid),
    .rsp_data_o(rsp_data)
  );
endmodule
