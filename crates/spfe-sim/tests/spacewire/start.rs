//! Start, timers, control, and skipped time.

use crate::kit::{A, B, Kit, Log, config, n_chars, packet};
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{SpaceWireState, SpaceWireTiming};
use spfe_sim::fault::EndCommand;
use spfe_sim::link::{EndEvent, NoObserver, Side, SimulatedLink};
use spfe_sim::spacewire::{
    SpaceWireConfig, SpaceWireConfigError, SpaceWireEndConfig, SpaceWireLink,
};
use spfe_sim::time::{MS, NS, US};

#[test]
fn start_takes_the_times_of_the_standard() {
    let mut kit = Kit::new(config(200));
    kit.run(50 * US);
    for side in Side::BOTH {
        let at = |state| kit.log.entered(side, state);
        assert_eq!(at("ErrorWait"), [6_400 * NS]);
        assert_eq!(at("Ready"), [19_200 * NS]);
        assert_eq!(at("Started"), [19_200 * NS]);
        // The ninth bit of the first NULL arrives at 800 ns plus the delay. Own NULLs end at 800 ns
        // and 1600 ns, so Connecting begins at 820 ns. The first FCT follows the second NULL.
        assert_eq!(at("Connecting"), [20_020 * NS]);
        // The FCT starts at 20.8 us. The second bit after it arrives 500 ns later, and this end
        // sees its own FCT end at 21.2 us.
        assert_eq!(at("Run"), [21_320 * NS]);
        assert!(at("ErrorReset").is_empty());
    }
    assert!(kit.is_running());
    assert_eq!(kit.count(A, "transmit credit"), 56);
    assert_eq!(kit.count(B, "receive credit"), 56);
}

#[test]
fn an_end_without_partner_keeps_trying_to_start() {
    let off = SpaceWireControl { enabled: false, ..SpaceWireControl::default() };
    let mut config = config(200);
    config.ends[1].control = off;
    let mut kit = Kit::new(config);
    kit.run(200 * US);
    // 6.4 us and 12.8 us of silence, then 12.8 us of NULLs.
    assert_eq!(kit.log.entered(A, "Started")[..3], [19_200 * NS, 51_200 * NS, 83_200 * NS]);
    assert_eq!(kit.log.entered(A, "ErrorReset")[..2], [32_000 * NS, 64_000 * NS]);
    assert_eq!(kit.count(A, "start time-outs"), 6);
    // An absent far end is not an error.
    assert_eq!(kit.log.errors(A), []);
    assert_eq!(kit.link.state(B), SpaceWireState::ErrorReset);
    kit.link.set_control(B, SpaceWireControl::default());
    kit.until_running();
}

#[test]
fn auto_start_waits_for_the_far_end() {
    let auto =
        SpaceWireControl { link_start: false, auto_start: true, ..SpaceWireControl::default() };
    let mut config = config(100);
    config.ends[0].control = auto;
    config.ends[1].control = SpaceWireControl { link_start: false, ..SpaceWireControl::default() };
    let mut kit = Kit::new(config);
    kit.run(100 * US);
    assert_eq!([A, B].map(|side| kit.link.state(side)), [SpaceWireState::Ready; 2]);
    assert!(kit.link.is_quiet());
    assert!(kit.link.end(B).command(EndCommand::LaneStart(Some(0), true)));
    assert!(!kit.link.is_quiet());
    kit.until_running();
    let started = kit.log.entered(B, "Started");
    assert_eq!(started, [100 * US]);
    // The ninth bit of the first NULL, and the delay.
    assert_eq!(kit.log.entered(A, "Started"), [100 * US + 820 * NS]);
}

#[test]
fn timers_and_rates_are_configurable() {
    let timing = SpaceWireTiming { reset_ns: 5_900, wait_ns: 14_000, disconnect_ns: 990 };
    let mut config = config(2);
    config.ends[1] = SpaceWireEndConfig { timing, ..SpaceWireEndConfig::new(333) };
    let mut kit = Kit::running(config);
    assert_eq!(kit.log.entered(B, "ErrorWait"), [5_900 * NS]);
    assert_eq!(kit.log.entered(B, "Started"), [19_900 * NS]);
    kit.write(A, &packet(&[1, 2, 3, 4, 5]));
    kit.write(B, &packet(&[6]));
    assert_eq!(kit.read_all(B), packet(&[1, 2, 3, 4, 5]));
    assert_eq!(kit.read_all(A), packet(&[6]));
    kit.run(MS);
    assert_eq!((kit.log.errors(A), kit.log.errors(B)), (vec![], vec![]));
}

#[test]
fn no_link_starts_over_a_long_delay() {
    // 2 ms, as to another orbit. The ends start by AutoStart when the first NULL arrives.
    let mut config = config(100);
    config.delay_ps = 2 * MS;
    let auto =
        SpaceWireControl { link_start: false, auto_start: true, ..SpaceWireControl::default() };
    config.ends[1].control = auto;
    let mut kit = Kit::new(config);
    kit.run(20 * MS);
    // The answer comes long after 12.8 us, so no link starts over this delay.
    assert!(!kit.is_running());
    assert!(kit.count(A, "start time-outs") > 100);
    // 2 us, as over 400 m: close to the limit of the credit, not of the timers.
    config.delay_ps = 2 * US;
    let mut kit = Kit::running(config);
    kit.write(A, &packet(&[9; 200]));
    assert_eq!(kit.read_all(B), packet(&[9; 200]));
}

#[test]
fn link_reset_restarts_the_link() {
    let mut kit = Kit::running(config(200));
    kit.write(A, &packet(&[1, 2, 3]));
    let at = kit.link.now();
    assert!(kit.link.end(A).command(EndCommand::LinkReset));
    assert!(!kit.link.end(A).is_running());
    kit.run(10 * US);
    // The far end notices silence. The last edge is up to one bit before, or two bits after.
    let (heard, name) = kit.log.errors(B)[0];
    assert!(name == "disconnect" || name == "parity error", "{name}");
    assert!((at..=at + 890 * NS).contains(&heard), "{}", heard - at);
    kit.until_running();
    assert_eq!(
        kit.log.events.iter().filter(|(.., e)| matches!(e, EndEvent::Command(_))).count(),
        1
    );
    assert_eq!(kit.count(A, "disables and resets"), 1);
    // The packet had not begun, so it waits and is sent later.
    assert_eq!(kit.read_all(B), packet(&[1, 2, 3]));
}

#[test]
fn interface_reset_empties_the_queues() {
    let mut kit = Kit::running(config(10));
    let long = packet(&[5; 100]);
    kit.write(A, &long[..20]);
    kit.run(40 * US);
    let begun = kit.read(B);
    assert!(!begun.is_empty() && begun.len() < 20);
    for side in Side::BOTH {
        assert!(kit.link.end(side).command(EndCommand::InterfaceReset));
    }
    // The packet that the reader has begun ends with an EEP. The rest of the packet that the writer
    // has begun is dropped.
    kit.write(A, &long[20..]);
    kit.write(A, &packet(&[6]));
    let rest = kit.read_all(B);
    assert_eq!(rest[0], spfe_link::datalink::EEP);
    assert_eq!(rest[1..], packet(&[6]));
    assert!(kit.is_running());
}

#[test]
fn unsupported_commands_are_refused() {
    let mut kit = Kit::running(config(10));
    let end = kit.link.end(A);
    for command in [
        EndCommand::LaneReset(None),
        EndCommand::LaneReset(Some(0)),
        EndCommand::LaneStart(Some(1), true),
        EndCommand::AutoStart(Some(1), true),
    ] {
        assert!(!end.command(command), "{command:?}");
    }
    assert_eq!((end.channels(), end.writable(1), end.readable(1)), (1, 0, 0));
    assert_eq!(end.write(1, &packet(&[1])), 0);
    assert!(end.qos(0).is_none() && end.receive_broadcast().is_none());
}

#[test]
fn invalid_configurations_are_refused() {
    let reason = |config: SpaceWireConfig| SpaceWireLink::new(config).err();
    assert_eq!(reason(SpaceWireConfig::new(0, 1)), Some(SpaceWireConfigError::Rate(A, 1)));
    let mut config = SpaceWireConfig::new(0, 100);
    config.ends[1].rate_mbps = 1001;
    assert_eq!(reason(config), Some(SpaceWireConfigError::Rate(B, 1001)));
    let text = reason(config).unwrap().to_string();
    assert!(text.contains("1001") && text.contains("2 to 1000"), "{text}");
    let mut config = SpaceWireConfig::new(0, 100);
    config.ends[0].timing.wait_ns = 0;
    assert_eq!(reason(config), Some(SpaceWireConfigError::Timing(A)));
    let mut config = SpaceWireConfig::new(0, 100);
    config.ends[1].receive_words = 0;
    assert_eq!(reason(config), Some(SpaceWireConfigError::Words(B)));
    let config = SpaceWireConfig { delay_ps: 1 << 50, ..SpaceWireConfig::new(0, 100) };
    assert_eq!(reason(config), Some(SpaceWireConfigError::Delay(1 << 50)));
}

#[test]
fn skipped_time_does_not_change_the_link() {
    let mut kit = Kit::running(config(130));
    assert!(kit.link.is_quiet());
    let sent = kit.link.words();
    kit.link.skip_to(5_000 * MS + 123);
    assert_eq!((kit.link.now(), kit.link.words()), (5_000 * MS + 123, sent));
    kit.run(10 * US);
    assert!(kit.is_running() && kit.link.words() > sent);
    // Skipping to the past does nothing.
    kit.link.skip_to(MS);
    assert_eq!(kit.link.now(), 5_000 * MS + 123 + 10 * US);
    kit.write(A, &packet(&[1, 2]));
    assert!(!kit.link.is_quiet());
    assert_eq!(kit.read_all(B), packet(&[1, 2]));
    assert!(kit.link.is_quiet());
    // Times of events include the skipped time.
    let at = kit.link.now();
    kit.link.end(B).command(EndCommand::LinkReset);
    kit.run(US);
    assert_eq!(kit.log.entered(B, "ErrorReset"), [at]);
    assert!(!kit.link.is_quiet());
}

#[test]
fn the_size_of_the_steps_does_not_matter() {
    let log = |step: u64| {
        let mut kit = Kit::new(config(333));
        kit.link.show_words(true);
        let mut words = Vec::new();
        // A packet pauses within a word, at a time that is a multiple of all steps.
        while kit.link.now() < 240 * US {
            if kit.link.now() == 60 * US {
                kit.write(A, &packet(&[1, 2, 3, 4, 5, 6])[..1]);
                kit.write(A, &[spfe_link::Word::from_symbols([0xfb, 0xfb, 8, 9], 3)]);
            }
            if kit.link.now() == 120 * US {
                kit.write(A, &packet(&[1; 50]));
            }
            kit.run(step);
            words.extend(kit.read(B));
        }
        (kit.log, words, kit.link.words())
    };
    let reference: (Log, _, _) = log(60 * US);
    assert!(reference.0.characters.len() > 1000);
    for step in [1_000, 3 * NS, 400 * NS, 7_500 * NS, 20 * US] {
        assert!(log(step) == reference, "{step}");
    }
    let n_chars = n_chars(&reference.1);
    assert_eq!(n_chars.len(), 4 + 2 + 50 + 1);
}

#[test]
fn observers_do_not_change_the_link() {
    let mut link = SpaceWireLink::new(config(100)).unwrap();
    link.run(50 * US, &mut NoObserver);
    assert!(link.end(A).is_running() && link.end(B).is_running());
}
