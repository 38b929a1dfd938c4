//! The Verilated core as an endpoint: what goes in and out of the pins of a [`Station`].

use super::endpoint::{Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View};
use crate::builds::{self, Error};
use crate::mac::RxFrame;
use crate::model::{Memory, Model};
use crate::station::Station;
use crate::user::{self, Message};

/// Most clocks the core may take to come to rest.
const MOST_CLOCKS: u64 = 2_000_000;

/// The core.
#[derive(Debug)]
pub struct Core {
    build: Build,
    made: builds::Build,
    memory: Memory,
    station: Station,
    /// Clocks without output after which the core counts as idle: more than any of its walks takes.
    quiet: u64,
    /// Clocks of the instances before this one.
    past: u64,
    /// Nothing has gone in since the core was idle.
    at_rest: bool,
}

/// What shows that the core is at work.
type Progress = (u64, usize, usize, usize, usize);

impl Core {
    /// A build of `model/builds.toml`, made first if it has to be.
    ///
    /// # Errors
    /// It cannot be made or loaded.
    pub fn new(name: &str) -> Result<Self, Error> {
        let made = builds::Build::named(name)?;
        let station = Station::with(made.clone(), made.model()?);
        let build = generics(&made);
        let quiet = 256 + 8 * u64::from(build.session_count);
        let memory = Memory::default();
        Ok(Self { build, made, memory, station, quiet, past: 0, at_rest: false })
    }

    /// Another memory for retransmission from the next restart on.
    pub fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }

    /// The pins.
    pub fn station(&mut self) -> &mut Station {
        self.at_rest = false;
        &mut self.station
    }

    /// Clocks simulated, over all restarts.
    #[must_use]
    pub fn clocks(&self) -> u64 {
        self.past + self.station.clock
    }

    fn progress(&self) -> Progress {
        let s = &self.station;
        (
            s.mac_tx.count,
            s.mac_rx.waiting(),
            s.user_tx.waiting(),
            s.user_rx.segments.len(),
            s.events.len(),
        )
    }

    fn rest(&mut self) {
        if self.at_rest {
            return;
        }
        let from = self.station.clock;
        let mut last = self.progress();
        let mut still = 0;
        while still < self.quiet {
            let idle = self.station.idle(self.quiet - still);
            still += idle;
            if still >= self.quiet {
                break;
            }
            self.station.step();
            let now = self.progress();
            let busy = !self.station.mac_rx.is_idle() || !self.station.mac_tx.is_idle();
            still = if busy || now != last { 0 } else { still + 1 };
            last = now;
            assert!(
                self.station.clock - from < MOST_CLOCKS,
                "the core does not come to rest within {MOST_CLOCKS} clocks"
            );
        }
        self.at_rest = true;
    }

    fn has(&self, session: u16) -> bool {
        session < self.build.session_count
    }
}

/// The generics that scripts and the model know.
fn generics(made: &builds::Build) -> Build {
    let number = |name: &str| made.get(name) as u16;
    let on = |name: &str| made.get(name) != 0;
    Build {
        session_count: number("SessionCount"),
        mtu: number("Mtu"),
        rx_checksum: on("RxChecksum"),
        rx_fifo_packets: number("RxFifoPackets"),
        rx_reordering: on("RxReordering"),
        rx_out_of_sequence: on("RxOutOfSequence"),
        tx_drop_if_not_established: on("TxDropIfNotEstablished"),
        tx_congestion_control: on("TxCongestionControl"),
        tx_push: on("TxPush"),
        tx_mem_addr_bits: number("TxMemAddrBits") as u8,
        status_events: on("StatusEvents"),
        credit_events: on("CreditEvents"),
        instant_ack: on("InstantAck"),
        arp_server: on("ArpServer"),
        arp_entries: number("ArpEntries"),
        arp_gratuitous: on("ArpGratuitous"),
        icmp_server: on("IcmpServer"),
    }
}

impl Endpoint for Core {
    fn build(&self) -> &Build {
        &self.build
    }

    /// A new instance: nothing is left of the one before.
    ///
    /// # Panics
    /// The library of the build, which was there before, cannot be loaded any more.
    fn restart(&mut self, settings: &Settings) {
        let model = Model::load(&self.made.library()).expect("the library of the build");
        self.past += self.station.clock;
        self.station = Station::with(self.made.clone(), model);
        self.station.set_memory(self.memory);
        self.station.configure(settings);
        self.at_rest = false;
        self.rest();
        self.station.mac_tx.frames.clear();
        self.station.events.clear();
    }

    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        if frame.is_empty() {
            return;
        }
        // Frames stay as short as the script makes them.
        let frame = RxFrame { bytes: frame.to_vec(), bad_fcs, runt: true };
        self.station.mac_rx.push(frame);
        self.at_rest = false;
        self.rest();
    }

    fn advance_ticks(&mut self, n: u64) {
        for _ in 0..n {
            self.rest();
            self.station.tick();
            self.station.step();
            self.at_rest = false;
            self.rest();
        }
    }

    fn run_idle(&mut self) {
        self.rest();
    }

    fn frames(&mut self) -> Vec<Frame> {
        let all = self.station.mac_tx.frames.drain(..);
        all.map(|f| Frame { bytes: f.bytes, poisoned: f.spoilt }).collect()
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
        let message = Message { sid: session, data: bytes.to_vec(), mode, ..Message::default() };
        self.station.user_tx.push(message);
        self.at_rest = false;
        self.rest();
    }

    fn backlog(&self) -> usize {
        self.station.user_tx.waiting()
    }

    fn delivered(&mut self) -> Vec<Delivery> {
        let all = self.station.user_rx.segments.drain(..);
        all.map(|s| Delivery { session: s.sid, bytes: s.data, err: s.err, ahead: s.ahead })
            .collect()
    }

    fn user_ready(&mut self, ready: bool) {
        self.station.user_rx.blocked = !ready;
        self.at_rest = false;
    }

    fn events(&mut self) -> Vec<Event> {
        let all = self.station.events.drain(..);
        all.map(|e| Event { kind: e.kind.code(), session: e.sid, data: e.data }).collect()
    }

    fn op(&mut self, session: u16, op: Op) {
        if self.has(session) {
            self.station.operate(session, op);
            self.at_rest = false;
            self.rest();
        }
    }

    fn view(&mut self, session: u16) -> View {
        if self.has(session) {
            self.rest();
            self.station.view(session)
        } else {
            View::default()
        }
    }
}
