//! Ports: state, counters, and the management information base of the link.

use crate::backend::{Registers, State};
use crate::discover::PortMap;
use spfe_contract::{
    Command, MIB_VALUE_BYTES, MibItem, PAIR_VALUE_BYTES, PortKind, PortState, Status, VC_MAX,
    broadcast_block as broadcast, capability, global_block as global, mib_block as mib, pair_block,
    port_block, statistics_block as statistics, time_code_block as time_code,
};
use spfe_host::mib::{MibFault, items_of};
use spfe_host::pairs::{pair_entries, present};
use spfe_host::port::{ChannelCounters, ChannelInfo, MessageCounters, TimeCodeInfo, TimeCodeValue};
use spfe_host::{Error, LinkCommand, LinkModel, LinkRate, MibEntry, PortInfo, Result};

/// Channels in a word of VC_PRIORITY, 4 bits each.
const VCS_PER_WORD: u32 = 8;
/// Least urgent priority.
const PRIORITY_MAX: u8 = 15;

fn rate(kind: PortKind, lanes: u32, mbps: u32) -> LinkRate {
    match (kind, mbps) {
        (_, 0) => LinkRate::Unlimited,
        (PortKind::Spacewire, mbps) => LinkRate::SpaceWire { mbps },
        (_, mbps) => LinkRate::SpaceFibre { lanes, mbps },
    }
}

impl Registers {
    fn port(&self, number: u32) -> Result<&PortMap> {
        let count = self.map.ports.len();
        self.map.ports.get(number as usize).ok_or_else(|| {
            self.not_found(format_args!("port {number}: the device has {count} ports"))
        })
    }

    /// Latches the settings of a port.
    pub(crate) fn configure_port(&self, state: &mut State, number: u32) -> Result<()> {
        let at = self.port(number)?.at;
        self.write(at + port_block::LINK_START, 1);
        let words = state.priorities.get(number as usize).copied().unwrap_or_default();
        for (word, value) in (0..).zip(words) {
            self.write(at + port_block::VC_PRIORITY_0 + 4 * word, value);
        }
        self.command(state, Command::PortConfigure, number, format_args!("port {number}"))
    }

    fn state(&self, port: &PortMap) -> PortState {
        let state = self.read(port.at + port_block::STATE);
        u8::try_from(state).ok().and_then(PortState::from_raw).unwrap_or(PortState::Down)
    }

    fn counters(&self, context: u32) -> ChannelCounters {
        if self.map.statistics_at == 0 {
            return ChannelCounters::default();
        }
        let at = self.map.statistics_at + context * statistics::STRIDE;
        [
            statistics::PACKETS_LO,
            statistics::BYTES_LO,
            statistics::ERRORS_LO,
            statistics::STALLS_LO,
            statistics::WAKES_LO,
        ]
        .map(|offset| self.read_pair(at + offset))
        .into()
    }

    fn messages(&self, port: &PortMap) -> (MessageCounters, TimeCodeInfo) {
        let (mut messages, mut codes) = (MessageCounters::default(), TimeCodeInfo::default());
        let read = |offset| self.read(port.messages_at + offset);
        match port.kind {
            _ if port.messages_at == 0 => {}
            PortKind::Spacewire => {
                messages.received = read(time_code::RECEIVED).into();
                codes.last = TimeCodeValue::new(read(time_code::LAST) as u8, 0);
                codes.out_of_sequence = read(time_code::INVALID);
            }
            _ => {
                messages.sent = read(broadcast::SENT).into();
                messages.received = read(broadcast::RECEIVED).into();
                messages.dropped = read(broadcast::DROPPED).into();
            }
        }
        (messages, codes)
    }

    pub(crate) fn port_info_of(&self, number: u32) -> Result<PortInfo> {
        let port = self.port(number)?;
        if self.events.is_gone() {
            return Err(self.lost("the device is gone"));
        }
        let words = self.lock().priorities.get(number as usize).copied().unwrap_or_default();
        let channels = (0..port.vcs).map(|vc| {
            let word = words.get((vc / VCS_PER_WORD) as usize).copied().unwrap_or(0);
            let context = port.first_queue + 2 * vc;
            ChannelInfo {
                priority: (word >> (vc % VCS_PER_WORD * 4) & 0xf) as u8,
                tx: self.counters(context),
                rx: self.counters(context + 1),
                ..ChannelInfo::default()
            }
        });
        let channels = channels.collect();
        let (messages, time_codes) = self.messages(port);
        Ok(PortInfo {
            kind: port.kind,
            state: self.state(port),
            vcs: port.vcs,
            rate: rate(port.kind, port.lanes, self.read(port.at + port_block::LANE_RATE_MBPS)),
            model: LinkModel::default(),
            peer: self.space.peer(number),
            channels,
            messages,
            time_codes,
        })
    }

    pub(crate) fn set_priority_of(&self, number: u32, vc: u32, priority: u8) -> Result<()> {
        let vcs = self.port(number)?.vcs.min(VC_MAX as u32);
        if vc >= vcs || priority > PRIORITY_MAX {
            let what = format!(
                "{}: priority {priority} of port {number} VC {vc}: there are {vcs} channels, and \
                 priorities up to {PRIORITY_MAX}",
                self.uri
            );
            return Err(Error::device(Status::BadVc, what));
        }
        let mut state = self.lock();
        let before = state.priorities[number as usize];
        let (word, shift) = ((vc / VCS_PER_WORD) as usize, vc % VCS_PER_WORD * 4);
        let words = &mut state.priorities[number as usize];
        words[word] = words[word] & !(0xf << shift) | u32::from(priority) << shift;
        let done = self.configure_port(&mut state, number);
        if done.is_err() {
            state.priorities[number as usize] = before;
        }
        done
    }

    fn item(&self, port: &PortMap, item: MibItem, element: u32) -> Result<u64, MibFault> {
        if port.mib_at == 0 {
            return Err(MibFault::Absent);
        }
        let count = port.elements();
        if element >= count {
            return Err(MibFault::Index { count: count as usize });
        }
        let at = port.mib_at + element * mib::STRIDE;
        if self.read_pair(at + mib::PRESENT_LO) >> item.raw() & 1 == 0 {
            return Err(MibFault::Absent);
        }
        Ok(self.read_pair(at + u32::from(item.raw()) * MIB_VALUE_BYTES as u32))
    }

    /// Counters of the queue pairs of a port that are not zero.
    fn pairs(&self, port: &PortMap) -> Vec<MibEntry> {
        let has = port.pair_at != 0 && self.map.can(capability::PAIR_COUNTERS);
        let of_vc = |vc| {
            let at = port.pair_at + vc * pair_block::STRIDE;
            let mask = self.read_pair(at + pair_block::PRESENT_LO);
            let counters = present(mask).map(move |counter| {
                let value = at + u32::from(counter.raw()) * PAIR_VALUE_BYTES as u32;
                (counter, self.read_pair(value))
            });
            pair_entries(vc, counters)
        };
        (0..if has { port.vcs } else { 0 }).flat_map(of_vc).collect()
    }

    pub(crate) fn mib_of(&self, number: u32) -> Result<Vec<MibEntry>> {
        let port = self.port(number)?;
        let mut list = vec![
            MibEntry::new("port", "state", None, self.state(port).name()),
            MibEntry::new("port", "virtual channels", None, u64::from(port.vcs)),
        ];
        list.extend(items_of(|item, element| self.item(port, item, element)));
        list.extend(self.pairs(port));
        Ok(list)
    }

    pub(crate) fn mib_item_of(&self, number: u32, item: MibItem, index: u32) -> Result<u64> {
        let port = self.port(number)?;
        self.item(port, item, index).map_err(|fault| {
            let title = item.info().title;
            match fault {
                MibFault::Index { count } => self.not_found(format_args!(
                    "{title} {index} of port {number}: numbers are below {count}"
                )),
                _ => self.not_found(format_args!("port {number} has no {title}")),
            }
        })
    }

    pub(crate) fn command_link(&self, number: u32, command: LinkCommand) -> Result<()> {
        self.port(number)?;
        let (item, element, value) = match command {
            LinkCommand::Reset => (MibItem::LinkReset.raw(), 0, 1),
            LinkCommand::Set { item, index, value } => (item, index, value),
            LinkCommand::Cut { .. } => {
                let what = format!("{}: a driver cannot cut the wires of a link", self.uri);
                return Err(Error::device(Status::BadOpcode, what));
            }
        };
        let mut state = self.lock();
        self.write(global::MIB_ITEM, u32::from(item));
        self.write(global::MIB_ELEMENT, element);
        self.write_pair(global::MIB_VALUE_LO, value);
        let what = format_args!("item {item}[{element}] of port {number} to {value}");
        self.command(&mut state, Command::MibSet, number, what)?;
        // PORT_CONFIGURE sets all priorities of a port.
        let words = &mut state.priorities[number as usize];
        if item == MibItem::Priority.raw()
            && let Some(word) = words.get_mut((element / VCS_PER_WORD) as usize)
        {
            let shift = element % VCS_PER_WORD * 4;
            *word = *word & !(0xf << shift) | (value as u32 & 0xf) << shift;
        }
        Ok(())
    }
}
