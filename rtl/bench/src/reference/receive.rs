//! Checks received frames and finds the session of a segment.

use super::Reference;
use super::session::State;
use crate::drill::endpoint::Delivery;
use crate::drill::wire::{self, Segment};
use smoltcp::wire::{EthernetFrame, IpAddress, IpProtocol, Ipv4Packet, TcpPacket};

impl Reference {
    pub(super) fn receive(&mut self, frame: &[u8], bad_fcs: bool) {
        let Some((kind, src_mac, dst_mac, body)) = self.ethernet(frame) else { return };
        let ours = dst_mac == self.settings.mac;
        match kind {
            0x0806 if !bad_fcs && (ours || dst_mac == [0xff; 6]) => self.arp(body),
            0x0800 if ours => self.ipv4(src_mac, body, bad_fcs),
            _ => {}
        }
    }

    /// Addresses, EtherType and content, if the VLAN tag is that of the interface.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn ethernet<'a>(&self, frame: &'a [u8]) -> Option<(u16, [u8; 6], [u8; 6], &'a [u8])> {
        let eth = EthernetFrame::new_checked(frame).ok()?;
        let (src, dst) = (eth.src_addr().0, eth.dst_addr().0);
        let kind = u16::from(eth.ethertype());
        let body = frame.get(14..)?;
        match (kind, self.settings.vlan, body) {
            (0x8100, Some(tci), [a, b, c, d, rest @ ..])
                if (u16::from_be_bytes([*a, *b]) ^ tci) & 0xfff == 0 =>
            {
                Some((u16::from_be_bytes([*c, *d]), src, dst, rest))
            }
            (0x8100, ..) | (_, Some(_), _) => None,
            (_, None, body) => Some((kind, src, dst, body)),
        }
    }

    fn ipv4(&mut self, src_mac: [u8; 6], body: &[u8], bad_fcs: bool) {
        let Ok(ip) = Ipv4Packet::new_checked(body) else { return };
        let whole = ip.version() == 4
            && ip.header_len() == 20
            && !ip.more_frags()
            && ip.frag_offset() == 0
            && ip.total_len() <= self.build.mtu;
        if !whole || ip.dst_addr() != self.settings.ip {
            return;
        }
        let sum_ok = ip.verify_checksum();
        match ip.next_header() {
            // The core answers an echo from a stored frame, so it always knows the checksums.
            IpProtocol::Icmp if sum_ok && !bad_fcs => self.icmp(src_mac, &ip),
            IpProtocol::Tcp => self.tcp(src_mac, &ip, sum_ok, bad_fcs),
            _ => {}
        }
    }

    fn tcp(&mut self, src_mac: [u8; 6], ip: &Ipv4Packet<&[u8]>, ip_ok: bool, bad_fcs: bool) {
        let Ok(p) = TcpPacket::new_checked(ip.payload()) else { return };
        let (src, dst) = (IpAddress::Ipv4(ip.src_addr()), IpAddress::Ipv4(ip.dst_addr()));
        let sums = !self.build.rx_checksum || ip_ok && p.verify_checksum(&src, &dst);
        let bits = [p.fin(), p.syn(), p.rst(), p.psh(), p.ack(), p.urg()];
        let flags = bits.iter().enumerate().fold(0, |all, (i, set)| all | u8::from(*set) << i);
        let seg = Segment {
            src_mac,
            dst_mac: self.settings.mac,
            vlan: None,
            src: ip.src_addr(),
            dst: ip.dst_addr(),
            ttl: ip.hop_limit(),
            id: ip.ident(),
            sport: p.src_port(),
            dport: p.dst_port(),
            seq: p.seq_number().0 as u32,
            ack: p.ack_number().0 as u32,
            flags,
            window: p.window_len(),
            urgent: p.urgent_at(),
            df: ip.dont_frag(),
            options: p.options().to_vec(),
            payload: p.payload().to_vec(),
        };
        if !bad_fcs && sums {
            self.segment(&seg);
        } else if let Some(id) = self.lookup(&seg) {
            self.event(9, id, 0);
            // A cut-through core has delivered the payload already, and now marks it as invalid.
            let s = &self.sessions[id];
            let shown = !self.build.rx_checksum && s.receiving() && seg.seq == s.rcv_nxt;
            if shown && !seg.payload.is_empty() && flags & (wire::SYN | wire::RST) == 0 {
                let session = id as u16;
                self.delivered.push(Delivery {
                    session,
                    bytes: seg.payload,
                    err: true,
                    ahead: None,
                });
            }
        }
    }

    /// Finds the session of a four-tuple.
    pub(super) fn lookup(&self, seg: &Segment) -> Option<usize> {
        self.sessions.iter().position(|s| {
            s.matches()
                && s.peer == Some(seg.src)
                && s.peer_port == seg.sport
                && s.port == seg.dport
        })
    }

    /// Finds a session that listens for this segment.
    pub(super) fn listener(&self, seg: &Segment) -> Option<usize> {
        self.sessions.iter().position(|s| {
            s.state == State::Listen
                && s.port == seg.dport
                && s.from.is_none_or(|from| from == seg.src)
        })
    }
}
