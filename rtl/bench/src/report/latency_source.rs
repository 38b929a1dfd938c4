//! The data of the tables on latency.

use crate::bench::record::{Latency, Series};
use crate::formula::ns;
use crate::published::Published;

/// The data of the tables.
pub struct Source<'a> {
    /// Our measurements.
    pub latency: &'a Latency,
    /// The published figures.
    pub published: &'a Published,
}

impl Source<'_> {
    /// Finds the series of a path with 16 sessions and no special case.
    ///
    /// # Errors
    /// The series does not exist.
    pub fn series(&self, way: &str, khz: u32) -> Result<&Series, String> {
        let found = self.latency.series.iter().find(|series| {
            series.way == way
                && series.line.khz == khz
                && series.sessions == 16
                && series.case.is_empty()
        });
        found.ok_or_else(|| {
            format!("latency.json has no series {way} at {khz} kHz with 16 sessions")
        })
    }

    /// Finds the latency of a payload size in such a series, in clocks.
    ///
    /// # Errors
    /// The series has no point of this size.
    pub fn cycles(&self, way: &str, khz: u32, n: u64) -> Result<u64, String> {
        let point = self.series(way, khz)?.cycles(n).map(|point| point.cycles);
        point.ok_or_else(|| format!("latency.json: {way} at {khz} kHz has no point of {n} bytes"))
    }

    /// Finds a published value in ns.
    ///
    /// # Errors
    /// The value was not published.
    pub fn theirs(&self, row: &str, khz: u32, n: u64) -> Result<f64, String> {
        let name = format!("{row} - {} MHz", khz / 1000);
        let value = self.published.table(4).and_then(|table| table.value(&name, n));
        value.ok_or_else(|| format!("published.json has no value of \"{name}\" for {n} bytes"))
    }
}

/// Headings of a table over payload sizes.
pub fn heads(first: &str, sizes: &[u64]) -> Vec<String> {
    let sizes = sizes.iter().map(|n| format!("{n} B"));
    std::iter::once(first.to_owned()).chain(sizes).collect()
}

/// Formats clocks as nanoseconds.
pub fn time(cycles: u64, khz: u32) -> String {
    format!("{:.2}", ns(cycles as f64, khz))
}
