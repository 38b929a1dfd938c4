//! Packets to words and back.
//!
//! A word carries four N-Chars. The end of a packet fills the rest of its word with Fill, so the
//! next packet begins with a word of its own (50-11C 5.3.7).

use spfe_contract::EndMarker;
use spfe_link::Word;
use spfe_link::word::k;
use spfe_sim::link::SimulatedEnd;
use spfe_sim::time::Ps;

/// Words an output virtual channel buffer takes now. What is written before the link is initialised
/// would be gone with its reset (50-11C 5.7.9).
pub fn writable(vc: usize, end: &dyn SimulatedEnd) -> usize {
    if end.is_running() { end.writable(vc) } else { 0 }
}

/// Words moved at once.
const WORDS: usize = 64;
/// Bytes kept of a packet that comes: as much as is put in one record of a packed area.
const STORE_BYTES: usize = 64 << 10;
/// Bytes taken from the link at once for buffers: few, so that what has no buffer stays there.
const PIECE_BYTES: usize = 1 << 10;

/// Packets on their way into an output virtual channel buffer.
#[derive(Default)]
pub struct Outbound {
    /// Bytes that do not fill a word yet.
    tail: [u8; 4],
    count: usize,
    /// The packet has begun and not ended.
    open: bool,
    /// The end of a packet that was cut waits for room.
    pending: Option<Word>,
}

impl Outbound {
    /// Whether the packet has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Sends what waits since a packet was cut; whether anything was sent.
    pub fn flush(&mut self, vc: usize, end: &mut dyn SimulatedEnd) -> bool {
        let Some(word) = self.pending else { return false };
        let sent = writable(vc, end) != 0 && end.write(vc, &[word]) == 1;
        if sent {
            self.pending = None;
        }
        sent
    }

    /// Bytes that can be written now, at most one go.
    pub fn room(&self, vc: usize, end: &dyn SimulatedEnd) -> usize {
        if self.pending.is_some() {
            return 0;
        }
        let words = writable(vc, end).min(WORDS);
        (words * 4).saturating_sub(self.count)
    }

    /// Writes bytes, not more than there is room for.
    pub fn write(&mut self, vc: usize, end: &mut dyn SimulatedEnd, mut bytes: &[u8]) {
        let mut words = [Word::default(); WORDS];
        let mut full = 0;
        self.open |= !bytes.is_empty();
        while self.count + bytes.len() >= 4 && full < WORDS {
            let part = 4 - self.count;
            let (head, rest) = bytes.split_at(part);
            self.tail[self.count..].copy_from_slice(head);
            bytes = rest;
            words[full] = Word::from_symbols(self.tail, 0);
            full += 1;
            self.count = 0;
        }
        let part = bytes.len().min(4 - self.count);
        self.tail[self.count..self.count + part].copy_from_slice(&bytes[..part]);
        self.count += part;
        let written = end.write(vc, &words[..full]);
        debug_assert_eq!(written, full);
    }

    /// The word that ends the packet.
    fn last(&mut self, marker: u8) -> Word {
        let mut symbols = [k::FILL; 4];
        symbols[..self.count].copy_from_slice(&self.tail[..self.count]);
        symbols[self.count] = marker;
        let word = Word::from_symbols(symbols, 0xf << self.count);
        self.count = 0;
        self.open = false;
        word
    }

    /// Ends the packet; false if there is no room.
    pub fn end(&mut self, vc: usize, end: &mut dyn SimulatedEnd, marker: EndMarker) -> bool {
        if self.pending.is_some() || writable(vc, end) == 0 {
            return false;
        }
        let marker = if marker == EndMarker::Eep { k::EEP } else { k::EOP };
        let word = self.last(marker);
        end.write(vc, &[word]) == 1
    }

    /// The packet will not go on: it ends with EEP as soon as there is room.
    pub fn cut(&mut self, vc: usize, end: &mut dyn SimulatedEnd) {
        if self.open {
            self.pending = Some(self.last(k::EEP));
            self.flush(vc, end);
        }
    }
}

/// Packets on their way out of an input virtual channel buffer.
#[derive(Default)]
pub struct Inbound {
    /// Bytes of the packet, and how many.
    store: Box<[u8]>,
    fill: usize,
    /// How the packet ends, if its end has come.
    marker: Option<EndMarker>,
    /// Words that were read and not looked at, and the symbol to go on with.
    words: Vec<Word>,
    at: usize,
    symbol: u32,
    /// Bytes of the store that the receiver has.
    pub done: u32,
    /// The receiver has part of the packet already.
    begun: bool,
    /// The receiver is gone: the rest of the packet is nobody's.
    lost: bool,
    /// Bytes the receiver wants at least, if the packet has so many: a packed area's record.
    wanted: usize,
    /// When words were read last.
    read_at: Ps,
}

impl Inbound {
    /// Whether anything has been read that a receiver would take, now or in a while.
    pub fn has_some(&self) -> bool {
        self.marker.is_some() || self.fill > self.wanted || self.at < self.words.len()
    }

    /// The receiver wants whole packets, in records of so many bytes; 0: it takes all there is.
    pub fn set_record(&mut self, bytes: usize) {
        self.wanted = bytes.min(STORE_BYTES);
    }

    /// Bytes and end of what is to be delivered now.
    pub fn packet(&self, late: bool) -> (&[u8], EndMarker) {
        (&self.store[..self.deliverable(late)], self.marker.unwrap_or(EndMarker::None))
    }

    /// Whether there is something to deliver. The last byte is kept back for a while (until `late`):
    /// if the end of the packet comes next, both go into the same buffer.
    pub fn is_ready(&self, late: bool) -> bool {
        self.marker.is_some() || self.deliverable(late) > self.done as usize
    }

    fn deliverable(&self, late: bool) -> usize {
        if self.marker.is_some() {
            return self.fill;
        }
        if self.fill < self.wanted {
            return 0;
        }
        self.fill.saturating_sub(usize::from(!late))
    }

    /// When words were read last.
    pub fn read_at(&self) -> Ps {
        self.read_at
    }

    fn is_full(&self) -> bool {
        self.fill >= self.wanted.max(PIECE_BYTES)
    }

    /// Reads words until the packet ends, there is enough of it or there are no more; whether any
    /// were read. They are shown as they come: whether they go on with a packet, and the words.
    pub fn read(
        &mut self,
        vc: usize,
        end: &mut dyn SimulatedEnd,
        now: Ps,
        mut show: impl FnMut(bool, &[Word]),
    ) -> bool {
        let mut any = false;
        loop {
            self.parse();
            if self.marker.is_some() || self.is_full() {
                return any;
            }
            self.words.resize(WORDS, Word::default());
            let count = end.read(vc, &mut self.words);
            self.words.truncate(count);
            (self.at, self.symbol) = (0, 0);
            if count == 0 {
                return any;
            }
            // All words before have been looked at: the packet is open, or not.
            show(self.begun || self.lost || self.fill != 0, &self.words);
            any = true;
            self.read_at = now;
        }
    }

    fn parse(&mut self) {
        if self.store.is_empty() {
            self.store = vec![0; STORE_BYTES].into_boxed_slice();
        }
        while let Some(word) = self.words.get(self.at).copied() {
            if self.is_full() || self.marker.is_some() {
                return;
            }
            if word.k == 0 && self.symbol == 0 && self.fill + 4 <= STORE_BYTES {
                if !self.lost {
                    self.store[self.fill..self.fill + 4].copy_from_slice(&word.symbols());
                    self.fill += 4;
                }
                self.at += 1;
            } else {
                self.take(word);
            }
        }
    }

    /// One symbol.
    fn take(&mut self, word: Word) {
        let (symbol, is_k) = (word.symbol(self.symbol), word.is_k(self.symbol));
        self.symbol += 1;
        if self.symbol == 4 {
            self.symbol = 0;
            self.at += 1;
        }
        match (is_k, symbol) {
            (false, _) if self.lost => {}
            (false, byte) => {
                self.store[self.fill] = byte;
                self.fill += 1;
            }
            (true, k::EOP | k::EEP) if self.lost => self.lost = false,
            // An empty packet is none.
            (true, k::EOP | k::EEP) if self.fill == 0 && !self.begun => {}
            (true, k::EOP) => self.marker = Some(EndMarker::Eop),
            (true, k::EEP) => self.marker = Some(EndMarker::Eep),
            _ => {}
        }
    }

    /// The receiver has so many bytes: all that were to be delivered.
    pub fn finish(&mut self, delivered: u32) {
        self.begun = self.marker.is_none();
        self.marker = None;
        let rest = delivered as usize..self.fill;
        self.fill = rest.len();
        self.store.copy_within(rest, 0);
        self.done = 0;
    }

    /// The receiver has so much of what is in the store.
    pub fn pause(&mut self, done: u32) {
        self.done = done;
        self.begun |= done != 0;
    }

    /// The receiver is gone. A packet it has part of is no packet for the next one.
    pub fn lose(&mut self) {
        if self.begun {
            self.lost = self.marker.is_none();
            self.begun = false;
            self.marker = None;
            self.fill = 0;
            self.done = 0;
        }
    }
}
