// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Announcements, replies and conflicts of ARP; part of tb_net.

  task automatic announce();
    cycles(20);
    cfg.enable = 1'b1;
    for (int unsigned v = 0; v < Vifs; v++) must(announcement(v), "announcement at the start");
    ticks(Refresh - 1);
    silence("before the refresh");
    ticks(1);
    for (int unsigned v = 0; v < Vifs; v++) must(announcement(v), "announcement at the refresh");
  endtask

  task automatic serve();
    int unsigned v;
    mac_t peer;
    ip_t ip;
    Frame f;
    v = some_vif();
    peer = mac();
    ip = chance(30) ? '0 : host();
    f = arp(to(v, chance(50) ? All : cfg.vif[v].mac, peer), 16'd1, peer, ip,
            chance(50) ? '0 : All, cfg.vif[v].ip);
    if (chance(30)) while (f.b.size() > (cfg.vif[v].vlan ? 46 : 42)) void'(f.b.pop_back());
    line.push_back(f);
    must(arp(from(v, peer), 16'd2, cfg.vif[v].mac, cfg.vif[v].ip, peer, ip), "ARP reply");
  endtask

  /// ARP packets that must not be answered.
  task automatic ignore();
    int unsigned v, offset, which;
    mac_t peer;
    Frame f;
    v = some_vif();
    peer = mac();
    f = arp(to(v, All, peer), 16'd1, peer, host(), '0, cfg.vif[v].ip);
    offset = cfg.vif[v].vlan ? 18 : 14;
    which = $urandom_range(9);
    case (which)
      0: f.err = 1'b1;
      1: f.b[offset+1] ^= 8'h10;  // hardware type
      2: f.b[offset+2] ^= 8'h10;  // protocol type
      3: f.b[offset+4] ^= 8'h01;  // length of a hardware address
      4: f.b[offset+5] ^= 8'h01;
      5: f.b[offset+7] = 8'd2;  // not a request
      6: f.b[offset+27] ^= 8'h80;  // target is another host
      7: f.b[0] = 8'h02;  // frame for another host
      8: while (32'(f.b.size()) >= offset + 28 || chance(80)) begin
        void'(f.b.pop_back());
        if (f.b.size() == 1) break;
      end
      default: f.b[offset+8] |= 8'h01;  // sender is a group address
    endcase
    line.push_back(f);
    silence($sformatf("ARP of kind %0d", which));
  endtask

  task automatic wrong_tag();
    mac_t peer;
    ether_t e;
    peer = mac();
    e = to(0, All, peer);
    e.vlan = !e.vlan;
    e.tag = 16'd77;
    line.push_back(arp(e, 16'd1, peer, host(), '0, cfg.vif[0].ip));
    e = to(Vifs - 1, All, peer);
    e.tag[11:0] ^= 12'h800;
    if (e.vlan) line.push_back(arp(e, 16'd1, peer, host(), '0, cfg.vif[Vifs-1].ip));
    silence("ARP with another tag");
  endtask

  /// A conflict over our address is answered with an announcement, once per interval.
  task automatic defend();
    Frame f;
    int unsigned v;
    mac_t peer;
    pace();
    v = some_vif();
    peer = mac();
    // The other host announces our address, or uses it in a request or reply. No other interface
    // has it.
    f = arp(to(v, All, peer), chance(50) ? 16'd1 : 16'd2, peer, cfg.vif[v].ip, '0, host());
    line.push_back(f);
    must(announcement(v), "defence");
    line.push_back(f);
    silence("a second conflict");
    ticks(Defend - 1);
    line.push_back(f);
    silence("a conflict before the interval is over");
    ticks(1);
    line.push_back(f);
    must(announcement(v), "defence after the interval");
    // Our own announcement, received again, is not a conflict.
    ticks(Defend);
    line.push_back(announcement(v));
    silence("our own announcement");
    // An announcement of another host must not be answered as a request.
    line.push_back(arp(to(v, All, peer), 16'd1, peer, cfg.vif[v].ip, '0, cfg.vif[v].ip));
    must(announcement(v), "defence against an announcement");
    silence("behind it");
    ticks(Defend);
  endtask
