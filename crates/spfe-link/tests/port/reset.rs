//! Link reset over lanes that come up in any order (50-11C 5.7.9, 5.7.10).

use crate::bench::{Bench, EOP, end_with, quick_lane};
use spfe_link::datalink::{DataLinkConfig, DataLinkParameters, LinkResetState};
use spfe_link::multilane::MultiLaneConfig;
use spfe_link::{SpaceFibrePort, Word, lane};

fn quick_link() -> DataLinkConfig {
    DataLinkConfig { link_reset_retry_words: 800, ..DataLinkConfig::default() }
}

#[test]
fn both_ends_come_up() {
    let mut bench =
        Bench::<4>::new(lane::LaneConfig::new(), DataLinkConfig::default(), &[4, 5, 6, 7]);
    bench.start_lanes();
    let took = bench.until_up(4000);
    assert!(took < 2000, "{took}");
    bench.packet_passes(0, 0, 1 << 16);
    bench.packet_passes(1, 1, 2 << 16);
}

/// The parameter goes into INIT3, and takes effect on the line, at the next link reset.
#[test]
fn scrambling_takes_effect_at_a_link_reset() {
    let mut bench = Bench::<2>::new(quick_lane(), quick_link(), &[]);
    bench.start_lanes();
    bench.until_up(2000);
    assert!(bench.init3[0].iter().all(|field| field.unwrap() & 4 != 0));
    let parameters = DataLinkParameters { data_scrambled: false, ..DataLinkParameters::default() };
    bench.ends[0].link.set_parameters(parameters);
    // A lane that comes back in the same connection sends the capability of the others.
    bench.ends[0].lanes.lane_mut(1).unwrap().reset();
    bench.run(20);
    bench.until_up(2000);
    assert!(bench.init3[0].iter().all(|field| field.unwrap() & 4 != 0));
    bench.packet_passes(0, 0, 1 << 16);
    bench.ends[0].link.link_reset();
    bench.run(20);
    bench.until_up(2000);
    assert!(bench.init3[0].iter().all(|field| field.unwrap() & 4 == 0));
    assert!(bench.init3[1].iter().all(|field| field.unwrap() & 4 != 0));
    for end in 0..2 {
        bench.packet_passes(end, 0, 2 << 16);
    }
    // Interface Reset restores the parameter and resets the link.
    bench.ends[0].link.interface_reset();
    bench.run(20);
    bench.until_up(2000);
    assert!(bench.init3[0].iter().all(|field| field.unwrap() & 4 != 0));
}

/// Both layers have a setting for scrambling. In a port that of the data link layer decides, from the
/// first word period on.
#[test]
fn the_data_link_layer_decides_about_scrambling() {
    for scrambled in [false, true] {
        let mut bench = Bench::<2>::new(quick_lane(), quick_link(), &[]);
        let lanes = MultiLaneConfig {
            lane: quick_lane(),
            data_scrambled: !scrambled,
            ..MultiLaneConfig::new()
        };
        bench.ends[0] = end_with(&lanes, quick_link());
        let link = &mut bench.ends[0].link;
        link.set_parameters(DataLinkParameters { data_scrambled: scrambled, ..link.parameters() });
        bench.start_lanes();
        bench.until_up(2000);
        for field in bench.init3[0] {
            assert_eq!(field.unwrap() & lane::capability::DATA_SCRAMBLED != 0, scrambled);
        }
        bench.packet_passes(0, 0, 1 << 16);
        bench.packet_passes(1, 0, 1 << 16);
    }
}

#[test]
fn one_end_has_to_start() {
    let new = || Bench::<2>::new(quick_lane(), quick_link(), &[]);
    let mut bench = new();
    bench.run(4000);
    assert!(bench.ends.iter().all(|end| !end.lanes.any_lane_active()));
    let mut bench = new();
    let [near, far] = bench.ends;
    bench.ends = [near, SpaceFibrePort::new_starting(far.link, far.lanes)];
    bench.until_up(2000);
}

/// A second reset is reported by a lane that did not report the first one, and the far end takes
/// both for one reset. Its own lanes have already said that it is initialised, and would never say
/// so again.
#[test]
fn two_resets_taken_for_one() {
    let comes_up = |link_reset_retry_words| {
        let link = DataLinkConfig { link_reset_retry_words, ..DataLinkConfig::default() };
        let mut bench = Bench::<2>::new(quick_lane(), link, &[]);
        bench.cut = [2; 2];
        bench.start_lanes();
        // Lane 0 reports the first reset to end 0, and is cut before it is active.
        while bench.states()[0] != LinkResetState::LinkInitialised {
            bench.step();
        }
        bench.ends[1].link.link_reset();
        bench.cut = [1; 2];
        bench.run(4000);
        assert_eq!(bench.ends[0].lanes.status().active, 2, "lane 1 came up");
        bench.states() == [LinkResetState::LinkInitialised; 2]
    };
    assert!(comes_up(800));
    assert!(!comes_up(0), "the rule is needed");
}

/// One campaign: resets of every kind, lanes cut and restored in any order, damaged words, and
/// traffic. Then a quiet period, in which both ends come up and packets pass both ways.
fn campaign<const L: usize>(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut delays = [0; 16];
    let base = 1 + random.u32(..30) as usize;
    delays.fill_with(|| base + random.u32(..4) as usize);
    let mut bench = Bench::<L>::new(quick_lane(), quick_link(), &delays);
    if random.u32(..2) == 0 {
        bench.start_lanes();
    }
    // Quiet times from a few words to more than an initialisation.
    for _ in 0..30 + random.u32(..60) {
        let end = random.u32(..2) as usize;
        let lane = random.u32(..L as u32) as usize;
        match random.u32(..12) {
            0 | 1 => bench.ends[end].link.link_reset(),
            2 => bench.ends[end].link.interface_reset(),
            3 => bench.cut = [0; 2],
            4 => bench.cut[end] ^= 1 << lane,
            5 => bench.cut.iter_mut().for_each(|cut| *cut ^= 1 << lane),
            6 => bench.ends[end].lanes.lane_mut(lane).unwrap().reset(),
            7 => {
                let parameters = &mut bench.ends[end].lanes.lane_mut(lane).unwrap().parameters;
                parameters.lane_start ^= true;
                parameters.auto_start = random.u32(..2) == 0;
            }
            8 => {
                let data_scrambled = random.u32(..2) == 0;
                let link = &mut bench.ends[end].link;
                link.set_parameters(DataLinkParameters { data_scrambled, ..link.parameters() });
            }
            9 => bench.damaged[end] = random.u32(..1 << L) as u16,
            10 => bench.start_lanes(),
            _ => {
                bench.ends[end].link.write(0, &[Word::data(seed as u32); 70]);
                bench.ends[end].link.write(0, &[EOP]);
                bench.ends[end].link.read(0, &mut [Word::default(); 100]);
            }
        }
        let most = [3, 30, 300][random.u32(..3) as usize];
        bench.run(random.u32(..most));
    }
    bench.cut = [0; 2];
    bench.start_lanes();
    bench.until_up(10_000);
    bench.run(1000);
    assert!(bench.is_up(), "it stays so");
    // A reset drops the rest of an open packet: only packets after it count.
    for end in &mut bench.ends {
        end.link.write(0, &[EOP]);
    }
    let resets = bench.states();
    bench.packet_passes(0, 0, 0x5eed_0000);
    bench.packet_passes(1, 1, 0x5eed_0000);
    assert_eq!(bench.states(), resets);
}

/// Seeds: `SPFE_SEED` repeats one of them, `SPFE_SEEDS` sets their number.
fn campaigns<const L: usize>(first: u64, count: u64) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("SPFE_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("SPFE_SEEDS").unwrap_or(count),
    };
    for seed in seeds {
        eprintln!("seed {seed}, {L} lanes");
        campaign::<L>(seed);
    }
}

#[test]
fn random_resets_on_one_lane() {
    campaigns::<1>(0, 60);
}

#[test]
fn random_resets_on_two_lanes() {
    campaigns::<2>(1000, 60);
}

#[test]
fn random_resets_on_four_lanes() {
    campaigns::<4>(2000, 40);
}
