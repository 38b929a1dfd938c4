//! Payload that arrived out of sequence (reordering): up to [`PIECES`] pieces for a session, which
//! neither overlap nor touch. Further pieces are not kept and must be retransmitted.

use super::sequence::{le, lt};

/// Maximum number of pieces for a session.
pub const PIECES: usize = 4;

#[derive(Clone, Debug)]
struct Piece {
    first: u32,
    bytes: Vec<u8>,
}

impl Piece {
    fn stop(&self) -> u32 {
        self.first.wrapping_add(self.bytes.len() as u32)
    }
}

/// Pieces kept for a session.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pieces: Vec<Piece>,
    /// Sequence number of a FIN after a gap.
    fin: Option<u32>,
}

impl Kept {
    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.fin.is_none()
    }

    /// Keeps a segment that is ahead of the expected data.
    pub fn keep(&mut self, seq: u32, payload: &[u8], fin: bool) {
        let stop = seq.wrapping_add(payload.len() as u32);
        if fin {
            self.fin = Some(stop);
        }
        if payload.is_empty() {
            return;
        }
        let touches = |p: &Piece| le(p.first, stop) && le(seq, p.stop());
        if self.pieces.iter().filter(|p| !touches(p)).count() == PIECES {
            return;
        }
        let (near, far) = self.pieces.drain(..).partition(touches);
        self.pieces = far;
        let mut all = Piece { first: seq, bytes: payload.to_vec() };
        let near: Vec<Piece> = near;
        for p in near {
            if lt(p.first, all.first) {
                let missing = all.first.wrapping_sub(p.first) as usize;
                let head = &p.bytes[..missing.min(p.bytes.len())];
                all.bytes.splice(..0, head.iter().copied());
                all.first = p.first;
            }
            if lt(all.stop(), p.stop()) {
                let extra = p.stop().wrapping_sub(all.stop()) as usize;
                all.bytes.extend_from_slice(&p.bytes[p.bytes.len() - extra.min(p.bytes.len())..]);
            }
        }
        self.pieces.push(all);
    }

    /// Tells that the stream has reached `next`, and ends there if `fin` is set. Returns the bytes
    /// that follow now, and whether the stream ends after them.
    pub fn advance(&mut self, next: u32, fin: bool) -> (Vec<u8>, bool) {
        let fin = fin || self.fin == Some(next);
        let mut follow = (Vec::new(), fin);
        if !fin {
            let due = |p: &&Piece| le(p.first, next) && lt(next, p.stop());
            if let Some(p) = self.pieces.iter().find(due) {
                let skip = next.wrapping_sub(p.first) as usize;
                follow = (p.bytes[skip..].to_vec(), self.fin == Some(p.stop()));
            }
        }
        let end = next.wrapping_add(follow.0.len() as u32);
        self.pieces.retain(|p| lt(end, p.stop()));
        follow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_pieces_are_merged() {
        let mut k = Kept::default();
        k.keep(10, &[0, 1], false);
        k.keep(14, &[4, 5], false);
        k.keep(12, &[2, 3], true);
        assert_eq!(k.advance(9, false), (vec![], false));
        assert_eq!(k.advance(10, false), (vec![0, 1, 2, 3, 4, 5], false));
        assert!(!k.is_empty());
        assert_eq!(k.advance(14, false), (vec![], true));
    }

    #[test]
    fn further_pieces_are_not_kept() {
        let mut k = Kept::default();
        for i in 0..5 {
            k.keep(i * 10, &[i as u8], false);
        }
        for i in 0..4 {
            assert_eq!(k.advance(i * 10, false), (vec![i as u8], false));
        }
        assert_eq!(k.advance(40, false), (vec![], false));
    }
}
