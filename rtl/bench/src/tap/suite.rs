//! A bridge at work in a thread, and checks of what goes over it.

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::bridge::{Ask, Bridge, Report};
use super::proxy::{Connect, Serve};
use super::space::{self, Kernel};
use crate::bench::record::PeerRun;
use crate::core::Core;
use crate::drill::endpoint::{Build, Endpoint, View};
use crate::peer::channel::Impair;
use crate::reference::Reference;

/// Sessions have this long to be idle again after a check.
const SETTLE: Duration = Duration::from_secs(20);
/// Name of the endpoint in software.
pub const REFERENCE: &str = "reference";

/// An endpoint by its name: the reference, or a build of the core.
///
/// # Errors
/// The build cannot be made or loaded.
pub fn endpoint(name: &str) -> Result<Box<dyn Endpoint>, String> {
    if name == REFERENCE {
        let build = Build { session_count: 64, ..Build::default() };
        return Ok(Box::new(Reference::new(build)));
    }
    Ok(Box::new(Core::new(name).map_err(|error| error.to_string())?))
}

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

/// The bridge and the results.
pub struct Lab {
    asks: Sender<Ask>,
    bridge: JoinHandle<Result<(), String>>,
    /// Where captures of failed checks go.
    pub directory: PathBuf,
    /// Seed of the impairments of the next check.
    pub seed: u64,
    /// Results.
    pub runs: Vec<PeerRun>,
}

impl Lab {
    /// Starts a bridge.
    ///
    /// # Errors
    /// Device, endpoint or ports.
    pub fn start(
        name: &str,
        serve: Vec<Serve>,
        connect: Vec<Connect>,
        directory: PathBuf,
        seed: u64,
    ) -> Result<Self, String> {
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let tap = space::device()?;
        let (asks, asked) = channel();
        let (ready, is_ready) = channel();
        let name = name.to_owned();
        let bridge = std::thread::spawn(move || {
            let made = endpoint(&name).and_then(|ep| Bridge::new(ep, tap, &serve, &connect));
            let mut bridge = match made {
                Ok(bridge) => bridge,
                Err(error) => {
                    drop(ready.send(Err(error.clone())));
                    return Err(error);
                }
            };
            drop(ready.send(Ok(())));
            bridge.run(&asked)
        });
        is_ready.recv().map_err(|_| "the bridge has died".to_owned())??;
        Ok(Self { asks, bridge, directory, seed, runs: Vec::new() })
    }

    /// Ends the bridge; the results.
    ///
    /// # Errors
    /// The bridge has failed.
    pub fn stop(self) -> Result<Vec<PeerRun>, String> {
        // It may have ended by itself.
        drop(self.asks.send(Ask::Stop));
        self.bridge.join().map_err(|_| "the bridge has died".to_owned())??;
        Ok(self.runs)
    }

    /// Asks the bridge for something else.
    ///
    /// # Errors
    /// It has ended.
    pub fn ask(&self, ask: Ask) -> Result<(), String> {
        self.asks.send(ask).map_err(|_| "the bridge has died".to_owned())
    }

    /// For asking from another thread.
    #[must_use]
    pub fn asks(&self) -> Sender<Ask> {
        self.asks.clone()
    }

    fn busy(&self) -> Result<Vec<(u16, View)>, String> {
        let (sender, receiver) = channel();
        self.ask(Ask::Busy(sender))?;
        receiver.recv().map_err(|_| "the bridge has died".to_owned())
    }

    /// What there was since the last time.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn report(&self) -> Result<Report, String> {
        let (sender, receiver) = channel();
        self.ask(Ask::Report(sender))?;
        receiver.recv().map_err(|_| "the bridge has died".to_owned())
    }

    fn settle(&self) -> Result<(), String> {
        let end = Instant::now() + SETTLE;
        loop {
            let busy = self.busy()?;
            let Some((sid, view)) = busy.first() else {
                return Ok(());
            };
            if Instant::now() > end {
                return Err(format!(
                    "{} sessions are still at work after {SETTLE:?}; session {sid}: {view:?}",
                    busy.len()
                ));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Does a check on a line with impairments, prints what came of it, and notes it. `judge` looks at
    /// what there was.
    ///
    /// # Errors
    /// The bridge has ended.
    pub fn check(
        &mut self,
        check: &Check,
        impair: Impair,
        work: impl FnOnce() -> Result<(), String>,
        judge: impl FnOnce(&Report) -> Result<(), String>,
    ) -> Result<(), String> {
        let before = Kernel::now()?;
        self.report()?;
        // Where nothing is lost only the speed of the simulation makes answers late.
        space::patience(check.demand == Demand::Clean)?;
        self.ask(Ask::Impair(impair, impair, self.seed))?;
        let start = Instant::now();
        let mut wrong = Vec::from_iter(work().err());
        let time = start.elapsed();
        wrong.extend(self.settle().err());
        let report = self.report()?;
        let kernel = Kernel::now()?.since(before);
        self.ask(Ask::Impair(Impair::default(), Impair::default(), 0))?;
        wrong.extend(faults(check.demand, &report, kernel));
        wrong.extend(judge(&report).err());
        let detail = wrong.join("; ");
        let passed = wrong.is_empty();
        println!("{} {} ({})", if passed { "ok" } else { "not ok" }, check.name, check.role);
        let again = |name| report.counter(name).unwrap_or(0);
        let core = report.out.again.max((again("eng.rto") + again("eng.fast_rexmit")).into());
        if passed {
            let rate = check.bytes as f64 * 8e-6 / time.as_secs_f64();
            println!(
                "# {:.1} s, {rate:.1} Mbit/s, {} frames out, {} in, {} lost or changed, sent again: \
                 {core} by the endpoint, {} by Linux",
                time.as_secs_f64(),
                report.out.frames,
                report.inward.frames,
                report.hits,
                kernel.retransmissions
            );
        } else {
            println!("# {detail}");
            self.keep(check, &report)?;
        }
        self.runs.push(PeerRun {
            name: check.name.clone(),
            role: check.role.to_owned(),
            bytes: check.bytes,
            core_retransmissions: core,
            peer_retransmissions: kernel.retransmissions,
            passed,
            detail,
        });
        Ok(())
    }

    fn keep(&self, check: &Check, report: &Report) -> Result<(), String> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = check.name.chars().map(plain).collect();
        for (capture, side) in report.captures.iter().zip(["peer", "core"]) {
            let path = self.directory.join(format!("{name}-{}.{side}.pcapng", check.role));
            capture.write(&path)?;
            println!("# seed {}, {}", self.seed, path.display());
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
