//! The data of the tables on latency.

use spfe_report::html_table::{CellTone, TableCell};

use crate::bench::modes::MSS;
use crate::bench::record::{Latency, Series};
use crate::bench::synthesis::Synthesis;
use crate::formula::ns;
use crate::published::Published;

/// The data of the tables.
pub struct Source<'a> {
    /// Our measurements.
    pub latency: &'a Latency,
    /// The published figures.
    pub published: &'a Published,
    /// The results of synthesis, which say what clock rates are supported.
    pub synthesis: &'a Synthesis,
}

impl Source<'_> {
    /// Finds the series of a path with the published number of sessions and no special case.
    ///
    /// # Errors
    /// The series does not exist.
    pub fn series(&self, way: &str, khz: u32) -> Result<&Series, String> {
        let found =
            self.latency.series.iter().find(|series| {
                series.way == way && series.line.khz == khz && series.case.is_empty()
            });
        found.ok_or_else(|| format!("latency.json has no series {way} at {khz} kHz"))
    }

    /// Finds the latency of a payload size in such a series, in clocks.
    ///
    /// # Errors
    /// The series has no point of this size.
    pub fn cycles(&self, way: &str, khz: u32, n: u64) -> Result<u64, String> {
        let point = self.series(way, khz)?.cycles(n).map(|point| point.cycles);
        point.ok_or_else(|| format!("latency.json: {way} at {khz} kHz has no point of {n} bytes"))
    }

    /// Like [`Self::cycles`], but `None` for a payload that is too long for the segments of this
    /// path's build.
    ///
    /// # Errors
    /// The series has no point of this size, which fits.
    pub fn fits(&self, way: &str, khz: u32, n: u64) -> Result<Option<u64>, String> {
        let series = self.series(way, khz)?;
        if n > MSS && series.points.iter().all(|point| point.n <= MSS) {
            return Ok(None);
        }
        self.cycles(way, khz, n).map(Some)
    }

    /// The cell of a payload that is too long for a segment.
    #[must_use]
    pub fn too_long(&self) -> TableCell {
        let tip = format!("this path is measured with segments of up to {MSS} bytes");
        TableCell::toned("longer than a segment", CellTone::Absent).with_tip(tip)
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
