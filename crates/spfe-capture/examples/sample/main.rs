//! Writes a capture with every kind of record, the same on every run, to test programs that read
//! captures.
//!
//!     cargo run -p spfe-capture --example sample -- FILE.pcapng [SNAPLEN [START]]
//!
//! SNAPLEN is the snapshot length in bytes, START the time zero in seconds since 1970.
//!
//! Prints the number of control words in the lane records, by name.

mod lane;
mod packets;

use spfe_capture::{CaptureWriter, Interface, WriterOptions};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: sample FILE.pcapng [SNAPLEN [START]]")?;
    let mut options = WriterOptions { comment: "sample: seed 1", ..WriterOptions::default() };
    if let Some(snaplen) = arguments.next() {
        options.snaplen = snaplen.parse()?;
    }
    if let Some(start_s) = arguments.next() {
        options.start_s = start_s.parse()?;
    }
    let mut capture = CaptureWriter::new(BufWriter::new(File::create(path)?), &options)?;
    let mut add = |name, description, speed_bps| {
        capture.interface(&Interface { name, description, speed_bps: Some(speed_bps) })
    };
    let forward = add("camera.1>router.3", "camera port 1 to router port 3", 6_250_000_000)?;
    let back = add("router.3>camera.1", "router port 3 to camera port 1", 6_250_000_000)?;
    let sensor = add("sensor.1>router.5", "sensor port 1 to router port 5", 200_000_000)?;
    packets::rmap(&mut capture, forward, back)?;
    packets::others(&mut capture, forward, sensor)?;
    packets::events(&mut capture, forward)?;
    packets::frames(&mut capture, forward)?;
    packets::characters(&mut capture, sensor)?;
    let words = packets::words(&mut capture, forward)?;
    let mut counts = lane::run(&mut capture, forward, back)?;
    for name in words.iter().filter_map(|word| lane::name(word.word)) {
        *counts.entry(name).or_default() += 1;
    }
    packets::late(&mut capture, forward)?;
    for (name, count) in counts {
        println!("{name} {count}");
    }
    capture.finish()?;
    Ok(())
}
