// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Rate test with the maximum number of sessions. Minimum-size frames on a 64-bit MAC take 10.5
/// cycles (84 bytes on the line). The engine must keep up with a data segment and a live message at
/// that rate, on one session, on two and on all in turn, even if its commands are not accepted at
/// once. On different sessions it must keep up with one of each every eight cycles.
module tb_engine_rate
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;
#(
  /// Name of the bench for spfe_tb_pkg.
  parameter string NAME = "engine-rate"
);
  localparam int Sessions = 256;
  localparam port_t Lport = 16'd80;
  localparam int Length = 100;

  eng_env #(.SessionCount(Sessions), .MemAddrBits(18)) env ();

  int checks = 0;
  seq_t pseq[Sessions];

  task automatic put(int i, string flags, int len);
    env.wire_in.push_back('{
        sip: 32'h0a000002 + 32'(i), sport: 16'd5000, dport: Lport, seq: pseq[i],
        ack: flags == "S" ? 32'd0 : env.nxt[i], flags: fl(flags), len: len, wnd: 60000,
        mss: flags == "S" ? 1460 : 0, ws: -1
    });
    pseq[i] += 32'(len) + (flags == "S" ? 1 : 0);
  endtask

  task automatic open_all();
    for (int i = 0; i < Sessions; i++) begin
      env.operate(OpListen, i, 32'h0a000002 + 32'(i), 16'd0, Lport);
      pseq[i] = 32'(i) * 32'h0101_0101 - 32'd3000;
      put(i, "S", 0);
      for (int k = 0; k < 2000 && env.wire_out.size() == 0; k++) @(posedge env.clk) #3;
      if (env.wire_out.size() == 0) $fatal(1, "%s: no SYN-ACK of %0d", NAME, i);
      env.wire_out.delete();
      put(i, "A", 0);
    end
    repeat (200) @(posedge env.clk);
  endtask

  /// Sends on sessions 0 to `last` in turn: one segment and one message every `halves` / 2 cycles.
  task automatic flood(int last, int segments, int halves, int stalls);
    int from = 0, user = 0, sent = 0, most = 0, cycles = 0, begin_rto = 0;
    longint had = 0, has = 0;
    begin_rto = env.n_rto;
    env.gap = halves / 2;
    env.gap_half = halves % 2 != 0;
    env.frame_cycles = halves / 2 - 1;
    env.stalls = stalls;
    env.wire_out.delete();
    for (int i = 0; i < Sessions; i++) had += env.delivered[i];
    while (sent < segments || env.wire_in.size() != 0) begin
      @(posedge env.clk);
      #3;
      cycles++;
      if (env.wire_in.size() == 0 && sent < segments) begin
        put(from, "A", Length);
        from = from == last ? 0 : from + 1;
        sent++;
      end
      if (env.user_sid.size() == 0) begin
        env.message(user, Length);
        user = user == last ? 0 : user + 1;
      end
      if (env.dones.size() > most) most = env.dones.size();
    end
    for (int k = 0; k < 100 && env.user_sid.size() != 0; k++) @(posedge env.clk) #3;
    for (int i = 0; i < Sessions; i++) has += env.delivered[i];
    $display("%0d sessions: %0d segments and %0d frames in %0d cycles, %0d tx_done wait", last + 1,
        segments, env.wire_out.size(), cycles, most);
    checks += 5;
    if (has - had != longint'(segments) * Length)
      $fatal(1, "%s: %0d bytes delivered of %0d segments", NAME, has - had, segments);
    if (2 * cycles > segments * halves + 400) $fatal(1, "%s: segments waited", NAME);
    if (env.wire_out.size() < 2 * cycles / (halves + 1)) $fatal(1, "%s: messages waited", NAME);
    if (most > 4) $fatal(1, "%s: %0d tx_done waited", NAME, most);
    if (env.n_rto != begin_rto) $fatal(1, "%s: timeouts", NAME);
  endtask

  initial begin
    if (spfe_tb_pkg::chosen(NAME)) begin
      env.run = 1;
      env.what = NAME;
      env.defaults();
      env.tick_cycles = 400;
      env.reset();
      open_all();
      flood(Sessions - 1, 1000, 16, 0);
      flood(0, 1000, 21, 0);
      flood(0, 1000, 21, 20);
      flood(1, 1000, 21, 20);
      flood(Sessions - 1, 1000, 21, 20);
      spfe_tb_pkg::passed(NAME, checks);
    end
  end
endmodule
