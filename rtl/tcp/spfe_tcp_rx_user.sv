// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Carries payload to the user: packs it into beats, holds it until the verdict
/// (store-and-forward), and with Reordering until the hole before it has closed.
module spfe_tcp_rx_user
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
  /// 1: store-and-forward; 0: cut-through.
  parameter bit Checksum = 1'b1,
  /// 1: the first beat is full; 0: it has the payload of the first MAC beat only.
  parameter bit Packed = 1'b1,
  /// Cut-through. 1: the last beat waits for the end of the frame.
  parameter bit EopMerge = 1'b0,
  /// Number of beats in the FIFO of store-and-forward, a power of two.
  parameter int unsigned FifoDepth = 1024,
  /// 1: segments ahead of RCV.NXT are kept.
  parameter bit Reordering = 1'b0,
  /// log2 of the bytes in the ring of a session.
  parameter int unsigned RingBits = 15,
  /// 1: segments ahead of RCV.NXT are delivered at once.
  parameter bit OutOfSequence = 1'b0,
  /// Number of register stages before the user; each adds one cycle of latency.
  parameter int unsigned OutputPipe = 0,
  /// Bits in a number of bytes of a MAC beat; follows from MacWidth.
  localparam int unsigned CountBits = $clog2(MacWidth / 8) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// First beat of a frame.
  input logic start_i,
  /// Data of the MAC beat, first byte in bits 7:0.
  input logic [MacWidth-1:0] data_i,
  /// The segment is wanted: its payload goes to the user.
  input logic accept_i,
  /// With accept_i: the segment is ahead of RCV.NXT.
  input logic oos_i,
  /// With oos_i: distance from RCV.NXT in bytes.
  input seq_t rel_i,
  /// SEQ of the segment.
  input seq_t seq_i,
  /// Session of the segment.
  input sid_t sid_i,
  /// The MAC beat has payload.
  input logic valid_i,
  /// With valid_i: the first payload of the segment.
  input logic first_i,
  /// With first_i: lane in which the payload begins.
  input logic first_lane_i,
  /// With first_i: bytes of payload in the beat.
  input logic [CountBits-1:0] first_bytes_i,
  /// Without first_i: bytes of payload in the beat.
  input logic [CountBits-1:0] bytes_i,
  /// The payload ends with this beat.
  input logic end_i,
  /// The segment has ended: deliver_i and payload_i count.
  input logic finish_i,
  /// With finish_i: the segment is good and goes to the user.
  input logic deliver_i,
  /// With finish_i: the segment has payload.
  input logic payload_i,
  /// Beats in the FIFO.
  output logic [$clog2(FifoDepth):0] used_o,
  /// The FIFO had no room for the segment, this cycle included.
  output logic no_room_o,
  /// Kept payload that the last segment made deliverable, for one cycle.
  input drain_t drain_i,
  input logic drain_valid_i,
  /// Payload; to the user. Cut-through ignores ready.
  output user_rx_beat_t user_o,
  output logic user_valid_o,
  input logic user_ready_i
);
  localparam int unsigned UserBytes = UserWidth / 8;
  localparam int unsigned UserCountBits = $clog2(UserBytes) + 1;
  localparam int unsigned SidIndexBits = $clog2(SessionCount);
  // Beside each beat the FIFO holds the session and, for segments ahead of RCV.NXT, their place.
  localparam int unsigned WhereBits = Reordering ? RingBits : 32;
  localparam bit Ahead = Reordering || OutOfSequence;
  localparam int unsigned SideBits = SidIndexBits + (Ahead ? 1 + WhereBits : 0);

  logic beat, beat_last, beat_tail, beat_err;
  logic [UserWidth-1:0] beat_data;
  logic [UserCountBits-1:0] beat_count;

  spfe_tcp_rx_pack #(
    .MacWidth(MacWidth),
    .UserWidth(UserWidth),
    .Packed(Packed),
    .Verdict(!Checksum),
    .EopMerge(EopMerge)
  ) i_pack (
    .clk_i,
    .rst_i,
    .start_i,
    .data_i,
    .valid_i(valid_i && accept_i),
    .data_valid_i(valid_i),
    .first_i,
    .first_lane_i,
    .first_bytes_i,
    .bytes_i,
    .end_i,
    .finish_i,
    .err_i(!deliver_i),
    .valid_o(beat),
    .data_o(beat_data),
    .count_o(beat_count),
    .last_o(beat_last),
    .tail_o(beat_tail),
    .err_o(beat_err)
  );

  // A user beat as wide as this build has it.
  typedef struct packed {
    sid_t sid;
    logic oos;
    seq_t rel;
    logic last;
    logic err;
    logic [UserBytes-1:0] keep;
    logic [UserWidth-1:0] data;
  } user_t;

  user_t out, user;
  logic out_valid, out_ready;
  logic unused_bits;

  if (Checksum) begin : gen_store
    logic [SideBits-1:0] side_in, side;
    logic [SidIndexBits-1:0] sid;
    logic [UserWidth-1:0] data;
    logic [UserBytes-1:0] keep;
    logic valid, ready, last, oos;
    logic [WhereBits-1:0] where;

    spfe_tcp_rx_fifo #(
      .SideBits(SideBits),
      .Width(UserWidth),
      .Depth(FifoDepth)
    ) i_fifo (
      .clk_i,
      .rst_i,
      .valid_i(beat),
      .data_i(beat_data),
      .count_i(beat_count),
      .last_i(beat_last),
      .tail_i(beat_tail),
      .side_i(side_in),
      .used_o,
      .no_room_o,
      .finish_i,
      .commit_i(deliver_i && payload_i),
      .valid_o(valid),
      .ready_i(ready),
      .data_o(data),
      .keep_o(keep),
      .last_o(last),
      .side_o(side)
    );
    assign sid = side[SidIndexBits-1:0];
    assign out.err = 1'b0;

    if (Ahead) begin : gen_side
      assign side_in = {
        Reordering ? seq_i[WhereBits-1:0] : rel_i[WhereBits-1:0], oos_i, sid_i[SidIndexBits-1:0]
      };
      assign oos = side[SidIndexBits];
      assign where = side[SideBits-1-:WhereBits];
    end else begin : gen_no_side
      assign side_in = sid_i[SidIndexBits-1:0];
      assign oos = 1'b0;
      assign where = '0;
    end

    if (Reordering) begin : gen_ring
      logic [SidIndexBits-1:0] ring_sid;
      spfe_tcp_rx_ring #(
        .SessionCount(SessionCount),
        .Width(UserWidth),
        .RingBits(RingBits),
        .FifoDepth(FifoDepth)
      ) i_ring (
        .clk_i,
        .rst_i,
        .commit_i(finish_i && deliver_i && payload_i),
        .drain_i,
        .drain_valid_i,
        .valid_i(valid),
        .ready_o(ready),
        .data_i(data),
        .keep_i(keep),
        .last_i(last),
        .sid_i(sid),
        .keep_back_i(oos),
        .where_i(where),
        .valid_o(out_valid),
        .ready_i(out_ready),
        .data_o(out.data),
        .keep_o(out.keep),
        .last_o(out.last),
        .sid_o(ring_sid)
      );
      assign out.sid = sid_t'(ring_sid);
      assign out.oos = 1'b0;
      assign out.rel = '0;
      assign unused_bits = ^{beat_err, sid_i, seq_i, rel_i};
    end else begin : gen_no_ring
      assign out_valid = valid;
      assign ready = out_ready;
      assign out.data = data;
      assign out.keep = keep;
      assign out.last = last;
      assign out.sid = sid_t'(sid);
      assign out.oos = oos;
      assign out.rel = oos ? 32'(where) : '0;
      assign unused_bits = ^{beat_err, sid_i, seq_i, rel_i, oos_i, drain_i, drain_valid_i};
    end
  end else begin : gen_cut_through
    assign no_room_o = 1'b0;
    assign used_o = '0;
    user_t out_q;
    logic out_valid_q;

    always_ff @(posedge clk_i) begin
      out_valid_q <= beat && !rst_i;
      out_q.data <= beat_data;
      for (int unsigned i = 0; i < UserBytes; i++) out_q.keep[i] <= UserCountBits'(i) < beat_count;
      out_q.last <= beat_last;
      out_q.err <= beat_err;
      out_q.sid <= sid_i;
      out_q.oos <= OutOfSequence && oos_i;
      out_q.rel <= OutOfSequence && oos_i ? rel_i : '0;
    end
    assign out = out_q;
    assign out_valid = out_valid_q;
    assign unused_bits = ^{beat_tail, out_ready, seq_i, payload_i, drain_i, drain_valid_i};
  end

  spfe_tcp_rx_pipe #(
    .Width($bits(user_t)),
    .Stages(OutputPipe)
  ) i_pipe (
    .clk_i,
    .rst_i,
    .valid_i(out_valid),
    .ready_o(out_ready),
    .data_i(out),
    .valid_o(user_valid_o),
    .ready_i(user_ready_i || !Checksum),
    .data_o(user)
  );

  assign user_o = '{
      data: UserBits'(user.data),
      keep: (UserBits / 8)'(user.keep),
      last: user.last,
      sid: user.sid,
      err: user.err,
      oos: user.oos,
      rel: user.rel
    };
endmodule
