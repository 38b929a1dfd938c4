//! Reports: the results of `spfe perf` in three renderings, pages of simulations, and the parts of
//! HTML pages and drawings that all reports of the project share.
//!
//! ```text
//! measurement -> Document -> to_json      one file, the record
//!                        |-> text         aligned tables for a terminal
//!                        |-> tsv          one line per result, for other tools
//!                        `-> html         one self-contained page with charts
//! ```
//!
//! Rendering is a pure function: the same document gives the same bytes on every machine. It does
//! not measure anything, and does not read the clock or other files.
//!
//! Units: rates are user payload in Gbit/s (10^9 bit/s), sizes are bytes and one KB is 1024 bytes,
//! CPU loads are % of **one** core, so a process that keeps two cores busy shows 200 %.
//!
//! ```
//! use spfe_report::{Document, Point, ResultRow, scenario};
//!
//! let points = vec![
//!     Point { rate_gbps: 20.0, host_cpu_pct: 9.0, device_cpu_pct: 40.0, ..Point::default() },
//!     Point { rate_gbps: 22.0, host_cpu_pct: 7.0, device_cpu_pct: 42.0, ..Point::default() },
//! ];
//! let mut document = Document::default();
//! document.results.push(ResultRow::from_points(scenario::SEND_SINGLE, 256 << 10, 1, points));
//! assert_eq!(document.results[0].rate_gbps, 21.0);
//! assert_eq!(document.results[0].worst_gbps, 20.0);
//! assert!(spfe_report::text(&document).contains("256 KB"));
//! assert!(spfe_report::html(&document).starts_with("<!doctype html>"));
//! ```

mod chart;
mod columns;
pub mod compare;
#[cfg(feature = "simulation")]
pub mod diagram;
pub mod fabric;
mod html;
pub mod html_table;
mod latency_chart;
pub mod line_plot;
pub mod markup;
mod model;
mod num;
mod number;
mod page;
pub mod paper;
pub mod scenario;
mod section;
#[cfg(feature = "simulation")]
pub mod simulation;
mod svg;
mod table;

pub use html::html;
pub use model::{Document, KernelLoad, LatencyNs, Meta, Point, ResultRow};
pub use paper::PaperFigure;
pub use table::{text, tsv};
