//! Broadcast messages and codes in rings.

use spfe_link::network::bits_of;
use spfe_link::network::broadcast::{BroadcastSwitch, CopyRule};
use spfe_link::network::codes::{CodePorts, CodeSwitch};
use spfe_link::spacewire::BroadcastCode;
use spfe_link::spacewire::interrupt::{InterruptMode, InterruptRelay};
use std::collections::VecDeque;

/// Three switches in a ring over ports 1 and 2, with a node at port 3 of each. `pass` returns the
/// ports that a switch sends on to. Returns how often each node received the message, and the
/// number of steps.
fn ring(mut pass: impl FnMut(usize, u64, u8) -> u32, from: usize) -> ([usize; 3], u64) {
    let mut got = [0; 3];
    let mut events = VecDeque::from([(0u64, from, 3u8)]);
    let mut last_ns = 0;
    while let Some((now_ns, switch, port)) = events.pop_front() {
        assert!(now_ns < 100_000, "goes round for ever");
        last_ns = now_ns;
        for to in bits_of(pass(switch, now_ns, port)) {
            match to {
                1 => events.push_back((now_ns + 100, (switch + 1) % 3, 2)),
                2 => events.push_back((now_ns + 100, (switch + 2) % 3, 1)),
                3 => got[switch] += 1,
                _ => panic!("port {to}"),
            }
        }
    }
    (got, last_ns)
}

#[test]
fn a_message_in_a_ring_ends() {
    for rule in [CopyRule::OtherPort, CopyRule::AnyPort] {
        let mut switches = [0; 3].map(|_| BroadcastSwitch::new(rule, 5_000, 0b1110));
        let (got, last_ns) = ring(|at, now_ns, port| switches[at].receive(now_ns, port, 9), 0);
        assert_eq!(got, [0, 1, 1], "{rule:?}");
        assert!(last_ns <= 300, "{last_ns} ns");
        let copies: u64 = switches.iter().map(|switch| switch.counters().copies).sum();
        assert_eq!(copies, 2);
    }
}

#[test]
fn copies_within_the_time_out_are_discarded() {
    let mut other = BroadcastSwitch::new(CopyRule::OtherPort, 1_000, 0b1111);
    assert_eq!(other.receive(0, 1, 7), 0b1101);
    assert_eq!(other.receive(10, 2, 7), 0);
    // The source continues; other channels are independent.
    assert_eq!(other.receive(20, 1, 7), 0b1101);
    assert_eq!(other.receive(20, 2, 8), 0b1011);
    assert_eq!(other.receive(1_019, 2, 7), 0);
    assert_eq!(other.receive(1_020, 2, 7), 0b1011);
    let mut any = BroadcastSwitch::new(CopyRule::AnyPort, 1_000, 0b1111);
    assert_eq!(any.receive(0, 1, 7), 0b1101);
    assert_eq!(any.receive(999, 1, 7), 0);
    assert_eq!(any.receive(1_000, 1, 7), 0b1101);
    any.set_ports(0b0010);
    assert_eq!(any.receive(2_000, 1, 7), 0);
    assert_eq!((any.counters().passed, any.counters().copies), (3, 1));
}

const ALL: CodePorts = CodePorts { time_out: 0b1110, interrupt_in: 0b1110, interrupt_out: 0b1110 };

#[test]
fn time_codes_in_a_ring_end() {
    let mut switches = [0; 3].map(|_| CodeSwitch::new(ALL, None));
    for value in 1..130 {
        let code = BroadcastCode::time(value);
        let (got, _) = ring(|at, now_ns, port| switches[at].receive(now_ns, port, code), 1);
        assert_eq!(got, [1, 0, 1], "time-code {value}");
    }
}

#[test]
fn time_codes_of_a_switch() {
    let mut switch = CodeSwitch::new(CodePorts { time_out: 0b0110, ..ALL }, None);
    assert_eq!(switch.tick(), (BroadcastCode(1), 0b0110));
    assert_eq!(switch.receive(0, 1, BroadcastCode(2)), 0b0100);
    // Not the next time-code: stored, but not passed on.
    assert_eq!(switch.receive(0, 1, BroadcastCode(9)), 0);
    assert_eq!(switch.time(), 9);
    // Reserved types, and interrupts without a relay.
    for code in [0x4a, 0x80, 0xa0, 0xc0] {
        assert_eq!(switch.receive(0, 1, BroadcastCode(code)), 0);
    }
    assert_eq!(switch.time(), 9);
}

#[test]
fn interrupts_in_a_ring_end() {
    let relay = InterruptRelay::new(InterruptMode::Acknowledged, 10_000);
    let mut switches = [0; 3].map(|_| CodeSwitch::new(ALL, Some(relay)));
    let codes = [BroadcastCode::interrupt(3), BroadcastCode::acknowledge(3)];
    for code in [codes[0], codes[1], codes[0]] {
        let (got, _) = ring(|at, now_ns, port| switches[at].receive(now_ns, port, code), 2);
        assert_eq!(got, [1, 1, 0]);
    }
    let quiet = CodePorts { interrupt_in: 0b0010, ..ALL };
    let mut switch = CodeSwitch::new(quiet, Some(relay));
    assert_eq!(switch.receive(0, 2, codes[0]), 0);
    assert_eq!(switch.receive(0, 1, codes[0]), 0b1100);
}
