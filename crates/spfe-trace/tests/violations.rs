//! Every violation is reported by its name, and similar valid traffic is not.

use spfe_trace::encode::TextEncoder;
use spfe_trace::{
    LinkDirection, LinkListener, LinkPair, ListenerConfig, TraceEvent, TraceEventKind, Word,
    WordKind, name,
};

/// Start of a link with a link reset; data frames are not scrambled.
const UP: &str = "INIT1; INIT2; INIT3 capability=0x01";
const IDLE: &str = "SIF seq=+0; DATA FF 17 C0 14; DATA B2 E7 02 82";

/// Words of text forms; `*N` after a form repeats it.
fn words(forms: &str) -> Vec<Option<Word>> {
    let (mut encoder, mut words) = (TextEncoder::new(false), vec![]);
    for form in forms.split(';').filter(|form| !form.trim().is_empty()) {
        let (form, times) = form.split_once('*').unwrap_or((form, "1"));
        for _ in 0..times.trim().parse().unwrap() {
            let word = match form.trim() {
                "silence" => None,
                raw if raw.contains('/') => {
                    let (bits, k) = raw.split_once('/').unwrap();
                    let bits = u32::from_str_radix(bits, 16).unwrap();
                    Some(Word { bits, k: u8::from_str_radix(k, 16).unwrap() })
                }
                form => encoder.encode(form).unwrap_or_else(|error| panic!("{form}: {error}")),
            };
            words.push(word);
        }
    }
    words
}

fn violation(found: &mut Vec<&'static str>, event: &TraceEvent<'_>) {
    if let TraceEventKind::Violation(violation) = event.what {
        assert!(violation.to_string().starts_with(violation.name()));
        found.push(violation.name());
    }
}

/// Violations in one direction.
fn one(forms: &str) -> Vec<&'static str> {
    let mut listener = LinkListener::new(&ListenerConfig::default());
    let mut found = vec![];
    for word in words(forms) {
        listener.push(&[word], &mut |event| violation(&mut found, &event));
    }
    found
}

/// Violations on several lanes with words of their own.
fn lanes(forms: &[&str]) -> Vec<&'static str> {
    let lanes: Vec<_> = forms.iter().map(|forms| words(forms)).collect();
    let mut listener = LinkListener::new(&ListenerConfig {
        lanes: lanes.len() as u8,
        ..ListenerConfig::default()
    });
    let mut found = vec![];
    for at in 0..lanes.iter().map(Vec::len).max().unwrap() {
        let row: Vec<_> = lanes.iter().map(|words| words.get(at).copied().flatten()).collect();
        listener.push(&row, &mut |event| violation(&mut found, &event));
    }
    found
}

/// Violations in both directions. `|` separates parts; both directions wait for each other there.
fn both(a: &str, b: &str) -> [Vec<&'static str>; 2] {
    let mut pair = LinkPair::new(&ListenerConfig::default());
    let mut found = [vec![], vec![]];
    let stretches = a.split('|').zip(b.split('|'));
    assert_eq!(a.split('|').count(), b.split('|').count());
    for (a, b) in stretches {
        let (a, b) = (words(a), words(b));
        let idle = Some(Word::control(0xcfcf_cefc));
        for at in 0..a.len().max(b.len()) {
            let word = |words: &[Option<Word>]| words.get(at).copied().unwrap_or(idle);
            pair.push(&[word(&a)], &[word(&b)], &mut |direction: LinkDirection, event| {
                violation(&mut found[direction as usize], &event);
            });
        }
    }
    found
}

const FRAME: &str = "SDF vc=1; DATA 01 02 03 EOP; EDF seq=";

fn frame(seq: &str) -> String {
    format!("{FRAME}{seq}")
}

#[test]
fn violations_of_lanes() {
    let long = format!("{}; {}", "INIT1; DATA FF 17 C0 14*64", "INIT2; INIT3; IDLE");
    for (forms, expected) in [
        ("INIT1; INIT1; INIT2; INIT3; IDLE; SKIP", &[][..]),
        (&long, &[]),
        ("INIT1; RXERR; INIT2", &["damaged word"]),
        ("RXERR; INIT1", &[]),
        ("IDLE; 123456FC/1", &["unknown control word"]),
        ("INIT1; INIT3", &["phase order"]),
        ("INIT1; IDLE", &["phase order"]),
        ("INIT3 capability=1; INIT3 capability=2", &["capability changed"]),
        ("INIT3 capability=1; INIT1; INIT2; INIT3 capability=2", &[]),
        (
            "INIT1; DATA 00 00 00 00*3; INIT1; DATA 01 02 03 04",
            &["INIT filler not pseudo-random"; 2],
        ),
        ("INIT3; DATA FF 17 C0 14; INIT3; DATA B2 E7 02 82", &["filler after INIT3"; 2]),
        ("INIT1; DATA FF 17 C0 14*65", &["INIT filler too long"]),
        ("IDLE; LOST_SIGNAL cause=1*32; INIT1", &[]),
        ("IDLE; STANDBY*7; silence; INIT1", &[]),
        ("IDLE; LOST_SIGNAL cause=1*33; INIT1", &["LOST_SIGNAL or STANDBY over 32 times"]),
        ("INIT1; LOST_SIGNAL", &["phase order"]),
        // Swapped wires: from the third inverted INIT on the words are inverted, and are those of
        // the standard.
        ("iINIT1*4; B9B931BC/1", &[]),
    ] {
        assert_eq!(one(forms), expected, "{forms}");
    }
}

#[test]
fn violations_of_rows() {
    let aligned = ["IDLE; ALIGN lane=0 lanes=2", "IDLE; ALIGN lane=1 lanes=2"];
    let with = |a: &str, b: &str| {
        lanes(&[&format!("{}; {a}", aligned[0]), &format!("{}; {b}", aligned[1])])
    };
    assert_eq!(with(IDLE, IDLE), [""; 0]);
    assert_eq!(with("SIF seq=+0", "SIF seq=+1"), ["control row differs"]);
    assert_eq!(with("SIF seq=+0", "DATA 01 02 03 04"), ["invalid row"]);
    assert_eq!(with("PAD", "PAD"), ["invalid row"]);
    // A lane three words behind is still aligned; more is too much.
    let late = |words: usize| format!("silence*{words}; {}; SIF", aligned[1]);
    let front = format!("{}; SIF; ACK*8", aligned[0]);
    assert_eq!(lanes(&[&front, &late(3)]), [""; 0]);
    let skewed = with("IDLE; ALIGN lane=0 lanes=2; SIF*9", "IDLE; SIF*9");
    assert_eq!(skewed, ["misaligned"]);
    assert_eq!(with("SIF*9", "IDLE*9"), ["lane skew"]);
    assert_eq!(one("ALIGN field=0x12 inverse=0x12"), ["ALIGN field"]);
}

#[test]
fn violations_of_frames() {
    let frames = format!("{UP}; {}; {}; {IDLE}", frame("+1"), frame("+2"));
    let full =
        |words: usize| format!("{UP}; SDF; DATA 01 02 03 04*{words}; EDF seq=+1; SIF seq=+1");
    let broadcast = "SBF channel=1; DATA 01 02 03 04*2";
    for (forms, expected) in [
        (frames.replace("SIF seq=+0", "SIF seq=+2").as_str(), &[][..]),
        (&full(64), &[]),
        (&full(65), &["frame error"]),
        (&full(0), &["frame error"]),
        (&format!("{UP}; SDF vc=32; DATA 01 EOP; EDF seq=+1"), &["virtual channel over 31"]),
        (&format!("{UP}; SDF; DATA 01 02 EOP 03; EDF seq=+1"), &["characters of a data frame"]),
        (&format!("{UP}; SDF; DATA 01 02 03 04; EDF seq=+1 crc=0x1234"), &["CRC-16 error"]),
        (&format!("{UP}; SIF seq=+0 crc=0x45"), &["CRC-8 error"]),
        (&format!("{UP}; FCT seq=+1 crc=0; FCT seq=+2"), &["CRC-8 error"]),
        (&format!("{UP}; {}; {}", frame("+1"), frame("+3")), &["sequence error"]),
        (&format!("{UP}; {}", frame("+2")), &["sequence error"]),
        (&frame("+2"), &[]),
        (&format!("{UP}; FCT seq=+1; FULL seq=+1; FULL seq=+2"), &["sequence error"]),
        (&format!("{UP}; {}; {}", frame("+1"), frame("-2")), &["polarity changed without RETRY"]),
        (&format!("{UP}; {}; RETRY; {}", frame("+1"), frame("-1")), &[]),
        (&format!("{UP}; {}; RETRY; {}", frame("+1"), frame("+1")), &["polarity kept after RETRY"]),
        (&format!("{UP}; SDF; SDF"), &["frame error"]),
        (&format!("{UP}; SDF; SIF seq=+0"), &["frame error"]),
        (&format!("{UP}; {broadcast}; EBF seq=+1"), &[]),
        (&format!("{UP}; SDF; {broadcast}; EBF seq=+1; DATA 01 EOP; EDF seq=+2"), &[]),
        (&format!("{UP}; {broadcast}; DATA 01 02 03 04"), &["frame error"]),
        (&format!("{UP}; {broadcast}; EBF seq=+1 crc=0"), &["CRC-8 error"]),
        (&format!("{UP}; {broadcast}; ACK seq=+0; EBF seq=+1"), &["word inside a broadcast frame"]),
        (&format!("{UP}; {}; DATA 01 02 03 04*2", frame("+1")), &["data outside a frame"]),
        (&format!("{UP}; SIF(D4.4) seq=+0"), &["SIF with D4.4"]),
        (&format!("{UP}; SIF seq=+0; DATA 00 00 00 00*3"), &["idle words not pseudo-random"]),
        // The sequence continues over other words. If its start was not seen, it may be anywhere.
        (&format!("{UP}; SIF; DATA FF 17 C0 14; ACK; SIF; DATA B2 E7 02 82"), &[]),
        (
            &format!("{UP}; SIF; DATA FF 17 C0 14; ACK; SIF; DATA FF 17 C0 14"),
            &["idle words not pseudo-random"],
        ),
        ("SIF; DATA B2 E7 02 82", &[]),
        (&format!("{UP}; ACK; IDLE*14; ACK"), &[]),
        (&format!("{UP}; ACK; IDLE*13; ACK"), &["ACKs too close"]),
    ] {
        assert_eq!(one(forms), expected, "{forms}");
    }
}

#[test]
fn violations_of_both_directions() {
    let start = format!("{UP} |");
    let a = |rest: &str| format!("{start}{rest}");
    let data = |words: u32, seq: u32| format!("SDF vc=1; DATA 01 02 03 04*{words}; EDF seq=+{seq}");
    let nothing: [Vec<&str>; 2] = [vec![], vec![]];
    let of_a = |name: &'static str| [vec![name], vec![]];
    let of_b = |name: &'static str| [vec![], vec![name]];
    // Credit: one FCT is 64 words, whenever they are sent.
    let give = a("FCT vc=1 seq=+1 ||");
    assert_eq!(both(&a(&format!("| {} |", data(64, 1))), &give), nothing);
    let two = format!("| {}; {} |", data(60, 1), data(5, 2));
    assert_eq!(both(&a(&two), &give), of_a("data without credit"));
    assert_eq!(
        both(&a(&format!("| {} |", data(1, 1))), &a("FCT vc=2 seq=+1 ||")),
        of_a("data without credit")
    );
    // Too late for a frame that has begun.
    let early = a(&format!("{} ||", data(3, 1)));
    assert_eq!(both(&early, &a("IDLE; FCT vc=1 seq=+1 ||")), of_a("data without credit"));
    // Acknowledgements.
    let fct = a("FCT seq=+1; FCT seq=+2 | |");
    assert_eq!(both(&fct, &a("| ACK seq=+2 |")), nothing);
    assert_eq!(both(&fct, &a("| ACK seq=-2 |")), nothing, "of the other polarity: ignored");
    assert_eq!(both(&fct, &a("| ACK seq=+3 |")), of_b("ACK of what was not sent"));
    let many = (1..=128).map(|n| format!("FCT seq=0x{:02X};", n & 0x7f)).collect::<String>();
    assert_eq!(both(&a(&many), &a("")), of_a("more than 127 outstanding"));
    let acked = |seq: u32| a(&format!("IDLE*100; ACK seq=+{seq}"));
    assert_eq!(both(&a(&many), &acked(60)), nothing);
    // Resends.
    let nack = a("| NACK seq=+1 |");
    let resent = |rest: &str| format!("{}{rest}", a("FCT vc=1 seq=+1; FCT vc=2 seq=+2 || "));
    assert_eq!(both(&resent("RETRY; FCT vc=2 seq=-2"), &nack), nothing);
    assert_eq!(both(&resent("RETRY; FCT vc=1 seq=-1"), &nack), of_a("RETRY from another number"));
    assert_eq!(both(&resent("RETRY; FCT vc=2 seq=-2"), &a("||")), of_a("RETRY without NACK"));
    let silent = both(&resent("FCT vc=3 seq=-3"), &nack);
    assert_eq!(silent, [vec!["polarity changed without RETRY", "not resent after NACK"], vec![]]);
    // A resent FCT gives no credit again.
    let twice = format!("{} RETRY; FCT vc=1 seq=-1 |", a("FCT vc=1 seq=+1 ||"));
    let spend = |words: u32| format!("{} {}", a("| NACK seq=+0 ||"), data(words, 1));
    assert_eq!(both(&twice, &spend(64)), nothing);
    let more = format!("{}; {}", spend(64), data(1, 2));
    assert_eq!(both(&twice, &more), of_b("data without credit"));
}

/// A frame is damaged on its way. The items after it wait for the resend, and packets stay in
/// order. A missing resend is reported.
#[test]
fn missing_items() {
    let packet =
        |vc: u8, byte: u8, seq: &str| format!("SDF vc={vc}; DATA {byte:02X} EOP; EDF seq={seq};");
    let damaged = packet(1, 0x22, "+2").replace("DATA 22 EOP", "RXERR");
    let sent = format!("{UP}; {} {damaged} {}", packet(1, 0x11, "+1"), packet(1, 0x33, "+3"));
    let again = format!("{sent} RETRY; {} {}", packet(1, 0x22, "-2"), packet(1, 0x33, "-3"));
    let never = format!("{sent} IDLE*9000; {}", packet(1, 0x44, "+4"));
    for (forms, expected, missing) in
        [(again, vec![0x11, 0x22, 0x33], 0), (never, vec![0x11, 0x44], 1)]
    {
        let mut listener = LinkListener::new(&ListenerConfig::default());
        let (mut bytes, mut count, mut found) = (vec![], 0, vec![]);
        for word in words(&forms) {
            listener.push(&[word], &mut |event| match event.what {
                TraceEventKind::Packet(packet) => bytes.extend_from_slice(packet.bytes),
                TraceEventKind::Missing { count: lost } => count += lost,
                _ => violation(&mut found, &event),
            });
        }
        assert_eq!((bytes, count, found), (expected, missing, vec!["damaged word"]));
    }
}

#[test]
fn remarks_of_single_words() {
    let odd = |bits| name(Word::control(bits)).remark().map(|remark| remark.to_string());
    assert_eq!(odd(0x1803_005c), None);
    assert_eq!(odd(0xad1c_84fc).as_deref(), Some("D4.4 where D4.2 belongs"));
    assert_eq!(name(Word::control(0xad1c_84fc)).kind, WordKind::SifD44);
    assert_eq!(odd(0x0100_87fc).as_deref(), Some("reserved symbols are not 0"));
    assert_eq!(odd(0xad01_a2fc).as_deref(), Some("CRC-8 error: 0xAC expected"));
}
