//! The published tables in cycles.

use super::bench::{Bench, Run};
use super::host::{Mark, Receiving, Sending};
use super::{ANSWER_US, CABLE_NS, Line, describe, meta, times};
use crate::context::Context;
use crate::error::Failure;
use crate::output;
use crate::perf::args::TablesArgs;
use crate::perf::{LinkRate, PUBLISHED};
use serde_json::{Value, json};
use spfe_report::{paper, scenario};

/// Groups that an instrument has under way.
const AHEAD: usize = 2;
/// Bytes of buffers of a receiver that handles what comes at once or one by one.
const WINDOW: usize = 1 << 20;
/// Bytes before the measured ones, and measured bytes, unless that is less than two operations.
const WARM_UP: u64 = 64 << 10;
const MEASURED: u64 = 1 << 20;
const MOST: u64 = 64;
/// Sizes of a quick run, KB.
const QUICK: [u64; 3] = [1, 8, 256];

/// A line of a table.
#[derive(Clone, Copy, Debug)]
struct Case {
    scenario: &'static str,
    size: u64,
    both: bool,
}

impl Case {
    fn sends(self) -> bool {
        !matches!(self.scenario, scenario::RECEIVE_SINGLE | scenario::RECEIVE_THRESHOLD)
    }

    /// Packets of an operation of the measured host.
    fn group(self) -> u32 {
        match self.scenario {
            scenario::SEND_GROUP | scenario::SEND_GROUP_AHEAD => paper::group(self.size),
            _ => 1,
        }
    }

    fn sending(self, answer: u64) -> Sending {
        let most = if self.scenario == scenario::SEND_GROUP_AHEAD { AHEAD } else { 1 };
        match self.scenario {
            scenario::RECEIVE_SINGLE | scenario::RECEIVE_THRESHOLD => Sending {
                group: paper::group(self.size) as usize,
                most: AHEAD,
                answer: 0,
                sleeps: false,
            },
            _ => Sending { group: self.group() as usize, most, answer, sleeps: true },
        }
    }

    fn receiving(self, answer: u64) -> Receiving {
        match self.scenario {
            scenario::RECEIVE_SINGLE => Receiving::Single(answer),
            scenario::RECEIVE_THRESHOLD => Receiving::Threshold(answer),
            _ => Receiving::AtOnce,
        }
    }

    /// Operations before the measured ones, and measured ones.
    fn operations(self, window: usize) -> (usize, usize) {
        let bytes = match self.scenario {
            scenario::RECEIVE_THRESHOLD => window as u64 / 4,
            _ => self.size * u64::from(self.group()),
        };
        ((WARM_UP / bytes).clamp(1, 16) as usize, (MEASURED / bytes).clamp(2, MOST) as usize)
    }
}

fn cases(args: &TablesArgs) -> Vec<Case> {
    let mut scenarios = vec![
        scenario::SEND_SINGLE,
        scenario::SEND_GROUP,
        scenario::RECEIVE_SINGLE,
        scenario::RECEIVE_THRESHOLD,
    ];
    if !args.published {
        scenarios.push(scenario::SEND_GROUP_AHEAD);
    }
    let sizes = paper::SEND_SINGLE.iter().map(|line| line.size_kb);
    let sizes: Vec<_> = sizes.filter(|size| !args.quick || QUICK.contains(size)).collect();
    let case = |scenario, both| {
        sizes.iter().map(move |size_kb| Case { scenario, size: size_kb << 10, both })
    };
    scenarios.into_iter().flat_map(|name| case(name, false).chain(case(name, true))).collect()
}

/// Measures a case: `spfe perf tables` describes the methods.
fn measure(
    bench: &Bench,
    case: Case,
    answer: u64,
    window: usize,
    line: Line,
) -> Result<Value, Failure> {
    let (size, sending) = (case.size as usize, case.sending(answer));
    let (first, count) = case.operations(window);
    let window = if case.scenario == scenario::RECEIVE_THRESHOLD { window } else { WINDOW };
    let mut run = Run { by_sender: case.sends(), needed: first + count + 1, ..Run::default() };
    let ends: &[usize] = if case.both { &[0, 1] } else { &[0] };
    for end in ends {
        run.senders.push(bench.sender(*end, size, sending)?);
        let sent = sending.group * sending.most;
        let how = case.receiving(answer);
        run.receivers.push(bench.receiver(1 - end, size, how, (window, sent))?);
    }
    let run = bench.machine.run(run)?;
    if let Some(error) = run.failure {
        return Err(error.into());
    }
    let parts = run.measured(first);
    let sum = |of: fn(&Mark) -> u64| -> f64 {
        parts.iter().map(|(begin, end)| (of(end) - of(begin)) as f64).sum()
    };
    let (cycles, bytes) = (sum(|mark| mark.cycle), sum(|mark| mark.bytes));
    let operations = (count * parts.len()) as f64;
    let use_pct = 100.0 * bytes / cycles / line.user_bytes(case.both);
    let each = |number: f64| output::rounded(number / operations);
    let published = paper::figure(case.scenario, case.size, case.group())
        .filter(|_| !case.both)
        .map(|line| 100.0 * line.rate_gbps / paper::LINK_LIMIT_GBPS);
    // Both queues of a core share its counts.
    let counts =
        (!case.both).then(|| (each(sum(|mark| mark.doorbells)), each(sum(|mark| mark.interrupts))));
    Ok(json!({
        "scenario": case.scenario,
        "size_bytes": case.size,
        "group": case.group(),
        "both_ways": case.both,
        "operations": operations,
        "cycles": each(cycles),
        "bytes": each(bytes),
        "link_use_pct": output::rounded(use_pct),
        "published_pct": published.map(output::rounded),
        "doorbells": counts.map(|counts| counts.0),
        "interrupts": counts.map(|counts| counts.1),
    }))
}

/// Measures Tables I to IV and single packets, one way and both ways, then prints them.
pub fn run(args: &TablesArgs, device: &str, context: &Context) -> Result<(), Failure> {
    let window = args.window.1 as usize;
    let LinkRate::SpaceFibre { mbps, .. } = PUBLISHED else {
        return Err(Failure::usage("the published link is no SpaceFibre link"));
    };
    let line = |lanes| Line { lanes, mbps };
    let cable = line(1).cycles(CABLE_NS);
    let bench = Bench::open(device, cable as usize, window.max(WINDOW))?;
    let line = line(bench.lanes);
    let answer = args.answer.unwrap_or_else(|| line.cycles(1e3 * ANSWER_US));
    let mut rows = Vec::new();
    for case in cases(args) {
        context.say(&format!("{} {} {}", case.scenario, case.size, case.both));
        rows.push(measure(&bench, case, answer, window, line)?);
    }
    let times = times::measure(&bench, cable)?;
    let meta = meta(device, line, answer);
    if context.json {
        println!("{}", json!({ "meta": meta, "tables": rows, "times": times }));
    } else {
        print!("{}\n{}\n{}", describe(&meta), text(&rows), times::text(&times));
    }
    Ok(())
}

fn text(rows: &[Value]) -> String {
    let number = |value: &Value, digits: usize| match value.as_f64() {
        Some(number) => format!("{number:.digits$}"),
        None => "-".to_owned(),
    };
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let ways = if row["both_ways"] == true { "both ways" } else { "one way" };
            vec![
                row["scenario"].as_str().unwrap_or_default().to_owned(),
                ways.to_owned(),
                format!("{} KB", row["size_bytes"].as_u64().unwrap_or(0) >> 10),
                row["group"].to_string(),
                number(&row["cycles"], 0),
                number(&row["link_use_pct"], 2),
                number(&row["published_pct"], 1),
                number(&row["doorbells"], 2),
                number(&row["interrupts"], 2),
            ]
        })
        .collect();
    let head = [
        "SCENARIO",
        "WAYS",
        "SIZE",
        "GROUP",
        "CYCLES",
        "LINK USE %",
        "PUBLISHED %",
        "DOORBELLS",
        "INTERRUPTS",
    ];
    output::table(&head, 2, &lines)
}
