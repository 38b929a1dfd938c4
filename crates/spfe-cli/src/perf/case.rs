//! One test case: everything both ends have to know of it.

use super::args::{Direction, Group, SizeArgs, Step, TrafficArgs, Wait};
use super::setup::Setup;
use serde::{Deserialize, Serialize};
use spfe::{Lengths, LinkRate, Mode, Result};

/// Most entries of a queue that are used, whatever the window.
const ENTRIES_MAX: u64 = 4096;

/// Sizes of the packets of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Smallest, bytes.
    pub min: u32,
    /// Largest, bytes.
    pub max: u32,
    /// Seed, where they differ.
    pub seed: u64,
}

impl Sizes {
    /// All the same.
    pub fn fixed(bytes: u64) -> Self {
        Self { min: bytes as u32, max: bytes as u32, seed: 1 }
    }

    /// Whether all are the same.
    pub fn is_fixed(self) -> bool {
        self.min == self.max
    }

    /// The mean of many, bytes.
    pub fn mean(self) -> u64 {
        (u64::from(self.min) + u64::from(self.max)).div_ceil(2)
    }

    /// One size after the other, the same at both ends.
    pub fn lengths(self) -> Lengths {
        Lengths::new(self.min, self.max, self.seed)
    }
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Packets in one or both directions.
    Stream(Direction),
    /// One out, one back.
    RoundTrip,
}

/// One test case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name in the results.
    pub scenario: String,
    /// What is sent.
    pub kind: Kind,
    /// How long the packets are.
    pub sizes: Sizes,
    /// Packets per operation.
    pub group: u32,
    /// One entry per group.
    pub burst: bool,
    /// Receive when this share of the buffers (%) is full, or this long after the first packet (us).
    pub threshold: Option<(u32, u64)>,
    /// Packets back to back in one area instead of a buffer each.
    pub packed: bool,
    /// How both ends wait.
    pub wait: Wait,
    /// Bytes of buffers to send from.
    pub tx_window: u64,
    /// Bytes of buffers to receive into.
    pub rx_window: u64,
    /// Write and verify contents.
    pub check: bool,
    /// The engine in the sending thread moves a packet at once: nothing is ever under way.
    pub immediate: bool,
    /// Length of an iteration.
    pub seconds: f64,
}

impl Case {
    /// A case as the command line describes it.
    pub fn new(scenario: &str, sizes: Sizes, traffic: &TrafficArgs, wait: Wait) -> Self {
        let (tx_window, rx_window) = traffic.window.unwrap_or(USUAL_WINDOWS);
        Self {
            scenario: scenario.to_owned(),
            kind: Kind::Stream(traffic.direction),
            sizes,
            group: traffic.group.of(sizes.mean()),
            burst: traffic.burst,
            threshold: traffic.threshold.map(|percent| (percent, traffic.timeout)),
            packed: traffic.packed,
            wait,
            tx_window,
            rx_window,
            check: traffic.check,
            immediate: false,
            seconds: 1.0,
        }
    }

    /// A round trip of single packets.
    pub fn round_trip(sizes: Sizes, check: bool, wait: Wait) -> Self {
        Self {
            scenario: spfe_report::scenario::LATENCY.to_owned(),
            kind: Kind::RoundTrip,
            sizes,
            group: 1,
            burst: false,
            threshold: None,
            packed: false,
            wait,
            tx_window: 0,
            rx_window: 0,
            check,
            immediate: false,
            seconds: 1.0,
        }
    }

    /// On this network, this long.
    pub fn on(mut self, setup: &Setup, seconds: f64) -> Self {
        let in_sender = matches!(setup.mode, Mode::Inline | Mode::Coop);
        self.immediate = in_sender && setup.link == LinkRate::Unlimited;
        self.seconds = seconds;
        self
    }

    /// Whether the next group is sent before the last one has completed. Single packets are not.
    pub fn ahead(&self) -> bool {
        self.group > 1 && !self.immediate
    }

    /// Groups of buffers to send from: what the window holds, at least one, or two to be ahead.
    pub fn tx_groups(&self) -> usize {
        let group = u64::from(self.sizes.max) * u64::from(self.group);
        let most = (ENTRIES_MAX / u64::from(self.group)).max(1);
        let least = 1 + u64::from(self.ahead());
        (self.tx_window / group).clamp(least, most.max(least)) as usize
    }

    /// Buffers to receive into: what the window holds, but two groups at least, so that one is
    /// filled while the other is being handled. Where both ends run all the time a group need not
    /// fit: memory that stays in the cache is worth more.
    pub fn rx_buffers(&self) -> usize {
        let awake = self.immediate && self.wait != Wait::Block;
        let least = if awake { 4 } else { (2 * u64::from(self.group)).max(4) };
        (self.rx_window / u64::from(self.sizes.max)).clamp(least, ENTRIES_MAX.max(least)) as usize
    }

    /// Whether the near end sends packets, and whether it receives some.
    pub fn near(&self) -> (bool, bool) {
        match self.kind {
            Kind::Stream(Direction::Tx) => (true, false),
            Kind::Stream(Direction::Rx) => (false, true),
            Kind::Stream(Direction::Both) | Kind::RoundTrip => (true, true),
        }
    }

    /// Refuses what does not go together.
    pub fn check(&self) -> Result<()> {
        let random = !self.sizes.is_fixed();
        let what = if self.burst && random {
            "--burst: the packets of a burst have one size"
        } else if self.sizes.min > self.sizes.max {
            "--size-min is larger than --size-max"
        } else {
            return Ok(());
        };
        Err(spfe::Error::device(spfe::Status::BadField, what))
    }
}

/// Bytes of buffers to send from and to receive into unless said otherwise: they share the
/// second-level cache of one processor.
const USUAL_WINDOWS: (u64, u64) = (512 << 10, 512 << 10);

/// The sizes from the smallest to the largest.
pub fn sizes(args: &SizeArgs, least: u64, most: u64) -> Result<Vec<u64>> {
    // One of them alone may lie outside the usual range.
    let most = args.size_max.unwrap_or(most.max(args.size_min.unwrap_or(0)));
    let least = args.size_min.unwrap_or(least.min(most));
    if least > most {
        let what = format!("--size-min {least} is larger than --size-max {most}");
        return Err(spfe::Error::device(spfe::Status::BadField, what));
    }
    let next = |size: &u64| match args.step {
        Step::Times(by) => size.checked_mul(by),
        Step::Plus(by) => size.checked_add(by),
    };
    Ok(std::iter::successors(Some(least), next).take_while(|size| *size <= most).collect())
}

/// Traffic of the published scenarios.
pub fn published(direction: Direction, group: Group) -> TrafficArgs {
    TrafficArgs {
        direction,
        group,
        burst: false,
        packed: false,
        threshold: None,
        timeout: 100,
        window: Some((1 << 20, 1 << 20)),
        check: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: Option<u64>, max: Option<u64>, step: Step) -> Result<Vec<u64>> {
        sizes(&SizeArgs { size_min: min, size_max: max, step }, 1024, 4096)
    }

    #[test]
    fn sizes_go_from_the_smallest_to_the_largest() {
        assert_eq!(range(None, None, Step::Times(2)).unwrap(), [1024, 2048, 4096]);
        assert_eq!(range(Some(10), Some(35), Step::Plus(10)).unwrap(), [10, 20, 30]);
        assert_eq!(range(Some(8192), None, Step::Times(2)).unwrap(), [8192]);
        assert_eq!(range(None, Some(64), Step::Times(2)).unwrap(), [64]);
        let error = range(Some(2), Some(1), Step::Times(2)).unwrap_err().to_string();
        assert!(error.contains("--size-min 2"), "{error}");
    }

    #[test]
    fn a_seed_repeats_its_sizes_and_another_does_not() {
        let draw = |seed| {
            let mut lengths = Sizes { min: 64, max: 9000, seed }.lengths();
            std::iter::repeat_with(|| lengths.next_length()).take(1000).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    fn case(size: u64, group: u32) -> Case {
        let traffic = published(Direction::Tx, Group::Of(group));
        Case::new("x", Sizes::fixed(size), &traffic, Wait::Poll)
    }

    #[test]
    fn windows_hold_the_groups_under_way_and_two_to_receive() {
        let room = |case: Case| (case.tx_groups(), case.rx_buffers());
        assert_eq!(room(case(1024, 128)), (8, 1024));
        assert_eq!(room(case(262_144, 4)), (2, 8));
        assert_eq!(room(Case { immediate: true, ..case(262_144, 4) }), (1, 4));
        let asleep = Case { wait: Wait::Block, ..case(262_144, 4) };
        assert_eq!(room(Case { immediate: true, ..asleep }), (1, 8));
        assert_eq!(room(case(64, 1)), (4096, 4096));
        assert_eq!(room(case(64, 16384)), (2, 32768));
    }

    #[test]
    fn only_groups_that_take_time_are_sent_ahead() {
        assert!(case(1024, 128).ahead());
        assert!(!case(1024, 1).ahead());
        assert!(!Case { immediate: true, ..case(1024, 128) }.ahead());
    }
}
