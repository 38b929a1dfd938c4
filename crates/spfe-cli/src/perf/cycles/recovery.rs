//! Times after bit errors: a saturated link both ways, with errors in one direction.

use super::bench::{Bench, Run};
use super::host::{Receiving, Sending};
use super::{CABLE_NS, Line, describe, meta};
use crate::context::Context;
use crate::error::Failure;
use crate::output;
use crate::perf::args::RecoveryArgs;
use crate::perf::{LinkRate, PUBLISHED_RDMA};
use serde_json::{Value, json};
use spfe_rtl::{ControlWord, Damage, Moment, Program};

/// Bytes of the packets.
const SIZE: usize = 4 << 10;
const GROUP: usize = 64;
const WINDOW: usize = 1 << 20;
/// Cycles between two errors: at least the first, at most both together.
const PAUSE: u64 = 1500;
const MORE: u64 = 1000;
/// Bits and symbols of a word.
const BITS: u64 = 32;
const SYMBOLS: u64 = 4;
/// Bytes of a word.
const WORD: u64 = 4;

/// What was damaged, by how it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Error {
    /// A symbol: at once.
    Symbol,
    /// A bit: by the CRC, at the end of the frame.
    Bit,
    /// The start of a data frame. The receiver then ignores the frame, its end included (50-11C
    /// 5.7.8), and notices at the sequence number of what follows.
    Start,
}

impl Error {
    const ALL: [Self; 3] = [Self::Symbol, Self::Bit, Self::Start];

    const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::Bit => "bit",
            Self::Start => "start",
        }
    }
}

/// The last damaged word, and what has happened since.
#[derive(Clone, Copy, Debug)]
struct Hit {
    cycle: u64,
    error: Error,
    /// When RETRY was sent.
    retry: Option<u64>,
    /// Whether the resend has begun.
    resent: bool,
    /// Bytes written by the receiver when they last rose, the cycle, and the longest pause.
    written: (u64, u64),
    pause: u64,
}

/// A finished error.
#[derive(Clone, Copy, Debug)]
struct Recovered {
    error: Error,
    /// Cycles until the first resent frame began, 0 if nothing was sent again.
    resend: u64,
    /// Longest time without a byte for memory, cycles.
    pause: u64,
}

struct Errors {
    run: Run,
    random: u64,
    bytes: u64,
    next: u64,
    /// Whether the word before was the start of a data frame.
    after_start: bool,
    hit: Option<Hit>,
    done: Vec<Recovered>,
}

impl Errors {
    fn random(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % below
    }

    /// Follows the last error.
    fn follow(&mut self, now: &Moment<'_>) {
        let Some(hit) = &mut self.hit else { return };
        match now.control(0, 0) {
            Some(ControlWord::Retry) if hit.retry.is_none() => hit.retry = Some(now.cycle()),
            Some(ControlWord::Sdf { .. }) if hit.retry.is_some() && !hit.resent => {
                hit.resent = true;
                hit.retry = Some(now.cycle());
            }
            _ => {}
        }
        let written = now.counts(1).bytes.1;
        if written != hit.written.0 {
            hit.pause = hit.pause.max(now.cycle() - hit.written.1);
            hit.written = (written, now.cycle());
        }
    }

    fn strike(&mut self, now: &mut Moment<'_>) {
        if let Some(hit) = self.hit.take() {
            let resend = hit.retry.filter(|_| hit.resent).map_or(0, |retry| retry - hit.cycle);
            self.done.push(Recovered { error: hit.error, resend, pause: hit.pause });
        }
        let symbol = self.random(2) == 0;
        let damage = if symbol {
            Damage::Symbol(self.random(SYMBOLS) as u32)
        } else {
            Damage::Bit(self.random(BITS) as u32)
        };
        // A damaged symbol spoils the word before, too (50-11C 5.5.7).
        let error = match symbol {
            _ if starts(now) || symbol && self.after_start => Error::Start,
            true => Error::Symbol,
            false => Error::Bit,
        };
        let lane = self.random(now.sent(0, 0).len() as u64) as usize;
        now.damage(0, 0, lane, damage);
        let written = (now.counts(1).bytes.1, now.cycle());
        let (cycle, retry, resent, pause) = (now.cycle(), None, false, 0);
        self.hit = Some(Hit { cycle, error, retry, resent, written, pause });
        self.next = now.cycle() + PAUSE + self.random(MORE);
    }
}

/// Whether a data frame starts in this cycle.
fn starts(now: &Moment<'_>) -> bool {
    matches!(now.control(0, 0), Some(ControlWord::Sdf { .. }))
}

impl Program for Errors {
    fn cycle(&mut self, now: &mut Moment<'_>) -> bool {
        self.follow(now);
        let starts = starts(now);
        if self.next == 0 {
            self.next = now.cycle() + PAUSE;
        }
        if now.cycle() >= self.next && self.run.bytes() < self.bytes {
            self.strike(now);
        }
        self.after_start = starts;
        if self.run.bytes() >= self.bytes {
            self.run.stop();
        }
        self.run.go_on(now)
    }
}

/// Damages words of one direction until enough have arrived, then prints the times.
pub fn run(args: &RecoveryArgs, context: &Context) -> Result<(), Failure> {
    let LinkRate::SpaceFibre { mbps, .. } = PUBLISHED_RDMA else {
        return Err(Failure::usage("the link is no SpaceFibre link"));
    };
    let cable = Line { lanes: 1, mbps }.cycles(CABLE_NS);
    let bench = Bench::open(&args.device, cable as usize, WINDOW)?;
    let line = Line { lanes: bench.lanes, mbps };
    let how = Sending { group: GROUP, most: 2, answer: 0, sleeps: false };
    let mut run = Run { by_sender: true, needed: usize::MAX, ..Run::default() };
    for end in 0..2 {
        run.senders.push(bench.sender(end, SIZE, how)?);
        let sent = how.group * how.most;
        run.receivers.push(bench.receiver(1 - end, SIZE, Receiving::AtOnce, (WINDOW, sent))?);
    }
    let bytes = args.words * WORD;
    let (random, next, after_start) = (args.seed, 0, false);
    let errors = Errors { run, random, bytes, next, after_start, hit: None, done: Vec::new() };
    let errors = bench.machine.run(errors)?;
    if let Some(error) = errors.run.failure {
        return Err(error.into());
    }
    let kinds = Error::ALL.map(|error| kind(&errors.done, error, line));
    let document = json!({
        "meta": meta(&args.device, line, 0),
        "seed": args.seed,
        "words": errors.run.bytes() / WORD,
        "errors": errors.done.len(),
        "kinds": kinds,
    });
    if context.json {
        println!("{document}");
    } else {
        print!("{}", text(&document));
    }
    Ok(())
}

fn kind(done: &[Recovered], error: Error, line: Line) -> Value {
    let of: Vec<_> = done.iter().filter(|recovered| recovered.error == error).collect();
    let again: Vec<_> = of.iter().filter(|recovered| recovered.resend != 0).collect();
    let list = |get: fn(&Recovered) -> u64| {
        let mut times: Vec<u64> = again.iter().map(|recovered| get(recovered)).collect();
        times.sort_unstable();
        let mean = times.iter().sum::<u64>() as f64 / times.len().max(1) as f64;
        let most = times.last().copied().unwrap_or_default();
        json!({
            "mean_cycles": output::rounded(mean),
            "most_cycles": most,
            "mean_ns": output::rounded(mean * line.cycle_ns()),
            "most_ns": output::rounded(most as f64 * line.cycle_ns()),
        })
    };
    json!({
        "error": error.name(),
        "count": of.len(),
        "resends": again.len(),
        "resend": list(|recovered| recovered.resend),
        "pause": list(|recovered| recovered.pause),
    })
}

fn text(document: &Value) -> String {
    let rows: Vec<Vec<String>> = document["kinds"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|kind| {
            let time = |name: &str, what: &str| {
                let time = &kind[name];
                let (cycles, ns) = (format!("{what}_cycles"), format!("{what}_ns"));
                format!(
                    "{:.0} = {:.0} ns",
                    time[cycles].as_f64().unwrap_or(0.0),
                    time[ns].as_f64().unwrap_or(0.0)
                )
            };
            vec![
                kind["error"].as_str().unwrap_or_default().to_owned(),
                kind["count"].to_string(),
                kind["resends"].to_string(),
                time("resend", "mean"),
                time("resend", "most"),
                time("pause", "mean"),
                time("pause", "most"),
            ]
        })
        .collect();
    let head = ["ERROR", "COUNT", "RESENDS", "RESEND, MEAN", "MOST", "PAUSE, MEAN", "MOST"];
    format!(
        "{}{} words arrived as sent, with {} errors, seed {}.\n\n{}",
        describe(&document["meta"]),
        document["words"],
        document["errors"],
        document["seed"],
        output::table(&head, 1, &rows)
    )
}
