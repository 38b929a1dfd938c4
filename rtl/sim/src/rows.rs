//! Rows of random frames, as a data link layer sends them.

use spfe_link::row::Row;
use spfe_link::word::k;
use spfe_link::{ControlWord, Word};

use crate::once_in;

/// Kind of a control row, `row_kind_e` of `spfe_sf_link_pkg`.
#[must_use]
pub fn kind_of(word: Word) -> u64 {
    match ControlWord::decode(word) {
        Some(ControlWord::Sdf { .. }) => 2,
        Some(ControlWord::Edf { .. }) => 3,
        _ => 1,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Frame {
    #[default]
    None,
    Data(u32),
    /// Words left, and data rows of the frame around it.
    Broadcast(u32, Option<u32>),
    Idle(u32),
}

/// A source of rows.
#[derive(Debug, Default)]
pub struct Source<const L: usize> {
    frame: Frame,
    next: Option<Row<L>>,
}

impl<const L: usize> Source<L> {
    /// The next row for this many lanes, if there is one.
    pub fn offer(&mut self, width: u8, rng: &mut fastrand::Rng) -> Option<Row<L>> {
        if width == 0 || once_in(rng, 15) {
            return None;
        }
        let next = *self.next.get_or_insert_with(|| self.frame.next(width, rng));
        Some(match next {
            Row::Data { words, count } => Row::Data { words, count: count.min(width) },
            control => control,
        })
    }

    /// The row was taken.
    pub fn took(&mut self) {
        self.next = None;
    }
}

impl Frame {
    fn next<const L: usize>(&mut self, width: u8, rng: &mut fastrand::Rng) -> Row<L> {
        let (seq, crc) = (rng.u8(..), rng.u8(..));
        let start = |frame: &mut Self, around, rng: &mut fastrand::Rng| {
            *frame = Self::Broadcast(2, around);
            ControlWord::Sbf { channel: rng.u8(..), kind: rng.u8(..) }
        };
        let control = match *self {
            Self::None => match rng.u8(..8) {
                0 => ControlWord::Fct { multiplier: 1, vc: 3, seq, crc },
                1 => ControlWord::Ack { seq, crc },
                2 => ControlWord::Retry,
                3 => start(self, None, rng),
                4 => {
                    *self = Self::Idle(rng.u32(1..20));
                    ControlWord::Sif { seq, crc }
                }
                _ => {
                    *self = Self::Data(rng.u32(0..20));
                    ControlWord::Sdf { vc: rng.u8(..32) }
                }
            },
            Self::Data(0) => {
                *self = Self::None;
                ControlWord::Edf { seq, crc: 0 }
            }
            Self::Data(left) => match rng.u8(..30) {
                0 => ControlWord::Nack { seq, crc },
                1 => start(self, Some(left), rng),
                _ => {
                    *self = Self::Data(left - 1);
                    return Self::data(width, rng);
                }
            },
            Self::Broadcast(0, around) => {
                *self = around.map_or(Self::None, Self::Data);
                ControlWord::Ebf { status: 0, seq, crc }
            }
            Self::Broadcast(left, around) => {
                *self = Self::Broadcast(left - 1, around);
                return Row::Control(Word::data(rng.u32(..)));
            }
            Self::Idle(left) => {
                *self = if left == 1 { Self::None } else { Self::Idle(left - 1) };
                return Row::Control(Word::data(rng.u32(..)));
            }
        };
        Row::Control(control.encode())
    }

    fn data<const L: usize>(width: u8, rng: &mut fastrand::Rng) -> Row<L> {
        let words = std::array::from_fn(|_| match rng.u8(..10) {
            0 => Word::from_symbols([k::EOP, k::FILL, k::FILL, k::FILL], 0xf),
            1 => Word::from_symbols([rng.u8(..), k::EEP, k::FILL, k::FILL], 0b1110),
            _ => Word::data(rng.u32(..)),
        });
        let count = if once_in(rng, 6) { rng.u8(1..=width) } else { width };
        Row::Data { words, count }
    }
}
