//! Counts of one end of a measurement, and the times that belong to them.
//!
//! Reading a clock takes about as long as sending a small packet. An end therefore reads the clocks
//! only after a number of operations, which is adjusted to about 50 us.

use crate::signal;
use serde::{Deserialize, Serialize};
use spfe::{Deadline, Endpoint};
use spfe_measure::{MachineTimes, ProcessTimes, thread_cpu_ns};
use spfe_report::KernelLoad;
use std::sync::Arc;

/// Time without progress of the far end before giving up, ns. An emulated machine with detectors takes
/// seconds.
const PATIENCE_NS: u64 = 30_000_000_000;
/// Interval between checks for signals of a patient end, ns.
const SIGNAL_NS: u64 = 200_000_000;
/// Interval of progress lines, ns.
const INTERVAL_NS: u64 = 1_000_000_000;
/// Runs shorter than this print no progress, s.
const LONG: f64 = 2.0;

/// Counts of an end since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Packets sent or received.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets with wrong length or contents.
    pub errors: u64,
    /// Number of sleeps of the thread.
    pub sleeps: u64,
    /// Time of the engine in this thread, ns; 0 where it is not measured.
    pub engine_ns: u64,
}

/// Counts and clocks at one moment.
#[derive(Clone, Copy, Default)]
struct Snapshot {
    count: Count,
    now_ns: u64,
    cpu_ns: u64,
    device_ns: u64,
    process: ProcessTimes,
    machine: Option<MachineTimes>,
    link_us: Option<u64>,
}

/// Figures of one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Counts in the measured time; `errors` counts the whole run.
    pub count: Count,
    /// Packets of the whole run, warm-up included.
    pub all_packets: u64,
    /// Measured time, ns.
    pub wall_ns: u64,
    /// Begin and end of it on the device's clock, ns.
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Processor time of the thread, engine included, ns.
    pub cpu_ns: u64,
    /// Processor time of the device thread, ns; 0 without one.
    pub device_ns: u64,
    /// Processor time of the process, ns; 0 where another meter of the process has it.
    pub process: ProcessTimes,
    /// Times of the machine, where the meter of the process could read them.
    pub machine: Option<MachineTimes>,
    /// Time that passed on exact links, us, where it was measured.
    pub link_us: Option<u64>,
}

impl Tally {
    fn per_s(&self, number: u64) -> f64 {
        number as f64 * 1e9 / self.wall_ns.max(1) as f64
    }

    /// Payload rate, Gbit/s.
    pub fn gbps(&self) -> f64 {
        self.per_s(self.count.bytes) * 8.0 / 1e9
    }

    /// Sleeps of this thread per second.
    pub fn wakes_per_s(&self) -> f64 {
        self.per_s(self.count.sleeps)
    }

    /// Load of application and library without the engine, % of one core.
    pub fn host_pct(&self) -> f64 {
        self.per_s(self.cpu_ns.saturating_sub(self.count.engine_ns)) / 1e7
    }

    /// Loads as the kernel counts them, with `cores` online. `None` for other meters than that of the
    /// process.
    pub fn kernel_load(&self, cores: usize) -> Option<KernelLoad> {
        let machine = self.machine?;
        let pct = |ns| self.per_s(ns) / 1e7;
        Some(KernelLoad {
            user_pct: pct(self.process.user_ns),
            system_pct: pct(self.process.system_ns),
            machine_pct: pct(machine.busy_ns),
            machine_of_all_pct: pct(machine.busy_ns) / cores.max(1) as f64,
            interrupt_pct: pct(machine.interrupt_ns),
            stolen_pct: pct(machine.stolen_ns),
            interrupts_per_s: self.per_s(machine.interrupts),
        })
    }

    /// Time of exact links over real time.
    pub fn pace(&self) -> Option<f64> {
        Some(self.per_s(self.link_us?) / 1e6)
    }

    /// Load of the device (engine and device thread), % of one core.
    pub fn device_pct(&self) -> f64 {
        self.per_s(self.count.engine_ns + self.device_ns) / 1e7
    }
}

/// Reads the processor time of the device thread, ns.
pub type DeviceClock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Reads the time of exact links, us; `None` for links without one.
pub type LinkClock = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// Phase of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measuring,
    Over,
}

/// The clocks of one end.
pub struct Meter {
    endpoint: Endpoint,
    device: Option<DeviceClock>,
    process: bool,
    /// Reads the time of exact links, us.
    links: Option<LinkClock>,
    /// Packets after which the measurement ends, instead of after a time.
    packets: Option<u64>,
    label: Option<String>,
    patient: bool,
    at_once: bool,
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
    /// A meter for a run of `seconds`. Queues opened afterwards measure their engine.
    pub fn new(endpoint: &Endpoint, seconds: f64) -> Self {
        endpoint.measure_engine(true);
        Self {
            endpoint: endpoint.clone(),
            device: None,
            process: false,
            links: None,
            packets: None,
            label: None,
            patient: false,
            at_once: false,
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

    /// Also measures the device thread.
    pub fn with_device(mut self, device: Option<DeviceClock>) -> Self {
        self.device = device;
        self
    }

    /// Ends the measurement after this many packets, however long that takes.
    pub fn for_packets(mut self, packets: Option<u64>) -> Self {
        self.packets = packets;
        self
    }

    /// Whether all packets of [`Meter::for_packets`] have been measured.
    #[inline(always)]
    pub fn is_complete(&self, count: &Count) -> bool {
        let enough = |packets| count.packets - self.begin.count.packets >= packets;
        self.is_measuring() && self.packets.is_some_and(enough)
    }

    /// Also measures the process and the machine. One meter of each process does.
    pub fn with_process(mut self) -> Self {
        self.process = true;
        self
    }

    /// Also measures the time of exact links.
    pub fn with_links(mut self, clock: LinkClock) -> Self {
        self.links = Some(clock);
        self
    }

    /// Prints a progress line once a second if the run is long enough.
    pub fn saying(mut self, label: Option<String>) -> Self {
        self.label = label.filter(|_| self.seconds > LONG);
        self
    }

    /// Starts the run.
    pub fn start(&mut self, count: &Count) {
        self.begin = self.snapshot(count);
        if self.at_once {
            self.phase = Phase::Measuring;
        }
        self.looked_ns = self.begin.now_ns;
        self.said = (self.begin.now_ns, count.bytes);
    }

    /// Number of operations before the next call of [`Meter::look`].
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Measures from the start on, without a warm-up.
    pub fn at_once(self, at_once: bool) -> Self {
        Self { at_once, ..self }
    }

    /// Waits for a far end that somebody else starts, until a signal arrives.
    pub fn patient(self, patient: bool) -> Self {
        Self { patient, ..self }
    }

    /// Whether a wait that timed out may be repeated whatever the far end does.
    pub fn is_patient(&self) -> bool {
        self.patient && !signal::caught()
    }

    /// Deadline of a wait for the far end.
    pub fn deadline(&self) -> Deadline {
        if self.patient {
            return Deadline::at_ns(self.endpoint.now_ns() + SIGNAL_NS);
        }
        Deadline::at_ns(self.looked_ns + PATIENCE_NS)
    }

    /// Whether the far end has made progress since the last call. If so, a wait that timed out may be
    /// repeated.
    pub fn progressed(&mut self, count: &Count) -> bool {
        let progressed = count.packets != self.looked_packets;
        self.look(count);
        progressed
    }

    /// Current time on the device's clock, ns.
    pub fn now_ns(&self) -> u64 {
        self.endpoint.now_ns()
    }

    /// Whether the warm-up is over.
    pub fn is_measuring(&self) -> bool {
        self.phase == Phase::Measuring
    }

    /// Reads the clocks. False when the time is over or a signal has arrived.
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
        } else if self.phase == Phase::Measuring {
            let over = match self.packets {
                Some(_) => self.is_complete(count),
                // A rate needs a packet, also on a machine too busy for one in this time.
                None => since >= self.seconds && count.packets > self.begin.count.packets,
            };
            if over {
                self.finish(count);
            }
        }
        if self.label.is_some() && now - self.said.0 >= INTERVAL_NS {
            self.say(now, count.bytes);
        }
        self.phase != Phase::Over && !signal::caught()
    }

    /// Ends the measured time.
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
            process: if self.process { ProcessTimes::now() } else { ProcessTimes::default() },
            machine: if self.process { MachineTimes::now() } else { None },
            link_us: self.links.as_ref().and_then(|read| read()),
        }
    }

    /// The figures of the run; `all` are the counts at its end.
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
                // The engine's time comes from samples. It ran in this thread, so limit it to the
                // time of the thread.
                engine_ns: engine_ns.min(cpu_ns),
            },
            all_packets: all.packets,
            wall_ns: end.now_ns - begin.now_ns,
            begin_ns: begin.now_ns,
            end_ns: end.now_ns,
            cpu_ns,
            device_ns: end.device_ns.saturating_sub(begin.device_ns),
            process: end.process.since(&begin.process),
            machine: end.machine.zip(begin.machine).map(|(end, begin)| end.since(&begin)),
            link_us: end.link_us.zip(begin.link_us).map(|(end, begin)| end.saturating_sub(begin)),
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

/// Warm-up time in seconds: fills caches, page tables and the link.
fn warm_up(seconds: f64) -> f64 {
    (seconds / 10.0).min(0.1)
}
