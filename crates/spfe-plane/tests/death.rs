//! Participants that die while they hold a lock or a seat: the network frees it in bounded time,
//! and their peers are told.

#[path = "raw/mod.rs"]
mod raw;

use raw::{Client, DATA, Queue, SIZE, buffer, data, end, entry, flags, network, release, status};
use spfe_contract::{
    EndMarker, EntryType, Message, MessageKind, QueueKind, Status, submit_flags as sf,
};
use spfe_device::pace::LinkTime;
use spfe_host::{Mode, Topology};
use spfe_plane::{Network, Runner};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Polls until a condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < raw::SOON, "{what}: not in {:?}", raw::SOON);
        std::thread::yield_now();
    }
}

/// Runs `run`, which must end within `SOON`, even on a busy machine.
fn soon<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = run();
    assert!(start.elapsed() < raw::SOON, "{what} took {:?}", start.elapsed());
    done
}

/// A sender at endpoint 0 and a receiver at endpoint 1, on one channel.
struct Lab {
    network: Arc<Network>,
    a: Client,
    b: Client,
    tx: Queue,
    rx: Queue,
}

const VC: u32 = 2;

impl Lab {
    fn new(mode: Mode, kind: QueueKind) -> Self {
        let network = network(mode);
        let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
        let (tx, rx) = (a.queue(QueueKind::Tx, VC), b.queue(kind, VC));
        Self { network, a, b, tx, rx }
    }

    fn flow(&self) -> &'static spfe_device::FlowShared {
        self.network.arena().flow_out(0, 0, VC)
    }

    fn kill(&self, client: &Client) {
        soon("detach", || self.network.detach(client.at, true)).unwrap();
        assert!(!self.network.clients().iter().any(|(id, ..)| *id == client.at.client));
    }

    /// Replaces the dead client with a new one, and sends packets between it and the survivor.
    fn works_with_a_new_peer(&mut self, dead_sends: bool) {
        if dead_sends {
            self.a = Client::new(&self.network, 0);
            self.tx = self.a.queue(QueueKind::Tx, VC);
        } else {
            self.b = Client::new(&self.network, 1);
            self.rx = self.b.queue(QueueKind::Rx, VC);
        }
        let mut runner = self.a.runner(VC, true);
        for number in 0..100u8 {
            self.a.write(DATA, &[number; 50]);
            if self.rx.sq.position.wrapping_sub(self.rx.cq.position) < SIZE {
                self.rx.push(buffer(self.b.address(DATA), 64));
            }
            self.tx.push(data(self.a.address(DATA), 50));
            runner.run(100).expect("the seat is free");
            let (sent, got) = (self.tx.wait(), self.rx.wait());
            assert_eq!((status(&sent), sent.packets), (Status::Ok, 1));
            assert_eq!((status(&got), got.bytes), (Status::Ok, 50));
        }
    }
}

#[test]
fn the_receiver_works_after_its_sender_died_in_the_seat() {
    let mut lab = Lab::new(Mode::Inline, QueueKind::Rx);
    lab.tx.push(data(lab.a.address(DATA), 50));
    assert!(lab.flow().seat.enter(lab.a.at.client));
    lab.kill(&lab.a);
    assert_eq!((lab.flow().seat.busy(), lab.flow().seat.claimed()), (0, 0));
    lab.works_with_a_new_peer(true);
}

#[test]
fn the_sender_is_told_when_its_receiver_dies_in_the_seat() {
    for inside in [false, true] {
        let mut lab = Lab::new(Mode::Inline, QueueKind::Rx);
        for _ in 0..5 {
            lab.tx.push(data(lab.a.address(DATA), 50));
        }
        let seat = &lab.flow().seat;
        let id = lab.b.at.client;
        if inside {
            assert!(seat.enter(id));
        } else {
            assert!(seat.claim(id, || {}, 10));
        }
        lab.kill(&lab.b);
        for _ in 0..5 {
            assert_eq!(status(&lab.tx.wait()), Status::PeerGone);
        }
        assert!(lab.tx.pop().is_none());
        lab.works_with_a_new_peer(false);
    }
}

#[test]
fn two_clients_that_die_at_once_are_both_removed() {
    let lab = Lab::new(Mode::Inline, QueueKind::Rx);
    let seat = &lab.flow().seat;
    assert!(seat.enter(lab.a.at.client));
    // The second one died while it waited for the first to leave, and its claim is still set.
    assert!(!seat.claim(lab.b.at.client, || {}, 1));
    std::mem::forget(lab.network.arena().messages(1, 0).try_lock(lab.b.at.client));
    let mut left = vec![lab.a.at, lab.b.at];
    soon("clearing both away", || {
        for turn in 0..4 {
            left.retain(|at| lab.network.detach(*at, true).is_err());
            assert!(turn < 3 || left.is_empty());
        }
    });
    assert_eq!((seat.busy(), seat.claimed()), (0, 0));
    assert!(lab.network.clients().is_empty());
    let (mut a, mut b) = (Client::new(&lab.network, 0), Client::new(&lab.network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, VC), b.queue(QueueKind::Rx, VC));
    rx.push(buffer(b.address(DATA), 64));
    tx.push(data(a.address(DATA), 50));
    a.runner(VC, true).run(10).unwrap();
    assert_eq!((tx.wait().packets, rx.wait().bytes), (1, 50));
}

#[test]
fn the_open_packet_of_a_dead_sender_ends_with_eep() {
    for kind in [QueueKind::Rx, QueueKind::RxPacked] {
        let mut lab = Lab::new(Mode::Inline, kind);
        let mut runner = lab.a.runner(VC, true);
        if kind == QueueKind::Rx {
            lab.rx.push(buffer(lab.b.address(DATA), 20));
            lab.rx.push(buffer(lab.b.address(DATA), 64));
        }
        let piece = flags(EntryType::Data, sf::SIGNAL | end(EndMarker::None));
        lab.tx.push(entry(lab.a.address(DATA), 50, piece));
        runner.run(10).unwrap();
        lab.kill(&lab.a);
        if kind == QueueKind::Rx {
            let (part, rest) = (lab.rx.wait(), lab.rx.wait());
            assert_eq!((status(&part), part.bytes), (Status::Ok, 20));
            assert_eq!((status(&rest), rest.bytes), (Status::PacketCut, 30));
            lab.works_with_a_new_peer(true);
        } else {
            let runs = [lab.rx.wait(), lab.rx.wait()];
            assert_eq!(runs.map(|run| (run.packets, run.bytes)), [(1, 64), (1, 8)]);
            let last = lab.b.read(DATA + 64, 8);
            assert_eq!(last, [0, 0, 0, 0, EndMarker::Eep.raw(), 0, 0, 0]);
        }
    }
}

#[test]
fn the_eep_of_a_dead_sender_waits_for_a_buffer() {
    for mode in [Mode::Inline, Mode::Thread] {
        let mut lab = Lab::new(mode, QueueKind::Rx);
        let device =
            (mode == Mode::Thread).then(|| spfe_plane::DeviceThread::start(&lab.network).unwrap());
        lab.rx.push(buffer(lab.b.address(DATA), 20));
        lab.tx.push(data(lab.a.address(DATA), 50));
        if mode == Mode::Inline {
            lab.a.runner(VC, true).run(10).unwrap();
        } else {
            lab.network.ring();
        }
        assert_eq!(lab.rx.wait().bytes, 20);
        lab.kill(&lab.a);
        assert!(lab.rx.pop().is_none());
        lab.rx.push(buffer(lab.b.address(DATA), 64));
        if mode == Mode::Inline {
            assert_ne!(lab.flow().stalled.load(Ordering::Relaxed), 0);
            lab.b.runner(VC, false).run(10).unwrap();
        } else {
            lab.network.ring();
        }
        let cut = lab.rx.wait();
        assert_eq!((status(&cut), cut.bytes, cut.flags & 3), (Status::PacketCut, 0, 1));
        drop(device);
    }
}

#[test]
fn packets_for_a_dead_receiver_are_returned_to_their_sender() {
    let mut lab = Lab::new(Mode::Inline, QueueKind::Rx);
    let mut runner = lab.a.runner(VC, true);
    lab.rx.push(buffer(lab.b.address(DATA), 64));
    let piece = flags(EntryType::Data, sf::SIGNAL | end(EndMarker::None));
    lab.tx.push(entry(lab.a.address(DATA), 50, piece));
    runner.run(10).unwrap();
    assert_eq!(status(&lab.tx.wait()), Status::Ok);
    lab.kill(&lab.b);
    // The end of the packet whose beginning the dead receiver has taken.
    lab.tx.push(data(lab.a.address(DATA), 50));
    let (mut b, number) = (Client::new(&lab.network, 1), 77);
    let mut rx = b.queue(QueueKind::Rx, VC);
    rx.push(buffer(b.address(DATA), 64));
    lab.a.write(DATA, &[number; 40]);
    lab.tx.push(data(lab.a.address(DATA), 40));
    runner.run(10).unwrap();
    assert_eq!(status(&lab.tx.wait()), Status::PeerGone);
    assert_eq!(status(&lab.tx.wait()), Status::Ok);
    assert_eq!((rx.wait().bytes, b.read(DATA, 40)), (40, vec![number; 40]));
}

/// A helper died after it took a job of a copy round. The sender copies that job itself.
/// Bytes of a packet in the tests of shared copies, and their number: three jobs.
const SHARED: usize = 7_000;
const PACKETS: usize = 24;

fn content(batch: u8, packet: usize) -> Vec<u8> {
    vec![batch.wrapping_mul(31).wrapping_add(packet as u8); SHARED]
}

/// Posts packets with different contents, and buffers for them.
fn post_shared(lab: &mut Lab, batch: u8) {
    for packet in 0..PACKETS {
        let place = DATA + (packet * SHARED) as u64;
        lab.a.write(place, &content(batch, packet));
        lab.rx.push(buffer(lab.b.address(place), SHARED as u32));
        lab.tx.push(data(lab.a.address(place), SHARED as u32));
    }
}

/// Checks that the receiver gets all packets, in order and whole.
fn receives_shared(lab: &mut Lab, batch: u8) {
    let got: Vec<_> = (0..PACKETS).map(|_| lab.rx.wait()).collect();
    let first = got[0].position;
    for (packet, got) in got.iter().enumerate() {
        assert_eq!((status(got), got.bytes as usize), (Status::Ok, SHARED));
        assert_eq!(got.position, first.wrapping_add(packet as u16), "out of order");
        let bytes = lab.b.read(DATA + (packet * SHARED) as u64, SHARED);
        assert!(bytes == content(batch, packet), "packet {packet} has other bytes");
    }
    assert!(lab.rx.pop().is_none(), "more completions than packets");
}

/// Sends batches until a participant has claimed a job of one, which it will never finish. Returns
/// the number of that batch, and the sender's runner.
fn claim_for_ever(mut lab: Lab, thief: u32) -> (Lab, u8, Runner) {
    let flow = lab.flow();
    let claimed = Arc::new(AtomicU32::new(0));
    let mut runner = lab.a.runner(VC, true);
    let done = claimed.clone();
    let sender = std::thread::spawn(move || {
        for batch in (0..=255).cycle() {
            post_shared(&mut lab, batch);
            runner.run(u32::MAX).expect("the seat is free");
            // The runner does not wait for the others, and has done everything else.
            until("the thief has signed", || {
                !runner.is_pending() || done.load(Ordering::Acquire) != 0
            });
            if runner.is_pending() {
                assert!(!flow.board.has_work());
                return (lab, batch, runner);
            }
            receives_shared(&mut lab, batch);
            while lab.tx.pop().is_some() {}
        }
        unreachable!()
    });
    until("a job is claimed", || flow.board.claim(thief).is_some());
    claimed.store(1, Ordering::Release);
    sender.join().unwrap()
}

#[test]
fn a_helper_that_dies_with_a_job_does_not_hold_up_the_packets() {
    // The sender finds out, or the control plane when it closes the queue.
    for sender_runs in [false, true] {
        let lab = Lab::new(Mode::Coop, QueueKind::Rx);
        let helper = lab.network.attach(1, "helper").unwrap();
        let (mut lab, batch, mut runner) = claim_for_ever(lab, helper.client);
        lab.network.arena().mark_dead(helper.client, true);
        lab.flow().dead.store(helper.client, Ordering::Release);
        if sender_runs {
            soon("a step", || runner.run(u32::MAX)).expect("the seat is free");
        } else {
            let destroy = || lab.network.destroy_queue(lab.a.at, 0, VC, QueueKind::Tx.raw());
            soon("destroy", destroy).unwrap();
        }
        assert!(!runner.is_pending());
        receives_shared(&mut lab, batch);
        for _ in 0..PACKETS {
            assert_eq!(status(&lab.tx.wait()), Status::Ok);
        }
    }
}

/// The sender dies with a job that it has claimed: outside of the seat, in it, and on its way in.
#[test]
fn planned_packets_of_a_dead_sender_arrive() {
    for point in 0..3 {
        let lab = Lab::new(Mode::Coop, QueueKind::Rx);
        let sender = lab.a.at.client;
        let (mut lab, batch, _runner) = claim_for_ever(lab, sender);
        let seat = &lab.flow().seat;
        match point {
            0 => {}
            1 => assert!(seat.enter(sender)),
            _ => assert!(seat.claim(sender, || {}, 10)),
        }
        lab.kill(&lab.a);
        assert_eq!(lab.flow().board.pending(), 0);
        receives_shared(&mut lab, batch);
        assert_eq!((seat.busy(), seat.claimed()), (0, 0));
        lab.works_with_a_new_peer(true);
    }
}

/// A receiver that dies with a job: its sender is told, and a new receiver works.
#[test]
fn a_receiver_that_dies_with_a_job_is_replaced() {
    let lab = Lab::new(Mode::Coop, QueueKind::Rx);
    let receiver = lab.b.at.client;
    let (mut lab, _, runner) = claim_for_ever(lab, receiver);
    lab.kill(&lab.b);
    assert!(!runner.is_pending());
    for _ in 0..PACKETS {
        assert_eq!(status(&lab.tx.wait()), Status::Ok, "planned packets are copied");
    }
    lab.works_with_a_new_peer(false);
}

#[test]
fn the_link_lock_of_a_dead_client_is_freed() {
    let rate = "4x7.5G".parse().unwrap();
    let network = Network::new(Topology::pairs(2, rate, Mode::Inline)).unwrap();
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let victim = Client::new(&network, 0);
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, VC), b.queue(QueueKind::Rx, VC));
    let (out, into) = network.arena().times_out(0, 0);
    for link in [out, into] {
        hold(link, victim.at.client);
    }
    rx.push(buffer(b.address(DATA), 64));
    tx.push(data(a.address(DATA), 50));
    let mut runner = a.runner(VC, true);
    let sender = std::thread::spawn(move || runner.run(10).is_some());
    let seat = &network.arena().flow_out(0, 0, VC).seat;
    until("the sender runs its flow", || seat.busy() == a.at.client);
    assert!(rx.pop().is_none() && !sender.is_finished(), "the sender booked a locked link");
    soon("detach", || network.detach(victim.at, true)).unwrap();
    assert!(soon("the sender", || sender.join().unwrap()));
    assert_eq!((tx.wait().packets, rx.wait().bytes), (1, 50));
}

/// Takes the lock of a link, which is the first word of its memory, for a participant.
fn hold(link: &LinkTime, id: u32) {
    // SAFETY: `LinkTime` is laid out as C, and its first field is the lock.
    let lock = unsafe { &*std::ptr::from_ref(link).cast::<AtomicU32>() };
    lock.store(id, Ordering::Release);
}

fn message(number: u64) -> [u64; 2] {
    let flags = flags(EntryType::Message, sf::SIGNAL);
    let kind = MessageKind::Broadcast.raw();
    Message { data: number, kind, flags, ..Message::default() }.to_words()
}

#[test]
fn the_message_lock_of_a_dead_client_is_freed() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let dead = Client::new(&network, 0);
    let (mut tx, mut rx) = (a.queue(QueueKind::MessageTx, 0), b.queue(QueueKind::MessageRx, 0));
    let mut runner = a.message_runner(0);
    for number in 0..5 {
        tx.push(message(number));
        runner.run(10);
        assert_eq!(status(&tx.wait()), Status::Ok);
        rx.wait();
        rx.push(release(0, 1));
    }
    std::mem::forget(network.arena().messages(0, 0).try_lock(dead.at.client).unwrap());
    soon("detach", || network.detach(dead.at, true)).unwrap();
    for number in 5..200 {
        tx.push(message(number));
        soon("a message", || runner.run(10));
        assert_eq!(status(&tx.wait()), Status::Ok);
        let got = Message::from_words(rx.cq.pop().expect("delivered"));
        assert_eq!(got.data, number);
        rx.push(release(0, 1));
    }
}

#[test]
fn a_message_lock_excludes() {
    let network = network(Mode::Inline);
    let port = network.arena().messages(0, 0);
    let guard = port.try_lock(5).unwrap();
    for _ in 0..3 {
        assert!(port.try_lock(6).is_none());
        assert!(port.take_over(7, 1).is_none());
        assert_eq!(port.holder(), 5, "trying to take it freed it");
    }
    drop(guard);
    assert!(port.try_lock(6).is_some());
}

/// Others wait for a client that is only stopped, but not for ever.
#[test]
fn a_stopped_client_gives_others_busy_in_bounded_time() {
    let mut lab = Lab::new(Mode::Inline, QueueKind::Rx);
    assert!(lab.flow().seat.enter(lab.a.at.client));
    let destroy = || lab.network.destroy_queue(lab.b.at, 0, VC, QueueKind::Rx.raw());
    let error = soon("destroy", destroy).unwrap_err();
    assert_eq!(error.status(), Status::Busy, "{error}");
    let owner = format!("client {}", lab.a.at.client);
    assert!(error.what.contains(&owner), "{error}");
    lab.flow().seat.leave();
    std::mem::forget(lab.network.arena().messages(0, 0).try_lock(lab.a.at.client).unwrap());
    let (request, _) = lab.b.request(QueueKind::MessageRx, 0);
    let error = soon("create", || lab.network.create_queue(lab.b.at, request)).unwrap_err();
    assert_eq!(error.status(), Status::Busy, "{error}");
    lab.kill(&lab.a);
    lab.network.create_queue(lab.b.at, request).unwrap();
    lab.works_with_a_new_peer(true);
}

#[test]
fn everything_a_dead_client_held_is_freed() {
    let network = network(Mode::Inline);
    for turn in 0..40 {
        let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
        let mut queues: Vec<Queue> = (0..3).map(|vc| a.queue(QueueKind::Tx, vc)).collect();
        queues.extend((0..3).map(|vc| b.queue(QueueKind::Rx, vc)));
        queues.push(a.queue(QueueKind::MessageTx, 0));
        queues.push(b.queue(QueueKind::MessageRx, 0));
        for (vc, queue) in queues.iter_mut().take(3).enumerate() {
            queue.push(data(a.address(DATA), 50));
            a.runner(vc as u32, true).run(10);
        }
        let (first, second) = if turn % 2 == 0 { (a.at, b.at) } else { (b.at, a.at) };
        soon("detach", || network.detach(first, turn % 3 != 0)).unwrap();
        soon("detach", || network.detach(second, turn % 5 != 0)).unwrap();
    }
    assert!(network.clients().is_empty());
    let info = network.port_info(0, 0).unwrap();
    assert!(info.channels.iter().all(|channel| channel.sender.is_none() && !channel.far_receives));
}
