//! Fabrics carry words between ports: links side by side, or a simulated network.

use super::link_faults::LinkFaults;
use super::mbps;
use super::mib::{self, Watch};
use crate::capture::{LinkEnd, wiring};
use spfe_host::topology::{LinkModel, PortConfig};
use spfe_host::{LinkRate, MibEntry, Peer, Topology};
use spfe_link::Word;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::multilane::Interop;
use spfe_link::network::DiscardedPacket;
use spfe_link::spacewire::{BroadcastCode, SpaceWireCharacter};
use spfe_proto::PacketEnd;
use spfe_sim::fault::WireFault;
use spfe_sim::foreign::{FarStream, OpenStream, WantedStream};
use spfe_sim::link::{EndEvent, Observer, Side, SimulatedEnd, SimulatedLink};
use spfe_sim::links::LinkSet;
use spfe_sim::live::{FaultChange, FaultChoice, LiveFault};
use spfe_sim::recorder::LinkDescription;
use spfe_sim::scenario::{PortName, ScenarioFault};
use spfe_sim::time::{MS, Ps, WordClock};
use spfe_sim::{spacefibre, spacewire};
use std::time::Duration;

/// Carries words between faces. Each attached port has one face.
pub trait Fabric: Send {
    /// Runs until a time. The observer gets the number of a link in [`Fabric::links`].
    fn run(&mut self, until: Ps, observer: &mut dyn Observer);

    /// Descriptions of the links.
    fn links(&self) -> Vec<LinkDescription>;

    /// The link and end of a face.
    fn place(&self, face: usize) -> LinkEnd;

    /// Sets whether a link reports its words to observers.
    fn show_words(&mut self, link: usize, on: bool);

    /// Current time. All earlier events have happened.
    fn now(&self) -> Ps;

    /// The end of the link at a face.
    fn face(&mut self, face: usize) -> &mut dyn SimulatedEnd;

    /// The same end, only to look at: a link that sleeps goes on sleeping.
    fn look(&mut self, face: usize) -> &dyn SimulatedEnd;

    /// The same end, to take received messages out of it: a link that sleeps goes on sleeping.
    fn messages(&mut self, face: usize) -> &mut dyn SimulatedEnd;

    /// Whether something may arrive at a face. Otherwise nothing does until a port acts.
    fn is_awake(&self, face: usize) -> bool;

    /// Calls `each` with the links at whose faces something may arrive, in any order.
    fn awake_links(&self, each: &mut dyn FnMut(usize));

    /// The time of the next event, if no port acts before; `None` if the fabric is busy.
    fn quiet_until(&self) -> Option<Ps>;

    /// Skips idle time, at most up to the next scheduled event.
    fn skip_to(&mut self, time: Ps);

    /// How long the fabric may run between two rounds over the faces, so that no link waits for a
    /// port and times are precise enough.
    fn step_ps(&self) -> Ps;

    /// How long the end marker of a packet may arrive after its last byte on a busy link.
    fn hold_ps(&self, face: usize) -> Ps;

    /// If no word passes a face for this long, none will before a port acts.
    fn patience_ps(&mut self) -> Ps;

    /// States, counters and MIB items of the link at a face.
    fn mib(&mut self, face: usize) -> Vec<MibEntry>;

    /// Applies a fault to the words that a face sends from now on. False if the link does not support
    /// the fault.
    fn inject(&mut self, face: usize, fault: WireFault) -> bool;

    /// Adds a fault whose times count from now, and returns its number.
    fn add_fault(&mut self, fault: ScenarioFault) -> Result<u32, String>;

    /// Ends faults; returns how many of those that waited, repeated or lasted.
    fn end_faults(&mut self, which: &FaultChoice, observer: &mut dyn Observer) -> usize;

    /// The faults that wait, repeat or last.
    fn faults(&self) -> &[LiveFault];

    /// When a fault begins or ends, if [`Fabric::run`] does not do it by itself.
    fn next_change(&self) -> Option<Ps>;

    /// Applies changes of faults that are due. True if there were any.
    fn apply_faults(&mut self, observer: &mut dyn Observer) -> bool;

    /// Takes the changes of faults at the ports of applications.
    fn take_port_changes(&mut self) -> Vec<FaultChange>;

    /// The link and end of a port by its name.
    fn end_of(&self, port: &PortName) -> Option<LinkEnd>;
}

/// Word periods between two rounds over the faces.
const STEP_WORDS: u64 = 16;
/// Word periods after which the next segment of a channel has arrived, even if the other channels are
/// served in between.
const HOLD_WORDS: u64 = 1_000;
/// The same for a single channel: only NULLs, FCTs and codes can come in between.
const HOLD_WORDS_SPACEWIRE: u64 = 16;
/// Word periods within which a running link with waiting words passes a word.
const PATIENCE_WORDS: u64 = 4_000;
/// Time within which a link initialises, if both ends are enabled.
const START_PS: Ps = 50 * MS;

/// Time that a round may wait for foreign ends, if there is nothing else to do.
pub const FOREIGN_WAIT: Duration = Duration::from_micros(200);
/// Time between two looks for foreign ends that come later.
const FOREIGN_LOOK: Ps = 10 * MS;

/// Links side by side.
pub struct Links {
    links: LinkSet,
    /// One of them has a foreign end.
    foreign: bool,
    /// The link and end of each face.
    faces: Vec<(usize, Side)>,
    /// Time waits for foreign ends. Otherwise a link stands still until its foreign end has sent
    /// the next words.
    lock_step: bool,
    wirings: Vec<LinkDescription>,
    watch: Watch,
    now: Ps,
    step: Ps,
    /// Times of each link.
    paces: Vec<Pace>,
    faults: LinkFaults,
}

/// Time constants of a link.
#[derive(Clone, Copy)]
struct Pace {
    hold: Ps,
    patience: Ps,
}

impl Pace {
    fn of(rate: LinkRate, word: Ps) -> Self {
        let hold = match rate {
            LinkRate::SpaceWire { .. } => HOLD_WORDS_SPACEWIRE,
            LinkRate::SpaceFibre { .. } | LinkRate::Unlimited => HOLD_WORDS,
        };
        Self { hold: hold * word, patience: PATIENCE_WORDS * word }
    }
}

impl Links {
    /// Creates the exact links of a topology. Returns the port of each face as well.
    ///
    /// # Errors
    /// A link cannot be created.
    pub fn of(topology: &Topology) -> Result<(Self, Vec<(u32, u32)>), String> {
        let (mut links, mut wirings, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let lock_step = topology.virtual_time;
        let mut faces = Vec::new();
        let mut open = opener(lock_step);
        let (mut step, mut paces) = (MS, Vec::new());
        for (e, ports) in topology.endpoints.iter().enumerate() {
            for (p, port) in ports.iter().enumerate().filter(|(_, port)| port.is_exact()) {
                let near = (e as u32, p as u32);
                let word = WordClock::new(mbps(port.rate), 0).period_ps();
                let name = |(e, p): (u32, u32)| format!("{e}.{p}");
                let link = links.len();
                match port.peer {
                    // Create each link once, from the lower of its ports.
                    Peer::Port { endpoint, port: other } if (endpoint, other) >= near => {
                        links.push(make(link as u32, port, None)?);
                        wirings.push(wiring(&name(near), &name((endpoint, other)), port));
                        places.extend([near, (endpoint, other)]);
                        faces.extend([(link, Side::A), (link, Side::B)]);
                    }
                    Peer::Foreign { stream } => {
                        let stream =
                            topology.foreign.get(stream as usize).ok_or("no such foreign end")?;
                        let far = format!("foreign{}", faces.len());
                        let wiring = wiring(&name(near), &far, port);
                        let (lanes, rate_bps) = (port.rate.lanes(), wiring.rate_bps);
                        let wanted = WantedStream { link: &wiring.name, stream, lanes, rate_bps };
                        links.push(make(link as u32, port, Some(open(&wanted)?))?);
                        step = step.min(u64::from(stream.words) * (word - 1));
                        wirings.push(wiring);
                        places.push(near);
                        faces.push((link, Side::A));
                    }
                    _ => continue,
                }
                step = step.min(STEP_WORDS * word);
                paces.push(Pace::of(port.rate, word));
            }
        }
        let watch = Watch::new(links.len());
        let links = LinkSet::new(links, |_| [None; 2]);
        let foreign = links.has_foreign_ends();
        let (now, faults) = (0, LinkFaults::default());
        Ok((
            Self { links, foreign, faces, lock_step, wirings, watch, now, step, paces, faults },
            places,
        ))
    }
}

/// Opens the streams to foreign ends.
pub fn opener(lock_step: bool) -> Box<OpenStream<'static>> {
    if lock_step {
        Box::new(spfe_foreign::waiting("spfe", spfe_foreign::PATIENCE, || false))
    } else {
        Box::new(spfe_foreign::later("spfe"))
    }
}

/// Creates an exact link.
fn make(
    id: u32,
    port: &PortConfig,
    foreign: Option<Box<dyn FarStream>>,
) -> Result<Box<dyn SimulatedLink>, String> {
    let rate = port.rate;
    match rate {
        LinkRate::SpaceFibre { lanes, mbps } => {
            let mut config = spacefibre::SpaceFibreConfig::new(lanes as u8, mbps);
            config.id = id;
            config.channels = port.vcs as u8;
            if port.model == LinkModel::Lenient {
                config.interop = Interop::Lenient;
            }
            let link = match foreign {
                None => spacefibre::new(&config),
                Some(stream) => spacefibre::with_foreign_end(&config, Side::B, stream),
            };
            link.map_err(|error| format!("exact link {rate}: {error}"))
        }
        LinkRate::SpaceWire { mbps } => {
            let mut config = spacewire::SpaceWireConfig::new(id, mbps);
            // Software sees both flag bits and interprets them.
            config.ends.iter_mut().for_each(|end| end.any_code = true);
            let link = spacewire::SpaceWireLink::new(config);
            Ok(Box::new(link.map_err(|error| format!("exact link {rate}: {error}"))?))
        }
        LinkRate::Unlimited => Err(format!("link {rate}: an exact link needs a rate")),
    }
}

impl Links {
    /// Runs a link with a foreign end up to a time, or as far as the foreign end allows.
    fn run_foreign(
        link: &mut dyn SimulatedLink,
        until: Ps,
        wait: Duration,
        observer: &mut Tee<'_>,
    ) {
        let ready = link.ready(wait);
        if !link.is_quiet() {
            link.run(until.min(ready), observer);
        }
        // It stands still for the rest: time passes without words.
        if link.now() < until {
            link.skip_to(until);
        }
    }
}

/// Passes events on to the management information base and to another observer.
pub struct Tee<'a> {
    /// The management information base.
    pub watch: &'a mut Watch,
    /// The other observer.
    pub observer: &'a mut dyn Observer,
}

impl Observer for Tee<'_> {
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        self.watch.event(at, link, side, event);
        self.observer.event(at, link, side, event);
    }

    fn word(&mut self, at: Ps, link: u32, side: Side, lane: u8, word: Option<Word>) {
        self.observer.word(at, link, side, lane, word);
    }

    fn character(&mut self, at: Ps, link: u32, side: Side, character: SpaceWireCharacter) {
        self.observer.character(at, link, side, character);
    }

    fn wants_packets(&self) -> bool {
        self.observer.wants_packets()
    }

    fn packet(&mut self, at: Ps, link: u32, side: Side, channel: u8, bytes: &[u8], end: PacketEnd) {
        self.observer.packet(at, link, side, channel, bytes, end);
    }

    fn dropped(&mut self, at: Ps, router: u32, dropped: DiscardedPacket) {
        self.observer.dropped(at, router, dropped);
    }

    fn broadcast(&mut self, at: Ps, link: u32, side: Side, sent: bool, message: &LinkBroadcast) {
        self.observer.broadcast(at, link, side, sent, message);
    }

    fn code(&mut self, at: Ps, link: u32, side: Side, sent: bool, code: BroadcastCode) {
        self.observer.code(at, link, side, sent, code);
    }
}

impl Fabric for Links {
    fn run(&mut self, until: Ps, observer: &mut dyn Observer) {
        let mut both = Tee { watch: &mut self.watch, observer };
        let waits = self.foreign && self.links.waits_for_foreign_ends();
        let wait = if waits { FOREIGN_WAIT } else { Duration::ZERO };
        let lock_step = self.lock_step;
        self.links.run(until, &mut |_, link| {
            if !lock_step && link.has_foreign_end() {
                Self::run_foreign(link, until, wait, &mut both);
            } else {
                link.run(until, &mut both);
            }
        });
        self.now = self.now.max(until);
    }

    fn links(&self) -> Vec<LinkDescription> {
        self.wirings.clone()
    }

    fn place(&self, face: usize) -> LinkEnd {
        let (link, side) = self.faces[face];
        LinkEnd { link: link as u32, side }
    }

    fn show_words(&mut self, link: usize, on: bool) {
        if let Some(link) = self.links.get_mut(link) {
            link.show_words(on);
        }
    }

    fn now(&self) -> Ps {
        self.now
    }

    fn face(&mut self, face: usize) -> &mut dyn SimulatedEnd {
        let (link, side) = self.faces[face];
        self.links.end((link, side)).expect("a link for each face")
    }

    fn look(&mut self, face: usize) -> &dyn SimulatedEnd {
        self.links.look(self.faces[face]).expect("a link for each face")
    }

    fn messages(&mut self, face: usize) -> &mut dyn SimulatedEnd {
        self.links.messages(self.faces[face]).expect("a link for each face")
    }

    fn is_awake(&self, face: usize) -> bool {
        self.links.is_awake(self.faces[face].0)
    }

    fn awake_links(&self, each: &mut dyn FnMut(usize)) {
        self.links.awake().for_each(each);
    }

    fn quiet_until(&self) -> Option<Ps> {
        let next = if self.foreign && !self.lock_step { self.now + FOREIGN_LOOK } else { Ps::MAX };
        self.links.is_quiet().then_some(next)
    }

    fn skip_to(&mut self, time: Ps) {
        if self.foreign && !self.lock_step {
            // A foreign end may have come.
            for (_, link) in self.links.iter_awake() {
                link.ready(Duration::ZERO);
            }
        }
        let mut reached = time;
        self.links.skip_to(time, &mut |_, link| reached = reached.min(link.now()));
        self.now = self.now.max(reached);
    }

    fn step_ps(&self) -> Ps {
        self.step
    }

    fn hold_ps(&self, face: usize) -> Ps {
        self.paces[self.faces[face].0].hold
    }

    fn patience_ps(&mut self) -> Ps {
        let paces = &self.paces;
        let of_link = |(index, link): (usize, &mut Box<dyn SimulatedLink>)| match link.is_quiet() {
            true => 0,
            // Its foreign end may send something at any time.
            false if link.has_foreign_end() => Ps::MAX,
            false if Side::BOTH.iter().all(|side| link.end(*side).is_running()) => {
                paces[index].patience
            }
            false => START_PS,
        };
        self.links.iter_awake().map(of_link).max().unwrap_or(0)
    }

    fn mib(&mut self, face: usize) -> Vec<MibEntry> {
        let (link, side) = self.faces[face];
        let mut list = self.watch.entries(link, side);
        list.extend(mib::of_end(self.face(face)));
        list
    }

    fn inject(&mut self, face: usize, fault: WireFault) -> bool {
        let (link, side) = self.faces[face];
        let now = self.now;
        self.links.get_mut(link).is_some_and(|link| link.inject(now, side, fault))
    }

    fn add_fault(&mut self, fault: ScenarioFault) -> Result<u32, String> {
        self.faults.add(&self.wirings, &mut self.links, self.now, fault)
    }

    fn end_faults(&mut self, which: &FaultChoice, observer: &mut dyn Observer) -> usize {
        let mut both = Tee { watch: &mut self.watch, observer };
        self.faults.end(&mut self.links, self.now, which, &mut both)
    }

    fn faults(&self) -> &[LiveFault] {
        self.faults.list()
    }

    fn next_change(&self) -> Option<Ps> {
        self.faults.next_ps()
    }

    fn apply_faults(&mut self, observer: &mut dyn Observer) -> bool {
        let mut both = Tee { watch: &mut self.watch, observer };
        self.faults.apply(&mut self.links, self.now, &mut both)
    }

    fn take_port_changes(&mut self) -> Vec<FaultChange> {
        self.faults.take_port_changes()
    }

    fn end_of(&self, port: &PortName) -> Option<LinkEnd> {
        self.faults.end_of(port)
    }
}
