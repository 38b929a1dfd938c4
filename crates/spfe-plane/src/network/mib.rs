//! States, counters and the management information base (50-11C 5.9) of a port, and commands to its
//! link.

use super::{Attachment, Error, Network, Result};
use spfe_contract::{MibAccess, MibItem, MibScope, NodeState, Status};
use spfe_host::mib::items_of;
use spfe_host::pairs::pair_entries;
use spfe_host::{Clock, LinkCommand, MibEntry, MibFault, Peer};

/// Greatest priority of a packet-level link.
const PRIORITY_MAX: u64 = 15;
/// Expected bandwidths of a packet-level link, 65536ths. It cannot stop a channel with 0.
const BANDWIDTH: std::ops::RangeInclusive<u64> = 1..=0xffff;

impl Network {
    /// States, counters and items of a port and its link.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such port.
    pub fn port_mib(&self, endpoint: u32, port: u32) -> Result<Vec<MibEntry>> {
        let info = self.port_info(endpoint, port)?;
        let name = info.state.name();
        let number = |name, value| MibEntry::new("port", name, None, value);
        let mut list = vec![
            MibEntry::new("port", "state", None, name),
            number("virtual channels", u64::from(info.vcs)),
            number("messages sent", info.messages.sent),
            number("messages received", info.messages.received),
            number("messages dropped", info.messages.dropped),
        ];
        list.extend(self.nodes_seen(endpoint, port));
        for (vc, channel) in info.channels.iter().enumerate() {
            let number = |name, value| MibEntry::new("port", name, Some(vc as u32), value);
            list.extend([
                number("packets sent", channel.tx.packets),
                number("bytes sent", channel.tx.bytes),
                number("packets received", channel.rx.packets),
                number("bytes received", channel.rx.bytes),
            ]);
        }
        list.extend(match self.exact(endpoint, port) {
            Some(exact) => exact.mib(endpoint, port),
            None => items_of(|id, index| self.packet_level(endpoint, port, id, index)),
        });
        list.extend(self.rdma_counters(endpoint, port, info.vcs));
        Ok(list)
    }

    /// The nodes of a fabric as the node at a port sees them: its own number, and for each node whether
    /// packets reach it and how often it has started. Other ports see none.
    fn nodes_seen(&self, endpoint: u32, port: u32) -> Vec<MibEntry> {
        let Some(nodes) = self.port(endpoint, port).ok().and_then(|port| port.fabric()) else {
            return Vec::new();
        };
        let entry = |name, node, value: u64| MibEntry::new("fabric", name, node, value);
        let seen = self.with_fabric(endpoint, port, |fabric, own| {
            let of_node = |node| {
                let ready = fabric.state(own, node) == NodeState::Ready;
                let (ready, epoch) = (ready.into(), fabric.epoch(node).into());
                [entry("ready", Some(node), ready), entry("epoch", Some(node), epoch)]
            };
            let own = [entry("node", None, own.into())];
            own.into_iter().chain((1..=nodes).flat_map(of_node)).collect()
        });
        seen.unwrap_or_default()
    }

    /// What RDMA has counted at a port: the target at its far end, and queue pairs. Zeros are left
    /// out.
    fn rdma_counters(&self, endpoint: u32, port: u32, vcs: u32) -> Vec<MibEntry> {
        let target = self.arena.target(endpoint, port);
        let target = target.iter().flat_map(|target| target.counts().named());
        let target = target.filter(|(_, count)| *count != 0).map(|(name, count)| {
            MibEntry::new("rdma target", &name.replace('_', " "), None, count)
        });
        let pairs = (0..vcs).filter_map(|vc| Some((vc, self.pair_counters(endpoint, port, vc)?)));
        target.chain(pairs.flat_map(|(vc, counters)| pair_entries(vc, counters))).collect()
    }

    /// Reads an item of a port's link.
    ///
    /// # Errors
    /// NOT_FOUND for an unknown lane or channel, BAD_OPCODE if the link does not have the item.
    pub fn mib_item(&self, endpoint: u32, port: u32, item: MibItem, index: u32) -> Result<u64> {
        self.port(endpoint, port)?;
        let value = match self.exact(endpoint, port) {
            Some(exact) => exact.mib_item(endpoint, port, item, index),
            None => self.packet_level(endpoint, port, item, index),
        };
        value.map_err(|why| self.refusal(endpoint, port, (item, index), None, why))
    }

    /// Sets an item of a port's link.
    ///
    /// # Errors
    /// BAD_OPCODE if the item can only be read or the link does not have it, NOT_FOUND for an unknown
    /// lane or channel, BAD_FIELD for a value out of range.
    pub fn set_mib_item(
        &self,
        at: Attachment,
        port: u32,
        item: MibItem,
        index: u32,
        value: u64,
    ) -> Result<()> {
        self.port(at.endpoint, port)?;
        let done = match self.exact(at.endpoint, port) {
            Some(exact) => exact.set_mib_item(at.endpoint, port, item, index, value),
            None => self.set_packet_level(at.endpoint, port, item, index, value),
        };
        done.map_err(|why| self.refusal(at.endpoint, port, (item, index), Some(value), why))?;
        self.wake_links();
        Ok(())
    }

    /// Resets, configures or cuts a port's link.
    ///
    /// # Errors
    /// Those of [`Network::set_mib_item`]; BAD_OPCODE if the link does not support the command.
    pub fn link_command(&self, at: Attachment, port: u32, command: LinkCommand) -> Result<()> {
        self.port(at.endpoint, port)?;
        let link = || {
            self.exact(at.endpoint, port).ok_or_else(|| {
                let what = format!(
                    "port {port}: its link is packet level and has no reset and no wire to cut; \
                     links such as exact:1x6.25G have"
                );
                Error::new(Status::BadOpcode, what)
            })
        };
        let refused = |status, what| Error::new(status, format!("port {port}: {what}"));
        match command {
            LinkCommand::Set { item, index, value } => {
                let known = MibItem::from_raw(item)
                    .ok_or_else(|| refused(Status::NotFound, format!("there is no item {item}")))?;
                return self.set_mib_item(at, port, known, index, value);
            }
            LinkCommand::Reset => {
                if !link()?.reset(at.endpoint, port) {
                    return Err(refused(Status::BadOpcode, "its link has no reset".to_owned()));
                }
            }
            LinkCommand::Cut { lane, duration_ns } => {
                link()?
                    .cut(at.endpoint, port, lane, duration_ns)
                    .map_err(|what| refused(Status::BadField, what))?;
            }
        }
        self.wake_links();
        Ok(())
    }

    /// Wakes a sleeping device, so that links run on.
    pub fn wake_links(&self) {
        self.ring();
        if let Clock::Virtual(clock) = &self.clock {
            clock.poke();
        }
    }

    /// Reads an item of a packet-level link.
    fn packet_level(
        &self,
        endpoint: u32,
        port: u32,
        id: MibItem,
        index: u32,
    ) -> std::result::Result<u64, MibFault> {
        let config = self.port(endpoint, port).map_err(|_| MibFault::Absent)?;
        let joined = config.peer != Peer::None;
        let (lanes, vcs) = (config.rate.lanes() as usize, config.vcs as usize);
        let value = match id {
            MibItem::Priority => self.arena.times_out(endpoint, port).0.priority(index).into(),
            _ if config.space_wire || config.fabric().is_some() => return Err(MibFault::Absent),
            MibItem::ExpectedBandwidth => {
                self.arena.times_out(endpoint, port).0.bandwidth(index).into()
            }
            MibItem::LaneState => lane_state(if joined { "Active" } else { "Wait" }),
            MibItem::NoSignal => u64::from(!joined),
            MibItem::DataSendingLanes | MibItem::DataReceivingLanes if joined => (1 << lanes) - 1,
            MibItem::DataSendingLanes | MibItem::DataReceivingLanes => 0,
            _ => return Err(MibFault::Absent),
        };
        let count = match id.info().scope {
            MibScope::Link => 1,
            MibScope::Lane => lanes,
            MibScope::Vc => vcs,
        };
        if (index as usize) < count { Ok(value) } else { Err(MibFault::Index { count }) }
    }

    fn set_packet_level(
        &self,
        endpoint: u32,
        port: u32,
        id: MibItem,
        index: u32,
        value: u64,
    ) -> std::result::Result<(), MibFault> {
        self.packet_level(endpoint, port, id, index)?;
        if id.info().access == MibAccess::Ro {
            return Err(MibFault::ReadOnly);
        }
        let time = self.arena.times_out(endpoint, port).0;
        match id {
            MibItem::Priority if value <= PRIORITY_MAX => time.set_priority(index, value as u8),
            MibItem::Priority => return Err(MibFault::Range { min: 0, max: PRIORITY_MAX }),
            MibItem::ExpectedBandwidth if BANDWIDTH.contains(&value) => {
                time.set_bandwidth(index, value as u16);
            }
            MibItem::ExpectedBandwidth => {
                return Err(MibFault::Range { min: *BANDWIDTH.start(), max: *BANDWIDTH.end() });
            }
            _ => return Err(MibFault::Absent),
        }
        Ok(())
    }

    /// The error for an item that cannot be read or set.
    fn refusal(
        &self,
        endpoint: u32,
        port: u32,
        (item, index): (MibItem, u32),
        value: Option<u64>,
        why: MibFault,
    ) -> Error {
        let info = item.info();
        let name = match info.scope {
            MibScope::Link => info.title.to_owned(),
            MibScope::Lane | MibScope::Vc => format!("{}[{index}]", info.title),
        };
        let (status, what) = match why {
            MibFault::Absent => (Status::BadOpcode, self.absent(endpoint, port)),
            MibFault::Index { count } => {
                let last = count.saturating_sub(1);
                let what = match info.scope {
                    MibScope::Link => "it belongs to the link; only index 0 is allowed".to_owned(),
                    MibScope::Lane => format!("the link has lanes 0 to {last}"),
                    MibScope::Vc => format!("the link has VCs 0 to {last}"),
                };
                (Status::NotFound, what)
            }
            MibFault::ReadOnly => (Status::BadOpcode, "it can only be read".to_owned()),
            MibFault::Range { min, max } => {
                let value = value.unwrap_or(0);
                (Status::BadField, format!("{value}; {min} to {max} allowed"))
            }
        };
        Error::new(status, format!("port {port}: {name}: {what}"))
    }

    fn absent(&self, endpoint: u32, port: u32) -> String {
        if self.port(endpoint, port).is_ok_and(|port| port.fabric().is_some()) {
            return "not on a fabric port".to_owned();
        }
        let space_wire = self.port(endpoint, port).is_ok_and(|port| port.space_wire);
        if space_wire {
            return "not on a SpaceWire link; SpaceFibre links have it".to_owned();
        }
        "not on a packet-level link; links such as exact:1x6.25G have it".to_owned()
    }
}

/// Number of a lane state, by its name in the standard.
fn lane_state(name: &str) -> u64 {
    let states = MibItem::LaneState.info().values;
    states.iter().position(|state| *state == name).unwrap_or_default() as u64
}
