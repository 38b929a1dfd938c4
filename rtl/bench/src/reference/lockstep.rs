//! Runs an endpoint and the reference model with the same input and compares their output.
//!
//! After each action (a frame, a tick, a message, a command) both run until they are idle. Then the
//! following must be equal, without any tolerance in time:
//!
//! * the frames sent: all fields and the payload, in order for each four-tuple, each kind of ARP
//!   packet, and ICMP. Frames sent with an invalid FCS do not count;
//! * the delivered data: segment by segment, with the distance of segments ahead. With reordering
//!   only the bytes of each session, because kept data may come in other pieces. Discarded data
//!   does not count;
//! * the events of [`EVENTS`] of each session, in order, with their data;
//! * all fields of the view of a session with a connection, whenever it is read.
//!
//! Some values may differ, because no RFC fixes them and software does not see them: the IP
//! identification, initial sequence numbers (the model takes those of the endpoint, but checks that
//! of a connection after TIME-WAIT), PSH, the acknowledgement number without the ACK bit, the
//! window of RST, and the order of frames of different connections.
//!
//! Sessions that connect at the same time share the unit that resolves addresses. They learn the
//! result one after the other. The model takes this order from the endpoint, within
//! [`super::LEARN_TICKS`].
//!
//! A difference is reported with the history before it, newest last.

use super::Reference;
use super::session::State;
use crate::drill::endpoint::{Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View};
use crate::drill::wire::{ACK, PSH, Packet, RST, SYN, Segment, parse};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Events that both must report: opened, closed, peer-fin, tx-refused, arp-failed.
pub const EVENTS: [u8; 5] = [1, 2, 3, 8, 10];

const ARP_FAILED: u8 = 10;

/// Number of lines of history before a difference.
const HISTORY: usize = 200;

/// An ordered stream of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stream {
    /// Address and port of the peer, and the local port.
    Tcp(std::net::Ipv4Addr, u16, u16),
    Arp,
    Icmp,
    /// Payload of a session.
    Payload(u16),
    /// Events of a session.
    Events(u16),
}

/// Output by streams.
type Output = BTreeMap<Stream, Vec<Item>>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Text(String),
    Payload(Vec<u8>, Option<u32>),
}

impl Item {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Payload(bytes, None) => format!("{} bytes", bytes.len()),
            Self::Payload(bytes, Some(by)) => format!("{} bytes, ahead by {by}", bytes.len()),
        }
    }
}

/// The endpoint and the model as one endpoint.
pub struct Lockstep<'a> {
    ep: &'a mut dyn Endpoint,
    model: Reference,
    now: u64,
    /// The last open command of each session.
    peers: HashMap<u16, Op>,
    frames: Vec<Frame>,
    delivered: Vec<Delivery>,
    events: Vec<Event>,
    difference: Option<String>,
    history: VecDeque<String>,
    /// Number of frames, deliveries and events that agreed.
    pub agreed: u64,
}

impl<'a> Lockstep<'a> {
    /// Makes a model of the same build and compares the endpoint with it.
    pub fn new(ep: &'a mut dyn Endpoint) -> Self {
        let model = Reference::new(ep.build().clone());
        Self {
            ep,
            model,
            now: 0,
            peers: HashMap::new(),
            frames: Vec::new(),
            delivered: Vec::new(),
            events: Vec::new(),
            difference: None,
            history: VecDeque::new(),
            agreed: 0,
        }
    }

    /// The first difference since the last restart, with the history.
    #[must_use]
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    fn differ(&mut self, text: &str) {
        let (now, history) = (self.now, self.history.make_contiguous().join("\n"));
        self.difference.get_or_insert_with(|| format!("tick {now}: {text}; after\n{history}"));
    }

    fn note(&mut self, line: String) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(line);
    }

    /// Performs an action on both. The endpoint comes first, because the model needs its initial
    /// sequence numbers.
    fn both(&mut self, line: String, mut act: impl FnMut(&mut dyn Endpoint)) {
        if !line.is_empty() {
            self.note(format!("tick {}: {line}", self.now));
        }
        act(self.ep);
        self.ep.run_idle();
        let ours = self.output();
        act(&mut self.model);
        let model = match output(&mut self.model) {
            Ok((all, ..)) => all,
            Err(text) => return self.differ(&format!("frame of the model: {text}")),
        };
        for (stream, items) in &ours {
            for item in items {
                self.note(format!("    {stream:?}: {}", item.text()));
            }
        }
        if self.difference.is_none() {
            self.compare(&ours, &model);
        }
    }

    fn output(&mut self) -> Output {
        match output(self.ep) {
            Ok((all, syns, (frames, delivered, events))) => {
                let active = syns.iter().filter(|syn| syn.flags & ACK == 0);
                let found = active.filter_map(|syn| self.opens(syn));
                let failed = events.iter().filter(|e| e.kind == ARP_FAILED).map(|e| e.session);
                self.model.learn_as(found.chain(failed).collect());
                for syn in syns {
                    if let Some(session) = self.opens(&syn) {
                        self.model.hint_iss(session, syn.seq);
                    }
                }
                self.frames.extend(frames);
                self.delivered.extend(delivered);
                self.events.extend(events);
                all
            }
            Err(text) => {
                self.differ(&format!("frame of the endpoint: {text}"));
                Output::new()
            }
        }
    }

    /// The session that sent this SYN.
    fn opens(&self, seg: &Segment) -> Option<u16> {
        let exact =
            |op: &Op| *op == Op::Connect { ip: seg.dst, port: seg.dport, local_port: seg.sport };
        let listens = |op: &Op| {
            matches!(op, Op::Listen { port, from } if *port == seg.sport
                && from.is_none_or(|f| f == seg.dst))
        };
        let matching = self.peers.iter().filter(|(_, op)| exact(op) || listens(op));
        matching.map(|(session, _)| *session).min()
    }

    fn compare(&mut self, ours: &Output, model: &Output) {
        for stream in ours.keys().chain(model.keys()) {
            let empty = Vec::new();
            let one = ours.get(stream).unwrap_or(&empty);
            let other = model.get(stream).unwrap_or(&empty);
            if one != other {
                let list = |all: &[Item]| all.iter().map(Item::text).collect::<Vec<_>>().join("; ");
                let text = format!("{stream:?}: {}; the model: {}", list(one), list(other));
                return self.differ(&text);
            }
        }
        self.agreed += ours.values().map(|items| items.len() as u64).sum::<u64>();
    }
}

type Raw = (Vec<Frame>, Vec<Delivery>, Vec<Event>);

/// Takes the output of an endpoint: by streams, its segments with SYN, and unchanged.
fn output(ep: &mut dyn Endpoint) -> Result<(Output, Vec<Segment>, Raw), String> {
    let mut all = Output::new();
    let mut syns = Vec::new();
    let mut put = |stream, item| all.entry(stream).or_default().push(item);
    let raw = (ep.frames(), ep.delivered(), ep.events());
    for f in raw.0.iter().filter(|f| !f.poisoned) {
        match parse(&f.bytes)? {
            Packet::Tcp(seg) => {
                let stream = Stream::Tcp(seg.dst, seg.dport, seg.sport);
                let seg = plain(seg);
                put(stream, Item::Text(text(&seg)));
                if seg.flags & SYN != 0 {
                    syns.push(seg);
                }
            }
            Packet::Arp(arp) => put(Stream::Arp, Item::Text(format!("{arp:?}"))),
            Packet::Echo(echo) => put(Stream::Icmp, Item::Text(format!("{echo:?}"))),
        }
    }
    for d in raw.1.iter().filter(|d| !d.err) {
        put(Stream::Payload(d.session), Item::Payload(d.bytes.clone(), d.ahead));
    }
    for e in raw.2.iter().filter(|e| EVENTS.contains(&e.kind)) {
        let text = format!("event {} with {:#x}", e.kind, e.data);
        put(Stream::Events(e.session), Item::Text(text));
    }
    if let Some(arp) = all.get_mut(&Stream::Arp) {
        arp.sort();
    }
    if ep.build().rx_reordering {
        for (_, items) in all.iter_mut().filter(|(s, _)| matches!(s, Stream::Payload(_))) {
            let bytes = items.iter().flat_map(|i| match i {
                Item::Payload(bytes, _) => bytes.clone(),
                Item::Text(_) => Vec::new(),
            });
            *items = vec![Item::Payload(bytes.collect(), None)];
        }
    }
    Ok((all, syns, raw))
}

/// Describes all fields of a segment.
fn text(seg: &Segment) -> String {
    let Segment { dst_mac: to, vlan, ttl, urgent, options, payload, .. } = seg;
    let sum = payload.iter().fold(0_u32, |sum, b| sum.rotate_left(5) ^ u32::from(*b));
    format!(
        "{} to={to:02x?} vlan={vlan:?} ttl={ttl} urgent={urgent} options={options:02x?} \
         payload={sum:08x}",
        seg.text()
    )
}

/// Removes the values that may differ.
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
        self.frames.clear();
        self.delivered.clear();
        self.events.clear();
        self.difference = None;
        self.history.clear();
    }

    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        let text = match parse(frame) {
            Ok(Packet::Tcp(seg)) => text(&seg),
            Ok(other) => format!("{other:?}"),
            Err(why) => {
                let head = &frame[..frame.len().min(80)];
                format!("{why}: {} bytes, {head:02x?}", frame.len())
            }
        };
        let fcs = if bad_fcs { " with a wrong FCS" } else { "" };
        self.both(format!("{text}{fcs}"), |ep| ep.inject(frame, bad_fcs));
    }

    fn advance_ticks(&mut self, n: u64) {
        for _ in 0..n {
            self.now += 1;
            self.both("begins".into(), |ep| ep.advance_ticks(1));
        }
    }

    fn run_idle(&mut self) {
        self.both(String::new(), |ep| ep.run_idle());
    }

    fn frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.frames)
    }

    fn send(&mut self, session: u16, bytes: &[u8], mode: Mode) {
        let line = format!("a message of {} bytes to session {session}", bytes.len());
        self.both(line, |ep| ep.send(session, bytes, mode));
    }

    fn backlog(&self) -> usize {
        self.ep.backlog()
    }

    fn delivered(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.delivered)
    }

    fn user_ready(&mut self, ready: bool) {
        self.both(format!("user ready {ready}"), |ep| ep.user_ready(ready));
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn op(&mut self, session: u16, op: Op) {
        if matches!(op, Op::Listen { .. } | Op::Connect { .. }) {
            self.peers.insert(session, op);
        }
        self.both(format!("{op:?} for session {session}"), |ep| ep.op(session, op));
    }

    fn set_mss(&mut self, mss: u16) -> bool {
        let (core, model) = (self.ep.set_mss(mss), self.model.set_mss(mss));
        assert_eq!(
            core, model,
            "a write of {mss} to the register MSS: taken by the core, the model"
        );
        core
    }

    fn view(&mut self, session: u16) -> View {
        let ours = self.ep.view(session);
        let model = self.model.view(session);
        let same = ours.state == model.state;
        let open = ours.state > State::SynSent as u8 && ours.state <= State::TimeWait as u8;
        if (!same || open && ours != model) && self.difference.is_none() {
            self.differ(&format!("session {session}: {ours:?}; the model: {model:?}"));
        }
        ours
    }
}
