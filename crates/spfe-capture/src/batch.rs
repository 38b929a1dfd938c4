//! Collects single words or characters into records.

use crate::error::CaptureError;
use crate::options::InterfaceId;
use crate::record::{CharactersRecord, LineCharacter, LineWord, WordsRecord};
use crate::writer::CaptureWriter;
use std::io::Write;

/// Collects the words of a lane, or the characters of a link, and writes them as one record.
///
/// It writes a record when the batch is full, or when the next item does not directly follow the
/// one before. It allocates its memory once, in [`RecordBatch::new`].
#[derive(Clone, Debug)]
pub struct RecordBatch<T> {
    id: InterfaceId,
    items: Vec<T>,
    limit: usize,
    /// Start of the first item.
    start_ps: u64,
    /// End of the last item: the start of an item that directly follows it.
    due_ps: u64,
    /// Number of the first item since the lane or link started.
    first: u64,
}

/// A record that consists of equal items, so that a [`RecordBatch`] can fill it.
pub trait BatchRecord: Copy {
    /// A word or a character.
    type Item: Copy;
    /// Duration of an item on the line.
    fn length_ps(&self, item: Self::Item) -> u64;
    /// Writes `items` as one record. `first` is the number of the first item; the other fields of
    /// the record come from `self`.
    fn write<W: Write>(
        self,
        capture: &mut CaptureWriter<W>,
        time_ps: u64,
        id: InterfaceId,
        first: u64,
        items: &[Self::Item],
    ) -> Result<(), CaptureError>;
}

impl BatchRecord for WordsRecord<'_> {
    type Item = LineWord;

    fn length_ps(&self, _: LineWord) -> u64 {
        self.period_ps.into()
    }

    fn write<W: Write>(
        self,
        capture: &mut CaptureWriter<W>,
        time_ps: u64,
        id: InterfaceId,
        first: u64,
        items: &[LineWord],
    ) -> Result<(), CaptureError> {
        capture.words(time_ps, id, &WordsRecord { words: items, first, ..self })
    }
}

impl BatchRecord for CharactersRecord<'_> {
    type Item = LineCharacter;

    fn length_ps(&self, item: LineCharacter) -> u64 {
        u64::from(item.length_bits()) * u64::from(self.bit_ps)
    }

    fn write<W: Write>(
        self,
        capture: &mut CaptureWriter<W>,
        time_ps: u64,
        id: InterfaceId,
        first: u64,
        items: &[LineCharacter],
    ) -> Result<(), CaptureError> {
        capture.characters(time_ps, id, &CharactersRecord { characters: items, first, ..self })
    }
}

impl<T: Copy> RecordBatch<T> {
    /// Makes an empty batch that writes records of at most `limit` items. A limit of 0 counts as 1.
    pub fn new(id: InterfaceId, limit: usize) -> Self {
        let limit = limit.max(1);
        let items = Vec::with_capacity(limit);
        Self { id, items, limit, start_ps: 0, due_ps: 0, first: 0 }
    }

    /// Adds an item that starts at `time_ps`.
    ///
    /// `run` provides the other fields of the record; its items and its `first` are ignored. Call
    /// [`RecordBatch::flush`] before these fields change.
    pub fn push<W: Write, R: BatchRecord<Item = T>>(
        &mut self,
        capture: &mut CaptureWriter<W>,
        time_ps: u64,
        run: R,
        item: T,
    ) -> Result<(), CaptureError> {
        if self.items.len() == self.limit || !self.items.is_empty() && time_ps != self.due_ps {
            self.flush(capture, run)?;
        }
        if self.items.is_empty() {
            self.start_ps = time_ps;
        }
        self.items.push(item);
        self.due_ps = time_ps.saturating_add(run.length_ps(item));
        Ok(())
    }

    /// Writes the collected items. Does nothing if there are none.
    pub fn flush<W: Write, R: BatchRecord<Item = T>>(
        &mut self,
        capture: &mut CaptureWriter<W>,
        run: R,
    ) -> Result<(), CaptureError> {
        if self.items.is_empty() {
            return Ok(());
        }
        let written = run.write(capture, self.start_ps, self.id, self.first, &self.items);
        self.first = self.first.wrapping_add(self.items.len() as u64);
        self.items.clear();
        written
    }
}
