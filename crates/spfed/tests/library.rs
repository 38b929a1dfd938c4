//! The library over a daemon: packets between two clients, and the end of the daemon.

mod common;

use common::{config, place};
use spfe::{Deadline, Endpoint, Mode, Status};
use spfed::Server;
use std::time::Duration;

const MODES: [Mode; 3] = [Mode::Thread, Mode::Inline, Mode::Coop];

#[test]
fn packets_go_from_one_client_to_another() {
    for mode in MODES {
        let path = place(&format!("packets-{mode}"));
        let server = Server::start(config(mode).listen(&path)).unwrap();
        let open = |endpoint| Endpoint::open(&format!("unix:{}/{endpoint}", path.display())).unwrap();
        let (a, b) = (open(0), open(1));
        assert_eq!((a.info().mode, b.info().endpoint), (mode, 1));
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        let (from, to) = (a.alloc(1 << 16).unwrap(), b.alloc(1 << 16).unwrap());
        rx.post_all(&mut to.split(4096, 8).unwrap());
        for turn in 0..5u8 {
            let mut packet = from.buf(0..4096).unwrap();
            packet.fill(turn);
            tx.send(packet).unwrap();
            let got = rx.recv(Deadline::after(common::SOON)).unwrap();
            assert_eq!((got.buf.len(), got.buf[4095]), (4096, turn), "{mode}");
        }
        drop((tx, rx, from, to, a, b));
        assert!(server.network().clients().is_empty(), "{mode}: all have said goodbye");
    }
}

#[test]
fn a_sleeper_notices_the_end_of_the_daemon() {
    for mode in MODES {
        let path = place(&format!("end-{mode}"));
        let server = Server::start(config(mode).listen(&path)).unwrap();
        let endpoint = Endpoint::open(&format!("unix:{}/0", path.display())).unwrap();
        let memory = endpoint.alloc(1 << 16).unwrap();
        let mut rx = endpoint.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        rx.post_all(&mut memory.split(4096, 8).unwrap());
        let waiter = std::thread::spawn(move || rx.recv(Deadline::NEVER).map(drop));
        std::thread::sleep(Duration::from_millis(50));
        drop(server);
        let error = waiter.join().unwrap().unwrap_err();
        assert_eq!(error.status(), Some(Status::DeviceGone), "{mode}: {error}");
        assert_eq!(endpoint.alloc(4096).unwrap_err().status(), Some(Status::DeviceGone));
    }
}

#[test]
fn no_daemon_says_how_to_start_one() {
    let error = Endpoint::open("unix:/nowhere/spfe.sock").map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::DeviceGone));
    assert!(error.to_string().contains("spfed --listen /nowhere/spfe.sock"), "{error}");
}
