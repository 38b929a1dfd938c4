//! Writes a capture with the packets of `vectors/sfrp.txt` in their order, 1 us apart, and then
//! three damaged ones, to test programs that read captures.
//!
//!     cargo run -p spfe-capture --example sfrp -- vectors/sfrp.txt FILE.pcapng

use spfe_capture::{
    CaptureWriter, Interface, LinkKind, PacketEnd, PacketRecord, RecordDirection, WriterOptions,
};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

const USAGE: &str = "usage: sfrp VECTORS FILE.pcapng";

/// The bytes of a line: name; fields; bytes.
fn bytes(line: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let digits = line.rsplit(';').next().unwrap_or_default().trim();
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let vectors = std::fs::read_to_string(arguments.next().ok_or(USAGE)?)?;
    let path = arguments.next().ok_or(USAGE)?;
    let lines = vectors.lines().filter(|line| !line.starts_with('#'));
    let mut packets = Vec::new();
    for line in lines {
        packets.push((bytes(line)?, PacketEnd::Eop));
    }
    let write = packets.first().ok_or("the file has no packet")?.0.clone();
    let changed = |at: usize| {
        let mut packet = write.clone();
        packet[at] ^= 0x10;
        packet
    };
    // A header and a payload that were damaged, and a packet that the network cut.
    packets.push((changed(25), PacketEnd::Eop));
    packets.push((changed(41), PacketEnd::Eop));
    packets.push((write[..44].to_vec(), PacketEnd::Eep));

    let options = WriterOptions { comment: "SFRP", ..WriterOptions::default() };
    let mut capture = CaptureWriter::new(BufWriter::new(File::create(path)?), &options)?;
    let speed_bps = Some(6_250_000_000);
    let link =
        capture.interface(&Interface { name: "a.1>b.1", description: "one link", speed_bps })?;
    for (index, (bytes, end)) in packets.iter().enumerate() {
        let packet = PacketRecord {
            link: LinkKind::SpaceFibre,
            direction: RecordDirection::Received,
            vc: Some(1),
            id: index as u64 + 1,
            ..PacketRecord::new(bytes, *end)
        };
        capture.packet((index as u64 + 1) * 1_000_001, link, &packet)?;
    }
    capture.finish()?;
    Ok(())
}
