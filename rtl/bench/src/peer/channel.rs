//! One direction of a line that loses, duplicates, delays, cuts and corrupts frames.

use std::collections::VecDeque;

use crate::random::Random;

/// Impairments of a direction. Rates are in permille of the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Impair {
    /// Rate of lost frames.
    pub drop: u32,
    /// Rate of frames at which a burst of losses starts.
    pub burst: u32,
    /// Number of frames of a burst.
    pub burst_len: u32,
    /// Every n-th frame with SYN, FIN or RST, and every n-th frame without payload, is lost. 0
    /// means none.
    pub control_nth: u32,
    /// Rate of frames that arrive twice.
    pub duplicate: u32,
    /// Rate of frames that arrive `reorder_by` ticks late.
    pub reorder: u32,
    /// Delay of these frames in ticks.
    pub reorder_by: u64,
    /// Delay of every frame in ticks.
    pub delay: u64,
    /// Rate of cut frames. Half of them have a wrong FCS.
    pub truncate: u32,
    /// Rate of frames with a wrong bit and a wrong FCS.
    pub corrupt: u32,
    /// Rate of frames with a wrong bit after the Ethernet header, but a valid FCS.
    pub corrupt_unseen: u32,
    /// Maximum number of bytes per tick. 0 means no limit.
    pub rate: u64,
}

impl Impair {
    /// Whether no frame is lost or changed.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        Self { delay: 0, rate: 0, ..*self } == Self::default()
    }
}

/// A frame on the line.
#[derive(Clone, Debug)]
struct Flying {
    due: u64,
    bytes: Vec<u8>,
    bad_fcs: bool,
}

/// One direction of a line.
#[derive(Debug)]
pub struct Channel {
    impair: Impair,
    random: Random,
    flying: VecDeque<Flying>,
    burst_left: u32,
    control: u32,
    /// Time in bytes, at the rate, after which the line is free.
    busy: u64,
    /// Number of frames that were lost or changed.
    pub hits: u64,
}

/// Maximum number of frames on the line. More frames are lost.
const MAX_FLYING: usize = 4096;

impl Channel {
    /// Makes a direction. The seed decides the affected frames.
    #[must_use]
    pub fn new(impair: Impair, seed: u64) -> Self {
        let random = Random::new(seed);
        let flying = VecDeque::new();
        Self { impair, random, flying, burst_left: 0, control: 0, busy: 0, hits: 0 }
    }

    /// Adds a frame at tick `now`. `control` frames have SYN, FIN or RST, or no payload.
    pub fn push(&mut self, now: u64, bytes: &[u8], control: bool) {
        let (i, r) = (self.impair, &mut self.random);
        if self.burst_left == 0 && r.chance(i.burst) {
            self.burst_left = i.burst_len;
        }
        let mut lost = r.chance(i.drop) || self.flying.len() >= MAX_FLYING;
        if self.burst_left != 0 {
            self.burst_left -= 1;
            lost = true;
        }
        if control && i.control_nth != 0 {
            self.control += 1;
            lost |= self.control.is_multiple_of(i.control_nth);
        }
        if lost {
            self.hits += 1;
            return;
        }
        let mut due = now + i.delay;
        if i.rate != 0 {
            self.busy = self.busy.max(now * i.rate) + bytes.len() as u64;
            due += self.busy / i.rate - now;
        }
        let mut frame = Flying { due, bytes: bytes.to_vec(), bad_fcs: false };
        let mut hit = false;
        if r.chance(i.reorder) {
            frame.due += i.reorder_by;
            hit = true;
        }
        if r.chance(i.truncate) {
            frame.bytes.truncate(r.below(bytes.len() as u64) as usize);
            frame.bad_fcs = r.chance(500);
            hit = true;
        }
        if r.chance(i.corrupt) {
            flip(&mut frame.bytes, 0, r);
            frame.bad_fcs = true;
            hit = true;
        }
        if r.chance(i.corrupt_unseen) {
            flip(&mut frame.bytes, 14, r);
            hit = true;
        }
        if r.chance(i.duplicate) {
            self.flying.push_back(frame.clone());
            hit = true;
        }
        self.hits += u64::from(hit);
        self.flying.push_back(frame);
    }

    /// Takes the frames that arrive by tick `now`, each with whether its FCS is wrong.
    pub fn pop(&mut self, now: u64) -> Vec<(Vec<u8>, bool)> {
        let mut out = Vec::new();
        let mut keep = VecDeque::new();
        for f in self.flying.drain(..) {
            if f.due <= now {
                out.push((f.bytes, f.bad_fcs));
            } else {
                keep.push_back(f);
            }
        }
        self.flying = keep;
        out
    }

    /// Whether no frame is on the line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flying.is_empty()
    }
}

fn flip(bytes: &mut [u8], from: usize, r: &mut Random) {
    let n = bytes.len().saturating_sub(from);
    let at = from + r.below(n as u64) as usize;
    let bit = 1 << r.below(8);
    if let Some(b) = bytes.get_mut(at) {
        *b ^= bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(impair: Impair, frames: u64) -> (usize, Channel) {
        let mut c = Channel::new(impair, 7);
        let mut n = 0;
        for now in 0..frames {
            c.push(now, &[0x55; 60], now % 2 == 0);
            n += c.pop(now).len();
        }
        n += c.pop(u64::MAX).len();
        (n, c)
    }

    #[test]
    fn a_clean_line_passes_all_frames() {
        let (n, c) = through(Impair::default(), 500);
        assert_eq!((n, c.hits), (500, 0));
        assert!(Impair { delay: 3, ..Impair::default() }.is_clean());
    }

    #[test]
    fn frames_are_affected_at_the_given_rates() {
        let (n, c) = through(Impair { drop: 100, ..Impair::default() }, 10_000);
        assert!((8800..9200).contains(&n), "{n}");
        assert_eq!(n as u64 + c.hits, 10_000);
        let (n, _) = through(Impair { duplicate: 100, ..Impair::default() }, 10_000);
        assert!((10_800..11_200).contains(&n), "{n}");
        let (n, _) = through(Impair { control_nth: 5, ..Impair::default() }, 1000);
        assert_eq!(n, 900);
    }

    #[test]
    fn the_seed_decides_the_affected_frames() {
        let impair = Impair { corrupt_unseen: 300, truncate: 300, ..Impair::default() };
        let run = || {
            let mut c = Channel::new(impair, 3);
            (0..100).for_each(|i| c.push(i, &[1; 80], false));
            c.pop(1000)
        };
        assert_eq!(run(), run());
        assert!(run().iter().any(|(b, _)| b.len() < 80));
    }

    #[test]
    fn the_rate_limits_frames_per_tick() {
        let mut c = Channel::new(Impair { rate: 600, ..Impair::default() }, 1);
        (0..100).for_each(|_| c.push(5, &[0; 60], false));
        assert_eq!(
            (c.pop(5).len(), c.pop(6).len(), c.pop(14).len(), c.pop(15).len()),
            (9, 10, 80, 1)
        );
    }

    #[test]
    fn frames_are_delayed_and_reordered() {
        let impair = Impair { delay: 2, reorder: 500, reorder_by: 3, ..Impair::default() };
        let mut c = Channel::new(impair, 1);
        (0..50u8).for_each(|i| c.push(0, &[i; 60], false));
        assert!(c.pop(1).is_empty());
        let first = c.pop(2).len();
        assert!(first > 10 && first < 40);
        assert_eq!(first + c.pop(5).len(), 50);
    }
}
