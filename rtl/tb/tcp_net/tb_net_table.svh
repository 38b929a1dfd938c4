// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Life of an ARP table entry; part of tb_net.

  task automatic ask(int unsigned v, ip_t ip, output arp_answer_t said, output int unsigned n);
    n = 0;
    query = {vif_t'(v), ip};
    query_valid = 1'b1;
    do begin
      cycles(1);
      n++;
      if (n > 4 * Entries + 40) $fatal(1, "no answer to a query");
    end while (!answer_valid);
    said = answer;
    query_valid = 1'b0;
    query = 35'({$urandom, $urandom});
    checks++;
    cycles(1);
    if (answer_valid) $fatal(1, "a second answer to a query");
  endtask

  /// Sends a query after a pause that lets the previous one finish, so the answer must come
  /// quickly.
  task automatic expect_answer(int unsigned v, ip_t ip, bit found, bit failed, mac_t expected,
                               string what);
    arp_answer_t said;
    int unsigned n;
    cycles(4 * Entries + 40);
    ask(v, ip, said, n);
    if (n > Entries + 5) $fatal(1, "%s: answered only after %0d cycles", what, n);
    if (said.found != found || said.failed != failed || (found && said.mac != expected)) begin
      $fatal(1, "%s: found %b failed %b mac %h, not %b %b %h", what, said.found, said.failed,
             said.mac, found, failed, expected);
    end
  endtask

  task automatic expect_update(ip_t ip, mac_t expected, int unsigned earlier, string what);
    cycles(100 + 8 * Entries);
    checks++;
    if (updates != earlier + 1) $fatal(1, "%s: %0d updates", what, updates - earlier);
    if (last_update.ip != ip || last_update.mac != expected)
      $fatal(1, "%s: update of %h", what, last_update);
  endtask

  /// Queries an address and answers the ARP request.
  task automatic resolve(int unsigned v, ip_t ip, mac_t peer);
    int unsigned earlier;
    expect_answer(v, ip, 1'b0, 1'b0, '0, "unknown");
    must(asking(v, All, ip), "first request");
    earlier = updates;
    line.push_back(arp(to(v, cfg.vif[v].mac, peer), 16'd2, peer, ip, cfg.vif[v].mac,
                       cfg.vif[v].ip));
    settle();
    expect_update(ip, peer, earlier, "resolved");
    expect_answer(v, ip, 1'b1, 1'b0, peer, "resolved");
  endtask

  task automatic table_cases();
    int unsigned v, earlier;
    ip_t ip, other;
    mac_t peer, moved;
    drain = 100;
    v = some_vif();
    ip = host();
    other = ip ^ 32'h0000_0100;
    peer = mac();
    moved = mac();
    clear_table();
    // Addresses that were not queried are not learnt.
    earlier = updates;
    line.push_back(arp(to(v, All, peer), 16'd1, peer, other, '0, other));
    line.push_back(arp(to(v, cfg.vif[v].mac, peer), 16'd2, peer, other, cfg.vif[v].mac,
                       cfg.vif[v].ip));
    silence("gratuitous ARP");
    // Resolve, change the MAC address, then refresh.
    resolve(v, ip, peer);
    line.push_back(arp(to(v, All, moved), 16'd1, moved, ip, '0, ip));
    settle();
    expect_update(ip, moved, earlier + 1, "moved");
    expect_answer(v, ip, 1'b1, 1'b0, moved, "moved");
    line.push_back(arp(to(v, All, moved), 16'd2, moved, ip, '0, ip));
    silence("the same again");
    if (updates != earlier + 2) $fatal(1, "update without a change");
    refresh_cases(v, ip, moved);
    // Without an answer: requests, failure, silence until the next query.
    expect_answer(v, other, 1'b0, 1'b0, '0, "unknown");
    earlier = events;
    must(asking(v, All, other), "first request");
    for (int unsigned i = 1; i < Tries; i++) begin
      ticks(Retry - 1);
      silence("between requests");
      ticks(2);
      must(asking(v, All, other), "another request");
    end
    expect_answer(v, other, 1'b0, 1'b0, '0, "not given up yet");
    ticks(Retry + 1);
    silence("given up");
    if (events != earlier + 1 || last_event.kind != EvArpFailed
        || last_event.data != {5'd0, vif_t'(v), other}) $fatal(1, "no EvArpFailed");
    ticks(3 * Retry);
    expect_answer(v, other, 1'b0, 1'b1, '0, "given up");
    ticks(Retry + 2);
    silence("nobody has asked");
    resolve(v, other, peer);
    crowd(v);
  endtask

  task automatic refresh_cases(int unsigned v, ip_t ip, mac_t peer);
    int unsigned earlier;
    cfg.arp_refresh = 32'(Refresh);
    // Let the entry take the new refresh time.
    line.push_back(arp(to(v, cfg.vif[v].mac, peer), 16'd2, peer, ip, cfg.vif[v].mac,
                       cfg.vif[v].ip));
    silence("confirmed");
    ticks(Refresh - 1);
    got_no_request("before the refresh");
    ticks(2);
    expect_request(asking(v, peer, ip), "refresh");
    earlier = updates;
    line.push_back(arp(to(v, cfg.vif[v].mac, peer), 16'd2, peer, ip, cfg.vif[v].mac,
                       cfg.vif[v].ip));
    settle();
    expect_answer(v, ip, 1'b1, 1'b0, peer, "refreshed");
    if (updates != earlier) $fatal(1, "update without a change");
    // Without an answer to the refresh: broadcast requests, then the entry is dropped.
    ticks(Refresh + 1);
    expect_request(asking(v, peer, ip), "refresh");
    for (int unsigned i = 1; i < Tries; i++) begin
      expect_answer(v, ip, 1'b1, 1'b0, peer, "asked for again");
      ticks(Retry);
      expect_request(asking(v, All, ip), "refresh to all");
    end
    ticks(Retry);
    cfg.arp_refresh = '0;
    cycles(200);
    got.delete();
    expect_answer(v, ip, 1'b0, 1'b0, '0, "forgotten");
    must(asking(v, All, ip), "asked for after it was forgotten");
    clear_table();
  endtask

  /// More addresses than entries: each can be resolved in turn.
  task automatic crowd(int unsigned v);
    clear_table();
    for (int unsigned i = 0; i < Entries + 3; i++) begin
      resolve(v, {8'd10, 8'd9, 16'(i)}, mac());
    end
    clear_table();
  endtask

  /// Disable and enable the core.
  task automatic clear_table();
    logic [31:0] refresh;
    settle();
    refresh = cfg.arp_refresh;
    cfg.arp_refresh = '0;
    cfg.enable = 1'b0;
    cycles(4 * Entries + 100);
    cfg.enable = 1'b1;
    cycles(400 + 40 * Vifs);
    got.delete();
    cfg.arp_refresh = refresh;
  endtask

  function automatic bit announces(Frame f);
    for (int unsigned v = 0; v < Vifs; v++) begin
      Frame a;
      a = announcement(v);
      if (f.b == a.b) return 1'b1;
    end
    return 1'b0;
  endfunction

  task automatic expect_request(Frame want, string what);
    Frame f;
    do next(f); while (announces(f));
    checks++;
    if (f.b != want.b) $fatal(1, "%s:\n got %s\nwant %s", what, f.text(), want.text());
  endtask

  task automatic got_no_request(string what);
    while (got.size() > 0) begin
      Frame f;
      f = got.pop_front();
      checks++;
      if (!announces(f)) $fatal(1, "%s: a frame came: %s", what, f.text());
    end
  endtask
