//! Compares the 8b/10b code with `vectors/spacefibre.json`.

use proptest::prelude::*;
use serde_json::Value;
use spfe_link::code::{
    Disparity, SymbolDecoder, SymbolEncoder, bits_of, invert_group, invert_word, is_uncoded,
};
use spfe_link::control::ControlWord;
use spfe_link::lane::LineDecoder;
use spfe_link::word::{Word, k};

const BOTH: [(&str, Disparity); 2] = [("rd_minus", Disparity::Minus), ("rd_plus", Disparity::Plus)];

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../vectors/spacefibre.json")).unwrap()
}

fn code(text: &Value) -> u16 {
    let text = text.as_str().unwrap();
    assert_eq!(text.len(), 10);
    text.bytes().rev().fold(0, |code, bit| code << 1 | u16::from(bit == b'1'))
}

fn disparity(value: &Value) -> Disparity {
    if value.as_i64().unwrap() > 0 { Disparity::Plus } else { Disparity::Minus }
}

#[test]
fn every_symbol_in_both_disparities_and_directions() {
    let all = vectors();
    let (mut codes, mut known) = ([0; 2], [[false; 1024]; 2]);
    for (class, is_k) in [("data", false), ("control", true)] {
        for case in all["code_8b10b"][class].as_array().unwrap() {
            let value = u8::try_from(case["byte"].as_u64().unwrap()).unwrap();
            for (name, before) in BOTH {
                let (expected, after) = (code(&case[name][0]), disparity(&case[name][1]));
                let mut encoder = SymbolEncoder::new(before);
                assert_eq!(encoder.symbol(value, is_k), expected, "{case} {name}");
                assert_eq!(encoder.disparity(), after, "{case} {name}");
                let mut decoder = SymbolDecoder::new(before);
                let symbol = decoder.symbol(expected);
                assert_eq!((symbol.value, symbol.is_k), (value, is_k), "{case} {name}");
                assert!(!symbol.is_error());
                assert_eq!(decoder.disparity(), after, "{case} {name}");
                known[before as usize][usize::from(expected)] = true;
                codes[usize::from(is_k)] += 1;
            }
        }
    }
    assert_eq!(codes, [512, 24]);
    for bits in 0..1024u16 {
        for before in [Disparity::Minus, Disparity::Plus] {
            let symbol = SymbolDecoder::new(before).symbol(bits);
            let here = known[before as usize][usize::from(bits)];
            let there = known[before as usize ^ 1][usize::from(bits)];
            assert_eq!(symbol.not_in_table, !here && !there, "{bits:010b}");
            assert_eq!(symbol.disparity_error, !here && there, "{bits:010b}");
            if symbol.is_error() {
                assert_eq!((symbol.value, symbol.is_k), (k::ERROR, true));
            }
        }
    }
}

#[test]
fn control_words() {
    for case in vectors()["control_words"].as_array().unwrap() {
        let word = Word {
            bits: u32::from_str_radix(case["word"].as_str().unwrap(), 16).unwrap(),
            k: u8::try_from(case["k"].as_u64().unwrap()).unwrap(),
        };
        for (name, before) in BOTH {
            let codes = case[name]["code"].as_array().unwrap();
            let group = codes.iter().rev().fold(0u64, |group, c| group << 10 | u64::from(code(c)));
            let mut encoder = SymbolEncoder::new(before);
            assert_eq!(encoder.word(word), group, "{case}");
            assert_eq!(encoder.disparity(), disparity(&case[name]["end_rd"]), "{case}");
            let mut decoder = SymbolDecoder::new(before);
            assert_eq!(decoder.word(group), (word, 0), "{case}");
            assert_eq!(decoder.disparity(), encoder.disparity(), "{case}");
        }
    }
}

/// Inversion by a pair with swapped wires.
#[test]
fn swapped_pair() {
    let pairs = [
        (ControlWord::Init1, Word::control(0xb9b9_31bc)),
        (ControlWord::Init2, Word::control(0x5959_31bc)),
        (ControlWord::Skip, Word::control(0x7f7f_31fc)),
        (ControlWord::Idle, Word::control(0x2f2f_31fc)),
    ];
    for (control, other) in pairs {
        assert_eq!(invert_word(control.encode()), other);
        for before in [Disparity::Minus, Disparity::Plus] {
            let group = invert_group(SymbolEncoder::new(before).word(control.encode()));
            let against =
                if before == Disparity::Plus { Disparity::Minus } else { Disparity::Plus };
            assert_eq!(SymbolDecoder::new(against).word(group), (other, 0));
        }
    }
    assert_eq!(ControlWord::decode(pairs[0].1), Some(ControlWord::Init1Inverted));
    assert_eq!(ControlWord::decode(pairs[1].1), Some(ControlWord::Init2Inverted));
    assert_eq!(ControlWord::decode(pairs[2].1), None);
    // Every symbol has the same inverse at both disparities, and the inverse of the inverse is the
    // symbol.
    for (value, is_k) in (0..=255).map(|value| (value, false)).chain([(k::INIT_COMMA, true)]) {
        let word = Word::from_symbols([value, 0xb5, 0xb5, 0xb5], u8::from(is_k));
        for before in [Disparity::Minus, Disparity::Plus] {
            let against =
                if before == Disparity::Plus { Disparity::Minus } else { Disparity::Plus };
            let group = invert_group(SymbolEncoder::new(before).word(word));
            let (seen, errors) = SymbolDecoder::new(against).word(group);
            let expected = invert_word(word);
            assert_eq!(seen.symbol(0), expected.symbol(0), "{word} {before:?}");
            assert_eq!(errors & 1 != 0, expected.is_k(0) && expected.symbol(0) == k::ERROR);
        }
    }
}

proptest! {
    #[test]
    fn words_come_back(words in proptest::collection::vec((any::<u32>(), any::<bool>()), 1..64)) {
        let (mut encoder, mut decoder) = (SymbolEncoder::default(), SymbolDecoder::default());
        for (bits, comma) in words {
            let word = if comma { Word::control(bits & !0xff | 0xfc) } else { Word::data(bits) };
            prop_assert_eq!(decoder.word(encoder.word(word)), (word, 0));
            prop_assert_eq!(decoder.disparity(), encoder.disparity());
        }
    }

    /// A wrong bit shows in its word, or through the disparity in a later one, or changes a symbol.
    /// The decoder never panics, and recovers.
    #[test]
    fn wrong_bits(bits in any::<u32>(), group in 0..(1u64 << 40)) {
        let mut decoder = SymbolDecoder::default();
        let (word, errors) = decoder.word(group);
        for index in 0..4 {
            if errors >> index & 1 != 0 {
                prop_assert!(word.is_k(index) && word.symbol(index) == 0);
            }
        }
        decoder.word(SymbolEncoder::new(decoder.disparity()).word(Word::data(bits)));
        let after = decoder.disparity();
        let next = SymbolEncoder::new(after).word(Word::data(!bits));
        prop_assert_eq!(decoder.word(next), (Word::data(!bits), 0));
    }
}

#[test]
fn a_violation_is_one_damaged_symbol() {
    let mut encoder = SymbolEncoder::default();
    let mut decoder = LineDecoder::new();
    let comma = ControlWord::Skip.encode();
    let mut decoded = Vec::new();
    for number in 0..512u32 {
        // A violation in each place of a word, at both disparities, beside a comma and beside data.
        let place = number as usize % 5;
        let word =
            if number % 3 == 0 { comma } else { Word::data(number.wrapping_mul(0x9e37_79b9)) };
        let mut group = 0;
        for index in 0..4 {
            let code = match index == place {
                true => encoder.violation(),
                false => encoder.symbol(word.symbol(index as u32), word.is_k(index as u32)),
            };
            group |= u64::from(code) << (10 * index);
        }
        decoded.push((decoder.receive(group), place));
    }
    // A word comes out with the next group.
    for (index, pair) in decoded.windows(2).enumerate().skip(1) {
        let (out, place) = (pair[1].0, pair[0].1);
        let expected = if place < 4 { 1 << place } else { 0 };
        assert_eq!((out.errors, out.moved), (expected, false), "word {index}");
    }
}

/// The bits of a data word may be left out of a line group. They are computed where they matter, and
/// decoders of both kinds of groups agree.
#[test]
fn data_words_without_their_bits_decode_as_the_bits_do() {
    let mut rng = random_words(7);
    let (mut coder, mut encoder) = (SymbolEncoder::default(), SymbolEncoder::default());
    let (mut lazy, mut bits) = (LineDecoder::new(), LineDecoder::new());
    let mut left_out = 0;
    for step in 0..200_000u32 {
        let word = match rng() % 16 {
            0 => ControlWord::Skip.encode(),
            1 => ControlWord::Sdf { vc: rng() as u8 }.encode(),
            2 => Word::from_symbols([rng() as u8, k::EOP, k::FILL, k::FILL], 0xe),
            _ => Word::data(rng()),
        };
        let (group, coded) = (coder.group(word), encoder.word(word));
        assert_eq!(bits_of(group), coded, "{word:?}");
        assert_eq!(coder.disparity(), encoder.disparity(), "{word:?}");
        left_out += u32::from(is_uncoded(group));
        // Lost and damaged groups, and a decoder out of step.
        let (group, coded) = match rng() % 500 {
            0 => continue,
            1 => (coded ^ 1 << (rng() % 40), coded),
            _ => (group, coded),
        };
        let coded = if is_uncoded(group) { coded } else { group };
        assert_eq!(lazy.receive(group), bits.receive(coded), "step {step}: {word:?}");
    }
    assert!(left_out > 150_000);
}

/// No comma begins behind the first bit of data in one code, so data never moves a word boundary.
#[test]
fn data_has_no_comma() {
    for first in 0..=u8::MAX {
        for second in 0..=u8::MAX {
            for (_, before) in BOTH {
                let mut encoder = SymbolEncoder::new(before);
                let bits = [first, second].map(|value| u32::from(encoder.symbol(value, false)));
                let bits = bits[0] | bits[1] << 10;
                // A comma has seven bits, so it lies within two symbols.
                for shift in 0..14 {
                    let seven = bits >> shift & 0x7f;
                    assert!(seven != 0b111_1100 && seven != 0b000_0011, "{first} {second} {shift}");
                }
            }
        }
    }
}

/// A generator of random words.
fn random_words(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}
