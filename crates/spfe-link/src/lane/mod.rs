//! A lane: initialisation, SKIP and IDLE, word synchronisation, RXERR, loopbacks (50-11C 5.5).
//!
//! In each word period call [`Lane::transmit`] once, then [`Lane::receive`]. On the line, `None`
//! stands for a driver that is off or a cable that is unplugged. A lane works on words;
//! [`LaneCoder`] adds the 8b/10b code and the bits of the line.

mod burst;
mod coded;
mod elastic;
pub mod mib;
mod seen;
mod state;
mod sync;

pub(crate) use burst::LaneWord;
pub use coded::{AlignedWord, BitSync, LaneCoder, LineDecoder};
pub use elastic::ElasticBuffer;
pub use mib::{LaneConfig, LaneParameters, LaneStatus};
pub use state::{LaneState, LostSignalCause};
pub use sync::{SyncState, WordSync};

use crate::code::invert_word;
use crate::control::ControlWord;
use crate::prbs::Prbs;
use crate::word::Word;
use seen::ReceivedWords;

/// Bits of the capability field of INIT3 (50-11C 5.3.3.8).
pub mod capability {
    /// The sender's link reset is not finished.
    pub const LINK_RESET: u8 = 1;
    /// LaneStart of the sending lane. The lane itself sets it.
    pub const LANE_START: u8 = 1 << 1;
    /// The sender scrambles its data frames.
    pub const DATA_SCRAMBLED: u8 = 1 << 2;
    /// The sender supports the multi-lane protocol.
    pub const MULTI_LANE: u8 = 1 << 3;
    /// The sender is a routing switch.
    pub const ROUTING_SWITCH: u8 = 1 << 4;
}

/// Duration of ClearLine.
pub const CLEAR_LINE_NS: u64 = 2000;

/// Words between two SKIPs; the maximum value if the lane sends none.
const fn skip_interval(config: &LaneConfig) -> u64 {
    match config.skip_interval_words {
        0 => u64::MAX,
        words => words as u64,
    }
}

/// One end of a lane.
#[derive(Clone, Debug)]
pub struct Lane {
    config: LaneConfig,
    /// Parameters; management may change them at any time.
    pub parameters: LaneParameters,
    status: LaneStatus,
    sync: WordSync,
    seen: ReceivedWords,
    clear_line_words: u32,
    /// Word periods since this state was entered.
    periods: u32,
    /// Word periods since Started was entered.
    timer: u32,
    /// Words until the next SKIP.
    skip_left: u64,
    filler: Prbs,
    filler_left: u8,
    init3_sent: u8,
    /// Bits of the capability field that the layers above set.
    capability: u8,
    /// Capability field of this initialisation.
    capability_sent: u8,
    capability_event: Option<u8>,
    far_end_active: bool,
    rx_only: bool,
    reset: bool,
    leak: u32,
    sent: Option<Word>,
    line: Option<Word>,
}

impl Lane {
    /// Creates a lane in ClearLine, with the parameters after reset.
    pub fn new(config: LaneConfig) -> Self {
        Self {
            config,
            parameters: LaneParameters::new(),
            status: LaneStatus { no_signal: true, ..LaneStatus::default() },
            sync: WordSync::new(&config),
            seen: ReceivedWords::default(),
            clear_line_words: config.words_in_ns(CLEAR_LINE_NS),
            periods: 0,
            timer: 0,
            skip_left: skip_interval(&config),
            filler: Prbs::new(),
            filler_left: 0,
            init3_sent: 0,
            capability: 0,
            capability_sent: 0,
            capability_event: None,
            far_end_active: false,
            rx_only: false,
            reset: false,
            leak: config.rxerr_leak_words,
            sent: None,
            line: None,
        }
    }

    /// The configuration that the lane was created with.
    pub const fn config(&self) -> &LaneConfig {
        &self.config
    }

    /// Status for the management information base.
    pub const fn status(&self) -> &LaneStatus {
        &self.status
    }

    /// Current state.
    #[inline(always)]
    pub const fn state(&self) -> LaneState {
        self.status.state
    }

    /// Whether words of the layers above pass.
    #[inline(always)]
    pub fn is_active(&self) -> bool {
        self.status.state == LaneState::Active
    }

    /// State of the receive synchronisation.
    pub const fn sync_state(&self) -> SyncState {
        self.sync.state()
    }

    /// Clears the status flags.
    pub fn clear_status(&mut self) {
        let LaneStatus { state, rxerr_count, far_end_capability, .. } = self.status;
        let LaneStatus { rx_polarity_inverted, no_signal, .. } = self.status;
        self.status = LaneStatus {
            state,
            rxerr_count,
            far_end_capability,
            rx_polarity_inverted,
            no_signal,
            ..LaneStatus::default()
        };
    }

    /// LaneReset: enters ClearLine at the end of this word period.
    pub fn reset(&mut self) {
        self.reset = true;
    }

    /// Sets the bits of the capability field that come from the layers above, see [`capability`].
    /// They take effect when Connected is entered.
    pub fn set_capability(&mut self, bits: u8) {
        self.capability = bits & !capability::LANE_START;
    }

    /// Capability field of the INIT3 sent last.
    pub const fn capability_sent(&self) -> u8 {
        self.capability_sent
    }

    /// Takes the capability field of the far end. It is delivered once for each three identical
    /// INIT3.
    pub fn take_far_end_capability(&mut self) -> Option<u8> {
        self.capability_event.take()
    }

    /// Sets FarEndActive, which the multi-lane layer learns from ACTIVE words.
    pub fn set_far_end_active(&mut self, active: bool) {
        self.far_end_active = active;
    }

    /// Sets RxOnly: the lane comes up although the far end cannot hear it (50-11C 5.6.5).
    pub fn set_rx_only(&mut self, rx_only: bool) {
        self.rx_only = rx_only;
    }

    /// TxOnly: the lane comes up although it cannot hear the far end.
    pub fn tx_only(&self) -> bool {
        let LaneParameters { tx_en, rx_en, .. } = self.parameters;
        tx_en && !rx_en && self.state() != LaneState::ClearLine
    }

    /// Whether a physical layer that works on bits must invert the received bits.
    pub const fn invert_rx(&self) -> bool {
        self.status.rx_polarity_inverted
    }

    /// Word on the line that the driver sent last.
    pub const fn sent(&self) -> Option<Word> {
        self.sent
    }

    /// Word on the line that the receiver got last.
    pub const fn line(&self) -> Option<Word> {
        self.line
    }

    /// Reports that the word boundary moved: the word in progress is lost.
    pub fn realign(&mut self) {
        self.sync.realign();
    }

    /// Whether the lane would take a word in this word period.
    #[inline(always)]
    pub fn takes(&self) -> bool {
        self.is_active() && !self.skip_due() && !self.parameters.far_end_parallel_loopback
    }

    #[inline(always)]
    fn skip_due(&self) -> bool {
        self.skip_left == 0
    }

    /// Runs the driver for one word period. Returns the word on the line, and whether the offered
    /// word was taken.
    #[inline(always)]
    pub fn transmit(&mut self, offered: Option<Word>) -> (Option<Word>, bool) {
        let LaneParameters { tx_en, far_end_parallel_loopback, .. } = self.parameters;
        if self.is_active() && tx_en && !far_end_parallel_loopback && !self.rx_only {
            let (word, taken) = self.transmit_active(offered);
            self.sent = Some(word);
            return (self.sent, taken);
        }
        self.transmit_any(offered)
    }

    #[inline(never)]
    fn transmit_any(&mut self, offered: Option<Word>) -> (Option<Word>, bool) {
        // A far-end loopback takes no word, so a near-end loopback beside it delivers none.
        let offered = offered.filter(|_| !self.parameters.far_end_parallel_loopback);
        let (word, mut taken) = if self.is_active() {
            self.transmit_active(offered)
        } else {
            (self.transmit_starting(), false)
        };
        let drives = self.state().drives() && !self.rx_only && self.parameters.tx_en;
        self.sent = drives.then_some(word);
        if self.parameters.far_end_parallel_loopback {
            taken = false;
            if drives {
                return (self.line, false);
            }
        }
        (self.sent, taken)
    }

    #[inline(always)]
    fn transmit_active(&mut self, offered: Option<Word>) -> (Word, bool) {
        if self.skip_due() {
            self.skip_left = skip_interval(&self.config) - 1;
            return (const { ControlWord::Skip.encode() }, false);
        }
        self.skip_left -= 1;
        match offered {
            Some(word) => (word, true),
            None => (const { ControlWord::Idle.encode() }, false),
        }
    }

    fn transmit_starting(&mut self) -> Word {
        let (control, filler) = match self.state() {
            LaneState::Started | LaneState::InvertRxPolarity => {
                (ControlWord::Init1, self.config.filler_words)
            }
            LaneState::Connecting => (ControlWord::Init2, self.config.filler_words),
            LaneState::Connected => {
                let capability = self.capability_sent;
                (ControlWord::Init3 { capability }, self.config.init3_filler_words)
            }
            LaneState::PrepareStandby => {
                (ControlWord::Standby { reason: self.parameters.standby_reason }, 0)
            }
            LaneState::LossOfSignal => {
                let cause = self.status.lost_signal_cause.map_or(0, |cause| cause as u8);
                (ControlWord::LostSignal { cause }, 0)
            }
            _ => (ControlWord::Idle, 0),
        };
        if self.filler_left != 0 {
            self.filler_left -= 1;
            return Word::data(self.filler.word());
        }
        self.filler_left = filler;
        if self.state() == LaneState::Connected {
            self.init3_sent = self.init3_sent.saturating_add(1);
        }
        control.encode()
    }

    /// Runs the receiver for one word period. Returns the word for the layer above. On the line, a
    /// damaged word is [`Word::RXERR`], or has K0.0 in place of each damaged symbol.
    #[inline(always)]
    pub fn receive(&mut self, line: Option<Word>) -> Option<Word> {
        self.line = line;
        match line {
            // Fast path: data words of a lane that runs.
            Some(word) if word.k == 0 && self.is_steady() => {
                self.leak_rxerr();
                let word = self.sync.receive(word);
                if word.k == 0 {
                    self.seen.stop(None);
                    return Some(word);
                }
                self.receive_in_active(word)
            }
            _ => self.receive_any(line),
        }
    }

    #[inline(never)]
    fn receive_any(&mut self, line: Option<Word>) -> Option<Word> {
        let near = self.parameters.near_end_parallel_loopback;
        let line = if near { self.sent } else { line };
        self.status.no_signal = line.is_none() && !near;
        let hears = self.state().receives() && self.parameters.rx_en;
        let word = if hears {
            let word = match line {
                Some(word) if self.status.rx_polarity_inverted && self.config.inverts_words => {
                    invert_word(word)
                }
                Some(word) => word,
                None => Word::RXERR,
            };
            Some(self.sync.receive(word))
        } else {
            self.sync.lose();
            None
        };
        if self.is_active() { self.receive_active(word) } else { self.receive_starting(word) }
    }

    fn receive_starting(&mut self, word: Option<Word>) -> Option<Word> {
        if let Some(word) = word {
            let before = self.seen.init3;
            self.seen.word(word, ControlWord::decode(word));
            let listening = matches!(self.state(), LaneState::Connecting | LaneState::Connected);
            if listening && self.seen.init3 == 3 && before < 3 {
                self.status.far_end_capability = Some(self.seen.capability);
                self.capability_event = Some(self.seen.capability);
            }
        }
        self.advance();
        None
    }

    fn receive_active(&mut self, word: Option<Word>) -> Option<Word> {
        let Some(word) = word else {
            self.advance();
            return (!self.is_active() && self.parameters.rx_en).then_some(Word::RXERR);
        };
        self.leak_rxerr();
        self.receive_in_active(word)
    }

    /// Processes a word that may end Active.
    #[inline(never)]
    fn receive_in_active(&mut self, word: Word) -> Option<Word> {
        let up = if word.k == 0 {
            self.seen.stop(None);
            Some(word)
        } else {
            self.receive_control(word)
        };
        self.advance();
        if self.is_active() { up } else { Some(Word::RXERR) }
    }

    /// Whether data words pass without a change of state.
    #[inline(always)]
    fn is_steady(&self) -> bool {
        let LaneParameters { lane_start, auto_start, lane_reset, rx_en, .. } = self.parameters;
        let LaneStatus { no_signal, rx_polarity_inverted, .. } = self.status;
        let inverts = rx_polarity_inverted && self.config.inverts_words;
        let near = self.parameters.near_end_parallel_loopback;
        let stays = rx_en && (lane_start || auto_start);
        // An INIT1 that came in RxOnly counts when RxOnly ends.
        let changes = no_signal | self.reset | lane_reset | inverts | near | self.seen.init1;
        self.is_active() && stays && !changes
    }

    /// Removes the words that are not for the layers above (50-11C 5.5.4).
    fn receive_control(&mut self, word: Word) -> Option<Word> {
        let control = ControlWord::decode(word);
        self.seen.stop(control);
        match control {
            Some(ControlWord::RxErr) => {
                self.status.rxerr_count = self.status.rxerr_count.saturating_add(1);
                self.status.rxerr_overflow |= self.status.rxerr_count == state::RXERR_LIMIT;
                Some(word)
            }
            Some(ControlWord::Init1) => {
                self.seen.init1 = true;
                Some(Word::RXERR)
            }
            Some(ControlWord::Standby { .. } | ControlWord::LostSignal { .. }) => Some(Word::RXERR),
            Some(
                ControlWord::Skip
                | ControlWord::Idle
                | ControlWord::Init2
                | ControlWord::Init3 { .. }
                | ControlWord::Init1Inverted
                | ControlWord::Init2Inverted,
            ) => None,
            _ => Some(word),
        }
    }

    #[inline(always)]
    fn leak_rxerr(&mut self) {
        self.leak = self.leak.saturating_sub(1);
        if self.leak == 0 {
            self.leak = self.config.rxerr_leak_words;
            // The counter stays at its limit for management to read.
            if self.status.rxerr_count != state::RXERR_LIMIT {
                self.status.rxerr_count = self.status.rxerr_count.saturating_sub(1);
            }
        }
    }

    /// Ends a word period.
    #[inline]
    fn advance(&mut self) {
        self.periods = self.periods.saturating_add(1);
        self.timer = self.timer.saturating_add(1);
        let reset = self.reset || self.parameters.lane_reset;
        let next = if reset { LaneState::ClearLine } else { self.next_state() };
        if reset || next != self.status.state {
            self.enter(next, reset);
        }
    }

    fn enter(&mut self, next: LaneState, reset: bool) {
        let before = core::mem::replace(&mut self.status.state, next);
        self.seen.clear(before == LaneState::Connecting && next == LaneState::Connected);
        self.periods = 0;
        self.filler_left = 0;
        match next {
            LaneState::ClearLine => {
                self.reset = false;
                self.status.rx_polarity_inverted = false;
                self.sync.lose();
                if reset {
                    self.status.rxerr_count = 0;
                }
            }
            LaneState::Started => {
                self.timer = 0;
                self.filler = Prbs::new();
            }
            LaneState::InvertRxPolarity => {
                self.status.rx_polarity_inverted = !self.status.rx_polarity_inverted;
            }
            LaneState::Connected => {
                self.status.rxerr_count = 0;
                self.leak = self.config.rxerr_leak_words;
                self.init3_sent = 0;
                let start = if self.parameters.lane_start { capability::LANE_START } else { 0 };
                self.capability_sent = self.capability | start;
            }
            LaneState::Active => self.skip_left = skip_interval(&self.config),
            _ => {}
        }
    }
}
