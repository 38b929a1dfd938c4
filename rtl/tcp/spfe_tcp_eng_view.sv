// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What software sees of a session: the request waits for its turn, the answer is kept.
module spfe_tcp_eng_view
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
    /// Sessions, 2 to 256.
    parameter int unsigned SessionCount = 16
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Session that software asks for; session 0 is shown if there is none of this number.
    input sid_t sid_i,
    /// It asks; one cycle.
    input logic req_i,
    /// A request waits; to the pipeline.
    output logic wait_o,
    /// Its session.
    output sid_t sid_o,
    /// The pipeline has taken it.
    input logic take_i,
    /// What follows is of the session of the request.
    input logic done_i,
    /// State.
    input eng_tcb_t tcb_i,
    /// Four-tuple.
    input eng_tup_t tup_i,
    /// SND.NXT.
    input seq_t snd_nxt_i,
    /// RCV.NXT.
    input seq_t rcv_nxt_i,
    /// RTO with backoff, in ticks.
    input logic [15:0] rto_i,
    /// Bytes free in the ring.
    input logic [31:0] credit_i,
    /// The answer; stays until the next one.
    output view_t view_o,
    /// It is there; one cycle.
    output logic valid_o
);
  logic unused_bits;
  assign unused_bits = ^{tcb_i, tup_i};

  always_ff @(posedge clk_i) begin
    if (req_i) begin
      wait_o <= 1'b1;
      sid_o <= 32'(sid_i) < SessionCount ? sid_i : '0;
    end else if (take_i) begin
      wait_o <= 1'b0;
    end
    valid_o <= done_i;
    if (done_i) begin
      view_o <= '{
          state: tcb_i.state,
          ip: tup_i.ip,
          port: tup_i.port,
          lport: tup_i.lport,
          vif: tup_i.vif,
          snd_una: tcb_i.una,
          snd_nxt: snd_nxt_i,
          rcv_nxt: rcv_nxt_i,
          snd_wnd: 32'(tcb_i.wnd),
          cwnd: 32'(tcb_i.cwnd),
          ssthresh: 32'(tcb_i.ssthresh),
          rto: rto_i,
          srtt: tcb_i.srtt[18:3],
          mss: tcb_i.mss,
          credit: credit_i
      };
    end
    if (rst_i) begin
      wait_o <= 1'b0;
      valid_o <= 1'b0;
    end
  end

endmodule
