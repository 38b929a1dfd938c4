//! Many word periods at once, see [`crate::burst`].

use super::mib::Alignment;
use super::{FrameKind, MultiLane};
use crate::burst::{LaneWords, Rows, Stretch};
use crate::lane::{Lane, LaneWord};
use crate::row::ReceivedRow;

impl<const L: usize> MultiLane<L> {
    /// Whether the first `count` lanes are those in use, and rows pass over all of them in both
    /// directions.
    #[inline]
    pub fn is_passing(&self, count: usize) -> bool {
        let all = ((1u32 << count) - 1) as u16;
        let status = &self.status;
        let rows_pass = if self.is_bypassed() {
            count == 1
        } else {
            status.alignment == Alignment::BothEndsReady
                && self.transmitting == all
                && status.data_sending == all
                && self.receiving == all
                && status.data_receiving == all
                && !self.far_end_starts
        };
        rows_pass
            && !self.changed
            && self.held_back == 0
            && self.misaligned.is_none()
            && self.capability_events == 0
            && status.active == all
            && self.lanes.iter().take(count).all(Lane::is_passing)
    }

    /// Word periods in which rows are taken.
    #[inline(always)]
    pub fn send_periods(&self) -> usize {
        let left = if self.is_bypassed() && !self.skips_for_lane() {
            self.lanes.first().map_or(0, Lane::periods_to_skip)
        } else if self.skip_interval == 0 {
            u64::MAX
        } else {
            self.skip_left.into()
        };
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Converts the words of rows to the words on the lines, at most [`MultiLane::send_periods`].
    #[inline]
    pub fn send_all(&mut self, rows: Rows, words: &mut LaneWords<L>, stretch: &Stretch) {
        let Stretch { periods, lanes } = stretch;
        if !self.is_bypassed() || self.skips_for_lane() {
            self.skip_left = self.skip_left.saturating_sub(periods.len() as u32);
        }
        if !self.is_bypassed() {
            self.position = self.position.saturating_add(periods.len() as u8);
        }
        let of = self.lanes.iter_mut().zip(&mut self.columns_sent).zip(words).take(*lanes);
        for ((lane, column), words) in of {
            let words = &mut words[periods.clone()];
            if rows == Rows::Data {
                column.send_all(words);
            }
            lane.pass_sent(words);
        }
    }

    /// Puts the word that each lane holds before those that arrive.
    #[inline]
    pub fn begin_burst(&self, words: &mut LaneWords<L>, lanes: usize) {
        for (lane, words) in self.lanes.iter().zip(words).take(lanes) {
            words[0] = lane.held();
        }
    }

    /// Accounts for the word periods of a burst in the lanes.
    #[inline]
    pub fn end_burst(&mut self, words: &LaneWords<L>, lanes: usize, periods: usize) {
        for (lane, words) in self.lanes.iter_mut().zip(words).take(lanes) {
            lane.pass_received(&words[..=periods]);
        }
    }

    /// What data words on all lanes are, as rows, or `None` if they have to be taken one by one.
    #[inline]
    pub fn rows(&self, lanes: usize) -> Option<Rows> {
        let rows = match self.frame {
            FrameKind::Data => Rows::Data,
            FrameKind::Idle => Rows::Idle,
            FrameKind::None => Rows::Stray,
            FrameKind::Broadcast | FrameKind::BroadcastInData => return None,
        };
        let passes = self.is_bypassed() || self.fifos.iter().take(lanes).all(super::Fifo::is_data);
        passes.then_some(rows)
    }

    /// Receives data words that all lanes hand up. Each place gets the word of the row.
    #[inline]
    pub fn receive_all(&mut self, rows: Rows, words: &mut LaneWords<L>, stretch: &Stretch) {
        let Stretch { periods, lanes } = stretch;
        let bypassed = self.is_bypassed();
        if !bypassed {
            self.ready_periods = self.ready_periods.saturating_add(periods.len() as u32);
        }
        let parts = self.fifos.iter_mut().zip(&mut self.columns_received).zip(words);
        for ((fifo, column), words) in parts.take(*lanes) {
            let words = &mut words[periods.clone()];
            if !bypassed {
                fifo.pass_all(words);
            }
            if rows == Rows::Data {
                column.receive_all(words);
            }
        }
    }

    /// Whether one of the words that the lanes hand up in a word period is for the lane itself.
    #[inline]
    pub fn stays(&self, words: &LaneWords<L>, lanes: usize, period: usize) -> bool {
        words.iter().take(lanes).any(|words| LaneWord::of(words[period]) == LaneWord::Stays)
    }

    /// Receives the words that the lanes hand up in one word period, all of which pass or fill it.
    #[inline]
    pub fn receive_at(
        &mut self,
        words: &LaneWords<L>,
        lanes: usize,
        period: usize,
    ) -> Option<ReceivedRow<L>> {
        let mut up = [None; L];
        for (up, words) in up.iter_mut().zip(words).take(lanes) {
            let word = words[period];
            *up = (LaneWord::of(word) != LaneWord::Fills).then_some(word);
        }
        self.receive_up(up)
    }
}
