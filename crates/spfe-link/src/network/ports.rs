//! The queues of a switch, which the caller owns.

use super::unit::PacketUnit;

/// Input and output queues per port and virtual channel. Port 0 is the configuration port: what it
/// is given goes to the switch's own target, what it sends are the target's replies.
pub trait SwitchPorts {
    /// What moves.
    type Unit: PacketUnit;

    /// Units of a packet under way that one step moves at most: as many as the queues hold costs
    /// least. Packets do not go in another order for it, as their outputs are theirs alone.
    const BURST: usize = 1;

    /// Virtual channels of a port whose input queues may hold a unit: bit V for virtual channel V.
    /// The others are not looked at, but for their time-outs.
    fn waiting(&mut self, port: usize) -> u32 {
        let _ = port;
        u32::MAX
    }

    /// The first unit of an input queue.
    fn peek(&mut self, port: usize, vc: usize) -> Option<Self::Unit>;

    /// Takes the unit that was peeked.
    fn take(&mut self, port: usize, vc: usize);

    /// Whether an output queue has a place.
    fn has_room(&mut self, port: usize, vc: usize) -> bool;

    /// Puts a unit into an output queue that has a place.
    fn put(&mut self, port: usize, vc: usize, unit: Self::Unit);

    /// Whether a port exists and its link runs. Packets wait for a port that does not.
    fn is_running(&mut self, port: usize) -> bool {
        let _ = port;
        true
    }

    /// A packet is discarded, or its rest: once for each.
    fn dropped(&mut self, dropped: DiscardedPacket);
}

/// A packet that a switch discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardedPacket {
    /// Port it came in at.
    pub port: u8,
    /// Virtual channel it came in on.
    pub vc: u8,
    /// Virtual network, if the channel has one.
    pub network: Option<u8>,
    /// Its first character, if it has one and was not yet under way.
    pub address: Option<u8>,
    /// Why.
    pub reason: DiscardReason,
}

/// Why a packet was discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiscardReason {
    /// No data character at its start.
    Empty,
    /// No valid entry in the routing table, or 255.
    InvalidAddress,
    /// A port that the switch does not have.
    NoPort,
    /// Its virtual channel belongs to no virtual network.
    InputUnmapped,
    /// Its virtual network has no virtual channel on the output port, on one of them for a
    /// multicast.
    OutputUnmapped,
    /// The output port did not run for the waiting time-out.
    NotRunning,
    /// It waited for an output for the waiting time-out.
    Blocked,
    /// Under way, it did not move for the packet time-out: its outputs get an EEP.
    Timeout,
}

impl DiscardReason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Empty,
        Self::InvalidAddress,
        Self::NoPort,
        Self::InputUnmapped,
        Self::OutputUnmapped,
        Self::NotRunning,
        Self::Blocked,
        Self::Timeout,
    ];
}
