// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Operations on sessions, and the copy of a session's state: one of each at a time.
module spfe_tcp_regs_session
  import spfe_tcp_pkg::*;
(
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high: forgets what is under way.
  input logic rst_i,
  /// An operation is started in this cycle; from the registers.
  input logic op_start_i,
  /// Which one.
  input op_e op_i,
  /// A copy is asked for in this cycle; from the registers.
  input logic view_start_i,
  /// The operation waits for the engine; to the registers.
  output logic op_busy_o,
  /// The copy is not made yet; to the registers.
  output logic view_busy_o,
  /// The copy; to the registers.
  output view_t view_o,
  /// The operation; to the engine, stable while valid.
  output op_e op_o,
  /// It is offered.
  output logic op_valid_o,
  /// It is taken; from the engine.
  input logic op_ready_i,
  /// A copy is asked for; to the engine, until the answer.
  output logic view_req_o,
  /// The state; from the engine.
  input view_t view_i,
  /// It is the answer; from the engine.
  input logic view_valid_i
);
  logic op_busy_q, view_busy_q;
  op_e op_q;
  view_t view_q;

  assign op_busy_o = op_busy_q;
  assign op_valid_o = op_busy_q;
  assign op_o = op_q;
  assign view_busy_o = view_busy_q;
  assign view_req_o = view_busy_q;
  assign view_o = view_q;

  always_ff @(posedge clk_i) begin
    if (op_start_i) op_q <= op_i;
    op_busy_q <= op_start_i || (op_busy_q && !op_ready_i);
    view_busy_q <= view_start_i || (view_busy_q && !view_valid_i);
    if (view_busy_q && view_valid_i) view_q <= view_i;
    if (rst_i) begin
      op_busy_q <= 1'b0;
      op_q <= OpNone;
      view_busy_q <= 1'b0;
      view_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_op :
      assert (!(op_start_i && op_busy_q))
      else $error("operation started while one waits");
      a_view :
      assert (!(view_start_i && view_busy_q))
      else $error("copy asked for while one waits");
    end
  end
`endif
endmodule
