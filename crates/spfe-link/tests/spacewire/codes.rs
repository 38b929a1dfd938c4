//! Broadcast codes: priority, time-codes, interrupts.

use crate::pair::{Pair, Wires, packet, push};
use spfe_link::spacewire::character::CodeMeaning;
use spfe_link::spacewire::interrupt::{InterruptFlags, InterruptMode, InterruptRelay};
use spfe_link::spacewire::schedule::CodeSchedule;
use spfe_link::spacewire::timecode::TimeCodeRegister;
use spfe_link::spacewire::{BroadcastCode, DecodedCharacter, SpaceWireCharacter, SpaceWireState};

#[test]
fn meanings() {
    assert_eq!(BroadcastCode(0x3f).meaning(), CodeMeaning::Time(63));
    assert_eq!(BroadcastCode(0x80).meaning(), CodeMeaning::Interrupt(0));
    assert_eq!(BroadcastCode(0xbf).meaning(), CodeMeaning::Acknowledge(31));
    for code in (0x40..0x80).chain(0xc0..=0xff) {
        assert_eq!(BroadcastCode(code).meaning(), CodeMeaning::Reserved);
    }
}

#[test]
fn one_time_code_bit_by_bit() {
    let mut wires = Wires::running();
    assert!(wires.sides[0].port.broadcast(BroadcastCode::time(0x3f)));
    wires.run_ns(5_000);
    assert_eq!(wires.codes[1], [BroadcastCode(0x3f)]);
}

#[test]
fn codes_outside_run_are_discarded() {
    let mut pair = Pair::<8, 8>::new([10_000_000; 2]);
    assert!(!pair.sides[0].port.broadcast(BroadcastCode::time(1)));
    assert_eq!(pair.sides[0].port.counters().discarded_broadcasts, 1);
    pair.until(|pair| pair.both(SpaceWireState::Run));
    assert!(!pair.sides[0].port.broadcast(BroadcastCode(0x40)));
    pair.run_ns(20_000);
    assert!(pair.sides[1].codes.is_empty());
}

#[test]
fn a_pending_code_is_dropped_with_the_link() {
    let mut pair = Pair::<8, 8>::running([10_000_000; 2]);
    assert!(pair.sides[0].port.broadcast(BroadcastCode::time(1)));
    pair.inject(0, DecodedCharacter::ParityError);
    pair.until(|pair| pair.both(SpaceWireState::ErrorReset));
    pair.until(|pair| pair.both(SpaceWireState::Run));
    pair.run_ns(20_000);
    assert!(pair.sides[1].codes.is_empty());
    assert_eq!(pair.sides[0].port.counters().sent_broadcasts, 0);
}

#[test]
fn codes_go_before_data() {
    let mut pair = Pair::<64, 64>::running([10_000_000; 2]);
    push(&mut pair.sides[0].port, &packet(&[1; 40]));
    pair.until(|pair| pair.sides[1].port.waiting() == 5);
    pair.sides[0].port.broadcast(BroadcastCode::time(9));
    pair.run_ns(2_600);
    // At most ten bit times of the character in progress, and fourteen of the code.
    assert_eq!(pair.sides[1].codes, [BroadcastCode(9)]);
    assert!(pair.sides[1].port.waiting() <= 6);
    let at = pair.sides[1].seen.iter().position(|c| matches!(c, SpaceWireCharacter::Broadcast(_)));
    assert!(matches!(pair.sides[1].seen[at.unwrap() - 1], SpaceWireCharacter::NChar(_)));
}

#[test]
fn order_among_codes() {
    let mut schedule = CodeSchedule::new();
    for code in [0x81, 0xa7, 0xa3, 0x05, 0x80, 0x06] {
        assert!(schedule.offer(BroadcastCode(code)));
    }
    let order: Vec<_> = std::iter::from_fn(|| schedule.take()).map(|code| code.0).collect();
    assert_eq!(order, [0x06, 0xa3, 0xa7, 0x80, 0x81]);
}

#[test]
fn time_code_register() {
    let mut register = TimeCodeRegister::new();
    assert!(register.receive(1));
    assert!(!register.receive(1));
    // After a lost code the next one is not valid, but the one after it is.
    assert!(!register.receive(3));
    assert!(register.receive(4));
    assert!(!register.receive(63));
    assert!(register.receive(0));
    let mut master = TimeCodeRegister::new();
    let sent: Vec<_> = (0..65).map(|_| master.tick().0).collect();
    assert_eq!((sent[0], sent[62], sent[63], sent[64]), (1, 63, 0, 1));
}

#[test]
fn relay_lets_each_pass_once() {
    let (interrupt, acknowledge) = (BroadcastCode::interrupt(4), BroadcastCode::acknowledge(4));
    let mut relay = InterruptRelay::new(InterruptMode::Acknowledged, 1_000);
    assert!(!relay.receive(0, acknowledge));
    assert!(relay.receive(0, interrupt));
    assert!(!relay.receive(10, interrupt));
    assert!(relay.receive(20, acknowledge));
    assert!(!relay.receive(21, acknowledge));
    assert!(relay.receive(30, interrupt));
    // The timer clears it.
    assert!(relay.is_set(1_029, 4) && !relay.is_set(1_030, 4));
    assert!(relay.receive(1_030, interrupt));
    let mut plain = InterruptRelay::new(InterruptMode::Interrupt, 1_000);
    assert!(plain.receive(0, interrupt));
    assert!(!plain.receive(1, acknowledge));
    let mut extended = InterruptRelay::new(InterruptMode::Extended, 1_000);
    assert!(extended.receive(0, acknowledge) && extended.is_set(0, 36));
    assert!(!extended.receive(1, acknowledge));
}

#[test]
fn flags_of_a_node() {
    let code = BroadcastCode::interrupt(7);
    let mut flags = InterruptFlags::new(InterruptMode::Acknowledged, 500);
    assert_eq!(flags.handled(0, 7), None);
    assert_eq!(flags.receive(100, code), Some(7));
    assert_eq!(flags.receive(110, code), None);
    assert_eq!(flags.handled(200, 7), Some((BroadcastCode::acknowledge(7), 600)));
    assert_eq!(flags.active(), 0);
    assert_eq!(flags.receive(700, code), Some(7));
    assert_eq!(flags.handled(1_900, 7), Some((BroadcastCode::acknowledge(7), 1_900)));
    let mut plain = InterruptFlags::new(InterruptMode::Interrupt, 500);
    assert_eq!(plain.receive(0, code), Some(7));
    assert_eq!(plain.handled(1, 7), None);
    assert_eq!(plain.active(), 0);
}
