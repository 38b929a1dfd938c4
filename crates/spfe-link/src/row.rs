//! Rows: the interface between the data link layer and the multi-lane layer (50-11C 5.6.4).

use crate::word::Word;

/// A row to send: one word on each data-sending lane in the same word period.
///
/// Words that are the same on every lane are a [`Row::Control`], whatever their K flags: control
/// words, and the data words of broadcast and idle frames. Only the words of a data frame are
/// distributed over the lanes. SDF and EDF are control rows; each lane fills in its own CRC of the
/// EDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<const L: usize> {
    /// The same word on every data-sending lane.
    Control(Word),
    /// Words of a data frame.
    Data {
        /// The words; the first one goes on the lowest data-sending lane.
        words: [Word; L],
        /// Number of words in use, 1 to the number of data-sending lanes. The remaining lanes carry
        /// PAD.
        count: u8,
    },
}

/// A received row.
///
/// As in [`Row`], a data word of a broadcast or idle frame is a control row: the lanes' copies
/// become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedRow<const L: usize> {
    /// A word that is the same on every lane.
    Control {
        /// Word of the lowest data-receiving lane.
        word: Word,
        /// For an EDF: whether the CRC-16 of every data-receiving lane is right. True for all other
        /// words.
        crc16_good: bool,
    },
    /// Words of a data frame, unscrambled and without PAD.
    Data {
        /// The words; the first one came from the lowest data-receiving lane.
        words: [Word; L],
        /// Number of words in use.
        count: u8,
    },
    /// A word or row was lost or damaged.
    RxErr,
}
