//! Holds a pair of devices to the suite: `spfe-conformance DEVICE DEVICE [--without NAME,...]`.
//!
//! Ports 0 of both devices are joined, and so are their ports 1. Each case opens both devices anew.
//! With `SPFE_CASE` in the environment only cases run whose name contains it. Prints TAP. The exit
//! code is 1 if a case failed and 2 for wrong arguments.
//!
//! `spfe-conformance --faces AGENT AGENT DEVICE DEVICE` runs the suite of faces instead: an AGENT is a
//! command that carries out what a case asks for (`spfe_conformance::faces`).

use spfe::Endpoint;
use spfe_conformance::{CASES, Capability, Fixture, Outcome, faces, run_case};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: spfe-conformance DEVICE DEVICE [--without NAME,...]\n\
    \x20      spfe-conformance --faces AGENT AGENT DEVICE DEVICE\n\
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

/// Runs the suite of faces, if the arguments ask for it.
fn with_faces() -> Option<ExitCode> {
    let list: Vec<String> = std::env::args().skip(1).collect();
    let [option, a, b, first, second] = list.as_slice() else { return None };
    if option != "--faces" {
        return None;
    }
    let wanted = std::env::var("SPFE_CASE").unwrap_or_default();
    let (agents, devices) = ([a.clone(), b.clone()], [first.clone(), second.clone()]);
    Some(match faces::run(&agents, &devices, &wanted) {
        Ok(failures) => ExitCode::from(u8::from(failures > 0)),
        Err(why) => {
            eprintln!("spfe-conformance: {why}");
            ExitCode::from(2)
        }
    })
}

fn main() -> ExitCode {
    if let Some(code) = with_faces() {
        return code;
    }
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
