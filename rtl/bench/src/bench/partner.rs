//! The peer of the measured sessions, which only acts on request.
//!
//! It opens sessions by a normal handshake.

use std::net::Ipv4Addr;

use crate::drill::endpoint::{Op, Settings};
use crate::drill::wire::{self, ACK, Arp, Echo, Lies, PSH, Packet, SYN, Segment};
use crate::event::Kind;
use crate::mac::{RxFrame, TxFrame};
use crate::station::Station;

/// Maximum number of clocks of a handshake.
const OPEN_CLOCKS: u64 = 20_000;
/// Port of the core's session 0.
const CORE_PORT: u16 = 5000;
/// Port of the peer's end of session 0.
const PEER_PORT: u16 = 40_000;

/// The peer's state of a session.
#[derive(Clone, Copy, Debug)]
struct PeerSession {
    /// Next sequence number of the peer.
    snd: u32,
    /// Next sequence number expected from the core.
    rcv: u32,
    /// End of the window that the core has offered.
    edge: u32,
}

impl PeerSession {
    /// Notes what a segment offers. An offer never gets smaller.
    fn note(&mut self, segment: &Segment) {
        let edge = segment.ack.wrapping_add(segment.window.into());
        if edge.wrapping_sub(self.edge) as i32 > 0 {
            self.edge = edge;
        }
    }
}

/// A checked segment with payload from the core.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Session of the segment.
    pub sid: u16,
    /// The segment.
    pub segment: Segment,
    /// The frame with the segment.
    pub frame: TxFrame,
}

/// The peer of all sessions.
#[derive(Debug)]
pub struct Partner {
    mac: [u8; 6],
    ip: Ipv4Addr,
    core: Settings,
    mss: u16,
    /// TCP options of segments with payload.
    pub options: Vec<u8>,
    sessions: Vec<PeerSession>,
}

impl Partner {
    /// Sets up the core and opens `count` sessions, on which the core listens.
    ///
    /// # Errors
    /// A session does not open.
    pub fn open(station: &mut Station, core: &Settings, count: u16) -> Result<Self, String> {
        station.configure(core);
        let mut partner = Self {
            mac: [2, 0, 0, 0, 0, 2],
            ip: Ipv4Addr::from(u32::from(core.ip) ^ 3),
            core: core.clone(),
            mss: core.mss,
            options: Vec::new(),
            sessions: Vec::new(),
        };
        for sid in 0..count {
            station.operate(sid, Op::Listen { port: CORE_PORT + sid, from: None });
            let snd = 0x1000_0000 + (u32::from(sid) << 16);
            partner.sessions.push(PeerSession { snd, rcv: 0, edge: snd });
            partner.handshake(station, sid)?;
        }
        partner.settle(station, 500)?;
        Ok(partner)
    }

    fn handshake(&mut self, station: &mut Station, sid: u16) -> Result<(), String> {
        let [high, low] = self.mss.to_be_bytes();
        let mut syn = self.segment(sid, SYN, Vec::new());
        syn.options = vec![2, 4, high, low];
        syn.ack = 0;
        self.give(station, &syn);
        self.sessions[usize::from(sid)].snd += 1;
        let mut answer = None;
        station.run_until(OPEN_CLOCKS, |station| {
            while let Some(frame) = station.mac_tx.frames.pop_front() {
                match wire::parse(&frame.bytes) {
                    Ok(Packet::Tcp(segment)) if segment.sport == CORE_PORT + sid => {
                        answer = Some(Ok(segment));
                    }
                    Ok(packet) => self.answer(station, &packet),
                    Err(error) => answer = Some(Err(error)),
                }
            }
            answer.is_some()
        });
        let segment =
            answer.ok_or_else(|| format!("session {sid}: the core does not answer a SYN"))??;
        let session = &mut self.sessions[usize::from(sid)];
        if segment.flags != SYN | ACK || segment.ack != session.snd {
            return Err(format!("session {sid}: {} is not a SYN-ACK", segment.text()));
        }
        session.rcv = segment.seq + 1;
        session.note(&segment);
        let ack = self.segment(sid, ACK, Vec::new());
        self.give(station, &ack);
        match station.wait_event(Kind::Opened, OPEN_CLOCKS) {
            Some(event) if event.sid == sid => Ok(()),
            other => {
                Err(format!("session {sid}: expected an event that it is open, got {other:?}"))
            }
        }
    }

    /// Number of open sessions.
    #[must_use]
    pub fn count(&self) -> u16 {
        self.sessions.len() as u16
    }

    /// Bytes that may be sent in a session now.
    #[must_use]
    pub fn room(&self, sid: u16) -> u64 {
        let session = &self.sessions[usize::from(sid)];
        session.edge.wrapping_sub(session.snd).into()
    }

    /// Makes the next segment of a session.
    fn segment(&self, sid: u16, flags: u8, payload: Vec<u8>) -> Segment {
        let session = &self.sessions[usize::from(sid)];
        Segment {
            src_mac: self.mac,
            dst_mac: self.core.mac,
            vlan: self.core.vlan,
            src: self.ip,
            dst: self.core.ip,
            ttl: 64,
            id: 0,
            sport: PEER_PORT + sid,
            dport: CORE_PORT + sid,
            seq: session.snd,
            ack: session.rcv,
            flags,
            window: 65535,
            urgent: 0,
            df: true,
            options: Vec::new(),
            payload,
        }
    }

    fn give(&self, station: &mut Station, segment: &Segment) {
        let bytes = wire::build(segment, &Lies::default());
        station.mac_rx.push(RxFrame { bytes, ..RxFrame::default() });
    }

    /// Sends payload in a session.
    pub fn send(&mut self, station: &mut Station, sid: u16, payload: Vec<u8>) {
        let length = payload.len() as u32;
        let mut segment = self.segment(sid, ACK | PSH, payload);
        segment.options.clone_from(&self.options);
        self.give(station, &segment);
        self.sessions[usize::from(sid)].snd = segment.seq.wrapping_add(length);
    }

    /// Acknowledges all received data of a session.
    pub fn acknowledge(&self, station: &mut Station, sid: u16) {
        self.give(station, &self.segment(sid, ACK, Vec::new()));
    }

    /// Acknowledges all received data except the last `bytes`.
    pub fn acknowledge_less(&self, station: &mut Station, sid: u16, bytes: u32) {
        let mut segment = self.segment(sid, ACK, Vec::new());
        segment.ack = segment.ack.wrapping_sub(bytes);
        self.give(station, &segment);
    }

    /// Sends an ARP request for the core's address.
    pub fn ask(&self, station: &mut Station) {
        let request = Arp {
            src_mac: self.mac,
            dst_mac: [0xff; 6],
            vlan: self.core.vlan,
            request: true,
            sha: self.mac,
            spa: self.ip,
            tha: [0; 6],
            tpa: self.core.ip,
        };
        station.mac_rx.push(RxFrame { bytes: wire::build_arp(&request), ..RxFrame::default() });
    }

    /// Sends an echo request to the core.
    pub fn ping(&self, station: &mut Station, data: Vec<u8>) {
        let request = Echo {
            src_mac: self.mac,
            dst_mac: self.core.mac,
            vlan: self.core.vlan,
            src: self.ip,
            dst: self.core.ip,
            reply: false,
            ident: 1,
            seq: 1,
            data,
        };
        let bytes = wire::build_echo(&request, &Lies::default());
        station.mac_rx.push(RxFrame { bytes, ..RxFrame::default() });
    }

    fn answer(&self, station: &mut Station, packet: &Packet) {
        let Packet::Arp(arp) = packet else { return };
        if !arp.request || arp.tpa != self.ip {
            return;
        }
        let reply = Arp {
            src_mac: self.mac,
            dst_mac: arp.sha,
            vlan: arp.vlan,
            request: false,
            sha: self.mac,
            spa: self.ip,
            tha: arp.sha,
            tpa: arp.spa,
        };
        station.mac_rx.push(RxFrame { bytes: wire::build_arp(&reply), ..RxFrame::default() });
    }

    /// Processes the frames from the core: answers ARP requests and returns segments with payload.
    /// Retransmitted payload is ignored.
    ///
    /// # Errors
    /// A frame is malformed, not for this peer, or its payload is not the next in sequence.
    pub fn take(&mut self, station: &mut Station) -> Result<Vec<Sent>, String> {
        let mut sent = Vec::new();
        while let Some(frame) = station.mac_tx.frames.pop_front() {
            if frame.spoilt {
                return Err("the core aborted a frame".to_owned());
            }
            let segment = match wire::parse(&frame.bytes)? {
                Packet::Tcp(segment) => segment,
                packet => {
                    self.answer(station, &packet);
                    continue;
                }
            };
            let sid = segment.sport.wrapping_sub(CORE_PORT);
            let Some(session) = self.sessions.get_mut(usize::from(sid)) else {
                return Err(format!("a segment of no session: {}", segment.text()));
            };
            if segment.dport != PEER_PORT + sid || segment.dst_mac != self.mac {
                return Err(format!(
                    "a segment not for the peer of session {sid}: {}",
                    segment.text()
                ));
            }
            session.note(&segment);
            if segment.payload.is_empty() {
                continue;
            }
            let ahead = segment.seq.wrapping_sub(session.rcv) as i32;
            if ahead > 0 {
                return Err(format!(
                    "session {sid}: {ahead} bytes are missing before {}",
                    segment.text()
                ));
            }
            if ahead == 0 {
                session.rcv = session.rcv.wrapping_add(segment.payload.len() as u32);
            }
            sent.push(Sent { sid, segment, frame });
        }
        Ok(sent)
    }

    /// Runs at least `clocks` until the core has nothing to send, and processes its frames.
    ///
    /// # Errors
    /// Those of [`Self::take`], and unexpected payload.
    pub fn settle(&mut self, station: &mut Station, clocks: u64) -> Result<(), String> {
        station.run(clocks);
        station.run_until(OPEN_CLOCKS, |station| station.is_idle());
        match self.take(station)?.first() {
            Some(sent) => Err(format!("unexpected segment: {}", sent.segment.text())),
            None => Ok(()),
        }
    }
}
