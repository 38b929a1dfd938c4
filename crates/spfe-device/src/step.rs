//! The parts of a general step: a source of pieces, a sink for them, and the outcome.

use crate::memory::{RegionKey, RegionMap};
use crate::pace::Pacer;
use crate::piece::Piece;
use crate::queue::{CompletionTime, Host, QueueView};
use spfe_contract::Status;
use spfe_proto::sfrp::SfrpHeader;
use spfe_rdma::RdmaTarget;
use spfe_rdma::direct::{Payload, Taker};
use spfe_rdma::near::NearTally;

/// The next piece of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextPiece {
    /// A piece is there.
    Ready,
    /// No piece is there now.
    Idle,
    /// No piece before this device time, ns (instruments only).
    At(u64),
    /// A submission was refused and completed with an error status.
    Failed {
        /// The receiver has the first part of a packet that will not continue.
        cut: bool,
    },
    /// The piece is in a region that this process has not mapped.
    Unmapped(RegionKey),
}

/// How far an instrument may run ahead of device time on a paced link, ns. A packet sent early
/// becomes visible at its time only, and its receiver sleeps until then without being woken.
pub const AHEAD_NS: u64 = 1_000_000;

/// A source of pieces: the transmit queue or an instrument.
pub trait PieceSource {
    /// The source always has a piece. On a paced link it may run ahead by [`AHEAD_NS`] only.
    const ENDLESS: bool = false;
    /// Fills in the next piece, or the rest of the paused one.
    fn next(&mut self, map: &RegionMap, piece: &mut Piece) -> NextPiece;
    /// The sink took a part of the piece, and a later step gives it the rest.
    fn pause(&mut self, piece: &Piece);
    /// The piece waits because the sink has no room.
    fn count_stall(&mut self) {}
    /// The sink took all of the piece. `time` goes into the completion.
    fn done(&mut self, piece: &Piece, time: CompletionTime);
    /// The region of the piece does not exist. True if that cuts a packet.
    fn fail_unmapped(&mut self, piece: &Piece, status: Status) -> bool;
    /// Ends a step: wakes the host if its threshold is met.
    fn flush_step<H: Host>(&mut self, host: &mut H);
    /// The transmit queue; `None` for an instrument.
    fn view(&self) -> Option<&QueueView>;
    /// Protection domain of the source's regions.
    fn domain(&self) -> u16;
    /// The receiver of the open packet is gone: discards the rest of that packet.
    fn lose(&mut self) {}
    /// Itself, if it can hand packets of RDMA over.
    fn hands(&mut self) -> Option<&mut impl HandSource> {
        None::<&mut NoHands>
    }
}

/// How much of a piece a sink took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The whole piece.
    Whole,
    /// A part or none of it: there is no room for the rest.
    Full,
    /// None of it: the next buffer is in a region that this process has not mapped.
    Unmapped(RegionKey),
}

/// A sink for pieces: the receive queue or an instrument.
pub trait PieceSink {
    /// Takes as much of the piece as there is room for and advances [`Piece::done`].
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    ) -> Accepted;
    /// Ends the open packet with EEP because it will not continue. If there is no room for that,
    /// [`PieceSink::is_cut`] is true from then on.
    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, H>);
    /// The region of the next buffer does not exist: completes the buffer with `status`.
    fn fail_unmapped<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, H>);
    /// Ends a step: publishes a run that is held back. Comes before shared copies are settled.
    fn publish<H: Host>(&mut self, cx: &mut StepContext<'_, H>);
    /// Ends a step: wakes the host if its threshold is met.
    fn flush_step<H: Host>(&mut self, host: &mut H);
    /// The receive queue; `None` for an instrument.
    fn view(&self) -> Option<&QueueView>;
    /// Protection domain of the sink's regions.
    fn domain(&self) -> u16;
    /// Whether a packet has begun and not ended.
    fn is_open(&self) -> bool;
    /// Whether an EEP waits for room.
    fn is_cut(&self) -> bool {
        false
    }
    /// Itself, if it can take packets of RDMA that are handed over.
    fn takes(&mut self) -> Option<&mut impl HandSink> {
        None::<&mut NoHands>
    }
    /// A packet waits for room: tells a host that waits for more packets than it has room for.
    fn mark_full(&mut self) {}
    /// Whether the host has posted room that no step has used yet.
    fn has_room(&self) -> bool {
        false
    }
}

/// What a source hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHanded {
    /// A packet of this many bytes was handed over.
    Handed(u32),
    /// The next packet, or the rest of one, has to be sent.
    Packet,
    /// No packet is there now.
    Idle,
    /// No packet before this device time, ns.
    At(u64),
    /// A piece is in a region that this process has not mapped.
    Unmapped(RegionKey),
}

/// Whether a sink can take a packet that is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandRoom {
    /// It can.
    Free,
    /// It takes packets only, perhaps for now.
    Packet,
    /// A piece is in a region that this process has not mapped.
    Unmapped(RegionKey),
}

/// An end of a flow that can hand packets of RDMA over (`rdma::direct`), if the other end can.
pub trait HandSource {
    /// Hands the next packet over, and counts it.
    fn hand(&mut self, map: &RegionMap, take: Taker<'_>) -> NextHanded;
}

/// The far end of requests that are executed at once.
pub struct NearFar<'a> {
    /// The target.
    pub target: &'a mut RdmaTarget,
    /// Domain of the program's memory that it serves.
    pub domain: u16,
}

/// An end of a flow that can take packets of RDMA that are handed over.
pub trait HandSink {
    /// Whether it can take one now.
    fn hand_room(&mut self, map: &RegionMap) -> HandRoom;
    /// Takes one, and books its link time.
    fn take_handed<H: Host>(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'_>,
        map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    );
    /// Lends its target to requests that are executed at once, and counts the packets that were not
    /// needed. Does not if packets are on their way at this end.
    fn lend(&mut self, work: impl FnOnce(NearFar<'_>) -> NearTally) -> NearTally;
}

/// An end that neither hands packets over nor takes them so.
pub enum NoHands {}

impl HandSource for NoHands {
    fn hand(&mut self, _: &RegionMap, _: Taker<'_>) -> NextHanded {
        match *self {}
    }
}

impl HandSink for NoHands {
    fn hand_room(&mut self, _: &RegionMap) -> HandRoom {
        match *self {}
    }

    fn take_handed<H: Host>(
        &mut self,
        _: &SfrpHeader,
        _: Payload<'_>,
        _: &RegionMap,
        _: &mut StepContext<'_, H>,
    ) {
        match *self {}
    }

    fn lend(&mut self, _: impl FnOnce(NearFar<'_>) -> NearTally) -> NearTally {
        match *self {}
    }
}

/// State of one step that source and sink share.
pub struct StepContext<'c, H> {
    /// Clock and wake-ups.
    pub host: &'c mut H,
    /// Pacing of the link, if any.
    pub pacer: Option<Pacer<'c>>,
    /// Device time of the step, ns. 0 until it is first needed.
    pub now_ns: u64,
    /// Link time at which the last byte taken so far has passed the link, ns.
    pub through_ns: u64,
    /// Every completion carries the time of its step.
    pub timed: bool,
}

impl<'c, H: Host> StepContext<'c, H> {
    /// A context for work outside of a step: without pacing.
    pub fn quiet(host: &'c mut H) -> Self {
        Self { host, pacer: None, now_ns: 0, through_ns: 0, timed: false }
    }

    /// Device time of this step, ns.
    #[inline]
    pub fn now(&mut self) -> u64 {
        if self.now_ns == 0 {
            self.now_ns = self.host.now_ns();
        }
        self.now_ns
    }

    /// Books bytes on a paced link.
    #[inline(always)]
    pub fn book(&mut self, bytes: u32, ends: bool) {
        if let Some(pacer) = self.pacer {
            let now = self.now();
            self.through_ns = pacer.book(now, bytes, ends);
        }
    }

    /// The time for a completion. `stamps`: the queue wants time stamps.
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

/// Limits of a step beside its budget, for a device whose clients do not trust each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimits {
    /// Bytes that the general path copies. The rest of a longer packet is left to later steps.
    pub bytes: u64,
    /// Longest packet that the fast path moves. It does not stop inside a packet.
    pub fast_packet: u32,
}

impl StepLimits {
    /// No limits.
    pub const NONE: Self = Self { bytes: u64::MAX, fast_packet: u32::MAX };
}

/// The number of packets that a step moved, and why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// Every posted packet was moved.
    Idle(u32),
    /// The budget or a limit is used up, and there may be more to do.
    More(u32),
    /// The receiver has no room for the next packet.
    Stalled(u32),
    /// An instrument has no further packet before this device time, ns; then the packets.
    Until(u64, u32),
    /// Configuration or regions have changed: call [`crate::Flow::bind`] first.
    Stale,
    /// Map this region first. True if it is a region of the sender.
    Unmapped(bool, RegionKey),
}

impl StepOutcome {
    /// The same outcome with `before` more packets.
    pub(crate) fn after(self, before: u32) -> Self {
        self.with(self.packets() + before)
    }

    /// The same outcome with another number of packets.
    pub(crate) fn with(self, packets: u32) -> Self {
        match self {
            Self::Idle(_) => Self::Idle(packets),
            Self::More(_) => Self::More(packets),
            Self::Stalled(_) => Self::Stalled(packets),
            Self::Until(at, _) => Self::Until(at, packets),
            other => other,
        }
    }

    /// Number of packets moved.
    pub const fn packets(self) -> u32 {
        match self {
            Self::Idle(n) | Self::More(n) | Self::Stalled(n) | Self::Until(_, n) => n,
            Self::Stale | Self::Unmapped(..) => 0,
        }
    }
}
