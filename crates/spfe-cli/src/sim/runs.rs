//! `spfe sim --runs`: the same scenario with many seeds, on all cores.
//!
//! Each run is a simulation of its own with the next seed, so the number of threads changes only how
//! long they take. What they found is shown in the order of the seeds.

use super::{PIECES, SimArgs, end_of, progress, verdict, write};
use crate::context::Context;
use crate::error::Failure;
use crate::output::{plural, table, time};
use crate::signal;
use spfe_sim::link::NoObserver;
use spfe_sim::results::{LinkResults, PacketTally, Results, StreamResults};
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Instant;

/// What a thread says: that a part of a run is done, or the whole run, with its number.
enum Said {
    Piece,
    Run(u64, Result<Box<Results>, Failure>),
}

/// Simulates a scenario, checked and with the seed of the first run, `runs` times.
///
/// # Errors
/// A scenario with foreign ends, which have one run, and those of a single run. Violations of all
/// runs are one failure, after the table.
pub fn run(
    args: &SimArgs,
    runs: u64,
    scenario: &Scenario,
    name: &str,
    context: &Context,
) -> Result<(), Failure> {
    if let Some(link) = scenario.links.iter().find(|link| link.foreign.is_some()) {
        let what = format!("link '{}' has a foreign end: such a scenario has one run", link.name);
        return Err(Failure::usage(what));
    }
    if scenario.seed.checked_add(runs - 1).is_none() {
        let what = format!("{runs} runs from seed {}: the last seed is too large", scenario.seed);
        return Err(Failure::usage(what));
    }
    let cores = || thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let threads = args.threads.unwrap_or_else(cores).clamp(1, runs);
    let all = simulate(runs, threads, scenario, context)?;
    let finished: Vec<Results> = all.into_iter().map_while(|results| results).collect();
    let documents = finished.into_iter().map(|of| Results { scenario: name.to_owned(), ..of });
    let finished: Vec<Results> = documents.collect();
    show(args, &finished, context)?;
    if (finished.len() as u64) < runs {
        return Err(Failure::interrupted());
    }
    let bad = |results: &&Results| !results.conservation.kept;
    let Some(first) = finished.iter().find(bad) else { return Ok(()) };
    let failure = verdict(first, scenario.duration);
    let count = finished.iter().filter(bad).count();
    failure.map_err(|failure| {
        Failure::failed(format!("{count} of {runs} runs; seed {}: {}", first.seed, failure.what))
    })
}

/// The results of all runs. Those from the first that was interrupted on may be missing.
fn simulate(
    runs: u64,
    threads: u64,
    scenario: &Scenario,
    context: &Context,
) -> Result<Vec<Option<Results>>, Failure> {
    let next = AtomicU64::new(0);
    let (sender, receiver) = channel();
    let begun = Instant::now();
    let mut all: Vec<Option<Results>> = (0..runs).map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || work(next, runs, scenario, &sender));
        }
        drop(sender);
        let bar = progress(context, runs * PIECES);
        let mut done = 0;
        for said in receiver {
            match said {
                Said::Piece => bar.inc(1),
                Said::Run(number, results) => {
                    // An error is the same for all seeds: the others end as after a signal.
                    let results = results.inspect_err(|_| next.store(runs, Ordering::Relaxed))?;
                    all[number as usize] = Some(*results);
                    done += 1;
                    bar.set_message(format!("{done} of {runs} runs"));
                }
            }
        }
        bar.finish_and_clear();
        Ok::<(), Failure>(())
    })?;
    let (of, on) = (plural(runs, "run"), plural(threads, "thread"));
    let seconds = begun.elapsed().as_secs_f64();
    context.say(&format!("simulated {of} on {on} in {seconds:.2} s"));
    Ok(all)
}

/// Takes one run after the other until none is left or a signal arrives.
fn work(next: &AtomicU64, runs: u64, scenario: &Scenario, sender: &Sender<Said>) {
    while !signal::caught() {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= runs {
            return;
        }
        let scenario = Scenario { seed: scenario.seed + number, ..scenario.clone() };
        let results = one(&scenario, || {
            let _ = sender.send(Said::Piece);
        });
        let Some(results) = results.transpose() else { return };
        // The receiver is gone if another run has failed.
        let _ = sender.send(Said::Run(number, results.map(Box::new)));
    }
}

/// One run; nothing if a signal has arrived.
fn one(scenario: &Scenario, mut piece: impl FnMut()) -> Result<Option<Results>, Failure> {
    let mut simulation =
        Simulation::new(scenario).map_err(|error| Failure::usage(error.to_string()))?;
    for number in 1..=PIECES {
        if signal::caught() {
            return Ok(None);
        }
        simulation.run(end_of(number, scenario.duration), &mut NoObserver);
        piece();
    }
    Ok(Some(simulation.results()))
}

/// Writes the documents, and prints a line for each run.
fn show(args: &SimArgs, all: &[Results], context: &Context) -> Result<(), Failure> {
    let failed = |error: serde_json::Error| Failure::failed(format!("results: {error}"));
    let to_stdout = args.results.as_deref() == Some(Path::new("-"));
    if let Some(path) = &args.results {
        let json = serde_json::to_string_pretty(all).map_err(failed)?;
        if to_stdout {
            println!("{json}");
        } else {
            write(path, &json)?;
            context.say(&format!("results written to {}", path.display()));
        }
    }
    if context.json && !to_stdout {
        for results in all {
            println!("{}", serde_json::to_string(results).map_err(failed)?);
        }
    } else if !to_stdout {
        print!("{}", text(all));
    }
    Ok(())
}

const HEAD: [&str; 9] = [
    "SEED",
    "SENT",
    "DELIVERED",
    "CUT",
    "LOST",
    "VIOLATIONS",
    "RECOVERIES",
    "LONGEST",
    "RDMA RESENT",
];

/// A table of all runs, with their sums.
fn text(all: &[Results]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut sum = [0; 8];
    for results in all {
        let counts = counts(results);
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
        sum[6] = (sum[6] - counts[6]).max(counts[6]);
        rows.push(row(results.seed.to_string(), counts));
    }
    rows.push(row("all".to_owned(), sum));
    table(&HEAD, 0, &rows)
}

fn row(seed: String, counts: [u64; 8]) -> Vec<String> {
    let cell = |(column, count): (usize, u64)| match (column, count) {
        (6, 0) => "-".to_owned(),
        (6, ps) => time(ps.div_ceil(1000)),
        _ => count.to_string(),
    };
    std::iter::once(seed).chain(counts.into_iter().enumerate().map(cell)).collect()
}

/// The numbers of a row. The longest recovery is in picoseconds.
fn counts(results: &Results) -> [u64; 8] {
    let packets = |of: fn(&StreamResults) -> &PacketTally| {
        results.flows.iter().map(|flow| of(flow).packets).sum()
    };
    let lost = results.flows.iter().flat_map(|flow| &flow.dropped).map(|of| of.packets).sum();
    let conservation = &results.conservation;
    let recoveries =
        |link: &LinkResults| link.recovery_after_error.count + link.recovery_after_cut.count;
    let longest =
        |link: &LinkResults| link.recovery_after_error.max_ps.max(link.recovery_after_cut.max_ps);
    [
        packets(|flow| &flow.sent),
        packets(|flow| &flow.delivered),
        packets(|flow| &flow.truncated),
        lost,
        conservation.violations.len() as u64 + conservation.left_out,
        results.links.iter().map(recoveries).sum(),
        results.links.iter().map(longest).max().unwrap_or(0),
        results.rdmas.iter().map(|of| of.resent).sum(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_has_sums_and_the_longest_recovery() {
        let mut all = vec![Results { seed: 7, ..Results::default() }, Results::default()];
        all[1].seed = 8;
        let link = |longest| {
            let mut link = LinkResults::default();
            link.recovery_after_cut.count = 2;
            link.recovery_after_cut.max_ps = longest;
            link
        };
        all[0].links = vec![link(1_000_000), link(3_000_000)];
        all[1].links = vec![link(2_500_000)];
        all[1].conservation.left_out = 3;
        let text = text(&all);
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1][..8], ["7", "0", "0", "0", "0", "0", "4", "3"], "{text}");
        assert_eq!(lines[2][..7], ["8", "0", "0", "0", "0", "3", "2"], "{text}");
        assert_eq!(lines[3][..8], ["all", "0", "0", "0", "0", "3", "6", "3"], "{text}");
    }
}
