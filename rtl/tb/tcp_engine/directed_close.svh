// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Tests of closing a connection.

task automatic test_close();
  seq_t iss;

  begin_test("peer closes first");
  accept();
  put("FA", pseq, pack);
  want("A", pack, pseq + 1);
  want_event(EvPeerFin, 0);
  state(0, StCloseWait);
  i_env.message(0, 50);
  want("A", pack, pseq + 1, 50);
  put("A", pseq + 1, pack + 50);
  operate(OpClose, 0);
  want("FA", pack + 50, pseq + 1);
  state(0, StLastAck);
  put("A", pseq + 1, pack + 51);
  want_event(EvClosed, 0, int'(CloseDone));
  state(0, StListen);
  silence();

  begin_test("we close first, half-close, TIME-WAIT");
  accept();
  operate(OpClose, 0);
  want("FA", pack, pseq);
  state(0, StFinWait1);
  check(!i_env.open[0], "no more messages");
  put("A", pseq, pack + 1);
  idle(50);
  state(0, StFinWait2);
  put("A", pseq, pack + 1, 1000);
  ticks(6);
  want("A", pack + 1, pseq + 1000);
  put("FA", pseq + 1000, pack + 1);
  want("A", pack + 1, pseq + 1001);
  want_event(EvPeerFin, 0);
  state(0, StTimeWait);
  ticks(40);
  put("FA", pseq + 1000, pack + 1);
  want("A", pack + 1, pseq + 1001);
  ticks(40);
  state(0, StTimeWait);
  ticks(22);
  want_event(EvClosed, 0, int'(CloseDone));
  state(0, StListen);

  begin_test("FIN after the data");
  pwnd = 1000;
  accept();
  i_env.message(0, 1000);
  i_env.message(0, 500);
  want("A", pack, pseq, 1000, 1000);
  idle(50);  // the second message is in the ring
  operate(OpClose, 0);
  silence();
  put("A", pseq, pack + 1000);
  want("A", pack + 1000, pseq, 500);
  want("FA", pack + 1500, pseq);
  put("A", pseq, pack + 1501);
  idle(50);
  state(0, StFinWait2);

  begin_test("simultaneous close");
  accept();
  operate(OpClose, 0);
  want("FA", pack, pseq);
  put("FA", pseq, pack);
  want("A", pack + 1, pseq + 1);
  want_event(EvPeerFin, 0);
  state(0, StClosing);
  put("A", pseq + 1, pack + 1);
  idle(50);
  state(0, StTimeWait);
  ticks(62);
  want_event(EvClosed, 0, int'(CloseDone));

  begin_test("FIN with the ACK of ours");
  accept();
  operate(OpClose, 0);
  want("FA", pack, pseq);
  put("FA", pseq, pack + 1);
  want("A", pack + 1, pseq + 1);
  state(0, StTimeWait);

  begin_test("FIN lost");
  accept();
  operate(OpClose, 0);
  want("FA", pack, pseq);
  ticks(24);
  want("FA", pack, pseq, 0, 1500);
  ticks(42);
  want("FA", pack, pseq, 0, 1500);
  put("A", pseq, pack + 1);
  idle(50);
  state(0, StFinWait2);
  ticks(100);
  silence();

  begin_test("data and FIN lost");
  accept();
  i_env.message(0, 100);
  idle(20);
  operate(OpClose, 0);
  want("A", pack, pseq, 100);
  want("FA", pack + 100, pseq);
  ticks(24);
  want("A", pack, pseq, 100, 1500);
  put("A", pseq, pack + 100);
  want("FA", pack + 100, pseq, 0, 1500);
  put("A", pseq, pack + 101);
  idle(50);
  state(0, StFinWait2);

  begin_test("FIN waits for a window");
  pwnd = 0;
  accept();
  operate(OpClose, 0);
  ticks(25);
  want("A", pack - 1, pseq, 0, 2000);
  pwnd = 100;
  put("A", pseq, pack);
  want("FA", pack, pseq);

  begin_test("abort");
  accept();
  operate(OpAbort, 0);
  want("RA", pack, pseq);
  want_event(EvClosed, 0, int'(CloseAbort));
  idle(100);
  state(0, StClosed);
  check(!i_env.key_ok[0] && !i_env.open[0] && !i_env.ropen[0], "all closed");

  begin_test("reset in CLOSE-WAIT and FIN-WAIT-2");
  accept();
  put("FA", pseq, pack);
  want("A", pack, pseq + 1);
  want_event(EvPeerFin, 0);
  put("R", pseq + 1, 32'd0);
  want_event(EvClosed, 0, int'(CloseReset));
  state(0, StListen);

  begin_test("TIME-WAIT reused by a new SYN");
  accept();
  operate(OpClose, 0);
  want("FA", pack, pseq);
  put("FA", pseq, pack + 1);
  want("A", pack + 1, pseq + 1);
  want_event(EvPeerFin, 0);
  put("S", pseq - 10, 32'd0, 0, 1460);
  want("A", pack + 1, pseq + 1);
  put("S", pseq + 1000, 32'd0, 0, 1460);
  want_event(EvClosed, 0, int'(CloseDone));
  idle(100);
  iss = i_env.wire_out[0].seq;
  check(seq_lt(pack, iss), "ISS above the last connection");
  want("SA", iss, pseq + 1001);
  put("A", pseq + 1001, iss + 1);
  want_event(EvOpened, 0);
  i_env.message(0, 100);
  want("A", iss + 1, pseq + 1001, 100);

  begin_test("active session closes to CLOSED");
  connect(2);
  put("SA", pseq, pack, 0, 1460);
  want("A", pack, pseq + 1);
  want_event(EvOpened, 2);
  put("FA", pseq + 1, pack);
  want("A", pack, pseq + 2);
  want_event(EvPeerFin, 2);
  operate(OpClose, 2);
  want("FA", pack, pseq + 2);
  put("A", pseq + 2, pack + 1);
  want_event(EvClosed, 2, int'(CloseDone));
  state(2, StClosed);

  begin_test("stop listening");
  operate(OpListen, 0, 32'd0, 16'd0, Lport);
  operate(OpClose, 0);
  state(0, StClosed);
  put("S", pseq, 32'd0, 0, 1460);
  want("RA", 32'd0, pseq + 1);
endtask
