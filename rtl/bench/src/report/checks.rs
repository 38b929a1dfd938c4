//! The sections on conformance, fuzzing, and the generics of the builds.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::markup::{details, paragraph, part, section};

use crate::bench::generics::{FIXED, Generics};
use crate::drill::suite::{POINTS, ScriptRecord};
use crate::fuzz::runs::{self, FuzzRun};
use crate::published::Published;

/// The commands that make a record.
const DRILL: &str = "tcp-check --core sf64 drill";
const FUZZ: &str = "tcp-check --core sf64 fuzz --lockstep";

/// Renders the section on conformance and fuzzing.
///
/// # Errors
/// The scripts have not been run, a point has no script, or the fuzzer has not been run.
pub fn conformance(records: &[ScriptRecord], fuzz: &[FuzzRun]) -> Result<String, String> {
    if records.is_empty() {
        return Err(format!("conformance.json has no runs; run {DRILL}"));
    }
    let mut body = paragraph(
        "Scripts of segments, each for a clause of an RFC, run against the core in virtual time.",
    );
    let mut table = HtmlTable::with_head(
        "Points of conformance",
        ["Point", "Scripts", "Passed", "Skipped", "Failed", "What they show"].map(str::to_owned),
    );
    for number in 1..=POINTS {
        let point = format!("C{number}");
        let rows = records.iter().flat_map(|record| &record.rows).filter(|row| row.point == point);
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            return Err(format!("conformance.json has no script for {point}; run {DRILL}"));
        }
        let count = |result: &str| rows.iter().filter(|row| row.result == result).count();
        let failed = count("failed");
        let mut titles: Vec<&str> = rows.iter().map(|row| row.title.as_str()).collect();
        titles.sort_unstable();
        titles.dedup();
        table.row(
            point,
            [
                TableCell::new(rows.len().to_string()),
                TableCell::toned(count("passed").to_string(), CellTone::Better),
                TableCell::new(count("skipped").to_string()),
                TableCell::toned(
                    failed.to_string(),
                    if failed > 0 { CellTone::Worse } else { CellTone::Plain },
                ),
                TableCell::new(titles.join("; ")),
            ],
        );
    }
    body.push_str(&table.complete_html("plain-first wraps")?);
    for record in records {
        body.push_str(&scripts(record)?);
    }
    body.push_str(&part("Fuzzing", &random(fuzz)?));
    Ok(section("conformance", "Conformance and robustness", &body))
}

fn scripts(record: &ScriptRecord) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        record.endpoint.clone(),
        ["Script", "Point", "Clause", "What it shows", "Result"].map(str::to_owned),
    );
    for row in &record.rows {
        let (text, tone) = match row.result.as_str() {
            "passed" => ("passed".to_owned(), CellTone::Better),
            "failed" => (format!("failed, {}", row.detail), CellTone::Worse),
            other => (format!("{other}: {}", row.detail), CellTone::Absent),
        };
        table.row(
            row.script.clone(),
            [
                TableCell::new(row.point.clone()),
                TableCell::new(row.clause.clone()),
                TableCell::new(row.title.clone()),
                TableCell::toned(text, tone),
            ],
        );
    }
    let summary = format!(
        "{}: {} passed, {} skipped, {} failed",
        record.endpoint, record.passed, record.skipped, record.failed
    );
    Ok(details(&summary, &table.complete_html("plain-first wraps")?))
}

fn random(all: &[FuzzRun]) -> Result<String, String> {
    let mut table = HtmlTable::with_head(
        "Random frames, the newest core of each build",
        [
            "Build",
            "Frames",
            "Of them in lock-step with the model",
            "Runs, each with its seed",
            "Frames of the core",
            "Connections opened",
            "Bytes delivered",
            "Probes answered",
            "Result",
        ]
        .map(str::to_owned),
    );
    for sum in runs::sums(all) {
        let result = if sum.failed.is_empty() {
            TableCell::toned("passed", CellTone::Better)
        } else {
            TableCell::toned(format!("failed with seeds {:?}", sum.failed), CellTone::Worse)
        };
        let counts = [
            sum.frames,
            sum.lockstep_frames,
            sum.runs,
            sum.answers,
            sum.opened,
            sum.delivered_bytes,
            sum.probes,
        ];
        let cells = counts.iter().map(|count| TableCell::new(count.to_string()));
        table.row(sum.endpoint, cells.chain([result]).collect::<Vec<_>>());
    }
    if all.is_empty() {
        return Err(format!("fuzz.json has no runs; run {FUZZ}"));
    }
    table.complete_html("plain-first")
}

/// Renders the section on generics.
///
/// # Errors
/// No build was read, or a published generic is neither read nor explained.
pub fn generics(source: &Published, generics: &Generics) -> Result<String, String> {
    let names: Vec<&String> = generics.builds.keys().collect();
    if names.is_empty() {
        return Err("generics.json has no builds; run tcp-bench about".to_owned());
    }
    let head = ["Generic".to_owned(), "Published".to_owned()];
    let head = head.into_iter().chain(names.iter().map(|name| format!("Ours, {name}")));
    let mut table = HtmlTable::with_head("Generics, read from the registers of the builds", head);
    for (name, value) in &source.generics {
        let published = TableCell::toned(value.clone(), CellTone::Published);
        if FIXED.contains(&name.as_str()) {
            let text = "no parameter; docs/tcp-core.md says what the core does instead";
            table.row(name.clone(), [published, TableCell::new(text).over(names.len())]);
            continue;
        }
        let mut cells = vec![published];
        for build in &names {
            let value = generics.builds.get(*build).and_then(|values| values.get(name));
            let value = value.ok_or_else(|| format!("generics.json: {build} has no {name}"))?;
            cells.push(TableCell::new(value.to_string()));
        }
        table.row(name.clone(), cells);
    }
    let mut own = HtmlTable::with_head(
        "Ours alone",
        std::iter::once("Parameter".to_owned())
            .chain(names.iter().map(|name| format!("Ours, {name}"))),
    );
    for name in ["RxPacked", "RxEopMerge", "MacTxPad"] {
        let value = |build: &&String| {
            let value = generics.builds.get(*build).and_then(|values| values.get(name));
            let value = value.ok_or_else(|| format!("generics.json: {build} has no {name}"))?;
            Ok(TableCell::new(value.to_string()))
        };
        own.row(name, names.iter().map(value).collect::<Result<Vec<_>, String>>()?);
    }
    let text = paragraph(
        "All latency and bandwidth runs use the same generics, except those that distinguish the \
         paths: widths of the user side, the receiver's store, the number of sessions if it is \
         named, with a receive FIFO that has room for a segment of each, and the MTU of single \
         jumbo frames.",
    );
    let body = text + &table.complete_html("plain-first")? + &own.complete_html("plain-first")?;
    Ok(section("generics", "Generics", &body))
}
