// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Congestion window in bytes (RFC 5681, 6582, 6928). The results of all operations are computed in
/// the decide stage; the decision selects one of them a cycle later.
module spfe_tcp_eng_cc
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
#(
  /// 1: congestion control; 0: all outputs are 0.
  parameter bit CongestionControl = 1'b0
) (
  input logic clk_i,
  /// An event is decided in this cycle.
  input logic decide_i,
  /// State of the session before the event.
  input eng_tcb_t tcb_i,
  /// ACK - SND.UNA.
  input seq_t acked_i,
  /// SND.NXT - SND.UNA.
  input seq_t flight_i,
  /// Operation, in the cycle after decide_i.
  input cc_e op_i,
  /// With op_i: decided state, which supplies the MSS and the unchanged window.
  input eng_tcb_t new_tcb_i,
  /// New congestion control state, with op_i.
  output eng_cc_t cc_o
);
  logic unused_bits;
  assign unused_bits = ^{clk_i, decide_i, tcb_i, acked_i, flight_i, op_i, new_tcb_i};

  if (CongestionControl) begin : gen_on
    /// Initial ssthresh: slow start lasts until the first loss.
    localparam wnd_t NoThreshold = '1;

    wnd_t mss, acked, more, plus, sum;
    wnd_t grow_q, plus_q, part_q, half_q, mss3_q, cacc_q;
    wnd_t new_mss, initial_wnd;
    logic grows, slow, round;

    assign mss = wnd_t'(tcb_i.mss);
    assign acked = acked_i[WndBits-1:0];
    assign more = acked < mss ? acked : mss;
    assign plus = tcb_i.cwnd + mss;
    // Growing beyond the peer's largest window would have no effect.
    assign grows = tcb_i.cwnd < tcb_i.max_wnd;
    assign slow = tcb_i.cwnd < tcb_i.ssthresh;
    assign sum = tcb_i.cacc + acked;
    assign round = sum >= tcb_i.cwnd;

    always_ff @(posedge clk_i) begin
      if (decide_i) begin
        grow_q <= tcb_i.cwnd;
        cacc_q <= tcb_i.cacc;
        if (grows && slow) begin
          grow_q <= tcb_i.cwnd + more;
          cacc_q <= '0;
        end else if (grows) begin
          cacc_q <= sum;
          if (round) begin
            grow_q <= plus;
            cacc_q <= '0;
          end
        end
        plus_q <= plus;
        part_q <= mss;
        if (acked < tcb_i.cwnd) part_q <= tcb_i.cwnd - acked + (acked < mss ? '0 : mss);
        half_q <= flight_i[WndBits:1] < {mss[WndBits-2:0], 1'b0} ? {mss[WndBits-2:0], 1'b0} :
            flight_i[WndBits:1];
        mss3_q <= {mss[WndBits-2:0], 1'b0} + mss;
      end
    end

    // RFC 6928, 2: min(10 * MSS, max(2 * MSS, 14600)).
    assign new_mss = wnd_t'(new_tcb_i.mss);
    always_comb begin
      if (new_tcb_i.mss <= 16'd1460) initial_wnd = (new_mss << 3) + (new_mss << 1);
      else if (new_tcb_i.mss <= 16'd7300) initial_wnd = wnd_t'(14600);
      else initial_wnd = new_mss << 1;
    end

    always_comb begin
      cc_o = '{cwnd: new_tcb_i.cwnd, ssthresh: new_tcb_i.ssthresh, cacc: new_tcb_i.cacc};
      unique case (op_i)
        CcInit: cc_o = '{cwnd: initial_wnd, ssthresh: NoThreshold, cacc: '0};
        CcInitLost: cc_o = '{cwnd: new_mss, ssthresh: NoThreshold, cacc: '0};
        CcAck: begin
          cc_o.cwnd = grow_q;
          cc_o.cacc = cacc_q;
        end
        CcEnter: cc_o = '{cwnd: half_q + mss3_q, ssthresh: half_q, cacc: '0};
        CcDup: cc_o.cwnd = plus_q;
        CcPartial: cc_o.cwnd = part_q;
        CcExit: cc_o = '{cwnd: new_tcb_i.ssthresh, ssthresh: new_tcb_i.ssthresh, cacc: '0};
        CcTimeout: cc_o = '{cwnd: new_mss, ssthresh: half_q, cacc: '0};
        CcTimeoutAgain: cc_o = '{cwnd: new_mss, ssthresh: new_tcb_i.ssthresh, cacc: '0};
        default: ;
      endcase
    end
  end else begin : gen_off
    assign cc_o = '0;
  end

endmodule
