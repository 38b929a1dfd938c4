//! Medium access (50-11C 5.7.4): shares, priority, time-slots, over-use and under-use.

use crate::channels::end;
use crate::harness::{Link, control_of, packet, sizes};
use spfe_link::control::ControlWord;
use spfe_link::datalink::DataLinkConfig;
use spfe_link::qos::{
    BANDWIDTH_MINIMUM, BANDWIDTH_VC0, MediumAccess, QosLimits, QosParameters, QosTieBreak,
};
use spfe_link::row::Row;
use spfe_link::word::Word;

const SHARE: f64 = 65536.0;

fn share(percent: f64) -> u16 {
    (SHARE * percent / 100.0).round().min(65535.0) as u16
}

fn set<const V: usize>(link: &mut Link<1, V>, vc: usize, priority: u8, percent: f64) {
    let parameters =
        QosParameters { priority, expected_bandwidth: share(percent), time_slots: u64::MAX };
    assert!(link.ends[0].dl.set_qos_parameters(vc, parameters));
}

/// Words that each channel sends in some word periods, while the channels of a mask are saturated.
fn saturate<const V: usize>(link: &mut Link<1, V>, mask: u32, periods: u32) -> [usize; V] {
    let mut words = [0; V];
    let load: Vec<Word> = packet(1000, 0)[..64].to_vec();
    for _ in 0..periods {
        for (vc, count) in words.iter_mut().enumerate() {
            if mask >> vc & 1 != 0 && link.ends[0].dl.writable(vc) >= 64 {
                link.write(0, vc, &load);
            }
            *count += link.drain(1, vc);
        }
        link.step();
    }
    words
}

/// All bandwidth that FCTs and ACKs leave is configured, and the credits have settled.
#[test]
fn shares() {
    let mut link = Link::<1, 4>::started(DataLinkConfig::default(), sizes(1), 5);
    let percents = [50.0, 25.0, 15.0, 8.5];
    for (vc, percent) in percents.into_iter().enumerate() {
        set(&mut link, vc, 3, percent);
    }
    saturate(&mut link, 0xf, 200_000);
    let before = link.ends[0].rows;
    let words = saturate(&mut link, 0xf, 200_000);
    let rows = (link.ends[0].rows - before) as f64;
    for (count, percent) in words.into_iter().zip(percents) {
        // A segment of 64 words also has SDF and EDF.
        let got = count as f64 * 66.0 / 64.0 / rows * 100.0;
        assert!((got / percent - 1.0).abs() < 0.01, "{got:.3} of {percent} %");
    }
}

#[test]
fn strict_priority() {
    let mut link = Link::<1, 3>::started(DataLinkConfig::default(), sizes(1), 5);
    set(&mut link, 0, 2, 90.0);
    set(&mut link, 1, 0, 100.0);
    set(&mut link, 2, 1, 100.0);
    let words = saturate(&mut link, 0b111, 20_000);
    // VC 1 loses no bandwidth for want of a segment at the right moment.
    assert!(words[1] > 18_500, "{words:?}");
    assert!(words[0] + words[2] < 256, "{words:?}");
    // The highest priority pauses; the next one takes everything.
    let words = saturate(&mut link, 0b101, 20_000);
    assert!(words[2] > 18_000 && words[0] < 256, "{words:?}");
}

#[test]
fn time_slots_are_never_violated() {
    let mut link = Link::<1, 4>::started(DataLinkConfig::default(), sizes(1), 0);
    for vc in 0..4 {
        set(&mut link, vc, 3, 25.0);
        let p = link.ends[0].dl.qos_parameters(vc).unwrap();
        let time_slots = (0..64).filter(|s| s % 4 == vc).map(|s| 1u64 << s).sum();
        link.ends[0].dl.set_qos_parameters(vc, QosParameters { time_slots, ..p });
    }
    link.ends[0].log = Some(Vec::new());
    let mut counts = [0usize; 4];
    for slot in 0..128u8 {
        link.ends[0].dl.schedule(slot);
        assert_eq!(link.ends[0].dl.qos().status().current_time_slot, slot & 63);
        link.ends[0].log.as_mut().unwrap().clear();
        let words = saturate(&mut link, 0xf, 500);
        for (count, more) in counts.iter_mut().zip(words) {
            *count += more;
        }
        let log = link.ends[0].log.as_ref().unwrap();
        for row in log {
            if let Some(ControlWord::Sdf { vc }) = control_of(row) {
                assert_eq!(vc, slot % 4, "slot {slot}");
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 10_000), "{counts:?}");
}

#[test]
fn babbling_channel_takes_nothing_from_others() {
    // VC 2 has the highest priority, a share of 10 %, and always more to send.
    let run = |mask| {
        let mut link = Link::<1, 3>::started(DataLinkConfig::default(), sizes(1), 5);
        set(&mut link, 0, 1, 50.0);
        set(&mut link, 1, 1, 30.0);
        set(&mut link, 2, 0, 10.0);
        saturate(&mut link, mask, 30_000);
        let words = saturate(&mut link, mask, 100_000);
        (words, link.ends[0].dl.qos().status())
    };
    let (words, status) = run(0b111);
    let rows = 100_000.0 * 64.0 / 66.0;
    assert!(words[0] as f64 / rows > 0.5 * 0.99, "{words:?}");
    assert!(words[1] as f64 / rows > 0.3 * 0.99, "{words:?}");
    assert!(status.bandwidth_over_use & 0b100 != 0);
}

#[test]
fn over_use_is_flagged_within_one_credit_period() {
    let limits = QosLimits::default();
    let mut qos = MediumAccess::<2>::new(limits);
    let p = QosParameters { priority: 0, expected_bandwidth: share(50.0), time_slots: u64::MAX };
    qos.set_parameters(0, p);
    qos.set_parameters(1, p);
    // Credit goes down by one row per row: from 0 to -0.9 B.
    let mut rows = 0;
    while qos.status().bandwidth_over_use == 0 {
        qos.update(66, Some((0, 66)));
        rows += 66;
        assert!(rows <= limits.bandwidth_credit_limit);
    }
    assert!(rows >= limits.bandwidth_credit_limit * 9 / 10);
    assert_eq!(qos.status().bandwidth_over_use, 0b01);
    // From now on it ranks below a channel of the lowest priority.
    qos.set_parameters(1, QosParameters { priority: 15, ..p });
    assert_eq!(qos.select(0b11), Some(1));
    // At its own average rate the credit stays where it is.
    let before = qos.credit(0).unwrap();
    for _ in 0..1000 {
        qos.update(132, Some((0, 66)));
    }
    assert_eq!(qos.credit(0).unwrap(), before);
    qos.clear_errors();
    assert_eq!(qos.status().bandwidth_over_use, 0);
}

#[test]
fn under_use_is_flagged_after_the_idle_time() {
    let limits = QosLimits { idle_time_limit: 1000, ..QosLimits::default() };
    let mut qos = MediumAccess::<1>::new(limits);
    let mut rows = 0;
    while qos.status().bandwidth_under_use == 0 {
        qos.update(66, None);
        rows += 66;
        assert!(rows < 16384 + 1000 + 132);
    }
    assert!(rows >= 16384 + 1000);
}

#[test]
fn worked_example() {
    let limits = QosLimits { priority_levels: 4, ..QosLimits::default() };
    let mut qos = MediumAccess::<3>::new(limits);
    for (vc, percent) in [(1, 50.0), (2, 25.0)] {
        let expected_bandwidth = share(percent);
        let p = QosParameters { priority: 1, expected_bandwidth, time_slots: u64::MAX };
        qos.set_parameters(vc, p);
    }
    qos.update(66, Some((1, 66)));
    assert_eq!([qos.credit(1), qos.credit(2)], [Some(-66), Some(66)]);
    qos.update(66, Some((2, 66)));
    assert_eq!([qos.credit(1), qos.credit(2)], [Some(0), Some(-132)]);
    let mut turns = [0; 3];
    for _ in 0..150 {
        let vc = qos.select(0b110).unwrap();
        turns[vc] += 1;
        qos.update(66, Some((vc, 66)));
    }
    assert_eq!(turns, [0, 100, 50]);
}

#[test]
fn zero_bandwidth_stops_a_channel() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    set(&mut link, 1, 0, 0.0);
    let words = saturate(&mut link, 0b11, 3000);
    assert!(words[1] == 0 && words[0] > 2000);
}

#[test]
fn ties() {
    let mut lowest = MediumAccess::<4>::new(QosLimits::default());
    let limits = QosLimits { tie_break: QosTieBreak::RoundRobin, ..QosLimits::default() };
    let mut round = MediumAccess::<4>::new(limits);
    let mut order = Vec::new();
    for _ in 0..6 {
        assert_eq!(lowest.select(0b1110), Some(1));
        lowest.selected(1);
        let vc = round.select(0b1110).unwrap();
        round.selected(vc);
        order.push(vc);
    }
    assert_eq!(order, [1, 2, 3, 1, 2, 3]);
    assert_eq!(lowest.select(0), None);
}

/// Compares the credits with the formula of 5.7.4, computed for every channel at every update.
#[test]
fn credits_match_the_formula() {
    const LIMIT: i64 = 16384;
    let seed = 11;
    eprintln!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut qos =
        MediumAccess::<5>::new(QosLimits { idle_time_limit: 20_000, ..QosLimits::default() });
    let shares = [0x8000u16, 0x4000, 0x2000, 0x1000, 0xffff];
    for (vc, expected_bandwidth) in shares.into_iter().enumerate() {
        let p = qos.parameters(vc).unwrap();
        qos.set_parameters(vc, QosParameters { expected_bandwidth, ..p });
    }
    let price = [2, 4, 8, 16, 1];
    let (mut credit, mut idle, mut flags) = ([0i64; 5], [0u32; 5], [0u32; 2]);
    for round in 0..20_000 {
        let rows = 1 + random.u32(..132);
        // In turn: heavily used, mostly by one channel; lightly used; idle.
        let first = if random.u32(..5) != 0 { round / 6000 } else { random.u32(..5) as usize };
        let used = (random.u32(..100) < [90, 30, 0][round / 2000 % 3])
            .then(|| (first, 3 + random.u32(..130)));
        qos.update(rows, used);
        for vc in 0..5 {
            let paid = used.filter(|used| used.0 == vc).map_or(0, |used| used.1);
            let next = credit[vc] + i64::from(rows) - i64::from(paid) * price[vc];
            let over = (next - LIMIT).clamp(0, i64::from(rows)) as u32;
            idle[vc] = if next < LIMIT { 0 } else { idle[vc] + over };
            credit[vc] = next.clamp(-LIMIT, LIMIT);
            flags[0] |= u32::from(paid != 0 && credit[vc] < -LIMIT * 9 / 10) << vc;
            flags[1] |= u32::from(idle[vc] > 20_000) << vc;
        }
        for (vc, expected) in credit.into_iter().enumerate() {
            assert_eq!(qos.credit(vc), Some(expected), "channel {vc}, round {round}");
        }
        let status = qos.status();
        assert_eq!([status.bandwidth_over_use, status.bandwidth_under_use], flags, "{round}");
    }
    assert_eq!(flags, [0b1111, 0b1_1111]);
}

#[test]
fn after_reset() {
    let mut link = end::<8>(0).unwrap();
    let usual = |link: &spfe_link::DataLink<Vec<Word>, 1, 8>| {
        for vc in 0..8 {
            let share = if vc == 0 { BANDWIDTH_VC0 } else { BANDWIDTH_MINIMUM };
            let expected =
                QosParameters { priority: 15, expected_bandwidth: share, time_slots: u64::MAX };
            assert_eq!(link.qos_parameters(vc), Some(expected), "channel {vc}");
        }
        assert_eq!(link.qos_parameters(8), None);
        assert_eq!(link.qos().status().current_time_slot, 0);
    };
    // 10 % and 0.39 % of the link.
    assert_eq!((BANDWIDTH_VC0, BANDWIDTH_MINIMUM), (6554, 256));
    usual(&link);
    let other = QosParameters { priority: 2, expected_bandwidth: 9999, time_slots: 1 };
    for vc in 0..8 {
        assert!(link.set_qos_parameters(vc, other));
    }
    link.schedule(5);
    link.link_reset();
    assert_eq!(link.qos_parameters(3), Some(other), "a link reset keeps them");
    link.interface_reset();
    usual(&link);
}

#[test]
fn bandwidth_credit_survives_a_link_reset() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    saturate(&mut link, 0b01, 3000);
    let credit = |link: &Link<1, 2>| [0, 1].map(|vc| link.ends[0].dl.qos().credit(vc));
    let before = credit(&link);
    assert!(before.iter().all(|credit| credit.is_some_and(|rows| rows != 0)), "{before:?}");
    link.ends[0].dl.link_reset();
    for _ in 0..10 {
        link.step();
        assert_eq!(credit(&link), before);
    }
    link.ends[0].dl.interface_reset();
    assert_eq!(credit(&link), [Some(0); 2]);
}

#[test]
fn a_frame_in_progress_outlasts_its_slot() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let p = link.ends[0].dl.qos_parameters(0).unwrap();
    link.ends[0].dl.set_qos_parameters(0, QosParameters { time_slots: 1, ..p });
    link.run(200);
    link.ends[0].log = Some(vec![]);
    let load: Vec<Word> = packet(1000, 0)[..128].to_vec();
    link.write(0, 0, &load);
    let words = |link: &Link<1, 1>| {
        let log = link.ends[0].log.as_ref().unwrap();
        log.iter().filter(|row| matches!(row, Row::Data { .. })).count()
    };
    for _ in 0..80 {
        if words(&link) == 20 {
            break;
        }
        link.step();
    }
    assert_eq!(words(&link), 20, "in the middle of the first frame");
    link.ends[0].dl.schedule(1);
    link.run(400);
    assert_eq!(words(&link), 64, "to its end, and no other");
    let count = |wanted: fn(&ControlWord) -> bool| {
        let log = link.ends[0].log.as_ref().unwrap();
        log.iter().filter_map(control_of).filter(wanted).count()
    };
    assert_eq!(count(|word| matches!(word, ControlWord::Edf { .. })), 1);
    link.ends[0].dl.schedule(0);
    link.run(200);
    assert_eq!(words(&link), 128);
}

/// Rows that the sending channel has paid. The other channel sends nothing, and gains a row for
/// each row of the link.
fn paid(link: &Link<1, 2>) -> i64 {
    let [sender, other] = [0, 1].map(|vc| link.ends[0].dl.qos().credit(vc).unwrap());
    other - sender
}

fn damage_first_edf(link: &mut Link<1, 2>) {
    let mut done = false;
    link.fault = Box::new(move |from, _, wire| {
        let Some(words) = wire else { return };
        let edf = matches!(ControlWord::decode(words[0]), Some(ControlWord::Edf { .. }));
        if from == 0 && edf && !std::mem::replace(&mut done, true) {
            words[0] = Word::RXERR;
        }
    });
}

/// Half of the link: each row of a segment costs two rows of credit, SDF and EDF included.
#[test]
fn a_resent_segment_is_free() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    set(&mut link, 0, 3, 50.0);
    assert_eq!(paid(&link), 0);
    damage_first_edf(&mut link);
    let load: Vec<Word> = packet(1000, 0)[..128].to_vec();
    link.write(0, 0, &load[..64]);
    link.run(500);
    assert_eq!(link.ends[0].dl.status().error_recovery_attempts, 1);
    assert_eq!(link.drain(1, 0), 64);
    assert_eq!(paid(&link), 2 * 66);
}

/// A segment that RETRY cuts is charged for the part that was sent.
#[test]
fn a_cut_segment_is_charged_in_part() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    set(&mut link, 0, 3, 50.0);
    damage_first_edf(&mut link);
    link.ends[0].log = Some(vec![]);
    let load: Vec<Word> = packet(1000, 0)[..128].to_vec();
    link.write(0, 0, &load);
    link.run(600);
    assert_eq!(link.drain(1, 0), 128);
    let log = link.ends[0].log.as_ref().unwrap();
    let at = |wanted: &dyn Fn(Option<ControlWord>) -> bool| {
        log.iter().position(|row| wanted(control_of(row))).unwrap()
    };
    let first = at(&|word| matches!(word, Some(ControlWord::Edf { .. })));
    let retry = at(&|word| word == Some(ControlWord::Retry));
    let cut = log[first..retry].iter().filter(|row| matches!(row, Row::Data { .. })).count();
    assert!((1..64).contains(&cut), "{cut} words of the second segment before RETRY");
    // Its SDF and the words sent; nothing for the resend of both.
    assert_eq!(paid(&link), 2 * 66 + 2 * (cut as i64 + 1));
}
