//! Prints the costs of cache lines, copies and wake-ups on this machine.

use std::process::ExitCode;
use std::time::Duration;

use spfe_measure::{calibrate, line_ping_pong_within, measurement_cpus, set_fifo};

const USAGE: &str = "\
Usage: spfe-probe [--json] [--fifo]
       spfe-probe --line-only [--ms N] [--cpus A,B] [--fifo]

  --json        print the calibration as JSON instead of a table
  --line-only   print only the cache-line ping-pong, in nanoseconds one way
  --ms N        how long to play ping-pong, in milliseconds (default 50)
  --cpus A,B    the two CPUs to play on (default: the first two allowed)
  --fifo        run under SCHED_FIFO if allowed";

struct Options {
    json: bool,
    fifo: bool,
    line_only: bool,
    ms: u64,
    cpus: (usize, usize),
}

fn parse(mut args: impl Iterator<Item = String>) -> Option<Options> {
    let mut options =
        Options { json: false, fifo: false, line_only: false, ms: 50, cpus: measurement_cpus() };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => options.json = true,
            "--fifo" => options.fifo = true,
            "--line-only" => options.line_only = true,
            "--ms" => options.ms = args.next()?.parse().ok()?,
            "--cpus" => {
                let text = args.next()?;
                let (a, b) = text.split_once(',')?;
                options.cpus = (a.parse().ok()?, b.parse().ok()?);
            }
            _ => return None,
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if options.fifo && !set_fifo() {
        eprintln!("spfe-probe: not allowed to use SCHED_FIFO, continuing without it");
    }
    if options.line_only {
        let (a, b) = options.cpus;
        let ns = line_ping_pong_within(a, b, Duration::from_millis(options.ms));
        println!("{ns:.1}");
    } else if options.json {
        match serde_json::to_string_pretty(&calibrate()) {
            Ok(text) => println!("{text}"),
            Err(error) => {
                eprintln!("spfe-probe: {error}");
                return ExitCode::FAILURE;
            }
        }
    } else {
        println!("{}", calibrate());
    }
    ExitCode::SUCCESS
}
