//! Random errors on one link, with a check of everything it delivers.
//!
//! Both ends send packets of random lengths on several virtual channels, and broadcast messages.
//! Bits are inverted at a rate and lanes are cut meanwhile. Each received word must be the next one
//! that was sent on its channel: nothing may be lost, duplicated, altered or reordered.

use crate::fault::{FaultKind, FaultTarget, WireFault};
use crate::link::{EndEvent, Observer, Side, SimulatedLink};
use crate::spacefibre::{self, SpaceFibreConfig};
use crate::time::Ps;
use fastrand::Rng;
use spfe_link::Word;
use spfe_link::datalink::LinkBroadcast;
use std::fmt;

/// A test campaign for one link.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The link.
    pub link: SpaceFibreConfig,
    /// Probability that a bit is inverted, on every lane in both directions.
    pub bit_error_rate: f64,
    /// Alternating durations with and without bit errors. A lane that was lost at a rate of 1e-4
    /// does not come back during errors: state Started needs 1023 words without one.
    pub windows: Option<(Ps, Ps)>,
    /// Mean time between single bit errors in frames.
    pub single: Option<Ps>,
    /// Mean time between two cuts of a lane, and the longest cut.
    pub cuts: Option<(Ps, Ps)>,
    /// Mean length of the pauses between stretches of traffic.
    pub pause: Option<Ps>,
    /// Planned faults: time, sending end, fault.
    pub faults: Vec<(Ps, Side, WireFault)>,
    /// Number of virtual channels with traffic.
    pub channels: u8,
    /// Longest packet in words.
    pub longest: u32,
    /// Mean time between two broadcast messages of an end.
    pub broadcasts: Option<Ps>,
    /// Words to simulate on all lanes in both directions.
    pub words: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Result of a campaign without a failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CampaignOutcome {
    /// Simulated words.
    pub words: u64,
    /// Simulated time.
    pub time_ps: Ps,
    /// Packets received complete and unaltered.
    pub packets: u64,
    /// Data words in received packets.
    pub data_words: u64,
    /// Broadcast messages sent and received.
    pub broadcasts: (u64, u64),
    /// Times to recover, in ps, from bit errors and cuts that had an effect.
    pub recoveries: Vec<Ps>,
    /// NACKs that made an end send again.
    pub retries: u64,
    /// How often a lane left state Active.
    pub lane_losses: u64,
    /// Faults that hit a word.
    pub faults: u64,
    /// Link resets because of protocol errors. Any is a defect.
    pub link_resets: u64,
}

/// Why a campaign failed.
#[derive(Clone, Debug, PartialEq)]
pub enum CampaignFailure {
    /// The link configuration is invalid.
    Config(spacefibre::SpaceFibreConfigError),
    /// A received word is not the expected one.
    Word {
        /// Time of reception.
        at: Ps,
        /// The end that received it.
        side: Side,
        /// Virtual channel.
        channel: usize,
        /// Index of the word on its channel.
        number: u64,
        /// Received word.
        received: Word,
        /// Expected word.
        expected: Word,
    },
    /// A broadcast message arrived that was never sent, or out of order.
    Broadcast {
        /// Time of reception.
        at: Ps,
        /// The end that received it.
        side: Side,
        /// Received message.
        message: LinkBroadcast,
    },
    /// No word arrived any more.
    Stalled {
        /// Time of the last reception.
        since: Ps,
        /// States of the ends at that time.
        states: String,
    },
}

impl fmt::Display for CampaignFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Word { at, side, channel, number, received, expected } => write!(
                f,
                "at {at} ps end {side:?} received {received:?} as word {number} of virtual channel \
                 {channel}; {expected:?} was sent"
            ),
            Self::Broadcast { at, side, message } => {
                write!(f, "at {at} ps end {side:?} received {message:?}, which is not the next one")
            }
            Self::Stalled { since, states } => {
                write!(f, "nothing was received since {since} ps: {states}")
            }
        }
    }
}

impl std::error::Error for CampaignFailure {}

/// The words of a channel. Sender and checker compute the same sequence.
#[derive(Clone, Debug)]
struct Stream {
    rng: Rng,
    left: u32,
    longest: u32,
    number: u64,
    packets: u64,
}

impl Stream {
    fn new(seed: u64, longest: u32) -> Self {
        let mut rng = Rng::with_seed(seed);
        let left = rng.u32(0..longest.max(1));
        Self { rng, left, longest: longest.max(1), number: 0, packets: 0 }
    }

    fn next(&mut self) -> Word {
        self.number += 1;
        let bits = self.rng.u32(..);
        if self.left != 0 {
            self.left -= 1;
            return Word::data(bits);
        }
        self.packets += 1;
        self.left = self.rng.u32(0..self.longest);
        // 0 to 3 data characters and an EOP, sometimes an EEP.
        let end = if bits >> 28 == 0 { 0xfe } else { 0xfd };
        let [a, b, c, _] = bits.to_le_bytes();
        match bits >> 26 & 3 {
            0 => Word::from_symbols([end, 0xfb, 0xfb, 0xfb], 0xf),
            1 => Word::from_symbols([a, end, 0xfb, 0xfb], 0xe),
            2 => Word::from_symbols([a, b, end, 0xfb], 0xc),
            _ => Word::from_symbols([a, b, c, end], 0x8),
        }
    }
}

/// Counts events.
#[derive(Default)]
struct StreamTally {
    outcome: CampaignOutcome,
    trace: Vec<String>,
}

/// Number of events that are kept to describe a failure.
const TRACE: usize = 60;

impl Observer for StreamTally {
    fn event(&mut self, at: Ps, _link: u32, side: Side, event: EndEvent) {
        match event {
            EndEvent::Recovered { after_ps } => self.outcome.recoveries.push(after_ps),
            EndEvent::Fault { .. } => self.outcome.faults += 1,
            EndEvent::Retry => self.outcome.retries += 1,
            EndEvent::LaneState { state: "LossOfSignal", .. } => {
                self.outcome.lane_losses += 1;
            }
            EndEvent::Error { name: "protocol error" | "input buffer overflow" } => {
                self.outcome.link_resets += 1;
            }
            _ => {}
        }
        if self.trace.len() == TRACE {
            self.trace.remove(0);
        }
        self.trace.push(format!("{at} {side:?} {event:?}"));
    }
}

struct CampaignTraffic {
    sent: Vec<Stream>,
    received: Vec<Stream>,
    /// A word of each channel that did not fit into the output buffer.
    over: Vec<Option<Word>>,
    next_broadcast: Ps,
    /// Whether this end sends, and until when.
    sends: (bool, Ps),
    broadcasts_sent: u64,
    broadcasts_received: u64,
}

impl Campaign {
    /// A campaign with bit errors at a rate on a link of `lanes` lanes.
    pub fn new(lanes: u8, bit_error_rate: f64, words: u64, seed: u64) -> Self {
        Self {
            link: SpaceFibreConfig { seed, ..SpaceFibreConfig::new(lanes, 6250) },
            bit_error_rate,
            windows: None,
            single: None,
            cuts: None,
            pause: None,
            faults: vec![],
            channels: 4,
            longest: 1000,
            broadcasts: Some(2_000_000),
            words,
            seed,
        }
    }

    /// Runs the campaign. It calls `progress` with the number of simulated words at intervals.
    ///
    /// # Errors
    ///
    /// The first word or message that is wrong, or a link that delivers nothing any more.
    pub fn run(&self, mut progress: impl FnMut(u64)) -> Result<CampaignOutcome, CampaignFailure> {
        let mut link = spacefibre::new(&self.link).map_err(CampaignFailure::Config)?;
        let mut rng = Rng::with_seed(self.seed ^ 0x6361_6d70_6169_676e);
        let channels = usize::from(self.channels.min(self.link.channels));
        let mut traffic = Side::BOTH.map(|side| {
            let stream = |channel: usize, from: Side| {
                Stream::new(self.seed ^ (channel as u64) << 8 ^ from as u64, self.longest)
            };
            CampaignTraffic {
                sent: (0..channels).map(|channel| stream(channel, side)).collect(),
                received: (0..channels).map(|channel| stream(channel, side.other())).collect(),
                over: vec![None; channels],
                next_broadcast: 0,
                sends: (true, 0),
                broadcasts_sent: 0,
                broadcasts_received: 0,
            }
        });
        let mut tally = StreamTally::default();
        for side in Side::BOTH {
            link.set_bit_error_rate(side, None, self.bit_error_rate);
        }
        for (at, from, fault) in &self.faults {
            link.inject(*at, *from, *fault);
        }
        let step = 20 * 40_000_000 / u64::from(self.link.mbps);
        let (mut next_cut, mut next_single, mut last) = (20_000_000, 20_000_000, 0);
        let (mut now, mut errors) = (0, true);
        while link.words() < self.words {
            for side in Side::BOTH {
                let other = traffic[side.other() as usize].broadcasts_sent;
                let this = &mut traffic[side as usize];
                if self.exchange(link.as_mut(), side, now, this, other, &mut rng)? {
                    last = now;
                }
            }
            // A lane needs 10 us to come back, and a cut may last longer than that. It needs 1023
            // words in a row without an error, which takes many attempts at a rate of 1e-4.
            let attempts = if self.bit_error_rate < 1e-4 { 1 } else { 10 };
            let patience = attempts * 500_000_000 + self.cuts.map_or(0, |(_, longest)| 4 * longest);
            if now > last + patience {
                return Err(CampaignFailure::Stalled {
                    since: last,
                    states: tally.trace.join("; "),
                });
            }
            self.disturb(link.as_mut(), now, &mut next_cut, &mut next_single, &mut rng);
            if let Some((on, off)) = self.windows {
                let bad = now % (on + off) < on;
                if bad != errors {
                    errors = bad;
                    let rate = if bad { self.bit_error_rate } else { 0.0 };
                    for side in Side::BOTH {
                        link.set_bit_error_rate(side, None, rate);
                    }
                }
            }
            now += step;
            link.run(now, &mut tally);
            progress(link.words());
        }
        let mut outcome = tally.outcome;
        outcome.words = link.words();
        outcome.time_ps = now;
        for side in &traffic {
            outcome.packets += side.received.iter().map(|stream| stream.packets).sum::<u64>();
            outcome.data_words += side.received.iter().map(|stream| stream.number).sum::<u64>();
            outcome.broadcasts.0 += side.broadcasts_sent;
            outcome.broadcasts.1 += side.broadcasts_received;
        }
        Ok(outcome)
    }

    /// Applies cuts and bit errors that are due.
    fn disturb(
        &self,
        link: &mut dyn SimulatedLink,
        now: Ps,
        next_cut: &mut Ps,
        next_single: &mut Ps,
        rng: &mut Rng,
    ) {
        let mut inject = |rng: &mut Rng, target, kind| {
            let lane = Some(rng.u8(0..self.link.lanes));
            let from = if rng.bool() { Side::A } else { Side::B };
            link.inject(now, from, WireFault { lane, target, kind });
        };
        if let Some((mean, longest)) = self.cuts
            && now >= *next_cut
        {
            // From one word to the longest cut, evenly on a logarithmic scale.
            let magnitude = rng.f64() * (longest as f64 / 1e4).ln().max(0.0);
            let duration_ps = (1e4 * magnitude.exp()) as Ps;
            inject(rng, FaultTarget::Any, FaultKind::Cut { duration_ps });
            *next_cut = now + (-(1.0 - rng.f64()).ln() * mean as f64) as Ps;
        }
        if let Some(mean) = self.single
            && now >= *next_single
        {
            inject(rng, FaultTarget::Any, FaultKind::BitError);
            *next_single = now + (-(1.0 - rng.f64()).ln() * mean as f64) as Ps;
        }
    }

    /// Writes and reads as many words at an end as possible. True if it received any.
    fn exchange(
        &self,
        link: &mut dyn SimulatedLink,
        side: Side,
        now: Ps,
        this: &mut CampaignTraffic,
        sent_by_other: u64,
        rng: &mut Rng,
    ) -> Result<bool, CampaignFailure> {
        let end = link.end(side);
        let mut any = false;
        if let Some(mean) = self.pause
            && now >= this.sends.1
        {
            this.sends = (!this.sends.0, now + (-(1.0 - rng.f64()).ln() * mean as f64) as Ps);
        }
        for channel in 0..this.sent.len() {
            let mut words = [Word::default(); 64];
            loop {
                let count = end.read(channel, &mut words);
                if count == 0 {
                    break;
                }
                any = true;
                for received in words[..count].iter().copied() {
                    let stream = &mut this.received[channel];
                    let expected = stream.next();
                    if received != expected {
                        let number = stream.number - 1;
                        return Err(CampaignFailure::Word {
                            at: now,
                            side,
                            channel,
                            number,
                            received,
                            expected,
                        });
                    }
                }
            }
            while this.sends.0 && end.writable(channel) != 0 {
                let word = this.over[channel].take().unwrap_or_else(|| this.sent[channel].next());
                if end.write(channel, &[word]) == 0 {
                    this.over[channel] = Some(word);
                    break;
                }
            }
        }
        if let Some(mean) = self.broadcasts
            && now >= this.next_broadcast
        {
            let message = numbered(this.broadcasts_sent);
            if end.send_broadcast(message) {
                this.broadcasts_sent += 1;
            }
            this.next_broadcast = now + (-(1.0 - rng.f64()).ln() * mean as f64) as Ps;
        }
        while let Some(message) = end.receive_broadcast() {
            let expected = numbered(this.broadcasts_received);
            let same = (message.channel, message.kind, message.data)
                == (expected.channel, expected.kind, expected.data);
            if !same || this.broadcasts_received >= sent_by_other {
                return Err(CampaignFailure::Broadcast { at: now, side, message });
            }
            this.broadcasts_received += 1;
        }
        Ok(any)
    }
}

/// A broadcast message that contains its number.
fn numbered(number: u64) -> LinkBroadcast {
    let data = number.to_le_bytes();
    LinkBroadcast { channel: data[0], kind: data[1], data, ..LinkBroadcast::default() }
}
