//! Command that checks a TCP endpoint with scripts, with another TCP stack, and by fuzzing.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use spfe_tcp_bench::bench::record;
use spfe_tcp_bench::builds;
use spfe_tcp_bench::core::Core;
use spfe_tcp_bench::drill::endpoint::{Build, Endpoint};
use spfe_tcp_bench::drill::suite::{self, ScriptRecord};
use spfe_tcp_bench::fuzz::{self, runs::add};
use spfe_tcp_bench::peer;
use spfe_tcp_bench::racing::Racing;
use spfe_tcp_bench::reference::Reference;
use spfe_tcp_bench::reference::lockstep::Lockstep;

/// Check the TCP core in virtual time. Writes records into target/rtl/report/data.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Build of the core (rtl/bench/model/builds.toml), or `reference` for the software model.
    #[arg(long, global = true, default_value = REFERENCE)]
    core: String,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the scripts of a directory.
    Drill {
        /// Run only scripts whose name contains this text.
        #[arg(long, default_value = "")]
        only: String,
        /// Print the packets of failed scripts.
        #[arg(long)]
        verbose: bool,
        /// Directory of the scripts.
        #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts"))]
        scripts: PathBuf,
    },
    /// Transfer data to and from another TCP stack (smoltcp).
    Peer {
        /// Factor for bytes and connections, 1 to 100.
        #[arg(long, default_value_t = 1)]
        scale: u32,
        /// Seed of losses and of the other stack.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Run only cases whose name contains this text, or one of several texts separated by
        /// commas.
        #[arg(long, default_value = "")]
        only: String,
        /// Never bring the core to rest, and let all its interfaces pause at random.
        #[arg(long)]
        racing: bool,
        /// Falsify the trace of a case in several ways, which the rules must find.
        #[arg(long)]
        plants: bool,
    },
    /// Send frames that are almost valid.
    Fuzz {
        /// Number of frames.
        #[arg(long, default_value_t = 100_000)]
        frames: u64,
        /// Seed of all frames. It is printed.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Compare with the software model in lock-step.
        #[arg(long)]
        lockstep: bool,
    },
}

/// Name of the software model in the records.
const REFERENCE: &str = "reference";

/// Makes an endpoint. Returns it with the state of its core.
fn make(name: &str) -> Result<(Box<dyn Endpoint>, String), String> {
    if name == REFERENCE {
        return Ok((Box::new(Reference::new(Build::default())), String::new()));
    }
    let core = Core::new(name).map_err(|error| error.to_string())?;
    let state = core.state();
    Ok((Box::new(core), state))
}

/// File of a record. Files of the software model have names of their own.
fn file(name: &str, core: &str) -> String {
    let prefix = if core == REFERENCE { "reference-" } else { "" };
    format!("{prefix}{name}.json")
}

fn drill(a: &Arguments, dir: &Path, only: &str, verbose: bool) -> Result<bool, String> {
    let scripts = suite::load(dir)?;
    let (mut endpoint, state) = make(&a.core)?;
    let mut record = suite::run_all(&scripts, only, &a.core, endpoint.as_mut(), verbose);
    record.core = state;
    for row in record.rows.iter().filter(|r| r.result == "failed") {
        println!("{} {}: {}", row.point, row.script, row.detail);
    }
    println!(
        "scripts: {} passed, {} skipped, {} failed",
        record.passed, record.skipped, record.failed
    );
    let passed = record.failed == 0;
    if only.is_empty() {
        // The file holds one record for each build.
        record::change(&file("conformance", &a.core), |all: &mut Vec<ScriptRecord>| {
            all.retain(|other| other.endpoint != record.endpoint);
            all.push(record);
            all.sort_by(|one, other| one.endpoint.cmp(&other.endpoint));
        })?;
    }
    Ok(passed)
}

/// Options of the command `peer`.
struct PeerOptions<'a> {
    scale: u32,
    seed: u64,
    only: &'a str,
    racing: bool,
    plants: bool,
}

/// Makes an endpoint for the peer.
fn racer(name: &str, racing: bool, seed: u64) -> Result<Box<dyn Endpoint>, String> {
    if !racing {
        return make(name).map(|(endpoint, _)| endpoint);
    }
    let core = Core::new(name).map_err(|error| error.to_string())?;
    Ok(Box::new(Racing::new(core, seed)))
}

fn peers(a: &Arguments, options: &PeerOptions<'_>) -> Result<bool, String> {
    let PeerOptions { scale, seed, only, racing, plants } = *options;
    let mut endpoint = racer(&a.core, racing, seed)?;
    if plants {
        let found = peer::cases::plants(endpoint.as_mut(), seed)?;
        println!("plants: {found} faults planted into the trace, all found");
        return Ok(true);
    }
    let core = if a.core == REFERENCE { String::new() } else { builds::sources()? };
    let mut passed = true;
    let wanted = |case: &peer::cases::Case| only.split(',').any(|part| case.name.contains(part));
    for case in peer::cases::all(scale).iter().filter(|case| wanted(case)) {
        let mut row = peer::cases::run(case, endpoint.as_mut(), seed);
        println!(
            "{:<8} {} ({} ticks, {} frames out, {} sent again, {} segments and {} bytes checked) {}",
            row.result,
            row.case,
            row.ticks,
            row.frames_out,
            row.sent_again_out,
            row.checked_segments,
            row.checked_bytes,
            row.detail
        );
        passed &= row.result != "failed";
        row.endpoint = a.core.clone() + if racing { ", racing" } else { "" };
        row.core.clone_from(&core);
        row.scale = scale;
        record::change(&file("peer", &a.core), |all: &mut Vec<peer::cases::CaseResult>| {
            record::put(all, row, |row| (row.endpoint.clone(), row.scale, row.case.clone()));
        })?;
    }
    Ok(passed)
}

fn fuzzing(a: &Arguments, frames: u64, seed: u64, lockstep: bool) -> Result<bool, String> {
    let (mut endpoint, state) = make(&a.core)?;
    let mut record = if lockstep {
        let mut both = Lockstep::new(endpoint.as_mut());
        let mut record = fuzz::run(&mut both, frames, seed, |b| b.difference().map(String::from));
        record.agreed = both.agreed;
        record
    } else {
        fuzz::run(endpoint.as_mut(), frames, seed, |_| None)
    };
    record.endpoint.clone_from(&a.core);
    record.core = state;
    record.lockstep = lockstep;
    let passed = record.result == "passed";
    println!(
        "fuzzing: {}, seed {seed}, {} frames{}: {}, {} answers, {} bytes delivered, {} opened",
        a.core,
        record.frames,
        if lockstep { " in lock-step" } else { "" },
        record.result,
        record.answers,
        record.delivered_bytes,
        record.opened
    );
    let counters = endpoint.counters();
    let seen: Vec<_> = counters.iter().filter(|(_, n)| *n != 0).collect();
    println!("counters: {seen:?}");
    if let Some((what, before)) = record.detail.clone().split_once('\n') {
        // The record holds only the first line.
        println!("{before}\n{what}");
        record.detail = what.into();
    } else if !passed {
        println!("{}", record.detail);
    }
    record::change(&file("fuzz", &a.core), |runs| add(runs, record))?;
    Ok(passed)
}

fn main() -> ExitCode {
    let a = Arguments::parse();
    let result = match &a.command {
        Command::Drill { only, verbose, scripts } => drill(&a, scripts, only, *verbose),
        Command::Peer { scale, seed, only, racing, plants } => {
            let (scale, seed, racing, plants) = (*scale, *seed, *racing, *plants);
            peers(&a, &PeerOptions { scale, seed, only, racing, plants })
        }
        Command::Fuzz { frames, seed, lockstep } => fuzzing(&a, *frames, *seed, *lockstep),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tcp-check: {error}");
            ExitCode::FAILURE
        }
    }
}
