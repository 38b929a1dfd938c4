//! Many word periods at once, see [`crate::burst`].

use super::DataLink;
use super::buffer::Store;
use super::identify::IdentificationState;
use super::transmit::CurrentFrame;
use crate::burst::{LaneWords, Rows, Stretch};
use crate::word::Word;

impl<B: Store, const L: usize, const V: usize> DataLink<B, L, V> {
    /// Word periods for which the frame in progress goes on with full rows before anything else needs
    /// checking, and what it carries.
    #[inline]
    pub fn send_periods(&self, lanes: usize) -> (Rows, usize) {
        let quiet = self.transmitter.quiet as usize;
        match self.transmitter.frame {
            _ if quiet == 0 => (Rows::Stray, 0),
            CurrentFrame::Data { position, end, .. } => {
                (Rows::Data, quiet.min(end.wrapping_sub(position) / lanes.max(1)))
            }
            CurrentFrame::Idle { left } => (Rows::Idle, quiet.min(left.into())),
            CurrentFrame::None => (Rows::Stray, 0),
        }
    }

    /// Sends rows of the frame in progress, at most [`DataLink::send_periods`].
    #[inline]
    pub fn send_all(&mut self, words: &mut LaneWords<L>, stretch: &Stretch) {
        let Stretch { periods, lanes } = stretch;
        let count = periods.len() as u32;
        self.transmitter.quiet -= count;
        self.transmitter.skipped += count;
        match &mut self.transmitter.frame {
            CurrentFrame::Data { position, rows, .. } => {
                let first = *position;
                *position = first.wrapping_add(periods.len() * lanes);
                *rows += count;
                let ring = self.recovery.words();
                if let ([words, ..], 1) = (&mut words[..], lanes) {
                    ring.copy(first, &mut words[periods.clone()]);
                    return;
                }
                for (lane, words) in words.iter_mut().enumerate().take(*lanes) {
                    let places = (first.wrapping_add(lane)..).step_by(*lanes);
                    for (word, place) in words[periods.clone()].iter_mut().zip(places) {
                        *word = ring.at(place);
                    }
                }
            }
            CurrentFrame::Idle { left } => {
                *left -= count as u8;
                for period in periods.clone() {
                    let word = Word::data(self.prbs.word());
                    words.iter_mut().take(*lanes).for_each(|words| words[period] = word);
                }
            }
            CurrentFrame::None => {}
        }
    }

    /// Word periods in which arriving rows only belong to the frame in progress.
    #[inline]
    pub fn receive_periods(&self, rows: Rows, lanes: usize) -> usize {
        let left = self.identification.words_left();
        match (self.identification.state(), rows) {
            (IdentificationState::RxNothing, _) => usize::MAX,
            (IdentificationState::RxDataFrame, Rows::Data) => left / lanes.max(1),
            (IdentificationState::RxIdleFrame, Rows::Idle) => left,
            _ => 0,
        }
    }

    /// Receives rows, at most [`DataLink::receive_periods`].
    #[inline]
    pub fn receive_all(&mut self, words: &LaneWords<L>, stretch: &Stretch) {
        let Stretch { periods, lanes } = stretch;
        match self.identification.state() {
            IdentificationState::RxDataFrame => {
                let count = periods.len() * lanes;
                self.identification.pass(count as u32);
                self.receiver.words += count as u32;
                let vc = usize::from(self.receiver.vc);
                let Some(input) = self.inputs.get_mut(vc) else { return };
                if let ([words, ..], 1) = (&words[..], lanes) {
                    input.stage_all(&words[periods.clone()]);
                    return;
                }
                for period in periods.clone() {
                    words.iter().take(*lanes).for_each(|words| input.stage(words[period]));
                }
            }
            IdentificationState::RxIdleFrame => self.identification.pass(periods.len() as u32),
            _ => {}
        }
    }
}
