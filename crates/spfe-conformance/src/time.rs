//! Paced links in virtual time: priorities and determinism.

use crate::Capability::EndToEnd;
use crate::kit::{EndpointPair, cut, depth, fill};
use crate::{Fixture, cases};
use fastrand::Rng;
use spfe::{Deadline, Endpoint, LinkCommand, LinkRate, MibItem, Ready, Rx, Threshold, Tx};
use std::time::Duration;

cases! {
    the_same_load_has_the_same_times: [VirtualTime, Paced],
    a_packet_is_not_visible_before_its_time: [VirtualTime, Paced],
    times_increase_with_the_rate_of_the_link: [VirtualTime, Paced],
    an_urgent_channel_overtakes_a_backlog: [VirtualTime, Paced],
    equal_channels_share_the_link: [VirtualTime, Paced],
    a_deadline_passes_in_virtual_time: [VirtualTime],
    a_wait_in_virtual_time_is_cancelled: [VirtualTime],
    a_time_after_the_first_is_exact: [VirtualTime, Paced],
    a_wait_without_traffic_ends: [VirtualTime],
}

/// Reserves a share of the link, in 65536ths, for a virtual channel. A link takes the priority away
/// from a channel that uses more than its share, and after a reset that share is close to zero.
fn reserve(pair: &EndpointPair, vc: u32, share: u16) {
    let item = MibItem::ExpectedBandwidth.raw();
    let command = LinkCommand::Set { item, index: vc, value: u64::from(share) };
    pair.a.link_command(0, command).unwrap();
}

/// Sends a packet first, so that the link is up.
fn start(pair: &EndpointPair, tx: &mut Tx, rx: &mut Rx) {
    tx.send(pair.packet(1, 0)).unwrap();
    assert_eq!(rx.recv(Deadline::NEVER).unwrap().buf.len(), 1);
    tx.drain(Deadline::NEVER).unwrap();
}

/// Resolution of the time between two packets, ns. An exact link is stepped for each 16 words of a
/// lane. Both packets may have just missed a step, and both times are rounded.
fn grain_ns(fixture: &Fixture, pair: &EndpointPair) -> u64 {
    match pair.a.port(0).unwrap().info().unwrap().rate {
        LinkRate::SpaceFibre { mbps, .. } if !fixture.has(EndToEnd) => {
            2 + 2 * 16 * 40 * 1000 / u64::from(mbps)
        }
        _ => 1,
    }
}

/// The times at which the packets of a load on three channels were received and completed.
fn times(fixture: &Fixture) -> Vec<(u32, u64, u64)> {
    let pair = EndpointPair::new(fixture);
    let mut random = Rng::with_seed(11);
    let mut times = Vec::new();
    let mut ends: Vec<_> =
        (0..3).map(|vc| (pair.tx_with(vc, depth(64)), pair.rx_posted(vc, 4096, 8))).collect();
    for (vc, (tx, _)) in ends.iter_mut().enumerate() {
        for seed in 0..20 {
            tx.send(pair.packet(1 + random.usize(..9000), seed + vc as u64)).unwrap();
        }
    }
    for turn in 0..3 * 20 {
        let (tx, rx) = &mut ends[turn % 3];
        loop {
            let got = rx.recv(Deadline::NEVER).unwrap();
            times.push((turn as u32 % 3, got.time_ns.unwrap(), pair.b.now_ns()));
            let more = got.more();
            rx.post(got.buf).unwrap();
            if !more {
                break;
            }
        }
        while let Some(sent) = tx.poll() {
            times.push((10 + turn as u32 % 3, sent.time_ns.unwrap(), pair.a.now_ns()));
        }
    }
    times
}

fn the_same_load_has_the_same_times(fixture: &Fixture) {
    let first = times(fixture);
    assert!(first.len() > 3 * 20);
    for _ in 0..3 {
        assert_eq!(times(fixture), first);
    }
}

fn a_packet_is_not_visible_before_its_time(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, 65536, 4));
    let start = pair.a.now_ns();
    tx.send(pair.packet(65536, 0)).unwrap();
    assert!(rx.poll().is_none() && tx.poll().is_none());
    assert!(rx.recv(Deadline::NOW).unwrap_err().is_timeout());
    assert!(rx.recv(Deadline::at_ns(start + 100)).unwrap_err().is_timeout());
    assert_eq!(pair.a.now_ns(), start + 100);
    let got = rx.recv(Deadline::NEVER).unwrap();
    assert_eq!(got.time_ns, Some(pair.b.now_ns()));
    assert!(pair.b.now_ns() > start + 100);
    tx.drain(Deadline::NEVER).unwrap();
    assert_eq!(got.time_ns, Some(pair.a.now_ns()));
}

fn times_increase_with_the_rate_of_the_link(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, 4092, 513));
    start(&pair, &mut tx, &mut rx);
    let region = pair.a.alloc(512 * 4092).unwrap();
    let mut group = region.split(4092, 512).unwrap();
    for (seed, buf) in group.iter_mut().enumerate() {
        fill(buf, seed as u64, 0);
    }
    assert_eq!(tx.send_group(&mut group), 512);
    let mut times = Vec::new();
    for seed in 0..512 {
        let got = rx.recv(Deadline::NEVER).unwrap();
        assert!(crate::kit::matches(&got.buf, seed, 0));
        times.push(got.time_ns.unwrap());
    }
    let spacing = || times.windows(2).map(|pair| pair[1] - pair[0]);
    let (least, most) = (spacing().min().unwrap(), spacing().max().unwrap());
    let grain = grain_ns(fixture, &pair);
    assert!(most - least <= grain, "packets of one length are {least} to {most} ns apart");
    let gbps = 8.0 * 511.0 * 4096.0 / (times[511] - times[0]) as f64;
    let rate = pair.a.port(0).unwrap().info().unwrap().rate.user_gbps().unwrap();
    assert!((gbps / rate - 1.0).abs() < 1e-3, "{gbps} Gbit/s on a link of {rate}");
}

fn an_urgent_channel_overtakes_a_backlog(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let vc = |endpoint: &Endpoint, vc| endpoint.port(0).unwrap().vc(vc).unwrap();
    vc(&pair.a, 0).set_priority(8).unwrap();
    vc(&pair.a, 1).set_priority(0).unwrap();
    assert!(vc(&pair.a, 1).set_priority(16).is_err());
    reserve(&pair, 1, 0x8000);
    let (mut slow, mut urgent) = (pair.tx(0), pair.tx(1));
    let (mut backlog, mut rx) = (pair.rx_posted(0, 4096, 256), pair.rx_posted(1, 4096, 4));
    for packet in pair.a.alloc(256 * 4096).unwrap().split(4096, 256).unwrap() {
        slow.send(packet).unwrap();
    }
    urgent.send(pair.packet(4096, 1)).unwrap();
    let first = rx.recv(Deadline::NEVER).unwrap().time_ns.unwrap();
    let times: Vec<u64> =
        (0..256).map(|_| backlog.recv(Deadline::NEVER).unwrap().time_ns.unwrap()).collect();
    let passed = times.iter().filter(|time| **time < first).count();
    assert!(passed <= 2, "{passed} packets of the backlog arrived before the urgent one");
    assert_eq!(pair.a.port(0).unwrap().info().unwrap().channels[0].priority, 8);
}

fn equal_channels_share_the_link(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut ends: Vec<_> = (0..2).map(|vc| (pair.tx(vc), pair.rx_posted(vc, 4092, 129))).collect();
    for (vc, (tx, rx)) in ends.iter_mut().enumerate() {
        reserve(&pair, vc as u32, 0x8000);
        start(&pair, tx, rx);
    }
    let start = pair.a.now_ns();
    let region = pair.a.alloc(2 * 128 * 4092).unwrap();
    let mut at = 0;
    for seed in 0..128 {
        for (tx, _) in &mut ends {
            tx.send(cut(&region, &mut at, 4092, seed)).unwrap();
        }
    }
    let mut times = Vec::new();
    for (vc, (tx, rx)) in ends.iter_mut().enumerate() {
        for seed in 0..128 {
            let got = rx.recv(Deadline::NEVER).unwrap();
            assert!(crate::kit::matches(&got.buf, seed, 0));
            times.push((got.time_ns.unwrap(), vc));
        }
        tx.drain(Deadline::NEVER).unwrap();
    }
    times.sort_unstable();
    for part in times.chunks(16) {
        let second = part.iter().map(|time| time.1).sum::<usize>();
        assert!((6..=10).contains(&second), "{second} of 16 packets are of one channel");
    }
    let gbps = 8.0 * 256.0 * 4096.0 / (times[255].0 - start) as f64;
    let rate = pair.a.port(0).unwrap().info().unwrap().rate.user_gbps().unwrap();
    // The latency of the link counts once.
    let most = if fixture.has(EndToEnd) { 1e-3 } else { 5e-3 };
    assert!((gbps / rate - 1.0).abs() < most, "{gbps} Gbit/s on a link of {rate}");
}

fn a_deadline_passes_in_virtual_time(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, 64, 4);
    for hours in 1..4u64 {
        let at = pair.b.now_ns() + hours * 3_600_000_000_000;
        assert!(rx.recv(Deadline::at_ns(at)).unwrap_err().is_timeout());
        assert_eq!(pair.b.now_ns(), at);
        let deadline = pair.b.deadline_after(Duration::from_secs(3600 * hours));
        assert!(rx.recv(deadline).unwrap_err().is_timeout());
        assert_eq!(pair.b.now_ns(), at + hours * 3_600_000_000_000);
    }
    let mut tx = pair.tx(0);
    tx.send(pair.packet(64, 0)).unwrap();
    assert_eq!(rx.recv(Deadline::NEVER).unwrap().buf.len(), 64);
}

fn a_wait_in_virtual_time_is_cancelled(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, 64, 4);
    let canceller = rx.canceller();
    // Virtual time stands still, because this thread takes part and does not wait.
    let clock = pair.b.clock().clone();
    let spfe::Clock::Virtual(clock) = clock else { panic!("real time") };
    clock.join();
    let end = pair.b.deadline_after(Duration::from_secs(3600));
    let waiter = std::thread::spawn(move || {
        for _ in 0..100 {
            assert!(rx.recv(end).unwrap_err().is_cancelled());
        }
        clock.leave();
    });
    while !waiter.is_finished() {
        canceller.cancel();
        std::thread::yield_now();
    }
    assert!(waiter.join().is_ok(), "the wait was not cancelled");
    assert_eq!(pair.b.now_ns(), 0);
}

fn a_time_after_the_first_is_exact(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, 65536, 4));
    let goal = Threshold::count(2).or_after_first(Duration::from_millis(3));
    tx.send(pair.packet(65536, 0)).unwrap();
    assert_eq!(rx.wait(&goal, Deadline::NEVER).unwrap(), Ready::AfterFirst);
    let got = rx.poll().unwrap();
    assert_eq!(pair.b.now_ns(), got.time_ns.unwrap() + 3_000_000);
}

fn a_wait_without_traffic_ends(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, 64, 4);
    assert!(rx.recv(Deadline::NEVER).unwrap_err().is_timeout());
}
