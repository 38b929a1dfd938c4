//! Broadcast messages, time-codes, and time-slot numbers.
//!
//! On SpaceFibre links a time-code is a broadcast message whose first byte is the code. Routers
//! with SpaceWire ports convert between both forms.

mod relay;
mod sender;

pub use relay::{Relay, TimeCodeChannel};
pub use sender::{DueMessage, MessageSource, Sender, SenderSettings};

use crate::link::Side;
use crate::links::Links;
use crate::reports::{NumberedMessage, Reports};
use crate::time::Ps;

/// Takes the next received message from an end of a link.
#[inline]
pub fn take(
    now: Ps,
    links: &mut (impl Links + ?Sized),
    (link, side): (usize, Side),
    reports: &mut (impl Reports + ?Sized),
) -> Option<NumberedMessage> {
    if !links.is_awake(link) {
        return None;
    }
    let end = links.end((link, side))?;
    let message = match end.receive_broadcast() {
        Some(message) => NumberedMessage::Broadcast(message),
        None => NumberedMessage::Code(end.receive_code()?),
    };
    reports.message(now, (link, side), false, &message);
    Some(message)
}

/// Gives a message to an end of a link. False if it accepts none.
pub fn give(
    now: Ps,
    links: &mut dyn Links,
    (link, side): (usize, Side),
    message: NumberedMessage,
    reports: &mut dyn Reports,
) -> bool {
    links.used(link);
    let Some(end) = links.end((link, side)) else { return false };
    let taken = match message {
        NumberedMessage::Broadcast(message) => end.send_broadcast(message),
        NumberedMessage::Code(code) => end.send_code(code),
    };
    if taken {
        reports.message(now, (link, side), true, &message);
    }
    taken
}
