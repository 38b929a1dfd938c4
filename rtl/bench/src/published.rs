//! The published figures that this core is held against: `data/published.json`.

use serde::Deserialize;

const TEXT: &str = include_str!("../data/published.json");

/// The report that has them.
#[derive(Clone, Debug, Deserialize)]
pub struct Published {
    /// Its name.
    pub source: String,
    /// Its version.
    pub version: String,
    /// Tools of its tables of resources.
    pub tools: String,
    /// Device of its tables of resources.
    pub device: String,
    /// Tables 1 to 3.
    pub resources: Vec<Resources>,
    /// Tables 4 to 14.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Generics of its runs, with their values.
    pub generics: Vec<(String, String)>,
}

/// A table of resources or clock rates.
#[derive(Clone, Debug, Deserialize)]
pub struct Resources {
    /// Number.
    pub number: u32,
    /// What it is about, in our words.
    pub title: String,
    /// Heads of its columns.
    pub columns: Vec<String>,
    /// Numbers and names.
    pub rows: Vec<Vec<serde_json::Value>>,
}

/// A table over sizes of payload.
#[derive(Clone, Debug, Deserialize)]
pub struct Table {
    /// Number.
    pub number: u32,
    /// What it is about, in our words.
    pub title: String,
    /// Bytes of payload.
    pub columns: Vec<u64>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A row of a [`Table`].
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// Name, as published.
    pub name: String,
    /// ns or Mbit/s.
    pub unit: String,
    /// One for each column.
    pub values: Vec<f64>,
}

/// A figure.
#[derive(Clone, Debug, Deserialize)]
pub struct Figure {
    /// Number.
    pub number: u32,
    /// What it shows, in our words.
    pub title: String,
}

impl Published {
    /// The figures.
    ///
    /// # Panics
    /// The file, which is part of this program, is not of this shape.
    #[must_use]
    pub fn load() -> Self {
        serde_json::from_str(TEXT).expect("data/published.json")
    }

    /// A table over sizes.
    #[must_use]
    pub fn table(&self, number: u32) -> Option<&Table> {
        self.tables.iter().find(|table| table.number == number)
    }
}

impl Table {
    /// A value.
    #[must_use]
    pub fn value(&self, row: &str, size: u64) -> Option<f64> {
        let column = self.columns.iter().position(|column| *column == size)?;
        self.rows.iter().find(|found| found.name == row)?.values.get(column).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Formula, Line, ns};

    #[test]
    fn every_table_is_whole() {
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

    /// The formulas give every published latency, rounded or cut to two decimals as there.
    #[test]
    fn the_formulas_give_all_published_latencies() {
        let published = Published::load();
        let table = published.table(4).expect("table 4");
        let mut cells = 0;
        for (khz, mhz) in [(322_000, 322), (350_000, 350)] {
            let line = Line::published(khz);
            for (cut, tx, rx) in [
                (" Cut-Through", Formula::PublishedTxCutThrough, Formula::PublishedRxCutThrough),
                ("", Formula::PublishedTxStore, Formula::PublishedRxStore),
            ] {
                for n in &table.columns {
                    let (tx, rx) = (tx.cycles(&line, *n), rx.cycles(&line, *n));
                    for (name, cycles) in [("Tx", tx), ("Rx", rx), ("RTT", tx + rx)] {
                        let name = format!("10G {name}{cut} - {mhz} MHz");
                        let value = table.value(&name, *n).expect(&name);
                        let ours = ns(cycles as f64, khz);
                        let most = if name.contains("RTT") { 0.021 } else { 0.0101 };
                        assert!((value - ours).abs() < most, "{name}, {n} bytes: {value}, {ours}");
                        cells += 1;
                    }
                }
            }
        }
        assert_eq!(cells, 120);
    }
}
