// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// State machine of a lane (ECSS-E-ST-50-11C, 5.5.2): the state after this cycle. The conditions
/// are in the order of the standard. Whether the state changes is worked out beside the next one,
/// and does not wait for it.
module spfe_sf_lane_next
  import spfe_sf_pkg::*;
(
  /// State of the lane.
  input lane_state_e state_i,
  /// Enters ClearLine.
  input logic reset_i,
  /// LaneStart.
  input logic lane_start_i,
  /// LaneStart or AutoStart.
  input logic wanted_i,
  /// There is no signal.
  input logic no_signal_i,
  /// That counts: the lane is not transmit-only.
  input logic lost_signal_i,
  /// FarEndActive.
  input logic far_end_active_i,
  /// The lane comes up although the far end cannot hear it.
  input logic rx_only_i,
  /// With the next word the time of ClearLine is over.
  input logic cleared_i,
  /// That of a burst is over.
  input logic burst_i,
  /// The initialisation timer is over.
  input logic timed_out_i,
  /// INIT3 that are sent by the end of this cycle, up to 3.
  input logic [1:0] init3_sent_i,
  /// Words that were seen, with that of this cycle.
  input lane_seen_t seen_i,
  /// The RXERR counter is full, and that counts.
  input logic full_i,
  /// Reason why the lane left Active last.
  input lost_e lost_i,

  /// The state after this cycle.
  output lane_state_e state_o,
  /// Another state, or ClearLine again.
  output logic enters_o,
  /// It changes from Connecting to Connected.
  output logic connects_o,
  /// Three STANDBY or LOST_SIGNAL were seen.
  output logic stopped_o,
  /// Reason why the lane left Active last, after this cycle.
  output lost_e lost_o
);
  lane_state_e next;
  lost_e cause;
  logic leaves, done, over, stopped;

  assign stopped = seen_i.standby || seen_i.lost_signal;
  assign over = timed_out_i || stopped;

  always_comb begin
    next = StClearLine;
    cause = lost_i;
    done = 1'b0;
    unique case (state_i)
      StClearLine: begin
        leaves = cleared_i;
        next = StDisabled;
      end
      StDisabled: begin
        leaves = wanted_i;
        next = StWait;
      end
      StWait: begin
        leaves = !wanted_i || lane_start_i || !no_signal_i;
        next = wanted_i ? StStarted : StDisabled;
      end
      StStarted: begin
        done = far_end_active_i || seen_i.started;
        leaves = done || seen_i.inverted || over;
        if (done) next = StConnecting;
        else if (seen_i.inverted) next = StInvertRxPolarity;
      end
      StInvertRxPolarity: begin
        leaves = lost_signal_i || seen_i.started || over;
        if (seen_i.started && !lost_signal_i) next = StConnecting;
      end
      StConnecting: begin
        done = rx_only_i || far_end_active_i || seen_i.init2 || seen_i.init3;
        leaves = lost_signal_i || done || over;
        if (done && !lost_signal_i) next = StConnected;
      end
      StConnected: begin
        done = rx_only_i || (far_end_active_i && init3_sent_i != '0)
            || (seen_i.init3 && init3_sent_i == 2'd3);
        leaves = lost_signal_i || done || over || seen_i.comma;
        if (done && !lost_signal_i) next = StActive;
      end
      StActive: begin
        leaves = 1'b1;
        next = StLossOfSignal;
        if (lost_signal_i) cause = LostNoSignal;
        else if (full_i) cause = LostRxErr;
        else if (seen_i.init1 && !rx_only_i) cause = LostInit1;
        else begin
          leaves = !wanted_i || stopped;
          next = wanted_i ? StClearLine : StPrepareStandby;
        end
      end
      default: leaves = burst_i || stopped;
    endcase
  end

  assign state_o = reset_i ? StClearLine : leaves ? next : state_i;
  assign enters_o = reset_i || leaves;
  assign connects_o = state_i == StConnecting && done && !lost_signal_i && !reset_i;
  assign stopped_o = stopped;
  assign lost_o = reset_i ? lost_i : cause;
  logic unused_seen;
  assign unused_seen = ^seen_i;
endmodule
