// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A lane as a program sees it: its inputs and outputs are one struct each. Short times, so that a
/// lane is initialised often.
module spfe_sim_lane
  import spfe_sf_pkg::*;
#(
  /// Word periods in 2 us.
  parameter int unsigned ClearLineWords = 20,
  /// Initialisation timer in words.
  parameter int unsigned InitTimeout = 400,
  /// Words without RXERR that are needed to leave Started.
  parameter int unsigned StartedWords = 50,
  /// STANDBY or LOST_SIGNAL words in a burst.
  parameter int unsigned BurstWords = 32,
  /// Words after which the RXERR counter goes down by one.
  parameter int unsigned LeakWords = 300,
  /// Pseudo-random words after each INIT1 and INIT2.
  parameter int unsigned FillerWords = 5,
  /// Pseudo-random words after each INIT3.
  parameter int unsigned Init3FillerWords = 2,
  /// Words from SKIP to SKIP in Active.
  parameter int unsigned SkipInterval = 70,
  /// Inputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type in_t = struct packed {
    logic rst;
    lane_param_t param;
    logic reset;
    logic [7:0] capability;
    logic far_end_active;
    logic rx_only;
    word_t tx;
    logic tx_valid;
    word_t line;
    logic line_on;
    logic realigned;
  },
  /// Outputs.
  // verilog_lint: waive typedef-structs-unions
  localparam type out_t = struct packed {
    lane_status_t status;
    logic tx_ready;
    word_t rx;
    logic rx_valid;
    word_t line;
    logic line_on;
    logic receive;
    logic invert;
  }
) (
  input logic clk_i,
  /// Inputs of this cycle.
  input in_t in_i,
  /// Outputs of this cycle.
  output out_t out_o
);
  logic unused_active;
  spfe_sf_lane #(
    .ClearLineWords(ClearLineWords),
    .InitTimeout(InitTimeout),
    .StartedWords(StartedWords),
    .BurstWords(BurstWords),
    .LeakWords(LeakWords),
    .FillerWords(FillerWords),
    .Init3FillerWords(Init3FillerWords),
    .SkipInterval(SkipInterval)
  ) i_lane (
    .clk_i,
    .rst_i(in_i.rst),
    .param_i(in_i.param),
    .status_o(out_o.status),
    .reset_i(in_i.reset),
    .capability_i(in_i.capability),
    .far_end_active_i(in_i.far_end_active),
    .rx_only_i(in_i.rx_only),
    .tx_i(in_i.tx),
    .tx_valid_i(in_i.tx_valid),
    .tx_ready_o(out_o.tx_ready),
    .rx_o(out_o.rx),
    .rx_valid_o(out_o.rx_valid),
    .line_o(out_o.line),
    .line_on_o(out_o.line_on),
    .line_i(in_i.line),
    .line_on_i(in_i.line_on),
    .realigned_i(in_i.realigned),
    .active_o(unused_active),
    .receive_o(out_o.receive),
    .invert_o(out_o.invert)
  );
endmodule
