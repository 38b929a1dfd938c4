// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Hands operations of software to the engine, and copies the state of a session for software. One
/// operation and one copy can be in progress.
module spfe_tcp_regs_session
  import spfe_tcp_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Starts operation op_i; from the registers.
  input logic op_start_i,
  /// With op_start_i: the operation.
  input op_e op_i,
  /// Starts a copy of a session's state; from the registers.
  input logic view_start_i,
  /// The engine has not accepted the operation yet; to the registers.
  output logic op_busy_o,
  /// The copy is not complete yet; to the registers.
  output logic view_busy_o,
  /// Copy of the state; to the registers.
  output view_t view_o,
  /// Operation; to the engine.
  output op_e op_o,
  output logic op_valid_o,
  input logic op_ready_i,
  /// Request for a copy; to the engine, high until the answer.
  output logic view_req_o,
  /// State of the session; from the engine.
  input view_t view_i,
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
      else $error("an operation is started while one is pending");
      a_view :
      assert (!(view_start_i && view_busy_q))
      else $error("a copy is started while one is pending");
    end
  end
`endif
endmodule
