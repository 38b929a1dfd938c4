//! A SpaceFibre link from power-on to packets.

use spfe_link::Word;
use spfe_sim::fault::{FaultKind, FaultTarget, WireFault};
use spfe_sim::link::{EndEvent, NoObserver, Observer, Side, SimulatedLink};
use spfe_sim::spacefibre::{self, SpaceFibreConfig};
use spfe_sim::time::{Ps, US};

/// Records events.
#[derive(Default)]
struct Log(Vec<(Ps, Side, EndEvent)>);

impl Observer for Log {
    fn event(&mut self, at: Ps, _link: u32, side: Side, event: EndEvent) {
        self.0.push((at, side, event));
    }
}

fn started(config: &SpaceFibreConfig) -> Box<dyn SimulatedLink> {
    let mut link = spacefibre::new(config).unwrap();
    let mut log = Log::default();
    for step in 1..100 {
        link.run(step * US, &mut log);
        if Side::BOTH.iter().all(|side| link.end(*side).is_running()) {
            return link;
        }
    }
    panic!("no link: {:?}", log.0);
}

#[test]
fn every_number_of_lanes_starts_and_carries_packets() {
    for lanes in 1..=16 {
        for ppb in [0, 100_000] {
            let mut config = SpaceFibreConfig::new(lanes, 6250);
            config.skew_bits = (0..u32::from(lanes)).map(|lane| lane * 7 % 60).collect();
            config.ends[1].clock_ppb = ppb;
            let mut link = started(&config);
            let start = link.now();
            let mut sent = 0u32;
            let mut received = 0u32;
            for step in 0..400 {
                for side in Side::BOTH {
                    let end = link.end(side);
                    if side == Side::A {
                        while end.writable(3) != 0 {
                            assert_eq!(end.write(3, &[Word::data(sent)]), 1);
                            sent += 1;
                        }
                    }
                    let mut words = [Word::default(); 64];
                    loop {
                        let count = end.read(3, &mut words);
                        if count == 0 {
                            break;
                        }
                        for word in &words[..count] {
                            assert_eq!(*word, Word::data(received), "{lanes} lanes {ppb}");
                            received += 1;
                        }
                    }
                }
                link.run(start + step * 100_000, &mut NoObserver);
            }
            // Capacity: 40 us at 0.764 of 6.25 Gbit/s per lane.
            let share = f64::from(received) * 32.0 / (40.0 * 6250.0 * f64::from(lanes));
            assert!(share > 0.7, "{lanes} lanes, {ppb} ppb: {share}");
        }
    }
}

#[test]
fn spacewire_faults_are_refused() {
    let mut link = spacefibre::new(&SpaceFibreConfig::new(1, 6250)).unwrap();
    for target in [FaultTarget::Null, FaultTarget::EndMarker, FaultTarget::Code] {
        assert!(!link.inject(0, Side::A, WireFault { lane: None, target, kind: FaultKind::Drop }));
    }
    let fault = WireFault { lane: None, target: FaultTarget::Any, kind: FaultKind::Drop };
    assert!(link.inject(0, Side::A, fault));
    assert!(!link.inject(0, Side::A, WireFault { lane: Some(1), ..fault }));
}

#[test]
fn an_error_is_corrected_and_reported() {
    let mut link = started(&SpaceFibreConfig::new(1, 6250));
    let mut log = Log::default();
    let start = link.now() + 30 * US;
    link.run(start, &mut log);
    log.0.clear();
    let end = link.end(Side::A);
    end.write(0, &(0..200).map(Word::data).collect::<Vec<_>>());
    let fault = WireFault { lane: None, target: FaultTarget::Data, kind: FaultKind::BitError };
    assert!(link.inject(start + 200_000, Side::A, fault));
    link.run(start + 10 * US, &mut log);
    let names: Vec<_> = log.0.iter().map(|(_, side, event)| (*side, *event)).collect();
    assert!(names.contains(&(Side::A, EndEvent::Fault { lane: 0, fault })), "{names:?}");
    assert!(names.contains(&(Side::A, EndEvent::Retry)), "{names:?}");
    let recovered = names.iter().find_map(|(side, event)| match event {
        EndEvent::Recovered { after_ps } => Some((*side, *after_ps)),
        _ => None,
    });
    let (side, after) = recovered.unwrap();
    assert_eq!(side, Side::B);
    assert!((100_000..3_000_000).contains(&after), "{after}");
    let mut words = [Word::default(); 256];
    assert_eq!(link.end(Side::B).read(0, &mut words), 192);
    assert!(words[..192].iter().enumerate().all(|(n, word)| *word == Word::data(n as u32)));
}

#[test]
fn a_link_that_will_start_again_is_never_quiet() {
    let config = SpaceFibreConfig::new(1, 6250);
    let word_ps = 6_400;
    let cut = FaultKind::Cut { duration_ps: Ps::MAX / 2 };
    let fault = WireFault { lane: None, target: FaultTarget::Any, kind: cut };
    for (sides, most) in [(&[Side::A][..], 400), (&Side::BOTH, 400)] {
        // The cut ends in every word period in which the ends may be.
        for periods in 0..most {
            let mut link = started(&config);
            let start = link.now();
            for side in sides {
                assert!(link.inject(start, *side, fault));
            }
            link.run(start + periods * word_ps, &mut NoObserver);
            Side::BOTH.iter().for_each(|side| link.restore(*side, None));
            let mut now = link.now();
            // An end that has not noticed the cut keeps running.
            for _ in 0..100_000 {
                now += word_ps;
                link.run(now, &mut NoObserver);
                if link.is_quiet() {
                    break;
                }
            }
            let runs = Side::BOTH.map(|side| link.end(side).is_running());
            assert_eq!(runs, [true; 2], "quiet for ever after a cut of {periods} words");
        }
    }
}
