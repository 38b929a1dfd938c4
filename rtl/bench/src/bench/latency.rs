//! Measures latency for all sizes, directions and paths through the core, and on a true line.

use std::collections::BTreeSet;

use super::bed::CoreBench;
use super::jobs;
use super::modes::{
    Direction, FULL, JUMBO, LARGE, LARGE_MOST, MSS, RATES, TABLE_SIZES, WAYS, WIDE, Way, sizes,
};
use super::record::{Absolute, Latency, Point, Series};
use crate::builds::Build;
use crate::drill::endpoint::Settings;
use crate::formula::{ETHERNET, HEADERS, Line, exact_khz, ns};
use crate::rate::{PCS_CLOCKS, Pattern};

/// VLAN tag of the case `vlan`: priority 1, identifier 100.
const TAG: u16 = 0x2064;
/// Clock rates for 64 bits in kHz: that of the line, the recommended one, and the published one.
const WIDE_RATES: [u32; 3] = [156_250, 250_000, 322_000];

/// The series to measure with one build.
struct SeriesJob {
    build: String,
    ways: Vec<Way>,
    rates: Vec<u32>,
    sizes: Vec<u64>,
    case: &'static str,
    phases: bool,
}

impl SeriesJob {
    fn of(build: &str, ways: &[Way], sizes: Vec<u64>) -> Self {
        Self {
            build: build.to_owned(),
            ways: ways.to_vec(),
            rates: RATES.to_vec(),
            sizes,
            case: "",
            phases: false,
        }
    }
}

/// The largest payload of a segment of a build.
fn most_payload(build: &str) -> Result<u64, String> {
    let build = Build::named(build).map_err(|error| error.to_string())?;
    Ok(u64::from(build.get("Mtu")) - (HEADERS - ETHERNET))
}

fn jobs() -> Result<Vec<SeriesJob>, String> {
    let (small, large): (Vec<u64>, Vec<u64>) = sizes().into_iter().partition(|n| *n <= MSS);
    let table: Vec<u64> = TABLE_SIZES.into_iter().filter(|n| *n <= MSS).collect();
    let mut out = Vec::new();
    let mut builds: Vec<&str> = WAYS.iter().map(|way| way.build).collect();
    builds.sort_unstable();
    builds.dedup();
    for build in builds {
        let ways: Vec<Way> = WAYS.into_iter().filter(|way| way.build == build).collect();
        let most = most_payload(build)?;
        let fit: Vec<u64> = sizes().into_iter().filter(|n| *n <= most).collect();
        out.push(SeriesJob { phases: true, ..SeriesJob::of(build, &ways, fit) });
        if let Some((_, jumbo)) = JUMBO.iter().find(|(small, _)| *small == build) {
            let most = most_payload(jumbo)?;
            let fit = large.iter().copied().filter(|n| *n <= most).collect();
            out.push(SeriesJob::of(jumbo, &ways, fit));
        }
        let rx: Vec<Way> =
            ways.iter().filter(|way| way.direction == Direction::Rx).copied().collect();
        for case in ["vlan", "options"] {
            out.push(SeriesJob { case, ..SeriesJob::of(build, &rx, table.clone()) });
        }
    }
    for build in ["full_sf", "full_ct"] {
        let ways: Vec<Way> = FULL.into_iter().filter(|way| way.build == build).collect();
        out.push(SeriesJob { case: "full", ..SeriesJob::of(build, &ways, small.clone()) });
    }
    let most = table.iter().copied().filter(|n| *n <= LARGE_MOST).collect();
    out.push(SeriesJob { case: "large", ..SeriesJob::of("large", &LARGE, most) });
    for build in ["ct64_mac64", "sf64_mac64"] {
        let ways: Vec<Way> = WIDE.into_iter().filter(|way| way.build == build).collect();
        let rates = WIDE_RATES.to_vec();
        out.push(SeriesJob { rates, phases: true, ..SeriesJob::of(build, &ways, small.clone()) });
    }
    Ok(out)
}

/// Measures one path through the core.
fn series(bed: &mut CoreBench, job: &SeriesJob, way: &Way, khz: u32) -> Result<Series, String> {
    let pattern = Pattern::Limiter { khz };
    bed.set_pace(pattern);
    let mac_bytes = u64::from(bed.station.build.get("MacRxWidth") / 8);
    let extra = match job.case {
        "vlan" => 4,
        "options" => 12,
        _ => 0,
    };
    let line = Line { khz, mac_bytes, headers: HEADERS + extra };
    let mut points = Vec::new();
    for n in &job.sizes {
        let cycles = match way.direction {
            Direction::Rx => bed.receive(*n, pattern),
            Direction::Tx => bed.send(*n, way.mode),
        };
        let cycles = cycles.map_err(|error| format!("{}, {}: {error}", job.build, way.id))?;
        points.push(Point { n: *n, cycles, jumbo: *n > MSS });
    }
    Ok(Series {
        way: way.id.to_owned(),
        label: way.label.to_owned(),
        direction: way.direction,
        build: job.build.clone(),
        jumbo_build: None,
        parameters: bed.station.build.describe(),
        sessions: bed.partner.count(),
        case: job.case.to_owned(),
        line,
        formula: way.formula,
        rule: way.formula.text(),
        points,
    })
}

/// Measures one path on a true line: with 32 bits for each position of the decoder's pause, with
/// 64 bits in every clock of 156.25 MHz.
fn absolute(bed: &mut CoreBench, way: &Way, n: u64) -> Result<Absolute, String> {
    let mac_bits = u64::from(bed.station.build.get("MacRxWidth"));
    let (khz, phases) =
        if mac_bits == 32 { (exact_khz(RATES[0]), PCS_CLOCKS) } else { (156_250.0, 1) };
    let mut cycles = Vec::new();
    for phase in 0..phases {
        let pattern = if mac_bits == 32 { Pattern::Pcs { phase } } else { Pattern::Every };
        cycles.push(bed.receive(n, pattern)?);
    }
    let min = cycles.iter().copied().min().unwrap_or(0);
    let max = cycles.iter().copied().max().unwrap_or(0);
    let mean = cycles.iter().sum::<u64>() as f64 / f64::from(phases);
    let first_word = mac_bits as f64 / 10.0;
    let time = |cycles: f64| cycles * 1e6 / khz + first_word;
    Ok(Absolute {
        way: way.id.to_owned(),
        label: way.label.to_owned(),
        mac_bits,
        khz,
        n,
        phases: phases.into(),
        min,
        mean,
        max,
        min_ns: time(min as f64),
        mean_ns: time(mean),
        max_ns: time(max as f64),
    })
}

fn work(job: &SeriesJob) -> Result<(Vec<Series>, Vec<Absolute>), String> {
    let mss = most_payload(&job.build)? as u16;
    let longest = job.sizes.iter().copied().max().unwrap_or(0);
    let settings = Settings {
        vlan: (job.case == "vlan").then_some(TAG),
        mss,
        // Room for one segment of each size in as many sessions as possible. A tick acknowledges it.
        rcv_wnd: longest as u32,
        delack: 1,
        ..Settings::default()
    };
    let mut bed = CoreBench::new(&job.build, &settings)?;
    if job.case == "options" {
        // Two bytes of padding, then a time stamp (RFC 7323, 3.2).
        bed.partner.options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0];
    }
    let mut found = Vec::new();
    for khz in &job.rates {
        for way in &job.ways {
            found.push(series(&mut bed, job, way, *khz)?);
        }
    }
    let mut lines = Vec::new();
    if job.phases {
        for way in job.ways.iter().filter(|way| way.direction == Direction::Rx) {
            for n in TABLE_SIZES.into_iter().filter(|n| *n <= MSS) {
                lines.push(absolute(&mut bed, way, n)?);
            }
        }
    }
    Ok((found, lines))
}

/// Measures all series. It first makes the builds in parallel.
///
/// # Errors
/// A packet does not pass the core. Points that differ from their formula are no error here: the
/// record contains them.
pub fn measure() -> Result<Latency, String> {
    let jobs = jobs()?;
    let builds: BTreeSet<&str> = jobs.iter().map(|job| job.build.as_str()).collect();
    jobs::run(&Vec::from_iter(builds), |name| {
        Build::named(name).and_then(|build| build.make()).map_err(|error| error.to_string())
    })?;
    let mut out = Latency::default();
    for (series, absolute) in jobs::run(&jobs, work)? {
        for series in series {
            let wide = series.line.mac_bytes == 8;
            let list = if wide { &mut out.wide } else { &mut out.series };
            merge(list, series);
        }
        out.absolute.extend(absolute);
    }
    Ok(out)
}

/// Adds a series. Points of the jumbo build belong to the series of the same path.
fn merge(list: &mut Vec<Series>, series: Series) {
    let jumbo = series.points.first().is_some_and(|point| point.jumbo);
    let same = |other: &&mut Series| {
        jumbo
            && other.way == series.way
            && other.line == series.line
            && other.sessions == series.sessions
            && other.case == series.case
    };
    match list.iter_mut().find(same) {
        Some(found) => {
            found.points.extend(series.points);
            found.jumbo_build = Some(series.build);
        }
        None => list.push(series),
    }
}

/// Describes the points that differ from their formula.
#[must_use]
pub fn off(latency: &Latency) -> Vec<String> {
    latency.series.iter().chain(&latency.wide).flat_map(Series::off).collect()
}

/// Formats one line for each series, for a terminal.
#[must_use]
pub fn text(latency: &Latency) -> String {
    let mut out = String::new();
    for series in latency.series.iter().chain(&latency.wide) {
        let cell =
            |n: &u64| series.cycles(*n).map_or("-".to_owned(), |point| point.cycles.to_string());
        let cells: Vec<String> = TABLE_SIZES.iter().map(cell).collect();
        out += &format!(
            "{:<14} {:>3} sessions {:>3} MHz {:<8} {:<40} {}; n = 1: {:.2} ns\n",
            series.way,
            series.sessions,
            series.line.khz / 1000,
            series.case,
            cells.join(" "),
            series.rule,
            ns(series.points.first().map_or(0.0, |point| point.cycles as f64), series.line.khz),
        );
    }
    out
}
