//! The last frames on a line, as a pcapng file of one interface.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Frames that are kept.
const KEPT: usize = 60_000;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const ETHERNET: u32 = 1;
/// Option of a packet: flags of the link layer.
const FLAGS: u32 = 2;
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
const BAD_FCS: u32 = 1 << 24;

#[derive(Debug)]
struct Kept {
    at: Duration,
    bytes: Vec<u8>,
    flags: u32,
}

/// A capture.
#[derive(Debug, Default)]
pub struct Capture {
    frames: VecDeque<Kept>,
    /// Frames that were too many.
    dropped: u64,
}

impl Capture {
    /// A frame at a time since the start; `out`: from the endpoint.
    pub fn add(&mut self, at: Duration, bytes: &[u8], out: bool, bad_fcs: bool) {
        if self.frames.len() == KEPT {
            self.frames.pop_front();
            self.dropped += 1;
        }
        let flags = if out { OUTBOUND } else { INBOUND } | if bad_fcs { BAD_FCS } else { 0 };
        self.frames.push_back(Kept { at, bytes: bytes.to_vec(), flags });
    }

    /// Forgets all frames.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether no frame had to be dropped since it was cleared.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.dropped == 0
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        fs::write(path, self.file()).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn file(&self) -> Vec<u8> {
        let mut file = Vec::new();
        block(&mut file, SECTION, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX], &[], &[]);
        // Times are in microseconds, as they are if nothing is said.
        block(&mut file, INTERFACE, &[ETHERNET, 0], &[], &[]);
        for frame in &self.frames {
            let us = frame.at.as_micros() as u64;
            let length = frame.bytes.len() as u32;
            let head = [0, (us >> 32) as u32, us as u32, length, length];
            block(&mut file, PACKET, &head, &frame.bytes, &[4 << 16 | FLAGS, frame.flags, 0]);
        }
        file
    }
}

/// Adds a block: words, bytes filled up to a whole word, words.
fn block(file: &mut Vec<u8>, kind: u32, head: &[u32], bytes: &[u8], tail: &[u32]) {
    let padded = bytes.len().next_multiple_of(4);
    let length = (12 + 4 * (head.len() + tail.len()) + padded) as u32;
    let words = |file: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| file.extend(word.to_le_bytes()));
    };
    words(file, &[kind, length]);
    words(file, head);
    file.extend(bytes);
    file.extend(std::iter::repeat_n(0, padded - bytes.len()));
    words(file, tail);
    words(file, &[length]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_chained_by_their_lengths() {
        let mut capture = Capture::default();
        capture.add(Duration::from_secs(5000), &[7; 61], true, false);
        capture.add(Duration::from_secs(5001), &[8; 60], false, true);
        let file = capture.file();
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes"));
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!(word(at + length - 4) as usize, length);
            kinds.push(word(at));
            at += length;
        }
        assert_eq!((at, kinds), (file.len(), vec![SECTION, INTERFACE, PACKET, PACKET]));
    }
}
