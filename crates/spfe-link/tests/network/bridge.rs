//! Time-codes and interrupts over SpaceFibre.

use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig as LinkConfig, LinkBroadcast};
use spfe_link::network::Bridge;
use spfe_link::network::bridge::{BridgeConfig, BridgedCode, CodeMapping};
use spfe_link::spacewire::BroadcastCode;
use spfe_link::word::Word;
use spfe_link::{ReceivedRow, Row};

const TIME: CodeMapping = CodeMapping { channel: 9, kind: 0x40, kind_mask: 0xff, byte: 0 };
const INTERRUPTS: CodeMapping = CodeMapping { channel: 10, kind: 0x50, kind_mask: 0xf0, byte: 7 };

fn config() -> BridgeConfig {
    BridgeConfig { time: Some(TIME), interrupts: Some(INTERRUPTS), passes_late_time: true }
}

#[test]
fn every_code_there_and_back() {
    let mut bridge = Bridge::new(config());
    let (mut passed, mut ignored) = (0, 0);
    for code in (0..=255).map(BroadcastCode) {
        match (bridge.code(code, true), code.0 >> 6) {
            (Some(message), kind @ (0 | 2)) => {
                let mapping = if kind == 0 { TIME } else { INTERRUPTS };
                assert_eq!((message.channel, message.kind), (mapping.channel, mapping.kind));
                assert_eq!(message.data[usize::from(mapping.byte)], code.0);
                assert_eq!(message.data.iter().filter(|byte| **byte != 0).count(), {
                    usize::from(code.0 != 0)
                });
                assert!(!message.late && !message.delayed);
                let back = BridgedCode { code, late: false, delayed: false };
                assert_eq!(bridge.message(&message), Some(back));
                passed += 1;
            }
            (None, 1 | 3) => ignored += 1,
            other => panic!("{code:?}: {other:?}"),
        }
    }
    assert_eq!((passed, ignored), (128, 128));
    let counters = bridge.counters();
    assert_eq!((counters.to_messages, counters.to_codes), (128, 128));
    assert_eq!((counters.ignored, counters.delayed), (128, 0));
}

#[test]
fn messages_without_a_code() {
    let mut bridge = Bridge::new(config());
    let message = |kind, byte: usize, code| {
        let mut data = [0xff; 8];
        data[byte] = code;
        LinkBroadcast { channel: 3, kind, data, ..LinkBroadcast::default() }
    };
    // The channel does not matter; of the type only the bits of the mask do.
    assert!(bridge.message(&message(0x40, 0, 5)).is_some());
    assert!(bridge.message(&message(0x41, 0, 5)).is_none());
    assert!(bridge.message(&message(0x5a, 7, 0x85)).is_some());
    assert!(bridge.message(&message(0x60, 7, 0x85)).is_none());
    // A code of the other kind, and reserved codes.
    assert!(bridge.message(&message(0x40, 0, 0x85)).is_none());
    assert!(bridge.message(&message(0x50, 7, 5)).is_none());
    assert!(bridge.message(&message(0x40, 0, 0x45)).is_none());
    assert!(bridge.message(&message(0x50, 7, 0xc5)).is_none());
    assert_eq!((bridge.counters().to_codes, bridge.counters().ignored), (2, 6));
    // Without a mapping, or with an index beyond the eight bytes.
    let mut none = Bridge::new(BridgeConfig { time: None, ..config() });
    assert!(none.code(BroadcastCode::time(1), true).is_none());
    assert!(none.message(&message(0x40, 0, 5)).is_none());
    let mut far =
        Bridge::new(BridgeConfig { time: Some(CodeMapping { byte: 8, ..TIME }), ..config() });
    assert!(far.code(BroadcastCode::time(1), true).is_none());
    assert!(far.message(&message(0x40, 0, 5)).is_none());
}

#[test]
fn late_time() {
    let marked =
        |late, delayed| LinkBroadcast { kind: 0x40, late, delayed, ..LinkBroadcast::default() };
    let mut strict = Bridge::new(BridgeConfig { passes_late_time: false, ..config() });
    assert!(strict.message(&marked(true, false)).is_none());
    assert!(strict.message(&marked(false, true)).is_none());
    assert!(strict.message(&marked(false, false)).is_some());
    assert_eq!(strict.counters().late, 2);
    // Interrupts pass with their marks.
    let mut message = marked(true, true);
    message.kind = 0x50;
    message.data[7] = 0x81;
    let passed = strict.message(&message).unwrap();
    assert_eq!((passed.code, passed.late, passed.delayed), (BroadcastCode(0x81), true, true));
    assert!(Bridge::new(config()).message(&marked(true, false)).unwrap().late);
}

/// Over a link: a message sent at once is neither LATE nor DELAYED, a message behind another one is
/// DELAYED, and a message given while no lane is active is both.
#[test]
fn marks_over_a_link() {
    let memory = || vec![Word::default(); 256];
    let end = || {
        let buffers = Buffers { output: [memory()], input: [memory()], recovery: memory() };
        DataLink::<_, 1, 1>::new(LinkConfig::default(), buffers).unwrap()
    };
    let (mut near, mut far) = (end(), end());
    let (mut bridge, mut out) = (Bridge::new(config()), Bridge::new(config()));
    for link in [&mut near, &mut far] {
        for _ in 0..3 {
            link.transmit(0);
            link.take_lane_reset();
        }
        link.far_end_capability(0, 1, false);
    }
    let mut came = Vec::new();
    let hand = |row, to: &mut DataLink<_, 1, 1>| match row {
        Some(Row::Control(word)) => to.receive(ReceivedRow::Control { word, crc16_good: true }),
        Some(Row::Data { words, count }) => to.receive(ReceivedRow::Data { words, count }),
        None => {}
    };
    for period in 0..600u32 {
        // The credit for ten messages is there by now; three are sent at one time.
        if [450, 500].contains(&period) {
            for step in 0..3 {
                let code = BroadcastCode::time((period / 10 % 32 + step) as u8);
                let message = bridge.code(code, near.broadcasts_at_once()).unwrap();
                assert!(near.send_broadcast(message));
            }
        }
        let lanes = usize::from(!(490..510).contains(&period));
        hand(near.transmit(lanes), &mut far);
        hand(far.transmit(lanes), &mut near);
        while let Some(message) = far.receive_broadcast() {
            came.push(out.message(&message).unwrap());
        }
    }
    let marks: Vec<_> = came.iter().map(|passed| (passed.late, passed.delayed)).collect();
    let [on_time, held, both] = [(false, false), (false, true), (true, true)];
    assert_eq!(marks, [on_time, held, held, both, both, both]);
    assert!(came.windows(2).all(|two| two[0].code.0 < two[1].code.0));
    assert_eq!(bridge.counters().delayed, 5);
}
