//! Random input: nothing panics, credit stays in range, packets arrive complete or end with EEP.

use crate::pair::{Pair, drain, packet};
use proptest::prelude::*;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, DecodedCharacter, NChar, SpaceWireCharacter, SpaceWirePort, SpaceWireState,
    SpaceWireTiming,
};

fn any_character() -> impl Strategy<Value = DecodedCharacter> {
    prop_oneof![
        4 => Just(DecodedCharacter::Character(SpaceWireCharacter::Null)),
        4 => Just(DecodedCharacter::Character(SpaceWireCharacter::Fct)),
        4 => any::<u8>().prop_map(|b| DecodedCharacter::Character(SpaceWireCharacter::NChar(NChar::Data(b)))),
        2 => Just(DecodedCharacter::Character(SpaceWireCharacter::NChar(NChar::Eop))),
        1 => Just(DecodedCharacter::Character(SpaceWireCharacter::NChar(NChar::Eep))),
        2 => any::<u8>().prop_map(|b| DecodedCharacter::Character(SpaceWireCharacter::Broadcast(BroadcastCode(b)))),
        1 => Just(DecodedCharacter::ParityError),
        1 => Just(DecodedCharacter::EscapeError),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_characters(
        steps in prop::collection::vec((any_character(), 0u64..900, any::<u8>()), 0..400),
    ) {
        let mut port = SpaceWirePort::<16, 24>::new(0, SpaceWireControl::default(), SpaceWireTiming::NOMINAL, 100_000_000);
        let mut now_ns = 0;
        for (received, ns, other) in steps {
            // Long enough to reach Started in each attempt.
            now_ns += if port.transmits() { ns } else { 6_400 };
            port.transmit(now_ns);
            port.receive(now_ns, received);
            match other % 4 {
                0 => { port.push(NChar::Data(other)); }
                1 => { port.push(NChar::Eop); }
                2 => { port.pop(); }
                _ => { port.broadcast(BroadcastCode(other)); }
            }
            prop_assert!(port.credit().transmit() <= 56);
            prop_assert!(usize::from(port.credit().receive()) + port.waiting() <= 24);
        }
    }

    /// Packets numbered in their first byte, with errors at random times. Each packet arrives
    /// complete, or cut with an EEP, or not at all, and always in order.
    #[test]
    fn packets_under_errors(
        lengths in prop::collection::vec(1usize..30, 1..20),
        errors in prop::collection::vec((1u64..30_000, 0usize..2), 0..4),
    ) {
        let mut pair = Pair::<32, 32>::running([100_000_000, 20_000_000]);
        let packets: Vec<_> =
            lengths.iter().enumerate().map(|(n, length)| packet(&vec![n as u8; *length])).collect();
        let mut queue: std::collections::VecDeque<NChar> = packets.concat().into();
        let mut received = Vec::new();
        let mut errors = errors.into_iter();
        let mut next = errors.next().map(|(ns, side)| (pair.now_ns + ns, side));
        let mut idle_ns = 0;
        while idle_ns < 100_000 {
            while queue.front().is_some_and(|n_char| pair.sides[0].port.push(*n_char)) {
                queue.pop_front();
            }
            pair.step();
            idle_ns += 5;
            let more = drain(&mut pair.sides[1].port);
            if !more.is_empty() || !queue.is_empty() || !pair.both(SpaceWireState::Run) {
                idle_ns = 0;
            }
            received.extend(more);
            if let Some((at_ns, side)) = next.filter(|(at_ns, _)| *at_ns <= pair.now_ns) {
                pair.inject(side, DecodedCharacter::ParityError);
                next = errors.next().map(|(ns, side)| (at_ns + ns, side));
            }
        }
        // An error during the start can cost another start.
        pair.until(|pair| pair.both(SpaceWireState::Run));
        received.extend(drain(&mut pair.sides[1].port));
        let mut after = None;
        for got in received.split_inclusive(|n_char| n_char.is_end()) {
            let (end, data) = got.split_last().unwrap();
            prop_assert!(end.is_end());
            let Some(NChar::Data(number)) = data.first() else {
                prop_assert_eq!(*end, NChar::Eep);
                continue;
            };
            prop_assert!(after.is_none_or(|after| after < *number));
            after = Some(*number);
            let sent = &packets[usize::from(*number)];
            prop_assert_eq!(data, &sent[..data.len()]);
            prop_assert!(*end == NChar::Eep || got.len() == sent.len());
        }
    }
}
