//! Compares the counters of a switch with what went in and came out.

use crate::fabric::{Switch, packet};
use spfe_link::network::router::SwitchPortConfig;
use spfe_link::network::{DiscardReason, PacketUnit, RoutingEntry};
use spfe_link::spacewire::NChar;
use spfe_link::word::Word;

#[test]
fn packets_and_bytes() {
    let mut switch = Switch::<NChar, 4, 1>::new(100);
    switch.table.set(0, 40, Some(RoutingEntry::each_of(0b1100))).unwrap();
    switch.send(1, 0, packet(&[2, 10, 11, 12]));
    switch.send(1, 0, [NChar::Data(2), NChar::Data(1), NChar::Eep]);
    switch.send(1, 0, packet(&[40, 9]));
    switch.send(1, 0, packet(&[200, 1, 2]));
    switch.settle(0);
    let of = |port| *switch.router.counters(port).unwrap();
    assert_eq!(of(1).received.packets, 4);
    assert_eq!(of(1).received.eeps, 1);
    assert_eq!((of(1).received.units, of(1).received.bytes), (5 + 3 + 3 + 4, 4 + 2 + 2 + 3));
    assert_eq!((of(2).sent.packets, of(2).sent.bytes, of(2).sent.eeps), (3, 3 + 1 + 2, 1));
    assert_eq!((of(3).sent.packets, of(3).sent.units), (1, 3));
    assert_eq!(of(1).dropped(DiscardReason::InvalidAddress), 1);
    assert_eq!((of(1).all_dropped(), of(1).timeouts(), of(1).spilled_units), (1, 0, 4));
    assert_eq!((of(2).received, of(1).sent), Default::default());
    assert!(switch.router.counters(4).is_none());
}

#[test]
fn words() {
    let mut switch = Switch::<Word, 3, 1>::new(100);
    let eop = Word { bits: 0xfbfb_fd07, k: 0b1110 };
    switch.send(1, 0, [Word::data(0x0403_0202), Word::data(1), eop]);
    switch.settle(0);
    let received = switch.router.counters(1).unwrap().received;
    assert_eq!((received.units, received.bytes, received.packets), (3, 9, 1));
    let sent = switch.router.counters(2).unwrap().sent;
    assert_eq!((sent.units, sent.bytes, sent.packets), (3, 8, 1));
    let eep = <Word as PacketUnit>::EEP;
    assert!(eep.is_error_end() && !eop.is_error_end());
    assert_eq!(eep.data_chars(), 0);
}

#[test]
fn time_outs() {
    let mut switch = Switch::<NChar, 4, 1>::new(2);
    for port in 0..4 {
        let limit = Some(1000);
        let settings = SwitchPortConfig {
            packet_timeout_ns: limit,
            wait_timeout_ns: limit,
            ..SwitchPortConfig::default()
        };
        switch.router.set(port, settings);
    }
    switch.queues.running[3] = false;
    switch.send(1, 0, packet(&[2, 1, 2, 3, 4]));
    switch.settle(0);
    switch.send(2, 0, packet(&[3, 1]));
    switch.send(3, 0, packet(&[2, 1]));
    switch.settle(10);
    switch.settle(999);
    assert!((0..4).all(|port| switch.router.counters(port).unwrap().timeouts() == 0));
    switch.settle(1010);
    let of = |port| *switch.router.counters(port).unwrap();
    assert_eq!(of(1).dropped(DiscardReason::Timeout), 1);
    assert_eq!(of(2).dropped(DiscardReason::NotRunning), 1);
    assert_eq!(of(3).dropped(DiscardReason::Blocked), 1);
    assert!((1..4).all(|port| of(port).timeouts() == 1));
    // The EEP of the cut packet, once it finds room.
    assert_eq!((of(2).sent.units, of(2).sent.eeps), (2, 0));
    assert_eq!(switch.out(2, 0).len(), 2);
    switch.settle(1010);
    let sent = switch.router.counters(2).unwrap().sent;
    assert_eq!((sent.units, sent.eeps, sent.packets), (3, 1, 1));
}

/// Packets of all kinds through one switch: each is counted once.
#[test]
fn every_packet_is_counted_once() {
    let seed = 5u64;
    eprintln!("seed {seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut random = |limit: u64| rng.u64(..limit);
    let mut switch = Switch::<NChar, 5, 2>::new(7);
    switch.table.set(0, 32, Some(RoutingEntry::any_of(0b11000).deleting())).unwrap();
    switch.table.set(0, 33, Some(RoutingEntry::each_of(0b00110))).unwrap();
    for port in 0..5 {
        let packet_timeout_ns = Some(300);
        switch
            .router
            .set(port, SwitchPortConfig { packet_timeout_ns, ..SwitchPortConfig::default() });
    }
    let (mut given, mut got) = ([0u64; 5], [0u64; 5]);
    for now_ns in 0..3000u64 {
        let (port, vc) = (random(5) as usize, random(2) as usize);
        let address = [random(8) as u8, 32 + random(3) as u8][random(2) as usize];
        let mut units = packet(&[address, 1, 2, 3, 4, 5][..random(7) as usize]);
        if random(20) == 0 {
            units.pop();
        }
        given[port] += units.len() as u64;
        switch.send(port, vc, units);
        switch.step(now_ns);
        let (port, vc) = (random(5) as usize, random(2) as usize);
        got[port] += switch.out(port, vc).len() as u64;
    }
    for now_ns in 3000..6000 {
        switch.step(now_ns);
        for (port, got) in got.iter_mut().enumerate() {
            *got += (switch.out(port, 0).len() + switch.out(port, 1).len()) as u64;
        }
    }
    for port in 0..5 {
        let left: usize = switch.queues.inputs[port].iter().map(|queue| queue.len()).sum();
        let counters = switch.router.counters(port).unwrap();
        assert_eq!(counters.received.units, given[port] - left as u64);
        assert_eq!(counters.sent.units, got[port]);
        for reason in DiscardReason::ALL {
            let dropped = &switch.queues.dropped;
            let seen = dropped.iter().filter(|d| usize::from(d.port) == port && d.reason == reason);
            assert_eq!(counters.dropped(reason), seen.count() as u64, "{reason:?}");
        }
        assert!(counters.all_dropped() > 50 && counters.spilled_units > 50);
    }
}
