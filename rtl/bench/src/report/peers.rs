//! The section on real peers: the TCP of Linux, and smoltcp in virtual time.

use spfe_report::html_table::{CellTone, HtmlTable, TableCell};
use spfe_report::markup::{details, paragraph, section};

use std::collections::BTreeMap;

use crate::bench::record::{PeerRun, Peers};
use crate::peer::cases::CaseResult;

/// Renders the section. `core` is the hash of the current sources of the core.
///
/// # Errors
/// There is no run with one of the peers.
pub fn html(linux: &Peers, other: &[CaseResult], core: &str) -> Result<String, String> {
    if linux.runs.is_empty() {
        return Err(
            "peers.json has no runs with Linux; run tests/run.sh tests/tcp/peer.bats".to_owned()
        );
    }
    if other.is_empty() {
        return Err("peer.json has no runs with smoltcp; run tcp-check --core sf64 peer".to_owned());
    }
    let mut body = paragraph(
        "The simulated core behind a TAP device, with the network stack of Linux as its peer. The \
         user's streams are joined to local sockets, so that any program can use the core. Also \
         the core against the stack of smoltcp in virtual time.",
    );
    let mut builds: BTreeMap<(&str, &str), Vec<&PeerRun>> = BTreeMap::new();
    for run in &linux.runs {
        builds.entry((&run.endpoint, &run.form)).or_default().push(run);
    }
    for ((build, form), runs) in &builds {
        let name = format!("{build} against Linux, {form} form");
        body.push_str(&with_linux(&name, runs, core)?);
    }
    let mut builds: BTreeMap<(&str, u32), Vec<&CaseResult>> = BTreeMap::new();
    for row in other {
        builds.entry((&row.endpoint, row.scale)).or_default().push(row);
    }
    for ((build, scale), rows) in &builds {
        let name = format!("{build} against smoltcp, scale {scale}");
        body.push_str(&with_smoltcp(&name, rows, core)?);
    }
    Ok(section("peers", "Real peers", &body))
}

/// The result of a run, with the hash of its sources if they are not the current ones.
fn result(result: &str, detail: &str, ran: &str, core: &str) -> TableCell {
    let state = if ran == core { String::new() } else { format!(" (sources {ran})") };
    match result {
        "passed" => TableCell::toned(format!("passed{state}"), CellTone::Better),
        "failed" => TableCell::toned(format!("failed{state}: {detail}"), CellTone::Worse),
        other => TableCell::toned(format!("{other}{state}: {detail}"), CellTone::Absent),
    }
}

/// A table of runs below a title with the number of passed runs.
fn group(name: &str, table: &HtmlTable, passed: usize, all: usize) -> Result<String, String> {
    Ok(details(
        &format!("{name}: {passed} of {all} passed"),
        &table.complete_html("plain-first wraps")?,
    ))
}

fn with_linux(name: &str, runs: &[&PeerRun], core: &str) -> Result<String, String> {
    let head = [
        "Run",
        "Role of the core",
        "Bytes",
        "Frames out",
        "Frames in",
        "Lost or changed",
        "Sent again by the core",
        "by Linux",
        "Result",
    ];
    let mut table = HtmlTable::with_head(name, head.map(str::to_owned));
    for run in runs {
        let text = if run.passed { "passed" } else { "failed" };
        let counts = [
            run.bytes,
            run.frames_out,
            run.frames_in,
            run.impaired,
            run.core_retransmissions,
            run.peer_retransmissions,
        ];
        let mut cells = vec![TableCell::new(run.role.clone())];
        cells.extend(counts.map(|count| TableCell::new(count.to_string())));
        cells.push(result(text, &run.detail, &run.core, core).with_tip(run.peer.clone()));
        table.row(run.name.clone(), cells);
    }
    group(name, &table, runs.iter().filter(|run| run.passed).count(), runs.len())
}

fn with_smoltcp(name: &str, rows: &[&CaseResult], core: &str) -> Result<String, String> {
    let head = [
        "Case",
        "Connections",
        "Bytes",
        "Ticks",
        "Frames out",
        "Frames in",
        "Lost or changed",
        "Sent again by the core",
        "by the peer",
        "Result",
    ];
    let mut table = HtmlTable::with_head(name, head.map(str::to_owned));
    for row in rows {
        let counts = [
            row.connections.into(),
            row.bytes,
            row.ticks,
            row.frames_out,
            row.frames_in,
            row.impaired_frames,
            row.sent_again_out,
            row.sent_again_in,
        ];
        let mut cells = Vec::from(counts.map(|count: u64| TableCell::new(count.to_string())));
        cells.push(result(&row.result, &row.detail, &row.core, core));
        table.row(row.case.clone(), cells);
    }
    group(name, &table, rows.iter().filter(|row| row.result == "passed").count(), rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_on_other_sources_show_their_hash() {
        let run = |name: &str, core: &str, passed| PeerRun {
            endpoint: "full".to_owned(),
            core: core.to_owned(),
            form: "long".to_owned(),
            name: name.to_owned(),
            role: "both".to_owned(),
            detail: "why".to_owned(),
            passed,
            ..PeerRun::default()
        };
        let runs = vec![run("one", "abc", true), run("two", "def", true), run("x", "abc", false)];
        let page = html(
            &Peers { runs },
            &[CaseResult {
                case: "a".to_owned(),
                endpoint: "sf64".to_owned(),
                result: "passed".to_owned(),
                ..CaseResult::default()
            }],
            "abc",
        )
        .expect("all cells say something");
        assert!(page.contains("full against Linux, long form: 2 of 3 passed"), "{page}");
        assert!(page.contains("passed (sources def)") && page.contains("failed: why"), "{page}");
        assert!(!page.contains("sources abc"), "{page}");
    }

    #[test]
    fn a_missing_peer_is_an_error() {
        let linux = Peers { runs: vec![PeerRun::default()] };
        let error = html(&Peers::default(), &[], "abc").expect_err("nothing has run");
        assert!(error.contains("tests/tcp/peer.bats"), "{error}");
        let error = html(&linux, &[], "abc").expect_err("only Linux has run");
        assert!(error.contains("tcp-check --core sf64 peer"), "{error}");
    }
}
