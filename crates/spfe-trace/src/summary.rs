//! Counters of decoded traffic.

use std::collections::BTreeMap;

use spfe_link::control::ControlWord;
use spfe_link::word::Word;

use crate::event::{TraceEvent, TraceEventKind};
use crate::name::{WordKind, name};

/// Counters of words by kind, of frames and packets, and of violations by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceSummary {
    words: [u64; WordKind::ALL.len()],
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
    /// Data frames, broadcast frames and FCTs that are resends.
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

impl TraceSummary {
    /// Counts a word.
    #[inline]
    pub fn word(&mut self, word: Word) {
        if let Some(count) = self.words.get_mut(name(word).kind as usize) {
            *count += 1;
        }
    }

    /// Number of words of a kind.
    pub fn words(&self, kind: WordKind) -> u64 {
        self.words.get(kind as usize).copied().unwrap_or(0)
    }

    /// Number of violations of all kinds.
    pub fn violation_count(&self) -> u64 {
        self.violations.values().sum()
    }

    /// Counts an event.
    pub fn event(&mut self, event: &TraceEvent<'_>) {
        match &event.what {
            TraceEventKind::DataFrame(frame) => {
                self.data_frames += 1;
                self.resent += u64::from(frame.resent);
            }
            TraceEventKind::BroadcastFrame(frame) => {
                self.broadcast_frames += 1;
                self.resent += u64::from(frame.resent);
            }
            TraceEventKind::IdleFrame(_) => self.idle_frames += 1,
            TraceEventKind::Token { control, resent } => {
                self.resent += u64::from(*resent);
                match control {
                    ControlWord::Fct { .. } => self.fcts += 1,
                    ControlWord::Ack { .. } => self.acks += 1,
                    ControlWord::Nack { .. } => self.nacks += 1,
                    ControlWord::Full { .. } => self.fulls += 1,
                    _ => self.retries += 1,
                }
            }
            TraceEventKind::Missing { count } => self.missing += u64::from(*count),
            TraceEventKind::Packet(packet) => {
                let cut = packet.end == crate::event::TraceEnd::Cut;
                self.cut_packets += u64::from(cut);
                self.packets += u64::from(!cut);
                self.bytes += packet.length;
            }
            TraceEventKind::LinkReset => self.link_resets += 1,
            TraceEventKind::Violation(violation) => {
                *self.violations.entry(violation.name()).or_default() += 1;
            }
            TraceEventKind::Phase { .. }
            | TraceEventKind::Swapped { .. }
            | TraceEventKind::Capability { .. }
            | TraceEventKind::Aligned { .. } => {}
        }
    }
}
