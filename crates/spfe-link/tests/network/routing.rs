//! Path and logical addresses, header deletion, and invalid addresses.

use crate::fabric::{Fabric, Switch, packet};
use spfe_link::Word;
use spfe_link::network::router::VirtualNetworkError;
use spfe_link::network::{DiscardReason, PacketUnit, RoutingEntry};
use spfe_link::spacewire::NChar;
use spfe_link::word::k::{EEP, EOP, FILL};

type SpaceWire = Switch<NChar, 6, 1>;
type SpaceFibre = Switch<Word, 4, 4>;

fn reasons<U, const P: usize, const V: usize>(switch: &Switch<U, P, V>) -> Vec<DiscardReason> {
    switch.queues.dropped.iter().map(|dropped| dropped.reason).collect()
}

#[test]
fn path_address_is_deleted() {
    let mut switch = SpaceWire::new(64);
    switch.send(1, 0, packet(&[3, 7, 8]));
    switch.settle(0);
    assert_eq!(switch.out(3, 0), packet(&[7, 8]));
    // Back to where the packet came from, and to the configuration port.
    switch.send(1, 0, packet(&[1, 7]));
    switch.send(1, 0, packet(&[0, 254, 1]));
    switch.settle(0);
    assert_eq!(switch.out(1, 0), packet(&[7]));
    assert_eq!(switch.out(0, 0), packet(&[254, 1]));
    assert!(switch.queues.dropped.is_empty() && switch.router.is_idle());
}

#[test]
fn a_path_over_three_switches() {
    let mut fabric = Fabric::<NChar, 6, 1>::new(3, 4);
    fabric.join((0, 2), (1, 1));
    fabric.join((1, 3), (2, 1));
    fabric.switches[0].send(1, 0, packet(&[2, 3, 5, 2, 40]));
    fabric.settle();
    // Each switch deletes at most one character.
    assert_eq!(fabric.got[2][5][0], packet(&[2, 40]));
}

#[test]
fn a_path_in_words() {
    let mut fabric = Fabric::<Word, 6, 1>::new(5, 4);
    for switch in 0..4 {
        fabric.join((switch, 2), (switch + 1, 1));
    }
    let payload = [Word::data(0x1234_5678), Word::from_symbols([9, EOP, FILL, FILL], 0xe)];
    let path = [2, 2, 2, 2];
    fabric.switches[0].send(
        1,
        0,
        [Word::from_symbols(path, 0), Word::from_symbols([3, 1, 2, 3], 0)],
    );
    fabric.switches[0].send(1, 0, payload);
    fabric.settle();
    // The first word is used up by deletions.
    let first = Word::from_symbols([FILL, 1, 2, 3], 1);
    assert_eq!(fabric.got[4][3][0], [first, payload[0], payload[1]]);
    // A packet that is only an address goes on as an empty packet, which the next switch drops.
    fabric.switches[0].send(1, 0, [Word::from_symbols([2, EOP, FILL, FILL], 0xe)]);
    fabric.settle();
    assert_eq!(reasons(&fabric.switches[1]), [DiscardReason::Empty]);
    assert!(fabric.is_idle());
}

#[test]
fn logical_address_is_kept_without_header_deletion() {
    let mut switch = SpaceWire::new(64);
    switch.table.set(0, 32, Some(RoutingEntry::any_of(1 << 2))).unwrap();
    switch.table.set(0, 254, Some(RoutingEntry::any_of(1 << 5).deleting())).unwrap();
    switch.send(1, 0, packet(&[32, 1]));
    switch.send(1, 0, packet(&[254, 33, 1]));
    switch.settle(0);
    assert_eq!(switch.out(2, 0), packet(&[32, 1]));
    assert_eq!(switch.out(5, 0), packet(&[33, 1]));
}

#[test]
fn invalid_packets_are_discarded_completely() {
    let mut switch = SpaceWire::new(64);
    // An entry with ports that do not exist, one with a port of two that exists, and a multicast
    // with both.
    switch.table.set(0, 50, Some(RoutingEntry::any_of(1 << 9))).unwrap();
    switch.table.set(0, 51, Some(RoutingEntry::any_of(1 << 9 | 1 << 2))).unwrap();
    switch.table.set(0, 52, Some(RoutingEntry::each_of(1 << 9 | 1 << 2))).unwrap();
    for first in [6, 31, 40, 255, 50, 52, 51] {
        switch.send(1, 0, packet(&[first, 1, 2, 3]));
    }
    switch.send(1, 0, [NChar::Eop, NChar::Eep]);
    switch.send(1, 0, packet(&[2, 9]));
    switch.settle(0);
    use DiscardReason::{Empty, InvalidAddress, NoPort};
    let all = [NoPort, NoPort, InvalidAddress, InvalidAddress, NoPort, NoPort, Empty, Empty];
    assert_eq!(reasons(&switch), all);
    let first = switch.queues.dropped[2];
    assert_eq!((first.port, first.vc, first.address), (1, 0, Some(40)));
    assert_eq!(switch.out(2, 0), [packet(&[51, 1, 2, 3]), packet(&[9])].concat());
}

#[test]
fn eep_is_passed_on() {
    let mut switch = SpaceFibre::new(64);
    let word = Word::from_symbols([2, 8, EEP, FILL], 0xc);
    switch.send(1, 0, [word]);
    switch.settle(0);
    assert_eq!(switch.out(2, 0), [Word::from_symbols([FILL, 8, EEP, FILL], 0xd)]);
}

#[test]
fn empty_words_are_not_sent() {
    let mut switch = SpaceFibre::new(64);
    let fill = Word::from_symbols([FILL; 4], 0xf);
    let words = [Word::from_symbols([2, 8, 9, 9], 0), Word::EEP];
    switch.send(1, 0, [fill, words[0], fill, fill, words[1], fill]);
    switch.settle(0);
    assert_eq!(switch.out(2, 0), [Word::from_symbols([FILL, 8, 9, 9], 1), Word::EEP]);
    assert!(switch.queues.dropped.is_empty() && switch.router.is_idle());
}

#[test]
fn virtual_channels_to_virtual_networks() {
    let mut switch = SpaceFibre::new(64);
    let router = &mut switch.router;
    assert_eq!(router.map(1, 0, Some(3)), Err(VirtualNetworkError::Fixed));
    assert_eq!(router.map(1, 1, Some(0)), Err(VirtualNetworkError::Fixed));
    assert_eq!(router.map(4, 1, Some(1)), Err(VirtualNetworkError::Range));
    assert_eq!(router.map(1, 4, Some(1)), Err(VirtualNetworkError::Range));
    assert_eq!(router.map(1, 1, Some(64)), Err(VirtualNetworkError::Range));
    router.map(1, 1, Some(63)).unwrap();
    assert_eq!(router.map(1, 2, Some(63)), Err(VirtualNetworkError::Taken));
    router.map(2, 3, Some(63)).unwrap();
    router.map(1, 2, Some(7)).unwrap();
    assert_eq!((router.vc(1, 63), router.vc(2, 63), router.vc(3, 63)), (Some(1), Some(3), None));
    // VC 1 of port 1 is VC 3 of port 2; port 3 has no VC for it; VC 3 of port 1 has no virtual
    // network.
    let to = |port| [Word::from_symbols([port, 1, EOP, FILL], 0xc)];
    switch.send(1, 1, to(2));
    switch.send(1, 1, to(3));
    switch.send(1, 3, to(2));
    switch.settle(0);
    assert_eq!(switch.out(2, 3).len(), 1);
    let mut reasons = reasons(&switch);
    reasons.sort_by_key(|reason| *reason as u8);
    assert_eq!(reasons, [DiscardReason::InputUnmapped, DiscardReason::OutputUnmapped]);
    // Refused while a packet is in progress, and accepted afterwards.
    switch.send(1, 1, [Word::from_symbols([2, 1, 2, 3], 0)]);
    switch.settle(0);
    assert_eq!(switch.router.map(1, 1, None), Err(VirtualNetworkError::Busy));
    assert_eq!(switch.router.map(2, 3, None), Err(VirtualNetworkError::Busy));
    switch.send(1, 1, [Word::EEP]);
    switch.settle(0);
    switch.router.map(1, 1, None).unwrap();
    switch.router.map(2, 3, None).unwrap();
    assert_eq!((switch.router.vc(1, 63), switch.router.vc(2, 63)), (None, None));
}

#[test]
fn each_virtual_network_has_its_table() {
    let mut switch = SpaceFibre::new(64);
    for port in 1..4 {
        switch.router.map(port, 1, Some(9)).unwrap();
    }
    switch.table.use_table(9, 1).unwrap();
    switch.table.set(0, 80, Some(RoutingEntry::any_of(1 << 2))).unwrap();
    switch.table.set(1, 80, Some(RoutingEntry::any_of(1 << 3))).unwrap();
    let word = Word::from_symbols([80, EOP, FILL, FILL], 0xe);
    switch.send(1, 0, [word]);
    switch.send(1, 1, [word]);
    switch.settle(0);
    assert_eq!((switch.out(2, 0), switch.out(3, 1)), (vec![word], vec![word]));
}
