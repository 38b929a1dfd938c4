//! The vectors of fabric ports (contract/vectors/fabric.txt), over the registers themselves and over
//! vfio-user. A second implementation of the registers passes the same ones: contract/model.

#[path = "fabric/host.rs"]
mod host;
#[path = "fabric/names.rs"]
mod names;
#[path = "fabric/script.rs"]
mod script;

use host::{Direct, Face, Overseas, RAM, RAM_AT};
use rustix::fd::OwnedFd;
use script::Fabric;
use spfe_contract::{BlockType, DoorbellKind, capability, doorbell, global_block as global};
use spfe_host::{Mode, SharedMemory, Topology};
use spfe_plane::registers::guest::Rights;
use spfe_plane::{DeviceThread, GuestMemory, Network, RegisterFile, Stride};
use spfe_vfio::VfioDevice;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

const VECTORS: &str = include_str!("../../../contract/vectors/fabric.txt");

/// A case of the file, with its steps and their line numbers.
struct Case {
    nodes: u32,
    name: &'static str,
    steps: Vec<(usize, &'static str)>,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in (1..).zip(VECTORS.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix("case ") {
            let (nodes, name) = rest.split_once(' ').expect("case NODES NAME");
            cases.push(Case { nodes: nodes.parse().unwrap(), name, steps: Vec::new() });
        } else {
            cases.last_mut().expect("a case first").steps.push((number, line));
        }
    }
    cases
}

/// Registers of version 1.4 have the port and its channels, but no blocks of the fabric.
#[test]
fn an_older_device_shows_no_fabric() {
    let network = Network::new(Topology::fabric(2, Mode::Thread)).unwrap();
    let bus = Arc::new(GuestMemory::default());
    let make = |minor| {
        RegisterFile::with_minor(network.clone(), 0, bus.clone(), Stride::Usual, minor).unwrap()
    };
    for (minor, shown) in [(4, false), (5, true)] {
        let registers = make(minor);
        let bits = registers.read32(global::CAPABILITY);
        assert_eq!(bits & capability::FABRIC != 0, shown);
        let (mut at, mut kinds) = (0, Vec::new());
        loop {
            kinds.push(BlockType::from_raw(registers.read32(at) as u16).unwrap());
            at = registers.read32(at + 8);
            if at == 0 {
                break;
            }
        }
        let blocks = [BlockType::Fabric, BlockType::Peer];
        assert!(blocks.iter().all(|block| kinds.contains(block) == shown), "{kinds:?}");
        // The store of a newer host is a hint that does nothing.
        let bell = u64::from(DoorbellKind::Peer.raw()) << doorbell::KIND_SHIFT;
        registers.doorbell(0, bell);
    }
}

/// A refused doorbell has a message, and a host that goes on fills no log.
#[test]
fn refused_doorbells_are_told_ever_more_rarely() {
    let network = Network::new(Topology::fabric(2, Mode::Thread)).unwrap();
    let bus = Arc::new(GuestMemory::default());
    let registers = RegisterFile::new(network.clone(), 0, bus, Stride::Usual).unwrap();
    let bell = |queue: u64, number: u64| {
        let kind = u64::from(DoorbellKind::Peer.raw()) << doorbell::KIND_SHIFT;
        let rest = queue << doorbell::QUEUE_SHIFT | number << doorbell::NUMBER_SHIFT;
        registers.doorbell(0, kind | rest);
        registers.take_refusal()
    };
    assert_eq!(registers.take_refusal(), None);
    // Queue 4 sends on the first channel to node 2.
    let told = |queue, number, words: &str| {
        let what = bell(queue, number).expect("a message");
        assert!(what.contains(words), "{what}");
    };
    told(4, 1, "doorbell 1 through queue 4: LINK_DOWN: the node is not READY; refused so far: 1");
    told(4, 16, "doorbell 16 through queue 4: BAD_FIELD: nodes have doorbells 0 to 15");
    assert_eq!(bell(0, 0), None, "the third");
    told(0, 0, "through queue 0: NOT_FOUND: the queue leads to no other node; refused so far: 4");
    let messages = (0..1000).filter_map(|_| bell(0, 0)).count();
    assert_eq!(messages, 7, "after 8, 16, 32, 64, 128, 256 and 512");
}

fn run(make: impl Fn(&Arc<Network>, u32, &SharedMemory) -> Box<dyn Face>) {
    let cases = cases();
    assert!(cases.len() >= 15, "{} cases", cases.len());
    for Case { nodes, name, steps } in cases {
        let network = Network::new(Topology::fabric(nodes, Mode::Thread)).unwrap();
        let thread = DeviceThread::start(&network).unwrap();
        let hosts = (0..nodes).map(|endpoint| {
            let ram = SharedMemory::create("ram", RAM).unwrap();
            let face = make(&network, endpoint, &ram);
            (ram, face)
        });
        let mut fabric = Fabric::new(hosts.collect());
        for (line, step) in steps {
            fabric.step(step, &format!("{name}, line {line}: {step}"));
        }
        drop(fabric);
        drop(thread);
    }
}

#[test]
fn the_registers_pass_the_vectors() {
    run(|network, endpoint, ram| {
        let memory = Arc::new(GuestMemory::default());
        let both = Rights { read: true, write: true };
        let file = Some((ram.fd().try_clone_to_owned().unwrap(), 0));
        memory.map(RAM_AT, RAM as u64, file, both).unwrap().unwrap();
        let registers = RegisterFile::new(network.clone(), endpoint, memory, Stride::Usual);
        Box::new(Direct(registers.unwrap()))
    });
}

#[test]
fn a_device_over_vfio_user_passes_the_vectors() {
    let folder = std::env::temp_dir().join(format!("spfe-fabric-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    run(|network, endpoint, ram| {
        let path = folder.join(endpoint.to_string());
        let _ = std::fs::remove_file(&path);
        let listener = OwnedFd::from(UnixListener::bind(&path).unwrap());
        let log: spfe_vfio::Log = Arc::new(|line| eprintln!("{line}"));
        let device = VfioDevice::start(network.clone(), endpoint, Stride::Usual, listener, log);
        Box::new(Overseas::new(device.unwrap(), &path, ram))
    });
    let _ = std::fs::remove_dir_all(folder);
}
