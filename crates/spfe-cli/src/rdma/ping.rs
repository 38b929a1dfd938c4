//! `spfe rdma ping`: round trips of reads.

use super::remote::{PlaceArgs, Remote, RemoteArgs};
use crate::context::Context;
use crate::error::Failure;
use crate::{output, parse, signal};
use clap::Args;
use hdrhistogram::Histogram;
use serde_json::json;
use std::time::Duration;

/// Measure the round-trip time of reads, one at a time.
#[derive(Clone, Debug, Args)]
pub struct PingArgs {
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    place: PlaceArgs,
    /// Bytes of each read.
    #[arg(long, value_name = "SIZE", default_value = "8", value_parser = parse::packet)]
    size: usize,
    /// Number of reads; 0: until interrupted.
    #[arg(long, value_name = "N", default_value_t = 10)]
    count: u64,
    /// Time between reads.
    #[arg(long, value_name = "TIME", default_value = "0.1", value_parser = parse::time)]
    interval: Duration,
}

/// Runs `spfe rdma ping`.
pub fn run(args: &PingArgs, context: &Context) -> Result<(), Failure> {
    let mut remote = Remote::open(&args.remote, 0, context)?;
    let place = remote.place(&args.place)?;
    remote.connect()?;
    // Three significant digits; the histogram grows as needed.
    let mut times: Histogram<u64> =
        Histogram::new(3).map_err(|error| Failure::failed(error.to_string()))?;
    let mut outcome = Ok(());
    for number in 0.. {
        if args.count != 0 && number == args.count {
            break;
        }
        if number != 0 && !args.interval.is_zero() && !signal::sleep(args.interval) {
            outcome = Err(Failure::interrupted());
            break;
        }
        let start_ns = remote.endpoint.now_ns();
        let read = remote.queue.read(place.key, place.address, args.size, remote.timeout);
        if let Err(error) = read {
            outcome = Err(error.into());
            break;
        }
        let ns = remote.endpoint.now_ns().saturating_sub(start_ns);
        // A growing histogram accepts every value.
        let _ = times.record(ns);
        if context.json {
            println!("{}", json!({ "seq": number, "bytes": args.size, "rtt_ns": ns }));
        } else if !context.quiet {
            println!("{} bytes: seq={number} time={}", args.size, output::time(ns));
        }
    }
    if !times.is_empty() {
        report(&times, &remote, context);
        if signal::caught() {
            return Ok(());
        }
    }
    outcome
}

fn report(times: &Histogram<u64>, remote: &Remote, context: &Context) {
    let (least, median, most) = (times.min(), times.value_at_quantile(0.5), times.max());
    let repeated = remote.queue.counts().resent;
    if context.json {
        let object = json!({
            "reads": times.len(),
            "repeated_packets": repeated,
            "min_ns": least,
            "p50_ns": median,
            "p99_ns": times.value_at_quantile(0.99),
            "max_ns": most,
        });
        println!("{object}");
        return;
    }
    println!(
        "{}, {} repeated; round trip min/median/max {} / {} / {}",
        output::plural(times.len(), "read"),
        output::plural(repeated, "packet"),
        output::time(least),
        output::time(median),
        output::time(most)
    );
}
