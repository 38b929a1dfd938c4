//! The library over a daemon: packets between two clients, and what happens when one side ends.

mod common;

use common::{config, place};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use spfe::{Deadline, End, Endpoint, LinkModel, Mode, QueueOptions, Status, Threshold, Topology};
use spfed::{Server, ServerConfig};
use std::time::Duration;

const MODES: [Mode; 4] = [Mode::Thread, Mode::Auto, Mode::Inline, Mode::Coop];

#[test]
fn packets_go_from_one_client_to_another() {
    for mode in MODES {
        let path = place(&format!("packets-{mode}"));
        let server = Server::start(config(mode).listen(&path)).unwrap();
        let open =
            |endpoint| Endpoint::open(&format!("unix:{}/{endpoint}", path.display())).unwrap();
        let (a, b) = (open(0), open(1));
        assert_eq!((a.info().mode, b.info().endpoint), (mode, 1));
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        let (from, to) = (a.alloc(1 << 16).unwrap(), b.alloc(1 << 16).unwrap());
        rx.post_all(&mut to.split(4096, 8).unwrap());
        for turn in 0..5u8 {
            let at = usize::from(turn) * 4096;
            let mut packet = from.buf(at..at + 4096).unwrap();
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
fn events_are_signalled_across_clients() {
    for mode in MODES {
        let path = place(&format!("event-{mode}"));
        let server = Server::start(config(mode).listen(&path)).unwrap();
        let open =
            |endpoint| Endpoint::open(&format!("unix:{}/{endpoint}", path.display())).unwrap();
        let (a, b) = (open(0), open(1));
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let options = QueueOptions::default().event(true);
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx_with(options).unwrap();
        let (from, to) = (a.alloc(1 << 16).unwrap(), b.alloc(1 << 16).unwrap());
        rx.post_all(&mut to.split(4096, 8).unwrap());
        for turn in 0..3 {
            assert!(!rx.request_event(&Threshold::ONE).unwrap(), "{mode}");
            tx.send(from.buf(turn * 4096..(turn + 1) * 4096).unwrap()).unwrap();
            assert!(readable(rx.fd().unwrap(), common::SOON), "{mode}: packet {turn}");
            rx.recv(Deadline::NOW).unwrap();
            rustix::io::read(rx.fd().unwrap(), &mut [0u8; 8]).unwrap();
        }
        drop(server);
        assert!(readable(rx.fd().unwrap(), common::SOON), "{mode}: the end is an event too");
    }
}

#[test]
fn event_vectors_are_freed_with_their_queues() {
    for mode in MODES {
        let path = place(&format!("vectors-{mode}"));
        let _server = Server::start(config(mode).listen(&path)).unwrap();
        let endpoint = Endpoint::open(&format!("unix:{}/0", path.display())).unwrap();
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        // More than a client can have at the same time.
        for _ in 0..80 {
            vc.rx_with(QueueOptions::default().event(true)).unwrap();
        }
    }
}

/// Empties an eventfd when dropped, so that a device that blocks on it continues and the test ends.
struct Emptied(OwnedFd);

impl Drop for Emptied {
    fn drop(&mut self) {
        fcntl_setfl(&self.0, OFlags::NONBLOCK).unwrap();
        let _ = rustix::io::read(&self.0, &mut [0u8; 8]);
    }
}

/// A client fills its own eventfd, so that a write to it would block.
#[test]
fn a_full_eventfd_does_not_block_others() {
    let path = place("full-event");
    let server = Server::start(config(Mode::Thread).listen(&path)).unwrap();
    let open = |endpoint| Endpoint::open(&format!("unix:{}/{endpoint}", path.display())).unwrap();
    let (a, b) = (open(0), open(1));
    let channel = |endpoint: &Endpoint, vc| endpoint.port(0).unwrap().vc(vc).unwrap();
    let mut hostile = channel(&b, 0).rx_with(QueueOptions::default().event(true)).unwrap();
    let mut good = channel(&b, 1).rx().unwrap();
    let (mut bait, mut tx) = (channel(&a, 0).tx().unwrap(), channel(&a, 1).tx().unwrap());
    let (from, to) = (a.alloc(1 << 16).unwrap(), b.alloc(1 << 16).unwrap());
    let mut buffers = to.split(4096, 16).unwrap();
    hostile.post_all(&mut buffers.split_off(8));
    good.post_all(&mut buffers);

    let event = hostile.fd().unwrap();
    let flags = fcntl_getfl(event).unwrap();
    fcntl_setfl(event, flags - OFlags::NONBLOCK).unwrap();
    rustix::io::write(event, &(u64::MAX - 1).to_ne_bytes()).unwrap();
    let _emptied = Emptied(event.try_clone_to_owned().unwrap());
    assert!(!hostile.request_event(&Threshold::ONE).unwrap());
    bait.send(from.buf(0..64).unwrap()).unwrap();
    hostile.recv(Deadline::after(common::SOON)).unwrap();
    // The device has signalled; now the control plane signals, too.
    assert!(!hostile.request_event(&Threshold::ONE).unwrap());
    drop(bait);
    for packet in 0..4 {
        tx.send(from.buf(packet * 4096..packet * 4096 + 64).unwrap()).unwrap();
        good.recv(Deadline::after(common::SOON)).unwrap();
    }
    drop((hostile, good, tx, from, to, a, b));
    assert!(server.network().clients().is_empty(), "all could say goodbye");
}

fn readable(fd: BorrowedFd<'_>, within: Duration) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    let within = Timespec::try_from(within).unwrap();
    poll(&mut fds, Some(&within)).unwrap() == 1
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
        let (tid, from_waiter) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            tid.send(rustix::thread::gettid()).unwrap();
            rx.recv(Deadline::NEVER).map(drop)
        });
        let tid = from_waiter.recv().unwrap();
        common::eventually("the receiver sleeps", || common::sleeps_on_futex(tid));
        drop(server);
        let error = waiter.join().unwrap().unwrap_err();
        assert_eq!(error.status(), Some(Status::DeviceGone), "{mode}: {error}");
        assert_eq!(endpoint.alloc(4096).unwrap_err().status(), Some(Status::DeviceGone));
    }
}

#[test]
fn the_error_without_a_daemon_says_how_to_start_one() {
    let error = Endpoint::open("unix:/nowhere/spfe.sock").map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::DeviceGone));
    assert!(error.to_string().contains("spfed --listen /nowhere/spfe.sock"), "{error}");
}

#[test]
fn a_receiver_survives_senders_killed_within_a_packet() {
    for mode in MODES {
        let path = place(&format!("sender-{mode}"));
        let _server = Server::start(config(mode).listen(&path)).unwrap();
        let endpoint = Endpoint::open(&format!("unix:{}/1", path.display())).unwrap();
        let memory = endpoint.alloc(1 << 20).unwrap();
        let mut rx = endpoint.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        rx.post_all(&mut memory.split(65536, 16).unwrap());
        let mut turn = |stop: &mut dyn FnMut() -> bool| {
            while !stop() {
                let got = rx.recv(Deadline::after(common::SOON));
                rx.post(got.unwrap_or_else(|error| panic!("{mode}: {error}")).buf).unwrap();
            }
        };
        for round in 0..4 {
            let child = common::Mortal(common::test_client("send", &path).spawn().unwrap());
            let mut packets = 0;
            turn(&mut || {
                packets += 1;
                packets > 200 + round * 37
            });
            drop(child);
        }
    }
}

/// A sender posts more packets than the receiver has buffers for, and ends. What was reported as
/// sent arrives, and what does not arrive is counted.
#[test]
fn packets_arrive_or_are_counted_when_their_sender_ends() {
    let links = [
        ("unlimited", LinkModel::Packet),
        ("spw:200M", LinkModel::Packet),
        ("1x6.25G", LinkModel::Exact),
    ];
    for (mode, (rate, model)) in MODES.into_iter().flat_map(|mode| links.map(|link| (mode, link))) {
        let topology = Topology::pairs(2, rate.parse().unwrap(), mode).with_model(model);
        for (how, count) in
            ["queue", "endpoint", "exit"].into_iter().flat_map(|how| [(how, 0), (how, 4)])
        {
            let case = format!("{mode} {rate} {model:?} {how} {count}");
            let path = place(&format!("leave-{mode}-{how}-{count}"));
            let config = ServerConfig::new(topology.clone()).listen(&path);
            let server = Server::start(config).unwrap();
            left_by(&server, &path, how, count, &case);
        }
    }
}

fn left_by(server: &Server, path: &std::path::Path, how: &str, count: u32, case: &str) {
    const MARK: u8 = 0xff;
    let open = |endpoint| Endpoint::open(&format!("unix:{}/{endpoint}", path.display())).unwrap();
    let b = open(1);
    let memory = b.alloc(64 * 4096).unwrap();
    let mut buffers = memory.split(4096, 64).unwrap();
    let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
    rx.post_all(&mut buffers.split_off(56));

    let child =
        common::test_client("leave", path).args([&count.to_string(), how]).output().unwrap();
    assert!(child.status.success(), "{case}: {}", String::from_utf8_lossy(&child.stderr));
    let reported: u64 = String::from_utf8(child.stdout).unwrap().trim().parse().unwrap();
    common::eventually(case, || server.network().clients().len() == 1);

    // The packet of another sender comes after everything that the first has left.
    rx.post_all(&mut buffers);
    let a = open(0);
    let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut mark = a.alloc(4096).unwrap().buf(0..4096).unwrap();
    mark.fill(MARK);
    tx.send(mark).unwrap();
    let (mut arrived, mut open) = (0, false);
    loop {
        let got = rx.recv(Deadline::after(common::SOON)).unwrap();
        assert!(!open || got.end == End::Eep, "{case}: a packet that began did not end");
        match got.end {
            End::Eop if got.buf[0] == MARK => break,
            End::Eop => {
                assert!(got.buf.len() == 4096 && got.buf.iter().all(|byte| *byte == arrived as u8));
                arrived += 1;
            }
            // The packet that had begun when the sender ended. If all of its bytes had been sent,
            // they fill a buffer, and the end marker comes in the next one.
            End::More => {
                assert_eq!((got.status, got.buf.len()), (Status::Ok, 4096), "{case}");
                open = true;
            }
            End::Eep => {
                assert_eq!(got.status, Status::PacketCut, "{case}");
                open = false;
            }
        }
    }
    let counters = &a.port(0).unwrap().info().unwrap().channels[0].tx;
    assert!(arrived >= reported, "{case}: {arrived} of {reported} packets reported as sent");
    assert_eq!(arrived + counters.errors, 32, "{case}: {counters:?}");
}
