//! What a step works with: sources, sinks, and how it ends.

use super::Piece;
use crate::copy::Copier;
use crate::memory::{RegionKey, RegionMap};
use crate::pace::Pacer;
use crate::queue::{CompletionTime, Host, QueueView};
use spfe_contract::Status;

/// What a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPiece {
    /// A piece.
    Ready,
    /// Nothing now.
    Idle,
    /// Nothing before this time in ns (instruments).
    At(u64),
    /// A submission was refused and completed with its error; `cut`: the open packet ends here.
    Failed {
        /// The receiver has part of a packet that will not go on.
        cut: bool,
    },
    /// The piece is in a region this process has not mapped.
    Unmapped(RegionKey),
}

/// How far an instrument may run ahead of the time on a paced link. What it has sent ahead is not
/// visible before its time, and its receiver can sleep until then without being woken.
pub const AHEAD_NS: u64 = 1_000_000;

/// Where pieces come from.
pub trait PieceSource {
    /// It could send for ever: on a paced link it runs only [`AHEAD_NS`] ahead of time.
    const ENDLESS: bool = false;
    /// The next piece, or the rest of the one that was paused.
    fn next(&mut self, map: &RegionMap, piece: &mut Piece, copier: &mut Copier<'_>) -> NextPiece;
    /// The sink took part of the piece and waits.
    fn pause(&mut self, piece: &Piece);
    /// The sink took all of it.
    fn done(&mut self, piece: &Piece, time: CompletionTime, copier: &mut Copier<'_>);
    /// The piece names a region that does not exist after all; true if a packet is cut.
    fn fail_unmapped(&mut self, piece: &Piece, status: Status, copier: &mut Copier<'_>) -> bool;
    /// End of a step: wake who waits.
    fn flush_step<H: Host>(&mut self, host: &mut H);
    /// The queue behind it.
    fn view(&self) -> Option<&QueueView>;
    /// Protection domain of its regions.
    fn domain(&self) -> u16;
    /// The receiver is gone: what is still to come of a packet it has part of is nobody's.
    fn lose(&mut self) {}
}

/// What became of a piece at the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// All of it.
    Whole,
    /// No room for the rest.
    Full,
    /// The room is in a region this process has not mapped.
    Unmapped(RegionKey),
}

/// Where pieces go.
pub trait PieceSink {
    /// Takes as much of the piece as there is room for.
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        map: &RegionMap,
        cx: &mut StepContext<'_, '_, H>,
    ) -> Accepted;
    /// The open packet will not go on: end it with EEP.
    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>);
    /// Its room names a region that does not exist after all.
    fn fail_unmapped<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, '_, H>);
    /// End of a step: publish what is held back (before the copies are settled).
    fn publish<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>);
    /// End of a step: wake who waits.
    fn flush_step<H: Host>(&mut self, host: &mut H);
    /// The queue behind it.
    fn view(&self) -> Option<&QueueView>;
    /// Protection domain of its regions.
    fn domain(&self) -> u16;
    /// Whether the last packet has begun and not ended.
    fn is_open(&self) -> bool;
    /// Whether an EEP waits for room.
    fn is_cut(&self) -> bool {
        false
    }
    /// A packet waits for room: tells a host that waits for more than it has room for.
    fn mark_full(&mut self) {}
    /// Whether the host has made room that no step has seen yet.
    fn has_room(&self) -> bool {
        false
    }
}

/// What a step works with.
pub struct StepContext<'c, 'a, H> {
    /// Time and wake-ups.
    pub host: &'c mut H,
    /// The link, if it is paced.
    pub pacer: Option<Pacer<'c>>,
    /// How bytes are copied.
    pub copier: Copier<'a>,
    /// Time of the step, read when first needed; 0 is not yet.
    pub now_ns: u64,
    /// Link time at which the bytes taken so far are through.
    pub through_ns: u64,
    /// Every completion has the time of its step.
    pub timed: bool,
}

impl<'c, 'a, H: Host> StepContext<'c, 'a, H> {
    /// Outside of a step: no link time passes.
    pub fn quiet(host: &'c mut H) -> Self {
        let (pacer, copier) = (None, Copier::Alone);
        Self { host, pacer, copier, now_ns: 0, through_ns: 0, timed: false }
    }

    /// Time of this step.
    #[inline]
    pub fn now(&mut self) -> u64 {
        if self.now_ns == 0 {
            self.now_ns = self.host.now_ns();
        }
        self.now_ns
    }

    /// Books bytes on the link, if it is paced.
    #[inline(always)]
    pub fn book(&mut self, bytes: u32, ends: bool) {
        if let Some(pacer) = self.pacer {
            let now = self.now();
            self.through_ns = pacer.book(now, bytes, ends);
        }
    }

    /// The time that goes with a completion of this queue.
    #[inline(always)]
    pub fn time(&mut self, stamps: bool) -> CompletionTime {
        if self.pacer.is_some() {
            CompletionTime::Visible(self.through_ns)
        } else if self.timed {
            CompletionTime::Visible(self.now())
        } else if stamps {
            CompletionTime::Stamp(self.now())
        } else {
            CompletionTime::None
        }
    }
}

/// What a step did and why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// Everything that was there has moved; the number of packets.
    Idle(u32),
    /// The budget is used up; there is more.
    More(u32),
    /// The receiver has no room; the number of packets before that.
    Stalled(u32),
    /// Nothing more before this time in ns (instruments).
    Until(u64, u32),
    /// Configuration or regions changed: [`Flow::bind`] first.
    Stale,
    /// A region has to be mapped first: {sender's side, key}.
    Unmapped(bool, RegionKey),
}

impl StepOutcome {
    /// The same after `before` more packets.
    pub(super) fn after(self, before: u32) -> Self {
        self.with(self.packets() + before)
    }

    /// The same with another number of packets.
    pub(super) fn with(self, packets: u32) -> Self {
        match self {
            Self::Idle(_) => Self::Idle(packets),
            Self::More(_) => Self::More(packets),
            Self::Stalled(_) => Self::Stalled(packets),
            Self::Until(at, _) => Self::Until(at, packets),
            other => other,
        }
    }

    /// Packets moved.
    pub const fn packets(self) -> u32 {
        match self {
            Self::Idle(n) | Self::More(n) | Self::Stalled(n) | Self::Until(_, n) => n,
            Self::Stale | Self::Unmapped(..) => 0,
        }
    }
}
