//! One direction of a SpaceFibre link.

use spfe_link::datalink::capability;
use spfe_link::word::Word;

use crate::LANES_MAX;
use crate::align::{Align, Aligned};
use crate::config::ListenerConfig;
use crate::event::{LanePhase, TraceEvent, TraceEventKind, TraceSink};
use crate::frame::Frames;
use crate::lane::Lane;

/// Decodes one direction, from the words of its lanes to packets.
///
/// It may start anywhere in the traffic. Values that it cannot know yet (numbers, the idle
/// sequence) are taken from the first words that show them. Memory is bounded: one frame, at most
/// 127 remembered items, and for each of 32 virtual channels the first bytes of a packet.
#[derive(Clone, Debug)]
pub struct LinkListener {
    lanes: Vec<Lane>,
    align: Align,
    frames: Frames,
    scrambled: Option<bool>,
    at: u64,
    /// A link reset was reported, and nothing has come since.
    fresh: bool,
}

impl LinkListener {
    /// Creates a listener that has received nothing.
    pub fn new(config: &ListenerConfig) -> Self {
        let lanes = config.lanes.clamp(1, LANES_MAX as u8);
        Self {
            lanes: (0..lanes).map(Lane::new).collect(),
            align: Align::new(),
            frames: Frames::new(config),
            scrambled: config.scrambled,
            at: 0,
            fresh: false,
        }
    }

    /// Number of word periods so far.
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Phase of the sender of a lane.
    pub fn phase(&self, lane: u8) -> LanePhase {
        self.lanes.get(usize::from(lane)).map_or(LanePhase::Unknown, Lane::phase)
    }

    /// Processes the words of one word period, lane 0 first; `None` without signal. Missing lanes
    /// count as without signal; lanes above the number of lanes are ignored.
    pub fn push(&mut self, words: &[Option<Word>], sink: &mut TraceSink<'_>) {
        let at = self.at;
        self.at += 1;
        let mut up = [None; LANES_MAX];
        let mut lost = false;
        let words = words.iter().copied().chain(core::iter::repeat(None));
        let lanes = self.lanes.iter_mut().zip(words).zip(&mut up).enumerate();
        for (number, ((lane, word), up)) in lanes {
            let before = lane.phase();
            *up = lane.push(word, at, sink);
            let after = lane.phase();
            if before == after {
                continue;
            }
            if before == LanePhase::Active {
                lost = true;
                *up = None;
                self.align.drop_lane(number);
            }
            if after == LanePhase::Active {
                self.fresh = false;
            }
        }
        if lost {
            self.frames.damage(at, sink);
        }
        self.capability(at, sink);
        match self.align.push(up.get(..self.lanes.len()).unwrap_or_default(), at, sink) {
            Aligned::None => {}
            Aligned::Row(row) => self.frames.row(&row, at, sink),
            Aligned::RxErr => self.frames.damage(at, sink),
        }
    }

    /// Takes link resets and scrambling from INIT3 words.
    fn capability(&mut self, at: u64, sink: &mut TraceSink<'_>) {
        if self.lanes.iter().any(|lane| lane.phase() == LanePhase::Active) {
            return;
        }
        let told = self.lanes.iter().filter(|lane| lane.phase() == LanePhase::Init3);
        let Some(field) = told.filter_map(Lane::capability).next() else { return };
        if self.scrambled.is_none() {
            self.frames.set_scrambled(field & capability::DATA_SCRAMBLED != 0);
        }
        if field & capability::LINK_RESET != 0 && !self.fresh {
            self.fresh = true;
            self.align.reset();
            sink(TraceEvent { at, what: TraceEventKind::LinkReset });
            self.frames.reset(at, sink);
        }
    }

    /// Ends the input: reports frames and packets in progress.
    pub fn finish(&mut self, sink: &mut TraceSink<'_>) {
        self.frames.finish(self.at, sink);
    }
}
