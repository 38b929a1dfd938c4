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
  /// It is RXERR instead.
  input logic damaged_i,
  /// The lane is Active: only STANDBY, LOST_SIGNAL and INIT1 count.
  input logic active_i,
  /// The state changes: the next word is the first of the new state.
  input logic clear_i,
  /// INIT3 still count in the new state; with clear_i.
  input logic keep_init3_i,
  /// What was seen if the word is as given; it does not depend on damaged_i.
  output lane_seen_t seen_o,
  /// What was seen if the word is RXERR.
  output lane_seen_t seen_damaged_o
);
  localparam int unsigned GoodWidth = $clog2(StartedWords + 1);

  typedef struct packed {
    logic [GoodWidth-1:0] good;
    logic enough;
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
  // Without and with damage.
  seen_t [1:0] next;

  function automatic logic [1:0] more(input logic [1:0] number);
    return number == 2'd3 ? 2'd3 : number + 2'd1;
  endfunction

  function automatic seen_t follow(input seen_t was, input logic is_active, input word_t given,
                                   input lane_kind_e what);
    seen_t now;
    now = was;
    if (what == LaneError && !is_active) begin
      now = '0;
    end else begin
      if (!is_active) begin
        // Another word makes it enough.
        if (was.good == GoodWidth'(StartedWords - 1)) now.enough = 1'b1;
        else now.good = was.good + 1'b1;
        if (given.k[0] && given.bits[7:0] == Comma) now.comma = 1'b1;
        if (what == LaneInit1 || what == LaneInit2) now.init12 = 1'b1;
        if (what == LaneInit2) now.init2 = more(was.init2);
        if (what == LaneInit1Inverted) now.inverted1 = more(was.inverted1);
        if (what == LaneInit2Inverted) now.inverted2 = more(was.inverted2);
        if (what == LaneInit3) begin
          now.capability = given.bits[31:24];
          now.init3 = was.init3 != '0 && was.capability == given.bits[31:24] ? more(was.init3) :
            2'd1;
        end
      end
      if (what == LaneInit1) now.init1 = 1'b1;
      if (what != LaneSkip) begin
        now.standby = what == LaneStandby ? more(was.standby) : '0;
        now.lost_signal = what == LaneLostSignal ? more(was.lost_signal) : '0;
      end
      if (what == LaneStandby || what == LaneLostSignal) now.stop_field = given.bits[31:24];
    end
    return now;
  endfunction

  function automatic lane_seen_t tell(input seen_t last, input logic had_init3);
    logic unused_good;
    lane_seen_t told;
    unused_good = ^last.good;
    told = '{
      started: last.enough && last.init12,
      init1: last.init1,
      init2: last.init2 == 2'd3,
      init3: last.init3 == 2'd3,
      init3_new: last.init3 == 2'd3 && !had_init3,
      capability: last.capability,
      inverted: last.inverted1 == 2'd3 || last.inverted2 == 2'd3,
      comma: last.comma,
      standby: last.standby == 2'd3,
      lost_signal: last.lost_signal == 2'd3,
      stop_field: last.stop_field
    };
    return told;
  endfunction

  always_comb begin
    next = {2{seen_q}};
    if (valid_i) begin
      next[0] = follow(seen_q, active_i, word_i, kind_i);
      next[1] = follow(seen_q, active_i, RxErr, LaneError);
    end
    seen_d = next[damaged_i];
    seen_o = tell(next[0], seen_q.init3 == 2'd3);
    seen_damaged_o = tell(next[1], seen_q.init3 == 2'd3);
  end

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
