//! RMAP targets.

use super::mark;
use crate::time::Ps;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::target::REPLY_OVERHEAD;
use spfe_proto::rmap::{
    CommandHeader, Memory, Ram, ReplyAddress, RmapOperation, RmapTarget, RmapTargetConfig,
    TargetOutcome,
};
use std::collections::VecDeque;

/// Maximum number of recorded commands.
const REMEMBERED: usize = 4096;

/// Commands that targets executed, with a checksum of the data they wrote or read.
#[derive(Clone, Debug, Default)]
pub struct ExecutedCommands(VecDeque<(CommandHeader, u64)>);

impl ExecutedCommands {
    fn add(&mut self, header: CommandHeader, mark: u64) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((header, mark));
    }

    /// Whether a target executed this command with this data. Forgets the command.
    pub fn take(&mut self, header: &CommandHeader, mark: u64) -> bool {
        let same = |(known, of): &(CommandHeader, u64)| {
            let plain = |header: &CommandHeader| CommandHeader {
                reply_address: ReplyAddress::NONE,
                ..*header
            };
            *of == mark && plain(known) == plain(header)
        };
        let place = self.0.iter().position(same);
        place.and_then(|place| self.0.remove(place)).is_some()
    }
}

/// An RMAP target with plain memory.
#[derive(Clone, Debug)]
pub struct SimulatedTarget {
    target: RmapTarget,
    memory: Vec<u8>,
    latency_ps: Ps,
    out: Vec<u8>,
}

impl SimulatedTarget {
    /// A target with memory from address 0 on.
    pub fn new(bytes: usize, key: u8, address: u8, latency_ps: Ps) -> Self {
        let config = RmapTargetConfig {
            key: Some(key),
            logical_address: Some(address),
            verify_bytes: u32::MAX,
            ..RmapTargetConfig::default()
        };
        Self {
            target: RmapTarget::new(config),
            memory: vec![0; bytes],
            latency_ps,
            out: Vec::new(),
        }
    }

    /// Executes a command. Returns the reply and the time from which it may leave.
    pub fn handle(
        &mut self,
        now: Ps,
        packet: &[u8],
        end: PacketEnd,
        truth: &mut ExecutedCommands,
    ) -> Option<(Ps, Vec<u8>)> {
        let bytes = self.memory.len();
        let mut memory = Ram { base: 0, word_bytes: 4, bytes: &mut self.memory };
        let room = (packet, bytes);
        let reply = execute(&mut self.target, &mut memory, room, end, &mut self.out, truth)?;
        Some((now.saturating_add(self.latency_ps), reply))
    }

    /// Counters by name.
    pub fn counters(&self) -> [(&'static str, u64); 4] {
        let counters = self.target.counters();
        [
            ("RMAP reads", counters.reads),
            ("RMAP writes", counters.writes),
            ("RMAP read-modify-writes", counters.modifies),
            ("RMAP replies", counters.replies),
        ]
    }
}

/// Executes the command in a packet and records it. `bytes` limits the data of the command and its
/// reply.
pub fn execute<M: Memory>(
    target: &mut RmapTarget,
    memory: &mut M,
    (packet, bytes): (&[u8], usize),
    end: PacketEnd,
    out: &mut Vec<u8>,
    truth: &mut ExecutedCommands,
) -> Option<Vec<u8>> {
    let length = CommandHeader::parse(packet).map_or(0, |header| header.length as usize);
    out.resize(REPLY_OVERHEAD + length.min(bytes), 0);
    let outcome = target.handle(packet, end, memory, |_| Ok(()), out).ok()?;
    if let TargetOutcome::Executed { command, reply_bytes } = outcome {
        let mark = match command.instruction.operation() {
            Some(RmapOperation::Write { .. }) => {
                let mut data = vec![0; length.min(bytes)];
                let read = memory.read(command.address, true, &mut data).is_ok();
                read.then(|| mark(&data))
            }
            Some(RmapOperation::Read { .. }) => of_reply(out, reply_bytes, length),
            Some(RmapOperation::ReadModifyWrite) => of_reply(out, reply_bytes, length / 2),
            None => None,
        };
        if let Some(mark) = mark {
            truth.add(command, mark);
        }
    }
    let reply = out.get(..outcome.reply_bytes()).filter(|reply| !reply.is_empty())?;
    Some(reply.to_vec())
}

/// Checksum of the data in a reply, without its CRC.
fn of_reply(out: &[u8], reply_bytes: usize, length: usize) -> Option<u64> {
    let end = reply_bytes.checked_sub(1)?;
    out.get(end.checked_sub(length)?..end).map(mark)
}
