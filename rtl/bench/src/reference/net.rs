//! ARP (RFC 826) and ICMP echo (RFC 792) of the reference model.

use super::session::State;
use super::{Reference, reason};
use crate::drill::endpoint::Frame;
use crate::drill::wire::{Arp, Echo, Lies, build_arp, build_echo};
use smoltcp::wire::{ArpOperation, ArpPacket, ArpRepr, Ipv4Packet};
use smoltcp::{phy::ChecksumCapabilities, wire::Icmpv4Packet, wire::Icmpv4Repr};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Session number of events without a session.
const NO_SESSION: usize = 0xffff;

/// State of an entry of the ARP table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// A request was sent.
    Asking,
    /// The host has answered.
    Mac([u8; 6]),
    /// The host has answered, and a new request checks whether it still exists.
    Again([u8; 6]),
    /// The host does not answer. True if a session has learnt this.
    Failed(bool),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    known: Known,
    tries: u8,
    /// Number of ticks to wait for after the next one.
    timer: u32,
}

/// The ARP table.
#[derive(Debug, Default)]
pub struct Net {
    table: BTreeMap<Ipv4Addr, Entry>,
    /// Tick at which our address was last defended.
    defended: Option<u64>,
}

/// `DEFEND_INTERVAL` of RFC 5227: 10 s with ticks of a millisecond.
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
        if !matches!(operation, ArpOperation::Request | ArpOperation::Reply) {
            return;
        }
        let sha = sha.0;
        if sha[0] & 1 == 0 {
            self.learn(spa, sha);
            if spa == self.settings.ip && sha != self.settings.mac && self.build.arp_gratuitous {
                self.defend();
            }
        }
        let asked = operation == ArpOperation::Request && tpa == self.settings.ip;
        if asked && spa != self.settings.ip && self.build.arp_server {
            self.send_arp(false, sha, sha, spa);
        }
    }

    /// Announces our address if another host uses it, but not too often (RFC 5227, 2.4 (c)).
    fn defend(&mut self) {
        if self.net.defended.is_none_or(|at| self.now - at >= DEFEND_TICKS) {
            self.net.defended = Some(self.now);
            self.send_arp(true, [0xff; 6], [0; 6], self.settings.ip);
        }
    }

    /// Renews an entry of the table. Other addresses are not learnt.
    fn learn(&mut self, ip: Ipv4Addr, mac: [u8; 6]) {
        let timer = self.settings.arp_refresh;
        let Some(entry) = self.net.table.get_mut(&ip) else { return };
        entry.known = Known::Mac(mac);
        entry.timer = timer;
        for id in 0..self.sessions.len() {
            if self.sessions[id].peer.map(|p| self.next_hop(p)) == Some(ip) {
                self.sessions[id].mac = mac;
                self.resolve(id);
            }
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

    /// Resolves the next hop of a session that connects, from the table or by a request.
    pub(super) fn resolve(&mut self, id: usize) {
        let s = &self.sessions[id];
        let (State::Resolve, Some(peer)) = (s.state, s.peer) else { return };
        let hop = self.next_hop(peer);
        match self.net.table.get(&hop).map(|e| e.known) {
            Some(Known::Mac(mac) | Known::Again(mac)) => {
                if self.learns(id) {
                    self.session(id).mac = mac;
                    self.connect(id);
                }
            }
            Some(Known::Failed(_)) => {
                if self.learns(id) {
                    if let Some(entry) = self.net.table.get_mut(&hop) {
                        entry.known = Known::Failed(true);
                    }
                    self.event(10, id, u64::from(u32::from(hop)));
                    self.close(id, reason::NO_ROUTE);
                }
            }
            Some(Known::Asking) => {}
            None => {
                let timer = self.settings.arp_retry.into();
                self.net.table.insert(hop, Entry { known: Known::Asking, tries: 1, timer });
                self.send_arp(true, [0xff; 6], [0; 6], hop);
            }
        }
    }

    fn connect(&mut self, id: usize) {
        self.begin(id);
        self.set_state(id, State::SynSent);
        self.send_syn(id);
    }

    pub(super) fn net_tick(&mut self) {
        let period = u64::from(self.settings.arp_refresh);
        if self.build.arp_gratuitous && period != 0 && self.now.is_multiple_of(period) {
            let ip = self.settings.ip;
            self.send_arp(true, [0xff; 6], [0; 6], ip);
        }
        let (retry, most) = (u32::from(self.settings.arp_retry), self.settings.arp_tries);
        let refresh = self.build.arp_gratuitous && period != 0;
        let (mut ask, mut failed) = (Vec::new(), Vec::new());
        self.net.table.retain(|ip, e| {
            let rests = match e.known {
                Known::Failed(told) => !told,
                Known::Mac(_) => !refresh,
                _ => false,
            };
            if rests {
                return true;
            }
            if e.timer != 0 {
                e.timer -= 1;
                return true;
            }
            let to = match e.known {
                Known::Failed(_) => return false,
                // First ask only the known owner (RFC 1122, 2.3.2.1).
                Known::Mac(mac) => {
                    e.tries = 0;
                    e.known = Known::Again(mac);
                    mac
                }
                Known::Again(_) if e.tries >= most => return false,
                Known::Asking if e.tries >= most => {
                    e.known = Known::Failed(false);
                    e.timer = retry;
                    failed.push(*ip);
                    return true;
                }
                _ => [0xff; 6],
            };
            e.tries += 1;
            e.timer = retry.saturating_sub(1);
            ask.push((*ip, to));
            true
        });
        for (ip, to) in ask {
            self.send_arp(true, to, [0; 6], ip);
        }
        for ip in failed {
            self.event(10, NO_SESSION, u64::from(u32::from(ip)));
        }
        for id in 0..self.sessions.len() {
            self.resolve(id);
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
