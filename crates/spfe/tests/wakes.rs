//! Wake-ups, by the counters of both sides: one for a group or a threshold, none without a wait.
//! No test here measures time.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use spfe::{
    Buf, ChannelCounters, Deadline, Endpoint, LinkRate, Mode, PackedOptions, PoolOptions, PooledRx,
    QueueOptions, Region, Rx, Strategy, Threshold, Tx, Vc,
};
use std::time::Duration;

const MODES: [Mode; 4] = [Mode::Auto, Mode::Inline, Mode::Coop, Mode::Thread];
const GROUP: usize = 16;
const BYTES: usize = 64;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

struct Lab {
    a: Endpoint,
    b: Endpoint,
}

impl Lab {
    fn new(mode: Mode) -> Self {
        let (a, b) = Endpoint::pair(LinkRate::Unlimited, mode).unwrap();
        Self { a, b }
    }

    fn vc(endpoint: &Endpoint) -> Vc {
        endpoint.port(0).unwrap().vc(0).unwrap()
    }

    fn tx(&self, queue: QueueOptions) -> (Tx, Region) {
        (Self::vc(&self.a).tx_with(queue).unwrap(), self.a.alloc(1 << 16).unwrap())
    }

    fn rx(&self, queue: QueueOptions, buffers: usize) -> Rx {
        let mut rx = Self::vc(&self.b).rx_with(queue).unwrap();
        rx.post_all(&mut self.b.alloc(buffers * BYTES).unwrap().split(BYTES, buffers).unwrap());
        rx
    }

    /// The device's counters of the sender's and of the receiver's queue.
    fn counters(&self) -> (ChannelCounters, ChannelCounters) {
        let channel = |endpoint: &Endpoint| endpoint.port(0).unwrap().info().unwrap().channels[0];
        (channel(&self.a).tx, channel(&self.b).rx)
    }

    fn wakes(&self) -> (u64, u64) {
        let (tx, rx) = self.counters();
        (tx.wakes, rx.wakes)
    }
}

fn group(region: &Region) -> Vec<Buf> {
    region.split(BYTES, GROUP).unwrap()
}

/// Waits until an event descriptor is readable, and clears it. The device counts a wake-up before
/// it signals it, and after the completions that cause it.
fn await_event(fd: BorrowedFd<'_>) {
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    let limit = Timespec { tv_sec: 20, tv_nsec: 0 };
    assert_eq!(poll(&mut fds, Some(&limit)).unwrap(), 1, "no event");
    rustix::io::read(fd, &mut [0u8; 8]).unwrap();
}

/// Takes all packets.
fn take(rx: &mut Rx) -> usize {
    let mut bufs: Vec<_> = std::iter::from_fn(|| rx.poll()).map(|got| got.buf).collect();
    let count = bufs.len();
    rx.post_all(&mut bufs);
    count
}

fn event() -> QueueOptions {
    QueueOptions::default().event(true)
}

fn block() -> QueueOptions {
    QueueOptions::default().strategy(Strategy::Block)
}

#[test]
fn polling_is_never_woken() {
    for mode in MODES {
        let lab = Lab::new(mode);
        let ((mut tx, region), mut rx) = (lab.tx(QueueOptions::default()), lab.rx(event(), 64));
        for _ in 0..50 {
            assert_eq!(tx.send_group(&mut group(&region)), GROUP);
            let mut got = 0;
            while got < GROUP {
                got += take(&mut rx);
            }
            while tx.poll().is_none() {}
            while tx.take().is_some() {}
        }
        assert_eq!(lab.wakes(), (0, 0), "mode {mode}");
        assert_eq!((tx.stats().sleeps, rx.stats().sleeps), (0, 0), "mode {mode}");
    }
}

/// The request comes before the packets, so the count is exact.
#[test]
fn a_request_gives_one_wake_up_when_its_threshold_is_reached() {
    for mode in MODES {
        let lab = Lab::new(mode);
        let ((mut tx, region), mut rx) = (lab.tx(event()), lab.rx(event(), 128));
        for turn in 1..=20 {
            // Four groups arrive; the third reaches the threshold.
            assert!(!rx.request_event(&Threshold::count(2 * GROUP as u32 + 1)).unwrap());
            for number in 1..=4 {
                assert!(!tx.request_event(&Threshold::ONE).unwrap());
                assert_eq!(tx.send_group(&mut group(&region)), GROUP);
                await_event(tx.fd().unwrap());
                assert_eq!(tx.poll().unwrap().packets as usize, GROUP);
                while tx.take().is_some() {}
                if number == 3 {
                    await_event(rx.fd().unwrap());
                }
                let crossed = u64::from(number > 2);
                let expected = (4 * (turn - 1) + number, turn - 1 + crossed);
                assert_eq!(lab.wakes(), expected, "mode {mode}, turn {turn}, group {number}");
            }
            rx.wait(&Threshold::count(4 * GROUP as u32), soon()).unwrap();
            assert_eq!(take(&mut rx), 4 * GROUP);
        }
        // Closing waits for the device: it counts nothing afterwards.
        drop((tx, rx));
        assert_eq!(lab.wakes(), (80, 20), "mode {mode}");
    }
}

/// Both sides sleep. A group wakes each of them at most once; every sleep ends with a wake-up.
#[test]
fn a_group_wakes_each_sleeping_side_once_at_most() {
    const GROUPS: u64 = 200;
    for mode in MODES {
        let lab = Lab::new(mode);
        let ((mut tx, region), mut rx) = (lab.tx(block()), lab.rx(block(), 64));
        let (go, turns) = std::sync::mpsc::channel::<()>();
        let sender = std::thread::spawn(move || {
            for () in turns {
                assert_eq!(tx.send_group(&mut group(&region)), GROUP);
                assert_eq!(tx.drain(soon()).unwrap() as usize, GROUP);
                while tx.take().is_some() {}
            }
            tx.stats().sleeps
        });
        for _ in 0..GROUPS {
            go.send(()).unwrap();
            // A lower threshold than the group: no other packet of the group may wake again.
            rx.wait(&Threshold::ONE, soon()).unwrap();
            rx.wait(&Threshold::count(GROUP as u32), soon()).unwrap();
            assert_eq!(take(&mut rx), GROUP);
        }
        drop(go);
        let slept = (sender.join().unwrap(), rx.stats().sleeps);
        drop(rx);
        let woken = lab.wakes();
        // The receiver waits twice for a group: for its first packet, and for all of it.
        assert!(woken.0 <= GROUPS && woken.1 <= 2 * GROUPS, "mode {mode}: {woken:?} wake-ups");
        assert!(slept.0 <= woken.0 && slept.1 <= woken.1, "mode {mode}: {slept:?} of {woken:?}");
    }
}

/// A threshold gives one wake-up, however many packets it counts and however they arrive.
#[test]
fn a_threshold_wakes_once_each_time_it_is_reached() {
    const CROSSINGS: u64 = 50;
    for mode in MODES {
        let lab = Lab::new(mode);
        let ((mut tx, region), mut rx) = (lab.tx(QueueOptions::default()), lab.rx(block(), 128));
        let goal = rx.fill_threshold(50);
        assert_eq!(goal.count, Some(64));
        let (go, turns) = std::sync::mpsc::channel::<()>();
        let sender = std::thread::spawn(move || {
            for () in turns {
                for _ in 0..4 {
                    for packet in group(&region) {
                        tx.send(packet).unwrap();
                    }
                    tx.drain(soon()).unwrap();
                    while tx.take().is_some() {}
                }
            }
        });
        for _ in 0..CROSSINGS {
            go.send(()).unwrap();
            rx.wait(&goal, soon()).unwrap();
            assert_eq!(take(&mut rx), 64, "mode {mode}");
        }
        drop(go);
        sender.join().unwrap();
        let slept = rx.stats().sleeps;
        drop(rx);
        let woken = lab.wakes().1;
        assert!(slept <= woken && woken <= CROSSINGS, "mode {mode}: {slept} sleeps, {woken} wakes");
    }
}

/// The same for pooled and packed receivers, in packets and in bytes.
#[test]
fn thresholds_of_pooled_and_packed_ends_wake_once() {
    const CROSSINGS: u64 = 20;
    for mode in MODES {
        let lab = Lab::new(mode);
        let (mut tx, region) = lab.tx(QueueOptions::default());
        let options = PoolOptions::new(128, BYTES as u32).queue(event());
        let mut rx: PooledRx = Lab::vc(&lab.b).rx_pooled(options).unwrap();
        for crossing in 1..=CROSSINGS {
            assert!(!rx.request_event(&Threshold::count(64)).unwrap());
            for _ in 0..64 {
                tx.send(region.buf(0..BYTES).unwrap()).unwrap();
                tx.drain(soon()).unwrap();
                drop(tx.take());
            }
            await_event(rx.fd().unwrap());
            assert_eq!(lab.wakes().1, crossing, "mode {mode}");
            while rx.peek().is_some() {
                rx.release();
            }
        }
        drop(rx);
        let options = PackedOptions::default().area(1 << 16).queue(event());
        let mut rx = Lab::vc(&lab.b).rx_packed(options).unwrap();
        let before = lab.wakes().1;
        for crossing in 1..=CROSSINGS {
            // A packet takes 72 bytes of the area: its header and its data, padded to 8.
            let goal = Threshold::bytes(64 * 72);
            assert!(!rx.request_event(&goal).unwrap());
            for _ in 0..64 {
                tx.send(region.buf(0..BYTES).unwrap()).unwrap();
                tx.drain(soon()).unwrap();
                drop(tx.take());
            }
            await_event(rx.fd().unwrap());
            assert_eq!(lab.wakes().1 - before, crossing, "mode {mode}");
            let mut packets = 0;
            while let Some(run) = rx.poll() {
                packets += run.records().count();
            }
            assert_eq!(packets, 64, "mode {mode}");
        }
    }
}
