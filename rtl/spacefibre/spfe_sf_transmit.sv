// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Chooses each row to send: precedence of words (ECSS-E-ST-50-11C, 5.3.10), framing (5.7.6), and
/// the words that the error recovery asks for (5.7.7). It decides on one row in a cycle, by what
/// there was to send a cycle before; spfe_sf_rows makes the words.
module spfe_sf_transmit
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Bits of a position in an output buffer.
  parameter int unsigned PosWidth = 8,
  /// Bits of the length of a segment.
  parameter int unsigned LenWidth = 7,
  /// FCT multiplier M, 1 to 8: an FCT grants 64 times M words.
  parameter int unsigned FctMultiplier = 1,
  /// Rows between two ACKs, 15 or more.
  parameter int unsigned AckGap = 15,
  /// Rows between two equal NACKs; 0: no limit.
  parameter int unsigned NackRepeat = 15,
  /// Bits of a virtual channel; follows from Vcs.
  localparam int unsigned VcWidth = Vcs > 1 ? $clog2(Vcs) : 1,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset: all frames end.
  input logic clear_i,
  /// Rows may be sent.
  input logic on_i,
  /// Data-sending lanes, 1 to Lanes.
  input logic [CountWidth-1:0] width_i,

  /// ACK or NACK that is carried out.
  input ack_t ack_i,
  /// A word was damaged; it may have been an ACK.
  input logic damaged_i,
  /// Reply that is due.
  input reply_e reply_i,
  /// Its number.
  input logic [7:0] reply_seq_i,
  /// What the error recovery has to send.
  input pending_t pending_i,
  /// FCTs are due for these channels.
  input logic [Vcs-1:0] fct_due_i,
  /// A new segment may be sent.
  input logic select_valid_i,
  /// The channel that the medium access controller has selected for it.
  input logic [VcWidth-1:0] select_vc_i,
  /// Position of each channel's segment.
  input logic [Vcs-1:0][PosWidth-1:0] start_i,
  /// Its words.
  input logic [Vcs-1:0][LenWidth-1:0] length_i,
  /// A buffer waits for nothing but an acknowledgement.
  input logic starved_i,

  /// Reads data of a row from the output buffer of this channel.
  output logic [VcWidth-1:0] data_vc_o,
  /// Position of the first word.
  output logic [PosWidth-1:0] data_pos_o,
  /// The row of each output buffer, a cycle later.
  input word_t [Vcs-1:0][(1<<$clog2(Lanes))-1:0] data_i,
  /// Row to the lanes; see spfe_sf_rows.
  output row_kind_e row_o,
  /// Its words; a control word is in word 0.
  output word_t [Lanes-1:0] words_o,
  /// Number of data words.
  output logic [CountWidth-1:0] count_o,
  /// The row is taken.
  input logic row_ready_i,

  /// What is sent with the row of this cycle.
  output sent_t sent_o,
  /// RETRY is to be sent.
  output logic retrying_o,
  /// A broadcast frame is in progress.
  output logic in_broadcast_o,
  /// A data frame is in progress that will end with its EDF.
  output logic in_frame_o
);
  localparam int unsigned FullRows = 64;
  localparam int unsigned GapWidth = $clog2(AckGap + 2);
  localparam int unsigned RepeatWidth = $clog2(NackRepeat + 2);

  if (AckGap < 15) begin : gen_bad_gap
    $error("spfe_sf_transmit: AckGap is %0d; 15 or more", AckGap);
  end

  typedef enum logic [1:0] {
    FrameNone,
    FrameIdle,
    FrameData
  } frame_e;

  frame_e frame_q, frame_d;
  logic [6:0] idle_q, idle_d;
  logic [PosWidth-1:0] pos_q, pos_d;
  logic [LenWidth-1:0] left_q, left_d;
  logic [VcWidth-1:0] vc_q, vc_d;
  logic new_q, new_d;
  // Words sent of the broadcast frame in progress.
  logic [1:0] broadcast_q, broadcast_d;
  logic retry_q, full_q, full_d;
  logic after_error_q, after_error_d;
  logic [5:0] full_wait_q;
  logic [GapWidth-1:0] ack_wait_q;
  logic [RepeatWidth-1:0] nack_wait_q;
  logic [7:0] last_nack_q;
  logic last_nack_valid_q;

  logic go, move;
  row_kind_e row;
  logic [31:0] word;
  // The word is data, is pseudo-random, gets a CRC-8, is the first or last of a broadcast frame.
  logic data_word, idle, seal, broadcast_first, broadcast_last;
  logic reply_due, blocked, full_due, new_broadcast;
  // What there was to send a cycle before. A row of a kind makes it void for the next cycle; two
  // FCTs may follow each other, and make it void for two cycles.
  logic broadcast_due_q, broadcast_new_q, broadcast_sent_q, late_q;
  logic reply_due_q, reply_sent_q;
  reply_e reply_kind_q;
  logic fct_due_q, fct_new_q, fct_sent_q, fct_new;
  logic turn_used_q, turn_twice_q, second_q, due_any;
  logic [VcWidth-1:0] fct_vc_q, fct_vc, turn_vc_q, second_vc_q, second_vc;
  logic [Vcs-1:0] others;
  logic waits_q, empty_q, frame_pending_q, frame_room_q;
  logic send_broadcast, send_reply, send_fct, send_segment;
  segment_t next, new_segment;
  // The row is FULL, and it starts the time to the next; the row is SIF.
  logic full, full_counts, sif;
  logic [Vcs-1:0] unused_grant, turns;
  logic [VcWidth-1:0] due_vc;
  logic [CountWidth-1:0] count;

  // FCTs take turns. The one that was sent is granted once more, because its turn is over now.
  always_comb begin
    turns = fct_due_i;
    if (turn_used_q) turns = Vcs'(1) << turn_vc_q;
  end
  // The turn after that of fct_vc.
  always_comb begin
    others = fct_due_i & ~(Vcs'(1) << fct_vc);
    second_vc = '0;
    for (int v = Vcs - 1; v >= 0; v--) if (others[v]) second_vc = VcWidth'(v);
    for (int v = Vcs - 1; v > 0; v--) begin
      if (others[v] && 32'(fct_vc) < 32'(v)) second_vc = VcWidth'(v);
    end
  end
  if (Vcs > 1) begin : gen_turns
    spfe_arb_rr #(
      .Ports(Vcs)
    ) i_turn (
      .clk_i,
      .rst_i(rst_i || clear_i),
      .request_i(turns),
      .used_i(turn_used_q),
      .grant_o(unused_grant),
      .index_o(due_vc),
      .valid_o(due_any)
    );
  end else begin : gen_one
    assign unused_grant = turns;
    assign due_vc = '0;
    assign due_any = fct_due_i[0];
  end

  always_comb begin
    reply_due = 1'b0;
    if (reply_i == ReplyAck) reply_due = ack_wait_q == '0;
    if (reply_i == ReplyNack) begin
      reply_due = nack_wait_q == '0 || !last_nack_valid_q || last_nack_q != reply_seq_i;
    end
  end

  // Something waits for room in the error recovery buffer.
  assign new_broadcast = pending_i.broadcast_new && !pending_i.broadcast_pending;
  assign blocked = full_q || waits_q;
  assign full_due = blocked && full_wait_q == '0;
  assign send_broadcast = broadcast_due_q && !broadcast_sent_q;
  assign send_reply = reply_due_q && !reply_sent_q && reply_i == reply_kind_q;
  assign send_fct = fct_sent_q ? turn_used_q && !turn_twice_q && second_q : fct_due_q;
  assign fct_new = turn_used_q || fct_new_q;
  assign fct_vc = turn_used_q ? second_vc_q : fct_vc_q;
  assign send_segment = select_valid_i && frame_room_q;
  assign count = 32'(left_q) < 32'(width_i) ? CountWidth'(left_q) : width_i;

  assign retrying_o = retry_q;
  assign in_broadcast_o = broadcast_q != '0;
  assign data_vc_o = vc_q;
  assign data_pos_o = pos_q;
  assign new_segment = '{
      vc: 5'(select_vc_i),
      start: 16'(start_i[select_vc_i]),
      words: 11'(length_i[select_vc_i])
    };
  assign next = frame_pending_q ? pending_i.frame : new_segment;
  assign in_frame_o = frame_q == FrameData && !retry_q;
  assign go = on_i && move;

  always_comb begin
    frame_d = frame_q;
    idle_d = idle_q;
    pos_d = pos_q;
    left_d = left_q;
    vc_d = vc_q;
    new_d = new_q;
    broadcast_d = broadcast_q;
    full_d = blocked;
    after_error_d = after_error_q;
    row = RowControl;
    word = '0;
    data_word = 1'b0;
    idle = 1'b0;
    seal = 1'b0;
    broadcast_first = 1'b0;
    broadcast_last = 1'b0;
    sent_o = '0;
    sent_o.row = go;
    sent_o.charge = frame_q == FrameData && new_q;
    sent_o.charge_vc = 5'(vc_q);
    sent_o.fct_vc = fct_new ? 5'(fct_vc) : pending_i.fct_vc;
    sent_o.segment = new_segment;
    full = 1'b0;
    full_counts = 1'b0;
    sif = 1'b0;

    if (retry_q) begin
      // It ends every frame in progress; an unfinished frame is sent again.
      sent_o.retry = go;
      word = RetryWord.bits;
      frame_d = FrameNone;
      broadcast_d = '0;
    end else if (broadcast_q == 2'd3) begin
      sent_o.broadcast = go;
      broadcast_last = 1'b1;
      word = {8'h00, pending_i.next_seq, 6'd0, pending_i.message.delayed, late_q, KEbf};
      broadcast_d = '0;
    end else if (broadcast_q != '0) begin
      data_word = 1'b1;
      word = broadcast_q == 2'd1 ? pending_i.message.data[31:0] : pending_i.message.data[63:32];
      broadcast_d = broadcast_q + 2'd1;
    end else if (send_broadcast) begin
      sent_o.broadcast_new = go && broadcast_new_q;
      broadcast_first = 1'b1;
      word = {pending_i.message.kind, pending_i.message.channel, NameSbf, Comma};
      broadcast_d = 2'd1;
      if (frame_q == FrameIdle) frame_d = FrameNone;
    end else if (send_reply) begin
      sent_o.reply = go;
      seal = 1'b1;
      word = {8'h00, reply_seq_i, reply_i == ReplyAck ? NameAck : NameNack, Comma};
    end else if (send_fct) begin
      sent_o.fct = go;
      sent_o.fct_new = go && fct_new;
      seal = 1'b1;
      word = {8'h00, pending_i.next_seq, 3'(FctMultiplier - 1), sent_o.fct_vc, KFct};
    end else if (full_due) begin
      full = 1'b1;
      full_counts = 1'b1;
    end else if (frame_q == FrameData && left_q != '0) begin
      row = RowData;
      pos_d = pos_q + PosWidth'(count);
      left_d = left_q - LenWidth'(count);
      sent_o.data = go && new_q;
    end else if (frame_q == FrameData) begin
      sent_o.frame = go;
      row = RowEdf;
      word = {16'h0000, pending_i.next_seq, KEdf};
      frame_d = FrameNone;
    end else if (frame_pending_q || send_segment) begin
      row = RowSdf;
      sent_o.frame_new = go && !frame_pending_q;
      frame_d = FrameData;
      new_d = !frame_pending_q;
      vc_d = VcWidth'(next.vc);
      pos_d = PosWidth'(next.start);
      left_d = LenWidth'(next.words);
      word = {8'h00, 8'(next.vc), NameSdf, Comma};
    end else begin
      if (select_valid_i) full_d = 1'b1;
      else after_error_d = 1'b0;
      if (select_valid_i ? full_wait_q == '0 : after_error_q && !empty_q) begin
        full = 1'b1;
        full_counts = select_valid_i;
      end else if (frame_q == FrameIdle && idle_q != '0) begin
        data_word = 1'b1;
        idle = 1'b1;
        idle_d = idle_q - 7'd1;
      end else begin
        sif = 1'b1;
        frame_d = FrameIdle;
        idle_d = 7'(IdleWords);
      end
    end
    sent_o.full = go && full;
    sent_o.idle = go && sif;
    if (full || sif) begin
      seal = 1'b1;
      word = {8'h00, pending_i.seq, full ? NameFull : NameSif, Comma};
    end
  end

  spfe_sf_rows #(
    .Lanes(Lanes),
    .Vcs(Vcs)
  ) i_rows (
    .clk_i,
    .rst_i,
    .clear_i,
    .move_o(move),
    .go_i(go),
    .row_i(row),
    .word_i(word),
    .data_word_i(data_word),
    .idle_i(idle),
    .seal_i(seal),
    .broadcast_first_i(broadcast_first),
    .broadcast_last_i(broadcast_last),
    .data_vc_i(vc_q),
    .data_pos_i(pos_q[(Lanes>1?$clog2(Lanes) : 1)-1:0]),
    .data_count_i(count),
    .data_i,
    .row_o,
    .words_o,
    .count_o,
    .width_i,
    .ready_i(row_ready_i)
  );

  logic unused_next;
  assign unused_next = ^{next, ack_i};

  always_ff @(posedge clk_i) begin
    broadcast_due_q <= pending_i.broadcast_pending || (new_broadcast && pending_i.broadcast_room);
    broadcast_new_q <= !pending_i.broadcast_pending;
    broadcast_sent_q <= sent_o.broadcast;
    late_q <= pending_i.message.late;
    reply_due_q <= reply_due;
    reply_kind_q <= reply_i;
    reply_sent_q <= sent_o.reply;
    fct_due_q <= (pending_i.fct_pending || (due_any && pending_i.fct_room)) && !fct_sent_q;
    fct_new_q <= !pending_i.fct_pending;
    fct_vc_q <= due_vc;
    fct_sent_q <= sent_o.fct;
    turn_used_q <= sent_o.fct_new;
    turn_vc_q <= fct_vc;
    turn_twice_q <= turn_used_q;
    second_q <= others != '0 && pending_i.fct_room;
    second_vc_q <= second_vc;
    waits_q <= (new_broadcast && !pending_i.broadcast_room)
        || (due_any && !pending_i.fct_pending && !pending_i.fct_room) || starved_i;
    frame_pending_q <= pending_i.frame_pending;
    frame_room_q <= pending_i.frame_room;
    empty_q <= pending_i.empty;
    if (clear_i || rst_i) {broadcast_due_q, reply_due_q, fct_due_q, waits_q, frame_pending_q} <= '0;
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      frame_q <= frame_d;
      idle_q <= idle_d;
      pos_q <= pos_d;
      left_q <= left_d;
      vc_q <= vc_d;
      new_q <= new_d;
      broadcast_q <= broadcast_d;
      full_q <= full_d;
      after_error_q <= after_error_d;
      full_wait_q <= full_counts ? 6'(FullRows - 1) : full_wait_q - 6'(full_wait_q != '0);
      ack_wait_q <= sent_o.reply && reply_i == ReplyAck ?
          GapWidth'(AckGap) : ack_wait_q - GapWidth'(ack_wait_q != '0);
      nack_wait_q <= nack_wait_q - RepeatWidth'(nack_wait_q != '0);
      if (sent_o.reply && reply_i == ReplyNack) begin
        nack_wait_q <= RepeatWidth'(NackRepeat);
        last_nack_q <= reply_seq_i;
        last_nack_valid_q <= 1'b1;
      end
      retry_q <= 1'b0;
    end
    if (damaged_i) after_error_q <= 1'b1;
    if (ack_i.ack) full_q <= 1'b0;
    if (ack_i.nack) retry_q <= 1'b1;
    if (clear_i || rst_i) begin
      frame_q <= FrameNone;
      broadcast_q <= '0;
      retry_q <= 1'b0;
      full_q <= 1'b0;
      after_error_q <= 1'b0;
      full_wait_q <= '0;
      ack_wait_q <= '0;
      nack_wait_q <= '0;
      last_nack_valid_q <= 1'b0;
    end
  end
endmodule
