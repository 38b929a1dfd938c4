//! Random connections, bit by bit: states, credit, order and errors of a port whose far end keeps
//! the standard and then breaks off.

use crate::far_end::FarEnd;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spfe_link::spacewire::credit::SpaceWireCredit;
use spfe_link::spacewire::ds::DsSignals;
use spfe_link::spacewire::port::SpaceWireErrors;
use spfe_link::spacewire::serial::SerialPort;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, NChar, SpaceWireCharacter, SpaceWirePort, SpaceWireState, SpaceWireTiming,
};

/// How the far end breaks the connection.
#[derive(Clone, Debug)]
enum Break {
    /// The far end falls silent: disconnect error.
    Silence,
    /// One bit of the next characters is wrong: parity error.
    Flip { bit: u8 },
    /// The signals are random for less than the 64 bits of ErrorReset, then silent.
    Noise(Vec<DsSignals>),
}

/// Characters that the far end sends in Run, and how it ends the connection.
#[derive(Clone, Debug)]
struct Connection {
    /// Bit periods before the first NULL.
    delay: u64,
    characters: Vec<SpaceWireCharacter>,
    end: Break,
}

fn any_connection() -> impl Strategy<Value = Connection> {
    let signals = (any::<bool>(), any::<bool>()).prop_map(|(d, s)| DsSignals { d, s });
    let end = prop_oneof![
        Just(Break::Silence),
        (0u8..4).prop_map(|bit| Break::Flip { bit }),
        prop::collection::vec(signals, 1..50).prop_map(Break::Noise),
    ];
    let character = prop_oneof![
        6 => any::<u8>().prop_map(|b| SpaceWireCharacter::NChar(NChar::Data(b))),
        1 => Just(SpaceWireCharacter::NChar(NChar::Eop)),
        1 => Just(SpaceWireCharacter::NChar(NChar::Eep)),
        2 => Just(SpaceWireCharacter::Fct),
        1 => Just(SpaceWireCharacter::Null),
        1 => (0u8..64).prop_map(|value| SpaceWireCharacter::Broadcast(BroadcastCode::time(value))),
    ];
    (0u64..80, prop::collection::vec(character, 0..120), end)
        .prop_map(|(delay, characters, end)| Connection { delay, characters, end })
}

/// Duration of a bit at 10 Mbit/s.
const BIT_NS: u64 = 100;
const RX: usize = 24;
/// Data characters per packet that the port sends; their values count on from packet to packet.
const PACKET: u8 = 5;

/// A port under test, connected to a new far end for each connection.
struct Bench {
    port: SerialPort<16, RX>,
    now_ns: u64,
    reset_at_ns: u64,
    state: SpaceWireState,
    pushed: u8,
    received: Vec<NChar>,
    codes: Vec<BroadcastCode>,
    /// Last data character that a far end received.
    last_heard: Option<u8>,
}

impl Bench {
    fn new() -> Self {
        Self {
            port: SerialPort::new(SpaceWirePort::new(
                0,
                SpaceWireControl::default(),
                SpaceWireTiming::NOMINAL,
                10_000_000,
            )),
            now_ns: 0,
            reset_at_ns: 0,
            state: SpaceWireState::ErrorReset,
            pushed: 0,
            received: Vec::new(),
            codes: Vec::new(),
            last_heard: None,
        }
    }

    /// Runs one bit period: the port receives these signals and returns its own.
    fn bit(&mut self, signals: DsSignals) -> Result<DsSignals, TestCaseError> {
        self.now_ns += BIT_NS;
        self.codes.extend(self.port.receive(self.now_ns, signals));
        let out = self.port.transmit(self.now_ns);
        self.received.extend(std::iter::from_fn(|| self.port.port.pop()));
        while self.port.port.push_room() > usize::from(PACKET) {
            for _ in 0..PACKET {
                self.port.port.push(NChar::Data(self.pushed));
                self.pushed = self.pushed.wrapping_add(1) % 250;
            }
            self.port.port.push(NChar::Eop);
        }
        self.follow_state()?;
        Ok(out)
    }

    /// States follow each other in the order of the standard, and not too early.
    fn follow_state(&mut self) -> Result<(), TestCaseError> {
        use SpaceWireState::{Connecting, ErrorReset, ErrorWait, Ready, Run, Started};
        let (before, after) = (self.state, self.port.port.state());
        self.state = after;
        if before == after {
            return Ok(());
        }
        let spent_ns = self.now_ns - self.reset_at_ns;
        match (before, after) {
            (_, ErrorReset) => self.reset_at_ns = self.now_ns,
            (ErrorReset, ErrorWait) => prop_assert!(spent_ns >= 6_400),
            (ErrorWait, Ready | Started) => prop_assert!(spent_ns >= 19_200),
            (Ready, Started) | (Started, Connecting) | (Connecting, Run) => {}
            step => prop_assert!(false, "{step:?} is no step of the state machine"),
        }
        Ok(())
    }

    /// Runs one bit period with a far end that sends the characters of `next`, or NULL.
    fn exchange(
        &mut self,
        far: &mut FarEnd,
        next: &mut dyn FnMut(&FarEnd) -> Option<SpaceWireCharacter>,
        flip: bool,
    ) -> Result<(), TestCaseError> {
        if far.is_free() {
            let character = next(far).unwrap_or(SpaceWireCharacter::Null);
            far.start(character);
        }
        let out = self.bit(far.send_bit(flip))?;
        if self.state == SpaceWireState::ErrorReset {
            // Edges of a transmitter that turns off are not bits.
            return Ok(());
        }
        let before = far.heard.len();
        far.listen(out);
        for character in &far.heard[before..] {
            self.check_heard(far, *character)?;
        }
        Ok(())
    }

    /// Before Connecting the port sends only NULLs; before Run it also sends FCTs; N-Chars and FCTs
    /// stay within their credit.
    fn check_heard(
        &self,
        far: &FarEnd,
        character: SpaceWireCharacter,
    ) -> Result<(), TestCaseError> {
        let run = self.state == SpaceWireState::Run;
        match character {
            SpaceWireCharacter::Null => {}
            SpaceWireCharacter::Fct => {
                prop_assert!(run || self.state == SpaceWireState::Connecting);
                let taken = far.sent.len();
                prop_assert!(8 * far.heard_fcts() <= taken + RX, "no FCT without room");
            }
            SpaceWireCharacter::NChar(_) => {
                prop_assert!(run);
                prop_assert!(
                    far.heard_n_chars().len() <= 8 * far.fcts_sent,
                    "no N-Char without FCT"
                );
            }
            SpaceWireCharacter::Broadcast(_) => prop_assert!(false, "no code was offered"),
        }
        Ok(())
    }

    fn run(&mut self, connection: &Connection) -> Result<(), TestCaseError> {
        self.port.port.clear_errors();
        self.received.clear();
        self.codes.clear();
        let falls = self.port.port.counters().falls;
        let appended = self.port.port.counters().appended_eeps;
        while self.state != SpaceWireState::ErrorWait {
            let out = self.bit(DsSignals::default())?;
            let still = !out.d && !out.s;
            prop_assert!(still || self.now_ns - self.reset_at_ns <= 2 * BIT_NS, "silent in reset");
        }
        for _ in 0..connection.delay {
            self.bit(DsSignals::default())?;
        }
        let mut far = FarEnd::new();
        let mut codes = Vec::new();
        self.connect(&mut far)?;
        self.converse(&mut far, &connection.characters, &mut codes)?;
        prop_assert_eq!(self.port.port.counters().falls, falls, "no error yet");
        self.break_off(&mut far, &connection.end)?;
        prop_assert_eq!(self.state, SpaceWireState::ErrorReset, "every break ends the connection");
        prop_assert!(self.port.port.counters().falls > falls);
        prop_assert_eq!(self.port.port.credit(), SpaceWireCredit::new(), "no credit is left over");
        let appended = self.port.port.counters().appended_eeps - appended;
        self.check_received(&far, &codes, matches!(connection.end, Break::Noise(_)), appended)?;
        self.check_sent(&far)
    }

    /// Sends NULLs until the port is Connecting, then an FCT, until the port is in Run.
    fn connect(&mut self, far: &mut FarEnd) -> Result<(), TestCaseError> {
        for _ in 0..400 {
            if self.state == SpaceWireState::Run && far.is_free() {
                return Ok(());
            }
            let connecting = self.state == SpaceWireState::Connecting;
            let fct = |far: &FarEnd| {
                (connecting && far.fcts_sent == 0).then_some(SpaceWireCharacter::Fct)
            };
            self.exchange(far, &mut { fct }, false)?;
        }
        prop_assert!(false, "the port does not connect: {:?}", self.state);
        Ok(())
    }

    /// Sends the characters, each one as soon as there is credit for it.
    fn converse(
        &mut self,
        far: &mut FarEnd,
        characters: &[SpaceWireCharacter],
        codes: &mut Vec<BroadcastCode>,
    ) -> Result<(), TestCaseError> {
        let mut rest = characters.iter().copied().peekable();
        for _ in 0..20_000 {
            if far.is_free() && rest.peek().is_none() {
                return Ok(());
            }
            let mut next = |far: &FarEnd| {
                let may = match rest.peek()? {
                    SpaceWireCharacter::NChar(_) => far.credit() != 0,
                    SpaceWireCharacter::Fct => far.may_send_fct(),
                    _ => true,
                };
                if !may {
                    return None;
                }
                let character = rest.next()?;
                if let SpaceWireCharacter::Broadcast(code) = character {
                    codes.push(code);
                }
                Some(character)
            };
            self.exchange(far, &mut next, false)?;
        }
        prop_assert!(false, "the port gives no more credit");
        Ok(())
    }

    /// Breaks the connection. It must end within 40 bits, more than the disconnect time-out.
    fn break_off(&mut self, far: &mut FarEnd, end: &Break) -> Result<(), TestCaseError> {
        let mut bits = 0;
        if let Break::Noise(noise) = end {
            for signals in noise {
                self.bit(*signals)?;
            }
        }
        let held = if let Break::Noise(noise) = end { noise[noise.len() - 1] } else { far.hold() };
        while self.state != SpaceWireState::ErrorReset && bits < 40 {
            match end {
                Break::Flip { bit } => {
                    self.exchange(far, &mut |_| None, bits == u32::from(*bit))?;
                }
                Break::Silence | Break::Noise(_) => drop(self.bit(held)?),
            }
            bits += 1;
        }
        let errors = self.port.port.errors();
        match end {
            Break::Silence => prop_assert!(errors.disconnect),
            Break::Flip { .. } => prop_assert!(errors.parity && !errors.escape && !errors.credit),
            Break::Noise(_) => prop_assert!(errors != SpaceWireErrors::default()),
        }
        Ok(())
    }

    /// The port received what was sent, in order, up to the last character, whose parity may be
    /// missing. A packet that was cut ends with EEP.
    fn check_received(
        &self,
        far: &FarEnd,
        codes: &[BroadcastCode],
        noise: bool,
        appended: u64,
    ) -> Result<(), TestCaseError> {
        let mut received = &self.received[..];
        if appended != 0 {
            prop_assert_eq!(received.last(), Some(&NChar::Eep));
            received = &received[..received.len() - 1];
        }
        let certain = far.sent.len().saturating_sub(1);
        prop_assert!(received.len() >= certain, "{} of {}", received.len(), far.sent.len());
        // Noise may look like the next character, even with right parity.
        let common = if noise { certain } else { received.len().min(far.sent.len()) };
        prop_assert_eq!(&received[..common], &far.sent[..common]);
        let certain = codes.len().saturating_sub(1);
        prop_assert!(self.codes.len() >= certain);
        let common = if noise { certain } else { codes.len().min(self.codes.len()) };
        prop_assert_eq!(&self.codes[..common], &codes[..common]);
        if !noise {
            prop_assert!(received.len() <= far.sent.len() && self.codes.len() <= codes.len());
            let open = received.last().is_some_and(|n_char| !n_char.is_end());
            prop_assert_eq!(appended, u64::from(open), "an EEP ends each cut packet");
        }
        let open = self.received.last().is_some_and(|n_char| !n_char.is_end());
        prop_assert!(!open, "no packet is left open");
        Ok(())
    }

    /// The far end received consecutive characters, starting with a new packet.
    fn check_sent(&mut self, far: &FarEnd) -> Result<(), TestCaseError> {
        let mut expected = None;
        for n_char in far.heard_n_chars() {
            let NChar::Data(data) = n_char else {
                prop_assert_eq!(n_char, NChar::Eop);
                prop_assert_eq!(expected.unwrap_or(1) % PACKET, 0, "an EOP after each packet");
                continue;
            };
            match expected {
                Some(expected) => prop_assert_eq!(data, expected),
                None => {
                    prop_assert_eq!(data % PACKET, 0, "a new packet after a fall");
                    prop_assert_ne!(Some(data), self.last_heard, "no packet twice");
                }
            }
            expected = Some((data + 1) % 250);
            self.last_heard = Some(data);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    /// Connections with a far end that keeps the standard; each is broken in some way.
    #[test]
    fn random_signals(connections in prop::collection::vec(any_connection(), 1..6)) {
        let mut bench = Bench::new();
        for connection in connections {
            bench.run(&connection)?;
        }
    }
}
