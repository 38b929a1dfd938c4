// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A SpaceWire port (ECSS-E-ST-50-12C Rev.1, 5.4, 5.5): link state machine, data-strobe coding,
/// credit, broadcast codes, and recovery of cut packets. At most one bit comes and one goes in a
/// cycle of clk_i.
module spfe_sw_port
  import spfe_sw_pkg::*;
#(
  /// Cycles in ErrorReset: 6.4 us.
  parameter int unsigned ResetCycles = 640,
  /// Cycles in ErrorWait, and at most in Started and Connecting: 12.8 us.
  parameter int unsigned WaitCycles = 1280,
  /// Cycles without an edge after which the link disconnects: 850 ns.
  parameter int unsigned DisconnectCycles = 85,
  /// Cycles of a bit outside Run: 100 ns.
  parameter int unsigned StartBitCycles = 10,
  /// N-Chars in the receive queue, a power of two, 8 to 64; full speed takes 64.
  parameter int unsigned RxChars = 64
) (
  input logic clk_i,
  input logic rst_i,
  /// Control bits of management.
  input sw_control_t control_i,
  /// Cycles of a bit in Run, 1 or more.
  input logic [7:0] bit_cycles_i,
  /// Status for management.
  output sw_status_t status_o,

  /// N-Char to send: a byte, or with bit 8 EOP (0) or EEP (1).
  input logic [8:0] tx_i,
  input logic tx_valid_i,
  output logic tx_ready_o,
  /// N-Char received.
  output logic [8:0] rx_o,
  output logic rx_valid_o,
  input logic rx_ready_i,
  /// Broadcast code to send, of any type: type in bits 7:6. It is dropped outside Run.
  input logic [7:0] code_i,
  /// There is one.
  input logic code_valid_i,
  /// The link is in Run, and no code waits. Others may be offered too: those of a kind that waits
  /// become one.
  output logic code_ready_o,
  /// Broadcast code received.
  output logic [7:0] code_o,
  /// For one cycle: there is one.
  output logic code_valid_o,

  /// Data to the far end.
  output logic d_o,
  /// Strobe to the far end.
  output logic s_o,
  /// They may change after this cycle.
  output logic tick_o,
  /// Data from the far end, sampled by clk_i.
  input logic d_i,
  /// Strobe from the far end, sampled by clk_i.
  input logic s_i
);
  localparam int unsigned TimeWidth = $clog2(WaitCycles + ResetCycles + 1);
  localparam int unsigned EdgeWidth = $clog2(DisconnectCycles + 1);
  localparam int unsigned CountWidth = $clog2(RxChars + 1);

  if (RxChars < 8 || RxChars > 64) begin : gen_bad_queue
    $error("spfe_sw_port: RxChars is %0d; 8 to 64", RxChars);
  end

  sw_state_e state_q, state0, state1, state2;
  sw_seen_t seen_q, seen0, seen1, seen2;
  logic [TimeWidth-1:0] time_q;
  logic [EdgeWidth-1:0] edge_q;
  logic edge_seen_q, reset_over, wait_over, enters0, enters1, enters2;
  logic fell0, fell1, fell2, run0, run1, run2;
  sw_cause_e cause0, cause1, cause2;
  logic [5:0] tx_credit_q, tx_credit1, tx_credit2, rx_credit_q, rx_credit1, rx_credit2;
  char_t progress_q, progress;
  logic in_progress_q, in_progress;
  logic reset_q, clear;

  // Receiver.
  logic d_q, s_q, changes, is_bit, received_valid, takes;
  char_t received;
  assign changes = d_i != d_q || s_i != s_q;
  assign is_bit = (d_i != d_q) != (s_i != s_q);
  always_ff @(posedge clk_i) begin
    d_q <= d_i && !rst_i;
    s_q <= s_i && !rst_i;
  end

  spfe_sw_decode i_decode (
    .clk_i,
    .rst_i,
    .clear_i(fell2),
    .bit_i(d_i),
    .valid_i(is_bit && state1 != SwErrorReset),
    .char_o(received),
    .valid_o(received_valid)
  );

  // What time and management change.
  assign reset_over = time_q >= TimeWidth'(ResetCycles);
  assign wait_over = time_q >= TimeWidth'(WaitCycles);
  always_comb begin
    seen0 = seen_q;
    if (edge_seen_q && edge_q == EdgeWidth'(DisconnectCycles))
      seen0.cause = fail(seen_q.cause, SwDisconnect);
  end
  spfe_sw_step i_step0 (
    .control_i,
    .state_i(state_q),
    .seen_i(seen0),
    .reset_over_i(reset_over),
    .wait_over_i(wait_over),
    .fell_i(1'b0),
    .state_o(state0),
    .enters_o(enters0),
    .fell_o(fell0),
    .cause_o(cause0),
    .run_o(run0)
  );

  // What the received character changes.
  logic push, expected, code_valid;
  logic [8:0] push_char;
  logic [CountWidth-1:0] rx_count, rx_free;
  logic eep_owed_q, rx_in_packet_q, rx_in_packet;
  assign takes = received_valid && state0 != SwErrorReset;
  assign expected = state0 == SwRun
      || (state0 == SwConnecting && (seen0.got_fct || received.kind == CharFct));
  assign push_char = received.kind == CharData ? {1'b0, received.data} :
      {8'h80, received.kind == CharEep};

  always_comb begin
    seen1 = seen0;
    tx_credit1 = tx_credit_q;
    rx_credit1 = rx_credit_q;
    rx_in_packet = rx_in_packet_q;
    push = 1'b0;
    code_valid = 1'b0;
    if (takes && received.kind == CharNull) begin
      seen1.got_null = 1'b1;
    end else if (takes && seen0.got_null) begin
      if (received.kind == CharParity) begin
        seen1.cause = fail(seen0.cause, SwParity);
      end else if (received.kind == CharEscape) begin
        seen1.cause = fail(seen0.cause, SwEscape);
      end else if (!expected) begin
        seen1.cause = fail(seen0.cause, SwSequence);
      end else if (received.kind == CharFct) begin
        seen1.got_fct = 1'b1;
        if (tx_credit_q > 6'(MostCredit - FctChars)) seen1.cause = fail(seen0.cause, SwCredit);
        else tx_credit1 = tx_credit_q + 6'(FctChars);
      end else if (received.kind == CharCode) begin
        code_valid = 1'b1;
      end else if (rx_credit_q == '0 || rx_free == '0) begin
        seen1.cause = fail(seen0.cause, SwCredit);
      end else begin
        push = 1'b1;
        rx_credit1 = rx_credit_q - 1'b1;
        rx_in_packet = !ends_packet(received.kind);
      end
    end
  end
  spfe_sw_step i_step1 (
    .control_i,
    .state_i(state0),
    .seen_i(seen1),
    .reset_over_i(reset_over && !enters0),
    .wait_over_i(wait_over && !enters0),
    .fell_i(fell0),
    .state_o(state1),
    .enters_o(enters1),
    .fell_o(fell1),
    .cause_o(cause1),
    .run_o(run1)
  );

  // What is sent: a character begins when the one before it ends.
  logic tick, begins, idle, on, has_code, may_fct, sends_code, sends_fct, sends_char;
  logic [7:0] bit_q, code;
  logic held_q, tx_in_packet_q, spilling_q;
  logic [8:0] held_char_q;
  char_t next;
  assign tick = bit_q == '0;
  assign tick_o = tick;
  assign begins = tick && (idle || fell1);
  always_comb begin
    seen2 = seen1;
    if (begins && in_progress_q && !fell1) begin
      if (progress_q.kind == CharNull) seen2.null_sent = 1'b1;
      if (progress_q.kind == CharFct) seen2.fct_sent = 1'b1;
    end
  end
  spfe_sw_step i_step2 (
    .control_i,
    .state_i(state1),
    .seen_i(seen2),
    .reset_over_i(reset_over && !enters0 && !enters1),
    .wait_over_i(wait_over && !enters0 && !enters1),
    .fell_i(fell1),
    .state_o(state2),
    .enters_o(enters2),
    .fell_o(fell2),
    .cause_o(cause2),
    .run_o(run2)
  );

  assign on = state2 == SwStarted || state2 == SwConnecting || state2 == SwRun;
  assign rx_free = CountWidth'(RxChars) - rx_count;
  assign may_fct = rx_credit1 <= 6'(MostCredit - FctChars)
      && 32'(rx_free) >= 32'(rx_credit1) + FctChars + 32'(push);
  always_comb begin
    next = '{kind: CharNull, data: held_char_q[7:0]};
    sends_code = 1'b0;
    sends_fct = 1'b0;
    sends_char = 1'b0;
    if (state2 == SwRun && has_code) begin
      sends_code = begins;
      next = '{kind: CharCode, data: code};
    end else if ((state2 == SwRun || state2 == SwConnecting) && may_fct) begin
      sends_fct = begins;
      next.kind = CharFct;
    end else if (state2 == SwRun && held_q && tx_credit1 != '0) begin
      sends_char = begins;
      next.kind = CharData;
      if (held_char_q[8]) next.kind = held_char_q[0] ? CharEep : CharEop;
    end
    tx_credit2 = tx_credit1 - 6'(sends_char);
    rx_credit2 = sends_fct ? rx_credit1 + 6'(FctChars) : rx_credit1;
    progress = begins ? next : progress_q;
    in_progress = begins ? on : in_progress_q;
  end

  spfe_sw_encode i_encode (
    .clk_i,
    .rst_i,
    .clear_i(fell2),
    .tick_i(tick),
    .char_i(next),
    .valid_i(on),
    .idle_o(idle),
    .d_o,
    .s_o
  );
  spfe_sw_codes i_codes (
    .clk_i,
    .rst_i,
    .clear_i(fell2),
    .code_i,
    .valid_i(code_valid_i && state2 == SwRun),
    .code_o(code),
    .valid_o(has_code),
    .take_i(sends_code)
  );

  assign code_ready_o = state2 == SwRun && !has_code;

  // Users. A port reset empties both queues.
  logic tx_takes, eep_push;
  assign clear = control_i.reset || reset_q;
  assign tx_ready_o = !held_q || spilling_q;
  assign tx_takes = tx_valid_i && tx_ready_o;
  // An EEP ends a packet that the link has cut.
  assign eep_push = eep_owed_q && !push && rx_free != '0;
  logic unused_ready, unused_almost;
  spfe_fifo #(
    .Width(9),
    .Depth(RxChars)
  ) i_rx (
    .clk_i,
    .rst_i(rst_i || clear),
    .data_i(eep_push ? 9'h101 : push_char),
    .valid_i(push || eep_push),
    .ready_o(unused_ready),
    .data_o(rx_o),
    .valid_o(rx_valid_o),
    .ready_i(rx_ready_i),
    .count_o(rx_count),
    .almost_full_o(unused_almost)
  );

  always_ff @(posedge clk_i) begin
    reset_q <= control_i.reset;
    state_q <= state2;
    seen_q <= fell2 ? '0 : seen2;
    if (enters0 || enters1 || enters2) time_q <= TimeWidth'(1);
    else if (time_q != '1) time_q <= time_q + 1'b1;
    if ((changes && state0 != SwErrorReset) || takes) begin
      edge_seen_q <= 1'b1;
      edge_q <= EdgeWidth'(1);
    end else if (edge_q != EdgeWidth'(DisconnectCycles)) begin
      edge_q <= edge_q + 1'b1;
    end
    if (fell2) edge_seen_q <= 1'b0;
    tx_credit_q <= fell2 ? '0 : tx_credit2;
    rx_credit_q <= fell2 ? '0 : rx_credit2;
    progress_q <= progress;
    in_progress_q <= in_progress && !fell2;
    if (tick) bit_q <= state2 == SwRun ? bit_cycles_i - 1'b1 : 8'(StartBitCycles - 1);
    else bit_q <= bit_q - 1'b1;
    if (rst_i) begin
      reset_q <= 1'b0;
      state_q <= SwErrorReset;
      seen_q <= '0;
      time_q <= '0;
      edge_seen_q <= 1'b0;
      edge_q <= '0;
      tx_credit_q <= '0;
      rx_credit_q <= '0;
      in_progress_q <= 1'b0;
      bit_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (sends_char) begin
      held_q <= 1'b0;
      tx_in_packet_q <= !held_char_q[8];
    end
    if (tx_takes && spilling_q) begin
      spilling_q <= !tx_i[8];
    end else if (tx_takes) begin
      held_q <= 1'b1;
      held_char_q <= tx_i;
    end
    rx_in_packet_q <= rx_in_packet;
    if (eep_push) eep_owed_q <= 1'b0;
    if (fell2) begin
      // The rest of a cut packet is thrown away.
      if (tx_in_packet_q) begin
        tx_in_packet_q <= 1'b0;
        held_q <= 1'b0;
        spilling_q <= held_q ? !held_char_q[8] : !(tx_takes && tx_i[8]);
      end
      rx_in_packet_q <= 1'b0;
      if (rx_in_packet) eep_owed_q <= 1'b1;
    end
    if (rst_i || clear) begin
      held_q <= 1'b0;
      tx_in_packet_q <= 1'b0;
      spilling_q <= 1'b0;
      rx_in_packet_q <= 1'b0;
      eep_owed_q <= 1'b0;
    end
  end

  assign code_o = received.data;
  assign code_valid_o = code_valid;
  always_comb begin
    status_o = '{
      state: state_q,
      tx_credit: tx_credit_q,
      rx_credit: rx_credit_q,
      ev_run: run0 || run1 || run2,
      ev_fall: fell2,
      cause: cause2
    };
    if (fell1) status_o.cause = cause1;
    if (fell0) status_o.cause = cause0;
  end
endmodule
