// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Directed tests of the protocol engine, each for a point of RFC 9293, 5961 or 6298.
module tb_engine_directed
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;
#(
  /// Name of the bench.
  parameter string NAME = "engine-directed"
);
  eng_env #(.SessionCount(4)) env ();

  localparam ip_t Peer = 32'h0a000002;
  localparam port_t Pport = 16'd40000;
  localparam port_t Lport = 16'd80;

  int errors = 0, checks = 0;
  string test = "";
  // The peer as the tests keep it.
  seq_t pseq, pack;  // next of the peer, next expected from us
  int pwnd = 32768;
  port_t pport = Pport;

  task automatic fail(string what);
    errors++;
    $display("FAIL %s: %s (cycle %0d)", test, what, env.cycles);
    if (errors > 20) $fatal(1, "too many");
  endtask

  task automatic check(bit ok, string what);
    checks++;
    if (!ok) fail(what);
  endtask

  task automatic idle(int n);
    repeat (n) @(posedge env.clk);
    #3;
  endtask

  task automatic ticks(int n);
    int stop;
    stop = env.ticks + n;
    while (env.ticks < stop) @(posedge env.clk) #3;
    idle(40);
  endtask

  task automatic put(string flags, seq_t seq, seq_t ack, int len = 0, int mss = 0, int ws = -1);
    segment_t s;
    s = '{
        sip: Peer, sport: pport, dport: Lport, seq: seq, ack: ack, flags: fl(flags), len: len,
        wnd: pwnd, mss: mss, ws: ws
    };
    env.wire_in.push_back(s);
    while (env.wire_in.size() != 0) @(posedge env.clk) #3;
  endtask

  /// The next frame has these fields.
  task automatic want(string flags, seq_t seq, seq_t ack, int len = 0, int wait_cycles = 400);
    frame_t f;
    for (int i = 0; i < wait_cycles && env.wire_out.size() == 0; i++) @(posedge env.clk) #3;
    checks++;
    if (env.wire_out.size() == 0) begin
      fail($sformatf("no %s", flags));
      return;
    end
    f = env.wire_out.pop_front();
    if (fl(flags) != (f.flags & ~fl("P")) || f.seq != seq || (f.flags.ack && f.ack != ack) ||
        f.len != len || f.dip != Peer || f.dport != pport || f.sport != Lport) begin
      fail($sformatf("%s seq %0d ack %0d len %0d from %0d to %h:%0d, not %s %0d %0d %0d",
          fl_name(f.flags), f.seq, f.ack, f.len, f.sport, f.dip, f.dport, flags, seq, ack, len));
    end
  endtask

  task automatic silence(int n = 300);
    idle(n);
    checks++;
    if (env.wire_out.size() != 0) begin
      fail($sformatf("%s seq %0d ack %0d len %0d instead of silence",
          fl_name(env.wire_out[0].flags), env.wire_out[0].seq, env.wire_out[0].ack,
          env.wire_out[0].len));
      env.wire_out.delete();
    end
  endtask

  task automatic want_event(event_e kind, int sid, int data = -1, int wait_cycles = 400);
    event_t e;
    for (int i = 0; i < wait_cycles && env.events.size() == 0; i++) @(posedge env.clk) #3;
    checks++;
    if (env.events.size() == 0) begin
      fail($sformatf("no event %s", kind.name()));
      return;
    end
    e = env.events.pop_front();
    if (e.kind != kind || int'(e.sid) != sid || (data >= 0 && int'(e.data[31:0]) != data)) begin
      fail($sformatf("event %0d of %0d with %0d, not %s of %0d with %0d", e.kind, e.sid, e.data,
          kind.name(), sid, data));
    end
  endtask

  task automatic no_event();
    check(env.events.size() == 0, "unexpected event");
    env.events.delete();
  endtask

  task automatic state(int sid, state_e s);
    env.look(sid);
    check(env.view.state == s, $sformatf("state of %0d is %s, not %s", sid,
        env.view.state.name(), s.name()));
  endtask

  task automatic begin_test(string name, seq_t isn = 32'd1000);
    test = name;
    env.defaults();
    env.wire_in.delete();
    env.wire_out.delete();
    env.events.delete();
    env.dones.delete();
    env.user_sid.delete();
    env.user_len.delete();
    env.user_bad.delete();
    env.arp_known = 1;
    env.arp_dead = 0;
    env.ticking = 1;
    pwnd = 32768;
    pport = Pport;
    env.reset();
    pseq = isn;
  endtask

  /// Passive open of session 0.
  task automatic accept(int mss = 1460, int ws = -1);
    seq_t iss;
    env.operate(OpListen, 0, 32'd0, 16'd0, Lport);
    put("S", pseq, 32'd0, 0, mss, ws);
    for (int i = 0; i < 400 && env.wire_out.size() == 0; i++) @(posedge env.clk) #3;
    if (env.wire_out.size() == 0) begin
      fail("no SYN-ACK");
      return;
    end
    iss = env.wire_out[0].seq;
    want("SA", iss, pseq + 1);
    pseq += 1;
    pack = iss + 1;
    put("A", pseq, pack);
    want_event(EvOpened, 0);
    idle(40);  // until the receiver is open
  endtask

  task automatic connect(int sid = 0);
    env.operate(OpConnect, sid, Peer, pport, Lport);
    for (int i = 0; i < 2000 && env.wire_out.size() == 0; i++) @(posedge env.clk) #3;
    if (env.wire_out.size() == 0) begin
      fail("no SYN");
      return;
    end
    pack = env.wire_out[0].seq + 1;
    want("S", pack - 1, 32'd0);
  endtask

`include "directed_open.svh"
`include "directed_data.svh"
`include "directed_close.svh"

  initial begin
    if (spfe_tb_pkg::chosen(NAME)) begin
      env.run = 1;
      env.defaults();
      test_open();
      test_data();
      test_close();
      check(env.n_lost == 0, "events lost");
      if (errors != 0) $fatal(1, "%0d errors in %0d checks", errors, checks);
      spfe_tb_pkg::passed(NAME, checks);
    end
  end
endmodule
