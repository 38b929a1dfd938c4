//! One iteration of a case, run from the near end.

use super::case::{Case, Kind};
use super::lab::Lab;
use super::latency::Pinger;
use super::loops::{self, MessageLap, PacketLap};
use super::meter::{LinkClock, Meter, Tally};
use super::rdma;
use super::saturate::Saturation;
use super::streams::{StreamEnds, Streams};
use crate::stats::NetworkState;
use spfe::{Endpoint, Error, Result, Status};
use spfe_report::{KernelLoad, LatencyNs, Point};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Figures of an iteration.
#[derive(Clone, Debug, Default)]
pub struct Iteration {
    /// Rate and loads.
    pub point: Point,
    /// Mean packet length, bytes.
    pub mean_bytes: f64,
    /// Packets that were lost or arrived with wrong contents.
    pub errors: u64,
    /// Half round-trip times.
    pub latency: Option<LatencyNs>,
    /// Time of exact links over real time.
    pub pace: Option<f64>,
}

/// Runs one iteration. With `both` the processor time of the far end counts; otherwise the far end
/// replaces an instrument.
pub fn iteration(
    lab: &mut Lab,
    case: &Case,
    label: Option<String>,
    both: bool,
) -> Result<Iteration> {
    let device = lab.device_clock();
    let near = lab.near.clone();
    let meter = |first: bool| {
        let meter = Meter::new(&near, case.seconds).saying(label.clone()).patient(lab.alone);
        let stream = matches!(case.kind, Kind::Stream(_));
        let count = case.count.filter(|_| stream);
        let meter = meter.for_packets(count).at_once(count.is_some());
        // Only one thread of an end reads the clocks of the device, the process and the machine.
        if !first {
            return meter;
        }
        meter.with_device(device.clone()).with_process().with_links(link_clock(&near))
    };
    let mut latency = None;
    let (near, far) = if let Kind::Rdma(operation) = case.kind {
        let far = lab.other.as_ref().map(|far| (far, lab.far_cpu));
        let (tally, times) = rdma::measure(&near, far, case, operation, meter(true))?;
        latency = times;
        (Streams { send: Some(tally), receive: None }, Streams::default())
    } else if let Kind::Loop | Kind::Message(_) = case.kind {
        let (tally, times) = in_a_loop(lab, case, || meter(true).for_packets(case.count))?;
        latency = times;
        (Streams { send: Some(tally), receive: None }, Streams::default())
    } else if case.kind == Kind::RoundTrip {
        let far = lab.far.as_mut().ok_or_else(no_far)?;
        far.prepare(case)?;
        let pinger =
            Pinger::open(&near, case, meter(true).for_packets(case.count.map(|count| 2 * count)))?;
        let (tally, times) = pinger.run()?;
        latency = times;
        (Streams { send: Some(tally), receive: None }, far.finish()?)
    } else {
        let ends = StreamEnds::open(&near, case, case.near(), meter)?;
        match &mut lab.far {
            None => (ends.run(lab.alone && lab.peered)?, Streams::default()),
            Some(far) => {
                far.prepare(case)?;
                far.begin()?;
                let near = ends.run(true);
                // If both fail, the error of the far end may be more precise.
                let far = far.finish();
                (near?, far?)
            }
        }
    };
    Ok(Iteration { latency, ..figures(case, &near, &far, both) })
}

/// Reads the time of the network of an end if it has exact links. Each of its ports knows it.
fn link_clock(near: &Endpoint) -> LinkClock {
    let near = near.clone();
    Arc::new(move || NetworkState::of(&near.port_mib(0).ok()?).link_time_us)
}

/// How long a measurement beside data is repeated in which no data moved: a busy machine may leave its
/// thread no core for as long as a short measurement takes.
const DATA_PATIENCE: Duration = Duration::from_secs(5);

/// One packet or message after the other, out of the near end and in at the other.
fn in_a_loop(
    lab: &Lab,
    case: &Case,
    meter: impl Fn() -> Meter,
) -> Result<(Tally, Option<LatencyNs>)> {
    let other = lab.other.as_ref().ok_or_else(no_far)?;
    let Kind::Message(message) = case.kind else {
        return loops::measure(PacketLap::open(&lab.near, other, case)?, meter());
    };
    let lap = || MessageLap::open(&lab.near, other, case, message);
    if !message.data {
        return loops::measure(lap()?, meter());
    }
    let data = Saturation::start(&lab.near, other, message.port(), lab.far_cpu)?;
    data.wait_for_packets()?;
    let until = Instant::now() + DATA_PATIENCE;
    loop {
        let before = data.bytes();
        let result = loops::measure(lap()?, meter());
        if result.is_err() || data.bytes() != before {
            return result;
        }
        if Instant::now() > until {
            return Err(Error::device(Status::LinkDown, "no data moved beside the messages"));
        }
    }
}

fn no_far() -> Error {
    Error::device(Status::NotFound, "a latency needs two ends")
}

/// The loads as the kernel counts them. A far end in a process of its own adds the times of that
/// process, if it counts.
fn kernel_load(near: &Streams, far: &Streams, both: bool) -> Option<KernelLoad> {
    let cores = spfe_measure::machine_facts().cpus_online;
    let of = |end: &Streams| end.each().find_map(|tally| tally.kernel_load(cores));
    let mut load = of(near)?;
    if let Some(far) = of(far).filter(|_| both) {
        load.user_pct += far.user_pct;
        load.system_pct += far.system_pct;
    }
    Some(load)
}

/// Combines the figures of both ends.
fn figures(case: &Case, near: &Streams, far: &Streams, both: bool) -> Iteration {
    let all = || near.each().chain(far.each());
    // Traffic in both directions: the mean of what both ends received. Otherwise the near end counts.
    let measured: Vec<&Tally> = match (case.kind, &near.receive, &far.receive) {
        (Kind::Stream(_), Some(here), Some(there)) if near.send.is_some() => vec![here, there],
        _ => near.each().take(1).collect(),
    };
    let mean = |of: &dyn Fn(&Tally) -> f64| {
        measured.iter().map(|tally| of(tally)).sum::<f64>() / measured.len().max(1) as f64
    };
    let bytes = mean(&|tally| tally.count.bytes as f64);
    let packets = mean(&|tally| tally.count.packets as f64);
    let sum = |of: fn(&Tally) -> f64| all().map(of).sum::<f64>();
    let host = |of: fn(&Tally) -> f64| {
        near.each().map(of).sum::<f64>() + far.each().filter(|_| both).map(of).sum::<f64>()
    };
    let lost = |sent: &Option<Tally>, got: &Option<Tally>| match (sent, got, case.kind) {
        (Some(sent), Some(got), Kind::Stream(_)) => sent.all_packets.abs_diff(got.all_packets),
        _ => 0,
    };
    // A number of packets is timed from the first sent to the last received.
    let spans: Vec<f64> = [(&near.send, &far.receive), (&far.send, &near.receive)]
        .into_iter()
        .filter(|_| case.count.is_some() && matches!(case.kind, Kind::Stream(_)))
        .filter_map(|(sent, got)| {
            let (sent, got) = ((*sent)?, (*got)?);
            let ns = got.end_ns.saturating_sub(sent.begin_ns).max(1);
            Some(8.0 * got.count.bytes as f64 / ns as f64)
        })
        .collect();
    let rate_gbps = match spans.len() {
        0 => mean(&Tally::gbps),
        count => spans.iter().sum::<f64>() / count as f64,
    };
    Iteration {
        point: Point {
            rate_gbps,
            host_cpu_pct: host(Tally::host_pct),
            device_cpu_pct: sum(Tally::device_pct),
            wakes_per_s: host(Tally::wakes_per_s),
            kernel: kernel_load(near, far, both),
        },
        mean_bytes: bytes / packets.max(1.0),
        errors: all().map(|tally| tally.count.errors).sum::<u64>()
            + lost(&near.send, &far.receive)
            + lost(&far.send, &near.receive),
        latency: None,
        pace: near.each().chain(far.each()).find_map(Tally::pace),
    }
}
