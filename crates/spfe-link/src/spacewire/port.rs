//! A SpaceWire port (50-12C 5.5): queues, credit, state machine, priority, recovery and status.

use super::character::{BroadcastCode, NChar, SpaceWireCharacter};
use super::credit::SpaceWireCredit;
use super::decode::DecodedCharacter;
use super::queue::CharacterQueue;
use super::schedule::CodeSchedule;
use super::state::{ErrorResetCause, Machine, SpaceWireControl, SpaceWireState, SpaceWireTiming};

/// Transmit rate outside Run, in bit/s (50-12C 5.4.6).
pub const START_RATE_BPS: u64 = 10_000_000;
/// Lowest transmit rate, in bit/s.
pub const MIN_RATE_BPS: u64 = 2_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;
/// Upper bound for the state changes at one point in time.
const MAX_STEPS: u32 = 8;

/// Errors since they were last cleared. A flag stays set until it is cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceWireErrors {
    /// No edge for the disconnect time-out.
    pub disconnect: bool,
    /// Parity error.
    pub parity: bool,
    /// Escape error: ESC was not followed by an FCT or data.
    pub escape: bool,
    /// The far end sent more FCTs or N-Chars than the credit allows.
    pub credit: bool,
    /// A character that is not allowed in the state of the link.
    pub sequence: bool,
    /// The far end did not answer in Started or Connecting, as is usual while it is off.
    pub timeout: bool,
}

/// Counters of a port since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceWireCounters {
    /// Number of times Run was entered.
    pub runs: u64,
    /// Number of times the link fell back to ErrorReset.
    pub falls: u64,
    /// N-Chars sent.
    pub sent_n_chars: u64,
    /// Packets sent completely.
    pub sent_packets: u64,
    /// Broadcast codes sent.
    pub sent_broadcasts: u64,
    /// N-Chars of cut packets that were thrown away instead of sent.
    pub spilled_n_chars: u64,
    /// N-Chars received.
    pub received_n_chars: u64,
    /// End markers received.
    pub received_packets: u64,
    /// EEPs received.
    pub received_eeps: u64,
    /// EEPs added to packets that the link cut.
    pub appended_eeps: u64,
    /// Broadcast codes received.
    pub received_broadcasts: u64,
    /// Broadcast codes that were offered but discarded.
    pub discarded_broadcasts: u64,
}

/// One end of a link, with queues for `TX` and `RX` N-Chars.
///
/// * When the transmitter is free, call [`SpaceWirePort::transmit`], then keep the wire busy for
///   [`SpaceWirePort::character_ps`].
/// * When the signals change, or are known to keep changing, call [`SpaceWirePort::signal`].
/// * When the signals stop before the announced time, call [`SpaceWirePort::silence`].
/// * When the receiver has a complete character, call [`SpaceWirePort::receive`].
/// * At [`SpaceWirePort::deadline_ns`], call [`SpaceWirePort::poll`].
///
/// Time is in ns and never goes back.
#[derive(Clone, Debug)]
pub struct SpaceWirePort<const TX: usize, const RX: usize> {
    control: SpaceWireControl,
    timing: SpaceWireTiming,
    run_rate_bps: u64,
    machine: Machine,
    credit: SpaceWireCredit,
    tx: CharacterQueue<TX>,
    rx: CharacterQueue<RX>,
    schedule: CodeSchedule,
    /// The character on the wire.
    in_progress: Option<SpaceWireCharacter>,
    /// Part of a packet has been sent.
    tx_in_packet: bool,
    /// The rest of a cut packet is being thrown away.
    spilling: bool,
    /// The last N-Char written to the receive queue was data.
    rx_in_packet: bool,
    /// An EEP waits for a place in the receive queue.
    eep_owed: bool,
    /// Time of the last edge, or of the last announced edge.
    last_edge_ns: Option<u64>,
    errors: SpaceWireErrors,
    counters: SpaceWireCounters,
}

impl<const TX: usize, const RX: usize> SpaceWirePort<TX, RX> {
    /// Creates a port in ErrorReset. `run_rate_bps` is the transmit rate in Run, in bit/s, at least
    /// 2 Mbit/s.
    pub fn new(
        now_ns: u64,
        control: SpaceWireControl,
        timing: SpaceWireTiming,
        run_rate_bps: u64,
    ) -> Self {
        const { assert!(TX >= 1 && RX >= 8, "one FCT needs eight places") };
        Self {
            control,
            timing,
            run_rate_bps: run_rate_bps.clamp(MIN_RATE_BPS, PS_PER_S),
            machine: Machine::new(now_ns),
            credit: SpaceWireCredit::new(),
            tx: CharacterQueue::new(),
            rx: CharacterQueue::new(),
            schedule: CodeSchedule::new(),
            in_progress: None,
            tx_in_packet: false,
            spilling: false,
            rx_in_packet: false,
            eep_owed: false,
            last_edge_ns: None,
            errors: SpaceWireErrors::default(),
            counters: SpaceWireCounters::default(),
        }
    }

    /// State of the link.
    pub fn state(&self) -> SpaceWireState {
        self.machine.state
    }

    /// Whether the transmitter is on.
    pub fn transmits(&self) -> bool {
        matches!(
            self.machine.state,
            SpaceWireState::Started | SpaceWireState::Connecting | SpaceWireState::Run
        )
    }

    /// Control bits set by management.
    pub fn control(&self) -> SpaceWireControl {
        self.control
    }

    /// Sets the control bits. Starting and ending a port reset both empty the queues.
    pub fn set_control(&mut self, now_ns: u64, control: SpaceWireControl) {
        let reset = self.control.reset || control.reset;
        self.control = control;
        self.poll(now_ns);
        if reset {
            self.clear();
        }
    }

    /// Sets the transmit rate in Run, in bit/s, at least 2 Mbit/s.
    pub fn set_run_rate_bps(&mut self, rate_bps: u64) {
        self.run_rate_bps = rate_bps.clamp(MIN_RATE_BPS, PS_PER_S);
    }

    /// Current transmit rate in bit/s.
    pub fn rate_bps(&self) -> u64 {
        if self.machine.state == SpaceWireState::Run { self.run_rate_bps } else { START_RATE_BPS }
    }

    /// Current duration of a bit in ps.
    pub fn bit_ps(&self) -> u64 {
        PS_PER_S / self.rate_bps()
    }

    /// Current duration of a character in ps.
    pub fn character_ps(&self, character: SpaceWireCharacter) -> u64 {
        self.bit_ps() * u64::from(character.length_bits())
    }

    /// Credit of both directions.
    pub fn credit(&self) -> SpaceWireCredit {
        self.credit
    }

    /// Errors since they were last cleared.
    pub fn errors(&self) -> SpaceWireErrors {
        self.errors
    }

    /// Clears the errors.
    pub fn clear_errors(&mut self) {
        self.errors = SpaceWireErrors::default();
    }

    /// Counters of the port.
    pub fn counters(&self) -> &SpaceWireCounters {
        &self.counters
    }

    /// Adds an N-Char to the transmit queue. Returns false if the queue is full. While the rest of
    /// a cut packet is being thrown away, the N-Char is thrown away too.
    pub fn push(&mut self, n_char: NChar) -> bool {
        if self.spilling {
            self.spill(n_char);
            return true;
        }
        self.tx.push(n_char)
    }

    /// Free places of the transmit queue.
    pub fn push_room(&self) -> usize {
        self.tx.free()
    }

    /// First N-Char of the receive queue.
    pub fn front(&self) -> Option<NChar> {
        self.rx.front()
    }

    /// N-Chars in the receive queue.
    pub fn waiting(&self) -> usize {
        self.rx.len()
    }

    /// Removes the first N-Char of the receive queue.
    pub fn pop(&mut self) -> Option<NChar> {
        let n_char = self.rx.pop();
        if self.eep_owed {
            self.eep_owed = !self.rx.push(NChar::Eep);
        }
        n_char
    }

    /// Offers a broadcast code. Returns false if it is discarded: outside Run, or if its type is
    /// reserved.
    pub fn broadcast(&mut self, code: BroadcastCode) -> bool {
        let taken = self.machine.state == SpaceWireState::Run && self.schedule.offer(code);
        self.counters.discarded_broadcasts += u64::from(!taken);
        taken
    }

    /// Offers a broadcast code of any type, including the types that 50-12C reserves. Returns false
    /// if it is discarded because the link is not in Run.
    pub fn broadcast_any(&mut self, code: BroadcastCode) -> bool {
        let taken = self.machine.state == SpaceWireState::Run;
        if taken {
            self.schedule.offer_any(code);
        }
        self.counters.discarded_broadcasts += u64::from(!taken);
        taken
    }

    /// Time of the next change without input, in ns. Call [`SpaceWirePort::poll`] at that time.
    pub fn deadline_ns(&self) -> Option<u64> {
        let machine = self.machine.deadline_ns(&self.control, &self.timing);
        let disconnect = self.last_edge_ns.map(|ns| ns.saturating_add(self.timing.disconnect_ns));
        match (machine, disconnect) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Makes the state changes that are due.
    pub fn poll(&mut self, now_ns: u64) {
        let limit_ns = self.timing.disconnect_ns;
        if self.last_edge_ns.is_some_and(|ns| now_ns.saturating_sub(ns) >= limit_ns) {
            self.fail(ErrorResetCause::Disconnect);
        }
        // Fast path: only a failure can end Run.
        let SpaceWireControl { enabled, reset, .. } = self.control;
        let machine = &self.machine;
        if machine.state == SpaceWireState::Run && machine.seen.cause.is_none() && enabled && !reset
        {
            return;
        }
        for _ in 0..MAX_STEPS {
            if let Some(cause) = self.machine.failure(now_ns, &self.control, &self.timing) {
                self.fall(now_ns, cause);
                return;
            }
            let Some(next) = self.machine.success(now_ns, &self.control, &self.timing) else {
                return;
            };
            self.machine.enter(now_ns, next);
            self.counters.runs += u64::from(next == SpaceWireState::Run);
        }
    }

    /// The signals change now, and are known to keep changing until `until_ns`. For a single edge
    /// this is now; for callers that only see characters it is the end of the character. The link
    /// disconnects 850 ns after the last known change (5.4.8).
    pub fn signal(&mut self, now_ns: u64, until_ns: u64) {
        self.poll(now_ns);
        if self.machine.state != SpaceWireState::ErrorReset {
            let until_ns = until_ns.max(now_ns);
            self.last_edge_ns = Some(self.last_edge_ns.map_or(until_ns, |ns| ns.max(until_ns)));
        }
    }

    /// The signals stop now, before the announced time: the sender was switched off, or the cable
    /// was unplugged.
    pub fn silence(&mut self, now_ns: u64) {
        self.last_edge_ns = self.last_edge_ns.map(|ns| ns.min(now_ns));
        self.poll(now_ns);
    }

    /// Processes a received character or error. Returns a broadcast code to pass on.
    pub fn receive(&mut self, now_ns: u64, received: DecodedCharacter) -> Option<BroadcastCode> {
        self.signal(now_ns, now_ns);
        if self.machine.state == SpaceWireState::ErrorReset {
            return None;
        }
        let up = match received {
            DecodedCharacter::Character(character) => self.take(character),
            // Errors count only after gotNull.
            _ if !self.machine.seen.got_null => None,
            DecodedCharacter::ParityError => {
                self.fail(ErrorResetCause::Parity);
                None
            }
            DecodedCharacter::EscapeError => {
                self.fail(ErrorResetCause::Escape);
                None
            }
        };
        self.poll(now_ns);
        up
    }

    /// The transmitter is free: returns what to send next, in the order of priority (5.5.3), or
    /// `None` while the transmitter is off. The character before now counts as sent.
    pub fn transmit(&mut self, now_ns: u64) -> Option<SpaceWireCharacter> {
        match self.in_progress.take() {
            Some(SpaceWireCharacter::Null) => self.machine.seen.null_sent = true,
            Some(SpaceWireCharacter::Fct) => self.machine.seen.fct_sent = true,
            _ => {}
        }
        self.poll(now_ns);
        let character = match self.machine.state {
            SpaceWireState::Started => SpaceWireCharacter::Null,
            SpaceWireState::Connecting => self.next_fct().unwrap_or(SpaceWireCharacter::Null),
            SpaceWireState::Run => self.next(),
            _ => return None,
        };
        self.in_progress = Some(character);
        Some(character)
    }

    fn next(&mut self) -> SpaceWireCharacter {
        if let Some(code) = self.schedule.take() {
            self.counters.sent_broadcasts += 1;
            return SpaceWireCharacter::Broadcast(code);
        }
        if let Some(fct) = self.next_fct() {
            return fct;
        }
        match self.next_n_char() {
            Some(n_char) => SpaceWireCharacter::NChar(n_char),
            None => SpaceWireCharacter::Null,
        }
    }

    fn next_fct(&mut self) -> Option<SpaceWireCharacter> {
        if !self.credit.may_send_fct(self.rx.free()) {
            return None;
        }
        self.credit.send_fct();
        Some(SpaceWireCharacter::Fct)
    }

    fn next_n_char(&mut self) -> Option<NChar> {
        self.tx.front()?;
        if !self.credit.send_n_char() {
            return None;
        }
        let n_char = self.tx.pop()?;
        self.tx_in_packet = !n_char.is_end();
        self.counters.sent_n_chars += 1;
        self.counters.sent_packets += u64::from(n_char.is_end());
        Some(n_char)
    }

    /// Processes a character with right parity.
    fn take(&mut self, character: SpaceWireCharacter) -> Option<BroadcastCode> {
        let seen = &mut self.machine.seen;
        seen.got_null |= character == SpaceWireCharacter::Null;
        if !seen.got_null || character == SpaceWireCharacter::Null {
            return None;
        }
        let expected = match self.machine.state {
            SpaceWireState::Run => true,
            SpaceWireState::Connecting => seen.got_fct || character == SpaceWireCharacter::Fct,
            _ => false,
        };
        if !expected {
            self.fail(ErrorResetCause::Sequence);
            return None;
        }
        match character {
            SpaceWireCharacter::Null => {}
            SpaceWireCharacter::Fct => {
                seen.got_fct = true;
                if self.credit.receive_fct().is_err() {
                    self.fail(ErrorResetCause::Credit);
                }
            }
            SpaceWireCharacter::NChar(n_char) => self.take_n_char(n_char),
            SpaceWireCharacter::Broadcast(code) => {
                self.counters.received_broadcasts += 1;
                return Some(code);
            }
        }
        None
    }

    fn take_n_char(&mut self, n_char: NChar) {
        if self.credit.receive_n_char().is_err() || !self.rx.push(n_char) {
            self.fail(ErrorResetCause::Credit);
            return;
        }
        self.rx_in_packet = !n_char.is_end();
        self.counters.received_n_chars += 1;
        self.counters.received_packets += u64::from(n_char.is_end());
        self.counters.received_eeps += u64::from(n_char == NChar::Eep);
    }

    /// Records the first failure. A credit error that has no effect before Run gives way to any
    /// other.
    fn fail(&mut self, cause: ErrorResetCause) {
        let first = &mut self.machine.seen.cause;
        if matches!(first, None | Some(ErrorResetCause::Credit)) {
            *first = Some(cause);
        }
    }

    /// Falls back to ErrorReset, with the recovery of 5.5.8.
    fn fall(&mut self, now_ns: u64, cause: ErrorResetCause) {
        self.record(cause);
        self.counters.falls += 1;
        if self.tx_in_packet {
            self.tx_in_packet = false;
            self.spilling = true;
            while self.spilling {
                let Some(n_char) = self.tx.pop() else { break };
                self.spill(n_char);
            }
        }
        // Also in Connecting: a far end that is already in Run may have started a packet.
        if self.rx_in_packet {
            self.rx_in_packet = false;
            self.counters.appended_eeps += 1;
            self.eep_owed = !self.rx.push(NChar::Eep);
        }
        self.credit = SpaceWireCredit::new();
        self.schedule = CodeSchedule::new();
        self.in_progress = None;
        self.last_edge_ns = None;
        self.machine.enter(now_ns, SpaceWireState::ErrorReset);
        if cause == ErrorResetCause::Reset {
            self.clear();
        }
    }

    fn spill(&mut self, n_char: NChar) {
        self.spilling = !n_char.is_end();
        self.counters.spilled_n_chars += 1;
    }

    /// Port reset: empties both queues.
    fn clear(&mut self) {
        self.tx.clear();
        self.rx.clear();
        self.tx_in_packet = false;
        self.rx_in_packet = false;
        self.spilling = false;
        self.eep_owed = false;
    }

    fn record(&mut self, cause: ErrorResetCause) {
        let errors = &mut self.errors;
        match cause {
            ErrorResetCause::Disconnect => errors.disconnect = true,
            ErrorResetCause::Parity => errors.parity = true,
            ErrorResetCause::Escape => errors.escape = true,
            ErrorResetCause::Credit => errors.credit = true,
            ErrorResetCause::Sequence => errors.sequence = true,
            ErrorResetCause::Timeout => errors.timeout = true,
            ErrorResetCause::Disabled | ErrorResetCause::Reset => {}
        }
    }
}
