// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Tests of opening a connection, and of segments without a session.

task automatic test_open();
  seq_t iss1, iss2;

  begin_test("passive open");
  accept();
  state(0, StEstablished);
  check(i_env.view.mss == 16'd1460 && i_env.view.snd_wnd == 32'd32768,
        "MSS and window of the peer");
  check(i_env.ropen[0] && i_env.open[0] && i_env.live[0], "open for data");
  silence();
  no_event();

  begin_test("passive open, no MSS option");
  accept(0);
  state(0, StEstablished);
  check(i_env.view.mss == 16'd536, "MSS is 536");
  check(i_env.live[0] && i_env.mss[0] == 16'd536, "messages up to the MSS are sent live");

  begin_test("passive open, tiny MSS");
  accept(1);
  state(0, StEstablished);
  check(i_env.view.mss == 16'd64, "MSS is 64");

  begin_test("passive open, window scale");
  i_env.cfg.wscale_en = 1'b1;
  i_env.cfg.wscale = 4'd3;
  accept(1460, 7);
  state(0, StEstablished);
  check(i_env.view.snd_wnd == 32'd32768 << 7, "window scaled");
  check(i_env.hdr[0].scaled, "ours scaled");
  check(i_env.lim[0] - i_env.una[0] == 32'd32768 << 7, "right edge");

  begin_test("passive open, scale not offered by the peer");
  i_env.cfg.wscale_en = 1'b1;
  accept(1460, -1);
  state(0, StEstablished);
  check(i_env.view.snd_wnd == 32'd32768 && !i_env.hdr[0].scaled, "not scaled");

  begin_test("SYN-ACK lost, then SYN again");
  operate(OpListen, 1, 32'd0, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  idle(200);
  iss1 = i_env.wire_out[0].seq;
  want("SA", iss1, pseq + 1);
  put("S", pseq, 32'd0, 0, 1460);
  want("SA", iss1, pseq + 1);
  ticks(31);
  want("SA", iss1, pseq + 1);
  ticks(45);
  silence();
  ticks(12);
  want("SA", iss1, pseq + 1);
  put("A", pseq + 1, iss1 + 1);
  want_event(EvOpened, 1);

  begin_test("SYN again right before the ACK");
  operate(OpListen, 0, 32'd0, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  idle(200);
  iss1 = i_env.wire_out[0].seq;
  want("SA", iss1, pseq + 1);
  i_env.gap = 1;
  put("S", pseq, 32'd0, 0, 1460);
  put("A", pseq + 1, iss1 + 1);
  want_event(EvOpened, 0);
  silence();
  check(i_env.nxt[0] == iss1 + 1, "SND.NXT stays");
  i_env.message(0, 10);
  want("A", iss1 + 1, pseq + 1, 10);

  begin_test("SYN-RECEIVED times out to LISTEN");
  operate(OpListen, 0, 32'd0, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  ticks(31 + 61 + 121 + 241 + 8);  // each timer starts when the frame has been sent
  check(i_env.wire_out.size() == 4, $sformatf("%0d frames", i_env.wire_out.size()));
  check(!i_env.wire_out[$].flags.rst, "no reset at last");
  i_env.wire_out.delete();
  state(0, StListen);
  no_event();
  put("S", 32'd77, 32'd0, 0, 1460);
  idle(200);
  iss2 = i_env.wire_out[0].seq;
  want("SA", iss2, 32'd78);

  begin_test("RST in SYN-RECEIVED");
  operate(OpListen, 0, 32'd0, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  idle(200);
  i_env.wire_out.delete();
  put("R", pseq + 1, 32'd0);
  silence();
  no_event();
  state(0, StListen);

  begin_test("wrong ACK in SYN-RECEIVED");
  operate(OpListen, 0, 32'd0, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  idle(200);
  i_env.wire_out.delete();
  put("A", pseq + 1, 32'd5);
  want("R", 32'd5, 32'd0);
  state(0, StSynRcvd);

  begin_test("active open");
  connect();
  put("SA", pseq, pack, 0, 1460);
  want("A", pack, pseq + 1);
  want_event(EvOpened, 0);
  state(0, StEstablished);
  check(i_env.hdr[0].dmac == i_env.arp_mac, "address of the next hop");
  check(i_env.rnxt[0] == pseq + 1, "RCV.NXT");

  begin_test("active open, through the gateway");
  operate(OpConnect, 2, 32'hc0a80105, Pport, Lport);
  idle(200);
  check(i_env.arp_last == 32'h0a0000fe, "gateway asked for");
  state(2, StSynSent);

  begin_test("next hop answers later");
  i_env.arp_known = 0;
  i_env.arp_queries = 0;
  operate(OpConnect, 0, Peer, Pport, Lport);
  ticks(5);
  check(i_env.arp_queries >= 4 && i_env.arp_queries <= 6, "one query a tick");
  silence();
  i_env.arp_known = 1;
  ticks(2);
  check(i_env.wire_out.size() == 1 && i_env.wire_out[0].flags == fl("S"), "SYN");

  begin_test("next hop never answers");
  i_env.arp_dead = 1;
  operate(OpConnect, 0, Peer, Pport, Lport);
  ticks(2);
  want_event(EvArpFailed, 0, int'(Peer));
  want_event(EvClosed, 0, int'(CloseNoRoute));
  state(0, StClosed);

  begin_test("active open refused");
  connect();
  put("RA", 32'd0, pack);
  want_event(EvClosed, 0, int'(CloseRefused));
  state(0, StClosed);
  check(!i_env.key_ok[0], "four-tuple forgotten");

  begin_test("SYN-SENT: bad segments");
  connect();
  put("RA", 32'd0, pack + 7);
  put("R", 32'd0, 32'd0);
  put("A", pseq, pack);
  silence();
  put("A", pseq, pack + 7);
  want("R", pack + 7, 32'd0);
  put("SA", pseq, pack + 9);
  want("R", pack + 9, 32'd0);
  state(0, StSynSent);
  no_event();

  begin_test("SYN is sent again and given up");
  connect();
  ticks(31);
  want("S", pack - 1, 32'd0);
  ticks(61);
  want("S", pack - 1, 32'd0);
  ticks(121);
  want("S", pack - 1, 32'd0);
  no_event();
  ticks(241);
  silence();
  want_event(EvClosed, 0, int'(CloseTimeout));
  state(0, StClosed);

  begin_test("simultaneous open");
  connect();
  put("S", pseq, 32'd0, 0, 1460);
  want("SA", pack - 1, pseq + 1);
  put("SA", pseq, pack, 0, 1460);
  want_event(EvOpened, 0);
  state(0, StEstablished);

  begin_test("simultaneous open, plain ACK");
  connect();
  put("S", pseq, 32'd0, 0, 1460);
  want("SA", pack - 1, pseq + 1);
  put("A", pseq + 1, pack);
  want_event(EvOpened, 0);

  begin_test("segments to nobody");
  put("A", 32'd500, 32'd777, 10);
  want("R", 32'd777, 32'd0);
  put("S", 32'd500, 32'd0);
  want("RA", 32'd0, 32'd501);
  put("FA", 32'd500, 32'd888);
  want("R", 32'd888, 32'd0);
  put("SA", 32'd500, 32'd999);
  want("R", 32'd999, 32'd0);
  put("R", 32'd500, 32'd0);
  silence();
  i_env.ticking = 0;
  for (int i = 0; i < 40; i++) begin
    put("A", 32'd500, 32'd777);
    idle(60);
  end
  check(i_env.wire_out.size() <= 16, "resets are limited");
  i_env.wire_out.delete();
  i_env.ticking = 1;
  i_env.cfg.rst_silent = 1'b1;
  ticks(2);
  put("A", 32'd500, 32'd777);
  silence();

  begin_test("only one peer allowed");
  operate(OpListen, 0, 32'h0a000099, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  want("RA", 32'd0, pseq + 1);
  operate(OpListen, 3, Peer, 16'd0, Lport);
  put("S", pseq, 32'd0, 0, 1460);
  idle(200);
  check(i_env.wire_out.size() == 1 && i_env.wire_out[0].sid == 3, "session 3 takes it");

  begin_test("two listen, three come");
  operate(OpListen, 0, 32'd0, 16'd0, Lport);
  operate(OpListen, 1, 32'd0, 16'd0, Lport);
  for (int i = 0; i < 3; i++) begin
    pport = Pport + port_t'(i);
    put("S", pseq, 32'd0, 0, 1460);
  end
  idle(400);
  check(i_env.wire_out.size() == 2, "two answers, the third is dropped");
  iss1 = i_env.wire_out[0].seq;
  iss2 = i_env.wire_out[1].seq;
  check(iss1 != iss2, "ISS differ");
  state(0, StSynRcvd);
  state(1, StSynRcvd);
endtask
