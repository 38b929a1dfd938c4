// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// An operation of software, with the initial sequence number it may need; tried until it is done.
module spfe_tcp_eng_op
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
    /// Sessions, 2 or more.
    parameter int unsigned SessionCount = 16
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Operation; from the registers.
    input op_cmd_t op_i,
    /// op_i is there and stays until it is taken.
    input logic op_valid_i,
    /// It is carried out, or there is no such session.
    output logic op_ready_o,
    /// Secret of initial sequence numbers (tcp_cfg_t).
    input logic [31:0] iss_key_i,
    /// Clock of initial sequence numbers; from the engine.
    input seq_t iss_clock_i,
    /// The operation is to be carried out; to the pipeline.
    output logic valid_o,
    /// Initial sequence number, if it opens.
    output seq_t iss_o,
    /// It is in the pipeline.
    input logic take_i,
    /// It is carried out or was of no use.
    input logic done_i,
    /// It has to be tried again.
    input logic again_i
);
  typedef enum logic [1:0] {
    OpIdle,
    OpMix,
    OpOffer,
    OpRun
  } state_t;

  state_t state_q;
  logic mix_done, known;
  logic unused_bits;

  // Of structures handed on whole, and of distances but their sign.
  assign unused_bits = ^{op_i};

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
