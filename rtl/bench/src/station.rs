//! A core with models at all its pins: MAC and user in both directions, a master for its registers,
//! events, and the tick.

use std::collections::VecDeque;

use crate::axil::Master;
use crate::builds::{Build, Error};
use crate::event::{Event, Kind};
use crate::mac::{MacSink, MacSource};
use crate::model::{Memory, Model, PinsIn};
use crate::rate::{Pace, Pattern};
use crate::user::{UserSink, UserSource};

/// Maximum number of clocks for a register access.
const ACCESS_CLOCKS: u32 = 1000;
/// Number of clocks of a reset.
const RESET_CLOCKS: u64 = 16;

/// A core with models at all its pins.
#[derive(Debug)]
pub struct Station {
    model: Model,
    pins: PinsIn,
    /// Build of the core.
    pub build: Build,
    /// Number of clocks since the station was made.
    pub clock: u64,
    /// Sends frames to the core.
    pub mac_rx: MacSource,
    /// Receives frames from the core.
    pub mac_tx: MacSink,
    /// Sends messages to the core.
    pub user_tx: UserSource,
    /// Receives segments from the core.
    pub user_rx: UserSink,
    /// Events of the core, oldest first.
    pub events: VecDeque<Event>,
    /// Decides when events are accepted.
    event_pace: Pace,
    registers: Master,
    tick_period: Option<u64>,
    tick_pending: bool,
    /// Last clock with activity at a pin.
    moved: u64,
}

impl Station {
    /// Makes a station with a core of a build, after its reset.
    ///
    /// # Errors
    /// The library cannot be made or loaded.
    pub fn new(name: &str) -> Result<Self, Error> {
        let build = Build::named(name)?;
        let model = build.model()?;
        Ok(Self::with(build, model))
    }

    /// Makes a station with a given core, and resets the core.
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

    /// Resets the core and the models at its pins. The clock count continues.
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

    /// Ticks every `period` clocks, or only through [`Station::tick`].
    pub fn set_tick(&mut self, period: Option<u64>) {
        self.tick_period = period;
    }

    /// Ticks with the next clock.
    pub fn tick(&mut self) {
        self.tick_pending = true;
    }

    /// Sets when events are accepted.
    pub fn set_event_pace(&mut self, pattern: Pattern) {
        self.event_pace = Pace::new(pattern);
    }

    /// Changes the behaviour of the retransmission memory.
    pub fn set_memory(&mut self, memory: Memory) {
        self.model.set_memory(memory);
    }

    /// Simulates one clock.
    ///
    /// # Panics
    /// The core violated the protocol of an interface, or one of its assertions failed.
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

    /// Counts as activity at the pins, for changes that the pins do not show yet.
    pub fn stir(&mut self) {
        self.moved = self.clock;
    }

    /// Runs until there was no activity at the pins for `quiet` clocks, or for `most` clocks.
    /// Returns whether the pins became quiet.
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

    /// Runs a number of clocks.
    pub fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.step();
        }
    }

    /// Runs until a condition holds, or for `most` clocks. Returns whether the condition holds.
    pub fn run_until(&mut self, most: u64, mut holds: impl FnMut(&mut Self) -> bool) -> bool {
        for _ in 0..most {
            if holds(self) {
                return true;
            }
            self.step();
        }
        holds(self)
    }

    /// Whether no transfer is in progress at the pins.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.mac_rx.is_idle()
            && self.mac_tx.is_idle()
            && self.user_tx.waiting() == 0
            && self.registers.is_idle()
    }

    /// Simulates at most `most` clocks without input in a single call. Stops when the core has
    /// output or a tick is due. Returns the number of clocks.
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
    /// The core answers with an error or does not answer.
    pub fn write(&mut self, addr: u32, data: u32) {
        self.try_write(addr, data).unwrap_or_else(|response| refused(addr, response));
    }

    /// Writes a register that the core may refuse to change.
    ///
    /// # Errors
    /// The response of the core, if it is an error.
    ///
    /// # Panics
    /// The core does not answer.
    pub fn try_write(&mut self, addr: u32, data: u32) -> Result<(), u8> {
        self.registers.write(addr as u16, data);
        self.access(addr).map(|_| ())
    }

    /// Reads a register.
    ///
    /// # Panics
    /// The core answers with an error or does not answer.
    pub fn read(&mut self, addr: u32) -> u32 {
        self.registers.read(addr as u16);
        self.access(addr).unwrap_or_else(|response| refused(addr, response))
    }

    fn access(&mut self, addr: u32) -> Result<u32, u8> {
        for _ in 0..ACCESS_CLOCKS {
            self.step();
            if let Some(result) = self.registers.result() {
                return result;
            }
        }
        panic!("register {addr:#05x}: no answer within {ACCESS_CLOCKS} clocks")
    }

    /// Waits for an event of a kind for at most `most` clocks. Earlier events are dropped.
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

fn refused(addr: u32, response: u8) -> ! {
    panic!("register {addr:#05x}: the core answers with response {response}")
}
