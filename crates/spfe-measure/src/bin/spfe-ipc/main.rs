//! Measures throughput and latency of kernel channels between two processes,
//! for comparison.

mod channel;
mod run;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use spfe_measure::{measurement_cpus, set_fifo};

use channel::ChannelKind;
use run::{Bandwidth, Job, Latency};

const USAGE: &str = "\
Usage: spfe-ipc bw|lat --kind unix-stream|unix-seqpacket|pipe --size N
                [--seconds S] [--cpus A,B] [--fifo] [--json]

  bw            one process sends, the other receives, as fast as possible
  lat           one message to and fro; prints half of the round trip
  --size N      bytes per message
  --seconds S   length of the run (default 0.3)
  --cpus A,B    CPUs of the child and of the measuring parent
  --fifo        run under SCHED_FIFO if allowed";

/// The format of `spfe perf --json`, so that the same programs can read both.
#[derive(Serialize)]
struct Report {
    meta: Meta,
    results: [Outcome; 1],
}

#[derive(Serialize)]
struct Meta {
    program: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Outcome {
    scenario: String,
    size_bytes: usize,
    #[serde(flatten)]
    bandwidth: Option<Bandwidth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ns: Option<Latency>,
}

struct Options {
    test: String,
    job: Job,
    fifo: bool,
    json: bool,
}

fn parse(mut args: impl Iterator<Item = String>) -> Option<Options> {
    let test = args.next().filter(|t| t == "bw" || t == "lat")?;
    let (mut kind, mut size, mut seconds) = (None, None, 0.3);
    let (mut cpus, mut fifo, mut json) = (measurement_cpus(), false, false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--kind" => kind = Some(ChannelKind::from_name(&args.next()?)?),
            "--size" => size = args.next()?.parse().ok().filter(|&s: &usize| s > 0),
            "--seconds" => seconds = args.next()?.parse().ok()?,
            "--cpus" => {
                let text = args.next()?;
                let (a, b) = text.split_once(',')?;
                cpus = (a.parse().ok()?, b.parse().ok()?);
            }
            "--fifo" => fifo = true,
            "--json" => json = true,
            _ => return None,
        }
    }
    let job =
        Job { kind: kind?, size: size?, time: Duration::try_from_secs_f64(seconds).ok()?, cpus };
    Some(Options { test, job, fifo, json })
}

fn measure(options: &Options) -> io::Result<Outcome> {
    let (mut bandwidth, mut latency_ns) = (None, None);
    if options.test == "bw" {
        bandwidth = Some(options.job.bandwidth()?);
    } else {
        latency_ns = Some(options.job.latency()?);
    }
    Ok(Outcome {
        scenario: format!("{} {}", options.job.kind.name(), options.test),
        size_bytes: options.job.size,
        bandwidth,
        latency_ns,
    })
}

fn print(outcome: Outcome, json: bool) -> io::Result<()> {
    if json {
        let meta = Meta { program: "spfe-ipc", version: env!("CARGO_PKG_VERSION") };
        let results = [outcome];
        println!("{}", serde_json::to_string(&Report { meta, results })?);
        return Ok(());
    }
    print!("{}, {} B: ", outcome.scenario, outcome.size_bytes);
    if let Some(bw) = outcome.bandwidth {
        println!("{:.3} Gbit/s, {:.0} messages/s", bw.rate_gbps, bw.packets_per_s);
    }
    if let Some(ns) = outcome.latency_ns {
        let Latency { mean, p50, p99, max, .. } = ns;
        println!("one way p50 {p50:.0} ns, mean {mean:.0}, p99 {p99:.0}, max {max:.0}");
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(options) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if options.fifo && !set_fifo() {
        eprintln!("spfe-ipc: not allowed to use SCHED_FIFO, continuing without it");
    }
    match measure(&options).and_then(|outcome| print(outcome, options.json)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("spfe-ipc: {error}");
            ExitCode::FAILURE
        }
    }
}
