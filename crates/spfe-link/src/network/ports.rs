//! The queues of a switch, which the caller owns.

use super::unit::PacketUnit;

/// Input and output queues for each port and virtual channel. Port 0 is the configuration port: its
/// output queue leads to the switch's own RMAP target, and its input queue holds the replies.
pub trait SwitchPorts {
    /// Unit that the queues hold.
    type Unit: PacketUnit;

    /// Maximum number of units that a packet moves in one step. The capacity of the queues is the
    /// cheapest value. It does not change the order of packets, because a packet has its outputs
    /// for itself.
    const BURST: usize = 1;

    /// Mask of the virtual channels of a port whose input queues may hold a unit. A step skips the
    /// other channels, except for their time-outs.
    fn waiting(&mut self, port: usize) -> u32 {
        let _ = port;
        u32::MAX
    }

    /// First unit of an input queue.
    fn peek(&mut self, port: usize, vc: usize) -> Option<Self::Unit>;

    /// Removes the first unit of an input queue.
    fn take(&mut self, port: usize, vc: usize);

    /// Whether an output queue has room for a unit.
    fn has_room(&mut self, port: usize, vc: usize) -> bool;

    /// Adds a unit to an output queue that has room.
    fn put(&mut self, port: usize, vc: usize, unit: Self::Unit);

    /// Whether the port exists and its link is up. Packets wait for a port that is not up.
    fn is_running(&mut self, port: usize) -> bool {
        let _ = port;
        true
    }

    /// Called once for each packet that is discarded, whole or in part.
    fn dropped(&mut self, dropped: DiscardedPacket);
}

/// A packet that a switch discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardedPacket {
    /// Port at which the packet came in.
    pub port: u8,
    /// Virtual channel on which the packet came in.
    pub vc: u8,
    /// Virtual network of the packet, if the channel has one.
    pub network: Option<u8>,
    /// First character of the packet, if it has one and the packet was not yet in progress.
    pub address: Option<u8>,
    /// Reason for discarding the packet.
    pub reason: DiscardReason,
}

/// Reason for discarding a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiscardReason {
    /// The packet does not begin with a data character.
    Empty,
    /// The address has no valid entry in the routing table, or is 255.
    InvalidAddress,
    /// The switch does not have the port.
    NoPort,
    /// The virtual channel of the input belongs to no virtual network.
    InputUnmapped,
    /// The output port has no virtual channel of the packet's virtual network. For a multicast, one
    /// of its output ports has none.
    OutputUnmapped,
    /// The link of the output port was not up for the waiting time-out.
    NotRunning,
    /// The packet waited for an output for the waiting time-out.
    Blocked,
    /// The packet was in progress and did not move for the packet time-out. Its outputs get an EEP.
    Timeout,
}

impl DiscardReason {
    /// All reasons, in the order of their numbers.
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
