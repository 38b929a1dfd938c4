//! Files that the reader refuses, and its error messages.

use spfe_capture::*;

/// Reads until the end or the first error. An error must name a block inside the file.
pub fn read_all(bytes: &[u8]) -> Result<usize, ReadError> {
    let mut reader = CaptureReader::new(bytes);
    let mut count = 0;
    loop {
        match reader.record() {
            Ok(None) => return Ok(count),
            Ok(Some(record)) => {
                count += 1;
                match record.content {
                    RecordContent::Words(list) | RecordContent::Frame(list) => {
                        assert!(list.iter().count() < bytes.len());
                    }
                    RecordContent::Characters(list) => assert!(list.iter().count() < bytes.len()),
                    _ => {}
                }
            }
            Err(error) => {
                let (ReadError::Io { offset, .. }
                | ReadError::Block { offset, .. }
                | ReadError::Length { offset, .. }
                | ReadError::Record { offset, .. }) = error;
                assert!(offset < bytes.len() as u64, "{error}");
                assert!(error.to_string().contains(&offset.to_string()));
                return Err(error);
            }
        }
        assert!(count <= bytes.len() / 32, "no record without its bytes");
    }
}

fn sample() -> Vec<u8> {
    let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let interface = Interface { name: "a.1>b.2", description: "cable", speed_bps: Some(5) };
    let id = capture.interface(&interface).unwrap();
    capture.packet(1_234, id, &PacketRecord::new(b"abc", PacketEnd::Eop)).unwrap();
    capture.event(2_000, id, &LinkEvent::new(EventCode::NoSignal, 1).text("cut")).unwrap();
    capture.finish().unwrap().0
}

/// Start of each block.
fn blocks(file: &[u8]) -> Vec<usize> {
    let mut starts = vec![];
    let mut at = 0;
    while at < file.len() {
        starts.push(at);
        at += u32::from_le_bytes(file[at + 4..at + 8].try_into().unwrap()) as usize;
    }
    starts
}

#[test]
fn a_file_cut_anywhere_is_refused_unless_between_blocks() {
    let file = sample();
    let starts = blocks(&file);
    assert_eq!(starts.len(), 5);
    for length in 0..file.len() {
        let result = read_all(&file[..length]);
        if starts.contains(&length) {
            assert!(result.is_ok(), "{length}");
        } else {
            assert!(matches!(result, Err(ReadError::Io { .. })), "{length}: {result:?}");
        }
    }
    assert_eq!(read_all(&file).unwrap(), 2);
}

/// Changes one byte of a block, counted from the block's start, and returns the reader's error.
fn with(block: usize, byte: usize, value: u8) -> String {
    let mut file = sample();
    let at = blocks(&file)[block] + byte;
    assert_ne!(file[at], value);
    file[at] = value;
    read_all(&file).expect_err("refused").to_string()
}

#[test]
fn errors_name_the_block_and_the_cause() {
    let file = sample();
    let (interface, packet) = (blocks(&file)[1], blocks(&file)[2]);
    let at = |offset, text: &str| format!("block at byte {offset}: {text}");
    assert_eq!(with(0, 8, 0), at(0, "no byte-order magic"));
    assert_eq!(with(0, 12, 2), at(0, "version other than 1.0"));
    assert_eq!(with(0, 4, 13), at(0, "13 bytes long, must be 12 to 397312 in steps of 4"));
    assert_eq!(with(0, 0, 1), at(0, "no section header precedes it"));
    assert_eq!(with(1, 8, 1), at(interface, "link type other than 147"));
    assert_eq!(with(2, 8, 1), at(packet, "no such interface"));
    // The record starts 28 bytes after the start of its block.
    assert_eq!(with(2, 28, 0), at(packet, "record: starts with [00, 46], \"SF\" expected"));
    assert_eq!(with(2, 30, 2), at(packet, "record: version 2, only version 1 is known"));
    assert_eq!(
        with(2, 31, 31),
        at(packet, "record: header of 31 bytes, must be at least 32 and end within the record")
    );
    assert_eq!(with(2, 32, 9), at(packet, "record: kind 9 has no meaning"));
    assert_eq!(with(2, 36, 32), at(packet, "record: virtual channel 32 has no meaning"));
    // 234 ps, the low byte, and now 4 times 256.
    assert_eq!(with(2, 43, 4), at(packet, "record: sub-nanosecond 1258 has no meaning"));
    // The most significant byte of the time stamp.
    assert_eq!(with(2, 15, 0xff), at(packet, "a time after 213 days"));
    assert_eq!(
        with(2, 44, 4),
        at(packet, "record: 3 bytes of content do not match its kind and length")
    );
}

#[test]
fn big_endian_and_a_second_section_are_refused() {
    let mut file = sample();
    let section = file[..blocks(&file)[1]].to_vec();
    file.extend_from_slice(&section);
    assert!(read_all(&file).unwrap_err().to_string().contains("a second section"));
    let mut big = section;
    big[8..12].reverse();
    assert!(read_all(&big).unwrap_err().to_string().contains("big-endian"));
}

#[test]
fn unknown_blocks_are_skipped_and_unknown_events_read() {
    let mut file = sample();
    let unknown = [[0xad, 0xb, 0, 0], [16, 0, 0, 0], [1, 2, 3, 4], [16, 0, 0, 0]].concat();
    let place = blocks(&file)[2];
    file.splice(place..place, unknown);
    assert_eq!(read_all(&file).unwrap(), 2);
    // For an event of a later version the reader returns the number of its code.
    let mut file = sample();
    let place = blocks(&file)[3] + 28 + layout::HEADER + 1;
    file[place] = 0x7f;
    let mut reader = CaptureReader::new(&file[..]);
    reader.record().unwrap().unwrap();
    let record = reader.record().unwrap().unwrap();
    assert!(matches!(record.content, RecordContent::Event { code: None, number: 0x7f09, .. }));
}

#[test]
fn an_empty_packet_block_is_refused() {
    let mut file = sample()[..blocks(&sample())[2]].to_vec();
    file.extend_from_slice(&[[6, 0, 0, 0], [12, 0, 0, 0], [12, 0, 0, 0]].concat());
    assert!(read_all(&file).unwrap_err().to_string().ends_with("too short"));
}
