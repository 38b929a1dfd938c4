// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Words of SpaceFibre (ECSS-E-ST-50-11C, 5.3) as the layers of the port pass them on. A word has
/// four symbols; symbol 0 is sent first and is in bits 7:0.
package spfe_sf_pkg;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.
  /// A word with the mask of its K characters: bit 0 for symbol 0.
  typedef struct packed {
    logic [3:0] k;
    logic [31:0] bits;
  } word_t;

  // K characters (table 5-1 and following).
  localparam logic [7:0] Comma = 8'hFC;  // K28.7
  localparam logic [7:0] InitComma = 8'hBC;  // K28.5
  localparam logic [7:0] KEdf = 8'h1C;  // K28.0
  localparam logic [7:0] KEbf = 8'h5C;  // K28.2
  localparam logic [7:0] KFct = 8'h7C;  // K28.3
  localparam logic [7:0] Fill = 8'hFB;  // K27.7
  localparam logic [7:0] Eop = 8'hFD;  // K29.7
  localparam logic [7:0] Eep = 8'hFE;  // K30.7
  // Stands for a damaged symbol inside a receiver; never sent.
  localparam logic [7:0] KError = 8'h00;  // K0.0

  // A word was lost or damaged. Exists only inside a receiver.
  localparam word_t RxErr = '{k: 4'h1, bits: 32'h00000000};
  // Words of the lane layer without a field.
  localparam word_t Skip = '{k: 4'h1, bits: 32'h7F7FCEFC};
  localparam word_t Idle = '{k: 4'h1, bits: 32'hCFCFCEFC};
  localparam word_t Init1 = '{k: 4'h1, bits: 32'h4646CEBC};
  localparam word_t Init2 = '{k: 4'h1, bits: 32'hA6A6CEBC};

  /// What the lane layer has to know of a received word (5.3.3).
  typedef enum logic [3:0] {
    LaneOther,  // a word of the layers above
    LaneError,  // RXERR
    LaneSkip,
    LaneIdle,
    LaneInit1,
    LaneInit2,
    LaneInit3,
    LaneInit1Inverted,
    LaneInit2Inverted,
    LaneStandby,
    LaneLostSignal
  } lane_kind_e;

  /// State of a lane; the values are those of the status register (5.5.2).
  typedef enum logic [3:0] {
    StClearLine,
    StDisabled,
    StWait,
    StStarted,
    StInvertRxPolarity,
    StConnecting,
    StConnected,
    StActive,
    StPrepareStandby,
    StLossOfSignal
  } lane_state_e;

  /// Reason why a lane left Active by itself, as sent in LOST_SIGNAL.
  typedef enum logic [1:0] {
    LostNoSignal,
    LostRxErr,
    LostInit1
  } lost_e;

  /// Parameters of a lane, which management may change at any time (table 5-36).
  typedef struct packed {
    logic [7:0] standby_reason;  // sent in STANDBY
    logic tx_en;  // enables the transmitter
    logic rx_en;  // enables the receiver
    logic near_end_loopback;  // the lane receives its own words
    logic far_end_loopback;  // the lane sends back the received words
    logic lane_reset;  // holds the lane in ClearLine
    logic auto_start;  // start when the far end starts
    logic lane_start;  // start, and keep trying
  } lane_param_t;

  /// Status of a lane (table 5-37). Events last one cycle; a register of the MIB keeps them.
  typedef struct packed {
    lane_state_e state;
    logic no_signal;
    logic rx_inverted;  // the received bits are inverted
    logic [7:0] rxerr_count;
    logic [7:0] far_end_capability;
    lost_e lost_cause;  // of the LOST_SIGNAL sent last
    logic [7:0] far_end_field;  // reason or cause of the far end's last STANDBY or LOST_SIGNAL
    logic ev_capability;  // three equal INIT3 were received: far_end_capability is new
    logic ev_rxerr_overflow;
    logic ev_timeout;
    logic ev_far_end_standby;
    logic ev_far_end_lost_signal;
  } lane_status_t;

  /// Words that a lane has seen, with that of this cycle.
  typedef struct packed {
    logic started;  // enough words without RXERR, and an INIT1 or INIT2 among them
    logic init1;  // an INIT1
    logic init2;  // three INIT2
    logic init3;  // three equal INIT3
    logic init3_new;  // the last of them is the word of this cycle
    logic [7:0] capability;  // field of the last INIT3
    logic inverted;  // three inverted INIT1, or three inverted INIT2
    logic comma;  // a word that begins with K28.7
    logic standby;  // three STANDBY in a row
    logic lost_signal;  // three LOST_SIGNAL in a row
    logic [7:0] stop_field;  // reason or cause of the last STANDBY or LOST_SIGNAL
  } lane_seen_t;

  // Bits of the capability field of INIT3 (5.3.3.8).
  localparam int unsigned CapLinkReset = 0;
  localparam int unsigned CapLaneStart = 1;
  localparam int unsigned CapDataScrambled = 2;
  localparam int unsigned CapMultiLane = 3;
  localparam int unsigned CapRoutingSwitch = 4;

  /// A control word of the lane layer with one field.
  function automatic word_t lane_word(input logic [7:0] first, input logic [7:0] name,
                                      input logic [7:0] field);
    return '{k: 4'h1, bits: {field, name, 8'hCE, first}};
  endfunction

  /// A symbol of the word is damaged.
  function automatic logic has_error(input word_t word);
    logic found;
    found = 1'b0;
    for (int unsigned i = 0; i < 4; i++) found |= word.k[i] && word.bits[8*i+:8] == KError;
    return found;
  endfunction

  /// Kind of a received word for the lane layer.
  function automatic lane_kind_e lane_kind(input word_t word);
    lane_kind_e kind;
    kind = LaneOther;
    if (word == RxErr) kind = LaneError;
    if (word.k == 4'h1 && word.bits[15:0] == {8'hCE, Comma}) begin
      case (word.bits[23:16])
        8'h7F: if (word.bits[31:24] == 8'h7F) kind = LaneSkip;
        8'hCF: if (word.bits[31:24] == 8'hCF) kind = LaneIdle;
        8'h7E: kind = LaneStandby;
        8'h64: kind = LaneLostSignal;
        default: ;
      endcase
    end
    if (word.k == 4'h1 && word.bits[15:0] == {8'hCE, InitComma}) begin
      case (word.bits[23:16])
        8'h46: if (word.bits[31:24] == 8'h46) kind = LaneInit1;
        8'hA6: if (word.bits[31:24] == 8'hA6) kind = LaneInit2;
        8'h38: kind = LaneInit3;
        default: ;
      endcase
    end
    if (word.k == 4'h1 && word.bits[15:0] == {8'h31, InitComma}) begin
      case (word.bits[31:16])
        16'hB9B9: kind = LaneInit1Inverted;
        16'h5959: kind = LaneInit2Inverted;
        default: ;
      endcase
    end
    return kind;
  endfunction
endpackage
