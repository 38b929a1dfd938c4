// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sender: puts one frame after another on the MAC bus. Live messages have priority over commands,
/// commands over frames of ARP and ICMP. Word 0 is on the bus one cycle after a message may start.
///
/// A message may start at once if its session may send one of any length. Otherwise it waits for
/// four cycles, until its length has been compared with what the peer takes now; then it starts, or
/// is left to the engine.
module spfe_tcp_tx_send
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Bytes per beat: 4 or 8.
  parameter int unsigned MacBytes = 4,
  /// 1: pad frames to 60 bytes.
  parameter bit MacPad = 1'b1,
  /// Width of a byte count of one chunk; derived.
  localparam int unsigned ChunkBits = $clog2(MacBytes) + 1,
  /// 32-bit words per beat; derived.
  localparam int unsigned Lanes = MacBytes / 4
) (
  input logic clk_i,
  input logic rst_i,

  /// Sessions that may send a message of any length live.
  input logic [SessionCount-1:0] go_i,
  /// Longest message that the session of head_i may send live; 0: none.
  input logic [15:0] fit_i,
  /// The queue holds a message.
  input logic head_valid_i,
  /// Oldest message; valid at the latest in the cycle after new_go_i.
  input desc_t head_i,
  /// The message has been sent, deferred or discarded; the queue removes it.
  output logic head_pop_o,
  /// head_sum_i is valid.
  input logic head_sum_valid_i,
  /// Payload sum of the oldest message.
  input sum_t head_sum_i,
  /// A message enters the queue in this cycle and its session may send live.
  input logic new_go_i,
  /// Session of that message.
  input sid_t new_sid_i,

  /// Payload chunk of the oldest message.
  input logic [MacBytes*8-1:0] data_i,
  /// Valid bytes in data_i.
  input logic [ChunkBits-1:0] data_bytes_i,
  /// Last chunk of the message.
  input logic data_last_i,
  /// A chunk is valid.
  input logic data_valid_i,
  /// Sender accepts the chunk.
  output logic data_ready_o,

  /// Segment of the engine.
  input segment_t cmd_i,
  /// cmd_i is valid; held until cmd_begins_o.
  input logic cmd_valid_i,
  /// The frame of the segment starts.
  output logic cmd_begins_o,
  /// The last beat of the segment's frame is passed to the output register.
  output logic cmd_left_o,
  /// Chunk of its payload or options.
  input logic [MacBytes*8-1:0] cmd_data_i,
  /// A chunk is valid.
  input logic cmd_data_valid_i,
  /// Sender accepts the chunk.
  output logic cmd_data_ready_o,

  /// Frames of ARP and ICMP; valid stays high within a frame.
  input mac_beat_t net_i,
  /// A beat is offered.
  input logic net_valid_i,
  /// Sender accepts the beat.
  output logic net_ready_o,

  /// No frame is in progress: a new one may start.
  output logic idle_o,
  /// A frame starts: load the headers.
  output logic load_o,
  /// With load_o: 1 live message, 0 segment of the engine.
  output logic load_live_o,
  /// Session of the message that may start in this cycle.
  output sid_t live_sid_o,
  /// Session of the frame, in the cycle after load_o.
  output sid_t sid_o,
  /// First words of the frame that starts.
  input logic [Lanes-1:0][31:0] start_words_i,
  /// Number of the first header word of the next beat.
  output logic [4:0] index_o,
  /// Header words of the current beat.
  input logic [Lanes-1:0][31:0] words_i,
  /// TCP checksum in the lower half of its word; 0 in other words.
  input logic [Lanes-1:0][15:0] checks_i,
  /// Properties of the frame.
  input frame_t frame_i,
  /// Ones-complement sum of the payload.
  output sum_t payload_sum_o,

  /// Request to reserve the sequence numbers of a live message.
  output state_req_t req_o,
  /// req_o is valid.
  output logic req_valid_o,
  /// req_o is accepted.
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,
  /// With res_valid_i: the numbers are reserved; 0: the message is stale.
  input logic res_match_i,

  /// How the oldest message ended.
  output outcome_t outcome_o,
  /// outcome_o is valid.
  output logic outcome_valid_o,
  /// The finisher has room for another outcome and those in flight.
  input logic outcome_room_i,
  /// The finisher has no message left.
  input logic finish_idle_i,
  /// The finisher has completed a message that was not sent; live messages may start again.
  input logic finish_clear_i,

  /// Frames to the MAC; valid stays high within a frame.
  output mac_beat_t mac_o,
  /// A beat is offered; stays high until the end of the frame.
  output logic mac_valid_o,
  /// MAC accepts the beat.
  input logic mac_ready_i,
  /// A live frame was aborted.
  output logic aborted_o,
  /// Session of the aborted frame.
  output sid_t aborted_sid_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  localparam int unsigned BeatBits = $clog2(MacBytes);
  typedef logic [11:0] beat_t;  // beat number; frames are up to 16 KiB
  localparam beat_t PadBeat = beat_t'(59 / MacBytes);
  localparam logic [MacBytes-1:0] PadKeep = MacBytes'((1 << ((59 % MacBytes) + 1)) - 1);

  logic frame, net;  // a frame of a session, of ARP or ICMP is in progress
  logic live_q, first_q, second_q, third_q;
  sid_t sid_q;
  beat_t beat_q, beat_d, before_last_q;  // before_last_q: number of the last beat but one
  logic [15:0] left_q, size_q, size;
  // pay_q, final_q: the current beat carries payload, is the last one. left_some_q, left_one_q:
  // payload is left, at most one chunk is left.
  logic pay_q, final_q, left_some_q, left_one_q;
  // sum_here_q: the current beat carries the TCP checksum. late_sum_q: the payload sum was unknown
  // when the frame started; otherwise it is fixed_sum_q.
  logic sum_here_q, late_sum_q;
  sum_t fixed_sum_q;
  logic [MacBytes-1:0] last_keep_q;

  logic unused_bits;
  assign unused_bits = ^{cmd_i.options, frame_i.seq};

  // ---- arbitration
  logic [15:0] fit_q;
  logic [1:0] wait_q;
  logic fits_q, fits, sure;
  logic adv, may, live_ok, cmd_ok, start_live, start_cmd, start_net, defer, quiet, go_head;
  logic turn, ended;

  assign live_sid_o = head_valid_i ? head_i.sid : new_sid_i;
  assign go_head = go_i[IdxBits'(head_i.sid)];
  assign may = idle_o && adv;
  // new_go_i arrives late in the cycle: keep the logic behind it short.
  assign live_ok = (head_valid_i ? go_head || fits : new_go_i) && quiet && !turn;
  assign cmd_ok = cmd_valid_i && ((finish_idle_i && !ended) || !cmd_i.cmd.seq_nxt);
  assign start_live = may && live_ok;
  assign start_cmd = may && !live_ok && cmd_ok;
  assign start_net = may && !live_ok && !cmd_ok && net_valid_i;
  assign fits = sure && fits_q;
  assign defer = head_valid_i && !go_head && sure && !fits_q && quiet && !(frame && live_q);

  // fit_i follows the end of the message before by two cycles, and the comparison takes two more.
  assign sure = wait_q == 2'd3;
  always_ff @(posedge clk_i) begin
    fit_q <= fit_i;
    fits_q <= head_i.len <= fit_q;
    if (!sure) wait_q <= wait_q + 2'd1;
    if (rst_i || !head_valid_i || !quiet || head_pop_o || (frame && live_q)) wait_q <= '0;
  end
  assign load_o = may && (live_ok || cmd_ok);
  assign load_live_o = live_ok;
  assign cmd_begins_o = start_cmd;

  spfe_tcp_tx_turn i_turn (
    .clk_i,
    .rst_i,
    .live_i(start_live),
    .other_i(start_cmd || start_net),
    .waiting_i(cmd_valid_i || net_valid_i),
    .turn_o(turn)
  );

  // ---- The beat being composed. before_pay, before_sum: the beat before the first one with
  // payload, and before the one with the TCP checksum.
  beat_t before_pay, before_sum;
  logic need, have, lie, no_sum, stop, in_frame, stale, drain, pop_live;
  logic [MacBytes*8-1:0] chunk, data, start_data;
  if (MacBytes == 4) begin : gen_places4
    assign before_pay = frame_i.vlan ? beat_t'(13) : beat_t'(12);
    assign before_sum = frame_i.vlan ? beat_t'(12) : beat_t'(11);
    assign index_o = beat_d > beat_t'(31) ? 5'd31 : 5'(beat_d);
  end else begin : gen_places8
    assign before_pay = frame_i.vlan ? beat_t'(6) : beat_t'(5);
    assign before_sum = beat_t'(5);
    assign index_o = beat_d > beat_t'(15) ? 5'd30 : {beat_d[3:0], 1'b0};
  end
  assign in_frame = frame && adv;
  assign need = pay_q && left_some_q;
  assign have = live_q ? data_valid_i : cmd_data_valid_i;
  // When at most one chunk is left, the low bits of left_q hold the whole count.
  assign lie = live_q && need && have && ((data_last_i != left_one_q) ||
      (data_last_i && data_bytes_i != ChunkBits'(left_q)));
  assign no_sum = late_sum_q && sum_here_q && !head_sum_valid_i;
  assign stop = lie || no_sum || (live_q && stale) || (need && !have);
  always_comb begin
    beat_d = beat_q;
    if (idle_o) beat_d = beat_t'(1);
    else if (adv && (!net || net_valid_i)) beat_d = beat_q + 1'b1;
  end
  assign payload_sum_o = late_sum_q ? head_sum_i : fixed_sum_q;
  assign chunk = !need ? '0 : live_q ? data_i : cmd_data_i;

  spfe_tcp_tx_merge #(
    .MacBytes(MacBytes)
  ) i_merge (
    .clk_i,
    .start_words_i,
    .start_o(start_data),
    .words_i,
    .checks_i,
    .pay_i(pay_q),
    .tagged_i(frame_i.vlan),
    .chunk_i(chunk),
    .step_i(in_frame),
    .data_o(data)
  );

  assign pop_live = in_frame && live_q && need && data_valid_i;
  assign data_ready_o = pop_live || drain;
  assign cmd_data_ready_o = in_frame && !live_q && need;
  assign cmd_left_o = in_frame && !live_q && (final_q || stop);
  assign net_ready_o = start_net || (net && adv);
  assign aborted_o = in_frame && live_q && stop;
  assign aborted_sid_o = head_i.sid;

  spfe_tcp_tx_message i_message (
    .clk_i,
    .rst_i,
    .head_i,
    .start_i(start_live),
    .defer_i(defer),
    .abort_i(aborted_o),
    .end_i(in_frame && live_q && final_q),
    .ack_i(frame_i.ack),
    .take_i(pop_live),
    .data_valid_i,
    .data_last_i,
    .drain_o(drain),
    .stale_o(stale),
    .quiet_o(quiet),
    .ended_o(ended),
    .req_o,
    .req_valid_o,
    .req_ready_i,
    .res_valid_i,
    .res_match_i,
    .outcome_o,
    .outcome_valid_o,
    .outcome_room_i,
    .clear_i(finish_clear_i)
  );
  assign head_pop_o = outcome_valid_o;

  // ---- position in the frame
  assign size = frame_i.bytes + (frame_i.vlan ? 16'd57 : 16'd53);  // index of the last byte
  assign sid_o = sid_q;

  always_ff @(posedge clk_i) begin
    first_q <= load_o;
    second_q <= first_q;
    third_q <= second_q;
    beat_q <= beat_d;
    if (adv) begin
      pay_q <= frame && (pay_q || beat_q == before_pay);
      final_q <= frame && beat_q == before_last_q;
      sum_here_q <= frame && beat_q == before_sum;
    end
    late_sum_q <= live_q && !head_i.known;
    fixed_sum_q <= live_q ? head_i.sum : cmd_i.sum;
    if (idle_o) begin
      live_q <= live_ok;
      sid_q <= live_ok ? live_sid_o : cmd_i.cmd.sid;
      before_last_q <= '1;
    end
    if (first_q) left_q <= live_q ? head_i.len : cmd_i.bytes;
    if (second_q) begin
      size_q <= size;
      left_some_q <= left_q != '0;
      left_one_q <= left_q <= 16'(MacBytes);
    end
    if (third_q) begin
      before_last_q <= MacPad && size_q < 16'd59 ? PadBeat - 1'b1 :
          beat_t'(size_q >> BeatBits) - 1'b1;
      last_keep_q <= MacPad && size_q < 16'd59 ? PadKeep :
          MacBytes'((2 << size_q[BeatBits-1:0]) - 1);
    end
    if (in_frame && need) begin
      left_q <= left_one_q ? 16'd0 : left_q - 16'(MacBytes);
      left_some_q <= !left_one_q;
      left_one_q <= left_q <= 16'(2 * MacBytes);
    end
    if (rst_i) begin
      first_q <= 1'b0;
      second_q <= 1'b0;
      third_q <= 1'b0;
    end
  end

  spfe_tcp_tx_mac #(
    .MacBytes(MacBytes),
    .MacPad(MacPad)
  ) i_mac (
    .clk_i,
    .rst_i,
    .load_i(load_o),
    .start_i(start_data),
    .data_i(data),
    .final_i(final_q),
    .stop_i(stop),
    .keep_i(last_keep_q),
    .beat_i(beat_q),
    .idle_o(idle_o),
    .frame_o(frame),
    .net_o(net),
    .adv_o(adv),
    .net_i,
    .net_valid_i,
    .mac_o,
    .mac_valid_o,
    .mac_ready_i
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_cmd :
      assert (!(in_frame && !live_q && need && !have))
      else $error("command starves");
      a_net :
      assert (!(net && adv && !net_valid_i))
      else $error("gap in a frame");
      a_head :
      assert (!(frame && live_q) || head_valid_i)
      else $error("no message");
    end
  end
`endif
endmodule
