//! Round trips of whole files, and damaged files.

mod common;
mod ethernet;
mod keep;
mod layout;
mod strict;

use common::{NAMES, capture, records};
use proptest::prelude::*;
use spfe_capture::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn reading_returns_what_was_written(
        records in records(20),
        snaplen in 64u32..400,
        start_s in any::<i64>(),
    ) {
        let options = WriterOptions { snaplen, start_s, comment: "seed 7", ..WriterOptions::default() };
        let (file, summary) = capture(&options, &records);
        let mut reader = CaptureReader::new(&file[..]);
        for (time_ps, interface, made) in &records {
            made.expect(&mut reader, *time_ps, *interface as u32, snaplen as usize);
        }
        prop_assert!(reader.record().unwrap().is_none());
        prop_assert_eq!(reader.comment(), "seed 7");
        let names: Vec<_> = reader.interfaces().iter().map(|one| one.name.as_str()).collect();
        prop_assert_eq!(names, NAMES);
        prop_assert!(reader.interfaces().iter().all(|one| one.start_s == start_s));
        let received: u64 = reader.interfaces().iter().filter_map(|one| one.received).sum();
        prop_assert_eq!((summary.records, summary.left_out), (received, 0));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = strict::read_all(&bytes);
    }

    #[test]
    fn damaged_files_are_refused_or_read(
        records in records(6),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (mut file, _) = capture(&WriterOptions::default(), &records);
        for (place, value) in damage {
            let place = place.index(file.len());
            file[place] = value;
        }
        let _ = strict::read_all(&file);
    }
}

#[test]
fn a_batch_writes_when_full_and_at_gaps() {
    let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let interface = Interface { name: "a", description: "", speed_bps: Some(1) };
    let id = capture.interface(&interface).unwrap();
    let run = WordsRecord {
        words: &[],
        period_ps: 10,
        first: 0,
        lane: 3,
        lanes: 4,
        direction: RecordDirection::Sent,
        flags: 0,
    };
    let mut batch = RecordBatch::new(id, 4);
    // Six consecutive words, a gap, one more word.
    for time_ps in [100, 110, 120, 130, 140, 150, 170] {
        batch.push(&mut capture, time_ps, run, LineWord::from(None)).unwrap();
    }
    batch.flush(&mut capture, run).unwrap();
    batch.flush(&mut capture, run).unwrap();
    let (file, _) = capture.finish().unwrap();
    let mut reader = CaptureReader::new(&file[..]);
    for (time_ps, first, count) in [(100, 0, 4), (140, 4, 2), (170, 6, 1)] {
        let record = reader.record().unwrap().unwrap();
        let header = record.header;
        assert_eq!((record.time_ps, header.id, header.length), (time_ps, first, count));
        assert_eq!((header.lane, header.period_ps), (Some(3), 10));
    }
    assert!(reader.record().unwrap().is_none());
}

#[test]
fn characters_follow_each_other_by_their_length() {
    use spfe_link::spacewire::SpaceWireCharacter as C;
    let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let interface = Interface { name: "a", description: "", speed_bps: None };
    let id = capture.interface(&interface).unwrap();
    let run = CharactersRecord {
        characters: &[],
        bit_ps: 5,
        first: 0,
        direction: RecordDirection::Received,
        flags: 0,
    };
    let mut batch = RecordBatch::new(id, 100);
    // A NULL has 8 bits and an FCT has 4. One bit period is missing before the last NULL.
    for (time_ps, character) in [(0, C::Null), (40, C::Fct), (60, C::Null), (105, C::Null)] {
        batch.push(&mut capture, time_ps, run, LineCharacter::Good(character)).unwrap();
    }
    batch.flush(&mut capture, run).unwrap();
    let (file, summary) = capture.finish().unwrap();
    assert_eq!(summary.records, 2);
    let mut reader = CaptureReader::new(&file[..]);
    assert_eq!(reader.record().unwrap().unwrap().header.length, 3);
    assert_eq!(reader.record().unwrap().unwrap().time_ps, 105);
}
