//! Faults planted into the trace of a run, to show that the rules find them.

use super::rule::Rule;
use crate::drill::wire::{ACK, FIN, Lies, Packet, RST, SYN, Segment, build, parse};

/// Suitable frames or deliveries before the one that is falsified.
const AFTER: u32 = 8;
/// Window of the peer, if it is falsified.
const SMALL_WINDOW: u16 = 500;

/// A fault of the endpoint, as it would look in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Plant {
    WrongChecksum,
    AckBack,
    AckAhead,
    WindowShrinks,
    BeyondWindow,
    SkippedSegment,
    WrongByte,
    SentTwice,
    LostByte,
    DeliveredTwice,
}

/// All plants, with the rules of which one must find it.
pub const PLANTS: [(Plant, &[Rule]); 10] = [
    (Plant::WrongChecksum, &[Rule::WellFormed]),
    (Plant::AckBack, &[Rule::AckRegressed]),
    (Plant::AckAhead, &[Rule::AckAhead]),
    (Plant::WindowShrinks, &[Rule::WindowShrank]),
    (Plant::BeyondWindow, &[Rule::WindowExceeded]),
    (Plant::SkippedSegment, &[Rule::SequenceGap]),
    (Plant::WrongByte, &[Rule::Content]),
    (Plant::SentTwice, &[Rule::Unjustified]),
    (Plant::LostByte, &[Rule::Delivery, Rule::Lost]),
    (Plant::DeliveredTwice, &[Rule::Delivery]),
];

/// A plant, and when it falsifies something.
#[derive(Debug)]
pub struct Planted {
    plant: Plant,
    left: u32,
    /// End of the data of the connection that was seen last, to tell new data from old.
    top: Option<(u16, u32)>,
}

impl Planted {
    pub(super) fn new(plant: Plant) -> Self {
        Self { plant, left: AFTER, top: None }
    }

    /// Counts a suitable moment; true in the one to falsify.
    fn now(&mut self) -> bool {
        let now = self.left == 1;
        self.left = self.left.saturating_sub(1);
        now
    }

    /// Falsifies a segment of the peer.
    pub(super) fn incoming(&mut self, seg: &mut Segment) {
        if self.plant == Plant::BeyondWindow {
            seg.window = seg.window.min(SMALL_WINDOW);
        }
    }

    /// The frames to see in place of a frame of the endpoint.
    pub(super) fn outgoing(&mut self, frame: &[u8]) -> Vec<Vec<u8>> {
        let as_it_is = vec![frame.to_vec()];
        let Ok(Packet::Tcp(mut seg)) = parse(frame) else { return as_it_is };
        let plain = seg.flags & (SYN | FIN | RST) == 0 && seg.flags & ACK != 0;
        let fresh = self.is_fresh(&seg);
        let suits = match self.plant {
            Plant::WrongChecksum | Plant::AckBack | Plant::AckAhead | Plant::WindowShrinks => plain,
            Plant::SkippedSegment | Plant::WrongByte | Plant::SentTwice => plain && fresh,
            Plant::BeyondWindow | Plant::LostByte | Plant::DeliveredTwice => false,
        };
        if !suits || !self.now() {
            return as_it_is;
        }
        match self.plant {
            Plant::SkippedSegment => return Vec::new(),
            Plant::SentTwice => return [as_it_is.clone(), as_it_is].concat(),
            Plant::AckBack => seg.ack = seg.ack.wrapping_sub(1_000_000),
            Plant::AckAhead => seg.ack = seg.ack.wrapping_add(1_000_000),
            Plant::WindowShrinks => seg.window /= 2,
            Plant::WrongByte => seg.payload[0] ^= 1,
            _ => {}
        }
        let lies = Lies { bad_sum: self.plant == Plant::WrongChecksum, ..Lies::default() };
        vec![build(&seg, &lies)]
    }

    /// Whether a segment has data beyond that of the segments before it.
    fn is_fresh(&mut self, seg: &Segment) -> bool {
        if seg.payload.is_empty() {
            return false;
        }
        let end = seg.seq.wrapping_add(seg.seq_len());
        let fresh = self
            .top
            .is_none_or(|(port, top)| port != seg.dport || end.wrapping_sub(top) as i32 > 0);
        if fresh {
            self.top = Some((seg.dport, end));
        }
        fresh
    }

    /// How many bytes of a delivery are lost, and how often the rest comes.
    pub(super) fn delivered(&mut self, length: usize) -> (usize, usize) {
        let plant = self.plant;
        match plant {
            Plant::LostByte if length > 1 && self.now() => (1, 1),
            Plant::DeliveredTwice if self.now() => (0, 2),
            _ => (0, 1),
        }
    }
}
