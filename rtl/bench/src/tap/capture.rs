//! The last frames on a line, written as a pcapng file with one Ethernet interface.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::Duration;

use spfe_capture::pcapng::{ETHERNET, PcapngWriter, packet_flag};
use spfe_capture::{CaptureError, Interface, WriterOptions};

/// Maximum number of frames held in memory.
const FRAMES_MAX: usize = 60_000;

#[derive(Debug)]
struct CapturedFrame {
    /// Time since the start of the bridge.
    at: Duration,
    bytes: Vec<u8>,
    flags: u32,
}

/// The last frames on a line.
#[derive(Debug, Default)]
pub struct LineCapture {
    frames: VecDeque<CapturedFrame>,
    /// Number of frames discarded because there were more than [`FRAMES_MAX`].
    dropped: u64,
}

impl LineCapture {
    /// Adds a frame at a time since the start of the bridge. `out` frames come from the endpoint.
    pub fn add(&mut self, at: Duration, bytes: &[u8], out: bool, bad_fcs: bool) {
        if self.frames.len() == FRAMES_MAX {
            self.frames.pop_front();
            self.dropped += 1;
        }
        let direction = if out { packet_flag::OUTBOUND } else { packet_flag::INBOUND };
        let error = if bad_fcs { packet_flag::CRC_ERROR } else { 0 };
        self.frames.push_back(CapturedFrame {
            at,
            bytes: bytes.to_vec(),
            flags: direction | error,
        });
    }

    /// Discards all frames.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether it holds every frame that was added since it was last cleared.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.dropped == 0
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let file = self.file().map_err(|e| e.to_string())?;
        fs::write(path, file).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn file(&self) -> Result<Vec<u8>, CaptureError> {
        let mut file = PcapngWriter::new(Vec::new(), &WriterOptions::default())?;
        let interface = Interface { name: "line", description: "", speed_bps: None };
        let id = file.interface(ETHERNET, &interface)?;
        for frame in &self.frames {
            let time_ps = frame.at.as_nanos() as u64 * 1000;
            file.packet(time_ps, id, &frame.bytes, frame.flags)?;
        }
        Ok(file.finish()?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types of the blocks of a file, which are chained by their lengths.
    fn kinds(file: &[u8]) -> Vec<u32> {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("4 bytes"));
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            kinds.push(word(at));
            at += word(at + 4) as usize;
        }
        kinds
    }

    #[test]
    fn the_file_has_a_packet_for_each_frame() {
        let mut capture = LineCapture::default();
        capture.add(Duration::from_secs(5000), &[7; 61], true, false);
        capture.add(Duration::from_secs(5001), &[8; 60], false, true);
        let file = capture.file().expect("memory does not fail");
        assert_eq!(kinds(&file), [0x0a0d_0d0a, 1, 6, 6, 5]);
        assert!(capture.is_whole());
    }

    #[test]
    fn dropped_frames_are_noticed() {
        let mut capture = LineCapture::default();
        for number in 0..=FRAMES_MAX {
            capture.add(Duration::ZERO, &[number as u8], false, false);
        }
        assert!(!capture.is_whole());
        assert_eq!(capture.frames.len(), FRAMES_MAX);
        assert_eq!(capture.frames[0].bytes, [1]);
        capture.clear();
        assert!(capture.is_whole());
    }
}
