//! Holds two devices to the suite: `spfe-conformance DEVICE DEVICE [--without NAME,...]`.
//!
//! Both are opened afresh for each case; port 0 of the one is joined to port 0 of the other, and so
//! are their ports 1. Prints TAP. Exit code 1 if a case failed, 2 for wrong arguments.

use spfe::Endpoint;
use spfe_conformance::{Capability, Fixture, Outcome, run_each};
use std::process::ExitCode;

const USAGE: &str = "usage: spfe-conformance DEVICE DEVICE [--without NAME,...]\n\
    Names of what devices may be without:";

/// The devices and what they are able to do.
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
    let (mut count, mut failed) = (0, 0);
    run_each(fixture, |case, outcome, time| {
        count += 1;
        let (name, ms) = (case.name, time.as_millis());
        match outcome {
            Outcome::Passed => println!("ok {count} - {name} ({ms} ms)"),
            Outcome::Skipped(missing) => println!("ok {count} - {name} # SKIP needs {missing}"),
            Outcome::Failed(why) => {
                failed += 1;
                println!("not ok {count} - {name} ({ms} ms)");
                why.lines().for_each(|line| println!("# {line}"));
            }
        }
    });
    println!("1..{count}");
    ExitCode::from(u8::from(failed > 0))
}
