//! Parameters, status and errors of a link, by the names of the standard.

use spfe::{
    Deadline, Embedded, End, Endpoint, LinkModel, LinkRate, MIB_ITEMS, MibAccess, MibItem, MibName,
    MibScope, Mode, Rx, Status, Topology, Tx,
};
use std::time::Duration;

const LANES: u32 = 2;

/// Both ends of a link of two lanes, in virtual time.
fn exact() -> [Endpoint; 2] {
    let rate = LinkRate::SpaceFibre { lanes: LANES, mbps: 6250 };
    let mut topology = Topology::pairs(2, rate, Mode::Inline);
    for ports in &mut topology.endpoints {
        ports[0].model = LinkModel::Exact;
    }
    let network = Embedded::new(Topology { virtual_time: true, ..topology }).unwrap();
    [0, 1].map(|endpoint| Endpoint::attach(&network, endpoint, "mib").unwrap())
}

/// Both ends of a virtual channel, with one buffer posted at the far end, and a packet to send.
fn channel(ends: &[Endpoint; 2], vc: u32, bytes: usize) -> (Tx, Rx, spfe::Buf) {
    let channel = |end: usize| ends[end].port(0).unwrap().vc(vc).unwrap();
    let (tx, mut rx) = (channel(0).tx().unwrap(), channel(1).rx().unwrap());
    rx.post(ends[1].alloc(bytes).unwrap().buf(0..bytes).unwrap()).unwrap();
    (tx, rx, ends[0].alloc(bytes).unwrap().buf(0..bytes).unwrap())
}

/// Advances the time of the links.
fn pass(end: &Endpoint, rx: &mut Rx) {
    let until = end.deadline_after(Duration::from_micros(200));
    assert!(rx.recv(until).unwrap_err().is_timeout());
}

#[test]
fn every_item_is_read_by_its_name() {
    let ends = exact();
    let port = ends[0].port(0).unwrap();
    let (mib, vcs) = (port.mib(), port.info().unwrap().vcs);
    let mut items = mib.items().unwrap().into_iter();
    for info in &MIB_ITEMS {
        let count = match info.scope {
            MibScope::Link => 1,
            MibScope::Lane => LANES,
            MibScope::Vc => vcs,
        };
        for index in 0..count {
            let name = MibName { item: info.item, index };
            let value = mib.get(&name.to_string()).unwrap();
            assert!((info.min..=info.max).contains(&value) || info.access == MibAccess::Command);
            if info.access != MibAccess::Command {
                assert_eq!(items.next(), Some((name, value)));
            }
        }
        if info.scope != MibScope::Link {
            let error = mib.get(&format!("{}[{count}]", info.title)).unwrap_err();
            assert_eq!(error.status(), Some(Status::NotFound), "{error}");
            assert!(error.to_string().contains(&format!("0 to {}", count - 1)), "{error}");
        }
    }
    assert_eq!(items.next(), None);
}

#[test]
fn a_parameter_is_set_at_one_end_only() {
    let ends = exact();
    let [near, far] = [0, 1].map(|end: usize| ends[end].port(0).unwrap().mib());
    for (name, value) in [
        ("Virtual Network Number[3]", 63),
        ("Broadcast Channel", 9),
        ("Expected Broadcast Bandwidth", 1000),
        ("Priority[7]", 1),
        ("Expected Bandwidth[2]", 65535),
        ("Time-slots[1]", 1 << 63),
        ("Continuous Mode[4]", 1),
        ("Idle Time Limit", 77),
        ("Maximum Number of Data-Sending Lanes", 1),
        ("AutoStart[1]", 0),
        ("Standby Reason[1]", 200),
    ] {
        let before = far.get(name).unwrap();
        assert_ne!(near.get(name).unwrap(), value, "{name}");
        near.set(name, value).unwrap();
        assert_eq!(near.get(name).unwrap(), value, "{name}");
        assert_eq!(far.get(name).unwrap(), before, "{name}");
    }
    near.set("interface reset", 1).unwrap();
    assert_eq!(near.get("Priority[7]").unwrap(), 15, "as after power-on");
    assert_eq!(ends[0].port(0).unwrap().info().unwrap().channels[7].priority, 15);
}

#[test]
fn a_refused_setting_says_why() {
    let ends = exact();
    let mib = ends[0].port(0).unwrap().mib();
    let space_wire = ends[0].port(1).unwrap().mib();
    for (mib, name, value, status, words) in [
        (&mib, "Lane State[1]", 7, Status::BadOpcode, "Lane State[1]: it can only be read"),
        (&mib, "Priority[3]", 16, Status::BadField, "Priority[3]: 16; 0 to 15 allowed"),
        (&mib, "Link Reset", 0, Status::BadField, "Link Reset: 0; 1 to 1 allowed"),
        (&mib, "LaneStart[2]", 1, Status::NotFound, "LaneStart[2]: the link has lanes 0 to 1"),
        (&mib, "Priority[8]", 1, Status::NotFound, "the link has VCs 0 to 7"),
        (&mib, "Colour", 1, Status::NotFound, "no parameter"),
        (&mib, "Virtual Network Number[0]", 1, Status::BadField, "1; 0 to 0 allowed"),
        (&space_wire, "LaneStart[0]", 1, Status::BadOpcode, "not on a SpaceWire link"),
    ] {
        let error = mib.set(name, value).unwrap_err();
        assert_eq!(error.status(), Some(status), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let packet = Endpoint::open("virtual:?link=2x6.25G").unwrap().port(0).unwrap().mib();
    let error = packet.get("Segment Multiplier").unwrap_err().to_string();
    assert!(error.contains("Segment Multiplier: not on a packet-level link"), "{error}");
    let names: Vec<_> = packet.items().unwrap().iter().map(|(name, _)| name.item).collect();
    assert!(names.contains(&MibItem::Priority) && names.contains(&MibItem::LaneState));
    packet.set("Priority[1]", 4).unwrap();
    assert_eq!(packet.get("Priority[1]").unwrap(), 4);
}

#[test]
fn the_more_urgent_channel_goes_first() {
    for urgent in [0, 1] {
        let ends = exact();
        let mib = ends[0].port(0).unwrap().mib();
        for vc in 0..2 {
            mib.set(&format!("Priority[{vc}]"), if vc == urgent { 1 } else { 5 }).unwrap();
            // A channel that uses more than its share would be sent last.
            mib.set(&format!("Expected Bandwidth[{vc}]"), 32768).unwrap();
        }
        let mut channels = [0, 1].map(|vc| channel(&ends, vc, 65536));
        let mut times = [0; 2];
        // Both packets wait before the link is up.
        for (tx, _, buf) in &mut channels {
            let packet = std::mem::replace(buf, ends[0].alloc(8).unwrap().buf(0..8).unwrap());
            tx.send(packet).unwrap();
        }
        for ((_, rx, _), time) in channels.iter_mut().zip(&mut times) {
            let got = rx.recv(Deadline::NEVER).unwrap();
            assert_eq!(got.end, End::Eop);
            *time = got.time_ns.unwrap();
        }
        let (first, second) = (times[urgent as usize], times[1 - urgent as usize]);
        assert!(first < second, "VC {urgent} at {first} ns, the other at {second} ns");
    }
}

#[test]
fn a_channel_sends_only_when_its_parameters_allow() {
    for (name, bars, lets) in
        [("Expected Bandwidth[2]", 0, 65535), ("Time-slots[2]", !1, 1), ("TIME_SLOTS.2", 0, 1)]
    {
        let ends = exact();
        let mib = ends[0].port(0).unwrap().mib();
        mib.set(name, bars).unwrap();
        let (mut tx, mut rx, buf) = channel(&ends, 2, 1000);
        tx.send(buf).unwrap();
        pass(&ends[1], &mut rx);
        mib.set(name, lets).unwrap();
        let got = rx.recv(ends[1].deadline_after(Duration::from_micros(200))).unwrap();
        assert_eq!((got.buf.len(), got.end), (1000, End::Eop), "{name}");
    }
}

#[test]
fn lane_start_stops_and_starts_a_lane() {
    let ends = exact();
    let [near, far] = [0, 1].map(|end: usize| ends[end].port(0).unwrap().mib());
    let (mut tx, mut rx, buf) = channel(&ends, 0, 1000);
    pass(&ends[1], &mut rx);
    let lanes = || near.get("Data-Sending Lanes").unwrap();
    assert_eq!((lanes(), near.get("Lane State[1]").unwrap()), (3, 7));
    near.set("Standby Reason[1]", 0x5a).unwrap();
    near.set("LaneStart[1]", 0).unwrap();
    near.set("AutoStart[1]", 0).unwrap();
    pass(&ends[1], &mut rx);
    assert_eq!(lanes(), 1);
    assert_eq!(far.get("Far-End Standby Reason[1]").unwrap(), 0x5a);
    assert_eq!(far.get("Far-End Standby[1]").unwrap(), 1);
    // The link works with one lane.
    tx.send(buf).unwrap();
    assert_eq!(rx.recv(Deadline::NEVER).unwrap().end, End::Eop);
    near.set("LaneStart[1]", 1).unwrap();
    pass(&ends[1], &mut rx);
    assert_eq!((lanes(), near.get("Lane State[1]").unwrap()), (3, 7));
    far.set("Link Reset", 1).unwrap();
    assert_eq!(far.get("Far-End Standby[1]").unwrap(), 0, "cleared");
    pass(&ends[1], &mut rx);
    assert_eq!(near.get("Far-End Link Reset").unwrap(), 1);
}
