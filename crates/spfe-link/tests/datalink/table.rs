//! Every cell of the table of the data word identification (50-11C 5.7.8).

use spfe_link::datalink::IdentificationState::{
    self as State, RxBroadcastAndDataFrame as BD, RxBroadcastFrame as B, RxDataFrame as D,
    RxIdleFrame as I, RxNothing as N,
};
use spfe_link::datalink::{
    Acknowledgement, CheckedWord, Identification, ReceiveError, Sequence, WordVerdict,
};

const STATES: [State; 5] = [N, D, B, BD, I];

/// A machine in a given state, with two words in its broadcast frame if it is in one.
fn at(state: State) -> Identification {
    let mut machine = Identification::new(64);
    let events: &[CheckedWord] = match state {
        N => &[],
        D => &[CheckedWord::Sdf],
        B => &[CheckedWord::Sbf, CheckedWord::Data(1), CheckedWord::Data(1)],
        BD => &[CheckedWord::Sdf, CheckedWord::Sbf, CheckedWord::Data(1), CheckedWord::Data(1)],
        I => &[CheckedWord::Sif { crc: true, seq: true }],
    };
    for event in events {
        assert_eq!(machine.step(*event), WordVerdict::Accept);
    }
    assert_eq!(machine.state(), state);
    machine
}

/// One row of the table: verdict and next state, in the order of `STATES`.
fn row(event: CheckedWord, cells: [(WordVerdict, State); 5]) {
    for (state, (outcome, next)) in STATES.into_iter().zip(cells) {
        let mut machine = at(state);
        assert_eq!(machine.step(event), outcome, "{event:?} in {state:?}");
        assert_eq!(machine.state(), next, "{event:?} in {state:?}");
    }
}

const OK: fn(State) -> (WordVerdict, State) = |next| (WordVerdict::Accept, next);
const FE: (WordVerdict, State) = (WordVerdict::FrameError, N);
const SE: (WordVerdict, State) = (WordVerdict::SequenceError, N);
const CE: (WordVerdict, State) = (WordVerdict::CrcError { nack: false }, N);
const CE_NACK: (WordVerdict, State) = (WordVerdict::CrcError { nack: true }, N);
const IGNORE: (WordVerdict, State) = (WordVerdict::Ignore, N);

#[test]
fn starts_of_frames() {
    row(CheckedWord::Sdf, [OK(D), FE, FE, FE, OK(D)]);
    row(CheckedWord::Sbf, [OK(B), OK(BD), FE, FE, OK(B)]);
    row(CheckedWord::Sif { crc: true, seq: true }, [OK(I), FE, FE, FE, OK(I)]);
    row(CheckedWord::Sif { crc: true, seq: false }, [SE; 5]);
    for seq in [false, true] {
        row(CheckedWord::Sif { crc: false, seq }, [CE, CE_NACK, CE_NACK, CE_NACK, CE]);
    }
}

#[test]
fn ends_of_frames() {
    row(CheckedWord::Edf { crc: true, seq: true }, [IGNORE, OK(N), FE, FE, FE]);
    row(CheckedWord::Edf { crc: true, seq: false }, [IGNORE, SE, FE, FE, FE]);
    row(CheckedWord::Ebf { crc: true, seq: true }, [IGNORE, FE, OK(N), OK(D), FE]);
    row(CheckedWord::Ebf { crc: true, seq: false }, [IGNORE, FE, SE, SE, FE]);
    for seq in [false, true] {
        row(CheckedWord::Edf { crc: false, seq }, [IGNORE, CE_NACK, FE, FE, FE]);
        row(CheckedWord::Ebf { crc: false, seq }, [IGNORE, FE, CE_NACK, CE_NACK, FE]);
    }
}

#[test]
fn broadcast_frame_with_too_few_words() {
    for before in [None, Some(CheckedWord::Sdf)] {
        for words in 0..2 {
            let mut machine = Identification::new(64);
            for event in before.into_iter().chain([CheckedWord::Sbf]) {
                machine.step(event);
            }
            for _ in 0..words {
                assert_eq!(machine.step(CheckedWord::Data(1)), WordVerdict::Accept);
            }
            assert_eq!(
                machine.step(CheckedWord::Ebf { crc: true, seq: true }),
                WordVerdict::FrameError
            );
            assert_eq!(machine.state(), N);
        }
    }
}

#[test]
fn single_words() {
    row(CheckedWord::Single { crc: true, seq: true }, [OK(N), OK(D), OK(B), OK(BD), OK(I)]);
    row(CheckedWord::Single { crc: true, seq: false }, [SE; 5]);
    for seq in [false, true] {
        row(CheckedWord::Single { crc: false, seq }, [CE, CE_NACK, CE_NACK, CE_NACK, CE]);
    }
    row(CheckedWord::Retry, [OK(N), OK(N), OK(N), OK(N), OK(N)]);
    let quiet = (WordVerdict::RxErr { nack: false }, N);
    let nack = (WordVerdict::RxErr { nack: true }, N);
    row(CheckedWord::RxErr, [quiet, nack, nack, nack, quiet]);
}

#[test]
fn data_words() {
    row(CheckedWord::Data(1), [IGNORE, OK(D), FE, FE, OK(I)]);
    for state in [D, I] {
        let mut machine = at(state);
        for _ in 0..64 {
            assert_eq!(machine.step(CheckedWord::Data(1)), WordVerdict::Accept);
        }
        assert_eq!(
            machine.step(CheckedWord::Data(1)),
            WordVerdict::FrameError,
            "65 words in {state:?}"
        );
        assert_eq!(machine.state(), N);
    }
    // The words of an embedded broadcast frame do not count for the data frame.
    let mut machine = at(D);
    machine.step(CheckedWord::Data(63));
    for event in [CheckedWord::Sbf, CheckedWord::Data(1), CheckedWord::Data(1)] {
        machine.step(event);
    }
    machine.step(CheckedWord::Ebf { crc: true, seq: true });
    assert_eq!(machine.step(CheckedWord::Data(1)), WordVerdict::Accept);
    assert_eq!(machine.step(CheckedWord::Data(1)), WordVerdict::FrameError);
}

/// The receive error state machine, from every state.
#[test]
fn receive_errors() {
    use ReceiveError::{ErrorNegative, ErrorPositive, ValidNegative, ValidPositive};
    let reach = |state| {
        let mut sequence = Sequence::new();
        match state {
            ValidPositive => {}
            ErrorNegative => sequence.request_nack(),
            ValidNegative => {
                sequence.request_nack();
                sequence.request_ack();
            }
            ErrorPositive => {
                sequence.request_nack();
                sequence.request_ack();
                sequence.request_nack();
            }
        }
        assert_eq!(sequence.state(), state);
        sequence
    };
    // Start state; next states after an ACK request, a NACK request, and a wrong number of polarity
    // 0 and 1.
    let table = [
        (ValidPositive, [ValidPositive, ErrorNegative, ErrorNegative, ErrorNegative]),
        (ValidNegative, [ValidNegative, ErrorPositive, ErrorPositive, ErrorPositive]),
        (ErrorPositive, [ValidPositive, ErrorPositive, ErrorNegative, ErrorPositive]),
        (ErrorNegative, [ValidNegative, ErrorNegative, ErrorNegative, ErrorPositive]),
    ];
    for (from, after) in table {
        for (action, expected) in after.into_iter().enumerate() {
            let mut sequence = reach(from);
            match action {
                0 => sequence.request_ack(),
                1 => sequence.request_nack(),
                2 => sequence.sequence_error(0x10),
                _ => sequence.sequence_error(0x90),
            }
            assert_eq!(sequence.state(), expected, "{from:?}, action {action}");
            let negative = matches!(expected, ValidNegative | ErrorNegative);
            assert_eq!(sequence.is_negative(), negative);
            let reply = if action == 0 { Acknowledgement::Ack } else { Acknowledgement::Nack };
            assert_eq!(sequence.reply(), reply);
            assert_eq!(sequence.reply_seq(), u8::from(negative == (action == 0)) << 7);
        }
    }
}

/// Seen from outside: unknown control words, and words of the layers below, are ignored everywhere.
#[test]
fn unknown_words_are_ignored() {
    use crate::harness::{Link, sizes};
    use spfe_link::datalink::DataLinkConfig;
    use spfe_link::{ControlWord, ReceivedRow, Word};
    let control = |word| ReceivedRow::Control { word, crc16_good: true };
    let unknown = [
        Word::from_symbols([0xfc, 0x84, 0, 0], 1),
        Word::from_symbols([0x3c, 0, 0, 0], 1),
        Word::from_symbols([0, 0xfc, 0, 0], 2),
        ControlWord::Skip.encode(),
        ControlWord::Idle.encode(),
        ControlWord::Active { lanes: 1 }.encode(),
        ControlWord::Pad.encode(),
    ];
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    link.run(200);
    let dl = &mut link.ends[1].dl;
    let starts: [&[Word]; 5] = [
        &[ControlWord::Retry.encode()],
        &[ControlWord::Sdf { vc: 0 }.encode()],
        &[ControlWord::Sbf { channel: 0, kind: 0 }.encode()],
        &[ControlWord::Sdf { vc: 0 }.encode(), ControlWord::Sbf { channel: 0, kind: 0 }.encode()],
        &[ControlWord::Sif { seq: dl.sequence().count(), crc: 0 }.sealed()],
    ];
    for (start, state) in starts.into_iter().zip(STATES) {
        dl.receive(control(ControlWord::Retry.encode()));
        start.iter().for_each(|word| dl.receive(control(*word)));
        for word in unknown {
            dl.receive(control(word));
            assert_eq!(dl.identification(), state, "{word:?}");
        }
    }
    assert!(!dl.status().frame_error && !dl.status().sequence_error);
}
