// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Characters, control and status of a SpaceWire port (ECSS-E-ST-50-12C Rev.1, 5.4, 5.5).
package spfe_sw_pkg;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.

  // Type fields of control characters; bit 0 is sent first.
  localparam logic [1:0] TypeFct = 2'b00;
  localparam logic [1:0] TypeEop = 2'b10;
  localparam logic [1:0] TypeEep = 2'b01;
  localparam logic [1:0] TypeEsc = 2'b11;
  // N-Chars of an FCT, and most credit of either side.
  localparam int unsigned FctChars = 8;
  localparam int unsigned MostCredit = 56;

  /// State of a link (5.5.7); the values are those of the model.
  typedef enum logic [2:0] {
    SwErrorReset,
    SwErrorWait,
    SwReady,
    SwStarted,
    SwConnecting,
    SwRun
  } sw_state_e;

  /// Reason why a link fell back to ErrorReset.
  typedef enum logic [3:0] {
    SwNone,
    SwDisconnect,
    SwParity,
    SwEscape,
    SwCredit,
    SwSequence,
    SwTimeout,
    SwDisabled,
    SwReset
  } sw_cause_e;

  /// A character, or a control code of two characters.
  typedef enum logic [2:0] {
    CharNull,
    CharFct,
    CharData,
    CharEop,
    CharEep,
    CharCode,  // broadcast code
    CharParity,  // parity error; received only
    CharEscape  // escape error; received only
  } char_e;

  /// The same with its byte.
  typedef struct packed {
    char_e kind;
    logic [7:0] data;
  } char_t;

  /// Control bits of management.
  typedef struct packed {
    logic enabled;  // inverse of LinkDisabled
    logic legacy_disable;  // LinkDisabled ends only Run, as in 2008
    logic link_start;
    logic auto_start;
    logic reset;
  } sw_control_t;

  /// Events since ErrorReset.
  typedef struct packed {
    logic got_null;
    logic got_fct;
    logic null_sent;
    logic fct_sent;
    sw_cause_e cause;  // the first failure
  } sw_seen_t;

  /// Status for management. Events last one cycle.
  typedef struct packed {
    sw_state_e state;
    logic [5:0] tx_credit;
    logic [5:0] rx_credit;
    logic ev_run;  // Run was entered
    logic ev_fall;  // the link fell back to ErrorReset
    sw_cause_e cause;  // for this reason
  } sw_status_t;

  /// The character ends a packet.
  function automatic logic ends_packet(input char_e kind);
    return kind == CharEop || kind == CharEep;
  endfunction

  /// Adds a failure. A credit error, which has no effect before Run, gives way to any other.
  function automatic sw_cause_e fail(input sw_cause_e earlier, input sw_cause_e cause);
    return earlier == SwNone || earlier == SwCredit ? cause : earlier;
  endfunction
endpackage
