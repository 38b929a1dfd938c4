//! The fuzzed connections, and the probe connection.

use super::mutate::{Edges, Shot, mutate};
use crate::drill::endpoint::{Endpoint, Mode, Op, Settings};
use crate::drill::pattern;
use crate::drill::wire::{ACK, FIN, Lies, Packet, RST, SYN, Segment, build, parse};
use crate::random::Random;
use std::net::Ipv4Addr;

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// Salt of the payload pattern, which depends on the absolute sequence number.
const SALT: u32 = 0xf00d;

/// A fuzzed session.
#[derive(Debug)]
pub(super) struct Target {
    session: u16,
    port: u16,
    local: u16,
    sent: u32,
    /// Whether software has closed it. A message would wait for ever and block all others.
    closed: bool,
    /// Receive window in the endpoint's settings.
    rcv_wnd: u32,
    mss: u32,
    /// Window that the peer currently announces.
    window: u16,
}

fn segment(port: u16, local: u16, seq: u32, ack: u32, flags: u8, payload: Vec<u8>) -> Segment {
    Segment {
        src_mac: [2, 0, 0, 0, 0, 2],
        dst_mac: MAC,
        vlan: None,
        src: PEER,
        dst: OURS,
        ttl: 64,
        id: 1,
        sport: port,
        dport: local,
        seq,
        ack,
        flags,
        window: 65535,
        urgent: 0,
        df: true,
        options: if flags & SYN == 0 { Vec::new() } else { vec![2, 4, 5, 0xb4] },
        payload,
    }
}

fn payload(seq: u32, len: usize) -> Vec<u8> {
    (0..len as u32).map(|i| pattern(SALT, true, seq.wrapping_add(i))).collect()
}

impl Target {
    pub fn new(session: u16, settings: &Settings) -> Self {
        Self {
            session,
            port: 6000 + session,
            local: 100 + session,
            sent: 0,
            closed: false,
            rcv_wnd: settings.rcv_wnd,
            mss: settings.mss.into(),
            window: 65535,
        }
    }

    /// Sends one frame or performs one action of the user. Returns whether the frame was valid.
    pub fn shoot<E: Endpoint + ?Sized>(
        &mut self,
        ep: &mut E,
        r: &mut Random,
    ) -> Result<bool, String> {
        let v = ep.view(self.session);
        if v.state == 0 {
            self.sent = 0;
            self.closed = false;
            let op = if r.chance(600) {
                Op::Listen { port: self.local, from: None }
            } else {
                Op::Connect { ip: PEER, port: self.port, local_port: self.local }
            };
            ep.op(self.session, op);
            return Ok(false);
        }
        self.closed &= v.state != 1;
        match r.below(200) {
            0 => {
                self.closed = true;
                ep.op(self.session, if r.chance(800) { Op::Close } else { Op::Abort });
                return Ok(false);
            }
            // Send only what fits into the ring, so that no session blocks the others.
            1..=40
                if matches!(v.state, 4 | 7)
                    && !self.closed
                    && v.credit > 8192
                    && ep.backlog() == 0 =>
            {
                let len = 1 + r.below(self.mss.into()) as u32;
                let bytes: Vec<u8> =
                    (0..len).map(|i| pattern(SALT, false, self.sent + i)).collect();
                self.sent += len;
                let mode = [Mode::Nothing, Mode::Length, Mode::LengthAndSum];
                ep.send(self.session, &bytes, mode[r.below(3) as usize]);
                return Ok(false);
            }
            _ => {}
        }
        let edges = Edges {
            rcv_nxt: v.rcv_nxt,
            rcv_wnd: self.rcv_wnd,
            una: v.snd_una,
            nxt: v.snd_nxt,
            checksum: ep.build().rx_checksum,
        };
        let mut shot = self.valid(v.state, &edges, r);
        let changes = [0, 0, 1, 1, 2, 3][r.below(6) as usize];
        for _ in 0..changes {
            mutate(&mut shot, &edges, r);
        }
        if !edges.checksum && shot.lies.ip_len.is_some() {
            // A cut-through endpoint may deliver bytes after the packet as payload.
            shot.lies.trailer = 0;
            shot.lies.no_pad = true;
        }
        let first = u32::from(shot.segment.flags & SYN != 0);
        shot.segment.payload = payload(shot.segment.seq.wrapping_add(first), shot.len);
        ep.inject(&build(&shot.segment, &shot.lies), shot.bad_fcs);
        Ok(changes == 0)
    }

    /// The segment that a correct peer would send in this state.
    fn valid(&mut self, state: u8, e: &Edges, r: &mut Random) -> Shot {
        let (flags, seq, ack) = match state {
            1 => (SYN, r.bits() as u32, 0),
            2 if r.chance(900) => (SYN | ACK, r.bits() as u32, e.nxt),
            2 => (SYN, r.bits() as u32, 0),
            _ => {
                let flags = match r.below(160) {
                    0 => RST | ACK,
                    1..=4 => FIN | ACK,
                    _ => ACK,
                };
                let back = e.nxt.wrapping_sub(e.una);
                let ack = match r.below(10) {
                    0 | 1 => e.una.wrapping_add(back / 2),
                    // Duplicates, so that the endpoint must retransmit.
                    2..=5 => e.una,
                    _ => e.nxt,
                };
                (flags, e.rcv_nxt, ack)
            }
        };
        if r.chance(20) {
            self.window = [0, 1, 700, 5000, 65535, 65535][r.below(6) as usize];
        }
        let data = flags & (SYN | RST) == 0 && r.chance(400);
        let len = if data { r.below(1461) as usize } else { 0 };
        let mut segment = segment(self.port, self.local, seq, ack, flags, Vec::new());
        segment.window = self.window;
        if data && r.chance(200) {
            // A segment ahead of others, which come later.
            let after = [1, 100, 1460, 2920, 5000][r.below(5) as usize];
            segment.seq = seq.wrapping_add(after);
        }
        if flags & SYN != 0 && r.chance(500) {
            let mss = [1460, 1460, 536, 88, 1000][r.below(5) as usize];
            segment.options = vec![2, 4, (mss >> 8) as u8, mss as u8, 3, 3, r.below(16) as u8, 1];
        }
        Shot { segment, lies: Lies::default(), bad_fcs: false, len }
    }

    /// Checks delivered payload: the bytes must be those before RCV.NXT (`nxt`). A FIN may be in
    /// between, and another segment may have arrived since.
    pub fn delivered(&mut self, bytes: &[u8], nxt: u32) -> Result<(), String> {
        let start = nxt.wrapping_sub(bytes.len() as u32);
        let fits = |start: u32| bytes.iter().copied().eq(payload(start, bytes.len()));
        if fits(start) || fits(start.wrapping_sub(1)) {
            return Ok(());
        }
        Err(format!(
            "session {}: {} delivered bytes differ from those before {nxt}",
            self.session,
            bytes.len()
        ))
    }
}

/// Opens a connection in a separate session, exchanges data in both directions and resets it.
pub(super) fn probe<E: Endpoint + ?Sized>(ep: &mut E, session: u16, n: u32) -> Result<(), String> {
    let (port, local) = (30_000 + (n % 30_000) as u16, 99);
    let iss = n.wrapping_mul(0x0101_0101);
    ep.op(session, Op::Abort);
    ep.op(session, Op::Listen { port: local, from: None });
    drop(answers(ep, port));
    let shoot = |ep: &mut E, seq: u32, ack: u32, flags: u8, payload: Vec<u8>| {
        ep.inject(&build(&segment(port, local, seq, ack, flags, payload), &Lies::default()), false);
        answers(ep, port)
    };
    let syn_ack = shoot(ep, iss, 0, SYN, Vec::new());
    let theirs = syn_ack.iter().find(|s| s.flags == SYN | ACK).ok_or("no SYN-ACK")?.seq;
    let seq = iss.wrapping_add(1);
    let mut seen = shoot(ep, seq, theirs.wrapping_add(1), ACK, Vec::new());
    seen.extend(shoot(ep, seq, theirs.wrapping_add(1), ACK, payload(seq, 100)));
    let ours: Vec<u8> = (0..77).map(|i| pattern(SALT, false, i)).collect();
    ep.send(session, &ours, Mode::Nothing);
    // Another session may be sending, so allow some ticks for the answer.
    for _ in 0..64 {
        seen.extend(answers(ep, port));
        if seen.iter().any(|s| s.payload == ours && s.ack == seq.wrapping_add(100)) {
            let nxt = theirs.wrapping_add(78);
            shoot(ep, seq.wrapping_add(100), nxt, RST | ACK, Vec::new());
            let state = ep.view(session).state;
            let over = matches!(state, 0 | 1);
            return if over { Ok(()) } else { Err(format!("state {state} after RST")) };
        }
        ep.advance_ticks(1);
    }
    Err(format!("no data returned; {} segments", seen.len()))
}

fn answers<E: Endpoint + ?Sized>(ep: &mut E, port: u16) -> Vec<Segment> {
    ep.run_idle();
    let frames = ep.frames();
    let parsed = frames.iter().filter(|f| !f.poisoned).filter_map(|f| parse(&f.bytes).ok());
    parsed
        .filter_map(|p| match p {
            Packet::Tcp(s) if s.dport == port => Some(s),
            _ => None,
        })
        .collect()
}
