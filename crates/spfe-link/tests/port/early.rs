//! Start-up against an end that goes to Active too early: after three INIT3 received, however many
//! it has sent, and without the first words after that. A public core does this.

use crate::bench::end_with;
use spfe_link::control::ControlWord;
use spfe_link::datalink::DataLinkConfig;
use spfe_link::lane::{LaneState, capability};
use spfe_link::multilane::{Interop, MultiLaneConfig};
use spfe_link::word::Word;
use std::collections::VecDeque;

/// Words that the early end loses when it goes to Active.
const LOST: u32 = 5;
/// Data words after each INIT1, INIT2 and INIT3.
const FILLER: u32 = 64;
/// Words within which a start must succeed: less than an initialisation time-out, so that there is
/// one attempt.
const ATTEMPT: u32 = 4500;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Started,
    Connecting,
    Connected,
    Active,
}

/// A behavioural model of the early end.
struct EarlyEnd {
    state: State,
    good: u32,
    init: bool,
    init2: u32,
    init3: u32,
    filler: u32,
    lost: u32,
    /// Numbers of the FCTs that it received.
    fcts: Vec<u8>,
    restarted: bool,
}

impl EarlyEnd {
    fn new() -> Self {
        let state = State::Started;
        let fcts = Vec::new();
        Self {
            state,
            good: 0,
            init: false,
            init2: 0,
            init3: 0,
            filler: 0,
            lost: LOST,
            fcts,
            restarted: false,
        }
    }

    fn transmit(&mut self) -> Word {
        if self.state != State::Active && self.filler != 0 {
            self.filler -= 1;
            return Word::data(self.filler);
        }
        self.filler = FILLER;
        let control = match self.state {
            State::Started => ControlWord::Init1,
            State::Connecting => ControlWord::Init2,
            State::Connected => ControlWord::Init3 { capability: capability::LINK_RESET },
            State::Active => ControlWord::Idle,
        };
        control.encode()
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.filler = 0;
    }

    fn receive(&mut self, line: Option<Word>) {
        let Some(word) = line else { return };
        let control = ControlWord::decode(word);
        self.good += 1;
        self.init |= matches!(control, Some(ControlWord::Init1 | ControlWord::Init2));
        match self.state {
            State::Active if self.lost != 0 => self.lost -= 1,
            State::Active => match control {
                Some(ControlWord::Fct { seq, .. }) => self.fcts.push(seq),
                Some(ControlWord::Init1 | ControlWord::LostSignal { .. }) => self.restarted = true,
                _ => {}
            },
            State::Started if self.good >= 1023 && self.init => self.enter(State::Connecting),
            State::Started => {}
            State::Connecting | State::Connected => {
                self.init2 += u32::from(control == Some(ControlWord::Init2));
                self.init3 += u32::from(matches!(control, Some(ControlWord::Init3 { .. })));
                if self.state == State::Connected && self.init3 >= 3 {
                    self.enter(State::Active);
                } else if self.state == State::Connecting && (self.init2 >= 3 || self.init3 >= 3) {
                    self.enter(State::Connected);
                }
            }
        }
    }
}

/// Whether a link with such a far end comes up in one attempt and loses none of our words. The far
/// end starts `later` words after us, and words take `delay` periods.
fn starts(interop: Interop, later: u32, delay: usize) -> bool {
    let lanes = MultiLaneConfig::new().with_interop(interop);
    let mut near = end_with::<1>(&lanes, DataLinkConfig::default());
    near.lanes.lanes_mut()[0].parameters.lane_start = true;
    let mut far = EarlyEnd::new();
    let wire = || VecDeque::from(vec![None; delay]);
    let (mut out, mut back) = (wire(), wire());
    let mut was_active = false;
    for period in 0..later + ATTEMPT {
        let [sent] = near.transmit();
        out.push_back(sent);
        back.push_back((period >= later).then(|| far.transmit()));
        near.receive([back.pop_front().flatten()]);
        if period >= later {
            far.receive(out.pop_front().flatten());
        } else {
            out.pop_front();
        }
        let active = near.lanes.lanes()[0].state() == LaneState::Active;
        if was_active && !active {
            return false;
        }
        was_active = active;
    }
    was_active && !far.restarted && far.fcts.first() == Some(&1)
}

/// Starts that succeed, of 200 with different phases and delays.
fn successes(interop: Interop) -> usize {
    let cases = (0..200u32).map(|case| (313 + case * 37 % 331, 3 + (case * 7 % 23) as usize));
    cases.filter(|(later, delay)| starts(interop, *later, *delay)).count()
}

#[test]
fn the_lenient_profile_starts_with_an_early_far_end() {
    let standard = successes(Interop::Standard);
    assert!(standard < 100, "{standard} of 200 starts succeed without the profile");
    assert_eq!(successes(Interop::Lenient), 200);
}
