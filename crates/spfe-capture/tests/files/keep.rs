//! Limits of the writer: kept records, ranges of values, lengths of texts.

use crate::common::{Made, capture};
use spfe_capture::*;

/// Packets of one byte each, which holds the packet's number.
fn packets(count: u8) -> Vec<(u64, usize, Made)> {
    let packet = |number| Made::Packet {
        bytes: vec![number],
        end: PacketEnd::Eop,
        vc: None,
        network: None,
        id: 0,
        flags: 0,
    };
    (0..count).map(|n| (u64::from(n), usize::from(n % 2), packet(n))).collect()
}

fn numbers(file: &[u8]) -> (Vec<u8>, u64) {
    let mut reader = CaptureReader::new(file);
    let mut numbers = vec![];
    while let Some(record) = reader.record().unwrap() {
        let RecordContent::Packet(&[number]) = record.content else { panic!("{record:?}") };
        numbers.push(number);
    }
    (numbers, reader.interfaces().iter().filter_map(|one| one.left_out).sum())
}

/// Size of such a packet's block: 28 bytes before the record, pseudo-header, padded content, end of
/// options, length.
const BLOCK: usize = 28 + 32 + 4 + 8 + 4 + 4;

#[test]
fn the_beginning_is_kept() {
    for (bytes, kept) in [(0, 0), (BLOCK - 1, 0), (BLOCK, 1), (3 * BLOCK, 3), (4 * BLOCK - 1, 3)] {
        let keep = Keep::First(bytes as u64);
        let (file, summary) =
            capture(&WriterOptions { keep, ..WriterOptions::default() }, &packets(10));
        assert_eq!(numbers(&file), ((0..kept).collect(), 10 - u64::from(kept)), "{bytes}");
        assert_eq!((summary.records, summary.left_out), (kept.into(), 10 - u64::from(kept)));
    }
}

#[test]
fn the_end_is_kept() {
    for (bytes, kept) in [(0, 0), (BLOCK - 1, 0), (BLOCK, 1), (3 * BLOCK + 1, 3), (usize::MAX, 10)]
    {
        let keep = Keep::Last(bytes);
        let (file, summary) =
            capture(&WriterOptions { keep, ..WriterOptions::default() }, &packets(10));
        assert_eq!(numbers(&file), ((10 - kept..10).collect(), 10 - u64::from(kept)), "{bytes}");
        assert_eq!((summary.records, summary.left_out), (kept.into(), 10 - u64::from(kept)));
    }
}

#[test]
fn values_out_of_range_are_refused() {
    let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let interface = Interface { name: "a", description: "", speed_bps: None };
    let id = capture.interface(&interface).unwrap();
    let packet = PacketRecord::new(b"x", PacketEnd::Eop);
    let wrong = [
        (PacketRecord { vc: Some(32), ..packet }, "virtual channel: 32, at most 31"),
        (PacketRecord { network: Some(64), ..packet }, "virtual network: 64, at most 63"),
        (
            PacketRecord { flags: layout::flag::TRUNCATED, ..packet },
            "flags: 0x0004, only 0x003b can be set",
        ),
    ];
    for (packet, text) in wrong {
        assert_eq!(capture.packet(0, id, &packet).unwrap_err().to_string(), text);
    }
    let words = WordsRecord {
        words: &[LineWord::default()],
        period_ps: 1,
        first: 0,
        lane: 16,
        lanes: 0,
        direction: RecordDirection::Sent,
        flags: 0,
    };
    let error = capture.words(0, id, &words).unwrap_err();
    assert_eq!(error.to_string(), "lane: 16, at most 15");
    let error = capture.words(0, id, &WordsRecord { lane: 0, lanes: 17, ..words }).unwrap_err();
    assert_eq!(error.to_string(), "lanes: 17, at most 16");
    // Nothing of that is in the file.
    assert_eq!(capture.finish().unwrap().1, CaptureSummary::default());
}

#[test]
fn an_interface_of_another_capture_is_refused() {
    let new = || CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let (mut one, mut other) = (new(), new());
    let interface = Interface { name: "a", description: "", speed_bps: None };
    let id = one.interface(&interface).unwrap();
    let error = other.packet(0, id, &PacketRecord::new(b"", PacketEnd::Eop)).unwrap_err();
    let text = "interface 0: the capture has 0 interfaces; add it before its records";
    assert_eq!(error.to_string(), text);
}

#[test]
fn options_out_of_range_are_refused() {
    for (snaplen, good) in [(63, false), (64, true), (262_144, true), (262_145, false)] {
        let options = WriterOptions { snaplen, ..WriterOptions::default() };
        assert_eq!(CaptureWriter::new(Vec::new(), &options).is_ok(), good, "{snaplen}");
    }
    let long = "x".repeat(65_536);
    let options = WriterOptions { comment: &long, ..WriterOptions::default() };
    let error = CaptureWriter::new(Vec::new(), &options).err().expect("too long");
    assert_eq!(error.to_string(), "comment: 65536 bytes, at most 65535");
    let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let name = Interface { name: &long, description: "", speed_bps: None };
    assert!(matches!(capture.interface(&name), Err(CaptureError::Text { .. })));
    // The longest that fit are read again.
    let (name, description) = (&long[1..], &long[1..]);
    capture.interface(&Interface { name, description, speed_bps: Some(1) }).unwrap();
    let (file, _) = capture.finish().unwrap();
    let mut reader = CaptureReader::new(&file[..]);
    assert!(reader.record().unwrap().is_none());
    assert_eq!(reader.interfaces()[0].description.len(), 65_535);
}

#[test]
fn a_writer_that_fails_is_reported() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut capture = CaptureWriter::new(Full(200), &WriterOptions::default()).unwrap();
    let interface = Interface { name: "a", description: "", speed_bps: None };
    let id = capture.interface(&interface).unwrap();
    let failed =
        (0..10).find_map(|_| capture.packet(0, id, &PacketRecord::new(b"", PacketEnd::Eop)).err());
    assert!(matches!(failed, Some(CaptureError::Io(_))));
}
