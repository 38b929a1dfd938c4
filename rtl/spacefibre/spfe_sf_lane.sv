// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A lane: initialisation and standby, word synchronisation, SKIP and IDLE, RXERR, parallel
/// loopbacks (ECSS-E-ST-50-11C, 5.5). A cycle of clk_i is a word period, in which one word is sent
/// and one is received. A transceiver or spfe_sf_coder stands between it and the line.
module spfe_sf_lane
  import spfe_sf_pkg::*;
#(
  /// Word periods in 2 us, the duration of ClearLine: 2e-6 times the rate of clk_i, rounded up.
  parameter int unsigned ClearLineWords = 313,
  /// Initialisation timer in words, from Started until Active.
  parameter int unsigned InitTimeout = 5000,
  /// Words without RXERR that are needed to leave Started.
  parameter int unsigned StartedWords = 1023,
  /// STANDBY or LOST_SIGNAL words in a burst.
  parameter int unsigned BurstWords = 32,
  /// Words after which the RXERR counter goes down by one, 15000 to 16384.
  parameter int unsigned LeakWords = 16384,
  /// Pseudo-random words after each INIT1 and INIT2, 0 to 64.
  parameter int unsigned FillerWords = 64,
  /// Pseudo-random words after each INIT3, 0 to 255.
  parameter int unsigned Init3FillerWords = 0,
  /// Words from SKIP to SKIP in Active; 0: the layer above inserts the SKIPs.
  parameter int unsigned SkipInterval = 5000
) (
  input logic clk_i,
  input logic rst_i,

  /// Parameters of management.
  input lane_param_t param_i,
  /// Status for management.
  output lane_status_t status_o,
  /// LaneReset of the layers above: enters ClearLine at the end of this cycle.
  input logic reset_i,
  /// Capability field of the layers above, sent from Connected on; bit LaneStart is set here.
  input logic [7:0] capability_i,
  /// FarEndActive, which the multi-lane layer learns from ACTIVE words.
  input logic far_end_active_i,
  /// RxOnly: the lane comes up although the far end cannot hear it (5.6.5).
  input logic rx_only_i,

  /// Word of the layer above.
  input word_t tx_i,
  input logic tx_valid_i,
  output logic tx_ready_o,
  /// Word for the layer above; there is no way to refuse it.
  output word_t rx_o,
  output logic rx_valid_o,

  /// Word to the line, one cycle after it was chosen.
  output word_t line_o,
  /// The line driver is on; with line_o.
  output logic line_on_o,
  /// Word from the line; a damaged symbol is K0.0.
  input word_t line_i,
  /// There is a signal; with line_i.
  input logic line_on_i,
  /// The word boundary moved: the word in progress is lost.
  input logic realigned_i,
  /// The lane is Active.
  output logic active_o,
  /// The receiver and its clock recovery are on.
  output logic receive_o,
  /// The received bits are to be inverted.
  output logic invert_o
);
  localparam int unsigned CountMost = ClearLineWords > BurstWords ? ClearLineWords : BurstWords;
  localparam int unsigned CountWidth = $clog2(CountMost + 1);
  localparam int unsigned TimerWidth = $clog2(InitTimeout + 1);
  localparam int unsigned LeakWidth = $clog2(LeakWords + 1);

  lane_state_e state_q, state_d;
  logic [CountWidth-1:0] count_q, count;
  logic [TimerWidth-1:0] timer_q, timer;
  logic [LeakWidth-1:0] leak_q;
  logic [7:0] rxerr_q, rxerr;
  logic [7:0] capability_q;
  logic [7:0] far_end_capability_q;
  lost_e lost_q, lost;
  logic inverted_q;
  logic no_signal_q, no_signal;

  word_t sent;
  logic up_taken;
  word_t line_q;
  logic line_on_q;
  word_t sent_q;
  logic sent_on_q;

  logic active, active_q, starts, drives, hears;
  logic reset, enters, begins, connects, tx_only, lost_signal, wanted;
  logic [1:0] init3_sent;
  logic stopped;

  word_t heard;
  lane_kind_e kind;
  logic synced, damaged, bad;
  // What comes of the word that was heard, and of RXERR in its place if the next one is damaged,
  // which is known late.
  lane_seen_t [1:0] seen;
  lane_state_e [1:0] state_next;
  lost_e [1:0] lost_next;
  logic [1:0] enters_next, connects_next;
  logic [1:0][7:0] rxerr_next;
  logic [1:0] stopped_next, full_next;
  // With the next word the times are over: of ClearLine, of a burst, and the initialisation timer.
  logic cleared_q, burst_q, timed_out_q;
  logic leaks;

  assign active = active_q;
  assign active_o = active_q;
  // From Started on, driver and receiver are on.
  assign starts = state_q >= StStarted;
  assign drives = starts && !rx_only_i && param_i.tx_en;
  assign hears = starts && param_i.rx_en;
  assign reset = reset_i || param_i.lane_reset;
  assign wanted = param_i.lane_start || param_i.auto_start;
  assign tx_only = param_i.tx_en && !param_i.rx_en && state_q != StClearLine;

  // Transmitter.
  spfe_sf_lane_tx #(
    .FillerWords(FillerWords),
    .Init3FillerWords(Init3FillerWords),
    .SkipInterval(SkipInterval)
  ) i_tx (
    .clk_i,
    .rst_i,
    .state_i(state_q),
    .active_i(active_q),
    .enters_i(enters),
    .begins_i(begins),
    .standby_reason_i(param_i.standby_reason),
    .lost_cause_i(lost_q),
    .capability_i(capability_q),
    .loops_back_i(param_i.far_end_loopback),
    .up_i(tx_i),
    .up_valid_i(tx_valid_i),
    .up_ready_o(tx_ready_o),
    .word_o(sent),
    .up_taken_o(up_taken),
    .init3_sent_o(init3_sent)
  );

  assign line_o = sent_q;
  assign line_on_o = sent_on_q;

  // Receiver.
  word_t in;
  assign no_signal = !line_on_i && !param_i.near_end_loopback;
  assign lost_signal = no_signal && !tx_only;
  always_comb begin
    in = line_on_i ? line_i : RxErr;
    bad = !line_on_i || has_error(line_i);
    if (param_i.near_end_loopback) begin
      in = drives ? sent : RxErr;
      bad = !drives || (up_taken && has_error(tx_i));
    end
  end

  spfe_sf_word_sync i_sync (
    .clk_i,
    .rst_i,
    .lose_i(!hears),
    .moved_i(realigned_i),
    .word_i(in),
    .bad_i(bad),
    .word_o(heard),
    .kind_o(kind),
    .damaged_o(damaged),
    .synced_o(synced)
  );

  spfe_sf_lane_seen #(
    .StartedWords(StartedWords)
  ) i_seen (
    .clk_i,
    .rst_i,
    .valid_i(hears),
    .word_i(heard),
    .kind_i(kind),
    .damaged_i(damaged),
    .active_i(active),
    .clear_i(enters),
    .keep_init3_i(connects),
    .seen_o(seen[0]),
    .seen_damaged_o(seen[1])
  );

  // State after this cycle.
  assign count = count_q == CountWidth'(CountMost) ? count_q : count_q + 1'b1;
  assign timer = timer_q == TimerWidth'(InitTimeout) ? timer_q : timer_q + 1'b1;

  // To Started.
  assign begins = state_q == StWait && wanted && (param_i.lane_start || !no_signal) && !reset;

  // Index 1: the word that was heard is RXERR instead.
  for (genvar b = 0; b < 2; b++) begin : gen_next
    spfe_sf_lane_next i_next (
      .state_i(state_q),
      .reset_i(reset),
      .lane_start_i(param_i.lane_start),
      .wanted_i(wanted),
      .no_signal_i(no_signal),
      .lost_signal_i(lost_signal),
      .far_end_active_i,
      .rx_only_i,
      .cleared_i(cleared_q),
      .burst_i(burst_q),
      .timed_out_i(timed_out_q),
      .init3_sent_i(init3_sent),
      .seen_i(seen[b]),
      .full_i(full_next[b] && !tx_only),
      .lost_i(lost_q),
      .state_o(state_next[b]),
      .enters_o(enters_next[b]),
      .connects_o(connects_next[b]),
      .stopped_o(stopped_next[b]),
      .lost_o(lost_next[b])
    );
  end
  assign state_d = state_next[damaged];
  assign connects = connects_next[damaged];
  assign lost = lost_next[damaged];
  assign enters = enters_next[damaged];
  assign stopped = stopped_next[damaged];
  assign rxerr = rxerr_next[damaged];

  logic [LeakWidth-1:0] leak;
  assign leaks = leak_q == LeakWidth'(1);
  assign leak = leaks ? LeakWidth'(LeakWords) : leak_q - 1'b1;

  // The RXERR counter leaks, but stays at its limit for management to read.
  always_comb begin
    for (int unsigned b = 0; b < 2; b++) begin
      rxerr_next[b] = rxerr_q;
      full_next[b] = rxerr_q == 8'hFF;
      if (active && hears && rxerr_q != 8'hFF) begin
        if (leaks && rxerr_q != '0) begin
          if (b == 0 && kind != LaneError) rxerr_next[b] = rxerr_q - 1'b1;
        end else if (b == 1 || kind == LaneError) begin
          rxerr_next[b] = rxerr_q + 1'b1;
          full_next[b] = rxerr_q == 8'hFE;
        end
      end
    end
  end

  // Words for the layer above (5.5.4); leaving Active gives one RXERR at least.
  word_t up;
  logic up_valid;
  word_t up_q;
  logic up_valid_q;

  always_comb begin
    up = heard;
    up_valid = active && hears;
    case (kind)
      LaneInit1, LaneStandby, LaneLostSignal: up = RxErr;
      LaneSkip, LaneIdle, LaneInit2, LaneInit3, LaneInit1Inverted, LaneInit2Inverted:
      up_valid = 1'b0;
      default: ;
    endcase
    if (damaged || (active && enters)) begin
      up = RxErr;
      up_valid = active && hears;
    end
  end
  assign rx_o = up_q;
  assign rx_valid_o = up_valid_q;

  always_ff @(posedge clk_i) begin
    state_q <= state_d;
    active_q <= state_d == StActive;
    lost_q <= lost;
    no_signal_q <= no_signal;
    count_q <= enters ? '0 : count;
    if (enters) {cleared_q, burst_q} <= {ClearLineWords < 2, BurstWords < 2};
    else begin
      if (count == CountWidth'(ClearLineWords - 1)) cleared_q <= 1'b1;
      if (count == CountWidth'(BurstWords - 1)) burst_q <= 1'b1;
    end
    timer_q <= begins ? '0 : timer;
    timed_out_q <= !begins && (timed_out_q || timer == TimerWidth'(InitTimeout - 1));
    rxerr_q <= reset || connects ? '0 : rxerr;
    if (connects) leak_q <= LeakWidth'(LeakWords);
    else if (active && hears) leak_q <= leak;
    if (connects)
      capability_q <= (capability_i & ~(8'd1 << CapLaneStart))
          | (8'(param_i.lane_start) << CapLaneStart);
    if (enters && state_d == StClearLine) inverted_q <= 1'b0;
    else if (enters && state_d == StInvertRxPolarity) inverted_q <= !inverted_q;
    if (seen[damaged].init3_new && (state_q == StConnecting || state_q == StConnected))
      far_end_capability_q <= seen[damaged].capability;
    up_q <= up;
    up_valid_q <= up_valid;
    line_q <= line_i;
    line_on_q <= line_on_i;
    // The far end's words go back as they came; only a driver that is off sends nothing.
    sent_q <= param_i.far_end_loopback && drives ? line_q : sent;
    sent_on_q <= drives && (!param_i.far_end_loopback || line_on_q);
    if (rst_i) begin
      state_q <= StClearLine;
      active_q <= 1'b0;
      lost_q <= LostNoSignal;
      no_signal_q <= 1'b1;
      count_q <= '0;
      {cleared_q, burst_q, timed_out_q} <= {ClearLineWords < 2, BurstWords < 2, 1'b0};
      timer_q <= '0;
      rxerr_q <= '0;
      leak_q <= LeakWidth'(LeakWords);
      capability_q <= '0;
      inverted_q <= 1'b0;
      far_end_capability_q <= '0;
      up_valid_q <= 1'b0;
      line_on_q <= 1'b0;
      sent_on_q <= 1'b0;
    end
  end

  assign receive_o = hears;
  assign invert_o = inverted_q;

  // Status.
  logic ev_capability_q, ev_timeout_q, ev_standby_q, ev_lost_signal_q, ev_overflow_q;
  logic [7:0] field_q;
  // The reason why the lane goes to ClearLine; of several reasons the first of the standard's list.
  logic starting, gives_up, stops;
  always_comb begin
    starting = state_q >= StStarted && state_q <= StConnected;
    gives_up = enters && !reset && state_d == StClearLine;
    if (starting && state_q != StStarted) gives_up &= !lost_signal;
    stops = gives_up && state_q >= StStarted && stopped;
    if (starting) stops &= !timed_out_q;
    else if (state_q != StActive) stops &= !burst_q;
  end

  always_ff @(posedge clk_i) begin
    ev_capability_q <= seen[damaged].init3_new
        && (state_q == StConnecting || state_q == StConnected);
    ev_timeout_q <= starting && gives_up && timed_out_q;
    ev_standby_q <= stops && seen[damaged].standby;
    ev_lost_signal_q <= stops && !seen[damaged].standby;
    ev_overflow_q <= full_next[damaged] && rxerr_q != 8'hFF;
    if (stopped) field_q <= seen[damaged].stop_field;
    if (rst_i) begin
      ev_capability_q <= 1'b0;
      ev_timeout_q <= 1'b0;
      ev_standby_q <= 1'b0;
      ev_lost_signal_q <= 1'b0;
      ev_overflow_q <= 1'b0;
      field_q <= '0;
    end
  end

  assign status_o = '{
      state: state_q,
      no_signal: no_signal_q,
      rx_inverted: inverted_q,
      rxerr_count: rxerr_q,
      far_end_capability: far_end_capability_q,
      lost_cause: lost_q,
      far_end_field: field_q,
      ev_capability: ev_capability_q,
      ev_rxerr_overflow: ev_overflow_q,
      ev_timeout: ev_timeout_q,
      ev_far_end_standby: ev_standby_q,
      ev_far_end_lost_signal: ev_lost_signal_q
    };

  logic unused_synced;
  assign unused_synced = synced;
endmodule
