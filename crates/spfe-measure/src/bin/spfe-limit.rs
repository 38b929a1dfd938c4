//! Prints what bare rings in shared memory and one copy reach between two cores.

use spfe_measure::{LimitSetup, limit_gbps, measurement_cpus, set_fifo};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "\
Usage: spfe-limit [--size BYTES] [--group N] [--both] [--window TX,RX] [--ms N] [--cpus A,B]
                  [--check] [--fifo] [--json]

  --size BYTES    bytes of each packet (default 4096)
  --group N       packets posted together (default: as many as fit into 1 MiB, at most 128)
  --both          both ends copy, not only the sender
  --window TX,RX  bytes of memory to send from and receive into (default 524288,524288)
  --ms N          how long to send, in milliseconds (default 300)
  --cpus A,B      the CPUs of sender and receiver (default: the first two allowed)
  --check         every packet has a content of its own, which is checked
  --fifo          run under SCHED_FIFO if allowed
  --json          print one line of JSON";

struct Options {
    setup: LimitSetup,
    fifo: bool,
    json: bool,
}

/// Two numbers with a comma between them.
fn pair(text: &str) -> Option<(usize, usize)> {
    let (a, b) = text.split_once(',')?;
    Some((a.parse().ok()?, b.parse().ok()?))
}

fn parse(mut args: impl Iterator<Item = String>) -> Option<Options> {
    let mut setup = LimitSetup {
        packet_bytes: 4096,
        group: 0,
        both: false,
        window: (512 << 10, 512 << 10),
        cpus: measurement_cpus(),
        duration: Duration::from_millis(300),
        check: false,
    };
    let (mut fifo, mut json) = (false, false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--size" => setup.packet_bytes = args.next()?.parse().ok()?,
            "--group" => setup.group = args.next()?.parse().ok().filter(|group| *group != 0)?,
            "--both" => setup.both = true,
            "--window" => setup.window = pair(&args.next()?)?,
            "--ms" => setup.duration = Duration::from_millis(args.next()?.parse().ok()?),
            "--cpus" => setup.cpus = pair(&args.next()?)?,
            "--check" => setup.check = true,
            "--fifo" => fifo = true,
            "--json" => json = true,
            _ => return None,
        }
    }
    if !(1..=1 << 30).contains(&setup.packet_bytes) || setup.group > 2048 {
        return None;
    }
    if setup.group == 0 {
        setup.group = ((1 << 20) / setup.packet_bytes).clamp(1, 128);
    }
    Some(Options { setup, fifo, json })
}

fn main() -> ExitCode {
    let Some(Options { setup, fifo, json }) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if fifo && !set_fifo() {
        eprintln!("spfe-limit: not allowed to use SCHED_FIFO, continuing without it");
    }
    match limit_gbps(setup) {
        Ok(rate) if json => {
            let result = serde_json::json!({
                "size_bytes": setup.packet_bytes,
                "group": setup.group,
                "both": setup.both,
                "rate_gbps": rate,
            });
            println!("{}", serde_json::json!({ "results": [result] }));
        }
        Ok(rate) => println!("{rate:.2} Gbit/s"),
        Err(error) => {
            eprintln!("spfe-limit: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
