//! ARP (RFC 826) and ICMP echo (RFC 792) of the reference endpoint.

use super::session::State;
use super::{Reference, reason};
use crate::drill::endpoint::Frame;
use crate::drill::wire::{Arp, Echo, Lies, build_arp, build_echo};
use smoltcp::wire::{ArpOperation, ArpPacket, ArpRepr, Ipv4Packet};
use smoltcp::{phy::ChecksumCapabilities, wire::Icmpv4Packet, wire::Icmpv4Repr};
use std::collections::HashMap;
use std::net::Ipv4Addr;

/// The table, and what is asked for.
#[derive(Debug, Default)]
pub struct Net {
    table: HashMap<Ipv4Addr, [u8; 6]>,
    /// When our address was last defended.
    defended: Option<u64>,
}

/// DEFEND_INTERVAL of RFC 5227: 10 s with ticks of a millisecond.
const DEFEND_TICKS: u64 = 10_000;

impl Reference {
    pub(super) fn arp(&mut self, body: &[u8]) {
        let Ok(packet) = ArpPacket::new_checked(body) else { return };
        let Ok(ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: sha,
            source_protocol_addr: spa,
            target_protocol_addr: tpa,
            ..
        }) = ArpRepr::parse(&packet)
        else {
            return;
        };
        let sha = sha.0;
        if sha[0] & 1 == 0 {
            self.learn(spa, sha);
        }
        if spa == self.settings.ip && sha != self.settings.mac && self.build.arp_gratuitous {
            self.defend();
        }
        let asked = operation == ArpOperation::Request && tpa == self.settings.ip;
        if asked && spa != self.settings.ip && self.build.arp_server {
            self.send_arp(false, sha, sha, spa);
        }
    }

    /// Somebody else uses our address: it is announced, but not again at once (RFC 5227, 2.4 (c)).
    fn defend(&mut self) {
        if self.net.defended.is_none_or(|at| self.now - at >= DEFEND_TICKS) {
            self.net.defended = Some(self.now);
            self.send_arp(true, [0xff; 6], [0; 6], self.settings.ip);
        }
    }

    /// Known entries are renewed, entries asked for are made; nothing else is learnt.
    fn learn(&mut self, ip: Ipv4Addr, mac: [u8; 6]) {
        let waiting: Vec<usize> = (0..self.sessions.len())
            .filter(|id| {
                let s = &self.sessions[*id];
                s.state == State::Resolve && s.peer.map(|p| self.next_hop(p)) == Some(ip)
            })
            .collect();
        if waiting.is_empty() && !self.net.table.contains_key(&ip) {
            return;
        }
        self.net.table.insert(ip, mac);
        for id in 0..self.sessions.len() {
            if self.sessions[id].peer.map(|p| self.next_hop(p)) == Some(ip) {
                self.sessions[id].mac = mac;
            }
        }
        for id in waiting {
            self.send_syn(id);
        }
    }

    fn next_hop(&self, ip: Ipv4Addr) -> Ipv4Addr {
        let mask = u32::from(self.settings.mask);
        let local = (u32::from(ip) ^ u32::from(self.settings.ip)) & mask == 0;
        if local { ip } else { self.settings.gateway }
    }

    fn send_arp(&mut self, request: bool, dst_mac: [u8; 6], tha: [u8; 6], tpa: Ipv4Addr) {
        let c = &self.settings;
        let (mac, spa) = (c.mac, c.ip);
        let bytes = build_arp(&Arp {
            src_mac: mac,
            dst_mac,
            vlan: c.vlan,
            request,
            sha: mac,
            spa,
            tha,
            tpa,
        });
        self.out.push(Frame { bytes, poisoned: false });
    }

    /// Asks for the next hop of a session, or sends its SYN if that is known.
    pub(super) fn resolve(&mut self, id: usize) {
        let Some(peer) = self.sessions[id].peer else { return };
        let hop = self.next_hop(peer);
        if let Some(mac) = self.net.table.get(&hop) {
            self.sessions[id].mac = *mac;
            self.send_syn(id);
            return;
        }
        self.set_state(id, State::Resolve);
        self.ask(id);
    }

    /// One request more, or the end.
    pub(super) fn ask(&mut self, id: usize) {
        let Some(peer) = self.sessions[id].peer else { return };
        let hop = self.next_hop(peer);
        if self.sessions[id].arp_tries >= self.settings.arp_tries {
            self.event(10, id, u64::from(u32::from(hop)));
            self.close(id, reason::NO_ROUTE);
            return;
        }
        self.sessions[id].arp_tries += 1;
        self.sessions[id].arp_at = Some(self.now + u64::from(self.settings.arp_retry));
        self.send_arp(true, [0xff; 6], [0; 6], hop);
    }

    pub(super) fn net_tick(&mut self) {
        let period = u64::from(self.settings.arp_refresh);
        if self.build.arp_gratuitous && period != 0 && self.now.is_multiple_of(period) {
            let ip = self.settings.ip;
            self.send_arp(true, [0xff; 6], [0; 6], ip);
            let mut known: Vec<Ipv4Addr> = self.net.table.keys().copied().collect();
            known.sort_unstable();
            for ip in known {
                self.send_arp(true, [0xff; 6], [0; 6], ip);
            }
        }
    }

    pub(super) fn icmp(&mut self, src_mac: [u8; 6], ip: &Ipv4Packet<&[u8]>) {
        let Ok(p) = Icmpv4Packet::new_checked(ip.payload()) else { return };
        let caps = ChecksumCapabilities::default();
        let Ok(Icmpv4Repr::EchoRequest { ident, seq_no, data }) = Icmpv4Repr::parse(&p, &caps)
        else {
            return;
        };
        if !self.build.icmp_server {
            return;
        }
        let c = &self.settings;
        let reply = Echo {
            src_mac: c.mac,
            dst_mac: src_mac,
            vlan: c.vlan,
            src: c.ip,
            dst: ip.src_addr(),
            reply: true,
            ident,
            seq: seq_no,
            data: data.to_vec(),
        };
        let bytes = build_echo(&reply, &Lies::default());
        self.out.push(Frame { bytes, poisoned: false });
    }
}
