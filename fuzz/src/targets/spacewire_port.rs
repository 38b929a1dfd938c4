//! A SpaceWire port: any characters and bits from the wire, any calls, at any time. In the end it
//! runs with a far end that keeps the rules.

use arbitrary::Arbitrary;
use spfe_link::spacewire::port::{START_RATE_BPS, SpaceWirePort};
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, DecodedCharacter, NChar, SpaceWireCharacter, SpaceWireState, SpaceWireTiming,
};

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Symbol {
    Null,
    Fct,
    Data(u8),
    Eop,
    Eep,
    Code(u8),
    Parity,
    Escape,
}

impl Symbol {
    fn received(self) -> DecodedCharacter {
        DecodedCharacter::Character(match self {
            Self::Null => SpaceWireCharacter::Null,
            Self::Fct => SpaceWireCharacter::Fct,
            Self::Data(byte) => SpaceWireCharacter::NChar(NChar::Data(byte)),
            Self::Eop => SpaceWireCharacter::NChar(NChar::Eop),
            Self::Eep => SpaceWireCharacter::NChar(NChar::Eep),
            Self::Code(code) => SpaceWireCharacter::Broadcast(BroadcastCode(code)),
            Self::Parity => return DecodedCharacter::ParityError,
            Self::Escape => return DecodedCharacter::EscapeError,
        })
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    Wire(Symbol),
    Transmit(u8),
    Push(u8, bool),
    Pop(u8),
    Code(u8),
    Control([bool; 5]),
    Wait(u16),
    Signal(u16),
    Silence,
    Rate(u32),
    /// Comes up with the far end, as the rules have it.
    Start,
}

type Fuzzed = SpaceWirePort<24, 40>;

fn check(port: &Fuzzed) {
    let credit = port.credit();
    assert!(credit.transmit() <= 56 && credit.receive() <= 56);
    assert!(port.waiting() <= 40 && port.push_room() <= 24);
    assert!(port.waiting() + usize::from(credit.receive()) <= 40, "credit is for places only");
}

fn transmit(port: &mut Fuzzed, now_ns: u64) -> Option<SpaceWireCharacter> {
    let before = port.credit().transmit();
    let sent = port.transmit(now_ns);
    if matches!(sent, Some(SpaceWireCharacter::NChar(_))) {
        assert_eq!(port.state(), SpaceWireState::Run);
        assert_eq!(port.credit().transmit() + 1, before, "an N-Char takes credit");
    }
    assert_eq!(sent.is_some(), port.transmits());
    sent
}

/// Both ends, a character at a time: it arrives when its sender is free again.
fn together(port: &mut Fuzzed, far: &mut Fuzzed, now_ns: &mut u64, steps: u32) {
    let mut wires = [None; 2];
    for _ in 0..steps {
        *now_ns += 400;
        let sent = [transmit(port, *now_ns), transmit(far, *now_ns)];
        for (to, wire, sent) in [(&mut *far, 0, sent[0]), (&mut *port, 1, sent[1])] {
            if sent.is_some() {
                to.signal(*now_ns, *now_ns + 400);
            }
            if let Some(character) = core::mem::replace(&mut wires[wire], sent) {
                to.receive(*now_ns, DecodedCharacter::Character(character));
            }
            to.poll(*now_ns);
        }
        while far.pop().is_some() {}
    }
}

crate::target!(|steps: Vec<Step>| {
    let mut now_ns = 0;
    let new = |now_ns| {
        Fuzzed::new(now_ns, SpaceWireControl::default(), SpaceWireTiming::NOMINAL, START_RATE_BPS)
    };
    let mut port = new(0);
    for step in steps {
        match step {
            Step::Wire(symbol) => {
                port.receive(now_ns, symbol.received());
            }
            Step::Transmit(count) => {
                for _ in 0..count {
                    now_ns += 100;
                    transmit(&mut port, now_ns);
                }
            }
            Step::Push(byte, end) => {
                let room = port.push_room();
                let n_char = if end { NChar::Eop } else { NChar::Data(byte) };
                assert!(port.push(n_char) || room == 0);
            }
            Step::Pop(count) => {
                for _ in 0..count {
                    let front = port.front();
                    assert_eq!(port.pop(), front);
                }
            }
            Step::Code(code) => {
                port.broadcast(BroadcastCode(code));
            }
            Step::Control([enabled, legacy_disable, link_start, auto_start, reset]) => {
                let control =
                    SpaceWireControl { enabled, legacy_disable, link_start, auto_start, reset };
                port.set_control(now_ns, control);
            }
            Step::Wait(ns) => {
                now_ns += u64::from(ns);
                port.poll(now_ns);
            }
            Step::Signal(ns) => port.signal(now_ns, now_ns + u64::from(ns)),
            Step::Silence => port.silence(now_ns),
            Step::Rate(rate) => port.set_run_rate_bps(rate.into()),
            Step::Start => {
                let mut far = new(now_ns);
                together(&mut port, &mut far, &mut now_ns, 60);
            }
        }
        check(&port);
        assert!(port.deadline_ns().is_none_or(|ns| ns > 0));
    }
    port.set_control(now_ns, SpaceWireControl::default());
    // Queued entries were discarded or delivered.
    let mut far = new(now_ns);
    for _ in 0..10 {
        together(&mut port, &mut far, &mut now_ns, 60);
        while port.pop().is_some() {}
    }
    assert_eq!([port.state(), far.state()], [SpaceWireState::Run; 2], "{:?}", port.errors());
});
