// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Directed tests of the protocol engine, one for each point of RFC 9293, 5961 or 6298.
module tb_engine_directed
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;
#(
  /// Name of the bench for spfe_tb_pkg.
  parameter string Name = "engine-directed"
);
  eng_env #(.SessionCount(4)) i_env ();

  localparam ip_t Peer = 32'h0a000002;
  localparam port_t Pport = 16'd40000;
  localparam port_t Lport = 16'd80;

  int errors = 0, checks = 0;
  string test = "";
  // State of the peer.
  seq_t pseq, pack;  // next to send, next expected from us
  int pwnd = 32768;
  port_t pport = Pport;

  // The compiler expands a task at every call, which takes long with hundreds of calls in one
  // process. So a single process carries out the requests of the tests.
  typedef enum int {
    AskNone,
    AskIdle,
    AskTicks,
    AskPut,
    AskWant,
    AskEvent,
    AskState,
    AskBegin,
    AskAccept,
    AskConnect,
    AskOperate
  } ask_e;

  ask_e ask = AskNone;
  string flags_arg;
  seq_t seq_arg, ack_arg;
  int len_arg, wait_arg, mss_arg, ws_arg, sid_arg;
  event_e kind_arg;
  state_e state_arg;
  op_cmd_t op_arg;
  string complaints[$];

  function automatic void fail(string what);
    complaints.push_back(what);
  endfunction

  function automatic void check(bit ok, string what);
    checks++;
    if (!ok) complaints.push_back(what);
  endfunction

  task automatic answer(ask_e what);
    ask = what;
    wait (ask == AskNone);
  endtask

  task automatic idle(int n);
    wait_arg = n;
    answer(AskIdle);
  endtask

  /// Waits for `n` ticks and for what they trigger.
  task automatic ticks(int n);
    wait_arg = n;
    answer(AskTicks);
  endtask

  /// Injects a segment of the peer.
  task automatic put(string flags, seq_t seq, seq_t ack, int len = 0, int mss = 0, int ws = -1);
    flags_arg = flags;
    seq_arg = seq;
    ack_arg = ack;
    len_arg = len;
    mss_arg = mss;
    ws_arg = ws;
    answer(AskPut);
  endtask

  /// Checks the fields of the next frame.
  task automatic want(string flags, seq_t seq, seq_t ack, int len = 0, int wait_cycles = 400);
    flags_arg = flags;
    seq_arg = seq;
    ack_arg = ack;
    len_arg = len;
    wait_arg = wait_cycles;
    answer(AskWant);
  endtask

  /// Checks that no frame is sent for `n` cycles.
  task automatic silence(int n = 300);
    flags_arg = "";
    wait_arg = n;
    answer(AskWant);
  endtask

  task automatic want_event(event_e kind, int sid, int data = -1);
    kind_arg = kind;
    sid_arg = sid;
    len_arg = data;
    answer(AskEvent);
  endtask

  task automatic no_event();
    check(i_env.events.size() == 0, "unexpected event");
    i_env.events.delete();
  endtask

  /// Checks the state of a session; i_env.view has the other fields.
  task automatic state(int sid, state_e s);
    sid_arg = sid;
    state_arg = s;
    answer(AskState);
  endtask

  task automatic operate(op_e op, int sid, ip_t ip = '0, port_t port = '0, port_t lport = '0);
    op_arg = '{op: op, sid: sid_t'(sid), vif: '0, ip: ip, port: port, lport: lport};
    answer(AskOperate);
  endtask

  task automatic begin_test(string name, seq_t isn = 32'd1000);
    test = name;
    seq_arg = isn;
    answer(AskBegin);
  endtask

  /// Opens session 0 passively.
  task automatic accept(int mss = 1460, int ws = -1);
    mss_arg = mss;
    ws_arg = ws;
    answer(AskAccept);
  endtask

  task automatic connect(int sid = 0);
    sid_arg = sid;
    answer(AskConnect);
  endtask

`include "directed_ask.svh"
`include "directed_open.svh"
`include "directed_data.svh"
`include "directed_close.svh"

  initial begin
    if (spfe_tb_pkg::chosen(Name)) begin
      i_env.run = 1;
      i_env.defaults();
      test_open();
      test_data();
      test_close();
      check(i_env.n_lost == 0, "the engine lost events");
      complain();
      if (errors != 0) $fatal(1, "%0d errors in %0d checks", errors, checks);
      spfe_tb_pkg::passed(Name, checks);
    end
  end
endmodule
