//! Exact links, and their connection to the flows of endpoints.
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
//! | [`fabric`] | carries words between ports: links, or a simulated network |
//! | [`channel`] | converts packets to words and back |
//! | [`ends`] | ends of a virtual channel as source and sink of flows |
//! | `faults` | faults that are given while the links run |
//! | [`driver`] | runs links and flows, in real and in virtual time |
//! | `link_faults` | the same on links side by side |
//! | `links` | exact links as the plane sees them |
//! | [`mib`] | states, counters and MIB items of a link |
//!
//! The fabric has the time of the network. In virtual time, the participant that waits last runs it
//! up to the earliest deadline, or until it wakes a participant. In real time, a device thread runs
//! it as fast as it can while there is work, but never ahead of the clock. So a busy link can be
//! slower than its rate; a quiet link skips time.
//!
//! [`PieceSink`]: spfe_device::flow::PieceSink
//! [`PieceSource`]: spfe_device::flow::PieceSource

pub mod channel;
pub mod driver;
pub mod ends;
pub mod fabric;
mod faults;
mod link_faults;
mod links;
pub mod mib;

use crate::capture::{ActiveCaptures, Hub, LinkEnd};
use channel::{Inbound, Outbound};
use fabric::{Fabric, Links};
use spfe_contract::{Message, MessageKind, message_flags};
use spfe_host::{LinkRate, Topology};
use spfe_link::datalink::LinkBroadcast;
use spfe_link::spacewire::BroadcastCode;
use spfe_plane::links::LinkWatcher;
use spfe_sim::link::{NoObserver, Observer, SimulatedEnd};
use spfe_sim::recorder::LinkDescription;
use spfe_sim::time::{NS, Ps};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Result of running the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Time advanced; there may be something at the ports.
    Advanced,
    /// No event will happen before a port sends, receives or changes something.
    Blocked,
}

/// All exact links of a network, in the process that owns the network.
pub struct Exact {
    state: Mutex<State>,
    /// Number of the face of each port, by endpoint and port.
    faces: Vec<Vec<Option<usize>>>,
    /// Time of the network's clock at time zero of the links, ns; 0 in virtual time.
    zero_ns: AtomicU64,
}

struct State {
    fabric: Box<dyn Fabric>,
    /// Captures, which observe the links.
    hub: Option<Arc<Hub>>,
    faces: Vec<Face>,
    /// The faces of each link, by side.
    of_links: Vec<[Option<usize>; 2]>,
    /// The faces of the last look, and those that a fault has changed since then.
    seen: Vec<usize>,
    /// When words or messages last moved at a port.
    moved_at: Ps,
    /// Longest time that the last byte of a packet is held back.
    hold: Ps,
    watches: Vec<Watch>,
}

/// A watcher of the state of a face.
struct Watch {
    face: usize,
    running: bool,
    watcher: Weak<dyn LinkWatcher>,
}

/// State between a port and the fabric.
struct Face {
    out: Vec<Outbound>,
    into: Vec<Inbound>,
    /// Virtual channels from which a fault keeps the application, a bit for each.
    blocked: u32,
    /// Virtual channels on which a fault sends as fast as it can.
    babbles: u32,
    /// Its link was awake when it was last looked at.
    awake: bool,
}

/// A port's face and its end of the link, borrowed together.
struct At<'a> {
    end: &'a mut dyn SimulatedEnd,
    face: &'a mut Face,
    /// Set when words or messages move.
    moved: bool,
    /// Time of the fabric.
    now: Ps,
    /// How long the last byte of a packet waits for the end marker.
    hold: Ps,
    /// The end of the link, and the running captures.
    place: LinkEnd,
    captures: Option<ActiveCaptures<'a>>,
}

impl Exact {
    /// The exact links of a topology; `None` if it has none. The topology must have been checked.
    ///
    /// # Errors
    /// A link cannot be created.
    pub fn of(topology: &Topology) -> Result<Option<Arc<Self>>, String> {
        if !topology.has_exact() {
            return Ok(None);
        }
        let (fabric, places) = Links::of(topology)?;
        Ok(Some(Arc::new(Self::new(topology, Box::new(fabric), &places))))
    }

    /// Connects ports of a topology to the faces of a fabric. `places` has the port of each face.
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
                blocked: 0,
                babbles: 0,
                awake: true,
            });
        }
        let hold = (0..made.len()).map(|face| fabric.hold_ps(face)).max().unwrap_or(0);
        let mut of_links = vec![[None; 2]; fabric.links().len()];
        for face in 0..made.len() {
            let LinkEnd { link, side } = fabric.place(face);
            of_links[link as usize][side as usize] = Some(face);
        }
        Self {
            state: Mutex::new(State {
                fabric,
                hub: None,
                seen: (0..made.len()).collect(),
                faces: made,
                of_links,
                moved_at: 0,
                hold,
                watches: Vec::new(),
            }),
            faces,
            zero_ns: AtomicU64::new(0),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The face of a port; `None` if the port is not on an exact link.
    pub fn face(&self, endpoint: u32, port: u32) -> Option<usize> {
        *self.faces.get(endpoint as usize)?.get(port as usize)?
    }

    /// Calls `what` with a face and its end of the link, which wakes up.
    fn at<T>(&self, face: usize, what: impl FnOnce(&mut At<'_>) -> T) -> T {
        self.lock().at(face, <dyn Fabric>::face, what)
    }

    /// Sets the time of the network's clock at time zero of the links.
    fn set_zero(&self, clock_ns: u64) {
        self.zero_ns.store(clock_ns, Ordering::Relaxed);
    }

    /// Sets the captures that observe the links.
    pub fn show_to(&self, hub: &Arc<Hub>) {
        self.lock().hub = Some(hub.clone());
    }

    /// Descriptions of the links.
    pub fn links(&self) -> Vec<LinkDescription> {
        self.lock().fabric.links()
    }

    /// The end of the link at a port.
    pub fn link_end(&self, endpoint: u32, port: u32) -> Option<LinkEnd> {
        let face = self.face(endpoint, port)?;
        Some(self.lock().fabric.place(face))
    }

    /// Sets which links report their words to observers.
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

    /// Runs the fabric for one step, at most up to a time; `None` sets no limit.
    pub fn run(&self, until_ns: Option<u64>) -> Progress {
        let mut state = self.lock();
        let until = until_ns.map(|ns| ns.saturating_mul(NS));
        let captures = state.hub.clone().filter(|hub| hub.is_active());
        match &captures {
            Some(hub) => state.apply_faults(&mut hub.active()),
            None => state.apply_faults(&mut NoObserver),
        }
        // A fault or a command may have stopped a link since the last step.
        state.tell_watchers();
        let still = state.is_still();
        let settled = state.is_settled();
        let due = if still { None } else { state.due() };
        let change = state.fabric.next_change();
        let State { fabric, .. } = &mut *state;
        if still {
            match until {
                Some(until) => fabric.skip_to(until),
                None => return Progress::Blocked,
            }
            return if fabric.now() >= until.unwrap_or(0) {
                Progress::Blocked
            } else {
                Progress::Advanced
            };
        }
        let step = due.unwrap_or(fabric.now() + fabric.step_ps());
        let until = until.map_or(step, |until| until.min(step));
        let until = change.map_or(until, |change| change.min(until));
        match &captures {
            _ if settled => fabric.skip_to(until),
            Some(hub) => fabric.run(until, &mut hub.active()),
            None => fabric.run(until, &mut NoObserver),
        }
        state.apply_at_ports();
        state.tell_watchers();
        Progress::Advanced
    }

    /// Whether no event will happen before a port acts.
    pub fn is_still(&self) -> bool {
        self.lock().is_still()
    }

    /// Time of the next event of the links, ns, if they are idle until then.
    pub fn due_ns(&self) -> Option<u64> {
        self.lock().due().map(|due| due / NS)
    }

    /// Faces at which there may be something to do although nothing was posted at their ports. Only
    /// those of links that are awake and those of the last look can be among them: whoever gives a
    /// face words to hold wakes its link.
    fn busy_faces(&self, busy: &mut Vec<usize>) {
        let mut state = self.lock();
        let State { fabric, faces, of_links, seen, .. } = &mut *state;
        busy.clear();
        busy.append(seen);
        fabric.awake_links(&mut |link| busy.extend(of_links[link].into_iter().flatten()));
        busy.sort_unstable();
        busy.dedup();
        busy.retain(|number| {
            let face = &mut faces[*number];
            // What a link brought before it fell asleep is seen once more.
            let awake = fabric.is_awake(*number);
            let was_awake = std::mem::replace(&mut face.awake, awake);
            let holds = || {
                face.babbles != 0
                    || face.into.iter().any(Inbound::has_some)
                    || face.out.iter().any(Outbound::is_pending)
            };
            awake || was_awake || holds()
        });
        seen.extend_from_slice(busy);
    }

    /// Virtual channels of a face that have received words, as a bit mask.
    fn waiting(&self, face: usize) -> u32 {
        let mut state = self.lock();
        let State { fabric, faces, .. } = &mut *state;
        let (waiting, face) = (fabric.look(face).waiting(), &faces[face]);
        let stored = face.into.iter().enumerate();
        let stored =
            stored.fold(waiting, |mask, (vc, inbound)| mask | u32::from(inbound.has_some()) << vc);
        stored & !face.blocked
    }

    /// Virtual channels of a face that accept words, as a bit mask.
    fn writable(&self, face: usize) -> u32 {
        let mut state = self.lock();
        let State { fabric, faces, .. } = &mut *state;
        let (end, vcs) = (fabric.look(face), 0..faces[face].out.len());
        vcs.fold(0, |mask, vc| mask | u32::from(channel::writable(vc, end) != 0) << vc)
    }

    /// Sends end markers of cut packets that had no room before, and the packets of babbling
    /// virtual channels.
    fn flush(&self, face: usize) {
        let mut state = self.lock();
        let of = &state.faces[face];
        if of.babbles == 0 && !of.out.iter().any(Outbound::is_pending) {
            return;
        }
        state.at(face, <dyn Fabric>::face, |at| {
            for (vc, out) in at.face.out.iter_mut().enumerate() {
                at.moved |= out.flush(vc, at.end);
                if at.face.babbles >> vc & 1 != 0 {
                    at.moved |= out.babble(vc, at.end);
                }
            }
        });
    }

    /// Sends a message. False if it must wait.
    fn send(&self, face: usize, message: &Message) -> bool {
        self.at(face, |at| {
            let sent = match MessageKind::from_raw(message.kind) {
                // The link would deliver it late.
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
                // The device hands interrupts over as codes.
                Some(MessageKind::Interrupt) | None => true,
            };
            at.moved |= sent;
            sent
        })
    }

    /// Takes a received message.
    fn receive(&self, face: usize) -> Option<Message> {
        self.lock().at(face, <dyn Fabric>::messages, |at| {
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
    /// Passes a broadcast message at this end to the captures. Returns true.
    fn show_broadcast(&mut self, sent: bool, message: &LinkBroadcast) -> bool {
        let LinkEnd { link, side } = self.place;
        if let Some(captures) = &mut self.captures {
            captures.broadcast(self.now, link, side, sent, message);
        }
        true
    }

    /// Passes a broadcast code at this end to the captures. Returns true.
    fn show_code(&mut self, sent: bool, code: BroadcastCode) -> bool {
        let LinkEnd { link, side } = self.place;
        if let Some(captures) = &mut self.captures {
            captures.code(self.now, link, side, sent, code);
        }
        true
    }

    /// Reads words of a virtual channel. Whether there were any.
    fn read(&mut self, vc: usize) -> bool {
        let (now, place, active) = (self.now, self.place, &mut self.captures);
        let into = &mut self.face.into[vc];
        into.read(vc, self.end, now, |continues, words| {
            if let Some(captures) = active {
                captures.words(now, place, vc, (continues, words));
            }
        })
    }
}

impl State {
    /// Calls `what` with a face and its end of the link, which `end` finds.
    fn at<T>(
        &mut self,
        face: usize,
        end: impl for<'f> FnOnce(&'f mut (dyn Fabric + 'static), usize) -> &'f mut dyn SimulatedEnd,
        what: impl FnOnce(&mut At<'_>) -> T,
    ) -> T {
        let Self { fabric, hub, faces, moved_at, .. } = self;
        let (now, hold, place) = (fabric.now(), fabric.hold_ps(face), fabric.place(face));
        let captures = hub.as_ref().filter(|hub| hub.is_active()).map(|hub| hub.active());
        let (end, face) = (end(&mut **fabric, face), &mut faces[face]);
        let mut at = At { end, face, moved: false, now, hold, place, captures };
        let result = what(&mut at);
        if at.moved {
            *moved_at = now;
        }
        result
    }

    /// Tells watchers whose link has come up or gone down since they were told last.
    fn tell_watchers(&mut self) {
        let Self { fabric, watches, .. } = self;
        watches.retain_mut(|watch| {
            let Some(watcher) = watch.watcher.upgrade() else { return false };
            let running = fabric.look(watch.face).is_running();
            if running != std::mem::replace(&mut watch.running, running) {
                watcher.changed();
            }
            true
        });
    }

    /// Whether no event will happen before a port acts or a fault begins or ends.
    fn is_settled(&mut self) -> bool {
        let idle = self.fabric.now().saturating_sub(self.moved_at);
        // Bytes that are held back must be delivered first.
        let quiet = self.fabric.quiet_until() == Some(Ps::MAX);
        idle >= self.hold && (quiet || idle > self.fabric.patience_ps())
    }

    fn is_still(&mut self) -> bool {
        self.is_settled() && self.fabric.next_change().is_none()
    }

    /// Time of the next event of the fabric, if it is idle until then.
    fn due(&mut self) -> Option<Ps> {
        let idle = self.fabric.now().saturating_sub(self.moved_at);
        let quiet = self.fabric.quiet_until().filter(|_| idle >= self.hold);
        let change = if self.is_settled() { self.fabric.next_change() } else { None };
        let due = quiet.into_iter().chain(change).min()?;
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

/// Signalling rate of a checked link in Mbit/s.
fn mbps(rate: LinkRate) -> u32 {
    match rate {
        LinkRate::SpaceFibre { mbps, .. } | LinkRate::SpaceWire { mbps } => mbps,
        LinkRate::Unlimited => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spfe_host::topology::{LinkModel, Mode};

    #[test]
    fn only_ports_of_links_that_are_awake_are_visited() {
        let rate = LinkRate::SpaceFibre { lanes: 1, mbps: 6250 };
        let topology = Topology::pairs(16, rate, Mode::Thread).with_model(LinkModel::Exact);
        let exact = Exact::of(&topology).unwrap().expect("exact links");
        let mut busy = Vec::new();
        exact.busy_faces(&mut busy);
        assert_eq!(busy.len(), 32, "all links start");
        while exact.run(None) != Progress::Blocked {}
        // The first look sees what the links brought before they fell asleep.
        exact.run(Some(exact.now_ns() + 1_000));
        (0..2).for_each(|_| exact.busy_faces(&mut busy));
        assert!(busy.is_empty(), "{busy:?}");
        let face = exact.face(4, 0).unwrap();
        let code = Message { kind: MessageKind::Broadcast.raw(), ..Message::default() };
        assert!(exact.send(face, &code));
        exact.busy_faces(&mut busy);
        assert_eq!(busy.len(), 2, "both ends of its link: {busy:?}");
        while exact.run(None) != Progress::Blocked {}
        let peer = busy.iter().copied().find(|of| *of != face).unwrap();
        exact.busy_faces(&mut busy);
        assert!(busy.contains(&peer), "its message waits");
        assert!(exact.receive(peer).is_some());
    }

    #[test]
    fn links_sleep_while_another_one_is_busy() {
        let rate = LinkRate::SpaceFibre { lanes: 1, mbps: 6250 };
        let topology = Topology::pairs(16, rate, Mode::Thread).with_model(LinkModel::Exact);
        let exact = Exact::of(&topology).unwrap().expect("exact links");
        while exact.run(None) != Progress::Blocked {}
        let [near, far] = [0, 1].map(|endpoint| exact.face(endpoint, 0).unwrap());
        let mut busy = Vec::new();
        for _ in 0..1000 {
            exact.at(near, |at| {
                at.end.write(0, &[spfe_link::Word::default(); 8]);
                at.moved = true;
            });
            exact.busy_faces(&mut busy);
            // What the driver does at each of them.
            for face in &busy {
                exact.flush(*face);
                exact.waiting(*face);
                exact.writable(*face);
                assert!(exact.receive(*face).is_none());
            }
            exact.at(far, |at| at.end.read(0, &mut [spfe_link::Word::default(); 64]));
            assert_eq!(exact.run(Some(u64::MAX / NS)), Progress::Advanced);
        }
        assert_eq!(busy, [near, far]);
    }
}
