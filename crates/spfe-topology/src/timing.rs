//! The time that packets take on a link.

use crate::LinkRate;

/// Rows of a full data frame of a SpaceFibre link (ECSS-E-ST-50-11C 5.7.6).
const FRAME_ROWS: u64 = 64;
/// Rows of SDF and EDF.
const FRAMING_ROWS: u64 = 2;
/// Rows between full bandwidth credit and the threshold of over-use: the credit goes from the limit
/// of 16384 rows to nine tenths of that below zero, as on an exact link.
const CREDIT_ROWS: u64 = 16384 * 19 / 10;

/// The time that packets take on a link, with the overhead of its standard.
///
/// A SpaceWire packet of n bytes takes 10 n + 4 bits, and its N-Chars take 4 bits of FCT for each
/// eight of them in the other direction. A SpaceFibre packet is filled up to words of 4 bytes. For
/// each frame of 64 rows its direction also carries SDF, EDF and the ACK of an FCT, and the other
/// direction an FCT and an ACK. A SKIP takes one of 5001 words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkTiming {
    /// A byte, fs.
    byte_fs: u64,
    /// An end marker, fs.
    end_fs: u64,
    /// The bytes and the end marker of a packet are filled up to a multiple of this.
    word_bytes: u64,
    /// Flow control in the other direction for a byte or an end marker, fs.
    reply_fs: u64,
    /// A row of all lanes, fs; 0 for SpaceWire.
    row_fs: u64,
    /// Bytes of a row.
    row_bytes: u64,
}

impl LinkRate {
    /// The time that packets take, `None` without limit.
    pub fn timing(&self) -> Option<LinkTiming> {
        LinkTiming::of(*self)
    }
}

impl LinkTiming {
    fn of(rate: LinkRate) -> Option<Self> {
        match rate {
            LinkRate::Unlimited => None,
            LinkRate::SpaceFibre { lanes, mbps } => {
                let row = 40e9 / f64::from(mbps) * 5001.0 / 5000.0;
                let row_bytes = 4 * u64::from(lanes);
                let byte = row / row_bytes as f64 / FRAME_ROWS as f64;
                let [byte_fs, reply_fs] = [67.0, 2.0].map(|rows| (rows * byte).round() as u64);
                let (end_fs, word_bytes, row_fs) = (byte_fs, 4, row.round() as u64);
                Some(Self { byte_fs, end_fs, word_bytes, reply_fs, row_fs, row_bytes })
            }
            LinkRate::SpaceWire { mbps } => {
                let bits = |bits: f64| (bits * 1e9 / f64::from(mbps)).round() as u64;
                let (byte_fs, end_fs, reply_fs) = (bits(10.0), bits(4.0), bits(0.5));
                let (word_bytes, row_fs, row_bytes) = (1, 0, 1);
                Some(Self { byte_fs, end_fs, word_bytes, reply_fs, row_fs, row_bytes })
            }
        }
    }

    /// Bytes with their fill, and end markers.
    fn symbols(&self, bytes: u64, ends: bool) -> (u64, u64) {
        let symbols = bytes.saturating_add(u64::from(ends));
        let filled = symbols.checked_next_multiple_of(self.word_bytes).unwrap_or(symbols);
        let fill = if ends { filled - symbols } else { 0 };
        (bytes.saturating_add(fill), u64::from(ends))
    }

    /// Time of `bytes` in a full stream of packets, ps. With `ends` the end marker is added and the
    /// last word is filled up.
    pub fn data_ps(&self, bytes: u64, ends: bool) -> u64 {
        let (bytes, ends) = self.symbols(bytes, ends);
        bytes.saturating_mul(self.byte_fs).saturating_add(ends * self.end_fs) / 1000
    }

    /// Time of the flow control for these bytes, in the other direction, ps.
    pub fn reply_ps(&self, bytes: u64, ends: bool) -> u64 {
        let (bytes, ends) = self.symbols(bytes, ends);
        bytes.saturating_add(ends).saturating_mul(self.reply_fs) / 1000
    }

    /// Time from the first bit of a packet to its last on an idle link, ps. SpaceFibre sends whole
    /// rows, in frames of their own.
    pub fn alone_ps(&self, bytes: u64) -> u64 {
        if self.row_fs == 0 {
            return self.data_ps(bytes, true);
        }
        let rows = bytes.saturating_add(1).div_ceil(self.row_bytes);
        let framing = FRAMING_ROWS.saturating_mul(rows.div_ceil(FRAME_ROWS));
        rows.saturating_add(framing).saturating_mul(self.row_fs) / 1000
    }

    /// Highest payload rate in one direction with packets of `bytes`, bit/s. With `both` the other
    /// direction carries the same.
    pub fn payload_bps(&self, bytes: u64, both: bool) -> f64 {
        let (filled, ends) = self.symbols(bytes, true);
        let (filled, ends) = (filled as f64, ends as f64);
        let reply = if both { (filled + ends) * self.reply_fs as f64 } else { 0.0 };
        8e15 * bytes as f64 / (filled * self.byte_fs as f64 + ends * self.end_fs as f64 + reply)
    }

    /// Highest payload rate in one direction, bit/s: that of endless packets.
    pub fn user_bps(&self, both: bool) -> f64 {
        8e15 / (self.byte_fs + if both { self.reply_fs } else { 0 }) as f64
    }

    /// Link time that a virtual channel may use beyond its share before it loses its priority, ps.
    pub fn credit_ps(&self) -> u64 {
        CREDIT_ROWS * self.row_fs / 1000
    }
}

#[cfg(test)]
mod tests;
