//! Packets that make no progress.

use crate::fabric::{Switch, packet};
use spfe_link::network::router::SwitchPortConfig;
use spfe_link::network::{DiscardReason, RoutingEntry};
use spfe_link::spacewire::NChar;

type SpaceWire = Switch<NChar, 6, 1>;

const LIMIT_NS: u64 = 1_000;

fn switch(room: usize) -> SpaceWire {
    let mut switch = SpaceWire::new(room);
    for port in 0..6 {
        let packet_timeout_ns = Some(LIMIT_NS);
        switch
            .router
            .set(port, SwitchPortConfig { packet_timeout_ns, ..SwitchPortConfig::default() });
    }
    switch
}

fn reasons(switch: &SpaceWire) -> Vec<DiscardReason> {
    switch.queues.dropped.iter().map(|dropped| dropped.reason).collect()
}

#[test]
fn a_blocked_packet_is_cut() {
    let mut switch = switch(3);
    switch.send(1, 0, packet(&[2, 1, 2, 3, 4, 5, 6, 7]));
    switch.send(1, 0, packet(&[3, 9]));
    switch.settle(10);
    assert_eq!(switch.router.deadline_ns(), Some(10 + LIMIT_NS));
    switch.settle(9 + LIMIT_NS);
    assert!(switch.queues.dropped.is_empty());
    switch.settle(10 + LIMIT_NS);
    assert_eq!(reasons(&switch), [DiscardReason::Timeout]);
    // The input is free at once, the output when the EEP has found room.
    assert_eq!(switch.out(3, 0), packet(&[9]));
    switch.send(4, 0, packet(&[2, 8]));
    switch.settle(20 + LIMIT_NS);
    assert!(!switch.router.is_idle());
    let data = |bytes: [u8; 3]| bytes.map(NChar::Data).to_vec();
    assert_eq!(switch.out(2, 0), data([1, 2, 3]));
    switch.settle(20 + LIMIT_NS);
    assert_eq!(switch.out(2, 0), [NChar::Eep, NChar::Data(8), NChar::Eop]);
    assert!(switch.router.is_idle());
}

#[test]
fn a_packet_without_its_end_is_cut() {
    let mut switch = switch(8);
    switch.send(1, 0, [NChar::Data(2), NChar::Data(1)]);
    switch.settle(0);
    switch.settle(LIMIT_NS);
    assert_eq!(switch.out(2, 0), [NChar::Data(1), NChar::Eep]);
    // The rest of the packet is thrown away when it comes.
    switch.send(1, 0, packet(&[5, 5]));
    switch.send(1, 0, packet(&[2, 3]));
    switch.settle(LIMIT_NS);
    assert_eq!(switch.out(2, 0), packet(&[3]));
    assert_eq!(reasons(&switch), [DiscardReason::Timeout]);
}

#[test]
fn an_unsent_packet_leaves_no_eep() {
    let mut switch = switch(8);
    switch.send(1, 0, [NChar::Data(2)]);
    switch.settle(0);
    switch.settle(LIMIT_NS);
    assert_eq!((switch.out(2, 0), reasons(&switch)), (vec![], vec![DiscardReason::Timeout]));
}

#[test]
fn progress_restarts_the_time_out() {
    let mut switch = switch(8);
    switch.send(1, 0, [NChar::Data(2)]);
    for step in 0..20 {
        switch.send(1, 0, [NChar::Data(step)]);
        switch.settle(u64::from(step) * (LIMIT_NS - 1));
        assert_eq!(switch.out(2, 0), [NChar::Data(step)]);
    }
    assert!(switch.queues.dropped.is_empty());
}

#[test]
fn without_a_time_out_a_packet_waits_for_ever() {
    let mut switch = SpaceWire::new(3);
    switch.send(1, 0, packet(&[2, 1, 2, 3, 4]));
    switch.settle(0);
    switch.settle(u64::MAX);
    assert_eq!((switch.router.deadline_ns(), reasons(&switch)), (None, vec![]));
}

#[test]
fn multicast_is_cut_on_all_outputs() {
    let mut switch = switch(3);
    switch.table.set(0, 70, Some(RoutingEntry::each_of(0b0110))).unwrap();
    switch.send(3, 0, packet(&[70, 1, 2, 3, 4, 5, 6, 7]));
    for _ in 0..10 {
        switch.settle(0);
        switch.out(1, 0);
    }
    switch.settle(LIMIT_NS);
    assert_eq!(switch.out(1, 0), [NChar::Eep]);
    assert_eq!(switch.out(2, 0).len(), 3);
    switch.settle(LIMIT_NS);
    assert_eq!(switch.out(2, 0), [NChar::Eep]);
    assert!(switch.router.is_idle());
}

#[test]
fn waiting_times_out() {
    let mut switch = SpaceWire::new(8);
    let wait_timeout_ns = Some(LIMIT_NS);
    switch.router.set(1, SwitchPortConfig { wait_timeout_ns, ..SwitchPortConfig::default() });
    switch.queues.running[2] = false;
    switch.send(1, 0, packet(&[2, 1]));
    switch.send(3, 0, packet(&[2, 3]));
    switch.settle(0);
    assert_eq!(switch.router.deadline_ns(), Some(LIMIT_NS));
    switch.settle(LIMIT_NS);
    assert_eq!(reasons(&switch), [DiscardReason::NotRunning]);
    assert!(switch.queues.inputs[1][0].is_empty());
    // The other packet waits until the port is up; then a packet that waits behind it times out.
    switch.queues.running[2] = true;
    switch.queues.inputs[3][0].pop_back();
    switch.settle(LIMIT_NS);
    assert_eq!(switch.out(2, 0), [NChar::Data(3)]);
    switch.send(1, 0, packet(&[2, 1]));
    switch.settle(2 * LIMIT_NS);
    switch.settle(3 * LIMIT_NS);
    assert_eq!(reasons(&switch), [DiscardReason::NotRunning, DiscardReason::Blocked]);
}

#[test]
fn a_multicast_to_a_down_port_blocks_no_other() {
    let mut switch = SpaceWire::new(8);
    let wait_timeout_ns = Some(LIMIT_NS);
    switch.router.set(1, SwitchPortConfig { wait_timeout_ns, ..SwitchPortConfig::default() });
    switch.table.set(0, 70, Some(RoutingEntry::each_of(0b0_1100))).unwrap();
    switch.queues.running[2] = false;
    switch.send(1, 0, packet(&[70, 1]));
    switch.settle(0);
    switch.send(4, 0, packet(&[3, 4]));
    switch.settle(0);
    assert_eq!(switch.out(3, 0), packet(&[4]));
    switch.settle(LIMIT_NS);
    assert_eq!(reasons(&switch), [DiscardReason::NotRunning]);
}
