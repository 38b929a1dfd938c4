//! Command that measures the TCP core and makes the report.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use spfe_tcp_bench::bench::{bandwidth, contention, generics, latency, meta, record};
use spfe_tcp_bench::builds::{self, Build};
use spfe_tcp_bench::report;
use spfe_tcp_bench::tap::command::{PeersCommand, TapCommand};

/// Measure the TCP core in virtual time, and make the report.
///
/// Writes records into target/rtl/report/data. Fails if a point differs from its formula, a rate is
/// below the limiter's, or a message waits longer than for one frame.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make builds of the core: the named ones, or all that the measurements use.
    Build {
        /// Names of builds in rtl/bench/model/builds.toml.
        names: Vec<String>,
    },
    /// Latency: all sizes, ways, clock rates, and on a true line.
    Latency,
    /// Bandwidth: 100 packets of each size.
    Bandwidth,
    /// Latency while the core sends something else.
    Contention,
    /// Versions and generics: what the report says of the core it measured.
    About,
    /// All measurements.
    All,
    Tap(TapCommand),
    Peers(PeersCommand),
    /// The report, out of the records: target/rtl/report/index.html and svg/.
    Report,
}

fn build(names: &[String]) -> Result<Vec<String>, String> {
    let builds = if names.is_empty() {
        builds::all()
    } else {
        let named = names.iter().map(|name| Build::named(name));
        named.collect::<Result<_, _>>().map_err(|error| error.to_string())?
    };
    for build in builds {
        build.make().map_err(|error| error.to_string())?;
        println!("{} ({})", build.library().display(), build.describe());
    }
    Ok(Vec::new())
}

fn measure_latency() -> Result<Vec<String>, String> {
    let latency = latency::measure()?;
    print!("{}", latency::text(&latency));
    record::write("latency.json", &latency)?;
    Ok(latency::off(&latency))
}

fn measure_bandwidth() -> Result<Vec<String>, String> {
    let bandwidth = bandwidth::measure()?;
    let runs = bandwidth.rates.len();
    record::write("bandwidth.json", &bandwidth)?;
    let below = bandwidth::below(&bandwidth);
    println!("bandwidth: {runs} runs of 100 packets, {} below their limiter", below.len());
    Ok(below)
}

fn measure_contention() -> Result<Vec<String>, String> {
    let contention = contention::measure()?;
    for scenario in &contention.scenarios {
        let cells: Vec<u64> = scenario.histogram.iter().map(|(cycles, _)| *cycles).collect();
        println!(
            "contention, {:<16} {} to {} cycles, {} other frames",
            scenario.id,
            cells.first().unwrap_or(&0),
            cells.last().unwrap_or(&0),
            scenario.others
        );
    }
    record::write("contention.json", &contention)?;
    Ok(contention::late(&contention))
}

fn about() -> Result<Vec<String>, String> {
    record::write("meta.json", &meta::measure())?;
    record::write("generics.json", &generics::measure()?)?;
    Ok(Vec::new())
}

fn run(command: &Command) -> Result<Vec<String>, String> {
    match command {
        Command::Build { names } => build(names),
        Command::Latency => measure_latency(),
        Command::Bandwidth => measure_bandwidth(),
        Command::Contention => measure_contention(),
        Command::About => about(),
        Command::Tap(tap) => match tap.run()? {
            0 => Ok(Vec::new()),
            code => std::process::exit(code.into()),
        },
        Command::Peers(peers) => peers.run(),
        Command::Report => report::write().inspect(|_| {
            println!("{}", record::directory().join("index.html").display());
        }),
        Command::All => {
            about()?;
            let mut wrong = measure_latency()?;
            wrong.extend(measure_bandwidth()?);
            wrong.extend(measure_contention()?);
            Ok(wrong)
        }
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse().command) {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            for line in &wrong {
                eprintln!("tcp-bench: {line}");
            }
            eprintln!("tcp-bench: {} results are wrong", wrong.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tcp-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
