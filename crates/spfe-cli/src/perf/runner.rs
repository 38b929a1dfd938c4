//! Runs test cases one after the other.

use super::args::{Direction, RdmaOperation};
use super::case::{Case, Kind, Sizes};
use super::iteration::{Iteration, iteration};
use super::lab::Lab;
use super::rdma;
use super::setup::{Network, Plan, Setup};
use crate::context::Context;
use crate::error::Failure;
use crate::signal;
use indicatif::{ProgressBar, ProgressStyle};
use spfe::{LinkModel, LinkRate, Mode, Peer};
use spfe_report::{LatencyNs, ResultRow};
use std::time::Duration;

/// Runs cases, each of which gives a row of the results.
pub struct CaseRunner<'a> {
    plan: &'a Plan,
    context: &'a Context,
    bar: Option<ProgressBar>,
    /// A network with two ends, shared by all cases that need one.
    pair: Option<Lab>,
    /// The same with both ends in one thread.
    looped: Option<Lab>,
}

impl<'a> CaseRunner<'a> {
    /// A runner that reports progress on stderr.
    pub fn new(plan: &'a Plan, context: &'a Context) -> Self {
        Self { plan, context, bar: None, pair: None, looped: None }
    }

    /// Shows a progress bar for this many cases.
    pub fn with_bar(mut self, cases: usize) -> Self {
        if !self.context.quiet {
            let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta} left  {msg}");
            let bar = ProgressBar::new(cases as u64 * u64::from(self.plan.iterations));
            self.bar = Some(style.map_or(bar.clone(), |style| bar.with_style(style)));
        }
        self
    }

    /// Runs the cases in order.
    pub fn run(mut self, cases: &[Case]) -> Result<Vec<ResultRow>, Failure> {
        cases.iter().try_for_each(Case::check)?;
        let rows = cases.iter().map(|case| self.row(case)).collect();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        rows
    }

    fn row(&mut self, case: &Case) -> Result<ResultRow, Failure> {
        let mut iterations = Vec::new();
        for _ in 0..self.plan.iterations {
            let label = label(case);
            if let Some(bar) = &self.bar {
                bar.set_message(label.clone());
            }
            let said = (self.bar.is_none() && !self.context.quiet).then_some(label);
            let iteration = self.iteration(case, said);
            if signal::caught() {
                return Err(Failure::interrupted());
            }
            iterations.push(iteration?);
            if let Some(bar) = &self.bar {
                bar.inc(1);
            }
        }
        let mut row = row(case, self.plan.setup.link, iterations);
        let time = 0.2_f64.min(self.plan.seconds * f64::from(self.plan.iterations) / 5.0);
        row.floor_cpu_pct = floor(&self.plan.setup, row.wakes_per_s, self.ends(case), time);
        Ok(row)
    }

    /// Number of host threads whose wake-ups are counted.
    fn ends(&self, case: &Case) -> u32 {
        let each = match case.kind {
            Kind::Stream(Direction::Both) => 2,
            Kind::Loop | Kind::Message(_) | Kind::Rdma(_) => return 1,
            _ => 1,
        };
        if instrument(case, &Setup { processes: 1, ..self.plan.setup.clone() }).is_some() {
            each
        } else {
            2 * each
        }
    }

    fn iteration(&mut self, case: &Case, label: Option<String>) -> Result<Iteration, Failure> {
        let setup = &self.plan.setup;
        let peer = instrument(case, setup);
        if let Network::Alone(end) = &setup.network {
            // A new one each time: the other side starts again, too.
            let mut iteration = iteration(&mut Lab::alone(setup, end)?, case, label, false)?;
            if !setup.device_is_measured {
                iteration.point.device_cpu_pct = f64::NAN;
            }
            return Ok(iteration);
        }
        if matches!(case.kind, Kind::Rdma(_)) {
            let Network::Own(device) = &setup.network else { return Err(needs_a_network()) };
            if setup.processes == 2 {
                return Err(needs_a_network());
            }
            // A new network each time, as with an instrument.
            let mut lab = match case.kind {
                Kind::Rdma(RdmaOperation::Send | RdmaOperation::Latency) => Lab::looped(setup)?,
                _ => Lab::target(setup, *device, rdma::MEMORY)?,
            };
            return Ok(iteration(&mut lab, case, label, false)?);
        }
        if let (Some(peer), Network::Own(device)) = (peer, &setup.network) {
            // A new network each time, so that the instrument's packet sequence restarts.
            let mut lab = Lab::instrument(setup, *device, peer)?;
            return Ok(iteration(&mut lab, case, label, false)?);
        }
        let one_thread = matches!(case.kind, Kind::Loop | Kind::Message(_));
        let lab = match if one_thread { &mut self.looped } else { &mut self.pair } {
            Some(lab) => lab,
            none if one_thread => none.insert(Lab::looped(setup)?),
            none => none.insert(Lab::pair(setup)?),
        };
        // Without instruments, a far end of ours does the same.
        let mut iteration = iteration(lab, case, label, peer.is_none())?;
        let engine = !case.measures_engine() && setup.mode != Mode::Thread;
        if !setup.device_is_measured || engine {
            iteration.point.device_cpu_pct = f64::NAN;
        }
        Ok(iteration)
    }
}

/// Load of as many sleeps per second by `threads` threads that do nothing else, % of one core.
/// Measured for `seconds` on this thread's processor.
fn floor(setup: &Setup, sleeps_per_s: f64, threads: u32, seconds: f64) -> Option<f64> {
    if !sleeps_per_s.is_finite() {
        return None;
    }
    if sleeps_per_s <= 0.0 {
        return Some(0.0);
    }
    let gap = Duration::from_secs_f64((f64::from(threads) / sleeps_per_s).min(seconds));
    // A completion of a paced link is there before it is due, so hosts sleep until a time. Otherwise
    // another thread wakes them.
    let cost_ns = if setup.link == LinkRate::Unlimited {
        let (waker, sleeper) = spfe_measure::measurement_cpus();
        let rounds = (seconds / gap.as_secs_f64()).clamp(1.0, 100_000.0) as u32;
        spfe_measure::futex_wake(waker, sleeper, gap, rounds).sleeper_cpu_ns
    } else {
        spfe_measure::timed_sleep_cpu_ns(gap, Duration::from_secs_f64(seconds))
    };
    Some(cost_ns * sleeps_per_s / 1e7)
}

fn needs_a_network() -> Failure {
    Failure::usage(
        "RDMA is measured in a network of its own, in this process: use --mode and --link, without \
         devices and --processes",
    )
}

/// The instrument that can serve as the far end of a case, if any.
fn instrument(case: &Case, setup: &Setup) -> Option<Peer> {
    // Instruments have packet-level links and send without end.
    let endless = case.kind == Kind::Stream(Direction::Rx);
    if setup.processes == 2
        || setup.model != LinkModel::Packet
        || endless && case.count.is_some() && matches!(setup.network, Network::Own(_))
    {
        return None;
    }
    let Sizes { min, max, seed } = case.sizes;
    match case.kind {
        // A sink does not report wrong contents, so a checking case needs a far end of ours.
        Kind::Stream(Direction::Tx) if !case.check => Some(Peer::Sink { check: false }),
        Kind::Stream(Direction::Rx) => {
            Some(Peer::Generator { min_bytes: min, max_bytes: max, seed })
        }
        _ => None,
    }
}

fn label(case: &Case) -> String {
    let Sizes { min, max, .. } = case.sizes;
    let sizes = if min == max { format!("{max}") } else { format!("{min} to {max}") };
    format!("{} {sizes} bytes x {}", case.scenario, case.group)
}

fn row(case: &Case, link: LinkRate, iterations: Vec<Iteration>) -> ResultRow {
    let count = iterations.len().max(1) as f64;
    let mean = iterations.iter().map(|iteration| iteration.mean_bytes).sum::<f64>() / count;
    let points = iterations.iter().map(|iteration| iteration.point).collect();
    let size = if case.sizes.is_fixed() { u64::from(case.sizes.max) } else { mean.round() as u64 };
    let mut row = ResultRow::from_points(&case.scenario, size, case.group, points);
    row.link_limit_gbps = link_limit(link, case.kind, Some(size));
    let published = match case.kind {
        Kind::Rdma(_) => super::PUBLISHED_RDMA,
        _ => super::PUBLISHED,
    };
    if link != published {
        row.paper = None;
    }
    row.under_way =
        matches!(case.kind, Kind::Stream(_) | Kind::Rdma(_)).then(|| case.most_under_way());
    row.link_minimum_ns = link_minimum_ns(link, case);
    row.latency_ns = combined_latency(iterations.iter().filter_map(|iteration| iteration.latency));
    if !case.sizes.is_fixed() {
        row.size_min_bytes = Some(u64::from(case.sizes.min));
        row.size_max_bytes = Some(u64::from(case.sizes.max));
        row.seed = Some(case.sizes.seed);
    }
    let paces: Vec<f64> = iterations.iter().filter_map(|iteration| iteration.pace).collect();
    row.pace = (!paces.is_empty()).then(|| paces.iter().sum::<f64>() / paces.len() as f64);
    let errors = iterations.iter().map(|iteration| iteration.errors).sum();
    row.integrity_errors = (case.check || errors > 0).then_some(errors);
    row
}

/// Highest payload rate of the link with packets of `bytes`, or with endless ones, Gbit/s; not a
/// number if unlimited. With traffic in both directions each direction also carries the flow control of the
/// other.
pub fn link_limit(link: LinkRate, kind: Kind, bytes: Option<u64>) -> f64 {
    let Some(timing) = link.timing() else { return f64::NAN };
    let both = kind == Kind::Stream(Direction::Both);
    let endless = || timing.user_bps(both);
    bytes.map_or_else(endless, |bytes| timing.payload_bps(bytes, both)) / 1e9
}

/// Time of a packet alone on the link, ns, for latencies of packets.
fn link_minimum_ns(link: LinkRate, case: &Case) -> Option<f64> {
    let packets = matches!(case.kind, Kind::RoundTrip | Kind::Loop) && case.sizes.is_fixed();
    let timing = link.timing().filter(|_| packets)?;
    Some(timing.alone_ps(u64::from(case.sizes.max)) as f64 / 1e3)
}

/// Latency over all iterations: means of the figures, and the extremes.
fn combined_latency(all: impl Iterator<Item = LatencyNs>) -> Option<LatencyNs> {
    let all: Vec<_> = all.collect();
    let mean = |of: fn(&LatencyNs) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    (!all.is_empty()).then(|| LatencyNs {
        mean: mean(|ns| ns.mean),
        p50: mean(|ns| ns.p50),
        p99: mean(|ns| ns.p99),
        p999: mean(|ns| ns.p999),
        max: all.iter().map(|ns| ns.max).fold(0.0, f64::max),
        min: all.iter().map(|ns| ns.min).fold(f64::INFINITY, f64::min),
    })
}
