//! `spfe sim`: simulates a scenario word for word.

mod runs;

use crate::context::Context;
use crate::error::Failure;
use crate::output::plural;
use crate::scenario::{self, File};
use crate::signal;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spfe_capture::WriterOptions;
use spfe_report::diagram::Diagram;
use spfe_report::simulation;
use spfe_sim::link::{NoObserver, Observer};
use spfe_sim::recorder::CaptureRecorder;
use spfe_sim::results::{Results, fingerprint};
use spfe_sim::scenario::{Scenario, Time};
use spfe_sim::simulation::Simulation;
use spfe_sim::time::Ps;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Number of steps of a simulation; signals and the progress bar are handled between them. Words move
/// at their ends, so all runs of a scenario have the same.
const PIECES: u64 = 500;

/// Simulate a network word for word: links, routers, traffic and faults of a scenario file.
///
/// The same scenario with the same seed gives the same words and the same results. Fails with exit
/// code 1 if a packet is lost, duplicated, reordered or altered without a reason.
#[derive(Clone, Debug, Args)]
pub struct SimArgs {
    /// Scenario (docs/scenarios.md); - for standard input.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Simulated time, such as 500us [default: as in the file].
    #[arg(long, value_name = "TIME", value_parser = time)]
    duration: Option<Time>,
    /// Seed of all random numbers [default: as in the file].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write the results as a JSON document; - for standard output, instead of the tables.
    #[arg(long, value_name = "FILE.json")]
    results: Option<PathBuf>,
    /// Write a report: a page FILE.html, or a directory for report.html and results.json.
    #[arg(long, value_name = "FILE.html|DIR")]
    report: Option<PathBuf>,
    /// Write a capture of the links in the scenario's [capture] (docs/capture.md).
    #[arg(long, value_name = "FILE.pcapng", conflicts_with = "threads")]
    capture: Option<PathBuf>,
    /// Simulate N times, with this seed and those that follow it. --results writes an array.
    #[arg(long, value_name = "N", conflicts_with_all = ["report", "capture"],
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: Option<u64>,
    /// Threads, which change only the time it takes [default: one for each processor with --runs,
    /// otherwise 1]. Those of one simulation wait for each other, so each needs a processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
}

fn time(text: &str) -> Result<Time, String> {
    text.parse()
}

/// Runs `spfe sim`.
///
/// # Errors
/// Wrong usage, unreadable or unwritable files, and packets that are not accounted for.
pub fn run(args: &SimArgs, context: &Context) -> Result<(), Failure> {
    let File { text, mut scenario } = scenario::read(&args.file)?;
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    scenario.duration = args.duration.unwrap_or(scenario.duration);
    // Another duration may contradict the rest of the scenario.
    scenario.check().map_err(|error| Failure::usage(error.to_string().replace('\n', "; ")))?;
    if let Some(runs) = args.runs {
        return runs::run(args, runs, &scenario, &fingerprint(&text), context);
    }
    let mut results = match &args.capture {
        Some(path) => captured(path, &scenario, context)?,
        None => simulate(&scenario, &mut NoObserver, &[], args.threads.unwrap_or(1), context)?,
    };
    results.scenario = fingerprint(&text);
    let json = results.to_json().map_err(|error| Failure::failed(format!("results: {error}")))?;
    if let Some(place) = &args.report {
        report(place, &results, &json, &scenario, context)?;
    }
    let to_stdout = args.results.as_deref() == Some(Path::new("-"));
    if let Some(path) = args.results.as_deref().filter(|_| !to_stdout) {
        write(path, &json)?;
        context.say(&format!("results written to {}", path.display()));
    }
    if to_stdout {
        println!("{json}");
    } else if context.json {
        println!("{}", serde_json::json!(results));
    } else {
        print!("{}", simulation::text(&results));
    }
    // The signal may have ended a wait for a foreign end, which is then missing in the results.
    if signal::caught() {
        return Err(Failure::interrupted());
    }
    verdict(&results, scenario.duration)
}

/// The outcome: interrupted, with violations, or good.
fn verdict(results: &Results, duration: Time) -> Result<(), Failure> {
    if results.duration_ps < duration.0 {
        return Err(Failure::interrupted());
    }
    let conservation = &results.conservation;
    if conservation.kept {
        return Ok(());
    }
    let count = conservation.violations.len() as u64 + conservation.left_out;
    let first = conservation.violations.first().map_or("", String::as_str);
    let count = plural(count, "violation");
    Err(Failure::failed(format!("conservation of packets: {count}; the first: {first}")))
}

/// Simulates with a capture.
fn captured(path: &Path, scenario: &Scenario, context: &Context) -> Result<Results, Failure> {
    let file = fs::File::create(path)
        .map_err(|error| Failure::io(format_args!("'{}'", path.display()), &error))?;
    let failed = |error| Failure::failed(format!("capture '{}': {error}", path.display()));
    let to = BufWriter::new(file);
    let mut recorder =
        CaptureRecorder::new(to, scenario, &WriterOptions::default()).map_err(failed)?;
    let results = simulate(scenario, &mut recorder, &scenario.capture.words, 1, context)?;
    let (mut to, summary) = recorder.finish().map_err(failed)?;
    to.flush().map_err(|error| Failure::io(format_args!("'{}'", path.display()), &error))?;
    let records = plural(summary.records, "record");
    context.say(&format!("{records} captured in {}", path.display()));
    Ok(results)
}

/// Simulates to the end or until a signal arrives.
fn simulate(
    scenario: &Scenario,
    observer: &mut dyn Observer,
    words: &[String],
    threads: u64,
    context: &Context,
) -> Result<Results, Failure> {
    for link in &scenario.links {
        if let Some(stream) = &link.foreign {
            context.say(&format!("link '{}': waiting for the foreign end at {stream}", link.name));
        }
    }
    let mut open = spfe_foreign::waiting("spfe sim", spfe_foreign::PATIENCE, signal::caught);
    let mut simulation =
        Simulation::with_streams(scenario, &mut open).map_err(|error| match signal::caught() {
            true => Failure::interrupted(),
            false => Failure::usage(error.to_string()),
        })?;
    for link in words {
        simulation.show_words(link, true);
    }
    let used = simulation.set_threads(threads as usize) as u64;
    if used < threads {
        let used = plural(used, "thread");
        context
            .say(&format!("{used} instead of {threads}: the network has no parts of similar size"));
    }
    let bar = progress(context, PIECES);
    let begun = Instant::now();
    for piece in 1..=PIECES {
        let until = end_of(piece, scenario.duration);
        simulation.run(until, observer);
        bar.set_position(piece);
        let pace = pace(until, begun.elapsed());
        bar.set_message(format!("{} of {}, {pace}", Time(until), scenario.duration));
        if signal::caught() {
            break;
        }
    }
    bar.finish_and_clear();
    let (took, done) = (begun.elapsed(), simulation.now());
    let seconds = took.as_secs_f64();
    context.say(&format!("simulated {} in {seconds:.2} s: {}", Time(done), pace(done, took)));
    Ok(simulation.results())
}

/// Time at which a step ends, the first one being 1.
fn end_of(piece: u64, duration: Time) -> Ps {
    (u128::from(duration.0) * u128::from(piece) / u128::from(PIECES)) as Ps
}

/// How fast simulated time passes.
fn pace(simulated_ps: u64, took: Duration) -> String {
    let factor = simulated_ps as f64 / 1e12 / took.as_secs_f64().max(1e-9);
    match factor {
        1.0.. => format!("{factor:.1} times as fast as real time"),
        _ => format!("{:.0} times slower than real time", 1.0 / factor.max(1e-12)),
    }
}

/// A progress bar, shown if stderr is a terminal.
fn progress(context: &Context, length: u64) -> ProgressBar {
    if context.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{bar:40} {percent:>3} % {eta} left  {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Writes a page, or a directory with a page and the results.
fn report(
    place: &Path,
    results: &Results,
    json: &str,
    scenario: &Scenario,
    context: &Context,
) -> Result<(), Failure> {
    let page = simulation::html(results, &Diagram::of(scenario));
    let is_page = place.extension().is_some_and(|extension| extension == "html");
    let path = if is_page { place.to_owned() } else { place.join("report.html") };
    if !is_page {
        let failed = |error| Failure::io(format_args!("directory '{}'", place.display()), &error);
        fs::create_dir_all(place).map_err(failed)?;
        write(&place.join("results.json"), json)?;
    }
    write(&path, &page)?;
    context.say(&format!("report written to {}", path.display()));
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::io(format_args!("'{}'", path.display()), &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn the_pace_is_relative_to_real_time() {
        let second = Duration::from_secs(1);
        assert_eq!(pace(50_000_000_000, second), "20 times slower than real time");
        assert_eq!(pace(2_500_000_000_000, second), "2.5 times as fast as real time");
        assert_eq!(pace(0, second), "1000000000000 times slower than real time");
    }

    #[test]
    fn violations_and_interruptions_are_failures() {
        let mut results = Results { duration_ps: 5, ..Results::default() };
        results.conservation.violations = vec!["packet 3 came twice".into()];
        results.conservation.left_out = 1;
        let failure = verdict(&results, Time(5)).unwrap_err();
        assert_eq!(failure.kind.code(), 1);
        let what = "conservation of packets: 2 violations; the first: packet 3 came twice";
        assert_eq!(failure.what, what);
        results.conservation.kept = true;
        assert_eq!(verdict(&results, Time(5)), Ok(()));
        assert_eq!(verdict(&results, Time(6)).unwrap_err().kind, Kind::Interrupted);
    }
}
