//! Networks around soft devices: topologies, scenarios, exact links, captures.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`lab`] | [`Lab`]: a network with its exact links and captures |
//! | [`exact`] | cables that are simulated word by word |
//! | [`capture`] | live captures of links |
//! | `scenario` | a simulated network between the ports |

pub mod capture;
pub mod exact;
pub mod lab;
mod scenario;

pub use capture::{CaptureOptions, CaptureSummary};
pub use lab::{Capture, Lab};
pub use spfe_sim::live::FaultChoice;
pub use spfe_sim::scenario::Scenario;
