//! Assignment of outputs: groups, multicast, turns, priority, separate virtual networks.

use crate::fabric::{Switch, packet};
use spfe_link::Word;
use spfe_link::network::RoutingEntry;
use spfe_link::network::router::SwitchPortConfig;
use spfe_link::spacewire::NChar;
use spfe_link::word::k::{EOP, FILL};

type SpaceWire = Switch<NChar, 8, 1>;

/// First characters of the packets in an output queue.
fn firsts(n_chars: &[NChar]) -> Vec<u8> {
    let packets = n_chars.split_inclusive(|n_char| n_char.is_end());
    packets
        .map(|packet| match packet[0] {
            NChar::Data(byte) => byte,
            _ => panic!("empty"),
        })
        .collect()
}

#[test]
fn a_group_takes_the_lowest_free_port() {
    let mut switch = SpaceWire::new(64);
    switch.table.set(0, 60, Some(RoutingEntry::any_of(0b1110_0000))).unwrap();
    // Three packets without an end hold a port each; the fourth gets the first port that comes
    // free.
    for (port, data) in [(1, 1), (2, 2), (3, 3)] {
        switch.send(port, 0, [NChar::Data(60), NChar::Data(data)]);
        switch.settle(0);
    }
    switch.send(4, 0, packet(&[60, 4]));
    switch.settle(0);
    for (out, data) in [(5, 1), (6, 2), (7, 3)] {
        assert_eq!(switch.out(out, 0), [NChar::Data(60), NChar::Data(data)]);
    }
    switch.send(2, 0, [NChar::Eop]);
    switch.settle(0);
    assert_eq!(switch.out(6, 0), [vec![NChar::Eop], packet(&[60, 4])].concat());
}

#[test]
fn a_group_skips_ports_that_are_down() {
    let mut switch = SpaceWire::new(64);
    switch.table.set(0, 60, Some(RoutingEntry::any_of(0b1110_0000))).unwrap();
    switch.queues.running[5] = false;
    switch.send(1, 0, packet(&[60]));
    switch.settle(0);
    assert_eq!(switch.out(6, 0), packet(&[60]));
}

#[test]
fn multicast_at_the_pace_of_the_slowest() {
    let mut switch = SpaceWire::new(2);
    switch.table.set(0, 70, Some(RoutingEntry::each_of(0b0110_1000))).unwrap();
    let n_chars = packet(&[70, 1, 2, 3, 4, 5, 6, 7]);
    switch.send(1, 0, n_chars.clone());
    let mut got = [Vec::new(), Vec::new(), Vec::new()];
    for step in 0..60 {
        switch.step(0);
        got[0].extend(switch.out(3, 0));
        got[1].extend(switch.out(5, 0));
        if step % 5 == 0 {
            got[2].extend(switch.queues.outputs[6][0].pop_front());
        }
        assert!(got[0].len() <= got[2].len() + 3, "step {step}");
    }
    for got in got {
        assert_eq!(got, n_chars);
    }
    assert!(switch.router.is_idle());
}

#[test]
fn multicast_waits_for_all_and_is_not_starved() {
    let mut switch = SpaceWire::new(1000);
    switch.table.set(0, 70, Some(RoutingEntry::each_of(0b0110_0000))).unwrap();
    // Streams of packets to both outputs, out of step with each other.
    for _ in 0..20 {
        switch.send(1, 0, packet(&[5, 1, 1, 1]));
        switch.send(2, 0, packet(&[6, 2, 2]));
    }
    switch.step(0);
    switch.send(3, 0, packet(&[70, 3]));
    switch.settle(0);
    for (port, own) in [(5, 1), (6, 2)] {
        let order = firsts(&switch.out(port, 0));
        assert_eq!(order.len(), 21);
        let at = order.iter().position(|first| *first == 70).unwrap();
        assert!(at <= 2, "after {at} packets of {own}");
    }
}

#[test]
fn inputs_take_turns() {
    let mut switch = SpaceWire::new(1000);
    for input in 1..5 {
        for _ in 0..10 {
            // Packets of different lengths: turns are counted in packets.
            let mut data = vec![input; usize::from(input) + 1];
            data[0] = 7;
            switch.send(usize::from(input), 0, packet(&data));
        }
    }
    switch.settle(0);
    let order = firsts(&switch.out(7, 0));
    assert_eq!(order.len(), 40);
    for turn in order.chunks(4) {
        let mut turn = turn.to_vec();
        turn.sort_unstable();
        assert_eq!(turn, [1, 2, 3, 4]);
    }
}

#[test]
fn priority_goes_first() {
    let mut switch = SpaceWire::new(1000);
    switch.table.set(0, 90, Some(RoutingEntry::any_of(1 << 7).urgent())).unwrap();
    for input in 1..4 {
        for _ in 0..5 {
            switch.send(input, 0, packet(&[7, input as u8]));
        }
    }
    switch.step(0);
    for _ in 0..5 {
        switch.send(4, 0, packet(&[90, 4]));
    }
    switch.settle(0);
    let order = firsts(&switch.out(7, 0));
    // The input gets its next turn one step after the end of its packet.
    let urgent: Vec<_> = (0..20).filter(|at| order[*at] == 90).collect();
    assert!(urgent.iter().zip([1, 2, 3, 4, 5]).all(|(at, turn)| *at <= 2 * turn), "{order:?}");
    // The same with a path address.
    let mut switch = SpaceWire::new(1000);
    assert!(
        switch.router.set(7, SwitchPortConfig { priority: true, ..SwitchPortConfig::default() })
    );
    assert!(!switch.router.set(8, SwitchPortConfig::default()));
    switch.table.set(0, 91, Some(RoutingEntry::any_of(1 << 7))).unwrap();
    switch.send(1, 0, [NChar::Data(91)]);
    switch.step(0);
    switch.send(2, 0, packet(&[91, 2]));
    switch.step(0);
    switch.send(3, 0, packet(&[7, 3]));
    switch.step(0);
    switch.send(1, 0, [NChar::Eop]);
    switch.settle(0);
    assert_eq!(firsts(&switch.out(7, 0)), [91, 3, 91]);
}

#[test]
fn virtual_networks_do_not_block_each_other() {
    let mut switch = Switch::<Word, 4, 2>::new(4);
    for port in 0..4 {
        switch.router.map(port, 1, Some(5)).unwrap();
    }
    let first = Word::from_symbols([3, 1, 2, 3], 0);
    let end = Word::from_symbols([1, EOP, FILL, FILL], 0xe);
    // VN 0: nothing is taken from port 3, a long packet blocks, and another one waits behind it.
    switch.send(1, 0, [first].into_iter().chain([Word::data(0); 50]));
    switch.send(2, 0, [first, end]);
    switch.settle(0);
    assert_eq!(switch.queues.outputs[3][0].len(), 4);
    // VN 5 uses the same ports.
    for _ in 0..100 {
        switch.send(1, 1, [first, end]);
        switch.send(2, 1, [first, end]);
        let mut steps = 0;
        while switch.queues.outputs[3][1].len() < 4 {
            switch.step(0);
            steps += 1;
            assert!(steps <= 4, "one word per step");
        }
        assert_eq!(switch.out(3, 1).len(), 4);
    }
    assert_eq!(switch.queues.outputs[3][0].len(), 4);
    assert_eq!(switch.queues.inputs[2][0].len(), 2);
}
