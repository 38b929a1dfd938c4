// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of the receiver and the transmitter; part of eng_env.

  task automatic deliver(segment_t s);
    seg_t g;
    bit ack_ok;
    g = '0;
    for (int i = 0; i < SessionCount; i++) begin
      if (key_ok[i] && key[i].sip == s.sip && key[i].sport == s.sport && key[i].dport == s.dport)
      begin
        if (g.hit) $fatal(1, "sessions %0d and %0d have the same four-tuple", g.sid, i);
        g.hit = 1'b1;
        g.sid = sid_t'(i);
      end
    end
    g.smac = 48'h02_00_00_00_00_bb;
    g.sip = s.sip;
    g.sport = s.sport;
    g.dport = s.dport;
    g.seq = s.seq;
    g.ack = s.ack;
    g.flags = s.flags;
    g.wnd = 16'(s.wnd);
    g.len = 16'(s.len);
    g.mss = 16'(s.mss);
    g.has_ws = s.ws >= 0;
    g.ws = s.ws >= 0 ? 4'(s.ws) : 4'd0;
    if (g.hit) begin
      g.gap = kept;
      g.rcv_nxt = rnxt[g.sid];
      ack_sid = g.sid;
      #1;
      ack_ok = seq_between(ack_lo, s.ack, nxt[g.sid]);
      g.taken = ropen[g.sid] && s.seq == rnxt[g.sid] && s.flags.ack && !s.flags.syn &&
          !s.flags.rst && ack_ok;
      if (g.taken) begin
        rnxt[g.sid] += s.len + int'(s.flags.fin);
        delivered[g.sid] += longint'(s.len);
        if (s.flags.fin) ropen[g.sid] = 0;
      end
    end
    seg = g;
    seg_valid = 1;
  endtask

  function automatic int frame_time();
    if (frame_cycles == 0) return 15 + now_tx.len / 4;
    frame_odd = !frame_odd;
    return frame_cycles + int'(gap_half && frame_odd);
  endfunction

  task automatic start_command();
    tx_cmd_t c;
    hdr_cmd_t h;
    c = tx_cmd;
    h = hdr[c.sid];
    now_tx.sid = int'(c.sid);
    now_tx.dmac = h.dmac;
    now_tx.dip = h.dip;
    now_tx.dport = h.dport;
    now_tx.sport = h.sport;
    now_tx.seq = c.seq_nxt ? nxt[c.sid] : c.seq;
    now_tx.ack = c.ack_rcv ? rnxt[c.sid] : c.ack;
    now_tx.flags = c.flags;
    now_tx.len = int'(c.len);
    now_tx.live = 0;
    now_tx.bad = 0;
    now_tx.ws = c.opt_ws;
    now_done = '{
        kind: TxCommand, sid: c.sid, seq: now_tx.seq, len: c.len, flags: c.flags,
        ack: now_tx.ack, bad_sum: 1'b0
    };
    if (c.len != 0) begin
      string wrong = "";
      if (int'(c.len) > int'(cfg.mss)) wrong = "longer than the MSS";
      if (seq_lt(wr[c.sid], now_tx.seq + 32'(c.len))) wrong = "beyond the end of the ring data";
      if (seq_lt(cons[c.sid], now_tx.seq + 32'(c.len)))
        wrong = "beyond consumed: the message may still leave live";
      if (seq_lt(nxt[c.sid], now_tx.seq)) wrong = "it leaves a gap after SND.NXT";
      if (wrong != "")
        $fatal(1, "%s: %0d bytes at %0d of session %0d; una %0d nxt %0d consumed %0d written %0d",
            wrong, c.len, now_tx.seq, c.sid, una[c.sid], nxt[c.sid], cons[c.sid], wr[c.sid]);
    end
    sending = 1;
  endtask

  task automatic start_message();
    int s, n;
    s = user_sid[0];
    n = user_len[0];
    if (!open[s]) return;
    if (int'(wr[s] - una[s]) + n > RingBytes) return;
    void'(user_sid.pop_front());
    void'(user_len.pop_front());
    if (live[s] && nxt[s] == cons[s] && n <= int'(mss[s]) &&
        !seq_lt(lim[s], nxt[s] + 32'(n))) begin
      now_tx.sid = s;
      now_tx.dmac = hdr[s].dmac;
      now_tx.dip = hdr[s].dip;
      now_tx.dport = hdr[s].dport;
      now_tx.sport = hdr[s].sport;
      now_tx.seq = nxt[s];
      now_tx.ack = rnxt[s];
      now_tx.flags = fl("A");
      now_tx.len = n;
      now_tx.live = 1;
      now_tx.bad = user_bad.pop_front();
      now_tx.ws = 0;
      now_done = '{
          kind: TxLive, sid: sid_t'(s), seq: nxt[s], len: 16'(n), flags: fl("A"),
          ack: rnxt[s], bad_sum: now_tx.bad
      };
      sending = 1;
    end else begin
      void'(user_bad.pop_front());
      dones.push_back('{
          kind: TxDeferred, sid: sid_t'(s), seq: wr[s], len: 16'(n), flags: '0, ack: '0,
          bad_sum: 1'b0
      });
      wr[s] += n;
      cons[s] += n;
    end
  endtask

  task automatic finish();
    seq_t stop;
    int s;
    s = now_tx.sid;
    if (now_tx.live) begin
      wr[s] += now_tx.len;
      cons[s] += now_tx.len;
    end
    stop = now_tx.seq + now_tx.len + int'(now_tx.flags.syn) + int'(now_tx.flags.fin);
    if (s < SessionCount && seq_lt(nxt[s], stop)) nxt[s] = stop;
    if (s < SessionCount && now_tx.flags.fin) begin
      cons[s] = stop;
      wr[s] = stop;
    end
    wire_out.push_back(now_tx);
    dones.push_back(now_done);
    sending = 0;
  endtask

  task automatic apply_snd(snd_cmd_t c);
    if (c.init) begin
      nxt[c.sid] = c.iss + 1;
      cons[c.sid] = c.iss + 1;
      wr[c.sid] = c.iss + 1;
    end else if (seq_lt(c.una, una[c.sid])) begin
      $fatal(1, "SND.UNA of session %0d goes back from %0d to %0d", c.sid, una[c.sid], c.una);
    end
    una[c.sid] = c.una;
    lim[c.sid] = c.lim;
    open[c.sid] = c.open;
    live[c.sid] = c.live;
    mss[c.sid] = c.mss;
    if (int'(c.lim - c.una) > max_window) max_window = int'(c.lim - c.una);
  endtask
