//! Somebody looks on: what a flow delivers is shown as it goes, to a capture.

use crate::flow::{Accepted, Piece, StepContext};
use crate::queue::Host;
use spfe_contract::EndMarker;

/// A part of a packet that a receiver got.
#[derive(Clone, Copy, Debug)]
pub struct Delivery<'a> {
    /// Link time at which it was through, ns.
    pub time_ns: u64,
    /// It goes on with a packet that has begun.
    pub continues: bool,
    /// Bytes.
    pub bytes: &'a [u8],
    /// How the packet ends, if it does.
    pub end: EndMarker,
}

/// Who is shown what a flow delivers. Called with the flow's seat held: it must not wait.
pub type DeliveryObserver = Box<dyn FnMut(Delivery<'_>) + Send>;

/// A observer on a flow, and room for a part of a packet.
pub(crate) struct ObservedFlow {
    observer: DeliveryObserver,
    bytes: Vec<u8>,
}

impl ObservedFlow {
    pub fn new(observer: DeliveryObserver) -> Self {
        Self { observer, bytes: Vec::new() }
    }

    /// A sink took of a piece what is behind its first `before` bytes.
    pub fn see<H: Host>(
        &mut self,
        piece: &Piece,
        (before, continues): (u32, bool),
        taken: Accepted,
        cx: &mut StepContext<'_, '_, H>,
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

    /// The packet under way ended with an EEP.
    pub fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>) {
        let (time_ns, end) = (time(cx), EndMarker::Eep);
        (self.observer)(Delivery { time_ns, continues: true, bytes: &[], end });
    }
}

fn time<H: Host>(cx: &mut StepContext<'_, '_, H>) -> u64 {
    if cx.pacer.is_some() && cx.through_ns != 0 { cx.through_ns } else { cx.now() }
}
