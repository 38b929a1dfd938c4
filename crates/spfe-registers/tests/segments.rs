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
