// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Operations of software: asks for the initial sequence number that an operation may need, and
/// offers the operation to the pipeline until it succeeds.
module spfe_tcp_eng_op
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// Operation; from the registers.
  input op_cmd_t op_i,
  input logic op_valid_i,
  /// Accepts op_i when it is complete, or at once if the session does not exist.
  output logic op_ready_o,
  /// Connection that needs an initial sequence number.
  output eng_tup_t iss_tup_o,
  output logic iss_valid_o,
  /// iss_i is the number; one cycle.
  input logic iss_done_i,
  /// With iss_done_i: initial sequence number.
  input seq_t iss_i,
  /// The operation is ready for the pipeline.
  output logic valid_o,
  /// Initial sequence number for an operation that opens a connection.
  output seq_t iss_o,
  /// Pipeline accepts the operation.
  input logic take_i,
  /// The operation was carried out or had no effect.
  input logic done_i,
  /// The operation must be retried.
  input logic again_i
);
  typedef enum logic [1:0] {
    OpIdle,
    OpIss,
    OpOffer,
    OpRun
  } state_e;

  state_e state_q;
  logic known;
  seq_t iss_q;
  logic unused_bits;

  // The operation itself is forwarded by the engine.
  assign unused_bits = ^op_i;

  assign known = 32'(op_i.sid) < SessionCount;

  assign iss_valid_o = state_q == OpIss;
  assign iss_tup_o = '{
      used: UseNone,
      vif: op_i.vif,
      ip: op_i.ip,
      port: op_i.port,
      lport: op_i.lport
    };
  assign iss_o = iss_q;
  assign valid_o = state_q == OpOffer;
  assign op_ready_o = (state_q == OpRun && done_i) || (state_q == OpIdle && op_valid_i && !known);

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      OpIdle: if (op_valid_i && known) state_q <= OpIss;
      OpIss: begin
        iss_q <= iss_i;
        if (iss_done_i) state_q <= OpOffer;
      end
      OpOffer: if (take_i) state_q <= OpRun;
      OpRun: begin
        if (done_i) state_q <= OpIdle;
        else if (again_i) state_q <= OpOffer;
      end
      default: state_q <= OpIdle;
    endcase
    if (rst_i) state_q <= OpIdle;
  end

endmodule
