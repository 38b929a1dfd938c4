// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Operations of software: computes the initial sequence number an operation may need, and offers
/// it to the pipeline until it succeeds.
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
  /// Secret for initial sequence numbers (tcp_cfg_t).
  input logic [31:0] iss_key_i,
  /// Time for initial sequence numbers.
  input seq_t iss_clock_i,
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
    OpMix,
    OpOffer,
    OpRun
  } state_e;

  state_e state_q;
  logic mix_done, known;
  logic unused_bits;

  // The operation itself is forwarded by the engine.
  assign unused_bits = ^op_i;

  assign known = 32'(op_i.sid) < SessionCount;

  spfe_tcp_eng_mix i_mix (
    .clk_i,
    .rst_i,
    .start_i(state_q == OpIdle && op_valid_i),
    .ip_i(op_i.ip),
    .port_i(op_i.port),
    .lport_i(op_i.lport),
    .vif_i(op_i.vif),
    .key_i(iss_key_i),
    .clock_i(iss_clock_i),
    .done_o(mix_done),
    .iss_o
  );

  assign valid_o = state_q == OpOffer;
  assign op_ready_o = (state_q == OpRun && done_i) || (state_q == OpIdle && op_valid_i && !known);

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      OpIdle: if (op_valid_i && known) state_q <= OpMix;
      OpMix: if (mix_done) state_q <= OpOffer;
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
