// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Computes the differences and comparisons that the decision needs. Combinational, one carry chain
/// deep.
module spfe_tcp_eng_calc
  import spfe_tcp_pkg::*;
  import spfe_tcp_eng_pkg::*;
(
  /// Segment of the event.
  input seg_t seg_i,
  /// Transmission report of the event.
  input tx_done_t done_i,
  /// State of the session.
  input eng_tcb_t tcb_i,
  /// Results of the read stage.
  input eng_pre_t pre_i,
  /// Send pointers of the session.
  input snd_ptr_t snd_ptr_i,
  /// RCV.NXT of the session.
  input seq_t rcv_nxt_i,
  /// Current time in ticks.
  input when_t now_i,
  /// Our MSS in bytes (tcp_cfg_t).
  input logic [15:0] mss_i,
  /// Minimum RTO in ticks (tcp_cfg_t).
  input logic [15:0] rto_min_i,
  /// Number of SYN transmissions before giving up (tcp_cfg_t).
  input logic [7:0] syn_tries_i,
  /// Number of transmissions of data, FIN or probes before giving up (tcp_cfg_t).
  input logic [7:0] data_tries_i,
  /// Results of the calc stage.
  output eng_pred_t p_o
);
  seq_t below_nxt, wl_dist, rec_dist, timed_dist, done_dist, ancient, again_dist, again, acked;
  logic unused_carry, same;
  when_t tmr_dist, dack_dist;
  logic [15:0] peer_mss;
  logic unused_bits;

  // The structs are used in part; of the differences only the sign matters.
  assign unused_bits = ^{seg_i, done_i, tcb_i, pre_i, wl_dist, rec_dist, timed_dist, done_dist,
      ancient, again_dist};

  assign acked = seg_i.ack - tcb_i.una;
  assign same = acked == 32'd0;
  assign p_o.acked = acked;
  assign below_nxt = snd_ptr_i.nxt - seg_i.ack;
  assign wl_dist = seg_i.seq - tcb_i.wl1;
  assign again_dist = seg_i.ack - tcb_i.again;
  assign rec_dist = seg_i.ack - tcb_i.recover;
  assign timed_dist = seg_i.ack - tcb_i.timed;
  assign done_dist = tcb_i.una - done_i.seq - 32'(done_i.len) -
      32'(done_i.flags.syn || done_i.flags.fin);
  assign ancient = seg_i.ack - tcb_i.una + 32'(tcb_i.max_wnd);
  assign tmr_dist = now_i - tcb_i.deadline;
  assign dack_dist = now_i - tcb_i.dack_at;
  always_comb begin
    if (seg_i.mss == 16'd0) peer_mss = DefaultMss;
    else peer_mss = seg_i.mss < LeastMss ? LeastMss : seg_i.mss;
  end

  assign p_o.ack_same = same;
  assign p_o.ack_new = !acked[31] && !same && !below_nxt[31];
  assign p_o.ack_beyond = !acked[31] && below_nxt[31];
  assign p_o.ack_ancient = acked[31] && ancient[31];
  assign p_o.ack_all = below_nxt == 32'd0;
  assign p_o.wl_ok = !wl_dist[31];
  assign p_o.wnd_same = pre_i.wnd == tcb_i.wnd;
  assign p_o.wnd_more = pre_i.wnd > tcb_i.max_wnd;
  assign p_o.rec_done = !rec_dist[31];
  assign p_o.una_fresh = tcb_i.una != tcb_i.recover;
  assign p_o.again_low = !again_dist[31];
  assign p_o.timed_done = !timed_dist[31];
  assign p_o.flying = tcb_i.una != snd_ptr_i.nxt;
  assign p_o.drained = snd_ptr_i.consumed == snd_ptr_i.nxt && snd_ptr_i.written == snd_ptr_i.nxt;
  // Nothing follows our FIN.
  assign p_o.behind = snd_ptr_i.consumed != snd_ptr_i.nxt && !tcb_i.fin_in;
  assign p_o.flight = snd_ptr_i.nxt - tcb_i.una;
  assign p_o.unsent = snd_ptr_i.consumed - snd_ptr_i.nxt;
  assign p_o.usable = tcb_i.una + 32'(pre_i.swnd) - snd_ptr_i.nxt;
  assign again = tcb_i.rec == RecBack ? tcb_i.again : tcb_i.una;
  // One less if SND.NXT includes our FIN, which is not data.
  assign {p_o.again_left, unused_carry} = {snd_ptr_i.nxt, 1'b1} + {~again, !tcb_i.fin_in};
  assign p_o.again_room = tcb_i.una + 32'(pre_i.swnd) - again;
  assign p_o.again = again;
  assign p_o.stored = snd_ptr_i.written - tcb_i.una;
  assign p_o.stored_ack = snd_ptr_i.written - seg_i.ack;
  assign p_o.mss = peer_mss < mss_i ? peer_mss : mss_i;
  assign p_o.rto = pre_i.rto < {3'd0, rto_min_i} ? {3'd0, rto_min_i} : pre_i.rto;
  assign p_o.sample = now_i[15:0] - tcb_i.tstart;
  assign p_o.rtt_err = {4'd0, tcb_i.tstart} - {4'd0, tcb_i.srtt[18:3]};
  assign p_o.tok = tcb_i.tok_tick == now_i[7:0] ? tcb_i.tok : 3'd0;
  assign p_o.tmr_due = tcb_i.tmr != TmNone && !tmr_dist[TimeBits-1];
  assign p_o.give_up = tcb_i.tries >=
      (tcb_i.state inside {StSynSent, StSynRcvd} ? syn_tries_i : data_tries_i) - 8'd1;
  assign p_o.dack_due = tcb_i.dack && !dack_dist[TimeBits-1];
  assign p_o.done_ack_new = done_i.ack == rcv_nxt_i;
  assign p_o.done_open = done_dist[31];
  assign p_o.done_end = done_i.seq + 32'(done_i.len);

endmodule
