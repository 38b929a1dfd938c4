// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sender: one frame after the other to the MAC. Live messages first, then commands, then the
/// frames of ARP and ICMP. Word 0 is on the bus one cycle after a message may begin.
module spfe_tcp_tx_send
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
    /// Sessions, 2 to 256.
    parameter int unsigned SessionCount = 16,
    /// Bytes of a beat: 4 or 8.
    parameter int unsigned MacBytes = 4,
    /// 1: frames are padded to 60 bytes.
    parameter bit MacPad = 1'b1,
    /// Bits of a number of bytes of a chunk; not to be set.
    localparam int unsigned ChunkBits = $clog2(MacBytes) + 1,
    /// 32-bit words of a beat; not to be set.
    localparam int unsigned Lanes = MacBytes / 4
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,

    /// Sessions that may send live.
    input logic [SessionCount-1:0] go_i,
    /// A message waits in the queue.
    input logic head_valid_i,
    /// The message; right in the cycle after new_go_i at the latest.
    input desc_t head_i,
    /// It is dealt with.
    output logic head_pop_o,
    /// Its sum is known.
    input logic head_sum_valid_i,
    /// The sum.
    input sum_t head_sum_i,
    /// A message comes into the queue in this cycle, of a session that may send live.
    input logic new_go_i,
    /// Its session.
    input sid_t new_sid_i,

    /// A chunk of messages is there.
    input logic data_valid_i,
    /// It is taken.
    output logic data_ready_o,
    /// The chunk.
    input logic [MacBytes*8-1:0] data_i,
    /// Bytes of it.
    input logic [ChunkBits-1:0] data_bytes_i,
    /// Last one of a message.
    input logic data_last_i,

    /// A command waits.
    input logic cmd_valid_i,
    /// Its entry in the table of headers.
    input sid_t cmd_sid_i,
    /// Its SEQ is SND.NXT: messages before it have to be finished.
    input logic cmd_seq_nxt_i,
    /// Bytes behind its header.
    input logic [15:0] cmd_bytes_i,
    /// Sum of them.
    input sum_t cmd_sum_i,
    /// A chunk of them is there.
    input logic cmd_data_valid_i,
    /// It is taken.
    output logic cmd_data_ready_o,
    /// The chunk.
    input logic [MacBytes*8-1:0] cmd_data_i,
    /// The frame of the command begins.
    output logic cmd_begins_o,
    /// Its last beat is on its way.
    output logic cmd_left_o,

    /// Frames of ARP and ICMP, without a gap within a frame.
    input logic [MacBytes*8-1:0] net_data_i,
    /// Which bytes count.
    input logic [MacBytes-1:0] net_keep_i,
    /// A beat is there.
    input logic net_valid_i,
    /// It is taken.
    output logic net_ready_o,
    /// Last beat of a frame.
    input logic net_last_i,

    /// No frame is being sent: one may begin.
    output logic idle_o,
    /// A frame begins: the headers are loaded.
    output logic load_o,
    /// With it: live message; else command.
    output logic load_live_o,
    /// Session of the message that could begin.
    output sid_t live_sid_o,
    /// Session of the frame; in the cycle after load_o.
    output sid_t sid_o,
    /// First words of a frame.
    input logic [Lanes-1:0][31:0] start_words_i,
    /// Number of the first word that is asked for.
    output logic [4:0] index_o,
    /// These words of the headers.
    input logic [Lanes-1:0][31:0] words_i,
    /// Checksums in the lower half of them.
    input logic [Lanes-1:0][15:0] checks_i,
    /// The frame has a tag.
    input logic tagged_i,
    /// ACK of the frame; two cycles after load_o.
    input seq_t ack_i,
    /// Bytes behind the TCP header; two cycles after load_o.
    input logic [15:0] bytes_i,
    /// Sum of the payload.
    output sum_t payload_sum_o,

    /// A live message reserves its sequence numbers.
    output state_req_t req_o,
    /// req_o is there.
    output logic req_valid_o,
    /// It is taken.
    input logic req_ready_i,
    /// It is done.
    input logic res_valid_i,
    /// It was possible; else the message is stale.
    input logic res_match_i,

    /// A message is dealt with.
    output logic outcome_valid_o,
    /// How.
    output outcome_t outcome_o,
    /// There is room for another outcome, some cycles in advance.
    input logic outcome_room_i,
    /// Nothing is left to be finished.
    input logic finish_idle_i,
    /// A message that was not sent is finished: others may begin.
    input logic finish_clear_i,

    /// To the MAC.
    output logic [MacBytes*8-1:0] mac_data_o,
    /// Which bytes count.
    output logic [MacBytes-1:0] mac_keep_o,
    /// A beat is there.
    output logic mac_valid_o,
    /// It is taken.
    input logic mac_ready_i,
    /// Last beat of a frame.
    output logic mac_last_o,
    /// With last: the frame is to be spoilt.
    output logic mac_err_o,
    /// A frame was broken off.
    output logic aborted_o,
    /// Its session.
    output sid_t aborted_sid_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  localparam int unsigned BeatBits = $clog2(MacBytes);
  typedef logic [11:0] beat_t;  // number of a beat: frames of up to 16 KiB
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
  beat_t beat_q, before_last_q;  // before_last_q: the beat before the last one
  logic [15:0] left_q, size_q;
  // Of the beat that is composed: payload is in it, it is the last one; and of the payload: some is
  // left, no more than a chunk.
  logic pay_q, final_q, left_some_q, left_one_q;
  // The word with the checksum is in it; the sum is not known when the frame begins; else it is fixed_sum_q.
  logic sum_here_q, late_sum_q;
  sum_t fixed_sum_q;
  logic [MacBytes-1:0] last_keep_q;
  logic [MacBytes*8-1:16] prev_q;
  logic ask_q, busy_q, reserved_q, stale_q;  // StateStart
  logic drain_q, hold_q, ended_q;
  end_e how_q;

  // ---- what may begin
  logic adv, may, live_ok, cmd_ok, start_live, start_cmd, start_net, defer, quiet, go_head;
  logic turn_q;
  sid_t live_sid;
  assign adv = !mac_valid_o || mac_ready_i;
  assign live_sid = head_valid_i ? head_i.sid : new_sid_i;
  assign quiet = !hold_q && !busy_q && !drain_q && !ended_q && outcome_room_i;
  assign go_head = go_i[IdxBits'(head_i.sid)];
  assign may = state_q == Idle && adv;
  // new_go_i comes late: as little as possible is behind it.
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

  // ---- Users who never pause do not keep the others waiting: after so many live frames one of
  // the engine or of the network goes first. Counted in the cycle after the beginning.
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

  // ---- the beat that is composed in this cycle
  // before_: the beat before the first one with payload, before that with the checksum.
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
  // If no more than a chunk is left the low bits of left_q are all there is.
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
  // Payload begins two bytes into the lower half of a word: 2 bytes of the first chunk are in the
  // first beat with payload, or 6 with a tag and 8-byte beats.
  assign shifted2 = {chunk[15:0], prev_q};
  if (MacBytes == 4) begin : gen_shift4
    assign shifted6 = shifted2;
  end else begin : gen_shift8
    assign shifted6 = {chunk[47:0], prev_q[63:48]};
  end
  always_comb begin
    // The headers are 0 where they do not stand; prev_q, before the payload; chunk, if none is needed.
    data = head_bytes | check_bytes | (pay_q ? (tagged_i ? shifted6 : shifted2) : '0);
  end

  // A beat of the network.
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

  // ---- a message is dealt with: sent, or drained
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

  // ---- size of the frame
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

    // drain
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
        // If no frame of a session begins it is one of the network, or none.
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
      a_cmd : assert (!(in_frame && !live_q && need && !have)) else $error("command starves");
      a_net : assert (!(state_q == Net && adv && !net_valid_i)) else $error("gap in a frame");
      a_head : assert (!(state_q == Frame && live_q) || head_valid_i) else $error("no message");
    end
  end
`endif
endmodule
