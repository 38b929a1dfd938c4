// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Random test of the protocol engine: many connections one after the other on all sessions, opened
/// from both sides, with loss, duplicates, reordering and delay in both directions; each must give
/// all bytes both ways and close on both sides.
module tb_tcp_engine_random
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;
  import eng_peer_pkg::*;
;
  localparam int N = 8;
  localparam port_t Lport = 16'd80;

  eng_env #(.SessionCount(N), .MemAddrBits(13)) env ();

  int seed, rounds = 0, target = 60, loss = 5, now_ticks = 0;
  Peer peers[N];
  bit active[N];  // opened by us
  bit alive[N], opened[N], closed[N], close_asked[N];
  int reason[N], to_send[N], sent[N], total[N], peer_total[N];
  longint base[N];
  frame_t back[$];
  int back_at[$];
  segment_t forth[$];
  int forth_at[$];

  function automatic int delay();
    return env.cycles + 20 + ($urandom_range(99) < 5 ? $urandom_range(2000) : $urandom_range(60));
  endfunction

  function automatic int owner(port_t port);
    for (int i = 0; i < N; i++) if (peers[i] != null && peers[i].port == port) return i;
    return -1;
  endfunction

  int session_of[int];  // port of a peer -> session, known from EvOpened

  task automatic begin_one(int i);
    port_t port;
    port = port_t'(10000 + rounds * 8 + i);
    rounds++;
    peers[i] = new(32'h0a000002 + 32'(i), port, Lport,
        $urandom_range(3) == 0 ? 32'hffffff00 + 32'($urandom_range(400)) : $urandom(),
        $urandom_range(30000), $urandom_range(1) != 0 ? 1460 : $urandom_range(1460, 200),
        $urandom_range(1) != 0);
    active[i] = i >= N / 2;
    alive[i] = 1;
    opened[i] = 0;
    closed[i] = 0;
    close_asked[i] = 0;
    to_send[i] = $urandom_range(30000);
    total[i] = to_send[i];
    peer_total[i] = peers[i].to_send;
    base[i] = env.delivered[i];
    if (active[i]) env.operate(OpConnect, i, peers[i].ip, port, Lport);
    else peers[i].connect();
  endtask

  task automatic events();
    event_t e;
    int i;
    while (env.events.size() != 0) begin
      e = env.events.pop_front();
      i = int'(e.sid);
      case (e.kind)
        EvOpened: begin
          opened[i] = 1;
        end
        EvClosed: begin
          closed[i] = 1;
          reason[i] = int'(e.data);
        end
        default: ;
      endcase
    end
  endtask

  // Passive session i listens for the peer with address i only, so that tests know who is who.
  initial begin
    int i, idle;
    frame_t f;
    if (!$value$plusargs("seed=%d", seed)) seed = 1;
    void'($value$plusargs("rounds=%d", target));
    void'($value$plusargs("loss=%d", loss));
    $display("seed %0d, %0d connections, %0d %% loss", seed, target, loss);
    env.defaults();
    env.cfg.syn_tries = 8'd20;
    env.cfg.data_tries = 8'd30;
    env.cfg.rto_max = 16'd100;
    env.cfg.time_wait = 16'd150;
    env.tick_cycles = 100;
    env.frame_cycles = 30;
    env.reset();
    for (i = 0; i < N / 2; i++) env.operate(OpListen, i, 32'h0a000002 + 32'(i), 16'd0, Lport);
    for (i = 0; i < N; i++) begin_one(i);
    idle = 0;
    while (1) begin
      @(posedge env.clk);
      #3;
      idle++;
      events();
      // Ours to the peers.
      while (env.wire_out.size() != 0) begin
        f = env.wire_out.pop_front();
        if ($urandom_range(99) >= loss) begin
          back.push_back(f);
          back_at.push_back(delay());
          if ($urandom_range(99) < 2) begin
            back.push_back(f);
            back_at.push_back(delay());
          end
        end
      end
      for (int k = 0; k < back.size(); k++) begin
        if (back_at[k] <= env.cycles) begin
          i = owner(back[k].dport);
          if (i >= 0) peers[i].take(back[k]);
          back.delete(k);
          back_at.delete(k);
          k--;
        end
      end
      // Theirs to us.
      for (i = 0; i < N; i++) begin
        while (peers[i].out.size() != 0) begin
          if ($urandom_range(99) >= loss) begin
            forth.push_back(peers[i].out[0]);
            forth_at.push_back(delay());
            if ($urandom_range(99) < 2) begin
              forth.push_back(peers[i].out[0]);
              forth_at.push_back(delay());
            end
          end
          void'(peers[i].out.pop_front());
        end
      end
      for (int k = 0; k < forth.size(); k++) begin
        if (forth_at[k] <= env.cycles) begin
          env.wire_in.push_back(forth[k]);
          forth.delete(k);
          forth_at.delete(k);
          k--;
        end
      end
      if (env.ticks != now_ticks) begin
        now_ticks = env.ticks;
        for (i = 0; i < N; i++) begin
          peers[i].tick();
          if ($urandom_range(199) == 0) begin
            peers[i].paused = !peers[i].paused;
            if (peers[i].state == PeerOpen) peers[i].emit("A", peers[i].nxt, 0);
          end
          if (peers[i].state == PeerDone) peers[i].paused = 0;
        end
      end
      // Users.
      i = $urandom_range(N - 1);
      if ($urandom_range(15) == 0) peers[i].push($urandom_range(3));
      if (opened[i] && !closed[i] && to_send[i] > 0 && env.user_sid.size() < 4 && env.open[i] &&
          int'(env.wr[i] - env.una[i]) < env.RingBytes - 8000) begin
        int n;
        n = $urandom_range(1460, 1);
        if (n > to_send[i]) n = to_send[i];
        env.message(i, n, $urandom_range(49) == 0);
        to_send[i] -= n;
        idle = 0;
      end
      if (peers[i].close_first || (peers[i].got == total[i] && close_asked[i])) peers[i].want_close = 1;
      if (opened[i] && !close_asked[i] && to_send[i] == 0 && env.user_sid.size() == 0 && !env.sending &&
          (!peers[i].close_first || env.delivered[i] - base[i] == longint'(peer_total[i]))) begin
        close_asked[i] = 1;
        env.operate(OpClose, i, 32'd0, 16'd0, 16'd0);
        idle = 0;
      end
      // Ends.
      if (alive[i] && closed[i] && peers[i].state == PeerDone) begin
        alive[i] = 0;
        idle = 0;
        if (reason[i] != int'(CloseDone)) $fatal(1, "connection of session %0d: reason %0d", i, reason[i]);
        if (peers[i].got != total[i]) $fatal(1, "session %0d: %0d of %0d bytes reach the peer", i, peers[i].got, total[i]);
        if (env.delivered[i] - base[i] != longint'(peer_total[i]))
          $fatal(1, "session %0d: %0d of %0d bytes from the peer", i, env.delivered[i] - base[i], peer_total[i]);
        if (rounds < target) begin_one(i);
      end
      // A peer that is done forgets; the last ACK it sends may be lost, then ours asks again.
      begin
        bit any;
        any = 0;
        for (i = 0; i < N; i++) any |= alive[i];
        if (!any) break;
      end
      if (idle > 1500000) begin
        for (i = 0; i < N; i++) begin
          if (alive[i]) begin
            env.look(i);
            $display("session %0d: %s una %0d nxt %0d cons %0d wr %0d wnd %0d rcv %0d; left %0d of %0d; peer %s una %0d nxt %0d rcv %0d left %0d got %0d paused %0d fin %b%b%b opened %b closed %b asked %b delivered %0d/%0d",
                i, env.view.state.name(), env.una[i], env.nxt[i], env.cons[i], env.wr[i], env.view.snd_wnd, env.rnxt[i], to_send[i], total[i], peers[i].state.name(),
                peers[i].una, peers[i].nxt, peers[i].rcv, peers[i].to_send, peers[i].got, peers[i].paused, peers[i].fin_sent, peers[i].fin_acked, peers[i].fin_seen,
                opened[i], closed[i], close_asked[i], env.delivered[i] - base[i], peer_total[i]);
          end
        end
        $fatal(1, "nothing moves");
      end
    end
    $display("PASS %0d connections in %0d cycles; RTO %0d, fast %0d, probes %0d, resets %0d, challenges %0d, SYN dropped %0d",
        rounds, env.cycles, env.n_rto, env.n_fast, env.n_probe, env.n_rst, env.n_chal, env.n_syn_drop);
    if (env.n_lost != 0) $fatal(1, "events lost");
    $finish;
  end
endmodule
