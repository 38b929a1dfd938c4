//! Counts frames and retransmitted segments on a line.

use crate::drill::wire::{FIN, Packet, RST, SYN, Segment, parse};
use std::collections::HashMap;

/// Counters of a direction of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionCounters {
    /// Number of frames.
    pub frames: u64,
    /// Number of retransmitted segments with data, SYN or FIN.
    pub again: u64,
}

/// Counters of both directions of a line.
#[derive(Debug, Default)]
pub struct LineCounters {
    /// From the endpoint.
    pub out: DirectionCounters,
    /// To the endpoint.
    pub inward: DirectionCounters,
    /// Highest sequence number sent, for each direction and pair of ports.
    tops: HashMap<(bool, u16, u16), u32>,
}

impl LineCounters {
    /// Counts a frame. Returns whether it has no payload, or has SYN, FIN or RST.
    ///
    /// # Errors
    /// The frame is malformed.
    pub fn count(&mut self, bytes: &[u8], out: bool) -> Result<bool, String> {
        let packet = parse(bytes);
        let flow = if out { &mut self.out } else { &mut self.inward };
        flow.frames += 1;
        let Packet::Tcp(seg) = packet? else { return Ok(false) };
        flow.again += u64::from(Self::is_again(&mut self.tops, &seg, out));
        Ok(seg.payload.is_empty() || seg.flags & (SYN | FIN | RST) != 0)
    }

    fn is_again(tops: &mut HashMap<(bool, u16, u16), u32>, seg: &Segment, out: bool) -> bool {
        let end = seg.seq.wrapping_add(seg.seq_len());
        let Some(top) = tops.get_mut(&(out, seg.sport, seg.dport)) else {
            tops.insert((out, seg.sport, seg.dport), end);
            return false;
        };
        let before = *top;
        if seg.flags & SYN != 0 || (end.wrapping_sub(before) as i32) > 0 {
            *top = end;
            return seg.flags & SYN != 0 && end == before;
        }
        seg.seq_len() != 0
    }
}
