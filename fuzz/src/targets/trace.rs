//! Traffic that somebody else sent, as words, codes, characters and text.

use arbitrary::Arbitrary;
use spfe_trace::encode::TextEncoder;
use spfe_trace::read::WordReader;
use spfe_trace::symbols::WordAssembler;
use spfe_trace::{
    LANES_MAX, LinkDirection, LinkPair, ListenerConfig, TraceEventKind, TraceSummary, Word, name,
    spacewire, text,
};

#[derive(Arbitrary, Debug)]
struct Input {
    lanes: u8,
    scrambled: Option<bool>,
    crc_covers_scrambled: bool,
    packet_limit: u8,
    rows: Vec<(Row, Row)>,
    codes: Vec<u16>,
    bits: Vec<u8>,
    lines: Vec<String>,
}

#[derive(Arbitrary, Debug)]
enum Row {
    /// The same on all lanes.
    Same(u32, u8),
    /// A control word of the standard, with a good CRC-8.
    Control(u8, u8, u8),
    Each(Vec<Option<(u32, u8)>>),
    /// A data frame of two characters.
    Frame(u8, u8),
}

/// Words that get further than chance would.
const FORMS: [&str; 18] = [
    "INIT1",
    "INIT2",
    "INIT3 capability=0x01",
    "INIT3 capability=0x0C",
    "IDLE",
    "SKIP",
    "STANDBY",
    "LOST_SIGNAL",
    "ACTIVE lanes=3",
    "RETRY",
    "PAD",
    "RXERR",
    "iINIT1",
    "SBF",
    "SDF",
    "SIF",
    "ALIGN hot-redundant",
    "DATA 01 02 EOP",
];

impl Row {
    fn rows(&self) -> Vec<Vec<Option<Word>>> {
        let same = |word| vec![word; LANES_MAX];
        let made = |forms: &[String]| {
            let mut encoder = TextEncoder::new(false);
            forms.iter().map(|form| same(encoder.encode(form).expect("a form"))).collect()
        };
        match self {
            Self::Same(bits, k) => vec![same(Some(Word { bits: *bits, k: *k }))],
            Self::Each(words) => {
                let word = |(bits, k)| Word { bits, k };
                vec![words.iter().take(LANES_MAX + 1).map(|given| given.map(word)).collect()]
            }
            Self::Control(kind, seq, vc) => made(&[match kind % 23 {
                0 => format!("ACK seq=0x{seq:02X}"),
                1 => format!("NACK seq=0x{seq:02X}"),
                2 => format!("FULL seq=0x{seq:02X}"),
                3 => format!("FCT seq=0x{seq:02X} vc={}", vc % 32),
                4 => format!("ALIGN lane={} lanes={}", seq % 16, vc % 16 + 1),
                kind => FORMS[usize::from(kind - 5)].to_owned(),
            }]),
            Self::Frame(vc, seq) => made(&[
                format!("SDF vc={vc}"),
                "DATA 41 42 EOP".to_owned(),
                format!("EDF seq=0x{seq:02X}"),
            ]),
        }
    }
}

fn check_text(line: &str) {
    let mut encoder = TextEncoder::new(true);
    if let Ok(Some(word)) = encoder.encode(line) {
        let named = name(word);
        if named.remark().is_none() && named.control.is_some() {
            assert_eq!(
                TextEncoder::new(false).encode(&named.to_string()),
                Ok(Some(word)),
                "{named}"
            );
        }
    }
    let (mut reader, mut words) = (WordReader::new(), 0);
    let _ = reader.line(line, &mut |_| {
        words += 1;
        words < 1000
    });
    let _ = text::recording(line);
    for character in spacewire::text::characters(line).flatten() {
        let text = spacewire::text::CharacterName(character.0).to_string();
        assert_eq!(spacewire::text::character(&text), Some(character.0));
    }
    let _ = (spacewire::text::bits(line).count(), spacewire::text::signals(line).count());
}

crate::target!(|input: Input| {
    let limit = usize::from(input.packet_limit);
    let config = ListenerConfig {
        lanes: input.lanes,
        scrambled: input.scrambled,
        crc_covers_scrambled: input.crc_covers_scrambled,
        packet_limit_bytes: limit,
    };
    let (mut pair, mut summary, mut events, mut periods) =
        (LinkPair::new(&config), TraceSummary::default(), 0u64, 0u64);
    let mut hear = |_: LinkDirection, event: spfe_trace::TraceEvent<'_>| {
        events += 1;
        summary.event(&event);
        if let TraceEventKind::Packet(packet) = event.what {
            assert!(packet.bytes.len() <= limit && packet.bytes.len() as u64 <= packet.length);
        }
    };
    for (a, b) in &input.rows {
        let (a, b) = (a.rows(), b.rows());
        for at in 0..a.len().max(b.len()) {
            let row = |rows: &[Vec<Option<Word>>]| rows.get(at).cloned().unwrap_or_default();
            pair.push(&row(&a), &row(&b), &mut hear);
            periods += 1;
        }
    }
    pair.finish(&mut hear);
    assert!(events <= 200 * (periods + 1));

    let mut symbols = WordAssembler::new();
    for code in &input.codes {
        symbols.push(*code);
    }
    let mut listener = spacewire::SpaceWireListener::new(limit);
    for bit in &input.bits {
        listener.push_bit(bit & 1 != 0, &mut |_| ());
    }
    listener.finish(&mut |_| ());
    input.lines.iter().for_each(|line| check_text(line));
});
