//! Order statistics of a set of samples.

/// Sorted samples and their summaries.
///
/// `NaN` samples are dropped on construction. All summaries of an empty set
/// are `NaN`.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    sorted: Vec<f64>,
}

impl Stats {
    /// Copies and sorts `samples`.
    pub fn new(samples: &[f64]) -> Self {
        Self::from(samples.to_vec())
    }

    /// Number of samples kept.
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Smallest sample.
    pub fn min(&self) -> f64 {
        self.sorted.first().copied().unwrap_or(f64::NAN)
    }

    /// Largest sample.
    pub fn max(&self) -> f64 {
        self.sorted.last().copied().unwrap_or(f64::NAN)
    }

    /// Arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / self.sorted.len() as f64
    }

    /// The middle sample, or the mean of the two middle samples.
    pub fn median(&self) -> f64 {
        self.percentile(50.0)
    }

    /// The value below which `percent` (0 to 100) of the samples lie, linearly
    /// interpolated between neighbouring samples.
    pub fn percentile(&self, percent: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else {
            return f64::NAN;
        };
        let rank = percent.clamp(0.0, 100.0) / 100.0 * last as f64;
        let below = rank.floor() as usize;
        let above = (below + 1).min(last);
        let share = rank - below as f64;
        self.sorted[below] * (1.0 - share) + self.sorted[above] * share
    }
}

impl From<Vec<f64>> for Stats {
    fn from(mut samples: Vec<f64>) -> Self {
        samples.retain(|v| !v.is_nan());
        samples.sort_by(f64::total_cmp);
        Self { sorted: samples }
    }
}

#[cfg(test)]
mod tests {
    use super::Stats;

    #[test]
    fn summaries_of_a_small_set() {
        let s = Stats::new(&[4.0, 1.0, f64::NAN, 3.0, 2.0]);
        assert_eq!(s.len(), 4);
        assert_eq!((s.min(), s.max()), (1.0, 4.0));
        assert_eq!(s.mean(), 2.5);
        assert_eq!(s.median(), 2.5);
        assert_eq!(s.percentile(0.0), 1.0);
        assert_eq!(s.percentile(100.0), 4.0);
    }

    #[test]
    fn odd_count_has_an_exact_median() {
        assert_eq!(Stats::new(&[9.0, 1.0, 5.0]).median(), 5.0);
        assert_eq!(Stats::new(&[7.0]).percentile(99.0), 7.0);
    }

    #[test]
    fn summaries_of_an_empty_set_are_nan() {
        let s = Stats::new(&[]);
        assert!(s.is_empty());
        assert!(s.median().is_nan() && s.mean().is_nan() && s.max().is_nan());
    }
}
