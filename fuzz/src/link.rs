//! Words of a SpaceFibre lane from fuzz input. Most of them have a meaning.

use arbitrary::{Arbitrary, Unstructured};
use spfe_link::{ControlWord, Word};

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
            0 => ControlWord::Skip,
            1 => ControlWord::Idle,
            2 => ControlWord::Init1,
            3 => ControlWord::Init1Inverted,
            4 => ControlWord::Init2,
            5 => ControlWord::Init2Inverted,
            6 => ControlWord::Init3 { capability: field },
            7 => ControlWord::Standby { reason: field },
            8 => ControlWord::LostSignal { cause: field },
            9 => ControlWord::Active { lanes: u16::from(field) },
            10 => ControlWord::Align { lanes: field, inverse: !field },
            11 => ControlWord::Align { lanes: field, inverse: seq },
            12 => ControlWord::Align { lanes: 0, inverse: 0 },
            13 => ControlWord::Pad,
            14 => ControlWord::Sdf { vc },
            15 => ControlWord::Edf { seq, crc: u16::from(field) },
            16 => ControlWord::Sbf { channel: field, kind: seq },
            17 => ControlWord::Ebf { status: field, seq, crc: seq },
            18 => ControlWord::Sif { seq, crc },
            19 => ControlWord::Fct { multiplier: (field >> 5) + 1, vc, seq, crc },
            20 => ControlWord::Ack { seq, crc },
            21 => ControlWord::Nack { seq, crc },
            22 => ControlWord::Full { seq, crc },
            23 => ControlWord::Retry,
            24 => ControlWord::RxErr,
            25 => return Ok(Self(Word { bits: u32::arbitrary(input)?, k: field & 0xf })),
            _ => return Ok(Self(Word::data(u32::from(field) | u32::from(seq) << 24))),
        };
        // Words with a CRC-8 get the right one.
        Ok(Self(if (18..=22).contains(&kind) { control.sealed() } else { control.encode() }))
    }
}

/// Lanes that initialize within about 50 words.
pub fn quick_lane() -> spfe_link::lane::LaneConfig {
    spfe_link::lane::LaneConfig {
        word_rate_hz: 5_000_000,
        filler_words: 1,
        skip_interval_words: 100,
        init_timeout_words: 200,
        started_words: 20,
        ..spfe_link::lane::LaneConfig::new()
    }
}
