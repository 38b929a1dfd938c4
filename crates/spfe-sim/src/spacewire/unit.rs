//! One end of a SpaceWire link: a port, and the queues of words behind it.

mod end;

use super::SpaceWireEndConfig;
use super::chunk::WireCharacter;
use super::count::WireCounts;
use super::pace::{BitPace, CharacterClock};
use super::wire::NEVER;
use super::words::{PAUSE_BITS, Packer, Unpacker};
use crate::link::EndEvent;
use crate::time::{NS, Ps};
use spfe_link::Word;
use spfe_link::datalink::EEP;
use spfe_link::spacewire::character::CodeMeaning;
use spfe_link::spacewire::encode::CharacterEncoder;
use spfe_link::spacewire::port::START_RATE_BPS;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, DecodedCharacter, SpaceWireCharacter, SpaceWirePort, SpaceWireState,
};
use std::collections::VecDeque;

/// Size of the port's transmit queue in N-Chars. The word queue refills it.
const TX: usize = 8;
/// Size of the port's receive queue in N-Chars.
pub const RX: usize = 64;
/// Size of the queue of received codes: 64 time-codes, 32 interrupts and 32 acknowledges.
const CODES: usize = 128;

/// One end of a link.
pub struct SpaceWireUnit {
    port: SpaceWirePort<TX, RX>,
    encoder: CharacterEncoder,
    clock: CharacterClock,
    start_pace: BitPace,
    run_pace: BitPace,
    /// Time at which the transmitter becomes free; never while it is off.
    pub transmit_at: Ps,
    /// Time to poll the port for time-outs. It may be too early, never too late.
    pub timer_at: Ps,
    /// An edge has arrived since the last ErrorReset.
    heard: bool,
    /// State that was reported last.
    state: SpaceWireState,
    falls: u64,
    runs: u64,
    /// Time of the error that ended Run, until Run is reached again.
    broken_at: Option<Ps>,
    /// The port may still hold codes to send.
    codes_wait: bool,
    any_code: bool,
    transmit_words: usize,
    receive_words: usize,
    to_send: VecDeque<Word>,
    unpacker: Unpacker,
    /// The last word written did not end its packet.
    write_open: bool,
    packer: Packer,
    arrived: VecDeque<Word>,
    /// The last word read did not end its packet.
    read_open: bool,
    codes: VecDeque<BroadcastCode>,
    pub counts: WireCounts,
    /// Events that were not reported yet, in external time.
    pub events: Vec<(Ps, EndEvent)>,
    /// Time of the link, and the skipped time that external time has in addition.
    pub now: Ps,
    pub skipped: Ps,
}

impl SpaceWireUnit {
    /// An end in ErrorReset. `far` describes the other end.
    pub fn new(config: &SpaceWireEndConfig, far: &SpaceWireEndConfig) -> Self {
        let timeout = far.timing.disconnect_ns.saturating_mul(NS);
        let pace = |mbps| BitPace::new(mbps, timeout);
        let start_pace = pace((START_RATE_BPS / 1_000_000) as u32);
        let far_bits = BitPace::new(far.rate_mbps, 0);
        let run_bps = u64::from(config.rate_mbps) * 1_000_000;
        let mut unit = Self {
            port: SpaceWirePort::new(0, config.control, config.timing, run_bps),
            encoder: CharacterEncoder::new(),
            clock: CharacterClock::new(0, start_pace),
            start_pace,
            run_pace: pace(config.rate_mbps),
            transmit_at: NEVER,
            timer_at: NEVER,
            heard: false,
            state: SpaceWireState::ErrorReset,
            falls: 0,
            runs: 0,
            broken_at: None,
            codes_wait: false,
            any_code: config.any_code,
            transmit_words: config.transmit_words,
            receive_words: config.receive_words,
            to_send: VecDeque::with_capacity(config.transmit_words),
            unpacker: Unpacker::default(),
            write_open: false,
            packer: Packer::new(far_bits.bits_ps(PAUSE_BITS)),
            arrived: VecDeque::with_capacity(config.receive_words + 2),
            read_open: false,
            codes: VecDeque::new(),
            counts: WireCounts::default(),
            events: Vec::new(),
            now: 0,
            skipped: 0,
        };
        unit.set_timer();
        unit
    }

    /// State of the link at this end.
    pub fn state(&self) -> SpaceWireState {
        self.port.state()
    }

    /// Makes the far end sample every bit.
    #[cfg(test)]
    pub fn send_bit_by_bit(&mut self) {
        self.start_pace = self.start_pace.bit_by_bit();
        self.run_pace = self.run_pace.bit_by_bit();
    }

    /// Sets Enable, LinkStart and AutoStart.
    pub fn set_control(&mut self, control: SpaceWireControl) {
        let reset = control.reset && !self.port.control().reset;
        self.port.set_control(self.now / NS, control);
        self.set_timer();
        if reset {
            self.clear();
        }
    }

    /// Empties the word queues, as port reset empties those of the port. The rest of an open packet
    /// is dropped on the transmit side, and ended with an EEP on the receive side.
    fn clear(&mut self) {
        self.to_send.clear();
        self.unpacker.discarding = self.write_open;
        self.packer.clear();
        self.arrived.clear();
        if std::mem::take(&mut self.read_open) {
            self.arrived.push_back(EEP);
        }
    }

    /// Whether this end will send nothing but NULLs.
    pub fn is_quiet(&self) -> bool {
        let idle = match self.port.state() {
            SpaceWireState::Run => !self.codes_wait && !self.port.credit().may_send_fct(RX),
            _ => self.transmit_at == NEVER && self.port.deadline_ns().is_none(),
        };
        let empty = self.port.waiting() == 0 && !self.packer.waiting();
        idle && empty && self.to_send.is_empty() && self.port.push_room() == TX
    }

    /// Moves words from the queue into the port, as far as it has room.
    #[inline]
    fn feed(&mut self) {
        // The port empties its queues once more when it leaves reset. While it drops the rest of a
        // cut packet it always has room.
        while !self.port.control().reset && self.port.push_room() >= 4 {
            let Some(word) = self.to_send.pop_front() else { return };
            let port = &mut self.port;
            self.unpacker.take(word, |n_char| {
                port.push(n_char);
            });
        }
    }

    /// Moves N-Chars from the port into the word queue, as far as it has room.
    #[inline]
    fn drain(&mut self, now: Ps) {
        while self.arrived.len() < self.receive_words {
            let Some(n_char) = self.port.pop() else { return };
            self.packer.put(now, n_char, &mut self.arrived);
        }
    }

    /// Completes a word with Fill after a pause.
    pub fn settle(&mut self, now: Ps) {
        self.now = now;
        self.packer.flush(now, &mut self.arrived);
    }

    /// Takes the next character from the port when the transmitter is free.
    #[inline]
    pub fn transmit(&mut self, now: Ps) -> Option<WireCharacter> {
        self.feed();
        let character = self.port.transmit(now / NS)?;
        let run = self.port.state() == SpaceWireState::Run;
        let pace = if run { self.run_pace } else { self.start_pace };
        let bits = self.encoder.encode(character);
        self.clock.advance(pace, bits.count);
        self.transmit_at = self.clock.at;
        self.codes_wait &= matches!(character, SpaceWireCharacter::Broadcast(_));
        self.counts.sent.count(character);
        Some(WireCharacter::new(now, pace, bits, character))
    }

    /// Counts a character that is sent twice, or that was dropped.
    pub fn repeat(&mut self, chunk: &WireCharacter, times: u8) {
        if times == 0 {
            self.clock = CharacterClock::new(chunk.at, chunk.pace);
        } else {
            self.clock.advance(chunk.pace, chunk.bits.count);
        }
        self.transmit_at = self.clock.at;
    }

    /// Handles a signal edge.
    #[inline]
    pub fn edge(&mut self, now: Ps) {
        self.port.signal(now / NS, now / NS);
        self.hear();
    }

    /// Starts the disconnect timer with the first edge.
    #[inline]
    fn hear(&mut self) {
        if !self.heard {
            self.heard = true;
            self.set_timer();
        }
    }

    /// Handles a received character or a decoding error.
    #[inline]
    pub fn receive(&mut self, now: Ps, received: DecodedCharacter) {
        if let DecodedCharacter::Character(character) = received {
            self.counts.received.count(character);
        }
        let code = self.port.receive(now / NS, received);
        self.hear();
        if let Some(code) =
            code.filter(|code| self.any_code || code.meaning() != CodeMeaning::Reserved)
        {
            if self.codes.len() < CODES {
                self.codes.push_back(code);
            } else {
                self.counts.lost_codes += 1;
            }
        }
        if self.port.waiting() != 0 {
            self.drain(now);
        }
    }

    /// Lets the port check its timers.
    pub fn poll(&mut self, now: Ps) {
        self.port.poll(now / NS);
        self.set_timer();
    }

    /// Asks the port for its next deadline. Edges only move it later, so this is needed only when
    /// the deadline has passed or the state has changed.
    fn set_timer(&mut self) {
        self.timer_at = self.port.deadline_ns().map_or(NEVER, |ns| ns.saturating_mul(NS));
    }

    /// Whether the state differs from the one reported last.
    #[inline(always)]
    pub fn has_changed(&self) -> bool {
        self.port.state() != self.state || self.port.counters().falls != self.falls
    }

    /// Reports new states and adapts to them. True if the link fell to ErrorReset.
    pub fn follow(&mut self, now: Ps) -> bool {
        let (state, counters) = (self.port.state(), *self.port.counters());
        let fell = counters.falls != self.falls;
        if fell {
            if counters.runs != self.runs {
                self.report_states(now, SpaceWireState::Run);
            }
            self.report_fall(now);
            self.report_states(now, SpaceWireState::ErrorReset);
            self.encoder = CharacterEncoder::new();
            self.codes_wait = false;
            self.transmit_at = NEVER;
            self.heard = false;
            self.feed();
            self.drain(now);
        }
        self.report_states(now, state);
        (self.falls, self.runs) = (counters.falls, counters.runs);
        if self.port.transmits() && self.transmit_at == NEVER {
            self.clock = CharacterClock::new(now, self.start_pace);
            self.transmit_at = now;
        }
        self.set_timer();
        fell
    }

    /// Reports all states from the last one to `to`.
    fn report_states(&mut self, now: Ps, to: SpaceWireState) {
        const ORDER: [SpaceWireState; 6] = [
            SpaceWireState::ErrorReset,
            SpaceWireState::ErrorWait,
            SpaceWireState::Ready,
            SpaceWireState::Started,
            SpaceWireState::Connecting,
            SpaceWireState::Run,
        ];
        let rank = |state| ORDER.iter().position(|other| *other == state).unwrap_or(0);
        let from = if to == SpaceWireState::ErrorReset { 0 } else { rank(self.state) + 1 };
        if self.state != to {
            for state in ORDER.iter().take(rank(to) + 1).skip(from) {
                self.report(now, EndEvent::LaneState { lane: 0, state: name(*state) });
            }
        }
        self.state = to;
        if to == SpaceWireState::Run
            && let Some(at) = self.broken_at.take()
        {
            self.report(now, EndEvent::Recovered { after_ps: now - at });
        }
    }

    fn report_fall(&mut self, now: Ps) {
        let errors = self.port.errors();
        self.port.clear_errors();
        let falls = &mut self.counts.falls;
        let causes = [
            (errors.disconnect, &mut falls.disconnect, Some("disconnect")),
            (errors.parity, &mut falls.parity, Some("parity error")),
            (errors.escape, &mut falls.escape, Some("escape error")),
            (errors.credit, &mut falls.credit, Some("credit error")),
            (errors.sequence, &mut falls.sequence, Some("character sequence error")),
            // No error: the far end is off.
            (errors.timeout, &mut falls.timeout, None),
        ];
        let Some((_, count, name)) = causes.into_iter().find(|(set, ..)| *set) else {
            falls.command += 1;
            return;
        };
        *count += 1;
        let Some(name) = name else { return };
        if self.state == SpaceWireState::Run {
            self.broken_at = Some(now);
        }
        self.report(now, EndEvent::Error { name });
    }

    /// Records an event for the observer.
    pub fn report(&mut self, at: Ps, event: EndEvent) {
        self.events.push((at + self.skipped, event));
    }
}

const fn name(state: SpaceWireState) -> &'static str {
    match state {
        SpaceWireState::ErrorReset => "ErrorReset",
        SpaceWireState::ErrorWait => "ErrorWait",
        SpaceWireState::Ready => "Ready",
        SpaceWireState::Started => "Started",
        SpaceWireState::Connecting => "Connecting",
        SpaceWireState::Run => "Run",
    }
}
