//! A device without bus addresses, whose regions are numbered segments.

mod common;

use common::Face;
use spfe::{Deadline, Endpoint, LinkRate, Mode, Topology};
use spfe_plane::{DeviceThread, Network};
use spfe_registers::Registers;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn packets_and_a_reset_work_in_segments() {
    let network = Network::new(Topology::looped(LinkRate::Unlimited, Mode::Thread)).unwrap();
    let device = Arc::new(DeviceThread::start(&network).unwrap());
    let face = Face::new(&network, &device, 0, false);
    let backend = Registers::open(face.clone(), "registers:", "registers").unwrap();
    let endpoint = Endpoint::with_backend(backend);
    assert_eq!((endpoint.info().backend, endpoint.info().ports), ("registers", 4));
    for round in 0..2u8 {
        let (from, to) = (endpoint.port(0).unwrap(), endpoint.port(1).unwrap());
        let mut tx = from.vc(3).unwrap().tx().unwrap();
        let mut rx = to.vc(3).unwrap().rx().unwrap();
        let memory = endpoint.alloc(8192).unwrap();
        rx.post(memory.buf(4096..8192).unwrap()).unwrap();
        let mut packet = memory.buf(0..100).unwrap();
        packet.put(&[round; 100]);
        tx.send(packet).unwrap();
        let deadline = Deadline::after(Duration::from_secs(20));
        assert_eq!(&rx.recv(deadline).unwrap().buf[..], [round; 100]);
        endpoint.reset().unwrap();
    }
    // A device that leaves the bus is noticed, and nothing waits for it.
    face.registers.detach().unwrap();
    let error = endpoint.alloc(4096).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
    assert!(endpoint.port(0).is_err());
}

#[test]
fn a_fabric_port_has_more_channels_than_a_link() {
    let network = Network::new(Topology::fabric(64, Mode::Thread)).unwrap();
    let device = Arc::new(DeviceThread::start(&network).unwrap());
    let open = |endpoint| {
        let face = Face::new(&network, &device, endpoint, false);
        Endpoint::with_backend(Registers::open(face, "registers:", "registers").unwrap())
    };
    let (first, last) = (open(0), open(63));
    let (from, to) = (first.port(0).unwrap(), last.port(0).unwrap());
    assert_eq!(from.info().unwrap().vcs, 128);
    // Channel 1 to node 64; there it is channel 1 to node 1.
    let mut tx = from.vc(127).unwrap().tx().unwrap();
    let mut rx = to.vc(1).unwrap().rx().unwrap();
    rx.post(last.alloc(4096).unwrap().buf(0..4096).unwrap()).unwrap();
    let mut packet = first.alloc(4096).unwrap().buf(0..100).unwrap();
    packet.put(&[7; 100]);
    tx.send(packet).unwrap();
    let deadline = Deadline::after(Duration::from_secs(20));
    assert_eq!(&rx.recv(deadline).unwrap().buf[..], [7; 100]);
    // Registers have priorities for 32 channels.
    from.vc(31).unwrap().set_priority(3).unwrap();
    from.vc(32).unwrap().set_priority(3).unwrap_err();
}
