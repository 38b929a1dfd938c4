//! RMAP units: targets with memory, and initiators with their commands (50-52C).
//!
//! A target remembers what each command did, as a mark of the data. The initiator compares it with
//! what it sent, or with what it got: data that is not the same is a violation.

mod initiator;
mod target;

pub use initiator::SimulatedInitiator;
pub use target::{SimulatedTarget, Truth, execute};

use crate::ledger::Ledger;
use crate::time::Ps;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::instruction::PacketType;
use spfe_proto::rmap::{Instruction, PID};
use std::collections::BTreeMap;

/// All RMAP units of nodes.
#[derive(Default)]
pub struct RmapUnits {
    /// Targets, by node.
    pub targets: BTreeMap<u32, SimulatedTarget>,
    /// Initiators, each with its node.
    pub initiators: Vec<SimulatedInitiator>,
    /// What targets did.
    pub truth: Truth,
}

impl RmapUnits {
    /// A packet came to a node. None if it is no RMAP packet; else the answer, if there is one, and
    /// when it may be sent.
    pub fn take_in(
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

    /// When an initiator has something to do next.
    pub fn next_ps(&self) -> Option<Ps> {
        self.initiators.iter().filter_map(SimulatedInitiator::next_ps).min()
    }
}

/// A mark of data: another for other data, nearly always.
pub fn mark(data: &[u8]) -> u64 {
    data.iter().fold(data.len() as u64, |sum, byte| crate::rng::mix(sum ^ u64::from(*byte)))
}
