//! The test cases of each subcommand.

use super::args::{Direction, Group, LatencyArgs, RandomArgs, RateArgs, Wait};
use super::case::{Case, Sizes, published, sizes};
use super::setup::Plan;
use crate::context::Context;
use crate::error::Failure;
use spfe_report::{paper, scenario};

/// Cases of `spfe perf rate`.
pub fn rate(args: &RateArgs, plan: &Plan) -> Result<Vec<Case>, Failure> {
    let name = match args.traffic.direction {
        Direction::Tx => scenario::RATE_TX,
        Direction::Rx => scenario::RATE_RX,
        Direction::Both => scenario::RATE_BOTH,
    };
    let case = |size| {
        let sizes = Sizes::fixed(size);
        Case::new(name, sizes, &args.traffic, args.setup.wait).on(&plan.setup, plan.seconds)
    };
    Ok(sizes(&args.sizes, 1 << 10, 256 << 10)?.into_iter().map(case).collect())
}

/// Cases of `spfe perf random`: the smallest size rises, the largest is fixed.
pub fn random(args: &RandomArgs, plan: &Plan, context: &Context) -> Result<Vec<Case>, Failure> {
    let name = match args.traffic.direction {
        Direction::Tx => scenario::RANDOM_TX,
        Direction::Rx => scenario::RANDOM_RX,
        Direction::Both => scenario::RANDOM_BOTH,
    };
    let seed = args.seed.unwrap_or_else(|| spfe_measure::now_ns() % 1_000_000);
    context.say(&format!("seed {seed}"));
    let all = sizes(&args.sizes, 1 << 10, 256 << 10)?;
    let max = args.sizes.size_max.or(all.last().copied()).unwrap_or(1 << 10) as u32;
    let case = |min: u64| {
        let sizes = Sizes { min: min as u32, max, seed };
        let mut case = Case::new(name, sizes, &args.traffic, args.setup.wait);
        case.check = !args.no_check;
        case.on(&plan.setup, plan.seconds)
    };
    Ok(all.into_iter().map(case).collect())
}

/// Cases of `spfe perf latency`.
pub fn latency(args: &LatencyArgs, plan: &Plan) -> Result<Vec<Case>, Failure> {
    let case = |size| {
        let case = Case::round_trip(Sizes::fixed(size), args.check, args.setup.wait);
        case.on(&plan.setup, plan.seconds)
    };
    Ok(sizes(&args.sizes, 64, 64 << 10)?.into_iter().map(case).collect())
}

/// Receive threshold of the publication: full buffers (%), or time after the first packet (us).
const THRESHOLD: (u32, u64) = (25, 100);

/// The four published scenarios, 1 KB to 256 KB in powers of two each.
pub fn tables(plan: &Plan, wait: Wait) -> Vec<Case> {
    let scenarios = [
        (scenario::SEND_SINGLE, Direction::Tx, Group::Of(1), None),
        (scenario::SEND_GROUP, Direction::Tx, Group::Auto, None),
        (scenario::RECEIVE_SINGLE, Direction::Rx, Group::Of(1), None),
        (scenario::RECEIVE_THRESHOLD, Direction::Rx, Group::Of(1), Some(THRESHOLD)),
    ];
    let case = |(name, direction, group, threshold), size| {
        let traffic = published(direction, group);
        let case = Case::new(name, Sizes::fixed(size), &traffic, wait);
        // As in the publication, a group is one operation: here one burst entry.
        let burst = group == Group::Auto;
        Case { threshold, burst, ..case }.on(&plan.setup, plan.seconds)
    };
    let sizes = || paper::SEND_SINGLE.iter().map(|line| line.size_kb << 10);
    scenarios.into_iter().flat_map(|this| sizes().map(move |size| case(this, size))).collect()
}
