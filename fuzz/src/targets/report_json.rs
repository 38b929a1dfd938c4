//! Documents of `spfe perf`: any JSON, and any document, in every rendering.

use arbitrary::{Arbitrary, Result, Unstructured};
use spfe_report::{Document, KernelLoad, LatencyNs, PaperFigure, Point, ResultRow, html, scenario, text, tsv};

#[derive(Debug)]
enum Input {
    Json(String),
    Made(Box<Document>),
}

/// A number as measured, one that cannot be, or any.
fn number(u: &mut Unstructured<'_>) -> Result<f64> {
    Ok(match u.int_in_range(0..=7u8)? {
        0..=3 => f64::from(u.arbitrary::<u16>()?) / 8.0,
        4 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX]
            [usize::from(u.arbitrary::<u8>()?) % 7],
        5 => f64::from(u.arbitrary::<i32>()?),
        _ => u.arbitrary()?,
    })
}

fn optional<T>(
    u: &mut Unstructured<'_>,
    get: fn(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Option<T>> {
    if u.arbitrary()? { get(u).map(Some) } else { Ok(None) }
}

fn size(u: &mut Unstructured<'_>) -> Result<u64> {
    Ok(if u.ratio(3, 4)? { 1 << u.int_in_range(0..=24u8)? } else { u.arbitrary()? })
}

fn name(u: &mut Unstructured<'_>) -> Result<String> {
    let known = [
        scenario::SEND_SINGLE,
        scenario::SEND_GROUP,
        scenario::RECEIVE_SINGLE,
        scenario::RECEIVE_THRESHOLD,
        scenario::RATE_TX,
        scenario::RATE_RX,
        scenario::RATE_BOTH,
        scenario::RANDOM_TX,
        scenario::RANDOM_BOTH,
        scenario::LATENCY,
    ];
    let which = usize::from(u.arbitrary::<u8>()? % 12);
    known.get(which).map_or_else(|| u.arbitrary(), |name| Ok((*name).to_owned()))
}

fn latency(u: &mut Unstructured<'_>) -> Result<LatencyNs> {
    let (mean, p50, p99) = (number(u)?, number(u)?, number(u)?);
    Ok(LatencyNs { mean, p50, p99, p999: number(u)?, max: number(u)?, min: number(u)? })
}

fn kernel(u: &mut Unstructured<'_>) -> Result<KernelLoad> {
    let (user_pct, system_pct, machine_pct) = (number(u)?, number(u)?, number(u)?);
    let (machine_of_all_pct, interrupt_pct) = (number(u)?, number(u)?);
    let (stolen_pct, interrupts_per_s) = (number(u)?, number(u)?);
    Ok(KernelLoad {
        user_pct,
        system_pct,
        machine_pct,
        machine_of_all_pct,
        interrupt_pct,
        stolen_pct,
        interrupts_per_s,
    })
}

fn point(u: &mut Unstructured<'_>) -> Result<Point> {
    let (rate_gbps, host_cpu_pct) = (number(u)?, number(u)?);
    let (device_cpu_pct, wakes_per_s) = (number(u)?, number(u)?);
    let kernel = optional(u, kernel)?;
    Ok(Point { rate_gbps, host_cpu_pct, device_cpu_pct, wakes_per_s, kernel })
}

fn row(u: &mut Unstructured<'_>) -> Result<ResultRow> {
    let (name, size_bytes, group) = (name(u)?, size(u)?, u.arbitrary::<u16>()?.into());
    if u.ratio(1, 2)? {
        let points = (0..u.int_in_range(0..=4u8)?).map(|_| point(u)).collect::<Result<_>>()?;
        return Ok(ResultRow::from_points(&name, size_bytes, group, points));
    }
    let mut row = ResultRow::new(&name, size_bytes, group);
    (row.rate_gbps, row.worst_gbps, row.packets_per_s) = (number(u)?, number(u)?, number(u)?);
    (row.host_cpu_pct, row.device_cpu_pct) = (number(u)?, number(u)?);
    (row.wakes_per_s, row.link_limit_gbps) = (number(u)?, number(u)?);
    row.worst_host_cpu_pct = optional(u, number)?;
    row.packets_per_wake = optional(u, number)?;
    row.time_per_packet_us = optional(u, number)?;
    row.latency_ns = optional(u, latency)?;
    (row.size_min_bytes, row.size_max_bytes) = (optional(u, size)?, optional(u, size)?);
    row.seed = u.arbitrary()?;
    row.kernel = optional(u, kernel)?;
    row.paper =
        optional(u, |u| Ok(PaperFigure { rate_gbps: number(u)?, cpu_pct_of_4_cores: number(u)? }))?;
    row.integrity_errors = u.arbitrary()?;
    Ok(row)
}

fn document(u: &mut Unstructured<'_>) -> Result<Document> {
    let mut document = Document::default();
    let meta = &mut document.meta;
    (meta.version, meta.date, meta.link) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    (meta.link_limit_gbps, meta.seconds) = (number(u)?, number(u)?);
    (meta.cores, meta.iterations) = (u.arbitrary()?, u.arbitrary()?);
    while !u.is_empty() && document.results.len() < 40 {
        document.results.push(row(u)?);
    }
    Ok(document)
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let bytes = u.peek_bytes(1).unwrap_or_default();
        // JSON as it is, so that a file of JSON is a seed.
        if bytes.first().is_some_and(|byte| b"{[ \n".contains(byte)) {
            let rest = u.bytes(u.len())?;
            return Ok(Self::Json(String::from_utf8_lossy(rest).into_owned()));
        }
        Ok(Self::Made(Box::new(document(u)?)))
    }
}

fn render(document: &Document) {
    assert!(html(document).starts_with("<!doctype html>"));
    assert!(!text(document).is_empty());
    let lines = tsv(document).lines().count();
    assert!(lines >= document.results.len(), "a line per result");
    // What is not a number is written as null and read as "not measured", which is not equal to
    // itself: so the texts are compared.
    let json = document.to_json();
    let again = Document::from_json(&json).expect("what was written");
    assert_eq!(again.to_json(), json);
}

crate::target!(|input: Input| {
    match input {
        Input::Json(json) => {
            if let Ok(document) = Document::from_json(&json) {
                render(&document);
            }
        }
        Input::Made(document) => render(&document),
    }
});
