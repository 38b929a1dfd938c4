//! The registers behind the configuration port of a switch: 32 bits each, by byte address.
//!
//! The standards leave the registers to the maker of a switch. `docs/router-registers.md` describes
//! these. The caller chooses the protocol that reads and writes them, usually RMAP on port 0.
//!
//! ```text
//! 0x000000                              identification
//! 0x010000 + port * 0x100               status, control, errors, time-outs, counters
//! 0x020000 + port * 0x80 + vc * 4       virtual network of a virtual channel
//! 0x030000 + port * 0x100 + vc * 8      time-slots 0 to 31, 32 to 63
//! 0x050000 + network * 4                routing table of a virtual network
//! 0x100000 + table * 0x800 + address * 8  ports of a logical address, then its flags
//! ```

use super::router::{SwitchPortConfig, VirtualNetworkError};
use super::table::{FIRST, LAST, RoutingEntry};
use super::{MAX_PORTS, NETWORKS};

/// Value of the identification register: "SPFR".
pub const MAGIC: u32 = 0x5350_4652;
/// Version of this register map: major in bits 31:16, minor in bits 15:0.
pub const VERSION: u32 = 0x0001_0000;
/// Address of the identification registers.
pub const IDENTIFICATION: u32 = 0;
/// Address of the port registers.
pub const PORTS: u32 = 0x01_0000;
/// Address of the map of virtual channels to virtual networks.
pub const CHANNELS: u32 = 0x02_0000;
/// Address of the time-slot tables.
pub const SLOTS: u32 = 0x03_0000;
/// Address of the map of virtual networks to routing tables.
pub const TABLE_OF: u32 = 0x05_0000;
/// Address of the routing tables.
pub const TABLES: u32 = 0x10_0000;

const PORT_BYTES: u32 = 0x100;
const CHANNELS_BYTES: u32 = 0x80;
const SLOTS_BYTES: u32 = 0x100;
const TABLE_BYTES: u32 = 0x800;

/// Offsets of the registers of a port.
pub mod port {
    /// Kind and state; read-only.
    pub const STATUS: u32 = 0x00;
    /// Enable, start, priority.
    pub const CONTROL: u32 = 0x04;
    /// Errors since they were cleared; writing 1 clears a bit.
    pub const ERRORS: u32 = 0x08;
    /// Packet time-out in microseconds; 0: none.
    pub const PACKET_TIMEOUT: u32 = 0x0c;
    /// Waiting time-out in microseconds; 0: none.
    pub const WAIT_TIMEOUT: u32 = 0x10;
    /// Signalling rate of a lane in Mbit/s in bits 23:0, number of lanes in bits 31:24; read-only.
    pub const RATE: u32 = 0x14;
    /// The first counter; read-only.
    pub const COUNTERS: u32 = 0x40;
}

const VALID: u32 = 1 << 31;
const MULTICAST: u32 = 1;
const DELETE: u32 = 1 << 1;
const URGENT: u32 = 1 << 2;
const NS: u64 = 1000;

/// Sizes of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchShape {
    /// Number of ports, including the configuration port: 1 to 32.
    pub ports: u8,
    /// Virtual channels of each port: 1 to 32; 1 for SpaceWire.
    pub vcs: u8,
    /// Number of routing tables: 1 to 64.
    pub tables: u8,
    /// Instance number, chosen by the user.
    pub instance: u32,
}

/// What a port speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchPortKind {
    /// The port does not exist.
    #[default]
    None,
    /// The configuration port.
    Configuration,
    /// SpaceFibre.
    SpaceFibre,
    /// SpaceWire.
    SpaceWire,
}

/// State of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchPortStatus {
    /// What the port speaks.
    pub kind: SwitchPortKind,
    /// Whether the link of the port is up.
    pub running: bool,
    /// Errors since they were cleared: bits of [`error`].
    pub errors: u32,
    /// Number of lanes; 1 for SpaceWire.
    pub lanes: u8,
    /// Signalling rate of a lane in Mbit/s.
    pub mbps: u32,
}

/// Bits of the errors of a port.
pub mod error {
    /// SpaceWire: disconnect error.
    pub const DISCONNECT: u32 = 1;
    /// SpaceWire: parity error.
    pub const PARITY: u32 = 1 << 1;
    /// SpaceWire: escape error.
    pub const ESCAPE: u32 = 1 << 2;
    /// Credit error of SpaceWire, or of a virtual channel of SpaceFibre.
    pub const CREDIT: u32 = 1 << 3;
    /// SpaceFibre: the link was reset.
    pub const LINK_RESET: u32 = 1 << 4;
    /// SpaceFibre: a lane was lost.
    pub const LANE: u32 = 1 << 5;
    /// The port discarded or cut a packet.
    pub const PACKET: u32 = 1 << 6;
    /// All error bits.
    pub const ALL: u32 = 0x7f;
}

/// Control bits of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchPortControl {
    /// The link may run.
    pub enable: bool,
    /// Start the link.
    pub start: bool,
    /// Start the link when the far end starts.
    pub auto_start: bool,
}

/// Counters of a port; the values are those of the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchPortCounter {
    /// Packets received.
    PacketsIn,
    /// Packets sent.
    PacketsOut,
    /// Packets received with EEP.
    EepIn,
    /// Discarded: the packet was empty.
    Empty,
    /// Discarded: the logical address has no valid entry.
    InvalidAddress,
    /// Discarded: the port does not exist.
    NoPort,
    /// Discarded: the virtual channel of the input has no virtual network.
    InputUnmapped,
    /// Discarded: no virtual channel of the output has the virtual network.
    OutputUnmapped,
    /// Discarded: the link of the output was not up.
    NotRunning,
    /// Discarded: the output was not free in time.
    Blocked,
    /// Cut: the packet made no progress in time.
    Timeout,
}

impl SwitchPortCounter {
    /// All counters, in the order of their registers.
    pub const ALL: [Self; 11] = [
        Self::PacketsIn,
        Self::PacketsOut,
        Self::EepIn,
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

/// Reason why a register cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterRefusal {
    /// No register has this address.
    NoRegister,
    /// The register is read-only.
    ReadOnly,
    /// The register does not accept this value.
    Value,
    /// A packet is in progress; try again later.
    Busy,
}

/// The interface through which the registers see and change a switch. Ports and virtual channels
/// are always within its shape.
pub trait SwitchRegisters {
    /// Sizes of the switch.
    fn shape(&self) -> SwitchShape;
    /// State of a port.
    fn status(&self, port: usize) -> SwitchPortStatus;
    /// Clears error bits of a port.
    fn clear_errors(&mut self, port: usize, errors: u32);
    /// Control bits of a port.
    fn control(&self, port: usize) -> SwitchPortControl;
    /// Sets the control bits of a port.
    fn set_control(&mut self, port: usize, control: SwitchPortControl);
    /// A counter of a port; it wraps.
    fn counter(&self, port: usize, counter: SwitchPortCounter) -> u32;
    /// Time-outs and priority of a port.
    fn settings(&self, port: usize) -> SwitchPortConfig;
    /// Sets time-outs and priority of a port.
    fn set_settings(&mut self, port: usize, settings: SwitchPortConfig);
    /// The virtual network of a virtual channel, if it has one.
    fn network(&self, port: usize, vc: usize) -> Option<u8>;
    /// Sets the virtual network of a virtual channel.
    fn set_network(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError>;
    /// Mask of the time-slots in which a virtual channel may send.
    fn slots(&self, port: usize, vc: usize) -> u64;
    /// Sets the mask of time-slots of a virtual channel.
    fn set_slots(&mut self, port: usize, vc: usize, slots: u64);
    /// The routing table of a virtual network.
    fn table_of(&self, network: u8) -> u8;
    /// Sets the routing table of a virtual network; `table` exists.
    fn set_table_of(&mut self, network: u8, table: u8);
    /// The entry of a logical address, 32 to 254; `None` if it is invalid.
    fn entry(&self, table: u8, address: u8) -> Option<RoutingEntry>;
    /// Sets the entry of a logical address.
    fn set_entry(&mut self, table: u8, address: u8, entry: Option<RoutingEntry>);
}

/// A register and the object it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Register {
    Identification(u32),
    Port(usize, u32),
    Network(usize, usize),
    Slots(usize, usize, bool),
    TableOf(u8),
    Ports(u8, u8),
    Flags(u8, u8),
}

/// Finds the register at an address of a switch of this shape.
fn find(shape: &SwitchShape, address: u32) -> Option<Register> {
    if !address.is_multiple_of(4) {
        return None;
    }
    let (ports, vcs) = (u32::from(shape.ports).min(MAX_PORTS as u32), u32::from(shape.vcs));
    // Index into an array of blocks with `bytes` bytes each, and the offset in the block.
    let within = |start: u32, bytes: u32, count: u32| {
        let offset = address.checked_sub(start)?;
        (offset / bytes < count).then_some((offset / bytes, offset % bytes))
    };
    if let Some((_, offset)) = within(IDENTIFICATION, 0x20, 1) {
        return (offset <= 0x10).then_some(Register::Identification(offset));
    }
    if let Some((port, offset)) = within(PORTS, PORT_BYTES, ports) {
        let last = port::COUNTERS + 4 * SwitchPortCounter::ALL.len() as u32;
        let known = offset <= port::RATE || (port::COUNTERS..last).contains(&offset);
        return known.then_some(Register::Port(port as usize, offset));
    }
    if let Some((port, offset)) = within(CHANNELS, CHANNELS_BYTES, ports) {
        let vc = offset / 4;
        return (vc < vcs).then_some(Register::Network(port as usize, vc as usize));
    }
    if let Some((port, offset)) = within(SLOTS, SLOTS_BYTES, ports) {
        let (vc, high) = (offset / 8, offset % 8 != 0);
        return (vc < vcs).then_some(Register::Slots(port as usize, vc as usize, high));
    }
    if let Some((network, 0)) = within(TABLE_OF, 4, NETWORKS as u32) {
        return Some(Register::TableOf(network as u8));
    }
    let (table, offset) = within(TABLES, TABLE_BYTES, u32::from(shape.tables))?;
    let (table, logical) = (table as u8, (offset / 8) as u8);
    if !(FIRST..=LAST).contains(&logical) {
        return None;
    }
    match offset % 8 {
        0 => Some(Register::Ports(table, logical)),
        _ => Some(Register::Flags(table, logical)),
    }
}

/// Reads a register; `None` if there is none at the address. Reading has no side effect.
pub fn read(switch: &(impl SwitchRegisters + ?Sized), address: u32) -> Option<u32> {
    let shape = switch.shape();
    Some(match find(&shape, address)? {
        Register::Identification(0x00) => MAGIC,
        Register::Identification(0x04) => VERSION,
        Register::Identification(0x08) => {
            u32::from_le_bytes([shape.ports, shape.vcs, shape.tables, 0])
        }
        Register::Identification(0x0c) => NETWORKS as u32,
        Register::Identification(_) => shape.instance,
        Register::Port(port, offset) => read_port(switch, port, offset),
        Register::Network(port, vc) => {
            switch.network(port, vc).map_or(0, |network| VALID | u32::from(network))
        }
        Register::Slots(port, vc, high) => {
            (switch.slots(port, vc) >> if high { 32 } else { 0 }) as u32
        }
        Register::TableOf(network) => u32::from(switch.table_of(network)),
        Register::Ports(table, logical) => {
            switch.entry(table, logical).map_or(0, |entry| entry.ports)
        }
        Register::Flags(table, logical) => switch.entry(table, logical).map_or(0, flags),
    })
}

fn flags(entry: RoutingEntry) -> u32 {
    let bit = |on, mask| if on { mask } else { 0 };
    bit(entry.multicast, MULTICAST) | bit(entry.delete, DELETE) | bit(entry.priority, URGENT)
}

fn read_port(switch: &(impl SwitchRegisters + ?Sized), number: usize, offset: u32) -> u32 {
    let (status, settings) = (switch.status(number), switch.settings(number));
    let micros = |ns: Option<u64>| u32::try_from(ns.unwrap_or(0).div_ceil(NS)).unwrap_or(u32::MAX);
    match offset {
        port::STATUS => status.kind as u32 | u32::from(status.running) << 4,
        port::CONTROL => {
            let SwitchPortControl { enable, start, auto_start } = switch.control(number);
            let bits = [enable, start, auto_start, settings.priority];
            bits.iter().rev().fold(0, |value, bit| value << 1 | u32::from(*bit))
        }
        port::ERRORS => status.errors,
        port::PACKET_TIMEOUT => micros(settings.packet_timeout_ns),
        port::WAIT_TIMEOUT => micros(settings.wait_timeout_ns),
        port::RATE => u32::from(status.lanes) << 24 | status.mbps & 0xff_ffff,
        _ => {
            let index = (offset.saturating_sub(port::COUNTERS) / 4) as usize;
            SwitchPortCounter::ALL.get(index).map_or(0, |counter| switch.counter(number, *counter))
        }
    }
}

/// Writes a register. A value with undefined bits is refused and changes nothing.
pub fn write(
    switch: &mut (impl SwitchRegisters + ?Sized),
    address: u32,
    value: u32,
) -> Result<(), RegisterRefusal> {
    let shape = switch.shape();
    match find(&shape, address).ok_or(RegisterRefusal::NoRegister)? {
        Register::Identification(_) => Err(RegisterRefusal::ReadOnly),
        Register::Port(port, offset) => write_port(switch, port, offset, value),
        Register::Network(port, vc) => {
            let network = match value & VALID {
                0 => None,
                _ => Some(value & !VALID),
            };
            if network.unwrap_or(value) >= NETWORKS as u32 || network.is_none() && value != 0 {
                return Err(RegisterRefusal::Value);
            }
            let network = network.map(|network| network as u8);
            switch.set_network(port, vc, network).map_err(|error| match error {
                VirtualNetworkError::Busy => RegisterRefusal::Busy,
                VirtualNetworkError::Range
                | VirtualNetworkError::Fixed
                | VirtualNetworkError::Taken => RegisterRefusal::Value,
            })
        }
        Register::Slots(port, vc, high) => {
            let shift = if high { 32 } else { 0 };
            let others = switch.slots(port, vc) & !(u64::from(u32::MAX) << shift);
            switch.set_slots(port, vc, others | u64::from(value) << shift);
            Ok(())
        }
        Register::TableOf(network) => {
            let table = u8::try_from(value).ok().filter(|table| *table < shape.tables);
            switch.set_table_of(network, table.ok_or(RegisterRefusal::Value)?);
            Ok(())
        }
        Register::Ports(table, logical) => {
            let existing = u32::MAX >> (MAX_PORTS as u32 - u32::from(shape.ports).clamp(1, 32));
            if value & !existing != 0 || value & 1 != 0 {
                return Err(RegisterRefusal::Value);
            }
            let entry = switch.entry(table, logical).unwrap_or(RoutingEntry::any_of(0));
            let entry = (value != 0).then_some(RoutingEntry { ports: value, ..entry });
            switch.set_entry(table, logical, entry);
            Ok(())
        }
        Register::Flags(table, logical) => {
            // An invalid entry has no flags.
            let entry = switch.entry(table, logical).ok_or(RegisterRefusal::Value)?;
            if value & !(MULTICAST | DELETE | URGENT) != 0 {
                return Err(RegisterRefusal::Value);
            }
            let (multicast, delete) = (value & MULTICAST != 0, value & DELETE != 0);
            let entry = RoutingEntry { multicast, delete, priority: value & URGENT != 0, ..entry };
            switch.set_entry(table, logical, Some(entry));
            Ok(())
        }
    }
}

fn write_port(
    switch: &mut (impl SwitchRegisters + ?Sized),
    number: usize,
    offset: u32,
    value: u32,
) -> Result<(), RegisterRefusal> {
    let settings = switch.settings(number);
    let timeout_ns = (value != 0).then_some(u64::from(value) * NS);
    match offset {
        port::CONTROL => {
            if value >> 4 != 0 {
                return Err(RegisterRefusal::Value);
            }
            let bit = |number: u32| value >> number & 1 != 0;
            let control = SwitchPortControl { enable: bit(0), start: bit(1), auto_start: bit(2) };
            switch.set_control(number, control);
            switch.set_settings(number, SwitchPortConfig { priority: bit(3), ..settings });
        }
        port::ERRORS => switch.clear_errors(number, value & error::ALL),
        port::PACKET_TIMEOUT => {
            let settings = SwitchPortConfig { packet_timeout_ns: timeout_ns, ..settings };
            switch.set_settings(number, settings);
        }
        port::WAIT_TIMEOUT => {
            let settings = SwitchPortConfig { wait_timeout_ns: timeout_ns, ..settings };
            switch.set_settings(number, settings);
        }
        _ => return Err(RegisterRefusal::ReadOnly),
    }
    Ok(())
}
