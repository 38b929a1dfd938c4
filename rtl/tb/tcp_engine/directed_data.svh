// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Tests of data, acknowledgements, timers and RFC 5961.

task automatic test_data();
  begin_test("delayed acknowledgement");
  accept();
  put("A", pseq, pack, 100);
  silence(100);
  ticks(6);
  want("A", pack, pseq + 100);
  put("A", pseq + 100, pack, 1460);
  put("A", pseq + 1560, pack, 1460);
  want("A", pack, pseq + 3020);
  ticks(8);
  silence(50);

  begin_test("out of order and old");
  accept();
  put("A", pseq + 100, pack, 100);
  want("A", pack, pseq);
  put("A", pseq, pack, 100);
  ticks(6);
  want("A", pack, pseq + 100);
  put("A", pseq, pack, 100);
  want("A", pack, pseq + 100);
  put("A", pseq + 50, pack, 100);
  want("A", pack, pseq + 100);
  put("A", pseq + 99, pack);  // keepalive
  want("A", pack, pseq + 100);
  ticks(1);
  put("A", pseq + 100 + 65535, pack, 10);
  want("A", pack, pseq + 100);

  begin_test("a gap is filled");
  accept();
  put("A", pseq + 100, pack, 100);
  want("A", pack, pseq);
  i_env.kept = 1;
  put("A", pseq, pack, 50);
  want("A", pack, pseq + 50);
  put("A", pseq + 50, pack, 50);
  want("A", pack, pseq + 100);
  i_env.kept = 0;
  put("A", pseq + 100, pack, 100);
  silence(100);
  ticks(6);
  want("A", pack, pseq + 200);

  begin_test("window update");
  accept();
  i_env.tells(0);
  want("A", pack, pseq);
  put("A", pseq, pack, 100);
  i_env.tells(0);
  want("A", pack, pseq + 100);
  ticks(10);
  silence(50);  // the delayed ACK has gone with it
  put("FA", pseq + 100, pack);
  want("A", pack, pseq + 101);
  i_env.tells(0);
  silence(100);  // the peer sends nothing more
  i_env.tells(1);
  silence(100);

  begin_test("live message");
  accept();
  i_env.message(0, 200);
  want("A", pack, pseq, 200);
  put("A", pseq, pack + 200);
  silence();
  ticks(100);
  silence();
  state(0, StEstablished);
  check(i_env.view.snd_una == pack + 200 && i_env.view.credit == i_env.RingBytes, "acknowledged");

  begin_test("message acknowledges what has come");
  accept();
  put("A", pseq, pack, 100);
  idle(40);
  i_env.message(0, 10);
  want("A", pack, pseq + 100, 10);
  put("A", pseq + 100, pack + 10);
  ticks(10);
  silence();

  begin_test("data that comes while a message leaves is acknowledged");
  accept();
  i_env.message(0, 1400);
  idle(60);
  put("A", pseq, pack, 100);
  want("A", pack, pseq, 1400);
  ticks(6);
  want("A", pack + 1400, pseq + 100);

  begin_test("RTO, backoff, give up");
  accept();
  i_env.message(0, 200);
  want("A", pack, pseq, 200);
  ticks(16);
  silence(50);
  for (int i = 0; i < 5; i++) begin
    ticks(i == 0 ? 7 : 20 << i);
    idle(100);
    want("A", pack, pseq, 200, 3000);
  end
  no_event();
  ticks(420);
  want("RA", pack + 200, pseq);
  want_event(EvClosed, 0, int'(CloseTimeout));
  state(0, StListen);

  begin_test("loss of the first of three, go on by partial acknowledgements");
  accept();
  i_env.message(0, 100);
  i_env.message(0, 100);
  i_env.message(0, 100);
  want("A", pack, pseq, 100);
  want("A", pack + 100, pseq, 100);
  want("A", pack + 200, pseq, 100);
  ticks(24);
  want("A", pack, pseq, 300, 2000);
  put("A", pseq, pack + 300);
  check(i_env.n_rto > 0, "counted");
  ticks(100);
  silence();

  begin_test("fast retransmission");
  i_env.n_fast = 0;
  i_env.frame_cycles = 60;
  accept();
  for (int i = 0; i < 6; i++) i_env.message(0, 1460);
  for (int i = 0; i < 6; i++) want("A", pack + i * 1460, pseq, 1460, 1000);
  i_env.n_rto = 0;
  put("A", pseq, pack);
  put("A", pseq, pack);
  silence(60);
  put("A", pseq, pack);
  want("A", pack, pseq, 1460, 1000);
  check(!i_env.live[0], "no live messages in recovery");
  put("A", pseq, pack);
  put("A", pseq, pack);
  silence(500);
  put("A", pseq, pack + 2 * 1460);
  want("A", pack + 2 * 1460, pseq, 1460, 1000);
  put("A", pseq, pack + 6 * 1460);
  silence(500);
  check(i_env.live[0] && i_env.n_fast == 1 && i_env.n_rto == 0, "recovered once");
  i_env.frame_cycles = 0;

  begin_test("wrong checksum of the user");
  accept();
  i_env.message(0, 64, 1'b1);
  want("A", pack, pseq, 64);
  want("A", pack, pseq, 64);
  put("A", pseq, pack + 64);
  silence();

  begin_test("deferred for a small window, short last segment");
  pwnd = 2000;
  accept();
  i_env.message(0, 1460);
  i_env.message(0, 1460);
  want("A", pack, pseq, 1460, 1000);
  silence();
  pwnd = 5000;
  put("A", pseq, pack + 1460);
  want("A", pack + 1460, pseq, 1460, 1000);
  put("A", pseq, pack + 2920);
  ticks(60);
  silence();

  begin_test("many small ones put together");
  pwnd = 0;
  accept();
  for (int i = 0; i < 20; i++) i_env.message(0, 100);
  silence();
  pwnd = 30000;
  put("A", pseq, pack);
  want("A", pack, pseq, 1460, 1000);
  want("A", pack + 1460, pseq, 540, 1000);
  put("A", pseq, pack + 2000);
  silence();

  begin_test("zero window: probes, then goes on");
  pwnd = 0;
  accept();
  i_env.message(0, 100);
  i_env.n_probe = 0;
  for (int i = 0; i < 12; i++) begin
    ticks(i < 3 ? (20 << i) + 4 : 103);
    want("A", pack - 1, pseq, 0, 2000);
    put("A", pseq, pack);
  end
  silence(50);
  check(i_env.n_probe == 12, "probes counted");
  pwnd = 1000;
  put("A", pseq, pack);
  want("A", pack, pseq, 100, 1000);
  put("A", pseq, pack + 100);
  ticks(120);
  silence();
  state(0, StEstablished);

  begin_test("zero window and a dead peer");
  pwnd = 0;
  accept();
  i_env.message(0, 100);
  ticks(700);
  want_event(EvClosed, 0, int'(CloseTimeout));

  begin_test("window is not taken from an old segment");
  accept();
  pwnd = 10000;
  put("A", pseq, pack, 10);
  idle(100);
  check(i_env.lim[0] - i_env.una[0] == 10000, "new window");
  pwnd = 500;
  put("A", pseq - 5, pack, 6);
  put("A", pseq - 1, pack, 0);
  idle(100);
  check(i_env.lim[0] - i_env.una[0] == 10000, "old window ignored");

  begin_test("RFC 5961: reset");
  accept();
  put("R", pseq + 100, 32'd0);
  want("A", pack, pseq);
  put("R", pseq + 70000, 32'd0);
  put("R", pseq - 1, 32'd0);
  silence();
  state(0, StEstablished);
  put("R", pseq, 32'd0);
  want_event(EvClosed, 0, int'(CloseReset));
  silence();
  state(0, StListen);

  begin_test("RFC 5961: SYN");
  accept();
  put("S", pseq, 32'd0);
  want("A", pack, pseq);
  put("S", pseq - 1, 32'd0);
  want("A", pack, pseq);
  state(0, StEstablished);

  begin_test("RFC 5961: acknowledgements");
  accept();
  put("A", pseq, pack + 1, 10);
  want("A", pack, pseq);
  put("A", pseq, pack - 32768 - 1, 10);
  want("A", pack, pseq);
  put("A", pseq, pack - 100, 10);
  ticks(6);
  want("A", pack, pseq + 10);

  begin_test("challenges are limited");
  accept();
  i_env.ticking = 0;
  for (int i = 0; i < 30; i++) begin
    put("S", pseq, 32'd0);
    idle(60);
  end
  check(i_env.wire_out.size() >= 2 && i_env.wire_out.size() <= 4,
      $sformatf("%0d challenges in a tick", i_env.wire_out.size()));
  i_env.wire_out.delete();
  i_env.ticking = 1;
  ticks(2);
  put("S", pseq, 32'd0);
  want("A", pack, pseq);

  begin_test("sequence numbers wrap", 32'hffff_ff00);
  accept();
  for (int i = 0; i < 4; i++) begin
    put("A", pseq, pack, 100);
    pseq += 100;
    if (i % 2 == 1) want("A", pack, pseq);
  end
  put("R", pseq - 1, 32'd0);
  silence();
  state(0, StEstablished);

  begin_test("another address of the next hop");
  accept();
  i_env.arp_update = '{ip: Peer, mac: 48'h02_00_00_00_00_cc};
  i_env.arp_update_valid = 1;
  while (i_env.arp_update_valid) @(posedge i_env.clk) #3;
  idle(20);
  check(i_env.hdr[0].dmac == 48'h02_00_00_00_00_cc && i_env.hdr[0].dip == Peer, "header changed");
endtask
