//! Any input: decoding ends, nothing panics, and names lead back to words.

use proptest::prelude::*;
use spfe_link::control::ControlWord;
use spfe_link::spacewire::ds::DsSignals;
use spfe_link::spacewire::{BroadcastCode, NChar, SpaceWireCharacter};
use spfe_trace::encode::TextEncoder;
use spfe_trace::read::WordReader;
use spfe_trace::symbols::WordAssembler;
use spfe_trace::text::{self, SymbolNames};
use spfe_trace::{
    LinkDirection, LinkListener, LinkPair, ListenerConfig, TraceEventKind, TraceSummary, Word,
    name, spacewire,
};

fn control() -> impl Strategy<Value = ControlWord> {
    let byte = || any::<u8>();
    prop_oneof![
        Just(ControlWord::Skip),
        Just(ControlWord::Idle),
        Just(ControlWord::Init1),
        Just(ControlWord::Init1Inverted),
        Just(ControlWord::Init2),
        Just(ControlWord::Init2Inverted),
        Just(ControlWord::Pad),
        Just(ControlWord::Retry),
        Just(ControlWord::RxErr),
        byte().prop_map(|capability| ControlWord::Init3 { capability }),
        byte().prop_map(|reason| ControlWord::Standby { reason }),
        byte().prop_map(|cause| ControlWord::LostSignal { cause }),
        any::<u16>().prop_map(|lanes| ControlWord::Active { lanes }),
        byte().prop_map(|lanes| ControlWord::Align { lanes, inverse: !lanes }),
        (byte(), byte()).prop_map(|(lanes, inverse)| ControlWord::Align { lanes, inverse }),
        byte().prop_map(|vc| ControlWord::Sdf { vc }),
        (byte(), any::<u16>()).prop_map(|(seq, crc)| ControlWord::Edf { seq, crc }),
        (byte(), byte()).prop_map(|(channel, kind)| ControlWord::Sbf { channel, kind }),
        (byte(), byte(), byte()).prop_map(|(status, seq, crc)| ControlWord::Ebf {
            status,
            seq,
            crc
        }),
        (byte(), byte()).prop_map(|(seq, crc)| ControlWord::Sif { seq, crc }),
        (1..=8u8, 0..32u8, byte(), byte())
            .prop_map(|(multiplier, vc, seq, crc)| ControlWord::Fct { multiplier, vc, seq, crc }),
        (byte(), byte()).prop_map(|(seq, crc)| ControlWord::Ack { seq, crc }),
        (byte(), byte()).prop_map(|(seq, crc)| ControlWord::Nack { seq, crc }),
        (byte(), byte()).prop_map(|(seq, crc)| ControlWord::Full { seq, crc }),
    ]
}

/// Random rows: mostly words that lead somewhere, and anything else.
struct Rows(fastrand::Rng);

impl Rows {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn word(&mut self) -> Word {
        let random = self.0.u64(..);
        let [kind, seq, low, high, ..] = random.to_le_bytes();
        let (seq, crc) = (seq & 0x83, 0);
        let control = match kind % 24 {
            0 => ControlWord::Init1,
            1 => ControlWord::Init1Inverted,
            2 => ControlWord::Init2,
            3 => ControlWord::Init3 { capability: low & 0x0f },
            4 => ControlWord::Standby { reason: low },
            5 => ControlWord::LostSignal { cause: low & 3 },
            6 => ControlWord::Active { lanes: u16::from(low) },
            7 => ControlWord::Align { lanes: low, inverse: !low },
            8 => ControlWord::Align { lanes: low & 1, inverse: high & 1 },
            9 => ControlWord::Pad,
            10 | 11 => ControlWord::Sdf { vc: low & 0x23 },
            12 => ControlWord::Sbf { channel: low, kind: high },
            13 => ControlWord::Sif { seq, crc },
            14 => ControlWord::Fct { multiplier: low % 8 + 1, vc: high & 3, seq, crc },
            15 => ControlWord::Ack { seq, crc },
            16 => ControlWord::Nack { seq, crc },
            17 => ControlWord::Full { seq, crc },
            18 => ControlWord::Retry,
            19 => ControlWord::RxErr,
            20 => return Word { bits: (random >> 32) as u32, k: low },
            _ => return Word { bits: (random >> 32) as u32, k: 0 },
        };
        if high < 200 { control.sealed() } else { control.encode() }
    }

    /// Words of 0 to 17 lanes, the same on all of them or different; sometimes a whole frame.
    fn rows(&mut self, count: usize) -> Vec<Vec<Option<Word>>> {
        let mut rows = vec![];
        while rows.len() < count {
            let random = self.0.u64(..);
            let lanes = (random >> 8) as usize % 18;
            match random % 4 {
                0 => rows.push((0..lanes).map(|_| Some(self.word())).collect()),
                1 => rows.push(
                    (0..lanes)
                        .map(|lane| (random >> lane & 0x400_0000 == 0).then(|| self.word()))
                        .collect(),
                ),
                2 => rows.push(vec![Some(self.word()); lanes]),
                _ => {
                    let seq = (random >> 16 & 0x83) as u8;
                    let form = format!(
                        "SDF vc={} ; DATA 01 02 EOP; EDF seq=0x{seq:02X}",
                        random >> 40 & 3
                    );
                    let mut encoder = TextEncoder::new(false);
                    for form in form.split(';') {
                        rows.push(vec![encoder.encode(form).unwrap_or_default(); lanes]);
                    }
                }
            }
        }
        rows
    }
}

fn character() -> impl Strategy<Value = SpaceWireCharacter> {
    prop_oneof![
        3 => Just(SpaceWireCharacter::Null),
        3 => Just(SpaceWireCharacter::Fct),
        1 => Just(SpaceWireCharacter::NChar(NChar::Eop)),
        1 => Just(SpaceWireCharacter::NChar(NChar::Eep)),
        6 => any::<u8>().prop_map(|value| SpaceWireCharacter::NChar(NChar::Data(value))),
        2 => any::<u8>().prop_map(|code| SpaceWireCharacter::Broadcast(BroadcastCode(code))),
    ]
}

proptest! {
    #[test]
    fn names_of_control_words_round_trip(control in control()) {
        for word in [control.encode(), control.sealed()] {
            let named = name(word);
            let again = TextEncoder::new(false).encode(&named.to_string());
            prop_assert_eq!(again, Ok(Some(word)), "{}", named);
            let (mut reader, mut words) = (WordReader::new(), vec![]);
            let text = format!("{word} {}", SymbolNames(word));
            reader.line(&text, &mut |decoded| { words.push(decoded.word); true }).unwrap();
            prop_assert_eq!(words, vec![word; 2]);
        }
    }

    #[test]
    fn names_of_n_char_words_round_trip(
        bits in any::<u32>(), k in 0..16u8, ends in any::<[u8; 4]>(),
    ) {
        let mut symbols = bits.to_le_bytes();
        for (index, symbol) in symbols.iter_mut().enumerate() {
            if k >> index & 1 != 0 {
                *symbol = [0xfb, 0xfd, 0xfe][usize::from(ends[index] % 3)];
            }
        }
        let word = Word::from_symbols(symbols, k);
        prop_assert!(word.is_n_chars());
        prop_assert_eq!(TextEncoder::new(false).encode(&name(word).to_string()), Ok(Some(word)));
    }

    #[test]
    fn any_text_is_read_without_panic(line in "\\PC{0,60}", near in "[KDkdx01FCfc/., =+-]{0,40}") {
        for line in [&line, &near] {
            let mut count = 0;
            let _ = WordReader::new().line(line, &mut |_| { count += 1; count < 100 });
            let _ = text::recording(line);
            let _ = TextEncoder::new(true).encode(line);
            let _ = text::tokens(line).count();
            let _ = spacewire::text::characters(line).count();
            let _ = spacewire::text::bits(line).count();
            let _ = spacewire::text::signals(line).count();
        }
    }

    #[test]
    fn any_words_are_decoded_without_panic(
        seeds in any::<(u64, u64)>(), count in 0..400usize, lanes in 0..20u8,
        scrambled in any::<Option<bool>>(), limit in 0..100usize,
    ) {
        let config = ListenerConfig { lanes, scrambled, packet_limit_bytes: limit, ..ListenerConfig::default() };
        let rows: Vec<_> =
            Rows::new(seeds.0).rows(count).into_iter().zip(Rows::new(seeds.1).rows(count)).collect();
        let (mut pair, mut alone) = (LinkPair::new(&config), LinkListener::new(&config));
        let mut events = 0u64;
        let (mut in_pair, mut in_one) = (TraceSummary::default(), TraceSummary::default());
        for (a, b) in &rows {
            pair.push(a, b, &mut |direction, event| {
                if let TraceEventKind::Packet(packet) = event.what {
                    assert!(packet.bytes.len() <= limit);
                }
                events += 1;
                if direction == LinkDirection::AToB {
                    in_pair.event(&event);
                }
            });
            alone.push(a, &mut |event| in_one.event(&event));
        }
        pair.finish(&mut |direction, event| if direction == LinkDirection::AToB { in_pair.event(&event) });
        alone.finish(&mut |event| in_one.event(&event));
        // A pair reports the events of a listener, and possibly more violations.
        prop_assert!(in_pair.violation_count() >= in_one.violation_count());
        in_pair.violations.clear();
        in_one.violations.clear();
        prop_assert_eq!(in_pair, in_one);
        // A few events per lane, and 32 packets that may be cut: the input bounds the number of
        // events.
        prop_assert!(events <= 200 * (rows.len() as u64 + 1));
    }

    #[test]
    fn any_codes_are_decoded_without_panic(codes in prop::collection::vec(any::<u16>(), 0..400)) {
        let (mut symbols, mut words) = (WordAssembler::new(), 0);
        for code in &codes {
            words += usize::from(symbols.push(*code).is_some());
            prop_assert!(symbols.held() < 4);
        }
        prop_assert!(words <= codes.len() / 4);
    }

    #[test]
    fn any_characters_are_decoded_without_panic(
        characters in prop::collection::vec((any::<bool>(), character()), 0..300),
        bits in prop::collection::vec(any::<bool>(), 0..400),
        signals in prop::collection::vec(any::<(bool, bool)>(), 0..400),
    ) {
        let mut pair = spacewire::SpaceWirePair::new(10);
        let (mut given, mut out) = (0u64, 0u64);
        for (first, character) in characters {
            let text = spacewire::text::CharacterName(character).to_string();
            prop_assert_eq!(spacewire::text::character(&text), Some(character));
            given += 1;
            let from = if first { LinkDirection::AToB } else { LinkDirection::BToA };
            pair.push(from, character, &mut |_| out += 1);
        }
        let mut alone = spacewire::SpaceWireListener::new(10);
        for bit in bits {
            given += 1;
            alone.push_bit(bit, &mut |_| out += 1);
        }
        for (d, s) in signals {
            given += 1;
            alone.push_signals(DsSignals { d, s }, &mut |_| out += 1);
        }
        alone.finish(&mut |_| out += 1);
        prop_assert!(out <= 6 * (given + 1));
    }
}
