//! A receiver that skips bits behaves like one that samples every bit.

use super::*;
use crate::fault::{EndCommand, FaultKind, FaultTarget};
use crate::time::{NS, US};
use spfe_link::Word;
use spfe_link::spacewire::{BroadcastCode, SpaceWireCharacter};

#[derive(Debug, Default, PartialEq)]
struct Log {
    events: Vec<(Ps, Side, EndEvent)>,
    characters: Vec<(Ps, Side, SpaceWireCharacter)>,
    words: Vec<Word>,
}

impl Observer for Log {
    fn event(&mut self, at: Ps, _: u32, side: Side, event: EndEvent) {
        self.events.push((at, side, event));
    }

    fn character(&mut self, at: Ps, _: u32, side: Side, character: SpaceWireCharacter) {
        self.characters.push((at, side, character));
    }
}

/// Random traffic, faults and commands.
fn campaign(seed: u64, bit_by_bit: bool) -> Log {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut config = SpaceWireConfig { seed, ..SpaceWireConfig::new(0, rng.u64(4..=500) as u32) };
    config.ends[1].rate_mbps = rng.u64(4..=500) as u32;
    config.delay_ps = rng.u64(0..=900 * NS);
    if seed.is_multiple_of(3) {
        // Without a delay both ends act at the same time.
        config.delay_ps = 0;
        config.ends[1].rate_mbps = config.ends[0].rate_mbps;
    }
    let mut link = SpaceWireLink::new(config).unwrap();
    if bit_by_bit {
        link.units.iter_mut().for_each(SpaceWireUnit::send_bit_by_bit);
    }
    link.show_words(true);
    let mut log = Log::default();
    for _ in 0..300 {
        let side = SIDES[rng.u64(..2) as usize];
        let mut words = [Word::default(); 32];
        let count = link.end(side).read(0, &mut words);
        log.words.extend_from_slice(&words[..count]);
        for word in words.iter_mut().take(rng.u64(..8) as usize) {
            *word = Word::data(rng.u64(..) as u32);
        }
        words[8] = spfe_link::datalink::EEP;
        link.end(side).write(0, &words[rng.u64(..8) as usize..9]);
        match rng.u64(..12) {
            0 => {
                link.end(side).send_code(BroadcastCode::time(rng.u64(..) as u8));
            }
            1 if rng.u64(..5) == 0 => {
                link.end(side).command(EndCommand::LinkReset);
            }
            2 => {
                let kinds = [
                    FaultKind::BitError,
                    FaultKind::Burst { bits: rng.u64(..30) as u32 },
                    FaultKind::Drop,
                    FaultKind::Duplicate,
                    FaultKind::Cut { duration_ps: rng.u64(..2 * US) },
                ];
                let at = link.now() + rng.u64(..5 * US);
                let kind = kinds[rng.u64(..5) as usize];
                link.inject(at, side, WireFault { lane: None, target: FaultTarget::Any, kind });
            }
            _ => {}
        }
        let until = link.now() + rng.u64(..6 * US);
        link.run(until, &mut log);
    }
    log
}

#[test]
fn skipping_bits_changes_nothing() {
    let mut errors = 0;
    for seed in 0..60 {
        println!("seed {seed}");
        let (one, other) = (campaign(seed, false), campaign(seed, true));
        for (index, (one, other)) in one.events.iter().zip(&other.events).enumerate() {
            assert_eq!(one, other, "event {index}");
        }
        assert!(one == other);
        let error = |(.., event): &&(_, _, EndEvent)| matches!(event, EndEvent::Error { .. });
        errors += one.events.iter().filter(error).count();
    }
    println!("{errors} errors");
    assert!(errors > 200);
}
