//! Values of the registers that the device writes.

use super::layout::{Context, ContextUse, Register, contexts_of};
use super::{
    DOMAINS, EVENTS, RegisterFile, SINCE_2, SINCE_3, SINCE_4, SINCE_5, SINCE_6, SINCE_7, SINCE_8,
    SINCE_9, State, high, low,
};
use spfe_contract::{
    BlockType, CONTRACT_MAGIC, CONTRACT_VERSION_MAJOR, MIB_VALUE_BYTES, MibItem, PACKET_MAX_BYTES,
    PAIR_VALUE_BYTES, PairCounter, broadcast_block as broadcast, capability, event_block as event,
    global_block as global, mib_block as mib, pair_block, port_block, queue_block as queue,
    region_block as region, statistics_block as statistics, time_code_block as time_code,
};
use spfe_device::CHAIN_MAX;
use spfe_device::message::{CONTEXTS, MessageContext};
use spfe_device::shared::QueueCounts;
use spfe_host::os;
use spfe_host::topology::{LinkRate, Peer};
use spfe_ring::sync::Ordering;

/// Capabilities of this device.
const CAPABILITY: u32 = capability::BURST
    | capability::PACKED
    | capability::STAMP
    | capability::MESSAGE
    | capability::RESET
    | capability::MIB
    | capability::COUNT_FIRST
    | capability::LINK_EVENT
    | capability::LEVEL
    | capability::RDMA
    | capability::REMOTE_KEYS
    | capability::FABRIC
    | capability::BESIDE
    | capability::PAIR_COUNTERS
    | capability::INTERRUPTS;

/// Period of the heartbeat, ns.
const HEARTBEAT_NS: u64 = 100_000_000;

fn sum(slots: &[MessageContext; CONTEXTS], pick: fn(QueueCounts) -> u64) -> u32 {
    slots.iter().map(|slot| pick(slot.count.values())).fold(0, u64::wrapping_add) as u32
}

impl RegisterFile {
    /// Value of a status register; 0 for other offsets.
    pub(super) fn status(&self, state: &mut State, register: Register) -> u32 {
        let Register { kind, instance, element, offset } = register;
        match kind {
            BlockType::Global => self.global(state, offset),
            BlockType::Port => self.port(element, offset),
            BlockType::Queue => self.queue(state, element, offset),
            BlockType::Region if offset == region::KEY => {
                let region = state.regions.get(element as usize).and_then(Option::as_ref);
                region.map_or(0, |region| u32::from(region.key.0))
            }
            BlockType::Event if offset == event::COUNT => {
                state.events.get_mut(element as usize).map_or(0, |vector| low(vector.count()))
            }
            BlockType::Broadcast => self.broadcast(element, offset),
            BlockType::TimeCode => self.time_code(element, offset),
            BlockType::Statistics => self.statistics(element, offset),
            BlockType::Mib => self.mib(instance, element, offset),
            BlockType::Pair => self.pair(instance, element, offset),
            BlockType::Fabric => self.fabric(state, element, offset),
            BlockType::Target => self.target(offset),
            BlockType::Peer => self.peer(instance, element, offset),
            _ => 0,
        }
    }

    fn global(&self, state: &State, offset: u32) -> u32 {
        let version = u32::from(CONTRACT_VERSION_MAJOR) << 16 | u32::from(self.minor);
        match offset {
            global::MAGIC => CONTRACT_MAGIC,
            global::CONTRACT_VERSION => version,
            global::CAPABILITY => {
                let target = if self.target.is_some() { capability::TARGET } else { 0 };
                let all = CAPABILITY | self.bus.capability() | self.stride.capability() | target;
                let late = |minor, since| if self.minor < minor { since } else { 0 };
                let early = all & !late(2, SINCE_2) & !late(3, SINCE_3) & !late(4, SINCE_4);
                let early = early & !late(5, SINCE_5) & !late(6, SINCE_6) & !late(7, SINCE_7);
                early & !late(8, SINCE_8) & !late(9, SINCE_9)
            }
            global::PORTS => self.ports().len() as u32,
            global::QUEUES => self.layout.contexts.len() as u32,
            global::REGIONS => self.layout.regions,
            global::EVENTS => EVENTS,
            global::DOORBELL_OFFSET => self.layout.doorbells,
            global::CFG_ACK => state.acknowledged,
            global::CFG_STATUS => u32::from(state.status.raw()),
            // Real time, because virtual time stands still while a participant runs.
            global::HEARTBEAT => low((os::now_ns() - self.start_ns) / HEARTBEAT_NS),
            global::RESETS => state.resets,
            global::TIME_LO => low(self.network.clock().now_ns()),
            global::TIME_HI => high(self.network.clock().now_ns()),
            global::PACKET_MAX => PACKET_MAX_BYTES as u32,
            global::DOORBELL_PAGES => self.layout.pages(),
            global::DOMAINS => DOMAINS,
            _ if self.minor < 2 => 0,
            global::CHAIN_MAX => CHAIN_MAX as u32,
            global::PAGES_MAX => self.bus.pages_max(),
            _ => 0,
        }
    }

    fn port(&self, index: u32, offset: u32) -> u32 {
        let Some(port) = self.ports().get(index as usize) else {
            return 0;
        };
        let mbps = match port.rate {
            LinkRate::Unlimited => 0,
            LinkRate::SpaceFibre { mbps, .. } | LinkRate::SpaceWire { mbps } => mbps,
        };
        let state = self.network.port_state(self.at.endpoint, index);
        match offset {
            port_block::KIND => u32::from(port.kind().raw()),
            port_block::STATE => u32::from(state.raw()),
            port_block::VCS => port.vcs,
            port_block::LANES => port.rate.lanes(),
            port_block::LANE_RATE_MBPS => mbps,
            port_block::USER_RATE_KBPS => {
                (port.rate.user_bits_per_second().unwrap_or(0.0) / 1e3) as u32
            }
            port_block::FIRST_QUEUE => self.layout.first_queue(index),
            port_block::QUEUE_COUNT => contexts_of(port),
            port_block::CHANGES if self.can(capability::LINK_EVENT) => {
                self.watches.get(index as usize).map_or(0, |watch| watch.changes())
            }
            _ => 0,
        }
    }

    fn queue(&self, state: &State, index: u32, offset: u32) -> u32 {
        let index = index as usize;
        let (context, face) = (self.layout.contexts.get(index), state.queues.get(index));
        let (Some(context), Some(face)) = (context, face) else {
            return 0;
        };
        match offset {
            queue::STATE => u32::from(face.state.raw()),
            queue::ERROR => u32::from(face.error.raw()),
            queue::PORT => context.port,
            queue::VC => context.vc(),
            _ => 0,
        }
    }

    fn broadcast(&self, port: u32, offset: u32) -> u32 {
        let messages = self.network.arena().messages(self.at.endpoint, port);
        match offset {
            broadcast::SENT => sum(&messages.tx, |values| values.packets),
            broadcast::RECEIVED => self.messages_received(port),
            broadcast::DROPPED => sum(&messages.rx, |values| values.dropped),
            _ => 0,
        }
    }

    /// Number of messages received by a port. A packet-level link loses no message, so it is the
    /// number that the far port has sent.
    fn messages_received(&self, port: u32) -> u32 {
        match self.ports().get(port as usize).map(|port| port.peer) {
            Some(Peer::Port { endpoint, port }) => {
                sum(&self.network.arena().messages(endpoint, port).tx, |values| values.packets)
            }
            _ => 0,
        }
    }

    fn time_code(&self, port: u32, offset: u32) -> u32 {
        let messages = self.network.arena().messages(self.at.endpoint, port);
        match offset {
            time_code::LAST => messages.time_code.load(Ordering::Relaxed) & 0xff,
            time_code::RECEIVED => self.messages_received(port),
            time_code::INVALID => messages.time_code_invalid.load(Ordering::Relaxed),
            _ => 0,
        }
    }

    fn statistics(&self, index: u32, offset: u32) -> u32 {
        let Some(context) = self.layout.contexts.get(index as usize) else {
            return 0;
        };
        let values = self.counters(context);
        match offset {
            statistics::PACKETS_LO => low(values.packets),
            statistics::PACKETS_HI => high(values.packets),
            statistics::BYTES_LO => low(values.bytes),
            statistics::BYTES_HI => high(values.bytes),
            statistics::ERRORS_LO => low(values.errors),
            statistics::ERRORS_HI => high(values.errors),
            statistics::STALLS_LO => low(values.stalls),
            statistics::STALLS_HI => high(values.stalls),
            statistics::WAKES_LO => low(values.wakes),
            statistics::WAKES_HI => high(values.wakes),
            statistics::DROPPED_LO => low(values.dropped),
            statistics::DROPPED_HI => high(values.dropped),
            _ => 0,
        }
    }

    /// Whether registers of this version have an item, if the port has it.
    pub(super) fn has_item(&self, item: MibItem) -> bool {
        self.minor >= 10 || !matches!(item, MibItem::Schedule | MibItem::ScheduleType)
    }

    /// Half of an item's value, or of the mask of available items.
    fn mib(&self, port: u32, element: u32, offset: u32) -> u32 {
        let item = |item| self.network.mib_item(self.at.endpoint, port, item, element);
        let value = match offset & !4 {
            mib::PRESENT_LO => MibItem::ALL
                .iter()
                .filter(|known| self.has_item(**known) && item(**known).is_ok())
                .fold(0, |mask, known| mask | 1u64 << known.raw()),
            offset => u8::try_from(u64::from(offset) / MIB_VALUE_BYTES)
                .ok()
                .and_then(MibItem::from_raw)
                .filter(|known| self.has_item(*known))
                .and_then(|known| item(known).ok())
                .unwrap_or(0),
        };
        if offset & 4 == 0 { low(value) } else { high(value) }
    }

    /// Half of a counter of a queue pair, or of the mask of available ones.
    fn pair(&self, port: u32, vc: u32, offset: u32) -> u32 {
        let counters = self.network.pair_counters(self.at.endpoint, port, vc);
        let mut counters = counters.into_iter().flatten();
        let value = match offset & !4 {
            pair_block::PRESENT_LO => {
                counters.fold(0, |mask, (counter, _)| mask | 1u64 << counter.raw())
            }
            offset => {
                let is_it = |(counter, _): &(PairCounter, u64)| {
                    u64::from(counter.raw()) * PAIR_VALUE_BYTES == u64::from(offset)
                };
                counters.find(is_it).map_or(0, |(_, count)| count)
            }
        };
        if offset & 4 == 0 { low(value) } else { high(value) }
    }

    /// Counters of a queue context. They belong to the port and continue from client to client.
    fn counters(&self, context: &Context) -> QueueCounts {
        let (arena, endpoint) = (self.network.arena(), self.at.endpoint);
        match (context.end, context.tx) {
            (ContextUse::Data(vc), true) => {
                arena.flow_out(endpoint, context.port, vc).tx_count.values()
            }
            (ContextUse::Data(vc), false) => {
                arena.flow_into(endpoint, context.port, vc).rx_count.values()
            }
            (ContextUse::Message(slot), tx) => {
                let messages = arena.messages(endpoint, context.port);
                let slots = if tx { &messages.tx } else { &messages.rx };
                slots[slot].count.values()
            }
        }
    }
}
