//! The simulated core as a device. Needs its model: `make rtl-model`; without it, and without
//! SPFE_RTL_REQUIRED in the environment, the tests are skipped.

use spfe::rmap::{Initiator, InitiatorOptions, Remote};
use spfe::{Deadline, Endpoint};
use spfe_contract::{MibItem, PortKind, PortState, Status, access};
use spfe_host::{Backend, LinkCommand, LinkRate, Peer};
use spfe_remote::{RdmaQueue, RdmaQueueOptions};
use spfe_rtl::{Machine, Name, Plan, Rtl, Shape, models};
use std::time::{Duration, Instant};

/// Whether the model is there.
fn has_model() -> bool {
    has("2_1_4")
}

/// Whether the model of this shape is there.
fn has(shape: &str) -> bool {
    let there = models().join(format!("spfe_sim_endpoint_{shape}.so")).exists();
    assert!(there || std::env::var_os("SPFE_RTL_REQUIRED").is_none(), "make rtl-model");
    if !there {
        eprintln!("skipped: there is no model {shape} of the core; make rtl-model builds it");
    }
    there
}

fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_true() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn the_core_is_found_and_its_links_come_up() {
    if !has_model() {
        return;
    }
    let device = spfe_rtl::open("rtl:").unwrap();
    let info = device.info();
    assert_eq!((info.uri.as_str(), info.backend, info.ports), ("rtl:", "rtl", 2));
    for port in 0..2 {
        let state = || device.port_info(port).unwrap().state;
        eventually("the link comes up", || state() == PortState::Up);
        let info = device.port_info(port).unwrap();
        assert_eq!((info.kind, info.vcs), (PortKind::Spacefibre, 4));
        assert_eq!(device.mib_item(port, MibItem::LaneState, 0).unwrap(), 7, "Active");
        assert!(device.port_mib(port).unwrap().len() > 30);
    }
    assert_eq!(device.port_info(2).unwrap_err().status(), Some(Status::NotFound));
    device.link_command(0, LinkCommand::Reset).unwrap();
    eventually("the link comes up again", || device.port_info(0).unwrap().state == PortState::Up);
    assert!(!device.is_gone());
}

#[test]
fn a_channel_sends_in_its_time_slots() {
    if !has_model() {
        return;
    }
    let [a, b] = [0, 1]
        .map(|core| Endpoint::with_backend(spfe_rtl::open(&format!("rtl:slots/{core}")).unwrap()));
    let (near, far) = (a.port(0).unwrap(), b.port(0).unwrap());
    let mib = near.mib();
    let mut tx = near.vc(1).unwrap().tx().unwrap();
    let mut rx = far.vc(1).unwrap().rx().unwrap();
    rx.post_all(&mut b.alloc(4096).unwrap().split(64, 8).unwrap());
    let mut send = || tx.send(a.alloc(64).unwrap().buf(0..64).unwrap()).unwrap();
    // Nothing has come in this time, or a packet comes in a long one.
    let (short, long) = (Duration::from_millis(50), Duration::from_secs(60));
    let mut arrives = |within| rx.recv(Deadline::after(within)).is_ok();
    mib.set("Time-slots[1]", 1 << 5 | 1 << 9).unwrap();
    send();
    assert!(!arrives(short), "slot 0");
    mib.set("Schedule", 5).unwrap();
    assert!(arrives(long), "slot 5, begun by software");
    assert_eq!(mib.get("Current Time-slot").unwrap(), 5);
    mib.set("Schedule", 6).unwrap();
    send();
    assert!(!arrives(short), "slot 6");

    let (mut out, mut back) = (near.broadcast().unwrap(), far.broadcast().unwrap());
    assert_eq!(mib.get("Schedule Type").unwrap(), 256, "none after power-on");
    mib.set("Schedule Type", 0x30).unwrap();
    out.send(1, 0x31, [9; 8]).unwrap();
    back.send(1, 0x31, [9; 8]).unwrap();
    assert!(!arrives(short), "another type");
    out.send(1, 0x30, [64 + 9, 5, 5, 5, 5, 5, 5, 5]).unwrap();
    assert!(arrives(long), "slot 9, begun by the own message");
    mib.set("Schedule", 6).unwrap();
    send();
    back.send(1, 0x30, [5; 8]).unwrap();
    assert!(arrives(long), "slot 5, begun by the far end");
    assert_eq!(mib.get("Current Time-slot").unwrap(), 5);
    mib.set("Interface Reset", 1).unwrap();
    eventually("power-on values", || mib.get("Schedule Type").unwrap() == 256);
    assert_eq!(mib.get("Current Time-slot").unwrap(), 0);
}

#[test]
fn a_space_wire_port_comes_up_and_starts_again() {
    if !has("2_1_4_wires1_pair") {
        return;
    }
    let names = [0, 1].map(|core| format!("rtl:wires/{core}?ports=1&spwports=1&pairs=1"));
    let devices = names.map(|name| spfe_rtl::open(&name).unwrap());
    let state = || devices[0].port_info(1).unwrap().state;
    eventually("the link comes up", || state() == PortState::Up);
    let info = devices[0].port_info(1).unwrap();
    assert_eq!((info.kind, info.vcs), (PortKind::Spacewire, 1));
    assert_eq!(info.rate, LinkRate::SpaceWire { mbps: 78 });
    assert_eq!(info.peer, Peer::Port { endpoint: 1, port: 1 });
    let error = devices[0].mib_item(1, MibItem::LaneState, 0).unwrap_err();
    assert_eq!(error.status(), Some(Status::NotFound), "{error}");
    let set = LinkCommand::Set { item: MibItem::LaneStart.raw(), index: 0, value: 1 };
    let error = devices[0].link_command(1, set).unwrap_err();
    assert_eq!(error.status(), Some(Status::BadOpcode), "{error}");
    devices[1].link_command(1, LinkCommand::Reset).unwrap();
    eventually("the link comes up again", || state() == PortState::Up);
}

#[test]
fn a_core_writes_and_reads_the_memory_behind_another() {
    if !has_model() || !has("1_1_4_target") {
        return;
    }
    let device = spfe_rtl::open("rtl:?peer=target").unwrap();
    let endpoint = Endpoint::with_backend(device);
    let vc = endpoint.port(0).unwrap().vc(0).unwrap();
    let mut queue = RdmaQueue::open(&vc, RdmaQueueOptions::default()).unwrap();
    let patience = Duration::from_secs(60);
    let regions = queue.regions(patience).unwrap();
    let (key, base) = (regions[0].key, regions[0].base);
    assert_eq!((key, base, regions[0].bytes), (0xabc, 0x1000, 0x1_0000));
    queue.connect(patience).unwrap();
    // Several segments; one byte; the last bytes.
    for (offset, length) in [(0, 9000), (4095, 1), (0xfffd, 3)] {
        let bytes: Vec<u8> = (0..length).map(|at: u32| (at * 31 + offset) as u8).collect();
        let address = base + u64::from(offset);
        queue.write(key, address, bytes.clone(), patience).unwrap();
        assert_eq!(queue.read(key, address, bytes.len(), patience).unwrap(), bytes);
    }
    let error = queue.write(key, base + 0xffff, vec![1; 2], patience).unwrap_err();
    assert!(error.to_string().contains("beyond the region"), "{error}");
}

#[test]
fn a_core_reaches_the_memory_behind_another_with_rmap() {
    if !has_model() || !has("1_1_4_target") {
        return;
    }
    let device = spfe_rtl::open("rtl:?peer=target").unwrap();
    let endpoint = Endpoint::with_backend(device);
    // The core verifies up to 4096 bytes. Longer writes become several commands.
    let options = InitiatorOptions { max_data: 4096, ..InitiatorOptions::new(Remote::default()) };
    let mut initiator =
        Initiator::open(&endpoint.port(0).unwrap().vc(0).unwrap(), options).unwrap();
    for (address, length) in [(0, 9000), (4095, 1), (0xfffd, 3)] {
        let bytes: Vec<u8> = (0..length).map(|at: u64| (at * 31 + address) as u8).collect();
        initiator.write(address, &bytes, Deadline::NEVER).unwrap();
        let mut back = vec![0; bytes.len()];
        initiator.read(address, &mut back, Deadline::NEVER).unwrap();
        assert_eq!(back, bytes);
    }
    let mut old = [0; 2];
    initiator.modify(0xfffd, &[0x0f, 0xf0], &[0xff, 0xf0], &mut old, Deadline::NEVER).unwrap();
    assert_eq!(old, [0xfd, 0x1c]);
    let mut now = [0; 2];
    initiator.read(0xfffd, &mut now, Deadline::NEVER).unwrap();
    assert_eq!(now, [0x0f, 0xfc]);
    // Behind the end, and an entry that is not there.
    for address in [0xffff, 1 << 32] {
        let error = initiator.write(address, &[1; 2], Deadline::NEVER).unwrap_err();
        assert!(error.to_string().contains("status 10"), "{error}");
    }
}

#[test]
fn regions_come_and_go() {
    if !has_model() {
        return;
    }
    let device = spfe_rtl::open("rtl:").unwrap();
    let both = access::LOCAL_READ | access::LOCAL_WRITE;
    let mut keys = Vec::new();
    for round in 0..3 {
        let (memory, key) = device.add_memory("test", 10_000, both).unwrap();
        assert_eq!(memory.size(), 12_288);
        keys.push(key);
        if round == 1 {
            device.remove_region(keys.remove(0)).unwrap();
        }
    }
    let error = device.remove_region(spfe_host::RegionKey(keys[0].0 ^ 0x1000)).unwrap_err();
    assert_eq!(error.status(), Some(Status::NotFound));
    device.reset().unwrap();
    assert!(device.remove_region(keys[0]).is_err(), "a reset revokes regions");
    device.add_memory("test", 4096, both).unwrap();
}

#[test]
fn a_core_has_one_driver_and_a_machine_sleeps() {
    if !has_model() {
        return;
    }
    let machine = Machine::start(Plan::pair(Shape::default())).unwrap();
    let first = Rtl::take(&machine, 0).unwrap();
    let error = Rtl::take(&machine, 0).map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::Busy), "{error}");
    assert_eq!(Rtl::take(&machine, 2).map(drop).unwrap_err().status(), Some(Status::NotFound));
    let _second = Rtl::take(&machine, 1).unwrap();
    drop(first);
    Rtl::take(&machine, 0).unwrap();
    // Nothing is due: the machine needs little time.
    let slow = || {
        let before = machine.report();
        std::thread::sleep(Duration::from_millis(500));
        machine.report().cpu_ns - before.cpu_ns < 250_000_000
    };
    eventually("the machine slows down", slow);
    assert_eq!(machine.failure(), None);
}

#[test]
fn machines_without_a_model_and_names_are_explained() {
    let error = spfe_rtl::open("rtl:?model=/nonexistent.so").map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::NotFound));
    assert!(error.to_string().contains("make rtl-model"), "{error}");
    assert!(Name::parse("rtl:?x=1").is_err());
    if has_model() {
        // The pins of another shape.
        let path = models().join("spfe_sim_endpoint_2_1_4.so");
        let name = format!("rtl:?lanes=4&model={}", path.display());
        let error = spfe_rtl::open(&name).map(drop).unwrap_err();
        assert_eq!(error.status(), Some(Status::BadVersion), "{error}");
    }
}
