//! Packed receive: an area whose bytes and completions the host gives back.

use super::{Bytes, LOG2, Memory, SIZE, check, entry, number, pop_waiting};
use loom::thread;
use spfe_ring::{Consumer, PackedReader, PackedWriter, Producer, Ring};
use std::collections::VecDeque;

/// Payload bytes of a record. Four records fill the area.
const RECORD: u32 = 8;
const AREA: u32 = 64;

/// The device: one record in each run. It writes completions only while it has credit for them.
fn pack(submissions: Ring, completions: Ring, area: &Bytes, packets: u32) {
    let (mut released, mut done) = (Consumer::new(submissions), Producer::new(completions));
    let (mut writer, mut credits) = (PackedWriter::new(AREA), SIZE);
    for packet in 0..packets {
        let place = loop {
            // A real device needs two: it may have to end one run and begin another.
            let place = if credits >= 2 { writer.reserve(RECORD) } else { None };
            if let Some(place) = place {
                break place;
            }
            while let Some(entry) = released.pop() {
                credits += number(entry) >> 16;
                assert!(credits <= SIZE, "the host gave back more completions than it had");
                assert!(
                    writer.release(number(entry) & 0xffff),
                    "the host gave back more bytes than it had"
                );
            }
            thread::yield_now();
        };
        area.put(place.offset / 8, RECORD);
        area.put(place.offset / 8 + 1, packet);
        credits -= 1;
        done.push(entry(u32::from(place.wrapped)));
    }
}

/// The host: takes every run and gives `lump` runs back in one entry.
fn unpack(submissions: Ring, completions: Ring, area: &Bytes, packets: u32, lump: usize) {
    let (mut released, mut done) = (Producer::new(submissions), Consumer::new(completions));
    let mut reader = PackedReader::new(AREA);
    let mut owed = VecDeque::new();
    for packet in 0..packets {
        let wrapped = number(pop_waiting(&mut done)) != 0;
        let run = reader.run(8 + RECORD, wrapped).expect("a run in the area");
        assert_eq!(area.get(run.offset / 8), RECORD);
        assert_eq!(area.get(run.offset / 8 + 1), packet);
        owed.push_back(run.owed);
        if owed.len() == lump {
            let bytes: u32 = owed.drain(..).sum();
            released.push(entry((lump as u32) << 16 | bytes));
        }
    }
}

fn packed(packets: u32, lump: usize) {
    check(move || {
        let memory = [Memory::new(LOG2), Memory::new(LOG2)];
        let (submissions, completions) = (memory[0].ring(), memory[1].ring());
        let area = Bytes::new(AREA / 8);
        let device = thread::spawn({
            let area = area.clone();
            move || pack(submissions, completions, &area, packets)
        });
        unpack(submissions, completions, &area, packets, lump);
        device.join().unwrap();
    });
}

#[test]
fn releases_and_completions_never_overflow() {
    packed(6, 1);
}

#[test]
fn one_release_gives_back_several_runs() {
    packed(8, 3);
}
