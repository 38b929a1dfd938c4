//! One suite of behaviour for every device and every face of it.
//!
//! A [`Fixture`] opens two endpoints that are joined by port 0 (SpaceFibre) and port 1 (SpaceWire)
//! and says what its device is able to do; [`run_all`] runs every [`Case`] on it. A case that needs
//! more than the device has is skipped, and the skip says what is missing. Cases know nothing of
//! what is behind the library: whatever passes here behaves alike.
//!
//! | module | what it asks |
//! | --- | --- |
//! | [`packets`] | every size, group, burst, chain and end arrives byte for byte |
//! | [`receive`] | packed areas and posted buffers, full and empty; nothing is ever lost |
//! | [`pooled`] | the same for queues that have their own buffers |
//! | [`waiting`] | deadlines, thresholds, descriptors; no wake-up is lost |
//! | [`lifetime`] | cancel, close, drop and reset at any moment; every buffer comes back |
//! | [`messages`] | broadcast messages and time-codes |
//! | [`load`] | everything at once, and counters that add up |
//! | [`time`] | paced links in virtual time: priorities and determinism |
//!
//! No case looks at how long anything takes; every wait is bounded.

pub mod kit;
pub mod lifetime;
pub mod load;
pub mod messages;
pub mod packets;
pub mod pooled;
pub mod receive;
pub mod time;
pub mod waiting;

use spfe::Endpoint;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Something a device may be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Its time is that of the machine.
    RealTime,
    /// Its time moves only when everybody waits.
    VirtualTime,
    /// Its SpaceFibre link takes time.
    Paced,
    /// Burst entries.
    Burst,
    /// Packed receive.
    Packed,
    /// Broadcast messages and time-codes.
    Message,
    /// Descriptors that become readable.
    Event,
    /// A reset completes what is pending.
    Reset,
    /// What a sender is told is so at the receiver: no link keeps anything in between.
    EndToEnd,
    /// It says who uses a port. A driver, which keeps its users apart, does not.
    Owners,
    /// A network of its own for each case: counters begin at 0.
    Fresh,
}

impl Capability {
    /// All that an unpaced device in real time can have.
    pub const UNLIMITED: [Self; 9] = [
        Self::RealTime,
        Self::Burst,
        Self::Packed,
        Self::Message,
        Self::Event,
        Self::Reset,
        Self::EndToEnd,
        Self::Owners,
        Self::Fresh,
    ];

    /// What programs call it.
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
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RealTime => "real time, in which threads and descriptors sleep",
            Self::VirtualTime => "virtual time, which stands still between waits",
            Self::Paced => "a paced link",
            Self::Burst => "burst entries",
            Self::Packed => "packed receive",
            Self::Message => "broadcast messages and time-codes",
            Self::Event => "event descriptors",
            Self::Reset => "reset of what is pending",
            Self::EndToEnd => {
                "a sender that is told of its receiver: no link keeps words in between"
            }
            Self::Owners => "a device that names the users of a port",
            Self::Fresh => "a network of its own, whose counters begin at 0",
        })
    }
}

/// A device to be held to the suite.
pub struct Fixture {
    /// Its name, for people.
    pub name: String,
    /// Two endpoints of a fresh network, joined by port 0 (SpaceFibre) and port 1 (SpaceWire).
    pub open: Box<dyn Fn() -> (Endpoint, Endpoint) + Send + Sync>,
    /// What it is able to do.
    pub capabilities: Vec<Capability>,
}

impl Fixture {
    /// A device.
    pub fn new(
        name: impl Into<String>,
        capabilities: &[Capability],
        open: impl Fn() -> (Endpoint, Endpoint) + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), open: Box::new(open), capabilities: capabilities.to_vec() }
    }

    /// Whether the device has it.
    pub fn has(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// What a case needs and the device has not.
    pub fn missing(&self, case: &Case) -> Option<Capability> {
        case.needs.iter().copied().find(|need| !self.has(*need))
    }
}

/// One behaviour.
#[derive(Clone, Copy)]
pub struct Case {
    /// Its name: what is true when it passes.
    pub name: &'static str,
    /// What the device must be able to do.
    pub needs: &'static [Capability],
    /// Panics if it is not true.
    pub run: fn(&Fixture),
}

/// The cases of a module: functions of that name, with what they need.
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
    load::CASES,
    time::CASES,
];

/// A case that begins no wait for so long hangs: each of its waits ends sooner.
const HANGS: Duration = Duration::from_secs(120);
/// One that takes so long goes round and round.
const ENDLESS: Duration = Duration::from_secs(900);
const _: () = assert!(kit::SOON.as_secs() * 2 < HANGS.as_secs());

/// What became of a case.
pub enum Outcome {
    /// It passed.
    Passed,
    /// The device has not what it needs.
    Skipped(Capability),
    /// Why it failed.
    Failed(String),
}

/// Runs every case on a device; with SPFE_CASE in the environment only those whose name contains
/// it. Tells of each, and how long it took.
pub fn run_each(fixture: &'static Fixture, mut tell: impl FnMut(&Case, Outcome, Duration)) {
    let wanted = std::env::var("SPFE_CASE").unwrap_or_default();
    for case in CASES.iter().copied().flatten().filter(|case| case.name.contains(&wanted)) {
        let start = Instant::now();
        let outcome = match fixture.missing(case) {
            Some(missing) => Outcome::Skipped(missing),
            None => run(fixture, case).map_or_else(Outcome::Failed, |()| Outcome::Passed),
        };
        tell(case, outcome, start.elapsed());
    }
}

/// Runs every case on a device ([`run_each`]) and prints one line for each.
///
/// # Panics
/// When all have run, if any failed.
pub fn run_all(fixture: &'static Fixture) {
    let mut failed = Vec::new();
    run_each(fixture, |case, outcome, time| {
        let (what, ms) = (format!("{} on {}", case.name, fixture.name), time.as_millis());
        match outcome {
            Outcome::Skipped(missing) => println!("skip {what}: needs {missing}"),
            Outcome::Passed => println!("ok   {what} ({ms} ms)"),
            Outcome::Failed(why) => {
                println!("FAIL {what} ({ms} ms): {why}");
                failed.push(format!("\n{}: {why}", case.name));
            }
        }
    });
    let count = failed.len();
    assert!(failed.is_empty(), "{}: {count} cases failed{}", fixture.name, failed.concat());
}

/// Runs a case in a thread of its own, so that one that hangs is known by its name.
fn run(fixture: &'static Fixture, case: &'static Case) -> Result<(), String> {
    let (done, result) = channel();
    let body = move || {
        let passed = catch_unwind(AssertUnwindSafe(|| (case.run)(fixture)));
        // Nobody listens to a case that was given up.
        let _ = done.send(passed.map_err(|panic| said(&*panic)));
    };
    let thread = std::thread::Builder::new().name(case.name.to_owned()).spawn(body);
    let thread = thread.map_err(|error| format!("no thread: {error}"))?;
    let passed = result_of(&result)?;
    let _ = thread.join();
    passed
}

/// Waits for the result of a case for as long as it goes on. A machine that is busy makes all of
/// it slow, so the time from one wait to the next is what counts. Cases of other devices that run
/// beside it count as well: then one that hangs is found when they have ended.
fn result_of<T>(result: &Receiver<T>) -> Result<T, String> {
    let (start, mut last, mut begun) = (Instant::now(), Instant::now(), kit::waits_begun());
    loop {
        match result.recv_timeout(Duration::from_secs(1)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err("its thread is gone".into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = kit::waits_begun();
        if now != begun {
            (last, begun) = (Instant::now(), now);
        }
        if last.elapsed() >= HANGS {
            return Err(format!("it hangs: no wait begun for {HANGS:?}"));
        }
        if start.elapsed() >= ENDLESS {
            return Err(format!("it does not end in {ENDLESS:?}"));
        }
    }
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without words").to_owned()
}
