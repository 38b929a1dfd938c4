//! One suite of behaviour for every device, and for every face of a device.
//!
//! A [`Fixture`] opens two endpoints whose ports 0 (SpaceFibre) and 1 (SpaceWire, if the device has
//! such ports) are joined, and lists the capabilities of its device. [`run_case`] holds the device to one [`Case`]. A case that
//! needs a capability which the device lacks is skipped, with the name of that capability. Cases
//! use the public library only, so every device that passes behaves alike.
//!
//! | module | behaviour |
//! | --- | --- |
//! | [`packets`] | every size, group, burst, chain and end arrives byte for byte |
//! | [`receive`] | packed areas and posted buffers, full and empty; no packet is lost |
//! | [`pooled`] | the same for queues with their own buffers |
//! | [`waiting`] | deadlines, thresholds and descriptors; no wake-up is lost |
//! | [`lifetime`] | cancel, close, drop and reset at any moment; every buffer is returned |
//! | [`messages`] | broadcast messages and time-codes |
//! | [`rdma`] | work requests of a queue pair, in the device and in the program |
//! | [`bad_input`] | statuses and counters of wrong packets of RDMA |
//! | [`load`] | many things at once, and counters that add up |
//! | [`time`] | paced links in virtual time: priorities and determinism |
//!
//! No case measures time, and every wait is bounded. [`faces`] is the suite for other languages.

pub mod bad_input;
pub mod faces;
pub mod kit;
pub mod lifetime;
pub mod load;
pub mod messages;
pub mod packets;
pub mod pooled;
pub mod rdma;
pub mod receive;
pub mod time;
pub mod waiting;

use spfe::Endpoint;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A property of a device that some cases need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Device time is the time of the machine.
    RealTime,
    /// Device time advances only while every participant waits.
    VirtualTime,
    /// The SpaceFibre link has a limited rate.
    Paced,
    /// Burst submissions.
    Burst,
    /// Packed receive.
    Packed,
    /// Broadcast messages and time-codes.
    Message,
    /// Event descriptors.
    Event,
    /// A reset completes pending submissions.
    Reset,
    /// A transmit completion means that the packet is in the receiver's memory. An exact link,
    /// which stores words in between, does not have this.
    EndToEnd,
    /// The device reports who uses a port. A kernel driver keeps its users apart and does not.
    Owners,
    /// Each case gets a network of its own, so counters start at 0.
    Fresh,
    /// Queue pairs of RDMA. Without them the program has the engine, which needs nothing of a device.
    Pairs,
    /// Port 1 is a SpaceWire port.
    SpaceWire,
    /// Queue pairs count each kind of bad packet by name. A device of contract 1.7 behind registers has
    /// sums only.
    Counters,
    /// Short packets come beside their completions. Without it they come in buffers all the same.
    Beside,
}

impl Capability {
    /// Every capability of an unpaced device in real time.
    pub const UNLIMITED: [Self; 12] = [
        Self::RealTime,
        Self::Burst,
        Self::Packed,
        Self::Message,
        Self::Event,
        Self::Reset,
        Self::EndToEnd,
        Self::Owners,
        Self::Fresh,
        Self::Pairs,
        Self::SpaceWire,
        Self::Counters,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::VirtualTime => "virtual-time",
            Self::Paced => "paced",
            Self::Burst => "burst",
            Self::Packed => "packed",
            Self::Message => "message",
            Self::Event => "event",
            Self::Reset => "reset",
            Self::EndToEnd => "end-to-end",
            Self::Owners => "owners",
            Self::Fresh => "fresh",
            Self::Pairs => "pairs",
            Self::SpaceWire => "space-wire",
            Self::Counters => "counters",
            Self::Beside => "beside",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RealTime => "real time, in which threads and descriptors sleep",
            Self::VirtualTime => "virtual time, which stands still between waits",
            Self::Paced => "a paced link",
            Self::Burst => "burst submissions",
            Self::Packed => "packed receive",
            Self::Message => "broadcast messages and time-codes",
            Self::Event => "event descriptors",
            Self::Reset => "a reset that completes pending submissions",
            Self::EndToEnd => "a link that stores nothing between sender and receiver",
            Self::Owners => "a device that reports who uses a port",
            Self::Fresh => "a network of its own, whose counters start at 0",
            Self::Pairs => "queue pairs",
            Self::SpaceWire => "a SpaceWire port",
            Self::Counters => "queue pairs that name their counters",
            Self::Beside => "wide completions",
        })
    }
}

/// A device under test.
pub struct Fixture {
    /// Name of the device in reports.
    pub name: String,
    /// Opens two endpoints, joined by their ports 0 (SpaceFibre) and 1 (SpaceWire).
    pub open: Box<dyn Fn() -> (Endpoint, Endpoint) + Send + Sync>,
    /// Capabilities of the device.
    pub capabilities: Vec<Capability>,
}

impl Fixture {
    /// A device with these capabilities. `open` is called once in each case.
    pub fn new(
        name: impl Into<String>,
        capabilities: &[Capability],
        open: impl Fn() -> (Endpoint, Endpoint) + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), open: Box::new(open), capabilities: capabilities.to_vec() }
    }

    /// Whether the device has a capability.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// A capability that a case needs and the device lacks.
    pub fn missing(&self, case: &Case) -> Option<Capability> {
        case.needs.iter().copied().find(|need| !self.has(*need))
    }
}

/// One behaviour that a device must have.
#[derive(Clone, Copy)]
pub struct Case {
    /// The behaviour, as a sentence that is true when the case passes.
    pub name: &'static str,
    /// Capabilities that the case needs.
    pub needs: &'static [Capability],
    /// Runs the case. Panics if the device behaves otherwise.
    pub run: fn(&Fixture),
}

/// The cases of a module: functions of that name, with the capabilities they need.
macro_rules! cases {
    ($($name:ident: [$($need:ident),*]),* $(,)?) => {
        /// The cases of this module.
        pub const CASES: &[$crate::Case] = &[$($crate::Case {
            name: stringify!($name),
            needs: &[$($crate::Capability::$need),*],
            run: $name,
        }),*];
    };
}
pub(crate) use cases;

/// Every case of the suite, by module.
pub const CASES: &[&[Case]] = &[
    packets::CASES,
    receive::CASES,
    pooled::CASES,
    waiting::CASES,
    lifetime::CASES,
    messages::CASES,
    rdma::CASES,
    bad_input::CASES,
    load::CASES,
    time::CASES,
];

/// A case that starts no bounded wait for this long has hung, because each of its waits is shorter.
const HANGS: Duration = Duration::from_secs(120);
/// A case that takes this long is in an endless loop.
const ENDLESS: Duration = Duration::from_secs(900);
const _: () = assert!(kit::SOON.as_secs() * 2 < HANGS.as_secs());

/// Result of a case.
pub enum Outcome {
    /// The device behaves as the case demands.
    Passed,
    /// The device lacks this capability.
    Skipped(Capability),
    /// The panic message of the case.
    Failed(String),
}

/// Holds a device to one case.
pub fn run_case(fixture: &'static Fixture, case: &'static Case) -> Outcome {
    match fixture.missing(case) {
        Some(missing) => Outcome::Skipped(missing),
        None => run(fixture, case).map_or_else(Outcome::Failed, |()| Outcome::Passed),
    }
}

/// Runs a case in a thread of its own, so that a case that hangs can be reported by name.
fn run(fixture: &'static Fixture, case: &'static Case) -> Result<(), String> {
    let (done, result) = channel();
    let body = move || {
        let passed = catch_unwind(AssertUnwindSafe(|| (case.run)(fixture)));
        // The receiver is gone if the case was given up.
        let _ = done.send(passed.map_err(|panic| message_of(&*panic)));
    };
    let thread = std::thread::Builder::new().name(case.name.to_owned()).spawn(body);
    let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
    let passed = result_of(&result)?;
    let _ = thread.join();
    passed
}

/// Waits for the result of a case for as long as it makes progress. The time since the last bounded
/// wait began is what counts, because a busy machine makes everything slow. Cases that run in other
/// threads count as progress too, so a case that hangs beside them is reported after they have
/// ended.
fn result_of<T>(result: &Receiver<T>) -> Result<T, String> {
    let (start, mut last, mut begun) = (Instant::now(), Instant::now(), kit::waits_begun());
    loop {
        match result.recv_timeout(Duration::from_secs(1)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("the thread of the case is gone".into());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = kit::waits_begun();
        if now != begun {
            (last, begun) = (Instant::now(), now);
        }
        let (hangs, endless) = (HANGS * kit::patience(), ENDLESS * kit::patience());
        if last.elapsed() >= hangs {
            return Err(format!("the case hangs: it started no wait for {hangs:?}"));
        }
        if start.elapsed() >= endless {
            return Err(format!("the case did not end within {endless:?}"));
        }
    }
}

/// The message of a panic.
fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
