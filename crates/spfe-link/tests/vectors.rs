//! Words, CRCs, pseudo-random sequence and frames of `vectors/spacefibre.json`.

use serde_json::Value;
use spfe_link::control::{ControlWord, ebf, edf};
use spfe_link::crc::{Crc8, Crc16};
use spfe_link::prbs::Prbs;
use spfe_link::word::{Word, k};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../vectors/spacefibre.json")).unwrap()
}

fn list<'a>(all: &'a Value, name: &str) -> &'a Vec<Value> {
    let list = all[name].as_array().unwrap();
    assert!(!list.is_empty(), "{name}");
    list
}

fn hex(text: &Value) -> u32 {
    u32::from_str_radix(text.as_str().unwrap(), 16).unwrap()
}

fn bytes(text: &Value) -> Vec<u8> {
    let digits: Vec<u8> = text.as_str().unwrap().bytes().filter(|c| *c != b' ').collect();
    let pair = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn number(value: &Value) -> u8 {
    u8::try_from(value.as_u64().unwrap()).unwrap()
}

fn words(frame: &Value) -> Vec<Word> {
    let word = |word: &Value| Word { bits: hex(&word["w"]), k: number(&word["k"]) };
    frame["words"].as_array().unwrap().iter().map(word).collect()
}

#[test]
fn crcs() {
    let all = vectors();
    for case in list(&all, "crc16") {
        let data = bytes(&case["bytes"]);
        let crc = Crc16::new().bytes(&data).value();
        assert_eq!(u32::from(crc), hex(&case["crc"]));
        assert_eq!(Crc16::new().bytes(&data).bytes(&crc.to_le_bytes()).value(), 0);
        let whole = data.len() / 4 * 4;
        let words =
            data[..whole].chunks(4).map(|w| Word::data(u32::from_le_bytes(w.try_into().unwrap())));
        let by_words = words.fold(Crc16::new(), Crc16::word).bytes(&data[whole..]);
        assert_eq!(by_words.value(), crc);
    }
    for case in list(&all, "crc8") {
        let crc = Crc8::new().bytes(&bytes(&case["bytes"])).value();
        assert_eq!(u32::from(crc), hex(&case["crc"]));
    }
}

#[test]
fn prbs() {
    let mut prbs = Prbs::new();
    for word in list(&vectors(), "prbs_first_64_words") {
        assert_eq!(prbs.word(), hex(word));
    }
    assert_eq!(prbs.state(), 0xf223);
    let mut period = Prbs::new();
    let mut bytes = 0u32;
    loop {
        period.byte();
        bytes += 1;
        if period.state() == 0xffff {
            break;
        }
    }
    // The sequence has 65535 bits. 8 does not divide that, so bytes and bits meet again after eight
    // periods.
    assert_eq!(bytes, 65535);
}

#[test]
fn single_words() {
    for case in list(&vectors(), "single_words") {
        let (seq, crc) = (number(&case["seq"]), 0);
        let fct = |multiplier, vc| ControlWord::Fct { multiplier, vc, seq, crc };
        for (name, control) in [
            ("SIF", ControlWord::Sif { seq, crc }),
            ("ACK", ControlWord::Ack { seq, crc }),
            ("NACK", ControlWord::Nack { seq, crc }),
            ("FULL", ControlWord::Full { seq, crc }),
            ("FCT_vc0_m1", fct(1, 0)),
            ("FCT_vc31_m8", fct(8, 31)),
        ] {
            let word = control.sealed();
            assert_eq!(word, Word::control(hex(&case[name])), "{name} {seq}");
            let back = ControlWord::decode(word).unwrap();
            assert!(back.crc8_is_good());
            assert_eq!(back.encode(), word);
            for bit in 0..32 {
                let damaged = ControlWord::decode(Word::control(word.bits ^ 1 << bit));
                let same = core::mem::discriminant(&back);
                let accepted = damaged
                    .filter(|damaged| core::mem::discriminant(damaged) == same)
                    .is_some_and(ControlWord::crc8_is_good);
                assert!(!accepted, "{name} {seq} bit {bit}");
            }
        }
    }
}

#[test]
fn control_words() {
    for case in list(&vectors(), "control_words") {
        let word = Word { bits: hex(&case["word"]), k: number(&case["k"]) };
        let control = ControlWord::decode(word).unwrap_or_else(|| panic!("{case}"));
        assert_eq!(control.encode(), word, "{case}");
    }
    assert_eq!(ControlWord::decode(Word::control(0xad1c_84fc)), None, "0x84 is not a SIF");
    assert_eq!(ControlWord::decode(Word::RXERR), Some(ControlWord::RxErr));
}

#[test]
fn data_frames() {
    for frame in list(&vectors(), "data_frames") {
        let (vc, seq) = (number(&frame["vc"]), number(&frame["seq"]));
        let scrambled = frame["scrambled"].as_bool().unwrap();
        let expected = words(frame);
        let mut symbols: Vec<(u8, bool)> =
            bytes(&frame["payload"]).into_iter().map(|byte| (byte, false)).collect();
        match frame["end"].as_str() {
            Some("EOP") => symbols.push((k::EOP, true)),
            Some("EEP") => symbols.push((k::EEP, true)),
            _ => {}
        }
        while !symbols.len().is_multiple_of(4) {
            symbols.push((k::FILL, true));
        }
        let sdf = ControlWord::Sdf { vc }.encode();
        let (mut crc, mut prbs, mut made) = (Crc16::new().word(sdf), Prbs::new(), vec![sdf]);
        for four in symbols.chunks(4) {
            let mask = four.iter().rev().fold(0, |mask, (_, k)| mask << 1 | u8::from(*k));
            let plain = Word::from_symbols([four[0].0, four[1].0, four[2].0, four[3].0], mask);
            let word = if scrambled { prbs.scramble(plain) } else { plain };
            assert!(plain.is_n_chars());
            crc = crc.word(word);
            made.push(word);
        }
        made.push(edf(crc, seq));
        assert_eq!(made, expected, "vc {vc} seq {seq}");
    }
}

#[test]
fn broadcast_frames() {
    for frame in list(&vectors(), "broadcast_frames") {
        let (channel, kind) = (number(&frame["channel"]), number(&frame["type"]));
        let data = bytes(&frame["data"]);
        let status = number(&frame["late"]) | number(&frame["delayed"]) << 1;
        let sbf = ControlWord::Sbf { channel, kind }.encode();
        let word = |at: usize| Word::data(u32::from_le_bytes(data[at..at + 4].try_into().unwrap()));
        let crc = [sbf, word(0), word(4)].iter().fold(Crc8::new(), |crc, w| crc.symbols(*w, 4));
        let made = [sbf, word(0), word(4), ebf(crc, status, number(&frame["seq"]))];
        assert_eq!(made.to_vec(), words(frame));
    }
}
