//! Time-codes and interrupts.

use crate::kit::{A, B, Kit, config, packet};
use spfe_link::spacewire::BroadcastCode;
use spfe_sim::fault::{FaultKind, FaultTarget};
use spfe_sim::link::SimulatedLink;
use spfe_sim::time::{NS, US};

#[test]
fn codes_are_sent_in_order_of_priority() {
    let mut kit = Kit::running(config(100));
    let codes =
        [BroadcastCode::interrupt(3), BroadcastCode::acknowledge(31), BroadcastCode::time(17)];
    assert!(codes.iter().all(|code| kit.link.end(A).send_code(*code)));
    assert!(!kit.link.end(A).send_code(BroadcastCode(0x40)));
    assert!(!kit.link.is_quiet());
    kit.run(2 * US);
    let mut received = Vec::new();
    while let Some(code) = kit.link.end(B).receive_code() {
        received.push(code);
    }
    assert_eq!(received, [codes[2], codes[1], codes[0]]);
    assert_eq!(kit.count(A, "time-codes sent"), 1);
    assert_eq!(kit.count(B, "interrupts received"), 1);
    assert_eq!(kit.count(B, "acknowledges received"), 1);
    assert_eq!(kit.count(A, "codes discarded"), 1);
    assert!(kit.link.is_quiet());
}

#[test]
fn a_time_code_waits_for_one_character_of_a_packet() {
    let mut kit = Kit::running(config(10));
    kit.link.show_words(true);
    kit.write(A, &packet(&[0; 100]));
    kit.run(20 * US);
    let asked = kit.link.now();
    kit.link.end(A).send_code(BroadcastCode::time(1));
    kit.run(10 * US);
    let code = spfe_link::spacewire::SpaceWireCharacter::Broadcast(BroadcastCode::time(1));
    let (at, ..) = kit.log.characters.iter().find(|(.., c)| *c == code).unwrap();
    // Up to 10 bits of waiting, 14 of sending, and 2 until the parity that covers the code, less
    // one because a bit is decoded when it begins; then 20 ns of cable.
    let after = at - asked;
    assert!((1_520 * NS..=2_520 * NS).contains(&after), "{after}");
}

#[test]
fn codes_need_a_running_link() {
    let mut kit = Kit::new(config(100));
    kit.run(10 * US);
    assert!(!kit.link.end(A).send_code(BroadcastCode::time(1)));
    kit.until_running();
    kit.run(10 * US);
    assert_eq!(kit.link.end(B).receive_code(), None);
}

#[test]
fn unread_codes_are_counted() {
    let mut kit = Kit::running(config(100));
    for value in 0..140 {
        kit.link.end(A).send_code(BroadcastCode::time(value));
        kit.run(US);
    }
    assert_eq!(kit.count(B, "time-codes received"), 140);
    assert_eq!(kit.count(B, "codes lost"), 12);
    assert_eq!(kit.link.end(B).receive_code(), Some(BroadcastCode::time(0)));
}

#[test]
fn a_lost_time_code_is_noticed() {
    let mut kit = Kit::running(config(100));
    kit.inject(A, FaultTarget::Code, FaultKind::Drop);
    for value in 0..3 {
        kit.run(US);
        kit.link.end(A).send_code(BroadcastCode::time(value));
    }
    kit.run(US);
    // The fault waited for the first code. The parity after code 0 equals that after a NULL.
    assert_eq!(kit.count(A, "time-codes sent"), 3);
    assert_eq!(kit.count(B, "time-codes received"), 2);
    assert_eq!(kit.link.end(B).receive_code(), Some(BroadcastCode::time(1)));
    assert!(kit.is_running());
}
