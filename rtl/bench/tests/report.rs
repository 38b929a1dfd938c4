//! Tests the report with made-up records: complete records are rendered, wrong ones are refused.

use spfe_tcp_bench::bench::generics::{FIXED, Generics};
use spfe_tcp_bench::bench::modes::{
    Direction, FULL, LARGE, LARGE_MOST, RATES, TABLE_SIZES, WAYS, WIDE, Way, sizes,
};
use spfe_tcp_bench::bench::record::{
    Absolute, Bandwidth, Contention, Latency, PeerRun, Peers, Point, Rate, Scenario, Series,
};
use spfe_tcp_bench::bench::synthesis::{Ecp5, Logic, Lutram, Synthesis, Top, Xcup};
use spfe_tcp_bench::bench::{bandwidth, meta};
use spfe_tcp_bench::drill::suite::{ScriptRecord, ScriptResult};
use spfe_tcp_bench::formula::{HEADERS, Line};
use spfe_tcp_bench::fuzz::runs::FuzzRun;
use spfe_tcp_bench::peer::cases::CaseResult;
use spfe_tcp_bench::published::Published;
use spfe_tcp_bench::report::{Records, render};

fn series(way: &Way, line: Line, sessions: u16, case: &str, sizes: &[u64]) -> Series {
    let point = |n: &u64| Point { n: *n, cycles: way.formula.cycles(&line, *n), jumbo: *n > 1460 };
    Series {
        way: way.id.to_owned(),
        label: way.label.to_owned(),
        direction: way.direction,
        build: way.build.to_owned(),
        jumbo_build: None,
        parameters: "none".to_owned(),
        sessions,
        case: case.to_owned(),
        line,
        formula: way.formula,
        rule: way.formula.text(),
        points: sizes.iter().map(point).collect(),
    }
}

fn latency() -> Latency {
    let mut out = Latency::default();
    let table: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= 1460).collect();
    for khz in RATES {
        for way in &WAYS {
            let most = if way.build == "ct64" { 1460 } else { 2048 };
            let fit: Vec<u64> = sizes().into_iter().filter(|n| *n <= most).collect();
            out.series.push(series(way, Line::published(khz), 16, "", &fit));
            for (case, more) in [("vlan", 4), ("options", 12)] {
                let line = Line { headers: HEADERS + more, ..Line::published(khz) };
                out.series.push(series(way, line, 16, case, &table));
            }
        }
    }
    for way in &FULL {
        out.series.push(series(way, Line::published(RATES[0]), 64, "full", &table));
    }
    let short: Vec<u64> = table.iter().copied().filter(|n| *n <= LARGE_MOST).collect();
    for way in &LARGE {
        out.series.push(series(way, Line::published(RATES[0]), 256, "large", &short));
    }
    for way in &WIDE {
        let line = Line { khz: 156_250, mac_bytes: 8, headers: HEADERS };
        out.wide.push(series(way, line, 16, "", &table));
    }
    out.absolute.push(Absolute {
        way: "rx_packed64".to_owned(),
        label: "Rx".to_owned(),
        mac_bits: 32,
        khz: 322_265.625,
        n: 64,
        phases: 33,
        min: 16,
        mean: 16.5,
        max: 17,
        min_ns: 52.8,
        mean_ns: 53.0,
        max_ns: 55.9,
    });
    out
}

fn rates() -> Bandwidth {
    let mut rates = Vec::new();
    let ways = ["tx_store", "tx_ct", "rx_store", "rx_ct"];
    for (way, khz) in ways.iter().flat_map(|way| RATES.map(|khz| (way, khz))) {
        let direction = if way.starts_with("rx") { Direction::Rx } else { Direction::Tx };
        for limit in ["limiter", "line", "every"] {
            for (round_robin, n) in [false, true]
                .into_iter()
                .flat_map(|robin| bandwidth::sizes().into_iter().map(move |n| (robin, n)))
            {
                rates.push(Rate {
                    way: (*way).to_owned(),
                    label: (*way).to_owned(),
                    direction,
                    build: "sf64".to_owned(),
                    khz,
                    limit: limit.to_owned(),
                    round_robin,
                    n,
                    packets: 100,
                    bytes: 6000,
                    clocks: 1545,
                    least: 1545,
                    mbps: 10_000.0,
                    wire_mbps: 14_000.0,
                    goodput_mbps: 100.0,
                    mpps: 14.88,
                });
            }
        }
    }
    Bandwidth { rates }
}

fn records() -> Records {
    let mut generics = Generics::default();
    let values = Published::load().generics.into_iter().map(|(name, _)| (name, 1));
    let own = ["RxPacked", "RxEopMerge", "MacTxPad"].map(|name| (name.to_owned(), 1));
    let values = values.filter(|(name, _)| FIXED.iter().all(|fixed| fixed != name)).chain(own);
    generics.builds.insert("sf64".to_owned(), values.collect());
    let scenario = |id: &str, bound| Scenario {
        id: id.to_owned(),
        label: id.to_owned(),
        khz: 322_000,
        n: 64,
        messages: 10,
        others: 5,
        histogram: vec![(1, 9), (bound, 1)],
        bound,
    };
    let core = "none".to_owned();
    let endpoint = "sf64".to_owned();
    let script = |number: u32| ScriptResult {
        point: format!("C{number}"),
        script: "a".to_owned(),
        title: "b".to_owned(),
        clause: "c".to_owned(),
        result: "passed".to_owned(),
        detail: String::new(),
    };
    let conformance = ScriptRecord {
        endpoint: endpoint.clone(),
        core: core.clone(),
        passed: 31,
        skipped: 0,
        failed: 0,
        rows: (1..=31).map(script).collect(),
    };
    let run = PeerRun {
        endpoint: endpoint.clone(),
        name: "a".to_owned(),
        role: "both".to_owned(),
        passed: true,
        ..PeerRun::default()
    };
    let case = CaseResult {
        endpoint: endpoint.clone(),
        case: "a".to_owned(),
        result: "passed".to_owned(),
        ..CaseResult::default()
    };
    let result = "passed".to_owned();
    Records {
        peers: Peers { runs: vec![run] },
        peer: vec![case],
        conformance: vec![conformance],
        fuzz: vec![FuzzRun { endpoint, core, result, frames: 9, ..FuzzRun::default() }],
        synthesis: synthesis(),
        meta: meta::Meta { revision: "none".to_owned(), ..meta::Meta::default() },
        latency: latency(),
        bandwidth: rates(),
        contention: Contention { scenarios: vec![scenario("idle", 1), scenario("arp", 17)] },
        generics,
    }
}

/// The real table, with made-up results of today's sources for all its tops.
fn synthesis() -> Synthesis {
    let mut out = Synthesis::read().expect("rtl/synth.toml and its record");
    for wanted in out.table.tops.clone() {
        if wanted.module.starts_with("spfe_tcp") {
            let file = format!("rtl/tcp/{}.sv", wanted.module);
            out.files.insert(wanted.module.clone(), vec![file]);
        }
        let sources = out.now(&wanted.module).ok().flatten().unwrap_or_default();
        let xcup = Xcup {
            lut_total: 20_000,
            ff: 20_000,
            bram36: 6,
            bram18: 1,
            logic: Logic { levels: 9, from: Some("a".to_owned()), to: Some("b".to_owned()) },
            lutram: Lutram { luts: 100 },
            sources: sources.clone(),
            tool: "yosys==1".to_owned(),
        };
        let ecp5 = Ecp5 {
            lut4_total: 30_000,
            ff: 2000,
            harness_ff: 1000,
            dp16kd: 12,
            fmax_mhz: (1..=5).map(|seed| (seed.to_string(), 70.0 + f64::from(seed))).collect(),
            sources,
            tool: "nextpnr==1".to_owned(),
        };
        let (module, parameters) = (wanted.module, wanted.parameters);
        out.tops
            .insert(wanted.name, Top { module, parameters, xcup: Some(xcup), ecp5: Some(ecp5) });
    }
    out
}

#[test]
fn complete_records_make_a_report() {
    let (page, drawings) = render(&records()).expect("whole");
    for number in 1..=14 {
        assert!(page.contains(&format!("Published table {number}")), "table {number}");
    }
    for number in 1..=12 {
        assert!(page.contains(&format!("<b>Figure {number}.</b>")), "figure {number}");
    }
    assert!(drawings.len() >= 12);
    assert!(page.contains("results are of the present sources"));
    assert!(!page.contains("<td></td>"));
}

#[test]
fn a_point_off_its_formula_is_refused() {
    let mut records = records();
    records.latency.series[0].points[3].cycles += 1;
    let error = render(&records).expect_err("one point is off");
    assert!(
        error.contains("1 points are off their formula") && error.contains("rx_merged64"),
        "{error}"
    );
}

#[test]
fn a_missing_series_or_run_is_refused() {
    let whole = records();
    let mut less = whole.clone();
    less.latency.series.retain(|series| series.way != "tx_ct64");
    assert!(render(&less).expect_err("no tx_ct64").contains("tx_ct64"));
    let mut less = whole.clone();
    less.bandwidth.rates.retain(|rate| rate.n != 128);
    assert!(render(&less).expect_err("no 128 B").contains("128 B"));
    let mut slow = whole.clone();
    slow.bandwidth.rates[5].clocks += 60;
    assert!(render(&slow).expect_err("too slow").contains("below their limiter"));
    let mut late = whole;
    late.contention.scenarios[1].histogram.push((900, 1));
    assert!(render(&late).expect_err("too late").contains("900 cycles"));
}

/// The lines of a page that have a text.
fn lines<'a>(page: &'a str, text: &str) -> Vec<&'a str> {
    page.lines().filter(|line| line.contains(text)).collect()
}

#[test]
fn the_summary_begins_with_figures_that_are_measured_like_the_published_ones() {
    let (page, _) = render(&records()).expect("whole");
    let tiles = lines(&page, "<li>");
    let first = tiles.iter().position(|line| line.contains("<strong>")).expect("tiles");
    let round_trip = format!("<strong>{} cycles</strong>", 16 + 1);
    assert!(tiles[first].contains(&round_trip), "{}", tiles[first]);
    assert!(tiles[first].contains("published: 18 cycles"), "{}", tiles[first]);
}

#[test]
fn nothing_is_better_at_a_clock_that_no_core_reaches() {
    let mut records = records();
    let latency = |page: &str| {
        let (start, end) = (page.find("id=\"latency\""), page.find("id=\"contention\""));
        page[start.expect("latency")..end.expect("contention")].to_owned()
    };
    let (page, _) = render(&records).expect("whole");
    assert!(!latency(&page).contains("class=\"better\""));
    assert!(page.contains("no result here says that a device reaches such a clock"));
    let core = records.synthesis.tops.get_mut("tcp-cut-through").expect("a core with rates");
    let rates = &mut core.ecp5.as_mut().expect("rates").fmax_mhz;
    rates.values_mut().for_each(|rate| *rate = 323.0);
    let (page, _) = render(&records).expect("whole");
    assert!(latency(&page).contains("class=\"better\""));
    assert!(page.contains("Nanoseconds at 350 MHz are conversions"));
    // One seed that misses the rate is enough.
    let core = records.synthesis.tops.get_mut("tcp-cut-through").expect("a core with rates");
    core.ecp5.as_mut().expect("rates").fmax_mhz.insert("9".to_owned(), 322.0);
    let (page, _) = render(&records).expect("whole");
    assert!(!latency(&page).contains("class=\"better\""));
}

/// Changes the whole records, and expects an error with these texts.
fn refused(change: impl FnOnce(&mut Records), texts: &[&str]) {
    let mut less = records();
    change(&mut less);
    let error = render(&less).expect_err(texts[0]);
    assert!(texts.iter().all(|text| error.contains(text)), "{error}");
}

#[test]
fn a_missing_section_is_refused() {
    refused(|r| r.peers.runs.clear(), &["peers.json", "peer.bats"]);
    refused(|r| r.peer.clear(), &["peer.json", "smoltcp"]);
    refused(|r| r.conformance.clear(), &["conformance.json", "drill"]);
    refused(|r| r.conformance[0].rows.retain(|row| row.point != "C7"), &["C7", "drill"]);
    refused(|r| r.fuzz.clear(), &["fuzz.json", "fuzz"]);
    refused(|r| r.generics.builds.clear(), &["generics.json"]);
    refused(|r| r.contention.scenarios.clear(), &["contention.json"]);
    refused(|r| r.bandwidth.rates.clear(), &["bandwidth.json"]);
}

#[test]
fn a_missing_result_of_a_published_configuration_is_refused() {
    let (name, command) = ("tcp-64s-32b", "synth --record --xcup tcp-64s-32b");
    refused(|r| r.synthesis.tops.get_mut(name).expect("top").xcup = None, &[command]);
    refused(|r| drop(r.synthesis.tops.remove(name)), &[command]);
}

#[test]
fn other_missing_results_of_synthesis_are_named() {
    assert_eq!(records().synthesis.missing(), [""; 0]);
    let lacks = |change: fn(&mut Records), commands: &[&str]| {
        let mut less = records();
        change(&mut less);
        let missing = less.synthesis.missing();
        let (page, _) = render(&less).expect("the rest is there");
        assert_eq!(missing.len(), commands.len(), "{missing:?}");
        for command in commands {
            assert!(missing.iter().any(|text| text.contains(command)), "{missing:?}");
            assert!(page.contains(command), "{command}");
        }
        assert!(page.contains(&format!("{} more are missing", commands.len())));
    };
    let xcup = "synth --record --xcup tcp-rx";
    let ecp5 = "synth --record --ecp5 tcp-rx";
    lacks(|r| r.synthesis.tops.get_mut("tcp-rx").expect("top").xcup = None, &[xcup]);
    lacks(|r| r.synthesis.tops.get_mut("tcp-rx").expect("top").ecp5 = None, &[ecp5]);
    lacks(|r| drop(r.synthesis.tops.remove("tcp-rx")), &[xcup, ecp5]);
    // Results of other parameters are none.
    let change = |r: &mut Records| {
        let top = r.synthesis.tops.get_mut("tcp-rx").expect("top");
        top.parameters.insert("Checksum".to_owned(), 0);
    };
    lacks(change, &[xcup, ecp5]);
    let core = "synth --record --ecp5 tcp-cut-through";
    lacks(|r| r.synthesis.tops.get_mut("tcp-cut-through").expect("top").ecp5 = None, &[core]);
}

#[test]
fn stale_results_of_synthesis_are_marked() {
    let mut records = records();
    let taken = records.synthesis.tops.get_mut("tcp-rx").expect("top").xcup.as_mut();
    taken.expect("cells").sources = "0123456789".to_owned();
    let taken = records.synthesis.tops.get_mut("tcp-tx").expect("top").ecp5.as_mut();
    taken.expect("rates").fmax_mhz.remove("3");
    // A file of the transmitter that no longer exists.
    let (gone, sources) = ("spfe_tcp_tx", "abcdef0123".to_owned());
    let files = records.synthesis.files.get_mut(gone).expect("files");
    files.push("rtl/tcp/gone.sv".to_owned());
    for top in records.synthesis.tops.values_mut().filter(|top| top.module == gone) {
        top.xcup.as_mut().expect("cells").sources = sources.clone();
    }
    let demands = records.synthesis.demands().expect("can be read");
    for (top, flow, why) in [
        ("tcp-rx", "xcup", "older sources"),
        ("tcp-tx", "xcup", "older sources"),
        ("tcp-tx", "ecp5", "older sources"),
    ] {
        let named = format!("the {flow} of {top} is of {why}; run");
        assert!(demands.iter().any(|text| text.contains(&named)), "{named}: {demands:?}");
    }
    let (page, _) = render(&records).expect("whole");
    assert!(page.contains("stale: abcdef01<"));
    assert_eq!(page.matches("stale: 01234567<").count(), 1);
    assert!(page.contains("1 of ") && page.contains("results are of older sources"));
    assert_eq!(page.matches(">4 of 5<").count(), 1);
}

#[test]
fn a_clock_rate_needs_every_seed_and_the_sources_of_today() {
    let whole = records().synthesis;
    assert_eq!(whole.demands(), Ok(Vec::new()));
    let (mhz, core) = whole.clock().expect("a whole core was placed");
    assert!(mhz > 0.0 && whole.tops[core].module == "spfe_tcp");
    let changed = |change: fn(&mut Ecp5), why: &str| {
        let mut less = whole.clone();
        for top in less.tops.values_mut().filter(|top| top.module == "spfe_tcp") {
            change(top.ecp5.as_mut().expect("rates"));
        }
        assert_eq!(less.clock(), None, "{why}");
        let demands = less.demands().expect("can be read");
        assert!(
            !demands.is_empty() && demands.iter().all(|text| text.contains(why)),
            "{demands:?}"
        );
    };
    let lose = |taken: &mut Ecp5| {
        taken.fmax_mhz.remove("3");
    };
    changed(lose, "is of 4 seeds, not 5; run");
    changed(|taken| taken.sources.clear(), "is of older sources; run");
}

#[test]
fn cells_of_different_sources_are_not_subtracted() {
    let (text, _) = render(&records()).expect("whole");
    let why = "few and with many sessions are of different sources";
    assert!(!text.contains(why));
    let mut records = records();
    let few = records.synthesis.tops.get_mut("tcp-2s-64b").expect("top").xcup.as_mut();
    few.expect("cells").sources = "0123456789".to_owned();
    let (text, _) = render(&records).expect("whole");
    assert_eq!(text.matches(why).count(), 1);
}

/// Strings in the code of the report, without its tests.
fn strings(code: &str) -> Vec<String> {
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        // A string over several lines has one part in each.
        let escaped = line.replace("\\\"", "'");
        let parts: Vec<&str> = escaped.split('"').collect();
        if parts.len() == 1 && line.trim_end().ends_with('\\') {
            found.push(line.to_owned());
        }
        let quoted = parts.iter().enumerate().filter(|(index, _)| index % 2 == 1);
        found.extend(quoted.map(|(_, part)| (*part).to_owned()));
        if parts.len().is_multiple_of(2) && !line.trim_end().ends_with('\\') {
            found.push(parts[0].to_owned());
        }
    }
    found
}

/// A text without what may have digits: placeholders, names of paths, cells, devices and standards.
fn without_names(text: &str) -> String {
    let mut rest = text.to_owned();
    while let Some((start, end)) = rest.find('{').zip(rest.find('}')).filter(|(a, b)| a < b) {
        rest.replace_range(start..=end, "");
    }
    const NAMES: [&str; 16] = [
        "10G ",
        "UltraScale+",
        "BRAM36",
        "LUT4",
        "DP16KD",
        "ECP5-85",
        "ECP5",
        "IEEE 802.1Q",
        "64B/66B",
        "docs/tcp-core",
        "max(0,",
        "− 1)",
        "USER2TCP_DATA_WIDTH",
        "− 1.",
        "h1>",
        "sf64",
    ];
    NAMES.iter().for_each(|name| rest = rest.replace(name, ""));
    let path = |word: &str| word.starts_with("rx_") || word.starts_with("tx_");
    rest.split(' ').filter(|word| !path(word)).collect::<Vec<_>>().join(" ")
}

#[test]
fn no_figure_is_typed_into_the_report() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report");
    let (mut checked, mut typed) = (0, Vec::new());
    for file in
        std::fs::read_dir(directory).expect("src/report").map(|file| file.expect("file").path())
    {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Drawings have coordinates, and styles have widths.
        if name == "diagram.rs" || !name.ends_with(".rs") {
            continue;
        }
        for text in strings(&std::fs::read_to_string(&file).expect("can be read")) {
            let digits = without_names(&text);
            if digits.contains(|c: char| c.is_ascii_digit()) {
                typed.push(format!("{name}: {text}"));
            }
            checked += 1;
        }
    }
    assert!(typed.is_empty(), "figures typed by hand:\n{}", typed.join("\n"));
    assert!(checked > 300, "{checked}");
    // The check finds what was typed here before.
    for typed in ["14 cycles are the minimum", "all 120 published", "64 bytes, verified"] {
        assert!(without_names(typed).contains(|c: char| c.is_ascii_digit()), "{typed}");
    }
}
