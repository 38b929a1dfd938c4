//! Random records: generation, writing, and comparison with what the reader returns.

use proptest::prelude::*;
use spfe_capture::event::EventCode;
use spfe_capture::layout::flag;
use spfe_capture::record::BroadcastMessage;
use spfe_capture::*;
use spfe_link::Word;
use spfe_link::spacewire::{self, BroadcastCode, NChar};
use std::io::Write;

/// A record that owns its content.
#[derive(Clone, Debug)]
pub enum Made {
    Packet {
        bytes: Vec<u8>,
        end: PacketEnd,
        vc: Option<u8>,
        network: Option<u8>,
        id: u64,
        flags: u16,
    },
    Broadcast {
        channel: u8,
        kind: u8,
        data: [u8; 8],
        late: bool,
        delayed: bool,
    },
    Code(u8),
    Event {
        code: EventCode,
        value: u32,
        text: String,
        lane: Option<u8>,
    },
    Words {
        words: Vec<LineWord>,
        period_ps: u32,
        first: u64,
        lane: u8,
    },
    Characters {
        characters: Vec<LineCharacter>,
        bit_ps: u32,
        first: u64,
    },
    Frame {
        words: Vec<LineWord>,
        lane: u8,
        flags: u16,
    },
}

fn line_word() -> impl Strategy<Value = LineWord> + Clone {
    (any::<u32>(), 0..16u8, 0..8u8)
        .prop_map(|(bits, k, flags)| LineWord { word: Word { bits, k }, flags })
}

fn character() -> impl Strategy<Value = LineCharacter> {
    use spacewire::SpaceWireCharacter as C;
    prop_oneof![
        any::<u8>().prop_map(|byte| LineCharacter::Good(C::NChar(NChar::Data(byte)))),
        any::<u8>().prop_map(|code| LineCharacter::Good(C::Broadcast(BroadcastCode(code)))),
        proptest::sample::select(vec![
            LineCharacter::Good(C::Null),
            LineCharacter::Good(C::Fct),
            LineCharacter::Good(C::NChar(NChar::Eop)),
            LineCharacter::Good(C::NChar(NChar::Eep)),
            LineCharacter::ParityError,
            LineCharacter::EscapeError,
        ]),
    ]
}

pub fn made() -> impl Strategy<Value = Made> {
    let end = proptest::sample::select(PacketEnd::ALL);
    let flags =
        proptest::sample::select(vec![0, flag::FAULT, flag::RESENT | flag::SCRAMBLED, flag::ERROR]);
    let lane = proptest::option::of(0..16u8);
    let bytes = proptest::collection::vec(any::<u8>(), 0..200);
    let words = proptest::collection::vec(line_word(), 1..40);
    prop_oneof![
        (
            bytes,
            end,
            proptest::option::of(0..32u8),
            proptest::option::of(0..64u8),
            any::<u64>(),
            flags.clone()
        )
            .prop_map(|(bytes, end, vc, network, id, flags)| Made::Packet {
                bytes,
                end,
                vc,
                network,
                id,
                flags
            }),
        any::<(u8, u8, [u8; 8], bool, bool)>().prop_map(|(channel, kind, data, late, delayed)| {
            Made::Broadcast { channel, kind, data, late, delayed }
        }),
        any::<u8>().prop_map(Made::Code),
        (proptest::sample::select(EventCode::ALL), any::<u32>(), "\\PC{0,40}", lane)
            .prop_map(|(code, value, text, lane)| Made::Event { code, value, text, lane }),
        (words.clone(), any::<u32>(), any::<u64>(), 0..16u8).prop_map(
            |(words, period_ps, first, lane)| Made::Words { words, period_ps, first, lane }
        ),
        (proptest::collection::vec(character(), 1..60), any::<u32>(), any::<u64>())
            .prop_map(|(characters, bit_ps, first)| Made::Characters { characters, bit_ps, first }),
        (words, 0..16u8, flags).prop_map(|(words, lane, flags)| Made::Frame { words, lane, flags }),
    ]
}

impl Made {
    pub fn write<W: Write>(
        &self,
        capture: &mut CaptureWriter<W>,
        time_ps: u64,
        id: InterfaceId,
    ) -> Result<(), CaptureError> {
        let direction = RecordDirection::Received;
        match self {
            Self::Packet { bytes, end, vc, network, id: identity, flags } => {
                let packet = PacketRecord {
                    link: LinkKind::SpaceFibre,
                    direction: RecordDirection::Sent,
                    vc: *vc,
                    network: *network,
                    id: *identity,
                    flags: *flags,
                    ..PacketRecord::new(bytes, *end)
                };
                capture.packet(time_ps, id, &packet)
            }
            Self::Broadcast { channel, kind, data, late, delayed } => {
                let message = BroadcastMessage {
                    channel: *channel,
                    kind: *kind,
                    data: *data,
                    late: *late,
                    delayed: *delayed,
                };
                capture.broadcast(time_ps, id, &BroadcastRecord { message, direction, flags: 0 })
            }
            Self::Code(code) => {
                let code = CodeRecord { code: BroadcastCode(*code), direction, flags: 0 };
                capture.time_code(time_ps, id, &code)
            }
            Self::Event { code, value, text, lane } => {
                let event = LinkEvent { lane: *lane, ..LinkEvent::new(*code, *value) };
                capture.event(time_ps, id, &event.text(text))
            }
            Self::Words { words, period_ps, first, lane } => {
                let words = WordsRecord {
                    words,
                    period_ps: *period_ps,
                    first: *first,
                    lane: *lane,
                    lanes: 2,
                    direction,
                    flags: 0,
                };
                capture.words(time_ps, id, &words)
            }
            Self::Characters { characters, bit_ps, first } => {
                let (bit_ps, first) = (*bit_ps, *first);
                let characters =
                    CharactersRecord { characters, bit_ps, first, direction, flags: 0 };
                capture.characters(time_ps, id, &characters)
            }
            Self::Frame { words, lane, flags } => {
                let frame = FrameRecord { words, lane: *lane, lanes: 0, direction, flags: *flags };
                capture.frame(time_ps, id, &frame)
            }
        }
    }

    /// Reads the one or several records that `write` produced, and compares them.
    pub fn expect(
        &self,
        reader: &mut CaptureReader<&[u8]>,
        time_ps: u64,
        interface: u32,
        snaplen: usize,
    ) {
        let room = snaplen - layout::HEADER;
        match self {
            Self::Words { words, period_ps, first, lane } => {
                let (mut done, mut time_ps) = (0, time_ps);
                while done < words.len() {
                    let record = reader.record().unwrap().expect("words go on");
                    let header = record.header;
                    assert_eq!(
                        (record.time_ps, header.id),
                        (time_ps, first.wrapping_add(done as u64))
                    );
                    assert_eq!((header.lane, header.lanes), (Some(*lane), 2));
                    let RecordContent::Words(list) = record.content else { panic!("{record:?}") };
                    let found: Vec<_> = list.iter().collect();
                    assert_eq!(found, words[done..done + found.len()]);
                    assert!(found.len() == room / 8 || done + found.len() == words.len());
                    done += found.len();
                    time_ps = time_ps.saturating_add(found.len() as u64 * u64::from(*period_ps));
                }
                return;
            }
            Self::Characters { characters, bit_ps, first } => {
                let (mut done, mut time_ps) = (0, time_ps);
                while done < characters.len() {
                    let record = reader.record().unwrap().expect("characters go on");
                    let header = record.header;
                    assert_eq!(
                        (record.time_ps, header.id),
                        (time_ps, first.wrapping_add(done as u64))
                    );
                    let RecordContent::Characters(list) = record.content else {
                        panic!("{record:?}")
                    };
                    let found: Vec<_> = list.iter().collect();
                    assert_eq!(found, characters[done..done + found.len()]);
                    done += found.len();
                    let bits: u64 = found.iter().map(|one| u64::from(one.length_bits())).sum();
                    time_ps = time_ps.saturating_add(bits * u64::from(*bit_ps));
                }
                return;
            }
            _ => {}
        }
        let record = reader.record().unwrap().expect("one record");
        assert_eq!((record.time_ps, record.interface), (time_ps, interface));
        let header = record.header;
        let cut = header.flags & flag::TRUNCATED != 0;
        match (self, record.content) {
            (Self::Packet { bytes, end, vc, network, id, flags }, RecordContent::Packet(found)) => {
                assert_eq!(found, &bytes[..bytes.len().min(room)]);
                assert_eq!((header.end, header.vc, header.network), (*end, *vc, *network));
                assert_eq!((header.id, header.length), (*id, bytes.len() as u32));
                assert_eq!(cut, bytes.len() > room);
                assert_eq!(header.flags & !flag::TRUNCATED, *flags);
            }
            (
                Self::Broadcast { channel, kind, data, late, delayed },
                RecordContent::Broadcast(message),
            ) => {
                assert_eq!((message.channel, message.kind, message.data), (*channel, *kind, *data));
                assert_eq!((message.late, message.delayed), (*late, *delayed));
            }
            (Self::Code(code), RecordContent::Code(found)) => assert_eq!(found.0, *code),
            (
                Self::Event { code, value, text, lane },
                RecordContent::Event { code: found, number, severity, value: v, text: t },
            ) => {
                assert_eq!((found, number, v), (Some(*code), *code as u16, *value));
                assert_eq!((severity, header.lane), (code.severity(), *lane));
                assert!(text.starts_with(t) && cut == (t.len() < text.len()));
                assert!(t.len() <= room - 8 && (t == text || t.len() + 4 > room - 8));
                assert!(record.comment.starts_with(code.name()) && record.comment.ends_with(t));
            }
            (Self::Frame { words, lane, flags }, RecordContent::Frame(list)) => {
                let found: Vec<_> = list.iter().collect();
                assert_eq!(found, words[..words.len().min(room / 8)]);
                assert_eq!((header.lane, header.flags & !flag::TRUNCATED), (Some(*lane), *flags));
                assert_eq!((header.length, cut), (words.len() as u32, words.len() > room / 8));
            }
            (made, found) => panic!("{made:?} was read as {found:?}"),
        }
    }
}

/// Names of the two interfaces of a test capture.
pub const NAMES: [&str; 2] = ["a.1>b.2", "b.2>a.1"];

/// Writes a capture of records, each with its time and its interface (0 or 1).
pub fn capture(
    options: &WriterOptions<'_>,
    records: &[(u64, usize, Made)],
) -> (Vec<u8>, CaptureSummary) {
    let mut capture = CaptureWriter::new(Vec::new(), options).expect("options are good");
    let ids = NAMES.map(|name| {
        let interface = Interface { name, description: "", speed_bps: None };
        capture.interface(&interface).expect("name is short")
    });
    for (time_ps, interface, made) in records {
        made.write(&mut capture, *time_ps, ids[*interface]).expect("record is good");
    }
    capture.finish().expect("memory does not fail")
}

pub fn records(most: usize) -> impl Strategy<Value = Vec<(u64, usize, Made)>> {
    proptest::collection::vec((any::<u64>(), 0..2usize, made()), 0..most)
}
