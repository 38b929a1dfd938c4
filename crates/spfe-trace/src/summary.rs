//! Counts of what was seen.

use std::collections::BTreeMap;

use spfe_link::control::Control;
use spfe_link::word::Word;

use crate::event::{Event, What};
use crate::name::{Kind, name};

/// Counts of words by kind, of frames and packets, of violations by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    words: [u64; Kind::ALL.len()],
    /// Data frames with a good CRC-16.
    pub data_frames: u64,
    /// Broadcast frames with a good CRC-8.
    pub broadcast_frames: u64,
    /// Idle frames.
    pub idle_frames: u64,
    /// FCTs with a good CRC-8.
    pub fcts: u64,
    /// ACKs with a good CRC-8.
    pub acks: u64,
    /// NACKs with a good CRC-8.
    pub nacks: u64,
    /// FULLs with a good CRC-8.
    pub fulls: u64,
    /// RETRYs.
    pub retries: u64,
    /// Data frames, broadcast frames and FCTs that were sent again.
    pub resent: u64,
    /// Frames and FCTs that never came.
    pub missing: u64,
    /// Packets with an end.
    pub packets: u64,
    /// Packets cut by a link reset or by the end of the recording.
    pub cut_packets: u64,
    /// Bytes of packets.
    pub bytes: u64,
    /// Link resets.
    pub link_resets: u64,
    /// Violations by name.
    pub violations: BTreeMap<&'static str, u64>,
}

impl Summary {
    /// Counts a word.
    #[inline]
    pub fn word(&mut self, word: Word) {
        if let Some(count) = self.words.get_mut(name(word).kind as usize) {
            *count += 1;
        }
    }

    /// How many words of a kind there were.
    pub fn words(&self, kind: Kind) -> u64 {
        self.words.get(kind as usize).copied().unwrap_or(0)
    }

    /// Violations of all kinds.
    pub fn violation_count(&self) -> u64 {
        self.violations.values().sum()
    }

    /// Counts an event.
    pub fn event(&mut self, event: &Event<'_>) {
        match &event.what {
            What::DataFrame(frame) => {
                self.data_frames += 1;
                self.resent += u64::from(frame.resent);
            }
            What::BroadcastFrame(frame) => {
                self.broadcast_frames += 1;
                self.resent += u64::from(frame.resent);
            }
            What::IdleFrame(_) => self.idle_frames += 1,
            What::Token { control, resent } => {
                self.resent += u64::from(*resent);
                match control {
                    Control::Fct { .. } => self.fcts += 1,
                    Control::Ack { .. } => self.acks += 1,
                    Control::Nack { .. } => self.nacks += 1,
                    Control::Full { .. } => self.fulls += 1,
                    _ => self.retries += 1,
                }
            }
            What::Missing { count } => self.missing += u64::from(*count),
            What::Packet(packet) => {
                let cut = packet.end == crate::event::End::Cut;
                self.cut_packets += u64::from(cut);
                self.packets += u64::from(!cut);
                self.bytes += packet.length;
            }
            What::LinkReset => self.link_resets += 1,
            What::Violation(violation) => {
                *self.violations.entry(violation.name()).or_default() += 1;
            }
            What::Phase { .. }
            | What::Swapped { .. }
            | What::Capability { .. }
            | What::Aligned { .. } => {}
        }
    }
}
