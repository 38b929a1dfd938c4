//! An endpoint and the reference model side by side: the same input, and the output compared.
//!
//! Compared are, in order for each four-tuple, all fields of the frames sent, and for each session
//! the bytes delivered. Free are: the IP identification, initial sequence numbers (the model takes
//! those of the endpoint), PSH, ACK without its bit, the window of RST, the order of frames of
//! different connections, and the tick in which a timer fires, within [`SLACK`].

use super::Reference;
use crate::drill::endpoint::{Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View};
use crate::drill::wire::{ACK, PSH, Packet, RST, SYN, Segment, parse};
use std::collections::{HashMap, VecDeque};

/// Ticks that a timer may fire earlier or later than in the model.
pub const SLACK: u64 = 2;

type Tuple = (std::net::Ipv4Addr, u16, u16);

/// Frames of a connection that the other one has not sent yet, with their ticks.
#[derive(Debug, Default)]
struct Pair {
    ours: VecDeque<(u64, Segment)>,
    model: VecDeque<(u64, Segment)>,
}

/// Bytes of a session that the other one has not delivered yet.
#[derive(Debug, Default)]
struct Bytes {
    ours: VecDeque<u8>,
    model: VecDeque<u8>,
}

/// Both, as one endpoint.
pub struct Lockstep<'a> {
    ep: &'a mut dyn Endpoint,
    model: Reference,
    now: u64,
    /// Session of a pair of ports (peer's, ours) and of a port that listens.
    peers: HashMap<u16, Op>,
    pairs: HashMap<Tuple, Pair>,
    bytes: HashMap<u16, Bytes>,
    frames: Vec<Frame>,
    /// The first difference.
    difference: Option<String>,
    /// What both did last.
    last: String,
    /// Frames that agreed.
    pub agreed: u64,
}

impl<'a> Lockstep<'a> {
    /// An endpoint with a model of the same build beside it.
    pub fn new(ep: &'a mut dyn Endpoint) -> Self {
        let model = Reference::new(ep.build().clone());
        Self {
            ep,
            model,
            now: 0,
            peers: HashMap::new(),
            pairs: HashMap::new(),
            bytes: HashMap::new(),
            frames: Vec::new(),
            difference: None,
            last: String::new(),
            agreed: 0,
        }
    }

    /// The first difference since the last restart.
    #[must_use]
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    fn differ(&mut self, text: String) {
        let (now, last) = (self.now, &self.last);
        self.difference.get_or_insert_with(|| format!("tick {now}: {text}; after {last}"));
    }

    /// The endpoint acts first; its initial sequence numbers are told to the model.
    fn both(&mut self, mut act: impl FnMut(&mut dyn Endpoint)) {
        act(self.ep);
        self.ep.run_idle();
        let frames = self.ep.frames();
        for f in frames.iter().filter(|f| !f.poisoned) {
            match parse(&f.bytes) {
                Ok(Packet::Tcp(seg)) => {
                    if let Some(session) = self.session(&seg) {
                        self.model.hint_iss(session, seg.seq);
                    }
                    let now = self.now;
                    self.pair(&seg).ours.push_back((now, plain(seg)));
                }
                Ok(_) => {}
                Err(text) => self.differ(format!("frame of the endpoint: {text}")),
            }
        }
        self.frames.extend(frames);
        act(&mut self.model);
        for f in self.model.frames() {
            if let Ok(Packet::Tcp(seg)) = parse(&f.bytes) {
                let now = self.now;
                self.pair(&seg).model.push_back((now, plain(seg)));
            }
        }
        self.compare();
    }

    fn pair(&mut self, seg: &Segment) -> &mut Pair {
        self.pairs.entry((seg.dst, seg.dport, seg.sport)).or_default()
    }

    /// The session whose SYN this is.
    fn session(&self, seg: &Segment) -> Option<u16> {
        if seg.flags & SYN == 0 {
            return None;
        }
        let exact =
            |op: &Op| *op == Op::Connect { ip: seg.dst, port: seg.dport, local_port: seg.sport };
        let listens = |op: &Op| {
            matches!(op, Op::Listen { port, from } if *port == seg.sport
                && from.is_none_or(|f| f == seg.dst))
        };
        let mut found: Vec<u16> =
            self.peers.iter().filter(|(_, op)| exact(op) || listens(op)).map(|(s, _)| *s).collect();
        found.sort_unstable();
        found.first().copied()
    }

    fn compare(&mut self) {
        if self.difference.is_some() {
            return;
        }
        let now = self.now;
        let mut wrong = None;
        for (tuple, pair) in &mut self.pairs {
            while let (Some((_, a)), Some((_, b))) = (pair.ours.front(), pair.model.front()) {
                if a != b {
                    wrong = Some(format!("sent {}; the model {}", a.text(), b.text()));
                    break;
                }
                pair.ours.pop_front();
                pair.model.pop_front();
                self.agreed += 1;
            }
            let late = |q: &VecDeque<(u64, Segment)>| {
                q.front().filter(|(at, _)| now > at + SLACK).map(|(_, s)| s.text())
            };
            if let Some(text) = late(&pair.ours) {
                wrong = Some(format!("{tuple:?}: the model did not send {text}"));
            }
            if let Some(text) = late(&pair.model) {
                wrong = Some(format!("{tuple:?}: only the model sent {text}"));
            }
        }
        if let Some(text) = wrong {
            self.differ(text);
        }
    }
}

/// Without what is free.
fn plain(mut seg: Segment) -> Segment {
    seg.id = 0;
    seg.flags &= !PSH;
    if seg.flags & ACK == 0 {
        seg.ack = 0;
    }
    if seg.flags & RST != 0 {
        seg.window = 0;
    }
    seg
}

impl Endpoint for Lockstep<'_> {
    fn build(&self) -> &Build {
        self.ep.build()
    }

    fn restart(&mut self, settings: &Settings) {
        self.ep.restart(settings);
        self.model.restart(settings);
        self.now = 0;
        self.peers.clear();
        self.pairs.clear();
        self.bytes.clear();
        self.frames.clear();
        self.difference = None;
    }

    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        let text = match parse(frame) {
            Ok(Packet::Tcp(seg)) => seg.text(),
            _ => format!("{frame:02x?}"),
        };
        self.last = format!("{text}{}", if bad_fcs { " with a wrong FCS" } else { "" });
        self.both(|ep| ep.inject(frame, bad_fcs));
    }

    fn advance_ticks(&mut self, n: u64) {
        for _ in 0..n {
            self.now += 1;
            self.last = "a tick".into();
            self.both(|ep| ep.advance_ticks(1));
        }
    }

    fn run_idle(&mut self) {
        self.both(|ep| ep.run_idle());
    }

    fn frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.frames)
    }

    fn send(&mut self, session: u16, bytes: &[u8], mode: Mode) {
        self.last = format!("a message of {} bytes to session {session}", bytes.len());
        self.both(|ep| ep.send(session, bytes, mode));
    }

    fn backlog(&self) -> usize {
        self.ep.backlog()
    }

    fn delivered(&mut self) -> Vec<Delivery> {
        let ours = self.ep.delivered();
        for d in ours.iter().filter(|d| !d.err && d.ahead.is_none()) {
            self.bytes.entry(d.session).or_default().ours.extend(&d.bytes);
        }
        for d in self.model.delivered().iter().filter(|d| !d.err && d.ahead.is_none()) {
            self.bytes.entry(d.session).or_default().model.extend(&d.bytes);
        }
        let mut wrong = None;
        for (session, b) in &mut self.bytes {
            let n = b.ours.len().min(b.model.len());
            let same = b.ours.drain(..n).eq(b.model.drain(..n));
            if !same {
                wrong = Some(format!("session {session}: other bytes delivered than by the model"));
            } else if b.ours.len() + b.model.len() != 0 {
                let (ours, model) = (b.ours.len(), b.model.len());
                wrong = Some(format!("session {session}: {ours} bytes more, {model} less"));
            }
        }
        if let Some(text) = wrong {
            self.differ(text);
        }
        ours
    }

    fn user_ready(&mut self, ready: bool) {
        self.both(|ep| ep.user_ready(ready));
    }

    fn events(&mut self) -> Vec<Event> {
        self.model.events();
        self.ep.events()
    }

    fn op(&mut self, session: u16, op: Op) {
        if matches!(op, Op::Listen { .. } | Op::Connect { .. }) {
            self.peers.insert(session, op);
        }
        self.last = format!("{op:?} for session {session}");
        self.both(|ep| ep.op(session, op));
    }

    fn view(&mut self, session: u16) -> View {
        self.ep.view(session)
    }
}
