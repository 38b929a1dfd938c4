//! The published figures to which this core is compared: `data/published.json`.

use serde::Deserialize;

use crate::bench::modes::RATES;
use crate::formula::{Formula, Line, ns};

const TEXT: &str = include_str!("../data/published.json");

/// The published report.
#[derive(Clone, Debug, Deserialize)]
pub struct Published {
    /// Name of the report.
    pub source: String,
    /// Version of the report.
    pub version: String,
    /// Tools behind its tables of resources.
    pub tools: String,
    /// Device of its tables of resources.
    pub device: String,
    /// Tables 1 to 3.
    pub resources: Vec<Resources>,
    /// Tables 4 to 14.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Names and values of the generics of its runs.
    pub generics: Vec<(String, String)>,
}

/// A table of resources or clock rates.
#[derive(Clone, Debug, Deserialize)]
pub struct Resources {
    /// Number of the table.
    pub number: u32,
    /// Title in our words.
    pub title: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Rows of numbers and names.
    pub rows: Vec<Vec<serde_json::Value>>,
}

/// A table over payload sizes.
#[derive(Clone, Debug, Deserialize)]
pub struct Table {
    /// Number of the table.
    pub number: u32,
    /// Title in our words.
    pub title: String,
    /// Payload size of each column in bytes.
    pub columns: Vec<u64>,
    /// Rows of values.
    pub rows: Vec<Row>,
}

/// A row of a [`Table`].
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Published name.
    pub name: String,
    /// Unit of the values: ns or Mbit/s.
    pub unit: String,
    /// One value for each column.
    pub values: Vec<f64>,
}

/// A published figure.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// Number of the figure.
    pub number: u32,
    /// Title in our words.
    pub title: String,
}

impl Published {
    /// Reads the figures from the file that is compiled into this program.
    ///
    /// # Panics
    /// The file does not have this form.
    #[must_use]
    pub fn load() -> Self {
        serde_json::from_str(TEXT).expect("data/published.json")
    }

    /// Value of a generic of the published runs, if it is a number.
    #[must_use]
    pub fn generic(&self, name: &str) -> Option<u64> {
        self.generics.iter().find(|(found, _)| found == name)?.1.parse().ok()
    }

    /// Compares the published latencies (table 4) with the formulas F1 to F6, and returns their
    /// number. They are rounded or cut to two decimals, those of round trips twice.
    ///
    /// # Errors
    /// A value is missing or is not that of its formula.
    pub fn latencies(&self) -> Result<usize, String> {
        let table = self.table(4).ok_or("published.json has no table 4")?;
        let mut cells = 0;
        for khz in RATES {
            let line = Line::published(khz);
            for (cut, tx, rx) in [
                (" Cut-Through", Formula::PublishedTxCutThrough, Formula::PublishedRxCutThrough),
                ("", Formula::PublishedTxStore, Formula::PublishedRxStore),
            ] {
                for n in &table.columns {
                    let (tx, rx) = (tx.cycles(&line, *n), rx.cycles(&line, *n));
                    for (name, cycles) in [("Tx", tx), ("Rx", rx), ("RTT", tx + rx)] {
                        let name = format!("10G {name}{cut} - {} MHz", khz / 1000);
                        let missing = || format!("published.json has no \"{name}\" for {n} bytes");
                        let value = table.value(&name, *n).ok_or_else(missing)?;
                        let ours = ns(cycles as f64, khz);
                        let most = if name.contains("RTT") { 0.021 } else { 0.0101 };
                        if (value - ours).abs() >= most {
                            return Err(format!(
                                "{name}, {n} bytes: {value} ns are not {cycles} cycles, {ours} ns"
                            ));
                        }
                        cells += 1;
                    }
                }
            }
        }
        Ok(cells)
    }

    /// Finds a table over payload sizes by its number.
    #[must_use]
    pub fn table(&self, number: u32) -> Option<&Table> {
        self.tables.iter().find(|table| table.number == number)
    }
}

impl Table {
    /// Finds the value of a row for a payload size.
    #[must_use]
    pub fn value(&self, row: &str, size: u64) -> Option<f64> {
        let column = self.columns.iter().position(|column| *column == size)?;
        self.rows.iter().find(|found| found.name == row)?.values.get(column).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_complete() {
        let published = Published::load();
        let mut numbers: Vec<u32> = published.tables.iter().map(|table| table.number).collect();
        numbers.extend(published.resources.iter().map(|table| table.number));
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=14).collect::<Vec<_>>());
        for table in &published.tables {
            for row in &table.rows {
                assert_eq!(
                    row.values.len(),
                    table.columns.len(),
                    "{} of {}",
                    row.name,
                    table.number
                );
            }
        }
        for table in &published.resources {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        }
        assert_eq!(published.figures.len(), 12);
        assert_eq!(published.generics.len(), 43);
    }

    #[test]
    fn the_formulas_give_all_published_latencies() {
        let mut published = Published::load();
        assert_eq!(published.latencies(), Ok(120));
        published.tables[0].rows[0].values[3] += 0.5;
        let error = published.latencies().expect_err("one value differs");
        assert!(error.contains("are not"), "{error}");
    }
}
