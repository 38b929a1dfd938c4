//! The management information base (50-11C 5.9): every name, reading and setting.

use crate::bench::{Bench, VCS, quick_lane};
use spfe_contract::{MIB_ITEMS, MibAccess, MibItem, MibKind, MibLayer, MibScope};
use spfe_link::Word;
use spfe_link::datalink::DataLinkConfig;
use spfe_link::mib::{Error, LinkMib, find};
use std::collections::BTreeSet;

/// Tables 5-36 and 5-37 by layer, as far as they concern one end of a link, and the two items that
/// begin time-slots.
const NAMES: [(MibLayer, &[&str]); 5] = [
    (MibLayer::Network, &["Virtual Network Number", "Broadcast Channel", "Schedule Type"]),
    (
        MibLayer::DataLink,
        &[
            "Interface Reset",
            "Link Reset",
            "Data Scrambled",
            "Expected Broadcast Bandwidth",
            "Priority",
            "Expected Bandwidth",
            "Time-slots",
            "Continuous Mode",
            "Idle Time Limit",
            "Bandwidth Credit Limit",
            "Minimum Bandwidth Credit Threshold",
            "FCT Multiplier",
            "Segment Multiplier",
            "Has Credit",
            "Input Buffer Overflow",
            "FCT Credit Overflow",
            "Bandwidth Over-use",
            "Bandwidth Under-use",
            "CRC-16 Error",
            "CRC-8 Error",
            "Frame Error",
            "Sequence Error",
            "Error Recovery Buffer Empty",
            "Error Recovery Attempts",
            "Link Reset Caused by Protocol Error",
            "Far-End Link Reset",
            "Current Time-slot",
            "Schedule",
        ],
    ),
    (
        MibLayer::MultiLane,
        &[
            "TxEn",
            "RxEn",
            "Maximum Number of Data-Sending Lanes",
            "Bypass",
            "Data-Sending Lanes",
            "Data-Receiving Lanes",
            "Alignment State",
            "Misaligned Events",
        ],
    ),
    (
        MibLayer::Lane,
        &[
            "LaneStart",
            "AutoStart",
            "LaneReset",
            "Near-End Parallel Loopback",
            "Far-End Parallel Loopback",
            "Standby Reason",
            "Lane State",
            "RXERR Count",
            "RXERR Overflow",
            "Far-End Standby",
            "Far-End Standby Reason",
            "Timeout",
            "Far-End Lost Signal",
            "Far-End Lost Signal Cause",
            "Far-End Capabilities",
            "RX Polarity",
        ],
    ),
    (
        MibLayer::Physical,
        &["Near-End Serial Loopback", "Far-End Serial Loopback", "No Signal", "Bit Synchronised"],
    ),
];

#[test]
fn every_name_once() {
    let mut all = BTreeSet::new();
    for (layer, names) in NAMES {
        for name in names {
            let items: Vec<_> = MIB_ITEMS.iter().filter(|item| item.title == *name).collect();
            assert_eq!(items.len(), 1, "{name}");
            assert_eq!(items[0].layer, layer, "{name}");
            assert_eq!(find(name), Some(items[0]));
            all.insert(*name);
        }
    }
    assert_eq!(all.len(), MIB_ITEMS.len(), "and no other");
    for item in &MIB_ITEMS {
        assert_eq!(item.item.info(), item, "at its number");
        assert!(item.min <= item.max);
        assert_eq!(
            item.access == MibAccess::Ro,
            item.kind != MibKind::Parameter || is_fixed(item.item)
        );
    }
    assert!(find("Lane state").is_none());
}

/// Parameters that are fixed when a link is created.
fn is_fixed(id: MibItem) -> bool {
    matches!(
        id,
        MibItem::BandwidthCreditLimit
            | MibItem::MinimumBandwidthCreditThreshold
            | MibItem::FctMultiplier
            | MibItem::SegmentMultiplier
            | MibItem::Bypass
    )
}

fn bench() -> Bench<3> {
    Bench::new(
        quick_lane(),
        DataLinkConfig { link_reset_retry_words: 800, ..DataLinkConfig::default() },
        &[],
    )
}

#[test]
fn what_is_set_is_read_back() {
    let mut bench = bench();
    let mut mib = bench.ends[0].mib();
    for item in &MIB_ITEMS {
        let count = mib.count(item);
        let expected = match item.scope {
            MibScope::Link => 1,
            MibScope::Lane => 3,
            MibScope::Vc => VCS,
        };
        assert_eq!(count, expected, "{}", item.title);
        assert_eq!(mib.get(item.item, count), Err(Error::Index { count }));
        assert_eq!(mib.set(item.item, count, item.min), Err(Error::Index { count }));
        match item.access {
            MibAccess::Command => assert_eq!(mib.get(item.item, 0), Ok(0)),
            MibAccess::Ro => assert_eq!(mib.set(item.item, 0, item.min), Err(Error::ReadOnly)),
            MibAccess::Rw => {
                let (min, max) = mib.range(item);
                for index in (0..count).rev() {
                    if item.item == MibItem::VirtualNetwork && index == 0 {
                        let fixed = Error::Range { min: 0, max: 0 };
                        assert_eq!(mib.set(item.item, 0, 1), Err(fixed));
                        continue;
                    }
                    let others = |index| (0..count).filter(move |other| *other != index);
                    let before: Vec<_> = others(index).map(|at| mib.get(item.item, at)).collect();
                    for value in [max, min, min + (max - min) / 2, max] {
                        mib.set_by_name(item.title, index, value).unwrap();
                        assert_eq!(mib.get_by_name(item.title, index), Ok(value), "{}", item.title);
                    }
                    let after: Vec<_> = others(index).map(|at| mib.get(item.item, at)).collect();
                    assert_eq!(before, after, "{}: only this one", item.title);
                    let range = Err(Error::Range { min, max });
                    if max < u64::MAX {
                        assert_eq!(mib.set(item.item, index, max + 1), range);
                    }
                    if min > 0 {
                        assert_eq!(mib.set(item.item, index, min - 1), range);
                    }
                    assert_eq!(mib.get(item.item, index), Ok(max));
                }
            }
        }
    }
    assert_eq!(mib.range(MibItem::MaxDataSendingLanes.info()), (1, 3));
    assert_eq!(mib.get_by_name("Lane", 0), Err(Error::Name));
    assert_eq!(mib.set_by_name("Lane", 0, 0), Err(Error::Name));
    // Interface Reset puts every parameter back.
    let mut fresh = self::bench();
    mib.set(MibItem::InterfaceReset, 0, 1).unwrap();
    let fresh = fresh.ends[0].mib();
    for item in MIB_ITEMS.iter().filter(|item| item.kind == MibKind::Parameter) {
        for index in 0..mib.count(item) {
            assert_eq!(mib.get(item.item, index), fresh.get(item.item, index), "{}", item.title);
        }
    }
}

#[test]
fn visit_reads_every_item() {
    let mut bench = bench();
    let mib = bench.ends[0].mib();
    let mut seen = Vec::new();
    mib.visit(|entry| {
        assert_eq!(mib.get(entry.item.item, entry.index), Ok(entry.value));
        assert!(entry.value >= entry.item.min && entry.value <= entry.item.max);
        seen.push((entry.item.title, entry.index));
    });
    let expected: usize = MIB_ITEMS
        .iter()
        .filter(|item| item.access != MibAccess::Command)
        .map(|item| mib.count(item))
        .sum();
    assert_eq!(seen.len(), expected);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), expected, "each once");
}

/// Status of a link from start to failure.
#[test]
fn status_of_a_link() {
    let mut bench = bench();
    bench.run(30);
    let expect = |bench: &mut Bench<3>, end: usize, list: &[(MibItem, usize, u64)]| {
        let mib = bench.ends[end].mib();
        for (id, index, value) in list {
            assert_eq!(mib.get(*id, *index), Ok(*value), "{id:?} {index} of end {end}");
        }
    };
    // No end starts: Wait.
    expect(
        &mut bench,
        0,
        &[(MibItem::LaneState, 0, 2), (MibItem::NoSignal, 1, 1), (MibItem::HasCredit, 0, 0)],
    );
    for lane in 0..3 {
        bench.ends[0].mib().set(MibItem::LaneStart, lane, 1).unwrap();
    }
    bench.ends[0].mib().set(MibItem::StandbyReason, 2, 0x5a).unwrap();
    bench.until_up(2000);
    bench.run(300);
    let up = [
        (MibItem::LaneState, 2, 7),
        (MibItem::NoSignal, 2, 0),
        (MibItem::BitSync, 2, 1),
        (MibItem::HasCredit, 1, 1),
        (MibItem::DataSendingLanes, 0, 7),
        (MibItem::DataReceivingLanes, 0, 7),
        (MibItem::AlignmentState, 0, 2),
        (MibItem::ErrorRecoveryBufferEmpty, 0, 1),
        (MibItem::RxPolarity, 0, 0),
    ];
    expect(&mut bench, 0, &up);
    // LaneStart is bit 1 of the capability of the end that starts.
    expect(&mut bench, 1, &[(MibItem::FarEndCapabilities, 0, 1 | 2 | 4 | 8)]);
    expect(&mut bench, 0, &[(MibItem::FarEndCapabilities, 0, 1 | 4 | 8)]);
    // A frame in progress is damaged.
    bench.ends[0].link.schedule(9);
    bench.ends[0].link.write(0, &[Word::data(1); 300]);
    bench.run(20);
    bench.damaged[0] = 1;
    bench.run(400);
    expect(
        &mut bench,
        0,
        &[(MibItem::ErrorRecoveryAttempts, 0, 1), (MibItem::CurrentTimeSlot, 0, 9)],
    );
    expect(&mut bench, 1, &[(MibItem::RxerrCount, 0, 2), (MibItem::RxerrCount, 1, 0)]);
    // Lane 2 goes to standby.
    let misaligned = bench.ends[1].mib().get(MibItem::MisalignedEvents, 0).unwrap();
    bench.ends[0].mib().set(MibItem::LaneStart, 2, 0).unwrap();
    bench.ends[0].mib().set(MibItem::AutoStart, 2, 0).unwrap();
    bench.run(200);
    expect(
        &mut bench,
        1,
        &[(MibItem::FarEndStandby, 2, 1), (MibItem::FarEndStandbyReason, 2, 0x5a)],
    );
    expect(&mut bench, 1, &[(MibItem::FarEndStandby, 1, 0), (MibItem::DataReceivingLanes, 0, 3)]);
    assert!(bench.ends[1].mib().get(MibItem::MisalignedEvents, 0).unwrap() > misaligned);
    // Lane 1 is cut: the far end reports the cause.
    bench.cut[1] = 2;
    bench.run(60);
    expect(
        &mut bench,
        1,
        &[(MibItem::FarEndLostSignal, 1, 1), (MibItem::FarEndLostSignalCause, 1, 0)],
    );
    bench.ends[1].mib().clear_errors();
    expect(&mut bench, 1, &[(MibItem::FarEndLostSignal, 1, 0), (MibItem::FarEndStandby, 2, 0)]);
    expect(
        &mut bench,
        1,
        &[(MibItem::MisalignedEvents, 0, 0), (MibItem::DataReceivingLanes, 0, 1)],
    );
    bench.run(1000);
    expect(&mut bench, 0, &[(MibItem::Timeout, 1, 1)]);
    // Link Reset through the management information base.
    bench.ends[0].mib().set(MibItem::LinkReset, 0, 1).unwrap();
    bench.run(1000);
    expect(&mut bench, 1, &[(MibItem::FarEndLinkReset, 0, 1)]);
    expect(&mut bench, 0, &[(MibItem::FarEndLinkReset, 0, 0)]);
}

/// Link Reset clears the status of the data link, multi-lane and lane layers.
#[test]
fn link_reset_clears_the_errors_of_all_layers() {
    let mut bench = bench();
    bench.start_lanes();
    bench.until_up(2000);
    bench.ends[0].mib().set(MibItem::LinkReset, 0, 1).unwrap();
    bench.run(10);
    bench.until_up(5000);
    for parameter in [MibItem::LaneStart, MibItem::AutoStart] {
        bench.ends[0].mib().set(parameter, 2, 0).unwrap();
    }
    bench.run(200);
    let errors = |bench: &mut Bench<3>| -> Vec<_> {
        let mut list = Vec::new();
        bench.ends[1].mib().visit(|entry| {
            if entry.item.kind == MibKind::Error && entry.value != 0 {
                list.push((entry.item.layer, entry.item.item, entry.index));
            }
        });
        list
    };
    let before = errors(&mut bench);
    for error in [
        (MibLayer::DataLink, MibItem::FarEndLinkReset, 0),
        (MibLayer::MultiLane, MibItem::MisalignedEvents, 0),
        (MibLayer::Lane, MibItem::FarEndStandby, 2),
    ] {
        assert!(before.contains(&error), "{error:?}: {before:?}");
    }
    let state = bench.ends[1].mib().get(MibItem::LaneState, 0);
    bench.ends[1].mib().set(MibItem::LinkReset, 0, 1).unwrap();
    assert_eq!(errors(&mut bench), []);
    // Status that is not an error stays.
    assert_eq!(bench.ends[1].mib().get(MibItem::LaneState, 0), state);
}

/// A link type with more lanes than the link has.
#[test]
fn missing_lanes_have_no_items() {
    let mut bench = bench();
    let end = &mut bench.ends[0];
    end.lanes.lanes_mut()[2].parameters.lane_reset = true;
    let mut mib =
        LinkMib { link: &mut end.link, lanes: &mut end.lanes, lane_count: 2, node: &mut end.node };
    assert_eq!(mib.get(MibItem::LaneState, 2), Err(Error::Index { count: 2 }));
    assert_eq!(mib.set(MibItem::LaneReset, 2, 0), Err(Error::Index { count: 2 }));
    assert_eq!(mib.range(MibItem::MaxDataSendingLanes.info()), (1, 2));
    mib.set(MibItem::InterfaceReset, 0, 1).unwrap();
    assert_eq!(mib.get(MibItem::MaxDataSendingLanes, 0), Ok(2));
    assert!(end.lanes.lanes()[2].parameters.lane_reset, "held in reset for ever");
}
