// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The state changes of a SpaceWire link that are due at one time (ECSS-E-ST-50-12C, 5.5.7).
module spfe_sw_step
  import spfe_sw_pkg::*;
(
  /// Control bits of management.
  input sw_control_t control_i,
  /// State.
  input sw_state_e state_i,
  /// Events since ErrorReset.
  input sw_seen_t seen_i,
  /// The time of ErrorReset is over, if this is the state.
  input logic reset_over_i,
  /// The time of ErrorWait, Started and Connecting is over.
  input logic wait_over_i,
  /// The link has fallen back in this cycle: nothing more happens.
  input logic fell_i,
  /// State afterwards.
  output sw_state_e state_o,
  /// It is another one, so its time begins.
  output logic enters_o,
  /// The link fell back to ErrorReset, now or before.
  output logic fell_o,
  /// Reason, if it fell now.
  output sw_cause_e cause_o,
  /// Run was entered.
  output logic run_o
);
  // From ErrorWait to Started, and from Connecting through Run back, are two steps.
  localparam int unsigned Steps = 3;

  always_comb begin
    logic over, starts, succeeds, failed;
    sw_cause_e failure;
    sw_state_e next;
    state_o = state_i;
    fell_o = fell_i;
    cause_o = SwNone;
    enters_o = 1'b0;
    run_o = 1'b0;
    for (int unsigned i = 0; i < Steps; i++) begin
      // The time of a state that has just been entered is not over.
      over = wait_over_i && !enters_o;
      starts = control_i.link_start || (control_i.auto_start && seen_i.got_null);
      succeeds = 1'b0;
      next = state_o;
      case (state_o)
        SwErrorReset: begin
          next = SwErrorWait;
          succeeds = (control_i.enabled || control_i.legacy_disable) && !control_i.reset
              && reset_over_i && !enters_o;
        end
        SwErrorWait: begin
          next = SwReady;
          succeeds = over;
        end
        SwReady: begin
          next = SwStarted;
          succeeds = control_i.enabled && starts;
        end
        SwStarted: begin
          next = SwConnecting;
          succeeds = seen_i.got_null && seen_i.null_sent;
        end
        SwConnecting: begin
          next = SwRun;
          succeeds = seen_i.got_fct && seen_i.fct_sent;
        end
        default: ;
      endcase
      failure = SwNone;
      // A success at the same time takes precedence over a time-out.
      if ((state_o == SwStarted || state_o == SwConnecting) && over && !succeeds)
        failure = SwTimeout;
      if (seen_i.cause != SwNone && (seen_i.cause != SwCredit || state_o == SwRun))
        failure = seen_i.cause;
      if (!control_i.enabled && (!control_i.legacy_disable || state_o == SwRun))
        failure = SwDisabled;
      if (control_i.reset) failure = SwReset;
      failed = failure != SwNone && state_o != SwErrorReset;
      if (!fell_o && failed) begin
        state_o = SwErrorReset;
        fell_o = 1'b1;
        cause_o = failure;
        enters_o = 1'b1;
      end else if (!fell_o && succeeds) begin
        state_o = next;
        enters_o = 1'b1;
        run_o |= next == SwRun;
      end
    end
  end
endmodule
