// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Echo requests and replies; part of tb_net.

  function automatic void request(output ether_t e, output echo_t p, output ether_t re,
                                  output echo_t rp, input int unsigned len);
    int unsigned v;
    mac_t peer;
    v = some_vif();
    peer = mac();
    e = to(v, cfg.vif[v].mac, peer);
    p = {8'd8, 8'($urandom), 16'($urandom), chance(50) ? 16'h4000 : 16'h0,
         8'($urandom_range(255, 1)), host(), cfg.vif[v].ip, $urandom, $urandom, 16'(len)};
    re = from(v, peer);
    rp = p;
    rp.kind = 8'd0;
    rp.ttl = 8'd64;
    rp.sip = p.dip;
    rp.dip = p.sip;
  endfunction

  task automatic ping(int unsigned len);
    ether_t e, re;
    echo_t p, rp;
    request(e, p, re, rp, len);
    line.push_back(echo(e, p));
    must(echo(re, rp), "echo reply");
  endtask

  /// Requests of equal size at line rate are all answered in order. While no reply can leave, two
  /// requests are kept.
  task automatic pings();
    ether_t e, re;
    echo_t p, rp;
    Frame want[$];
    int unsigned len, bytes, dropped;
    settle();
    fill = 100;
    drain = 100;
    len = $urandom_range(chance(20) ? Mtu - 28 : 80);
    bytes = len + 46 < 60 ? 60 : len + 46;
    gap = 24 * 8 / Rx;
    if (Rx > Tx) gap += (bytes + 24) * 8 / Tx - bytes * 8 / Rx;
    repeat (20) begin
      request(e, p, re, rp, len);
      line.push_back(echo(e, p));
      want.push_back(echo(re, rp));
    end
    foreach (want[i]) must(want[i], $sformatf("reply %0d of 20", i));
    settle();
    dropped = counts[0];
    drain = 0;
    cycles(2);
    for (int unsigned i = 0; i < 4; i++) begin
      request(e, p, re, rp, len);
      line.push_back(echo(e, p));
      want[i] = echo(re, rp);
    end
    settle();
    drain = 100;
    for (int unsigned i = 0; i < 2; i++) must(want[i], $sformatf("reply %0d of 2", i));
    silence("the third and the fourth request");
    checks++;
    if (counts[0] != dropped + 2)
      $fatal(1, "%0d echo requests dropped, not 2", counts[0] - dropped);
  endtask

  /// Echo requests that must not be answered.
  task automatic bad_ping();
    ether_t e, re;
    echo_t p, rp;
    Frame f;
    int unsigned ip, which, dropped, bit_at;
    request(e, p, re, rp, $urandom_range(200));
    which = $urandom_range(7);
    if (which == 0) p.fragment = 16'h2000;
    if (which == 1) p.len = 16'(Mtu - 27);
    if (which == 6) p.sip = 32'hE000_0001;
    if (which == 7) e.smac[40] = 1'b1;
    f = echo(e, p);
    ip = start(e);
    bit_at = 8 * (ip + 22) + $urandom_range(8 * (32'(p.len) + 6) - 1);
    case (which)
      2: f.err = 1'b1;
      3: f.b[bit_at/8][bit_at%8] ^= 1'b1;  // ICMP message
      4: f.b[ip+4][3] ^= 1'b1;  // IP header
      5: begin  // truncated
        int unsigned whole;
        whole = ip + 28 + 32'(p.len);
        while (32'(f.b.size()) >= whole) void'(f.b.pop_back());
      end
      default: ;
    endcase
    settle();
    dropped = counts[0];
    line.push_back(f);
    silence($sformatf("echo of kind %0d", which));
    checks++;
    if (which == 5 && f.b.size() < 32'(ip) + 28) return;
    if (counts[0] != dropped + 1) $fatal(1, "dropped echo of kind %0d was not counted", which);
  endtask
