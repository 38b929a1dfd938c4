//! The test cases of each subcommand.

#[cfg(test)]
use super::args::Wait;
use super::args::{
    Direction, Group, Joined, LatencyArgs, MessageArgs, RandomArgs, RateArgs, RdmaArgs,
    RdmaOperation, TablesArgs,
};
use super::case::{self, Case, Message, Sizes, sizes};
use super::rdma;
use super::setup::{Network, Plan};
use crate::context::Context;
use crate::error::Failure;
use spfe::{Endpoint, LinkRate, PortKind};
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
        Case::new(name, sizes, &args.traffic, plan.wait).on(&plan.setup, plan.seconds)
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
    let max =
        args.sizes.size_max.or(args.sizes.size).or(all.last().copied()).unwrap_or(1 << 10) as u32;
    let case = |min: u64| {
        let sizes = Sizes { min: min as u32, max, seed };
        let mut case = Case::new(name, sizes, &args.traffic, plan.wait);
        case.check = !args.no_check;
        case.on(&plan.setup, plan.seconds)
    };
    Ok(all.into_iter().map(case).collect())
}

/// Cases of `spfe perf latency`.
pub fn latency(args: &LatencyArgs, plan: &Plan) -> Result<Vec<Case>, Failure> {
    let make = if args.looped { Case::looped } else { Case::round_trip };
    let case = |size| Case {
        count: args.count,
        read: args.read,
        beside: args.beside,
        ..make(Sizes::fixed(size), args.check, plan.wait).on(&plan.setup, plan.seconds)
    };
    in_one_process(args.looped, plan)?;
    Ok(sizes(&args.sizes, 64, 64 << 10)?.into_iter().map(case).collect())
}

/// Cases of `spfe perf broadcast`, as far as the ports have such messages.
pub fn messages(args: &MessageArgs, plan: &Plan) -> Result<Vec<Case>, Failure> {
    in_one_process(true, plan)?;
    let kind = |number: u32| -> spfe::Result<PortKind> {
        match &plan.setup.network {
            Network::Joined(Joined { near, .. }) | Network::Alone(near) => {
                Ok(Endpoint::open(&near.device)?.port(number)?.kind())
            }
            Network::Own(_)
                if number == 0 && !matches!(plan.setup.link, LinkRate::SpaceWire { .. }) =>
            {
                Ok(PortKind::Spacefibre)
            }
            Network::Own(_) => Ok(PortKind::Spacewire),
        }
    };
    let mut cases = Vec::new();
    for (time_code, needed) in [(false, PortKind::Spacefibre), (true, PortKind::Spacewire)] {
        let message = Message { time_code, data: false };
        // A device may have one port only.
        if kind(message.port()).is_ok_and(|kind| kind == needed) {
            cases.extend([false, true].map(|data| {
                let case = Case::message(Message { data, ..message }, plan.wait);
                Case { count: args.count, ..case.on(&plan.setup, plan.seconds) }
            }));
        }
    }
    if cases.is_empty() {
        let what = "port 0 of the ends is no SpaceFibre port and port 1 no SpaceWire port";
        return Err(spfe::Error::device(spfe::Status::NotFound, what).into());
    }
    Ok(cases)
}

/// Refuses a second process where one thread uses both ends.
fn in_one_process(needed: bool, plan: &Plan) -> Result<(), Failure> {
    if needed && plan.setup.processes == 2 {
        let what = "--processes 2: one thread sends and receives, so both ends are in one process";
        return Err(spfe::Error::device(spfe::Status::BadField, what).into());
    }
    Ok(())
}

/// Receive threshold of the publication: full buffers (%), or time after the first packet (us).
const THRESHOLD: (u32, u64) = (25, 100);

/// The four published scenarios, 1 KB to 256 KB in powers of two each, as published. Then what else
/// the library can do, under names that have no published figures.
pub fn tables(args: &TablesArgs, plan: &Plan) -> Vec<Case> {
    let published = [
        (scenario::SEND_SINGLE, Direction::Tx, Group::Of(1), None),
        (scenario::SEND_GROUP, Direction::Tx, Group::Auto, None),
        (scenario::RECEIVE_SINGLE, Direction::Rx, Group::Of(1), None),
        (scenario::RECEIVE_THRESHOLD, Direction::Rx, Group::Of(1), Some(THRESHOLD)),
    ];
    let better = [
        (scenario::SEND_GROUP_AHEAD, Direction::Tx, Group::Auto, None),
        (scenario::SEND_BURST_AHEAD, Direction::Tx, Group::Auto, None),
        (scenario::RECEIVE_PACKED, Direction::Rx, Group::Of(1), Some(THRESHOLD)),
    ];
    let (tx, rx) = args.window;
    let case = |(name, direction, group, threshold): (_, _, _, Option<_>), size| {
        // A receiver that handles single packets needs no more buffers than a sender.
        let window = (tx, if threshold.is_some() { rx } else { tx });
        let traffic = case::published(direction, group, window);
        let mut case = Case::new(name, Sizes::fixed(size), &traffic, plan.wait);
        if matches!(name, scenario::SEND_GROUP_AHEAD | scenario::SEND_BURST_AHEAD) {
            case.under_way = None;
        }
        case.burst = name == scenario::SEND_BURST_AHEAD;
        case.packed = name == scenario::RECEIVE_PACKED;
        Case { threshold, ..case }.on(&plan.setup, plan.seconds)
    };
    let better = better.into_iter().filter(|_| !args.published);
    let sizes = || paper::SEND_SINGLE.iter().map(|line| line.size_kb << 10);
    let scenarios = published.into_iter().chain(better);
    scenarios.flat_map(|this| sizes().map(move |size| case(this, size))).collect()
}

/// Cases of `spfe perf rdma`.
pub fn rdma(args: &RdmaArgs, plan: &Plan) -> Result<Vec<Case>, Failure> {
    let (name, sizes) = match args.operation {
        RdmaOperation::Write => (scenario::RDMA_WRITE, sizes(&args.sizes, 4 << 10, 512 << 10)?),
        RdmaOperation::Read => (scenario::RDMA_READ, sizes(&args.sizes, 4 << 10, 512 << 10)?),
        RdmaOperation::Atomic => (scenario::RDMA_ATOMIC, vec![8]),
        RdmaOperation::Send => (scenario::RDMA_SEND, sizes(&args.sizes, 64, 64 << 10)?),
        RdmaOperation::Latency => (scenario::RDMA_LATENCY, sizes(&args.sizes, 64, 64 << 10)?),
    };
    let exchange = args.operation == RdmaOperation::Latency;
    if exchange && plan.setup.link != LinkRate::Unlimited {
        return Err(Failure::usage(
            "rdma latency: memory shows a write at once, not when a slower link would have carried it; \
             measure without --link",
        ));
    }
    let case = |size| {
        if exchange {
            let case = Case::rdma(name, args.operation, size, 1, 1, plan.wait);
            return Ok(case.on(&plan.setup, plan.seconds));
        }
        let group = match args.group {
            Group::Auto => paper::rdma_group(size),
            Group::Of(count) => count,
        };
        let under_way = u64::from(group) * u64::from(args.under_way);
        if under_way > rdma::DEPTH_MAX {
            return Err(Failure::usage(format!(
                "--under-way: {} groups of {group} operations are more than the {} of a queue",
                args.under_way,
                rdma::DEPTH_MAX
            )));
        }
        Ok(Case::rdma(name, args.operation, size, group, args.under_way, plan.wait)
            .on(&plan.setup, plan.seconds))
    };
    sizes.into_iter().map(case).collect()
}

/// The four published scenarios of RDMA, 4 KB to 512 KB in powers of two each (there is no published
/// figure for 512 KB). Then two groups under way, under names that have no published figures.
pub fn rdma_tables(args: &TablesArgs, plan: &Plan) -> Vec<Case> {
    use RdmaOperation::{Read, Write};
    let published = [
        (scenario::RDMA_WRITE_SINGLE, Write, false, 1),
        (scenario::RDMA_READ_SINGLE, Read, false, 1),
        (scenario::RDMA_WRITE_GROUP, Write, true, 1),
        (scenario::RDMA_READ_GROUP, Read, true, 1),
    ];
    let better =
        [(scenario::RDMA_WRITE_AHEAD, Write, true, 2), (scenario::RDMA_READ_AHEAD, Read, true, 2)];
    let better = better.into_iter().filter(|_| !args.published);
    let case = |(name, operation, grouped, under_way), size| {
        let group = if grouped { paper::rdma_group(size) } else { 1 };
        Case::rdma(name, operation, size, group, under_way, plan.wait).on(&plan.setup, plan.seconds)
    };
    let sizes = || (0..8).map(|step| 4096u64 << step);
    let scenarios = published.into_iter().chain(better);
    scenarios.flat_map(|this| sizes().map(move |size| case(this, size))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::PerfArgs;
    use crate::perf::args::Test;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        perf: PerfArgs,
        /// An option of all commands, which some options here exclude.
        #[arg(long, global = true)]
        json: bool,
    }

    fn cases(words: &[&str]) -> Vec<Case> {
        let line = [&["spfe", "tables"][..], words].concat();
        let Test::Tables(args) = Line::try_parse_from(line).expect("valid options").perf.test
        else {
            panic!("another test");
        };
        let plan =
            crate::perf::plan(&args.setup, crate::perf::PUBLISHED, (1, 1.0), Wait::Block, None);
        tables(&args, &plan.expect("a plan"))
    }

    #[test]
    fn published_rows_have_one_group_under_way_and_no_burst() {
        let all = cases(&[]);
        let (published, better) = all.split_at(36);
        for case in published {
            assert_eq!((case.most_under_way(), case.burst, case.packed), (1, false, false));
            assert_eq!((case.tx_window, case.wait), (1 << 20, Wait::Block));
            let figure = paper::figure(&case.scenario, case.sizes.max.into(), case.group);
            assert!(figure.is_some(), "{} {}", case.scenario, case.sizes.max);
        }
        assert_eq!(better.len(), 27);
        for case in better {
            let figure = paper::figure(&case.scenario, case.sizes.max.into(), case.group);
            assert!(figure.is_none(), "{} stands beside published figures", case.scenario);
        }
        assert!(better.iter().take(18).all(|case| case.most_under_way() >= 2));
        assert_eq!(cases(&["--published"]).len(), 36);
    }

    #[test]
    fn published_rows_of_rdma_are_run_as_published() {
        let line = ["spfe", "tables", "--paper", "rdma"];
        let Test::Tables(args) = Line::try_parse_from(line).expect("valid options").perf.test
        else {
            panic!("another test");
        };
        let link = crate::perf::PUBLISHED_RDMA;
        let plan = crate::perf::plan(&args.setup, link, (1, 1.0), Wait::Block, None);
        let all = rdma_tables(&args, &plan.expect("a plan"));
        let (published, better) = all.split_at(32);
        for case in published {
            assert_eq!(case.under_way, Some(1));
            let size = u64::from(case.sizes.max);
            let figure = paper::figure(&case.scenario, size, case.group);
            assert_eq!(figure.is_some(), size < 512 << 10, "{} {size}", case.scenario);
        }
        assert_eq!(better.len(), 16);
        for case in better {
            assert_eq!(case.under_way, Some(2));
            assert!(paper::figure(&case.scenario, 4096, case.group).is_none());
        }
    }

    #[test]
    fn the_window_of_a_threshold_can_be_chosen() {
        let fill = |words: &[&str]| {
            let threshold = |case: &Case| case.scenario == scenario::RECEIVE_THRESHOLD;
            cases(words).into_iter().rfind(threshold).expect("a case").rx_buffers()
        };
        assert_eq!((fill(&[]), fill(&["--window", "1M,1M"])), (16, 4));
    }
}
