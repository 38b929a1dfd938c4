//! The registers of a switch, on a routing switch and its tables.

use spfe_link::network::config::{
    self, CHANNELS, MAGIC, PORTS, RegisterRefusal, SLOTS, SwitchPortControl, SwitchPortCounter,
    SwitchPortKind, SwitchPortStatus, SwitchRegisters, SwitchShape, TABLE_OF, TABLES, VERSION,
    error, port, read, write,
};
use spfe_link::network::router::{SwitchPortConfig, VirtualNetworkError};
use spfe_link::network::{RoutingEntry, RoutingSwitch, RoutingTable};

/// A switch of three links with two virtual channels, and the other objects behind the registers.
#[derive(Default)]
struct Unit {
    router: RoutingSwitch<4, 2>,
    table: RoutingTable<2>,
    errors: [u32; 4],
    controls: [SwitchPortControl; 4],
    slots: [[u64; 2]; 4],
}

impl SwitchRegisters for Unit {
    fn shape(&self) -> SwitchShape {
        SwitchShape { ports: 4, vcs: 2, tables: 2, instance: 0x1234_5678 }
    }

    fn status(&self, port: usize) -> SwitchPortStatus {
        let kind = [
            SwitchPortKind::Configuration,
            SwitchPortKind::SpaceFibre,
            SwitchPortKind::SpaceFibre,
            SwitchPortKind::SpaceWire,
        ][port];
        SwitchPortStatus {
            kind,
            running: port != 2,
            errors: self.errors[port],
            lanes: 4,
            mbps: 6250,
        }
    }

    fn clear_errors(&mut self, port: usize, errors: u32) {
        self.errors[port] &= !errors;
    }

    fn control(&self, port: usize) -> SwitchPortControl {
        self.controls[port]
    }

    fn set_control(&mut self, port: usize, control: SwitchPortControl) {
        self.controls[port] = control;
    }

    fn counter(&self, port: usize, counter: SwitchPortCounter) -> u32 {
        100 * port as u32 + counter as u32
    }

    fn settings(&self, port: usize) -> SwitchPortConfig {
        self.router.settings(port).unwrap()
    }

    fn set_settings(&mut self, port: usize, settings: SwitchPortConfig) {
        assert!(self.router.set(port, settings));
    }

    fn network(&self, port: usize, vc: usize) -> Option<u8> {
        self.router.network(port, vc)
    }

    fn set_network(
        &mut self,
        port: usize,
        vc: usize,
        network: Option<u8>,
    ) -> Result<(), VirtualNetworkError> {
        self.router.map(port, vc, network)
    }

    fn slots(&self, port: usize, vc: usize) -> u64 {
        self.slots[port][vc]
    }

    fn set_slots(&mut self, port: usize, vc: usize, slots: u64) {
        self.slots[port][vc] = slots;
    }

    fn table_of(&self, network: u8) -> u8 {
        self.table.table_of(network).unwrap()
    }

    fn set_table_of(&mut self, network: u8, table: u8) {
        self.table.use_table(network, table).unwrap();
    }

    fn entry(&self, table: u8, address: u8) -> Option<RoutingEntry> {
        self.table.get(table, address)
    }

    fn set_entry(&mut self, table: u8, address: u8, entry: Option<RoutingEntry>) {
        self.table.set(table, address, entry).unwrap();
    }
}

const PORT_2: u32 = PORTS + 0x200;

#[test]
fn identification() {
    let unit = Unit::default();
    let words: Vec<_> = (0..6).map(|n| read(&unit, n * 4)).collect();
    let expected = [MAGIC, VERSION, 0x0002_0204, 64, 0x1234_5678].map(Some);
    assert_eq!(words[..5], expected);
    assert_eq!(words[5], None);
    assert_eq!(write(&mut Unit::default(), 0, 1), Err(RegisterRefusal::ReadOnly));
}

#[test]
fn ports() {
    let mut unit = Unit::default();
    let status = |unit: &Unit, port: u32| read(unit, PORTS + port * 0x100).unwrap();
    assert_eq!([0, 1, 2, 3].map(|port| status(&unit, port)), [0x11, 0x12, 0x02, 0x13]);
    assert_eq!(read(&unit, PORTS + 0x400), None);
    assert_eq!(read(&unit, PORT_2 + port::RATE), Some(4 << 24 | 6250));
    for (value, enable, start, auto_start, priority) in [
        (0, false, false, false, false),
        (0b1101, true, false, true, true),
        (2, false, true, false, false),
    ] {
        assert_eq!(write(&mut unit, PORT_2 + port::CONTROL, value), Ok(()));
        assert_eq!(unit.controls[2], SwitchPortControl { enable, start, auto_start });
        assert_eq!(unit.settings(2).priority, priority);
        assert_eq!(read(&unit, PORT_2 + port::CONTROL), Some(value));
    }
    assert_eq!(write(&mut unit, PORT_2 + port::CONTROL, 0x10), Err(RegisterRefusal::Value));
    unit.errors[2] = error::PARITY | error::CREDIT;
    assert_eq!(write(&mut unit, PORT_2 + port::ERRORS, error::PARITY), Ok(()));
    assert_eq!(read(&unit, PORT_2 + port::ERRORS), Some(error::CREDIT));
    for (offset, micros) in [(port::PACKET_TIMEOUT, 1300), (port::WAIT_TIMEOUT, u32::MAX)] {
        assert_eq!(read(&unit, PORT_2 + offset), Some(0));
        assert_eq!(write(&mut unit, PORT_2 + offset, micros), Ok(()));
        assert_eq!(read(&unit, PORT_2 + offset), Some(micros));
    }
    assert_eq!(unit.settings(2).packet_timeout_ns, Some(1_300_000));
    assert_eq!(write(&mut unit, PORT_2 + port::PACKET_TIMEOUT, 0), Ok(()));
    assert_eq!(unit.settings(2).packet_timeout_ns, None);
    assert_eq!(unit.settings(1), SwitchPortConfig::default());
    for (index, counter) in SwitchPortCounter::ALL.into_iter().enumerate() {
        let address = PORT_2 + port::COUNTERS + 4 * index as u32;
        assert_eq!(read(&unit, address), Some(200 + counter as u32));
        assert_eq!(write(&mut unit, address, 0), Err(RegisterRefusal::ReadOnly));
        assert_eq!(counter as usize, index);
    }
}

#[test]
fn virtual_networks_and_slots() {
    let mut unit = Unit::default();
    let vc1 = CHANNELS + 2 * 0x80 + 4;
    assert_eq!(read(&unit, vc1 - 4), Some(1 << 31));
    assert_eq!(read(&unit, vc1), Some(0));
    assert_eq!(write(&mut unit, vc1, 1 << 31 | 7), Ok(()));
    assert_eq!((unit.router.vc(2, 7), read(&unit, vc1)), (Some(1), Some(1 << 31 | 7)));
    // Virtual channel 0 stays on virtual network 0, there is no virtual network 64, and a number
    // needs the valid bit.
    for (address, value) in [(vc1 - 4, 0), (vc1, 1 << 31), (vc1, 1 << 31 | 64), (vc1, 7)] {
        assert_eq!(write(&mut unit, address, value), Err(RegisterRefusal::Value), "{value:#x}");
    }
    assert_eq!(write(&mut unit, vc1, 0), Ok(()));
    assert_eq!(unit.router.vc(2, 7), None);
    assert_eq!(read(&unit, vc1 + 4), None);

    let slots = SLOTS + 3 * 0x100 + 8;
    assert_eq!(write(&mut unit, slots, 0x8000_0001), Ok(()));
    assert_eq!(write(&mut unit, slots + 4, 0xff), Ok(()));
    assert_eq!(unit.slots[3], [0, 0xff_8000_0001]);
    assert_eq!((read(&unit, slots), read(&unit, slots + 4)), (Some(0x8000_0001), Some(0xff)));

    assert_eq!(write(&mut unit, TABLE_OF + 4 * 63, 1), Ok(()));
    assert_eq!((unit.table.table_of(63), read(&unit, TABLE_OF + 4 * 63)), (Some(1), Some(1)));
    assert_eq!(write(&mut unit, TABLE_OF, 2), Err(RegisterRefusal::Value));
    assert_eq!(write(&mut unit, TABLE_OF + 4 * 64, 0), Err(RegisterRefusal::NoRegister));
}

#[test]
fn routing_tables() {
    let mut unit = Unit::default();
    let entry = TABLES + 0x800 + 0x42 * 8;
    assert_eq!(write(&mut unit, entry + 4, 1), Err(RegisterRefusal::Value));
    for value in [1, 1 << 4, u32::MAX] {
        assert_eq!(write(&mut unit, entry, value), Err(RegisterRefusal::Value));
    }
    assert_eq!(write(&mut unit, entry, 0b1100), Ok(()));
    assert_eq!(unit.table.get(1, 0x42), Some(RoutingEntry::any_of(0b1100)));
    for (flags, expected) in [
        (1, RoutingEntry::each_of(0b1100)),
        (2, RoutingEntry::any_of(0b1100).deleting()),
        (4, RoutingEntry::any_of(0b1100).urgent()),
    ] {
        assert_eq!(write(&mut unit, entry + 4, flags), Ok(()));
        assert_eq!(unit.table.get(1, 0x42), Some(expected));
        assert_eq!(read(&unit, entry + 4), Some(flags));
    }
    assert_eq!(write(&mut unit, entry + 4, 8), Err(RegisterRefusal::Value));
    // Changing the ports leaves the flags alone; an entry without ports is invalid.
    assert_eq!(write(&mut unit, entry, 0b0010), Ok(()));
    assert_eq!(unit.table.get(1, 0x42), Some(RoutingEntry::any_of(0b0010).urgent()));
    assert_eq!(write(&mut unit, entry, 0), Ok(()));
    assert_eq!((unit.table.get(1, 0x42), read(&unit, entry)), (None, Some(0)));
    for logical in [0, 31, 255] {
        assert_eq!(read(&unit, TABLES + logical * 8), None);
    }
    assert_eq!(read(&unit, TABLES + 2 * 0x800 + 0x42 * 8), None);
}

/// Reads every address, and writes back every readable register: nothing changes.
#[test]
fn every_address() {
    let mut unit = Unit::default();
    let (mut registers, mut written) = (0, 0);
    let near = (0..TABLES + 0x2000).chain(u32::MAX - 64..=u32::MAX);
    for address in near {
        let Some(value) = read(&unit, address) else {
            assert_eq!(write(&mut unit, address, 0), Err(RegisterRefusal::NoRegister));
            continue;
        };
        assert!(address.is_multiple_of(4));
        registers += 1;
        written += usize::from(write(&mut unit, address, value).is_ok());
        assert_eq!(read(&unit, address), Some(value));
    }
    // Identification, ports, channels, slots, tables of networks, and two tables of 223 entries.
    assert_eq!(registers, 5 + 4 * (6 + 11) + 4 * 2 + 4 * 2 * 2 + 64 + 2 * 223 * 2);
    // Control, errors and two time-outs of each port, channels, slots, tables, and ports of
    // entries.
    assert_eq!(written, 4 * 4 + 4 * 2 + 4 * 2 * 2 + 64 + 2 * 223);
}

/// The page lists every block and every register of a port at its address.
#[test]
fn the_document_matches_the_registers() {
    let page = include_str!("../../../../docs/router-registers.md");
    for start in [config::IDENTIFICATION, PORTS, CHANNELS, SLOTS, TABLE_OF, TABLES] {
        assert!(page.contains(&format!("0x{start:06x}")), "{start:#x}");
    }
    for offset in (0..=port::RATE).step_by(4) {
        assert!(page.contains(&format!("| +0x{offset:02x} |")), "{offset:#x}");
    }
    for (index, counter) in SwitchPortCounter::ALL.into_iter().enumerate() {
        let offset = port::COUNTERS + 4 * index as u32;
        assert!(page.contains(&format!("| +0x{offset:02x} | {counter:?} |")), "{counter:?}");
    }
}
