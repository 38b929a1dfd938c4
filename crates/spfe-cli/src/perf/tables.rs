//! The four published scenarios: sending and receiving, single packets and many at a time.

use super::args::{Direction, Group, Wait};
use super::case::{Case, Sizes, published};
use super::cases::Plan;
use spfe_report::{paper, scenario};

/// When a receiver handles what it has: buffers full (%), or time after the first packet (us).
const THRESHOLD: (u32, u64) = (25, 100);

/// All cases, table by table: 1 KB to 256 KB in powers of two.
pub fn cases(plan: &Plan, wait: Wait) -> Vec<Case> {
    let scenarios = [
        (scenario::SEND_SINGLE, Direction::Tx, Group::Of(1), None),
        (scenario::SEND_GROUP, Direction::Tx, Group::Auto, None),
        (scenario::RECEIVE_SINGLE, Direction::Rx, Group::Of(1), None),
        (scenario::RECEIVE_THRESHOLD, Direction::Rx, Group::Of(1), Some(THRESHOLD)),
    ];
    let case = |(name, direction, group, threshold), size| {
        let traffic = published(direction, group);
        let case = Case::new(name, Sizes::fixed(size), &traffic, wait);
        // A group is one operation, as in the publication: one burst entry for all its packets.
        let burst = group == Group::Auto;
        Case { threshold, burst, ..case }.on(&plan.setup, plan.seconds)
    };
    let sizes = || paper::SEND_SINGLE.iter().map(|line| line.size_kb << 10);
    scenarios.into_iter().flat_map(|this| sizes().map(move |size| case(this, size))).collect()
}
