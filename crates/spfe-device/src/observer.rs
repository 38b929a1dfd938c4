//! Observers of a flow: captures see each packet as it is delivered.

use crate::piece::Piece;
use crate::queue::Host;
use crate::step::{Accepted, StepContext};
use spfe_contract::EndMarker;

/// A packet, or a part of one, that was delivered to a receiver.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Link time at which its last byte had passed the link, ns.
    pub time_ns: u64,
    /// It continues a packet that has begun.
    pub continues: bool,
    /// Payload.
    pub bytes: &'a [u8],
    /// End marker; [`EndMarker::None`] if the packet continues.
    pub end: EndMarker,
}

/// An observer of a flow. It is called with the seat of the flow held and must not block.
pub type DeliveryObserver = Box<dyn FnMut(Delivery<'_>) + Send>;

/// The observer of a flow, and a buffer to gather packets in.
pub(crate) struct ObservedFlow {
    observer: DeliveryObserver,
    bytes: Vec<u8>,
}

impl ObservedFlow {
    pub fn new(observer: DeliveryObserver) -> Self {
        Self { observer, bytes: Vec::new() }
    }

    /// Reports the bytes that a sink took of a piece. The sink had `before` bytes of it already;
    /// `continues` is whether the packet had begun.
    pub fn see<H: Host>(
        &mut self,
        piece: &Piece,
        (before, continues): (u32, bool),
        taken: Accepted,
        cx: &mut StepContext<'_, H>,
    ) {
        let whole = taken == Accepted::Whole;
        let until = if whole { piece.length } else { piece.done };
        let end = if whole { piece.end } else { EndMarker::None };
        self.bytes.clear();
        piece.append(before..until.max(before), &mut self.bytes);
        if !self.bytes.is_empty() || end != EndMarker::None {
            let time_ns = time(cx);
            (self.observer)(Delivery { time_ns, continues, bytes: &self.bytes, end });
        }
    }

    /// Reports that the open packet ended with EEP.
    pub fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, H>) {
        let (time_ns, end) = (time(cx), EndMarker::Eep);
        (self.observer)(Delivery { time_ns, continues: true, bytes: &[], end });
    }
}

fn time<H: Host>(cx: &mut StepContext<'_, H>) -> u64 {
    if cx.pacer.is_some() && cx.through_ns != 0 { cx.through_ns } else { cx.now() }
}
