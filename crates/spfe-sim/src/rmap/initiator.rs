//! RMAP initiators.

use super::{ExecutedCommands, mark};
use crate::ledger::{Cause, Ledger};
use crate::link::Side;
use crate::results::{self, LatencyRecorder};
use crate::rng::{self, mix};
use crate::scenario::route::RouteFinder;
use crate::scenario::{self, PortName, Scenario};
use crate::time::Ps;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::initiator::{InitiatorDiscard, TransactionFailure};
use spfe_proto::rmap::{
    CommandHeader, RMW_MAX, ReplyAddress, RmapInitiator, RmapNode, RmapRequest, RmapStatus,
};
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of commands without a reply.
const OUTSTANDING: usize = 64;
/// Timed-out commands that are remembered because their replies may still arrive.
const LATE: usize = 1024;

/// A command without a reply.
#[derive(Clone, Copy, Debug)]
struct Pending {
    transaction: u16,
    header: CommandHeader,
    number: u64,
    /// Checksum of the written data.
    mark: Option<u64>,
}

/// The commands of one initiator to one target.
pub struct SimulatedInitiator {
    name: String,
    node: u32,
    settings: scenario::RmapTraffic,
    path: Vec<u8>,
    target: u8,
    key: u8,
    own_address: u8,
    reply_address: ReplyAddress,
    /// Its link, and the end it sends from.
    pub from: (usize, Side),
    flow: u16,
    track: usize,
    initiator: RmapInitiator<OUTSTANDING>,
    seed: u64,
    pending: Vec<Pending>,
    late: VecDeque<Pending>,
    next: Option<Ps>,
    left: u64,
    commands: u64,
    succeeded: u64,
    failed: BTreeMap<String, u64>,
    timed_out: u64,
    mismatches: u64,
    bytes: u64,
    latency: LatencyRecorder,
}

impl SimulatedInitiator {
    /// Builds an initiator of a scenario.
    pub fn new(
        scenario: &Scenario,
        routes: &RouteFinder<'_>,
        rmap: &scenario::RmapTraffic,
        seed: u64,
        ledger: &mut Ledger,
    ) -> Result<Self, String> {
        let unit = |place: &PortName| {
            scenario.unit(&place.unit).ok_or_else(|| format!("no unit {}", place.unit))
        };
        let (from_unit, to_unit) = (unit(&rmap.from)?, unit(&rmap.to)?);
        let scenario::UnitId::Node(node) = from_unit else {
            return Err(format!("{} is a router; an initiator is a node", rmap.from.unit));
        };
        let key = match to_unit {
            scenario::UnitId::Node(node) => {
                let node = scenario.nodes.get(node).ok_or("no such node")?;
                node.target.ok_or_else(|| format!("{} has no target", node.name))?.key
            }
            scenario::UnitId::Router(router) => {
                scenario.routers.get(router).ok_or("no such router")?.configuration.key
            }
        };
        let (command, reply) = routes.rmap(rmap)?;
        let command = command.accepted()?;
        let reply_address = ReplyAddress::from_path(&reply.path)
            .map_err(|error| format!("route of replies: {error}"))?;
        let flow = ledger.add_flow(&format!("rmap '{}'", rmap.name), command.target);
        let mut elements = command.trace.elements.clone();
        elements.merge(&reply.trace.elements);
        let track = ledger.add_track(flow, node as u32, elements, false);
        let mut rng = rng::stream(seed, &format!("rmap {}", rmap.name));
        Ok(Self {
            name: rmap.name.clone(),
            node: node as u32,
            settings: rmap.clone(),
            path: command.path,
            target: command.target,
            key: rmap.key.unwrap_or(key),
            own_address: reply.target,
            reply_address,
            from: scenario.link_at(&rmap.from).ok_or("no link")?,
            flow,
            track,
            initiator: RmapInitiator::new().with_transaction(rng.u64(..) as u16),
            seed: rng.u64(..),
            pending: Vec::new(),
            late: VecDeque::new(),
            next: Some(rmap.start.0),
            left: rmap.count.unwrap_or(u64::MAX),
            commands: 0,
            succeeded: 0,
            failed: BTreeMap::new(),
            timed_out: 0,
            mismatches: 0,
            bytes: 0,
            latency: LatencyRecorder::new(),
        })
    }

    pub const fn node(&self) -> u32 {
        self.node
    }

    pub const fn vc(&self) -> u8 {
        self.settings.vc
    }

    /// Time at which it has to act next.
    pub fn next_ps(&self) -> Option<Ps> {
        let deadline = self.initiator.next_deadline_ns().map(|ns| ns * 1000);
        let next = self.next.filter(|_| self.may_ask());
        [deadline, next].into_iter().flatten().min()
    }

    fn may_ask(&self) -> bool {
        let most = usize::from(self.settings.outstanding).clamp(1, OUTSTANDING);
        self.left != 0 && self.initiator.outstanding() < most
    }

    /// Gives up commands that timed out, and returns the packet of the next command that is due.
    pub fn poll(&mut self, now: Ps, ledger: &mut Ledger) -> Option<Vec<u8>> {
        while let Some(transaction) = self.initiator.expire(now / 1000) {
            self.timed_out += 1;
            self.expire(transaction);
        }
        let due = self.next.filter(|due| *due <= now && self.may_ask())?;
        if self.settings.stop.is_some_and(|stop| due >= stop.0) {
            self.next = None;
            return None;
        }
        let number = ledger.begin(self.flow, now, self.settings.size.0 as u32);
        let packet = self.command(now, number);
        self.left -= 1;
        self.next = match self.settings.period {
            Some(period) => Some(due.saturating_add(period.0.max(1))),
            None => Some(now),
        };
        if packet.is_none() {
            ledger.violation(now, format!("rmap '{}': the command cannot be encoded", self.name));
        }
        packet
    }

    fn command(&mut self, now: Ps, number: u64) -> Option<Vec<u8>> {
        let size = usize::try_from(self.settings.size.0).ok()?;
        let data: Vec<u8> =
            (0..size as u64).map(|index| mix(self.seed ^ mix(number) ^ index) as u8).collect();
        let request = match self.settings.operation {
            scenario::Operation::Write => RmapRequest::Write {
                verify: self.settings.verify,
                reply: true,
                increment: true,
                data: &data,
            },
            scenario::Operation::Read => RmapRequest::read(u32::try_from(size).ok()?),
            scenario::Operation::Rmw => {
                let data = data.get(..size.min(RMW_MAX))?;
                RmapRequest::ReadModifyWrite { data, mask: &[0xff; RMW_MAX][..data.len()] }
            }
        };
        let node = RmapNode {
            path: &self.path,
            target: self.target,
            key: self.key,
            reply_address: self.reply_address,
            initiator: self.own_address,
        };
        let mut out = vec![0; self.path.len() + 32 + data.len() + 2 * RMW_MAX];
        let timeout_ns = self.settings.timeout.0.div_ceil(1000);
        let address = self.settings.address;
        let sent = self
            .initiator
            .begin(&node, address, &request, now / 1000, timeout_ns, &mut out)
            .ok()?;
        out.truncate(sent.bytes);
        let header = CommandHeader::parse(out.get(self.path.len()..)?).ok()?;
        let is_write = matches!(request, RmapRequest::Write { .. });
        let mark = is_write.then(|| mark(&data));
        self.pending.push(Pending { transaction: sent.transaction, header, number, mark });
        self.commands += 1;
        Some(out)
    }

    fn expire(&mut self, transaction: u16) {
        if let Some(pending) = self.take(transaction) {
            if self.late.len() == LATE {
                self.late.pop_front();
            }
            self.late.push_back(pending);
        }
    }

    fn take(&mut self, transaction: u16) -> Option<Pending> {
        let place = self.pending.iter().position(|of| of.transaction == transaction)?;
        Some(self.pending.swap_remove(place))
    }

    /// Handles a reply that arrived at the node. False if it belongs to another initiator.
    pub fn take_reply(
        &mut self,
        now: Ps,
        packet: &[u8],
        end: PacketEnd,
        ledger: &mut Ledger,
        truth: &mut ExecutedCommands,
    ) -> bool {
        let completion = match self.initiator.handle(packet, end) {
            Ok(completion) => completion,
            Err(InitiatorDiscard::Unknown { transaction }) => {
                let late = self.late.iter().position(|of| of.transaction == transaction);
                let Some(pending) = late.and_then(|place| self.late.remove(place)) else {
                    return false;
                };
                // The reply is late, but the network delivered it.
                ledger.complete(self.track, pending.number, now, 0);
                return true;
            }
            Err(_) => return false,
        };
        let Some(pending) = self.take(completion.transaction) else { return false };
        match completion.result {
            Ok(data) => {
                let of = pending.mark.unwrap_or_else(|| mark(data));
                if !truth.take(&pending.header, of) {
                    self.mismatches += 1;
                    let text = format!("rmap '{}': data of command {}", self.name, pending.number);
                    ledger.violation(
                        now,
                        format!("{text} differs from what the target wrote or read"),
                    );
                }
                self.succeeded += 1;
                self.bytes += self.settings.size.0;
                let size = self.settings.size.0;
                let latency = ledger.complete(self.track, pending.number, now, size);
                latency.into_iter().for_each(|latency| self.latency.record(latency));
            }
            Err(failure) => {
                *self.failed.entry(failure.to_string()).or_default() += 1;
                let cause = match failure {
                    TransactionFailure::Status(RmapStatus(status)) => Some(Cause::Status(status)),
                    _ => None,
                };
                ledger.fail(self.track, pending.number, now, cause);
            }
        }
        true
    }

    /// Measurements of this initiator.
    pub fn results(&self) -> results::RmapResults {
        results::RmapResults {
            name: self.name.clone(),
            from: self.settings.from.to_string(),
            to: self.settings.to.to_string(),
            commands: self.commands,
            succeeded: self.succeeded,
            failed: self.failed.clone(),
            timed_out: self.timed_out,
            outstanding: self.pending.len() as u64,
            mismatches: self.mismatches,
            bytes: self.bytes,
            latency: self.latency.histogram(),
        }
    }
}
