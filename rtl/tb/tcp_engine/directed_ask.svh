// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Carries out the requests of the directed tests.

task automatic complain();
  while (complaints.size() != 0) begin
    errors++;
    $display("FAIL %s: %s (cycle %0d)", test, complaints.pop_front(), i_env.cycles);
  end
  if (errors > 20) $fatal(1, "too many");
endtask

task automatic do_idle(int n);
  repeat (n) @(posedge i_env.clk);
  #3;
endtask

/// Waits until a frame has been sent.
task automatic do_frame(int cycles);
  for (int i = 0; i < cycles && i_env.wire_out.size() == 0; i++) @(posedge i_env.clk) #3;
endtask

task automatic do_put(string flags, seq_t seq, seq_t ack, int len, int mss, int ws);
  i_env.wire_in.push_back('{
      sip: Peer, sport: pport, dport: Lport, seq: seq, ack: ack, flags: fl(flags), len: len,
      wnd: pwnd, mss: mss, ws: ws
  });
  while (i_env.wire_in.size() != 0) @(posedge i_env.clk) #3;
endtask

task automatic do_silence(int n);
  do_idle(n);
  checks++;
  if (i_env.wire_out.size() != 0) begin
    fail($sformatf("%s seq %0d ack %0d len %0d instead of silence",
        fl_name(i_env.wire_out[0].flags), i_env.wire_out[0].seq, i_env.wire_out[0].ack,
        i_env.wire_out[0].len));
    i_env.wire_out.delete();
  end
endtask

task automatic do_want(string flags, seq_t seq, seq_t ack, int len);
  frame_t f;
  checks++;
  if (i_env.wire_out.size() == 0) begin
    fail($sformatf("no %s", flags));
    return;
  end
  f = i_env.wire_out.pop_front();
  if (fl(flags) != (f.flags & ~fl("P")) || f.seq != seq || (f.flags.ack && f.ack != ack) ||
      f.len != len || f.dip != Peer || f.dport != pport || f.sport != Lport) begin
    fail($sformatf("%s seq %0d ack %0d len %0d from %0d to %h:%0d, not %s %0d %0d %0d",
        fl_name(f.flags), f.seq, f.ack, f.len, f.sport, f.dip, f.dport, flags, seq, ack, len));
  end
endtask

task automatic do_event(event_e kind, int sid, int data);
  event_t e;
  for (int i = 0; i < 400 && i_env.events.size() == 0; i++) @(posedge i_env.clk) #3;
  checks++;
  if (i_env.events.size() == 0) begin
    fail($sformatf("no event %s", kind.name()));
    return;
  end
  e = i_env.events.pop_front();
  if (e.kind != kind || int'(e.sid) != sid || (data >= 0 && int'(e.data[31:0]) != data)) begin
    fail($sformatf("event %0d of %0d with %0d, not %s of %0d with %0d", e.kind, e.sid, e.data,
        kind.name(), sid, data));
  end
endtask

task automatic do_begin(seq_t isn);
  if ($test$plusargs("trace")) $display("%0d: %s", i_env.cycles, test);
  i_env.what = test;
  i_env.defaults();
  i_env.wire_in.delete();
  i_env.wire_out.delete();
  i_env.events.delete();
  i_env.dones.delete();
  i_env.user_sid.delete();
  i_env.user_len.delete();
  i_env.user_bad.delete();
  i_env.arp_known = 1;
  i_env.arp_dead = 0;
  i_env.ticking = 1;
  i_env.kept = 0;
  i_env.gap = 8;
  pwnd = 32768;
  pport = Pport;
  i_env.reset();
  pseq = isn;
endtask

task automatic do_accept(int mss, int ws);
  seq_t iss;
  i_env.operate(OpListen, 0, 32'd0, 16'd0, Lport);
  do_put("S", pseq, 32'd0, 0, mss, ws);
  do_frame(400);
  if (i_env.wire_out.size() == 0) begin
    fail("no SYN-ACK");
    return;
  end
  iss = i_env.wire_out[0].seq;
  do_want("SA", iss, pseq + 1, 0);
  pseq += 1;
  pack = iss + 1;
  do_put("A", pseq, pack, 0, 0, -1);
  do_event(EvOpened, 0, -1);
  do_idle(40);  // until the receiver has opened delivery
endtask

task automatic do_connect(int sid);
  i_env.operate(OpConnect, sid, Peer, pport, Lport);
  do_frame(2000);
  if (i_env.wire_out.size() == 0) begin
    fail("no SYN");
    return;
  end
  pack = i_env.wire_out[0].seq + 1;
  do_want("S", pack - 1, 32'd0, 0);
endtask

task automatic do_state(int sid, state_e s);
  i_env.look(sid);
  check(i_env.view.state == s, $sformatf("state of %0d is %s, not %s", sid,
      i_env.view.state.name(), s.name()));
endtask

initial forever begin
  wait (ask != AskNone);
  case (ask)
    AskIdle: do_idle(wait_arg);
    AskTicks: begin
      wait_arg += i_env.ticks;
      while (i_env.ticks < wait_arg) @(posedge i_env.clk) #3;
      do_idle(40);
    end
    AskPut: do_put(flags_arg, seq_arg, ack_arg, len_arg, mss_arg, ws_arg);
    AskWant: begin
      if (flags_arg == "") begin
        do_silence(wait_arg);
      end else begin
        do_frame(wait_arg);
        do_want(flags_arg, seq_arg, ack_arg, len_arg);
      end
    end
    AskEvent: do_event(kind_arg, sid_arg, len_arg);
    AskState: do_state(sid_arg, state_arg);
    AskBegin: do_begin(seq_arg);
    AskAccept: do_accept(mss_arg, ws_arg);
    AskConnect: do_connect(sid_arg);
    AskOperate:
      i_env.operate(op_arg.op, int'(op_arg.sid), op_arg.ip, op_arg.port, op_arg.lport);
    default: ;
  endcase
  complain();
  ask = AskNone;
end
