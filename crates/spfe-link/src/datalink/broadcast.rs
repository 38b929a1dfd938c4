//! Broadcast messages and their flow control (50-11C 5.3.5.4, 5.7.5).

use crate::word::Word;

/// Maximum broadcast credit.
pub const CREDIT_LIMIT: u16 = 256;

/// A broadcast message of 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkBroadcast {
    /// Broadcast channel.
    pub channel: u8,
    /// Broadcast type (B_TYPE).
    pub kind: u8,
    /// The eight data bytes.
    pub data: [u8; 8],
    /// LATE: the message could not be sent at once, because no lane was active or the link was
    /// recovering from an error.
    pub late: bool,
    /// DELAYED: a routing switch had to hold the message.
    pub delayed: bool,
}

impl LinkBroadcast {
    /// STATUS field of the EBF.
    pub const fn status(&self) -> u8 {
        self.late as u8 | (self.delayed as u8) << 1
    }

    /// First or second data word of the frame.
    pub const fn word(&self, second: bool) -> Word {
        let [a, b, c, d, e, f, g, h] = self.data;
        let symbols = if second { [e, f, g, h] } else { [a, b, c, d] };
        Word::from_symbols(symbols, 0)
    }
}

/// Broadcast flow control: the credit for broadcast frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct BroadcastCredit {
    credit: u16,
    /// Rows until the credit goes up; 0 means never.
    left: u32,
    interval: u32,
}

impl BroadcastCredit {
    /// State after a link reset.
    pub fn new(expected_bandwidth: u16) -> Self {
        let interval = interval(expected_bandwidth);
        Self { credit: 0, left: interval, interval }
    }

    /// Accounts for `count` rows that were sent.
    pub fn rows(&mut self, count: u32) {
        if self.interval == 0 {
            return;
        }
        if count < self.left {
            self.left -= count;
            return;
        }
        let over = count - self.left;
        let more = (over / self.interval).min(u32::from(CREDIT_LIMIT)) as u16 + 1;
        self.left = self.interval - over % self.interval;
        self.credit = (self.credit + more).min(CREDIT_LIMIT);
    }

    /// Number of rows until the credit changes.
    pub fn quiet_rows(&self) -> u32 {
        if self.interval == 0 { u32::MAX } else { self.left - 1 }
    }

    #[inline(always)]
    pub fn may_send(&self) -> bool {
        self.credit != 0
    }

    pub fn sent(&mut self) {
        self.credit = self.credit.saturating_sub(1);
    }

    pub fn credit(&self) -> u16 {
        self.credit
    }

    pub fn set_expected_bandwidth(&mut self, value: u16) {
        self.interval = interval(value);
        self.left = self.interval;
    }
}

/// Rows per broadcast frame, which takes four rows: 40 at 10 %.
fn interval(expected_bandwidth: u16) -> u32 {
    let share = u32::from(expected_bandwidth);
    ((4 << 16) + share / 2).checked_div(share).unwrap_or(0)
}
