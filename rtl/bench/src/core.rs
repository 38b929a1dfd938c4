//! The core as an [`Endpoint`]: exchanges frames, bytes and ticks, and runs the necessary clocks.

use crate::builds::{self, Error};
use crate::drill::endpoint::{Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View};
use crate::mac::{LINE_OVERHEAD, RxFrame};
use crate::model::{Memory, Model};
use crate::rate::Pattern;
use crate::registers as reg;
use crate::station::Station;
use crate::user::{self, Message};

/// Clocks without activity at the pins after which the core is idle, plus one for each session,
/// because the core checks their timers in turn. The longest pause occurs while the core reads a
/// message from the ring.
const QUIET: u64 = 300;
/// Maximum number of clocks for a frame on the bus.
const FRAME_CLOCKS: u64 = 10_000;
/// Maximum number of clocks of [`Endpoint::run_idle`].
const MOST: u64 = 4_000_000;

/// The core as an endpoint.
#[derive(Debug)]
pub struct Core {
    /// The core with models at its pins.
    pub station: Station,
    build: Build,
    made: builds::Build,
    memory: Memory,
    quiet: u64,
    /// Clocks in which a deferred message moves into the ring without activity at the pins: one for
    /// each word of a 32-bit MAC.
    drain: u64,
}

fn bit(value: u32, mask: u32) -> bool {
    value & mask != 0
}

/// Extracts a field of a register.
fn field(value: u32, mask: u32) -> u16 {
    ((value & mask) >> mask.trailing_zeros()) as u16
}

/// Reads the generics from the core's registers.
fn generics(station: &mut Station) -> Build {
    let sizes = station.read(reg::BUILD_SIZES);
    let widths = station.read(reg::BUILD_WIDTHS);
    let limits = station.read(reg::BUILD_LIMITS);
    let memories = station.read(reg::BUILD_MEMORIES);
    let features = station.read(reg::BUILD_FEATURES);
    let has = |mask| bit(features, mask);
    Build {
        session_count: field(sizes, reg::BUILD_SIZES_SESSIONS_MASK),
        mtu: field(limits, reg::BUILD_LIMITS_MTU_MASK),
        rx_checksum: has(reg::BUILD_FEATURES_RX_CHECKSUM_MASK),
        rx_fifo_packets: field(memories, reg::BUILD_MEMORIES_RX_FIFO_PACKETS_MASK),
        user_rx_width: field(widths, reg::BUILD_WIDTHS_USER_RX_MASK),
        rx_reordering: has(reg::BUILD_FEATURES_RX_REORDERING_MASK),
        rx_out_of_sequence: has(reg::BUILD_FEATURES_RX_OUT_OF_SEQUENCE_MASK),
        tx_drop_if_not_established: has(reg::BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_MASK),
        tx_congestion_control: has(reg::BUILD_FEATURES_TX_CONGESTION_CONTROL_MASK),
        tx_push: has(reg::BUILD_FEATURES_TX_PUSH_MASK),
        tx_mem_addr_bits: field(memories, reg::BUILD_MEMORIES_TX_ADDR_BITS_MASK) as u8,
        rx_mem_addr_bits: field(memories, reg::BUILD_MEMORIES_RX_ADDR_BITS_MASK) as u8,
        status_events: has(reg::BUILD_FEATURES_STATUS_EVENTS_MASK),
        credit_events: has(reg::BUILD_FEATURES_CREDIT_EVENTS_MASK),
        instant_ack: has(reg::BUILD_FEATURES_INSTANT_ACK_MASK),
        arp_server: has(reg::BUILD_FEATURES_ARP_SERVER_MASK),
        arp_entries: field(sizes, reg::BUILD_SIZES_ARP_ENTRIES_MASK),
        arp_gratuitous: has(reg::BUILD_FEATURES_ARP_GRATUITOUS_MASK),
        icmp_server: has(reg::BUILD_FEATURES_ICMP_SERVER_MASK),
    }
}

impl Core {
    /// Starts a core of a build in `model/builds.toml` with the default settings.
    ///
    /// # Errors
    /// The library cannot be made or loaded.
    pub fn new(name: &str) -> Result<Self, Error> {
        let mut station = Station::new(name)?;
        let build = generics(&mut station);
        let made = station.build.clone();
        let quiet = QUIET + u64::from(build.session_count);
        let mut core = Self { station, build, made, memory: Memory::default(), quiet, drain: 0 };
        core.restart(&Settings::default());
        Ok(core)
    }

    /// Changes the behaviour of the retransmission memory from the next restart on.
    pub fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }

    /// State of the library, see [`builds::Build::state`].
    #[must_use]
    pub fn state(&self) -> String {
        self.made.state()
    }

    fn has(&self, session: u16) -> bool {
        session < self.build.session_count
    }

    /// Reads a counter at an offset of `registers.toml`.
    pub fn counter(&mut self, offset: u32) -> u32 {
        self.station.read(offset)
    }
}

impl Endpoint for Core {
    fn build(&self) -> &Build {
        &self.build
    }

    /// Replaces the core by a new one. Nothing of the old core remains, not even a failed
    /// assertion.
    ///
    /// # Panics
    /// The library of the build can no longer be loaded.
    fn restart(&mut self, settings: &Settings) {
        let model = Model::load(&self.made.library()).expect("the library of the build");
        self.station = Station::with(self.made.clone(), model);
        self.drain = 0;
        self.station.set_memory(self.memory);
        self.station.mac_rx.set_pace(Pattern::Every, LINE_OVERHEAD);
        self.station.configure(settings);
        self.run_idle();
        self.station.mac_tx.frames.clear();
        self.station.events.clear();
    }

    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        if frame.is_empty() {
            return;
        }
        // Short frames are not padded.
        let bytes = frame.to_vec();
        self.station.mac_rx.push(RxFrame { bytes, bad_fcs, runt: true });
        self.station.run_until(FRAME_CLOCKS, |station| station.mac_rx.is_idle());
    }

    fn advance_ticks(&mut self, n: u64) {
        for _ in 0..n {
            self.station.tick();
            self.run_idle();
        }
    }

    fn run_idle(&mut self) {
        let rests = self.station.run_quiet(self.quiet + self.drain, MOST);
        assert!(rests, "the core is not idle after {MOST} clocks");
        if self.station.user_tx.waiting() == 0 {
            self.drain = 0;
        }
    }

    fn frames(&mut self) -> Vec<Frame> {
        let frames = self.station.mac_tx.frames.drain(..);
        frames.map(|frame| Frame { bytes: frame.bytes, poisoned: frame.spoilt }).collect()
    }

    fn send(&mut self, session: u16, bytes: &[u8], mode: Mode) {
        if bytes.is_empty() {
            return;
        }
        let mode = match mode {
            Mode::Nothing => user::Mode::Store,
            Mode::Length => user::Mode::Length,
            Mode::LengthAndSum => user::Mode::CutThrough,
        };
        let data = bytes.to_vec();
        self.drain = self.drain.max(data.len() as u64 / 4);
        self.station.user_tx.push(Message { sid: session, data, mode, ..Message::default() });
        self.station.stir();
    }

    fn backlog(&self) -> usize {
        self.station.user_tx.waiting()
    }

    fn delivered(&mut self) -> Vec<Delivery> {
        let segments = self.station.user_rx.segments.drain(..);
        let delivery = |segment: user::Segment| Delivery {
            session: segment.sid,
            bytes: segment.data,
            err: segment.err,
            ahead: segment.ahead,
        };
        segments.map(delivery).collect()
    }

    fn user_ready(&mut self, ready: bool) {
        self.station.user_rx.blocked = !ready;
        self.station.stir();
    }

    fn events(&mut self) -> Vec<Event> {
        let events = self.station.events.drain(..);
        let event =
            |e: crate::event::Event| Event { kind: e.kind.code(), session: e.sid, data: e.data };
        events.map(event).collect()
    }

    fn op(&mut self, session: u16, op: Op) {
        if self.has(session) {
            self.station.operate(session, op);
            self.run_idle();
        }
    }

    fn set_mss(&mut self, mss: u16) -> bool {
        let taken = self.station.try_write(reg::MSS, mss.into()).is_ok();
        let shown = self.station.read(reg::MSS);
        assert!(
            !taken || shown == u32::from(mss),
            "the register MSS is {shown} after a write of {mss}"
        );
        taken
    }

    fn view(&mut self, session: u16) -> View {
        if self.has(session) { self.station.view(session) } else { View::default() }
    }

    fn counters(&mut self) -> Vec<(&'static str, u32)> {
        let read = |(name, offset): (&'static str, u32)| (name, self.station.read(offset));
        reg::COUNTERS.into_iter().map(read).collect()
    }
}
