//! The ends of a virtual channel of an exact link, as source and sink of flows.

use super::Exact;
use spfe_contract::{EndMarker, QueueKind};
use spfe_device::copy::{CopySource, CopyTarget};
use spfe_device::flow::{Accepted, NextPiece, Piece};
use spfe_device::shared::FlowShared;
use spfe_plane::links::{LinkSink, LinkSource};
use std::sync::Arc;

/// Number of bytes copied at once.
const CHUNK: usize = 256;

/// Sink of the packets that leave a port on a virtual channel.
pub struct LinkOut {
    exact: Arc<Exact>,
    face: usize,
    vc: usize,
}

impl LinkOut {
    /// The sink of a virtual channel at a face.
    pub fn new(exact: &Arc<Exact>, face: usize, vc: u32) -> Self {
        Self { exact: exact.clone(), face, vc: vc as usize }
    }
}

impl LinkSink for LinkOut {
    /// Writes as much of the piece as the output virtual channel buffer has room for.
    fn take(&mut self, piece: &mut Piece) -> Accepted {
        let vc = self.vc;
        self.exact.at(self.face, |at| {
            let out = &mut at.face.out[vc];
            while piece.rest() != 0 {
                let part = out.room(vc, at.end).min(CHUNK).min(piece.rest() as usize);
                if part == 0 {
                    return Accepted::Full;
                }
                let mut bytes = [0u8; CHUNK];
                let target = CopyTarget { at: bytes.as_mut_ptr(), address: None };
                // SAFETY: `part` is at most the length of the array. `take` copies to a target without
                // an address before it returns.
                unsafe { piece.take(target, part as u32) };
                out.write(vc, at.end, &bytes[..part]);
                at.moved = true;
            }
            if piece.end == EndMarker::None {
                return Accepted::Whole;
            }
            if !out.end(vc, at.end, piece.end) {
                return Accepted::Full;
            }
            at.moved = true;
            Accepted::Whole
        })
    }

    fn cut(&mut self) {
        self.exact.at(self.face, |at| {
            at.face.out[self.vc].cut(self.vc, at.end);
            at.moved = true;
        });
    }

    fn is_open(&self) -> bool {
        self.exact.at(self.face, |at| at.face.out[self.vc].is_open())
    }
}

/// Source of the packets that enter a port on a virtual channel.
pub struct LinkIn {
    exact: Arc<Exact>,
    face: usize,
    vc: usize,
    shared: &'static FlowShared,
}

impl LinkIn {
    /// The source of a virtual channel at a face; `shared` is the flow that it fills.
    pub fn new(exact: &Arc<Exact>, face: usize, vc: u32, shared: &'static FlowShared) -> Self {
        Self { exact: exact.clone(), face, vc: vc as usize, shared }
    }
}

impl LinkSource for LinkIn {
    /// For a packed area, whole packets or as much as the store holds; for buffers, all that has
    /// arrived.
    fn next(&mut self, piece: &mut Piece) -> NextPiece {
        // SAFETY: the runner holds the flow's seat.
        let config = unsafe { *self.shared.rx_config.get() };
        let packed = config.kind == u32::from(QueueKind::RxPacked.raw());
        let record = if packed { config.area_bytes as usize / 2 } else { 0 };
        self.exact.at(self.face, |at| {
            if at.face.blocked >> self.vc & 1 != 0 {
                return NextPiece::Idle;
            }
            at.face.into[self.vc].set_record(record);
            if !at.face.into[self.vc].is_ready(false) {
                at.moved |= at.read(self.vc);
            }
            let into = &mut at.face.into[self.vc];
            let late = at.now.saturating_sub(into.read_at()) >= at.hold;
            if !into.is_ready(late) {
                return NextPiece::Idle;
            }
            let (bytes, end) = into.packet(late);
            piece.clear();
            // The bytes stay in place until the holder of the seat calls `done` or `lose`.
            let length = bytes.len() as u32;
            piece.add(CopySource { at: bytes.as_ptr(), address: None, length });
            piece.finish(end, 0, 1);
            piece.done = into.done;
            NextPiece::Ready
        })
    }

    fn pause(&mut self, done: u32) {
        self.exact.at(self.face, |at| at.face.into[self.vc].pause(done));
    }

    fn done(&mut self, length: u32) {
        self.exact.at(self.face, |at| {
            at.face.into[self.vc].finish(length);
            at.moved = true;
        });
    }

    fn lose(&mut self) {
        self.exact.at(self.face, |at| at.face.into[self.vc].lose());
    }
}
