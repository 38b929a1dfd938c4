// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_tcp with its memory for retransmission in block RAM.
module spfe_tcp_system
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
  /// Number of frames of Mtu bytes that the FIFO of store-and-forward holds.
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
  parameter bit MacTxPad = 1'b1,
  /// Cycles of the memory's clock from a read to its answer, 1 to 16.
  parameter int unsigned TxMemLatency = 2,
  /// 1: the memory runs on mem_clk_i; 0: on clk_i.
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
