// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The pointers of a session change only by operations that name it. After any sequence of
/// requests, also simultaneous ones, they have the values that the accepted operations give one
/// after the other. A message may leave at once only in a session that is open, live, not behind,
/// and whose peer takes it: one of any length, or one up to the smaller of MSS and window.
module formal_tx_state
  import spfe_tcp_pkg::*;
  import spfe_tcp_tx_pkg::*;
(
  input logic clk_i,
  /// Free: the watched session; its value in the first cycle counts.
  input logic watched_i,
  /// Free: longest message in bytes; its value in the first cycle counts.
  input logic [15:0] mss_i,
  /// Free: requests of the three internal ports.
  input state_req_t [2:0] req_i,
  /// Free: valid of req_i.
  input logic [2:0] req_valid_i,
  /// Free: request of the user side.
  input state_req_t user_req_i,
  /// Free: valid of user_req_i.
  input logic user_valid_i,
  /// Free: command of the engine.
  input snd_cmd_t snd_cmd_i,
  /// Free: valid of snd_cmd_i.
  input logic snd_cmd_valid_i
);
  logic rst_q = 1'b1;
  logic watched_q;
  logic [15:0] mss_q;

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (rst_q) begin
      watched_q <= watched_i;
      mss_q <= mss_i;
    end
  end

  // Each port sends only the operations that belong to it.
  state_req_t [2:0] req;
  state_req_t user_req;
  always_comb begin
    req = req_i;
    for (int i = 0; i < 2; i++) begin
      if (!(req_i[i].op inside {StateStart, StateSent, StateDefer})) req[i].op = StateDefer;
    end
    req[2].op = StateCommand;
    user_req = user_req_i;
    user_req.op = StateWritten;
  end

  logic [2:0] req_ready, res_valid;
  logic user_ready, user_done, user_match, snd_cmd_ready, res_match;
  logic [1:0] go, is_open, room, gen;
  logic [15:0] fit;
  seq_t nxt, consumed, written, rx_nxt, cmd_nxt, user_written;

  spfe_tcp_tx_state #(
    .SessionCount(2)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .mss_i(mss_q),
    .req_i(req),
    .req_valid_i,
    .req_ready_o(req_ready),
    .res_valid_o(res_valid),
    .res_match_o(res_match),
    .user_req_i(user_req),
    .user_valid_i,
    .user_ready_o(user_ready),
    .user_done_o(user_done),
    .user_match_o(user_match),
    .snd_cmd_i,
    .snd_cmd_valid_i,
    .snd_cmd_ready_o(snd_cmd_ready),
    .go_o(go),
    .fit_sid_i(sid_t'(watched_q)),
    .fit_o(fit),
    .open_o(is_open),
    .room_o(room),
    .eng_sid_i(sid_t'(watched_q)),
    .eng_nxt_o(nxt),
    .eng_consumed_o(consumed),
    .eng_written_o(written),
    .rx_sid_i(sid_t'(watched_q)),
    .rx_nxt_o(rx_nxt),
    .cmd_sid_i(sid_t'(watched_q)),
    .cmd_nxt_o(cmd_nxt),
    .user_sid_i(sid_t'(watched_q)),
    .user_written_o(user_written),
    .gen_o(gen)
  );

  // Model of the watched session: each accepted operation takes effect at once.
  typedef struct packed {
    logic known, is_open, live, gen;
    seq_t nxt, consumed, reserved, written, edge_;
    logic [15:0] mss;
  } session_t;
  session_t now_q, now_d;
  logic [2:0] taken;
  logic mine, user_mine, any, set, ours;
  state_req_t one;
  seq_t one_end;
  logic [4:0] last_q;  // bit n: an operation named the session n + 1 cycles ago
  logic spaced_q;  // there was an operation in the last cycle

  assign taken = req_valid_i & req_ready;
  assign any = taken != '0;
  assign set = snd_cmd_valid_i && snd_cmd_ready;
  assign one = taken[0] ? req[0] : taken[1] ? req[1] : req[2];
  assign one_end = one.target;
  assign ours = one.gen == now_q.gen;  // the operation belongs to the present connection
  assign mine = any ? one.sid[0] == watched_q : set && snd_cmd_i.sid[0] == watched_q;
  assign user_mine = user_valid_i && user_ready && user_req.sid[0] == watched_q;

  always_comb begin
    now_d = now_q;
    if (mine && any) begin
      case (one.op)
        StateStart: if (ours && now_q.reserved == one.expected) now_d.reserved = one_end;
        StateSent:
        if (ours && now_q.consumed == one.expected) begin
          now_d.nxt = one_end;
          now_d.consumed = one_end;
        end
        StateDefer:
        if (ours && now_q.consumed == one.expected) begin
          now_d.reserved = one_end;
          now_d.consumed = one_end;
        end
        default: begin
          if (seq_lt(now_q.nxt, one_end)) now_d.nxt = one_end;
          if (one.fin) begin
            now_d.consumed = one_end;
            now_d.reserved = one_end;
            now_d.written = one_end;
          end
        end
      endcase
    end
    if (mine && set) begin
      now_d.edge_ = snd_cmd_i.lim;
      now_d.mss = snd_cmd_i.mss;
      now_d.is_open = snd_cmd_i.open;
      now_d.live = snd_cmd_i.live;
      if (snd_cmd_i.init) begin
        now_d.known = 1'b1;
        now_d.gen = !now_q.gen;
        now_d.nxt = snd_cmd_i.iss + 32'd1;
        now_d.consumed = now_d.nxt;
        now_d.reserved = now_d.nxt;
        now_d.written = now_d.nxt;
      end
    end
    if (user_mine && user_req.gen == now_q.gen && now_q.written == user_req.expected) begin
      now_d.written = user_req.target;
    end
    if (rst_q) now_d = '0;
  end

  seq_t window;
  logic may_send;
  assign window = now_q.edge_ - now_q.reserved;
  assign may_send = now_q.is_open && now_q.live && now_q.nxt == now_q.consumed && !window[31];

  always_ff @(posedge clk_i) begin
    now_q <= now_d;
    last_q <= rst_q ? '0 : {last_q[3:0], mine || user_mine};
    spaced_q <= !rst_q && (any || set);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      a_one : assert ($onehot0({taken, set}));
      a_spaced : assert (!(spaced_q && (any || set)));
      if (now_q.known && last_q[1:0] == '0) begin
        a_nxt : assert (nxt == now_q.nxt && rx_nxt == now_q.nxt && cmd_nxt == now_q.nxt);
        a_consumed : assert (consumed == now_q.consumed);
        a_written : assert (written == now_q.written && user_written == now_q.written);
        a_open : assert (is_open[watched_q] == now_q.is_open);
        a_gen : assert (gen[watched_q] == now_q.gen);
      end
      if (now_q.known && last_q[3:0] == '0) begin
        a_go : assert (go[watched_q] == (may_send && window >= 32'(mss_q) && now_q.mss >= mss_q));
      end
      if (now_q.known && last_q == '0) begin
        a_fit :
        assert (fit == (!may_send ? 16'd0 : window < 32'(now_q.mss) ? window[15:0] : now_q.mss));
      end
      if (!now_q.known && last_q[3:0] == '0) begin
        a_closed : assert (!go[watched_q] || is_open[watched_q]);
      end
      c_go : cover (now_q.known && last_q[3:0] == '0 && go[watched_q]);
      c_fit : cover (now_q.known && last_q == '0 && fit != '0 && !go[watched_q]);
      c_behind :
      cover (now_q.known && now_q.consumed != now_q.nxt && now_q.written != now_q.consumed);
    end
  end
endmodule
