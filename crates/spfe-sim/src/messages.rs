//! Broadcast messages, time-codes, and time-slot numbers.
//!
//! On SpaceFibre links a time-code is a broadcast message whose first byte is the code. Routers
//! with SpaceWire ports convert between both forms.

mod relay;
mod sender;

pub use relay::{Relay, TimeCodeChannel};
pub use sender::{DueMessage, MessageSource, Sender, SenderSettings};

use crate::link::Side;
use crate::links::LinkSet;
use crate::tap::PacketTap;
use crate::time::Ps;
use spfe_link::datalink::LinkBroadcast;
use spfe_link::spacewire::BroadcastCode;

/// A message of either kind.
#[derive(Clone, Copy, Debug)]
pub enum NumberedMessage {
    /// A broadcast message.
    Broadcast(LinkBroadcast),
    /// A time-code or interrupt.
    Code(BroadcastCode),
}

/// Takes the next received message from an end of a link.
pub fn take(
    now: Ps,
    links: &mut LinkSet,
    (link, side): (usize, Side),
    tap: &mut PacketTap<'_>,
) -> Option<NumberedMessage> {
    if !links.is_awake(link) {
        return None;
    }
    let end = links.end((link, side))?;
    if let Some(message) = end.receive_broadcast() {
        tap.outer.broadcast(now, link as u32, side, false, &message);
        return Some(NumberedMessage::Broadcast(message));
    }
    let code = end.receive_code()?;
    tap.outer.code(now, link as u32, side, false, code);
    Some(NumberedMessage::Code(code))
}

/// Gives a message to an end of a link. False if it accepts none.
pub fn give(
    now: Ps,
    links: &mut LinkSet,
    (link, side): (usize, Side),
    message: NumberedMessage,
    tap: &mut PacketTap<'_>,
) -> bool {
    links.used(link);
    let Some(end) = links.end((link, side)) else { return false };
    match message {
        NumberedMessage::Broadcast(message) => {
            let taken = end.send_broadcast(message);
            if taken {
                tap.outer.broadcast(now, link as u32, side, true, &message);
            }
            taken
        }
        NumberedMessage::Code(code) => {
            let taken = end.send_code(code);
            if taken {
                tap.outer.code(now, link as u32, side, true, code);
            }
            taken
        }
    }
}
