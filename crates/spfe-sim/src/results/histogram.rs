//! Histograms of durations.

use crate::time::Ps;
use hdrhistogram::Histogram as Hdr;
use serde::Serialize;

/// Buckets of a histogram per factor of two.
const PER_DOUBLING: u32 = 4;
/// Longest duration that is recorded as itself: 1000 s.
const LONGEST_PS: u64 = 1_000_000_000_000_000;

/// Number of durations up to a bound and above the bound of the bucket before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Upper bound.
    pub up_to_ps: Ps,
    /// Number of durations.
    pub count: u64,
}

/// Summary of recorded durations, exact to three digits. Without any, all values are 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// Number of durations.
    pub count: u64,
    /// Minimum.
    pub min_ps: Ps,
    /// Mean.
    pub mean_ps: f64,
    /// Median.
    pub p50_ps: Ps,
    /// 90 % quantile.
    pub p90_ps: Ps,
    /// 99 % quantile.
    pub p99_ps: Ps,
    /// 99.9 % quantile.
    pub p999_ps: Ps,
    /// Maximum.
    pub max_ps: Ps,
    /// Four per factor of two, from the first to the last that is not empty.
    pub buckets: Vec<Bucket>,
}

/// Collects durations for a histogram.
#[derive(Clone, Debug)]
pub struct LatencyRecorder {
    durations: Durations,
    min: Ps,
    max: Ps,
}

/// Durations one by one while they take less memory than a table, which has 330 KiB. Most of the
/// thousands of streams of a large network have few.
#[derive(Clone, Debug)]
enum Durations {
    Few(Vec<Ps>),
    Many(Box<Hdr<u64>>),
}

/// Most durations that are kept one by one.
const FEW: usize = 256;

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self { durations: Durations::Few(Vec::new()), min: Ps::MAX, max: 0 }
    }
}

/// A table of durations.
fn table(durations: &[Ps]) -> Box<Hdr<u64>> {
    let mut hdr = Hdr::new_with_bounds(1, LONGEST_PS, 3).expect("bounds that are in order");
    durations.iter().for_each(|time| hdr.saturating_record(*time));
    Box::new(hdr)
}

impl LatencyRecorder {
    /// A recorder without any durations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a duration.
    pub fn record(&mut self, time: Ps) {
        match &mut self.durations {
            Durations::Few(few) if few.len() < FEW => few.push(time),
            Durations::Few(few) => {
                let mut hdr = table(few);
                hdr.saturating_record(time);
                self.durations = Durations::Many(hdr);
            }
            Durations::Many(hdr) => hdr.saturating_record(time),
        }
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    /// Summary of the durations so far.
    pub fn histogram(&self) -> Histogram {
        let hdr = match &self.durations {
            Durations::Few(few) if few.is_empty() => return Histogram::default(),
            Durations::Few(few) => &table(few),
            Durations::Many(hdr) => hdr,
        };
        // A quantile is the upper bound of a small range. It must not exceed the maximum.
        let quantile = |q: f64| hdr.value_at_quantile(q).clamp(self.min, self.max);
        Histogram {
            count: hdr.len(),
            min_ps: self.min,
            mean_ps: hdr.mean(),
            p50_ps: quantile(0.5),
            p90_ps: quantile(0.9),
            p99_ps: quantile(0.99),
            p999_ps: quantile(0.999),
            max_ps: self.max,
            buckets: self.buckets(hdr),
        }
    }

    fn buckets(&self, hdr: &Hdr<u64>) -> Vec<Bucket> {
        let mut buckets: Vec<Bucket> = Vec::new();
        for value in hdr.iter_recorded() {
            let bound = upper_bound(value.value_iterated_to().clamp(self.min, self.max));
            let count = value.count_since_last_iteration();
            loop {
                match buckets.last_mut() {
                    Some(last) if last.up_to_ps >= bound => {
                        last.count += count;
                        break;
                    }
                    Some(last) => {
                        let up_to_ps = upper_bound(last.up_to_ps + 1);
                        buckets.push(Bucket { up_to_ps, count: 0 });
                    }
                    None => buckets.push(Bucket { up_to_ps: bound, count: 0 }),
                }
            }
        }
        buckets
    }
}

/// The smallest bound 2^(n/4), rounded, that is not below a duration.
fn upper_bound(time: Ps) -> Ps {
    let bound = |n: u32| 2f64.powf(f64::from(n) / f64::from(PER_DOUBLING)).round() as Ps;
    let time = time.max(1);
    let guess = (time.ilog2() * PER_DOUBLING).saturating_sub(1);
    (guess..=guess + PER_DOUBLING + 2).map(bound).find(|bound| *bound >= time).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_histogram_is_all_zeros() {
        assert_eq!(LatencyRecorder::new().histogram(), Histogram::default());
    }

    #[test]
    fn percentiles_and_buckets() {
        let mut recorder = LatencyRecorder::new();
        (1..=1000).for_each(|us| recorder.record(us * 1_000_000));
        let histogram = recorder.histogram();
        let near = |value: u64, us: f64| (value as f64 / (us * 1e6) - 1.0).abs() < 0.002;
        assert_eq!((histogram.count, histogram.min_ps), (1000, 1_000_000));
        assert_eq!(histogram.max_ps, 1_000_000_000);
        assert!(near(histogram.p50_ps, 500.0) && near(histogram.p99_ps, 990.0), "{histogram:?}");
        assert!((histogram.mean_ps / 500.5e6 - 1.0).abs() < 0.001, "{histogram:?}");
        assert_eq!(histogram.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 1000);
        let bounds: Vec<_> = histogram.buckets.iter().map(|bucket| bucket.up_to_ps).collect();
        assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
        // Ten doublings, four for each.
        assert!((40..=42).contains(&bounds.len()), "{bounds:?}");
        assert!(bounds.last().is_some_and(|last| *last >= 1_000_000_000));
    }

    #[test]
    fn bounds_are_not_below_the_duration() {
        for time in (1..5000).chain([u64::from(u32::MAX), 1 << 49, LONGEST_PS]) {
            let bound = upper_bound(time);
            assert!(bound >= time && bound as f64 <= time as f64 * 1.3 + 1.0, "{time} {bound}");
        }
    }

    #[test]
    fn few_durations_take_little_memory_and_read_like_many() {
        let (mut few, mut many) = (LatencyRecorder::new(), LatencyRecorder::new());
        many.durations = Durations::Many(table(&[]));
        for time in (1..=FEW as u64 + 1).map(|n| n * n * 977) {
            assert!(matches!(&few.durations, Durations::Few(few) if few.capacity() <= FEW));
            few.record(time);
            many.record(time);
            assert_eq!(few.histogram(), many.histogram());
        }
        assert!(matches!(few.durations, Durations::Many(_)));
    }

    #[test]
    fn durations_beyond_the_range_are_kept() {
        let mut recorder = LatencyRecorder::new();
        recorder.record(0);
        recorder.record(u64::MAX);
        let histogram = recorder.histogram();
        assert_eq!((histogram.count, histogram.min_ps, histogram.max_ps), (2, 0, u64::MAX));
    }
}
