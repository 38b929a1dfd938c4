//! Cables that are made word by word, and how the endpoints' flows meet them.
//!
//! The two directions of a virtual channel end at the port. Out of it, a [`PieceSink`] makes words of
//! packets and writes them into the output virtual channel buffer: a transmit completion says that
//! the packet is in that buffer. Into it, a [`PieceSource`] makes packets of the words of the input
//! virtual channel buffer; what a receiver has no room for stays there, and the link's flow control
//! does the rest. A broadcast message or time-code goes between the port's message queues and the
//! link in the same way.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`fabric`] | what carries words between ports: links, or a network of them |
//! | [`channel`] | packets to words and back |
//! | [`ends`] | a virtual channel's ends as source and sink of flows |
//! | [`driver`] | who runs all that, in real and in virtual time |
//! | [`mib`] | what there is to see of a link |
//!
//! Time of the fabric is the network's. In virtual time whoever waits last runs the fabric up to
//! the earliest time somebody waits for, or until somebody is woken. In real time a device thread
//! runs it as fast as it can while there is work and never ahead of the clock, so a link that is
//! busy is slower than its rate says; one that is quiet leaves time out.
//!
//! [`PieceSink`]: spfe_device::flow::PieceSink
//! [`PieceSource`]: spfe_device::flow::PieceSource

pub mod channel;
pub mod driver;
pub mod ends;
pub mod fabric;
mod links;
pub mod mib;

use crate::capture::{ActiveCaptures, Hub, LinkEnd};
use channel::{Inbound, Outbound};
use fabric::{Fabric, Links};
use spfe_contract::{Message, MessageKind, message_flags};
use spfe_host::{LinkRate, Topology};
use spfe_link::datalink::LinkBroadcast;
use spfe_link::spacewire::BroadcastCode;
use spfe_sim::link::{NoObserver, Observer, SimulatedEnd};
use spfe_sim::recorder::Wiring;
use spfe_sim::time::{NS, Ps};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was made of the time given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// It went on; there may be something at the ports.
    On,
    /// Nothing will happen before somebody does something at a port.
    Still,
}

/// All exact links of a network, as its ports see them. Only in the process that owns the network.
pub struct Exact {
    state: Mutex<State>,
    /// Faces of the ports of each endpoint.
    faces: Vec<Vec<Option<usize>>>,
}

struct State {
    fabric: Box<dyn Fabric>,
    /// Who looks on.
    hub: Option<Arc<Hub>>,
    faces: Vec<Face>,
    /// When words or messages were last moved at a port.
    moved_at: Ps,
    /// The longest time that something is kept back.
    hold: Ps,
}

/// What is between a port and the fabric.
struct Face {
    out: Vec<Outbound>,
    into: Vec<Inbound>,
}

/// A port's face, borrowed apart.
struct At<'a> {
    end: &'a mut dyn SimulatedEnd,
    face: &'a mut Face,
    /// Set when something moves.
    moved: bool,
    /// Time of the fabric, and how long the last byte of a packet waits for its end.
    now: Ps,
    hold: Ps,
    /// The end of the link, and who looks on, if anybody does.
    place: LinkEnd,
    look: Option<ActiveCaptures<'a>>,
}

impl Exact {
    /// The exact links of a topology, which has been checked; `None` if there are none.
    pub fn of(topology: &Topology) -> Result<Option<Arc<Self>>, String> {
        if !topology.has_exact() {
            return Ok(None);
        }
        let (fabric, places) = Links::of(topology)?;
        Ok(Some(Arc::new(Self::new(topology, Box::new(fabric), &places))))
    }

    /// Ports of a topology on the faces of a fabric: `places` names the port of each face.
    pub fn new(topology: &Topology, fabric: Box<dyn Fabric>, places: &[(u32, u32)]) -> Self {
        let mut faces: Vec<Vec<Option<usize>>> =
            topology.endpoints.iter().map(|ports| vec![None; ports.len()]).collect();
        let mut made = Vec::new();
        for (number, (endpoint, port)) in places.iter().enumerate() {
            let (e, p) = (*endpoint as usize, *port as usize);
            let vcs = topology.endpoints[e][p].vcs as usize;
            faces[e][p] = Some(number);
            made.push(Face {
                out: (0..vcs).map(|_| Outbound::default()).collect(),
                into: (0..vcs).map(|_| Inbound::default()).collect(),
            });
        }
        let hold = (0..made.len()).map(|face| fabric.hold_ps(face)).max().unwrap_or(0);
        Self {
            state: Mutex::new(State { fabric, hub: None, faces: made, moved_at: 0, hold }),
            faces,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The face of a port.
    pub fn face(&self, endpoint: u32, port: u32) -> Option<usize> {
        *self.faces.get(endpoint as usize)?.get(port as usize)?
    }

    /// Does something at a face.
    fn at<T>(&self, face: usize, what: impl FnOnce(&mut At<'_>) -> T) -> T {
        let mut state = self.lock();
        let State { fabric, hub, faces, moved_at, .. } = &mut *state;
        let (now, hold, place) = (fabric.now(), fabric.hold_ps(face), fabric.place(face));
        let look = hub.as_ref().filter(|hub| hub.is_active()).map(|hub| hub.look());
        let (end, face) = (fabric.face(face), &mut faces[face]);
        let mut at = At { end, face, moved: false, now, hold, place, look };
        let result = what(&mut at);
        if at.moved {
            *moved_at = now;
        }
        result
    }

    /// Who is shown what happens, from now on.
    pub fn show_to(&self, hub: &Arc<Hub>) {
        self.lock().hub = Some(hub.clone());
    }

    /// The links.
    pub fn links(&self) -> Vec<Wiring> {
        self.lock().fabric.links()
    }

    /// The end of the link at a port.
    pub fn link_end(&self, endpoint: u32, port: u32) -> Option<LinkEnd> {
        let face = self.face(endpoint, port)?;
        Some(self.lock().fabric.place(face))
    }

    /// Which links show their words from now on.
    pub fn show_words(&self, links: &[bool]) {
        let mut state = self.lock();
        let count = state.fabric.links().len();
        for (link, on) in links.iter().take(count).enumerate() {
            state.fabric.show_words(link, *on);
        }
    }

    /// Time of the fabric.
    pub fn now_ps(&self) -> Ps {
        self.lock().fabric.now()
    }

    /// Time of the fabric in ns.
    pub fn now_ns(&self) -> u64 {
        self.lock().fabric.now() / NS
    }

    /// Goes on for a while, up to a time. `None`: for as long as anything can happen.
    pub fn run(&self, until_ns: Option<u64>) -> Went {
        let mut state = self.lock();
        let until = until_ns.map(|ns| ns.saturating_mul(NS));
        let still = state.is_still();
        let due = if still { None } else { state.due() };
        let State { fabric, hub, .. } = &mut *state;
        if still {
            match until {
                Some(until) => fabric.skip_to(until),
                None => return Went::Still,
            }
            return if fabric.now() >= until.unwrap_or(0) { Went::Still } else { Went::On };
        }
        let step = due.unwrap_or(fabric.now() + fabric.step_ps());
        let until = until.map_or(step, |until| until.min(step));
        match hub.as_ref().filter(|hub| hub.is_active()) {
            Some(hub) => fabric.run(until, &mut hub.look()),
            None => fabric.run(until, &mut NoObserver),
        }
        Went::On
    }

    /// Whether nothing will happen before somebody does something at a port.
    pub fn is_still(&self) -> bool {
        self.lock().is_still()
    }

    /// When something will happen by itself, ns, if nothing is under way until then.
    pub fn due_ns(&self) -> Option<u64> {
        self.lock().due().map(|due| due / NS)
    }

    /// Virtual channels of a face whose words wait: bit V for virtual channel V.
    fn waiting(&self, face: usize) -> u32 {
        self.at(face, |at| {
            let stored = at.face.into.iter().enumerate();
            stored.fold(at.end.waiting(), |mask, (vc, inbound)| {
                mask | u32::from(inbound.has_some()) << vc
            })
        })
    }

    /// Virtual channels of a face that take words.
    fn writable(&self, face: usize) -> u32 {
        self.at(face, |at| {
            let vcs = 0..at.face.out.len();
            vcs.fold(0, |mask, vc| mask | u32::from(channel::writable(vc, at.end) != 0) << vc)
        })
    }

    /// Sends what could not go when a packet was cut.
    fn flush(&self, face: usize) {
        self.at(face, |at| {
            for (vc, out) in at.face.out.iter_mut().enumerate() {
                at.moved |= out.flush(vc, at.end);
            }
        });
    }

    /// Sends a message; false if it has to wait.
    fn send(&self, face: usize, message: &Message) -> bool {
        self.at(face, |at| {
            let sent = match MessageKind::from_raw(message.kind) {
                // It would be late.
                _ if !at.end.is_running() => false,
                Some(MessageKind::Broadcast) => {
                    let broadcast = LinkBroadcast {
                        channel: message.channel,
                        kind: message.r#type,
                        data: message.data.to_le_bytes(),
                        late: false,
                        delayed: false,
                    };
                    at.end.send_broadcast(broadcast) && at.show_broadcast(true, &broadcast)
                }
                Some(MessageKind::TimeCode) => {
                    let code = BroadcastCode(message.data as u8);
                    at.end.takes_code() && at.end.send_code(code) && at.show_code(true, code)
                }
                None => true,
            };
            at.moved |= sent;
            sent
        })
    }

    /// A message that came.
    fn receive(&self, face: usize) -> Option<Message> {
        self.at(face, |at| {
            let message = match at.end.receive_broadcast() {
                Some(broadcast) => {
                    at.show_broadcast(false, &broadcast);
                    broadcast_message(&broadcast)
                }
                None => {
                    let code = at.end.receive_code()?;
                    at.show_code(false, code);
                    code_message(code)
                }
            };
            at.moved = true;
            Some(message)
        })
    }
}

impl At<'_> {
    /// Shows a broadcast message at this end; true.
    fn show_broadcast(&mut self, sent: bool, message: &LinkBroadcast) -> bool {
        let LinkEnd { link, side } = self.place;
        if let Some(look) = &mut self.look {
            look.broadcast(self.now, link, side, sent, message);
        }
        true
    }

    /// Shows a code at this end; true.
    fn show_code(&mut self, sent: bool, code: BroadcastCode) -> bool {
        let LinkEnd { link, side } = self.place;
        if let Some(look) = &mut self.look {
            look.code(self.now, link, side, sent, code);
        }
        true
    }

    /// Reads words of a virtual channel; whether there were any.
    fn read(&mut self, vc: usize) -> bool {
        let (now, place, look) = (self.now, self.place, &mut self.look);
        let into = &mut self.face.into[vc];
        into.read(vc, self.end, now, |continues, words| {
            if let Some(look) = look {
                look.words(now, place, vc, (continues, words));
            }
        })
    }
}

impl State {
    fn is_still(&mut self) -> bool {
        let idle = self.fabric.now().saturating_sub(self.moved_at);
        // What is kept back for a while is delivered first.
        let quiet = self.fabric.quiet_until() == Some(Ps::MAX);
        idle >= self.hold && (quiet || idle > self.fabric.patience_ps())
    }

    /// When the fabric goes on by itself, if nothing is under way until then.
    fn due(&self) -> Option<Ps> {
        let idle = self.fabric.now().saturating_sub(self.moved_at);
        let due = self.fabric.quiet_until().filter(|_| idle >= self.hold)?;
        (due > self.fabric.now()).then_some(due)
    }
}

fn broadcast_message(broadcast: &LinkBroadcast) -> Message {
    let late = if broadcast.late { message_flags::LATE } else { 0 };
    let delayed = if broadcast.delayed { message_flags::DELAYED } else { 0 };
    Message {
        data: u64::from_le_bytes(broadcast.data),
        channel: broadcast.channel,
        r#type: broadcast.kind,
        kind: MessageKind::Broadcast.raw(),
        status: late | delayed,
        ..Message::default()
    }
}

fn code_message(code: BroadcastCode) -> Message {
    let kind = MessageKind::TimeCode.raw();
    Message { data: u64::from(code.0), kind, ..Message::default() }
}

/// Signalling rate of a link that has been checked, in Mbit/s.
fn mbps(rate: LinkRate) -> u32 {
    match rate {
        LinkRate::SpaceFibre { mbps, .. } | LinkRate::SpaceWire { mbps } => mbps,
        LinkRate::Unlimited => 0,
    }
}
