// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Receive side of the data link layer: data word identification (ECSS-E-ST-50-11C, 5.7.8), checks
/// (5.7.6) and replies (5.7.7). A row is judged one cycle after it came, and what it says is done a
/// cycle later; an ACK or NACK is carried out another cycle later.
module spfe_sf_receive
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row.
  parameter int unsigned Lanes = 1,
  /// Virtual channels.
  parameter int unsigned Vcs = 4,
  /// Most words of a data or idle frame.
  parameter int unsigned Segment = SegmentWords,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset.
  input logic clear_i,
  /// The link is initialised; otherwise nothing is processed.
  input logic on_i,

  /// Row received: RowControl with word 0, RowData with the words, RowRxErr or RowNone.
  input row_kind_e row_i,
  /// Its words.
  input word_t [Lanes-1:0] words_i,
  /// Number of data words.
  input logic [CountWidth-1:0] count_i,
  /// For an EDF: the CRC-16 of all lanes is right.
  input logic crc16_good_i,

  /// Virtual channel of the data frame.
  output logic [Vcs-1:0] vc_o,
  /// A data frame begins.
  output logic begin_o,
  /// Words of it.
  output word_t [Lanes-1:0] words_o,
  /// Their number; 0: none.
  output logic [CountWidth-1:0] count_o,
  /// It is accepted.
  output logic accept_o,
  /// The words did not fit.
  input logic [Vcs-1:0] overflow_i,

  /// Channel of an accepted FCT.
  output logic [Vcs-1:0] give_vc_o,
  /// Its words.
  output logic [9:0] give_o,
  /// Broadcast message received; one that finds no room is dropped.
  output broadcast_t broadcast_o,
  output logic broadcast_valid_o,
  input logic broadcast_ready_i,

  /// ACK or NACK for the error recovery.
  output ack_t ack_o,
  /// Its number has the polarity of the items being sent.
  input logic ack_valid_i,
  /// It belongs to no item.
  input logic ack_wrong_i,
  /// A word was damaged; it may have been an ACK.
  output logic damaged_o,

  /// Reply that is due.
  output reply_e reply_o,
  /// Its number.
  output logic [7:0] reply_seq_o,
  /// The reply is sent.
  input logic reply_sent_i,

  /// A protocol error or an overflow: the link must be reset.
  output logic reset_o,
  /// Events of the receive side; the fields of the others are 0.
  output link_event_t ev_o
);
  localparam int unsigned WordsWidth = $clog2(Segment + Lanes + 1);

  typedef enum logic [2:0] {
    RxNothing,
    RxDataFrame,
    RxBroadcastFrame,
    RxBroadcastAndDataFrame,
    RxIdleFrame
  } state_e;

  // What is wrong with a word.
  typedef enum logic [2:0] {
    Ignore,
    FrameError,
    CrcError,
    SequenceError,
    RxError
  } verdict_e;

  // First stage: kind of the word and its CRC-8.
  link_kind_e kind_in, kind_q;
  word_t [Lanes-1:0] words_q;
  logic [CountWidth-1:0] count_q;
  logic crc8_good_q, crc16_good_q;
  logic [7:0] crc_q, crc_next, crc_word, crc_last;

  always_comb begin
    case (row_i)
      RowControl: kind_in = link_kind(words_i[0]);
      RowData: kind_in = LinkData;
      RowRxErr: kind_in = LinkRxErr;
      default: kind_in = LinkNothing;
    endcase
  end

  spfe_crc #(
    .Width(8),
    .Poly(8'hE0),
    .Bytes(4)
  ) i_crc (
    .crc_i(kind_in == LinkSbf ? 8'd0 : crc_q),
    .data_i(words_i[0].bits),
    .crc_o(crc_next)
  );
  spfe_crc #(
    .Width(8),
    .Poly(8'hE0),
    .Bytes(3)
  ) i_crc_word (
    .crc_i(8'd0),
    .data_i(words_i[0].bits[23:0]),
    .crc_o(crc_word)
  );
  // That of an EBF.
  spfe_crc #(
    .Width(8),
    .Poly(8'hE0),
    .Bytes(3)
  ) i_crc_last (
    .crc_i(crc_q),
    .data_i(words_i[0].bits[23:0]),
    .crc_o(crc_last)
  );

  always_ff @(posedge clk_i) begin
    kind_q <= on_i ? kind_in : LinkNothing;
    words_q <= words_i;
    count_q <= row_i == RowData ? count_i : CountWidth'(1);
    crc8_good_q <= kind_in == LinkEbf ? crc_last == words_i[0].bits[31:24]
        : crc_word == words_i[0].bits[31:24];
    crc16_good_q <= crc16_good_i;
    if (kind_in == LinkSbf || kind_in == LinkData) crc_q <= crc_next;
    if (rst_i) kind_q <= LinkNothing;
  end

  // Second stage.
  link_kind_e kind;
  state_e state_q, state_d;
  verdict_e verdict;
  // The word is accepted. That is worked out beside the verdict; a FrameError counts only without.
  logic accept, fits;
  logic nack;
  // Words that the frame may still have, and those of this row.
  logic [WordsWidth-1:0] left_q, step;
  logic too_many;
  logic [1:0] bwords_q, bwords;
  logic [7:0] seq;
  logic in_frame, in_broadcast;
  logic next_good, current_good, seq_good, crc_good;

  // Number of the last item, and of the next one.
  logic [6:0] rx_count_q, rx_next_q;
  logic negative_q, negative;
  logic error_q, error;
  reply_e reply_q, reply;
  logic [Vcs-1:0] vc_q;
  // Channel, type and data of the broadcast message.
  logic [15:0] name_q;
  logic [63:0] message_q;

  assign kind = kind_q;
  assign seq = kind == LinkEdf ? words_q[0].bits[15:8] : words_q[0].bits[23:16];
  assign next_good = seq == {negative_q, rx_next_q};
  assign current_good = seq == {negative_q, rx_count_q};
  assign in_frame = state_q != RxNothing && state_q != RxIdleFrame;
  assign in_broadcast = state_q == RxBroadcastFrame || state_q == RxBroadcastAndDataFrame;
  assign crc_good = kind == LinkEdf ? crc16_good_q : crc8_good_q;

  always_comb begin
    case (kind)
      LinkSif, LinkFull: seq_good = current_good;
      LinkEdf, LinkEbf, LinkFct: seq_good = next_good;
      default: seq_good = 1'b1;
    endcase
  end

  assign step = WordsWidth'(state_q == RxDataFrame ? count_q : CountWidth'(1));
  assign too_many = Lanes == 1 ? left_q == '0 : left_q < step;
  assign bwords = bwords_q == 2'd3 ? 2'd3 : bwords_q + 2'd1;

  always_comb begin
    verdict = Ignore;
    accept = 1'b0;
    fits = kind == LinkEdf ? state_q == RxDataFrame : in_broadcast;
    state_d = state_q;
    nack = in_frame;
    case (kind)
      LinkData: begin
        accept = state_q != RxNothing && !(in_broadcast ? bwords > 2'd2 : too_many);
        if (state_q != RxNothing) verdict = FrameError;
      end
      LinkSdf: begin
        accept = !in_frame;
        verdict = FrameError;
        state_d = RxDataFrame;
      end
      LinkSbf: begin
        accept = !in_broadcast;
        verdict = FrameError;
        state_d = state_q == RxDataFrame ? RxBroadcastAndDataFrame : RxBroadcastFrame;
      end
      LinkEdf, LinkEbf: begin
        accept = fits && crc_good && seq_good && (kind == LinkEdf || bwords_q == 2'd2);
        if (state_q != RxNothing) begin
          verdict = FrameError;
          if (fits && !seq_good) verdict = SequenceError;
          if (fits && !crc_good) verdict = CrcError;
          state_d = state_q == RxBroadcastAndDataFrame ? RxDataFrame : RxNothing;
        end
      end
      LinkSif: begin
        accept = crc_good && seq_good && !in_frame;
        verdict = !crc_good ? CrcError : !seq_good ? SequenceError : FrameError;
        state_d = RxIdleFrame;
      end
      LinkFct, LinkAck, LinkNack, LinkFull: begin
        accept = crc_good && seq_good;
        verdict = !crc_good ? CrcError : !seq_good ? SequenceError : Ignore;
      end
      LinkRetry: begin
        accept = 1'b1;
        state_d = RxNothing;
      end
      LinkRxErr: verdict = RxError;
      default: ;
    endcase
    if (!accept && verdict != Ignore) state_d = RxNothing;
  end

  // Replies and the receive error state machine.
  logic item;
  assign item = accept && (kind == LinkEdf || kind == LinkEbf || kind == LinkFct);
  always_comb begin
    negative = negative_q;
    error = error_q;
    reply = reply_sent_i ? ReplyNone : reply_q;
    if (item || (accept && kind == LinkFull)) begin
      reply = ReplyAck;
      error = 1'b0;
    end
    if ((verdict == CrcError || verdict == RxError) && nack) begin
      reply = ReplyNack;
      error = 1'b1;
      if (!error_q) negative = !negative_q;
    end
    if (verdict == SequenceError) begin
      reply = ReplyNack;
      error = 1'b1;
      if (!error_q || seq[7] == negative_q) negative = !negative_q;
    end
  end
  assign reply_o = reply_q;
  assign reply_seq_o = {reply_q == ReplyNack ? !negative_q : negative_q, rx_count_q};

  // Third stage: actions.
  logic overflow, message_ready, lost_q;
  logic [3:0] unused_count;
  logic unused_almost;
  logic [Vcs-1:0] act_vc_q, give_vc_q;
  word_t [Lanes-1:0] act_words_q;
  logic [CountWidth-1:0] act_count_q;
  logic begin_q, accept_q, damaged_q, message_end_q;
  // The row is an ACK or NACK; it is a NACK.
  logic answer_q, negates_q;
  link_event_t ev, ev_q;
  // Fourth stage: an ACK or NACK is carried out, or its number is wrong.
  logic ack_q, nack_q, wrong_q;
  logic [7:0] ack_seq_q;

  assign {vc_o, words_o} = {act_vc_q, act_words_q};
  assign count_o = act_count_q;
  assign overflow = accept_q && (overflow_i & act_vc_q) != '0;
  assign give_vc_o = give_vc_q;
  assign give_o = {act_words_q[0].bits[15:13] + 4'd1, 6'd0};
  assign {begin_o, accept_o, damaged_o} = {begin_q, accept_q, damaged_q};
  assign ack_o = '{look: act_words_q[0].bits[23:16], seq: ack_seq_q, ack: ack_q, nack: nack_q};
  assign reset_o = overflow || wrong_q;

  always_ff @(posedge clk_i) begin
    act_vc_q <= vc_q;
    act_words_q <= words_q;
    act_count_q <= accept && kind == LinkData && state_q == RxDataFrame ? count_q : '0;
    begin_q <= accept && kind == LinkSdf;
    accept_q <= accept && kind == LinkEdf;
    for (int unsigned i = 0; i < Vcs; i++) begin
      give_vc_q[i] <= accept && kind == LinkFct && 32'(words_q[0].bits[12:8]) == i;
    end
    damaged_q <= verdict == CrcError || verdict == RxError;
    answer_q <= accept && (kind == LinkAck || kind == LinkNack);
    negates_q <= kind == LinkNack;
    ev_q <= ev;
    ack_q <= answer_q && ack_valid_i && !ack_wrong_i;
    nack_q <= answer_q && negates_q && ack_valid_i && !ack_wrong_i;
    wrong_q <= answer_q && ack_valid_i && ack_wrong_i;
    ack_seq_q <= act_words_q[0].bits[23:16];
    if (rst_i || clear_i) begin
      {begin_q, accept_q, damaged_q, answer_q, ack_q, nack_q, wrong_q} <= '0;
      act_count_q <= '0;
      give_vc_q <= '0;
    end
  end

  spfe_fifo #(
    .Width($bits(broadcast_t)),
    .Depth(Broadcasts)
  ) i_messages (
    .clk_i,
    .rst_i,
    .data_i({lost_q, act_words_q[0].bits[8], act_words_q[0].bits[9], name_q, message_q}),
    .valid_i(message_end_q && message_ready),
    .ready_o(message_ready),
    .data_o(broadcast_o),
    .valid_o(broadcast_valid_o),
    .ready_i(broadcast_ready_i),
    .count_o(unused_count),
    .almost_full_o(unused_almost)
  );

  always_comb begin
    ev_o = ev_q;
    ev_o.protocol_error = wrong_q;
    ev_o.input_overflow = overflow;
    ev_o.recovery = nack_q;
    ev_o.broadcast_dropped = message_end_q && !message_ready;
    ev = '0;
    ev.rxerr = verdict == RxError;
    ev.crc16_error = verdict == CrcError && kind == LinkEdf;
    ev.crc8_error = verdict == CrcError && kind != LinkEdf;
    ev.frame_error = !accept && verdict == FrameError;
    ev.sequence_error = verdict == SequenceError;
    if (accept) begin
      ev.got_frame = kind == LinkEdf;
      ev.got_broadcast = kind == LinkEbf;
      ev.got_fct = kind == LinkFct;
      ev.got_ack = kind == LinkAck;
      ev.got_nack = kind == LinkNack;
      ev.got_full = kind == LinkFull;
      ev.got_retry = kind == LinkRetry;
      ev.got_idle = kind == LinkSif;
    end
  end

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    if (item) begin
      rx_count_q <= rx_next_q;
      rx_next_q <= rx_next_q + 7'd1;
    end
    negative_q <= negative;
    error_q <= error;
    reply_q <= reply;
    message_end_q <= accept && kind == LinkEbf;
    if (message_end_q) lost_q <= !message_ready;
    if (rst_i) {message_end_q, lost_q} <= '0;
    if (accept) begin
      if (kind == LinkData && !in_broadcast) left_q <= left_q - step;
      if (kind == LinkData && in_broadcast) begin
        bwords_q <= bwords;
        if (bwords_q == 2'd0) message_q[31:0] <= words_q[0].bits;
        else message_q[63:32] <= words_q[0].bits;
      end
      if (kind == LinkSdf || kind == LinkSif) left_q <= WordsWidth'(Segment);
      if (kind == LinkSbf) begin
        bwords_q <= '0;
        name_q <= words_q[0].bits[31:16];
      end
      if (kind == LinkSdf) begin
        for (int unsigned i = 0; i < Vcs; i++) vc_q[i] <= 32'(words_q[0].bits[23:16]) == i;
      end
    end
    if (rst_i || clear_i) begin
      state_q <= RxNothing;
      rx_count_q <= '0;
      rx_next_q <= 7'd1;
      negative_q <= 1'b0;
      error_q <= 1'b0;
      reply_q <= ReplyNone;
    end
  end
endmodule
