//! The multi-lane layer of the core and that of the model with the same inputs: the same words to
//! the lanes, the same rows and the same status in every word period. Both have lanes of the model;
//! those of the core get RxOnly, FarEndActive and LaneReset from it. The core has seven cycles for a
//! word period, so that its stages come one after the other, as they do in the model.

use std::collections::VecDeque;

use spfe_link::lane::{LaneConfig, LaneParameters, LaneState, capability};
use spfe_link::multilane::{Misaligned, MultiLane, MultiLaneConfig, MultiLaneStatus};
use spfe_link::row::{ReceivedRow, Row};
use spfe_link::word::k;
use spfe_link::{ControlWord, Lane, Word};
use spfe_rtl_sim::rows::{Source, kind_of};
use spfe_rtl_sim::{Core, Packer, Unpacker, damage, once_in, seeds};

const L: usize = 4;
const PERIODS: u32 = 16_000;
const ACTIVE_IDLE: u16 = 3;

/// As in `spfe_sim_multilane`.
fn config(rng: &mut fastrand::Rng) -> MultiLaneConfig {
    MultiLaneConfig {
        lane: LaneConfig {
            word_rate_hz: 10_000_000,
            filler_words: 5,
            init3_filler_words: 2,
            skip_interval_words: 70,
            init_timeout_words: 400,
            started_words: 50,
            rxerr_leak_words: 300,
            inverts_words: false,
            ..LaneConfig::new()
        },
        active_idle_words: ACTIVE_IDLE,
        data_scrambled: rng.bool(),
        ..MultiLaneConfig::new()
    }
}

/// Row kinds of `spfe_sf_link_pkg` that a receiver gives.
const ROW_NONE: u64 = 0;
const ROW_CONTROL: u64 = 1;
const ROW_DATA: u64 = 4;
const ROW_RX_ERR: u64 = 5;

#[derive(Debug)]
struct Outputs {
    crc16_good: bool,
    count: u8,
    words: [Word; L],
    row: u64,
    width: u8,
    ready: bool,
    down: [Option<Word>; L],
    lane_reset: [bool; L],
    far_end_active: [bool; L],
    rx_only: [bool; L],
    status: Status,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Status {
    bypass: bool,
    cause: Option<u8>,
    misaligned: u32,
    alignment: u8,
    /// Far end's active lanes, data-receiving, hot redundant, data-sending and active lanes.
    masks: [u16; 5],
}

impl Status {
    fn of(status: &MultiLaneStatus) -> Self {
        Self {
            bypass: status.bypass,
            cause: status.misaligned_cause.map(|cause| cause as u8),
            misaligned: status.misaligned_events,
            alignment: status.alignment as u8,
            masks: [
                status.far_end_active,
                status.data_receiving,
                status.hot_redundant,
                status.data_sending,
                status.active,
            ],
        }
    }
}

fn unpack(words: &[u32]) -> Outputs {
    let mut bits = Unpacker::new(words);
    let crc16_good = bits.flag();
    let count = bits.get(3) as u8;
    let words = std::array::from_fn(|_| bits.word());
    let row = bits.get(3);
    let width = bits.get(3) as u8;
    let ready = bits.flag();
    let valid: [bool; L] = std::array::from_fn(|_| bits.flag());
    let down = valid.map(|valid| {
        let word = bits.word();
        valid.then_some(word)
    });
    let mut flags = || std::array::from_fn(|_| bits.flag());
    let (lane_reset, far_end_active, rx_only) = (flags(), flags(), flags());
    let status = Status {
        bypass: bits.flag(),
        cause: Some(bits.get(4) as u8),
        misaligned: bits.get(2) as u32,
        alignment: bits.get(2) as u8,
        masks: std::array::from_fn(|_| bits.get(16) as u16),
    };
    Outputs {
        crc16_good,
        count,
        words,
        row,
        width,
        ready,
        down,
        lane_reset,
        far_end_active,
        rx_only,
        status,
    }
}

/// Inputs of a cycle, besides the row and the commands.
struct Near {
    lanes: [Lane; L],
    capabilities: [Option<u8>; L],
    up: [Option<Word>; L],
    max_data_sending: u8,
}

#[derive(Clone, Copy, Default)]
struct Cycle<'a> {
    rst: bool,
    rx_go: bool,
    tx_go: bool,
    clear: bool,
    row: Option<&'a Row<L>>,
}

impl Near {
    fn pack(&self, packer: &mut Packer, cycle: Cycle<'_>) {
        packer.clear();
        let (count, words, kind) = match cycle.row {
            None => (0, [Word::default(); L], ROW_NONE),
            Some(Row::Data { words, count }) => (*count, *words, ROW_DATA),
            Some(Row::Control(word)) => (0, [*word; L], kind_of(*word)),
        };
        packer.put(count.into(), 3);
        words.iter().for_each(|word| {
            packer.word(*word);
        });
        packer.put(kind, 3);
        for up in self.up {
            packer.flag(up.is_some());
        }
        for up in self.up {
            packer.word(up.unwrap_or_default());
        }
        for lane in &self.lanes {
            packer.flag(lane.capability_sent() & capability::DATA_SCRAMBLED != 0);
        }
        for (lane, capability) in self.lanes.iter().zip(self.capabilities) {
            let known = lane.status().far_end_capability.unwrap_or(0);
            packer.put(0, 4).flag(capability.is_some()).put(0, 10);
            packer.put(capability.unwrap_or(known).into(), 8).put(0, 10);
            packer.put(lane.state() as u64, 4);
        }
        for lane in &self.lanes {
            let p = lane.parameters;
            packer
                .flag(p.lane_start)
                .flag(p.auto_start)
                .flag(p.lane_reset)
                .flag(p.far_end_parallel_loopback)
                .flag(p.near_end_parallel_loopback)
                .flag(p.rx_en)
                .flag(p.tx_en)
                .put(0, 8);
        }
        packer.put(self.max_data_sending.into(), 5).flag(false);
        packer.flag(cycle.clear).flag(cycle.tx_go).flag(cycle.rx_go).flag(cycle.rst);
    }
}

/// One lane of the cable in one direction.
struct Line {
    words: VecDeque<Option<Word>>,
    cut: u32,
}

impl Line {
    fn pass(&mut self, word: Option<Word>) -> Option<Word> {
        self.words.push_back(word);
        let word = self.words.pop_front().flatten();
        self.cut = self.cut.saturating_sub(1);
        word.filter(|_| self.cut == 0)
    }

    /// A word more or less on its way.
    fn slip(&mut self, rng: &mut fastrand::Rng) {
        if rng.bool() && self.words.len() > 1 {
            self.words.pop_front();
        } else if self.words.len() < 12 {
            self.words.push_front(Some(ControlWord::Skip.encode()));
        }
    }
}

/// A word that the alignment has to think about.
fn odd_word(rng: &mut fastrand::Rng) -> Word {
    match rng.u8(..8) {
        0 => ControlWord::Active { lanes: 1 << rng.u8(..6) | rng.u16(..16) }.encode(),
        1 | 2 => {
            let lanes = rng.u8(..5) << 4 | rng.u8(..6);
            let inverse = if once_in(rng, 5) { rng.u8(..) } else { !lanes };
            ControlWord::Align { lanes, inverse }.encode()
        }
        3 => ControlWord::Align { lanes: 0, inverse: 0 }.encode(),
        4 => ControlWord::Pad.encode(),
        5 => ControlWord::Sif { seq: rng.u8(..), crc: 0 }.encode(),
        6 => Word::from_symbols([k::EOP, k::FILL, k::FILL, k::FILL], 0xf),
        _ => Word { bits: rng.u32(..), k: rng.u8(..2) },
    }
}

struct Rig {
    rng: fastrand::Rng,
    model: MultiLane<L>,
    far: MultiLane<L>,
    near: Near,
    /// Lines from the near end and from the far end.
    lines: [[Line; L]; 2],
    errors: u32,
    odd: u32,
    /// A lane on which the same odd word comes, and how often.
    repeats: (usize, Word, u32),
    /// Every ALIGN on this lane says that it is in reserve, for so many word periods.
    reserve: (usize, u32),
    hostile: bool,
}

impl Rig {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let config = config(&mut rng);
        let mut model = MultiLane::new(&config);
        let mut lane_config = config.lane;
        lane_config.skip_interval_words = 0;
        let far = Self::far_end(&config, seed == 3, &mut rng);
        let mut lanes = std::array::from_fn(|_| Lane::new(lane_config));
        for (lane, copy) in model.lanes_mut().iter_mut().zip(&mut lanes) {
            copy.set_capability(Self::capability(&config));
            lane.parameters.lane_start = true;
            copy.parameters = lane.parameters;
        }
        let delay = rng.usize(4..20);
        let skewed = rng.bool();
        let lines = [(); 2].map(|()| {
            std::array::from_fn(|_| {
                let skew = if skewed { rng.usize(..=3) } else { 0 };
                Line { words: vec![None; delay + skew].into(), cut: 0 }
            })
        });
        Self {
            model,
            far,
            near: Near { lanes, capabilities: [None; L], up: [None; L], max_data_sending: L as u8 },
            lines,
            errors: 0,
            odd: 0,
            repeats: (0, Word::RXERR, 0),
            reserve: (0, 0),
            hostile: seed.is_multiple_of(2),
            rng,
        }
    }

    fn capability(config: &MultiLaneConfig) -> u8 {
        let scrambled = if config.data_scrambled { capability::DATA_SCRAMBLED } else { 0 };
        capability::MULTI_LANE | scrambled
    }

    fn far_end(config: &MultiLaneConfig, bypass: bool, rng: &mut fastrand::Rng) -> MultiLane<L> {
        let mut far =
            MultiLane::new(&MultiLaneConfig { data_scrambled: rng.bool(), bypass, ..*config });
        for lane in far.lanes_mut() {
            lane.parameters.lane_start = rng.bool();
        }
        far
    }

    /// Parameters of a lane after a change of mind.
    fn parameters(&mut self) -> LaneParameters {
        let rng = &mut self.rng;
        let mut p = LaneParameters::new();
        p.lane_start = !once_in(rng, 5);
        p.auto_start = !once_in(rng, 8);
        p.lane_reset = once_in(rng, 12);
        p.far_end_parallel_loopback = once_in(rng, 30);
        p.tx_en = !once_in(rng, 5);
        p.rx_en = !once_in(rng, 5);
        p
    }

    /// Changes parameters and the cable now and then. Returns whether the link is reset.
    fn manage(&mut self) -> bool {
        if once_in(&mut self.rng, 700) {
            self.errors = *self.rng.choice(&[0, 0, 0, 400, 60]).expect("is not empty");
            self.odd = *self.rng.choice(&[0, 0, 300, 80]).expect("is not empty");
        }
        if once_in(&mut self.rng, 900) {
            let (direction, lane) = (self.rng.usize(..2), self.rng.usize(..L));
            self.lines[direction][lane].cut = self.rng.u32(1..150);
            if self.rng.bool() {
                self.lines[1 - direction][lane].cut = self.rng.u32(1..150);
            }
        }
        if once_in(&mut self.rng, 2500) {
            let (direction, lane) = (self.rng.usize(..2), self.rng.usize(..L));
            self.lines[direction][lane].slip(&mut self.rng);
        }
        if once_in(&mut self.rng, 1200) {
            let (lane, p) = (self.rng.usize(..L), self.parameters());
            self.model.lane_mut(lane).expect("exists").parameters = p;
            self.near.lanes[lane].parameters = p;
            // Mostly the far end is set to the other direction.
            let mut q = LaneParameters { tx_en: p.rx_en, rx_en: p.tx_en, ..self.parameters() };
            if once_in(&mut self.rng, 4) {
                q = self.parameters();
            }
            self.far.lane_mut(lane).expect("exists").parameters = q;
        }
        if once_in(&mut self.rng, 4000) {
            self.heal();
        }
        if once_in(&mut self.rng, 5000) {
            let config = config(&mut self.rng);
            let bypass = once_in(&mut self.rng, 4);
            self.far = Self::far_end(&config, bypass, &mut self.rng);
        }
        if once_in(&mut self.rng, 3000) {
            self.near.max_data_sending = self.rng.u8(..6);
            self.model.parameters.max_data_sending = self.near.max_data_sending;
            self.far.parameters.max_data_sending = self.near.max_data_sending;
        }
        let resets = once_in(&mut self.rng, 3000);
        if resets {
            self.model.lane_reset();
            self.model.link_reset();
            self.near.lanes.iter_mut().for_each(Lane::reset);
        }
        if once_in(&mut self.rng, 3000) {
            self.far.lane_reset();
            self.far.link_reset();
        }
        resets
    }

    /// All lanes work in both directions again.
    fn heal(&mut self) {
        let p = LaneParameters { lane_start: true, ..LaneParameters::new() };
        for lane in 0..L {
            self.model.lane_mut(lane).expect("exists").parameters = p;
            self.near.lanes[lane].parameters = p;
            self.far.lane_mut(lane).expect("exists").parameters = p;
        }
    }

    /// The words that come from the lines.
    fn arrivals(&mut self, sent: [Option<Word>; L]) -> [Option<Word>; L] {
        let mut words: [Option<Word>; L] =
            std::array::from_fn(|lane| self.lines[1][lane].pass(sent[lane]));
        let rng = &mut self.rng;
        if self.hostile && self.repeats.2 == 0 && self.odd != 0 && once_in(rng, self.odd) {
            self.repeats = (rng.usize(..L), odd_word(rng), rng.u32(1..4));
        }
        if self.hostile && once_in(rng, 2000) {
            self.reserve = (rng.usize(..L), rng.u32(50..400));
        }
        self.reserve.1 = self.reserve.1.saturating_sub(1);
        for (lane, word) in words.iter_mut().enumerate() {
            let align = word.is_some_and(|word| {
                matches!(ControlWord::decode(word), Some(ControlWord::Align { .. }))
            });
            if align && self.reserve.1 != 0 && lane == self.reserve.0 {
                *word = Some(ControlWord::Align { lanes: 0, inverse: 0 }.encode());
            } else if self.repeats.2 != 0 && (lane == self.repeats.0 || rng.u8(..8) == 0) {
                *word = word.map(|_| self.repeats.1);
            } else if self.errors != 0 && once_in(rng, self.errors) {
                *word = word.map(|word| damage(rng, word));
            }
        }
        self.repeats.2 = self.repeats.2.saturating_sub(1);
        words
    }
}

/// What a run has reached, in word periods.
#[derive(Debug, Default)]
struct Reached {
    alignments: [u32; 3],
    causes: [u32; 10],
    rows: u32,
    good_frames: u32,
    bypassed_rows: u32,
    hot_redundant: u32,
    one_direction: u32,
    resets: u32,
}

fn check_row(out: &Outputs, row: Option<&ReceivedRow<L>>, at: &str) {
    match row {
        None => assert_eq!(out.row, ROW_NONE, "{at}: no row"),
        Some(ReceivedRow::RxErr) => assert_eq!(out.row, ROW_RX_ERR, "{at}: RXERR"),
        Some(ReceivedRow::Data { words, count }) => {
            assert_eq!((out.row, out.count), (ROW_DATA, *count), "{at}: data row");
            let count = usize::from(*count);
            assert_eq!(out.words[..count], words[..count], "{at}: words of a row");
        }
        Some(ReceivedRow::Control { word, crc16_good }) => {
            assert_eq!((out.row, out.words[0]), (ROW_CONTROL, *word), "{at}: control row");
            if matches!(ControlWord::decode(*word), Some(ControlWord::Edf { .. })) {
                assert_eq!(out.crc16_good, *crc16_good, "{at}: CRC-16");
            }
        }
    }
}

fn note(reached: &mut Reached, rig: &Rig, row: Option<&ReceivedRow<L>>) {
    let status = rig.model.status();
    reached.alignments[status.alignment as usize] += 1;
    if let Some(cause) = status.misaligned_cause {
        reached.causes[cause as usize] += 1;
    }
    reached.rows += u32::from(row.is_some() && row != Some(&ReceivedRow::RxErr));
    reached.bypassed_rows += u32::from(row.is_some() && status.bypass);
    reached.hot_redundant += u32::from(status.hot_redundant != 0);
    let one_way = |lane: &Lane| {
        lane.state() == LaneState::Active && lane.parameters.tx_en != lane.parameters.rx_en
    };
    reached.one_direction += u32::from(rig.near.lanes.iter().any(one_way));
    if let Some(ReceivedRow::Control { word, crc16_good: true }) = row {
        let edf = matches!(ControlWord::decode(*word), Some(ControlWord::Edf { .. }));
        reached.good_frames += u32::from(edf);
    }
}

fn run(seed: u64, reached: &mut Reached) {
    let mut core = Core::new(
        "spfe_sim_multilane",
        &[("Lanes", L), ("ActiveIdleWords", ACTIVE_IDLE.into())],
        seed,
    );
    let mut rig = Rig::new(seed);
    let mut packer = Packer::default();
    for _ in 0..3 {
        rig.near.pack(&mut packer, Cycle { rst: true, ..Cycle::default() });
        core.step(packer.words());
    }
    let (mut near_rows, mut far_rows) = (Source::<L>::default(), Source::<L>::default());
    let mut row = None;
    let mut misaligned = 0;
    for period in 0..PERIODS {
        let at = format!("seed {seed} word period {period}");
        let mut step = |near: &Near, cycle: Cycle<'_>| {
            near.pack(&mut packer, cycle);
            let out = unpack(core.step(packer.words()));
            misaligned += out.status.misaligned;
            out
        };
        // The end of the word period before.
        let rx = Cycle { rx_go: true, ..Cycle::default() };
        step(&rig.near, rx);
        for _ in 0..2 {
            step(&rig.near, Cycle::default());
        }
        let out = step(&rig.near, Cycle::default());
        check_row(&out, row.as_ref(), &at);

        let resets = rig.manage();
        reached.resets += u32::from(resets);
        if resets {
            step(&rig.near, Cycle { clear: true, ..Cycle::default() });
        }
        let idle = step(&rig.near, Cycle::default());
        let width = rig.model.width();
        assert_eq!(idle.width, width, "{at}: width");
        let offered = near_rows.offer(width, &mut rig.rng);
        let tx = Cycle { tx_go: true, row: offered.as_ref(), ..Cycle::default() };
        let ready = step(&rig.near, tx).ready;
        let out = step(&rig.near, Cycle::default());
        let seen = Status {
            misaligned,
            cause: out.status.cause.filter(|_| misaligned != 0),
            ..out.status
        };
        assert_eq!(seen, Status::of(rig.model.status()), "{at}: status");

        // The model and the lanes of the core send.
        let (words, taken) = rig.model.transmit(offered.as_ref());
        assert_eq!(ready && offered.is_some(), taken, "{at}: a row is taken");
        let sent: [Option<Word>; L] = std::array::from_fn(|index| {
            let lane = &mut rig.near.lanes[index];
            lane.set_rx_only(out.rx_only[index]);
            lane.set_far_end_active(out.far_end_active[index]);
            if out.lane_reset[index] {
                lane.reset();
            }
            lane.transmit(out.down[index]).0
        });
        assert_eq!(sent, words, "{at}: words to the lines; {:?}", rig.model.status());
        if taken {
            near_rows.took();
        }

        // The far end sends and receives.
        let offered = far_rows.offer(rig.far.width(), &mut rig.rng);
        let (from_far, taken) = rig.far.transmit(offered.as_ref());
        if taken {
            far_rows.took();
        }
        let to_far = std::array::from_fn(|lane| rig.lines[0][lane].pass(sent[lane]));
        rig.far.receive(to_far);
        while rig.far.take_far_end_capability().is_some() {}

        // The model and the lanes of the core receive.
        let arrivals = rig.arrivals(from_far);
        row = rig.model.receive(arrivals);
        while rig.model.take_far_end_capability().is_some() {}
        for (index, lane) in rig.near.lanes.iter_mut().enumerate() {
            rig.near.up[index] = lane.receive(arrivals[index]);
            rig.near.capabilities[index] = lane.take_far_end_capability();
            let (state, model) = (lane.state(), rig.model.lanes()[index].state());
            assert_eq!(state, model, "{at}: state of lane {index}");
        }
        note(reached, &rig, row.as_ref());
    }
}

#[test]
fn multilane_in_lock_step() {
    let mut reached = Reached::default();
    for seed in seeds(4) {
        run(seed, &mut reached);
    }
    println!("{reached:?}");
    let Reached { alignments, causes, .. } = &reached;
    let rare = Misaligned::RxErrRow as usize;
    let all = alignments.iter().all(|&periods| periods > 1000)
        && causes.iter().enumerate().all(|(cause, &periods)| periods != 0 || cause == rare)
        && reached.rows > 10_000
        && reached.good_frames > 300
        && reached.bypassed_rows > 300
        && reached.hot_redundant > 1000
        && reached.one_direction > 300
        && reached.resets > 5;
    assert!(all || std::env::var_os("RTL_SEED").is_some(), "{reached:?}");
}
