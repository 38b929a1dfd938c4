//! Ethernet frames in a pcapng file, written without pseudo-headers.

use spfe_capture::pcapng::{ETHERNET, PcapngWriter, packet_flag};
use spfe_capture::{CaptureError, Interface, Keep, WriterOptions};

const LINE: Interface<'_> = Interface { name: "tap0", description: "", speed_bps: None };

/// The types and bodies of a file's blocks. Checks both lengths of each block.
fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut blocks = vec![];
    let mut at = 0;
    while at < file.len() {
        let length = word(at + 4) as usize;
        assert_eq!(word(at + length - 4) as usize, length);
        blocks.push((word(at), &file[at + 8..at + length - 4]));
        at += length;
    }
    blocks
}

#[test]
fn a_frame_is_stored_with_its_time_and_flags() {
    let mut file = PcapngWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let id = file.interface(ETHERNET, &LINE).unwrap();
    let time_ps = 0x0012_1314_1516_1718 * 1000 + 999;
    let flags = packet_flag::OUTBOUND | packet_flag::CRC_ERROR;
    file.packet(time_ps, id, &[7; 61], flags).unwrap();
    let (bytes, summary) = file.finish().unwrap();
    assert_eq!((summary.records, summary.left_out), (1, 0));

    let blocks = blocks(&bytes);
    let kinds: Vec<u32> = blocks.iter().map(|block| block.0).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 5]);
    assert_eq!(blocks[1].1[..2], [1, 0], "link type");
    let packet = blocks[2].1;
    assert_eq!(packet[..4], [0, 0, 0, 0], "interface");
    assert_eq!(
        packet[4..12],
        [0x14, 0x13, 0x12, 0, 0x18, 0x17, 0x16, 0x15],
        "ns, upper half first"
    );
    assert_eq!(blocks[3].1[4..12], packet[4..12], "the statistics have the same unit");
    assert_eq!(packet[12..20], [61, 0, 0, 0, 61, 0, 0, 0], "captured and original length");
    assert_eq!(packet[20..84], [&[7; 61][..], &[0; 3]].concat(), "padded to 4 bytes");
    assert_eq!(packet[84..92], [2, 0, 4, 0, 2, 0, 0, 1], "flags option");
}

#[test]
fn a_long_frame_is_cut_and_keeps_its_original_length() {
    let options = WriterOptions { snaplen: 64, ..WriterOptions::default() };
    let mut file = PcapngWriter::new(Vec::new(), &options).unwrap();
    let id = file.interface(ETHERNET, &LINE).unwrap();
    file.packet(0, id, &[9; 1500], packet_flag::INBOUND).unwrap();
    let (bytes, _) = file.finish().unwrap();
    let packet = blocks(&bytes)[2].1;
    assert_eq!(packet[12..20], [64, 0, 0, 0, 0xdc, 5, 0, 0]);
}

#[test]
fn the_last_frames_are_kept_and_the_others_counted() {
    let options = WriterOptions { keep: Keep::Last(300), ..WriterOptions::default() };
    let mut file = PcapngWriter::new(Vec::new(), &options).unwrap();
    let id = file.interface(ETHERNET, &LINE).unwrap();
    for number in 0..10 {
        file.packet(number, id, &[number as u8; 60], packet_flag::INBOUND).unwrap();
    }
    let (bytes, summary) = file.finish().unwrap();
    // A block has 28 bytes before the frame, and 8 + 4 + 4 of options and length after it.
    assert_eq!((summary.records, summary.left_out), (300 / 104, 10 - 300 / 104));
    let kept: Vec<u8> =
        blocks(&bytes).iter().filter(|block| block.0 == 6).map(|block| block.1[20]).collect();
    assert_eq!(kept, [8, 9]);
}

#[test]
fn an_interface_of_another_file_is_refused() {
    let new = || PcapngWriter::new(Vec::new(), &WriterOptions::default()).unwrap();
    let (mut one, mut other) = (new(), new());
    let id = one.interface(ETHERNET, &LINE).unwrap();
    let error = other.packet(0, id, &[0; 60], 0).unwrap_err();
    assert!(matches!(error, CaptureError::Interface { number: 0, count: 0 }));
}
