// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Words, parameters and status of the multi-lane layer (ECSS-E-ST-50-11C, 5.6). In masks bit L
/// stands for lane L.
package spfe_sf_lanes_pkg;
  /* verilator lint_off UNUSEDPARAM */  // A module that uses the package uses some of it.

  // Symbol 1 of the words of this layer.
  localparam logic [7:0] NameActive = 8'h20;
  localparam logic [7:0] NameAlign = 8'h77;
  // Words between two ALIGNs.
  localparam int unsigned BetweenAligns = 7;
  // Words in the alignment buffer of a lane: lanes may be up to one word less apart.
  localparam int unsigned AlignWords = 4;

  /// State of the alignment; the values are those of the status register.
  typedef enum logic [1:0] {
    AlNotReady,  // only ACTIVE and ALIGN are sent
    AlNearEndReady,  // rows are sent, with an ALIGN after every seven
    AlBothEndsReady  // rows are sent
  } alignment_e;

  /// Reason why alignment starts again.
  typedef enum logic [3:0] {
    MisActiveLanes,  // the set of active lanes changed
    MisFarEndLanes,  // that of the far end changed
    MisDataReceiving,  // the set of data-receiving lanes changed
    MisOverflow,  // a lane is too far ahead of another
    MisInvalidAlign,  // an ALIGN does not fit its lane, or the number of lanes
    MisHeldAlign,  // aligned lanes delivered ALIGN at different times
    MisInvalidRow,  // a row had both data words and control words
    MisReserveInUse,  // a lane in reserve delivered a word of the data link layer
    MisEarlyRxErr,  // an RXERR soon after Near-End Ready
    MisRxErrRow  // a row had an RXERR, and the parameter RxErrRowMisaligns is 1
  } misaligned_e;

  /// What the alignment has to know of a word.
  typedef enum logic [2:0] {
    InRowData,  // data and characters of a virtual channel
    InRowPad,
    InRowError,  // RXERR
    InRowActive,
    InRowAlign,
    InRowControl  // any other control word
  } in_row_e;

  /// A received word as the alignment takes it.
  typedef struct packed {
    logic given;  // there is one
    logic valid;  // and its lane is active and receives
    in_row_e kind;
    logic same;  // an ACTIVE that equals the one before it on its lane, so it is valid
    logic correct;  // an ALIGN whose fields are inverse
    logic fits;  // and whose lane number is right
    logic reserve;  // an ALIGN of two zeros: the lane is in reserve
    logic data_link;  // a control word of the data link layer, or PAD
  } arrival_t;

  /// Parameters of the multi-lane layer (table 5-36).
  typedef struct packed {
    logic bypass;  // only lane 0 is used, as a single lane; read at reset
    // Most data-sending lanes; read while none is active and at a link reset.
    logic [4:0] max_data_sending;
  } multilane_param_t;

  /// Status of the multi-lane layer (table 5-37).
  typedef struct packed {
    logic [15:0] active;
    logic [15:0] data_sending;
    logic [15:0] hot_redundant;  // active and sending, but without rows
    logic [15:0] data_receiving;
    logic [15:0] far_end_active;  // as reported in ACTIVE words
    alignment_e alignment;
    logic [1:0] misaligned;  // how often alignment started again in this cycle
    misaligned_e cause;  // reason of the last time
    logic bypass;
  } multilane_status_t;
endpackage
