// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Send state of all sessions. The only writer of SND.NXT, consumed and the right edge; requests
/// for written and SND.UNA pass through to spfe_tcp_tx_room. Accepts an operation every two cycles
/// and updates go_o, open_o and room_o four cycles after accepting one. Requests of the user side
/// use other memories and are served in parallel.
module spfe_tcp_tx_state
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// log2 of the ring size of a session in bytes.
  parameter int unsigned RingBits = 16,
  /// Number of requesters, in order of priority; the last one is the command block.
  localparam int unsigned Askers = 3
) (
  input logic clk_i,
  /// Synchronous reset, active high; closes all sessions.
  input logic rst_i,
  /// Longest message in bytes; from the configuration, constant while there are sessions.
  input logic [15:0] mss_i,

  /// Requests; index 0 has the highest priority.
  input state_req_t [Askers-1:0] req_i,
  input logic [Askers-1:0] req_valid_i,
  output logic [Askers-1:0] req_ready_o,
  /// The last request of this requester has completed; go_o and room_o follow in the next cycle.
  output logic [Askers-1:0] res_valid_o,
  /// With res_valid_o: the pointer was as expected.
  output logic res_match_o,

  /// StateWritten request of the user side.
  input state_req_t user_req_i,
  input logic user_valid_i,
  output logic user_ready_o,
  /// The request of the user side has completed.
  output logic user_done_o,
  /// With user_done_o: written was as expected.
  output logic user_match_o,

  /// New send state of a session; from the engine.
  input snd_cmd_t snd_cmd_i,
  input logic snd_cmd_valid_i,
  output logic snd_cmd_ready_o,

  /// Sessions that may send a message of any length live.
  output logic [SessionCount-1:0] go_o,
  /// Session to read; from the sender.
  input sid_t fit_sid_i,
  /// Longest message that fit_sid_i may send live, in bytes; 0: none. One cycle behind go_o.
  output logic [15:0] fit_o,
  /// Sessions that are open for user data.
  output logic [SessionCount-1:0] open_o,
  /// Sessions whose ring has room for a message of any length.
  output logic [SessionCount-1:0] room_o,

  /// Session to read; from the engine.
  input sid_t eng_sid_i,
  /// SND.NXT of eng_sid_i.
  output seq_t eng_nxt_o,
  /// End of the data of eng_sid_i that was sent live or left to the engine.
  output seq_t eng_consumed_o,
  /// End of the data of eng_sid_i in the ring.
  output seq_t eng_written_o,
  /// Session to read; from the receiver.
  input sid_t rx_sid_i,
  /// SND.NXT of rx_sid_i.
  output seq_t rx_nxt_o,
  /// Session to read; from the command block.
  input sid_t cmd_sid_i,
  /// SND.NXT of cmd_sid_i.
  output seq_t cmd_nxt_o,
  /// Session to read; from the user side.
  input sid_t user_sid_i,
  /// End of the data of user_sid_i in the ring.
  output seq_t user_written_o,
  /// Generation bit of each session; toggles when it is opened.
  output logic [SessionCount-1:0] gen_o
);
  localparam int unsigned IdxBits = $clog2(SessionCount);
  typedef logic [IdxBits-1:0] idx_t;

  if (SessionCount < 2 || SessionCount > 256) begin : gen_bad_sessions
    $error("spfe_tcp_tx_state: SessionCount is %0d; 2 to 256 are possible", SessionCount);
  end

  // Stage 1 reads, stage 2 writes, stage 3 updates the flags.
  logic v1_q, v2_q, v3_q;
  state_req_t r1_q;
  state_op_e op2_q;
  logic fin2_q;
  seq_t end1_q, end2_q;
  logic [Askers-1:0] who1_q, who2_q, who3_q;
  snd_cmd_t set1_q;
  logic unused_bits;
  assign unused_bits = ^{eng_sid_i, rx_sid_i, cmd_sid_i, fit_sid_i, r1_q, set1_q};
  logic init2_q, open2_q, live2_q;
  seq_t edge2_q;
  logic [15:0] limit2_q;
  logic match2_q, match3_q, less2_q;
  seq_t nxt2_q, cons2_q, res2_q, lim2_q;
  idx_t idx3_q;
  logic behind3_q;
  seq_t window3_q;
  logic [15:0] mss_r, mss_d, mss2_q, mss3_q, fit3, fit4_q;
  logic ok3, v4_q;
  idx_t idx4_q;
  logic [SessionCount-1:0] open_q, live_q, go_q, gen_q;

  // ---- issue
  logic [Askers-1:0] pick;
  state_req_t req, set_req, room_req;
  logic issue_set, issue_cmd, room_valid, room_busy_q, user_pick, both, turn_q;

  // StateCommand and StateSet change pointers in both pipelines and need both free. A waiting
  // snd_cmd gets the next turn over every requester except the sender, whose message cannot wait.
  assign both = !v1_q && !room_busy_q && !user_valid_i;
  always_comb begin
    set_req = '0;
    set_req.op = StateSet;
    set_req.sid = snd_cmd_i.sid;
    set_req.target = snd_cmd_i.iss + 32'd1;
    pick = '0;
    req = set_req;
    if (!v1_q) begin
      for (int i = int'(Askers) - 1; i >= 0; i--) begin
        if (req_valid_i[i] && (i == 0 || !turn_q) && (i != int'(Askers) - 1 || both)) begin
          pick = '0;
          pick[i] = 1'b1;
          req = req_i[i];
        end
      end
    end
  end
  assign issue_cmd = pick[Askers-1];
  assign issue_set = both && turn_q && snd_cmd_valid_i && !req_valid_i[0];
  assign req_ready_o = pick;
  assign snd_cmd_ready_o = issue_set;
  assign user_pick = user_valid_i && !room_busy_q;
  assign user_ready_o = user_pick;
  assign room_valid = user_pick || issue_cmd || issue_set;
  assign room_req = user_pick ? user_req_i : req;

  // ---- ring pointers
  logic room_done, mine1_q, mine2_q, mine3_q;
  spfe_tcp_tx_room #(
    .SessionCount(SessionCount),
    .RingBits(RingBits)
  ) i_room (
    .clk_i,
    .rst_i,
    .mss_i,
    .gen_i(gen_q),
    .valid_i(room_valid),
    .req_i(room_req),
    .init_i(snd_cmd_i.init),
    .una_i(snd_cmd_i.una),
    .done_o(room_done),
    .match_o(user_match_o),
    .room_o,
    .sid_i({user_sid_i, eng_sid_i}),
    .written_o({user_written_o, eng_written_o})
  );
  assign user_done_o = room_done && mine3_q;

  always_ff @(posedge clk_i) begin
    turn_q <= snd_cmd_valid_i && !issue_set && !rst_i;
    room_busy_q <= room_valid && !rst_i;
    mine1_q <= user_pick;
    mine2_q <= mine1_q;
    mine3_q <= mine2_q;
  end

  // ---- pointer memories
  logic we_nxt, we_cons, we_res, we_set;
  seq_t nxt_d, cons_d, res_d, lim_d;
  seq_t nxt_r, cons_r, res_r, lim_r;
  idx_t idx1, idx2_q;
  assign idx1 = idx_t'(r1_q.sid);

  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount),
    .Ports(4)
  ) i_nxt (
    .clk_i,
    .we_i(we_nxt),
    .addr_i(idx2_q),
    .data_i(nxt_d),
    .raddr_i({idx_t'(cmd_sid_i), idx_t'(rx_sid_i), idx_t'(eng_sid_i), idx1}),
    .rdata_o({cmd_nxt_o, rx_nxt_o, eng_nxt_o, nxt_r})
  );
  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount),
    .Ports(2)
  ) i_consumed (
    .clk_i,
    .we_i(we_cons),
    .addr_i(idx2_q),
    .data_i(cons_d),
    .raddr_i({idx_t'(eng_sid_i), idx1}),
    .rdata_o({eng_consumed_o, cons_r})
  );
  // Reserved: end of the data that is consumed or being sent live.
  spfe_lutram #(
    .Width(32),
    .Depth(SessionCount),
    .Ports(1)
  ) i_reserved (
    .clk_i,
    .we_i(we_res),
    .addr_i(idx2_q),
    .data_i(res_d),
    .raddr_i(idx1),
    .rdata_o(res_r)
  );
  // Right edge of the peer's window, and the longest segment for the peer.
  spfe_lutram #(
    .Width(48),
    .Depth(SessionCount),
    .Ports(1)
  ) i_edge (
    .clk_i,
    .we_i(we_set),
    .addr_i(idx2_q),
    .data_i({mss_d, lim_d}),
    .raddr_i(idx1),
    .rdata_o({mss_r, lim_r})
  );
  // What a message may have at most to leave live.
  spfe_lutram #(
    .Width(16),
    .Depth(SessionCount),
    .Ports(1)
  ) i_fit (
    .clk_i,
    .we_i(v4_q),
    .addr_i(idx4_q),
    .data_i(fit4_q),
    .raddr_i(idx_t'(fit_sid_i)),
    .rdata_o(fit_o)
  );

  // ---- stage 2: new values
  always_comb begin
    nxt_d = nxt2_q;
    cons_d = cons2_q;
    res_d = res2_q;
    lim_d = lim2_q;
    mss_d = mss2_q;
    we_nxt = 1'b0;
    we_cons = 1'b0;
    we_res = 1'b0;
    we_set = 1'b0;
    case (op2_q)
      StateStart: begin
        we_res = match2_q;
        if (match2_q) res_d = end2_q;
      end
      StateSent: begin
        we_nxt = match2_q;
        we_cons = match2_q;
        if (match2_q) nxt_d = end2_q;
        if (match2_q) cons_d = end2_q;
      end
      StateDefer: begin
        we_res = match2_q;
        we_cons = match2_q;
        if (match2_q) res_d = end2_q;
        if (match2_q) cons_d = end2_q;
      end
      StateCommand: begin
        we_nxt = less2_q;
        if (less2_q) nxt_d = end2_q;
        if (fin2_q) begin
          we_cons = 1'b1;
          we_res = 1'b1;
          cons_d = end2_q;
          res_d = end2_q;
        end
      end
      default: begin
        we_set = 1'b1;
        lim_d = edge2_q;
        mss_d = limit2_q;
        if (init2_q) begin
          we_nxt = 1'b1;
          we_cons = 1'b1;
          we_res = 1'b1;
          nxt_d = end2_q;
          cons_d = end2_q;
          res_d = end2_q;
        end
      end
    endcase
    if (!v2_q) begin
      we_nxt = 1'b0;
      we_cons = 1'b0;
      we_res = 1'b0;
      we_set = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    v1_q <= |pick || issue_set;
    who1_q <= pick;
    r1_q <= req;
    set1_q <= snd_cmd_i;
    end1_q <= req.target;

    v2_q <= v1_q;
    who2_q <= who1_q;
    op2_q <= r1_q.op;
    fin2_q <= r1_q.fin;
    idx2_q <= idx1;
    init2_q <= set1_q.init;
    open2_q <= set1_q.open;
    live2_q <= set1_q.live;
    edge2_q <= set1_q.lim;
    limit2_q <= set1_q.mss;
    end2_q <= end1_q;
    match2_q <= (r1_q.op == StateStart ? res_r : cons_r) == r1_q.expected &&
        gen_q[idx1] == r1_q.gen;
    less2_q <= seq_lt(nxt_r, end1_q);
    nxt2_q <= nxt_r;
    cons2_q <= cons_r;
    res2_q <= res_r;
    lim2_q <= lim_r;
    mss2_q <= mss_r;

    v3_q <= v2_q;
    who3_q <= v2_q ? who2_q : '0;
    idx3_q <= idx2_q;
    match3_q <= match2_q;
    behind3_q <= nxt_d != cons_d;
    window3_q <= lim_d - res_d;
    mss3_q <= mss_d;
    if (v2_q && op2_q == StateSet) begin
      open_q[idx2_q] <= open2_q;
      live_q[idx2_q] <= live2_q;
      gen_q[idx2_q] <= gen_q[idx2_q] ^ init2_q;
    end

    if (v3_q) begin
      go_q[idx3_q] <= ok3 && mss3_q >= mss_i &&
          (window3_q[30:16] != '0 || window3_q[15:0] >= mss_i);
    end
    v4_q <= v3_q;
    idx4_q <= idx3_q;
    fit4_q <= fit3;

    if (rst_i) begin
      v1_q <= 1'b0;
      v2_q <= 1'b0;
      v3_q <= 1'b0;
      v4_q <= 1'b0;
      who3_q <= '0;
      open_q <= '0;
      live_q <= '0;
      gen_q <= '0;
      go_q <= '0;
    end
  end

  assign ok3 = open_q[idx3_q] && live_q[idx3_q] && !behind3_q && !window3_q[31];
  always_comb begin
    fit3 = mss3_q;
    if (window3_q[30:16] == '0 && window3_q[15:0] < mss3_q) fit3 = window3_q[15:0];
    if (!ok3) fit3 = '0;
  end

  assign go_o = go_q;
  assign open_o = open_q;
  assign gen_o = gen_q;
  assign res_valid_o = who3_q;
  assign res_match_o = match3_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i && v2_q) begin
      a_one :
      assert ($onehot0(who2_q))
      else $error("two askers at once");
    end
  end
`endif
endmodule
