// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sender: puts one frame after another on the MAC bus. Live messages have priority over commands,
/// commands over frames of ARP and ICMP. Word 0 is on the bus one cycle after a message may start.
module spfe_tcp_tx_send
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
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
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,

  /// Sessions that may send live.
  input logic [SessionCount-1:0] go_i,
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

  /// A chunk of message payload is valid.
  input logic data_valid_i,
  /// Sender accepts the chunk.
  output logic data_ready_o,
  /// Payload chunk.
  input logic [MacBytes*8-1:0] data_i,
  /// Valid bytes in data_i.
  input logic [ChunkBits-1:0] data_bytes_i,
  /// Last chunk of the message.
  input logic data_last_i,

  /// A command waits to be sent.
  input logic cmd_valid_i,
  /// Header table entry of the command.
  input sid_t cmd_sid_i,
  /// SEQ of the command is SND.NXT, so all earlier messages must have completed.
  input logic cmd_seq_nxt_i,
  /// Bytes after the 20-byte TCP header of the command.
  input logic [15:0] cmd_bytes_i,
  /// Ones-complement sum of these bytes.
  input sum_t cmd_sum_i,
  /// A chunk of these bytes is valid.
  input logic cmd_data_valid_i,
  /// Sender accepts the chunk.
  output logic cmd_data_ready_o,
  /// Command chunk.
  input logic [MacBytes*8-1:0] cmd_data_i,
  /// The frame of the command starts.
  output logic cmd_begins_o,
  /// The last beat of the command's frame is in the output register.
  output logic cmd_left_o,

  /// Frame data from ARP and ICMP; valid stays high within a frame.
  input logic [MacBytes*8-1:0] net_data_i,
  /// Valid bytes of the beat.
  input logic [MacBytes-1:0] net_keep_i,
  /// A beat is offered.
  input logic net_valid_i,
  /// Sender accepts the beat.
  output logic net_ready_o,
  /// Last beat of the frame.
  input logic net_last_i,

  /// No frame is in progress: a new one may start.
  output logic idle_o,
  /// A frame starts: load the headers.
  output logic load_o,
  /// With load_o: 1 live message, 0 command.
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
  /// The frame has an IEEE 802.1Q tag.
  input logic tagged_i,
  /// ACK of the frame, from the second cycle after load_o.
  input seq_t ack_i,
  /// Bytes after the 20-byte TCP header, from the second cycle after load_o.
  input logic [15:0] bytes_i,
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

  /// outcome_o is valid: the oldest message has completed.
  output logic outcome_valid_o,
  /// How the message ended.
  output outcome_t outcome_o,
  /// The finisher has room for another outcome and those in flight.
  input logic outcome_room_i,
  /// The finisher has no message left.
  input logic finish_idle_i,
  /// The finisher has completed a message that was not sent; live messages may start again.
  input logic finish_clear_i,

  /// Frame data to the MAC.
  output logic [MacBytes*8-1:0] mac_data_o,
  /// Valid bytes of the beat.
  output logic [MacBytes-1:0] mac_keep_o,
  /// A beat is offered; stays high until the end of the frame.
  output logic mac_valid_o,
  /// MAC accepts the beat.
  input logic mac_ready_i,
  /// Last beat of the frame.
  output logic mac_last_o,
  /// With mac_last_o: the MAC must invalidate the frame.
  output logic mac_err_o,
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

  typedef enum logic [1:0] {
    Idle = 2'd0,
    Frame = 2'd1,
    Net = 2'd2,
    NetPad = 2'd3
  } state_e;
  state_e state_q;

  logic live_q, first_q, second_q, third_q;
  beat_t beat_q, before_last_q;  // before_last_q: number of the last beat but one
  logic [15:0] left_q, size_q;
  // pay_q, final_q: the current beat carries payload, is the last one. left_some_q, left_one_q:
  // payload is left, at most one chunk is left.
  logic pay_q, final_q, left_some_q, left_one_q;
  // sum_here_q: the current beat carries the TCP checksum. late_sum_q: the payload sum was unknown
  // when the frame started; otherwise it is fixed_sum_q.
  logic sum_here_q, late_sum_q;
  sum_t fixed_sum_q;
  logic [MacBytes-1:0] last_keep_q;
  logic [MacBytes*8-1:16] prev_q;
  logic ask_q, busy_q, reserved_q, stale_q;  // progress of StateStart
  logic drain_q, hold_q, ended_q;
  end_e how_q;

  // ---- arbitration
  logic adv, may, live_ok, cmd_ok, start_live, start_cmd, start_net, defer, quiet, go_head;
  logic turn_q;
  sid_t live_sid;
  assign adv = !mac_valid_o || mac_ready_i;
  assign live_sid = head_valid_i ? head_i.sid : new_sid_i;
  assign quiet = !hold_q && !busy_q && !drain_q && !ended_q && outcome_room_i;
  assign go_head = go_i[IdxBits'(head_i.sid)];
  assign may = state_q == Idle && adv;
  // new_go_i arrives late in the cycle: keep the logic behind it short.
  assign live_ok = (head_valid_i ? go_head : new_go_i) && quiet && !turn_q;
  assign cmd_ok = cmd_valid_i && ((finish_idle_i && !ended_q) || !cmd_seq_nxt_i);
  assign start_live = may && live_ok;
  assign start_cmd = may && !live_ok && cmd_ok;
  assign start_net = may && !live_ok && !cmd_ok && net_valid_i;
  assign defer = head_valid_i && !go_head && quiet && !(state_q == Frame && live_q);
  assign idle_o = state_q == Idle;
  assign load_o = may && (live_ok || cmd_ok);
  assign load_live_o = live_ok;
  assign live_sid_o = live_sid;
  assign cmd_begins_o = start_cmd;

  // ---- Fairness: after Turn live frames in a row, a waiting command or network frame goes first,
  // so that busy users cannot starve it. Frames are counted in the cycle after their start.
  localparam int unsigned Turn = 16;
  logic [$clog2(Turn)-1:0] passed_q;
  logic live_began_q, other_began_q;
  always_ff @(posedge clk_i) begin
    live_began_q <= start_live;
    other_began_q <= start_cmd || start_net;
    if (live_began_q) passed_q <= passed_q + 1'b1;
    if (live_began_q && passed_q == '1) turn_q <= 1'b1;
    if (rst_i || other_began_q || !(cmd_valid_i || net_valid_i)) begin
      passed_q <= '0;
      turn_q <= 1'b0;
    end
  end

  // ---- The beat being composed. before_pay, before_sum: the beat before the first one with
  // payload, and before the one with the TCP checksum.
  beat_t before_pay, before_sum, beat_d;
  logic need, have, lie, no_sum, stop, finish, in_frame;
  logic [MacBytes*8-1:0] chunk, data;
  if (MacBytes == 4) begin : gen_places4
    assign before_pay = tagged_i ? beat_t'(13) : beat_t'(12);
    assign before_sum = tagged_i ? beat_t'(12) : beat_t'(11);
    assign index_o = beat_d > beat_t'(31) ? 5'd31 : 5'(beat_d);
  end else begin : gen_places8
    assign before_pay = tagged_i ? beat_t'(6) : beat_t'(5);
    assign before_sum = beat_t'(5);
    assign index_o = beat_d > beat_t'(15) ? 5'd30 : {beat_d[3:0], 1'b0};
  end
  assign in_frame = state_q == Frame && adv;
  assign need = pay_q && left_some_q;
  assign have = live_q ? data_valid_i : cmd_data_valid_i;
  // When at most one chunk is left, the low bits of left_q hold the whole count.
  assign lie = live_q && need && have && ((data_last_i != left_one_q) ||
      (data_last_i && data_bytes_i != ChunkBits'(left_q)));
  assign no_sum = late_sum_q && sum_here_q && !head_sum_valid_i;
  assign stop = lie || no_sum || (live_q && stale_q) || (need && !have);
  assign finish = final_q;
  always_comb begin
    beat_d = beat_q;
    if (state_q == Idle) beat_d = beat_t'(1);
    else if (adv && (state_q != Net || net_valid_i)) beat_d = beat_q + 1'b1;
  end
  assign payload_sum_o = late_sum_q ? head_sum_i : fixed_sum_q;
  assign chunk = !need ? '0 : live_q ? data_i : cmd_data_i;

  logic [MacBytes*8-1:0] start_bytes, head_bytes, check_bytes, net_bytes, shifted2, shifted6;
  always_comb begin
    for (int unsigned i = 0; i < MacBytes; i++) begin
      start_bytes[i*8+:8] = start_words_i[i/4][(3-i%4)*8+:8];
      head_bytes[i*8+:8] = words_i[i/4][(3-i%4)*8+:8];
      check_bytes[i*8+:8] = i % 4 < 2 ? 8'd0 : checks_i[i/4][(3-i%4)*8+:8];
      net_bytes[i*8+:8] = net_keep_i[i] ? net_data_i[i*8+:8] : 8'd0;
    end
  end
  // Payload starts in the lower half of a word, so a beat takes the first 2 bytes of the current
  // chunk, or 6 with a tag and 8-byte beats; prev_q holds the rest of the previous chunk.
  assign shifted2 = {chunk[15:0], prev_q};
  if (MacBytes == 4) begin : gen_shift4
    assign shifted6 = shifted2;
  end else begin : gen_shift8
    assign shifted6 = {chunk[47:0], prev_q[63:48]};
  end
  always_comb begin
    // All operands are 0 outside their place: header words after the header, prev_q before the
    // payload, chunk when no payload is needed.
    data = head_bytes | check_bytes | (pay_q ? (tagged_i ? shifted6 : shifted2) : '0);
  end

  // Next beat and state of a frame of ARP or ICMP.
  logic [MacBytes-1:0] net_keep_d;
  logic net_last_d;
  state_e net_state_d;
  always_comb begin
    net_keep_d = net_keep_i;
    net_last_d = net_last_i;
    net_state_d = state_q == Idle && !net_valid_i ? Idle : net_last_i && net_valid_i ? Idle : Net;
    if (MacPad && net_valid_i && net_last_i) begin
      if (state_q == Idle || beat_q < PadBeat) begin
        net_keep_d = '1;
        net_last_d = 1'b0;
        net_state_d = NetPad;
      end else if (beat_q == PadBeat) begin
        net_keep_d = net_keep_i | PadKeep;
      end
    end
  end

  logic pop_live, ends_live;
  assign pop_live = in_frame && live_q && need && data_valid_i;
  assign data_ready_o = pop_live || drain_q;
  assign cmd_data_ready_o = in_frame && !live_q && need;
  assign cmd_left_o = in_frame && !live_q && (finish || stop);
  assign net_ready_o = start_net || (state_q == Net && adv);

  // ---- end of a message: sent, or drained from the FIFO
  end_e how;
  logic drained;
  assign drained = drain_q && data_valid_i && data_last_i;
  always_comb begin
    ends_live = 1'b0;
    how = how_q;
    if (in_frame && live_q && stop) begin
      how = EndAborted;
      ends_live = pop_live && data_last_i;
    end else if (in_frame && live_q && finish) begin
      how = EndSent;
      ends_live = 1'b1;
    end else if (drained || ended_q) begin
      ends_live = 1'b1;
    end
  end
  assign outcome_valid_o = ends_live && !busy_q;
  assign head_pop_o = outcome_valid_o;
  always_comb begin
    outcome_o.how = how;
    outcome_o.reserved = reserved_q;
    outcome_o.ack = ack_i;
    outcome_o.desc = head_i;
  end

  // ---- index of the last byte of the frame
  logic [15:0] size;
  assign size = bytes_i + (tagged_i ? 16'd57 : 16'd53);

  always_ff @(posedge clk_i) begin
    first_q <= load_o;
    second_q <= first_q;
    third_q <= second_q;
    beat_q <= beat_d;
    if (adv) begin
      pay_q <= state_q == Frame && (pay_q || beat_q == before_pay);
      final_q <= state_q == Frame && beat_q == before_last_q;
      sum_here_q <= state_q == Frame && beat_q == before_sum;
    end
    late_sum_q <= live_q && !head_i.known;
    fixed_sum_q <= live_q ? head_i.sum : cmd_sum_i;
    if (state_q == Idle) begin
      live_q <= live_ok;
      sid_o <= live_ok ? live_sid : cmd_sid_i;
      before_last_q <= '1;
    end
    if (first_q) left_q <= live_q ? head_i.len : cmd_bytes_i;
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

    // StateStart
    if (start_live) begin
      ask_q <= 1'b1;
      busy_q <= 1'b1;
      reserved_q <= 1'b0;
      stale_q <= 1'b0;
    end else if (defer) begin
      reserved_q <= 1'b0;
    end
    if (req_ready_i) ask_q <= 1'b0;
    if (res_valid_i) begin
      busy_q <= 1'b0;
      reserved_q <= res_match_i;
      stale_q <= !res_match_i;
    end

    // Drain: discard the remaining chunks of a message.
    if (defer) begin
      drain_q <= 1'b1;
      hold_q <= 1'b1;
      how_q <= EndDeferred;
    end
    if (in_frame && live_q && stop) begin
      drain_q <= !(pop_live && data_last_i);
      hold_q <= 1'b1;
      how_q <= EndAborted;
    end else if (in_frame && live_q && finish) begin
      how_q <= EndSent;
    end
    if (drained) drain_q <= 1'b0;
    ended_q <= ends_live && busy_q;
    if (finish_clear_i) hold_q <= 1'b0;

    // frame
    if (adv) begin
      mac_valid_o <= 1'b0;
      mac_last_o <= 1'b0;
      mac_err_o <= 1'b0;
      case (state_q)
        // Without a start of a session's frame, the beat belongs to a network frame or is idle.
        Idle: begin
          mac_data_o <= load_o ? start_bytes : net_bytes;
          mac_keep_o <= load_o ? '1 : net_keep_d;
          mac_valid_o <= load_o || net_valid_i;
          mac_last_o <= !load_o && net_last_d;
          state_q <= load_o ? Frame : net_state_d;
        end
        Frame: begin
          mac_valid_o <= 1'b1;
          mac_data_o <= data;
          mac_last_o <= finish || stop;
          mac_err_o <= stop;
          mac_keep_o <= finish && !stop ? last_keep_q : '1;
          prev_q <= chunk[MacBytes*8-1:16];
          if (need) begin
            left_q <= left_one_q ? 16'd0 : left_q - 16'(MacBytes);
            left_some_q <= !left_one_q;
            left_one_q <= left_q <= 16'(2 * MacBytes);
          end
          if (finish || stop) state_q <= Idle;
        end
        Net: begin
          mac_data_o <= net_bytes;
          mac_keep_o <= net_keep_d;
          mac_valid_o <= net_valid_i;
          mac_last_o <= net_last_d;
          state_q <= net_state_d;
        end
        default: begin
          mac_valid_o <= 1'b1;
          mac_data_o <= '0;
          mac_keep_o <= beat_q == PadBeat ? PadKeep : '1;
          mac_last_o <= beat_q == PadBeat;
          if (beat_q == PadBeat) state_q <= Idle;
        end
      endcase
    end

    if (rst_i) begin
      state_q <= Idle;
      mac_valid_o <= 1'b0;
      first_q <= 1'b0;
      second_q <= 1'b0;
      third_q <= 1'b0;
      ask_q <= 1'b0;
      busy_q <= 1'b0;
      drain_q <= 1'b0;
      hold_q <= 1'b0;
      ended_q <= 1'b0;
    end
  end

  always_comb begin
    req_o = '0;
    req_o.op = StateStart;
    req_o.sid = head_i.sid;
    req_o.gen = head_i.gen;
    req_o.expected = head_i.seq;
    req_o.target = head_i.seq + 32'(head_i.len);
  end
  assign req_valid_o = ask_q;
  assign aborted_o = in_frame && live_q && stop;
  assign aborted_sid_o = head_i.sid;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_cmd :
      assert (!(in_frame && !live_q && need && !have))
      else $error("command starves");
      a_net :
      assert (!(state_q == Net && adv && !net_valid_i))
      else $error("gap in a frame");
      a_head :
      assert (!(state_q == Frame && live_q) || head_valid_i)
      else $error("no message");
    end
  end
`endif
endmodule
