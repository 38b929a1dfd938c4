// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Data link layer (ECSS-E-ST-50-11C, 5.7): virtual channels, flow control, quality of service,
/// frames, error recovery, broadcast messages, link reset. It sends a row and receives a row in a
/// cycle; the layers below do CRC-16 and scrambling.
module spfe_sf_data_link
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Largest number of words in a row and in a beat of a user, 1 to 16.
  parameter int unsigned Lanes = 1,
  /// Virtual channels, 1 to 32.
  parameter int unsigned Vcs = 4,
  /// Maximum number of data-sending lanes P, 1 to Lanes, the same at both ends: a frame has up to
  /// 64 words for each.
  parameter int unsigned SegmentMultiplier = Lanes,
  /// FCT multiplier M, 1 to 8: an FCT grants 64 times M words.
  parameter int unsigned FctMultiplier = Lanes > 8 ? 8 : Lanes,
  /// Words in the output buffer of each channel, a power of two, at least two segments. Words that
  /// are not acknowledged stay in it: full speed takes the words of a round trip and two segments.
  parameter int unsigned OutputWords = 256 << $clog2(Lanes),
  /// Words in the input buffer of each channel, a power of two, at least a segment and an FCT. Full
  /// speed takes four FCTs.
  parameter int unsigned InputWords = 256 << $clog2(Lanes),
  /// Unacknowledged data frames, a power of two, 4 to 128.
  parameter int unsigned Frames = 32,
  /// FCT credit limit in words, at least four FCTs of the far end.
  parameter int unsigned CreditLimit = 65535,
  /// Bandwidth credit limit in rows.
  parameter int unsigned BandwidthLimit = 16384,
  /// Rows between two ACKs, 15 or more.
  parameter int unsigned AckGap = 15,
  /// Rows between two equal NACKs; 0: no limit.
  parameter int unsigned NackRepeat = 15,
  /// Cycles after which an end that waits for the link reset of the far end resets the lanes again;
  /// 0: never.
  parameter int unsigned ResetRetryWords = 5000,
  /// Check bits of the memories; see spfe_ram_safe.
  parameter int unsigned Protect = 0,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameters of management.
  input link_param_t param_i,
  /// Those of each virtual channel.
  input vc_param_t [Vcs-1:0] vc_param_i,
  /// Status for management.
  output link_status_t status_o,
  /// Status of each virtual channel.
  output vc_status_t [Vcs-1:0] vc_status_o,

  /// Words of the user for each channel, the first in word 0.
  input word_t [Vcs-1:0][Lanes-1:0] tx_i,
  /// Number of words, 1 to Lanes.
  input logic [Vcs-1:0][CountWidth-1:0] tx_count_i,
  input logic [Vcs-1:0] tx_valid_i,
  output logic [Vcs-1:0] tx_ready_o,
  /// Words to the user.
  output word_t [Vcs-1:0][Lanes-1:0] rx_o,
  /// Number of words, 1 to Lanes.
  output logic [Vcs-1:0][CountWidth-1:0] rx_count_o,
  output logic [Vcs-1:0] rx_valid_o,
  input logic [Vcs-1:0] rx_ready_i,
  /// Broadcast message of the user; its field late is ignored.
  input broadcast_t broadcast_i,
  input logic broadcast_valid_i,
  output logic broadcast_ready_o,
  /// Broadcast message received.
  output broadcast_t broadcast_o,
  output logic broadcast_valid_o,
  input logic broadcast_ready_i,

  /// Row to the lanes; see spfe_sf_rows.
  output row_kind_e row_o,
  /// Its words.
  output word_t [Lanes-1:0] row_words_o,
  /// Number of data words.
  output logic [CountWidth-1:0] row_count_o,
  /// The row is taken.
  input logic row_ready_i,
  /// Data-sending lanes; 0 while no lane is active or the lanes are not aligned.
  input logic [CountWidth-1:0] width_i,
  /// Row from the lanes; see spfe_sf_receive.
  input row_kind_e row_i,
  /// Its words.
  input word_t [Lanes-1:0] row_words_i,
  /// Number of data words.
  input logic [CountWidth-1:0] row_count_i,
  /// For an EDF: the CRC-16 of all lanes is right.
  input logic crc16_good_i,

  /// LaneReset to all lanes, for one cycle.
  output logic lane_reset_o,
  /// Link reset of the layers below, for one cycle.
  output logic link_reset_o,
  /// Capability field for INIT3.
  output logic [7:0] capability_o,
  /// Lanes that received three equal INIT3.
  input logic [Lanes-1:0] far_valid_i,
  /// Capability field in them.
  input logic [Lanes-1:0][7:0] far_i,
  /// A lane was active at that time.
  input logic any_active_i
);
  localparam int unsigned Segment = SegmentWords * SegmentMultiplier;
  localparam int unsigned Quantum = SegmentWords * FctMultiplier;
  localparam int unsigned VcWidth = Vcs > 1 ? $clog2(Vcs) : 1;
  localparam int unsigned PosWidth = $clog2(OutputWords);
  localparam int unsigned LenWidth = $clog2(Segment + 1);

  if (Vcs < 1 || Vcs > 32) begin : gen_bad_vcs
    $error("spfe_sf_data_link: Vcs is %0d; 1 to 32", Vcs);
  end
  if (SegmentMultiplier < 1 || SegmentMultiplier > Lanes) begin : gen_bad_segment
    $error("spfe_sf_data_link: SegmentMultiplier is %0d; 1 to %0d", SegmentMultiplier, Lanes);
  end
  if (FctMultiplier < 1 || FctMultiplier > 8) begin : gen_bad_fct
    $error("spfe_sf_data_link: FctMultiplier is %0d; 1 to 8", FctMultiplier);
  end
  if (InputWords < Segment || CreditLimit < 4 * Quantum) begin : gen_bad_input
    $error(
      "spfe_sf_data_link: InputWords is %0d, from %0d; CreditLimit %0d, from %0d",
      InputWords,
      Segment,
      CreditLimit,
      4 * Quantum
    );
  end

  logic clear, initialised;
  logic [Vcs-1:0] seg_ready;
  logic [Vcs-1:0][LenWidth-1:0] seg_length;
  logic [Vcs-1:0][PosWidth-1:0] seg_start;
  word_t [Vcs-1:0][(1<<$clog2(Lanes))-1:0] seg_row;
  logic [Vcs-1:0] due, overflow;
  logic [Vcs-1:0] has_credit, credit_overflow, input_overflow, over_use, under_use;
  logic starved, free, damaged, select_valid, no_lane_q;
  logic [Vcs-1:0] give_vc, rx_vc;
  logic [9:0] give;
  logic rx_begin, rx_accept, reset_rx, far_end_reset;
  link_state_e state;
  word_t [Lanes-1:0] rx_words;
  logic [CountWidth-1:0] rx_count;
  logic [PosWidth-1:0] data_pos;
  logic [VcWidth-1:0] data_vc, select_vc;
  segment_t freed;
  sent_t sent;
  pending_t pending;
  ack_t ack;
  logic ack_valid, ack_wrong;
  logic retrying, in_broadcast, in_frame, late_new;
  logic [8:0] broadcast_credit;
  reply_e reply;
  logic [7:0] reply_seq;
  logic [1:0] corrected, failed;
  link_event_t ev_rx, ev;

  spfe_sf_link_reset #(
    .Lanes(Lanes),
    .RetryWords(ResetRetryWords)
  ) i_reset (
    .clk_i,
    .rst_i,
    .interface_i(param_i.interface_reset),
    .reset_i(param_i.link_reset || reset_rx),
    .scrambled_i(param_i.data_scrambled),
    .routing_switch_i(param_i.routing_switch),
    .far_valid_i,
    .far_i,
    .any_active_i,
    .rows_pass_i(width_i != '0),
    .row_i(sent.row),
    .state_o(state),
    .initialised_o(initialised),
    .lane_reset_o,
    .clear_o(clear),
    .far_end_reset_o(far_end_reset),
    .capability_o
  );
  assign link_reset_o = clear;

  spfe_sf_channels #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .Segment(Segment),
    .Quantum(Quantum),
    .OutputWords(OutputWords),
    .InputWords(InputWords),
    .CreditLimit(CreditLimit),
    .Protect(Protect)
  ) i_channels (
    .clk_i,
    .rst_i,
    .clear_i(clear || rst_i),
    .param_i(vc_param_i),
    .no_lane_i(width_i == '0),
    .tx_i,
    .tx_count_i,
    .tx_valid_i,
    .tx_ready_o,
    .rx_o,
    .rx_count_o,
    .rx_valid_o,
    .rx_ready_i,
    .give_vc_i(give_vc),
    .give_i(give),
    .has_credit_o(has_credit),
    .credit_overflow_o(credit_overflow),
    .ready_o(seg_ready),
    .start_o(seg_start),
    .length_o(seg_length),
    .take_i(sent.frame_new),
    .take_vc_i(select_vc),
    .re_i(sent.row),
    .data_vc_i(data_vc),
    .data_pos_i(data_pos),
    .data_o(seg_row),
    .free_i(free),
    .freed_i(freed),
    .starved_o(starved),
    .in_vc_i(rx_vc),
    .begin_i(rx_begin),
    .words_i(rx_words),
    .count_i(rx_count),
    .accept_i(rx_accept),
    .overflow_o(overflow),
    .input_overflow_o(input_overflow),
    .due_o(due),
    .grant_i(sent.fct_new),
    .grant_vc_i(VcWidth'(sent.fct_vc)),
    .ram_corrected_o(corrected[1]),
    .ram_failed_o(failed[1])
  );

  // Error recovery.
  spfe_sf_recovery #(
    .VcWidth(VcWidth),
    .PosWidth(PosWidth),
    .LenWidth(LenWidth),
    .Frames(Frames),
    .Protect(Protect)
  ) i_recovery (
    .clk_i,
    .rst_i,
    .clear_i(clear || rst_i),
    .pending_o(pending),
    .sent_i(sent),
    .in_frame_i(in_frame),
    .user_i(broadcast_i),
    .user_valid_i(broadcast_valid_i),
    .user_ready_o(broadcast_ready_o),
    .broadcast_rows_i(param_i.broadcast_rows),
    .late_i(width_i == '0),
    .late_new_i(late_new),
    .credit_o(broadcast_credit),
    .ack_i(ack),
    .ack_valid_o(ack_valid),
    .ack_wrong_o(ack_wrong),
    .free_o(free),
    .freed_o(freed),
    .ram_corrected_o(corrected[0]),
    .ram_failed_o(failed[0])
  );
  assign late_new = !initialised || no_lane_q || retrying
      || (pending.broadcast_pending && !in_broadcast);

  // Medium access.
  spfe_sf_qos #(
    .Vcs(Vcs),
    .CreditLimit(BandwidthLimit)
  ) i_qos (
    .clk_i,
    .rst_i,
    .reset_i(param_i.interface_reset),
    .clear_i(clear),
    .param_i(vc_param_i),
    .time_slot_i(param_i.time_slot),
    .idle_limit_i(param_i.idle_limit),
    .ready_i(seg_ready),
    .valid_o(select_valid),
    .vc_o(select_vc),
    .sent_i(sent),
    .over_use_o(over_use),
    .under_use_o(under_use)
  );

  // Transmitter.
  spfe_sf_transmit #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .PosWidth(PosWidth),
    .LenWidth(LenWidth),
    .FctMultiplier(FctMultiplier),
    .AckGap(AckGap),
    .NackRepeat(NackRepeat)
  ) i_transmit (
    .clk_i,
    .rst_i,
    .clear_i(clear),
    .on_i(initialised && width_i != '0),
    .width_i,
    .ack_i(ack),
    .damaged_i(damaged),
    .reply_i(reply),
    .reply_seq_i(reply_seq),
    .pending_i(pending),
    .fct_due_i(due),
    .select_valid_i(select_valid && seg_ready[select_vc]),
    .select_vc_i(select_vc),
    .start_i(seg_start),
    .length_i(seg_length),
    .starved_i(starved),
    .data_vc_o(data_vc),
    .data_pos_o(data_pos),
    .data_i(seg_row),
    .row_o,
    .words_o(row_words_o),
    .count_o(row_count_o),
    .row_ready_i,
    .sent_o(sent),
    .retrying_o(retrying),
    .in_broadcast_o(in_broadcast),
    .in_frame_o(in_frame)
  );

  // Receiver.
  spfe_sf_receive #(
    .Lanes(Lanes),
    .Vcs(Vcs),
    .Segment(Segment)
  ) i_receive (
    .clk_i,
    .rst_i,
    .clear_i(clear),
    .on_i(initialised),
    .row_i,
    .words_i(row_words_i),
    .count_i(row_count_i),
    .crc16_good_i,
    .vc_o(rx_vc),
    .begin_o(rx_begin),
    .words_o(rx_words),
    .count_o(rx_count),
    .accept_o(rx_accept),
    .overflow_i(overflow),
    .give_vc_o(give_vc),
    .give_o(give),
    .broadcast_o,
    .broadcast_valid_o,
    .broadcast_ready_i,
    .ack_o(ack),
    .ack_valid_i(ack_valid),
    .ack_wrong_i(ack_wrong),
    .damaged_o(damaged),
    .reply_o(reply),
    .reply_seq_o(reply_seq),
    .reply_sent_i(sent.reply),
    .reset_o(reset_rx),
    .ev_o(ev_rx)
  );

  for (genvar v = 0; v < Vcs; v++) begin : gen_status
    assign vc_status_o[v] = {
      has_credit[v], under_use[v], over_use[v], credit_overflow[v], input_overflow[v]
    };
  end
  always_comb begin
    ev = ev_rx;
    ev.far_end_reset = far_end_reset;
    ev.ram_corrected = corrected != '0;
    ev.ram_failed = failed != '0;
    ev.sent_frame = sent.frame;
    ev.sent_broadcast = sent.broadcast;
    ev.sent_fct = sent.fct;
    ev.sent_ack = sent.reply && reply == ReplyAck;
    ev.sent_nack = sent.reply && reply == ReplyNack;
    ev.sent_full = sent.full;
    ev.sent_retry = sent.retry;
    ev.sent_idle = sent.idle;
  end
  assign status_o = '{
      state: state,
      recovery_empty: pending.empty,
      broadcast_credit: broadcast_credit,
      ev: ev
    };

  always_ff @(posedge clk_i) begin
    if (width_i == '0) no_lane_q <= 1'b1;
    else if (sent.row) no_lane_q <= 1'b0;
    if (rst_i || clear) no_lane_q <= 1'b0;
  end
endmodule
