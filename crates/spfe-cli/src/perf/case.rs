//! A test case: everything that both ends must know.

use super::args::{Direction, Group, RdmaOperation, SizeArgs, Step, TrafficArgs, Wait};
use super::place::Spot;
use super::setup::Setup;
use crate::address::AddressArgs;
use serde::{Deserialize, Serialize};
use spfe::{Endpoint, Lengths, LinkRate, Mode, Result, Vc};
use spfe_report::scenario;

/// Limit of the entries in use in a queue, whatever the window.
const ENTRIES_MAX: u64 = 4096;

/// Sizes of the packets of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Smallest size, bytes.
    pub min: u32,
    /// Largest size, bytes.
    pub max: u32,
    /// Seed of the random sequence; unused if the sizes are equal.
    pub seed: u64,
}

impl Sizes {
    /// Packets of one size.
    pub fn fixed(bytes: u64) -> Self {
        Self { min: bytes as u32, max: bytes as u32, seed: 1 }
    }

    /// Whether all packets have one size.
    pub fn is_fixed(self) -> bool {
        self.min == self.max
    }

    /// Expected mean size, bytes.
    pub fn mean(self) -> u64 {
        (u64::from(self.min) + u64::from(self.max)).div_ceil(2)
    }

    /// The sequence of sizes, which is the same at both ends.
    pub fn lengths(self) -> Lengths {
        Lengths::new(self.min, self.max, self.seed)
    }
}

/// Kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Operations on the memory of a target-only endpoint.
    Rdma(RdmaOperation),
    /// Packets in one or both directions.
    Stream(Direction),
    /// Single packets to the far end and back.
    RoundTrip,
    /// Single packets out of one end and in at the other, in one thread.
    Loop,
    /// Single messages out of one end and in at the other, in one thread.
    Message(Message),
}

/// Messages of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Time-codes of a SpaceWire link instead of broadcast messages of a SpaceFibre link.
    pub time_code: bool,
    /// Another thread keeps the link busy with data.
    pub data: bool,
}

impl Message {
    /// The port that has such messages: in every pair of endpoints, port 0 is a SpaceFibre port and
    /// port 1 a SpaceWire port.
    pub fn port(self) -> u32 {
        u32::from(self.time_code)
    }

    /// Name of the scenario.
    pub fn scenario(self) -> &'static str {
        match (self.time_code, self.data) {
            (false, false) => scenario::BROADCAST_IDLE,
            (false, true) => scenario::BROADCAST_DATA,
            (true, false) => scenario::TIME_CODE_IDLE,
            (true, true) => scenario::TIME_CODE_DATA,
        }
    }

    /// Data bytes of a message.
    pub fn bytes(self) -> u64 {
        if self.time_code { 1 } else { 8 }
    }
}

/// One test case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Name of the scenario in the results.
    pub scenario: String,
    /// Kind of traffic.
    pub kind: Kind,
    /// Sizes of the packets.
    pub sizes: Sizes,
    /// Packets per operation.
    pub group: u32,
    /// Most groups that are submitted before the first of them has completed; `None`: as many as the
    /// transmit buffers hold if that saves time, otherwise 1.
    pub under_way: Option<u32>,
    /// Post each group as one burst entry.
    pub burst: bool,
    /// Receive when this percentage of the buffers is full, or this long after the first packet (us).
    pub threshold: Option<(u32, u64)>,
    /// Receive into a packed area instead of one buffer for each packet.
    pub packed: bool,
    /// How both ends wait.
    pub wait: Wait,
    /// Size of the transmit buffers, bytes.
    pub tx_window: u64,
    /// Size of the receive buffers, bytes.
    pub rx_window: u64,
    /// Write and verify contents.
    pub check: bool,
    /// Where the end that runs the case sends and receives.
    pub here: Spot,
    /// Where the other end does.
    pub there: Spot,
    /// Path address in front of every packet, in addition to its size. Routers delete it.
    pub path: Vec<u8>,
    /// Logical address that every packet begins with.
    pub logical: Option<u8>,
    /// The engine runs in the sending thread on an unlimited link, so posting completes a packet.
    pub immediate: bool,
    /// Both ends copy, so that a part of a group may take longer than posting.
    pub shared: bool,
    /// Length of an iteration, seconds.
    pub seconds: f64,
    /// Packets or messages of an iteration, instead of its length.
    pub count: Option<u64>,
    /// Read a packet before it is answered.
    pub read: bool,
    /// Receive short packets beside their completions.
    pub beside: bool,
}

impl Case {
    /// A stream as the command line describes it.
    pub fn new(scenario: &str, sizes: Sizes, traffic: &TrafficArgs, wait: Wait) -> Self {
        let (tx_window, rx_window) = traffic.window.unwrap_or(DEFAULT_WINDOWS);
        Self {
            scenario: scenario.to_owned(),
            kind: Kind::Stream(traffic.direction),
            sizes,
            group: traffic.group.of(sizes.mean()),
            under_way: traffic.under_way,
            burst: traffic.burst,
            threshold: traffic
                .threshold
                .map(|percent| (percent, traffic.timeout.as_micros() as u64)),
            packed: traffic.packed,
            wait,
            tx_window,
            rx_window,
            check: traffic.check,
            here: Spot::default(),
            there: Spot::default(),
            path: traffic.address.path.clone(),
            logical: traffic.address.logical,
            immediate: false,
            shared: false,
            seconds: 1.0,
            count: traffic.packets,
            read: false,
            beside: false,
        }
    }

    /// A round trip of single packets.
    pub fn round_trip(sizes: Sizes, check: bool, wait: Wait) -> Self {
        Self::one_at_a_time(scenario::LATENCY, Kind::RoundTrip, sizes, wait, check)
    }

    /// Single packets in a loop.
    pub fn looped(sizes: Sizes, check: bool, wait: Wait) -> Self {
        Self::one_at_a_time(scenario::LATENCY_LOOP, Kind::Loop, sizes, wait, check)
    }

    /// Operations on remote memory: groups of them, so many at a time.
    pub fn rdma(
        name: &str,
        operation: RdmaOperation,
        bytes: u64,
        group: u32,
        under_way: u32,
        wait: Wait,
    ) -> Self {
        let sizes = Sizes::fixed(bytes);
        let case = Self::one_at_a_time(name, Kind::Rdma(operation), sizes, wait, false);
        Self { group, under_way: Some(under_way), ..case }
    }

    /// Messages in a loop. Their contents are always verified.
    pub fn message(message: Message, wait: Wait) -> Self {
        let sizes = Sizes::fixed(message.bytes());
        Self::one_at_a_time(message.scenario(), Kind::Message(message), sizes, wait, true)
    }

    fn one_at_a_time(name: &str, kind: Kind, sizes: Sizes, wait: Wait, check: bool) -> Self {
        Self {
            scenario: name.to_owned(),
            kind,
            sizes,
            group: 1,
            under_way: None,
            burst: false,
            threshold: None,
            packed: false,
            wait,
            tx_window: 0,
            rx_window: 0,
            check,
            here: Spot::default(),
            there: Spot::default(),
            path: Vec::new(),
            logical: None,
            immediate: false,
            shared: false,
            seconds: 1.0,
            count: None,
            read: false,
            beside: false,
        }
    }

    /// Adapts the case to a network and sets the length of an iteration.
    pub fn on(mut self, setup: &Setup, seconds: f64) -> Self {
        self.immediate = setup.mode != Mode::Thread && setup.link == LinkRate::Unlimited;
        self.shared = self.immediate && setup.mode != Mode::Inline;
        (self.here, self.there) = setup.spots();
        self.seconds = seconds;
        self
    }

    /// The case as the far end runs it.
    pub fn seen_from_far(&self) -> Self {
        Self { here: self.there, there: self.here, ..self.clone() }
    }

    /// The virtual channel of the end that runs the case.
    pub fn channel(&self, endpoint: &Endpoint) -> Result<Vc> {
        endpoint.port(self.here.port)?.vc(self.here.vc)
    }

    /// Whether the time of an engine in the measured threads is measured. Not for messages, and not
    /// for single packets between threads that poll: reading the clock twice for each of them would
    /// be part of their latency, and such threads are busy all the time anyway.
    pub fn measures_engine(&self) -> bool {
        match self.kind {
            Kind::RoundTrip | Kind::Loop => self.wait != Wait::Poll,
            Kind::Message(_) => false,
            Kind::Rdma(_) | Kind::Stream(_) => true,
        }
    }

    /// What every packet begins with.
    pub fn address(&self) -> Vec<u8> {
        self.path.iter().copied().chain(self.logical).collect()
    }

    /// Whether a group is sent before the previous one has completed, if nothing else was asked for.
    /// Single packets never are.
    fn ahead(&self) -> bool {
        self.group > 1 && (!self.immediate || self.shared)
    }

    /// Number of groups that the transmit buffers hold: the window, but at least one, or two if groups
    /// are sent ahead.
    pub fn tx_groups(&self) -> usize {
        let group = u64::from(self.sizes.max) * u64::from(self.group);
        let most = (ENTRIES_MAX / u64::from(self.group)).max(1);
        let least = self.under_way.map_or(1 + u64::from(self.ahead()), u64::from);
        (self.tx_window / group).clamp(least, most.max(least)) as usize
    }

    /// Most groups under way at a time.
    pub fn most_under_way(&self) -> u32 {
        let usual = || if self.ahead() { self.tx_groups() as u32 } else { 1 };
        self.under_way.unwrap_or_else(usual)
    }

    /// Number of receive buffers: the window, but at least two groups, so that one is filled while
    /// the other is handled. If neither end sleeps, a group need not fit: staying in the cache is
    /// worth more.
    pub fn rx_buffers(&self) -> usize {
        let awake = self.immediate && self.wait != Wait::Block;
        let least = if awake { 4 } else { (2 * u64::from(self.group)).max(4) };
        (self.rx_window / u64::from(self.sizes.max)).clamp(least, ENTRIES_MAX.max(least)) as usize
    }

    /// Whether the near end sends, and whether it receives.
    pub fn near(&self) -> (bool, bool) {
        match self.kind {
            Kind::Stream(Direction::Tx) => (true, false),
            Kind::Stream(Direction::Rx) => (false, true),
            Kind::Stream(Direction::Both)
            | Kind::RoundTrip
            | Kind::Loop
            | Kind::Message(_)
            | Kind::Rdma(_) => (true, true),
        }
    }

    /// Refuses options that contradict each other.
    pub fn check(&self) -> Result<()> {
        let random = !self.sizes.is_fixed();
        let entries = u64::from(self.group) * u64::from(self.under_way.unwrap_or(1));
        let bytes = entries * u64::from(self.sizes.max);
        let what = if self.burst && random {
            "--burst: all packets of a burst have one size; use equal sizes".to_owned()
        } else if self.sizes.min > self.sizes.max {
            "--size-min is larger than --size-max".to_owned()
        } else if self.logical.is_some() && self.check {
            "--logical: the address is the first byte of the contents, which --check verifies"
                .to_owned()
        } else if entries > SLOTS_MAX {
            format!(
                "--under-way: {} groups of {} packets are more than the {SLOTS_MAX} of a queue",
                self.under_way.unwrap_or(1),
                self.group
            )
        } else if bytes > UNDER_WAY_BYTES_MAX {
            format!(
                "--under-way: {} groups of {} packets of {} bytes are more than {} MiB",
                self.under_way.unwrap_or(1),
                self.group,
                self.sizes.max,
                UNDER_WAY_BYTES_MAX >> 20
            )
        } else {
            return Ok(());
        };
        Err(spfe::Error::device(spfe::Status::BadField, what))
    }
}

/// Most packets that a transmit queue holds.
const SLOTS_MAX: u64 = 32768;
/// Most bytes under way that a user can ask for.
const UNDER_WAY_BYTES_MAX: u64 = 1 << 30;

/// Default transmit and receive windows, bytes: together they fit a second-level cache.
const DEFAULT_WINDOWS: (u64, u64) = (512 << 10, 512 << 10);

/// The sizes of `args` from the smallest to the largest; `least` and `most` are the defaults.
pub fn sizes(args: &SizeArgs, least: u64, most: u64) -> Result<Vec<u64>> {
    if let Some(size) = args.size {
        return Ok(vec![size]);
    }
    // A single given limit may lie outside the default range.
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

/// Traffic of the published scenarios: the next operation is submitted when the one before has
/// completed.
pub fn published(direction: Direction, group: Group, window: (u64, u64)) -> TrafficArgs {
    TrafficArgs {
        direction,
        group,
        under_way: Some(1),
        burst: false,
        packed: false,
        threshold: None,
        timeout: std::time::Duration::from_micros(100),
        window: Some(window),
        check: false,
        packets: None,
        address: AddressArgs::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(min: Option<u64>, max: Option<u64>, step: Step) -> Result<Vec<u64>> {
        sizes(&SizeArgs { size: None, size_min: min, size_max: max, step }, 1024, 4096)
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
        let window = (1 << 20, 1 << 20);
        let traffic =
            TrafficArgs { under_way: None, ..published(Direction::Tx, Group::Of(group), window) };
        Case::new("x", Sizes::fixed(size), &traffic, Wait::Poll)
    }

    #[test]
    fn windows_hold_outstanding_groups_and_two_to_receive() {
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
        assert_eq!(case(1024, 128).most_under_way(), 8);
        assert_eq!(case(1024, 1).most_under_way(), 1);
        let inline = Case { immediate: true, ..case(1024, 128) };
        assert_eq!(inline.most_under_way(), 1);
        assert_eq!(Case { shared: true, ..inline }.most_under_way(), 8);
    }

    #[test]
    fn as_many_groups_are_under_way_as_asked_for() {
        let asked = |count, case| Case { under_way: Some(count), ..case };
        for (count, case) in [(1, case(1024, 128)), (3, case(262_144, 4)), (5, case(64, 1))] {
            let case = asked(count, case);
            assert_eq!(case.most_under_way(), count);
            assert!(case.tx_groups() >= count as usize, "{} buffers", case.tx_groups());
            case.check().unwrap();
        }
        // The published experiment has one buffer of 1 MiB.
        assert_eq!(asked(1, case(262_144, 4)).tx_groups(), 1);
        let error = asked(1024, case(64, 128)).check().unwrap_err().to_string();
        assert!(error.contains("1024 groups of 128 packets"), "{error}");
        let error = asked(1024, case(1 << 20, 2)).check().unwrap_err().to_string();
        assert!(error.contains("more than 1024 MiB"), "{error}");
    }
}
