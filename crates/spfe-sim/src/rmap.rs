//! RMAP targets with memory, and initiators (50-52C).
//!
//! A target records a checksum of the data of each command it executed. The initiator compares it
//! with the data it sent or received. A difference is a violation.

mod initiator;
mod target;

pub use initiator::SimulatedInitiator;
pub use target::{ExecutedCommands, SimulatedTarget, execute};

use crate::ledger::Ledger;
use crate::time::Ps;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::instruction::PacketType;
use spfe_proto::rmap::{Instruction, PID};
use std::collections::BTreeMap;

/// All RMAP targets and initiators of nodes.
#[derive(Default)]
pub struct RmapUnits {
    /// Targets by node.
    pub targets: BTreeMap<u32, SimulatedTarget>,
    pub initiators: Vec<SimulatedInitiator>,
    /// Commands that targets executed.
    pub truth: ExecutedCommands,
}

impl RmapUnits {
    /// Handles a packet that arrived at a node. `None` if it is not an RMAP packet. Otherwise the
    /// reply, if any, and the time from which it may leave.
    pub fn handle_packet(
        &mut self,
        node: u32,
        now: Ps,
        packet: &[u8],
        end: PacketEnd,
        ledger: &mut Ledger,
    ) -> Option<Option<(Ps, Vec<u8>)>> {
        let [_, PID, ..] = packet else { return None };
        if Instruction::of(packet).map(Instruction::packet_type) == Some(PacketType::Reply) {
            let truth = &mut self.truth;
            let mut of_node =
                self.initiators.iter_mut().filter(|initiator| initiator.node() == node);
            let taken =
                of_node.any(|initiator| initiator.take_reply(now, packet, end, ledger, truth));
            return (taken || end == PacketEnd::Eep).then_some(None);
        }
        let target = self.targets.get_mut(&node)?;
        Some(target.handle(now, packet, end, &mut self.truth))
    }

    /// Time at which an initiator has to act next.
    pub fn next_ps(&self) -> Option<Ps> {
        self.initiators.iter().filter_map(SimulatedInitiator::next_ps).min()
    }
}

/// A checksum of data.
pub fn mark(data: &[u8]) -> u64 {
    data.iter().fold(data.len() as u64, |sum, byte| crate::rng::mix(sum ^ u64::from(*byte)))
}
