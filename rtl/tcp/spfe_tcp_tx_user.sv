// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// User side of the transmitter: accepts or refuses messages, and decides when the frame of a
/// message may start.
module spfe_tcp_tx_user
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of the user stream in bits: 32, 64 or 128.
  parameter int unsigned Width = 64,
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned MacWidth = 32,
  /// 1: discard messages for a session that is not open; 0: stall the user side.
  parameter bit DropIfNotEstablished = 1'b0,
  /// Bytes per beat; derived.
  localparam int unsigned Bytes = Width / 8,
  /// Width of a byte count of one beat; derived.
  localparam int unsigned CountBits = $clog2(Bytes) + 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Longest message in bytes; from the configuration.
  input logic [15:0] mss_i,
  /// 1: refuse a message that finds no room in the ring; 0: stall it.
  input logic ring_refuse_i,

  /// Valid bytes of the beat; examined only with last_i.
  input logic [Bytes-1:0] keep_i,
  /// The user offers a beat.
  input logic valid_i,
  /// The beat is accepted.
  output logic ready_o,
  /// Last beat of the message.
  input logic last_i,
  /// With the first beat: session and what is known of the message.
  input user_head_t head_i,

  /// Sessions that may send live.
  input logic [SessionCount-1:0] go_i,
  /// Sessions that are open for user data.
  input logic [SessionCount-1:0] open_i,
  /// Sessions whose ring has room for a message of any length.
  input logic [SessionCount-1:0] room_i,
  /// Generation bit of each session; toggles when it is opened.
  input logic [SessionCount-1:0] gen_i,
  /// End of the data in the ring of the session in head_i.
  input seq_t written_i,
  /// The data FIFO and the ring writer have room for several more beats.
  input logic flow_ok_i,
  /// A message slot is free.
  input logic slot_ok_i,

  /// A beat was accepted and not discarded; to FIFO, sum and ring.
  output logic beat_valid_o,
  /// First beat of the message.
  output logic beat_first_o,
  /// Last beat of the message.
  output logic beat_last_o,
  /// Valid bytes of the beat.
  output logic [CountBits-1:0] beat_bytes_o,
  /// The beat is within the MSS and may be written to the ring.
  output logic beat_ring_o,
  /// All beats so far become readable in the FIFO.
  output logic commit_o,
  /// The FIFO drops the beats since the last commit.
  output logic rollback_o,
  /// Sequence number of the message's first byte; with beat_first_o.
  output seq_t first_seq_o,

  /// desc_o is valid: its frame may start in this cycle or later.
  output logic desc_valid_o,
  /// The session may send live: the frame may start in this cycle if the queue is empty.
  output logic desc_go_o,
  /// Description of the message.
  output desc_t desc_o,
  /// Counted bytes of the last message; valid from the cycle after its last beat.
  output logic [15:0] total_o,

  /// Request to advance written over the whole message.
  output state_req_t req_o,
  output logic req_valid_o,
  input logic req_ready_i,
  /// The request has completed.
  input logic res_valid_i,
  /// With res_valid_i: the pointer was as expected and has advanced.
  input logic res_match_i,

  /// A message that has a slot has ended.
  output logic status_valid_o,
  /// With status_valid_o: the message is in the ring; 0: it was refused.
  output logic status_ok_o,

  output logic refused_valid_o,
  input logic refused_ready_i,
  /// A message was refused; raises EvTxRefused.
  output refusal_t refused_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  localparam int unsigned ByteBits = $clog2(Bytes);
  // Mode 1 needs the checksum in word 12 (4-byte words) or 6 (8-byte words), and the sum is known 3
  // cycles after the last beat. So the frame starts with beat number (beats - Early).
  localparam int unsigned Early = MacWidth == 32 ? 10 : 4;

  if (Width != 32 && Width != 64 && Width != 128) begin : gen_bad_user
    $error("spfe_tcp_tx_user: Width is %0d; 32, 64 and 128 are possible", Width);
  end

  // ---- state of the message
  logic gen_q, inside_q, discard_q, sent_q, over_q, known_len_q, known_sum_q, push_q;
  sid_t sid_q;
  seq_t seq_q;
  logic [15:0] len_q, rem_q, total_q, wait_q;
  sum_t sum_q;

  // ---- end of a message
  typedef enum logic [1:0] {
    Free = 2'd0,
    Ask = 2'd1,
    Answer = 2'd2,
    Tell = 2'd3
  } end_state_e;
  end_state_e end_q;
  refused_e why_q, why_tell_q;
  logic nok_q;

  logic first, take, sid_ok, is_open, has_room, bad_len, refuse, may, known_len, known_sum;
  logic discard, over, empty, bad_end, starts, whole;
  logic [CountBits-1:0] bytes;
  logic [Bytes-1:0] keep, fits_q, mss_fits_q;  // bytes of a beat that are within the MSS
  logic [15:0] rem, total;
  logic [16:0] beyond;
  logic begins_at_once, waited_q;  // waited_q: wait_q is 0
  logic [15:0] wait_d;
  logic [15:0] wait_first;
  refused_e why;

  always_comb begin
    bytes = '0;
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (keep_i[i]) bytes = CountBits'(i + 1);
    end
    if (!last_i) bytes = CountBits'(Bytes);
  end

  assign first = !inside_q;
  if (SessionCount == 1 << IdxBits) begin : gen_all_indices
    assign sid_ok = head_i.sid >> IdxBits == '0;
  end else begin : gen_some_indices
    assign sid_ok = 32'(head_i.sid) < SessionCount;
  end
  assign is_open = sid_ok && open_i[IdxBits'(head_i.sid)];
  assign has_room = room_i[IdxBits'(head_i.sid)];
  assign known_len = first ? (head_i.mode == 2'd1 || head_i.mode == 2'd2) : known_len_q;
  assign known_sum = first ? head_i.mode == 2'd2 : known_sum_q;
  assign bad_len = known_len && (head_i.len == '0 || head_i.len > mss_i);
  assign refuse = !sid_ok || bad_len || !is_open || !has_room;
  // A message with a bad length waits like any other and is then refused.
  assign may = !sid_ok || (is_open ? has_room || ring_refuse_i : DropIfNotEstablished);
  assign ready_o = flow_ok_i && (inside_q || (end_q == Free && slot_ok_i && may));
  assign take = valid_i && ready_o;

  assign rem = first ? mss_i : rem_q;
  assign total = (first ? 16'd0 : total_q) + 16'(bytes);
  assign keep = last_i ? keep_i : '1;
  assign over = (keep & ~(first ? mss_fits_q : fits_q)) != '0;
  assign empty = first && keep == '0;
  assign discard = (first ? refuse : discard_q) || (!known_len && (over || (empty && last_i)));
  assign bad_end = (!first && over_q) || over || empty;

  // Reason of a refusal.
  always_comb begin
    if (!first && discard_q) why = why_q;
    else if (first && !is_open) why = RefusedClosed;
    else if (first && !has_room && !bad_len) why = RefusedRing;
    else why = RefusedLength;
  end

  // Cycles to wait before the frame may start.
  if (Bytes * 8 < MacWidth) begin : gen_slow_user
    // The user fills at half the rate at which the MAC drains.
    logic [16:0] beats;
    assign beats = (17'(head_i.len) + 17'(Bytes - 1)) >> ByteBits;
    assign beyond = known_sum ? beats - 17'(head_i.len >> 3) - 17'd3 : beats - 17'(Early + 1);
    assign begins_at_once = beyond[16];
    assign wait_first = beyond[15:0];
  end else begin : gen_fast_user
    assign beyond = 17'(head_i.len) - 17'(Early * Bytes + 1);
    assign begins_at_once = known_sum || beyond[16];
    assign wait_first = beyond[15:0] >> ByteBits;
  end

  assign wait_d = first ? wait_first : wait_q - 16'(!waited_q);
  assign whole = take && last_i;
  // Timing: "a beat is accepted" and "a frame starts with it" are needed early in the cycle, so
  // they are computed directly rather than from take and discard. Session flags are looked up in
  // parallel.
  logic [SessionCount-1:0] takes, leaves;
  logic opens, begins, stays, goes_on;
  assign takes = open_i & room_i;
  assign leaves = go_i & takes;
  assign opens = first && valid_i && flow_ok_i && end_q == Free && slot_ok_i && sid_ok &&
      !bad_len && (known_len || !(over || (empty && last_i)));
  assign begins = opens && (last_i || (known_len && begins_at_once));
  assign stays = !first && valid_i && flow_ok_i && !discard_q && (known_len_q || !over);
  assign goes_on = stays && !sent_q && (last_i || (known_len_q && waited_q));
  assign starts = (begins && takes[IdxBits'(head_i.sid)]) || goes_on;
  assign desc_go_o = (begins && leaves[IdxBits'(head_i.sid)]) || (goes_on && go_i[IdxBits'(sid_q)]);

  assign beat_valid_o = (opens && takes[IdxBits'(head_i.sid)]) || stays;
  assign beat_first_o = first;
  assign beat_last_o = last_i;
  assign beat_bytes_o = bytes;
  assign beat_ring_o = !over && (first || !over_q);
  assign commit_o = beat_valid_o && (known_len || last_i);
  // A message refused at its first beat has put nothing into the FIFO.
  assign rollback_o = !first && valid_i && flow_ok_i && !stays;
  assign first_seq_o = written_i;
  assign desc_valid_o = starts;
  always_comb begin
    desc_o.sid = first ? head_i.sid : sid_q;
    desc_o.gen = first ? gen_i[IdxBits'(head_i.sid)] : gen_q;
    desc_o.seq = first ? written_i : seq_q;
    desc_o.len = !known_len ? total : first ? head_i.len : len_q;
    desc_o.sum = first ? head_i.sum : sum_q;
    desc_o.known = known_sum;
    desc_o.push = first ? head_i.push : push_q;
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Bytes; i++) mss_fits_q[i] <= 16'(i) < mss_i;
    if (first || !discard_q) why_q <= why;
    if (take) begin
      inside_q <= !last_i;
      discard_q <= discard;
      over_q <= bad_end;
      // Only the last beat can be partial, and no beat follows it.
      rem_q <= over ? 16'd0 : rem - 16'(Bytes);
      for (int unsigned i = 0; i < Bytes; i++) fits_q[i] <= 16'(Bytes + i) < rem;
      total_q <= total;
      sent_q <= starts || (!first && sent_q);
      wait_q <= wait_d;
      waited_q <= wait_d == '0;
      if (first) begin
        sid_q <= head_i.sid;
        gen_q <= gen_i[IdxBits'(head_i.sid)];
        seq_q <= written_i;
        len_q <= head_i.len;
        sum_q <= head_i.sum;
        push_q <= head_i.push;
        known_len_q <= known_len;
        known_sum_q <= known_sum;
      end
    end
    if (rst_i) begin
      inside_q <= 1'b0;
      discard_q <= 1'b0;
    end
  end

  // ---- end of the message: advance written, or report the refusal
  always_ff @(posedge clk_i) begin
    case (end_q)
      Free: if (whole) end_q <= discard ? Tell : bad_end ? Tell : Ask;
      Ask: if (req_ready_i) end_q <= Answer;
      Answer: if (res_valid_i) end_q <= res_match_i ? Free : Tell;
      default: if (refused_ready_i) end_q <= Free;
    endcase
    if (end_q == Free) why_tell_q <= why;
    if (end_q == Answer) why_tell_q <= RefusedStale;
    nok_q <= whole && !discard && bad_end;
    if (rst_i) begin
      end_q <= Free;
      nok_q <= 1'b0;
    end
  end

  always_comb begin
    req_o = '0;
    req_o.op = StateWritten;
    req_o.sid = sid_q;
    req_o.gen = gen_q;
    req_o.expected = seq_q;
    req_o.target = seq_q + 32'(total_q);
  end
  assign req_valid_o = end_q == Ask;
  assign total_o = total_q;
  assign status_valid_o = nok_q || (end_q == Answer && res_valid_i);
  assign status_ok_o = !nok_q && res_match_i;
  assign refused_valid_o = end_q == Tell;
  assign refused_o = '{sid: sid_q, why: why_tell_q};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_take :
      assert (beat_valid_o == (take && !discard))
      else $error("a beat taken, or not");
    end
    if (!rst_i && take && !last_i) begin
      a_full :
      assert (&keep_i)
      else $error("a beat before the last one is not full");
    end
  end
`endif
endmodule
