//! A lane and its code: any bits or words on the line, any management. In the end it comes up with
//! a far end that keeps the rules.

use arbitrary::Arbitrary;
use crate::link::{AnyWord, quick_lane};
use spfe_link::lane::{Lane, LaneCoder, LaneConfig, LaneState};
use spfe_link::{ControlWord, Word};

#[derive(Arbitrary, Debug)]
enum Step {
    Word(AnyWord),
    /// Many of the same, as in an initialisation.
    Words(AnyWord, u8),
    Bits(u64),
    Cut,
    Parameters([bool; 8], u8),
    FarEnd(bool, bool),
    Reset,
    Capability(u8),
    Realign,
}

fn period(lane: &mut Lane, code: &mut LaneCoder, line: Result<Option<Word>, u64>, offered: bool) {
    let word = offered.then_some(Word::data(1));
    let takes = lane.takes();
    let (sent, taken) = lane.transmit(word);
    assert_eq!(taken, takes && offered);
    let bits = code.transmit(sent);
    assert!(bits.is_none_or(|bits| bits < 1 << 40));
    let line = match line {
        Ok(line) => line,
        Err(bits) => code.receive(lane, Some(bits)),
    };
    let active = lane.is_active();
    let up = lane.receive(line);
    assert!(up.is_none() || active, "nothing goes up outside Active");
    if let Some(word) = up {
        let swallowed =
            [ControlWord::Skip, ControlWord::Idle, ControlWord::Init1, ControlWord::Init2];
        assert!(!swallowed.iter().any(|control| control.encode() == word));
        assert!(lane.is_active() || word == Word::RXERR, "RXERR as Active is left");
    }
}

crate::target!(|input: (bool, Vec<Step>)| {
    let (inverts_words, steps) = input;
    let config = LaneConfig { inverts_words, ..quick_lane() };
    let mut lane = Lane::new(config);
    let mut code = LaneCoder::new();
    for (number, step) in steps.into_iter().enumerate() {
        let offered = number % 3 != 0;
        match step {
            Step::Word(word) => period(&mut lane, &mut code, Ok(Some(word.0)), offered),
            Step::Words(word, count) => {
                for _ in 0..count {
                    period(&mut lane, &mut code, Ok(Some(word.0)), offered);
                }
            }
            Step::Bits(bits) => period(&mut lane, &mut code, Err(bits), offered),
            Step::Cut => period(&mut lane, &mut code, Ok(None), offered),
            Step::Parameters(flags, standby_reason) => {
                let p = &mut lane.parameters;
                [p.lane_start, p.auto_start, p.lane_reset, p.tx_en, ..] = flags;
                [.., p.rx_en, p.near_end_parallel_loopback, p.far_end_parallel_loopback, _] = flags;
                p.near_end_serial_loopback = flags[7];
                p.standby_reason = standby_reason;
            }
            Step::FarEnd(active, rx_only) => {
                lane.set_far_end_active(active);
                lane.set_rx_only(rx_only);
            }
            Step::Reset => lane.reset(),
            Step::Capability(bits) => lane.set_capability(bits),
            Step::Realign => lane.realign(),
        }
        if lane.take_far_end_capability().is_some() {
            assert!(lane.status().far_end_capability.is_some());
        }
    }
    // From wherever it is.
    lane.parameters = spfe_link::lane::LaneParameters::new();
    lane.set_far_end_active(false);
    lane.set_rx_only(false);
    let mut far = Lane::new(config);
    far.parameters.lane_start = true;
    for _ in 0..3000 {
        let words = [lane.transmit(None).0, far.transmit(None).0];
        lane.receive(words[1]);
        far.receive(words[0]);
    }
    assert_eq!([lane.state(), far.state()], [LaneState::Active; 2]);
});
