// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The engine connected to behavioural models of receiver, transmitter and address resolution, as
/// docs/tcp-core.md describes them. Tests inject segments and messages and read frames and events.
module eng_env
  import spfe_tcp_pkg::*;
  import eng_env_pkg::*;
#(
  /// Number of sessions.
  parameter int unsigned SessionCount = 4,
  /// log2 of the number of 16-byte words in the ring memory, over all sessions.
  parameter int unsigned MemAddrBits = 12,
  /// Passed to the engine.
  parameter bit CongestionControl = 1'b0,
  /// Passed to the engine.
  parameter bit StatusEvents = 1'b0,
  /// Passed to the engine.
  parameter bit CreditEvents = 1'b0,
  /// Passed to the engine.
  parameter bit InstantAck = 1'b0
);
  localparam int Slots = 2 ** SidBits;
  localparam int RingBytes = (1 << (MemAddrBits + 4)) >> $clog2(SessionCount);

  bit run = 0;  // 1: the clock runs
  string what = "";  // name of the current test, for messages
  int limit = 4_000_000;  // cycles after which the bench fails as stuck
  logic clk, rst = 1, tick = 0;
  tcp_cfg_t cfg;
  seg_t seg;
  logic seg_valid = 0;
  rcv_cmd_t rcv_cmd;
  logic rcv_cmd_valid, rcv_cmd_ready = 0;
  sid_t rcv_sid, snd_sid, ack_sid = '0;
  seq_t rcv_rd, ack_lo, snd_nxt, snd_consumed, snd_written;
  key_cmd_t key_cmd;
  logic key_cmd_valid;
  hdr_cmd_t hdr_cmd;
  logic hdr_cmd_valid, hdr_cmd_ready = 0;
  snd_cmd_t snd_cmd;
  logic snd_cmd_valid, snd_cmd_ready = 0;
  tx_cmd_t tx_cmd;
  logic tx_cmd_valid, tx_cmd_ready = 0;
  wnd_open_t tell = '0;
  logic tell_ready;
  tx_done_t tx_done;
  logic tx_done_valid = 0, tx_done_ready;
  arp_query_t arp_query;
  logic arp_query_valid;
  arp_answer_t arp_answer = '0;
  logic arp_answer_valid = 0;
  arp_update_t arp_update = '0;
  logic arp_update_valid = 0, arp_update_ready;
  op_cmd_t op_cmd = '0;
  logic op_valid = 0, op_ready;
  sid_t view_sid = '0;
  logic view_req = 0, view_valid;
  view_t view;
  event_t ev;
  logic ev_valid, ev_ready = 0;
  eng_count_t count;

  spfe_tcp_engine #(
    .SessionCount(SessionCount),
    .VifCount(2),
    .MemAddrBits(MemAddrBits),
    .CongestionControl(CongestionControl),
    .StatusEvents(StatusEvents),
    .CreditEvents(CreditEvents),
    .InstantAck(InstantAck)
  ) i_dut (
    .clk_i(clk),
    .rst_i(rst),
    .tick_i(tick),
    .cfg_i(cfg),
    .seg_i(seg),
    .seg_valid_i(seg_valid),
    .rcv_cmd_o(rcv_cmd),
    .rcv_cmd_valid_o(rcv_cmd_valid),
    .rcv_cmd_ready_i(rcv_cmd_ready),
    .rcv_sid_o(rcv_sid),
    .rcv_nxt_i(rcv_rd),
    .key_cmd_o(key_cmd),
    .key_cmd_valid_o(key_cmd_valid),
    .ack_sid_i(ack_sid),
    .ack_lo_o(ack_lo),
    .hdr_cmd_o(hdr_cmd),
    .hdr_cmd_valid_o(hdr_cmd_valid),
    .hdr_cmd_ready_i(hdr_cmd_ready),
    .snd_cmd_o(snd_cmd),
    .snd_cmd_valid_o(snd_cmd_valid),
    .snd_cmd_ready_i(snd_cmd_ready),
    .tx_cmd_o(tx_cmd),
    .tx_cmd_valid_o(tx_cmd_valid),
    .tx_cmd_ready_i(tx_cmd_ready),
    .wnd_open_i(tell),
    .wnd_open_ready_o(tell_ready),
    .tx_done_i(tx_done),
    .tx_done_valid_i(tx_done_valid),
    .tx_done_ready_o(tx_done_ready),
    .snd_sid_o(snd_sid),
    .snd_ptr_i('{nxt: snd_nxt, consumed: snd_consumed, written: snd_written}),
    .arp_query_o(arp_query),
    .arp_query_valid_o(arp_query_valid),
    .arp_answer_i(arp_answer),
    .arp_answer_valid_i(arp_answer_valid),
    .arp_update_i(arp_update),
    .arp_update_valid_i(arp_update_valid),
    .arp_update_ready_o(arp_update_ready),
    .op_i(op_cmd),
    .op_valid_i(op_valid),
    .op_ready_o(op_ready),
    .view_sid_i(view_sid),
    .view_req_i(view_req),
    .view_o(view),
    .view_valid_o(view_valid),
    .event_o(ev),
    .event_valid_o(ev_valid),
    .event_ready_i(ev_ready),
    .count_o(count)
  );

  // ---- state of the models
  // Transmitter; header entry SessionCount serves segments without a session.
  seq_t nxt[Slots], cons[Slots], wr[Slots], una[Slots];
  seq_t lim[Slots];
  bit open[Slots], live[Slots];
  logic [15:0] mss[Slots];
  hdr_cmd_t hdr[Slots];
  // Receiver.
  bit key_ok[Slots];
  key_cmd_t key[Slots];
  seq_t rnxt[Slots];
  bit ropen[Slots];
  longint delivered[Slots];

  frame_t wire_out[$];
  segment_t wire_in[$];
  int user_sid[$], user_len[$];
  bit user_bad[$];
  tx_done_t dones[$];
  event_t events[$];

  // Frame that the transmitter is sending.
  bit sending = 0;
  frame_t now_tx;
  tx_done_t now_done;
  int left = 0;

  bit kept = 0;  // 1: the receiver reports out-of-order payload as kept
  int gap = 8;  // minimum cycles between segments
  bit gap_half = 0;  // adds half a cycle to gap, and to frame_cycles if that is set
  bit gap_odd = 0, frame_odd = 0;
  int seg_gap = 0, ticks = 0, cycles = 0, stalls = 25, tick_cycles = 64, frame_cycles = 0;
  bit ticking = 1;
  bit arp_known = 1;
  bit arp_dead = 0;
  mac_t arp_mac = 48'h02_00_00_00_00_aa;
  int arp_wait = 0, arp_queries = 0;
  ip_t arp_last;
  int n_rto = 0, n_fast = 0, n_probe = 0, n_rst = 0, n_chal = 0, n_syn_drop = 0, n_lost = 0;
  int max_window = 0;

  assign rcv_rd = int'(rcv_sid) < SessionCount ? rnxt[rcv_sid] : '0;
  assign snd_nxt = int'(snd_sid) < SessionCount ? nxt[snd_sid] : '0;
  assign snd_consumed = int'(snd_sid) < SessionCount ? cons[snd_sid] : '0;
  assign snd_written = int'(snd_sid) < SessionCount ? wr[snd_sid] : '0;

  function automatic bit chance(int percent);
    return $urandom_range(99) < percent;
  endfunction

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

`include "eng_env_models.svh"

  // All models run in one process. A transfer seen before the rising edge is applied after it.
  initial forever begin
    bit tell_fire, rcv_fire, hdr_fire, snd_fire, tx_fire, done_fire, op_fire, upd_fire;
    @(posedge clk);
    rcv_fire = rcv_cmd_valid && rcv_cmd_ready;
    hdr_fire = hdr_cmd_valid && hdr_cmd_ready;
    snd_fire = snd_cmd_valid && snd_cmd_ready;
    tx_fire = tx_cmd_valid && tx_cmd_ready;
    done_fire = tx_done_valid && tx_done_ready;
    op_fire = op_valid && op_ready;
    tell_fire = tell.valid && tell_ready;
    upd_fire = arp_update_valid && arp_update_ready;
    if (!rst) begin
      if (rcv_fire) begin
        if (rcv_cmd.set) rnxt[rcv_cmd.sid] = rcv_cmd.nxt;
        ropen[rcv_cmd.sid] = rcv_cmd.open;
      end
      if (key_cmd_valid) begin
        key_ok[key_cmd.sid] = key_cmd.valid;
        key[key_cmd.sid] = key_cmd;
      end
      if (hdr_fire) hdr[hdr_cmd.sid] = hdr_cmd;
      if (snd_fire) apply_snd(snd_cmd);
      if (ev_valid && ev_ready) events.push_back(ev);
      n_rto += int'(count.rto);
      n_fast += int'(count.fast_rexmit);
      n_probe += int'(count.probe);
      n_rst += int'(count.rst_sent);
      n_chal += int'(count.challenge);
      n_syn_drop += int'(count.syn_drop);
      n_lost += int'(count.lost_event);
    end
    if (tx_fire) start_command();
    #1;
    cycles++;
    if (cycles == limit) $fatal(1, "%s: not finished after %0d cycles", what, cycles);
    if (op_fire) op_valid = 0;
    if (tell_fire) tell.valid = 0;
    if (upd_fire) arp_update_valid = 0;
    if (done_fire) begin
      void'(dones.pop_front());
      tx_done_valid = 0;
    end
    if (tx_fire) left = frame_time();
    if (sending && !tx_fire) begin
      if (left == 0) finish();
      else left--;
    end
    tx_cmd_ready = 0;
    if (!sending) begin
      if (user_sid.size() != 0) start_message();
      if (sending) left = frame_time();
      else tx_cmd_ready = !chance(stalls);
    end
    if (dones.size() != 0 && !tx_done_valid) begin
      tx_done = dones[0];
      tx_done_valid = 1;
    end
    rcv_cmd_ready = !chance(stalls);
    hdr_cmd_ready = !chance(stalls);
    snd_cmd_ready = !chance(stalls);
    ev_ready = !chance(stalls);
    seg_valid = 0;
    if (seg_gap != 0) seg_gap--;
    if (wire_in.size() != 0 && seg_gap == 0 && !rst) begin
      deliver(wire_in.pop_front());
      seg_gap = gap + int'(gap_half && gap_odd);
      gap_odd = !gap_odd;
    end
    tick = ticking && cycles % tick_cycles == 0;
    if (tick) ticks++;
    // Address resolution.
    arp_answer_valid = 0;
    if (arp_query_valid) begin
      if (arp_wait == 5) begin
        arp_answer_valid = 1;
        arp_answer = '{found: arp_known && !arp_dead, failed: arp_dead, mac: arp_mac};
        arp_last = arp_query.ip;
        arp_queries++;
        arp_wait = 0;
      end else begin
        arp_wait++;
      end
    end
  end

  // ---- tasks for the tests
  task automatic reset();
    rst = 1;
    for (int i = 0; i <= SessionCount; i++) begin
      nxt[i] = '0;
      cons[i] = '0;
      wr[i] = '0;
      una[i] = '0;
      lim[i] = '0;
      open[i] = 0;
      live[i] = 0;
      mss[i] = '0;
    end
    for (int i = 0; i < SessionCount; i++) begin
      key_ok[i] = 0;
      ropen[i] = 0;
      rnxt[i] = '0;
      delivered[i] = 0;
    end
    repeat (4) @(posedge clk);
    #2 rst = 0;
    repeat (2 * SessionCount) @(posedge clk);
  endtask

  task automatic operate(op_e op, int sid, ip_t ip, port_t port, port_t lport);
    while (op_valid) @(posedge clk) #2;
    op_cmd = '{op: op, sid: sid_t'(sid), vif: '0, ip: ip, port: port, lport: lport};
    op_valid = 1;
    while (op_valid) @(posedge clk) #2;
  endtask

  task automatic message(int sid, int len, bit bad = 0);
    user_sid.push_back(sid);
    user_len.push_back(len);
    user_bad.push_back(bad);
  endtask

  task automatic tells(int sid);
    @(posedge clk) #2;
    tell = '{valid: 1'b1, sid: sid_t'(sid)};
    while (tell.valid) @(posedge clk) #2;
  endtask

  task automatic look(int sid);
    @(posedge clk) #2;
    view_sid = sid_t'(sid);
    view_req = 1;
    @(posedge clk) #2;
    view_req = 0;
    for (int i = 0; i < 10000 && !view_valid; i++) @(posedge clk) #2;
    if (!view_valid) $fatal(1, "session %0d: no view after 10000 cycles", sid);
  endtask

  task automatic defaults();
    cfg = '0;
    cfg.enable = 1'b1;
    cfg.vif[0] = '{
        enable: 1'b1, mac: 48'h02_00_00_00_00_01, vlan: 1'b0, tag: 16'd0, ip: 32'h0a000001,
        mask: 32'hffffff00, gateway: 32'h0a0000fe
    };
    cfg.rcv_wnd = 32'd65535;
    cfg.mss = 16'd1460;
    cfg.iss_key = 128'h5eed1234_00112233_44556677_8899aabb;
    cfg.rto_min = 16'd20;
    cfg.rto_max = 16'd400;
    cfg.rto_init = 16'd30;
    cfg.syn_tries = 8'd4;
    cfg.data_tries = 8'd6;
    cfg.delack = 16'd4;
    cfg.time_wait = 16'd60;
    cfg.persist_max = 16'd100;
  endtask
endmodule
