//! Bits in the order of the wire, parity, data and strobe, the first NULL, bit errors.

use spfe_link::spacewire::decode::CharacterDecoder;
use spfe_link::spacewire::ds::{DsDecoder, DsEdge, DsEncoder, DsSignals};
use spfe_link::spacewire::encode::{CharacterBits, CharacterEncoder};
use spfe_link::spacewire::{BroadcastCode, DecodedCharacter, NChar, SpaceWireCharacter};

fn text(mut bits: CharacterBits) -> String {
    std::iter::from_fn(|| bits.next_bit()).map(|bit| if bit { '1' } else { '0' }).collect()
}

fn encoded(characters: &[SpaceWireCharacter]) -> Vec<String> {
    let mut encoder = CharacterEncoder::new();
    characters.iter().map(|character| text(encoder.encode(*character))).collect()
}

fn decoded(bits: &str) -> Vec<DecodedCharacter> {
    let mut decoder = CharacterDecoder::new();
    let bits = bits.chars().filter(|c| *c != ' ');
    bits.filter_map(|bit| decoder.bit(bit == '1')).collect()
}

const DATA_55: SpaceWireCharacter = SpaceWireCharacter::NChar(NChar::Data(0x55));
const EOP: SpaceWireCharacter = SpaceWireCharacter::NChar(NChar::Eop);
const EEP: SpaceWireCharacter = SpaceWireCharacter::NChar(NChar::Eep);

#[test]
fn first_null_and_fcts() {
    use SpaceWireCharacter::{Fct, Null};
    assert_eq!(encoded(&[Null, Null, Fct, Fct]), ["01110100", "01110100", "0100", "0100"]);
}

#[test]
fn first_null_on_data_and_strobe() {
    let mut encoder = DsEncoder::new();
    let (mut d, mut s) = (String::new(), String::new());
    for bit in "01110100".chars() {
        let signals = encoder.bit(bit == '1');
        d.push(if signals.d { '1' } else { '0' });
        s.push(if signals.s { '1' } else { '0' });
    }
    assert_eq!((d.as_str(), s.as_str()), ("01110100", "11011110"));
}

#[test]
fn data_end_markers_and_time_code() {
    let bits = encoded(&[SpaceWireCharacter::Null, DATA_55, EOP]);
    assert_eq!(bits, ["01110100", "1010101010", "0101"]);
    // The contents of EOP and EEP are odd, so the parity bit after them changes.
    assert_eq!(encoded(&[EOP, EEP, EOP]), ["0101", "1110", "1101"]);
    let time = SpaceWireCharacter::Broadcast(BroadcastCode::time(0x3f));
    assert_eq!(encoded(&[time]), ["01111011111100"]);
    for character in [SpaceWireCharacter::Null, SpaceWireCharacter::Fct, DATA_55, EOP, EEP, time] {
        let length = encoded(&[character])[0].len();
        assert_eq!(length, usize::from(character.length_bits()), "{character:?}");
    }
}

#[test]
fn decoder_inverts_the_encoder() {
    let mut characters = vec![SpaceWireCharacter::Null, SpaceWireCharacter::Null];
    characters.extend((0..=255).map(|byte| SpaceWireCharacter::NChar(NChar::Data(byte))));
    characters.extend([
        EOP,
        EEP,
        SpaceWireCharacter::Fct,
        SpaceWireCharacter::Null,
        EOP,
        SpaceWireCharacter::Null,
    ]);
    characters.extend((0..=255).map(|byte| SpaceWireCharacter::Broadcast(BroadcastCode(byte))));
    characters.push(SpaceWireCharacter::Null);
    let received = decoded(&encoded(&characters).concat());
    // The last character waits for its parity.
    let good = characters[..characters.len() - 1].iter().map(|c| DecodedCharacter::Character(*c));
    assert_eq!(received, good.collect::<Vec<_>>());
}

#[test]
fn got_null_takes_nine_bits() {
    assert_eq!(decoded("01110100"), []);
    assert_eq!(decoded("01110100 0"), [DecodedCharacter::Character(SpaceWireCharacter::Null)]);
    // The receiver may start anywhere in the stream.
    assert_eq!(
        decoded("10100 01110100 0"),
        [DecodedCharacter::Character(SpaceWireCharacter::Null)]
    );
    // Not with a wrong parity bit after it.
    assert_eq!(decoded("01110100 1"), []);
    assert_eq!(decoded("11110100 0"), []);
}

#[test]
fn parity_error_withholds_the_character() {
    let null = DecodedCharacter::Character(SpaceWireCharacter::Null);
    let good = "01110100 01110100 1010101010 0101 1100";
    let n_chars = [DATA_55, EOP].map(DecodedCharacter::Character);
    assert_eq!(decoded(good), [null, null, n_chars[0], n_chars[1]]);
    // One wrong bit in the data: neither it nor what follows is delivered.
    assert_eq!(
        decoded("01110100 01110100 1011101010 0101 1100"),
        [null, null, DecodedCharacter::ParityError]
    );
    // A wrong parity bit: it covers the NULL before.
    assert_eq!(decoded("01110100 01110100 0010101010 0101"), [null, DecodedCharacter::ParityError]);
}

#[test]
fn each_single_bit_error_is_detected() {
    let good =
        "01110100".to_owned() + "0100" + "1010101010" + "0101" + "11110100" + "01110100" + "01";
    assert!(!decoded(&good).contains(&DecodedCharacter::ParityError));
    for wrong in 9..good.len() {
        let mut bits: Vec<u8> = good.clone().into_bytes();
        bits[wrong] ^= 1;
        let received = decoded(core::str::from_utf8(&bits).unwrap());
        // A wrong flag moves the character boundaries, so the error may show later. No character
        // before the wrong bit changes.
        assert_ne!(received, decoded(&good), "bit {wrong}");
    }
}

#[test]
fn escape_errors() {
    let null = DecodedCharacter::Character(SpaceWireCharacter::Null);
    // ESC followed by ESC (parity 0), EOP or EEP, then the parity and flag that release them.
    for bits in ["01110100 0111 0111 01", "01110100 0111 0101 11", "01110100 0111 0110 11"] {
        assert_eq!(decoded(bits), [null, DecodedCharacter::EscapeError], "{bits}");
    }
}

#[test]
fn data_and_strobe_back() {
    let mut encoder = DsEncoder::new();
    let mut decoder = DsDecoder::new();
    let bits = [false, true, true, true, false, true, false, false, false, true];
    for bit in bits {
        assert_eq!(decoder.signals(encoder.bit(bit)), DsEdge::Bit(bit));
        assert_eq!(decoder.signals(encoder.signals()), DsEdge::None);
    }
    // Both signals at once are not a bit; one at a time is how the transmitter turns off.
    let now = encoder.signals();
    assert_eq!(decoder.signals(DsSignals { d: !now.d, s: !now.s }), DsEdge::Both);
    let mut before = encoder.signals();
    for _ in 0..3 {
        let after = encoder.quiet();
        assert!(before.d == after.d || before.s == after.s);
        before = after;
    }
    assert_eq!(before, DsSignals::default());
}
