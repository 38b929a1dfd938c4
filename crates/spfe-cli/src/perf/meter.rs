//! What an end of a measurement has counted, and when it looks at the clocks.
//!
//! Reading a clock takes about as long as sending a small packet, so it is not done per packet:
//! an end does a number of operations, then looks, and the number is adjusted so that a look falls
//! due every 50 us or so.

use crate::signal;
use serde::{Deserialize, Serialize};
use spfe::{Deadline, Endpoint};
use spfe_measure::thread_cpu_ns;
use std::sync::Arc;

/// How long a far end may be silent, ns.
const PATIENCE_NS: u64 = 5_000_000_000;
/// Time between two lines of progress, ns.
const INTERVAL_NS: u64 = 1_000_000_000;
/// Shorter runs are silent, s.
const LONG: f64 = 2.0;

/// What an end has counted since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets sent or received.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were not as they were sent.
    pub errors: u64,
    /// Times the thread slept.
    pub sleeps: u64,
    /// Time the engine took in this thread, where it is measured.
    pub engine_ns: u64,
}

/// A count with the times that belong to it.
#[derive(Clone, Copy, Default)]
struct Snapshot {
    count: Count,
    now_ns: u64,
    cpu_ns: u64,
    device_ns: u64,
}

/// What an end has measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// In the time measured; `errors` in the whole run.
    pub count: Count,
    /// Packets of the whole run, warming up included.
    pub all_packets: u64,
    /// Time measured.
    pub wall_ns: u64,
    /// Processor time of the thread, engine included.
    pub cpu_ns: u64,
    /// Processor time of the device's own thread, if there is one.
    pub device_ns: u64,
}

impl Tally {
    fn per_s(&self, number: u64) -> f64 {
        number as f64 * 1e9 / self.wall_ns.max(1) as f64
    }

    /// Payload rate.
    pub fn gbps(&self) -> f64 {
        self.per_s(self.count.bytes) * 8.0 / 1e9
    }

    /// Times a second this thread slept.
    pub fn wakes_per_s(&self) -> f64 {
        self.per_s(self.count.sleeps)
    }

    /// Load of application and library, % of one core: the engine's share is not in it.
    pub fn host_pct(&self) -> f64 {
        self.per_s(self.cpu_ns.saturating_sub(self.count.engine_ns)) / 1e7
    }

    /// Load of what stands for the hardware, % of one core.
    pub fn device_pct(&self) -> f64 {
        self.per_s(self.count.engine_ns + self.device_ns) / 1e7
    }
}

/// Reads the processor time of the device's own thread.
pub type DeviceClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Where in its run an end is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measuring,
    Over,
}

/// Looks at the clocks for one end.
pub struct Meter {
    endpoint: Endpoint,
    device: Option<DeviceClock>,
    label: Option<String>,
    seconds: f64,
    phase: Phase,
    turns: u32,
    looked_ns: u64,
    looked_packets: u64,
    said: (u64, u64),
    begin: Snapshot,
    end: Snapshot,
}

impl Meter {
    /// A meter for a run of `seconds`. Queues opened after this measure their engine.
    pub fn new(endpoint: &Endpoint, seconds: f64) -> Self {
        endpoint.measure_engine(true);
        Self {
            endpoint: endpoint.clone(),
            device: None,
            label: None,
            seconds,
            phase: Phase::WarmUp,
            turns: 1,
            looked_ns: endpoint.now_ns(),
            looked_packets: 0,
            said: (0, 0),
            begin: Snapshot::default(),
            end: Snapshot::default(),
        }
    }

    /// Also reads the device's own processor time.
    pub fn with_device(mut self, device: Option<DeviceClock>) -> Self {
        self.device = device;
        self
    }

    /// Says once a second how it goes, if the run is long enough.
    pub fn saying(mut self, label: Option<String>) -> Self {
        self.label = label.filter(|_| self.seconds > LONG);
        self
    }

    /// The run begins now.
    pub fn start(&mut self, count: &Count) {
        self.begin = self.snapshot(count);
        self.looked_ns = self.begin.now_ns;
        self.said = (self.begin.now_ns, count.bytes);
    }

    /// Operations to do before the next look.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// How long to wait for the other end before giving up.
    pub fn deadline(&self) -> Deadline {
        Deadline::at_ns(self.looked_ns + PATIENCE_NS)
    }

    /// Whether the other end has done anything since the last look: then a wait that ended at the
    /// deadline was only a long one, and goes on.
    pub fn progressed(&mut self, count: &Count) -> bool {
        let progressed = count.packets != self.looked_packets;
        self.look(count);
        progressed
    }

    /// Time of the device, ns.
    pub fn now_ns(&self) -> u64 {
        self.endpoint.now_ns()
    }

    /// Whether this counts already: no longer warming up.
    pub fn is_measuring(&self) -> bool {
        self.phase == Phase::Measuring
    }

    /// Looks at the clock; false when the time is over or a signal has come.
    pub fn look(&mut self, count: &Count) -> bool {
        let now = self.endpoint.now_ns();
        match now - self.looked_ns {
            0..25_000 => self.turns = (self.turns * 2).min(1 << 16),
            100_000.. => self.turns = (self.turns / 2).max(1),
            _ => {}
        }
        self.looked_ns = now;
        self.looked_packets = count.packets;
        let since = (now - self.begin.now_ns) as f64 / 1e9;
        if self.phase == Phase::WarmUp && since >= warm_up(self.seconds) && count.packets > 0 {
            self.phase = Phase::Measuring;
            self.begin = self.snapshot(count);
        } else if self.phase == Phase::Measuring && since >= self.seconds {
            self.finish(count);
        }
        if self.label.is_some() && now - self.said.0 >= INTERVAL_NS {
            self.say(now, count.bytes);
        }
        self.phase != Phase::Over && !signal::caught()
    }

    /// The run is over: nothing after this counts.
    pub fn finish(&mut self, count: &Count) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.end = self.snapshot(count);
        }
    }

    fn snapshot(&self, count: &Count) -> Snapshot {
        Snapshot {
            count: *count,
            now_ns: self.endpoint.now_ns(),
            cpu_ns: thread_cpu_ns(),
            device_ns: self.device.as_ref().map_or(0, |read| read()),
        }
    }

    /// What was measured; `all` is the count at the very end.
    pub fn tally(&self, all: &Count) -> Tally {
        let (begin, end) = (&self.begin, &self.end);
        let cpu_ns = end.cpu_ns - begin.cpu_ns;
        let engine_ns = end.count.engine_ns - begin.count.engine_ns;
        Tally {
            count: Count {
                packets: end.count.packets - begin.count.packets,
                bytes: end.count.bytes - begin.count.bytes,
                errors: all.errors,
                sleeps: end.count.sleeps - begin.count.sleeps,
                // The engine ran in this thread, so it cannot have taken more than the thread;
                // it is measured by samples.
                engine_ns: engine_ns.min(cpu_ns),
            },
            all_packets: all.packets,
            wall_ns: end.now_ns - begin.now_ns,
            cpu_ns,
            device_ns: end.device_ns.saturating_sub(begin.device_ns),
        }
    }

    #[cold]
    fn say(&mut self, now: u64, bytes: u64) {
        let gbps = (bytes - self.said.1) as f64 * 8.0 / (now - self.said.0) as f64;
        let label = self.label.as_deref().unwrap_or_default();
        eprintln!("{label}: {gbps:.2} Gbit/s");
        self.said = (now, bytes);
    }
}

/// How long to run before measuring: caches, page tables and the link fill up.
fn warm_up(seconds: f64) -> f64 {
    (seconds / 10.0).min(0.1)
}
