//! Payload that came before its turn (reordering): up to [`PIECES`] pieces for a session, which
//! neither overlap nor touch. A piece that would be one more is not kept and has to come again.

use super::session::{le, lt};

/// Pieces for a session.
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

/// What is kept of a session.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pieces: Vec<Piece>,
    /// Where a FIN behind a hole stands.
    fin: Option<u32>,
}

impl Kept {
    /// Nothing waits for a hole to close.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.fin.is_none()
    }

    /// Keeps a segment that is ahead of what is expected.
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

    /// The stream has come to `next`, `fin` if it ends there: the bytes that follow now, and
    /// whether it ends behind them.
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
    fn pieces_grow_together() {
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
    fn no_more_than_there_is_room_for() {
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
