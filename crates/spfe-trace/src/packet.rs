//! Reassembly of packets from the words of virtual channels.

use spfe_link::word::{Word, k};

use crate::event::{TraceEnd, TraceEvent, TraceEventKind, TracePacket, TraceSink};

/// The packet in progress on one virtual channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    bytes: Vec<u8>,
    length: u64,
    from: u64,
    partial: bool,
}

impl Reassembly {
    /// An empty packet; `partial` if its start may be missing.
    pub const fn new(partial: bool) -> Self {
        Self { bytes: Vec::new(), length: 0, from: 0, partial }
    }

    /// Marks the packet as incomplete.
    pub fn spoil(&mut self) {
        self.partial = true;
    }

    /// Adds a data byte; at most `limit` bytes are kept.
    #[inline]
    pub fn byte(&mut self, value: u8, limit: usize, from: u64) {
        if self.length == 0 {
            self.from = from;
        }
        self.length += 1;
        if self.bytes.len() < limit {
            self.bytes.push(value);
        }
    }

    /// Ends the packet and reports it.
    pub fn end(&mut self, vc: u8, end: TraceEnd, at: u64, sink: &mut TraceSink<'_>) {
        let from = if self.length == 0 { at } else { self.from };
        let (bytes, length, partial) = (self.bytes.as_slice(), self.length, self.partial);
        sink(TraceEvent {
            at,
            what: TraceEventKind::Packet(TracePacket { from, vc, bytes, length, end, partial }),
        });
        self.bytes.clear();
        self.length = 0;
        self.partial = false;
    }

    /// Ends the input: reports a packet without an end.
    pub fn cut(&mut self, vc: u8, at: u64, sink: &mut TraceSink<'_>) {
        if self.length != 0 {
            self.end(vc, TraceEnd::Cut, at, sink);
        }
    }

    /// Adds a word. Returns false if characters follow an end marker in it.
    pub fn word(
        &mut self,
        word: Word,
        vc: u8,
        limit: usize,
        place: (u64, u64),
        sink: &mut TraceSink<'_>,
    ) -> bool {
        let (from, at) = place;
        let (mut ended, mut legal) = (false, true);
        for index in 0..4 {
            let value = word.symbol(index);
            if word.is_k(index) && value == k::FILL {
                continue;
            }
            legal &= !ended;
            if !word.is_k(index) {
                self.byte(value, limit, from);
                continue;
            }
            ended = true;
            self.end(vc, if value == k::EOP { TraceEnd::Eop } else { TraceEnd::Eep }, at, sink);
        }
        legal
    }
}
