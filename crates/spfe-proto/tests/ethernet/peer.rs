//! Two ends find out what the other one understands.

use proptest::prelude::*;
use spfe_proto::ethernet::{
    ASK_TRIES, EthernetHello, EthernetPeer, EthernetPeerState, Heard, HelloFlags,
};
use std::collections::VecDeque;

/// A program at an end of the link: version 1, or version 2 with what it knows.
#[derive(Clone, Copy, Debug)]
enum Program {
    First { wrong: u64 },
    Second { peer: EthernetPeer, sent: bool },
}

impl Program {
    fn new(second: bool) -> Self {
        if second {
            Self::Second { peer: EthernetPeer::default(), sent: false }
        } else {
            Self::First { wrong: 0 }
        }
    }

    fn state(&self) -> Option<EthernetPeerState> {
        match self {
            Self::First { .. } => None,
            Self::Second { peer, .. } => Some(peer.state()),
        }
    }
}

fn hello(flags: HelloFlags) -> Heard {
    Heard::Hello(EthernetHello { flags, version: 2, ..EthernetHello::default() })
}

/// A link: packets keep their order.
#[derive(Debug)]
struct Link {
    ends: [Program; 2],
    /// To end 0 and to end 1.
    way: [VecDeque<Heard>; 2],
}

impl Link {
    fn new(seconds: [bool; 2]) -> Self {
        Self { ends: seconds.map(Program::new), way: [VecDeque::new(), VecDeque::new()] }
    }

    fn tick(&mut self, end: usize) {
        if let Program::Second { peer, sent } = &mut self.ends[end] {
            let flags = peer.tick(std::mem::take(sent));
            self.way[1 - end].extend(flags.map(hello));
        }
    }

    fn send(&mut self, end: usize) {
        let frame = match &mut self.ends[end] {
            Program::First { .. } => Heard::First,
            Program::Second { peer, sent } => {
                *sent = true;
                if peer.state() == EthernetPeerState::Second { Heard::Second } else { Heard::First }
            }
        };
        self.way[1 - end].push_back(frame);
    }

    fn deliver(&mut self, end: usize) {
        let Some(heard) = self.way[end].pop_front() else { return };
        match &mut self.ends[end] {
            Program::First { wrong } => *wrong += u64::from(heard != Heard::First),
            Program::Second { peer, .. } => {
                let flags = peer.hear(heard);
                self.way[1 - end].extend(flags.map(hello));
            }
        }
    }

    /// An interval: both ends send a frame, everything arrives, both look.
    fn interval(&mut self) {
        for end in [0, 1] {
            self.send(end);
        }
        for _ in 0..1000 {
            if self.way.iter().all(VecDeque::is_empty) {
                break;
            }
            for end in [0, 1] {
                self.deliver(end);
            }
        }
        assert!(self.way.iter().all(VecDeque::is_empty), "hellos without end");
        for end in [0, 1] {
            self.tick(end);
        }
    }
}

#[test]
fn two_of_version_2_agree_at_once() {
    let mut link = Link::new([true, true]);
    link.tick(0);
    link.deliver(1);
    assert_eq!(link.ends[1].state(), Some(EthernetPeerState::Second));
    link.deliver(0);
    assert_eq!(link.ends[0].state(), Some(EthernetPeerState::Second));
}

#[test]
fn version_1_is_found_by_its_silence() {
    let mut link = Link::new([true, false]);
    for interval in 0..=ASK_TRIES {
        assert_eq!(link.ends[0].state(), Some(EthernetPeerState::Asking), "interval {interval}");
        link.interval();
    }
    assert_eq!(link.ends[0].state(), Some(EthernetPeerState::First));
    for _ in 0..100 {
        link.interval();
    }
    let Program::First { wrong } = link.ends[1] else { unreachable!() };
    assert_eq!(wrong, u64::from(ASK_TRIES), "it asks no more");
}

#[test]
fn a_far_end_that_becomes_version_1_is_found_by_its_first_frame() {
    let mut link = Link::new([true, true]);
    for _ in 0..3 {
        link.interval();
    }
    link.ends[1] = Program::new(false);
    link.send(1);
    link.deliver(0);
    assert_eq!(link.ends[0].state(), Some(EthernetPeerState::Asking));
}

/// A far end of version 1 that says nothing is found by frames without an answer.
#[test]
fn a_far_end_that_says_nothing_becomes_version_1() {
    let mut link = Link::new([true, true]);
    for _ in 0..3 {
        link.interval();
    }
    link.ends[1] = Program::new(false);
    let mut intervals = 0;
    while link.ends[0].state() != Some(EthernetPeerState::First) {
        link.send(0);
        link.tick(0);
        intervals += 1;
        assert!(intervals <= 2 * ASK_TRIES + 1);
    }
    // Without frames there is nothing to find out.
    let mut link = Link::new([true, true]);
    for _ in 0..3 {
        link.interval();
    }
    for _ in 0..100 {
        link.tick(0);
    }
    assert_eq!(link.ends[0].state(), Some(EthernetPeerState::Second));
}

#[derive(Clone, Debug)]
enum Step {
    Tick(usize),
    Send(usize),
    Deliver(usize),
    /// Another program takes the place of an end; the flag is its version 2.
    Replace(usize, bool),
    /// What is on its way to an end is lost, as when a link is reset.
    Lose(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..2usize).prop_map(Step::Tick),
        (0..2usize).prop_map(Step::Send),
        (0..2usize).prop_map(Step::Deliver),
        (0..2usize).prop_map(Step::Deliver),
        (0..2usize, any::<bool>()).prop_map(|(end, second)| Step::Replace(end, second)),
        (0..2usize).prop_map(Step::Lose),
    ]
}

proptest! {
    /// Whatever happened before: within a bounded time both know each other, and a far end of
    /// version 1 gets only what it understands.
    #[test]
    fn both_ends_find_out(steps in prop::collection::vec(step(), 0..80)) {
        let mut link = Link::new([true, true]);
        for step in steps {
            match step {
                Step::Tick(end) => link.tick(end),
                Step::Send(end) => link.send(end),
                Step::Deliver(end) => link.deliver(end),
                Step::Replace(end, second) => link.ends[end] = Program::new(second),
                Step::Lose(end) => link.way[end].clear(),
            }
        }
        for _ in 0..3 * ASK_TRIES {
            link.interval();
        }
        let [a, b] = link.ends.map(|end| end.state());
        match (a, b) {
            (Some(a), Some(b)) => prop_assert_eq!((a, b), (EthernetPeerState::Second, EthernetPeerState::Second)),
            (Some(one), None) | (None, Some(one)) => prop_assert_eq!(one, EthernetPeerState::First),
            (None, None) => {}
        }
        let wrong = |link: &Link| link.ends.map(|end| match end {
            Program::First { wrong } => wrong,
            Program::Second { .. } => 0,
        });
        let before = wrong(&link);
        for _ in 0..20 {
            link.interval();
        }
        prop_assert_eq!(wrong(&link), before);
    }
}
