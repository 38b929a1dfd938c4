//! FCTs and their credit (50-11C 5.7.3), word by word against a scripted far end.

use crate::channels::end;
use spfe_link::control::ControlWord;
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, DataLinkConfigError, LinkResetState};
use spfe_link::word::Word;
use spfe_link::{ReceivedRow, Row};

type Store = Vec<Word>;

/// Runs the link reset.
fn start<const V: usize>(link: &mut DataLink<Store, 1, V>) {
    for _ in 0..3 {
        link.transmit(0);
        link.take_lane_reset();
    }
    link.far_end_capability(0, 1, false);
    assert_eq!(link.reset_state(), LinkResetState::LinkInitialised);
}

fn control(word: Word) -> ReceivedRow<1> {
    ReceivedRow::Control { word, crc16_good: true }
}

fn sent(row: Option<Row<1>>) -> Option<ControlWord> {
    match row {
        Some(Row::Control(word)) => ControlWord::decode(word),
        _ => None,
    }
}

#[test]
fn fcts_go_round_robin() {
    let mut link = end::<32>(5).unwrap();
    start(&mut link);
    let channels: Vec<u8> = (0..100)
        .filter_map(|_| match sent(link.transmit(1)) {
            Some(ControlWord::Fct { vc, .. }) => Some(vc),
            _ => None,
        })
        .collect();
    let turns: Vec<u8> = (0..20).map(|turn| turn % 5).collect();
    assert_eq!(channels, turns, "room for four in each of five channels");
}

fn with_limit(fct_credit_limit_words: u32) -> Result<DataLink<Store, 1, 1>, DataLinkConfigError> {
    let memory = || vec![Word::default(); 256];
    let buffers = Buffers { output: [memory()], input: [memory()], recovery: memory() };
    DataLink::new(DataLinkConfig { fct_credit_limit_words, ..DataLinkConfig::default() }, buffers)
}

#[test]
fn credit_above_the_limit_is_lost_with_a_status() {
    assert_eq!(
        with_limit(255).err(),
        Some(DataLinkConfigError::FctCreditLimit),
        "four FCTs at least"
    );
    let mut link = with_limit(300).unwrap();
    start(&mut link);
    let fct = |seq| control(ControlWord::Fct { multiplier: 1, vc: 0, seq, crc: 0 }.sealed());
    for seq in 1..=4 {
        link.receive(fct(seq));
        assert_eq!(link.fct_credit(0), 64 * u32::from(seq));
    }
    assert_eq!(link.status().fct_credit_overflow, 0);
    for seq in 5..=6 {
        link.receive(fct(seq));
        assert_eq!(link.fct_credit(0), 300);
    }
    let status = link.status();
    assert_eq!((status.fct_credit_overflow, status.errors.fct_credit_overflow), (1, 2));
    assert_eq!(link.sequence().count(), 6, "both are accepted");
    assert_eq!(link.reset_state(), LinkResetState::LinkInitialised);
    assert!(!link.take_lane_reset());
}

/// Number of words that a far end with a limited credit counter sends in some word periods.
fn far_end_with(limit: usize, periods: usize) -> usize {
    let mut link = end::<1>(0).unwrap();
    start(&mut link);
    let (mut credit, mut count, mut ack) = (0, 0u8, None);
    // Words left in the frame in progress; `None` between frames.
    let mut frame: Option<usize> = None;
    let (mut total, mut words) = (0, [Word::default(); 64]);
    for _ in 0..periods {
        match sent(link.transmit(1)) {
            Some(ControlWord::Fct { vc: 0, multiplier: 1, seq, .. }) => {
                credit = (credit + 64).min(limit);
                ack = Some(seq);
            }
            Some(ControlWord::Nack { .. }) => panic!("NACK"),
            _ => {}
        }
        let row = if let Some(seq) = ack.take() {
            control(ControlWord::Ack { seq, crc: 0 }.sealed())
        } else {
            match frame {
                None if credit == 0 => continue,
                None => {
                    frame = Some(credit.min(64));
                    credit -= credit.min(64);
                    control(ControlWord::Sdf { vc: 0 }.encode())
                }
                Some(0) => {
                    frame = None;
                    count = (count + 1) & 0x7f;
                    control(ControlWord::Edf { seq: count, crc: 0 }.encode())
                }
                Some(left) => {
                    frame = Some(left - 1);
                    ReceivedRow::Data { words: [Word::data(0)], count: 1 }
                }
            }
        };
        link.receive(row);
        total += link.read(0, &mut words);
    }
    assert_eq!(link.reset_state(), LinkResetState::LinkInitialised);
    total
}

#[test]
fn a_far_end_with_a_small_credit_counter_works() {
    let full = far_end_with(65_535, 50_000);
    let short = far_end_with(255, 50_000);
    assert!(full > 45_000, "{full}");
    assert!(short.abs_diff(full) < full / 100, "{short} words, {full} with a wide counter");
}
