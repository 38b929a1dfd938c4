// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Counts the words that the state machine of a lane waits for (ECSS-E-ST-50-11C, 5.5.2). The
/// outputs include the word of this cycle.
module spfe_sf_lane_seen
  import spfe_sf_pkg::*;
#(
  /// Words without RXERR that are needed to leave Started.
  parameter int unsigned StartedWords = 1023
) (
  input logic clk_i,
  input logic rst_i,
  /// A word was received; 0 while the receiver is off.
  input logic valid_i,
  /// Word received.
  input word_t word_i,
  /// Its kind.
  input lane_kind_e kind_i,
  /// The lane is Active: only STANDBY, LOST_SIGNAL and INIT1 count.
  input logic active_i,
  /// The state changes: the next word is the first of the new state.
  input logic clear_i,
  /// INIT3 still count in the new state; with clear_i.
  input logic keep_init3_i,
  /// Enough words without RXERR, and an INIT1 or INIT2 among them.
  output logic started_o,
  /// An INIT1.
  output logic init1_o,
  /// Three INIT2.
  output logic init2_o,
  /// Three equal INIT3.
  output logic init3_o,
  /// The last of them is the word of this cycle.
  output logic init3_new_o,
  /// Capability field of the last INIT3.
  output logic [7:0] capability_o,
  /// Three inverted INIT1, or three inverted INIT2.
  output logic inverted_o,
  /// A word that begins with K28.7.
  output logic comma_o,
  /// Three STANDBY in a row.
  output logic standby_o,
  /// Three LOST_SIGNAL in a row.
  output logic lost_signal_o,
  /// Reason or cause of the last STANDBY or LOST_SIGNAL.
  output logic [7:0] stop_field_o
);
  localparam int unsigned GoodWidth = $clog2(StartedWords + 1);

  typedef struct packed {
    logic [GoodWidth-1:0] good;
    logic init12;
    logic init1;
    logic [1:0] init2;
    logic [1:0] init3;
    logic [7:0] capability;
    logic [1:0] inverted1;
    logic [1:0] inverted2;
    logic comma;
    logic [1:0] standby;
    logic [1:0] lost_signal;
    logic [7:0] stop_field;
  } seen_t;

  seen_t seen_q, seen_d;

  function automatic logic [1:0] more(input logic [1:0] number);
    return number == 2'd3 ? 2'd3 : number + 2'd1;
  endfunction

  always_comb begin
    seen_d = seen_q;
    if (valid_i && kind_i == LaneError && !active_i) begin
      seen_d = '0;
    end else if (valid_i) begin
      if (!active_i) begin
        if (seen_q.good != GoodWidth'(StartedWords)) seen_d.good = seen_q.good + 1'b1;
        if (word_i.k[0] && word_i.bits[7:0] == Comma) seen_d.comma = 1'b1;
        if (kind_i == LaneInit1 || kind_i == LaneInit2) seen_d.init12 = 1'b1;
        if (kind_i == LaneInit2) seen_d.init2 = more(seen_q.init2);
        if (kind_i == LaneInit1Inverted) seen_d.inverted1 = more(seen_q.inverted1);
        if (kind_i == LaneInit2Inverted) seen_d.inverted2 = more(seen_q.inverted2);
        if (kind_i == LaneInit3) begin
          seen_d.capability = word_i.bits[31:24];
          seen_d.init3 = seen_q.init3 != '0 && seen_q.capability == word_i.bits[31:24] ?
            more(seen_q.init3) : 2'd1;
        end
      end
      if (kind_i == LaneInit1) seen_d.init1 = 1'b1;
      if (kind_i != LaneSkip) begin
        seen_d.standby = kind_i == LaneStandby ? more(seen_q.standby) : '0;
        seen_d.lost_signal = kind_i == LaneLostSignal ? more(seen_q.lost_signal) : '0;
      end
      if (kind_i == LaneStandby || kind_i == LaneLostSignal) seen_d.stop_field = word_i.bits[31:24];
    end
  end

  assign started_o = seen_d.good == GoodWidth'(StartedWords) && seen_d.init12;
  assign init1_o = seen_d.init1;
  assign init2_o = seen_d.init2 == 2'd3;
  assign init3_o = seen_d.init3 == 2'd3;
  assign init3_new_o = seen_d.init3 == 2'd3 && seen_q.init3 != 2'd3;
  assign capability_o = seen_d.capability;
  assign inverted_o = seen_d.inverted1 == 2'd3 || seen_d.inverted2 == 2'd3;
  assign comma_o = seen_d.comma;
  assign standby_o = seen_d.standby == 2'd3;
  assign lost_signal_o = seen_d.lost_signal == 2'd3;
  assign stop_field_o = seen_d.stop_field;

  always_ff @(posedge clk_i) begin
    seen_q <= seen_d;
    if (clear_i) begin
      seen_q <= '0;
      if (keep_init3_i) begin
        seen_q.init3 <= seen_d.init3;
        seen_q.capability <= seen_d.capability;
      end
    end
    if (rst_i) seen_q <= '0;
  end
endmodule
