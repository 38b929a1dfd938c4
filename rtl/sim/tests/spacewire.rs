//! The SpaceWire port of the core and that of the model with the same inputs: the same levels of data
//! and strobe, state, credit, characters and codes in every cycle. The core holds a received
//! character for a cycle, and so does the model here.

use std::collections::VecDeque;

use spfe_link::spacewire::decode::CharacterDecoder;
use spfe_link::spacewire::ds::{DsDecoder, DsEdge, DsEncoder, DsSignals};
use spfe_link::spacewire::encode::CharacterEncoder;
use spfe_link::spacewire::serial::SerialPort;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, DecodedCharacter, NChar, SpaceWirePort, SpaceWireState, SpaceWireTiming,
};
use spfe_rtl_sim::{Core, Packer, Unpacker, once_in, seeds};

const CYCLES: u64 = 150_000;
/// A cycle, and a bit outside Run.
const CYCLE_NS: u64 = 10;
const START_CYCLES: u64 = 10;

type Port = SpaceWirePort<1, 64>;

#[derive(Debug)]
struct Outputs {
    tick: bool,
    signals: DsSignals,
    code_ready: bool,
    code: Option<u8>,
    rx: Option<u16>,
    tx_ready: bool,
    cause: u8,
    fell: bool,
    ran: bool,
    credit: (u8, u8),
    state: u8,
}

fn unpack(words: &[u32]) -> Outputs {
    let mut bits = Unpacker::new(words);
    let tick = bits.flag();
    let s = bits.flag();
    let d = bits.flag();
    let code_ready = bits.flag();
    let has_code = bits.flag();
    let code = bits.get(8) as u8;
    let has_rx = bits.flag();
    let rx = bits.get(9) as u16;
    let tx_ready = bits.flag();
    let cause = bits.get(4) as u8;
    let fell = bits.flag();
    let ran = bits.flag();
    let receive = bits.get(6) as u8;
    let transmit = bits.get(6) as u8;
    Outputs {
        tick,
        signals: DsSignals { d, s },
        code_ready,
        code: has_code.then_some(code),
        rx: has_rx.then_some(rx),
        tx_ready,
        cause,
        fell,
        ran,
        credit: (transmit, receive),
        state: bits.get(3) as u8,
    }
}

fn bits_of(n_char: NChar) -> u16 {
    match n_char {
        NChar::Data(byte) => byte.into(),
        NChar::Eop => 0x100,
        NChar::Eep => 0x101,
    }
}

/// The model with the stages of the core.
struct Model {
    port: Port,
    encoder: CharacterEncoder,
    bits: VecDeque<bool>,
    ds_encoder: DsEncoder,
    decoder: CharacterDecoder,
    ds_decoder: DsDecoder,
    received: Option<DecodedCharacter>,
    falls: u64,
    until_tick: u64,
    signals: DsSignals,
}

impl Model {
    fn new(control: SpaceWireControl) -> Self {
        Self {
            port: SpaceWirePort::new(0, control, SpaceWireTiming::NOMINAL, 10_000_000),
            encoder: CharacterEncoder::new(),
            bits: VecDeque::new(),
            ds_encoder: DsEncoder::new(),
            decoder: CharacterDecoder::new(),
            ds_decoder: DsDecoder::new(),
            received: None,
            falls: 0,
            until_tick: 0,
            signals: DsSignals::default(),
        }
    }

    fn follow(&mut self) {
        let falls = self.port.counters().falls;
        if falls != self.falls {
            self.falls = falls;
            self.encoder = CharacterEncoder::new();
            self.decoder = CharacterDecoder::new();
            self.received = None;
            self.bits.clear();
        }
    }

    /// A cycle: what time changes, the character of the cycle before, the signals, and a bit to
    /// send. Returns a broadcast code.
    fn cycle(&mut self, now: u64, signals: DsSignals, bit_cycles: u64) -> Option<u8> {
        self.port.poll(now);
        self.follow();
        let edge = self.ds_decoder.signals(signals);
        if edge != DsEdge::None {
            self.port.signal(now, now);
        }
        let received = self.received.take();
        let code = received.and_then(|character| self.port.receive(now, character));
        self.follow();
        if let DsEdge::Bit(bit) = edge
            && self.port.state() != SpaceWireState::ErrorReset
        {
            self.received = self.decoder.bit(bit);
        }
        if self.until_tick == 0 {
            if self.bits.is_empty()
                && let Some(character) = self.port.transmit(now)
            {
                let mut bits = self.encoder.encode(character);
                self.bits.extend(std::iter::from_fn(|| bits.next_bit()));
            }
            self.follow();
            self.signals = match self.bits.pop_front() {
                Some(bit) => self.ds_encoder.bit(bit),
                None => self.ds_encoder.quiet(),
            };
            let runs = self.port.state() == SpaceWireState::Run;
            self.until_tick = if runs { bit_cycles } else { START_CYCLES };
        }
        self.until_tick -= 1;
        code.map(|code| code.0)
    }
}

#[derive(Debug, Default)]
struct Reached {
    states: [u64; 6],
    causes: [u64; 9],
    sent: u64,
    received: u64,
    codes: u64,
    ready: u64,
    spilled: u64,
    appended: u64,
}

/// A far end that keeps to parity only. It sends NULLs, and FCTs, end markers and escapes whenever it
/// likes.
#[derive(Default)]
struct Rogue {
    ds: DsEncoder,
    bits: VecDeque<bool>,
    odd: bool,
    /// Cycles for which it is there.
    left: u32,
}

impl Rogue {
    fn control(&mut self, kind: u8) {
        self.bits.extend([self.odd, true, kind & 1 != 0, kind & 2 != 0]);
        self.odd = kind.count_ones() == 1;
    }

    fn bit(&mut self, rng: &mut fastrand::Rng) -> DsSignals {
        const FCT: u8 = 0;
        const EOP: u8 = 2;
        const ESC: u8 = 3;
        if self.bits.is_empty() {
            match rng.u8(..80) {
                0 => self.control(EOP),
                1 => {
                    self.control(ESC);
                    self.control(ESC);
                }
                2..26 => self.control(FCT),
                _ => {
                    self.control(ESC);
                    self.control(FCT);
                }
            }
        }
        let bit = self.bits.pop_front().unwrap_or_default();
        self.ds.bit(bit)
    }
}

struct Rig {
    rng: fastrand::Rng,
    control: SpaceWireControl,
    far: SerialPort<32, 64>,
    far_tick: u64,
    far_signals: DsSignals,
    /// Cycles of a bit in Run, of the core and of the far end.
    bit_cycles: [u64; 2],
    /// Signals on their way to the core and to the far end.
    lines: [VecDeque<DsSignals>; 2],
    cut: u32,
    noise: u32,
    rogue: Rogue,
}

impl Rig {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let far = SpaceWirePort::new(
            0,
            SpaceWireControl::default(),
            SpaceWireTiming::NOMINAL,
            10_000_000,
        );
        let delay = rng.usize(1..30);
        Self {
            control: SpaceWireControl::default(),
            far: SerialPort::new(far),
            far_tick: 0,
            far_signals: DsSignals::default(),
            bit_cycles: [rng.u64(1..12), rng.u64(1..12)],
            lines: [(); 2].map(|()| vec![DsSignals::default(); delay].into()),
            cut: 0,
            noise: 0,
            rogue: Rogue::default(),
            rng,
        }
    }

    /// Changes the control bits and the cable now and then. Returns whether the near end's changed.
    fn manage(&mut self, now: u64) -> bool {
        let rng = &mut self.rng;
        if once_in(rng, 20_000) {
            self.bit_cycles = [rng.u64(1..12), rng.u64(1..12)];
        }
        if once_in(rng, 15_000) {
            self.cut = rng.u32(1..400);
        }
        if once_in(rng, 45_000) {
            self.rogue = Rogue { left: 14_000, ..Rogue::default() };
        }
        if once_in(rng, 10_000) {
            self.noise = *rng.choice(&[0, 0, 0, 20_000, 3000]).expect("not empty");
        }
        if once_in(rng, 30_000) {
            let control = SpaceWireControl {
                enabled: !once_in(rng, 5),
                link_start: rng.bool(),
                auto_start: !once_in(rng, 4),
                ..SpaceWireControl::default()
            };
            self.far.port.set_control(now, control);
        }
        let changes = once_in(rng, if self.control.reset { 200 } else { 8000 });
        if changes {
            self.control = SpaceWireControl {
                enabled: !once_in(rng, 6),
                legacy_disable: once_in(rng, 6),
                link_start: rng.bool(),
                auto_start: !once_in(rng, 4),
                reset: once_in(rng, 8),
            };
        }
        changes
    }

    /// The far end's cycle, and the cable. Returns the signals at the core.
    fn far_cycle(&mut self, now: u64, from_core: DsSignals) -> DsSignals {
        let rng = &mut self.rng;
        if self.far_tick == 0 {
            if self.far.port.push_room() != 0 && !once_in(rng, 4) {
                let n_char = match rng.u8(..20) {
                    0 => NChar::Eop,
                    1 if once_in(rng, 4) => NChar::Eep,
                    _ => NChar::Data(rng.u8(..)),
                };
                self.far.port.push(n_char);
            }
            if once_in(rng, 200) {
                self.far.port.broadcast_any(BroadcastCode(rng.u8(..)));
            }
            if self.noise != 0 && once_in(rng, self.noise) {
                self.far.flip_next_bit();
            }
            self.far_signals = self.far.transmit(now);
            if self.rogue.left != 0 {
                self.far_signals = self.rogue.bit(rng);
            }
            let runs = self.far.port.state() == SpaceWireState::Run && self.rogue.left == 0;
            self.far_tick = if runs { self.bit_cycles[1] } else { START_CYCLES };
        }
        self.far_tick -= 1;
        self.rogue.left = self.rogue.left.saturating_sub(1);
        self.lines[1].push_back(from_core);
        let at_far = self.lines[1].pop_front().unwrap_or_default();
        self.far.receive(now, at_far);
        if rng.bool() {
            self.far.port.pop();
        }
        self.cut = self.cut.saturating_sub(1);
        self.lines[0].push_back(self.far_signals);
        let at_core = self.lines[0].pop_front().unwrap_or_default();
        if self.cut == 0 { at_core } else { DsSignals::default() }
    }
}

fn put(packer: &mut Packer, rig: &Rig, signals: DsSignals, user: &User, rst: bool) {
    let control = rig.control;
    packer.clear();
    packer.flag(signals.s).flag(signals.d);
    packer.flag(user.code.is_some()).put(user.code.unwrap_or(0).into(), 8);
    packer.flag(user.ready);
    packer.flag(user.offer.is_some()).put(user.offer.map_or(0, bits_of).into(), 9);
    packer.put(rig.bit_cycles[0], 8);
    packer.flag(control.reset).flag(control.auto_start).flag(control.link_start);
    packer.flag(control.legacy_disable).flag(control.enabled).flag(rst);
}

#[derive(Default)]
struct User {
    offer: Option<NChar>,
    code: Option<u8>,
    /// Cycles in which another code is offered.
    codes: u32,
    ready: bool,
}

impl User {
    fn choose(&mut self, rng: &mut fastrand::Rng) {
        if self.offer.is_none() && !once_in(rng, 10) {
            self.offer = Some(match rng.u8(..20) {
                0 => NChar::Eop,
                1 if once_in(rng, 4) => NChar::Eep,
                _ => NChar::Data(rng.u8(..)),
            });
        }
        if once_in(rng, 2000) {
            self.codes = rng.u32(1..8);
        }
        let has_code = self.codes != 0;
        self.codes = self.codes.saturating_sub(1);
        self.code = has_code.then(|| rng.u8(..));
        self.ready = once_in(rng, 12);
    }
}

fn run(seed: u64, reached: &mut Reached) {
    let mut core = Core::new("spfe_sim_spacewire", &[], seed);
    let mut rig = Rig::new(seed);
    let mut model = Model::new(rig.control);
    let (mut packer, mut user) = (Packer::default(), User::default());
    for _ in 0..3 {
        put(&mut packer, &rig, DsSignals::default(), &User::default(), true);
        core.step(packer.words());
    }
    let mut quiet = 0;
    let (mut falls, mut runs) = (0, 0);
    for cycle in 0..CYCLES {
        let (now, at) = (cycle * CYCLE_NS, format!("seed {seed} cycle {cycle}"));
        let (state, credit) = (model.port.state(), model.port.credit());
        if rig.manage(now) {
            model.port.set_control(now, rig.control);
        }
        // Around a port reset the users rest: both queues are emptied at slightly other times.
        quiet = if rig.control.reset { 3 } else { u32::saturating_sub(quiet, 1) };
        if quiet != 0 {
            user = User::default();
        } else {
            user.choose(&mut rig.rng);
        }
        let signals = rig.far_cycle(now, model.signals);
        let before = model.signals;
        let ticks = model.until_tick == 0;
        put(&mut packer, &rig, signals, &user, false);
        let out = unpack(core.step(packer.words()));
        assert_eq!(out.credit, (credit.transmit(), credit.receive()), "{at}: credit");
        assert_eq!(out.state, state as u8, "{at}: state");
        assert_eq!((out.signals, out.tick), (before, ticks), "{at}: signals; {state:?}");
        reached.states[out.state as usize] += 1;

        let code = model.cycle(now, signals, rig.bit_cycles[0]);
        assert_eq!(out.code, code, "{at}: broadcast code");
        let in_run = model.port.state() == SpaceWireState::Run;
        assert!(in_run || !out.code_ready, "{at}: a code is wanted outside Run");
        reached.ready += u64::from(out.code_ready);
        reached.codes += u64::from(code.is_some());
        falls += u64::from(out.fell);
        runs += u64::from(out.ran);
        let counters = model.port.counters();
        assert_eq!((falls, runs), (counters.falls, counters.runs), "{at}: falls and runs");
        if out.fell {
            reached.causes[out.cause as usize] += 1;
        }
        // Users.
        if let (Some(n_char), true) = (user.offer, out.tx_ready) {
            assert!(model.port.push(n_char), "{at}: an N-Char is taken");
            user.offer = None;
        }
        if let Some(code) = user.code {
            model.port.broadcast_any(BroadcastCode(code));
        }
        if user.ready
            && let Some(rx) = out.rx
        {
            let n_char = model.port.pop().map(bits_of);
            assert_eq!(Some(rx), n_char, "{at}: N-Char received");
            reached.received += 1;
        }
    }
    let counters = model.port.counters();
    reached.sent += counters.sent_n_chars;
    reached.spilled += counters.spilled_n_chars;
    reached.appended += counters.appended_eeps;
}

#[test]
fn spacewire_in_lock_step() {
    let mut reached = Reached::default();
    for seed in seeds(4) {
        run(seed, &mut reached);
    }
    println!("{reached:?}");
    let causes = reached.causes.iter().skip(1);
    let all = reached.states.iter().all(|&cycles| cycles > 1000)
        && causes.filter(|&&count| count == 0).count() == 0
        && reached.sent > 1000
        && reached.received > 1000
        && reached.codes > 30
        && reached.ready > 1000
        && reached.spilled > 10
        && reached.appended > 3;
    assert!(all || std::env::var_os("RTL_SEED").is_some(), "{reached:?}");
}
