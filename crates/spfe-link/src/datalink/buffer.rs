//! Virtual channel buffers (50-11C 5.7.2) and the words they may hold (5.3.7, 5.3.9).

use crate::word::{Word, k};

/// A word that holds only an EEP.
pub const EEP: Word =
    Word { bits: u32::from_le_bytes([k::EEP, k::FILL, k::FILL, k::FILL]), k: 0xf };

/// Memory for words: an array, a borrowed slice, a box, or memory that grows.
pub trait Store {
    /// The words.
    fn words(&self) -> &[Word];

    /// The words, to change them.
    fn words_mut(&mut self) -> &mut [Word];

    /// Number of words that it can have.
    fn capacity(&self) -> usize {
        self.words().len()
    }

    /// Makes it have at least this many words, which is not above its capacity. Words that it has
    /// stay as they are.
    fn grow(&mut self, words: usize) {
        let _ = words;
    }
}

impl<T: AsRef<[Word]> + AsMut<[Word]>> Store for T {
    #[inline(always)]
    fn words(&self) -> &[Word] {
        self.as_ref()
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [Word] {
        self.as_mut()
    }
}

/// Content of a word of a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordContent {
    /// Data characters, possibly with Fill, and no end marker.
    Data,
    /// Only Fill: the word carries nothing.
    Fill,
    /// An end marker, followed only by Fill.
    End,
    /// Another K character, or characters after an end marker.
    Illegal {
        /// Whether the word also has an end marker.
        end: bool,
    },
}

/// Classifies a word.
#[inline]
pub fn content(word: Word) -> WordContent {
    if word.k == 0 { WordContent::Data } else { content_with_k(word) }
}

fn content_with_k(word: Word) -> WordContent {
    let (mut data, mut end, mut illegal) = (false, false, false);
    for index in 0..4 {
        match (word.is_k(index), word.symbol(index)) {
            (true, k::FILL) => {}
            (true, k::EOP | k::EEP) => {
                illegal |= end;
                end = true;
            }
            (is_k, _) => {
                illegal |= is_k || end;
                data = true;
            }
        }
    }
    match (illegal, end, data) {
        (true, end, _) => WordContent::Illegal { end },
        (false, true, _) => WordContent::End,
        (false, false, true) => WordContent::Data,
        (false, false, false) => WordContent::Fill,
    }
}

/// Words of a ring's memory that it uses first.
const USED_FIRST: usize = 64;

/// A ring of words. The capacity of its memory is a power of two. It uses a part of it that doubles when
/// the words no longer fit, so that buffers of thousands of links stay in the caches of the host.
pub(super) struct Ring<B> {
    words: B,
    /// Number of words in the part, less one.
    mask: usize,
    head: usize,
    tail: usize,
}

impl<B: Store> Ring<B> {
    /// The caller checks that the capacity is a power of two.
    pub fn new(words: B) -> Self {
        let mask = words.capacity().min(USED_FIRST).saturating_sub(1);
        Self { words, mask, head: 0, tail: 0 }
    }

    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.words.capacity()
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    #[inline(always)]
    pub fn free(&self) -> usize {
        self.capacity() - self.len()
    }

    /// Position of the next word to write. Positions are not wrapped at the size.
    #[inline(always)]
    pub fn tail(&self) -> usize {
        self.tail
    }

    #[inline(always)]
    pub fn head(&self) -> usize {
        self.head
    }

    #[inline(always)]
    pub fn at(&self, position: usize) -> Word {
        self.words.words()[position & self.mask]
    }

    /// Makes room for words up to a position, which the caller has found to be free.
    #[inline(always)]
    fn reach(&mut self, position: usize) {
        if position.wrapping_sub(self.head) > self.words.words().len().min(self.mask + 1) {
            self.widen(position);
        }
    }

    /// Doubles the part in use until words up to a position fit.
    #[cold]
    fn widen(&mut self, position: usize) {
        self.words.grow(self.mask + 1);
        while position.wrapping_sub(self.head) > self.mask + 1 {
            let before = self.mask + 1;
            self.words.grow(2 * before);
            let words = self.words.words_mut();
            // Each place of the part holds one word, which stays or moves up by its size.
            for place in 0..before {
                let ahead = place.wrapping_sub(self.head) & self.mask;
                let moves = self.head.wrapping_add(ahead) & before;
                words[place | moves] = words[place];
            }
            self.mask |= before;
        }
    }

    /// The caller has checked that there is room.
    #[inline(always)]
    pub fn put(&mut self, position: usize, word: Word) {
        self.reach(position.wrapping_add(1));
        self.words.words_mut()[position & self.mask] = word;
    }

    #[inline(always)]
    pub fn push(&mut self, word: Word) {
        self.put(self.tail, word);
        self.tail = self.tail.wrapping_add(1);
    }

    /// Copies the words from `position` on.
    #[inline]
    pub fn copy(&self, position: usize, to: &mut [Word]) {
        let now = self.piece(position, to.len());
        let (first, rest) = to.split_at_mut(now.len());
        first.copy_from_slice(now);
        if !rest.is_empty() {
            rest.copy_from_slice(self.piece(position.wrapping_add(first.len()), rest.len()));
        }
    }

    /// Up to `count` words from `position` on, cut at the end of the part in use.
    fn piece(&self, position: usize, count: usize) -> &[Word] {
        let first = position & self.mask;
        &self.words.words()[first..(self.mask + 1).min(first + count)]
    }

    /// Puts words behind the last one and `skipped` more. The caller has checked that there is room.
    #[inline]
    fn put_all(&mut self, skipped: usize, words: &[Word]) {
        let first = self.tail.wrapping_add(skipped);
        self.reach(first.wrapping_add(words.len()));
        let first = first & self.mask;
        let (to_end, rest) = words.split_at(words.len().min(self.mask + 1 - first));
        let memory = self.words.words_mut();
        memory[first..first + to_end.len()].copy_from_slice(to_end);
        memory[..rest.len()].copy_from_slice(rest);
    }

    /// The caller has checked that there is room.
    fn extend(&mut self, words: &[Word]) {
        self.put_all(0, words);
        self.advance_tail(words.len());
    }

    #[inline(always)]
    pub fn advance_tail(&mut self, count: usize) {
        self.tail = self.tail.wrapping_add(count);
    }

    #[inline(always)]
    pub fn advance_head(&mut self, count: usize) {
        self.head = self.head.wrapping_add(count);
    }

    pub fn clear(&mut self) {
        self.head = self.tail;
    }
}

/// Output buffer of a virtual channel: at least 64 words.
pub(super) struct OutputBuffer<B> {
    ring: Ring<B>,
    /// End markers in the buffer.
    ends: usize,
    /// The user has written the start of a packet but not its end.
    open: bool,
    /// Words from the user are dropped up to and including the next end marker.
    discarding: bool,
    /// Continuous mode: writes never wait for room.
    pub continuous: bool,
}

impl<B: Store> OutputBuffer<B> {
    pub fn new(words: B) -> Self {
        let ring = Ring::new(words);
        Self { ring, ends: 0, open: false, discarding: false, continuous: false }
    }

    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    #[inline(always)]
    pub fn free(&self) -> usize {
        self.ring.free()
    }

    pub fn is_empty(&self) -> bool {
        self.ring.len() == 0
    }

    /// Whether a segment can be sent: a whole segment is there, or an end marker, or the buffer is
    /// full.
    #[inline]
    pub fn has_segment(&self, whole: usize) -> bool {
        self.ring.len() >= whole || self.ends != 0 || self.ring.free() == 0
    }

    /// Writes words from the user. Returns how many were taken; dropped words count as taken.
    pub fn write(&mut self, words: &[Word]) -> usize {
        let mut done = 0;
        while let Some((&word, _)) = words[done..].split_first() {
            let room = if self.discarding { 0 } else { self.ring.free() };
            let most = room.min(words.len() - done);
            let fits = &words[done..done + most];
            let data = fits.iter().position(|word| word.k != 0).unwrap_or(most);
            if data != 0 {
                self.ring.extend(&words[done..done + data]);
                self.open = true;
                done += data;
            } else if self.write_other(word) {
                done += 1;
            } else {
                break;
            }
        }
        done
    }

    fn write_other(&mut self, word: Word) -> bool {
        let content = content(word);
        if self.discarding {
            let end = matches!(content, WordContent::End | WordContent::Illegal { end: true });
            self.discarding = !end;
            return true;
        }
        if content == WordContent::Fill {
            return true;
        }
        if self.ring.free() == 0 {
            if !self.continuous {
                return false;
            }
            self.truncate();
            self.discarding &=
                content == WordContent::Data || content == WordContent::Illegal { end: false };
            return true;
        }
        match content {
            WordContent::Data | WordContent::Fill => {
                self.ring.push(word);
                self.open = true;
            }
            WordContent::End => self.push_end(word),
            WordContent::Illegal { end } => {
                self.push_end(EEP);
                self.discarding = !end;
            }
        }
        true
    }

    fn push_end(&mut self, word: Word) {
        self.ring.push(word);
        self.ends += 1;
        self.open = false;
    }

    /// Continuous mode: replaces all words of the buffer with an EEP, and drops the rest of the
    /// packet.
    fn truncate(&mut self) {
        self.ring.clear();
        self.ends = 0;
        self.push_end(EEP);
        self.discarding = true;
    }

    /// Continuous mode: no lane is active.
    pub fn lane_lost(&mut self) {
        let waits =
            self.ring.len() > 1 || self.ring.len() == 1 && self.ring.at(self.ring.head()) != EEP;
        if self.continuous && waits {
            let open = self.open;
            self.truncate();
            self.discarding = open;
        }
    }

    /// Moves words to the error recovery buffer.
    pub fn take(&mut self, mut count: usize, to: &mut Ring<B>) {
        while count != 0 {
            let piece = self.ring.piece(self.ring.head(), count);
            if self.ends != 0 {
                let is_end = |word: &&Word| word.k != 0 && content(**word) == WordContent::End;
                self.ends -= piece.iter().filter(is_end).count();
            }
            to.extend(piece);
            let taken = piece.len();
            self.ring.advance_head(taken);
            count -= taken;
        }
    }

    /// Link reset: empties the buffer, and drops the rest of an open packet.
    pub fn link_reset(&mut self) {
        self.ring.clear();
        self.ends = 0;
        self.discarding |= self.open;
        self.open = false;
    }
}

/// Input buffer of a virtual channel: at least 64 words per data-sending lane.
pub(super) struct InputBuffer<B> {
    ring: Ring<B>,
    /// Words of the frame in progress, stored behind the accepted ones.
    staged: usize,
    /// A word of the frame in progress found no room.
    overflow: bool,
    /// Room that was not granted to the far end yet, in words.
    room: usize,
    /// The user has read the start of a packet but not its end.
    open: bool,
    /// The next word to read is an EEP, before all others.
    truncated: bool,
}

impl<B: Store> InputBuffer<B> {
    pub fn new(words: B) -> Self {
        let ring = Ring::new(words);
        let room = ring.capacity();
        Self { ring, staged: 0, overflow: false, room, open: false, truncated: false }
    }

    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// Starts a data frame; drops the words of an unfinished one.
    pub fn begin(&mut self) {
        self.staged = 0;
        self.overflow = false;
    }

    /// Stores a word of the frame in progress.
    #[inline(always)]
    pub fn stage(&mut self, word: Word) {
        if self.staged < self.ring.free() {
            self.ring.put(self.ring.tail().wrapping_add(self.staged), word);
            self.staged += 1;
        } else {
            self.overflow = true;
        }
    }

    /// Stores words of the frame in progress.
    #[inline]
    pub fn stage_all(&mut self, words: &[Word]) {
        let room = self.ring.free().saturating_sub(self.staged);
        let fits = words.len().min(room);
        self.ring.put_all(self.staged, &words[..fits]);
        self.staged += fits;
        self.overflow |= fits != words.len();
    }

    /// Accepts the frame in progress. Returns false if it did not fit.
    pub fn accept(&mut self) -> bool {
        if !self.overflow {
            self.ring.advance_tail(self.staged);
        }
        self.staged = 0;
        !self.overflow
    }

    /// Whether the buffer has room for an FCT of this many words.
    #[inline(always)]
    pub fn has_room(&self, words: usize) -> bool {
        self.room >= words
    }

    pub fn grant(&mut self, words: usize) {
        self.room -= words;
    }

    /// Number of words to read.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len() + usize::from(self.truncated)
    }

    /// Reads words. Returns how many.
    pub fn read(&mut self, words: &mut [Word]) -> usize {
        let mut done = 0;
        if self.truncated && !words.is_empty() {
            words[0] = EEP;
            self.truncated = false;
            self.open = false;
            done = 1;
        }
        let count = self.ring.len().min(words.len() - done);
        let mut rest = &mut words[done..done + count];
        while !rest.is_empty() {
            let piece = self.ring.piece(self.ring.head(), rest.len());
            let (now, later) = rest.split_at_mut(piece.len());
            now.copy_from_slice(piece);
            self.ring.advance_head(now.len());
            rest = later;
        }
        if count != 0
            && let Some(last) = words.get(done + count - 1)
        {
            self.open = last.k == 0 || content(*last) != WordContent::End;
        }
        self.room += count;
        // The tail did not move, so the words of a frame in progress stay where they are.
        done + count
    }

    /// Link reset: empties the buffer; an EEP ends the packet that the user is reading.
    pub fn link_reset(&mut self) {
        self.ring.clear();
        self.staged = 0;
        self.room = self.ring.capacity();
        self.truncated |= self.open;
        self.open = false;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::collections::VecDeque;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn a_ring_that_widens_keeps_its_words_and_those_behind_them() {
        let mut ring = Ring::new([Word::default(); 512]);
        let (mut model, mut next) = (VecDeque::new(), 0);
        let mut put = |ring: &mut Ring<_>, model: &mut VecDeque<Word>, count: usize, staged| {
            let words: Vec<Word> = (0..count).map(|n| Word::data((next + n) as u32)).collect();
            next += count;
            model.extend(&words);
            if staged {
                for (place, word) in words.iter().enumerate() {
                    ring.put(ring.tail().wrapping_add(place), *word);
                }
                ring.advance_tail(count);
            } else {
                ring.extend(&words);
            }
        };
        for step in 0..200 {
            let most = if step % 40 == 39 { 512 } else { 1 + step * 7 % 90 };
            let count = ring.free().min(most);
            put(&mut ring, &mut model, count, step % 2 == 0);
            let taken = model.len().min(1 + step * 11 % 130);
            let mut out = vec![Word::default(); model.len()];
            ring.copy(ring.head(), &mut out);
            assert!(model.iter().eq(&out), "step {step}");
            ring.advance_head(taken);
            model.drain(..taken);
        }
        assert_eq!(ring.mask, 511);
    }
}
