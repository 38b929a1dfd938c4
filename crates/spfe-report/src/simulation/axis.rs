//! The time axis of charts, and times as text.

use crate::num::trimmed;
use crate::svg::{coord, label};
use spfe_sim::time::Ps;

/// A horizontal time axis.
#[derive(Clone, Copy)]
pub(super) struct TimeAxis {
    pub left: f64,
    pub right: f64,
    pub duration: Ps,
}

impl TimeAxis {
    /// Horizontal coordinate of a time.
    pub fn x(&self, time: Ps) -> f64 {
        let share = time.min(self.duration) as f64 / self.duration.max(1) as f64;
        self.left + share * (self.right - self.left)
    }

    /// Draws base line, ticks and unit below a plot.
    pub fn draw(&self, bottom: f64) -> String {
        let (scale, unit) = unit(self.duration);
        let step = step(self.duration);
        let mut out = format!(
            "<path class=\"base\" d=\"M{} {}H{}\"/>\n",
            coord(self.left),
            coord(bottom),
            coord(self.right)
        );
        let ticks = (0..=20).map(|tick| tick * step).take_while(|time| *time <= self.duration);
        for time in ticks {
            let text = trimmed(time as f64 / scale);
            out.push_str(&label(self.x(time), bottom + 16.0, "mid small", &text));
        }
        out.push_str(&label(self.right, bottom + 31.0, "end small", &format!("time, {unit}")));
        out
    }
}

/// A unit for times up to `time`, with its length in ps.
fn unit(time: Ps) -> (f64, &'static str) {
    match time {
        0..10_000 => (1.0, "ps"),
        10_000..10_000_000 => (1e3, "ns"),
        10_000_000..10_000_000_000 => (1e6, "µs"),
        10_000_000_000..10_000_000_000_000 => (1e9, "ms"),
        _ => (1e12, "s"),
    }
}

/// A round step that divides the duration into four to ten parts.
fn step(duration: Ps) -> Ps {
    let power = 10_u64.pow((duration / 4).max(1).ilog10());
    [5, 2, 1].into_iter().map(|f| f * power).find(|step| step * 4 <= duration).unwrap_or(power)
}

/// Formats a time in ps with the largest unit in which it is at least 1.
pub(super) fn time(ps: f64) -> String {
    crate::num::time_ns(ps / 1e3)
}

/// Formats a large number with few digits.
pub(super) fn count(number: u64) -> String {
    match number {
        0..1_000_000 => number.to_string(),
        1_000_000..1_000_000_000 => format!("{} million", trimmed(number as f64 / 1e6)),
        _ => format!("{} billion", trimmed(number as f64 / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        for duration in [1, 7, 40, 999, 3_000_000_000, 4_000_000_000, 999_999_999_999] {
            let step = step(duration);
            assert!(step >= 1 && duration / step <= 20, "{duration}: {step}");
            if duration >= 4 {
                assert!(duration / step >= 4, "{duration}: {step}");
            }
        }
        assert_eq!(step(4_000_000_000), 1_000_000_000);
        assert_eq!(step(3_000_000_000), 500_000_000);
    }

    #[test]
    fn times_are_limited_to_the_axis() {
        let axis = TimeAxis { left: 10.0, right: 110.0, duration: 1000 };
        assert_eq!((axis.x(0), axis.x(500), axis.x(5000)), (10.0, 60.0, 110.0));
    }
}
