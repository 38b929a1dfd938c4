//! Ports: state, counters, and the management information base of the link.

use super::{Kernel, uapi};
use crate::{Error, Result};
use spfe_contract::{MibItem, PortKind, PortState, Status};
use spfe_host::mib::{MibFault, items_of};
use spfe_host::port::{ChannelInfo, MessageCounters, PortInfo, TimeCodeInfo, TimeCodeValue};
use spfe_host::{LinkCommand, LinkModel, LinkRate, MibEntry, Peer};

/// Maximum number of lanes or virtual channels of an item.
const MIB_ELEMENTS: u32 = spfe_contract::VC_MAX as u32;

/// Rate of a link, from the registers of its port.
fn rate(port: &uapi::Port, kind: PortKind) -> LinkRate {
    match (kind, port.lane_rate_mbps) {
        (_, 0) => LinkRate::Unlimited,
        (PortKind::Spacewire, mbps) => LinkRate::SpaceWire { mbps },
        (_, mbps) => LinkRate::SpaceFibre { lanes: port.lanes, mbps },
    }
}

impl Kernel {
    /// A port, and what it sees of a node if it is a fabric port, or 0 for its own node.
    fn port(&self, number: u32, node: u32) -> Result<uapi::Port> {
        let mut port = uapi::Port { port: number, node, ..uapi::Port::default() };
        self.call(&uapi::PORT, &mut port, format_args!("port {number}"))?;
        Ok(port)
    }

    fn statistics(&self, queue: u32) -> Result<[u64; 5]> {
        let mut of = uapi::Statistics { queue, ..uapi::Statistics::default() };
        self.call(&uapi::STATISTICS, &mut of, format_args!("statistics of queue {queue}"))?;
        Ok([of.packets, of.bytes, of.errors, of.stalls, of.wakes])
    }

    /// Reads an item of a port's management information base.
    fn item(&self, port: u32, item: MibItem, element: u32) -> std::io::Result<u64> {
        let item = u32::from(item.raw());
        let mut mib = uapi::Mib { port, item, element, ..uapi::Mib::default() };
        uapi::call(&self.device, &uapi::MIB, &mut mib).map(|()| mib.value)
    }

    /// The error for a command that the device refused with a status.
    pub(super) fn refused(&self, status: u32, what: std::fmt::Arguments<'_>) -> Option<Error> {
        let status = Status::from_raw(u8::try_from(status).ok()?).filter(|it| *it != Status::Ok)?;
        Some(Error::device(status, format!("{}: {what}: {}", self.path, status.doc())))
    }

    pub(super) fn port_info_of(&self, number: u32) -> Result<PortInfo> {
        let port = self.port(number, 0)?;
        let kind = PortKind::from_raw(port.kind as u8).unwrap_or(PortKind::None);
        let mut channels = Vec::new();
        for vc in 0..port.vcs {
            let register = port.priority.get(vc as usize / 8).copied().unwrap_or(0);
            let queue = port.first_queue + 2 * vc;
            channels.push(ChannelInfo {
                priority: (register >> (vc % 8 * 4) & 0xf) as u8,
                tx: self.statistics(queue)?.into(),
                rx: self.statistics(queue + 1)?.into(),
                ..ChannelInfo::default()
            });
        }
        Ok(PortInfo {
            kind,
            state: PortState::from_raw(port.state as u8).unwrap_or(PortState::Down),
            vcs: port.vcs,
            rate: rate(&port, kind),
            model: LinkModel::default(),
            peer: Peer::Network,
            channels,
            messages: MessageCounters {
                sent: port.sent.into(),
                received: port.received.into(),
                dropped: port.dropped.into(),
            },
            time_codes: TimeCodeInfo {
                last: TimeCodeValue::new(port.time_code as u8, 0),
                out_of_sequence: port.invalid,
            },
        })
    }

    pub(super) fn set_priority_of(&self, port: u32, vc: u32, priority: u8) -> Result<()> {
        let mut argument = uapi::PortSet {
            port,
            what: uapi::PORT_PRIORITY,
            vc,
            priority: priority.into(),
            ..uapi::PortSet::default()
        };
        let what = format_args!("priority {priority} of port {port} VC {vc}");
        self.call(&uapi::PORT_SET, &mut argument, what)
    }

    pub(super) fn mib_of(&self, port: u32) -> Result<Vec<MibEntry>> {
        let info = self.port(port, 0)?;
        let state = PortState::from_raw(info.state as u8).unwrap_or(PortState::Down).name();
        let mut list = vec![
            MibEntry::new("port", "state", None, state),
            MibEntry::new("port", "virtual channels", None, u64::from(info.vcs)),
        ];
        let mut fabric =
            |name, node, value| list.push(MibEntry::new("fabric", name, node, u64::from(value)));
        for node in 1..=info.nodes {
            let seen = self.port(port, node)?;
            fabric("ready", Some(node), seen.node_ready);
            fabric("epoch", Some(node), seen.node_epoch);
        }
        if info.nodes != 0 {
            fabric("node", None, info.node);
        }
        list.extend(items_of(|item, element| match self.item(port, item, element) {
            Ok(value) if element < MIB_ELEMENTS => Ok(value),
            _ => Err(MibFault::Absent),
        }));
        #[cfg(feature = "rdma")]
        list.extend(self.pair_counters_of(port, info.vcs)?);
        Ok(list)
    }

    pub(super) fn mib_item_of(&self, port: u32, item: MibItem, index: u32) -> Result<u64> {
        self.item(port, item, index).map_err(|source| {
            let what = format_args!("{}: {} {index} of port {port}", self.path, item.info().title);
            uapi::error(uapi::MIB.name, what, source)
        })
    }

    pub(super) fn command_link(&self, port: u32, command: LinkCommand) -> Result<()> {
        let (item, element, value) = match command {
            LinkCommand::Reset => (MibItem::LinkReset.raw(), 0, 1),
            LinkCommand::Set { item, index, value } => (item, index, value),
            LinkCommand::Cut { .. } => {
                let what = format!("{}: the driver cannot cut the wires of a link", self.path);
                return Err(Error::device(Status::BadOpcode, what));
            }
        };
        let (flags, item) = (uapi::MIB_SET, u32::from(item));
        let mut mib = uapi::Mib { port, item, element, flags, value, ..uapi::Mib::default() };
        let what = format_args!("item {item}[{element}] of port {port} to {value}");
        let done = self.call(&uapi::MIB, &mut mib, what);
        done.map_err(|error| self.refused(mib.status, what).unwrap_or(error))
    }
}
