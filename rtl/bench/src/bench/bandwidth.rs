//! Measures bandwidth: 100 consecutive packets of a size, at the highest rate without loss.

use super::bed::CoreBench;
use super::jobs;
use super::modes::{Direction, RATES};
use super::record::{Bandwidth, Rate};
use crate::drill::endpoint::Settings;
use crate::mac::{LINE_OVERHEAD, MIN_FRAME};
use crate::rate::{Pace, Pattern};
use crate::user::{Message, Mode};

/// Number of packets of a run.
const PACKETS: u64 = 100;
/// Maximum number of clocks of a run.
const RUN_CLOCKS: u64 = 200_000;
/// Rate of the limiter in Mbit/s.
const LIMIT_MBPS: f64 = 10_000.0;
/// If a receiver loses a packet, the next attempt is slower by this rate in Mbit/s.
const SLOWER_MBPS: u32 = 100;
/// Clocks between acknowledgements of the core's data.
const ACKNOWLEDGE: u64 = 256;
/// Clocks between looks at the windows that the core offers.
const FEED: u64 = 16;
/// Longest segment of all runs in bytes. Two of them are acknowledged at once, so the windows of
/// sessions that share the core's memory move on.
const MSS: u16 = 512;

/// Payload sizes of the published runs: 1, then all multiples of 16 up to 512.
#[must_use]
pub fn sizes() -> Vec<u64> {
    std::iter::once(1).chain((1..=32).map(|step| step * 16)).collect()
}

/// A path through the core in one direction.
struct Way {
    id: &'static str,
    label: &'static str,
    direction: Direction,
    build: &'static str,
    mode: Mode,
}

const WAYS: [Way; 5] = [
    Way {
        id: "rx_ct",
        label: "Rx cut-through",
        direction: Direction::Rx,
        build: "ct64",
        mode: Mode::Store,
    },
    Way {
        id: "rx_store",
        label: "Rx store-and-forward",
        direction: Direction::Rx,
        build: "sf64",
        mode: Mode::Store,
    },
    Way {
        id: "tx_ct",
        label: "Tx cut-through",
        direction: Direction::Tx,
        build: "ct64",
        mode: Mode::CutThrough,
    },
    Way {
        id: "tx_length",
        label: "Tx with length at start",
        direction: Direction::Tx,
        build: "sf64",
        mode: Mode::Length,
    },
    Way {
        id: "tx_store",
        label: "Tx store-and-forward",
        direction: Direction::Tx,
        build: "sf64",
        mode: Mode::Store,
    },
];

/// Limit of the rate at the MAC interface.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// 10 Gbit/s of frames, without gaps.
    Limiter,
    /// 10 Gbit/s including preamble, FCS and gap.
    Line,
    /// One word in each clock.
    Every,
}

impl Limit {
    fn name(self) -> &'static str {
        match self {
            Limit::Limiter => "limiter",
            Limit::Line => "line",
            Limit::Every => "every",
        }
    }

    /// Pattern and gap between frames in bytes. `slower` reduces the rate, in Mbit/s.
    fn pace(self, khz: u32, slower: u32) -> (Pattern, usize) {
        // A limiter with a lower rate equals one of 10 Gbit/s with a faster clock.
        let rate = LIMIT_MBPS as u32 - slower;
        let khz = (u64::from(khz) * 10_000 / u64::from(rate)) as u32;
        match self {
            Limit::Limiter => (Pattern::Limiter { khz }, 0),
            Limit::Line => (Pattern::Limiter { khz }, LINE_OVERHEAD),
            Limit::Every => (Pattern::Every, 0),
        }
    }
}

/// Settings of the core: the rest of what arrives is acknowledged with a tick.
fn settings() -> Settings {
    Settings { mss: MSS, delack: 1, ..Settings::default() }
}

/// Minimum number of clocks for the frames of a run at a pace.
fn least(pattern: Pattern, gap: usize, bytes: usize) -> u64 {
    let mut pace = Pace::new(pattern);
    let mut clocks = 0;
    for packet in 0..PACKETS {
        // No gap follows the last frame.
        let gap = if packet + 1 == PACKETS { 0 } else { gap };
        for mut rest in [bytes, gap] {
            while rest > 0 {
                if pace.open() {
                    let word = rest.min(4);
                    pace.spend(word);
                    rest -= word;
                }
                clocks += 1;
            }
        }
    }
    clocks
}

/// Sends 100 segments to the core, each as soon as its session offers room for it. Returns clocks and
/// bytes, or `None` if a segment was lost.
fn receive(bed: &mut CoreBench, n: u64, round_robin: bool) -> Result<Option<(u64, u64)>, String> {
    // Twice, so that whatever a tick acknowledges is announced.
    bed.rest()?;
    bed.rest()?;
    bed.station.mac_rx.spans.clear();
    let mut expected = Vec::new();
    for _ in 0..PACKETS {
        let sid = if round_robin { bed.next_sid() } else { 0 };
        expected.push((sid, bed.payload(n)));
    }
    let mut waiting = expected.iter().peekable();
    for _ in 0..RUN_CLOCKS / FEED {
        while let Some((sid, payload)) = waiting.next_if(|(sid, _)| bed.partner.room(*sid) >= n) {
            bed.partner.send(&mut bed.station, *sid, payload.clone());
        }
        bed.station.run(FEED);
        if let Some(sent) = bed.partner.take(&mut bed.station)?.first() {
            return Err(format!("unexpected segment: {}", sent.segment.text()));
        }
        if bed.station.mac_rx.is_idle() && bed.station.user_rx.segments.len() == expected.len() {
            break;
        }
    }
    if waiting.peek().is_some() {
        return Err("the core does not offer room for all segments".to_owned());
    }
    let station = &mut bed.station;
    let span = |index: usize| station.mac_rx.spans.get(index).copied();
    let (Some(first), Some(last)) = (span(0), span(PACKETS as usize - 1)) else {
        return Err("the core did not accept all frames".to_owned());
    };
    let got = station.user_rx.segments.drain(..).map(|segment| (segment.sid, segment.data));
    let whole = got.collect::<Vec<_>>() == expected;
    bed.partner.settle(&mut bed.station, 1000)?;
    Ok(whole.then_some((first.first, last.last)))
}

/// Lets the core send 100 messages. Returns clocks and bytes.
fn send(bed: &mut CoreBench, n: u64, mode: Mode, round_robin: bool) -> Result<(u64, u64), String> {
    let mut expected = Vec::new();
    for _ in 0..PACKETS {
        let sid = if round_robin { bed.next_sid() } else { 0 };
        let data = bed.payload(n);
        expected.push((sid, data.clone()));
        bed.station.user_tx.push(Message { sid, data, mode, ..Message::default() });
    }
    let mut got = Vec::new();
    let (mut first, mut last) = (None, 0);
    for _ in 0..RUN_CLOCKS / ACKNOWLEDGE {
        bed.station.run(ACKNOWLEDGE);
        let sent = bed.partner.take(&mut bed.station)?;
        let mut sids: Vec<u16> = sent.iter().map(|sent| sent.sid).collect();
        sids.sort_unstable();
        sids.dedup();
        for sid in sids {
            bed.partner.acknowledge(&mut bed.station, sid);
        }
        for sent in sent {
            first.get_or_insert(sent.frame.first);
            last = sent.frame.last;
            got.push((sent.sid, sent.segment.payload));
        }
        if got.len() >= expected.len() {
            break;
        }
    }
    if got != expected {
        return Err(format!(
            "only {} of {PACKETS} messages of {n} bytes left the core unchanged",
            got.len()
        ));
    }
    bed.station.user_tx.spans.clear();
    bed.partner.settle(&mut bed.station, 1000)?;
    Ok((first.unwrap_or(0), last))
}

fn run(
    bed: &mut CoreBench,
    way: &Way,
    khz: u32,
    limit: Limit,
    round_robin: bool,
    n: u64,
) -> Result<Rate, String> {
    let frame = (54 + n as usize).max(MIN_FRAME);
    let mut slower = 0;
    let (clocks, least) = loop {
        let (pattern, gap) = limit.pace(khz, slower);
        let rx = way.direction == Direction::Rx;
        let side = |on: bool| if on { (pattern, gap) } else { (Pattern::Every, 0) };
        let (pace, gap_rx) = side(rx);
        bed.station.mac_rx.set_pace(pace, gap_rx);
        let (pace, gap_tx) = side(!rx);
        bed.station.mac_tx.set_pace(pace, gap_tx);
        let span = match way.direction {
            Direction::Rx => receive(bed, n, round_robin)?,
            Direction::Tx => Some(send(bed, n, way.mode, round_robin)?),
        };
        if let Some((first, last)) = span {
            break (last - first + 1, least(pattern, gap, frame));
        }
        if limit == Limit::Every || slower + SLOWER_MBPS >= LIMIT_MBPS as u32 {
            return Err(format!("{}: the core loses segments of {n} bytes at every rate", way.id));
        }
        slower += SLOWER_MBPS;
        // The lost segment leaves a gap in the stream, so open new sessions.
        *bed = CoreBench::new(way.build, &settings())?;
    };
    let bytes = frame as u64 * PACKETS;
    // The rate of the limit itself, or without a limit the rate of the words.
    let own = match limit {
        Limit::Every => bytes as f64 * 8.0 / (least as f64 / (f64::from(khz) * 1e3)) / 1e6,
        _ => LIMIT_MBPS - f64::from(slower),
    };
    let own = if limit == Limit::Line {
        own * frame as f64 / (frame + LINE_OVERHEAD) as f64
    } else {
        own
    };
    let mbps = own * least as f64 / clocks as f64;
    let packets = mbps / (frame as f64 * 8.0);
    Ok(Rate {
        way: way.id.to_owned(),
        label: way.label.to_owned(),
        direction: way.direction,
        build: way.build.to_owned(),
        khz,
        limit: limit.name().to_owned(),
        round_robin,
        n,
        packets: PACKETS,
        bytes,
        clocks,
        least,
        mbps,
        wire_mbps: packets * (frame + LINE_OVERHEAD) as f64 * 8.0,
        goodput_mbps: packets * n as f64 * 8.0,
        mpps: packets,
    })
}

/// Measures all runs.
///
/// # Errors
/// A packet is lost or damaged at every rate.
pub fn measure() -> Result<Bandwidth, String> {
    let mut jobs = Vec::new();
    for way in &WAYS {
        for khz in RATES {
            jobs.push((way, khz));
        }
    }
    let rates = jobs::run(&jobs, |(way, khz)| {
        let mut bed = CoreBench::new(way.build, &settings())?;
        let mut rates = Vec::new();
        for limit in [Limit::Limiter, Limit::Line, Limit::Every] {
            for round_robin in [false, true] {
                for n in sizes() {
                    rates.push(run(&mut bed, way, *khz, limit, round_robin, n)?);
                }
            }
        }
        Ok(rates)
    })?;
    Ok(Bandwidth { rates: rates.into_iter().flatten().collect() })
}

/// Describes the runs that did not reach the rate of their limiter.
#[must_use]
pub fn below(bandwidth: &Bandwidth) -> Vec<String> {
    let limited = bandwidth.rates.iter().filter(|rate| rate.limit == "limiter");
    // A run may take one clock more at its end.
    let slow = limited.filter(|rate| rate.clocks > rate.least + 1 || rate.mbps < 9_900.0);
    slow.map(|rate| {
        format!(
            "{} at {} MHz, {} bytes, round robin {}: {:.0} Mbit/s, {} clocks instead of {}",
            rate.way,
            rate.khz / 1000,
            rate.n,
            rate.round_robin,
            rate.mbps,
            rate.clocks,
            rate.least
        )
    })
    .collect()
}
