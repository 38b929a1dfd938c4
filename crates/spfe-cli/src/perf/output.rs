//! Output of a run: text, tab-separated values or JSON on stdout, and a report in files.

use super::args::SetupArgs;
use super::case::Kind;
use super::runner::link_limit;
use super::setup::Plan;
use crate::context::Context;
use crate::error::Failure;
use serde_json::{Value, json};
use spfe::Link;
use spfe_measure::Calibration;
use spfe_report::{Document, Meta, ResultRow};
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The description of a run, made before it starts.
pub fn document(plan: &Plan, calibrated: bool) -> Document {
    let facts = spfe_measure::machine_facts();
    let words = std::env::args().skip(1);
    let meta = Meta {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: facts.git_revision,
        date: rfc3339(SystemTime::now()),
        command: std::iter::once("spfe".to_owned()).chain(words).collect::<Vec<_>>().join(" "),
        cpu_model: facts.cpu_model,
        cores: facts.cpus_online as u32,
        kernel: format!("Linux {}", facts.kernel),
        mode: plan.setup.name.clone(),
        link: Link { rate: plan.setup.link, model: plan.setup.model }.to_string(),
        link_limit_gbps: link_limit(plan.setup.link, Kind::RoundTrip, None),
        wait_strategy: plan.wait.name().to_owned(),
        iterations: plan.iterations,
        seconds: plan.seconds,
        notes: plan.setup.notes(),
        ..Meta::default()
    };
    let calibration = calibrated.then(|| prices(&spfe_measure::calibrate()));
    Document { meta, results: Vec::new(), calibration }
}

/// The prices of the machine, with readable names.
fn prices(taken: &Calibration) -> Value {
    let us = |ns: f64| (ns / 10.0).round() / 100.0;
    let wake = |wake: &spfe_measure::FutexWake| {
        json!({
            "asleep before, us": us(wake.gap_ns as f64),
            "waker, us": us(wake.waker_cost_ns),
            "sleeper CPU, us": us(wake.sleeper_cpu_ns),
            "latency p50, us": us(wake.latency_p50_ns),
            "latency p99, us": us(wake.latency_p99_ns),
        })
    };
    let copies = taken.copies.iter().map(|row| {
        json!({
            "bytes": row.chunk_bytes,
            "one core, hot, Gbit/s": row.hot_gbps.round(),
            "one core, 1 to 4 MiB, Gbit/s": row.ring_gbps.round(),
            "two cores, 1 to 4 MiB, Gbit/s": row.ring_two_cores_gbps.round(),
        })
    });
    json!({
        "CPUs": [taken.cpus.0, taken.cpus.1],
        "load average": taken.facts.load_average,
        "cache line one way, ns": taken.line.mean_ns.round(),
        "wake-up after a short sleep": wake(&taken.futex_short),
        "wake-up after a long sleep": wake(&taken.futex_long),
        "block and wake CPU, us": us(taken.block_wake_cost_ns),
        "timer overshoot p50, us": us(taken.timer.p50_ns),
        "timer overshoot p99, us": us(taken.timer.p99_ns),
        "timed sleep CPU, us": us(taken.timer.cpu_per_sleep_ns),
        "memcpy": copies.collect::<Vec<_>>(),
    })
}

/// Prints and writes the results. Fails if packets were damaged.
pub fn finish(
    mut document: Document,
    rows: Vec<ResultRow>,
    args: &SetupArgs,
    context: &Context,
) -> Result<(), Failure> {
    document.results = rows;
    if let Some(folder) = &args.report {
        write(&document, folder)?;
        context.say(&format!("report written to {}", folder.join("report.html").display()));
    }
    if context.json {
        println!("{}", document.to_json_line());
    } else if args.tsv {
        // TSV has no place for notes.
        document.meta.notes.iter().for_each(|note| context.say(note));
        print!("{}", spfe_report::tsv(&document));
    } else {
        print!("{}", spfe_report::text(&document));
    }
    let errors: u64 = document.results.iter().filter_map(|row| row.integrity_errors).sum();
    if errors > 0 {
        return Err(Failure::damaged(format!("{errors} packets were lost or damaged")));
    }
    Ok(())
}

fn write(document: &Document, folder: &Path) -> Result<(), Failure> {
    let fail = |error| Failure::io(format_args!("report in {}", folder.display()), &error);
    fs::create_dir_all(folder).map_err(fail)?;
    let files = [
        ("report.html", spfe_report::html(document)),
        ("results.json", document.to_json()),
        ("results.tsv", spfe_report::tsv(document)),
    ];
    files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text)).map_err(fail)
}

/// Date and time in UTC, in the form of RFC 3339.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, clock) = (seconds / 86400, seconds % 86400);
    // Count years from March, so that the leap day is the last day of a year.
    let era_day = days + 719_468;
    let (era, day) = (era_day / 146_097, era_day % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!(
        "{:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z",
        era * 400 + year + next,
        clock / 3600,
        clock / 60 % 60,
        clock % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), date);
        }
    }
}
