//! The rules that [`super::watch`] checks.

/// A rule of which a violation was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Frames have valid checksums and lengths.
    WellFormed,
    /// Segments belong to a connection that SYNs have opened.
    Known,
    /// ACK numbers never go back.
    AckRegressed,
    /// ACK numbers cover only what has arrived.
    AckAhead,
    /// The right edge of the offered window never goes back (RFC 9293, 3.8.6).
    WindowShrank,
    /// No segment goes beyond the window that the peer has offered.
    WindowExceeded,
    /// No segment is longer than the peer's MSS.
    TooLong,
    /// Sequence numbers have no gap.
    SequenceGap,
    /// Each byte is that of the user, also in a retransmission, and FIN follows the last one.
    Content,
    /// A retransmission follows a time-out, three duplicate ACKs, or is part of a recovery.
    Unjustified,
    /// The user gets the peer's bytes once and in order.
    Delivery,
    /// Everything acknowledged reaches the user.
    Lost,
}
