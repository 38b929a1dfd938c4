//! One iteration of a case, at either end.

use super::case::{Case, Kind};
use super::lab::Lab;
use super::latency::Pinger;
use super::meter::{Meter, Tally};
use super::receive::Receiver;
use super::send::Sender;
use serde::{Deserialize, Serialize};
use spfe::{Endpoint, Error, Result, Status};
use spfe_report::{LatencyNs, Point};

/// What an end has measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// Sending.
    pub send: Option<Tally>,
    /// Receiving.
    pub receive: Option<Tally>,
}

impl Streams {
    fn each(&self) -> impl Iterator<Item = &Tally> {
        self.send.iter().chain(&self.receive)
    }
}

/// The queues an end uses in a case.
pub struct Ends {
    sender: Option<Sender>,
    receiver: Option<Receiver>,
}

impl Ends {
    /// Opens what is wanted: to send, to receive.
    pub fn open(
        endpoint: &Endpoint,
        case: &Case,
        (sends, receives): (bool, bool),
        meter: impl Fn() -> Meter,
    ) -> Result<Self> {
        // Receiving first: then nobody's first packet has to wait for buffers.
        let receiver = receives.then(|| Receiver::open(endpoint, case, meter())).transpose()?;
        let sender = sends.then(|| Sender::open(endpoint, case, meter())).transpose()?;
        Ok(Self { sender, receiver })
    }

    /// Runs; `peered` with an end of our own at the other side, which hears when it is over. To
    /// send and to receive takes a thread each.
    pub fn run(self, peered: bool) -> Result<Streams> {
        std::thread::scope(|scope| {
            let Self { sender, receiver } = self;
            let (send, receive) = match (sender, receiver) {
                (Some(sender), Some(receiver)) => {
                    let sending = scope.spawn(move || sender.run(peered));
                    let receive = receiver.run(peered);
                    let lost =
                        |_| Err(Error::device(Status::BadField, "the sending thread failed"));
                    (Some(sending.join().unwrap_or_else(lost)), Some(receive))
                }
                (sender, receiver) => {
                    let send = sender.map(|sender| sender.run(peered));
                    (send, receiver.map(|receiver| receiver.run(peered)))
                }
            };
            Ok(Streams { send: send.transpose()?, receive: receive.transpose()? })
        })
    }
}

/// What an iteration has measured.
#[derive(Clone, Debug, Default)]
pub struct Iteration {
    /// The figures of the results.
    pub point: Point,
    /// Mean packet length, bytes.
    pub mean_bytes: f64,
    /// Packets that did not arrive as they were sent.
    pub errors: u64,
    /// Half round trips.
    pub latency: Option<LatencyNs>,
}

/// Runs one iteration from the near end. What the far end spends counts with `both`; else it stands
/// for an instrument.
pub fn iteration(
    lab: &mut Lab,
    case: &Case,
    label: Option<String>,
    both: bool,
) -> Result<Iteration> {
    let device = lab.device_clock();
    let meter = || {
        // One of the threads of an end reads the clock of the device.
        Meter::new(&lab.near, case.seconds).saying(label.clone())
    };
    let mut latency = None;
    let (near, far) = if case.kind == Kind::RoundTrip {
        let meter = meter().with_device(device);
        let far = lab.far.as_mut().ok_or_else(no_far)?;
        far.prepare(case)?;
        let pinger = Pinger::open(&lab.near, case, meter)?;
        let (tally, times) = pinger.run()?;
        latency = times;
        (Streams { send: Some(tally), receive: None }, far.finish()?)
    } else {
        let near = lab.near.clone();
        let first = std::cell::Cell::new(device);
        let ends = Ends::open(&near, case, case.near(), || meter().with_device(first.take()))?;
        match &mut lab.far {
            None => (ends.run(false)?, Streams::default()),
            Some(far) => {
                far.prepare(case)?;
                far.begin()?;
                let near = ends.run(true);
                // If both failed, the far end may know more.
                let far = far.finish();
                (near?, far?)
            }
        }
    };
    Ok(Iteration { latency, ..figures(case, &near, &far, both) })
}

fn no_far() -> Error {
    Error::device(Status::NotFound, "a round trip needs two ends")
}

/// The figures of both ends put together.
fn figures(case: &Case, near: &Streams, far: &Streams, both: bool) -> Iteration {
    let all = || near.each().chain(far.each());
    // Both ways: the mean of what both ends received. Else what the near end counted.
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
    Iteration {
        point: Point {
            rate_gbps: mean(&Tally::gbps),
            host_cpu_pct: host(Tally::host_pct),
            device_cpu_pct: sum(Tally::device_pct),
            wakes_per_s: host(Tally::wakes_per_s),
        },
        mean_bytes: bytes / packets.max(1.0),
        errors: all().map(|tally| tally.count.errors).sum::<u64>()
            + lost(&near.send, &far.receive)
            + lost(&far.send, &near.receive),
        latency: None,
    }
}
