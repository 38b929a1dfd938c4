//! Runs checks over a line and records them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::bridge::{Ask, Counted, Report, TICK};
use super::line::{BridgeThread, REFERENCE};
use super::proxy::{Connect, Serve};
use super::space::{self, Kernel};
use crate::bench::record::PeerRun;
use crate::builds;
use crate::peer::channel::Impair;

/// Number of ticks within which all sessions must be free after a check. It is longer than all
/// retransmissions together (`bridge::settings`).
const SETTLE: u64 = 60_000 / TICK;

/// Requirement of a check in addition to the success of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// No retransmission and no broken session.
    Clean,
    /// All bytes arrive.
    Whole,
}

/// A check over the line.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name of the check.
    pub name: String,
    /// Role of the endpoint: `client`, `server` or `both`.
    pub role: &'static str,
    /// Bytes of payload in both directions.
    pub bytes: u64,
    /// Requirement of the check.
    pub demand: Demand,
}

/// Makes a check.
pub(super) fn check(
    name: impl Into<String>,
    role: &'static str,
    bytes: u64,
    demand: Demand,
) -> Check {
    Check { name: name.into(), role, bytes, demand }
}

/// A judge that accepts every report.
pub(super) fn any(_: &Report) -> Result<(), String> {
    Ok(())
}

/// A part of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// ARP and ping.
    Network,
    /// Large transfers in both roles, and segments of other sizes.
    Transfers,
    /// All sessions at the same time, and aborts.
    Sessions,
    /// Opening and closing, also with loss of SYN, FIN and ACK.
    Cycles,
    /// Closed windows, with readers that wait.
    Windows,
    /// Lines with a delay, a rate limit, and each kind of impairment at 1 % and 10 %.
    Lines,
    /// Errors that tshark finds in captures.
    Captures,
    /// Downloads and uploads with curl.
    Curl,
    /// iperf3.
    Iperf3,
}

/// Amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Bytes of large transfers in each direction.
    pub large: u64,
    /// Bytes of a session in each direction, if all sessions are in use.
    pub parallel: u64,
    /// Bytes in each direction over a bad line, in each of 4 connections.
    pub small: u64,
    /// Number of cycles of opening and closing.
    pub cycles: u32,
    /// Whether this is the long form.
    pub long: bool,
}

impl Size {
    /// The amount of the short or the long form.
    #[must_use]
    pub fn new(long: bool) -> Self {
        if long {
            Self { large: 100_000_000, parallel: 500_000, small: 250_000, cycles: 10_000, long }
        } else {
            Self { large: 2_000_000, parallel: 50_000, small: 20_000, cycles: 200, long }
        }
    }
}

/// Parameters of a test.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Number of its sessions.
    pub sessions: u16,
    /// Whether it checks what it receives (RX_CHECKSUM).
    pub sums: bool,
    /// Amount of work.
    pub size: Size,
    /// Parts to run, or all parts if empty.
    pub parts: Vec<Part>,
    /// Only checks whose printed name, `NAME (ROLE)`, contains this text run.
    pub only: String,
    /// Directory for captures of failed checks.
    pub directory: PathBuf,
    /// Seed of the impairments.
    pub seed: u64,
}

impl Plan {
    /// Whether one of these parts is selected.
    #[must_use]
    pub fn has(&self, parts: &[Part]) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|part| parts.contains(part))
    }

    /// Seed of the impairments of a check, independent of other checks.
    fn seed_of(&self, check: &Check) -> u64 {
        let sum = Sha256::digest(format!("{} {} {}", self.seed, check.role, check.name));
        sum.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
    }

    /// The fields that are equal in all runs.
    fn row(&self) -> Result<PeerRun, String> {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let model = self.endpoint == REFERENCE;
        Ok(PeerRun {
            endpoint: self.endpoint.clone(),
            core: if model { String::new() } else { builds::sources()? },
            form: if self.size.long { "long" } else { "short" }.to_owned(),
            peer: format!("Linux {}", kernel.trim()),
            ..PeerRun::default()
        })
    }

    /// Name of the record. The software model has its own.
    fn record(&self) -> String {
        let prefix = if self.endpoint == REFERENCE { "reference-" } else { "" };
        format!("{prefix}peers.json")
    }
}

/// Runs checks over a line, one after the other.
#[derive(Debug)]
pub struct Lab {
    line: BridgeThread,
    /// Parameters of the test.
    pub plan: Plan,
    row: PeerRun,
    failed: Vec<String>,
}

impl Lab {
    /// Starts the line.
    ///
    /// # Errors
    /// The device, the endpoint or the ports cannot be set up.
    pub fn start(plan: &Plan, serve: Vec<Serve>, connect: Vec<Connect>) -> Result<Self, String> {
        let directory = &plan.directory;
        std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let row = plan.row()?;
        let line = BridgeThread::start(&plan.endpoint, serve, connect)?;
        Ok(Self { line, plan: plan.clone(), row, failed: Vec::new() })
    }

    /// Stops the line and returns the failures.
    ///
    /// # Errors
    /// The bridge has failed.
    pub fn stop(self) -> Result<Vec<String>, String> {
        self.line.stop()?;
        Ok(self.failed)
    }

    /// A function that stalls the endpoint's users, for any thread.
    pub fn stalls(&self) -> impl Fn(bool) -> Result<(), String> + Sync + use<> {
        let asks = std::sync::Mutex::new(self.line.asks());
        move |stalled| {
            let asks = asks.lock().map_err(|_| "died".to_owned())?;
            asks.send(Ask::Stall(stalled)).map_err(|_| "the bridge has ended".to_owned())
        }
    }

    /// A function that reads a counter of the endpoint, for any thread.
    pub fn counts(&self) -> impl Fn(&'static str) -> Result<Counted, String> + use<> {
        let asks = self.line.asks();
        let died = || "the bridge has ended".to_owned();
        move |name| {
            let (sender, answer) = std::sync::mpsc::channel();
            asks.send(Ask::Counter(name, sender)).map_err(|_| died())?;
            answer.recv().map_err(|_| died())
        }
    }

    /// Waits until no session is in use, limited by the endpoint's time.
    fn settle(&self) -> Result<(), String> {
        let mut begin = None;
        loop {
            let busy = self.line.busy()?;
            let Some((sid, view)) = busy.sessions.first() else {
                return Ok(());
            };
            if busy.ticks - *begin.get_or_insert(busy.ticks) > SETTLE {
                return Err(format!(
                    "{} sessions are still in use after {SETTLE} ticks; session {sid}: {view:?}",
                    busy.sessions.len()
                ));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs a check on a line with impairments, if it is selected. Prints and records the result.
    /// `judge` checks the report of the line.
    ///
    /// # Errors
    /// The bridge has ended, or the record cannot be written.
    pub fn check(
        &mut self,
        check: &Check,
        impair: Impair,
        work: impl FnOnce() -> Result<(), String>,
        judge: impl FnOnce(&Report) -> Result<(), String>,
    ) -> Result<(), String> {
        let title = format!("{} ({})", check.name, check.role);
        if !title.contains(&self.plan.only) {
            return Ok(());
        }
        let before = Kernel::now()?;
        self.line.report()?;
        // If nothing is lost, answers are only late because the simulation is slow.
        space::patience(check.demand == Demand::Clean)?;
        self.line.ask(Ask::Impair(impair, impair, self.plan.seed_of(check)))?;
        let start = Instant::now();
        let mut wrong = Vec::from_iter(work().err());
        let time = start.elapsed();
        wrong.extend(self.settle().err());
        let report = self.line.report()?;
        let kernel = Kernel::now()?.since(before);
        self.line.ask(Ask::Impair(Impair::default(), Impair::default(), 0))?;
        wrong.extend(faults(check.demand, &report, kernel));
        wrong.extend(judge(&report).err());
        let detail = wrong.join("; ");
        let passed = wrong.is_empty();
        println!("{} {title}", if passed { "ok" } else { "not ok" });
        let again = |name| report.counter(name).unwrap_or(0);
        let core = report.out.again.max((again("eng.rto") + again("eng.fast_rexmit")).into());
        let rate = check.bytes as f64 * 8e-6 / time.as_secs_f64();
        println!(
            "# {:.1} s, {rate:.1} Mbit/s, {} frames out, {} in, {} lost or changed, sent again: \
             {core} by the endpoint, {} by Linux; time stood still for {} ms",
            time.as_secs_f64(),
            report.out.frames,
            report.inward.frames,
            report.hits,
            kernel.retransmissions,
            report.still
        );
        if !passed {
            println!("# {detail}");
            self.failed.push(format!("{title}: {detail}"));
            self.keep(check, &report)?;
        }
        let run = PeerRun {
            name: check.name.clone(),
            role: check.role.to_owned(),
            seed: self.plan.seed,
            bytes: check.bytes,
            frames_out: report.out.frames,
            frames_in: report.inward.frames,
            impaired: report.hits,
            core_retransmissions: core,
            peer_retransmissions: kernel.retransmissions,
            passed,
            detail,
            ..self.row.clone()
        };
        run.keep(&self.plan.record())
    }

    fn keep(&self, check: &Check, report: &Report) -> Result<(), String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = check.name.chars().map(plain).collect();
        for (capture, side) in report.captures.iter().zip(["peer", "core"]) {
            let path = self.plan.directory.join(format!("{name}-{}.{side}.pcapng", check.role));
            capture.write(&path)?;
            println!("# seed {}, {}", self.plan.seed, path.display());
        }
        let counters = report.counters.iter().filter(|(_, value)| *value != 0);
        let counters: Vec<String> = counters.map(|(n, value)| format!("{n} {value}")).collect();
        println!("# counters: {}", counters.join(", "));
        Ok(())
    }
}

/// Violations of the requirement, from the counters of the line, Linux and the endpoint.
fn faults(demand: Demand, report: &Report, kernel: Kernel) -> Vec<String> {
    let mut wrong = Vec::new();
    let (malformed, first) = &report.malformed;
    if *malformed != 0 {
        wrong.push(format!("{malformed} frames of the endpoint are malformed; the first: {first}"));
    }
    let mut none = |what: &str, count: u64| {
        if count != 0 {
            wrong.push(format!("{count} {what}"));
        }
    };
    let counter = |name| u64::from(report.counter(name).unwrap_or(0));
    none("events lost", counter("eng.lost_event") + counter("event_lost"));
    if demand == Demand::Clean {
        none("segments sent again by the endpoint", report.out.again);
        none("time-outs of the endpoint", counter("eng.rto"));
        none("fast retransmissions of the endpoint", counter("eng.fast_rexmit"));
        none("segments sent again by Linux, on the line", report.inward.again);
        none("segments sent again by Linux", kernel.retransmissions);
        none("time-outs of Linux", kernel.timeouts);
        none("segments that Linux counts as errors", kernel.errors);
        none("sessions aborted", report.broken);
        none("segments dropped for lack of room", counter("rx.no_room"));
    }
    wrong
}
