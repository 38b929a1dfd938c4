//! Histograms of times on a logarithmic axis.

use super::axis::time;
use crate::markup::escape;
use crate::num::NONE;
use crate::svg::{self, BOTTOM, LEFT, RIGHT, Scale, TOP, WIDTH, coord, label};
use spfe_sim::results::Histogram;
use std::fmt::Write;

/// Percentiles as texts of cells.
pub(super) fn percentiles(histogram: &Histogram) -> [String; 4] {
    if histogram.count == 0 {
        return [NONE; 4].map(str::to_owned);
    }
    [histogram.p50_ps, histogram.p99_ps, histogram.p999_ps, histogram.max_ps]
        .map(|ps| time(ps as f64))
}

/// Ratio between the ends of the first bucket: the fourth root of 2.
const NARROW: f64 = 1.189_207_115;

/// Draws a histogram. The result is empty if the histogram is.
pub(super) fn figure(id: &str, title: &str, histogram: &Histogram) -> String {
    let Some((low, high)) = edges(histogram) else { return String::new() };
    let span = (high.ln() - low.ln()).max(1e-9);
    let x = |ps: f64| LEFT + (ps.max(low).ln() - low.ln()) / span * (RIGHT - LEFT);
    let scale = Scale::holding(histogram.buckets.iter().map(|bucket| bucket.count as f64));
    let mut body = String::new();
    for (index, tick) in scale.ticks().enumerate() {
        let y = scale.y(tick);
        if index > 0 {
            body.push_str(&svg::grid_line(y));
        }
        body.push_str(&label(LEFT - 7.0, y + 4.5, "end small", &svg::tick_label(tick)));
    }
    let mut before = low;
    for bucket in &histogram.buckets {
        let up_to = bucket.up_to_ps as f64;
        let (left, right) = (x(before), x(up_to));
        let y = scale.y(bucket.count as f64);
        if bucket.count > 0 {
            let _ = writeln!(
                body,
                "<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{} from \
                 {} to {}</title></rect>",
                coord(left + 0.5),
                coord(y),
                coord((right - left - 1.0).max(0.6)),
                coord((BOTTOM - y).max(0.6)),
                bucket.count,
                escape(&time(before)),
                escape(&time(up_to)),
            );
        }
        before = up_to;
    }
    for (name, ps) in [("50 %", histogram.p50_ps), ("99 %", histogram.p99_ps)] {
        let x = coord(x(ps as f64));
        let _ = writeln!(
            body,
            "<path class=\"mark-line\" d=\"M{x} {}V{}\"><title>{name}: {}</title></path>",
            coord(TOP),
            coord(BOTTOM),
            escape(&time(ps as f64))
        );
    }
    body.push_str(&ticks(low, high, x));
    body.push_str(&label(WIDTH / 2.0, TOP - 14.0, "mid", title));
    let words = format!(
        "{} times: least {}, half not above {}, 99 % not above {}, greatest {}.",
        histogram.count,
        time(histogram.min_ps as f64),
        time(histogram.p50_ps as f64),
        time(histogram.p99_ps as f64),
        time(histogram.max_ps as f64)
    );
    let drawing = svg::document(id, title, &words, BOTTOM + 30.0, &body);
    format!(
        "<figure>\n{drawing}<figcaption>{}. Dashed: 50 % and 99 %.</figcaption>\n</figure>\n",
        escape(words.trim_end_matches('.'))
    )
}

/// Shortest and longest time on the axis in ps.
fn edges(histogram: &Histogram) -> Option<(f64, f64)> {
    let (first, last) = (histogram.buckets.first()?, histogram.buckets.last()?);
    let low = (first.up_to_ps as f64 / NARROW).max(0.5);
    Some((low, (last.up_to_ps as f64).max(low * NARROW)))
}

/// Labels at 1, 2 and 5 times powers of ten, or only at powers if there are many.
fn ticks(low: f64, high: f64, x: impl Fn(f64) -> f64) -> String {
    let decades = (high / low).log10();
    let factors: &[f64] = match decades {
        d if d < 0.35 => &[1.0, 1.2, 1.5, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        d if d < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let first = low.log10().floor() as i32;
    let mut out = format!(
        "<path class=\"base\" d=\"M{} {}H{}\"/>\n",
        coord(LEFT),
        coord(BOTTOM),
        coord(RIGHT)
    );
    let mut last = f64::NEG_INFINITY;
    for power in first..=first.saturating_add(20) {
        for value in factors.iter().map(|factor| factor * 10_f64.powi(power)) {
            let near = x(value) - last < 48.0;
            if value >= low && value <= high && !near {
                out.push_str(&label(x(value), BOTTOM + 16.0, "mid small", &time(value)));
                last = x(value);
            }
        }
    }
    out
}
