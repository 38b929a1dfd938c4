//! Many word periods at once.
//!
//! Most word periods of a link that runs carry the next words of a frame, and change no state but
//! positions and checksums. What arrives within the delay of the wires is known already. An end can
//! therefore go through these periods layer by layer instead of word by word: each layer says for
//! how many periods nothing else is due, and takes that many together. All other periods go through
//! `transmit` and `receive` of the layers.
//!
//! What a layer sends depends on what it received only where that was a control word. So an end
//! receives stretches of data words ahead of what it sends, and catches up before it receives
//! anything else:
//!
//! | layer | sends | receives |
//! | --- | --- | --- |
//! | lane | [`Lane::periods_to_skip`], [`Lane::pass_sent`] | [`Lane::held`], [`Lane::pass_received`] |
//! | multi-lane | [`MultiLane::send_periods`], [`MultiLane::send_all`] | [`MultiLane::rows`], [`MultiLane::receive_all`] or [`MultiLane::receive_at`] |
//! | data link | [`DataLink::send_periods`], [`DataLink::send_all`] | [`DataLink::receive_periods`], [`DataLink::receive_all`] |
//!
//! [`Lane::periods_to_skip`]: crate::Lane::periods_to_skip
//! [`Lane::pass_sent`]: crate::Lane::pass_sent
//! [`Lane::held`]: crate::Lane::held
//! [`Lane::pass_received`]: crate::Lane::pass_received
//! [`MultiLane::send_periods`]: crate::MultiLane::send_periods
//! [`MultiLane::rows`]: crate::MultiLane::rows
//! [`MultiLane::receive_at`]: crate::MultiLane::receive_at
//! [`MultiLane::send_all`]: crate::MultiLane::send_all
//! [`MultiLane::receive_all`]: crate::MultiLane::receive_all
//! [`DataLink::send_periods`]: crate::DataLink::send_periods
//! [`DataLink::receive_periods`]: crate::DataLink::receive_periods
//! [`DataLink::send_all`]: crate::DataLink::send_all
//! [`DataLink::receive_all`]: crate::DataLink::receive_all

use crate::word::Word;
use core::ops::Range;

/// Maximum number of word periods in a burst.
pub const PERIODS: usize = 16;

/// Words of the word periods of a burst on each lane. What a lane receives has one more: the word
/// that is held after the burst.
pub type LaneWords<const L: usize> = [[Word; PERIODS + 1]; L];

/// Word periods of a burst: a range of places in [`LaneWords`], on the first lanes of a link.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The word periods.
    pub periods: Range<usize>,
    /// Number of lanes in use, which are the first ones.
    pub lanes: usize,
}

/// What rows carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A data frame: different words on each lane.
    Data,
    /// An idle frame: the same word on all lanes.
    Idle,
    /// Data words outside of frames.
    Stray,
}
