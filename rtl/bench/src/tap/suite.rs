//! Checks of what goes over a line, and their record.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::bridge::{Ask, Report, TICK};
use super::line::{Line, REFERENCE};
use super::proxy::{Connect, Serve};
use super::space::{self, Kernel};
use crate::bench::record::PeerRun;
use crate::builds;
use crate::peer::channel::Impair;

/// Ticks of the endpoint that sessions have to be idle again after a check: more than it tries to
/// send something again (`bridge::settings`).
const SETTLE: u64 = 60_000 / TICK;

/// What a check demands beside that its work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Nothing is sent again, no session breaks.
    Clean,
    /// All bytes arrive.
    Whole,
}

/// A check.
#[derive(Clone, Debug)]
pub struct Check {
    /// What is done.
    pub name: String,
    /// `client` or `server`: the role of the endpoint; or both.
    pub role: &'static str,
    /// Bytes of payload, both directions.
    pub bytes: u64,
    /// See there.
    pub demand: Demand,
}

/// A part of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// ARP and ping.
    Network,
    /// Large transfers in both roles, and segments of other sizes.
    Transfers,
    /// All sessions at a time; aborts.
    Sessions,
    /// Openings and closings, with loss of SYN, FIN and ACK too.
    Cycles,
    /// Readers that sleep: windows of zero.
    Windows,
    /// Lines with a delay, a rate, and each kind of fault at 1 % and 10 %.
    Lines,
    /// What tshark finds wrong.
    Captures,
    /// curl, a file each way.
    Curl,
    /// iperf3.
    Iperf3,
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Bytes of the large transfers, each way.
    pub large: u64,
    /// Bytes each way of a session, where all are at work.
    pub parallel: u64,
    /// Bytes of transfers over a bad line, each way, in each of 4 connections.
    pub small: u64,
    /// Openings and closings.
    pub cycles: u32,
    /// The long form.
    pub long: bool,
}

impl Size {
    /// The short form, or the long one.
    #[must_use]
    pub fn new(long: bool) -> Self {
        if long {
            Self { large: 100_000_000, parallel: 500_000, small: 250_000, cycles: 10_000, long }
        } else {
            Self { large: 2_000_000, parallel: 50_000, small: 20_000, cycles: 200, long }
        }
    }
}

/// What is tested, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// An endpoint by its name.
    pub endpoint: String,
    /// Its sessions.
    pub sessions: u16,
    /// How much is done.
    pub size: Size,
    /// Parts that are done; none: all.
    pub parts: Vec<Part>,
    /// Only checks whose name, with the role in brackets, contains this.
    pub only: String,
    /// Where captures of failed checks go.
    pub directory: PathBuf,
    /// Seed of the impairments.
    pub seed: u64,
}

impl Plan {
    /// Whether one of these parts is asked for.
    #[must_use]
    pub fn has(&self, parts: &[Part]) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|part| parts.contains(part))
    }

    /// Seed of the impairments of a check: the same whatever else is done.
    fn seed_of(&self, check: &Check) -> u64 {
        let sum = Sha256::digest(format!("{} {} {}", self.seed, check.role, check.name));
        sum.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
    }

    /// What all runs have in common.
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

    /// The record; the model's is its own.
    fn record(&self) -> String {
        let prefix = if self.endpoint == REFERENCE { "reference-" } else { "" };
        format!("{prefix}peers.json")
    }
}

/// Checks over a line, one after the other.
#[derive(Debug)]
pub struct Lab {
    line: Line,
    /// What is tested.
    pub plan: Plan,
    row: PeerRun,
    failed: Vec<String>,
}

impl Lab {
    /// Starts the line.
    ///
    /// # Errors
    /// Device, endpoint or ports.
    pub fn start(plan: &Plan, serve: Vec<Serve>, connect: Vec<Connect>) -> Result<Self, String> {
        let directory = &plan.directory;
        std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let row = plan.row()?;
        let line = Line::start(&plan.endpoint, serve, connect)?;
        Ok(Self { line, plan: plan.clone(), row, failed: Vec::new() })
    }

    /// Ends the line; what has failed.
    ///
    /// # Errors
    /// The bridge has failed.
    pub fn stop(self) -> Result<Vec<String>, String> {
        self.line.stop()?;
        Ok(self.failed)
    }

    /// Stalls the endpoint's users, from any thread.
    pub fn stalls(&self) -> impl Fn(bool) -> Result<(), String> + Sync + use<> {
        let asks = std::sync::Mutex::new(self.line.asks());
        move |stalled| {
            let asks = asks.lock().map_err(|_| "died".to_owned())?;
            asks.send(Ask::Stall(stalled)).map_err(|_| "the bridge has died".to_owned())
        }
    }

    /// Waits until no session is at work, as long as the endpoint's own time allows.
    fn settle(&self) -> Result<(), String> {
        let mut begin = None;
        loop {
            let busy = self.line.busy()?;
            let Some((sid, view)) = busy.sessions.first() else {
                return Ok(());
            };
            if busy.ticks - *begin.get_or_insert(busy.ticks) > SETTLE {
                return Err(format!(
                    "{} sessions are still at work after {SETTLE} ticks; session {sid}: {view:?}",
                    busy.sessions.len()
                ));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Does a check on a line with impairments, if its name is asked for; prints what came of it,
    /// and notes it. `judge` looks at what there was.
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
        // Where nothing is lost only the speed of the simulation makes answers late.
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

/// What must not be, as the line, Linux and the endpoint have counted.
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
        none("segments that Linux finds bad", kernel.errors);
        none("sessions broken off", report.broken);
        none("segments dropped for lack of room", counter("rx.no_room"));
    }
    wrong
}
