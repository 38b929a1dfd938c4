//! `vectors/spacefibre.json` both ways: words to names and back, symbols and codes as text, frames.

use serde_json::Value;
use spfe_link::control::ControlWord;
use spfe_trace::encode::TextEncoder;
use spfe_trace::read::WordReader;
use spfe_trace::text::{GroupBits, SymbolNames};
use spfe_trace::{LinkListener, ListenerConfig, TraceEventKind, Word, WordKind, name, symbols};

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

fn byte(value: &Value) -> u8 {
    u8::try_from(value.as_u64().unwrap()).unwrap()
}

fn bytes(text: &Value) -> Vec<u8> {
    let digits = text.as_str().unwrap();
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

fn words(frame: &Value) -> Vec<Word> {
    let word = |word: &Value| Word { bits: hex(&word["w"]), k: byte(&word["k"]) };
    frame["words"].as_array().unwrap().iter().map(word).collect()
}

/// Words of a text; their codes must have no error.
fn read(text: &str) -> Vec<Word> {
    let (mut reader, mut words) = (WordReader::new(), vec![]);
    for line in text.lines() {
        let read = reader.line(line, &mut |decoded| {
            assert_eq!((decoded.not_in_table, decoded.disparity, decoded.dropped), (0, 0, 0));
            words.push(decoded.word);
            true
        });
        read.unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    assert_eq!(reader.held(), 0, "{text}");
    words
}

fn encode(forms: &[String], scrambled: bool) -> Vec<Word> {
    let mut encoder = TextEncoder::new(scrambled);
    let word = |form: &String| {
        let word = encoder.encode(form).unwrap_or_else(|error| panic!("{form}: {error}"));
        word.unwrap_or_else(|| panic!("{form}: nothing"))
    };
    forms.iter().map(word).collect()
}

/// Every text form of a word leads back to it.
fn round_trip(word: Word) {
    assert_eq!(read(&word.to_string()), [word]);
    assert_eq!(read(&SymbolNames(word).to_string()), [word]);
    let named = name(word);
    assert_eq!(encode(&[named.to_string()], false), [word], "{named}");
}

#[test]
fn control_words_with_their_codes() {
    let all = vectors();
    for case in list(&all, "control_words") {
        let word = Word { bits: hex(&case["word"]), k: byte(&case["k"]) };
        round_trip(word);
        assert!(case["name"].as_str().unwrap().starts_with(name(word).kind.name()), "{case}");
        assert_eq!(name(word).remark(), None, "{case}");
        // The ten-bit codes as text, at either disparity.
        for start in ["rd_minus", "rd_plus"] {
            let codes: Vec<&str> = case[start]["code"]
                .as_array()
                .unwrap()
                .iter()
                .map(|c| c.as_str().unwrap())
                .collect();
            assert_eq!(read(&codes.join(" ")), [word], "{start}");
            assert_eq!(read(&codes.concat()), [word], "{start}");
            let code = |code: &&str| format!("0x{:03X}", u16::from_str_radix(code, 2).unwrap());
            let hex: Vec<String> = codes.iter().map(code).collect();
            assert_eq!(read(&hex.join(",")), [word], "{start}");
        }
        let codes: Vec<&str> = case["rd_minus"]["code"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c.as_str().unwrap())
            .collect();
        let group = symbols::SymbolEncoder::default().word(word);
        assert_eq!(GroupBits(group).to_string(), codes.join(" "));
    }
}

#[test]
fn every_code_of_the_table() {
    let all = vectors();
    let table = &all["code_8b10b"];
    for (kind, is_k) in [("data", false), ("k", true), ("control", true)] {
        let Some(entries) = table[kind].as_array() else { continue };
        for entry in entries {
            let value = byte(&entry["byte"]);
            for start in ["rd_minus", "rd_plus"] {
                let mut symbols = symbols::WordAssembler::new();
                let text = entry[start][0].as_str().unwrap();
                // D21.5 keeps the disparity; D3.0 makes it positive.
                let first = if start == "rd_minus" { "1010101010" } else { "1100011011" };
                let mut decoded = None;
                for code in [first, "1010101010", "1010101010", text] {
                    let bits = u16::from_str_radix(code, 2).unwrap().reverse_bits() >> 6;
                    decoded = symbols.push(bits);
                }
                let (got, k) = decoded.map_or((0, false), |d| (d.word.symbol(3), d.word.is_k(3)));
                let comma = is_k && matches!(value, 0xfc | 0xbc);
                assert!(
                    comma || (got, k) == (value, is_k),
                    "{kind} {value:02X} {start}: {got:02X}"
                );
            }
        }
    }
    assert_eq!(list(table, "data").len(), 256);
}

#[test]
fn single_words() {
    let all = vectors();
    for case in list(&all, "single_words") {
        let seq = byte(&case["seq"]);
        let number = format!("{}{}", if seq & 0x80 != 0 { '-' } else { '+' }, seq & 0x7f);
        for (key, form, kind) in [
            ("SIF", format!("SIF seq={number}"), WordKind::Sif),
            ("ACK", format!("ACK seq={number}"), WordKind::Ack),
            ("NACK", format!("NACK seq={number}"), WordKind::Nack),
            ("FULL", format!("FULL seq={number}"), WordKind::Full),
            ("FCT_vc0_m1", format!("FCT vc=0 m=1 seq={number}"), WordKind::Fct),
            ("FCT_vc31_m8", format!("FCT vc=31 m=8 seq={number}"), WordKind::Fct),
        ] {
            let word = Word::control(hex(&case[key]));
            assert_eq!(encode(std::slice::from_ref(&form), false), [word]);
            let named = name(word);
            assert_eq!((named.kind, named.to_string()), (kind, form));
            assert_eq!(named.remark(), None);
            round_trip(word);
            let damaged = name(Word::control(word.bits ^ 0x0100_0000));
            assert_eq!(damaged.crc8_expected(), Some(word.symbol(3)));
            round_trip(damaged.word);
        }
    }
}

/// The idle frame after a link reset, from the sequence in the vectors: 64 words and more.
#[test]
fn idle_words() {
    let all = vectors();
    let sequence = list(&all, "prbs_first_64_words");
    let init = "INIT1; INIT2; INIT3 capability=0x05; SIF seq=+0";
    for damaged in [None, Some(20)] {
        let mut listener = LinkListener::new(&ListenerConfig::default());
        let (mut frames, mut violations) = (vec![], vec![]);
        let forms: Vec<String> = init.split(';').map(str::to_owned).collect();
        let mut words = encode(&forms, false);
        words.extend(sequence.iter().map(|word| Word::data(hex(word))));
        if let Some(place) = damaged {
            words[4 + place].bits ^= 0x80;
        }
        words.push(ControlWord::Sif { seq: 0, crc: 0 }.sealed());
        for word in words {
            listener.push(&[Some(word)], &mut |event| match event.what {
                TraceEventKind::IdleFrame(frame) => frames.push((frame.seq, frame.words)),
                TraceEventKind::Violation(violation) => violations.push(violation.name()),
                _ => {}
            });
        }
        assert_eq!(frames, [(0, 64)]);
        assert_eq!(violations.len(), usize::from(damaged.is_some()), "{violations:?}");
    }
}

/// Text forms of the words of a frame's payload.
fn forms_of(payload: &[u8], end: Option<&str>) -> Vec<String> {
    let mut characters: Vec<String> = payload.iter().map(|byte| format!("{byte:02x}")).collect();
    characters.extend(end.map(str::to_owned));
    characters.chunks(4).map(|four| format!("data {}", four.join(" "))).collect()
}

#[test]
fn data_frames_both_ways() {
    let all = vectors();
    for frame in list(&all, "data_frames") {
        let (vc, seq) = (byte(&frame["vc"]), byte(&frame["seq"]));
        let scrambled = frame["scrambled"].as_bool().unwrap();
        let (payload, end) = (bytes(&frame["payload"]), frame["end"].as_str());
        let expected = words(frame);
        let mut forms = vec![format!("SDF vc={vc}")];
        forms.extend(forms_of(&payload, end));
        forms.push(format!("EDF seq=0x{seq:02X}"));
        assert_eq!(encode(&forms, scrambled), expected, "{frame}");

        let config = ListenerConfig { scrambled: Some(scrambled), ..ListenerConfig::default() };
        for damage in [None, Some(1)] {
            let mut listener = LinkListener::new(&config);
            let (mut packets, mut frames, mut violations) = (vec![], 0, vec![]);
            let mut hear = |event: spfe_trace::TraceEvent<'_>| match event.what {
                TraceEventKind::DataFrame(found) => {
                    assert_eq!((found.vc, found.seq, found.accepted), (vc, seq, true));
                    assert_eq!(found.words.len(), expected.len() - 2);
                    frames += 1;
                }
                TraceEventKind::Packet(packet) => {
                    packets.push((packet.bytes.to_vec(), packet.end.name()));
                }
                TraceEventKind::Violation(violation) => violations.push(violation.name()),
                _ => {}
            };
            for (place, word) in expected.iter().enumerate() {
                let bit = u32::from(damage == Some(place));
                let word = Word { bits: word.bits ^ bit, k: word.k & !(bit as u8) };
                listener.push(&[Some(word)], &mut hear);
            }
            listener.finish(&mut hear);
            if damage.is_none() {
                let end = end.filter(|end| *end != "none").unwrap_or("cut");
                assert_eq!(packets, [(payload.clone(), end)], "{frame}");
                assert_eq!((frames, violations), (1, vec![]), "{frame}");
            } else {
                assert_eq!((packets, frames), (vec![], 0), "{frame}");
                assert_eq!(violations, ["CRC-16 error"], "{frame}");
            }
        }
    }
}

#[test]
fn broadcast_frames_both_ways() {
    let all = vectors();
    for frame in list(&all, "broadcast_frames") {
        let (channel, kind) = (byte(&frame["channel"]), byte(&frame["type"]));
        let (data, seq) = (bytes(&frame["data"]), byte(&frame["seq"]));
        let [late, delayed] = ["late", "delayed"].map(|flag| byte(&frame[flag]) != 0);
        let mut forms = vec![format!("SBF channel=0x{channel:02X} type={kind}")];
        forms.extend(forms_of(&data, None));
        let flags =
            format!("{}{}", if late { " late" } else { "" }, if delayed { " delayed" } else { "" });
        forms.push(format!("EBF{flags} seq=0x{seq:02X}"));
        let expected = words(frame);
        assert_eq!(encode(&forms, true), expected);

        let mut listener = LinkListener::new(&ListenerConfig::default());
        let mut found = vec![];
        for word in expected {
            round_trip(word);
            listener.push(&[Some(word)], &mut |event| match event.what {
                TraceEventKind::BroadcastFrame(frame) => found.push(frame),
                TraceEventKind::Violation(violation) => panic!("{violation}"),
                _ => {}
            });
        }
        let [found] = found[..] else { panic!("{found:?}") };
        assert_eq!((found.channel, found.kind, found.seq), (channel, kind, seq));
        assert_eq!((found.late, found.delayed, &found.data[..]), (late, delayed, &data[..]));
    }
}

/// Two lanes: the words are distributed, the rest is PAD, and each lane has its own CRC-16.
#[test]
fn a_data_frame_over_two_lanes() {
    let rows = "000450FC/1 000450FC/1 578256BF/0 538652BB/0 C948AEFA/0 CD4CAAFE/0
                FBFD3F22/C FBFBFBFC/F 3A68111C/1 99FD111C/1";
    let words = rows.lines().flat_map(read).collect::<Vec<_>>();
    let mut listener = LinkListener::new(&ListenerConfig { lanes: 2, ..ListenerConfig::default() });
    let mut packets = vec![];
    for row in words.chunks(2) {
        listener.push(&[Some(row[0]), Some(row[1])], &mut |event| match event.what {
            TraceEventKind::Packet(packet) => packets.push((packet.vc, packet.bytes.to_vec())),
            TraceEventKind::Violation(violation) => panic!("{violation}"),
            _ => {}
        });
    }
    assert_eq!(packets, [(4, (0x40..=0x51).collect())]);
}
