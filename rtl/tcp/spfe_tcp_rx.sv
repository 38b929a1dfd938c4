// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Receiver: turns frames from the MAC into payload for the user and segments for the engine.
/// docs/tcp-core.md describes its operation. In its files, cycle k is the one in which word k of a
/// frame is on a 32-bit MAC.
module spfe_tcp_rx
  import spfe_tcp_pkg::*;
  import spfe_tcp_io_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// Width of the user stream in bits: 32, 64 or 128, not below MacWidth.
  parameter int unsigned UserWidth = 64,
  /// Largest IP packet in bytes, 576 to 9000.
  parameter int unsigned Mtu = 1500,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1,
  /// 1: store-and-forward, checksums verified; 0: cut-through.
  parameter bit Checksum = 1'b1,
  /// 1: the first beat is full; 0: it has the payload of the first MAC beat only.
  parameter bit Packed = 1'b1,
  /// Cut-through. 1: the last beat waits for the end of the frame.
  parameter bit EopMerge = 1'b0,
  /// Number of packets of Mtu bytes that the FIFO of store-and-forward holds.
  parameter int unsigned FifoPackets = 64,
  /// 1: segments out of order are kept and delivered in order.
  parameter bit Reordering = 1'b0,
  /// log2 of the number of 16-byte words in the reordering memory, over all sessions.
  parameter int unsigned MemAddrBits = 15,
  /// 1: segments out of order are delivered at once, with their distance from RCV.NXT.
  parameter bit OutOfSequence = 1'b0,
  /// Number of register stages before the user; each adds one cycle of latency.
  parameter int unsigned OutputPipe = 0
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,

  /// Frame; from the MAC, which cannot be stalled.
  input mac_beat_t mac_i,
  input logic mac_valid_i,

  /// Payload; to the user. Cut-through ignores ready.
  output user_rx_beat_t user_o,
  output logic user_valid_o,
  input logic user_ready_i,

  /// Segment, for one cycle; to the engine.
  output seg_t seg_o,
  output logic seg_valid_o,

  /// Receive state of a session; from the engine.
  input rcv_cmd_t rcv_cmd_i,
  input logic rcv_cmd_valid_i,
  output logic rcv_cmd_ready_o,
  /// Four-tuple of a session, for one cycle; from the engine.
  input key_cmd_t key_cmd_i,
  input logic key_cmd_valid_i,

  /// Session whose RCV.NXT the transmitter reads.
  input sid_t tx_sid_i,
  /// RCV.NXT of tx_sid_i, in the same cycle.
  output seq_t tx_nxt_o,
  /// The transmitter builds a header of tx_sid_i that announces a window.
  input wnd_req_t wnd_req_i,
  /// Window of that header in bytes, before scaling; from two cycles after wnd_req_i on.
  output logic [31:0] wnd_o,
  /// Session whose window has opened again and should be announced; to the engine.
  output wnd_open_t wnd_open_o,
  /// wnd_open_o is taken.
  input logic wnd_open_ready_i,
  /// Session whose RCV.NXT the engine reads.
  input sid_t eng_sid_i,
  /// RCV.NXT of eng_sid_i, in the same cycle.
  output seq_t eng_nxt_o,

  /// Session whose lowest acceptable ACK the receiver reads; to the engine.
  output sid_t ack_sid_o,
  /// SND.UNA - MAX.SND.WND of ack_sid_o, in the same cycle; from the engine.
  input seq_t ack_lo_i,
  /// Session whose SND.NXT the receiver reads; to the transmitter.
  output sid_t snd_sid_o,
  /// SND.NXT of snd_sid_o, in the same cycle; from the transmitter.
  input seq_t snd_nxt_i,

  /// EvRxBad, for one cycle: a segment of a session had a wrong FCS or checksum.
  output event_t event_o,
  output logic event_valid_o,
  /// Events to count in this cycle; to the registers.
  output rx_count_t count_o
);
  localparam int unsigned MacCountBits = $clog2(MacWidth / 8) + 1;
  localparam int unsigned UserBytes = UserWidth / 8;
  localparam bit Ahead = Reordering || OutOfSequence;
  // log2 of the bytes in the reordering ring of a session.
  localparam int unsigned RingBits = MemAddrBits + 4 - $clog2(SessionCount);
  localparam int unsigned FifoDepth = 2 ** $clog2(
    FifoPackets * ((Mtu + UserBytes - 1) / UserBytes)
  );

  if (SessionCount < 2 || SessionCount > 256) begin : gen_bad_sessions
    $error("spfe_tcp_rx: SessionCount is %0d, 2 to 256 are possible", SessionCount);
  end
  if (MacWidth != 32 && MacWidth != 64) begin : gen_bad_mac_width
    $error("spfe_tcp_rx: MacWidth is %0d, 32 and 64 are possible", MacWidth);
  end
  if ((UserWidth != 32 && UserWidth != 64 && UserWidth != 128) || UserWidth < MacWidth)
  begin : gen_bad_user_width
    $error(
      "spfe_tcp_rx: UserWidth is %0d, must be 32, 64 or 128 and not below MacWidth, %0d",
      UserWidth,
      MacWidth
    );
  end
  if (Mtu < 576 || Mtu > 9000) begin : gen_bad_mtu
    $error("spfe_tcp_rx: Mtu is %0d, must be 576 to 9000", Mtu);
  end
  if (VifCount < 1 || VifCount > MaxVifs) begin : gen_bad_vifs
    $error("spfe_tcp_rx: VifCount is %0d, must be 1 to %0d", VifCount, MaxVifs);
  end
  if (FifoPackets < 1 || FifoPackets > 255) begin : gen_bad_fifo
    $error("spfe_tcp_rx: FifoPackets is %0d, must be 1 to 255", FifoPackets);
  end
  if (Reordering && (OutOfSequence || !Checksum)) begin : gen_bad_order
    $error("spfe_tcp_rx: Reordering needs Checksum, and not OutOfSequence");
  end
  if (Reordering && (MemAddrBits > 24 || MemAddrBits < $clog2(
      SessionCount
    ) + 7)) begin : gen_bad_memory
    $error(
      "spfe_tcp_rx: MemAddrBits is %0d, must be %0d to 24: 2 KiB for a session, or more",
      MemAddrBits,
      $clog2(
        SessionCount
      ) + 7
    );
  end

  logic start, payload_first, payload_lane, payload, payload_end, whole;
  logic bad_doff, ip_ok, tcp_ok;
  logic [13:6] at;
  logic [15:0] even, odd, len;
  logic [MacCountBits-1:0] payload_begin, payload_more;
  logic [VifCount-1:0] vif_match;
  fields_t fields;
  fault_t fault;
  options_t options;

  spfe_tcp_rx_parse #(
    .MacWidth(MacWidth),
    .Mtu(Mtu),
    .VifCount(VifCount),
    .Checksum(Checksum)
  ) i_parse (
    .clk_i,
    .rst_i,
    .cfg_i,
    .mac_i,
    .mac_valid_i,
    .start_o(start),
    .at_o(at),
    .even_o(even),
    .odd_o(odd),
    .fields_o(fields),
    .match_o(vif_match),
    .fault_o(fault),
    .first_o(payload_first),
    .first_lane_o(payload_lane),
    .first_bytes_o(payload_begin),
    .bytes_o(payload_more),
    .payload_o(payload),
    .end_o(payload_end),
    .whole_o(whole),
    .len_o(len),
    .bad_doff_o(bad_doff),
    .options_o(options),
    .ip_ok_o(ip_ok),
    .tcp_ok_o(tcp_ok)
  );

  match_t match;
  logic [$clog2(FifoDepth):0] used;
  logic finish, deliver, taken, fin, move, hold, gap, read, verdict_move;
  seq_t move_nxt, verdict_nxt;

  spfe_tcp_rx_session #(
    .SessionCount(SessionCount),
    .MacWidth(MacWidth),
    .VifCount(VifCount),
    .Ahead(Ahead),
    .Limit(Reordering ? 2 ** RingBits : 0),
    .Capacity(Checksum ? FifoDepth * UserBytes : 0),
    .BeatBytes(UserBytes),
    .UsedBits($clog2(FifoDepth) + 1)
  ) i_session (
    .clk_i,
    .rst_i,
    .at_i(at[9:6]),
    .even_i(even),
    .odd_i(odd),
    .fields_i(fields),
    .vif_match_i(vif_match),
    .fault_i(fault),
    .len_i(len),
    .cfg_i,
    .used_i(used),
    .key_i(key_cmd_i),
    .key_valid_i(key_cmd_valid_i),
    .cmd_i(rcv_cmd_i),
    .cmd_valid_i(rcv_cmd_valid_i),
    .cmd_ready_o(rcv_cmd_ready_o),
    .end_i(finish || hold),
    .move_i(move),
    .move_nxt_i(move_nxt),
    .move_close_i(fin),
    .tx_sid_i,
    .tx_nxt_o,
    .wnd_req_i,
    .wnd_o,
    .wnd_open_o,
    .wnd_open_ready_i,
    .eng_sid_i,
    .eng_nxt_o,
    .ack_sid_o,
    .ack_lo_i,
    .snd_sid_o,
    .snd_nxt_i,
    .match_o(match),
    .read_o(read)
  );

  logic unused_words;
  assign unused_words = ^at[12:10];

  drain_t drain;
  logic drain_valid, no_room;

  spfe_tcp_rx_user #(
    .SessionCount(SessionCount),
    .MacWidth(MacWidth),
    .UserWidth(UserWidth),
    .Checksum(Checksum),
    .Packed(Packed),
    .EopMerge(EopMerge),
    .FifoDepth(FifoDepth),
    .Reordering(Reordering),
    .RingBits(RingBits),
    .OutOfSequence(OutOfSequence),
    .OutputPipe(OutputPipe)
  ) i_user (
    .clk_i,
    .rst_i,
    .start_i(start),
    .data_i(mac_i.data[MacWidth-1:0]),
    .accept_i(match.accept),
    .oos_i(match.oos),
    .rel_i(match.rel),
    .seq_i(fields.seq),
    .sid_i(match.sid),
    .first_i(payload_first),
    .first_lane_i(payload_lane),
    .first_bytes_i(payload_begin),
    .bytes_i(payload_more),
    .valid_i(payload),
    .end_i(payload_end),
    .finish_i(finish),
    .deliver_i(deliver),
    .payload_i(len != '0),
    .used_o(used),
    .no_room_o(no_room),
    .drain_i(drain),
    .drain_valid_i(drain_valid),
    .user_o,
    .user_valid_o,
    .user_ready_i
  );

  // ---- verdict at the end of the frame
  logic seg_taken, bad;

  spfe_tcp_rx_verdict #(
    .Checksum(Checksum),
    .Reordering(Reordering)
  ) i_verdict (
    .clk_i,
    .rst_i,
    .start_i(start),
    .last_i(mac_valid_i && mac_i.last),
    .fcs_bad_i(mac_i.err),
    .at_end_i(at[13]),
    .fault_i(fault),
    .whole_i(whole),
    .bad_doff_i(bad_doff),
    .ip_ok_i(ip_ok),
    .tcp_ok_i(tcp_ok),
    .ack_i(fields.flags.ack),
    .fin_i(fields.flags.fin),
    .len_i(len),
    .match_i(match),
    .no_room_i(no_room),
    .finish_o(finish),
    .deliver_o(deliver),
    .taken_o(taken),
    .move_o(verdict_move),
    .move_nxt_o(verdict_nxt),
    .seg_valid_o,
    .seg_taken_o(seg_taken),
    .bad_o(bad),
    .count_o
  );

  // ---- new RCV.NXT
  if (Reordering) begin : gen_holes
    spfe_tcp_rx_holes #(
      .SessionCount(SessionCount)
    ) i_holes (
      .clk_i,
      .rst_i,
      .clear_i(rcv_cmd_valid_i && rcv_cmd_ready_o && rcv_cmd_i.set),
      .clear_sid_i(rcv_cmd_i.sid),
      .read_i(read),
      .read_sid_i(ack_sid_o),
      .sid_i(match.sid),
      .seq_i(fields.seq),
      .len_i(len),
      .fin_i(fields.flags.fin),
      .taken_i(finish && taken),
      .keep_i(finish && deliver && !taken),
      .hold_o(hold),
      .move_o(move),
      .move_nxt_o(move_nxt),
      .gap_o(gap),
      .fin_o(fin),
      .drain_o(drain),
      .drain_valid_o(drain_valid)
    );
    logic unused_move;
    assign unused_move = ^{verdict_move, verdict_nxt};
  end else begin : gen_no_holes
    assign hold = 1'b0;
    assign gap = 1'b0;
    assign move = verdict_move;
    assign move_nxt = verdict_nxt;
    assign fin = fields.flags.fin;
    assign drain = '0;
    assign drain_valid = 1'b0;
    logic unused_read;
    assign unused_read = read ^ taken;
  end

  always_comb begin
    seg_o.hit = match.hit;
    seg_o.sid = match.sid;
    seg_o.vif = match.vif;
    seg_o.smac = fields.smac;
    seg_o.sip = fields.sip;
    seg_o.sport = fields.sport;
    seg_o.dport = fields.dport;
    seg_o.seq = fields.seq;
    seg_o.ack = fields.ack;
    seg_o.flags = fields.flags;
    // An accepted segment also brings a FIN that was kept behind it.
    seg_o.flags.fin = fields.flags.fin || (seg_taken && fin);
    seg_o.wnd = fields.wnd;
    seg_o.len = len;
    seg_o.mss = fields.flags.syn ? options.mss : 16'd0;
    seg_o.has_ws = fields.flags.syn && options.has_ws;
    seg_o.ws = options.ws;
    seg_o.taken = seg_taken;
    seg_o.gap = gap;
    seg_o.rcv_nxt = match.nxt;
    event_o.kind = EvRxBad;
    event_o.sid = 16'(match.sid);
    event_o.data = '0;
  end
  assign event_valid_o = bad;
endmodule
