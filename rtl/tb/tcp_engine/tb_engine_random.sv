// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Random test of the protocol engine. Many connections follow each other on all sessions, opened
/// from both sides, with loss, duplication, reordering and delay in both directions. Each
/// connection must deliver all bytes both ways and close on both sides; without loss nothing may be
/// retransmitted.
module tb_engine_random
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;
  import eng_peer_pkg::*;
#(
  /// Prefix of the bench names: NAME-clean has no loss, NAME-lossy has loss, NAME-cycles has many
  /// short connections. +loss, +rounds, +bytes, +tick and +wait override the parameters below.
  parameter string Name = "engine",
  /// Number of sessions.
  parameter int Sessions = 8,
  /// Passed to the engine.
  parameter bit CongestionControl = 1'b0,
  /// Passed to the engine.
  parameter bit StatusEvents = 1'b0,
  /// Passed to the engine.
  parameter bit CreditEvents = 1'b0,
  /// Passed to the engine.
  parameter bit InstantAck = 1'b0
);
  localparam port_t Lport = 16'd80;

  eng_env #(
    .SessionCount(Sessions), .MemAddrBits(10 + $clog2(Sessions)),
    .CongestionControl(CongestionControl), .StatusEvents(StatusEvents),
    .CreditEvents(CreditEvents), .InstantAck(InstantAck)
  ) i_env ();

  int unsigned loss = 0;  // percentage of segments lost in each direction
  int target = 40;  // number of connections
  int bytes = 30000;  // maximum bytes per connection and direction
  int tick = 100;  // cycles per tick
  int wait_ticks = 150;  // duration of TIME-WAIT
  // Average cycles between two messages. Live messages have priority over commands, so a user that
  // never pauses would starve the acknowledgements of other sessions.
  int pace = 400;
  int rounds = 0, now_ticks = 0, again = 0, idle = 0, checks = 0;
  int n_credit = 0, n_status = 0, n_opened = 0, n_closed = 0, max_dones = 0;
  Peer peers[Sessions];
  bit alive[Sessions], opened[Sessions], closed[Sessions], close_asked[Sessions];
  int reason[Sessions], to_send[Sessions], total[Sessions], peer_total[Sessions];
  longint base[Sessions];
  state_e last_state[Sessions];
  frame_t back[$];
  int back_at[$];
  segment_t forth[$];
  int forth_at[$];

  function automatic bit lost();
    return spfe_tb_pkg::chance(loss);
  endfunction

  function automatic bit twice();
    return loss != 0 && $urandom_range(99) < 2;
  endfunction

  function automatic int delay();
    if (loss == 0) return i_env.cycles + 40;
    return i_env.cycles + 20 + ($urandom_range(99) < 5 ? $urandom_range(2000) : $urandom_range(60));
  endfunction

  function automatic int owner(port_t port);
    for (int i = 0; i < Sessions; i++) if (peers[i] != null && peers[i].port == port) return i;
    return -1;
  endfunction

  string problem = "";  // first failure, reported at the end of the cycle
  function automatic void fail(string what);
    if (problem == "") problem = what;
  endfunction

  task automatic give_up();
    for (int i = 0; i < Sessions; i++) begin
      if (alive[i]) begin
        $display("%0d: una %0d nxt %0d cons %0d wr %0d lim %0d rcv %0d open %b live %b %s", i,
            i_env.una[i], i_env.nxt[i], i_env.cons[i], i_env.wr[i], i_env.lim[i], i_env.rnxt[i],
            i_env.open[i], i_env.live[i],
            i_env.i_dut.i_pipe.i_state.i_tcb.mem_q[i] == '0 ? "CLOSED" : "");
        $display("   left %0d of %0d; delivered %0d of %0d; opened %b closed %b asked %b",
            to_send[i], total[i], i_env.delivered[i] - base[i], peer_total[i], opened[i],
            closed[i], close_asked[i]);
        $display("   peer %s port %0d una %0d nxt %0d rcv %0d left %0d got %0d fin %b%b%b",
            peers[i].state.name(), peers[i].port, peers[i].una, peers[i].nxt, peers[i].rcv,
            peers[i].to_send, peers[i].got, peers[i].fin_sent,
            peers[i].fin_acked, peers[i].fin_seen);
      end
    end
    $fatal(1, "%s: %s (cycle %0d)", name, problem, i_env.cycles);
  endtask

  // Passive session i accepts only the peer with address i, so that both sides can be matched.
  task automatic begin_one(int i);
    peers[i] = new(32'h0a000002 + 32'(i), port_t'(10000 + rounds), Lport,
        $urandom_range(3) == 0 ? 32'hffffff00 + 32'($urandom_range(400)) : $urandom(),
        $urandom_range(bytes), $urandom_range(1) != 0 ? 1460 : $urandom_range(1460, 200));
    rounds++;
    alive[i] = 1;
    opened[i] = 0;
    closed[i] = 0;
    close_asked[i] = 0;
    to_send[i] = $urandom_range(bytes);
    total[i] = to_send[i];
    peer_total[i] = peers[i].to_send;
    base[i] = i_env.delivered[i];
    if (i >= Sessions / 2) i_env.operate(OpConnect, i, peers[i].ip, peers[i].port, Lport);
    else peers[i].connect();
  endtask

  task automatic events();
    event_t e;
    int i;
    while (i_env.events.size() != 0) begin
      e = i_env.events.pop_front();
      i = int'(e.sid);
      case (e.kind)
        EvOpened: begin
          if (opened[i]) fail("EvOpened twice for a connection");
          opened[i] = 1;
          n_opened++;
        end
        EvClosed: begin
          if (closed[i] || !opened[i]) fail("EvClosed twice, or without EvOpened");
          closed[i] = 1;
          reason[i] = int'(e.data);
          n_closed++;
        end
        EvCredit: begin
          n_credit++;
          if (int'(e.data) > i_env.RingBytes)
            fail("EvCredit reports more bytes than the ring holds");
        end
        EvStatus: begin
          n_status++;
          if (state_e'(e.data[3:0]) == last_state[i]) fail("EvStatus without a change of state");
          last_state[i] = state_e'(e.data[3:0]);
        end
        default: ;
      endcase
    end
  endtask

  task automatic network();
    int i;
    frame_t f;
    // Frames to the peers.
    while (i_env.wire_out.size() != 0) begin
      f = i_env.wire_out.pop_front();
      if (!lost()) begin
        back.push_back(f);
        back_at.push_back(delay());
        if (twice()) begin
          back.push_back(f);
          back_at.push_back(delay());
        end
      end
    end
    for (int k = 0; k < back.size(); k++) begin
      if (back_at[k] <= i_env.cycles) begin
        i = owner(back[k].dport);
        if (i >= 0) peers[i].take(back[k]);
        back.delete(k);
        back_at.delete(k);
        k--;
      end
    end
    // Segments from the peers.
    for (i = 0; i < Sessions; i++) begin
      while (peers[i].out.size() != 0) begin
        if (!lost()) begin
          forth.push_back(peers[i].out[0]);
          forth_at.push_back(delay());
          if (twice()) begin
            forth.push_back(peers[i].out[0]);
            forth_at.push_back(delay());
          end
        end
        void'(peers[i].out.pop_front());
      end
    end
    for (int k = 0; k < forth.size(); k++) begin
      if (forth_at[k] <= i_env.cycles) begin
        i_env.wire_in.push_back(forth[k]);
        forth.delete(k);
        forth_at.delete(k);
        k--;
      end
    end
    if (i_env.ticks != now_ticks) begin
      now_ticks = i_env.ticks;
      for (i = 0; i < Sessions; i++) begin
        peers[i].tick();
        if (loss != 0 && $urandom_range(199) == 0) begin
          peers[i].paused = !peers[i].paused;
          if (peers[i].state == PeerOpen) peers[i].emit("A", peers[i].nxt, 0);
        end
        if (peers[i].state == PeerDone) peers[i].paused = 0;
      end
    end
  endtask

  task automatic user(int i);
    int n;
    if ($urandom_range(3) == 0) peers[i].push($urandom_range(3));
    if (opened[i] && !closed[i] && to_send[i] > 0 && $urandom_range(pace - 1) == 0 &&
        i_env.user_sid.size() < 4 && i_env.open[i] &&
        int'(i_env.wr[i] - i_env.una[i]) < i_env.RingBytes - 8000) begin
      n = $urandom_range(1460, 1);
      if (n > to_send[i]) n = to_send[i];
      i_env.message(i, n, loss != 0 && $urandom_range(49) == 0);
      to_send[i] -= n;
      idle = 0;
    end
    if (peers[i].close_first || (peers[i].got == total[i] && close_asked[i]))
      peers[i].want_close = 1;
    if (opened[i] && !close_asked[i] && to_send[i] == 0 && i_env.user_sid.size() == 0 &&
        !i_env.sending &&
        (!peers[i].close_first || i_env.delivered[i] - base[i] == longint'(peer_total[i]))) begin
      close_asked[i] = 1;
      i_env.operate(OpClose, i, 32'd0, 16'd0, 16'd0);
      idle = 0;
    end
  endtask

  task automatic finish_one(int i);
    alive[i] = 0;
    idle = 0;
    checks += 3;
    again += peers[i].again;
    if (reason[i] != int'(CloseDone))
      fail($sformatf("session %0d: closed with reason %0d", i, reason[i]));
    if (peers[i].got != total[i])
      fail($sformatf("session %0d: the peer received %0d of %0d bytes", i, peers[i].got, total[i]));
    if (i_env.delivered[i] - base[i] != longint'(peer_total[i]))
      fail($sformatf("session %0d: received %0d of %0d bytes", i,
          i_env.delivered[i] - base[i], peer_total[i]));
    if (rounds < target) begin_one(i);
  endtask

  task automatic configure();
    i_env.defaults();
    i_env.cfg.syn_tries = 8'd20;
    i_env.cfg.data_tries = 8'd30;
    i_env.cfg.rto_max = 16'd100;
    i_env.cfg.time_wait = 16'(wait_ticks);
    i_env.tick_cycles = tick;
    i_env.frame_cycles = loss == 0 ? 0 : 30;
    i_env.reset();
    for (int i = 0; i < Sessions; i++) last_state[i] = StClosed;
    for (int i = 0; i < Sessions / 2; i++)
      i_env.operate(OpListen, i, 32'h0a000002 + 32'(i), 16'd0, Lport);
  endtask

  function automatic bit any();
    for (int i = 0; i < Sessions; i++) if (alive[i]) return 1;
    return 0;
  endfunction

  string name;
  initial begin
    if (spfe_tb_pkg::chosen({Name, "-clean"})) begin
      name = {Name, "-clean"};
      if (Sessions > 8) tick = 400;  // a burst of all peers at once takes longer
    end
    if (spfe_tb_pkg::chosen({Name, "-lossy"})) begin
      name = {Name, "-lossy"};
      loss = 5;
      pace = 1;
    end
    if (spfe_tb_pkg::chosen({Name, "-cycles"})) begin
      name = {Name, "-cycles"};
      loss = 2;
      pace = 1;
      target = 400;
      bytes = 200;
      tick = 40;
      wait_ticks = 10;
    end
    if (target < Sessions) target = Sessions;
    void'($value$plusargs("loss=%d", loss));
    void'($value$plusargs("rounds=%d", target));
    void'($value$plusargs("bytes=%d", bytes));
    void'($value$plusargs("tick=%d", tick));
    void'($value$plusargs("wait=%d", wait_ticks));
    if (name != "") begin
      i_env.run = 1;
      i_env.what = name;
      configure();
      for (int i = 0; i < Sessions; i++) begin_one(i);
      while (any()) begin
        @(posedge i_env.clk);
        #3;
        idle++;
        events();
        network();
        user($urandom_range(Sessions - 1));
        for (int i = 0; i < Sessions; i++)
          if (alive[i] && closed[i] && peers[i].state == PeerDone) finish_one(i);
        if (i_env.dones.size() > max_dones) max_dones = i_env.dones.size();
        if (idle > 300000) fail("no progress for 300000 cycles");
        if (problem != "") give_up();
      end
      // All sessions must be idle in the end.
      repeat (5000) @(posedge i_env.clk);
      #3 events();
      for (int i = 0; i < Sessions; i++) begin
        i_env.look(i);
        checks += 2;
        if (i_env.view.state != (i < Sessions / 2 ? StListen : StClosed))
          fail($sformatf("session %0d ends in %s", i, i_env.view.state.name()));
        if (i_env.key_ok[i] || i_env.ropen[i] || i_env.open[i])
          fail("a closed session still accepts data");
      end
      checks += 6;
      if (i_env.n_lost != 0) fail("the engine lost events");
      if (n_opened != rounds || n_closed != rounds)
        fail("not every connection was opened and closed");
      if (CreditEvents != (n_credit != 0)) fail("EvCredit events do not match CreditEvents");
      if (StatusEvents != (n_status != 0)) fail("EvStatus events do not match StatusEvents");
      if (loss == 0 && (again != 0 || i_env.n_rto != 0 || i_env.n_fast != 0 || i_env.n_chal != 0))
        fail($sformatf(
            "no loss, but %0d RTO, %0d fast, %0d challenges, %0d by peers, %0d SYN dropped",
            i_env.n_rto, i_env.n_fast, i_env.n_chal, again, i_env.n_syn_drop));
      if (loss != 0 && (i_env.n_rto == 0)) fail("segments were lost, but no timeout occurred");
      if (problem != "") give_up();
      $display("%0d connections, %0d cycles; RTO %0d, fast %0d, probes %0d, resets %0d", rounds,
          i_env.cycles, i_env.n_rto, i_env.n_fast, i_env.n_probe, i_env.n_rst);
      $display("challenges %0d, SYN dropped %0d, again by peers %0d, tx_done waiting %0d",
          i_env.n_chal, i_env.n_syn_drop, again, max_dones);
      spfe_tb_pkg::passed(name, checks);
    end
  end
endmodule
