//! Words of a SpaceFibre line from fuzz input, mostly ones that mean something.

use arbitrary::{Arbitrary, Unstructured};
use spfe_link::{Control, Word};

/// Any word.
#[derive(Clone, Copy, Debug)]
pub struct AnyWord(pub Word);

impl<'a> Arbitrary<'a> for AnyWord {
    fn arbitrary(input: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let kind = input.int_in_range(0..=27u8)?;
        let field = u8::arbitrary(input)?;
        let seq = u8::arbitrary(input)?;
        let crc = 0;
        let vc = field & 0x1f;
        let control = match kind {
            0 => Control::Skip,
            1 => Control::Idle,
            2 => Control::Init1,
            3 => Control::Init1Inverted,
            4 => Control::Init2,
            5 => Control::Init2Inverted,
            6 => Control::Init3 { capability: field },
            7 => Control::Standby { reason: field },
            8 => Control::LostSignal { cause: field },
            9 => Control::Active { lanes: u16::from(field) },
            10 => Control::Align { lanes: field, inverse: !field },
            11 => Control::Align { lanes: field, inverse: seq },
            12 => Control::Align { lanes: 0, inverse: 0 },
            13 => Control::Pad,
            14 => Control::Sdf { vc },
            15 => Control::Edf { seq, crc: u16::from(field) },
            16 => Control::Sbf { channel: field, kind: seq },
            17 => Control::Ebf { status: field, seq, crc: seq },
            18 => Control::Sif { seq, crc },
            19 => Control::Fct { multiplier: (field >> 5) + 1, vc, seq, crc },
            20 => Control::Ack { seq, crc },
            21 => Control::Nack { seq, crc },
            22 => Control::Full { seq, crc },
            23 => Control::Retry,
            24 => Control::RxErr,
            25 => return Ok(Self(Word { bits: u32::arbitrary(input)?, k: field & 0xf })),
            _ => return Ok(Self(Word::data(u32::from(field) | u32::from(seq) << 24))),
        };
        // Those with a CRC-8 of their own get it.
        Ok(Self(if (18..=22).contains(&kind) { control.sealed() } else { control.encode() }))
    }
}

/// Lanes that come up in about 50 words.
pub fn quick_lane() -> spfe_link::lane::Config {
    spfe_link::lane::Config {
        word_rate_hz: 5_000_000,
        filler_words: 1,
        skip_interval_words: 100,
        init_timeout_words: 200,
        started_words: 20,
        ..spfe_link::lane::Config::new()
    }
}
