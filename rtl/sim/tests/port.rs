//! A whole port of the core, at full speed, with a port of the model as its far end: words of every
//! channel and broadcast messages arrive once and in order, in both directions, whatever happens on
//! the cable short of a link reset. With several lanes these have skew, are cut one by one and come
//! back.

use std::collections::VecDeque;

use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, DataLinkParameters, LinkBroadcast};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::qos::QosParameters;
use spfe_link::word::k;
use spfe_link::{SpaceFibrePort, Word};
use spfe_rtl_sim::{Core, Packer, Unpacker, damage, link, once_in, seeds};

const CHANNELS: usize = 4;
/// Words that each end sends on each channel and lane: whole packets.
const WORDS: u32 = 37 * 216;
const MOST_CYCLES: u64 = 400_000;

/// Width of `link_event_t`, and the bits of it that a test looks at.
const EVENTS: usize = 28;
const PROTOCOL_ERROR: usize = 22;
const INPUT_OVERFLOW: usize = 21;
const RECOVERY: usize = 19;

type Port<const L: usize> = SpaceFibrePort<Vec<Word>, L, CHANNELS>;

fn model<const L: usize>() -> Port<L> {
    let memory = || vec![Word::default(); 512 * L.next_power_of_two()];
    let buffers = Buffers {
        output: std::array::from_fn(|_| memory()),
        input: std::array::from_fn(|_| memory()),
        recovery: memory(),
    };
    let config = DataLinkConfig {
        fct_multiplier: L as u8,
        segment_multiplier: L as u8,
        multi_lane_capable: L > 1,
        ..DataLinkConfig::default()
    };
    let link = DataLink::new(config, buffers).expect("is valid");
    SpaceFibrePort::new_starting(link, MultiLane::new(&MultiLaneConfig::new()))
}

/// What one end sends on a channel, and what the other has received of it.
#[derive(Clone, Copy, Default)]
struct Stream {
    written: u32,
    read: u32,
}

/// Word `number` of a channel of an end: mostly data, sometimes the end of a packet.
fn stream_word(end: usize, vc: usize, number: u32) -> Word {
    let data = (end as u32) << 31 | (vc as u32) << 24 | number;
    match number % 37 {
        36 => Word::from_symbols([data as u8, k::EOP, k::FILL, k::FILL], 0b1110),
        _ => Word::data(data),
    }
}

fn message(end: usize, number: u32) -> LinkBroadcast {
    LinkBroadcast {
        channel: end as u8,
        kind: number as u8,
        data: (u64::from(number) << 32 | u64::from(!number)).to_le_bytes(),
        ..LinkBroadcast::default()
    }
}

struct Outputs<const L: usize> {
    line: [Option<Word>; L],
    broadcast: Option<LinkBroadcast>,
    broadcast_ready: bool,
    rx: [Vec<Word>; CHANNELS],
    tx_ready: [bool; CHANNELS],
    /// Data-sending lanes.
    sending: u32,
    bypass: bool,
    events: u64,
    initialised: bool,
}

/// Words that each end sends on a channel.
const fn words(lanes: usize, mode: Mode) -> u32 {
    let share = if matches!(mode, Mode::Rate { .. }) { lanes } else { lanes.div_ceil(2) };
    WORDS * share as u32
}

/// Bits of a number of words in a row.
const fn count_bits(lanes: usize) -> usize {
    (usize::BITS - lanes.leading_zeros()) as usize
}

fn unpack<const L: usize>(words: &[u32]) -> Outputs<L> {
    let mut bits = Unpacker::new(words);
    let _invert_and_receive = bits.get(2 * L);
    let line_on: [bool; L] = std::array::from_fn(|_| bits.flag());
    let line = line_on.map(|on| {
        let word = bits.word();
        on.then_some(word)
    });
    let valid = bits.flag();
    let (message, _) = link::get_broadcast(&mut bits);
    let broadcast_ready = bits.flag();
    let counts: [usize; CHANNELS] = std::array::from_fn(|_| bits.get(count_bits(L)) as usize);
    let rx = counts.map(|count| {
        let words: [Word; L] = std::array::from_fn(|_| bits.word());
        words[..count].to_vec()
    });
    let tx_ready = std::array::from_fn(|_| bits.flag());
    let _vc_status = bits.get(5 * CHANNELS);
    for _lane in 0..L {
        let _status = bits.get(37);
    }
    let bypass = bits.flag();
    let _cause_and_count = bits.get(6);
    let _alignment = bits.get(2);
    let _far_end_receiving_and_reserve = bits.get(48);
    let sending = bits.get(16).count_ones();
    let _active = bits.get(16);
    Outputs {
        line,
        sending,
        bypass,
        broadcast: valid.then_some(message),
        broadcast_ready,
        rx,
        tx_ready,
        events: bits.get(EVENTS),
        initialised: {
            let _broadcast_credit_and_empty = bits.get(10);
            bits.get(2) == 3
        },
    }
}

/// A direction of the cable.
struct Cable<const L: usize> {
    lanes: [VecDeque<Option<Word>>; L],
}

impl<const L: usize> Cable<L> {
    /// The lanes of a cable may be up to three words apart.
    fn new(rng: &mut fastrand::Rng) -> Self {
        let delay = rng.usize(1..40);
        Self { lanes: std::array::from_fn(|_| vec![None; delay + rng.usize(..=3)].into()) }
    }

    fn pass(
        &mut self,
        words: [Option<Word>; L],
        errors: u32,
        rng: &mut fastrand::Rng,
    ) -> [Option<Word>; L] {
        std::array::from_fn(|index| {
            let (lane, hit) = (&mut self.lanes[index], errors != 0 && once_in(rng, errors));
            lane.push_back(words[index].map(|word| if hit { damage(rng, word) } else { word }));
            lane.pop_front().flatten()
        })
    }
}

/// What a run does.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Random users on a clean cable.
    Clean,
    /// The same, with errors, cut lanes and the cable unplugged.
    Faults,
    /// Users that never wait, without broadcast messages; both ways, or from the core only.
    Rate { both_ways: bool },
}

#[derive(Debug, Default)]
struct Counts {
    recoveries: u64,
    unplugged: u32,
    lanes_cut: u32,
    /// Word periods in which fewer lanes than all carried rows.
    narrow: u64,
    cycles: u64,
    /// Word periods from the first word of a user to the last one.
    used: u64,
}

struct Rig<const L: usize> {
    rng: fastrand::Rng,
    mode: Mode,
    far: Port<L>,
    cables: [Cable<L>; 2],
    streams: [[Stream; CHANNELS]; 2],
    /// Broadcast messages sent by each end, and received from it.
    messages: [Stream; 2],
    errors: u32,
    activity: [u32; 2],
    /// Word periods for which each lane stays cut.
    cut: [u32; L],
    /// Both ends reset the link when they start; what they got before is lost.
    started: u32,
    /// Words on offer to the core on each channel; they stay until they are taken.
    offers: [usize; CHANNELS],
    offers_message: bool,
    counts: Counts,
}

impl<const L: usize> Rig<L> {
    fn new(seed: u64, mode: Mode) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self {
            mode,
            far: model(),
            cables: std::array::from_fn(|_| Cable::new(&mut rng)),
            streams: Default::default(),
            messages: Default::default(),
            errors: 0,
            activity: [0; 2],
            cut: [0; L],
            started: 0,
            offers: [0; CHANNELS],
            offers_message: false,
            counts: Counts::default(),
            rng,
        }
    }

    fn limit(&self, end: usize) -> u32 {
        let silent = self.mode == Mode::Rate { both_ways: false } && end == 1;
        if silent { 0 } else { words(L, self.mode) }
    }

    fn users_done(&self) -> bool {
        let done = |end: usize| self.streams[end].iter().all(|s| s.read == self.limit(end));
        done(0) && done(1)
    }

    /// Changes what the users and the cable do.
    fn manage(&mut self, cycle: u64) {
        if self.started < 100 {
            self.activity = [0; 2];
            return;
        }
        if matches!(self.mode, Mode::Rate { .. }) {
            self.activity = [100; 2];
            return;
        }
        let rng = &mut self.rng;
        if cycle.is_multiple_of(1000) {
            self.activity = [(); 2].map(|()| *rng.choice(&[100, 100, 60, 20]).expect("not empty"));
            let faults = self.mode == Mode::Faults;
            let rates: &[u32] = if faults { &[0, 0, 3000, 1000, 300] } else { &[0] };
            self.errors = *rng.choice(rates).expect("not empty");
        }
        if self.mode == Mode::Faults && once_in(rng, 20_000) {
            self.cut = [rng.u32(1..2000); L];
            self.counts.unplugged += 1;
        }
        if self.mode == Mode::Faults && L > 1 && once_in(rng, 4000) {
            self.cut[rng.usize(..L)] = rng.u32(1..4000);
            self.counts.lanes_cut += 1;
        }
    }

    /// Makes up what the users of the core offer.
    fn offer(&mut self) {
        let rng = &mut self.rng;
        let limit = words(L, self.mode);
        for (vc, offer) in self.offers.iter_mut().enumerate() {
            let left = (limit - self.streams[0][vc].written) as usize;
            if *offer == 0 && left != 0 && rng.u32(..100) < self.activity[0] {
                let all = matches!(self.mode, Mode::Rate { .. }) || rng.bool();
                *offer = if all { L } else { rng.usize(1..=L) }.min(left);
            }
        }
        let talks = self.started == 100 && !matches!(self.mode, Mode::Rate { .. });
        let done = self.users_done();
        self.offers_message |= talks && !done && once_in(&mut self.rng, 100);
    }

    /// What the core gave to its users, and took from them.
    fn near_users(&mut self, out: &Outputs<L>, ready: [bool; CHANNELS], at: &str) {
        for (vc, words) in out.rx.iter().enumerate() {
            if self.offers[vc] != 0 && out.tx_ready[vc] {
                self.streams[0][vc].written += self.offers[vc] as u32;
                self.offers[vc] = 0;
            }
            for &word in words.iter().filter(|_| ready[vc]) {
                let stream = &mut self.streams[1][vc];
                assert_eq!(word, stream_word(1, vc, stream.read), "{at}: channel {vc}");
                stream.read += 1;
            }
        }
        if self.offers_message && out.broadcast_ready {
            self.messages[0].written += 1;
            self.offers_message = false;
        }
        if let Some(got) = out.broadcast {
            let got = LinkBroadcast { late: false, ..got };
            assert_eq!(got, message(1, self.messages[1].read), "{at}: message to the core");
            self.messages[1].read += 1;
        }
    }

    fn far_users(&mut self, at: &str) {
        let limit = self.limit(1);
        for vc in 0..CHANNELS {
            let stream = &mut self.streams[1][vc];
            if stream.written < limit && self.rng.u32(..100) < self.activity[1] {
                let count = (L as u32).min(limit - stream.written);
                let words: [Word; L] =
                    std::array::from_fn(|i| stream_word(1, vc, stream.written + i as u32));
                stream.written += self.far.link.write(vc, &words[..count as usize]) as u32;
            }
            let mut words = [Word::default(); L];
            if self.rng.u32(..100) < self.activity[0] {
                let count = self.far.link.read(vc, &mut words);
                for word in &words[..count] {
                    let stream = &mut self.streams[0][vc];
                    assert_eq!(*word, stream_word(0, vc, stream.read), "{at}: far {vc}");
                    stream.read += 1;
                }
            }
        }
        let talks = !self.users_done() && !matches!(self.mode, Mode::Rate { .. });
        if talks && once_in(&mut self.rng, 100) {
            let next = message(1, self.messages[1].written);
            self.messages[1].written += u32::from(self.far.link.send_broadcast(next));
        }
        while let Some(got) = self.far.link.receive_broadcast() {
            let got = LinkBroadcast { late: false, ..got };
            assert_eq!(got, message(0, self.messages[0].read), "{at}: message from the core");
            self.messages[0].read += 1;
        }
    }

    /// Passes words over the cable, and returns those for the core.
    fn cable(&mut self, line: [Option<Word>; L]) -> [Option<Word>; L] {
        self.cut = self.cut.map(|left| left.saturating_sub(1));
        let plug = |words: [Option<Word>; L]| {
            std::array::from_fn(|lane| words[lane].filter(|_| self.cut[lane] == 0))
        };
        let (to_far, from_far) = (plug(line), plug(self.far.transmit()));
        let to_core = self.cables[1].pass(from_far, self.errors, &mut self.rng);
        let to_far = self.cables[0].pass(to_far, self.errors, &mut self.rng);
        self.far.receive(to_far);
        to_core
    }

    fn check_time(&self, cycle: u64, at: &str) {
        assert!(
            cycle < MOST_CYCLES,
            "{at}: not all has arrived: {:?} {:?}",
            self.streams.map(|end| end.map(|stream| stream.read)),
            self.messages.map(|message| (message.written, message.read))
        );
    }
}

fn put_inputs<const L: usize>(
    packer: &mut Packer,
    rig: &Rig<L>,
    ready: [bool; CHANNELS],
    to_core: [Option<Word>; L],
) {
    packer.clear();
    packer.put(0, L);
    for word in to_core {
        packer.flag(word.is_some());
    }
    for word in to_core {
        packer.word(word.unwrap_or_default());
    }
    packer.flag(true).flag(rig.offers_message);
    link::put_broadcast(packer, &message(0, rig.messages[0].written));
    for ready in ready {
        packer.flag(ready);
    }
    for offer in rig.offers {
        packer.put(offer as u64, count_bits(L));
    }
    for (vc, stream) in rig.streams[0].iter().enumerate() {
        for i in 0..L as u32 {
            packer.word(stream_word(0, vc, stream.written + i));
        }
    }
    // lane_start, auto_start; lane_reset and both loopbacks; rx_en, tx_en; standby_reason
    for _lane in 0..L {
        packer.put(0b11, 2).put(0, 3).put(0b11, 2).put(0, 8);
    }
    packer.put(L as u64, 5).flag(false);
}

fn run<const L: usize>(seed: u64, mode: Mode) -> Counts {
    let mut core = Core::new("spfe_sim_port", &[("Lanes", L), ("Vcs", CHANNELS)], seed);
    let mut rig = Rig::<L>::new(seed, mode);
    let mut packer = Packer::default();
    let parameters = DataLinkParameters::default();
    let qos: [QosParameters; CHANNELS] = std::array::from_fn(|_| QosParameters {
        priority: rig.rng.u8(..16),
        expected_bandwidth: *rig.rng.choice(&[256, 6554, 30000]).expect("not empty"),
        time_slots: u64::MAX,
    });
    for (vc, qos) in qos.iter().enumerate() {
        rig.far.link.set_qos_parameters(vc, *qos);
    }
    let mut to_core = [None; L];
    let mut first = 0;
    loop {
        let cycle = core.cycles();
        let at = format!("seed {seed} cycle {cycle}");
        if rig.users_done() && rig.messages.iter().all(|message| message.read == message.written) {
            rig.counts.cycles = cycle;
            rig.counts.used = cycle - first;
            return rig.counts;
        }
        rig.check_time(cycle, &at);
        rig.manage(cycle);
        rig.offer();
        let ready = std::array::from_fn(|_| rig.rng.u32(..100) < rig.activity[1]);
        put_inputs(&mut packer, &rig, ready, to_core);
        link::put_channels(&mut packer, &parameters, &qos);
        link::put_parameters(&mut packer, &parameters, 0, link::Commands::default());
        packer.flag(cycle < 3);
        let words = core.step(packer.words());
        if cycle < 3 {
            continue;
        }
        let out = unpack::<L>(words);
        let initialised = out.initialised && rig.far.link.is_initialised();
        rig.started = if initialised { 100.min(rig.started + 1) } else { 0 };
        if rig.started == 100 && first == 0 {
            first = cycle;
        }
        let resets = out.events >> PROTOCOL_ERROR & 1 | out.events >> INPUT_OVERFLOW & 1;
        assert_eq!(resets, 0, "{at}: protocol error or overflow");
        assert_eq!(out.bypass, L == 1, "{at}: bypass");
        rig.counts.recoveries += out.events >> RECOVERY & 1;
        rig.counts.narrow +=
            u64::from(rig.started == 100 && out.sending != 0 && out.sending < L as u32);
        rig.near_users(&out, ready, &at);
        rig.far_users(&at);
        to_core = rig.cable(out.line);
    }
}

fn clean<const L: usize>() {
    let counts = run::<L>(1, Mode::Clean);
    assert_eq!((counts.recoveries, counts.narrow), (0, 0), "{counts:?}");
    println!("{counts:?}");
}

fn faults<const L: usize>(fixed: u64) {
    let mut total = Counts::default();
    for seed in seeds(fixed) {
        let counts = run::<L>(seed, Mode::Faults);
        total.recoveries += counts.recoveries;
        total.unplugged += counts.unplugged;
        total.lanes_cut += counts.lanes_cut;
        total.narrow += counts.narrow;
        total.cycles += counts.cycles;
    }
    println!("{total:?}");
    assert!(total.recoveries > 20 && total.unplugged > 1, "{total:?}");
    assert!(L == 1 || (total.lanes_cut > 2 && total.narrow > 1000), "{total:?}");
}

/// Share of the words on the lanes that are words of users, in percent, in each direction.
fn link_use<const L: usize>(both_ways: bool) -> f64 {
    let counts = run::<L>(1, Mode::Rate { both_ways });
    let words = f64::from(WORDS) * CHANNELS as f64;
    let part = 100.0 * words / counts.used as f64;
    println!("{L} lanes, both ways {both_ways}: {part:.2} % of the words on the lanes");
    part
}

#[test]
fn port_with_a_clean_cable() {
    clean::<1>();
}

#[test]
fn port_with_faults() {
    faults::<1>(2);
}

#[test]
fn four_lanes_with_a_clean_cable() {
    clean::<4>();
}

#[test]
fn four_lanes_with_faults() {
    faults::<4>(1);
}

/// The standard leaves 95.5 % of the words on the lanes one way, and 92.7 % both ways.
#[test]
fn four_lanes_at_full_rate() {
    assert!(link_use::<4>(false) > 94.0);
    assert!(link_use::<4>(true) > 91.0);
}
