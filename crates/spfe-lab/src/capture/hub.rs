//! All captures of a network, and the events that they record.

use super::CaptureOptions;
use super::buffer::{Buffer, Inlet};
use spfe_capture::{CaptureSummary, Keep, WriterOptions};
use spfe_contract::{EndMarker, Message, MessageKind, Status, message_flags};
use spfe_device::observer::{Delivery, DeliveryObserver};
use spfe_host::topology::PortConfig;
use spfe_host::{ControlError as Error, LinkRate, Peer, Topology};
use spfe_link::Word;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::network::DiscardedPacket;
use spfe_link::spacewire::{BroadcastCode, SpaceWireCharacter};
use spfe_link::word::k;
use spfe_plane::links::LinkObserver;
use spfe_proto::PacketEnd;
use spfe_sim::link::{EndEvent, Observer, Side};
use spfe_sim::recorder::{CaptureFilter, CaptureRecorder, LinkDescription};
use spfe_sim::time::{NS, Ps};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of running captures of a network.
pub const CAPTURES_MAX: usize = 8;
/// Maximum number of bytes of a packet that are recorded, more than any packet has.
const PACKET_MAX_BYTES: usize = 17 << 20;

/// An end of a link, by its number in captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEnd {
    /// Number of the link.
    pub link: u32,
    /// Side of the link.
    pub side: Side,
}

/// The times of a network at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Time of the exact links.
    pub exact_ps: Ps,
    /// Time of the network's clock.
    pub clock_ns: u64,
    /// Time since 1970; `None` in virtual time.
    pub day: Option<Duration>,
}

/// The captures of a network, and its links.
pub struct Hub {
    links: Vec<LinkDescription>,
    /// The end of the link at each port of each endpoint.
    ends: Vec<Vec<Option<LinkEnd>>>,
    active: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    live: Vec<Live>,
    /// Packets that have partly arrived, by link, receiving end and virtual channel.
    open: BTreeMap<(u32, Side, u8), Open>,
    /// Results of captures that ended by themselves.
    ended: BTreeMap<u32, CaptureSummary>,
    next: u32,
}

#[derive(Default)]
struct Open {
    bytes: Vec<u8>,
    /// The capture started in the middle of the packet.
    headless: bool,
}

struct Live {
    id: u32,
    recorder: CaptureRecorder<Inlet>,
    buffer: Arc<Buffer>,
    chosen: Vec<bool>,
    words: bool,
    packets_left: Option<u64>,
    /// Offsets from the time of exact links and from the clock to the time of the capture, modulo
    /// 2^64; indexed by [`TimeBase`].
    shift_ps: [Ps; 2],
}

/// The clock that gave a time.
#[derive(Clone, Copy)]
enum TimeBase {
    Exact,
    Clock,
}

impl Hub {
    /// The captures of a network. `links` are its exact links; `end_of` returns the end of an exact
    /// link at a port.
    pub fn new(
        topology: &Topology,
        mut links: Vec<LinkDescription>,
        end_of: impl Fn(u32, u32) -> Option<LinkEnd>,
    ) -> Arc<Self> {
        let mut ends: Vec<Vec<Option<LinkEnd>>> =
            topology.endpoints.iter().map(|ports| vec![None; ports.len()]).collect();
        for (e, ports) in topology.endpoints.iter().enumerate() {
            for (p, port) in ports.iter().enumerate() {
                let number = links.len() as u32;
                if port.is_exact() {
                    ends[e][p] = end_of(e as u32, p as u32);
                } else if ends[e][p].is_none()
                    && let Some(far) = far(port)
                {
                    links.push(wiring(&format!("{e}.{p}"), &far, port));
                    ends[e][p] = Some(LinkEnd { link: number, side: Side::A });
                    if let Some((endpoint, other)) = port.joined()
                        && (endpoint as usize, other as usize) != (e, p)
                    {
                        let end = LinkEnd { link: number, side: Side::B };
                        ends[endpoint as usize][other as usize] = Some(end);
                    }
                }
            }
        }
        let (active, inner) = (AtomicBool::new(false), Mutex::default());
        Arc::new(Self { links, ends, active, inner })
    }

    /// Whether a capture is running.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    /// Names of the links.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| &*link.name)
    }

    /// Whether there is a link with this name.
    pub fn has_link(&self, name: &str) -> bool {
        self.names().any(|link| link == name)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the running captures, to pass events to them.
    pub fn active(&self) -> ActiveCaptures<'_> {
        ActiveCaptures(self.lock())
    }

    /// Starts a capture and returns its number.
    ///
    /// # Errors
    /// NOT_FOUND for an unknown link, BUSY if [`CAPTURES_MAX`] captures are running.
    pub fn begin(
        &self,
        options: &CaptureOptions,
        buffer: &Arc<Buffer>,
        now: Now,
    ) -> Result<u32, Error> {
        let known = |name: &&String| self.names().any(|link| link == name.as_str());
        if let Some(name) = options.links.iter().find(|name| !known(name)) {
            let names: Vec<_> = self.names().collect();
            let what = format!("link '{name}': this network has {}", names.join(", "));
            return Err(Error::new(Status::NotFound, what));
        }
        let mut inner = self.lock();
        if inner.live.len() >= CAPTURES_MAX {
            let what = format!("{CAPTURES_MAX} captures are under way, the most there can be");
            return Err(Error::new(Status::Busy, what));
        }
        let failed = |error| Error::new(Status::NoResources, format!("capture: {error}"));
        let wanted =
            CaptureFilter { packets: true, messages: true, events: true, links: &options.links };
        let day = now.day.unwrap_or_default();
        let file = WriterOptions {
            keep: Keep::First(0),
            comment: "live",
            start_s: day.as_secs() as i64,
            ..WriterOptions::default()
        };
        let inlet = Inlet(buffer.clone());
        let recorder =
            CaptureRecorder::of_links(inlet, &self.links, wanted, &file).map_err(failed)?;
        let sub_second = u64::from(day.subsec_nanos()) * NS;
        let shift = |zero: Ps| now.day.map_or(0, |_| sub_second.wrapping_sub(zero));
        inner.next += 1;
        let id = inner.next;
        let chosen =
            |link: &LinkDescription| options.links.is_empty() || options.links.contains(&link.name);
        inner.live.push(Live {
            id,
            recorder,
            buffer: buffer.clone(),
            chosen: self.links.iter().map(chosen).collect(),
            words: options.words,
            packets_left: options.packets,
            shift_ps: [shift(now.exact_ps), shift(now.clock_ns.wrapping_mul(NS))],
        });
        self.active.store(true, Ordering::Release);
        Ok(id)
    }

    /// Ends a capture and returns its number of records.
    pub fn end(&self, id: u32) -> CaptureSummary {
        let mut inner = self.lock();
        if let Some(index) = inner.live.iter().position(|live| live.id == id) {
            inner.end(index);
        }
        if inner.live.is_empty() {
            self.active.store(false, Ordering::Release);
            inner.open.clear();
        }
        inner.ended.remove(&id).unwrap_or_default()
    }

    /// For each link, whether a capture records its words.
    pub fn words(&self) -> Vec<bool> {
        let inner = self.lock();
        let wants = |link| inner.live.iter().any(|live| live.words && live.chosen[link]);
        (0..self.links.len()).map(wants).collect()
    }

    fn end_at(&self, endpoint: u32, port: u32) -> Option<LinkEnd> {
        *self.ends.get(endpoint as usize)?.get(port as usize)?
    }
}

impl LinkObserver for Hub {
    fn tap(
        self: Arc<Self>,
        endpoint: u32,
        port: u32,
        vc: u32,
        out: bool,
    ) -> Option<DeliveryObserver> {
        let LinkEnd { link, side } = self.end_at(endpoint, port).filter(|_| self.is_active())?;
        let side = if out { side.other() } else { side };
        Some(Box::new(move |seen| self.active().part(link, side, vc as u8, seen)))
    }

    fn message_tap(
        self: Arc<Self>,
        endpoint: u32,
        port: u32,
    ) -> Option<spfe_device::message::MessageObserver> {
        let LinkEnd { link, side } = self.end_at(endpoint, port).filter(|_| self.is_active())?;
        Some(Box::new(move |now_ns, message| {
            self.active().message(now_ns, LinkEnd { link, side: side.other() }, message);
        }))
    }
}

/// Name of the far end of a packet-level link.
fn far(port: &PortConfig) -> Option<String> {
    Some(match port.peer {
        Peer::None | Peer::Network | Peer::Fabric { .. } => return None,
        Peer::Port { endpoint, port } => format!("{endpoint}.{port}"),
        Peer::Sink { .. } => "sink".to_owned(),
        Peer::Generator { .. } => "generator".to_owned(),
        Peer::Echo => "echo".to_owned(),
        Peer::Rmap(_) => "rmap".to_owned(),
        Peer::Target { .. } => "target".to_owned(),
        Peer::Foreign { stream } => format!("foreign{stream}"),
    })
}

/// Description of a link of a topology, for captures.
pub fn wiring(near: &str, far: &str, port: &PortConfig) -> LinkDescription {
    let (lanes, mbps) = match port.rate {
        LinkRate::SpaceFibre { lanes, mbps } => (lanes as u8, mbps),
        LinkRate::SpaceWire { mbps } => (1, mbps),
        LinkRate::Unlimited => (1, 0),
    };
    LinkDescription {
        name: format!("{near}-{far}"),
        ends: [near.to_owned(), far.to_owned()],
        spacewire: port.space_wire,
        lanes,
        rate_bps: u64::from(mbps) * 1_000_000,
        scrambled: !port.space_wire,
    }
}

impl Inner {
    fn end(&mut self, index: usize) {
        let live = self.live.remove(index);
        let summary = live.recorder.finish().map(|(_, summary)| summary).unwrap_or_default();
        live.buffer.close();
        self.ended.insert(live.id, summary);
    }

    fn each(&mut self, of: TimeBase, at: Ps, mut show: impl FnMut(&mut Live, Ps)) {
        for live in &mut self.live {
            live.recorder.allow(live.buffer.room());
            let at = at.wrapping_add(live.shift_ps[of as usize]);
            show(live, at);
        }
    }

    fn packet(
        &mut self,
        of: TimeBase,
        at: Ps,
        (link, side, vc): (u32, Side, u8),
        bytes: &[u8],
        end: PacketEnd,
    ) {
        self.each(of, at, |live, at| {
            if !live.chosen[link as usize] {
                return;
            }
            live.recorder.packet(at, link, side, vc, bytes, end);
            if let Some(left) = &mut live.packets_left {
                *left = left.saturating_sub(1);
            }
        });
        while let Some(index) = self.live.iter().position(|live| live.packets_left == Some(0)) {
            self.end(index);
        }
    }

    /// Adds a part of a packet. `end` is the end marker of the last part.
    fn part(
        &mut self,
        of: TimeBase,
        at: Ps,
        place: (u32, Side, u8),
        (continues, bytes): (bool, &[u8]),
        end: Option<PacketEnd>,
    ) {
        let open = self
            .open
            .entry(place)
            .or_insert_with(|| Open { bytes: Vec::new(), headless: continues });
        if !continues {
            open.bytes.clear();
            open.headless = false;
        }
        if !open.headless && open.bytes.len() < PACKET_MAX_BYTES {
            open.bytes.extend_from_slice(bytes);
        }
        let Some(end) = end else { return };
        let Some(open) = self.open.remove(&place) else { return };
        // An end marker without bytes is not a packet.
        if !open.headless && !open.bytes.is_empty() {
            self.packet(of, at, place, &open.bytes, end);
        }
    }
}

/// The running captures, locked, as an observer of links.
pub struct ActiveCaptures<'a>(MutexGuard<'a, Inner>);

impl ActiveCaptures<'_> {
    /// Records a part of a packet that has arrived at the end of a packet-level link.
    pub fn part(&mut self, link: u32, side: Side, vc: u8, seen: Delivery<'_>) {
        let end = match seen.end {
            EndMarker::None => None,
            EndMarker::Eop => Some(PacketEnd::Eop),
            EndMarker::Eep => Some(PacketEnd::Eep),
        };
        let at = seen.time_ns.wrapping_mul(NS);
        self.0.part(TimeBase::Clock, at, (link, side, vc), (seen.continues, seen.bytes), end);
    }

    /// Records a message that has arrived at the end of a packet-level link.
    fn message(&mut self, now_ns: u64, to: LinkEnd, message: &Message) {
        let LinkEnd { link, side } = to;
        let at = now_ns.wrapping_mul(NS);
        self.0.each(TimeBase::Clock, at, |live, at| match MessageKind::from_raw(message.kind) {
            Some(MessageKind::Broadcast) => {
                let late = message.status & message_flags::LATE != 0;
                let delayed = message.status & message_flags::DELAYED != 0;
                let (channel, kind) = (message.channel, message.r#type);
                let data = message.data.to_le_bytes();
                let broadcast = LinkBroadcast { channel, kind, data, late, delayed };
                live.recorder.broadcast(at, link, side, false, &broadcast);
            }
            Some(MessageKind::TimeCode) => {
                live.recorder.code(at, link, side, false, BroadcastCode(message.data as u8));
            }
            // The device hands interrupts over as codes.
            Some(MessageKind::Interrupt) | None => {}
        });
    }

    /// Records words that were taken from an exact link. `continues` says that they continue a packet.
    pub fn words(
        &mut self,
        at: Ps,
        end: LinkEnd,
        vc: usize,
        (mut continues, words): (bool, &[Word]),
    ) {
        let place = (end.link, end.side, vc as u8);
        let mut bytes = Vec::with_capacity(4 * words.len());
        for word in words {
            for index in 0..4 {
                let end = match (word.is_k(index), word.symbol(index)) {
                    (false, byte) => {
                        bytes.push(byte);
                        continue;
                    }
                    (true, k::EOP) => PacketEnd::Eop,
                    (true, k::EEP) => PacketEnd::Eep,
                    _ => continue,
                };
                self.0.part(TimeBase::Exact, at, place, (continues, &bytes), Some(end));
                bytes.clear();
                continues = false;
            }
        }
        if !bytes.is_empty() {
            self.0.part(TimeBase::Exact, at, place, (continues, &bytes), None);
        }
    }
}

/// Events of exact links.
impl Observer for ActiveCaptures<'_> {
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        self.0.each(TimeBase::Exact, at, |live, at| live.recorder.event(at, link, side, event));
    }

    fn word(&mut self, at: Ps, link: u32, side: Side, lane: u8, word: Option<Word>) {
        self.0.each(TimeBase::Exact, at, |live, at| {
            if live.words && live.chosen[link as usize] {
                live.recorder.word(at, link, side, lane, word);
            }
        });
    }

    fn character(&mut self, at: Ps, link: u32, side: Side, character: SpaceWireCharacter) {
        self.0.each(TimeBase::Exact, at, |live, at| {
            if live.words && live.chosen[link as usize] {
                live.recorder.character(at, link, side, character);
            }
        });
    }

    fn wants_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Ps, link: u32, side: Side, channel: u8, bytes: &[u8], end: PacketEnd) {
        self.0.packet(TimeBase::Exact, at, (link, side, channel), bytes, end);
    }

    fn dropped(&mut self, at: Ps, router: u32, dropped: DiscardedPacket) {
        self.0.each(TimeBase::Exact, at, |live, at| live.recorder.dropped(at, router, dropped));
    }

    fn broadcast(&mut self, at: Ps, link: u32, side: Side, sent: bool, message: &LinkBroadcast) {
        let show = |live: &mut Live, at| live.recorder.broadcast(at, link, side, sent, message);
        self.0.each(TimeBase::Exact, at, show);
    }

    fn code(&mut self, at: Ps, link: u32, side: Side, sent: bool, code: BroadcastCode) {
        self.0.each(TimeBase::Exact, at, |live, at| live.recorder.code(at, link, side, sent, code));
    }
}
