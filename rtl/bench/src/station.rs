//! A core with everything at its pins: both ends of the MAC and of the user, a master for its
//! registers, events, and a tick.

use std::collections::VecDeque;

use crate::axil::Master;
use crate::builds::{Build, Error};
use crate::event::{Event, Kind};
use crate::mac::{MacSink, MacSource};
use crate::model::{Memory, Model, PinsIn};
use crate::rate::{Pace, Pattern};
use crate::user::{UserSink, UserSource};

/// Clocks an access to a register may take.
const ACCESS_CLOCKS: u32 = 1000;
/// Clocks of a reset.
const RESET_CLOCKS: u64 = 16;

/// A core and its surroundings.
#[derive(Debug)]
pub struct Station {
    model: Model,
    pins: PinsIn,
    /// Its build.
    pub build: Build,
    /// Clocks done since it was made.
    pub clock: u64,
    /// Frames to it.
    pub mac_rx: MacSource,
    /// Frames from it.
    pub mac_tx: MacSink,
    /// Messages to it.
    pub user_tx: UserSource,
    /// Segments from it.
    pub user_rx: UserSink,
    /// Events from it, oldest first.
    pub events: VecDeque<Event>,
    /// When events are taken.
    event_pace: Pace,
    registers: Master,
    tick_period: Option<u64>,
    tick_pending: bool,
    /// Clock in which something last moved at a pin.
    moved: u64,
}

impl Station {
    /// A core of a build, after its reset.
    ///
    /// # Errors
    /// It cannot be made or loaded.
    pub fn new(name: &str) -> Result<Self, Error> {
        let build = Build::named(name)?;
        let model = build.model()?;
        Ok(Self::with(build, model))
    }

    /// A core that was made of a build, after its reset.
    #[must_use]
    pub fn with(build: Build, model: Model) -> Self {
        let bytes = |parameter| build.get(parameter) as usize / 8;
        let mut station = Self {
            model,
            pins: PinsIn::default(),
            clock: 0,
            mac_rx: MacSource::new(bytes("MacRxWidth")),
            mac_tx: MacSink::new(bytes("MacTxWidth")),
            user_tx: UserSource::new(bytes("UserTxWidth")),
            user_rx: UserSink::new(bytes("UserRxWidth"), build.get("RxChecksum") != 0),
            events: VecDeque::new(),
            event_pace: Pace::new(Pattern::Every),
            registers: Master::default(),
            tick_period: None,
            tick_pending: false,
            moved: 0,
            build,
        };
        station.reset();
        station
    }

    /// Resets the core and forgets what is at its pins. The clock goes on.
    pub fn reset(&mut self) {
        let bytes = |parameter| self.build.get(parameter) as usize / 8;
        self.mac_rx = MacSource::new(bytes("MacRxWidth"));
        self.mac_tx = MacSink::new(bytes("MacTxWidth"));
        self.user_tx = UserSource::new(bytes("UserTxWidth"));
        self.user_rx = UserSink::new(bytes("UserRxWidth"), self.build.get("RxChecksum") != 0);
        self.events.clear();
        self.registers = Master::default();
        self.tick_pending = false;
        self.pins = PinsIn::default();
        self.pins.rst = true;
        for _ in 0..RESET_CLOCKS {
            self.model.step(&self.pins);
        }
        self.clock += RESET_CLOCKS;
        self.pins.rst = false;
    }

    /// A tick every so many clocks, or only when asked for.
    pub fn set_tick(&mut self, period: Option<u64>) {
        self.tick_period = period;
    }

    /// A tick with the next clock.
    pub fn tick(&mut self) {
        self.tick_pending = true;
    }

    /// When events are taken.
    pub fn set_event_pace(&mut self, pattern: Pattern) {
        self.event_pace = Pace::new(pattern);
    }

    /// Another memory for retransmission.
    pub fn set_memory(&mut self, memory: Memory) {
        self.model.set_memory(memory);
    }

    /// One clock.
    ///
    /// # Panics
    /// The core has broken a rule of one of its interfaces, or one of its assertions has failed.
    pub fn step(&mut self) {
        let clock = self.clock;
        let pins = &mut self.pins;
        self.mac_rx.drive(pins, clock);
        self.mac_tx.drive(pins);
        self.user_tx.drive(pins, clock);
        self.user_rx.drive(pins);
        self.registers.drive(pins);
        pins.event_ready = self.event_pace.open();
        pins.tick = std::mem::take(&mut self.tick_pending)
            || self.tick_period.is_some_and(|period| clock % period == period - 1);
        let out = self.model.step(pins);
        self.mac_tx.take(pins, &out, clock);
        self.user_tx.take(pins, &out, clock);
        self.user_rx.take(pins, &out, clock);
        self.registers.take(pins, &out);
        if out.event_valid && pins.event_ready {
            self.events.push_back(Event::decode(out.event_data, clock));
        }
        if pins.mac_rx_valid
            || pins.tick
            || out.mac_tx_valid
            || out.event_valid
            || pins.user_tx_valid && out.user_tx_ready
            || out.user_rx_valid && pins.user_rx_ready
        {
            self.moved = clock;
        }
        self.clock += 1;
    }

    /// Something has changed that the pins do not show yet.
    pub fn stir(&mut self) {
        self.moved = self.clock;
    }

    /// Clocks until nothing has moved at the pins for `quiet` clocks, at most `most`. Whether that was reached.
    pub fn run_quiet(&mut self, quiet: u64, most: u64) -> bool {
        let end = self.clock + most;
        while self.clock < end {
            let left = (self.moved + quiet).saturating_sub(self.clock);
            if left == 0 && self.mac_rx.is_idle() && !self.tick_pending {
                return true;
            }
            if self.idle(left) == 0 {
                self.step();
            }
        }
        false
    }

    /// Clocks.
    pub fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.step();
        }
    }

    /// Clocks until something holds, at most `most`. Whether it does.
    pub fn run_until(&mut self, most: u64, mut holds: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..most {
            if holds(self) {
                return true;
            }
            self.step();
        }
        holds(self)
    }

    /// Whether nothing is going in or out, as far as the bench can see.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.mac_rx.is_idle()
            && self.mac_tx.is_idle()
            && self.user_tx.waiting() == 0
            && self.registers.is_idle()
    }

    /// At most `most` clocks while nothing is going in, in one call; stops where the core has
    /// output. How many were done. Clocks in which a tick is due are not skipped.
    pub fn idle(&mut self, most: u64) -> u64 {
        if !self.is_idle() || self.tick_pending {
            return 0;
        }
        let due = self.tick_period.map_or(u64::MAX, |period| period - 1 - self.clock % period);
        let pins = &mut self.pins;
        pins.mac_rx_valid = false;
        pins.user_tx_valid = false;
        pins.tick = false;
        self.registers.drive(pins);
        let most = most.min(due).min(u64::from(u32::MAX)) as u32;
        let done = u64::from(self.model.idle(pins, most));
        self.clock += done;
        done
    }

    /// Writes a register.
    ///
    /// # Panics
    /// The core answers with an error, or not at all.
    pub fn write(&mut self, addr: u32, data: u32) {
        self.registers.write(addr as u16, data);
        self.access(addr);
    }

    /// Reads a register.
    ///
    /// # Panics
    /// The core answers with an error, or not at all.
    pub fn read(&mut self, addr: u32) -> u32 {
        self.registers.read(addr as u16);
        self.access(addr)
    }

    fn access(&mut self, addr: u32) -> u32 {
        for _ in 0..ACCESS_CLOCKS {
            self.step();
            if let Some(result) = self.registers.result() {
                return result.unwrap_or_else(|response| {
                    panic!("register {addr:#05x}: the core answers with response {response}")
                });
            }
        }
        panic!("register {addr:#05x}: no answer in {ACCESS_CLOCKS} clocks")
    }

    /// The next event of a kind, within a number of clocks; those before it are dropped.
    pub fn wait_event(&mut self, kind: Kind, most: u64) -> Option<Event> {
        let mut found = None;
        self.run_until(most, |station| {
            while let Some(event) = station.events.pop_front() {
                if event.kind == kind {
                    found = Some(event);
                    return true;
                }
            }
            false
        });
        found
    }
}
