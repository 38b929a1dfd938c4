//! The management information base in registers: every item is readable, and set by a command.

use crate::driver::{Driver, wait};
use spfe_contract::{
    BlockType, Command, MIB_ITEMS, MIB_VALUE_BYTES, MibAccess, MibItem, MibScope, Status,
    capability, global_block as global, mib_block as mib, port_block as port,
};
use spfe_host::{LinkModel, LinkRate, Mode, Topology};

const LANES: u32 = 2;

fn exact() -> Topology {
    let rate = LinkRate::SpaceFibre { lanes: LANES, mbps: 6250 };
    let mut topology = Topology::pairs(2, rate, Mode::Thread);
    for ports in &mut topology.endpoints {
        ports[0].model = LinkModel::Exact;
    }
    topology
}

fn offset(item: MibItem) -> u32 {
    u32::from(item.raw()) * MIB_VALUE_BYTES as u32
}

fn value(driver: &Driver, item: MibItem, element: u32) -> u64 {
    driver.mib(0, element, offset(item))
}

fn set(driver: &Driver, item: MibItem, element: u32, value: u64) -> Status {
    driver.mib_set(0, u32::from(item.raw()), element, value)
}

#[test]
fn every_item_of_an_exact_link_is_in_its_place() {
    // No engine runs the link, so its values do not change during the test.
    let driver = Driver::of(exact(), false);
    assert!(driver.registers.read32(global::CAPABILITY) & capability::MIB != 0);
    let vcs = driver.read(BlockType::Port, 0, port::VCS);
    // Values in both halves, and for elements other than 0.
    let slots = 0x8000_0000_0000_0001;
    assert_eq!(set(&driver, MibItem::TimeSlots, 3, slots), Status::Ok);
    assert_eq!(set(&driver, MibItem::StandbyReason, 1, 0x5a), Status::Ok);
    assert_eq!(value(&driver, MibItem::TimeSlots, 3), slots);
    assert_eq!(value(&driver, MibItem::StandbyReason, 1), 0x5a);
    let mut different = std::collections::BTreeSet::new();
    for element in 0..vcs.max(LANES) {
        let present = driver.mib(0, element, mib::PRESENT_LO);
        for info in &MIB_ITEMS {
            let count = match info.scope {
                MibScope::Link => 1,
                MibScope::Lane => LANES,
                MibScope::Vc => vcs,
            };
            let there = element < count;
            assert_eq!(present >> info.item.raw() & 1 != 0, there, "{}[{element}]", info.title);
            let known = driver.network.mib_item(0, 0, info.item, element);
            assert_eq!(known.is_ok(), there, "{}[{element}]", info.title);
            let got = value(&driver, info.item, element);
            assert_eq!(got, known.unwrap_or(0), "{}[{element}]", info.title);
            different.insert(got);
        }
        assert_eq!(present >> MIB_ITEMS.len(), 0, "no item has these numbers");
    }
    assert!(different.len() > 8, "not all the same: {different:?}");
}

#[test]
fn every_parameter_can_be_set_and_nothing_else() {
    let driver = Driver::of(exact(), false);
    for info in &MIB_ITEMS {
        let before = value(&driver, info.item, 0);
        let wanted = match info.access {
            MibAccess::Ro => Status::BadOpcode,
            _ => Status::Ok,
        };
        // The least value is always in the range of the link.
        assert_eq!(set(&driver, info.item, 0, info.min), wanted, "{}", info.title);
        let now = value(&driver, info.item, 0);
        match info.access {
            MibAccess::Ro => assert_eq!(now, before, "{}", info.title),
            MibAccess::Rw => assert_eq!(now, info.min, "{}", info.title),
            MibAccess::Command => assert_eq!(now, 0, "{}", info.title),
        }
    }
}

#[test]
fn lane_start_stops_and_starts_lanes() {
    let driver = Driver::of(exact(), true);
    let lane = |number| value(&driver, MibItem::LaneState, number);
    let sending = || value(&driver, MibItem::DataSendingLanes, 0);
    wait("two lanes", || (lane(0), lane(1), sending()) == (7, 7, 3));
    for item in [MibItem::LaneStart, MibItem::AutoStart] {
        assert_eq!(set(&driver, item, 1, 0), Status::Ok);
    }
    wait("one lane", || lane(1) < 3 && sending() == 1);
    assert_eq!(lane(0), 7);
    assert_eq!(set(&driver, MibItem::LaneStart, 1, 1), Status::Ok);
    wait("the lane again", || (lane(1), sending()) == (7, 3));
}

#[test]
fn a_refused_setting_changes_nothing() {
    let driver = Driver::of(exact(), false);
    let number = |item: MibItem| u32::from(item.raw());
    let priority = number(MibItem::Priority);
    assert_eq!(driver.mib_set(0, priority, 5, 9), Status::Ok);
    for (port, item, element, value, status) in [
        (9, priority, 5, 1, Status::NotFound),
        (0, number(MibItem::ScheduleType) + 1, 0, 1, Status::NotFound),
        (0, 256 + priority, 5, 1, Status::NotFound),
        (0, priority, 8, 1, Status::NotFound),
        (0, priority, u32::MAX, 1, Status::NotFound),
        (0, priority, 5, 16, Status::BadField),
        (0, priority, 5, 1 << 32 | 1, Status::BadField),
        (0, number(MibItem::LaneState), 0, 1, Status::BadOpcode),
        (0, number(MibItem::LinkReset), 0, 2, Status::BadField),
        (0, number(MibItem::LinkReset), 1, 1, Status::NotFound),
        (0, number(MibItem::MaxDataSendingLanes), 0, 3, Status::BadField),
        // The SpaceWire port.
        (1, number(MibItem::LaneStart), 0, 1, Status::BadOpcode),
    ] {
        let got = driver.mib_set(port, item, element, value);
        assert_eq!(got, status, "port {port} item {item}[{element}] = {value}");
    }
    assert_eq!(value(&driver, MibItem::Priority, 5), 9);
    // Without the command the register has no effect.
    driver.registers.write32(global::MIB_ITEM, priority);
    driver.registers.write32(global::MIB_VALUE_LO, 2);
    assert_eq!(driver.command(Command::Nop, 0), Status::Ok);
    assert_eq!(value(&driver, MibItem::Priority, 5), 9);
    let at = driver.mib_at(0, 5) + offset(MibItem::Priority);
    driver.registers.write32(at, 3);
    assert_eq!(driver.registers.read32(at), 9, "values are written by the device");
}

#[test]
fn a_packet_level_link_has_its_items_only() {
    let rate = LinkRate::SpaceFibre { lanes: 4, mbps: 6250 };
    let driver = Driver::of(Topology::pairs(2, rate, Mode::Thread), false);
    let present = |port, element| driver.mib(port, element, mib::PRESENT_LO);
    let mask = |items: &[MibItem]| items.iter().fold(0, |mask, item| mask | 1u64 << item.raw());
    let lane = [MibItem::LaneState, MibItem::NoSignal];
    let link = [MibItem::DataSendingLanes, MibItem::DataReceivingLanes];
    let vc = [MibItem::Priority, MibItem::ExpectedBandwidth];
    assert_eq!(present(0, 0), mask(&[&lane[..], &link, &vc].concat()));
    assert_eq!(present(0, 3), mask(&[&lane[..], &vc].concat()));
    assert_eq!(present(0, 4), mask(&vc));
    assert_eq!(present(1, 0), mask(&vc[..1]), "SpaceWire");
    assert_eq!(value(&driver, MibItem::LaneState, 3), 7);
    assert_eq!(value(&driver, MibItem::DataSendingLanes, 0), 15);
    assert_eq!(set(&driver, MibItem::Priority, 7, 15), Status::Ok);
    assert_eq!(driver.network.port_info(0, 0).unwrap().channels[7].priority, 15);
    assert_eq!(set(&driver, MibItem::Priority, 7, 16), Status::BadField);
    assert_eq!(set(&driver, MibItem::LaneState, 0, 1), Status::BadOpcode);
    assert_eq!(value(&driver, MibItem::ExpectedBandwidth, 0), 6554);
    assert_eq!(set(&driver, MibItem::ExpectedBandwidth, 7, 0), Status::BadField);
    assert_eq!(set(&driver, MibItem::ExpectedBandwidth, 7, 0x8000), Status::Ok);
    assert_eq!(driver.network.mib_item(0, 0, MibItem::ExpectedBandwidth, 7).unwrap(), 0x8000);
    let error = driver.network.mib_item(0, 0, MibItem::LaneStart, 0).unwrap_err().to_string();
    assert!(error.contains("LaneStart[0]") && error.contains("packet-level"), "{error}");
}

/// A device of minor version 9 has no items that begin time-slots.
#[test]
fn a_device_of_version_1_9_begins_no_time_slots() {
    let items = [MibItem::Schedule, MibItem::ScheduleType];
    let present = |driver: &Driver| {
        let all = driver.mib(0, 0, mib::PRESENT_LO);
        items.map(|item| all >> item.raw() & 1)
    };
    let older = Driver::with_older(exact(), 9);
    assert_eq!(present(&older), [0, 0]);
    assert_eq!(value(&older, MibItem::ScheduleType, 0), 0);
    for item in items {
        assert_eq!(set(&older, item, 0, 3), Status::NotFound);
    }
    let driver = Driver::of(exact(), false);
    assert_eq!(present(&driver), [1, 1]);
    assert_eq!(value(&driver, MibItem::ScheduleType, 0), 256);
    for (item, wrong) in [(items[0], 64), (items[1], 257)] {
        assert_eq!(set(&driver, item, 0, 3), Status::Ok);
        assert_eq!(set(&driver, item, 0, wrong), Status::BadField);
    }
    assert_eq!(value(&driver, MibItem::CurrentTimeSlot, 0), 3);
    assert_eq!(value(&driver, MibItem::ScheduleType, 0), 3);
    assert_eq!(value(&driver, MibItem::Schedule, 0), 0, "a command");
}
