//! Short campaigns of random errors; `make soak` runs long ones.

use spfe_sim::campaign::Campaign;
use spfe_sim::fault::{FaultKind, FaultTarget, WireFault};
use spfe_sim::link::Side;
use spfe_sim::time::{MS, US};

fn run(campaign: &Campaign) -> spfe_sim::campaign::CampaignOutcome {
    let outcome = campaign.run(|_| ()).unwrap_or_else(|failure| panic!("{campaign:?}: {failure}"));
    assert_eq!(outcome.link_resets, 0, "{campaign:?}");
    assert!(outcome.data_words > 0 && outcome.packets > 0, "{campaign:?}: {outcome:?}");
    outcome
}

#[test]
fn nothing_is_lost_at_any_bit_error_rate() {
    for (seed, rate) in [0.0, 1e-7, 1e-6, 1e-5, 1e-4].into_iter().enumerate() {
        for lanes in [1, 2, 4] {
            let outcome = run(&Campaign::new(lanes, rate, 400_000, seed as u64));
            // The campaign sends 16 million bits.
            let retried = outcome.retries != 0;
            assert!(rate != 0.0 || !retried, "{lanes} lanes, {rate}: {outcome:?}");
            assert!(rate < 1e-5 || retried, "{lanes} lanes, {rate}: {outcome:?}");
        }
    }
}

#[test]
fn nothing_is_lost_when_lanes_are_cut() {
    for lanes in [1, 2, 3, 4] {
        for seed in 0..4 {
            let mut campaign = Campaign::new(lanes, 1e-7, 600_000, seed);
            campaign.cuts = Some((50 * US, 100 * US));
            campaign.link.skew_bits = vec![0, 30, 75, 160];
            let outcome = run(&campaign);
            assert!(outcome.lane_losses > 0 && !outcome.recoveries.is_empty(), "{outcome:?}");
        }
    }
}

#[test]
fn nothing_is_lost_with_a_hot_redundant_lane_and_different_clocks() {
    for seed in 0..3 {
        let mut campaign = Campaign::new(3, 1e-6, 600_000, seed);
        campaign.link.max_data_sending = 2;
        campaign.link.ends[0].clock_ppb = 100_000;
        campaign.link.ends[1].clock_ppb = -100_000;
        campaign.cuts = Some((100 * US, MS));
        run(&campaign);
    }
}

#[test]
fn the_same_seed_gives_the_same_words() {
    let campaign = Campaign::new(2, 1e-5, 200_000, 7);
    let outcome = run(&campaign);
    assert_eq!(outcome, run(&campaign));
    assert_ne!(outcome, run(&Campaign { seed: 8, ..campaign }));
}

/// NACK and RETRY only occur after an error, FULL only after a long silence.
const TARGETS: [FaultTarget; 12] = [
    FaultTarget::Any,
    FaultTarget::Ack,
    FaultTarget::Nack,
    FaultTarget::Retry,
    FaultTarget::Full,
    FaultTarget::Fct,
    FaultTarget::Sdf,
    FaultTarget::Edf,
    FaultTarget::Sbf,
    FaultTarget::Ebf,
    FaultTarget::Sif,
    FaultTarget::Data,
];

#[test]
fn no_fault_in_any_word_loses_data() {
    let kinds = [
        FaultKind::BitError,
        FaultKind::Burst { bits: 90 },
        FaultKind::Drop,
        FaultKind::Duplicate,
        FaultKind::Reorder,
        FaultKind::Cut { duration_ps: 20_000 },
        FaultKind::PolaritySwap,
        FaultKind::Skew { bits: 13 },
    ];
    for lanes in [1, 3] {
        for (number, target) in TARGETS.into_iter().enumerate() {
            for (other, kind) in kinds.into_iter().enumerate() {
                let seed = (number * 16 + other) as u64;
                let mut campaign = Campaign::new(lanes, 0.0, 80_000 * u64::from(lanes), seed);
                campaign.single = Some(10 * US);
                // Idle frames occur in pauses.
                campaign.pause = Some(3 * US);
                campaign.faults = (0..6)
                    .map(|time| {
                        let lane = (lanes > 1).then_some(time as u8 % lanes);
                        let from = if time % 2 == 0 { Side::A } else { Side::B };
                        (40 * US * (time + 1), from, WireFault { lane, target, kind })
                    })
                    .collect();
                let outcome = run(&campaign);
                let rare = target == FaultTarget::Full;
                assert!(rare || outcome.faults > 0, "{target:?} {kind:?}: {outcome:?}");
            }
        }
    }
}
