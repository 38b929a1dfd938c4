//! Holds a pair of devices to the suite:
//! `spfe-conformance DEVICE DEVICE [--without NAME,...] [--only CASE,...] [--skip CASE,...]
//! [--patience FACTOR]`.
//!
//! Ports 0 of both devices are joined, and so are their ports 1. Each case opens both devices anew.
//! `--without` names capabilities that the devices lack, `--only` and `--skip` cases to run or not.
//! `--patience` makes the limits of all waits so many times as long, for slow devices.
//! With `SPFE_CASE` in the environment only cases run whose name contains it. Prints TAP. The exit
//! code is 1 if a case failed and 2 for wrong arguments.
//!
//! `spfe-conformance --faces AGENT AGENT DEVICE DEVICE` runs the suite of faces instead: an AGENT is a
//! command that carries out what a case asks for (`spfe_conformance::faces`).

use spfe::Endpoint;
use spfe_conformance::{CASES, Capability, Case, Fixture, Outcome, faces, kit, run_case};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: spfe-conformance DEVICE DEVICE [--without NAME,...]\n\
    \x20          [--only CASE,...] [--skip CASE,...] [--patience FACTOR]\n\
    \x20      spfe-conformance --faces AGENT AGENT DEVICE DEVICE\n\
    Capabilities that can be named:";

/// What the command line asks for.
struct Arguments {
    devices: [String; 2],
    capabilities: Vec<Capability>,
    /// Cases to run; empty for all.
    only: Vec<String>,
    skipped: Vec<String>,
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|name| !name.is_empty())
}

fn arguments() -> Option<Arguments> {
    let mut list = std::env::args().skip(1);
    let devices = [list.next()?, list.next()?];
    let mut capabilities = Capability::UNLIMITED.to_vec();
    let (mut only, mut skipped) = (Vec::new(), Vec::new());
    while let Some(option) = list.next() {
        let value = list.next()?;
        match option.as_str() {
            "--without" => {
                for name in names(&value) {
                    let at = capabilities.iter().position(|known| known.name() == name)?;
                    capabilities.remove(at);
                }
            }
            "--only" => only.extend(names(&value).map(str::to_owned)),
            "--skip" => skipped.extend(names(&value).map(str::to_owned)),
            "--patience" => kit::set_patience(value.parse().ok()?),
            _ => return None,
        }
    }
    // A name without a case would run or skip nothing.
    let known = |name: &String| CASES.iter().copied().flatten().any(|case| case.name == name);
    let sound = only.iter().chain(&skipped).all(known);
    sound.then_some(Arguments { devices, capabilities, only, skipped })
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
    let Some(arguments) = arguments() else {
        let names = Capability::UNLIMITED.map(Capability::name).join(" ");
        eprintln!("{USAGE} {names}");
        return ExitCode::from(2);
    };
    let Arguments { devices: [first, second], capabilities, only, skipped } = arguments;
    let name = format!("{first} and {second}");
    let open = move || {
        let open = |device: &str| Endpoint::open(device).expect(device);
        (open(&first), open(&second))
    };
    let fixture: &Fixture = Box::leak(Box::new(Fixture::new(name, &capabilities, open)));
    let wanted = std::env::var("SPFE_CASE").unwrap_or_default();
    let (mut count, mut failed) = (0, 0);
    let chosen = |case: &&Case| {
        let named = only.is_empty() || only.iter().any(|name| name == case.name);
        named && case.name.contains(&wanted)
    };
    for case in CASES.iter().copied().flatten().filter(chosen) {
        count += 1;
        if skipped.iter().any(|name| name == case.name) {
            println!("ok {count} - {} # SKIP the command line says so", case.name);
            continue;
        }
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
