//! What carries words between ports.

use super::mbps;
use super::mib::{self, Watch};
use crate::capture::{LinkEnd, wiring};
use spfe_host::{LinkRate, MibEntry, Peer, Topology};
use spfe_link::Word;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::network::DiscardedPacket;
use spfe_link::spacewire::{BroadcastCode, SpaceWireCharacter};
use spfe_proto::PacketEnd;
use spfe_sim::fault::WireFault;
use spfe_sim::link::{EndEvent, Observer, Side, SimulatedEnd, SimulatedLink};
use spfe_sim::recorder::Wiring;
use spfe_sim::time::{MS, Ps, WordClock};
use spfe_sim::{spacefibre, spacewire};

/// Words between faces, one for each port that is attached.
pub trait Fabric: Send {
    /// Goes on until a time; who looks on is told of links by their number in [`Fabric::links`].
    fn run(&mut self, until: Ps, observer: &mut dyn Observer);

    /// Its links.
    fn links(&self) -> Vec<Wiring>;

    /// The link and end of a face.
    fn place(&self, face: usize) -> LinkEnd;

    /// Whether a link shows its words to who looks on.
    fn show_words(&mut self, link: usize, on: bool);

    /// Where it is: nothing before this time will happen any more.
    fn now(&self) -> Ps;

    /// A port's end.
    fn face(&mut self, face: usize) -> &mut dyn SimulatedEnd;

    /// Nothing will happen before this time, or before somebody does something at a face; none:
    /// something is under way.
    fn quiet_until(&self) -> Option<Ps>;

    /// Leaves out time, up to something that was planned.
    fn skip_to(&mut self, time: Ps);

    /// How long it may run before the buffers at a face are looked at, so that no link waits for
    /// them and times are known well enough.
    fn step_ps(&self) -> Ps;

    /// How long the end of a packet may come behind its last byte on a face's link, when it is busy.
    fn hold_ps(&self, face: usize) -> Ps;

    /// If no word passes a face for so long, none will before somebody does something at one.
    fn patience_ps(&mut self) -> Ps;

    /// What there is to see of a face's link.
    fn mib(&mut self, face: usize) -> Vec<MibEntry>;

    /// Something goes wrong with what is sent from a face, from now on. False: there is no such
    /// fault.
    fn inject(&mut self, face: usize, fault: WireFault) -> bool;
}

/// Word periods between two looks at the faces.
const STEP_WORDS: u64 = 16;
/// Word periods after which the next segment of a channel has come, others being served in between.
const HOLD_WORDS: u64 = 1_000;
/// The same where there is one channel only: NULLs, FCTs and codes may come in between.
const HOLD_WORDS_SPACEWIRE: u64 = 16;
/// Word periods in which words pass on any link that runs and has some.
const PATIENCE_WORDS: u64 = 4_000;
/// Time in which a link that is not up comes up, if it does.
const START_PS: Ps = 50 * MS;

/// Links side by side: face `2 n` is the first end of link `n`, `2 n + 1` its second.
pub struct Links {
    links: Vec<Box<dyn SimulatedLink>>,
    wirings: Vec<Wiring>,
    watch: Watch,
    now: Ps,
    step: Ps,
    /// Of each link.
    paces: Vec<Pace>,
}

/// Times of a link.
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
    /// The exact links of a topology, and the ports of their faces.
    pub fn of(topology: &Topology) -> Result<(Self, Vec<(u32, u32)>), String> {
        let (mut links, mut wirings, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let (mut step, mut paces) = (MS, Vec::new());
        for (e, ports) in topology.endpoints.iter().enumerate() {
            for (p, port) in ports.iter().enumerate().filter(|(_, port)| port.is_exact()) {
                let near = (e as u32, p as u32);
                let Peer::Port { endpoint, port: other } = port.peer else { continue };
                let far = (endpoint, other);
                // Each cable once, from its lower end.
                if far < near {
                    continue;
                }
                links.push(make(links.len() as u32, port.rate, port.vcs)?);
                let name = |(e, p): (u32, u32)| format!("{e}.{p}");
                wirings.push(wiring(&name(near), &name(far), port));
                places.extend([near, far]);
                let word = WordClock::new(mbps(port.rate), 0).period_ps();
                step = step.min(STEP_WORDS * word);
                paces.push(Pace::of(port.rate, word));
            }
        }
        let watch = Watch::new(links.len());
        Ok((Self { links, wirings, watch, now: 0, step, paces }, places))
    }
}

/// A link of a rate.
fn make(id: u32, rate: LinkRate, vcs: u32) -> Result<Box<dyn SimulatedLink>, String> {
    match rate {
        LinkRate::SpaceFibre { lanes, mbps } => {
            let mut config = spacefibre::SpaceFibreConfig::new(lanes as u8, mbps);
            config.id = id;
            config.channels = vcs as u8;
            spacefibre::new(&config).map_err(|error| format!("exact link {rate}: {error}"))
        }
        LinkRate::SpaceWire { mbps } => {
            let mut config = spacewire::SpaceWireConfig::new(id, mbps);
            // Software sees both flag bits, and what they mean is its affair.
            config.ends.iter_mut().for_each(|end| end.any_code = true);
            let link = spacewire::SpaceWireLink::new(config);
            Ok(Box::new(link.map_err(|error| format!("exact link {rate}: {error}"))?))
        }
        LinkRate::Unlimited => Err(format!("link {rate} is none that is made word by word")),
    }
}

const fn side(face: usize) -> Side {
    if face.is_multiple_of(2) { Side::A } else { Side::B }
}

/// Passes events on to the management information base and to another observer.
pub struct Both<'a> {
    /// The management information base.
    pub watch: &'a mut Watch,
    /// The other observer.
    pub observer: &'a mut dyn Observer,
}

impl Observer for Both<'_> {
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
        let mut both = Both { watch: &mut self.watch, observer };
        for link in &mut self.links {
            if link.is_quiet() {
                link.skip_to(until);
            }
            link.run(until, &mut both);
        }
        self.now = self.now.max(until);
    }

    fn links(&self) -> Vec<Wiring> {
        self.wirings.clone()
    }

    fn place(&self, face: usize) -> LinkEnd {
        LinkEnd { link: (face / 2) as u32, side: side(face) }
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
        self.links[face / 2].end(side(face))
    }

    fn quiet_until(&self) -> Option<Ps> {
        self.links.iter().all(|link| link.is_quiet()).then_some(Ps::MAX)
    }

    fn skip_to(&mut self, time: Ps) {
        let mut reached = time;
        for link in &mut self.links {
            link.skip_to(time);
            reached = reached.min(link.now());
        }
        self.now = self.now.max(reached);
    }

    fn step_ps(&self) -> Ps {
        self.step
    }

    fn hold_ps(&self, face: usize) -> Ps {
        self.paces[face / 2].hold
    }

    fn patience_ps(&mut self) -> Ps {
        let of_link = |(link, pace): (&mut Box<dyn SimulatedLink>, &Pace)| match link.is_quiet() {
            true => 0,
            false if Side::BOTH.iter().all(|side| link.end(*side).is_running()) => pace.patience,
            false => START_PS,
        };
        self.links.iter_mut().zip(&self.paces).map(of_link).max().unwrap_or(0)
    }

    fn mib(&mut self, face: usize) -> Vec<MibEntry> {
        let mut list = self.watch.entries(face / 2, side(face));
        list.extend(mib::of_end(self.face(face)));
        list
    }

    fn inject(&mut self, face: usize, fault: WireFault) -> bool {
        let now = self.now;
        self.links[face / 2].inject(now, side(face), fault)
    }
}
