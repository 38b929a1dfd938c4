//! Words and characters that come one by one, to records.

use crate::capture::CaptureWriter;
use crate::error::CaptureError;
use crate::options::InterfaceId;
use crate::record::{CharactersRecord, LineCharacter, LineWord, WordsRecord};
use std::io::Write;

/// Collects the words of a lane, or the characters of a link, and writes them as one record when it
/// is full, or when the next one does not follow at once. Its memory is taken when it is made.
#[derive(Clone, Debug)]
pub struct RecordBatch<T> {
    id: InterfaceId,
    items: Vec<T>,
    limit: usize,
    /// When the first item starts, and when the next one is due.
    start_ps: u64,
    due_ps: u64,
    /// Number of the first item.
    first: u64,
}

/// A kind of record that a batch fills.
pub trait BatchRecord: Copy {
    /// What it collects.
    type Item: Copy;
    /// How long an item takes.
    fn length_ps(&self, item: Self::Item) -> u64;
    /// Writes a record of items.
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
    /// For up to so many items in a record, at least one.
    pub fn new(id: InterfaceId, limit: usize) -> Self {
        let limit = limit.max(1);
        let items = Vec::with_capacity(limit);
        Self { id, items, limit, start_ps: 0, due_ps: 0, first: 0 }
    }

    /// One more item, which starts at a time. What the record says beside its items is in `run`
    /// (whose items and `first` do not count); when that changes, [`RecordBatch::flush`] before.
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

    /// Writes what there is.
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
