//! The published figures of the basic scenarios: packets, and RDMA.
//!
//! Packets: D. Gibson et al., "Ultra-Fast, Low-Overhead SpaceFibre Communication for
//! System-on-Chips" (STAR-Dundee), Tables I to IV. The machine there is an AMD Zynq UltraScale+
//! MPSoC on a ZCU102 board: four ARM Cortex-A53 cores under Linux, the endpoint in programmable
//! logic, one link of four lanes at 7.5 Gbit/s, ten iterations of 10 s per case. CPU loads are
//! those of the whole system: one busy core of four is 25 %, the plateau of Tables I and III.
//! [`CORES`] converts them.
//!
//! RDMA: D. Gibson et al., "Remote Direct Memory Access over SpaceFibre" (STAR-Dundee), Tables 4-1
//! to 4-4: the same board as initiator, a target-only endpoint in a PCIe board with 8 GB of memory,
//! one link of four lanes at 6.25 Gbit/s, 100 iterations of 10 s per case. There are no figures for
//! 512 KB.

use serde::{Deserialize, Serialize};

use crate::number::number;
use crate::scenario;

/// Number of cores behind the published CPU loads: 100 % there is 400 % of one core.
pub const CORES: f64 = 4.0;

/// Highest payload rate of the published link with traffic in one direction, Gbit/s.
pub const LINK_LIMIT_GBPS: f64 = 22.9;

/// Highest payload rate per direction of the published link with traffic in both, Gbit/s.
pub const LINK_LIMIT_BOTH_GBPS: f64 = 22.2;

/// Highest payload rate of the published link of the RDMA figures, one direction, Gbit/s.
pub const RDMA_LINK_LIMIT_GBPS: f64 = 19.2;

/// Citation of the source of RDMA figures in reports.
pub const RDMA_SOURCE: &str = "D. Gibson et al., Remote Direct Memory Access over SpaceFibre, Tables \
                               4-1 to 4-4";

/// Citation of the source of packet figures in reports.
pub const SOURCE: &str = "D. Gibson et al., Ultra-Fast, Low-Overhead SpaceFibre Communication for \
                          System-on-Chips, Tables I-IV";

/// A line of a published table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperCase {
    /// Payload of a packet, KB of 1024 bytes.
    pub size_kb: u64,
    /// Mean payload rate, Gbit/s.
    pub rate_gbps: f64,
    /// Lowest payload rate of any iteration, Gbit/s.
    pub worst_gbps: f64,
    /// Mean load, % of four cores.
    pub cpu_pct_of_4_cores: f64,
    /// Highest load of any iteration, % of four cores.
    pub worst_cpu_pct_of_4_cores: f64,
}

/// A published figure in its original unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PaperFigure {
    /// Mean payload rate, Gbit/s.
    #[serde(deserialize_with = "number")]
    pub rate_gbps: f64,
    /// Mean load, % of **four** cores.
    #[serde(deserialize_with = "number")]
    pub cpu_pct_of_4_cores: f64,
}

impl PaperCase {
    /// The means in the form of a result row.
    #[must_use]
    pub fn figure(&self) -> PaperFigure {
        PaperFigure { rate_gbps: self.rate_gbps, cpu_pct_of_4_cores: self.cpu_pct_of_4_cores }
    }
}

impl PaperFigure {
    /// Mean load, % of **one** core.
    #[must_use]
    pub fn cpu_pct_of_one_core(&self) -> f64 {
        self.cpu_pct_of_4_cores * CORES
    }
}

const fn case(size_kb: u64, rate: f64, worst: f64, cpu: f64, worst_cpu: f64) -> PaperCase {
    PaperCase {
        size_kb,
        rate_gbps: rate,
        worst_gbps: worst,
        cpu_pct_of_4_cores: cpu,
        worst_cpu_pct_of_4_cores: worst_cpu,
    }
}

/// Table I: sending single packets.
pub const SEND_SINGLE: [PaperCase; 9] = [
    case(1, 1.57, 1.57, 25.06, 25.10),
    case(2, 3.16, 3.16, 25.09, 25.10),
    case(4, 4.87, 4.86, 24.86, 24.99),
    case(8, 5.70, 5.70, 15.68, 16.06),
    case(16, 8.13, 8.08, 13.80, 14.27),
    case(32, 13.14, 13.12, 11.48, 12.35),
    case(64, 17.07, 17.05, 7.09, 7.51),
    case(128, 19.55, 19.54, 4.70, 5.15),
    case(256, 21.09, 21.09, 2.49, 2.78),
];

/// Table II: sending groups of packets, [`group`] of them per operation.
pub const SEND_GROUP: [PaperCase; 9] = [
    case(1, 13.83, 13.73, 4.94, 5.06),
    case(2, 19.19, 19.19, 3.79, 4.10),
    case(4, 21.19, 21.19, 2.15, 2.33),
    case(8, 22.01, 22.01, 0.51, 0.61),
    case(16, 22.22, 22.21, 0.71, 0.81),
    case(32, 22.31, 22.31, 0.73, 0.80),
    case(64, 22.36, 22.36, 0.56, 0.68),
    case(128, 22.39, 22.39, 0.79, 0.88),
    case(256, 22.41, 22.40, 0.68, 0.75),
];

/// Table III: receiving single packets.
pub const RECEIVE_SINGLE: [PaperCase; 9] = [
    case(1, 2.20, 2.19, 22.82, 22.90),
    case(2, 4.40, 4.40, 22.82, 22.86),
    case(4, 8.80, 8.79, 22.81, 22.83),
    case(8, 14.77, 14.76, 22.79, 22.83),
    case(16, 17.04, 17.03, 18.89, 19.23),
    case(32, 18.47, 18.46, 13.95, 14.30),
    case(64, 19.27, 19.26, 7.72, 7.88),
    case(128, 19.69, 19.69, 3.85, 3.95),
    case(256, 19.92, 19.91, 1.94, 2.02),
];

/// Table IV: receiving at a threshold of 25 % fill or 100 µs.
pub const RECEIVE_THRESHOLD: [PaperCase; 9] = [
    case(1, 11.96, 11.96, 3.81, 4.92),
    case(2, 13.49, 13.48, 2.98, 3.16),
    case(4, 13.61, 13.61, 2.72, 2.92),
    case(8, 15.42, 15.42, 1.83, 1.95),
    case(16, 17.49, 17.48, 1.72, 2.02),
    case(32, 18.76, 18.75, 1.56, 1.70),
    case(64, 19.46, 19.46, 1.59, 1.72),
    case(128, 19.83, 19.82, 1.84, 2.01),
    case(256, 20.02, 20.02, 1.27, 1.54),
];

/// Table 4-1: single RDMA writes.
pub const RDMA_WRITE_SINGLE: [PaperCase; 7] = [
    case(4, 2.12, 2.11, 16.18, 17.19),
    case(8, 4.12, 4.10, 15.59, 16.79),
    case(16, 6.78, 6.77, 13.50, 14.00),
    case(32, 10.16, 10.14, 10.24, 13.50),
    case(64, 13.49, 13.46, 6.46, 7.18),
    case(128, 16.11, 16.09, 3.74, 4.01),
    case(256, 17.62, 17.61, 2.05, 2.57),
];

/// Table 4-2: single RDMA reads.
pub const RDMA_READ_SINGLE: [PaperCase; 7] = [
    case(4, 1.95, 1.93, 14.48, 15.88),
    case(8, 3.53, 3.52, 14.17, 15.55),
    case(16, 5.96, 5.95, 10.84, 12.74),
    case(32, 9.03, 9.02, 8.66, 9.03),
    case(64, 12.31, 12.28, 5.57, 5.98),
    case(128, 14.95, 14.95, 1.58, 2.40),
    case(256, 16.78, 16.77, 0.86, 1.53),
];

/// Table 4-3: groups of RDMA writes, [`rdma_group`] of them per operation.
pub const RDMA_WRITE_GROUP: [PaperCase; 7] = [
    case(4, 15.16, 15.15, 4.21, 4.47),
    case(8, 16.90, 16.89, 3.33, 3.58),
    case(16, 17.93, 17.91, 1.65, 1.89),
    case(32, 18.40, 18.40, 0.75, 1.00),
    case(64, 18.65, 18.65, 0.67, 0.99),
    case(128, 18.78, 18.77, 0.48, 0.86),
    case(256, 18.84, 18.84, 0.34, 0.42),
];

/// Table 4-4: groups of RDMA reads.
pub const RDMA_READ_GROUP: [PaperCase; 7] = [
    case(4, 14.91, 14.90, 4.73, 4.96),
    case(8, 16.74, 16.73, 1.70, 1.89),
    case(16, 17.84, 17.83, 2.80, 5.02),
    case(32, 18.30, 18.29, 0.66, 0.89),
    case(64, 18.53, 18.53, 0.73, 0.99),
    case(128, 18.65, 18.64, 0.44, 0.63),
    case(256, 18.71, 18.71, 0.28, 0.56),
];

/// Interrupts per second that the published figure of Table II notes beside four cases: packet size
/// in KB, and interrupts. They are the cases whose rate gives as many groups, so each group of 1 MB
/// had one interrupt.
pub const SEND_GROUP_INTERRUPTS: [(u64, f64); 4] =
    [(8, 2624.0), (16, 2649.0), (32, 2660.0), (256, 2671.0)];

/// The published interrupts per second of a case, where there are any.
#[must_use]
pub fn interrupts_per_s(scenario: &str, size_bytes: u64, group: u32) -> Option<f64> {
    figure(scenario, size_bytes, group).filter(|_| scenario == scenario::SEND_GROUP)?;
    let noted = SEND_GROUP_INTERRUPTS.iter().find(|(size_kb, _)| size_kb * 1024 == size_bytes);
    noted.map(|(_, interrupts)| *interrupts)
}

/// The published table of a scenario, if it has one.
#[must_use]
pub fn table(scenario: &str) -> Option<&'static [PaperCase]> {
    match scenario {
        scenario::SEND_SINGLE => Some(&SEND_SINGLE),
        scenario::SEND_GROUP => Some(&SEND_GROUP),
        scenario::RECEIVE_SINGLE => Some(&RECEIVE_SINGLE),
        scenario::RECEIVE_THRESHOLD => Some(&RECEIVE_THRESHOLD),
        scenario::RDMA_WRITE_SINGLE => Some(&RDMA_WRITE_SINGLE),
        scenario::RDMA_READ_SINGLE => Some(&RDMA_READ_SINGLE),
        scenario::RDMA_WRITE_GROUP => Some(&RDMA_WRITE_GROUP),
        scenario::RDMA_READ_GROUP => Some(&RDMA_READ_GROUP),
        _ => None,
    }
}

/// Packets per operation in the published group scenario: 128, or as many as fit in 1 MB.
#[must_use]
pub fn group(size_bytes: u64) -> u32 {
    let fitting = (1_u64 << 20) / size_bytes.max(1);
    u32::try_from(fitting.clamp(1, 128)).unwrap_or(128)
}

/// Operations in a published group of RDMA: 128, or as many as fit in 2 MB.
#[must_use]
pub fn rdma_group(size_bytes: u64) -> u32 {
    let fitting = (2_u64 << 20) / size_bytes.max(1);
    u32::try_from(fitting.clamp(1, 128)).unwrap_or(128)
}

/// Citation of the source of a scenario's figures.
#[must_use]
pub fn source(scenario: &str) -> &'static str {
    if scenario.starts_with("rdma-") { RDMA_SOURCE } else { SOURCE }
}

/// The published case with this scenario and packet size. For groups of packets the number of
/// packets must match as well; other numbers were not published.
#[must_use]
pub fn figure(scenario: &str, size_bytes: u64, group: u32) -> Option<&'static PaperCase> {
    let published = match scenario {
        scenario::SEND_GROUP => self::group(size_bytes),
        scenario::RDMA_WRITE_GROUP | scenario::RDMA_READ_GROUP => rdma_group(size_bytes),
        _ => group,
    };
    if group != published {
        return None;
    }
    table(scenario)?.iter().find(|case| case.size_kb * 1024 == size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_doubles_from_1_to_256_kb_and_worst_is_worse() {
        for cases in [&SEND_SINGLE, &SEND_GROUP, &RECEIVE_SINGLE, &RECEIVE_THRESHOLD] {
            for (step, case) in cases.iter().enumerate() {
                assert_eq!(case.size_kb, 1 << step);
                assert!(case.worst_gbps <= case.rate_gbps && case.rate_gbps < LINK_LIMIT_GBPS);
                assert!(case.worst_cpu_pct_of_4_cores >= case.cpu_pct_of_4_cores);
            }
        }
    }

    #[test]
    fn rdma_tables_double_from_4_to_256_kb() {
        let tables = [&RDMA_WRITE_SINGLE, &RDMA_READ_SINGLE, &RDMA_WRITE_GROUP, &RDMA_READ_GROUP];
        for cases in tables {
            for (step, case) in cases.iter().enumerate() {
                assert_eq!(case.size_kb, 4 << step);
                assert!(case.worst_gbps <= case.rate_gbps && case.rate_gbps < RDMA_LINK_LIMIT_GBPS);
                assert!(case.worst_cpu_pct_of_4_cores >= case.cpu_pct_of_4_cores);
            }
        }
        let groups: Vec<u32> =
            RDMA_WRITE_GROUP.iter().map(|case| rdma_group(case.size_kb << 10)).collect();
        assert_eq!(groups, [128, 128, 128, 64, 32, 16, 8]);
        let case = figure(scenario::RDMA_READ_GROUP, 128 << 10, 16).expect("published");
        assert_eq!(case.rate_gbps, 18.65);
        assert_eq!(figure(scenario::RDMA_READ_GROUP, 128 << 10, 8), None);
        assert_eq!(figure(scenario::RDMA_READ_GROUP, 512 << 10, 4), None);
        assert_eq!(source(scenario::RDMA_READ_GROUP), RDMA_SOURCE);
    }

    #[test]
    fn published_interrupts_are_one_for_each_group() {
        for (size_kb, interrupts) in SEND_GROUP_INTERRUPTS {
            let size = size_kb << 10;
            let case = figure(scenario::SEND_GROUP, size, group(size)).expect("published");
            let groups_per_s = case.rate_gbps * 1e9 / 8.0 / (size * u64::from(group(size))) as f64;
            assert!((groups_per_s - interrupts).abs() < 1.0, "{size_kb} KB: {groups_per_s}");
            let found = interrupts_per_s(scenario::SEND_GROUP, size, group(size));
            assert_eq!(found, Some(interrupts));
        }
        assert_eq!(interrupts_per_s(scenario::SEND_GROUP, 8192, 64), None);
        assert_eq!(interrupts_per_s(scenario::SEND_GROUP_AHEAD, 8192, 128), None);
        assert_eq!(interrupts_per_s(scenario::SEND_SINGLE, 8192, 1), None);
    }

    #[test]
    fn groups_follow_the_published_rule() {
        let groups: Vec<u32> = SEND_GROUP.iter().map(|case| group(case.size_kb << 10)).collect();
        assert_eq!(groups, [128, 128, 128, 128, 64, 32, 16, 8, 4]);
        assert_eq!((group(0), group(u64::MAX)), (128, 1));
    }

    #[test]
    fn a_figure_needs_the_same_experiment() {
        let found = figure(scenario::SEND_GROUP, 16 << 10, 64).expect("published");
        assert_eq!(found.rate_gbps, 22.22);
        assert_eq!(found.figure().cpu_pct_of_one_core(), 2.84);
        assert_eq!(figure(scenario::SEND_GROUP, 16 << 10, 128), None);
        assert_eq!(figure(scenario::RATE_TX, 16 << 10, 64), None);
        assert_eq!(figure(scenario::SEND_SINGLE, 1000, 1), None);
        assert!(figure(scenario::RECEIVE_SINGLE, 1 << 10, 1).is_some());
    }
}
