//! Holds a pair of devices to the suite: `spfe-conformance DEVICE DEVICE [--without NAME,...]`.
//!
//! Ports 0 of both devices are joined, and so are their ports 1. Each case opens both devices anew.
//! With `SPFE_CASE` in the environment only cases run whose name contains it. Prints TAP. The exit
//! code is 1 if a case failed and 2 for wrong arguments.

use spfe::Endpoint;
use spfe_conformance::{CASES, Capability, Fixture, Outcome, run_case};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: spfe-conformance DEVICE DEVICE [--without NAME,...]\n\
    Capabilities that can be named:";

/// The devices and their capabilities.
fn arguments() -> Option<(String, String, Vec<Capability>)> {
    let list: Vec<String> = std::env::args().skip(1).collect();
    let (first, second, without) = match list.as_slice() {
        [first, second] => (first, second, ""),
        [first, second, option, without] if option == "--without" => {
            (first, second, without.as_str())
        }
        _ => return None,
    };
    let mut capabilities = Capability::UNLIMITED.to_vec();
    for name in without.split(',').filter(|name| !name.is_empty()) {
        let at = capabilities.iter().position(|capability| capability.name() == name)?;
        capabilities.remove(at);
    }
    Some((first.clone(), second.clone(), capabilities))
}

fn main() -> ExitCode {
    let Some((first, second, capabilities)) = arguments() else {
        let names = Capability::UNLIMITED.map(Capability::name).join(" ");
        eprintln!("{USAGE} {names}");
        return ExitCode::from(2);
    };
    let name = format!("{first} and {second}");
    let open = move || {
        let open = |device: &str| Endpoint::open(device).expect(device);
        (open(&first), open(&second))
    };
    let fixture: &Fixture = Box::leak(Box::new(Fixture::new(name, &capabilities, open)));
    let wanted = std::env::var("SPFE_CASE").unwrap_or_default();
    let (mut count, mut failed) = (0, 0);
    for case in CASES.iter().copied().flatten().filter(|case| case.name.contains(&wanted)) {
        count += 1;
        let start = Instant::now();
        let outcome = run_case(fixture, case);
        let (name, ms) = (case.name, start.elapsed().as_millis());
        match outcome {
            Outcome::Passed => println!("ok {count} - {name} ({ms} ms)"),
            Outcome::Skipped(missing) => println!("ok {count} - {name} # SKIP needs {missing}"),
            Outcome::Failed(why) => {
                failed += 1;
                println!("not ok {count} - {name} ({ms} ms)");
                why.lines().for_each(|line| println!("# {line}"));
            }
        }
    }
    println!("1..{count}");
    ExitCode::from(u8::from(failed > 0))
}
