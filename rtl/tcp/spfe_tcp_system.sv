// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_tcp with the memory for retransmission beside it, in block RAM.
module spfe_tcp_system
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
  parameter bit MacTxPad = 1'b1,
  /// Cycles of the memory's clock from a read to its answer
  /// (TX_RETRANSMIT_MEM_INTERNAL_LATENCY).
  parameter int unsigned TxMemLatency = 2,
  /// 1: the memory runs on mem_clk_i; 0: on clk_i (TX_RETRANSMIT_MEM_INTERNAL_DUAL_CLOCK).
  parameter bit TxMemDualClock = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// Clock of the memory, with TxMemDualClock; otherwise not used.
  input logic mem_clk_i,
  /// Reset in the memory's clock, active high, together with rst_i: each lasts until both clocks
  /// have ticked three times.
  input logic mem_rst_i,
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

  /// AXI4-Lite slave, from the master: 4 KiB of 32-bit registers.
  input axil_req_t axil_req_i,
  /// AXI4-Lite slave, to the master.
  output axil_rsp_t axil_rsp_o
);
  mem_write_t mem_wr;
  logic mem_wr_valid, mem_wr_ready, mem_rd_valid, mem_rd_ready, mem_rsp_valid;
  logic [31:0] mem_rd;
  logic [127:0] mem_rsp;

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
    .mac_rx_i,
    .mac_rx_valid_i,
    .mac_tx_o,
    .mac_tx_valid_o,
    .mac_tx_ready_i,
    .user_tx_i,
    .user_tx_valid_i,
    .user_tx_ready_o,
    .user_rx_o,
    .user_rx_valid_o,
    .user_rx_ready_i,
    .event_o,
    .event_valid_o,
    .event_ready_i,
    .mem_wr_o(mem_wr),
    .mem_wr_valid_o(mem_wr_valid),
    .mem_wr_ready_i(mem_wr_ready),
    .mem_rd_o(mem_rd),
    .mem_rd_valid_o(mem_rd_valid),
    .mem_rd_ready_i(mem_rd_ready),
    .mem_rsp_i(mem_rsp),
    .mem_rsp_valid_i(mem_rsp_valid),
    .axil_req_i,
    .axil_rsp_o
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
    .wr_i(mem_wr),
    .wr_valid_i(mem_wr_valid),
    .wr_ready_o(mem_wr_ready),
    .rd_i(mem_rd),
    .rd_valid_i(mem_rd_valid),
    .rd_ready_o(mem_rd_ready),
    .rsp_o(mem_rsp),
    .rsp_valid_o(mem_rsp_valid)
  );
endmodule
