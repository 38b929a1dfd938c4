//! Made-up results of a simulation of a payload network.

use fastrand::Rng;
use spfe_sim::results::{
    BroadcastResults, ChannelResults, Conservation, DirectionResults, DropCount, FaultResults,
    HostileResults, LaneStateChange, LatencyRecorder, LinkResults, NodeResults, PacketTally,
    PortDropCount, RdmaResults, RecordedEvent, RecordedEventKind, Results, RmapResults,
    RouterResults, StreamResults, VERSION,
};
use spfe_sim::scenario::Scenario;
use std::collections::BTreeMap;

/// The scenario of the results.
pub fn scenario() -> Scenario {
    let text = include_str!("../../../../examples/scenarios/payload-network.toml");
    Scenario::parse(text).expect("a good example")
}

/// Made-up results of the scenario.
pub fn results() -> Results {
    let scenario = scenario();
    let mut numbers = Rng::with_seed(7);
    let step_ps = scenario.step_ps();
    let duration_ps = scenario.duration.0;
    let mut results = Results {
        version: VERSION,
        title: scenario.title.clone(),
        description: scenario.description.clone(),
        scenario: "0123456789abcdef".into(),
        seed: scenario.seed,
        duration_ps,
        step_ps,
        words: 12_345_678,
        events_left_out: 17,
        conservation: Conservation { kept: true, packets: 1234, ..Conservation::default() },
        ..Results::default()
    };
    for (index, link) in scenario.links.iter().enumerate() {
        let made = made_link(&mut numbers, index, link, step_ps, duration_ps);
        results.links.push(made);
    }
    for flow in &scenario.flows {
        let mut latency = LatencyRecorder::new();
        for _ in 0..500 {
            latency.record(2_000_000 + numbers.u64(..3000) * numbers.u64(..3000));
        }
        let packets = PacketTally { packets: 500, bytes: 500_000 };
        results.flows.push(StreamResults {
            name: flow.name.clone(),
            from: flow.from.to_string(),
            to: flow.to.iter().map(ToString::to_string).collect(),
            vc: u32::from(flow.vc),
            route: flow.route.to_string(),
            offered: packets,
            sent: packets,
            delivered: PacketTally { packets: 490, bytes: 490_000 },
            truncated: PacketTally { packets: 1, bytes: 12 },
            dropped: vec![DropCount {
                place: "front".into(),
                reason: "Blocked".into(),
                packets: 3,
            }],
            in_flight: PacketTally { packets: 6, bytes: 6000 },
            goodput_bps: 1.234e9,
            series: (0..100).map(|step| 20_000 + step * 50 + numbers.u64(..9000)).collect(),
            latency: latency.histogram(),
        });
    }
    for rmap in &scenario.rmaps {
        let mut latency = LatencyRecorder::new();
        (0..30).for_each(|_| latency.record(3_000_000 + numbers.u64(..900_000)));
        results.rmaps.push(RmapResults {
            name: rmap.name.clone(),
            from: rmap.from.to_string(),
            to: rmap.to.to_string(),
            commands: 30,
            succeeded: 29,
            failed: BTreeMap::from([("invalid key".into(), 1)]),
            latency: latency.histogram(),
            ..RmapResults::default()
        });
    }
    let mut latency = LatencyRecorder::new();
    (0..200).for_each(|_| latency.record(9_000_000 + numbers.u64(..5_000_000)));
    results.rdmas.push(RdmaResults {
        name: "store".into(),
        from: "processor:1".into(),
        to: "memory:1".into(),
        operation: "write".into(),
        posted: 204,
        completed: 200,
        failed: BTreeMap::from([("no answer from the target".into(), 2)]),
        outstanding: 2,
        bytes: 819_200,
        goodput_bps: 3.4e9,
        packets: 230,
        resent: 12,
        timeouts: 3,
        latency: latency.histogram(),
        ..RdmaResults::default()
    });
    results.hostile.push(HostileResults {
        link: "trunk-1".into(),
        from: "processor:1".into(),
        packets: 230,
        dropped: 5,
        damaged: 4,
        ..HostileResults::default()
    });
    results.broadcasts.push(BroadcastResults {
        name: "time".into(),
        from: "processor:1".into(),
        sent: 30,
        received: 120,
        ..BroadcastResults::default()
    });
    for router in &scenario.routers {
        let drop = PortDropCount { port: 1, vc: 1, reason: "Blocked".into(), packets: 3 };
        results.routers.push(RouterResults {
            name: router.name.clone(),
            counters: BTreeMap::from([("packets".into(), 800)]),
            drops: vec![drop],
        });
    }
    for node in &scenario.nodes {
        results.nodes.push(NodeResults { name: node.name.clone(), ..NodeResults::default() });
    }
    for fault in &scenario.faults {
        results.faults.push(FaultResults { name: fault.name.clone(), times: 1 });
    }
    for at in 0..60_u64 {
        let at_ps = 500_000_000 + at * 40_000_000;
        let event = |after: u64, end, kind, text: &str| RecordedEvent {
            at_ps: at_ps + after,
            link: Some(1),
            end,
            kind,
            text: text.into(),
            ..RecordedEvent::default()
        };
        results.events.push(event(0, 0, RecordedEventKind::Fault, "bit error on lane 0"));
        results.events.push(event(30_000, 1, RecordedEventKind::Error, "CRC-16 error"));
        results.events.push(event(900_000, 0, RecordedEventKind::Retry, "NACK received"));
        results.events.push(event(1_900_000, 1, RecordedEventKind::Recovered, "after 1.87 us"));
    }
    results
}

fn made_link(
    numbers: &mut Rng,
    index: usize,
    link: &spfe_sim::scenario::ScenarioLink,
    step_ps: u64,
    duration_ps: u64,
) -> LinkResults {
    let lanes = u32::from(link.lanes());
    let capacity_words = f64::from(lanes) * step_ps as f64 / 6400.0;
    let direction = |numbers: &mut Rng| {
        let channels: Vec<ChannelResults> = (0..4)
            .filter(|vc| (index + vc).is_multiple_of(2))
            .map(|vc| {
                let most = (capacity_words * 0.45) as u64;
                let series: Vec<u64> =
                    (0..100).map(|_| most / 2 + numbers.u64(..most / 2)).collect();
                ChannelResults { vc: vc as u32, words: series.iter().sum(), series }
            })
            .collect();
        let data_words = channels.iter().map(|channel| channel.words).sum();
        let utilisation = data_words as f64 / (capacity_words * 100.0);
        DirectionResults { capacity_words, channels, data_words, utilisation }
    };
    let states = |end: u64| {
        let mut all = Vec::new();
        for lane in 0..lanes {
            let mut add = |at_ps, state: &str| {
                all.push(LaneStateChange { at_ps, lane, state: state.into() });
            };
            add(0, "ClearLine");
            add(5_000_000 + end, "Started");
            add(20_000_000, "Active");
            if index == 4 {
                add(duration_ps / 3, "LossOfSignal");
                add(duration_ps / 2, "Started");
                add(duration_ps / 2 + 20_000_000, "Active");
            }
        }
        all
    };
    let mut recovery = LatencyRecorder::new();
    if index == 1 {
        (0..60).for_each(|_| recovery.record(1_500_000 + numbers.u64(..900_000)));
    }
    LinkResults {
        name: link.name.clone(),
        kind: "spacefibre".into(),
        ends: link.ends.clone().map(|place| place.to_string()),
        lanes,
        rate_bps: link.rate.0,
        words: 1_000_000,
        directions: [direction(numbers), direction(numbers)],
        counters: [
            BTreeMap::from([("data frames sent".into(), 4711), ("NACKs sent".into(), 0)]),
            BTreeMap::from([("data frames received".into(), 4711), ("NACKs sent".into(), 0)]),
        ],
        lane_states: [states(0), states(1_000_000)],
        recovery_after_error: recovery.histogram(),
        ..LinkResults::default()
    }
}
