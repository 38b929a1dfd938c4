//! Converts packets to words and back.
//!
//! A word carries four N-Chars. The end marker of a packet fills the rest of its word with Fill, so
//! every packet starts with a new word (50-11C 5.3.7).

use spfe_contract::EndMarker;
use spfe_link::Word;
use spfe_link::word::k;
use spfe_sim::link::SimulatedEnd;
use spfe_sim::time::Ps;

/// Number of words that an output virtual channel buffer accepts now. Words written before the link
/// is initialised would be lost in its reset (50-11C 5.7.9).
pub fn writable(vc: usize, end: &dyn SimulatedEnd) -> usize {
    if end.is_running() { end.writable(vc) } else { 0 }
}

/// Number of words moved at once.
const WORDS: usize = 64;
/// Number of bytes kept of a received packet: the maximum of a record in a packed area.
const STORE_BYTES: usize = 64 << 10;
/// Number of bytes taken from the link at once for buffers. It is small, so that bytes without a
/// buffer stay in the link and its flow control stops the sender.
const PIECE_BYTES: usize = 1 << 10;

/// A packet of a babbling virtual channel: 64 bytes 0xba.
const BABBLE: [Word; 16] = [Word::from_symbols([0xba; 4], 0); 16];

/// Converts packets to the words of an output virtual channel buffer.
#[derive(Default)]
pub struct Outbound {
    /// Bytes that do not fill a word yet, and their number.
    tail: [u8; 4],
    count: usize,
    /// A packet has begun and not ended.
    open: bool,
    /// End marker of a cut packet, which waits for room.
    pending: Option<Word>,
    /// A fault: the packet that is open, or the next one, ends with EEP.
    spoilt: bool,
}

impl Outbound {
    /// Whether a packet has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether the end marker of a cut packet waits for room.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Sends the end marker of a cut packet. Whether it was sent.
    pub fn flush(&mut self, vc: usize, end: &mut dyn SimulatedEnd) -> bool {
        let Some(word) = self.pending else { return false };
        let sent = writable(vc, end) != 0 && end.write(vc, &[word]) == 1;
        if sent {
            self.pending = None;
        }
        sent
    }

    /// Number of bytes that can be written now.
    pub fn room(&self, vc: usize, end: &dyn SimulatedEnd) -> usize {
        if self.pending.is_some() {
            return 0;
        }
        let words = writable(vc, end).min(WORDS);
        (words * 4).saturating_sub(self.count)
    }

    /// Writes bytes, at most as many as [`Outbound::room`] returns.
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

    /// The last word of the packet, with its end marker.
    fn last(&mut self, marker: u8) -> Word {
        let mut symbols = [k::FILL; 4];
        symbols[..self.count].copy_from_slice(&self.tail[..self.count]);
        symbols[self.count] = marker;
        let word = Word::from_symbols(symbols, 0xf << self.count);
        self.count = 0;
        self.open = false;
        word
    }

    /// Ends the packet. False if there is no room.
    pub fn end(&mut self, vc: usize, end: &mut dyn SimulatedEnd, marker: EndMarker) -> bool {
        if self.pending.is_some() || writable(vc, end) == 0 {
            return false;
        }
        let spoilt = std::mem::take(&mut self.spoilt);
        let marker = if marker == EndMarker::Eep || spoilt { k::EEP } else { k::EOP };
        let word = self.last(marker);
        end.write(vc, &[word]) == 1
    }

    /// Makes the open packet, or the next one, end with EEP.
    pub fn end_with_eep(&mut self) {
        self.spoilt = true;
    }

    /// Sends packets that no application asked for, unless a packet is open. Whether there was room.
    pub fn babble(&mut self, vc: usize, end: &mut dyn SimulatedEnd) -> bool {
        let mut moved = false;
        while !self.open && self.pending.is_none() && writable(vc, end) > BABBLE.len() {
            end.write(vc, &BABBLE);
            let word = self.last(k::EOP);
            end.write(vc, &[word]);
            moved = true;
        }
        moved
    }

    /// Ends an open packet with EEP as soon as there is room.
    pub fn cut(&mut self, vc: usize, end: &mut dyn SimulatedEnd) {
        if self.open {
            self.pending = Some(self.last(k::EEP));
            self.flush(vc, end);
        }
    }
}

/// Converts words of an input virtual channel buffer to packets.
#[derive(Default)]
pub struct Inbound {
    /// Bytes of the packet, and their number.
    store: Box<[u8]>,
    fill: usize,
    /// The end marker, if it has arrived.
    marker: Option<EndMarker>,
    /// Words read but not parsed, the next of them, and its next symbol.
    words: Vec<Word>,
    at: usize,
    symbol: u32,
    /// Number of bytes in the store that the receiver has taken.
    pub done: u32,
    /// The receiver has part of the packet.
    begun: bool,
    /// The receiver is gone; the rest of the packet is discarded.
    lost: bool,
    /// Minimum number of bytes to deliver before the packet ends: the record of a packed area.
    wanted: usize,
    /// When words were last read.
    read_at: Ps,
}

impl Inbound {
    /// Whether there are bytes that a receiver will take, now or later.
    pub fn has_some(&self) -> bool {
        self.marker.is_some() || self.fill > self.wanted || self.at < self.words.len()
    }

    /// Sets the size of the records in which the receiver wants whole packets; 0 if it takes bytes as
    /// they arrive.
    pub fn set_record(&mut self, bytes: usize) {
        self.wanted = bytes.min(STORE_BYTES);
    }

    /// Bytes and end marker to deliver now.
    pub fn packet(&self, late: bool) -> (&[u8], EndMarker) {
        (&self.store[..self.deliverable(late)], self.marker.unwrap_or(EndMarker::None))
    }

    /// Whether there is something to deliver. The last byte is held back until `late`, so that it
    /// shares a buffer with the end marker, if that follows.
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

    /// When words were last read.
    pub fn read_at(&self) -> Ps {
        self.read_at
    }

    fn is_full(&self) -> bool {
        self.fill >= self.wanted.max(PIECE_BYTES)
    }

    /// Reads words until the packet ends, enough bytes are there, or no words are left. Whether any
    /// were read. `show` gets the words, and whether they continue a packet.
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
            // All earlier words have been parsed, so this tells whether a packet is open.
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

    /// Parses one symbol.
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
            // Drop empty packets.
            (true, k::EOP | k::EEP) if self.fill == 0 && !self.begun => {}
            (true, k::EOP) => self.marker = Some(EndMarker::Eop),
            (true, k::EEP) => self.marker = Some(EndMarker::Eep),
            _ => {}
        }
    }

    /// Removes bytes that the receiver has taken: all that were to be delivered.
    pub fn finish(&mut self, delivered: u32) {
        self.begun = self.marker.is_none();
        self.marker = None;
        let rest = delivered as usize..self.fill;
        self.fill = rest.len();
        self.store.copy_within(rest, 0);
        self.done = 0;
    }

    /// Stores how many bytes the receiver has taken.
    pub fn pause(&mut self, done: u32) {
        self.done = done;
        self.begun |= done != 0;
    }

    /// The receiver is gone. Discards a packet that it has partly taken.
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
