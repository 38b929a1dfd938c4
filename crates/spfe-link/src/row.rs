//! What the data link layer and the multi-lane layer hand each other (50-11C 5.6.4).

use crate::word::Word;

/// A row on its way down: one word on each data-sending lane in the same word period.
///
/// Words that every lane repeats travel as [`Row::Control`], whatever their K flags: control words,
/// the data words of broadcast frames and those of idle frames. Only the words of a data frame are
/// spread over the lanes. SDF and EDF are control rows; the CRC of the EDF is filled in below, lane
/// by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<const L: usize> {
    /// The same word on every data-sending lane.
    Control(Word),
    /// Words of a data frame.
    Data {
        /// The words, the first on the lowest data-sending lane.
        words: [Word; L],
        /// How many of them carry something, 1 to the number of data-sending lanes; PAD goes on
        /// the lanes that are left.
        count: u8,
    },
}

/// A row on its way up.
///
/// As in [`Row`], a data word of a broadcast or idle frame is a control row: one copy is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivedRow<const L: usize> {
    /// The word of the lowest data-receiving lane.
    Control {
        /// The word.
        word: Word,
        /// For an EDF: whether the CRC-16 of every data-receiving lane is good. True for any other.
        crc16_good: bool,
    },
    /// Words of a data frame, unscrambled, without PAD.
    Data {
        /// The words, the first from the lowest data-receiving lane.
        words: [Word; L],
        /// How many of them there are.
        count: u8,
    },
    /// A word or a row was lost or damaged.
    RxErr,
}
