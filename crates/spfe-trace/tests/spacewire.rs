//! SpaceWire: characters, bits and wires to packets, codes and violations.

use spfe_link::spacewire::ds::DsEncoder;
use spfe_link::spacewire::encode::CharacterEncoder;
use spfe_link::spacewire::{NChar, SpaceWireCharacter};
use spfe_trace::LinkDirection::{AToB, BToA};
use spfe_trace::spacewire::text::{bits, characters, signals};
use spfe_trace::spacewire::{SpaceWireEvent, SpaceWireEventKind, SpaceWireListener, SpaceWirePair};

const TRAFFIC: &str = "NULL x3 FCT x2 TIME=63 12 34 EOP NULL 56 INT=4 78 EEP ACK=4 TIME=0 EOP NULL";

#[derive(Default, Debug, PartialEq)]
struct Seen {
    packets: Vec<(Vec<u8>, &'static str)>,
    codes: Vec<String>,
    violations: Vec<String>,
    characters: Vec<SpaceWireCharacter>,
    starts: u32,
}

impl Seen {
    fn event(&mut self, event: &SpaceWireEvent<'_>) {
        match event.what {
            SpaceWireEventKind::GotNull => self.starts += 1,
            SpaceWireEventKind::Character(character) => self.characters.push(character),
            SpaceWireEventKind::TimeCode { time } => self.codes.push(format!("time {time}")),
            SpaceWireEventKind::Interrupt { id } => self.codes.push(format!("interrupt {id}")),
            SpaceWireEventKind::Acknowledge { id } => self.codes.push(format!("acknowledge {id}")),
            SpaceWireEventKind::Packet(packet) => {
                assert_eq!(packet.bytes.len() as u64, packet.length);
                self.packets.push((packet.bytes.to_vec(), packet.end.name()));
            }
            SpaceWireEventKind::Violation(violation) => self.violations.push(violation.to_string()),
        }
    }
}

fn list(text: &str) -> Vec<SpaceWireCharacter> {
    let repeat = |found: Result<(SpaceWireCharacter, u32), _>| {
        let (character, times) = found.unwrap();
        std::iter::repeat_n(character, times as usize)
    };
    characters(text).flat_map(repeat).collect()
}

fn listen(text: &str) -> Seen {
    let (mut listener, mut seen) = (SpaceWireListener::new(1000), Seen::default());
    for character in list(text) {
        listener.push(character, &mut |event| seen.event(&event));
    }
    listener.finish(&mut |event| seen.event(&event));
    seen
}

#[test]
fn packets_and_codes() {
    let seen = listen(TRAFFIC);
    let packet = |bytes: &[u8], end| (bytes.to_vec(), end);
    let packets = [packet(&[0x12, 0x34], "EOP"), packet(&[0x56, 0x78], "EEP"), packet(&[], "EOP")];
    assert_eq!(seen.packets, packets);
    assert_eq!(seen.codes, ["time 63", "interrupt 4", "acknowledge 4", "time 0"]);
    assert_eq!((seen.starts, seen.violations.len()), (1, 0));
    assert_eq!(listen("NULL 01 02").packets, [packet(&[1, 2], "cut")]);
}

/// The same from bits, and from data and strobe, as text.
#[test]
fn bits_and_wires() {
    let (mut encoder, mut wires) = (CharacterEncoder::new(), DsEncoder::new());
    let (mut bit_text, mut wire_text) = (String::new(), String::from("00 "));
    // The parity of the last character is in the one after it.
    for character in list(&format!("{TRAFFIC} NULL NULL")) {
        let mut code = encoder.encode(character);
        while let Some(bit) = code.next_bit() {
            bit_text.push(if bit { '1' } else { '0' });
            let now = wires.bit(bit);
            wire_text.push_str(&format!("{}{} ", u8::from(now.d), u8::from(now.s)));
        }
        bit_text.push('\n');
    }
    let expected = listen(&format!("{TRAFFIC} NULL"));
    let (mut from_bits, mut from_wires) = (Seen::default(), Seen::default());
    let mut listener = SpaceWireListener::new(1000);
    for bit in bit_text.lines().flat_map(bits) {
        listener.push_bit(bit.unwrap(), &mut |event| from_bits.event(&event));
    }
    let mut listener = SpaceWireListener::new(1000);
    for now in signals(&wire_text) {
        listener.push_signals(now.unwrap(), &mut |event| from_wires.event(&event));
    }
    assert_eq!(from_bits, from_wires);
    assert_eq!(from_bits, expected);

    // A wrong bit in the second data character: parity error, and the packet has no end.
    let mut wrong = bit_text.clone().into_bytes();
    let place = bit_text.lines().take(7).map(|line| line.len() + 1).sum::<usize>() + 4;
    wrong[place] ^= 1;
    let (mut listener, mut seen) = (SpaceWireListener::new(1000), Seen::default());
    for bit in std::str::from_utf8(&wrong).unwrap().lines().flat_map(bits) {
        listener.push_bit(bit.unwrap(), &mut |event| seen.event(&event));
    }
    assert_eq!(seen.violations, ["parity error"]);
    // Nothing is decoded then until NULLs follow each other.
    assert_eq!((seen.packets, seen.starts), (vec![(vec![0x12], "cut")], 2));
}

#[test]
fn violations_of_one_direction() {
    for (text, expected) in [
        ("NULL TIME=1 TIME=2 TIME=3", &[][..]),
        ("NULL TIME=1 TIME=3", &["time-code not the next: 3, not 2"]),
        ("NULL CODE=0x41", &["reserved broadcast code: 0x41"]),
        ("FCT NULL", &["first character not NULL"]),
    ] {
        assert_eq!(listen(text).violations, expected, "{text}");
    }
    let (mut listener, mut seen) = (SpaceWireListener::new(1), Seen::default());
    for now in signals("00 11") {
        listener.push_signals(now.unwrap(), &mut |event| seen.event(&event));
    }
    assert_eq!(seen.violations, ["data and strobe at once"]);
    // ESC twice: the first bits of a NULL, then two ESCs with their parities.
    let (mut listener, mut seen) = (SpaceWireListener::new(1), Seen::default());
    for bit in bits("01110100 0111 0111 0111") {
        listener.push_bit(bit.unwrap(), &mut |event| seen.event(&event));
    }
    assert_eq!(seen.violations, ["escape error"]);
}

#[test]
fn credit() {
    let run = |steps: &[(spfe_trace::LinkDirection, &str)]| {
        let (mut pair, mut seen) = (SpaceWirePair::new(1000), Seen::default());
        for (from, text) in steps {
            for character in list(text) {
                pair.push(*from, character, &mut |event| seen.event(&event));
            }
        }
        pair.finish(&mut |event| seen.event(&event));
        seen.violations
    };
    let up = [(AToB, "NULL x2"), (BToA, "NULL x2")];
    let with = |rest: &[(spfe_trace::LinkDirection, &'static str)]| run(&[&up[..], rest].concat());
    assert_eq!(with(&[(BToA, "FCT"), (AToB, "01 x7 EOP")]), [""; 0]);
    assert_eq!(with(&[(BToA, "FCT"), (AToB, "01 x8 EOP")]), ["N-Char without credit"]);
    assert_eq!(with(&[(BToA, "FCT x7")]), [""; 0]);
    assert_eq!(with(&[(BToA, "FCT x8")]), ["FCT over credit"]);
    assert_eq!(with(&[(BToA, "FCT x7"), (AToB, "01 x8"), (BToA, "FCT")]), [""; 0]);
    // In the middle of traffic the credit is unknown.
    assert_eq!(run(&[(AToB, "01 x9")]), ["first character not NULL"]);
    assert_eq!(list("EOP")[0], SpaceWireCharacter::NChar(NChar::Eop));
}
