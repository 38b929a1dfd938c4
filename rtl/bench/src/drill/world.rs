//! State of a running script: connections, sequence numbers, queued output of the endpoint.

use super::args::Seq;
use super::endpoint::{Delivery, Endpoint, Event, Settings};
use super::steps::PeerConnection;
use super::wire::{ACK, Arp, Echo, Packet, RST, SYN, Segment, parse};
use std::collections::{HashMap, VecDeque};

/// Maximum number of lines of a trace.
const MAX_TRACE: usize = 400;

/// Byte `at` of a stream. It depends on the connection (`salt`), the direction and the position.
#[must_use]
pub fn pattern(salt: u32, to_endpoint: bool, at: u32) -> u8 {
    let x = at.wrapping_mul(0x9e37_79b1) ^ salt.wrapping_mul(0x85eb_ca6b);
    (x >> 24) as u8 ^ (x >> 11) as u8 ^ if to_endpoint { 0x5a } else { 0 }
}

/// A connection and its progress.
#[derive(Debug)]
pub(super) struct Track {
    pub flow: PeerConnection,
    /// Initial sequence number of the endpoint, once known.
    pub iss: u32,
    /// Next relative sequence number of the peer.
    pub next: u32,
    /// Absolute sequence number after the endpoint's last byte.
    pub top: Option<u32>,
    pub queue: VecDeque<Segment>,
    pub salt: u32,
    /// Largest acknowledgement number of the endpoint.
    pub acked: Option<u32>,
    /// Right edge of the window that the endpoint has offered.
    pub edge: Option<u32>,
    /// Window shift of the connection: that of the endpoint if both sides have announced one.
    pub shift: u8,
    /// Whether the last SYN of the peer had a window shift.
    pub scales: bool,
}

impl Track {
    /// With the SYN-ACK of either side it is known whether both scale.
    pub(super) fn settle_scale(&mut self, answered: bool) {
        if answered && !self.scales {
            self.shift = 0;
        }
    }

    /// Follows the offered window. Its edge must never move left, except by the rounding of a
    /// scaled window (RFC 7323, 2.4).
    fn follow(&mut self, seg: &Segment) -> Result<(), String> {
        if seg.flags & SYN != 0 {
            self.shift = seg.wscale().unwrap_or(0);
            self.settle_scale(seg.flags & ACK != 0);
            (self.acked, self.edge) = (None, None);
        }
        if seg.flags & ACK == 0 || seg.flags & RST != 0 {
            return Ok(());
        }
        let shift = if seg.flags & SYN == 0 { self.shift } else { 0 };
        let edge = seg.ack.wrapping_add(u32::from(seg.window) << shift);
        let slack = (1 << shift) - 1;
        let left = self.edge.map_or(0, |old| old.wrapping_sub(edge) as i32);
        if left > slack {
            return Err(format!("the window shrinks by {left} bytes with {}", seg.text()));
        }
        if left <= 0 {
            self.edge = Some(edge);
        }
        if self.acked.is_none_or(|old| (seg.ack.wrapping_sub(old) as i32) > 0) {
            self.acked = Some(seg.ack);
        }
        Ok(())
    }
}

/// Positions in both streams of a session.
#[derive(Debug, Default)]
pub(super) struct StreamPositions {
    pub salt: u32,
    pub read: u32,
    pub sent: u32,
}

pub(super) struct World<'a> {
    pub ep: &'a mut dyn Endpoint,
    pub settings: Settings,
    pub tracks: Vec<Track>,
    pub current: usize,
    pub streams: HashMap<u16, StreamPositions>,
    pub arps: VecDeque<Arp>,
    pub echoes: VecDeque<Echo>,
    pub deliveries: VecDeque<Delivery>,
    pub events: VecDeque<Event>,
    pub arp_auto: bool,
    pub names: HashMap<String, u32>,
    pub trace: VecDeque<String>,
    pub now: u64,
}

impl<'a> World<'a> {
    pub fn new(ep: &'a mut dyn Endpoint, settings: &Settings) -> Self {
        let mut world = Self {
            ep,
            settings: settings.clone(),
            tracks: Vec::new(),
            current: 0,
            streams: HashMap::new(),
            arps: VecDeque::new(),
            echoes: VecDeque::new(),
            deliveries: VecDeque::new(),
            events: VecDeque::new(),
            arp_auto: true,
            names: HashMap::new(),
            trace: VecDeque::new(),
            now: 0,
        };
        world.add_flow(PeerConnection::default());
        world
    }

    /// Adds a connection, or replaces that of the same name, and selects it.
    pub fn add_flow(&mut self, flow: PeerConnection) {
        let at = self.tracks.iter().position(|t| t.flow.name == flow.name);
        let salt = u32::from(flow.port) << 8 ^ flow.iss;
        let queue = VecDeque::new();
        let (acked, edge, shift) = (None, None, 0);
        let track = Track {
            flow,
            iss: 0,
            next: 0,
            top: None,
            queue,
            salt,
            acked,
            edge,
            shift,
            scales: false,
        };
        match at {
            Some(i) => {
                self.tracks[i] = track;
                self.current = i;
            }
            None => {
                self.tracks.push(track);
                self.current = self.tracks.len() - 1;
            }
        }
    }

    pub fn track(&mut self) -> &mut Track {
        &mut self.tracks[self.current]
    }

    pub fn log(&mut self, text: String) {
        if self.trace.len() == MAX_TRACE {
            self.trace.pop_front();
        }
        self.trace.push_back(format!("{:>8} {text}", self.now));
    }

    /// Absolute sequence number of the endpoint.
    pub fn theirs(&self, seq: Seq) -> u32 {
        absolute(seq, self.tracks[self.current].iss)
    }

    /// Absolute sequence number of the peer.
    pub fn ours(&self, seq: Seq) -> u32 {
        absolute(seq, self.tracks[self.current].flow.iss)
    }

    pub fn inject(&mut self, frame: &[u8], bad_fcs: bool) -> Result<(), String> {
        self.ep.inject(frame, bad_fcs);
        self.settle()
    }

    pub fn tick(&mut self) -> Result<(), String> {
        self.now += 1;
        self.ep.advance_ticks(1);
        self.settle()
    }

    /// Takes the output of the endpoint and answers its ARP requests.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..64 {
            self.ep.run_idle();
            let frames = self.ep.frames();
            let quiet = frames.is_empty();
            for frame in frames.iter().filter(|f| !f.poisoned) {
                self.frame(&frame.bytes)?;
            }
            self.deliveries.extend(self.ep.delivered());
            self.events.extend(self.ep.events());
            if quiet {
                return Ok(());
            }
        }
        Err("the endpoint does not become idle".into())
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<(), String> {
        let packet = parse(bytes)?;
        if bytes.len() < super::wire::MIN_FRAME {
            return Err(format!("frame of {} bytes, must have at least 60", bytes.len()));
        }
        match packet {
            Packet::Tcp(seg) => self.segment(seg),
            Packet::Arp(arp) => {
                self.log(format!("< arp {arp:?}"));
                self.common(arp.src_mac, arp.vlan)?;
                let known = self
                    .tracks
                    .iter()
                    .find(|t| t.flow.peer == arp.tpa || self.settings.gateway == arp.tpa)
                    .map(|t| t.flow.mac);
                match known {
                    Some(mac) if arp.request && self.arp_auto => {
                        let reply = Arp {
                            src_mac: mac,
                            dst_mac: arp.sha,
                            vlan: arp.vlan,
                            request: false,
                            sha: mac,
                            spa: arp.tpa,
                            tha: arp.sha,
                            tpa: arp.spa,
                        };
                        self.ep.inject(&super::wire::build_arp(&reply), false);
                    }
                    _ => self.arps.push_back(arp),
                }
                Ok(())
            }
            Packet::Echo(echo) => {
                self.log(format!("< icmp reply={} seq={}", echo.reply, echo.seq));
                self.common(echo.src_mac, echo.vlan)?;
                self.echoes.push_back(echo);
                Ok(())
            }
        }
    }

    fn common(&self, src_mac: [u8; 6], vlan: Option<u16>) -> Result<(), String> {
        if src_mac != self.settings.mac {
            return Err(format!("source MAC address {src_mac:02x?} is not the endpoint's"));
        }
        if vlan != self.settings.vlan {
            return Err(format!("tag {vlan:?}; {:?} is set", self.settings.vlan));
        }
        Ok(())
    }

    fn segment(&mut self, seg: Segment) -> Result<(), String> {
        self.log(format!("< {}", seg.text()));
        self.common(seg.src_mac, seg.vlan)?;
        if seg.df == self.settings.fragment {
            return Err(format!("the flag DF is {}", seg.df));
        }
        if seg.src != self.settings.ip || seg.ttl == 0 {
            return Err(format!("source {} and TTL {}", seg.src, seg.ttl));
        }
        let found = self.tracks.iter_mut().find(|t| {
            t.flow.peer == seg.dst && t.flow.port == seg.dport && t.flow.local == seg.sport
        });
        let Some(track) = found else {
            return Err(format!("segment of no flow: {}", seg.text()));
        };
        if seg.flags & SYN != 0 {
            track.iss = seg.seq;
            track.top = None;
        }
        if let Some(i) = (0..seg.payload.len()).find(|i| {
            let at = seg.seq.wrapping_sub(track.iss).wrapping_sub(1).wrapping_add(*i as u32);
            seg.payload[*i] != pattern(track.salt, false, at)
        }) {
            return Err(format!("payload differs at byte {i} of {}", seg.text()));
        }
        let end = seg.seq.wrapping_add(seg.seq_len());
        if track.top.is_none_or(|top| (end.wrapping_sub(top) as i32) > 0) {
            track.top = Some(end);
        }
        track.follow(&seg)?;
        track.queue.push_back(seg);
        Ok(())
    }
}

fn absolute(seq: Seq, base: u32) -> u32 {
    match seq {
        Seq::Abs(v) => v,
        Seq::Rel(r) => base.wrapping_add(r as u32),
    }
}
