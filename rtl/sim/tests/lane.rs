//! The lane of the core and that of the model with the same inputs: the same words, to the line and
//! to the layer above, and the same status in every word period.

use std::collections::VecDeque;

use spfe_link::lane::{LaneConfig, LaneState, LostSignalCause};
use spfe_link::{ControlWord, Lane, Word};
use spfe_rtl_sim::{Core, Packer, Unpacker, damage, once_in, seeds};

const CYCLES: u32 = 60_000;

/// As in `spfe_sim_lane`.
fn config() -> LaneConfig {
    LaneConfig {
        word_rate_hz: 10_000_000,
        filler_words: 5,
        init3_filler_words: 2,
        skip_interval_words: 70,
        init_timeout_words: 400,
        started_words: 50,
        rxerr_leak_words: 300,
        inverts_words: false,
        ..LaneConfig::new()
    }
}

#[derive(Debug, Default, PartialEq)]
struct Status {
    state: u8,
    no_signal: bool,
    inverted: bool,
    rxerr_count: u8,
    capability: u8,
    lost_cause: u8,
    timeouts: u32,
    standbys: u32,
    lost_signals: u32,
    overflows: u32,
    capabilities: u32,
}

#[derive(Debug, Default)]
struct Outputs {
    tx_ready: bool,
    rx: Option<Word>,
    line: Option<Word>,
    receive: bool,
    invert: bool,
}

fn outputs(words: &[u32], status: &mut Status) -> Outputs {
    let mut bits = Unpacker::new(words);
    let invert = bits.flag();
    let receive = bits.flag();
    let line_on = bits.flag();
    let line = bits.word();
    let rx_valid = bits.flag();
    let rx = bits.word();
    let tx_ready = bits.flag();
    status.lost_signals += bits.get(1) as u32;
    status.standbys += bits.get(1) as u32;
    status.timeouts += bits.get(1) as u32;
    status.overflows += bits.get(1) as u32;
    status.capabilities += bits.get(1) as u32;
    let _field = bits.get(8);
    status.lost_cause = bits.get(2) as u8;
    status.capability = bits.get(8) as u8;
    status.rxerr_count = bits.get(8) as u8;
    status.inverted = bits.flag();
    status.no_signal = bits.flag();
    status.state = bits.get(4) as u8;
    Outputs { tx_ready, rx: rx_valid.then_some(rx), line: line_on.then_some(line), receive, invert }
}

/// Status of the model with its events, which `flags` still has if they could not be cleared.
fn model_status(lane: &mut Lane, known: &mut Status, flags: &mut [bool; 4]) {
    let status = *lane.status();
    known.state = status.state as u8;
    known.no_signal = status.no_signal;
    known.inverted = status.rx_polarity_inverted;
    known.rxerr_count = status.rxerr_count;
    let before = std::mem::replace(
        flags,
        [status.timeout, status.far_end_standby, status.far_end_lost_signal, status.rxerr_overflow],
    );
    let counts =
        [&mut known.timeouts, &mut known.standbys, &mut known.lost_signals, &mut known.overflows];
    for ((count, now), before) in counts.into_iter().zip(*flags).zip(before) {
        *count += u32::from(now && !before);
    }
    if let Some(capability) = lane.take_far_end_capability() {
        known.capability = capability;
        known.capabilities += 1;
    }
    if let Some(cause) = status.lost_signal_cause {
        known.lost_cause = match cause {
            LostSignalCause::NoSignal => 0,
            LostSignalCause::RxerrOverflow => 1,
            LostSignalCause::Init1Received => 2,
        };
    }
    // The cause is needed as long as it is sent.
    if status.state != LaneState::LossOfSignal {
        lane.clear_status();
        *flags = [false; 4];
    }
}

/// A word that a lane has to think about.
fn odd_word(rng: &mut fastrand::Rng) -> Word {
    let field = rng.u8(..4);
    match rng.u8(..12) {
        0 => ControlWord::Skip.encode(),
        1 => ControlWord::Idle.encode(),
        2 => ControlWord::Init1.encode(),
        3 => ControlWord::Init2.encode(),
        4 => ControlWord::Init3 { capability: field }.encode(),
        5 => ControlWord::Init1Inverted.encode(),
        6 => ControlWord::Init2Inverted.encode(),
        7 => ControlWord::Standby { reason: field }.encode(),
        8 => ControlWord::LostSignal { cause: field }.encode(),
        9 => ControlWord::Retry.encode(),
        10 => Word { bits: rng.u32(..), k: rng.u8(..16) },
        _ => Word::RXERR,
    }
}

struct Rig {
    rng: fastrand::Rng,
    model: Lane,
    far: Lane,
    /// Words on their way from the near end and from the far end.
    lines: [VecDeque<Option<Word>>; 2],
    errors: u32,
    signal_lost: u32,
    /// A word that comes again and again, and how often.
    repeats: (Word, u32),
    /// Capability, FarEndActive and RxOnly, which the layers above give to the near end.
    inputs: (u8, bool, bool),
}

impl Rig {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let delay = rng.usize(1..20);
        Self {
            model: Lane::new(config()),
            far: Lane::new(LaneConfig { inverts_words: true, ..config() }),
            lines: [(); 2].map(|()| VecDeque::from(vec![None; delay])),
            errors: 0,
            signal_lost: 0,
            repeats: (Word::RXERR, 0),
            inputs: (0, false, false),
            rng,
        }
    }

    /// Changes parameters now and then.
    fn manage(&mut self) {
        let rng = &mut self.rng;
        if once_in(rng, 500) {
            self.errors = *rng.choice(&[0, 0, 0, 500, 50, 5]).expect("is not empty");
        }
        for (near, lane) in [(true, &mut self.model), (false, &mut self.far)] {
            if !once_in(rng, 400) {
                continue;
            }
            let p = &mut lane.parameters;
            // Mostly a lane that works.
            p.lane_start = !once_in(rng, 4);
            p.auto_start = !once_in(rng, 4);
            p.lane_reset = once_in(rng, 12);
            p.near_end_parallel_loopback = once_in(rng, 15);
            p.far_end_parallel_loopback = once_in(rng, 15);
            p.tx_en = !once_in(rng, 12);
            p.rx_en = !once_in(rng, 12);
            p.standby_reason = rng.u8(..);
            let inputs = (rng.u8(..), once_in(rng, 20), once_in(rng, 20));
            lane.set_capability(inputs.0);
            lane.set_far_end_active(inputs.1);
            lane.set_rx_only(inputs.2);
            if near {
                self.inputs = inputs;
            }
        }
        if once_in(rng, 1500) {
            self.far.reset();
        }
    }

    /// The word that comes from the line.
    fn arrival(&mut self) -> Option<Word> {
        let from_far = self.lines[1].pop_front().flatten();
        let rng = &mut self.rng;
        if self.signal_lost != 0 {
            self.signal_lost -= 1;
            return None;
        }
        if once_in(rng, 3000) {
            self.signal_lost = rng.u32(1..200);
        }
        if self.repeats.1 == 0 && once_in(rng, 300) {
            self.repeats = (odd_word(rng), rng.u32(1..5));
            if once_in(rng, 4) {
                self.repeats.1 = rng.u32(1..300);
            }
        }
        if self.repeats.1 != 0 {
            self.repeats.1 -= 1;
            return Some(self.repeats.0);
        }
        if self.errors != 0 && once_in(rng, self.errors) {
            return from_far.map(|word| damage(rng, word));
        }
        from_far
    }
}

/// Returns the word periods in each state.
fn run(seed: u64) -> [u32; 10] {
    let mut core = Core::new("spfe_sim_lane", &[], seed);
    let mut rig = Rig::new(seed);
    let (mut packer, mut seen, mut known) =
        (Packer::default(), Status::default(), Status::default());
    // What the model did in the cycle before.
    let (mut sent, mut up) = (None, None);
    let (mut states, mut flags) = ([0u32; 10], [false; 4]);
    let mut passed = 0;
    for cycle in 0..CYCLES {
        let rst = cycle < 3;
        rig.manage();
        let reset = once_in(&mut rig.rng, 2000);
        let realigned = once_in(&mut rig.rng, 700);
        let offered = rig.rng.bool().then(|| match rig.rng.u8(..8) {
            0 => odd_word(&mut rig.rng),
            _ => Word::data(rig.rng.u32(..)),
        });
        let line = rig.arrival();

        let p = rig.model.parameters;
        let (capability, far_end_active, rx_only) = rig.inputs;
        packer.clear();
        packer
            .flag(realigned)
            .flag(line.is_some())
            .word(line.unwrap_or(Word::data(rig.rng.u32(..))))
            .flag(offered.is_some())
            .word(offered.unwrap_or_default())
            .flag(rx_only)
            .flag(far_end_active)
            .put(capability.into(), 8)
            .flag(reset)
            .flag(p.lane_start)
            .flag(p.auto_start)
            .flag(p.lane_reset)
            .flag(p.far_end_parallel_loopback)
            .flag(p.near_end_parallel_loopback)
            .flag(p.rx_en)
            .flag(p.tx_en)
            .put(p.standby_reason.into(), 8)
            .flag(rst);
        let got = outputs(core.step(packer.words()), &mut seen);
        if rst {
            (seen, known) = Default::default();
            known.no_signal = true;
            continue;
        }

        assert_eq!(got.line, sent, "seed {seed} cycle {cycle}: word to the line; {known:?}");
        assert_eq!(got.rx, up, "seed {seed} cycle {cycle}: word for the layer above; {known:?}");
        if cycle > 3 {
            assert_eq!(seen, known, "seed {seed} cycle {cycle}: status");
        }
        let state = rig.model.state();
        assert_eq!(got.receive, state.receives() && p.rx_en, "seed {seed} cycle {cycle}");
        assert_eq!(got.invert, rig.model.invert_rx(), "seed {seed} cycle {cycle}");
        states[state as usize] += 1;

        // The model takes the same word period.
        if reset {
            rig.model.reset();
        }
        if realigned {
            rig.model.realign();
        }
        let taken;
        (sent, taken) = rig.model.transmit(offered);
        assert_eq!(
            got.tx_ready && offered.is_some(),
            taken,
            "seed {seed} cycle {cycle}: a word is taken; {known:?}"
        );
        up = rig.model.receive(line);
        passed += u32::from(up.is_some_and(|word| word != Word::RXERR));
        model_status(&mut rig.model, &mut known, &mut flags);

        // The far end.
        let (word, _) = rig.far.transmit(None);
        rig.lines[1].push_back(word);
        rig.lines[0].push_back(sent);
        let word = rig.lines[0].pop_front().flatten();
        rig.far.receive(word);
    }
    assert!(passed > 500, "seed {seed}: {passed} words passed");
    states
}

#[test]
fn lane_in_lock_step() {
    let mut total = [0; 10];
    for seed in seeds(4) {
        for (total, count) in total.iter_mut().zip(run(seed)) {
            *total += count;
        }
    }
    let all = total.iter().all(|&count| count != 0) || std::env::var_os("RTL_SEED").is_some();
    assert!(all, "word periods by state: {total:?}");
}
