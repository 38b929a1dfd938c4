// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Driver of a lane: what each state of the lane sends (ECSS-E-ST-50-11C, 5.5.2, 5.5.4).
module spfe_sf_lane_tx
  import spfe_sf_pkg::*;
#(
  /// Pseudo-random words after each INIT1 and INIT2, 0 to 64.
  parameter int unsigned FillerWords = 64,
  /// Pseudo-random words after each INIT3, 0 to 255. Receivers accept any number.
  parameter int unsigned Init3FillerWords = 0,
  /// Words from SKIP to SKIP in Active; 0: the layer above inserts the SKIPs.
  parameter int unsigned SkipInterval = 5000
) (
  input logic clk_i,
  input logic rst_i,
  /// State of the lane.
  input lane_state_e state_i,
  /// It is Active.
  input logic active_i,
  /// The state changes at the end of this cycle.
  input logic enters_i,
  /// It changes to Started.
  input logic begins_i,
  /// Reason to send in STANDBY.
  input logic [7:0] standby_reason_i,
  /// Cause to send in LOST_SIGNAL.
  input lost_e lost_cause_i,
  /// Capability field to send in INIT3.
  input logic [7:0] capability_i,
  /// The layer above may not send: received words are sent back.
  input logic loops_back_i,
  /// Word of the layer above.
  input word_t up_i,
  input logic up_valid_i,
  output logic up_ready_o,
  /// Word to the line.
  output word_t word_o,
  /// It is that of the layer above.
  output logic up_taken_o,
  /// Number of INIT3 that are sent by the end of this cycle, up to 3.
  output logic [1:0] init3_sent_o
);
  localparam int unsigned FillerMost =
      FillerWords > Init3FillerWords ? FillerWords : Init3FillerWords;
  localparam int unsigned FillerWidth = $clog2(FillerMost + 2);
  localparam int unsigned SkipWidth = $clog2(SkipInterval + 2);

  if (FillerWords > 64 || Init3FillerWords > 255) begin : gen_bad_filler
    $error(
      "spfe_sf_lane_tx: FillerWords is %0d and Init3FillerWords %0d; at most 64 and 255",
      FillerWords,
      Init3FillerWords
    );
  end

  logic [FillerWidth-1:0] filler_q, filler_d;
  logic [15:0] prbs_q, prbs_next;
  logic [31:0] prbs_bits;
  logic [SkipWidth-1:0] skip_q;
  logic [1:0] init3_q;
  logic active;
  logic skip_due, skip_due_q;
  logic fills;
  word_t starting;

  spfe_lfsr i_filler (
    .state_i(prbs_q),
    .state_o(prbs_next),
    .bits_o(prbs_bits)
  );

  assign active = active_i;
  assign skip_due = SkipInterval != 0 && skip_due_q;
  assign fills = !active && filler_q != '0;
  assign up_ready_o = active && !skip_due && !loops_back_i;

  always_comb begin
    filler_d = '0;
    starting = Idle;
    case (state_i)
      StStarted, StInvertRxPolarity: begin
        starting = Init1;
        filler_d = FillerWidth'(FillerWords);
      end
      StConnecting: begin
        starting = Init2;
        filler_d = FillerWidth'(FillerWords);
      end
      StConnected: begin
        starting = lane_word(InitComma, 8'h38, capability_i);
        filler_d = FillerWidth'(Init3FillerWords);
      end
      StPrepareStandby: starting = lane_word(Comma, 8'h7E, standby_reason_i);
      StLossOfSignal: starting = lane_word(Comma, 8'h64, 8'(lost_cause_i));
      default: ;
    endcase
    if (fills) begin
      starting = '{k: 4'h0, bits: prbs_bits};
      filler_d = filler_q - 1'b1;
    end
  end

  assign init3_sent_o =
      state_i == StConnected && !fills && init3_q != 2'd3 ? init3_q + 2'd1 : init3_q;

  always_comb begin
    word_o = starting;
    if (active) word_o = skip_due ? Skip : up_taken_o ? up_i : Idle;
  end
  assign up_taken_o = up_valid_i && up_ready_o;

  always_ff @(posedge clk_i) begin
    filler_q <= enters_i ? '0 : filler_d;
    init3_q <= enters_i ? '0 : init3_sent_o;
    if (begins_i) prbs_q <= '1;
    else if (fills) prbs_q <= prbs_next;
    if (enters_i) skip_q <= SkipWidth'(SkipInterval);
    else if (active) skip_q <= skip_due ? SkipWidth'(SkipInterval - 1) : skip_q - 1'b1;
    // The next word is SKIP.
    if (enters_i) skip_due_q <= SkipInterval == 0;
    else if (active) skip_due_q <= skip_due ? SkipInterval == 1 : skip_q == SkipWidth'(1);
    if (rst_i) begin
      filler_q <= '0;
      init3_q <= '0;
      prbs_q <= '1;
      skip_q <= '0;
      skip_due_q <= 1'b1;
    end
  end
endmodule
