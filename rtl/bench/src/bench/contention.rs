//! Measures the latency of messages while the core sends other frames: acknowledgements, echo
//! replies, ARP, retransmissions.

use std::collections::BTreeMap;

use super::bed::CoreBench;
use super::jobs;
use super::record::{Contention, Scenario};
use crate::drill::endpoint::Settings;
use crate::rate::Pattern;
use crate::user::{Message, Mode};

/// Number of messages of a scenario.
const MESSAGES: u64 = 2000;
/// Bytes of a message.
const SIZE: u64 = 64;
/// Clocks between messages: the minimum, and the maximum of a random addition.
const DISTANCE: (u64, u64) = (700, 800);
/// Clock rate in kHz.
const KHZ: u32 = 322_000;
/// Maximum number of clocks until a message leaves the core.
const LATEST: u64 = 5_000;

/// Payload of an echo request in bytes: the maximum of a frame.
const ECHO: u64 = 1472;

/// Kinds of other frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Nothing,
    Acknowledgements,
    Arp,
    Echo,
    Retransmissions,
}

impl Other {
    const ALL: [Other; 5] =
        [Other::Nothing, Other::Acknowledgements, Other::Arp, Other::Echo, Other::Retransmissions];

    fn id(self) -> &'static str {
        match self {
            Other::Nothing => "idle",
            Other::Acknowledgements => "acknowledgements",
            Other::Arp => "arp",
            Other::Echo => "echo",
            Other::Retransmissions => "retransmissions",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Other::Nothing => "nothing else is sent",
            Other::Acknowledgements => "other sessions receive at line rate and are acknowledged",
            Other::Arp => "requests for the core's address at line rate",
            Other::Echo => "consecutive echo requests of 1472 bytes",
            Other::Retransmissions => "segments of 1460 bytes of other sessions are retransmitted",
        }
    }

    /// Maximum wait of a message in clocks: the longest frame of this kind at the pace of the MAC.
    fn bound(self) -> u64 {
        let words = match self {
            Other::Nothing => return 1,
            Other::Acknowledgements | Other::Arp => 15,
            Other::Echo | Other::Retransmissions => (54 + 1460_u64).div_ceil(4),
        };
        // The limiter pauses once in 33 clocks. There are two clocks between frames.
        words + words / 32 + 1 + 3
    }
}

/// Session of the measured messages. The other sessions carry other frames.
const MINE: u16 = 0;

/// Keeps the core busy with other frames until the next message.
fn disturb(bed: &mut CoreBench, other: Other, turn: u64) -> Result<(), String> {
    let count = bed.partner.count();
    let sid = 1 + (turn % u64::from(count - 1)) as u16;
    match other {
        Other::Nothing => {}
        Other::Arp => {
            for _ in 0..20 {
                bed.partner.ask(&mut bed.station);
            }
        }
        Other::Echo => {
            let data = bed.payload(ECHO);
            bed.partner.ping(&mut bed.station, data);
        }
        Other::Acknowledgements => {
            for _ in 0..8 {
                let payload = bed.payload(64);
                bed.partner.send(&mut bed.station, sid, payload);
            }
        }
        Other::Retransmissions => {
            // A segment, and three duplicate acknowledgements for the data before it.
            let data = bed.payload(1460);
            bed.station.user_tx.push(Message {
                sid,
                data,
                mode: Mode::Store,
                ..Message::default()
            });
            bed.station.run_until(LATEST, |station| {
                station.user_tx.waiting() == 0
                    && station.mac_tx.is_idle()
                    && !station.mac_tx.frames.is_empty()
            });
            bed.partner.take(&mut bed.station)?;
            for _ in 0..3 {
                bed.partner.acknowledge_less(&mut bed.station, sid, 1460);
            }
        }
    }
    Ok(())
}

fn scenario(other: &Other) -> Result<Scenario, String> {
    let mut bed = CoreBench::new("ct64", &Settings::default())?;
    bed.set_line(Pattern::Limiter { khz: KHZ });
    let mut histogram = BTreeMap::new();
    let mut others = 0;
    for turn in 0..MESSAGES {
        disturb(&mut bed, *other, turn)?;
        let distance = bed.below(DISTANCE.1);
        bed.station.run(distance);
        let data = bed.payload(SIZE);
        bed.station.user_tx.spans.clear();
        let message =
            Message { sid: MINE, data: data.clone(), mode: Mode::CutThrough, ..Message::default() };
        bed.station.user_tx.push(message);
        let mut first = None;
        for _ in 0..LATEST / 50 {
            bed.station.run(50);
            let before = bed.station.mac_tx.frames.len() as u64;
            let mine = bed.partner.take(&mut bed.station)?;
            others += before;
            if let Some(sent) = mine.iter().find(|sent| sent.sid == MINE) {
                if sent.segment.payload != data {
                    return Err(format!(
                        "the message left the core changed: {}",
                        sent.segment.text()
                    ));
                }
                others -= 1;
                first = Some(sent.frame.first);
                break;
            }
        }
        let first = first.ok_or("a message does not leave the core")?;
        let span = bed.station.user_tx.spans.pop().ok_or("the core did not accept a message")?;
        *histogram.entry(first - span.offered).or_insert(0) += 1;
        for sid in [MINE, 1 + (turn % u64::from(bed.partner.count() - 1)) as u16] {
            bed.partner.acknowledge(&mut bed.station, sid);
        }
        bed.station.run(DISTANCE.0);
        bed.partner.take(&mut bed.station)?;
        bed.station.user_rx.segments.clear();
    }
    Ok(Scenario {
        id: other.id().to_owned(),
        label: other.label().to_owned(),
        khz: KHZ,
        n: SIZE,
        messages: MESSAGES,
        others,
        histogram: histogram.into_iter().collect(),
        bound: other.bound(),
    })
}

/// Measures all scenarios.
///
/// # Errors
/// A message does not leave the core, or leaves it damaged.
pub fn measure() -> Result<Contention, String> {
    Ok(Contention { scenarios: jobs::run(&Other::ALL, scenario)? })
}

/// Describes the scenarios in which a message waited longer than for one frame.
#[must_use]
pub fn late(contention: &Contention) -> Vec<String> {
    let longest = |scenario: &Scenario| scenario.histogram.last().map_or(0, |(cycles, _)| *cycles);
    let late = contention.scenarios.iter().filter(|scenario| longest(scenario) > scenario.bound);
    late.map(|scenario| {
        let longest = longest(scenario);
        format!("{}: a message takes {longest} cycles, at most {}", scenario.id, scenario.bound)
    })
    .collect()
}
