//! One endpoint as the device of a virtual machine, the other one used by a program.

#[path = "../../spfe-vfio/tests/machine/mod.rs"]
mod machine;

use machine::{Machine, buffers, pattern, socket_path, wait};
use spfe::{Deadline, Endpoint};
use spfe_host::{LinkRate, Mode, Topology};
use spfed::{DeviceConfig, Server, ServerConfig};
use std::path::PathBuf;

fn config(name: &str) -> (ServerConfig, PathBuf, PathBuf) {
    let (socket, device) = (socket_path(&format!("{name}-host")), socket_path(name));
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let mut config = ServerConfig::new(topology).listen(&socket);
    config.devices = vec![DeviceConfig { path: device.clone(), endpoint: None }];
    (config, socket, device)
}

#[test]
fn a_machine_and_a_program_talk_over_the_network() {
    let (config, socket, device) = config("talk");
    let server = Server::start(config).unwrap();
    let endpoint = Endpoint::open(&format!("unix:{}/1", socket.display())).unwrap();
    let port = endpoint.port(0).unwrap();
    let (mut tx, mut rx) = (port.vc(3).unwrap().tx().unwrap(), port.vc(3).unwrap().rx().unwrap());
    let memory = endpoint.alloc(1 << 16).unwrap();
    assert_eq!(rx.post_all(&mut memory.split(8192, 4).unwrap()), 4);
    for turn in 0..3 {
        let mut machine = Machine::new(&device, turn + 1);
        let region = machine.region(0, 16);
        let mut out = machine.queue(&region, 3, false, 0, 0);
        let mut into = machine.queue(&region, 3, true, 4, 5);
        let interrupt = machine.interrupt(5);
        // To the program, which sleeps until the packet arrives.
        let packet = pattern(7000, turn);
        machine.store_in(&region, buffers(2) + 9, &packet);
        machine.post(&mut out, false, buffers(2) + 9, 7000);
        let received = rx.recv(Deadline::NEVER).unwrap();
        assert!(received.buf[..] == packet[..]);
        rx.post(received.buf).unwrap();
        assert_eq!(out.complete().status, 0);
        // To the machine, which gets an interrupt.
        machine.post(&mut into, true, buffers(2), 8192);
        machine.arm(&into, 1);
        let mut buffer = memory.buf(40_000..46_000).unwrap();
        let answer = pattern(6000, turn + 50);
        buffer.put(&answer);
        tx.send(buffer).unwrap();
        assert!(machine::signalled(&interrupt, 30), "an interrupt");
        assert_eq!(into.complete().bytes, 6000);
        assert!(machine.load_from(&region, buffers(2), 6000) == answer);
        tx.drain(Deadline::NEVER).unwrap();
        drop(tx.take());
        // The machine disconnects without a farewell.
        machine.client.shutdown().unwrap();
        wait("the end", || server.devices().counts()[0].connections == turn + 1);
    }
}

#[test]
fn a_stopping_server_removes_its_devices() {
    let (config, socket, device) = config("stop");
    let server = Server::start(config.clone()).unwrap();
    let error = Server::start(ServerConfig { listen: None, ..config.clone() }).err().unwrap();
    assert!(error.what.contains("in use"), "{error}");
    let mut machine = Machine::new(&device, 1);
    drop(server);
    assert_eq!(machine.read(0), u32::MAX);
    assert!(!device.exists() && !socket.exists());
    let server = Server::start(config).unwrap();
    assert_eq!(Machine::new(&device, 1).read(0x10), spfe_contract::CONTRACT_MAGIC);
    drop(server);
}

#[test]
fn devices_need_mode_thread() {
    let (mut config, ..) = config("inline");
    config.topology.mode = Mode::Inline;
    let error = Server::start(config).err().unwrap();
    assert!(error.what.contains("mode thread"), "{error}");
}
