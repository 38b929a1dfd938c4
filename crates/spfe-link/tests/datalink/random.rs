//! Random traffic through random errors: nothing is lost, duplicated, reordered or changed.

use crate::harness::{Link, Sizes, packet, seeds, sizes};
use spfe_link::Word;
use spfe_link::datalink::{DataLinkConfig, LinkBroadcast};

/// Random bit errors. Mostly the code finds them, and the word before is lost too; otherwise a bit
/// of a symbol is wrong.
fn errors<const L: usize>(seed: u64, one_in: u32) -> crate::harness::Fault<L> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut again = [false; 2];
    Box::new(move |from, _, wire| {
        let Some(words) = wire else { return };
        if again[from] {
            again[from] = false;
            words[0] = Word::RXERR;
        } else if random.u32(..one_in) == 0 {
            let lane = random.u32(..L as u32) as usize;
            match random.u32(..4) {
                0 => words[lane] = Word::RXERR,
                1 => {
                    words[lane] = Word::RXERR;
                    again[from] = true;
                }
                // Damage to a K character is always found, because no other K character is less
                // than three bits away. A single wrong bit would turn some SBFs, which have no
                // check of their own, into FCTs with a good CRC-8.
                _ => {
                    let bit = random.u32(..32);
                    if words[lane].is_k(bit / 8) {
                        words[lane] = Word::RXERR;
                    } else {
                        words[lane].bits ^= 1 << bit;
                    }
                }
            }
        }
    })
}

fn campaign<const L: usize, const V: usize>(
    seed: u64,
    one_in: u32,
    config: DataLinkConfig,
    delay: usize,
) {
    eprintln!("seed {seed}, one error in {one_in} words, {L} lanes, delay {delay}");
    let small = Sizes { output: 256 * L.next_power_of_two(), ..sizes(L) };
    let mut link = Link::<L, V>::started(config, small, delay);
    link.run(2 * delay as u64 + 200);
    link.fault = errors(seed ^ 0x5eed, one_in);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut messages = [0u32; 2];
    let mut arrived = [0u32; 2];
    for _ in 0..6000 {
        for end in 0..2 {
            let vc = random.u32(..V as u32) as usize;
            let words = packet(random.u32(..90) as usize, random.u32(..));
            let room = link.ends[end].dl.writable(vc);
            if random.u32(..40) == 0 && room >= words.len() {
                link.write(end, vc, &words);
            }
            if random.u32(..3) == 0 {
                link.drain(end, random.u32(..V as u32) as usize);
            }
            let mut data = [0; 8];
            data[..4].copy_from_slice(&messages[end].to_le_bytes());
            let message = LinkBroadcast { data, ..LinkBroadcast::default() };
            if random.u32(..100) == 0 && link.ends[end].dl.send_broadcast(message) {
                messages[end] += 1;
            }
            while let Some(message) = link.ends[end].dl.receive_broadcast() {
                let number = u32::from_le_bytes(message.data[..4].try_into().unwrap());
                assert_eq!(number, arrived[end], "broadcast messages come once and in order");
                arrived[end] += 1;
            }
        }
        link.step();
    }
    link.fault = Box::new(|_, _, _| {});
    for _ in 0..2000 {
        link.step();
        for (end, arrived) in link.ends.iter_mut().zip(&mut arrived) {
            *arrived += u32::from(end.dl.receive_broadcast().is_some());
        }
    }
    link.finish(20_000);
    assert_eq!(arrived, [messages[1], messages[0]], "every broadcast message");
    assert_eq!(link.resets, 1, "no link reset: seed {seed}");
    for end in &link.ends {
        let status = end.dl.status();
        assert!(!status.protocol_error);
        assert!(one_in > 500 || status.error_recovery_attempts > 4);
        assert!(end.words_read > 100, "{} words", end.words_read);
    }
}

#[test]
fn one_lane() {
    for seed in seeds(0, 24) {
        let one_in = [20, 60, 200, 1000][seed as usize % 4];
        let delay = [0, 5, 60, 150][seed as usize / 4 % 4];
        let config = DataLinkConfig {
            nack_on_single_crc: seed % 3 != 1,
            nack_keeps_gap: seed % 5 == 1,
            ..DataLinkConfig::default()
        };
        campaign::<1, 3>(seed, one_in, config, delay);
    }
}

#[test]
fn several_lanes() {
    for seed in seeds(100, 8) {
        let config = DataLinkConfig {
            fct_multiplier: 3,
            segment_multiplier: 3,
            ..DataLinkConfig::default()
        };
        campaign::<3, 2>(seed, 100, config, 20);
        let config = DataLinkConfig {
            fct_multiplier: 2,
            segment_multiplier: 4,
            ..DataLinkConfig::default()
        };
        campaign::<4, 4>(seed, 100, config, 20);
    }
}

/// A link of four lanes continues with fewer lanes. Frames keep their length, and the row lost at
/// each change is sent again.
#[test]
fn fewer_lanes() {
    for seed in seeds(300, 6) {
        eprintln!("seed {seed}");
        let config = DataLinkConfig {
            fct_multiplier: 4,
            segment_multiplier: 4,
            ..DataLinkConfig::default()
        };
        let mut link = Link::<4, 2>::started(config, sizes(4), 10);
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..4000 {
            let words = packet(random.u32(..400) as usize, random.u32(..));
            for end in 0..2 {
                let vc = random.u32(..2) as usize;
                if random.u32(..50) == 0 && link.ends[end].dl.writable(vc) >= words.len() {
                    link.write(end, vc, &words);
                }
                link.drain(end, vc);
            }
            if random.u32(..300) == 0 {
                link.lane_failure(u64::from(random.u32(..10)));
                link.lanes = 1 + random.u32(..4) as usize;
            }
            link.step();
        }
        link.finish(20_000);
        assert_eq!(link.resets, 1);
    }
}

/// Lanes fail and come back during traffic.
#[test]
fn lanes_fail_at_random() {
    for seed in seeds(200, 6) {
        eprintln!("seed {seed}");
        let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 10);
        let mut random = fastrand::Rng::with_seed(seed);
        link.fault = errors(seed, 300);
        for _ in 0..5000 {
            let words = packet(random.u32(..90) as usize, random.u32(..));
            for end in 0..2 {
                let vc = random.u32(..2) as usize;
                if random.u32(..50) == 0 && link.ends[end].dl.writable(vc) >= words.len() {
                    link.write(end, vc, &words);
                }
                link.drain(end, vc);
            }
            if random.u32(..400) == 0 {
                link.lane_failure(u64::from(random.u32(..60)));
            }
            link.step();
        }
        link.fault = Box::new(|_, _, _| {});
        link.finish(20_000);
        assert_eq!(link.resets, 1);
    }
}
