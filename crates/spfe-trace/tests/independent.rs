//! Words of an independent core (`vectors/cnes_b2b*.txt.gz`) in both directions: every frame, CRC,
//! sequence number and payload decodes. Its documented deviations are reported by name, and nothing
//! else is.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use spfe_trace::event::{LanePhase, TraceEnd};
use spfe_trace::{
    LinkPair, ListenerConfig, TraceEvent, TraceEventKind, TraceSummary, Word, WordKind, text,
};

/// Words of both directions.
fn recording(name: &str) -> Vec<[Word; 2]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let mut lines = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut lines).unwrap();
    let mut words = vec![];
    for line in lines.lines() {
        if let Some((pair, times)) = text::recording(line).unwrap() {
            words.extend(core::iter::repeat_n(pair, times as usize));
        }
    }
    words
}

/// Events of one direction.
#[derive(Default)]
struct Seen {
    summary: TraceSummary,
    phases: Vec<LanePhase>,
    capabilities: Vec<u8>,
    /// Data frames: virtual channel, number, words.
    frames: Vec<(u8, u8, Vec<Word>)>,
    /// Packets: virtual channel, bytes, end.
    packets: Vec<(u8, Vec<u8>, TraceEnd)>,
    broadcasts: Vec<(u8, [u8; 8])>,
    /// Numbers of frames and FCTs in order.
    numbers: Vec<u8>,
    acks: Vec<u8>,
    nacks: Vec<u8>,
    violations: Vec<String>,
    /// Number of words in idle frames, and number of idle frames with any words.
    idle_words: u64,
    idle_frames_with_words: u64,
}

impl Seen {
    fn event(&mut self, event: &TraceEvent<'_>) {
        use spfe_link::ControlWord;
        self.summary.event(event);
        match event.what {
            TraceEventKind::Phase { phase, .. } => self.phases.push(phase),
            TraceEventKind::Capability { field, .. } => self.capabilities.push(field),
            TraceEventKind::DataFrame(frame) => {
                assert!(frame.accepted && !frame.resent);
                self.numbers.push(frame.seq);
                self.frames.push((frame.vc, frame.seq, frame.words.to_vec()));
            }
            TraceEventKind::BroadcastFrame(frame) => {
                assert!(frame.accepted && !frame.late && !frame.delayed);
                // The core sends 0 for both, whatever it is told to send.
                assert_eq!((frame.channel, frame.kind), (0, 0));
                self.numbers.push(frame.seq);
                self.broadcasts.push((frame.seq, frame.data));
            }
            TraceEventKind::Token { control, resent } => {
                assert!(!resent);
                match control {
                    ControlWord::Fct { multiplier, seq, .. } => {
                        assert_eq!(multiplier, 1);
                        self.numbers.push(seq);
                    }
                    ControlWord::Ack { seq, .. } => self.acks.push(seq),
                    ControlWord::Nack { seq, .. } => self.nacks.push(seq),
                    _ => panic!("{control:?}"),
                }
            }
            TraceEventKind::Packet(packet) => {
                assert!(!packet.partial && packet.bytes.len() as u64 == packet.length);
                self.packets.push((packet.vc, packet.bytes.to_vec(), packet.end));
            }
            TraceEventKind::IdleFrame(frame) => {
                self.idle_words += u64::from(frame.words);
                self.idle_frames_with_words += u64::from(frame.words != 0);
            }
            TraceEventKind::Violation(violation) => self.violations.push(violation.to_string()),
            _ => {}
        }
    }
}

fn listen(words: &[[Word; 2]]) -> [Seen; 2] {
    let mut pair = LinkPair::new(&ListenerConfig::default());
    let mut seen = [Seen::default(), Seen::default()];
    for [a, b] in words {
        seen[0].summary.word(*a);
        seen[1].summary.word(*b);
        pair.push(&[Some(*a)], &[Some(*b)], &mut |direction, event| {
            seen[direction as usize].event(&event);
        });
    }
    pair.finish(&mut |direction, event| seen[direction as usize].event(&event));
    seen
}

/// Properties that every direction of these recordings has.
fn check(seen: &Seen, words: &[[Word; 2]], direction: usize) {
    assert_eq!(
        seen.phases,
        [LanePhase::Init1, LanePhase::Init2, LanePhase::Init3, LanePhase::Active]
    );
    assert_eq!((&seen.capabilities[..], seen.summary.link_resets), (&[1][..], 1));
    let summary = &seen.summary;
    // Every word that starts or ends something is accounted for.
    assert_eq!(summary.data_frames, summary.words(WordKind::Edf));
    assert_eq!(summary.broadcast_frames, summary.words(WordKind::Ebf));
    assert_eq!(summary.fcts, summary.words(WordKind::Fct));
    assert_eq!(summary.acks, summary.words(WordKind::Ack));
    assert_eq!(summary.nacks, summary.words(WordKind::Nack));
    assert_eq!(summary.idle_frames, summary.words(WordKind::SifD44));
    for kind in [
        WordKind::Sif,
        WordKind::Retry,
        WordKind::Full,
        WordKind::RxErr,
        WordKind::Unknown,
        WordKind::Pad,
    ] {
        assert_eq!(summary.words(kind), 0, "{}", kind.name());
    }
    assert_eq!((summary.resent, summary.missing), (0, 0));
    // Every payload word between SDF and EDF is in a frame, in order. The test parses the words
    // itself.
    let mut payload = vec![];
    let (mut frame, mut data): (Option<Vec<Word>>, bool) = (None, false);
    for word in words.iter().map(|pair| pair[direction]) {
        match (word.k, word.bits & 0xffff) {
            (1, 0x50fc) => (frame, data) = (Some(vec![]), true),
            (1, 0x5dfc) => data = false,
            (1, bits) if bits & 0xff == 0x5c => data = frame.is_some(),
            (1, bits) if bits & 0xff == 0x1c => payload.push(frame.take().unwrap()),
            (1, _) => {}
            _ if data && frame.is_some() => frame.as_mut().unwrap().push(word),
            _ => {}
        }
        data &= frame.is_some();
    }
    let frames: Vec<_> = seen.frames.iter().map(|(_, _, words)| words.clone()).collect();
    assert_eq!(frames, payload);
    // Data words are payload, broadcast messages, idle words, or from before the link was up.
    let active = words.iter().position(|pair| pair[direction].bits == 0xcfcf_cefc).unwrap();
    let before = words[..active].iter().filter(|pair| pair[direction].k == 0).count() as u64;
    let plain = |frame: &(u8, u8, Vec<Word>)| frame.2.iter().filter(|word| word.k == 0).count();
    let carried: usize = seen.frames.iter().map(plain).sum();
    // The recording may end within a frame.
    let open = frame.iter().flatten().filter(|word| word.k == 0).count();
    let sum = before + (carried + open) as u64 + 2 * summary.broadcast_frames + seen.idle_words;
    assert_eq!(summary.words(WordKind::Data), sum);
    // Every byte of a frame is in a packet.
    for vc in 0..8 {
        let mut expected: Vec<(Vec<u8>, TraceEnd)> = vec![(vec![], TraceEnd::Cut)];
        let of_vc = seen.frames.iter().filter(|frame| frame.0 == vc);
        for word in of_vc.flat_map(|frame| &frame.2) {
            for index in 0..4 {
                let last = expected.last_mut().unwrap();
                match (word.is_k(index), word.symbol(index)) {
                    (false, value) => last.0.push(value),
                    (true, 0xfb) => {}
                    (true, end) => {
                        last.1 = if end == 0xfd { TraceEnd::Eop } else { TraceEnd::Eep };
                        expected.push((vec![], TraceEnd::Cut));
                    }
                }
            }
        }
        if expected.last().unwrap().0.is_empty() {
            expected.pop();
        }
        let packets = seen.packets.iter().filter(|packet| packet.0 == vc);
        let packets: Vec<_> = packets.map(|packet| (packet.1.clone(), packet.2)).collect();
        assert_eq!(packets, expected, "virtual channel {vc}");
    }
}

fn by_name(counts: &[(&'static str, u64)]) -> BTreeMap<&'static str, u64> {
    counts.iter().copied().collect()
}

#[test]
fn recording_without_errors() {
    let words = recording("cnes_b2b.txt.gz");
    assert_eq!(words.len(), 12000);
    let seen = listen(&words);
    for direction in 0..2 {
        let (seen, summary) = (&seen[direction], &seen[direction].summary);
        check(seen, &words, direction);
        // Numbers count up from 1 with positive polarity.
        assert!(seen.numbers.iter().copied().eq(1..=0x5f), "{:?}", seen.numbers);
        assert_eq!(summary.data_frames, [44, 46][direction]);
        assert_eq!(summary.broadcast_frames, 4);
        assert_eq!(summary.fcts, [47, 45][direction]);
        assert_eq!((summary.acks, summary.nacks), (70, 0));
        assert_eq!(summary.idle_frames, [4377, 4367][direction]);
        assert_eq!(summary.words(WordKind::Skip), 2);
        let expected = by_name(&[
            // The symbol of SIF differs from the standard.
            ("SIF with D4.4", summary.idle_frames),
            // A counter instead of the pseudo-random sequence, in idle frames and after INIT words.
            ("idle words not pseudo-random", seen.idle_frames_with_words),
            ("INIT filler not pseudo-random", 22),
            ("filler after INIT3", 3),
        ]);
        assert_eq!(summary.violations, expected);
    }
    // Each end acknowledges numbers of the other, in order, including the last.
    for (acks, numbers) in [(0, 1), (1, 0)] {
        let mut numbers = seen[numbers].numbers.iter();
        assert!(seen[acks].acks.iter().all(|ack| numbers.any(|number| number == ack)));
        assert_eq!(numbers.next(), None);
    }
}

#[test]
fn recording_with_a_bit_error() {
    let words = recording("cnes_b2b_biterror.txt.gz");
    assert_eq!(words.len(), 5000);
    let seen = listen(&words);
    for direction in 0..2 {
        let (seen, summary) = (&seen[direction], &seen[direction].summary);
        check(seen, &words, direction);
        // The polarity changes after the NACK of the other end. The core answers the NACK with
        // neither RETRY nor a resend: the numbers simply continue.
        let [turn, end] = [[0x2a, 0x4d], [0x2b, 0x4e]][direction];
        let numbers = (1..=turn).chain((turn + 1..=end).map(|count| count | 0x80));
        assert!(seen.numbers.iter().copied().eq(numbers), "{:02x?}", seen.numbers);
        assert_eq!(summary.data_frames, [41, 42][direction]);
        assert_eq!((summary.broadcast_frames, summary.fcts), (4, 32));
        assert_eq!((summary.acks, summary.nacks), [(16, 75), (15, 77)][direction]);
        assert!(seen.nacks.iter().all(|nack| *nack == [0x29, 0x28][direction]));
        assert_eq!(summary.idle_frames, [937, 904][direction]);
        let expected = by_name(&[
            ("SIF with D4.4", summary.idle_frames),
            ("idle words not pseudo-random", seen.idle_frames_with_words),
            ("INIT filler not pseudo-random", 22),
            ("filler after INIT3", 3),
            ("polarity changed without RETRY", 1),
            ("not resent after NACK", 1),
        ]);
        assert_eq!(summary.violations, expected);
        let [asked, came] = [["+41", "-43"], ["+42", "-44"]][direction];
        let what = format!("not resent after NACK: {came} came, {asked} was asked for");
        assert!(seen.violations.contains(&what), "{what}");
    }
}
