//! The core with everything at once: frames, messages, deliveries, commands and ticks overlap, and
//! all its interfaces pause at random.

use crate::core::Core;
use crate::drill::endpoint::{Build, Delivery, Endpoint, Event, Frame, Mode, Op, Settings, View};
use crate::mac::{LINE_OVERHEAD, RxFrame};
use crate::model::Memory;
use crate::random::Random;
use crate::rate::Pattern;

/// Range of the clocks between two exchanges with the outside. The lower one leaves time for a walk
/// over the sessions between two ticks.
const CLOCKS: (u64, u64) = (300, 3000);
/// Most clocks in 256 in which an interface pauses.
const STALL: u64 = 160;

/// A core that is never brought to rest, as an endpoint.
#[derive(Debug)]
pub struct Racing {
    core: Core,
    random: Random,
}

impl Racing {
    /// Lets a core race. The seed decides all pauses.
    #[must_use]
    pub fn new(core: Core, seed: u64) -> Self {
        Self { core, random: Random::new(seed ^ 0x4444) }
    }

    fn pauses(&mut self) -> Pattern {
        let stall = self.random.below(STALL) as u8;
        Pattern::Random { stall, seed: self.random.below(u64::from(u32::MAX)) }
    }

    fn run(&mut self) {
        let clocks = CLOCKS.0 + self.random.below(CLOCKS.1 - CLOCKS.0);
        let end = self.core.station.clock + clocks;
        while self.core.station.clock < end {
            let left = end - self.core.station.clock;
            if self.core.station.idle(left) == 0 {
                self.core.station.step();
            }
        }
    }
}

impl Endpoint for Racing {
    fn build(&self) -> &Build {
        self.core.build()
    }

    fn restart(&mut self, settings: &Settings) {
        let delay = 1 + self.random.below(40) as u32;
        let stall = |random: &mut Random| random.below(STALL) as u32;
        let (wr_stall, rd_stall) = (stall(&mut self.random), stall(&mut self.random));
        self.core.set_memory(Memory { latency: delay, wr_stall, rd_stall, seed: delay });
        self.core.restart(settings);
        let paces: Vec<Pattern> = (0..5).map(|_| self.pauses()).collect();
        let stallable = self.core.build().rx_checksum;
        let station = &mut self.core.station;
        station.mac_rx.set_pace(paces[0], LINE_OVERHEAD);
        station.mac_tx.set_pace(paces[1], LINE_OVERHEAD);
        station.user_tx.set_pace(paces[2]);
        station.set_event_pace(paces[3]);
        if stallable {
            station.user_rx.set_pace(paces[4]);
        }
    }

    fn inject(&mut self, frame: &[u8], bad_fcs: bool) {
        if !frame.is_empty() {
            let bytes = frame.to_vec();
            self.core.station.mac_rx.push(RxFrame { bytes, bad_fcs, runt: true });
        }
    }

    fn advance_ticks(&mut self, n: u64) {
        for _ in 0..n {
            self.core.station.tick();
            self.run();
        }
    }

    fn run_idle(&mut self) {
        self.run();
    }

    fn frames(&mut self) -> Vec<Frame> {
        self.core.frames()
    }

    fn send(&mut self, session: u16, bytes: &[u8], mode: Mode) {
        self.core.send(session, bytes, mode);
    }

    fn backlog(&self) -> usize {
        self.core.backlog()
    }

    fn delivered(&mut self) -> Vec<Delivery> {
        self.core.delivered()
    }

    fn user_ready(&mut self, ready: bool) {
        self.core.user_ready(ready);
    }

    fn events(&mut self) -> Vec<Event> {
        self.core.events()
    }

    fn op(&mut self, session: u16, op: Op) {
        self.core.station.operate(session, op);
    }

    fn set_mss(&mut self, mss: u16) -> bool {
        self.core.set_mss(mss)
    }

    fn view(&mut self, session: u16) -> View {
        self.core.view(session)
    }

    fn counters(&mut self) -> Vec<(&'static str, u32)> {
        self.core.counters()
    }

    fn races(&self) -> bool {
        true
    }
}
