//! Quality of service of virtual channels (ECSS-E-ST-50-11C 5.7.4): configured and measured shares.
//!
//! `link_qos` joins two data link layers row by row. Every channel is saturated unless stated. All
//! figures count rows, so they are the same on every machine. The exit code is 1 if a figure is out
//! of its bounds.

use spfe_link::control::ControlWord;
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, DataLinkConfigError};
use spfe_link::qos::{QosLimits, QosParameters};
use spfe_link::{ReceivedRow, Row, Word};
use std::process::ExitCode;

/// Rows before the measurement, until the bandwidth credits have settled.
const WARM_UP: u64 = 200_000;
/// Rows of the measurement.
const ROWS: u64 = 300_000;
/// Percent of the rows of a saturated link that carry segments. One row in 67 is the ACK of an FCT.
const AVAILABLE: f64 = 6600.0 / 67.0;
/// Largest deviation of a share from its configuration, percent.
const TOLERANCE: f64 = 0.01;

/// Both ends of a link with rows of `L` words and `V` virtual channels.
struct Line<const L: usize, const V: usize> {
    ends: [DataLink<Vec<Word>, L, V>; 2],
    /// Channels that are saturated, one bit each.
    loud: u32,
    /// Words received on each channel.
    words: [u64; V],
    /// Data frames of each channel that began in the current time-slot.
    frames: [u64; V],
    rows: u64,
}

fn received<const L: usize>(row: Row<L>) -> ReceivedRow<L> {
    match row {
        Row::Control(word) => ReceivedRow::Control { word, crc16_good: true },
        Row::Data { words, count } => ReceivedRow::Data { words, count },
    }
}

impl<const L: usize, const V: usize> Line<L, V> {
    fn new(channels: [QosParameters; V]) -> Result<Self, DataLinkConfigError> {
        let words = |count: usize| vec![Word::default(); (count * L).next_power_of_two()];
        let end = || {
            let buffers = Buffers {
                output: std::array::from_fn(|_| words(256)),
                input: std::array::from_fn(|_| words(512)),
                recovery: words(1024),
            };
            let config = DataLinkConfig {
                fct_multiplier: L.min(8) as u8,
                segment_multiplier: L as u8,
                ..DataLinkConfig::default()
            };
            let mut end = DataLink::new(config, buffers)?;
            for (vc, parameters) in channels.into_iter().enumerate() {
                end.set_qos_parameters(vc, parameters);
            }
            // The link reset also resets the far end.
            for _ in 0..3 {
                end.transmit(0);
                end.take_lane_reset();
            }
            end.far_end_capability(0, 1, false);
            Ok(end)
        };
        Ok(Self { ends: [end()?, end()?], loud: 0, words: [0; V], frames: [0; V], rows: 0 })
    }

    fn step(&mut self) {
        let [from, to] = &mut self.ends;
        for vc in 0..V {
            if self.loud >> vc & 1 != 0 {
                while from.write(vc, &[Word::data(0); 64]) == 64 {}
            }
        }
        let (there, back) = (from.transmit(L), to.transmit(L));
        if let Some(Row::Control(word)) = there
            && let Some(ControlWord::Sdf { vc }) = ControlWord::decode(word)
            && let Some(count) = self.frames.get_mut(usize::from(vc))
        {
            *count += 1;
        }
        for (row, end) in [(there, &mut *to), (back, from)] {
            if let Some(row) = row {
                end.receive(received(row));
            }
        }
        let mut words = [Word::default(); 256];
        for (vc, count) in self.words.iter_mut().enumerate() {
            *count += to.read(vc, &mut words) as u64;
        }
        self.rows += 1;
    }

    /// Runs with some channels saturated. Returns the words of each channel during the measurement.
    fn saturate(&mut self, loud: u32) -> [u64; V] {
        self.loud = loud;
        (0..WARM_UP).for_each(|_| self.step());
        self.words = [0; V];
        (0..ROWS).for_each(|_| self.step());
        self.words
    }

    /// Percent of the rows that segments of this many words take, with SDF and EDF.
    fn of_rows(words: u64) -> f64 {
        words as f64 / L as f64 * 66.0 / 64.0 / ROWS as f64
    }

    fn over_use(&self) -> u32 {
        self.ends[0].qos().status().bandwidth_over_use
    }
}

/// A channel with a share in percent.
fn channel(priority: u8, percent: f64) -> QosParameters {
    let expected_bandwidth = (percent * 655.36).round().min(65535.0) as u16;
    QosParameters { priority, expected_bandwidth, time_slots: u64::MAX }
}

const fn verdict(good: bool) -> &'static str {
    if good { "ok" } else { "OUT OF BOUNDS" }
}

/// All channels are saturated. The configured shares add up to what the link has beside FCTs and
/// ACKs, or to less: then each channel gets at least its share and some get more.
fn shares<const L: usize, const V: usize>(percents: [f64; V]) -> Result<bool, DataLinkConfigError> {
    let mut line = Line::<L, V>::new(percents.map(|percent| channel(3, percent)))?;
    let words = line.saturate(u32::MAX);
    let sum: f64 = percents.iter().sum();
    let full = sum >= AVAILABLE - 0.01;
    let mut good = true;
    println!("\nshares: lanes {L}, {sum} % configured, all channels saturated");
    println!("VC\tconfigured\tmeasured\toff");
    for (vc, (percent, words)) in percents.into_iter().zip(words).enumerate() {
        let measured = Line::<L, V>::of_rows(words) * 100.0;
        let off = measured / percent - 1.0;
        let kept = off > -TOLERANCE && (off < TOLERANCE || !full);
        good &= kept;
        println!("{vc}\t{percent:.2} %\t{measured:.2} %\t{:+.2} %\t{}", off * 100.0, verdict(kept));
    }
    Ok(good)
}

/// Each channel may use the whole link. The one of highest priority that has something to send gets
/// it.
fn priority() -> Result<bool, DataLinkConfigError> {
    println!("\nstrict priority: shares of 100 %\nsaturated\thigh\tmiddle\tlow");
    let mut good = true;
    for (loud, first, name) in [
        (0b111, 0, "all"),
        (0b110, 1, "middle and low"),
        (0b100, 2, "low"),
        (0b101, 0, "high and low"),
    ] {
        let mut line = Line::<1, 3>::new([0, 1, 2].map(|level| channel(level, 100.0)))?;
        let words = line.saturate(loud);
        let [high, middle, low] = words.map(|words| Line::<1, 3>::of_rows(words) * 100.0);
        let all: u64 = words.iter().sum();
        let kept = words.get(first).is_some_and(|words| *words == all && all > 0);
        good &= kept;
        println!("{name}\t{high:.2} %\t{middle:.2} %\t{low:.2} %\t{}", verdict(kept));
    }
    Ok(good)
}

/// Four saturated channels take turns. No frame may begin in a time-slot of another channel.
fn slots() -> Result<bool, DataLinkConfigError> {
    const LENGTH: u64 = 500;
    const ROUNDS: u64 = 20;
    let turns = |vc: usize| (0..64).filter(|slot| slot % 4 == vc).map(|slot| 1u64 << slot).sum();
    let channels =
        std::array::from_fn(|vc| QosParameters { time_slots: turns(vc), ..channel(3, 25.0) });
    let mut line = Line::<1, 4>::new(channels)?;
    line.loud = u32::MAX;
    let (mut frames, mut wrong) = ([0; 4], 0);
    for number in 0..64 * ROUNDS {
        line.ends[0].schedule((number % 64) as u8);
        line.frames = [0; 4];
        (0..LENGTH).for_each(|_| line.step());
        for (vc, (count, sum)) in line.frames.into_iter().zip(&mut frames).enumerate() {
            *sum += count;
            wrong += if vc as u64 == number % 4 { 0 } else { count };
        }
    }
    println!(
        "\ntime-slots: {} slots of {LENGTH} rows, four channels in turn\nVC\tframes",
        64 * ROUNDS
    );
    for (vc, count) in frames.into_iter().enumerate() {
        println!("{vc}\t{count}");
    }
    let good = wrong == 0 && frames.iter().all(|count| *count > 1000);
    println!("begun in a time-slot of another channel\t{wrong}\t{}", verdict(good));
    Ok(good)
}

/// One channel is saturated, starting with balanced credit and with full credit.
fn over_use() -> Result<bool, DataLinkConfigError> {
    let limit = u64::from(QosLimits::default().bandwidth_credit_limit);
    println!("\nover-use: rows until it is flagged; a credit period has {limit}");
    println!("configured\tcredit 0\tcredit full");
    let mut good = true;
    for percent in [5.0, 10.0, 25.0, 50.0] {
        let flagged = |quiet: u64| {
            let mut line = Line::<1, 2>::new([channel(0, percent), channel(1, 10.0)])?;
            (0..quiet).for_each(|_| line.step());
            line.loud = 1;
            let start = line.rows;
            while line.over_use() & 1 == 0 && line.rows - start < 10 * limit {
                line.step();
            }
            Ok(line.rows - start)
        };
        let (balanced, full) = (flagged(0)?, flagged(2 * limit)?);
        let kept = balanced <= limit;
        good &= kept;
        println!("{percent} %\t{balanced}\t{full}\t{}", verdict(kept));
    }
    Ok(good)
}

/// A channel of the highest priority with a share of 10 % is saturated (a babbling channel).
fn babbler() -> Result<bool, DataLinkConfigError> {
    let percents = [50.0, 30.0, 10.0];
    let mut run = [0b011, 0b111].into_iter().map(|loud| {
        let mut line = Line::<1, 3>::new([channel(1, 50.0), channel(1, 30.0), channel(0, 10.0)])?;
        let words = line.saturate(loud);
        Ok((words.map(|words| Line::<1, 3>::of_rows(words) * 100.0), line.over_use()))
    });
    let (Some(quiet), Some(loud)) = (run.next(), run.next()) else { return Ok(false) };
    let ((quiet, _), (loud, flags)) = (quiet?, loud?);
    println!("\nbabbling: VC 2 has the highest priority and is saturated");
    println!("VC\tconfigured\tquiet\tbabbling\tover-use");
    let mut good = flags & 0b100 != 0;
    for (vc, ((percent, quiet), loud)) in percents.into_iter().zip(quiet).zip(loud).enumerate() {
        let kept = vc == 2 || loud >= percent * (1.0 - TOLERANCE);
        good &= kept;
        let flag = if flags >> vc & 1 != 0 { "flagged" } else { "-" };
        println!("{vc}\t{percent} %\t{quiet:.2} %\t{loud:.2} %\t{flag}\t{}", verdict(kept));
    }
    Ok(good)
}

fn main() -> Result<ExitCode, DataLinkConfigError> {
    let all = [
        shares::<1, 4>([50.0, 25.0, 15.0, 8.5])?,
        shares::<4, 8>([30.0, 20.0, 15.0, 10.0, 8.5, 7.0, 5.0, 3.0])?,
        shares::<1, 4>([40.0, 20.0, 10.0, 5.0])?,
        priority()?,
        slots()?,
        over_use()?,
        babbler()?,
    ];
    Ok(if all.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
