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
  parameter string Name = "engine-rate"
);
  localparam int Sessions = 256;
  localparam port_t Lport = 16'd80;
  localparam int Length = 100;

  eng_env #(.SessionCount(Sessions), .MemAddrBits(18)) i_env ();

  int checks = 0;
  seq_t pseq[Sessions];

  task automatic put(int i, string flags, int len);
    i_env.wire_in.push_back('{
        sip: 32'h0a000002 + 32'(i), sport: 16'd5000, dport: Lport, seq: pseq[i],
        ack: flags == "S" ? 32'd0 : i_env.nxt[i], flags: fl(flags), len: len, wnd: 60000,
        mss: flags == "S" ? 1460 : 0, ws: -1
    });
    pseq[i] += 32'(len) + (flags == "S" ? 1 : 0);
  endtask

  task automatic open_all();
    for (int i = 0; i < Sessions; i++) begin
      i_env.operate(OpListen, i, 32'h0a000002 + 32'(i), 16'd0, Lport);
      pseq[i] = 32'(i) * 32'h0101_0101 - 32'd3000;
      put(i, "S", 0);
      for (int k = 0; k < 2000 && i_env.wire_out.size() == 0; k++) @(posedge i_env.clk) #3;
      if (i_env.wire_out.size() == 0) $fatal(1, "%s: no SYN-ACK of %0d", Name, i);
      i_env.wire_out.delete();
      put(i, "A", 0);
    end
    repeat (200) @(posedge i_env.clk);
  endtask

  /// Sends on sessions 0 to `last` in turn: one segment and one message every `halves` / 2 cycles.
  task automatic flood(int last, int segments, int halves, int stalls);
    int from = 0, user = 0, sent = 0, most = 0, cycles = 0, begin_rto = 0;
    longint had = 0, has = 0;
    begin_rto = i_env.n_rto;
    i_env.gap = halves / 2;
    i_env.gap_half = halves % 2 != 0;
    i_env.frame_cycles = halves / 2 - 1;
    i_env.stalls = stalls;
    i_env.wire_out.delete();
    for (int i = 0; i < Sessions; i++) had += i_env.delivered[i];
    while (sent < segments || i_env.wire_in.size() != 0) begin
      @(posedge i_env.clk);
      #3;
      cycles++;
      if (i_env.wire_in.size() == 0 && sent < segments) begin
        put(from, "A", Length);
        from = from == last ? 0 : from + 1;
        sent++;
      end
      if (i_env.user_sid.size() == 0) begin
        i_env.message(user, Length);
        user = user == last ? 0 : user + 1;
      end
      if (i_env.dones.size() > most) most = i_env.dones.size();
    end
    for (int k = 0; k < 100 && i_env.user_sid.size() != 0; k++) @(posedge i_env.clk) #3;
    for (int i = 0; i < Sessions; i++) has += i_env.delivered[i];
    $display("%0d sessions: %0d segments and %0d frames in %0d cycles, %0d tx_done wait", last + 1,
        segments, i_env.wire_out.size(), cycles, most);
    checks += 5;
    if (has - had != longint'(segments) * Length)
      $fatal(1, "%s: %0d bytes delivered from %0d segments", Name, has - had, segments);
    if (2 * cycles > segments * halves + 400) $fatal(1, "%s: segments were delayed", Name);
    if (i_env.wire_out.size() < 2 * cycles / (halves + 1))
      $fatal(1, "%s: messages were delayed", Name);
    if (most > 4) $fatal(1, "%s: up to %0d reports waited, 4 are allowed", Name, most);
    if (i_env.n_rto != begin_rto) $fatal(1, "%s: timeouts occurred", Name);
  endtask

  initial begin
    if (spfe_tb_pkg::chosen(Name)) begin
      i_env.run = 1;
      i_env.what = Name;
      i_env.defaults();
      i_env.tick_cycles = 400;
      i_env.reset();
      open_all();
      flood(Sessions - 1, 1000, 16, 0);
      flood(0, 1000, 21, 0);
      flood(0, 1000, 21, 20);
      flood(1, 1000, 21, 20);
      flood(Sessions - 1, 1000, 21, 20);
      spfe_tb_pkg::passed(Name, checks);
    end
  end
endmodule
