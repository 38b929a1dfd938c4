//! Rates compared with theory: for packets of several lengths, with time-codes, and limited by
//! credit.

use crate::kit::{A, B, Kit, config, n_chars, packet};
use spfe_link::Word;
use spfe_link::spacewire::{BroadcastCode, NChar, SpaceWireCharacter};
use spfe_sim::link::{Side, SimulatedLink};
use spfe_sim::time::{MS, Ps, US};

/// Sends as fast as possible. Returns the N-Chars received at each end in the second half of the
/// time.
fn saturate(kit: &mut Kit, from: &[Side], bytes: usize, time: Ps, tick: Option<Ps>) -> [u64; 2] {
    let words = packet(&vec![0x5a; bytes]);
    let mut positions = [0; 2];
    let mut counted = [0; 2];
    let steps = time / (2 * US);
    let start = kit.link.now();
    let mut next_tick = start;
    for step in 0..steps {
        for side in from {
            let end = kit.link.end(*side);
            let position = &mut positions[*side as usize];
            while end.write(0, &[words[*position % words.len()]]) == 1 {
                *position += 1;
            }
        }
        if let Some(tick) = tick
            && kit.link.now() >= next_tick
        {
            next_tick += tick;
            for side in Side::BOTH {
                kit.link.end(side).send_code(BroadcastCode::time(0));
            }
        }
        if step == steps / 2 {
            counted = Side::BOTH.map(|side| kit.link.end(side).counters().received_words[0]);
        }
        kit.run(2 * US);
        for side in Side::BOTH {
            let in_order = |n_char| [NChar::Data(0x5a), NChar::Eop].contains(&n_char);
            assert!(n_chars(&kit.read(side)).into_iter().all(in_order));
            while kit.link.end(side).receive_code().is_some() {}
        }
    }
    let after = Side::BOTH.map(|side| kit.link.end(side).counters().received_words[0]);
    [after[0] - counted[0], after[1] - counted[1]]
}

/// Compares a number of N-Chars with the rate that results from a number of bits for each.
fn assert_share(n_chars: u64, time: Ps, mbps: u32, bits: f64, what: &str) {
    let expected = time as f64 / 2.0 * f64::from(mbps) / 1e6 / bits;
    let ratio = n_chars as f64 / expected;
    assert!((0.998..1.002).contains(&ratio), "{what} at {mbps} Mbit/s: {ratio}");
}

#[test]
fn rates_in_one_and_both_directions() {
    for mbps in [10, 50, 100, 130, 200, 300, 400] {
        let time = 4 * MS * 100 / u64::from(mbps.max(50));
        for bytes in [1, 4, 60, 1024] {
            let n = bytes as f64;
            let mut kit = Kit::running(config(mbps));
            let [_, at_b] = saturate(&mut kit, &[A], bytes, time, None);
            assert_share(at_b, time, mbps, (10.0 * n + 4.0) / (n + 1.0), "one way");
            let mut kit = Kit::running(config(mbps));
            // FCTs for the other direction: 4 bits per 8 N-Chars.
            for n_chars in saturate(&mut kit, &[A, B], bytes, time, None) {
                let bits = (10.5 * n + 4.5) / (n + 1.0);
                assert_share(n_chars, time, mbps, bits, "both ways");
            }
        }
    }
}

#[test]
fn time_codes_take_fourteen_bits_each() {
    let time = 2 * MS;
    let mut kit = Kit::running(config(100));
    let [_, at_b] = saturate(&mut kit, &[A], 1024, time, Some(10 * US));
    // 1000 bits in 10 us, 14 of them for the time-code.
    let bits = 10_244.0 / 1025.0 * 1000.0 / 986.0;
    assert_share(at_b, time, 100, bits, "with time-codes");
}

#[test]
fn an_idle_link_sends_nulls() {
    let mut kit = Kit::running(config(200));
    let before = kit.count(A, "NULLs sent");
    kit.run(MS);
    // 200 000 bits of 8 bits each.
    assert!(kit.count(A, "NULLs sent").abs_diff(before + 25_000) <= 1);
    let [data, fcts] = ["data characters sent", "FCTs sent"].map(|name| kit.count(A, name));
    assert_eq!((data, fcts), (0, 7));
}

#[test]
fn a_long_cable_is_limited_by_credit() {
    // On average, credit allows 56 N-Chars in the time from an FCT to the eighth N-Char it permits.
    let config = spfe_sim::spacewire::SpaceWireConfig { delay_ps: 4 * US, ..config(200) };
    let time = 8 * MS;
    let mut kit = Kit::running(config);
    let [_, at_b] = saturate(&mut kit, &[A], 1024, time, None);
    let round_ps = time as f64 / 2.0 / (at_b as f64 / 56.0);
    assert!((8_000_000.0..8_500_000.0).contains(&round_ps), "{round_ps}");
}

#[test]
fn rates_of_the_two_ends_may_differ() {
    let mut config = config(200);
    config.ends[1].rate_mbps = 10;
    let time = 4 * MS;
    let mut kit = Kit::running(config);
    let [at_a, at_b] = saturate(&mut kit, &[A, B], 1024, time, None);
    // The slow direction carries the FCTs for the fast one at 10 Mbit/s: x N-Chars in one direction
    // need x/8 FCTs in the other.
    let (fast, slow) =
        (at_b as f64 / (time as f64 / 2.0) * 1e6, at_a as f64 / (time as f64 / 2.0) * 1e6);
    let bits = 10_244.0 / 1025.0;
    // Mbit/s of the slow direction for N-Chars and FCTs.
    let used = slow * bits + fast / 2.0;
    assert!((9.98..10.02).contains(&used), "{used}: {fast} {slow}");
    // FCTs have precedence, and one may be sent for every eight N-Chars read, so the fast direction
    // is full.
    assert!(fast * bits + slow / 2.0 <= 200.1, "{fast}");
}

#[test]
fn a_reader_that_stops_stops_the_writer() {
    let mut config = config(100);
    config.ends[1].receive_words = 4;
    let mut kit = Kit::running(config);
    let words = packet(&[3; 600]);
    let mut written = 0;
    for _ in 0..100 {
        written += kit.link.end(A).write(0, &words[written..]);
        kit.run(US);
    }
    // 4 words and 64 N-Chars at B, 64 words and 8 N-Chars at A.
    assert_eq!(kit.count(B, "data characters received"), 16 + 64);
    assert_eq!(written, 4 + 16 + 2 + 64);
    assert!(kit.is_running());
    let mut got: Vec<Word> = Vec::new();
    while got.len() < words.len() {
        written += kit.link.end(A).write(0, &words[written..]);
        kit.run(US);
        got.extend(kit.read(B));
    }
    assert_eq!(got, words);
}

/// From the first bit of a packet to its last, and from write to read: at least (10n + 4) bits, and
/// more only by what waits before it.
#[test]
fn latency_of_a_packet() {
    for mbps in [10, 100, 200] {
        let bit = 1_000_000 / Ps::from(mbps);
        for bytes in [1, 7, 64, 200] {
            let config = config(mbps);
            let mut kit = Kit::running(config);
            kit.link.show_words(true);
            let start = kit.link.now();
            kit.write(A, &packet(&vec![1; bytes]));
            let least = (10 * bytes as Ps + 4) * bit;
            kit.run(least + config.delay_ps + 30 * bit);
            let at_b = kit.log.characters.iter().filter(|(_, side, _)| *side == B);
            let n_chars = at_b.filter_map(|(at, _, character)| match character {
                SpaceWireCharacter::NChar(n_char) => Some((*at, *n_char)),
                _ => None,
            });
            let n_chars: Vec<_> = n_chars.collect();
            assert_eq!(n_chars.len(), bytes + 1, "{bytes} bytes at {mbps} Mbit/s");
            // From the end of the first character to the end of the last, without a NULL or FCT
            // between.
            let (first, (last, end)) = (n_chars[0].0, n_chars[bytes]);
            assert_eq!(end, NChar::Eop);
            assert_eq!(last - first, least - 10 * bit, "{bytes} bytes at {mbps} Mbit/s");
            // A NULL that has begun is sent first.
            let whole = last - start - config.delay_ps;
            assert!((least..=least + 16 * bit).contains(&whole), "{whole} ps, {least} at least");
        }
    }
}
