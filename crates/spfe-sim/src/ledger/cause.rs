//! Why a packet did not come, or not whole.

use spfe_link::network::Reason;

/// A reason of the standard's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A link of its way was reset (50-11C 5.7.9): both ends throw away what they hold.
    LinkReset(u32),
    /// A SpaceWire link of its way failed (50-12C 5.5.7).
    Disconnect(u32),
    /// A fault on a SpaceWire link of its way: SpaceWire finds errors by parity only, so that a
    /// packet may come altered.
    Fault(u32),
    /// A router threw it away.
    Router(u32, &'static str),
    /// The target refused a command: the status of its reply (50-52C 5.6).
    Status(u8),
}

/// The name of a router's reason.
pub const fn name_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Empty => "no address",
        Reason::InvalidAddress => "invalid address",
        Reason::NoPort => "no such port",
        Reason::InputUnmapped => "input channel without virtual network",
        Reason::OutputUnmapped => "output port without the virtual network",
        Reason::NotRunning => "output port did not run",
        Reason::Blocked => "waiting time-out",
        Reason::Timeout => "packet time-out",
    }
}
